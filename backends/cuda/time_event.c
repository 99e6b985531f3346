/* EVENT: an event pair around each iteration, a few of them behind one gate.
 * GRAPH: a pair around a replay of the whole batch. Both launch copies of a
 * graph in turn. */
#include "plan.h"

static kmb_status elapsed(kmbi_cuda_plan *plan, kmbi_cu_event start,
                          kmbi_cu_event end, double *ns) {
  float ms = 0;
  kmb_status status = KMBI_CU(plan->self, cuEventElapsedTime, &ms, start, end);
  *ns = (double)ms * 1e6;
  return status;
}

static kmb_status enqueue_pair(kmbi_cuda_plan *plan, size_t pair) {
  kmbi_cuda *self = plan->self;
  kmb_status status = kmbi_cuda_before(plan);
  if (!status)
    status = KMBI_CU(self, cuEventRecord, plan->events[2 * pair], plan->stream);
  if (!status) status = kmbi_cuda_iterate(plan);
  if (!status)
    status =
        KMBI_CU(self, cuEventRecord, plan->events[2 * pair + 1], plan->stream);
  return status;
}

/* What a gate that opened too early let run while it was enqueued. */
static void spoil(kmbi_cuda_plan *plan, size_t count, kmb_sample *samples) {
  for (size_t i = 0; i < count; i++)
    samples[i].flags |= KMB_SAMPLE_SPOILED;
  plan->spoiled += count;
}

static kmb_status read_pairs(kmbi_cuda_plan *plan, size_t count,
                             kmb_sample *samples) {
  double now = kmbi_cuda_now();
  kmbi_cu_event last = plan->events[2 * count - 1];
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < count; i++) {
    double since = 0;
    kmb_sample *s = &samples[i];
    status = elapsed(plan, plan->events[2 * i], plan->events[2 * i + 1],
                     &s->span_ns);
    if (!status) status = elapsed(plan, plan->events[2 * i + 1], last, &since);
    s->end_ns = now - since;
    if (!(s->span_ns >= 0)) s->flags |= KMB_SAMPLE_INVALID;
  }
  return status;
}

/* Few enough that the front end has them all when the gate opens: with more
 * behind it, some events wait for commands to be fetched from the host, half a
 * microsecond on an H200, and the median depends on how many do. */
static uint64_t pairs_at_once(const kmbi_cuda_plan *plan) {
  uint64_t each = plan->graph ? 1 : plan->nodes;
  each += 4 + plan->desc.warm_count + (plan->desc.reset ? 8 : 0);
  uint64_t most = KMBI_CUDA_FETCHED / each;
  if (most > KMBI_CUDA_PAIRS) most = KMBI_CUDA_PAIRS;
  return most ? most : 1;
}

/* Without a barrier a rank could signal another one that is not reset yet. */
static kmb_status before_all(kmbi_cuda_plan *plan) {
  const kmb_align *align = plan->desc.align;
  if (align->barrier || !(plan->cold || plan->desc.reset)) return KMB_OK;
  kmb_status status = kmbi_cuda_drain(plan, kmbi_cuda_before(plan));
  return status ? status : align->all_enqueued(align->ctx);
}

/* Behind the gate and two barriers: the first one lets the last rank come, the
 * second one makes up for how differently the gates were seen to open. */
static kmb_status enqueue_aligned(kmbi_cuda_plan *plan) {
  const kmb_align *align = plan->desc.align;
  kmbi_cuda *self = plan->self;
  kmb_status status = align->barrier ? kmbi_cuda_before(plan) : KMB_OK;
  for (int i = 0; !status && align->barrier && i < 2; i++)
    status = align->barrier(align->ctx, plan->desc.stream);
  if (!status)
    status = KMBI_CU(self, cuEventRecord, plan->events[0], plan->stream);
  if (!status) status = kmbi_cuda_iterate(plan);
  if (!status)
    status = KMBI_CU(self, cuEventRecord, plan->events[1], plan->stream);
  return status ? status : align->all_enqueued(align->ctx);
}

static kmb_status take_aligned(kmbi_cuda_run *run) {
  kmbi_cuda_plan *plan = run->plan;
  kmb_sample *sample = &run->samples[run->got];
  *sample = (kmb_sample){.slot = plan->slot};
  kmb_status status = before_all(plan);
  if (status) return status;
  status = kmbi_cuda_gate_close(plan);
  if (!status) status = enqueue_aligned(plan);
  bool late = kmbi_cuda_gate_open(plan);
  status = kmbi_cuda_barrier_finish(plan->self, plan->stream, plan->desc.align,
                                    status);
  if (!status) status = read_pairs(plan, 1, sample);
  if (status) return status;
  kmbi_cuda_advance(plan);
  if (late) spoil(plan, 1, sample);
  run->got++;
  return KMB_OK;
}

kmb_status kmbi_cuda_take_events(kmbi_cuda_run *run) {
  kmbi_cuda_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  if (plan->desc.align) {
    while (!status && run->got < run->count)
      status = take_aligned(run);
    return status;
  }
  while (!status && run->got < run->count) {
    double started = kmbi_cuda_now();
    uint64_t count = kmbi_cuda_portion(run, pairs_at_once(plan));
    if (!count) break;
    kmb_sample *samples = run->samples + run->got;
    status = kmbi_cuda_gate_close(plan);
    for (uint32_t i = 0; !status && i < count; i++) {
      samples[i] = (kmb_sample){.slot = plan->slot};
      status = enqueue_pair(plan, i);
      if (!status) kmbi_cuda_advance(plan);
    }
    bool late = kmbi_cuda_gate_open(plan);
    status = kmbi_cuda_drain(plan, status);
    if (!status) status = read_pairs(plan, (size_t)count, samples);
    if (status) break;
    if (late) spoil(plan, (size_t)count, samples);
    kmbi_cuda_took(plan, count, started);
    run->got += count;
  }
  return status;
}

static kmb_status replay(kmbi_cuda_plan *plan, kmb_sample *sample) {
  kmbi_cuda *self = plan->self;
  kmb_status status = KMB_OK;
  *sample = (kmb_sample){.slot = plan->slot};
  if (plan->desc.reset) {
    status = kmbi_cuda_before(plan);
    if (status) return kmbi_cuda_drain(plan, status);
  }
  status = kmbi_cuda_gate_close(plan);
  if (!status)
    status = KMBI_CU(self, cuEventRecord, plan->events[0], plan->stream);
  if (!status)
    status = KMBI_CU(self, cuGraphLaunch, kmbi_cuda_exec(plan), plan->stream);
  if (!status)
    status = KMBI_CU(self, cuEventRecord, plan->events[1], plan->stream);
  bool late = kmbi_cuda_gate_open(plan);
  status = kmbi_cuda_drain(plan, status);
  if (!status && late) spoil(plan, 1, sample);
  if (!status)
    status = elapsed(plan, plan->events[0], plan->events[1], &sample->span_ns);
  sample->end_ns = kmbi_cuda_now();
  if (!(sample->span_ns >= 0)) sample->flags |= KMB_SAMPLE_INVALID;
  return status;
}

kmb_status kmbi_cuda_take_replays(kmbi_cuda_run *run) {
  kmbi_cuda_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (!status && run->got < run->count) {
    double started = kmbi_cuda_now();
    if (!kmbi_cuda_portion(run, 1)) break;
    status = replay(plan, &run->samples[run->got]);
    if (status) break;
    plan->iteration += plan->desc.batch;
    kmbi_cuda_took(plan, 1, started);
    run->got++;
  }
  return status;
}
