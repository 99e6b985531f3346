/* The check of examples/cuda_gemm. */
#include "cuda_gemm/sampled.h"

#include <math.h>
#include <stdlib.h>

#include "require.h"

enum { ROWS = 48, INNER = 64, TOKENS = 32 };

static uint16_t w[ROWS * INNER], x[TOKENS * INNER], y[TOKENS * ROWS];

/* Rounded to the nearest. */
static uint16_t bf16(double value) {
  float narrow = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void make(void) {
  uint32_t state = 1;
  for (int i = 0; i < ROWS * INNER; i++)
    w[i] =
        bf16((int)((state = state * 1664525 + 1013904223) >> 8) * 0x1p-23 - 1);
  for (int i = 0; i < TOKENS * INNER; i++)
    x[i] =
        bf16((int)((state = state * 1664525 + 1013904223) >> 8) * 0x1p-23 - 1);
  for (int t = 0; t < TOKENS; t++)
    for (int r = 0; r < ROWS; r++) {
      double sum = 0;
      for (int i = 0; i < INNER; i++)
        sum += sampled_bf16(w[r * INNER + i]) * sampled_bf16(x[t * INNER + i]);
      y[t * ROWS + r] = bf16(sum);
    }
}

static double error(void) {
  return sampled_error(w, x, y, ROWS, INNER, TOKENS);
}

static void numbers_are_read(void) {
  REQUIRE(sampled_bf16(0x3f80) == 1);
  REQUIRE(sampled_bf16(0xc000) == -2);
  REQUIRE(isnan(sampled_bf16(0x7fc0)));
}

static void what_is_right_passes(void) {
  make();
  REQUIRE(error() > 0);
  REQUIRE(error() <= 1);
}

static void two_steps_off_is_too_far(void) {
  make();
  for (int i = 0; i < ROWS * TOKENS; i++)
    y[i] = (uint16_t)(y[i] + 2);
  REQUIRE(error() > 1);
}

static void another_token_is_wrong(void) {
  make();
  memmove(y, y + ROWS, sizeof y - 2UL * ROWS);
  REQUIRE(error() > 1);
}

static void transposed_weights_are_wrong(void) {
  make();
  for (int r = 0; r < ROWS; r++)
    for (int i = 0; i < r; i++) {
      uint16_t kept = w[r * INNER + i];
      w[r * INNER + i] = w[i * INNER + r];
      w[i * INNER + r] = kept;
    }
  REQUIRE(error() > 1);
}

static void what_is_no_number_is_wrong(void) {
  make();
  for (int i = 0; i < ROWS * TOKENS; i++)
    y[i] = 0x7fc0;
  REQUIRE(isinf(error()));
}

/* Few outputs are all looked at. */
static void each_of_few_is_seen(void) {
  for (int i = 0; i < TOKENS; i++) {
    make();
    uint16_t *at = &y[i * ROWS + i];
    *at = (uint16_t)(*at ^ 0x8000);
    if ((*at & 0x7fff) == 0) continue;
    REQUIRE(sampled_error(w, x + (size_t)i * INNER, y + (size_t)i * ROWS, ROWS,
                          INNER, 1) > 1);
  }
}

int main(void) {
  numbers_are_read();
  what_is_right_passes();
  two_steps_off_is_too_far();
  another_token_is_wrong();
  transposed_weights_are_wrong();
  what_is_no_number_is_wrong();
  each_of_few_is_seen();
  puts("ok sampled");
  return 0;
}
