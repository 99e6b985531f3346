/* The engine over the host backend, with a last-level cache of the test's own
 * size so that everything is small. Nothing here judges a duration. */
#include "require.h"

#include <kmb/kmb.h>

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, BYTES = N * 4 };

/* What the callbacks saw and shall do. */
typedef struct probe {
  uint64_t launches, setups, resets, checks, fills;
  uint64_t slots_seen[64];
  uint64_t fail_at; /* launch number, from 1 */
  kmb_status fail_with;
  kmb_status check_with;
  int32_t cancel;
  uint64_t cancel_at;
  kmb_device *device; /* for a nested call */
  kmb_status nested;
  double scale;
  bool idle, outside, partial;
  char last[8]; /* order of hooks: r, l */
} probe;

static kmb_device *device;
static int32_t cancel_flag;

static kmb_status scale(void *user, const kmb_launch *l) {
  probe *p = user;
  p->launches++;
  if (l->slot < 64) p->slots_seen[l->slot]++;
  if (p->fail_at && p->launches == p->fail_at) return p->fail_with;
  if (p->cancel_at && p->launches == p->cancel_at) cancel_flag = 1;
  if (p->idle || !l->args) return KMB_OK;
  const float *x = l->args[0];
  float *y = l->args[1];
  uint64_t n = p->partial ? N / 2 : N;
  for (uint64_t i = 0; i < n; i++)
    y[i] = (float)p->scale * x[i];
  if (p->outside) y[N] = 1;
  return KMB_OK;
}

static kmb_status check(void *user, kmb_check *c) {
  probe *p = user;
  p->checks++;
  if (p->check_with) return p->check_with;
  const float *x = c->before[0], *y = c->after[1];
  c->error = 0;
  for (int i = 0; i < N; i++) {
    double error = y[i] - 2.0 * x[i];
    if (error < 0) error = -error;
    if (!(error <= c->error)) c->error = error;
  }
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

static kmb_buffers *make_buffers(kmb_device *on) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x";
  d[0].role = KMB_INPUT;
  d[1].name = "y";
  d[1].role = KMB_OUTPUT;
  d[0].dtype = d[1].dtype = KMB_F32;
  d[0].bytes = d[1].bytes = BYTES;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(on, d, sizeof d[0], 2, NULL, &set));
  return set;
}

static kmb_bench_params params_of(probe *p, kmb_buffers *set) {
  kmb_bench_params b = kmb_bench_params_init();
  *p = (probe){.scale = 2};
  cancel_flag = 0;
  b.name = "scale";
  b.launch = scale;
  b.launch_user = p;
  b.buffers = set;
  if (set) {
    b.check = check;
    b.check_user = p;
  }
  b.min_wall_ns = 1e5;
  b.max_wall_ns = 10e9; /* never reached, also under valgrind */
  b.target_pct = 50;
  b.warmup_ns = 1e5;
  b.min_samples = 20;
  return b;
}

static kmb_result *bench(const kmb_bench_params *b) {
  kmb_result *result = NULL;
  REQUIRE_OK(kmb_bench(device, b, &result));
  return result;
}

static void refused(const kmb_bench_params *b, kmb_status status,
                    const char *why) {
  kmb_result *result = (kmb_result *)&status;
  REQUIRE_STATUS(kmb_bench(device, b, &result), status);
  if (why) REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
  REQUIRE(result == NULL);
}

static const char *text(const kmb_result *r, kmb_value value) {
  const char *t = "";
  REQUIRE_OK(kmb_result_text(r, value, &t));
  return t;
}

static uint64_t count_of(const kmb_result *r, kmb_value value) {
  uint64_t n = 0;
  REQUIRE_OK(kmb_result_u64(r, value, &n));
  return n;
}

static bool found(const kmb_result *r, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &finding));
    if (finding.code == code) return true;
  }
  return false;
}

