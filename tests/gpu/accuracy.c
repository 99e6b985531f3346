/* How right the timers are, on one GPU: JSON to stdout, words to stderr. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"

enum { OUT_BYTES = 8 };

typedef struct mode {
  const char *key;
  kmb_timer timer;
  kmb_launch_mode launch;
} mode;

static const mode modes[] = {
    {"trace_plain", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
    {"trace_graph", KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
    {"graph", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
    {"event", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {"event_graph", KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
};
enum { MODES = sizeof modes / sizeof modes[0] };

static kmb_bench_params params_for(const mode *m, kmb_cache_state cache) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = m->timer;
  p.launch_mode = m->launch;
  p.cache = cache;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  return p;
}

static kmb_result *bench(gpu *g, const kmb_bench_params *p, const char *what) {
  kmb_result *result = NULL;
  kmb_status status = kmb_bench(g->device, p, &result);
  if (status) {
    int64_t vendor = 0;
    const char *text = kmb_last_error(NULL, &vendor);
    fprintf(stderr, "%s: %s [%lld] %s\n", what, kmb_status_name(status),
            (long long)vendor, text);
    return NULL;
  }
  return result;
}

static void print_result(const char *key, const kmb_result *r) {
  if (!r) {
    printf("\"%s\": null", key);
    return;
  }
  printf("\"%s\": {\"us\": %.4f, \"raw_us\": %.4f, \"bias_us\": %.4f, "
         "\"bias_unc_us\": %.4f, \"interval_pct\": %.3f, \"p25_us\": %.4f, "
         "\"p75_us\": %.4f, \"samples\": %llu, \"invalid\": %llu, "
         "\"wall_ms\": %.2f, \"measure_ms\": %.2f, \"stop\": \"%s\"}",
         key, result_f64(r, KMB_VALUE_TIME, -1e6) / 1e3,
         result_f64(r, KMB_VALUE_RAW_MEDIAN, -1e6) / 1e3,
         result_f64(r, KMB_VALUE_BIAS, 0) / 1e3,
         result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, 0) / 1e3,
         result_f64(r, KMB_VALUE_INTERVAL_PCT, -1),
         result_f64(r, KMB_VALUE_P25, 0) / 1e3,
         result_f64(r, KMB_VALUE_P75, 0) / 1e3,
         (unsigned long long)result_u64(r, KMB_VALUE_SAMPLES),
         (unsigned long long)result_u64(r, KMB_VALUE_SAMPLES_INVALID),
         result_f64(r, KMB_VALUE_TOTAL_WALL, 0) / 1e6,
         result_f64(r, KMB_VALUE_MEASURE_WALL, 0) / 1e6,
         result_text(r, KMB_VALUE_STOP_REASON));
}

/* Cycles that the kernel counted by itself. */
static double counted_us(gpu *g, spin_work *w) {
  uint64_t counted = 0;
  CU(g, cuMemAlloc, &w->out, OUT_BYTES);
  kmb_launch l = {.struct_size = sizeof l, .stream = g->stream};
  (void)spin_launch(w, &l);
  CU(g, cuMemcpyDtoHAsync, &counted, w->out, OUT_BYTES, g->stream);
  while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
  }
  CU(g, cuMemFree, w->out);
  w->out = 0;
  return (double)counted / g->ghz / 1e3;
}

static void slope_of(const double *x, const double *y, int n, double *slope) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (int i = 0; i < n; i++) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  for (int i = 0; i < n; i++) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
  }
  *slope = xx > 0 ? xy / xx : 0;
}

