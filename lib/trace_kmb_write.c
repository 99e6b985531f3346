/* A trace as libkmb's own JSON: tables of what repeats, then rows of numbers
 * that point into them. docs/gaps.md describes it. */
#include "error.h"
#include "out.h"
#include "trace.h"

static const char *call_kind_name(kmb_call_kind kind) {
  switch (kind) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_CALL_KIND_MAP(CASE)
#undef CASE
  default:
    return "other";
  }
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Times count from the first one. */
static uint64_t base_of(const kmb_trace *trace) {
  uint64_t base = UINT64_MAX;
  if (trace->ops.count) base = kmbi_op_at(trace, 0)->start;
  for (uint32_t i = 0; i < trace->calls.count; i++)
    base = smaller(base, kmbi_call_at(trace, i)->start);
  for (uint32_t i = 0; i < trace->ranges.count; i++)
    base = smaller(base, kmbi_range_at(trace, i)->start);
  return base == UINT64_MAX ? 0 : base;
}

static void put_key(kmbi_out *out, const char *name) {
  kmbi_out_format(out, ",\n \"%s\": ", name);
}

/* One number of a row; the first has no comma. */
static void put_cell(kmbi_out *out, bool first, uint64_t value) {
  if (!first) kmbi_out_put(out, ",");
  kmbi_out_u64(out, value);
}

static void put_names(kmbi_out *out, const kmb_trace *trace) {
  put_key(out, "names");
  for (uint32_t i = 0; i < trace->names.count && !out->status; i++) {
    kmbi_out_put(out, i ? ",\n  " : "[\n  ");
    kmbi_out_string(out, kmbi_name_at(trace, i)->text);
  }
  kmbi_out_put(out, trace->names.count ? "]" : "[]");
}

static void put_devices(kmbi_out *out, const kmb_trace *trace) {
  put_key(out, "devices");
  for (uint32_t i = 0; i < trace->devices.count && !out->status; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, i);
    kmbi_out_put(out, i ? ", [" : "[[");
    if (device->id == KMBI_UNKNOWN)
      kmbi_out_put(out, "null");
    else
      put_cell(out, true, device->id);
    put_cell(out, false, device->name);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->devices.count ? "]" : "[]");
}

static void put_streams(kmbi_out *out, const kmb_trace *trace) {
  put_key(out, "streams");
  for (uint32_t i = 0; i < trace->lanes.count && !out->status; i++) {
    const kmbi_lane *lane = kmbi_lane_at(trace, i);
    kmbi_out_put(out, i ? ",\n  [" : "[\n  [");
    put_cell(out, true, lane->device);
    put_cell(out, false, lane->process);
    if (lane->flags & KMB_OP_HAS_STREAM) {
      put_cell(out, false, lane->context);
      put_cell(out, false, lane->stream);
    } else {
      kmbi_out_put(out, ",null,null");
    }
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->lanes.count ? "]" : "[]");
}

static void put_threads(kmbi_out *out, const kmb_trace *trace) {
  put_key(out, "threads");
  for (uint32_t i = 0; i < trace->threads.count && !out->status; i++) {
    const kmbi_thread *thread = kmbi_rows_at(&trace->threads, i);
    kmbi_out_put(out, i ? ", [" : "[[");
    put_cell(out, true, thread->process);
    put_cell(out, false, thread->thread);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->threads.count ? "]" : "[]");
}

static void put_shapes(kmbi_out *out, const kmb_trace *trace) {
  put_key(out, "shapes");
  for (uint32_t i = 0; i < trace->shapes.count && !out->status; i++) {
    const kmbi_shape *shape = kmbi_shape_at(trace, i + 1);
    kmbi_out_put(out, i ? ",\n  [" : "[\n  [");
    for (int k = 0; k < 3; k++)
      put_cell(out, k == 0, shape->grid[k]);
    for (int k = 0; k < 3; k++)
      put_cell(out, false, shape->block[k]);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->shapes.count ? "]" : "[]");
}

static void put_ops(kmbi_out *out, const kmb_trace *trace, uint64_t base) {
  put_key(out, "ops");
  for (uint32_t i = 0; i < trace->ops.count && !out->status; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    kmbi_out_format(out, "%s[\"%s\"", i ? ",\n  " : "[\n  ",
                    kmb_op_kind_name(kmbi_name_at(trace, op->name)->kind));
    put_cell(out, false, op->lane);
    put_cell(out, false, op->name);
    put_cell(out, false, op->start - base);
    put_cell(out, false, op->end - op->start);
    put_cell(out, false, op->correlation);
    if (op->bytes == KMBI_UNKNOWN)
      kmbi_out_put(out, ",null");
    else
      put_cell(out, false, op->bytes);
    if (op->shape) put_cell(out, false, op->shape - 1);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->ops.count ? "]" : "[]");
}

static void put_calls(kmbi_out *out, const kmb_trace *trace, uint64_t base) {
  put_key(out, "calls");
  for (uint32_t i = 0; i < trace->calls.count && !out->status; i++) {
    const kmbi_call *call = kmbi_call_at(trace, i);
    kmbi_out_format(out, "%s[\"%s\"", i ? ",\n  " : "[\n  ",
                    call_kind_name(kmbi_name_at(trace, call->name)->kind));
    put_cell(out, false, call->thread);
    put_cell(out, false, call->name);
    put_cell(out, false, call->start - base);
    put_cell(out, false, call->end - call->start);
    put_cell(out, false, call->correlation);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->calls.count ? "]" : "[]");
}

static void put_ranges(kmbi_out *out, const kmb_trace *trace, uint64_t base) {
  put_key(out, "ranges");
  for (uint32_t i = 0; i < trace->ranges.count && !out->status; i++) {
    const kmbi_range *range = kmbi_range_at(trace, i);
    kmbi_out_put(out, i ? ",\n  [" : "[\n  [");
    put_cell(out, true, range->thread);
    put_cell(out, false, range->name);
    put_cell(out, false, range->start - base);
    put_cell(out, false, range->end - range->start);
    kmbi_out_put(out, "]");
  }
  kmbi_out_put(out, trace->ranges.count ? "]" : "[]");
}

static void put_number(kmbi_out *out, const char *name, uint64_t value) {
  put_key(out, name);
  kmbi_out_u64(out, value);
}

kmb_status kmb_trace_write_json(const kmb_trace *trace, kmb_write_fn write,
                                void *user) {
  kmbi_out out;
  if (!trace || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_write_json: %s is NULL",
                     !trace ? "trace" : "write");
  kmb_status status = kmbi_out_begin(&out, write, user);
  if (status) return status;
  uint64_t base = base_of(trace);
  kmbi_out_format(&out, "{\"kmb_trace\": %d", KMBI_TRACE_VERSION);
  put_number(&out, "tick_ns", trace->tick);
  if (trace->driver_added)
    put_number(&out, "driver_added_ns", trace->driver_added);
  if (trace->runtime_added)
    put_number(&out, "runtime_added_ns", trace->runtime_added);
  put_number(&out, "invalid", trace->invalid);
  put_number(&out, "dropped", trace->dropped);
  put_key(&out, "one_process");
  kmbi_out_put(&out, trace->one_process ? "true" : "false");
  put_number(&out, "base_ns", base);
  put_names(&out, trace);
  put_devices(&out, trace);
  put_streams(&out, trace);
  put_threads(&out, trace);
  put_shapes(&out, trace);
  put_ops(&out, trace, base);
  put_calls(&out, trace, base);
  put_ranges(&out, trace, base);
  kmbi_out_put(&out, "}\n");
  return kmbi_out_end(&out);
}
