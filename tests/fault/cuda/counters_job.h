/* A kernel on the virtual GPU whose counters are read. */
#ifndef KMB_TESTS_CUDA_COUNTERS_JOB_H
#define KMB_TESTS_CUDA_COUNTERS_JOB_H

#include "bed.h"

enum { COUNT = 8192, BYTES = 4 * COUNT }; /* in an L2 of 256 KiB */

typedef struct job {
  bed b;
  add a;
  kmb_buffers *buffers;
  kmb_bench_params bench;
  kmb_counters_params params;
  kmb_counters *counters;
} job;

static inline void start(job *j, kmb_cache_state cache) {
  memset(j, 0, sizeof *j);
  bed_start(&j->b);
  j->a = (add){&j->b, bed_kernel(&j->b, "test_add"), COUNT};
  j->buffers = bed_add_buffers(&j->b, COUNT);
  REQUIRE(j->buffers);
  j->bench = bed_params(0, 0, cache);
  j->bench.launch = bed_launch_add;
  j->bench.launch_user = &j->a;
  j->bench.buffers = j->buffers;
  j->params = kmb_counters_params_init();
}

static inline void end(job *j) {
  kmb_counters_destroy(j->counters);
  kmb_buffers_destroy(j->buffers);
  bed_end(&j->b);
}

static inline kmb_status read_counters(job *j) {
  kmb_counters_destroy(j->counters);
  return kmb_counters_read(j->b.device, &j->bench, &j->params, &j->counters);
}

static inline double value(const job *j, uint64_t row, uint64_t metric) {
  double number = 0;
  REQUIRE_OK(kmb_counters_value(j->counters, row, metric, &number));
  return number;
}

static inline kmb_counters_info info(const job *j) {
  kmb_counters_info i = kmb_counters_info_init();
  REQUIRE_OK(kmb_counters_get_info(j->counters, &i));
  return i;
}

static inline const char *name(const job *j, uint64_t row) {
  const char *text = NULL;
  REQUIRE_OK(kmb_counters_name(j->counters, row, &text));
  return text;
}

static inline void refused(job *j, kmb_status status, const char *why) {
  kmb_status got = read_counters(j);
  if (got != status || !strstr(kmb_last_error(NULL, NULL), why))
    fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  REQUIRE_EQ(got, status);
  REQUIRE(!j->counters);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
}

/* What goes through callbacks: several kernels a launch. */
typedef struct several {
  bed *b;
  kmbi_cu_function add, spin;
  unsigned adds;
  kmbi_cu_stream side; /* the spin's; NULL: the launch's */
  unsigned launches, resets;
} several;

static inline kmb_status launch_several(void *user, const kmb_launch *launch) {
  several *s = user;
  add a = {s->b, s->add, COUNT};
  uint64_t cycles = 1000, out = 0;
  void *arguments[] = {&cycles, &out};
  s->launches++;
  if (s->b->cu.cuLaunchKernel(s->spin, 1, 1, 1, 1, 1, 1, 0,
                              s->side ? s->side : launch->stream, arguments,
                              NULL))
    return KMB_ERR_VENDOR;
  for (unsigned i = 0; i < s->adds; i++)
    if (bed_launch_add(&a, launch)) return KMB_ERR_VENDOR;
  return KMB_OK;
}

static inline void start_several(job *j, several *s, unsigned adds) {
  start(j, KMB_CACHE_COLD);
  *s = (several){&j->b,
                 bed_kernel(&j->b, "test_add"),
                 bed_kernel(&j->b, "test_spin"),
                 adds,
                 NULL,
                 0,
                 0};
  j->bench.launch = launch_several;
  j->bench.launch_user = s;
}

static inline kmb_status refuse(void *user, const kmb_launch *launch) {
  several *s = user;
  if (s->launches == s->adds) return 42;
  s->launches++;
  add a = {s->b, s->add, COUNT};
  return bed_launch_add(&a, launch);
}

#endif
