/* Is cold really cold? The same read of the same buffer, WARM, COLD (swept
 * before each sample) and ROTATED (slots past the last-level cache), in
 * interleaved repeats. */
#include "quiet.h"
#include "reads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM, COLD, ROTATED, STATES };
static const kmb_cache_state asked[STATES] = {KMB_CACHE_WARM, KMB_CACHE_COLD,
                                              KMB_CACHE_ROTATED};
static const char *const state_names[STATES] = {"WARM", "COLD", "ROTATED"};

enum { IN_ORDER, SCATTERED, PATTERNS };
static const char *const pattern_names[PATTERNS] = {"in order", "scattered"};

enum { REPEATS = 5, CASES = 6 };

typedef struct point {
  kmb_buffers *buffers; /* shared by the patterns of one size */
  uint64_t bytes;
  uint64_t slots;         /* when rotated */
  double samples[STATES]; /* of the last repeat */
  double ns[STATES][REPEATS];
  int pattern;
  bool not_cold;
  char name[64];
} point;

static kmb_buffers *make_buffers(kmb_device *device, uint64_t bytes) {
  kmb_buffer_desc desc = kmb_buffer_desc_init();
  desc.name = "data";
  desc.bytes = bytes;
  desc.alignment = 4096;
  desc.role = KMB_INPUT;
  desc.dtype = KMB_F32;
  kmb_buffers *buffers = NULL;
  must(kmb_buffers_create(device, &desc, sizeof desc, 1, NULL, &buffers),
       "buffers");
  return buffers;
}

static void look_at(point *p, int state, const kmb_result *result) {
  uint64_t samples = 0;
  must(kmb_result_u64(result, KMB_VALUE_SAMPLES, &samples), "samples");
  p->samples[state] = (double)samples;
  if (state == ROTATED)
    must(kmb_result_u64(result, KMB_VALUE_SLOTS, &p->slots), "slots");
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++) {
    kmb_finding finding = kmb_finding_init();
    must(kmb_result_finding(result, i, &finding), "reading a finding");
    if (finding.code == KMB_FINDING_NOT_COLD) p->not_cold = true;
  }
}

static void measure(report *r, canary *quiet, point *p, int state,
                    size_t repeat) {
  static const kmb_launch_fn reads[PATTERNS] = {read_in_order, read_scattered};
  reading user = {.bytes = p->bytes,
                  .stride = read_stride(p->bytes / READ_LINE)};
  kmb_bench_params params = kmb_bench_params_init();
  params.name = p->name;
  params.launch = reads[p->pattern];
  params.launch_user = &user;
  params.buffers = p->buffers;
  params.cache = asked[state];
  params.max_wall_ns = 1e9;
  params.threads = 1;
  params.flags = KMB_BENCH_NO_CONFIRM;
  kmb_result *result = NULL;
  canary_spin(quiet);
  must(kmb_bench(r->device, &params, &result), p->name);
  canary_spin(quiet);
  must(kmb_result_f64(result, KMB_VALUE_RAW_MEDIAN, &p->ns[state][repeat]),
       "raw_median_ns");
  canary_result(quiet, result);
  look_at(p, state, result);
  kmb_result_destroy(result);
}

static middle of(const double *x) {
  double sorted[REPEATS];
  memcpy(sorted, x, sizeof sorted);
  return middle_of(sorted, REPEATS);
}

static void print_point(const point *p, json_t *rows) {
  middle m[STATES];
  json_t *row = json_pack("{s:s, s:I, s:s, s:I, s:b}", "name", p->name, "bytes",
                          (json_int_t)p->bytes, "pattern",
                          pattern_names[p->pattern], "rotated_slots",
                          (json_int_t)p->slots, "not_cold", (int)p->not_cold);
  printf("%-24s", p->name);
  for (int s = 0; s < STATES; s++) {
    m[s] = of(p->ns[s]);
    printf(" %10.2f %6.1f", m[s].median / 1e3, (double)p->bytes / m[s].median);
    json_t *list = json_array();
    for (int i = 0; i < REPEATS; i++)
      json_array_append_new(list, json_real(p->ns[s][i]));
    char key[16];
    snprintf(key, sizeof key, "%s_ns", state_names[s]);
    json_object_set_new(row, key, list);
  }
  printf(" %9.3f %9.3f %6.0f\n", m[COLD].median / m[WARM].median,
         m[COLD].median / m[ROTATED].median, p->samples[COLD]);
  json_array_append_new(rows, row);
}

