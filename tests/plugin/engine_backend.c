/* The engine over backends that offer less than the simulated one, or do what
 * none should: its table is copied, and a function of it replaced. */
#include "engine.h"

#include "device.h"

#include <math.h>

static const kmb_backend_ops *real;
static kmb_backend_ops odd;

/* Goes on with a table of the test's own, to be changed. */
static void replace(trial *t) {
  real = t->h.device->ops;
  odd = *real;
  t->h.device->ops = &odd;
}

/* --- what is proposed --------------------------------------------------- */

static kmb_choice proposed[16];
static uint32_t proposed_count;

static kmb_status propose_these(void *self, const kmb_request *request,
                                kmb_choice *choices, uint32_t capacity,
                                uint32_t *count) {
  (void)self;
  (void)request;
  for (uint32_t i = 0; i < proposed_count && i < capacity; i++)
    choices[i] = proposed[i];
  *count = proposed_count;
  return KMB_OK;
}

static void propose(trial *t, const kmb_choice *choices, uint32_t count) {
  replace(t);
  odd.propose = propose_these;
  proposed_count = count;
  for (uint32_t i = 0; choices && i < count; i++)
    proposed[i] = choices[i];
}

static void a_backend_must_propose_something_that_fits(void) {
  trial t;
  begin(&t, "");
  propose(&t, NULL, 0);
  fails(&t, KMB_ERR_INTERNAL, "proposed 0 choices");
  proposed_count = 9;
  fails(&t, KMB_ERR_INTERNAL, "proposed 9 choices");
  finish(&t);
}

#define TRACE_COLD \
  { KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD, 0 }
#define EVENT_WARM \
  { KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM, 1 }
#define EVENT_COLD \
  { KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD, 1 }

/* A backend may fall back to another cache state; a caller may forbid it. */
static void a_required_cache_state_filters_what_is_proposed(void) {
  const kmb_choice choices[] = {TRACE_COLD, EVENT_WARM};
  trial t;
  begin(&t, "");
  propose(&t, choices, 2);
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "COLD");
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "WARM");
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "EVENT");
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_UNAVAILABLE, "cache state ROTATED are required");
  REQUIRE_HAS(kmb_last_error(NULL, NULL),
              "the best to be had is TRACE, PLAIN, COLD");
  finish(&t);
}

/* "Required" without saying what asks for nothing. */
static void to_require_the_default_asks_for_nothing(void) {
  const kmb_choice choices[] = {EVENT_COLD};
  trial t;
  begin(&t, "");
  propose(&t, choices, 1);
  t.p.flags = KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_REQUIRE_TIMER |
              KMB_BENCH_REQUIRE_LAUNCH;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "EVENT");
  finish(&t);
}

/* Another cache state is another measurement: it confirms nothing. */
static void only_the_same_cache_state_confirms(void) {
  const kmb_choice choices[] = {TRACE_COLD, EVENT_WARM};
  trial t;
  begin(&t, "");
  propose(&t, choices, 2);
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_UNCONFIRMED));
  proposed[1] = (kmb_choice)EVENT_COLD;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_UNCONFIRMED));
  finish(&t);
}

/* --- a table that ends early, or lacks functions ------------------------ */

static void a_table_that_ends_early_has_no_more(void) {
  trial t;
  begin(&t, "");
  replace(&t);
  odd.struct_size = offsetof(kmb_backend_ops, bias);
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_UNCALIBRATED));
  REQUIRE_STR(text(&t, KMB_VALUE_ZERO_REFERENCE), "uncalibrated");
  odd.struct_size = offsetof(kmb_backend_ops, sweep_prepare);
  fails(&t, KMB_ERR_UNSUPPORTED, "no read sweep");
  finish(&t);
}

static void a_table_without_telemetry_reads_none(void) {
  const char *value = NULL;
  trial t;
  begin(&t, "");
  replace(&t);
  odd.telemetry = NULL;
  run(&t);
  REQUIRE_STATUS(kmb_result_metadata_text(t.r, "telemetry.during", &value),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "this backend reads no telemetry");
  REQUIRE(!raised(&t, KMB_FINDING_CLOCK_DRIFT));
  finish(&t);
}

/* --- what it says ------------------------------------------------------- */

#define UNKNOWN (-1.0)  /* with a reason */
#define NOT_TOLD (-2.0) /* of it nothing is said */

typedef struct said {
  kmb_telemetry id;
  double before, after;
} said;

