/* Contiguous blocks over samples in the order taken: how stats.c and
 * stats_modes.c see that neighbours resemble each other. */
#ifndef KMB_LIB_STATS_BLOCKS_H
#define KMB_LIB_STATS_BLOCKS_H

#include <stddef.h>

#define KMBI_BLOCKS 16
/* Fewer give less than two samples a block. */
#define KMBI_BLOCKS_MIN ((size_t)2 * KMBI_BLOCKS)

/* One past the last sample of block b. */
static inline size_t kmbi_block_end(size_t n, size_t b) {
  return n / KMBI_BLOCKS * (b + 1) + n % KMBI_BLOCKS * (b + 1) / KMBI_BLOCKS;
}

/* -1, 0 or 1: a tie says nothing. */
static inline double kmbi_side(double v, double median) {
  return (double)(v > median) - (double)(v < median);
}

/* Mean side of each block; n at least KMBI_BLOCKS. */
void kmbi_block_sides(const double *x, size_t n, double median, double *blocks);

/* Variance of the block means over what independent samples of this variance
 * would give, at least 1. */
double kmbi_block_effect(const double *blocks, size_t n, double variance);

#endif
