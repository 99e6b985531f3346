/* The parameters of a measurement: checked, and every default filled in. */
#include "error.h"
#include "run.h"
#include "structs.h"

#include <math.h>

enum { AXES_LIMIT = 64, PAIRS_LIMIT = 1024, ROUNDS_LIMIT = 1000 };
#define BATCH_LIMIT (UINT64_C(1) << 32)
#define SAMPLES_LIMIT (UINT64_C(1) << 32)
#define DEFAULT_SEED UINT64_C(0x6b6d62)

#define KNOWN_FLAGS                                                        \
  ((uint32_t)(KMB_BENCH_SEED | KMB_BENCH_TOLERANCE | KMB_BENCH_NO_WARMUP | \
              KMB_BENCH_NO_CONFIRM | KMB_BENCH_NO_CEILINGS |               \
              KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_CACHE |          \
              KMB_BENCH_REQUIRE_LAUNCH | KMB_BENCH_REQUIRE_CHECK |         \
              KMB_BENCH_CONFIRM_COLD | KMB_BENCH_COUNTERS |                \
              KMB_BENCH_KEEP_COUNTERS))

static kmb_status check_number(double value, const char *name) {
  if (value >= 0 && isfinite(value)) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_bench_params: %s is negative or not finite", name);
}

static kmb_status check_numbers(const kmb_bench_params *p) {
  const struct {
    double value;
    const char *name;
  } numbers[] = {
      {p->tolerance, "tolerance"},     {p->target_pct, "target_pct"},
      {p->min_wall_ns, "min_wall_ns"}, {p->max_wall_ns, "max_wall_ns"},
      {p->warmup_ns, "warmup_ns"},     {p->idle_ns, "idle_ns"},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    kmb_status status = check_number(numbers[i].value, numbers[i].name);
    if (status) return status;
  }
  if (p->target_pct > 100)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: target_pct is over 100");
  if (p->batch > BATCH_LIMIT || p->max_samples > SAMPLES_LIMIT ||
      p->min_samples > SAMPLES_LIMIT || p->rounds > ROUNDS_LIMIT)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: batch, samples or rounds out of range "
                     "(2^32, 2^32, %d)",
                     ROUNDS_LIMIT);
  return KMB_OK;
}

static kmb_status check_choices(const kmb_bench_params *p) {
  if (p->timer < KMB_TIMER_AUTO || p->timer > KMB_TIMER_HOST)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_bench_params: no timer %d",
                     (int)p->timer);
  if (p->launch_mode < KMB_LAUNCH_AUTO || p->launch_mode > KMB_LAUNCH_GRAPH)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_bench_params: no launch mode %d",
                     (int)p->launch_mode);
  if (p->cache < KMB_CACHE_DEFAULT || p->cache > KMB_CACHE_WARM)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_bench_params: no cache state %d",
                     (int)p->cache);
  if (p->flags & ~KNOWN_FLAGS)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_bench_params: flags 0x%x are not known to libkmb %s",
                     (unsigned)(p->flags & ~KNOWN_FLAGS), KMB_VERSION);
  if (p->reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_bench_params: reserved must be 0");
  return KMB_OK;
}

static kmb_status check_axes(const kmb_bench_params *p) {
  if (p->axis_count > AXES_LIMIT || (p->axis_count && !p->axes))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: axes is NULL or more than %d",
                     AXES_LIMIT);
  for (uint64_t i = 0; i < p->axis_count; i++)
    if (!p->axes[i].key || !*p->axes[i].key || !p->axes[i].value)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_bench_params: axis %llu lacks a key or a value",
                       (unsigned long long)i);
  for (uint64_t i = 1; i < p->axis_count; i++)
    for (uint64_t k = 0; k < i; k++)
      if (strcmp(p->axes[i].key, p->axes[k].key) == 0)
        return kmbi_fail(KMB_ERR_INVALID,
                         "kmb_bench_params: axes %llu and %llu have the same "
                         "key",
                         (unsigned long long)k, (unsigned long long)i);
  return KMB_OK;
}

static kmb_status check_launch(const kmb_bench_params *p, const kmbi_run *run) {
  if (!p->launch && !p->graphs)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: launch is NULL; give the callback that "
                     "runs one iteration, or graphs");
  if (p->buffers && p->buffers->device != run->device)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: the buffers belong to another device");
  if (p->check && !p->buffers)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: a check needs buffers to compare");
  if (p->flags & KMB_BENCH_REQUIRE_CHECK && !p->check)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_bench_params: a check is required and none is given");
  if (p->reset && p->batch > 1)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: with a reset hook each sample is one "
                     "iteration; leave batch at 0 or 1");
  return KMB_OK;
}

