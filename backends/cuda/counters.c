/* Counters through CUPTI's range profiler. A pass: what prepares the cache,
 * wait, start, one iteration, wait, stop. So counters are of the state that is
 * timed, and of nothing but the iteration. */
#include <stdio.h>

#include "metrics.h"
#include "plan.h"

/* Where the time of a session goes, for the log. */
typedef enum step {
  LOOK, /* who else traces, and keeping it out */
  METRICS,
  PLAN,
  ENABLE,
  DATA,
  CONFIGURE,
  PREPARE,
  START,
  LAUNCH,
  STOP,
  DECODE,
  EVALUATE,
  DISABLE,
  STEPS
} step;

typedef struct counters {
  kmbi_cuda *self;
  kmbi_cuda_plan *plan;
  const kmbi_profiler_api *api;
  const kmbi_cuda_metrics *metrics;
  kmb_replay replay;
  size_t ranges;
  bool keep;      /* stay enabled afterwards */
  bool taken_up;  /* what an earlier call kept */
  void *profiler; /* while it is enabled */
  uint8_t *data;  /* what was counted */
  size_t data_bytes;
  uint64_t taken;
  bool quiet;         /* nobody may trace */
  double since;       /* when the last step ended */
  double took[STEPS]; /* ns */
} counters;

#define CALL(c, name, params) KMBI_PROFILER((c)->self, (c)->api, name, params)

static void ended(counters *c, step which) {
  double now = kmbi_cuda_now();
  c->took[which] += now - c->since;
  c->since = now;
}

/* Milliseconds of the steps from `first` to `last`. */
static void say_steps(const counters *c, const char *what, step first,
                      step last) {
  static const char *const names[STEPS] = {"look for other tools",
                                           "metrics",
                                           "plan",
                                           "enable",
                                           "counter data",
                                           "configure",
                                           "prepare",
                                           "start",
                                           "launch",
                                           "stop",
                                           "decode",
                                           "evaluate",
                                           "disable"};
  const kmb_host *host = c->self->host;
  char line[2 * KMBI_CUDA_TEXT];
  double total = 0;
  for (int i = first; i <= (int)last; i++)
    total += c->took[i];
  int used =
      snprintf(line, sizeof line, "counters %s in %.1f ms:", what, total / 1e6);
  for (int i = first; i <= (int)last && used < (int)sizeof line; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, "%s %s %.1f",
                     i == (int)first ? "" : ",", names[i], c->took[i] / 1e6);
  host->log(host->ctx, KMB_LOG_DEBUG, line);
}

static kmb_status get_api(counters *c) {
  kmbi_cuda_failure failure;
  c->api = kmbi_cuda_profiler(&failure);
  if (c->api) return KMB_OK;
  return KMBI_CUDA_FAIL(c->self, failure.status, failure.vendor, "%s",
                        failure.text);
}

static kmb_status make_plan(counters *c, const kmb_plan_desc *desc) {
  kmb_plan_desc d = *desc;
  void *plan = NULL;
  if (c->replay != KMB_REPLAY_GRAPH && d.choice.launch_mode == KMB_LAUNCH_GRAPH)
    return KMBI_CUDA_FAIL(c->self, KMB_ERR_UNSUPPORTED, 0,
                          "CUPTI's auto range does not serve graphs: read the "
                          "whole iteration (KMB_REPLAY_GRAPH), or launch it "
                          "plainly");
  /* No timer: this one takes nothing of CUPTI and no events. */
  d.choice.timer = KMB_TIMER_HOST;
  d.batch = 1;
  kmb_status status = kmbi_cuda_plan_create(c->self, &d, &plan);
  c->plan = plan;
  return status;
}

/* Another tool that traces this process would be disturbed, and counted. */
static kmb_status be_alone(counters *c) {
  kmb_status status = kmbi_cupti_look(c->self);
  if (!status) status = kmbi_cupti_quiet_begin(c->self);
  c->quiet = !status;
  return status;
}

