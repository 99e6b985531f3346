/* Warm up and calibrate: run every slot once, until nothing gets faster any
 * more; then find how many iterations a sample needs. */
#include "error.h"
#include "run.h"

/* Reading the clock twice costs some tens of ns: in a sample of this length it
 * weighs less than a thousandth. */
#define SAMPLE_NS 50e3
#define TICKS_PER_SAMPLE 1000.0
#define BATCH_LIMIT (UINT64_C(1) << 32)
/* Each iteration of a replay is a node that is captured and instantiated. */
#define REPLAY_LIMIT (UINT64_C(1) << 12)
/* Iterations that share a replay's fixed cost at least, and samples that must
 * fit into the wall limit with them. */
#define REPLAY_SAMPLES 100
enum { REPLAY_LEAST = 8 };
enum { SETTLED = 10, PROBE_SAMPLES = 3, NULL_SAMPLES = 11 };

static kmb_status take(kmbi_run *run, uint64_t batch, uint64_t count,
                       double until, uint64_t *got) {
  return kmbi_plan_take(run, run->plan, batch, count, until, got);
}

/* Time of an iteration of the i-th sample taken; false if it is of no use. */
static bool usable(const kmbi_run *run, uint64_t i, uint64_t batch,
                   double *ns) {
  return kmbi_sample_ns(run, &run->block[i], run->choice.timer, batch, ns);
}

static void close_plan(kmbi_run *run) {
  kmbi_plan_close(run, run->plan);
  run->plan = NULL;
}

/* A replay visits every slot. */
static uint64_t whole_rings(const kmbi_run *run, uint64_t batch) {
  if (run->choice.timer != KMB_TIMER_GRAPH) return batch;
  uint64_t over = batch % run->slots;
  return over ? batch + run->slots - over : batch;
}

static void see_operations(kmbi_run *run, uint64_t got) {
  for (uint64_t i = 0; i < got; i++) {
    const kmb_sample *s = &run->block[i];
    if (!(s->flags & KMB_SAMPLE_SPOILED) && s->ops > run->device_ops)
      run->device_ops = s->ops;
  }
}

/* Each slot once, however long that takes: the first use loads, compiles and
 * tunes. `*fastest` is below 0 if no sample says anything. */
static kmb_status visit_slots(kmbi_run *run, uint64_t batch, double *fastest) {
  uint64_t done = 0;
  double far = kmbi_clock(run) + 1e18;
  *fastest = -1;
  while (done < run->slots) {
    uint64_t got = 0, left = (run->slots - done + batch - 1) / batch;
    kmb_status status = take(run, batch, left, far, &got);
    if (status) return status;
    if (!got)
      return kmbi_fail(KMB_ERR_CANCELLED, "cancelled while warming up; no "
                                          "sample was taken");
    see_operations(run, got);
    for (uint64_t i = 0; i < got; i++) {
      double ns = 0;
      if (!usable(run, i, batch, &ns)) continue;
      if (*fastest < 0 || ns < *fastest) *fastest = ns;
    }
    done += got * batch;
    run->warmup_iterations += got * batch;
    kmbi_progress(run, 0, 0);
  }
  return KMB_OK;
}

/* Then until ten samples in a row bring no time that is 1% below the fastest,
 * or the limit. */
static kmb_status settle(kmbi_run *run, uint64_t batch, double fastest) {
  double until = kmbi_clock(run) + run->p.warmup_ns;
  double last[SETTLED] = {0};
  uint64_t still = 0, n = 0;
  bool first = true;
  while (still < SETTLED && kmbi_clock(run) < until) {
    uint64_t got = 0;
    kmb_status status = take(run, batch, SETTLED, until, &got);
    if (status) return status;
    if (!got) break;
    /* The first launches may have done more than the later ones do. */
    if (first) run->device_ops = 0;
    first = false;
    see_operations(run, got);
    for (uint64_t i = 0; i < got; i++) {
      double ns = 0;
      if (!usable(run, i, batch, &ns)) continue;
      still = fastest < 0 || ns < 0.99 * fastest ? 0 : still + 1;
      if (fastest < 0 || ns < fastest) fastest = ns;
      last[n++ % SETTLED] = ns;
    }
    run->warmup_iterations += got * batch;
  }
  double scratch[SETTLED];
  size_t kept = n < SETTLED ? (size_t)n : SETTLED;
  if (kept) run->estimate_ns = kmbi_median(last, kept, scratch);
  return KMB_OK;
}

