/* A program of 0.1 that uses all of compare.h: built against the frozen headers
 * of that release and linked to the library of today. Not edited once 0.1 is
 * tagged. */
#include "check.h"

static const char *const values[] = {"few", "many"};
static const kmb_knob knobs[] = {{"rounds", values, 2}};

static volatile double sink;

static kmb_status work(void *user, const kmb_launch *l) {
  int rounds = l->config ? 4000 : 1000;
  (void)user;
  for (int i = 0; i < rounds; i++)
    sink = sink + i;
  return KMB_OK;
}

static kmb_status count(void *user, const void *data, size_t size) {
  (void)data;
  *(size_t *)user += size;
  return KMB_OK;
}

static kmb_comparison *compare(kmb_device *device) {
  kmb_bench_params p[2] = {kmb_bench_params_init(), kmb_bench_params_init()};
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  const kmb_bench_params *at = &p[1];
  kmb_compare_params params = kmb_compare_params_init();
  kmb_comparison *comparison = NULL;
  for (int i = 0; i < 2; i++) {
    p[i].name = i ? "tuned" : "fixed";
    p[i].launch = work;
    p[i].config = 1;
    p[i].flags = KMB_BENCH_NO_CONFIRM;
    p[i].warmup_ns = 1e6;
    c[i].bench = &p[i];
  }
  c[1].knobs = knobs;
  c[1].knob_count = 1;
  c[1].tune_at = &at;
  c[1].tune_at_count = 1;
  params.name = "rounds";
  params.threshold_pct = 5;
  params.target_pct = 50;
  params.min_wall_ns = 1e6;
  params.max_wall_ns = 10e9;
  params.tune_wall_ns = 10e9;
  params.min_cycles = 8;
  params.max_cycles = 20;
  params.turn = 3;
  params.seed = 9;
  params.flags = KMB_COMPARE_SEED | KMB_COMPARE_ANY_TIMER |
                 KMB_COMPARE_ANY_LAUNCH | KMB_COMPARE_ANY_CACHE |
                 KMB_COMPARE_ANY_WORK | KMB_COMPARE_ANY_AXES;
  OK(kmb_compare(device, c, sizeof c[0], 2, &params, &comparison));
  return comparison;
}

static void rows_keep_their_members(const kmb_comparison *comparison) {
  kmb_compare_row a = kmb_compare_row_init(), b = kmb_compare_row_init();
  kmb_compare_arm arm = kmb_compare_arm_init();
  const double *ratios = NULL;
  uint64_t cycles = 0;
  double time = 0;
  HOLDS(kmb_comparison_count(comparison) == 2);
  OK(kmb_comparison_row(comparison, 0, &a));
  OK(kmb_comparison_row(comparison, 1, &b));
  HOLDS(a.verdict == KMB_VERDICT_BASELINE && !(a.flags & KMB_ROW_RATIO));
  HOLDS(strcmp(a.name, "fixed") == 0 && strcmp(b.name, "tuned") == 0);
  HOLDS(b.flags & KMB_ROW_RATIO && b.flags & KMB_ROW_INTERVAL);
  HOLDS(b.flags & KMB_ROW_TUNED && !(b.flags & KMB_ROW_UNTUNED));
  HOLDS(b.ratio > 0 && b.low <= b.ratio && b.ratio <= b.high);
  HOLDS(b.confidence >= 0.99 && b.design_effect >= 1 && b.tuned_ns > 0);
  HOLDS(b.configs == 2 && b.configs_measured == 2 && b.configs_failed == 0);
  HOLDS(b.config < 2 && strstr(b.config_text, "rounds=") && b.reason);
  OK(kmb_result_f64(b.result, KMB_VALUE_TIME, &time));
  OK(kmb_comparison_ratios(comparison, 1, &ratios, &cycles));
  HOLDS(time > 0 && ratios && cycles == b.cycles && cycles >= 8);
  OK(kmb_comparison_arm(comparison, 1, 1, &arm));
  HOLDS(arm.status == KMB_OK && arm.ns > 0 && !arm.reason);
  HOLDS(arm.config < 2 && strstr(arm.config_text, "rounds="));
}

int main(void) {
  kmb_device *device = NULL;
  size_t text = 0, json = 0;
  HOLDS(kmb_knob_value(knobs, 1, 1, 0) == 1);
  HOLDS(strcmp(kmb_verdict_name(KMB_VERDICT_FASTER), "faster") == 0);
  HOLDS(strcmp(kmb_verdict_name(KMB_VERDICT_SLOWER), "slower") == 0);
  HOLDS(strcmp(kmb_verdict_name(KMB_VERDICT_SAME), "same") == 0);
  HOLDS(strcmp(kmb_verdict_name(KMB_VERDICT_UNRESOLVED), "unresolved") == 0);
  OK(kmb_device_open("host", NULL, &device));
  kmb_comparison *comparison = compare(device);
  rows_keep_their_members(comparison);
  OK(kmb_comparison_write_text(comparison, count, &text));
  OK(kmb_comparison_write_json(comparison, count, &json));
  HOLDS(text > 100 && json > text);
  kmb_comparison_destroy(comparison);
  kmb_device_close(device);
  printf("built with %s, ran with %s\n", KMB_VERSION, kmb_version());
  return 0;
}
