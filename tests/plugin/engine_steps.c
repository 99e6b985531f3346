/* The engine's steps over the simulated device: how it chooses, when it stops,
 * what it subtracts, what the hooks see. */
#include "engine.h"

#include <math.h>

/* --- choosing ----------------------------------------------------------- */

static void chosen(const trial *t, const char *timer, const char *mode,
                   const char *cache) {
  REQUIRE_STR(text(t, KMB_VALUE_TIMER), timer);
  REQUIRE_STR(text(t, KMB_VALUE_LAUNCH_MODE), mode);
  REQUIRE_STR(text(t, KMB_VALUE_CACHE_STATE), cache);
}

static void the_default_is_trace_plain_and_cold(void) {
  trial t;
  begin(&t, "cold=26000");
  with_buffers(&t, MIB);
  run(&t);
  chosen(&t, "TRACE", "PLAIN", "COLD");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 26);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON), "the backend's first choice");
  REQUIRE_EQ(u64(&t, KMB_VALUE_SWEEP_BYTES), 16 * MIB);
  REQUIRE_HAS(text(&t, KMB_VALUE_CACHE_PROOF), "1.30 times");
  finish(&t);
}

static void a_busy_tracer_leaves_events_for_cold(void) {
  trial t;
  begin(&t, "busy=trace,cold=26000");
  with_buffers(&t, MIB);
  run(&t);
  chosen(&t, "EVENT", "PLAIN", "COLD");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "ERR_BUSY");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "held by another tool");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 40);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_RAW_MEDIAN), 29900, 40);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_BIAS), 3900, 0);
  finish(&t);
}

static void a_busy_tracer_leaves_graphs_for_rotated(void) {
  trial t;
  begin(&t, "busy=trace,cold=26000");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  chosen(&t, "GRAPH", "GRAPH", "ROTATED");
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 17);
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH) % 17, 0);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 30);
  finish(&t);
}

static void what_cannot_be_captured_is_launched_plainly(void) {
  trial t;
  begin(&t, "nocapture=1,timers=graph+event+host");
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  chosen(&t, "EVENT", "PLAIN", "WARM");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "ERR_CAPTURE");
  finish(&t);
}

static void nothing_left_fails_as_the_last_did(void) {
  trial t;
  begin(&t, "busy=trace+event+graph+host");
  fails(&t, KMB_ERR_BUSY, "held by another tool");
  finish(&t);
}

static void no_timers_at_all_is_unsupported(void) {
  trial t;
  begin(&t, "timers=graph");
  fails(&t, KMB_ERR_UNSUPPORTED, "none of its timers");
  finish(&t);
}

static void a_required_timer_is_had_or_an_error(void) {
  trial t;
  begin(&t, "busy=trace");
  t.p.timer = KMB_TIMER_TRACE;
  t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  fails(&t, KMB_ERR_BUSY, "held by another tool");
  t.p.flags = 0;
  run(&t);
  chosen(&t, "EVENT", "PLAIN", "COLD");
  REQUIRE(raised(&t, KMB_FINDING_FALLBACK_TIMER));
  finish(&t);
  begin(&t, "timers=event+host");
  t.p.timer = KMB_TIMER_TRACE;
  t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  fails(&t, KMB_ERR_UNAVAILABLE, "required");
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON), "asked for");
  finish(&t);
}

static void a_required_launch_mode_is_had_or_an_error(void) {
  trial t;
  begin(&t, "nocapture=1");
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  run(&t);
  chosen(&t, "TRACE", "PLAIN", "COLD");
  REQUIRE(raised(&t, KMB_FINDING_FALLBACK_TIMER));
  t.p.flags = KMB_BENCH_REQUIRE_LAUNCH;
  fails(&t, KMB_ERR_CAPTURE, "cannot be captured");
  finish(&t);
  begin(&t, "");
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.flags = KMB_BENCH_REQUIRE_LAUNCH;
  run(&t);
  chosen(&t, "TRACE", "GRAPH", "COLD");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 40);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_BIAS), 200, 0);
  finish(&t);
}

static void a_required_cache_state_is_had_or_an_error(void) {
  trial t;
  begin(&t, "memory=20000000");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "NOT_COLD");
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  fails(&t, KMB_ERR_UNAVAILABLE, "needs 17 slots");
  finish(&t);
}

