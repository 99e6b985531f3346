/* Tuning a candidate's knobs, on the simulated device. */
#include "compare.h"

static const char *const blocks[] = {"64", "128", "256"};
static const char *const stages[] = {"1", "2", "3", "4"};
static const kmb_knob knobs[] = {{"block", blocks, 3}, {"stages", stages, 4}};

/* A launch whose time depends on the configuration. */
typedef struct tunable {
  operation op;
  double ns[12];
  uint32_t refused; /* this one is, with `refusal`; 12: none */
  uint32_t silent;  /* this one launches nothing; 12: none */
  uint64_t launches[12];
  kmb_status refusal;
} tunable;

static kmb_status launch_tunable(void *user, const kmb_launch *l) {
  tunable *t = user;
  if (l->config == t->refused) return t->refusal;
  t->launches[l->config]++;
  if (l->config == t->silent) return KMB_OK;
  t->op.ns = t->ns[l->config];
  return operation_launch(&t->op, l);
}

static void begin_tuning(match *m, tunable *t, const char *spec) {
  memset(t, 0, sizeof *t);
  t->refused = t->silent = 12;
  t->refusal = 99;
  for (int i = 0; i < 12; i++)
    t->ns[i] = 30000 - 500 * i;
  t->ns[6] = 15000; /* block=128, stages=3 */
  match_begin(m, spec, 2);
  m->ops[0].ns = 20000;
  m->benches[1].launch = launch_tunable;
  m->benches[1].launch_user = t;
  m->candidates[1].knobs = knobs;
  m->candidates[1].knob_count = 2;
}

static void knobs_count_like_an_odometer(void) {
  uint64_t seen = 0;
  for (uint32_t config = 0; config < 12; config++) {
    uint64_t b = kmb_knob_value(knobs, 2, config, 0);
    uint64_t s = kmb_knob_value(knobs, 2, config, 1);
    REQUIRE(b < 3 && s < 4);
    REQUIRE_EQ(b * 4 + s, config);
    seen |= UINT64_C(1) << (b * 4 + s);
  }
  REQUIRE_EQ(seen, 0xfff);
  const kmb_knob odd[] = {{"block", blocks, 3}, {"stages", stages, 0}};
  /* The first of them has none; what lies behind them has some. */
  const kmb_knob first[] = {
      {"block", blocks, 0}, {"stages", stages, 4}, {"other", stages, 4}};
  REQUIRE(kmb_knob_value(NULL, 2, 0, 0) == UINT64_MAX);
  REQUIRE(kmb_knob_value(knobs, 2, 0, 2) == UINT64_MAX);
  REQUIRE(kmb_knob_value(odd, 2, 0, 0) == UINT64_MAX);
  REQUIRE(kmb_knob_value(odd, 2, 0, 1) == UINT64_MAX);
  REQUIRE(kmb_knob_value(first, 2, 5, 0) == UINT64_MAX);
  REQUIRE(kmb_knob_value(first, 2, 5, 1) == 1);
}

static void the_fastest_configuration_is_kept(void) {
  match m;
  tunable t;
  begin_tuning(&m, &t, "noise=gauss:0.01");
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  REQUIRE_EQ(b.config, 6);
  REQUIRE_STR(b.config_text, "block=128, stages=3");
  REQUIRE_EQ(b.configs, 12);
  REQUIRE_EQ(b.configs_measured, 12);
  REQUIRE_EQ(b.configs_failed, 0);
  REQUIRE_NEAR(b.tuned_ns, 15000, 300);
  REQUIRE(b.flags & KMB_ROW_TUNED && !(b.flags & KMB_ROW_UNTUNED));
  REQUIRE_EQ(b.verdict, KMB_VERDICT_FASTER);
  REQUIRE_NEAR(b.ratio, 0.75, 0.01);
  uint64_t config = 0;
  const char *text = NULL;
  REQUIRE_OK(kmb_result_u64(b.result, KMB_VALUE_CONFIG, &config));
  REQUIRE_EQ(config, 6);
  REQUIRE_OK(kmb_result_metadata_text(b.result, "config.block", &text));
  REQUIRE_STR(text, "128");
  REQUIRE_OK(kmb_result_metadata_text(b.result, "config.stages", &text));
  REQUIRE_STR(text, "3");
  /* Each configuration once, with its time. */
  uint64_t seen = 0;
  for (uint64_t i = 0; i < 12; i++) {
    kmb_compare_arm arm = kmb_compare_arm_init();
    REQUIRE_OK(kmb_comparison_arm(m.c, 1, i, &arm));
    REQUIRE_EQ(arm.status, KMB_OK);
    REQUIRE(arm.reason == NULL);
    REQUIRE_NEAR(arm.ns, t.ns[arm.config], 0.02 * t.ns[arm.config]);
    seen |= UINT64_C(1) << arm.config;
  }
  REQUIRE_EQ(seen, 0xfff);
  REQUIRE(match_row(&m, 0).config_text == NULL);
  match_finish(&m);
}

