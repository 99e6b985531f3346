/* Classes of instructions of NVIDIA's processors, by their names alone. */
#include "code_listing.h"

#include <string.h>

static const struct {
  const char *key, *group, *text;
} classes[] = {
#define CODE_CLASS_ROW(name, group, text) {#name, group, text},
    CODE_CLASS_MAP(CODE_CLASS_ROW)
#undef CODE_CLASS_ROW
};

const char *code_class_key(int id) {
  return classes[id].key;
}

const char *code_class_group(int id) {
  return classes[id].group;
}

const char *code_class_text(int id) {
  return classes[id].text;
}

bool code_class_is_global_load(int id) {
  return (id >= CODE_GLOBAL_LOAD_1 && id <= CODE_GLOBAL_LOAD_32) ||
         (id >= CODE_GENERIC_LOAD_1 && id <= CODE_GENERIC_LOAD_32);
}

bool code_class_is_narrow_load(int id) {
  return (id >= CODE_GLOBAL_LOAD_1 && id < CODE_GLOBAL_LOAD_16) ||
         (id >= CODE_GENERIC_LOAD_1 && id < CODE_GENERIC_LOAD_16) ||
         (id >= CODE_BUFFER_LOAD_1 && id < CODE_BUFFER_LOAD_16);
}

bool code_class_is_buffer_load(int id) {
  return id >= CODE_BUFFER_LOAD_1 && id <= CODE_BUFFER_LOAD_32;
}

/* How the name of an operation, up to its first modifier, is found below. */
enum how { WHOLE, BEGINS, WIDTH };

/* The first row that fits decides. */
static const struct {
  const char *name;
  enum how how;
  int id;
} rules[] = {
    {"HGMMA", WHOLE, CODE_HGMMA},
    {"QGMMA", WHOLE, CODE_QGMMA},
    {"IGMMA", WHOLE, CODE_IGMMA},
    {"BGMMA", WHOLE, CODE_BGMMA},
    {"HMMA", WHOLE, CODE_HMMA},
    {"QMMA", WHOLE, CODE_QMMA},
    {"OMMA", WHOLE, CODE_OMMA},
    {"IMMA", WHOLE, CODE_IMMA},
    {"BMMA", WHOLE, CODE_BMMA},
    {"DMMA", WHOLE, CODE_DMMA},
    {"LDG", WIDTH, CODE_GLOBAL_LOAD_1},
    {"STG", WIDTH, CODE_GLOBAL_STORE_1},
    {"LD", WIDTH, CODE_GENERIC_LOAD_1},
    {"ST", WIDTH, CODE_GENERIC_STORE_1},
    {"LDS", WIDTH, CODE_SHARED_LOAD_1},
    {"STS", WIDTH, CODE_SHARED_STORE_1},
    {"LDL", WIDTH, CODE_LOCAL_LOAD_1},
    {"STL", WIDTH, CODE_LOCAL_STORE_1},
    {"LDGSTS", WIDTH, CODE_LDGSTS_1},
    {"LDSM", WHOLE, CODE_LDSM},
    {"STSM", WHOLE, CODE_STSM},
    {"ATOMS", WHOLE, CODE_SHARED_ATOMIC},
    {"ATOM", BEGINS, CODE_GLOBAL_ATOMIC},
    {"RED", WHOLE, CODE_GLOBAL_ATOMIC},
    {"REDG", WHOLE, CODE_GLOBAL_ATOMIC},
    {"UBLKCP", WHOLE, CODE_UBLKCP},
    {"UBLKRED", WHOLE, CODE_UBLKRED},
    {"UTMALDG", WHOLE, CODE_UTMALDG},
    {"UTMASTG", WHOLE, CODE_UTMASTG},
    {"UTMAREDG", WHOLE, CODE_UTMAREDG},
    {"BAR", WHOLE, CODE_BAR},
    {"B2R", WHOLE, CODE_OTHER},
    {"UCGABAR", BEGINS, CODE_CLUSTER},
    {"SYNCS", WHOLE, CODE_SYNCS},
    {"WARPSYNC", WHOLE, CODE_WARPSYNC},
    {"MEMBAR", WHOLE, CODE_MEMBAR},
    {"FENCE", WHOLE, CODE_MEMBAR},
    {"MUFU", WHOLE, CODE_SPECIAL},
    {"F2F", BEGINS, CODE_CONVERSION},
    {"F2I", BEGINS, CODE_CONVERSION},
    {"I2F", BEGINS, CODE_CONVERSION},
    {"FRND", WHOLE, CODE_CONVERSION},
    {"DADD", WHOLE, CODE_F64},
    {"DMUL", WHOLE, CODE_F64},
    {"DFMA", WHOLE, CODE_F64},
    {"DSETP", WHOLE, CODE_F64},
    {"DMNMX", WHOLE, CODE_F64},
    {"FADD", BEGINS, CODE_F32},
    {"FMUL", BEGINS, CODE_F32},
    {"FFMA", BEGINS, CODE_F32},
    {"FSETP", WHOLE, CODE_F32},
    {"FSET", WHOLE, CODE_F32},
    {"FMNMX", BEGINS, CODE_F32},
    {"FSWZADD", WHOLE, CODE_F32},
    {"HADD2", WHOLE, CODE_F16},
    {"HMUL2", WHOLE, CODE_F16},
    {"HFMA2", WHOLE, CODE_F16},
    {"HSETP2", WHOLE, CODE_F16},
    {"HSET2", WHOLE, CODE_F16},
    {"HMNMX2", WHOLE, CODE_F16},
    {"IMAD", WHOLE, CODE_INTEGER},
    {"IADD", BEGINS, CODE_INTEGER},
    {"VIADD", BEGINS, CODE_INTEGER},
    {"IABS", WHOLE, CODE_INTEGER},
    {"IMNMX", WHOLE, CODE_INTEGER},
    {"VIMNMX", BEGINS, CODE_INTEGER},
    {"IMUL", WHOLE, CODE_INTEGER},
    {"ISETP", WHOLE, CODE_INTEGER},
    {"ISCADD", WHOLE, CODE_INTEGER},
    {"IDP", WHOLE, CODE_INTEGER},
    {"LEA", WHOLE, CODE_INTEGER},
    {"LOP", BEGINS, CODE_INTEGER},
    {"SHF", WHOLE, CODE_INTEGER},
    {"SHL", WHOLE, CODE_INTEGER},
    {"SHR", WHOLE, CODE_INTEGER},
    {"POPC", WHOLE, CODE_INTEGER},
    {"FLO", WHOLE, CODE_INTEGER},
    {"BREV", WHOLE, CODE_INTEGER},
    {"UIMAD", WHOLE, CODE_INTEGER},
    {"UIADD", BEGINS, CODE_INTEGER},
    {"UISETP", WHOLE, CODE_INTEGER},
    {"ULEA", WHOLE, CODE_INTEGER},
    {"ULOP", BEGINS, CODE_INTEGER},
    {"USHF", WHOLE, CODE_INTEGER},
};

