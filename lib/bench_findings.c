/* Findings: the reasons to doubt a result, each with its figures. One function
 * a question; what is judged elsewhere is raised there. */
#include "error.h"
#include "format.h"
#include "run.h"

#include <math.h>
#include <stdio.h>

/* Borders, in percent where they are shares. */
#define OVERHEAD_PCT 1.0
#define HOST_BOUND_PCT 5.0
#define UNSTABLE_PCT 10.0
#define CLOCK_DRIFT_PCT 2.0
#define PREEMPTED_PCT 5.0
#define STEAL_PCT 1.0

static const char *mode_word(kmb_launch_mode mode) {
  return mode == KMB_LAUNCH_GRAPH ? "graph" : "plain";
}

static const char *were(uint64_t count) {
  return count == 1 ? "was" : "were";
}

/* Another timer or launch mode than was asked for, or than would be best. */
static void raise_choice(kmbi_run *run) {
  const kmb_bench_params *p = &run->p;
  const kmb_choice *c = &run->choice;
  if (!run->choice_index && kmbi_is_asked(p, c)) return;
  char why[KMBI_PASSED_OVER_SIZE];
  char batch[96] = "";
  if (run->p.batch > 1 && run->batch == 1)
    snprintf(batch, sizeof batch,
             "; the batch of %llu is dropped, for a sample is one iteration",
             (unsigned long long)run->p.batch);
  kmbi_result_find(run->result, KMB_FINDING_FALLBACK_TIMER, KMB_WARNING, NULL,
                   0, "timed by %s on %s launches, not by a better way: %s%s",
                   kmbi_timer_name(c->timer), mode_word(c->launch_mode),
                   kmbi_passed_over(run, why), batch);
}

static void raise_cache(kmbi_run *run) {
  kmb_result *result = run->result;
  double llc = (double)run->llc_bytes;
  if (run->not_cold) {
    kmb_figure figures[] = {{"slots", run->slots},
                            {"wanted_slots", (double)run->wanted_slots},
                            {"reuse_bytes", (double)run->reuse_bytes},
                            {"llc_bytes", llc}};
    bool short_of = run->slots < run->wanted_slots;
    char had[64];
    if (short_of)
      snprintf(had, sizeof had, "%u of %llu slots could be had",
               (unsigned)run->slots, (unsigned long long)run->wanted_slots);
    else
      snprintf(had, sizeof had, "%u slot%s %s asked for", (unsigned)run->slots,
               kmbi_plural(run->slots), were(run->slots));
    kmbi_result_find(result, KMB_FINDING_NOT_COLD, KMB_WARNING, figures, 4,
                     "%s: only %.4g MiB lie between two uses of an input, and "
                     "the cache may hold it",
                     had, (double)run->reuse_bytes / 1048576);
  }
  bool warm = run->choice.cache == KMB_CACHE_WARM;
  if (warm && run->llc_bytes && run->buffers.touched_bytes > run->llc_bytes) {
    kmb_figure figures[] = {
        {"touched_bytes", (double)run->buffers.touched_bytes},
        {"llc_bytes", llc}};
    kmbi_result_find(result, KMB_FINDING_NOT_WARM, KMB_WARNING, figures, 2,
                     "an iteration touches %.4g MiB, more than the last-level "
                     "cache's %.4g MiB: it cannot be warm",
                     (double)run->buffers.touched_bytes / 1048576,
                     llc / 1048576);
  }
}

