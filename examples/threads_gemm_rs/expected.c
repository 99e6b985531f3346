#include "expected.h"

#include <math.h>
#include <stdint.h>

/* Rank and operand are the seed. */
double expected_input(int rank, operand which, size_t row, size_t column) {
  uint64_t x = ((uint64_t)row << 32 | column) + 1 +
               ((uint64_t)rank << 2 | which) * UINT64_C(0x9E3779B97F4A7C15);
  x *= UINT64_C(0xBF58476D1CE4E5B9);
  x ^= x >> 29;
  x *= UINT64_C(0x94D049BB133111EB);
  return ((double)(x >> 56) - 128) / 128;
}

static void add(expected *e, double part) {
  e->value += part;
  e->parts += fabs(part);
}

expected expected_product(int first, int count, size_t inner, size_t row,
                          size_t column) {
  expected e = {0, 0, 0};
  for (int r = first; r < first + count; r++) {
    double part = 0;
    for (size_t k = 0; k < inner; k++) {
      double product = expected_input(r, OPERAND_A, row, k) *
                       expected_input(r, OPERAND_B, k, column);
      part += product;
      e.terms += fabs(product);
    }
    add(&e, part);
  }
  return e;
}

expected expected_sum(int count, size_t row, size_t column) {
  expected e = {0, 0, 0};
  for (int r = 0; r < count; r++)
    add(&e, expected_input(r, OPERAND_PART, row, column));
  return e;
}

double expected_allowance(const expected *e, int roundings) {
  return (pow(1 + 0x1p-8, roundings) - 1) * e->parts + 0x1p-20 * e->terms;
}
