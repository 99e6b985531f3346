/* Turns: each cycle goes through all candidates in one order and back in the
 * other, and every second cycle begins at the other end. */
#include "compare.h"

#include <math.h>

/* Measuring may take this part of the wall limit for min_cycles. */
#define SHARE 0.5
/* To know what a sample costs, so many are taken, or this part of the limit. */
#define COST_SHARE 0.005
enum { COSTS = 5 };

typedef struct turns {
  double until, started;
  uint64_t turn;
  bool over; /* a turn fell short: time is up or the caller cancelled */
} turns;

/* Turns. */

/* Thrown away: it finds the caches as another candidate left them. */
static kmb_status lead(kmbi_run *run, turns *t) {
  uint64_t got = 0;
  kmb_status status =
      kmbi_plan_take(run, run->plan, run->batch, 1, t->until, &got);
  if (!got) t->over = true;
  return status;
}

/* The median of the turn's samples, each dithered by half a tick. Of none, NaN:
 * the cycle has no ratio. */
static double median_of(const kmbi_run *run, size_t from, uint64_t *seed) {
  double x[KMBI_TURN_MAX], scratch[KMBI_TURN_MAX];
  double tick = run->tick_ns / (double)run->batch;
  size_t n = run->sample_count - from;
  if (!n) return NAN;
  for (size_t i = 0; i < n; i++)
    x[i] = run->samples[from + i] + tick * (kmbi_uniform(seed) - 0.5);
  return kmbi_median(x, n, scratch);
}

static kmb_status take_turn(kmbi_compare *c, uint64_t index, turns *t,
                            double *median) {
  kmbi_run *run = &c->candidates[index].run;
  size_t from = run->sample_count;
  uint64_t taken = 0;
  kmb_status status = lead(run, t);
  while (!status && !t->over && taken < t->turn) {
    uint64_t got = 0;
    status = kmbi_measure_take(run, t->turn - taken, t->until, &got);
    if (!got) t->over = true;
    taken += got;
  }
  /* For looks at all samples so far. */
  if (!status && !kmbi_grow_scratch(run, run->sample_count))
    status = kmbi_fail(KMB_ERR_NOMEM, "no memory to look at %zu samples",
                       run->sample_count);
  if (!status) *median = median_of(run, from, &c->p.seed);
  if (!status) kmbi_track_take(run);
  return kmbi_compare_failed(c, index, status);
}

/* One cycle; `*whole` if every candidate had both turns, with samples. */
static kmb_status take_cycle(kmbi_compare *c, turns *t, uint64_t cycle,
                             bool *whole) {
  kmb_status status = KMB_OK;
  *whole = false;
  bool any_empty = false;
  for (uint64_t k = 0; k < 2 * c->count && !t->over; k++) {
    uint64_t at = k < c->count ? k : 2 * c->count - 1 - k;
    uint64_t index = cycle % 2 ? c->count - 1 - at : at;
    size_t place = (size_t)(2 * c->out->cycles) + (k >= c->count);
    double median = 0;
    status = take_turn(c, index, t, &median);
    if (status) return status;
    c->candidates[index].turns[place] = median;
    any_empty = any_empty || isnan(median);
  }
  kmbi_sleep(c->device, c->candidates[0].run.p.idle_ns);
  *whole = !t->over && !any_empty;
  if (!t->over && any_empty) c->out->cycles_lost++;
  return KMB_OK;
}

/* The fastest of a few samples; of one where that takes long. */
static kmb_status cost_of(kmbi_compare *c, uint64_t index, turns *t,
                          double *cost) {
  double began = kmbi_now(c->device), last = began;
  *cost = 0;
  for (int i = 0; i < COSTS && !t->over; i++) {
    kmb_status status =
        kmbi_compare_failed(c, index, lead(&c->candidates[index].run, t));
    if (status) return status;
    double now = kmbi_now(c->device);
    if (!i || now - last < *cost) *cost = now - last;
    last = now;
    if (now - began > COST_SHARE * c->p.max_wall_ns) break;
  }
  return KMB_OK;
}

/* As many samples as leave time for the fewest cycles. */
static kmb_status size_turn(kmbi_compare *c, turns *t) {
  double sum = 0, cost = 0;
  t->turn = c->p.turn;
  for (uint64_t i = 0; i < c->count && !t->turn && !t->over; i++) {
    kmb_status status = cost_of(c, i, t, &cost);
    if (status) return status;
    sum += cost;
  }
  if (!t->turn) {
    double cycles = 2 * (double)c->p.min_cycles;
    double fit = sum > 0 ? SHARE * c->p.max_wall_ns / (cycles * sum) - 1 : 1e9;
    t->turn = KMBI_TURN;
    if (fit < (double)t->turn) t->turn = fit < 1 ? 1 : (uint64_t)fit;
  }
  c->out->turn = t->turn;
  return KMB_OK;
}

/* The rule. */

/* Whether every interval is as narrow as asked for, or only the clock's step
 * prevents it: then `*resolution`. */
static bool narrow(const kmbi_compare *c, bool *resolution) {
  double wanted = log1p(c->p.target_pct / 100);
  *resolution = false;
  for (uint64_t i = 0; i < c->count; i++) {
    kmbi_paired paired;
    double left_open = 0;
    if (i == c->p.baseline) continue;
    if (!kmbi_compare_interval(c, i, &paired, &left_open)) return false;
    double half = log(paired.high / paired.low) / 2;
    if (half <= wanted) continue;
    if (half - left_open > left_open) return false;
    *resolution = true;
  }
  return true;
}