static void raise_precision(kmbi_run *run, const kmbi_round *round,
                            double time) {
  kmb_result *result = run->result;
  if (round->interval.median == 0)
    kmbi_result_find(result, KMB_FINDING_RESOLUTION, KMB_DOUBT, NULL, 0,
                     "the median is 0 ns: the clock that took the samples "
                     "cannot resolve the operation");
  if (!round->has_interval) {
    kmb_figure figures[] = {{"samples", (double)round->count}};
    kmbi_result_find(result, KMB_FINDING_FEW_SAMPLES, KMB_WARNING, figures, 1,
                     "%zu sample%s: too few for an interval", round->count,
                     kmbi_plural(round->count));
    return;
  }
  double reached = time > 0 ? 100 * round->interval.half / time : 0;
  if (round->stop == KMBI_STOP_RESOLUTION) {
    char tick[KMBI_TIME_SIZE];
    kmb_figure figures[] = {{"clock_tick_ns", run->tick_ns}};
    kmbi_result_find(result, KMB_FINDING_RESOLUTION, KMB_NOTE, figures, 1,
                     "the clock's step of %s limits the precision",
                     kmbi_time_string(tick, run->tick_ns));
  }
  bool cut = round->stop == KMBI_STOP_WALL ||
             round->stop == KMBI_STOP_MAX_SAMPLES ||
             round->stop == KMBI_STOP_CANCELLED;
  if (!cut || reached <= run->p.target_pct) return;
  char got[KMBI_PERCENT_SIZE], target[KMBI_PERCENT_SIZE];
  kmb_figure figures[] = {{"interval_pct", reached},
                          {"target_pct", run->p.target_pct}};
  kmbi_result_find(result, KMB_FINDING_NOT_CONVERGED, KMB_NOTE, figures, 2,
                   "stopped by %s at ±%s, the target was ±%s",
                   kmbi_stop_name(round->stop),
                   kmbi_percent_string(got, reached, 2),
                   kmbi_percent_string(target, run->p.target_pct, 2));
}

static void raise_shape(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  double tick = run->tick_ns / (double)round->batch;
  double relative = 0, spread = 0;
  kmbi_modes modes;
  if (round->dropped) {
    kmb_figure figures[] = {{"dropped_samples", (double)round->dropped},
                            {"kept_samples", (double)round->count}};
    kmbi_result_find(result, KMB_FINDING_DRIFT, KMB_NOTE, figures, 2,
                     "the first %llu samples drifted and were dropped; %zu are "
                     "kept",
                     (unsigned long long)round->dropped, round->count);
  }
  if (kmbi_drift(round->samples, round->count, tick, run->scratch, &relative)) {
    char change[KMBI_PERCENT_SIZE];
    kmb_figure figures[] = {{"drift_pct", 100 * relative}};
    kmbi_result_set_f64(result, KMB_VALUE_DRIFT_PCT, 100 * relative);
    kmbi_result_find(result, KMB_FINDING_DRIFT, KMB_WARNING, figures, 1,
                     "from the first to the last quarter of the samples the "
                     "time changed by %s%s",
                     relative > 0 ? "+" : "",
                     kmbi_percent_string(change, 100 * relative, 2));
  }
  if (kmbi_bimodal(round->samples, round->count, tick, run->scratch, &modes)) {
    char a[KMBI_TIME_SIZE], b[KMBI_TIME_SIZE];
    kmb_figure figures[] = {{"low_ns", modes.low},
                            {"high_ns", modes.high},
                            {"smaller_share_pct", 100 * modes.share}};
    kmbi_result_find(result, KMB_FINDING_BIMODAL, KMB_WARNING, figures, 3,
                     "two modes: %s and %s, the rarer with %.0f%% of the "
                     "samples; the median stands for neither",
                     kmbi_time_string(a, modes.low),
                     kmbi_time_string(b, modes.high), 100 * modes.share);
  }
  kmbi_summary s;
  kmbi_summarise(round->samples, round->count, run->scratch, &s);
  if (s.median > 0) spread = 100 * (s.p75 - s.p25) / s.median;
  if (spread > UNSTABLE_PCT) {
    kmb_figure figures[] = {{"spread_pct", spread}};
    kmbi_result_find(result, KMB_FINDING_UNSTABLE, KMB_WARNING, figures, 1,
                     "the middle half of the samples spreads over %.0f%% of "
                     "the median",
                     spread);
  }
}

static void raise_overhead(kmbi_run *run, double time) {
  if (!(run->overhead_ns >= 0) || !(time > 0)) return;
  double share = 100 * run->overhead_ns / time;
  if (share < OVERHEAD_PCT) return;
  char cost[KMBI_TIME_SIZE], part[KMBI_PERCENT_SIZE];
  kmb_figure figures[] = {{"overhead_ns", run->overhead_ns},
                          {"overhead_pct", share}};
  kmbi_result_find(run->result, KMB_FINDING_OVERHEAD, KMB_NOTE, figures, 2,
                   "the loop around the callback costs up to %s, %s of the "
                   "time; none of it is subtracted",
                   kmbi_time_string(cost, run->overhead_ns),
                   kmbi_percent_string(part, share, 2));
}

