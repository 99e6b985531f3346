/* kmb_compare(): candidates in turns, and what each row comes to. */
#include "compare.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>

/* Intervals. */

/* What the clock's step leaves open of the median, as a share of it. */
static double open_share(const kmbi_candidate *k) {
  const kmbi_run *run = &k->run;
  kmbi_interval interval;
  size_t n = run->sample_count;
  double tick = run->tick_ns / (double)run->batch;
  /* `scratch` is grown with the samples, see kmbi_compare_interval(). */
  if (!kmbi_interval_of(run->samples, n, tick, run->p.seed, run->scratch,
                        &interval))
    return 0;
  double time = interval.median - k->bias;
  return time > 0 ? interval.tick_part / time : 0;
}

static bool same_clock(const kmbi_run *a, const kmbi_run *b) {
  return a->choice.timer == b->choice.timer &&
         a->choice.launch_mode == b->choice.launch_mode && a->batch == b->batch;
}

/* The hull over what the bias may be: one error for both if they are timed in
 * the same way, else any two. */
static bool widen_by_bias(const kmbi_compare *c, const kmbi_candidate *k,
                          const kmbi_candidate *base, double left_open,
                          double *logs, double *scratch, kmbi_paired *paired) {
  size_t n = (size_t)c->out->cycles;
  double ours = k->bias_uncertainty, theirs = base->bias_uncertainty;
  bool common = same_clock(&k->run, &base->run);
  for (int i = 0; i < 4; i++) {
    double a = i & 1 ? ours : -ours, b = i & 2 ? theirs : -theirs;
    kmbi_paired shifted;
    if (common && (i == 1 || i == 2)) continue;
    if (!kmbi_paired_logs(k->turns, k->bias + a, base->turns, base->bias + b, n,
                          logs) ||
        !kmbi_paired_interval(logs, n, left_open, c->alpha, scratch, &shifted))
      return false;
    paired->low = fmin(paired->low, shifted.low);
    paired->high = fmax(paired->high, shifted.high);
  }
  return true;
}

bool kmbi_compare_interval(const kmbi_compare *c, uint64_t index,
                           kmbi_paired *paired, double *left_open) {
  const kmbi_candidate *k = &c->candidates[index];
  const kmbi_candidate *base = &c->candidates[c->p.baseline];
  double logs[KMBI_CYCLES_MAX], scratch[KMBI_CYCLES_MAX];
  size_t n = (size_t)c->out->cycles;
  *left_open = open_share(k) + open_share(base);
  if (!kmbi_paired_logs(k->turns, k->bias, base->turns, base->bias, n, logs) ||
      !kmbi_paired_interval(logs, n, *left_open, c->alpha, scratch, paired))
    return false;
  double sampling = log(paired->high / paired->low) / 2 - *left_open;
  if (!widen_by_bias(c, k, base, *left_open, logs, scratch, paired))
    return false;
  *left_open = log(paired->high / paired->low) / 2 - sampling;
  return true;
}

/* Rows. */

static bool doubted(const kmb_result *result, const char **finding) {
  for (const kmbi_finding *f = result->findings; f; f = f->next) {
    if (f->severity != KMB_DOUBT) continue;
    *finding = f->name ? f->name : kmb_finding_name(f->code);
    return true;
  }
  return false;
}

static void set_reason(kmbi_compare *c, kmb_compare_row *row,
                       kmb_verdict verdict, const char *reason) {
  row->verdict = verdict;
  row->reason = kmbi_arena_copy(&c->out->arena, reason);
}

kmb_verdict kmbi_verdict_of(double low, double high, double threshold) {
  if (high < 1 - threshold) return KMB_VERDICT_FASTER;
  if (low > 1 + threshold) return KMB_VERDICT_SLOWER;
  if (low >= 1 - threshold && high <= 1 + threshold) return KMB_VERDICT_SAME;
  return KMB_VERDICT_UNRESOLVED;
}

