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

/* NULL and 2 are the null stream here. */
struct ihipStream_t *sim_stream_of(struct ihipStream_t *handle) {
  static struct ihipStream_t *null;
  if ((uintptr_t)handle > KMBI_HIP_STREAM_PER_THREAD)
    return sim_is(handle, SIM_STREAM) ? handle : NULL;
  if (!null) {
    null = sim_make(SIM_STREAM, sizeof *null);
    null->null = true;
    null->end = &null->first;
  }
  return null;
}

void sim_enqueue(struct ihipStream_t *stream, const sim_op *op) {
  sim_op copy = *op;
  copy.submitted = sim_now();
  copy.id = sim_trace_id();
  queued++;
  sim_append(&stream->end, &copy);
  if (op->kind == RECORD) op->event->pending++;
  if (op->kind == KERNEL) sim_trace_launch(op, stream->device);
}

void sim_clear(struct ihipStream_t *stream) {
  for (const sim_op *op = stream->first; op; op = op->next)
    queued--;
  sim_free_ops(stream->first);
  stream->first = NULL;
  stream->end = &stream->first;
}

static uint64_t noise(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % (2 * SIM_NOISE + 1);
}

static uint64_t copy(const sim_op *op) {
  if (!sim_reaches(op->value ? op->to : op->from, op->bytes)) return 0;
  memcpy((void *)(uintptr_t)op->to, (const void *)(uintptr_t)op->from,
         (size_t)op->bytes);
  return sim_traffic_ns((sim_traffic){.cold = op->bytes});
}

/* Beyond this nobody reads what was set: memory that is never written costs
 * nothing. */
enum { SET_MOST = 8 << 20 };

static uint64_t set(const sim_op *op) {
  if (!sim_reaches(op->to, op->bytes)) return 0;
  uint32_t *to = (uint32_t *)(uintptr_t)op->to;
  for (uint64_t i = 0; op->bytes <= SET_MOST && i < op->bytes / 4; i++)
    to[i] = op->value;
  return sim_traffic_ns(sim_access(op->to, op->bytes, true));
}

static bool is(const sim_op *op, const char *name) {
  return op->kind == KERNEL && strcmp(op->kernel->name, name) == 0;
}

/* Until what an operation stored is where the next one finds it. */
static uint64_t hand_over(const sim_op *op) {
  if (op->kind == KERNEL && op->kernel->silent) return 0;
  return is(op, "kmb_spin") && !op->a[1].u64 ? 0 : SIM_WRITE_BACK;
}

/* Device work: how long it takes and when the next may start. */
static void work(struct ihipStream_t *stream, sim_op *op, uint64_t start) {
  uint64_t takes = SIM_KERNEL - SIM_NOISE + noise();
  if (stream->after_event && (!op->in_graph || op->first))
    start += op->in_graph ? SIM_EVENT_TO_GRAPH : SIM_EVENT_TO_KERNEL;
  stream->after_event = false;
  if (op->kind == KERNEL) takes += op->kernel->run(op->a);
  if (op->kind == COPY) takes += copy(op);
  if (op->kind == SET) takes += set(op);
  if (sim_error()) return;
  stream->free_at = start + takes + hand_over(op);
  sim_trace_op(op, start, start + takes);
  if (op->in_graph) stream->free_at -= SIM_NODE_SAVES;
}

static void record(struct ihipStream_t *stream, sim_op *op, uint64_t start) {
  struct ihipEvent_t *event = op->event;
  stream->free_at = start + SIM_EVENT;
  stream->after_event = true;
  if (!sim_is(event, SIM_EVENT_OBJECT)) return;
  event->at = start;
  event->pending--;
  event->recorded = true;
}

static bool hangs(const sim_op *op) {
  return is(op, "test_hang") &&
         *(volatile uint32_t *)(uintptr_t)op->a[0].u64 == 0;
}

/* A look at host memory takes a microsecond; after so many the gate gives up.
 */
