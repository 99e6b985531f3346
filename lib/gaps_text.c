/* An analysis for a person. */
#include "error.h"
#include "format.h"
#include "gaps.h"
#include "utf8.h"

enum { NAME_WIDTH = 48, CELL_WIDTH = 10 };

static double share_of(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The beginning of a name, on one line. */
static void put_name(kmbi_text *to, const char *name, size_t width) {
  kmbi_text clean;
  kmbi_text_init(&clean, to->memory);
  kmbi_put_clean(&clean, name);
  const char *text = kmbi_text_get(&clean);
  if (kmbi_utf8_width(text) <= width) {
    kmbi_text_put(to, text);
  } else {
    kmbi_text_put_n(to, text, kmbi_utf8_fit(text, width - 1));
    kmbi_text_put(to, "…");
  }
  to->failed = to->failed || clean.failed;
  kmbi_text_release(&clean);
}

/* A time to the right of a cell. */
static void put_cell(kmbi_text *to, double ns) {
  char text[KMBI_TIME_SIZE];
  size_t width = kmbi_utf8_width(kmbi_time_string(text, ns));
  if (width < CELL_WIDTH) kmbi_text_repeat(to, ' ', CELL_WIDTH - width);
  kmbi_text_put(to, text);
}

static void put_sentence(kmbi_text *to, const char *mark, const char *text) {
  kmbi_text_put(to, mark);
  kmbi_put_wrapped(to, text, kmbi_utf8_width(mark), kmbi_utf8_width(mark));
  kmbi_text_put(to, "\n");
}

static void put_head(kmbi_text *to, const kmb_gaps *gaps,
                     const kmbi_device_gaps *d) {
  const kmb_trace *trace = gaps->trace;
  const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, d->device);
  const char *name = kmbi_name_at(trace, device->name)->text;
  if (device->id == KMBI_UNKNOWN)
    kmbi_text_put(to, "\nDevice of unknown number");
  else
    kmbi_text_format(to, "\nDevice %llu", (unsigned long long)device->id);
  if (*name) kmbi_text_put(to, ": ");
  put_name(to, name, 2 * (size_t)NAME_WIDTH);
  kmbi_text_put(to, "\n");
}

static void put_sums(kmbi_text *to, const kmb_gaps *gaps,
                     const kmbi_device_gaps *d) {
  uint64_t span = kmbi_gaps_span(d), busy = kmbi_gaps_busy(d);
  kmbi_text_format(to, "  %llu operation%s in ", (unsigned long long)d->ops,
                   kmbi_plural(d->ops));
  kmbi_put_time(to, (double)span);
  kmbi_text_put(to, ": busy ");
  kmbi_put_time(to, (double)busy);
  if (!gaps->untraced_graphs) {
    kmbi_text_put(to, " (");
    kmbi_put_percent(to, share_of(busy, span), 1);
    kmbi_text_put(to, ")");
  }
  kmbi_text_put(to, ", idle ");
  kmbi_put_time(to, (double)(span - busy));
  if (gaps->untraced_graphs) {
    kmbi_text_put(to, " at most; utilization is withheld");
  } else {
    kmbi_text_put(to, " (");
    kmbi_put_percent(to, share_of(span - busy, span), 1);
    kmbi_text_put(to, ")");
  }
  kmbi_text_format(to, " in %llu gap%s\n", (unsigned long long)d->idle.count,
                   kmbi_plural(d->idle.count));
}

static void put_part(kmbi_text *to, const char *name, uint64_t ns,
                     uint64_t idle, bool *first) {
  if (!ns) return;
  kmbi_text_format(to, "%s%s ", *first ? "" : ", ", name);
  kmbi_put_time(to, (double)ns);
  kmbi_text_put(to, " (");
  kmbi_put_percent(to, share_of(ns, idle), 1);
  kmbi_text_put(to, ")");
  *first = false;
}

static void put_causes(kmbi_text *to, const kmb_gaps *gaps,
                       const kmbi_idle *idle) {
  bool first = true;
  if (!idle->total || gaps->untraced_graphs) return;
  kmbi_text_put(to, "  cause of the idle time: ");
  if (!gaps->trace->calls.count) {
    kmbi_text_put(to, "unknown, the trace holds no calls of the host\n");
    return;
  }
  put_part(to, "launch", idle->launch, idle->total, &first);
  put_part(to, "synchronisation", idle->sync, idle->total, &first);
  put_part(to, "host code", idle->host, idle->total, &first);
  put_part(to, "queued", idle->queued, idle->total, &first);
  put_part(to, "unknown", idle->unknown, idle->total, &first);
  kmbi_text_put(to, "\n");
}

