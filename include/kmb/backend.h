/**
 * @file backend.h
 * For authors of backends. A backend is a table of functions; the engine calls
 * nothing else. Programs that only measure do not include this header.
 *
 * Until this interface is frozen (KMB_BACKEND_FROZEN becomes 1), a backend and
 * the library must have been built with the same KMB_BACKEND_ABI.
 */
#ifndef KMB_BACKEND_H
#define KMB_BACKEND_H

#include <kmb/bench.h>
#include <kmb/code.h>
#include <kmb/counters.h>
#include <kmb/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup backend Backend interface
 *  The library validates arguments before it calls a backend, and calls one
 *  device's functions from one thread at a time. A slot that is marked
 *  *optional* may be NULL: the library then treats what it offers as absent.
 *
 *  A function that fails reports the exact cause through
 *  kmb_host::fail() and returns the status it got back.
 *  @{ */

#define KMB_BACKEND_ABI 4
#define KMB_BACKEND_FROZEN 0

/** Takes one piece of metadata: a value, or NULL and the reason why there is
 *  none. */
typedef void (*kmb_emit_fn)(void *user, const char *key, const char *value,
                            const char *reason);

/** What changes while a device works: X(name, value, kind, key, unit). Values
 * are pinned; the key is that of the metadata. A GAUGE goes up and down; a
 * COUNT counts up since some start; the SET is one of KMB_THROTTLE_MAP(). */
typedef int32_t kmb_telemetry;
#define KMB_TELEMETRY_MAP(X)                                             \
  X(CLOCK, 1, GAUGE, "clock_mhz", "MHz") /* of the measured units */     \
  X(MEMORY_CLOCK, 2, GAUGE, "memory_clock_mhz", "MHz")                   \
  X(THROTTLE, 3, SET, "throttle", "")                                    \
  X(POWER, 4, GAUGE, "power_w_1s_average", "W")                          \
  X(ENERGY, 5, COUNT, "energy_j", "J")                                   \
  X(TEMPERATURE, 6, GAUGE, "temperature_c", "C")                         \
  X(ECC_CORRECTED, 7, COUNT, "ecc_corrected", "1")                       \
  X(ECC_UNCORRECTED, 8, COUNT, "ecc_uncorrected", "1")                   \
  X(PREEMPTIONS, 9, COUNT, "preemptions", "1") /* of the thread */       \
  X(STEAL, 10, COUNT, "steal_ms", "ms")        /* others had its core */ \
  X(CORE0_CLOCK, 11, GAUGE, "core0_mhz", "MHz")                          \
  X(LOAD, 12, GAUGE, "loadavg_1min", "1")

enum {
#define KMB_TELEMETRY_ENUM(name, value, kind, key, unit) \
  KMB_TELEMETRY_##name = (value),
  KMB_TELEMETRY_MAP(KMB_TELEMETRY_ENUM)
#undef KMB_TELEMETRY_ENUM
};

/** Why clocks are lower than they could be: X(name, bit, text). Telemetry's
 *  value is their sum, 0 for none. Bits are pinned. */
#define KMB_THROTTLE_MAP(X)                \
  X(POWER_CAP, 1, "sw_power_cap")          \
  X(HW_SLOWDOWN, 2, "hw_slowdown")         \
  X(SYNC_BOOST, 4, "sync_boost")           \
  X(THERMAL, 8, "sw_thermal_slowdown")     \
  X(HW_THERMAL, 16, "hw_thermal_slowdown") \
  X(HW_POWER_BRAKE, 32, "hw_power_brake")

enum {
#define KMB_THROTTLE_ENUM(name, bit, text) KMB_THROTTLE_##name = (bit),
  KMB_THROTTLE_MAP(KMB_THROTTLE_ENUM)
#undef KMB_THROTTLE_ENUM
};

/** Takes one reading: a value, finite and not negative, with `reason` NULL; or
 *  the reason why there is none. */
typedef void (*kmb_telemetry_fn)(void *user, kmb_telemetry id, double value,
                                 const char *reason);

/** Takes one reason to doubt samples. `message` is one sentence; the names of
 *  figures must live as long as the program. */
typedef void (*kmb_find_fn)(void *user, kmb_finding_code code,
                            kmb_severity severity, const kmb_figure *figures,
                            uint64_t figure_count, const char *message);

/** What kmb_last_error() says on a thread, and how many failures were recorded
 *  there so far. The layout is final. */
typedef struct kmb_error {
  kmb_status status;
  uint32_t count;
  int64_t vendor;
  char message[256];
} kmb_error;

/** What the library offers a backend, one for each device. All functions take
 *  `ctx` first. */
typedef struct kmb_host {
  size_t struct_size;
  void *ctx;
  /** Memory of the caller's hooks or of the C library; NULL on failure. */
  void *(*alloc)(void *ctx, size_t size, size_t align);
  void (*free)(void *ctx, void *pointer, size_t size);
  /** Device memory of the caller's hooks; NULL if the caller gave none, and
   *  the backend then uses its own. What comes is aligned, or the call fails;
   *  `align` is a power of two. */
  kmb_status (*device_alloc)(void *ctx, uint64_t size, uint64_t align,
                             void **pointer);
  void (*device_free)(void *ctx, void *pointer, uint64_t size);
  void (*log)(void *ctx, kmb_log_level level, const char *message);
  /** Records a failure (see kmb_last_error()) and returns `status`. */
  kmb_status (*fail)(void *ctx, kmb_status status, int64_t vendor,
                     const char *format, ...) KMB_PRINTF(4, 5);
  /** Non-zero once the caller asked to stop. */
  int (*cancelled)(void *ctx);
  /** Reads the thread's last error, and puts it back: what failed harmlessly in
   *  between then leaves no trace. */
  void (*error_save)(void *ctx, kmb_error *error);
  void (*error_restore)(void *ctx, const kmb_error *error);
  /** For a callback that returned `status`, which is not KMB_OK; returns it.
   *  What the callback recorded of it since `before` was saved stays the last
   *  error; if it recorded nothing, "the `which` callback returned `status` at
   *  iteration `iteration`" is recorded. */
  kmb_status (*callback_failed)(void *ctx, const kmb_error *before,
                                const char *which, kmb_status status,
                                uint64_t iteration);
} kmb_host;

/** Part of device memory. The layout is final. */
typedef struct kmb_span {
  void *pointer;
  uint64_t bytes;
} kmb_span;

/** A way to measure. The layout is final. */
typedef struct kmb_choice {
  kmb_timer timer;
  kmb_launch_mode launch_mode;
  kmb_cache_state cache;
  int32_t preference; /**< as proposed: 0 best */
} kmb_choice;

/** What the caller asked for and what is known of the operation; the backend
 *  answers with the choices that could serve, best first. */
typedef struct kmb_request {
  size_t struct_size;
  uint64_t cold_bytes; /**< rotating inputs of one launch; 0: no buffers */
  uint64_t device_ops; /**< operations of one launch; 0: not known */
  kmb_timer timer;     /**< KMB_TIMER_AUTO: any */
  kmb_launch_mode launch_mode;
  kmb_cache_state cache;
  int32_t reserved;
} kmb_request;

/** Contents to write. */
typedef struct kmb_fill {
  size_t struct_size;
  void *pointer;
  uint64_t bytes;
  uint64_t seed;
  double low, high; /**< random values lie in [low, high] */
  kmb_dtype dtype;
  int32_t reserved;
} kmb_fill;

/** What a plan does before each sample where several ranks measure together.
 *  The order on the stream: a gate, if the device has one; what is reset, swept
 *  and touched; the barrier, twice; what is timed. Then, on the host,
 *  all_enqueued(), after which the gate opens. A device without a gate, or a
 *  sample without a barrier, waits for what is reset, swept and touched and
 *  calls all_enqueued() before it enqueues what is timed, so that no rank
 *  signals another one that has not been reset. Whatever fails, the gate is
 *  opened. */
typedef struct kmb_align {
  size_t struct_size;
  void *ctx;
  /** From all_enqueued() on, a device that has not ended the sample by then
   *  waits for a rank that ended. It changes from step to step. */
  double deadline_ns;
  /** Returns once every rank is here, or with the failure that ends the
   *  sample. */
  kmb_status (*all_enqueued)(void *ctx);
  /** Enqueues a device barrier. NULL: the ranks' hosts are all that is
   *  aligned. */
  kmb_status (*barrier)(void *ctx, void *stream);
  /** Called once where that deadline passed, before what waits in a barrier is
   *  let go: the others are told, and the caller can end what it enqueued.
   *  `rank` is the one whose device did not come to the barrier, -1 if that is
   *  not known. The sample fails with what it returns. */
  kmb_status (*overdue)(void *ctx, int32_t rank);
} kmb_align;

/** A device barrier to make. */
typedef struct kmb_barrier_desc {
  size_t struct_size;
  void *ctx;
  /** Gives every rank what each one gives, at most 256 bytes; fails if a rank
   *  is missed. Every rank calls it as often as the others, whatever fails in
   *  between. `all` may be NULL if it is not wanted. */
  kmb_status (*exchange)(void *ctx, const void *mine, void *all, size_t bytes);
  void *nccl;         /**< kmb_comm_params::nccl */
  double deadline_ns; /**< a barrier gives up waiting after this */
  uint32_t rank;
  uint32_t size;
  kmb_barrier kind;
  uint32_t hosts; /**< that the ranks are on */
} kmb_barrier_desc;

/** A prepared way to take samples of one operation. */
typedef struct kmb_plan_desc {
  size_t struct_size;
  kmb_launch_fn launch;
  void *launch_user;
  kmb_status (*reset)(void *user, uint32_t slot, void *stream); /**< or NULL */
  void *reset_user;
  void *stream;
  void *const *args; /**< slot s, buffer i: args[s * arg_count + i] */
  uint64_t arg_count;
  const kmb_span *warm; /**< slot s, span i: warm[s * warm_count + i]; touched
                             again after a sweep */
  uint64_t warm_count;
  /** The caller's graphs to launch instead of capturing: slot s: graphs[s].
   * They are neither made nor destroyed by the plan; only with launch mode
   * GRAPH. NULL: none. Only where there is graph_launch(). */
  void *const *graphs;
  uint64_t batch; /**< iterations a sample; with a reset hook or the cache
                       state COLD on HOST it is 1 */
  uint32_t slots; /**< at least 1; iteration i uses slot
                       (first_slot + i) % slots */
  uint32_t config;
  uint32_t first_slot;
  uint32_t reserved;
  kmb_choice choice;
  const kmb_align *align; /**< NULL: this rank alone. It outlives the plan */
} kmb_plan_desc;

enum {
  KMB_SAMPLE_INVALID = 1u << 0, /**< impossible timestamps or none: not used */
  KMB_SAMPLE_OVERLAP = 1u << 1, /**< it began before the one before it ended */
  KMB_SAMPLE_SPOILED = 1u << 2  /**< something else is in it: not used;
                                     plan_findings() says what */
};

/** One sample, of `batch` iterations. The layout is final. */
typedef struct kmb_sample {
  double span_ns; /**< first start to last end, the whole batch */
  double busy_ns; /**< TRACE: union of the device operations; else 0 */
  double sum_ns;  /**< TRACE: their sum; else 0 */
  double end_ns;  /**< when it ended, by the backend's clock `now` */
  uint64_t ops;   /**< TRACE: device operations; else 0 */
  uint32_t slot;  /**< of the first iteration */
  uint32_t flags; /**< KMB_SAMPLE_… */
} kmb_sample;

/** How a kernel was launched, as in kmb_op. The layout is final. */
typedef struct kmb_shape {
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z; /**< block_x 0: not known */
  uint32_t registers, local, static_shared, dynamic_shared;
} kmb_shape;

/** A device operation of a sample. The layout is final. */
typedef struct kmb_device_op {
  const char *name; /**< of a kernel; NULL for others or if it has none. It
                         stays as long as the plan */
  double start_ns;  /**< from the sample's first start */
  double duration_ns;
  uint64_t bytes;  /**< copied or set; 0 for a kernel */
  uint32_t sample; /**< index in what the run gave */
  uint32_t stream; /**< a number that tells the device's streams apart */
  kmb_shape shape; /**< of a kernel */
  kmb_op_kind kind;
  int32_t reserved;
} kmb_device_op;

typedef void (*kmb_device_op_fn)(void *user, const kmb_device_op *op);

/** Takes what was recorded, of the library: any status but KMB_OK ends it and
 * is to be returned. Names are copied. */
typedef struct kmb_record_sink {
  size_t struct_size;
  void *ctx;
  /** Of the flags those for device, stream, bytes, correlation and shape
   *  count. */
  kmb_status (*op)(void *ctx, const kmb_trace_op *op);
  /** Without a `kind` the library takes it from the name. */
  kmb_status (*call)(void *ctx, const kmb_trace_call *call);
  /** Records that were lost, in all. */
  void (*dropped)(void *ctx, uint64_t count);
  /** What recording added to a call of the driver and of the runtime, as far as
   *  it was measured. */
  void (*added)(void *ctx, uint64_t driver_ns, uint64_t runtime_ns);
} kmb_record_sink;

/** Takes captured code, of the library: any status but KMB_OK ends it and is to
 * be returned. All is copied. */
typedef struct kmb_code_sink {
  size_t struct_size;
  void *ctx;
  /** A kernel and its image, NULL if there is none; what it says of hashes,
   * files and demangled names is not looked at. `code_offset` and `code_bytes`
   * say where its instructions stand, if that is known. */
  kmb_status (*kernel)(void *ctx, const kmb_code_kernel *kernel,
                       const void *image, uint64_t bytes);
  /** Once: of the info, what the library cannot count itself. */
  void (*info)(void *ctx, const kmb_code_info *info);
} kmb_code_sink;

/** Counters to read. Strings live as long as the session. */
typedef struct kmb_counter_request {
  size_t struct_size;
  const char *const *metrics;
  uint64_t metric_count;
  uint64_t ranges;   /**< the most there will be: kernels of an iteration, of
                          KMB_REPLAY_GRAPH 1 */
  kmb_replay replay; /**< never AUTO */
  uint32_t flags;    /**< KMB_COUNTERS_KEEP or 0 */
} kmb_counter_request;

/** Takes one value: of range `range`, in order of launch, and of a metric by
 *  its place. Not finite: there is none. */
typedef void (*kmb_counter_fn)(void *user, uint64_t range, uint64_t metric,
                               double value);

/** The functions of a backend. `self` is what `open` returned. */
typedef struct kmb_backend_ops {
  size_t struct_size;
  uint32_t abi;      /**< KMB_BACKEND_ABI */
  uint32_t reserved; /**< 0 */
  const char *name;  /**< [a-z0-9_]+ */

  /** `spec` is what follows "name:", "" if nothing does. `params` is complete
   *  (the library has filled in the defaults of older callers). */
  kmb_status (*open)(const kmb_host *host, const char *spec,
                     const kmb_device_params *params, void **self);
  void (*close)(void *self);

  /** Attributes. KMB_ERR_UNAVAILABLE with a reason if not known. BACKEND,
   *  SPEC and MEMORY_BUDGET are answered by the library. */
  kmb_status (*attr_u64)(void *self, kmb_device_attr attr, uint64_t *value);
  kmb_status (*attr_f64)(void *self, kmb_device_attr attr, double *value);
  kmb_status (*attr_text)(void *self, kmb_device_attr attr, const char **text);

  /** Steady clock in ns. Optional: CLOCK_MONOTONIC. */
  double (*now)(void *self);
  /** Sleeps. Optional: nanosleep; a device with a clock of its own gives
   *  both. */
  void (*sleep)(void *self, double ns);

  /** Bytes that new allocations can take now. */
  kmb_status (*memory_available)(void *self, uint64_t *bytes);
  kmb_status (*alloc)(void *self, uint64_t bytes, uint64_t align,
                      void **pointer);
  void (*free)(void *self, void *pointer, uint64_t bytes);

  /** Host to device and back; return when the data have arrived. */
  kmb_status (*write)(void *self, void *to, const void *from, uint64_t bytes);
  kmb_status (*read)(void *self, void *to, const void *from, uint64_t bytes);
  /** Repeats a 64-bit pattern, little-endian, from the first byte on. */
  kmb_status (*set)(void *self, void *pointer, uint64_t pattern,
                    uint64_t bytes);
  kmb_status (*fill_random)(void *self, const kmb_fill *fill);

  /** The stream that the launch callback gets: the caller's, or one of the
   *  backend's own if `callers` is NULL. A comparison opens one for each of its
   *  candidates before it closes any; they run by turns. */
  kmb_status (*stream_open)(void *self, void *callers, void **stream);
  void (*stream_close)(void *self, void *stream);
  /** Waits until everything enqueued has ended. KMB_ERR_TIMEOUT after
   *  `limit_ns`; 0: no limit. */
  kmb_status (*stream_wait)(void *self, void *stream, double limit_ns);

  /** Fills `choices` with at most `capacity` ways to serve the request, best
   *  first; KMB_ERR_UNSUPPORTED or KMB_ERR_UNAVAILABLE with the reason if there
   *  is none. */
  kmb_status (*propose)(void *self, const kmb_request *request,
                        kmb_choice *choices, uint32_t capacity,
                        uint32_t *count);
  /** Takes what a read sweep of `bytes` needs, once; a later call with no more
   *  bytes does nothing. Optional: no COLD. */
  kmb_status (*sweep_prepare)(void *self, uint64_t bytes);

  /** Plans. A plan captures, subscribes and allocates here and gives all of it
   *  back in plan_destroy. */
  kmb_status (*plan_create)(void *self, const kmb_plan_desc *desc, void **plan);
  /** Takes up to `count` samples. For each iteration: reset, sweep (COLD),
   *  touch warm spans, launch; only the launch is in the sample. Starts no
   *  sample once `now` has passed `until_ns` or the caller cancelled; `*got`
   *  says how many were taken, 0 or more. A status that the launch callback
   *  returned comes back unchanged. Slots continue from run to run. */
  kmb_status (*plan_run)(void *self, void *plan, uint64_t count,
                         double until_ns, kmb_sample *samples, uint64_t *got);
  /** Gives the device operations of the samples of the latest plan_run, sample
   *  after sample, each sample's in order of start. Whole samples may be left
   *  out: invalid ones, and what there is no room for. Optional: no rows. */
  kmb_status (*plan_ops)(void *self, void *plan, kmb_device_op_fn emit,
                         void *user);
  void (*plan_destroy)(void *self, void *plan);
  /** Enqueues one of the caller's graphs, outside a plan. Optional: no prebuilt
   *  graphs. */
  kmb_status (*graph_launch)(void *self, void *graph, void *stream);

  /** Sessions on the device's clock: the caller marks points on its own stream,
   *  which may be in a context of its own. Nothing stays changed between two
   *  calls: neither the current context nor the stream. All four or none;
   *  optional: sessions take host time.
   *
   *  `session_mark` records mark `mark`, below `marks`, without waiting; a mark
   *  may be recorded again. `session_read` waits until mark `to` has been
   *  reached, KMB_ERR_LOST after the backend's deadline, and gives the time
   * from `from` to it; a negative one cannot be and is passed on.
   * `session_close` waits for nothing; in a forked child it gives back host
   * memory alone. */
  kmb_status (*session_open)(void *self, void *stream, uint32_t marks,
                             void **session);
  kmb_status (*session_mark)(void *self, void *session, uint32_t mark);
  kmb_status (*session_read)(void *self, void *session, uint32_t from,
                             uint32_t to, double *ns);
  void (*session_close)(void *self, void *session);

  /** Bias of a timer and launch mode against the reference, for one iteration,
   *  and its uncertainty. Optional: not calibrated. */
  kmb_status (*bias)(void *self, const kmb_choice *choice, uint64_t batch,
                     double *ns, double *uncertainty_ns);
  /** Measures a ceiling; the library keeps it. Optional: none. */
  kmb_status (*ceiling)(void *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                        uint32_t threads, kmb_ceiling *ceiling);

  /** Metadata that does not change. */
  void (*describe)(void *self, kmb_emit_fn emit, void *user);
  /** Reads all of KMB_TELEMETRY_MAP() that the device has, once each; what it
   *  ought to have and cannot tell comes with the reason. Called before, after
   *  and, between runs of samples, while measuring. Optional. */
  void (*telemetry)(void *self, kmb_telemetry_fn emit, void *user);

  /** What the backend knows against the samples that this plan has taken since
   *  it was created: called once they are all taken, before plan_destroy.
   *  Optional. */
  void (*plan_findings)(void *self, void *plan, kmb_find_fn find, void *user);
  /** What `bias` is against, for people: where zero is. Optional. */
  const char *zero_reference;

  /** Recordings of what the process does on its devices, whoever starts it. All
   *  three or none; optional. Nothing else is called meanwhile but attributes.
   *
   *  `record_point` may be called by several threads at once: the tracer's time
   *  and how it numbers this process and thread. `record_end` gives what was
   *  recorded, in any order, or drops it where `sink` is NULL; the recording is
   *  gone whatever it returns. In a forked child it gives back host memory
   *  alone. */
  kmb_status (*record_begin)(void *self, const kmb_record_params *params,
                             void **record);
  kmb_status (*record_point)(void *self, void *record, uint64_t *now_ns,
                             uint64_t *process, uint64_t *thread);
  kmb_status (*record_end)(void *self, void *record,
                           const kmb_record_sink *sink);

  /** Captures of the code of what this process launches between the two calls.
   *  Both or none; optional. `code_end` gives what was captured, or drops it
   *  where `sink` is NULL; the capture is gone whatever it returns. In a forked
   *  child it gives back host memory alone. */
  kmb_status (*code_begin)(void *self, void **capture);
  kmb_status (*code_end)(void *self, void *capture, const kmb_code_sink *sink);

  /** Hardware counters. All three or none; optional. Of the plan's `choice`
   *  the launch mode and the cache state count; the batch is 1.
   *
   *  `counters_open` tells how many passes the metrics need and runs none.
   *  KMB_ERR_INVALID names a metric that the chip lacks. `counters_collect`
   *  runs each pass as an iteration (see plan_run; of ROTATED the other slots
   *  run before it, of WARM the same one) of which nothing but the launch is
   *  counted, gives the values of each range and says how many passes it ran;
   *  once a session. No plan is used meanwhile. */
  kmb_status (*counters_open)(void *self, const kmb_plan_desc *desc,
                              const kmb_counter_request *request,
                              void **session, uint64_t *passes);
  kmb_status (*counters_collect)(void *self, void *session, kmb_counter_fn emit,
                                 void *user, uint64_t *taken);
  void (*counters_close)(void *self, void *session);

  /** Fills in, for a kernel of this shape, warps of a block and of a unit, the
   *  four limits and the step of registers. KMB_ERR_UNSUPPORTED or
   * KMB_ERR_UNAVAILABLE with the reason where this chip's are not known.
   * Optional. */
  kmb_status (*occupancy)(void *self, const kmb_shape *shape,
                          kmb_occupancy *occupancy);

  /** Several ranks. Bits (1 << KMB_TIMER_…) of the timers whose plans do what
   *  kmb_plan_desc::align asks; 0: the backend measures one rank alone. */
  uint32_t aligned;
  uint32_t barriers; /**< bits (1 << KMB_BARRIER_…) of those it can try */
  /** Device barriers; all four, or none with `barriers` 0. `barrier_open`
   *  fails with KMB_ERR_UNSUPPORTED or KMB_ERR_UNAVAILABLE where this kind
   *  cannot be had. `barrier_enqueue` does not wait. `barrier_time` runs the
   *  barrier twice as a plan does, and gives how long before the last rank this
   *  one was released, with a constant that all ranks share;
   *  KMB_ERR_UNSUPPORTED on every rank where that cannot be told, which leaves
   *  the barrier of use by name. `barrier_close` waits for nothing. */
  kmb_status (*barrier_open)(void *self, const kmb_barrier_desc *desc,
                             void **barrier);
  kmb_status (*barrier_enqueue)(void *self, void *barrier, void *stream);
  kmb_status (*barrier_time)(void *self, void *barrier, void *stream,
                             const kmb_align *align, double *ns);
  void (*barrier_close)(void *self, void *barrier);
  /** What is known of it, such as its library's version, for the result; ""
   *  if nothing is. Optional. */
  const char *(*barrier_text)(void *self, void *barrier);

  /** Ends what KMB_COUNTERS_KEEP keeps, whatever it returns; without it a
   *  backend keeps nothing. Optional. */
  kmb_status (*counters_release)(void *self);
} kmb_backend_ops;

/** Entry of a backend: returns its table, which is never changed or freed, or
 *  NULL if there can be none. It is called for each device that is opened, by
 *  any thread. */
typedef const kmb_backend_ops *(*kmb_backend_entry_fn)(void);

/** A plugin's entry. The plugin defines it; the library looks it up. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const kmb_backend_ops *
kmb_backend_entry_1(void);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
