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

/** What the work is, for finding figures that others reached with the same. */
typedef int32_t kmb_operation;
enum {
  KMB_OPERATION_OTHER = 0,
  KMB_OPERATION_GEMM = 1,
  KMB_OPERATION_ATTENTION = 2,
  KMB_OPERATION_COPY = 3
};

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
  kmb_operation operation; /**< set by the functions below */
  int32_t reserved;        /**< must be 0 */
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

/** Scales that quantised elements bring along. They are counted: each scale
 *  once, the last block of a row whole. */
typedef int32_t kmb_scales;
enum {
  KMB_SCALES_NONE = 0,  /**< none, or one a tensor */
  KMB_SCALES_NVFP4 = 1, /**< a byte for 16 elements of a row */
  KMB_SCALES_MX = 2,    /**< MXFP4, MXFP8: a byte for 32 elements of a row */
  /** 4 bytes for 128 elements of a row of activations, for 128×128 elements of
   *  weights. */
  KMB_SCALES_BLOCK_128 = 3
};

enum {
  KMB_MATMUL_BETA = 1u << 0, /**< β ≠ 0: C is read, in D's type */
  KMB_MATMUL_BIAS = 1u << 1, /**< n elements of D's type read, mn FLOPs more */
  /** Counts α·AB as well, as CUTLASS does: 2(mnk + mn). */
  KMB_MATMUL_EPILOGUE = 1u << 2,
  /** Complex numbers: 4 times the FLOPs, elements of twice the size. */
  KMB_MATMUL_COMPLEX = 1u << 3
};

/** Matrix products D = α·A·B + β·C, A m×k, B k×n. */
typedef struct kmb_matmul_shape {
  size_t struct_size;
  uint64_t m, n, k;
  uint64_t batch;      /**< products with operands of their own; 0: 1 */
  kmb_dtype dtype;     /**< of the arithmetic */
  kmb_dtype a_dtype;   /**< 0: `dtype` */
  kmb_dtype b_dtype;   /**< 0: `dtype` */
  kmb_dtype out_dtype; /**< of C, D and the bias; 0: `dtype` */
  kmb_scales a_scales; /**< along k, as of activations */
  kmb_scales b_scales; /**< along k, as of weights */
  uint32_t flags;      /**< KMB_MATMUL_… */
  uint32_t reserved;   /**< must be 0 */
} kmb_matmul_shape;

