/* The gate: a kernel of ours that waits for a word of host memory, so that
 * nothing of what is timed waits for the host. (HIP's own wait for a value is
 * such a kernel too, and is not captured as one.) A launch that waits for the
 * device meanwhile would hold up both: the kernel gives up after a time, and
 * the plan then goes on without a gate, which is said. */
#include "plan.h"

#include <stdio.h>

/* Looks at host memory take some 100 ns to 1 us each. */
enum { TRIES = 2000000 };

/* Once for each reason: what is measured often would say it as often. */
static bool is_new(kmbi_hip *self, const char *why) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *at = why; *at; at++)
    hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
  for (int i = 0; i < KMBI_HIP_REASONS; i++) {
    if (self->ungated_said[i] == hash) return false;
    if (self->ungated_said[i]) continue;
    self->ungated_said[i] = hash;
    return true;
  }
  return false;
}

static void without(kmbi_hip_plan *plan, const char *why) {
  kmbi_hip *self = plan->self;
  const kmb_host *host = self->host;
  char line[KMBI_HIP_TEXT + 64];
  plan->gated = false;
  snprintf(plan->ungated, sizeof plan->ungated, "%s", why);
  if (!is_new(self, why)) return;
  snprintf(line, sizeof line, "no gate, so that host gaps may be timed too: %s",
           why);
  host->log(host->ctx, KMB_LOG_WARNING, line);
}

/* One iteration without a gate first: what a first use loads or allocates it
 * must not do behind one. */
static kmb_status first_use(kmbi_hip_plan *plan) {
  kmb_status status = kmbi_hip_before(plan);
  if (!status) status = kmbi_hip_iterate(plan);
  return kmbi_hip_drain(plan, status);
}

static const char gave_up[] =
    "the gate gave up waiting after about a second: the launch waits for the "
    "device, or enqueues more than fits into the queue; what it waits for does "
    "not belong into it";

kmb_status kmbi_hip_gate_decide(kmbi_hip_plan *plan) {
  const kmb_host *host = plan->self->host;
  kmb_error failed;
  plan->gated = false;
  /* Several ranks have run it already, all of them: one that did so alone would
   * wait for the others. */
  kmb_status status = plan->desc.align ? KMB_OK : first_use(plan);
  if (status) return status;
  if (!plan->desc.align && plan->self->held_up == plan->desc.launch &&
      plan->self->held_up_user == plan->desc.launch_user) {
    without(plan, gave_up);
    return KMB_OK;
  }
  plan->gated = true;
  status = kmbi_hip_space_gate(plan->self);
  if (!status || plan->self->lost) return status;
  host->error_save(host->ctx, &failed);
  without(plan, failed.message);
  /* Nothing failed that the caller asked for. */
  host->error_restore(host->ctx, &plan->before);
  return KMB_OK;
}

kmb_status kmbi_hip_gate_close(kmbi_hip_plan *plan) {
  kmbi_hip_space *space = &plan->self->space;
  if (!plan->gated) return KMB_OK;
  uint64_t tries = TRIES;
  uint32_t turn = ++space->gate_turn;
  void *arguments[] = {&space->gate_device, &turn, &tries};
  return kmbi_hip_launch(plan->self, plan->stream, KMBI_HIP_gate, 1, arguments);
}

void kmbi_hip_gate_open(kmbi_hip_plan *plan) {
  kmbi_hip_space *space = &plan->self->space;
  if (plan->gated)
    __atomic_store_n(&space->gate[0], space->gate_turn, __ATOMIC_SEQ_CST);
}

bool kmbi_hip_gate_held(kmbi_hip_plan *plan, uint64_t count) {
  kmbi_hip *self = plan->self;
  const kmbi_hip_space *space = &self->space;
  if (!plan->gated ||
      __atomic_load_n(&space->gate[1], __ATOMIC_SEQ_CST) != space->gate_turn)
    return true;
  plan->spoiled += count;
  /* The host waited for other ranks: no fault of the callback's. */
  if (plan->desc.align) return false;
  self->held_up = plan->desc.launch;
  self->held_up_user = plan->desc.launch_user;
  without(plan, gave_up);
  return false;
}
