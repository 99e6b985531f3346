/* HOST: the steady clock around a batch of launches and the wait for them. */
#include "plan.h"

static kmb_status batch(kmbi_cuda_plan *plan, kmb_sample *sample) {
  kmb_status status = KMB_OK;
  *sample = (kmb_sample){.slot = plan->slot};
  if (plan->cold || plan->desc.reset) {
    status = kmbi_cuda_drain(plan, kmbi_cuda_before(plan));
    if (status) return status;
  }
  if (!plan->asked && !plan->graph && plan->desc.batch > 1) {
    plan->asked = true;
    plan->parted = kmbi_cuda_is_linked(plan);
  }
  const kmb_align *align = plan->desc.align;
  if (align) status = align->all_enqueued(align->ctx);
  double started = kmbi_cuda_now();
  for (uint64_t i = 0; !status && i < plan->desc.batch; i++) {
    if (i) status = kmbi_cuda_part(plan);
    if (!status) status = kmbi_cuda_iterate(plan);
    if (!status) kmbi_cuda_advance(plan);
  }
  status =
      align ? kmbi_cuda_barrier_finish(plan->self, plan->stream, align, status)
            : kmbi_cuda_drain(plan, status);
  sample->end_ns = kmbi_cuda_now();
  sample->span_ns = sample->end_ns - started;
  return status;
}

kmb_status kmbi_cuda_take_host(kmbi_cuda_run *run) {
  kmbi_cuda_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (run->got < run->count) {
    double started = kmbi_cuda_now();
    if (!kmbi_cuda_portion(run, 1)) break;
    status = batch(plan, &run->samples[run->got]);
    if (status) break;
    kmbi_cuda_took(plan, 1, started);
    run->got++;
  }
  return status;
}
