/* Plans: making them, what every timer does in the same way, running them. */
#include "plan.h"

#include "trace.h"

/* Work that is enqueued ahead of time is not ended by a limit. */
#define AHEAD_NS 20e6
enum { SLOTS_LIMIT = 8192, EXEC_BYTES = sizeof(void *) /* a handle */ };

static kmb_status refuse(kmbi_hip *self, kmb_status status, const char *why) {
  return KMBI_HIP_FAIL(self, status, 0, "hip: %s", why);
}

/* What every timer does in the same way. */

static void save_error(const kmbi_hip *self, kmb_error *error) {
  const kmb_host *host = self->host;
  host->error_save(host->ctx, error);
}

static kmb_status callback_failed(kmbi_hip_plan *plan, const char *which,
                                  kmb_status status, uint64_t iteration) {
  const kmb_host *host = plan->self->host;
  return host->callback_failed(host->ctx, &plan->before, which, status,
                               iteration);
}

kmb_status kmbi_hip_call(kmbi_hip_plan *plan, uint32_t slot,
                         uint64_t iteration) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_launch l = {
      .struct_size = sizeof l,
      .stream = d->stream,
      .args = d->args ? d->args + (uint64_t)slot * d->arg_count : NULL,
      .arg_count = d->arg_count,
      .iteration = iteration,
      .slot = slot,
      .config = d->config,
  };
  kmb_status status = d->launch(d->launch_user, &l);
  return status ? callback_failed(plan, "launch", status, iteration) : KMB_OK;
}

kmb_status kmbi_hip_before(kmbi_hip_plan *plan) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = KMB_OK;
  if (d->reset) {
    status = d->reset(d->reset_user, plan->slot, d->stream);
    if (status) return callback_failed(plan, "reset", status, plan->iteration);
  }
  if (!plan->cold) return KMB_OK;
  status = kmbi_hip_sweep(plan->self, plan->stream);
  const kmb_span *warm =
      d->warm ? d->warm + (uint64_t)plan->slot * d->warm_count : NULL;
  for (uint64_t i = 0; !status && i < d->warm_count; i++)
    status = kmbi_hip_touch(plan->self, plan->stream, &warm[i]);
  return status;
}

kmb_status kmbi_hip_iterate(kmbi_hip_plan *plan) {
  if (!plan->graph) return kmbi_hip_call(plan, plan->slot, plan->iteration);
  kmbi_hip_exec exec = plan->execs[plan->exec_count == 1 ? 0 : plan->slot];
  return KMBI_HIP(plan->self, hipGraphLaunch, exec, plan->stream);
}

void kmbi_hip_advance(kmbi_hip_plan *plan) {
  plan->iteration++;
  if (++plan->slot == plan->desc.slots) plan->slot = 0;
}

uint64_t kmbi_hip_portion(const kmbi_hip_run *run, uint64_t most) {
  const kmbi_hip_plan *plan = run->plan;
  const kmb_host *host = plan->self->host;
  uint64_t want = run->count - run->got;
  double left = run->until_ns - kmbi_hip_now();
  if (left < 0 || host->cancelled(host->ctx)) return 0;
  if (left > AHEAD_NS) left = AHEAD_NS;
  uint64_t fit = plan->last_portion ? 4 * plan->last_portion : 1;
  if (plan->each_ns > 0 && left / plan->each_ns < (double)fit)
    fit = (uint64_t)(left / plan->each_ns) + 1;
  if (want > fit) want = fit;
  return want < most ? want : most;
}

void kmbi_hip_took(kmbi_hip_plan *plan, uint64_t count, double started) {
  plan->each_ns = (kmbi_hip_now() - started) / (double)count;
  plan->last_portion = count;
}

kmb_status kmbi_hip_drain(kmbi_hip_plan *plan, kmb_status status) {
  const kmb_host *host = plan->self->host;
  kmb_error kept;
  if (plan->self->lost) return status;
  host->error_save(host->ctx, &kept);
  kmb_status ended = kmbi_hip_finish(plan->self, plan->stream);
  if (ended == KMB_ERR_LOST || status == KMB_OK) return ended;
  if (ended) host->error_restore(host->ctx, &kept);
  return status;
}

/* Making one. */

