/* How right the timers are, on one GPU: JSON to the file that is named, a table
 * to stdout, what came on the way to stderr. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gpu.h"

static FILE *json;

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
    fprintf(json, "\"%s\": null", key);
    return;
  }
  fprintf(json,
          "\"%s\": {\"us\": %.4f, \"raw_us\": %.4f, \"bias_us\": %.4f, "
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

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  if (!count) return 0;
  return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

/* Kernels of several lengths, timed in rounds of alternating order. Each
 * launch leaves its own counts in a ring: what the kernel itself did in the
 * very run that was timed. */
enum { RING = 1024, ROUNDS = 3, LENGTHS = 8 };
static const double lengths[LENGTHS] = {0, 0.5, 1, 2, 5, 10, 50, 200};

typedef struct figures {
  double us, raw, bias, uncertainty;
  double self_cycles, self_ns; /* as time, by cycles and by the global timer */
} figures;

static figures table[LENGTHS][MODES];

static void wait_for(gpu *g) {
  while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
  }
}

static void read_ring(gpu *g, const spin_work *w, figures *f) {
  static uint64_t ring[2 * RING];
  double cycles[RING], ns[RING];
  size_t n = 0, slow = 0;
  CU(g, cuMemcpyDtoHAsync, ring, w->out, sizeof ring, g->stream);
  wait_for(g);
  for (size_t i = 0; i < RING; i++) {
    if (ring[2 * i]) cycles[n++] = (double)ring[2 * i];
    if (ring[2 * i + 1]) ns[slow++] = (double)ring[2 * i + 1];
  }
  f->self_cycles = median(cycles, n) / g->ghz / 1e3;
  f->self_ns = median(ns, slow) / 1e3;
}

static figures time_spin(gpu *g, spin_work *w, const mode *m, bool last) {
  figures f = {0};
  kmb_bench_params p = params_for(m, KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = w;
  CU(g, cuMemsetD32Async, w->out, 0, (size_t)4 * RING, g->stream);
  wait_for(g);
  kmb_result *r = bench(g, &p, m->key);
  if (last) print_result(m->key, r);
  if (!r) return f;
  f.us = result_f64(r, KMB_VALUE_TIME, 0) / 1e3;
  f.raw = result_f64(r, KMB_VALUE_RAW_MEDIAN, 0) / 1e3;
  f.bias = result_f64(r, KMB_VALUE_BIAS, 0) / 1e3;
  f.uncertainty = result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, 0) / 1e3;
  kmb_result_destroy(r);
  read_ring(g, w, &f);
  return f;
}

static figures median_of(const figures *rounds) {
  figures f = {0};
  double column[ROUNDS];
#define COLUMN(name)               \
  for (int i = 0; i < ROUNDS; i++) \
    column[i] = rounds[i].name;    \
  f.name = median(column, ROUNDS);
  COLUMN(us)
  COLUMN(raw)
  COLUMN(bias)
  COLUMN(uncertainty)
  COLUMN(self_cycles)
  COLUMN(self_ns)
#undef COLUMN
  return f;
}

static void print_rounds(const figures rounds[MODES][ROUNDS]) {
  for (int m = 0; m < MODES; m++) {
    fprintf(json, ",\n   \"%s_rounds\": [", modes[m].key);
    for (int r = 0; r < ROUNDS; r++)
      fprintf(json,
              "%s{\"us\": %.4f, \"raw_us\": %.4f, \"bias_us\": %.4f, "
              "\"self_us\": %.4f, \"self_global_us\": %.4f}",
              r ? ", " : "", rounds[m][r].us, rounds[m][r].raw,
              rounds[m][r].bias, rounds[m][r].self_cycles,
              rounds[m][r].self_ns);
    fputc(']', json);
  }
}

static void time_length(gpu *g, int at) {
  static figures rounds[MODES][ROUNDS];
  spin_work w = {.g = g,
                 .kernel = gpu_kernel(g, "test_spin"),
                 .cycles = (uint64_t)(lengths[at] * 1e3 * g->ghz),
                 .ring = RING};
  CU(g, cuMemAlloc, &w.out, (size_t)16 * RING);
  fprintf(json, "  {\"target_us\": %g", lengths[at]);
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < MODES; i++) {
      int m = r % 2 ? MODES - 1 - i : i;
      bool last = r == ROUNDS - 1;
      if (last) fputs(",\n   ", json);
      rounds[m][r] = time_spin(g, &w, &modes[m], last);
    }
  print_rounds((const figures(*)[ROUNDS])rounds);
  fprintf(json, "}%s\n", at + 1 < LENGTHS ? "," : "");
  for (int m = 0; m < MODES; m++)
    table[at][m] = median_of(rounds[m]);
  CU(g, cuMemFree, w.out);
  fprintf(stderr, "spin %6.1f us: self %.3f", lengths[at],
          table[at][0].self_cycles);
  for (int m = 0; m < MODES; m++)
    fprintf(stderr, "  %s %.3f (%+.3f)", modes[m].key, table[at][m].us,
            table[at][m].us - table[at][0].us);
  fputc('\n', stderr);
}

