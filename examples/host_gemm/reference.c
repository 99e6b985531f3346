#include "reference.h"

#include <math.h>
#include <string.h>

enum {
  BLOCK = 8, /* tokens, or partial sums, that are worked on at once */
  PART = 256,
  ROWS = 64
};

typedef struct sums {
  double sum[BLOCK], size[BLOCK];
} sums;

/* Largest |got - want| / scale so far. Written so that NaN counts as wrong. */
static double larger(double error, double got, double want, double scale) {
  double off = fabs(got - want);
  if (!(off <= HUGE_VAL)) return HUGE_VAL;
  if (off == 0) return error;
  double relative = scale > 0 ? off / scale : HUGE_VAL;
  return relative > error ? relative : error;
}

/* One output: eight partial sums, so that the additions do not wait for each
 * other. */
static double one_token(const float *row, const float *x, size_t inner,
                        float got, double error) {
  sums s = {{0}, {0}};
  size_t k = 0;
  for (; k + BLOCK <= inner; k += BLOCK)
    for (size_t j = 0; j < BLOCK; j++) {
      double product = (double)row[k + j] * (double)x[k + j];
      s.sum[j] += product;
      s.size[j] += fabs(product);
    }
  for (; k < inner; k++) {
    double product = (double)row[k] * (double)x[k];
    s.sum[0] += product;
    s.size[0] += fabs(product);
  }
  for (size_t j = 1; j < BLOCK; j++) {
    s.sum[0] += s.sum[j];
    s.size[0] += s.size[j];
  }
  return larger(error, (double)got, s.sum[0], s.size[0]);
}

/* A part of one row against eight tokens, whose activations stand side by side
 * in `columns`, as doubles. */
static void add_part(const float *row, const double *columns, size_t count,
                     sums *s) {
  for (size_t k = 0; k < count; k++) {
    double w = (double)row[k];
    for (size_t t = 0; t < BLOCK; t++) {
      double product = w * columns[k * BLOCK + t];
      s->sum[t] += product;
      s->size[t] += fabs(product);
    }
  }
}

/* Eight tokens against up to ROWS rows, in parts of PART products, so that the
 * transposed activations stay in the nearest cache and need no memory. */
static double eight_tokens(const float *w, const float *x, const float *y,
                           size_t stride, size_t rows, size_t inner,
                           double error) {
  double columns[PART * BLOCK];
  sums all[ROWS];
  memset(all, 0, sizeof all);
  for (size_t k0 = 0; k0 < inner; k0 += PART) {
    size_t count = inner - k0 < PART ? inner - k0 : PART;
    for (size_t k = 0; k < count; k++)
      for (size_t t = 0; t < BLOCK; t++)
        columns[k * BLOCK + t] = (double)x[t * inner + k0 + k];
    for (size_t r = 0; r < rows; r++)
      add_part(w + r * inner + k0, columns, count, &all[r]);
  }
  for (size_t r = 0; r < rows; r++)
    for (size_t t = 0; t < BLOCK; t++)
      error = larger(error, (double)y[t * stride + r], all[r].sum[t],
                     all[r].size[t]);
  return error;
}

double reference_gemm(const float *w, const float *x, const float *y,
                      size_t rows, size_t inner, size_t tokens) {
  double error = 0;
  size_t t = 0;
  for (; t + BLOCK <= tokens; t += BLOCK)
    for (size_t r = 0; r < rows; r += ROWS)
      error = eight_tokens(w + r * inner, x + t * inner, y + t * rows + r, rows,
                           rows - r < ROWS ? rows - r : ROWS, inner, error);
  for (; t < tokens; t++)
    for (size_t r = 0; r < rows; r++)
      error = one_token(w + r * inner, x + t * inner, inner, y[t * rows + r],
                        error);
  return error;
}

double reference_gemm_tolerance(size_t inner) {
  return 8 * sqrt((double)inner) * 0x1p-24;
}

double reference_triad(const double *a, const double *b, const double *c,
                       double s, size_t n) {
  double error = 0;
  for (size_t i = 0; i < n; i++)
    error = larger(error, a[i], b[i] + s * c[i], 1);
  return error;
}

double reference_triad_tolerance(double s) {
  double scale = fabs(s);
  return 2 * (scale + (1 + scale) * (1 + 0x1p-53)) * 0x1p-53;
}
