/* What a caller sees of an analysis. */
#include "error.h"
#include "gaps.h"
#include "structs.h"

const kmbi_device_gaps *kmbi_gaps_device_at(const kmb_gaps *gaps,
                                            uint32_t index) {
  return kmbi_rows_at(&gaps->devices, index);
}

uint64_t kmbi_gaps_span(const kmbi_device_gaps *d) {
  return d->span + (d->busy.end - d->window_first);
}

uint64_t kmbi_gaps_busy(const kmbi_device_gaps *d) {
  return d->busy.closed + (d->busy.end - d->busy.start);
}

const kmbi_transition *kmbi_transition_at(const kmb_gaps *gaps,
                                          const kmbi_device_gaps *d,
                                          uint32_t index) {
  return kmbi_rows_at(&gaps->transitions,
                      gaps->transition_order[d->first_transition + index]);
}

const kmbi_share *kmbi_share_at(const kmb_gaps *gaps, const kmbi_device_gaps *d,
                                uint32_t index) {
  return kmbi_rows_at(&gaps->shares, gaps->share_order[d->first_share + index]);
}

void kmbi_gaps_by_kind(const kmb_gaps *gaps, const kmbi_device_gaps *d,
                       kmbi_kind_table table) {
  memset(table, 0, sizeof(kmbi_kind_table));
  for (uint32_t i = 0; i < d->transitions; i++) {
    const kmbi_transition *t = kmbi_transition_at(gaps, d, i);
    int from = kmbi_name_at(gaps->trace, t->from)->kind;
    int to = kmbi_name_at(gaps->trace, t->to)->kind;
    kmbi_idle_add(&table[from - 1][to - 1], &t->idle);
  }
}

/* NULL, with the status, if there is no such device. */
static const kmbi_device_gaps *find_device(const kmb_gaps *gaps, uint64_t index,
                                           const void *out, const char *what,
                                           kmb_status *status) {
  if (!gaps)
    *status = kmbi_fail(KMB_ERR_INVALID, "%s: gaps is NULL", what);
  else if (!out)
    *status = kmbi_fail(KMB_ERR_INVALID, "%s: nowhere to store it", what);
  else if (index >= gaps->devices.count)
    *status =
        kmbi_fail(KMB_ERR_INVALID, "%s: device %llu of %u", what,
                  (unsigned long long)index, (unsigned)gaps->devices.count);
  else
    return kmbi_gaps_device_at(gaps, (uint32_t)index);
  return NULL;
}

static kmb_status check_index(uint64_t index, uint64_t count,
                              const char *what) {
  if (index < count) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID, "%s: index %llu of %llu", what,
                   (unsigned long long)index, (unsigned long long)count);
}

uint64_t kmb_gaps_device_count(const kmb_gaps *gaps) {
  return gaps ? gaps->devices.count : 0;
}

kmb_status kmb_gaps_get_device(const kmb_gaps *gaps, uint64_t index,
                               kmb_gaps_device *out) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, index, out, "kmb_gaps_get_device", &status);
  if (!d) return status;
  const kmbi_trace_device *device =
      kmbi_rows_at(&gaps->trace->devices, d->device);
  kmb_gaps_device row = kmb_gaps_device_init();
  row.name = kmbi_name_at(gaps->trace, device->name)->text;
  if (device->id != KMBI_UNKNOWN) {
    row.device = device->id;
    row.flags |= KMB_GAPS_HAS_DEVICE;
  }
  if (gaps->trace->calls.count) row.flags |= KMB_GAPS_HAS_CAUSES;
  row.ops = d->ops;
  row.first_ns = d->first;
  row.last_ns = d->last;
  row.span_ns = kmbi_gaps_span(d);
  row.busy_ns = kmbi_gaps_busy(d);
  row.idle_ns = row.span_ns - row.busy_ns;
  row.gaps = d->idle.count;
  row.launch_ns = d->idle.launch;
  row.sync_ns = d->idle.sync;
  row.host_ns = d->idle.host;
  row.queued_ns = d->idle.queued;
  row.unknown_ns = d->idle.unknown;
  row.transitions = d->transitions;
  row.names = d->shares;
  row.streams = d->streams;
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_DEVICE_V1,
                       "kmb_gaps_get_device: device");
}