static void cold_needs_a_size_and_a_sweep(void) {
  trial t;
  begin(&t, "llc_known=0");
  fails(&t, KMB_ERR_UNAVAILABLE, "llc_bytes");
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  finish(&t);
  begin_on(&t, SIMBARE, "");
  fails(&t, KMB_ERR_UNSUPPORTED, "no read sweep");
  t.p.cache = KMB_CACHE_WARM;
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_UNCALIBRATED));
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_BIAS, &t.p.tolerance),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 23900, 40);
  finish(&t);
}

static kmb_status count_setup(void *user, uint32_t slot, uint32_t config) {
  uint64_t *setups = user;
  REQUIRE_EQ(config, 5);
  REQUIRE(slot < 32);
  setups[slot]++;
  return KMB_OK;
}

/* A fallback repeats preparing, but a slot is set up once. */
static void setup_comes_once_a_slot(void) {
  trial t;
  uint64_t setups[32] = {0};
  begin(&t, "busy=trace");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.setup = count_setup;
  t.p.setup_user = setups;
  t.p.config = 5;
  run(&t);
  for (int s = 0; s < 32; s++)
    REQUIRE_EQ(setups[s], s < 17);
  finish(&t);
}

/* --- stopping ----------------------------------------------------------- */

static void it_converges(void) {
  trial t;
  begin(&t, "noise=gauss:0.05");
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "CONVERGED");
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_PCT) <= 0.5);
  REQUIRE(f64(&t, KMB_VALUE_MEASURE_WALL) >= 25e6);
  REQUIRE(u64(&t, KMB_VALUE_SAMPLES) >= 50);
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_LOW) <= 20000);
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_HIGH) >= 20000);
  finish(&t);
}

static void the_tick_stops_it(void) {
  trial t;
  begin(&t, "tick=2000,kernel=20300,noise=gauss:0.001");
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "RESOLUTION");
  /* The half-width does not collapse to zero. */
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_HIGH) - f64(&t, KMB_VALUE_INTERVAL_LOW) >
          500);
  finish(&t);
}

/* The ceiling counts sweeps and never cuts a running sample. */
static void the_wall_stops_it(void) {
  trial t;
  begin(&t, "noise=gauss:0.3");
  t.p.max_wall_ns = 40e6;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "WALL");
  REQUIRE(f64(&t, KMB_VALUE_MEASURE_WALL) >= 40e6);
  REQUIRE(f64(&t, KMB_VALUE_MEASURE_WALL) <= 40.1e6);
  finish(&t);
}

static void a_sample_longer_than_the_wall_counts(void) {
  trial t;
  begin(&t, "kernel=5e9");
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "WALL");
  REQUIRE_EQ(u64(&t, KMB_VALUE_SAMPLES), 1);
  REQUIRE(raised(&t, KMB_FINDING_FEW_SAMPLES));
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_STDEV, &t.p.tolerance),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

static void the_number_of_samples_stops_it(void) {
  trial t;
  const double *ns = NULL;
  uint64_t count = 0;
  begin(&t, "noise=gauss:0.3");
  t.p.max_samples = 333;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "MAX_SAMPLES");
  REQUIRE_OK(kmb_result_samples(t.r, &ns, &count));
  REQUIRE_EQ(count + u64(&t, KMB_VALUE_SAMPLES_DROPPED), 333);
  for (uint64_t i = 0; i < count; i++)
    REQUIRE(fmod(ns[i], 32) == 0);
  finish(&t);
}

/* Whenever the flag is raised: an error before samples are taken, a result
 * with what there is afterwards. */
static void cancelling_keeps_what_there_is(void) {
  int results = 0;
  int errors = 0;
  for (uint64_t at = 1; at < 4000; at = at * 3 / 2 + 1) {
    trial t;
    begin(&t, "noise=gauss:0.3");
    t.p.max_samples = 3000;
    t.op.cancel = &t.h.cancel;
    t.op.cancel_at = at;
    kmb_status status = attempt(&t);
    if (!status) {
      results++;
      if (strcmp(text(&t, KMB_VALUE_STOP_REASON), "CANCELLED") == 0)
        REQUIRE(u64(&t, KMB_VALUE_SAMPLES) > 0);
    } else {
      errors++;
      REQUIRE_STATUS(status, KMB_ERR_CANCELLED);
    }
    t.h.cancel = 0;
    run(&t);
    finish(&t);
  }
  REQUIRE(results > 2 && errors > 2);
}

