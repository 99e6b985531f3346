/* Paired ratios: known answers. */
#include "require.h"

#include <stats.h>

#include <math.h>

static double logs[KMBI_CYCLES_MAX + 1], scratch[KMBI_CYCLES_MAX + 1];

static void the_fewest_cycles_grow_with_the_confidence(void) {
  REQUIRE_EQ(kmbi_paired_least(0.01), 8);       /* 2^-7 is below 1% */
  REQUIRE_EQ(kmbi_paired_least(0.5), 8);        /* never fewer */
  REQUIRE_EQ(kmbi_paired_least(0.00390625), 9); /* exactly 2^-8 */
  REQUIRE_EQ(kmbi_paired_least(0.0039), 10);
  REQUIRE_EQ(kmbi_paired_least(0.01 / 63), 14);
}

static void a_steady_change_cancels_within_a_cycle(void) {
  /* a b b a while everything gets 10% slower from turn to turn. */
  const double b[] = {100 * 1.1, 100 * 1.1 * 1.1};
  const double a[] = {200, 200 * 1.1 * 1.1 * 1.1};
  REQUIRE(kmbi_paired_logs(a, 0, b, 0, 1, logs));
  REQUIRE_NEAR(exp(logs[0]), 2, 1e-12);
}

static void the_bias_is_taken_off_each_turn(void) {
  const double a[] = {13, 13, 23, 23}, b[] = {6, 6, 11, 11};
  logs[2] = 7;
  REQUIRE(kmbi_paired_logs(a, 3, b, 1, 2, logs));
  REQUIRE_NEAR(logs[0], log(2), 1e-12);
  REQUIRE_NEAR(logs[1], log(2), 1e-12);
  REQUIRE(logs[2] == 7); /* no cycle more than there are */
  REQUIRE(!kmbi_paired_logs(a, 13, b, 1, 2, logs));
  REQUIRE(!kmbi_paired_logs(a, 3, b, 6, 2, logs));
  REQUIRE(!kmbi_paired_logs(a, NAN, b, 1, 2, logs));
  /* Each turn counts, of either. */
  for (int i = 0; i < 4; i++) {
    double x[] = {13, 13, 23, 23}, y[] = {6, 6, 11, 11};
    x[i] = 3;
    REQUIRE(!kmbi_paired_logs(x, 3, y, 1, 2, logs));
    x[i] = 13;
    y[i] = 1;
    REQUIRE(!kmbi_paired_logs(x, 3, y, 1, 2, logs));
  }
}

static void order_statistics_bound_the_median(void) {
  kmbi_paired p;
  for (int i = 0; i < 12; i++)
    logs[i] = (double)((i * 5) % 12); /* 0 to 11, no trend */
  REQUIRE(kmbi_paired_interval(logs, 12, 0, 0.01, scratch, &p));
  /* Of 12, ranks 1 and 10: 1 - 2 × 13/4096. */
  REQUIRE_NEAR(log(p.ratio), 5.5, 1e-12);
  REQUIRE_NEAR(log(p.low), 1, 1e-12);
  REQUIRE_NEAR(log(p.high), 10, 1e-12);
  REQUIRE_NEAR(p.confidence, 1 - 26.0 / 4096, 1e-15);
  REQUIRE(p.design_effect == 1);
  /* A stricter one takes the outermost. */
  REQUIRE(kmbi_paired_interval(logs, 12, 0, 0.005, scratch, &p));
  REQUIRE_NEAR(log(p.low), 0, 1e-12);
  REQUIRE_NEAR(log(p.high), 11, 1e-12);
  REQUIRE_NEAR(p.confidence, 1 - 2.0 / 4096, 1e-15);
}

static void what_the_clock_leaves_open_is_added(void) {
  kmbi_paired p;
  for (int i = 0; i < 20; i++)
    logs[i] = 0.25;
  REQUIRE(kmbi_paired_interval(logs, 20, 0.125, 0.01, scratch, &p));
  REQUIRE_NEAR(log(p.low), 0.125, 1e-12);
  REQUIRE_NEAR(log(p.high), 0.375, 1e-12);
}

static void cycles_that_resemble_their_neighbours_count_less(void) {
  kmbi_paired loose, tight;
  for (int i = 0; i < 320; i++)
    logs[i] = (i % 2 ? 1 : -1) * (1 + i % 7);
  REQUIRE(kmbi_paired_interval(logs, 320, 0, 0.01, scratch, &tight));
  for (int i = 0; i < 320; i++)
    logs[i] = (i / 20 % 2 ? 1 : -1) * (1 + i % 7);
  REQUIRE(kmbi_paired_interval(logs, 320, 0, 0.01, scratch, &loose));
  REQUIRE(tight.design_effect == 1);
  REQUIRE_NEAR(loose.design_effect, 20.0 * 16 / 15, 1e-9);
  REQUIRE_NEAR(log(loose.high / loose.low),
               sqrt(loose.design_effect) * log(tight.high / tight.low), 1e-9);
}

static void too_few_and_too_many_have_no_interval(void) {
  kmbi_paired p;
  for (int i = 0; i <= KMBI_CYCLES_MAX; i++)
    logs[i] = i;
  REQUIRE(!kmbi_paired_interval(logs, 7, 0, 0.01, scratch, &p));
  REQUIRE(kmbi_paired_interval(logs, 8, 0, 0.01, scratch, &p));
  REQUIRE(!kmbi_paired_interval(logs, 8, 0, 0.001, scratch, &p));
  REQUIRE(kmbi_paired_interval(logs, KMBI_CYCLES_MAX, 0, 0.01, scratch, &p));
  REQUIRE(
      !kmbi_paired_interval(logs, KMBI_CYCLES_MAX + 1, 0, 0.01, scratch, &p));
}

int main(void) {
  RUN(the_fewest_cycles_grow_with_the_confidence);
  RUN(a_steady_change_cancels_within_a_cycle);
  RUN(the_bias_is_taken_off_each_turn);
  RUN(order_statistics_bound_the_median);
  RUN(what_the_clock_leaves_open_is_added);
  RUN(cycles_that_resemble_their_neighbours_count_less);
  RUN(too_few_and_too_many_have_no_interval);
  return 0;
}
