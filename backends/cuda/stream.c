/* Streams, and waiting for them with a deadline: nothing here blocks in the
 * driver, for what never ends would never return. */
#include "cuda_backend.h"

#include <time.h>

/* For so long a wait only asks again; later it sleeps between. */
#define SPIN_NS 2e6
#define NAP_NS 50000

static kmbi_cu_result ask(kmbi_cuda *self, kmbi_cu_stream stream,
                          kmbi_cu_event event) {
  return event ? self->driver->cuEventQuery(event)
               : self->driver->cuStreamQuery(stream);
}

/* False once it is late, with limit_ns 0 never. */
static bool wait_for(kmbi_cuda *self, kmbi_cu_stream stream,
                     kmbi_cu_event event, double limit_ns, kmb_status *status) {
  double start = kmbi_cuda_now();
  for (;;) {
    kmbi_cu_result result = ask(self, stream, event);
    if (result != KMBI_CU_NOT_READY) {
      *status = kmbi_cuda_check(self, result,
                                event ? "a mark on the caller's stream"
                                      : "work on the stream");
      return true;
    }
    double passed = kmbi_cuda_now() - start;
    if (limit_ns > 0 && passed > limit_ns) return false;
    if (passed > SPIN_NS)
      nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
}

bool kmbi_cuda_ends_within(kmbi_cuda *self, kmbi_cu_stream stream,
                           double limit_ns, kmb_status *status) {
  return wait_for(self, stream, NULL, limit_ns, status);
}

bool kmbi_cuda_passes_within(kmbi_cuda *self, kmbi_cu_event event,
                             double limit_ns, kmb_status *status) {
  return wait_for(self, NULL, event, limit_ns, status);
}

kmb_status kmbi_cuda_finish(kmbi_cuda *self, kmbi_cu_stream stream) {
  kmb_status status = KMB_OK;
  if (kmbi_cuda_ends_within(self, stream, self->deadline_ns, &status))
    return status;
  kmbi_cuda_lose(self);
  return KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                        "work on cuda:%d did not end within %g s: the device "
                        "is lost to this process and what it holds there is "
                        "abandoned; \"cuda:%d:deadline=SECONDS\" waits longer",
                        self->ordinal, self->deadline_ns / 1e9, self->ordinal);
}

kmb_status kmbi_cuda_stream_wait(void *opened, void *stream, double limit_ns) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status && !kmbi_cuda_ends_within(self, stream, limit_ns, &status))
    status = KMBI_CUDA_FAIL(self, KMB_ERR_TIMEOUT, 0,
                            "the stream's work did not end within %g s",
                            limit_ns / 1e9);
  kmbi_cuda_leave(self, before);
  return status;
}

/* The caller's stream brings its context, which must be on our device. */
kmb_status kmbi_cuda_adopt(kmbi_cuda *self, kmbi_cu_stream stream) {
  kmbi_cu_context context = NULL;
  kmbi_cu_device device = -1;
  kmb_status status = KMBI_CU(self, cuStreamGetCtx, stream, &context);
  if (!status) status = KMBI_CU(self, cuCtxSetCurrent, context);
  if (!status) status = KMBI_CU(self, cuCtxGetDevice, &device);
  if (status) return status;
  if (device != self->device)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0,
                          "the stream belongs to another device than cuda:%d",
                          self->ordinal);
  if (context != self->primary.context) {
    self->foreign.context = context;
    self->space = &self->foreign;
  }
  return KMB_OK;
}

/* Candidates that take turns hold a stream each, all of one context: ours is
 * the same one for all. */
static kmb_status join(kmbi_cuda *self, kmbi_cu_stream callers,
                       kmbi_cu_stream *handle) {
  kmbi_cu_context context = self->primary.context;
  kmb_status status =
      callers ? KMBI_CU(self, cuStreamGetCtx, callers, &context) : KMB_OK;
  if (!status && (self->marked || context != self->space->context))
    status = KMBI_CUDA_FAIL(
        self, KMB_ERR_BUSY, 0, "cuda:%d: a stream %s is in use already",
        self->ordinal, self->marked ? "of a session" : "of another context");
  if (!status && !callers) status = kmbi_cuda_space_stream(self, handle);
  return status;
}

static kmb_status first(kmbi_cuda *self, kmbi_cu_stream callers,
                        kmbi_cu_stream *handle) {
  kmbi_cu_context before = NULL;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status)
    status = callers ? kmbi_cuda_adopt(self, callers)
                     : kmbi_cuda_space_stream(self, handle);
  if (status) {
    kmbi_cuda_leave(self, before);
    return status;
  }
  self->before = before;
  self->held_up = NULL;
  return KMB_OK;
}

/* Between the first open and the last close the streams' context is current,
 * since the engine and the caller's callbacks work in it. */
kmb_status kmbi_cuda_stream_open(void *opened, void *callers, void **stream) {
  kmbi_cuda *self = opened;
  kmbi_cu_stream handle = callers;
  *stream = NULL;
  kmb_status status = self->streams_open ? join(self, callers, &handle)
                                         : first(self, callers, &handle);
  if (status) return status;
  self->streams_open++;
  *stream = handle;
  return KMB_OK;
}

void kmbi_cuda_stream_close(void *opened, void *stream) {
  kmbi_cuda *self = opened;
  (void)stream;
  if (!self->streams_open || --self->streams_open) return;
  if (self->space == &self->foreign) {
    if (!self->lost) kmbi_cuda_space_close(self, &self->foreign);
    self->space = &self->primary;
  }
  if (!self->lost) kmbi_cuda_leave(self, self->before);
  self->before = NULL;
}
