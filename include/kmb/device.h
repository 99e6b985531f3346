/**
 * @file device.h
 * Opening a device, what it says of itself, and the hooks through which the
 * library uses the caller's log, memory, progress display and cancel flag.
 */
#ifndef KMB_DEVICE_H
#define KMB_DEVICE_H

#include <kmb/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup device Device
 *  A device is used by one thread at a time: a second thread that enters it
 *  meanwhile gets ::KMB_ERR_BUSY. Several devices can be used by several
 *  threads. A child process that inherited a device gets ::KMB_ERR_FORKED and
 *  may open its own.
 *  @{ */

typedef struct kmb_device kmb_device;

/** Importance of a log message. */
typedef int32_t kmb_log_level;
enum {
  KMB_LOG_ERROR = 1,
  KMB_LOG_WARNING = 2,
  KMB_LOG_INFO = 3,
  KMB_LOG_DEBUG = 4
};

/** Where a measurement stands; given to kmb_hooks::progress. */
typedef struct kmb_progress {
  size_t struct_size;
  const char *name;  /**< the benchmark's name, "" if it has none */
  const char *stage; /**< "prepare", "check", "warm up", "calibrate",
                          "measure", "confirm", "summarise" */
  uint64_t samples;  /**< taken so far in this round */
  double elapsed_ns; /**< since kmb_bench() was entered */
  double limit_ns;   /**< wall ceiling of the measure stage */
  double median_ns;  /**< so far; meaningful if `samples` > 0 */
  uint32_t round;    /**< from 0 */
  uint32_t rounds;
} kmb_progress;

/** Hooks of one device, fixed when it is opened. Each may be NULL; each has
 *  its own `user` pointer. None is called inside a timed region. A hook is
 *  called on the thread that entered the library. */
typedef struct kmb_hooks {
  size_t struct_size;
  /** Takes one preformatted line without a newline. */
  void (*log)(void *user, kmb_log_level level, const char *message);
  void *log_user;
  /** Host memory for the library's own structures: both or neither. `alloc`
   *  returns NULL on failure; `align` is a power of two. */
  void *(*alloc)(void *user, size_t size, size_t align);
  void (*free)(void *user, void *pointer, size_t size);
  void *alloc_user;
  /** Device memory for slots and flush: both or neither; `align` is a power of
   *  two. On the host backend this is host memory. */
  kmb_status (*device_alloc)(void *user, uint64_t size, uint64_t align,
                             void **pointer);
  void (*device_free)(void *user, void *pointer, uint64_t size);
  void *device_alloc_user;
  void (*progress)(void *user, const kmb_progress *progress);
  void *progress_user;
  /** Set to non-zero, by any thread or a signal handler, to stop what runs;
   *  the library only reads it. */
  const volatile int32_t *cancel;
} kmb_hooks;

/** Hooks that do nothing: the library's own log is silence, its memory the C
 *  library's. */
static inline kmb_hooks kmb_hooks_init(void) {
  kmb_hooks hooks;
  memset(&hooks, 0, sizeof hooks);
  hooks.struct_size = sizeof hooks;
  return hooks;
}

enum {
  /** Bind the calling thread to the first of the device's cores until the
   *  device is closed, then restore its binding. Host backend. */
  KMB_DEVICE_BIND = 1u << 0
};

/** How to open a device. */
typedef struct kmb_device_params {
  size_t struct_size;
  const kmb_hooks *hooks; /**< copied; NULL for none */
  uint64_t llc_bytes;     /**< last-level cache; 0: as detected */
  uint64_t memory_budget; /**< bytes that the slots of all sets and the flush
                               may take together; 0: half of what is available
                               when asked */
  uint32_t threads;       /**< host: cores that the measured work uses; 0: all
                               that this process may run on */
  uint32_t flags;         /**< KMB_DEVICE_BIND */
} kmb_device_params;

static inline kmb_device_params kmb_device_params_init(void) {
  kmb_device_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** Things a device can say of itself. Values are pinned.
 *  X(name, value, kind, key): kind U64, F64 or TEXT. */
typedef int32_t kmb_device_attr;
#define KMB_DEVICE_ATTR_MAP(X)               \
  X(BACKEND, 1, TEXT, "backend")             \
  X(NAME, 2, TEXT, "name")                   \
  X(ARCH, 3, TEXT, "arch")                   \
  X(UUID, 4, TEXT, "uuid")                   \
  X(PCI_ID, 5, TEXT, "pci_id")               \
  X(UNITS, 6, U64, "units")                  \
  X(MEMORY_BYTES, 7, U64, "memory_bytes")    \
  X(L1_BYTES, 8, U64, "l1_bytes")            \
  X(L2_BYTES, 9, U64, "l2_bytes")            \
  X(LLC_BYTES, 10, U64, "llc_bytes")         \
  X(LLC_SOURCE, 11, TEXT, "llc_source")      \
  X(NUMA_NODES, 12, U64, "numa_nodes")       \
  X(NUMA_NODE, 13, U64, "numa_node")         \
  X(THREADS, 14, U64, "threads")             \
  X(BINDING, 15, TEXT, "binding")            \
  X(CLOCK_TICK_NS, 16, F64, "clock_tick_ns") \
  X(MEMORY_BUDGET, 17, U64, "memory_budget") \
  X(ISA, 18, TEXT, "isa")                    \
  X(SPEC, 19, TEXT, "spec")

enum {
#define KMB_DEVICE_ATTR_ENUM(name, value, kind, key) \
  KMB_DEVICE_##name = (value),
  KMB_DEVICE_ATTR_MAP(KMB_DEVICE_ATTR_ENUM)
#undef KMB_DEVICE_ATTR_ENUM
};

/** Opens a device by name. Nothing is measured here: ceilings, biases and the
 *  clock's tick are measured when first asked for.
 *
 *  A name that is not built in is looked for as `kmb-backend-NAME.so` in the
 *  one directory that was compiled in (pkg-config's `plugindir`), and an
 *  absolute path names a plugin anywhere. Nothing else is searched: no
 *  relative path, no environment variable, no other directory. A plugin is
 *  code that runs in this process; once loaded it stays until the process
 *  ends, so a file that was replaced needs a new process. A failed open
 *  leaves nothing behind that would keep a later one from working.
 *  @param name     "host"; other backends take "backend:ordinal"; a plugin by
 *                  path is "/dir/file.so" or "/dir/file.so:specification";
 *                  "auto" takes the first built-in backend that opens, and
 *                  KMB_DEVICE_SPEC then says which
 *  @param params   NULL for the defaults
 *  @param[out] device  the new handle; close it with kmb_device_close(); NULL
 *                      on failure
 *  @retval KMB_ERR_INVALID      a NULL or malformed argument, or more threads
 *                               than cores
 *  @retval KMB_ERR_UNSUPPORTED  no backend of that name, built in or in the
 *                               directory of plugins; a plugin for another
 *                               backend ABI, without a required function, or
 *                               with another name; `params` asks for what this
 *                               version lacks
 *  @retval KMB_ERR_UNAVAILABLE  the plugin's file is absent or the dynamic
 *                               linker does not take it (its words are in the
 *                               message); the backend's library or device is
 *                               absent
 *  @retval KMB_ERR_FORMAT       the file is a shared object but exports no
 *                               backend of its own
 *  @retval KMB_ERR_VENDOR       the plugin's entry gave no table
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK, or what the backend's own open returned
 *  @thread any
 *  @blocks while a plugin is loaded; else no
 *  @since 0.1 */
KMB_API kmb_status kmb_device_open(const char *name,
                                   const kmb_device_params *params,
                                   kmb_device **device);

/** Closes a device and gives back all it took. Buffers created on it and
 *  sessions should end first: what still uses the device then gets
 *  ::KMB_ERR_INVALID, and the device is freed with the last of them, which is
 *  logged as an error, as is a second close meanwhile, which does nothing.
 *  Results stay valid. In a forked child it frees memory only.
 *  @param device  a handle or NULL
 *  @thread the device's user
 *  @blocks until the device's helper threads have ended
 *  @since 0.1 */
KMB_API void kmb_device_close(kmb_device *device);

/** An attribute of kind U64.
 *  @param device      an open device
 *  @param attr        one of KMB_DEVICE_ATTR_MAP() of kind U64
 *  @param[out] value  bytes or a count, as the attribute's name says
 *  @retval KMB_ERR_INVALID      NULL, or an attribute of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known on this device; the reason is in
 *                               kmb_last_error()
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @units bytes or a count
 *  @since 0.1 */
KMB_API kmb_status kmb_device_attr_u64(kmb_device *device, kmb_device_attr attr,
                                       uint64_t *value);

/** An attribute of kind F64; as kmb_device_attr_u64(). KMB_DEVICE_CLOCK_TICK_NS
 *  is measured on the first call.
 *  @param device      an open device
 *  @param attr        one of KMB_DEVICE_ATTR_MAP() of kind F64
 *  @param[out] value  in the unit that the attribute's name ends in
 *  @retval KMB_ERR_INVALID      NULL, or an attribute of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known on this device
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks up to 1 ms on a first call
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_device_attr_f64(kmb_device *device, kmb_device_attr attr,
                                       double *value);

/** An attribute of kind TEXT; as kmb_device_attr_u64().
 *  @param device     an open device
 *  @param attr       one of KMB_DEVICE_ATTR_MAP() of kind TEXT
 *  @param[out] text  owned by the device, valid until it is closed
 *  @retval KMB_ERR_INVALID      NULL, or an attribute of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known on this device
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_device_attr_text(kmb_device *device,
                                        kmb_device_attr attr,
                                        const char **text);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
