/* The range profiler of libcupti.so.13 and its host side. It is strict: calls
 * in another order, of other sizes, with work that has not ended or beside the
 * tracer fail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "exports.h"

enum {
  INVALID_PARAMETER = 1,
  INVALID_OPERATION = 7,
  IMAGE = 256,
  DATA = 64, /* bytes a range */
  HOSTS = 8,
  METRICS = 32
};

/* A metric is counted in one pass, the last of those that it needs. */
static const struct {
  const char *name;
  unsigned passes;
} metrics[] = {
    {"dram__bytes_read.sum", 1},
    {"dram__bytes_write.sum", 1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", 1},
    {"lts__t_sector_hit_rate.pct", 2},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 8},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 5},
    {"gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
     5},
    {"gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
     5},
    {"sm__memory_throughput.avg.pct_of_peak_sustained_elapsed", 9},
};
enum { KNOWN = sizeof metrics / sizeof metrics[0] };

typedef struct host {
  bool used;
  unsigned asked[METRICS];
  size_t count;
} host;

typedef struct image {
  char magic[8];
  unsigned passes;
} image;

static struct {
  bool initialised;
  host hosts[HOSTS];
  struct CUctx_st *context; /* enabled in it */
  bool sized, configured, started, done, decoded, kernel_replay;
  uint8_t *data;
  size_t data_bytes, ranges;
  unsigned passes;
} state;

/* After the device was set up anew nothing of before is there. */
static void follow_reset(void) {
  if (sim_calls(SIM_cuptiProfilerInitialize) == 1)
    memset(&state, 0, sizeof state);
}

#define ENTER(name, type, last, cost)                       \
  SIM_ENTER(name, cost);                                    \
  if (p->size != KMBI_PROFILER_SIZE(type, last) || p->none) \
  return INVALID_PARAMETER

kmbi_cupti_result sim_cuptiProfilerInitialize(kmbi_profiler_initialize *p) {
  SIM_GUARD(cuptiProfilerInitialize, SIM_CALL);
  follow_reset();
  if (guard.result) return guard.result;
  if (p->size != KMBI_PROFILER_SIZE(kmbi_profiler_initialize, none))
    return INVALID_PARAMETER;
  state.initialised = true;
  return 0;
}

kmbi_cupti_result sim_cuptiProfilerDeviceSupported(kmbi_profiler_supported *p) {
  ENTER(cuptiProfilerDeviceSupported, kmbi_profiler_supported, api, SIM_CALL);
  if (!state.initialised) return KMBI_CUPTI_NOT_INITIALIZED;
  if (p->device || p->api != KMBI_PROFILER_RANGE) return INVALID_PARAMETER;
  kmbi_cupti_enum *reasons[] = {&p->architecture, &p->sli, &p->vgpu,
                                &p->confidential, &p->cmp, &p->wsl};
  for (unsigned i = 0; i < 6; i++)
    *reasons[i] = sim_set()->unsupported == i + 1 ? KMBI_PROFILER_UNSUPPORTED
                                                  : KMBI_PROFILER_SUPPORTED;
  p->supported = KMBI_PROFILER_SUPPORTED;
  if (sim_set()->vgpu_disabled) p->vgpu = KMBI_PROFILER_DISABLED;
  if (sim_set()->unsupported || sim_set()->vgpu_disabled)
    p->supported = KMBI_PROFILER_UNSUPPORTED;
  return 0;
}

kmbi_cupti_result sim_cuptiDeviceGetChipName(kmbi_profiler_chip *p) {
  ENTER(cuptiDeviceGetChipName, kmbi_profiler_chip, name, SIM_CALL);
  if (!state.initialised) return KMBI_CUPTI_NOT_INITIALIZED;
  p->name = "GH100";
  return p->device ? INVALID_PARAMETER : 0;
}

/* The host side. */

