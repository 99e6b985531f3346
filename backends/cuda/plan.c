/* Plans: making them, what every timer does in the same way, running them. */
#include "plan.h"

/* Work that is enqueued ahead of time is not ended by a limit. */
#define AHEAD_NS 20e6
enum { SLOTS_LIMIT = 8192, EXEC_BYTES = sizeof(void *) /* a handle */ };

static kmb_status refuse(kmbi_cuda *self, kmb_status status, const char *why) {
  return KMBI_CUDA_FAIL(self, status, 0, "cuda: %s", why);
}

/* What every timer does in the same way. */

static void save_error(const kmbi_cuda *self, kmb_error *error) {
  const kmb_host *host = self->host;
  host->error_save(host->ctx, error);
}

void kmbi_cuda_remember_error(kmbi_cuda_plan *plan) {
  save_error(plan->self, &plan->before);
}

/* Nothing failed that the caller asked for. */
void kmbi_cuda_forget_error(kmbi_cuda_plan *plan) {
  const kmb_host *host = plan->self->host;
  host->error_restore(host->ctx, &plan->before);
}

static kmb_status callback_failed(kmbi_cuda_plan *plan, const char *which,
                                  kmb_status status, uint64_t iteration) {
  const kmb_host *host = plan->self->host;
  return host->callback_failed(host->ctx, &plan->before, which, status,
                               iteration);
}

