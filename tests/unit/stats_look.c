/* Looks: when to go on, to drop a trend, to stop. */
#include "require.h"
#include "stats_samples.h"

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

int main(void) {
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
  return 0;
}
