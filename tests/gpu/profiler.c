/* What the calls of CUPTI's range profiler cost, one by one, and what of a
 * session could serve the next one: JSON to the file that is named, a table to
 * stdout. With "beside" first: how the library's timers read while a session is
 * enabled and nothing is counted; and what becomes of a command that
 * KMB_TEST_BESIDE holds, another profiler's with a table of CSV, while the
 * library keeps a session. */
#define _GNU_SOURCE /* popen */
#include <kmb/counters.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../backends/cuda/profiler_api.h"
#include "report.h"

#define MIB (UINT64_C(1) << 20)
/* Far more than any cache: each session counts as much. */
#define READ (512 * MIB)

typedef enum call {
  HOST,
  METRICS,
  IMAGE,
  ENABLE,
  DATA,
  CONFIG,
  FIRST_START,
  START,
  LAUNCH,
  STOP,
  DECODE,
  EVALUATE,
  DISABLE,
  DROP,
  CALLS
} call;

static const char *const names[CALLS] = {
    "host object", "metrics",     "image",   "enable", "counter data",
    "configure",   "first start", "start",   "launch", "stop",
    "decode",      "evaluate",    "disable", "drop"};

static const char *metrics[] = {
#define METRIC(name, place, metric, unit, text) [place] = (metric),
    KMB_COUNTERS_SOL_MAP(METRIC)
#undef METRIC
};

typedef struct session {
  gpu *g;
  kmbi_profiler_api api;
  kmbi_cu_function kernel;
  kmbi_cu_pointer from, sink;
  const char *chip;
  size_t count; /* of metrics */
  void *host, *profiler;
  uint8_t *image, *data, *old;
  size_t image_bytes, data_bytes;
  kmbi_cupti_result failed; /* the first one */
  const char *failed_in;
  double began; /* the call that is being timed */
  double ms[CALLS];
} session;

#define SIZE(type, last) .size = KMBI_PROFILER_SIZE(type, last)

/* False once one has failed: nothing is called any more. The time before the
 * call is taken before it, as an argument beside it it might not be. */
