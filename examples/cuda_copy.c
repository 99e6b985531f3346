/* Measures copies within a GPU's memory, from 64 KiB to 512 MiB, through the
 * driver, which is opened at run time: the program builds and starts everywhere
 * and says so where there is no GPU.
 *
 * usage: cuda_copy [DEVICE [RESULT.json]]    ("cuda:0", "cuda_copy.json") */
#include <kmb/cuda.h>
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cold.h"
#include "usage.h"

/* What is used of the driver: a copy within the device, on a stream. */
typedef unsigned copy_fn(uintptr_t to, uintptr_t from, size_t bytes,
                         void *stream);

typedef struct copy {
  copy_fn *function;
  uint64_t bytes;
} copy;

static kmb_status launch(void *user, const kmb_launch *l) {
  const copy *c = user;
  unsigned result = c->function((uintptr_t)l->args[1], (uintptr_t)l->args[0],
                                c->bytes, l->stream);
  return kmb_cuda_status((int)result);
}

static kmb_status check(void *user, kmb_check *c) {
  (void)user;
  c->error = memcmp(c->before[0], c->after[1], c->bytes[0]) != 0;
  return c->error > 0 ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int failed(const char *what) {
  fprintf(stderr, "cuda_copy: %s: %s\n", what, kmb_last_error(NULL, NULL));
  return 1;
}

static kmb_status make_buffers(kmb_device *device, uint64_t bytes,
                               kmb_buffers **buffers) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  for (int i = 0; i < 2; i++) {
    d[i].name = i ? "to" : "from";
    d[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = bytes;
  }
  return kmb_buffers_create(device, d, sizeof d[0], 2, NULL, buffers);
}

static kmb_status measure(kmb_device *device, copy *c, kmb_results *results) {
  char size[32];
  kmb_buffers *buffers = NULL;
  kmb_result *result = NULL;
  kmb_work work = kmb_work_init();
  kmb_pair axis = {"KiB", size};
  snprintf(size, sizeof size, "%" PRIu64, c->bytes >> 10);
  kmb_status status = make_buffers(device, c->bytes, &buffers);
  if (!status) status = kmb_work_copy(c->bytes, &work);
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "copy";
  p.axes = &axis;
  p.axis_count = 1;
  p.launch = launch;
  p.launch_user = c;
  p.check = check;
  p.buffers = buffers;
  p.work = &work;
  p.flags = KMB_BENCH_CONFIRM_COLD;
  if (!status) status = kmb_bench(device, &p, &result);
  if (!status) status = kmb_results_add(results, result);
  if (status) kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  return status;
}

static kmb_status measure_all(kmb_device *device, copy *c,
                              kmb_results *results) {
  static const uint64_t kib[] = {64,    256,   1024,   4096,
                                 16384, 65536, 262144, 524288};
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < sizeof kib / sizeof kib[0]; i++) {
    c->bytes = kib[i] << 10;
    status = measure(device, c, results);
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
    fprintf(stderr, "cuda_copy: %s could not be written\n", path);
    return 1;
  }
  printf("%s holds all of it\n", path);
  return 0;
}

static const char usage[] =
    "usage: cuda_copy [DEVICE [RESULT.json]]\n"
    "DEVICE is cuda:0 unless given, RESULT.json cuda_copy.json.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 2, usage);
  if (asked >= 0) return asked;
  const char *name = argc > 1 ? argv[1] : "cuda:0";
  kmb_device *device = NULL;
  kmb_results *results = NULL;
  copy c = {NULL, 0};
  kmb_status status = kmb_device_open(name, NULL, &device);
  if (status == KMB_ERR_UNAVAILABLE) {
    printf("There is no GPU to measure: %s.\n", kmb_last_error(NULL, NULL));
    return 77; /* as tests that are skipped end */
  }
  if (status) return failed(name);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver) *(void **)&c.function = dlsym(driver, "cuMemcpyDtoDAsync_v2");
  if (!c.function) {
    fprintf(stderr, "cuda_copy: %s is no device of CUDA's\n", name);
    kmb_device_close(device);
    return 1;
  }
  status = kmb_results_create(NULL, &results);
  if (!status) status = measure_all(device, &c, results);
  int code = status ? failed("copy")
                    : report(results, argc > 2 ? argv[2] : "cuda_copy.json");
  kmb_results_destroy(results);
  kmb_device_close(device);
  return code;
}
