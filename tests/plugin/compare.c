/* Comparisons on the simulated device: what is said, what is refused. */
#include "compare.h"

#include <stats.h>

/* --- verdicts ----------------------------------------------------------- */

static void a_known_difference_is_found(void) {
  match m;
  match_begin(&m, "noise=gauss:0.02", 3);
  m.ops[0].ns = 20000;
  m.ops[1].ns = 20600;
  m.ops[2].ns = 19400;
  match_run(&m);
  kmb_compare_row a = match_row(&m, 0), b = match_row(&m, 1),
                  c = match_row(&m, 2);
  REQUIRE_EQ(a.verdict, KMB_VERDICT_BASELINE);
  REQUIRE(!(a.flags & KMB_ROW_RATIO));
  REQUIRE_EQ(b.verdict, KMB_VERDICT_SLOWER);
  REQUIRE_NEAR(b.ratio, 1.03, 0.003);
  REQUIRE(b.low < b.ratio && b.ratio < b.high);
  REQUIRE(b.low < 1.03 && 1.03 < b.high);
  REQUIRE_EQ(c.verdict, KMB_VERDICT_FASTER);
  REQUIRE_NEAR(c.ratio, 0.97, 0.003);
  /* Two intervals share the 1%. */
  REQUIRE(b.confidence >= 0.995);
  REQUIRE(b.cycles >= 16);
  match_finish(&m);
}

static void twins_are_the_same(void) {
  match m;
  match_begin(&m, "noise=gauss:0.02,tail=0.02:3", 2);
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  REQUIRE_EQ(b.verdict, KMB_VERDICT_SAME);
  REQUIRE(b.low >= 0.99 && b.high <= 1.01);
  REQUIRE_HAS(b.reason, "within");
  match_finish(&m);
}

static void the_baseline_may_be_any(void) {
  match m;
  match_begin(&m, "", 2);
  m.ops[0].ns = 10000;
  m.ops[1].ns = 20000;
  m.p.baseline = 1;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_BASELINE);
  REQUIRE_EQ(match_row(&m, 0).verdict, KMB_VERDICT_FASTER);
  REQUIRE_NEAR(match_row(&m, 0).ratio, 0.5, 0.002);
  match_finish(&m);
}

static void a_difference_as_large_as_the_threshold_is_unresolved(void) {
  match m;
  match_begin(&m, "noise=gauss:0.05", 2);
  m.ops[0].ns = 20000;
  m.ops[1].ns = 20200;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_UNRESOLVED);
  REQUIRE_HAS(match_row(&m, 1).reason, "crosses the threshold");
  m.p.threshold_pct = 0.3;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SLOWER);
  m.p.threshold_pct = 5;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SAME);
  match_finish(&m);
}

/* 0.5% is beyond 0.499% and within 0.501%. */
static void the_threshold_is_a_percentage(void) {
  match m;
  match_begin(&m, "tick=1", 2);
  m.ops[0].ns = 10000000;
  m.ops[1].ns = 10050000;
  m.p.threshold_pct = 0.499;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SLOWER);
  m.p.threshold_pct = 0.501;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SAME);
  match_finish(&m);
}

/* What the clock's step leaves open is in the interval, however many cycles
 * read alike. */
static void a_coarse_clock_leaves_it_open(void) {
  match m;
  match_begin(&m, "tick=1000,timers=trace,calibrated=0", 2);
  m.ops[0].ns = 20000;
  m.ops[1].ns = 20300;
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  const char *stop = NULL;
  REQUIRE(b.low < 1.015 && 1.015 < b.high);
  REQUIRE_EQ(b.verdict, KMB_VERDICT_UNRESOLVED);
  /* About half a step of either: more cycles would not help. */
  REQUIRE(log(b.high / b.low) / 2 > 0.8 * (500.0 / 20000 + 500.0 / 20300));
  REQUIRE(log(b.high / b.low) / 2 < 1.2 * (500.0 / 20000 + 500.0 / 20300));
  REQUIRE_OK(kmb_result_text(b.result, KMB_VALUE_STOP_REASON, &stop));
  REQUIRE_STR(stop, "RESOLUTION");
  REQUIRE(b.cycles < 200);
  match_finish(&m);
}

