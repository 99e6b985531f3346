/**
 * @file counters.h
 * Hardware counters of an operation, read in this process in the cache state
 * that is measured.
 */
#ifndef KMB_COUNTERS_H
#define KMB_COUNTERS_H

#include <kmb/bench.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup counters Hardware counters
 *  Counters say why an operation takes as long as it does, never how long:
 *  they are collected in passes that repeat it. docs/counters.md explains.
 *  @{ */

/** How an operation is repeated, once for each pass. Values are pinned. */
typedef int32_t kmb_replay;
enum {
  /** LAUNCH; GRAPH for prebuilt graphs, the launch mode GRAPH, and what
   * consists of copies and sets alone. */
  KMB_REPLAY_AUTO = 0,
  /** Each kernel is a range, the library repeats reset, cache preparation and
   *  launch: the counters belong to the cache state that was asked for. */
  KMB_REPLAY_LAUNCH = 1,
  /** Each kernel is a range and the vendor's library repeats it, saving memory
   *  and putting it back, which changes what caches hold: for what cannot be
   *  repeated at will. It is launched twice, to list its kernels and to count;
   *  but for WARM, which needs one more. */
  KMB_REPLAY_KERNEL = 2,
  /** As LAUNCH, but the whole iteration is one range, idle time between its
   *  kernels included; on a graph's replay if there is one. */
  KMB_REPLAY_GRAPH = 3
};

enum {
  KMB_COUNTERS_LIST = 1u << 0, /**< list kernels and count passes, read none */
  /** The vendor's session stays enabled after the call, which makes the next
   *  one on this device shorter. Nothing is counted meanwhile, but the GPU's
   *  counters are held: other processes' profilers may not get them. It ends
   *  with the next call without this flag, with kmb_counters_release(), with
   *  the device, with any failure, and where something else of this process
   *  needs it to. In a context of the caller's, which a stream may bring,
   *  nothing is kept. */
  KMB_COUNTERS_KEEP = 1u << 1
};

/** What to read. Zero means the default. */
typedef struct kmb_counters_params {
  size_t struct_size;
  /** The vendor's names; NULL: the preset `sol` (KMB_COUNTERS_SOL_MAP()). */
  const char *const *metrics;
  uint64_t metric_count;
  /** POSIX extended regular expression that a kernel's name, as the tracer has
   *  it (mangled), must match; NULL: all kernels. */
  const char *kernel;
  uint64_t skip;  /**< matching launches of an iteration to pass over */
  uint64_t count; /**< matching launches to keep after those; 0: all */
  kmb_replay replay;
  uint32_t flags; /**< KMB_COUNTERS_… */
} kmb_counters_params;

static inline kmb_counters_params kmb_counters_params_init(void) {
  kmb_counters_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** The preset `sol`: X(name, place, metric, unit, text). Metrics are named as
 * NVIDIA does; the percentages and what Nsight Compute calls them are NVIDIA's:
 * shares of a unit's peak while the kernel ran, not of a datasheet. */
#define KMB_COUNTERS_SOL_MAP(X)                                                \
  X(DRAM_READ, 0, "dram__bytes_read.sum", "B", "read from DRAM")               \
  X(DRAM_WRITE, 1, "dram__bytes_write.sum", "B", "written to DRAM")            \
  X(OCCUPANCY, 2, "sm__warps_active.avg.pct_of_peak_sustained_active", "%",    \
    "ncu's Achieved Occupancy")                                                \
  X(L2_HIT, 3, "lts__t_sector_hit_rate.pct", "%", "ncu's L2 Hit Rate")         \
  X(COMPUTE, 4, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%",       \
    "ncu's Compute (SM) Throughput")                                           \
  X(MEMORY, 5,                                                                 \
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",   \
    "ncu's Memory Throughput")                                                 \
  X(MEM_BUSY, 6,                                                               \
    "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed", \
    "%", "ncu's Mem Busy")                                                     \
  X(MEM_BANDWIDTH, 7,                                                          \
    "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_"        \
    "elapsed",                                                                 \
    "%", "ncu's Max Bandwidth")                                                \
  X(MEM_ISSUE, 8, "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",   \
    "%", "ncu's Mem Pipes Busy")

/** Places of the preset's metrics. */
enum {
#define KMB_COUNTERS_SOL_ENUM(name, place, metric, unit, text) \
  KMB_COUNTERS_SOL_##name = (place),
  KMB_COUNTERS_SOL_MAP(KMB_COUNTERS_SOL_ENUM)
#undef KMB_COUNTERS_SOL_ENUM
      KMB_COUNTERS_SOL_COUNT = 9
};

enum {
  KMB_OCCUPANCY_HAS_LIMITS = 1u << 0, /**< the four limits are known */
  KMB_OCCUPANCY_CHECKED = 1u << 1     /**< the driver counts as many blocks */
};

/** How many blocks of a kernel a unit (a multiprocessor) can hold at once: its
 *  theoretical occupancy. */
typedef struct kmb_occupancy {
  size_t struct_size;
  uint64_t block_warps;     /**< warps of a block */
  uint64_t unit_warps;      /**< most warps of a unit */
  uint64_t blocks;          /**< most blocks of this kernel on a unit */
  uint64_t limit_registers; /**< blocks that a unit's registers suffice for */
  uint64_t limit_shared;    /**< … its shared memory */
  uint64_t limit_warps;     /**< … its warps */
  uint64_t limit_blocks;    /**< most blocks of any kernel on a unit */
  double pct;               /**< blocks × block_warps ÷ unit_warps */
  double waves;             /**< blocks of the grid ÷ those of all units */
  const char *limit;        /**< what binds: "registers", "shared memory",
                                 "warps", "blocks", or several with commas;
                                 NULL: not known */
  const char *check;        /**< what the driver says of it, or why it was not
                                 asked; never NULL */
  uint32_t flags;           /**< KMB_OCCUPANCY_… */
  uint32_t register_step;   /**< registers of a thread are given out in
                                 multiples of it; 0: not known */
} kmb_occupancy;

static inline kmb_occupancy kmb_occupancy_init(void) {
  kmb_occupancy occupancy;
  memset(&occupancy, 0, sizeof occupancy);
  occupancy.struct_size = sizeof occupancy;
  return occupancy;
}

/** What was read. */
typedef struct kmb_counters kmb_counters;

/** How. */
typedef struct kmb_counters_info {
  size_t struct_size;
  uint64_t passes;  /**< that the metrics need, known before any is run */
  uint64_t taken;   /**< that were run; 0 with KMB_COUNTERS_LIST. Kernel replay
                         counts the launch as one */
  uint64_t kernels; /**< of one iteration */
  uint64_t matched; /**< launches whose name matches, before skip and count */
  const char *mode; /**< "auto range, user replay" and so on; static */
  kmb_replay replay;
  kmb_cache_state cache; /**< state in which the counters were read */
} kmb_counters_info;

static inline kmb_counters_info kmb_counters_info_init(void) {
  kmb_counters_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  return info;
}

/** Reads counters of one operation.
 *
 *  First an iteration is traced, which lists its kernels; then the number of
 *  passes is known and logged (KMB_LOG_INFO); then each pass runs reset, cache
 *  preparation, launch. Of the parameters of a measurement those count that say
 *  what runs and in which cache state: launch or graphs, setup, reset, buffers,
 *  stream, cache, config. Nothing is checked and nothing is timed.
 *  @param device  an open device of a backend that has counters (CUDA)
 *  @param bench   the operation, as for kmb_bench()
 *  @param params  what to read; NULL for the preset of all kernels
 *  @param[out] counters  the new handle; free it with kmb_counters_destroy();
 *                        NULL on failure
 *  @retval KMB_ERR_INVALID      NULL, a metric that the chip lacks, a malformed
 *                               expression, or one that matches nothing: the
 *                               message says what was seen
 *  @retval KMB_ERR_UNSUPPORTED  the backend, the chip or the vendor's library
 *                               has no such counters, or not in this mode
 *  @retval KMB_ERR_UNAVAILABLE  the vendor's library is absent
 *  @retval KMB_ERR_PERM         the driver reserves counters for administrators
 *  @retval KMB_ERR_BUSY         another tool holds the counters or traces this
 *                               process, or the device is in use
 *  @retval KMB_ERR_CANCELLED    cancelled
 *  @retval KMB_ERR_LOST         work on the device did not end
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @retval KMB_ERR_FORKED       the device belongs to the parent process
 *  @return KMB_OK, or what a callback returned
 *  @thread the device's user
 *  @blocks until done
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_read(kmb_device *device,
                                     const kmb_bench_params *bench,
                                     const kmb_counters_params *params,
                                     kmb_counters **counters);

/** Ends what KMB_COUNTERS_KEEP keeps of a device, which gives the GPU's
 *  counters back. Nothing is kept afterwards, whatever is returned.
 *  @param device  an open device, of any backend
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_BUSY     the device is in use
 *  @retval KMB_ERR_VENDOR   the vendor's library failed
 *  @retval KMB_ERR_LOST     work on the device did not end
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK, also if there is nothing
 *  @thread the device's user
 *  @blocks a hundredth of a second
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_release(kmb_device *device);

/** Frees counters.
 *  @param counters  a handle or NULL
 *  @thread any, once nobody uses them
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_counters_destroy(kmb_counters *counters);

/** How they were read.
 *  @param counters   a handle
 *  @param[out] info  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_get_info(const kmb_counters *counters,
                                         kmb_counters_info *info);

/** Rows: kernels that were kept, in order of launch; in mode GRAPH a single
 *  one, of the whole iteration.
 *  @param counters  a handle or NULL
 *  @return their number; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_counters_row_count(const kmb_counters *counters);

/** Name of a row's kernel.
 *  @param counters   a handle
 *  @param row        below kmb_counters_row_count()
 *  @param[out] name  owned by the handle; of mode GRAPH "(iteration)", of a
 *                    kernel without a name "(no name)"
 *  @retval KMB_ERR_INVALID  NULL, or no such row
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_name(const kmb_counters *counters, uint64_t row,
                                     const char **name);

/** How a row's kernel was launched. Times are 0: they belong to no counters.
 *  @param counters  a handle
 *  @param row       below kmb_counters_row_count()
 *  @param[out] op   its name belongs to the handle
 *  @retval KMB_ERR_INVALID      NULL, or no such row
 *  @retval KMB_ERR_UNAVAILABLE  the row is a whole iteration, or the tracer
 * does not tell
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_launch(const kmb_counters *counters,
                                       uint64_t row, kmb_op *op);

/** How many blocks of a row's kernel a unit can hold, by the kernel's and the
 *  device's attributes, and by the driver's own count where its launch could be
 *  seen. Where the two differ the driver's counts, and what binds is not known.
 *  @param counters        a handle
 *  @param row             below kmb_counters_row_count()
 *  @param[out] occupancy  its strings belong to the handle
 *  @retval KMB_ERR_INVALID      NULL, or no such row
 *  @retval KMB_ERR_UNAVAILABLE  not known; the reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_occupancy(const kmb_counters *counters,
                                          uint64_t row,
                                          kmb_occupancy *occupancy);

/** A value.
 *  @param counters    a handle
 *  @param row         below kmb_counters_row_count()
 *  @param metric      place in what was asked for; in the preset's order
 *                     KMB_COUNTERS_SOL_…
 *  @param[out] value  in the unit of the metric
 *  @retval KMB_ERR_INVALID      NULL, no such row or metric
 *  @retval KMB_ERR_UNAVAILABLE  not collected, or the counters give no number
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units the metric's
 *  @since 0.1 */
KMB_API kmb_status kmb_counters_value(const kmb_counters *counters,
                                      uint64_t row, uint64_t metric,
                                      double *value);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
