/* A canary: was the machine quiet while something was measured? */
#ifndef KMB_BENCH_QUIET_H
#define KMB_BENCH_QUIET_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct canary {
  uint64_t steps;   /* of the spin loop, for about SPIN_NS */
  double low, high; /* shortest and longest spin */
  uint64_t spins;
  double began_ns;
  double busy_ns;   /* of all processors together, at the start */
  double own_ns;    /* of this process and its children, at the start */
  uint64_t unquiet; /* results with the finding NOT_QUIET */
  bool has_busy;
} canary;

/* Calibrates the spin loop and takes it once. */
void canary_start(canary *c);
/* Once more: before and after each repeat. */
void canary_spin(canary *c);
/* Counts a result's own finding. */
void canary_result(canary *c, const kmb_result *result);
/* Prints the verdict and adds it to the report. NULL if the machine was quiet,
 * else why not: a static string that holds until the next call. */
const char *canary_verdict(const canary *c, report *r);

#ifdef __cplusplus
}
#endif

#endif
