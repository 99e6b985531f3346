/* Several ranks measure together: what they agree on and what the result
 * says. */
#include "party.h"

#include "comm.h"

#include <stdatomic.h>

static const kmb_rank *row(const guest *g, uint64_t index) {
  static kmb_rank rank;
  rank = kmb_rank_init();
  REQUIRE_OK(kmb_result_rank(g->t.r, index, &rank));
  return &rank;
}

/* That it was raised, so severe and with so many figures. */
static void is_raised(const trial *t, kmb_finding_code code,
                      kmb_severity severity, uint64_t figures) {
  kmb_finding f = kmb_finding_init();
  for (uint64_t i = 0; f.code != code; i++)
    REQUIRE_OK(kmb_result_finding(t->r, i, &f));
  REQUIRE_EQ(f.severity, severity);
  REQUIRE_EQ(f.figure_count, figures);
}

static void a_sample_is_the_longest_of_all_ranks(void) {
  static party p;
  const char *const specs[] = {"kernel=20000", "kernel=30000", "kernel=25000"};
  party_begin(&p, 3, specs, 3);
  party_ok(&p);
  for (int r = 0; r < 3; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE_NEAR(f64(t, KMB_VALUE_TIME), 30000, 40);
    REQUIRE_EQ(u64(t, KMB_VALUE_WORLD_SIZE), 3);
    REQUIRE_EQ(u64(t, KMB_VALUE_RANK), r);
    REQUIRE_EQ(u64(t, KMB_VALUE_NODES), 1);
    REQUIRE_EQ(u64(t, KMB_VALUE_GPUS_PER_NODE), 3);
    REQUIRE_STR(text(t, KMB_VALUE_COMM), "threads of one process");
    REQUIRE_STR(text(t, KMB_VALUE_TIMER), "EVENT");
    REQUIRE_STR(text(t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
    REQUIRE_EQ(kmb_result_rank_count(t->r), 3);
    REQUIRE_NEAR(row(&p.guests[r], 0)->median_ns, 23900, 40);
    REQUIRE_NEAR(row(&p.guests[r], 1)->median_ns, 33900, 40);
    REQUIRE_NEAR(row(&p.guests[r], 2)->median_ns, 28900, 40);
    REQUIRE_EQ(row(&p.guests[r], 1)->slowest, u64(t, KMB_VALUE_SAMPLES));
    REQUIRE_EQ(row(&p.guests[r], 0)->slowest, 0);
    REQUIRE_STR(row(&p.guests[r], 2)->device, "Simulated device");
    REQUIRE_STR(row(&p.guests[r], 2)->id, "SIM-0000000000000003");
  }
  party_end(&p);
}

/* Each rank is the slowest now and then: the median of maxima is not the
 * maximum of medians. */
static void maxima_come_before_the_median(void) {
  static party p;
  const char *const specs[] = {"modes=0.4:1,kernel=20000"};
  party_begin(&p, 4, specs, 1);
  for (int r = 0; r < 4; r++)
    p.guests[r].t.p.max_samples = 400;
  party_ok(&p);
  for (int r = 0; r < 4; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE_NEAR(f64(t, KMB_VALUE_TIME), 40000, 50);
    REQUIRE_NEAR(row(&p.guests[r], (uint64_t)r)->median_ns, 23900, 50);
  }
  party_end(&p);
}

static void every_rank_gets_the_same_figures(void) {
  static party p;
  const char *const specs[] = {"noise=gauss:0.02", "noise=gauss:0.05,now=33"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++)
    p.guests[r].t.p.max_samples = 0;
  party_ok(&p);
  const trial *a = &p.guests[0].t, *b = &p.guests[1].t;
  const kmb_value same[] = {KMB_VALUE_TIME,         KMB_VALUE_RAW_MEDIAN,
                            KMB_VALUE_INTERVAL_LOW, KMB_VALUE_INTERVAL_HIGH,
                            KMB_VALUE_MEAN,         KMB_VALUE_P99,
                            KMB_VALUE_CONFIRM_TIME, KMB_VALUE_MEASURE_WALL,
                            KMB_VALUE_RELEASE_SKEW, KMB_VALUE_RANK_SPREAD_PCT};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    REQUIRE_NEAR(f64(a, same[i]), f64(b, same[i]), 0);
  REQUIRE_EQ(u64(a, KMB_VALUE_SAMPLES), u64(b, KMB_VALUE_SAMPLES));
  REQUIRE_STR(text(a, KMB_VALUE_STOP_REASON), text(b, KMB_VALUE_STOP_REASON));
  party_end(&p);
}

static void f42_different_estimates_give_the_same_counts(void) {
  static party p;
  const char *const specs[] = {"kernel=780", "kernel=794"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++) {
    p.guests[r].t.p.timer = KMB_TIMER_HOST;
    p.guests[r].t.p.launch_mode = KMB_LAUNCH_PLAIN;
    p.guests[r].t.p.cache = KMB_CACHE_WARM;
  }
  party_ok(&p);
  const trial *a = &p.guests[0].t, *b = &p.guests[1].t;
  REQUIRE(u64(a, KMB_VALUE_BATCH) > 1);
  REQUIRE(row(&p.guests[0], 1)->median_ns > 794);
  REQUIRE(row(&p.guests[0], 1)->median_ns < 3 * 794);
  REQUIRE_EQ(u64(a, KMB_VALUE_BATCH), u64(b, KMB_VALUE_BATCH));
  REQUIRE_EQ(u64(a, KMB_VALUE_ITERATIONS), u64(b, KMB_VALUE_ITERATIONS));
  REQUIRE_EQ(u64(a, KMB_VALUE_WARMUP_ITERATIONS),
             u64(b, KMB_VALUE_WARMUP_ITERATIONS));
  REQUIRE_EQ(p.guests[0].t.op.calls, p.guests[1].t.op.calls);
  party_end(&p);
}

static void f44_the_slowest_rank_is_the_headline(void) {
  static party p;
  const char *const specs[] = {"kernel=215000,tick=0", "kernel=217000,tick=0"};
  party_begin(&p, 2, specs, 2);
  party_ok(&p);
  for (int r = 0; r < 2; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE_NEAR(f64(t, KMB_VALUE_TIME), 217000, 0.001);
    /* The event pair's 3900 ns are in the ranks' own medians. */
    REQUIRE_NEAR(f64(t, KMB_VALUE_RANK_SPREAD_PCT), 100 * 2000. / 220900, 1e-6);
    REQUIRE_NEAR(row(&p.guests[r], 1)->median_ns -
                     row(&p.guests[r], 0)->median_ns,
                 2000, 0.001);
  }
  party_end(&p);
}

/* Without a timer's bias, whose event pair would be in it. */
static void spread_of(const char *specs0, const char *specs1, double want,
                      kmb_severity said) {
  static party p;
  const char *const specs[] = {specs0, specs1};
  party_begin(&p, 2, specs, 2);
  party_ok(&p);
  for (int r = 0; r < 2; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE_NEAR(f64(t, KMB_VALUE_RANK_SPREAD_PCT), want, 0.005);
    REQUIRE_EQ(raised(t, KMB_FINDING_RANK_SKEW), want >= 1);
    if (want < 1) continue;
    is_raised(t, KMB_FINDING_RANK_SKEW, said, 4);
    REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "rank_spread_pct"), want,
                 1e-9);
    REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "slowest_rank"), 1, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "slowest_samples"), 60, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "samples"), 60, 0);
    REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW),
                "was the last in 60 of 60 samples");
    char less[32];
    snprintf(less, sizeof less, "(%.2g%% less)", want);
    REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW), less);
  }
  party_end(&p);
}

