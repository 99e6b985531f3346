/* Biases: what each timer and launch mode reads beyond the reference.
 *
 * Zero is what a further kernel adds to a long replay if it leaves nothing
 * behind: it spins and stores nothing. A kernel that stores takes as long by
 * its own clock, but the next one waits until what it stored has been written
 * back. A tracer does not see that wait, for it lies between the end of the one
 * and the start of the other; replays and events do. So each timer reads spins
 * that store, as kernels of use do, against the same spins that do not.
 *
 * They are measured when a bias is first asked for, with the batch that is
 * asked about: a replay's cost is not proportional to its length. */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  KERNELS = 5,
  ROUNDS = 3,
  WARM = 8,
  LEAST = 48, /* samples of a reading */
  MOST = 336,
  SHORT_LEAST = 4, /* iterations of the reference's shorter replay */
  SHORT_MOST = 64,
  LONGER = 3 /* times as many in the longer one */
};
#define WAKE_NS 10e6   /* brings the clocks up */
#ifndef READING_NS     /* tests take shorter ones */
#define READING_NS 4e6 /* for the samples of a reading */
#endif
#define HOST_NS 15e3  /* of a sample, beside the kernel */
#define SHORT_NS 40e3 /* of the reference's shorter replay */
/* 99% of a median's scatter, from the median deviation of the samples. */
#define SCATTER (2.576 * 1.2533 * 1.4826)

/* A kernel of the calibration. What fits gives the bias, the others only say
 * how wrong it may be. */
typedef struct probe {
  double ns;
  bool stores, fits;
} probe;

typedef struct work { /* of the launch callback */
  kmbi_hip *self;
  uint64_t cycles;
  bool stores;
} work;

static kmb_status launch(void *user, const kmb_launch *l) {
  const work *w = user;
  return kmbi_hip_spin(w->self, l->stream, w->cycles, w->stores);
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

/* Spread evenly over a step of the clock, in an order that repeats nothing: a
 * median of stepped values is otherwise one of the steps. */
static double dither(uint64_t index, double tick_ns) {
  double turn = (double)index * 0.6180339887498949;
  return (turn - floor(turn) - 0.5) * tick_ns;
}

static kmb_status read_samples(kmbi_hip *self, const kmb_sample *samples,
                               uint64_t count, uint64_t batch, reading *r) {
  double ns[MOST];
  double tick = 0; /* not known: no dither */
  int khz = 0;
  if (kmbi_hip_attribute(self, KMBI_HIP_ATTR_WallClockRate, &khz) && khz > 0)
    tick = 1e6 / khz;
  size_t n = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!(samples[i].flags & KMB_SAMPLE_INVALID))
      ns[n++] = (samples[i].span_ns + dither(i, tick)) / (double)batch;
  if (n < 8)
    return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                         "calibration: only %zu of %llu samples are valid", n,
                         (unsigned long long)count);
  r->ns = median(ns, n);
  for (size_t i = 0; i < n; i++)
    ns[i] = fabs(ns[i] - r->ns);
  r->scatter = SCATTER * median(ns, n) / sqrt((double)n);
  return KMB_OK;
}

static uint64_t spin_cycles(kmbi_hip *self, double ns) {
  int khz = 0;
  if (!kmbi_hip_attribute(self, KMBI_HIP_ATTR_ClockRate, &khz) || khz <= 0)
    khz = 1000000;
  return (uint64_t)(ns * khz / 1e6);
}

static uint64_t samples_for(double ns, uint64_t batch) {
  double count = READING_NS / (ns * (double)batch + HOST_NS);
  if (count < LEAST) return LEAST;
  return count > MOST ? MOST : (uint64_t)count;
}