static inline kmb_matmul_shape kmb_matmul_shape_init(void) {
  kmb_matmul_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Matrix products, with all that a product can bring: 2·m·n·k FLOPs each;
 *  bytes of A, B and D once each, C only if β ≠ 0. kmb_work_gemm() is the plain
 *  case.
 *  @param shape      what is multiplied
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, a zero dimension, an unknown dtype or
 *                               kind of scales, or a count beyond 64 bits;
 *                               `work` is then unchanged
 *  @retval KMB_ERR_UNSUPPORTED  a flag that this version does not know
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_matmul(const kmb_matmul_shape *shape,
                                   kmb_work *work);

enum {
  /** B counts only for groups that have rows, as a kernel that skips the others
   *  reads it. */
  KMB_GROUPED_USED_B = 1u << 0
};

/** Products of groups of rows, each with a B of its own: the experts of a
 *  layer, ragged or padded to the longest group and masked. */
typedef struct kmb_grouped_shape {
  size_t struct_size;
  uint64_t groups;
  uint64_t n, k;
  /** Valid rows of each group; 0 is a group without any. NULL: `m` each.
   *  Rows of padding do not count. */
  const uint64_t *rows;
  uint64_t m;
  kmb_dtype dtype;     /**< of the arithmetic */
  kmb_dtype a_dtype;   /**< 0: `dtype` */
  kmb_dtype b_dtype;   /**< 0: `dtype` */
  kmb_dtype out_dtype; /**< 0: `dtype` */
  kmb_scales a_scales;
  kmb_scales b_scales;
  uint32_t flags;    /**< KMB_GROUPED_USED_B */
  uint32_t reserved; /**< must be 0 */
} kmb_grouped_shape;

static inline kmb_grouped_shape kmb_grouped_shape_init(void) {
  kmb_grouped_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Grouped products: Σ 2·rows·n·k FLOPs over the valid rows; bytes of the valid
 *  rows of A and D, and of every group's B.
 *  @param shape      what is multiplied; at least one valid row in all
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      as kmb_work_matmul()
 *  @retval KMB_ERR_UNSUPPORTED  a flag that this version does not know
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_grouped(const kmb_grouped_shape *shape,
                                    kmb_work *work);

/** Which keys a query sees. */
typedef int32_t kmb_mask;
enum {
  KMB_MASK_NONE = 0,
  /** Query i sees keys 0 to i: the diagonal starts at the first key. */
  KMB_MASK_CAUSAL_TOP_LEFT = 1,
  /** Query i sees keys 0 to kv − q + i: the last query sees all keys, as a
   *  continued sequence needs it. */
  KMB_MASK_CAUSAL_BOTTOM_RIGHT = 2
};

typedef int32_t kmb_attention_pass;
enum {
  KMB_ATTENTION_FORWARD = 0,
  KMB_ATTENTION_BACKWARD = 1, /**< 2.5 times the FLOPs of the forward pass */
  KMB_ATTENTION_BOTH = 2      /**< 3.5 times */
};

/** How pairs of query and key are counted under a mask. */
typedef int32_t kmb_pairs;
enum {
  KMB_PAIRS_EXACT = 0, /**< each visible pair, the diagonal included */
  /** As FlashAttention's own benchmarks count, for the bottom-right mask: keys
   *  a query sees = (max(0, kv − q) + kv) ÷ 2, half a key less than exact. */
  KMB_PAIRS_AVERAGE = 1
};

/** Attention over sequences. */
typedef struct kmb_attention_shape {
  size_t struct_size;
  uint64_t batch; /**< sequences */
  uint64_t q_heads;
  uint64_t kv_heads;       /**< grouped queries: divides q_heads; 0: q_heads */
  uint64_t q_len;          /**< queries of each sequence */
  uint64_t kv_len;         /**< keys of each sequence */
  uint64_t qk_dim;         /**< of a head */
  uint64_t v_dim;          /**< of a head; 0: qk_dim */
  const uint64_t *q_lens;  /**< `batch` lengths instead of q_len, or NULL */
  const uint64_t *kv_lens; /**< `batch` lengths instead of kv_len, or NULL */
  kmb_dtype dtype;         /**< of Q and the arithmetic */
  kmb_dtype kv_dtype;      /**< 0: `dtype` */
  kmb_dtype out_dtype;     /**< 0: `dtype` */
  kmb_mask mask;
  kmb_attention_pass pass;
  kmb_pairs pairs;
} kmb_attention_shape;

static inline kmb_attention_shape kmb_attention_shape_init(void) {
  kmb_attention_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Attention: 2·pairs·(qk_dim + v_dim) FLOPs for each query head, the softmax
 *  not counted; bytes of Q, K, V and O once each (backward: Q, K, V, dO, dQ,
 *  dK, dV), keys and values for the heads of K and V only.
 *  @param shape      what attends to what
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, a zero size, q_heads that kv_heads does
 *                               not divide, KMB_PAIRS_AVERAGE with the top-left
 *                               mask, an unknown dtype, mask, pass or way to
 *                               count, no pairs, or a count beyond 64 bits;
 *                               `work` is then unchanged
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_attention(const kmb_attention_shape *shape,
                                      kmb_work *work);

/** Decoding from a paged cache: as kmb_work_attention() without a mask, with
 *  the real lengths; of the cache the tokens that are there, neither the pool
 *  nor the page table.
 *  @param shape      `kv_lens` is needed; q_len is 1 but for several new tokens
 *                    a step; no mask, forward only
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  as kmb_work_attention(); no kv_lens; a mask or a
 *                           backward pass
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_paged_decode(const kmb_attention_shape *shape,
                                         kmb_work *work);

/** Multi-head latent attention in its absorbed form: all heads share one
 *  compressed row a token, which is key and value. */
typedef struct kmb_mla_shape {
  size_t struct_size;
  uint64_t batch;
  uint64_t heads;
  uint64_t q_len;          /**< queries of each sequence */
  uint64_t kv_len;         /**< tokens of each sequence */
  uint64_t ckv_dim;        /**< compressed part, such as 512 */
  uint64_t kpe_dim;        /**< rotated part, such as 64 */
  const uint64_t *kv_lens; /**< `batch` lengths instead of kv_len, or NULL */
  kmb_dtype dtype;         /**< of Q and the arithmetic */
  kmb_dtype kv_dtype;      /**< 0: `dtype` */
  kmb_dtype out_dtype;     /**< 0: `dtype` */
  kmb_mask mask;           /**< none or bottom-right, counted exactly */
} kmb_mla_shape;

static inline kmb_mla_shape kmb_mla_shape_init(void) {
  kmb_mla_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Latent attention: 2·pairs·(2·ckv_dim + kpe_dim) FLOPs a head; bytes of Q, O
 *  and of tokens·(ckv_dim + kpe_dim) elements of cache.
 *  @param shape      what attends to what
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  as kmb_work_attention()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_mla(const kmb_mla_shape *shape, kmb_work *work);

enum {
  KMB_MOE_UNGATED = 1u << 0 /**< one product into the experts, not two */
};

/** A layer of experts. */
typedef struct kmb_moe_shape {
  size_t struct_size;
  uint64_t tokens;
  uint64_t hidden;
  uint64_t intermediate; /**< of one expert */
  uint64_t experts;
  uint64_t top_k;          /**< experts a token */
  uint64_t active_experts; /**< that a token was routed to; 0: the most there
                                can be, min(experts, tokens·top_k) */
  kmb_dtype dtype;         /**< of the input and the arithmetic */
  kmb_dtype compute_dtype; /**< 0: `dtype` */
  kmb_dtype weight_dtype;  /**< 0: `dtype` */
  kmb_dtype out_dtype;     /**< 0: `dtype` */
  kmb_dtype logits_dtype;  /**< of the router's output; 0: f32 */
  kmb_scales scales;       /**< of the input */
  kmb_scales weight_scales;
  uint32_t flags; /**< KMB_MOE_UNGATED */
} kmb_moe_shape;

static inline kmb_moe_shape kmb_moe_shape_init(void) {
  kmb_moe_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Experts: tokens·top_k·(2·hidden·2·intermediate + 2·intermediate·hidden)
 *  FLOPs when gated; bytes of the input once, the router's logits, the weights
 *  of the active experts, and the output.
 *  @param shape      the layer
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, a zero size, top_k or active_experts
 *                               above `experts`, active_experts above
 *                               tokens·top_k or below top_k, an unknown dtype
 *                               or kind of scales, or a count beyond 64 bits
 *  @retval KMB_ERR_UNSUPPORTED  a flag that this version does not know
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_moe(const kmb_moe_shape *shape, kmb_work *work);

typedef int32_t kmb_norm;
enum {
  KMB_NORM_RMS = 1,  /**< one weight a column */
  KMB_NORM_LAYER = 2 /**< a weight and a bias a column */
};

enum {
  /** Adds a residual first, which is read and written as well. */
  KMB_NORM_RESIDUAL = 1u << 0
};

/** Normalisation of rows. */
typedef struct kmb_norm_shape {
  size_t struct_size;
  uint64_t rows;
  uint64_t hidden;
  kmb_norm norm;
  kmb_dtype dtype;     /**< of input, residual and weight */
  kmb_dtype out_dtype; /**< another one: quantised; 0: `dtype` */
  uint32_t flags;      /**< KMB_NORM_RESIDUAL */
} kmb_norm_shape;

static inline kmb_norm_shape kmb_norm_shape_init(void) {
  kmb_norm_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** Normalisation. FLOPs are rough, by custom: 5 an element for RMS, 6 for
 *  layer, one more with a residual, one more when quantised; they are counted
 *  in f32 (f64 for f64). Bytes: input, weight and output once each, with a
 *  residual that twice more.
 *  @param shape      what is normalised
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, a zero size, an unknown norm or dtype, or
 *                               a count beyond 64 bits
 *  @retval KMB_ERR_UNSUPPORTED  a flag that this version does not know
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP, bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_norm(const kmb_norm_shape *shape, kmb_work *work);

/** Softmax of rows: no FLOPs (exponentials are never counted); input read and
 *  output written once.
 *  @param rows, columns  at least 1
 *  @param dtype          of the input
 *  @param out_dtype      of the output; 0: `dtype`
 *  @param[out] work      written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, a zero size, an unknown dtype, or a count
 *                           beyond 64 bits
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_softmax(uint64_t rows, uint64_t columns,
                                    kmb_dtype dtype, kmb_dtype out_dtype,
                                    kmb_work *work);

/** Activation: no FLOPs; the input read and the output written once.
 *  @param n          elements of the output, at least 1
 *  @param gated      non-zero: twice as many are read, one half gates the other
 *  @param dtype      of the input
 *  @param out_dtype  of the output; 0: `dtype`
 *  @param[out] work  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, no elements, an unknown dtype, or a count
 *                           beyond 64 bits
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_activation(uint64_t n, int gated, kmb_dtype dtype,
                                       kmb_dtype out_dtype, kmb_work *work);

typedef int32_t kmb_collective;
enum {
  KMB_ALL_REDUCE = 1,
  KMB_REDUCE_SCATTER = 2,
  KMB_ALL_GATHER = 3,
  KMB_ALL_TO_ALL = 4,
  KMB_BROADCAST = 5,
  KMB_REDUCE = 6,
  KMB_ALL_REDUCE_IN_NETWORK = 7 /**< the switches add */
};

/** Work of a collective. Algorithm bandwidth is `bytes` ÷ time, bus bandwidth
 *  that times `bus_factor`: what a link carried, to be compared with its peak.
 */
typedef struct kmb_collective_work {
  size_t struct_size;
  uint64_t bytes; /**< as given */
  double bus_factor;
  const char *convention; /**< static string */
  uint32_t ranks;
  kmb_collective collective;
} kmb_collective_work;

static inline kmb_collective_work kmb_collective_work_init(void) {
  kmb_collective_work work;
  memset(&work, 0, sizeof work);
  work.struct_size = sizeof work;
  return work;
}

/** Counts a collective as nccl-tests does. The factor is 2(n−1)/n for
 *  all-reduce, (n−1)/n for reduce-scatter, all-gather and all-to-all, 1 for
 *  broadcast and reduce, (n−1)/(n+1) for all-reduce in the network.
 *  @param collective  which
 *  @param bytes       of the array: a rank's for all-reduce, broadcast, reduce
 *                     and all-to-all, that of all ranks together for
 *                     reduce-scatter (input) and all-gather (output)
 *  @param ranks       at least 2
 *  @param[out] work   written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, an unknown collective, no bytes, fewer than
 *                           two ranks
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bytes
 *  @since 0.1 */
KMB_API kmb_status kmb_work_collective(kmb_collective collective,
                                       uint64_t bytes, uint32_t ranks,
                                       kmb_collective_work *work);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
