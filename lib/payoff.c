/* What a changed kernel is worth in a step. */
#include "payoff.h"

#include "error.h"
#include "stats.h"
#include "structs.h"
#include "utf8.h"

#include <math.h>
#include <stdlib.h>

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to predict a step");
}

/* Arguments. */

/* By recording, to a call: a millisecond. */
#define MOST_ADDED 1e6

/* Beyond it, it is no comparison of two kernels, and lengths overflow. */
#define LARGEST 1e6

static bool is_ratio(double x) {
  return x > 1 / LARGEST && x < LARGEST;
}

/* Of a kernel alone: no more than a trace can hold. */
static bool is_time(double ns) {
  return ns > 0 && ns < 1e18;
}

/* Six sizes, or none. */
static kmb_status check_shape(const uint32_t sizes[6], bool has,
                              const char *what) {
  int set = 0;
  for (int i = 0; i < 6; i++)
    set += sizes[i] != 0;
  if (set == (has ? 6 : 0)) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID,
                   has ? "%s: grid and block are to be above 0, all six"
                       : "%s: grid or block is given without its flag",
                   what);
}

static kmb_status check_change(const kmb_payoff_change *c) {
  const uint32_t known = KMB_PAYOFF_HAS_ISOLATED |
                         KMB_PAYOFF_HAS_ISOLATED_INTERVAL | KMB_PAYOFF_IS_COLD |
                         KMB_PAYOFF_IS_WARM | KMB_PAYOFF_HAS_SHAPE;
  if (c->flags & ~known || c->reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_payoff_change: a flag or word is set that libkmb %s "
                     "does not know",
                     KMB_VERSION);
  bool interval = c->low != 0 || c->high != 0;
  if (!is_ratio(c->ratio) ||
      (interval && !(is_ratio(c->low) && is_ratio(c->high))))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_change: a ratio and its interval lie between "
                     "%g and %g; this one is %g [%g, %g]",
                     1 / LARGEST, LARGEST, c->ratio, c->low, c->high);
  if (interval && !(c->low <= c->ratio && c->ratio <= c->high))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_change: the ratio %g is not within its "
                     "interval [%g, %g]",
                     c->ratio, c->low, c->high);
  bool isolated = c->flags & KMB_PAYOFF_HAS_ISOLATED;
  bool bounds = c->flags & KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
  if ((isolated && !is_time(c->isolated_ns)) ||
      (bounds && !(isolated && is_time(c->isolated_low_ns) &&
                   c->isolated_low_ns <= c->isolated_ns &&
                   c->isolated_ns <= c->isolated_high_ns &&
                   is_time(c->isolated_high_ns))))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_change: the time alone is not positive, or "
                     "not within its interval");
  const uint32_t sizes[] = {c->grid_x,  c->grid_y,  c->grid_z,
                            c->block_x, c->block_y, c->block_z};
  return check_shape(sizes, c->flags & KMB_PAYOFF_HAS_SHAPE,
                     "kmb_payoff_change");
}

static kmb_status read_change(const kmb_payoff_change *change,
                              kmb_payoff_change *copy) {
  *copy = kmb_payoff_change_init();
  kmb_status status = kmbi_copy_in(copy, sizeof *copy, KMBI_PAYOFF_CHANGE_V1,
                                   change, "kmb_payoff_change");
  return status ? status : check_change(copy);
}

static kmb_status check_shapes(const kmb_payoff_params *p) {
  const uint32_t both = KMB_PAYOFF_ALL_SHAPES | KMB_PAYOFF_ONE_SHAPE;
  const uint32_t sizes[] = {p->grid_x,  p->grid_y,  p->grid_z,
                            p->block_x, p->block_y, p->block_z};
  if ((p->flags & both) == both)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_params: KMB_PAYOFF_ALL_SHAPES (--all-shapes) "
                     "and KMB_PAYOFF_ONE_SHAPE (--shape) exclude each other");
  return check_shape(sizes, p->flags & KMB_PAYOFF_ONE_SHAPE,
                     "kmb_payoff_params");
}

static kmb_status check_listed(const kmb_payoff_params *p) {
  for (uint64_t i = 0; i < p->listed_count; i++) {
    if (p->listed && p->listed[i]) continue;
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_params: of %llu results that list code number "
                     "%llu is NULL",
                     (unsigned long long)p->listed_count,
                     (unsigned long long)i);
  }
  return KMB_OK;
}

