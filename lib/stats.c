/* Order statistics, the within-run interval and the stopping rule. */
#include "stats.h"

#include "stats_blocks.h"

#include <math.h>
#include <string.h>

/* --- generator ---------------------------------------------------------- */

uint64_t kmbi_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

double kmbi_uniform(uint64_t *state) {
  return (double)(kmbi_random(state) >> 11) * 0x1p-53;
}

/* --- sorting ------------------------------------------------------------ */

/* libc's qsort may allocate; this never does, and the heap bounds the worst
 * case. */

static void swap(double *a, double *b) {
  double t = *a;
  *a = *b;
  *b = t;
}

static void insertion_sort(double *x, size_t n) {
  for (size_t i = 1; i < n; i++) {
    double v = x[i];
    size_t j = i;
    for (; j > 0 && x[j - 1] > v; j--)
      x[j] = x[j - 1];
    x[j] = v;
  }
}

static void sift_down(double *x, size_t root, size_t n) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= n) return;
    if (child + 1 < n && x[child] < x[child + 1]) child++;
    if (x[root] >= x[child]) return;
    swap(&x[root], &x[child]);
    root = child;
  }
}

static void heap_sort(double *x, size_t n) {
  for (size_t i = n / 2; i-- > 0;)
    sift_down(x, i, n);
  for (size_t end = n; end-- > 1;) {
    swap(&x[0], &x[end]);
    sift_down(x, 0, end);
  }
}

/* Hoare's partition around the median of three; the left part's length, at
 * least 1 and below n. */
static size_t partition(double *x, size_t n) {
  size_t mid = n / 2;
  if (x[mid] < x[0]) swap(&x[mid], &x[0]);
  if (x[n - 1] < x[mid]) {
    swap(&x[n - 1], &x[mid]);
    if (x[mid] < x[0]) swap(&x[mid], &x[0]);
  }
  double pivot = x[mid];
  size_t i = 0, j = n - 1;
  for (;;) {
    while (x[i] < pivot)
      i++;
    while (x[j] > pivot)
      j--;
    if (i >= j) return j + 1;
    swap(&x[i++], &x[j--]);
  }
}

static void intro_sort(double *x, size_t n, unsigned depth) {
  while (n > 16) {
    if (depth-- == 0) {
      heap_sort(x, n);
      return;
    }
    size_t left = partition(x, n);
    if (left <= n - left) {
      intro_sort(x, left, depth);
      x += left;
      n -= left;
    } else {
      intro_sort(x + left, n - left, depth);
      n = left;
    }
  }
  insertion_sort(x, n);
}

void kmbi_sort(double *x, size_t n) {
  unsigned depth = 2;
  for (size_t m = n; m > 1; m /= 2)
    depth += 2;
  intro_sort(x, n, depth);
}

/* --- quantiles ---------------------------------------------------------- */

double kmbi_quantile(const double *sorted, size_t n, double q) {
  double at = (double)(n - 1) * q;
  size_t i = (size_t)at;
  if (i + 1 >= n) return sorted[n - 1];
  return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double kmbi_median(const double *x, size_t n, double *scratch) {
  memcpy(scratch, x, n * sizeof *x);
  kmbi_sort(scratch, n);
  return kmbi_quantile(scratch, n, 0.5);
}

void kmbi_summarise(const double *x, size_t n, double *scratch,
                    kmbi_summary *summary) {
  memcpy(scratch, x, n * sizeof *x);
  kmbi_sort(scratch, n);
  summary->min = scratch[0];
  summary->max = scratch[n - 1];
  summary->p25 = kmbi_quantile(scratch, n, 0.25);
  summary->median = kmbi_quantile(scratch, n, 0.5);
  summary->p75 = kmbi_quantile(scratch, n, 0.75);
  summary->p95 = kmbi_quantile(scratch, n, 0.95);
  summary->p99 = kmbi_quantile(scratch, n, 0.99);
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] - summary->median;
  summary->mean = summary->median + sum / (double)n;
  double squares = 0;
  for (size_t i = 0; i < n; i++) {
    double d = x[i] - summary->mean;
    squares += d * d;
    scratch[i] = fabs(x[i] - summary->median);
  }
  summary->stdev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
  kmbi_sort(scratch, n);
  summary->mad = kmbi_quantile(scratch, n, 0.5);
}

