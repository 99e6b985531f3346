/* What the user asked for on the command line. */
#ifndef HOST_GEMM_OPTIONS_H
#define HOST_GEMM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_TOKEN_COUNTS = 8, MAX_ONLY = 16 };

typedef struct options {
  const char *json; /* file to write; "-" for none */
  const char *only[MAX_ONLY];
  unsigned only_count; /* 0: everything */
  unsigned tokens[MAX_TOKEN_COUNTS];
  unsigned token_counts;
  unsigned threads;   /* 0: every core that the process may use */
  uint64_t llc_bytes; /* 0: as detected */
} options;

/* What main should do next. */
typedef enum options_next {
  OPTIONS_RUN,
  OPTIONS_HELP, /* printed; end with success */
  OPTIONS_BAD   /* explained on stderr; end with failure */
} options_next;

/* Keeps pointers into `argv` and cuts its lists in place. */
options_next options_read(int argc, char **argv, options *out);
bool options_wants(const options *o, const char *name);

#endif
