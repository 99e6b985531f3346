/* What one interval cannot say: a trend over the run, and two modes in it. */
#include "stats.h"

#include "stats_blocks.h"

#include <math.h>

/* --- drift -------------------------------------------------------------- */

/* Contrast over its noise, from DRIFT_FULL samples on. Correlated samples need
 * more in short runs, where it outlasts a block: with these, AR(1) of rho 0.9
 * raises it in under 1% of runs of 64 to 15000 samples (simulated). */
#define DRIFT_Z 4.5
#define DRIFT_FULL 500.0
#define DRIFT_MIN 64
#define QUARTER 4 /* blocks */

/* The contrast of the outer quarters against the steps between neighbouring
 * blocks: a trend hardly adds to those steps, and correlation shorter than a
 * block adds to them as much as to the contrast. */
static bool trend(const double *x, size_t n, double median) {
  double blocks[KMBI_BLOCKS], contrast = 0, squares = 0;
  kmbi_block_sides(x, n, median, blocks);
  for (size_t b = 0; b < QUARTER; b++)
    contrast += (blocks[KMBI_BLOCKS - 1 - b] - blocks[b]) / QUARTER;
  for (size_t b = 1; b < KMBI_BLOCKS; b++)
    squares += (blocks[b] - blocks[b - 1]) * (blocks[b] - blocks[b - 1]);
  /* squares / 2(B - 1) is a block's variance, twice a fourth of it the
   * contrast's */
  double variance = squares / (2 * (KMBI_BLOCKS - 1)) / 2;
  double z = DRIFT_Z * fmax(1, sqrt(DRIFT_FULL / (double)n));
  return fabs(contrast) > z * sqrt(variance);
}

bool kmbi_drift(const double *x, size_t n, double tick, double *scratch,
                double *relative) {
  *relative = 0;
  if (n < DRIFT_MIN) return false;
  double median = kmbi_median(x, n, scratch);
  size_t quarter = n / 4;
  double first = kmbi_median(x, quarter, scratch);
  double last = kmbi_median(x + n - quarter, quarter, scratch);
  if (median != 0) *relative = (last - first) / fabs(median);
  return fabs(last - first) > tick / 2 && trend(x, n, median);
}

/* --- modes -------------------------------------------------------------- */

/* A mode is where a fixed share of the samples lies closest together; two
 * modes have between them a window as wide as theirs with far fewer samples.
 * Chosen by simulation (bench/coverage.c): it needs no shape, so that outliers,
 * skew, trends and ties raise it in at most 1 run of 500. A window fixed in the
 * middle between the modes missed small ones, and to discount samples that fall
 * into the valley in clumps cost stretches without sparing correlated runs. */
#define MODES_MIN 64
#define GRID ((size_t)128) /* steps between the quantiles 0 and 1 */
#define NARROW 6           /* steps that make a mode, at least */
#define FEWEST 24          /* samples that make a mode, at least */
#define SHALLOW 0.7  /* a valley holds at most this part of a mode's samples */
#define VALLEY_Z 4.3 /* and this many standard deviations fewer */

typedef struct valley {
  double low, high; /* the emptiest window between the modes */
  double count;     /* samples in it */
} valley;

/* Where the narrowest window of `steps` in [from, to] starts. */
static size_t narrowest(const double *grid, size_t steps, size_t from,
                        size_t to) {
  size_t best = from;
  for (size_t i = from; i + steps <= to; i++)
    if (grid[i + steps] - grid[i] < grid[best + steps] - grid[best]) best = i;
  return best;
}

/* The window of this width between `from` and `to` that holds the fewest
 * samples; each starts just above a sample. Neither border exceeds the last
 * sample. A width that vanishes beside a sample makes no window of it. */
static valley emptiest(const double *sorted, size_t n, double from, double to,
                       double width) {
  valley best = {from, from + width, (double)n};
  size_t i = 0;
  while (sorted[i] < from)
    i++;
  for (size_t j = i; i < n && sorted[i] + width <= to; i++) {
    while (sorted[j] < sorted[i] + width)
      j++;
    if (j > i && (double)(j - i - 1) < best.count)
      best = (valley){sorted[i], sorted[i] + width, (double)(j - i - 1)};
  }
  return best;
}

typedef struct sample_set {
  const double *sorted; /* dithered */
  size_t n;
  double tick;
  double grid[GRID + 1]; /* quantiles */
} sample_set;

/* How far the valley between the modes at grid steps l and r stands out, 0 if
 * it does not. */
static double depth(const sample_set *set, size_t steps, size_t l, size_t r,
                    valley *v) {
  const double *grid = set->grid;
  double from = grid[l + steps], to = grid[r];
  double width = fmax(from - grid[l], grid[r + steps] - to);
  width = fmax(width, set->tick);
  if (width <= 0) width = (to - from) / 2;
  if (to - from <= width) return 0;
  *v = emptiest(set->sorted, set->n, from, to, width);
  double full = (double)set->n * (double)steps / (double)GRID;
  double z = (full - v->count) / sqrt(full + v->count);
  if (v->count > SHALLOW * full || z < VALLEY_Z) return 0;
  return z;
}

/* The valley that stands out most among all ways to split the grid. */
static double deepest(const sample_set *set, size_t steps, double best,
                      valley *found) {
  size_t old_l = GRID, old_r = GRID;
  for (size_t i = steps; i + steps <= GRID; i++) {
    size_t l = narrowest(set->grid, steps, 0, i);
    size_t r = narrowest(set->grid, steps, i, GRID);
    if (l == old_l && r == old_r) continue;
    old_l = l;
    old_r = r;
    valley v = {0};
    double z = depth(set, steps, l, r, &v);
    if (z > best) {
      best = z;
      *found = v;
    }
  }
  return best;
}

bool kmbi_bimodal(const double *x, size_t n, double tick, double *scratch,
                  kmbi_modes *modes) {
  *modes = (kmbi_modes){0};
  if (n < MODES_MIN) return false;
  uint64_t seed = 1;
  for (size_t i = 0; i < n; i++)
    scratch[i] = x[i] + tick * (kmbi_uniform(&seed) - 0.5);
  kmbi_sort(scratch, n);
  sample_set set = {.sorted = scratch, .n = n, .tick = tick};
  for (size_t i = 0; i <= GRID; i++)
    set.grid[i] = kmbi_quantile(scratch, n, (double)i / (double)GRID);
  /* A narrow window for small modes, wider ones for modes close together. */
  size_t steps = NARROW;
  if (n < FEWEST * GRID / NARROW) steps = (FEWEST * GRID + n - 1) / n;
  valley found = {0};
  double best = deepest(&set, steps, 0, &found);
  for (steps = steps * 3 / 2; steps <= 2 * NARROW + 1; steps = steps * 3 / 2)
    best = deepest(&set, steps, best, &found);
  if (best <= 0) return false;
  double split = (found.low + found.high) / 2;
  size_t below = 0;
  while (scratch[below] < split)
    below++;
  modes->low = kmbi_quantile(scratch, below, 0.5);
  modes->high = kmbi_quantile(scratch + below, n - below, 0.5);
  modes->share = (double)(below < n - below ? below : n - below) / (double)n;
  return true;
}
