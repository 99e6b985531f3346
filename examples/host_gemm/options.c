#include "options.h"

#include "layer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: host_gemm [options]\n"
    "\n"
    "Measures the seven projections of one Llama-3.1-8B layer in fp32 through\n"
    "OpenBLAS, and a STREAM triad, on this machine's CPU. Each is checked\n"
    "against a plain reference, and runs at its full size on weights that no\n"
    "cache holds. Prints a table and writes all values as JSON.\n"
    "\n"
    "  --json FILE     where the JSON goes (result.json); \"-\": nowhere\n"
    "  --threads N     cores to use (all that this process may run on)\n"
    "  --tokens LIST   batch sizes, such as 1,8 (1,8)\n"
    "  --only LIST     of q,k,v,o,gate,up,down,triad (all)\n"
    "  --llc MIB       last-level cache, where the system does not say or is\n"
    "                  wrong\n"
    "  --help          this text\n"
    "\n"
    "OPENBLAS_CORETYPE=NAME in the environment makes OpenBLAS use another\n"
    "processor's kernels, such as SkylakeX or Haswell.\n";

static options_next bad(const char *option, const char *value,
                        const char *want) {
  if (value)
    fprintf(stderr, "host_gemm: %s \"%s\": %s\n", option, value, want);
  else
    fprintf(stderr, "host_gemm: %s: %s\n", option, want);
  return OPTIONS_BAD;
}

/* A whole decimal number from 1 to `most`. */
static bool number(const char *text, unsigned long most, unsigned long *out) {
  if (*text < '0' || *text > '9') return false;
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno || *end || value < 1 || value > most) return false;
  *out = value;
  return true;
}

static options_next read_tokens(char *list, options *out) {
  out->token_counts = 0;
  char *rest = NULL;
  for (char *item = strtok_r(list, ",", &rest); item;
       item = strtok_r(NULL, ",", &rest)) {
    unsigned long value;
    if (!number(item, MAX_TOKENS, &value))
      return bad("--tokens", item, "give numbers from 1 to 1024");
    if (out->token_counts == MAX_TOKEN_COUNTS)
      return bad("--tokens", item, "at most 8 batch sizes");
    out->tokens[out->token_counts++] = (unsigned)value;
  }
  return out->token_counts ? OPTIONS_RUN
                           : bad("--tokens", NULL, "the list is empty");
}

static options_next read_only(char *list, options *out) {
  char *rest = NULL;
  for (char *item = strtok_r(list, ",", &rest); item;
       item = strtok_r(NULL, ",", &rest)) {
    if (!layer_find(item) && strcmp(item, "triad") != 0)
      return bad("--only", item, "choose from q,k,v,o,gate,up,down,triad");
    if (out->only_count == MAX_ONLY)
      return bad("--only", item, "at most 16 names");
    out->only[out->only_count++] = item;
  }
  return out->only_count ? OPTIONS_RUN
                         : bad("--only", NULL, "the list is empty");
}

static options_next read_one(const char *option, char *value, options *out) {
  unsigned long n;
  if (strcmp(option, "--json") == 0) {
    out->json = value;
    return OPTIONS_RUN;
  }
  if (strcmp(option, "--tokens") == 0) return read_tokens(value, out);
  if (strcmp(option, "--only") == 0) return read_only(value, out);
  if (strcmp(option, "--threads") == 0) {
    if (!number(value, 65536, &n))
      return bad(option, value, "give a number of cores, at least 1");
    out->threads = (unsigned)n;
    return OPTIONS_RUN;
  }
  if (!number(value, 1ul << 20, &n))
    return bad(option, value, "give a size in MiB, at least 1");
  out->llc_bytes = (uint64_t)n << 20;
  return OPTIONS_RUN;
}

options_next options_read(int argc, char **argv, options *out) {
  *out = (options){.json = "result.json", .tokens = {1, 8}, .token_counts = 2};
  static const char *const with_value[] = {"--json", "--threads", "--tokens",
                                           "--only", "--llc"};
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(help, stdout);
      return OPTIONS_HELP;
    }
    bool known = false;
    for (size_t j = 0; j < sizeof with_value / sizeof *with_value; j++)
      known = known || strcmp(argv[i], with_value[j]) == 0;
    if (!known) return bad(argv[i], NULL, "unknown option; try --help");
    if (i + 1 == argc) return bad(argv[i], NULL, "needs a value; try --help");
    options_next next = read_one(argv[i], argv[i + 1], out);
    if (next != OPTIONS_RUN) return next;
  }
  return OPTIONS_RUN;
}

bool options_wants(const options *o, const char *name) {
  for (unsigned i = 0; i < o->only_count; i++)
    if (strcmp(o->only[i], name) == 0) return true;
  return o->only_count == 0;
}