kmb_status kmb_gaps_utilization(const kmb_gaps *gaps, uint64_t index,
                                double *share) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, index, share, "kmb_gaps_utilization", &status);
  if (!d) return status;
  if (gaps->untraced_graphs)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "utilization is not known: %llu graph launches have no "
                     "operations in the trace; record with nsys profile "
                     "--cuda-graph-trace=node",
                     (unsigned long long)gaps->untraced_graphs);
  *share = (double)kmbi_gaps_busy(d) / (double)kmbi_gaps_span(d);
  return KMB_OK;
}

kmb_status kmb_gaps_get_transition(const kmb_gaps *gaps, uint64_t device,
                                   uint64_t index, kmb_gaps_transition *out) {
  static const char what[] = "kmb_gaps_get_transition";
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d = find_device(gaps, device, out, what, &status);
  if (!d) return status;
  status = check_index(index, d->transitions, what);
  if (status) return status;
  const kmbi_transition *t = kmbi_transition_at(gaps, d, (uint32_t)index);
  const kmbi_name *from = kmbi_name_at(gaps->trace, t->from);
  const kmbi_name *to = kmbi_name_at(gaps->trace, t->to);
  kmb_gaps_transition row = kmb_gaps_transition_init();
  row.from = from->text;
  row.to = to->text;
  row.from_kind = from->kind;
  row.to_kind = to->kind;
  row.count = t->idle.count;
  row.idle_ns = t->idle.total;
  row.longest_ns = t->idle.longest;
  row.launch_ns = t->idle.launch;
  row.sync_ns = t->idle.sync;
  row.host_ns = t->idle.host;
  row.queued_ns = t->idle.queued;
  row.unknown_ns = t->idle.unknown;
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_TRANSITION_V1,
                       "kmb_gaps_get_transition: transition");
}

kmb_status kmb_gaps_get_name(const kmb_gaps *gaps, uint64_t device,
                             uint64_t index, kmb_gaps_name *out) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, device, out, "kmb_gaps_get_name", &status);
  if (!d) return status;
  status = check_index(index, d->shares, "kmb_gaps_get_name");
  if (status) return status;
  const kmbi_share *share = kmbi_share_at(gaps, d, (uint32_t)index);
  const kmbi_name *name = kmbi_name_at(gaps->trace, share->name);
  kmb_gaps_name row = kmb_gaps_name_init();
  row.name = name->text;
  row.kind = name->kind;
  row.count = share->count;
  row.total_ns = share->total;
  row.shortest_ns = share->shortest;
  row.longest_ns = share->longest;
  row.target = gaps->is_target && gaps->is_target[share->name];
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_NAME_V1,
                       "kmb_gaps_get_name: name");
}

kmb_status kmb_gaps_get_stream(const kmb_gaps *gaps, uint64_t device,
                               uint64_t index, kmb_gaps_stream *out) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, device, out, "kmb_gaps_get_stream", &status);
  if (!d) return status;
  status = check_index(index, d->streams, "kmb_gaps_get_stream");
  if (status) return status;
  const kmbi_stream *stream =
      kmbi_rows_at(&gaps->streams, gaps->stream_order[d->first_stream + index]);
  const kmbi_lane *lane = kmbi_lane_at(gaps->trace, stream->lane);
  kmb_gaps_stream row = kmb_gaps_stream_init();
  row.process = lane->process;
  row.context = lane->context;
  row.stream = lane->stream;
  row.ops = stream->ops;
  row.span_ns = stream->busy.end - stream->first;
  row.busy_ns = stream->busy.closed + (stream->busy.end - stream->busy.start);
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_STREAM_V1,
                       "kmb_gaps_get_stream: stream");
}

