/* Entry of the HIP backend: its table, opening and closing. */
#define _GNU_SOURCE /* strtod_l */
#include "trace.h"

#include <locale.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* After so long without progress a kernel counts as one that never ends. */
#define DEADLINE_NS 60e9

kmb_status kmbi_hip_status_of(kmbi_hip_result result) {
  switch (result) {
  case KMBI_HIP_Success:
    return KMB_OK;
#define CASE(name, value, status) \
  case value:                     \
    return status;
    KMBI_HIP_RESULT_MAP(CASE)
#undef CASE
  default:
    return KMB_ERR_VENDOR;
  }
}

kmb_status kmbi_hip_check(kmbi_hip *self, kmbi_hip_result result,
                          const char *call) {
  if (result == KMBI_HIP_Success) return KMB_OK;
  kmb_status status = kmbi_hip_status_of(result);
  const char *name = self->api->hipGetErrorName(result);
  const char *text = self->api->hipGetErrorString(result);
  if (status == KMB_ERR_LOST) self->lost = true;
  /* A callback that asks for the last error must not be given ours. */
  (void)self->api->hipGetLastError();
  return KMBI_HIP_FAIL(
      self, status, (int64_t)result, "%s failed: %s (%u), %s%s", call,
      name ? name : "unknown", result, text ? text : "",
      status == KMB_ERR_LOST ? "; the device is lost, for this process has to "
                               "start anew"
                             : "");
}

enum { NOTHING = -1 }; /* where there is no device to put back */

kmb_status kmbi_hip_enter(kmbi_hip *self, int *before) {
  *before = NOTHING;
  if (self->lost)
    return KMBI_HIP_FAIL(self, KMB_ERR_LOST, 0,
                         "hip:%d is lost since an earlier failure; nothing "
                         "more is asked of it",
                         self->device);
  kmb_status status = KMBI_HIP(self, hipGetDevice, before);
  if (status) *before = NOTHING;
  if (!status && *before != self->device)
    status = KMBI_HIP(self, hipSetDevice, self->device);
  return status;
}

void kmbi_hip_leave(kmbi_hip *self, int before) {
  int now = NOTHING;
  if (before == NOTHING || self->lost) return;
  if (self->api->hipGetDevice(&now) || now == before) return;
  (void)self->api->hipSetDevice(before);
}

bool kmbi_hip_reenter(kmbi_hip *self, int *before) {
  if (self->lost) return false;
  if (!kmbi_hip_enter(self, before)) return true;
  if (self->lost) return false;
  /* What was current may stay unknown; what is held goes even so. */
  return !self->api->hipSetDevice(self->device);
}

double kmbi_hip_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Opening. */

static void close_hip(void *opened) {
  kmbi_hip *self = opened;
  if (!self) return;
  const kmb_host *host = self->host;
  int before = NOTHING;
  /* What is lost may never answer: it is abandoned, as is all in a child. */
  bool entered =
      self->pid == getpid() && self->usable && kmbi_hip_reenter(self, &before);
  kmbi_hip_memory_close(self);
  if (entered) {
    kmbi_hip_space_close(self);
    kmbi_hip_leave(self, before);
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

/* One of ":trace" and ":deadline=SECONDS"; NULL if it is neither. */
static const char *read_option(const char *at, kmbi_hip *self) {
  static const char trace[] = ":trace";
  static const char deadline[] = ":deadline=";
  char *end = NULL;
  if (strncmp(at, trace, sizeof trace - 1) == 0) {
    self->traced = true;
    return at + sizeof trace - 1;
  }
  if (strncmp(at, deadline, sizeof deadline - 1) != 0) return NULL;
  at += sizeof deadline - 1;
  double seconds = read_number(at, &end);
  self->deadline_ns = seconds * 1e9;
  return end != at && seconds >= 0.001 && seconds <= 86400 ? end : NULL;
}

/* "N", then options. */
static kmb_status read_spec(const kmb_host *host, const char *spec,
                            kmbi_hip *self) {
  char *end = NULL;
  const char *at = spec;
  long ordinal = 0;
  self->deadline_ns = DEADLINE_NS;
  if (*at >= '0' && *at <= '9') {
    ordinal = strtol(at, &end, 10);
    at = ordinal <= 1023 ? end : NULL;
  } else if (*at) {
    at = NULL;
  }
  while (at && *at)
    at = read_option(at, self);
  self->device = (int)ordinal;
  if (at) return KMB_OK;
  return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                    "\"hip:%.60s\" names no device; use \"hip\", \"hip:1\", "
                    "\"hip:1:deadline=SECONDS\" or \"hip:1:trace\"",
                    spec);
}

/* The version is ten million times the major number, and more. */
static kmb_status check_version(kmbi_hip *self) {
  kmb_status status =
      KMBI_HIP(self, hipRuntimeGetVersion, &self->runtime_version);
  int major = self->runtime_version / 10000000;
  if (status || (major >= KMBI_HIP_OLDEST && major <= KMBI_HIP_NEWEST))
    return status;
  return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                       "HIP %d (%.120s) is not known: this libkmb is for ROCm "
                       "%d to %d",
                       major, kmbi_hip_path(), KMBI_HIP_OLDEST,
                       KMBI_HIP_NEWEST);
}