/* What makes a choice impossible that the backend cannot know of. */
static kmb_status refuse_choice(const kmbi_run *run) {
  if (run->choice.timer == KMB_TIMER_GRAPH && run->p.reset && run->slots > 1)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "a reset hook cannot run inside a replay, which would "
                     "then visit one of %u slots",
                     (unsigned)run->slots);
  return KMB_OK;
}

/* Several operations may be better measured in another way: on plain launches
 * the host's gaps are between them. */
static kmb_status choose_again(kmbi_run *run, kmbi_stage *next) {
  if (run->device_ops < 2 || run->chosen_again) return KMB_OK;
  run->chosen_again = true;
  kmb_status status = kmbi_choose(run);
  const kmb_choice *best = &run->choices[0];
  if (!status && (best->timer != run->choice.timer ||
                  best->launch_mode != run->choice.launch_mode ||
                  best->cache != run->choice.cache))
    *next = KMBI_PREPARE;
  return status;
}

static bool unseen_graph(const kmbi_run *run) {
  return run->p.graphs && run->choice.timer == KMB_TIMER_TRACE &&
         !run->device_ops;
}

static kmb_status no_records_of_graph(void) {
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "the tracer sees no operation of the prebuilt graph: it was "
                   "instantiated before the tracer was attached, or is empty");
}

kmb_status kmbi_warm_up(kmbi_run *run, kmbi_stage *next) {
  uint64_t batch = whole_rings(run, 1);
  kmb_status status = refuse_choice(run);
  if (!status) status = kmbi_ranks_first_use(run);
  if (!status)
    status =
        kmbi_plan_open(run, &run->choice, batch, run->p.launch, &run->plan);
  if (status) {
    run->plan = NULL;
    return kmbi_next_choice(run, status, next);
  }
  double fastest = 0;
  run->device_ops = 0;
  status = visit_slots(run, batch, &fastest);
  run->estimate_ns = fastest > 0 ? fastest : 0;
  if (!status && !(run->p.flags & KMB_BENCH_NO_WARMUP))
    status = settle(run, batch, fastest);
  close_plan(run);
  /* A tracer need not see into a graph that was made before it came. */
  if (!status && unseen_graph(run))
    return kmbi_next_choice(run, no_records_of_graph(), next);
  if (!status && run->choice.timer == KMB_TIMER_TRACE && !run->device_ops)
    status = kmbi_fail(KMB_ERR_INCORRECT,
                       "the tracer saw no device operation of the launch: the "
                       "callback enqueued nothing on launch->stream, or its "
                       "records were lost");
  *next = KMBI_CALIBRATE;
  return status ? status : choose_again(run, next);
}

/* Calibrate. */

static double wanted_span(const kmbi_run *run) {
  double ticks = TICKS_PER_SAMPLE * run->tick_ns;
  return ticks > SAMPLE_NS ? ticks : SAMPLE_NS;
}

/* The fastest of a few samples of `batch` iterations: of one at least, however
 * short the limit is. 0 if cancelled, or if none says anything. */
static kmb_status probe(kmbi_run *run, uint64_t batch, double *span) {
  void *plan = NULL;
  kmb_status status =
      kmbi_plan_open(run, &run->choice, batch, run->p.launch, &plan);
  if (status) return status;
  uint64_t got = 1;
  double now = kmbi_clock(run), until = now + 1e18;
  double ns = 0, fastest = -1;
  for (int i = 0; i < PROBE_SAMPLES && got && !status; i++) {
    status = kmbi_plan_take(run, plan, batch, 1, until, &got);
    bool said = got && usable(run, 0, batch, &ns);
    if (said && (fastest < 0 || ns < fastest)) fastest = ns;
    until = now + run->p.warmup_ns;
  }
  *span = fastest > 0 ? fastest * (double)batch : 0;
  kmbi_plan_close(run, plan);
  return status;
}

/* Whether a sample of `timer` is one iteration. */
static bool single(const kmbi_run *run, kmb_timer timer) {
  if (timer == KMB_TIMER_TRACE || timer == KMB_TIMER_EVENT || run->p.reset)
    return true;
  return timer == KMB_TIMER_HOST && run->choice.cache == KMB_CACHE_COLD;
}

