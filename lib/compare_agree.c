/* Candidates are compared if they do the same and are measured in the same way:
 * what they say of themselves, and a way that works for all. */
#include "compare.h"
#include "error.h"

#include <stdio.h>

/* What the caller says. */

static kmb_status differ(const kmbi_compare *c, uint64_t index,
                         const char *what, const char *a, const char *b,
                         const char *flag) {
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_compare: the %s of \"%.60s\" (%.60s) and of \"%.60s\" "
                   "(%.60s) differ; set %s to compare them all the same",
                   what, c->candidates[c->p.baseline].bench.name, a,
                   c->candidates[index].bench.name, b, flag);
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first axis of `a` that `b` has not, in any order; NULL if it has all. */
static const kmb_pair *lacks(const kmb_bench_params *b,
                             const kmb_bench_params *a) {
  for (uint64_t i = 0; i < a->axis_count; i++) {
    bool found = false;
    for (uint64_t k = 0; k < b->axis_count && !found; k++)
      found = same_text(a->axes[i].key, b->axes[k].key) &&
              same_text(a->axes[i].value, b->axes[k].value);
    if (!found) return &a->axes[i];
  }
  return NULL;
}

static void axis_text(const kmb_bench_params *p, const char *key,
                      char text[64]) {
  snprintf(text, 64, "without %.50s", key);
  for (uint64_t i = 0; i < p->axis_count; i++)
    if (same_text(p->axes[i].key, key))
      snprintf(text, 64, "%.30s=%.30s", key,
               p->axes[i].value ? p->axes[i].value : "");
}

static kmb_status check_axes(const kmbi_compare *c, uint64_t index) {
  const kmb_bench_params *base = &c->candidates[c->p.baseline].bench;
  const kmb_bench_params *p = &c->candidates[index].bench;
  char a[64], b[64];
  /* What is no array is refused later. */
  if ((base->axis_count && !base->axes) || (p->axis_count && !p->axes))
    return KMB_OK;
  const kmb_pair *other = lacks(p, base);
  if (!other) other = lacks(base, p);
  if (!other) return KMB_OK;
  const char *key = other->key ? other->key : "";
  axis_text(base, key, a);
  axis_text(p, key, b);
  return differ(c, index, "axes", a, b, "KMB_COMPARE_ANY_AXES");
}

static bool same_work(const kmb_work *a, const kmb_work *b) {
  if (!a || !b) return a == b;
  return a->flops == b->flops && a->read_bytes == b->read_bytes &&
         a->write_bytes == b->write_bytes && a->dtype == b->dtype &&
         a->operation == b->operation &&
         same_text(a->convention, b->convention);
}

static void work_text(const kmb_work *work, char text[64]) {
  if (work)
    snprintf(text, 64, "%llu FLOP, %llu B", (unsigned long long)work->flops,
             (unsigned long long)work->read_bytes +
                 (unsigned long long)work->write_bytes);
  else
    snprintf(text, 64, "none");
}

kmb_status kmbi_compare_declared(const kmbi_compare *c) {
  const kmb_bench_params *base = &c->candidates[c->p.baseline].bench;
  for (uint64_t i = 0; i < c->count; i++) {
    const kmb_bench_params *p = &c->candidates[i].bench;
    char a[64], b[64];
    kmb_status status =
        c->p.flags & KMB_COMPARE_ANY_AXES ? KMB_OK : check_axes(c, i);
    if (status) return status;
    if (c->p.flags & KMB_COMPARE_ANY_WORK || same_work(base->work, p->work))
      continue;
    work_text(base->work, a);
    work_text(p->work, b);
    return differ(c, i, "work", a, b, "KMB_COMPARE_ANY_WORK");
  }
  return KMB_OK;
}

/* A way that works for all. */

static bool same_way(const kmb_choice *a, const kmb_choice *b) {
  return a->timer == b->timer && a->launch_mode == b->launch_mode &&
         a->cache == b->cache;
}

