/* Measures matrix products of hipBLAS on an AMD GPU: square ones, and the flat
 * ones of a language model that decodes. hipBLAS is opened at run time: the
 * program builds and starts everywhere, and says so where there is no GPU.
 *
 * usage: hip_gemm [DEVICE [RESULT.json]]    ("hip:0", "hip_gemm.json") */
#include <kmb/hip.h>
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cold.h"
#include "usage.h"

enum { SKIPPED = 77, NOT_TRANSPOSED = 111, CHECKED = 64 };
#define TOLERANCE 1e-4

/* What is used of hipBLAS. */
typedef struct blas {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*set_stream)(void *handle, void *stream);
  int (*sgemm)(void *handle, int a_as, int b_as, int m, int n, int k,
               const float *alpha, const float *a, int lda, const float *b,
               int ldb, const float *beta, float *c, int ldc);
  void *handle;
} blas;

typedef struct gemm { /* C = A B by columns: m × n, m × k, k × n */
  const blas *with;
  int m, n, k;
} gemm;

static kmb_status launch(void *user, const kmb_launch *l) {
  const gemm *g = user;
  const blas *b = g->with;
  const float one = 1;
  const float zero = 0;
  if (b->set_stream(b->handle, l->stream)) return KMB_ERR_VENDOR;
  int result = b->sgemm(b->handle, NOT_TRANSPOSED, NOT_TRANSPOSED, g->m, g->n,
                        g->k, &one, l->args[0], g->m, l->args[1], g->k, &zero,
                        l->args[2], g->m);
  return result ? KMB_ERR_VENDOR : KMB_OK;
}

/* Some elements, spread over the product, against sums in double. */
static kmb_status check(void *user, kmb_check *c) {
  const gemm *g = user;
  const float *a = c->before[0], *b = c->before[1], *product = c->after[2];
  c->error = 0;
  for (size_t i = 0; i < CHECKED; i++) {
    size_t row = i * 7919 % (size_t)g->m;
    size_t column = i * 104729 % (size_t)g->n;
    double sum = 0;
    double size = 0;
    for (size_t x = 0; x < (size_t)g->k; x++) {
      double term =
          (double)a[row + x * (size_t)g->m] * b[x + column * (size_t)g->k];
      sum += term;
      size += fabs(term);
    }
    double got = product[row + column * (size_t)g->m];
    c->error = fmax(c->error, fabs(got - sum) / size);
  }
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int failed(const char *what) {
  fprintf(stderr, "hip_gemm: %s: %s\n", what, kmb_last_error(NULL, NULL));
  return 1;
}

static kmb_status make_buffers(kmb_device *device, const gemm *g,
                               kmb_buffers **buffers) {
  static const char *const names[] = {"a", "b", "c"};
  const uint64_t m = (uint64_t)g->m, n = (uint64_t)g->n, k = (uint64_t)g->k;
  const uint64_t elements[] = {m * k, k * n, m * n};
  kmb_buffer_desc d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].role = i == 2 ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = 4 * elements[i];
  }
  return kmb_buffers_create(device, d, sizeof d[0], 3, NULL, buffers);
}

static kmb_status measure(kmb_device *device, gemm *g, kmb_results *results) {
  char sizes[3][16];
  kmb_pair axes[] = {{"m", sizes[0]}, {"n", sizes[1]}, {"k", sizes[2]}};
  kmb_buffers *buffers = NULL;
  kmb_result *result = NULL;
  kmb_work work = kmb_work_init();
  snprintf(sizes[0], sizeof sizes[0], "%d", g->m);
  snprintf(sizes[1], sizeof sizes[1], "%d", g->n);
  snprintf(sizes[2], sizeof sizes[2], "%d", g->k);
  kmb_status status = make_buffers(device, g, &buffers);
  if (!status)
    status = kmb_work_gemm((uint64_t)g->m, (uint64_t)g->n, (uint64_t)g->k,
                           KMB_F32, &work);
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "hipblasSgemm";
  p.axes = axes;
  p.axis_count = 3;
  p.launch = launch;
  p.launch_user = g;
  p.check = check;
  p.check_user = g;
  p.tolerance = TOLERANCE;
  p.buffers = buffers;
  p.work = &work;
  p.flags = KMB_BENCH_CONFIRM_COLD;
  if (!status) status = kmb_bench(device, &p, &result);
  if (!status) status = kmb_results_add(results, result);
  if (status) kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  return status;
}

