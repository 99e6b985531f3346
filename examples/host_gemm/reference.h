/* Plain references in double precision, and the tolerances that go with
 * them. */
#ifndef HOST_GEMM_REFERENCE_H
#define HOST_GEMM_REFERENCE_H

#include <stddef.h>

/* Compares y (tokens×rows) with x·Wᵀ, every output. Returns the largest error,
 * each relative to Σ|w·x| of its output; infinite if an output is not a
 * number. */
double reference_gemm(const float *w, const float *x, const float *y,
                      size_t rows, size_t inner, size_t tokens);

/* 8·√k·u with u = 2^-24, the unit roundoff of fp32: a sum of k products in any
 * order, with or without fused multiply-add, stays within λ·√k·u of Σ|w·x| but
 * for a probability of about 2·exp(-λ²/2) an operation (Higham and Mary, 2019);
 * for λ = 8 that is 10^-14. The worst case, k·u, would not notice a product
 * that is missing. */
double reference_gemm_tolerance(size_t inner);

/* Compares a with b + s·c. Returns the largest absolute error. */
double reference_triad(const double *a, const double *b, const double *c,
                       double s, size_t n);

/* For b and c in [-1, 1]: two roundings of at most u·|s·c| and
 * u·(1 + |s|)(1 + u), with u = 2^-53, here and in the code under test. */
double reference_triad_tolerance(double s);

#endif
