/* Driving kmb_bench() over the simulated device. */
#ifndef KMB_TESTS_PLUGIN_ENGINE_H
#define KMB_TESTS_PLUGIN_ENGINE_H

#include "harness.h"

#include <stdbool.h>

#define MIB (UINT64_C(1) << 20)

/* One measurement: y = x on the simulated device. */
typedef struct trial {
  harness h;
  operation op;
  kmb_buffers *set;
  kmb_buffer_desc descs[2]; /* x and y, to be changed before run() */
  kmb_buffers_params rotation;
  kmb_bench_params p;
  kmb_result *r;
  uint64_t checks;
  struct stopper *stop; /* of a test that stops it */
} trial;

/* Compares the output with the input. */
static kmb_status trial_check(void *user, kmb_check *check) {
  trial *t = user;
  t->checks++;
  check->error = 0;
  if (memcmp(check->before[0], check->after[1], (size_t)t->op.bytes) == 0)
    return KMB_OK;
  check->error = 1;
  return KMB_ERR_INCORRECT;
}

static inline void begin_on(trial *t, const char *plugin, const char *spec) {
  memset(t, 0, sizeof *t);
  REQUIRE_OK(harness_open(&t->h, plugin, spec));
  t->p = kmb_bench_params_init();
  t->p.name = "copy";
  t->p.launch = operation_launch;
  t->p.launch_user = &t->op;
  t->rotation = kmb_buffers_params_init();
}

static inline void begin(trial *t, const char *spec) {
  begin_on(t, SIM, spec);
}

/* Gives the trial an input and an output of `bytes`, and a check. */
static inline void with_buffers(trial *t, uint64_t bytes) {
  static const char *const names[] = {"x", "y"};
  for (int i = 0; i < 2; i++) {
    t->descs[i] = kmb_buffer_desc_init();
    t->descs[i].name = names[i];
    t->descs[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    t->descs[i].dtype = KMB_F32;
    t->descs[i].bytes = bytes;
  }
  t->op.bytes = bytes;
  t->p.check = trial_check;
  t->p.check_user = t;
}

static inline kmb_status attempt(trial *t) {
  kmb_result_destroy(t->r);
  t->r = NULL;
  if (t->op.bytes && !t->set) {
    kmb_status status = kmb_buffers_create(
        t->h.device, t->descs, sizeof t->descs[0], 2, &t->rotation, &t->set);
    if (status) return status;
    t->p.buffers = t->set;
  }
  return kmb_bench(t->h.device, &t->p, &t->r);
}

static inline void run(trial *t) {
  REQUIRE_OK(attempt(t));
}

static inline void fails(trial *t, kmb_status want, const char *words) {
  REQUIRE_STATUS(attempt(t), want);
  REQUIRE(t->r == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
}

static inline void finish(trial *t) {
  kmb_result_destroy(t->r);
  kmb_buffers_destroy(t->set);
  close_sim(&t->h);
}

static inline bool raised(const trial *t, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(t->r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(t->r, i, &finding));
    REQUIRE(finding.message && *finding.message);
    if (finding.code == code) return true;
  }
  return false;
}

/* Words of a finding that was raised. */
static inline const char *message(const trial *t, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(t->r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(t->r, i, &finding));
    if (finding.code == code) return finding.message;
  }
  return NULL;
}

/* A figure of a finding that was raised. */
static inline double figure(const trial *t, kmb_finding_code code,
                            const char *name) {
  for (uint64_t i = 0; i < kmb_result_finding_count(t->r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(t->r, i, &finding));
    for (uint64_t f = 0; finding.code == code && f < finding.figure_count; f++)
      if (strcmp(finding.figures[f].name, name) == 0)
        return finding.figures[f].value;
  }
  REQUIRE(!"a figure of a finding that was raised");
  return 0;
}

static inline const char *text(const trial *t, kmb_value value) {
  const char *out = NULL;
  REQUIRE_OK(kmb_result_text(t->r, value, &out));
  return out;
}

static inline double f64(const trial *t, kmb_value value) {
  double out = 0;
  REQUIRE_OK(kmb_result_f64(t->r, value, &out));
  return out;
}

static inline uint64_t u64(const trial *t, kmb_value value) {
  uint64_t out = 0;
  REQUIRE_OK(kmb_result_u64(t->r, value, &out));
  return out;
}

#endif
