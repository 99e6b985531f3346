/* Sessions that the caller drives: events on its own stream, in the stream's
 * context. Between two calls nothing of ours is current. CUPTI is kept off
 * meanwhile, as with every event. */
#include "cupti_session.h"

#include <unistd.h>

typedef struct marks {
  kmbi_cu_stream stream;
  size_t size; /* of this struct */
  uint32_t count;
  bool quiet;
  kmbi_cu_event events[]; /* NULL: not made */
} marks;

static kmb_status make_events(kmbi_cuda *self, marks *m) {
  kmb_status status = KMB_OK;
  for (uint32_t i = 0; !status && i < m->count; i++)
    status = KMBI_CU(self, cuEventCreate, &m->events[i], KMBI_CU_EVENT_DEFAULT);
  return status;
}

/* In the stream's context, which is current only within this call. */
static kmb_status open_here(kmbi_cuda *self, marks *m) {
  kmb_status status = kmbi_cuda_adopt(self, m->stream);
  if (status) return status;
  status = kmbi_cupti_quiet_begin(self);
  m->quiet = !status;
  return status ? status : make_events(self, m);
}

kmb_status kmbi_cuda_session_open(void *opened, void *stream, uint32_t count,
                                  void **session) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  size_t size = sizeof(marks) + count * sizeof(void *);
  *session = NULL;
  if (self->streams_open)
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "cuda:%d: a stream is in use already", self->ordinal);
  marks *m = host->alloc(host->ctx, size, _Alignof(marks));
  if (!m)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the marks of a session");
  memset(m, 0, size);
  m->stream = stream;
  m->size = size;
  m->count = count;
  kmb_status status = kmbi_cuda_enter(self, &before);
  self->streams_open = 1;
  self->marked = true;
  if (!status) status = open_here(self, m);
  kmbi_cuda_leave(self, before);
  if (status)
    kmbi_cuda_session_close(self, m);
  else
    *session = m;
  return status;
}

kmb_status kmbi_cuda_session_mark(void *opened, void *session, uint32_t mark) {
  kmbi_cuda *self = opened;
  const marks *m = session;
  kmbi_cu_context before = NULL;
  kmbi_cu_enum capturing = KMBI_CU_CAPTURING_NONE;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status && self->driver->cuStreamIsCapturing)
    status = KMBI_CU(self, cuStreamIsCapturing, m->stream, &capturing);
  if (!status && capturing != KMBI_CU_CAPTURING_NONE)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_CAPTURE, 0,
                            "the stream is being captured: mark samples before "
                            "or after, this one is not taken");
  if (!status)
    status = KMBI_CU(self, cuEventRecord, m->events[mark], m->stream);
  kmbi_cuda_leave(self, before);
  return status;
}

static kmb_status wait_for(kmbi_cuda *self, kmbi_cu_event event) {
  kmb_status status = KMB_OK;
  if (kmbi_cuda_passes_within(self, event, self->deadline_ns, &status))
    return status;
  kmbi_cuda_lose(self);
  return KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                        "what a session marked on cuda:%d did not end within "
                        "%g s: the device is lost to this process and what it "
                        "holds there is abandoned; a longer region needs "
                        "\"cuda:%d:deadline=SECONDS\"",
                        self->ordinal, self->deadline_ns / 1e9, self->ordinal);
}

kmb_status kmbi_cuda_session_read(void *opened, void *session, uint32_t from,
                                  uint32_t to, double *ns) {
  kmbi_cuda *self = opened;
  const marks *m = session;
  kmbi_cu_context before = NULL;
  float ms = 0;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = wait_for(self, m->events[to]);
  if (!status)
    status =
        KMBI_CU(self, cuEventElapsedTime, &ms, m->events[from], m->events[to]);
  *ns = (double)ms * 1e6;
  kmbi_cuda_leave(self, before);
  return status;
}

/* What is lost is abandoned; in a child the driver is not ours. */
void kmbi_cuda_session_close(void *opened, void *session) {
  kmbi_cuda *self = opened;
  marks *m = session;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  bool ours = self->pid == getpid();
  if (ours && m->quiet) kmbi_cupti_quiet_end();
  if (ours && kmbi_cuda_reenter(self, &before)) {
    for (uint32_t i = 0; i < m->count && m->events[i]; i++)
      (void)self->driver->cuEventDestroy(m->events[i]);
    if (self->space == &self->foreign)
      kmbi_cuda_space_close(self, &self->foreign);
    kmbi_cuda_leave(self, before);
  }
  self->space = &self->primary;
  self->streams_open = 0;
  self->marked = false;
  host->free(host->ctx, m, m->size);
}

/* Brings this file into the program. */
void kmbi_backend_cuda_sessions(void) {}
