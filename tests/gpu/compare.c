/* kmb_compare() on one GPU: pairs of kernels that do the same work and pairs of
 * which one does 3% more, and twins while the clock rises after idleness, or
 * whose work grows with time, in turns and one after the other. JSON to the
 * file that is named, a table to stdout. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "report.h"

enum { PAIRS = 50, RAMPS = 5, IDLE_US = 1000000 };
#define DRIFT_A_SECOND 0.05

/* How twins are disturbed. */
typedef enum ramp { NONE, IDLENESS, DRIFT } ramp;

/* Work that grows with time, as if the clock fell. */
typedef struct drift {
  spin_work w;
  double cycles, since;
} drift;

static kmb_status drift_launch(void *user, const kmb_launch *l) {
  drift *d = user;
  double seconds = (gpu_now() - d->since) / 1e9;
  d->w.cycles = (uint64_t)(d->cycles * (1 + DRIFT_A_SECOND * seconds));
  return spin_launch(&d->w, l);
}

static kmb_bench_params params_of(drift *d, ramp how) {
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = how == DRIFT ? drift_launch : spin_launch;
  p.launch_user = how == DRIFT ? (void *)d : &d->w;
  p.flags = KMB_BENCH_NO_CONFIRM;
  if (how == IDLENESS) p.flags |= KMB_BENCH_NO_WARMUP;
  if (how == DRIFT) p.max_wall_ns = 500e6;
  return p;
}

static drift spin_of(gpu *g, double more) {
  double cycles = 20e3 * g->ghz * more;
  return (drift){.w = {.g = g,
                       .kernel = gpu_kernel(g, "test_spin"),
                       .cycles = (uint64_t)cycles},
                 .cycles = cycles,
                 .since = gpu_now()};
}

/* A spin of `more` times the cycles of the other one. */
static kmb_comparison *compare(gpu *g, double more, ramp how) {
  static const char *const names[] = {"a", "b"};
  drift d[2] = {spin_of(g, 1), spin_of(g, more)};
  kmb_bench_params p[2];
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  kmb_comparison *comparison = NULL;
  d[1].since = d[0].since;
  for (int i = 0; i < 2; i++) {
    p[i] = params_of(&d[i], how);
    p[i].name = names[i];
    c[i].bench = &p[i];
  }
  if (kmb_compare(g->device, c, sizeof c[0], 2, NULL, &comparison))
    fprintf(stderr, "compare: %s\n", kmb_last_error(NULL, NULL));
  return comparison;
}

typedef struct tally {
  int verdicts[5], failed;
  double ratios[PAIRS], half_pct[PAIRS], wall_ms[PAIRS];
  int got;
} tally;

static tally take_pairs(gpu *g, double more) {
  tally t = {.failed = 0};
  for (int i = 0; i < PAIRS; i++) {
    double start = gpu_now();
    kmb_comparison *comparison = compare(g, more, NONE);
    kmb_compare_row row = kmb_compare_row_init();
    if (!comparison || kmb_comparison_row(comparison, 1, &row)) {
      t.failed++;
      continue;
    }
    t.verdicts[row.verdict]++;
    t.ratios[t.got] = row.ratio;
    t.half_pct[t.got] = 50 * (row.high - row.low);
    t.wall_ms[t.got++] = (gpu_now() - start) / 1e6;
    kmb_comparison_destroy(comparison);
  }
  return t;
}

static void print_pairs(FILE *json, const char *key, tally *t, bool good) {
  double ratio = median(t->ratios, (size_t)t->got);
  double half = median(t->half_pct, (size_t)t->got);
  double wall = median(t->wall_ms, (size_t)t->got);
  printf("%s: faster %d, slower %d, same %d, unresolved %d, failed %d%s; ratio "
         "%.4f +-%.3f%%, %.0f ms\n",
         key, t->verdicts[KMB_VERDICT_FASTER], t->verdicts[KMB_VERDICT_SLOWER],
         t->verdicts[KMB_VERDICT_SAME], t->verdicts[KMB_VERDICT_UNRESOLVED],
         t->failed, good ? "" : "*", ratio, half, wall);
  fprintf(json,
          "\"%s\": {\"pairs\": %d, \"faster\": %d, \"slower\": %d, \"same\": "
          "%d, \"unresolved\": %d, \"failed\": %d, \"median_ratio\": %.6f, "
          "\"median_half_width_pct\": %.4f, \"median_wall_ms\": %.2f},\n",
          key, PAIRS, t->verdicts[KMB_VERDICT_FASTER],
          t->verdicts[KMB_VERDICT_SLOWER], t->verdicts[KMB_VERDICT_SAME],
          t->verdicts[KMB_VERDICT_UNRESOLVED], t->failed, ratio, half, wall);
}

/* The clock rises when work comes after idleness. */
static double turns_error(gpu *g, ramp how) {
  kmb_compare_row row = kmb_compare_row_init();
  if (how == IDLENESS) usleep(IDLE_US);
  kmb_comparison *comparison = compare(g, 1, how);
  if (!comparison || kmb_comparison_row(comparison, 1, &row)) return NAN;
  kmb_comparison_destroy(comparison);
  return fabs(row.ratio - 1);
}

static double apart_error(gpu *g, ramp how) {
  drift d = spin_of(g, 1);
  double times[2] = {0};
  if (how == IDLENESS) usleep(IDLE_US);
  for (int i = 0; i < 2; i++) {
    kmb_bench_params p = params_of(&d, how);
    kmb_result *r = bench(g, &p, "apart");
    if (r) times[i] = result_f64(r, KMB_VALUE_TIME, 0);
    kmb_result_destroy(r);
  }
  return times[0] > 0 ? fabs(times[1] / times[0] - 1) : NAN;
}

static void time_ramps(gpu *g, FILE *json, ramp how, const char *key) {
  double turns = 0, apart = 0;
  for (int i = 0; i < RAMPS; i++) {
    turns += turns_error(g, how) / RAMPS;
    apart += apart_error(g, how) / RAMPS;
  }
  printf("twins, %s, mean error: in turns %.3f%%, one after the other "
         "%.3f%%%s\n",
         key, 100 * turns, 100 * apart, turns <= apart / 4 ? "" : "*");
  fprintf(json,
          "%s\"%s\": {\"rounds\": %d, \"turns_error_pct\": %.4f, "
          "\"apart_error_pct\": %.4f}",
          how == DRIFT ? ",\n" : "", key, RAMPS, 100 * turns, 100 * apart);
}

int main(int argc, char **argv) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  tally twins = take_pairs(&g, 1), more = take_pairs(&g, 1.03);
  int wrong =
      twins.verdicts[KMB_VERDICT_FASTER] + twins.verdicts[KMB_VERDICT_SLOWER];
  print_pairs(json, "identical", &twins, wrong * 100 <= PAIRS);
  print_pairs(json, "three_pct_more", &more,
              more.verdicts[KMB_VERDICT_SLOWER] * 100 >= 95 * PAIRS);
  time_ramps(&g, json, IDLENESS, "after_idleness");
  time_ramps(&g, json, DRIFT, "drift");
  fprintf(json, "}\n");
  gpu_close(&g);
  return report_close(json);
}
