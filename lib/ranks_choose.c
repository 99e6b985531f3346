/* Ranks: ways to measure, slots and biases that all of them have. */
#include "error.h"
#include "run.h"

typedef struct ways {
  double tick_ns;
  uint64_t llc_bytes;
  uint32_t barriers; /* bits; CALLER among them if there is one */
  uint32_t count;
  kmb_choice choices[KMBI_CHOICES];
} ways;

_Static_assert(sizeof(ways) <= KMBI_COMM_PAYLOAD, "it fits a record");

static bool has_way(const ways *w, const kmb_choice *choice) {
  for (uint32_t i = 0; i < w->count && i < KMBI_CHOICES; i++)
    if (w->choices[i].timer == choice->timer &&
        w->choices[i].launch_mode == choice->launch_mode &&
        w->choices[i].cache == choice->cache)
      return true;
  return false;
}

static bool all_have(const kmbi_run *run, const kmb_choice *choice) {
  for (uint32_t r = 0; r < run->ranks.size; r++)
    if (!has_way(kmbi_ranks_given(run, r), choice)) return false;
  return true;
}

static uint32_t own_barriers(const kmbi_run *run) {
  const kmb_backend_ops *ops = run->device->ops;
  uint32_t bits = KMBI_HAS(ops, barriers) ? ops->barriers : 0;
  if (!KMBI_HAS(ops, barrier_open) || !KMBI_HAS(ops, barrier_enqueue) ||
      !KMBI_HAS(ops, barrier_time) || !KMBI_HAS(ops, barrier_close))
    bits = 0;
  if (run->ranks.comm->ops.device_barrier) bits |= 1u << KMB_BARRIER_CALLER;
  return bits;
}

/* In the order of rank 0. */
static void take_common(kmbi_run *run) {
  const ways *first = kmbi_ranks_given(run, 0);
  run->choice_count = 0;
  for (uint32_t i = 0; i < first->count && i < KMBI_CHOICES; i++)
    if (all_have(run, &first->choices[i]))
      run->choices[run->choice_count++] = first->choices[i];
  run->ranks.barriers = ~0u;
  for (uint32_t r = 0; r < run->ranks.size; r++) {
    const ways *w = kmbi_ranks_given(run, r);
    if (w->tick_ns > run->tick_ns) run->tick_ns = w->tick_ns;
    if (w->llc_bytes > run->llc_bytes) run->llc_bytes = w->llc_bytes;
    run->ranks.barriers &= w->barriers;
  }
}

/* What was asked for, then events before the host's clock, then replays before
 * plain launches: a replay leaves no host between the barrier and the work. */
static int order_of(const kmbi_run *run, const kmb_choice *choice) {
  return 4 * !kmbi_is_asked(&run->p, choice) +
         2 * (choice->timer == KMB_TIMER_HOST) +
         (choice->launch_mode != KMB_LAUNCH_GRAPH);
}

static void put_in_order(kmbi_run *run) {
  for (uint32_t i = 1; i < run->choice_count; i++) {
    kmb_choice moved = run->choices[i];
    uint32_t at = i;
    for (; at && order_of(run, &run->choices[at - 1]) > order_of(run, &moved);
         at--)
      run->choices[at] = run->choices[at - 1];
    run->choices[at] = moved;
  }
}

kmb_status kmbi_all_choose(kmbi_run *run, kmb_status status) {
  ways mine;
  memset(&mine, 0, sizeof mine);
  if (!status) {
    put_in_order(run);
    mine.tick_ns = run->tick_ns;
    mine.llc_bytes = run->llc_bytes;
    mine.barriers = own_barriers(run);
    mine.count = run->choice_count;
    memcpy(mine.choices, run->choices, sizeof mine.choices);
  }
  status = kmbi_ranks_give(run, KMBI_SAY_WAYS, status, &mine, sizeof mine, 0);
  if (status) return status;
  take_common(run);
  if (run->choice_count) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "no timer, launch mode and cache state can be had on every "
                   "rank; ask for one that all devices have");
}

kmb_status kmbi_all_cache(kmbi_run *run, kmb_status status) {
  typedef struct had {
    uint64_t wanted, reuse_bytes, sweep_bytes;
    uint32_t slots, not_cold;
  } had;
  had mine = {run->wanted_slots, run->reuse_bytes, run->sweep_bytes, run->slots,
              run->not_cold};
  status = kmbi_ranks_give(run, KMBI_SAY_CACHE, status, &mine, sizeof mine, 0);
  for (uint32_t r = 0; !status && r < run->ranks.size; r++) {
    const had *h = kmbi_ranks_given(run, r);
    if (h->slots < run->slots) {
      run->slots = h->slots;
      run->reuse_bytes = h->reuse_bytes;
    }
    if (h->wanted > run->wanted_slots) run->wanted_slots = h->wanted;
    run->not_cold |= h->not_cold != 0;
  }
  return status;
}

kmb_status kmbi_all_bias(kmbi_run *run, kmb_status status, double *ns,
                         double *uncertainty) {
  const double mine[2] = {*ns, *uncertainty};
  status = kmbi_ranks_give(run, KMBI_SAY_BIAS, status, mine, sizeof mine, 0);
  if (status) return status;
  double low = *ns, high = *ns, sum = 0, most = 0;
  for (uint32_t r = 0; r < run->ranks.size; r++) {
    double theirs[2];
    memcpy(theirs, kmbi_ranks_given(run, r), sizeof theirs);
    sum += theirs[0];
    if (theirs[0] < low) low = theirs[0];
    if (theirs[0] > high) high = theirs[0];
    if (theirs[1] > most) most = theirs[1];
  }
  *ns = sum / run->ranks.size;
  *uncertainty = most + (high - low) / 2;
  return KMB_OK;
}
