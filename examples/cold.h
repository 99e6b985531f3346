/* Whether the results that asked for it were proved cold. */
#ifndef KMB_EXAMPLES_COLD_H
#define KMB_EXAMPLES_COLD_H

#include <kmb/kmb.h>

#include <inttypes.h>
#include <stdio.h>

/* Says which part of the inputs came from memory by hardware counters, or why
 * that is not known: the first result's reason. */
static inline void say_cold(const kmb_results *results) {
  double low = 0, high = 0, ratio = 0;
  uint64_t known = 0, count = kmb_results_count(results);
  const kmb_result *result = NULL;
  for (uint64_t i = 0; i < count; i++) {
    if (kmb_results_get(results, i, &result) ||
        kmb_result_f64(result, KMB_VALUE_COLD_RATIO, &ratio))
      continue;
    if (!known || ratio < low) low = ratio;
    if (!known || ratio > high) high = ratio;
    known++;
  }
  if (known) {
    printf(
        "Hardware counters: of the cold inputs' bytes %.2f to %.2f came from "
        "memory, by %" PRIu64 " of %" PRIu64 " results\n",
        low, high, known, count);
    return;
  }
  if (count && !kmb_results_get(results, 0, &result) &&
      kmb_result_f64(result, KMB_VALUE_COLD_RATIO, &ratio))
    printf("Not confirmed cold by hardware counters: %s\n",
           kmb_last_error(NULL, NULL));
}

#endif