kmb_status kmbi_cuda_counters_open(void *opened, const kmb_plan_desc *desc,
                                   const kmb_counter_request *request,
                                   void **session, uint64_t *passes) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  *session = NULL;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (status) return status;
  counters *c = host->alloc(host->ctx, sizeof *c, _Alignof(counters));
  if (c) {
    *c = (counters){.self = self,
                    .replay = request->replay,
                    .ranges = request->ranges,
                    .keep = request->flags & KMB_COUNTERS_KEEP,
                    .since = kmbi_cuda_now()};
    status = get_api(c);
    if (!status) status = be_alone(c);
    ended(c, LOOK);
    if (!status) status = kmbi_cuda_metrics_take(self, request, &c->metrics);
    ended(c, METRICS);
    if (!status) status = make_plan(c, desc);
    ended(c, PLAN);
  } else {
    status = KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                            "no memory for a session of counters");
  }
  if (c && status) {
    kmbi_cuda_counters_close(self, c);
    c = NULL;
  }
  if (c) {
    *passes = c->metrics->passes;
    say_steps(c, "opened", LOOK, PLAN);
  }
  kmbi_cuda_leave(self, before);
  *session = c;
  return status;
}

void kmbi_cuda_counters_close(void *opened, void *session) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  counters *c = session;
  if (!c) return;
  kmbi_cuda_plan_destroy(self, c->plan);
  if (c->quiet) kmbi_cupti_quiet_end();
  host->free(host->ctx, c, sizeof *c);
}

/* The profiler. */

static kmb_status initialise_data(counters *c) {
  kmbi_range_data image =
      KMBI_PROFILER_PARAMS(kmbi_range_data, image, .profiler = c->profiler,
                           .bytes = c->data_bytes, .image = c->data);
  memset(c->data, 0, c->data_bytes);
  return CALL(c, cuptiRangeProfilerCounterDataImageInitialize, &image);
}

static kmb_status make_data(counters *c) {
  const kmb_host *host = c->self->host;
  kmbi_range_data_size size = KMBI_PROFILER_PARAMS(
      kmbi_range_data_size, bytes, .profiler = c->profiler,
      .names = c->metrics->names, .count = c->metrics->count,
      .ranges = c->ranges, .nodes = (uint32_t)c->ranges);
  kmb_status status = CALL(c, cuptiRangeProfilerGetCounterDataSize, &size);
  if (status) return status;
  c->data = host->alloc(host->ctx, size.bytes, _Alignof(max_align_t));
  if (!c->data)
    return KMBI_CUDA_FAIL(c->self, KMB_ERR_NOMEM, 0,
                          "no memory for the counters of %zu ranges (%zu "
                          "bytes)",
                          c->ranges, size.bytes);
  c->data_bytes = size.bytes;
  return initialise_data(c);
}

static kmb_status configure(counters *c) {
  bool whole = c->replay == KMB_REPLAY_GRAPH;
  bool kernel = c->replay == KMB_REPLAY_KERNEL;
  kmbi_range_config config = KMBI_PROFILER_PARAMS(
      kmbi_range_config, target_level, .profiler = c->profiler,
      .config_bytes = c->metrics->image_bytes, .config = c->metrics->image,
      .data_bytes = c->data_bytes, .data = c->data,
      .range = whole ? KMBI_RANGE_USER : KMBI_RANGE_AUTO,
      .replay = kernel ? KMBI_REPLAY_KERNEL : KMBI_REPLAY_USER,
      .ranges = c->ranges, .levels = 1, .first_level = 1, .target_level = 1);
  return CALL(c, cuptiRangeProfilerSetConfig, &config);
}

static kmb_status set_up(counters *c) {
  kmb_status status = make_data(c);
  ended(c, DATA);
  if (!status) status = configure(c);
  ended(c, CONFIGURE);
  return status;
}

static kmb_status disable(counters *c, kmb_status status) {
  const kmb_host *host = c->self->host;
  if (c->profiler && !c->self->lost) {
    kmbi_cupti_result result = kmbi_cuda_session_disable(
        c->self, c->self->space->context, c->profiler);
    if (!status)
      status = kmbi_cuda_profiler_check(c->self, result,
                                        "cuptiRangeProfilerDisable");
  }
  c->profiler = NULL;
  if (c->data) host->free(host->ctx, c->data, c->data_bytes);
  c->data = NULL;
  return status;
}

/* The session that an earlier call kept, set for this one; its data stay until
 * there are others. What does not serve any more is ended: the log says so. */
