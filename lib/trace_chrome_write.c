/* A trace as Chrome JSON, so that Perfetto keeps all of it. Readers keep times
 * as doubles of µs: where those would lose a nanosecond all of them count from
 * a base, which our own reader adds. */
#include "error.h"
#include "out.h"
#include "trace_tracks.h"

typedef struct writer {
  kmbi_out out;
  const kmb_trace *trace;
  kmbi_tracks tracks;
  uint8_t *starts; /* a bit for each call from which an arrow goes */
  uint64_t base;
  bool some; /* events are there */
} writer;

static const char *category_of(kmb_op_kind kind) {
  return kind == KMB_OP_MEMCPY   ? "gpu_memcpy"
         : kind == KMB_OP_MEMSET ? "gpu_memset"
         : kind == KMB_OP_GRAPH  ? "gpu_graph"
                                 : "kernel";
}

/* µs with three decimals: whole nanoseconds. */
static void put_us(kmbi_out *out, const char *key, uint64_t ns) {
  kmbi_out_format(out, ", \"%s\": %llu.%03u", key,
                  (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

/* A member of an object that is not its first. */
static void put_u64(kmbi_out *out, const char *key, uint64_t number) {
  kmbi_out_u64_member(out, ", ", key, number);
}

/* Perfetto takes a quote behind a backslash for a part of the name, even if the
 * backslash is escaped itself, and then refuses the file. */
static void put_text(kmbi_out *out, const kmbi_name *name) {
  bool last = name->size && name->text[name->size - 1] == '\\';
  kmbi_out_escaped(out, name->text, name->size - last);
  kmbi_out_put(out, last ? "\\u005c\"" : "\"");
}

/* As far as a double of µs tells two nanoseconds apart. */
#define LATEST_EXACT ((UINT64_C(1) << 43) * 1000)

static uint64_t base_of(const kmb_trace *trace) {
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    if (op->start < first) first = op->start;
    if (op->end > last) last = op->end;
  }
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    const kmbi_call *call = kmbi_call_at(trace, i);
    if (call->start < first) first = call->start;
    if (call->end > last) last = call->end;
  }
  for (uint32_t i = 0; i < trace->ranges.count; i++) {
    const kmbi_range *range = kmbi_range_at(trace, i);
    if (range->start < first) first = range->start;
    if (range->end > last) last = range->end;
  }
  return last < LATEST_EXACT ? 0 : first;
}

/* Tracks. */

static void put_object(writer *w) {
  kmbi_out_put(&w->out, w->some ? ",\n  {" : "\n  {");
  w->some = true;
}

static void put_meta(writer *w, const char *what, const kmbi_track *track) {
  put_object(w);
  kmbi_out_format(&w->out,
                  "\"ph\": \"M\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u, "
                  "\"args\": {\"name\": \"",
                  what, (unsigned)track->pid, (unsigned)track->tid);
}

static void end_meta(writer *w, const kmbi_track *track) {
  if (track->part > 1) kmbi_out_format(&w->out, " (%u)", (unsigned)track->part);
  kmbi_out_put(&w->out, "\"}}");
}

static void name_device(writer *w, const kmbi_track *track,
                        const kmbi_lane *lane) {
  const kmbi_trace_device *device =
      kmbi_rows_at(&w->trace->devices, lane->device);
  const kmbi_name *name = kmbi_name_at(w->trace, device->name);
  put_meta(w, "process_name", track);
  if (device->id == KMBI_UNKNOWN)
    kmbi_out_put(&w->out, "a device");
  else
    kmbi_out_format(&w->out, "device %llu", (unsigned long long)device->id);
  if (name->size) kmbi_out_put(&w->out, ": ");
  put_text(&w->out, name);
  kmbi_out_put(&w->out, "}}");
}

/* A stream is said with its context where its track cannot have its number,
 * as that of another context has it. */
static void name_stream(writer *w, const kmbi_track *track, uint32_t index) {
  const kmbi_lane *lane = kmbi_lane_at(w->trace, index);
  name_device(w, track, lane);
  put_meta(w, "thread_name", track);
  if (!(lane->flags & KMB_OP_HAS_STREAM))
    kmbi_out_put(&w->out, "operations");
  else
    kmbi_out_format(&w->out, "stream %llu", (unsigned long long)lane->stream);
  if (!w->tracks.lanes[index])
    kmbi_out_format(&w->out, ", context %llu, process %llu",
                    (unsigned long long)lane->context,
                    (unsigned long long)lane->process);
  end_meta(w, track);
}

static void name_thread(writer *w, const kmbi_track *track,
                        const kmbi_thread *thread) {
  if (track->part == 1 && track->tid == thread->thread) return;
  put_meta(w, "thread_name", track);
  kmbi_out_format(&w->out, "thread %llu", (unsigned long long)thread->thread);
  end_meta(w, track);
}

/* Events. */

static void put_event(writer *w, const char *category, const kmbi_name *name,
                      const kmbi_track *track, uint64_t start, uint64_t end) {
  put_object(w);
  kmbi_out_format(&w->out, "\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"",
                  category);
  put_text(&w->out, name);
  kmbi_out_format(&w->out, ", \"pid\": %u, \"tid\": %u", (unsigned)track->pid,
                  (unsigned)track->tid);
  put_us(&w->out, "ts", start - w->base);
  put_us(&w->out, "dur", end - start);
}

/* An arrow from a call to what it launched; ids count calls from 1 on. */
static void put_arrow(writer *w, const char *direction, uint32_t call) {
  kmbi_out_format(&w->out, ", \"bind_id\": %llu, \"%s\": true",
                  (unsigned long long)call + 1, direction);
}

/* The call where the arrow to an operation begins; KMBI_NO_ROW for none.
 * Arrows do not point back in time, nor where clocks disagree. */
static uint32_t arrow_from(const kmb_trace *trace, const kmbi_op *op) {
  uint32_t call = kmbi_op_call(trace, op);
  if (call == KMBI_NO_ROW || kmbi_call_at(trace, call)->start >= op->start)
    return KMBI_NO_ROW;
  return call;
}

/* As the torch profiler does. */
static void put_shape(kmbi_out *out, const kmbi_shape *s) {
  kmbi_out_format(out, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]",
                  (unsigned)s->grid[0], (unsigned)s->grid[1],
                  (unsigned)s->grid[2], (unsigned)s->block[0],
                  (unsigned)s->block[1], (unsigned)s->block[2]);
}

