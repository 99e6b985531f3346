/* libcuda.so.1: streams, events, captures, graphs. */
#include <math.h>

#include "costs.h"
#include "exports.h"

#include <string.h>

enum { INVALID_VALUE = 1, INVALID_HANDLE = 400, ILLEGAL_STATE = 401 };

#define ENTER_CONTEXT(name, cost) \
  SIM_ENTER(name, cost);          \
  sim_pump();                     \
  if (sim_usable()) return sim_usable()

/* Streams. */

kmbi_cu_result sim_cuStreamCreate(kmbi_cu_stream *stream, unsigned flags) {
  static unsigned last;
  ENTER_CONTEXT(cuStreamCreate, SIM_LAUNCH);
  if (flags > KMBI_CU_STREAM_NON_BLOCKING) return INVALID_VALUE;
  *stream = sim_make(SIM_STREAM, sizeof **stream);
  (*stream)->end = &(*stream)->first;
  (*stream)->id = ++last;
  return 0;
}

kmbi_cu_result sim_cuStreamDestroy(kmbi_cu_stream stream) {
  SIM_GUARD(cuStreamDestroy, SIM_CALL);
  sim_pump();
  if (!sim_is(stream, SIM_STREAM)) return INVALID_HANDLE;
  if (stream->capture.active) sim_destroy(stream->capture.graph);
  sim_destroy(stream);
  return guard.result;
}