static void a_result_holds_time_interval_and_evidence(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  const kmb_pair axes[] = {{"n", "1024"}};
  b.axes = axes;
  b.axis_count = 1;
  b.tolerance = 1e-6;
  kmb_result *r = bench(&b);
  double time = 0, raw = 0, low = 0, high = 0, error = -1;
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_TIME, &time));
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_RAW_MEDIAN, &raw));
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_INTERVAL_LOW, &low));
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_INTERVAL_HIGH, &high));
  REQUIRE(time > 0 && low <= time && time <= high);
  REQUIRE_NEAR(time, raw, 0); /* nothing is subtracted on the host */
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_BIAS, &raw), KMB_ERR_UNAVAILABLE);
  REQUIRE_STR(text(r, KMB_VALUE_TIMER), "HOST");
  REQUIRE_STR(text(r, KMB_VALUE_LAUNCH_MODE), "PLAIN");
  REQUIRE_STR(text(r, KMB_VALUE_CACHE_STATE), "ROTATED");
  REQUIRE_STR(text(r, KMB_VALUE_CACHE_REQUESTED), "DEFAULT");
  REQUIRE_STR(text(r, KMB_VALUE_CHECK), "passed before and after timing");
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_CHECK_ERROR, &error));
  REQUIRE_NEAR(error, 0, 0);
  const double *ns = NULL;
  uint64_t n = 0;
  REQUIRE_OK(kmb_result_samples(r, &ns, &n));
  REQUIRE(n >= 20 && n == count_of(r, KMB_VALUE_SAMPLES));
  REQUIRE_EQ(count_of(r, KMB_VALUE_ITERATIONS),
             (n + count_of(r, KMB_VALUE_SAMPLES_DROPPED)) *
                 count_of(r, KMB_VALUE_BATCH));
  REQUIRE_EQ(kmb_result_axis_count(r), 1);
  REQUIRE(!found(r, KMB_FINDING_CHECK_SKIPPED));
  REQUIRE_EQ(p.checks, 2);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

/* 64 KiB of cache, 4 KiB of inputs, factor 2: 32 sets lie between two uses. */
static void rotation_visits_every_slot_past_the_cache(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  kmb_result *r = bench(&b);
  REQUIRE_EQ(count_of(r, KMB_VALUE_SLOTS), 33);
  REQUIRE_EQ(count_of(r, KMB_VALUE_REUSE_BYTES), 32 * BYTES);
  for (int s = 0; s < 33; s++)
    REQUIRE(p.slots_seen[s] > 0);
  REQUIRE_EQ(p.slots_seen[33], 0);
  REQUIRE(!found(r, KMB_FINDING_NOT_COLD));
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static void too_few_slots_are_not_cold(void) {
  probe p;
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_OUTPUT;
  d.dtype = KMB_F32;
  d.bytes = BYTES;
  kmb_buffers_params few = kmb_buffers_params_init();
  few.slots = 4;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, &few, &set));
  kmb_bench_params b = params_of(&p, NULL);
  b.buffers = set;
  p.idle = true;
  b.cache = KMB_CACHE_ROTATED;
  refused(&b, KMB_ERR_INCORRECT, "not written at all by a plain launch");
  kmb_buffers_destroy(set);
  d.role = KMB_INPUT;
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, &few, &set));
  b.buffers = set;
  kmb_result *r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_NOT_COLD));
  REQUIRE_STR(text(r, KMB_VALUE_CACHE_STATE), "NOT_COLD");
  kmb_result_destroy(r);
  b.flags = KMB_BENCH_REQUIRE_CACHE;
  refused(&b, KMB_ERR_UNAVAILABLE, "ROTATED is required");
  kmb_buffers_destroy(set);
}

static void warm_of_more_than_the_cache_is_not_warm(void) {
  probe p;
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_INPUT;
  d.dtype = KMB_F32;
  d.bytes = 64ULL * 1024;
  kmb_buffers *set = NULL;
  for (int over = 0; over < 2; over++) {
    d.bytes += (uint64_t)over * 4;
    REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
    kmb_bench_params b = params_of(&p, NULL);
    p.idle = true;
    b.buffers = set;
    b.cache = KMB_CACHE_WARM;
    kmb_result *r = bench(&b);
    REQUIRE_EQ(found(r, KMB_FINDING_NOT_WARM), over);
    REQUIRE_STR(text(r, KMB_VALUE_CACHE_STATE), over ? "NOT_WARM" : "WARM");
    REQUIRE_EQ(count_of(r, KMB_VALUE_SLOTS), 1);
    kmb_result_destroy(r);
    b.flags = KMB_BENCH_REQUIRE_CACHE;
    if (over)
      refused(&b, KMB_ERR_UNAVAILABLE, "WARM is required");
    else
      kmb_result_destroy(bench(&b));
    kmb_buffers_destroy(set);
  }
}

