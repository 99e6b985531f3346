/* Options of `kmb work`: one table says what each is and whose. */
#include "work.h"

typedef enum kind { COUNT, LIST, DTYPE, WORD, FLAG } kind;

typedef struct word {
  const char *text;
  int32_t value;
} word;

typedef struct option {
  const char *name;
  kind kind;
  uint32_t of; /* operations */
  size_t offset;
  const word *words; /* WORD: ends with NULL */
} option;

static const word scales[] = {{"none", KMB_SCALES_NONE},
                              {"nvfp4", KMB_SCALES_NVFP4},
                              {"mx", KMB_SCALES_MX},
                              {"block128", KMB_SCALES_BLOCK_128},
                              {NULL, 0}};
static const word masks[] = {{"none", KMB_MASK_NONE},
                             {"top-left", KMB_MASK_CAUSAL_TOP_LEFT},
                             {"bottom-right", KMB_MASK_CAUSAL_BOTTOM_RIGHT},
                             {NULL, 0}};
static const word pairs[] = {
    {"exact", KMB_PAIRS_EXACT}, {"average", KMB_PAIRS_AVERAGE}, {NULL, 0}};
static const word passes[] = {{"forward", KMB_ATTENTION_FORWARD},
                              {"backward", KMB_ATTENTION_BACKWARD},
                              {"both", KMB_ATTENTION_BOTH},
                              {NULL, 0}};
static const word norms[] = {
    {"rms", KMB_NORM_RMS}, {"layer", KMB_NORM_LAYER}, {NULL, 0}};
static const word collectives[] = {
    {"all-reduce", KMB_ALL_REDUCE},
    {"reduce-scatter", KMB_REDUCE_SCATTER},
    {"all-gather", KMB_ALL_GATHER},
    {"all-to-all", KMB_ALL_TO_ALL},
    {"broadcast", KMB_BROADCAST},
    {"reduce", KMB_REDUCE},
    {"all-reduce-in-network", KMB_ALL_REDUCE_IN_NETWORK},
    {NULL, 0}};

enum {
  PRODUCTS = WORK_GEMM | WORK_GROUPED,
  HEADS = WORK_ATTENTION | WORK_DECODE | WORK_MLA,
  TWO_DIMS = WORK_ATTENTION | WORK_DECODE,
  TYPED = ~(WORK_COPY | WORK_COLLECTIVE),
  OUT = PRODUCTS | HEADS | WORK_MOE | WORK_NORM | WORK_SOFTMAX | WORK_ACTIVATION
};

#define AT(member) offsetof(work_options, member)
static const option options[] = {
    {"--m", COUNT, PRODUCTS, AT(m), NULL},
    {"--n", COUNT, PRODUCTS | WORK_ACTIVATION | WORK_ELEMENTWISE, AT(n), NULL},
    {"--k", COUNT, PRODUCTS, AT(k), NULL},
    {"--batch", COUNT, WORK_GEMM | HEADS, AT(batch), NULL},
    {"--groups", COUNT, WORK_GROUPED, AT(groups), NULL},
    {"--group-rows", LIST, WORK_GROUPED, AT(row_list), NULL},
    {"--heads", COUNT, HEADS, AT(heads), NULL},
    {"--kv-heads", COUNT, TWO_DIMS, AT(kv_heads), NULL},
    {"--q", COUNT, HEADS, AT(q_len), NULL},
    {"--kv", COUNT, WORK_ATTENTION | WORK_MLA, AT(kv_len), NULL},
    {"--q-lens", LIST, WORK_ATTENTION, AT(q_list), NULL},
    {"--kv-lens", LIST, HEADS, AT(kv_list), NULL},
    {"--dim", COUNT, TWO_DIMS, AT(dim), NULL},
    {"--v-dim", COUNT, TWO_DIMS, AT(v_dim), NULL},
    {"--ckv-dim", COUNT, WORK_MLA, AT(ckv_dim), NULL},
    {"--kpe-dim", COUNT, WORK_MLA, AT(kpe_dim), NULL},
    {"--tokens", COUNT, WORK_MOE, AT(tokens), NULL},
    {"--hidden", COUNT, WORK_MOE | WORK_NORM, AT(hidden), NULL},
    {"--intermediate", COUNT, WORK_MOE, AT(intermediate), NULL},
    {"--experts", COUNT, WORK_MOE, AT(experts), NULL},
    {"--top-k", COUNT, WORK_MOE, AT(top_k), NULL},
    {"--active-experts", COUNT, WORK_MOE, AT(active_experts), NULL},
    {"--rows", COUNT, WORK_NORM | WORK_SOFTMAX, AT(rows), NULL},
    {"--columns", COUNT, WORK_SOFTMAX, AT(columns), NULL},
    {"--inputs", COUNT, WORK_ELEMENTWISE, AT(inputs), NULL},
    {"--outputs", COUNT, WORK_ELEMENTWISE, AT(outputs), NULL},
    {"--flops-per-element", COUNT, WORK_ELEMENTWISE, AT(flops_per_element),
     NULL},
    {"--bytes", COUNT, WORK_COPY | WORK_COLLECTIVE, AT(bytes), NULL},
    {"--ranks", COUNT, WORK_COLLECTIVE, AT(ranks), NULL},
    {"--dtype", DTYPE, (uint32_t)TYPED, AT(dtype), NULL},
    {"--a-dtype", DTYPE, PRODUCTS, AT(a_dtype), NULL},
    {"--b-dtype", DTYPE, PRODUCTS, AT(b_dtype), NULL},
    {"--out-dtype", DTYPE, OUT, AT(out_dtype), NULL},
    {"--kv-dtype", DTYPE, HEADS, AT(kv_dtype), NULL},
    {"--weight-dtype", DTYPE, WORK_MOE, AT(weight_dtype), NULL},
    {"--compute-dtype", DTYPE, WORK_MOE, AT(compute_dtype), NULL},
    {"--logits-dtype", DTYPE, WORK_MOE, AT(logits_dtype), NULL},
    {"--a-scales", WORD, PRODUCTS | WORK_MOE, AT(a_scales), scales},
    {"--b-scales", WORD, PRODUCTS | WORK_MOE, AT(b_scales), scales},
    {"--mask", WORD, WORK_ATTENTION | WORK_MLA, AT(mask), masks},
    {"--pairs", WORD, WORK_ATTENTION, AT(pairs), pairs},
    {"--pass", WORD, WORK_ATTENTION, AT(pass), passes},
    {"--norm", WORD, WORK_NORM, AT(norm), norms},
    {"--collective", WORD, WORK_COLLECTIVE, AT(collective), collectives},
    {"--bias", FLAG, WORK_GEMM, AT(bias), NULL},
    {"--beta", FLAG, WORK_GEMM, AT(beta), NULL},
    {"--epilogue", FLAG, WORK_GEMM, AT(epilogue), NULL},
    {"--complex", FLAG, WORK_GEMM, AT(complex), NULL},
    {"--used-b", FLAG, WORK_GROUPED, AT(used_only), NULL},
    {"--ungated", FLAG, WORK_MOE, AT(ungated), NULL},
    {"--gated", FLAG, WORK_ACTIVATION, AT(gated), NULL},
    {"--residual", FLAG, WORK_NORM, AT(residual), NULL},
};
#undef AT
enum { OPTIONS = sizeof options / sizeof options[0] };

