/* Two files of results, point by point, and what may be said of them. */
#ifndef KMB_TOOLS_COMPARE_H
#define KMB_TOOLS_COMPARE_H

#include "results.h"

typedef enum verdict {
  VERDICT_FASTER,
  VERDICT_SAME,
  VERDICT_SLOWER,
  VERDICT_UNRESOLVED,
  VERDICT_REFUSED, /* measured in different ways */
  VERDICTS
} verdict;

extern const char *const verdict_names[VERDICTS];

enum { COMPARE_IGNORED = 16, COMPARE_DIFFERENCES = 48 };

typedef struct compare_options {
  const char *paths[2];
  double threshold;                     /* a share, such as 0.01 */
  const char *ignored[COMPARE_IGNORED]; /* axes that do not identify */
  int ignored_count;
  bool json, markdown;
  bool different; /* compare what was taken in another way, too */
} compare_options;

typedef struct comparison {
  const kmb_result *old, *fresh;
  double old_ns, fresh_ns;
  double ratio;     /* fresh over old */
  double low, high; /* of the ratio, if `has_interval` */
  bool has_interval;
  verdict verdict;
  char reason[200]; /* of UNRESOLVED and REFUSED */
} comparison;

/* Metadata that differ between partners; NULL: unknown. */
typedef struct difference {
  const char *key, *old, *fresh;
  size_t pairs;
} difference;

typedef struct comparison_table {
  comparison *rows; /* in the order of the old file */
  size_t count;
  size_t of[VERDICTS];
  const kmb_result **only_old, **only_fresh;
  size_t only_old_count, only_fresh_count;
  difference differences[COMPARE_DIFFERENCES];
  int difference_count;
  size_t differences_left; /* that had no room */
  bool cut;                /* a file has no end */
} comparison_table;

/* compare_pair.c: what differs of how two results were taken; false if nothing
 * does. */
bool find_difference(const kmb_result *a, const kmb_result *b, char *text,
                     size_t size);
void compare_pair(const kmb_result *old, const kmb_result *fresh,
                  const compare_options *o, comparison *c);
/* Adds the metadata in which a pair differs. */
void add_differences(const kmb_result *old, const kmb_result *fresh,
                     comparison_table *t);

/* compare_match.c: false, reported, if a point stands twice in a file, or no
 * file has an axis that is to be ignored. */
bool compare_files(const results_file *old, const results_file *fresh,
                   const compare_options *o, comparison_table *t);
void comparison_table_free(comparison_table *t);

/* compare_print.c */
void print_comparison(const comparison_table *t, const compare_options *o);
/* An exit status, reported. */
int print_comparison_json(const comparison_table *t);

#endif
