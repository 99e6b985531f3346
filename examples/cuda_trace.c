/* Records a small pipeline on a GPU and says where the GPU waited: each step
 * copies a block to the device, scales it there, copies it back, waits for it
 * and adds it up on the host. The driver is opened at run time: the program
 * builds and starts everywhere and says so where there is no GPU.
 *
 * usage: cuda_trace [DEVICE [TRACE.json]]    ("cuda:0", "cuda_trace.json")
 *
 * The file is Chrome JSON: open it in Perfetto, or give it to `kmb gaps` and
 * `kmb plot timeline`. */
#include <kmb/cuda.h>
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "usage.h"

enum { STEPS = 20, FLOATS = 1 << 20, BYTES = 4 * FLOATS, BLOCK = 256 };

/* What is used of the driver: X(field, symbol, arguments). */
#define DRIVER(X)                                                        \
  X(get_device, "cuDeviceGet", (int *device, int ordinal))               \
  X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))    \
  X(release, "cuDevicePrimaryCtxRelease_v2", (int device))               \
  X(set_context, "cuCtxSetCurrent", (void *context))                     \
  X(load, "cuModuleLoadData", (void **module, const void *text))         \
  X(unload, "cuModuleUnload", (void *module))                            \
  X(find, "cuModuleGetFunction",                                         \
    (void **function, void *module, const char *name))                   \
  X(alloc, "cuMemAlloc_v2", (uintptr_t * pointer, size_t bytes))         \
  X(free, "cuMemFree_v2", (uintptr_t pointer))                           \
  X(alloc_host, "cuMemHostAlloc",                                        \
    (void **pointer, size_t bytes, unsigned flags))                      \
  X(free_host, "cuMemFreeHost", (void *pointer))                         \
  X(copy_in, "cuMemcpyHtoDAsync_v2",                                     \
    (uintptr_t to, const void *from, size_t bytes, void *stream))        \
  X(copy_out, "cuMemcpyDtoHAsync_v2",                                    \
    (void *to, uintptr_t from, size_t bytes, void *stream))              \
  X(launch, "cuLaunchKernel",                                            \
    (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
     unsigned by, unsigned bz, unsigned shared, void *stream,            \
     void **arguments, void **extra))                                    \
  X(wait, "cuStreamSynchronize", (void *stream))

#define FIELD(field, symbol, arguments) unsigned(*field) arguments;
typedef struct driver {
  DRIVER(FIELD)
} driver;
#undef FIELD