static void time_spins(gpu *g) {
  static const double lengths[] = {0, 0.5, 1, 2, 5, 10, 50, 200};
  enum { N = sizeof lengths / sizeof lengths[0] };
  double self[N], got[MODES][N], slope = 0;
  printf("\"spin\": [\n");
  for (int i = 0; i < N; i++) {
    spin_work w = {g, gpu_kernel(g, "test_spin"),
                   (uint64_t)(lengths[i] * 1e3 * g->ghz), 0};
    self[i] = counted_us(g, &w);
    printf("  {\"target_us\": %g, \"self_us\": %.4f", lengths[i], self[i]);
    for (int m = 0; m < MODES; m++) {
      kmb_bench_params p = params_for(&modes[m], KMB_CACHE_WARM);
      p.launch = spin_launch;
      p.launch_user = &w;
      kmb_result *r = bench(g, &p, modes[m].key);
      printf(",\n   ");
      print_result(modes[m].key, r);
      got[m][i] = r ? result_f64(r, KMB_VALUE_TIME, 0) / 1e3 : 0;
      if (r) print_findings(r);
      kmb_result_destroy(r);
    }
    printf("}%s\n", i + 1 < N ? "," : "");
    fprintf(stderr, "spin %6.1f us: self %.3f", lengths[i], self[i]);
    for (int m = 0; m < MODES; m++)
      fprintf(stderr, "  %s %.3f (%+.3f)", modes[m].key, got[m][i],
              got[m][i] - got[0][i]);
    fputc('\n', stderr);
  }
  printf("],\n\"slope\": {");
  for (int m = 0; m < MODES; m++) {
    slope_of(self, got[m], N, &slope);
    printf("%s\"%s\": %.5f", m ? ", " : "", modes[m].key, slope);
    fprintf(stderr, "slope %s %.5f\n", modes[m].key, slope);
  }
  printf("},\n");
}

/* Reset hook that leaves the cache full of dirty lines, as others flush. */
typedef struct flush {
  gpu *g;
  kmbi_cu_pointer memory;
  size_t words;
} flush;

static flush flushed; /* the reset hook gets the launch's user pointer too */

