/* Biases: what each timer and launch mode reads beyond TRACE on plain launches,
 * from an empty kernel and one that spins. Measured when first asked for. */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  KERNELS = 2, /* empty, spin */
  SAMPLES = 64,
  WARM = 16,
  REPLAYS = 16,
  SHORT_BATCH = 16,
  LONG_BATCH = 256
};
#define SPIN_NS 3000.0
#define WAKE_NS 4e6 /* brings the clocks up */
/* 99% of a median's scatter, from the median deviation of the samples. */
#define SCATTER (2.576 * 1.2533 * 1.4826)

/* The launch callback of a calibration. */
typedef struct work {
  kmbi_cuda *self;
  uint64_t cycles; /* 0: empty */
} work;

static kmb_status launch(void *user, const kmb_launch *l) {
  const work *w = user;
  kmbi_cu_stream stream = l->stream;
  if (w->cycles) return kmbi_cuda_spin(w->self, stream, w->cycles, 0);
  return kmbi_cuda_launch(w->self, stream, KMBI_CUDA_empty, 1, NULL);
}

typedef struct reading {
  double ns, scatter;
} reading;

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static kmb_status read_samples(kmbi_cuda *self, const kmb_sample *samples,
                               uint64_t count, reading *r) {
  double ns[SAMPLES];
  size_t n = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!(samples[i].flags & KMB_SAMPLE_INVALID)) ns[n++] = samples[i].span_ns;
  if (n < 8)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "calibration: only %zu of %llu samples are valid", n,
                          (unsigned long long)count);
  r->ns = median(ns, n);
  for (size_t i = 0; i < n; i++)
    ns[i] = fabs(ns[i] - r->ns);
  r->scatter = SCATTER * median(ns, n) / sqrt((double)n);
  return KMB_OK;
}

/* The median time of a sample of `batch` iterations, warm. */
static kmb_status time_it(kmbi_cuda *self, kmb_timer timer,
                          kmb_launch_mode mode, uint64_t cycles, uint64_t batch,
                          reading *r) {
  kmb_sample samples[SAMPLES];
  work w = {self, cycles};
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  kmb_plan_desc desc = {
      .struct_size = sizeof desc,
      .launch = launch,
      .launch_user = &w,
      .stream = stream,
      .batch = batch,
      .slots = 1,
      .choice = {timer, mode, KMB_CACHE_WARM, 0},
  };
  void *plan = NULL;
  uint64_t want = batch > 1 ? REPLAYS : SAMPLES;
  uint64_t got = 0;
  double far = kmbi_cuda_now() + 1e18;
  if (!status) status = kmbi_cuda_plan_create(self, &desc, &plan);
  if (status) return status;
  status = kmbi_cuda_plan_run(self, plan, WARM, far, samples, &got);
  if (!status)
    status = kmbi_cuda_plan_run(self, plan, want, far, samples, &got);
  kmbi_cuda_plan_destroy(self, plan);
  return status ? status : read_samples(self, samples, got, r);
}

static uint64_t spin_cycles(kmbi_cuda *self, double ns) {
  int khz = 0;
  if (!kmbi_cuda_attribute(self, KMBI_CU_ATTR_CLOCK_RATE, &khz) || khz <= 0)
    khz = 1000000;
  return (uint64_t)(ns * khz / 1e6);
}

static kmb_status wake(kmbi_cuda *self) {
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status)
    status = kmbi_cuda_spin(self, stream, spin_cycles(self, WAKE_NS), 0);
  return status ? status : kmbi_cuda_finish(self, stream);
}

static uint64_t cycles_of(kmbi_cuda *self, int kernel) {
  return kernel ? spin_cycles(self, SPIN_NS) : 0;
}

/* Zero: TRACE on plain launches, kept in the biases' form. */
static kmb_status reference(kmbi_cuda *self, int kernel, reading *r) {
  kmbi_cuda_bias *kept = &self->reference[kernel];
  if (!kept->tried) {
    reading now = {0, 0};
    kept->status = time_it(self, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
                           cycles_of(self, kernel), 1, &now);
    kept->tried = true;
    kept->each_ns = now.ns;
    kept->uncertainty_ns = now.scatter;
    snprintf(kept->why, sizeof kept->why, "%s",
             kept->status ? kmb_last_error(NULL, NULL) : "");
  }
  *r = (reading){kept->each_ns, kept->uncertainty_ns};
  if (!kept->status) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                        "no reference to calibrate against: %.200s", kept->why);
}

