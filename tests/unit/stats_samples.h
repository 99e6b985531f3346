/* Samples for the tests of statistics. */
#ifndef KMB_TESTS_STATS_SAMPLES_H
#define KMB_TESTS_STATS_SAMPLES_H

#include <math.h>
#include <stats.h>

#define MANY 1000000

static double samples[MANY], scratch[MANY];

/* Two uniforms make a normal deviate. */
static inline double normal(uint64_t *seed) {
  double u = 1 - kmbi_uniform(seed), v = kmbi_uniform(seed);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline void fill_normal(size_t n, double mean, double sigma,
                               uint64_t seed) {
  for (size_t i = 0; i < n; i++)
    samples[i] = mean + sigma * normal(&seed);
}

static inline void fill_ar1(size_t n, double mean, double sigma,
                            uint64_t seed) {
  double a = normal(&seed);
  for (size_t i = 0; i < n; i++) {
    samples[i] = mean + sigma * a;
    a = 0.9 * a + sqrt(0.19) * normal(&seed);
  }
}

static inline void quantise(size_t n, double tick) {
  for (size_t i = 0; i < n; i++)
    samples[i] = floor(samples[i] / tick + 0.5) * tick;
}

#endif
