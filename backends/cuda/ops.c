/* The device operations of a run's samples, kept until the next run. */
#include "plan.h"

/* Samples beyond stay without their operations. */
enum { MOST = 16384 };

void kmbi_cuda_ops_forget(kmbi_cuda_plan *plan) {
  plan->op_count = 0;
}

kmb_status kmbi_cuda_ops_reserve(kmbi_cuda_plan *plan) {
  const kmb_host *host = plan->self->host;
  kmbi_cupti_hold();
  size_t needed = plan->op_count + plan->client->op_count;
  kmbi_cupti_release();
  if (needed > MOST) needed = MOST;
  if (needed <= plan->op_capacity) return KMB_OK;
  size_t capacity = 2 * needed < MOST ? 2 * needed : MOST;
  kmb_device_op *ops =
      host->alloc(host->ctx, capacity * sizeof *ops, _Alignof(kmb_device_op));
  if (!ops)
    return KMBI_CUDA_FAIL(plan->self, KMB_ERR_NOMEM, 0,
                          "no memory for the operations of a run (%zu bytes)",
                          capacity * sizeof *ops);
  if (plan->op_count) memcpy(ops, plan->ops, plan->op_count * sizeof *ops);
  kmbi_cuda_ops_release(plan);
  plan->ops = ops;
  plan->op_capacity = capacity;
  return KMB_OK;
}

void kmbi_cuda_ops_keep(kmbi_cuda_plan *plan, uint64_t sample,
                        const kmbi_cupti_op *ops, size_t count) {
  if (count > plan->op_capacity - plan->op_count) return;
  for (size_t i = 0; i < count; i++)
    plan->ops[plan->op_count++] = (kmb_device_op){
        .name = ops[i].name,
        .start_ns = (double)(ops[i].start - ops[0].start),
        .duration_ns = (double)(ops[i].end - ops[i].start),
        .bytes = ops[i].bytes,
        .sample = (uint32_t)sample,
        .stream = ops[i].stream,
        .shape = ops[i].shape,
        .kind = ops[i].kind,
    };
}

void kmbi_cuda_ops_release(kmbi_cuda_plan *plan) {
  const kmb_host *host = plan->self->host;
  if (plan->ops)
    host->free(host->ctx, plan->ops, plan->op_capacity * sizeof *plan->ops);
  plan->ops = NULL;
  plan->op_capacity = 0;
}

kmb_status kmbi_cuda_plan_ops(void *self, void *created, kmb_device_op_fn emit,
                              void *user) {
  const kmbi_cuda_plan *plan = created;
  (void)self;
  for (size_t i = 0; i < plan->op_count; i++)
    emit(user, &plan->ops[i]);
  return KMB_OK;
}