static void a_raised_flag_stops_it_at_once(void) {
  trial t;
  begin(&t, "");
  t.h.cancel = 1;
  fails(&t, KMB_ERR_CANCELLED, "no sample");
  REQUIRE_EQ(t.op.calls, 0);
  finish(&t);
}

static void a_drifting_start_is_dropped(void) {
  trial t;
  begin(&t, "drift=0.5:10e6,noise=gauss:0.01");
  t.p.flags = KMB_BENCH_NO_WARMUP;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 100);
  finish(&t);
}

static void idle_between_runs_takes_time_and_the_clock(void) {
  trial t;
  begin(&t, "idle=1e6:1.25:1e5");
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 40);
  t.p.idle_ns = 2e6;
  t.p.max_samples = 3000;
  t.p.target_pct = 0.001;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MAX), 25000, 40);
  finish(&t);
}

/* --- rounds ------------------------------------------------------------- */

static void five_rounds_have_an_interval_between_them(void) {
  trial t;
  begin(&t, "noise=gauss:0.02");
  with_buffers(&t, MIB);
  t.p.rounds = 5;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_ROUNDS), 5);
  REQUIRE(f64(&t, KMB_VALUE_ROUND_LOW) <= f64(&t, KMB_VALUE_TIME));
  REQUIRE(f64(&t, KMB_VALUE_ROUND_HIGH) >= f64(&t, KMB_VALUE_TIME));
  /* Before and after timing, in each round. */
  REQUIRE_EQ(t.checks, 10);
  finish(&t);
}

static void four_rounds_have_none(void) {
  trial t;
  begin(&t, "");
  t.p.rounds = 4;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_ROUNDS), 4);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_ROUND_LOW, &t.p.tolerance),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

/* --- calibrating and correcting ----------------------------------------- */

static void each_timer_comes_to_the_same_time(void) {
  const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_GRAPH,
                              KMB_TIMER_EVENT};
  for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++) {
    trial t;
    begin(&t, "noise=gauss:0.02");
    t.p.timer = timers[i];
    t.p.cache = KMB_CACHE_WARM;
    t.p.flags = KMB_BENCH_REQUIRE_TIMER;
    run(&t);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 150);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_RAW_MEDIAN),
                 f64(&t, KMB_VALUE_TIME) + f64(&t, KMB_VALUE_BIAS), 1e-6);
    REQUIRE(!raised(&t, KMB_FINDING_TIMERS_DISAGREE));
    finish(&t);
  }
}

static void a_batch_is_long_against_tick_and_clock(void) {
  trial t;
  begin(&t, "kernel=300,launch=200,call=10,tick=100");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_BATCH) * 300 >= 100000);
  /* Kernels follow each other; the wait is spread over the batch. */
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 300, 10);
  REQUIRE(f64(&t, KMB_VALUE_OVERHEAD) > 0);
  finish(&t);
}

/* The clock's step is shared by the iterations of a sample: the interval is no
 * wider for it than a step of one, and the rule can still converge. */
static void a_tick_is_shared_by_a_batch(void) {
  trial t;
  begin(&t, "kernel=20000,tick=3200");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 64;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "CONVERGED");
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_HIGH) - f64(&t, KMB_VALUE_INTERVAL_LOW) <
          2 * 3200 / 64.0);
  finish(&t);
}

static void a_replay_has_a_longest(void) {
  trial t;
  begin(&t, "kernel=1");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 4096);
  finish(&t);
}

static void a_callers_batch_is_kept_or_refused(void) {
  trial t;
  begin(&t, "");
  t.p.cache = KMB_CACHE_WARM;
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.batch = 7;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 7);
  t.p.timer = KMB_TIMER_TRACE;
  fails(&t, KMB_ERR_INVALID, "one iteration");
  finish(&t);
}

