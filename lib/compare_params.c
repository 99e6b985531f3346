/* What a comparison is asked for, checked and completed. */
#include "compare.h"
#include "error.h"
#include "structs.h"

#include <math.h>
#include <stdio.h>

/* Of all rows together. */
#define ALPHA 0.01
#define SEED UINT64_C(0x6b6d625f636d7061)

static kmb_status check_numbers(const kmb_compare_params *p, uint64_t count) {
  const struct {
    const char *name;
    double value;
  } numbers[] = {
      {"threshold_pct", p->threshold_pct}, {"target_pct", p->target_pct},
      {"min_wall_ns", p->min_wall_ns},     {"max_wall_ns", p->max_wall_ns},
      {"tune_wall_ns", p->tune_wall_ns},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (!isfinite(numbers[i].value) || numbers[i].value < 0)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_compare_params: %s is %g; it must be a number of "
                       "at least 0",
                       numbers[i].name, numbers[i].value);
  if (p->threshold_pct >= 100)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare_params: threshold_pct is %g; it must be "
                     "below 100",
                     p->threshold_pct);
  if (p->max_cycles > KMBI_CYCLES_MAX || p->min_cycles > KMBI_CYCLES_MAX ||
      (p->min_cycles && p->min_cycles < KMBI_INTERVAL_MIN))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare_params: min_cycles must be %d to %d, "
                     "max_cycles at most %d",
                     KMBI_INTERVAL_MIN, KMBI_CYCLES_MAX, KMBI_CYCLES_MAX);
  if (p->turn > KMBI_TURN_MAX)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare_params: turn is %llu; at most %d samples",
                     (unsigned long long)p->turn, KMBI_TURN_MAX);
  if (p->baseline >= count)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_compare_params: baseline %u of %llu candidates",
                     (unsigned)p->baseline, (unsigned long long)count);
  if (p->flags &
      ~(KMB_COMPARE_SEED | KMB_COMPARE_ANY_TIMER | KMB_COMPARE_ANY_LAUNCH |
        KMB_COMPARE_ANY_CACHE | KMB_COMPARE_ANY_WORK | KMB_COMPARE_ANY_AXES))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_compare_params: flags 0x%x hold some that libkmb %s "
                     "does not know",
                     (unsigned)p->flags, KMB_VERSION);
  return KMB_OK;
}

static void complete(kmbi_compare *c) {
  kmb_compare_params *p = &c->p;
  c->alpha = ALPHA / (double)(c->count - 1);
  uint64_t least = kmbi_paired_least(c->alpha);
  if (p->threshold_pct == 0) p->threshold_pct = 1;
  if (p->target_pct == 0) p->target_pct = p->threshold_pct / 4;
  if (p->min_wall_ns == 0) p->min_wall_ns = 25e6;
  if (p->max_wall_ns == 0) p->max_wall_ns = 2e9;
  if (p->tune_wall_ns == 0) p->tune_wall_ns = 5e9;
  if (!p->max_cycles) p->max_cycles = KMBI_CYCLES_MAX;
  if (!p->min_cycles) p->min_cycles = 16;
  if (p->min_cycles < least) p->min_cycles = least;
  if (p->min_cycles > p->max_cycles) p->min_cycles = p->max_cycles;
  if (!p->seed && !(p->flags & KMB_COMPARE_SEED)) p->seed = SEED;
}

static kmb_status check_knobs(const kmb_candidate *given, uint64_t *configs) {
  uint64_t product = 1;
  if (given->knob_count && !given->knobs)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_candidate: knobs is NULL");
  if (given->knob_count > KMBI_KNOBS_MAX)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_candidate: more than %d knobs",
                     KMBI_KNOBS_MAX);
  for (uint64_t i = 0; i < given->knob_count; i++) {
    const kmb_knob *knob = &given->knobs[i];
    if (!knob->name || !*knob->name || !knob->values || !knob->value_count)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_candidate: knob %llu lacks a name or values",
                       (unsigned long long)i);
    if (!kmbi_mul(product, knob->value_count, &product) ||
        product > KMBI_CONFIGS_MAX)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_candidate: the knobs have more than %d "
                       "configurations; give fewer values",
                       KMBI_CONFIGS_MAX);
    for (uint64_t v = 0; v < knob->value_count; v++)
      if (!knob->values[v])
        return kmbi_fail(KMB_ERR_INVALID,
                         "kmb_candidate: value %llu of knob \"%s\" is NULL",
                         (unsigned long long)v, knob->name);
  }
  *configs = given->knob_count ? product : 0;
  return KMB_OK;
}

