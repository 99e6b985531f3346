/* Statistics: known answers, computed elsewhere, and seeds that decide. */
#include "require.h"

#include <math.h>
#include <stats.h>

#define MANY 1000000

static double samples[MANY], scratch[MANY];

/* Two uniforms make a normal deviate. */
static double normal(uint64_t *seed) {
  double u = 1 - kmbi_uniform(seed), v = kmbi_uniform(seed);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void fill_normal(size_t n, double mean, double sigma, uint64_t seed) {
  for (size_t i = 0; i < n; i++)
    samples[i] = mean + sigma * normal(&seed);
}

static void fill_ar1(size_t n, double mean, double sigma, uint64_t seed) {
  double a = normal(&seed);
  for (size_t i = 0; i < n; i++) {
    samples[i] = mean + sigma * a;
    a = 0.9 * a + sqrt(0.19) * normal(&seed);
  }
}

static void quantise(size_t n, double tick) {
  for (size_t i = 0; i < n; i++)
    samples[i] = floor(samples[i] / tick + 0.5) * tick;
}

/* --- generator and sorting ---------------------------------------------- */

static void generator_gives_its_published_values(void) {
  uint64_t seed = 0;
  REQUIRE(kmbi_random(&seed) == UINT64_C(0xe220a8397b1dcdaf));
  REQUIRE(kmbi_random(&seed) == UINT64_C(0x6e789e6aa1b965f4));
  REQUIRE(kmbi_random(&seed) == UINT64_C(0x06c45d188009454f));
  seed = 42;
  REQUIRE(kmbi_uniform(&seed) == 0.7415648787718233);
}

static void uniform_fills_zero_to_one_evenly(void) {
  uint64_t seed = 7;
  double sum = 0;
  for (int i = 0; i < 100000; i++) {
    double u = kmbi_uniform(&seed);
    REQUIRE(u >= 0 && u < 1);
    sum += u;
  }
  REQUIRE_NEAR(sum / 100000, 0.5, 0.005);
}

static void require_sorted(size_t n, double sum) {
  double total = n ? samples[0] : 0;
  for (size_t i = 1; i < n; i++) {
    REQUIRE(samples[i - 1] <= samples[i]);
    total += samples[i];
  }
  REQUIRE_NEAR(total, sum, 0.5);
}

static void sort_orders_every_small_size(void) {
  for (size_t n = 0; n < 200; n++) {
    uint64_t seed = n;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      samples[i] = (double)(kmbi_random(&seed) % (n < 100 ? 1000 : 5));
      sum += samples[i];
    }
    samples[n] = -77;
    kmbi_sort(samples, n);
    require_sorted(n, sum);
    REQUIRE(samples[n] == -77);
  }
}

static void sort_orders_a_million(void) {
  uint64_t seed = 1;
  double sum = 0;
  for (size_t i = 0; i < MANY; i++) {
    samples[i] = (double)(kmbi_random(&seed) % 1000000);
    sum += samples[i];
  }
  kmbi_sort(samples, MANY);
  require_sorted(MANY, sum);
}

/* Patterns against the median of three; quadratic time would not end here. */
static void sort_bounds_its_worst_cases(void) {
  size_t n = MANY;
  for (int kind = 0; kind < 4; kind++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      double up = (double)i, down = (double)(n - i);
      double pipe = (double)(i < n / 2 ? i : n - i);
      samples[i] = kind == 0 ? up : kind == 1 ? down : kind == 2 ? pipe : 3;
      sum += samples[i];
    }
    kmbi_sort(samples, n);
    require_sorted(n, sum);
  }
}

/* The sequence on which quicksort with a median of three is quadratic. */
static void sort_survives_the_median_of_three_killer(void) {
  size_t n = MANY, half = n / 2;
  double sum = 0;
  for (size_t i = 0; i < half; i++) {
    samples[i] = (double)(i % 2 ? half + i + (half % 2) : i + 1);
    samples[half + i] = (double)(2 * (i + 1));
    sum += samples[i] + samples[half + i];
  }
  kmbi_sort(samples, n);
  require_sorted(n, sum);
}

/* --- quantiles ---------------------------------------------------------- */

