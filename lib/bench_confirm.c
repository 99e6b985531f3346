/* Confirm: the same operation in the same cache state and launch mode, timed
 * another way: by another timer, or on the host by another batch size. */
#include "error.h"
#include "format.h"
#include "run.h"

#include <math.h>

enum { CONFIRM_SAMPLES = 50 };

typedef struct second {
  kmb_choice choice;
  uint64_t batch;
} second;

/* Another timer that the backend proposed for the same state and mode, from
 * choice `*at` on; else on HOST twice the batch. */
static bool find_second(const kmbi_run *run, uint32_t *at, second *s) {
  while (*at < run->choice_count) {
    const kmb_choice *c = &run->choices[(*at)++];
    if (c->timer == run->choice.timer || c->cache != run->choice.cache ||
        c->launch_mode != run->choice.launch_mode)
      continue;
    *s = (second){*c, c->timer == KMB_TIMER_HOST ? run->batch : 1};
    if (c->timer == KMB_TIMER_GRAPH) s->batch = kmbi_replay_batch(run);
    return true;
  }
  if (run->choice.timer != KMB_TIMER_HOST || *at > run->choice_count)
    return false;
  if (run->choice.cache == KMB_CACHE_COLD || run->p.reset) return false;
  *at = run->choice_count + 1;
  *s = (second){run->choice, 2 * run->batch};
  return true;
}

static void unconfirmed(kmbi_run *run, const char *why) {
  kmbi_result_absent(run->result, KMB_VALUE_CONFIRM_TIME, "%s", why);
  kmbi_result_find(run->result, KMB_FINDING_UNCONFIRMED, KMB_NOTE, NULL, 0,
                   "no second measurement: %s", why);
}

static kmb_status take_second(kmbi_run *run, const second *s, double *ns,
                              uint64_t *count) {
  void *plan = NULL;
  kmb_status status =
      kmbi_plan_open(run, &s->choice, s->batch, run->p.launch, &plan);
  if (status) return status;
  double until = kmbi_clock(run) + run->p.max_wall_ns / 10;
  uint64_t got = 1;
  while (!status && got && *count < CONFIRM_SAMPLES) {
    status = kmbi_plan_take(run, plan, s->batch, CONFIRM_SAMPLES - *count,
                            until, &got);
    for (uint64_t i = 0; !status && i < got; i++)
      *count += kmbi_sample_ns(run, &run->block[i], s->choice.timer, s->batch,
                               &ns[*count]);
  }
  kmbi_plan_close(run, plan);
  return status;
}

/* What is known of the difference: after a sweep a launch's code, parameters
 * and descriptors come from memory, before the tracer's start of the work; and
 * a graph goes on later from one operation to the next while it is traced. */
static const char *likely_cause(const kmbi_run *run, const second *s,
                                double ours, double theirs) {
  bool traced = run->choice.timer == KMB_TIMER_TRACE;
  bool fetched = traced && s->choice.timer == KMB_TIMER_EVENT && theirs > ours;
  bool spread = traced && run->choice.launch_mode == KMB_LAUNCH_GRAPH &&
                theirs < ours && run->rounds[run->round].rows.count > 1;
  if (spread)
    return "while it is traced a graph goes on later from one operation to the "
           "next, which is in the time and in the gaps, not in the busy time; "
           "or something changed between the two";
  if (fetched && run->choice.cache == KMB_CACHE_COLD)
    return "after a sweep EVENT also holds the fetch of what the launch needs, "
           "which TRACE does not, more of it here than the kernels of the "
           "calibration have; or something changed between the two";
  return "something changed between the two";
}