kmbi_cu_result sim_cuStreamQuery(kmbi_cu_stream handle) {
  ENTER_CONTEXT(cuStreamQuery, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  if (stream->capture.active) {
    stream->capture.invalid = true;
    return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (sim_idle(stream)) return 0;
  if (sim_set()->few_polls) sim_advance(stream);
  return KMBI_CU_NOT_READY;
}

kmbi_cu_result sim_cuStreamGetCtx(kmbi_cu_stream handle,
                                  kmbi_cu_context *context) {
  ENTER_CONTEXT(cuStreamGetCtx, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  *context = stream->object.context;
  return 0;
}

kmbi_cu_result sim_cuStreamWaitValue32(kmbi_cu_stream handle,
                                       kmbi_cu_pointer at, uint32_t value,
                                       unsigned flags) {
  ENTER_CONTEXT(cuStreamWaitValue32, SIM_LAUNCH);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  if (flags != KMBI_CU_WAIT_GEQ) return INVALID_VALUE;
  if (!sim_reaches(sim_current(), at, 4)) return sim_usable();
  if (stream->capture.active) return KMBI_CU_NOT_SUPPORTED;
  sim_enqueue(stream, &(sim_op){.kind = WAIT, .to = at, .value = value});
  return 0;
}

kmbi_cu_result sim_cuStreamWriteValue32(kmbi_cu_stream handle,
                                        kmbi_cu_pointer at, uint32_t value,
                                        unsigned flags) {
  ENTER_CONTEXT(cuStreamWriteValue32, SIM_LAUNCH);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  if (flags) return INVALID_VALUE;
  if (!sim_reaches(sim_current(), at, 4)) return sim_usable();
  if (stream->capture.active) return KMBI_CU_NOT_SUPPORTED;
  sim_enqueue(stream, &(sim_op){.kind = WRITE, .to = at, .value = value});
  sim_pump();
  return 0;
}

/* Events. */

kmbi_cu_result sim_cuEventCreate(kmbi_cu_event *event, unsigned flags) {
  ENTER_CONTEXT(cuEventCreate, SIM_CALL);
  (void)flags;
  *event = sim_make(SIM_EVENT_OBJECT, sizeof **event);
  return 0;
}

kmbi_cu_result sim_cuEventDestroy(kmbi_cu_event event) {
  SIM_GUARD(cuEventDestroy, SIM_CALL);
  if (!sim_is(event, SIM_EVENT_OBJECT)) return INVALID_HANDLE;
  sim_destroy(event);
  return guard.result;
}

kmbi_cu_result sim_cuEventRecord(kmbi_cu_event event, kmbi_cu_stream handle) {
  ENTER_CONTEXT(cuEventRecord, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream || !sim_is(event, SIM_EVENT_OBJECT)) return INVALID_HANDLE;
  if (stream->capture.active) return 0; /* of the capture, without a time */
  sim_enqueue(stream, &(sim_op){.kind = RECORD, .event = event});
  sim_pump();
  return 0;
}

kmbi_cu_result sim_cuEventQuery(kmbi_cu_event event) {
  ENTER_CONTEXT(cuEventQuery, SIM_CALL);
  if (!sim_is(event, SIM_EVENT_OBJECT)) return INVALID_HANDLE;
  return event->pending ? KMBI_CU_NOT_READY : 0;
}

kmbi_cu_result sim_cuEventElapsedTime(float *ms, kmbi_cu_event start,
                                      kmbi_cu_event end) {
  ENTER_CONTEXT(cuEventElapsedTime, SIM_CALL);
  if (!sim_is(start, SIM_EVENT_OBJECT) || !sim_is(end, SIM_EVENT_OBJECT) ||
      !start->recorded || !end->recorded)
    return INVALID_HANDLE;
  if (start->pending || end->pending) return KMBI_CU_NOT_READY;
  int64_t ticks = ((int64_t)end->at - (int64_t)start->at) / SIM_TICK;
  *ms = (float)((double)ticks * SIM_TICK / 1e6);
  return 0;
}

/* Of the record that came last; one that never came holds up nobody. A capture
 * does not spread to other streams here. */
unsigned cuStreamWaitEvent(kmbi_cu_stream handle, kmbi_cu_event event,
                           unsigned flags) {
  ENTER_CONTEXT(cuStreamWaitEvent, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream || !sim_is(event, SIM_EVENT_OBJECT)) return INVALID_HANDLE;
  if (flags) return INVALID_VALUE;
  if (stream->capture.active) return KMBI_CU_NOT_SUPPORTED;
  sim_op op = {.kind = JOIN, .event = event, .to = event->asked};
  sim_enqueue(stream, &op);
  sim_pump();
  return 0;
}

/* Captures. */

kmbi_cu_result sim_cuStreamBeginCapture(kmbi_cu_stream handle,
                                        kmbi_cu_enum mode) {
  ENTER_CONTEXT(cuStreamBeginCapture, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  if (stream->legacy) return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture.active) return ILLEGAL_STATE;
  struct CUgraph_st *graph = sim_make(SIM_GRAPH, sizeof *graph);
  graph->end = &graph->first;
  stream->capture = (sim_capture){graph, pthread_self(), mode, true, false};
  return 0;
}

/* An invalid capture ends without a graph. */
kmbi_cu_result sim_cuStreamEndCapture(kmbi_cu_stream handle,
                                      kmbi_cu_graph *graph) {
  SIM_GUARD(cuStreamEndCapture, SIM_CALL);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!graph) return INVALID_VALUE;
  *graph = NULL;
  if (!stream) return INVALID_HANDLE;
  sim_capture capture = stream->capture;
  if (!capture.active) return guard.result ? guard.result : ILLEGAL_STATE;
  if (!pthread_equal(capture.owner, pthread_self()))
    return KMBI_CU_STREAM_CAPTURE_WRONG_THREAD;
  stream->capture = (sim_capture){.active = false};
  if (!capture.invalid && !guard.result) {
    *graph = capture.graph;
    return 0;
  }
  sim_destroy(capture.graph);
  return guard.result ? guard.result : KMBI_CU_STREAM_CAPTURE_INVALIDATED;
}

kmbi_cu_result sim_cuStreamIsCapturing(kmbi_cu_stream handle,
                                       kmbi_cu_enum *status) {
  SIM_ENTER(cuStreamIsCapturing, SIM_CALL);
  const struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  *status = stream->capture.active ? 1 + stream->capture.invalid : 0;
  return 0;
}

/* Graphs. */

kmbi_cu_result sim_cuGraphGetNodes(kmbi_cu_graph graph, kmbi_cu_node *nodes,
                                   size_t *count) {
  SIM_ENTER(cuGraphGetNodes, SIM_CALL);
  if (!sim_is(graph, SIM_GRAPH)) return INVALID_HANDLE;
  if (nodes) return INVALID_VALUE;
  *count = graph->count;
  return 0;
}

/* All in one line. */
kmbi_cu_result sim_cuGraphGetEdges(kmbi_cu_graph graph, kmbi_cu_node *from,
                                   kmbi_cu_node *to,
                                   struct CUgraphEdgeData_st *data,
                                   size_t *count) {
  SIM_ENTER(cuGraphGetEdges, SIM_CALL);
  if (!sim_is(graph, SIM_GRAPH)) return INVALID_HANDLE;
  if (!from != !to || !from != !data) return INVALID_VALUE;
  size_t edges = graph->count ? graph->count - 1 : 0;
  for (size_t i = 0; from && i < edges; i++) {
    kmbi_cu_edge edge = {0};
    if (sim_set()->programmatic) edge.type = KMBI_CU_EDGE_PROGRAMMATIC;
    from[i] = to[i] = NULL;
    memcpy((char *)data + i * sizeof edge, &edge, sizeof edge);
  }
  *count = edges;
  return 0;
}

kmbi_cu_result sim_cuGraphInstantiateWithFlags(kmbi_cu_exec *exec,
                                               kmbi_cu_graph graph,
                                               unsigned long long flags) {
  static uint32_t made_before;
  ENTER_CONTEXT(cuGraphInstantiateWithFlags, SIM_LAUNCH);
  if (!sim_is(graph, SIM_GRAPH) || flags) return INVALID_VALUE;
  struct CUgraphExec_st *made = sim_make(SIM_EXEC, sizeof *made);
  sim_op **end = &made->first;
  made->seen = sim_tracing();
  made->place = made_before++ * 5 % SIM_PLACES;
  for (const sim_op *op = graph->first; op; op = op->next) {
    sim_op node = *op;
    node.in_graph = true;
    node.first = op == graph->first;
    node.seen_traced = made->seen;
    node.place = made->place;
    sim_append(&end, &node);
  }
  *exec = made;
  return 0;
}

kmbi_cu_result sim_cuGraphUpload(kmbi_cu_exec exec, kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuGraphUpload, SIM_LAUNCH);
  if (!sim_is(exec, SIM_EXEC) || !sim_stream_of(stream)) return INVALID_HANDLE;
  return 0;
}

kmbi_cu_result sim_cuGraphLaunch(kmbi_cu_exec exec, kmbi_cu_stream handle) {
  ENTER_CONTEXT(cuGraphLaunch, SIM_LAUNCH);
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!sim_is(exec, SIM_EXEC) || !stream) return INVALID_HANDLE;
  if (stream->capture.active) return KMBI_CU_NOT_SUPPORTED;
  sim_trace_launch(514, "cuGraphLaunch", NULL, NULL, sim_current());
  uint32_t correlation = sim_trace_call(514);
  for (const sim_op *op = exec->first; op; op = op->next) {
    sim_op node = *op;
    node.correlation = correlation;
    sim_make_room("cuGraphLaunch");
    sim_enqueue(stream, &node);
  }
  sim_pump();
  if (sim_set()->blocking) sim_drain("cuGraphLaunch");
  return 0;
}

kmbi_cu_result sim_cuGraphExecDestroy(kmbi_cu_exec exec) {
  SIM_GUARD(cuGraphExecDestroy, SIM_CALL);
  if (!sim_is(exec, SIM_EXEC)) return INVALID_HANDLE;
  sim_destroy(exec);
  return guard.result;
}

kmbi_cu_result sim_cuGraphDestroy(kmbi_cu_graph graph) {
  SIM_GUARD(cuGraphDestroy, SIM_CALL);
  if (!sim_is(graph, SIM_GRAPH)) return INVALID_HANDLE;
  sim_destroy(graph);
  return guard.result;
}
