/* How far the timers are apart, on one GPU: JSON to the file that is named, a
 * table to stdout, what came on the way to stderr. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static FILE *json;

/* Kernels of several lengths, timed in rounds of alternating order. Each
 * launch leaves its own counts in a ring: what the kernel itself did in the
 * very run that was timed. */
enum { RING = 1024, ROUNDS = 5, LENGTHS = 8 };
#define STORES 65536
static const double lengths[LENGTHS] = {0, 0.5, 1, 2, 5, 10, 50, 200};

/* One reading; of several, the medians. `us` is what the library says, `mean`
 * the samples' trimmed mean less the same bias; `beyond` and `mean_beyond` are
 * these less what the reference and the kernel's own count say of the round. */
typedef struct figures {
  double us, raw, mean, bias, uncertainty, batch;
  double self; /* what the kernel counted */
  double beyond, mean_beyond;
} figures;

static figures table[LENGTHS][MODES];

static void wait_for(gpu *g) {
  while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
  }
}

/* By the global timer where the kernel asked it, so that a change of the clock
 * is in it, else by cycles. */
static double read_ring(gpu *g, const spin_work *w) {
  static uint64_t ring[2 * RING];
  double cycles[RING], ns[RING];
  size_t n = 0, slow = 0;
  CU(g, cuMemcpyDtoHAsync, ring, w->out, sizeof ring, g->stream);
  wait_for(g);
  for (size_t i = 0; i < RING; i++) {
    if (ring[2 * i]) cycles[n++] = (double)ring[2 * i];
    if (ring[2 * i + 1]) ns[slow++] = (double)ring[2 * i + 1];
  }
  if (slow) return trimmed_mean(ns, slow) / 1e3;
  return trimmed_mean(cycles, n) / g->ghz / 1e3;
}

static figures figures_of(const kmb_result *r) {
  figures f = {.us = result_f64(r, KMB_VALUE_TIME, 0) / 1e3,
               .raw = result_f64(r, KMB_VALUE_RAW_MEDIAN, 0) / 1e3,
               .bias = result_f64(r, KMB_VALUE_BIAS, 0) / 1e3,
               .uncertainty =
                   result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, 0) / 1e3,
               .batch = (double)result_u64(r, KMB_VALUE_BATCH)};
  f.mean = trimmed_mean_of(r, NULL) / 1e3 - f.bias;
  return f;
}

static kmb_cache_state cache = KMB_CACHE_WARM;

static figures time_it(gpu *g, const mode *m, kmb_launch_fn launch, void *user,
                       uint64_t batch, const char *key) {
  figures f = {0};
  kmb_bench_params p = params_for(m, cache);
  p.launch = launch;
  p.launch_user = user;
  p.batch = batch;
  p.min_wall_ns = 10e6;
  p.max_wall_ns = 200e6;
  kmb_result *r = bench(g, &p, m->key);
  if (key) fputs(",\n   ", json);
  if (key) print_result(json, key, r);
  if (r) f = figures_of(r);
  kmb_result_destroy(r);
  return f;
}

static figures time_spin(gpu *g, spin_work *w, const mode *m, bool last) {
  CU(g, cuMemsetD32Async, w->out, 0, (size_t)4 * RING, g->stream);
  wait_for(g);
  figures f = time_it(g, m, spin_launch, w, 0, last ? m->key : NULL);
  f.self = read_ring(g, w);
  return f;
}

static figures median_of(const figures *rounds, int count) {
  figures f = {0};
  double column[ROUNDS];
#define COLUMN(name)              \
  for (int i = 0; i < count; i++) \
    column[i] = rounds[i].name;   \
  f.name = median(column, (size_t)count);
  COLUMN(us)
  COLUMN(raw)
  COLUMN(mean)
  COLUMN(bias)
  COLUMN(uncertainty)
  COLUMN(batch)
  COLUMN(self)
  COLUMN(beyond)
  COLUMN(mean_beyond)
#undef COLUMN
  return f;
}

/* What is judged: differences within a round. */
static void compare(figures rounds[MODES][ROUNDS], int count) {
  for (int m = 0; m < MODES; m++)
    for (int r = 0; r < count; r++) {
      figures *f = &rounds[m][r];
      const figures *zero = &rounds[0][r];
      f->beyond = f->us - f->self - (zero->us - zero->self);
      f->mean_beyond = f->mean - f->self - (zero->mean - zero->self);
    }
}

