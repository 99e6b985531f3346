/* Measure: take samples until the interval is narrow enough, or a limit. */
#include "error.h"
#include "run.h"

/* The hook hears of progress about this often. */
#define PROGRESS_NS 50e6

/* Columns of run->samples. */
enum { SPAN, BUSY, SUM, END };

static double *column(const kmbi_run *run, int which) {
  return run->samples + (size_t)which * run->sample_capacity;
}

static kmb_status grow(kmbi_run *run, size_t needed) {
  if (needed <= run->sample_capacity) return KMB_OK;
  const kmbi_memory *memory = &run->device->memory;
  size_t size = needed + needed / 2 + KMBI_BLOCK;
  double *fresh = kmbi_alloc(memory, size, KMBI_COLUMNS * sizeof *fresh);
  if (!fresh)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "no memory for %zu samples; lower "
                     "max_samples",
                     size);
  for (int c = 0; c < KMBI_COLUMNS && run->sample_count; c++)
    memcpy(fresh + (size_t)c * size, column(run, c),
           run->sample_count * sizeof *fresh);
  kmbi_free(memory, run->samples, KMBI_COLUMNS * run->sample_capacity,
            sizeof *fresh);
  run->samples = fresh;
  run->sample_capacity = size;
  return KMB_OK;
}

static kmb_status store(kmbi_run *run, kmbi_round *round, uint64_t got) {
  kmb_status status = grow(run, run->sample_count + (size_t)got);
  if (status) return status;
  for (uint64_t i = 0; i < got; i++) {
    const kmb_sample *s = &run->block[i];
    round->iterations += run->batch;
    run->places[i] = SIZE_MAX;
    if (s->flags & KMB_SAMPLE_SPOILED) {
      round->spoiled++;
      continue;
    }
    /* Without all of its operations a span is too short, or has no times. */
    if (s->ops < run->device_ops * run->batch) {
      round->missing++;
      continue;
    }
    if (s->flags & KMB_SAMPLE_INVALID) {
      round->invalid++;
      continue;
    }
    if (s->flags & KMB_SAMPLE_OVERLAP) round->overlapping++;
    size_t at = run->sample_count++;
    run->places[i] = at;
    column(run, SPAN)[at] = s->span_ns / (double)run->batch;
    column(run, BUSY)[at] = s->busy_ns / (double)run->batch;
    column(run, SUM)[at] = s->sum_ns / (double)run->batch;
    column(run, END)[at] = s->end_ns;
    if (s->ops > round->ops) round->ops = s->ops;
    status = kmbi_ranks_keep(run, i, at);
    if (status) return status;
  }
  return KMB_OK;
}

static size_t kept(const kmbi_run *run) {
  return run->sample_count - run->sample_first;
}

/* How many samples to ask for: up to the next look, but no more than pass
 * between two calls of the progress hook. */
static uint64_t portion(const kmbi_run *run, size_t next) {
  uint64_t want = next - kept(run);
  uint64_t left = run->p.max_samples - run->sample_count;
  if (want > left) want = left;
  double cost = run->estimate_ns * (double)run->batch;
  uint64_t paced = cost > 0 ? (uint64_t)(PROGRESS_NS / cost) + 1 : want;
  if (want > paced) want = paced;
  return want < KMBI_BLOCK ? want : KMBI_BLOCK;
}

/* A sample that counts nothing must not keep the loop going for ever. */
static bool too_many_invalid(const kmbi_run *run, const kmbi_round *round) {
  uint64_t useless = round->invalid + round->missing + round->spoiled;
  return useless >= run->p.min_samples &&
         useless > 10 * (uint64_t)(run->sample_count + 1);
}

static kmb_status useless(const kmbi_run *run, const kmbi_round *round) {
  uint64_t total =
      round->invalid + round->missing + round->spoiled + run->sample_count;
  return kmbi_fail(
      KMB_ERR_VENDOR,
      "of %llu samples %llu have impossible timestamps, %llu lack "
      "records and %llu were spoiled; use another timer",
      (unsigned long long)total, (unsigned long long)round->invalid,
      (unsigned long long)round->missing, (unsigned long long)round->spoiled);
}

typedef struct loop {
  kmbi_rule rule;
  double started, until, kept_since;
  size_t next; /* kept samples at the next look */
} loop;

static kmb_status look(kmbi_run *run, kmbi_round *round, loop *l) {
  size_t n = kept(run);
  const double *x = column(run, SPAN) + run->sample_first;
  if (!kmbi_grow_scratch(run, n))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to look at %zu samples", n);
  double now = column(run, END)[run->sample_count - 1];
  kmbi_verdict verdict = kmbi_look(&l->rule, x, n, now - l->kept_since,
                                   run->scratch, &round->interval);
  switch (verdict) {
  case KMBI_CONVERGED:
    round->stop = KMBI_STOP_CONVERGED;
    break;
  case KMBI_RESOLUTION:
    round->stop = KMBI_STOP_RESOLUTION;
    break;
  case KMBI_DROP_HALF:
    run->sample_first += n / 2;
    l->kept_since = column(run, END)[run->sample_first - 1];
    l->rule.dropped_wall_ns = l->kept_since - l->started;
    l->next = kmbi_next_look(kept(run));
    break;
  default: /* KMBI_GO_ON */
    l->next = kmbi_next_look(n);
    break;
  }
  if (n < KMBI_INTERVAL_MIN)
    round->interval.median = kmbi_median(x, n, run->scratch);
  kmbi_progress(run, n, round->interval.median);
  return KMB_OK;
}

