/* What the engine asks of the ranks. One rank is answered here; several by what
 * their communicator brings, so that a program that makes none does not link
 * it. */
#include "run.h"

static const kmbi_ranks_ops *all(const kmbi_run *run) {
  return run->p.comm->ranks;
}

void kmbi_ranks_refuse(const kmb_bench_params *caller, kmb_status status) {
  const size_t needed = offsetof(kmb_bench_params, boundary);
  if (caller && caller->struct_size >= needed && caller->comm)
    caller->comm->ranks->refuse(caller->comm, status);
}

kmb_status kmbi_ranks_enter(kmbi_run *run, kmb_status status) {
  return run->p.comm ? all(run)->enter(run, status) : status;
}

/* Only they set `entered`. */
kmb_status kmbi_ranks_leave(kmbi_run *run, kmb_status status) {
  return run->ranks.entered ? all(run)->leave(run, status) : status;
}

void kmbi_ranks_release(kmbi_run *run) {
  if (run->p.comm) all(run)->release(run);
}

void kmbi_ranks_begin(kmbi_run *run, uint32_t stage) {
  run->ranks.stage = stage + 1;
  if (run->ranks.comm) run->ranks.align.deadline_ns = kmbi_ranks_patience(run);
  run->ranks.settled = KMB_OK;
}

kmb_status kmbi_ranks_step(kmbi_run *run, kmb_status status) {
  if (run->ranks.comm) status = all(run)->step(run, status);
  if (status) run->ranks.entered = false; /* every rank ends here */
  return status;
}

kmb_status kmbi_ranks_agree(kmbi_run *run, kmbi_say say, kmb_status status) {
  return run->ranks.comm ? all(run)->agree(run, say, status) : status;
}

double kmbi_clock(kmbi_run *run) {
  return run->ranks.comm ? run->ranks.clock_ns : kmbi_now(run->device);
}

bool kmbi_stopped(const kmbi_run *run) {
  return run->ranks.comm ? run->ranks.cancelled : kmbi_cancelled(run->device);
}

bool kmbi_ranks_serves(const kmbi_run *run, const kmb_choice *choice) {
  const kmb_backend_ops *ops = run->device->ops;
  if (!run->ranks.comm) return true;
  return KMBI_HAS(ops, aligned) && ops->aligned >> choice->timer & 1;
}

kmb_status kmbi_ranks_choose(kmbi_run *run, kmb_status status) {
  return run->ranks.comm ? all(run)->choose(run, status) : status;
}

kmb_status kmbi_ranks_cache(kmbi_run *run, kmb_status status) {
  return run->ranks.comm ? all(run)->cache(run, status) : status;
}

kmb_status kmbi_ranks_bias(kmbi_run *run, kmb_status status, double *ns,
                           double *uncertainty) {
  return run->ranks.comm ? all(run)->bias(run, status, ns, uncertainty)
                         : status;
}

kmb_status kmbi_ranks_barrier(kmbi_run *run) {
  return run->ranks.comm ? all(run)->barrier(run) : KMB_OK;
}

void kmbi_ranks_barrier_close(kmbi_run *run) {
  if (run->ranks.opened) all(run)->barrier_close(run);
}

kmb_status kmbi_ranks_take(kmbi_run *run, void *plan, uint64_t batch,
                           uint64_t count, double until_ns, uint64_t *got) {
  return all(run)->take(run, plan, batch, count, until_ns, got);
}

kmb_status kmbi_ranks_overdue(void *run, int32_t rank) {
  return all(run)->overdue(run, rank);
}

double kmbi_ranks_patience(const kmbi_run *run) {
  return all(run)->patience(run);
}

kmb_status kmbi_ranks_settle_stream(kmbi_run *run, kmb_status status) {
  return run->ranks.comm ? all(run)->settle_stream(run, status) : status;
}

kmb_status kmbi_ranks_first_use(kmbi_run *run) {
  return run->ranks.comm ? all(run)->first_use(run) : KMB_OK;
}

kmb_status kmbi_ranks_keep(kmbi_run *run, uint64_t i, size_t place) {
  return run->ranks.comm ? all(run)->keep(run, i, place) : KMB_OK;
}

kmb_status kmbi_ranks_close(kmbi_run *run, kmbi_round *round) {
  return run->ranks.comm ? all(run)->close(run, round) : KMB_OK;
}

void kmbi_ranks_set(kmbi_run *run, const kmbi_round *round) {
  const char *boundary = run->p.boundary;
  if (!boundary && run->p.comm) boundary = "all that the callback enqueues";
  if (boundary) kmbi_result_set_text(run->result, KMB_VALUE_BOUNDARY, boundary);
  if (run->p.comm) all(run)->set(run, round);
}

void kmbi_ranks_find(kmbi_run *run, const kmbi_round *round, double time_ns) {
  if (run->p.comm) all(run)->find(run, round, time_ns);
}
