/* Ranks: what the result gets of them, and what is to be doubted. */
#include "error.h"
#include "format.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>

/* Borders, in percent. */
#define SKEW_PCT 1.0
#define SPREAD_NOTE_PCT 1.0
#define SPREAD_WARNING_PCT 5.0

static void set_or_absent(kmb_result *result, kmb_value value, const char *text,
                          const char *why) {
  if (text)
    kmbi_result_set_text(result, value, text);
  else
    kmbi_result_absent(result, value, "%s", why);
}

/* Where nodes differ there is no one number. */
static void set_per_node(kmb_result *result, const kmbi_ranks *ranks) {
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t n = 0; n < ranks->node_count; n++) {
    uint64_t count = 0;
    for (uint32_t r = 0; r < ranks->size; r++)
      count += ranks->nodes[r] == n;
    if (count < least) least = count;
    if (count > most) most = count;
  }
  if (least == most)
    kmbi_result_set_u64(result, KMB_VALUE_GPUS_PER_NODE, most);
  else
    kmbi_result_absent(result, KMB_VALUE_GPUS_PER_NODE,
                       "it differs: %llu to %llu", (unsigned long long)least,
                       (unsigned long long)most);
}

/* Schedulers say where they put a job; names of hosts stay out of it. */
static void set_allocation(kmb_result *result) {
  static const char *const jobs[][2] = {{"SLURM", "SLURM_JOB_ID"},
                                        {"PBS", "PBS_JOBID"},
                                        {"LSF", "LSB_JOBID"},
                                        {"Flux", "FLUX_JOB_ID"}};
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
    const char *id = getenv(jobs[i][1]);
    if (!id || !*id) continue;
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");
    kmbi_result_format(result, KMB_VALUE_ALLOCATION, "%s job %.64s%s%.16s%s",
                       jobs[i][0], id, nodes ? ", " : "", nodes ? nodes : "",
                       nodes ? " nodes" : "");
    return;
  }
  kmbi_result_absent(result, KMB_VALUE_ALLOCATION,
                     "no scheduler's variable is set");
}

static void set_places(kmbi_run *run) {
  kmb_result *result = run->result;
  const kmbi_ranks *ranks = &run->ranks;
  const kmb_comm_params *p = &run->p.comm->params;
  kmbi_result_set_u64(result, KMB_VALUE_WORLD_SIZE, ranks->size);
  kmbi_result_set_u64(result, KMB_VALUE_RANK, ranks->rank);
  kmbi_result_set_u64(result, KMB_VALUE_NODES, ranks->node_count);
  set_per_node(result, ranks);
  kmbi_result_set_text(result, KMB_VALUE_COMM, run->p.comm->ops.name);
  set_or_absent(result, KMB_VALUE_COLLECTIVE, p->collective,
                "kmb_comm_params.collective was not given");
  set_or_absent(result, KMB_VALUE_TOPOLOGY, p->topology,
                "kmb_comm_params.topology was not given");
  static const char *const multicast[] = {"not declared", "declared on",
                                          "declared off"};
  kmbi_result_set_text(result, KMB_VALUE_MULTICAST, multicast[p->multicast]);
  if (ranks->node_count < 2) return;
  set_or_absent(result, KMB_VALUE_FABRIC, p->fabric,
                "kmb_comm_params.fabric was not given");
  set_allocation(result);
}

static void set_work(kmbi_run *run) {
  const kmbi_ranks *ranks = &run->ranks;
  uint64_t flops = 0, bytes = 0;
  bool fits = true;
  if (!run->has_work) return;
  for (uint32_t r = 0; r < ranks->size; r++)
    fits = fits && kmbi_add(flops, ranks->entrances[r].flops, &flops) &&
           kmbi_add(bytes, ranks->entrances[r].bytes, &bytes);
  if (fits) {
    kmbi_result_set_u64(run->result, KMB_VALUE_GLOBAL_FLOPS, flops);
    kmbi_result_set_u64(run->result, KMB_VALUE_GLOBAL_LEAST_BYTES, bytes);
    return;
  }
  kmbi_result_absent(run->result, KMB_VALUE_GLOBAL_FLOPS,
                     "the ranks' sum exceeds 64 bits");
  kmbi_result_absent(run->result, KMB_VALUE_GLOBAL_LEAST_BYTES,
                     "the ranks' sum exceeds 64 bits");
}