static kmb_status find_device(kmbi_hip *self) {
  int count = 0;
  kmbi_hip_result result = self->api->hipInit(0);
  kmb_status status = KMB_OK;
  /* Without any device some versions fail here already, with 101. */
  if (result && kmbi_hip_status_of(result) != KMB_ERR_UNAVAILABLE)
    return kmbi_hip_check(self, result, "hipInit");
  if (!result) status = KMBI_HIP(self, hipGetDeviceCount, &count);
  if (status && status != KMB_ERR_UNAVAILABLE) return status;
  if (result || status || self->device >= count)
    return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, (int64_t)result,
                         "there is no hip:%d: HIP (%.100s) shows %d devices "
                         "(HIP_VISIBLE_DEVICES limits them, access to /dev/kfd "
                         "is needed)",
                         self->device, kmbi_hip_path(), count);
  return check_version(self);
}

static kmb_status open_device(kmbi_hip *self) {
  kmbi_hip_failure failure;
  /* Before any call of HIP. */
  if (self->traced) kmbi_hip_trace_configure();
  self->api = kmbi_hip_runtime(&failure);
  if (!self->api)
    return KMBI_HIP_FAIL(self, failure.status, failure.vendor, "%s",
                         failure.text);
  kmb_status status = find_device(self);
  if (!status) status = kmbi_hip_identify(self);
  self->usable = !status;
  if (!status && !self->llc.bytes) kmbi_hip_find_llc(self);
  return status;
}

static kmb_status open_hip(const kmb_host *host, const char *spec,
                           const kmb_device_params *params, void **opened) {
  *opened = NULL;
  kmbi_hip *self = host->alloc(host->ctx, sizeof *self, _Alignof(kmbi_hip));
  if (!self)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "hip: no memory for the device (%zu bytes)",
                      sizeof *self);
  memset(self, 0, sizeof *self);
  self->host = host;
  self->pid = getpid();
  self->before = NOTHING;
  if (params->llc_bytes)
    self->llc = (kmbi_hip_llc){params->llc_bytes, "caller"};
  kmb_status status = read_spec(host, spec, self);
  if (!status && params->flags & KMB_DEVICE_BIND)
    status = KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                           "hip: KMB_DEVICE_BIND is for the host");
  if (!status) status = open_device(self);
  if (status) {
    close_hip(self);
    return status;
  }
  *opened = self;
  return KMB_OK;
}

static const kmb_backend_ops ops = {
    .struct_size = sizeof(kmb_backend_ops),
    .abi = KMB_BACKEND_ABI,
    .name = "hip",
    .open = open_hip,
    .close = close_hip,
    .attr_u64 = kmbi_hip_attr_u64,
    .attr_f64 = kmbi_hip_attr_f64,
    .attr_text = kmbi_hip_attr_text,
    .memory_available = kmbi_hip_memory_available,
    .alloc = kmbi_hip_alloc,
    .free = kmbi_hip_free,
    .write = kmbi_hip_write,
    .read = kmbi_hip_read,
    .set = kmbi_hip_set,
    .fill_random = kmbi_hip_fill_random,
    .stream_open = kmbi_hip_stream_open,
    .stream_close = kmbi_hip_stream_close,
    .stream_wait = kmbi_hip_stream_wait,
    .propose = kmbi_hip_propose,
    .sweep_prepare = kmbi_hip_sweep_prepare,
    .plan_create = kmbi_hip_plan_create,
    .plan_run = kmbi_hip_plan_run,
    .plan_ops = kmbi_hip_plan_ops,
    .plan_destroy = kmbi_hip_plan_destroy,
    .bias = kmbi_hip_bias_of,
    .describe = kmbi_hip_describe,
    .telemetry = kmbi_hip_telemetry,
    .code_begin = kmbi_hip_code_begin,
    .code_end = kmbi_hip_code_end,
    .plan_findings = kmbi_hip_plan_findings,
    .aligned = 1u << KMB_TIMER_EVENT | 1u << KMB_TIMER_HOST,
    .barriers = 1u << KMB_BARRIER_NCCL,
    .barrier_open = kmbi_hip_barrier_open,
    .barrier_enqueue = kmbi_hip_barrier_enqueue,
    .barrier_time = kmbi_hip_barrier_time,
    .barrier_close = kmbi_hip_barrier_close,
    .barrier_text = kmbi_hip_barrier_text,
    .zero_reference =
        "GRAPH, what a kernel that stores nothing adds to a replay",
};

const kmb_backend_ops *kmbi_backend_hip(void) {
  return &ops;
}
