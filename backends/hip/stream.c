/* Streams, and waiting for them with a deadline: nothing here blocks in HIP,
 * for what never ends would never return. */
#include "hip_backend.h"

#include <time.h>

/* For so long a wait only asks again; later it sleeps between. */
#define SPIN_NS 2e6
#define NAP_NS 50000

typedef enum waited { DONE, FAILED, LATE } waited;

static waited wait_for(kmbi_hip *self, kmbi_hip_stream stream, double limit_ns,
                       kmb_status *status) {
  double start = kmbi_hip_now();
  bool asked_early = false;
  for (;;) {
    kmbi_hip_result result = self->api->hipStreamQuery(stream);
    double passed = kmbi_hip_now() - start;
    bool late = limit_ns > 0 && passed > limit_ns;
    bool ready = result != KMBI_HIP_NotReady;
    asked_early = asked_early || !ready;
    /* "Not ready" stays behind as the last error, and is nobody's. */
    if ((ready || late) && asked_early) (void)self->api->hipGetLastError();
    if (ready) {
      *status = kmbi_hip_check(self, result, "work on the stream");
      return *status ? FAILED : DONE;
    }
    if (late) return LATE;
    if (passed > SPIN_NS)
      nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
}

bool kmbi_hip_ends_within(kmbi_hip *self, kmbi_hip_stream stream,
                          double limit_ns, kmb_status *status) {
  return wait_for(self, stream, limit_ns, status) != LATE;
}

kmb_status kmbi_hip_finish(kmbi_hip *self, kmbi_hip_stream stream) {
  kmb_status status = KMB_OK;
  if (wait_for(self, stream, self->deadline_ns, &status) != LATE) return status;
  self->lost = true;
  return KMBI_HIP_FAIL(self, KMB_ERR_LOST, 0,
                       "work on hip:%d did not end within %g s: the device is "
                       "lost to this process and what it holds there is "
                       "abandoned; \"hip:%d:deadline=SECONDS\" waits longer",
                       self->device, self->deadline_ns / 1e9, self->device);
}

kmb_status kmbi_hip_stream_wait(void *opened, void *stream, double limit_ns) {
  kmbi_hip *self = opened;
  int before = 0;
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status && wait_for(self, stream, limit_ns, &status) == LATE)
    status = KMBI_HIP_FAIL(self, KMB_ERR_TIMEOUT, 0,
                           "the stream's work did not end within %g s",
                           limit_ns / 1e9);
  kmbi_hip_leave(self, before);
  return status;
}

/* The caller's stream must be on our device, where HIP can tell. */
static kmb_status adopt(kmbi_hip *self, kmbi_hip_stream stream) {
  int device = self->device;
  if (!self->api->hipStreamGetDevice) return KMB_OK;
  kmb_status status = KMBI_HIP(self, hipStreamGetDevice, stream, &device);
  if (status || device == self->device) return status;
  return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                       "the stream belongs to hip:%d, not to hip:%d", device,
                       self->device);
}

/* Between the first open and the last close our device is current, since the
 * engine and the caller's callbacks work on it. Candidates that take turns hold
 * a stream each. */
kmb_status kmbi_hip_stream_open(void *opened, void *callers, void **stream) {
  kmbi_hip *self = opened;
  int before = 0;
  *stream = NULL;
  kmb_status status = kmbi_hip_enter(self, &before);
  kmbi_hip_stream handle = callers;
  if (!status)
    status =
        callers ? adopt(self, handle) : kmbi_hip_space_stream(self, &handle);
  if (status) {
    kmbi_hip_leave(self, before);
    return status;
  }
  if (!self->streams_open++) self->before = before;
  *stream = handle;
  return KMB_OK;
}

void kmbi_hip_stream_close(void *opened, void *stream) {
  kmbi_hip *self = opened;
  (void)stream;
  if (!self->streams_open || --self->streams_open) return;
  self->held_up = NULL;
  kmbi_hip_leave(self, self->before);
}
