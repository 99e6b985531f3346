/* Streams: what is enqueued happens in order once its time has come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

void sim_append(sim_op ***end, const sim_op *op) {
  sim_op *copy = malloc(sizeof *copy);
  if (!copy) abort();
  *copy = *op;
  copy->next = NULL;
  **end = copy;
  *end = &copy->next;
}

static size_t queued;

void sim_free_ops(sim_op *first) {
  while (first) {
    sim_op *next = first->next;
    free(first);
    first = next;
  }
}

/* NULL and 1 are the legacy stream, 2 the calling thread's own. */
struct CUstream_st *sim_stream_of(struct CUstream_st *handle) {
  struct CUctx_st *context = sim_current();
  if ((uintptr_t)handle > KMBI_CU_STREAM_PER_THREAD)
    return sim_is(handle, SIM_STREAM) ? handle : NULL;
  if (!context) return NULL;
  if (!context->legacy) {
    context->legacy = sim_make(SIM_STREAM, sizeof *context->legacy);
    context->legacy->legacy = true;
    context->legacy->end = &context->legacy->first;
  }
  return context->legacy;
}

void sim_enqueue(struct CUstream_st *stream, const sim_op *op) {
  sim_op copy = *op;
  copy.submitted = sim_now();
  queued++;
  sim_append(&stream->end, &copy);
  if (op->kind == RECORD) {
    op->event->pending++;
    op->event->asked++;
  }
}

void sim_clear(struct CUstream_st *stream) {
  for (const sim_op *op = stream->first; op; op = op->next)
    queued--;
  sim_free_ops(stream->first);
  stream->first = NULL;
  stream->end = &stream->first;
}

void sim_sticky(struct CUctx_st *context, unsigned error) {
  if (!context->error) context->error = error;
  for (sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == SIM_STREAM && o->context == context)
      sim_clear((struct CUstream_st *)(void *)o);
}

static uint64_t noise(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % (2 * SIM_NOISE + 1);
}

static uint64_t copy(const struct CUstream_st *stream, const sim_op *op) {
  struct CUctx_st *context = stream->object.context;
  uint64_t on_device = op->value ? op->to : op->from;
  if (!sim_reaches(context, on_device, op->bytes)) return 0;
  if (op->value == 2 && !sim_reaches(context, op->from, op->bytes)) return 0;
  memcpy((void *)(uintptr_t)op->to, (const void *)(uintptr_t)op->from,
         (size_t)op->bytes);
  if (op->value == 2) /* within the device: read and written */
    return sim_traffic_ns(sim_access(op->from, op->bytes, false)) +
           sim_traffic_ns(sim_access(op->to, op->bytes, true));
  return sim_traffic_ns((sim_traffic){.cold = op->bytes});
}

static uint64_t set(const struct CUstream_st *stream, const sim_op *op) {
  if (!sim_reaches(stream->object.context, op->to, op->bytes)) return 0;
  uint32_t *to = (uint32_t *)(uintptr_t)op->to;
  for (uint64_t i = 0; i < op->bytes / 4; i++)
    to[i] = op->value;
  return sim_traffic_ns(sim_access(op->to, op->bytes, true));
}

/* How long after an event's time the first work starts. */
static uint64_t launch_ns(const struct CUstream_st *stream, const sim_op *op) {
  if (!stream->after_event || (op->in_graph && !op->first)) return 0;
  uint64_t ns = op->in_graph ? SIM_EVENT_TO_GRAPH + op->place * SIM_TICK
                             : SIM_EVENT_TO_KERNEL;
  if (stream->swept && op->kind == KERNEL)
    ns += SIM_FETCH * strlen(op->kernel->sizes);
  return ns;
}

static bool is_kernel(const sim_op *op, const char *name) {
  return op->kind == KERNEL && strcmp(op->kernel->name, name) == 0;
}

/* A test's kernels are launched programmatically and let the next one go as
 * they start; the library's are not and do not. */
static bool is_programmatic(const sim_op *op) {
  return sim_set()->programmatic && op->kind == KERNEL && !op->in_graph &&
         strncmp(op->kernel->name, "kmb_", 4) != 0;
}

/* Device work: how long it takes and when the next may start. */
static void work(struct CUstream_st *stream, sim_op *op, uint64_t start) {
  uint64_t takes = SIM_KERNEL - SIM_NOISE + noise();
  struct CUctx_st *context = stream->object.context;
  start += launch_ns(stream, op);
  stream->after_event = false;
  stream->swept = is_kernel(op, "kmb_sweep") ||
                  (stream->swept && is_kernel(op, "kmb_touch"));
  sim_traffic before = sim_traffic_sum();
  if (op->kind == KERNEL) takes += op->kernel->run(context, op->a);
  if (op->kind == COPY) takes += copy(stream, op);
  if (op->kind == SET) takes += set(stream, op);
  sim_count(op, before);
  if (context->error) return;
  uint64_t end = start + takes;
  stream->free_at = end > stream->free_at ? end : stream->free_at;
  stream->next_at = is_programmatic(op) ? start + SIM_TICK : 0;
  if (op->in_graph) stream->free_at -= SIM_NODE_SAVES;
  if (op->in_graph && sim_tracing()) stream->free_at += SIM_NODE_TRACED;
  sim_trace_op(stream, op, start, end);
}

static void record(struct CUstream_st *stream, sim_op *op, uint64_t start) {
  struct CUevent_st *event = op->event;
  stream->free_at = start + SIM_EVENT;
  stream->after_event = true;
  if (!sim_is(event, SIM_EVENT_OBJECT)) return;
  event->at = start;
  event->pending--;
  event->done++;
  event->recorded = true;
}

