/* A file that replaces another only once it is whole. */
#ifndef KMB_TOOLS_OUT_H
#define KMB_TOOLS_OUT_H

#include "kmb.h"

typedef struct out_file {
  const char *path;
  char *target; /* without symbolic links; NULL: written in place */
  char *beside; /* what is written, until it is whole */
  FILE *file;
} out_file;

/* Whether the file could be written now, before work that takes long; it stays
 * as it is. An exit status, reported. */
int out_check(const char *path);
/* An exit status, reported. A device or pipe is written in place. */
int out_open(out_file *o, const char *path);
/* Ends writing, but does not replace the old file yet: several files can so be
 * whole before the first replaces another. An exit status, reported; after a
 * failure there is nothing to replace. */
int out_finish(out_file *o);
int out_replace(out_file *o);
/* Both. Renames if everything was written, and if not leaves the old file as it
 * was. An exit status, reported. */
int out_close(out_file *o);
/* Leaves the old file as it was. */
void out_abandon(out_file *o);

#endif
