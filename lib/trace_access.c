/* What a caller sees of a trace. */
#include "error.h"
#include "structs.h"
#include "trace.h"

kmb_status kmb_trace_get_info(const kmb_trace *trace, kmb_trace_info *out) {
  if (!trace || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_get_info: %s is NULL",
                     !trace ? "trace" : "info");
  kmb_trace_info info = kmb_trace_info_init();
  info.rows = trace->rows;
  info.invalid = trace->invalid;
  info.dropped = trace->dropped;
  info.ops = trace->ops.count;
  info.calls = trace->calls.count;
  info.ranges = trace->ranges.count;
  info.tick_ns = trace->tick;
  info.driver_added_ns = trace->driver_added;
  info.runtime_added_ns = trace->runtime_added;
  info.format = trace->format;
  return kmbi_copy_out(out, &info, sizeof info, KMBI_TRACE_INFO_V1,
                       "kmb_trace_get_info: info");
}

static kmb_status null_trace(const char *what) {
  return kmbi_fail(KMB_ERR_INVALID, "%s: trace is NULL", what);
}

static kmb_status check(const void *out, uint64_t index, const kmbi_rows *rows,
                        const char *what) {
  if (!out) return kmbi_fail(KMB_ERR_INVALID, "%s: nowhere to store it", what);
  if (index >= rows->count)
    return kmbi_fail(KMB_ERR_INVALID, "%s: index %llu of %u", what,
                     (unsigned long long)index, (unsigned)rows->count);
  return KMB_OK;
}

static uint32_t flags_of(const kmbi_op *op, const kmbi_lane *lane,
                         uint32_t call) {
  return lane->flags | (op->bytes != KMBI_UNKNOWN ? KMB_OP_HAS_BYTES : 0u) |
         (op->correlation ? KMB_OP_HAS_CORRELATION : 0u) |
         (call != KMBI_NO_ROW ? KMB_OP_HAS_CALL : 0u) |
         (op->shape ? KMB_OP_HAS_SHAPE : 0u);
}

static void set_shape(const kmb_trace *trace, const kmbi_op *row,
                      kmb_trace_op *op) {
  if (!row->shape) return;
  const kmbi_shape *shape = kmbi_shape_at(trace, row->shape);
  op->grid_x = shape->grid[0];
  op->grid_y = shape->grid[1];
  op->grid_z = shape->grid[2];
  op->block_x = shape->block[0];
  op->block_y = shape->block[1];
  op->block_z = shape->block[2];
}

kmb_status kmb_trace_get_op(const kmb_trace *trace, uint64_t index,
                            kmb_trace_op *out) {
  if (!trace) return null_trace("kmb_trace_get_op");
  kmb_status status = check(out, index, &trace->ops, "kmb_trace_get_op");
  if (status) return status;
  const kmbi_op *row = kmbi_op_at(trace, (uint32_t)index);
  const kmbi_lane *lane = kmbi_lane_at(trace, row->lane);
  const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, lane->device);
  const kmbi_name *name = kmbi_name_at(trace, row->name);
  uint32_t call = kmbi_op_call(trace, row);
  kmb_trace_op op = kmb_trace_op_init();
  op.name = name->text;
  op.kind = name->kind;
  op.device_name = kmbi_name_at(trace, device->name)->text;
  op.start_ns = row->start;
  op.end_ns = row->end;
  op.flags = flags_of(row, lane, call);
  if (op.flags & KMB_OP_HAS_BYTES) op.bytes = row->bytes;
  if (op.flags & KMB_OP_HAS_DEVICE) op.device = device->id;
  if (op.flags & KMB_OP_HAS_CALL) op.call = call;
  op.correlation = row->correlation;
  op.process = lane->process;
  op.context = lane->context;
  op.stream = lane->stream;
  set_shape(trace, row, &op);
  return kmbi_copy_out(out, &op, sizeof op, KMBI_TRACE_OP_V1,
                       "kmb_trace_get_op: op");
}

kmb_status kmb_trace_get_call(const kmb_trace *trace, uint64_t index,
                              kmb_trace_call *out) {
  if (!trace) return null_trace("kmb_trace_get_call");
  kmb_status status = check(out, index, &trace->calls, "kmb_trace_get_call");
  if (status) return status;
  const kmbi_call *row = kmbi_call_at(trace, (uint32_t)index);
  const kmbi_thread *thread = kmbi_rows_at(&trace->threads, row->thread);
  const kmbi_name *name = kmbi_name_at(trace, row->name);
  kmb_trace_call call = kmb_trace_call_init();
  call.name = name->text;
  call.kind = name->kind;
  call.start_ns = row->start;
  call.end_ns = row->end;
  call.correlation = row->correlation;
  call.process = thread->process;
  call.thread = thread->thread;
  return kmbi_copy_out(out, &call, sizeof call, KMBI_TRACE_CALL_V1,
                       "kmb_trace_get_call: call");
}

kmb_status kmb_trace_get_range(const kmb_trace *trace, uint64_t index,
                               kmb_trace_range *out) {
  if (!trace) return null_trace("kmb_trace_get_range");
  kmb_status status = check(out, index, &trace->ranges, "kmb_trace_get_range");
  if (status) return status;
  const kmbi_range *row = kmbi_range_at(trace, (uint32_t)index);
  const kmbi_thread *thread = kmbi_rows_at(&trace->threads, row->thread);
  kmb_trace_range range = kmb_trace_range_init();
  range.name = kmbi_name_at(trace, row->name)->text;
  range.start_ns = row->start;
  range.end_ns = row->end;
  range.process = thread->process;
  range.thread = thread->thread;
  return kmbi_copy_out(out, &range, sizeof range, KMBI_TRACE_RANGE_V1,
                       "kmb_trace_get_range: range");
}
