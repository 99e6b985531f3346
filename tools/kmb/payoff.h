/* What changed, as files of results say it. */
#ifndef KMB_TOOLS_PAYOFF_H
#define KMB_TOOLS_PAYOFF_H

#include "results.h"

enum { PAYOFF_AXES = 16 };

/* What is meant where files hold several points. */
typedef struct payoff_choice {
  const char *files[2];
  int file_count;
  const char *baseline, *candidate; /* names; NULL: not said */
  const char *axes[PAYOFF_AXES];    /* KEY=VALUE */
  int axis_count;
} payoff_choice;

/* The change between two results of the files, or that of a comparison; its
 * strings belong to `files`, which are to be freed in any case. An exit status,
 * reported: what is ambiguous is listed. */
int read_change(const payoff_choice *o, results_file files[2],
                kmb_payoff_change *change);

/* GXxGYxGZ,BXxBYxBZ of --shape. An exit status, reported. */
int read_shape(const char *command, const char *text,
               kmb_payoff_params *params);

/* --code: results that list what the step ran; `file` is to be freed in any
 * case, after the parameters' use. An exit status, reported. */
int read_step_code(const char *path, results_file *file,
                   kmb_payoff_params *params);

/* What a comparison says of a row. An exit status, reported. */
int change_of_row(const char *command, const results_file *f,
                  const results_comparison *c, size_t row,
                  kmb_payoff_change *change);

#endif