static void put_op_args(writer *w, const kmbi_op *op) {
  const kmbi_lane *lane = kmbi_lane_at(w->trace, op->lane);
  const kmbi_trace_device *device =
      kmbi_rows_at(&w->trace->devices, lane->device);
  kmbi_out_u64_member(&w->out, ", \"args\": {", "correlation", op->correlation);
  if (device->id != KMBI_UNKNOWN) put_u64(&w->out, "device", device->id);
  if (lane->flags & KMB_OP_HAS_STREAM) {
    put_u64(&w->out, "context", lane->context);
    put_u64(&w->out, "stream", lane->stream);
  }
  if (op->bytes != KMBI_UNKNOWN) put_u64(&w->out, "bytes", op->bytes);
  if (op->shape) put_shape(&w->out, kmbi_shape_at(w->trace, op->shape));
  /* Without it an operation is of whatever process the calls are. */
  if (!w->trace->one_process) put_u64(&w->out, "process", lane->process);
  kmbi_out_put(&w->out, "}}");
}

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to write a trace");
}

static kmb_status put_op(writer *w, uint32_t rank) {
  const kmbi_op *op = kmbi_op_at(w->trace, rank);
  const kmbi_name *name = kmbi_name_at(w->trace, op->name);
  kmbi_track *track = kmbi_tracks_op(&w->tracks, op);
  if (!track) return no_memory();
  if (!track->named) name_stream(w, track, op->lane);
  track->named = true;
  put_event(w, category_of(name->kind), name, track, op->start, op->end);
  uint32_t call = arrow_from(w->trace, op);
  if (call != KMBI_NO_ROW) put_arrow(w, "flow_in", call);
  put_op_args(w, op);
  return KMB_OK;
}

/* A call or a range, up to its arguments. NULL without memory. */
static kmbi_track *put_host(writer *w, const char *category, uint32_t name,
                            uint32_t index, uint64_t start, uint64_t end) {
  kmbi_track *track = kmbi_tracks_host(&w->tracks, index, start, end);
  if (!track) return NULL;
  if (!track->named)
    name_thread(w, track, kmbi_rows_at(&w->trace->threads, index));
  track->named = true;
  put_event(w, category, kmbi_name_at(w->trace, name), track, start, end);
  return track;
}

/* The ids of a thread, where its track cannot have them. */
static bool put_ids(writer *w, const kmbi_track *track, uint32_t index,
                    const char *before) {
  const kmbi_thread *thread = kmbi_rows_at(&w->trace->threads, index);
  if (track->pid == thread->process && track->tid == thread->thread)
    return false;
  kmbi_out_u64_member(&w->out, before, "kmb_process", thread->process);
  put_u64(&w->out, "kmb_thread", thread->thread);
  return true;
}

static kmb_status put_call(writer *w, uint32_t rank) {
  const kmbi_call *call = kmbi_call_at(w->trace, rank);
  const kmbi_track *track = put_host(w, "cuda_runtime", call->name,
                                     call->thread, call->start, call->end);
  if (!track) return no_memory();
  if (w->starts[rank / 8] >> rank % 8 & 1) put_arrow(w, "flow_out", rank);
  kmbi_out_u64_member(&w->out, ", \"args\": {", "correlation",
                      call->correlation);
  put_ids(w, track, call->thread, ", ");
  kmbi_out_put(&w->out, "}}");
  return KMB_OK;
}