static void f44_the_spread_of_the_ranks_is_told(void) {
  const char *most = "kernel=200000,tick=0,event=0";
  spread_of("kernel=215000,tick=0,event=0", "kernel=217000,tick=0,event=0",
            0.92, KMB_NOTE);
  spread_of("kernel=198000,tick=0,event=0", most, 1, KMB_NOTE);
  spread_of("kernel=190160,tick=0,event=0", most, 4.92, KMB_NOTE);
  spread_of("kernel=190000,tick=0,event=0", most, 5, KMB_WARNING);
}

/* The first one of equals. */
static void every_sample_has_one_slowest_rank(void) {
  static party p;
  const char *const specs[] = {"tick=0"};
  party_begin(&p, 3, specs, 1);
  party_ok(&p);
  REQUIRE_EQ(row(&p.guests[1], 0)->slowest, 60);
  REQUIRE_EQ(row(&p.guests[1], 1)->slowest + row(&p.guests[1], 2)->slowest, 0);
  party_end(&p);
}

static double meet_all(const sim_kernel *kernel, double ready) {
  const guest *g = kernel->user;
  return party_meet(g->party, ready);
}

static kmb_status collective(void *user, const kmb_launch *launch) {
  sim_kernel kernel = {.user = user, .meet = meet_all};
  return sim_enqueue(launch->stream, &kernel);
}

