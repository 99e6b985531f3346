/* The kernels of the calibration. What a timer reads beyond the tracer depends
 * on the kernel a little, and after a sweep more than a little: what a launch
 * fetches is then in no cache. So there are several kinds. */
#include "probes.h"

#include <math.h>
#include <stdlib.h>

#include "formats.h"

enum {
  WARM = 16,
  WARM_LONG = 8,
  LEAST = 48, /* samples of a reading */
  MOST = 336,
  WIDE_THREADS = 16384,
  BODY_BYTES = 1024,
  READ_WORDS = 1 << 18 /* of 16 bytes */
};
#ifndef READING_NS     /* tests take shorter ones */
#define READING_NS 4e6 /* for the samples of a reading, */
#endif
#define READING_COLD_NS (0.75 * READING_NS) /* after sweeps */
#define HOST_NS 15e3                        /* of a sample, beside the kernel */
#define SWEEP_NS 45e3
#define LONG_NS 50e3
/* 99% of a median's scatter, from the median deviation of the samples. */
#define SCATTER (2.576 * 1.2533 * 1.4826)

typedef struct work { /* of the launch callback */
  kmbi_cuda *self;
  const kmbi_cuda_probe *probe;
  uint64_t cycles;
} work;

static kmb_status launch_wide(kmbi_cuda *self, kmbi_cu_stream stream,
                              uint64_t cycles) {
  kmbi_cu_pointer out = self->space->scratch + KMBI_CUDA_OUT;
  void *arguments[] = {&cycles, &out};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_spin, WIDE_THREADS,
                          arguments);
}

static kmb_status launch_body(kmbi_cuda *self, kmbi_cu_stream stream) {
  kmbi_cuda_format bf16;
  kmbi_cu_pointer to = self->space->scratch + KMBI_CUDA_OUT;
  uint64_t bytes = BODY_BYTES, key = 1;
  double low = -1, high = 1;
  uint32_t bits = 16;
  (void)kmbi_cuda_format_of(KMB_BF16, &bf16);
  uint32_t format = kmbi_cuda_format_word(&bf16);
  void *arguments[] = {&to, &bytes, &key, &low, &high, &bits, &format};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_random_small, BODY_BYTES / 4,
                          arguments);
}

static kmb_status launch_read(kmbi_cuda *self, kmbi_cu_stream stream) {
  kmbi_cuda_space *space = self->space;
  uint64_t count = space->sweep_bytes / 16;
  if (count > READ_WORDS) count = READ_WORDS;
  void *arguments[] = {&space->sweep, &count, &space->scratch};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_sweep, count, arguments);
}

static kmb_status launch(void *user, const kmb_launch *l) {
  const work *w = user;
  kmbi_cuda *self = w->self;
  kmbi_cu_stream stream = l->stream;
  kmbi_cu_pointer out = self->space->scratch + KMBI_CUDA_OUT;
  kmb_status status = KMB_OK;
  switch (w->probe->kind) {
  case KMBI_CUDA_PROBE_EMPTY:
    return kmbi_cuda_launch(self, stream, KMBI_CUDA_empty, 1, NULL);
  case KMBI_CUDA_PROBE_WIDE:
    return launch_wide(self, stream, w->cycles);
  case KMBI_CUDA_PROBE_BODY:
    return launch_body(self, stream);
  case KMBI_CUDA_PROBE_READ:
    return launch_read(self, stream);
  case KMBI_CUDA_PROBE_PAIR:
    status = launch_body(self, stream);
    break;
  case KMBI_CUDA_PROBE_SPIN:
    break;
  }
  return status ? status : kmbi_cuda_spin(self, stream, w->cycles, out);
}

const char *kmbi_cuda_probe_name(const kmbi_cuda_probe *probe) {
  static const char *const names[] = {"empty", "spin", "wide",
                                      "body",  "read", "pair"};
  return names[probe->kind];
}

static int choose(kmbi_cuda_probe *probes, const kmbi_cuda_probe *from,
                  int count) {
  memcpy(probes, from, (size_t)count * sizeof *from);
  return count;
}

/* After a sweep every kind counts alike. Warm, the bias is that of kernels that
 * store something, the shortest to some of the longest. */
