/* The part of cuBLASLt's interface that is used, declared by us: the build
 * needs no SDK. tests/cuda/layout.c compares it with the real header. */
#ifndef KMB_BACKENDS_CUDA_LT_API_H
#define KMB_BACKENDS_CUDA_LT_API_H

#include "driver_api.h"

typedef struct cublasLtContext *kmbi_lt_handle;
typedef void *kmbi_lt_matmul; /* descriptions of a product, */
typedef void *kmbi_lt_layout; /* a matrix */
typedef void *kmbi_lt_wish;   /* and what is asked of candidates */
typedef unsigned kmbi_lt_result;
typedef unsigned kmbi_lt_enum;

/* A way to compute a product, of 64 bytes that only the library reads. */
typedef struct kmbi_lt_algorithm {
  uint64_t data[8];
} kmbi_lt_algorithm;

typedef struct kmbi_lt_candidate {
  kmbi_lt_algorithm algorithm;
  size_t workspace;
  kmbi_lt_result state;
  float waves;
  int reserved[4];
} kmbi_lt_candidate;

enum {
  KMBI_LT_SUCCESS = 0,
  KMBI_LT_ALLOC_FAILED = 3,
  KMBI_LT_ARCH_MISMATCH = 8,
  KMBI_LT_NOT_SUPPORTED = 15,
  KMBI_LT_TRANSPOSE_A = 3, /* attributes of a product */
  KMBI_LT_MOST_WORKSPACE = 1,
  KMBI_LT_PLAIN = 0,
  KMBI_LT_TRANSPOSED = 1
};

/* Types of elements and of computing. */
enum {
  KMBI_LT_F32 = 0,
  KMBI_LT_F64 = 1,
  KMBI_LT_F16 = 2,
  KMBI_LT_I8 = 3,
  KMBI_LT_I32 = 10,
  KMBI_LT_BF16 = 14,
  KMBI_LT_E4M3 = 28,
  KMBI_LT_COMPUTE_F32 = 68,
  KMBI_LT_COMPUTE_F64 = 70,
  KMBI_LT_COMPUTE_I32 = 72,
  KMBI_LT_COMPUTE_TF32 = 77
};

/* X(name, arguments): all are needed. */
#define KMBI_LT_MAP(X)                                                        \
  X(cublasLtCreate, (kmbi_lt_handle * handle))                                \
  X(cublasLtDestroy, (kmbi_lt_handle handle))                                 \
  X(cublasLtMatmulDescCreate,                                                 \
    (kmbi_lt_matmul * matmul, kmbi_lt_enum compute, kmbi_lt_enum scale))      \
  X(cublasLtMatmulDescDestroy, (kmbi_lt_matmul matmul))                       \
  X(cublasLtMatmulDescSetAttribute,                                           \
    (kmbi_lt_matmul matmul, kmbi_lt_enum attribute, const void *value,        \
     size_t bytes))                                                           \
  X(cublasLtMatrixLayoutCreate,                                               \
    (kmbi_lt_layout * layout, kmbi_lt_enum type, uint64_t rows,               \
     uint64_t columns, int64_t leading))                                      \
  X(cublasLtMatrixLayoutDestroy, (kmbi_lt_layout layout))                     \
  X(cublasLtMatmulPreferenceCreate, (kmbi_lt_wish * wish))                    \
  X(cublasLtMatmulPreferenceDestroy, (kmbi_lt_wish wish))                     \
  X(cublasLtMatmulPreferenceSetAttribute,                                     \
    (kmbi_lt_wish wish, kmbi_lt_enum attribute, const void *value,            \
     size_t bytes))                                                           \
  X(cublasLtMatmulAlgoGetHeuristic,                                           \
    (kmbi_lt_handle handle, kmbi_lt_matmul matmul, kmbi_lt_layout a,          \
     kmbi_lt_layout b, kmbi_lt_layout c, kmbi_lt_layout d, kmbi_lt_wish wish, \
     int wanted, kmbi_lt_candidate *candidates, int *count))                  \
  X(cublasLtMatmul,                                                           \
    (kmbi_lt_handle handle, kmbi_lt_matmul matmul, const void *alpha,         \
     const void *a, kmbi_lt_layout a_layout, const void *b,                   \
     kmbi_lt_layout b_layout, const void *beta, const void *c,                \
     kmbi_lt_layout c_layout, void *d, kmbi_lt_layout d_layout,               \
     const kmbi_lt_algorithm *algorithm, void *workspace, size_t bytes,       \
     kmbi_cu_stream stream))

typedef struct kmbi_lt_api {
#define KMBI_LT_FIELD(name, arguments) kmbi_lt_result(*name) arguments;
  KMBI_LT_MAP(KMBI_LT_FIELD)
#undef KMBI_LT_FIELD
} kmbi_lt_api;

#endif
