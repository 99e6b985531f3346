/* Why EVENT through HIP and through CUDA were apart by up to 0.2 us on a GPU:
 * what an event pair reads of one kernel that spins, in phases that add one
 * suspect each, and how it moves with time. Pairs of this program's own, behind
 * a gate as the backends have them, stand beside what both backends read and
 * what a calibration of each, made anew, says. JSON to the file that is named;
 * nothing is judged.
 *
 * Read it so: a bias that moves from one calibration to the next while the own
 * pairs stay has its cause in the calibration; own pairs that step at a phase
 * name the suspect; own pairs that drift within a series are the machine's. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "../gpu/gpu.h"
#include "../gpu/report.h"

enum { PAIRS_MOST = 16, PAIRS = 4, SAMPLES = 336, ROUNDS = 6, WINDOWS = 40 };
#define SPIN_NS 2000.0
#define WINDOW_NS 25e6

static gpu g;
static FILE *json;
static volatile uint32_t *gate;
static kmbi_cu_pointer gate_device;
static double began;

static void wait_for(kmbi_cu_stream stream) {
  while (g.cu.cuStreamQuery(stream) == KMBI_CU_NOT_READY) {
  }
}

/* One gate's pairs. */
static void take(spin_work *w, kmbi_cu_stream stream, kmbi_cu_event *events,
                 size_t pairs, double *us) {
  const kmb_launch l = {.struct_size = sizeof l, .stream = stream};
  __atomic_store_n(gate, 0, __ATOMIC_SEQ_CST);
  CU(&g, cuStreamWaitValue32, stream, gate_device, 1, KMBI_CU_WAIT_GEQ);
  for (size_t i = 0; i < pairs; i++) {
    CU(&g, cuEventRecord, events[2 * i], stream);
    (void)spin_launch(w, &l);
    CU(&g, cuEventRecord, events[2 * i + 1], stream);
  }
  __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
  wait_for(stream);
  for (size_t i = 0; i < pairs; i++) {
    float ms = 0;
    CU(&g, cuEventElapsedTime, &ms, events[2 * i], events[2 * i + 1]);
    us[i] = (double)ms * 1e3;
  }
}

static void make(kmbi_cu_event *events) {
  for (int i = 0; i < 2 * PAIRS_MOST; i++)
    CU(&g, cuEventCreate, &events[i], KMBI_CU_EVENT_DEFAULT);
}

static void drop(kmbi_cu_event *events) {
  for (int i = 0; i < 2 * PAIRS_MOST; i++)
    CU(&g, cuEventDestroy, events[i]);
}

static spin_work spin(void) {
  return (spin_work){.g = &g,
                     .kernel = gpu_kernel(&g, "test_spin"),
                     .cycles = (uint64_t)(SPIN_NS * g.ghz)};
}

/* The mean, since a median of stepped values is a step. */
static double own_pairs(spin_work *w, kmbi_cu_stream stream,
                        kmbi_cu_event *events, size_t pairs) {
  double us[SAMPLES + PAIRS_MOST];
  for (int i = 0; i < 4; i++)
    take(w, stream, events, pairs, us);
  for (size_t got = 0; got < SAMPLES; got += pairs)
    take(w, stream, events, pairs, us + got);
  return trimmed_mean(us, SAMPLES);
}

static void note(const char *phase, const char *what, double value) {
  static const char *comma = "";
  fprintf(json, "%s\n {\"at_ms\": %.0f, \"phase\": \"%s\", \"what\": \"%s\"",
          comma, (gpu_now() - began) / 1e6, phase, what);
  if (isfinite(value)) fprintf(json, ", \"us\": %.4f", value);
  fputc('}', json);
  comma = ",";
}

static void row(const char *phase, const char *what, double value) {
  note(phase, what, value);
  printf("%6.0f ms  %-28s %-34s %8.4f\n", (gpu_now() - began) / 1e6, phase,
         what, value);
}

typedef struct old { /* made before anything else */
  kmbi_cu_event events[2 * PAIRS_MOST];
  kmbi_cu_stream stream;
} old;

/* Old and new events, old and new streams. */
static void own(const char *phase, old *o, kmbi_cu_pointer out) {
  kmbi_cu_event events[2 * PAIRS_MOST];
  kmbi_cu_stream stream = NULL;
  spin_work silent = spin(), w = spin();
  w.out = out;
  row(phase, "own, old events, old stream",
      own_pairs(&w, o->stream, o->events, PAIRS));
  make(events);
  row(phase, "own, new events, old stream",
      own_pairs(&w, o->stream, events, PAIRS));
  CU(&g, cuStreamCreate, &stream, KMBI_CU_STREAM_NON_BLOCKING);
  row(phase, "own, new events, new stream",
      own_pairs(&w, stream, events, PAIRS));
  row(phase, "own, kernel stores nothing",
      own_pairs(&silent, o->stream, o->events, PAIRS));
  CU(&g, cuStreamDestroy, stream);
  drop(events);
}

