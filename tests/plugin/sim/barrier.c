/* Barriers between simulated devices: the ranks' hosts tell each other what
 * time it is on their devices, and all go on from the latest of those. */
#include "sim.h"

typedef struct sim_barrier {
  sim_device *device;
  kmb_barrier_desc desc;
  double *times; /* of every rank */
  size_t bytes;
  double skew;
} sim_barrier;

kmb_status sim_barrier_open(void *self, const kmb_barrier_desc *desc,
                            void **out) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  const sim_config *c = &device->config;
  SIM_FAULT(device, barrier_open);
  if (desc->kind == KMB_BARRIER_FLAG && c->nopeer)
    return host->fail(host->ctx, KMB_ERR_UNSUPPORTED, 0,
                      "simulated device: no peer access");
  if (desc->kind != KMB_BARRIER_FLAG && desc->kind != KMB_BARRIER_STREAM)
    return host->fail(host->ctx, KMB_ERR_UNSUPPORTED, 0,
                      "simulated device: no barrier %d", (int)desc->kind);
  sim_barrier *b = host->alloc(host->ctx, sizeof *b, _Alignof(sim_barrier));
  size_t bytes = desc->size * sizeof(double);
  double *times = host->alloc(host->ctx, bytes, _Alignof(double));
  if (!b || !times) {
    if (b) host->free(host->ctx, b, sizeof *b);
    if (times) host->free(host->ctx, times, bytes);
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for a barrier");
  }
  bool flag = desc->kind == KMB_BARRIER_FLAG;
  *b = (sim_barrier){.device = device,
                     .desc = *desc,
                     .times = times,
                     .bytes = bytes,
                     .skew = flag ? c->skew : c->stream_skew};
  device->barriers++;
  *out = b;
  return KMB_OK;
}

/* Waits; `*waited` is how long this rank did. */
static kmb_status meet(sim_barrier *b, double *waited) {
  sim_device *device = b->device;
  if (device->clock > device->idle_at) device->idle_at = device->clock;
  double mine = device->idle_at;
  double latest = mine;
  kmb_status status =
      b->desc.exchange(b->desc.ctx, &mine, b->times, sizeof mine);
  if (status) return status;
  for (uint32_t r = 0; r < b->desc.size; r++)
    if (b->times[r] > latest) latest = b->times[r];
  device->idle_at = latest + b->skew * sim_uniform(&device->model.random);
  *waited = latest - mine;
  return KMB_OK;
}

kmb_status sim_barrier_enqueue(void *self, void *barrier, void *stream) {
  sim_device *device = self;
  sim_barrier *b = barrier;
  const sim_stream *s = stream;
  double waited = 0;
  SIM_FAULT(device, barrier_enqueue);
  if (b->device != device || !s || s->device != device)
    sim_misuse(device, "barrier_enqueue on another device or stream");
  return meet(b, &waited);
}

kmb_status sim_barrier_time(void *self, void *barrier, void *stream,
                            const kmb_align *align, double *ns) {
  sim_device *device = self;
  SIM_FAULT(device, barrier_time);
  kmb_status status = align->all_enqueued(align->ctx);
  for (int i = 0; !status && i < 2; i++)
    status = sim_barrier_enqueue(self, barrier, stream);
  double waited = 0;
  if (!status) status = meet(barrier, &waited);
  *ns = waited + 1000;
  return status ? status : sim_wait(device);
}

void sim_barrier_close(void *self, void *barrier) {
  sim_device *device = self;
  sim_barrier *b = barrier;
  const kmb_host *host = &device->host;
  host->free(host->ctx, b->times, b->bytes);
  host->free(host->ctx, b, sizeof *b);
  device->barriers--;
}

const char *sim_barrier_text(void *self, void *barrier) {
  (void)self;
  (void)barrier;
  return "simulated";
}

/* No gate: the hosts meet first. */
kmb_status sim_align(sim_device *device, const kmb_plan_desc *desc) {
  const kmb_align *align = desc->align;
  if (!align) return KMB_OK;
  kmb_status status = align->all_enqueued(align->ctx);
  if (desc->choice.timer == KMB_TIMER_HOST) return status;
  for (int i = 0; !status && align->barrier && i < 2; i++)
    status = align->barrier(align->ctx, desc->stream);
  /* What the hosts alone align begins when each host gets to it. */
  if (device->clock > device->idle_at) device->idle_at = device->clock;
  return status;
}