static host *host_of(void *object) {
  for (int i = 0; i < HOSTS; i++)
    if (object == &state.hosts[i] && state.hosts[i].used)
      return &state.hosts[i];
  return NULL;
}

kmbi_cupti_result sim_cuptiProfilerHostInitialize(kmbi_host_initialize *p) {
  ENTER(cuptiProfilerHostInitialize, kmbi_host_initialize, host, SIM_LAUNCH);
  if (p->type != KMBI_PROFILER_RANGE) return INVALID_PARAMETER;
  if (!p->chip || strcmp(p->chip, "GH100") != 0)
    return KMBI_CUPTI_INVALID_CHIP_NAME;
  for (int i = 0; i < HOSTS; i++) {
    if (state.hosts[i].used) continue;
    state.hosts[i] = (host){.used = true};
    sim_hold(1);
    p->host = &state.hosts[i];
    return 0;
  }
  return INVALID_OPERATION;
}

kmbi_cupti_result sim_cuptiProfilerHostDeinitialize(kmbi_host_deinitialize *p) {
  SIM_GUARD(cuptiProfilerHostDeinitialize, SIM_CALL);
  host *h = host_of(p->host);
  if (!h) return INVALID_PARAMETER;
  h->used = false;
  sim_hold(-1);
  return guard.result;
}

static bool find(const char *name, unsigned *place) {
  for (*place = 0; *place < KNOWN; ++*place)
    if (strcmp(metrics[*place].name, name) == 0) return true;
  return false;
}

kmbi_cupti_result sim_cuptiProfilerHostConfigAddMetrics(kmbi_host_metrics *p) {
  ENTER(cuptiProfilerHostConfigAddMetrics, kmbi_host_metrics, count, SIM_CALL);
  host *h = host_of(p->host);
  if (!h || !p->count || h->count + p->count > METRICS)
    return INVALID_PARAMETER;
  for (size_t i = 0; i < p->count; i++)
    if (!find(p->names[i], &h->asked[h->count++]))
      return KMBI_CUPTI_INVALID_METRIC_NAME;
  return 0;
}

kmbi_cupti_result
sim_cuptiProfilerHostGetConfigImageSize(kmbi_host_config_size *p) {
  ENTER(cuptiProfilerHostGetConfigImageSize, kmbi_host_config_size, bytes,
        SIM_CALL);
  const host *h = host_of(p->host);
  p->bytes = IMAGE;
  return h && h->count ? 0 : INVALID_OPERATION;
}

kmbi_cupti_result sim_cuptiProfilerHostGetConfigImage(kmbi_host_config *p) {
  ENTER(cuptiProfilerHostGetConfigImage, kmbi_host_config, image, SIM_CALL);
  const host *h = host_of(p->host);
  if (!h || !h->count || p->bytes != IMAGE) return INVALID_PARAMETER;
  image made = {.magic = "config", .passes = 1};
  for (size_t i = 0; i < h->count; i++)
    if (metrics[h->asked[i]].passes > made.passes)
      made.passes = metrics[h->asked[i]].passes;
  memcpy(p->image, &made, sizeof made);
  return 0;
}

static bool is_config(const uint8_t *at, size_t bytes, unsigned *passes) {
  image read;
  if (!at || bytes != IMAGE) return false;
  memcpy(&read, at, sizeof read);
  *passes = read.passes;
  return strcmp(read.magic, "config") == 0;
}

kmbi_cupti_result sim_cuptiProfilerHostGetNumOfPasses(kmbi_host_passes *p) {
  ENTER(cuptiProfilerHostGetNumOfPasses, kmbi_host_passes, passes, SIM_CALL);
  unsigned passes = 0;
  if (!is_config(p->image, p->bytes, &passes)) return INVALID_PARAMETER;
  p->passes = passes;
  return 0;
}

