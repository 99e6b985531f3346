/* A result from samples that were taken elsewhere. */
#include "error.h"
#include "run.h"

#include <math.h>

static kmb_status check_samples(const double *ns, uint64_t count, double tick) {
  if (!ns || !count)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_result_from_samples: at least one sample is needed");
  if (count > SIZE_MAX / sizeof(double) / 4)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_result_from_samples: %llu samples are too many",
                     (unsigned long long)count);
  if (!(tick >= 0) || !isfinite(tick))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_from_samples: tick_ns is "
                                      "negative or not finite");
  for (uint64_t i = 0; i < count; i++)
    if (!(ns[i] >= 0) || !isfinite(ns[i]))
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_result_from_samples: sample %llu is negative or "
                       "not finite",
                       (unsigned long long)i);
  return KMB_OK;
}

static kmb_status fill_round(kmbi_run *run, const double *ns, size_t n) {
  const kmbi_memory *memory = &run->device->memory;
  run->rounds = kmbi_alloc(memory, run->p.rounds, sizeof *run->rounds);
  if (!run->rounds)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %zu samples", n);
  kmbi_round *round = run->rounds;
  round->samples = kmbi_alloc(memory, n, sizeof *ns);
  if (round->samples) round->count = n; /* its size when it is freed */
  if (!round->samples || !kmbi_grow_scratch(run, n))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for %zu samples", n);
  memcpy(round->samples, ns, n * sizeof *ns);
  round->batch = 1;
  round->iterations = n;
  round->invalid = run->given.invalid;
  round->has_interval = kmbi_interval_of(ns, n, run->tick_ns, run->p.seed,
                                         run->scratch, &round->interval);
  if (!round->has_interval)
    round->interval.median = kmbi_median(ns, n, run->scratch);
  return KMB_OK;
}

kmb_status kmbi_from_samples(kmb_device *device, const kmb_bench_params *params,
                             const kmbi_given *given, const double *ns,
                             uint64_t count, double tick_ns, kmb_result **out) {
  kmb_status status = check_samples(ns, count, tick_ns);
  if (status) return status;
  kmbi_run run = {.device = device, .overhead_ns = -1, .check_error = -1};
  kmbi_stage next = KMBI_DONE;
  run.entered_ns = kmbi_now(device);
  status = kmbi_bench_params(params, false, &run);
  run.p.rounds = 1;
  run.given = *given;
  run.tick_ns = tick_ns;
  if (!status) status = kmbi_result_create(&device->memory, &run.result);
  if (!status) status = kmbi_take_ceilings(&run);
  if (!status) status = fill_round(&run, ns, (size_t)count);
  if (!status) status = kmbi_summarise_run(&run, &next);
  if (!status) status = kmbi_result_finish(&run.result);
  if (!status) {
    *out = run.result;
    run.result = NULL;
  }
  kmbi_run_release(&run);
  return status;
}

kmb_status kmb_result_from_samples(kmb_device *device,
                                   const kmb_bench_params *params,
                                   const double *ns, uint64_t count,
                                   double tick_ns, kmb_result **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_result_from_samples: result is NULL");
  *out = NULL;
  kmb_status status = kmbi_device_enter(device, "kmb_result_from_samples");
  if (status) return status;
  const kmbi_given callers = {.timer = KMB_TIMER_AUTO};
  status = kmbi_from_samples(device, params, &callers, ns, count, tick_ns, out);
  kmbi_device_leave(device);
  return status;
}