/* What only a fallback cannot use is dropped, and it is said. */
static void a_callers_batch_does_not_stand_against_a_fallback(void) {
  static const kmb_timer asked[] = {KMB_TIMER_GRAPH, KMB_TIMER_HOST};
  for (int i = 0; i < 2; i++) {
    trial t;
    begin(&t, "busy=graph+host");
    t.p.cache = KMB_CACHE_WARM;
    t.p.timer = asked[i];
    t.p.batch = 7;
    run(&t);
    REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "TRACE");
    REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 1);
    REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER),
                "the batch of 7 is dropped");
    t.p.batch = 0;
    run(&t);
    REQUIRE(!strstr(message(&t, KMB_FINDING_FALLBACK_TIMER), "batch"));
    t.p.batch = 7;
    t.p.flags = KMB_BENCH_REQUIRE_TIMER;
    fails(&t, KMB_ERR_BUSY, "");
    finish(&t);
    /* A fallback that can use it does. */
    begin(&t, i ? "busy=host+trace+event" : "busy=graph+trace+event");
    t.p.cache = KMB_CACHE_WARM;
    t.p.timer = asked[i];
    t.p.batch = 7;
    run(&t);
    REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 7);
    REQUIRE(!strstr(message(&t, KMB_FINDING_FALLBACK_TIMER), "dropped"));
    finish(&t);
  }
}

static void an_automatic_timer_refuses_a_batch_that_it_cannot_use(void) {
  trial t;
  begin(&t, "");
  t.p.batch = 7;
  fails(&t, KMB_ERR_INVALID, "one iteration");
  finish(&t);
  begin(&t, "busy=trace,timers=trace+event");
  t.p.batch = 7;
  fails(&t, KMB_ERR_INVALID, "one iteration");
  finish(&t);
  /* Its best way would use the batch, the next one cannot. */
  begin(&t, "timers=graph+event,busy=graph");
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 7;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), "7 is dropped");
  finish(&t);
  /* What was asked for is not there at all. */
  begin(&t, "timers=event");
  t.p.cache = KMB_CACHE_WARM;
  t.p.timer = KMB_TIMER_HOST;
  t.p.batch = 7;
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), "7 is dropped");
  finish(&t);
}

static void a_bias_above_the_reading_leaves_no_time(void) {
  trial t;
  double ns = 0;
  begin(&t, "kernel=100,bias_error=0.5");
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_TIME, &ns), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "bias");
  finish(&t);
}

static void compiling_stays_outside(void) {
  trial t;
  begin(&t, "compile=5e9");
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MAX), 20000, 40);
  finish(&t);
}

/* --- warm buffers ------------------------------------------------------- */

static void warm_inputs_are_warm_in_a_cold_run(void) {
  trial t;
  begin(&t, "cold=30000");
  with_buffers(&t, MIB);
  t.descs[0].residency = KMB_RESIDENT_WARM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 40);
  finish(&t);
}

static kmb_status reset_counts(void *user, uint32_t slot, void *stream) {
  operation *o = user;
  sim_kernel kernel = {.ns = 1e6};
  o->runs++;
  (void)slot;
  return sim_enqueue(stream, &kernel);
}

static void reset_comes_before_each_and_in_no_sample(void) {
  trial t;
  operation resets = {0};
  begin(&t, "");
  t.p.reset = reset_counts;
  t.p.reset_user = &resets;
  t.p.flags = KMB_BENCH_NO_CONFIRM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 40);
  REQUIRE_EQ(resets.runs, t.op.calls);
  finish(&t);
}

static void with_reset_every_slot_is_visited(void) {
  trial t;
  operation resets = {0};
  begin(&t, "cold=26000,timers=graph+event");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.reset = reset_counts;
  t.p.reset_user = &resets;
  run(&t);
  chosen(&t, "EVENT", "PLAIN", "ROTATED");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "reset hook");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 40);
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  chosen(&t, "GRAPH", "GRAPH", "WARM");
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 1);
  finish(&t);
}

/* A first launch of each slot is not timed, in a graph either. */
static void warming_up_visits_every_slot(void) {
  trial t;
  begin(&t, "cold=26000");
  with_buffers(&t, MIB);
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_NO_WARMUP | KMB_BENCH_REQUIRE_TIMER;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_WARMUP_ITERATIONS), 17);
  finish(&t);
}