static said says[4];
static int telemetry_calls;

static void speak(void *self, kmb_telemetry_fn emit, void *user) {
  (void)self;
  bool before = telemetry_calls++ == 0;
  for (size_t i = 0; i < 4 && says[i].id; i++) {
    double value = before ? says[i].before : says[i].after;
    if (value == UNKNOWN) emit(user, says[i].id, 0, "not known");
    if (value >= 0 || value != value) emit(user, says[i].id, value, NULL);
  }
}

static const said none = {0, 0, 0};

static void hear(trial *t, said a, said b) {
  says[0] = a;
  says[1] = b;
  telemetry_calls = 0;
  run(t);
}

static void begin_hearing(trial *t) {
  begin(t, "");
  replace(t);
  odd.telemetry = speak;
}

static void telemetry_that_is_no_number_is_unknown(void) {
  const kmb_telemetry clock = KMB_TELEMETRY_CLOCK;
  trial t;
  begin_hearing(&t);
  hear(&t, (said){clock, 1000, 1100}, none);
  REQUIRE(raised(&t, KMB_FINDING_CLOCK_DRIFT));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "before_mhz"), 1000, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "after_mhz"), 1100, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "min_mhz"), 1000, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "max_mhz"), 1100, 0);
  const double odd_values[] = {UNKNOWN, NOT_TOLD, 0, NAN};
  for (size_t i = 0; i < 4; i++) {
    hear(&t, (said){clock, 1000, odd_values[i]}, none);
    REQUIRE(!raised(&t, KMB_FINDING_CLOCK_DRIFT));
    hear(&t, (said){clock, odd_values[i], 1000}, none);
    REQUIRE(!raised(&t, KMB_FINDING_CLOCK_DRIFT));
  }
  /* A little is no drift: 2% are. */
  hear(&t, (said){clock, 1000, 1019}, none);
  REQUIRE(!raised(&t, KMB_FINDING_CLOCK_DRIFT));
  hear(&t, (said){clock, 1000, 980}, none);
  REQUIRE(raised(&t, KMB_FINDING_CLOCK_DRIFT));
  finish(&t);
}

/* Reasons are 32 bits: a larger number is all of them, at either end. */
static void reasons_to_throttle_are_32_bits(void) {
  const kmb_telemetry throttle = KMB_TELEMETRY_THROTTLE;
  trial t;
  begin_hearing(&t);
  hear(&t, (said){throttle, 0, 0}, none);
  REQUIRE(!raised(&t, KMB_FINDING_THROTTLED));
  hear(&t, (said){throttle, 4294967295.0, 0}, none);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_THROTTLED, "throttled_readings"), 1, 0);
  hear(&t, (said){throttle, 1, 4}, none);
  REQUIRE(figure(&t, KMB_FINDING_THROTTLED, "throttled_readings") >= 2);
  hear(&t, (said){throttle, 4294967296.0, 0}, none);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_THROTTLED, "throttled_readings"), 1, 0);
  finish(&t);
}

static void what_is_told_without_a_name_is_passed_over(void) {
  const char *value = NULL;
  trial t;
  begin_hearing(&t);
  hear(&t, (said){9999, 1, 1}, (said){KMB_TELEMETRY_POWER, NAN, 12.5});
  REQUIRE_STATUS(kmb_result_metadata_text(
                     t.r, "telemetry.before.power_w_1s_average", &value),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "gave no number");
  REQUIRE_OK(kmb_result_metadata_text(t.r, "telemetry.after.power_w_1s_average",
                                      &value));
  REQUIRE_STR(value, "12.5");
  finish(&t);
}

static void throttling_before_or_after_is_told(void) {
  const kmb_telemetry id = KMB_TELEMETRY_THROTTLE;
  trial t;
  begin_hearing(&t);
  hear(&t, (said){id, 0, 0}, none);
  REQUIRE(!raised(&t, KMB_FINDING_THROTTLED));
  hear(&t, (said){id, UNKNOWN, UNKNOWN}, none);
  REQUIRE(!raised(&t, KMB_FINDING_THROTTLED));
  hear(&t, (said){id, KMB_THROTTLE_POWER_CAP, 0}, none);
  REQUIRE(raised(&t, KMB_FINDING_THROTTLED));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_THROTTLED, "throttled_readings"), 1, 0);
  hear(&t, (said){id, 0, KMB_THROTTLE_THERMAL}, none);
  REQUIRE_HAS(message(&t, KMB_FINDING_THROTTLED), ": sw_thermal_slowdown");
  hear(&t, (said){id, KMB_THROTTLE_POWER_CAP, KMB_THROTTLE_HW_THERMAL | 64},
       none);
  REQUIRE_HAS(message(&t, KMB_FINDING_THROTTLED),
              ": sw_power_cap+hw_thermal_slowdown+0x40");
  finish(&t);
}

