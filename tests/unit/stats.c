/* Statistics: known answers, computed elsewhere, and seeds that decide. */
#include "require.h"
#include "stats_samples.h"

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
  RUN(rounds_give_sign_test_intervals);
  RUN(fewer_than_five_rounds_have_no_interval);
  RUN(thousands_of_rounds_still_have_one);
  return 0;
}
