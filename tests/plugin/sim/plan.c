/* Plans: what is captured, and running them. */
#include "plan.h"

kmb_status sim_sweep_prepare(void *self, uint64_t bytes) {
  sim_device *device = self;
  SIM_FAULT(device, sweep_prepare);
  if (bytes <= device->sweep_bytes) return KMB_OK;
  uint64_t more = bytes - device->sweep_bytes;
  if (more > device->config.memory - device->allocated)
    return device->host.fail(device->host.ctx, KMB_ERR_NOMEM, 0,
                             "simulated device: no memory for a sweep of %llu "
                             "bytes",
                             (unsigned long long)bytes);
  device->allocated += more;
  device->sweep_bytes = bytes;
  return KMB_OK;
}

uint32_t sim_plan_slot(const sim_plan *plan, uint64_t iteration) {
  const kmb_plan_desc *d = &plan->desc;
  return (uint32_t)((d->first_slot + iteration) % d->slots);
}

kmb_status sim_plan_call(sim_plan *plan, uint32_t slot, uint64_t iteration) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_launch launch = {
      .struct_size = sizeof launch,
      .stream = d->stream,
      .args = d->arg_count ? d->args + slot * d->arg_count : NULL,
      .arg_count = d->arg_count,
      .iteration = iteration,
      .slot = slot,
      .config = d->config,
  };
  plan->device->clock += plan->device->config.call;
  return d->launch(d->launch_user, &launch);
}

kmb_status sim_plan_record(sim_plan *plan, const sim_kernel *kernel) {
  const kmb_host *host = &plan->device->host;
  if (plan->node_count == plan->node_capacity) {
    size_t capacity = plan->node_capacity ? plan->node_capacity * 2 : 16;
    sim_kernel *nodes =
        host->alloc(host->ctx, capacity * sizeof *nodes, _Alignof(sim_kernel));
    if (!nodes)
      return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                        "simulated device: no memory for a graph");
    if (plan->nodes) {
      memcpy(nodes, plan->nodes, plan->node_count * sizeof *nodes);
      host->free(host->ctx, plan->nodes, plan->node_capacity * sizeof *nodes);
    }
    plan->nodes = nodes;
    plan->node_capacity = capacity;
  }
  plan->nodes[plan->node_count++] = *kernel;
  return KMB_OK;
}

/* GRAPH replays one graph of the whole batch; the other timers replay one
 * iteration, so that each slot has its graph. */
static kmb_status capture(sim_plan *plan) {
  sim_device *device = plan->device;
  const kmb_host *host = &device->host;
  const kmb_plan_desc *d = &plan->desc;
  bool whole = d->choice.timer == KMB_TIMER_GRAPH;
  uint64_t iterations = whole ? d->batch : d->slots;
  plan->graph_count = whole ? 1 : d->slots;
  plan->graphs =
      host->alloc(host->ctx, (plan->graph_count + 1) * sizeof *plan->graphs,
                  _Alignof(size_t));
  if (!plan->graphs)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for a graph");
  kmb_status status = KMB_OK;
  device->recording = plan;
  for (uint64_t i = 0; !status && i < iterations; i++) {
    if (!whole || i == 0) plan->graphs[whole ? 0 : i] = plan->node_count;
    status =
        sim_plan_call(plan, whole ? sim_plan_slot(plan, i) : (uint32_t)i, i);
  }
  device->recording = NULL;
  plan->graphs[plan->graph_count] = plan->node_count;
  if (!status && plan->node_count == 0 && !device->config.graph_empty)
    return host->fail(host->ctx, KMB_ERR_CAPTURE, 0,
                      "simulated device: the launch enqueued nothing on its "
                      "stream while it was captured");
  return status;
}

static kmb_status check_desc(sim_device *device, const kmb_plan_desc *d) {
  const sim_stream *stream = d->stream;
  const kmb_choice *c = &d->choice;
  const char *problem = sim_choice_problem(c);
  if (problem)
    return device->host.fail(device->host.ctx, KMB_ERR_UNSUPPORTED, 0,
                             "simulated device: %s", problem);
  bool single = c->cache == KMB_CACHE_COLD && c->timer == KMB_TIMER_HOST;
  if (d->struct_size < sizeof *d || !d->launch || !stream ||
      stream->device != device || d->slots == 0 || d->first_slot >= d->slots ||
      d->batch == 0 || (d->arg_count && !d->args) ||
      (d->warm_count && !d->warm)) {
    sim_misuse(device, "plan_create: a required field is missing");
    return KMB_ERR_INVALID;
  }
  if (d->graphs &&
      (c->timer == KMB_TIMER_GRAPH || c->launch_mode != KMB_LAUNCH_GRAPH)) {
    sim_misuse(device, "plan_create: prebuilt graphs as plain launches or with "
                       "the timer GRAPH");
    return KMB_ERR_INVALID;
  }
  if (d->batch > 1 && (d->reset || single)) {
    sim_misuse(device, "plan_create: a batch with a reset hook or COLD on "
                       "HOST");
    return KMB_ERR_INVALID;
  }
  if (c->cache == KMB_CACHE_COLD && device->sweep_bytes == 0)
    sim_misuse(device, "plan_create: COLD before sweep_prepare");
  return KMB_OK;
}

