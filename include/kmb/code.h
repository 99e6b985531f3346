/**
 * @file code.h
 * The code that a device runs: which kernels were launched, how, and the images
 * that they come from.
 */
#ifndef KMB_CODE_H
#define KMB_CODE_H

#include <kmb/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup code Code
 *  docs/code.md shows what to do with it.
 *  @{ */

enum {
  KMB_CODE_HASH_SIZE = 65 /**< bytes of a hash as text, its 0 included */
};

/** Kernels that were launched during a capture, with their images. */
typedef struct kmb_code kmb_code;

enum {
  KMB_CODE_HAS_ATTRIBUTES = 1u << 0, /**< registers to max_threads are known */
  KMB_CODE_HAS_OCCUPANCY = 1u << 1,  /**< blocks_per_unit is known */
  KMB_CODE_HAS_SCALARS = 1u << 2,    /**< scalar_registers is known */
  KMB_CODE_HAS_ACCUMULATORS = 1u << 3, /**< accumulator_registers is known */
  KMB_CODE_HAS_SPILLS = 1u << 4 /**< both counts of spilled registers are */
};

/** A kernel with one launch configuration. */
typedef struct kmb_code_kernel {
  size_t struct_size;
  const char *name; /**< as the code object has it (C++: mangled) */
  /** Of the code: "sm_90", "gfx942:sramecc+:xnack-"; "" if not known. */
  const char *arch;
  const char *hash; /**< of its image, see kmb_code_hash(); NULL: none */
  /** Why there is no image, or what could not be asked; NULL: nothing. */
  const char *reason;
  uint64_t launches;
  uint64_t registers; /**< of a thread, as its code needs them; AMD: VGPRs */
  uint64_t static_shared_bytes; /**< of a block; AMD: LDS */
  /** Of a thread: spills, arrays, frames of calls; AMD: scratch. */
  uint64_t local_bytes;
  uint64_t max_threads; /**< of a block of this kernel */
  uint64_t dynamic_shared_bytes;
  uint64_t blocks_per_unit; /**< that a multiprocessor can hold at once */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t flags; /**< KMB_CODE_HAS_… */
  uint32_t reserved;
  /** As people write it; NULL: it is no name of C++, or the process has no
   *  library loaded that reads such names (libstdc++). */
  const char *demangled;
  const char
      *file; /**< of its image, as kmb_code_save() names it; NULL: none */
  /** Of its instructions alone: two images may differ and hold the same. NULL:
   *  it is not known where they stand. */
  const char *code_hash;
  uint64_t code_offset; /**< where its instructions begin in the image */
  uint64_t code_bytes;  /**< how many bytes they take; 0: not known */
  /** AMD's: of a wavefront the SGPRs, of a thread the AGPRs, and registers that
   *  the compiler spilled: VGPRs, SGPRs. */
  uint64_t scalar_registers;
  uint64_t accumulator_registers;
  uint64_t spilled_registers;
  uint64_t spilled_scalar_registers;
} kmb_code_kernel;

static inline kmb_code_kernel kmb_code_kernel_init(void) {
  kmb_code_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.struct_size = sizeof kernel;
  return kernel;
}

/** What a capture could not see. */
typedef struct kmb_code_info {
  size_t struct_size;
  uint64_t kernels;        /**< that kmb_code_get_kernel() gives */
  uint64_t images;         /**< code objects that were loaded meanwhile */
  uint64_t graph_launches; /**< of graphs, whose kernels are not seen */
  uint64_t elsewhere; /**< launches in other contexts: of other devices, say */
} kmb_code_info;

static inline kmb_code_info kmb_code_info_init(void) {
  kmb_code_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  return info;
}

/** The work whose code is wanted. Anything but ::KMB_OK ends the capture with
 *  that status. */
typedef kmb_status (*kmb_code_run_fn)(void *user);

/** Runs a callback and keeps which kernels are launched meanwhile, by whatever
 *  thread and library, and the code objects that are loaded. Nothing is timed
 *  meanwhile, and nothing stays on afterwards. A code object that was loaded
 *  before is not seen, and its kernels say so: capture their first launch.
 *  @param device     a device of a backend that can capture: CUDA, and HIP
 * where it was opened as "hip:0:trace" before HIP started
 *  @param run        launches the work; it need not wait for it
 *  @param user       passed to `run`
 *  @param[out] code  the new handle; free it with kmb_code_destroy(); NULL on
 *                    failure
 *  @retval KMB_ERR_INVALID      a NULL argument
 *  @retval KMB_ERR_UNSUPPORTED  the backend, or its tracer, cannot capture code
 *  @retval KMB_ERR_UNAVAILABLE  the vendor's tracer (CUPTI, rocprofiler-sdk) is
 *                               absent, or was not asked for in time
 *  @retval KMB_ERR_BUSY         the device is in use, or a measurement, a
 *                               recording or another tool traces this process
 *  @retval KMB_ERR_PERM         the driver reserves tracing for administrators
 *  @retval KMB_ERR_NOMEM        out of memory, now or while capturing
 *  @retval KMB_ERR_LOST         the device was lost
 *  @retval KMB_ERR_FORKED       the device was opened by an ancestor
 *  @return KMB_OK, what `run` returned, or what the backend returned
 *  @thread any; one call a device at a time
 *  @blocks while `run` runs, and up to two seconds while a measurement of
 *          another thread ends
 *  @since 0.1 */
KMB_API kmb_status kmb_code_capture(kmb_device *device, kmb_code_run_fn run,
                                    void *user, kmb_code **code);

/** Frees a capture.
 *  @param code  a capture or NULL
 *  @thread any; once, when no other thread uses it
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_code_destroy(kmb_code *code);

/** How much a capture holds, and what it could not see.
 *  @param code       a capture
 *  @param[out] info  start from kmb_code_info_init()
 *  @retval KMB_ERR_INVALID  NULL, or too small a struct
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_code_get_info(const kmb_code *code, kmb_code_info *info);

/** One kernel, in the order of first launches.
 *  @param code         a capture
 *  @param index        below kmb_code_info::kernels
 *  @param[out] kernel  start from kmb_code_kernel_init(); its texts belong to
 *                      the capture
 *  @retval KMB_ERR_INVALID  NULL, too small a struct, or no such kernel
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_code_get_kernel(const kmb_code *code, uint64_t index,
                                       kmb_code_kernel *kernel);

/** The code object that a kernel comes from, as it was loaded: a cubin, or
 *  AMD's.
 *  @param code        a capture
 *  @param index       of the kernel
 *  @param[out] image  its bytes, owned by the capture
 *  @param[out] bytes  how many
 *  @retval KMB_ERR_INVALID      NULL, or no such kernel
 *  @retval KMB_ERR_UNAVAILABLE  there is none; the message says why
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_code_get_image(const kmb_code *code, uint64_t index,
                                      const void **image, uint64_t *bytes);

/** Writes each code object once into a folder, which is made if it is not
 *  there: NAME.cubin of its first kernel, of AMD's NAME.hsaco; characters that
 *  do not belong into a file's name become _, and what would be a name twice,
 *  or is longer than 100 characters, gets the first digits of the hash. What
 *  stands there already under a name is replaced. `kmb code RESULT.json` looks
 *  into the folder RESULT.d beside the result.
 *  @param code    a capture
 *  @param folder  such as "result.d"
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_IO       a folder or file cannot be written; the message
 *                           names it
 *  @return KMB_OK
 *  @thread any
 *  @blocks while it writes
 *  @since 0.1 */
KMB_API kmb_status kmb_code_save(const kmb_code *code, const char *folder);

/** The identity of a code object, or of any other bytes: SHA-256, as
 *  `sha256sum` prints it.
 *  @param image  the bytes; NULL if there are none
 *  @param bytes  how many
 *  @param[out] text  room for ::KMB_CODE_HASH_SIZE bytes: 64 hexadecimal digits
 *                   and a 0
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_code_hash(const void *image, uint64_t bytes, char *text);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
