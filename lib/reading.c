/* The roofline of a result, and a reading of it in a fixed order: prediction,
 * speed of light, memory workload, occupancy, and one honest sentence. */
#include "error.h"
#include "format.h"
#include "run.h"

#include <stdio.h>

/* Below this, a GPU's launch and drain are a large part of the time. */
#define SHORT_NS 10000.0
/* A launch whose operations fill less of its span has gaps. */
#define BUSY_SHARE 0.9

enum { SENTENCE = 512 };

static void set_ceiling(kmbi_run *run, const kmb_ceiling *c, kmb_value value,
                        kmb_value name) {
  kmb_result *result = run->result;
  kmbi_result_set_f64(result, value, c->value);
  bool typed =
      c->dtype && (c->kind == KMB_CEILING_FMA || c->kind == KMB_CEILING_MATRIX);
  char where[32] = "", how[112] = "";
  if (c->threads)
    snprintf(where, sizeof where, ", %u thread%s", (unsigned)c->threads,
             c->threads == 1 ? "" : "s");
  else if (c->source == KMB_SOURCE_MEASURED && c->bytes)
    snprintf(where, sizeof where, " of %.4g GiB, warm",
             (double)c->bytes / 1073741824);
  if (c->variant)
    snprintf(how, sizeof how, " (%.90s%s)", c->variant,
             c->flags & KMB_CEILING_SPARSE ? ", sparse" : "");
  kmbi_result_format(result, name, "%s %s%s%s%s%s", kmbi_source_name(c->source),
                     kmbi_ceiling_name(c->kind), typed ? " " : "",
                     typed ? kmb_dtype_name(c->dtype) : "", where, how);
  if (c->threads) kmbi_result_set_u64(result, KMB_VALUE_THREADS, c->threads);
}

static void set_ceilings(kmbi_run *run) {
  kmb_result *result = run->result;
  const kmb_ceiling *m = &run->memory, *c = &run->compute;
  if (run->has_memory)
    set_ceiling(run, m, KMB_VALUE_MEMORY_CEILING,
                KMB_VALUE_MEMORY_CEILING_NAME);
  else
    kmbi_result_absent(result, KMB_VALUE_MEMORY_CEILING,
                       "not measured, not given and not in the table of peaks");
  if (run->has_compute)
    set_ceiling(run, c, KMB_VALUE_COMPUTE_CEILING,
                KMB_VALUE_COMPUTE_CEILING_NAME);
  else
    kmbi_result_absent(result, KMB_VALUE_COMPUTE_CEILING,
                       "not measured, not given and not in the table of peaks");
  if (run->has_memory && run->has_compute && m->source != c->source)
    kmbi_result_format(result, KMB_VALUE_CEILING_SOURCE,
                       "memory: %s, compute: %s", kmbi_source_name(m->source),
                       kmbi_source_name(c->source));
  else if (run->has_memory || run->has_compute)
    kmbi_result_set_text(
        result, KMB_VALUE_CEILING_SOURCE,
        kmbi_source_name(run->has_memory ? m->source : c->source));
  if (!run->part) return;
  const char *name = NULL, *source = NULL;
  if (!kmb_part_text(run->part, KMB_PART_NAME, &name))
    kmbi_result_meta(result, "peaks.part", name, NULL);
  if (!kmb_part_text(run->part, KMB_PART_SOURCE, &source))
    kmbi_result_meta(result, "peaks.source", source, NULL);
}

static void set_work(kmbi_run *run) {
  kmb_result *result = run->result;
  const kmb_work *w = &run->work;
  kmbi_result_set_u64(result, KMB_VALUE_FLOPS, w->flops);
  kmbi_result_set_u64(result, KMB_VALUE_READ_BYTES, w->read_bytes);
  kmbi_result_set_u64(result, KMB_VALUE_WRITE_BYTES, w->write_bytes);
  kmbi_result_set_u64(result, KMB_VALUE_LEAST_BYTES,
                      w->read_bytes + w->write_bytes);
  kmbi_result_set_text(result, KMB_VALUE_WORK_CONVENTION,
                       w->convention ? w->convention : "counted by the caller");
  kmbi_result_set_text(result, KMB_VALUE_WORK_DTYPE, kmb_dtype_name(w->dtype));
}

