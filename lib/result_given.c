/* Samples that were not taken by kmb_bench(): what their result says of it. */
#include "run.h"

static void doubt_events(kmbi_run *run) {
  static const char why[] =
      "marks of a running program are neither gated nor calibrated";
  kmbi_result_absent(run->result, KMB_VALUE_BIAS, "%s", why);
  kmbi_result_set_text(run->result, KMB_VALUE_ZERO_REFERENCE, "uncalibrated");
  kmbi_result_find(run->result, KMB_FINDING_UNCALIBRATED, KMB_WARNING, NULL, 0,
                   "the EVENT timer's bias is not known: %s; what the stream "
                   "waited for is in the times",
                   why);
}

static void doubt_invalid(kmbi_run *run) {
  kmb_figure figures[] = {{"invalid_samples", (double)run->given.invalid}};
  if (!run->given.invalid) return;
  kmbi_result_find(run->result, KMB_FINDING_INVALID_TIMESTAMPS, KMB_WARNING,
                   figures, 1,
                   "%llu samples had impossible times and were left out",
                   (unsigned long long)run->given.invalid);
}

void kmbi_set_given(kmbi_run *run) {
  const kmbi_given *given = &run->given;
  kmb_result *result = run->result;
  bool asked = run->p.timer == given->timer;
  if (given->timer == KMB_TIMER_AUTO) {
    kmbi_result_absent(result, KMB_VALUE_BIAS, "the samples were given");
    kmbi_result_set_text(result, KMB_VALUE_ZERO_REFERENCE,
                         "the caller's clock");
    return;
  }
  kmbi_result_set_text(result, KMB_VALUE_TIMER, kmbi_timer_name(given->timer));
  kmbi_result_set_text(result, KMB_VALUE_TIMER_REASON,
                       given->reason ? given->reason
                       : asked       ? "asked for"
                                     : "the session's first choice");
  if (given->reason && run->p.timer != KMB_TIMER_AUTO && !asked)
    kmbi_result_find(result, KMB_FINDING_FALLBACK_TIMER, KMB_WARNING, NULL, 0,
                     "timed by %s, not by %s: %s",
                     kmbi_timer_name(given->timer),
                     kmbi_timer_name(run->p.timer), given->reason);
  doubt_invalid(run);
  if (given->timer == KMB_TIMER_EVENT) {
    doubt_events(run);
    return;
  }
  kmbi_result_absent(result, KMB_VALUE_BIAS,
                     "host time between the caller's calls; nothing is "
                     "subtracted");
  kmbi_result_set_text(result, KMB_VALUE_ZERO_REFERENCE,
                       "host steady clock, nothing subtracted");
}
