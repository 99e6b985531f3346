/* Entry of the CUDA backend: its table, opening and closing. */
#define _GNU_SOURCE /* strtod_l */
#include "cuda_backend.h"

#include <locale.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* After so long without progress a kernel counts as one that never ends. */
#define DEADLINE_NS 60e9

kmb_status kmbi_cuda_status_of(kmbi_cu_result result) {
  switch (result) {
  case KMBI_CU_SUCCESS:
    return KMB_OK;
#define CASE(name, value, status) \
  case value:                     \
    return status;
    KMBI_CU_RESULT_MAP(CASE)
#undef CASE
  default:
    return KMB_ERR_VENDOR;
  }
}

kmb_status kmbi_cuda_check(kmbi_cuda *self, kmbi_cu_result result,
                           const char *call) {
  if (result == KMBI_CU_SUCCESS) return KMB_OK;
  const char *name = NULL;
  const char *text = NULL;
  kmb_status status = kmbi_cuda_status_of(result);
  if (self->driver->cuGetErrorName(result, &name) || !name) name = "unknown";
  if (self->driver->cuGetErrorString(result, &text) || !text) text = "";
  if (status == KMB_ERR_LOST) kmbi_cuda_lose(self);
  return KMBI_CUDA_FAIL(self, status, (int64_t)result,
                        "%s failed: %s (%u), %s%s", call, name, result, text,
                        status == KMB_ERR_LOST
                            ? "; the context is lost, for this process has to "
                              "start anew"
                            : "");
}

/* Where there is nothing to put back. */
#define NOTHING ((kmbi_cu_context)(uintptr_t)UINTPTR_MAX)

kmb_status kmbi_cuda_enter(kmbi_cuda *self, kmbi_cu_context *before) {
  *before = NOTHING;
  if (self->lost)
    return KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                          "cuda:%d is lost since an earlier failure; nothing "
                          "more is asked of it",
                          self->ordinal);
  kmb_status status = KMBI_CU(self, cuCtxGetCurrent, before);
  if (status) *before = NOTHING;
  if (!status && *before != self->space->context)
    status = KMBI_CU(self, cuCtxSetCurrent, self->space->context);
  return status;
}

void kmbi_cuda_leave(kmbi_cuda *self, kmbi_cu_context before) {
  kmbi_cu_context now = NULL;
  if (before == NOTHING) return;
  if (self->driver->cuCtxGetCurrent(&now) || now == before) return;
  (void)self->driver->cuCtxSetCurrent(before);
}

bool kmbi_cuda_reenter(kmbi_cuda *self, kmbi_cu_context *before) {
  if (self->lost) return false;
  if (!kmbi_cuda_enter(self, before)) return true;
  if (self->lost) return false;
  /* What was current may stay unknown; what is held goes even so. */
  return !self->driver->cuCtxSetCurrent(self->space->context);
}

double kmbi_cuda_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Opening. */

static void close_cuda(void *opened) {
  kmbi_cuda *self = opened;
  if (!self) return;
  const kmb_host *host = self->host;
  bool ours = self->pid == getpid();
  (void)kmbi_cuda_kept_end(self, ours);
  kmbi_cuda_metrics_drop(self, ours && !self->lost);
  /* What is lost may never answer: it is abandoned, as is all in a child. */
  if (ours && !self->lost && self->retained) {
    kmbi_cu_context before = NULL;
    self->space = &self->primary;
    bool entered = kmbi_cuda_reenter(self, &before);
    kmbi_cuda_memory_close(self);
    if (entered) kmbi_cuda_space_close(self, &self->primary);
    kmbi_cuda_leave(self, before);
    (void)self->driver->cuDevicePrimaryCtxRelease(self->device);
  } else {
    kmbi_cuda_memory_close(self);
  }
  host->free(host->ctx, self, sizeof *self);
}

/* With a point, whatever the caller's locale is; `*end` is `at` if there is
 * none. */
static double read_number(const char *at, char **end) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  double value = plain ? strtod_l(at, end, plain) : 0;
  if (plain)
    freelocale(plain);
  else
    *end = (char *)(uintptr_t)at;
  return value;
}

/* "N" or "N:deadline=SECONDS". */
static kmb_status read_spec(const kmb_host *host, const char *spec,
                            kmbi_cuda *self) {
  static const char option[] = "deadline=";
  char *end = NULL;
  const char *at = spec;
  bool good = true;
  long ordinal = 0;
  self->deadline_ns = DEADLINE_NS;
  if (*at) {
    good = *at >= '0' && *at <= '9';
    ordinal = strtol(at, &end, 10);
    good = good && ordinal <= 1023;
    at = end;
  }
  if (good && *at == ':' && strncmp(at + 1, option, sizeof option - 1) == 0) {
    double seconds = read_number(at + sizeof option, &end);
    good = end != at + sizeof option && seconds >= 0.001 && seconds <= 86400;
    self->deadline_ns = seconds * 1e9;
    at = end;
  }
  self->ordinal = (int)ordinal;
  if (good && !*at) return KMB_OK;
  return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                    "\"cuda:%.60s\" names no device; use \"cuda\", \"cuda:1\" "
                    "or \"cuda:1:deadline=SECONDS\"",
                    spec);
}