kmb_status kmbi_cuda_call(kmbi_cuda_plan *plan, uint32_t slot,
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

/* A kernel that is launched programmatically starts before the one before it
 * ends. Events do not keep it from that, another kernel does. */
kmb_status kmbi_cuda_part(kmbi_cuda_plan *plan) {
  if (!plan->parted) return KMB_OK;
  return kmbi_cuda_launch(plan->self, plan->stream, KMBI_CUDA_empty, 1, NULL);
}

kmb_status kmbi_cuda_before(kmbi_cuda_plan *plan) {
  const kmb_plan_desc *d = &plan->desc;
  kmb_status status = KMB_OK;
  if (d->reset) {
    status = d->reset(d->reset_user, plan->slot, d->stream);
    if (status) return callback_failed(plan, "reset", status, plan->iteration);
  }
  if (!plan->cold) return kmbi_cuda_part(plan);
  status = kmbi_cuda_sweep(plan->self, plan->stream);
  const kmb_span *warm =
      d->warm ? d->warm + (uint64_t)plan->slot * d->warm_count : NULL;
  for (uint64_t i = 0; !status && i < d->warm_count; i++)
    status = kmbi_cuda_touch(plan->self, plan->stream, &warm[i]);
  return status;
}

kmbi_cu_exec kmbi_cuda_exec(const kmbi_cuda_plan *plan) {
  const kmb_plan_desc *d = &plan->desc;
  if (d->choice.timer == KMB_TIMER_GRAPH)
    return plan->execs[plan->iteration / d->batch % plan->copies];
  uint64_t turn = plan->iteration / d->slots % plan->copies;
  return plan->execs[(uint64_t)plan->slot * plan->copies + turn];
}

kmb_status kmbi_cuda_iterate(kmbi_cuda_plan *plan) {
  if (!plan->graph) return kmbi_cuda_call(plan, plan->slot, plan->iteration);
  return KMBI_CU(plan->self, cuGraphLaunch, kmbi_cuda_exec(plan), plan->stream);
}

void kmbi_cuda_advance(kmbi_cuda_plan *plan) {
  plan->iteration++;
  if (++plan->slot == plan->desc.slots) plan->slot = 0;
}

uint64_t kmbi_cuda_portion(const kmbi_cuda_run *run, uint64_t most) {
  const kmbi_cuda_plan *plan = run->plan;
  const kmb_host *host = plan->self->host;
  uint64_t want = run->count - run->got;
  double left = run->until_ns - kmbi_cuda_now();
  if (left < 0 || host->cancelled(host->ctx)) return 0;
  if (left > AHEAD_NS) left = AHEAD_NS;
  uint64_t fit = plan->last_portion ? 4 * plan->last_portion : 1;
  if (plan->each_ns > 0 && left / plan->each_ns < (double)fit)
    fit = (uint64_t)(left / plan->each_ns) + 1;
  if (want > fit) want = fit;
  return want < most ? want : most;
}

void kmbi_cuda_took(kmbi_cuda_plan *plan, uint64_t count, double started) {
  plan->each_ns = (kmbi_cuda_now() - started) / (double)count;
  plan->last_portion = count;
}

kmb_status kmbi_cuda_drain(kmbi_cuda_plan *plan, kmb_status status) {
  const kmb_host *host = plan->self->host;
  kmb_error kept;
  if (plan->self->lost) return status;
  host->error_save(host->ctx, &kept);
  kmb_status ended = kmbi_cuda_finish(plan->self, plan->stream);
  if (ended == KMB_ERR_LOST || status == KMB_OK) return ended;
  if (ended) host->error_restore(host->ctx, &kept);
  return status;
}

/* Making one. */

static kmb_status check_desc(kmbi_cuda *self, const kmb_plan_desc *desc) {
  const char *problem = kmbi_cuda_choice_problem(self, &desc->choice);
  if (problem) return refuse(self, KMB_ERR_UNSUPPORTED, problem);
  if ((!desc->launch && !desc->graphs) || desc->first_slot >= desc->slots ||
      desc->batch == 0)
    return refuse(self, KMB_ERR_INVALID,
                  "a plan needs a launch callback, slots, a first slot below "
                  "their number and a batch of at least one");
  kmb_timer timer = desc->choice.timer;
  if (desc->graphs && (timer == KMB_TIMER_GRAPH ||
                       desc->choice.launch_mode != KMB_LAUNCH_GRAPH))
    return refuse(self, KMB_ERR_UNSUPPORTED,
                  "prebuilt graphs are launched as graphs of one iteration: "
                  "no plain launches, no timer GRAPH");
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
         !__builtin_add_overflow(*size, sizeof(kmbi_cuda_plan), size);
}

static kmbi_cuda_plan *make(kmbi_cuda *self, const kmb_plan_desc *desc) {
  const kmb_host *host = self->host;
  size_t args = 0;
  size_t warm = 0;
  size_t size = 0;
  if (!plan_size(desc, &args, &warm, &size)) return NULL;
  kmbi_cuda_plan *plan = host->alloc(host->ctx, size, _Alignof(kmbi_cuda_plan));
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

static kmb_status make_events(kmbi_cuda_plan *plan) {
  kmb_timer timer = plan->desc.choice.timer;
  uint32_t count = 0;
  kmb_status status = KMB_OK;
  if (timer == KMB_TIMER_EVENT) count = 2 * KMBI_CUDA_PAIRS;
  if (timer == KMB_TIMER_GRAPH) count = 2;
  while (!status && plan->event_count < count) {
    status = KMBI_CU(
        plan->self, cuEventCreate, &plan->events[plan->event_count],
        plan->parted ? KMBI_CU_EVENT_DISABLE_TIMING : KMBI_CU_EVENT_DEFAULT);
    if (!status) plan->event_count++;
  }
  return status;
}

static uint32_t copies_of(const kmb_plan_desc *desc) {
  if (desc->choice.timer == KMB_TIMER_GRAPH) return KMBI_CUDA_REPLAY_COPIES;
  if (desc->graphs || desc->choice.timer != KMB_TIMER_EVENT) return 1;
  uint32_t copies = KMBI_CUDA_EVENT_COPIES / desc->slots;
  return copies ? copies : 1;
}

/* GRAPH replays the whole batch; with the other timers each slot has its own
 * graph of one iteration. */
static kmb_status make_graphs(kmbi_cuda_plan *plan) {
  const kmb_host *host = plan->self->host;
  bool whole = plan->desc.choice.timer == KMB_TIMER_GRAPH;
  size_t slots = whole ? 1 : plan->desc.slots;
  if (!plan->graph) return KMB_OK;
  plan->copies = copies_of(&plan->desc);
  size_t count = slots * plan->copies;
  plan->execs =
      host->alloc(host->ctx, count * EXEC_BYTES, _Alignof(kmbi_cu_exec));
  if (!plan->execs)
    return refuse(plan->self, KMB_ERR_NOMEM, "no memory for a plan's graphs");
  memset(plan->execs, 0, count * EXEC_BYTES);
  plan->exec_count = count;
  if (plan->desc.graphs) {
    memcpy(plan->execs, plan->desc.graphs, count * EXEC_BYTES);
    plan->borrowed = true;
    return KMB_OK;
  }
  kmb_status status = KMB_OK;
  for (size_t i = 0; !status && i < slots; i++)
    status = kmbi_cuda_capture(plan, whole ? plan->slot : (uint32_t)i,
                               whole ? plan->desc.batch : 1,
                               &plan->execs[i * plan->copies], &plan->nodes);
  if (whole) plan->nodes /= plan->desc.batch;
  return status;
}

/* Everything that is taken for measuring. What the tracer shall see of a graph
 * it must see being made. */
static kmb_status fit_out(kmbi_cuda_plan *plan) {
  kmbi_cuda *self = plan->self;
  kmb_timer timer = plan->desc.choice.timer;
  bool traced = timer == KMB_TIMER_TRACE;
  bool calm = timer == KMB_TIMER_EVENT || timer == KMB_TIMER_GRAPH;
  kmb_status status = kmbi_cuda_space_module(self);
  if (!status && traced) status = kmbi_cupti_open(self, &plan->client);
  if (!status && traced) status = kmbi_cupti_trace_begin(self);
  if (status) return status;
  plan->traced_before = kmbi_cupti_was_used();
  if (calm) status = kmbi_cupti_quiet_begin(self);
  if (status) return status;
  if (traced) status = kmbi_cupti_probe(self, plan->client);
  if (!status) status = make_events(plan);
  if (!status) status = make_graphs(plan);
  if (!status && calm) kmbi_cuda_gate_decide(plan);
  if (traced) kmbi_cupti_trace_end();
  if (calm) kmbi_cupti_quiet_end();
  return self->lost ? KMB_ERR_LOST : status;
}

kmb_status kmbi_cuda_plan_create(void *opened, const kmb_plan_desc *desc,
                                 void **created) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  *created = NULL;
  kmb_status status = check_desc(self, desc);
  if (!status) status = kmbi_cuda_enter(self, &before);
  if (status) return status;
  kmbi_cuda_plan *plan = make(self, desc);
  if (plan) {
    save_error(plan->self, &plan->before);
    status = fit_out(plan);
  } else {
    status = refuse(self, KMB_ERR_NOMEM,
                    "no memory for a plan; use fewer slots or buffers");
  }
  if (plan && status) {
    kmbi_cuda_plan_destroy(self, plan);
    plan = NULL;
  }
  kmbi_cuda_leave(self, before);
  *created = plan;
  return status;
}

/* What is lost is abandoned: destroying it might wait for ever. */
static void release(kmbi_cuda_plan *plan) {
  const kmbi_cu_driver *driver = plan->self->driver;
  for (size_t i = 0; i < plan->exec_count && !plan->borrowed; i++)
    if (plan->execs[i]) (void)driver->cuGraphExecDestroy(plan->execs[i]);
  for (uint32_t i = 0; i < plan->event_count; i++)
    (void)driver->cuEventDestroy(plan->events[i]);
}

void kmbi_cuda_plan_destroy(void *opened, void *created) {
  kmbi_cuda *self = opened;
  kmbi_cuda_plan *plan = created;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  if (!plan) return;
  kmbi_cuda_watch_close(&plan->watch);
  if (kmbi_cuda_reenter(self, &before)) {
    release(plan);
    if (plan->client) kmbi_cupti_close(self, plan->client);
    kmbi_cuda_leave(self, before);
  } else if (plan->client) {
    kmbi_cupti_close(self, plan->client);
  }
  kmbi_cuda_ops_release(plan);
  if (plan->execs)
    host->free(host->ctx, plan->execs, plan->exec_count * EXEC_BYTES);
  host->free(host->ctx, plan, plan->size);
}

kmb_status kmbi_cuda_graph_launch(void *opened, void *graph, void *stream) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  if (!self->driver->cuGraphLaunch)
    return refuse(self, KMB_ERR_UNSUPPORTED, "the driver has no graphs");
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = KMBI_CU(self, cuGraphLaunch, graph, stream);
  kmbi_cuda_leave(self, before);
  return status;
}

