/* Ways to measure, best first. */
#include "cuda_backend.h"

typedef struct way {
  kmb_timer timer;
  kmb_launch_mode mode;
} way;

/* One operation: a plain launch is what the zero of time is defined by. */
static const way one_op[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}, {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
};

/* Several: a graph leaves no host gap in the span. */
static const way several_ops[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH}, {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
};

/* Rotated or warm, whole replays serve better than an event pair each; they
 * come before the events then. */
static const way one_op_replayed[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
};

static const way several_ops_replayed[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH}, {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}, {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
};

enum { WAYS = sizeof one_op / sizeof one_op[0] };

bool kmbi_cuda_has_graphs(const kmbi_cuda *self) {
  const kmbi_cu_driver *d = self->driver;
  return d->cuStreamBeginCapture && d->cuStreamEndCapture &&
         d->cuStreamIsCapturing && d->cuGraphGetNodes &&
         d->cuGraphInstantiateWithFlags && d->cuGraphLaunch &&
         d->cuGraphExecDestroy && d->cuGraphDestroy;
}

const char *kmbi_cuda_choice_problem(const kmbi_cuda *self,
                                     const kmb_choice *choice) {
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
    return "a sweep between the iterations of a replay would be timed with "
           "them";
  if (mode == KMB_LAUNCH_GRAPH && !kmbi_cuda_has_graphs(self))
    return "the driver has no graphs (CUDA 11.4)";
  return NULL;
}

typedef struct proposal {
  const kmbi_cuda *self;
  const kmb_request *request;
  kmb_choice *choices;
  uint32_t capacity, count;
} proposal;

static bool is_asked(const kmb_request *request, const way *w) {
  return (request->timer == KMB_TIMER_AUTO || request->timer == w->timer) &&
         (request->launch_mode == KMB_LAUNCH_AUTO ||
          request->launch_mode == w->mode);
}

/* First the ways that are what was asked, then the others as fallbacks. */
static void add(proposal *p, const way *ways, bool asked,
                kmb_cache_state cache) {
  for (int i = 0; i < WAYS && p->count < p->capacity; i++) {
    kmb_choice choice = {ways[i].timer, ways[i].mode, cache, 0};
    if (is_asked(p->request, &ways[i]) != asked ||
        kmbi_cuda_choice_problem(p->self, &choice))
      continue;
    choice.preference = (int32_t)p->count;
    p->choices[p->count++] = choice;
  }
}

kmb_status kmbi_cuda_propose(void *opened, const kmb_request *request,
                             kmb_choice *choices, uint32_t capacity,
                             uint32_t *count) {
  kmbi_cuda *self = opened;
  kmb_cache_state cache = request->cache;
  if (cache == KMB_CACHE_DEFAULT) cache = KMB_CACHE_COLD;
  bool several = request->device_ops > 1;
  const way *ways = several ? several_ops : one_op;
  if (cache != KMB_CACHE_COLD)
    ways = several ? several_ops_replayed : one_op_replayed;
  *count = 0;
  if (cache < KMB_CACHE_COLD || cache > KMB_CACHE_WARM)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0, "cuda: no cache state %d",
                          (int)cache);
  if (cache == KMB_CACHE_ROTATED && !request->cold_bytes)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "ROTATED needs buffers to rotate; give buffers, or "
                          "ask for COLD or WARM");
  proposal p = {self, request, choices, capacity, 0};
  add(&p, ways, true, cache);
  add(&p, ways, false, cache);
  *count = p.count;
  if (p.count) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                        "cuda: no timer serves this request");
}
