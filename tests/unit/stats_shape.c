/* What the samples look like: drift and modes. */
#include "require.h"
#include "stats_samples.h"

/* --- drift -------------------------------------------------------------- */

static void drift_is_raised_with_its_size(void) {
  fill_normal(1500, 1000, 10, 21);
  for (size_t i = 0; i < 1500; i++)
    samples[i] += 200 * exp(-(double)i / 400);
  double relative = 0;
  REQUIRE(kmbi_drift(samples, 1500, 1, scratch, &relative));
  REQUIRE(relative < -0.1 && relative > -0.2);
  for (size_t i = 0; i < 1500; i++)
    samples[i] = 1000 + 0.02 * (double)i + (double)(i % 7);
  REQUIRE(kmbi_drift(samples, 1500, 0, scratch, &relative));
  REQUIRE_NEAR(relative, 22.5 / 1018, 0.0005);
}

static void drift_below_half_a_tick_is_the_clocks(void) {
  for (size_t i = 0; i < 1500; i++)
    samples[i] = 1000 + 0.02 * (double)i + (double)(i % 7);
  double relative = 0;
  REQUIRE(kmbi_drift(samples, 1500, 44, scratch, &relative));
  REQUIRE(!kmbi_drift(samples, 1500, 46, scratch, &relative));
}

static void drift_needs_sixty_four_samples(void) {
  for (size_t i = 0; i < 64; i++)
    samples[i] = (double)i;
  double relative = 7;
  REQUIRE(!kmbi_drift(samples, 63, 0, scratch, &relative));
  REQUIRE(relative == 0);
  (void)kmbi_drift(samples, 64, 0, scratch, &relative);
  REQUIRE_NEAR(relative, 48 / 31.5, 1e-12);
}

static void drift_of_constant_samples_is_none(void) {
  for (size_t i = 0; i < 100; i++)
    samples[i] = 0;
  double relative = 7;
  REQUIRE(!kmbi_drift(samples, 100, 0, scratch, &relative));
  REQUIRE(relative == 0);
}

/* Blocks of 200 whose share above the median swings by `swing` percent from
 * one to the next, the first quarter 30 below and the last 30 above. */
static void fill_swinging_trend(int swing) {
  for (int i = 0; i < 3200; i++) {
    int b = i / 200, above = 100 + (b % 2 ? -swing : swing);
    above += b < 4 ? -30 : b < 12 ? 0 : 30;
    samples[i] = i % 200 < above ? 3 : 1;
  }
}

static void drift_stands_out_at_four_and_a_half_times_its_noise(void) {
  /* 4.61 and 4.30 by hand: 0.6 over the root of a sixtieth of the squared
   * steps, 13 (2a)^2 + 2 (2a + 0.3)^2. */
  double relative = 0;
  fill_swinging_trend(10);
  REQUIRE(kmbi_drift(samples, 3200, 0, scratch, &relative));
  REQUIRE(relative == 1);
  fill_swinging_trend(11);
  REQUIRE(!kmbi_drift(samples, 3200, 0, scratch, &relative));
  REQUIRE(relative == 1);
}

static void drift_is_rare_in_stationary_runs(void) {
  int raised = 0;
  double relative = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fill_normal(1500, 1000, 50, seed * 31 + 5);
    raised += kmbi_drift(samples, 1500, 1, scratch, &relative);
    fill_ar1(64, 1000, 50, seed * 31 + 5);
    raised += kmbi_drift(samples, 64, 1, scratch, &relative);
    fill_ar1(600, 1000, 50, seed * 31 + 5);
    raised += kmbi_drift(samples, 600, 1, scratch, &relative);
  }
  REQUIRE(raised <= 9);
}

/* --- modes -------------------------------------------------------------- */

static void fill_modes(size_t n, double apart, double share, size_t stretch,
                       uint64_t seed) {
  bool high = false;
  for (size_t i = 0; i < n; i++) {
    if (i % stretch == 0) high = kmbi_uniform(&seed) < share;
    samples[i] = (high ? 1000 + apart : 1000) + 10 * normal(&seed);
  }
}

static void two_modes_are_found_with_centres_and_share(void) {
  kmbi_modes m;
  fill_modes(1500, 100, 0.3, 1, 3);
  REQUIRE(kmbi_bimodal(samples, 1500, 1, scratch, &m));
  REQUIRE_NEAR(m.low, 1000, 2);
  REQUIRE_NEAR(m.high, 1100, 2);
  REQUIRE_NEAR(m.share, 0.3, 0.04);
  fill_modes(1500, 100, 0.7, 1, 3);
  REQUIRE(kmbi_bimodal(samples, 1500, 1, scratch, &m));
  REQUIRE_NEAR(m.share, 0.3, 0.04);
}