/* The engine's steps from where `run` stands up to measuring. */
static kmb_status settle(kmbi_compare *c, uint64_t index) {
  return kmbi_compare_failed(
      c, index,
      kmbi_run_steps(&c->candidates[index].run, KMBI_PREPARE, KMBI_MEASURE));
}

/* The backend proposes ways by the number of device operations: the largest
 * number speaks for all. */
static kmb_status choose_together(kmbi_compare *c) {
  uint64_t most = 0;
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->count; i++)
    if (c->candidates[i].run.device_ops > most)
      most = c->candidates[i].run.device_ops;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_run *run = &c->candidates[i].run;
    if (run->device_ops == most || most < 2) continue;
    run->device_ops = most;
    run->chosen_again = true;
    run->passed_over[0] = '\0';
    status = kmbi_compare_failed(c, i, kmbi_choose(run));
    if (!status) status = settle(c, i);
  }
  return status;
}

/* Whether a way is among those that `run` can still take; from there it goes
 * on. */
static bool can_take(kmbi_run *run, const kmb_choice *way) {
  for (uint32_t i = run->choice_index; i < run->choice_count; i++) {
    if (!same_way(&run->choices[i], way)) continue;
    run->choice_index = i;
    return true;
  }
  return false;
}

/* The run that had to pass over the most ways says which one is left. */
static uint64_t most_limited(const kmbi_compare *c) {
  uint64_t at = 0;
  for (uint64_t i = 1; i < c->count; i++)
    if (c->candidates[i].run.choice_index > c->candidates[at].run.choice_index)
      at = i;
  return at;
}

static kmb_status follow(kmbi_compare *c, uint64_t leader, bool *moved) {
  kmb_status status = KMB_OK;
  const kmb_choice way = c->candidates[leader].run.choice;
  *moved = false;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_run *run = &c->candidates[i].run;
    if (same_way(&run->choice, &way) || !can_take(run, &way)) continue;
    snprintf(run->passed_over, sizeof run->passed_over,
             "measured as \"%.100s\" can be", c->candidates[leader].bench.name);
    *moved = true;
    status = settle(c, i);
  }
  return status;
}

static const char *achieved(const kmbi_run *run) {
  return run->not_cold ? "NOT_COLD" : kmbi_cache_name(run->choice.cache);
}

static kmb_status check_ways(const kmbi_compare *c) {
  const kmbi_run *base = &c->candidates[c->p.baseline].run;
  for (uint64_t i = 0; i < c->count; i++) {
    const kmbi_run *run = &c->candidates[i].run;
    const kmb_choice *a = &base->choice, *b = &run->choice;
    if (a->timer != b->timer && !(c->p.flags & KMB_COMPARE_ANY_TIMER))
      return differ(c, i, "timers", kmbi_timer_name(a->timer),
                    kmbi_timer_name(b->timer), "KMB_COMPARE_ANY_TIMER");
    if (a->launch_mode != b->launch_mode &&
        !(c->p.flags & KMB_COMPARE_ANY_LAUNCH))
      return differ(c, i, "launch modes", kmbi_launch_mode_name(a->launch_mode),
                    kmbi_launch_mode_name(b->launch_mode),
                    "KMB_COMPARE_ANY_LAUNCH");
    if (strcmp(achieved(base), achieved(run)) != 0 &&
        !(c->p.flags & KMB_COMPARE_ANY_CACHE))
      return differ(c, i, "cache states", achieved(base), achieved(run),
                    "KMB_COMPARE_ANY_CACHE");
  }
  return KMB_OK;
}

kmb_status kmbi_compare_prepare(kmbi_compare *c) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->count && !status; i++) {
    kmbi_candidate *candidate = &c->candidates[i];
    candidate->begun = true;
    status = kmbi_compare_failed(
        c, i, kmbi_run_begin(&candidate->run, c->device, &candidate->bench));
    if (!status) status = settle(c, i);
  }
  if (!status) status = choose_together(c);
  /* Each time at least one run has fewer ways left. */
  bool moved = !status;
  while (moved && !status)
    status = follow(c, most_limited(c), &moved);
  return status ? status : check_ways(c);
}