static void print_rounds(const figures rounds[MODES][ROUNDS], int count) {
  for (int m = 0; m < MODES; m++) {
    if (!(rounds[m][0].us > 0)) continue;
    fprintf(json, ",\n   \"%s_rounds\": [", modes[m].key);
    for (int r = 0; r < count; r++) {
      const figures *f = &rounds[m][r];
      fprintf(json,
              "%s{\"us\": %.4f, \"raw_us\": %.4f, \"mean_us\": %.4f, "
              "\"bias_us\": %.4f, \"bias_unc_us\": %.4f, \"batch\": %.0f, "
              "\"self_us\": %.4f, \"beyond_us\": %.4f, "
              "\"mean_beyond_us\": %.4f}",
              r ? ", " : "", f->us, f->raw, f->mean, f->bias, f->uncertainty,
              f->batch, f->self, f->beyond, f->mean_beyond);
    }
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
      rounds[m][r] = time_spin(g, &w, &modes[m], r == ROUNDS - 1);
    }
  compare(rounds, ROUNDS);
  print_rounds((const figures(*)[ROUNDS])rounds, ROUNDS);
  fprintf(json, "}%s\n", at + 1 < LENGTHS ? "," : "");
  for (int m = 0; m < MODES; m++)
    table[at][m] = median_of(rounds[m], ROUNDS);
  CU(g, cuMemFree, w.out);
}