/* Why the bound is what it is. */
static void set_prediction_text(kmbi_run *run, const kmb_roofline *r) {
  kmb_result *result = run->result;
  const kmb_value value = KMB_VALUE_READING_PREDICTION;
  const char *bound = kmbi_bound_name(r->predicted);
  const uint32_t both = KMB_ROOFLINE_INTENSITY | KMB_ROOFLINE_RIDGE;
  if (r->predicted == KMB_BOUND_UNKNOWN)
    kmbi_result_set_text(result, value,
                         "nothing can be predicted: a ceiling is unknown");
  else if ((r->known & both) == both)
    kmbi_result_format(result, value,
                       "%s-bound: %.4g FLOP/B, the ridge is at %.4g", bound,
                       r->intensity, r->ridge);
  else
    kmbi_result_format(result, value, "%s-bound: the work counts %s", bound,
                       r->predicted == KMB_BOUND_MEMORY ? "bytes only"
                                                        : "FLOPs only");
}

void kmbi_set_prediction(kmbi_run *run, const kmb_roofline *r) {
  kmb_result *result = run->result;
  set_work(run);
  set_ceilings(run);
  kmbi_result_set_text(result, KMB_VALUE_PREDICTED_BOUND,
                       kmbi_bound_name(r->predicted));
  if (r->known & KMB_ROOFLINE_SOL_TIME)
    kmbi_result_set_f64(result, KMB_VALUE_PREDICTED_TIME, r->sol_time_ns);
  if (r->known & KMB_ROOFLINE_INTENSITY)
    kmbi_result_set_f64(result, KMB_VALUE_INTENSITY, r->intensity);
  if (r->known & KMB_ROOFLINE_RIDGE)
    kmbi_result_set_f64(result, KMB_VALUE_RIDGE, r->ridge);
  if (r->known & KMB_ROOFLINE_ATTAINABLE_FLOPS)
    kmbi_result_set_f64(result, KMB_VALUE_ATTAINABLE_FLOPS,
                        r->attainable_flops);
  set_prediction_text(run, r);
}