static void put_latency(kmbi_text *to, const kmbi_latency *l) {
  if (!l->count) return;
  kmbi_text_put(to, "  launch latency, call to start: median ");
  kmbi_put_time(to, l->median);
  kmbi_text_put(to, ", ");
  kmbi_put_time(to, (double)l->shortest);
  kmbi_text_put(to, " to ");
  kmbi_put_time(to, (double)l->longest);
  kmbi_text_format(to, ", %llu launch%s\n", (unsigned long long)l->count,
                   l->count == 1 ? "" : "es");
}

static void put_more(kmbi_text *to, uint64_t all, uint64_t shown) {
  if (all > shown)
    kmbi_text_format(to, "    and %llu more\n",
                     (unsigned long long)(all - shown));
}

static void put_names(kmbi_text *to, const kmb_gaps *gaps,
                      const kmbi_device_gaps *d) {
  uint64_t sum = 0, top = gaps->params.top;
  if (top > d->shares) top = d->shares;
  for (uint32_t i = 0; i < d->shares; i++)
    sum += kmbi_share_at(gaps, d, i)->total;
  kmbi_text_put(to, "\n  Operations by their time\n"
                    "     share      time   count      mean  name\n");
  for (uint32_t i = 0; i < top; i++) {
    const kmbi_share *share = kmbi_share_at(gaps, d, i);
    const kmbi_name *name = kmbi_name_at(gaps->trace, share->name);
    kmbi_text_format(to, "    %5.1f%%", share_of(share->total, sum));
    put_cell(to, (double)share->total);
    kmbi_text_format(to, "%8llu", (unsigned long long)share->count);
    put_cell(to, (double)share->total / (double)share->count);
    kmbi_text_put(to, "  ");
    put_name(to, name->text, NAME_WIDTH);
    kmbi_text_put(to, "\n");
  }
  put_more(to, d->shares, top);
}

static void put_transitions(kmbi_text *to, const kmb_gaps *gaps,
                            const kmbi_device_gaps *d) {
  uint64_t top = gaps->params.top;
  if (!d->transitions) return;
  if (top > d->transitions) top = d->transitions;
  kmbi_text_put(to, "\n  Idle time by transition\n"
                    "     share      idle   count      mean   longest  "
                    "from -> to\n");
  for (uint32_t i = 0; i < top; i++) {
    const kmbi_transition *t = kmbi_transition_at(gaps, d, i);
    kmbi_text_format(to, "    %5.1f%%", share_of(t->idle.total, d->idle.total));
    put_cell(to, (double)t->idle.total);
    kmbi_text_format(to, "%8llu", (unsigned long long)t->idle.count);
    put_cell(to, (double)t->idle.total / (double)t->idle.count);
    put_cell(to, (double)t->idle.longest);
    kmbi_text_put(to, "  ");
    put_name(to, kmbi_name_at(gaps->trace, t->from)->text, NAME_WIDTH / 2 + 8);
    kmbi_text_put(to, " -> ");
    put_name(to, kmbi_name_at(gaps->trace, t->to)->text, NAME_WIDTH / 2 + 8);
    kmbi_text_put(to, "\n");
  }
  put_more(to, d->transitions, top);
}

/* The same by kind alone, if there is more than one. */
static void put_kinds(kmbi_text *to, const kmb_gaps *gaps,
                      const kmbi_device_gaps *d) {
  kmbi_kind_table table;
  kmbi_gaps_by_kind(gaps, d, table);
  bool first = true;
  for (int from = 0; from < KMBI_OP_KINDS; from++) {
    for (int next = 0; next < KMBI_OP_KINDS; next++) {
      const kmbi_idle *idle = &table[from][next];
      if (!idle->count) continue;
      kmbi_text_format(to, "%s%s -> %s ", first ? "    by kind: " : ", ",
                       kmb_op_kind_name(from + 1), kmb_op_kind_name(next + 1));
      kmbi_put_percent(to, share_of(idle->total, d->idle.total), 1);
      first = false;
    }
  }
  if (!first) kmbi_text_put(to, "\n");
}