static void judge(kmbi_compare *c, kmb_compare_row *row) {
  static const char crosses[] =
      "the interval crosses the threshold: measure longer, or the difference "
      "is about as large as the threshold";
  static const char *const reasons[] = {
      [KMB_VERDICT_FASTER] = "the interval lies below the threshold",
      [KMB_VERDICT_SLOWER] = "the interval lies above the threshold",
      [KMB_VERDICT_SAME] = "the interval lies within the threshold",
      [KMB_VERDICT_UNRESOLVED] = crosses};
  kmb_verdict verdict =
      kmbi_verdict_of(row->low, row->high, c->p.threshold_pct / 100);
  set_reason(c, row, verdict, reasons[verdict]);
}

static void doubt(kmbi_compare *c, kmb_compare_row *row, const char *name,
                  const char *finding) {
  row->verdict = KMB_VERDICT_UNRESOLVED;
  row->reason = kmbi_arena_format(
      &c->out->arena, "the result of \"%s\" is in doubt: %s", name, finding);
}

static kmb_status keep_ratios(kmbi_compare *c, uint64_t index) {
  const kmbi_candidate *k = &c->candidates[index];
  const kmbi_candidate *base = &c->candidates[c->p.baseline];
  size_t n = (size_t)c->out->cycles;
  double scratch[KMBI_CYCLES_MAX];
  double *ratios = kmbi_arena_alloc(&c->out->arena, n, sizeof *ratios);
  if (!ratios) return kmbi_fail(KMB_ERR_NOMEM, "no memory for %zu ratios", n);
  if (!kmbi_paired_logs(k->turns, k->bias, base->turns, base->bias, n, ratios))
    return KMB_OK;
  kmb_compare_row *row = &c->out->rows[index];
  row->ratio = exp(kmbi_median(ratios, n, scratch));
  row->flags |= KMB_ROW_RATIO;
  row->cycles = n;
  for (size_t i = 0; i < n; i++)
    ratios[i] = exp(ratios[i]);
  c->out->ratios[index] = ratios;
  return KMB_OK;
}

static void set_verdict(kmbi_compare *c, uint64_t index) {
  kmb_compare_row *row = &c->out->rows[index];
  uint64_t base = c->p.baseline;
  kmbi_paired paired;
  double left_open = 0;
  const char *finding = NULL;
  if (!(row->flags & KMB_ROW_RATIO)) {
    set_reason(c, row, KMB_VERDICT_UNRESOLVED,
               "a turn's time, less the timer's bias, is not above 0: the "
               "clock cannot tell the candidates apart");
    return;
  }
  if (!kmbi_compare_interval(c, index, &paired, &left_open)) {
    set_reason(c, row, KMB_VERDICT_UNRESOLVED,
               "too few cycles for an interval: raise max_wall_ns");
    return;
  }
  row->low = paired.low;
  row->high = paired.high;
  row->confidence = paired.confidence;
  row->design_effect = paired.design_effect;
  row->flags |= KMB_ROW_INTERVAL;
  if (doubted(c->out->results[base], &finding))
    doubt(c, row, c->out->rows[base].name, finding);
  else if (doubted(c->out->results[index], &finding))
    doubt(c, row, row->name, finding);
  else
    judge(c, row);
}

kmb_status kmbi_compare_row(kmbi_compare *c, uint64_t index) {
  kmbi_candidate *k = &c->candidates[index];
  kmb_comparison *out = c->out;
  kmb_compare_row *row = &out->rows[index];
  row->name = kmbi_utf8_copy(&out->arena, k->bench.name);
  row->result = out->results[index];
  row->config = k->bench.config;
  if (k->configs)
    row->config_text = kmbi_config_text(&out->arena, &k->given, row->config);
  kmb_status status = KMB_OK;
  if (index == c->p.baseline) {
    row->verdict = KMB_VERDICT_BASELINE;
    row->reason = "the others are compared with it";
  } else {
    status = keep_ratios(c, index);
  }
  if (!status && kmbi_arena_failed(&out->arena))
    status = kmbi_fail(KMB_ERR_NOMEM, "no memory for a comparison");
  return status;
}

/* The call. */

