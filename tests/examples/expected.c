/* The reference of examples/threads_gemm_rs. */
#include "threads_gemm_rs/expected.h"

#include <math.h>
#include <stdint.h>

#include "require.h"

enum { SIZE = 48, INNER = 40 };

/* Rounded to the nearest. */
static double bf16(double value) {
  float narrow = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  memcpy(&narrow, &bits, sizeof narrow);
  return (double)narrow;
}

/* Each is what bf16 holds; they differ by rank, operand and place, and are
 * spread over all of the range. */
static void inputs_are_exact_and_spread(void) {
  int seen[256] = {0}, distinct = 0;
  double sum = 0;
  for (size_t i = 0; i < SIZE; i++)
    for (size_t j = 0; j < SIZE; j++) {
      double x = expected_input(1, OPERAND_B, i, j);
      REQUIRE(x >= -1 && x < 1 && x == bf16(x));
      distinct += !seen[(int)(x * 128) + 128]++;
      sum += x;
    }
  REQUIRE(distinct > 200);
  REQUIRE_NEAR(sum / (SIZE * SIZE), 0, 0.05);
}

static int same(int rank, operand which, size_t row, size_t column) {
  int count = 0;
  for (size_t i = 0; i < SIZE; i++)
    count += expected_input(0, OPERAND_A, i, 0) ==
             expected_input(rank, which, row * i, column * i);
  return count;
}

static void seeds_and_places_count(void) {
  REQUIRE_EQ(same(0, OPERAND_A, 1, 0), SIZE);
  REQUIRE(same(1, OPERAND_A, 1, 0) < SIZE / 4);
  REQUIRE(same(0, OPERAND_B, 1, 0) < SIZE / 4);
  REQUIRE(same(0, OPERAND_PART, 1, 0) < SIZE / 4);
  REQUIRE(same(0, OPERAND_A, 0, 1) < SIZE / 4);
}

static void sums_are_those_of_the_ranks(void) {
  expected all = expected_product(0, 3, INNER, 5, 7);
  expected one = expected_product(2, 1, INNER, 5, 7);
  double value = 0, parts = 0;
  for (int r = 0; r < 3; r++) {
    double part = 0;
    for (size_t k = 0; k < INNER; k++)
      part += expected_input(r, OPERAND_A, 5, k) *
              expected_input(r, OPERAND_B, k, 7);
    value += part;
    parts += fabs(part);
    if (r == 2) REQUIRE_NEAR(one.value, part, 0);
  }
  REQUIRE_NEAR(all.value, value, 0);
  REQUIRE_NEAR(all.parts, parts, 0);
  REQUIRE(all.terms > all.parts && one.terms < all.terms);
  expected sum = expected_sum(2, 3, 4);
  REQUIRE_NEAR(sum.value,
               expected_input(0, OPERAND_PART, 3, 4) +
                   expected_input(1, OPERAND_PART, 3, 4),
               0);
  REQUIRE_NEAR(sum.terms, 0, 0);
}

/* Parts that are rounded and added one after the other, each sum rounded. */
static double added(int ranks, size_t i, size_t j, int without) {
  double sum = 0;
  for (int r = 0; r < ranks; r++) {
    if (r == without) continue;
    sum = bf16(sum + bf16(expected_product(r, 1, INNER, i, j).value));
  }
  return sum;
}

static double worst(int ranks, int without) {
  double error = 0;
  for (size_t i = 0; i < SIZE; i++)
    for (size_t j = 0; j < SIZE; j += 5) {
      expected e = expected_product(0, ranks, INNER, i, j);
      double own = fabs(added(ranks, i, j, without) - e.value) /
                   expected_allowance(&e, ranks);
      if (own > error) error = own;
    }
  return error;
}

/* What rounding can do is allowed, and not much more. */
static void what_is_right_passes(void) {
  for (int ranks = 1; ranks <= 8; ranks *= 2) {
    REQUIRE(worst(ranks, -1) <= 1);
    REQUIRE(worst(ranks, -1) > 0.1);
  }
}

static void a_rank_that_is_missing_shows(void) {
  for (int ranks = 1; ranks <= 8; ranks *= 2)
    REQUIRE(worst(ranks, ranks - 1) > 5);
}

static void what_is_given_and_not_rounded_is_exact(void) {
  expected e = expected_sum(1, 3, 4);
  REQUIRE(expected_allowance(&e, 0) == 0);
}

int main(void) {
  RUN(inputs_are_exact_and_spread);
  RUN(seeds_and_places_count);
  RUN(sums_are_those_of_the_ranks);
  RUN(what_is_right_passes);
  RUN(a_rank_that_is_missing_shows);
  RUN(what_is_given_and_not_rounded_is_exact);
  return 0;
}