static kmb_status read_params(const kmb_payoff_params *params,
                              kmb_payoff_params *copy, kmbi_memory *memory) {
  *copy = kmb_payoff_params_init();
  kmb_status status = KMB_OK;
  if (params)
    status = kmbi_copy_in(copy, sizeof *copy, KMBI_PAYOFF_PARAMS_V1, params,
                          "kmb_payoff_params");
  if (!status)
    status = kmbi_memory_open(copy->hooks, "kmb_payoff_evaluate", memory);
  const uint32_t known = KMB_PAYOFF_ALL_NAMES | KMB_PAYOFF_ANY_DEVICE |
                         KMB_PAYOFF_ALL_SHAPES | KMB_PAYOFF_ONE_SHAPE;
  if (!status && (copy->flags & ~known || copy->reserved))
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "kmb_payoff_params: a flag or word is set that libkmb "
                       "%s does not know",
                       KMB_VERSION);
  if (!status && !(copy->added_ns >= 0 && copy->added_ns <= MOST_ADDED))
    status = kmbi_fail(KMB_ERR_INVALID,
                       "kmb_payoff_params: recording cannot have added %g ns "
                       "to a call (--added): 0 to %.0f, a millisecond, is "
                       "taken",
                       copy->added_ns, MOST_ADDED);
  copy->hooks = NULL;
  if (!status) status = check_shapes(copy);
  return status ? status : check_listed(copy);
}

/* Which launches. */

static kmb_status match_exactly(kmb_payoff *payoff) {
  kmb_gaps *select = &payoff->select;
  const kmb_trace *trace = select->trace;
  select->is_target = kmbi_alloc(&payoff->memory, payoff->names, 1);
  if (!select->is_target) return no_memory();
  for (uint32_t i = 0; i < trace->names.count; i++) {
    const kmbi_name *name = kmbi_name_at(trace, i);
    select->is_target[i] = name->kind == KMB_OP_KERNEL &&
                           strcmp(name->text, payoff->change.kernel) == 0;
  }
  return KMB_OK;
}

static kmb_status match(kmb_payoff *payoff) {
  if (payoff->params.kernel) return kmbi_gaps_match_target(&payoff->select);
  if (payoff->change.kernel) return match_exactly(payoff);
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_payoff_evaluate: neither the change nor the parameters "
                   "name a kernel; kmb_payoff_params::kernel (--kernel REGEX) "
                   "says which launches are meant");
}

static kmb_status find_candidates(kmb_payoff *payoff) {
  if (!kmbi_payoff_list(payoff)) return no_memory();
  if (payoff->summary.candidates) return KMB_OK;
  const char *wanted =
      payoff->params.kernel ? payoff->params.kernel : payoff->change.kernel;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "no launch in the step matches \"%.100s\"; kmb gaps lists "
                   "the kernels",
                   wanted);
}

static kmb_status check_device(kmb_payoff *payoff) {
  const kmb_trace *trace = payoff->select.trace;
  const char *measured = payoff->change.device;
  for (uint32_t i = 0; i < trace->devices.count && measured; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, i);
    const char *name = kmbi_name_at(trace, device->name)->text;
    if (!*name || strcmp(name, measured) == 0) continue;
    payoff->summary.flags |= KMB_PAYOFF_OTHER_DEVICE;
    if (payoff->params.flags & KMB_PAYOFF_ANY_DEVICE) continue;
    return kmbi_fail(KMB_ERR_INVALID,
                     "the change was measured on \"%.60s\", the step on "
                     "\"%.60s\"; KMB_PAYOFF_ANY_DEVICE (--any-device) scales "
                     "all the same",
                     measured, name);
  }
  return KMB_OK;
}

/* The kernel in the step. */

/* Length of a launch beside which some other operation ran: `others` is where
 * those before have ended, and what starts later is looked through. */
static double overlap_of(const kmb_trace *trace, uint32_t rank,
                         uint64_t others) {
  enum { AHEAD = 256 };
  const kmbi_op *op = kmbi_op_at(trace, rank);
  uint32_t lane_device = kmbi_lane_at(trace, op->lane)->device;
  uint64_t covered = others > op->end ? op->end : others, sum = 0;
  if (covered > op->start)
    sum = covered - op->start;
  else
    covered = op->start;
  for (uint32_t i = rank + 1; i < trace->ops.count && i - rank < AHEAD; i++) {
    const kmbi_op *other = kmbi_op_at(trace, i);
    if (other->start >= op->end || covered >= op->end) break;
    if (kmbi_lane_at(trace, other->lane)->device != lane_device) continue;
    uint64_t from = other->start > covered ? other->start : covered;
    uint64_t to = other->end < op->end ? other->end : op->end;
    if (to <= from) continue;
    sum += to - from;
    covered = to;
  }
  return (double)sum;
}

