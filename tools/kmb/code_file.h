/* A file that kmb code was given, with what is known of it. */
#ifndef KMB_TOOLS_CODE_FILE_H
#define KMB_TOOLS_CODE_FILE_H

#include "code.h"
#include "code_listing.h"

#include <jansson.h>
#include <regex.h>

typedef struct code_options {
  const char *path, *other;            /* what to show, what to compare with */
  const char *kernel, *other_kernel;   /* regular expressions */
  const char *listing, *other_listing; /* files that a disassembler wrote */
  const char *disassembler;
  int expect; /* class of the matrix instruction that ought to be used; -1 */
  double deadline_s;
  bool json, list;
} code_options;

struct code_set;

/* Which file, and what of it. */
typedef struct code_want {
  const char *path;
  const char *hash;           /* that the image must have; NULL: any */
  const regex_t *kernel;      /* names; NULL: all */
  const struct code_set *set; /* kernels that its results list; NULL: all */
} code_want;

typedef struct code_file {
  char *path;
  uint8_t *data;
  code_image image;      /* its kernels are those that were asked for */
  size_t kernels_in_all; /* that it holds */
  char first[128];       /* of which this is the first one's name, or as much */
  char *text;            /* of the listing */
  code_listing listing;
  /* Why there is no listing; "" if there is one. */
  char why[CODE_WHY];
  int code; /* the exit status for it */
} code_file;

/* Reads the file and leaves the kernels that are wanted, maybe none. An exit
 * status; if it is not EXIT_DONE, `why` says it in a sentence without a stop.
 */
int code_file_open(code_file *file, const code_want *want, char why[CODE_WHY]);
/* An exit status, reported. */
int code_file_disassemble(code_file *file, const code_options *o,
                          const char *listing);
void code_file_close(code_file *file);

/* The classes of a kernel; NULL and the reason if they are not known. */
const code_summary *code_file_summary(const code_file *file,
                                      const code_kernel *kernel,
                                      const char **why);

/* Reasons to look closer. */
typedef struct code_flag {
  const char *name;
  char text[CODE_WHY];
} code_flag;

enum { CODE_FLAGS_MOST = 8 };
int code_flags(const code_file *file, const code_kernel *kernel,
               const code_summary *summary, int expect,
               code_flag flags[CODE_FLAGS_MOST]);

#endif
