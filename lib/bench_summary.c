/* Summarise: every value of the result, each known or absent with a reason. */
#include "error.h"
#include "format.h"
#include "metadata.h"
#include "run.h"

#include <math.h>

static bool is_middle(const kmbi_run *run, uint32_t i) {
  uint32_t n = run->round + 1, middle = (n - 1) / 2, below = 0, equal = 0;
  double median = run->rounds[i].interval.median;
  for (uint32_t k = 0; k < n; k++) {
    below += run->rounds[k].interval.median < median;
    equal += run->rounds[k].interval.median == median;
  }
  return below <= middle && middle < below + equal;
}

/* The round whose median is the median of all rounds' (the lower of two): its
 * samples, interval and headline belong together. */
static const kmbi_round *median_round(const kmbi_run *run) {
  uint32_t i = 0;
  while (i < run->round && !is_middle(run, i))
    i++;
  return &run->rounds[i];
}

/* The clock's bias against the reference, where it is known. */
static double correction(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  if (round->stop == KMBI_STOP_NONE) {
    kmbi_set_given(run);
    return 0;
  }
  if (run->choice.timer == KMB_TIMER_HOST) {
    kmbi_result_absent(result, KMB_VALUE_BIAS,
                       "the host clock's bias is only known as an upper bound "
                       "(overhead_upper_ns); nothing is subtracted");
    kmbi_result_set_text(result, KMB_VALUE_ZERO_REFERENCE,
                         "host steady clock, nothing subtracted");
    return 0;
  }
  double bias = 0, uncertainty = 0;
  kmbi_error_state before;
  kmbi_error_save(&before);
  if (kmbi_bias(run, &run->choice, round->batch, &bias, &uncertainty)) {
    const char *why = kmb_last_error(NULL, NULL);
    kmbi_result_absent(result, KMB_VALUE_BIAS, "%s", why);
    kmbi_result_find(result, KMB_FINDING_UNCALIBRATED, KMB_WARNING, NULL, 0,
                     "the %s timer's bias is not known: %s",
                     kmbi_timer_name(run->choice.timer), why);
    kmbi_error_restore(&before);
    kmbi_result_set_text(result, KMB_VALUE_ZERO_REFERENCE, "uncalibrated");
    return 0;
  }
  kmbi_result_set_f64(result, KMB_VALUE_BIAS, bias);
  kmbi_result_set_f64(result, KMB_VALUE_BIAS_UNCERTAINTY, uncertainty);
  const kmb_backend_ops *ops = run->device->ops;
  bool named = KMBI_HAS(ops, zero_reference);
  kmbi_result_set_text(result, KMB_VALUE_ZERO_REFERENCE,
                       named ? ops->zero_reference
                             : "the backend's reference timer");
  return bias;
}

static void set_interval(kmbi_run *run, const kmbi_round *round, double bias,
                         double time) {
  kmb_result *result = run->result;
  if (!round->has_interval) {
    const kmb_value none[] = {KMB_VALUE_INTERVAL_LOW, KMB_VALUE_INTERVAL_HIGH,
                              KMB_VALUE_INTERVAL_PCT, KMB_VALUE_DESIGN_EFFECT};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
      kmbi_result_absent(result, none[i], "fewer than 8 samples");
    return;
  }
  const kmbi_interval *interval = &round->interval;
  kmbi_result_set_f64(result, KMB_VALUE_INTERVAL_LOW, interval->low - bias);
  kmbi_result_set_f64(result, KMB_VALUE_INTERVAL_HIGH, interval->high - bias);
  if (time > 0)
    kmbi_result_set_f64(result, KMB_VALUE_INTERVAL_PCT,
                        100 * interval->half / time);
  kmbi_result_set_f64(result, KMB_VALUE_DESIGN_EFFECT, interval->design_effect);
}

static double set_time(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  double bias = correction(run, round);
  double raw = round->interval.median, time = raw - bias;
  char a[KMBI_TIME_SIZE], b[KMBI_TIME_SIZE];
  kmbi_result_set_f64(result, KMB_VALUE_RAW_MEDIAN, raw);
  if (time > 0 || bias == 0)
    kmbi_result_set_f64(result, KMB_VALUE_TIME, time);
  else
    kmbi_result_absent(result, KMB_VALUE_TIME,
                       "the timer's bias (%s) exceeds what it read (%s)",
                       kmbi_time_string(a, bias), kmbi_time_string(b, raw));
  set_interval(run, round, bias, time);
  return time > 0 ? time : 0;
}