/* The counts of preemption and steal are differences; both ends must be known.
 */
static void a_quiet_machine_needs_both_counts(void) {
  const kmb_telemetry often = KMB_TELEMETRY_PREEMPTIONS;
  const kmb_telemetry steal = KMB_TELEMETRY_STEAL;
  trial t;
  begin_hearing(&t);
  t.p.max_samples = 100;
  t.p.min_samples = 100;
  const said quiet = {steal, 7, 7};
  hear(&t, (said){often, 10, 14}, quiet);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){often, 10, 15}, quiet);
  REQUIRE(raised(&t, KMB_FINDING_NOT_QUIET));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_QUIET, "preempted_samples_pct"), 5,
               1e-9);
  hear(&t, (said){often, 0, 5}, quiet);
  REQUIRE(raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){often, NOT_TOLD, 15}, quiet);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){steal, NOT_TOLD, 8}, none);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){often, 10, UNKNOWN}, quiet);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){often, UNKNOWN, 15}, quiet);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  hear(&t, (said){steal, 7, 8}, none);
  REQUIRE(raised(&t, KMB_FINDING_NOT_QUIET));
  double wall = f64(&t, KMB_VALUE_MEASURE_WALL);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_QUIET, "stolen_time_pct"),
               100 * 1e6 / wall, 1e-6);
  hear(&t, (said){steal, 7, UNKNOWN}, none);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  finish(&t);
}

/* --- while measuring ---------------------------------------------------- */

static const char *meta(const trial *t, const char *key) {
  const char *value = NULL;
  return kmb_result_metadata_text(t->r, key, &value) ? NULL : value;
}

/* A throttled clock that is up again at the end is seen between. */
static void telemetry_is_read_while_measuring(void) {
  trial t;
  begin(&t, "throttle=1.05e9:1.98:5e7");
  t.p.min_wall_ns = 200e6;
  t.p.flags = KMB_BENCH_NO_CONFIRM;
  run(&t);
  REQUIRE_STR(meta(&t, "telemetry.before.clock_mhz"), "1980");
  REQUIRE_STR(meta(&t, "telemetry.after.clock_mhz"), "1980");
  REQUIRE_STR(meta(&t, "telemetry.during.clock_mhz_min"), "1000");
  REQUIRE_STR(meta(&t, "telemetry.during.clock_mhz"), "1980");
  REQUIRE_STR(meta(&t, "telemetry.during.clock_mhz_max"), "1980");
  REQUIRE_STR(meta(&t, "telemetry.during.throttle"), "sw_power_cap");
  REQUIRE_STR(meta(&t, "telemetry.after.throttle"), "none");
  REQUIRE(!meta(&t, "telemetry.during.temperature_c"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "a simulated device has none");
  double readings = strtod(meta(&t, "telemetry.during.readings"), NULL);
  REQUIRE(readings >= 10 && readings <= 20); /* one each 10 ms at most */
  REQUIRE(raised(&t, KMB_FINDING_THROTTLED));
  REQUIRE(figure(&t, KMB_FINDING_THROTTLED, "throttled_readings") >= 2);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_THROTTLED, "readings"), readings + 2, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "min_mhz"), 1000, 0.01);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_CLOCK_DRIFT, "median_during_mhz"), 1980,
               0.01);
  finish(&t);
}

/* A reading of 2 ms comes each 100 ms at most. */
static void readings_take_a_fiftieth_of_the_time_at_most(void) {
  trial t;
  begin(&t, "telemetry_cost=2e6");
  t.p.min_wall_ns = 1e9;
  t.p.flags = KMB_BENCH_NO_CONFIRM;
  run(&t);
  double readings = strtod(meta(&t, "telemetry.during.readings"), NULL);
  REQUIRE(readings >= 5 && readings <= 10);
  finish(&t);
}

/* Never within a sample. */
static void a_reading_is_in_no_sample(void) {
  trial t;
  begin(&t, "telemetry_cost=1e6");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.min_wall_ns = 300e6;
  run(&t);
  REQUIRE(meta(&t, "telemetry.during.readings"));
  REQUIRE(f64(&t, KMB_VALUE_MAX) < 1.1 * f64(&t, KMB_VALUE_MIN));
  finish(&t);
}