/* A short kernel under a bias that is uncertain. */
static void what_the_bias_may_be_is_in_the_interval(void) {
  match m;
  double widths[2];
  for (int i = 0; i < 2; i++) {
    match_begin(&m, i ? "tick=1,bias_unc=500" : "tick=1,bias_unc=1", 2);
    m.ops[0].ns = 2000;
    m.ops[1].ns = 2100;
    for (int k = 0; k < 2; k++) {
      m.benches[k].timer = KMB_TIMER_EVENT;
      m.benches[k].flags = KMB_BENCH_REQUIRE_TIMER;
    }
    match_run(&m);
    kmb_compare_row b = match_row(&m, 1);
    widths[i] = b.high - b.low;
    REQUIRE(b.low < 1.05 && 1.05 < b.high);
    match_finish(&m);
  }
  REQUIRE(widths[1] > 4 * widths[0]);
}

/* --- how it is measured ------------------------------------------------- */

/* A clock that falls by half while they are measured. */
static void a_ramp_does_not_favour_the_first(void) {
  match m;
  match_begin(&m, "drift=0.5:200e6", 2);
  m.ops[0].ns = 20000;
  m.ops[1].ns = 20000;
  m.p.min_wall_ns = 200e6;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SAME);
  REQUIRE_NEAR(match_row(&m, 1).ratio, 1, 0.0005);
  match_finish(&m);
}

/* One kernel is traced on plain launches, two are in a graph: both candidates
 * are then measured as the one with two must be. */
static void candidates_are_measured_in_one_way(void) {
  match m;
  const char *mode[2];
  match_begin(&m, "", 2);
  m.ops[0].ns = 20000;
  m.ops[1].ns = 12000;
  m.ops[1].kernels = 2;
  match_run(&m);
  for (uint64_t i = 0; i < 2; i++)
    REQUIRE_OK(kmb_result_text(match_row(&m, i).result, KMB_VALUE_LAUNCH_MODE,
                               &mode[i]));
  REQUIRE_STR(mode[0], mode[1]);
  REQUIRE_STR(mode[0], "GRAPH");
  REQUIRE_EQ(match_row(&m, 1).verdict, KMB_VERDICT_SLOWER);
  match_finish(&m);
}

static void each_result_is_whole(void) {
  match m;
  uint64_t samples = 0;
  const char *check = NULL;
  match_begin(&m, "noise=gauss:0.02", 2);
  match_run(&m);
  for (uint64_t i = 0; i < 2; i++) {
    kmb_compare_row row = match_row(&m, i);
    REQUIRE_OK(kmb_result_u64(row.result, KMB_VALUE_SAMPLES, &samples));
    REQUIRE_EQ(samples, 16 * match_row(&m, 1).cycles);
    REQUIRE_OK(kmb_result_text(row.result, KMB_VALUE_CHECK, &check));
  }
  match_finish(&m);
}

/* It was not lost: there was no time for it. */
static void a_cycle_that_the_wall_cuts_is_not_counted(void) {
  static match_page p;
  match m;
  match_begin(&m, "", 2);
  m.ops[0].ns = m.ops[1].ns = 150e6;
  match_run(&m);
  REQUIRE_OK(kmb_comparison_write_json(m.c, match_put, &p));
  REQUIRE_HAS(p.data, "\"stop_reason\": \"WALL\"");
  REQUIRE_HAS(p.data, "\"cycles_lost\": 0,");
  REQUIRE_HAS(p.data, "\"rows\": [\n  {\"name\": \"a\", \"verdict\": "
                      "\"baseline\",");
  REQUIRE_HAS(p.data, "  {\"name\": \"b\", \"verdict\": \"unresolved\",");
  match_finish(&m);
}

