/* Reads and copies in each cache state, and what a flush that writes does to
 * them: JSON to the file that is named, a table to stdout. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { ROUNDS = 3, STATES = 4, ROW = 1024 }; /* floats */

static const mode *const plain = &modes[0];

/* Reset hook that leaves the cache full of dirty lines, as others flush. */
typedef struct flush {
  gpu *g;
  kmbi_cu_pointer memory;
  size_t words;
} flush;

static kmb_status memset_flush(void *user, uint32_t slot, void *stream) {
  const flush *f = user;
  (void)slot;
  return f->g->cu.cuMemsetD32Async(f->memory, 0, f->words, stream)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static const struct {
  const char *key;
  kmb_cache_state cache;
  bool dirty;
} states[STATES] = {{"cold", KMB_CACHE_COLD, false},
                    {"rotated", KMB_CACHE_ROTATED, false},
                    {"warm", KMB_CACHE_WARM, false},
                    {"memset_flush", KMB_CACHE_WARM, true}};

static kmb_result *move(gpu *g, uint64_t bytes, bool copies, int state,
                        flush *f) {
  kmb_buffers *buffers = move_buffers(g, bytes, copies, 0);
  move_work w = {.g = g,
                 .kernel = gpu_kernel(g, copies ? "test_copy" : "test_read"),
                 .bytes = bytes,
                 .copies = copies};
  CU(g, cuMemAlloc, &w.sink, 256);
  kmb_bench_params p = params_for(plain, states[state].cache);
  p.launch = move_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  if (states[state].dirty) {
    p.flags &= ~(uint32_t)KMB_BENCH_REQUIRE_CACHE;
    p.reset = memset_flush;
    p.reset_user = f;
  }
  kmb_result *r = bench(g, &p, copies ? "copy" : "read");
  kmb_buffers_destroy(buffers);
  CU(g, cuMemFree, w.sink);
  return r;
}

/* Trimmed means of rounds in alternating order, their median. */
static void time_move(gpu *g, FILE *json, uint64_t mib, bool copies, flush *f) {
  double us[STATES][ROUNDS] = {{0}};
  double medians[STATES] = {0};
  int got[STATES] = {0};
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < STATES; i++) {
      int s = round % 2 ? STATES - 1 - i : i;
      bool fits = mib * (copies ? 2 : 1) << 20 <= g->llc;
      if (states[s].cache == KMB_CACHE_WARM && !states[s].dirty && !fits)
        continue; /* nothing to be warm in */
      kmb_result *r = move(g, mib << 20, copies, s, f);
      if (!r) continue;
      us[s][got[s]++] = trimmed_mean_of(r, NULL) / 1e3;
      if (round == ROUNDS - 1) {
        fputs(",\n   ", json);
        print_result(json, states[s].key, r);
      }
      kmb_result_destroy(r);
    }
  printf("%s %2llu MiB", copies ? "copy" : "read", (unsigned long long)mib);
  for (int s = 0; s < STATES; s++) {
    medians[s] = median(us[s], (size_t)got[s]);
    printf("  %s %.3f", states[s].key, medians[s]);
    fprintf(json, ",\n   \"%s_us\": %.4f", states[s].key, medians[s]);
  }
  double rotated = 100 * (medians[1] / medians[0] - 1);
  double flushed = 100 * (medians[3] / medians[0] - 1);
  const char *name = copies ? "dirty_outputs" : "rotated_over_cold";
  printf("  %s %+.2f%%%s  memset flush %+.2f%%\n", name, rotated,
         !copies && !(fabs(rotated) <= 2) ? "*" : "", flushed);
  fprintf(json, ",\n   \"%s_pct\": %.2f, \"memset_flush_pct\": %.2f}", name,
          rotated, flushed);
}

/* Weights cold, activations warm. */

typedef struct dot_work {
  gpu *g;
  kmbi_cu_function kernel;
  uint32_t rows;
} dot_work;