static void a_short_measurement_has_no_reading_between(void) {
  trial t;
  begin(&t, "telemetry_cost=2e6");
  t.p.max_samples = 60;
  run(&t);
  REQUIRE(!meta(&t, "telemetry.during.readings"));
  REQUIRE(!meta(&t, "telemetry.during"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "before a reading was due, 100 ms");
  finish(&t);
  begin_on(&t, SIMBARE, "");
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE(!meta(&t, "telemetry.before"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "reads no telemetry");
  REQUIRE(!meta(&t, "telemetry.during"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "reads no telemetry");
  finish(&t);
}

/* --- what it does ------------------------------------------------------- */

static kmb_status run_one_too_many(void *self, void *plan, uint64_t count,
                                   double until_ns, kmb_sample *samples,
                                   uint64_t *got) {
  kmb_status status = real->plan_run(self, plan, count, until_ns, samples, got);
  *got = count + 1;
  return status;
}

static void more_samples_than_asked_end_it(void) {
  trial t;
  begin(&t, "");
  replace(&t);
  odd.plan_run = run_one_too_many;
  fails(&t, KMB_ERR_INTERNAL, "more samples than asked");
  finish(&t);
}

/* --- samples that are of no use ----------------------------------------- */

static kmb_sample useless; /* each second one becomes this */
static uint64_t spoil_at;

static kmb_status run_spoiled(void *self, void *plan, uint64_t count,
                              double until_ns, kmb_sample *samples,
                              uint64_t *got) {
  kmb_status status = real->plan_run(self, plan, count, until_ns, samples, got);
  for (uint64_t i = 0; i < *got; i++) {
    if (spoil_at++ % 2) continue;
    useless.end_ns = samples[i].end_ns;
    samples[i] = useless;
  }
  return status;
}

static void spoil(trial *t, kmb_sample what) {
  replace(t);
  odd.plan_run = run_spoiled;
  useless = what;
  spoil_at = 0;
}

/* Neither in the warm-up, nor while the batch is sought, nor in the result, the
 * confirmation or the proof of coldness. */
static void useless_samples_are_in_no_figure(void) {
  static const uint32_t flags[] = {0, KMB_SAMPLE_SPOILED, KMB_SAMPLE_INVALID};
  uint64_t batch = 0;
  for (size_t i = 0; i < 3; i++) {
    trial t;
    begin(&t, "kernel=2048,cold=4096,llc=65536");
    if (flags[i]) spoil(&t, (kmb_sample){.span_ns = 1, .flags = flags[i]});
    t.p.timer = KMB_TIMER_GRAPH;
    t.p.cache = KMB_CACHE_WARM;
    run(&t);
    if (!i) batch = u64(&t, KMB_VALUE_BATCH);
    REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), batch);
    finish(&t);
    begin(&t, "kernel=2048,cold=4096,llc=65536,tick=1");
    with_buffers(&t, 8192);
    if (flags[i])
      spoil(&t, (kmb_sample){
                    .span_ns = 1, .ops = i == 1 ? 9 : 1, .flags = flags[i]});
    t.p.cache = KMB_CACHE_COLD;
    run(&t);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_MIN), 4096, 32);
    REQUIRE(!raised(&t, KMB_FINDING_TIMERS_DISAGREE));
    REQUIRE(!raised(&t, KMB_FINDING_UNCONFIRMED));
    const char *proof = text(&t, KMB_VALUE_CACHE_PROOF);
    REQUIRE(strncmp(proof, "time: ", 6) == 0);
    REQUIRE_NEAR(strtod(proof + 6, NULL), 2, 0.04);
    REQUIRE_EQ(u64(&t, KMB_VALUE_SAMPLES_INVALID) > 20, i > 0);
    REQUIRE_EQ(raised(&t, KMB_FINDING_INVALID_TIMESTAMPS), i == 2);
    REQUIRE(!raised(&t, KMB_FINDING_RECORDS_MISSING));
    finish(&t);
  }
}