static void look(kmbi_compare *c, turns *t, uint64_t *next) {
  kmb_comparison *out = c->out;
  bool resolution = false;
  *next = kmbi_next_look((size_t)out->cycles);
  if (*next > c->p.max_cycles) *next = c->p.max_cycles;
  double wall = kmbi_now(c->device) - t->started;
  if (wall >= c->p.min_wall_ns && narrow(c, &resolution))
    out->stop = resolution ? KMBI_STOP_RESOLUTION : KMBI_STOP_CONVERGED;
  kmbi_progress(&c->candidates[c->p.baseline].run, out->cycles, 0);
}

static kmb_status take_cycles(kmbi_compare *c, turns *t) {
  kmb_comparison *out = c->out;
  uint64_t next = c->p.min_cycles;
  for (uint64_t cycle = 0; !out->stop; cycle++) {
    bool whole = false;
    kmb_status status = take_cycle(c, t, cycle, &whole);
    if (status) return status;
    out->cycles += whole;
    if (whole && out->cycles >= next) look(c, t, &next);
    if (out->stop) break;
    if (kmbi_cancelled(c->device))
      out->stop = KMBI_STOP_CANCELLED;
    else if (out->cycles >= c->p.max_cycles)
      out->stop = KMBI_STOP_MAX_SAMPLES;
    else if (t->over || kmbi_now(c->device) >= t->until)
      out->stop = KMBI_STOP_WALL;
  }
  return KMB_OK;
}

static kmb_status none_taken(const kmbi_compare *c) {
  if (c->out->stop == KMBI_STOP_CANCELLED)
    return kmbi_fail(KMB_ERR_CANCELLED,
                     "kmb_compare: cancelled before a cycle was complete");
  return kmbi_fail(KMB_ERR_TIMEOUT,
                   "kmb_compare: no complete cycle within max_wall_ns (%.0f "
                   "ns); raise it",
                   c->p.max_wall_ns);
}

/* Plans, and results. */

static kmb_status open_plans(kmbi_compare *c) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_run *run = &c->candidates[i].run;
    run->stage_name = "measure";
    status = kmbi_compare_failed(c, i, kmbi_measure_open(run));
    c->candidates[i].open = !status;
  }
  return status;
}

/* What is known of the timers: a bias that is not leaves its result
 * uncorrected and says so there. */
static void read_bias(kmbi_compare *c) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  for (uint64_t i = 0; i < c->count; i++) {
    kmbi_candidate *k = &c->candidates[i];
    k->bias_known = !kmbi_bias(&k->run, &k->run.choice, k->run.batch, &k->bias,
                               &k->bias_uncertainty);
    if (!k->bias_known) k->bias = k->bias_uncertainty = 0;
  }
  kmbi_error_restore(&before);
}

/* Before anything else runs on the device. Telemetry is of the whole time, in
 * which the others had their turns too. */
static kmb_status close_rounds(kmbi_compare *c, const turns *t) {
  kmb_status status = KMB_OK;
  double wall = kmbi_now(c->device) - t->started;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_run *run = &c->candidates[i].run;
    run->rounds[0].stop = c->out->stop;
    run->rounds[0].wall_ns = wall;
    status = kmbi_compare_failed(c, i, kmbi_measure_close(run));
    kmbi_watch_read(run, true, &run->rounds[0].after);
  }
  return status;
}

/* Under "config.KNOB", so that the result by itself says what it is of. */
static void note_config(const kmbi_candidate *k) {
  const kmb_candidate *given = &k->given;
  kmb_result *result = k->run.result;
  for (uint64_t i = 0; i < given->knob_count; i++) {
    const kmb_knob *knob = &given->knobs[i];
    uint64_t value =
        kmb_knob_value(given->knobs, given->knob_count, k->bench.config, i);
    const char *key =
        kmbi_arena_format(&result->arena, "config.%s", knob->name);
    if (key) kmbi_result_meta(result, key, knob->values[value], NULL);
  }
}

static kmb_status finish_results(kmbi_compare *c) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_run *run = &c->candidates[i].run;
    status = kmbi_run_steps(run, KMBI_RECHECK, KMBI_DONE);
    if (!status) note_config(&c->candidates[i]);
    if (!status) status = kmbi_result_finish(&run->result);
    status = kmbi_compare_failed(c, i, status);
    if (status) break;
    c->out->results[i] = run->result;
    run->result = NULL;
  }
  return status;
}

kmb_status kmbi_compare_measure(kmbi_compare *c) {
  turns t = {.started = 0};
  kmb_status status = open_plans(c);
  if (status) return status;
  read_bias(c);
  t.started = kmbi_now(c->device);
  t.until = t.started + c->p.max_wall_ns;
  status = size_turn(c, &t);
  if (!status) status = take_cycles(c, &t);
  if (!status && !c->out->cycles) status = none_taken(c);
  if (!status) status = close_rounds(c, &t);
  if (!status) status = finish_results(c);
  for (uint64_t i = 0; i < c->count && !status; i++)
    status = kmbi_compare_row(c, i);
  return status;
}
