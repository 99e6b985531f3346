/**
 * @file comm.h
 * Several ranks that measure one operation together: what a communicator must
 * be able to do, and those that come with the library. `kmb/mpi.h` makes one of
 * an MPI communicator.
 */
#ifndef KMB_COMM_H
#define KMB_COMM_H

#include <kmb/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup comm Communicator
 *  A communicator joins the ranks of one measurement: kmb_bench_params::comm,
 *  the same call on every rank. Ranks exchange records of #KMB_COMM_RECORD
 *  bytes in lockstep; every wait has a deadline. Once a rank is missed the
 *  communicator is poisoned: every later call on it fails at once and says why.
 *
 *  One thread at a time uses a rank's communicator.
 *  @{ */

typedef struct kmb_comm kmb_comm;

/** Bytes that each rank gives to every exchange. */
#define KMB_COMM_RECORD 512

/** How ranks' devices are aligned before each sample. Values are pinned. */
typedef int32_t kmb_barrier;
enum {
  /** Those that the backend can have on every rank are tried, and that with
   *  the least measured skew is taken; else HOST. NCCL only by name, or if the
   *  others cannot be had. */
  KMB_BARRIER_AUTO = 0,
  KMB_BARRIER_FLAG = 1,   /**< a kernel that writes and awaits words in the
                               memory of its peers */
  KMB_BARRIER_STREAM = 2, /**< stream memory operations on such words */
  KMB_BARRIER_NCCL = 3,   /**< an all-reduce of one element by NCCL or RCCL */
  KMB_BARRIER_CALLER = 4, /**< kmb_comm_ops::device_barrier */
  KMB_BARRIER_HOST = 5    /**< none on the device: the hosts alone */
};

/** What the caller says of NVLink multicast (NVLS) in its collectives. */
typedef int32_t kmb_multicast;
enum {
  KMB_MULTICAST_UNDECLARED = 0,
  KMB_MULTICAST_ON = 1,
  KMB_MULTICAST_OFF = 2 /**< raises ::KMB_FINDING_MULTICAST_OFF */
};

/** What joins the ranks. The library calls these functions on the rank's own
 *  thread, one exchange at a time, in the same order on every rank. */
typedef struct kmb_comm_ops {
  size_t struct_size;
  void *ctx; /**< given to every function */
  /** Begins to give `bytes` bytes at `send` to every rank and to collect those
   *  of rank r at `receive + r * bytes`. Both stay as they are until
   *  `release`. Does not wait. */
  kmb_status (*start)(void *ctx, const void *send, void *receive, size_t bytes,
                      void **request);
  /** Stores 1 in `*done` once all is collected, else 0. Does not wait. */
  kmb_status (*test)(void *ctx, void *request, int32_t *done);
  /** Ends a request, done or not. Does not wait: what is still under way is
   *  abandoned. */
  void (*release)(void *ctx, void *request);
  /** Whether `rank` has given its part of the request, so that those that have
   *  not can be named. Optional. */
  kmb_status (*arrived)(void *ctx, void *request, int32_t rank, int32_t *yes);
  /** Enqueues on `stream` what no rank passes before all have reached it. It
   *  does not wait. Optional; used with ::KMB_BARRIER_CALLER. */
  kmb_status (*device_barrier)(void *ctx, void *stream);
  /** The communicator is of no use any more: tells other ranks, if it can, so
   *  that they need not wait, and ends what might hang, such as a collective
   *  that a device waits in (ncclCommAbort()): a device that goes on waiting is
   *  lost. Does not wait. Optional. */
  void (*abort)(void *ctx, kmb_status why, const char *message);
  /** Called once, by kmb_comm_destroy(). Optional. */
  void (*close)(void *ctx);
  const char *name; /**< what it is and its version, for the result; copied */
  int32_t rank;     /**< from 0 */
  int32_t size;     /**< ranks in all, up to 4096 */
} kmb_comm_ops;

static inline kmb_comm_ops kmb_comm_ops_init(void) {
  kmb_comm_ops ops;
  memset(&ops, 0, sizeof ops);
  ops.struct_size = sizeof ops;
  return ops;
}

/** How to use it. Strings are copied. */
typedef struct kmb_comm_params {
  size_t struct_size;
  const kmb_hooks *hooks;   /**< for memory; copied; NULL for none */
  double deadline_ns;       /**< of a wait for other ranks, longer than a
                                 sample takes; 0: 10 s */
  double first_deadline_ns; /**< until each rank is warm, while checks run, and
                                 to meet at first; 0: 120 s */
  const char *collective;   /**< library of the measured operation and its
                                 version, such as "NCCL 2.27.3"; NULL: not
                                 known */
  const char *topology;     /**< how the devices are joined; NULL: not known */
  const char *fabric;       /**< between nodes; NULL: not known */
  void *nccl;               /**< the caller's ncclComm_t (NCCL or RCCL) for
                                 ::KMB_BARRIER_NCCL, this rank's own; NULL: one
                                 is made, where NVLink multicast can be kept
                                 off in it */
  /** Called beside kmb_comm_ops::abort, on the rank's own thread, for any kind
   *  of communicator: ends a collective that a device waits in. Does not wait.
   *  Optional. */
  void (*abort)(void *user, kmb_status why, const char *message);
  void *abort_user;
  uint64_t skew_samples; /**< by which a barrier is judged; 0: 100 */
  kmb_barrier barrier;
  kmb_multicast multicast;
} kmb_comm_params;

static inline kmb_comm_params kmb_comm_params_init(void) {
  kmb_comm_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** Makes a communicator of the caller's functions.
 *  @param ops     copied; `ctx` must outlive the communicator
 *  @param params  NULL for the defaults
 *  @param[out] comm  the new handle; end it with kmb_comm_destroy(), which
 *                    calls `ops->close`; NULL on failure, and `close` is then
 *                    not called
 *  @retval KMB_ERR_INVALID      NULL, a required function missing, a rank
 *                               outside of 0 to size - 1, a value out of range
 *  @retval KMB_ERR_UNSUPPORTED  `ops` or `params` asks for what this version
 *                               lacks
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_comm_create(const kmb_comm_ops *ops,
                                   const kmb_comm_params *params,
                                   kmb_comm **comm);

/** Joins threads of this process: makes `size` communicators, one for each
 *  thread.
 *  @param size    ranks, from 1 to 4096
 *  @param params  NULL for the defaults; for all ranks
 *  @param[out] comms  `size` handles by rank, each to be ended with
 *                     kmb_comm_destroy(); NULL on failure
 *  @retval KMB_ERR_INVALID      NULL, or a value out of range
 *  @retval KMB_ERR_UNSUPPORTED  `params` asks for what this version lacks
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_comm_threads_create(int32_t size,
                                           const kmb_comm_params *params,
                                           kmb_comm **comms);

/** Joins processes of one host through POSIX shared memory. A rank that ends,
 *  however it does, is missed by the others at once. Nothing stays behind once
 *  all have met; what a run left that was killed before, rank 0 clears away.
 *  @param name    "/" and letters, digits, "_", "." or "-": the same for all
 *                 ranks of a run, and for no other run
 *  @param rank    from 0, one process each
 *  @param size    ranks, from 1 to 4096
 *  @param params  NULL for the defaults
 *  @param[out] comm  the new handle; end it with kmb_comm_destroy(); NULL on
 *                    failure
 *  @retval KMB_ERR_INVALID      NULL, or a value out of range; another size
 * than rank 0's; two ranks in one process
 *  @retval KMB_ERR_UNSUPPORTED  `params` asks for what this version lacks
 *  @retval KMB_ERR_BUSY         the name or the rank is in use
 *  @retval KMB_ERR_TIMEOUT      not all ranks came within the longer deadline
 *  @retval KMB_ERR_LOST         rank 0 ended before all had met
 *  @retval KMB_ERR_PERM         the system does not permit it
 *  @retval KMB_ERR_UNAVAILABLE  the system has no shared memory
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks until all ranks have called it
 *  @since 0.1 */
KMB_API kmb_status kmb_comm_shm_create(const char *name, int32_t rank,
                                       int32_t size,
                                       const kmb_comm_params *params,
                                       kmb_comm **comm);

/** Ends a communicator. Ranks that still wait for this one are told.
 *  @param comm  a handle or NULL
 *  @thread the rank's own
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_comm_destroy(kmb_comm *comm);

/** The rank that a communicator is of.
 *  @param comm  a communicator
 *  @return its rank, from 0; -1 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API int32_t kmb_comm_rank(const kmb_comm *comm);

/** Ranks in all.
 *  @param comm  a communicator
 *  @return their number; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API int32_t kmb_comm_size(const kmb_comm *comm);

/** Gives every rank what each one gives: for handles, ids and seeds. Every rank
 *  calls it with the same size.
 *  @param comm      a communicator
 *  @param send      `bytes` bytes; may be NULL if `bytes` is 0
 *  @param[out] receive  `bytes` bytes of each rank, by rank; may be NULL if
 *                       `bytes` is 0
 *  @param bytes     of each rank; they go in pieces of 256
 *  @retval KMB_ERR_INVALID   NULL, or a size that is not every rank's
 *  @retval KMB_ERR_BUSY      the communicator is in use
 *  @retval KMB_ERR_TIMEOUT   a rank did not come in time (the longer deadline)
 *  @retval KMB_ERR_LOST      a rank has ended
 *  @retval KMB_ERR_INTERNAL  the ranks do not do the same
 *  @return KMB_OK, or what the communicator's functions returned
 *  @thread the rank's own
 *  @blocks until every rank has called it
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_comm_allgather(kmb_comm *comm, const void *send,
                                      void *receive, size_t bytes);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
