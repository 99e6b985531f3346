/* Entry of the host backend: its table, opening and closing. */
#include "host.h"

#include <time.h>
#include <unistd.h>

static void close_host(void *opened) {
  kmbi_host *self = opened;
  if (!self) return;
  const kmb_host *host = self->host;
  kmbi_host_pool_close(self, self->pid != getpid());
  kmbi_host_sweep_close(self);
  kmbi_host_topology_close(self);
  host->free(host->ctx, self, sizeof *self);
}

static kmb_status open_host(const kmb_host *host, const char *spec,
                            const kmb_device_params *params, void **opened) {
  *opened = NULL;
  if (*spec)
    return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                      "there is one host: open \"host\", not \"host:%.40s\"",
                      spec);
  kmbi_host *self = host->alloc(host->ctx, sizeof *self, _Alignof(kmbi_host));
  if (!self)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "host: no memory for the device (%zu bytes)",
                      sizeof *self);
  memset(self, 0, sizeof *self);
  self->host = host;
  self->pid = getpid();
  self->llc_given = params->llc_bytes;
  kmb_status status = kmbi_host_topology_open(self, params->threads);
  if (!status && params->flags & KMB_DEVICE_BIND) status = kmbi_host_bind(self);
  if (status) {
    close_host(self);
    return status;
  }
  *opened = self;
  return KMB_OK;
}

double kmbi_host_now(void *self) {
  (void)self;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The host has no streams: the caller's pointer is passed through, and what
 * was launched has ended. */

static kmb_status stream_open(void *self, void *callers, void **stream) {
  (void)self;
  *stream = callers;
  return KMB_OK;
}

static void stream_close(void *self, void *stream) {
  (void)self;
  (void)stream;
}

static kmb_status stream_wait(void *self, void *stream, double limit_ns) {
  (void)self;
  (void)stream;
  (void)limit_ns;
  return KMB_OK;
}

static const kmb_backend_ops ops = {
    .struct_size = sizeof(kmb_backend_ops),
    .abi = KMB_BACKEND_ABI,
    .aligned = 1u << KMB_TIMER_HOST,
    .name = "host",
    .open = open_host,
    .close = close_host,
    .attr_u64 = kmbi_host_attr_u64,
    .attr_f64 = kmbi_host_attr_f64,
    .attr_text = kmbi_host_attr_text,
    .now = kmbi_host_now,
    .memory_available = kmbi_host_memory_available,
    .alloc = kmbi_host_alloc,
    .free = kmbi_host_free,
    .write = kmbi_host_write,
    .read = kmbi_host_read,
    .set = kmbi_host_set,
    .fill_random = kmbi_host_fill_random,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .stream_wait = stream_wait,
    .propose = kmbi_host_propose,
    .sweep_prepare = kmbi_host_sweep_prepare,
    .plan_create = kmbi_host_plan_create,
    .plan_run = kmbi_host_plan_run,
    .plan_destroy = kmbi_host_plan_destroy,
    .ceiling = kmbi_host_ceiling,
    .describe = kmbi_host_describe,
    .telemetry = kmbi_host_telemetry,
};

const kmb_backend_ops *kmbi_backend_host(void) {
  return &ops;
}
