/* The measured ceilings of a GPU: JSON to the file that is named, a table to
 * stdout. bench/peers_ceilings.py asks others the same. */
#include <math.h>

#include "report.h"

static const struct {
  const char *key;
  kmb_ceiling_kind kind;
  kmb_dtype dtype;
} list[] = {
    {"read", KMB_CEILING_READ, 0},
    {"copy", KMB_CEILING_COPY, 0},
    {"fma f32", KMB_CEILING_FMA, KMB_F32},
    {"fma f64", KMB_CEILING_FMA, KMB_F64},
    {"fma f16", KMB_CEILING_FMA, KMB_F16},
    {"matrix f64", KMB_CEILING_MATRIX, KMB_F64},
    {"matrix tf32", KMB_CEILING_MATRIX, KMB_TF32},
    {"matrix f16", KMB_CEILING_MATRIX, KMB_F16},
    {"matrix bf16", KMB_CEILING_MATRIX, KMB_BF16},
    {"matrix f8_e4m3", KMB_CEILING_MATRIX, KMB_F8_E4M3},
    {"matrix i8", KMB_CEILING_MATRIX, KMB_I8},
};

/* The datasheet's figure of the same thing; 0: it has none. */
static double published(const kmb_part *part, kmb_ceiling_kind kind,
                        kmb_dtype dtype) {
  kmb_ceiling c = kmb_ceiling_init();
  bool memory = kind == KMB_CEILING_READ || kind == KMB_CEILING_COPY;
  if (!part ||
      kmb_part_ceiling(part, memory ? KMB_CEILING_MEMORY : kind, dtype, 0, &c))
    return 0;
  return c.value;
}

static int written;

/* False if it failed for a reason that is none of this machine's. */
static bool measure(gpu *g, FILE *json, const kmb_part *part, size_t i) {
  kmb_ceiling c = kmb_ceiling_init();
  double began = gpu_now();
  kmb_status status =
      kmb_device_ceiling(g->device, list[i].kind, list[i].dtype, 0, &c);
  double ms = (gpu_now() - began) / 1e6;
  if (status) {
    printf("%-15s %s\n", list[i].key, kmb_last_error(NULL, NULL));
    return status == KMB_ERR_UNAVAILABLE || status == KMB_ERR_UNSUPPORTED;
  }
  double sheet = published(part, list[i].kind, list[i].dtype);
  printf("%-15s %9.2f T/s, from %9.2f, %7.0f ms, %s", list[i].key,
         c.value / 1e12, c.low / 1e12, ms, c.variant);
  if (sheet > 0) printf(", %.1f%% of the datasheet's", 100 * c.value / sheet);
  putchar('\n');
  fprintf(json,
          "%s\n  {\"name\": \"%s\", \"value\": %.6g, \"low\": %.6g, \"high\": "
          "%.6g, \"bytes\": %llu, \"variant\": \"%s\", \"wall_ms\": %.1f",
          written++ ? "," : "", list[i].key, c.value, c.low, c.high,
          (unsigned long long)c.bytes, c.variant, ms);
  if (sheet > 0) fprintf(json, ", \"datasheet\": %.6g", sheet);
  fputc('}', json);
  return isfinite(c.value);
}

int main(int argc, char **argv) {
  gpu g;
  const kmb_part *part = NULL;
  bool passed = true;
  gpu_open(&g, "cuda:0", NULL);
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  (void)kmb_peaks_of_device(NULL, g.device, &part);
  fprintf(json, " \"ceilings\": [");
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    passed = measure(&g, json, part, i) && passed;
  fprintf(json, "\n ]}\n");
  int code = report_close(json);
  gpu_close(&g);
  return passed ? code : 1;
}