/* What one kernel says: the fixed part of a sample and that of an iteration. */
typedef struct part {
  double fixed, each, scatter;
} part;

static kmb_status compare(kmbi_cuda *self, const kmb_choice *choice, int kernel,
                          part *p) {
  reading zero = {0, 0};
  reading one = {0, 0};
  reading many = {0, 0};
  uint64_t cycles = cycles_of(self, kernel);
  kmb_status status = reference(self, kernel, &zero);
  if (status) return status;
  bool replay = choice->timer == KMB_TIMER_GRAPH;
  status = time_it(self, choice->timer, choice->launch_mode, cycles,
                   replay ? SHORT_BATCH : 1, &one);
  if (status) return status;
  *p = (part){one.ns - zero.ns, 0, one.scatter + zero.scatter};
  if (!replay) return KMB_OK;
  status = time_it(self, choice->timer, choice->launch_mode, cycles, LONG_BATCH,
                   &many);
  if (status) return status;
  double slope = (many.ns - one.ns) / (LONG_BATCH - SHORT_BATCH);
  p->fixed = one.ns - SHORT_BATCH * slope;
  p->each = slope - zero.ns;
  p->scatter = many.scatter / LONG_BATCH + zero.scatter;
  return KMB_OK;
}

static kmb_status measure(kmbi_cuda *self, const kmb_choice *choice,
                          kmbi_cuda_bias *bias) {
  part parts[KERNELS];
  kmb_status status = wake(self);
  for (int k = 0; !status && k < KERNELS; k++)
    status = compare(self, choice, k, &parts[k]);
  if (status) return status;
  double apart = parts[0].fixed - parts[1].fixed;
  bias->fixed_ns = (parts[0].fixed + parts[1].fixed) / 2;
  bias->each_ns = (parts[0].each + parts[1].each) / 2;
  if (choice->timer == KMB_TIMER_GRAPH) apart = parts[0].each - parts[1].each;
  bias->uncertainty_ns =
      fabs(apart) / 2 + fmax(parts[0].scatter, parts[1].scatter);
  return KMB_OK;
}

static kmbi_cuda_bias *bias_for(kmbi_cuda *self, const kmb_choice *choice) {
  bool graph = choice->launch_mode == KMB_LAUNCH_GRAPH;
  switch (choice->timer) {
  case KMB_TIMER_TRACE:
    return graph ? &self->biases[0] : NULL;
  case KMB_TIMER_GRAPH:
    return &self->biases[1];
  default:
    return &self->biases[graph ? 2 : 3];
  }
}

static kmb_status calibrate(kmbi_cuda *self, const kmb_choice *choice,
                            kmbi_cuda_bias *bias) {
  kmbi_cu_context before = NULL;
  if (!bias->tried) {
    kmb_status status = kmbi_cuda_enter(self, &before);
    if (!status) status = measure(self, choice, bias);
    kmbi_cuda_leave(self, before);
    /* What may be free again later is asked for again. */
    bias->tried = status != KMB_ERR_BUSY;
    bias->status = status;
    snprintf(bias->why, sizeof bias->why, "%s",
             status ? kmb_last_error(NULL, NULL) : "");
  }
  if (!bias->status) return KMB_OK;
  bool lost = bias->status == KMB_ERR_LOST;
  return KMBI_CUDA_FAIL(self, lost ? KMB_ERR_LOST : KMB_ERR_UNAVAILABLE, 0,
                        "%s", bias->why);
}

kmb_status kmbi_cuda_bias_of(void *opened, const kmb_choice *choice,
                             uint64_t batch, double *ns,
                             double *uncertainty_ns) {
  kmbi_cuda *self = opened;
  *ns = 0;
  *uncertainty_ns = 0;
  if (kmbi_cuda_choice_problem(self, choice) || !batch ||
      choice->timer == KMB_TIMER_HOST)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "cuda: HOST is not corrected");
  kmbi_cuda_bias *bias = bias_for(self, choice);
  if (!bias) return KMB_OK; /* zero by definition */
  kmb_status status = calibrate(self, choice, bias);
  if (status) return status;
  *ns = bias->each_ns + bias->fixed_ns / (double)batch;
  *uncertainty_ns = bias->uncertainty_ns;
  return KMB_OK;
}
