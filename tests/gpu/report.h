/* What the programs that measure share: ways to measure, and their JSON. */
#ifndef KMB_TESTS_GPU_REPORT_H
#define KMB_TESTS_GPU_REPORT_H

#include <stdio.h>

#include "gpu.h"

typedef struct mode {
  const char *key;
  kmb_timer timer;
  kmb_launch_mode launch;
  double limit_us; /* how far from TRACE on plain launches it may be */
} mode;

enum { MODES = 5 };
extern const mode modes[MODES];

/* Required timer, launch mode and cache state, nothing confirmed. */
kmb_bench_params params_for(const mode *m, kmb_cache_state cache);
/* NULL, and said why on stderr, if it failed. */
kmb_result *bench(gpu *g, const kmb_bench_params *p, const char *what);

/* JSON to the named file or stdout, its head being what was measured on. */
FILE *report_open(gpu *g, const char *path);
/* The program's exit status. */
int report_close(FILE *json);
void print_result(FILE *json, const char *key, const kmb_result *r);

double median(double *values, size_t count); /* sorts them */
/* Without the lowest and highest tenth: a median of readings that step lies on
 * a step. */
double trimmed_mean(double *values, size_t count); /* sorts them */
double trimmed_mean_of(const kmb_result *r, uint64_t *count);

#endif