/* What the tracer's records say of the launch. */
static void raise_records(kmbi_run *run, const kmbi_round *round) {
  if (run->choice.timer != KMB_TIMER_TRACE) return;
  if (round->missing) {
    kmb_figure figures[] = {{"incomplete_samples", (double)round->missing},
                            {"device_ops", (double)run->device_ops}};
    kmbi_result_find(
        run->result, KMB_FINDING_RECORDS_MISSING, KMB_WARNING, figures, 2,
        "%llu sample%s lacked records of some of the launch's "
        "%llu device operations and %s left out",
        (unsigned long long)round->missing, kmbi_plural(round->missing),
        (unsigned long long)run->device_ops, were(round->missing));
  }
  if (round->overlapping) {
    double taken = (double)(round->count + round->dropped);
    double share = 100 * (double)round->overlapping / taken;
    char part[KMBI_PERCENT_SIZE];
    kmb_figure figures[] = {{"overlapping_samples", (double)round->overlapping},
                            {"overlapping_pct", share}};
    kmbi_result_find(
        run->result, KMB_FINDING_ITERATIONS_OVERLAP, KMB_WARNING, figures, 2,
        "%llu sample%s (%s) began before the one before ended, "
        "so that both shared the device; launch without "
        "programmatic dependence and join every stream",
        (unsigned long long)round->overlapping, kmbi_plural(round->overlapping),
        kmbi_percent_string(part, share, 3));
  }
  double span = round->interval.median, idle = span - round->busy_ns;
  if (run->choice.launch_mode != KMB_LAUNCH_PLAIN || run->device_ops < 2 ||
      idle < HOST_BOUND_PCT / 100 * span)
    return;
  kmb_figure figures[] = {{"idle_ns", idle}, {"idle_pct", 100 * idle / span}};
  kmbi_result_find(run->result, KMB_FINDING_HOST_BOUND, KMB_WARNING, figures, 2,
                   "the device is idle for %.0f%% of the time between the "
                   "launch's first and last operation: the host enqueues them "
                   "too slowly; measure it as a graph",
                   100 * idle / span);
}

static void raise_state(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  const kmb_buffers *set = run->p.buffers;
  if (run->check_skipped[0])
    kmbi_result_find(result, KMB_FINDING_CHECK_SKIPPED, KMB_NOTE, NULL, 0,
                     "the values were not checked: %s", run->check_skipped);
  for (uint64_t i = 0; set && !run->p.reset && i < set->count; i++)
    if (set->descs[i].role == KMB_INOUT)
      kmbi_result_find(result, KMB_FINDING_STATE_CARRIED, KMB_NOTE, NULL, 0,
                       "\"%s\" is changed in place and each iteration worked "
                       "on the previous one's output; give a reset hook to "
                       "measure the same input each time",
                       set->descs[i].name);
  raise_records(run, round);
  if (!round->invalid) return;
  kmb_figure figures[] = {{"invalid_samples", (double)round->invalid}};
  kmbi_result_find(result, KMB_FINDING_INVALID_TIMESTAMPS, KMB_WARNING, figures,
                   1, "%llu sample%s had impossible timestamps and %s left out",
                   (unsigned long long)round->invalid,
                   kmbi_plural(round->invalid), were(round->invalid));
}

static void raise_throttled(kmbi_run *run, const kmbi_round *round) {
  const kmbi_watch *ends[] = {&round->before, &round->after};
  const kmbi_track *track = &run->track;
  uint32_t reasons = track->throttle;
  double readings = (double)track->throttle_readings;
  double throttled = (double)track->throttled;
  for (int i = 0; i < 2; i++) {
    reasons |= ends[i]->throttle;
    readings += ends[i]->throttle_known;
    throttled += ends[i]->throttle != 0;
  }
  if (!reasons) return;
  char text[KMBI_THROTTLE_SIZE];
  kmb_figure figures[] = {{"throttled_readings", throttled},
                          {"readings", readings}};
  kmbi_result_find(run->result, KMB_FINDING_THROTTLED, KMB_WARNING, figures, 2,
                   "the device throttled in %.0f of %.0f readings: %s",
                   throttled, readings, kmbi_throttle_text(text, reasons));
}

