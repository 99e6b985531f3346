/* The report of a bench program. */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

/* Beyond about 1000 repeats, 2^-n is too small for tail(). */
enum { OPTION_LIMIT = 1000 };

double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void give_up(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(2);
}

void must(kmb_status status, const char *what) {
  if (status) give_up(what, kmb_last_error(NULL, NULL));
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* P(fewer than `k` of `n` values lie below the median). */
static double tail(size_t n, size_t k) {
  double term = 1, sum = 0;
  for (size_t i = 0; i < n; i++)
    term /= 2;
  for (size_t i = 0; i < k; i++) {
    sum += term;
    term *= (double)(n - i) / (double)(i + 1);
  }
  return sum;
}

middle middle_of(double *x, size_t count) {
  middle m = {0, 0, 0};
  if (!count) return m;
  qsort(x, count, sizeof *x, compare);
  m.median = (x[(count - 1) / 2] + x[count / 2]) / 2;
  size_t k = 0; /* the interval is x[k] to x[count - 1 - k] */
  while (2 * (k + 1) < count && 2 * tail(count, k + 2) <= 0.05)
    k++;
  m.low = x[k];
  m.high = x[count - 1 - k];
  return m;
}

unsigned long option(int argc, char **argv, const char *name,
                     unsigned long otherwise) {
  for (int i = 1; i + 1 < argc; i++) {
    if (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, name) != 0)
      continue;
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(argv[i + 1], &end, 10);
    if (errno || end == argv[i + 1] || *end || !value || value > OPTION_LIMIT)
      give_up(argv[i], "needs a number from 1 to 1000");
    return value;
  }
  return otherwise;
}

static void take_json(report *r, int *argc, char **argv) {
  for (int i = 1; i < *argc; i++) {
    if (strcmp(argv[i], "--json") != 0) continue;
    if (i + 1 == *argc) give_up("--json", "needs a file name");
    r->path = argv[i + 1];
    for (int k = i; k + 2 <= *argc; k++)
      argv[k] = argv[k + 2 < *argc ? k + 2 : *argc];
    *argc -= 2;
    return;
  }
}

static void put(json_t *object, const char *key, const char *value) {
  if (json_object_set_new(object, key, json_string(value)))
    give_up("JSON", "out of memory");
}

void report_version(report *r, const char *name, const char *version) {
  put(json_object_get(r->root, "versions"), name, version);
}

void report_open(report *r, int *argc, char **argv, const char *program) {
  *r = (report){0};
  take_json(r, argc, argv);
  must(kmb_device_open("host", NULL, &r->device), "opening the host");
  r->root = json_object();
  r->figures = json_array();
  json_object_set_new(r->root, "versions", json_object());
  put(r->root, "program", program);
  const char *name = NULL;
  if (kmb_device_attr_text(r->device, KMB_DEVICE_NAME, &name)) name = "unknown";
  put(r->root, "hardware", name);
  uint64_t units = 0;
  if (kmb_device_attr_u64(r->device, KMB_DEVICE_UNITS, &units) == KMB_OK)
    json_object_set_new(r->root, "cores", json_integer((json_int_t)units));
  struct utsname system;
  if (uname(&system)) give_up("uname", strerror(errno));
  char kernel[sizeof system.sysname + sizeof system.release +
              sizeof system.machine + 3];
  snprintf(kernel, sizeof kernel, "%s %s %s", system.sysname, system.release,
           system.machine);
  put(r->root, "kernel", kernel);
  char date[32];
  time_t now = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  put(r->root, "date", date);
  report_version(r, "libkmb", kmb_version());
  report_version(r, "hwloc", HWLOC_FOUND);
  report_version(r, "jansson", JANSSON_VERSION);
  report_version(r, "compiler", __VERSION__);
  report_version(r, "build", BENCH_BUILD);
  printf("%s: %s, %s, libkmb %s, %s\n\n", program, name, kernel, kmb_version(),
         date);
}

static void print_bar(const figure *f, char *text, size_t size) {
  if (f->bar_low > -1e300 && f->bar_high < 1e300)
    snprintf(text, size, "%.4g to %.4g", f->bar_low, f->bar_high);
  else if (f->bar_low > -1e300)
    snprintf(text, size, "at least %.4g", f->bar_low);
  else
    snprintf(text, size, "at most %.4g", f->bar_high);
}

void report_figure(report *r, const figure *f, const char *why_not) {
  bool met = f->value >= f->bar_low && f->value <= f->bar_high;
  const char *verdict = why_not ? "no claim" : met ? "met" : "MISSED";
  char bar[64];
  print_bar(f, bar, sizeof bar);
  printf("%-46s %9.4g %-3s (%.4g to %.4g: %s); bar %s: %s\n", f->name, f->value,
         f->unit, f->low, f->high, f->spread, bar, verdict);
  json_t *row =
      json_pack("{s:s, s:f, s:s, s:f, s:f, s:s, s:s, s:s}", "name", f->name,
                "value", f->value, "unit", f->unit, "low", f->low, "high",
                f->high, "spread", f->spread, "bar", bar, "verdict", verdict);
  if (!row) give_up("JSON", "out of memory");
  if (why_not) put(row, "reason", why_not);
  json_array_append_new(r->figures, row);
  if (why_not)
    r->unclaimed++;
  else if (!met)
    r->missed++;
}

int report_close(report *r) {
  json_object_set_new(r->root, "figures", r->figures);
  int failed = 0;
  if (r->path)
    failed = json_dump_file(r->root, r->path,
                            JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  if (failed) give_up(r->path, "cannot be written");
  json_decref(r->root);
  kmb_device_close(r->device);
  if (r->missed) return 1;
  return r->unclaimed ? 3 : 0;
}