/* --- interval of the median --------------------------------------------- */

/* The sum starts at 2^-n, which a double holds for n at most 1000. */
size_t kmbi_binomial_tail(size_t n, double alpha, double *tail) {
  double term = ldexp(1, -(int)n), sum = term;
  size_t k = 0;
  for (;;) {
    term = term * (double)(n - k) / (double)(k + 1);
    if (2 * (sum + term) > alpha) break;
    sum += term;
    k++;
  }
  *tail = 2 * sum;
  return k;
}

#define EXACT_RANKS 1000
#define Z99 2.5758293035489004

bool kmbi_median_ranks(size_t n, size_t *low, size_t *high) {
  if (n < KMBI_INTERVAL_MIN) return false;
  if (n <= EXACT_RANKS) {
    double tail = 0;
    *low = kmbi_binomial_tail(n, 0.01, &tail);
  } else {
    /* Normal with continuity and kurtosis corrections. */
    double m = (double)n;
    double z = Z99 - (Z99 * Z99 * Z99 - 3 * Z99) / (12 * m);
    *low = (size_t)floor((m - 1 - z * sqrt(m)) / 2);
  }
  *high = n - 1 - *low;
  return true;
}

void kmbi_block_sides(const double *x, size_t n, double median,
                      double *blocks) {
  for (size_t b = 0, i = 0; b < KMBI_BLOCKS; b++) {
    size_t start = i, end = kmbi_block_end(n, b);
    double sum = 0;
    for (; i < end; i++)
      sum += kmbi_side(x[i], median);
    blocks[b] = sum / (double)(end - start);
  }
}

double kmbi_block_effect(const double *blocks, size_t n, double variance) {
  if (!(variance > 0)) return 1;
  double mean = 0, between = 0;
  for (size_t b = 0; b < KMBI_BLOCKS; b++)
    mean += blocks[b] / KMBI_BLOCKS;
  for (size_t b = 0; b < KMBI_BLOCKS; b++)
    between += (blocks[b] - mean) * (blocks[b] - mean);
  between /= KMBI_BLOCKS - 1;
  return fmax(1, between * (double)n / KMBI_BLOCKS / variance);
}

double kmbi_design_effect(const double *x, size_t n, double median) {
  if (n < KMBI_BLOCKS_MIN) return 1;
  double above = 0, below = 0, blocks[KMBI_BLOCKS];
  for (size_t i = 0; i < n; i++) {
    above += (double)(x[i] > median);
    below += (double)(x[i] < median);
  }
  double mean = (above - below) / (double)n;
  kmbi_block_sides(x, n, median, blocks);
  return kmbi_block_effect(blocks, n,
                           (above + below) / (double)n - mean * mean);
}

bool kmbi_interval_of(const double *x, size_t n, double tick, uint64_t seed,
                      double *scratch, kmbi_interval *interval) {
  size_t low = 0, high = 0;
  if (!kmbi_median_ranks(n, &low, &high)) return false;
  memcpy(scratch, x, n * sizeof *x);
  kmbi_sort(scratch, n);
  double median = kmbi_quantile(scratch, n, 0.5);
  interval->median = median;
  interval->tick_part = 0;
  if (tick > 0) {
    size_t same = 0;
    for (size_t i = 0; i < n; i++) {
      same += fabs(scratch[i] - median) < tick / 2;
      scratch[i] += tick * (kmbi_uniform(&seed) - 0.5);
    }
    kmbi_sort(scratch, n);
    /* Samples that read as the median does cannot tell where in its tick the
     * truth lies. */
    interval->tick_part = tick / 2 * (double)same / (double)n;
  }
  interval->design_effect = kmbi_design_effect(x, n, median);
  double wider = sqrt(interval->design_effect);
  double centre = kmbi_quantile(scratch, n, 0.5);
  double below = (centre - scratch[low]) * wider + interval->tick_part;
  double above = (scratch[high] - centre) * wider + interval->tick_part;
  interval->low = fmin(centre - below, median - interval->tick_part);
  interval->high = fmax(centre + above, median + interval->tick_part);
  interval->half = (interval->high - interval->low) / 2;
  return true;
}