static void set_known(kmbi_run *run, const kmb_roofline *r) {
  const struct {
    uint32_t bit;
    kmb_value value;
    double number;
  } rows[] = {
      {KMB_ROOFLINE_SOL_PCT, KMB_VALUE_SOL_PCT, r->sol_pct},
      {KMB_ROOFLINE_ACHIEVED_FLOPS, KMB_VALUE_ACHIEVED_FLOPS,
       r->achieved_flops},
      {KMB_ROOFLINE_ACHIEVED_BYTES, KMB_VALUE_ACHIEVED_BYTES,
       r->achieved_bytes},
      {KMB_ROOFLINE_MEMORY_PCT, KMB_VALUE_MEMORY_PCT, r->memory_pct},
      {KMB_ROOFLINE_COMPUTE_PCT, KMB_VALUE_COMPUTE_PCT, r->compute_pct},
      {KMB_ROOFLINE_REFERENCE_PCT, KMB_VALUE_REFERENCE_PCT, r->reference_pct},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (r->known & rows[i].bit)
      kmbi_result_set_f64(run->result, rows[i].value, rows[i].number);
  kmbi_result_set_text(run->result, KMB_VALUE_OBSERVED_BOUND,
                       kmbi_bound_name(r->observed));
}

static void set_reference(kmbi_run *run) {
  const kmb_reference *r = &run->reference;
  if (!run->has_reference) return;
  bool memory = r->bound == KMB_BOUND_MEMORY;
  kmbi_result_format(run->result, KMB_VALUE_REFERENCE_NAME,
                     "%s, %s: %.4g %s, %s (%s); no limit", r->regime,
                     r->hardware, r->value / 1e12, memory ? "TB/s" : "TFLOP/s",
                     r->kind, r->source);
}

/* The second ceiling of arithmetic: it follows the clock, and may exceed the
 * datasheet's. */
static void set_rate(kmbi_run *run, const kmbi_round *round,
                     const kmb_roofline *r) {
  double a = round->before.clock_mhz, b = round->after.clock_mhz;
  double clock = a > b ? a : b;
  uint64_t units = 0;
  kmb_ceiling rate = kmb_ceiling_init();
  kmbi_error_state before;
  if (!run->part || !run->work.flops) return;
  if (!(clock > 0)) {
    kmbi_result_absent(run->result, KMB_VALUE_RATE_CEILING,
                       "no clock was observed");
    return;
  }
  kmbi_error_save(&before);
  if (run->device->ops->attr_u64(run->device->self, KMB_DEVICE_UNITS, &units))
    units = 0;
  if (kmb_part_rate(run->part, 0, run->work.dtype, units, clock, &rate)) {
    kmbi_result_absent(run->result, KMB_VALUE_RATE_CEILING, "%s",
                       kmb_last_error(NULL, NULL));
    kmbi_error_restore(&before);
    return;
  }
  kmbi_error_restore(&before);
  kmbi_result_set_f64(run->result, KMB_VALUE_RATE_CEILING, rate.value);
  char count[32] = "the part's";
  if (units) snprintf(count, sizeof count, "%llu", (unsigned long long)units);
  kmbi_result_format(run->result, KMB_VALUE_RATE_CEILING_NAME,
                     "rate %s %s × %s units × %.0f MHz, the higher of the "
                     "clocks observed (%s)",
                     kmbi_ceiling_name(rate.kind), kmb_dtype_name(rate.dtype),
                     count, clock, rate.reference);
  if (r->known & KMB_ROOFLINE_ACHIEVED_FLOPS)
    kmbi_result_set_f64(run->result, KMB_VALUE_RATE_PCT,
                        100 * r->achieved_flops / rate.value);
}

/* "87% of the memory ceiling, 12% of the compute ceiling" */
static void shares(const kmb_roofline *r, char *text, size_t size) {
  bool memory = r->known & KMB_ROOFLINE_MEMORY_PCT;
  bool compute = r->known & KMB_ROOFLINE_COMPUTE_PCT;
  char a[KMBI_PERCENT_SIZE], b[KMBI_PERCENT_SIZE];
  kmbi_percent_string(a, r->memory_pct, 3);
  kmbi_percent_string(b, r->compute_pct, 3);
  if (memory && compute)
    snprintf(text, size, "%s of the memory ceiling, %s of the compute ceiling",
             a, b);
  else if (memory)
    snprintf(text, size, "%s of the memory ceiling", a);
  else if (compute)
    snprintf(text, size, "%s of the compute ceiling", b);
  else
    snprintf(text, size, "no ceiling is known");
}

static void set_sol_text(kmbi_run *run, const kmb_roofline *r,
                         const char *reached) {
  char reference[128] = "", percent[KMBI_PERCENT_SIZE];
  kmbi_percent_string(percent, r->reference_pct, 3);
  if (r->known & KMB_ROOFLINE_REFERENCE_PCT)
    snprintf(reference, sizeof reference, "; %s of what others reached (%.40s)",
             percent, run->reference.regime);
  const char *source =
      kmbi_result_get_text(run->result, KMB_VALUE_CEILING_SOURCE);
  kmbi_result_format(run->result, KMB_VALUE_READING_SOL, "%s%s%s%s%s", reached,
                     source ? " (" : "", source ? source : "",
                     source ? ")" : "", reference);
}

static bool has_finding(const kmbi_run *run, kmb_finding_code code) {
  const kmbi_finding *at = run->result->findings;
  while (at && at->code != code)
    at = at->next;
  return at != NULL;
}

static void add_cause(char *text, size_t size, const char *cause) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s", used ? "; " : "", cause);
}

/* Why neither bound was reached, as far as this measurement can tell: what was
 * seen first, then what nothing here could have seen. */
