/* Reading counters: list, choose, say how many passes, collect. */
#include "counters.h"

#include "error.h"
#include "structs.h"

#include <math.h>
#include <stdio.h>

static const char *const sol[] = {
#define METRIC(name, place, metric, unit, text) [place] = (metric),
    KMB_COUNTERS_SOL_MAP(METRIC)
#undef METRIC
};

static kmb_status read_params(const kmb_counters_params *caller,
                              kmb_counters_params *p) {
  *p = kmb_counters_params_init();
  kmb_status status = caller
                          ? kmbi_copy_in(p, sizeof *p, KMBI_COUNTERS_PARAMS_V1,
                                         caller, "kmb_counters_params")
                          : KMB_OK;
  if (status) return status;
  if (p->flags & ~(uint32_t)(KMB_COUNTERS_LIST | KMB_COUNTERS_KEEP) ||
      p->replay < KMB_REPLAY_AUTO || p->replay > KMB_REPLAY_GRAPH)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_counters_params: a flag or a replay mode that libkmb "
                     "%s does not know",
                     KMB_VERSION);
  if (!p->metrics != !p->metric_count || p->metric_count > KMBI_COUNTER_METRICS)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_counters_params: metrics and metric_count go "
                     "together, %d at most",
                     KMBI_COUNTER_METRICS);
  for (uint64_t i = 0; i < p->metric_count; i++)
    if (!p->metrics[i] || !*p->metrics[i])
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_counters_params: metric %llu has no name",
                       (unsigned long long)i);
  if (p->metrics) return KMB_OK;
  p->metrics = sol;
  p->metric_count = KMB_COUNTERS_SOL_COUNT;
  return KMB_OK;
}

static kmb_replay replay_of(const kmbi_run *run, kmb_replay asked) {
  if (asked != KMB_REPLAY_AUTO) return asked;
  bool graph = run->p.graphs || run->p.launch_mode == KMB_LAUNCH_GRAPH;
  return graph ? KMB_REPLAY_GRAPH : KMB_REPLAY_LAUNCH;
}

static const char *mode_name(kmb_replay replay, bool graph) {
  switch (replay) {
  case KMB_REPLAY_LAUNCH:
    return "auto range, user replay";
  case KMB_REPLAY_KERNEL:
    return "auto range, kernel replay";
  default:
    return graph ? "user range over a graph, user replay"
                 : "user range, user replay";
  }
}

static kmb_counters *create(kmb_device *device) {
  const kmbi_memory *memory = &device->memory;
  kmb_counters *c = kmbi_alloc(memory, 1, sizeof *c);
  if (!c) return NULL;
  c->memory = *memory;
  kmbi_arena_init(&c->arena, memory);
  c->info = kmb_counters_info_init();
  c->since = kmbi_now(device);
  return c;
}

void kmbi_counters_step(kmbi_run *run, kmb_counters *c,
                        kmbi_counter_step step) {
  double now = kmbi_now(run->device);
  c->took[step] += now - c->since;
  c->since = now;
}

void kmb_counters_destroy(kmb_counters *counters) {
  if (!counters) return;
  kmbi_memory memory = counters->memory;
  kmbi_arena_release(&counters->arena);
  kmbi_free(&memory, counters, 1, sizeof *counters);
}

/* Collecting. */

static void keep(void *user, uint64_t range, uint64_t metric, double value) {
  kmb_counters *c = user;
  if (range < c->ranges && metric < c->metric_count)
    c->values[range * c->metric_count + metric] = value;
}

static kmb_status make_room(kmb_counters *c) {
  uint64_t count = c->ranges * c->metric_count; /* at most 2^21 */
  c->values = kmbi_arena_alloc(&c->arena, count, sizeof *c->values);
  if (!c->values)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for the values of counters");
  for (uint64_t i = 0; i < count; i++)
    c->values[i] = NAN;
  return KMB_OK;
}

static void say(kmbi_run *run, const kmb_counters *c) {
  kmbi_log(run->device, KMB_LOG_INFO,
           "counters: %llu metrics need %llu passes of %llu kernels (%s, %s)",
           (unsigned long long)c->metric_count,
           (unsigned long long)c->info.passes,
           (unsigned long long)c->info.kernels, c->info.mode,
           kmbi_cache_name(c->info.cache));
}