/* Running. */

static kmb_status take(kmbi_cuda_run *run) {
  kmbi_cuda *self = run->plan->self;
  kmb_status status = KMB_OK;
  switch (run->plan->desc.choice.timer) {
  case KMB_TIMER_TRACE:
    status = kmbi_cupti_trace_begin(self);
    if (status) return status;
    status = kmbi_cuda_take_traces(run);
    kmbi_cupti_trace_end();
    return status;
  case KMB_TIMER_HOST:
    return kmbi_cuda_take_host(run);
  default:
    break;
  }
  status = kmbi_cupti_quiet_begin(self);
  if (status) return status;
  kmbi_cuda_watch_run(&run->plan->watch, true);
  status = run->plan->desc.choice.timer == KMB_TIMER_GRAPH
               ? kmbi_cuda_take_replays(run)
               : kmbi_cuda_take_events(run);
  kmbi_cuda_watch_run(&run->plan->watch, false);
  kmbi_cupti_quiet_end();
  return status;
}

kmb_status kmbi_cuda_plan_run(void *opened, void *created, uint64_t count,
                              double until_ns, kmb_sample *samples,
                              uint64_t *got) {
  kmbi_cuda *self = opened;
  kmbi_cuda_plan *plan = created;
  kmbi_cu_context before = NULL;
  *got = 0;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (status) return status;
  kmbi_cuda_run run = {
      .plan = plan, .samples = samples, .count = count, .until_ns = until_ns};
  kmbi_cuda_remember_error(plan);
  kmbi_cuda_ops_forget(plan);
  /* Lines that somebody keeps in the cache would stay there over a sweep. */
  if (plan->cold && self->driver->cuCtxResetPersistingL2Cache)
    (void)self->driver->cuCtxResetPersistingL2Cache();
  status = take(&run);
  kmbi_cuda_leave(self, before);
  *got = run.got;
  return status;
}