static void quantiles_interpolate_as_type_7(void) {
  const double x[] = {1, 2, 4, 8, 16};
  REQUIRE(kmbi_quantile(x, 5, 0) == 1);
  REQUIRE(kmbi_quantile(x, 5, 1) == 16);
  REQUIRE(kmbi_quantile(x, 5, 0.5) == 4);
  REQUIRE(kmbi_quantile(x, 5, 0.25) == 2);
  REQUIRE_NEAR(kmbi_quantile(x, 5, 0.9), 12.8, 1e-12);
  REQUIRE_NEAR(kmbi_quantile(x, 4, 0.9), 6.8, 1e-12);
  REQUIRE(kmbi_quantile(x, 1, 0.3) == 1);
}

static void median_of_even_and_odd_counts_is_exact(void) {
  const double x[] = {9, 1, 5, 2};
  REQUIRE(kmbi_median(x, 4, scratch) == 3.5);
  REQUIRE(kmbi_median(x, 3, scratch) == 5);
  REQUIRE(kmbi_median(x, 1, scratch) == 9);
  REQUIRE(x[0] == 9 && x[3] == 2);
}

static void summary_has_known_values(void) {
  const double x[] = {10, 2, 4, 4, 5, 5, 7, 9};
  kmbi_summary s;
  kmbi_summarise(x, 8, scratch, &s);
  REQUIRE(s.min == 2 && s.max == 10);
  REQUIRE(s.median == 5 && s.mean == 5.75);
  REQUIRE_NEAR(s.stdev, 2.712405363721075, 1e-12);
  REQUIRE(s.mad == 1.5);
  REQUIRE(s.p25 == 4 && s.p75 == 7.5);
  REQUIRE_NEAR(s.p95, 9.65, 1e-12);
  REQUIRE_NEAR(s.p99, 9.93, 1e-12);
}

static void summary_of_one_sample_has_no_spread(void) {
  const double x[] = {3};
  kmbi_summary s;
  kmbi_summarise(x, 1, scratch, &s);
  REQUIRE(s.median == 3 && s.mean == 3 && s.stdev == 0 && s.mad == 0);
  REQUIRE(s.p99 == 3 && s.max == 3);
}

static void summary_keeps_small_spread_on_large_values(void) {
  const double x[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
  kmbi_summary s;
  kmbi_summarise(x, 3, scratch, &s);
  REQUIRE(s.mean == 1e15 + 2 && s.stdev == 1);
}

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

/* --- looks -------------------------------------------------------------- */

static kmbi_rule rule_of(double target, double tick) {
  return (kmbi_rule){.target = target,
                     .tick = tick,
                     .min_wall_ns = 1000,
                     .min_samples = 50,
                     .seed = 3};
}

static kmbi_verdict look(const kmbi_rule *rule, size_t n, double wall) {
  kmbi_interval i;
  return kmbi_look(rule, samples, n, wall, scratch, &i);
}

static void next_look_is_three_tenths_later(void) {
  REQUIRE_EQ(kmbi_next_look(50), 65);
  REQUIRE_EQ(kmbi_next_look(65), 84);
  REQUIRE_EQ(kmbi_next_look(0), 1);
  REQUIRE_EQ(kmbi_next_look(1), 2);
  REQUIRE_EQ(kmbi_next_look(3), 4);
  REQUIRE_EQ(kmbi_next_look(7), 9);
  REQUIRE_EQ(kmbi_next_look(1000000), 1300000);
}

static void look_converges_only_within_the_target(void) {
  fill_normal(2000, 1000, 50, 11);
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(samples, 2000, 0, 3, scratch, &i));
  kmbi_rule rule = rule_of(i.half / i.median * 1.001, 0);
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_CONVERGED);
  rule.target = i.half / i.median * 0.999;
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_GO_ON);
}

static void look_waits_for_wall_time_and_samples(void) {
  fill_normal(50, 1000, 0.1, 11);
  kmbi_rule rule = rule_of(0.005, 0);
  REQUIRE_EQ(look(&rule, 50, 1000), KMBI_CONVERGED);
  REQUIRE_EQ(look(&rule, 50, 999), KMBI_GO_ON);
  REQUIRE_EQ(look(&rule, 49, 1000), KMBI_GO_ON);
}

static void look_needs_eight_samples(void) {
  for (size_t i = 0; i < 8; i++)
    samples[i] = 42;
  kmbi_rule rule = {.target = 0.005};
  REQUIRE_EQ(look(&rule, 8, 0), KMBI_CONVERGED);
  REQUIRE_EQ(look(&rule, 7, 0), KMBI_GO_ON);
}