static void a_comparison_without_a_name_is_called_one(void) {
  static match_page p;
  static const char *const names[] = {NULL, "", "transpose"};
  match m;
  match_begin(&m, "", 2);
  for (int i = 0; i < 3; i++) {
    m.p.name = names[i];
    match_run(&m);
    p.size = 0;
    REQUIRE_OK(kmb_comparison_write_text(m.c, match_put, &p));
    const char *want =
        i < 2 ? "comparison: 2 candidates\n" : "transpose: 2 candidates\n";
    REQUIRE(strncmp(p.data, want, strlen(want)) == 0);
  }
  match_finish(&m);
}

static void limits_hold_up_to_their_ends(void) {
  match m;
  match_begin(&m, "", 3);
  m.p.max_cycles = KMBI_CYCLES_MAX;
  m.p.turn = 128;
  m.p.max_wall_ns = 30e6;
  match_run(&m);
  m.p.min_cycles = KMBI_CYCLES_MAX;
  match_run(&m);
  m.p.max_cycles = KMBI_CYCLES_MAX + 1;
  match_fails(&m, KMB_ERR_INVALID, "max_cycles at most 1000");
  m.p.max_cycles = 0;
  m.p.min_cycles = KMBI_CYCLES_MAX + 1;
  match_fails(&m, KMB_ERR_INVALID, "max_cycles at most 1000");
  m.p.min_cycles = KMBI_INTERVAL_MIN - 1;
  match_fails(&m, KMB_ERR_INVALID, "min_cycles must be 8");
  m.p.min_cycles = KMBI_INTERVAL_MIN;
  m.p.turn = 128 + 1;
  match_fails(&m, KMB_ERR_INVALID, "at most 128 samples");
  m.p.turn = 0;
  m.benches[2].name = "b";
  match_fails(&m, KMB_ERR_INVALID, "candidates 1 and 2 are both named \"b\"");
  m.benches[2].name = "a";
  match_fails(&m, KMB_ERR_INVALID, "candidates 0 and 2 are both named \"a\"");
  match_finish(&m);
}

static void long_kernels_get_short_turns(void) {
  match m;
  uint64_t samples = 0;
  match_begin(&m, "", 2);
  m.ops[0].ns = m.ops[1].ns = 10e6;
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  REQUIRE(b.flags & KMB_ROW_INTERVAL);
  REQUIRE_OK(kmb_result_u64(b.result, KMB_VALUE_SAMPLES, &samples));
  REQUIRE_EQ(samples, 2 * b.cycles);
  m.ops[0].ns = m.ops[1].ns = 150e6;
  match_run(&m);
  b = match_row(&m, 1);
  REQUIRE(b.flags & KMB_ROW_RATIO && !(b.flags & KMB_ROW_INTERVAL));
  REQUIRE_EQ(b.verdict, KMB_VERDICT_UNRESOLVED);
  REQUIRE_HAS(b.reason, "too few cycles");
  m.ops[0].ns = m.ops[1].ns = 900e6;
  match_fails(&m, KMB_ERR_TIMEOUT, "no complete cycle");
  match_finish(&m);
}

static void the_same_seed_says_the_same(void) {
  match m;
  double ratios[2];
  for (int i = 0; i < 2; i++) {
    match_begin(&m, "noise=gauss:0.02", 2);
    m.p.seed = 7;
    match_run(&m);
    ratios[i] = match_row(&m, 1).ratio;
    match_finish(&m);
  }
  REQUIRE(ratios[0] == ratios[1]);
}

static void ratios_are_kept(void) {
  match m;
  const double *ratios = NULL;
  uint64_t count = 0;
  match_begin(&m, "noise=gauss:0.02", 2);
  match_run(&m);
  REQUIRE_OK(kmb_comparison_ratios(m.c, 1, &ratios, &count));
  REQUIRE_EQ(count, match_row(&m, 1).cycles);
  for (uint64_t i = 0; i < count; i++)
    REQUIRE(ratios[i] > 0.9 && ratios[i] < 1.1);
  REQUIRE_OK(kmb_comparison_ratios(m.c, 0, &ratios, &count));
  REQUIRE_EQ(count, 0);
  match_finish(&m);
}