static kmb_status take_up(counters *c) {
  const kmb_host *host = c->self->host;
  kmbi_cuda_kept kept;
  if (c->self->kept.context != c->self->space->context)
    return kmbi_cuda_kept_end(c->self, true);
  if (!kmbi_cuda_kept_take(c->self, &kept)) return KMB_OK;
  bool same = kept.metrics == c->metrics && kept.ranges == c->ranges &&
              kept.replay == c->replay;
  c->profiler = kept.profiler;
  if (same) {
    c->data = kept.data;
    c->data_bytes = kept.data_bytes;
  }
  kmb_status status = same ? initialise_data(c) : set_up(c);
  if (!same) host->free(host->ctx, kept.data, kept.data_bytes);
  c->taken_up = !status;
  if (!status) return KMB_OK;
  host->log(host->ctx, KMB_LOG_DEBUG,
            "counters: the session that was kept serves no more");
  (void)disable(c, status);
  return status == KMB_ERR_NOMEM ? status : KMB_OK;
}

static kmb_status enable(counters *c) {
  kmb_status status = take_up(c);
  ended(c, DATA);
  if (status || c->taken_up) return status;
  kmbi_cuda_kept_end_others(c->self, false);
  kmbi_range_enable on = KMBI_PROFILER_PARAMS(
      kmbi_range_enable, profiler, .context = c->self->space->context);
  status = CALL(c, cuptiRangeProfilerEnable, &on);
  ended(c, ENABLE);
  if (status) return status;
  c->profiler = on.profiler;
  return set_up(c);
}

/* Disabled, or kept for the next call: in the primary context alone, which is
 * held as long as the device is. */
static kmb_status finish(counters *c, kmb_status status) {
  kmbi_cuda *self = c->self;
  if (status || !c->keep || self->space != &self->primary)
    return disable(c, status);
  kmbi_cuda_kept_put(self, &(kmbi_cuda_kept){.context = self->space->context,
                                             .profiler = c->profiler,
                                             .metrics = c->metrics,
                                             .data = c->data,
                                             .data_bytes = c->data_bytes,
                                             .ranges = c->ranges,
                                             .replay = c->replay});
  return KMB_OK;
}

kmb_status kmbi_cuda_counters_release(void *opened) {
  kmbi_cuda *self = opened;
  return kmbi_cuda_kept_end(self, true);
}

/* Passes. */

static kmb_status uncounted(kmbi_cuda_plan *plan) {
  kmb_status status = kmbi_cuda_before(plan);
  return status ? status : kmbi_cuda_iterate(plan);
}

/* What the iteration finds in the cache: of ROTATED what the others left, of
 * WARM what it left itself. */
static kmb_status prepare(kmbi_cuda_plan *plan) {
  kmb_status status = KMB_OK;
  uint32_t others = plan->desc.slots - 1;
  if (plan->desc.choice.cache == KMB_CACHE_WARM) status = uncounted(plan);
  for (uint32_t i = 0; !status && i < others; i++) {
    kmbi_cuda_advance(plan);
    status = uncounted(plan);
  }
  if (others) kmbi_cuda_advance(plan);
  if (!status) status = kmbi_cuda_before(plan);
  return kmbi_cuda_drain(plan, status);
}

static kmb_status start(counters *c) {
  kmbi_range_start p =
      KMBI_PROFILER_PARAMS(kmbi_range_start, profiler, .profiler = c->profiler);
  return CALL(c, cuptiRangeProfilerStart, &p);
}

static kmb_status push(counters *c) {
  kmbi_range_push p = KMBI_PROFILER_PARAMS(
      kmbi_range_push, name, .profiler = c->profiler, .name = "iteration");
  if (c->replay != KMB_REPLAY_GRAPH) return KMB_OK;
  return CALL(c, cuptiRangeProfilerPushRange, &p);
}

static kmb_status pop(counters *c) {
  kmbi_range_pop p =
      KMBI_PROFILER_PARAMS(kmbi_range_pop, profiler, .profiler = c->profiler);
  if (c->replay != KMB_REPLAY_GRAPH) return KMB_OK;
  return CALL(c, cuptiRangeProfilerPopRange, &p);
}

/* What has begun is stopped, whatever came of it. */
static kmb_status stop(counters *c, kmb_status status, bool *complete) {
  kmbi_range_stop p =
      KMBI_PROFILER_PARAMS(kmbi_range_stop, complete, .profiler = c->profiler);
  if (c->self->lost) return status;
  kmbi_cupti_result result = c->api->cuptiRangeProfilerStop(&p);
  *complete = p.complete != 0;
  if (status) return status;
  return kmbi_cuda_profiler_check(c->self, result, "cuptiRangeProfilerStop");
}