static void cold_sweeps_before_each_single_call(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.cache = KMB_CACHE_COLD;
  kmb_result *r = bench(&b);
  REQUIRE_EQ(count_of(r, KMB_VALUE_BATCH), 1);
  REQUIRE_EQ(count_of(r, KMB_VALUE_SLOTS), 1);
  REQUIRE_EQ(count_of(r, KMB_VALUE_SWEEP_BYTES), 2 * 65536);
  REQUIRE_HAS(text(r, KMB_VALUE_CACHE_METHOD), "read before each iteration");
  REQUIRE(found(r, KMB_FINDING_UNCONFIRMED));
  kmb_result_destroy(r);
  b.batch = 2;
  refused(&b, KMB_ERR_INVALID, "a sample is one iteration");
  kmb_buffers_destroy(set);
}

static void wrong_values_never_get_a_time(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  p.scale = 2.5;
  refused(&b, KMB_ERR_INCORRECT,
          "the check failed on what was written by a plain launch");
  REQUIRE_EQ(p.launches, 1);
  b = params_of(&p, set);
  p.check_with = 17;
  refused(&b, 17, "a callback returned 17");
  b = params_of(&p, set);
  p.fail_at = 1;
  p.fail_with = KMB_ERR_VENDOR;
  refused(&b, KMB_ERR_VENDOR, "a callback returned -16 (ERR_VENDOR)");
  kmb_buffers_destroy(set);
}

static void untouched_and_partly_written_outputs(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.check = NULL;
  p.idle = true;
  refused(&b, KMB_ERR_INCORRECT, "output \"y\" was not written at all");
  b = params_of(&p, set);
  b.check = NULL;
  p.partial = true;
  kmb_result *r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_STALE_OUTPUT));
  REQUIRE(found(r, KMB_FINDING_CHECK_SKIPPED));
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static void writing_outside_a_slot_is_caught(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  p.outside = true;
  refused(&b, KMB_ERR_INCORRECT, "\"y\" of slot 0 was written outside");
  /* The next call works with the same buffers: the zone was mended. */
  b = params_of(&p, set);
  kmb_result_destroy(bench(&b));
  kmb_buffers_destroy(set);
}

/* A callback's failure comes back unchanged from whatever step it happens in,
 * and the next call works. */
static void a_failing_callback_at_any_launch(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.max_samples = 60;
  kmb_result_destroy(bench(&b));
  uint64_t all = p.launches;
  for (uint64_t k = 1; k <= all; k += 1 + k / 8) {
    b = params_of(&p, set);
    b.max_samples = 60;
    p.fail_at = k;
    p.fail_with = k % 2 ? 5 : KMB_ERR_VENDOR;
    kmb_result *r = NULL;
    kmb_status status = kmb_bench(device, &b, &r);
    if (!status)
      kmb_result_destroy(r); /* this run needed fewer launches */
    else
      REQUIRE_EQ(status, p.fail_with);
  }
  b = params_of(&p, set);
  kmb_result_destroy(bench(&b));
  kmb_buffers_destroy(set);
}

static kmb_status note_setup(void *user, uint32_t slot, uint32_t config) {
  probe *p = user;
  REQUIRE_EQ(slot, p->setups);
  REQUIRE_EQ(config, 3);
  p->setups++;
  return KMB_OK;
}

static kmb_status restore(void *user, uint32_t slot, void *stream) {
  probe *p = user;
  (void)slot;
  (void)stream;
  p->resets++;
  return KMB_OK;
}

/* Field case F4, through the engine: a footprint counts cold inputs alone,
 * whatever outputs and scratch take. */