#define CALL(s, what, name, params) \
  (begins(s) ? note((s), (what), #name, (s)->api.name(params)) : false)

static bool begins(session *s) {
  s->began = gpu_now();
  return !s->failed;
}

static bool note(session *s, call what, const char *name,
                 kmbi_cupti_result result) {
  s->ms[what] += (gpu_now() - s->began) / 1e6;
  if (result) s->failed = result, s->failed_in = name;
  return !result;
}

static void *room(size_t bytes) {
  void *at = calloc(1, bytes ? bytes : 1);
  if (!at) exit(1);
  return at;
}

static void make_host(session *s) {
  kmbi_host_initialize init = {SIZE(kmbi_host_initialize, host),
                               .type = KMBI_PROFILER_RANGE, .chip = s->chip};
  if (!CALL(s, HOST, cuptiProfilerHostInitialize, &init)) return;
  s->host = init.host;
  kmbi_host_metrics add = {SIZE(kmbi_host_metrics, count), .host = s->host,
                           .names = metrics, .count = s->count};
  kmbi_host_config_size size = {SIZE(kmbi_host_config_size, bytes),
                                .host = s->host};
  CALL(s, METRICS, cuptiProfilerHostConfigAddMetrics, &add);
  CALL(s, IMAGE, cuptiProfilerHostGetConfigImageSize, &size);
  s->image = room(size.bytes);
  s->image_bytes = size.bytes;
  kmbi_host_config image = {SIZE(kmbi_host_config, image), .host = s->host,
                            .bytes = size.bytes, .image = s->image};
  CALL(s, IMAGE, cuptiProfilerHostGetConfigImage, &image);
}

static void drop_host(session *s) {
  kmbi_host_deinitialize p = {SIZE(kmbi_host_deinitialize, host),
                              .host = s->host};
  if (s->host) CALL(s, DROP, cuptiProfilerHostDeinitialize, &p);
  free(s->image);
  s->image = NULL, s->host = NULL;
}

static void enable(session *s) {
  kmbi_range_enable on = {SIZE(kmbi_range_enable, profiler),
                          .context = s->g->context};
  if (CALL(s, ENABLE, cuptiRangeProfilerEnable, &on)) s->profiler = on.profiler;
}

/* Whatever failed, so that the next one finds nothing enabled. */
static void disable(session *s) {
  kmbi_range_disable off = {SIZE(kmbi_range_disable, profiler),
                            .profiler = s->profiler};
  s->began = gpu_now();
  if (s->profiler)
    note(s, DISABLE, "cuptiRangeProfilerDisable",
         s->api.cuptiRangeProfilerDisable(&off));
  s->profiler = NULL;
  free(s->data);
  free(s->old);
  s->data = s->old = NULL;
}

static void empty_data(session *s) {
  kmbi_range_data data = {SIZE(kmbi_range_data, image), .profiler = s->profiler,
                          .bytes = s->data_bytes, .image = s->data};
  memset(s->data, 0, s->data_bytes);
  CALL(s, DATA, cuptiRangeProfilerCounterDataImageInitialize, &data);
}

/* The old ones are CUPTI's until it is set for others. */
static void make_data(session *s) {
  kmbi_range_data_size size = {SIZE(kmbi_range_data_size, bytes),
                               .profiler = s->profiler,
                               .names = metrics,
                               .count = s->count,
                               .ranges = 1,
                               .nodes = 1};
  CALL(s, DATA, cuptiRangeProfilerGetCounterDataSize, &size);
  free(s->old);
  s->old = s->data;
  s->data = room(size.bytes);
  s->data_bytes = size.bytes;
  empty_data(s);
}

static void configure(session *s) {
  kmbi_range_config p = {SIZE(kmbi_range_config, target_level),
                         .profiler = s->profiler,
                         .config_bytes = s->image_bytes,
                         .config = s->image,
                         .data_bytes = s->data_bytes,
                         .data = s->data,
                         .range = KMBI_RANGE_AUTO,
                         .replay = KMBI_REPLAY_USER,
                         .ranges = 1,
                         .levels = 1,
                         .first_level = 1,
                         .target_level = 1};
  CALL(s, CONFIG, cuptiRangeProfilerSetConfig, &p);
}

static void launch(session *s) {
  uint64_t count = READ / 16;
  void *arguments[] = {&s->from, &s->sink, &count};
  double began = gpu_now();
  CU(s->g, cuLaunchKernel, s->kernel, 1056, 1, 1, 512, 1, 1, 0, s->g->stream,
     arguments, NULL);
  while (s->g->cu.cuStreamQuery(s->g->stream) == KMBI_CU_NOT_READY) {
  }
  s->ms[LAUNCH] += (gpu_now() - began) / 1e6;
}

static void run_passes(session *s) {
  for (int i = 0; i < 30 && !s->failed; i++) {
    kmbi_range_start on = {SIZE(kmbi_range_start, profiler),
                           .profiler = s->profiler};
    kmbi_range_stop off = {SIZE(kmbi_range_stop, complete),
                           .profiler = s->profiler};
    if (!CALL(s, i ? START : FIRST_START, cuptiRangeProfilerStart, &on)) return;
    launch(s);
    CALL(s, STOP, cuptiRangeProfilerStop, &off);
    if (off.complete) return;
  }
}

static double evaluate(session *s) {
  double values[KMB_COUNTERS_SOL_COUNT] = {0};
  kmbi_range_decode decode = {SIZE(kmbi_range_decode, dropped),
                              .profiler = s->profiler};
  kmbi_host_evaluate p = {SIZE(kmbi_host_evaluate, values),
                          .host = s->host,
                          .image = s->data,
                          .bytes = s->data_bytes,
                          .names = metrics,
                          .count = s->count,
                          .values = values};
  CALL(s, DECODE, cuptiRangeProfilerDecodeData, &decode);
  CALL(s, EVALUATE, cuptiProfilerHostEvaluateToGpuValues, &p);
  return values[0];
}

/* One line of the table, and zeros for the next one. */
static void say(session *s, FILE *json, const char *what, double bytes) {
  static bool second;
  double sum = 0;
  fprintf(json, "%s\n  {\"what\": \"%s\", \"metrics\": %zu, ",
          second ? "," : "", what, s->count);
  second = true;
  printf("%-34s %zu metrics:", what, s->count);
  for (int i = 0; i < CALLS; i++) {
    sum += s->ms[i];
    fprintf(json, "\"%s\": %.3f, ", names[i], s->ms[i]);
    if (s->ms[i] > 0) printf(" %s %.1f", names[i], s->ms[i]);
    s->ms[i] = 0;
  }
  fprintf(json, "\"ms\": %.3f, \"dram_read\": %.0f, ", sum, bytes);
  fprintf(json, "\"failed\": %u, \"in\": \"%s\"}", s->failed,
          s->failed ? s->failed_in : "");
  printf(", in all %.1f ms, %.0f B", sum, bytes);
  if (s->failed) printf(", FAILED with %u in %s", s->failed, s->failed_in);
  putchar('\n');
  s->failed = 0;
}

static double collect(session *s) {
  make_data(s);
  configure(s);
  run_passes(s);
  return evaluate(s);
}

static void costs(session *s, FILE *json) {
  for (int i = 0; i < 3; i++) {
    s->count = KMB_COUNTERS_SOL_COUNT;
    make_host(s);
    enable(s);
    double bytes = collect(s);
    disable(s);
    drop_host(s);
    say(s, json, "everything made anew", bytes);
  }
  for (s->count = KMB_COUNTERS_SOL_COUNT; s->count;
       s->count = s->count > 1 ? 1 : 0) {
    make_host(s);
    say(s, json, "the host's part alone", 0);
    for (int i = 0; i < 3; i++) {
      enable(s);
      double bytes = collect(s);
      disable(s);
      say(s, json, "host object kept", bytes);
    }
    enable(s);
    say(s, json, "enabled alone", 0);
    for (int i = 0; i < 3; i++)
      say(s, json, "enabled and host object kept", collect(s));
    for (int i = 0; i < 3; i++) {
      empty_data(s);
      run_passes(s);
      say(s, json, "setting kept too", evaluate(s));
    }
    disable(s);
    say(s, json, "disabled alone", 0);
    drop_host(s);
    say(s, json, "host object dropped alone", 0);
  }
}

/* Timers. */

static void time_all(session *s, FILE *json, const char *when) {
  static bool second;
  move_work w = {s->g, s->kernel, s->sink, 8 * MIB, false};
  spin_work spin = {
      .g = s->g, .kernel = gpu_kernel(s->g, "test_spin"), .cycles = 20000};
  for (int m = 0; m < MODES; m++)
    for (int reads = 0; reads < 2; reads++) {
      kmb_buffers *buffers =
          reads ? move_buffers(s->g, 8 * MIB, false, 0) : NULL;
      kmb_bench_params p =
          params_for(&modes[m], reads ? KMB_CACHE_COLD : KMB_CACHE_WARM);
      p.launch = reads ? move_launch : spin_launch;
      p.launch_user = reads ? (void *)&w : (void *)&spin;
      p.buffers = buffers;
      kmb_result *r = bench(s->g, &p, when);
      fprintf(json, "%s\n  {\"when\": \"%s\", \"kernel\": \"%s\", ",
              second ? "," : "", when, reads ? "read 8 MiB" : "spin");
      second = true;
      print_result(json, modes[m].key, r);
      fputc('}', json);
      printf("%-10s %-12s %-10s %.3f us\n", when, modes[m].key,
             reads ? "read 8 MiB" : "spin",
             r ? result_f64(r, KMB_VALUE_TIME, -1e3) / 1e3 : -1);
      kmb_result_destroy(r);
      kmb_buffers_destroy(buffers);
    }
}

/* Another process. */

typedef struct table {
  int code, kernels;
  char said[256]; /* its first error */
} table;

/* Its lines begin with a quote, and the tests' kernels with "test_". */
static table run_command(const char *command) {
  table t = {.code = -1};
  char line[4096];
  fflush(NULL);
  FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c): the test's own
  if (!pipe) return t;
  while (fgets(line, sizeof line, pipe)) {
    t.kernels += line[0] == '"' && strstr(line, "\"test_") != NULL;
    if (strncmp(line, "==ERROR==", 9) == 0 && !t.said[0])
      snprintf(t.said, sizeof t.said, "%.*s", (int)strcspn(line, "\r\n\"\\"),
               line);
  }
  int status = pclose(pipe);
  if (WIFEXITED(status)) t.code = WEXITSTATUS(status);
  return t;
}

static void say_table(FILE *json, const char *when, const table *t) {
  static bool second;
  printf("%-28s ended with %d, %d kernels in its table%s%s\n", when, t->code,
         t->kernels, t->said[0] ? ": " : "", t->said);
  fprintf(json,
          "%s\n  {\"when\": \"%s\", \"code\": %d, \"kernels\": %d, "
          "\"said\": \"%s\"}",
          second ? "," : "", when, t->code, t->kernels, t->said);
  second = true;
}

/* A read of 8 MiB whose session stays, and the bytes from DRAM. */
static double keep_session(session *s) {
  kmb_buffers *buffers = move_buffers(s->g, 8 * MIB, false, 0);
  move_work w = {s->g, s->kernel, s->sink, 8 * MIB, false};
  kmb_bench_params p = params_for(&modes[0], KMB_CACHE_COLD);
  kmb_counters_params params = kmb_counters_params_init();
  kmb_counters *c = NULL;
  double bytes = -1;
  p.launch = move_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  params.flags = KMB_COUNTERS_KEEP;
  if (kmb_counters_read(s->g->device, &p, &params, &c))
    fprintf(stderr, "keep: %s\n", kmb_last_error(NULL, NULL));
  else if (kmb_counters_value(c, 0, KMB_COUNTERS_SOL_DRAM_READ, &bytes))
    bytes = -1;
  kmb_counters_destroy(c);
  kmb_buffers_destroy(buffers);
  return bytes;
}

/* Alone, while a session is kept, and after it was given back. */
static void command_beside(session *s, FILE *json) {
  const char *command =
      getenv("KMB_TEST_BESIDE"); // NOLINT(concurrency-mt-unsafe)
  double bytes[2] = {-1, -1};
  fprintf(json, "\n ],\n \"beside\": [");
  if (command && *command) {
    table t = run_command(command);
    say_table(json, "alone", &t);
    bytes[0] = keep_session(s);
    t = run_command(command);
    say_table(json, "beside a kept session", &t);
    bytes[1] = keep_session(s);
    if (kmb_counters_release(s->g->device))
      fprintf(stderr, "release: %s\n", kmb_last_error(NULL, NULL));
    t = run_command(command);
    say_table(json, "after it was given back", &t);
    printf("the library read %.0f B before it, %.0f B after it\n", bytes[0],
           bytes[1]);
  }
  fprintf(json, "\n ],\n \"kept_read\": [%.0f, %.0f", bytes[0], bytes[1]);
}

static void beside(session *s, FILE *json) {
  s->count = KMB_COUNTERS_SOL_COUNT;
  time_all(s, json, "before");
  make_host(s);
  enable(s);
  make_data(s);
  configure(s);
  if (s->failed) fprintf(stderr, "%s: %u\n", s->failed_in, s->failed);
  time_all(s, json, "enabled");
  run_passes(s);
  double bytes = evaluate(s);
  printf("and then counted: %.0f B, %s\n", bytes,
         s->failed ? s->failed_in : "good");
  disable(s);
  drop_host(s);
  time_all(s, json, "after");
  command_beside(s, json);
}

/* What the library opened; NULL-free, or why not. */
static const char *open_api(session *s) {
  kmb_bench_params p = params_for(&modes[0], KMB_CACHE_WARM);
  spin_work w = {.g = s->g, .kernel = gpu_kernel(s->g, "test_spin")};
  kmb_counters *c = NULL;
  p.launch = spin_launch;
  p.launch_user = &w;
  if (kmb_counters_read(s->g->device, &p, NULL, &c))
    return kmb_last_error(NULL, NULL);
  kmb_counters_destroy(c);
  void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
  if (!cupti) cupti = dlopen("libcupti.so.12", RTLD_NOW);
  if (!cupti) return "libcupti.so.13 or .12 is not found by name";
#define LOOK_UP(name, type)                       \
  *(void **)(&s->api.name) = dlsym(cupti, #name); \
  if (!s->api.name) return "CUPTI lacks " #name;
  KMBI_PROFILER_MAP(LOOK_UP)
#undef LOOK_UP
  kmbi_profiler_chip chip = {SIZE(kmbi_profiler_chip, name)};
  kmbi_profiler_initialize init = {SIZE(kmbi_profiler_initialize, none)};
  if (s->api.cuptiProfilerInitialize(&init) ||
      s->api.cuptiDeviceGetChipName(&chip))
    return "CUPTI does not tell the chip";
  s->chip = chip.name;
  return NULL;
}

int main(int argc, char **argv) {
  gpu g;
  bool timers = argc > 1 && strcmp(argv[1], "beside") == 0;
  gpu_open_quietly(&g, "cuda:0", NULL);
  session s = {.g = &g, .kernel = gpu_kernel(&g, "test_read")};
  const char *why = open_api(&s);
  if (why) {
    fprintf(stderr, "no range profiler: %s\n", why);
    return 1;
  }
  CU(&g, cuMemAlloc, &s.from, READ);
  CU(&g, cuMemAlloc, &s.sink, 64 << 10);
  FILE *json = report_open(&g, argc > 1 + timers ? argv[1 + timers] : NULL);
  fprintf(json, " \"%s\": [", timers ? "timers" : "sessions");
  if (timers)
    beside(&s, json);
  else
    costs(&s, json);
  fprintf(json, "\n ]}\n");
  CU(&g, cuMemFree, s.from);
  CU(&g, cuMemFree, s.sink);
  gpu_close(&g);
  return report_close(json);
}