kmb_status sim_plan_create(void *self, const kmb_plan_desc *desc, void **out) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  SIM_FAULT(device, plan_create);
  kmb_status status = check_desc(device, desc);
  if (status) return status;
  if (device->config.busy >> desc->choice.timer & 1)
    return host->fail(host->ctx, KMB_ERR_BUSY, 0,
                      "simulated device: the timer is held by another tool");
  bool graph = desc->choice.launch_mode == KMB_LAUNCH_GRAPH;
  if (graph && !desc->graphs && device->config.nocapture)
    return host->fail(host->ctx, KMB_ERR_CAPTURE, 0,
                      "simulated device: the launch cannot be captured");
  sim_plan *plan = host->alloc(host->ctx, sizeof *plan, _Alignof(sim_plan));
  if (!plan)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for a plan");
  *plan = (sim_plan){.device = device, .desc = *desc};
  device->plans++;
  if (graph && !desc->graphs) status = capture(plan);
  if (status) {
    sim_plan_destroy(device, plan);
    return status;
  }
  *out = plan;
  return KMB_OK;
}

kmb_status sim_plan_run(void *self, void *opaque, uint64_t count,
                        double until_ns, kmb_sample *samples, uint64_t *got) {
  sim_device *device = self;
  sim_plan *plan = opaque;
  const kmb_host *host = &device->host;
  uint64_t iteration = 0;
  *got = 0;
  plan->op_count = 0;
  SIM_FAULT(device, plan_run);
  if (plan->device != device) sim_misuse(device, "plan_run of another device");
  while (*got < count && device->clock < until_ns &&
         !host->cancelled(host->ctx)) {
    plan->sample = (uint32_t)*got;
    kmb_status status = sim_sample_take(plan, &iteration, &samples[*got]);
    if (status) return status;
    ++*got;
  }
  return KMB_OK;
}

kmb_status sim_graph_launch(void *self, void *graph, void *stream) {
  sim_device *device = self;
  const sim_graph *given = graph;
  const sim_stream *s = stream;
  SIM_FAULT(device, graph_launch);
  if (!s || s->device != device)
    sim_misuse(device, "graph_launch on a stream that is not open");
  device->run_count = 0;
  return sim_replay(device, given->nodes, given->count);
}

kmb_status sim_plan_keep(sim_plan *plan, size_t count) {
  const sim_device *device = plan->device;
  const kmb_host *host = &device->host;
  size_t needed = plan->op_count + count;
  if (needed > plan->op_capacity) {
    size_t capacity = 2 * needed;
    kmb_device_op *ops =
        host->alloc(host->ctx, capacity * sizeof *ops, _Alignof(kmb_device_op));
    if (!ops)
      return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                        "simulated device: no memory for operations");
    if (plan->ops) {
      memcpy(ops, plan->ops, plan->op_count * sizeof *ops);
      host->free(host->ctx, plan->ops, plan->op_capacity * sizeof *ops);
    }
    plan->ops = ops;
    plan->op_capacity = capacity;
  }
  for (size_t i = 0; i < count; i++) {
    const sim_run *run = &device->runs[i];
    double start = sim_step(device, run->start);
    kmb_device_op *op = &plan->ops[plan->op_count++];
    *op = run->op;
    op->start_ns = start - sim_step(device, device->runs[0].start);
    op->duration_ns = sim_step(device, run->end) - start;
    op->sample = plan->sample;
  }
  return KMB_OK;
}

kmb_status sim_plan_ops(void *self, void *opaque, kmb_device_op_fn emit,
                        void *user) {
  sim_device *device = self;
  const sim_plan *plan = opaque;
  SIM_FAULT(device, plan_ops);
  for (size_t i = 0; i < plan->op_count; i++)
    emit(user, &plan->ops[i]);
  return KMB_OK;
}

void sim_plan_destroy(void *self, void *opaque) {
  sim_device *device = self;
  sim_plan *plan = opaque;
  const kmb_host *host = &device->host;
  if (plan->nodes)
    host->free(host->ctx, plan->nodes,
               plan->node_capacity * sizeof *plan->nodes);
  if (plan->graphs)
    host->free(host->ctx, plan->graphs,
               (plan->graph_count + 1) * sizeof *plan->graphs);
  if (plan->ops)
    host->free(host->ctx, plan->ops, plan->op_capacity * sizeof *plan->ops);
  host->free(host->ctx, plan, sizeof *plan);
  device->plans--;
}
