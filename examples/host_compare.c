/* Which way to transpose a matrix? A plain loop against a tiled one, whose tile
 * is tuned first.
 *
 * usage: host_compare [COMPARISON.json]    (only the text, no file) */
#include <kmb/kmb.h>
#include <stdio.h>

#include "usage.h"

enum { N = 512 };

static kmb_status put(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, (FILE *)file) == size ? KMB_OK : KMB_ERR_IO;
}

static kmb_status plain(void *user, const kmb_launch *l) {
  const float *x = (const float *)l->args[0];
  float *y = (float *)l->args[1];
  (void)user;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      y[j * N + i] = x[i * N + j];
  return KMB_OK;
}

static const char *const tiles[] = {"4", "8", "16", "32", "64", "128", "256"};
static const kmb_knob knobs[] = {{"tile", tiles, 7}};

static kmb_status tiled(void *user, const kmb_launch *l) {
  const float *x = (const float *)l->args[0];
  float *y = (float *)l->args[1];
  const int tile = 4 << (int)kmb_knob_value(knobs, 1, l->config, 0);
  (void)user;
  for (int a = 0; a < N; a += tile)
    for (int b = 0; b < N; b += tile)
      for (int i = a; i < a + tile; i++)
        for (int j = b; j < b + tile; j++)
          y[j * N + i] = x[i * N + j];
  return KMB_OK;
}

/* Every element. */
static kmb_status check(void *user, kmb_check *c) {
  const float *x = (const float *)c->before[0];
  const float *y = (const float *)c->after[1];
  (void)user;
  c->error = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c->error += x[i * N + j] != y[j * N + i];
  return c->error > 0 ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status make_buffers(kmb_device *device, kmb_buffers **buffers) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x", d[0].role = KMB_INPUT;
  d[1].name = "y", d[1].role = KMB_OUTPUT;
  for (int i = 0; i < 2; i++)
    d[i].dtype = KMB_F32, d[i].bytes = sizeof(float[N][N]);
  return kmb_buffers_create(device, d, sizeof d[0], 2, NULL, buffers);
}

static kmb_status compare(kmb_device *device, kmb_buffers *buffers,
                          kmb_comparison **comparison) {
  const kmb_pair axes[] = {{"shape", "512x512"}, {"dtype", "f32"}};
  kmb_bench_params p[2] = {kmb_bench_params_init(), kmb_bench_params_init()};
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  kmb_compare_params params = kmb_compare_params_init();
  p[0].name = "plain", p[0].launch = plain;
  p[1].name = "tiled", p[1].launch = tiled;
  for (int i = 0; i < 2; i++) {
    p[i].axes = axes, p[i].axis_count = 2;
    p[i].buffers = buffers, p[i].check = check;
    p[i].cache = KMB_CACHE_WARM;
    c[i].bench = &p[i];
  }
  c[1].knobs = knobs, c[1].knob_count = 1;
  params.name = "transpose";
  return kmb_compare(device, c, sizeof c[0], 2, &params, comparison);
}

static kmb_status save(const kmb_comparison *comparison, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return KMB_ERR_IO;
  kmb_status status = kmb_comparison_write_json(comparison, put, file);
  if (fclose(file) && !status) status = KMB_ERR_IO;
  return status;
}

static const char usage[] =
    "usage: host_compare [COMPARISON.json]\n"
    "Without COMPARISON.json there is only the text, and no file.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 1, usage);
  if (asked >= 0) return asked;
  kmb_device *device = NULL;
  kmb_buffers *buffers = NULL;
  kmb_comparison *comparison = NULL;
  kmb_status status = kmb_device_open("host", NULL, &device);
  if (!status) status = make_buffers(device, &buffers);
  if (!status) status = compare(device, buffers, &comparison);
  if (!status) status = kmb_comparison_write_text(comparison, put, stdout);
  if (!status && argc > 1) status = save(comparison, argv[1]);
  if (status)
    fprintf(stderr, "host_compare: %s: %s\n", kmb_status_name(status),
            kmb_last_error(NULL, NULL));
  kmb_comparison_destroy(comparison);
  kmb_buffers_destroy(buffers);
  kmb_device_close(device);
  return status != KMB_OK;
}
