/* Pins of the interface for backends, for LP64.
 *
 * Rewritten with each KMB_BACKEND_ABI until KMB_BACKEND_FROZEN is 1, then
 * never edited again.
 * docs/abi.md says what to do when this file does not compile.
 * Written by scripts/abi_pins.py. */
#include <kmb/backend.h>

#include <stdio.h>

#if !defined(__LP64__)

int main(void) {
  puts("the pins are for LP64 machines only");
  return 77;
}

#else

/* clang-format off */
/* NOLINTBEGIN(bugprone-sizeof-expression) */
_Static_assert(KMB_BACKEND_ABI == 4,
               "a new number: run scripts/abi_freeze.sh");
_Static_assert(KMB_BACKEND_FROZEN == 0,
               "run scripts/abi_freeze.sh");
#define MEMBER(type, member, offset, size, what)                         \
  _Static_assert(offsetof(type, member) == (offset) &&                   \
                 sizeof(((type *)0)->member) == (size) &&                \
                 _Generic(((type *)0)->member, what: 1, default: 0),     \
                 #type "." #member " was moved, or its type changed")
#define GROWS(type, first_size)                                          \
  _Static_assert(sizeof(type) >= (first_size) &&                         \
                 offsetof(type, struct_size) == 0, #type " shrank")
#define FINAL(type, size)                                                \
  _Static_assert(sizeof(type) == (size),                                 \
                 #type " is final and changed its size")
#define VALUE(name, value)                                               \
  _Static_assert((name) == (value), #name " changed its value")
#define TYPE(name, what)                                                 \
  _Static_assert(_Generic((name){0}, what: 1, default: 0),               \
                 #name " is another type")
#define SIGNATURE(name, what)                                            \
  _Static_assert(_Generic(&name, what: 1, default: 0),                   \
                 #name " takes or returns something else")

TYPE(kmb_emit_fn, void (*)(void *, const char *, const char *, const char *));
TYPE(kmb_telemetry, int32_t);
TYPE(kmb_telemetry_fn, void (*)(void *, int32_t, double, const char *));
TYPE(kmb_find_fn, void (*)(void *, int32_t, int32_t, const kmb_figure *,
    uint64_t, const char *));
TYPE(kmb_device_op_fn, void (*)(void *, const kmb_device_op *));
TYPE(kmb_counter_fn, void (*)(void *, uint64_t, uint64_t, double));
TYPE(kmb_backend_entry_fn, const kmb_backend_ops *(*)(void));

VALUE(KMB_TELEMETRY_CLOCK, 1);
VALUE(KMB_TELEMETRY_MEMORY_CLOCK, 2);
VALUE(KMB_TELEMETRY_THROTTLE, 3);
VALUE(KMB_TELEMETRY_POWER, 4);
VALUE(KMB_TELEMETRY_ENERGY, 5);
VALUE(KMB_TELEMETRY_TEMPERATURE, 6);
VALUE(KMB_TELEMETRY_ECC_CORRECTED, 7);
VALUE(KMB_TELEMETRY_ECC_UNCORRECTED, 8);
VALUE(KMB_TELEMETRY_PREEMPTIONS, 9);
VALUE(KMB_TELEMETRY_STEAL, 10);
VALUE(KMB_TELEMETRY_CORE0_CLOCK, 11);
VALUE(KMB_TELEMETRY_LOAD, 12);
VALUE(KMB_THROTTLE_POWER_CAP, 1);
VALUE(KMB_THROTTLE_HW_SLOWDOWN, 2);
VALUE(KMB_THROTTLE_SYNC_BOOST, 4);
VALUE(KMB_THROTTLE_THERMAL, 8);
VALUE(KMB_THROTTLE_HW_THERMAL, 16);
VALUE(KMB_THROTTLE_HW_POWER_BRAKE, 32);
VALUE(KMB_SAMPLE_INVALID, 1);
VALUE(KMB_SAMPLE_OVERLAP, 2);
VALUE(KMB_SAMPLE_SPOILED, 4);

MEMBER(kmb_error, status, 0, 4, int32_t);
MEMBER(kmb_error, count, 4, 4, uint32_t);
MEMBER(kmb_error, vendor, 8, 8, int64_t);
MEMBER(kmb_error, message, 16, 256, char *);
FINAL(kmb_error, 272);

MEMBER(kmb_host, struct_size, 0, 8, size_t);
MEMBER(kmb_host, ctx, 8, 8, void *);
MEMBER(kmb_host, alloc, 16, 8, void *(*)(void *, size_t, size_t));
MEMBER(kmb_host, free, 24, 8, void (*)(void *, void *, size_t));
MEMBER(kmb_host, device_alloc, 32, 8, int32_t (*)(void *, uint64_t, uint64_t,
    void **));
MEMBER(kmb_host, device_free, 40, 8, void (*)(void *, void *, uint64_t));
MEMBER(kmb_host, log, 48, 8, void (*)(void *, int32_t, const char *));
MEMBER(kmb_host, fail, 56, 8, int32_t (*)(void *, int32_t, int64_t,
    const char *, ...));
MEMBER(kmb_host, cancelled, 64, 8, int (*)(void *));
MEMBER(kmb_host, error_save, 72, 8, void (*)(void *, kmb_error *));
MEMBER(kmb_host, error_restore, 80, 8, void (*)(void *, const kmb_error *));
MEMBER(kmb_host, callback_failed, 88, 8, int32_t (*)(void *,
    const kmb_error *, const char *, int32_t, uint64_t));
GROWS(kmb_host, 96);

MEMBER(kmb_span, pointer, 0, 8, void *);
MEMBER(kmb_span, bytes, 8, 8, uint64_t);
FINAL(kmb_span, 16);

MEMBER(kmb_choice, timer, 0, 4, int32_t);
MEMBER(kmb_choice, launch_mode, 4, 4, int32_t);
MEMBER(kmb_choice, cache, 8, 4, int32_t);
MEMBER(kmb_choice, preference, 12, 4, int32_t);
FINAL(kmb_choice, 16);

MEMBER(kmb_request, struct_size, 0, 8, size_t);
MEMBER(kmb_request, cold_bytes, 8, 8, uint64_t);
MEMBER(kmb_request, device_ops, 16, 8, uint64_t);
MEMBER(kmb_request, timer, 24, 4, int32_t);
MEMBER(kmb_request, launch_mode, 28, 4, int32_t);
MEMBER(kmb_request, cache, 32, 4, int32_t);
MEMBER(kmb_request, reserved, 36, 4, int32_t);
GROWS(kmb_request, 40);

MEMBER(kmb_fill, struct_size, 0, 8, size_t);
MEMBER(kmb_fill, pointer, 8, 8, void *);
MEMBER(kmb_fill, bytes, 16, 8, uint64_t);
MEMBER(kmb_fill, seed, 24, 8, uint64_t);
MEMBER(kmb_fill, low, 32, 8, double);
MEMBER(kmb_fill, high, 40, 8, double);
MEMBER(kmb_fill, dtype, 48, 4, int32_t);
MEMBER(kmb_fill, reserved, 52, 4, int32_t);
GROWS(kmb_fill, 56);

MEMBER(kmb_align, struct_size, 0, 8, size_t);
MEMBER(kmb_align, ctx, 8, 8, void *);
MEMBER(kmb_align, deadline_ns, 16, 8, double);
MEMBER(kmb_align, all_enqueued, 24, 8, int32_t (*)(void *));
MEMBER(kmb_align, barrier, 32, 8, int32_t (*)(void *, void *));
MEMBER(kmb_align, overdue, 40, 8, int32_t (*)(void *, int32_t));
GROWS(kmb_align, 48);

MEMBER(kmb_barrier_desc, struct_size, 0, 8, size_t);
MEMBER(kmb_barrier_desc, ctx, 8, 8, void *);
MEMBER(kmb_barrier_desc, exchange, 16, 8, int32_t (*)(void *, const void *,
    void *, size_t));
MEMBER(kmb_barrier_desc, nccl, 24, 8, void *);
MEMBER(kmb_barrier_desc, deadline_ns, 32, 8, double);
MEMBER(kmb_barrier_desc, rank, 40, 4, uint32_t);
MEMBER(kmb_barrier_desc, size, 44, 4, uint32_t);
MEMBER(kmb_barrier_desc, kind, 48, 4, int32_t);
MEMBER(kmb_barrier_desc, hosts, 52, 4, uint32_t);
GROWS(kmb_barrier_desc, 56);

MEMBER(kmb_plan_desc, struct_size, 0, 8, size_t);
MEMBER(kmb_plan_desc, launch, 8, 8, int32_t (*)(void *, const kmb_launch *));
MEMBER(kmb_plan_desc, launch_user, 16, 8, void *);
MEMBER(kmb_plan_desc, reset, 24, 8, int32_t (*)(void *, uint32_t, void *));
MEMBER(kmb_plan_desc, reset_user, 32, 8, void *);
MEMBER(kmb_plan_desc, stream, 40, 8, void *);
MEMBER(kmb_plan_desc, args, 48, 8, void *const *);
MEMBER(kmb_plan_desc, arg_count, 56, 8, uint64_t);
MEMBER(kmb_plan_desc, warm, 64, 8, const kmb_span *);
MEMBER(kmb_plan_desc, warm_count, 72, 8, uint64_t);
MEMBER(kmb_plan_desc, graphs, 80, 8, void *const *);
MEMBER(kmb_plan_desc, batch, 88, 8, uint64_t);
MEMBER(kmb_plan_desc, slots, 96, 4, uint32_t);
MEMBER(kmb_plan_desc, config, 100, 4, uint32_t);
MEMBER(kmb_plan_desc, first_slot, 104, 4, uint32_t);
MEMBER(kmb_plan_desc, reserved, 108, 4, uint32_t);
MEMBER(kmb_plan_desc, choice, 112, 16, kmb_choice);
MEMBER(kmb_plan_desc, align, 128, 8, const kmb_align *);
GROWS(kmb_plan_desc, 136);

MEMBER(kmb_sample, span_ns, 0, 8, double);
MEMBER(kmb_sample, busy_ns, 8, 8, double);
MEMBER(kmb_sample, sum_ns, 16, 8, double);
MEMBER(kmb_sample, end_ns, 24, 8, double);
MEMBER(kmb_sample, ops, 32, 8, uint64_t);
MEMBER(kmb_sample, slot, 40, 4, uint32_t);
MEMBER(kmb_sample, flags, 44, 4, uint32_t);
FINAL(kmb_sample, 48);

MEMBER(kmb_shape, grid_x, 0, 4, uint32_t);
MEMBER(kmb_shape, grid_y, 4, 4, uint32_t);
MEMBER(kmb_shape, grid_z, 8, 4, uint32_t);
MEMBER(kmb_shape, block_x, 12, 4, uint32_t);
MEMBER(kmb_shape, block_y, 16, 4, uint32_t);
MEMBER(kmb_shape, block_z, 20, 4, uint32_t);
MEMBER(kmb_shape, registers, 24, 4, uint32_t);
MEMBER(kmb_shape, local, 28, 4, uint32_t);
MEMBER(kmb_shape, static_shared, 32, 4, uint32_t);
MEMBER(kmb_shape, dynamic_shared, 36, 4, uint32_t);
FINAL(kmb_shape, 40);

MEMBER(kmb_device_op, name, 0, 8, const char *);
MEMBER(kmb_device_op, start_ns, 8, 8, double);
MEMBER(kmb_device_op, duration_ns, 16, 8, double);
MEMBER(kmb_device_op, bytes, 24, 8, uint64_t);
MEMBER(kmb_device_op, sample, 32, 4, uint32_t);
MEMBER(kmb_device_op, stream, 36, 4, uint32_t);
MEMBER(kmb_device_op, shape, 40, 40, kmb_shape);
MEMBER(kmb_device_op, kind, 80, 4, int32_t);
MEMBER(kmb_device_op, reserved, 84, 4, int32_t);
FINAL(kmb_device_op, 88);

MEMBER(kmb_record_sink, struct_size, 0, 8, size_t);
MEMBER(kmb_record_sink, ctx, 8, 8, void *);
MEMBER(kmb_record_sink, op, 16, 8, int32_t (*)(void *, const kmb_trace_op *));
MEMBER(kmb_record_sink, call, 24, 8, int32_t (*)(void *,
    const kmb_trace_call *));
MEMBER(kmb_record_sink, dropped, 32, 8, void (*)(void *, uint64_t));
MEMBER(kmb_record_sink, added, 40, 8, void (*)(void *, uint64_t, uint64_t));
GROWS(kmb_record_sink, 48);

MEMBER(kmb_code_sink, struct_size, 0, 8, size_t);
MEMBER(kmb_code_sink, ctx, 8, 8, void *);
MEMBER(kmb_code_sink, kernel, 16, 8, int32_t (*)(void *,
    const kmb_code_kernel *, const void *, uint64_t));
MEMBER(kmb_code_sink, info, 24, 8, void (*)(void *, const kmb_code_info *));
GROWS(kmb_code_sink, 32);

MEMBER(kmb_counter_request, struct_size, 0, 8, size_t);
MEMBER(kmb_counter_request, metrics, 8, 8, const char *const *);
MEMBER(kmb_counter_request, metric_count, 16, 8, uint64_t);
MEMBER(kmb_counter_request, ranges, 24, 8, uint64_t);
MEMBER(kmb_counter_request, replay, 32, 4, int32_t);
MEMBER(kmb_counter_request, flags, 36, 4, uint32_t);
GROWS(kmb_counter_request, 40);

MEMBER(kmb_backend_ops, struct_size, 0, 8, size_t);
MEMBER(kmb_backend_ops, abi, 8, 4, uint32_t);
MEMBER(kmb_backend_ops, reserved, 12, 4, uint32_t);
MEMBER(kmb_backend_ops, name, 16, 8, const char *);
MEMBER(kmb_backend_ops, open, 24, 8, int32_t (*)(const kmb_host *,
    const char *, const kmb_device_params *, void **));
MEMBER(kmb_backend_ops, close, 32, 8, void (*)(void *));
MEMBER(kmb_backend_ops, attr_u64, 40, 8, int32_t (*)(void *, int32_t,
    uint64_t *));
MEMBER(kmb_backend_ops, attr_f64, 48, 8, int32_t (*)(void *, int32_t,
    double *));
MEMBER(kmb_backend_ops, attr_text, 56, 8, int32_t (*)(void *, int32_t,
    const char **));
MEMBER(kmb_backend_ops, now, 64, 8, double (*)(void *));
MEMBER(kmb_backend_ops, sleep, 72, 8, void (*)(void *, double));
MEMBER(kmb_backend_ops, memory_available, 80, 8, int32_t (*)(void *,
    uint64_t *));
MEMBER(kmb_backend_ops, alloc, 88, 8, int32_t (*)(void *, uint64_t, uint64_t,
    void **));
MEMBER(kmb_backend_ops, free, 96, 8, void (*)(void *, void *, uint64_t));
MEMBER(kmb_backend_ops, write, 104, 8, int32_t (*)(void *, void *,
    const void *, uint64_t));
MEMBER(kmb_backend_ops, read, 112, 8, int32_t (*)(void *, void *,
    const void *, uint64_t));
MEMBER(kmb_backend_ops, set, 120, 8, int32_t (*)(void *, void *, uint64_t,
    uint64_t));
MEMBER(kmb_backend_ops, fill_random, 128, 8, int32_t (*)(void *,
    const kmb_fill *));
MEMBER(kmb_backend_ops, stream_open, 136, 8, int32_t (*)(void *, void *,
    void **));
MEMBER(kmb_backend_ops, stream_close, 144, 8, void (*)(void *, void *));
MEMBER(kmb_backend_ops, stream_wait, 152, 8, int32_t (*)(void *, void *,
    double));
MEMBER(kmb_backend_ops, propose, 160, 8, int32_t (*)(void *,
    const kmb_request *, kmb_choice *, uint32_t, uint32_t *));
MEMBER(kmb_backend_ops, sweep_prepare, 168, 8, int32_t (*)(void *, uint64_t));
MEMBER(kmb_backend_ops, plan_create, 176, 8, int32_t (*)(void *,
    const kmb_plan_desc *, void **));
MEMBER(kmb_backend_ops, plan_run, 184, 8, int32_t (*)(void *, void *,
    uint64_t, double, kmb_sample *, uint64_t *));
MEMBER(kmb_backend_ops, plan_ops, 192, 8, int32_t (*)(void *, void *,
    void (*)(void *, const kmb_device_op *), void *));
MEMBER(kmb_backend_ops, plan_destroy, 200, 8, void (*)(void *, void *));
MEMBER(kmb_backend_ops, graph_launch, 208, 8, int32_t (*)(void *, void *,
    void *));
MEMBER(kmb_backend_ops, session_open, 216, 8, int32_t (*)(void *, void *,
    uint32_t, void **));
MEMBER(kmb_backend_ops, session_mark, 224, 8, int32_t (*)(void *, void *,
    uint32_t));
MEMBER(kmb_backend_ops, session_read, 232, 8, int32_t (*)(void *, void *,
    uint32_t, uint32_t, double *));
MEMBER(kmb_backend_ops, session_close, 240, 8, void (*)(void *, void *));
MEMBER(kmb_backend_ops, bias, 248, 8, int32_t (*)(void *, const kmb_choice *,
    uint64_t, double *, double *));
MEMBER(kmb_backend_ops, ceiling, 256, 8, int32_t (*)(void *, int32_t, int32_t,
    uint32_t, kmb_ceiling *));
MEMBER(kmb_backend_ops, describe, 264, 8, void (*)(void *, void (*)(void *,
    const char *, const char *, const char *), void *));
MEMBER(kmb_backend_ops, telemetry, 272, 8, void (*)(void *, void (*)(void *,
    int32_t, double, const char *), void *));
MEMBER(kmb_backend_ops, plan_findings, 280, 8, void (*)(void *, void *,
    void (*)(void *, int32_t, int32_t, const kmb_figure *, uint64_t,
    const char *), void *));
MEMBER(kmb_backend_ops, zero_reference, 288, 8, const char *);
MEMBER(kmb_backend_ops, record_begin, 296, 8, int32_t (*)(void *,
    const kmb_record_params *, void **));
MEMBER(kmb_backend_ops, record_point, 304, 8, int32_t (*)(void *, void *,
    uint64_t *, uint64_t *, uint64_t *));
MEMBER(kmb_backend_ops, record_end, 312, 8, int32_t (*)(void *, void *,
    const kmb_record_sink *));
MEMBER(kmb_backend_ops, code_begin, 320, 8, int32_t (*)(void *, void **));
MEMBER(kmb_backend_ops, code_end, 328, 8, int32_t (*)(void *, void *,
    const kmb_code_sink *));
MEMBER(kmb_backend_ops, counters_open, 336, 8, int32_t (*)(void *,
    const kmb_plan_desc *, const kmb_counter_request *, void **, uint64_t *));
MEMBER(kmb_backend_ops, counters_collect, 344, 8, int32_t (*)(void *, void *,
    void (*)(void *, uint64_t, uint64_t, double), void *, uint64_t *));
MEMBER(kmb_backend_ops, counters_close, 352, 8, void (*)(void *, void *));
MEMBER(kmb_backend_ops, occupancy, 360, 8, int32_t (*)(void *,
    const kmb_shape *, kmb_occupancy *));
MEMBER(kmb_backend_ops, aligned, 368, 4, uint32_t);
MEMBER(kmb_backend_ops, barriers, 372, 4, uint32_t);
MEMBER(kmb_backend_ops, barrier_open, 376, 8, int32_t (*)(void *,
    const kmb_barrier_desc *, void **));
MEMBER(kmb_backend_ops, barrier_enqueue, 384, 8, int32_t (*)(void *, void *,
    void *));
MEMBER(kmb_backend_ops, barrier_time, 392, 8, int32_t (*)(void *, void *,
    void *, const kmb_align *, double *));
MEMBER(kmb_backend_ops, barrier_close, 400, 8, void (*)(void *, void *));
MEMBER(kmb_backend_ops, barrier_text, 408, 8, const char *(*)(void *, void *));
MEMBER(kmb_backend_ops, counters_release, 416, 8, int32_t (*)(void *));
GROWS(kmb_backend_ops, 424);

SIGNATURE(kmb_backend_entry_1, const kmb_backend_ops *(*)(void));

int main(void) {
  return 0;
}
/* NOLINTEND(bugprone-sizeof-expression) */
/* clang-format on */

#endif