static kmb_status put_range(writer *w, uint32_t rank) {
  const kmbi_range *range = kmbi_range_at(w->trace, rank);
  const kmbi_track *track = put_host(w, "user_annotation", range->name,
                                     range->thread, range->start, range->end);
  if (!track) return no_memory();
  bool ids = put_ids(w, track, range->thread, ", \"args\": {");
  kmbi_out_put(&w->out, ids ? "}}" : "}");
  return KMB_OK;
}

/* What encloses the other comes first, and of two equal ones the range. */
static bool is_range_next(const kmb_trace *trace, uint32_t range,
                          uint32_t call) {
  if (range == trace->ranges.count) return false;
  if (call == trace->calls.count) return true;
  const kmbi_range *x = kmbi_range_at(trace, range);
  const kmbi_call *y = kmbi_call_at(trace, call);
  if (x->thread != y->thread) return x->thread < y->thread;
  if (x->start != y->start) return x->start < y->start;
  return x->end >= y->end;
}

/* Those of the host first: an arrow's end is looked for once its beginning was
 * seen. */
static kmb_status put_events(writer *w) {
  const kmb_trace *trace = w->trace;
  kmb_status status = KMB_OK;
  uint32_t call = 0, range = 0;
  while (!status && !w->out.status &&
         (call < trace->calls.count || range < trace->ranges.count))
    status = is_range_next(trace, range, call) ? put_range(w, range++)
                                               : put_call(w, call++);
  for (uint32_t i = 0; i < trace->ops.count && !status && !w->out.status; i++)
    status = put_op(w, i);
  return status;
}

/* What no other tool knows; left out where it is 0. */
static void put_ours(kmbi_out *out, const char *key, uint64_t value) {
  if (value)
    kmbi_out_format(out, " \"kmb_%s\": \"%llu\",\n", key,
                    (unsigned long long)value);
}

/* As Kineto has them, those that have a name. */
static void put_devices(writer *w) {
  const kmbi_rows *devices = &w->trace->devices;
  bool some = false;
  for (uint32_t i = 0; i < devices->count; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(devices, i);
    const kmbi_name *name = kmbi_name_at(w->trace, device->name);
    if (device->id == KMBI_UNKNOWN || !name->size) continue;
    kmbi_out_put(&w->out, some ? ", " : " \"deviceProperties\": [");
    kmbi_out_put(&w->out, "{\"id\": ");
    kmbi_out_u64(&w->out, device->id);
    kmbi_out_put(&w->out, ", \"name\": \"");
    put_text(&w->out, name);
    kmbi_out_put(&w->out, "}");
    some = true;
  }
  if (some) kmbi_out_put(&w->out, "],\n");
}

static kmb_status put_trace(writer *w) {
  const kmb_trace *trace = w->trace;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    uint32_t call = arrow_from(trace, kmbi_op_at(trace, i));
    if (call != KMBI_NO_ROW) w->starts[call / 8] |= (uint8_t)(1u << call % 8);
  }
  kmbi_out_put(&w->out, "{\"displayTimeUnit\": \"ns\",\n");
  if (w->base) {
    kmbi_out_put(&w->out, " \"kmb_base_ns\": ");
    kmbi_out_u64(&w->out, w->base);
    kmbi_out_put(&w->out, ",\n");
  }
  put_ours(&w->out, "dropped", trace->dropped);
  put_ours(&w->out, "driver_added_ns", trace->driver_added);
  put_ours(&w->out, "runtime_added_ns", trace->runtime_added);
  put_devices(w);
  kmbi_out_put(&w->out, " \"traceEvents\": [");
  kmb_status status = put_events(w);
  if (!status) kmbi_out_put(&w->out, "]}\n");
  return status;
}

kmb_status kmb_trace_write_chrome(const kmb_trace *trace, kmb_write_fn write,
                                  void *user) {
  writer w = {.trace = trace};
  if (!trace || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_write_chrome: %s is NULL",
                     !trace ? "trace" : "write");
  kmb_status status = kmbi_out_begin(&w.out, write, user);
  if (status) return status;
  w.base = base_of(trace);
  size_t size = trace->calls.count / 8 + 1;
  w.starts = kmbi_alloc(&trace->memory, size, 1);
  status = kmbi_tracks_init(&w.tracks, trace);
  if (!status) status = w.starts ? put_trace(&w) : no_memory();
  kmbi_tracks_release(&w.tracks);
  kmbi_free(&trace->memory, w.starts, size, 1);
  kmb_status written = kmbi_out_end(&w.out);
  return status ? status : written;
}