static bool has(const char *text, size_t size, const char *part) {
  size_t length = strlen(part);
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(text + i, part, length) == 0) return true;
  return false;
}

/* Whether ".MODIFIER" is one of those of an operation. */
static bool modified(const code_words *w, const char *modifier) {
  size_t length = strlen(modifier);
  for (size_t i = 0; i + length < w->op_size; i++) {
    size_t end = i + 1 + length;
    if (w->op[i] == '.' && memcmp(w->op + i + 1, modifier, length) == 0 &&
        (end == w->op_size || w->op[end] == '.'))
      return true;
  }
  return false;
}

/* Index of the width of a memory access: 1, 2, 4 … bytes. */
static int width_of(const code_words *w) {
  static const struct {
    const char *modifier;
    int index;
  } widths[] = {{"U8", 0}, {"S8", 0},  {"U16", 1}, {"S16", 1},
                {"64", 3}, {"128", 5}, {"256", 6}, {"ENL2", 6}};
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    if (modified(w, widths[i].modifier)) return widths[i].index;
  return 2;
}

/* Constants and moves are written as arithmetic with the zero register. */
static bool is_move(const code_words *w, int id) {
  if (id == CODE_INTEGER) return modified(w, "MOV");
  return id == CODE_F16 && has(w->operands, w->operands_size, " -RZ, RZ,");
}

static int refine(const code_words *w, int id) {
  if (is_move(w, id)) return CODE_OTHER;
  if (id == CODE_F16 && (modified(w, "BF16") || modified(w, "BF16_V2") ||
                         modified(w, "BF16_PACKED")))
    return CODE_BF16;
  return id;
}

int code_classify(const code_words *w) {
  const char *dot = memchr(w->op, '.', w->op_size);
  size_t size = dot ? (size_t)(dot - w->op) : w->op_size;
  /* UTCHMMA, UTCQMMA, UTCIMMA, UTCOMMA */
  if (size > 6 && memcmp(w->op, "UTC", 3) == 0 &&
      memcmp(w->op + size - 3, "MMA", 3) == 0)
    return CODE_UTCMMA;
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    size_t length = strlen(rules[i].name);
    if (size < length || memcmp(w->op, rules[i].name, length) != 0) continue;
    if (size > length && rules[i].how != BEGINS) continue;
    if (rules[i].how == WIDTH) return rules[i].id + width_of(w);
    return refine(w, rules[i].id);
  }
  return CODE_OTHER;
}

bool code_is_at_stack(const code_words *w) {
  return has(w->operands, w->operands_size, "[R1]") ||
         has(w->operands, w->operands_size, "[R1+0x");
}
