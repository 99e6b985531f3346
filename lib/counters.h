/* Counters of one operation while they are read and kept. */
#ifndef KMB_LIB_COUNTERS_H
#define KMB_LIB_COUNTERS_H

#include "run.h"

#include <kmb/counters.h>

enum { KMBI_COUNTER_KERNELS = 2048, KMBI_COUNTER_METRICS = 1024 };

/* A kernel of one traced iteration, in order of its start. */
typedef struct kmbi_kernel {
  const char *name; /* never NULL */
  double duration_ns;
  uint32_t stream;
} kmbi_kernel;

struct kmb_counters {
  kmbi_memory memory; /* that this itself came from */
  kmbi_arena arena;   /* everything below lives in it */
  kmb_counters_info info;
  kmbi_kernel *kernels; /* info.kernels of them */
  uint64_t *rows;       /* which of the ranges were asked for */
  uint64_t row_count;
  uint64_t ranges;
  double *values; /* ranges × metric_count; NaN: none */
  uint64_t metric_count;
};

/* For a run that is prepared. */
kmb_status kmbi_counters_take(kmbi_run *run, const kmb_counters_params *params,
                              kmb_counters **out);
/* Traces one iteration and keeps its kernels (counters_list.c). */
kmb_status kmbi_counters_list(kmbi_run *run, kmb_counters *c);
/* Which of them are asked for. */
kmb_status kmbi_counters_choose(kmb_counters *c,
                                const kmb_counters_params *params);

#endif
