/* What the device does: one engine that works kernel after kernel. */
#include "sim.h"

#include <math.h>

/* The sweep's own buffer, at an address that no allocation has. */
#define SWEEP_BASE (1ULL << 62)

/* Hits and misses of one kernel's spans. */
typedef struct misses {
  uint64_t bytes, held;
} misses;

static kmb_status touch_spans(sim_device *device, const kmb_span *spans,
                              uint32_t count, misses *m) {
  for (uint32_t i = 0; i < count; i++) {
    bool ok = true;
    m->bytes += spans[i].bytes;
    m->held += sim_cache_touch(device, (uint64_t)(uintptr_t)spans[i].pointer,
                               spans[i].bytes, &ok);
    if (!ok)
      return device->host.fail(device->host.ctx, KMB_ERR_NOMEM, 0,
                               "simulated device: no memory for its cache");
  }
  return KMB_OK;
}

static kmb_status undisturbed(sim_device *device, const sim_kernel *kernel,
                              double *ns) {
  const sim_config *c = &device->config;
  misses reads = {0, 0};
  misses writes = {0, 0};
  kmb_status status =
      touch_spans(device, kernel->reads, kernel->read_count, &reads);
  if (!status)
    status = touch_spans(device, kernel->writes, kernel->write_count, &writes);
  if (status) return status;
  const misses *m = reads.bytes ? &reads : &writes;
  double missed =
      m->bytes ? (double)(m->bytes - m->held) / (double)m->bytes : 0;
  double warm = kernel->ns > 0 ? kernel->ns : c->kernel;
  double cold = kernel->ns > 0 ? warm + c->cold - c->kernel : c->cold;
  *ns = warm + (cold - warm) * missed;
  return KMB_OK;
}

static kmb_status record_run(sim_device *device, double start, double end,
                             const sim_kernel *kernel) {
  if (device->run_count == device->run_capacity) {
    const kmb_host *host = &device->host;
    size_t capacity = device->run_capacity ? device->run_capacity * 2 : 16;
    sim_run *runs =
        host->alloc(host->ctx, capacity * sizeof *runs, _Alignof(sim_run));
    if (!runs)
      return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                        "simulated device: no memory for its records");
    if (device->runs) {
      memcpy(runs, device->runs, device->run_count * sizeof *runs);
      host->free(host->ctx, device->runs, device->run_capacity * sizeof *runs);
    }
    device->runs = runs;
    device->run_capacity = capacity;
  }
  kmb_device_op op = {.name = kernel->name,
                      .bytes = kernel->bytes,
                      .stream = kernel->stream,
                      .kind = kernel->kind ? kernel->kind : KMB_OP_KERNEL};
  device->runs[device->run_count++] = (sim_run){start, end, op};
  return KMB_OK;
}

kmb_status sim_execute(sim_device *device, const sim_kernel *kernel) {
  double ns = 0;
  kmb_status status = undisturbed(device, kernel, &ns);
  if (status) return status;
  double start = device->idle_at;
  if (!device->in_graph && device->clock > start) start = device->clock;
  double duration = sim_model_duration(device, start, ns);
  /* The first of a graph has nothing to overlap with. */
  if (device->in_graph && device->run_count > 0)
    start -= device->config.overlap * duration;
  if (++device->kernels == device->config.hang) device->hung = true;
  double ready = kernel->meet ? kernel->meet(kernel, start) : start;
  device->idle_at = ready + duration;
  if (kernel->run) kernel->run(kernel);
  return record_run(device, start, device->idle_at, kernel);
}

static kmb_status enqueue(sim_stream *stream, const sim_kernel *kernel) {
  sim_device *device = stream->device;
  const sim_config *c = &device->config;
  SIM_FAULT(device, kernel);
  if (kernel->read_count > SIM_SPANS || kernel->write_count > SIM_SPANS)
    return device->host.fail(device->host.ctx, KMB_ERR_INVALID, 0,
                             "simulated device: a kernel has at most %d spans",
                             SIM_SPANS);
  if (device->recording && !c->graph_empty)
    return sim_plan_record(device->recording, kernel);
  device->clock += c->launch + (device->tracing ? c->trace_cost : 0);
  if (device->kernels + 1 == c->compile_at) device->clock += c->compile;
  return sim_execute(device, kernel);
}

kmb_status sim_stream_open(void *self, void *callers, void **stream) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  SIM_FAULT(device, stream_open);
  sim_stream *s = callers;
  if (s && s->magic != SIM_STREAM_MAGIC)
    return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                      "simulated device: the caller's stream is not a "
                      "sim_stream; use sim_stream_init()");
  if (!s) s = host->alloc(host->ctx, sizeof *s, _Alignof(sim_stream));
  if (!s)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for a stream");
  *s = sim_stream_init();
  s->enqueue = enqueue;
  s->device = device;
  if (!callers) s->magic++; /* ours to free */
  device->streams++;
  *stream = s;
  return KMB_OK;
}

void sim_stream_close(void *self, void *stream) {
  sim_device *device = self;
  sim_stream *s = stream;
  if (!s || s->device != device || device->streams == 0) {
    sim_misuse(device, "stream_close of a stream that is not open");
    return;
  }
  device->streams--;
  s->device = NULL;
  if (s->magic != SIM_STREAM_MAGIC)
    device->host.free(device->host.ctx, s, sizeof *s);
}

kmb_status sim_wait(sim_device *device) {
  const kmb_host *host = &device->host;
  if (device->hung) {
    device->clock += device->config.deadline;
    return host->fail(host->ctx, KMB_ERR_LOST, 0,
                      "simulated device: a kernel did not end within %g ns",
                      device->config.deadline);
  }
  if (device->idle_at > device->clock) device->clock = device->idle_at;
  device->clock += device->config.sync;
  return KMB_OK;
}

kmb_status sim_stream_wait(void *self, void *stream, double limit_ns) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  const sim_stream *s = stream;
  SIM_FAULT(device, stream_wait);
  if (!s || s->device != device)
    sim_misuse(device, "stream_wait on a stream that is not open");
  if (limit_ns > 0 &&
      (device->hung || device->idle_at - device->clock > limit_ns)) {
    device->clock += limit_ns;
    return host->fail(host->ctx, KMB_ERR_TIMEOUT, 0,
                      "simulated device: the stream did not end within %g ns",
                      limit_ns);
  }
  return sim_wait(device);
}

kmb_status sim_touch(sim_device *device, uint64_t address, uint64_t bytes) {
  bool ok = true;
  sim_cache_touch(device, address, bytes, &ok);
  if (!ok)
    return device->host.fail(device->host.ctx, KMB_ERR_NOMEM, 0,
                             "simulated device: no memory for its cache");
  double ns = (double)bytes / device->config.bandwidth;
  sim_model_wake(device, device->clock);
  sim_model_work(device, ns);
  if (device->clock > device->idle_at) device->idle_at = device->clock;
  device->idle_at += ns;
  return KMB_OK;
}

kmb_status sim_sweep(sim_device *device) {
  return sim_touch(device, SWEEP_BASE, device->sweep_bytes);
}
