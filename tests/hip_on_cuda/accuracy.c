/* How far the HIP backend's corrected times are from the CUDA backend's, on one
 * NVIDIA GPU through HIP that is forwarded to CUDA: two ways to find zero, what
 * a replay costs and CUPTI's records, on the same kernels: spins that store, as
 * in the CUDA backend's own figures, and spins that do not. JSON to the file
 * that is named, with how many of those that store are more than 0.15 us apart,
 * by the samples' trimmed means: medians lie on the 32 ns steps of the clock.
 * Of several rounds, each with events and graphs of its own, the middle counts.
 * Fails if GRAPH is, or EVENT by more than both backends' uncertainties; of the
 * silent ones both take off too much, as their uncertainties say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../gpu/gpu.h"
#include "../gpu/report.h"

#define ALLOWED_US 0.15
enum { ROUNDS = 7, LENGTHS = 8, WAYS = 7, REFERENCE = 0, KINDS = 2, RING = 64 };

static const char *const kinds[KINDS] = {"spin", "silent"};

static const double lengths[LENGTHS] = {0, 0.5, 1, 2, 5, 10, 50, 200};

static const struct {
  const char *key;
  bool hip;
  kmb_timer timer;
  kmb_launch_mode launch;
  int against;
} ways[WAYS] = {
    {"cuda_trace", false, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, REFERENCE},
    {"cuda_graph", false, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, REFERENCE},
    {"cuda_event", false, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, REFERENCE},
    {"cuda_event_graph", false, KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, REFERENCE},
    {"hip_graph", true, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 1},
    {"hip_event", true, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, 2},
    {"hip_event_graph", true, KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, 3},
};

typedef struct figures {
  double us, mean, raw, bias, uncertainty;
} figures;

static figures table[KINDS][LENGTHS][WAYS];

static figures time_spin(kmb_device *device, spin_work *w, int way) {
  figures f = {NAN, NAN, NAN, NAN, NAN};
  kmb_result *r = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = ways[way].timer;
  p.launch_mode = ways[way].launch;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  p.launch = spin_launch;
  p.launch_user = w;
  if (kmb_bench(device, &p, &r)) {
    fprintf(stderr, "%s: %s\n", ways[way].key, kmb_last_error(NULL, NULL));
    return f;
  }
  f.us = result_f64(r, KMB_VALUE_TIME, NAN) / 1e3;
  f.raw = result_f64(r, KMB_VALUE_RAW_MEDIAN, NAN) / 1e3;
  f.bias = result_f64(r, KMB_VALUE_BIAS, NAN) / 1e3;
  f.uncertainty = result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, NAN) / 1e3;
  f.mean = trimmed_mean_of(r, NULL) / 1e3 - f.bias;
  kmb_result_destroy(r);
  return f;
}

static int ascending(const void *a, const void *b) {
  double x = ((const figures *)a)->mean;
  double y = ((const figures *)b)->mean;
  return (x > y) - (x < y);
}

/* In alternating order; of each way the round in the middle. */
static void time_length(gpu *g, kmb_device *hip, int kind, int at) {
  figures rounds[WAYS][ROUNDS];
  spin_work w = {.g = g,
                 .kernel = gpu_kernel(g, "test_spin"),
                 .cycles = (uint64_t)(lengths[at] * 1e3 * g->ghz),
                 .ring = RING};
  if (kind == 0) CU(g, cuMemAlloc, &w.out, (size_t)16 * RING);
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < WAYS; i++) {
      int m = r % 2 ? WAYS - 1 - i : i;
      rounds[m][r] = time_spin(ways[m].hip ? hip : g->device, &w, m);
    }
  for (int m = 0; m < WAYS; m++) {
    qsort(rounds[m], ROUNDS, sizeof(figures), ascending);
    table[kind][at][m] = rounds[m][ROUNDS / 2];
  }
  if (w.out) CU(g, cuMemFree, w.out);
}

static void print_json(FILE *json) {
  fputs("\"note\": \"HIP forwarded to CUDA: the backend's logic, not AMD "
        "hardware\",\n",
        json);
  for (int k = 0; k < KINDS; k++) {
    fprintf(json, "\"%s\": [\n", kinds[k]);
    for (int i = 0; i < LENGTHS; i++) {
      fprintf(json, "  {\"target_us\": %g", lengths[i]);
      for (int m = 0; m < WAYS; m++) {
        const figures *f = &table[k][i][m];
        fprintf(json,
                ",\n   \"%s\": {\"us\": %.4f, \"mean_us\": %.4f, "
                "\"raw_us\": %.4f, \"bias_us\": %.4f, \"bias_unc_us\": %.4f}",
                ways[m].key, f->us, f->mean, f->raw, f->bias, f->uncertainty);
      }
      fprintf(json, "}%s\n", i + 1 < LENGTHS ? "," : "],");
    }
  }
}

/* What two events cost differs from one minute to the next by more than is
 * allowed, in either backend, and so does what each claims. */
static double allowed(const figures *row, int way) {
  if (ways[way].timer == KMB_TIMER_GRAPH) return ALLOWED_US;
  return fmax(ALLOWED_US,
              row[way].uncertainty + row[ways[way].against].uncertainty);
}

typedef struct counts {
  int far, failed; /* apart; more than is allowed */
} counts;

static void print_way(const figures *row, int way, counts *c) {
  const figures *f = &row[way];
  double apart = f->mean - row[ways[way].against].mean;
  printf("  %s %+.3f (%+.3f) [%.3f %.3f %.3f]", ways[way].key, apart,
         f->mean - row[REFERENCE].mean, f->raw, f->bias, f->uncertainty);
  if (!ways[way].hip || fabs(apart) <= ALLOWED_US) return;
  bool fails = !(fabs(apart) <= allowed(row, way));
  fputs(fails ? " TOO FAR" : " far", stdout);
  c->far++;
  c->failed += fails;
}

/* Each beside the CUDA backend's own of the same kind, and TRACE. */
static counts print_table(int kind) {
  counts c = {0, 0};
  printf("%s, corrected trimmed means, us: beside the CUDA backend's same "
         "timer (beside "
         "TRACE) [raw, bias, its uncertainty]\n",
         kinds[kind]);
  for (int i = 0; i < LENGTHS; i++) {
    const figures *row = table[kind][i];
    printf("%7g TRACE %8.3f", lengths[i], row[REFERENCE].mean);
    for (int w = 1; w < WAYS; w++)
      print_way(row, w, &c);
    putchar('\n');
  }
  return c;
}

int main(int argc, char **argv) {
  gpu g;
  kmb_device *hip = NULL;
  kmb_device_params params = kmb_device_params_init();
  gpu_open(&g, "cuda:0", NULL);
  params.llc_bytes = g.llc;
  if (kmb_device_open("hip:0", &params, &hip)) {
    fprintf(stderr, "hip:0: %s\n", kmb_last_error(NULL, NULL));
    return 1;
  }
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  counts spins = {0, 0};
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < LENGTHS; i++)
      time_length(&g, hip, k, i);
    counts c = print_table(k);
    if (k == 0) spins = c;
  }
  print_json(json);
  fprintf(json, "\"outside\": %d}\n", spins.far);
  kmb_device_close(hip);
  gpu_close(&g);
  return report_close(json) || spins.failed ? 1 : 0;
}
