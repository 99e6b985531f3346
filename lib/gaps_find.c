/* Reasons to doubt an analysis. */
#include "error.h"
#include "gaps.h"

static kmbi_gaps_finding *find(kmb_gaps *gaps, kmb_finding_code code,
                               kmb_severity severity, const char *message) {
  kmbi_gaps_finding *finding = &gaps->findings[gaps->finding_count++];
  *finding = (kmbi_gaps_finding){
      .message = message, .code = code, .severity = severity};
  return finding;
}

static void figure(kmbi_gaps_finding *finding, const char *name,
                   uint64_t value) {
  finding->figures[finding->figure_count++] = (kmb_figure){name, (double)value};
}

static uint64_t graph_spans(const kmb_gaps *gaps) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < gaps->shares.count; i++) {
    const kmbi_share *share = kmbi_rows_at(&gaps->shares, i);
    if (kmbi_name_at(gaps->trace, share->name)->kind == KMB_OP_GRAPH)
      count += share->count;
  }
  return count;
}

static void find_graphs(kmb_gaps *gaps) {
  if (gaps->untraced_graphs)
    figure(find(gaps, KMB_FINDING_GRAPHS_NOT_TRACED, KMB_DOUBT,
                "graphs were launched whose work is not in the trace: the "
                "device was busier than it shows, so utilization is withheld; "
                "record with nsys profile --cuda-graph-trace=node"),
           "graph_launches", gaps->untraced_graphs);
  uint64_t spans = graph_spans(gaps);
  if (spans)
    figure(find(gaps, KMB_FINDING_GRAPHS_AS_SPANS, KMB_WARNING,
                "graphs were traced as a whole: their kernels, and gaps "
                "between them, are not seen; record with nsys profile "
                "--cuda-graph-trace=node"),
           "graph_spans", spans);
}

static void find_causes(kmb_gaps *gaps) {
  uint64_t idle = 0, unknown = 0;
  for (uint32_t i = 0; i < gaps->devices.count; i++) {
    const kmbi_device_gaps *d = kmbi_gaps_device_at(gaps, i);
    idle += d->idle.total;
    unknown += d->idle.unknown;
  }
  if (!idle || unknown * 10 <= idle) return;
  const char *message =
      "idle time has no known cause: the operations after it are tied to no "
      "call of the host";
  if (gaps->trace->format == KMB_TRACE_NSYS_CSV)
    message = "idle time has no known cause: a CSV holds no calls of the host, "
              "and graphs that were traced as a whole are not in it either; "
              "load the SQLite export of the same report";
  else if (gaps->trace->format == KMB_TRACE_ROCPROF_CSV)
    message = "idle time has no known cause: this CSV holds no calls of the "
              "host, and copies are in a file of their own";
  kmbi_gaps_finding *finding =
      find(gaps, KMB_FINDING_CAUSE_UNKNOWN, KMB_NOTE, message);
  figure(finding, "unknown_ns", unknown);
  figure(finding, "idle_ns", idle);
}

kmb_status kmbi_gaps_findings(kmb_gaps *gaps) {
  const kmb_trace *trace = gaps->trace;
  find_graphs(gaps);
  if (trace->invalid) {
    kmbi_gaps_finding *finding =
        find(gaps, KMB_FINDING_INVALID_TIMESTAMPS, KMB_WARNING,
             "operations with start 0, without a positive length, or with an "
             "end after 2^63 - 1 ns were left out");
    figure(finding, "invalid", trace->invalid);
    figure(finding, "rows", trace->rows);
  }
  if (trace->dropped)
    figure(find(gaps, KMB_FINDING_RECORDS_DROPPED, KMB_DOUBT,
                "records were lost while recording: operations may be missing, "
                "and with them busy time; record a shorter time, or with a "
                "larger row_limit"),
           "dropped", trace->dropped);
  if (trace->tick > 1)
    figure(find(gaps, KMB_FINDING_RESOLUTION, KMB_WARNING,
                "starts are rounded: gaps that are not much longer than this "
                "step mean nothing"),
           "tick_ns", trace->tick);
  for (uint32_t i = 0; i < gaps->devices.count; i++) {
    const kmbi_trace_device *device =
        kmbi_rows_at(&trace->devices, kmbi_gaps_device_at(gaps, i)->device);
    if (device->id != KMBI_UNKNOWN) continue;
    find(gaps, KMB_FINDING_UNKNOWN_DEVICE, KMB_WARNING,
         "the trace does not say on which device operations ran: they are "
         "taken for those of one");
    break;
  }
  find_causes(gaps);
  return KMB_OK;
}