static void a_callback_that_cancels_ends_it(void) {
  match m;
  match_begin(&m, "", 2);
  m.ops[0].cancel = m.ops[1].cancel = &m.h.cancel;
  m.ops[1].cancel_at = 3;
  match_fails(&m, KMB_ERR_CANCELLED, "cancelled");
  m.h.cancel = 0;
  m.ops[1].cancel_at = m.ops[1].runs + 400;
  m.p.min_wall_ns = 1e9;
  match_run(&m);
  const char *stop = NULL;
  REQUIRE(match_row(&m, 1).cycles > 0);
  REQUIRE_OK(
      kmb_result_text(match_row(&m, 1).result, KMB_VALUE_STOP_REASON, &stop));
  REQUIRE_STR(stop, "CANCELLED");
  match_finish(&m);
}

/* The bias that is taken off, or the clock's step, is more than was read. */
static void times_that_are_not_above_0_have_no_ratio(void) {
  static const char *const specs[] = {"bias_error=1,timers=event",
                                      "tick=1000000,timers=trace"};
  for (int i = 0; i < 2; i++) {
    match m;
    const double *ratios = NULL;
    uint64_t count = 1;
    match_begin(&m, specs[i], 2);
    m.ops[0].ns = m.ops[1].ns = 100;
    m.p.max_wall_ns = 20e6;
    match_run(&m);
    kmb_compare_row b = match_row(&m, 1);
    REQUIRE(!(b.flags & (KMB_ROW_RATIO | KMB_ROW_INTERVAL)));
    REQUIRE_EQ(b.verdict, KMB_VERDICT_UNRESOLVED);
    REQUIRE_HAS(b.reason, "not above 0");
    REQUIRE_OK(kmb_comparison_ratios(m.c, 1, &ratios, &count));
    REQUIRE_EQ(count, 0);
    match_finish(&m);
  }
}

/* Faster than its memory: the result is in doubt, and so is the verdict. */
static void a_result_in_doubt_leaves_it_unresolved(void) {
  kmb_work work = kmb_work_init();
  work.read_bytes = 1000000;
  for (int doubted = 0; doubted < 2; doubted++) {
    match m;
    match_begin(&m, "read=70e9", 2);
    m.ops[doubted].ns = 10000; /* 100 GB/s, the other one 50 */
    m.benches[0].work = m.benches[1].work = &work;
    match_run(&m);
    kmb_compare_row b = match_row(&m, 1);
    REQUIRE(b.flags & KMB_ROW_INTERVAL);
    REQUIRE_EQ(b.verdict, KMB_VERDICT_UNRESOLVED);
    REQUIRE_HAS(b.reason, doubted ? "\"b\" is in doubt: ABOVE_PEAK"
                                  : "\"a\" is in doubt: ABOVE_PEAK");
    match_finish(&m);
  }
}

/* One cannot be traced: the other candidate is timed by EVENT, too. */
static void what_one_cannot_do_none_does(void) {
  match m;
  const char *timer = NULL, *why = NULL;
  match_begin(&m, "fail=plan_create@2:-5", 2);
  m.benches[0].launch_mode = m.benches[1].launch_mode = KMB_LAUNCH_GRAPH;
  match_run(&m);
  for (uint64_t i = 0; i < 2; i++) {
    const kmb_result *r = match_row(&m, i).result;
    REQUIRE_OK(kmb_result_text(r, KMB_VALUE_TIMER, &timer));
    REQUIRE_STR(timer, "EVENT");
    REQUIRE_OK(kmb_result_text(r, KMB_VALUE_TIMER_REASON, &why));
    REQUIRE_HAS(why, i ? "TRACE on graph launches: ERR_BUSY"
                       : "measured as \"b\" can be");
  }
  match_finish(&m);
  /* Nor where it must. */
  match_begin(&m, "fail=plan_create@2:-5", 2);
  m.benches[0].timer = m.benches[1].timer = KMB_TIMER_TRACE;
  m.benches[0].flags = KMB_BENCH_REQUIRE_TIMER;
  m.benches[0].launch_mode = KMB_LAUNCH_PLAIN;
  m.benches[0].flags |= KMB_BENCH_REQUIRE_LAUNCH;
  match_fails(&m, KMB_ERR_INVALID, "the launch modes of \"a\" (PLAIN)");
  match_finish(&m);
}

