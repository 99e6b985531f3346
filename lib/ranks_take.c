/* Ranks: taking samples together. */
#include "error.h"
#include "run.h"
#include "steady.h"

#include <stdio.h>
#include <time.h>

/* What ranks have beside a tenth of the deadline to say that they are late. */
#define OVERDUE_NS 0.3e9

typedef struct taken {
  double span_ns;
  uint64_t ops;
  uint32_t flags;
  uint32_t reserved;
} taken;

/* What must be the same on every rank when it takes a sample. */
static uint64_t same(const kmbi_run *run) {
  return (run->ranks.batch << 24) + ((uint64_t)run->next_slot << 1) + 1;
}

kmb_status kmbi_ranks_enqueued(void *ctx) {
  kmbi_run *run = ctx;
  double started = kmbi_steady_ns();
  kmb_status status =
      kmbi_ranks_give(run, KMBI_SAY_ENQUEUED, KMB_OK, NULL, 0, same(run));
  run->ranks.agreement_ns += kmbi_steady_ns() - started;
  return status;
}

static kmb_status say_overdue(const kmbi_run *run, int32_t rank) {
  const kmbi_ranks *ranks = &run->ranks;
  char who[64] = "a device is still at work that needs every rank";
  if (rank >= 0)
    snprintf(who, sizeof who,
             "the device of rank %d did not come to the barrier", (int)rank);
  return kmbi_fail(KMB_ERR_TIMEOUT, "%s at step \"%s\", exchange %llu", who,
                   kmbi_comm_stage(ranks->stage),
                   (unsigned long long)ranks->comm->sequence);
}

kmb_status kmbi_all_overdue(void *ctx, int32_t rank) {
  kmbi_run *run = ctx;
  kmbi_ranks *ranks = &run->ranks;
  kmb_status status = say_overdue(run, rank);
  if (!ranks->failed) {
    /* All began to wait at once: who is here comes about now. One that failed
     * says so in the same exchange, and is the cause. */
    ranks->deadline_ns = 0.1 * ranks->align.deadline_ns + OVERDUE_NS;
    status = kmbi_ranks_give(run, KMBI_SAY_SAMPLE, status, NULL, 0, same(run));
    ranks->deadline_ns = 0;
    ranks->failed = true;
  }
  if (!ranks->comm->poison)
    (void)kmbi_comm_poison(ranks->comm, status, "%s",
                           kmb_last_error(NULL, NULL));
  return status;
}

kmb_status kmbi_all_settle_stream(kmbi_run *run, kmb_status status) {
  kmb_device *device = run->device;
  if (!run->p.reset || status) return status;
  status = device->ops->stream_wait(device->self, run->stream,
                                    kmbi_all_patience(run));
  if (status == KMB_ERR_TIMEOUT) kmbi_device_note(device, KMB_ERR_LOST);
  return kmbi_device_note(device, status);
}

/* The longest of all ranks; what is wrong with one is wrong with all. */
static void merge(kmbi_run *run, kmb_sample *sample, double *spans) {
  kmbi_ranks *ranks = &run->ranks;
  for (uint32_t r = 0; r < ranks->size; r++) {
    taken t;
    memcpy(&t, kmbi_ranks_given(run, r), sizeof t);
    spans[r] = t.span_ns;
    if (t.span_ns > sample->span_ns) sample->span_ns = t.span_ns;
    if (t.ops > sample->ops) sample->ops = t.ops;
    sample->flags |= t.flags;
  }
  sample->end_ns = ranks->clock_ns;
}

static kmb_status take_one(kmbi_run *run, void *plan, uint64_t i) {
  kmbi_ranks *ranks = &run->ranks;
  kmb_device *device = run->device;
  kmb_sample *sample = &run->block[i];
  uint64_t got = 0;
  ranks->failed = false;
  *sample = (kmb_sample){.flags = 0};
  kmb_status status =
      device->ops->plan_run(device->self, plan, 1, 1e300, sample, &got);
  /* The others know already, and what the backend made of it is no news. */
  if (ranks->failed)
    return status ? status
                  : kmbi_fail(KMB_ERR_INTERNAL,
                              "backend %s reported success after an exchange "
                              "that failed",
                              device->ops->name);
  if (!status && got != 1)
    status = kmbi_fail(KMB_ERR_INTERNAL, "backend %s took no sample",
                       device->ops->name);
  const taken mine = {sample->span_ns, sample->ops, sample->flags, 0};
  double started = kmbi_steady_ns();
  status = kmbi_ranks_give(run, KMBI_SAY_SAMPLE, status, &mine, sizeof mine,
                           same(run));
  ranks->agreement_ns += kmbi_steady_ns() - started;
  if (status) return status;
  ranks->agreed++;
  merge(run, sample, ranks->block + i * ranks->size);
  return KMB_OK;
}