/* The target. */

static void put_idles(kmbi_text *to, const kmb_gaps *gaps,
                      const kmbi_rows *rows) {
  uint64_t top = gaps->params.top;
  if (top > rows->count) top = rows->count;
  kmbi_text_put(to, "    idle in each interval: ");
  for (uint32_t i = 0; i < top; i++) {
    const kmbi_between *row = kmbi_rows_at(rows, i);
    if (i) kmbi_text_put(to, ", ");
    kmbi_put_time(to, (double)(row->interval - row->work));
  }
  if (rows->count > top)
    kmbi_text_format(to, " and %llu more",
                     (unsigned long long)(rows->count - top));
  kmbi_text_put(to, "\n");
}

static void put_round(kmbi_text *to, const char *label, double utilization,
                      double now, double round) {
  kmbi_text_format(to, "    %-26s", label);
  kmbi_put_percent(to, 100 * utilization, 1);
  kmbi_text_put(to, ", ");
  kmbi_put_time(to, round);
  kmbi_text_put(to, " a round");
  if (round < now) {
    kmbi_text_put(to, ", ");
    kmbi_put_sig(to, now / round);
    kmbi_text_put(to, " times as fast");
  }
  kmbi_text_put(to, "\n");
}

static void put_target(kmbi_text *to, const kmb_gaps *gaps,
                       const kmbi_device_gaps *d) {
  if (!d->target.count) return;
  const kmb_gaps_target t = kmbi_target_figures(d);
  kmbi_text_put(to, "\n  Target \"");
  put_name(to, gaps->params.kernel, NAME_WIDTH);
  kmbi_text_format(to, "\": %llu launches of ", (unsigned long long)t.count);
  kmbi_put_time(to, t.mean_duration_ns);
  kmbi_text_put(to, " on average\n");
  if (!t.intervals) {
    kmbi_text_put(to, "    one launch has no interval to a next\n");
    return;
  }
  kmbi_text_put(to, "    between two launches ");
  kmbi_put_time(to, t.mean_interval_ns);
  kmbi_text_put(to, " on average; other work in it ");
  kmbi_put_time(to, t.median_work_ns);
  kmbi_text_put(to, ", of it kernels ");
  kmbi_put_time(to, t.median_kernel_work_ns);
  kmbi_text_put(to, " (medians)\n");
  put_idles(to, gaps, &d->intervals);
  double now = t.mean_duration_ns + t.mean_interval_ns;
  put_round(to, "utilization now", t.utilization, now, now);
  put_round(to, "without idle time", t.potential_utilization, now,
            t.median_duration_ns + t.median_work_ns);
  put_round(to, "and copies overlapped", t.potential_overlap, now,
            t.median_duration_ns + t.median_kernel_work_ns);
}

/* Which remedy fits. */

enum { SMALL_PERCENT = 5, LARGE_PERCENT = 25, COPIES_PERCENT = 10 };

static bool put_by_cause(kmbi_text *to, const kmbi_idle *idle) {
  static const char *const remedies[] = {
      "launch: a CUDA graph of the whole round, or fusing kernels, so that "
      "there are fewer launches",
      "synchronisation: the host waits before it launches on; drop the wait "
      "(a value that is read back, a blocking copy) or launch ahead of it",
      "host code: move the loop out of Python, or launch ahead, so that work "
      "is queued while the host computes",
      "queued: the launch had returned, so the host did not hold the device "
      "up; a CUDA graph or fusion shortens the step between kernels, unless "
      "it waits for another stream or device"};
  const uint64_t parts[] = {idle->launch, idle->sync, idle->host, idle->queued};
  bool any = false;
  for (int i = 0; i < 4; i++) {
    if (share_of(parts[i], idle->total) < LARGE_PERCENT) continue;
    put_sentence(to, "    - ", remedies[i]);
    any = true;
  }
  if (share_of(idle->unknown, idle->total) >= LARGE_PERCENT) {
    put_sentence(to, "    - ",
                 "a part has no known cause: no remedy is named for it");
    any = true;
  }
  return any;
}

