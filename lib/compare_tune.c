/* Tuning: each configuration measured briefly, the fastest kept. */
#include "compare.h"
#include "structs.h"
#include "utf8.h"

#include <math.h>

/* Of one configuration at one point. */
#define TARGET_PCT 2
#define LEAST_NS 1e6
#define MOST_NS 100e6
#define WARMUP_NS 10e6
enum { LEAST_SAMPLES = 11, MOST_SAMPLES = 1000 };

uint64_t kmb_knob_value(const kmb_knob *knobs, uint64_t count, uint32_t config,
                        uint64_t knob) {
  uint64_t rest = config;
  if (!knobs || knob >= count) return UINT64_MAX;
  for (uint64_t i = count; i > knob; i--)
    if (!knobs[i - 1].value_count) return UINT64_MAX;
  for (uint64_t i = count; i > knob + 1; i--)
    rest /= knobs[i - 1].value_count;
  return rest % knobs[knob].value_count;
}

const char *kmbi_config_text(kmbi_arena *arena, const kmb_candidate *candidate,
                             uint32_t config) {
  const char *text = "";
  for (uint64_t i = 0; text && i < candidate->knob_count; i++) {
    const kmb_knob *knob = &candidate->knobs[i];
    uint64_t value =
        kmb_knob_value(candidate->knobs, candidate->knob_count, config, i);
    text = kmbi_arena_format(arena, "%s%s%s=%s", text, i ? ", " : "",
                             knob->name, knob->values[value]);
  }
  return kmbi_utf8_copy(arena, text);
}

/* However early the budget ends, what was tried is spread over the whole grid:
 * steps of about the golden section, without a common divisor. */
static uint64_t divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t stride_of(uint64_t configs) {
  uint64_t stride = (uint64_t)(0.618 * (double)configs);
  if (!stride) stride = 1;
  while (divisor(configs, stride) != 1)
    stride++;
  return stride;
}

static void make_brief(kmb_bench_params *p, uint32_t config) {
  p->config = config;
  p->target_pct = TARGET_PCT;
  p->min_wall_ns = LEAST_NS;
  p->max_wall_ns = MOST_NS;
  if (p->warmup_ns == 0 || p->warmup_ns > WARMUP_NS) p->warmup_ns = WARMUP_NS;
  p->idle_ns = 0;
  p->min_samples = LEAST_SAMPLES;
  p->max_samples = MOST_SAMPLES;
  p->work = NULL;
  p->memory_ceiling = p->compute_ceiling = NULL;
  p->metadata = NULL;
  p->flags |= KMB_BENCH_NO_CONFIRM | KMB_BENCH_NO_CEILINGS;
}

static kmb_status time_at(kmbi_compare *c, const kmb_bench_params *point,
                          uint32_t config, double *ns) {
  kmb_bench_params p;
  kmb_result *result = NULL;
  kmb_status status = kmbi_copy_in(&p, sizeof p, KMBI_BENCH_PARAMS_V1, point,
                                   "kmb_candidate: tune_at");
  if (!status && p.rounds > 1)
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "kmb_candidate: tune_at: rounds are not taken");
  if (status) return status;
  make_brief(&p, config);
  status = kmbi_bench(c->device, &p, &result);
  if (!status) status = kmb_result_f64(result, KMB_VALUE_TIME, ns);
  kmb_result_destroy(result);
  if (!status && !(*ns > 0))
    status = kmbi_fail(KMB_ERR_UNAVAILABLE, "its time is not above 0");
  return status;
}

/* Geometric mean over the points. */
static kmb_status time_config(kmbi_compare *c, const kmbi_candidate *k,
                              uint32_t config, double *ns) {
  uint64_t count = k->given.tune_at_count;
  double sum = 0;
  kmb_status status = KMB_OK;
  if (!count) return time_at(c, &k->bench, config, ns);
  for (uint64_t i = 0; i < count && !status; i++) {
    status = time_at(c, k->given.tune_at[i], config, ns);
    if (!status) sum += log(*ns);
  }
  *ns = status ? 0 : exp(sum / (double)count);
  return status;
}

/* What ends the whole comparison; anything else is this configuration's. */
static bool is_final(const kmbi_compare *c, kmb_status status) {
  return status == KMB_ERR_LOST || status == KMB_ERR_FORKED ||
         status == KMB_ERR_CANCELLED || status == KMB_ERR_INTERNAL ||
         c->device->lost;
}

static kmb_status try_config(kmbi_compare *c, uint64_t index, uint32_t config,
                             kmb_compare_arm *arm) {
  const kmbi_candidate *k = &c->candidates[index];
  kmbi_arena *arena = &c->out->arena;
  kmbi_error_state before;
  kmbi_error_save(&before);
  *arm = kmb_compare_arm_init();
  arm->config = config;
  arm->config_text = kmbi_config_text(arena, &k->given, config);
  arm->status = time_config(c, k, config, &arm->ns);
  if (!arm->status) return KMB_OK;
  arm->ns = 0;
  if (is_final(c, arm->status))
    return kmbi_compare_failed(c, index, arm->status);
  arm->reason = kmbi_utf8_copy(arena, kmb_last_error(NULL, NULL));
  kmbi_error_restore(&before);
  return KMB_OK;
}

static kmb_status none_works(const kmbi_compare *c, uint64_t index,
                             const kmb_compare_arm *first) {
  return kmbi_fail(first->status,
                   "kmb_compare: candidate \"%.60s\": no configuration could "
                   "be measured; the first one, %.60s: %s",
                   c->candidates[index].bench.name, first->config_text,
                   first->reason);
}

static kmb_status keep_fastest(kmbi_compare *c, uint64_t index) {
  kmb_compare_row *row = &c->out->rows[index];
  const kmb_compare_arm *arms = c->out->arms[index], *best = NULL;
  uint64_t tried = row->configs_measured + row->configs_failed;
  for (uint64_t i = 0; i < tried; i++)
    if (!arms[i].status && (!best || arms[i].ns < best->ns)) best = &arms[i];
  if (!best) return none_works(c, index, &arms[0]);
  row->tuned_ns = best->ns;
  c->candidates[index].bench.config = best->config;
  if (tried < row->configs) row->flags |= KMB_ROW_UNTUNED;
  return KMB_OK;
}

kmb_status kmbi_compare_tune(kmbi_compare *c, uint64_t index) {
  kmbi_candidate *k = &c->candidates[index];
  kmb_compare_row *row = &c->out->rows[index];
  uint64_t n = k->configs;
  if (!n) return KMB_OK;
  row->flags |= KMB_ROW_TUNED;
  row->configs = n;
  kmb_compare_arm *arms =
      kmbi_arena_alloc(&c->out->arena, (size_t)n, sizeof *arms);
  if (!arms)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %llu configurations",
                     (unsigned long long)n);
  c->out->arms[index] = arms;
  uint64_t stride = stride_of(n), config = 0;
  double until = kmbi_now(c->device) + c->p.tune_wall_ns;
  for (uint64_t i = 0; i < n && (!i || kmbi_now(c->device) < until); i++) {
    kmb_status status = try_config(c, index, (uint32_t)config, &arms[i]);
    if (status) return status;
    if (kmbi_arena_failed(&c->out->arena))
      return kmbi_fail(KMB_ERR_NOMEM, "no memory for a configuration");
    if (arms[i].status)
      row->configs_failed++;
    else
      row->configs_measured++;
    config = (config + stride) % n;
  }
  return keep_fastest(c, index);
}