static void causes(const kmbi_run *run, const kmbi_round *round, double time,
                   char *text, size_t size) {
  text[0] = '\0';
  bool gpu = run->choice.timer && run->choice.timer != KMB_TIMER_HOST;
  bool gaps = run->choice.timer == KMB_TIMER_TRACE && round->busy_ns > 0 &&
              round->busy_ns < BUSY_SHARE * time;
  if (has_finding(run, KMB_FINDING_HOST_BOUND))
    add_cause(text, size, "the host is late (HOST_BOUND)");
  if (gaps) add_cause(text, size, "gaps between the operations of a launch");
  if (has_finding(run, KMB_FINDING_THROTTLED))
    add_cause(text, size, "low clocks (THROTTLED)");
  if (has_finding(run, KMB_FINDING_NOT_QUIET))
    add_cause(text, size, "others on the machine (NOT_QUIET)");
  if (gpu && time < SHORT_NS)
    add_cause(text, size, "launch and drain, in so short a time");
  char counted[SENTENCE / 2];
  bool known = kmbi_counters_cause(run, counted, sizeof counted);
  add_cause(text, size,
            known ? counted
                  : "more work than the least, latency, or too little in "
                    "parallel, which only counters could tell apart");
}

static void set_mismatch(kmbi_run *run, const kmbi_round *round, double time,
                         const char *reached) {
  char why[SENTENCE];
  const char *verdict = kmbi_counters_verdict(run);
  causes(run, round, time, why, sizeof why);
  kmbi_result_format(run->result, KMB_VALUE_READING,
                     "%s: %s-bound was predicted "
                     "and is not reached (%s). Likeliest: %s",
                     verdict ? verdict : "does not match the prediction",
                     kmbi_bound_name(run->predicted), reached, why);
}

/* The sentence that ends the reading. */
static void set_reading(kmbi_run *run, const kmbi_round *round,
                        const kmb_roofline *r, double time) {
  kmb_result *result = run->result;
  char reached[128];
  shares(r, reached, sizeof reached);
  set_sol_text(run, r, reached);
  kmbi_set_reading_counters(run);
  const char *predicted = kmbi_bound_name(run->predicted);
  if (r->flags & KMB_ROOFLINE_ABOVE_PEAK)
    kmbi_result_format(result, KMB_VALUE_READING,
                       "above a ceiling (%s): the number or the ceiling is "
                       "wrong",
                       reached);
  else if (run->predicted == KMB_BOUND_UNKNOWN)
    kmbi_result_format(result, KMB_VALUE_READING,
                       "no prediction, since a ceiling is unknown; %s",
                       reached);
  else if (r->observed == run->predicted)
    kmbi_result_format(result, KMB_VALUE_READING, "%s-bound as predicted: %s",
                       predicted, reached);
  else if (r->observed == KMB_BOUND_NEITHER)
    set_mismatch(run, round, time, reached);
  else
    kmbi_result_format(result, KMB_VALUE_READING,
                       "does not match the prediction: %s-bound was predicted, "
                       "but it is closer to the %s ceiling (%s). Likeliest: "
                       "the work is counted wrong, or part of it was skipped",
                       predicted, kmbi_bound_name(r->observed), reached);
}

static void raise_above_peak(kmbi_run *run, const kmb_roofline *r) {
  if (!(r->flags & KMB_ROOFLINE_ABOVE_PEAK)) return;
  kmb_figure figures[] = {{"memory_pct", r->memory_pct},
                          {"compute_pct", r->compute_pct}};
  bool memory = r->memory_pct > 100, compute = r->compute_pct > 100;
  kmbi_result_find(run->result, KMB_FINDING_ABOVE_PEAK, KMB_DOUBT, figures, 2,
                   "faster than the %s%s%s ceiling allows (cache state %s); %s",
                   memory ? "memory" : "", memory && compute ? " and the " : "",
                   compute ? "compute" : "",
                   run->choice.cache ? kmbi_cache_name(run->choice.cache)
                                     : "not known",
                   kmb_roofline_above_peak_text());
}

void kmbi_set_roofline(kmbi_run *run, const kmbi_round *round, double time) {
  if (!(time > 0)) return;
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = &run->work;
  params.memory = run->has_memory ? &run->memory : NULL;
  params.compute = run->has_compute ? &run->compute : NULL;
  params.reference = run->has_reference ? &run->reference : NULL;
  params.time_ns = time;
  if (kmb_roofline_evaluate(&params, &roofline)) return;
  set_known(run, &roofline);
  set_reference(run);
  set_rate(run, round, &roofline);
  set_reading(run, round, &roofline, time);
  raise_above_peak(run, &roofline);
}