static void f44_a_late_rank_is_not_billed_to_the_collective(void) {
  static party p;
  /* Rank 1's host needs 212 ms to enqueue what takes 1.8 ms. */
  const char *const specs[] = {"kernel=1800000", "kernel=1800000,launch=212e6"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++) {
    p.guests[r].t.p.launch = collective;
    p.guests[r].t.p.launch_user = &p.guests[r];
    p.guests[r].t.p.max_wall_ns = 1e12;
  }
  party_ok(&p);
  REQUIRE_NEAR(f64(&p.guests[0].t, KMB_VALUE_TIME), 1800000, 40);
  REQUIRE_NEAR(f64(&p.guests[1].t, KMB_VALUE_TIME), 1800000, 40);
  party_end(&p);
}

typedef struct lag {
  guest *g;
  double ns;
} lag;

/* Work of its own before the collective. */
static kmb_status lagging(void *user, const kmb_launch *launch) {
  lag *l = user;
  sim_kernel before = {.ns = l->ns};
  sim_kernel kernel = {.user = l->g, .meet = meet_all};
  kmb_status status = KMB_OK;
  if (l->ns > 0) status = sim_enqueue(launch->stream, &before);
  return status ? status : sim_enqueue(launch->stream, &kernel);
}

static void a_delay_inside_the_operation_shows_in_full(void) {
  const double delays[] = {5000, 50000, 500000};
  for (int i = 0; i < 3; i++) {
    static party p;
    lag lags[2];
    party_begin(&p, 2, NULL, 0);
    for (int r = 0; r < 2; r++) {
      lags[r] = (lag){&p.guests[r], r ? delays[i] : 0};
      p.guests[r].t.p.launch = lagging;
      p.guests[r].t.p.launch_user = &lags[r];
    }
    party_ok(&p);
    REQUIRE_NEAR(f64(&p.guests[0].t, KMB_VALUE_TIME), 20000 + delays[i], 70);
    party_end(&p);
  }
}

static void the_rank_that_takes_longest_is_named(void) {
  static party p;
  const char *const specs[] = {"", "", "kernel=30000", ""};
  party_begin(&p, 4, specs, 4);
  party_ok(&p);
  const trial *t = &p.guests[0].t;
  REQUIRE(raised(t, KMB_FINDING_RANK_SKEW));
  REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW), "rank 2 takes");
  REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "slowest_rank"), 2, 0);
  party_end(&p);
}

static void sixteen_ranks_agree(void) {
  static party p;
  const char *const specs[] = {"noise=gauss:0.01"};
  party_begin(&p, 16, specs, 1);
  party_ok(&p);
  for (int r = 0; r < 16; r++)
    REQUIRE_NEAR(f64(&p.guests[r].t, KMB_VALUE_TIME),
                 f64(&p.guests[0].t, KMB_VALUE_TIME), 0);
  REQUIRE(f64(&p.guests[0].t, KMB_VALUE_AGREEMENT) > 0);
  REQUIRE(f64(&p.guests[0].t, KMB_VALUE_AGREEMENT) < 1e9);
  party_end(&p);
}