/* Whichever it is: the last of three, or the one in the middle. */
static void all_go_the_way_that_is_left_to_one(void) {
  for (uint64_t limited = 1; limited < 3; limited++) {
    match m;
    const char *timer = NULL, *why = NULL;
    char spec[64], said[64];
    snprintf(spec, sizeof spec, "fail=plan_create@%d:-5", (int)limited + 1);
    snprintf(said, sizeof said, "measured as \"%c\" can be",
             (char)('a' + limited));
    match_begin(&m, spec, 3);
    for (int i = 0; i < 3; i++)
      m.benches[i].launch_mode = KMB_LAUNCH_GRAPH;
    match_run(&m);
    for (uint64_t i = 0; i < 3; i++) {
      const kmb_result *r = match_row(&m, i).result;
      REQUIRE_OK(kmb_result_text(r, KMB_VALUE_TIMER, &timer));
      REQUIRE_STR(timer, "EVENT");
      REQUIRE_OK(kmb_result_text(r, KMB_VALUE_TIMER_REASON, &why));
      REQUIRE_HAS(why, i == limited ? "ERR_BUSY" : said);
    }
    match_finish(&m);
  }
}

/* Different timers have errors of their own. */
static void timers_that_differ_have_two_biases(void) {
  double widths[2];
  for (int common = 0; common < 2; common++) {
    match m;
    match_begin(&m, "tick=1,bias_unc=100", 2);
    m.ops[0].ns = m.ops[1].ns = 5000;
    m.benches[0].cache = m.benches[1].cache = KMB_CACHE_WARM;
    m.benches[0].timer = KMB_TIMER_EVENT;
    m.benches[1].timer = common ? KMB_TIMER_EVENT : KMB_TIMER_GRAPH;
    m.benches[0].flags = m.benches[1].flags = KMB_BENCH_REQUIRE_TIMER;
    m.p.flags = KMB_COMPARE_ANY_TIMER | KMB_COMPARE_ANY_LAUNCH;
    match_run(&m);
    kmb_compare_row b = match_row(&m, 1);
    widths[common] = b.high - b.low;
    match_finish(&m);
  }
  REQUIRE(widths[0] > 3 * widths[1]);
}

static void axes_and_work_are_compared_whole(void) {
  match m;
  const kmb_pair one[] = {{"n", "1"}, {"m", "2"}}, two[] = {{"n", "1"}};
  const kmb_pair three[] = {{"n", "1"}, {"k", "2"}};
  const kmb_pair turned[] = {{"m", "2"}, {"n", "1"}};
  kmb_work a = kmb_work_init(), b = kmb_work_init();
  match_begin(&m, "", 2);
  m.benches[0].axes = one;
  m.benches[0].axis_count = 2;
  m.benches[1].axes = two;
  m.benches[1].axis_count = 1;
  match_fails(&m, KMB_ERR_INVALID,
              "axes of \"a\" (m=2) and of \"b\" (without m) differ; set "
              "KMB_COMPARE_ANY_AXES");
  m.benches[1].axes = three;
  m.benches[1].axis_count = 2;
  match_fails(&m, KMB_ERR_INVALID, "\"a\" (m=2) and of \"b\" (without m)");
  m.benches[0].axis_count = 0;
  match_fails(&m, KMB_ERR_INVALID, "\"a\" (without n) and of \"b\" (n=1)");
  m.benches[0].axis_count = 2;
  m.benches[1].axes = NULL;
  match_fails(&m, KMB_ERR_INVALID, "candidate \"b\": kmb_bench_params: axes");
  /* In any order. */
  m.benches[1].axes = turned;
  match_run(&m);
  m.benches[0].work = &a;
  m.benches[1].work = &b;
  a.read_bytes = b.read_bytes = 1000;
  match_run(&m);
  a.convention = "one way";
  b.convention = "another";
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_WORK");
  b.convention = "one way";
  match_run(&m);
  b.flops = 1;
  match_fails(&m, KMB_ERR_INVALID, "(1 FLOP, 1000 B)");
  b.flops = 0;
  b.write_bytes = 5;
  match_fails(&m, KMB_ERR_INVALID, "(0 FLOP, 1005 B)");
  b.write_bytes = 0;
  b.dtype = KMB_F16;
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_WORK");
  match_finish(&m);
}