/* The median time of an iteration, warm. */
static kmb_status time_it(kmbi_hip *self, const kmb_choice *choice,
                          const probe *p, uint64_t batch, reading *r) {
  kmb_sample samples[MOST];
  work w = {self, spin_cycles(self, p->ns), p->stores};
  kmbi_hip_stream stream = NULL;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  kmb_plan_desc desc = {
      .struct_size = sizeof desc,
      .launch = launch,
      .launch_user = &w,
      .stream = stream,
      .batch = batch,
      .slots = 1,
      .choice = {choice->timer, choice->launch_mode, KMB_CACHE_WARM, 0},
  };
  void *plan = NULL;
  uint64_t got = 0;
  double far = kmbi_hip_now() + 1e18;
  if (!status) status = kmbi_hip_plan_create(self, &desc, &plan);
  if (status) return status;
  status = kmbi_hip_plan_run(self, plan, WARM, far, samples, &got);
  if (!status)
    status = kmbi_hip_plan_run(self, plan, samples_for(p->ns, batch), far,
                               samples, &got);
  kmbi_hip_plan_destroy(self, plan);
  return status ? status : read_samples(self, samples, got, batch, r);
}

static kmb_status wake(kmbi_hip *self) {
  kmbi_hip_stream stream = NULL;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  if (!status)
    status = kmbi_hip_spin(self, stream, spin_cycles(self, WAKE_NS), 0);
  return status ? status : kmbi_hip_finish(self, stream);
}

/* A replay is calibrated with kernels that make it about as long as the
 * engine's are. What is read too much of a kernel that stores nothing is less:
 * it counts for the uncertainty. */
static int choose_probes(const kmb_choice *choice, uint64_t batch,
                         probe *probes) {
  double n = (double)batch;
  const probe replays[] = {{45e3 / n, true, true},
                           {110e3 / n, true, true},
                           {45e3 / n, false, false}};
  static const probe singles[KERNELS] = {{0, true, true},
                                         {1500, true, true},
                                         {7000, true, true},
                                         {30000, true, true},
                                         {1500, false, false}};
  bool replayed = choice->timer == KMB_TIMER_GRAPH;
  int count = replayed ? 3 : KERNELS;
  memcpy(probes, replayed ? replays : singles, (size_t)count * sizeof *probes);
  return count;
}

/* Readings of each kernel, by the reference and by the timer. */
typedef struct table {
  reading zero[KERNELS][ROUNDS], timer[KERNELS][ROUNDS];
} table;

static kmb_status no_reference(kmbi_hip *self, kmb_status status) {
  const kmb_host *host = self->host;
  kmb_error why;
  host->error_save(host->ctx, &why);
  return KMBI_HIP_FAIL(self, status, why.vendor,
                       "no reference to calibrate against: %.200s",
                       why.message);
}

/* What a further spin that stores nothing costs in a replay. */
static kmb_status read_reference(kmbi_hip *self, double ns, reading *r) {
  const probe silent = {ns, false, false};
  static const kmb_choice graph = {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH,
                                   KMB_CACHE_WARM, 0};
  reading less = {0, 0};
  reading more = {0, 0};
  uint64_t count = (uint64_t)(SHORT_NS / (ns > 1e3 ? ns : 1e3));
  if (count < SHORT_LEAST) count = SHORT_LEAST;
  if (count > SHORT_MOST) count = SHORT_MOST;
  kmb_status status = time_it(self, &graph, &silent, count, &less);
  if (!status) status = time_it(self, &graph, &silent, LONGER * count, &more);
  if (status) return no_reference(self, status);
  r->ns = (LONGER * more.ns - less.ns) / (LONGER - 1);
  r->scatter = hypot(LONGER * more.scatter, less.scatter) / (LONGER - 1);
  return KMB_OK;
}

/* In alternating order, so that a drift of the clocks is in both. */
static kmb_status read_table(kmbi_hip *self, const kmb_choice *choice,
                             uint64_t batch, const probe *probes, int count,
                             table *t) {
  kmb_status status = wake(self);
  for (int step = 0; step < 2 * ROUNDS; step++) {
    int round = step / 2;
    bool reference = step % 2 == round % 2;
    for (int k = 0; !status && k < count; k++)
      status =
          reference
              ? read_reference(self, probes[k].ns, &t->zero[k][round])
              : time_it(self, choice, &probes[k], batch, &t->timer[k][round]);
  }
  return status;
}