static uint64_t batch_limit(const kmbi_run *run) {
  if (run->choice.timer != KMB_TIMER_GRAPH) return BATCH_LIMIT;
  return run->slots > REPLAY_LIMIT ? run->slots : REPLAY_LIMIT;
}

/* A replay's fixed cost differs from capture to capture, however well it is
 * calibrated: several iterations share it, as far as there is time for the
 * samples. */
uint64_t kmbi_replay_batch(const kmbi_run *run) {
  double fits = run->p.max_wall_ns / (REPLAY_SAMPLES * run->estimate_ns);
  uint64_t least = fits < REPLAY_LEAST ? (uint64_t)fits : REPLAY_LEAST;
  uint64_t rings = (least + run->slots - 1) / run->slots;
  return (rings ? rings : 1) * run->slots;
}

static kmb_status find_batch(kmbi_run *run) {
  uint64_t limit = batch_limit(run);
  uint64_t batch = run->choice.timer == KMB_TIMER_GRAPH ? kmbi_replay_batch(run)
                                                        : whole_rings(run, 1);
  double want = wanted_span(run), span = run->estimate_ns * (double)batch;
  while (span < want && batch < limit) {
    double factor = span > 0 ? 1.1 * want / span : 100;
    if (factor > 100) factor = 100; /* one step may mislead by its overhead */
    uint64_t larger = (uint64_t)((double)batch * factor) + 1;
    batch = whole_rings(run, larger < limit ? larger : limit);
    kmb_status status = probe(run, batch, &span);
    if (status) return status;
    if (kmbi_stopped(run)) break;
    if (span > 0) run->estimate_ns = span / (double)batch;
  }
  run->batch = batch;
  return KMB_OK;
}

static kmb_status nothing(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

/* An upper bound of what the loop around the callback costs: the same batch of
 * callbacks that do nothing. It hides under a function's own latency, so it is
 * shown and never subtracted. */
static kmb_status measure_overhead(kmbi_run *run) {
  uint32_t ring = run->next_slot; /* callbacks that touch nothing do not move
                                     the ring */
  kmb_choice warm = run->choice;
  warm.cache = KMB_CACHE_WARM;
  void *plan = NULL;
  kmb_status status = kmbi_plan_open(run, &warm, run->batch, nothing, &plan);
  if (status) return status;
  uint64_t got = 0;
  double until = kmbi_clock(run) + run->p.warmup_ns;
  status = kmbi_plan_take(run, plan, run->batch, NULL_SAMPLES, until, &got);
  kmbi_plan_close(run, plan);
  run->next_slot = ring;
  if (status || !got) return status;
  double ns[NULL_SAMPLES], scratch[NULL_SAMPLES];
  size_t n = 0;
  for (uint64_t i = 0; i < got; i++)
    n += usable(run, i, run->batch, &ns[n]);
  if (n) run->overhead_ns = kmbi_median(ns, n, scratch);
  return KMB_OK;
}

/* A batch that what was wished for has no use for is refused; one that only a
 * fallback has no use for is dropped (see FALLBACK_TIMER). */
static bool contradicts(const kmbi_run *run) {
  bool chosen = run->p.timer != KMB_TIMER_AUTO;
  return run->p.batch > 1 &&
         single(run, chosen ? run->p.timer : run->choices[0].timer);
}

kmb_status kmbi_calibrate(kmbi_run *run, kmbi_stage *next) {
  kmb_status status = KMB_OK;
  if (single(run, run->choice.timer)) {
    if (contradicts(run))
      return kmbi_fail(KMB_ERR_INVALID,
                       "batch %llu: with timer %s and cache state %s a sample "
                       "is one iteration",
                       (unsigned long long)run->p.batch,
                       kmbi_timer_name(run->choice.timer),
                       kmbi_cache_name(run->choice.cache));
    run->batch = 1;
  } else if (run->p.batch) {
    run->batch = whole_rings(run, run->p.batch);
  } else {
    status = find_batch(run);
  }
  if (!status && run->choice.timer == KMB_TIMER_HOST && run->overhead_ns < 0) {
    status = measure_overhead(run);
    /* A graph cannot hold callbacks that do nothing. */
    if (kmbi_is_local(status)) status = KMB_OK;
  }
  *next = KMBI_MEASURE;
  return status;
}
