/* libamdhip64: streams, events, captures, graphs. */
#include "costs.h"
#include "inside.h"

enum { INVALID_HANDLE = 400, ILLEGAL_STATE = 401 };

/* Streams. */

kmbi_hip_result sim_hipStreamCreateWithFlags(kmbi_hip_stream *stream,
                                             unsigned flags) {
  SIM_ENTER_DEVICE(hipStreamCreateWithFlags, SIM_LAUNCH);
  if (flags > KMBI_HIP_STREAM_NON_BLOCKING)
    return sim_done(KMBI_HIP_InvalidValue);
  *stream = sim_make(SIM_STREAM, sizeof **stream);
  (*stream)->end = &(*stream)->first;
  (*stream)->device = sim_current();
  return sim_done(0);
}

kmbi_hip_result sim_hipStreamDestroy(kmbi_hip_stream stream) {
  SIM_GUARD(hipStreamDestroy, SIM_CALL);
  sim_pump();
  if (!sim_is(stream, SIM_STREAM)) return sim_done(INVALID_HANDLE);
  if (stream->capture.active) sim_destroy(stream->capture.graph);
  sim_destroy(stream);
  return sim_done(guard.result);
}

kmbi_hip_result sim_hipStreamQuery(kmbi_hip_stream handle) {
  SIM_ENTER_DEVICE(hipStreamQuery, SIM_CALL);
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream) return sim_done(INVALID_HANDLE);
  if (stream->capture.active) {
    stream->capture.invalid = true;
    return sim_done(KMBI_HIP_StreamCaptureUnsupported);
  }
  return sim_done(sim_idle(stream) ? 0 : KMBI_HIP_NotReady);
}

kmbi_hip_result sim_hipStreamGetDevice(kmbi_hip_stream handle, int *device) {
  SIM_ENTER_DEVICE(hipStreamGetDevice, SIM_CALL);
  const struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream) return sim_done(INVALID_HANDLE);
  *device = stream->device;
  return sim_done(0);
}

/* Events. */

kmbi_hip_result sim_hipEventCreateWithFlags(kmbi_hip_event *event,
                                            unsigned flags) {
  SIM_ENTER_DEVICE(hipEventCreateWithFlags, SIM_CALL);
  if (flags &&
      (flags != KMBI_HIP_EVENT_NO_SYSTEM_FENCE || sim_set()->no_fence_flag))
    return sim_done(KMBI_HIP_InvalidValue);
  *event = sim_make(SIM_EVENT_OBJECT, sizeof **event);
  return sim_done(0);
}

kmbi_hip_result sim_hipEventDestroy(kmbi_hip_event event) {
  SIM_GUARD(hipEventDestroy, SIM_CALL);
  if (!sim_is(event, SIM_EVENT_OBJECT)) return sim_done(INVALID_HANDLE);
  sim_destroy(event);
  return sim_done(guard.result);
}

/* In a capture it has no time, and may be asked about by nobody. */
kmbi_hip_result sim_hipEventRecord(kmbi_hip_event event,
                                   kmbi_hip_stream handle) {
  SIM_ENTER_DEVICE(hipEventRecord, SIM_CALL);
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream || !sim_is(event, SIM_EVENT_OBJECT))
    return sim_done(INVALID_HANDLE);
  event->captured = stream->capture.active;
  if (event->captured) {
    sim_note_event();
    return sim_done(0);
  }
  sim_enqueue(stream, &(sim_op){.kind = RECORD, .event = event});
  sim_pump();
  return sim_done(0);
}

/* What PyTorch's watchdog does: HIP forbids it of an event that a capture
 * recorded, and breaks the capture. */
unsigned hipEventQuery(kmbi_hip_event event) {
  SIM_ENTER_DEVICE(hipEventQuery, SIM_CALL);
  if (!sim_is(event, SIM_EVENT_OBJECT)) return sim_done(INVALID_HANDLE);
  if (event->captured) {
    sim_invalidate_all();
    return sim_done(KMBI_HIP_CapturedEvent);
  }
  return sim_done(event->pending ? KMBI_HIP_NotReady : 0);
}

kmbi_hip_result sim_hipEventElapsedTime(float *ms, kmbi_hip_event start,
                                        kmbi_hip_event end) {
  SIM_ENTER_DEVICE(hipEventElapsedTime, SIM_CALL);
  static unsigned count;
  if (!sim_is(start, SIM_EVENT_OBJECT) || !sim_is(end, SIM_EVENT_OBJECT) ||
      !start->recorded || !end->recorded || start->captured || end->captured)
    return sim_done(INVALID_HANDLE);
  if (start->pending || end->pending) return sim_done(KMBI_HIP_NotReady);
  int64_t ticks = ((int64_t)end->at - (int64_t)start->at) / SIM_TICK;
  *ms = (float)((double)ticks * SIM_TICK / 1e6);
  count++;
  if (sim_set()->negative_every && count % sim_set()->negative_every == 0)
    *ms = -1.78F;
  if (sim_set()->zero_every && count % sim_set()->zero_every == 1) *ms = 0;
  return sim_done(0);
}

/* Captures. */