kmb_gaps_target kmbi_target_figures(const kmbi_device_gaps *d) {
  kmb_gaps_target row = kmb_gaps_target_init();
  const kmbi_target *t = &d->target;
  row.count = t->count;
  row.intervals = d->intervals.count;
  row.mean_duration_ns = (double)t->total_duration / (double)t->count;
  row.median_duration_ns = t->median_duration;
  if (!row.intervals) return row;
  row.mean_interval_ns = (double)t->total_interval / (double)row.intervals;
  row.median_work_ns = t->median_work;
  row.median_kernel_work_ns = t->median_kernel_work;
  row.utilization =
      row.mean_duration_ns / (row.mean_duration_ns + row.mean_interval_ns);
  row.potential_utilization =
      t->median_duration / (t->median_duration + t->median_work);
  row.potential_overlap =
      t->median_duration / (t->median_duration + t->median_kernel_work);
  return row;
}

kmb_status kmb_gaps_get_target(const kmb_gaps *gaps, uint64_t device,
                               kmb_gaps_target *out) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, device, out, "kmb_gaps_get_target", &status);
  if (!d) return status;
  if (!d->target.count)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     gaps->params.kernel
                         ? "no kernel on this device matches \"%.100s\""
                         : "no kernel was named%s",
                     gaps->params.kernel ? gaps->params.kernel : "");
  kmb_gaps_target row = kmbi_target_figures(d);
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_TARGET_V1,
                       "kmb_gaps_get_target: target");
}

kmb_status kmb_gaps_get_interval(const kmb_gaps *gaps, uint64_t device,
                                 uint64_t index, kmb_gaps_interval *out) {
  static const char what[] = "kmb_gaps_get_interval";
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d = find_device(gaps, device, out, what, &status);
  if (!d) return status;
  status = check_index(index, d->intervals.count, what);
  if (status) return status;
  const kmbi_between *row = kmbi_rows_at(&d->intervals, (uint32_t)index);
  *out = (kmb_gaps_interval){row->interval, row->work, row->kernel_work,
                             row->interval - row->work};
  return KMB_OK;
}

kmb_status kmb_gaps_get_latency(const kmb_gaps *gaps, uint64_t device,
                                kmb_gaps_latency *out) {
  kmb_status status = KMB_OK;
  const kmbi_device_gaps *d =
      find_device(gaps, device, out, "kmb_gaps_get_latency", &status);
  if (!d) return status;
  const kmbi_latency *l = &d->latency;
  if (!l->count)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "launch latency is not known: no operation is tied to a "
                     "call of the host");
  kmb_gaps_latency row = kmb_gaps_latency_init();
  row.count = l->count;
  row.shortest_ns = l->shortest;
  row.longest_ns = l->longest;
  row.mean_ns = (double)l->total / (double)l->count;
  row.median_ns = l->median;
  return kmbi_copy_out(out, &row, sizeof row, KMBI_GAPS_LATENCY_V1,
                       "kmb_gaps_get_latency: latency");
}

uint64_t kmb_gaps_finding_count(const kmb_gaps *gaps) {
  return gaps ? gaps->finding_count : 0;
}

kmb_status kmb_gaps_get_finding(const kmb_gaps *gaps, uint64_t index,
                                kmb_finding *out) {
  static const char what[] = "kmb_gaps_get_finding";
  if (!gaps || !out)
    return kmbi_fail(KMB_ERR_INVALID, "%s: %s is NULL", what,
                     !gaps ? "gaps" : "finding");
  kmb_status status = check_index(index, gaps->finding_count, what);
  if (status) return status;
  const kmbi_gaps_finding *at = &gaps->findings[index];
  kmb_finding finding = kmb_finding_init();
  finding.message = at->message;
  finding.figures = at->figures;
  finding.figure_count = at->figure_count;
  finding.code = at->code;
  finding.severity = at->severity;
  return kmbi_copy_out(out, &finding, sizeof finding, KMBI_FINDING_V1,
                       "kmb_gaps_get_finding: finding");
}
