/* What we know against samples that a plan has taken. */
#include "plan.h"

#include <stdio.h>

void kmbi_hip_plan_findings(void *opened, void *created, kmb_find_fn find,
                            void *user) {
  const kmbi_hip_plan *plan = created;
  char text[KMBI_HIP_TEXT + 80];
  kmb_figure figures[] = {{"spoiled_samples", (double)plan->spoiled}};
  (void)opened;
  if (!plan->ungated[0]) return;
  snprintf(text, sizeof text,
           "timed without a gate, so that gaps of the host may be in the "
           "times: %s",
           plan->ungated);
  find(user, KMB_FINDING_FALLBACK_TIMER, KMB_WARNING, figures,
       plan->spoiled ? 1 : 0, text);
}
