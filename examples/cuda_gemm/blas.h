/* What the example uses of cuBLAS and of the driver, both opened at run time:
 * the program builds without NVIDIA's SDK and starts without their library. */
#ifndef CUDA_GEMM_BLAS_H
#define CUDA_GEMM_BLAS_H

#include <kmb/base.h>

typedef struct blas blas;

/* NULL if cuBLAS or the driver is absent; `why` then says so. */
blas *blas_open(const char **why);
void blas_close(blas *b);

/* Makes the handle and its workspace in the current context, once. */
kmb_status blas_prepare(blas *b);

/* out = in · weightsᵀ in bf16 with sums in fp32, all row by row: in is
 * tokens × inner, weights rows × inner, out tokens × rows. */
kmb_status blas_project(blas *b, void *stream, const void *weights,
                        const void *in, void *out, int rows, int inner,
                        int tokens);

/* As cuBLAS gives it, 130002 for 13.0.2; 0 before blas_prepare(). */
int blas_version(const blas *b);

#endif
