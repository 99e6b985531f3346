/* Statistics at their borders: ties, thresholds met just and just not. */
#include "require.h"

#include <math.h>
#include <stats.h>

enum { MANY = 40000 };

static double samples[MANY], scratch[MANY];

/* --- design effect ------------------------------------------------------ */

/* Samples that tie with the median are on neither side: blocks of 100 that lie
 * below (4), at (8) and above it (4) have means -1, 0 and 1, a variance of 1/2
 * and 8/15 between them. */
static void ties_with_the_median_are_on_neither_side(void) {
  for (int i = 0; i < 1600; i++) {
    int b = i / 100 % 4;
    samples[i] = b == 0 ? 1 : b == 3 ? 3 : 2;
  }
  REQUIRE_NEAR(kmbi_design_effect(samples, 1600, 2), 100.0 * 8 / 15 / 0.5,
               1e-9);
}

/* --- drift -------------------------------------------------------------- */

/* As much as half a tick is still the clock's. */
static void a_difference_of_exactly_half_a_tick_is_no_drift(void) {
  double relative = 0;
  for (int i = 0; i < 640; i++)
    samples[i] = i;
  REQUIRE(!kmbi_drift(samples, 640, 960, scratch, &relative));
  REQUIRE(kmbi_drift(samples, 640, 959.9, scratch, &relative));
}

/* Blocks of 2000; `swing` per mille of a block lie on the other side in turn.
 */
static void fill_swinging_trend(int swing) {
  for (int i = 0; i < 32000; i++) {
    int b = i / 2000, above = 1000 + (b % 2 ? -swing : swing);
    above += b < 4 ? -300 : b < 12 ? 0 : 300;
    samples[i] = i % 2000 < above ? 3 : 1;
  }
}

/* With steps of side a, 0.6 over the root of a sixtieth of 13 (2a)^2 + 2 (2a +
 * 0.3)^2 is 4.5 at a = 0.1032. */
static void drift_stands_out_at_its_threshold(void) {
  double relative = 0;
  fill_swinging_trend(103);
  REQUIRE(kmbi_drift(samples, 32000, 0, scratch, &relative));
  fill_swinging_trend(104);
  REQUIRE(!kmbi_drift(samples, 32000, 0, scratch, &relative));
}

/* Two values, the share of the higher rising from 30 to 70%: the quarters'
 * medians differ by both values' distance, and the interval, which knows of the
 * trend, is several times as wide. */
static void fill_rising_share(size_t n, double apart) {
  uint64_t seed = 5;
  for (size_t i = 0; i < n; i++) {
    double share = 0.3 + 0.4 * (double)i / (double)n;
    samples[i] = kmbi_uniform(&seed) < share ? 1 + apart : 1;
  }
}

static void a_trend_below_the_target_is_not_dropped(void) {
  kmbi_interval interval;
  double relative = 0;
  fill_rising_share(20000, 0.02);
  kmbi_rule rule = {.min_samples = 50, .min_wall_ns = 1, .seed = 1};
  REQUIRE(kmbi_drift(samples, 20000, 0, scratch, &relative));
  REQUIRE_NEAR(relative, 0.02, 0.001);
  rule.target = 0.015;
  REQUIRE_EQ(kmbi_look(&rule, samples, 20000, 1e9, scratch, &interval),
             KMBI_DROP_HALF);
  rule.target = 0.025;
  REQUIRE(interval.half > 2 * rule.target);
  REQUIRE_EQ(kmbi_look(&rule, samples, 20000, 1e9, scratch, &interval),
             KMBI_GO_ON);
}

/* --- modes -------------------------------------------------------------- */

/* `high` samples of 200 among n, the others 100. */
static bool found(size_t n, size_t high, kmbi_modes *m) {
  for (size_t i = 0; i < n; i++)
    samples[i] = i < high ? 200 : 100;
  return kmbi_bimodal(samples, n, 0, scratch, m);
}

/* A mode holds 6 of 128 parts, 4.7%, at least; at either end. */
static void a_mode_has_a_least_share(void) {
  kmbi_modes m;
  REQUIRE(!found(10000, 430, &m));
  REQUIRE(found(10000, 500, &m));
  REQUIRE_NEAR(m.share, 0.05, 0);
  REQUIRE(!found(10000, 9570, &m));
  REQUIRE(found(10000, 9500, &m));
  REQUIRE_NEAR(m.share, 0.05, 0);
}

/* ... and 24 samples at least: 8 of 128 parts of 384. */
static void a_mode_has_a_least_number_of_samples(void) {
  kmbi_modes m;
  REQUIRE(found(384, 26, &m));
  REQUIRE(!found(384, 23, &m));
  REQUIRE(!found(128, 23, &m));
  REQUIRE(found(128, 27, &m));
}

/* The dither that spreads ties leaves the centres where they are. */
static void dither_does_not_move_the_modes(void) {
  kmbi_modes m;
  for (size_t i = 0; i < 1000; i++)
    samples[i] = i % 4 ? 100 : 200;
  REQUIRE(kmbi_bimodal(samples, 1000, 25, scratch, &m));
  REQUIRE_NEAR(m.low, 100, 3);
  REQUIRE_NEAR(m.high, 200, 5);
  REQUIRE_NEAR(m.share, 0.25, 0);
}

/* A width that is nothing beside the largest samples opens no window there. */
static void widths_may_vanish_beside_the_samples(void) {
  kmbi_modes m;
  uint64_t seed = 3;
  for (size_t i = 0; i < 1000; i++)
    samples[i] = i % 2 ? 1 : 1e-300 * (1 + kmbi_uniform(&seed));
  REQUIRE(kmbi_bimodal(samples, 1000, 0, scratch, &m));
  REQUIRE(m.low < 1e-299 && m.high == 1 && m.share == 0.5);
}

/* A wide mode beside a narrow one: only a wider window sees it. */
static void modes_may_differ_in_width(void) {
  kmbi_modes m;
  for (size_t i = 0; i < 2000; i++)
    samples[i] = i % 2 ? 1000 + (double)(i % 21) : 1500 + (double)(i % 301);
  REQUIRE(kmbi_bimodal(samples, 2000, 1, scratch, &m));
  REQUIRE_NEAR(m.low, 1010, 3);
  REQUIRE_NEAR(m.high, 1650, 20);
  REQUIRE_NEAR(m.share, 0.5, 0.01);
}

/* Modes three deviations apart in 1500 samples: seed 9 needs windows of 13
 * steps, seed 14 windows of 9. */
static void close_modes_need_wider_windows(void) {
  for (uint64_t seed = 9; seed <= 14; seed += 5) {
    kmbi_modes m;
    uint64_t state = seed;
    for (int i = 0; i < 1500; i++) {
      double centre = kmbi_uniform(&state) < 0.5 ? 1030 : 1000;
      double u = 1 - kmbi_uniform(&state);
      double v = kmbi_uniform(&state);
      samples[i] = centre + 10 * sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
    }
    REQUIRE(kmbi_bimodal(samples, 1500, 0, scratch, &m));
  }
}

int main(void) {
  RUN(ties_with_the_median_are_on_neither_side);
  RUN(a_difference_of_exactly_half_a_tick_is_no_drift);
  RUN(drift_stands_out_at_its_threshold);
  RUN(a_trend_below_the_target_is_not_dropped);
  RUN(a_mode_has_a_least_share);
  RUN(a_mode_has_a_least_number_of_samples);
  RUN(dither_does_not_move_the_modes);
  RUN(widths_may_vanish_beside_the_samples);
  RUN(modes_may_differ_in_width);
  RUN(close_modes_need_wider_windows);
  return 0;
}
