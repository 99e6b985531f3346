/* Counters by a call of its own, and what was read. */
#include "counters.h"
#include "error.h"
#include "structs.h"

#include <math.h>

static kmb_status prepare(kmbi_run *run) {
  kmbi_stage next = KMBI_PREPARE;
  kmb_status status = KMB_OK;
  run->p.flags |= KMB_BENCH_NO_CEILINGS;
  while (!status && next == KMBI_PREPARE)
    status = kmbi_prepare(run, &next);
  return status;
}

kmb_status kmb_counters_read(kmb_device *device, const kmb_bench_params *bench,
                             const kmb_counters_params *params,
                             kmb_counters **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_counters_read: counters is NULL");
  *out = NULL;
  kmb_status status = kmbi_device_enter(device, "kmb_counters_read");
  if (status) return status;
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmbi_run run;
  double began = kmbi_now(device);
  status = kmbi_run_begin(&run, device, bench);
  if (!status) status = prepare(&run);
  if (!status)
    kmbi_log(device, KMB_LOG_DEBUG,
             "counters: cache and buffers were prepared in %.1f ms",
             (kmbi_now(device) - began) / 1e6);
  if (!status) status = kmbi_counters_take(&run, params, true, out);
  if (!status) kmbi_error_restore(&before);
  kmbi_callback_failed(status, &before);
  kmbi_device_note(device, status);
  kmbi_run_release(&run);
  kmbi_device_leave(device);
  return status;
}

kmb_status kmb_counters_release(kmb_device *device) {
  kmb_status status = kmbi_device_enter(device, "kmb_counters_release");
  if (status) return status;
  if (KMBI_HAS(device->ops, counters_release))
    status = device->ops->counters_release(device->self);
  kmbi_device_note(device, status);
  kmbi_device_leave(device);
  return status;
}

/* What was read. */

kmb_status kmb_counters_get_info(const kmb_counters *counters,
                                 kmb_counters_info *info) {
  if (!counters)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_counters_get_info: counters is NULL");
  return kmbi_copy_out(info, &counters->info, sizeof *info,
                       KMBI_COUNTERS_INFO_V1, "kmb_counters_info");
}

uint64_t kmb_counters_row_count(const kmb_counters *counters) {
  return counters ? counters->row_count : 0;
}

static kmb_status check_row(const kmb_counters *c, uint64_t row,
                            const void *out, const char *what) {
  if (!c || !out) return kmbi_fail(KMB_ERR_INVALID, "%s: NULL", what);
  if (row < c->row_count) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID, "%s: no row %llu, there are %llu", what,
                   (unsigned long long)row, (unsigned long long)c->row_count);
}

kmb_status kmb_counters_name(const kmb_counters *c, uint64_t row,
                             const char **name) {
  kmb_status status = check_row(c, row, name, "kmb_counters_name");
  if (status) return status;
  *name = c->info.replay == KMB_REPLAY_GRAPH ? "(iteration)"
                                             : c->kernels[c->rows[row]].name;
  return KMB_OK;
}

kmb_status kmb_counters_launch(const kmb_counters *c, uint64_t row,
                               kmb_op *op) {
  kmb_status status = check_row(c, row, op, "kmb_counters_launch");
  if (status) return status;
  if (!c->launches)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_counters_launch: a whole iteration is no launch");
  if (!(c->launches[row].op.flags & KMB_OP_HAS_LAUNCH))
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "kmb_counters_launch: %s",
                     c->launches[row].why);
  return kmbi_copy_out(op, &c->launches[row].op, sizeof *op, KMBI_OP_V1,
                       "kmb_counters_launch: op");
}

kmb_status kmb_counters_occupancy(const kmb_counters *c, uint64_t row,
                                  kmb_occupancy *occupancy) {
  kmb_status status = check_row(c, row, occupancy, "kmb_counters_occupancy");
  if (status) return status;
  if (!c->launches)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_counters_occupancy: a whole iteration has none");
  if (c->launches[row].why)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "kmb_counters_occupancy: %s",
                     c->launches[row].why);
  return kmbi_copy_out(occupancy, &c->launches[row].occupancy,
                       sizeof *occupancy, KMBI_OCCUPANCY_V1, "kmb_occupancy");
}

kmb_status kmb_counters_value(const kmb_counters *c, uint64_t row,
                              uint64_t metric, double *value) {
  kmb_status status = check_row(c, row, value, "kmb_counters_value");
  if (status) return status;
  if (metric >= c->metric_count)
    return kmbi_fail(
        KMB_ERR_INVALID, "kmb_counters_value: no metric %llu, there are %llu",
        (unsigned long long)metric, (unsigned long long)c->metric_count);
  if (!c->values)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_counters_value: only listed (KMB_COUNTERS_LIST)");
  double number = c->values[c->rows[row] * c->metric_count + metric];
  if (!isfinite(number))
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "kmb_counters_value: the counters give no number, such as "
                     "a rate of hits where nothing was asked for");
  *value = number;
  return KMB_OK;
}