/* What the backend did in its part of it is the backend's to say. */
static void say_steps(kmbi_run *run, const kmb_counters *c) {
  static const char *const names[KMBI_COUNTERS_STEPS] = {
      "open the trace", "trace", "close the trace", "ask the driver",
      "open counters",  "count", "close counters"};
  char text[256];
  double total = 0;
  size_t used = 0;
  for (int i = 0; i < KMBI_COUNTERS_STEPS; i++) {
    total += c->took[i];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.1f",
                             i ? ", " : "", names[i], c->took[i] / 1e6);
  }
  kmbi_log(run->device, KMB_LOG_DEBUG, "counters took %.1f ms: %s", total / 1e6,
           text);
}

static kmb_status collect(kmbi_run *run, const kmb_counters_params *p,
                          kmb_counters *c) {
  kmb_device *device = run->device;
  const kmb_counter_request request = {.struct_size = sizeof request,
                                       .metrics = p->metrics,
                                       .metric_count = p->metric_count,
                                       .ranges = c->ranges,
                                       .replay = c->info.replay,
                                       .flags = p->flags & KMB_COUNTERS_KEEP};
  bool graph = run->p.graphs || run->p.launch_mode == KMB_LAUNCH_GRAPH;
  kmb_plan_desc desc;
  void *session = NULL;
  kmbi_plan_describe(run, run->p.launch, &desc);
  desc.batch = 1;
  desc.choice =
      (kmb_choice){KMB_TIMER_HOST, graph ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN,
                   run->choice.cache, 0};
  kmb_status status = device->ops->counters_open(device->self, &desc, &request,
                                                 &session, &c->info.passes);
  kmbi_counters_step(run, c, KMBI_COUNTERS_OPEN);
  if (status) return status;
  say(run, c);
  bool list = p->flags & KMB_COUNTERS_LIST;
  if (!list) status = make_room(c);
  if (!status && !list)
    status = device->ops->counters_collect(device->self, session, keep, c,
                                           &c->info.taken);
  kmbi_counters_step(run, c, KMBI_COUNTERS_COLLECT);
  device->ops->counters_close(device->self, session);
  kmbi_counters_step(run, c, KMBI_COUNTERS_CLOSE);
  if (!status) say_steps(run, c);
  return status;
}

static kmb_status take(kmbi_run *run, const kmb_counters_params *p,
                       bool launches, kmb_counters *c) {
  c->metric_count = p->metric_count;
  c->info.replay = replay_of(run, p->replay);
  c->info.cache = run->choice.cache;
  kmb_status status =
      kmbi_counters_list(run, p->replay == KMB_REPLAY_AUTO && !p->kernel, c);
  c->info.mode = mode_name(
      c->info.replay, run->p.graphs || run->p.launch_mode == KMB_LAUNCH_GRAPH);
  if (!status) status = kmbi_counters_choose(c, p);
  if (!status && launches) status = kmbi_counters_launches(run, c);
  kmbi_counters_step(run, c, KMBI_COUNTERS_DRIVER);
  return status ? status : collect(run, p, c);
}

/* Nothing is kept of a session that something failed beside. */
static void give_up(kmbi_run *run) {
  const kmb_backend_ops *ops = run->device->ops;
  kmbi_error_state error;
  kmbi_error_save(&error);
  if (KMBI_HAS(ops, counters_release))
    (void)ops->counters_release(run->device->self);
  kmbi_error_restore(&error);
}

kmb_status kmbi_counters_take(kmbi_run *run, const kmb_counters_params *caller,
                              bool launches, kmb_counters **out) {
  const kmb_backend_ops *ops = run->device->ops;
  kmb_counters_params params;
  kmb_counters *c = NULL;
  kmb_status status = read_params(caller, &params);
  if (!status &&
      !(KMBI_HAS(ops, counters_open) && KMBI_HAS(ops, counters_collect) &&
        KMBI_HAS(ops, counters_close)))
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "backend %s has no hardware counters", ops->name);
  if (status) return status;
  c = create(run->device);
  if (!c) return kmbi_fail(KMB_ERR_NOMEM, "no memory for counters");
  status = take(run, &params, launches, c);
  if (status) give_up(run);
  if (status)
    kmb_counters_destroy(c);
  else
    *out = c;
  return status;
}
