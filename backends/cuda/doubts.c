/* What we know against samples that a plan has taken. */
#include "barrier.h"
#include "plan.h"

#include <stdio.h>

typedef struct teller {
  kmb_find_fn find;
  void *user;
} teller;

static void tell(const teller *t, kmb_finding_code code, kmb_severity severity,
                 const char *message) {
  t->find(t->user, code, severity, NULL, 0, message);
}

static void tell_dropped(const teller *t, const kmbi_cuda_plan *plan) {
  char text[KMBI_CUDA_TEXT];
  uint64_t dropped = plan->client->dropped;
  if (!dropped) return;
  kmb_figure figures[] = {{"dropped_records", (double)dropped}};
  snprintf(text, sizeof text,
           "CUPTI dropped %llu records; samples that lack operations for it "
           "were left out",
           (unsigned long long)dropped);
  t->find(t->user, KMB_FINDING_RECORDS_DROPPED, KMB_WARNING, figures, 1, text);
}

/* Who is attached to CUPTI may slow down what the other timers read. */
static void tell_attached(const teller *t, const kmbi_cuda_plan *plan) {
  if (plan->traced_before)
    tell(t, KMB_FINDING_CUPTI_ATTACHED, KMB_NOTE,
         "this process was traced through CUPTI before, which stays attached: "
         "launches may be slower than in a process that never was; measure in "
         "a new one to compare");
  if (kmbi_cupti_look(plan->self) == KMB_ERR_BUSY)
    tell(t, KMB_FINDING_CUPTI_ATTACHED, KMB_WARNING,
         "another tool (a profiler, a sanitizer) is attached to CUPTI in this "
         "process, and what it does may be in the times; run without it");
}

static void tell_ungated(const teller *t, const kmbi_cuda_plan *plan) {
  char text[KMBI_CUDA_TEXT + 80];
  kmb_figure figures[] = {{"spoiled_samples", (double)plan->spoiled}};
  if (!plan->ungated[0]) return;
  snprintf(
      text, sizeof text,
      "timed without a gate, so that gaps of the host may be in the times: "
      "%s",
      plan->ungated);
  t->find(t->user, KMB_FINDING_FALLBACK_TIMER, KMB_WARNING, figures,
          plan->spoiled ? 1 : 0, text);
}

/* CUPTI names the nodes of a graph that it saw being made. Of the latest run's
 * records: how many are kernels, how many have no name. */
static void tell_unseen(const teller *t, const kmbi_cuda_plan *plan) {
  char text[2 * KMBI_CUDA_TEXT];
  uint64_t kernels = 0;
  uint64_t unnamed = 0;
  if (!plan->borrowed || !plan->op_count) return;
  for (size_t i = 0; i < plan->op_count; i++) {
    const kmb_device_op *op = &plan->ops[i];
    if (op->kind != KMB_OP_KERNEL) continue;
    kernels++;
    unnamed += !op->name || !op->name[0];
  }
  kmb_figure figures[] = {{"records", (double)plan->op_count},
                          {"kernel_records", (double)kernels},
                          {"unnamed_records", (double)unnamed}};
  snprintf(
      text, sizeof text,
      "the graphs were instantiated before CUPTI was attached: it may show "
      "their copies and sets as kernels; of %llu records looked at %llu are "
      "kernels, %llu of them without a name",
      (unsigned long long)plan->op_count, (unsigned long long)kernels,
      (unsigned long long)unnamed);
  t->find(t->user, KMB_FINDING_GRAPH_UNSEEN, unnamed ? KMB_WARNING : KMB_NOTE,
          figures, 3, text);
}

static void tell_shared(const teller *t, kmbi_cuda *self) {
  char text[KMBI_CUDA_TEXT];
  int shared = 0;
  if (kmbi_cuda_is_slice(self)) {
    snprintf(
        text, sizeof text,
        "\"%.100s\" is a slice (MIG) of a GPU: others may load the rest of "
        "it, and no figure of the whole GPU applies",
        self->name);
    tell(t, KMB_FINDING_SHARED_DEVICE, KMB_WARNING, text);
  }
  if (kmbi_cuda_attribute(self, KMBI_CU_ATTR_MPS_ENABLED, &shared) && shared)
    tell(t, KMB_FINDING_SHARED_DEVICE, KMB_WARNING,
         "the device is shared through MPS: work of other processes may run "
         "beside the timed work");
}

static void tell_multicast(const teller *t, const kmbi_cuda_barrier *b) {
  if (b && b->desc.kind == KMB_BARRIER_NCCL && !b->desc.nccl)
    tell(t, KMB_FINDING_MULTICAST_OFF, KMB_NOTE,
         "the barrier is an NCCL communicator of libkmb's, for which "
         "NCCL_NVLS_ENABLE is 0 in this process: what the caller does with the "
         "same NCCL has no NVLink multicast either, and a verdict can turn");
}

void kmbi_cuda_plan_findings(void *opened, void *created, kmb_find_fn find,
                             void *user) {
  kmbi_cuda *self = opened;
  const kmbi_cuda_plan *plan = created;
  const teller t = {find, user};
  kmb_timer timer = plan->desc.choice.timer;
  if (self->lost) return;
  if (timer == KMB_TIMER_TRACE) tell_dropped(&t, plan);
  if (timer == KMB_TIMER_TRACE) tell_unseen(&t, plan);
  if (timer == KMB_TIMER_EVENT || timer == KMB_TIMER_GRAPH) {
    tell_ungated(&t, plan);
    tell_attached(&t, plan);
  }
  tell_shared(&t, self);
  if (plan->desc.align) tell_multicast(&t, self->barrier);
}
