/**
 * @file buffers.h
 * The memory that a measured operation works on: what each buffer holds, how
 * it is filled, and how many copies rotate so that inputs are cold.
 */
#ifndef KMB_BUFFERS_H
#define KMB_BUFFERS_H

#include <kmb/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup buffers Buffers
 *  A set of buffers is described once and laid out by the library. A *slot* is
 *  one complete copy of the set; iteration i uses slot i modulo the number of
 *  slots. Slots hold equal data at different addresses. SCRATCH buffers and
 *  buffers of residency WARM exist once and are shared by all slots, unless the
 *  caller brings several (::KMB_FILL_CALLER): then the first slots have one
 *  each, and the others share the first.
 *
 *  A guard zone stands before and after each buffer that the library
 *  allocates; what is written there ends a measurement with
 *  ::KMB_ERR_INCORRECT.
 *  @{ */

typedef struct kmb_buffers kmb_buffers;

typedef int32_t kmb_buffer_role;
enum {
  KMB_INPUT = 1,
  KMB_OUTPUT = 2,
  KMB_INOUT = 3,  /**< saved and restored around the checks; while timing it
                       carries its state, unless a reset hook is given */
  KMB_SCRATCH = 4 /**< contents mean nothing before and after a launch */
};

typedef int32_t kmb_buffer_fill;
enum {
  /** Inputs: KMB_FILL_RANDOM. Outputs and scratch: the poison pattern. */
  KMB_FILL_DEFAULT = 0,
  /** Uniform in [-1, 1] for floats; integers need KMB_BUFFER_RANGE. */
  KMB_FILL_RANDOM = 1,
  KMB_FILL_COPY = 2,     /**< from `source`, host memory of `bytes` */
  KMB_FILL_CALLBACK = 3, /**< by `fill_fn` */
  KMB_FILL_CALLER = 4,   /**< the caller's own memory, one pointer a slot */
  KMB_FILL_ZERO = 5      /**< raises ZERO_DATA: zeros can run faster */
};

/** How the cache holds a buffer when an iteration starts, in the cache states
 *  COLD and ROTATED. */
typedef int32_t kmb_residency;
enum {
  KMB_RESIDENT_COLD = 0,
  KMB_RESIDENT_WARM = 1 /**< such as activations that were just written */
};

enum {
  KMB_BUFFER_SEED = 1u << 0,  /**< `seed` counts even if it is 0 */
  KMB_BUFFER_RANGE = 1u << 1, /**< random values lie in [low, high] */
  /** Lies inside buffer `alias_of`, which must be no OUTPUT if this one is
   *  read. */
  KMB_BUFFER_ALIAS = 1u << 2
};

/** One buffer of a set. */
typedef struct kmb_buffer_desc {
  size_t struct_size;
  const char *name;       /**< for messages and JSON; copied; required */
  uint64_t bytes;         /**< size; with KMB_BUFFER_ALIAS too */
  uint64_t touched_bytes; /**< part that one launch reads or writes; 0: all */
  uint64_t alignment;     /**< power of two; 0: 256 */
  uint64_t seed;          /**< of random fill; 0 without KMB_BUFFER_SEED: one
                               derived from the buffer's index */
  double low, high;       /**< with KMB_BUFFER_RANGE; integers inclusive */
  const void *source;     /**< KMB_FILL_COPY; read while slots are prepared */
  /** KMB_FILL_CALLBACK: fills the host copy of one slot's buffer. */
  kmb_status (*fill_fn)(void *user, void *data, uint64_t bytes, uint32_t slot);
  void *fill_user;
  void *const *pointers;  /**< KMB_FILL_CALLER: device pointers, copied; the
                               memory must outlive the set */
  uint64_t pointer_count; /**< KMB_FILL_CALLER: slots that the caller brings */
  uint64_t alias_offset;  /**< with KMB_BUFFER_ALIAS, bytes into `alias_of` */
  uint32_t alias_of;      /**< index of an earlier buffer that is no alias */
  uint32_t flags;         /**< KMB_BUFFER_… */
  kmb_buffer_role role;   /**< required */
  kmb_dtype dtype;        /**< required; decides how random data look */
  kmb_buffer_fill fill;
  kmb_residency residency;
} kmb_buffer_desc;

static inline kmb_buffer_desc kmb_buffer_desc_init(void) {
  kmb_buffer_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  return desc;
}

/** How a set rotates. */
typedef struct kmb_buffers_params {
  size_t struct_size;
  /** Footprint that all slots' cold inputs have together, whatever the outputs
   *  and scratch take. 0: as `reuse_factor` asks. */
  uint64_t rotation_bytes;
  /** Bytes of cold inputs touched between two uses of a slot, over the
   *  last-level cache's size. 0: 2. */
  double reuse_factor;
  uint32_t slots; /**< exactly this many; 0: as the cache state needs */
  uint32_t flags; /**< must be 0 */
} kmb_buffers_params;

static inline kmb_buffers_params kmb_buffers_params_init(void) {
  kmb_buffers_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** What a set came to. The three byte counts are never mixed: allocated by the
 *  library, touched by one launch, and (in kmb_work) least. */
typedef struct kmb_buffers_info {
  size_t struct_size;
  uint64_t count;           /**< buffers a slot */
  uint64_t allocated_bytes; /**< all slots, guard zones and padding included */
  uint64_t touched_bytes;   /**< by one launch, all roles but scratch */
  uint64_t cold_bytes;      /**< cold inputs touched by one launch; if there is
                                 none, cold outputs */
  uint64_t reuse_bytes;     /**< cold bytes between two uses of a slot */
  uint32_t slots;           /**< prepared now; 0 before the first use */
  uint32_t slots_limit;     /**< most that caller's pointers allow; 0: any */
} kmb_buffers_info;

static inline kmb_buffers_info kmb_buffers_info_init(void) {
  kmb_buffers_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  return info;
}

/** Describes a set of buffers. Memory is taken when kmb_bench() or
 *  kmb_buffers_prepare() needs it, once, and reused by later measurements.
 *  @param device  lives longer than the set
 *  @param descs   `count` descriptors, `stride` bytes apart; copied
 *  @param stride  sizeof of the caller's kmb_buffer_desc
 *  @param count   at least 1
 *  @param params  NULL for the defaults
 *  @param[out] buffers  the new set; free it with kmb_buffers_destroy()
 *  @retval KMB_ERR_INVALID      NULL, no or overflowing size, an unknown role,
 *                               dtype or fill, integers without a range, a bad
 *                               alias; the message names the buffer
 *  @retval KMB_ERR_UNSUPPORTED  non-zero bytes that this version does not know
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @retval KMB_ERR_FORKED       the device belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_buffers_create(kmb_device *device,
                                      const kmb_buffer_desc *descs,
                                      size_t stride, uint64_t count,
                                      const kmb_buffers_params *params,
                                      kmb_buffers **buffers);

/** Frees a set and the memory that the library allocated for it.
 *  @param buffers  a handle or NULL
 *  @thread the device's user
 *  @blocks until the device has finished with the memory
 *  @since 0.1 */
KMB_API void kmb_buffers_destroy(kmb_buffers *buffers);

/** Allocates and fills slots ahead of time; kmb_bench() does it by itself.
 *  Slots that exist already are kept.
 *  @param buffers  a set
 *  @param slots    at least 1
 *  @retval KMB_ERR_INVALID  no slots, or more than the caller's pointers allow
 *  @retval KMB_ERR_NOMEM    beyond the device's memory budget, or out of
 *                           memory; what existed before is kept
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK, or what a fill callback returned
 *  @thread the device's user
 *  @blocks while memory is filled
 *  @since 0.1 */
KMB_API kmb_status kmb_buffers_prepare(kmb_buffers *buffers, uint32_t slots);

/** Device pointer of a buffer in a prepared slot.
 *  @param buffers       a set
 *  @param slot          below kmb_buffers_info::slots
 *  @param index         of the descriptor
 *  @param[out] pointer  owned by the set (or by the caller, for
 *                       KMB_FILL_CALLER), valid until the set is destroyed or
 *                       measured in several kmb_bench_params::rounds, which
 *                       take fresh memory
 *  @retval KMB_ERR_INVALID  NULL, or no such slot or buffer
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_buffers_pointer(const kmb_buffers *buffers,
                                       uint32_t slot, uint64_t index,
                                       void **pointer);

/** Sizes of a set.
 *  @param buffers    a set
 *  @param[out] info  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL or too small a `struct_size`
 *  @retval KMB_ERR_FORKED   the device belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_buffers_get_info(const kmb_buffers *buffers,
                                        kmb_buffers_info *info);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
