/* Driving kmb_compare() over the simulated device. */
#ifndef KMB_TESTS_PLUGIN_COMPARE_H
#define KMB_TESTS_PLUGIN_COMPARE_H

#include "harness.h"

#include <math.h>
#include <stdbool.h>

enum { MATCH_MAX = 4 };

/* Candidates that touch nothing and take `op.ns`. */
typedef struct match {
  harness h;
  operation ops[MATCH_MAX];
  kmb_bench_params benches[MATCH_MAX];
  kmb_candidate candidates[MATCH_MAX];
  uint64_t count;
  kmb_compare_params p;
  kmb_comparison *c;
} match;

/* What is written. */
typedef struct match_page {
  char data[1 << 17];
  size_t size;
} match_page;

static inline kmb_status match_put(void *user, const void *data, size_t size) {
  match_page *p = user;
  REQUIRE(size < sizeof p->data - p->size);
  memcpy(p->data + p->size, data, size);
  p->size += size;
  p->data[p->size] = '\0';
  return KMB_OK;
}

static inline void match_begin(match *m, const char *spec, uint64_t count) {
  static const char *const names[] = {"a", "b", "c", "d"};
  memset(m, 0, sizeof *m);
  REQUIRE_OK(harness_open(&m->h, SIM, spec));
  m->count = count;
  m->p = kmb_compare_params_init();
  for (uint64_t i = 0; i < count; i++) {
    m->benches[i] = kmb_bench_params_init();
    m->benches[i].name = names[i];
    m->benches[i].launch = operation_launch;
    m->benches[i].launch_user = &m->ops[i];
    m->candidates[i] = kmb_candidate_init();
    m->candidates[i].bench = &m->benches[i];
  }
}

static inline kmb_status match_try(match *m) {
  kmb_comparison_destroy(m->c);
  m->c = NULL;
  return kmb_compare(m->h.device, m->candidates, sizeof m->candidates[0],
                     m->count, &m->p, &m->c);
}

static inline void match_run(match *m) {
  REQUIRE_OK(match_try(m));
}

static inline void match_fails(match *m, kmb_status want, const char *words) {
  REQUIRE_STATUS(match_try(m), want);
  REQUIRE(m->c == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
}

static inline kmb_compare_row match_row(const match *m, uint64_t index) {
  kmb_compare_row row = kmb_compare_row_init();
  REQUIRE_OK(kmb_comparison_row(m->c, index, &row));
  return row;
}

static inline void match_finish(match *m) {
  kmb_comparison_destroy(m->c);
  close_sim(&m->h);
}

#endif