static void f4_outputs_and_scratch_are_no_part_of_the_footprint(void) {
  probe p;
  kmb_buffer_desc d[3];
  const kmb_buffer_role roles[] = {KMB_INPUT, KMB_OUTPUT, KMB_SCRATCH};
  const char *names[] = {"x", "y", "tmp"};
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].role = roles[i];
    d[i].dtype = KMB_F32;
    d[i].bytes = (uint64_t)BYTES * (i == 2 ? 16 : 1);
  }
  kmb_buffers_params ring = kmb_buffers_params_init();
  ring.rotation_bytes = 40 * (uint64_t)BYTES - 1;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(device, d, sizeof d[0], 3, &ring, &set));
  kmb_bench_params b = params_of(&p, set);
  kmb_result *r = bench(&b);
  REQUIRE_EQ(count_of(r, KMB_VALUE_SLOTS), 40);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static void hooks_run_once_a_slot_and_before_each_iteration(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.setup = note_setup;
  b.reset = restore;
  b.setup_user = b.reset_user = &p;
  b.config = 3;
  b.max_samples = 100;
  kmb_result *r = bench(&b);
  REQUIRE_EQ(p.setups, 33);
  REQUIRE_EQ(count_of(r, KMB_VALUE_BATCH), 1);
  /* One more reset than launches: the second check resets ahead of its copy. */
  REQUIRE_EQ(p.resets, p.launches + 1);
  REQUIRE_EQ(count_of(r, KMB_VALUE_CONFIG), 3);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static kmb_status add_one(void *user, const kmb_launch *l) {
  (void)user;
  float *x = l->args[0];
  for (int i = 0; i < N; i++)
    x[i] += 1;
  return KMB_OK;
}

static kmb_status check_add(void *user, kmb_check *c) {
  probe *p = user;
  p->checks++;
  const float *before = c->before[0], *after = c->after[0];
  for (int i = 0; i < N; i++)
    if (after[i] != before[i] + 1) return KMB_ERR_INCORRECT;
  return KMB_OK;
}

static void state_changed_in_place_is_flagged_and_put_back(void) {
  probe p;
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_INOUT;
  d.dtype = KMB_F32;
  d.bytes = BYTES;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  kmb_bench_params b = params_of(&p, NULL);
  b.launch = add_one;
  b.buffers = set;
  b.check = check_add;
  b.check_user = &p;
  kmb_result *r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_STATE_CARRIED));
  REQUIRE_STR(text(r, KMB_VALUE_CHECK), "passed before timing");
  REQUIRE_EQ(p.checks, 1);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
  /* A check that fails puts it back too: the set is used again. */
  void *x = NULL;
  unsigned char before[N * sizeof(float)];
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 1));
  REQUIRE_OK(kmb_buffers_pointer(set, 0, 0, &x));
  memcpy(before, x, sizeof before);
  b.buffers = set;
  b.check = check;
  p.check_with = KMB_ERR_INCORRECT;
  refused(&b, KMB_ERR_INCORRECT, "the check failed");
  REQUIRE_EQ(memcmp(before, x, sizeof before), 0);
  kmb_buffers_destroy(set);
}

/* Field case F26: without a warm-up there still is one untimed launch a slot.
 */