static void a_tuned_comparison_reads_so(void) {
  static match_page text;
  match m;
  tunable t;
  begin_tuning(&m, &t, "tick=1");
  m.benches[0].name = "plain";
  match_run(&m);
  REQUIRE_OK(kmb_comparison_write_text(m.c, match_put, &text));
  REQUIRE_STR(
      text.data,
      "comparison: 2 candidates\n"
      "  TRACE on PLAIN launches, cache COLD; 26 cycles of two turns of 8 "
      "samples, stopped by CONVERGED\n\n"
      "  candidate  time      ratio   99% interval      verdict   "
      "configuration\n"
      "  plain      20.00 µs                            baseline\n"
      "  b          15.00 µs  0.7500  [0.7497, 0.7503]  faster    block=128, "
      "stages=3\n\n"
      "  b: faster, the interval lies below the threshold (±1.00%)\n"
      "  b: kept configuration 6 of 12, 15.00 µs while tuning; 12 measured, 0 "
      "failed\n");
  /* Untuned, and a name that is wider than its column's head. */
  m.benches[0].name = "a name that is long";
  m.candidates[1].knobs = NULL;
  m.candidates[1].knob_count = 0;
  m.benches[1].config = 6;
  match_run(&m);
  text.size = 0;
  REQUIRE_OK(kmb_comparison_write_text(m.c, match_put, &text));
  REQUIRE_HAS(text.data,
              "  candidate            time      ratio   99% interval      "
              "verdict\n"
              "  a name that is long  20.00 µs                            "
              "baseline\n"
              "  b                    15.00 µs  0.7500  ");
  match_finish(&m);
}

/* Tried in steps of 7 of 12, from 0. */
static void of_two_that_are_as_fast_the_first_tried_is_kept(void) {
  match m;
  tunable t;
  kmb_compare_arm arm = kmb_compare_arm_init();
  begin_tuning(&m, &t, "");
  t.ns[2] = t.ns[6];
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).config, 2);
  for (uint64_t i = 0; i < 12; i++) {
    REQUIRE_OK(kmb_comparison_arm(m.c, 1, i, &arm));
    REQUIRE_EQ(arm.config, i * 7 % 12);
  }
  match_finish(&m);
}

static void what_fails_is_passed_over_with_its_reason(void) {
  match m;
  tunable t;
  int failed = 0;
  begin_tuning(&m, &t, "");
  t.refused = 6;
  t.silent = 3;
  t.ns[3] = 1;
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  REQUIRE_EQ(b.config, 11);
  REQUIRE_EQ(b.configs_measured, 10);
  REQUIRE_EQ(b.configs_failed, 2);
  for (uint64_t i = 0; i < 12; i++) {
    kmb_compare_arm arm = kmb_compare_arm_init();
    REQUIRE_OK(kmb_comparison_arm(m.c, 1, i, &arm));
    if (!arm.status) continue;
    failed++;
    REQUIRE(arm.ns == 0);
    REQUIRE(arm.config == 6 || arm.config == 3);
    REQUIRE_EQ(arm.status, arm.config == 6 ? 99 : KMB_ERR_INCORRECT);
    REQUIRE(arm.reason && *arm.reason);
  }
  REQUIRE_EQ(failed, 2);
  match_finish(&m);
}

/* What no other configuration can mend. */
static void some_failures_end_the_tuning(void) {
  static const kmb_status final[] = {KMB_ERR_CANCELLED, KMB_ERR_INTERNAL,
                                     KMB_ERR_FORKED, KMB_ERR_LOST};
  for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
    match m;
    tunable t;
    begin_tuning(&m, &t, "");
    t.refused = 7; /* neither the first nor the last to be tried */
    t.refusal = final[i];
    match_fails(&m, final[i], "candidate \"b\": ");
    REQUIRE(t.launches[0] > 0);
    match_finish(&m);
  }
}

/* The clock reads the same before and after. */
static void a_time_of_0_is_no_configuration(void) {
  match m;
  tunable t;
  begin_tuning(&m, &t, "tick=1000000,timers=trace");
  for (int i = 0; i < 12; i++)
    t.ns[i] = 100;
  match_fails(&m, KMB_ERR_UNAVAILABLE, "its time is not above 0");
  match_finish(&m);
}

/* As many knobs as there may be. */
static void sixty_four_knobs_are_taken(void) {
  static kmb_knob many[64];
  match m;
  tunable t;
  begin_tuning(&m, &t, "");
  for (int i = 0; i < 64; i++)
    many[i] = (kmb_knob){i ? "one" : "block", blocks, i ? 1 : 3};
  m.candidates[1].knobs = many;
  m.candidates[1].knob_count = 64;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).configs, 3);
  match_finish(&m);
}

static void none_that_works_is_a_failure(void) {
  match m;
  tunable t;
  begin_tuning(&m, &t, "fail=kernel@1+");
  match_fails(&m, KMB_ERR_VENDOR, "no configuration could be measured");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "block=64, stages=1");
  match_finish(&m);
  /* One that works is enough. */
  begin_tuning(&m, &t, "");
  t.op.fail_at = 1;
  t.op.status = 7;
  match_run(&m);
  REQUIRE_EQ(match_row(&m, 1).configs_failed, 1);
  match_finish(&m);
}

