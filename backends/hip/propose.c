/* Ways to measure, best first. */
#include "hip_backend.h"

typedef struct way {
  kmb_timer timer;
  kmb_launch_mode mode;
} way;

/* Whole replays serve best: nothing of the host's is in them, and where
 * nothing traces they define where zero is. */
static const way replayed[] = {
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}, {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},  {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
};

/* A sweep before each iteration: one event pair each. */
static const way one_op_cold[] = {
    {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}, {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},  {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
};

/* Of several operations a graph leaves no host gap in the span. */
static const way several_ops_cold[] = {
    {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH}, {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},  {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
};

enum { WAYS = sizeof replayed / sizeof replayed[0] };

static bool has_graphs(const kmbi_hip *self) {
  const kmbi_hip_api *a = self->api;
  return a->hipStreamBeginCapture && a->hipStreamEndCapture &&
         a->hipStreamIsCapturing && a->hipGraphGetNodes &&
         a->hipGraphInstantiate && a->hipGraphLaunch &&
         a->hipGraphExecDestroy && a->hipGraphDestroy;
}

const char *kmbi_hip_choice_problem(const kmbi_hip *self,
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
  if (timer == KMB_TIMER_TRACE && mode == KMB_LAUNCH_GRAPH)
    return "rocprofiler-sdk does not say which replay a kernel is of";
  if (mode == KMB_LAUNCH_GRAPH && !has_graphs(self))
    return "this HIP has no graphs";
  return NULL;
}

typedef struct proposal {
  const kmbi_hip *self;
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
        kmbi_hip_choice_problem(p->self, &choice))
      continue;
    choice.preference = (int32_t)p->count;
    p->choices[p->count++] = choice;
  }
}

kmb_status kmbi_hip_propose(void *opened, const kmb_request *request,
                            kmb_choice *choices, uint32_t capacity,
                            uint32_t *count) {
  kmbi_hip *self = opened;
  kmb_cache_state cache = request->cache;
  if (cache == KMB_CACHE_DEFAULT)
    cache = request->cold_bytes ? KMB_CACHE_ROTATED : KMB_CACHE_WARM;
  const way *ways = replayed;
  if (cache == KMB_CACHE_COLD)
    ways = request->device_ops > 1 ? several_ops_cold : one_op_cold;
  *count = 0;
  if (cache < KMB_CACHE_COLD || cache > KMB_CACHE_WARM)
    return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0, "hip: no cache state %d",
                         (int)cache);
  if (cache == KMB_CACHE_ROTATED && !request->cold_bytes)
    return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                         "ROTATED needs buffers to rotate; give buffers, or "
                         "ask for COLD or WARM");
  proposal p = {self, request, choices, capacity, 0};
  add(&p, ways, true, cache);
  add(&p, ways, false, cache);
  *count = p.count;
  if (p.count) return KMB_OK;
  return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                       "hip: no timer serves this request");
}
