/* Measure: which device operations an iteration consisted of. */
#include "error.h"
#include "occupancy.h"

#include <math.h>

typedef struct taking {
  kmbi_run *run;
  uint64_t got;
  uint32_t sample; /* that is being taken in */
  bool open;       /* it has begun */
  bool failed;     /* no memory */
  bool broken;     /* what the backend gave cannot be */
} taking;

/* Samples that do not count have no place. */
static void end_sample(taking *t) {
  if (!t->open) return;
  size_t place = t->run->places[t->sample];
  t->open = false;
  if (!t->failed && place != SIZE_MAX)
    t->failed = !kmbi_ops_end_sample(&t->run->ops, place);
}

static bool is_possible(const taking *t, const kmb_device_op *op) {
  return op->sample < t->got && (!t->open || op->sample >= t->sample) &&
         op->kind >= KMB_OP_KERNEL && op->kind <= KMB_OP_MEMSET &&
         isfinite(op->start_ns) && isfinite(op->duration_ns) &&
         op->start_ns >= 0 && op->duration_ns >= 0;
}

static void take_in(void *user, const kmb_device_op *op) {
  taking *t = user;
  if (t->broken || !is_possible(t, op)) {
    t->broken = true;
    return;
  }
  if (t->open && op->sample != t->sample) end_sample(t);
  t->sample = op->sample;
  t->open = true;
  if (t->run->places[op->sample] != SIZE_MAX) kmbi_ops_add(&t->run->ops, op);
}

static bool has_rows(const kmbi_run *run) {
  return run->choice.timer == KMB_TIMER_TRACE &&
         KMBI_HAS(run->device->ops, plan_ops);
}

kmb_status kmbi_ops_begin(kmbi_run *run) {
  if (!has_rows(run)) return KMB_OK;
  if (run->ops.pending) {
    kmbi_ops_restart(&run->ops);
    return KMB_OK;
  }
  if (kmbi_ops_init(&run->ops, &run->device->memory)) return KMB_OK;
  return kmbi_fail(KMB_ERR_NOMEM, "no memory for a row for each operation");
}

kmb_status kmbi_ops_take(kmbi_run *run, uint64_t got) {
  const kmb_backend_ops *ops = run->device->ops;
  if (!has_rows(run) || !got) return KMB_OK;
  taking t = {.run = run, .got = got};
  kmb_status status = ops->plan_ops(run->device->self, run->plan, take_in, &t);
  end_sample(&t);
  if (!status && t.broken)
    status = kmbi_fail(KMB_ERR_INTERNAL,
                       "backend %s gave a device operation that cannot be: of "
                       "a sample that it did not give, of no kind, or before "
                       "the first start",
                       ops->name);
  if (!status && t.failed)
    status = kmbi_fail(KMB_ERR_NOMEM, "no memory for a row for each operation");
  return status;
}

kmb_status kmbi_ops_finish(kmbi_run *run, kmbi_round *round) {
  if (!has_rows(run)) return KMB_OK;
  if (kmbi_ops_close(&run->ops, run->sample_first, round->interval.median,
                     &round->rows))
    return KMB_OK;
  return kmbi_fail(KMB_ERR_NOMEM, "no memory for a row for each operation");
}

void kmbi_set_ops(kmbi_run *run, const kmbi_round *round) {
  kmb_result *result = run->result;
  const kmbi_op_rows *rows = &round->rows;
  if (!has_rows(run)) {
    kmbi_result_absent(result, KMB_VALUE_OP_SAMPLES,
                       "backend %s tells no single operations",
                       run->device->ops->name);
    return;
  }
  if (!rows->samples) {
    kmbi_result_absent(result, KMB_VALUE_OP_SAMPLES,
                       "no sample that counts has records of its operations "
                       "(there may be too many)");
    return;
  }
  kmbi_result_set_ops(result, rows->rows, rows->count);
  kmbi_result_set_u64(result, KMB_VALUE_OP_SAMPLES, rows->samples);
  kmbi_result_set_u64(result, KMB_VALUE_OP_SAMPLES_OTHER, rows->other);
  kmbi_result_set_u64(result, KMB_VALUE_OPS_OMITTED, rows->omitted);
}

/* How the kernel that takes longest was launched: NULL, there is none. */
static const kmb_op *longest(const kmb_result *result) {
  const kmb_op *best = NULL;
  for (uint64_t i = 0; i < result->op_count; i++) {
    const kmb_op *op = &result->ops[i].op;
    if (op->kind == KMB_OP_KERNEL &&
        (!best || op->duration_ns > best->duration_ns))
      best = op;
  }
  return best;
}

void kmbi_set_launch_of_ops(kmbi_run *run) {
  static const kmbi_driver_count nobody = {
      .why = "not compared: the driver is asked with KMB_BENCH_COUNTERS alone"};
  kmb_result *result = run->result;
  kmb_occupancy occupancy;
  kmbi_error_state before;
  if (run->has_launch || !KMBI_HAS(run->device->ops, occupancy)) return;
  const kmb_op *op = longest(result);
  if (!op) {
    kmbi_no_launch(result, run->choice.timer == KMB_TIMER_TRACE
                               ? "the trace shows no kernel"
                               : "how kernels were launched is told by TRACE "
                                 "and with hardware counters");
    return;
  }
  if (!(op->flags & KMB_OP_HAS_LAUNCH)) {
    kmbi_no_launch(result, "the tracer does not tell how it was launched");
    return;
  }
  kmbi_error_save(&before);
  kmb_status status =
      kmbi_occupancy(run->device, op, &nobody, &result->arena, &occupancy);
  kmbi_set_launch(result, op, status ? NULL : &occupancy,
                  kmb_last_error(NULL, NULL));
  kmbi_error_restore(&before);
}
