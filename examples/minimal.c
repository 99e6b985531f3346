/* Measures y = 2x over a million floats and prints what came of it. */
#include <kmb/kmb.h>
#include <stdio.h>

enum { N = 1 << 20 };

static kmb_status scale(void *factor, const kmb_launch *l) {
  const float a = *(const float *)factor, *x = (const float *)l->args[0];
  float *y = (float *)l->args[1];
  for (int i = 0; i < N; i++)
    y[i] = a * x[i];
  return KMB_OK;
}

static kmb_status print(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, (FILE *)file) == size ? KMB_OK : KMB_ERR_IO;
}

int main(void) {
  float factor = 2;
  kmb_device *device = NULL;
  kmb_buffers *buffers = NULL;
  kmb_result *result = NULL;
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x", d[0].role = KMB_INPUT, d[1].name = "y";
  d[1].role = KMB_OUTPUT, d[0].dtype = d[1].dtype = KMB_F32;
  d[0].bytes = d[1].bytes = N * sizeof(float);
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "scale", p.launch = scale, p.launch_user = &factor;

  kmb_status status = kmb_device_open("host", NULL, &device);
  if (!status)
    status = kmb_buffers_create(device, d, sizeof d[0], 2, NULL, &buffers);
  p.buffers = buffers;
  if (!status) status = kmb_bench(device, &p, &result);
  if (!status) status = kmb_result_write_text(result, print, stdout);
  if (status) fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  kmb_device_close(device);
  return status != KMB_OK;
}