/* What a backend reads of the same kernel, and the bias that it takes off. */
static void through(const char *phase, const char *name, kmb_device *device,
                    kmb_timer timer, kmbi_cu_pointer out) {
  char what[64];
  spin_work w = spin();
  kmb_result *r = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  w.out = out;
  p.timer = timer;
  p.launch_mode = KMB_LAUNCH_PLAIN;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  p.launch = spin_launch;
  p.launch_user = &w;
  if (kmb_bench(device, &p, &r)) {
    fprintf(stderr, "%s: %s\n", name, kmb_last_error(NULL, NULL));
    return;
  }
  double bias = result_f64(r, KMB_VALUE_BIAS, NAN) / 1e3;
  snprintf(what, sizeof what, "%s, samples", name);
  row(phase, what, trimmed_mean_of(r, NULL) / 1e3);
  snprintf(what, sizeof what, "%s, bias", name);
  if (timer != KMB_TIMER_TRACE) row(phase, what, bias);
  snprintf(what, sizeof what, "%s, uncertainty", name);
  if (timer != KMB_TIMER_TRACE)
    row(phase, what, result_f64(r, KMB_VALUE_BIAS_UNCERTAINTY, NAN) / 1e3);
  kmb_result_destroy(r);
}

/* A device opened anew calibrates anew. */
static void anew(const char *phase, const char *spec, kmbi_cu_pointer out) {
  kmb_device *device = NULL;
  kmb_device_params params = kmb_device_params_init();
  params.llc_bytes = g.llc;
  if (kmb_device_open(spec, &params, &device)) {
    fprintf(stderr, "%s: %s\n", spec, kmb_last_error(NULL, NULL));
    return;
  }
  bool hip = strncmp(spec, "hip", 3) == 0;
  through(phase, hip ? "HIP, EVENT" : "CUDA, EVENT", device, KMB_TIMER_EVENT,
          out);
  kmb_device_close(device);
}

/* Pairs without a pause: whether what they cost moves with time. */
static void series(const char *phase, old *o, kmbi_cu_pointer out) {
  spin_work w = spin();
  w.out = out;
  double since = gpu_now(), least = INFINITY, most = 0;
  for (int i = 0; i < WINDOWS; i++) {
    double us[4096], mean = 0;
    size_t n = 0;
    double end = since + WINDOW_NS * (i + 1);
    while (gpu_now() < end && n + PAIRS <= sizeof us / sizeof us[0]) {
      take(&w, o->stream, o->events, PAIRS, us + n);
      n += PAIRS;
    }
    if (!n) continue;
    mean = trimmed_mean(us, n);
    note(phase, "own, without a pause", mean);
    least = fmin(least, mean);
    most = fmax(most, mean);
  }
  printf("%6.0f ms  %-28s own, without a pause, %d windows  %.4f to %.4f\n",
         (gpu_now() - began) / 1e6, phase, WINDOWS, least, most);
}

static void counts(old *o, kmbi_cu_pointer out) {
  static const size_t pairs[] = {1, 2, 4, 8, 16};
  spin_work w = spin();
  w.out = out;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char what[64];
    snprintf(what, sizeof what, "own, %zu pairs behind a gate", pairs[i]);
    row("pairs", what, own_pairs(&w, o->stream, o->events, pairs[i]));
  }
}

static void all(kmbi_cu_pointer out) {
  old o = {.stream = NULL};
  CU(&g, cuStreamCreate, &o.stream, KMBI_CU_STREAM_NON_BLOCKING);
  make(o.events);
  own("never traced", &o, out);
  series("never traced", &o, out);
  through("calibrated once", "CUDA, EVENT", g.device, KMB_TIMER_EVENT, out);
  own("calibrated once", &o, out);
  through("traced", "CUDA, TRACE", g.device, KMB_TIMER_TRACE, out);
  own("right after TRACE", &o, out);
  series("after TRACE", &o, out);
  for (int i = 0; i < ROUNDS; i++)
    anew("before HIP", "cuda:0", out);
  anew("HIP opened", "hip:0", out);
  own("after HIP", &o, out);
  for (int i = 0; i < ROUNDS; i++) {
    anew("in turns", "cuda:0", out);
    through("in turns", "CUDA as calibrated first", g.device, KMB_TIMER_EVENT,
            out);
    anew("in turns", "hip:0", out);
    through("in turns", "CUDA, TRACE", g.device, KMB_TIMER_TRACE, out);
    own("in turns", &o, out);
  }
  counts(&o, out);
  drop(o.events);
  CU(&g, cuStreamDestroy, o.stream);
}

int main(int argc, char **argv) {
  kmbi_cu_pointer out = 0;
  void *memory = NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  gpu_open(&g, "cuda:0", NULL);
  began = gpu_now();
  json = argc > 1 ? fopen(argv[1], "w") : stdout;
  if (!json) {
    perror(argv[1]);
    return 1;
  }
  CU(&g, cuMemAlloc, &out, 4096);
  CU(&g, cuMemHostAlloc, &memory, 4096,
     KMBI_CU_HOST_PORTABLE | KMBI_CU_HOST_DEVICEMAP);
  CU(&g, cuMemHostGetDevicePointer, &gate_device, memory, 0);
  gate = memory;
  fprintf(json, "{\"ghz\": %.5f, \"spin_us\": %g, \"rows\": [", g.ghz,
          SPIN_NS / 1e3);
  all(out);
  fprintf(json, "]}\n");
  CU(&g, cuMemFreeHost, memory);
  CU(&g, cuMemFree, out);
  gpu_close(&g);
  return json != stdout && fclose(json) ? 1 : 0;
}