static void set_barrier(kmbi_run *run) {
  kmb_result *result = run->result;
  const kmbi_ranks *ranks = &run->ranks;
  kmb_device *device = run->device;
  const kmb_backend_ops *ops = device->ops;
  const char *unmeasured = ranks->has_skew ? "" : ranks->unmeasured;
  if (run->choice.timer == KMB_TIMER_HOST) {
    kmbi_result_set_text(result, KMB_VALUE_BARRIER,
                         "HOST, since the timer is the host's");
    unmeasured = "the ranks' hosts alone are aligned";
  } else {
    const char *more = "";
    if (ranks->opened && KMBI_HAS(ops, barrier_text))
      more = ops->barrier_text(device->self, ranks->opened);
    kmbi_result_format(result, KMB_VALUE_BARRIER, "%s%s%s%s%s%s",
                       kmbi_barrier_name(ranks->barrier), *more ? ", " : "",
                       more, ranks->why[0] ? " (" : "", ranks->why,
                       ranks->why[0] ? ")" : "");
  }
  if (*unmeasured) {
    kmbi_result_absent(result, KMB_VALUE_RELEASE_SKEW, "%s", unmeasured);
    kmbi_result_absent(result, KMB_VALUE_RELEASE_SKEW_P99, "%s", unmeasured);
    return;
  }
  kmbi_result_set_f64(result, KMB_VALUE_RELEASE_SKEW, ranks->skew_p50);
  kmbi_result_set_f64(result, KMB_VALUE_RELEASE_SKEW_P99, ranks->skew_p99);
}

/* The ranks with the smallest and the largest median; their distance in
 * percent of the largest. */
static double spread(const kmbi_run *run, const kmbi_round *round,
                     uint32_t *least, uint32_t *most) {
  *least = *most = 0;
  for (uint32_t r = 1; r < run->ranks.size; r++) {
    double median = round->ranks[r].median_ns;
    if (median < round->ranks[*least].median_ns) *least = r;
    if (median > round->ranks[*most].median_ns) *most = r;
  }
  double high = round->ranks[*most].median_ns;
  double low = round->ranks[*least].median_ns;
  return high > 0 ? 100 * (high - low) / high : 0;
}

static void set_rows(kmbi_run *run, const kmbi_round *round) {
  const kmbi_ranks *ranks = &run->ranks;
  const kmbi_memory *memory = &run->device->memory;
  kmb_rank *rows = kmbi_alloc(memory, ranks->size, sizeof *rows);
  if (!rows) {
    run->result->arena.failed = true;
    return;
  }
  for (uint32_t r = 0; r < ranks->size; r++) {
    const kmbi_entrance *e = &ranks->entrances[r];
    const kmbi_rank_stats *s = &round->ranks[r];
    rows[r] = (kmb_rank){
        .device = e->name,
        .id = e->id,
        .median_ns = s->median_ns,
        .min_ns = s->min_ns,
        .max_ns = s->max_ns,
        .slowest = s->slowest,
        .flops = e->flops,
        .bytes = e->bytes,
        .node = ranks->nodes[r],
    };
  }
  kmbi_result_set_ranks(run->result, rows, ranks->size);
  kmbi_free(memory, rows, ranks->size, sizeof *rows);
}

void kmbi_all_set(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  set_places(run);
  set_work(run);
  if (!run->ranks.comm) return;
  uint32_t least = 0, most = 0;
  set_barrier(run);
  set_rows(run, round);
  kmbi_result_set_f64(result, KMB_VALUE_RANK_SPREAD_PCT,
                      spread(run, round, &least, &most));
  if (run->ranks.agreed)
    kmbi_result_set_f64(result, KMB_VALUE_AGREEMENT,
                        run->ranks.agreement_ns / (double)run->ranks.agreed);
}

