/* Biases: what each timer and launch mode reads beyond TRACE on plain launches,
 * from kernels of several kinds. Measured when first asked for: for the batch
 * that is asked about, since a replay's cost is not proportional to its length,
 * and after sweeps for COLD, where a launch takes longer. */
#include <math.h>
#include <stdio.h>

#include "probes.h"

enum { ROUNDS = 3 };
#define WAKE_NS 10e6 /* brings the clocks up */

static kmb_status wake(kmbi_cuda *self) {
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status)
    status = kmbi_cuda_spin(self, stream, kmbi_cuda_cycles(self, WAKE_NS), 0);
  return status ? status : kmbi_cuda_finish(self, stream);
}

/* Readings of each kernel, by the reference and by the timer. */
typedef struct table {
  kmbi_cuda_probe probes[KMBI_CUDA_PROBES];
  int count;
  kmbi_cuda_reading zero[KMBI_CUDA_PROBES][ROUNDS];
  kmbi_cuda_reading timer[KMBI_CUDA_PROBES][ROUNDS];
} table;

static kmb_status no_reference(kmbi_cuda *self, kmb_status status) {
  const kmb_host *host = self->host;
  kmb_error why;
  host->error_save(host->ctx, &why);
  return KMBI_CUDA_FAIL(self, status, why.vendor,
                        "no reference to calibrate against: %.200s",
                        why.message);
}

/* Between two operations a plain launch may leave the host's gap: theirs is
 * TRACE on the graph, which is TRACE on plain launches but for some 10 ns. */
static kmb_status read_zero(kmbi_cuda *self, const kmb_choice *choice,
                            const kmbi_cuda_probe *probe,
                            kmbi_cuda_reading *reading) {
  bool pair = probe->kind == KMBI_CUDA_PROBE_PAIR;
  kmb_choice zero = {KMB_TIMER_TRACE,
                     pair ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN, choice->cache,
                     0};
  kmb_status status = kmbi_cuda_probe_time(self, &zero, probe, 1, reading);
  return status ? no_reference(self, status) : KMB_OK;
}

/* In alternating order, so that a drift of the clocks is in both. */
static kmb_status read_table(kmbi_cuda *self, const kmb_choice *choice,
                             uint64_t batch, table *t) {
  kmb_status status = wake(self);
  if (status) return status;
  for (int step = 0; !status && step < 2 * ROUNDS; step++) {
    int round = step / 2;
    bool reference = step % 2 == round % 2;
    for (int k = 0; !status && k < t->count; k++)
      status = reference
                   ? read_zero(self, choice, &t->probes[k], &t->zero[k][round])
                   : kmbi_cuda_probe_time(self, choice, &t->probes[k], batch,
                                          &t->timer[k][round]);
  }
  return status;
}

/* One kernel's bias and its scatter, over the rounds and in them. */
static kmbi_cuda_reading bias_of_kernel(const kmbi_cuda_reading *zero,
                                        const kmbi_cuda_reading *timer) {
  double apart[ROUNDS];
  double within = 0;
  for (int r = 0; r < ROUNDS; r++) {
    apart[r] = timer[r].ns - zero[r].ns;
    within = fmax(within, hypot(timer[r].scatter, zero[r].scatter));
  }
  double middle = kmbi_cuda_median(apart, ROUNDS); /* which sorts them */
  double between = (apart[ROUNDS - 1] - apart[0]) / 2;
  return (kmbi_cuda_reading){middle, fmax(between, within / sqrt(ROUNDS))};
}

static const char *timer_name(kmb_timer timer) {
  if (timer == KMB_TIMER_TRACE) return "TRACE";
  return timer == KMB_TIMER_GRAPH ? "GRAPH" : "EVENT";
}

/* Says what was measured, in how long, and the kernels apart. */
static void tell(kmbi_cuda *self, const kmbi_cuda_bias *bias, const table *t,
                 const kmbi_cuda_reading *each, double took_ns) {
  const kmb_host *host = self->host;
  char line[2 * KMBI_CUDA_TEXT];
  size_t at = 0;
  int length = snprintf(
      line, sizeof line,
      "calibrated in %.0f ms: %s on %s launches%s, %llu a sample: %.3f us "
      "+-%.3f;",
      took_ns / 1e6, timer_name(bias->timer),
      bias->mode == KMB_LAUNCH_GRAPH ? "graph" : "plain",
      bias->cold ? ", COLD" : "", (unsigned long long)bias->batch,
      bias->ns / 1e3, bias->uncertainty_ns / 1e3);
  for (int k = 0; k < t->count && length >= 0; k++) {
    at += (size_t)length;
    if (at >= sizeof line) break;
    length = snprintf(line + at, sizeof line - at, " %s %.2f: %.3f",
                      kmbi_cuda_probe_name(&t->probes[k]),
                      t->probes[k].ns / 1e3, each[k].ns / 1e3);
  }
  host->log(host->ctx, KMB_LOG_DEBUG, line);
}