/* One kernel's bias and its scatter, over the rounds and in them. */
static reading bias_of_kernel(const reading *zero, const reading *timer) {
  double apart[ROUNDS];
  double within = 0;
  for (int r = 0; r < ROUNDS; r++) {
    apart[r] = timer[r].ns - zero[r].ns;
    within = fmax(within, hypot(timer[r].scatter, zero[r].scatter));
  }
  double middle = median(apart, ROUNDS);
  double between = (apart[ROUNDS - 1] - apart[0]) / 2;
  return (reading){middle, fmax(between, within / sqrt(ROUNDS))};
}

static kmb_status measure(kmbi_hip *self, const kmb_choice *choice,
                          kmbi_hip_bias *bias) {
  probe probes[KERNELS];
  table t;
  double sum = 0;
  int fitting = 0;
  memset(&t, 0, sizeof t);
  int count = choose_probes(choice, bias->batch, probes);
  kmb_status status = read_table(self, choice, bias->batch, probes, count, &t);
  if (status) return status;
  reading each[KERNELS];
  for (int k = 0; k < count; k++) {
    each[k] = bias_of_kernel(t.zero[k], t.timer[k]);
    if (!probes[k].fits) continue;
    sum += each[k].ns;
    fitting++;
  }
  bias->ns = sum / fitting;
  bias->uncertainty_ns = 0;
  for (int k = 0; k < count; k++)
    bias->uncertainty_ns = fmax(bias->uncertainty_ns,
                                fabs(each[k].ns - bias->ns) + each[k].scatter);
  return KMB_OK;
}

/* The place of this bias: its own, or the one that is used least. */
static kmbi_hip_bias *place(kmbi_hip *self, const kmb_choice *choice,
                            uint64_t batch) {
  kmbi_hip_bias *oldest = &self->biases[0];
  for (int i = 0; i < KMBI_HIP_BIASES; i++) {
    kmbi_hip_bias *b = &self->biases[i];
    if (b->batch == batch && b->timer == choice->timer &&
        b->mode == choice->launch_mode)
      return b;
    if (b->used < oldest->used) oldest = b;
  }
  oldest->batch = 0;
  return oldest;
}

static kmb_status calibrate(kmbi_hip *self, const kmb_choice *choice,
                            uint64_t batch, kmbi_hip_bias *bias) {
  const kmb_host *host = self->host;
  kmb_error failed;
  int before = 0;
  bias->used = ++self->bias_uses;
  if (!bias->batch) {
    kmb_status status = kmbi_hip_enter(self, &before);
    *bias = (kmbi_hip_bias){.batch = batch,
                            .used = bias->used,
                            .timer = choice->timer,
                            .mode = choice->launch_mode};
    if (!status) status = measure(self, choice, bias);
    kmbi_hip_leave(self, before);
    bias->status = status;
    if (status) {
      host->error_save(host->ctx, &failed);
      snprintf(bias->why, sizeof bias->why, "%s", failed.message);
    }
  }
  kmb_status status = bias->status;
  if (!status) return KMB_OK;
  /* What may be free again later is asked for again. */
  if (status == KMB_ERR_BUSY) bias->batch = 0;
  return KMBI_HIP_FAIL(
      self, status == KMB_ERR_LOST ? KMB_ERR_LOST : KMB_ERR_UNAVAILABLE, 0,
      "%s", bias->why);
}

kmb_status kmbi_hip_bias_of(void *opened, const kmb_choice *choice,
                            uint64_t batch, double *ns,
                            double *uncertainty_ns) {
  kmbi_hip *self = opened;
  *ns = 0;
  *uncertainty_ns = 0;
  const char *problem = kmbi_hip_choice_problem(self, choice);
  if (problem || !batch || choice->timer == KMB_TIMER_HOST)
    return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0, "hip: %s",
                         problem ? problem : "HOST is not corrected");
  if (choice->timer != KMB_TIMER_GRAPH) batch = 1;
  kmbi_hip_bias *bias = place(self, choice, batch);
  kmb_status status = calibrate(self, choice, batch, bias);
  if (status) return status;
  *ns = bias->ns;
  *uncertainty_ns = bias->uncertainty_ns;
  return KMB_OK;
}
