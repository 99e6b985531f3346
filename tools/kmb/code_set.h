/* All code that a file leads to: what an image holds, or what the images hold
 * that a file of results lists. */
#ifndef KMB_TOOLS_CODE_SET_H
#define KMB_TOOLS_CODE_SET_H

#include "code_file.h"
#include "results.h"

/* What results list and cannot be shown. */
typedef struct code_absent {
  char *path;       /* where its image ought to be; NULL: it was not kept */
  const char *hash; /* of that image; NULL: it was not kept */
  char *kernels;    /* "a, b" */
  char why[CODE_WHY];
} code_absent;

typedef struct code_set {
  const char *path; /* as it was given */
  code_file *files; /* images, each once; one if there are no results */
  size_t count;
  bool of_results;
  results_file results;
  kmb_code_kernel *rows; /* of all results */
  size_t row_count;
  code_absent *absent;
  size_t absent_count;
  int code; /* the exit status for what is absent or was not disassembled */
} code_set;

/* Reads the file that was given, or the other one. An exit status, reported. */
int code_set_open(code_set *set, const code_options *o, bool other);
void code_set_close(code_set *set);
/* Says on stderr what kept parts of it from being shown; the exit status. */
int code_set_say(const code_set *set);

/* Whether the results list this kernel of the image with that hash. */
bool code_set_lists(const code_set *set, const char *hash, const char *name);
/* The next launch configuration of a kernel from row *at on, each once; NULL:
 * there is none. Begin with *at = 0. */
const kmb_code_kernel *code_set_launch(const code_set *set, const char *hash,
                                       const char *name, size_t *at);

void code_print(const code_set *set, const code_options *o);
json_t *code_json(const code_set *set, const code_options *o);
/* False: a listing was asked for that is not there. */
bool code_list(const code_set *set);
/* Compares kernels. An exit status, reported. */
int code_diff(const code_set *a, const code_set *b, const code_options *o);

#endif