static void a_budget_that_ends_leaves_it_untuned(void) {
  match m;
  tunable t;
  uint64_t blocks_seen = 0;
  begin_tuning(&m, &t, "");
  m.p.tune_wall_ns = 1;
  match_run(&m);
  kmb_compare_row b = match_row(&m, 1);
  REQUIRE_EQ(b.configs_measured, 1);
  REQUIRE(b.flags & KMB_ROW_UNTUNED);
  m.p.tune_wall_ns = 10e6;
  match_run(&m);
  b = match_row(&m, 1);
  REQUIRE(b.configs_measured >= 4 && b.configs_measured < 12);
  REQUIRE(b.flags & KMB_ROW_UNTUNED);
  /* What was tried is spread over the grid. */
  for (uint64_t i = 0; i < 4; i++) {
    kmb_compare_arm arm = kmb_compare_arm_init();
    REQUIRE_OK(kmb_comparison_arm(m.c, 1, i, &arm));
    blocks_seen |= UINT64_C(1) << arm.config / 4;
  }
  REQUIRE_EQ(blocks_seen, 7);
  match_finish(&m);
}

/* Fastest at the points, not at the one that is compared. */
static void it_is_tuned_at_the_points_that_are_given(void) {
  match m;
  tunable t, small, large;
  kmb_bench_params points[2];
  const kmb_bench_params *at[2] = {&points[0], &points[1]};
  begin_tuning(&m, &t, "");
  small = large = t;
  for (int i = 0; i < 12; i++) {
    small.ns[i] = 10000 + 1000 * i;  /* 0 is best */
    large.ns[i] = 90000 - 20000 * i; /* 4 and more are best */
    if (large.ns[i] < 10000) large.ns[i] = 10000;
  }
  points[0] = points[1] = m.benches[1];
  points[0].launch_user = &small;
  points[1].launch_user = &large;
  m.candidates[1].tune_at = at;
  m.candidates[1].tune_at_count = 2;
  match_run(&m);
  /* 10 × 90, 11 × 70, 12 × 50, 13 × 30, 14 × 10, 15 × 10 … */
  REQUIRE_EQ(match_row(&m, 1).config, 4);
  REQUIRE_NEAR(match_row(&m, 1).tuned_ns, sqrt(14000.0 * 10000.0), 150);
  m.candidates[1].tune_at_count = 65;
  match_fails(&m, KMB_ERR_INVALID, "64 points");
  m.candidates[1].tune_at_count = 2;
  at[1] = NULL;
  match_fails(&m, KMB_ERR_INVALID, "point 1 is NULL");
  match_finish(&m);
}

static void knobs_that_make_no_sense_are_refused(void) {
  match m;
  tunable t;
  const char *const none[] = {NULL};
  kmb_knob odd[2] = {{"block", blocks, 3}, {"stages", stages, 4}};
  begin_tuning(&m, &t, "");
  m.candidates[1].knobs = NULL;
  match_fails(&m, KMB_ERR_INVALID, "\"b\": kmb_candidate: knobs is NULL");
  m.candidates[1].knobs = odd;
  odd[1].value_count = 0;
  match_fails(&m, KMB_ERR_INVALID, "knob 1 lacks");
  odd[1] = (kmb_knob){"", stages, 4};
  match_fails(&m, KMB_ERR_INVALID, "knob 1 lacks");
  odd[1] = (kmb_knob){"stages", none, 1};
  match_fails(&m, KMB_ERR_INVALID, "value 0 of knob \"stages\"");
  odd[1] = (kmb_knob){"stages", stages, UINT64_MAX}; /* none of them is read */
  match_fails(&m, KMB_ERR_INVALID, "more than 65536");
  m.candidates[1].knob_count = UINT64_MAX;
  match_fails(&m, KMB_ERR_INVALID, "more than 64 knobs");
  m.candidates[1].knob_count = 2;
  static const char *many[70000];
  for (int i = 0; i < 70000; i++)
    many[i] = "v";
  odd[1] = (kmb_knob){"stages", many, 70000};
  match_fails(&m, KMB_ERR_INVALID, "more than 65536");
  match_finish(&m);
}

int main(void) {
  RUN(knobs_count_like_an_odometer);
  RUN(the_fastest_configuration_is_kept);
  RUN(a_tuned_comparison_reads_so);
  RUN(of_two_that_are_as_fast_the_first_tried_is_kept);
  RUN(what_fails_is_passed_over_with_its_reason);
  RUN(some_failures_end_the_tuning);
  RUN(a_time_of_0_is_no_configuration);
  RUN(sixty_four_knobs_are_taken);
  RUN(none_that_works_is_a_failure);
  RUN(a_budget_that_ends_leaves_it_untuned);
  RUN(it_is_tuned_at_the_points_that_are_given);
  RUN(knobs_that_make_no_sense_are_refused);
  return 0;
}