static void modes_in_stretches_are_found(void) {
  kmbi_modes m;
  for (uint64_t seed = 0; seed < 20; seed++) {
    fill_modes(1500, 100, 0.5, 40, seed);
    REQUIRE(kmbi_bimodal(samples, 1500, 1, scratch, &m));
    REQUIRE_NEAR(m.low, 1000, 5);
    REQUIRE_NEAR(m.high, 1100, 5);
  }
}

static void close_modes_are_found_in_longer_runs(void) {
  kmbi_modes m;
  fill_modes(1500, 20, 0.5, 1, 4);
  REQUIRE(!kmbi_bimodal(samples, 1500, 1, scratch, &m));
  fill_modes(20000, 35, 0.5, 1, 4);
  REQUIRE(kmbi_bimodal(samples, 20000, 1, scratch, &m));
}

static void small_runs_show_wide_modes(void) {
  kmbi_modes m;
  fill_modes(100, 200, 0.5, 1, 6);
  REQUIRE(kmbi_bimodal(samples, 100, 1, scratch, &m));
  REQUIRE(!kmbi_bimodal(samples, 63, 1, scratch, &m));
  REQUIRE(m.low == 0 && m.high == 0 && m.share == 0);
}

static void two_values_without_noise_are_two_modes(void) {
  kmbi_modes m;
  for (size_t i = 0; i < 1000; i++)
    samples[i] = i % 4 ? 100 : 200;
  REQUIRE(kmbi_bimodal(samples, 1000, 0, scratch, &m));
  REQUIRE(m.low == 100 && m.high == 200 && m.share == 0.25);
  /* neighbouring readings of one clock are one mode, distant ones two */
  REQUIRE(!kmbi_bimodal(samples, 1000, 100, scratch, &m));
  REQUIRE(kmbi_bimodal(samples, 1000, 25, scratch, &m));
}

static void outliers_are_no_mode(void) {
  kmbi_modes m;
  for (uint64_t seed = 0; seed < 50; seed++) {
    uint64_t s = seed + 900;
    fill_normal(1500, 1000, 10, seed);
    for (size_t i = 0; i < 1500; i++)
      if (kmbi_uniform(&s) < 0.02) samples[i] *= 2;
    REQUIRE(!kmbi_bimodal(samples, 1500, 1, scratch, &m));
  }
}

static void one_mode_is_rarely_taken_for_two(void) {
  kmbi_modes m;
  int raised = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    fill_normal(1500, 1000, 50, seed * 3);
    raised += kmbi_bimodal(samples, 1500, 1, scratch, &m);
    for (size_t i = 0; i < 1500; i++)
      samples[i] = exp(samples[i] / 200);
    raised += kmbi_bimodal(samples, 1500, 0, scratch, &m);
    fill_ar1(1500, 1000, 50, seed * 3);
    raised += kmbi_bimodal(samples, 1500, 1, scratch, &m);
    fill_normal(1500, 1000 + (double)seed / 3, 16, seed);
    quantise(1500, 32);
    raised += kmbi_bimodal(samples, 1500, 32, scratch, &m);
  }
  REQUIRE(raised <= 4);
}

static void constant_samples_have_one_mode(void) {
  kmbi_modes m;
  for (size_t i = 0; i < 1000; i++)
    samples[i] = 42;
  REQUIRE(!kmbi_bimodal(samples, 1000, 0, scratch, &m));
  REQUIRE(!kmbi_bimodal(samples, 1000, 32, scratch, &m));
}

int main(void) {
  RUN(drift_is_raised_with_its_size);
  RUN(drift_below_half_a_tick_is_the_clocks);
  RUN(drift_needs_sixty_four_samples);
  RUN(drift_of_constant_samples_is_none);
  RUN(drift_stands_out_at_four_and_a_half_times_its_noise);
  RUN(drift_is_rare_in_stationary_runs);
  RUN(two_modes_are_found_with_centres_and_share);
  RUN(modes_in_stretches_are_found);
  RUN(close_modes_are_found_in_longer_runs);
  RUN(small_runs_show_wide_modes);
  RUN(two_values_without_noise_are_two_modes);
  RUN(outliers_are_no_mode);
  RUN(one_mode_is_rarely_taken_for_two);
  RUN(constant_samples_have_one_mode);
  return 0;
}
