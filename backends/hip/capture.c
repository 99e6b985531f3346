/* Capturing iterations into a graph. Whatever goes wrong, the stream ends up
 * uncaptured and the next capture works. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>

/* What PyTorch's watchdog of NCCL does to captures, and what helps. */
#define CURE                                                                   \
  "PyTorch's NCCL watchdog queries events of the capturing stream, which HIP " \
  "forbids: set TORCH_NCCL_BLOCKING_WAIT=1 before torch is imported, for "     \
  "benchmarks only"

/* RCCL calls itself NCCL; torch carries it as librccl. One that a barrier of
 * ours opened says nothing of torch. */
static bool has_watchdog(void) {
  const char *blocking = getenv("TORCH_NCCL_BLOCKING_WAIT");
  if (blocking && strcmp(blocking, "1") == 0) return false;
  bool ours = kmbi_hip_brought_rccl && kmbi_hip_brought_rccl();
  return kmbi_hip_is_loaded(ours ? "libtorch_hip.so" : "librccl.so");
}

/* The watchdog may end the process, and then no error is returned. */
static void warn(kmbi_hip *self) {
  const kmb_host *host = self->host;
  if (self->warned || !has_watchdog()) return;
  self->warned = true;
  host->log(host->ctx, KMB_LOG_WARNING, "captures may end this process: " CURE);
}

static bool is_capturing(kmbi_hip_plan *plan) {
  kmbi_hip_enum state = KMBI_HIP_CAPTURING_NONE;
  kmbi_hip_result result =
      plan->self->api->hipStreamIsCapturing(plan->stream, &state);
  return !result && state != KMBI_HIP_CAPTURING_NONE;
}

/* Ends the capture, which a callback may have ended or broken already. Some
 * versions leave a broken one behind until it is ended once more. */
static kmbi_hip_result end(kmbi_hip_plan *plan, kmbi_hip_graph *graph) {
  const kmbi_hip_api *api = plan->self->api;
  kmbi_hip_result result = api->hipStreamEndCapture(plan->stream, graph);
  if (result) *graph = NULL;
  for (int i = 0; i < 2 && is_capturing(plan); i++) {
    kmbi_hip_graph rest = NULL;
    if (!api->hipStreamEndCapture(plan->stream, &rest) && rest)
      (void)api->hipGraphDestroy(rest);
  }
  if (result) (void)api->hipGetLastError();
  return result;
}

static kmb_status capture_failed(kmbi_hip_plan *plan, kmbi_hip_result result) {
  kmbi_hip *self = plan->self;
  const char *name = self->api->hipGetErrorName(result);
  if (kmbi_hip_status_of(result) == KMB_ERR_LOST)
    return kmbi_hip_check(self, result, "hipStreamEndCapture");
  return KMBI_HIP_FAIL(
      self, KMB_ERR_CAPTURE, (int64_t)result,
      "the launch cannot be captured: %s (%u); %s", name ? name : "unknown",
      result,
      has_watchdog()
          ? CURE
          : "it allocates, synchronises, uses the null stream or leaves a "
            "stream unjoined, or another thread synchronised the device");
}

/* The graph of `count` iterations from `slot` on. */
static kmb_status record(kmbi_hip_plan *plan, uint32_t slot, uint64_t count,
                         kmbi_hip_graph *graph) {
  kmbi_hip *self = plan->self;
  warn(self);
  kmb_status status = KMBI_HIP(self, hipStreamBeginCapture, plan->stream,
                               KMBI_HIP_CAPTURE_THREAD_LOCAL);
  if (status) return status;
  for (uint64_t i = 0; !status && i < count; i++)
    status = kmbi_hip_call(plan, (uint32_t)((slot + i) % plan->desc.slots), i);
  kmbi_hip_result result = end(plan, graph);
  /* A broken capture is what the callback's own failure comes from. */
  bool broken = result && kmbi_hip_status_of(result) == KMB_ERR_CAPTURE;
  if (broken && status <= 0) return capture_failed(plan, result);
  if (status) return status;
  return result ? capture_failed(plan, result) : KMB_OK;
}

static kmb_status count_nodes(kmbi_hip_plan *plan, kmbi_hip_graph graph,
                              uint64_t *nodes) {
  size_t count = 0;
  kmb_status status =
      KMBI_HIP(plan->self, hipGraphGetNodes, graph, NULL, &count);
  *nodes = count;
  if (status || count) return status;
  return KMBI_HIP_FAIL(plan->self, KMB_ERR_CAPTURE, 0,
                       "the launch enqueued nothing on launch->stream while "
                       "it was captured");
}

kmb_status kmbi_hip_capture(kmbi_hip_plan *plan, uint32_t slot, uint64_t count,
                            kmbi_hip_exec *exec, uint64_t *nodes) {
  kmbi_hip *self = plan->self;
  kmbi_hip_graph graph = NULL;
  kmb_status status = record(plan, slot, count, &graph);
  if (!status) status = count_nodes(plan, graph, nodes);
  if (!status)
    status = KMBI_HIP(self, hipGraphInstantiate, exec, graph, NULL, NULL, 0);
  if (!status && self->api->hipGraphUpload)
    status = KMBI_HIP(self, hipGraphUpload, *exec, plan->stream);
  if (graph) (void)self->api->hipGraphDestroy(graph);
  return status;
}