/* --- stopping rule ------------------------------------------------------ */

bool kmbi_halves_agree(const double *x, size_t n, double width,
                       double *scratch) {
  if (n < 2) return true;
  size_t half = n / 2;
  double first = kmbi_median(x, half, scratch);
  double second = kmbi_median(x + half, n - half, scratch);
  return fabs(first - second) <= width;
}

/* A start-up trend widens the interval through the design effect, so that to
 * wait until it is diluted is honest but slow: 1.5 s for 20 ms of warm-up. It
 * pays to drop it while the interval is FAR targets wide; nearer, waiting is
 * quicker. What is left of a dropped trend the kept samples cannot show, so
 * they must outlast what was dropped by OUTLAST, and the halves must differ by
 * less than the interval. Simulated, the interval then held the truth in 98% of
 * warm-ups, after a third of a second; in 65% if the kept samples need only
 * last as long as those dropped. */
#define FAR 2
#define OUTLAST 5
#define HALVES 0.75 /* of the interval's width */

kmbi_verdict kmbi_look(const kmbi_rule *rule, const double *x, size_t n,
                       double wall_ns, double *scratch,
                       kmbi_interval *interval) {
  if (!kmbi_interval_of(x, n, rule->tick, rule->seed, scratch, interval))
    return KMBI_GO_ON;
  if (n < rule->min_samples || wall_ns < rule->min_wall_ns) return KMBI_GO_ON;
  double wanted = rule->target * fabs(interval->median);
  double sampling = interval->half - interval->tick_part;
  bool precise = interval->half <= wanted;
  bool at_tick = rule->tick > 0 && sampling <= rule->tick / 2;
  if (precise || at_tick) {
    if (!kmbi_halves_agree(x, n, HALVES * 2 * interval->half, scratch))
      return KMBI_GO_ON;
    if (wall_ns < OUTLAST * rule->dropped_wall_ns) return KMBI_GO_ON;
    return precise ? KMBI_CONVERGED : KMBI_RESOLUTION;
  }
  double relative = 0;
  if (sampling > FAR * fmax(wanted, rule->tick / 2) &&
      kmbi_drift(x, n, rule->tick, scratch, &relative) &&
      fabs(relative) > rule->target)
    return KMBI_DROP_HALF;
  return KMBI_GO_ON;
}

size_t kmbi_next_look(size_t n) {
  size_t more = n / 10 * 3 + n % 10 * 3 / 10;
  return n + (more > 0 ? more : 1);
}

/* --- rounds ------------------------------------------------------------- */

/* The narrowest sign-test interval that holds at least what five rounds can
 * give, 15/16. */
bool kmbi_round_interval(const double *medians, size_t n, double *scratch,
                         double *low, double *high, double *confidence) {
  if (n < 5) return false;
  size_t k = 0, top;
  if (n <= EXACT_RANKS) {
    double tail = 0;
    k = kmbi_binomial_tail(n, 1.0 / 16, &tail);
    *confidence = 1 - tail;
  } else {
    (void)kmbi_median_ranks(n, &k, &top); /* n is enough */
    *confidence = 0.99;
  }
  memcpy(scratch, medians, n * sizeof *medians);
  kmbi_sort(scratch, n);
  *low = scratch[k];
  *high = scratch[n - 1 - k];
  return true;
}
