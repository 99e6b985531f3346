/* What the programs of this folder share: the report as a table and as JSON,
 * and robust statistics of a few repeats. */
#ifndef KMB_BENCH_REPORT_H
#define KMB_BENCH_REPORT_H

#include <kmb/kmb.h>

#include <jansson.h>

#include <stdbool.h>

#define KMB_BENCH_NORETURN __attribute__((noreturn))

#ifdef __cplusplus
extern "C" {
#endif

/* A number that is published, with its bar. */
typedef struct figure {
  const char *name, *unit;
  double value, low, high; /* low and high: what `spread` says */
  const char *spread;
  double bar_low, bar_high; /* the value must lie in between */
} figure;

typedef struct report {
  kmb_device *device;
  json_t *root, *figures; /* programs add their own keys to `root` */
  const char *path;       /* of --json, or NULL */
  uint64_t missed, unclaimed;
} report;

/* The middle of an ordered list and the narrowest interval of two order
 * statistics that holds the true median with at least 95%. Sorts `x`. */
typedef struct middle {
  double median, low, high;
} middle;
middle middle_of(double *x, size_t count);

double now_ns(void);

/* Takes "--json FILE" out of the arguments, opens the host and notes hardware,
 * kernel, date and versions. Ends the program with a message if it cannot. */
void report_open(report *r, int *argc, char **argv, const char *program);
void report_version(report *r, const char *name, const char *version);
/* Prints a figure beside its bar. With a reason `why_not` nothing is claimed.
 */
void report_figure(report *r, const figure *f, const char *why_not);
/* Writes the JSON. The program's exit status: 0, 1 if a claimed figure misses
 * its bar, 3 if one is not claimed. */
int report_close(report *r);

/* Ends the program. */
KMB_BENCH_NORETURN void give_up(const char *what, const char *why);
/* Ends it with the library's own words if the call failed. */
void must(kmb_status status, const char *what);
/* Value of "--NAME N" among the arguments, or `otherwise`. */
unsigned long option(int argc, char **argv, const char *name,
                     unsigned long otherwise);

#ifdef __cplusplus
}
#endif

#endif