static void set_samples(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  kmbi_summary s;
  kmbi_summarise(round->samples, round->count, run->scratch, &s);
  const struct {
    kmb_value value;
    double number;
  } numbers[] = {
      {KMB_VALUE_MEAN, s.mean}, {KMB_VALUE_MAD, s.mad}, {KMB_VALUE_MIN, s.min},
      {KMB_VALUE_P25, s.p25},   {KMB_VALUE_P75, s.p75}, {KMB_VALUE_P95, s.p95},
      {KMB_VALUE_P99, s.p99},   {KMB_VALUE_MAX, s.max},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    kmbi_result_set_f64(result, numbers[i].value, numbers[i].number);
  if (round->count > 1)
    kmbi_result_set_f64(result, KMB_VALUE_STDEV, s.stdev);
  else
    kmbi_result_absent(result, KMB_VALUE_STDEV, "one sample");
  kmbi_result_set_u64(result, KMB_VALUE_SAMPLES, round->count);
  kmbi_result_set_u64(result, KMB_VALUE_SAMPLES_DROPPED, round->dropped);
  kmbi_result_set_u64(result, KMB_VALUE_SAMPLES_INVALID,
                      round->invalid + round->missing + round->spoiled);
  kmbi_result_set_u64(result, KMB_VALUE_ITERATIONS, round->iterations);
  kmbi_result_set_text(result, KMB_VALUE_STOP_REASON,
                       kmbi_stop_name(round->stop));
  kmbi_result_set_f64(result, KMB_VALUE_TARGET_PCT, run->p.target_pct);
  kmbi_result_set_u64(result, KMB_VALUE_SEED, run->p.seed);
  kmbi_result_set_samples(result, round->samples, round->count);
  if (run->tick_ns > 0)
    kmbi_result_set_f64(result, KMB_VALUE_CLOCK_TICK, run->tick_ns);
  else
    kmbi_result_absent(result, KMB_VALUE_CLOCK_TICK, "not known");
}

static void set_timer(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  kmbi_result_set_text(result, KMB_VALUE_TIMER,
                       kmbi_timer_name(run->choice.timer));
  kmbi_result_set_text(result, KMB_VALUE_LAUNCH_MODE,
                       kmbi_launch_mode_name(run->choice.launch_mode));
  char why[KMBI_PASSED_OVER_SIZE];
  const char *reason = run->p.timer == run->choice.timer
                           ? "asked for"
                           : "the backend's first choice";
  kmbi_passed_over(run, why);
  kmbi_result_set_text(result, KMB_VALUE_TIMER_REASON, why[0] ? why : reason);
  kmbi_result_set_u64(result, KMB_VALUE_BATCH, round->batch);
  kmbi_result_set_u64(result, KMB_VALUE_WARMUP_ITERATIONS,
                      run->warmup_iterations);
  kmbi_result_set_u64(result, KMB_VALUE_CONFIG, run->p.config);
  kmbi_result_set_f64(result, KMB_VALUE_MEASURE_WALL, round->wall_ns);
  if (run->overhead_ns >= 0)
    kmbi_result_set_f64(result, KMB_VALUE_OVERHEAD, run->overhead_ns);
  if (run->choice.timer == KMB_TIMER_TRACE) {
    kmbi_result_set_f64(result, KMB_VALUE_BUSY, round->busy_ns);
    kmbi_result_set_f64(result, KMB_VALUE_SUM, round->sum_ns);
    kmbi_result_set_f64(result, KMB_VALUE_GAPS, round->gaps_ns);
    kmbi_result_set_u64(result, KMB_VALUE_DEVICE_OPS, round->ops);
    kmbi_set_ops(run, round);
  }
  kmbi_set_launch_of_ops(run);
}

static const char *achieved(const kmbi_run *run) {
  if (run->not_cold) return "NOT_COLD";
  if (run->choice.cache == KMB_CACHE_WARM && run->llc_bytes &&
      run->buffers.touched_bytes > run->llc_bytes)
    return "NOT_WARM";
  return kmbi_cache_name(run->choice.cache);
}

static void set_cache(kmbi_run *run) {
  kmb_result *result = run->result;
  kmbi_result_set_text(result, KMB_VALUE_CACHE_STATE, achieved(run));
  kmbi_result_set_text(result, KMB_VALUE_CACHE_REQUESTED,
                       kmbi_cache_name(run->p.cache));
  kmbi_result_set_u64(result, KMB_VALUE_SLOTS, run->slots);
  if (run->llc_bytes)
    kmbi_result_set_u64(result, KMB_VALUE_LLC_BYTES, run->llc_bytes);
  else
    kmbi_result_absent(result, KMB_VALUE_LLC_BYTES,
                       "the device reports no last-level cache");
  switch (run->choice.cache) {
  case KMB_CACHE_COLD:
    kmbi_result_set_u64(result, KMB_VALUE_SWEEP_BYTES, run->sweep_bytes);
    kmbi_result_format(result, KMB_VALUE_CACHE_METHOD,
                       "%.4g MiB read before each iteration",
                       (double)run->sweep_bytes / 1048576);
    break;
  case KMB_CACHE_ROTATED:
    kmbi_result_set_u64(result, KMB_VALUE_REUSE_BYTES, run->reuse_bytes);
    kmbi_result_format(result, KMB_VALUE_CACHE_METHOD,
                       "%u slot%s, %.4g MiB of cold data between two uses",
                       (unsigned)run->slots, kmbi_plural(run->slots),
                       (double)run->reuse_bytes / 1048576);
    break;
  default:
    kmbi_result_set_text(result, KMB_VALUE_CACHE_METHOD,
                         run->p.buffers
                             ? "the same slot again"
                             : "the callback again; what it touches is not "
                               "known");
  }
  if (kmbi_result_get_text(result, KMB_VALUE_CACHE_PROOF)) return;
  if (run->choice.cache == KMB_CACHE_WARM)
    kmbi_result_absent(result, KMB_VALUE_CACHE_PROOF, "nothing was to be cold");
  else
    kmbi_result_set_text(result, KMB_VALUE_CACHE_PROOF, "unproved");
}

static void set_buffers(kmbi_run *run) {
  kmb_result *result = run->result;
  const kmb_buffers *set = run->p.buffers;
  if (!set) {
    kmbi_result_absent(result, KMB_VALUE_TOUCHED_BYTES, "no buffers");
    return;
  }
  kmbi_result_set_u64(result, KMB_VALUE_ALLOCATED_BYTES,
                      run->buffers.allocated_bytes);
  kmbi_result_set_u64(result, KMB_VALUE_TOUCHED_BYTES,
                      run->buffers.touched_bytes);
  kmbi_arena names;
  kmbi_arena_init(&names, &run->device->memory);
  const char *text = "";
  for (uint64_t i = 0; text && i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    if (set->places[i] == KMBI_ALIAS) continue;
    text = kmbi_arena_format(&names, "%s%s%s: %s", text, *text ? ", " : "",
                             d->name, kmbi_fill_name(d->fill, d->role));
  }
  if (text)
    kmbi_result_set_text(result, KMB_VALUE_FILL, text);
  else
    result->arena.failed = true;
  kmbi_arena_release(&names);
}

static void set_check(kmbi_run *run) {
  kmb_result *result = run->result;
  if (run->check_skipped[0])
    kmbi_result_set_text(result, KMB_VALUE_CHECK, run->check_skipped);
  else
    kmbi_result_set_text(result, KMB_VALUE_CHECK, run->check_text);
  if (run->check_error >= 0)
    kmbi_result_set_f64(result, KMB_VALUE_CHECK_ERROR, run->check_error);
  if (run->p.tolerance > 0 || run->p.flags & KMB_BENCH_TOLERANCE)
    kmbi_result_set_f64(result, KMB_VALUE_TOLERANCE, run->p.tolerance);
}

static void set_rounds(kmbi_run *run) {
  kmb_result *result = run->result;
  uint32_t n = run->round + 1;
  kmbi_result_set_u64(result, KMB_VALUE_ROUNDS, n);
  const kmbi_memory *memory = &run->device->memory;
  double *medians = kmbi_alloc(memory, n, 2 * sizeof *medians);
  if (!medians) {
    result->arena.failed = true;
    return;
  }
  double low = 0, high = 0, confidence = 0, bias = 0;
  kmbi_result_get_f64(result, KMB_VALUE_BIAS, &bias);
  for (uint32_t i = 0; i < n; i++)
    medians[i] = run->rounds[i].interval.median - bias;
  if (kmbi_round_interval(medians, n, medians + n, &low, &high, &confidence)) {
    kmbi_result_set_f64(result, KMB_VALUE_ROUND_LOW, low);
    kmbi_result_set_f64(result, KMB_VALUE_ROUND_HIGH, high);
  } else {
    const kmb_value none[] = {KMB_VALUE_ROUND_LOW, KMB_VALUE_ROUND_HIGH};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
      kmbi_result_absent(result, none[i],
                         "%u round%s; five give a between-round interval",
                         (unsigned)n, kmbi_plural(n));
  }
  kmbi_free(memory, medians, n, 2 * sizeof *medians);
}

kmb_status kmbi_summarise_run(kmbi_run *run, kmbi_stage *next) {
  *next = KMBI_DONE;
  kmb_result *result = run->result;
  const kmbi_round *round = median_round(run);
  kmbi_result_set_text(result, KMB_VALUE_NAME, run->p.name);
  kmbi_result_set_axes(result, run->p.axes, run->p.axis_count);
  double time = set_time(run, round);
  set_samples(run, round);
  set_rounds(run);
  if (round->stop != KMBI_STOP_NONE) {
    set_timer(run, round);
    set_cache(run);
    set_buffers(run);
    set_check(run);
    kmbi_ranks_set(run, round);
    kmbi_track_store(&run->track, result);
  }
  kmbi_raise_findings(run, round, time);
  kmbi_set_dram_rate(run, time);
  if (run->has_work) kmbi_set_roofline(run, round, time);
  if (run->p.code) {
    const kmbi_code_head *head = (const void *)run->p.code;
    head->set(result, run->p.code);
  }
  kmbi_metadata_collect(run->device, run->p.metadata ? &run->metadata : NULL,
                        result);
  kmbi_result_set_f64(result, KMB_VALUE_TOTAL_WALL,
                      kmbi_clock(run) - run->entered_ns);
  return KMB_OK;
}
