/* Statistics at their borders: ties, thresholds met just and just not. */
#include "require.h"

#include <math.h>
#include <stats.h>
#include <stats_blocks.h>

enum { MANY = 40000 };

static double samples[MANY], scratch[MANY];

/* --- quantiles and ranks ------------------------------------------------ */

static void the_last_quantile_reads_no_further(void) {
  const double x[] = {1, 2, 3, NAN};
  REQUIRE_NEAR(kmbi_quantile(x, 3, 1), 3, 0);
  REQUIRE_NEAR(kmbi_quantile(x, 3, 0.75), 2.5, 0);
  REQUIRE_NEAR(kmbi_quantile(x, 1, 1), 1, 0);
}

/* The largest k with 2 P(B <= k) <= 1%, summed up; 2^-n needs a logarithm. */
static size_t exact_rank(size_t n) {
  double term = -(double)n * log(2);
  double sum = exp(term);
  for (size_t k = 0;; k++) {
    term += log((double)(n - k) / (double)(k + 1));
    if (2 * (sum + exp(term)) > 0.01) return k;
    sum += exp(term);
  }
}

/* Up to 1000 they are summed; the approximation is first off at 1478, by one.
 */
static void ranks_are_the_binomials(void) {
  static const size_t further[] = {3575, 5048, 5673, 7563, 10033};
  size_t low = 0;
  size_t high = 0;
  for (size_t n = 8; n < 1478; n++) {
    REQUIRE(kmbi_median_ranks(n, &low, &high));
    REQUIRE_EQ(low, exact_rank(n));
  }
  for (size_t i = 0; i < 5; i++) {
    REQUIRE(kmbi_median_ranks(further[i], &low, &high));
    REQUIRE_EQ(low, exact_rank(further[i]));
  }
}

static void two_samples_are_two_halves(void) {
  const double x[] = {1, 5};
  REQUIRE(!kmbi_halves_agree(x, 2, 3.9, scratch));
  REQUIRE(kmbi_halves_agree(x, 2, 4, scratch));
  REQUIRE(kmbi_halves_agree(x, 1, 0, scratch));
}

static void looks_round_down(void) {
  REQUIRE_EQ(kmbi_next_look(13), 16);
  REQUIRE_EQ(kmbi_next_look(16), 20);
  REQUIRE_EQ(kmbi_next_look(19), 24);
}

/* --- dither --------------------------------------------------------------- */

/* Readings half a step from the median say where it lies. */
static void samples_beside_the_median_leave_nothing_open(void) {
  kmbi_interval interval;
  for (int i = 0; i < 20; i++)
    samples[i] = i % 2 ? 32 : 0;
  REQUIRE(kmbi_interval_of(samples, 20, 32, 1, scratch, &interval));
  REQUIRE_NEAR(interval.median, 16, 0);
  REQUIRE_NEAR(interval.tick_part, 0, 0);
}

/* --- design effect ------------------------------------------------------ */

/* Sixteen blocks are all; without variance there is no effect. */
static void a_block_effect_is_of_sixteen_blocks(void) {
  double blocks[KMBI_BLOCKS + 1];
  for (int b = 0; b <= KMBI_BLOCKS; b++)
    blocks[b] = b % 2 ? 1 : -1;
  blocks[KMBI_BLOCKS] = 1e9;
  REQUIRE_NEAR(kmbi_block_effect(blocks, 1600, 1), 100.0 * 16 / 15, 1e-9);
  REQUIRE_NEAR(kmbi_block_effect(blocks, 1600, 0), 1, 0);
}

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

/* What the clock's step alone leaves open is no reason to drop: a trend is
 * dropped while the interval is wider than twice half a step. */
static void a_trend_is_dropped_while_wider_than_a_step(void) {
  int dropped = 0;
  int kept = 0;
  for (int i = 0; i < 20000; i++)
    samples[i] = 1000 + 0.002 * i;
  for (int i = 0; i < 75; i++) {
    double tick = pow(1.05, i);
    kmbi_interval interval;
    kmbi_rule rule = {
        .min_samples = 50, .target = 1e-6, .tick = tick, .seed = 1};
    kmbi_verdict verdict =
        kmbi_look(&rule, samples, 20000, 1e9, scratch, &interval);
    double sampling = interval.half - interval.tick_part;
    if (sampling <= tick / 2) break; /* stops there */
    REQUIRE_EQ(verdict, sampling > tick ? KMBI_DROP_HALF : KMBI_GO_ON);
    dropped += verdict == KMBI_DROP_HALF;
    kept += verdict == KMBI_GO_ON;
  }
  REQUIRE(dropped > 5 && kept > 5);
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

/* 64 samples are enough; beyond as many as there are nothing is touched. */
static void modes_need_sixty_four_samples(void) {
  kmbi_modes m;
  REQUIRE(found(64, 32, &m));
  REQUIRE_NEAR(m.share, 0.5, 0);
  REQUIRE(!found(63, 31, &m));
  REQUIRE_NEAR(m.low, 0, 0);
  scratch[1000] = -7;
  REQUIRE(found(1000, 500, &m));
  REQUIRE_NEAR(scratch[1000], -7, 0);
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
  RUN(the_last_quantile_reads_no_further);
  RUN(ranks_are_the_binomials);
  RUN(two_samples_are_two_halves);
  RUN(looks_round_down);
  RUN(samples_beside_the_median_leave_nothing_open);
  RUN(a_block_effect_is_of_sixteen_blocks);
  RUN(ties_with_the_median_are_on_neither_side);
  RUN(a_difference_of_exactly_half_a_tick_is_no_drift);
  RUN(drift_stands_out_at_its_threshold);
  RUN(a_trend_below_the_target_is_not_dropped);
  RUN(a_trend_is_dropped_while_wider_than_a_step);
  RUN(a_mode_has_a_least_share);
  RUN(a_mode_has_a_least_number_of_samples);
  RUN(modes_need_sixty_four_samples);
  RUN(dither_does_not_move_the_modes);
  RUN(widths_may_vanish_beside_the_samples);
  RUN(modes_may_differ_in_width);
  RUN(close_modes_need_wider_windows);
  return 0;
}
