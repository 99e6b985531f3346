/* Parts of a report. */
#ifndef KMB_TOOLS_REPORT_H
#define KMB_TOOLS_REPORT_H

#include "document.h"

enum { REPORT_FILES = 256 };

typedef struct report_data {
  const kmb_result **items;
  size_t count;
} report_data;

/* Pictures beside a report, whole but not in their places yet. */
typedef struct report_picture {
  char *path;
  out_file out;
} report_picture;
typedef struct report_pictures {
  report_picture *items;
  size_t count;
} report_pictures;

/* report_parts.c */
void report_notes(document *d, const report_data *data);
/* Figures, readings and findings. */
void report_tables(document *d, const report_data *data);
void report_metadata(document *d, const report_data *data);
/* report_plots.c: an exit status, reported. */
int report_plots(document *d, const report_data *data, const char *path,
                 uint64_t most, report_pictures *pictures);
/* report_stale.c: removes pictures that a report of this name had before. */
void report_remove_stale(const char *path, const report_pictures *kept);

#endif