static bool gate_opens(struct ihipStream_t *stream, const sim_op *op,
                       uint64_t start) {
  uint32_t *gate = (uint32_t *)(uintptr_t)op->a[0].u64;
  uint32_t turn = op->a[1].u32;
  if (!sim_reaches(op->a[0].u64, 8)) return false;
  if ((int32_t)(__atomic_load_n(&gate[0], __ATOMIC_SEQ_CST) - turn) >= 0) {
    stream->free_at = (stream->waits_since ? sim_now() : start) + SIM_GATE;
    return true;
  }
  stream->waits_since = start;
  if (sim_now() - start < op->a[2].u64 * 1000) return false;
  __atomic_store_n(&gate[1], turn, __ATOMIC_SEQ_CST);
  stream->free_at = start + op->a[2].u64 * 1000;
  return true;
}

/* Runs the next operation if its time has come. */
static bool step(struct ihipStream_t *stream) {
  sim_op *op = stream->first;
  if (!op) return false;
  uint64_t start =
      stream->free_at > op->submitted ? stream->free_at : op->submitted;
  if (start > sim_now() || hangs(op)) return false;
  if (is(op, "sim_all_reduce")) {
    if (!sim_all_reduce_over(op)) return false;
    start = sim_now();
  }
  bool gate = is(op, "kmb_gate");
  if (gate && !gate_opens(stream, op, start)) return false;
  stream->waits_since = 0;
  stream->first = op->next;
  queued--;
  if (!stream->first) stream->end = &stream->first;
  if (op->kind == RECORD)
    record(stream, op, start);
  else if (!gate)
    work(stream, op, start);
  free(op);
  return !sim_error();
}

static bool pump_once(void) {
  bool moved = false;
  for (sim_object *o = sim_objects(SIM_STREAM); o; o = o->next)
    while (step((struct ihipStream_t *)(void *)o))
      moved = true;
  return moved;
}

/* One stream may have waited for what another did. */
void sim_pump(void) {
  while (queued && pump_once()) {
  }
}

bool sim_idle(const struct ihipStream_t *stream) {
  return !stream->first && stream->free_at <= sim_now();
}

/* A gate gives up in the end. */
static bool waits_at_gate(void) {
  for (const sim_object *o = sim_objects(SIM_STREAM); o; o = o->next)
    if (((const struct ihipStream_t *)(const void *)o)->waits_since)
      return true;
  return false;
}

/* Some calls wait for all work of the thread's device. What never ends would
 * hold up the caller for ever: here it ends the process. */
void sim_drain(const char *call) {
  for (;;) {
    uint64_t next = UINT64_MAX;
    sim_pump();
    for (const sim_object *o = sim_objects(SIM_STREAM); o; o = o->next) {
      const struct ihipStream_t *s =
          (const struct ihipStream_t *)(const void *)o;
      if (sim_idle(s) || s->device != sim_current()) continue;
      if (s->free_at < next) next = s->free_at;
    }
    if (next == UINT64_MAX) return;
    if (next <= sim_now() && waits_at_gate()) {
      sim_pass(1000000);
      continue;
    }
    if (next <= sim_now()) {
      fprintf(stderr, "%s would wait for ever\n", call);
      abort();
    }
    sim_pass(next - sim_now());
  }
}

/* Captures. */

unsigned sim_unsafe(void) {
  unsigned result = 0;
  for (sim_object *o = sim_objects(SIM_STREAM); o; o = o->next) {
    sim_capture *c = &((struct ihipStream_t *)(void *)o)->capture;
    bool concerned = c->mode == 0 || pthread_equal(c->owner, pthread_self());
    if (!c->active || !concerned) continue;
    c->invalid = true;
    result = KMBI_HIP_StreamCaptureUnsupported;
  }
  return result;
}

bool sim_capturing(void) {
  for (sim_object *o = sim_objects(SIM_STREAM); o; o = o->next)
    if (((struct ihipStream_t *)(void *)o)->capture.active) return true;
  return false;
}

void sim_invalidate_all(void) {
  for (sim_object *o = sim_objects(SIM_STREAM); o; o = o->next)
    if (((struct ihipStream_t *)(void *)o)->capture.active)
      ((struct ihipStream_t *)(void *)o)->capture.invalid = true;
}
