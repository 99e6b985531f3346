/**
 * @file work.h
 * How many operations an algorithm needs and how few bytes it can move.
 */
#ifndef KMB_WORK_H
#define KMB_WORK_H

#include <kmb/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup work Work
 *  FLOPs and least bytes by stated conventions. *Least* bytes are what any
 *  implementation must move through memory, each operand once; they are never
 *  mixed with the bytes a kernel touches or a program allocates.
 *  @{ */

/** Work of one launch. */
typedef struct kmb_work {
  size_t struct_size;
  uint64_t flops;       /**< 0: the operation is counted in bytes only */
  uint64_t read_bytes;  /**< least bytes read */
  uint64_t write_bytes; /**< least bytes written */
  /** How it was counted, one sentence; NULL for a caller's own count. The
   *  functions below set static strings. */
  const char *convention;
  kmb_dtype dtype; /**< of the arithmetic; chooses the compute ceiling */
  uint32_t flags;  /**< must be 0 */
} kmb_work;

static inline kmb_work kmb_work_init(void) {
  kmb_work work;
  memset(&work, 0, sizeof work);
  work.struct_size = sizeof work;
  return work;
}

/** General matrix product, D = A·B with A m×k and B k×n: 2·m·n·k FLOPs;
 *  bytes of A, B and D once each (no C: β = 0).
 *  @param m, n, k    at least 1
 *  @param dtype      of A, B, D and the arithmetic
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, a zero dimension, an unknown dtype, or a
 *                           count beyond 64 bits; `work` is then unchanged
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_gemm(uint64_t m, uint64_t n, uint64_t k,
                                 kmb_dtype dtype, kmb_work *work);

/** Element-wise operation over `n` elements. A store that the hardware turns
 *  into a read and a write (write-allocate) counts once.
 *  @param n                  elements, at least 1
 *  @param inputs             arrays read once each
 *  @param outputs            arrays written once each
 *  @param flops_per_element  0 for an operation counted in bytes only
 *  @param dtype              of every array and of the arithmetic
 *  @param[out] work          written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, no elements, neither inputs nor outputs, an
 *                           unknown dtype, or a count beyond 64 bits
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_elementwise(uint64_t n, uint32_t inputs,
                                        uint32_t outputs,
                                        uint32_t flops_per_element,
                                        kmb_dtype dtype, kmb_work *work);

/** Copy of `bytes`: as many read as written, no FLOPs.
 *  @param bytes      at least 1
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, no bytes, or a sum beyond 64 bits
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_copy(uint64_t bytes, kmb_work *work);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
