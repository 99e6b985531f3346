/* The seven matrix products of one layer of Llama-3.1-8B in bf16 through
 * cuBLAS, at 1, 8 and 2048 tokens: each checked, measured with cold weights and
 * warm activations, and set beside its work. cuBLAS and the driver are opened
 * at run time.
 *
 * usage: cuda_gemm [DEVICE [RESULT.json]]    ("cuda:0", "cuda_gemm.json") */
#include <kmb/kmb.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cold.h"
#include "../usage.h"
#include "blas.h"
#include "sampled.h"

typedef struct projection {
  const char *name;
  int rows, inner;
} projection;

static const projection projections[] = {
    {"q", 4096, 4096},     {"k", 1024, 4096},     {"v", 1024, 4096},
    {"o", 4096, 4096},     {"gate", 14336, 4096}, {"up", 14336, 4096},
    {"down", 4096, 14336},
};
static const int batches[] = {1, 8, 2048};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* One projection at one batch size. */
typedef struct point {
  const projection *p;
  blas *b;
  int tokens;
} point;

static kmb_status setup(void *user, uint32_t slot, uint32_t config) {
  const point *at = user;
  (void)slot;
  (void)config;
  return blas_prepare(at->b);
}

static kmb_status launch(void *user, const kmb_launch *l) {
  const point *at = user;
  return blas_project(at->b, l->stream, l->args[0], l->args[1], l->args[2],
                      at->p->rows, at->p->inner, at->tokens);
}

static kmb_status check(void *user, kmb_check *c) {
  const point *at = user;
  c->error = sampled_error(c->before[0], c->before[1], c->after[2],
                           (size_t)at->p->rows, (size_t)at->p->inner,
                           (size_t)at->tokens);
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

/* The weights come from memory each time; the activations were just written. */
static kmb_status make_buffers(kmb_device *device, const point *at,
                               kmb_buffers **buffers) {
  static const char *const names[] = {"weights", "activations", "out"};
  uint64_t rows = (uint64_t)at->p->rows;
  uint64_t inner = (uint64_t)at->p->inner;
  uint64_t tokens = (uint64_t)at->tokens;
  uint64_t elements[] = {rows * inner, tokens * inner, tokens * rows};
  kmb_buffer_desc d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].dtype = KMB_BF16;
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].residency = i ? KMB_RESIDENT_WARM : KMB_RESIDENT_COLD;
    d[i].bytes = 2 * elements[i];
  }
  return kmb_buffers_create(device, d, sizeof d[0], 3, NULL, buffers);
}

static kmb_status measure(kmb_device *device, point *at, kmb_results *results) {
  char tokens[16], shape[48];
  kmb_buffers *buffers = NULL;
  kmb_result *result = NULL;
  kmb_work work = kmb_work_init();
  kmb_pair axes[] = {{"projection", at->p->name},
                     {"tokens", tokens},
                     {"shape", shape},
                     {"dtype", "bf16"}};
  snprintf(tokens, sizeof tokens, "%d", at->tokens);
  snprintf(shape, sizeof shape, "%dx%d", at->p->rows, at->p->inner);
  kmb_status status = make_buffers(device, at, &buffers);
  if (!status)
    status = kmb_work_gemm((uint64_t)at->tokens, (uint64_t)at->p->rows,
                           (uint64_t)at->p->inner, KMB_BF16, &work);
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "llama-3.1-8b";
  p.axes = axes;
  p.axis_count = COUNT(axes);
  p.setup = setup;
  p.setup_user = at;
  p.launch = launch;
  p.launch_user = at;
  p.check = check;
  p.check_user = at;
  p.tolerance = 1;
  p.buffers = buffers;
  p.work = &work;
  /* It takes some tenths of a second: once for each number of tokens. */
  if (at->p == projections) p.flags = KMB_BENCH_CONFIRM_COLD;
  if (!status) status = kmb_bench(device, &p, &result);
  if (!status) status = kmb_results_add(results, result);
  if (status) kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  return status;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int failed(const char *what) {
  fprintf(stderr, "cuda_gemm: %s: %s\n", what, kmb_last_error(NULL, NULL));
  return 1;
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
    fprintf(stderr, "cuda_gemm: %s could not be written\n", path);
    return 1;
  }
  printf("%s holds all of it\n", path);
  return 0;
}