static double slope_of(int of) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (int i = 0; i < LENGTHS; i++) {
    mx += table[i][of].self / LENGTHS;
    my += table[i][of].us / LENGTHS;
  }
  for (int i = 0; i < LENGTHS; i++) {
    double x = table[i][of].self - mx;
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

static void print_head(void) {
  printf("%7s%9s%9s", "kernel", "self", "TRACE");
  for (int m = 1; m < MODES; m++)
    printf("%25s", modes[m].key);
  putchar('\n');
}

static int print_table(void) {
  int outside = 0;
  puts("\ncorrected minus TRACE on plain launches, us, beyond the kernel's own "
       "count:\nmedians, [trimmed means], (what the bias's uncertainty "
       "allows); * beyond the limit");
  print_head();
  for (int i = 0; i < LENGTHS; i++) {
    printf("%7g%9.3f%9.3f", lengths[i], table[i][0].self, table[i][0].us);
    for (int m = 1; m < MODES; m++) {
      const figures *f = &table[i][m];
      bool far = !(fabs(f->beyond) <= modes[m].limit_us);
      printf("  %+.3f%c[%+.3f] (%.3f)", f->beyond, far ? '*' : ' ',
             f->mean_beyond, f->uncertainty);
      outside += far;
    }
    putchar('\n');
  }
  printf("%-25s", "slope");
  for (int m = 0; m < MODES; m++) {
    double slope = slope_of(m);
    bool far = !(fabs(slope - 1) <= 0.002);
    printf("  %s %.5f%s", modes[m].key, slope, far ? "*" : "");
    outside += far;
  }
  puts("\nraw, and the bias, us");
  for (int i = 0; i < LENGTHS; i++) {
    printf("%7g%18.3f", lengths[i], table[i][0].raw);
    for (int m = 1; m < MODES; m++)
      printf("  %10.3f %7.3f (%3.0f)", table[i][m].raw, table[i][m].bias,
             table[i][m].batch);
    putchar('\n');
  }
  printf("%d figures beyond their limit\n", outside);
  return outside;
}

/* Other kinds of kernels, each timed in every mode: how far a bias depends on
 * the kernel. */

static kmb_status wide_launch(void *user, const kmb_launch *launch) {
  spin_work *w = user;
  void *arguments[] = {&w->cycles, &w->out};
  return w->g->cu.cuLaunchKernel(w->kernel, 132, 1, 1, 256, 1, 1, 0,
                                 launch->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status copy_launch(void *user, const kmb_launch *launch) {
  spin_work *w = user; /* `cycles` is the number of uint4 here */
  kmbi_cu_pointer to = w->out + 16 * w->cycles;
  void *arguments[] = {&w->out, &to, &w->cycles};
  return w->g->cu.cuLaunchKernel(w->kernel, 1056, 1, 1, 512, 1, 1, 0,
                                 launch->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

typedef struct kind {
  const char *key, *kernel;
  kmb_launch_fn launch;
  double us; /* of copies: MiB */
  bool silent;
} kind;

static const kind kinds[] = {
    {"silent spin", "test_spin", spin_launch, 0, true},
    {"silent spin", "test_spin", spin_launch, 1, true},
    {"silent spin", "test_spin", spin_launch, 10, true},
    {"wide spin", "test_wide", wide_launch, 1, false},
    {"wide spin", "test_wide", wide_launch, 10, false},
    {"copy of MiB", "test_copy", copy_launch, 1, false},
    {"copy of MiB", "test_copy", copy_launch, 8, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], KIND_ROUNDS = 3 };

/* `!` where a difference is beyond what the bias's uncertainty allows and a
 * step of the clock. */
static void print_kind(const gpu *g, const kind *k,
                       figures rounds[MODES][ROUNDS]) {
  double tick = 0;
  (void)kmb_device_attr_f64(g->device, KMB_DEVICE_CLOCK_TICK_NS, &tick);
  printf("%12s %4g %8.3f", k->key, k->us, rounds[0][0].mean);
  for (int m = 1; m < MODES; m++) {
    if (!(rounds[m][0].us > 0)) continue;
    figures f = median_of(rounds[m], KIND_ROUNDS);
    bool far = fabs(f.beyond) > f.uncertainty + tick / 1e3;
    printf("  %s %+.3f%c[%+.3f] (%.3f)", modes[m].key, f.beyond,
           far ? '!' : ' ', f.mean_beyond, f.uncertainty);
  }
  putchar('\n');
}

static void time_kind(gpu *g, const kind *k) {
  static figures rounds[MODES][ROUNDS];
  bool copies = k->launch == copy_launch;
  spin_work w = {.g = g,
                 .kernel = gpu_kernel(g, k->kernel),
                 .cycles =
                     (uint64_t)(copies ? k->us * 65536 : k->us * 1e3 * g->ghz)};
  memset(rounds, 0, sizeof rounds);
  if (!k->silent)
    CU(g, cuMemAlloc, &w.out, copies ? 32 * (size_t)w.cycles : 8UL * STORES);
  fprintf(json, "  {\"kind\": \"%s\", \"size\": %g", k->key, k->us);
  for (int r = 0; r < KIND_ROUNDS; r++)
    for (int i = 0; i < MODES; i++) {
      int m = r % 2 ? MODES - 1 - i : i;
      if (cache == KMB_CACHE_COLD && modes[m].timer == KMB_TIMER_GRAPH)
        continue;
      rounds[m][r] = time_it(g, &modes[m], k->launch, &w, 0, NULL);
    }
  compare(rounds, KIND_ROUNDS);
  print_rounds((const figures(*)[ROUNDS])rounds, KIND_ROUNDS);
  print_kind(g, k, rounds);
  fprintf(json, "}%s\n", k + 1 < kinds + KINDS ? "," : "");
  if (w.out) CU(g, cuMemFree, w.out);
}

/* Replays of several lengths, each captured anew in every round. */
static void time_replays(gpu *g) {
  static const double us[] = {0, 1, 10, 50};
  static const uint64_t batches[] = {1, 2, 4, 8, 16, 32, 128};
  spin_work w = {.g = g, .kernel = gpu_kernel(g, "test_spin"), .ring = RING};
  CU(g, cuMemAlloc, &w.out, (size_t)16 * RING);
  fprintf(json, "\"replays\": [");
  puts("\nGRAPH by the length of a replay, less TRACE, of the means: what is "
       "left, {raw} of three captures");
  for (size_t i = 0; i < sizeof us / sizeof us[0]; i++) {
    w.cycles = (uint64_t)(us[i] * 1e3 * g->ghz);
    figures zero = time_it(g, &modes[0], spin_launch, &w, 0, NULL);
    printf("%4g %8.3f", us[i], zero.mean);
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
      double raw[KIND_ROUNDS], left[KIND_ROUNDS];
      if (us[i] * (double)batches[b] > 1000) continue;
      printf("  %llu:", (unsigned long long)batches[b]);
      for (int r = 0; r < KIND_ROUNDS; r++) {
        figures f = time_it(g, &modes[2], spin_launch, &w, batches[b], NULL);
        left[r] = f.mean - zero.mean;
        raw[r] = left[r] + f.bias;
      }
      fprintf(json,
              "%s\n  {\"us\": %g, \"batch\": %llu, \"zero_us\": %.4f, \"raw\": "
              "[%.4f, %.4f, %.4f], \"left\": [%.4f, %.4f, %.4f]}",
              i + b ? "," : "", us[i], (unsigned long long)batches[b],
              zero.mean, raw[0], raw[1], raw[2], left[0], left[1], left[2]);
      printf(" %+.3f {%.3f %.3f %.3f}", median(left, KIND_ROUNDS), raw[0],
             raw[1], raw[2]);
    }
    putchar('\n');
  }
  fprintf(json, "],\n");
  CU(g, cuMemFree, w.out);
}

static void time_kinds(gpu *g) {
  puts("\nother kinds of kernels: TRACE, then the others less TRACE as above");
  fprintf(json, "\"kinds\": [\n");
  for (int i = 0; i < KINDS; i++)
    time_kind(g, &kinds[i]);
  fprintf(json, "],\n\"cold\": [\n");
  puts("\nthe same after a sweep before each iteration");
  cache = KMB_CACHE_COLD;
  for (int i = 0; i < KINDS; i++)
    time_kind(g, &kinds[i]);
  cache = KMB_CACHE_WARM;
  fprintf(json, "]}\n");
}

int main(int argc, char **argv) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  json = report_open(&g, argc > 1 ? argv[1] : NULL);
  time_spins(&g);
  int outside = print_table();
  fprintf(json, "\"outside\": %d,\n", outside);
  time_replays(&g);
  time_kinds(&g);
  gpu_close(&g);
  return report_close(json);
}