static void the_next_second_timer_confirms(void) {
  trial t;
  begin(&t, "busy=trace");
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_CONFIRM_METHOD), "HOST");
  REQUIRE(!raised(&t, KMB_FINDING_UNCONFIRMED));
  finish(&t);
}

static void success_leaves_the_last_error_alone(void) {
  trial t;
  begin(&t, "busy=trace,timers=trace+event");
  t.p.batch = 2;
  fails(&t, KMB_ERR_INVALID, "one iteration");
  t.p.batch = 0;
  run(&t);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "one iteration");
  finish(&t);
}

/* --- several operations ------------------------------------------------- */

static void several_operations_are_measured_as_a_graph(void) {
  trial t;
  begin(&t, "kernel=1000,launch=8000");
  t.op.kernels = 3;
  run(&t);
  chosen(&t, "TRACE", "GRAPH", "COLD");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 3000, 32);
  REQUIRE(!raised(&t, KMB_FINDING_FALLBACK_TIMER));
  finish(&t);
  begin(&t, "kernel=1000,launch=8000,nocapture=1");
  t.op.kernels = 3;
  run(&t);
  chosen(&t, "TRACE", "PLAIN", "COLD");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "ERR_CAPTURE");
  REQUIRE(raised(&t, KMB_FINDING_HOST_BOUND));
  finish(&t);
}

static void records_of_several_operations_are_summed(void) {
  trial t;
  begin(&t, "node=0");
  t.op.kernels = 3;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_DEVICE_OPS), 3);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_SUM), 60000, 100);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_BUSY), 60000, 100);
  finish(&t);
}

static void a_callers_stream_is_used(void) {
  trial t;
  sim_stream mine = sim_stream_init();
  begin(&t, "");
  t.p.stream = &mine;
  run(&t);
  REQUIRE(mine.enqueue != NULL && mine.device == NULL);
  finish(&t);
}

int main(void) {
  RUN(the_default_is_trace_plain_and_cold);
  RUN(a_busy_tracer_leaves_events_for_cold);
  RUN(a_busy_tracer_leaves_graphs_for_rotated);
  RUN(what_cannot_be_captured_is_launched_plainly);
  RUN(nothing_left_fails_as_the_last_did);
  RUN(no_timers_at_all_is_unsupported);
  RUN(a_required_timer_is_had_or_an_error);
  RUN(a_required_launch_mode_is_had_or_an_error);
  RUN(a_required_cache_state_is_had_or_an_error);
  RUN(cold_needs_a_size_and_a_sweep);
  RUN(setup_comes_once_a_slot);
  RUN(it_converges);
  RUN(the_tick_stops_it);
  RUN(the_wall_stops_it);
  RUN(a_sample_longer_than_the_wall_counts);
  RUN(the_number_of_samples_stops_it);
  RUN(cancelling_keeps_what_there_is);
  RUN(a_raised_flag_stops_it_at_once);
  RUN(a_drifting_start_is_dropped);
  RUN(idle_between_runs_takes_time_and_the_clock);
  RUN(five_rounds_have_an_interval_between_them);
  RUN(four_rounds_have_none);
  RUN(each_timer_comes_to_the_same_time);
  RUN(a_batch_is_long_against_tick_and_clock);
  RUN(a_tick_is_shared_by_a_batch);
  RUN(a_replay_has_a_longest);
  RUN(a_callers_batch_is_kept_or_refused);
  RUN(a_callers_batch_does_not_stand_against_a_fallback);
  RUN(an_automatic_timer_refuses_a_batch_that_it_cannot_use);
  RUN(a_bias_above_the_reading_leaves_no_time);
  RUN(compiling_stays_outside);
  RUN(warm_inputs_are_warm_in_a_cold_run);
  RUN(reset_comes_before_each_and_in_no_sample);
  RUN(with_reset_every_slot_is_visited);
  RUN(warming_up_visits_every_slot);
  RUN(the_next_second_timer_confirms);
  RUN(success_leaves_the_last_error_alone);
  RUN(several_operations_are_measured_as_a_graph);
  RUN(records_of_several_operations_are_summed);
  RUN(a_callers_stream_is_used);
  return 0;
}