static kmb_status check_desc(kmbi_hip *self, const kmb_plan_desc *desc) {
  const char *problem = kmbi_hip_choice_problem(self, &desc->choice);
  if (problem) return refuse(self, KMB_ERR_UNSUPPORTED, problem);
  if (!desc->launch || desc->first_slot >= desc->slots || desc->batch == 0)
    return refuse(self, KMB_ERR_INVALID,
                  "a plan needs a launch callback, slots, a first slot below "
                  "their number and a batch of at least one");
  kmb_timer timer = desc->choice.timer;
  bool single = desc->reset || timer == KMB_TIMER_TRACE ||
                timer == KMB_TIMER_EVENT ||
                desc->choice.cache == KMB_CACHE_COLD;
  if (desc->batch > 1 && single)
    return refuse(self, KMB_ERR_INVALID,
                  "with TRACE, EVENT, a reset hook or COLD a sample is a "
                  "single iteration: the batch must be 1");
  if ((desc->arg_count && !desc->args) || (desc->warm_count && !desc->warm))
    return refuse(self, KMB_ERR_INVALID,
                  "a plan counts arguments or spans that are not there");
  if (desc->choice.launch_mode == KMB_LAUNCH_GRAPH &&
      timer != KMB_TIMER_GRAPH && desc->slots > SLOTS_LIMIT)
    return refuse(self, KMB_ERR_UNSUPPORTED,
                  "each slot has a graph of its own, and there are more than "
                  "8192 slots; measure plain launches or GRAPH");
  return KMB_OK;
}

static bool plan_size(const kmb_plan_desc *desc, size_t *args, size_t *warm,
                      size_t *size) {
  uint64_t a = 0;
  uint64_t w = 0;
  return !__builtin_mul_overflow(desc->arg_count,
                                 (uint64_t)desc->slots * sizeof(void *), &a) &&
         !__builtin_mul_overflow(
             desc->warm_count, (uint64_t)desc->slots * sizeof(kmb_span), &w) &&
         !__builtin_add_overflow(a, 0, args) &&
         !__builtin_add_overflow(w, 0, warm) &&
         !__builtin_add_overflow(*args, *warm, size) &&
         !__builtin_add_overflow(*size, sizeof(kmbi_hip_plan), size);
}

static kmbi_hip_plan *make(kmbi_hip *self, const kmb_plan_desc *desc) {
  const kmb_host *host = self->host;
  size_t args = 0;
  size_t warm = 0;
  size_t size = 0;
  if (!plan_size(desc, &args, &warm, &size)) return NULL;
  kmbi_hip_plan *plan = host->alloc(host->ctx, size, _Alignof(kmbi_hip_plan));
  if (!plan) return NULL;
  memset(plan, 0, size);
  unsigned char *behind = (unsigned char *)(plan + 1);
  plan->desc = *desc;
  plan->size = size;
  plan->self = self;
  plan->stream = desc->stream;
  plan->slot = desc->first_slot;
  plan->cold = desc->choice.cache == KMB_CACHE_COLD;
  plan->graph = desc->choice.launch_mode == KMB_LAUNCH_GRAPH;
  if (args) memcpy(behind, desc->args, args);
  plan->desc.args = args ? (void *const *)(void *)behind : NULL;
  behind += args;
  if (warm) memcpy(behind, desc->warm, warm);
  plan->desc.warm = warm ? (const kmb_span *)(void *)behind : NULL;
  return plan;
}

/* Without the fence at the system's scope the caches are not written back at
 * each event, which would be timed. Older versions do not know the flag. */
static kmb_status make_event(kmbi_hip *self, kmbi_hip_event *event) {
  kmbi_hip_result result =
      self->api->hipEventCreateWithFlags(event, KMBI_HIP_EVENT_NO_SYSTEM_FENCE);
  if (result != KMBI_HIP_InvalidValue)
    return kmbi_hip_check(self, result, "hipEventCreateWithFlags");
  (void)self->api->hipGetLastError();
  return KMBI_HIP(self, hipEventCreateWithFlags, event, KMBI_HIP_EVENT_DEFAULT);
}

static kmb_status make_events(kmbi_hip_plan *plan) {
  kmb_timer timer = plan->desc.choice.timer;
  uint32_t count = 0;
  kmb_status status = KMB_OK;
  if (timer == KMB_TIMER_EVENT) count = 2 * KMBI_HIP_PAIRS;
  if (timer == KMB_TIMER_GRAPH) count = 2;
  while (!status && plan->event_count < count) {
    status = make_event(plan->self, &plan->events[plan->event_count]);
    if (!status) plan->event_count++;
  }
  return status;
}

/* GRAPH replays the whole batch; with the other timers each slot has its own
 * graph of one iteration. */
