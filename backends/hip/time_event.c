/* EVENT: an event pair around each iteration, a few of them behind one gate.
 * GRAPH: a pair around a replay of the whole batch; HIP has no events inside
 * graphs. */
#include "plan.h"

static kmb_status elapsed(kmbi_hip_plan *plan, kmbi_hip_event start,
                          kmbi_hip_event end, double *ns) {
  float ms = 0;
  kmb_status status =
      KMBI_HIP(plan->self, hipEventElapsedTime, &ms, start, end);
  *ns = (double)ms * 1e6;
  return status;
}

/* HIP's times can come out negative, and zero where an event took the other's
 * stamp: neither is a time. */
static void judge(kmb_sample *sample) {
  if (!(sample->span_ns > 0)) sample->flags |= KMB_SAMPLE_INVALID;
}

static kmb_status enqueue_pair(kmbi_hip_plan *plan, size_t pair) {
  kmbi_hip *self = plan->self;
  kmb_status status = kmbi_hip_before(plan);
  if (!status)
    status =
        KMBI_HIP(self, hipEventRecord, plan->events[2 * pair], plan->stream);
  if (!status) status = kmbi_hip_iterate(plan);
  if (!status)
    status = KMBI_HIP(self, hipEventRecord, plan->events[2 * pair + 1],
                      plan->stream);
  return status;
}

static kmb_status read_pairs(kmbi_hip_plan *plan, size_t count,
                             kmb_sample *samples) {
  double now = kmbi_hip_now();
  kmbi_hip_event last = plan->events[2 * count - 1];
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < count; i++) {
    double since = 0;
    kmb_sample *s = &samples[i];
    status = elapsed(plan, plan->events[2 * i], plan->events[2 * i + 1],
                     &s->span_ns);
    if (!status) status = elapsed(plan, plan->events[2 * i + 1], last, &since);
    s->end_ns = now - since;
    judge(s);
  }
  return status;
}

/* Few enough that the front end has them all when the gate opens: events of
 * more may wait for commands to be fetched from the host. */
static uint64_t pairs_at_once(const kmbi_hip_plan *plan) {
  uint64_t each = plan->graph ? 1 : plan->nodes;
  each += 4 + plan->desc.warm_count + (plan->desc.reset ? 8 : 0);
  uint64_t most = KMBI_HIP_FETCHED / each;
  if (most > KMBI_HIP_PAIRS) most = KMBI_HIP_PAIRS;
  return most ? most : 1;
}

/* Without a barrier a rank could signal another one that is not reset yet. */
static kmb_status before_all(kmbi_hip_plan *plan) {
  const kmb_align *align = plan->desc.align;
  if (align->barrier || !(plan->cold || plan->desc.reset)) return KMB_OK;
  kmb_status status = kmbi_hip_drain(plan, kmbi_hip_before(plan));
  return status ? status : align->all_enqueued(align->ctx);
}

/* Behind the gate and two barriers: the first one lets the last rank come, the
 * second one makes up for how differently the gates were seen to open. */
static kmb_status enqueue_aligned(kmbi_hip_plan *plan) {
  const kmb_align *align = plan->desc.align;
  kmbi_hip *self = plan->self;
  kmb_status status = align->barrier ? kmbi_hip_before(plan) : KMB_OK;
  for (int i = 0; !status && align->barrier && i < 2; i++)
    status = align->barrier(align->ctx, plan->desc.stream);
  if (!status)
    status = KMBI_HIP(self, hipEventRecord, plan->events[0], plan->stream);
  if (!status) status = kmbi_hip_iterate(plan);
  if (!status)
    status = KMBI_HIP(self, hipEventRecord, plan->events[1], plan->stream);
  return status ? status : align->all_enqueued(align->ctx);
}

static kmb_status take_aligned(kmbi_hip_run *run) {
  kmbi_hip_plan *plan = run->plan;
  kmb_sample *sample = &run->samples[run->got];
  *sample = (kmb_sample){.slot = plan->slot};
  kmb_status status = before_all(plan);
  if (status) return status;
  status = kmbi_hip_gate_close(plan);
  if (!status) status = enqueue_aligned(plan);
  kmbi_hip_gate_open(plan);
  status = kmbi_hip_barrier_finish(plan->self, plan->stream, plan->desc.align,
                                   status);
  if (!status) status = read_pairs(plan, 1, sample);
  if (status) return status;
  /* No rank takes it again alone: it counts on none. */
  if (!kmbi_hip_gate_held(plan, 1)) sample->flags |= KMB_SAMPLE_SPOILED;
  kmbi_hip_advance(plan);
  run->got++;
  return KMB_OK;
}

kmb_status kmbi_hip_take_events(kmbi_hip_run *run) {
  kmbi_hip_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (!status && plan->desc.align && run->got < run->count)
    status = take_aligned(run);
  while (!status && run->got < run->count) {
    double started = kmbi_hip_now();
    uint64_t count = kmbi_hip_portion(run, pairs_at_once(plan));
    if (!count) break;
    kmb_sample *samples = run->samples + run->got;
    status = kmbi_hip_gate_close(plan);
    for (uint32_t i = 0; !status && i < count; i++) {
      samples[i] = (kmb_sample){.slot = plan->slot};
      status = enqueue_pair(plan, i);
      if (!status) kmbi_hip_advance(plan);
    }
    kmbi_hip_gate_open(plan);
    status = kmbi_hip_drain(plan, status);
    /* What was enqueued while the gate gave up is not looked at. */
    if (!status && !kmbi_hip_gate_held(plan, count)) continue;
    if (!status) status = read_pairs(plan, (size_t)count, samples);
    if (status) break;
    kmbi_hip_took(plan, count, started);
    run->got += count;
  }
  return status;
}

static kmb_status replay(kmbi_hip_plan *plan, kmb_sample *sample) {
  kmbi_hip *self = plan->self;
  kmb_status status = KMB_OK;
  *sample = (kmb_sample){.slot = plan->slot};
  if (plan->desc.reset) {
    status = kmbi_hip_before(plan);
    if (status) return kmbi_hip_drain(plan, status);
  }
  status = kmbi_hip_gate_close(plan);
  if (!status)
    status = KMBI_HIP(self, hipEventRecord, plan->events[0], plan->stream);
  if (!status)
    status = KMBI_HIP(self, hipGraphLaunch, plan->execs[0], plan->stream);
  if (!status)
    status = KMBI_HIP(self, hipEventRecord, plan->events[1], plan->stream);
  kmbi_hip_gate_open(plan);
  status = kmbi_hip_drain(plan, status);
  if (!status)
    status = elapsed(plan, plan->events[0], plan->events[1], &sample->span_ns);
  sample->end_ns = kmbi_hip_now();
  judge(sample);
  return status;
}

kmb_status kmbi_hip_take_replays(kmbi_hip_run *run) {
  kmbi_hip_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (!status && run->got < run->count) {
    double started = kmbi_hip_now();
    if (!kmbi_hip_portion(run, 1)) break;
    status = replay(plan, &run->samples[run->got]);
    if (status) break;
    if (!kmbi_hip_gate_held(plan, 1)) continue;
    plan->iteration += plan->desc.batch;
    kmbi_hip_took(plan, 1, started);
    run->got++;
  }
  return status;
}
