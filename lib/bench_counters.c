/* Hardware counters that were asked for with a measurement: after it, in the
 * cache state that was timed. */
#include "counters.h"
#include "error.h"
#include "occupancy.h"

#include <math.h>

/* Percentages of the preset, and where each goes. */
static const struct {
  uint64_t metric;
  kmb_value value;
} shares[] = {
    {KMB_COUNTERS_SOL_COMPUTE, KMB_VALUE_NCU_COMPUTE},
    {KMB_COUNTERS_SOL_MEMORY, KMB_VALUE_NCU_MEMORY},
    {KMB_COUNTERS_SOL_L2_HIT, KMB_VALUE_L2_HIT},
    {KMB_COUNTERS_SOL_MEM_BUSY, KMB_VALUE_NCU_MEM_BUSY},
    {KMB_COUNTERS_SOL_MEM_BANDWIDTH, KMB_VALUE_NCU_BANDWIDTH},
    {KMB_COUNTERS_SOL_MEM_ISSUE, KMB_VALUE_NCU_MEM_PIPES},
    {KMB_COUNTERS_SOL_OCCUPANCY, KMB_VALUE_OCCUPANCY},
};

/* NaN: not counted. */
static double number(const kmb_counters *c, uint64_t row, uint64_t metric) {
  return c->values[c->rows[row] * c->metric_count + metric];
}

static double sum(const kmb_counters *c, uint64_t metric) {
  double total = 0;
  for (uint64_t i = 0; i < c->row_count; i++)
    total += number(c, i, metric);
  return total;
}

/* The row that takes longest, by the trace that listed it. */
static uint64_t longest(const kmb_counters *c) {
  uint64_t best = 0;
  if (c->info.replay == KMB_REPLAY_GRAPH) return 0;
  for (uint64_t i = 1; i < c->row_count; i++)
    if (c->kernels[c->rows[i]].duration_ns >
        c->kernels[c->rows[best]].duration_ns)
      best = i;
  return best;
}

static void set(kmbi_run *run, kmb_value value, double n) {
  if (isfinite(n))
    kmbi_result_set_f64(run->result, value, n);
  else
    kmbi_result_absent(run->result, value, "the counters give no number of it");
}

static void set_launch(kmbi_run *run, const kmbi_counter_launch *l) {
  run->has_launch = true;
  if (l->op.flags & KMB_OP_HAS_LAUNCH)
    kmbi_set_launch(run->result, &l->op, l->why ? NULL : &l->occupancy, l->why);
  else
    kmbi_no_launch(run->result, l->why);
}

static void set_all(kmbi_run *run, const kmb_counters *c) {
  kmb_result *result = run->result;
  bool whole = c->info.replay == KMB_REPLAY_GRAPH;
  uint64_t row = longest(c);
  set(run, KMB_VALUE_DRAM_WRITE, sum(c, KMB_COUNTERS_SOL_DRAM_WRITE));
  kmbi_result_set_text(result, KMB_VALUE_COUNTER_KERNEL,
                       whole ? "(iteration)" : c->kernels[c->rows[row]].name);
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
    if (whole && shares[i].metric != KMB_COUNTERS_SOL_L2_HIT)
      kmbi_result_absent(result, shares[i].value,
                         "a whole iteration's percentages hold the profiler's "
                         "own time; measure plain launches");
    else
      set(run, shares[i].value, number(c, row, shares[i].metric));
}

/* Why there are none: a reason of the machine's is no failure of the call. */
static void absent(kmbi_run *run, bool all) {
  static const kmb_value values[] = {
      KMB_VALUE_COUNTER_PASSES, KMB_VALUE_COUNTER_MODE, KMB_VALUE_COLD_RATIO,
      KMB_VALUE_DRAM_READ,      KMB_VALUE_DRAM_WRITE,   KMB_VALUE_DRAM_RATE,
      KMB_VALUE_COUNTER_KERNEL}; /* the last three: of the preset alone */
  const char *why = kmb_last_error(NULL, NULL);
  size_t count = sizeof values / sizeof values[0] - (all ? 0 : 3);
  for (size_t i = 0; i < count; i++)
    kmbi_result_absent(run->result, values[i], "%s", why);
  for (size_t i = 0; all && i < sizeof shares / sizeof shares[0]; i++)
    kmbi_result_absent(run->result, shares[i].value, "%s", why);
}

bool kmbi_is_reason(kmb_status status) {
  return kmbi_is_local(status) || status == KMB_ERR_INVALID ||
         status == KMB_ERR_VENDOR;
}

kmb_status kmbi_take_counters(kmbi_run *run) {
  static const char *const read[] = {"dram__bytes_read.sum"};
  bool all = run->p.flags & KMB_BENCH_COUNTERS;
  kmb_counters_params params = kmb_counters_params_init();
  kmb_counters *c = NULL;
  kmbi_error_state before;
  if (!all && !(run->p.flags & KMB_BENCH_CONFIRM_COLD)) return KMB_OK;
  if (!all) {
    params.metrics = read;
    params.metric_count = 1;
  }
  if (run->p.flags & KMB_BENCH_KEEP_COUNTERS) params.flags = KMB_COUNTERS_KEEP;
  /* What was timed is timed: its tracer would keep another one out. */
  kmbi_plan_close(run, run->plan);
  run->plan = NULL;
  kmbi_error_save(&before);
  kmb_status status = kmbi_counters_take(run, &params, all, &c);
  if (status && !kmbi_is_reason(status)) return status;
  if (status) {
    absent(run, all);
    kmbi_error_restore(&before);
    return KMB_OK;
  }
  double dram = sum(c, KMB_COUNTERS_SOL_DRAM_READ);
  kmbi_result_set_u64(run->result, KMB_VALUE_COUNTER_PASSES, c->info.taken);
  kmbi_result_set_text(run->result, KMB_VALUE_COUNTER_MODE, c->info.mode);
  set(run, KMB_VALUE_DRAM_READ, dram);
  if (isfinite(dram)) kmbi_prove_by_counters(run, dram);
  if (all) set_all(run, c);
  if (c->launches) set_launch(run, &c->launches[longest(c)]);
  kmb_counters_destroy(c);
  return KMB_OK;
}

void kmbi_set_dram_rate(kmbi_run *run, double time) {
  double in = 0, out = 0;
  const kmb_result *result = run->result;
  if (!kmbi_result_get_f64(result, KMB_VALUE_DRAM_READ, &in) ||
      !kmbi_result_get_f64(result, KMB_VALUE_DRAM_WRITE, &out))
    return;
  if (run->choice.timer != KMB_TIMER_TRACE || !(time > 0)) {
    kmbi_result_absent(run->result, KMB_VALUE_DRAM_RATE,
                       "bytes of counters go with the time of TRACE alone");
    return;
  }
  kmbi_result_set_f64(run->result, KMB_VALUE_DRAM_RATE,
                      (in + out) / (time / 1e9));
}