/* x[i] *= factor */
static const char kernel_text[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry scale(.param .u64 x, .param .f32 factor) {\n"
    ".reg .b64 %p<4>; .reg .b32 %r<5>; .reg .f32 %f<3>;\n"
    "ld.param.u64 %p1, [x]; ld.param.f32 %f1, [factor];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %p2, %r4, 4;\n"
    "add.u64 %p3, %p1, %p2; ld.global.f32 %f2, [%p3];\n"
    "mul.f32 %f2, %f2, %f1; st.global.f32 [%p3], %f2; ret;\n}\n";

typedef struct pipeline {
  driver cu;
  int device;
  void *context, *module, *scale, *host;
  uintptr_t memory;
  double sum;
} pipeline;

static int failed(const char *what) {
  fprintf(stderr, "cuda_trace: %s: %s\n", what, kmb_last_error(NULL, NULL));
  return 1;
}

static bool load_driver(driver *cu) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  bool good = library != NULL;
#define LOOK_UP(field, symbol, arguments)                    \
  if (good) *(void **)(&cu->field) = dlsym(library, symbol); \
  good = good && cu->field;
  DRIVER(LOOK_UP)
#undef LOOK_UP
  return good;
}

static kmb_status set_up(pipeline *p) {
  const driver *cu = &p->cu;
  unsigned result = cu->get_device(&p->device, 0);
  if (!result) result = cu->retain(&p->context, p->device);
  if (!result) result = cu->set_context(p->context);
  if (!result) result = cu->load(&p->module, kernel_text);
  if (!result) result = cu->find(&p->scale, p->module, "scale");
  if (!result) result = cu->alloc(&p->memory, BYTES);
  if (!result) result = cu->alloc_host(&p->host, BYTES, 0);
  for (int i = 0; i < FLOATS && !result; i++)
    ((float *)p->host)[i] = 1.0f;
  return kmb_cuda_status((int)result);
}

static void tear_down(const pipeline *p) {
  const driver *cu = &p->cu;
  if (p->host) cu->free_host(p->host);
  if (p->memory) cu->free(p->memory);
  if (p->module) cu->unload(p->module);
  if (!p->context) return;
  cu->set_context(NULL);
  cu->release(p->device);
}

static kmb_status step(pipeline *p) {
  const driver *cu = &p->cu;
  float factor = 1.01f;
  void *arguments[] = {&p->memory, &factor};
  unsigned result = cu->copy_in(p->memory, p->host, BYTES, NULL);
  if (!result)
    result = cu->launch(p->scale, FLOATS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                        arguments, NULL);
  if (!result) result = cu->copy_out(p->host, p->memory, BYTES, NULL);
  if (!result) result = cu->wait(NULL);
  for (int i = 0; i < FLOATS && !result; i++)
    p->sum += ((const float *)p->host)[i];
  return kmb_cuda_status((int)result);
}

/* The first step loads what the others find there, so it is not recorded. */
static kmb_status record(kmb_device *device, pipeline *p, kmb_trace **trace) {
  kmb_recording *recording = NULL;
  kmb_status status = step(p);
  if (!status) status = kmb_trace_begin(device, NULL, &recording);
  for (int i = 0; i < STEPS && !status; i++) {
    status = kmb_trace_range_begin(recording, "step");
    if (!status) status = step(p);
    if (!status) status = kmb_trace_range_end(recording);
  }
  if (!status) return kmb_trace_end(recording, trace);
  kmb_trace_abandon(recording);
  return status;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int report(const kmb_trace *trace, const char *path) {
  kmb_gaps *gaps = NULL;
  kmb_gaps_params p = kmb_gaps_params_init();
  p.kernel = "scale";
  kmb_status status = kmb_gaps_analyse(trace, &p, &gaps);
  if (!status) status = kmb_gaps_write_text(gaps, write_to, stdout);
  kmb_gaps_destroy(gaps);
  if (status) return failed("gaps");
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    return 1;
  }
  status = kmb_trace_write_chrome(trace, write_to, file);
  if (fclose(file) || status) {
    fprintf(stderr, "cuda_trace: %s could not be written\n", path);
    return 1;
  }
  printf("\n%s holds the trace\n", path);
  return 0;
}

static const char usage[] =
    "usage: cuda_trace [DEVICE [TRACE.json]]\n"
    "DEVICE is cuda:0 unless given, TRACE.json cuda_trace.json.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 2, usage);
  if (asked >= 0) return asked;
  const char *name = argc > 1 ? argv[1] : "cuda:0";
  kmb_device *device = NULL;
  kmb_trace *trace = NULL;
  pipeline p = {.sum = 0};
  kmb_status status = kmb_device_open(name, NULL, &device);
  if (status == KMB_ERR_UNAVAILABLE) {
    printf("There is no GPU to measure: %s.\n", kmb_last_error(NULL, NULL));
    return 77; /* as tests that are skipped end */
  }
  if (status) return failed(name);
  if (strncmp(name, "cuda", 4) != 0 || !load_driver(&p.cu)) {
    fprintf(stderr, "cuda_trace: %s is no device of CUDA's\n", name);
    kmb_device_close(device);
    return 1;
  }
  status = set_up(&p);
  if (!status) status = record(device, &p, &trace);
  int code = status ? failed("recording")
                    : report(trace, argc > 2 ? argv[2] : "cuda_trace.json");
  kmb_trace_destroy(trace);
  tear_down(&p);
  kmb_device_close(device);
  return code;
}