/* Copies and memsets that no kernel hides. */
static void put_copies(kmbi_text *to, const kmbi_device_gaps *d) {
  uint64_t busy = kmbi_gaps_busy(d);
  uint64_t kernels = d->kernels.closed + (d->kernels.end - d->kernels.start);
  if (!kernels || share_of(busy - kernels, busy) < COPIES_PERCENT) return;
  kmbi_text_put(to, "    - copies: ");
  kmbi_put_percent(to, share_of(busy - kernels, busy), 1);
  kmbi_text_put(to, " of the busy time is copies and memsets beside which no "
                    "kernel runs; overlap\n      them from another stream, out "
                    "of pinned memory\n");
}

static void put_remedies(kmbi_text *to, const kmb_gaps *gaps,
                         const kmbi_device_gaps *d) {
  uint64_t span = kmbi_gaps_span(d);
  kmbi_text_put(to, "\n  What fits\n");
  if (gaps->untraced_graphs) {
    put_sentence(to, "    - ", "nothing can be said before graphs are traced");
    return;
  }
  if (share_of(d->idle.total, span) < SMALL_PERCENT) {
    put_sentence(to, "    - ", "little: idle time is less than 5% of the span");
  } else if (!gaps->trace->calls.count) {
    put_sentence(to, "    - ",
                 "idle time: unknown, since its cause is. A trace with calls "
                 "of the host tells launches (remedy: CUDA graph, fusion), "
                 "synchronisation (drop it) and host code (move the loop out "
                 "of Python) apart");
  } else if (!put_by_cause(to, &d->idle)) {
    put_sentence(to, "    - ", "no cause has a quarter of the idle time");
  }
  put_copies(to, d);
}

static void put_findings(kmbi_text *to, const kmb_gaps *gaps) {
  if (gaps->finding_count) kmbi_text_put(to, "\nFindings\n");
  for (uint64_t i = 0; i < gaps->finding_count; i++) {
    const kmbi_gaps_finding *f = &gaps->findings[i];
    kmbi_text line;
    kmbi_text_init(&line, to->memory);
    kmbi_text_format(&line, "%s %s: %s", kmbi_severity_name(f->severity),
                     kmb_finding_name(f->code), f->message);
    for (uint64_t k = 0; k < f->figure_count; k++)
      kmbi_text_format(&line, "%s%s %.0f", k ? ", " : " (", f->figures[k].name,
                       f->figures[k].value);
    kmbi_text_put(&line, f->figure_count ? ")" : "");
    put_sentence(to, "  ", kmbi_text_get(&line));
    to->failed = to->failed || line.failed;
    kmbi_text_release(&line);
  }
}

static void build(kmbi_text *to, const void *subject) {
  const kmb_gaps *gaps = subject;
  const kmb_trace *trace = gaps->trace;
  kmbi_text_format(to, "%s: %llu rows, %llu of them invalid\n",
                   kmb_trace_format_name(trace->format),
                   (unsigned long long)trace->rows,
                   (unsigned long long)trace->invalid);
  if (!gaps->devices.count)
    kmbi_text_put(to, trace->ops.count
                          ? "none of the operations was asked for\n"
                          : "the trace holds no operations\n");
  for (uint32_t i = 0; i < gaps->devices.count; i++) {
    const kmbi_device_gaps *d = kmbi_gaps_device_at(gaps, i);
    put_head(to, gaps, d);
    put_sums(to, gaps, d);
    put_causes(to, gaps, &d->idle);
    put_latency(to, &d->latency);
    put_names(to, gaps, d);
    put_transitions(to, gaps, d);
    put_kinds(to, gaps, d);
    put_target(to, gaps, d);
    put_remedies(to, gaps, d);
  }
  if (gaps->params.kernel && !gaps->has_target) {
    kmbi_text_put(to, "\nno kernel matches \"");
    put_name(to, gaps->params.kernel, NAME_WIDTH);
    kmbi_text_put(to, "\"\n");
  }
  put_findings(to, gaps);
}

kmb_status kmb_gaps_write_text(const kmb_gaps *gaps, kmb_write_fn write,
                               void *user) {
  if (!gaps || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_gaps_write_text: %s is NULL",
                     !gaps ? "gaps" : "write");
  return kmbi_write_plain(&gaps->memory, build, gaps, write, user);
}
