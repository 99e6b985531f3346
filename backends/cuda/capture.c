/* Capturing iterations into a graph. Whatever goes wrong, the stream ends up
 * uncaptured and the next capture works. */
#include "plan.h"

/* Ends the capture; a callback may have ended or broken it already. */
static kmbi_cu_result end(kmbi_cuda_plan *plan, kmbi_cu_graph *graph) {
  const kmbi_cu_driver *driver = plan->self->driver;
  kmbi_cu_enum state = KMBI_CU_CAPTURING_NONE;
  kmbi_cu_result result = driver->cuStreamEndCapture(plan->stream, graph);
  if (!driver->cuStreamIsCapturing(plan->stream, &state) &&
      state != KMBI_CU_CAPTURING_NONE) {
    kmbi_cu_graph rest = NULL;
    (void)driver->cuStreamEndCapture(plan->stream, &rest);
    if (rest) (void)driver->cuGraphDestroy(rest);
  }
  return result;
}

static kmb_status capture_failed(kmbi_cuda_plan *plan, kmbi_cu_result result) {
  kmbi_cuda *self = plan->self;
  const char *name = NULL;
  if (kmbi_cuda_status_of(result) == KMB_ERR_LOST)
    return kmbi_cuda_check(self, result, "cuStreamEndCapture");
  if (self->driver->cuGetErrorName(result, &name) || !name) name = "unknown";
  return KMBI_CUDA_FAIL(
      self, KMB_ERR_CAPTURE, (int64_t)result,
      "the launch cannot be captured: %s (%u); it allocates, synchronises, "
      "uses the legacy stream or leaves a stream unjoined",
      name, result);
}

/* The graph of `count` iterations from `slot` on. */
static kmb_status record(kmbi_cuda_plan *plan, uint32_t slot, uint64_t count,
                         kmbi_cu_graph *graph) {
  kmbi_cuda *self = plan->self;
  kmb_status status = KMBI_CU(self, cuStreamBeginCapture, plan->stream,
                              KMBI_CU_CAPTURE_THREAD_LOCAL);
  if (status) return status;
  for (uint64_t i = 0; !status && i < count; i++)
    status = kmbi_cuda_call(plan, (uint32_t)((slot + i) % plan->desc.slots), i);
  kmbi_cu_result result = end(plan, graph);
  /* A broken capture is what the callback's own failure comes from. */
  bool broken = result && kmbi_cuda_status_of(result) == KMB_ERR_CAPTURE;
  if (broken && status <= 0) return capture_failed(plan, result);
  if (status) return status;
  return result ? capture_failed(plan, result) : KMB_OK;
}

static kmb_status count_nodes(kmbi_cuda_plan *plan, kmbi_cu_graph graph,
                              uint64_t *nodes) {
  size_t count = 0;
  kmb_status status = KMBI_CU(plan->self, cuGraphGetNodes, graph, NULL, &count);
  *nodes = count;
  if (status || count) return status;
  return KMBI_CUDA_FAIL(plan->self, KMB_ERR_CAPTURE, 0,
                        "the launch enqueued nothing on launch->stream while "
                        "it was captured");
}

static kmb_status instantiate(kmbi_cuda_plan *plan, kmbi_cu_graph graph,
                              kmbi_cu_exec *exec) {
  kmbi_cuda *self = plan->self;
  kmb_status status =
      KMBI_CU(self, cuGraphInstantiateWithFlags, exec, graph, 0);
  if (!status && self->driver->cuGraphUpload)
    status = KMBI_CU(self, cuGraphUpload, *exec, plan->stream);
  return status;
}

/* The first graph decides for all. */
static void limit_copies(kmbi_cuda_plan *plan, uint64_t nodes) {
  uint64_t most = nodes ? KMBI_CUDA_COPIED_NODES / nodes : 1;
  if (plan->copies > most) plan->copies = most ? (uint32_t)most : 1;
}