static void compare(kmbi_run *run, const second *s, const double *ns,
                    uint64_t count) {
  const kmbi_round *round = &run->rounds[run->round];
  double scratch[CONFIRM_SAMPLES], wrong_a = 0, wrong_b = 0;
  kmbi_interval b;
  if (!kmbi_interval_of(ns, (size_t)count, run->tick_ns / (double)s->batch,
                        run->p.seed, scratch, &b)) {
    unconfirmed(run, "fewer than 8 samples fitted into a tenth of the wall "
                     "ceiling");
    return;
  }
  double bias_a = 0, bias_b = 0;
  kmbi_error_state before;
  kmbi_error_save(&before);
  /* Two clocks with unknown zeros cannot disagree. */
  if (kmbi_bias(run, &run->choice, run->batch, &bias_a, &wrong_a) ||
      kmbi_bias(run, &s->choice, s->batch, &bias_b, &wrong_b)) {
    unconfirmed(run, kmb_last_error(NULL, NULL));
    kmbi_error_restore(&before);
    return;
  }
  double ours = round->interval.median - bias_a, theirs = b.median - bias_b;
  double half = round->has_interval ? round->interval.half : 0;
  double allowed = half + b.half + wrong_a + wrong_b;
  /* The loop's own cost is spread over each batch in the same way, but it is
   * only known as a bound. */
  if (run->overhead_ns > 0) allowed += run->overhead_ns;
  /* Beside a device's own timer the host's also holds the launch and the wait,
   * by an amount that is not known: it can only read more. */
  bool host_a = run->choice.timer == KMB_TIMER_HOST;
  bool host_b = s->choice.timer == KMB_TIMER_HOST;
  bool explained = (host_b && !host_a && theirs > ours) ||
                   (host_a && !host_b && ours > theirs);
  kmbi_result_set_f64(run->result, KMB_VALUE_CONFIRM_TIME, theirs);
  kmbi_result_set_f64(run->result, KMB_VALUE_CONFIRM_LOW, b.low - bias_b);
  kmbi_result_set_f64(run->result, KMB_VALUE_CONFIRM_HIGH, b.high - bias_b);
  kmbi_result_format(run->result, KMB_VALUE_CONFIRM_METHOD,
                     "%s, %llu iteration%s a sample",
                     kmbi_timer_name(s->choice.timer),
                     (unsigned long long)s->batch, kmbi_plural(s->batch));
  if (!round->has_interval || explained || fabs(ours - theirs) <= allowed)
    return;
  char a_text[KMBI_TIME_SIZE], b_text[KMBI_TIME_SIZE];
  kmb_figure figures[] = {{"time_ns", ours},
                          {"confirm_time_ns", theirs},
                          {"allowed_difference_ns", allowed}};
  kmbi_result_find(
      run->result, KMB_FINDING_TIMERS_DISAGREE, KMB_WARNING, figures, 3,
      "measured again (%s, %llu iteration%s a sample) it took %s "
      "instead of %s, further apart than both intervals allow: %s",
      kmbi_timer_name(s->choice.timer), (unsigned long long)s->batch,
      kmbi_plural(s->batch), kmbi_time_string(b_text, theirs),
      kmbi_time_string(a_text, ours), likely_cause(run, s, ours, theirs));
}

/* The first other way that can be had. */
static kmb_status confirm(kmbi_run *run) {
  double ns[CONFIRM_SAMPLES];
  uint32_t at = 0;
  second s;
  kmb_status status = KMB_OK;
  while (find_second(run, &at, &s)) {
    uint64_t count = 0;
    status = take_second(run, &s, ns, &count);
    if (!status) compare(run, &s, ns, count);
    if (!kmbi_is_local(status)) return status;
  }
  unconfirmed(run, status ? kmb_last_error(NULL, NULL)
                          : "there is no second timer for this cache state "
                            "and launch mode");
  return KMB_OK;
}

kmb_status kmbi_confirm(kmbi_run *run, kmbi_stage *next) {
  *next = KMBI_SUMMARISE;
  kmb_status status = KMB_OK;
  if (run->p.flags & KMB_BENCH_NO_CONFIRM) {
    unconfirmed(run, "the caller asked for none");
  } else {
    status = confirm(run);
    if (!status) status = kmbi_prove_cold(run);
  }
  return status ? status : kmbi_take_counters(run);
}