/* --- refusals ----------------------------------------------------------- */

static void what_differs_is_refused_by_name(void) {
  match m;
  const kmb_pair small = {"n", "1"}, large = {"n", "2"};
  kmb_work work = kmb_work_init();
  work.read_bytes = 100;
  match_begin(&m, "", 2);
  m.benches[0].axes = &small;
  m.benches[1].axes = &large;
  m.benches[0].axis_count = m.benches[1].axis_count = 1;
  match_fails(&m, KMB_ERR_INVALID, "\"a\" (n=1) and of \"b\" (n=2)");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "KMB_COMPARE_ANY_AXES");
  m.p.flags = KMB_COMPARE_ANY_AXES;
  match_run(&m);
  m.benches[1].work = &work;
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_WORK");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "\"b\" (0 FLOP, 100 B)");
  m.p.flags |= KMB_COMPARE_ANY_WORK;
  match_run(&m);
  m.benches[1].cache = KMB_CACHE_WARM;
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_CACHE");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "WARM");
  m.p.flags |= KMB_COMPARE_ANY_CACHE;
  match_run(&m);
  m.benches[1].timer = KMB_TIMER_EVENT;
  m.benches[1].flags = KMB_BENCH_REQUIRE_TIMER;
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_TIMER");
  m.p.flags |= KMB_COMPARE_ANY_TIMER;
  match_run(&m);
  m.benches[1].launch_mode = KMB_LAUNCH_GRAPH;
  m.benches[1].flags |= KMB_BENCH_REQUIRE_LAUNCH;
  match_fails(&m, KMB_ERR_INVALID, "KMB_COMPARE_ANY_LAUNCH");
  m.p.flags |= KMB_COMPARE_ANY_LAUNCH;
  match_run(&m);
  match_finish(&m);
}

