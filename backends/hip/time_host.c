/* HOST: the steady clock around a batch of launches and the wait for them. */
#include "plan.h"

static kmb_status batch(kmbi_hip_plan *plan, kmb_sample *sample) {
  kmb_status status = KMB_OK;
  *sample = (kmb_sample){.slot = plan->slot};
  if (plan->cold || plan->desc.reset) {
    status = kmbi_hip_drain(plan, kmbi_hip_before(plan));
    if (status) return status;
  }
  const kmb_align *align = plan->desc.align;
  if (align) status = align->all_enqueued(align->ctx);
  double started = kmbi_hip_now();
  for (uint64_t i = 0; !status && i < plan->desc.batch; i++) {
    status = kmbi_hip_iterate(plan);
    if (!status) kmbi_hip_advance(plan);
  }
  status =
      align ? kmbi_hip_barrier_finish(plan->self, plan->stream, align, status)
            : kmbi_hip_drain(plan, status);
  sample->end_ns = kmbi_hip_now();
  sample->span_ns = sample->end_ns - started;
  return status;
}

kmb_status kmbi_hip_take_host(kmbi_hip_run *run) {
  kmbi_hip_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (run->got < run->count) {
    double started = kmbi_hip_now();
    if (!kmbi_hip_portion(run, 1)) break;
    status = batch(plan, &run->samples[run->got]);
    if (status) break;
    kmbi_hip_took(plan, 1, started);
    run->got++;
  }
  return status;
}
