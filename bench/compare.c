/* How right kmb_compare() is: candidates of a known ratio on the simulated
 * device, many seeds each. Prints verdicts, coverage of the true ratio, virtual
 * time, and the error under a clock ramp beside that of measuring one after the
 * other.
 *
 *   bench_compare PLUGIN [--seeds N] [--json FILE] */
#include <jansson.h>
#include <kmb/kmb.h>
#include <math.h>
#include <sim/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL 20000.0 /* ns */
#define NOISE "noise=gauss:0.05,drift=0.2:20e6,tail=0.02:3"

typedef struct scene {
  const char *name, *spec;
  double ratio; /* of the second candidate */
} scene;

static const scene scenes[] = {
    {"twins", NOISE ",modes=0.3:0.1:50", 1},
    {"twins, modes that last", NOISE ",modes=0.3:0.1:2000", 1},
    {"2% slower", NOISE ",modes=0.3:0.1:50", 1.02},
    {"2% faster", NOISE ",modes=0.3:0.1:50", 0.98},
    {"2% slower, modes that last", NOISE ",modes=0.3:0.1:2000", 1.02},
    {"AR(1), twins", "ar=0.9:0.05", 1},
    {"AR(1), 2% slower", "ar=0.9:0.05", 1.02},
    {"quiet, 0.5% slower", "noise=gauss:0.01", 1.005},
};

typedef struct tally {
  unsigned verdicts[5], covered, intervals;
  double wall, longest; /* ns of virtual time */
} tally;

static void must(kmb_status status) {
  if (!status) return;
  fprintf(stderr, "bench_compare: %s: %s\n", kmb_status_name(status),
          kmb_last_error(NULL, NULL));
  exit(1);
}

static kmb_status launch(void *user, const kmb_launch *l) {
  sim_kernel kernel = {.ns = *(const double *)user};
  return sim_enqueue(l->stream, &kernel);
}

static kmb_device *open_seed(const char *plugin, const char *spec,
                             unsigned seed) {
  char name[2048];
  kmb_device *device = NULL;
  snprintf(name, sizeof name, "%s:%s,seed=%u", plugin, spec, seed);
  must(kmb_device_open(name, NULL, &device));
  return device;
}

static kmb_compare_row compare(kmb_device *device, double ratio,
                               const kmb_compare_params *params,
                               kmb_comparison **comparison) {
  double ns[2] = {KERNEL, KERNEL * ratio};
  static const char *const names[] = {"a", "b"};
  kmb_bench_params p[2] = {kmb_bench_params_init(), kmb_bench_params_init()};
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  for (int i = 0; i < 2; i++) {
    p[i].name = names[i];
    p[i].launch = launch;
    p[i].launch_user = &ns[i];
    c[i].bench = &p[i];
  }
  kmb_compare_row row = kmb_compare_row_init();
  must(kmb_compare(device, c, sizeof c[0], 2, params, comparison));
  must(kmb_comparison_row(*comparison, 1, &row));
  return row;
}

static tally run_scene(const char *plugin, const scene *s, unsigned seeds) {
  tally t = {.covered = 0};
  for (unsigned seed = 1; seed <= seeds; seed++) {
    kmb_device *device = open_seed(plugin, s->spec, seed);
    kmb_comparison *comparison = NULL;
    double wall = 0;
    kmb_compare_row row = compare(device, s->ratio, NULL, &comparison);
    must(kmb_result_f64(row.result, KMB_VALUE_TOTAL_WALL, &wall));
    t.verdicts[row.verdict]++;
    t.wall += wall / seeds;
    if (wall > t.longest) t.longest = wall;
    if (row.flags & KMB_ROW_INTERVAL) {
      t.intervals++;
      t.covered += row.low <= s->ratio && s->ratio <= row.high;
    }
    kmb_comparison_destroy(comparison);
    kmb_device_close(device);
  }
  return t;
}