static void f26_no_warmup_still_launches_each_slot_untimed(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.flags = KMB_BENCH_NO_WARMUP;
  kmb_result *r = bench(&b);
  REQUIRE_EQ(count_of(r, KMB_VALUE_WARMUP_ITERATIONS), 33);
  kmb_result_destroy(r);
  /* Counted by the callback: one launch of the check, one a slot, then one
   * sample, its confirmation and the second check. */
  b = params_of(&p, NULL);
  b.flags = KMB_BENCH_NO_WARMUP | KMB_BENCH_NO_CONFIRM;
  b.batch = b.max_samples = 1;
  r = bench(&b);
  uint64_t without = p.launches - 1; /* that were not timed */
  REQUIRE_EQ(without, count_of(r, KMB_VALUE_WARMUP_ITERATIONS));
  REQUIRE_EQ(without, 1);
  kmb_result_destroy(r);
  b = params_of(&p, NULL);
  b.flags = KMB_BENCH_NO_WARMUP;
  r = bench(&b);
  REQUIRE_EQ(count_of(r, KMB_VALUE_WARMUP_ITERATIONS), 1);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static kmb_status fill_zero(void *user, void *data, uint64_t bytes,
                            uint32_t slot) {
  (void)slot;
  memset(data, 0, bytes);
  ((char *)data)[bytes - 1] = *(char *)user;
  return KMB_OK;
}

/* Field case F29: the kind of fill is recorded, and zeros are no stand-in for
 * data, whoever wrote them. */
static void f29_fill_is_recorded_and_zeros_are_flagged(void) {
  probe p;
  char last = 0;
  for (int variant = 0; variant < 4; variant++) {
    kmb_buffer_desc d = kmb_buffer_desc_init();
    d.name = "x";
    d.role = KMB_INPUT;
    d.dtype = KMB_F32;
    d.bytes = BYTES;
    d.fill = variant == 0   ? KMB_FILL_ZERO
             : variant == 3 ? KMB_FILL_RANDOM
                            : KMB_FILL_CALLBACK;
    d.fill_fn = fill_zero;
    d.fill_user = &last;
    last = variant == 2; /* a single byte that is not zero */
    kmb_buffers *set = NULL;
    REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
    kmb_bench_params b = params_of(&p, NULL);
    p.idle = true;
    b.buffers = set;
    kmb_result *r = bench(&b);
    const char *names[] = {"x: zero", "x: callback", "x: callback",
                           "x: random"};
    REQUIRE_STR(text(r, KMB_VALUE_FILL), names[variant]);
    REQUIRE_EQ(found(r, KMB_FINDING_ZERO_DATA), variant < 2);
    kmb_result_destroy(r);
    kmb_buffers_destroy(set);
  }
}

static void limits_and_stop_reasons(void) {
  probe p;
  kmb_bench_params b = params_of(&p, NULL);
  b.max_samples = 5;
  kmb_result *r = bench(&b);
  REQUIRE_STR(text(r, KMB_VALUE_STOP_REASON), "MAX_SAMPLES");
  REQUIRE(found(r, KMB_FINDING_FEW_SAMPLES));
  double low = 0;
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_INTERVAL_LOW, &low),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "fewer than 8");
  kmb_result_destroy(r);
  b = params_of(&p, NULL);
  b.min_samples = 1u << 30;
  b.max_samples = 1u << 31;
  b.max_wall_ns = 1e6;
  r = bench(&b);
  REQUIRE_STR(text(r, KMB_VALUE_STOP_REASON), "WALL");
  kmb_result_destroy(r);
}

static kmb_device *open_with(kmb_hooks *hooks, uint64_t llc) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *opened = NULL;
  params.hooks = hooks;
  params.llc_bytes = llc;
  REQUIRE_OK(kmb_device_open("host", &params, &opened));
  return opened;
}

static void cancelling_keeps_what_there_is(void) {
  probe p;
  kmb_bench_params b = params_of(&p, NULL);
  b.batch = 1;
  b.min_wall_ns = b.max_wall_ns = 1e9;
  b.target_pct = 1e-9;
  p.cancel_at = 2000;
  kmb_result *r = bench(&b);
  REQUIRE_STR(text(r, KMB_VALUE_STOP_REASON), "CANCELLED");
  REQUIRE(count_of(r, KMB_VALUE_SAMPLES) > 0);
  kmb_result_destroy(r);
  b = params_of(&p, NULL);
  cancel_flag = 1;
  refused(&b, KMB_ERR_CANCELLED, "no sample was taken");
  REQUIRE_EQ(p.launches, 0);
  cancel_flag = 0;
}