/* This is how the driver says that an ancestor had initialised it. */
static kmb_status initialise(kmbi_cuda *self) {
  kmbi_cu_result result = self->driver->cuInit(0);
  if (result != KMBI_CU_NOT_INITIALIZED)
    return kmbi_cuda_check(self, result, "cuInit");
  return KMBI_CUDA_FAIL(self, KMB_ERR_FORKED, (int64_t)result,
                        "cuInit failed: NOT_INITIALIZED (%u); this process was "
                        "forked from one that used CUDA: fork before that, or "
                        "exec",
                        result);
}

static kmb_status find_device(kmbi_cuda *self) {
  int count = 0;
  kmb_status status = initialise(self);
  if (!status) status = KMBI_CU(self, cuDeviceGetCount, &count);
  if (status) return status;
  if (self->ordinal >= count)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "there is no cuda:%d: the driver shows %d devices "
                          "(CUDA_VISIBLE_DEVICES limits them)",
                          self->ordinal, count);
  return KMBI_CU(self, cuDeviceGet, &self->device, self->ordinal);
}

static kmb_status open_device(kmbi_cuda *self) {
  kmbi_cuda_failure failure;
  self->driver = kmbi_cuda_driver(&failure);
  if (!self->driver)
    return KMBI_CUDA_FAIL(self, failure.status, failure.vendor, "%s",
                          failure.text);
  kmb_status status = find_device(self);
  if (!status) status = kmbi_cuda_identify(self);
  if (!status)
    status = KMBI_CU(self, cuDevicePrimaryCtxRetain, &self->primary.context,
                     self->device);
  self->retained = !status;
  return status;
}

static kmb_status open_cuda(const kmb_host *host, const char *spec,
                            const kmb_device_params *params, void **opened) {
  *opened = NULL;
  kmbi_cuda *self = host->alloc(host->ctx, sizeof *self, _Alignof(kmbi_cuda));
  if (!self)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "cuda: no memory for the device (%zu bytes)",
                      sizeof *self);
  memset(self, 0, sizeof *self);
  self->host = host;
  self->pid = getpid();
  self->llc_given = params->llc_bytes;
  self->space = &self->primary;
  kmb_status status = read_spec(host, spec, self);
  if (!status && params->flags & KMB_DEVICE_BIND)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                            "cuda: KMB_DEVICE_BIND is for the host");
  if (!status) status = open_device(self);
  if (status) {
    close_cuda(self);
    return status;
  }
  *opened = self;
  return KMB_OK;
}

static const kmb_backend_ops ops = {
    .struct_size = sizeof(kmb_backend_ops),
    .abi = KMB_BACKEND_ABI,
    .name = "cuda",
    .open = open_cuda,
    .close = close_cuda,
    .attr_u64 = kmbi_cuda_attr_u64,
    .attr_f64 = kmbi_cuda_attr_f64,
    .attr_text = kmbi_cuda_attr_text,
    .memory_available = kmbi_cuda_memory_available,
    .alloc = kmbi_cuda_alloc,
    .free = kmbi_cuda_free,
    .write = kmbi_cuda_write,
    .read = kmbi_cuda_read,
    .set = kmbi_cuda_set,
    .fill_random = kmbi_cuda_fill_random,
    .stream_open = kmbi_cuda_stream_open,
    .stream_close = kmbi_cuda_stream_close,
    .stream_wait = kmbi_cuda_stream_wait,
    .propose = kmbi_cuda_propose,
    .sweep_prepare = kmbi_cuda_sweep_prepare,
    .plan_create = kmbi_cuda_plan_create,
    .plan_run = kmbi_cuda_plan_run,
    .plan_ops = kmbi_cuda_plan_ops,
    .plan_destroy = kmbi_cuda_plan_destroy,
    .graph_launch = kmbi_cuda_graph_launch,
    .session_open = kmbi_cuda_session_open,
    .session_mark = kmbi_cuda_session_mark,
    .session_read = kmbi_cuda_session_read,
    .session_close = kmbi_cuda_session_close,
    .bias = kmbi_cuda_bias_of,
    .ceiling = kmbi_cuda_ceiling,
    .describe = kmbi_cuda_describe,
    .telemetry = kmbi_cuda_telemetry,
    .plan_findings = kmbi_cuda_plan_findings,
    .zero_reference = "TRACE on plain launches",
    .aligned = 1u << KMB_TIMER_EVENT | 1u << KMB_TIMER_HOST,
    .barriers = 1u << KMB_BARRIER_FLAG | 1u << KMB_BARRIER_STREAM |
                1u << KMB_BARRIER_NCCL,
    .barrier_open = kmbi_cuda_barrier_open,
    .barrier_enqueue = kmbi_cuda_barrier_enqueue,
    .barrier_time = kmbi_cuda_barrier_time,
    .barrier_close = kmbi_cuda_barrier_close,
    .barrier_text = kmbi_cuda_barrier_text,
    .record_begin = kmbi_cuda_record_begin,
    .record_point = kmbi_cuda_record_point,
    .record_end = kmbi_cuda_record_end,
    .code_begin = kmbi_cuda_code_begin,
    .code_end = kmbi_cuda_code_end,
    .counters_open = kmbi_cuda_counters_open,
    .counters_collect = kmbi_cuda_counters_collect,
    .counters_close = kmbi_cuda_counters_close,
    .occupancy = kmbi_cuda_occupancy,
    .counters_release = kmbi_cuda_counters_release,
};

const kmb_backend_ops *kmbi_backend_cuda(void) {
  return &ops;
}