kmbi_hip_result sim_hipStreamBeginCapture(kmbi_hip_stream handle,
                                          kmbi_hip_enum mode) {
  SIM_ENTER_DEVICE(hipStreamBeginCapture, SIM_CALL);
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream) return sim_done(INVALID_HANDLE);
  if (stream->null) return sim_done(KMBI_HIP_StreamCaptureUnsupported);
  if (stream->capture.active) return sim_done(ILLEGAL_STATE);
  struct ihipGraph *graph = sim_make(SIM_GRAPH, sizeof *graph);
  graph->end = &graph->first;
  stream->capture =
      (sim_capture){graph, pthread_self(), mode, true, false, false};
  return sim_done(0);
}

/* An invalid capture ends without a graph. */
kmbi_hip_result sim_hipStreamEndCapture(kmbi_hip_stream handle,
                                        kmbi_hip_graph *graph) {
  SIM_GUARD(hipStreamEndCapture, SIM_CALL);
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!graph) return sim_done(KMBI_HIP_InvalidValue);
  *graph = NULL;
  if (!stream) return sim_done(INVALID_HANDLE);
  sim_capture *c = &stream->capture;
  if (!c->active) return sim_done(guard.result ? guard.result : ILLEGAL_STATE);
  if (!pthread_equal(c->owner, pthread_self()))
    return sim_done(KMBI_HIP_StreamCaptureWrongThread);
  bool good = !c->invalid && !guard.result;
  if (!good && sim_set()->sticky_captures && !c->ended) {
    c->ended = true;
    return sim_done(guard.result ? guard.result
                                 : KMBI_HIP_StreamCaptureInvalidated);
  }
  c->active = false;
  if (good) {
    *graph = c->graph;
    return sim_done(0);
  }
  sim_destroy(c->graph);
  return sim_done(guard.result ? guard.result
                               : KMBI_HIP_StreamCaptureInvalidated);
}

kmbi_hip_result sim_hipStreamIsCapturing(kmbi_hip_stream handle,
                                         kmbi_hip_enum *status) {
  SIM_ENTER(hipStreamIsCapturing, SIM_CALL);
  const struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream) return sim_done(INVALID_HANDLE);
  *status = stream->capture.active ? 1 + stream->capture.invalid : 0;
  return sim_done(0);
}

/* Graphs. */

kmbi_hip_result sim_hipGraphGetNodes(kmbi_hip_graph graph, kmbi_hip_node *nodes,
                                     size_t *count) {
  SIM_ENTER(hipGraphGetNodes, SIM_CALL);
  if (!sim_is(graph, SIM_GRAPH)) return sim_done(INVALID_HANDLE);
  if (nodes) return sim_done(KMBI_HIP_InvalidValue);
  *count = graph->count;
  return sim_done(0);
}

// NOLINTBEGIN(readability-non-const-parameter): HIP's own prototype
kmbi_hip_result sim_hipGraphInstantiate(kmbi_hip_exec *exec,
                                        kmbi_hip_graph graph,
                                        kmbi_hip_node *node, char *log,
                                        size_t size) {
  SIM_ENTER_DEVICE(hipGraphInstantiate, SIM_LAUNCH);
  if (!sim_is(graph, SIM_GRAPH) || node || log || size)
    return sim_done(KMBI_HIP_InvalidValue);
  struct hipGraphExec *made = sim_make(SIM_EXEC, sizeof *made);
  sim_op **end = &made->first;
  for (const sim_op *op = graph->first; op; op = op->next) {
    sim_op copy = *op;
    copy.in_graph = true;
    copy.first = op == graph->first;
    sim_append(&end, &copy);
  }
  *exec = made;
  return sim_done(0);
}
// NOLINTEND(readability-non-const-parameter)

kmbi_hip_result sim_hipGraphUpload(kmbi_hip_exec exec, kmbi_hip_stream stream) {
  SIM_ENTER_DEVICE(hipGraphUpload, SIM_LAUNCH);
  if (!sim_is(exec, SIM_EXEC) || !sim_stream_of(stream))
    return sim_done(INVALID_HANDLE);
  return sim_done(0);
}

kmbi_hip_result sim_hipGraphLaunch(kmbi_hip_exec exec, kmbi_hip_stream handle) {
  SIM_ENTER_DEVICE(hipGraphLaunch, SIM_LAUNCH);
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!sim_is(exec, SIM_EXEC) || !stream) return sim_done(INVALID_HANDLE);
  if (stream->capture.active) return sim_done(KMBI_HIP_NotSupported);
  for (const sim_op *op = exec->first; op; op = op->next)
    sim_enqueue(stream, op);
  sim_pump();
  return sim_done(0);
}

kmbi_hip_result sim_hipGraphExecDestroy(kmbi_hip_exec exec) {
  SIM_GUARD(hipGraphExecDestroy, SIM_CALL);
  if (!sim_is(exec, SIM_EXEC)) return sim_done(INVALID_HANDLE);
  sim_destroy(exec);
  return sim_done(guard.result);
}

kmbi_hip_result sim_hipGraphDestroy(kmbi_hip_graph graph) {
  SIM_GUARD(hipGraphDestroy, SIM_CALL);
  if (!sim_is(graph, SIM_GRAPH)) return sim_done(INVALID_HANDLE);
  sim_destroy(graph);
  return sim_done(guard.result);
}
