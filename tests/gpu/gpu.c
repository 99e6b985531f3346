#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels.ptx.h"

enum { SKIPPED = 77 };

double gpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

bool gpu_cupti_is_busy(void) {
  const char *said = getenv("KMB_TEST_CUPTI"); // NOLINT(concurrency-mt-unsafe)
  return said && strcmp(said, "busy") == 0;
}

bool gpu_driver(kmbi_cu_driver *cu) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return false;
#define LOOK_UP(name, version, symbol, need, arguments) \
  *(void **)(&cu->name) = dlsym(library, symbol);
  KMBI_CU_MAP(LOOK_UP)
#undef LOOK_UP
  return cu->cuInit && cu->cuLaunchKernel;
}

void gpu_must(const gpu *g, kmbi_cu_result result, const char *what, int line) {
  const char *name = NULL;
  if (!result) return;
  (void)g->cu.cuGetErrorName(result, &name);
  fprintf(stderr, "line %d: %s failed: %s (%u)\n", line, what,
          name ? name : "?", result);
  exit(1);
}

/* Counts cycles over a time of the host's clock that is long beside a launch's
 * jitter. */
static double measure_ghz(gpu *g) {
  kmbi_cu_function spin = gpu_kernel(g, "test_spin");
  kmbi_cu_pointer out = 0;
  uint64_t counted[2] = {0, 0};
  double passed[2] = {0, 0};
  CU(g, cuMemAlloc, &out, 16);
  for (int round = 0; round < 4; round++) {
    uint64_t cycles = round % 2 ? 200000000 : 20000000;
    void *arguments[] = {&cycles, &out};
    double start = gpu_now();
    CU(g, cuLaunchKernel, spin, 1, 1, 1, 1, 1, 1, 0, g->stream, arguments,
       NULL);
    while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
    }
    passed[round % 2] = gpu_now() - start;
    CU(g, cuMemcpyDtoHAsync, &counted[round % 2], out, 8, g->stream);
    while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
    }
  }
  CU(g, cuMemFree, out);
  return (double)(counted[1] - counted[0]) / (passed[1] - passed[0]);
}

static void print_log(void *user, kmb_log_level level, const char *message) {
  (void)user;
  fprintf(stderr, "    log %d: %s\n", (int)level, message);
}

void gpu_open(gpu *g, const char *name, const kmb_device_params *params) {
  gpu_open_quietly(g, name, params);
  g->ghz = measure_ghz(g);
}

void gpu_open_quietly(gpu *g, const char *name,
                      const kmb_device_params *callers) {
  kmb_hooks hooks = kmb_hooks_init();
  kmb_device_params own = kmb_device_params_init();
  const kmb_device_params *params = callers ? callers : &own;
  hooks.log = print_log;
  own.hooks = &hooks;
  memset(g, 0, sizeof *g);
  if (!gpu_driver(&g->cu)) {
    puts("SKIPPED: there is no CUDA driver on this machine");
    exit(SKIPPED);
  }
  kmb_status status = kmb_device_open(name, params, &g->device);
  if (status == KMB_ERR_UNAVAILABLE) {
    printf("SKIPPED: %s\n", kmb_last_error(NULL, NULL));
    exit(SKIPPED);
  }
  if (status) {
    fprintf(stderr, "%s: %s\n", name, kmb_last_error(NULL, NULL));
    exit(1);
  }
  CU(g, cuDeviceGet, &g->ordinal,
     (int)strtol(name + strlen("cuda:"), NULL, 10));
  CU(g, cuDevicePrimaryCtxRetain, &g->context, g->ordinal);
  CU(g, cuCtxSetCurrent, g->context);
  CU(g, cuModuleLoadData, &g->module, gpu_kernels_ptx);
  CU(g, cuStreamCreate, &g->stream, KMBI_CU_STREAM_NON_BLOCKING);
  (void)kmb_device_attr_u64(g->device, KMB_DEVICE_LLC_BYTES, &g->llc);
}

void gpu_close(gpu *g) {
  kmb_device_close(g->device);
  CU(g, cuStreamDestroy, g->stream);
  CU(g, cuModuleUnload, g->module);
  CU(g, cuCtxSetCurrent, NULL);
  CU(g, cuDevicePrimaryCtxRelease, g->ordinal);
}

const char *gpu_ptx(void) {
  return gpu_kernels_ptx;
}

kmbi_cu_function gpu_kernel(gpu *g, const char *name) {
  kmbi_cu_function function = NULL;
  CU(g, cuModuleGetFunction, &function, g->module, name);
  return function;
}

kmb_status spin_launch(void *user, const kmb_launch *launch) {
  spin_work *w = user;
  kmbi_cu_pointer out = w->out;
  if (out && w->ring) out += 16 * (launch->iteration % w->ring);
  void *arguments[] = {&w->cycles, &out};
  return w->g->cu.cuLaunchKernel(w->kernel, 1, 1, 1, 1, 1, 1, 0, launch->stream,
                                 arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

kmb_status move_launch(void *user, const kmb_launch *launch) {
  move_work *w = user;
  void *from = launch->args[0];
  void *to = w->copies ? launch->args[1] : (void *)(uintptr_t)w->sink;
  uint64_t count = w->bytes / 16;
  void *arguments[] = {&from, &to, &count};
  return w->g->cu.cuLaunchKernel(w->kernel, 1056, 1, 1, 512, 1, 1, 0,
                                 launch->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

kmb_buffers *move_buffers(gpu *g, uint64_t bytes, bool copies, uint32_t slots) {
  kmb_buffer_desc descs[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers_params params = kmb_buffers_params_init();
  kmb_buffers *buffers = NULL;
  params.slots = slots;
  for (int i = 0; i < 2; i++) {
    descs[i].name = i ? "to" : "from";
    descs[i].bytes = bytes;
    descs[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    descs[i].dtype = KMB_F32;
  }
  if (kmb_buffers_create(g->device, descs, sizeof descs[0], copies ? 2 : 1,
                         &params, &buffers)) {
    fprintf(stderr, "buffers: %s\n", kmb_last_error(NULL, NULL));
    exit(1);
  }
  return buffers;
}

double result_f64(const kmb_result *result, kmb_value value, double absent) {
  double number = 0;
  return kmb_result_f64(result, value, &number) ? absent : number;
}

uint64_t result_u64(const kmb_result *result, kmb_value value) {
  uint64_t number = 0;
  return kmb_result_u64(result, value, &number) ? 0 : number;
}

const char *result_text(const kmb_result *result, kmb_value value) {
  const char *text = NULL;
  return kmb_result_text(result, value, &text) ? "" : text;
}

void print_findings(const kmb_result *result) {
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++) {
    kmb_finding f = kmb_finding_init();
    if (kmb_result_finding(result, i, &f)) continue;
    fprintf(stderr, "    %s: %s\n", kmb_finding_name(f.code), f.message);
  }
}
