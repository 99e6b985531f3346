/* The device itself: its table, attributes, faults and metadata. */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef SIM_BARE
#define SIM_NAME "simbare"
#else
#define SIM_NAME "sim"
#endif

void sim_misuse(sim_device *device, const char *format, ...) {
  char message[200] = "misuse: ";
  size_t used = strlen(message);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message + used, sizeof message - used, format, arguments);
  va_end(arguments);
  device->host.log(device->host.ctx, KMB_LOG_ERROR, message);
}

static bool is_due(const sim_fault *fault, uint64_t call) {
  return call == fault->at || (fault->onward && call > fault->at);
}

kmb_status sim_fault_due(sim_device *device, sim_slot slot, const char *name) {
  uint64_t call = ++device->calls[slot];
  uint64_t any = ++device->calls[SIM_SLOT_any];
  for (uint32_t i = 0; i < device->config.fault_count; i++) {
    const sim_fault *fault = &device->config.faults[i];
    if ((fault->slot == slot && is_due(fault, call)) ||
        (fault->slot == SIM_SLOT_any && is_due(fault, any)))
      return device->host.fail(device->host.ctx, fault->status, 77,
                               "simulated fault in %s, call %llu", name,
                               (unsigned long long)call);
  }
  return KMB_OK;
}

double sim_now(void *self) {
  sim_device *device = self;
  device->clock += device->config.now;
  return device->clock;
}

void sim_sleep(void *self, double ns) {
  sim_device *device = self;
  device->clock += ns;
}

static kmb_status read_spec(const kmb_host *host, const char *spec,
                            sim_config *config) {
  const char *at = spec;
  size_t length = 0;
  if (sim_config_parse(config, spec, &at, &length)) return KMB_OK;
  return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                    "simulated device: cannot read \"%.*s\" in its "
                    "specification; see tests/plugin/sim/README.md",
                    (int)(length < 64 ? length : 64), at);
}

static kmb_status sim_open(const kmb_host *host, const char *spec,
                           const kmb_device_params *params, void **self) {
  sim_config config;
  kmb_status status = read_spec(host, spec, &config);
  if (status) return status;
  sim_device *device =
      host->alloc(host->ctx, sizeof *device, _Alignof(sim_device));
  if (!device)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for it");
  memset(device, 0, sizeof *device);
  device->host = *host;
  device->config = config;
  device->cache.bytes = config.llc;
  device->slowness = 1;
  device->model.first = -1;
  device->clock = device->idle_at = 1e9;
  sim_random_seed(&device->model.random, config.seed);
  /* What the caller says of the cache is an attribute and changes nothing. */
  if (params->llc_bytes) {
    device->config.llc = params->llc_bytes;
    device->config.llc_known = 1;
  }
  status = sim_fault_due(device, SIM_SLOT_open, "open");
  if (status) {
    host->free(host->ctx, device, sizeof *device);
    return status;
  }
  *self = device;
  return KMB_OK;
}

static void sim_close(void *self) {
  sim_device *device = self;
  const kmb_host host = device->host;
  uint64_t blocks = 0;
  while (device->blocks) {
    blocks++;
    sim_free(device, device->blocks->pointer, device->blocks->bytes);
  }
  if (blocks || device->streams || device->plans || device->barriers)
    sim_misuse(device,
               "closed with %llu allocations, %llu streams, %llu plans, %llu "
               "barriers open",
               (unsigned long long)blocks, (unsigned long long)device->streams,
               (unsigned long long)device->plans,
               (unsigned long long)device->barriers);
  sim_cache_free(device);
  if (device->runs)
    host.free(host.ctx, device->runs,
              device->run_capacity * sizeof *device->runs);
  host.free(host.ctx, device, sizeof *device);
}

static kmb_status unknown(sim_device *device, kmb_device_attr attr) {
  return device->host.fail(device->host.ctx, KMB_ERR_UNAVAILABLE, 0,
                           "simulated device has no attribute %d", (int)attr);
}

static kmb_status sim_attr_u64(void *self, kmb_device_attr attr,
                               uint64_t *value) {
  sim_device *device = self;
  const sim_config *c = &device->config;
  SIM_FAULT(device, attr_u64);
  switch (attr) {
  case KMB_DEVICE_UNITS:
    *value = c->units;
    return KMB_OK;
  case KMB_DEVICE_MEMORY_BYTES:
    *value = c->memory;
    return KMB_OK;
  case KMB_DEVICE_L2_BYTES:
    *value = c->l2;
    return KMB_OK;
  case KMB_DEVICE_LLC_BYTES:
    if (!c->llc_known) return unknown(device, attr);
    *value = c->llc;
    return KMB_OK;
  case KMB_DEVICE_THREADS:
    *value = 1;
    return KMB_OK;
  default:
    return unknown(device, attr);
  }
}