static kmb_status measure_all(kmb_device *device, const blas *with,
                              kmb_results *results) {
  static const int shapes[][3] = {{1024, 1024, 1024}, {2048, 2048, 2048},
                                  {4096, 4096, 4096}, {4096, 1, 4096},
                                  {4096, 8, 4096},    {4096, 64, 4096}};
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < sizeof shapes / sizeof shapes[0]; i++) {
    gemm g = {with, shapes[i][0], shapes[i][1], shapes[i][2]};
    status = measure(device, &g, results);
  }
  return status;
}

static int report(const kmb_results *results, const char *path) {
  if (kmb_results_write_table(results, write_to, stdout))
    return failed("table");
  say_cold(results);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    return 1;
  }
  kmb_status status = kmb_results_write_json(results, write_to, file);
  if (fclose(file) || status) {
    fprintf(stderr, "hip_gemm: %s could not be written\n", path);
    return 1;
  }
  printf("%s holds all of it\n", path);
  return 0;
}

/* The major number follows ROCm's: 7, 6, 5. */
static bool open_blas(blas *b) {
  static const char *const names[] = {"libhipblas.so.3", "libhipblas.so.2",
                                      "libhipblas.so.0"};
  void *library = NULL;
  for (int i = 0; !library && i < 3; i++)
    library = dlopen(names[i], RTLD_NOW);
  if (!library) return false;
  *(void **)&b->create = dlsym(library, "hipblasCreate");
  *(void **)&b->destroy = dlsym(library, "hipblasDestroy");
  *(void **)&b->set_stream = dlsym(library, "hipblasSetStream");
  *(void **)&b->sgemm = dlsym(library, "hipblasSgemm");
  return b->create && b->destroy && b->set_stream && b->sgemm &&
         b->create(&b->handle) == 0;
}

static int run(kmb_device *device, const char *path) {
  blas b = {.handle = NULL};
  kmb_results *results = NULL;
  if (!open_blas(&b)) {
    puts("There is a GPU but no hipBLAS to measure (libhipblas.so).");
    return SKIPPED;
  }
  kmb_status status = kmb_results_create(NULL, &results);
  if (!status) status = measure_all(device, &b, results);
  int code = status ? failed("gemm") : report(results, path);
  kmb_results_destroy(results);
  (void)b.destroy(b.handle);
  return code;
}

static const char usage[] =
    "usage: hip_gemm [DEVICE [RESULT.json]]\n"
    "DEVICE is hip:0 unless given, RESULT.json hip_gemm.json.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 2, usage);
  if (asked >= 0) return asked;
  const char *name = argc > 1 ? argv[1] : "hip:0";
  const char *backend = "";
  kmb_device *device = NULL;
  kmb_status status = kmb_device_open(name, NULL, &device);
  if (status == KMB_ERR_UNAVAILABLE) {
    printf("There is no AMD GPU to measure: %s.\n", kmb_last_error(NULL, NULL));
    return SKIPPED; /* as tests that are skipped end */
  }
  if (status) return failed(name);
  int code = 1;
  if (kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &backend) ||
      strcmp(backend, "hip") != 0)
    fprintf(stderr, "hip_gemm: %s is no device of HIP's\n", name);
  else
    code = run(device, argc > 2 ? argv[2] : "hip_gemm.json");
  kmb_device_close(device);
  return code;
}
