/* The smallest operations that a device runs, timed in every way. */
#include "probe.h"

#include <dlfcn.h>

enum { WORDS = 1024 }; /* of the buffer that is set */

static kmb_status launch_nothing(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

/* Both vendors' libraries are loaded already, by the backend. */
typedef unsigned (*set_fn)(void *pointer, unsigned value, size_t count,
                           void *stream);

static kmb_status launch_set(void *user, const kmb_launch *launch) {
  set_fn set = NULL;
  memcpy(&set, user, sizeof set);
  return set(launch->args[0], 0, WORDS, launch->stream) ? KMB_ERR_VENDOR
                                                        : KMB_OK;
}

static void *find(const char *const *libraries, const char *name) {
  for (; *libraries; libraries++) {
    void *library = dlopen(*libraries, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (library) dlclose(library); /* the backend still holds it */
    if (symbol) return symbol;
  }
  return NULL;
}

static void take_set(probe *p, const char *const *libraries,
                     const char *symbol) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "words";
  d.role = KMB_OUTPUT;
  d.dtype = KMB_I32;
  d.bytes = WORDS * sizeof(uint32_t);
  p->what = "setting 4 KiB of memory";
  p->symbol = find(libraries, symbol);
  if (!p->symbol) {
    snprintf(p->why, sizeof p->why, "the vendor's library has no %s", symbol);
  } else if (kmb_buffers_create(p->device, &d, sizeof d, 1, NULL,
                                &p->buffers)) {
    snprintf(p->why, sizeof p->why, "%s", kmb_last_error(NULL, NULL));
  } else {
    p->launch = launch_set;
  }
}

const char *device_text(kmb_device *device, kmb_device_attr attr) {
  const char *text = NULL;
  return kmb_device_attr_text(device, attr, &text) ? "" : text;
}

void probe_open(kmb_device *device, probe *p) {
  static const char *const cuda[] = {"libcuda.so.1", "libcuda.so", NULL};
  static const char *const hip[] = {"libamdhip64.so",   "libamdhip64.so.5",
                                    "libamdhip64.so.6", "libamdhip64.so.7",
                                    "libamdhip64.so.8", NULL};
  const char *backend = device_text(device, KMB_DEVICE_BACKEND);
  *p = (probe){.device = device};
  if (strcmp(backend, "host") == 0) {
    p->what = "an empty function";
    p->launch = launch_nothing;
  } else if (strcmp(backend, "cuda") == 0) {
    take_set(p, cuda, "cuMemsetD32Async");
  } else if (strcmp(backend, "hip") == 0) {
    take_set(p, hip, "hipMemsetD32Async");
  } else {
    snprintf(p->why, sizeof p->why,
             "kmb knows no operation that this backend could launch");
  }
}

void probe_close(probe *p) {
  kmb_buffers_destroy(p->buffers);
}

static void keep(const kmb_result *result, reading *r) {
  double low = 0, high = 0, time = 0;
  const char *text = NULL;
  r->works = true;
  r->has_raw = !kmb_result_f64(result, KMB_VALUE_RAW_MEDIAN, &r->raw_ns);
  r->has_interval = !kmb_result_f64(result, KMB_VALUE_TIME, &time) &&
                    !kmb_result_f64(result, KMB_VALUE_INTERVAL_LOW, &low) &&
                    !kmb_result_f64(result, KMB_VALUE_INTERVAL_HIGH, &high);
  /* Of the raw median: the interval's place is corrected, its width is not. */
  r->below_ns = r->raw_ns - (time - low);
  r->above_ns = r->raw_ns + (high - time);
  r->has_bias = !kmb_result_f64(result, KMB_VALUE_BIAS, &r->bias_ns) &&
                !kmb_result_f64(result, KMB_VALUE_BIAS_UNCERTAINTY,
                                &r->bias_uncertainty_ns);
  if (!r->has_bias)
    snprintf(r->no_bias, sizeof r->no_bias, "%s", kmb_last_error(NULL, NULL));
  r->has_overhead =
      !kmb_result_f64(result, KMB_VALUE_OVERHEAD, &r->overhead_ns);
  r->has_tick = !kmb_result_f64(result, KMB_VALUE_CLOCK_TICK, &r->tick_ns);
  kmb_result_u64(result, KMB_VALUE_SAMPLES, &r->samples);
  kmb_result_u64(result, KMB_VALUE_BATCH, &r->batch);
  if (!kmb_result_text(result, KMB_VALUE_ZERO_REFERENCE, &text))
    snprintf(r->zero, sizeof r->zero, "%s", text);
}

static bool is_as_asked(const kmb_result *result, reading *r) {
  const char *timer = "", *mode = "", *why = "not said";
  kmb_result_text(result, KMB_VALUE_TIMER, &timer);
  kmb_result_text(result, KMB_VALUE_LAUNCH_MODE, &mode);
  kmb_result_text(result, KMB_VALUE_TIMER_REASON, &why);
  if (strcmp(timer, r->timer_name) == 0 && strcmp(mode, r->mode_name) == 0)
    return true;
  snprintf(r->why, sizeof r->why, "%s", why);
  return false;
}

static void read_one(probe *p, double wall_ns, reading *r) {
  kmb_bench_params b = kmb_bench_params_init();
  kmb_result *result = NULL;
  if (!p->launch) {
    snprintf(r->why, sizeof r->why, "%s", p->why);
    return;
  }
  b.name = "probe";
  b.launch = p->launch;
  b.launch_user = &p->symbol;
  b.buffers = p->buffers;
  b.timer = r->timer;
  b.launch_mode = r->mode;
  b.cache = KMB_CACHE_WARM;
  b.min_wall_ns = wall_ns / 8;
  b.max_wall_ns = wall_ns;
  /* Nothing is required: the reason for what was taken instead says most. */
  b.flags = KMB_BENCH_NO_CONFIRM | KMB_BENCH_NO_CEILINGS;
  if (kmb_bench(p->device, &b, &result))
    snprintf(r->why, sizeof r->why, "%s", kmb_last_error(NULL, NULL));
  else if (is_as_asked(result, r))
    keep(result, r);
  kmb_result_destroy(result);
}

static const reading ways[PROBE_READINGS] = {
    {.timer = KMB_TIMER_TRACE,
     .mode = KMB_LAUNCH_PLAIN,
     .timer_name = "TRACE",
     .mode_name = "PLAIN"},
    {.timer = KMB_TIMER_TRACE,
     .mode = KMB_LAUNCH_GRAPH,
     .timer_name = "TRACE",
     .mode_name = "GRAPH"},
    {.timer = KMB_TIMER_GRAPH,
     .mode = KMB_LAUNCH_GRAPH,
     .timer_name = "GRAPH",
     .mode_name = "GRAPH"},
    {.timer = KMB_TIMER_EVENT,
     .mode = KMB_LAUNCH_PLAIN,
     .timer_name = "EVENT",
     .mode_name = "PLAIN"},
    {.timer = KMB_TIMER_EVENT,
     .mode = KMB_LAUNCH_GRAPH,
     .timer_name = "EVENT",
     .mode_name = "GRAPH"},
    {.timer = KMB_TIMER_HOST,
     .mode = KMB_LAUNCH_PLAIN,
     .timer_name = "HOST",
     .mode_name = "PLAIN"},
};

int probe_read(probe *p, double wall_ns, bool modes,
               reading readings[PROBE_READINGS]) {
  int count = 0;
  for (int i = 0; i < PROBE_READINGS; i++) {
    reading *last = count ? &readings[count - 1] : NULL;
    bool again = last && last->timer == ways[i].timer;
    if (again && !modes && last->works) continue;
    /* Where no mode works, the first one's reason stands for both. */
    reading next = ways[i];
    read_one(p, wall_ns, &next);
    if (again && !modes && !next.works) continue;
    if (again && !modes)
      *last = next;
    else
      readings[count++] = next;
  }
  return count;
}

int open_device(const char *word, kmb_device **device) {
  static const char *const backends[] = {"cuda", "hip"};
  char name[64];
  uint64_t number = 0;
  *device = NULL;
  if (!read_number(word, &number))
    return report(kmb_device_open(word, NULL, device));
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "%s:%llu", backends[i],
             (unsigned long long)number);
    if (!kmb_device_open(name, NULL, device)) return EXIT_DONE;
    fprintf(stderr, "kmb: %s: %s\n", name, kmb_last_error(NULL, NULL));
  }
  fprintf(stderr,
          "kmb: no backend has a GPU of number %s; \"host\" is the "
          "host, kmb info lists what is here\n",
          word);
  return EXIT_USAGE;
}
