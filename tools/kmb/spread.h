/* Results of the same points from several processes. */
#ifndef KMB_TOOLS_SPREAD_H
#define KMB_TOOLS_SPREAD_H

#include "compare.h"

enum { PROCESSES_MOST = 1000 };

/* One point in all processes. */
typedef struct spread {
  const kmb_result *result; /* of the process in the middle, the lower of two */
  double median_ns, min_ns, max_ns;
  double low_ns, high_ns; /* if `has_interval` */
  double confidence;      /* that the interval reaches */
  size_t doubted;         /* processes with a finding of doubt */
  bool has_interval;
} spread;

/* The narrowest interval between two of `count` sorted values that holds the
 * median of what they are drawn from with at least `level`: their places from 0
 * and what it reaches. False if no two are enough. */
bool median_places(size_t count, double level, size_t *low, size_t *high,
                   double *confidence);
/* Processes that are needed for a level. */
size_t processes_needed(double level);

/* Points in the order of the first file; free() them. False, reported, if a
 * process lacks a point, measured it another way or without a time. */
bool collect_spread(results_file *files, size_t count, double level,
                    spread **points, size_t *point_count);

/* Writes the results of the points, with the spread as metadata. An exit
 * status, reported. */
int write_spread(const char *path, const spread *points, size_t point_count,
                 size_t processes, double level);

/* What such metadata leave open. `few` if the processes were too few. */
bool spread_bounds(const kmb_result *result, double *low, double *high,
                   bool *few);
/* Some process raised a doubt. */
bool spread_doubted(const kmb_result *result);

#endif
