/**
 * @file result.h
 * What a measurement came to: values, findings, raw samples, and how to write
 * and read them.
 */
#ifndef KMB_RESULT_H
#define KMB_RESULT_H

#include <kmb/code.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup result Result
 *  A result is independent of the device that made it. It never changes once
 *  it is returned, so several threads may read it.
 *  @{ */

typedef struct kmb_result kmb_result;
typedef struct kmb_results kmb_results;

/** Values of a result: X(name, number, kind, key, unit). `kind` is F64, U64 or
 *  TEXT and selects the getter; `key` is the JSON key. Numbers are pinned.
 *
 *  Times are per iteration. `time_ns` is the headline: the median, corrected by
 *  `bias_ns` where the timer's bias is known; `raw_median_ns` is what the clock
 *  said. The interval is the 99% within-run interval of the median: a mode that
 *  lasts longer than the run cannot be seen in it.
 *
 *  `gaps_ns` is the time of the span in which none of the launch's operations
 *  ran (span - busy, of each sample, before any correction). What concerns the
 *  rows of kmb_result_op(): `op_samples` samples they are made of, the latest
 *  512 at most; `op_samples_other` samples, of all that were taken, consisted
 *  of other operations; an iteration has `ops_omitted` operations without a
 *  row, since there are at most 256 rows.
 *
 *  Hardware counters are there if they were asked for
 *  (KMB_BENCH_COUNTERS, KMB_BENCH_CONFIRM_COLD): bytes are of an iteration,
 *  `dram_bytes_per_s` is over `time_ns` of TRACE, percentages are of the kernel
 *  `counter_kernel`, which takes longest. `cold_ratio` is bytes read from DRAM
 *  over the bytes of inputs that an iteration touches. What is called ncu_… is
 *  defined as NVIDIA's Nsight Compute does.
 *
 *  How the kernel `launch_kernel` was launched, the one that takes longest,
 * comes with TRACE and with hardware counters: "x × y × z" of its grid in
 * blocks and its block in threads, what it needs, how many of its blocks a unit
 * can hold at once, what that is limited by, which share of the unit's warps
 * those are
 *  (`theoretical_occupancy_pct`), and how often the grid fills all units
 *  (`waves`). `registers_per_thread` is the tracer's, which on NVIDIA GPUs is
 *  what is given out; what the code itself needs is a driver's attribute.
 *  `occupancy_check` says what the driver's own count was compared with, and
 *  that attribute where it is another number.
 *
 *  Where several ranks measured (kmb_bench_params::comm), a sample is the
 *  longest of all ranks, and `time_ns` their median; flops and bytes are this
 *  rank's, `global_…` the sum over ranks. `release_skew_ns` is the median over
 *  trials of how far apart the barrier released the ranks,
 *  `release_skew_p99_ns` the 99th percentile. `rank_spread_pct` is the
 *  difference between the largest and the smallest median of a rank in percent
 *  of the largest. `agreement_ns` is what the ranks' agreement costs for each
 *  sample, outside of it.
 *
 *  Where code was captured (kmb_bench_params::code), `code_omitted` kernels are
 *  without a row, since there are at most 256, and `code_unseen` launches were
 *  of graphs or in other contexts, so that their kernels were not seen. */
typedef int32_t kmb_value;
#define KMB_VALUE_MAP(X)                                        \
  X(NAME, 1, TEXT, "name", "")                                  \
  X(TIME, 2, F64, "time_ns", "ns")                              \
  X(RAW_MEDIAN, 3, F64, "raw_median_ns", "ns")                  \
  X(INTERVAL_LOW, 4, F64, "interval_low_ns", "ns")              \
  X(INTERVAL_HIGH, 5, F64, "interval_high_ns", "ns")            \
  X(INTERVAL_PCT, 6, F64, "interval_pct", "%")                  \
  X(DESIGN_EFFECT, 7, F64, "design_effect", "1")                \
  X(SAMPLES, 8, U64, "samples", "1")                            \
  X(SAMPLES_DROPPED, 9, U64, "samples_dropped", "1")            \
  X(SAMPLES_INVALID, 10, U64, "samples_invalid", "1")           \
  X(BATCH, 11, U64, "batch", "1")                               \
  X(ITERATIONS, 12, U64, "iterations", "1")                     \
  X(WARMUP_ITERATIONS, 13, U64, "warmup_iterations", "1")       \
  X(MEAN, 14, F64, "mean_ns", "ns")                             \
  X(STDEV, 15, F64, "stdev_ns", "ns")                           \
  X(MAD, 16, F64, "mad_ns", "ns")                               \
  X(MIN, 17, F64, "min_ns", "ns")                               \
  X(P25, 18, F64, "p25_ns", "ns")                               \
  X(P75, 19, F64, "p75_ns", "ns")                               \
  X(P95, 20, F64, "p95_ns", "ns")                               \
  X(P99, 21, F64, "p99_ns", "ns")                               \
  X(MAX, 22, F64, "max_ns", "ns")                               \
  X(STOP_REASON, 23, TEXT, "stop_reason", "")                   \
  X(TARGET_PCT, 24, F64, "target_pct", "%")                     \
  X(SEED, 25, U64, "seed", "1")                                 \
  X(TIMER, 26, TEXT, "timer", "")                               \
  X(TIMER_REASON, 27, TEXT, "timer_reason", "")                 \
  X(LAUNCH_MODE, 28, TEXT, "launch_mode", "")                   \
  X(ZERO_REFERENCE, 29, TEXT, "zero_reference", "")             \
  X(BIAS, 30, F64, "bias_ns", "ns")                             \
  X(BIAS_UNCERTAINTY, 31, F64, "bias_uncertainty_ns", "ns")     \
  X(OVERHEAD, 32, F64, "overhead_upper_ns", "ns")               \
  X(CLOCK_TICK, 33, F64, "clock_tick_ns", "ns")                 \
  X(CACHE_STATE, 34, TEXT, "cache_state", "")                   \
  X(CACHE_REQUESTED, 35, TEXT, "cache_requested", "")           \
  X(CACHE_METHOD, 36, TEXT, "cache_method", "")                 \
  X(CACHE_PROOF, 37, TEXT, "cache_proof", "")                   \
  X(LLC_BYTES, 38, U64, "llc_bytes", "B")                       \
  X(REUSE_BYTES, 39, U64, "reuse_bytes", "B")                   \
  X(SWEEP_BYTES, 40, U64, "sweep_bytes", "B")                   \
  X(SLOTS, 41, U64, "slots", "1")                               \
  X(ALLOCATED_BYTES, 42, U64, "allocated_bytes", "B")           \
  X(TOUCHED_BYTES, 43, U64, "touched_bytes", "B")               \
  X(FLOPS, 44, U64, "flops", "FLOP")                            \
  X(LEAST_BYTES, 45, U64, "least_bytes", "B")                   \
  X(READ_BYTES, 46, U64, "read_bytes", "B")                     \
  X(WRITE_BYTES, 47, U64, "write_bytes", "B")                   \
  X(WORK_CONVENTION, 48, TEXT, "work_convention", "")           \
  X(WORK_DTYPE, 49, TEXT, "work_dtype", "")                     \
  X(INTENSITY, 50, F64, "intensity", "FLOP/B")                  \
  X(RIDGE, 51, F64, "ridge", "FLOP/B")                          \
  X(MEMORY_CEILING, 52, F64, "memory_ceiling", "B/s")           \
  X(MEMORY_CEILING_NAME, 53, TEXT, "memory_ceiling_name", "")   \
  X(COMPUTE_CEILING, 54, F64, "compute_ceiling", "FLOP/s")      \
  X(COMPUTE_CEILING_NAME, 55, TEXT, "compute_ceiling_name", "") \
  X(THREADS, 56, U64, "threads", "1")                           \
  X(PREDICTED_BOUND, 57, TEXT, "predicted_bound", "")           \
  X(PREDICTED_TIME, 58, F64, "predicted_time_ns", "ns")         \
  X(OBSERVED_BOUND, 59, TEXT, "observed_bound", "")             \
  X(ATTAINABLE_FLOPS, 60, F64, "attainable_flops", "FLOP/s")    \
  X(ACHIEVED_FLOPS, 61, F64, "achieved_flops", "FLOP/s")        \
  X(ACHIEVED_BYTES, 62, F64, "achieved_bytes_per_s", "B/s")     \
  X(SOL_PCT, 63, F64, "sol_pct", "%")                           \
  X(MEMORY_PCT, 64, F64, "memory_pct", "%")                     \
  X(COMPUTE_PCT, 65, F64, "compute_pct", "%")                   \
  X(READING, 66, TEXT, "reading", "")                           \
  X(CHECK, 67, TEXT, "check", "")                               \
  X(CHECK_ERROR, 68, F64, "check_error", "1")                   \
  X(TOLERANCE, 69, F64, "tolerance", "1")                       \
  X(CONFIRM_TIME, 70, F64, "confirm_time_ns", "ns")             \
  X(CONFIRM_LOW, 71, F64, "confirm_low_ns", "ns")               \
  X(CONFIRM_HIGH, 72, F64, "confirm_high_ns", "ns")             \
  X(CONFIRM_METHOD, 73, TEXT, "confirm_method", "")             \
  X(ROUNDS, 74, U64, "rounds", "1")                             \
  X(ROUND_LOW, 75, F64, "round_low_ns", "ns")                   \
  X(ROUND_HIGH, 76, F64, "round_high_ns", "ns")                 \
  X(MEASURE_WALL, 77, F64, "measure_wall_ns", "ns")             \
  X(TOTAL_WALL, 78, F64, "total_wall_ns", "ns")                 \
  X(BUSY, 79, F64, "busy_ns", "ns")                             \
  X(SUM, 80, F64, "sum_ns", "ns")                               \
  X(DEVICE_OPS, 81, U64, "device_ops", "1")                     \
  X(FILL, 82, TEXT, "fill", "")                                 \
  X(CONFIG, 83, U64, "config", "1")                             \
  X(DRIFT_PCT, 84, F64, "drift_pct", "%")                       \
  X(CEILING_SOURCE, 85, TEXT, "ceiling_source", "")             \
  X(RATE_CEILING, 86, F64, "rate_ceiling", "FLOP/s")            \
  X(RATE_CEILING_NAME, 87, TEXT, "rate_ceiling_name", "")       \
  X(RATE_PCT, 88, F64, "rate_pct", "%")                         \
  X(REFERENCE_PCT, 89, F64, "reference_pct", "%")               \
  X(REFERENCE_NAME, 90, TEXT, "reference_name", "")             \
  X(READING_PREDICTION, 91, TEXT, "reading_prediction", "")     \
  X(READING_SOL, 92, TEXT, "reading_sol", "")                   \
  X(READING_MEMORY, 93, TEXT, "reading_memory", "")             \
  X(READING_OCCUPANCY, 94, TEXT, "reading_occupancy", "")       \
  X(GAPS, 95, F64, "gaps_ns", "ns")                             \
  X(OP_SAMPLES, 96, U64, "op_samples", "1")                     \
  X(OP_SAMPLES_OTHER, 97, U64, "op_samples_other", "1")         \
  X(OPS_OMITTED, 98, U64, "ops_omitted", "1")                   \
  X(COUNTER_PASSES, 99, U64, "counter_passes", "1")             \
  X(COUNTER_MODE, 100, TEXT, "counter_mode", "")                \
  X(COUNTER_KERNEL, 101, TEXT, "counter_kernel", "")            \
  X(COLD_RATIO, 102, F64, "cold_ratio", "1")                    \
  X(DRAM_READ, 103, F64, "dram_read_bytes", "B")                \
  X(DRAM_WRITE, 104, F64, "dram_write_bytes", "B")              \
  X(DRAM_RATE, 105, F64, "dram_bytes_per_s", "B/s")             \
  X(NCU_COMPUTE, 106, F64, "ncu_compute_pct", "%")              \
  X(NCU_MEMORY, 107, F64, "ncu_memory_pct", "%")                \
  X(L2_HIT, 108, F64, "l2_hit_pct", "%")                        \
  X(NCU_MEM_BUSY, 109, F64, "ncu_mem_busy_pct", "%")            \
  X(NCU_BANDWIDTH, 110, F64, "ncu_max_bandwidth_pct", "%")      \
  X(NCU_MEM_PIPES, 111, F64, "ncu_mem_pipes_busy_pct", "%")     \
  X(OCCUPANCY, 112, F64, "achieved_occupancy_pct", "%")         \
  X(WORLD_SIZE, 120, U64, "world_size", "1")                    \
  X(RANK, 121, U64, "rank", "1")                                \
  X(NODES, 122, U64, "nodes", "1")                              \
  X(GPUS_PER_NODE, 123, U64, "gpus_per_node", "1")              \
  X(COMM, 124, TEXT, "comm", "")                                \
  X(BARRIER, 125, TEXT, "barrier", "")                          \
  X(COLLECTIVE, 126, TEXT, "collective", "")                    \
  X(MULTICAST, 127, TEXT, "multicast", "")                      \
  X(TOPOLOGY, 128, TEXT, "topology", "")                        \
  X(BOUNDARY, 129, TEXT, "boundary", "")                        \
  X(RELEASE_SKEW, 130, F64, "release_skew_ns", "ns")            \
  X(RELEASE_SKEW_P99, 131, F64, "release_skew_p99_ns", "ns")    \
  X(RANK_SPREAD_PCT, 132, F64, "rank_spread_pct", "%")          \
  X(GLOBAL_FLOPS, 133, U64, "global_flops", "FLOP")             \
  X(GLOBAL_LEAST_BYTES, 134, U64, "global_least_bytes", "B")    \
  X(AGREEMENT, 135, F64, "agreement_ns", "ns")                  \
  X(ALLOCATION, 136, TEXT, "allocation", "")                    \
  X(FABRIC, 137, TEXT, "fabric", "")                            \
  X(LAUNCH_KERNEL, 138, TEXT, "launch_kernel", "")              \
  X(LAUNCH_GRID, 139, TEXT, "launch_grid", "")                  \
  X(LAUNCH_BLOCK, 140, TEXT, "launch_block", "")                \
  X(REGISTERS, 141, U64, "registers_per_thread", "1")           \
  X(LOCAL_BYTES, 142, U64, "local_bytes_per_thread", "B")       \
  X(STATIC_SHARED, 143, U64, "static_shared_bytes", "B")        \
  X(DYNAMIC_SHARED, 144, U64, "dynamic_shared_bytes", "B")      \
  X(WAVES, 145, F64, "waves", "1")                              \
  X(BLOCKS_PER_UNIT, 146, U64, "blocks_per_unit", "1")          \
  X(THEORETICAL, 147, F64, "theoretical_occupancy_pct", "%")    \
  X(OCCUPANCY_LIMIT, 148, TEXT, "occupancy_limit", "")          \
  X(OCCUPANCY_CHECK, 149, TEXT, "occupancy_check", "")          \
  X(CODE_OMITTED, 150, U64, "code_omitted", "1")                \
  X(CODE_UNSEEN, 151, U64, "code_unseen", "1")

enum {
#define KMB_VALUE_ENUM(name, number, kind, key, unit) \
  KMB_VALUE_##name = (number),
  KMB_VALUE_MAP(KMB_VALUE_ENUM)
#undef KMB_VALUE_ENUM
};

/** How much a finding should weigh. */
typedef int32_t kmb_severity;
enum {
  KMB_NOTE = 1,    /**< good to know when comparing */
  KMB_WARNING = 2, /**< the number may not mean what it seems to */
  KMB_DOUBT = 3    /**< do not publish the number before this is explained */
};

/** Reasons to doubt a result: X(name, value). Values are pinned. */
typedef int32_t kmb_finding_code;
#define KMB_FINDING_MAP(X)    \
  X(FALLBACK_TIMER, 1)        \
  X(UNCALIBRATED, 2)          \
  X(TIMERS_DISAGREE, 3)       \
  X(NOT_COLD, 4)              \
  X(HOST_BOUND, 5)            \
  X(ABOVE_PEAK, 6)            \
  X(THROTTLED, 7)             \
  X(CLOCK_DRIFT, 8)           \
  X(UNSTABLE, 9)              \
  X(BIMODAL, 10)              \
  X(DRIFT, 11)                \
  X(RECORDS_DROPPED, 12)      \
  X(RECORDS_MISSING, 13)      \
  X(INVALID_TIMESTAMPS, 14)   \
  X(STALE_OUTPUT, 15)         \
  X(STATE_CARRIED, 16)        \
  X(CHECK_SKIPPED, 17)        \
  X(FEW_SAMPLES, 18)          \
  X(RESOLUTION, 19)           \
  X(OVERHEAD, 20)             \
  X(NOT_QUIET, 21)            \
  X(ITERATIONS_OVERLAP, 22)   \
  X(COMPILED_WHILE_TIMED, 23) \
  X(OTHER_THREADS, 24)        \
  X(RANK_SKEW, 25)            \
  X(SYNC_OUTLIER, 26)         \
  X(MULTICAST_OFF, 27)        \
  X(CUPTI_ATTACHED, 28)       \
  X(ZERO_DATA, 29)            \
  X(UNKNOWN_PEAK, 30)         \
  X(SHARED_DEVICE, 31)        \
  X(FAR_FROM_DEVICE, 32)      \
  X(NOT_WARM, 33)             \
  X(NOT_CONVERGED, 34)        \
  X(UNCONFIRMED, 35)          \
  X(GRAPHS_NOT_TRACED, 36)    \
  X(GRAPHS_AS_SPANS, 37)      \
  X(CAUSE_UNKNOWN, 38)        \
  X(UNKNOWN_DEVICE, 39)       \
  X(GRAPH_UNSEEN, 40)

enum {
#define KMB_FINDING_ENUM(name, value) KMB_FINDING_##name = (value),
  KMB_FINDING_MAP(KMB_FINDING_ENUM)
#undef KMB_FINDING_ENUM
};

/** A measured figure behind a finding. The layout is final. */
typedef struct kmb_figure {
  const char *name; /**< ends in its unit, such as "overhead_ns" */
  double value;
} kmb_figure;

/** One finding; all pointers belong to the result. */
typedef struct kmb_finding {
  size_t struct_size;
  const char *message;       /**< one sentence */
  const kmb_figure *figures; /**< `figure_count` of them */
  uint64_t figure_count;
  kmb_finding_code code;
  kmb_severity severity;
} kmb_finding;

static inline kmb_finding kmb_finding_init(void) {
  kmb_finding finding;
  memset(&finding, 0, sizeof finding);
  finding.struct_size = sizeof finding;
  return finding;
}

/** Kinds of device operations: X(name, value, text). Values are pinned. GRAPH
 *  is a whole launch of a graph whose kernels were not traced. */
typedef int32_t kmb_op_kind;
#define KMB_OP_MAP(X)    \
  X(KERNEL, 1, "kernel") \
  X(MEMCPY, 2, "memcpy") \
  X(MEMSET, 3, "memset") \
  X(GRAPH, 4, "graph")

enum {
#define KMB_OP_ENUM(name, value, text) KMB_OP_##name = (value),
  KMB_OP_MAP(KMB_OP_ENUM)
#undef KMB_OP_ENUM
};

enum {
  KMB_OP_HAS_LAUNCH = 1u << 0 /**< of a kernel: grid to local are known */
};

/** One device operation of an iteration, as the tracer saw it, over the samples
 *  that consisted of the same operations. Strings belong to the result. */
typedef struct kmb_op {
  size_t struct_size;
  const char *name;   /**< of a kernel, mangled as the tracer gives it; "" for
                           other kinds or if there is none */
  double start_ns;    /**< median, from the first start of the iteration */
  double duration_ns; /**< median */
  double min_ns;      /**< of the duration */
  double max_ns;      /**< of the duration */
  double share_pct;   /**< median duration in percent of the median span; those
                           of operations that overlap exceed 100 in sum */
  uint64_t bytes;     /**< copied or set; 0 for a kernel */
  kmb_op_kind kind;   /**< 0: read from a document of a later version */
  uint32_t stream;    /**< the tracer's number of it, in the first of those
                           samples */
  /* How a kernel was launched, in the first of those samples. */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t registers;      /**< of a thread, as the tracer has it: CUPTI says
                                what is given out, rounded up to a step */
  uint32_t local;          /**< bytes of a thread: spills, arrays, frames */
  uint32_t static_shared;  /**< bytes of a block */
  uint32_t dynamic_shared; /**< bytes of a block */
  uint32_t flags;          /**< KMB_OP_HAS_LAUNCH */
  uint32_t reserved;
} kmb_op;

static inline kmb_op kmb_op_init(void) {
  kmb_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  return op;
}

/** What two kernels' code has in common: X(NAME, value, text). */
typedef int32_t kmb_code_match;
#define KMB_CODE_MATCH_MAP(X)   \
  X(UNKNOWN, 0, "unknown code") \
  X(SAME, 1, "same code")       \
  X(DIFFERENT, 2, "different code")

enum {
#define KMB_CODE_MATCH_ENUM(name, value, text) KMB_CODE_##name = (value),
  KMB_CODE_MATCH_MAP(KMB_CODE_MATCH_ENUM)
#undef KMB_CODE_MATCH_ENUM
};

/** A kernel of one result beside that of another. Strings belong to the results
 *  or are static. */
typedef struct kmb_code_pair {
  size_t struct_size;
  const char *a;      /**< the kernel's name; NULL: the first result lacks it */
  const char *b;      /**< and in the second; NULL: it lacks it */
  const char *reason; /**< why the match is not known; else NULL */
  kmb_code_match match;
  int32_t reserved;
} kmb_code_pair;

static inline kmb_code_pair kmb_code_pair_init(void) {
  kmb_code_pair pair;
  memset(&pair, 0, sizeof pair);
  pair.struct_size = sizeof pair;
  return pair;
}

/** One rank of a measurement by several. Strings belong to the result. */
typedef struct kmb_rank {
  size_t struct_size;
  const char *device; /**< its device's name; "" if not known */
  const char *id;     /**< UUID, or PCI id; "" if not known */
  double median_ns;   /**< of its own samples, as the clock said */
  double min_ns;
  double max_ns;
  uint64_t slowest; /**< samples in which it was the last */
  uint64_t flops;   /**< of its work; 0: none was given */
  uint64_t bytes;   /**< least bytes of its work; 0: none was given */
  uint64_t node;    /**< ranks of one host have the same number, from 0 */
} kmb_rank;

static inline kmb_rank kmb_rank_init(void) {
  kmb_rank rank;
  memset(&rank, 0, sizeof rank);
  rank.struct_size = sizeof rank;
  return rank;
}

/** Frees a result.
 *  @param result  a handle or NULL
 *  @thread any, once nobody uses the result
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_result_destroy(kmb_result *result);

/** A value of kind F64.
 *  @param result      a result
 *  @param value       one of KMB_VALUE_MAP() of kind F64
 *  @param[out] number in the unit that the map names
 *  @retval KMB_ERR_INVALID      NULL, or a value of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known; the reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units as in KMB_VALUE_MAP()
 *  @since 0.1 */
KMB_API kmb_status kmb_result_f64(const kmb_result *result, kmb_value value,
                                  double *number);

/** A value of kind U64; as kmb_result_f64().
 *  @param result      a result
 *  @param value       one of KMB_VALUE_MAP() of kind U64
 *  @param[out] number in the unit that the map names
 *  @retval KMB_ERR_INVALID      NULL, or a value of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known; the reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units as in KMB_VALUE_MAP()
 *  @since 0.1 */
KMB_API kmb_status kmb_result_u64(const kmb_result *result, kmb_value value,
                                  uint64_t *number);

/** A value of kind TEXT; as kmb_result_f64().
 *  @param result     a result
 *  @param value      one of KMB_VALUE_MAP() of kind TEXT
 *  @param[out] text  owned by the result
 *  @retval KMB_ERR_INVALID      NULL, or a value of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known; the reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_text(const kmb_result *result, kmb_value value,
                                   const char **text);

/** Raw samples in the order in which they were taken, per iteration,
 *  uncorrected and undithered; of the last round if there were several.
 *  @param result      a result
 *  @param[out] ns     owned by the result; NULL if there are none
 *  @param[out] count  number of samples, those dropped as warm-up not counted
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_result_samples(const kmb_result *result,
                                      const double **ns, uint64_t *count);

/** Number of findings.
 *  @param result  a result or NULL
 *  @return how many kmb_result_finding() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_finding_count(const kmb_result *result);

/** One finding.
 *  @param result        a result
 *  @param index         below kmb_result_finding_count()
 *  @param[out] finding  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such finding
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_finding(const kmb_result *result, uint64_t index,
                                      kmb_finding *finding);

/** Name of a finding, such as "NOT_COLD".
 *  @param code  any value
 *  @return a static string; "UNKNOWN" for a code that is not in
 *          KMB_FINDING_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_finding_name(kmb_finding_code code);

/** Number of ranks that measured; 0 for a measurement by one alone.
 *  @param result  a result or NULL
 *  @return how many kmb_result_rank() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_rank_count(const kmb_result *result);

/** One rank of a measurement by several.
 *  @param result     a result
 *  @param index      the rank, below kmb_result_rank_count()
 *  @param[out] rank  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such rank
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_result_rank(const kmb_result *result, uint64_t index,
                                   kmb_rank *rank);

/** Number of rows of device operations; 0 unless the timer was TRACE.
 *  @param result  a result or NULL
 *  @return how many kmb_result_op() can give, at most 256; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_op_count(const kmb_result *result);

/** One device operation of an iteration, in order of their median starts.
 *  Operations of different samples are the same if their kinds, names and sizes
 *  are, the first such one in order of start being the first, and so on.
 *  @param result   a result
 *  @param index    below kmb_result_op_count()
 *  @param[out] op  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such row
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_result_op(const kmb_result *result, uint64_t index,
                                 kmb_op *op);

/** Name of a kind of device operation, such as "memcpy".
 *  @param kind  any value
 *  @return a static string; "unknown" for a value that is not in KMB_OP_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_op_kind_name(kmb_op_kind kind);

/** Number of kernels whose code is listed; 0 unless kmb_bench_params::code was
 *  given.
 *  @param result  a result or NULL
 *  @return how many kmb_result_code() can give, at most 256; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_code_count(const kmb_result *result);

/** One kernel with one launch configuration, in the order of first launches.
 *  @param result       a result
 *  @param index        below kmb_result_code_count()
 *  @param[out] kernel  written up to its `struct_size`; its texts belong to the
 *                      result
 *  @retval KMB_ERR_INVALID  NULL, or no such kernel
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_code(const kmb_result *result, uint64_t index,
                                   kmb_code_kernel *kernel);

/** Number of kernels of two results: of those of the same name one, and each
 *  that the other lacks. Where each has one alone, they are a pair whatever
 *  their names.
 *  @param a  a result or NULL
 *  @param b  a result or NULL
 *  @return how many kmb_result_code_pair() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_code_pair_count(const kmb_result *a,
                                            const kmb_result *b);

/** Two kernels' code: the same if the hashes of their instructions are, or
 *  those of their images for one kernel's name; different if those of their
 *  instructions are, or if the other result lacks it and lists all that it
 *  launched; else unknown.
 *  @param a          a result
 *  @param b          a result
 *  @param index      below kmb_result_code_pair_count()
 *  @param[out] pair  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such pair
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_code_pair(const kmb_result *a,
                                        const kmb_result *b, uint64_t index,
                                        kmb_code_pair *pair);

/** All pairs at once: different if one is, same if all are and both results
 *  list all that was launched, else unknown.
 *  @param a  a result or NULL
 *  @param b  a result or NULL
 *  @return ::KMB_CODE_SAME, ::KMB_CODE_DIFFERENT or ::KMB_CODE_UNKNOWN
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_code_match kmb_result_code_match(const kmb_result *a,
                                             const kmb_result *b);

/** Name of a match, such as "same code".
 *  @param match  any value
 *  @return a static string; "unknown code" for a value that is not in
 *          KMB_CODE_MATCH_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_code_match_name(kmb_code_match match);

/** Number of axes (see kmb_bench_params::axes).
 *  @param result  a result or NULL
 *  @return how many kmb_result_axis() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_axis_count(const kmb_result *result);

/** One axis.
 *  @param result     a result
 *  @param index      below kmb_result_axis_count()
 *  @param[out] axis  strings owned by the result
 *  @retval KMB_ERR_INVALID  NULL, or no such axis
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_axis(const kmb_result *result, uint64_t index,
                                   kmb_pair *axis);

/** Writes a result as text for a person: a block of lines.
 *  @param result  a result
 *  @param write   takes the output
 *  @param user    given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_result_write_text(const kmb_result *result,
                                         kmb_write_fn write, void *user);

/** Writes a result as JSON by the published schema: a document whose "results"
 *  holds this one.
 *  @param result  a result
 *  @param write   takes the output, UTF-8
 *  @param user    given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_result_write_json(const kmb_result *result,
                                         kmb_write_fn write, void *user);

/** Creates an empty ordered list of results.
 *  @param hooks     memory and log of the list; copied; NULL for none
 *  @param[out] results  the new list; free it with kmb_results_destroy()
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_results_create(const kmb_hooks *hooks,
                                      kmb_results **results);

/** Frees a list and the results in it.
 *  @param results  a handle or NULL
 *  @thread any, once nobody uses the list
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_results_destroy(kmb_results *results);

/** Appends a result, which then belongs to the list.
 *  @param results  a list
 *  @param result   a result that is in no list
 *  @retval KMB_ERR_INVALID  NULL, or a result that is in a list, this one or
 *                           another; nothing has changed
 *  @retval KMB_ERR_NOMEM    out of memory; the result still is the caller's
 *  @return KMB_OK
 *  @thread one at a time
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_results_add(kmb_results *results, kmb_result *result);

/** Number of results in a list.
 *  @param results  a list or NULL
 *  @return the number; 0 for NULL
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_results_count(const kmb_results *results);

/** A result of a list.
 *  @param results      a list
 *  @param index        below kmb_results_count()
 *  @param[out] result  owned by the list
 *  @retval KMB_ERR_INVALID  NULL, or no such result
 *  @return KMB_OK
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_results_get(const kmb_results *results, uint64_t index,
                                   const kmb_result **result);

/** Writes a list as one JSON document; as kmb_result_write_json().
 *  @param results  a list
 *  @param write    takes the output, UTF-8
 *  @param user     given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any while nobody adds
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_results_write_json(const kmb_results *results,
                                          kmb_write_fn write, void *user);

/** Writes a list as a table for a person: one row a result, a column an axis.
 *  Words that all rows share stand above it, the readings and findings in words
 *  below. The codes of a row's findings, gravest first, stand beside it or
 * below it, wherever there is room.
 *  @param results  a list
 *  @param write    takes the output
 *  @param user     given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any while nobody adds
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_results_write_table(const kmb_results *results,
                                           kmb_write_fn write, void *user);

/** Reads a JSON document that kmb_results_write_json() or
 *  kmb_result_write_json() wrote, or the results in one of
 *  kmb_comparison_write_json().
 *  @param read   gives the input, at most 1 GiB in all
 *  @param user   given to `read`
 *  @param hooks  memory and log of the list; NULL for none
 *  @param[out] results  the new list; free it with kmb_results_destroy()
 *  @retval KMB_ERR_INVALID      NULL
 *  @retval KMB_ERR_FORMAT       not such a document: the message gives line and
 *                               column, or the key at fault; duplicate keys, of
 *                               objects or axes, are an error
 *  @retval KMB_ERR_UNSUPPORTED  written by a newer schema
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK, or what `read` returned
 *  @thread any
 *  @blocks as `read` does
 *  @since 0.1 */
KMB_API kmb_status kmb_results_read_json(kmb_read_fn read, void *user,
                                         const kmb_hooks *hooks,
                                         kmb_results **results);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