static void bad_parameters_are_refused(void) {
  probe p;
  kmb_bench_params b = params_of(&p, NULL);
  kmb_result *r = NULL;
  REQUIRE_STATUS(kmb_bench(NULL, &b, &r), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_bench(device, &b, NULL), KMB_ERR_INVALID);
  refused(NULL, KMB_ERR_INVALID, "NULL");
  b.launch = NULL;
  refused(&b, KMB_ERR_INVALID, "launch is NULL");
#define BAD(field, value, status, why) \
  b = params_of(&p, NULL);             \
  b.field = value;                     \
  refused(&b, status, why)
  BAD(target_pct, -1, KMB_ERR_INVALID, "target_pct");
  BAD(target_pct, 0.0 / 0.0, KMB_ERR_INVALID, "target_pct");
  BAD(target_pct, 101, KMB_ERR_INVALID, "over 100");
  BAD(max_wall_ns, -1, KMB_ERR_INVALID, "max_wall_ns");
  BAD(idle_ns, 1.0 / 0.0, KMB_ERR_INVALID, "idle_ns");
  BAD(batch, UINT64_MAX, KMB_ERR_INVALID, "out of range");
  BAD(max_samples, UINT64_MAX, KMB_ERR_INVALID, "out of range");
  BAD(rounds, 5000, KMB_ERR_INVALID, "out of range");
  BAD(timer, 9, KMB_ERR_INVALID, "no timer 9");
  BAD(cache, -1, KMB_ERR_INVALID, "no cache state");
  BAD(launch_mode, 7, KMB_ERR_INVALID, "no launch mode");
  BAD(flags, 1u << 31, KMB_ERR_UNSUPPORTED, "flags");
  BAD(reserved, 1, KMB_ERR_UNSUPPORTED, "reserved");
  BAD(axis_count, 1, KMB_ERR_INVALID, "axes");
  BAD(check, check, KMB_ERR_INVALID, "needs buffers");
  BAD(flags, KMB_BENCH_REQUIRE_CHECK, KMB_ERR_UNAVAILABLE, "check is required");
  BAD(cache, KMB_CACHE_ROTATED, KMB_ERR_UNAVAILABLE, "ROTATED needs buffers");
  BAD(struct_size, 16, KMB_ERR_INVALID, "struct_size");
  kmb_work nothing = kmb_work_init();
  BAD(work, &nothing, KMB_ERR_INVALID, "counts neither");
  kmb_ceiling zero = kmb_ceiling_init();
  kmb_work work = kmb_work_init();
  REQUIRE_OK(kmb_work_copy(64, &work));
  b = params_of(&p, NULL);
  b.work = &work;
  b.memory_ceiling = &zero;
  refused(&b, KMB_ERR_INVALID, "ceiling");
  kmb_metadata_params m = kmb_metadata_params_init();
  m.tree = 8;
  BAD(metadata, &m, KMB_ERR_INVALID, "tree state");
#undef BAD
}

/* Another timer than was asked for is loud, and an error where it is
 * required. */
static void a_timer_that_the_backend_lacks(void) {
  probe p;
  kmb_bench_params b = params_of(&p, NULL);
  b.timer = KMB_TIMER_TRACE;
  kmb_result *r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_FALLBACK_TIMER));
  REQUIRE_STR(text(r, KMB_VALUE_TIMER), "HOST");
  kmb_result_destroy(r);
  b.flags = KMB_BENCH_REQUIRE_TIMER;
  refused(&b, KMB_ERR_UNAVAILABLE, "timer TRACE");
  b = params_of(&p, NULL);
  b.launch_mode = KMB_LAUNCH_GRAPH;
  r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_FALLBACK_TIMER));
  kmb_result_destroy(r);
  b.flags = KMB_BENCH_REQUIRE_LAUNCH;
  refused(&b, KMB_ERR_UNAVAILABLE, "launch mode GRAPH");
  b = params_of(&p, NULL);
  b.timer = KMB_TIMER_HOST;
  b.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH;
  r = bench(&b);
  REQUIRE(!found(r, KMB_FINDING_FALLBACK_TIMER));
  kmb_result_destroy(r);
}

static kmb_status nest(void *user, const kmb_launch *l) {
  probe *p = user;
  (void)l;
  kmb_bench_params b = kmb_bench_params_init();
  b.launch = scale;
  b.launch_user = p;
  kmb_result *r = NULL;
  p->nested = kmb_bench(p->device, &b, &r);
  return p->nested;
}

static void a_nested_benchmark_is_busy(void) {
  probe p;
  kmb_bench_params b = params_of(&p, NULL);
  b.launch = nest;
  p.device = device;
  refused(&b, KMB_ERR_BUSY, "in use");
  REQUIRE_EQ(p.nested, KMB_ERR_BUSY);
  b = params_of(&p, NULL);
  kmb_result_destroy(bench(&b));
}

