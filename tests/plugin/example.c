/* The backend of docs/backend-authors.md, loaded and measured with. */
#include "require.h"

#include <kmb/kmb.h>

enum { N = 4096, BYTES = N * 4 };

static kmb_status twice(void *user, const kmb_launch *l) {
  (void)user;
  const float *x = l->args[0];
  float *y = l->args[1];
  for (int i = 0; i < N; i++)
    y[i] = 2 * x[i];
  return KMB_OK;
}

static kmb_status check(void *user, kmb_check *c) {
  (void)user;
  const float *x = c->before[0];
  const float *y = c->after[1];
  for (int i = 0; i < N; i++)
    if (y[i] != 2 * x[i]) return KMB_ERR_INCORRECT;
  return KMB_OK;
}

static kmb_buffers *buffers_on(kmb_device *device) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers *set = NULL;
  d[0].name = "x";
  d[1].name = "y";
  d[0].role = KMB_INPUT;
  d[1].role = KMB_OUTPUT;
  d[0].bytes = d[1].bytes = BYTES;
  d[0].dtype = d[1].dtype = KMB_F32;
  REQUIRE_OK(kmb_buffers_create(device, d, sizeof d[0], 2, NULL, &set));
  return set;
}

static void the_example_measures(void) {
  kmb_device_params open = kmb_device_params_init();
  kmb_bench_params p = kmb_bench_params_init();
  kmb_device *device = NULL;
  kmb_result *result = NULL;
  const char *text = NULL;
  double ns = 0;
  open.llc_bytes = 1 << 16;
  REQUIRE_OK(
      kmb_device_open(EXAMPLE_DIR "/kmb-backend-example.so", &open, &device));
  kmb_buffers *set = buffers_on(device);
  p.name = "twice";
  p.launch = twice;
  p.buffers = set;
  p.check = check;
  p.min_wall_ns = 1e5;
  p.max_wall_ns = 20e6;
  p.warmup_ns = 1e5;
  REQUIRE_OK(kmb_bench(device, &p, &result));
  REQUIRE_OK(kmb_result_f64(result, KMB_VALUE_TIME, &ns));
  REQUIRE(ns > 0);
  REQUIRE_OK(kmb_result_text(result, KMB_VALUE_CACHE_STATE, &text));
  REQUIRE_STR(text, "ROTATED");
  REQUIRE_OK(kmb_result_text(result, KMB_VALUE_CHECK, &text));
  REQUIRE_STR(text, "passed before and after timing");
  kmb_result_destroy(result);
  p.cache = KMB_CACHE_COLD;
  p.flags = KMB_BENCH_REQUIRE_CACHE;
  REQUIRE_STATUS(kmb_bench(device, &p, &result), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not COLD");
  kmb_buffers_destroy(set);
  kmb_device_close(device);
}

static void the_example_has_one_device(void) {
  kmb_device *device = NULL;
  REQUIRE_STATUS(
      kmb_device_open(EXAMPLE_DIR "/kmb-backend-example.so:1", NULL, &device),
      KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "one device");
}

int main(void) {
  RUN(the_example_measures);
  RUN(the_example_has_one_device);
  return 0;
}