static void one_rank_measures_as_one_without_a_communicator(void) {
  static party p;
  party_begin(&p, 1, NULL, 0);
  party_ok(&p);
  trial alone;
  begin(&alone, "seed=1");
  alone.p.max_samples = 60;
  run(&alone);
  const trial *t = &p.guests[0].t;
  REQUIRE_STR(text(t, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_NEAR(f64(t, KMB_VALUE_TIME), f64(&alone, KMB_VALUE_TIME), 0);
  REQUIRE_EQ(u64(t, KMB_VALUE_SAMPLES), u64(&alone, KMB_VALUE_SAMPLES));
  REQUIRE_EQ(u64(t, KMB_VALUE_WORLD_SIZE), 1);
  REQUIRE_EQ(kmb_result_rank_count(t->r), 0);
  REQUIRE(!raised(t, KMB_FINDING_RANK_SKEW));
  finish(&alone);
  party_end(&p);
}

static void buffers_are_checked_and_rotate_on_every_rank(void) {
  static party p;
  const char *const specs[] = {"cold=26000", "cold=27000"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++)
    with_buffers(&p.guests[r].t, MIB);
  party_ok(&p);
  REQUIRE_NEAR(f64(&p.guests[0].t, KMB_VALUE_TIME), 27000, 40);
  REQUIRE_STR(text(&p.guests[1].t, KMB_VALUE_CHECK),
              "passed before and after timing");
  REQUIRE_STR(text(&p.guests[0].t, KMB_VALUE_CACHE_STATE), "COLD");
  REQUIRE(!raised(&p.guests[1].t, KMB_FINDING_NOT_COLD));
  REQUIRE_EQ(p.guests[0].t.checks, 2);
  REQUIRE_EQ(p.guests[1].t.checks, 2);
  party_end(&p);
}

static void slots_are_as_many_as_every_rank_can_have(void) {
  static party p;
  const char *const specs[] = {"", "memory=20000000", ""};
  for (int first = 0; first < 2; first++) {
    party_begin(&p, 2, &specs[first], 2);
    for (int r = 0; r < 2; r++) {
      with_buffers(&p.guests[r].t, MIB);
      p.guests[r].t.p.cache = KMB_CACHE_ROTATED;
    }
    party_ok(&p);
    const trial *a = &p.guests[0].t, *b = &p.guests[1].t;
    uint64_t slots = u64(a, KMB_VALUE_SLOTS);
    REQUIRE(slots > 1 && slots < 17);
    REQUIRE_EQ(u64(b, KMB_VALUE_SLOTS), slots);
    REQUIRE_EQ(u64(a, KMB_VALUE_REUSE_BYTES), u64(b, KMB_VALUE_REUSE_BYTES));
    REQUIRE_STR(text(a, KMB_VALUE_CACHE_STATE), "NOT_COLD");
    REQUIRE_STR(text(b, KMB_VALUE_CACHE_STATE), "NOT_COLD");
    REQUIRE(figure(a, KMB_FINDING_NOT_COLD, "wanted_slots") > (double)slots);
    REQUIRE_NEAR(figure(a, KMB_FINDING_NOT_COLD, "wanted_slots"),
                 figure(b, KMB_FINDING_NOT_COLD, "wanted_slots"), 0);
    party_end(&p);
  }
}

static void what_one_rank_cannot_time_by_no_rank_does(void) {
  static party p;
  const char *const specs[] = {"", "nocapture=1", ""};
  party_begin(&p, 3, specs, 3);
  party_ok(&p);
  for (int r = 0; r < 3; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE_STR(text(t, KMB_VALUE_TIMER), "EVENT");
    REQUIRE_STR(text(t, KMB_VALUE_LAUNCH_MODE), "PLAIN");
    REQUIRE_HAS(text(t, KMB_VALUE_TIMER_REASON), "cannot be captured");
  }
  REQUIRE_HAS(text(&p.guests[0].t, KMB_VALUE_TIMER_REASON), "rank 1");
  party_end(&p);
}

static void an_unknown_bias_of_one_rank_is_everybodys(void) {
  static party p;
  const char *const specs[] = {"", "calibrated=0"};
  party_begin(&p, 2, specs, 2);
  party_ok(&p);
  REQUIRE(raised(&p.guests[0].t, KMB_FINDING_UNCALIBRATED));
  REQUIRE(raised(&p.guests[1].t, KMB_FINDING_UNCALIBRATED));
  party_end(&p);
}

/* In whichever order the ranks have them. */
static void the_bias_is_the_mean_of_the_ranks(void) {
  static party p;
  const char *const specs[3][3] = {
      {"event=3000,bias_unc=20", "event=5000,bias_unc=50", "event=4600"},
      {"event=5000,bias_unc=20", "event=4600", "event=3000,bias_unc=50"},
      {"event=4600,bias_unc=50", "event=3000", "event=5000,bias_unc=20"}};
  for (int i = 0; i < 3; i++) {
    party_begin(&p, 3, specs[i], 3);
    party_ok(&p);
    for (int r = 0; r < 3; r++) {
      REQUIRE_NEAR(f64(&p.guests[r].t, KMB_VALUE_BIAS), 4200, 1e-9);
      REQUIRE_NEAR(f64(&p.guests[r].t, KMB_VALUE_BIAS_UNCERTAINTY), 1050, 1e-9);
    }
    party_end(&p);
  }
}

static void the_coarsest_clock_and_the_largest_cache_count(void) {
  static party p;
  const char *const specs[] = {"tick=64,llc=4194304", "tick=500,llc=9437184",
                               "tick=32,llc=12582912"};
  party_begin(&p, 3, specs, 3);
  for (int r = 0; r < 3; r++)
    with_buffers(&p.guests[r].t, MIB);
  party_ok(&p);
  for (int r = 0; r < 3; r++) {
    REQUIRE_NEAR(f64(&p.guests[r].t, KMB_VALUE_CLOCK_TICK), 500, 0);
    REQUIRE_EQ(u64(&p.guests[r].t, KMB_VALUE_LLC_BYTES), 12582912);
  }
  party_end(&p);
}

/* What all have, what was asked for first. */
static void ways(const char *const specs[2], kmb_timer timer,
                 kmb_launch_mode mode, const char *want, const char *launched) {
  static party p;
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++) {
    p.guests[r].t.p.timer = timer;
    p.guests[r].t.p.launch_mode = mode;
  }
  party_ok(&p);
  for (int r = 0; r < 2; r++) {
    REQUIRE_STR(text(&p.guests[r].t, KMB_VALUE_TIMER), want);
    REQUIRE_STR(text(&p.guests[r].t, KMB_VALUE_LAUNCH_MODE), launched);
  }
  if (strcmp(want, "HOST") == 0) {
    REQUIRE_HAS(text(&p.guests[0].t, KMB_VALUE_BARRIER), "timer is the host's");
    REQUIRE_HAS(message(&p.guests[0].t, KMB_FINDING_RANK_SKEW),
                "their hosts alone are aligned");
    REQUIRE_STATUS(
        kmb_result_f64(p.guests[0].t.r, KMB_VALUE_RELEASE_SKEW, &(double){0}),
        KMB_ERR_UNAVAILABLE);
  }
  party_end(&p);
}

static void a_way_is_one_that_all_ranks_have(void) {
  static party p;
  const char *const all[] = {"", ""}, *const first[] = {"timers=host", ""},
                    *const last[] = {"", "timers=host+event"},
                    *const none[] = {"timers=event", "timers=host"};
  ways(all, KMB_TIMER_AUTO, KMB_LAUNCH_AUTO, "EVENT", "GRAPH");
  ways(all, KMB_TIMER_HOST, KMB_LAUNCH_AUTO, "HOST", "GRAPH");
  ways(all, KMB_TIMER_AUTO, KMB_LAUNCH_PLAIN, "EVENT", "PLAIN");
  ways(all, KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, "HOST", "PLAIN");
  ways(first, KMB_TIMER_AUTO, KMB_LAUNCH_AUTO, "HOST", "GRAPH");
  ways(first, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, "HOST", "GRAPH");
  ways(last, KMB_TIMER_AUTO, KMB_LAUNCH_AUTO, "EVENT", "GRAPH");
  party_begin(&p, 2, none, 2);
  party_fails(&p, KMB_ERR_UNAVAILABLE, "can be had on every rank");
  party_end(&p);
}

static void rounds_are_taken_together(void) {
  static party p;
  const char *const specs[] = {"noise=gauss:0.01", "noise=gauss:0.02"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++) {
    with_buffers(&p.guests[r].t, MIB);
    p.guests[r].t.p.rounds = 5;
  }
  party_ok(&p);
  REQUIRE_NEAR(f64(&p.guests[0].t, KMB_VALUE_ROUND_LOW),
               f64(&p.guests[1].t, KMB_VALUE_ROUND_LOW), 0);
  party_end(&p);
}

/* A rank's operation writes to a flag of its peer, which the peer's reset hook
 * clears on its device: no rank may signal one whose reset is still to come. */
typedef struct flagged {
  guest *g;
  struct flagged *peer;
  atomic_int resets, launches, early;
} flagged;

static double note_clear(const sim_kernel *kernel, double ready) {
  flagged *f = kernel->user;
  atomic_fetch_add(&f->resets, 1);
  return ready;
}

static kmb_status clear_flag(void *user, uint32_t slot, void *stream) {
  sim_kernel kernel = {.user = user, .meet = note_clear, .ns = 5e6};
  (void)slot;
  return sim_enqueue(stream, &kernel);
}

static kmb_status signal_peer(void *user, const kmb_launch *launch) {
  flagged *f = user;
  if (atomic_fetch_add(&f->launches, 1) >= atomic_load(&f->peer->resets))
    atomic_fetch_add(&f->early, 1);
  sim_kernel kernel = {.ns = 0};
  return sim_enqueue(launch->stream, &kernel);
}

static void no_rank_signals_one_that_is_not_reset(void) {
  static party p;
  static flagged f[2];
  const kmb_barrier kinds[] = {KMB_BARRIER_AUTO, KMB_BARRIER_HOST};
  for (int k = 0; k < 2; k++) {
    party_begin(&p, 2, NULL, 0);
    p.params.barrier = kinds[k];
    memset(f, 0, sizeof f);
    for (int r = 0; r < 2; r++) {
      f[r].g = &p.guests[r];
      f[r].peer = &f[1 - r];
      p.guests[r].t.p.launch_mode = KMB_LAUNCH_PLAIN;
      p.guests[r].t.p.launch = signal_peer;
      p.guests[r].t.p.launch_user = &f[r];
      p.guests[r].t.p.reset = clear_flag;
      p.guests[r].t.p.reset_user = &f[r];
    }
    party_ok(&p);
    REQUIRE_EQ(f[0].early + f[1].early, 0);
    REQUIRE(f[0].launches > 60);
    party_end(&p);
  }
}

/* Barriers. */

/* With what the result says of its skew. */
static void is_taken(const trial *t, const char *kind) {
  char want[96];
  snprintf(want, sizeof want, "%s: released within %.2f us (p99 %.2f)", kind,
           f64(t, KMB_VALUE_RELEASE_SKEW) / 1e3,
           f64(t, KMB_VALUE_RELEASE_SKEW_P99) / 1e3);
  REQUIRE_HAS(text(t, KMB_VALUE_BARRIER), want);
}

static void the_barrier_with_the_least_skew_is_taken(void) {
  static party p;
  const char *const specs[] = {"skew=4000,stream_skew=400"};
  party_begin(&p, 2, specs, 1);
  party_ok(&p);
  const trial *t = &p.guests[0].t;
  REQUIRE_HAS(text(t, KMB_VALUE_BARRIER), "STREAM, simulated (FLAG: released");
  REQUIRE(f64(t, KMB_VALUE_RELEASE_SKEW) > 0);
  REQUIRE(f64(t, KMB_VALUE_RELEASE_SKEW) < 400);
  REQUIRE(f64(t, KMB_VALUE_RELEASE_SKEW_P99) <= 400);
  is_taken(t, "STREAM");
  party_end(&p);
  const char *const other[] = {"skew=400,stream_skew=4000"};
  party_begin(&p, 2, other, 1);
  party_ok(&p);
  REQUIRE_HAS(text(&p.guests[1].t, KMB_VALUE_BARRIER), "FLAG, simulated (");
  REQUIRE(f64(&p.guests[1].t, KMB_VALUE_RELEASE_SKEW_P99) <= 400);
  is_taken(&p.guests[1].t, "FLAG");
  party_end(&p);
}

static void ranks_without_peer_access_fall_to_the_next_barrier(void) {
  static party p;
  const char *const specs[] = {"", "nopeer=1"};
  party_begin(&p, 2, specs, 2);
  party_ok(&p);
  const char *said = text(&p.guests[0].t, KMB_VALUE_BARRIER);
  REQUIRE_HAS(said, "STREAM");
  REQUIRE_HAS(said, "no peer access");
  party_part(&p);
  p.params.barrier = KMB_BARRIER_FLAG;
  party_fails(&p, KMB_ERR_UNSUPPORTED, "no peer access");
  party_end(&p);
}

static void a_barrier_is_had_by_name(void) {
  static party p;
  const char *const specs[] = {"skew=4000"};
  party_begin(&p, 2, specs, 1);
  p.params.barrier = KMB_BARRIER_FLAG;
  party_ok(&p);
  REQUIRE_STR(text(&p.guests[0].t, KMB_VALUE_BARRIER), "FLAG, simulated");
  party_part(&p);
  p.params.barrier = KMB_BARRIER_HOST;
  party_ok(&p);
  REQUIRE_STR(text(&p.guests[0].t, KMB_VALUE_BARRIER), "HOST");
  REQUIRE_HAS(message(&p.guests[0].t, KMB_FINDING_RANK_SKEW), "not known");
  party_part(&p);
  p.params.barrier = KMB_BARRIER_NCCL;
  party_fails(&p, KMB_ERR_UNSUPPORTED, "barrier NCCL");
  party_part(&p);
  p.params.barrier = KMB_BARRIER_CALLER;
  party_fails(&p, KMB_ERR_UNSUPPORTED, "device_barrier");
  party_end(&p);
}

/* It is of use by name; its skew is unknown. */
static void a_barrier_that_cannot_be_judged_is_not_chosen(void) {
  static party p;
  const char *const specs[] = {"fail=barrier_time@1+:-2"};
  party_begin(&p, 2, specs, 1);
  p.params.barrier = KMB_BARRIER_FLAG;
  party_ok(&p);
  for (int r = 0; r < 2; r++) {
    const trial *t = &p.guests[r].t;
    double unused = 0;
    REQUIRE_STR(text(t, KMB_VALUE_BARRIER), "FLAG, simulated");
    REQUIRE_STATUS(kmb_result_f64(t->r, KMB_VALUE_RELEASE_SKEW, &unused),
                   KMB_ERR_UNAVAILABLE);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "barrier_time");
    REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW), "barrier_time");
  }
  party_part(&p);
  p.params.barrier = KMB_BARRIER_AUTO;
  party_ok(&p);
  REQUIRE_HAS(text(&p.guests[0].t, KMB_VALUE_BARRIER), "HOST (FLAG: ");
  party_end(&p);
}