static kmb_status make_graphs(kmbi_hip_plan *plan) {
  const kmb_host *host = plan->self->host;
  bool whole = plan->desc.choice.timer == KMB_TIMER_GRAPH;
  size_t count = whole ? 1 : plan->desc.slots;
  if (!plan->graph) return KMB_OK;
  plan->execs =
      host->alloc(host->ctx, count * EXEC_BYTES, _Alignof(kmbi_hip_exec));
  if (!plan->execs)
    return refuse(plan->self, KMB_ERR_NOMEM, "no memory for a plan's graphs");
  memset(plan->execs, 0, count * EXEC_BYTES);
  plan->exec_count = count;
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < count; i++)
    status = kmbi_hip_capture(plan, whole ? plan->slot : (uint32_t)i,
                              whole ? plan->desc.batch : 1, &plan->execs[i],
                              &plan->nodes);
  if (whole) plan->nodes /= plan->desc.batch;
  return status;
}

/* Everything that is taken for measuring. */
static kmb_status fit_out(kmbi_hip_plan *plan) {
  kmb_status status = kmbi_hip_space_module(plan->self);
  plan->dropped_before = kmbi_hip_trace_dropped();
  if (!status && plan->desc.choice.timer == KMB_TIMER_TRACE)
    status = kmbi_hip_trace_probe(plan->self);
  if (!status) status = make_events(plan);
  if (!status) status = make_graphs(plan);
  if (!status && plan->event_count) status = kmbi_hip_gate_decide(plan);
  return plan->self->lost ? KMB_ERR_LOST : status;
}

kmb_status kmbi_hip_plan_create(void *opened, const kmb_plan_desc *desc,
                                void **created) {
  kmbi_hip *self = opened;
  int before = 0;
  *created = NULL;
  kmb_status status = check_desc(self, desc);
  if (!status) status = kmbi_hip_enter(self, &before);
  if (status) return status;
  kmbi_hip_plan *plan = make(self, desc);
  if (plan) {
    save_error(plan->self, &plan->before);
    status = fit_out(plan);
  } else {
    status = refuse(self, KMB_ERR_NOMEM,
                    "no memory for a plan; use fewer slots or buffers");
  }
  if (plan && status) {
    kmbi_hip_plan_destroy(self, plan);
    plan = NULL;
  }
  kmbi_hip_leave(self, before);
  *created = plan;
  return status;
}

/* What is lost is abandoned: destroying it might wait for ever. */
static void release(kmbi_hip_plan *plan) {
  const kmbi_hip_api *api = plan->self->api;
  for (size_t i = 0; i < plan->exec_count; i++)
    if (plan->execs[i]) (void)api->hipGraphExecDestroy(plan->execs[i]);
  for (uint32_t i = 0; i < plan->event_count; i++)
    (void)api->hipEventDestroy(plan->events[i]);
}

void kmbi_hip_plan_destroy(void *opened, void *created) {
  kmbi_hip *self = opened;
  kmbi_hip_plan *plan = created;
  const kmb_host *host = self->host;
  int before = 0;
  if (!plan) return;
  if (kmbi_hip_reenter(self, &before)) {
    release(plan);
    kmbi_hip_leave(self, before);
  }
  kmbi_hip_ops_release(plan);
  if (plan->execs)
    host->free(host->ctx, plan->execs, plan->exec_count * EXEC_BYTES);
  host->free(host->ctx, plan, plan->size);
}

/* Running. */

static kmb_status take(kmbi_hip_run *run) {
  kmb_timer timer = run->plan->desc.choice.timer;
  if (timer == KMB_TIMER_TRACE) return kmbi_hip_take_traces(run);
  if (timer == KMB_TIMER_HOST) return kmbi_hip_take_host(run);
  kmb_status status = kmbi_hip_quiet_begin(run->plan->self);
  if (status) return status;
  status = timer == KMB_TIMER_GRAPH ? kmbi_hip_take_replays(run)
                                    : kmbi_hip_take_events(run);
  kmbi_hip_quiet_end();
  return status;
}

kmb_status kmbi_hip_plan_run(void *opened, void *created, uint64_t count,
                             double until_ns, kmb_sample *samples,
                             uint64_t *got) {
  kmbi_hip *self = opened;
  kmbi_hip_plan *plan = created;
  int before = 0;
  *got = 0;
  kmb_status status = kmbi_hip_enter(self, &before);
  if (status) return status;
  kmbi_hip_run run = {
      .plan = plan, .samples = samples, .count = count, .until_ns = until_ns};
  save_error(plan->self, &plan->before);
  kmbi_hip_ops_forget(plan);
  status = take(&run);
  kmbi_hip_leave(self, before);
  *got = run.got;
  return status;
}
