/* What we know against samples that a plan has taken. */
#include "plan.h"

#include <stdio.h>

#include "trace.h"

static void tell_ungated(const kmbi_hip_plan *plan, kmb_find_fn find,
                         void *user) {
  char text[KMBI_HIP_TEXT + 80];
  kmb_figure figures[] = {{"spoiled_samples", (double)plan->spoiled}};
  if (!plan->ungated[0]) return;
  snprintf(text, sizeof text,
           "timed without a gate, so that gaps of the host may be in the "
           "times: %s",
           plan->ungated);
  find(user, KMB_FINDING_FALLBACK_TIMER, KMB_WARNING, figures,
       plan->spoiled ? 1 : 0, text);
}

static void tell_dropped(const kmbi_hip_plan *plan, kmb_find_fn find,
                         void *user) {
  char text[KMBI_HIP_TEXT];
  uint64_t count = kmbi_hip_trace_dropped() - plan->dropped_before;
  kmb_figure figures[] = {{"dropped_records", (double)count}};
  if (!count) return;
  snprintf(text, sizeof text,
           "rocprofiler-sdk dropped %llu records; iterations without any were "
           "left out",
           (unsigned long long)count);
  find(user, KMB_FINDING_RECORDS_DROPPED, KMB_WARNING, figures, 1, text);
}

void kmbi_hip_plan_findings(void *opened, void *created, kmb_find_fn find,
                            void *user) {
  const kmbi_hip_plan *plan = created;
  (void)opened;
  tell_ungated(plan, find, user);
  if (plan->desc.choice.timer == KMB_TIMER_TRACE)
    tell_dropped(plan, find, user);
}