static atomic_int callers;

static kmb_status callers_barrier(void *ctx, void *stream) {
  (void)ctx;
  REQUIRE(stream != NULL);
  atomic_fetch_add(&callers, 1);
  return KMB_OK;
}

/* By name, and where the backend's own ones cannot be had; on every rank. */
static void a_barrier_of_the_callers_is_used(void) {
  static party p;
  const char *const specs[] = {"nopeer=1,fail=barrier_open@2:-2"};
  for (int named = 0; named < 2; named++) {
    for (int all = 0; all < 2; all++) {
      party_begin(&p, 2, named ? NULL : specs, !named);
      if (named) p.params.barrier = KMB_BARRIER_CALLER;
      party_join(&p);
      p.guests[0].comm->ops.device_barrier = callers_barrier;
      if (all) p.guests[1].comm->ops.device_barrier = callers_barrier;
      callers = 0;
      if (named && !all) {
        party_fails(&p, KMB_ERR_UNSUPPORTED, "has no device_barrier");
      } else {
        party_ok(&p);
        const trial *t = &p.guests[0].t;
        const char *said = text(t, KMB_VALUE_BARRIER);
        REQUIRE_EQ(strncmp(said, all ? "CALLER" : "HOST", 4), 0);
        if (!named) REQUIRE_HAS(said, "(FLAG: ");
        if (!named) REQUIRE_HAS(said, "; STREAM: ");
        REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW),
                    all ? "is not timed by itself" : "hosts alone");
        /* Twice before each sample, on either rank. */
        REQUIRE(all ? callers >= 240 : !callers);
      }
      party_end(&p);
    }
  }
}