static void look_fills_the_interval_even_when_it_goes_on(void) {
  fill_normal(100, 1000, 50, 11);
  kmbi_rule rule = rule_of(0.0001, 0);
  kmbi_interval i = {0};
  REQUIRE_EQ(kmbi_look(&rule, samples, 100, 5000, scratch, &i), KMBI_GO_ON);
  REQUIRE(i.low < 1000 && i.high > 1000);
}

/* 20% above, gone after a quarter of the samples. */
static void fill_warm_up(size_t n, double sigma) {
  fill_normal(n, 1000, sigma, 13);
  for (size_t i = 0; i < n; i++)
    samples[i] += 200 * exp(-16 * (double)i / (double)n);
}

static void look_drops_a_trend_far_from_the_target(void) {
  fill_warm_up(1500, 30);
  kmbi_interval i;
  double relative = 0;
  REQUIRE(kmbi_interval_of(samples, 1500, 0, 3, scratch, &i));
  REQUIRE(kmbi_drift(samples, 1500, 0, scratch, &relative));
  /* The interval is just over, then just under two targets wide. */
  kmbi_rule rule = rule_of(i.half / i.median / 2.01, 0);
  REQUIRE_EQ(look(&rule, 1500, 1000), KMBI_DROP_HALF);
  rule.target = i.half / i.median / 1.99;
  REQUIRE_EQ(look(&rule, 1500, 1000), KMBI_GO_ON);
}

static void look_keeps_a_trend_below_the_target_or_the_floors(void) {
  fill_warm_up(1500, 30);
  kmbi_rule rule = rule_of(0.001, 0);
  REQUIRE_EQ(look(&rule, 1500, 1000), KMBI_DROP_HALF);
  REQUIRE_EQ(look(&rule, 1500, 999), KMBI_GO_ON);
  rule.tick = 60; /* half of it is far above half the interval */
  REQUIRE(look(&rule, 1500, 1000) != KMBI_DROP_HALF);
  fill_normal(1500, 1000, 30, 13); /* no trend */
  rule.tick = 0;
  REQUIRE_EQ(look(&rule, 1500, 1000), KMBI_GO_ON);
}

static void look_waits_until_the_kept_outlast_the_dropped(void) {
  fill_normal(2000, 1000, 5, 11);
  kmbi_rule rule = rule_of(0.005, 0);
  rule.dropped_wall_ns = 1000;
  REQUIRE_EQ(look(&rule, 2000, 5000), KMBI_CONVERGED);
  REQUIRE_EQ(look(&rule, 2000, 4999), KMBI_GO_ON);
}

/* Two values, `first` and `second` of a hundred low in each half's blocks. */
static void fill_halves(size_t first, size_t second) {
  for (size_t i = 0; i < 1600; i++)
    samples[i] = i % 100 < (i < 800 ? first : second) ? 1000 : 1004;
}

static void look_waits_while_the_halves_differ(void) {
  /* The interval is [1000, 1004] each time, the design effect 1. */
  kmbi_rule rule = rule_of(0.005, 0);
  fill_halves(51, 51);
  REQUIRE_EQ(look(&rule, 1600, 1000), KMBI_CONVERGED);
  fill_halves(51, 49);
  REQUIRE_EQ(look(&rule, 1600, 1000), KMBI_GO_ON);
  fill_halves(49, 51);
  REQUIRE_EQ(look(&rule, 1600, 1000), KMBI_GO_ON);
}

static void halves_agree_up_to_the_width(void) {
  const double x[] = {1, 2, 3, 4, 5, 6};
  REQUIRE(kmbi_halves_agree(x, 6, 3, scratch));
  REQUIRE(!kmbi_halves_agree(x, 6, 2.999, scratch));
  REQUIRE(kmbi_halves_agree(x, 5, 2.5, scratch)); /* 1.5 against 4 */
  REQUIRE(!kmbi_halves_agree(x, 5, 2.4, scratch));
  REQUIRE(kmbi_halves_agree(x, 1, 0, scratch));
  const double down[] = {6, 5, 1, 2};
  REQUIRE(!kmbi_halves_agree(down, 4, 3.9, scratch));
}

