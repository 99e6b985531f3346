/* The numbers that the ranks start from, and what has to come of them. Each
 * rank's are of a seed of its own, and all know them: so one rank can tell what
 * the sum of everybody's parts is. */
#ifndef THREADS_GEMM_RS_EXPECTED_H
#define THREADS_GEMM_RS_EXPECTED_H

#include <stddef.h>

typedef enum operand { OPERAND_A, OPERAND_B, OPERAND_PART } operand;

/* Element (row, column): a multiple of 1/128 from -1 to 1, which bf16 holds.
 * Products of two, and sums of them below 1024, are exact in fp32. */
double expected_input(int rank, operand which, size_t row, size_t column);

typedef struct expected {
  double value;
  double parts; /* sum of the sizes of what was added over the ranks */
  double terms; /* sum of the sizes of the products */
} expected;

/* Element (row, column) of the product, summed over `count` ranks from `first`
 * on, with `inner` of the inner dimension each. */
expected expected_product(int first, int count, size_t inner, size_t row,
                          size_t column);
/* The same where parts are given instead of made by a product. */
expected expected_sum(int count, size_t row, size_t column);

/* By how much it may be off in bf16. A part passes through at most `roundings`:
 * one of its own, and one for each addition of a rank's; each is off by at most
 * 2^-8 of what it rounds. Sums in fp32: 2^-20 of the products' sizes. */
double expected_allowance(const expected *e, int roundings);

#endif
