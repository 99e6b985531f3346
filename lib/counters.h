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
  kmb_shape shape;
} kmbi_kernel;

/* How the kernel of a row was launched. */
typedef struct kmbi_counter_launch {
  kmb_op op; /* without times */
  kmb_occupancy occupancy;
  const char *why; /* the occupancy is not known; NULL: it is */
} kmbi_counter_launch;

/* Where the time of a call goes: the log tells, no result. */
typedef enum kmbi_counter_step {
  KMBI_COUNTERS_TRACE_OPEN,
  KMBI_COUNTERS_TRACE,
  KMBI_COUNTERS_TRACE_CLOSE,
  KMBI_COUNTERS_DRIVER, /* is asked about launches */
  KMBI_COUNTERS_OPEN,
  KMBI_COUNTERS_COLLECT,
  KMBI_COUNTERS_CLOSE,
  KMBI_COUNTERS_STEPS
} kmbi_counter_step;

struct kmb_counters {
  kmbi_memory memory; /* that this itself came from */
  kmbi_arena arena;   /* everything below lives in it */
  kmb_counters_info info;
  kmbi_kernel *kernels;          /* info.kernels of them */
  uint64_t *rows;                /* which of the ranges were asked for */
  kmbi_counter_launch *launches; /* row_count; NULL: a whole iteration */
  uint64_t row_count;
  uint64_t ranges;
  double *values; /* ranges × metric_count; NaN: none */
  uint64_t metric_count;
  double since;                     /* when the last step ended */
  double took[KMBI_COUNTERS_STEPS]; /* ns */
};

/* A step ends here. */
void kmbi_counters_step(kmbi_run *run, kmb_counters *c, kmbi_counter_step step);

/* For a run that is prepared. With `launches`, how its kernels were launched is
 * compared with what the driver says, for which it is launched once more. */
kmb_status kmbi_counters_take(kmbi_run *run, const kmb_counters_params *params,
                              bool launches, kmb_counters **out);
/* Traces one iteration and keeps its kernels (counters_list.c). With `any`, one
 * that consists of copies and sets alone is read as a whole. */
kmb_status kmbi_counters_list(kmbi_run *run, bool any, kmb_counters *c);
/* Which of them are asked for. */
kmb_status kmbi_counters_choose(kmb_counters *c,
                                const kmb_counters_params *params);
/* Launches of the rows (counters_launch.c). */
kmb_status kmbi_counters_launches(kmbi_run *run, kmb_counters *c);

#endif
