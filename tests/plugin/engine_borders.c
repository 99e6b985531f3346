/* Findings at their borders: met just, and just not, with the figures that
 * they give. */
#include "engine.h"

#define EXACT "tick=0,call=0,sync=0,now=0,trace_cost=0,"

/* --- the loop's cost ------------------------------------------------------ */

/* Four null callbacks take 10 ns each; four kernels as long as they take, and
 * one call before the first. */
static bool costs(const char *spec, double *share) {
  trial t;
  begin(&t, spec);
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  bool came = raised(&t, KMB_FINDING_OVERHEAD);
  if (came) {
    REQUIRE_NEAR(figure(&t, KMB_FINDING_OVERHEAD, "overhead_ns"), 10, 1e-9);
    *share = figure(&t, KMB_FINDING_OVERHEAD, "overhead_pct");
  }
  finish(&t);
  return came;
}

static void overhead_counts_from_one_percent_on(void) {
  double share = 0;
  REQUIRE(!costs("tick=0,launch=0,call=10,sync=0,now=0,kernel=1000", &share));
  REQUIRE(costs("tick=0,launch=0,call=10,sync=0,now=0,kernel=990", &share));
  REQUIRE_NEAR(share, 100 * 10 / 992.5, 1e-9);
}

/* --- the host's share ----------------------------------------------------- */

/* Two kernels of 9.5 us, and `launch` ns from one to the next. */
static bool waits(trial *t, int launch, uint32_t kernels) {
  char spec[96];
  snprintf(spec, sizeof spec, EXACT "kernel=9500,launch=%d", launch);
  begin(t, spec);
  t->op.kernels = kernels;
  t->p.launch_mode = KMB_LAUNCH_PLAIN;
  run(t);
  return raised(t, KMB_FINDING_HOST_BOUND);
}

static void the_host_binds_from_five_percent_on(void) {
  trial t;
  REQUIRE(!waits(&t, 10490, 2));
  finish(&t);
  REQUIRE(waits(&t, 10510, 2));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_HOST_BOUND, "idle_ns"), 1010, 1e-6);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_HOST_BOUND, "idle_pct"), 101e3 / 20010,
               1e-9);
  REQUIRE_HAS(message(&t, KMB_FINDING_HOST_BOUND), "idle for 5% of the time");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_BUSY), 19000, 1e-6);
  finish(&t);
  /* One kernel has nothing to wait between. */
  REQUIRE(!waits(&t, 20000, 1));
  finish(&t);
}

/* --- the shape of the samples --------------------------------------------- */

enum { MANY = 1000 };
static double ns[MANY];

static void from_samples(trial *t, size_t count, double tick) {
  begin(t, "");
  REQUIRE_OK(
      kmb_result_from_samples(t->h.device, &t->p, ns, count, tick, &t->r));
}

/* Evenly spread over `range` around 100: half of it lies between quartiles. */
static void spread_over(double range) {
  for (int i = 0; i < 51; i++)
    ns[i] = 100 + range * ((i * 20 % 51) / 50.0 - 0.5);
}

static void more_than_ten_percent_is_unstable(void) {
  trial t;
  spread_over(19.9);
  from_samples(&t, 51, 0);
  REQUIRE(!raised(&t, KMB_FINDING_UNSTABLE));
  finish(&t);
  spread_over(20.2);
  from_samples(&t, 51, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_UNSTABLE, "spread_pct"), 10.1, 1e-9);
  REQUIRE_HAS(message(&t, KMB_FINDING_UNSTABLE), "over 10% of the median");
  finish(&t);
}

static void two_modes_are_told_with_their_share(void) {
  trial t;
  for (int i = 0; i < 1000; i++)
    ns[i] = i % 4 ? 100 + i % 3 : 200 + i % 3;
  from_samples(&t, 1000, 1);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_BIMODAL, "low_ns"), 101, 0.6);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_BIMODAL, "high_ns"), 201, 0.6);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_BIMODAL, "smaller_share_pct"), 25, 1e-9);
  REQUIRE_HAS(message(&t, KMB_FINDING_BIMODAL),
              "the rarer with 25% of the samples");
  finish(&t);
}

/* A tick as wide as the modes lie apart hides them, and hides a drift. */
static void the_tick_is_of_an_iteration(void) {
  trial t;
  for (int i = 0; i < 1000; i++)
    ns[i] = i < 500 ? 100 : 110;
  from_samples(&t, 1000, 19);
  REQUIRE(raised(&t, KMB_FINDING_DRIFT));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_DRIFT, "drift_pct"), 100 / 10.5, 0.5);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_DRIFT_PCT),
               figure(&t, KMB_FINDING_DRIFT, "drift_pct"), 0);
  finish(&t);
  from_samples(&t, 1000, 21);
  REQUIRE(!raised(&t, KMB_FINDING_DRIFT));
  finish(&t);
}

/* --- precision ------------------------------------------------------------ */

static void a_target_that_is_missed_is_told(void) {
  trial t;
  begin(&t, "noise=gauss:0.3");
  t.p.max_samples = 60;
  t.p.target_pct = 2;
  run(&t);
  double half =
      (f64(&t, KMB_VALUE_INTERVAL_HIGH) - f64(&t, KMB_VALUE_INTERVAL_LOW)) / 2;
  double reached = 100 * half / f64(&t, KMB_VALUE_TIME);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_INTERVAL_PCT), reached, 1e-9);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_CONVERGED, "interval_pct"), reached,
               1e-9);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_CONVERGED, "target_pct"), 2, 0);
  t.p.target_pct = reached * 1.3;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_CONVERGED));
  finish(&t);
}