kmb_status kmbi_all_take(kmbi_run *run, void *plan, uint64_t batch,
                         uint64_t count, double until_ns, uint64_t *got) {
  kmb_status status = KMB_OK;
  run->ranks.batch = batch;
  while (!status && *got < count && !kmbi_stopped(run) &&
         kmbi_clock(run) < until_ns) {
    status = take_one(run, plan, *got);
    *got += !status;
  }
  return status;
}

kmb_status kmbi_all_first_use(kmbi_run *run) {
  if (run->p.graphs) return KMB_OK;
  kmb_status status = KMB_OK;
  for (uint32_t s = 0; !status && s < run->slots; s++) {
    if (run->p.reset) status = run->p.reset(run->p.reset_user, s, run->stream);
    status = kmbi_all_settle_stream(run, status);
    status = kmbi_all_agree(run, KMBI_SAY_READY, status);
    if (!status) status = kmbi_launch_once(run, s);
  }
  return status;
}

/* What each rank did. */

static kmb_status grow(kmbi_run *run, size_t samples) {
  kmbi_ranks *ranks = &run->ranks;
  const kmbi_memory *memory = &run->device->memory;
  if (samples <= ranks->span_capacity) return KMB_OK;
  size_t size = samples + samples / 2 + KMBI_BLOCK;
  double *fresh = kmbi_alloc(memory, size, ranks->size * sizeof *fresh);
  if (!fresh)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "no memory for %zu samples of %u ranks; lower max_samples",
                     size, (unsigned)ranks->size);
  if (ranks->span_capacity)
    memcpy(fresh, ranks->spans,
           ranks->span_capacity * ranks->size * sizeof *fresh);
  kmbi_free(memory, ranks->spans, ranks->span_capacity,
            ranks->size * sizeof *fresh);
  ranks->spans = fresh;
  ranks->span_capacity = size;
  return KMB_OK;
}

kmb_status kmbi_all_keep(kmbi_run *run, uint64_t i, size_t place) {
  kmbi_ranks *ranks = &run->ranks;
  kmb_status status = grow(run, place + 1);
  for (uint32_t r = 0; !status && r < ranks->size; r++)
    ranks->spans[place * ranks->size + r] =
        ranks->block[i * ranks->size + r] / (double)run->batch;
  return status;
}

static void count_slowest(const double *spans, size_t n, uint32_t size,
                          kmbi_rank_stats *stats) {
  for (size_t i = 0; i < n; i++) {
    uint32_t last = 0;
    for (uint32_t r = 1; r < size; r++)
      if (spans[i * size + r] > spans[i * size + last]) last = r;
    stats[last].slowest++;
  }
}

/* Of one rank; `x` holds its n spans, `scratch` n more. */
static void summarise(double *x, size_t n, double *scratch,
                      kmbi_rank_stats *stats) {
  stats->median_ns = kmbi_median(x, n, scratch);
  stats->min_ns = stats->max_ns = x[0];
  for (size_t i = 1; i < n; i++) {
    if (x[i] < stats->min_ns) stats->min_ns = x[i];
    if (x[i] > stats->max_ns) stats->max_ns = x[i];
  }
}

/* A millisecond, and half as long again as is usual: what a stall in a
 * synchronisation looks like. */
#define OUTLIER_NS 1e6
#define OUTLIER_FACTOR 1.5

static void find_outliers(const double *spans, uint32_t size,
                          kmbi_round *round) {
  kmbi_outliers *o = &round->outliers;
  double median = round->interval.median;
  for (size_t i = 0; i < round->count; i++) {
    double ns = round->samples[i];
    if (ns < median + OUTLIER_NS || ns < OUTLIER_FACTOR * median) continue;
    if (o->count++ && ns <= o->worst_ns) continue;
    o->worst = i;
    o->worst_ns = ns;
    o->rank = 0;
    for (uint32_t r = 1; r < size; r++)
      if (spans[i * size + r] > spans[i * size + o->rank]) o->rank = r;
  }
}

kmb_status kmbi_all_close(kmbi_run *run, kmbi_round *round) {
  kmbi_ranks *ranks = &run->ranks;
  const kmbi_memory *memory = &run->device->memory;
  uint32_t size = ranks->size;
  size_t n = round->count;
  round->ranks = kmbi_alloc(memory, size, sizeof *round->ranks);
  double *x = kmbi_alloc(memory, n, 2 * sizeof *x);
  if (!round->ranks || !x) {
    kmbi_free(memory, x, n, 2 * sizeof *x);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for what %u ranks did",
                     (unsigned)size);
  }
  const double *spans = ranks->spans + run->sample_first * size;
  for (uint32_t r = 0; r < size; r++) {
    for (size_t i = 0; i < n; i++)
      x[i] = spans[i * size + r];
    summarise(x, n, x + n, &round->ranks[r]);
  }
  kmbi_free(memory, x, n, 2 * sizeof *x);
  count_slowest(spans, n, size, round->ranks);
  find_outliers(spans, size, round);
  return KMB_OK;
}