static kmb_status sim_attr_f64(void *self, kmb_device_attr attr,
                               double *value) {
  sim_device *device = self;
  SIM_FAULT(device, attr_f64);
  if (attr != KMB_DEVICE_CLOCK_TICK_NS) return unknown(device, attr);
  *value = device->config.tick;
  return KMB_OK;
}

static kmb_status sim_attr_text(void *self, kmb_device_attr attr,
                                const char **text) {
  sim_device *device = self;
  const sim_config *c = &device->config;
  SIM_FAULT(device, attr_text);
  switch (attr) {
  case KMB_DEVICE_NAME:
    *text = c->name[0] ? c->name : "Simulated device";
    return KMB_OK;
  case KMB_DEVICE_PCI_ID:
    if (!c->pci[0]) return unknown(device, attr);
    *text = c->pci;
    return KMB_OK;
  case KMB_DEVICE_ARCH:
    *text = "sim_90";
    return KMB_OK;
  case KMB_DEVICE_UUID:
    *text = c->uuid;
    if (c->uuid[0]) return KMB_OK;
    snprintf(device->attr_text, sizeof device->attr_text, "SIM-%016llx",
             (unsigned long long)device->config.seed);
    *text = device->attr_text;
    return KMB_OK;
  case KMB_DEVICE_LLC_SOURCE:
    *text = "specification";
    return KMB_OK;
  default:
    return unknown(device, attr);
  }
}

static void sim_describe(void *self, kmb_emit_fn emit, void *user) {
  const sim_device *device = self;
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)device->config.seed);
  emit(user, "sim.seed", text, NULL);
  snprintf(text, sizeof text, "%llu",
           (unsigned long long)device->calls[SIM_SLOT_any]);
  emit(user, "sim.calls", text, NULL);
  emit(user, "device.driver", NULL, "a simulated device has none");
}

#ifndef SIM_BARE
static void sim_telemetry(void *self, kmb_telemetry_fn emit, void *user) {
  sim_device *device = self;
  const sim_config *c = &device->config;
  device->clock += c->telemetry_cost;
  if (!c->telemetry) {
    emit(user, KMB_TELEMETRY_CLOCK, 0, "switched off in the specification");
    return;
  }
  emit(user, KMB_TELEMETRY_CLOCK, c->clock / device->slowness, NULL);
  emit(user, KMB_TELEMETRY_THROTTLE,
       device->throttled ? KMB_THROTTLE_POWER_CAP : 0, NULL);
  emit(user, KMB_TELEMETRY_PREEMPTIONS, device->clock / 1e9 * c->preempt, NULL);
  emit(user, KMB_TELEMETRY_STEAL, device->clock / 1e9 * c->steal, NULL);
  emit(user, KMB_TELEMETRY_TEMPERATURE, 0, "a simulated device has none");
}
#endif

static const kmb_backend_ops table = {
#ifdef SIM_BARE
    /* As if built when the table ended before its last function. */
    .struct_size = offsetof(kmb_backend_ops, telemetry),
#else
    .struct_size = sizeof(kmb_backend_ops),
#endif
    .abi = KMB_BACKEND_ABI,
    .name = SIM_NAME,
    .open = sim_open,
    .close = sim_close,
    .attr_u64 = sim_attr_u64,
    .attr_f64 = sim_attr_f64,
    .attr_text = sim_attr_text,
    .now = sim_now,
    .sleep = sim_sleep,
    .memory_available = sim_memory_available,
    .alloc = sim_alloc,
    .free = sim_free,
    .write = sim_write,
    .read = sim_read,
    .set = sim_set,
    .fill_random = sim_fill_random,
    .stream_open = sim_stream_open,
    .stream_close = sim_stream_close,
    .stream_wait = sim_stream_wait,
    .propose = sim_propose,
    .plan_create = sim_plan_create,
    .plan_run = sim_plan_run,
    .plan_destroy = sim_plan_destroy,
    .describe = sim_describe,
#ifndef SIM_BARE
    .sweep_prepare = sim_sweep_prepare,
    .plan_ops = sim_plan_ops,
    .graph_launch = sim_graph_launch,
    .code_begin = sim_code_begin,
    .code_end = sim_code_end,
    .session_open = sim_session_open,
    .session_mark = sim_session_mark,
    .session_read = sim_session_read,
    .session_close = sim_session_close,
    .bias = sim_bias,
    .ceiling = sim_ceiling,
    .telemetry = sim_telemetry,
    .aligned = 1u << KMB_TIMER_EVENT | 1u << KMB_TIMER_HOST,
    .barriers = 1u << KMB_BARRIER_FLAG | 1u << KMB_BARRIER_STREAM,
    .barrier_open = sim_barrier_open,
    .barrier_enqueue = sim_barrier_enqueue,
    .barrier_time = sim_barrier_time,
    .barrier_close = sim_barrier_close,
    .barrier_text = sim_barrier_text,
#endif
};

const kmb_backend_ops *kmb_backend_entry_1(void) {
  return &table;
}
