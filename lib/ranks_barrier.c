/* Ranks: which device barrier, and how far apart it releases them. */
#include "error.h"
#include "run.h"

#include <stdio.h>

/* Trials that bring caches and clocks up, and are not counted. */
enum { FIRST_TRIALS = 10 };

const char *kmbi_barrier_name(kmb_barrier barrier) {
  static const char *const names[] = {"AUTO", "FLAG",   "STREAM",
                                      "NCCL", "CALLER", "HOST"};
  return barrier >= 0 && barrier <= KMB_BARRIER_HOST ? names[barrier]
                                                     : "unknown";
}

static kmb_status exchange(void *ctx, const void *mine, void *all,
                           size_t bytes) {
  kmbi_run *run = ctx;
  if (bytes > KMBI_COMM_PAYLOAD)
    return kmbi_fail(KMB_ERR_INTERNAL, "a barrier exchanges %zu bytes", bytes);
  kmb_status status =
      kmbi_ranks_give(run, KMBI_SAY_BARRIER, KMB_OK, mine, bytes, bytes);
  for (uint32_t r = 0; !status && all && r < run->ranks.size; r++)
    memcpy((char *)all + (size_t)r * bytes, kmbi_ranks_given(run, r), bytes);
  return status;
}

static kmb_status enqueue(void *ctx, void *stream) {
  kmbi_run *run = ctx;
  const kmb_comm *comm = run->ranks.comm;
  kmb_device *device = run->device;
  if (run->ranks.barrier == KMB_BARRIER_CALLER)
    return comm->ops.device_barrier(comm->ops.ctx, stream);
  return device->ops->barrier_enqueue(device->self, run->ranks.opened, stream);
}

static void set_align(kmbi_run *run, kmb_barrier barrier) {
  kmbi_ranks *ranks = &run->ranks;
  ranks->barrier = barrier;
  ranks->align = (kmb_align){
      .struct_size = sizeof ranks->align,
      .ctx = run,
      .deadline_ns = kmbi_all_patience(run),
      .all_enqueued = kmbi_ranks_enqueued,
      .overdue = kmbi_all_overdue,
      .barrier = barrier == KMB_BARRIER_HOST ? NULL : enqueue,
  };
}

void kmbi_all_barrier_close(kmbi_run *run) {
  kmb_device *device = run->device;
  if (run->ranks.opened)
    device->ops->barrier_close(device->self, run->ranks.opened);
  run->ranks.opened = NULL;
}

static void note(kmbi_ranks *ranks, kmb_barrier kind, const char *what) {
  size_t used = strlen(ranks->why);
  snprintf(ranks->why + used, sizeof ranks->why - used, "%s%s: %s",
           used ? "; " : "", kmbi_barrier_name(kind), what);
}

static kmb_status open_one(kmbi_run *run, kmb_barrier kind) {
  kmbi_ranks *ranks = &run->ranks;
  kmb_device *device = run->device;
  kmb_barrier_desc desc = {
      .struct_size = sizeof desc,
      .ctx = run,
      .exchange = exchange,
      .nccl = ranks->comm->params.nccl,
      .deadline_ns = ranks->comm->params.first_deadline_ns,
      .rank = ranks->rank,
      .size = ranks->size,
      .hosts = ranks->node_count,
      .kind = kind,
  };
  void *opened = NULL;
  kmb_status status = device->ops->barrier_open(device->self, &desc, &opened);
  if (!status) ranks->opened = opened;
  status = kmbi_all_agree(run, KMBI_SAY_BARRIER, status);
  if (status) kmbi_all_barrier_close(run);
  if (!status) set_align(run, kind);
  return status;
}

/* Clock-free: each rank tells how long before the last one it came. */
static kmb_status one_trial(kmbi_run *run, double *spread) {
  kmbi_ranks *ranks = &run->ranks;
  kmb_device *device = run->device;
  double ns = 0;
  ranks->failed = false;
  kmb_status status = device->ops->barrier_time(
      device->self, ranks->opened, run->stream, &ranks->align, &ns);
  if (ranks->failed) return status ? status : KMB_ERR_INTERNAL;
  status = kmbi_ranks_give(run, KMBI_SAY_SAMPLE, status, &ns, sizeof ns, 0);
  if (status) return status;
  double low = ns, high = ns;
  for (uint32_t r = 0; r < ranks->size; r++) {
    double theirs = 0;
    memcpy(&theirs, kmbi_ranks_given(run, r), sizeof theirs);
    if (theirs < low) low = theirs;
    if (theirs > high) high = theirs;
  }
  *spread = high - low;
  return KMB_OK;
}