/* Not the middle of the extremes: one kernel that is far off would be half of
 * it. */
static double mean_of_fits(const table *t, const kmbi_cuda_reading *each) {
  double sum = 0;
  int count = 0;
  for (int k = 0; k < t->count; k++)
    if (t->probes[k].fits) {
      sum += each[k].ns;
      count++;
    }
  return count ? sum / count : 0;
}

static kmb_status measure(kmbi_cuda *self, const kmb_choice *choice,
                          kmbi_cuda_bias *bias) {
  table t;
  double tick = 0; /* has the clock's step measured for the dither */
  double started = kmbi_cuda_now();
  (void)kmbi_cuda_attr_f64(self, KMB_DEVICE_CLOCK_TICK_NS, &tick);
  memset(&t, 0, sizeof t);
  t.count = kmbi_cuda_probes_choose(choice, bias->batch, t.probes);
  kmb_status status = read_table(self, choice, bias->batch, &t);
  if (status) return status;
  kmbi_cuda_reading each[KMBI_CUDA_PROBES];
  for (int k = 0; k < t.count; k++)
    each[k] = bias_of_kernel(t.zero[k], t.timer[k]);
  bias->ns = mean_of_fits(&t, each);
  bias->uncertainty_ns = 0;
  for (int k = 0; k < t.count; k++)
    bias->uncertainty_ns = fmax(bias->uncertainty_ns,
                                fabs(each[k].ns - bias->ns) + each[k].scatter);
  tell(self, bias, &t, each, kmbi_cuda_now() - started);
  return KMB_OK;
}

/* The place of this bias: its own, or the one that is used least. */
static kmbi_cuda_bias *place(kmbi_cuda *self, const kmb_choice *choice,
                             uint64_t batch) {
  bool cold = choice->cache == KMB_CACHE_COLD;
  kmbi_cuda_bias *oldest = &self->biases[0];
  for (int i = 0; i < KMBI_CUDA_BIASES; i++) {
    kmbi_cuda_bias *b = &self->biases[i];
    if (b->batch == batch && b->timer == choice->timer &&
        b->mode == choice->launch_mode && b->cold == cold)
      return b;
    if (b->used < oldest->used) oldest = b;
  }
  oldest->batch = 0;
  return oldest;
}

/* What may be had again later is asked for again: what somebody else held,
 * memory, and what the caller cancelled. */
static bool is_lasting(kmbi_cuda *self, kmb_status status) {
  return status != KMB_ERR_BUSY && status != KMB_ERR_NOMEM &&
         !self->host->cancelled(self->host->ctx);
}

static kmb_status calibrate(kmbi_cuda *self, const kmb_choice *choice,
                            uint64_t batch, kmbi_cuda_bias *bias) {
  const kmb_host *host = self->host;
  kmb_error failed;
  kmbi_cu_context before = NULL;
  bias->used = ++self->bias_uses;
  if (!bias->batch) {
    kmb_status status = kmbi_cuda_enter(self, &before);
    *bias = (kmbi_cuda_bias){.batch = batch,
                             .used = bias->used,
                             .timer = choice->timer,
                             .mode = choice->launch_mode,
                             .cold = choice->cache == KMB_CACHE_COLD};
    if (!status) status = measure(self, choice, bias);
    kmbi_cuda_leave(self, before);
    bias->status = status;
    if (status) {
      host->error_save(host->ctx, &failed);
      snprintf(bias->why, sizeof bias->why, "%s", failed.message);
    }
  }
  kmb_status status = bias->status;
  if (!status) return KMB_OK;
  if (!is_lasting(self, status)) bias->batch = 0;
  return KMBI_CUDA_FAIL(
      self, status == KMB_ERR_LOST ? KMB_ERR_LOST : KMB_ERR_UNAVAILABLE, 0,
      "%s", bias->why);
}

kmb_status kmbi_cuda_bias_of(void *opened, const kmb_choice *choice,
                             uint64_t batch, double *ns,
                             double *uncertainty_ns) {
  kmbi_cuda *self = opened;
  *ns = 0;
  *uncertainty_ns = 0;
  const char *problem = kmbi_cuda_choice_problem(self, choice);
  if (problem || !batch || choice->timer == KMB_TIMER_HOST)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0, "cuda: %s",
                          problem ? problem : "HOST is not corrected");
  if (choice->timer == KMB_TIMER_TRACE &&
      choice->launch_mode == KMB_LAUNCH_PLAIN)
    return KMB_OK; /* zero by definition */
  if (choice->timer != KMB_TIMER_GRAPH) batch = 1;
  kmbi_cuda_bias *bias = place(self, choice, batch);
  kmb_status status = calibrate(self, choice, batch, bias);
  if (status) return status;
  *ns = bias->ns;
  *uncertainty_ns = bias->uncertainty_ns;
  return KMB_OK;
}