static void print_scene(const scene *s, const tally *t, json_t *out) {
  printf("%-28s %6u %6u %6u %6u   %6.2f%%   %5.2f s %5.2f s\n", s->name,
         t->verdicts[KMB_VERDICT_FASTER], t->verdicts[KMB_VERDICT_SLOWER],
         t->verdicts[KMB_VERDICT_SAME], t->verdicts[KMB_VERDICT_UNRESOLVED],
         t->intervals ? 100.0 * t->covered / t->intervals : 0, t->wall / 1e9,
         t->longest / 1e9);
  json_array_append_new(
      out,
      json_pack("{s:s, s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f}", "scene",
                s->name, "ratio", s->ratio, "faster",
                (int)t->verdicts[KMB_VERDICT_FASTER], "slower",
                (int)t->verdicts[KMB_VERDICT_SLOWER], "same",
                (int)t->verdicts[KMB_VERDICT_SAME], "unresolved",
                (int)t->verdicts[KMB_VERDICT_UNRESOLVED], "covered",
                (int)t->covered, "intervals", (int)t->intervals, "virtual_s",
                t->wall / 1e9, "longest_virtual_s", t->longest / 1e9));
}

/* Twins while the clock falls by a fifth over the whole of it: the error of the
 * ratio in turns, and of two measurements one after the other. */
static double apart(kmb_device *device) {
  double ns = KERNEL, times[2];
  for (int i = 0; i < 2; i++) {
    kmb_bench_params p = kmb_bench_params_init();
    kmb_result *result = NULL;
    p.name = "apart";
    p.launch = launch;
    p.launch_user = &ns;
    p.min_wall_ns = 200e6;
    must(kmb_bench(device, &p, &result));
    must(kmb_result_f64(result, KMB_VALUE_TIME, &times[i]));
    kmb_result_destroy(result);
  }
  return times[1] / times[0];
}

static void ramp(const char *plugin, unsigned seeds, json_t *out) {
  static const char *const spec = "noise=gauss:0.01,drift=0.25:1e9";
  double turns = 0, after = 0;
  for (unsigned seed = 1; seed <= seeds; seed++) {
    kmb_compare_params params = kmb_compare_params_init();
    kmb_comparison *comparison = NULL;
    params.min_wall_ns = 400e6;
    kmb_device *device = open_seed(plugin, spec, seed);
    kmb_compare_row row = compare(device, 1, &params, &comparison);
    turns += fabs(row.ratio - 1) / seeds;
    kmb_comparison_destroy(comparison);
    kmb_device_close(device);
    device = open_seed(plugin, spec, seed);
    after += fabs(apart(device) - 1) / seeds;
    kmb_device_close(device);
  }
  printf(
      "\nTwins under a clock ramp, mean error of the ratio: in turns %.3f%%, "
      "one after the other %.3f%% (%.0f times)\n",
      100 * turns, 100 * after, after / turns);
  json_object_set_new(out, "ramp",
                      json_pack("{s:f, s:f}", "turns_error_pct", 100 * turns,
                                "apart_error_pct", 100 * after));
}

int main(int argc, char **argv) {
  const char *path = NULL;
  unsigned seeds = 200;
  if (argc < 2) {
    fprintf(stderr, "usage: bench_compare PLUGIN [--seeds N] [--json FILE]\n");
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--seeds"))
      seeds = (unsigned)strtoul(argv[i + 1], NULL, 10);
    if (!strcmp(argv[i], "--json")) path = argv[i + 1];
  }
  json_t *root = json_object(), *list = json_array();
  json_object_set_new(root, "bench", json_string("compare"));
  json_object_set_new(root, "seeds", json_integer(seeds));
  printf("%-28s %6s %6s %6s %6s   %7s   %7s %7s\n", "", "faster", "slower",
         "same", "unres.", "covered", "virtual", "longest");
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    tally t = run_scene(argv[1], &scenes[i], seeds);
    print_scene(&scenes[i], &t, list);
  }
  json_object_set_new(root, "scenes", list);
  ramp(argv[1], seeds, root);
  int failed = path && json_dump_file(root, path, JSON_INDENT(1)) != 0;
  if (failed) fprintf(stderr, "bench_compare: cannot write %s\n", path);
  json_decref(root);
  return failed;
}
