/* The within-run interval: ranks, design effect, dither. */
#include "require.h"
#include "stats_samples.h"

/* --- ranks -------------------------------------------------------------- */

static void median_ranks_match_binomial_tables(void) {
  /* Exact integer arithmetic; 8 to 100 are also in printed tables. */
  static const size_t table[][2] = {
      {8, 0},       {9, 0},       {11, 0},     {12, 1},      {13, 1},
      {20, 3},      {30, 7},      {50, 15},    {100, 36},    {999, 458},
      {1000, 458},  {1001, 459},  {1002, 459}, {5000, 2408}, {2626, 1246},
      {2627, 1246}, {20000, 9817}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t low = 99, high = 99, n = table[i][0];
    REQUIRE(kmbi_median_ranks(n, &low, &high));
    REQUIRE_EQ(low, table[i][1]);
    REQUIRE_EQ(high, n - 1 - low);
  }
}

static void fewer_than_eight_have_no_ranks(void) {
  size_t low = 5, high = 5;
  REQUIRE(!kmbi_median_ranks(7, &low, &high));
  REQUIRE(!kmbi_median_ranks(0, &low, &high));
  REQUIRE(kmbi_median_ranks(8, &low, &high));
  REQUIRE_EQ(high, 7);
}

static void ranks_grow_without_a_jump_where_the_approximation_starts(void) {
  size_t low = 0, high = 0, before = 0;
  REQUIRE(kmbi_median_ranks(900, &before, &high));
  for (size_t n = 901; n < 1200; n++) {
    REQUIRE(kmbi_median_ranks(n, &low, &high));
    REQUIRE(low == before || low == before + 1);
    before = low;
  }
  REQUIRE(kmbi_median_ranks(MANY, &low, &high));
  REQUIRE_EQ(low, 498711);
}

/* --- design effect ------------------------------------------------------ */

static void design_effect_of_alternating_samples_is_one(void) {
  for (size_t i = 0; i < 320; i++)
    samples[i] = i % 2 ? 3 : 1;
  REQUIRE(kmbi_design_effect(samples, 320, 2) == 1);
}

static void design_effect_of_whole_blocks_is_their_length(void) {
  for (size_t i = 0; i < 320; i++)
    samples[i] = i / 20 % 2 ? 3 : 1;
  REQUIRE_NEAR(kmbi_design_effect(samples, 320, 2), 20.0 * 16 / 15, 1e-9);
}

static void design_effect_counts_blocks_of_unequal_length(void) {
  /* 33 samples: one block has three, the last. */
  for (size_t i = 0; i < 33; i++)
    samples[i] = i < 16 ? 1 : 3;
  double blocks = 33.0 / 16 * 16 / 15, mean = 1.0 / 33;
  REQUIRE_NEAR(kmbi_design_effect(samples, 33, 2), blocks / (1 - mean * mean),
               1e-9);
}

static void design_effect_needs_two_a_block_and_some_spread(void) {
  for (size_t i = 0; i < 32; i++)
    samples[i] = i < 16 ? 1 : 3;
  REQUIRE(kmbi_design_effect(samples, 31, 2) == 1);
  REQUIRE_NEAR(kmbi_design_effect(samples, 32, 2), 2.0 * 16 / 15, 1e-9);
  for (size_t i = 0; i < 32; i++)
    samples[i] = 2;
  REQUIRE(kmbi_design_effect(samples, 32, 2) == 1);
}

static void design_effect_of_independent_samples_is_near_one(void) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 50; seed++) {
    fill_normal(1600, 100, 5, seed * 977);
    sum += kmbi_design_effect(samples, 1600, 100);
  }
  REQUIRE(sum / 50 < 1.3);
  fill_ar1(16000, 100, 5, 3);
  double d = kmbi_design_effect(samples, 16000, 100);
  REQUIRE(d > 6 && d < 30);
}

/* --- interval ----------------------------------------------------------- */

static void interval_of_eight_spans_them(void) {
  const double x[] = {5, 1, 8, 2, 7, 3, 6, 4};
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(x, 8, 0, 1, scratch, &i));
  REQUIRE(i.median == 4.5 && i.low == 1 && i.high == 8 && i.half == 3.5);
  REQUIRE(i.design_effect == 1 && i.tick_part == 0);
  REQUIRE(!kmbi_interval_of(x, 7, 0, 1, scratch, &i));
}

static void interval_takes_the_ranks_of_its_size(void) {
  for (size_t i = 0; i < 20; i++)
    samples[i] = (double)(i * 7 % 20);
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(samples, 20, 0, 1, scratch, &i));
  REQUIRE(i.low == 3 && i.high == 16 && i.median == 9.5);
}

static void interval_widens_by_the_root_of_the_design_effect(void) {
  double even[320];
  for (size_t i = 0; i < 320; i++) {
    even[i] = (double)(i % 2 ? 160 + i / 2 : i / 2);
    samples[i] = (double)i;
  }
  kmbi_interval calm, moving;
  REQUIRE(kmbi_interval_of(even, 320, 0, 1, scratch, &calm));
  REQUIRE(kmbi_interval_of(samples, 320, 0, 1, scratch, &moving));
  REQUIRE(calm.design_effect == 1);
  REQUIRE_NEAR(moving.design_effect, 20.0 * 16 / 15, 1e-9);
  REQUIRE_NEAR(moving.half, calm.half * sqrt(20.0 * 16 / 15), 1e-9);
  REQUIRE_NEAR(moving.median - moving.low, moving.half, 1e-9);
}