typedef struct in_step {
  double *durations, *scratch;
  uint64_t *ended; /* latest end on each device */
} in_step;

static void take_launches(kmb_payoff *payoff, const in_step *of) {
  const kmb_gaps *select = &payoff->select;
  const kmb_trace *trace = select->trace;
  kmb_payoff_summary *s = &payoff->summary;
  size_t count = 0;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    uint64_t *ended = &of->ended[kmbi_lane_at(trace, op->lane)->device];
    if (kmbi_gaps_is_target(select, op) && kmbi_gaps_window(select, op)) {
      of->durations[count++] = (double)(op->end - op->start);
      s->in_step_total_ns += (double)(op->end - op->start);
      s->overlapped_ns += overlap_of(trace, i, *ended);
    }
    if (op->end > *ended) *ended = op->end;
  }
  kmbi_interval interval;
  if (kmbi_interval_of(of->durations, count, (double)trace->tick, 1,
                       of->scratch, &interval)) {
    s->in_step_ns = interval.median;
    s->in_step_low_ns = interval.low;
    s->in_step_high_ns = interval.high;
    s->flags |= KMB_PAYOFF_HAS_STEP_INTERVAL;
  } else {
    s->in_step_ns = kmbi_median(of->durations, count, of->scratch);
  }
}

static kmb_status measure_in_step(kmb_payoff *payoff) {
  const kmbi_memory *m = &payoff->memory;
  size_t count = (size_t)payoff->summary.launches;
  size_t devices = payoff->select.trace->devices.count;
  in_step of = {kmbi_alloc(m, count, sizeof(double)),
                kmbi_alloc(m, count, sizeof(double)),
                kmbi_alloc(m, devices, sizeof(uint64_t))};
  bool good = of.durations && of.scratch && of.ended;
  if (good) take_launches(payoff, &of);
  kmbi_free(m, of.durations, count, sizeof(double));
  kmbi_free(m, of.scratch, count, sizeof(double));
  kmbi_free(m, of.ended, devices, sizeof(uint64_t));
  return good ? KMB_OK : no_memory();
}

/* The prediction. */

/* Without calls of the host its gaps may stay where they are, or move. */
static void predict_bounds(kmbi_replay *replay, double ratio, double *low,
                           double *high) {
  double a = kmbi_replay_run(replay, KMBI_REPLAY_FREE, ratio);
  double b = kmbi_replay_run(replay, KMBI_REPLAY_FIXED, ratio);
  *low = fmin(*low, fmin(a, b));
  *high = fmax(*high, fmax(a, b));
}

static void predict_step(kmb_payoff *payoff, kmbi_replay *replay) {
  const kmb_payoff_change *c = &payoff->change;
  kmb_payoff_summary *s = &payoff->summary;
  bool host = replay->trace->calls.count > 0, interval = c->high > 0;
  double ratios[3] = {c->ratio, c->low, c->high};
  s->predicted_low_ns = INFINITY;
  for (int i = 0; i < (interval ? 3 : 1); i++) {
    if (!host) {
      predict_bounds(replay, ratios[i], &s->predicted_low_ns,
                     &s->predicted_high_ns);
      continue;
    }
    double length = kmbi_replay_run(replay, KMBI_REPLAY_HOST, ratios[i]);
    if (i == 0) s->predicted_ns = length;
    s->predicted_low_ns = fmin(s->predicted_low_ns, length);
    s->predicted_high_ns = fmax(s->predicted_high_ns, length);
  }
  if (interval) s->flags |= KMB_PAYOFF_HAS_RATIO_INTERVAL;
  if (host) s->flags |= KMB_PAYOFF_PREDICTED;
}

static void split_saving(kmb_payoff *payoff) {
  kmb_payoff_summary *s = &payoff->summary;
  s->saving_low_ns = s->step_ns - s->predicted_high_ns;
  s->saving_high_ns = s->step_ns - s->predicted_low_ns;
  s->gain_ns = s->in_step_total_ns * (1 - payoff->change.ratio);
  s->hidden_ns = s->gain_ns - (s->graph_ns - s->graph_after_ns);
  if (!(s->flags & KMB_PAYOFF_PREDICTED)) return;
  s->saving_ns = s->step_ns - s->predicted_ns;
  s->host_ns = s->gain_ns - s->hidden_ns - s->saving_ns;
}

static uint64_t count_steps(const kmb_gaps *select) {
  uint64_t count = 0;
  if (!select->windows) return 1;
  for (uint32_t i = 0; i < select->window_count; i++)
    count += select->windows[i].thread != UINT32_MAX;
  return count;
}

