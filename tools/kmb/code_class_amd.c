/* Classes of instructions of AMD's processors, by their names alone. */
#include "code_listing.h"

#include <string.h>

static bool begins(const code_words *w, const char *with) {
  size_t size = strlen(with);
  return w->op_size >= size && memcmp(w->op, with, size) == 0;
}

/* Whether PART stands between underscores, or at an end, of the name. */
static bool has(const code_words *w, const char *part) {
  size_t size = strlen(part);
  for (size_t i = 0; i + size <= w->op_size; i++) {
    bool starts = i == 0 || w->op[i - 1] == '_';
    bool ends = i + size == w->op_size || w->op[i + size] == '_';
    if (starts && ends && memcmp(w->op + i, part, size) == 0) return true;
  }
  return false;
}

/* Index of the width of a memory access: 1, 2, 4, 8, 12, 16 bytes. Of two at
 * once (read2) it is that of both. */
static int width_of(const code_words *w) {
  static const struct {
    const char *part;
    int index;
  } widths[] = {{"ubyte", 0},   {"sbyte", 0},   {"byte", 0},    {"u8", 0},
                {"i8", 0},      {"b8", 0},      {"ushort", 1},  {"sshort", 1},
                {"short", 1},   {"u16", 1},     {"i16", 1},     {"b16", 1},
                {"dwordx2", 3}, {"dwordx3", 4}, {"dwordx4", 5}, {"b64", 3},
                {"b96", 4},     {"b128", 5},    {"dword", 2},   {"b32", 2}};
  static const char *const twice[] = {"read2", "read2st64", "write2",
                                      "write2st64", "2addr"};
  int index = 2;
  bool found = false;
  /* The first part that is a width: what it is turned into may follow. */
  for (size_t at = 0; at < w->op_size && !found;) {
    size_t end = at;
    while (end < w->op_size && w->op[end] != '_')
      end++;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0] && !found; i++) {
      found = strlen(widths[i].part) == end - at &&
              memcmp(widths[i].part, w->op + at, end - at) == 0;
      if (found) index = widths[i].index;
    }
    at = end + 1;
  }
  for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++)
    if (has(w, twice[i])) return index == 3 ? 5 : 3;
  return index;
}

static bool to_lds(const code_words *w) {
  static const char lds[] = " lds";
  size_t size = sizeof lds - 1;
  if (has(w, "lds")) return true;
  for (size_t i = 0; i + size <= w->operands_size; i++)
    if (memcmp(w->operands + i, lds, size) == 0 &&
        (i + size == w->operands_size || w->operands[i + size] == ' '))
      return true;
  return false;
}

static int memory(const code_words *w, int load, int store) {
  if (has(w, "atomic")) return CODE_GLOBAL_ATOMIC;
  if (has(w, "load")) return (to_lds(w) ? CODE_TO_LDS_1 : load) + width_of(w);
  if (has(w, "store")) return store + width_of(w);
  return has(w, "wb") || has(w, "wbl2") || has(w, "inv") || has(w, "wbinvl1") ||
                 has(w, "invl2")
             ? CODE_CACHE
             : CODE_OTHER;
}

