/* An analysis as JSON. */
#include "error.h"
#include "format.h"
#include "gaps.h"
#include "out.h"

static void key(kmbi_out *out, const char *before, const char *name) {
  kmbi_out_put(out, before);
  kmbi_out_string(out, name);
  kmbi_out_put(out, ": ");
}

static void put_u64(kmbi_out *out, const char *before, const char *name,
                    uint64_t value) {
  key(out, before, name);
  kmbi_out_u64(out, value);
}

static void put_f64(kmbi_out *out, const char *before, const char *name,
                    double value) {
  key(out, before, name);
  kmbi_out_f64(out, value);
}

static void put_text(kmbi_out *out, const char *before, const char *name,
                     const char *text) {
  key(out, before, name);
  kmbi_out_string(out, text);
}

static void put_causes(kmbi_out *out, const kmb_gaps *gaps,
                       const kmbi_idle *idle) {
  if (!gaps->trace->calls.count) return;
  put_u64(out, ", ", "launch_ns", idle->launch);
  put_u64(out, ", ", "sync_ns", idle->sync);
  put_u64(out, ", ", "host_ns", idle->host);
  put_u64(out, ", ", "queued_ns", idle->queued);
  put_u64(out, ", ", "unknown_ns", idle->unknown);
}

static void put_intervals(kmbi_out *out, const kmbi_rows *rows) {
  key(out, ",\n    ", "intervals");
  for (uint32_t i = 0; i < rows->count && !out->status; i++) {
    const kmbi_interval *row = kmbi_rows_at(rows, i);
    put_u64(out, i ? ",\n     {" : "[\n     {", "interval_ns", row->interval);
    put_u64(out, ", ", "work_ns", row->work);
    put_u64(out, ", ", "kernel_work_ns", row->kernel_work);
    put_u64(out, ", ", "idle_ns", row->interval - row->work);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, rows->count ? "]" : "[]");
}

static void put_target(kmbi_out *out, const kmbi_device_gaps *d) {
  const kmb_gaps_target t = kmbi_target_figures(d);
  put_u64(out, ",\n   \"target\": {", "count", t.count);
  put_f64(out, ",\n    ", "mean_duration_ns", t.mean_duration_ns);
  put_f64(out, ",\n    ", "median_duration_ns", t.median_duration_ns);
  if (t.intervals) {
    put_f64(out, ",\n    ", "mean_interval_ns", t.mean_interval_ns);
    put_f64(out, ",\n    ", "median_work_ns", t.median_work_ns);
    put_f64(out, ",\n    ", "median_kernel_work_ns", t.median_kernel_work_ns);
    put_f64(out, ",\n    ", "utilization", t.utilization);
    put_f64(out, ",\n    ", "potential_utilization", t.potential_utilization);
    put_f64(out, ",\n    ", "potential_overlap", t.potential_overlap);
  } else {
    put_text(out, ",\n    ", "utilization_absent",
             "one launch has no interval to a next");
  }
  put_intervals(out, &d->intervals);
  kmbi_out_put(out, "}");
}

static void put_transitions(kmbi_out *out, const kmb_gaps *gaps,
                            const kmbi_device_gaps *d) {
  key(out, ",\n   ", "transitions");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < d->transitions && !out->status; i++) {
    const kmbi_transition *t = kmbi_transition_at(gaps, d, i);
    const kmbi_name *from = kmbi_name_at(gaps->trace, t->from);
    const kmbi_name *to = kmbi_name_at(gaps->trace, t->to);
    put_text(out, i ? ",\n    {" : "\n    {", "from_kind",
             kmb_op_kind_name(from->kind));
    put_text(out, ", ", "from", from->text);
    put_text(out, ", ", "to_kind", kmb_op_kind_name(to->kind));
    put_text(out, ", ", "to", to->text);
    put_u64(out, ",\n     ", "count", t->idle.count);
    put_u64(out, ", ", "idle_ns", t->idle.total);
    put_u64(out, ", ", "longest_ns", t->idle.longest);
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
  key(out, ",\n   ", "kind_transitions");
  kmbi_out_put(out, "[");
  for (int i = 0; i < KMBI_OP_KINDS * KMBI_OP_KINDS; i++) {
    const kmbi_idle *idle = &table[i / KMBI_OP_KINDS][i % KMBI_OP_KINDS];
    if (!idle->count) continue;
    put_text(out, first ? "\n    {" : ",\n    {", "from",
             kmb_op_kind_name(i / KMBI_OP_KINDS + 1));
    put_text(out, ", ", "to", kmb_op_kind_name(i % KMBI_OP_KINDS + 1));
    put_u64(out, ", ", "count", idle->count);
    put_u64(out, ", ", "idle_ns", idle->total);
    put_u64(out, ", ", "longest_ns", idle->longest);
    put_causes(out, gaps, idle);
    kmbi_out_put(out, "}");
    first = false;
  }
  kmbi_out_put(out, "]");
}

