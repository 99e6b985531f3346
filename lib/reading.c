/* The roofline of a result, and one honest sentence about it. */
#include "format.h"
#include "run.h"

#include <stdio.h>

static void set_ceilings(kmbi_run *run) {
  kmb_result *result = run->result;
  const struct {
    const kmb_ceiling *ceiling;
    bool has;
    kmb_value value, name;
  } rows[] = {
      {&run->memory, run->has_memory, KMB_VALUE_MEMORY_CEILING,
       KMB_VALUE_MEMORY_CEILING_NAME},
      {&run->compute, run->has_compute, KMB_VALUE_COMPUTE_CEILING,
       KMB_VALUE_COMPUTE_CEILING_NAME},
  };
  for (int i = 0; i < 2; i++) {
    if (!rows[i].has) {
      kmbi_result_absent(result, rows[i].value, "not measured and not given");
      continue;
    }
    const kmb_ceiling *c = rows[i].ceiling;
    kmbi_result_set_f64(result, rows[i].value, c->value);
    const char *source =
        c->source == KMB_SOURCE_MEASURED ? "measured" : "caller's";
    bool fma = c->kind == KMB_CEILING_FMA && c->dtype;
    char where[32] = "", how[96] = "";
    if (c->threads)
      snprintf(where, sizeof where, ", %u thread%s", (unsigned)c->threads,
               c->threads == 1 ? "" : "s");
    if (c->variant) snprintf(how, sizeof how, " (%s)", c->variant);
    kmbi_result_format(result, rows[i].name, "%s %s%s%s%s%s", source,
                       kmbi_ceiling_name(c->kind), fma ? " " : "",
                       fma ? kmb_dtype_name(c->dtype) : "", where, how);
    if (c->threads) kmbi_result_set_u64(result, KMB_VALUE_THREADS, c->threads);
  }
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

static void set_known(kmbi_run *run, const kmb_roofline *r) {
  const struct {
    uint32_t bit;
    kmb_value value;
    double number;
  } rows[] = {
      {KMB_ROOFLINE_INTENSITY, KMB_VALUE_INTENSITY, r->intensity},
      {KMB_ROOFLINE_RIDGE, KMB_VALUE_RIDGE, r->ridge},
      {KMB_ROOFLINE_ATTAINABLE_FLOPS, KMB_VALUE_ATTAINABLE_FLOPS,
       r->attainable_flops},
      {KMB_ROOFLINE_SOL_PCT, KMB_VALUE_SOL_PCT, r->sol_pct},
      {KMB_ROOFLINE_ACHIEVED_FLOPS, KMB_VALUE_ACHIEVED_FLOPS,
       r->achieved_flops},
      {KMB_ROOFLINE_ACHIEVED_BYTES, KMB_VALUE_ACHIEVED_BYTES,
       r->achieved_bytes},
      {KMB_ROOFLINE_MEMORY_PCT, KMB_VALUE_MEMORY_PCT, r->memory_pct},
      {KMB_ROOFLINE_COMPUTE_PCT, KMB_VALUE_COMPUTE_PCT, r->compute_pct},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (r->known & rows[i].bit)
      kmbi_result_set_f64(run->result, rows[i].value, rows[i].number);
  kmbi_result_set_text(run->result, KMB_VALUE_OBSERVED_BOUND,
                       kmbi_bound_name(r->observed));
}

/* "87% of the measured memory ceiling and 12% of the compute ceiling" */
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

static void set_reading(kmbi_run *run, const kmb_roofline *r) {
  kmb_result *result = run->result;
  char reached[128];
  shares(r, reached, sizeof reached);
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
    kmbi_result_format(result, KMB_VALUE_READING,
                       "%s-bound was predicted and is not reached: %s; the "
                       "time goes elsewhere, and this measurement cannot say "
                       "where",
                       predicted, reached);
  else
    kmbi_result_format(result, KMB_VALUE_READING,
                       "%s-bound was predicted, but it is closer to the %s "
                       "ceiling: %s",
                       predicted, kmbi_bound_name(r->observed), reached);
}

static void raise_above_peak(kmbi_run *run, const kmb_roofline *r) {
  if (!(r->flags & KMB_ROOFLINE_ABOVE_PEAK)) return;
  kmb_figure figures[] = {{"memory_pct", r->memory_pct},
                          {"compute_pct", r->compute_pct}};
  kmbi_result_find(run->result, KMB_FINDING_ABOVE_PEAK, KMB_DOUBT, figures, 2,
                   "faster than a ceiling allows; check in this order: units, "
                   "the work's formula, skipped work, inputs still in a cache "
                   "(state %s), the ceiling itself",
                   kmbi_cache_name(run->choice.cache));
}

void kmbi_set_roofline(kmbi_run *run, double time) {
  set_work(run);
  set_ceilings(run);
  if (!(time > 0)) return;
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = &run->work;
  params.memory = run->has_memory ? &run->memory : NULL;
  params.compute = run->has_compute ? &run->compute : NULL;
  params.time_ns = time;
  if (kmb_roofline_evaluate(&params, &roofline)) return;
  set_known(run, &roofline);
  set_reading(run, &roofline);
  raise_above_peak(run, &roofline);
}