static void limits(kmbi_run *run, kmbi_round *round, const loop *l,
                   bool short_run) {
  if (round->stop) return;
  if (kmbi_stopped(run))
    round->stop = KMBI_STOP_CANCELLED;
  else if (run->sample_count >= run->p.max_samples)
    round->stop = KMBI_STOP_MAX_SAMPLES;
  else if (short_run || kmbi_clock(run) >= l->until)
    round->stop = KMBI_STOP_WALL;
}

kmb_status kmbi_measure_take(kmbi_run *run, uint64_t want, double until_ns,
                             uint64_t *got) {
  kmbi_round *round = &run->rounds[run->round];
  kmb_status status =
      kmbi_plan_take(run, run->plan, run->batch, want, until_ns, got);
  if (!status) status = store(run, round, *got);
  if (!status) status = kmbi_ops_take(run, *got);
  if (!status && too_many_invalid(run, round)) status = useless(run, round);
  return status;
}

static kmb_status sample_until_stopped(kmbi_run *run, kmbi_round *round) {
  loop l = {.rule = {.target = run->p.target_pct / 100,
                     .tick = run->tick_ns / (double)run->batch,
                     .min_wall_ns = run->p.min_wall_ns,
                     .min_samples = run->p.min_samples,
                     .seed = run->p.seed},
            .next = (size_t)run->p.min_samples};
  l.started = kmbi_clock(run);
  l.kept_since = l.started;
  l.until = l.started + run->p.max_wall_ns;
  while (!round->stop) {
    uint64_t want = portion(run, l.next), got = 0;
    kmb_status status = kmbi_measure_take(run, want, l.until, &got);
    if (!status && kept(run) >= l.next) status = look(run, round, &l);
    if (status) return status;
    limits(run, round, &l, got < want);
    if (round->stop) break;
    kmbi_track_take(run);
    kmbi_sleep(run->device, run->p.idle_ns);
  }
  round->wall_ns = kmbi_clock(run) - l.started;
  return KMB_OK;
}

/* What the round came to, with the interval of exactly the kept samples. */
static kmb_status close_round(kmbi_run *run, kmbi_round *round) {
  size_t n = kept(run);
  if (!n && round->stop == KMBI_STOP_CANCELLED)
    return kmbi_fail(KMB_ERR_CANCELLED, "cancelled before a sample was taken");
  if (!n)
    return kmbi_fail(KMB_ERR_TIMEOUT,
                     "no sample within max_wall_ns (%.0f ns); raise it",
                     run->p.max_wall_ns);
  round->samples = kmbi_alloc(&run->device->memory, n, sizeof(double));
  round->count = n;
  if (!round->samples || !kmbi_grow_scratch(run, n))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %zu samples", n);
  round->dropped = run->sample_first;
  round->batch = run->batch;
  memcpy(round->samples, column(run, SPAN) + run->sample_first,
         n * sizeof(double));
  round->busy_ns =
      kmbi_median(column(run, BUSY) + run->sample_first, n, run->scratch);
  round->sum_ns =
      kmbi_median(column(run, SUM) + run->sample_first, n, run->scratch);
  double *gaps = column(run, SUM) + run->sample_first; /* not needed more */
  for (size_t i = 0; i < n; i++)
    gaps[i] = round->samples[i] - column(run, BUSY)[run->sample_first + i];
  round->gaps_ns = kmbi_median(gaps, n, run->scratch);
  round->has_interval =
      kmbi_interval_of(round->samples, n, run->tick_ns / (double)run->batch,
                       run->p.seed, run->scratch, &round->interval);
  if (!round->has_interval)
    round->interval.median = kmbi_median(round->samples, n, run->scratch);
  kmb_status status = kmbi_ranks_close(run, round);
  return status ? status : kmbi_ops_finish(run, round);
}

kmb_status kmbi_measure_open(kmbi_run *run) {
  run->sample_count = 0;
  run->sample_first = 0;
  kmb_status status = kmbi_ops_begin(run);
  if (!status)
    status = kmbi_plan_open(run, &run->choice, run->batch, run->p.launch,
                            &run->plan);
  if (status) {
    run->plan = NULL;
    return status;
  }
  kmbi_watch_read(run, false, &run->rounds[run->round].before);
  return KMB_OK;
}

kmb_status kmbi_measure_close(kmbi_run *run) {
  kmbi_round *round = &run->rounds[run->round];
  kmb_status status = close_round(run, round);
  if (!status) kmbi_plan_findings(run, run->plan);
  return status;
}

kmb_status kmbi_measure(kmbi_run *run, kmbi_stage *next) {
  kmbi_round *round = &run->rounds[run->round];
  kmb_status status = kmbi_measure_open(run);
  if (status) return status;
  status = sample_until_stopped(run, round);
  if (!status) status = kmbi_measure_close(run);
  kmbi_watch_read(run, true, &round->after);
  *next = KMBI_RECHECK;
  return status;
}
