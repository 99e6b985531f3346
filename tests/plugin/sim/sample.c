/* Taking one sample with each timer. */
#include "plan.h"

#include <math.h>

double sim_step(const sim_device *device, double t) {
  double tick = device->config.tick;
  return tick > 0 ? floor(t / tick) * tick : t;
}

/* What comes before an iteration's launch, and is in no sample. */
static kmb_status prepare(sim_plan *plan, uint32_t slot) {
  sim_device *device = plan->device;
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = KMB_OK;
  if (d->reset) status = d->reset(d->reset_user, slot, d->stream);
  if (!status && d->choice.cache == KMB_CACHE_COLD) {
    status = sim_sweep(device);
    for (uint64_t i = 0; !status && i < d->warm_count; i++) {
      const kmb_span *span = &d->warm[slot * d->warm_count + i];
      status =
          sim_touch(device, (uint64_t)(uintptr_t)span->pointer, span->bytes);
    }
  }
  return status;
}

kmb_status sim_replay(sim_device *device, const sim_kernel *nodes,
                      uint64_t count) {
  kmb_status status = KMB_OK;
  device->clock += device->config.launch;
  if (!device->aligned && device->clock > device->idle_at)
    device->idle_at = device->clock;
  device->in_graph = true;
  for (uint64_t i = 0; !status && i < count; i++)
    status = sim_execute(device, &nodes[i]);
  device->in_graph = false;
  return status;
}

static kmb_status replay(sim_plan *plan, size_t graph) {
  if (plan->desc.graphs) {
    const sim_graph *given = plan->desc.graphs[graph];
    return sim_replay(plan->device, given->nodes, given->count);
  }
  size_t first = plan->graphs[graph];
  return sim_replay(plan->device, plan->nodes + first,
                    plan->graphs[graph + 1] - first);
}

/* One iteration's device work, by callback or by its slot's graph. */
static kmb_status launch(sim_plan *plan, uint32_t slot, uint64_t iteration) {
  if (plan->desc.choice.launch_mode == KMB_LAUNCH_GRAPH)
    return replay(plan, slot);
  return sim_plan_call(plan, slot, iteration);
}

/* Nothing starts before everything is enqueued. */
static kmb_status launch_gated(sim_plan *plan, uint32_t slot,
                               uint64_t iteration) {
  sim_device *device = plan->device;
  if (device->clock > device->idle_at) device->idle_at = device->clock;
  double before = device->clock;
  device->in_graph = plan->desc.choice.launch_mode == KMB_LAUNCH_PLAIN;
  device->aligned = plan->desc.align != NULL;
  kmb_status status = launch(plan, slot, iteration);
  device->in_graph = device->aligned = false;
  device->idle_at += device->clock - before;
  return status;
}

typedef struct seen {
  double span, busy, sum;
  uint64_t ops;
} seen;

/* What the tracer's records say of the operations since the last look. */
static seen read_records(const sim_device *device, size_t count) {
  seen s = {0, 0, 0, count};
  double first = 0;
  double last = 0;
  for (size_t i = 0; i < count; i++) {
    double start = sim_step(device, device->runs[i].start);
    double end = sim_step(device, device->runs[i].end);
    s.sum += end - start;
    if (i == 0) first = last = start;
    if (end > last) s.busy += end - (start > last ? start : last);
    if (end > last) last = end;
  }
  s.span = last - first;
  return s;
}

static kmb_status take_trace(sim_plan *plan, uint32_t slot, uint64_t iteration,
                             kmb_sample *sample) {
  sim_device *device = plan->device;
  const sim_config *c = &device->config;
  sim_random *random = &device->model.random;
  device->run_count = 0;
  device->tracing = true;
  kmb_status status = launch(plan, slot, iteration);
  device->tracing = false;
  size_t count = device->run_count;
  if (c->record_drop > 0 && count && sim_uniform(random) < c->record_drop)
    count--;
  if (!status) status = sim_plan_keep(plan, count);
  seen s = read_records(device, count);
  if (count == 0) sample->flags |= KMB_SAMPLE_INVALID;
  /* Nothing lies between two iterations that would keep them apart. */
  bool apart = plan->desc.choice.cache == KMB_CACHE_COLD || plan->desc.reset;
  if (c->overlap > 0 && iteration > 0 && !apart)
    sample->flags |= KMB_SAMPLE_OVERLAP;
  double more =
      plan->desc.choice.launch_mode == KMB_LAUNCH_GRAPH && count ? c->node : 0;
  sample->span_ns += s.span + more;
  sample->busy_ns += s.busy + more;
  sample->sum_ns += s.sum + more;
  sample->ops += s.ops;
  return status;
}

