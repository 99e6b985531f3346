/* libamdhip64: memory, modules, streams, events, graphs. */
#include "forward.h"

/* Handles are CUDA's own. */
#define STREAM(handle) ((kmbi_cu_stream)(void *)(handle))
#define EVENT(handle) ((kmbi_cu_event)(void *)(handle))
#define GRAPH(handle) ((kmbi_cu_graph)(void *)(handle))
#define EXEC(handle) ((kmbi_cu_exec)(void *)(handle))
#define AT(pointer) ((kmbi_cu_pointer)(uintptr_t)(pointer))

/* Memory. */

kmbi_hip_result forward_hipMalloc(void **pointer, size_t bytes) {
  kmbi_cu_pointer at = 0;
  kmbi_cu_result result = forward_enter();
  if (!result) result = forward_driver()->cuMemAlloc(&at, bytes);
  *pointer = (void *)(uintptr_t)at;
  return forward_result(result);
}

kmbi_hip_result forward_hipFree(void *pointer) {
  FORWARD(cuMemFree, AT(pointer));
}

kmbi_hip_result forward_hipMemGetInfo(size_t *available, size_t *total) {
  FORWARD(cuMemGetInfo, available, total);
}

kmbi_hip_result forward_hipHostMalloc(void **pointer, size_t bytes,
                                      unsigned flags) {
  FORWARD(cuMemHostAlloc, pointer, bytes, flags);
}

kmbi_hip_result forward_hipHostFree(void *pointer) {
  FORWARD(cuMemFreeHost, pointer);
}

kmbi_hip_result forward_hipHostGetDevicePointer(void **pointer, void *host,
                                                unsigned flags) {
  kmbi_cu_pointer at = 0;
  kmbi_cu_result result = forward_enter();
  if (!result)
    result = forward_driver()->cuMemHostGetDevicePointer(&at, host, flags);
  *pointer = (void *)(uintptr_t)at;
  return forward_result(result);
}

kmbi_hip_result forward_hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                       kmbi_hip_enum kind,
                                       kmbi_hip_stream stream) {
  if (kind == KMBI_HIP_COPY_TO_DEVICE)
    FORWARD(cuMemcpyHtoDAsync, AT(to), from, bytes, STREAM(stream));
  FORWARD(cuMemcpyDtoHAsync, to, AT(from), bytes, STREAM(stream));
}

kmbi_hip_result forward_hipMemsetD32Async(void *to, int value, size_t words,
                                          kmbi_hip_stream stream) {
  FORWARD(cuMemsetD32Async, AT(to), (unsigned)value, words, STREAM(stream));
}

/* Modules. */

kmbi_hip_result forward_hipModuleLoadData(kmbi_hip_module *module,
                                          const void *image) {
  FORWARD(cuModuleLoadData, (kmbi_cu_module *)(void *)module, image);
}

kmbi_hip_result forward_hipModuleUnload(kmbi_hip_module module) {
  FORWARD(cuModuleUnload, (kmbi_cu_module)(void *)module);
}

kmbi_hip_result forward_hipModuleGetFunction(kmbi_hip_function *function,
                                             kmbi_hip_module module,
                                             const char *name) {
  FORWARD(cuModuleGetFunction, (kmbi_cu_function *)(void *)function,
          (kmbi_cu_module)(void *)module, name);
}

kmbi_hip_result forward_hipModuleLaunchKernel(
    kmbi_hip_function function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared, kmbi_hip_stream stream, void **arguments, void **extra) {
  FORWARD(cuLaunchKernel, (kmbi_cu_function)(void *)function, grid_x, grid_y,
          grid_z, block_x, block_y, block_z, shared, STREAM(stream), arguments,
          extra);
}

/* Streams and captures. */

kmbi_hip_result forward_hipStreamCreateWithFlags(kmbi_hip_stream *stream,
                                                 unsigned flags) {
  FORWARD(cuStreamCreate, (kmbi_cu_stream *)(void *)stream, flags);
}

kmbi_hip_result forward_hipStreamDestroy(kmbi_hip_stream stream) {
  FORWARD(cuStreamDestroy, STREAM(stream));
}

