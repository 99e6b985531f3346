/* Proof of coldness by time: the same operation on one slot again and again.
 * If warm is clearly faster, the measured state was not warm. */
#include "error.h"
#include "run.h"

enum { PROBES = 9 };

/* The first sample, which still brings the slot in, is left out. */
static kmb_status time_warm(kmbi_run *run, double *ns, uint64_t *got) {
  kmb_choice warm = run->choice;
  warm.cache = KMB_CACHE_WARM;
  uint32_t slots = run->slots, ring = run->next_slot;
  void *plan = NULL;
  uint64_t taken = 0;
  run->slots = 1; /* one slot, again and again */
  run->next_slot = 0;
  kmb_status status =
      kmbi_plan_open(run, &warm, run->batch, run->p.launch, &plan);
  if (!status) {
    double until = kmbi_clock(run) + run->p.max_wall_ns / 20;
    status = kmbi_plan_take(run, plan, run->batch, PROBES, until, &taken);
    kmbi_plan_close(run, plan);
  }
  run->slots = slots;
  run->next_slot = ring;
  *got = 0;
  for (uint64_t i = 1; !status && i < taken; i++)
    *got +=
        kmbi_sample_ns(run, &run->block[i], warm.timer, run->batch, &ns[*got]);
  return status;
}

kmb_status kmbi_prove_cold(kmbi_run *run) {
  bool cold = run->choice.cache == KMB_CACHE_COLD ||
              run->choice.cache == KMB_CACHE_ROTATED;
  if (!cold || !run->p.buffers) return KMB_OK;
  double ns[PROBES], scratch[PROBES];
  uint64_t got = 0;
  kmb_status status = time_warm(run, ns, &got);
  if (status && kmbi_is_local(status)) return KMB_OK;
  if (status || got < 2) return status;
  double warm = kmbi_median(ns, (size_t)got, scratch), slowest = 0;
  for (uint64_t i = 0; i < got; i++)
    if (ns[i] > slowest) slowest = ns[i];
  const kmbi_round *round = &run->rounds[run->round];
  if (!(warm > 0)) return KMB_OK;
  run->cold_ratio = round->interval.median / warm;
  /* Proved only if even the slowest warm call is below the whole interval. */
  bool proved = round->has_interval && round->interval.low > slowest;
  kmbi_result_format(run->result, KMB_VALUE_CACHE_PROOF,
                     proved ? "time: %.2f times the warm time"
                            : "unproved: %.2f times the warm time, within the "
                              "warm calls' spread",
                     run->cold_ratio);
  return KMB_OK;
}
