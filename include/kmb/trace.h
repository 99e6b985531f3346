/**
 * @file trace.h
 * What a device did and when, recorded in this process or loaded from a
 * profiler's file, and where it waited: gaps, what they are charged to, and
 * what closing them could give.
 */
#ifndef KMB_TRACE_H
#define KMB_TRACE_H

#include <kmb/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup trace Traces and gaps
 *  A trace is a list of device operations and, where its source has them, the
 *  host's calls that caused them and named ranges. It never changes once it is
 *  there, so several threads may read it. docs/gaps.md shows how to read an
 *  analysis.
 *
 *  Points in time and lengths are whole nanoseconds in 64 bits: a double loses
 *  nanoseconds where a profiler counts from 1970. Means are doubles.
 *  @{ */

typedef struct kmb_trace kmb_trace;
typedef struct kmb_gaps kmb_gaps;

/** Formats of traces: X(name, value, text). Values are pinned. AUTO looks at
 *  the content; NSYS_REP is known by the file's name alone. */
typedef int32_t kmb_trace_format;
#define KMB_TRACE_FORMAT_MAP(X)    \
  X(AUTO, 0, "auto")               \
  X(NSYS_CSV, 1, "nsys-csv")       \
  X(NSYS_SQLITE, 2, "nsys-sqlite") \
  X(NVPROF, 3, "nvprof")           \
  X(NSYS_REP, 4, "nsys-rep")       \
  X(ROCPROF_CSV, 5, "rocprof-csv") \
  X(CHROME_JSON, 6, "chrome-json") \
  X(KMB, 7, "kmb") /* a recording, and kmb_trace_write_json() */

enum {
#define KMB_TRACE_FORMAT_ENUM(name, value, text) KMB_TRACE_##name = (value),
  KMB_TRACE_FORMAT_MAP(KMB_TRACE_FORMAT_ENUM)
#undef KMB_TRACE_FORMAT_ENUM
};

/** Kinds of host calls: X(name, value, text). Values are pinned. */
typedef int32_t kmb_call_kind;
#define KMB_CALL_KIND_MAP(X)         \
  X(LAUNCH, 1, "launch")             \
  X(GRAPH_LAUNCH, 2, "graph launch") \
  X(SYNC, 3, "synchronisation")      \
  X(OTHER, 4, "other")

enum {
#define KMB_CALL_KIND_ENUM(name, value, text) KMB_CALL_##name = (value),
  KMB_CALL_KIND_MAP(KMB_CALL_KIND_ENUM)
#undef KMB_CALL_KIND_ENUM
};

enum {
  /** How kernels were launched is not taken, which is faster: of SQLite by a
   *  quarter. */
  KMB_TRACE_NO_SHAPES = 1u << 0
};

/** How to load a trace. */
typedef struct kmb_trace_params {
  size_t struct_size;
  const kmb_hooks *hooks; /**< memory and cancel flag; copied; NULL for none */
  /** The source's name in messages; NULL: the path, or "trace". */
  const char *name;
  /** Bytes that a compressed source may unpack to; 0: 8 GiB. */
  uint64_t unpacked_limit;
  /** Told how many bytes were read, of how many; `total` is 0 where that is
   *  not known. NULL for none. */
  void (*progress)(void *user, uint64_t done, uint64_t total);
  void *progress_user;
  kmb_trace_format format; /**< KMB_TRACE_AUTO: by content */
  uint32_t flags;          /**< KMB_TRACE_NO_SHAPES */
} kmb_trace_params;

static inline kmb_trace_params kmb_trace_params_init(void) {
  kmb_trace_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** What a trace holds. */
typedef struct kmb_trace_info {
  size_t struct_size;
  uint64_t rows; /**< device operations in the source */
  /** Of these, left out: start 0, no positive length, an end after 2^63 - 1 */
  uint64_t invalid;
  uint64_t ops;     /**< device operations kept */
  uint64_t calls;   /**< host calls kept */
  uint64_t ranges;  /**< named ranges kept */
  uint64_t tick_ns; /**< step of the source's points in time */
  kmb_trace_format format;
  uint32_t reserved;
  /** Records that a recording lost: of operations and calls together, which
   *  nothing can tell apart any more. */
  uint64_t dropped;
  /** What recording added to a call of the driver and of the runtime (names
   *  that begin with "cuda"), measured as it began; 0: not known. */
  uint64_t driver_added_ns;
  uint64_t runtime_added_ns;
} kmb_trace_info;

static inline kmb_trace_info kmb_trace_info_init(void) {
  kmb_trace_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  return info;
}

enum {
  KMB_OP_HAS_DEVICE = 1u << 0,      /**< `device` is known */
  KMB_OP_HAS_STREAM = 1u << 1,      /**< `context` and `stream` are known */
  KMB_OP_HAS_BYTES = 1u << 2,       /**< `bytes` is known */
  KMB_OP_HAS_CORRELATION = 1u << 3, /**< `correlation` is known */
  KMB_OP_HAS_CALL = 1u << 4,        /**< `call` is the call that caused it */
  KMB_OP_HAS_SHAPE = 1u << 5 /**< of a kernel: grid and block are known */
};

/** One device operation; pointers belong to the trace. */
typedef struct kmb_trace_op {
  size_t struct_size;
  const char *name;
  const char *device_name; /**< "" where the source gives none */
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t bytes;       /**< as the source says: a CSV of nsys rounds to kB */
  uint64_t correlation; /**< ties it to the host's call, within a process */
  uint64_t device;
  uint64_t process; /**< 0 where the source gives none */
  uint64_t context;
  uint64_t stream;
  uint64_t call; /**< index for kmb_trace_get_call() */
  kmb_op_kind kind;
  uint32_t flags; /**< KMB_OP_HAS_… */
  /* How a kernel was launched: blocks of the grid, threads of a block; all 0
   * where the source does not say all six. */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
} kmb_trace_op;

static inline kmb_trace_op kmb_trace_op_init(void) {
  kmb_trace_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  return op;
}

/** One call of the host; pointers belong to the trace. */
typedef struct kmb_trace_call {
  size_t struct_size;
  const char *name;
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t correlation; /**< 0 where the source gives none */
  uint64_t process;
  uint64_t thread;
  kmb_call_kind kind;
  uint32_t reserved;
} kmb_trace_call;

static inline kmb_trace_call kmb_trace_call_init(void) {
  kmb_trace_call call;
  memset(&call, 0, sizeof call);
  call.struct_size = sizeof call;
  return call;
}

/** One named range of the host (NVTX, user annotation); pointers belong to the
 *  trace. */
typedef struct kmb_trace_range {
  size_t struct_size;
  const char *name;
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t process;
  uint64_t thread;
} kmb_trace_range;

static inline kmb_trace_range kmb_trace_range_init(void) {
  kmb_trace_range range;
  memset(&range, 0, sizeof range);
  range.struct_size = sizeof range;
  return range;
}

/** Name of a format, such as "nsys-csv".
 *  @param format  any value
 *  @return a static string; "unknown" for a value that is not in
 *          KMB_TRACE_FORMAT_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_trace_format_name(kmb_trace_format format);

/** Loads a trace from a file, plain or packed with gzip. Memory grows with the
 *  operations kept, not with the file. A trace without operations is no error;
 *  a malformed one leaves nothing.
 *
 *  SQLite and zlib are opened when a file needs them. A `.nsys-rep` is given to
 *  the program `nsys`, found through PATH, which writes a SQLite file into a
 *  folder of its own under TMPDIR (/tmp), removed afterwards.
 *  @param path    the file
 *  @param params  NULL for the defaults
 *  @param[out] trace  the new handle; free it with kmb_trace_destroy(); NULL on
 *                     failure
 *  @retval KMB_ERR_INVALID      a NULL or malformed argument
 *  @retval KMB_ERR_IO           the file cannot be read
 *  @retval KMB_ERR_FORMAT       malformed, or of no known format: the message
 *                               gives file, line, column and cause
 *  @retval KMB_ERR_UNAVAILABLE  SQLite, zlib or nsys is needed and absent
 *  @retval KMB_ERR_UNSUPPORTED  unpacks to more than the limit, or more than
 *                               2^32 - 1 rows
 *  @retval KMB_ERR_CANCELLED    the hooks' cancel flag was set
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks while it reads, and while nsys runs
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_load(const char *path,
                                  const kmb_trace_params *params,
                                  kmb_trace **trace);

/** Loads a trace that a callback gives; as kmb_trace_load(). What only a file
 *  can serve (SQLite, `.nsys-rep`) is first copied to one under TMPDIR.
 *  @param read    gives the input
 *  @param user    given to `read`
 *  @param params  NULL for the defaults
 *  @param[out] trace  the new handle; free it with kmb_trace_destroy(); NULL on
 *                     failure
 *  @retval KMB_ERR_INVALID      a NULL or malformed argument
 *  @retval KMB_ERR_FORMAT       malformed, or of no known format
 *  @retval KMB_ERR_UNAVAILABLE  SQLite, zlib or nsys is needed and absent
 *  @retval KMB_ERR_UNSUPPORTED  unpacks to more than the limit
 *  @retval KMB_ERR_CANCELLED    the hooks' cancel flag was set
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK, or what `read` returned
 *  @thread any
 *  @blocks as `read` does, and while nsys runs
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_read(kmb_read_fn read, void *user,
                                  const kmb_trace_params *params,
                                  kmb_trace **trace);

/** Frees a trace. Analyses of it must be gone.
 *  @param trace  a handle or NULL
 *  @thread any, once nobody uses the trace
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_trace_destroy(kmb_trace *trace);

/** What a trace holds.
 *  @param trace      a trace
 *  @param[out] info  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_get_info(const kmb_trace *trace,
                                      kmb_trace_info *info);

/** One device operation, in the order of their starts.
 *  @param trace    a trace
 *  @param index    below kmb_trace_info::ops
 *  @param[out] op  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such operation
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_get_op(const kmb_trace *trace, uint64_t index,
                                    kmb_trace_op *op);

/** One call of the host, by thread and then in the order of their starts.
 *  @param trace      a trace
 *  @param index      below kmb_trace_info::calls
 *  @param[out] call  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such call
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_get_call(const kmb_trace *trace, uint64_t index,
                                      kmb_trace_call *call);

/** One named range, by thread and then in the order of their starts.
 *  @param trace       a trace
 *  @param index       below kmb_trace_info::ranges
 *  @param[out] range  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such range
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_get_range(const kmb_trace *trace, uint64_t index,
                                       kmb_trace_range *range);

/** Writes a trace as libkmb's own JSON, which kmb_trace_load() reads: all that
 *  the trace holds, the counts of invalid and dropped rows too.
 *  @param trace  a trace
 *  @param write  takes the output, UTF-8
 *  @param user   given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_write_json(const kmb_trace *trace,
                                        kmb_write_fn write, void *user);

/** Writes a trace as Chrome JSON, which Perfetto and kmb_trace_load() read.
 *  Times are in µs with three decimals, so no nanosecond is lost. Where they
 *  would be too long for a reader that uses doubles they count from
 *  "kmb_base_ns", which kmb_trace_load() adds again. Each stream of a device
 *  and each thread of the host is a track; what overlaps there is on further
 *  ones. Arrows lead from a call to the operations that it started.
 *  @param trace  a trace
 *  @param write  takes the output, UTF-8
 *  @param user   given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_write_chrome(const kmb_trace *trace,
                                          kmb_write_fn write, void *user);

enum {
  KMB_GAPS_DEVICE = 1u << 0, /**< only kmb_gaps_params::device */
  KMB_GAPS_FROM = 1u << 1,   /**< only what starts at `from_ns` or later */
  KMB_GAPS_TO = 1u << 2      /**< only what starts before `to_ns` */
};

/** What to analyse. */
typedef struct kmb_gaps_params {
  size_t struct_size;
  const kmb_hooks *hooks; /**< memory; copied; NULL for none */
  /** Target kernel: a POSIX extended regular expression that some part of its
   *  name matches; NULL for none. */
  const char *kernel;
  /** Only operations launched within a range of this name; where the source
   *  has no host calls, those that start within it. Time between two ranges is
   *  no gap. NULL for all. */
  const char *range;
  uint64_t device;
  uint64_t from_ns; /**< in the trace's own clock */
  uint64_t to_ns;
  uint64_t top;   /**< rows of each list in the text; 0: 10 */
  uint32_t flags; /**< KMB_GAPS_DEVICE, …_FROM, …_TO */
  uint32_t reserved;
} kmb_gaps_params;

static inline kmb_gaps_params kmb_gaps_params_init(void) {
  kmb_gaps_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

enum {
  KMB_GAPS_HAS_DEVICE = 1u << 0, /**< the source says which device it is */
  /** The source has host calls, so that idle time is split by cause. */
  KMB_GAPS_HAS_CAUSES = 1u << 1
};

/** One device; pointers belong to the analysis.
 *
 *  span = last end - first start; busy = length of the union of all
 *  operations; idle = span - busy. A gap is a maximal idle interval. Its parts
 *  by cause add up to it: `launch`: from the start of the call that launched
 *  the operation after the gap; `sync`: before that, while the launching thread
 *  waited in a synchronisation; `host`: while that thread did anything else;
 *  `queued`: the launch had returned before the gap began, so that the host did
 *  not hold it up; `unknown`: that call is not in the trace. */
typedef struct kmb_gaps_device {
  size_t struct_size;
  const char *name; /**< "" where the source gives none */
  uint64_t device;
  uint64_t ops;
  uint64_t first_ns; /**< start of the first operation */
  uint64_t last_ns;  /**< end of the last operation */
  uint64_t span_ns;
  uint64_t busy_ns;
  uint64_t idle_ns;
  uint64_t gaps;
  uint64_t launch_ns;
  uint64_t sync_ns;
  uint64_t host_ns;
  uint64_t queued_ns;
  uint64_t unknown_ns;
  uint64_t transitions; /**< how many kmb_gaps_get_transition() can give */
  uint64_t names;       /**< how many kmb_gaps_get_name() can give */
  uint64_t streams;     /**< how many kmb_gaps_get_stream() can give */
  uint32_t flags;       /**< KMB_GAPS_HAS_… */
  uint32_t reserved;
} kmb_gaps_device;

static inline kmb_gaps_device kmb_gaps_device_init(void) {
  kmb_gaps_device device;
  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  return device;
}

/** All gaps between operations of one name and another: from the one that ended
 *  last to the one that starts next. */
typedef struct kmb_gaps_transition {
  size_t struct_size;
  const char *from;
  const char *to;
  uint64_t count;
  uint64_t idle_ns;
  uint64_t longest_ns;
  uint64_t launch_ns; /**< the causes, as in kmb_gaps_device */
  uint64_t sync_ns;
  uint64_t host_ns;
  uint64_t queued_ns;
  uint64_t unknown_ns;
  kmb_op_kind from_kind;
  kmb_op_kind to_kind;
} kmb_gaps_transition;

static inline kmb_gaps_transition kmb_gaps_transition_init(void) {
  kmb_gaps_transition transition;
  memset(&transition, 0, sizeof transition);
  transition.struct_size = sizeof transition;
  return transition;
}

/** All operations of one name and kind. */
typedef struct kmb_gaps_name {
  size_t struct_size;
  const char *name;
  uint64_t count;
  uint64_t total_ns; /**< sum of their lengths */
  uint64_t shortest_ns;
  uint64_t longest_ns;
  kmb_op_kind kind;
  uint32_t target; /**< 1 if it is a target kernel, else 0 */
} kmb_gaps_name;

static inline kmb_gaps_name kmb_gaps_name_init(void) {
  kmb_gaps_name name;
  memset(&name, 0, sizeof name);
  name.struct_size = sizeof name;
  return name;
}

/** One stream, for information: a stream that idles while another works is no
 *  loss. */
typedef struct kmb_gaps_stream {
  size_t struct_size;
  uint64_t process;
  uint64_t context;
  uint64_t stream;
  uint64_t ops;
  uint64_t span_ns;
  uint64_t busy_ns;
} kmb_gaps_stream;

static inline kmb_gaps_stream kmb_gaps_stream_init(void) {
  kmb_gaps_stream stream;
  memset(&stream, 0, sizeof stream);
  stream.struct_size = sizeof stream;
  return stream;
}

/** The launches of the target kernel on one device. Medians of an even count
 *  are the mean of the middle two. */
typedef struct kmb_gaps_target {
  size_t struct_size;
  uint64_t count;
  uint64_t intervals; /**< how many kmb_gaps_get_interval() can give */
  double mean_duration_ns;
  double median_duration_ns;
  /** The following are 0 and meaningless where `intervals` is 0. */
  double mean_interval_ns;
  double median_work_ns;
  double median_kernel_work_ns; /**< of the work, kernels and graphs alone */
  /** mean duration / (mean duration + mean interval) */
  double utilization;
  /** median duration / (median duration + median work): no host gaps */
  double potential_utilization;
  /** the same with kernel work alone: copies overlapped too */
  double potential_overlap;
} kmb_gaps_target;

static inline kmb_gaps_target kmb_gaps_target_init(void) {
  kmb_gaps_target target;
  memset(&target, 0, sizeof target);
  target.struct_size = sizeof target;
  return target;
}

/** From one launch of the target to the next: next start - previous end, 0 if
 *  they overlap; of it the union of all else, and what is left. The layout is
 *  final. */
typedef struct kmb_gaps_interval {
  uint64_t interval_ns;
  uint64_t work_ns;
  uint64_t kernel_work_ns;
  uint64_t idle_ns;
} kmb_gaps_interval;

/** From the start of a launching call to the start of the first operation that
 *  it launched. */
typedef struct kmb_gaps_latency {
  size_t struct_size;
  uint64_t count;
  uint64_t shortest_ns;
  uint64_t longest_ns;
  double mean_ns;
  double median_ns;
} kmb_gaps_latency;

static inline kmb_gaps_latency kmb_gaps_latency_init(void) {
  kmb_gaps_latency latency;
  memset(&latency, 0, sizeof latency);
  latency.struct_size = sizeof latency;
  return latency;
}

/** Analyses a trace.
 *  @param trace   a trace, which must outlive the analysis
 *  @param params  NULL for the defaults
 *  @param[out] gaps  the new handle; free it with kmb_gaps_destroy(); NULL on
 *                    failure
 *  @retval KMB_ERR_INVALID      a NULL or malformed argument, a regular
 *                               expression that does not compile
 *  @retval KMB_ERR_UNAVAILABLE  the trace has no range of that name
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK; a trace without operations, or with none that were asked
 *          for, has no devices
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_analyse(const kmb_trace *trace,
                                    const kmb_gaps_params *params,
                                    kmb_gaps **gaps);

/** Frees an analysis.
 *  @param gaps  a handle or NULL
 *  @thread any, once nobody uses the analysis
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_gaps_destroy(kmb_gaps *gaps);

/** Number of devices with operations.
 *  @param gaps  an analysis or NULL
 *  @return how many kmb_gaps_get_device() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_gaps_device_count(const kmb_gaps *gaps);

/** One device.
 *  @param gaps         an analysis
 *  @param index        below kmb_gaps_device_count()
 *  @param[out] device  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such device
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_device(const kmb_gaps *gaps, uint64_t index,
                                       kmb_gaps_device *device);

/** Share of the span in which a device was busy: busy / span.
 *  @param gaps        an analysis
 *  @param index       below kmb_gaps_device_count()
 *  @param[out] share  above 0, at most 1
 *  @retval KMB_ERR_INVALID      NULL, or no such device
 *  @retval KMB_ERR_UNAVAILABLE  graphs were launched and not traced, so that
 *                               the device was busier than the trace shows
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units 1
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_utilization(const kmb_gaps *gaps, uint64_t index,
                                        double *share);

/** One transition, the one with most idle time first.
 *  @param gaps    an analysis
 *  @param device  below kmb_gaps_device_count()
 *  @param index   below kmb_gaps_device::transitions
 *  @param[out] transition  written up to its `struct_size`; pointers belong to
 *                          the trace
 *  @retval KMB_ERR_INVALID  NULL, or no such transition
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_transition(const kmb_gaps *gaps,
                                           uint64_t device, uint64_t index,
                                           kmb_gaps_transition *transition);

/** The operations of one name and kind, the most time first.
 *  @param gaps       an analysis
 *  @param device     below kmb_gaps_device_count()
 *  @param index      below kmb_gaps_device::names
 *  @param[out] name  written up to its `struct_size`; pointers belong to the
 *                    trace
 *  @retval KMB_ERR_INVALID  NULL, or no such name
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_name(const kmb_gaps *gaps, uint64_t device,
                                     uint64_t index, kmb_gaps_name *name);

/** One stream, in the order in which they first appear.
 *  @param gaps         an analysis
 *  @param device       below kmb_gaps_device_count()
 *  @param index        below kmb_gaps_device::streams
 *  @param[out] stream  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such stream
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_stream(const kmb_gaps *gaps, uint64_t device,
                                       uint64_t index, kmb_gaps_stream *stream);

/** The target kernel on a device.
 *  @param gaps         an analysis
 *  @param device       below kmb_gaps_device_count()
 *  @param[out] target  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, or no such device
 *  @retval KMB_ERR_UNAVAILABLE  no kernel was named, or none matches
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_target(const kmb_gaps *gaps, uint64_t device,
                                       kmb_gaps_target *target);

/** One interval between launches of the target, in the order of time.
 *  @param gaps           an analysis
 *  @param device         below kmb_gaps_device_count()
 *  @param index          below kmb_gaps_target::intervals
 *  @param[out] interval  its parts
 *  @retval KMB_ERR_INVALID  NULL, or no such interval
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_interval(const kmb_gaps *gaps, uint64_t device,
                                         uint64_t index,
                                         kmb_gaps_interval *interval);

/** Launch latency on a device.
 *  @param gaps          an analysis
 *  @param device        below kmb_gaps_device_count()
 *  @param[out] latency  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, or no such device
 *  @retval KMB_ERR_UNAVAILABLE  the trace does not tie operations to calls
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_latency(const kmb_gaps *gaps, uint64_t device,
                                        kmb_gaps_latency *latency);

/** Number of findings.
 *  @param gaps  an analysis or NULL
 *  @return how many kmb_gaps_get_finding() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_gaps_finding_count(const kmb_gaps *gaps);

/** One finding: a reason to doubt the analysis.
 *  @param gaps          an analysis
 *  @param index         below kmb_gaps_finding_count()
 *  @param[out] finding  written up to its `struct_size`; pointers belong to the
 *                       analysis
 *  @retval KMB_ERR_INVALID  NULL, or no such finding
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_get_finding(const kmb_gaps *gaps, uint64_t index,
                                        kmb_finding *finding);

/** Writes an analysis as JSON.
 *  @param gaps   an analysis
 *  @param write  takes the output, UTF-8
 *  @param user   given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_write_json(const kmb_gaps *gaps, kmb_write_fn write,
                                       void *user);

/** Writes an analysis for a person: the idle share, the largest transitions,
 *  the target, what closing gaps would give, and which remedy fits.
 *  @param gaps   an analysis
 *  @param write  takes the output, UTF-8
 *  @param user   given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_gaps_write_text(const kmb_gaps *gaps, kmb_write_fn write,
                                       void *user);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
