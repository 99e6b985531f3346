#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const mode modes[MODES] = {
    {"trace_plain", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, 0},
    {"trace_graph", KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, 0.05},
    {"graph", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 0.05},
    {"event", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, 0.15},
    {"event_graph", KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, 0.15},
};

kmb_bench_params params_for(const mode *m, kmb_cache_state cache) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = m->timer;
  p.launch_mode = m->launch;
  p.cache = cache;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  return p;
}

kmb_result *bench(gpu *g, const kmb_bench_params *p, const char *what) {
  kmb_result *result = NULL;
  kmb_status status = kmb_bench(g->device, p, &result);
  if (status) {
    int64_t vendor = 0;
    const char *text = kmb_last_error(NULL, &vendor);
    fprintf(stderr, "%s: %s [%lld] %s\n", what, kmb_status_name(status),
            (long long)vendor, text);
    return NULL;
  }
  return result;
}

/* One short run, for what its metadata say. */
static void print_metadata(gpu *g, FILE *json) {
  static const char *const keys[] = {"device.driver_version",
                                     "device.cuda_driver_api",
                                     "device.cupti_api",
                                     "cupti.correlation",
                                     "device.ecc",
                                     "device.mig",
                                     "device.persistence",
                                     "telemetry.before.clock_mhz",
                                     "telemetry.before.throttle",
                                     "host.os",
                                     "host.kernel"};
  spin_work w = {.g = g, .kernel = gpu_kernel(g, "test_spin")};
  kmb_bench_params p = params_for(&modes[0], KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = &w;
  kmb_result *r = bench(g, &p, "metadata");
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const char *text = NULL;
    if (!r || kmb_result_metadata_text(r, keys[i], &text) || !text) continue;
    fprintf(json, "\"%s\": \"%s\", ", keys[i], text);
  }
  kmb_result_destroy(r);
}

FILE *report_open(gpu *g, const char *path) {
  FILE *json = path ? fopen(path, "w") : stdout;
  const char *name = "";
  const char *uuid = "";
  double tick = 0;
  char date[32];
  time_t now = time(NULL);
  struct tm utc;
  if (!json) {
    perror(path);
    exit(1);
  }
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  (void)kmb_device_attr_text(g->device, KMB_DEVICE_NAME, &name);
  (void)kmb_device_attr_text(g->device, KMB_DEVICE_UUID, &uuid);
  (void)kmb_device_attr_f64(g->device, KMB_DEVICE_CLOCK_TICK_NS, &tick);
  fprintf(stderr, "%s, SM clock %.4f GHz, tick %g ns, LLC %llu\n", name, g->ghz,
          tick, (unsigned long long)g->llc);
  fprintf(json,
          "{\"device\": \"%s\", \"uuid\": \"%s\", \"date\": \"%s\",\n"
          "\"version\": \"%s\", ",
          name, uuid, date, kmb_version());
  print_metadata(g, json);
  fprintf(json, "\"llc_bytes\": %llu, \"ghz\": %.5f, \"tick_ns\": %g,\n",
          (unsigned long long)g->llc, g->ghz, tick);
  return json;
}

int report_close(FILE *json) {
  return json != stdout && fclose(json) ? 1 : 0;
}

void print_result(FILE *json, const char *key, const kmb_result *r) {
  if (!r) {
    fprintf(json, "\"%s\": null", key);
    return;
  }
  fprintf(json,
          "\"%s\": {\"us\": %.4f, \"raw_us\": %.4f, \"bias_us\": %.4f, "
          "\"bias_unc_us\": %.4f, \"interval_pct\": %.3f, \"p25_us\": %.4f, "
          "\"p75_us\": %.4f, \"trimmed_mean_us\": %.4f, \"batch\": %llu, "
          "\"samples\": %llu, \"invalid\": %llu, "
          "\"wall_ms\": %.2f, \"measure_ms\": %.2f, \"stop\": \"%s\"}",
          key, result_f64(r, KMB_VALUE_TIME, -1e6) / 1e3,
          result_f64(r, KMB_VALUE_RAW_MEDIAN, -1e6) / 1e3,
          result_f64(r, KMB_VALUE_BIAS, 0) / 1e3,
          result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, 0) / 1e3,
          result_f64(r, KMB_VALUE_INTERVAL_PCT, -1),
          result_f64(r, KMB_VALUE_P25, 0) / 1e3,
          result_f64(r, KMB_VALUE_P75, 0) / 1e3, trimmed_mean_of(r, NULL) / 1e3,
          (unsigned long long)result_u64(r, KMB_VALUE_BATCH),
          (unsigned long long)result_u64(r, KMB_VALUE_SAMPLES),
          (unsigned long long)result_u64(r, KMB_VALUE_SAMPLES_INVALID),
          result_f64(r, KMB_VALUE_TOTAL_WALL, 0) / 1e6,
          result_f64(r, KMB_VALUE_MEASURE_WALL, 0) / 1e6,
          result_text(r, KMB_VALUE_STOP_REASON));
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

double median(double *values, size_t count) {
  if (!count) return 0;
  qsort(values, count, sizeof *values, ascending);
  return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

double trimmed_mean(double *values, size_t count) {
  double sum = 0;
  if (!count) return 0;
  qsort(values, count, sizeof *values, ascending);
  size_t out = count / 10;
  for (size_t i = out; i < count - out; i++)
    sum += values[i];
  return sum / (double)(count - 2 * out);
}

double trimmed_mean_of(const kmb_result *r, uint64_t *count) {
  const double *ns = NULL;
  uint64_t n = 0;
  double mean = 0;
  if (!kmb_result_samples(r, &ns, &n) && ns && n) {
    double *copy = malloc((size_t)n * sizeof *copy);
    if (copy) {
      memcpy(copy, ns, (size_t)n * sizeof *copy);
      mean = trimmed_mean(copy, (size_t)n);
    }
    free(copy);
  }
  if (count) *count = n;
  return mean;
}
