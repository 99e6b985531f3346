/* Statistics: pure functions over arrays. They allocate nothing, read no clock
 * and no global, and are tested on known answers. `scratch` arrays are as long
 * as stated and hold nothing meaningful afterwards. Inputs are finite. */
#ifndef KMB_LIB_STATS_H
#define KMB_LIB_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seeded generator (splitmix64); the same numbers everywhere. */
uint64_t kmbi_random(uint64_t *state);
double kmbi_uniform(uint64_t *state); /* [0, 1) */

void kmbi_sort(double *x, size_t n);
/* Linear interpolation between order statistics (Hyndman and Fan, type 7);
 * n at least 1, 0 <= q <= 1. */
double kmbi_quantile(const double *sorted, size_t n, double q);
/* scratch: n */
double kmbi_median(const double *x, size_t n, double *scratch);

typedef struct kmbi_summary {
  double median, mean, stdev, mad, min, p25, p75, p95, p99, max;
} kmbi_summary;
/* n at least 1; stdev is 0 for n == 1. scratch: n */
void kmbi_summarise(const double *x, size_t n, double *scratch,
                    kmbi_summary *summary);

/* Fewer samples have no interval. */
enum { KMBI_INTERVAL_MIN = 8 };

/* Ranks (0-based, low <= high) of the order statistics that hold the median
 * with at least 99% confidence for independent samples. False below
 * KMBI_INTERVAL_MIN. */
bool kmbi_median_ranks(size_t n, size_t *low, size_t *high);

/* Largest k with 2 P(B <= k) <= alpha for B binomial (n, 1/2), n at most 1000
 * and 2^(1-n) at most alpha. What is reached goes to `tail`. */
size_t kmbi_binomial_tail(size_t n, double alpha, double *tail);

/* How much the blocks of the above/below-median indicator vary over what
 * independent samples would give; 16 contiguous blocks, at least 1. 1 for fewer
 * samples than give two a block. */
double kmbi_design_effect(const double *x, size_t n, double median);

/* The 99% within-run interval of the median (design, section 4, step 4). */
typedef struct kmbi_interval {
  double median; /* of the undithered samples */
  double low, high;
  double half;      /* (high - low) / 2 */
  double tick_part; /* of half: what the clock's step alone leaves open */
  double design_effect;
} kmbi_interval;
/* False for fewer samples than KMBI_INTERVAL_MIN. `tick` is the clock's step
 * per iteration, 0 for none. scratch: n */
bool kmbi_interval_of(const double *x, size_t n, double tick, uint64_t seed,
                      double *scratch, kmbi_interval *interval);

/* Whether the medians of the two halves differ by no more than `width`.
 * scratch: n */
bool kmbi_halves_agree(const double *x, size_t n, double width,
                       double *scratch);

typedef enum kmbi_verdict {
  KMBI_GO_ON,     /* not precise enough yet */
  KMBI_DROP_HALF, /* a trend: drop the first n / 2 and go on */
  KMBI_CONVERGED, /* precise enough */
  KMBI_RESOLUTION /* only the tick prevents more */
} kmbi_verdict;

typedef struct kmbi_rule {
  double target; /* half-width over median, such as 0.005 */
  double tick;   /* of the clock, per iteration; 0: none */
  double min_wall_ns;
  double dropped_wall_ns; /* wall time of the samples dropped so far */
  uint64_t min_samples;
  uint64_t seed;
} kmbi_rule;
/* One look. `wall_ns` counts from the first sample that is still kept. The
 * interval is meaningful if n is at least KMBI_INTERVAL_MIN. scratch: n */
kmbi_verdict kmbi_look(const kmbi_rule *rule, const double *x, size_t n,
                       double wall_ns, double *scratch,
                       kmbi_interval *interval);
/* Number of samples at the next look: n · 1.3, at least n + 1. After a drop, n
 * is what is kept. */
size_t kmbi_next_look(size_t n);

/* --- pairs: candidate and baseline in turns, two turns a cycle --- */

enum { KMBI_CYCLES_MAX = 1000 };
/* Fewest cycles that have an interval of confidence 1 - alpha. */
size_t kmbi_paired_least(double alpha);
/* The logarithm of each cycle's ratio: geometric mean of turns 2c and 2c + 1 of
 * `a` over that of `b`. False if a turn less its bias is not above 0. */
bool kmbi_paired_logs(const double *a, double bias_a, const double *b,
                      double bias_b, size_t cycles, double *logs);
typedef struct kmbi_paired {
  double ratio; /* median over cycles */
  double low, high;
  double confidence; /* at least 1 - alpha */
  double design_effect;
} kmbi_paired;
/* `left_open`: what the clocks' steps leave open of the logarithm. False for
 * fewer cycles than kmbi_paired_least() and for more than KMBI_CYCLES_MAX.
 * scratch: cycles */
bool kmbi_paired_interval(const double *logs, size_t cycles, double left_open,
                          double alpha, double *scratch, kmbi_paired *paired);

/* Trend over the run: difference of the medians of the last and the first
 * quarter over the median, and whether it stands out of the noise. False below
 * 64 samples. scratch: n */
bool kmbi_drift(const double *x, size_t n, double tick, double *scratch,
                double *relative);

/* Two separated modes. `share` is the smaller mode's part of the samples, the
 * two centres are medians of the modes; all 0 if there are not two. A tick
 * smaller than the clock's true step makes modes of its readings. False below
 * 64 samples. scratch: n */
typedef struct kmbi_modes {
  double low, high; /* centres */
  double share;
} kmbi_modes;
bool kmbi_bimodal(const double *x, size_t n, double tick, double *scratch,
                  kmbi_modes *modes);

/* Interval of the median over rounds: the narrowest sign-test interval of at
 * least the confidence that [min, max] of 5 rounds has, 15/16. `confidence` is
 * what the ranks reach. False below 5. scratch: n */
bool kmbi_round_interval(const double *medians, size_t n, double *scratch,
                         double *low, double *high, double *confidence);

#endif