/* Of shared memory; what moves data between lanes without it is none. */
static int shared(const code_words *w) {
  static const char *const none[] = {"swizzle", "permute", "bpermute", "nop",
                                     "append",  "consume", "gws"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if (has(w, none[i])) return CODE_OTHER;
  if (has(w, "read") || has(w, "read2") || has(w, "read2st64") ||
      has(w, "load"))
    return CODE_SHARED_LOAD_1 + width_of(w);
  if (has(w, "write") || has(w, "write2") || has(w, "write2st64") ||
      has(w, "store"))
    return CODE_SHARED_STORE_1 + width_of(w);
  return CODE_SHARED_ATOMIC;
}

/* The type in which it calculates is the last one in its name, before how it is
 * encoded. */
static int arithmetic(const code_words *w) {
  static const struct {
    const char *part;
    int id;
  } types[] = {
      {"f64", CODE_F64},     {"f32", CODE_F32},     {"f16", CODE_F16},
      {"bf16", CODE_BF16},   {"i64", CODE_INTEGER}, {"u64", CODE_INTEGER},
      {"b64", CODE_INTEGER}, {"i32", CODE_INTEGER}, {"u32", CODE_INTEGER},
      {"b32", CODE_INTEGER}, {"i24", CODE_INTEGER}, {"u24", CODE_INTEGER},
      {"i16", CODE_INTEGER}, {"u16", CODE_INTEGER}, {"b16", CODE_INTEGER},
      {"i8", CODE_INTEGER},  {"u8", CODE_INTEGER},  {"i4", CODE_INTEGER},
      {"u4", CODE_INTEGER}};
  for (size_t end = w->op_size; end > 0;) {
    size_t from = end;
    while (from > 0 && w->op[from - 1] != '_')
      from--;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
      if (strlen(types[i].part) == end - from &&
          memcmp(w->op + from, types[i].part, end - from) == 0)
        return types[i].id;
    end = from ? from - 1 : 0;
  }
  return CODE_OTHER;
}

static int vector(const code_words *w) {
  static const char *const moves[] = {
      "v_mov",       "v_accvgpr", "v_readlane", "v_readfirstlane",
      "v_writelane", "v_cndmask", "v_swap",     "v_nop",
      "v_permlane",  "v_pk_mov",  "v_movrel"};
  static const char *const special[] = {"v_rcp", "v_rsq", "v_sqrt", "v_exp",
                                        "v_log", "v_sin", "v_cos",  "v_tanh"};
  if (begins(w, "v_mfma_")) return CODE_MFMA;
  if (begins(w, "v_smfmac_")) return CODE_SMFMAC;
  if (begins(w, "v_wmma_")) return CODE_WMMA;
  if (begins(w, "v_swmmac_")) return CODE_SWMMAC;
  if (begins(w, "v_cvt_")) return CODE_CONVERSION;
  for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
    if (begins(w, moves[i])) return CODE_OTHER;
  for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
    if (begins(w, special[i])) return CODE_SPECIAL;
  return arithmetic(w);
}

static int scalar(const code_words *w) {
  static const char *const none[] = {"s_mov",    "s_cmov",   "s_cselect",
                                     "s_getreg", "s_setreg", "s_wqm"};
  if (begins(w, "s_load_") || begins(w, "s_buffer_load_") ||
      begins(w, "s_scratch_load_"))
    return CODE_SCALAR_LOAD;
  if (begins(w, "s_barrier")) return CODE_S_BARRIER;
  if (begins(w, "s_dcache") || begins(w, "s_gl1_inv")) return CODE_CACHE;
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if (begins(w, none[i])) return CODE_OTHER;
  if (begins(w, "s_cbranch") || has(w, "saveexec") || has(w, "setpc") ||
      has(w, "swappc") || has(w, "getpc"))
    return CODE_OTHER;
  return arithmetic(w);
}

int code_classify_amd(const code_words *w) {
  if (begins(w, "global_"))
    return memory(w, CODE_GLOBAL_LOAD_1, CODE_GLOBAL_STORE_1);
  if (begins(w, "flat_"))
    return memory(w, CODE_GENERIC_LOAD_1, CODE_GENERIC_STORE_1);
  if (begins(w, "scratch_"))
    return memory(w, CODE_LOCAL_LOAD_1, CODE_LOCAL_STORE_1);
  if (begins(w, "buffer_"))
    return memory(w, CODE_BUFFER_LOAD_1, CODE_BUFFER_STORE_1);
  if (begins(w, "ds_")) return shared(w);
  if (begins(w, "v_")) return vector(w);
  if (begins(w, "s_")) return scalar(w);
  return CODE_OTHER;
}
