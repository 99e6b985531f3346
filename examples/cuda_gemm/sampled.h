/* The check: some outputs, summed anew in double precision. */
#ifndef CUDA_GEMM_SAMPLED_H
#define CUDA_GEMM_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

double sampled_bf16(uint16_t bits);

/* The largest error of 1024 outputs, spread over all of them, in units of what
 * is allowed: half a step of bf16, twice over, of the output itself, and for
 * the sum in fp32 2^-20 of the sum of the products' sizes. */
double sampled_error(const uint16_t *weights, const uint16_t *in,
                     const uint16_t *out, size_t rows, size_t inner,
                     size_t tokens);

#endif
