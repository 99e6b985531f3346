/* Proof of coldness. By time: the same operation on one slot again and again;
 * if warm is clearly faster, the measured state was not warm. By counters: what
 * came from DRAM against what the inputs hold. */
#include "counters.h"
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
  double ratio = round->interval.median / warm;
  /* Proved only if even the slowest warm call is below the whole interval. */
  bool proved = round->has_interval && round->interval.low > slowest;
  kmbi_result_format(run->result, KMB_VALUE_CACHE_PROOF,
                     proved ? "time: %.2f times the warm time"
                            : "unproved: %.2f times the warm time, within the "
                              "warm calls' spread",
                     ratio);
  return KMB_OK;
}

/* Bytes of inputs that an iteration touches, but for those that are kept warm
 * in a state that is cold. */
static uint64_t inputs(const kmbi_run *run, bool cold) {
  const kmb_buffers *set = run->p.buffers;
  uint64_t bytes = 0;
  for (uint64_t i = 0; set && i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    bool input = d->role == KMB_INPUT || d->role == KMB_INOUT;
    bool warm = cold && d->residency == KMB_RESIDENT_WARM;
    if (input && !warm && set->places[i] != KMBI_ALIAS)
      bytes += d->touched_bytes;
  }
  return bytes;
}

/* Rounding to lines and what a launch itself reads is little; a state that is
 * not what it is called shows a good part of the inputs. */
#define COLD_AT_LEAST 0.9
#define WARM_AT_MOST 0.1

void kmbi_prove_by_counters(kmbi_run *run, double dram_read) {
  kmb_result *result = run->result;
  bool warm = run->choice.cache == KMB_CACHE_WARM;
  uint64_t bytes = inputs(run, !warm);
  if (!bytes) {
    kmbi_result_absent(result, KMB_VALUE_COLD_RATIO,
                       "there are no buffers with inputs that could be cold");
    return;
  }
  double ratio = dram_read / (double)bytes;
  kmb_figure figures[] = {{"dram_read_bytes", dram_read},
                          {"input_bytes", (double)bytes}};
  kmbi_result_set_f64(result, KMB_VALUE_COLD_RATIO, ratio);
  kmbi_result_format(result, KMB_VALUE_CACHE_PROOF,
                     "counters: %.3f of the touched bytes of inputs came from "
                     "DRAM",
                     ratio);
  if (!warm && ratio < COLD_AT_LEAST)
    kmbi_result_find(result, KMB_FINDING_NOT_COLD, KMB_WARNING, figures, 2,
                     "only %.3f of the touched bytes of inputs came from DRAM "
                     "(hardware counters)",
                     ratio);
  if (warm && ratio > WARM_AT_MOST)
    kmbi_result_find(result, KMB_FINDING_NOT_WARM, KMB_WARNING, figures, 2,
                     "%.3f of the touched bytes of inputs came from DRAM "
                     "(hardware counters)",
                     ratio);
}