static void constant_samples_without_a_tick_have_no_width(void) {
  for (size_t i = 0; i < 100; i++)
    samples[i] = 42;
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(samples, 100, 0, 1, scratch, &i));
  REQUIRE(i.low == 42 && i.high == 42 && i.half == 0 && i.median == 42);
}

static void ties_on_a_coarse_tick_keep_half_a_tick_at_least(void) {
  for (size_t i = 0; i < 10000; i++)
    samples[i] = 640;
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(samples, 10000, 32, 1, scratch, &i));
  REQUIRE(i.median == 640 && i.tick_part == 16);
  REQUIRE(i.low <= 624 && i.high >= 656);
  REQUIRE(i.half < 18);
}

static void dithering_gives_width_where_order_statistics_tie(void) {
  /* Sigma of one tick: plain ranks 458 and 541 of 1000 would tie. */
  fill_normal(1000, 640, 32, 5);
  quantise(1000, 32);
  kmbi_interval plain, dithered;
  REQUIRE(kmbi_interval_of(samples, 1000, 0, 1, scratch, &plain));
  REQUIRE(kmbi_interval_of(samples, 1000, 32, 1, scratch, &dithered));
  REQUIRE(plain.half == 0);
  REQUIRE(dithered.half - dithered.tick_part > 2);
  REQUIRE(dithered.half - dithered.tick_part < 5);
  size_t same = 0;
  for (size_t i = 0; i < 1000; i++)
    same += samples[i] == 640;
  REQUIRE_NEAR(dithered.tick_part, 16 * (double)same / 1000, 1e-12);
}

static void dithering_is_the_same_for_the_same_seed(void) {
  fill_normal(1000, 640, 32, 5);
  quantise(1000, 32);
  kmbi_interval a, b, c;
  REQUIRE(kmbi_interval_of(samples, 1000, 32, 9, scratch, &a));
  REQUIRE(kmbi_interval_of(samples, 1000, 32, 9, scratch, &b));
  REQUIRE(kmbi_interval_of(samples, 1000, 32, 10, scratch, &c));
  REQUIRE(a.low == b.low && a.high == b.high);
  REQUIRE(a.low != c.low);
  REQUIRE(a.median == 640 && c.median == 640);
}

static void dither_moves_a_sample_by_half_a_tick_at_most(void) {
  for (size_t i = 0; i < 8; i++)
    samples[i] = (double)i * 100;
  double lowest = 0, highest = -100;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    kmbi_interval i;
    REQUIRE(kmbi_interval_of(samples, 8, 32, seed, scratch, &i));
    REQUIRE(i.low >= -16 - i.tick_part && i.low <= 16 - i.tick_part);
    lowest = fmin(lowest, i.low);
    highest = fmax(highest, i.low);
  }
  REQUIRE(lowest < -15 && highest > 15);
}

static void interval_holds_the_undithered_median(void) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    for (size_t i = 0; i < 40; i++)
      samples[i] = i < 21 ? 0 : 32;
    kmbi_interval i;
    REQUIRE(kmbi_interval_of(samples, 40, 32, seed, scratch, &i));
    REQUIRE(i.low <= i.median && i.median <= i.high);
    REQUIRE_NEAR(i.half, (i.high - i.low) / 2, 1e-12);
  }
}

static void interval_covers_the_true_median_of_normal_samples(void) {
  int held = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    fill_normal(200, 1000, 50, seed * 7919 + 1);
    kmbi_interval i;
    REQUIRE(kmbi_interval_of(samples, 200, 1, seed, scratch, &i));
    held += i.low <= 1000 && 1000 <= i.high;
  }
  REQUIRE(held >= 985);
}

int main(void) {
  RUN(median_ranks_match_binomial_tables);
  RUN(fewer_than_eight_have_no_ranks);
  RUN(ranks_grow_without_a_jump_where_the_approximation_starts);
  RUN(design_effect_of_alternating_samples_is_one);
  RUN(design_effect_of_whole_blocks_is_their_length);
  RUN(design_effect_counts_blocks_of_unequal_length);
  RUN(design_effect_needs_two_a_block_and_some_spread);
  RUN(design_effect_of_independent_samples_is_near_one);
  RUN(interval_of_eight_spans_them);
  RUN(interval_takes_the_ranks_of_its_size);
  RUN(interval_widens_by_the_root_of_the_design_effect);
  RUN(constant_samples_without_a_tick_have_no_width);
  RUN(ties_on_a_coarse_tick_keep_half_a_tick_at_least);
  RUN(dithering_gives_width_where_order_statistics_tie);
  RUN(dithering_is_the_same_for_the_same_seed);
  RUN(dither_moves_a_sample_by_half_a_tick_at_most);
  RUN(interval_holds_the_undithered_median);
  RUN(interval_covers_the_true_median_of_normal_samples);
  return 0;
}
