/* Parts of a report. */
#ifndef KMB_TOOLS_REPORT_H
#define KMB_TOOLS_REPORT_H

#include "document.h"
#include "payoff.h"

enum { REPORT_FILES = 256 };

typedef struct report_data {
  const kmb_result **items;
  json_t **rows; /* what a comparison says of each; NULL: there is none */
  size_t count;
  const results_file *files;
  int file_count;
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
/* The steps in which what changed is to pay. */
typedef struct report_step {
  trace_options trace; /* without a path there is none */
  kmb_payoff_params params;
  payoff_choice choice; /* its files are the report's */
} report_step;
/* report_payoff.c: an exit status, reported. */
int report_payoff(document *d, const report_data *data,
                  const report_step *step);
void report_metadata(document *d, const report_data *data);
/* report_plots.c: an exit status, reported. */
int report_plots(document *d, const report_data *data, const char *path,
                 uint64_t most, report_pictures *pictures);
/* report_stale.c: removes pictures that a report of this name had before. */
void report_remove_stale(const char *path, const report_pictures *kept);

#endif
