/* The gate: a word of host memory that the stream waits for, so that nothing
 * of what is timed waits for the host. A stream that is held up so can hold up
 * the host too, which then never opens the gate; where that may happen there is
 * none, and it is said. */
#include "plan.h"

#include <stdio.h>

#define SPIN_NS 1e6

/* Once for each reason: what is measured often would say it as often. */
static bool is_new(kmbi_cuda *self, const char *why) {
  uint64_t hash = kmbi_cuda_hash(why);
  for (int i = 0; i < KMBI_CUDA_REASONS; i++) {
    if (self->ungated_said[i] == hash) return false;
    if (self->ungated_said[i]) continue;
    self->ungated_said[i] = hash;
    return true;
  }
  return false;
}

static void without(kmbi_cuda_plan *plan, const char *why) {
  kmbi_cuda *self = plan->self;
  const kmb_host *host = self->host;
  char line[KMBI_CUDA_TEXT + 64];
  plan->gated = false;
  snprintf(plan->ungated, sizeof plan->ungated, "%s", why);
  if (!is_new(self, why)) return;
  snprintf(line, sizeof line, "no gate, so that host gaps may be timed too: %s",
           why);
  host->log(host->ctx, KMB_LOG_WARNING, line);
}

/* One iteration without a gate first: what a first use loads or allocates it
 * must not do behind one. */
static kmb_status first_use(kmbi_cuda_plan *plan) {
  kmb_status status = kmbi_cuda_before(plan);
  if (!status) status = kmbi_cuda_iterate(plan);
  return kmbi_cuda_drain(plan, status);
}

/* Whether a launch waits for what it launches, as CUDA_LAUNCH_BLOCKING and
 * some tools make it: then a kernel that spins is over when its launch returns.
 * So it is, once, if the host was held up. */
kmb_status kmbi_cuda_find_blocking(kmbi_cuda *self, kmbi_cu_stream stream) {
  if (self->blocking_known) return KMB_OK;
  bool blocking = true;
  for (int longer = 0; blocking && longer < 2; longer++) {
    uint64_t cycles = kmbi_cuda_cycles(self, longer ? 10 * SPIN_NS : SPIN_NS);
    kmb_status status = kmbi_cuda_spin(self, stream, cycles, 0);
    if (status) return status;
    kmbi_cu_result result = self->driver->cuStreamQuery(stream);
    blocking = result == KMBI_CU_SUCCESS;
    if (!blocking && result != KMBI_CU_NOT_READY)
      return kmbi_cuda_check(self, result, "cuStreamQuery");
    status = kmbi_cuda_finish(self, stream);
    if (status) return status;
  }
  self->blocking = blocking;
  self->blocking_known = true;
  return KMB_OK;
}

static kmb_status try_gate(kmbi_cuda_plan *plan) {
  kmb_status status = kmbi_cuda_space_gate(plan->self);
  if (!status) status = kmbi_cuda_find_blocking(plan->self, plan->stream);
  if (!status && plan->self->blocking)
    return KMBI_CUDA_FAIL(plan->self, KMB_ERR_UNSUPPORTED, 0,
                          "launches wait for their kernels, as with "
                          "CUDA_LAUNCH_BLOCKING=1 or under some tools");
  if (!status) status = kmbi_cuda_watch_open(plan->self, &plan->watch);
  /* Several ranks have run it already, all of them: one that did so alone
   * would wait for the others. */
  if (!status && !plan->desc.align) status = first_use(plan);
  if (!status && !plan->graph)
    status = kmbi_cuda_count_nodes(plan, &plan->nodes);
  return status;
}

static const char held_up[] =
    "the host was held up for 1 s behind the closed gate: a callback waits for "
    "the device, allocates, loads a module or fills the queue";

static bool was_held_up(const kmbi_cuda_plan *plan) {
  const kmbi_cuda *self = plan->self;
  return plan->desc.choice.timer == KMB_TIMER_EVENT && !plan->desc.align &&
         self->held_up == plan->desc.launch &&
         self->held_up_user == plan->desc.launch_user;
}

void kmbi_cuda_gate_decide(kmbi_cuda_plan *plan) {
  const kmb_host *host = plan->self->host;
  kmb_error failed;
  char why[KMBI_CUDA_TEXT];
  plan->gated = true;
  if (was_held_up(plan)) {
    without(plan, held_up);
    return;
  }
  kmb_status status = try_gate(plan);
  if (plan->self->lost) return; /* with the failure that says so */
  if (status) {
    host->error_save(host->ctx, &failed);
    without(plan, failed.message);
    kmbi_cuda_forget_error(plan);
  } else if (!plan->graph && plan->nodes > KMBI_CUDA_QUEUE) {
    snprintf(why, sizeof why,
             "one launch enqueues %llu operations, more than surely fit into "
             "the queue",
             (unsigned long long)plan->nodes);
    without(plan, why);
  }
}

kmb_status kmbi_cuda_gate_close(kmbi_cuda_plan *plan) {
  kmbi_cuda_space *space = plan->self->space;
  if (!plan->gated) return KMB_OK;
  __atomic_store_n(space->gate, 0, __ATOMIC_SEQ_CST);
  kmbi_cuda_watch_closed(&plan->watch);
  return KMBI_CU(plan->self, cuStreamWaitValue32, plan->stream,
                 space->gate_device, 1, KMBI_CU_WAIT_GEQ);
}

bool kmbi_cuda_gate_open(kmbi_cuda_plan *plan) {
  kmbi_cuda *self = plan->self;
  if (!plan->gated) return false;
  bool late = kmbi_cuda_watch_opened(&plan->watch);
  __atomic_store_n(self->space->gate, 1, __ATOMIC_SEQ_CST);
  if (!late) return false;
  /* The host waited for other ranks: no fault of the callback's. */
  if (plan->desc.align) return true;
  self->held_up = plan->desc.launch;
  self->held_up_user = plan->desc.launch_user;
  without(plan, held_up);
  return true;
}