static bool is_collective(const sim_op *op) {
  return is_kernel(op, "sim_all_reduce") || is_kernel(op, "sim_reduce_scatter");
}

/* Whether all ranks have come. */
static bool collective_over(const struct CUstream_st *stream, sim_op *op) {
  return is_kernel(op, "sim_all_reduce")
             ? sim_all_reduce_over(op)
             : sim_reduce_scatter_over(stream->object.context, op);
}

static bool hangs(const sim_op *op) {
  return is_kernel(op, "test_hang") &&
         *(volatile uint32_t *)(uintptr_t)op->a[0].u64 == 0;
}

static bool wait_over(struct CUstream_st *stream, const sim_op *op) {
  const uint32_t *word = (const uint32_t *)(uintptr_t)op->to;
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) >= op->value) return true;
  stream->waited = true;
  return false;
}

/* Runs the next operation if its time has come. */
static bool step(struct CUstream_st *stream) {
  sim_op *op = stream->first;
  if (!op) return false;
  bool early = stream->next_at && is_programmatic(op);
  uint64_t free_at = early ? stream->next_at : stream->free_at;
  uint64_t start = free_at > op->submitted ? free_at : op->submitted;
  if (start > sim_now() || hangs(op)) return false;
  if (op->kind == WAIT && !wait_over(stream, op)) return false;
  if (op->kind == JOIN && op->event->done < op->to) return false;
  if (is_kernel(op, "kmb_barrier")) {
    if (!sim_barrier_over(stream->object.context, op)) return false;
    start = sim_now();
  }
  if (is_collective(op)) {
    if (!collective_over(stream, op)) return false;
    start = sim_now();
  }
  stream->first = op->next;
  queued--;
  if (!stream->first) stream->end = &stream->first;
  stream->next_at = 0;
  if (op->kind == WAIT) {
    stream->free_at = (stream->waited ? sim_now() : start) + SIM_GATE;
    stream->waited = false;
  } else if (op->kind == JOIN) {
    stream->free_at = op->event->at > start ? op->event->at : start;
  } else if (op->kind == WRITE) {
    __atomic_store_n((uint32_t *)(uintptr_t)op->to, op->value,
                     __ATOMIC_SEQ_CST);
    stream->free_at = start + SIM_TICK;
  } else if (op->kind == RECORD) {
    record(stream, op, start);
  } else {
    work(stream, op, start);
  }
  free(op);
  return !stream->object.context->error;
}

static bool pump_once(void) {
  bool moved = false;
  for (sim_object *o = sim_objects(); o; o = o->next) {
    if (o->type != SIM_STREAM) continue;
    struct CUstream_st *stream = (struct CUstream_st *)(void *)o;
    while (step(stream))
      moved = true;
  }
  return moved;
}

/* One stream may have waited for what another did. */
void sim_pump(void) {
  while (queued && pump_once()) {
  }
}

bool sim_idle(const struct CUstream_st *stream) {
  return !stream->first && stream->free_at <= sim_now();
}

bool sim_all_idle(void) {
  sim_pump();
  for (const sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == SIM_STREAM &&
        !sim_idle((const struct CUstream_st *)(const void *)o))
      return false;
  return true;
}

void sim_advance(const struct CUstream_st *stream) {
  while (!sim_idle(stream) && stream->free_at > sim_now()) {
    sim_pass(stream->free_at - sim_now());
    sim_pump();
  }
}

/* One step towards the end of all work; false if there is none left. What never
 * ends would hold up the caller for ever: here it ends the process. */
static bool progress(const char *call, time_t *since) {
  uint64_t next = UINT64_MAX;
  const struct CUctx_st *context = sim_current();
  bool gated = false, polls = false, busy = false;
  sim_pump();
  for (const sim_object *o = sim_objects(); o; o = o->next) {
    const struct CUstream_st *s = (const struct CUstream_st *)(const void *)o;
    if (o->type != SIM_STREAM || sim_idle(s)) continue;
    busy = busy || !context || o->context == context;
    if (s->free_at < next) next = s->free_at;
    gated = gated || (s->first && s->first->kind == WAIT);
    polls = polls || (s->first && (is_kernel(s->first, "kmb_barrier") ||
                                   is_collective(s->first)));
  }
  if (!busy) return false;
  if (next > sim_now()) {
    sim_pass(next - sim_now());
  } else if (!(gated || polls) || !sim_rescue(polls, since)) {
    fprintf(stderr, "%s would wait for ever\n", call);
    abort();
  }
  return true;
}

/* Some calls wait for all work of the context. */
void sim_drain(const char *call) {
  time_t since = 0;
  while (progress(call, &since)) {
  }
}

/* Those that start work wait while the queue is full. */
void sim_make_room(const char *call) {
  unsigned depth = sim_set()->queue_depth;
  time_t since = 0;
  while (depth && queued >= depth && progress(call, &since)) {
  }
}

/* Captures. */

unsigned sim_unsafe(void) {
  unsigned result = 0;
  for (sim_object *o = sim_objects(); o; o = o->next) {
    if (o->type != SIM_STREAM) continue;
    sim_capture *c = &((struct CUstream_st *)(void *)o)->capture;
    bool concerned = c->mode == 0 || pthread_equal(c->owner, pthread_self());
    if (!c->active || !concerned) continue;
    c->invalid = true;
    result = KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

bool sim_capturing(const struct CUctx_st *context) {
  for (sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == SIM_STREAM && o->context == context &&
        ((struct CUstream_st *)(void *)o)->capture.active)
      return true;
  return false;
}

void sim_invalidate_all(struct CUctx_st *context) {
  for (sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == SIM_STREAM && o->context == context &&
        ((struct CUstream_st *)(void *)o)->capture.active)
      ((struct CUstream_st *)(void *)o)->capture.invalid = true;
}