static void calls_that_make_no_sense_are_refused(void) {
  match m;
  kmb_comparison *c = NULL;
  match_begin(&m, "", 2);
  REQUIRE_STATUS(kmb_compare(m.h.device, m.candidates, sizeof m.candidates[0],
                             2, NULL, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(
      kmb_compare(m.h.device, NULL, sizeof m.candidates[0], 2, NULL, &c),
      KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_compare(m.h.device, m.candidates, 3, 2, NULL, &c),
                 KMB_ERR_INVALID);
  m.count = 1;
  match_fails(&m, KMB_ERR_INVALID, "2 to 64");
  m.count = 2;
  m.benches[1].name = "a";
  match_fails(&m, KMB_ERR_INVALID, "both named \"a\"");
  m.benches[1].name = NULL;
  match_fails(&m, KMB_ERR_INVALID, "candidate 1: kmb_candidate: bench->name");
  m.benches[1].name = "b";
  m.benches[1].rounds = 2;
  match_fails(&m, KMB_ERR_UNSUPPORTED,
              "candidate \"b\": kmb_candidate: rounds");
  m.benches[1].rounds = 1;
  kmb_comm *comms[1] = {NULL};
  REQUIRE_OK(kmb_comm_threads_create(1, NULL, comms));
  m.benches[1].comm = comms[0];
  match_fails(&m, KMB_ERR_UNSUPPORTED, "several ranks");
  m.benches[1].comm = NULL;
  kmb_comm_destroy(comms[0]);
  m.candidates[1].bench = NULL;
  match_fails(&m, KMB_ERR_INVALID, "bench is NULL");
  m.candidates[1].bench = &m.benches[1];
  const double odd[] = {-1, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    double *numbers[] = {&m.p.threshold_pct, &m.p.target_pct, &m.p.min_wall_ns,
                         &m.p.max_wall_ns, &m.p.tune_wall_ns};
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
      *numbers[n] = odd[i];
      match_fails(&m, KMB_ERR_INVALID, "it must be a number");
      *numbers[n] = 0;
    }
  }
  m.p.threshold_pct = 100;
  match_fails(&m, KMB_ERR_INVALID, "below 100");
  m.p.threshold_pct = 0;
  m.p.max_cycles = 1001;
  match_fails(&m, KMB_ERR_INVALID, "at most 1000");
  m.p.max_cycles = 0;
  m.p.min_cycles = 7;
  match_fails(&m, KMB_ERR_INVALID, "8 to 1000");
  m.p.min_cycles = 0;
  m.p.turn = 129;
  match_fails(&m, KMB_ERR_INVALID, "at most 128");
  m.p.turn = 0;
  m.p.baseline = 2;
  match_fails(&m, KMB_ERR_INVALID, "baseline 2 of 2");
  m.p.baseline = 0;
  m.p.flags = 1u << 31;
  match_fails(&m, KMB_ERR_UNSUPPORTED, "flags");
  match_finish(&m);
}

/* Which candidate failed, and a callback's own status unchanged. */
static void a_failure_names_its_candidate(void) {
  match m;
  match_begin(&m, "", 2);
  m.ops[1].fail_at = 5;
  m.ops[1].status = 42;
  match_fails(&m, 42, "candidate \"b\": a callback returned 42");
  m.ops[1].fail_at = 0;
  m.ops[1].idle = 1;
  match_fails(&m, KMB_ERR_INCORRECT, "candidate \"b\"");
  match_finish(&m);
}

static void reading_beyond_the_end_is_refused(void) {
  match m;
  kmb_compare_row row = kmb_compare_row_init();
  kmb_compare_arm arm = kmb_compare_arm_init();
  const double *ratios = NULL;
  uint64_t count = 0;
  match_begin(&m, "", 2);
  match_run(&m);
  REQUIRE_EQ(kmb_comparison_count(m.c), 2);
  REQUIRE_EQ(kmb_comparison_count(NULL), 0);
  REQUIRE_STATUS(kmb_comparison_row(m.c, 2, &row), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_row(NULL, 0, &row), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_row(m.c, 0, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_arm(m.c, 0, 0, &arm), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_ratios(m.c, 2, &ratios, &count),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_ratios(m.c, 0, &ratios, NULL), KMB_ERR_INVALID);
  kmb_comparison_destroy(NULL);
  REQUIRE_STR(kmb_verdict_name(KMB_VERDICT_SAME), "same");
  REQUIRE_STR(kmb_verdict_name(99), "unknown");
  match_finish(&m);
}

int main(void) {
  RUN(a_known_difference_is_found);
  RUN(twins_are_the_same);
  RUN(the_baseline_may_be_any);
  RUN(a_difference_as_large_as_the_threshold_is_unresolved);
  RUN(the_threshold_is_a_percentage);
  RUN(a_coarse_clock_leaves_it_open);
  RUN(what_the_bias_may_be_is_in_the_interval);
  RUN(a_ramp_does_not_favour_the_first);
  RUN(candidates_are_measured_in_one_way);
  RUN(each_result_is_whole);
  RUN(long_kernels_get_short_turns);
  RUN(a_cycle_that_the_wall_cuts_is_not_counted);
  RUN(a_comparison_without_a_name_is_called_one);
  RUN(limits_hold_up_to_their_ends);
  RUN(the_same_seed_says_the_same);
  RUN(ratios_are_kept);
  RUN(a_callback_that_cancels_ends_it);
  RUN(times_that_are_not_above_0_have_no_ratio);
  RUN(a_result_in_doubt_leaves_it_unresolved);
  RUN(what_one_cannot_do_none_does);
  RUN(all_go_the_way_that_is_left_to_one);
  RUN(timers_that_differ_have_two_biases);
  RUN(axes_and_work_are_compared_whole);
  RUN(what_differs_is_refused_by_name);
  RUN(calls_that_make_no_sense_are_refused);
  RUN(a_failure_names_its_candidate);
  RUN(reading_beyond_the_end_is_refused);
  return 0;
}
