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

kmb_status kmbi_cuda_capture(kmbi_cuda_plan *plan, uint32_t slot,
                             uint64_t count, kmbi_cu_exec *exec,
                             uint64_t *nodes) {
  kmbi_cuda *self = plan->self;
  kmbi_cu_graph graph = NULL;
  kmb_status status = record(plan, slot, count, &graph);
  if (!status) status = count_nodes(plan, graph, nodes);
  if (!status)
    status = KMBI_CU(self, cuGraphInstantiateWithFlags, exec, graph, 0);
  if (!status && self->driver->cuGraphUpload)
    status = KMBI_CU(self, cuGraphUpload, *exec, plan->stream);
  if (graph) (void)self->driver->cuGraphDestroy(graph);
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