static kmb_status measure(kmbi_run *run, double *p50, double *p99) {
  kmbi_ranks *ranks = &run->ranks;
  size_t count = (size_t)ranks->comm->params.skew_samples;
  double *spreads = kmbi_alloc(&run->device->memory, count, sizeof *spreads),
         unused = 0;
  kmb_status status = spreads ? KMB_OK
                              : kmbi_fail(KMB_ERR_NOMEM,
                                          "no memory for %zu trials of a "
                                          "barrier",
                                          count);
  for (size_t i = 0; !status && i < count + FIRST_TRIALS; i++)
    status =
        one_trial(run, i < FIRST_TRIALS ? &unused : &spreads[i - FIRST_TRIALS]);
  if (!status) {
    kmbi_sort(spreads, count);
    *p50 = kmbi_quantile(spreads, count, 0.5);
    *p99 = kmbi_quantile(spreads, count, 0.99);
  }
  kmbi_free(&run->device->memory, spreads, count, sizeof *spreads);
  return status;
}

/* Another barrier need not fail, too: a vendor's library may have an error of
 * its own. */
static bool is_passable(kmb_status status) {
  return kmbi_is_local(status) || status == KMB_ERR_VENDOR;
}

/* Opens and judges it. One that cannot be had is noted; one that cannot be
 * judged stays open if `by_name`, and `*judged` tells. */
static kmb_status try_one(kmbi_run *run, kmb_barrier kind, bool by_name,
                          double *p50, double *p99, bool *judged) {
  kmb_status status = open_one(run, kind);
  *judged = false;
  if (!status) {
    status = measure(run, p50, p99);
    *judged = !status;
    if (by_name && status == KMB_ERR_UNSUPPORTED) {
      snprintf(run->ranks.unmeasured, sizeof run->ranks.unmeasured, "%s",
               kmb_last_error(NULL, NULL));
      return KMB_OK;
    }
  }
  if (status) kmbi_all_barrier_close(run);
  if (is_passable(status)) note(&run->ranks, kind, kmb_last_error(NULL, NULL));
  return status;
}

static void keep(kmbi_ranks *ranks, double p50, double p99) {
  ranks->skew_p50 = p50;
  ranks->skew_p99 = p99;
  ranks->has_skew = true;
}

static kmb_status take_named(kmbi_run *run, kmb_barrier kind) {
  kmbi_ranks *ranks = &run->ranks;
  double p50 = 0, p99 = 0;
  bool there = kind == KMB_BARRIER_HOST || ranks->barriers >> kind & 1;
  if (!there)
    return kmbi_fail(
        KMB_ERR_UNSUPPORTED, "barrier %s cannot be had on every rank%s",
        kmbi_barrier_name(kind),
        kind == KMB_BARRIER_CALLER ? ": kmb_comm_ops has no device_barrier"
                                   : " with this backend");
  if (kind == KMB_BARRIER_HOST || kind == KMB_BARRIER_CALLER) {
    set_align(run, kind);
    snprintf(ranks->unmeasured, sizeof ranks->unmeasured, "%s",
             kind == KMB_BARRIER_HOST
                 ? "the ranks' hosts alone are aligned"
                 : "a barrier of the caller's is not timed by itself");
    return KMB_OK;
  }
  bool judged = false;
  kmb_status status = try_one(run, kind, true, &p50, &p99, &judged);
  if (judged) keep(ranks, p50, p99);
  return status;
}

/* The one with the least skew stays open. */
static kmb_status take_best(kmbi_run *run) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_STREAM};
  kmbi_ranks *ranks = &run->ranks;
  kmb_barrier best = KMB_BARRIER_AUTO, last = KMB_BARRIER_AUTO;
  double p50 = 0, p99 = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!(ranks->barriers >> kinds[i] & 1)) continue;
    kmbi_all_barrier_close(run);
    bool judged = false;
    kmb_status status = try_one(run, kinds[i], false, &p50, &p99, &judged);
    if (status && !kmbi_is_local(status)) return status;
    if (status) continue;
    char text[64];
    snprintf(text, sizeof text, "released within %.2f us (p99 %.2f)", p50 / 1e3,
             p99 / 1e3);
    note(ranks, kinds[i], text);
    last = kinds[i];
    if (best != KMB_BARRIER_AUTO && p99 >= ranks->skew_p99) continue;
    best = kinds[i];
    keep(ranks, p50, p99);
  }
  if (best == KMB_BARRIER_AUTO || (best == last && ranks->opened))
    return KMB_OK;
  kmbi_all_barrier_close(run);
  return open_one(run, best);
}

static kmb_status choose(kmbi_run *run) {
  kmbi_ranks *ranks = &run->ranks;
  if (ranks->comm->params.barrier != KMB_BARRIER_AUTO)
    return take_named(run, ranks->comm->params.barrier);
  kmb_status status = take_best(run);
  if (status || ranks->opened) return status;
  if (ranks->barriers >> KMB_BARRIER_CALLER & 1)
    return take_named(run, KMB_BARRIER_CALLER);
  if (ranks->barriers >> KMB_BARRIER_NCCL & 1) {
    status = take_named(run, KMB_BARRIER_NCCL);
    if (!is_passable(status)) return status;
  }
  return take_named(run, KMB_BARRIER_HOST);
}

kmb_status kmbi_all_barrier(kmbi_run *run) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status = choose(run);
  if (!status) kmbi_error_restore(&before);
  return status;
}
