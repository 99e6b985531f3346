/* Ways to measure, their biases, and ceilings. */
#include "sim.h"

const char *sim_choice_problem(const kmb_choice *choice) {
  kmb_timer timer = choice->timer;
  kmb_launch_mode mode = choice->launch_mode;
  if (timer < KMB_TIMER_TRACE || timer > KMB_TIMER_HOST) return "no such timer";
  if (mode != KMB_LAUNCH_PLAIN && mode != KMB_LAUNCH_GRAPH)
    return "no such launch mode";
  if (choice->cache < KMB_CACHE_COLD || choice->cache > KMB_CACHE_WARM)
    return "no such cache state";
  if (timer == KMB_TIMER_GRAPH && mode == KMB_LAUNCH_PLAIN)
    return "GRAPH times replays only";
  if (timer == KMB_TIMER_GRAPH && choice->cache == KMB_CACHE_COLD)
    return "no sweep fits between the iterations of one replay";
  return NULL;
}

/* The order for each kind of request, as a device with CUDA's timers has it.
 */
typedef struct way {
  kmb_timer timer;
  kmb_launch_mode mode;
} way;

static const way one_op[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
};

/* Several operations: a graph leaves no host gap in the span. */
static const way several_ops[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH}, {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
};

enum { WAYS = sizeof one_op / sizeof one_op[0] };

static bool fits(const kmb_request *request, const way *w) {
  return (request->timer == KMB_TIMER_AUTO || request->timer == w->timer) &&
         (request->launch_mode == KMB_LAUNCH_AUTO ||
          request->launch_mode == w->mode);
}

typedef struct proposal {
  const sim_device *device;
  const kmb_request *request;
  kmb_choice *choices;
  uint32_t capacity, count;
} proposal;

/* First the ways that are what was asked, then the others as fallbacks. */
static void add_ways(proposal *p, bool asked, kmb_cache_state cache) {
  const way *ways = p->request->device_ops > 1 ? several_ops : one_op;
  for (int i = 0; i < WAYS && p->count < p->capacity; i++) {
    kmb_choice choice = {ways[i].timer, ways[i].mode, cache, 0};
    if (!(p->device->config.timers >> ways[i].timer & 1)) continue;
    if (fits(p->request, &ways[i]) != asked) continue;
    if (sim_choice_problem(&choice)) continue;
    choice.preference = (int32_t)p->count;
    p->choices[p->count++] = choice;
  }
}

kmb_status sim_propose(void *self, const kmb_request *request,
                       kmb_choice *choices, uint32_t capacity,
                       uint32_t *count) {
  sim_device *device = self;
  SIM_FAULT(device, propose);
  kmb_cache_state cache = request->cache;
  if (cache == KMB_CACHE_DEFAULT) cache = KMB_CACHE_COLD;
  proposal p = {device, request, choices, capacity, 0};
  add_ways(&p, true, cache);
  add_ways(&p, false, cache);
  *count = p.count;
  if (p.count == 0)
    return device->host.fail(device->host.ctx, KMB_ERR_UNSUPPORTED, 0,
                             "simulated device: none of its timers serves");
  return KMB_OK;
}

kmb_status sim_bias(void *self, const kmb_choice *choice, uint64_t batch,
                    double *ns, double *uncertainty_ns) {
  sim_device *device = self;
  const sim_config *c = &device->config;
  SIM_FAULT(device, bias);
  if (!c->calibrated)
    return device->host.fail(device->host.ctx, KMB_ERR_UNAVAILABLE, 0,
                             "simulated device: not calibrated");
  if (choice->timer == KMB_TIMER_HOST)
    return device->host.fail(device->host.ctx, KMB_ERR_UNAVAILABLE, 0,
                             "simulated device: HOST is not corrected");
  *ns = 0;
  if (choice->timer == KMB_TIMER_EVENT) *ns = c->event;
  if (choice->timer == KMB_TIMER_GRAPH) *ns = c->replay / (double)batch;
  if (choice->timer == KMB_TIMER_TRACE &&
      choice->launch_mode == KMB_LAUNCH_GRAPH)
    *ns = c->node;
  *ns *= 1 + c->bias_error;
  *uncertainty_ns = c->bias_unc;
  return KMB_OK;
}

kmb_status sim_ceiling(void *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                       uint32_t threads, kmb_ceiling *ceiling) {
  sim_device *device = self;
  const sim_config *c = &device->config;
  SIM_FAULT(device, ceiling);
  if (kind < KMB_CEILING_READ || kind > KMB_CEILING_MEMORY ||
      c->ceiling[kind] <= 0)
    return device->host.fail(device->host.ctx, KMB_ERR_UNSUPPORTED, 0,
                             "simulated device has no ceiling of kind %d",
                             (int)kind);
  double value = c->ceiling[kind];
  bool compute = kind == KMB_CEILING_FMA || kind == KMB_CEILING_MATRIX;
  ceiling->value = value;
  ceiling->low = value * 0.99;
  ceiling->high = value;
  ceiling->bytes = compute ? 0 : 4 * c->llc;
  ceiling->variant = "simulated";
  ceiling->kind = kind;
  ceiling->dtype = compute ? dtype : 0;
  ceiling->threads = threads;
  ceiling->source = KMB_SOURCE_MEASURED;
  return KMB_OK;
}
