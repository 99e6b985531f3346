/* What changed, as files of results say it. */
#ifndef KMB_TOOLS_PAYOFF_H
#define KMB_TOOLS_PAYOFF_H

#include "results.h"

enum {
  PAYOFF_AXES = 16,
  PAYOFF_ADDED_MOST = 1000000 /* ns: kmb_payoff_params::added_ns */
};

/* What is meant where files hold several points. */
typedef struct payoff_choice {
  const char *files[2];
  int file_count;
  const char *baseline, *candidate; /* names; NULL: not said */
  const char *axes[PAYOFF_AXES];    /* KEY=VALUE */
  int axis_count;
  const char *code; /* a file that lists what the step ran; NULL: none */
} payoff_choice;

/* The change between two results of the files, or that of a comparison; its
 * strings belong to `files`, which are to be freed in any case. An exit status,
 * reported: what is ambiguous is listed. */
int read_change(const payoff_choice *o, results_file files[2],
                kmb_payoff_change *change);

/* Takes argv[*at], and its value, if it is one of the options that say what is
 * meant; *at then stands on the last word taken. As take_trace_option(). */
int take_payoff_option(const char *command, int argc, char **argv, int *at,
                       payoff_choice *choice, kmb_payoff_params *params);
/* Whether any of them was given that chooses among results. */
bool is_any_chosen(const payoff_choice *o);

/* Whether a candidate of a comparison is meant. */
bool is_row_chosen(const results_file *f, const results_comparison *c,
                   size_t row, const payoff_choice *o);
/* The change between the two results that are meant. With `pool` any of the
 * files may hold them; else the first holds the old one and the second the new
 * one. An exit status, reported: what is ambiguous is listed. */
int change_of_results(const char *command, const payoff_choice *o,
                      const results_file *files, int count, bool pool,
                      kmb_payoff_change *change);
/* Lists the candidates of the files' comparisons on stderr. */
void list_candidates(const results_file *files, int count);
/* --code: results that list what the step ran; `file` is to be freed in any
 * case, after the parameters' use. An exit status, reported. */
int read_step_code(const char *path, results_file *file,
                   kmb_payoff_params *params);

/* What a comparison says of a row. An exit status, reported. */
int change_of_row(const char *command, const results_file *f,
                  const results_comparison *c, size_t row,
                  kmb_payoff_change *change);

#endif
