/* A trace as Chrome JSON. Readers keep times as doubles of µs: where those
 * would lose a nanosecond all of them count from a base, which our own reader
 * adds. */
#include "error.h"
#include "out.h"
#include "trace.h"

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

static void put_event(kmbi_out *out, bool first, const char *category,
                      const char *name) {
  kmbi_out_format(out, "%s  {\"ph\": \"X\", \"cat\": \"%s\", \"name\": ",
                  first ? "\n" : ",\n", category);
  kmbi_out_string(out, name);
}

/* As far as a double of µs tells two nanoseconds apart. */
#define LATEST_EXACT (1ULL << 53)

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

/* As the torch profiler does. */
static void put_shape(kmbi_out *out, const kmbi_shape *s) {
  kmbi_out_format(out, "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], ",
                  (unsigned)s->grid[0], (unsigned)s->grid[1],
                  (unsigned)s->grid[2], (unsigned)s->block[0],
                  (unsigned)s->block[1], (unsigned)s->block[2]);
}

static void put_op(kmbi_out *out, const kmb_trace *trace, uint64_t base,
                   uint32_t rank, bool first) {
  const kmbi_op *op = kmbi_op_at(trace, rank);
  const kmbi_lane *lane = kmbi_lane_at(trace, op->lane);
  const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, lane->device);
  const kmbi_name *name = kmbi_name_at(trace, op->name);
  bool known = device->id != KMBI_UNKNOWN;
  put_event(out, first, category_of(name->kind), name->text);
  kmbi_out_format(out, ", \"pid\": %llu, \"tid\": %llu",
                  (unsigned long long)(known ? device->id : 0),
                  (unsigned long long)lane->stream);
  put_us(out, "ts", op->start - base);
  put_us(out, "dur", op->end - op->start);
  kmbi_out_put(out, ", \"args\": {");
  if (known)
    kmbi_out_format(out, "\"device\": %llu, ", (unsigned long long)device->id);
  if (lane->flags & KMB_OP_HAS_STREAM)
    kmbi_out_format(out, "\"context\": %llu, \"stream\": %llu, ",
                    (unsigned long long)lane->context,
                    (unsigned long long)lane->stream);
  if (op->bytes != KMBI_UNKNOWN)
    kmbi_out_format(out, "\"bytes\": %llu, ", (unsigned long long)op->bytes);
  if (op->shape) put_shape(out, kmbi_shape_at(trace, op->shape));
  /* Without it an operation is of whatever process the calls are. */
  if (!trace->one_process)
    kmbi_out_format(out, "\"process\": %llu, ",
                    (unsigned long long)lane->process);
  kmbi_out_format(out, "\"correlation\": %llu}}",
                  (unsigned long long)op->correlation);
}

static void put_host(kmbi_out *out, const kmb_trace *trace, uint32_t thread,
                     uint64_t start, uint64_t end) {
  const kmbi_thread *t = kmbi_rows_at(&trace->threads, thread);
  kmbi_out_format(out, ", \"pid\": %llu, \"tid\": %llu",
                  (unsigned long long)t->process,
                  (unsigned long long)t->thread);
  put_us(out, "ts", start);
  put_us(out, "dur", end - start);
}

static void put_call(kmbi_out *out, const kmb_trace *trace, uint64_t base,
                     uint32_t rank, bool first) {
  const kmbi_call *call = kmbi_call_at(trace, rank);
  put_event(out, first, "cuda_runtime", kmbi_name_at(trace, call->name)->text);
  put_host(out, trace, call->thread, call->start - base, call->end - base);
  kmbi_out_format(out, ", \"args\": {\"correlation\": %llu}}",
                  (unsigned long long)call->correlation);
}

static void put_range(kmbi_out *out, const kmb_trace *trace, uint64_t base,
                      uint32_t rank, bool first) {
  const kmbi_range *range = kmbi_range_at(trace, rank);
  put_event(out, first, "user_annotation",
            kmbi_name_at(trace, range->name)->text);
  put_host(out, trace, range->thread, range->start - base, range->end - base);
  kmbi_out_put(out, "}");
}

/* What no other tool knows; left out where it is 0. */
static void put_ours(kmbi_out *out, const char *key, uint64_t value) {
  if (value)
    kmbi_out_format(out, " \"kmb_%s\": \"%llu\",\n", key,
                    (unsigned long long)value);
}

kmb_status kmb_trace_write_chrome(const kmb_trace *trace, kmb_write_fn write,
                                  void *user) {
  kmbi_out out;
  bool first = true;
  if (!trace || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_write_chrome: %s is NULL",
                     !trace ? "trace" : "write");
  kmb_status status = kmbi_out_begin(&out, write, user);
  if (status) return status;
  uint64_t base = base_of(trace);
  kmbi_out_put(&out, "{\"displayTimeUnit\": \"ns\",\n");
  if (base) {
    kmbi_out_put(&out, " \"kmb_base_ns\": ");
    kmbi_out_u64(&out, base);
    kmbi_out_put(&out, ",\n");
  }
  put_ours(&out, "dropped", trace->dropped);
  put_ours(&out, "driver_added_ns", trace->driver_added);
  put_ours(&out, "runtime_added_ns", trace->runtime_added);
  kmbi_out_put(&out, " \"traceEvents\": [");
  for (uint32_t i = 0; i < trace->ops.count && !out.status; i++, first = false)
    put_op(&out, trace, base, i, first);
  for (uint32_t i = 0; i < trace->calls.count && !out.status;
       i++, first = false)
    put_call(&out, trace, base, i, first);
  for (uint32_t i = 0; i < trace->ranges.count && !out.status;
       i++, first = false)
    put_range(&out, trace, base, i, first);
  kmbi_out_put(&out, "]}\n");
  return kmbi_out_end(&out);
}