static kmb_status dot_launch(void *user, const kmb_launch *l) {
  dot_work *w = user;
  uint32_t row = ROW / 4;
  void *arguments[] = {(void *)(uintptr_t)&l->args[0],
                       (void *)(uintptr_t)&l->args[1],
                       (void *)(uintptr_t)&l->args[2], &row};
  return w->g->cu.cuLaunchKernel(w->kernel, w->rows, 1, 1, 256, 1, 1, 0,
                                 l->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_result *dot(gpu *g, uint64_t mib, kmb_cache_state cache,
                       bool warm_activations) {
  static const char *const names[] = {"weights", "activations", "out"};
  dot_work w = {g, gpu_kernel(g, "test_dot"),
                (uint32_t)((mib << 20) / (ROW * sizeof(float)))};
  kmb_buffer_desc d[3] = {kmb_buffer_desc_init(), kmb_buffer_desc_init(),
                          kmb_buffer_desc_init()};
  kmb_buffers *buffers = NULL;
  for (int i = 0; i < 3; i++) {
    d[i].name = names[i];
    d[i].dtype = KMB_F32;
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].bytes = i < 2 ? mib << 20 : w.rows * sizeof(float);
  }
  if (warm_activations) d[1].residency = KMB_RESIDENT_WARM;
  if (kmb_buffers_create(g->device, d, sizeof d[0], 3, NULL, &buffers)) {
    fprintf(stderr, "dot: %s\n", kmb_last_error(NULL, NULL));
    return NULL;
  }
  kmb_bench_params p = params_for(plain, cache);
  p.launch = dot_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  kmb_result *r = bench(g, &p, "dot");
  kmb_buffers_destroy(buffers);
  return r;
}

static void time_dot(gpu *g, FILE *json, uint64_t mib) {
  static const struct {
    const char *key;
    kmb_cache_state cache;
    bool warm;
  } cases[] = {{"all_cold", KMB_CACHE_COLD, false},
               {"weights_cold", KMB_CACHE_COLD, true},
               {"all_warm", KMB_CACHE_WARM, false}};
  double us[3] = {0};
  fprintf(json, "  {\"mib_each\": %llu", (unsigned long long)mib);
  printf("dot of %llu MiB each", (unsigned long long)mib);
  for (int i = 0; i < 3; i++) {
    kmb_result *r = dot(g, mib, cases[i].cache, cases[i].warm);
    if (r) us[i] = trimmed_mean_of(r, NULL) / 1e3;
    fputs(",\n   ", json);
    print_result(json, cases[i].key, r);
    printf("  %s %.3f", cases[i].key, us[i]);
    kmb_result_destroy(r);
  }
  bool between = us[2] < us[1] && us[1] < us[0];
  puts(between ? "  between" : "  NOT between*");
  fprintf(json, ",\n   \"between\": %s}", between ? "true" : "false");
}

int main(int argc, char **argv) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  flush f = {.g = &g, .words = (size_t)(2 * g.llc / 4)};
  CU(&g, cuMemAlloc, &f.memory, 2 * g.llc);
  puts("us, trimmed means of TRACE on plain launches");
  fprintf(json, "\"moves\": [\n");
  for (int i = 0; i < 4; i++) {
    uint64_t mib = i % 2 ? 32 : 8;
    fprintf(json, "%s  {\"kind\": \"%s\", \"mib\": %llu", i ? ",\n" : "",
            i / 2 ? "copy" : "read", (unsigned long long)mib);
    time_move(&g, json, mib, i / 2, &f);
  }
  fprintf(json, "],\n\"weights_and_activations\": [\n");
  time_dot(&g, json, 4);
  fprintf(json, ",\n");
  time_dot(&g, json, 8);
  fprintf(json, "]}\n");
  CU(&g, cuMemFree, f.memory);
  gpu_close(&g);
  return report_close(json);
}
