/**
 * @file bench.h
 * Measuring: the launch callback, the parameters, kmb_bench(), and two ways to
 * bring samples of one's own.
 */
#ifndef KMB_BENCH_H
#define KMB_BENCH_H

#include <kmb/buffers.h>
#include <kmb/comm.h>
#include <kmb/device.h>
#include <kmb/metadata.h>
#include <kmb/result.h>
#include <kmb/roofline.h>
#include <kmb/work.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup bench Benchmark
 *  @{ */

/** How time is taken. */
typedef int32_t kmb_timer;
enum {
  KMB_TIMER_AUTO = 0, /**< the best that works here; the result names it */
  KMB_TIMER_TRACE = 1,
  KMB_TIMER_GRAPH = 2,
  KMB_TIMER_EVENT = 3,
  KMB_TIMER_HOST = 4 /**< steady clock over a batch of launches ÷ its size */
};

typedef int32_t kmb_launch_mode;
enum {
  KMB_LAUNCH_AUTO = 0,
  KMB_LAUNCH_PLAIN = 1, /**< the callback enqueues each iteration */
  KMB_LAUNCH_GRAPH = 2  /**< captured once, replayed */
};

/** What the caches hold when an iteration starts. */
typedef int32_t kmb_cache_state;
enum {
  /** CUDA: COLD; HIP and host: ROTATED with buffers, WARM without. */
  KMB_CACHE_DEFAULT = 0,
  /** No cache holds cold inputs, no dirty lines of ours wait: twice the
   *  last-level cache is read before each iteration. */
  KMB_CACHE_COLD = 1,
  /** Slots rotate past the last-level cache: inputs cold, outputs of earlier
   *  iterations possibly dirty, as a running program leaves them. */
  KMB_CACHE_ROTATED = 2,
  KMB_CACHE_WARM = 3 /**< the same slot again */
};

/** Given to the launch callback. The callback must use what it is given: a
 *  pointer that it captured elsewhere does not rotate. */
typedef struct kmb_launch {
  size_t struct_size;
  void *stream;      /**< the backend's stream; NULL on the host */
  void *const *args; /**< this slot's pointers, in the order of the
                          descriptors; NULL without buffers */
  uint64_t arg_count;
  uint64_t iteration; /**< counts up within a run of samples */
  uint32_t slot;
  uint32_t config; /**< kmb_bench_params::config */
} kmb_launch;

/** Enqueues one iteration and does not wait (a host function runs it).
 *  Everything that it starts joins `launch->stream` before it returns. It must
 *  not throw, longjmp or benchmark. A positive return value ends kmb_bench()
 *  with that value. */
typedef kmb_status (*kmb_launch_fn)(void *user, const kmb_launch *launch);

/** Given to the check callback: host copies of every buffer, in the order of
 *  the descriptors, before and after one launch. */
typedef struct kmb_check {
  size_t struct_size;
  const void *const *before; /**< outputs and scratch: NULL */
  const void *const *after;  /**< scratch: NULL */
  const uint64_t *bytes;     /**< of each buffer */
  uint64_t count;
  double tolerance; /**< kmb_bench_params::tolerance */
  double error;     /**< the callback stores the largest error it found; left
                         below zero it is not recorded */
  uint32_t slot;
  uint32_t config;
} kmb_check;

/** Compares. Returns KMB_OK or KMB_ERR_INCORRECT; a positive value ends
 *  kmb_bench() with that value. */
typedef kmb_status (*kmb_check_fn)(void *user, kmb_check *check);

enum {
  KMB_BENCH_SEED = 1u << 0,           /**< `seed` counts even if it is 0 */
  KMB_BENCH_TOLERANCE = 1u << 1,      /**< `tolerance` counts even if it is 0 */
  KMB_BENCH_NO_WARMUP = 1u << 2,      /**< one untimed launch a slot, no more */
  KMB_BENCH_NO_CONFIRM = 1u << 3,     /**< skip the confirming measurement */
  KMB_BENCH_NO_CEILINGS = 1u << 4,    /**< do not measure ceilings for `work` */
  KMB_BENCH_REQUIRE_TIMER = 1u << 5,  /**< `timer` or an error */
  KMB_BENCH_REQUIRE_CACHE = 1u << 6,  /**< `cache` achieved or an error */
  KMB_BENCH_REQUIRE_LAUNCH = 1u << 7, /**< `launch_mode` or an error */
  KMB_BENCH_REQUIRE_CHECK = 1u << 8,  /**< a check must have run and passed */
  /** After timing, read how much came from DRAM: one pass of hardware counters
   *  proves the cache state. What keeps it from being read is said in the
   *  result. */
  KMB_BENCH_CONFIRM_COLD = 1u << 9,
  /** After timing, read the preset `sol` of hardware counters (kmb/counters.h),
   *  which confirms the cache state too. */
  KMB_BENCH_COUNTERS = 1u << 10,
  /** With one of these two: KMB_COUNTERS_KEEP. */
  KMB_BENCH_KEEP_COUNTERS = 1u << 11
};

/** What to measure and how. Only `launch` (or `graphs`) is required. Strings
 * and arrays are copied; callbacks and handles must outlive the call. Limits:
 * 64 axes with distinct keys, 1024 pairs of metadata, 1000 rounds, 2^32 samples
 * and iterations a sample, a target of 100%. */
typedef struct kmb_bench_params {
  size_t struct_size;
  const char *name;
  /** Ordered key and value pairs that identify the point: shape, dtype, batch.
   *  Columns of a table, key of a comparison. */
  const kmb_pair *axes;
  uint64_t axis_count;
  kmb_launch_fn launch;
  void *launch_user;
  /** Once for each slot, untimed: construction of plans. */
  kmb_status (*setup)(void *user, uint32_t slot, uint32_t config);
  void *setup_user;
  /** Before each iteration (and before its sweep), untimed: for operations
   *  that work in place. On the host it makes every sample a single call. */
  kmb_status (*reset)(void *user, uint32_t slot, void *stream);
  void *reset_user;
  kmb_check_fn check;
  void *check_user;
  double tolerance;     /**< given to `check`, kept in the result; 0 without
                             KMB_BENCH_TOLERANCE: none stated */
  kmb_buffers *buffers; /**< NULL: no arguments, no rotation, no check */
  const kmb_work *work; /**< NULL: no roofline */
  /** NULL: measured on the device, or where its backend cannot, of its
   *  datasheet; both of the same kind. */
  const kmb_ceiling *memory_ceiling;
  const kmb_ceiling *compute_ceiling; /**< as `memory_ceiling` */
  const kmb_metadata_params *metadata;
  void *stream;         /**< the caller's, or NULL for the library's own */
  double target_pct;    /**< half-width of the interval to reach; 0: 0.5 */
  double min_wall_ns;   /**< measure at least this long; 0: 25 ms */
  double max_wall_ns;   /**< never start a sample after this; 0: 2 s */
  double warmup_ns;     /**< longest warm-up; 0: 100 ms */
  double idle_ns;       /**< pause between runs of samples; 0: none */
  uint64_t min_samples; /**< 0: 50 */
  uint64_t max_samples; /**< 0: 1,000,000 */
  uint64_t batch;       /**< iterations a sample; 0: calibrated */
  uint64_t seed;        /**< of the dither; 0 without KMB_BENCH_SEED: a fixed
                             one */
  uint32_t rounds;      /**< repeat from prepare to measure with fresh
                             allocations; 0: 1. From five on, the result has a
                             between-round interval */
  uint32_t threads;     /**< cores that the launch uses, for the ceilings; 0:
                             the device's */
  uint32_t config;      /**< given to the callbacks */
  uint32_t flags;       /**< KMB_BENCH_… */
  kmb_timer timer;
  kmb_launch_mode launch_mode;
  kmb_cache_state cache;
  int32_t reserved;       /**< must be 0 */
  const kmb_peaks *peaks; /**< where the device's datasheet figures are looked
                               up; NULL: the table that is compiled in */
  /** Prebuilt executable graphs of the backend's kind (cudaGraphExec_t), one a
   *  slot, each of one iteration that works on that slot's pointers; `launch`
   *  is NULL then. They stay the caller's and are launched as they are. No more
   *  slots are used than there are graphs, and the timer GRAPH, which needs
   *  several iterations in one, is passed over. With buffers of the library's,
   *  first make slots (kmb_buffers_prepare()); one round only, since a graph
   *  does not follow them when they move. NULL: none */
  void *const *graphs;
  uint64_t graph_count;
  /** The ranks that measure together: every rank calls kmb_bench() with the
   *  same parameters on its own communicator. A sample is then the longest of
   *  all ranks; `work` is this rank's. NULL: this one alone */
  kmb_comm *comm;
  /** What the callback encloses, for the result: "whole wrapper", or a part of
   *  it by name. With a communicator NULL says "all that the callback
   *  enqueues". */
  const char *boundary;
  /** The code of the kernels, as kmb_code_capture() took it at their first
   *  launches: listed in the result, with hashes by which a comparison tells
   *  the same code. It may go once the call has returned. NULL: none */
  const kmb_code *code;
} kmb_bench_params;

static inline kmb_bench_params kmb_bench_params_init(void) {
  kmb_bench_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** Measures one operation: prepare, check, warm up, calibrate, measure,
 *  confirm, summarise.
 *
 *  Whatever step fails, everything taken is given back and the next call
 *  works. A callback that never returns cannot be bounded.
 *  @param device  an open device
 *  @param params  what to measure
 *  @param[out] result  the new result; free it with kmb_result_destroy();
 *                      NULL on failure
 *  @retval KMB_ERR_INVALID      NULL, neither launch nor graphs or both, a
 *                               value out of range
 *  @retval KMB_ERR_UNSUPPORTED  `params` asks for what this version lacks. A
 *                               timer or launch mode that the backend lacks is
 *                               FALLBACK_TIMER, or with KMB_BENCH_REQUIRE_…
 *                               ::KMB_ERR_UNAVAILABLE
 *  @retval KMB_ERR_UNAVAILABLE  the cache state needs a size that is unknown,
 *                               or a required timer, cache state or check
 *                               could not be had
 *  @retval KMB_ERR_NOMEM        slots or flush do not fit
 *  @retval KMB_ERR_INCORRECT    the check failed, an output was not written, or
 *                               a guard zone was
 *  @retval KMB_ERR_CANCELLED    cancelled before a sample was taken
 *  @retval KMB_ERR_TIMEOUT      no sample within `max_wall_ns`
 *  @retval KMB_ERR_LOST         work on the device did not end
 *  @retval KMB_ERR_BUSY         the device is in use: another thread, or a
 *                               benchmark inside a callback
 *  @retval KMB_ERR_FORKED       the device belongs to the parent process
 *  @return KMB_OK, or what a callback returned: any value but 0 ends the call
 *          with it, positive ones are never the library's own
 *  @thread the device's user
 *  @blocks until done: by default at most about 2.5 s plus set-up
 *  @since 0.1 */
KMB_API kmb_status kmb_bench(kmb_device *device, const kmb_bench_params *params,
                             kmb_result **result);

/** Makes a result from samples that were taken elsewhere: statistics,
 *  roofline, findings and JSON as kmb_bench() gives them. Of `params`, what
 *  concerns taking samples is ignored (launch, buffers, warm-up, wall times).
 *  @param device  supplies ceilings and metadata
 *  @param params  name, axes, work, target, tolerance, metadata
 *  @param ns      `count` times per iteration, in the order in which they were
 *                 taken
 *  @param count   at least 1
 *  @param tick_ns  step of the clock that took them, divided by the iterations
 *                  of a sample; 0: not known, no dither
 *  @param[out] result  the new result; free it with kmb_result_destroy()
 *  @retval KMB_ERR_INVALID  NULL, no samples, a negative or non-finite one (the
 *                           message gives its index)
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_BUSY     the device is in use
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks as kmb_device_ceiling() does if `work` is given
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_result_from_samples(kmb_device *device,
                                           const kmb_bench_params *params,
                                           const double *ns, uint64_t count,
                                           double tick_ns, kmb_result **result);

/** A caller-driven measurement: for a region of a running program, where the
 *  library cannot call the work itself.
 *
 *  With kmb_bench_params::stream and a backend that has it, samples are taken
 * by the device's clock: marks on that stream, without a wait, a gate or a
 *  correction (the result says `EVENT` and `UNCALIBRATED`). What the stream
 * waits for between the marks is in them. Else, and with the timer HOST, they
 * are host time between the calls. */
typedef struct kmb_session kmb_session;

/** Starts a session. It occupies the device until kmb_session_end() or
 *  kmb_session_abandon().
 *  @param device  an open device
 *  @param params  as for kmb_result_from_samples(), and `stream` and `timer`
 *                 (AUTO, EVENT, HOST; others are passed over with the reason,
 *                 or an error with KMB_BENCH_REQUIRE_TIMER); what it points to
 *                 must live until the session ends
 *  @param[out] session  the new session
 *  @retval KMB_ERR_INVALID  NULL, a value out of range, a stream of another
 *                           device
 *  @retval KMB_ERR_UNAVAILABLE  the required timer cannot be had
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_BUSY     the device is in use
 *  @retval KMB_ERR_LOST     the device is lost
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK, or what the backend returned
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_session_begin(kmb_device *device,
                                     const kmb_bench_params *params,
                                     kmb_session **session);

/** Marks the start of a sample.
 *  @param session  a session
 *  @retval KMB_ERR_INVALID  NULL, or a sample is running
 *  @retval KMB_ERR_NOMEM    no room for another sample
 *  @retval KMB_ERR_LOST     what was marked did not come to its end
 *  @retval KMB_ERR_FORKED   the session belongs to the parent process
 *  @return KMB_OK, or what the backend returned
 *  @thread the device's user
 *  @blocks no; by the device's clock, once 256 samples wait to be read, until
 *          the older half of them has ended
 *  @since 0.1 */
KMB_API kmb_status kmb_session_sample_begin(kmb_session *session);

/** Marks the end of a sample.
 *  @param session     a session
 *  @param iterations  how often the operation ran since the start, at least 1
 *  @retval KMB_ERR_INVALID  NULL, no iterations, or no sample is running
 *  @retval KMB_ERR_LOST     the device is lost
 *  @retval KMB_ERR_FORKED   the session belongs to the parent process
 *  @return KMB_OK, or what the backend returned
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_session_sample_end(kmb_session *session,
                                          uint64_t iterations);

/** Ends a session and makes its result. The session is freed in any case. A
 *  sample that was begun and not ended is left out, and the result's metadata
 *  then has `session.unfinished`.
 *  @param session      a session
 *  @param[out] result  the new result; free it with kmb_result_destroy();
 *                      NULL on failure
 *  @retval KMB_ERR_INVALID  NULL, or no sample was completed
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_LOST     what was marked did not come to its end
 *  @retval KMB_ERR_VENDOR   no sample has a time that can be
 *  @retval KMB_ERR_FORKED   the session belongs to the parent process
 *  @return KMB_OK, or what the backend returned
 *  @thread the device's user
 *  @blocks as kmb_result_from_samples() does; by the device's clock also until
 *          all samples have ended
 *  @since 0.1 */
KMB_API kmb_status kmb_session_end(kmb_session *session, kmb_result **result);

/** Frees a session without a result.
 *  @param session  a session or NULL
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_session_abandon(kmb_session *session);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
