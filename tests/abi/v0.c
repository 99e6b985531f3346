/* Pins of the public interface of 0.1, for LP64.
 *
 * Never edited once that release is tagged.
 * docs/abi.md says what to do when this file does not compile.
 * Written by scripts/abi_pins.py. */
#include <kmb/kmb.h>

#include <stdio.h>

#if !defined(__LP64__)

int main(void) {
  puts("the pins are for LP64 machines only");
  return 77;
}

#else

/* clang-format off */
/* NOLINTBEGIN(bugprone-sizeof-expression) */
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

enum { F64 = 1, U64 = 2, TEXT = 3 };
#define VALUE_KIND(name, number, kind, key, unit) KMB_VALUE_##name##_is = kind,
enum { KMB_VALUE_MAP(VALUE_KIND) };
#define ATTR_KIND(name, number, kind, key) KMB_DEVICE_##name##_is = kind,
enum { KMB_DEVICE_ATTR_MAP(ATTR_KIND) };
#define DTYPE_BITS(name, number, bits, text) KMB_##name##_is = bits,
enum { KMB_DTYPE_MAP(DTYPE_BITS) };
#define ENTRY(name, value, is)                                           \
  _Static_assert(name == (value) && name##_is == (int)(is),              \
                 #name " changed its value, its kind or its width")

TYPE(kmb_status, int32_t);
TYPE(kmb_dtype, int32_t);
TYPE(kmb_write_fn, int32_t (*)(void *, const void *, size_t));
TYPE(kmb_read_fn, int32_t (*)(void *, void *, size_t, size_t *));
TYPE(kmb_log_level, int32_t);
TYPE(kmb_device_attr, int32_t);
TYPE(kmb_buffer_role, int32_t);
TYPE(kmb_buffer_fill, int32_t);
TYPE(kmb_residency, int32_t);
TYPE(kmb_barrier, int32_t);
TYPE(kmb_multicast, int32_t);
TYPE(kmb_timer, int32_t);
TYPE(kmb_launch_mode, int32_t);
TYPE(kmb_cache_state, int32_t);
TYPE(kmb_launch_fn, int32_t (*)(void *, const kmb_launch *));
TYPE(kmb_check_fn, int32_t (*)(void *, kmb_check *));
TYPE(kmb_code_run_fn, int32_t (*)(void *));
TYPE(kmb_value, int32_t);
TYPE(kmb_severity, int32_t);
TYPE(kmb_finding_code, int32_t);
TYPE(kmb_op_kind, int32_t);
TYPE(kmb_code_match, int32_t);
TYPE(kmb_tree_state, int32_t);
TYPE(kmb_operation, int32_t);
TYPE(kmb_scales, int32_t);
TYPE(kmb_mask, int32_t);
TYPE(kmb_attention_pass, int32_t);
TYPE(kmb_pairs, int32_t);
TYPE(kmb_norm, int32_t);
TYPE(kmb_collective, int32_t);
TYPE(kmb_ceiling_kind, int32_t);
TYPE(kmb_ceiling_source, int32_t);
TYPE(kmb_bound, int32_t);
TYPE(kmb_part_value, int32_t);
TYPE(kmb_verdict, int32_t);
TYPE(kmb_replay, int32_t);
TYPE(kmb_trace_format, int32_t);
TYPE(kmb_call_kind, int32_t);

VALUE(KMB_OK, 0);
VALUE(KMB_ERR_INVALID, -1);
VALUE(KMB_ERR_UNSUPPORTED, -2);
VALUE(KMB_ERR_NOMEM, -3);
VALUE(KMB_ERR_UNAVAILABLE, -4);
VALUE(KMB_ERR_BUSY, -5);
VALUE(KMB_ERR_PERM, -6);
VALUE(KMB_ERR_TIMEOUT, -7);
VALUE(KMB_ERR_LOST, -8);
VALUE(KMB_ERR_INCORRECT, -9);
VALUE(KMB_ERR_CAPTURE, -10);
VALUE(KMB_ERR_STALE, -11);
VALUE(KMB_ERR_FORKED, -12);
VALUE(KMB_ERR_CANCELLED, -13);
VALUE(KMB_ERR_IO, -14);
VALUE(KMB_ERR_FORMAT, -15);
VALUE(KMB_ERR_VENDOR, -16);
VALUE(KMB_ERR_INTERNAL, -17);
ENTRY(KMB_U8, 1, 8);
ENTRY(KMB_I8, 2, 8);
ENTRY(KMB_I32, 3, 32);
ENTRY(KMB_I64, 4, 64);
ENTRY(KMB_F16, 5, 16);
ENTRY(KMB_BF16, 6, 16);
ENTRY(KMB_F32, 7, 32);
ENTRY(KMB_F64, 8, 64);
ENTRY(KMB_TF32, 9, 32);
ENTRY(KMB_F8_E4M3, 10, 8);
ENTRY(KMB_F8_E5M2, 11, 8);
ENTRY(KMB_F4_E2M1, 12, 4);
ENTRY(KMB_I4, 13, 4);
VALUE(KMB_LOG_ERROR, 1);
VALUE(KMB_LOG_WARNING, 2);
VALUE(KMB_LOG_INFO, 3);
VALUE(KMB_LOG_DEBUG, 4);
VALUE(KMB_DEVICE_BIND, 1);
ENTRY(KMB_DEVICE_BACKEND, 1, TEXT);
ENTRY(KMB_DEVICE_NAME, 2, TEXT);
ENTRY(KMB_DEVICE_ARCH, 3, TEXT);
ENTRY(KMB_DEVICE_UUID, 4, TEXT);
ENTRY(KMB_DEVICE_PCI_ID, 5, TEXT);
ENTRY(KMB_DEVICE_UNITS, 6, U64);
ENTRY(KMB_DEVICE_MEMORY_BYTES, 7, U64);
ENTRY(KMB_DEVICE_L1_BYTES, 8, U64);
ENTRY(KMB_DEVICE_L2_BYTES, 9, U64);
ENTRY(KMB_DEVICE_LLC_BYTES, 10, U64);
ENTRY(KMB_DEVICE_LLC_SOURCE, 11, TEXT);
ENTRY(KMB_DEVICE_NUMA_NODES, 12, U64);
ENTRY(KMB_DEVICE_NUMA_NODE, 13, U64);
ENTRY(KMB_DEVICE_THREADS, 14, U64);
ENTRY(KMB_DEVICE_BINDING, 15, TEXT);
ENTRY(KMB_DEVICE_CLOCK_TICK_NS, 16, F64);
ENTRY(KMB_DEVICE_MEMORY_BUDGET, 17, U64);
ENTRY(KMB_DEVICE_ISA, 18, TEXT);
ENTRY(KMB_DEVICE_SPEC, 19, TEXT);
VALUE(KMB_INPUT, 1);
VALUE(KMB_OUTPUT, 2);
VALUE(KMB_INOUT, 3);
VALUE(KMB_SCRATCH, 4);
VALUE(KMB_FILL_DEFAULT, 0);
VALUE(KMB_FILL_RANDOM, 1);
VALUE(KMB_FILL_COPY, 2);
VALUE(KMB_FILL_CALLBACK, 3);
VALUE(KMB_FILL_CALLER, 4);
VALUE(KMB_FILL_ZERO, 5);
VALUE(KMB_RESIDENT_COLD, 0);
VALUE(KMB_RESIDENT_WARM, 1);
VALUE(KMB_BUFFER_SEED, 1);
VALUE(KMB_BUFFER_RANGE, 2);
VALUE(KMB_BUFFER_ALIAS, 4);
VALUE(KMB_BARRIER_AUTO, 0);
VALUE(KMB_BARRIER_FLAG, 1);
VALUE(KMB_BARRIER_STREAM, 2);
VALUE(KMB_BARRIER_NCCL, 3);
VALUE(KMB_BARRIER_CALLER, 4);
VALUE(KMB_BARRIER_HOST, 5);
VALUE(KMB_MULTICAST_UNDECLARED, 0);
VALUE(KMB_MULTICAST_ON, 1);
VALUE(KMB_MULTICAST_OFF, 2);
VALUE(KMB_TIMER_AUTO, 0);
VALUE(KMB_TIMER_TRACE, 1);
VALUE(KMB_TIMER_GRAPH, 2);
VALUE(KMB_TIMER_EVENT, 3);
VALUE(KMB_TIMER_HOST, 4);
VALUE(KMB_LAUNCH_AUTO, 0);
VALUE(KMB_LAUNCH_PLAIN, 1);
VALUE(KMB_LAUNCH_GRAPH, 2);
VALUE(KMB_CACHE_DEFAULT, 0);
VALUE(KMB_CACHE_COLD, 1);
VALUE(KMB_CACHE_ROTATED, 2);
VALUE(KMB_CACHE_WARM, 3);
VALUE(KMB_BENCH_SEED, 1);
VALUE(KMB_BENCH_TOLERANCE, 2);
VALUE(KMB_BENCH_NO_WARMUP, 4);
VALUE(KMB_BENCH_NO_CONFIRM, 8);
VALUE(KMB_BENCH_NO_CEILINGS, 16);
VALUE(KMB_BENCH_REQUIRE_TIMER, 32);
VALUE(KMB_BENCH_REQUIRE_CACHE, 64);
VALUE(KMB_BENCH_REQUIRE_LAUNCH, 128);
VALUE(KMB_BENCH_REQUIRE_CHECK, 256);
VALUE(KMB_BENCH_CONFIRM_COLD, 512);
VALUE(KMB_BENCH_COUNTERS, 1024);
VALUE(KMB_BENCH_KEEP_COUNTERS, 2048);
VALUE(KMB_CODE_HASH_SIZE, 65);
VALUE(KMB_CODE_HAS_ATTRIBUTES, 1);
VALUE(KMB_CODE_HAS_OCCUPANCY, 2);
VALUE(KMB_CODE_HAS_SCALARS, 4);
VALUE(KMB_CODE_HAS_ACCUMULATORS, 8);
VALUE(KMB_CODE_HAS_SPILLS, 16);
ENTRY(KMB_VALUE_NAME, 1, TEXT);
ENTRY(KMB_VALUE_TIME, 2, F64);
ENTRY(KMB_VALUE_RAW_MEDIAN, 3, F64);
ENTRY(KMB_VALUE_INTERVAL_LOW, 4, F64);
ENTRY(KMB_VALUE_INTERVAL_HIGH, 5, F64);
ENTRY(KMB_VALUE_INTERVAL_PCT, 6, F64);
ENTRY(KMB_VALUE_DESIGN_EFFECT, 7, F64);
ENTRY(KMB_VALUE_SAMPLES, 8, U64);
ENTRY(KMB_VALUE_SAMPLES_DROPPED, 9, U64);
ENTRY(KMB_VALUE_SAMPLES_INVALID, 10, U64);
ENTRY(KMB_VALUE_BATCH, 11, U64);
ENTRY(KMB_VALUE_ITERATIONS, 12, U64);
ENTRY(KMB_VALUE_WARMUP_ITERATIONS, 13, U64);
ENTRY(KMB_VALUE_MEAN, 14, F64);
ENTRY(KMB_VALUE_STDEV, 15, F64);
ENTRY(KMB_VALUE_MAD, 16, F64);
ENTRY(KMB_VALUE_MIN, 17, F64);
ENTRY(KMB_VALUE_P25, 18, F64);
ENTRY(KMB_VALUE_P75, 19, F64);
ENTRY(KMB_VALUE_P95, 20, F64);
ENTRY(KMB_VALUE_P99, 21, F64);
ENTRY(KMB_VALUE_MAX, 22, F64);
ENTRY(KMB_VALUE_STOP_REASON, 23, TEXT);
ENTRY(KMB_VALUE_TARGET_PCT, 24, F64);
ENTRY(KMB_VALUE_SEED, 25, U64);
ENTRY(KMB_VALUE_TIMER, 26, TEXT);
ENTRY(KMB_VALUE_TIMER_REASON, 27, TEXT);
ENTRY(KMB_VALUE_LAUNCH_MODE, 28, TEXT);
ENTRY(KMB_VALUE_ZERO_REFERENCE, 29, TEXT);
ENTRY(KMB_VALUE_BIAS, 30, F64);
ENTRY(KMB_VALUE_BIAS_UNCERTAINTY, 31, F64);
ENTRY(KMB_VALUE_OVERHEAD, 32, F64);
ENTRY(KMB_VALUE_CLOCK_TICK, 33, F64);
ENTRY(KMB_VALUE_CACHE_STATE, 34, TEXT);
ENTRY(KMB_VALUE_CACHE_REQUESTED, 35, TEXT);
ENTRY(KMB_VALUE_CACHE_METHOD, 36, TEXT);
ENTRY(KMB_VALUE_CACHE_PROOF, 37, TEXT);
ENTRY(KMB_VALUE_LLC_BYTES, 38, U64);
ENTRY(KMB_VALUE_REUSE_BYTES, 39, U64);
ENTRY(KMB_VALUE_SWEEP_BYTES, 40, U64);
ENTRY(KMB_VALUE_SLOTS, 41, U64);
ENTRY(KMB_VALUE_ALLOCATED_BYTES, 42, U64);
ENTRY(KMB_VALUE_TOUCHED_BYTES, 43, U64);
ENTRY(KMB_VALUE_FLOPS, 44, U64);
ENTRY(KMB_VALUE_LEAST_BYTES, 45, U64);
ENTRY(KMB_VALUE_READ_BYTES, 46, U64);
ENTRY(KMB_VALUE_WRITE_BYTES, 47, U64);
ENTRY(KMB_VALUE_WORK_CONVENTION, 48, TEXT);
ENTRY(KMB_VALUE_WORK_DTYPE, 49, TEXT);
ENTRY(KMB_VALUE_INTENSITY, 50, F64);
ENTRY(KMB_VALUE_RIDGE, 51, F64);
ENTRY(KMB_VALUE_MEMORY_CEILING, 52, F64);
ENTRY(KMB_VALUE_MEMORY_CEILING_NAME, 53, TEXT);
ENTRY(KMB_VALUE_COMPUTE_CEILING, 54, F64);
ENTRY(KMB_VALUE_COMPUTE_CEILING_NAME, 55, TEXT);
ENTRY(KMB_VALUE_THREADS, 56, U64);
ENTRY(KMB_VALUE_PREDICTED_BOUND, 57, TEXT);
ENTRY(KMB_VALUE_PREDICTED_TIME, 58, F64);
ENTRY(KMB_VALUE_OBSERVED_BOUND, 59, TEXT);
ENTRY(KMB_VALUE_ATTAINABLE_FLOPS, 60, F64);
ENTRY(KMB_VALUE_ACHIEVED_FLOPS, 61, F64);
ENTRY(KMB_VALUE_ACHIEVED_BYTES, 62, F64);
ENTRY(KMB_VALUE_SOL_PCT, 63, F64);
ENTRY(KMB_VALUE_MEMORY_PCT, 64, F64);
ENTRY(KMB_VALUE_COMPUTE_PCT, 65, F64);
ENTRY(KMB_VALUE_READING, 66, TEXT);
ENTRY(KMB_VALUE_CHECK, 67, TEXT);
ENTRY(KMB_VALUE_CHECK_ERROR, 68, F64);
ENTRY(KMB_VALUE_TOLERANCE, 69, F64);
ENTRY(KMB_VALUE_CONFIRM_TIME, 70, F64);
ENTRY(KMB_VALUE_CONFIRM_LOW, 71, F64);
ENTRY(KMB_VALUE_CONFIRM_HIGH, 72, F64);
ENTRY(KMB_VALUE_CONFIRM_METHOD, 73, TEXT);
ENTRY(KMB_VALUE_ROUNDS, 74, U64);
ENTRY(KMB_VALUE_ROUND_LOW, 75, F64);
ENTRY(KMB_VALUE_ROUND_HIGH, 76, F64);
ENTRY(KMB_VALUE_MEASURE_WALL, 77, F64);
ENTRY(KMB_VALUE_TOTAL_WALL, 78, F64);
ENTRY(KMB_VALUE_BUSY, 79, F64);
ENTRY(KMB_VALUE_SUM, 80, F64);
ENTRY(KMB_VALUE_DEVICE_OPS, 81, U64);
ENTRY(KMB_VALUE_FILL, 82, TEXT);
ENTRY(KMB_VALUE_CONFIG, 83, U64);
ENTRY(KMB_VALUE_DRIFT_PCT, 84, F64);
ENTRY(KMB_VALUE_CEILING_SOURCE, 85, TEXT);
ENTRY(KMB_VALUE_RATE_CEILING, 86, F64);
ENTRY(KMB_VALUE_RATE_CEILING_NAME, 87, TEXT);
ENTRY(KMB_VALUE_RATE_PCT, 88, F64);
ENTRY(KMB_VALUE_REFERENCE_PCT, 89, F64);
ENTRY(KMB_VALUE_REFERENCE_NAME, 90, TEXT);
ENTRY(KMB_VALUE_READING_PREDICTION, 91, TEXT);
ENTRY(KMB_VALUE_READING_SOL, 92, TEXT);
ENTRY(KMB_VALUE_READING_MEMORY, 93, TEXT);
ENTRY(KMB_VALUE_READING_OCCUPANCY, 94, TEXT);
ENTRY(KMB_VALUE_GAPS, 95, F64);
ENTRY(KMB_VALUE_OP_SAMPLES, 96, U64);
ENTRY(KMB_VALUE_OP_SAMPLES_OTHER, 97, U64);
ENTRY(KMB_VALUE_OPS_OMITTED, 98, U64);
ENTRY(KMB_VALUE_COUNTER_PASSES, 99, U64);
ENTRY(KMB_VALUE_COUNTER_MODE, 100, TEXT);
ENTRY(KMB_VALUE_COUNTER_KERNEL, 101, TEXT);
ENTRY(KMB_VALUE_COLD_RATIO, 102, F64);
ENTRY(KMB_VALUE_DRAM_READ, 103, F64);
ENTRY(KMB_VALUE_DRAM_WRITE, 104, F64);
ENTRY(KMB_VALUE_DRAM_RATE, 105, F64);
ENTRY(KMB_VALUE_NCU_COMPUTE, 106, F64);
ENTRY(KMB_VALUE_NCU_MEMORY, 107, F64);
ENTRY(KMB_VALUE_L2_HIT, 108, F64);
ENTRY(KMB_VALUE_NCU_MEM_BUSY, 109, F64);
ENTRY(KMB_VALUE_NCU_BANDWIDTH, 110, F64);
ENTRY(KMB_VALUE_NCU_MEM_PIPES, 111, F64);
ENTRY(KMB_VALUE_OCCUPANCY, 112, F64);
ENTRY(KMB_VALUE_WORLD_SIZE, 120, U64);
ENTRY(KMB_VALUE_RANK, 121, U64);
ENTRY(KMB_VALUE_NODES, 122, U64);
ENTRY(KMB_VALUE_GPUS_PER_NODE, 123, U64);
ENTRY(KMB_VALUE_COMM, 124, TEXT);
ENTRY(KMB_VALUE_BARRIER, 125, TEXT);
ENTRY(KMB_VALUE_COLLECTIVE, 126, TEXT);
ENTRY(KMB_VALUE_MULTICAST, 127, TEXT);
ENTRY(KMB_VALUE_TOPOLOGY, 128, TEXT);
ENTRY(KMB_VALUE_BOUNDARY, 129, TEXT);
ENTRY(KMB_VALUE_RELEASE_SKEW, 130, F64);
ENTRY(KMB_VALUE_RELEASE_SKEW_P99, 131, F64);
ENTRY(KMB_VALUE_RANK_SPREAD_PCT, 132, F64);
ENTRY(KMB_VALUE_GLOBAL_FLOPS, 133, U64);
ENTRY(KMB_VALUE_GLOBAL_LEAST_BYTES, 134, U64);
ENTRY(KMB_VALUE_AGREEMENT, 135, F64);
ENTRY(KMB_VALUE_ALLOCATION, 136, TEXT);
ENTRY(KMB_VALUE_FABRIC, 137, TEXT);
ENTRY(KMB_VALUE_LAUNCH_KERNEL, 138, TEXT);
ENTRY(KMB_VALUE_LAUNCH_GRID, 139, TEXT);
ENTRY(KMB_VALUE_LAUNCH_BLOCK, 140, TEXT);
ENTRY(KMB_VALUE_REGISTERS, 141, U64);
ENTRY(KMB_VALUE_LOCAL_BYTES, 142, U64);
ENTRY(KMB_VALUE_STATIC_SHARED, 143, U64);
ENTRY(KMB_VALUE_DYNAMIC_SHARED, 144, U64);
ENTRY(KMB_VALUE_WAVES, 145, F64);
ENTRY(KMB_VALUE_BLOCKS_PER_UNIT, 146, U64);
ENTRY(KMB_VALUE_THEORETICAL, 147, F64);
ENTRY(KMB_VALUE_OCCUPANCY_LIMIT, 148, TEXT);
ENTRY(KMB_VALUE_OCCUPANCY_CHECK, 149, TEXT);
ENTRY(KMB_VALUE_CODE_OMITTED, 150, U64);
ENTRY(KMB_VALUE_CODE_UNSEEN, 151, U64);
VALUE(KMB_NOTE, 1);
VALUE(KMB_WARNING, 2);
VALUE(KMB_DOUBT, 3);
VALUE(KMB_FINDING_FALLBACK_TIMER, 1);
VALUE(KMB_FINDING_UNCALIBRATED, 2);
VALUE(KMB_FINDING_TIMERS_DISAGREE, 3);
VALUE(KMB_FINDING_NOT_COLD, 4);
VALUE(KMB_FINDING_HOST_BOUND, 5);
VALUE(KMB_FINDING_ABOVE_PEAK, 6);
VALUE(KMB_FINDING_THROTTLED, 7);
VALUE(KMB_FINDING_CLOCK_DRIFT, 8);
VALUE(KMB_FINDING_UNSTABLE, 9);
VALUE(KMB_FINDING_BIMODAL, 10);
VALUE(KMB_FINDING_DRIFT, 11);
VALUE(KMB_FINDING_RECORDS_DROPPED, 12);
VALUE(KMB_FINDING_RECORDS_MISSING, 13);
VALUE(KMB_FINDING_INVALID_TIMESTAMPS, 14);
VALUE(KMB_FINDING_STALE_OUTPUT, 15);
VALUE(KMB_FINDING_STATE_CARRIED, 16);
VALUE(KMB_FINDING_CHECK_SKIPPED, 17);
VALUE(KMB_FINDING_FEW_SAMPLES, 18);
VALUE(KMB_FINDING_RESOLUTION, 19);
VALUE(KMB_FINDING_OVERHEAD, 20);
VALUE(KMB_FINDING_NOT_QUIET, 21);
VALUE(KMB_FINDING_ITERATIONS_OVERLAP, 22);
VALUE(KMB_FINDING_COMPILED_WHILE_TIMED, 23);
VALUE(KMB_FINDING_OTHER_THREADS, 24);
VALUE(KMB_FINDING_RANK_SKEW, 25);
VALUE(KMB_FINDING_SYNC_OUTLIER, 26);
VALUE(KMB_FINDING_MULTICAST_OFF, 27);
VALUE(KMB_FINDING_CUPTI_ATTACHED, 28);
VALUE(KMB_FINDING_ZERO_DATA, 29);
VALUE(KMB_FINDING_UNKNOWN_PEAK, 30);
VALUE(KMB_FINDING_SHARED_DEVICE, 31);
VALUE(KMB_FINDING_FAR_FROM_DEVICE, 32);
VALUE(KMB_FINDING_NOT_WARM, 33);
VALUE(KMB_FINDING_NOT_CONVERGED, 34);
VALUE(KMB_FINDING_UNCONFIRMED, 35);
VALUE(KMB_FINDING_GRAPHS_NOT_TRACED, 36);
VALUE(KMB_FINDING_GRAPHS_AS_SPANS, 37);
VALUE(KMB_FINDING_CAUSE_UNKNOWN, 38);
VALUE(KMB_FINDING_UNKNOWN_DEVICE, 39);
VALUE(KMB_FINDING_GRAPH_UNSEEN, 40);
VALUE(KMB_OP_KERNEL, 1);
VALUE(KMB_OP_MEMCPY, 2);
VALUE(KMB_OP_MEMSET, 3);
VALUE(KMB_OP_GRAPH, 4);
VALUE(KMB_OP_HAS_LAUNCH, 1);
VALUE(KMB_CODE_UNKNOWN, 0);
VALUE(KMB_CODE_SAME, 1);
VALUE(KMB_CODE_DIFFERENT, 2);
VALUE(KMB_TREE_UNKNOWN, 0);
VALUE(KMB_TREE_CLEAN, 1);
VALUE(KMB_TREE_DIRTY, 2);
VALUE(KMB_OPERATION_OTHER, 0);
VALUE(KMB_OPERATION_GEMM, 1);
VALUE(KMB_OPERATION_ATTENTION, 2);
VALUE(KMB_OPERATION_COPY, 3);
VALUE(KMB_SCALES_NONE, 0);
VALUE(KMB_SCALES_NVFP4, 1);
VALUE(KMB_SCALES_MX, 2);
VALUE(KMB_SCALES_BLOCK_128, 3);
VALUE(KMB_MATMUL_BETA, 1);
VALUE(KMB_MATMUL_BIAS, 2);
VALUE(KMB_MATMUL_EPILOGUE, 4);
VALUE(KMB_MATMUL_COMPLEX, 8);
VALUE(KMB_GROUPED_USED_B, 1);
VALUE(KMB_MASK_NONE, 0);
VALUE(KMB_MASK_CAUSAL_TOP_LEFT, 1);
VALUE(KMB_MASK_CAUSAL_BOTTOM_RIGHT, 2);
VALUE(KMB_ATTENTION_FORWARD, 0);
VALUE(KMB_ATTENTION_BACKWARD, 1);
VALUE(KMB_ATTENTION_BOTH, 2);
VALUE(KMB_PAIRS_EXACT, 0);
VALUE(KMB_PAIRS_AVERAGE, 1);
VALUE(KMB_MOE_UNGATED, 1);
VALUE(KMB_NORM_RMS, 1);
VALUE(KMB_NORM_LAYER, 2);
VALUE(KMB_NORM_RESIDUAL, 1);
VALUE(KMB_ALL_REDUCE, 1);
VALUE(KMB_REDUCE_SCATTER, 2);
VALUE(KMB_ALL_GATHER, 3);
VALUE(KMB_ALL_TO_ALL, 4);
VALUE(KMB_BROADCAST, 5);
VALUE(KMB_REDUCE, 6);
VALUE(KMB_ALL_REDUCE_IN_NETWORK, 7);
VALUE(KMB_CEILING_READ, 1);
VALUE(KMB_CEILING_COPY, 2);
VALUE(KMB_CEILING_TRIAD, 3);
VALUE(KMB_CEILING_FMA, 4);
VALUE(KMB_CEILING_MATRIX, 5);
VALUE(KMB_CEILING_MEMORY, 6);
VALUE(KMB_SOURCE_MEASURED, 1);
VALUE(KMB_SOURCE_CALLER, 2);
VALUE(KMB_SOURCE_DATASHEET, 3);
VALUE(KMB_SOURCE_RATE, 4);
VALUE(KMB_SOURCE_REFERENCE, 5);
VALUE(KMB_CEILING_SPARSE, 1);
VALUE(KMB_BOUND_UNKNOWN, 0);
VALUE(KMB_BOUND_MEMORY, 1);
VALUE(KMB_BOUND_COMPUTE, 2);
VALUE(KMB_BOUND_NEITHER, 3);
VALUE(KMB_ROOFLINE_INTENSITY, 1);
VALUE(KMB_ROOFLINE_RIDGE, 2);
VALUE(KMB_ROOFLINE_ATTAINABLE_FLOPS, 4);
VALUE(KMB_ROOFLINE_SOL_TIME, 8);
VALUE(KMB_ROOFLINE_SOL_PCT, 16);
VALUE(KMB_ROOFLINE_ACHIEVED_FLOPS, 32);
VALUE(KMB_ROOFLINE_ACHIEVED_BYTES, 64);
VALUE(KMB_ROOFLINE_MEMORY_PCT, 128);
VALUE(KMB_ROOFLINE_COMPUTE_PCT, 256);
VALUE(KMB_ROOFLINE_ABOVE_PEAK, 512);
VALUE(KMB_ROOFLINE_REFERENCE_PCT, 1024);
VALUE(KMB_PART_VENDOR, 1);
VALUE(KMB_PART_NAME, 2);
VALUE(KMB_PART_LABELS, 3);
VALUE(KMB_PART_DRIVER_NAMES, 4);
VALUE(KMB_PART_PCI_IDS, 5);
VALUE(KMB_PART_PCI_REV, 6);
VALUE(KMB_PART_ARCH, 7);
VALUE(KMB_PART_PART, 8);
VALUE(KMB_PART_UNITS, 9);
VALUE(KMB_PART_BOOST_CLOCK, 10);
VALUE(KMB_PART_TENSOR_CLOCK, 11);
VALUE(KMB_PART_MEMORY, 12);
VALUE(KMB_PART_BANDWIDTH, 13);
VALUE(KMB_PART_L2, 14);
VALUE(KMB_PART_LLC, 15);
VALUE(KMB_PART_FP64, 16);
VALUE(KMB_PART_FP64_TENSOR, 17);
VALUE(KMB_PART_FP32, 18);
VALUE(KMB_PART_FP32_MATRIX, 19);
VALUE(KMB_PART_TF32, 20);
VALUE(KMB_PART_FP16, 21);
VALUE(KMB_PART_BF16, 22);
VALUE(KMB_PART_FP8, 23);
VALUE(KMB_PART_FP6, 24);
VALUE(KMB_PART_FP4, 25);
VALUE(KMB_PART_INT8, 26);
VALUE(KMB_PART_SPARSE, 27);
VALUE(KMB_PART_NEVER_FROM_RATES, 28);
VALUE(KMB_PART_SOURCE, 29);
VALUE(KMB_PART_ORIGIN, 30);
VALUE(KMB_COMPARE_SEED, 1);
VALUE(KMB_COMPARE_ANY_TIMER, 2);
VALUE(KMB_COMPARE_ANY_LAUNCH, 4);
VALUE(KMB_COMPARE_ANY_CACHE, 8);
VALUE(KMB_COMPARE_ANY_WORK, 16);
VALUE(KMB_COMPARE_ANY_AXES, 32);
VALUE(KMB_VERDICT_BASELINE, 0);
VALUE(KMB_VERDICT_FASTER, 1);
VALUE(KMB_VERDICT_SLOWER, 2);
VALUE(KMB_VERDICT_SAME, 3);
VALUE(KMB_VERDICT_UNRESOLVED, 4);
VALUE(KMB_ROW_RATIO, 1);
VALUE(KMB_ROW_INTERVAL, 2);
VALUE(KMB_ROW_TUNED, 4);
VALUE(KMB_ROW_UNTUNED, 8);
VALUE(KMB_REPLAY_AUTO, 0);
VALUE(KMB_REPLAY_LAUNCH, 1);
VALUE(KMB_REPLAY_KERNEL, 2);
VALUE(KMB_REPLAY_GRAPH, 3);
VALUE(KMB_COUNTERS_LIST, 1);
VALUE(KMB_COUNTERS_KEEP, 2);
VALUE(KMB_COUNTERS_SOL_DRAM_READ, 0);
VALUE(KMB_COUNTERS_SOL_DRAM_WRITE, 1);
VALUE(KMB_COUNTERS_SOL_OCCUPANCY, 2);
VALUE(KMB_COUNTERS_SOL_L2_HIT, 3);
VALUE(KMB_COUNTERS_SOL_COMPUTE, 4);
VALUE(KMB_COUNTERS_SOL_MEMORY, 5);
VALUE(KMB_COUNTERS_SOL_MEM_BUSY, 6);
VALUE(KMB_COUNTERS_SOL_MEM_BANDWIDTH, 7);
VALUE(KMB_COUNTERS_SOL_MEM_ISSUE, 8);
VALUE(KMB_COUNTERS_SOL_COUNT, 9);
VALUE(KMB_OCCUPANCY_HAS_LIMITS, 1);
VALUE(KMB_OCCUPANCY_CHECKED, 2);
VALUE(KMB_TRACE_AUTO, 0);
VALUE(KMB_TRACE_NSYS_CSV, 1);
VALUE(KMB_TRACE_NSYS_SQLITE, 2);
VALUE(KMB_TRACE_NVPROF, 3);
VALUE(KMB_TRACE_NSYS_REP, 4);
VALUE(KMB_TRACE_ROCPROF_CSV, 5);
VALUE(KMB_TRACE_CHROME_JSON, 6);
VALUE(KMB_TRACE_KMB, 7);
VALUE(KMB_CALL_LAUNCH, 1);
VALUE(KMB_CALL_GRAPH_LAUNCH, 2);
VALUE(KMB_CALL_SYNC, 3);
VALUE(KMB_CALL_OTHER, 4);
VALUE(KMB_TRACE_NO_SHAPES, 1);
VALUE(KMB_OP_HAS_DEVICE, 1);
VALUE(KMB_OP_HAS_STREAM, 2);
VALUE(KMB_OP_HAS_BYTES, 4);
VALUE(KMB_OP_HAS_CORRELATION, 8);
VALUE(KMB_OP_HAS_CALL, 16);
VALUE(KMB_OP_HAS_SHAPE, 32);
VALUE(KMB_GAPS_DEVICE, 1);
VALUE(KMB_GAPS_FROM, 2);
VALUE(KMB_GAPS_TO, 4);
VALUE(KMB_GAPS_HAS_DEVICE, 1);
VALUE(KMB_GAPS_HAS_CAUSES, 2);
VALUE(KMB_PAYOFF_HAS_ISOLATED, 1);
VALUE(KMB_PAYOFF_HAS_ISOLATED_INTERVAL, 2);
VALUE(KMB_PAYOFF_IS_COLD, 4);
VALUE(KMB_PAYOFF_IS_WARM, 8);
VALUE(KMB_PAYOFF_HAS_SHAPE, 16);
VALUE(KMB_PAYOFF_ALL_NAMES, 1);
VALUE(KMB_PAYOFF_ANY_DEVICE, 2);
VALUE(KMB_PAYOFF_ALL_SHAPES, 4);
VALUE(KMB_PAYOFF_ONE_SHAPE, 8);
VALUE(KMB_PAYOFF_MATCHED, 1);
VALUE(KMB_PAYOFF_PREDICTED, 2);
VALUE(KMB_PAYOFF_HAS_STEP_INTERVAL, 4);
VALUE(KMB_PAYOFF_HAS_RATIO_INTERVAL, 8);
VALUE(KMB_PAYOFF_STEP_DIFFERS, 16);
VALUE(KMB_PAYOFF_OTHER_DEVICE, 32);
VALUE(KMB_PAYOFF_RECORDS_DROPPED, 64);
VALUE(KMB_PAYOFF_STREAMS_APART, 128);
VALUE(KMB_PAYOFF_SHAPES_KNOWN, 256);
VALUE(KMB_PAYOFF_BY_SHAPE, 512);
VALUE(KMB_PAYOFF_BY_CODE, 1024);
VALUE(KMB_PAYOFF_SAME_CODE, 2048);
VALUE(KMB_PAYOFF_SCALED, 1);
VALUE(KMB_PAYOFF_CODE_SAME, 2);
VALUE(KMB_PAYOFF_CODE_OTHER, 4);
VALUE(KMB_PAYOFF_CODE_SEVERAL, 8);
VALUE(KMB_RECORD_NO_CALLS, 1);

MEMBER(kmb_pair, key, 0, 8, const char *);
MEMBER(kmb_pair, value, 8, 8, const char *);
FINAL(kmb_pair, 16);

MEMBER(kmb_progress, struct_size, 0, 8, size_t);
MEMBER(kmb_progress, name, 8, 8, const char *);
MEMBER(kmb_progress, stage, 16, 8, const char *);
MEMBER(kmb_progress, samples, 24, 8, uint64_t);
MEMBER(kmb_progress, elapsed_ns, 32, 8, double);
MEMBER(kmb_progress, limit_ns, 40, 8, double);
MEMBER(kmb_progress, median_ns, 48, 8, double);
MEMBER(kmb_progress, round, 56, 4, uint32_t);
MEMBER(kmb_progress, rounds, 60, 4, uint32_t);
GROWS(kmb_progress, 64);

MEMBER(kmb_hooks, struct_size, 0, 8, size_t);
MEMBER(kmb_hooks, log, 8, 8, void (*)(void *, int32_t, const char *));
MEMBER(kmb_hooks, log_user, 16, 8, void *);
MEMBER(kmb_hooks, alloc, 24, 8, void *(*)(void *, size_t, size_t));
MEMBER(kmb_hooks, free, 32, 8, void (*)(void *, void *, size_t));
MEMBER(kmb_hooks, alloc_user, 40, 8, void *);
MEMBER(kmb_hooks, device_alloc, 48, 8, int32_t (*)(void *, uint64_t, uint64_t,
    void **));
MEMBER(kmb_hooks, device_free, 56, 8, void (*)(void *, void *, uint64_t));
MEMBER(kmb_hooks, device_alloc_user, 64, 8, void *);
MEMBER(kmb_hooks, progress, 72, 8, void (*)(void *, const kmb_progress *));
MEMBER(kmb_hooks, progress_user, 80, 8, void *);
MEMBER(kmb_hooks, cancel, 88, 8, const volatile int32_t *);
GROWS(kmb_hooks, 96);

MEMBER(kmb_device_params, struct_size, 0, 8, size_t);
MEMBER(kmb_device_params, hooks, 8, 8, const kmb_hooks *);
MEMBER(kmb_device_params, llc_bytes, 16, 8, uint64_t);
MEMBER(kmb_device_params, memory_budget, 24, 8, uint64_t);
MEMBER(kmb_device_params, threads, 32, 4, uint32_t);
MEMBER(kmb_device_params, flags, 36, 4, uint32_t);
GROWS(kmb_device_params, 40);

MEMBER(kmb_buffer_desc, struct_size, 0, 8, size_t);
MEMBER(kmb_buffer_desc, name, 8, 8, const char *);
MEMBER(kmb_buffer_desc, bytes, 16, 8, uint64_t);
MEMBER(kmb_buffer_desc, touched_bytes, 24, 8, uint64_t);
MEMBER(kmb_buffer_desc, alignment, 32, 8, uint64_t);
MEMBER(kmb_buffer_desc, seed, 40, 8, uint64_t);
MEMBER(kmb_buffer_desc, low, 48, 8, double);
MEMBER(kmb_buffer_desc, high, 56, 8, double);
MEMBER(kmb_buffer_desc, source, 64, 8, const void *);
MEMBER(kmb_buffer_desc, fill_fn, 72, 8, int32_t (*)(void *, void *, uint64_t,
    uint32_t));
MEMBER(kmb_buffer_desc, fill_user, 80, 8, void *);
MEMBER(kmb_buffer_desc, pointers, 88, 8, void *const *);
MEMBER(kmb_buffer_desc, pointer_count, 96, 8, uint64_t);
MEMBER(kmb_buffer_desc, alias_offset, 104, 8, uint64_t);
MEMBER(kmb_buffer_desc, alias_of, 112, 4, uint32_t);
MEMBER(kmb_buffer_desc, flags, 116, 4, uint32_t);
MEMBER(kmb_buffer_desc, role, 120, 4, int32_t);
MEMBER(kmb_buffer_desc, dtype, 124, 4, int32_t);
MEMBER(kmb_buffer_desc, fill, 128, 4, int32_t);
MEMBER(kmb_buffer_desc, residency, 132, 4, int32_t);
GROWS(kmb_buffer_desc, 136);

MEMBER(kmb_buffers_params, struct_size, 0, 8, size_t);
MEMBER(kmb_buffers_params, rotation_bytes, 8, 8, uint64_t);
MEMBER(kmb_buffers_params, reuse_factor, 16, 8, double);
MEMBER(kmb_buffers_params, slots, 24, 4, uint32_t);
MEMBER(kmb_buffers_params, flags, 28, 4, uint32_t);
GROWS(kmb_buffers_params, 32);

MEMBER(kmb_buffers_info, struct_size, 0, 8, size_t);
MEMBER(kmb_buffers_info, count, 8, 8, uint64_t);
MEMBER(kmb_buffers_info, allocated_bytes, 16, 8, uint64_t);
MEMBER(kmb_buffers_info, touched_bytes, 24, 8, uint64_t);
MEMBER(kmb_buffers_info, cold_bytes, 32, 8, uint64_t);
MEMBER(kmb_buffers_info, reuse_bytes, 40, 8, uint64_t);
MEMBER(kmb_buffers_info, slots, 48, 4, uint32_t);
MEMBER(kmb_buffers_info, slots_limit, 52, 4, uint32_t);
GROWS(kmb_buffers_info, 56);

MEMBER(kmb_comm_ops, struct_size, 0, 8, size_t);
MEMBER(kmb_comm_ops, ctx, 8, 8, void *);
MEMBER(kmb_comm_ops, start, 16, 8, int32_t (*)(void *, const void *, void *,
    size_t, void **));
MEMBER(kmb_comm_ops, test, 24, 8, int32_t (*)(void *, void *, int32_t *));
MEMBER(kmb_comm_ops, release, 32, 8, void (*)(void *, void *));
MEMBER(kmb_comm_ops, arrived, 40, 8, int32_t (*)(void *, void *, int32_t,
    int32_t *));
MEMBER(kmb_comm_ops, device_barrier, 48, 8, int32_t (*)(void *, void *));
MEMBER(kmb_comm_ops, abort, 56, 8, void (*)(void *, int32_t, const char *));
MEMBER(kmb_comm_ops, close, 64, 8, void (*)(void *));
MEMBER(kmb_comm_ops, name, 72, 8, const char *);
MEMBER(kmb_comm_ops, rank, 80, 4, int32_t);
MEMBER(kmb_comm_ops, size, 84, 4, int32_t);
GROWS(kmb_comm_ops, 88);

MEMBER(kmb_comm_params, struct_size, 0, 8, size_t);
MEMBER(kmb_comm_params, hooks, 8, 8, const kmb_hooks *);
MEMBER(kmb_comm_params, deadline_ns, 16, 8, double);
MEMBER(kmb_comm_params, first_deadline_ns, 24, 8, double);
MEMBER(kmb_comm_params, collective, 32, 8, const char *);
MEMBER(kmb_comm_params, topology, 40, 8, const char *);
MEMBER(kmb_comm_params, fabric, 48, 8, const char *);
MEMBER(kmb_comm_params, nccl, 56, 8, void *);
MEMBER(kmb_comm_params, abort, 64, 8, void (*)(void *, int32_t, const char *));
MEMBER(kmb_comm_params, abort_user, 72, 8, void *);
MEMBER(kmb_comm_params, skew_samples, 80, 8, uint64_t);
MEMBER(kmb_comm_params, barrier, 88, 4, int32_t);
MEMBER(kmb_comm_params, multicast, 92, 4, int32_t);
GROWS(kmb_comm_params, 96);

MEMBER(kmb_launch, struct_size, 0, 8, size_t);
MEMBER(kmb_launch, stream, 8, 8, void *);
MEMBER(kmb_launch, args, 16, 8, void *const *);
MEMBER(kmb_launch, arg_count, 24, 8, uint64_t);
MEMBER(kmb_launch, iteration, 32, 8, uint64_t);
MEMBER(kmb_launch, slot, 40, 4, uint32_t);
MEMBER(kmb_launch, config, 44, 4, uint32_t);
GROWS(kmb_launch, 48);

MEMBER(kmb_check, struct_size, 0, 8, size_t);
MEMBER(kmb_check, before, 8, 8, const void *const *);
MEMBER(kmb_check, after, 16, 8, const void *const *);
MEMBER(kmb_check, bytes, 24, 8, const uint64_t *);
MEMBER(kmb_check, count, 32, 8, uint64_t);
MEMBER(kmb_check, tolerance, 40, 8, double);
MEMBER(kmb_check, error, 48, 8, double);
MEMBER(kmb_check, slot, 56, 4, uint32_t);
MEMBER(kmb_check, config, 60, 4, uint32_t);
GROWS(kmb_check, 64);

MEMBER(kmb_bench_params, struct_size, 0, 8, size_t);
MEMBER(kmb_bench_params, name, 8, 8, const char *);
MEMBER(kmb_bench_params, axes, 16, 8, const kmb_pair *);
MEMBER(kmb_bench_params, axis_count, 24, 8, uint64_t);
MEMBER(kmb_bench_params, launch, 32, 8, int32_t (*)(void *,
    const kmb_launch *));
MEMBER(kmb_bench_params, launch_user, 40, 8, void *);
MEMBER(kmb_bench_params, setup, 48, 8, int32_t (*)(void *, uint32_t, uint32_t));
MEMBER(kmb_bench_params, setup_user, 56, 8, void *);
MEMBER(kmb_bench_params, reset, 64, 8, int32_t (*)(void *, uint32_t, void *));
MEMBER(kmb_bench_params, reset_user, 72, 8, void *);
MEMBER(kmb_bench_params, check, 80, 8, int32_t (*)(void *, kmb_check *));
MEMBER(kmb_bench_params, check_user, 88, 8, void *);
MEMBER(kmb_bench_params, tolerance, 96, 8, double);
MEMBER(kmb_bench_params, buffers, 104, 8, kmb_buffers *);
MEMBER(kmb_bench_params, work, 112, 8, const kmb_work *);
MEMBER(kmb_bench_params, memory_ceiling, 120, 8, const kmb_ceiling *);
MEMBER(kmb_bench_params, compute_ceiling, 128, 8, const kmb_ceiling *);
MEMBER(kmb_bench_params, metadata, 136, 8, const kmb_metadata_params *);
MEMBER(kmb_bench_params, stream, 144, 8, void *);
MEMBER(kmb_bench_params, target_pct, 152, 8, double);
MEMBER(kmb_bench_params, min_wall_ns, 160, 8, double);
MEMBER(kmb_bench_params, max_wall_ns, 168, 8, double);
MEMBER(kmb_bench_params, warmup_ns, 176, 8, double);
MEMBER(kmb_bench_params, idle_ns, 184, 8, double);
MEMBER(kmb_bench_params, min_samples, 192, 8, uint64_t);
MEMBER(kmb_bench_params, max_samples, 200, 8, uint64_t);
MEMBER(kmb_bench_params, batch, 208, 8, uint64_t);
MEMBER(kmb_bench_params, seed, 216, 8, uint64_t);
MEMBER(kmb_bench_params, rounds, 224, 4, uint32_t);
MEMBER(kmb_bench_params, threads, 228, 4, uint32_t);
MEMBER(kmb_bench_params, config, 232, 4, uint32_t);
MEMBER(kmb_bench_params, flags, 236, 4, uint32_t);
MEMBER(kmb_bench_params, timer, 240, 4, int32_t);
MEMBER(kmb_bench_params, launch_mode, 244, 4, int32_t);
MEMBER(kmb_bench_params, cache, 248, 4, int32_t);
MEMBER(kmb_bench_params, reserved, 252, 4, int32_t);
MEMBER(kmb_bench_params, peaks, 256, 8, const kmb_peaks *);
MEMBER(kmb_bench_params, graphs, 264, 8, void *const *);
MEMBER(kmb_bench_params, graph_count, 272, 8, uint64_t);
MEMBER(kmb_bench_params, comm, 280, 8, kmb_comm *);
MEMBER(kmb_bench_params, boundary, 288, 8, const char *);
MEMBER(kmb_bench_params, code, 296, 8, const kmb_code *);
GROWS(kmb_bench_params, 304);

MEMBER(kmb_code_kernel, struct_size, 0, 8, size_t);
MEMBER(kmb_code_kernel, name, 8, 8, const char *);
MEMBER(kmb_code_kernel, arch, 16, 8, const char *);
MEMBER(kmb_code_kernel, hash, 24, 8, const char *);
MEMBER(kmb_code_kernel, reason, 32, 8, const char *);
MEMBER(kmb_code_kernel, launches, 40, 8, uint64_t);
MEMBER(kmb_code_kernel, registers, 48, 8, uint64_t);
MEMBER(kmb_code_kernel, static_shared_bytes, 56, 8, uint64_t);
MEMBER(kmb_code_kernel, local_bytes, 64, 8, uint64_t);
MEMBER(kmb_code_kernel, max_threads, 72, 8, uint64_t);
MEMBER(kmb_code_kernel, dynamic_shared_bytes, 80, 8, uint64_t);
MEMBER(kmb_code_kernel, blocks_per_unit, 88, 8, uint64_t);
MEMBER(kmb_code_kernel, grid_x, 96, 4, uint32_t);
MEMBER(kmb_code_kernel, grid_y, 100, 4, uint32_t);
MEMBER(kmb_code_kernel, grid_z, 104, 4, uint32_t);
MEMBER(kmb_code_kernel, block_x, 108, 4, uint32_t);
MEMBER(kmb_code_kernel, block_y, 112, 4, uint32_t);
MEMBER(kmb_code_kernel, block_z, 116, 4, uint32_t);
MEMBER(kmb_code_kernel, flags, 120, 4, uint32_t);
MEMBER(kmb_code_kernel, reserved, 124, 4, uint32_t);
MEMBER(kmb_code_kernel, demangled, 128, 8, const char *);
MEMBER(kmb_code_kernel, file, 136, 8, const char *);
MEMBER(kmb_code_kernel, code_hash, 144, 8, const char *);
MEMBER(kmb_code_kernel, code_offset, 152, 8, uint64_t);
MEMBER(kmb_code_kernel, code_bytes, 160, 8, uint64_t);
MEMBER(kmb_code_kernel, scalar_registers, 168, 8, uint64_t);
MEMBER(kmb_code_kernel, accumulator_registers, 176, 8, uint64_t);
MEMBER(kmb_code_kernel, spilled_registers, 184, 8, uint64_t);
MEMBER(kmb_code_kernel, spilled_scalar_registers, 192, 8, uint64_t);
GROWS(kmb_code_kernel, 200);

MEMBER(kmb_code_info, struct_size, 0, 8, size_t);
MEMBER(kmb_code_info, kernels, 8, 8, uint64_t);
MEMBER(kmb_code_info, images, 16, 8, uint64_t);
MEMBER(kmb_code_info, graph_launches, 24, 8, uint64_t);
MEMBER(kmb_code_info, elsewhere, 32, 8, uint64_t);
GROWS(kmb_code_info, 40);

MEMBER(kmb_figure, name, 0, 8, const char *);
MEMBER(kmb_figure, value, 8, 8, double);
FINAL(kmb_figure, 16);

MEMBER(kmb_finding, struct_size, 0, 8, size_t);
MEMBER(kmb_finding, message, 8, 8, const char *);
MEMBER(kmb_finding, figures, 16, 8, const kmb_figure *);
MEMBER(kmb_finding, figure_count, 24, 8, uint64_t);
MEMBER(kmb_finding, code, 32, 4, int32_t);
MEMBER(kmb_finding, severity, 36, 4, int32_t);
GROWS(kmb_finding, 40);

MEMBER(kmb_op, struct_size, 0, 8, size_t);
MEMBER(kmb_op, name, 8, 8, const char *);
MEMBER(kmb_op, start_ns, 16, 8, double);
MEMBER(kmb_op, duration_ns, 24, 8, double);
MEMBER(kmb_op, min_ns, 32, 8, double);
MEMBER(kmb_op, max_ns, 40, 8, double);
MEMBER(kmb_op, share_pct, 48, 8, double);
MEMBER(kmb_op, bytes, 56, 8, uint64_t);
MEMBER(kmb_op, kind, 64, 4, int32_t);
MEMBER(kmb_op, stream, 68, 4, uint32_t);
MEMBER(kmb_op, grid_x, 72, 4, uint32_t);
MEMBER(kmb_op, grid_y, 76, 4, uint32_t);
MEMBER(kmb_op, grid_z, 80, 4, uint32_t);
MEMBER(kmb_op, block_x, 84, 4, uint32_t);
MEMBER(kmb_op, block_y, 88, 4, uint32_t);
MEMBER(kmb_op, block_z, 92, 4, uint32_t);
MEMBER(kmb_op, registers, 96, 4, uint32_t);
MEMBER(kmb_op, local, 100, 4, uint32_t);
MEMBER(kmb_op, static_shared, 104, 4, uint32_t);
MEMBER(kmb_op, dynamic_shared, 108, 4, uint32_t);
MEMBER(kmb_op, flags, 112, 4, uint32_t);
MEMBER(kmb_op, reserved, 116, 4, uint32_t);
GROWS(kmb_op, 120);

MEMBER(kmb_code_pair, struct_size, 0, 8, size_t);
MEMBER(kmb_code_pair, a, 8, 8, const char *);
MEMBER(kmb_code_pair, b, 16, 8, const char *);
MEMBER(kmb_code_pair, reason, 24, 8, const char *);
MEMBER(kmb_code_pair, match, 32, 4, int32_t);
MEMBER(kmb_code_pair, reserved, 36, 4, int32_t);
GROWS(kmb_code_pair, 40);

MEMBER(kmb_rank, struct_size, 0, 8, size_t);
MEMBER(kmb_rank, device, 8, 8, const char *);
MEMBER(kmb_rank, id, 16, 8, const char *);
MEMBER(kmb_rank, median_ns, 24, 8, double);
MEMBER(kmb_rank, min_ns, 32, 8, double);
MEMBER(kmb_rank, max_ns, 40, 8, double);
MEMBER(kmb_rank, slowest, 48, 8, uint64_t);
MEMBER(kmb_rank, flops, 56, 8, uint64_t);
MEMBER(kmb_rank, bytes, 64, 8, uint64_t);
MEMBER(kmb_rank, node, 72, 8, uint64_t);
GROWS(kmb_rank, 80);

MEMBER(kmb_metadata_params, struct_size, 0, 8, size_t);
MEMBER(kmb_metadata_params, commit, 8, 8, const char *);
MEMBER(kmb_metadata_params, branch, 16, 8, const char *);
MEMBER(kmb_metadata_params, build, 24, 8, const char *);
MEMBER(kmb_metadata_params, pairs, 32, 8, const kmb_pair *);
MEMBER(kmb_metadata_params, pair_count, 40, 8, uint64_t);
MEMBER(kmb_metadata_params, question, 48, 8, const char *);
MEMBER(kmb_metadata_params, change, 56, 8, const char *);
MEMBER(kmb_metadata_params, correctness, 64, 8, const char *);
MEMBER(kmb_metadata_params, observation, 72, 8, const char *);
MEMBER(kmb_metadata_params, explanation, 80, 8, const char *);
MEMBER(kmb_metadata_params, explanation_artifact, 88, 8, const char *);
MEMBER(kmb_metadata_params, next, 96, 8, const char *);
MEMBER(kmb_metadata_params, tree, 104, 4, int32_t);
MEMBER(kmb_metadata_params, flags, 108, 4, uint32_t);
GROWS(kmb_metadata_params, 112);

MEMBER(kmb_metadata_entry, struct_size, 0, 8, size_t);
MEMBER(kmb_metadata_entry, key, 8, 8, const char *);
MEMBER(kmb_metadata_entry, value, 16, 8, const char *);
MEMBER(kmb_metadata_entry, reason, 24, 8, const char *);
GROWS(kmb_metadata_entry, 32);

MEMBER(kmb_work, struct_size, 0, 8, size_t);
MEMBER(kmb_work, flops, 8, 8, uint64_t);
MEMBER(kmb_work, read_bytes, 16, 8, uint64_t);
MEMBER(kmb_work, write_bytes, 24, 8, uint64_t);
MEMBER(kmb_work, convention, 32, 8, const char *);
MEMBER(kmb_work, dtype, 40, 4, int32_t);
MEMBER(kmb_work, flags, 44, 4, uint32_t);
MEMBER(kmb_work, operation, 48, 4, int32_t);
MEMBER(kmb_work, reserved, 52, 4, int32_t);
GROWS(kmb_work, 56);

MEMBER(kmb_matmul_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_matmul_shape, m, 8, 8, uint64_t);
MEMBER(kmb_matmul_shape, n, 16, 8, uint64_t);
MEMBER(kmb_matmul_shape, k, 24, 8, uint64_t);
MEMBER(kmb_matmul_shape, batch, 32, 8, uint64_t);
MEMBER(kmb_matmul_shape, dtype, 40, 4, int32_t);
MEMBER(kmb_matmul_shape, a_dtype, 44, 4, int32_t);
MEMBER(kmb_matmul_shape, b_dtype, 48, 4, int32_t);
MEMBER(kmb_matmul_shape, out_dtype, 52, 4, int32_t);
MEMBER(kmb_matmul_shape, a_scales, 56, 4, int32_t);
MEMBER(kmb_matmul_shape, b_scales, 60, 4, int32_t);
MEMBER(kmb_matmul_shape, flags, 64, 4, uint32_t);
MEMBER(kmb_matmul_shape, reserved, 68, 4, uint32_t);
GROWS(kmb_matmul_shape, 72);

MEMBER(kmb_grouped_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_grouped_shape, groups, 8, 8, uint64_t);
MEMBER(kmb_grouped_shape, n, 16, 8, uint64_t);
MEMBER(kmb_grouped_shape, k, 24, 8, uint64_t);
MEMBER(kmb_grouped_shape, rows, 32, 8, const uint64_t *);
MEMBER(kmb_grouped_shape, m, 40, 8, uint64_t);
MEMBER(kmb_grouped_shape, dtype, 48, 4, int32_t);
MEMBER(kmb_grouped_shape, a_dtype, 52, 4, int32_t);
MEMBER(kmb_grouped_shape, b_dtype, 56, 4, int32_t);
MEMBER(kmb_grouped_shape, out_dtype, 60, 4, int32_t);
MEMBER(kmb_grouped_shape, a_scales, 64, 4, int32_t);
MEMBER(kmb_grouped_shape, b_scales, 68, 4, int32_t);
MEMBER(kmb_grouped_shape, flags, 72, 4, uint32_t);
MEMBER(kmb_grouped_shape, reserved, 76, 4, uint32_t);
GROWS(kmb_grouped_shape, 80);

MEMBER(kmb_attention_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_attention_shape, batch, 8, 8, uint64_t);
MEMBER(kmb_attention_shape, q_heads, 16, 8, uint64_t);
MEMBER(kmb_attention_shape, kv_heads, 24, 8, uint64_t);
MEMBER(kmb_attention_shape, q_len, 32, 8, uint64_t);
MEMBER(kmb_attention_shape, kv_len, 40, 8, uint64_t);
MEMBER(kmb_attention_shape, qk_dim, 48, 8, uint64_t);
MEMBER(kmb_attention_shape, v_dim, 56, 8, uint64_t);
MEMBER(kmb_attention_shape, q_lens, 64, 8, const uint64_t *);
MEMBER(kmb_attention_shape, kv_lens, 72, 8, const uint64_t *);
MEMBER(kmb_attention_shape, dtype, 80, 4, int32_t);
MEMBER(kmb_attention_shape, kv_dtype, 84, 4, int32_t);
MEMBER(kmb_attention_shape, out_dtype, 88, 4, int32_t);
MEMBER(kmb_attention_shape, mask, 92, 4, int32_t);
MEMBER(kmb_attention_shape, pass, 96, 4, int32_t);
MEMBER(kmb_attention_shape, pairs, 100, 4, int32_t);
GROWS(kmb_attention_shape, 104);

MEMBER(kmb_mla_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_mla_shape, batch, 8, 8, uint64_t);
MEMBER(kmb_mla_shape, heads, 16, 8, uint64_t);
MEMBER(kmb_mla_shape, q_len, 24, 8, uint64_t);
MEMBER(kmb_mla_shape, kv_len, 32, 8, uint64_t);
MEMBER(kmb_mla_shape, ckv_dim, 40, 8, uint64_t);
MEMBER(kmb_mla_shape, kpe_dim, 48, 8, uint64_t);
MEMBER(kmb_mla_shape, kv_lens, 56, 8, const uint64_t *);
MEMBER(kmb_mla_shape, dtype, 64, 4, int32_t);
MEMBER(kmb_mla_shape, kv_dtype, 68, 4, int32_t);
MEMBER(kmb_mla_shape, out_dtype, 72, 4, int32_t);
MEMBER(kmb_mla_shape, mask, 76, 4, int32_t);
GROWS(kmb_mla_shape, 80);

MEMBER(kmb_moe_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_moe_shape, tokens, 8, 8, uint64_t);
MEMBER(kmb_moe_shape, hidden, 16, 8, uint64_t);
MEMBER(kmb_moe_shape, intermediate, 24, 8, uint64_t);
MEMBER(kmb_moe_shape, experts, 32, 8, uint64_t);
MEMBER(kmb_moe_shape, top_k, 40, 8, uint64_t);
MEMBER(kmb_moe_shape, active_experts, 48, 8, uint64_t);
MEMBER(kmb_moe_shape, dtype, 56, 4, int32_t);
MEMBER(kmb_moe_shape, compute_dtype, 60, 4, int32_t);
MEMBER(kmb_moe_shape, weight_dtype, 64, 4, int32_t);
MEMBER(kmb_moe_shape, out_dtype, 68, 4, int32_t);
MEMBER(kmb_moe_shape, logits_dtype, 72, 4, int32_t);
MEMBER(kmb_moe_shape, scales, 76, 4, int32_t);
MEMBER(kmb_moe_shape, weight_scales, 80, 4, int32_t);
MEMBER(kmb_moe_shape, flags, 84, 4, uint32_t);
GROWS(kmb_moe_shape, 88);

MEMBER(kmb_norm_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_norm_shape, rows, 8, 8, uint64_t);
MEMBER(kmb_norm_shape, hidden, 16, 8, uint64_t);
MEMBER(kmb_norm_shape, norm, 24, 4, int32_t);
MEMBER(kmb_norm_shape, dtype, 28, 4, int32_t);
MEMBER(kmb_norm_shape, out_dtype, 32, 4, int32_t);
MEMBER(kmb_norm_shape, flags, 36, 4, uint32_t);
GROWS(kmb_norm_shape, 40);

MEMBER(kmb_collective_work, struct_size, 0, 8, size_t);
MEMBER(kmb_collective_work, bytes, 8, 8, uint64_t);
MEMBER(kmb_collective_work, bus_factor, 16, 8, double);
MEMBER(kmb_collective_work, convention, 24, 8, const char *);
MEMBER(kmb_collective_work, ranks, 32, 4, uint32_t);
MEMBER(kmb_collective_work, collective, 36, 4, int32_t);
GROWS(kmb_collective_work, 40);

MEMBER(kmb_ceiling, struct_size, 0, 8, size_t);
MEMBER(kmb_ceiling, value, 8, 8, double);
MEMBER(kmb_ceiling, low, 16, 8, double);
MEMBER(kmb_ceiling, high, 24, 8, double);
MEMBER(kmb_ceiling, bytes, 32, 8, uint64_t);
MEMBER(kmb_ceiling, variant, 40, 8, const char *);
MEMBER(kmb_ceiling, kind, 48, 4, int32_t);
MEMBER(kmb_ceiling, dtype, 52, 4, int32_t);
MEMBER(kmb_ceiling, threads, 56, 4, uint32_t);
MEMBER(kmb_ceiling, source, 60, 4, int32_t);
MEMBER(kmb_ceiling, reference, 64, 8, const char *);
MEMBER(kmb_ceiling, flags, 72, 4, uint32_t);
MEMBER(kmb_ceiling, reserved, 76, 4, uint32_t);
GROWS(kmb_ceiling, 80);

MEMBER(kmb_reference, struct_size, 0, 8, size_t);
MEMBER(kmb_reference, regime, 8, 8, const char *);
MEMBER(kmb_reference, hardware, 16, 8, const char *);
MEMBER(kmb_reference, kind, 24, 8, const char *);
MEMBER(kmb_reference, source, 32, 8, const char *);
MEMBER(kmb_reference, value, 40, 8, double);
MEMBER(kmb_reference, bound, 48, 4, int32_t);
MEMBER(kmb_reference, operation, 52, 4, int32_t);
MEMBER(kmb_reference, dtype, 56, 4, int32_t);
MEMBER(kmb_reference, reserved, 60, 4, int32_t);
GROWS(kmb_reference, 64);

MEMBER(kmb_roofline_params, struct_size, 0, 8, size_t);
MEMBER(kmb_roofline_params, work, 8, 8, const kmb_work *);
MEMBER(kmb_roofline_params, memory, 16, 8, const kmb_ceiling *);
MEMBER(kmb_roofline_params, compute, 24, 8, const kmb_ceiling *);
MEMBER(kmb_roofline_params, time_ns, 32, 8, double);
MEMBER(kmb_roofline_params, reference, 40, 8, const kmb_reference *);
GROWS(kmb_roofline_params, 48);

MEMBER(kmb_roofline, struct_size, 0, 8, size_t);
MEMBER(kmb_roofline, intensity, 8, 8, double);
MEMBER(kmb_roofline, ridge, 16, 8, double);
MEMBER(kmb_roofline, attainable_flops, 24, 8, double);
MEMBER(kmb_roofline, sol_time_ns, 32, 8, double);
MEMBER(kmb_roofline, sol_pct, 40, 8, double);
MEMBER(kmb_roofline, achieved_flops, 48, 8, double);
MEMBER(kmb_roofline, achieved_bytes, 56, 8, double);
MEMBER(kmb_roofline, memory_pct, 64, 8, double);
MEMBER(kmb_roofline, compute_pct, 72, 8, double);
MEMBER(kmb_roofline, known, 80, 4, uint32_t);
MEMBER(kmb_roofline, predicted, 84, 4, int32_t);
MEMBER(kmb_roofline, observed, 88, 4, int32_t);
MEMBER(kmb_roofline, flags, 92, 4, uint32_t);
MEMBER(kmb_roofline, reference_pct, 96, 8, double);
GROWS(kmb_roofline, 104);

MEMBER(kmb_knob, name, 0, 8, const char *);
MEMBER(kmb_knob, values, 8, 8, const char *const *);
MEMBER(kmb_knob, value_count, 16, 8, uint64_t);
FINAL(kmb_knob, 24);

MEMBER(kmb_candidate, struct_size, 0, 8, size_t);
MEMBER(kmb_candidate, bench, 8, 8, const kmb_bench_params *);
MEMBER(kmb_candidate, knobs, 16, 8, const kmb_knob *);
MEMBER(kmb_candidate, knob_count, 24, 8, uint64_t);
MEMBER(kmb_candidate, tune_at, 32, 8, const kmb_bench_params *const *);
MEMBER(kmb_candidate, tune_at_count, 40, 8, uint64_t);
GROWS(kmb_candidate, 48);

MEMBER(kmb_compare_params, struct_size, 0, 8, size_t);
MEMBER(kmb_compare_params, name, 8, 8, const char *);
MEMBER(kmb_compare_params, threshold_pct, 16, 8, double);
MEMBER(kmb_compare_params, target_pct, 24, 8, double);
MEMBER(kmb_compare_params, min_wall_ns, 32, 8, double);
MEMBER(kmb_compare_params, max_wall_ns, 40, 8, double);
MEMBER(kmb_compare_params, tune_wall_ns, 48, 8, double);
MEMBER(kmb_compare_params, min_cycles, 56, 8, uint64_t);
MEMBER(kmb_compare_params, max_cycles, 64, 8, uint64_t);
MEMBER(kmb_compare_params, turn, 72, 8, uint64_t);
MEMBER(kmb_compare_params, seed, 80, 8, uint64_t);
MEMBER(kmb_compare_params, baseline, 88, 4, uint32_t);
MEMBER(kmb_compare_params, flags, 92, 4, uint32_t);
GROWS(kmb_compare_params, 96);

MEMBER(kmb_compare_row, struct_size, 0, 8, size_t);
MEMBER(kmb_compare_row, name, 8, 8, const char *);
MEMBER(kmb_compare_row, result, 16, 8, const kmb_result *);
MEMBER(kmb_compare_row, config_text, 24, 8, const char *);
MEMBER(kmb_compare_row, reason, 32, 8, const char *);
MEMBER(kmb_compare_row, ratio, 40, 8, double);
MEMBER(kmb_compare_row, low, 48, 8, double);
MEMBER(kmb_compare_row, high, 56, 8, double);
MEMBER(kmb_compare_row, confidence, 64, 8, double);
MEMBER(kmb_compare_row, design_effect, 72, 8, double);
MEMBER(kmb_compare_row, tuned_ns, 80, 8, double);
MEMBER(kmb_compare_row, cycles, 88, 8, uint64_t);
MEMBER(kmb_compare_row, configs, 96, 8, uint64_t);
MEMBER(kmb_compare_row, configs_measured, 104, 8, uint64_t);
MEMBER(kmb_compare_row, configs_failed, 112, 8, uint64_t);
MEMBER(kmb_compare_row, config, 120, 4, uint32_t);
MEMBER(kmb_compare_row, flags, 124, 4, uint32_t);
MEMBER(kmb_compare_row, verdict, 128, 4, int32_t);
MEMBER(kmb_compare_row, reserved, 132, 4, int32_t);
GROWS(kmb_compare_row, 136);

MEMBER(kmb_compare_arm, struct_size, 0, 8, size_t);
MEMBER(kmb_compare_arm, config_text, 8, 8, const char *);
MEMBER(kmb_compare_arm, reason, 16, 8, const char *);
MEMBER(kmb_compare_arm, ns, 24, 8, double);
MEMBER(kmb_compare_arm, config, 32, 4, uint32_t);
MEMBER(kmb_compare_arm, status, 36, 4, int32_t);
GROWS(kmb_compare_arm, 40);

MEMBER(kmb_counters_params, struct_size, 0, 8, size_t);
MEMBER(kmb_counters_params, metrics, 8, 8, const char *const *);
MEMBER(kmb_counters_params, metric_count, 16, 8, uint64_t);
MEMBER(kmb_counters_params, kernel, 24, 8, const char *);
MEMBER(kmb_counters_params, skip, 32, 8, uint64_t);
MEMBER(kmb_counters_params, count, 40, 8, uint64_t);
MEMBER(kmb_counters_params, replay, 48, 4, int32_t);
MEMBER(kmb_counters_params, flags, 52, 4, uint32_t);
GROWS(kmb_counters_params, 56);

MEMBER(kmb_occupancy, struct_size, 0, 8, size_t);
MEMBER(kmb_occupancy, block_warps, 8, 8, uint64_t);
MEMBER(kmb_occupancy, unit_warps, 16, 8, uint64_t);
MEMBER(kmb_occupancy, blocks, 24, 8, uint64_t);
MEMBER(kmb_occupancy, limit_registers, 32, 8, uint64_t);
MEMBER(kmb_occupancy, limit_shared, 40, 8, uint64_t);
MEMBER(kmb_occupancy, limit_warps, 48, 8, uint64_t);
MEMBER(kmb_occupancy, limit_blocks, 56, 8, uint64_t);
MEMBER(kmb_occupancy, pct, 64, 8, double);
MEMBER(kmb_occupancy, waves, 72, 8, double);
MEMBER(kmb_occupancy, limit, 80, 8, const char *);
MEMBER(kmb_occupancy, check, 88, 8, const char *);
MEMBER(kmb_occupancy, flags, 96, 4, uint32_t);
MEMBER(kmb_occupancy, register_step, 100, 4, uint32_t);
GROWS(kmb_occupancy, 104);

MEMBER(kmb_counters_info, struct_size, 0, 8, size_t);
MEMBER(kmb_counters_info, passes, 8, 8, uint64_t);
MEMBER(kmb_counters_info, taken, 16, 8, uint64_t);
MEMBER(kmb_counters_info, kernels, 24, 8, uint64_t);
MEMBER(kmb_counters_info, matched, 32, 8, uint64_t);
MEMBER(kmb_counters_info, mode, 40, 8, const char *);
MEMBER(kmb_counters_info, replay, 48, 4, int32_t);
MEMBER(kmb_counters_info, cache, 52, 4, int32_t);
GROWS(kmb_counters_info, 56);

MEMBER(kmb_trace_params, struct_size, 0, 8, size_t);
MEMBER(kmb_trace_params, hooks, 8, 8, const kmb_hooks *);
MEMBER(kmb_trace_params, name, 16, 8, const char *);
MEMBER(kmb_trace_params, unpacked_limit, 24, 8, uint64_t);
MEMBER(kmb_trace_params, progress, 32, 8, void (*)(void *, uint64_t, uint64_t));
MEMBER(kmb_trace_params, progress_user, 40, 8, void *);
MEMBER(kmb_trace_params, format, 48, 4, int32_t);
MEMBER(kmb_trace_params, flags, 52, 4, uint32_t);
GROWS(kmb_trace_params, 56);

MEMBER(kmb_trace_info, struct_size, 0, 8, size_t);
MEMBER(kmb_trace_info, rows, 8, 8, uint64_t);
MEMBER(kmb_trace_info, invalid, 16, 8, uint64_t);
MEMBER(kmb_trace_info, ops, 24, 8, uint64_t);
MEMBER(kmb_trace_info, calls, 32, 8, uint64_t);
MEMBER(kmb_trace_info, ranges, 40, 8, uint64_t);
MEMBER(kmb_trace_info, tick_ns, 48, 8, uint64_t);
MEMBER(kmb_trace_info, format, 56, 4, int32_t);
MEMBER(kmb_trace_info, reserved, 60, 4, uint32_t);
MEMBER(kmb_trace_info, dropped, 64, 8, uint64_t);
MEMBER(kmb_trace_info, driver_added_ns, 72, 8, uint64_t);
MEMBER(kmb_trace_info, runtime_added_ns, 80, 8, uint64_t);
GROWS(kmb_trace_info, 88);

MEMBER(kmb_trace_op, struct_size, 0, 8, size_t);
MEMBER(kmb_trace_op, name, 8, 8, const char *);
MEMBER(kmb_trace_op, device_name, 16, 8, const char *);
MEMBER(kmb_trace_op, start_ns, 24, 8, uint64_t);
MEMBER(kmb_trace_op, end_ns, 32, 8, uint64_t);
MEMBER(kmb_trace_op, bytes, 40, 8, uint64_t);
MEMBER(kmb_trace_op, correlation, 48, 8, uint64_t);
MEMBER(kmb_trace_op, device, 56, 8, uint64_t);
MEMBER(kmb_trace_op, process, 64, 8, uint64_t);
MEMBER(kmb_trace_op, context, 72, 8, uint64_t);
MEMBER(kmb_trace_op, stream, 80, 8, uint64_t);
MEMBER(kmb_trace_op, call, 88, 8, uint64_t);
MEMBER(kmb_trace_op, kind, 96, 4, int32_t);
MEMBER(kmb_trace_op, flags, 100, 4, uint32_t);
MEMBER(kmb_trace_op, grid_x, 104, 4, uint32_t);
MEMBER(kmb_trace_op, grid_y, 108, 4, uint32_t);
MEMBER(kmb_trace_op, grid_z, 112, 4, uint32_t);
MEMBER(kmb_trace_op, block_x, 116, 4, uint32_t);
MEMBER(kmb_trace_op, block_y, 120, 4, uint32_t);
MEMBER(kmb_trace_op, block_z, 124, 4, uint32_t);
GROWS(kmb_trace_op, 128);

MEMBER(kmb_trace_call, struct_size, 0, 8, size_t);
MEMBER(kmb_trace_call, name, 8, 8, const char *);
MEMBER(kmb_trace_call, start_ns, 16, 8, uint64_t);
MEMBER(kmb_trace_call, end_ns, 24, 8, uint64_t);
MEMBER(kmb_trace_call, correlation, 32, 8, uint64_t);
MEMBER(kmb_trace_call, process, 40, 8, uint64_t);
MEMBER(kmb_trace_call, thread, 48, 8, uint64_t);
MEMBER(kmb_trace_call, kind, 56, 4, int32_t);
MEMBER(kmb_trace_call, reserved, 60, 4, uint32_t);
GROWS(kmb_trace_call, 64);

MEMBER(kmb_trace_range, struct_size, 0, 8, size_t);
MEMBER(kmb_trace_range, name, 8, 8, const char *);
MEMBER(kmb_trace_range, start_ns, 16, 8, uint64_t);
MEMBER(kmb_trace_range, end_ns, 24, 8, uint64_t);
MEMBER(kmb_trace_range, process, 32, 8, uint64_t);
MEMBER(kmb_trace_range, thread, 40, 8, uint64_t);
GROWS(kmb_trace_range, 48);

MEMBER(kmb_gaps_params, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_params, hooks, 8, 8, const kmb_hooks *);
MEMBER(kmb_gaps_params, kernel, 16, 8, const char *);
MEMBER(kmb_gaps_params, range, 24, 8, const char *);
MEMBER(kmb_gaps_params, device, 32, 8, uint64_t);
MEMBER(kmb_gaps_params, from_ns, 40, 8, uint64_t);
MEMBER(kmb_gaps_params, to_ns, 48, 8, uint64_t);
MEMBER(kmb_gaps_params, top, 56, 8, uint64_t);
MEMBER(kmb_gaps_params, flags, 64, 4, uint32_t);
MEMBER(kmb_gaps_params, reserved, 68, 4, uint32_t);
GROWS(kmb_gaps_params, 72);

MEMBER(kmb_gaps_device, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_device, name, 8, 8, const char *);
MEMBER(kmb_gaps_device, device, 16, 8, uint64_t);
MEMBER(kmb_gaps_device, ops, 24, 8, uint64_t);
MEMBER(kmb_gaps_device, first_ns, 32, 8, uint64_t);
MEMBER(kmb_gaps_device, last_ns, 40, 8, uint64_t);
MEMBER(kmb_gaps_device, span_ns, 48, 8, uint64_t);
MEMBER(kmb_gaps_device, busy_ns, 56, 8, uint64_t);
MEMBER(kmb_gaps_device, idle_ns, 64, 8, uint64_t);
MEMBER(kmb_gaps_device, gaps, 72, 8, uint64_t);
MEMBER(kmb_gaps_device, launch_ns, 80, 8, uint64_t);
MEMBER(kmb_gaps_device, sync_ns, 88, 8, uint64_t);
MEMBER(kmb_gaps_device, host_ns, 96, 8, uint64_t);
MEMBER(kmb_gaps_device, queued_ns, 104, 8, uint64_t);
MEMBER(kmb_gaps_device, unknown_ns, 112, 8, uint64_t);
MEMBER(kmb_gaps_device, transitions, 120, 8, uint64_t);
MEMBER(kmb_gaps_device, names, 128, 8, uint64_t);
MEMBER(kmb_gaps_device, streams, 136, 8, uint64_t);
MEMBER(kmb_gaps_device, flags, 144, 4, uint32_t);
MEMBER(kmb_gaps_device, reserved, 148, 4, uint32_t);
GROWS(kmb_gaps_device, 152);

MEMBER(kmb_gaps_transition, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_transition, from, 8, 8, const char *);
MEMBER(kmb_gaps_transition, to, 16, 8, const char *);
MEMBER(kmb_gaps_transition, count, 24, 8, uint64_t);
MEMBER(kmb_gaps_transition, idle_ns, 32, 8, uint64_t);
MEMBER(kmb_gaps_transition, longest_ns, 40, 8, uint64_t);
MEMBER(kmb_gaps_transition, launch_ns, 48, 8, uint64_t);
MEMBER(kmb_gaps_transition, sync_ns, 56, 8, uint64_t);
MEMBER(kmb_gaps_transition, host_ns, 64, 8, uint64_t);
MEMBER(kmb_gaps_transition, queued_ns, 72, 8, uint64_t);
MEMBER(kmb_gaps_transition, unknown_ns, 80, 8, uint64_t);
MEMBER(kmb_gaps_transition, from_kind, 88, 4, int32_t);
MEMBER(kmb_gaps_transition, to_kind, 92, 4, int32_t);
GROWS(kmb_gaps_transition, 96);

MEMBER(kmb_gaps_name, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_name, name, 8, 8, const char *);
MEMBER(kmb_gaps_name, count, 16, 8, uint64_t);
MEMBER(kmb_gaps_name, total_ns, 24, 8, uint64_t);
MEMBER(kmb_gaps_name, shortest_ns, 32, 8, uint64_t);
MEMBER(kmb_gaps_name, longest_ns, 40, 8, uint64_t);
MEMBER(kmb_gaps_name, kind, 48, 4, int32_t);
MEMBER(kmb_gaps_name, target, 52, 4, uint32_t);
GROWS(kmb_gaps_name, 56);

MEMBER(kmb_gaps_stream, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_stream, process, 8, 8, uint64_t);
MEMBER(kmb_gaps_stream, context, 16, 8, uint64_t);
MEMBER(kmb_gaps_stream, stream, 24, 8, uint64_t);
MEMBER(kmb_gaps_stream, ops, 32, 8, uint64_t);
MEMBER(kmb_gaps_stream, span_ns, 40, 8, uint64_t);
MEMBER(kmb_gaps_stream, busy_ns, 48, 8, uint64_t);
GROWS(kmb_gaps_stream, 56);

MEMBER(kmb_gaps_target, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_target, count, 8, 8, uint64_t);
MEMBER(kmb_gaps_target, intervals, 16, 8, uint64_t);
MEMBER(kmb_gaps_target, mean_duration_ns, 24, 8, double);
MEMBER(kmb_gaps_target, median_duration_ns, 32, 8, double);
MEMBER(kmb_gaps_target, mean_interval_ns, 40, 8, double);
MEMBER(kmb_gaps_target, median_work_ns, 48, 8, double);
MEMBER(kmb_gaps_target, median_kernel_work_ns, 56, 8, double);
MEMBER(kmb_gaps_target, utilization, 64, 8, double);
MEMBER(kmb_gaps_target, potential_utilization, 72, 8, double);
MEMBER(kmb_gaps_target, potential_overlap, 80, 8, double);
GROWS(kmb_gaps_target, 88);

MEMBER(kmb_gaps_interval, interval_ns, 0, 8, uint64_t);
MEMBER(kmb_gaps_interval, work_ns, 8, 8, uint64_t);
MEMBER(kmb_gaps_interval, kernel_work_ns, 16, 8, uint64_t);
MEMBER(kmb_gaps_interval, idle_ns, 24, 8, uint64_t);
FINAL(kmb_gaps_interval, 32);

MEMBER(kmb_gaps_latency, struct_size, 0, 8, size_t);
MEMBER(kmb_gaps_latency, count, 8, 8, uint64_t);
MEMBER(kmb_gaps_latency, shortest_ns, 16, 8, uint64_t);
MEMBER(kmb_gaps_latency, longest_ns, 24, 8, uint64_t);
MEMBER(kmb_gaps_latency, mean_ns, 32, 8, double);
MEMBER(kmb_gaps_latency, median_ns, 40, 8, double);
GROWS(kmb_gaps_latency, 48);

MEMBER(kmb_payoff_change, struct_size, 0, 8, size_t);
MEMBER(kmb_payoff_change, name, 8, 8, const char *);
MEMBER(kmb_payoff_change, kernel, 16, 8, const char *);
MEMBER(kmb_payoff_change, device, 24, 8, const char *);
MEMBER(kmb_payoff_change, ratio, 32, 8, double);
MEMBER(kmb_payoff_change, low, 40, 8, double);
MEMBER(kmb_payoff_change, high, 48, 8, double);
MEMBER(kmb_payoff_change, isolated_ns, 56, 8, double);
MEMBER(kmb_payoff_change, isolated_low_ns, 64, 8, double);
MEMBER(kmb_payoff_change, isolated_high_ns, 72, 8, double);
MEMBER(kmb_payoff_change, flags, 80, 4, uint32_t);
MEMBER(kmb_payoff_change, reserved, 84, 4, uint32_t);
MEMBER(kmb_payoff_change, grid_x, 88, 4, uint32_t);
MEMBER(kmb_payoff_change, grid_y, 92, 4, uint32_t);
MEMBER(kmb_payoff_change, grid_z, 96, 4, uint32_t);
MEMBER(kmb_payoff_change, block_x, 100, 4, uint32_t);
MEMBER(kmb_payoff_change, block_y, 104, 4, uint32_t);
MEMBER(kmb_payoff_change, block_z, 108, 4, uint32_t);
MEMBER(kmb_payoff_change, before, 112, 8, const kmb_result *);
MEMBER(kmb_payoff_change, after, 120, 8, const kmb_result *);
GROWS(kmb_payoff_change, 128);

MEMBER(kmb_payoff_params, struct_size, 0, 8, size_t);
MEMBER(kmb_payoff_params, hooks, 8, 8, const kmb_hooks *);
MEMBER(kmb_payoff_params, kernel, 16, 8, const char *);
MEMBER(kmb_payoff_params, range, 24, 8, const char *);
MEMBER(kmb_payoff_params, flags, 32, 4, uint32_t);
MEMBER(kmb_payoff_params, reserved, 36, 4, uint32_t);
MEMBER(kmb_payoff_params, added_ns, 40, 8, double);
MEMBER(kmb_payoff_params, grid_x, 48, 4, uint32_t);
MEMBER(kmb_payoff_params, grid_y, 52, 4, uint32_t);
MEMBER(kmb_payoff_params, grid_z, 56, 4, uint32_t);
MEMBER(kmb_payoff_params, block_x, 60, 4, uint32_t);
MEMBER(kmb_payoff_params, block_y, 64, 4, uint32_t);
MEMBER(kmb_payoff_params, block_z, 68, 4, uint32_t);
MEMBER(kmb_payoff_params, code, 72, 8, const kmb_code *);
MEMBER(kmb_payoff_params, listed, 80, 8, const kmb_result *const *);
MEMBER(kmb_payoff_params, listed_count, 88, 8, uint64_t);
GROWS(kmb_payoff_params, 96);

MEMBER(kmb_payoff_summary, struct_size, 0, 8, size_t);
MEMBER(kmb_payoff_summary, verdict, 8, 8, const char *);
MEMBER(kmb_payoff_summary, candidates, 16, 8, uint64_t);
MEMBER(kmb_payoff_summary, launches, 24, 8, uint64_t);
MEMBER(kmb_payoff_summary, steps, 32, 8, uint64_t);
MEMBER(kmb_payoff_summary, waits, 40, 8, uint64_t);
MEMBER(kmb_payoff_summary, in_step_ns, 48, 8, double);
MEMBER(kmb_payoff_summary, in_step_low_ns, 56, 8, double);
MEMBER(kmb_payoff_summary, in_step_high_ns, 64, 8, double);
MEMBER(kmb_payoff_summary, in_step_total_ns, 72, 8, double);
MEMBER(kmb_payoff_summary, overlapped_ns, 80, 8, double);
MEMBER(kmb_payoff_summary, step_ns, 88, 8, double);
MEMBER(kmb_payoff_summary, predicted_ns, 96, 8, double);
MEMBER(kmb_payoff_summary, predicted_low_ns, 104, 8, double);
MEMBER(kmb_payoff_summary, predicted_high_ns, 112, 8, double);
MEMBER(kmb_payoff_summary, saving_ns, 120, 8, double);
MEMBER(kmb_payoff_summary, saving_low_ns, 128, 8, double);
MEMBER(kmb_payoff_summary, saving_high_ns, 136, 8, double);
MEMBER(kmb_payoff_summary, gain_ns, 144, 8, double);
MEMBER(kmb_payoff_summary, hidden_ns, 152, 8, double);
MEMBER(kmb_payoff_summary, host_ns, 160, 8, double);
MEMBER(kmb_payoff_summary, graph_ns, 168, 8, double);
MEMBER(kmb_payoff_summary, graph_after_ns, 176, 8, double);
MEMBER(kmb_payoff_summary, flags, 184, 4, uint32_t);
MEMBER(kmb_payoff_summary, reserved, 188, 4, uint32_t);
MEMBER(kmb_payoff_summary, recorded_ns, 192, 8, double);
MEMBER(kmb_payoff_summary, shapes, 200, 8, uint64_t);
MEMBER(kmb_payoff_summary, other_launches, 208, 8, uint64_t);
MEMBER(kmb_payoff_summary, code_launches, 216, 8, uint64_t);
MEMBER(kmb_payoff_summary, unknown_launches, 224, 8, uint64_t);
MEMBER(kmb_payoff_summary, other_code_launches, 232, 8, uint64_t);
GROWS(kmb_payoff_summary, 240);

MEMBER(kmb_payoff_candidate, name, 0, 8, const char *);
MEMBER(kmb_payoff_candidate, launches, 8, 8, uint64_t);
MEMBER(kmb_payoff_candidate, total_ns, 16, 8, uint64_t);
FINAL(kmb_payoff_candidate, 24);

MEMBER(kmb_payoff_shape, struct_size, 0, 8, size_t);
MEMBER(kmb_payoff_shape, name, 8, 8, const char *);
MEMBER(kmb_payoff_shape, launches, 16, 8, uint64_t);
MEMBER(kmb_payoff_shape, total_ns, 24, 8, uint64_t);
MEMBER(kmb_payoff_shape, grid_x, 32, 4, uint32_t);
MEMBER(kmb_payoff_shape, grid_y, 36, 4, uint32_t);
MEMBER(kmb_payoff_shape, grid_z, 40, 4, uint32_t);
MEMBER(kmb_payoff_shape, block_x, 44, 4, uint32_t);
MEMBER(kmb_payoff_shape, block_y, 48, 4, uint32_t);
MEMBER(kmb_payoff_shape, block_z, 52, 4, uint32_t);
MEMBER(kmb_payoff_shape, flags, 56, 4, uint32_t);
MEMBER(kmb_payoff_shape, reserved, 60, 4, uint32_t);
MEMBER(kmb_payoff_shape, code, 64, 8, const char *);
GROWS(kmb_payoff_shape, 72);

MEMBER(kmb_record_params, struct_size, 0, 8, size_t);
MEMBER(kmb_record_params, row_limit, 8, 8, uint64_t);
MEMBER(kmb_record_params, flags, 16, 4, uint32_t);
MEMBER(kmb_record_params, reserved, 20, 4, uint32_t);
GROWS(kmb_record_params, 24);

SIGNATURE(kmb_hooks_init, kmb_hooks (*)(void));
SIGNATURE(kmb_device_params_init, kmb_device_params (*)(void));
SIGNATURE(kmb_buffer_desc_init, kmb_buffer_desc (*)(void));
SIGNATURE(kmb_buffers_params_init, kmb_buffers_params (*)(void));
SIGNATURE(kmb_buffers_info_init, kmb_buffers_info (*)(void));
SIGNATURE(kmb_comm_ops_init, kmb_comm_ops (*)(void));
SIGNATURE(kmb_comm_params_init, kmb_comm_params (*)(void));
SIGNATURE(kmb_bench_params_init, kmb_bench_params (*)(void));
SIGNATURE(kmb_code_kernel_init, kmb_code_kernel (*)(void));
SIGNATURE(kmb_code_info_init, kmb_code_info (*)(void));
SIGNATURE(kmb_finding_init, kmb_finding (*)(void));
SIGNATURE(kmb_op_init, kmb_op (*)(void));
SIGNATURE(kmb_code_pair_init, kmb_code_pair (*)(void));
SIGNATURE(kmb_rank_init, kmb_rank (*)(void));
SIGNATURE(kmb_metadata_params_init, kmb_metadata_params (*)(void));
SIGNATURE(kmb_metadata_entry_init, kmb_metadata_entry (*)(void));
SIGNATURE(kmb_work_init, kmb_work (*)(void));
SIGNATURE(kmb_matmul_shape_init, kmb_matmul_shape (*)(void));
SIGNATURE(kmb_grouped_shape_init, kmb_grouped_shape (*)(void));
SIGNATURE(kmb_attention_shape_init, kmb_attention_shape (*)(void));
SIGNATURE(kmb_mla_shape_init, kmb_mla_shape (*)(void));
SIGNATURE(kmb_moe_shape_init, kmb_moe_shape (*)(void));
SIGNATURE(kmb_norm_shape_init, kmb_norm_shape (*)(void));
SIGNATURE(kmb_collective_work_init, kmb_collective_work (*)(void));
SIGNATURE(kmb_ceiling_init, kmb_ceiling (*)(void));
SIGNATURE(kmb_reference_init, kmb_reference (*)(void));
SIGNATURE(kmb_roofline_params_init, kmb_roofline_params (*)(void));
SIGNATURE(kmb_roofline_init, kmb_roofline (*)(void));
SIGNATURE(kmb_candidate_init, kmb_candidate (*)(void));
SIGNATURE(kmb_compare_params_init, kmb_compare_params (*)(void));
SIGNATURE(kmb_compare_row_init, kmb_compare_row (*)(void));
SIGNATURE(kmb_compare_arm_init, kmb_compare_arm (*)(void));
SIGNATURE(kmb_counters_params_init, kmb_counters_params (*)(void));
SIGNATURE(kmb_occupancy_init, kmb_occupancy (*)(void));
SIGNATURE(kmb_counters_info_init, kmb_counters_info (*)(void));
SIGNATURE(kmb_trace_params_init, kmb_trace_params (*)(void));
SIGNATURE(kmb_trace_info_init, kmb_trace_info (*)(void));
SIGNATURE(kmb_trace_op_init, kmb_trace_op (*)(void));
SIGNATURE(kmb_trace_call_init, kmb_trace_call (*)(void));
SIGNATURE(kmb_trace_range_init, kmb_trace_range (*)(void));
SIGNATURE(kmb_gaps_params_init, kmb_gaps_params (*)(void));
SIGNATURE(kmb_gaps_device_init, kmb_gaps_device (*)(void));
SIGNATURE(kmb_gaps_transition_init, kmb_gaps_transition (*)(void));
SIGNATURE(kmb_gaps_name_init, kmb_gaps_name (*)(void));
SIGNATURE(kmb_gaps_stream_init, kmb_gaps_stream (*)(void));
SIGNATURE(kmb_gaps_target_init, kmb_gaps_target (*)(void));
SIGNATURE(kmb_gaps_latency_init, kmb_gaps_latency (*)(void));
SIGNATURE(kmb_payoff_change_init, kmb_payoff_change (*)(void));
SIGNATURE(kmb_payoff_params_init, kmb_payoff_params (*)(void));
SIGNATURE(kmb_payoff_summary_init, kmb_payoff_summary (*)(void));
SIGNATURE(kmb_payoff_shape_init, kmb_payoff_shape (*)(void));
SIGNATURE(kmb_record_params_init, kmb_record_params (*)(void));

SIGNATURE(kmb_version, const char *(*)(void));
SIGNATURE(kmb_abi_major, uint32_t (*)(void));
SIGNATURE(kmb_status_name, const char *(*)(int32_t));
SIGNATURE(kmb_status_text, const char *(*)(int32_t));
SIGNATURE(kmb_last_error, const char *(*)(int32_t *, int64_t *));
SIGNATURE(kmb_dtype_name, const char *(*)(int32_t));
SIGNATURE(kmb_dtype_bits, int32_t (*)(int32_t, uint32_t *));
SIGNATURE(kmb_device_open, int32_t (*)(const char *,
    const kmb_device_params *, kmb_device **));
SIGNATURE(kmb_device_close, void (*)(kmb_device *));
SIGNATURE(kmb_device_attr_u64, int32_t (*)(kmb_device *, int32_t, uint64_t *));
SIGNATURE(kmb_device_attr_f64, int32_t (*)(kmb_device *, int32_t, double *));
SIGNATURE(kmb_device_attr_text, int32_t (*)(kmb_device *, int32_t,
    const char **));
SIGNATURE(kmb_buffers_create, int32_t (*)(kmb_device *,
    const kmb_buffer_desc *, size_t, uint64_t, const kmb_buffers_params *,
    kmb_buffers **));
SIGNATURE(kmb_buffers_destroy, void (*)(kmb_buffers *));
SIGNATURE(kmb_buffers_prepare, int32_t (*)(kmb_buffers *, uint32_t));
SIGNATURE(kmb_buffers_pointer, int32_t (*)(const kmb_buffers *, uint32_t,
    uint64_t, void **));
SIGNATURE(kmb_buffers_get_info, int32_t (*)(const kmb_buffers *,
    kmb_buffers_info *));
SIGNATURE(kmb_comm_create, int32_t (*)(const kmb_comm_ops *,
    const kmb_comm_params *, kmb_comm **));
SIGNATURE(kmb_comm_threads_create, int32_t (*)(int32_t,
    const kmb_comm_params *, kmb_comm **));
SIGNATURE(kmb_comm_shm_create, int32_t (*)(const char *, int32_t, int32_t,
    const kmb_comm_params *, kmb_comm **));
SIGNATURE(kmb_comm_destroy, void (*)(kmb_comm *));
SIGNATURE(kmb_comm_rank, int32_t (*)(const kmb_comm *));
SIGNATURE(kmb_comm_size, int32_t (*)(const kmb_comm *));
SIGNATURE(kmb_comm_allgather, int32_t (*)(kmb_comm *, const void *, void *,
    size_t));
SIGNATURE(kmb_bench, int32_t (*)(kmb_device *, const kmb_bench_params *,
    kmb_result **));
SIGNATURE(kmb_result_from_samples, int32_t (*)(kmb_device *,
    const kmb_bench_params *, const double *, uint64_t, double, kmb_result **));
SIGNATURE(kmb_session_begin, int32_t (*)(kmb_device *,
    const kmb_bench_params *, kmb_session **));
SIGNATURE(kmb_session_sample_begin, int32_t (*)(kmb_session *));
SIGNATURE(kmb_session_sample_end, int32_t (*)(kmb_session *, uint64_t));
SIGNATURE(kmb_session_end, int32_t (*)(kmb_session *, kmb_result **));
SIGNATURE(kmb_session_abandon, void (*)(kmb_session *));
SIGNATURE(kmb_code_capture, int32_t (*)(kmb_device *, int32_t (*)(void *),
    void *, kmb_code **));
SIGNATURE(kmb_code_destroy, void (*)(kmb_code *));
SIGNATURE(kmb_code_get_info, int32_t (*)(const kmb_code *, kmb_code_info *));
SIGNATURE(kmb_code_get_kernel, int32_t (*)(const kmb_code *, uint64_t,
    kmb_code_kernel *));
SIGNATURE(kmb_code_get_image, int32_t (*)(const kmb_code *, uint64_t,
    const void **, uint64_t *));
SIGNATURE(kmb_code_save, int32_t (*)(const kmb_code *, const char *));
SIGNATURE(kmb_code_hash, int32_t (*)(const void *, uint64_t, char *));
SIGNATURE(kmb_result_destroy, void (*)(kmb_result *));
SIGNATURE(kmb_result_f64, int32_t (*)(const kmb_result *, int32_t, double *));
SIGNATURE(kmb_result_u64, int32_t (*)(const kmb_result *, int32_t, uint64_t *));
SIGNATURE(kmb_result_text, int32_t (*)(const kmb_result *, int32_t,
    const char **));
SIGNATURE(kmb_result_samples, int32_t (*)(const kmb_result *, const double **,
    uint64_t *));
SIGNATURE(kmb_result_finding_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_finding, int32_t (*)(const kmb_result *, uint64_t,
    kmb_finding *));
SIGNATURE(kmb_finding_name, const char *(*)(int32_t));
SIGNATURE(kmb_result_rank_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_rank, int32_t (*)(const kmb_result *, uint64_t,
    kmb_rank *));
SIGNATURE(kmb_result_op_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_op, int32_t (*)(const kmb_result *, uint64_t, kmb_op *));
SIGNATURE(kmb_op_kind_name, const char *(*)(int32_t));
SIGNATURE(kmb_result_code_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_code, int32_t (*)(const kmb_result *, uint64_t,
    kmb_code_kernel *));
SIGNATURE(kmb_result_code_pair_count, uint64_t (*)(const kmb_result *,
    const kmb_result *));
SIGNATURE(kmb_result_code_pair, int32_t (*)(const kmb_result *,
    const kmb_result *, uint64_t, kmb_code_pair *));
SIGNATURE(kmb_result_code_match, int32_t (*)(const kmb_result *,
    const kmb_result *));
SIGNATURE(kmb_code_match_name, const char *(*)(int32_t));
SIGNATURE(kmb_result_axis_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_axis, int32_t (*)(const kmb_result *, uint64_t,
    kmb_pair *));
SIGNATURE(kmb_result_write_text, int32_t (*)(const kmb_result *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_result_write_json, int32_t (*)(const kmb_result *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_results_create, int32_t (*)(const kmb_hooks *, kmb_results **));
SIGNATURE(kmb_results_destroy, void (*)(kmb_results *));
SIGNATURE(kmb_results_add, int32_t (*)(kmb_results *, kmb_result *));
SIGNATURE(kmb_results_count, uint64_t (*)(const kmb_results *));
SIGNATURE(kmb_results_get, int32_t (*)(const kmb_results *, uint64_t,
    const kmb_result **));
SIGNATURE(kmb_results_write_json, int32_t (*)(const kmb_results *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_results_write_table, int32_t (*)(const kmb_results *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_results_read_json, int32_t (*)(int32_t (*)(void *, void *,
    size_t, size_t *), void *, const kmb_hooks *, kmb_results **));
SIGNATURE(kmb_result_metadata_count, uint64_t (*)(const kmb_result *));
SIGNATURE(kmb_result_metadata, int32_t (*)(const kmb_result *, uint64_t,
    kmb_metadata_entry *));
SIGNATURE(kmb_result_metadata_text, int32_t (*)(const kmb_result *,
    const char *, const char **));
SIGNATURE(kmb_work_gemm, int32_t (*)(uint64_t, uint64_t, uint64_t, int32_t,
    kmb_work *));
SIGNATURE(kmb_work_elementwise, int32_t (*)(uint64_t, uint32_t, uint32_t,
    uint32_t, int32_t, kmb_work *));
SIGNATURE(kmb_work_copy, int32_t (*)(uint64_t, kmb_work *));
SIGNATURE(kmb_work_matmul, int32_t (*)(const kmb_matmul_shape *, kmb_work *));
SIGNATURE(kmb_work_grouped, int32_t (*)(const kmb_grouped_shape *, kmb_work *));
SIGNATURE(kmb_work_attention, int32_t (*)(const kmb_attention_shape *,
    kmb_work *));
SIGNATURE(kmb_work_paged_decode, int32_t (*)(const kmb_attention_shape *,
    kmb_work *));
SIGNATURE(kmb_work_mla, int32_t (*)(const kmb_mla_shape *, kmb_work *));
SIGNATURE(kmb_work_moe, int32_t (*)(const kmb_moe_shape *, kmb_work *));
SIGNATURE(kmb_work_norm, int32_t (*)(const kmb_norm_shape *, kmb_work *));
SIGNATURE(kmb_work_softmax, int32_t (*)(uint64_t, uint64_t, int32_t, int32_t,
    kmb_work *));
SIGNATURE(kmb_work_activation, int32_t (*)(uint64_t, int, int32_t, int32_t,
    kmb_work *));
SIGNATURE(kmb_work_collective, int32_t (*)(int32_t, uint64_t, uint32_t,
    kmb_collective_work *));
SIGNATURE(kmb_device_ceiling, int32_t (*)(kmb_device *, int32_t, int32_t,
    uint32_t, kmb_ceiling *));
SIGNATURE(kmb_roofline_evaluate, int32_t (*)(const kmb_roofline_params *,
    kmb_roofline *));
SIGNATURE(kmb_roofline_above_peak_text, const char *(*)(void));
SIGNATURE(kmb_peaks_create, int32_t (*)(const kmb_hooks *, kmb_peaks **));
SIGNATURE(kmb_peaks_destroy, void (*)(kmb_peaks *));
SIGNATURE(kmb_peaks_read_csv, int32_t (*)(kmb_peaks *, const char *,
    int32_t (*)(void *, void *, size_t, size_t *), void *));
SIGNATURE(kmb_peaks_count, uint64_t (*)(const kmb_peaks *));
SIGNATURE(kmb_peaks_get, int32_t (*)(const kmb_peaks *, uint64_t,
    const kmb_part **));
SIGNATURE(kmb_peaks_find, int32_t (*)(const kmb_peaks *, const char *,
    const char *, const kmb_part **));
SIGNATURE(kmb_peaks_lookup, int32_t (*)(const kmb_peaks *, const char *,
    const kmb_part **));
SIGNATURE(kmb_peaks_of_device, int32_t (*)(const kmb_peaks *, kmb_device *,
    const kmb_part **));
SIGNATURE(kmb_part_f64, int32_t (*)(const kmb_part *, int32_t, double *));
SIGNATURE(kmb_part_text, int32_t (*)(const kmb_part *, int32_t, const char **));
SIGNATURE(kmb_part_ceiling, int32_t (*)(const kmb_part *, int32_t, int32_t,
    uint32_t, kmb_ceiling *));
SIGNATURE(kmb_part_rate, int32_t (*)(const kmb_part *, int32_t, int32_t,
    uint64_t, double, kmb_ceiling *));
SIGNATURE(kmb_part_reference_count, uint64_t (*)(const kmb_part *));
SIGNATURE(kmb_part_reference, int32_t (*)(const kmb_part *, uint64_t,
    kmb_reference *));
SIGNATURE(kmb_part_reference_for, int32_t (*)(const kmb_part *,
    const kmb_work *, int32_t, kmb_reference *));
SIGNATURE(kmb_knob_value, uint64_t (*)(const kmb_knob *, uint64_t, uint32_t,
    uint64_t));
SIGNATURE(kmb_verdict_name, const char *(*)(int32_t));
SIGNATURE(kmb_compare, int32_t (*)(kmb_device *, const kmb_candidate *,
    size_t, uint64_t, const kmb_compare_params *, kmb_comparison **));
SIGNATURE(kmb_comparison_destroy, void (*)(kmb_comparison *));
SIGNATURE(kmb_comparison_count, uint64_t (*)(const kmb_comparison *));
SIGNATURE(kmb_comparison_row, int32_t (*)(const kmb_comparison *, uint64_t,
    kmb_compare_row *));
SIGNATURE(kmb_comparison_arm, int32_t (*)(const kmb_comparison *, uint64_t,
    uint64_t, kmb_compare_arm *));
SIGNATURE(kmb_comparison_ratios, int32_t (*)(const kmb_comparison *, uint64_t,
    const double **, uint64_t *));
SIGNATURE(kmb_comparison_write_text, int32_t (*)(const kmb_comparison *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_comparison_write_json, int32_t (*)(const kmb_comparison *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_counters_read, int32_t (*)(kmb_device *,
    const kmb_bench_params *, const kmb_counters_params *, kmb_counters **));
SIGNATURE(kmb_counters_release, int32_t (*)(kmb_device *));
SIGNATURE(kmb_counters_destroy, void (*)(kmb_counters *));
SIGNATURE(kmb_counters_get_info, int32_t (*)(const kmb_counters *,
    kmb_counters_info *));
SIGNATURE(kmb_counters_row_count, uint64_t (*)(const kmb_counters *));
SIGNATURE(kmb_counters_name, int32_t (*)(const kmb_counters *, uint64_t,
    const char **));
SIGNATURE(kmb_counters_launch, int32_t (*)(const kmb_counters *, uint64_t,
    kmb_op *));
SIGNATURE(kmb_counters_occupancy, int32_t (*)(const kmb_counters *, uint64_t,
    kmb_occupancy *));
SIGNATURE(kmb_counters_value, int32_t (*)(const kmb_counters *, uint64_t,
    uint64_t, double *));
SIGNATURE(kmb_trace_format_name, const char *(*)(int32_t));
SIGNATURE(kmb_trace_load, int32_t (*)(const char *, const kmb_trace_params *,
    kmb_trace **));
SIGNATURE(kmb_trace_read, int32_t (*)(int32_t (*)(void *, void *, size_t,
    size_t *), void *, const kmb_trace_params *, kmb_trace **));
SIGNATURE(kmb_trace_destroy, void (*)(kmb_trace *));
SIGNATURE(kmb_trace_get_info, int32_t (*)(const kmb_trace *, kmb_trace_info *));
SIGNATURE(kmb_trace_get_op, int32_t (*)(const kmb_trace *, uint64_t,
    kmb_trace_op *));
SIGNATURE(kmb_trace_get_call, int32_t (*)(const kmb_trace *, uint64_t,
    kmb_trace_call *));
SIGNATURE(kmb_trace_get_range, int32_t (*)(const kmb_trace *, uint64_t,
    kmb_trace_range *));
SIGNATURE(kmb_trace_write_json, int32_t (*)(const kmb_trace *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_trace_write_chrome, int32_t (*)(const kmb_trace *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_gaps_analyse, int32_t (*)(const kmb_trace *,
    const kmb_gaps_params *, kmb_gaps **));
SIGNATURE(kmb_gaps_destroy, void (*)(kmb_gaps *));
SIGNATURE(kmb_gaps_device_count, uint64_t (*)(const kmb_gaps *));
SIGNATURE(kmb_gaps_get_device, int32_t (*)(const kmb_gaps *, uint64_t,
    kmb_gaps_device *));
SIGNATURE(kmb_gaps_utilization, int32_t (*)(const kmb_gaps *, uint64_t,
    double *));
SIGNATURE(kmb_gaps_get_transition, int32_t (*)(const kmb_gaps *, uint64_t,
    uint64_t, kmb_gaps_transition *));
SIGNATURE(kmb_gaps_get_name, int32_t (*)(const kmb_gaps *, uint64_t, uint64_t,
    kmb_gaps_name *));
SIGNATURE(kmb_gaps_get_stream, int32_t (*)(const kmb_gaps *, uint64_t,
    uint64_t, kmb_gaps_stream *));
SIGNATURE(kmb_gaps_get_target, int32_t (*)(const kmb_gaps *, uint64_t,
    kmb_gaps_target *));
SIGNATURE(kmb_gaps_get_interval, int32_t (*)(const kmb_gaps *, uint64_t,
    uint64_t, kmb_gaps_interval *));
SIGNATURE(kmb_gaps_get_latency, int32_t (*)(const kmb_gaps *, uint64_t,
    kmb_gaps_latency *));
SIGNATURE(kmb_gaps_finding_count, uint64_t (*)(const kmb_gaps *));
SIGNATURE(kmb_gaps_get_finding, int32_t (*)(const kmb_gaps *, uint64_t,
    kmb_finding *));
SIGNATURE(kmb_gaps_write_json, int32_t (*)(const kmb_gaps *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_gaps_write_text, int32_t (*)(const kmb_gaps *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_payoff_change_between, int32_t (*)(const kmb_result *,
    const kmb_result *, kmb_payoff_change *));
SIGNATURE(kmb_payoff_change_compared, int32_t (*)(const kmb_comparison *,
    uint64_t, kmb_payoff_change *));
SIGNATURE(kmb_payoff_evaluate, int32_t (*)(const kmb_trace *,
    const kmb_payoff_change *, const kmb_payoff_params *, kmb_payoff **));
SIGNATURE(kmb_payoff_destroy, void (*)(kmb_payoff *));
SIGNATURE(kmb_payoff_get_summary, int32_t (*)(const kmb_payoff *,
    kmb_payoff_summary *));
SIGNATURE(kmb_payoff_get_candidate, int32_t (*)(const kmb_payoff *, uint64_t,
    kmb_payoff_candidate *));
SIGNATURE(kmb_payoff_get_shape, int32_t (*)(const kmb_payoff *, uint64_t,
    kmb_payoff_shape *));
SIGNATURE(kmb_payoff_note_count, uint64_t (*)(const kmb_payoff *));
SIGNATURE(kmb_payoff_note, const char *(*)(const kmb_payoff *, uint64_t));
SIGNATURE(kmb_payoff_write_text, int32_t (*)(const kmb_payoff *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_payoff_write_markdown, int32_t (*)(const kmb_payoff *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_payoff_write_json, int32_t (*)(const kmb_payoff *,
    int32_t (*)(void *, const void *, size_t), void *));
SIGNATURE(kmb_trace_begin, int32_t (*)(kmb_device *,
    const kmb_record_params *, kmb_recording **));
SIGNATURE(kmb_trace_range_begin, int32_t (*)(kmb_recording *, const char *));
SIGNATURE(kmb_trace_range_end, int32_t (*)(kmb_recording *));
SIGNATURE(kmb_trace_end, int32_t (*)(kmb_recording *, kmb_trace **));
SIGNATURE(kmb_trace_abandon, void (*)(kmb_recording *));
SIGNATURE(kmb_sweep_open, int32_t (*)(kmb_device *, const char *,
    kmb_sweep **));
SIGNATURE(kmb_sweep_find, const kmb_result *(*)(const kmb_sweep *,
    const char *, const kmb_pair *, uint64_t));
SIGNATURE(kmb_sweep_add, int32_t (*)(kmb_sweep *, kmb_result *));
SIGNATURE(kmb_sweep_results, const kmb_results *(*)(const kmb_sweep *));
SIGNATURE(kmb_sweep_close, void (*)(kmb_sweep *));

/* The library must have each of them, too. */
typedef void (*function)(void);
static const function functions[] = {
    (function)kmb_version,
    (function)kmb_abi_major,
    (function)kmb_status_name,
    (function)kmb_status_text,
    (function)kmb_last_error,
    (function)kmb_dtype_name,
    (function)kmb_dtype_bits,
    (function)kmb_device_open,
    (function)kmb_device_close,
    (function)kmb_device_attr_u64,
    (function)kmb_device_attr_f64,
    (function)kmb_device_attr_text,
    (function)kmb_buffers_create,
    (function)kmb_buffers_destroy,
    (function)kmb_buffers_prepare,
    (function)kmb_buffers_pointer,
    (function)kmb_buffers_get_info,
    (function)kmb_comm_create,
    (function)kmb_comm_threads_create,
    (function)kmb_comm_shm_create,
    (function)kmb_comm_destroy,
    (function)kmb_comm_rank,
    (function)kmb_comm_size,
    (function)kmb_comm_allgather,
    (function)kmb_bench,
    (function)kmb_result_from_samples,
    (function)kmb_session_begin,
    (function)kmb_session_sample_begin,
    (function)kmb_session_sample_end,
    (function)kmb_session_end,
    (function)kmb_session_abandon,
    (function)kmb_code_capture,
    (function)kmb_code_destroy,
    (function)kmb_code_get_info,
    (function)kmb_code_get_kernel,
    (function)kmb_code_get_image,
    (function)kmb_code_save,
    (function)kmb_code_hash,
    (function)kmb_result_destroy,
    (function)kmb_result_f64,
    (function)kmb_result_u64,
    (function)kmb_result_text,
    (function)kmb_result_samples,
    (function)kmb_result_finding_count,
    (function)kmb_result_finding,
    (function)kmb_finding_name,
    (function)kmb_result_rank_count,
    (function)kmb_result_rank,
    (function)kmb_result_op_count,
    (function)kmb_result_op,
    (function)kmb_op_kind_name,
    (function)kmb_result_code_count,
    (function)kmb_result_code,
    (function)kmb_result_code_pair_count,
    (function)kmb_result_code_pair,
    (function)kmb_result_code_match,
    (function)kmb_code_match_name,
    (function)kmb_result_axis_count,
    (function)kmb_result_axis,
    (function)kmb_result_write_text,
    (function)kmb_result_write_json,
    (function)kmb_results_create,
    (function)kmb_results_destroy,
    (function)kmb_results_add,
    (function)kmb_results_count,
    (function)kmb_results_get,
    (function)kmb_results_write_json,
    (function)kmb_results_write_table,
    (function)kmb_results_read_json,
    (function)kmb_result_metadata_count,
    (function)kmb_result_metadata,
    (function)kmb_result_metadata_text,
    (function)kmb_work_gemm,
    (function)kmb_work_elementwise,
    (function)kmb_work_copy,
    (function)kmb_work_matmul,
    (function)kmb_work_grouped,
    (function)kmb_work_attention,
    (function)kmb_work_paged_decode,
    (function)kmb_work_mla,
    (function)kmb_work_moe,
    (function)kmb_work_norm,
    (function)kmb_work_softmax,
    (function)kmb_work_activation,
    (function)kmb_work_collective,
    (function)kmb_device_ceiling,
    (function)kmb_roofline_evaluate,
    (function)kmb_roofline_above_peak_text,
    (function)kmb_peaks_create,
    (function)kmb_peaks_destroy,
    (function)kmb_peaks_read_csv,
    (function)kmb_peaks_count,
    (function)kmb_peaks_get,
    (function)kmb_peaks_find,
    (function)kmb_peaks_lookup,
    (function)kmb_peaks_of_device,
    (function)kmb_part_f64,
    (function)kmb_part_text,
    (function)kmb_part_ceiling,
    (function)kmb_part_rate,
    (function)kmb_part_reference_count,
    (function)kmb_part_reference,
    (function)kmb_part_reference_for,
    (function)kmb_knob_value,
    (function)kmb_verdict_name,
    (function)kmb_compare,
    (function)kmb_comparison_destroy,
    (function)kmb_comparison_count,
    (function)kmb_comparison_row,
    (function)kmb_comparison_arm,
    (function)kmb_comparison_ratios,
    (function)kmb_comparison_write_text,
    (function)kmb_comparison_write_json,
    (function)kmb_counters_read,
    (function)kmb_counters_release,
    (function)kmb_counters_destroy,
    (function)kmb_counters_get_info,
    (function)kmb_counters_row_count,
    (function)kmb_counters_name,
    (function)kmb_counters_launch,
    (function)kmb_counters_occupancy,
    (function)kmb_counters_value,
    (function)kmb_trace_format_name,
    (function)kmb_trace_load,
    (function)kmb_trace_read,
    (function)kmb_trace_destroy,
    (function)kmb_trace_get_info,
    (function)kmb_trace_get_op,
    (function)kmb_trace_get_call,
    (function)kmb_trace_get_range,
    (function)kmb_trace_write_json,
    (function)kmb_trace_write_chrome,
    (function)kmb_gaps_analyse,
    (function)kmb_gaps_destroy,
    (function)kmb_gaps_device_count,
    (function)kmb_gaps_get_device,
    (function)kmb_gaps_utilization,
    (function)kmb_gaps_get_transition,
    (function)kmb_gaps_get_name,
    (function)kmb_gaps_get_stream,
    (function)kmb_gaps_get_target,
    (function)kmb_gaps_get_interval,
    (function)kmb_gaps_get_latency,
    (function)kmb_gaps_finding_count,
    (function)kmb_gaps_get_finding,
    (function)kmb_gaps_write_json,
    (function)kmb_gaps_write_text,
    (function)kmb_payoff_change_between,
    (function)kmb_payoff_change_compared,
    (function)kmb_payoff_evaluate,
    (function)kmb_payoff_destroy,
    (function)kmb_payoff_get_summary,
    (function)kmb_payoff_get_candidate,
    (function)kmb_payoff_get_shape,
    (function)kmb_payoff_note_count,
    (function)kmb_payoff_note,
    (function)kmb_payoff_write_text,
    (function)kmb_payoff_write_markdown,
    (function)kmb_payoff_write_json,
    (function)kmb_trace_begin,
    (function)kmb_trace_range_begin,
    (function)kmb_trace_range_end,
    (function)kmb_trace_end,
    (function)kmb_trace_abandon,
    (function)kmb_sweep_open,
    (function)kmb_sweep_find,
    (function)kmb_sweep_add,
    (function)kmb_sweep_results,
    (function)kmb_sweep_close,
};

int main(void) {
  size_t count = sizeof functions / sizeof functions[0];
  for (size_t i = 0; i < count; i++)
    if (!functions[i]) return 1;
  printf("%zu functions\n", count);
  return count == 169 ? 0 : 1;
}
/* NOLINTEND(bugprone-sizeof-expression) */
/* clang-format on */

#endif
