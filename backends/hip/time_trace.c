/* TRACE: what rocprofiler's records say of each iteration. An iteration's
 * operations carry its id; sweeps, touches and resets carry none. */
#include "plan.h"
#include "trace.h"

#include <time.h>

enum { AT_ONCE = 128 };

/* From the records' clock to ours. */
static double to_our_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return kmbi_hip_now() - ((double)t.tv_sec * 1e9 + (double)t.tv_nsec);
}

/* The operations of one sample, in order of start. */
static void measure(const kmbi_hip_op *ops, size_t count, double shift,
                    kmb_sample *s) {
  uint64_t last = 0;
  uint64_t busy = 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t start = ops[i].start;
    uint64_t end = ops[i].end;
    if (start == 0 || end <= start) s->flags |= KMB_SAMPLE_INVALID;
    if (s->flags & KMB_SAMPLE_INVALID) return;
    if (i == 0) last = start;
    sum += end - start;
    if (end > last) {
      busy += end - (start > last ? start : last);
      last = end;
    }
  }
  if (!count) {
    s->flags |= KMB_SAMPLE_INVALID;
    return;
  }
  s->span_ns = (double)(last - ops[0].start);
  s->busy_ns = (double)busy;
  s->sum_ns = (double)sum;
  s->ops = count;
  s->end_ns = (double)last + shift;
}

static kmb_status read_samples(kmbi_hip_plan *plan, uint64_t before,
                               uint64_t count, kmb_sample *samples) {
  const kmbi_hip_op *ops = NULL;
  size_t got = 0;
  size_t at = 0;
  double shift = to_our_clock();
  uint64_t each = plan->nodes ? plan->nodes : 1;
  kmb_status status =
      kmbi_hip_trace_collect(plan->self, count * each, &ops, &got);
  if (!status) status = kmbi_hip_ops_reserve(plan, got);
  for (uint32_t i = 0; !status && i < count; i++) {
    size_t end = at;
    while (end < got && ops[end].iteration == i)
      end++;
    measure(ops + at, end - at, shift, &samples[i]);
    if (!(samples[i].flags & KMB_SAMPLE_INVALID))
      kmbi_hip_ops_keep(plan, before + i, ops + at, end - at);
    if (samples[i].ops > plan->nodes) plan->nodes = samples[i].ops;
    at = end;
  }
  return status;
}

static kmb_status enqueue(kmbi_hip_plan *plan, uint32_t index) {
  kmb_status status = kmbi_hip_before(plan);
  if (!status) status = kmbi_hip_trace_push(plan->self, index);
  if (status) return status;
  status = kmbi_hip_iterate(plan);
  kmbi_hip_trace_pop();
  return status;
}

static kmb_status take(kmbi_hip_run *run) {
  kmbi_hip_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (!status && run->got < run->count) {
    double started = kmbi_hip_now();
    uint64_t count = kmbi_hip_portion(run, AT_ONCE);
    if (!count) break;
    kmb_sample *samples = run->samples + run->got;
    kmbi_hip_trace_clear();
    for (uint32_t i = 0; !status && i < count; i++) {
      samples[i] = (kmb_sample){.slot = plan->slot};
      status = enqueue(plan, i);
      if (!status) kmbi_hip_advance(plan);
    }
    status = kmbi_hip_drain(plan, status);
    if (!status) status = read_samples(plan, run->got, count, samples);
    if (status) break;
    kmbi_hip_took(plan, count, started);
    run->got += count;
  }
  return status;
}

kmb_status kmbi_hip_take_traces(kmbi_hip_run *run) {
  kmb_status status = kmbi_hip_trace_begin(run->plan->self);
  if (status) return status;
  status = take(run);
  kmbi_hip_trace_end();
  return status;
}

/* One launch of ours: whether records come at all. Where HIP was started
 * before tracing was configured, none do. */
kmb_status kmbi_hip_trace_probe(kmbi_hip *self) {
  const kmbi_hip_op *ops = NULL;
  kmbi_hip_stream stream = NULL;
  size_t got = 0;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  if (!status) status = kmbi_hip_space_module(self);
  if (!status) status = kmbi_hip_trace_begin(self);
  if (status) return status;
  kmbi_hip_trace_clear();
  status = kmbi_hip_trace_push(self, 0);
  if (!status) {
    status = kmbi_hip_launch(self, stream, KMBI_HIP_empty, 1, NULL);
    kmbi_hip_trace_pop();
  }
  if (!status) status = kmbi_hip_finish(self, stream);
  if (!status) status = kmbi_hip_trace_collect(self, 1, &ops, &got);
  kmbi_hip_trace_end();
  if (status || got) return status;
  return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                       "no record came of a traced kernel: HIP was started "
                       "before tracing was configured; open \"hip:0:trace\" "
                       "before anything in the process uses HIP");
}
