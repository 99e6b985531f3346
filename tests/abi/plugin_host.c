/* A plugin that was built against the headers of an earlier release: it runs if
 * its KMB_BACKEND_ABI is that of today, and is refused otherwise.
 *
 * usage: plugin_host PLUGIN ABI */
#include "require.h"

#include <kmb/backend.h>
#include <kmb/kmb.h>

enum { N = 64 };

static kmb_status twice(void *user, const kmb_launch *l) {
  const float *x = (const float *)l->args[0];
  float *y = (float *)l->args[1];
  for (int i = 0; i < N; i++)
    y[i] = 2 * x[i];
  ++*(int *)user;
  return KMB_OK;
}

static void it_is_refused(const char *path, const char *abi) {
  kmb_device *device = NULL;
  kmb_status status = KMB_OK;
  char theirs[64], ours[64];
  snprintf(theirs, sizeof theirs, "built for backend ABI %s,", abi);
  snprintf(ours, sizeof ours, "this libkmb has %d;", KMB_BACKEND_ABI);
  REQUIRE_STATUS(kmb_device_open(path, NULL, &device), KMB_ERR_UNSUPPORTED);
  REQUIRE(!device);
  REQUIRE_HAS(kmb_last_error(&status, NULL), theirs);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), ours);
  REQUIRE_EQ(status, KMB_ERR_UNSUPPORTED);
}

static void it_runs(const char *path) {
  kmb_device_params params = kmb_device_params_init();
  params.llc_bytes = 4096;
  kmb_device *device = NULL;
  REQUIRE_OK(kmb_device_open(path, &params, &device));
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x";
  d[0].role = KMB_INPUT;
  d[1].name = "y";
  d[1].role = KMB_OUTPUT;
  d[0].dtype = d[1].dtype = KMB_F32;
  d[0].bytes = d[1].bytes = N * sizeof(float);
  kmb_buffers *buffers = NULL;
  REQUIRE_OK(kmb_buffers_create(device, d, sizeof d[0], 2, NULL, &buffers));
  int launches = 0;
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = twice;
  p.launch_user = &launches;
  p.buffers = buffers;
  p.max_wall_ns = 10e9;
  p.max_samples = 64;
  kmb_result *result = NULL;
  REQUIRE_OK(kmb_bench(device, &p, &result));
  REQUIRE(launches > 0);
  const char *timer = NULL;
  REQUIRE_OK(kmb_result_text(result, KMB_VALUE_TIMER, &timer));
  REQUIRE_STR(timer, "HOST");
  kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  kmb_device_close(device);
}

int main(int argc, char **argv) {
  REQUIRE_EQ(argc, 3);
  if (strtol(argv[2], NULL, 10) == KMB_BACKEND_ABI)
    it_runs(argv[1]);
  else
    it_is_refused(argv[1], argv[2]);
  return 0;
}