static void a_sample_without_operations_lacks_records(void) {
  trial t;
  begin(&t, "");
  spoil(&t, (kmb_sample){.flags = KMB_SAMPLE_INVALID});
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_RECORDS_MISSING));
  REQUIRE(!raised(&t, KMB_FINDING_INVALID_TIMESTAMPS));
  REQUIRE_EQ(figure(&t, KMB_FINDING_RECORDS_MISSING, "incomplete_samples"),
             (double)u64(&t, KMB_VALUE_SAMPLES_INVALID));
  finish(&t);
}

static kmb_status run_all_spoiled(void *self, void *plan, uint64_t count,
                                  double until_ns, kmb_sample *samples,
                                  uint64_t *got) {
  kmb_status status = real->plan_run(self, plan, count, until_ns, samples, got);
  for (uint64_t i = 0; i < *got; i++)
    samples[i].flags |= KMB_SAMPLE_SPOILED;
  return status;
}

static void nothing_but_spoiled_samples_is_no_result(void) {
  trial t;
  begin(&t, "");
  replace(&t);
  odd.plan_run = run_all_spoiled;
  t.p.timer = KMB_TIMER_EVENT;
  fails(&t, KMB_ERR_VENDOR, "50 were spoiled");
  finish(&t);
}

/* --- what it holds against its samples ---------------------------------- */

static void doubt(void *self, void *plan, kmb_find_fn find, void *user) {
  const kmb_figure figures[] = {{"dropped_records", 3}};
  (void)self;
  REQUIRE(plan);
  find(user, KMB_FINDING_RECORDS_DROPPED, KMB_WARNING, figures, 1, "3 dropped");
  find(user, KMB_FINDING_SHARED_DEVICE, KMB_NOTE, NULL, 0, "shared");
  find(user, KMB_FINDING_SHARED_DEVICE, KMB_NOTE, NULL, 0, "shared a lot");
  find(user, KMB_FINDING_SHARED_DEVICE, KMB_NOTE, NULL, 0, NULL);
}

static void a_backends_doubts_are_raised_once(void) {
  trial t;
  begin(&t, "");
  replace(&t);
  run(&t);
  uint64_t without = kmb_result_finding_count(t.r);
  odd.plan_findings = doubt;
  for (t.p.rounds = 1; t.p.rounds <= 3; t.p.rounds++) {
    run(&t);
    REQUIRE_EQ(kmb_result_finding_count(t.r), without + 3);
    REQUIRE_STR(message(&t, KMB_FINDING_RECORDS_DROPPED), "3 dropped");
    REQUIRE_STR(message(&t, KMB_FINDING_SHARED_DEVICE), "shared");
    REQUIRE_EQ(figure(&t, KMB_FINDING_RECORDS_DROPPED, "dropped_records"), 3);
  }
  odd.struct_size = offsetof(kmb_backend_ops, plan_findings);
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_SHARED_DEVICE));
  finish(&t);
}

/* --- attributes --------------------------------------------------------- */

static void an_attribute_that_is_not_known_is_no_failure(void) {
  trial t;
  begin(&t, "fail=attr_u64@1+:-2,fail=attr_f64@1+:-4");
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_CLOCK_TICK, &t.p.tolerance),
                 KMB_ERR_UNAVAILABLE);
  t.p.cache = KMB_CACHE_COLD;
  fails(&t, KMB_ERR_UNAVAILABLE, "llc_bytes");
  finish(&t);
}

static void any_other_failure_to_read_one_is(void) {
  trial t;
  begin(&t, "fail=attr_u64@1");
  fails(&t, KMB_ERR_VENDOR, "simulated fault in attr_u64");
  run(&t);
  finish(&t);
  begin(&t, "fail=attr_f64@1");
  fails(&t, KMB_ERR_VENDOR, "simulated fault in attr_f64");
  run(&t);
  finish(&t);
}

/* --- a reason that another way may not share ---------------------------- */

static void each_local_reason_leads_to_the_next_way(void) {
  const kmb_status local[] = {KMB_ERR_BUSY, KMB_ERR_UNAVAILABLE,
                              KMB_ERR_UNSUPPORTED, KMB_ERR_PERM,
                              KMB_ERR_CAPTURE};
  const kmb_status fatal[] = {KMB_ERR_VENDOR, KMB_ERR_NOMEM, KMB_ERR_LOST};
  char spec[64];
  for (size_t i = 0; i < 5; i++) {
    trial t;
    snprintf(spec, sizeof spec, "fail=plan_create@1:%d", (int)local[i]);
    begin(&t, spec);
    run(&t);
    REQUIRE(raised(&t, KMB_FINDING_FALLBACK_TIMER));
    REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), kmb_status_name(local[i]));
    finish(&t);
  }
  for (size_t i = 0; i < 3; i++) {
    trial t;
    snprintf(spec, sizeof spec, "fail=plan_create@1:%d", (int)fatal[i]);
    begin(&t, spec);
    fails(&t, fatal[i], "simulated fault in plan_create");
    finish(&t);
  }
}