/* The largest product once more, beside what the matrix units and the memory
 * were measured to reach: a limit is the datasheet, this is what a library has
 * reached on this very GPU. */
static void compare(kmb_device *device, const kmb_results *results) {
  const kmb_result *last = NULL;
  kmb_work work = kmb_work_init();
  kmb_ceiling memory = kmb_ceiling_init(), compute = kmb_ceiling_init();
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline measured = kmb_roofline_init();
  double sol = 0;
  const projection *p = &projections[COUNT(projections) - 1];
  uint64_t tokens = (uint64_t)batches[COUNT(batches) - 1];
  kmb_status status =
      kmb_results_get(results, kmb_results_count(results) - 1, &last);
  if (!status)
    status = kmb_work_gemm(tokens, (uint64_t)p->rows, (uint64_t)p->inner,
                           KMB_BF16, &work);
  if (!status)
    status = kmb_device_ceiling(device, KMB_CEILING_READ, 0, 0, &memory);
  if (!status)
    status =
        kmb_device_ceiling(device, KMB_CEILING_MATRIX, KMB_BF16, 0, &compute);
  params.work = &work;
  params.memory = &memory;
  params.compute = &compute;
  if (!status) status = kmb_result_f64(last, KMB_VALUE_TIME, &params.time_ns);
  if (!status) status = kmb_roofline_evaluate(&params, &measured);
  if (status) {
    printf("No measured ceilings: %s.\n", kmb_last_error(NULL, NULL));
    return;
  }
  printf("%s at %" PRIu64 " tokens: %.1f%% of what was measured on this GPU "
         "(%.0f TFLOP/s, %s)",
         p->name, tokens, measured.sol_pct, compute.value / 1e12,
         compute.variant);
  if (!kmb_result_f64(last, KMB_VALUE_SOL_PCT, &sol))
    printf(", %.1f%% of the datasheet", sol);
  printf("\n");
}

static int measure_all(kmb_device *device, blas *b, const char *path) {
  kmb_results *results = NULL;
  int code = 0;
  if (kmb_results_create(NULL, &results)) return failed("results");
  for (size_t t = 0; !code && t < COUNT(batches); t++)
    for (size_t i = 0; !code && i < COUNT(projections); i++) {
      point at = {&projections[i], b, batches[t]};
      if (measure(device, &at, results)) code = failed(at.p->name);
    }
  if (!code) {
    printf("cuBLAS %d, %s\n", blas_version(b),
           "errors in units of what the check allows");
    code = report(results, path);
    if (!code) compare(device, results);
  }
  kmb_results_destroy(results);
  return code;
}

static const char usage[] =
    "usage: cuda_gemm [DEVICE [RESULT.json]]\n"
    "DEVICE is cuda:0 unless given, RESULT.json cuda_gemm.json.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 2, usage);
  if (asked >= 0) return asked;
  const char *name = argc > 1 ? argv[1] : "cuda:0";
  const char *why = NULL;
  const char *backend = NULL;
  kmb_device *device = NULL;
  kmb_status status = kmb_device_open(name, NULL, &device);
  if (status == KMB_ERR_UNAVAILABLE) {
    printf("There is no GPU to measure: %s.\n", kmb_last_error(NULL, NULL));
    return 77; /* as tests that are skipped end */
  }
  if (status) return failed(name);
  if (kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &backend) ||
      strcmp(backend, "cuda") != 0) {
    fprintf(stderr, "cuda_gemm: %s is no device of CUDA's\n", name);
    kmb_device_close(device);
    return 1;
  }
  blas *b = blas_open(&why);
  int code = 77;
  if (b)
    code = measure_all(device, b, argc > 2 ? argv[2] : "cuda_gemm.json");
  else
    printf("There is nothing to measure with: %s.\n", why);
  blas_close(b);
  kmb_device_close(device);
  return code;
}