static kmb_status pass(counters *c, bool *complete) {
  kmb_status status = prepare(c->plan);
  ended(c, PREPARE);
  if (!status) status = start(c);
  ended(c, START);
  if (status) return status;
  status = push(c);
  if (!status) status = kmbi_cuda_iterate(c->plan);
  status = kmbi_cuda_drain(c->plan, status);
  if (!status) status = pop(c);
  ended(c, LAUNCH);
  status = stop(c, status, complete);
  ended(c, STOP);
  kmbi_cuda_advance(c->plan);
  c->taken += !status;
  return status;
}

static kmb_status passes(counters *c) {
  const kmb_host *host = c->self->host;
  uint64_t most = 2 * c->metrics->passes + 8;
  kmb_status status = KMB_OK;
  bool complete = false;
  while (!status && !complete) {
    if (host->cancelled(host->ctx))
      return KMBI_CUDA_FAIL(c->self, KMB_ERR_CANCELLED, 0,
                            "cancelled after %llu of %zu passes of counters",
                            (unsigned long long)c->taken, c->metrics->passes);
    if (c->taken == most)
      return KMBI_CUDA_FAIL(c->self, KMB_ERR_VENDOR, 0,
                            "CUPTI said that %zu passes are needed, and asks "
                            "for more after %llu",
                            c->metrics->passes, (unsigned long long)c->taken);
    status = pass(c, &complete);
  }
  return status;
}

/* Values. */

static kmb_status evaluate(counters *c, size_t range, double *values,
                           kmb_counter_fn emit, void *user) {
  const kmbi_cuda_metrics *m = c->metrics;
  kmbi_host_evaluate p = KMBI_PROFILER_PARAMS(
      kmbi_host_evaluate, values, .host = m->host, .image = c->data,
      .bytes = c->data_bytes, .range = range, .names = m->names,
      .count = m->count, .values = values);
  kmb_status status = CALL(c, cuptiProfilerHostEvaluateToGpuValues, &p);
  for (size_t i = 0; !status && i < m->count; i++)
    emit(user, range, i, values[i]);
  return status;
}

static kmb_status decode(counters *c, size_t *ranges) {
  kmbi_range_decode p =
      KMBI_PROFILER_PARAMS(kmbi_range_decode, dropped, .profiler = c->profiler);
  kmbi_range_count count = KMBI_PROFILER_PARAMS(
      kmbi_range_count, ranges, .image = c->data, .bytes = c->data_bytes);
  kmb_status status = CALL(c, cuptiRangeProfilerDecodeData, &p);
  if (!status) status = CALL(c, cuptiRangeProfilerGetCounterDataInfo, &count);
  *ranges = count.ranges;
  if (!status && (p.dropped || count.ranges != c->ranges))
    return KMBI_CUDA_FAIL(c->self, KMB_ERR_VENDOR, 0,
                          "CUPTI counted %zu ranges and dropped %zu where the "
                          "trace of an iteration showed %zu kernels",
                          count.ranges, p.dropped, c->ranges);
  return status;
}

static kmb_status read_values(counters *c, kmb_counter_fn emit, void *user) {
  const kmb_host *host = c->self->host;
  size_t ranges = 0;
  size_t size = c->metrics->count * sizeof(double);
  kmb_status status = decode(c, &ranges);
  ended(c, DECODE);
  if (status) return status;
  double *values = host->alloc(host->ctx, size, _Alignof(double));
  if (!values)
    return KMBI_CUDA_FAIL(c->self, KMB_ERR_NOMEM, 0,
                          "no memory for the values of metrics");
  for (size_t i = 0; !status && i < ranges; i++)
    status = evaluate(c, i, values, emit, user);
  host->free(host->ctx, values, size);
  ended(c, EVALUATE);
  return status;
}

kmb_status kmbi_cuda_counters_collect(void *opened, void *session,
                                      kmb_counter_fn emit, void *user,
                                      uint64_t *taken) {
  kmbi_cuda *self = opened;
  counters *c = session;
  kmbi_cu_context before = NULL;
  *taken = 0;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (status) return status;
  kmbi_cuda_remember_error(c->plan);
  if (c->plan->cold && self->driver->cuCtxResetPersistingL2Cache)
    (void)self->driver->cuCtxResetPersistingL2Cache();
  c->since = kmbi_cuda_now();
  status = enable(c);
  if (!status) status = passes(c);
  if (!status) status = read_values(c, emit, user);
  status = finish(c, status);
  ended(c, DISABLE);
  if (!status) say_steps(c, "read", ENABLE, DISABLE);
  kmbi_cuda_leave(self, before);
  *taken = c->taken;
  return status;
}