static double value_of(unsigned metric, size_t range) {
  unsigned pass = state.kernel_replay ? 0 : metrics[metric].passes - 1;
  sim_traffic t = sim_counters()->traffic[pass][range];
  /* Putting memory back replaces what the L2 held. */
  if (state.kernel_replay) {
    t.cold += t.hot;
    t.hot = 0;
  }
  switch (metric) {
  case 0:
    return (double)t.cold;
  case 1:
    return (double)t.dirty;
  case 2:
    return sim_set()->occupancy_pct;
  case 3:
    return t.hot + t.cold ? 100.0 * (double)t.hot / (double)(t.hot + t.cold)
                          : (double)NAN;
  case 4:
    return sim_set()->compute_pct;
  default:
    return metric == 8 ? sim_set()->memory_pct / 4 : sim_set()->memory_pct;
  }
}

kmbi_cupti_result
sim_cuptiProfilerHostEvaluateToGpuValues(kmbi_host_evaluate *p) {
  ENTER(cuptiProfilerHostEvaluateToGpuValues, kmbi_host_evaluate, values,
        SIM_CALL);
  if (!host_of(p->host) || !state.decoded || p->image != state.data ||
      p->bytes != state.data_bytes || p->range >= state.ranges)
    return INVALID_PARAMETER;
  for (size_t i = 0; i < p->count; i++) {
    unsigned metric = 0;
    if (!find(p->names[i], &metric)) return KMBI_CUPTI_INVALID_METRIC_NAME;
    p->values[i] = value_of(metric, p->range);
  }
  return 0;
}

/* Ranges. */

