/* A caller-driven measurement: the caller marks where samples begin and end. */
#include "error.h"
#include "run.h"
#include "structs.h"

#include <unistd.h>

enum { FIRST_CAPACITY = 1024 };

struct kmb_session {
  kmb_device *device;
  kmb_bench_params params;
  double *samples;
  size_t count, capacity;
  uint64_t batch;  /* smallest number of iterations of a sample */
  double begun_ns; /* meaningful if `running` */
  bool running;
};

static void release(kmb_session *session) {
  kmb_device *device = session->device;
  kmbi_free(&device->memory, session->samples, session->capacity,
            sizeof(double));
  kmbi_free(&device->memory, session, 1, sizeof *session);
  if (device->pid == getpid())
    kmbi_device_leave(device);
  else
    kmbi_device_drop(device);
}

static kmb_status check(const kmb_session *session, bool running,
                        const char *what) {
  kmb_status status = kmbi_device_check(session->device, what);
  if (status) return status;
  if (session->running != running)
    return kmbi_fail(KMB_ERR_INVALID,
                     running ? "%s: no sample is running; begin one first"
                             : "%s: a sample is running; end it first",
                     what);
  return KMB_OK;
}

/* Room is made before the clock is read. */
static kmb_status make_room(kmb_session *session) {
  if (session->count < session->capacity) return KMB_OK;
  const kmbi_memory *memory = &session->device->memory;
  size_t capacity = session->capacity ? 2 * session->capacity : FIRST_CAPACITY;
  double *fresh = kmbi_alloc(memory, capacity, sizeof *fresh);
  if (!fresh)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %zu samples", capacity);
  if (session->count)
    memcpy(fresh, session->samples, session->count * sizeof *fresh);
  kmbi_free(memory, session->samples, session->capacity, sizeof *fresh);
  session->samples = fresh;
  session->capacity = capacity;
  return KMB_OK;
}

static kmb_status make_session(kmb_device *device,
                               const kmb_bench_params *params,
                               kmb_session **out) {
  kmbi_run probe = {.device = device};
  kmb_status status = kmbi_bench_params(params, false, &probe);
  if (status) return status;
  kmb_session *session = kmbi_alloc(&device->memory, 1, sizeof *session);
  if (!session) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a session");
  session->device = device;
  status = kmbi_copy_in(&session->params, sizeof session->params,
                        KMBI_BENCH_PARAMS_V1, params, "kmb_bench_params");
  if (!status) status = make_room(session);
  if (status) {
    kmbi_free(&device->memory, session, 1, sizeof *session);
    return status;
  }
  *out = session;
  return KMB_OK;
}

kmb_status kmb_session_begin(kmb_device *device, const kmb_bench_params *params,
                             kmb_session **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_session_begin: session is NULL");
  *out = NULL;
  kmb_status status = kmbi_device_enter(device, "kmb_session_begin");
  if (status) return status;
  status = make_session(device, params, out);
  if (status) kmbi_device_leave(device);
  return status;
}

kmb_status kmb_session_sample_begin(kmb_session *session) {
  if (!session)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_session_sample_begin: session is NULL");
  kmb_status status = check(session, false, "kmb_session_sample_begin");
  if (!status) status = make_room(session);
  if (status) return status;
  session->running = true;
  session->begun_ns = kmbi_now(session->device);
  return KMB_OK;
}

kmb_status kmb_session_sample_end(kmb_session *session, uint64_t iterations) {
  if (!session)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_session_sample_end: session is NULL");
  /* In a forked child the backend must not be called. */
  kmb_status status =
      kmbi_device_check(session->device, "kmb_session_sample_end");
  if (status) return status;
  double now = kmbi_now(session->device);
  status = check(session, true, "kmb_session_sample_end");
  if (status) return status;
  if (!iterations)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_session_sample_end: iterations must be at least 1");
  session->running = false;
  double span = now - session->begun_ns;
  session->samples[session->count++] = span / (double)iterations;
  if (!session->batch || iterations < session->batch)
    session->batch = iterations;
  return KMB_OK;
}

/* The clock's step in a per-iteration time; unknown leaves no dither. */
static double tick_of(const kmb_session *session) {
  kmb_device *device = session->device;
  double tick = 0;
  kmbi_error_state before;
  kmbi_error_save(&before);
  if (device->ops->attr_f64(device->self, KMB_DEVICE_CLOCK_TICK_NS, &tick))
    tick = 0;
  kmbi_error_restore(&before);
  return session->batch ? tick / (double)session->batch : tick;
}

kmb_status kmb_session_end(kmb_session *session, kmb_result **out) {
  if (out) *out = NULL;
  if (!session)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_session_end: session is NULL");
  kmb_status status = kmbi_device_check(session->device, "kmb_session_end");
  if (!status && !out)
    status = kmbi_fail(KMB_ERR_INVALID, "kmb_session_end: result is NULL");
  if (!status && !session->count)
    status =
        kmbi_fail(KMB_ERR_INVALID, "kmb_session_end: no sample was completed");
  if (!status)
    status =
        kmbi_from_samples(session->device, &session->params, session->samples,
                          session->count, tick_of(session), out);
  release(session);
  return status;
}

void kmb_session_abandon(kmb_session *session) {
  if (session) release(session);
}
