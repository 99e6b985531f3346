/* What peers_torch.py measures from Python, measured from C in the same process
 * on the same memory: copies and bf16 products, captured by the library or
 * launched plainly. The product's launch is there for both sides. */
#include <kmb/cuda.h>
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../../examples/cuda_gemm/blas.h"

/* A copy of `bytes`, or a product of `tokens` rows of `inner` with `rows` such.
 * `memory` is from, to; or weights, activations, out. */
typedef struct c_point {
  uint64_t bytes;
  void *memory[3];
  int32_t rows, inner, tokens, plain;
} c_point;

KMB_API kmb_status c_side_product(const c_point *at, void *stream);
KMB_API kmb_status c_side_bench(kmb_device *device, const c_point *at,
                                double max_wall_ns, double warmup_ns,
                                const char *path);

/* One for both sides, made outside of captures: c_side_product() on any stream
 * comes first. */
static kmb_status prepared(blas **found) {
  static blas *b;
  const char *why = NULL;
  if (!b) b = blas_open(&why);
  if (why && !b) fprintf(stderr, "c_side: %s\n", why);
  *found = b;
  return b ? blas_prepare(b) : KMB_ERR_UNAVAILABLE;
}

kmb_status c_side_product(const c_point *at, void *stream) {
  blas *b = NULL;
  kmb_status status = prepared(&b);
  if (status) return status;
  return blas_project(b, stream, at->memory[0], at->memory[1], at->memory[2],
                      at->rows, at->inner, at->tokens);
}

static kmb_status setup(void *user, uint32_t slot, uint32_t config) {
  const c_point *at = user;
  blas *b = NULL;
  (void)slot, (void)config;
  return at->rows ? prepared(&b) : KMB_OK;
}

static kmb_status copy(const c_point *at, const kmb_launch *l) {
  static unsigned (*function)(uintptr_t to, uintptr_t from, size_t bytes,
                              void *stream);
  if (!l->stream) {
    memcpy(l->args[1], l->args[0], at->bytes);
    return KMB_OK;
  }
  void *driver = function ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
  if (driver) *(void **)&function = dlsym(driver, "cuMemcpyDtoDAsync_v2");
  if (!function) return KMB_ERR_UNAVAILABLE;
  return kmb_cuda_status((int)function(
      (uintptr_t)l->args[1], (uintptr_t)l->args[0], at->bytes, l->stream));
}

static kmb_status launch(void *user, const kmb_launch *l) {
  c_point at = *(const c_point *)user;
  if (!at.rows) return copy(&at, l);
  for (int i = 0; i < 3; i++)
    at.memory[i] = l->args[i];
  return c_side_product(&at, l->stream);
}

static kmb_status describe(kmb_device *device, const c_point *at,
                           kmb_buffers **buffers) {
  uint64_t rows = (uint64_t)at->rows;
  uint64_t inner = (uint64_t)at->inner;
  uint64_t tokens = (uint64_t)at->tokens;
  uint64_t bytes[] = {2 * rows * inner, 2 * tokens * inner, 2 * tokens * rows};
  static const char *const names[] = {"first", "second", "third"};
  kmb_buffer_desc d[3];
  int count = at->rows ? 3 : 2;
  for (int i = 0; i < count; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].dtype = at->rows ? KMB_BF16 : KMB_F32;
    d[i].role = i < count - 1 ? KMB_INPUT : KMB_OUTPUT;
    d[i].bytes = at->rows ? bytes[i] : at->bytes;
    d[i].residency = at->rows && i ? KMB_RESIDENT_WARM : KMB_RESIDENT_COLD;
    d[i].fill = KMB_FILL_CALLER;
    d[i].pointers = &at->memory[i];
    d[i].pointer_count = 1;
  }
  return kmb_buffers_create(device, d, sizeof d[0], (uint64_t)count, NULL,
                            buffers);
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static kmb_status save(const kmb_result *result, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return KMB_ERR_IO;
  kmb_status status = kmb_result_write_json(result, write_to, file);
  if (fclose(file) && !status) status = KMB_ERR_IO;
  return status;
}

kmb_status c_side_bench(kmb_device *device, const c_point *at,
                        double max_wall_ns, double warmup_ns,
                        const char *path) {
  const char *backend = NULL;
  kmb_buffers *buffers = NULL;
  kmb_result *result = NULL;
  c_point point = *at;
  kmb_bench_params p = kmb_bench_params_init();
  kmb_status status =
      kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &backend);
  if (!status) status = describe(device, at, &buffers);
  p.name = "from C";
  p.launch = launch;
  p.setup = setup;
  p.launch_user = p.setup_user = &point;
  p.buffers = buffers;
  p.max_wall_ns = max_wall_ns;
  p.warmup_ns = warmup_ns;
  p.flags = KMB_BENCH_NO_CONFIRM;
  if (backend && strcmp(backend, "host") != 0) {
    p.launch_mode = at->plain ? KMB_LAUNCH_PLAIN : KMB_LAUNCH_GRAPH;
    p.flags |= KMB_BENCH_REQUIRE_LAUNCH;
  }
  if (!status) status = kmb_bench(device, &p, &result);
  if (!status) status = save(result, path);
  kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  return status;
}