static void look_stops_where_only_the_tick_prevents_more(void) {
  for (size_t i = 0; i < 2000; i++)
    samples[i] = 320;
  /* Half a tick is 5% of the median. */
  kmbi_rule rule = rule_of(0.005, 32);
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_RESOLUTION);
  /* A target wider than the tick is simply met. */
  rule.target = 0.06;
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_CONVERGED);
  rule.target = 0.005;
  rule.tick = 0;
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_CONVERGED);
}

static void look_goes_on_while_more_than_the_tick_prevents(void) {
  fill_normal(2000, 320, 320, 5);
  kmbi_interval i;
  REQUIRE(kmbi_interval_of(samples, 2000, 32, 3, scratch, &i));
  double sampling = i.half - i.tick_part;
  REQUIRE(sampling > 16);
  kmbi_rule rule = rule_of(0.005, 32);
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_GO_ON);
  rule.tick = 2.2 * sampling;
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_RESOLUTION);
}

static void negative_medians_converge_too(void) {
  fill_normal(2000, -1000, 1, 11);
  kmbi_rule rule = rule_of(0.005, 0);
  REQUIRE_EQ(look(&rule, 2000, 1000), KMBI_CONVERGED);
}

/* --- rounds ------------------------------------------------------------- */

static void rounds_give_sign_test_intervals(void) {
  static const struct {
    size_t n, rank;
    double confidence;
  } table[] = {{5, 0, 0.9375},         {6, 0, 0.96875},
               {7, 0, 0.984375},       {8, 0, 0.9921875},
               {9, 1, 0.9609375},      {10, 1, 0.978515625},
               {12, 2, 0.96142578125}, {20, 5, 0.9586105346679688}};
  for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
    size_t n = table[t].n;
    for (size_t i = 0; i < n; i++)
      samples[i] = (double)(n - 1 - i);
    double low = -1, high = -1, confidence = -1;
    REQUIRE(kmbi_round_interval(samples, n, scratch, &low, &high, &confidence));
    REQUIRE(low == (double)table[t].rank);
    REQUIRE(high == (double)(n - 1 - table[t].rank));
    REQUIRE_NEAR(confidence, table[t].confidence, 1e-12);
  }
}

static void fewer_than_five_rounds_have_no_interval(void) {
  double low = 0, high = 0, confidence = 0;
  REQUIRE(!kmbi_round_interval(samples, 4, scratch, &low, &high, &confidence));
}

static void thousands_of_rounds_still_have_one(void) {
  for (size_t i = 0; i < 1001; i++)
    samples[i] = (double)i;
  double low = 0, high = 0, confidence = 0;
  REQUIRE(
      kmbi_round_interval(samples, 1001, scratch, &low, &high, &confidence));
  REQUIRE(low == 459 && high == 541 && confidence == 0.99);
}

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
  RUN(generator_gives_its_published_values);
  RUN(uniform_fills_zero_to_one_evenly);
  RUN(sort_orders_every_small_size);
  RUN(sort_orders_a_million);
  RUN(sort_bounds_its_worst_cases);
  RUN(sort_survives_the_median_of_three_killer);
  RUN(quantiles_interpolate_as_type_7);
  RUN(median_of_even_and_odd_counts_is_exact);
  RUN(summary_has_known_values);
  RUN(summary_of_one_sample_has_no_spread);
  RUN(summary_keeps_small_spread_on_large_values);
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
  RUN(next_look_is_three_tenths_later);
  RUN(look_converges_only_within_the_target);
  RUN(look_waits_for_wall_time_and_samples);
  RUN(look_needs_eight_samples);
  RUN(look_fills_the_interval_even_when_it_goes_on);
  RUN(look_drops_a_trend_far_from_the_target);
  RUN(look_keeps_a_trend_below_the_target_or_the_floors);
  RUN(look_waits_until_the_kept_outlast_the_dropped);
  RUN(look_waits_while_the_halves_differ);
  RUN(halves_agree_up_to_the_width);
  RUN(look_stops_where_only_the_tick_prevents_more);
  RUN(look_goes_on_while_more_than_the_tick_prevents);
  RUN(negative_medians_converge_too);
  RUN(rounds_give_sign_test_intervals);
  RUN(fewer_than_five_rounds_have_no_interval);
  RUN(thousands_of_rounds_still_have_one);
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