static const char *const operations[] = {
    "gemm", "grouped", "attention",  "decode",      "mla",  "moe",
    "norm", "softmax", "activation", "elementwise", "copy", "collective"};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

uint32_t work_operation(const char *name) {
  for (int i = 0; i < OPERATIONS; i++)
    if (strcmp(name, operations[i]) == 0) return 1u << i;
  return 0;
}

const char *work_operation_name(uint32_t operation) {
  int i = 0;
  while (i < OPERATIONS - 1 && operation != 1u << i)
    i++;
  return operations[i];
}

static bool read_list(const char *text, work_list *list) {
  list->count = 0;
  for (;;) {
    char item[32];
    size_t size = strcspn(text, ",");
    if (size == 0 || size >= sizeof item || list->count == WORK_LIST)
      return false;
    memcpy(item, text, size);
    item[size] = '\0';
    if (!read_count(item, &list->items[list->count++])) return false;
    if (!text[size]) return true;
    text += size + 1;
  }
}

static bool read_word(const char *text, const word *words, int32_t *value) {
  for (; words->text; words++) {
    if (strcmp(text, words->text) != 0) continue;
    *value = words->value;
    return true;
  }
  return false;
}

static bool set_option(const option *o, const char *text, work_options *to) {
  void *place = (char *)to + o->offset;
  switch (o->kind) {
  case COUNT:
    return read_count(text, place);
  case LIST:
    return read_list(text, place);
  case DTYPE:
    return read_dtype(text, place);
  case FLAG:
    *(bool *)place = true;
    return true;
  default:
    return read_word(text, o->words, place);
  }
}

int read_work_options(work_options *to, int argc, char **argv) {
  const char *operation = work_operation_name(to->operation);
  for (int at = 0; at < argc; at++) {
    const char *name = argv[at];
    if (strcmp(name, "--json") == 0) {
      to->json = true;
      continue;
    }
    int i = 0;
    while (i < OPTIONS && (strcmp(options[i].name, name) != 0 ||
                           !(options[i].of & to->operation)))
      i++;
    if (i == OPTIONS)
      return usage("work", "%s has no option \"%s\"", operation, name);
    const char *value = "";
    if (options[i].kind != FLAG) value = option_value("work", argc, argv, &at);
    if (!value) return EXIT_USAGE;
    if (!set_option(&options[i], value, to))
      return usage("work", "%s cannot be \"%s\"", name, value);
  }
  return EXIT_DONE;
}

static void option_text(const option *o, char *text, size_t size) {
  static const char *const forms[] = {" N", " N,N…", " TYPE", "", ""};
  int used = snprintf(text, size, " [%s%s", o->name, forms[o->kind]);
  for (const word *w = o->words; w && w->text; w++)
    used += snprintf(text + used, size - (size_t)used, "%s%s",
                     w == o->words ? " " : "|", w->text);
  snprintf(text + used, size - (size_t)used, "]");
}

void list_work_options(FILE *to) {
  enum { NAMES = 13, WIDE = 79 };
  char text[256];
  for (int i = 0; i < OPERATIONS; i++) {
    int column = fprintf(to, "  %-11s", operations[i]);
    for (int k = 0; k < OPTIONS; k++) {
      if (!(options[k].of & 1u << i)) continue;
      option_text(&options[k], text, sizeof text);
      int size = (int)strlen(text);
      if (column + size > WIDE) {
        fprintf(to, "\n%*s", NAMES, "");
        column = NAMES;
      }
      column += size;
      fputs(text, to);
    }
    fputc('\n', to);
  }
}
