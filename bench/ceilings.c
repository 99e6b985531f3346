/* The host's measured ceilings, on one core and on all of them. */
#include "report.h"

#include <stdio.h>

typedef struct wanted {
  const char *name, *unit;
  kmb_ceiling_kind kind;
  kmb_dtype dtype;
} wanted;

static const wanted list[] = {
    {"read", "GB/s", KMB_CEILING_READ, 0},
    {"copy", "GB/s", KMB_CEILING_COPY, 0},
    {"triad", "GB/s", KMB_CEILING_TRIAD, 0},
    {"FMA f32", "GFLOP/s", KMB_CEILING_FMA, KMB_F32},
    {"FMA f64", "GFLOP/s", KMB_CEILING_FMA, KMB_F64},
};

static void print_one(report *r, json_t *rows, const wanted *w,
                      uint32_t threads) {
  kmb_ceiling c = kmb_ceiling_init();
  double begin = now_ns();
  must(kmb_device_ceiling(r->device, w->kind, w->dtype, threads, &c), w->name);
  double wall = now_ns() - begin;
  const char *variant = c.variant ? c.variant : "not named";
  printf("%-8s %7u %9.1f %-7s %9.1f to %-9.1f %9.1f %7.0f  %s\n", w->name,
         (unsigned)threads, c.value / 1e9, w->unit, c.low / 1e9, c.high / 1e9,
         (double)c.bytes / 1048576, wall / 1e6, variant);
  json_t *row = json_pack(
      "{s:s, s:I, s:f, s:f, s:f, s:I, s:s, s:f}", "name", w->name, "threads",
      (json_int_t)threads, "value", c.value, "low", c.low, "high", c.high,
      "bytes", (json_int_t)c.bytes, "variant", variant, "wall_ns", wall);
  json_array_append_new(rows, row);
}

int main(int argc, char **argv) {
  report r;
  report_open(&r, &argc, argv, "ceilings");
  uint64_t threads = 0;
  must(kmb_device_attr_u64(r.device, KMB_DEVICE_THREADS, &threads), "threads");
  json_t *rows = json_array();
  printf("%-8s %7s %9s %-7s %9s    %-9s %9s %7s  %s\n", "ceiling", "threads",
         "value", "", "lowest", "highest", "MiB", "took ms", "variant");
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    print_one(&r, rows, &list[i], 1);
    if (threads > 1) print_one(&r, rows, &list[i], (uint32_t)threads);
  }
  json_object_set_new(r.root, "ceilings", rows);
  return report_close(&r);
}