static kmb_status memset_flush(void *user, uint32_t slot, void *stream) {
  const flush *f = user;
  (void)slot;
  return f->g->cu.cuMemsetD32Async(f->memory, 0, f->words, stream)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_result *move(gpu *g, uint64_t bytes, bool copies,
                        kmb_cache_state cache, bool dirty) {
  kmb_buffers *buffers = move_buffers(g, bytes, copies, 0);
  move_work w = {.g = g,
                 .kernel = gpu_kernel(g, copies ? "test_copy" : "test_read"),
                 .bytes = bytes,
                 .copies = copies};
  CU(g, cuMemAlloc, &w.sink, 256);
  kmb_bench_params p = params_for(&modes[0], cache);
  p.launch = move_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  if (dirty) {
    p.reset = memset_flush;
    p.reset_user = &flushed;
  }
  kmb_result *r = bench(g, &p, copies ? "copy" : "read");
  kmb_buffers_destroy(buffers);
  CU(g, cuMemFree, w.sink);
  return r;
}

static void time_moves(gpu *g) {
  static const struct {
    const char *key;
    kmb_cache_state cache;
    bool dirty;
  } states[] = {{"cold", KMB_CACHE_COLD, false},
                {"rotated", KMB_CACHE_ROTATED, false},
                {"warm", KMB_CACHE_WARM, false},
                {"memset_flush", KMB_CACHE_WARM, true}};
  flushed.g = g;
  flushed.words = (size_t)(2 * g->llc / 4);
  CU(g, cuMemAlloc, &flushed.memory, 2 * g->llc);
  printf("\"moves\": [\n");
  for (int i = 0; i < 4; i++) {
    uint64_t mib = i % 2 ? 32 : 8;
    bool copies = i / 2;
    printf("%s  {\"kind\": \"%s\", \"mib\": %llu", i ? ",\n" : "",
           copies ? "copy" : "read", (unsigned long long)mib);
    fprintf(stderr, "%s %2llu MiB:", copies ? "copy" : "read",
            (unsigned long long)mib);
    for (int s = 0; s < 4; s++) {
      kmb_result *r =
          move(g, mib << 20, copies, states[s].cache, states[s].dirty);
      printf(",\n   ");
      print_result(states[s].key, r);
      fprintf(stderr, "  %s %.3f", states[s].key,
              r ? result_f64(r, KMB_VALUE_TIME, 0) / 1e3 : -1);
      kmb_result_destroy(r);
    }
    printf("}");
    fputc('\n', stderr);
  }
  printf("],\n");
  CU(g, cuMemFree, flushed.memory);
}

/* A whole call on a 20 us kernel, everything included. */
static void time_wall(gpu *g) {
  spin_work w = {g, gpu_kernel(g, "test_spin"), (uint64_t)(20e3 * g->ghz), 0};
  double best = 1e18;
  printf("\"wall\": [");
  for (int i = 0; i < 4; i++) {
    kmb_bench_params p = kmb_bench_params_init();
    p.launch = spin_launch;
    p.launch_user = &w;
    double start = gpu_now();
    kmb_result *r = bench(g, &p, "wall");
    double wall = gpu_now() - start;
    if (wall < best) best = wall;
    printf("%s{\"wall_ms\": %.2f, ", i ? ",\n  " : "", wall / 1e6);
    print_result("auto", r);
    printf(", \"confirm_us\": %.4f, \"timer\": \"%s\", \"cache\": \"%s\"}",
           r ? result_f64(r, KMB_VALUE_CONFIRM_TIME, 0) / 1e3 : 0,
           r ? result_text(r, KMB_VALUE_TIMER) : "",
           r ? result_text(r, KMB_VALUE_CACHE_STATE) : "");
    fprintf(stderr, "wall of a 20 us kernel: %.2f ms\n", wall / 1e6);
    if (r) print_findings(r);
    kmb_result_destroy(r);
  }
  printf("],\n");
}

/* The host's work for a sample: a traced run of an empty kernel in a fixed
 * number of samples, its wall time over their number, cold and warm. */
static void time_host_work(gpu *g) {
  spin_work w = {g, gpu_kernel(g, "test_spin"), 0, 0};
  printf("\"host_work_us\": {");
  for (int m = 0; m < MODES; m++) {
    kmb_bench_params p = params_for(&modes[m], KMB_CACHE_WARM);
    p.launch = spin_launch;
    p.launch_user = &w;
    p.min_samples = 20000;
    p.max_samples = 20000;
    kmb_result *r = bench(g, &p, modes[m].key);
    double wall = r ? result_f64(r, KMB_VALUE_MEASURE_WALL, 0) : 0;
    double count = r ? (double)result_u64(r, KMB_VALUE_SAMPLES) : 1;
    printf("%s\"%s\": %.3f", m ? ", " : "", modes[m].key, wall / count / 1e3);
    fprintf(stderr, "host work, %s: %.3f us a sample (%.0f samples)\n",
            modes[m].key, wall / count / 1e3, count);
    kmb_result_destroy(r);
  }
  printf("},\n");
}

int main(void) {
  gpu g;
  const char *name = "";
  double tick = 0;
  gpu_open(&g, "cuda:0", NULL);
  (void)kmb_device_attr_text(g.device, KMB_DEVICE_NAME, &name);
  (void)kmb_device_attr_f64(g.device, KMB_DEVICE_CLOCK_TICK_NS, &tick);
  fprintf(stderr, "%s, SM clock %.4f GHz, tick %g ns, LLC %llu\n", name, g.ghz,
          tick, (unsigned long long)g.llc);
  printf("{\"device\": \"%s\", \"ghz\": %.5f, \"tick_ns\": %g,\n", name, g.ghz,
         tick);
  time_spins(&g);
  time_moves(&g);
  time_host_work(&g);
  time_wall(&g);
  printf("\"version\": \"%s\"}\n", kmb_version());
  gpu_close(&g);
  return 0;
}
