/* Kernels that let the next one start before they end (programmatic dependent
 * launch): iterations must not overlap, or what is timed is less than a
 * kernel takes. */
#include <dlfcn.h>
#include <stdio.h>

#include <kmb/cuda.h>

#include "../require.h"
#include "gpu.h"

static const char ptx[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry dependent_spin(.param .u64 cycles) {\n"
    "  .reg .pred %p;\n"
    "  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [cycles];\n"
    "  griddepcontrol.launch_dependents;\n"
    "  mov.u64 %rd2, %clock64;\n"
    "again:\n"
    "  mov.u64 %rd3, %clock64;\n"
    "  sub.u64 %rd3, %rd3, %rd2;\n"
    "  setp.lt.u64 %p, %rd3, %rd1;\n"
    "  @%p bra again;\n"
    "  ret;\n"
    "}\n";

/* CUlaunchAttribute and CUlaunchConfig of the toolkit's cuda.h. */
typedef struct attribute {
  unsigned id, pad;
  int32_t value[16];
} attribute;

typedef struct config {
  unsigned grid[3], block[3], shared;
  void *stream;
  attribute *attributes;
  unsigned count;
} config;

enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6, US = 20 };

typedef struct work {
  kmbi_cu_function kernel;
  uint64_t cycles;
  kmbi_cu_result (*launch)(const config *, kmbi_cu_function, void **, void **);
} work;

static kmb_status launch(void *user, const kmb_launch *l) {
  work *w = user;
  attribute programmatic = {PROGRAMMATIC_STREAM_SERIALIZATION, 0, {1}};
  config c = {{1, 1, 1}, {1, 1, 1}, 0, l->stream, &programmatic, 1};
  void *arguments[] = {&w->cycles};
  return kmb_cuda_status((int)w->launch(&c, w->kernel, arguments, NULL));
}

static bool finds(const kmb_result *r, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &f));
    if (f.code == code) return true;
  }
  return false;
}

int main(void) {
  gpu g;
  gpu_open(&g, "cuda:0", NULL);
  kmbi_cu_module module = NULL;
  work w = {.cycles = (uint64_t)(US * 1e3 * g.ghz)};
  if (g.cu.cuModuleLoadData(&module, ptx)) {
    puts("SKIPPED: no programmatic launches before sm_90");
    return 77;
  }
  CU(&g, cuModuleGetFunction, &w.kernel, module, "dependent_spin");
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  *(void **)(&w.launch) = dlsym(library, "cuLaunchKernelEx");
  REQUIRE(w.launch);
  int wrong = 0;
  for (kmb_timer timer = KMB_TIMER_TRACE; timer <= KMB_TIMER_HOST; timer++)
    for (kmb_launch_mode mode = KMB_LAUNCH_PLAIN; mode <= KMB_LAUNCH_GRAPH;
         mode++) {
      kmb_result *r = NULL;
      kmb_bench_params p = kmb_bench_params_init();
      p.launch = launch;
      p.launch_user = &w;
      p.timer = timer;
      p.launch_mode = mode;
      p.cache = KMB_CACHE_WARM;
      p.flags = KMB_BENCH_NO_CONFIRM;
      if (timer == KMB_TIMER_GRAPH && mode == KMB_LAUNCH_PLAIN) continue;
      REQUIRE_OK(kmb_bench(g.device, &p, &r));
      double us = result_f64(r, KMB_VALUE_TIME, 0) / 1e3;
      bool told = finds(r, KMB_FINDING_ITERATIONS_OVERLAP);
      printf("  %d %d: %s on %s launches: %.3f us%s\n", timer, mode,
             result_text(r, KMB_VALUE_TIMER),
             result_text(r, KMB_VALUE_LAUNCH_MODE), us,
             told ? ", overlap is told" : "");
      if (us < 0.98 * US || told) {
        print_findings(r);
        wrong++;
      }
      kmb_result_destroy(r);
    }
  CU(&g, cuModuleUnload, module);
  gpu_close(&g);
  REQUIRE_EQ(wrong, 0);
  puts("ok iterations_of_dependent_launches_do_not_overlap");
  return 0;
}
