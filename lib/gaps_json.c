/* An analysis as JSON. */
#include "error.h"
#include "format.h"
#include "gaps.h"
#include "out.h"

static void put_causes(kmbi_out *out, const kmb_gaps *gaps,
                       const kmbi_idle *idle) {
  if (!gaps->trace->calls.count) return;
  kmbi_out_u64_member(out, ", ", "launch_ns", idle->launch);
  kmbi_out_u64_member(out, ", ", "sync_ns", idle->sync);
  kmbi_out_u64_member(out, ", ", "host_ns", idle->host);
  kmbi_out_u64_member(out, ", ", "queued_ns", idle->queued);
  kmbi_out_u64_member(out, ", ", "unknown_ns", idle->unknown);
}

static void put_intervals(kmbi_out *out, const kmbi_rows *rows) {
  kmbi_out_key(out, ",\n    ", "intervals");
  for (uint32_t i = 0; i < rows->count && !out->status; i++) {
    const kmbi_between *row = kmbi_rows_at(rows, i);
    kmbi_out_u64_member(out, i ? ",\n     {" : "[\n     {", "interval_ns",
                        row->interval);
    kmbi_out_u64_member(out, ", ", "work_ns", row->work);
    kmbi_out_u64_member(out, ", ", "kernel_work_ns", row->kernel_work);
    kmbi_out_u64_member(out, ", ", "idle_ns", row->interval - row->work);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, rows->count ? "]" : "[]");
}

static void put_target(kmbi_out *out, const kmbi_device_gaps *d) {
  const kmb_gaps_target t = kmbi_target_figures(d);
  kmbi_out_u64_member(out, ",\n   \"target\": {", "count", t.count);
  kmbi_out_f64_member(out, ",\n    ", "mean_duration_ns", t.mean_duration_ns);
  kmbi_out_f64_member(out, ",\n    ", "median_duration_ns",
                      t.median_duration_ns);
  if (t.intervals) {
    kmbi_out_f64_member(out, ",\n    ", "mean_interval_ns", t.mean_interval_ns);
    kmbi_out_f64_member(out, ",\n    ", "median_work_ns", t.median_work_ns);
    kmbi_out_f64_member(out, ",\n    ", "median_kernel_work_ns",
                        t.median_kernel_work_ns);
    kmbi_out_f64_member(out, ",\n    ", "utilization", t.utilization);
    kmbi_out_f64_member(out, ",\n    ", "potential_utilization",
                        t.potential_utilization);
    kmbi_out_f64_member(out, ",\n    ", "potential_overlap",
                        t.potential_overlap);
  } else {
    kmbi_out_text_member(out, ",\n    ", "utilization_absent",
                         "one launch has no interval to a next");
  }
  put_intervals(out, &d->intervals);
  kmbi_out_put(out, "}");
}