static kmb_status check_points(const kmb_candidate *given) {
  if (!given->tune_at_count) return KMB_OK;
  if (!given->tune_at || !given->knob_count ||
      given->tune_at_count > KMBI_POINTS_MAX)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_candidate: tune_at is NULL, has more than %d points, "
                     "or there are no knobs to tune",
                     KMBI_POINTS_MAX);
  for (uint64_t i = 0; i < given->tune_at_count; i++)
    if (!given->tune_at[i])
      return kmbi_fail(KMB_ERR_INVALID, "kmb_candidate: point %llu is NULL",
                       (unsigned long long)i);
  return KMB_OK;
}

static kmb_status copy_candidate(kmbi_candidate *to,
                                 const kmb_candidate *from) {
  kmb_status status = kmbi_copy_in(&to->given, sizeof to->given,
                                   KMBI_CANDIDATE_V1, from, "kmb_candidate");
  if (!status)
    status = kmbi_copy_in(&to->bench, sizeof to->bench, KMBI_BENCH_PARAMS_V1,
                          to->given.bench, "kmb_candidate: bench");
  if (!status && to->bench.rounds > 1)
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "kmb_candidate: rounds are not taken in a comparison; "
                       "leave rounds at 0 or 1");
  if (!status && to->bench.comm)
    status =
        kmbi_fail(KMB_ERR_UNSUPPORTED,
                  "kmb_candidate: several ranks are not compared in turns; "
                  "measure each with kmb_bench() and compare the results");
  if (!status && (!to->bench.name || !*to->bench.name))
    status = kmbi_fail(KMB_ERR_INVALID,
                       "kmb_candidate: bench->name is needed, to name it");
  if (!status) status = check_knobs(&to->given, &to->configs);
  return status ? status : check_points(&to->given);
}

/* Which one it is: by its name, where it has one. */
static kmb_status name_candidate(const kmbi_compare *c, uint64_t index,
                                 kmb_status status) {
  const char *name = c->candidates[index].bench.name;
  kmbi_error_state said, named;
  if (!status) return KMB_OK;
  if (name && *name) return kmbi_compare_failed(c, index, status);
  kmbi_error_save(&said);
  named = said;
  snprintf(named.message, sizeof named.message, "candidate %llu: %.200s",
           (unsigned long long)index, said.message);
  kmbi_error_restore(&named);
  return status;
}

kmb_status kmbi_compare_params(kmbi_compare *c, const kmb_candidate *candidates,
                               size_t stride,
                               const kmb_compare_params *params) {
  kmb_status status = KMB_OK;
  if (params)
    status = kmbi_copy_in(&c->p, sizeof c->p, KMBI_COMPARE_PARAMS_V1, params,
                          "kmb_compare_params");
  if (!status) status = check_numbers(&c->p, c->count);
  if (!status) complete(c);
  for (uint64_t i = 0; i < c->count && !status; i++)
    status = name_candidate(
        c, i,
        copy_candidate(
            &c->candidates[i],
            (const kmb_candidate *)((const char *)candidates + i * stride)));
  for (uint64_t i = 0; i < c->count && !status; i++)
    for (uint64_t j = 0; j < i && !status; j++)
      if (strcmp(c->candidates[i].bench.name, c->candidates[j].bench.name) == 0)
        status = kmbi_fail(KMB_ERR_INVALID,
                           "kmb_compare: candidates %llu and %llu are both "
                           "named \"%.100s\"",
                           (unsigned long long)j, (unsigned long long)i,
                           c->candidates[i].bench.name);
  return status;
}
