/* Measures z = 2x + y over a million floats and prints what came of it. */
#include <kmb/kmb.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 };

static void must(kmb_status status, const char *what) {
  if (status == KMB_OK) return;
  fprintf(stderr, "%s: %s\n", what, kmb_last_error(NULL, NULL));
  exit(1);
}

static kmb_status saxpy(void *user, const kmb_launch *l) {
  const float *x = (const float *)l->args[0], *y = (const float *)l->args[1];
  float *z = (float *)l->args[2];
  for (int i = 0; i < N; i++)
    z[i] = *(const float *)user * x[i] + y[i];
  return KMB_OK;
}

static kmb_status print(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, (FILE *)file) == size ? KMB_OK : KMB_ERR_IO;
}

int main(void) {
  kmb_device *device = NULL;
  must(kmb_device_open("host", NULL, &device), "open");

  const char *names[] = {"x", "y", "z"};
  kmb_buffer_desc d[3]; /* x, y in; z out: the same but for role and name */
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = N * sizeof(float);
  }
  kmb_buffers *buffers = NULL;
  must(kmb_buffers_create(device, d, sizeof d[0], 3, NULL, &buffers),
       "buffers");

  kmb_work work = kmb_work_init(); /* two arrays read, one written, 2 FLOPs */
  must(kmb_work_elementwise(N, 2, 1, 2, KMB_F32, &work), "work");

  float a = 2;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "saxpy";
  p.launch = saxpy;
  p.launch_user = &a;
  p.buffers = buffers;
  p.work = &work;
  p.threads = 1; /* the loop uses one core: judge it by one core's ceilings */
  kmb_result *result = NULL;
  must(kmb_bench(device, &p, &result), "bench");
  must(kmb_result_write_text(result, print, stdout), "text");

  kmb_result_destroy(result);
  kmb_buffers_destroy(buffers);
  kmb_device_close(device);
  return 0;
}