/* Of all readings, the one before measuring included: how far apart? */
static void raise_clock_drift(kmbi_run *run, const kmbi_round *round) {
  double before = round->before.clock_mhz, after = round->after.clock_mhz;
  const kmbi_gauge *during =
      &run->track.gauges[kmbi_telemetry_index(KMB_TELEMETRY_CLOCK)];
  double first = before, low = INFINITY, high = -INFINITY;
  double all[] = {before, during->count ? during->min : -1,
                  during->count ? during->max : -1, after};
  for (int i = 0; i < 4; i++) {
    if (!(all[i] > 0)) continue;
    if (!(first > 0)) first = all[i];
    if (all[i] < low) low = all[i];
    if (all[i] > high) high = all[i];
  }
  if (!(first > 0) || 100 * (high - low) / first < CLOCK_DRIFT_PCT) return;
  double scratch[KMBI_GAUGE_VALUES];
  kmb_figure figures[5] = {{"min_mhz", low}, {"max_mhz", high}};
  uint64_t count = 2;
  if (before > 0) figures[count++] = (kmb_figure){"before_mhz", before};
  if (after > 0) figures[count++] = (kmb_figure){"after_mhz", after};
  if (during->count)
    figures[count++] =
        (kmb_figure){"median_during_mhz", kmbi_gauge_median(during, scratch)};
  kmbi_result_find(
      run->result, KMB_FINDING_CLOCK_DRIFT, KMB_WARNING, figures, count,
      "while timing the clock was between %.0f and %.0f MHz", low, high);
}

/* Others on the same cores. What the backend does not count is not spoken of.
 */
static void raise_quiet(kmbi_run *run, const kmbi_round *round) {
  const kmbi_watch *a = &round->before, *b = &round->after;
  bool counts = a->preemptions >= 0 && b->preemptions >= 0;
  bool steals = a->steal_ms >= 0 && b->steal_ms >= 0 && round->wall_ns > 0;
  double preempted =
      counts ? 100 * (b->preemptions - a->preemptions) / (double)round->count
             : 0;
  double stolen =
      steals ? 100 * (b->steal_ms - a->steal_ms) * 1e6 / round->wall_ns : 0;
  if (preempted >= PREEMPTED_PCT) {
    kmb_figure figures[] = {{"preempted_samples_pct", preempted}};
    kmbi_result_find(run->result, KMB_FINDING_NOT_QUIET, KMB_WARNING, figures,
                     1,
                     "the machine was not quiet: %.0f preemptions for each "
                     "100 samples",
                     preempted);
  }
  if (stolen >= STEAL_PCT) {
    kmb_figure figures[] = {{"stolen_time_pct", stolen}};
    kmbi_result_find(run->result, KMB_FINDING_NOT_QUIET, KMB_WARNING, figures,
                     1,
                     "the machine was not quiet: while timing, the thread "
                     "was ready but waited for its core %.1f%% of the time",
                     stolen);
  }
}

/* What the backend says. Rounds that say the same say it once. */
static void take_finding(void *user, kmb_finding_code code,
                         kmb_severity severity, const kmb_figure *figures,
                         uint64_t figure_count, const char *message) {
  kmbi_run *run = user;
  if (!message) return;
  for (const kmbi_finding *f = run->result->findings; f; f = f->next)
    if (f->code == code && strcmp(f->message, message) == 0) return;
  kmbi_result_find(run->result, code, severity, figures, figure_count, "%s",
                   message);
}

void kmbi_plan_findings(kmbi_run *run, void *plan) {
  kmb_device *device = run->device;
  kmbi_error_state before;
  if (!KMBI_HAS(device->ops, plan_findings)) return;
  kmbi_error_save(&before);
  device->ops->plan_findings(device->self, plan, take_finding, run);
  kmbi_error_restore(&before);
}

void kmbi_raise_findings(kmbi_run *run, const kmbi_round *round, double time) {
  bool ours = round->stop != KMBI_STOP_NONE;
  if (ours) {
    raise_choice(run);
    raise_cache(run);
    raise_state(run, round);
    raise_overhead(run, time);
    raise_throttled(run, round);
    raise_clock_drift(run, round);
    raise_quiet(run, round);
    kmbi_ranks_find(run, round, time);
  }
  raise_precision(run, round, time);
  raise_shape(run, round);
}