static void a_skew_that_weighs_is_a_finding(void) {
  static party p;
  /* Below, a little above and well above one percent of 100 us. */
  const char *const specs[] = {
      "kernel=100000,tick=0,skew=1400,stream_skew=9000",
      "kernel=100000,tick=0,skew=2200,stream_skew=9000",
      "kernel=100000,tick=0,skew=7000,stream_skew=9000"};
  const double least[] = {0.6, 1.05, 3}, most[] = {0.95, 1.5, 5};
  for (int i = 0; i < 3; i++) {
    party_begin(&p, 2, &specs[i], 1);
    party_ok(&p);
    const trial *t = &p.guests[0].t;
    double skew = f64(t, KMB_VALUE_RELEASE_SKEW);
    REQUIRE(skew / 1000 > least[i] && skew / 1000 < most[i]);
    REQUIRE_EQ(raised(t, KMB_FINDING_RANK_SKEW), i > 0);
    if (i > 0) {
      char part[32];
      snprintf(part, sizeof part, ", %.2g%% of the time", skew / 1000);
      REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW), "the barrier releases");
      REQUIRE_HAS(message(t, KMB_FINDING_RANK_SKEW), part);
      is_raised(t, KMB_FINDING_RANK_SKEW, KMB_WARNING, 3);
      REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "release_skew_ns"), skew,
                   0);
      REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "release_skew_p99_ns"),
                   f64(t, KMB_VALUE_RELEASE_SKEW_P99), 0);
      REQUIRE_NEAR(figure(t, KMB_FINDING_RANK_SKEW, "release_skew_pct"),
                   skew / 1000, 1e-9);
    }
    party_end(&p);
  }
}

