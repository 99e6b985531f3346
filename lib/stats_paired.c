/* Paired ratios: what two candidates that were measured in turns come to. */
#include "stats.h"

#include <math.h>
#include <string.h>

size_t kmbi_paired_least(double alpha) {
  size_t n = KMBI_INTERVAL_MIN;
  while (ldexp(1, 1 - (int)n) > alpha)
    n++;
  return n;
}

bool kmbi_paired_logs(const double *a, double bias_a, const double *b,
                      double bias_b, size_t cycles, double *logs) {
  for (size_t i = 0; i < 2 * cycles; i++)
    if (!(a[i] - bias_a > 0) || !(b[i] - bias_b > 0)) return false;
  for (size_t c = 0; c < cycles; c++) {
    const double *x = a + 2 * c, *y = b + 2 * c;
    logs[c] = (log((x[0] - bias_a) / (y[0] - bias_b)) +
               log((x[1] - bias_a) / (y[1] - bias_b))) /
              2;
  }
  return true;
}

bool kmbi_paired_interval(const double *logs, size_t cycles, double left_open,
                          double alpha, double *scratch, kmbi_paired *paired) {
  if (cycles < kmbi_paired_least(alpha) || cycles > KMBI_CYCLES_MAX)
    return false;
  double tail = 0, centre = kmbi_median(logs, cycles, scratch);
  size_t low = kmbi_binomial_tail(cycles, alpha, &tail);
  paired->design_effect = kmbi_design_effect(logs, cycles, centre);
  double wider = sqrt(paired->design_effect);
  double below = (centre - scratch[low]) * wider + left_open;
  double above = (scratch[cycles - 1 - low] - centre) * wider + left_open;
  paired->ratio = exp(centre);
  paired->low = exp(centre - below);
  paired->high = exp(centre + above);
  paired->confidence = 1 - tail;
  return true;
}