static void the_clocks_step_is_a_figure(void) {
  trial t;
  begin(&t, "tick=2000,kernel=20300,noise=gauss:0.001");
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_RESOLUTION, "clock_tick_ns"), 2000, 0);
  REQUIRE_STR(message(&t, KMB_FINDING_RESOLUTION),
              "the clock's step of 2.000 µs limits the precision");
  finish(&t);
}

static void a_median_of_zero_is_doubtful(void) {
  trial t;
  for (int i = 0; i < 20; i++)
    ns[i] = i < 11 ? 0 : 32;
  from_samples(&t, 20, 32);
  REQUIRE_HAS(message(&t, KMB_FINDING_RESOLUTION), "the median is 0 ns");
  finish(&t);
  for (int i = 0; i < 20; i++)
    ns[i] = i < 9 ? 0 : 32;
  from_samples(&t, 20, 32);
  REQUIRE(!raised(&t, KMB_FINDING_RESOLUTION));
  finish(&t);
}

static void what_was_dropped_is_counted(void) {
  trial t;
  begin(&t, "drift=0.5:10e6,noise=gauss:0.01");
  t.p.flags = KMB_BENCH_NO_WARMUP;
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_SAMPLES_DROPPED) > 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_DRIFT, "dropped_samples"),
               (double)u64(&t, KMB_VALUE_SAMPLES_DROPPED), 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_DRIFT, "kept_samples"),
               (double)u64(&t, KMB_VALUE_SAMPLES), 0);
  finish(&t);
}

/* --- caches --------------------------------------------------------------- */

static void what_lies_between_two_uses_is_told(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.rotation.slots = 8;
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_COLD, "slots"), 8, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_COLD, "wanted_slots"), 8, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_COLD, "reuse_bytes"), 7 * MIB, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_COLD, "llc_bytes"), 8 * MIB, 0);
  REQUIRE_HAS(message(&t, KMB_FINDING_NOT_COLD), "only 7 MiB lie between");
  finish(&t);
}

static void what_is_touched_is_told(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, 5 * MIB);
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_WARM, "touched_bytes"), 10 * MIB, 0);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_WARM, "llc_bytes"), 8 * MIB, 0);
  REQUIRE_STR(message(&t, KMB_FINDING_NOT_WARM),
              "an iteration touches 10 MiB, more than the last-level cache's "
              "8 MiB: it cannot be warm");
  finish(&t);
}

/* --- others on the machine ------------------------------------------------ */

static bool steals(const char *spec) {
  trial t;
  begin(&t, spec);
  run(&t);
  bool came = raised(&t, KMB_FINDING_NOT_QUIET);
  finish(&t);
  return came;
}

static void a_hundredth_of_the_time_is_not_quiet(void) {
  REQUIRE(!steals("steal=9.7"));
  REQUIRE(steals("steal=10.3"));
}

/* --- the choice ----------------------------------------------------------- */

static void what_is_passed_over_is_named(void) {
  trial t;
  begin(&t, "timers=event+host");
  t.p.timer = KMB_TIMER_TRACE;
  run(&t);
  REQUIRE_STR(message(&t, KMB_FINDING_FALLBACK_TIMER),
              "timed by EVENT on plain launches, not by a better way: backend "
              "sim proposed no way with timer TRACE for cache state COLD");
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON),
              "backend sim proposed no way with timer TRACE for cache state "
              "COLD");
  finish(&t);
  begin(&t, "nocapture=1");
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.timer = KMB_TIMER_TRACE;
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER),
              "timed by TRACE on plain launches, not by a better way: TRACE on "
              "graph launches: ");
  finish(&t);
}

/* GRAPH times whole replays, which COLD has no room in: the timer is there, and
 * so is the launch mode. */
static void what_the_cache_state_rules_out_is_told_of_it(void) {
  static const char why[] = "backend sim proposed no way with timer GRAPH on "
                            "graph launches for cache state COLD";
  trial t;
  begin(&t, "");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.cache = KMB_CACHE_COLD;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "PLAIN");
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), why);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON), why);
  finish(&t);
  /* A fallback that fails as well is told beside it. */
  begin(&t, "busy=trace");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.cache = KMB_CACHE_COLD;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), why);
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON),
              "; TRACE on plain launches: ERR_BUSY");
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), why);
  finish(&t);
  /* It is had where nothing rules it out. */
  begin(&t, "");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_FALLBACK_TIMER));
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON), "asked for");
  finish(&t);
}

static void a_launch_mode_that_is_dropped_is_named(void) {
  trial t;
  begin(&t, "timers=graph+host");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.launch_mode = KMB_LAUNCH_PLAIN;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER),
              "no way with timer GRAPH on plain launches for cache state WARM");
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER_REASON),
              "backend sim proposed no way with timer GRAPH on plain launches "
              "for cache state WARM");
  finish(&t);
}

int main(void) {
  RUN(overhead_counts_from_one_percent_on);
  RUN(the_host_binds_from_five_percent_on);
  RUN(more_than_ten_percent_is_unstable);
  RUN(two_modes_are_told_with_their_share);
  RUN(the_tick_is_of_an_iteration);
  RUN(a_target_that_is_missed_is_told);
  RUN(the_clocks_step_is_a_figure);
  RUN(a_median_of_zero_is_doubtful);
  RUN(what_was_dropped_is_counted);
  RUN(what_lies_between_two_uses_is_told);
  RUN(what_is_touched_is_told);
  RUN(a_hundredth_of_the_time_is_not_quiet);
  RUN(what_is_passed_over_is_named);
  RUN(what_the_cache_state_rules_out_is_told_of_it);
  RUN(a_launch_mode_that_is_dropped_is_named);
  return 0;
}