static kmb_status predict(kmb_payoff *payoff) {
  kmb_payoff_summary *s = &payoff->summary;
  kmbi_replay replay;
  bool good = kmbi_replay_create(&replay, &payoff->select, &payoff->params);
  if (good) {
    bool host = replay.trace->calls.count > 0;
    s->recorded_ns = kmbi_replay_run(
        &replay, host ? KMBI_REPLAY_RECORDED : KMBI_REPLAY_FREE, 1);
    s->step_ns = host && replay.driver_added + replay.runtime_added > 0
                     ? kmbi_replay_run(&replay, KMBI_REPLAY_HOST, 1)
                     : s->recorded_ns;
    predict_step(payoff, &replay);
    s->graph_ns = kmbi_replay_run(&replay, KMBI_REPLAY_GRAPH, 1);
    s->graph_after_ns =
        kmbi_replay_run(&replay, KMBI_REPLAY_GRAPH, payoff->change.ratio);
    s->waits = replay.waits;
    payoff->short_calls = kmbi_replay_short_calls(&replay, &payoff->calls);
    s->steps = count_steps(&payoff->select);
    split_saving(payoff);
  }
  kmbi_replay_release(&replay);
  return good ? KMB_OK : no_memory();
}

static void compare_alone(kmb_payoff *payoff) {
  const kmb_payoff_change *c = &payoff->change;
  kmb_payoff_summary *s = &payoff->summary;
  if (!(c->flags & KMB_PAYOFF_HAS_ISOLATED)) return;
  bool alone = c->flags & KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
  bool here = s->flags & KMB_PAYOFF_HAS_STEP_INTERVAL;
  double low = alone ? c->isolated_low_ns : c->isolated_ns;
  double high = alone ? c->isolated_high_ns : c->isolated_ns;
  double step_low = here ? s->in_step_low_ns : s->in_step_ns;
  double step_high = here ? s->in_step_high_ns : s->in_step_ns;
  if (step_low > high || step_high < low) s->flags |= KMB_PAYOFF_STEP_DIFFERS;
}

/* The whole. */

static kmb_status check_trace(const kmb_trace *trace) {
  if (!trace->ops.count)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "the trace holds no operations");
  return KMB_OK;
}

static kmb_status check_graphs(kmb_payoff *payoff) {
  kmb_status status = kmbi_count_untraced_graphs(&payoff->select);
  if (status || !payoff->select.untraced_graphs) return status;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "%llu graph launches have no operations in the trace: the "
                   "step cannot be replayed; record with nsys profile "
                   "--cuda-graph-trace=node",
                   (unsigned long long)payoff->select.untraced_graphs);
}

static kmb_status evaluate(kmb_payoff *payoff) {
  kmb_payoff_summary *s = &payoff->summary;
  kmb_status status = check_trace(payoff->select.trace);
  if (!status) status = match(payoff);
  if (!status) status = kmbi_gaps_find_windows(&payoff->select);
  if (!status) status = check_graphs(payoff);
  if (!status) status = find_candidates(payoff);
  if (!status) status = check_device(payoff);
  if (status) return status;
  bool one =
      payoff->live_names <= 1 || payoff->params.flags & KMB_PAYOFF_ALL_NAMES;
  if (one) status = kmbi_payoff_choose_shape(payoff);
  if (status) return status;
  bool chosen =
      payoff->choice == KMBI_PAYOFF_ALL || payoff->choice == KMBI_PAYOFF_ONE;
  if (one && chosen) {
    s->flags |= KMB_PAYOFF_MATCHED;
    status = measure_in_step(payoff);
    if (!status) status = predict(payoff);
    if (!status) compare_alone(payoff);
  }
  if (status) return status;
  kmbi_payoff_say(payoff);
  return kmbi_arena_failed(&payoff->arena) ? no_memory() : KMB_OK;
}