static kmb_status take_event(sim_plan *plan, uint32_t slot, uint64_t iteration,
                             kmb_sample *sample) {
  sim_device *device = plan->device;
  device->run_count = 0;
  kmb_status status = launch_gated(plan, slot, iteration);
  double span = device->config.event;
  if (device->run_count)
    span += device->runs[device->run_count - 1].end - device->runs[0].start;
  double from = device->idle_at - span;
  sample->span_ns += sim_step(device, device->idle_at) - sim_step(device, from);
  return status;
}

static kmb_status take_graph(sim_plan *plan, kmb_sample *sample) {
  sim_device *device = plan->device;
  double from =
      device->idle_at > device->clock ? device->idle_at : device->clock;
  from += device->config.launch;
  device->run_count = 0;
  kmb_status status = replay(plan, 0);
  device->idle_at += device->config.replay;
  sample->span_ns = sim_step(device, device->idle_at) - sim_step(device, from);
  return status;
}

static void finish(sim_plan *plan, kmb_sample *sample) {
  sim_device *device = plan->device;
  const sim_config *c = &device->config;
  sample->span_ns *= c->lie[plan->desc.choice.timer];
  sample->end_ns = device->clock;
  if (plan->desc.choice.timer == KMB_TIMER_TRACE && c->record_invalid > 0 &&
      sim_uniform(&device->model.random) < c->record_invalid) {
    sample->span_ns = -sample->span_ns;
    sample->flags |= KMB_SAMPLE_INVALID;
  }
}

/* The sample's end; the other ranks are told of a device that does not. */
static kmb_status end(sim_plan *plan) {
  sim_device *device = plan->device;
  const kmb_align *align = plan->desc.align;
  const kmb_host *host = &device->host;
  kmb_status status = sim_wait(device);
  if (status != KMB_ERR_LOST || !align) return status;
  (void)align->overdue(align->ctx, -1);
  return host->fail(host->ctx, KMB_ERR_LOST, 0,
                    "simulated device: a sample did not end");
}

/* Iteration by iteration, each prepared and waited for. */
static kmb_status take_each(sim_plan *plan, uint64_t *iteration,
                            kmb_sample *sample) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; !status && i < d->batch; i++) {
    uint32_t slot = sim_plan_slot(plan, plan->next++);
    status = prepare(plan, slot);
    if (!status) status = sim_align(plan->device, d);
    if (!status && d->choice.timer == KMB_TIMER_TRACE)
      status = take_trace(plan, slot, *iteration, sample);
    else if (!status)
      status = take_event(plan, slot, *iteration, sample);
    ++*iteration;
    if (!status) status = end(plan);
  }
  return status;
}

static kmb_status take_host(sim_plan *plan, uint64_t *iteration,
                            kmb_sample *sample) {
  sim_device *device = plan->device;
  const kmb_plan_desc *d = &plan->desc;
  /* With a reset hook or COLD the batch is 1: preparing stays outside. */
  kmb_status status = prepare(plan, sim_plan_slot(plan, plan->next));
  if (!status) status = sim_wait(device);
  if (!status) status = sim_align(device, d);
  double from = device->clock;
  for (uint64_t i = 0; !status && i < d->batch; i++) {
    device->run_count = 0;
    status = launch(plan, sim_plan_slot(plan, plan->next++), (*iteration)++);
  }
  if (!status) status = end(plan);
  sample->span_ns = sim_step(device, device->clock) - sim_step(device, from);
  return status;
}

static kmb_status take_replay(sim_plan *plan, uint64_t *iteration,
                              kmb_sample *sample) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = prepare(plan, d->first_slot);
  if (!status) status = take_graph(plan, sample);
  *iteration += d->batch;
  if (!status) status = sim_wait(plan->device);
  return status;
}

kmb_status sim_sample_take(sim_plan *plan, uint64_t *iteration,
                           kmb_sample *sample) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = KMB_OK;
  *sample = (kmb_sample){.slot = sim_plan_slot(plan, plan->next)};
  if (d->choice.timer == KMB_TIMER_HOST)
    status = take_host(plan, iteration, sample);
  else if (d->choice.timer == KMB_TIMER_GRAPH)
    status = take_replay(plan, iteration, sample);
  else
    status = take_each(plan, iteration, sample);
  if (!status) finish(plan, sample);
  return status;
}
