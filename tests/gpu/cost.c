/* What measuring costs on one GPU: JSON to the file that is named, a table to
 * stdout. */
#include "report.h"

enum { CALLS = 8, SAMPLES = 20000 };

/* A whole call on a 20 us kernel, everything included. The first has the
 * loading of CUPTI, the calibration and the clocks' rise in it. */
static void time_wall(gpu *g, FILE *json) {
  spin_work w = {.g = g,
                 .kernel = gpu_kernel(g, "test_spin"),
                 .cycles = (uint64_t)(20e3 * g->ghz)};
  double walls[CALLS] = {0};
  int count = 0;
  fprintf(json, "\"wall\": [");
  for (int i = 0; i < CALLS; i++) {
    kmb_bench_params p = kmb_bench_params_init();
    p.launch = spin_launch;
    p.launch_user = &w;
    double start = gpu_now();
    kmb_result *r = bench(g, &p, "wall");
    double wall = (gpu_now() - start) / 1e6;
    if (i && r) walls[count++] = wall;
    fprintf(json, "%s{\"wall_ms\": %.2f, ", i ? ",\n  " : "", wall);
    print_result(json, "auto", r);
    fprintf(json,
            ", \"confirm_us\": %.4f, \"timer\": \"%s\", \"cache\": \"%s\"}",
            r ? result_f64(r, KMB_VALUE_CONFIRM_TIME, 0) / 1e3 : 0,
            r ? result_text(r, KMB_VALUE_TIMER) : "",
            r ? result_text(r, KMB_VALUE_CACHE_STATE) : "");
    printf("a call on a 20 us kernel: %.2f ms, +-%.3f%%\n", wall,
           r ? result_f64(r, KMB_VALUE_INTERVAL_PCT, -1) : -1);
    if (r) print_findings(r);
    kmb_result_destroy(r);
  }
  double middle = median(walls, (size_t)count);
  printf("median after the first: %.2f ms%s\n", middle,
         count && middle <= 120 ? "" : "*");
  fprintf(json, "],\n\"wall_ms\": %.2f,\n", middle);
}

/* The host's work for a sample: a run of an empty kernel in a fixed number of
 * samples, its wall time over their number. */
static void time_host_work(gpu *g, FILE *json) {
  spin_work w = {.g = g, .kernel = gpu_kernel(g, "test_spin")};
  fprintf(json, "\"host_work_us\": {");
  for (int m = 0; m < MODES; m++) {
    kmb_bench_params p = params_for(&modes[m], KMB_CACHE_WARM);
    p.launch = spin_launch;
    p.launch_user = &w;
    p.min_samples = SAMPLES;
    p.max_samples = SAMPLES;
    kmb_result *r = bench(g, &p, modes[m].key);
    double wall = r ? result_f64(r, KMB_VALUE_MEASURE_WALL, 0) : 0;
    double count = r ? (double)result_u64(r, KMB_VALUE_SAMPLES) : 1;
    double us = wall / count / 1e3;
    bool traced = modes[m].timer == KMB_TIMER_TRACE;
    fprintf(json, "%s\"%s\": %.3f", m ? ", " : "", modes[m].key, us);
    printf("host work, %s: %.3f us a sample%s (%.0f samples)\n", modes[m].key,
           us, traced && !(us > 0 && us <= 10) ? "*" : "", count);
    kmb_result_destroy(r);
  }
  fprintf(json, "}}\n");
}

int main(int argc, char **argv) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  time_wall(&g, json);
  time_host_work(&g, json);
  gpu_close(&g);
  return report_close(json);
}