kmb_status kmbi_compare_failed(const kmbi_compare *c, uint64_t index,
                               kmb_status status) {
  if (!status) return KMB_OK;
  kmbi_callback_failed(status, &c->before);
  kmbi_error_state said, named;
  kmbi_error_save(&said);
  named = said;
  snprintf(named.message, sizeof named.message, "candidate \"%.60s\": %.180s",
           c->candidates[index].bench.name, said.message);
  kmbi_error_restore(&named);
  return status;
}

static kmb_status take_memory(kmbi_compare *c) {
  const kmbi_memory *memory = &c->device->memory;
  c->candidates = kmbi_alloc(memory, (size_t)c->count, sizeof *c->candidates);
  if (!c->candidates)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %llu candidates",
                     (unsigned long long)c->count);
  return kmbi_comparison_create(memory, c->count, &c->out);
}

static kmb_status make_turns(kmbi_compare *c) {
  const kmbi_memory *memory = &c->device->memory;
  for (uint64_t i = 0; i < c->count; i++) {
    c->candidates[i].turns =
        kmbi_alloc(memory, 2 * (size_t)c->p.max_cycles + 2, sizeof(double));
    if (!c->candidates[i].turns)
      return kmbi_fail(KMB_ERR_NOMEM, "no memory for the turns");
  }
  return KMB_OK;
}

static kmb_status run_all(kmbi_compare *c) {
  kmb_status status = kmbi_compare_declared(c);
  for (uint64_t i = 0; i < c->count && !status; i++)
    status = kmbi_compare_tune(c, i);
  if (!status) status = make_turns(c);
  if (!status) status = kmbi_compare_prepare(c);
  if (!status) status = kmbi_compare_measure(c);
  if (status) return status;
  c->out->name = kmbi_utf8_copy(&c->out->arena, c->p.name ? c->p.name : "");
  c->out->threshold_pct = c->p.threshold_pct;
  c->out->baseline = c->p.baseline;
  for (uint64_t i = 0; i < c->count; i++)
    if (i != c->p.baseline) set_verdict(c, i);
  if (kmbi_arena_failed(&c->out->arena))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a comparison");
  return KMB_OK;
}

static void release(kmbi_compare *c) {
  const kmbi_memory *memory = &c->device->memory;
  for (uint64_t i = 0; c->candidates && i < c->count; i++) {
    kmbi_candidate *k = &c->candidates[i];
    if (k->begun) kmbi_run_release(&k->run);
    if (k->turns)
      kmbi_free(memory, k->turns, 2 * (size_t)c->p.max_cycles + 2,
                sizeof(double));
  }
  kmbi_free(memory, c->candidates, (size_t)c->count, sizeof *c->candidates);
  kmb_comparison_destroy(c->out);
}

static kmb_status check_call(const kmb_candidate *candidates, size_t stride,
                             uint64_t count) {
  if (!candidates)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_compare: candidates is NULL");
  if (count < 2 || count > KMBI_CANDIDATES_MAX)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare: %llu candidates; 2 to %d can be compared",
                     (unsigned long long)count, KMBI_CANDIDATES_MAX);
  if (stride < sizeof(size_t) || stride % _Alignof(kmb_candidate))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare: stride is %zu; give sizeof(kmb_candidate)",
                     stride);
  return KMB_OK;
}

kmb_status kmb_compare(kmb_device *device, const kmb_candidate *candidates,
                       size_t stride, uint64_t count,
                       const kmb_compare_params *params,
                       kmb_comparison **comparison) {
  if (!comparison)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_compare: comparison is NULL");
  *comparison = NULL;
  kmb_status status = check_call(candidates, stride, count);
  if (!status) status = kmbi_device_enter(device, "kmb_compare");
  if (status) return status;
  kmbi_compare c = {.device = device, .count = count};
  kmbi_error_save(&c.before);
  status = take_memory(&c);
  if (!status) status = kmbi_compare_params(&c, candidates, stride, params);
  if (!status) status = run_all(&c);
  if (!status) {
    *comparison = c.out;
    c.out = NULL;
    kmbi_error_restore(&c.before);
  }
  kmbi_device_note(device, status);
  release(&c);
  kmbi_device_leave(device);
  return status;
}
