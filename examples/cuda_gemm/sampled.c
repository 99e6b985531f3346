#include "sampled.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 1024 };

double sampled_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value = 0;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

static double error_of(const uint16_t *w, const uint16_t *x, uint16_t y,
                       size_t inner) {
  double sum = 0;
  double size = 0;
  for (size_t i = 0; i < inner; i++) {
    double product = sampled_bf16(w[i]) * sampled_bf16(x[i]);
    sum += product;
    size += fabs(product);
  }
  double allowed = fabs(sum) * 0x1p-8 + size * 0x1p-20;
  double error = fabs(sampled_bf16(y) - sum);
  /* What is no number is no small error. */
  if (!(error >= 0)) return INFINITY;
  return allowed > 0 ? error / allowed : error > 0 ? INFINITY : 0;
}

double sampled_error(const uint16_t *weights, const uint16_t *in,
                     const uint16_t *out, size_t rows, size_t inner,
                     size_t tokens) {
  size_t count = rows * tokens;
  size_t samples = count < SAMPLES ? count : SAMPLES;
  double worst = 0;
  for (size_t i = 0; i < samples; i++) {
    /* One in each stretch, at a place that moves. */
    size_t from = count * i / samples;
    size_t to = count * (i + 1) / samples;
    size_t at = from + i * 7919 % (to - from);
    double error = error_of(weights + at % rows * inner, in + at / rows * inner,
                            out[at], inner);
    if (error > worst) worst = error;
  }
  return worst;
}