/* What the caller gave is copied. NULL without memory. */
static kmb_payoff *create(const kmb_trace *trace,
                          const kmb_payoff_change *change,
                          const kmb_payoff_params *params,
                          const kmbi_memory *memory) {
  kmb_payoff *payoff = kmbi_alloc(memory, 1, sizeof *payoff);
  if (!payoff) return NULL;
  payoff->memory = *memory;
  payoff->change = *change;
  payoff->params = *params;
  payoff->summary = kmb_payoff_summary_init();
  payoff->summary.verdict = "";
  kmbi_arena *arena = &payoff->arena;
  kmbi_arena_init(arena, &payoff->memory);
  payoff->change.name =
      kmbi_utf8_copy(arena, change->name ? change->name : "new");
  payoff->change.kernel = kmbi_utf8_copy(arena, change->kernel);
  payoff->change.device = kmbi_utf8_copy(arena, change->device);
  payoff->params.kernel = kmbi_utf8_copy(arena, params->kernel);
  payoff->params.range = kmbi_utf8_copy(arena, params->range);
  payoff->select = (kmb_gaps){.memory = *memory, .trace = trace};
  payoff->names = trace->names.count;
  payoff->select.params = kmb_gaps_params_init();
  payoff->select.params.kernel = payoff->params.kernel;
  payoff->select.params.range = payoff->params.range;
  kmbi_payoff_code_init(payoff);
  return payoff;
}

/* What need not outlive the evaluation. */
static void forget(kmb_payoff *payoff) {
  payoff->select.trace = NULL;
  payoff->change.before = payoff->change.after = NULL;
  payoff->params.code = NULL;
  payoff->params.listed = NULL;
}

kmb_status kmb_payoff_evaluate(const kmb_trace *trace,
                               const kmb_payoff_change *change,
                               const kmb_payoff_params *params,
                               kmb_payoff **out) {
  kmb_payoff_change c;
  kmb_payoff_params p;
  kmbi_memory memory;
  if (out) *out = NULL;
  if (!trace || !change || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_evaluate: %s is NULL",
                     !trace    ? "trace"
                     : !change ? "change"
                               : "payoff");
  kmb_status status = read_change(change, &c);
  if (!status) status = read_params(params, &p, &memory);
  if (status) return status;
  kmb_payoff *payoff = create(trace, &c, &p, &memory);
  if (!payoff || kmbi_arena_failed(&payoff->arena))
    status = no_memory();
  else
    status = evaluate(payoff);
  if (payoff) forget(payoff);
  if (status) {
    kmb_payoff_destroy(payoff);
    return status;
  }
  *out = payoff;
  return KMB_OK;
}

void kmb_payoff_destroy(kmb_payoff *payoff) {
  if (!payoff) return;
  const kmbi_memory memory = payoff->memory;
  const kmb_gaps *select = &payoff->select;
  kmbi_payoff_code_release(payoff);
  kmbi_free(&memory, select->is_target, payoff->names, 1);
  kmbi_free(&memory, select->windows, select->window_count,
            sizeof(kmbi_window));
  kmbi_arena_release(&payoff->arena);
  kmbi_free(&memory, payoff, 1, sizeof *payoff);
}

/* What a caller sees. */

kmb_status kmb_payoff_get_summary(const kmb_payoff *payoff,
                                  kmb_payoff_summary *summary) {
  if (!payoff || !summary)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_get_summary: %s is NULL",
                     !payoff ? "payoff" : "summary");
  return kmbi_copy_out(summary, &payoff->summary, sizeof payoff->summary,
                       KMBI_PAYOFF_SUMMARY_V1,
                       "kmb_payoff_get_summary: summary");
}

kmb_status kmb_payoff_get_candidate(const kmb_payoff *payoff, uint64_t index,
                                    kmb_payoff_candidate *candidate) {
  if (!payoff || !candidate)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_get_candidate: %s is NULL",
                     !payoff ? "payoff" : "candidate");
  if (index >= payoff->summary.candidates)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_get_candidate: index %llu of %llu",
                     (unsigned long long)index,
                     (unsigned long long)payoff->summary.candidates);
  *candidate = payoff->candidates[index];
  return KMB_OK;
}

kmb_status kmb_payoff_get_shape(const kmb_payoff *payoff, uint64_t index,
                                kmb_payoff_shape *shape) {
  if (!payoff || !shape)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_get_shape: %s is NULL",
                     !payoff ? "payoff" : "shape");
  if (index >= payoff->summary.shapes)
    return kmbi_fail(
        KMB_ERR_INVALID, "kmb_payoff_get_shape: index %llu of %llu",
        (unsigned long long)index, (unsigned long long)payoff->summary.shapes);
  return kmbi_copy_out(shape, &payoff->shapes[index], sizeof *payoff->shapes,
                       KMBI_PAYOFF_SHAPE_V1, "kmb_payoff_get_shape: shape");
}

uint64_t kmb_payoff_note_count(const kmb_payoff *payoff) {
  return payoff ? payoff->note_count : 0;
}

const char *kmb_payoff_note(const kmb_payoff *payoff, uint64_t index) {
  return payoff && index < payoff->note_count ? payoff->notes[index] : NULL;
}