static void find_skew(kmbi_run *run, double time) {
  const kmbi_ranks *ranks = &run->ranks;
  bool on_host = run->choice.timer == KMB_TIMER_HOST;
  if (on_host || !ranks->has_skew) {
    kmbi_result_find(
        run->result, KMB_FINDING_RANK_SKEW, on_host ? KMB_NOTE : KMB_WARNING,
        NULL, 0, "how far apart the ranks began is not known: %s",
        on_host ? "their hosts alone are aligned" : ranks->unmeasured);
    return;
  }
  double share = time > 0 ? 100 * ranks->skew_p50 / time : 0;
  if (share < SKEW_PCT) return;
  char skew[KMBI_TIME_SIZE], part[KMBI_PERCENT_SIZE];
  kmb_figure figures[] = {{"release_skew_ns", ranks->skew_p50},
                          {"release_skew_p99_ns", ranks->skew_p99},
                          {"release_skew_pct", share}};
  kmbi_result_find(run->result, KMB_FINDING_RANK_SKEW, KMB_WARNING, figures, 3,
                   "the barrier releases the ranks %s apart, %s of the time: "
                   "a rank that begins early waits in a collective, which is "
                   "in its time",
                   kmbi_time_string(skew, ranks->skew_p50),
                   kmbi_percent_string(part, share, 2));
}

static void find_spread(kmbi_run *run, const kmbi_round *round) {
  uint32_t least = 0, most = 0;
  double share = spread(run, round, &least, &most);
  if (share < SPREAD_NOTE_PCT) return;
  char low[KMBI_TIME_SIZE], high[KMBI_TIME_SIZE], part[KMBI_PERCENT_SIZE];
  const kmbi_rank_stats *a = &round->ranks[least], *b = &round->ranks[most];
  kmb_figure figures[] = {{"rank_spread_pct", share},
                          {"slowest_rank", most},
                          {"slowest_samples", (double)b->slowest},
                          {"samples", (double)round->count}};
  kmbi_result_find(
      run->result, KMB_FINDING_RANK_SKEW,
      share < SPREAD_WARNING_PCT ? KMB_NOTE : KMB_WARNING, figures, 4,
      "rank %u takes %s, rank %u %s (%s less): rank %u was the "
      "last in %llu of %zu samples",
      (unsigned)most, kmbi_time_string(high, b->median_ns), (unsigned)least,
      kmbi_time_string(low, a->median_ns), kmbi_percent_string(part, share, 2),
      (unsigned)most, (unsigned long long)b->slowest, round->count);
}

static void find_outliers(kmbi_run *run, const kmbi_round *round) {
  const kmbi_outliers *o = &round->outliers;
  if (!o->count) return;
  char usual[KMBI_TIME_SIZE], worst[KMBI_TIME_SIZE];
  kmb_figure figures[] = {{"outliers", (double)o->count},
                          {"worst_ns", o->worst_ns},
                          {"worst_sample", (double)o->worst},
                          {"rank", o->rank}};
  kmbi_result_find(
      run->result, KMB_FINDING_SYNC_OUTLIER, KMB_WARNING, figures, 4,
      "%llu sample%s stand%s out by a millisecond or more; sample %zu took %s "
      "instead of %s, rank %u longest (step \"measure\"): a fault of "
      "synchronisation until it is explained",
      (unsigned long long)o->count, kmbi_plural(o->count),
      o->count == 1 ? "s" : "", o->worst, kmbi_time_string(worst, o->worst_ns),
      kmbi_time_string(usual, round->interval.median), (unsigned)o->rank);
}

void kmbi_all_find(kmbi_run *run, const kmbi_round *round, double time) {
  if (run->p.comm->params.multicast == KMB_MULTICAST_OFF)
    kmbi_result_find(run->result, KMB_FINDING_MULTICAST_OFF, KMB_NOTE, NULL, 0,
                     "the caller declares NVLink multicast off: a collective "
                     "that would use it can be faster, and a verdict turn");
  if (!run->ranks.comm) return;
  find_skew(run, time);
  find_spread(run, round);
  find_outliers(run, round);
}