static double slope_of(int of) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (int i = 0; i < LENGTHS; i++) {
    mx += table[i][of].self_cycles / LENGTHS;
    my += table[i][of].us / LENGTHS;
  }
  for (int i = 0; i < LENGTHS; i++) {
    double x = table[i][of].self_cycles - mx;
    xy += x * (table[i][of].us - my);
    xx += x * x;
  }
  return xx > 0 ? xy / xx : 0;
}

static void time_spins(gpu *g) {
  fprintf(json, "\"spin\": [\n");
  for (int i = 0; i < LENGTHS; i++)
    time_length(g, i);
  fprintf(json, "],\n\"slope\": {");
  for (int m = 0; m < MODES; m++)
    fprintf(json, "%s\"%s\": %.5f", m ? ", " : "", modes[m].key, slope_of(m));
  fprintf(json, "},\n");
}

/* Beyond the kernel's own count, so that a mode of the kernel is not charged to
 * a timer: by the global timer where there is one. */
static double beyond_self(const figures *f) {
  return f->us - (f->self_ns > 0 ? f->self_ns : f->self_cycles);
}

static void print_column(const char *title, int width) {
  printf("%*s", width, title);
}

static void print_table(void) {
  puts("\ncorrected minus TRACE on plain launches, us; (u) what the bias's "
       "uncertainty allows;\n[s] the same beyond the kernel's own count");
  print_column("kernel", 7);
  print_column("self", 9);
  print_column("TRACE", 9);
  for (int m = 1; m < MODES; m++)
    print_column(modes[m].key, 25);
  putchar('\n');
  for (int i = 0; i < LENGTHS; i++) {
    const figures *zero = &table[i][0];
    printf("%7g%9.3f%9.3f", lengths[i], zero->self_cycles, zero->us);
    for (int m = 1; m < MODES; m++) {
      const figures *f = &table[i][m];
      printf("  %+.3f (%.3f) [%+.3f]", f->us - zero->us, f->uncertainty,
             beyond_self(f) - beyond_self(zero));
    }
    putchar('\n');
  }
  printf("%-25s", "slope");
  printf("%.5f", slope_of(0));
  for (int m = 1; m < MODES; m++)
    printf("  %s %.5f", modes[m].key, slope_of(m));
  puts("\nraw minus TRACE on plain launches, us");
  for (int i = 0; i < LENGTHS; i++) {
    printf("%7g%18s", lengths[i], "");
    for (int m = 1; m < MODES; m++)
      printf("%25.3f", table[i][m].raw - table[i][0].us);
    putchar('\n');
  }
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
  fprintf(json, "\"moves\": [\n");
  for (int i = 0; i < 4; i++) {
    uint64_t mib = i % 2 ? 32 : 8;
    bool copies = i / 2;
    fprintf(json, "%s  {\"kind\": \"%s\", \"mib\": %llu", i ? ",\n" : "",
            copies ? "copy" : "read", (unsigned long long)mib);
    fprintf(stderr, "%s %2llu MiB:", copies ? "copy" : "read",
            (unsigned long long)mib);
    for (int s = 0; s < 4; s++) {
      kmb_result *r =
          move(g, mib << 20, copies, states[s].cache, states[s].dirty);
      fprintf(json, ",\n   ");
      print_result(states[s].key, r);
      if (r)
        fprintf(stderr, "  %s %.3f", states[s].key,
                result_f64(r, KMB_VALUE_TIME, 0) / 1e3);
      else
        fprintf(stderr, "  %s not to be had", states[s].key);
      kmb_result_destroy(r);
    }
    fprintf(json, "}");
    fputc('\n', stderr);
  }
  fprintf(json, "],\n");
  CU(g, cuMemFree, flushed.memory);
}