int kmbi_cuda_probes_choose(const kmb_choice *choice, uint64_t batch,
                            kmbi_cuda_probe *probes) {
  static const kmbi_cuda_probe cold[] = {
      {KMBI_CUDA_PROBE_EMPTY, true, 0},    {KMBI_CUDA_PROBE_SPIN, true, 1500},
      {KMBI_CUDA_PROBE_SPIN, true, 20e3},  {KMBI_CUDA_PROBE_WIDE, true, 4000},
      {KMBI_CUDA_PROBE_BODY, true, 0},     {KMBI_CUDA_PROBE_READ, true, 0},
      {KMBI_CUDA_PROBE_PAIR, false, 1500},
  };
  static const kmbi_cuda_probe warm[] = {
      {KMBI_CUDA_PROBE_SPIN, true, 1500},  {KMBI_CUDA_PROBE_SPIN, true, 7000},
      {KMBI_CUDA_PROBE_SPIN, true, 30e3},  {KMBI_CUDA_PROBE_SPIN, true, 120e3},
      {KMBI_CUDA_PROBE_EMPTY, false, 0},   {KMBI_CUDA_PROBE_WIDE, false, 4000},
      {KMBI_CUDA_PROBE_PAIR, false, 1500},
  };
  bool pair = choice->timer == KMB_TIMER_EVENT &&
              choice->launch_mode == KMB_LAUNCH_GRAPH;
  if (choice->timer != KMB_TIMER_GRAPH)
    return choose(probes, choice->cache == KMB_CACHE_COLD ? cold : warm,
                  pair ? KMBI_CUDA_PROBES : KMBI_CUDA_PROBES - 1);
  /* Replays about as long as the engine's are. */
  double n = (double)batch;
  kmbi_cuda_probe replays[] = {
      {KMBI_CUDA_PROBE_SPIN, true, 45e3 / n},
      {KMBI_CUDA_PROBE_SPIN, true, 110e3 / n},
      {KMBI_CUDA_PROBE_EMPTY, false, 0},
      {KMBI_CUDA_PROBE_WIDE, false, 45e3 / n},
  };
  return choose(probes, replays, 4);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

double kmbi_cuda_median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Spread evenly over a step of the clock, in an order that repeats nothing: a
 * median of stepped values is otherwise one of the steps. */
static double dither(uint64_t index, double tick_ns) {
  double turn = (double)index * 0.6180339887498949;
  return (turn - floor(turn) - 0.5) * tick_ns;
}

static kmb_status read_samples(kmbi_cuda *self, const kmb_sample *samples,
                               uint64_t count, uint64_t batch,
                               kmbi_cuda_reading *r) {
  double ns[MOST];
  size_t n = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!(samples[i].flags & KMB_SAMPLE_INVALID))
      ns[n++] = (samples[i].span_ns + dither(i, self->tick_ns)) / (double)batch;
  if (n < 8)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "calibration: only %zu of %llu samples are valid", n,
                          (unsigned long long)count);
  r->ns = kmbi_cuda_median(ns, n);
  for (size_t i = 0; i < n; i++)
    ns[i] = fabs(ns[i] - r->ns);
  r->scatter = SCATTER * kmbi_cuda_median(ns, n) / sqrt((double)n);
  return KMB_OK;
}

static uint64_t samples_for(double ns, uint64_t batch, bool cold) {
  double each = ns * (double)batch + HOST_NS + (cold ? SWEEP_NS : 0);
  double count = (cold ? READING_COLD_NS : READING_NS) / each;
  if (count < LEAST) return LEAST;
  return count > MOST ? MOST : (uint64_t)count;
}

kmb_status kmbi_cuda_probe_time(kmbi_cuda *self, const kmb_choice *choice,
                                const kmbi_cuda_probe *probe, uint64_t batch,
                                kmbi_cuda_reading *reading) {
  kmb_sample samples[MOST];
  work w = {self, probe, kmbi_cuda_cycles(self, probe->ns)};
  bool cold = choice->cache == KMB_CACHE_COLD;
  bool slow = cold || probe->ns * (double)batch > LONG_NS;
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  kmb_plan_desc desc = {
      .struct_size = sizeof desc,
      .launch = launch,
      .launch_user = &w,
      .stream = stream,
      .batch = batch,
      .slots = 1,
      .choice = {choice->timer, choice->launch_mode,
                 cold ? KMB_CACHE_COLD : KMB_CACHE_WARM, 0},
  };
  void *plan = NULL;
  uint64_t got = 0;
  double far = kmbi_cuda_now() + 1e18;
  if (!status) status = kmbi_cuda_plan_create(self, &desc, &plan);
  if (status) return status;
  status = kmbi_cuda_plan_run(self, plan, slow ? WARM_LONG : WARM, far, samples,
                              &got);
  if (!status)
    status = kmbi_cuda_plan_run(self, plan, samples_for(probe->ns, batch, cold),
                                far, samples, &got);
  kmbi_cuda_plan_destroy(self, plan);
  return status ? status : read_samples(self, samples, got, batch, reading);
}