static void ceilings_that_cannot_be_had_are_unknown(void) {
  const kmb_status absent[] = {KMB_ERR_UNSUPPORTED, KMB_ERR_UNAVAILABLE,
                               KMB_ERR_NOMEM};
  kmb_work work = kmb_work_init();
  char spec[64];
  work.read_bytes = 4096;
  work.dtype = KMB_F32;
  for (size_t i = 0; i < 3; i++) {
    trial t;
    snprintf(spec, sizeof spec, "read=1e12,fail=ceiling@1:%d", (int)absent[i]);
    begin(&t, spec);
    t.p.work = &work;
    run(&t);
    REQUIRE(raised(&t, KMB_FINDING_UNKNOWN_PEAK));
    run(&t);
    REQUIRE(!raised(&t, KMB_FINDING_UNKNOWN_PEAK));
    finish(&t);
  }
}

static const char *ceiling_of(trial *t, uint64_t reads, uint64_t writes,
                              uint64_t flops, kmb_value name) {
  static kmb_work work;
  work = kmb_work_init();
  work.read_bytes = reads;
  work.write_bytes = writes;
  work.flops = flops;
  work.dtype = KMB_F32;
  t->p.work = &work;
  run(t);
  return text(t, name);
}

/* The memory ceiling follows the share of writes; FLOPs alone need none. */
static void work_chooses_its_ceilings(void) {
  const kmb_value memory = KMB_VALUE_MEMORY_CEILING_NAME;
  trial t;
  double number = 0;
  begin(&t, "read=3e12,copy=2e12,triad=1e12,fma=1e13");
  REQUIRE_HAS(ceiling_of(&t, 1200, 0, 0, memory), "read");
  REQUIRE_HAS(ceiling_of(&t, 1001, 199, 0, memory), "read");
  REQUIRE_HAS(ceiling_of(&t, 1000, 200, 0, memory), "triad");
  REQUIRE_HAS(ceiling_of(&t, 701, 499, 0, memory), "triad");
  REQUIRE_HAS(ceiling_of(&t, 700, 500, 0, memory), "copy");
  REQUIRE_HAS(ceiling_of(&t, 0, 1200, 0, memory), "copy");
  REQUIRE_HAS(ceiling_of(&t, 0, 0, 1000, KMB_VALUE_COMPUTE_CEILING_NAME),
              "FMA f32");
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_MEMORY_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  t.p.flags = KMB_BENCH_NO_CEILINGS;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_COMPUTE_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE(!raised(&t, KMB_FINDING_UNKNOWN_PEAK));
  finish(&t);
}

int main(void) {
  RUN(a_backend_must_propose_something_that_fits);
  RUN(a_required_cache_state_filters_what_is_proposed);
  RUN(to_require_the_default_asks_for_nothing);
  RUN(only_the_same_cache_state_confirms);
  RUN(a_table_that_ends_early_has_no_more);
  RUN(a_table_without_telemetry_reads_none);
  RUN(telemetry_that_is_no_number_is_unknown);
  RUN(reasons_to_throttle_are_32_bits);
  RUN(what_is_told_without_a_name_is_passed_over);
  RUN(throttling_before_or_after_is_told);
  RUN(a_quiet_machine_needs_both_counts);
  RUN(telemetry_is_read_while_measuring);
  RUN(readings_take_a_fiftieth_of_the_time_at_most);
  RUN(a_reading_is_in_no_sample);
  RUN(a_short_measurement_has_no_reading_between);
  RUN(more_samples_than_asked_end_it);
  RUN(useless_samples_are_in_no_figure);
  RUN(a_sample_without_operations_lacks_records);
  RUN(nothing_but_spoiled_samples_is_no_result);
  RUN(a_backends_doubts_are_raised_once);
  RUN(an_attribute_that_is_not_known_is_no_failure);
  RUN(any_other_failure_to_read_one_is);
  RUN(each_local_reason_leads_to_the_next_way);
  RUN(ceilings_that_cannot_be_had_are_unknown);
  RUN(work_chooses_its_ceilings);
  return 0;
}