/* What is said of the ranks. */

static void what_was_declared_is_recorded(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  p.params.multicast = KMB_MULTICAST_OFF;
  p.params.collective = "NCCL 2.27.3";
  p.params.topology = "NVLink, all to all";
  kmb_work work[2];
  for (int r = 0; r < 2; r++) {
    work[r] = kmb_work_init();
    REQUIRE_OK(kmb_work_gemm(64 << r, 64, 64, KMB_F32, &work[r]));
    p.guests[r].t.p.work = &work[r];
    p.guests[r].t.p.boundary = "staging and reduction";
  }
  party_ok(&p);
  const trial *t = &p.guests[1].t;
  REQUIRE_STR(text(t, KMB_VALUE_MULTICAST), "declared off");
  REQUIRE(raised(t, KMB_FINDING_MULTICAST_OFF));
  REQUIRE_STR(text(t, KMB_VALUE_COLLECTIVE), "NCCL 2.27.3");
  REQUIRE_STR(text(t, KMB_VALUE_TOPOLOGY), "NVLink, all to all");
  REQUIRE_STR(text(t, KMB_VALUE_BOUNDARY), "staging and reduction");
  REQUIRE_EQ(u64(t, KMB_VALUE_FLOPS), work[1].flops);
  REQUIRE_EQ(u64(t, KMB_VALUE_GLOBAL_FLOPS), work[0].flops + work[1].flops);
  REQUIRE_EQ(u64(t, KMB_VALUE_GLOBAL_LEAST_BYTES),
             work[0].read_bytes + work[0].write_bytes + work[1].read_bytes +
                 work[1].write_bytes);
  REQUIRE_EQ(row(&p.guests[1], 0)->flops, work[0].flops);
  party_end(&p);
}

