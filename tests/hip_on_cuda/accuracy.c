/* How far the HIP backend's corrected times are from the CUDA backend's, on one
 * NVIDIA GPU through HIP that is forwarded to CUDA: two ways to find zero, what
 * a replay costs and CUPTI's records, on the same kernels: spins that store, as
 * in the CUDA backend's own figures, and spins that do not. JSON to the file
 * that is named. Fails where they are more than 0.15 us apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../gpu/gpu.h"
#include "../gpu/report.h"

#define ALLOWED_US 0.15
enum {
  ROUNDS = 3,
  LENGTHS = 8,
  MODES = 7,
  REFERENCE = 0,
  KINDS = 2,
  RING = 64
};

static const char *const kinds[KINDS] = {"spin", "silent"};

static const double lengths[LENGTHS] = {0, 0.5, 1, 2, 5, 10, 50, 200};

static const struct {
  const char *key;
  bool hip;
  kmb_timer timer;
  kmb_launch_mode launch;
  int against;
} modes[MODES] = {
    {"cuda_trace", false, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, REFERENCE},
    {"cuda_graph", false, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, REFERENCE},
    {"cuda_event", false, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, REFERENCE},
    {"cuda_event_graph", false, KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, REFERENCE},
    {"hip_graph", true, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 1},
    {"hip_event", true, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, 2},
    {"hip_event_graph", true, KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, 3},
};

typedef struct figures {
  double us, raw, bias, uncertainty;
} figures;

static figures table[KINDS][LENGTHS][MODES];

static figures time_spin(kmb_device *device, spin_work *w, int mode) {
  figures f = {NAN, NAN, NAN, NAN};
  kmb_result *r = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = modes[mode].timer;
  p.launch_mode = modes[mode].launch;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  p.launch = spin_launch;
  p.launch_user = w;
  if (kmb_bench(device, &p, &r)) {
    fprintf(stderr, "%s: %s\n", modes[mode].key, kmb_last_error(NULL, NULL));
    return f;
  }
  f.us = result_f64(r, KMB_VALUE_TIME, NAN) / 1e3;
  f.raw = result_f64(r, KMB_VALUE_RAW_MEDIAN, NAN) / 1e3;
  f.bias = result_f64(r, KMB_VALUE_BIAS, NAN) / 1e3;
  f.uncertainty = result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, NAN) / 1e3;
  kmb_result_destroy(r);
  return f;
}

static int ascending(const void *a, const void *b) {
  double x = ((const figures *)a)->us;
  double y = ((const figures *)b)->us;
  return (x > y) - (x < y);
}

/* In alternating order; of each mode the round in the middle. */
static void time_length(gpu *g, kmb_device *hip, int kind, int at) {
  figures rounds[MODES][ROUNDS];
  spin_work w = {.g = g,
                 .kernel = gpu_kernel(g, "test_spin"),
                 .cycles = (uint64_t)(lengths[at] * 1e3 * g->ghz),
                 .ring = RING};
  if (kind == 0) CU(g, cuMemAlloc, &w.out, (size_t)16 * RING);
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < MODES; i++) {
      int m = r % 2 ? MODES - 1 - i : i;
      rounds[m][r] = time_spin(modes[m].hip ? hip : g->device, &w, m);
    }
  for (int m = 0; m < MODES; m++) {
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
      for (int m = 0; m < MODES; m++) {
        const figures *f = &table[k][i][m];
        fprintf(json,
                ",\n   \"%s\": {\"us\": %.4f, \"raw_us\": %.4f, \"bias_us\": "
                "%.4f, \"bias_unc_us\": %.4f}",
                modes[m].key, f->us, f->raw, f->bias, f->uncertainty);
      }
      fprintf(json, "}%s\n", i + 1 < LENGTHS ? "," : "],");
    }
  }
}

/* Each beside the CUDA backend's own of the same kind, and TRACE. */
static int print_table(int kind) {
  int far = 0;
  printf("%s, corrected, us: beside the CUDA backend's same timer (beside "
         "TRACE) [raw, bias, its uncertainty]\n",
         kinds[kind]);
  for (int i = 0; i < LENGTHS; i++) {
    const figures *row = table[kind][i];
    printf("%7g TRACE %8.3f", lengths[i], row[REFERENCE].us);
    for (int m = 1; m < MODES; m++) {
      double apart = row[m].us - row[modes[m].against].us;
      printf("  %s %+.3f (%+.3f) [%.3f %.3f %.3f]", modes[m].key, apart,
             row[m].us - row[REFERENCE].us, row[m].raw, row[m].bias,
             row[m].uncertainty);
      if (modes[m].hip && !(fabs(apart) <= ALLOWED_US)) {
        printf(" FAR");
        far++;
      }
    }
    putchar('\n');
  }
  return far;
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
  int far = 0;
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < LENGTHS; i++)
      time_length(&g, hip, k, i);
    far += print_table(k);
  }
  print_json(json);
  fprintf(json, "\"outside\": %d}\n", far);
  kmb_device_close(hip);
  gpu_close(&g);
  return report_close(json) || far ? 1 : 0;
}