static kmb_status check_graphs(const kmb_bench_params *p, const kmbi_run *run) {
  const kmb_backend_ops *ops = run->device->ops;
  if (!p->graphs && !p->graph_count) return KMB_OK;
  if (!p->graphs || !p->graph_count || p->launch)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: give graphs and their number, and no "
                     "launch beside them");
  for (uint64_t i = 0; i < p->graph_count; i++)
    if (!p->graphs[i])
      return kmbi_fail(KMB_ERR_INVALID, "kmb_bench_params: graph %llu is NULL",
                       (unsigned long long)i);
  if (p->launch_mode == KMB_LAUNCH_PLAIN)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: launch mode PLAIN cannot be had of "
                     "prebuilt graphs");
  if (p->rounds > 1 && p->buffers)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_bench_params: rounds allocate the buffers anew, "
                     "which prebuilt graphs do not follow; leave rounds at 1");
  if (!KMBI_HAS(ops, graph_launch))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend %s launches no prebuilt graphs; give a launch "
                     "callback",
                     ops->name);
  if (p->timer == KMB_TIMER_GRAPH && p->flags & KMB_BENCH_REQUIRE_TIMER)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_bench_params: the timer GRAPH is required: %s",
                     KMBI_GRAPH_REFUSED);
  return KMB_OK;
}

static void fill_defaults(kmb_bench_params *p) {
  if (p->target_pct == 0) p->target_pct = 0.5;
  if (p->min_wall_ns == 0) p->min_wall_ns = 25e6;
  if (p->max_wall_ns == 0) p->max_wall_ns = 2e9;
  if (p->warmup_ns == 0) p->warmup_ns = 100e6;
  if (!p->min_samples) p->min_samples = 50;
  if (!p->max_samples) p->max_samples = 1000000;
  if (p->min_samples > p->max_samples) p->min_samples = p->max_samples;
  if (!p->seed && !(p->flags & KMB_BENCH_SEED)) p->seed = DEFAULT_SEED;
  if (!p->rounds) p->rounds = 1;
  if (!p->name) p->name = "";
}

static kmb_status copy_work(kmbi_run *run) {
  if (!run->p.work) return KMB_OK;
  kmb_status status = kmbi_copy_in(&run->work, sizeof run->work, KMBI_WORK_V1,
                                   run->p.work, "kmb_work");
  if (status) return status;
  if (!run->work.flops && !run->work.read_bytes && !run->work.write_bytes)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_work: it counts neither FLOPs nor bytes; leave it "
                     "out if they are not known");
  /* Fails on work that overflows, before anything runs. */
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = &run->work;
  status = kmb_roofline_evaluate(&params, &roofline);
  run->has_work = !status;
  return status;
}

static kmb_status copy_metadata(kmbi_run *run) {
  if (!run->p.metadata) return KMB_OK;
  kmb_metadata_params *m = &run->metadata;
  kmb_status status = kmbi_copy_in(m, sizeof *m, KMBI_METADATA_PARAMS_V1,
                                   run->p.metadata, "kmb_metadata_params");
  if (status) return status;
  if (m->flags)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_metadata_params: flags must be 0");
  if (m->tree < KMB_TREE_UNKNOWN || m->tree > KMB_TREE_DIRTY)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_metadata_params: no tree state %d",
                     (int)m->tree);
  if (m->pair_count > PAIRS_LIMIT || (m->pair_count && !m->pairs))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_metadata_params: pairs is NULL or more than %d",
                     PAIRS_LIMIT);
  for (uint64_t i = 0; i < m->pair_count; i++)
    if (!m->pairs[i].key || !*m->pairs[i].key)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_metadata_params: pair %llu lacks a key",
                       (unsigned long long)i);
  return KMB_OK;
}

kmb_status kmbi_bench_params(const kmb_bench_params *caller, bool launches,
                             kmbi_run *run) {
  kmb_bench_params *p = &run->p;
  kmb_status status = kmbi_copy_in(p, sizeof *p, KMBI_BENCH_PARAMS_V1, caller,
                                   "kmb_bench_params");
  if (!status && !launches && p->comm)
    status = kmbi_fail(KMB_ERR_INVALID,
                       "kmb_bench_params: comm is for kmb_bench() alone; take "
                       "it out here");
  if (!status) status = check_numbers(p);
  if (!status) status = check_choices(p);
  if (!status) status = check_axes(p);
  if (!status && launches) status = check_graphs(p, run);
  if (!status && launches) status = check_launch(p, run);
  if (!status) status = copy_work(run);
  if (!status) status = copy_metadata(run);
  if (!status) fill_defaults(p);
  return status;
}