static void put_names(kmbi_out *out, const kmb_gaps *gaps,
                      const kmbi_device_gaps *d) {
  key(out, ",\n   ", "names");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < d->shares && !out->status; i++) {
    const kmbi_share *share = kmbi_share_at(gaps, d, i);
    const kmbi_name *name = kmbi_name_at(gaps->trace, share->name);
    put_text(out, i ? ",\n    {" : "\n    {", "kind",
             kmb_op_kind_name(name->kind));
    put_text(out, ", ", "name", name->text);
    put_u64(out, ", ", "count", share->count);
    put_u64(out, ", ", "total_ns", share->total);
    put_u64(out, ", ", "shortest_ns", share->shortest);
    put_u64(out, ", ", "longest_ns", share->longest);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_streams(kmbi_out *out, const kmb_gaps *gaps, uint64_t device,
                        uint32_t count) {
  kmb_gaps_stream s = kmb_gaps_stream_init();
  key(out, ",\n   ", "streams");
  kmbi_out_put(out, "[");
  for (uint32_t i = 0; i < count && !out->status; i++) {
    if (kmb_gaps_get_stream(gaps, device, i, &s)) break;
    put_u64(out, i ? ",\n    {" : "\n    {", "process", s.process);
    put_u64(out, ", ", "context", s.context);
    put_u64(out, ", ", "stream", s.stream);
    put_u64(out, ", ", "ops", s.ops);
    put_u64(out, ", ", "span_ns", s.span_ns);
    put_u64(out, ", ", "busy_ns", s.busy_ns);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_latency(kmbi_out *out, const kmbi_latency *l) {
  if (!l->count) return;
  put_u64(out, ",\n   \"launch_latency\": {", "count", l->count);
  put_f64(out, ", ", "mean_ns", (double)l->total / (double)l->count);
  put_f64(out, ", ", "median_ns", l->median);
  put_u64(out, ", ", "shortest_ns", l->shortest);
  put_u64(out, ", ", "longest_ns", l->longest);
  kmbi_out_put(out, "}");
}

static void put_utilization(kmbi_out *out, const kmb_gaps *gaps,
                            const kmbi_device_gaps *d) {
  if (gaps->untraced_graphs)
    put_text(out, ",\n   ", "utilization_absent",
             "graphs were launched whose work is not in the trace");
  else
    put_f64(out, ",\n   ", "utilization",
            (double)kmbi_gaps_busy(d) / (double)kmbi_gaps_span(d));
}

static void put_device(kmbi_out *out, const kmb_gaps *gaps, uint32_t index) {
  const kmbi_device_gaps *d = kmbi_gaps_device_at(gaps, index);
  const kmbi_trace_device *device =
      kmbi_rows_at(&gaps->trace->devices, d->device);
  uint64_t span = kmbi_gaps_span(d), busy = kmbi_gaps_busy(d);
  key(out, index ? ",\n  {" : "\n  {", "device");
  if (device->id == KMBI_UNKNOWN)
    kmbi_out_put(out, "null");
  else
    kmbi_out_u64(out, device->id);
  put_text(out, ", ", "name", kmbi_name_at(gaps->trace, device->name)->text);
  put_u64(out, ",\n   ", "ops", d->ops);
  put_u64(out, ", ", "first_ns", d->first);
  put_u64(out, ", ", "last_ns", d->last);
  put_u64(out, ",\n   ", "span_ns", span);
  put_u64(out, ", ", "busy_ns", busy);
  put_u64(out, ", ", "idle_ns", span - busy);
  put_utilization(out, gaps, d);
  put_u64(out, ",\n   ", "gaps", d->idle.count);
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
  key(out, ",\n ", "findings");
  kmbi_out_put(out, "[");
  for (uint64_t i = 0; i < gaps->finding_count; i++) {
    const kmbi_gaps_finding *f = &gaps->findings[i];
    put_text(out, i ? ",\n  {" : "\n  {", "code", kmb_finding_name(f->code));
    put_text(out, ", ", "severity", kmbi_severity_name(f->severity));
    put_text(out, ",\n   ", "message", f->message);
    kmbi_out_put(out, ",\n   \"figures\": {");
    for (uint64_t k = 0; k < f->figure_count; k++)
      put_f64(out, k ? ", " : "", f->figures[k].name, f->figures[k].value);
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
  put_text(&out, "{", "schema", "kmb-gaps");
  kmbi_out_put(&out,
               ", \"version\": 1,\n \"generator\": {\"name\": \"libkmb\", "
               "\"version\": \"" KMB_VERSION "\"}");
  put_text(&out, ",\n ", "format", kmb_trace_format_name(gaps->trace->format));
  put_u64(&out, ",\n ", "rows", gaps->trace->rows);
  put_u64(&out, ", ", "invalid", gaps->trace->invalid);
  if (gaps->trace->dropped)
    put_u64(&out, ", ", "dropped", gaps->trace->dropped);
  put_u64(&out, ", ", "tick_ns", gaps->trace->tick);
  if (gaps->params.kernel)
    put_text(&out, ",\n ", "kernel", gaps->params.kernel);
  if (gaps->params.range) put_text(&out, ",\n ", "range", gaps->params.range);
  kmbi_out_put(&out, ",\n \"devices\": [");
  for (uint32_t i = 0; i < gaps->devices.count && !out.status; i++)
    put_device(&out, gaps, i);
  kmbi_out_put(&out, "]");
  put_findings(&out, gaps);
  kmbi_out_put(&out, "}\n");
  return kmbi_out_end(&out);
}