/* Edges whose second node may start before their first ends. */
static kmb_status count_programmatic(kmbi_cuda_plan *plan, kmbi_cu_graph graph,
                                     size_t *found) {
  kmbi_cuda *self = plan->self;
  const kmb_host *host = self->host;
  const size_t each = 2 * sizeof(kmbi_cu_node) + sizeof(kmbi_cu_edge);
  size_t count = 0;
  *found = 0;
  kmb_status status =
      KMBI_CU(self, cuGraphGetEdges, graph, NULL, NULL, NULL, &count);
  if (status || !count) return status;
  kmbi_cu_node *from =
      count > SIZE_MAX / each
          ? NULL
          : host->alloc(host->ctx, count * each, _Alignof(kmbi_cu_node));
  if (!from)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the edges of a graph");
  size_t size = count * each;
  kmbi_cu_edge *edges = (kmbi_cu_edge *)(void *)(from + 2 * count);
  status = KMBI_CU(self, cuGraphGetEdges, graph, from, from + count,
                   (struct CUgraphEdgeData_st *)(void *)edges, &count);
  for (size_t i = 0; !status && i < count; i++)
    *found += edges[i].type == KMBI_CU_EDGE_PROGRAMMATIC;
  host->free(host->ctx, from, size);
  return status;
}

static kmb_status programmatic_of(kmbi_cuda_plan *plan, uint32_t slot,
                                  uint64_t iterations, size_t *found) {
  kmbi_cu_graph graph = NULL;
  kmb_status status = record(plan, slot, iterations, &graph);
  if (!status) status = count_programmatic(plan, graph, found);
  if (graph) (void)plan->self->driver->cuGraphDestroy(graph);
  return status;
}

/* Within an iteration a programmatic launch is the caller's affair; between
 * two it lets them overlap. */
static kmb_status find_link(kmbi_cuda_plan *plan, uint32_t slot, bool *linked) {
  size_t two = 0;
  size_t one = 0;
  *linked = false;
  if (!plan->self->driver->cuGraphGetEdges) return KMB_OK;
  kmb_status status = programmatic_of(plan, slot, 2, &two);
  if (!status && two) status = programmatic_of(plan, slot, 1, &one);
  *linked = !status && two > 2 * one;
  return status;
}

bool kmbi_cuda_is_linked(kmbi_cuda_plan *plan) {
  bool linked = false;
  if (!kmbi_cuda_has_graphs(plan->self)) return false;
  if (find_link(plan, plan->slot, &linked) && !plan->self->lost)
    kmbi_cuda_forget_error(plan);
  return linked;
}

static kmb_status check_apart(kmbi_cuda_plan *plan, uint32_t slot) {
  bool linked = false;
  if (plan->desc.choice.timer != KMB_TIMER_GRAPH) return KMB_OK;
  kmb_status status = find_link(plan, slot, &linked);
  if (status || !linked) return status;
  return KMBI_CUDA_FAIL(plan->self, KMB_ERR_UNSUPPORTED, 0,
                        "launches are programmatically dependent, so that "
                        "iterations of one graph would overlap");
}

kmb_status kmbi_cuda_capture(kmbi_cuda_plan *plan, uint32_t slot,
                             uint64_t count, kmbi_cu_exec *execs,
                             uint64_t *nodes) {
  kmbi_cu_graph graph = NULL;
  kmb_status status = record(plan, slot, count, &graph);
  if (!status) status = count_nodes(plan, graph, nodes);
  if (!status) status = check_apart(plan, slot);
  if (!status && execs == plan->execs) limit_copies(plan, *nodes);
  for (uint32_t i = 0; !status && i < plan->copies; i++)
    status = instantiate(plan, graph, &execs[i]);
  if (graph) (void)plan->self->driver->cuGraphDestroy(graph);
  return status;
}

kmb_status kmbi_cuda_count_nodes(kmbi_cuda_plan *plan, uint64_t *nodes) {
  kmbi_cu_graph graph = NULL;
  if (!kmbi_cuda_has_graphs(plan->self))
    return KMBI_CUDA_FAIL(plan->self, KMB_ERR_UNSUPPORTED, 0,
                          "the driver has no graphs (CUDA 11.4) by which a "
                          "launch's operations could be counted");
  kmb_status status = record(plan, plan->slot, 1, &graph);
  if (!status) status = count_nodes(plan, graph, nodes);
  if (graph) (void)plan->self->driver->cuGraphDestroy(graph);
  return status;
}
