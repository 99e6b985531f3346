/* The references of examples/host_gemm must accept what a good library gives
 * and reject what a wrong one does. */
#include "require.h"

#include "host_gemm/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { ROWS = 100, INNER = 1030, TOKENS = 11 }; /* no multiple of any block */

static float w[ROWS * INNER], x[TOKENS * INNER], y[TOKENS * ROWS];

static float next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

/* What a plain fp32 loop gives. */
static void multiply(void) {
  uint32_t state = 1;
  for (size_t i = 0; i < sizeof w / sizeof *w; i++)
    w[i] = next(&state);
  for (size_t i = 0; i < sizeof x / sizeof *x; i++)
    x[i] = next(&state);
  for (size_t t = 0; t < TOKENS; t++)
    for (size_t r = 0; r < ROWS; r++) {
      float sum = 0;
      for (size_t k = 0; k < INNER; k++)
        sum += w[r * INNER + k] * x[t * INNER + k];
      y[t * ROWS + r] = sum;
    }
}

static double error(size_t tokens) {
  return reference_gemm(w, x, y, ROWS, INNER, tokens);
}

static void a_plain_product_is_accepted(void) {
  multiply();
  REQUIRE(error(TOKENS) > 0);
  REQUIRE(error(TOKENS) <= reference_gemm_tolerance(INNER));
  REQUIRE(error(1) <= reference_gemm_tolerance(INNER));
}

static bool rejected(void) {
  return error(TOKENS) > reference_gemm_tolerance(INNER);
}

/* 1/4 is the mean size of a product: what a sum lacks that skips one. */
static void a_product_that_is_missing_anywhere_is_noticed(void) {
  multiply();
  for (size_t i = 0; i < sizeof y / sizeof *y; i++) {
    float kept = y[i];
    y[i] = kept + 0.25f;
    REQUIRE(rejected());
    y[i] = kept;
  }
  static const size_t rows[] = {0, 63, 64, 99};
  for (size_t r = 0; r < 4; r++)
    for (size_t k = r; k < INNER; k += 4) { /* in all, each block's edges */
      float *at = &w[rows[r] * INNER + k], kept = *at;
      *at = kept + 1;
      REQUIRE(rejected());
      *at = kept;
    }
  REQUIRE(!rejected());
}

static void an_output_that_is_no_number_is_noticed(void) {
  static const int places[] = {0, ROWS * 8 - 1, ROWS * 8, TOKENS * ROWS - 1};
  for (size_t i = 0; i < 4; i++) {
    multiply();
    y[places[i]] = NAN;
    REQUIRE(error(TOKENS) == HUGE_VAL);
    y[places[i]] = INFINITY;
    REQUIRE(error(TOKENS) == HUGE_VAL);
  }
}

static void triad_accepts_either_rounding_and_no_more(void) {
  double b[3], c[3], a[3];
  uint32_t state = 5;
  for (size_t i = 0; i < 3; i++) {
    b[i] = (double)next(&state) / 3;
    c[i] = (double)next(&state) / 3;
    a[i] = fma(3, c[i], b[i]);
  }
  double tolerance = reference_triad_tolerance(3);
  REQUIRE(reference_triad(a, b, c, 3, 3) <= tolerance);
  for (size_t i = 0; i < 3; i++) {
    double kept = a[i];
    a[i] += 4 * tolerance;
    REQUIRE(reference_triad(a, b, c, 3, 3) > tolerance);
    a[i] = NAN;
    REQUIRE(reference_triad(a, b, c, 3, 3) == HUGE_VAL);
    a[i] = kept;
  }
}

int main(void) {
  RUN(a_plain_product_is_accepted);
  RUN(a_product_that_is_missing_anywhere_is_noticed);
  RUN(an_output_that_is_no_number_is_noticed);
  RUN(triad_accepts_either_rounding_and_no_more);
  return 0;
}