/* A whole call on a 20 us kernel, everything included. */
static void time_wall(gpu *g) {
  spin_work w = {g, gpu_kernel(g, "test_spin"), (uint64_t)(20e3 * g->ghz), 0,
                 0};
  double best = 1e18;
  fprintf(json, "\"wall\": [");
  for (int i = 0; i < 4; i++) {
    kmb_bench_params p = kmb_bench_params_init();
    p.launch = spin_launch;
    p.launch_user = &w;
    double start = gpu_now();
    kmb_result *r = bench(g, &p, "wall");
    double wall = gpu_now() - start;
    if (wall < best) best = wall;
    fprintf(json, "%s{\"wall_ms\": %.2f, ", i ? ",\n  " : "", wall / 1e6);
    print_result("auto", r);
    fprintf(json,
            ", \"confirm_us\": %.4f, \"timer\": \"%s\", \"cache\": \"%s\"}",
            r ? result_f64(r, KMB_VALUE_CONFIRM_TIME, 0) / 1e3 : 0,
            r ? result_text(r, KMB_VALUE_TIMER) : "",
            r ? result_text(r, KMB_VALUE_CACHE_STATE) : "");
    fprintf(stderr, "wall of a 20 us kernel: %.2f ms\n", wall / 1e6);
    if (r) print_findings(r);
    kmb_result_destroy(r);
  }
  fprintf(json, "]}\n");
}

/* The host's work for a sample: a traced run of an empty kernel in a fixed
 * number of samples, its wall time over their number, cold and warm. */
static void time_host_work(gpu *g) {
  spin_work w = {g, gpu_kernel(g, "test_spin"), 0, 0, 0};
  fprintf(json, "\"host_work_us\": {");
  for (int m = 0; m < MODES; m++) {
    kmb_bench_params p = params_for(&modes[m], KMB_CACHE_WARM);
    p.launch = spin_launch;
    p.launch_user = &w;
    p.min_samples = 20000;
    p.max_samples = 20000;
    kmb_result *r = bench(g, &p, modes[m].key);
    double wall = r ? result_f64(r, KMB_VALUE_MEASURE_WALL, 0) : 0;
    double count = r ? (double)result_u64(r, KMB_VALUE_SAMPLES) : 1;
    fprintf(json, "%s\"%s\": %.3f", m ? ", " : "", modes[m].key,
            wall / count / 1e3);
    fprintf(stderr, "host work, %s: %.3f us a sample (%.0f samples)\n",
            modes[m].key, wall / count / 1e3, count);
    kmb_result_destroy(r);
  }
  fprintf(json, "},\n");
}

/* One short run, for what its metadata say. */
static void print_metadata(gpu *g, const char *const *keys, size_t count) {
  spin_work w = {.g = g, .kernel = gpu_kernel(g, "test_spin")};
  kmb_bench_params p = params_for(&modes[0], KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = &w;
  kmb_result *r = bench(g, &p, "metadata");
  for (size_t i = 0; i < count; i++) {
    const char *text = NULL;
    if (r) (void)kmb_result_metadata_text(r, keys[i], &text);
    fprintf(json, "\"%s\": \"%s\", ", keys[i], text ? text : "unknown");
    printf("%s: %s\n", keys[i], text ? text : "unknown");
  }
  kmb_result_destroy(r);
}

static void print_head(gpu *g) {
  static const char *const keys[] = {"device.driver_version",
                                     "device.cupti_api", "cupti.correlation"};
  const char *name = "";
  const char *uuid = "";
  double tick = 0;
  char date[32];
  time_t now = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  (void)kmb_device_attr_text(g->device, KMB_DEVICE_NAME, &name);
  (void)kmb_device_attr_text(g->device, KMB_DEVICE_UUID, &uuid);
  (void)kmb_device_attr_f64(g->device, KMB_DEVICE_CLOCK_TICK_NS, &tick);
  fprintf(stderr, "%s, SM clock %.4f GHz, tick %g ns, LLC %llu\n", name, g->ghz,
          tick, (unsigned long long)g->llc);
  fprintf(json,
          "{\"device\": \"%s\", \"uuid\": \"%s\", \"date\": \"%s\",\n"
          "\"version\": \"%s\", ",
          name, uuid, date, kmb_version());
  print_metadata(g, keys, sizeof keys / sizeof keys[0]);
  fprintf(json, "\"ghz\": %.5f, \"tick_ns\": %g,\n", g->ghz, tick);
}

int main(int argc, char **argv) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  json = argc > 1 ? fopen(argv[1], "w") : stdout;
  if (!json) {
    perror(argv[1]);
    return 1;
  }
  print_head(&g);
  time_spins(&g);
  time_moves(&g);
  time_host_work(&g);
  time_wall(&g);
  print_table();
  gpu_close(&g);
  return json != stdout && fclose(json) ? 1 : 0;
}