kmbi_hip_result forward_hipStreamQuery(kmbi_hip_stream stream) {
  FORWARD(cuStreamQuery, STREAM(stream));
}

kmbi_hip_result forward_hipStreamGetDevice(kmbi_hip_stream stream,
                                           int *device) {
  kmbi_cu_context context = NULL;
  kmbi_cu_context before = NULL;
  kmbi_cu_result result = forward_enter();
  const kmbi_cu_driver *d = forward_driver();
  if (!result) result = d->cuStreamGetCtx(STREAM(stream), &context);
  if (!result) result = d->cuCtxGetCurrent(&before);
  if (!result) result = d->cuCtxSetCurrent(context);
  if (result) return forward_result(result);
  result = d->cuCtxGetDevice(device);
  (void)d->cuCtxSetCurrent(before);
  return forward_result(result);
}

kmbi_hip_result forward_hipStreamBeginCapture(kmbi_hip_stream stream,
                                              kmbi_hip_enum mode) {
  FORWARD(cuStreamBeginCapture, STREAM(stream), mode);
}

kmbi_hip_result forward_hipStreamEndCapture(kmbi_hip_stream stream,
                                            kmbi_hip_graph *graph) {
  FORWARD(cuStreamEndCapture, STREAM(stream), (kmbi_cu_graph *)(void *)graph);
}

kmbi_hip_result forward_hipStreamIsCapturing(kmbi_hip_stream stream,
                                             kmbi_hip_enum *status) {
  FORWARD(cuStreamIsCapturing, STREAM(stream), status);
}

/* Graphs. */

kmbi_hip_result forward_hipGraphGetNodes(kmbi_hip_graph graph,
                                         kmbi_hip_node *nodes, size_t *count) {
  FORWARD(cuGraphGetNodes, GRAPH(graph), (kmbi_cu_node *)(void *)nodes, count);
}

// NOLINTBEGIN(readability-non-const-parameter): HIP's own prototype
kmbi_hip_result forward_hipGraphInstantiate(kmbi_hip_exec *exec,
                                            kmbi_hip_graph graph,
                                            kmbi_hip_node *node, char *log,
                                            size_t size) {
  (void)node;
  (void)log;
  (void)size;
  FORWARD(cuGraphInstantiateWithFlags, (kmbi_cu_exec *)(void *)exec,
          GRAPH(graph), 0);
}
// NOLINTEND(readability-non-const-parameter)

kmbi_hip_result forward_hipGraphUpload(kmbi_hip_exec exec,
                                       kmbi_hip_stream stream) {
  FORWARD(cuGraphUpload, EXEC(exec), STREAM(stream));
}

kmbi_hip_result forward_hipGraphLaunch(kmbi_hip_exec exec,
                                       kmbi_hip_stream stream) {
  FORWARD(cuGraphLaunch, EXEC(exec), STREAM(stream));
}

kmbi_hip_result forward_hipGraphExecDestroy(kmbi_hip_exec exec) {
  FORWARD(cuGraphExecDestroy, EXEC(exec));
}

kmbi_hip_result forward_hipGraphDestroy(kmbi_hip_graph graph) {
  FORWARD(cuGraphDestroy, GRAPH(graph));
}

/* Events. A flag of AMD's alone is dropped. */

kmbi_hip_result forward_hipEventCreateWithFlags(kmbi_hip_event *event,
                                                unsigned flags) {
  flags &= ~(unsigned)KMBI_HIP_EVENT_NO_SYSTEM_FENCE;
  FORWARD(cuEventCreate, (kmbi_cu_event *)(void *)event, flags);
}

kmbi_hip_result forward_hipEventDestroy(kmbi_hip_event event) {
  FORWARD(cuEventDestroy, EVENT(event));
}

kmbi_hip_result forward_hipEventRecord(kmbi_hip_event event,
                                       kmbi_hip_stream stream) {
  FORWARD(cuEventRecord, EVENT(event), STREAM(stream));
}

kmbi_hip_result forward_hipEventElapsedTime(float *ms, kmbi_hip_event start,
                                            kmbi_hip_event end) {
  FORWARD(cuEventElapsedTime, ms, EVENT(start), EVENT(end));
}
