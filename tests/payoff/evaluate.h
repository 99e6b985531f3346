/* What tests of predictions share. */
#ifndef KMB_TESTS_PAYOFF_EVALUATE_H
#define KMB_TESTS_PAYOFF_EVALUATE_H

#include "../trace/load.h"

#include <kmb/payoff.h>

static inline kmb_payoff_change changed(const char *kernel, double ratio) {
  kmb_payoff_change change = kmb_payoff_change_init();
  change.kernel = kernel;
  change.ratio = ratio;
  return change;
}

static inline kmb_payoff *evaluate(const kmb_trace *trace,
                                   const kmb_payoff_change *change,
                                   const kmb_payoff_params *params) {
  kmb_payoff *payoff = NULL;
  REQUIRE_OK(kmb_payoff_evaluate(trace, change, params, &payoff));
  return payoff;
}

static inline kmb_payoff_summary summary_of(const kmb_payoff *payoff) {
  kmb_payoff_summary summary = kmb_payoff_summary_init();
  REQUIRE_OK(kmb_payoff_get_summary(payoff, &summary));
  return summary;
}

static inline void refuses(const kmb_trace *trace,
                           const kmb_payoff_change *change,
                           const kmb_payoff_params *params, kmb_status status,
                           const char *part) {
  kmb_payoff *payoff = (kmb_payoff *)&payoff;
  REQUIRE_STATUS(kmb_payoff_evaluate(trace, change, params, &payoff), status);
  REQUIRE(!payoff);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), part);
}

#endif
