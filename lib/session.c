/* A caller-driven measurement: the caller marks where samples begin and end,
 * on the host's clock or, by marks on its stream, on the device's. */
#include "error.h"
#include "run.h"
#include "structs.h"

#include <stdio.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 1024, PAIRS = 256, REASON_SIZE = 192 };

struct kmb_session {
  kmb_device *device;
  kmb_bench_params params;
  double *samples;
  size_t count, capacity;
  uint64_t batch;  /* smallest number of iterations of a sample */
  double begun_ns; /* meaningful if `running` */
  /* On the device's clock: pair p is marks 2p and 2p + 1; those that wait to be
   * read lie in a ring. */
  void *marks;
  uint64_t iterations[PAIRS];
  uint32_t first, pending;
  uint64_t invalid; /* samples whose time cannot be */
  char reason[REASON_SIZE];
  bool running;
};

static void release(kmb_session *session) {
  kmb_device *device = session->device;
  if (session->marks) device->ops->session_close(device->self, session->marks);
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

/* Room is made before a clock is read. */
static kmb_status make_room(kmb_session *session, size_t count) {
  if (session->count + count <= session->capacity) return KMB_OK;
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

static void keep(kmb_session *session, double span_ns, uint64_t iterations) {
  session->samples[session->count++] = span_ns / (double)iterations;
  if (!session->batch || iterations < session->batch)
    session->batch = iterations;
}

/* The device's clock. */

/* Whatever is used of the four functions, all have to be there. */
static bool has_marks(const kmb_device *device) {
  return KMBI_HAS(device->ops, session_open) &&
         KMBI_HAS(device->ops, session_mark) &&
         KMBI_HAS(device->ops, session_read) &&
         KMBI_HAS(device->ops, session_close);
}

/* Nothing else brings the backend's sessions into a program. */
void kmbi_backend_cuda_sessions(void);

static kmb_status open_marks(kmb_session *session) {
  kmb_device *device = session->device;
  if (!session->params.stream)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "without the caller's stream a session takes host time");
  if (!has_marks(device))
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "backend %s has no sessions on the device's clock",
                     device->ops->name);
  kmbi_backend_cuda_sessions();
  kmb_status status = device->ops->session_open(
      device->self, session->params.stream, 2 * PAIRS, &session->marks);
  if (status) session->marks = NULL;
  return kmbi_device_note(device, status);
}

/* HOST if it is asked for, or if the device's clock cannot be had. */
static kmb_status choose_clock(kmb_session *session) {
  const kmb_bench_params *p = &session->params;
  bool required = p->flags & KMB_BENCH_REQUIRE_TIMER && p->timer;
  if (p->timer == KMB_TIMER_HOST) return KMB_OK;
  if (p->timer == KMB_TIMER_TRACE || p->timer == KMB_TIMER_GRAPH) {
    snprintf(session->reason, sizeof session->reason,
             "a session cannot use %s: it needs launches of its own",
             kmbi_timer_name(p->timer));
    if (required)
      return kmbi_fail(KMB_ERR_UNAVAILABLE, "kmb_session_begin: %s",
                       session->reason);
  }
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status = open_marks(session);
  if (!status || !kmbi_is_local(status) || required) return status;
  if (!session->reason[0])
    snprintf(session->reason, sizeof session->reason, "%s",
             kmb_last_error(NULL, NULL));
  kmbi_error_restore(&before);
  return KMB_OK;
}

/* Takes the oldest `count` samples out of the ring. */
static kmb_status read_marks(kmb_session *session, uint32_t count) {
  kmb_device *device = session->device;
  kmb_status status = make_room(session, count);
  for (; !status && count; count--) {
    uint32_t pair = session->first;
    double ns = 0;
    status = device->ops->session_read(device->self, session->marks, 2 * pair,
                                       2 * pair + 1, &ns);
    if (status) break;
    if (ns >= 0)
      keep(session, ns, session->iterations[pair]);
    else
      session->invalid++;
    session->first = (pair + 1) % PAIRS;
    session->pending--;
  }
  return kmbi_device_note(device, status);
}

static uint32_t next_pair(const kmb_session *session) {
  return (session->first + session->pending) % PAIRS;
}

static kmb_status mark(kmb_session *session, bool end) {
  kmb_device *device = session->device;
  uint32_t at = 2 * next_pair(session) + end;
  return kmbi_device_note(
      device, device->ops->session_mark(device->self, session->marks, at));
}

/* A half of them has most likely ended, so that this hardly waits. */
static kmb_status begin_marked(kmb_session *session) {
  kmb_status status = KMB_OK;
  if (session->pending == PAIRS) status = read_marks(session, PAIRS / 2);
  return status ? status : mark(session, false);
}

static kmb_status end_marked(kmb_session *session, uint64_t iterations) {
  kmb_status status = mark(session, true);
  if (status) return status;
  session->iterations[next_pair(session)] = iterations;
  session->pending++;
  session->running = false;
  return KMB_OK;
}

/* Both. */

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
  if (!status) status = make_room(session, 1);
  if (!status) status = choose_clock(session);
  if (status) {
    kmbi_free(&device->memory, session->samples, session->capacity,
              sizeof(double));
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
  if (!status && session->marks) status = begin_marked(session);
  if (!status && !session->marks) status = make_room(session, 1);
  if (status) return status;
  session->running = true;
  if (!session->marks) session->begun_ns = kmbi_now(session->device);
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
  double now = session->marks ? 0 : kmbi_now(session->device);
  status = check(session, true, "kmb_session_sample_end");
  if (status) return status;
  if (!iterations)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_session_sample_end: iterations must be at least 1");
  if (session->marks) return end_marked(session, iterations);
  session->running = false;
  keep(session, now - session->begun_ns, iterations);
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

/* The backend needs nothing of the session any more when the result is made. */
static kmb_status finish_marks(kmb_session *session) {
  kmb_device *device = session->device;
  kmb_status status = read_marks(session, session->pending);
  device->ops->session_close(device->self, session->marks);
  session->marks = NULL;
  return status;
}

static kmb_status make_result(kmb_session *session, kmb_result **out) {
  bool marked = session->marks != NULL;
  kmbi_given given = {.timer = marked ? KMB_TIMER_EVENT : KMB_TIMER_HOST,
                      .reason = session->reason[0] ? session->reason : NULL};
  kmb_status status = marked ? finish_marks(session) : KMB_OK;
  if (status) return status;
  given.invalid = session->invalid;
  if (!session->count && session->invalid)
    return kmbi_fail(KMB_ERR_VENDOR,
                     "kmb_session_end: none of %llu samples has a time that "
                     "can be; take host time",
                     (unsigned long long)session->invalid);
  if (!session->count)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_session_end: no sample was completed");
  status = kmbi_from_samples(session->device, &session->params, &given,
                             session->samples, session->count, tick_of(session),
                             out);
  if (status || !session->running) return status;
  kmbi_result_meta(*out, "session.unfinished",
                   "one sample was begun and not ended: it is left out", NULL);
  return kmbi_result_finish(out);
}

kmb_status kmb_session_end(kmb_session *session, kmb_result **out) {
  if (out) *out = NULL;
  if (!session)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_session_end: session is NULL");
  kmb_status status = kmbi_device_check(session->device, "kmb_session_end");
  if (!status)
    status =
        out ? make_result(session, out)
            : kmbi_fail(KMB_ERR_INVALID, "kmb_session_end: result is NULL");
  release(session);
  return status;
}

void kmb_session_abandon(kmb_session *session) {
  if (session) release(session);
}