static void put_transitions(kmbi_out *out, const kmb_gaps *gaps,
                            const kmbi_device_gaps *d) {
  kmbi_out_key(out, ",\n   ", "transitions");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < d->transitions && !out->status; i++) {
    const kmbi_transition *t = kmbi_transition_at(gaps, d, i);
    const kmbi_name *from = kmbi_name_at(gaps->trace, t->from);
    const kmbi_name *to = kmbi_name_at(gaps->trace, t->to);
    kmbi_out_text_member(out, i ? ",\n    {" : "\n    {", "from_kind",
                         kmb_op_kind_name(from->kind));
    kmbi_out_text_member(out, ", ", "from", from->text);
    kmbi_out_text_member(out, ", ", "to_kind", kmb_op_kind_name(to->kind));
    kmbi_out_text_member(out, ", ", "to", to->text);
    kmbi_out_u64_member(out, ",\n     ", "count", t->idle.count);
    kmbi_out_u64_member(out, ", ", "idle_ns", t->idle.total);
    kmbi_out_u64_member(out, ", ", "longest_ns", t->idle.longest);
    put_causes(out, gaps, &t->idle);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_kinds(kmbi_out *out, const kmb_gaps *gaps,
                      const kmbi_device_gaps *d) {
  kmbi_kind_table table;
  bool first = true;
  kmbi_gaps_by_kind(gaps, d, table);
  kmbi_out_key(out, ",\n   ", "kind_transitions");
  kmbi_out_put(out, "[");
  for (int i = 0; i < KMBI_OP_KINDS * KMBI_OP_KINDS; i++) {
    const kmbi_idle *idle = &table[i / KMBI_OP_KINDS][i % KMBI_OP_KINDS];
    if (!idle->count) continue;
    kmbi_out_text_member(out, first ? "\n    {" : ",\n    {", "from",
                         kmb_op_kind_name(i / KMBI_OP_KINDS + 1));
    kmbi_out_text_member(out, ", ", "to",
                         kmb_op_kind_name(i % KMBI_OP_KINDS + 1));
    kmbi_out_u64_member(out, ", ", "count", idle->count);
    kmbi_out_u64_member(out, ", ", "idle_ns", idle->total);
    kmbi_out_u64_member(out, ", ", "longest_ns", idle->longest);
    put_causes(out, gaps, idle);
    kmbi_out_put(out, "}");
    first = false;
  }
  kmbi_out_put(out, "]");
}

static void put_names(kmbi_out *out, const kmb_gaps *gaps,
                      const kmbi_device_gaps *d) {
  kmbi_out_key(out, ",\n   ", "names");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < d->shares && !out->status; i++) {
    const kmbi_share *share = kmbi_share_at(gaps, d, i);
    const kmbi_name *name = kmbi_name_at(gaps->trace, share->name);
    kmbi_out_text_member(out, i ? ",\n    {" : "\n    {", "kind",
                         kmb_op_kind_name(name->kind));
    kmbi_out_text_member(out, ", ", "name", name->text);
    kmbi_out_u64_member(out, ", ", "count", share->count);
    kmbi_out_u64_member(out, ", ", "total_ns", share->total);
    kmbi_out_u64_member(out, ", ", "shortest_ns", share->shortest);
    kmbi_out_u64_member(out, ", ", "longest_ns", share->longest);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_streams(kmbi_out *out, const kmb_gaps *gaps, uint64_t device,
                        uint32_t count) {
  kmb_gaps_stream s = kmb_gaps_stream_init();
  kmbi_out_key(out, ",\n   ", "streams");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < count && !out->status; i++) {
    if (kmb_gaps_get_stream(gaps, device, i, &s)) break;
    kmbi_out_u64_member(out, i ? ",\n    {" : "\n    {", "process", s.process);
    kmbi_out_u64_member(out, ", ", "context", s.context);
    kmbi_out_u64_member(out, ", ", "stream", s.stream);
    kmbi_out_u64_member(out, ", ", "ops", s.ops);
    kmbi_out_u64_member(out, ", ", "span_ns", s.span_ns);
    kmbi_out_u64_member(out, ", ", "busy_ns", s.busy_ns);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_latency(kmbi_out *out, const kmbi_latency *l) {
  if (!l->count) return;
  kmbi_out_u64_member(out, ",\n   \"launch_latency\": {", "count", l->count);
  kmbi_out_f64_member(out, ", ", "mean_ns",
                      (double)l->total / (double)l->count);
  kmbi_out_f64_member(out, ", ", "median_ns", l->median);
  kmbi_out_u64_member(out, ", ", "shortest_ns", l->shortest);
  kmbi_out_u64_member(out, ", ", "longest_ns", l->longest);
  kmbi_out_put(out, "}");
}

static void put_utilization(kmbi_out *out, const kmb_gaps *gaps,
                            const kmbi_device_gaps *d) {
  if (gaps->untraced_graphs)
    kmbi_out_text_member(out, ",\n   ", "utilization_absent",
                         "graphs were launched whose work is not in the trace");
  else
    kmbi_out_f64_member(out, ",\n   ", "utilization",
                        (double)kmbi_gaps_busy(d) / (double)kmbi_gaps_span(d));
}

static void put_device(kmbi_out *out, const kmb_gaps *gaps, uint32_t index) {
  const kmbi_device_gaps *d = kmbi_gaps_device_at(gaps, index);
  const kmbi_trace_device *device =
      kmbi_rows_at(&gaps->trace->devices, d->device);
  uint64_t span = kmbi_gaps_span(d), busy = kmbi_gaps_busy(d);
  kmbi_out_key(out, index ? ",\n  {" : "\n  {", "device");
  if (device->id == KMBI_UNKNOWN)
    kmbi_out_put(out, "null");
  else
    kmbi_out_u64(out, device->id);
  kmbi_out_text_member(out, ", ", "name",
                       kmbi_name_at(gaps->trace, device->name)->text);
  kmbi_out_u64_member(out, ",\n   ", "ops", d->ops);
  kmbi_out_u64_member(out, ", ", "first_ns", d->first);
  kmbi_out_u64_member(out, ", ", "last_ns", d->last);
  kmbi_out_u64_member(out, ",\n   ", "span_ns", span);
  kmbi_out_u64_member(out, ", ", "busy_ns", busy);
  kmbi_out_u64_member(out, ", ", "idle_ns", span - busy);
  put_utilization(out, gaps, d);
  kmbi_out_u64_member(out, ",\n   ", "gaps", d->idle.count);
  put_causes(out, gaps, &d->idle);
  put_latency(out, &d->latency);
  if (d->target.count) put_target(out, d);
  put_transitions(out, gaps, d);
  put_kinds(out, gaps, d);
  put_names(out, gaps, d);
  put_streams(out, gaps, index, d->streams);
  kmbi_out_put(out, "}");
}

static void put_findings(kmbi_out *out, const kmb_gaps *gaps) {
  kmbi_out_key(out, ",\n ", "findings");
  kmbi_out_put(out, "[");
  for (uint64_t i = 0; i < gaps->finding_count; i++) {
    const kmbi_gaps_finding *f = &gaps->findings[i];
    kmbi_out_text_member(out, i ? ",\n  {" : "\n  {", "code",
                         kmb_finding_name(f->code));
    kmbi_out_text_member(out, ", ", "severity",
                         kmbi_severity_name(f->severity));
    kmbi_out_text_member(out, ",\n   ", "message", f->message);
    kmbi_out_put(out, ",\n   \"figures\": {");
    for (uint64_t k = 0; k < f->figure_count; k++)
      kmbi_out_f64_member(out, k ? ", " : "", f->figures[k].name,
                          f->figures[k].value);
    kmbi_out_put(out, "}}");
  }
  kmbi_out_put(out, "]");
}

kmb_status kmb_gaps_write_json(const kmb_gaps *gaps, kmb_write_fn write,
                               void *user) {
  kmbi_out out;
  if (!gaps || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_gaps_write_json: %s is NULL",
                     !gaps ? "gaps" : "write");
  kmb_status status = kmbi_out_begin(&out, write, user);
  if (status) return status;
  kmbi_out_text_member(&out, "{", "schema", "kmb-gaps");
  kmbi_out_put(&out,
               ", \"version\": 1,\n \"generator\": {\"name\": \"libkmb\", "
               "\"version\": \"" KMB_VERSION "\"}");
  kmbi_out_text_member(&out, ",\n ", "format",
                       kmb_trace_format_name(gaps->trace->format));
  kmbi_out_u64_member(&out, ",\n ", "rows", gaps->trace->rows);
  kmbi_out_u64_member(&out, ", ", "invalid", gaps->trace->invalid);
  if (gaps->trace->dropped)
    kmbi_out_u64_member(&out, ", ", "dropped", gaps->trace->dropped);
  kmbi_out_u64_member(&out, ", ", "tick_ns", gaps->trace->tick);
  if (gaps->params.kernel)
    kmbi_out_text_member(&out, ",\n ", "kernel", gaps->params.kernel);
  if (gaps->params.range)
    kmbi_out_text_member(&out, ",\n ", "range", gaps->params.range);
  kmbi_out_put(&out, ",\n \"devices\": [");
  for (uint32_t i = 0; i < gaps->devices.count && !out.status; i++)
    put_device(&out, gaps, i);
  kmbi_out_put(&out, "]");
  put_findings(&out, gaps);
  kmbi_out_put(&out, "}\n");
  return kmbi_out_end(&out);
}