kmbi_cupti_result sim_cuptiRangeProfilerEnable(kmbi_range_enable *p) {
  ENTER(cuptiRangeProfilerEnable, kmbi_range_enable, profiler, SIM_LAUNCH);
  if (!state.initialised) return KMBI_CUPTI_NOT_INITIALIZED;
  if (sim_set()->counters_refused) return sim_set()->counters_refused;
  if (!p->context || state.context || sim_tracing()) return INVALID_OPERATION;
  state.context = p->context;
  state.sized = state.configured = state.started = state.done = false;
  state.decoded = false;
  sim_hold(1);
  p->profiler = &state;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerDisable(kmbi_range_disable *p) {
  SIM_GUARD(cuptiRangeProfilerDisable, SIM_CALL);
  if (p->profiler != &state || !state.context || sim_current() != state.context)
    return INVALID_OPERATION;
  state.context = NULL;
  state.decoded = false;
  sim_counters()->on = false;
  sim_hold(-1);
  return guard.result;
}

static bool is_on(const void *profiler) {
  return profiler == &state && state.context && sim_current() == state.context;
}

kmbi_cupti_result
sim_cuptiRangeProfilerGetCounterDataSize(kmbi_range_data_size *p) {
  ENTER(cuptiRangeProfilerGetCounterDataSize, kmbi_range_data_size, bytes,
        SIM_CALL);
  if (!is_on(p->profiler)) return INVALID_OPERATION;
  if (!p->names || !p->count || !p->ranges || p->nodes < p->ranges)
    return INVALID_PARAMETER;
  p->bytes = DATA * p->ranges;
  state.data_bytes = p->bytes;
  state.ranges = p->ranges;
  return 0;
}

kmbi_cupti_result
sim_cuptiRangeProfilerCounterDataImageInitialize(kmbi_range_data *p) {
  ENTER(cuptiRangeProfilerCounterDataImageInitialize, kmbi_range_data, image,
        SIM_CALL);
  if (!is_on(p->profiler) || !p->image || p->bytes != state.data_bytes)
    return INVALID_PARAMETER;
  if (state.started) return INVALID_OPERATION;
  /* Emptied in place: the passes begin anew. */
  if (state.configured && p->image == state.data) {
    bool user = sim_counters()->user_range;
    sim_profiler_reset();
    sim_counters()->user_range = user;
  } else {
    state.configured = false;
  }
  state.data = p->image;
  state.sized = true;
  state.done = state.decoded = false;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerSetConfig(kmbi_range_config *p) {
  ENTER(cuptiRangeProfilerSetConfig, kmbi_range_config, target_level, SIM_CALL);
  if (!is_on(p->profiler) || !state.sized || state.started)
    return INVALID_OPERATION;
  bool user = p->range == KMBI_RANGE_USER;
  bool kernel = p->replay == KMBI_REPLAY_KERNEL;
  if (!is_config(p->config, p->config_bytes, &state.passes) ||
      p->data != state.data || p->data_bytes != state.data_bytes ||
      (!user && p->range != KMBI_RANGE_AUTO) ||
      (!kernel && p->replay != KMBI_REPLAY_USER) || (user && kernel) ||
      p->ranges != state.ranges || p->levels != 1 || p->pass)
    return INVALID_PARAMETER;
  sim_profiler_reset();
  sim_counters()->user_range = user;
  state.kernel_replay = kernel;
  state.configured = true;
  state.done = false;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerStart(kmbi_range_start *p) {
  ENTER(cuptiRangeProfilerStart, kmbi_range_start, profiler, SIM_CALL);
  if (!is_on(p->profiler) || !state.configured || state.started || state.done ||
      !sim_all_idle() || sim_tracing())
    return INVALID_OPERATION;
  state.started = true;
  sim_counters()->ranges = 0;
  sim_counters()->on = true;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerPushRange(kmbi_range_push *p) {
  ENTER(cuptiRangeProfilerPushRange, kmbi_range_push, name, SIM_CALL);
  sim_counted *c = sim_counters();
  if (!is_on(p->profiler) || !state.started || !c->user_range || c->in_range ||
      !p->name)
    return INVALID_OPERATION;
  c->in_range = true;
  c->ranges++;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerPopRange(kmbi_range_pop *p) {
  ENTER(cuptiRangeProfilerPopRange, kmbi_range_pop, profiler, SIM_CALL);
  sim_counted *c = sim_counters();
  if (!is_on(p->profiler) || !c->in_range || !sim_all_idle())
    return INVALID_OPERATION;
  c->in_range = false;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerStop(kmbi_range_stop *p) {
  SIM_GUARD(cuptiRangeProfilerStop, SIM_CALL);
  sim_counted *c = sim_counters();
  if (!is_on(p->profiler) || !state.started) return INVALID_OPERATION;
  bool calm = sim_all_idle() && !c->in_range;
  state.started = false;
  c->on = false;
  c->in_range = false;
  sim_cache_drop(); /* what it writes itself */
  if (guard.result) return guard.result;
  if (p->size != KMBI_PROFILER_SIZE(kmbi_range_stop, complete) || !calm)
    return INVALID_OPERATION;
  if (c->spoiled) return KMBI_CUPTI_NOT_SUPPORTED;
  c->pass++;
  state.done =
      !sim_set()->endless && (state.kernel_replay || c->pass == state.passes);
  p->complete = state.done;
  p->pass = c->pass;
  return 0;
}

kmbi_cupti_result sim_cuptiRangeProfilerDecodeData(kmbi_range_decode *p) {
  ENTER(cuptiRangeProfilerDecodeData, kmbi_range_decode, dropped, SIM_LAUNCH);
  size_t seen = sim_counters()->ranges + sim_set()->one_range_more;
  if (!is_on(p->profiler) || !state.done) return INVALID_OPERATION;
  p->dropped = seen > state.ranges ? seen - state.ranges : 0;
  state.decoded = true;
  return 0;
}

kmbi_cupti_result
sim_cuptiRangeProfilerGetCounterDataInfo(kmbi_range_count *p) {
  ENTER(cuptiRangeProfilerGetCounterDataInfo, kmbi_range_count, ranges,
        SIM_CALL);
  if (!state.decoded || p->image != state.data || p->bytes != state.data_bytes)
    return INVALID_PARAMETER;
  p->ranges = sim_counters()->ranges;
  if (p->ranges > state.ranges) p->ranges = state.ranges;
  return 0;
}