static void work_that_adds_up_to_too_much_is_not_known(void) {
  static party p;
  for (int i = 0; i < 3; i++) {
    kmb_work work = kmb_work_init();
    work.flops = i == 0 ? UINT64_MAX / 2 + 1 : 5;
    work.read_bytes = i == 1 ? UINT64_MAX / 2 + 1 : 7;
    party_begin(&p, 2, NULL, 0);
    p.guests[0].t.p.work = p.guests[1].t.p.work = &work;
    party_ok(&p);
    const trial *t = &p.guests[0].t;
    uint64_t out = 0;
    if (i == 2) {
      REQUIRE_EQ(u64(t, KMB_VALUE_GLOBAL_FLOPS), 10);
      REQUIRE_EQ(u64(t, KMB_VALUE_GLOBAL_LEAST_BYTES), 14);
    } else {
      REQUIRE_STATUS(kmb_result_u64(t->r, KMB_VALUE_GLOBAL_FLOPS, &out),
                     KMB_ERR_UNAVAILABLE);
      REQUIRE_STATUS(kmb_result_u64(t->r, KMB_VALUE_GLOBAL_LEAST_BYTES, &out),
                     KMB_ERR_UNAVAILABLE);
      REQUIRE_HAS(kmb_last_error(NULL, NULL), "exceeds 64 bits");
    }
    party_end(&p);
  }
}

static void what_was_not_declared_is_not_known(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  party_ok(&p);
  const trial *t = &p.guests[0].t;
  const char *out = NULL;
  REQUIRE_STR(text(t, KMB_VALUE_MULTICAST), "not declared");
  REQUIRE(!raised(t, KMB_FINDING_MULTICAST_OFF));
  REQUIRE_STR(text(t, KMB_VALUE_BOUNDARY), "all that the callback enqueues");
  REQUIRE_STATUS(kmb_result_text(t->r, KMB_VALUE_COLLECTIVE, &out),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "was not given");
  party_end(&p);
}

int main(void) {
  RUN(a_sample_is_the_longest_of_all_ranks);
  RUN(maxima_come_before_the_median);
  RUN(every_rank_gets_the_same_figures);
  RUN(f42_different_estimates_give_the_same_counts);
  RUN(f44_the_slowest_rank_is_the_headline);
  RUN(f44_the_spread_of_the_ranks_is_told);
  RUN(every_sample_has_one_slowest_rank);
  RUN(f44_a_late_rank_is_not_billed_to_the_collective);
  RUN(a_delay_inside_the_operation_shows_in_full);
  RUN(the_rank_that_takes_longest_is_named);
  RUN(sixteen_ranks_agree);
  RUN(one_rank_measures_as_one_without_a_communicator);
  RUN(buffers_are_checked_and_rotate_on_every_rank);
  RUN(slots_are_as_many_as_every_rank_can_have);
  RUN(what_one_rank_cannot_time_by_no_rank_does);
  RUN(an_unknown_bias_of_one_rank_is_everybodys);
  RUN(the_bias_is_the_mean_of_the_ranks);
  RUN(the_coarsest_clock_and_the_largest_cache_count);
  RUN(a_way_is_one_that_all_ranks_have);
  RUN(rounds_are_taken_together);
  RUN(no_rank_signals_one_that_is_not_reset);
  RUN(the_barrier_with_the_least_skew_is_taken);
  RUN(ranks_without_peer_access_fall_to_the_next_barrier);
  RUN(a_barrier_is_had_by_name);
  RUN(a_barrier_that_cannot_be_judged_is_not_chosen);
  RUN(a_barrier_of_the_callers_is_used);
  RUN(a_skew_that_weighs_is_a_finding);
  RUN(what_was_declared_is_recorded);
  RUN(work_that_adds_up_to_too_much_is_not_known);
  RUN(what_was_not_declared_is_not_known);
  return 0;
}