static void claim(report *r, const point *p, int over, const char *why_not) {
  char name[96];
  double ratios[REPEATS];
  for (int i = 0; i < REPEATS; i++)
    ratios[i] = p->ns[COLD][i] / p->ns[over][i];
  middle m = of(ratios);
  snprintf(name, sizeof name, "%s, COLD / %s", p->name, state_names[over]);
  figure f = {name,  "x",    of(p->ns[COLD]).median / of(p->ns[over]).median,
              m.low, m.high, "of the five pairs",
              1.5,   1e301};
  if (over == ROTATED) {
    f.bar_low = 0.95;
    f.bar_high = 1.05;
  }
  if (!why_not && p->not_cold)
    why_not = "NOT_COLD: memory for fewer slots than the state needs";
  report_figure(r, &f, why_not);
}

/* Sizes in whole pages. */
static size_t make_points(report *r, point *points) {
  uint64_t llc = 0, l2 = 0;
  must(kmb_device_attr_u64(r->device, KMB_DEVICE_LLC_BYTES, &llc),
       "last-level cache");
  if (kmb_device_attr_u64(r->device, KMB_DEVICE_L2_BYTES, &l2)) l2 = 0;
  const struct {
    const char *name;
    uint64_t bytes;
  } sizes[] = {{"LLC/4", llc / 4}, {"LLC/32", llc / 32}, {"L2/4", l2 / 4}};
  size_t count = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    uint64_t bytes = sizes[i].bytes / 4096 * 4096;
    if (!bytes) continue;
    kmb_buffers *buffers = make_buffers(r->device, bytes);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      point *p = &points[count++];
      *p = (point){.bytes = bytes, .pattern = pattern, .buffers = buffers};
      snprintf(p->name, sizeof p->name, "%s, %.4g MiB, %s", sizes[i].name,
               (double)bytes / 1048576, pattern_names[pattern]);
    }
  }
  printf("last-level cache %.4g MiB as reported, L2 %.4g MiB\n",
         (double)llc / 1048576, (double)l2 / 1048576);
  json_object_set_new(r->root, "llc_bytes", json_integer((json_int_t)llc));
  return count;
}

int main(int argc, char **argv) {
  report r;
  report_open(&r, &argc, argv, "cold");
  point points[CASES];
  size_t count = make_points(&r, points);
  canary quiet;
  canary_start(&quiet);
  for (size_t repeat = 0; repeat < REPEATS; repeat++)
    for (size_t i = 0; i < count; i++)
      for (int state = 0; state < STATES; state++)
        measure(&r, &quiet, &points[i], state, repeat);
  printf("%-24s", "read");
  for (int s = 0; s < STATES; s++)
    printf(" %7s us %6s", state_names[s], "GB/s");
  printf(" %9s %9s %6s\n", "cold/warm", "cold/rot.", "n COLD");
  json_t *rows = json_array();
  for (size_t i = 0; i < count; i++)
    print_point(&points[i], rows);
  json_object_set_new(r.root, "reads", rows);
  const char *why_not = canary_verdict(&quiet, &r);
  printf("\n");
  for (size_t i = 0; i < count && i < PATTERNS; i++) {
    claim(&r, &points[i], WARM, why_not);
    claim(&r, &points[i], ROTATED, why_not);
  }
  for (size_t i = 0; i < count; i += PATTERNS)
    kmb_buffers_destroy(points[i].buffers);
  return report_close(&r);
}