static void a_forked_child_is_told_and_may_open_its_own(void) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    probe p;
    kmb_bench_params b = params_of(&p, NULL);
    kmb_result *r = NULL;
    int bad = kmb_bench(device, &b, &r) != KMB_ERR_FORKED;
    kmb_device *own = NULL;
    bad += kmb_device_open("host", NULL, &own) != KMB_OK;
    bad += kmb_bench(own, &b, &r) != KMB_OK;
    kmb_result_destroy(r);
    kmb_device_close(own);
    kmb_device_close(device);
    _exit(bad);
  }
  int status = -1;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE(WIFEXITED(status));
  REQUIRE_EQ(WEXITSTATUS(status), 0);
}

static void rounds_take_fresh_memory_and_give_an_interval(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  b.max_samples = 30;
  b.rounds = 5;
  kmb_result *r = bench(&b);
  double low = 0, high = 0, time = 0;
  REQUIRE_EQ(count_of(r, KMB_VALUE_ROUNDS), 5);
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_ROUND_LOW, &low));
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_ROUND_HIGH, &high));
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_TIME, &time));
  REQUIRE(low <= time && time <= high);
  REQUIRE_EQ(p.checks, 10);
  kmb_result_destroy(r);
  b.rounds = 4;
  r = bench(&b);
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_ROUND_LOW, &low),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_ROUND_HIGH, &high),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "five give");
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

static void a_roofline_against_the_callers_ceilings(void) {
  probe p;
  kmb_buffers *set = make_buffers(device);
  kmb_bench_params b = params_of(&p, set);
  kmb_work work = kmb_work_init();
  REQUIRE_OK(kmb_work_elementwise(N, 1, 1, 1, KMB_F32, &work));
  kmb_ceiling memory = kmb_ceiling_init(), compute = kmb_ceiling_init();
  memory.value = 1e18; /* nothing comes near: neither bound is reached */
  compute.value = 1e18;
  memory.kind = KMB_CEILING_COPY;
  memory.source = compute.source = KMB_SOURCE_CALLER;
  b.work = &work;
  b.memory_ceiling = &memory;
  b.compute_ceiling = &compute;
  kmb_result *r = bench(&b);
  REQUIRE_STR(text(r, KMB_VALUE_PREDICTED_BOUND), "memory");
  REQUIRE_STR(text(r, KMB_VALUE_OBSERVED_BOUND), "neither");
  REQUIRE_HAS(text(r, KMB_VALUE_READING), "predicted and is not reached");
  REQUIRE_HAS(text(r, KMB_VALUE_MEMORY_CEILING_NAME), "caller's copy");
  REQUIRE(!found(r, KMB_FINDING_ABOVE_PEAK));
  kmb_result_destroy(r);
  memory.value = 1; /* a byte a second: faster than a ceiling allows */
  r = bench(&b);
  REQUIRE(found(r, KMB_FINDING_ABOVE_PEAK));
  double pct = 0;
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_MEMORY_PCT, &pct));
  REQUIRE(pct > 100);
  kmb_result_destroy(r);
  kmb_buffers_destroy(set);
}

int main(void) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.cancel = &cancel_flag;
  device = open_with(&hooks, 65536);
  RUN(a_result_holds_time_interval_and_evidence);
  RUN(rotation_visits_every_slot_past_the_cache);
  RUN(too_few_slots_are_not_cold);
  RUN(warm_of_more_than_the_cache_is_not_warm);
  RUN(cold_sweeps_before_each_single_call);
  RUN(wrong_values_never_get_a_time);
  RUN(untouched_and_partly_written_outputs);
  RUN(writing_outside_a_slot_is_caught);
  RUN(a_failing_callback_at_any_launch);
  RUN(f4_outputs_and_scratch_are_no_part_of_the_footprint);
  RUN(hooks_run_once_a_slot_and_before_each_iteration);
  RUN(state_changed_in_place_is_flagged_and_put_back);
  RUN(f26_no_warmup_still_launches_each_slot_untimed);
  RUN(f29_fill_is_recorded_and_zeros_are_flagged);
  RUN(limits_and_stop_reasons);
  RUN(cancelling_keeps_what_there_is);
  RUN(bad_parameters_are_refused);
  RUN(a_timer_that_the_backend_lacks);
  RUN(a_nested_benchmark_is_busy);
  RUN(a_forked_child_is_told_and_may_open_its_own);
  RUN(rounds_take_fresh_memory_and_give_an_interval);
  RUN(a_roofline_against_the_callers_ceilings);
  kmb_device_close(device);
  return 0;
}
