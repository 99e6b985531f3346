/* Why a device waited: what the launching thread did meanwhile. */
#include "error.h"
#include "gaps.h"

/* The stretches of one thread's calls from `rank` on; returns the rank behind
 * them. The calls are in the order of their starts, so that one that ends no
 * later than one before it lies within what is covered already. */
static uint32_t lay_out(kmbi_causes *causes, uint32_t rank, uint32_t thread,
                        uint32_t *count) {
  const kmb_trace *trace = causes->trace;
  kmbi_stretch last = {0};
  for (; rank < trace->calls.count; rank++) {
    const kmbi_call *call = kmbi_call_at(trace, rank);
    if (call->thread != thread) break;
    if (call->end <= last.end) continue;
    kmb_call_kind kind = kmbi_name_at(trace, call->name)->kind;
    last.start = call->start > last.end ? call->start : last.end;
    last.end = call->end;
    if (kind == KMB_CALL_SYNC)
      last.sync += last.end - last.start;
    else if (kind == KMB_CALL_LAUNCH || kind == KMB_CALL_GRAPH_LAUNCH)
      last.launch += last.end - last.start;
    causes->stretches[(*count)++] = last;
  }
  return rank;
}

bool kmbi_causes_init(kmbi_causes *causes, const kmb_trace *trace,
                      const kmbi_memory *memory) {
  uint32_t calls = trace->calls.count, threads = trace->threads.count;
  *causes = (kmbi_causes){.trace = trace, .memory = memory};
  if (!calls) return true;
  causes->stretches = kmbi_alloc(memory, calls, sizeof *causes->stretches);
  causes->first = kmbi_alloc(memory, (size_t)threads + 1, sizeof(uint32_t));
  causes->hint = kmbi_alloc(memory, threads, sizeof(uint32_t));
  if (!causes->stretches || !causes->first || !causes->hint) return false;
  uint32_t rank = 0, count = 0;
  for (uint32_t i = 0; i < threads; i++) {
    causes->first[i] = causes->hint[i] = count;
    rank = lay_out(causes, rank, i, &count);
  }
  causes->first[threads] = count;
  return true;
}

void kmbi_causes_release(kmbi_causes *causes) {
  const kmb_trace *trace = causes->trace;
  kmbi_free(causes->memory, causes->stretches, trace->calls.count,
            sizeof *causes->stretches);
  kmbi_free(causes->memory, causes->first, (size_t)trace->threads.count + 1,
            sizeof(uint32_t));
  kmbi_free(causes->memory, causes->hint, trace->threads.count,
            sizeof(uint32_t));
}

/* The first stretch of a thread that ends after `time`, or the index behind its
 * last. Gaps come about in order: the search widens from what was found last.
 */
static uint32_t stretch_at(kmbi_causes *causes, uint32_t thread,
                           uint64_t time) {
  const kmbi_stretch *all = causes->stretches;
  uint32_t low = causes->first[thread], high = causes->first[thread + 1];
  uint32_t at = causes->hint[thread];
  uint64_t step = 1;
  if (at < high && all[at].end <= time) {
    for (low = at + 1; high - at > step && all[at + step].end <= time;
         step *= 2)
      low = (uint32_t)(at + step + 1);
    if (high - at > step) high = (uint32_t)(at + step);
  } else {
    for (high = at; at - low >= step && all[at - step].end > time; step *= 2)
      high = (uint32_t)(at - step);
    if (at - low >= step) low = (uint32_t)(at - step + 1);
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (all[middle].end <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return causes->hint[thread] = low;
}

/* Lengths of the thread's synchronisations and launches up to `time`, of which
 * the stretch `at` is the first that ends after it. */
static void lengths_to(const kmbi_causes *causes, uint32_t thread, uint32_t at,
                       uint64_t time, uint64_t *sync, uint64_t *launch) {
  static const kmbi_stretch none = {0};
  const kmbi_stretch *before =
      at > causes->first[thread] ? &causes->stretches[at - 1] : &none;
  *sync = before->sync;
  *launch = before->launch;
  if (at == causes->first[thread + 1]) return;
  const kmbi_stretch *s = &causes->stretches[at];
  if (time <= s->start) return;
  *sync += s->sync > before->sync ? time - s->start : 0;
  *launch += s->launch > before->launch ? time - s->start : 0;
}

/* What a thread did in [start, end); what is neither synchronisation nor launch
 * is the host's own. */
static void charge(kmbi_causes *causes, uint32_t thread, uint64_t start,
                   uint64_t end, kmbi_idle *idle) {
  uint64_t sync[2], launch[2];
  lengths_to(causes, thread, stretch_at(causes, thread, start), start, &sync[0],
             &launch[0]);
  lengths_to(causes, thread, stretch_at(causes, thread, end), end, &sync[1],
             &launch[1]);
  idle->sync += sync[1] - sync[0];
  idle->launch += launch[1] - launch[0];
  idle->host += end - start - (sync[1] - sync[0]) - (launch[1] - launch[0]);
}

void kmbi_causes_split(kmbi_causes *causes, uint64_t start, uint64_t end,
                       const kmbi_op *next, kmbi_idle *idle) {
  const kmb_trace *trace = causes->trace;
  uint32_t rank = kmbi_op_call(trace, next);
  if (rank == KMBI_NO_ROW) {
    idle->unknown += end - start;
    return;
  }
  const kmbi_call *call = kmbi_call_at(trace, rank);
  if (call->end <= start) {
    idle->queued += end - start;
    return;
  }
  uint64_t launch = call->start < start ? start : call->start;
  if (launch > end) launch = end;
  idle->launch += end - launch;
  if (launch > start) charge(causes, call->thread, start, launch, idle);
}

/* Calls that caused operations, as bits. */
typedef struct calls_seen {
  unsigned char *bits;
  size_t size;
} calls_seen;

static bool see(calls_seen *seen, uint32_t rank) {
  unsigned char bit = (unsigned char)(1u << (rank & 7u));
  bool first = !(seen->bits[rank >> 3] & bit);
  seen->bits[rank >> 3] |= bit;
  return first;
}

static void forget(calls_seen *seen, uint32_t rank) {
  seen->bits[rank >> 3] &= (unsigned char)~(1u << (rank & 7u));
}

static bool is_seen(const calls_seen *seen, uint32_t rank) {
  return seen->bits[rank >> 3] >> (rank & 7u) & 1u;
}

static kmb_status see_nothing(const kmb_gaps *gaps, calls_seen *seen) {
  seen->size = (size_t)gaps->trace->calls.count / 8 + 1;
  seen->bits = kmbi_alloc(&gaps->memory, seen->size, 1);
  if (!seen->bits)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  return KMB_OK;
}

static bool is_graph_launch(const kmb_trace *trace, const kmbi_call *call) {
  return kmbi_name_at(trace, call->name)->kind == KMB_CALL_GRAPH_LAUNCH;
}

/* A launch through the runtime and the driver's call within it are one. */
static uint64_t count_unseen(const kmb_gaps *gaps, const calls_seen *seen) {
  const kmb_trace *trace = gaps->trace;
  const kmbi_call *outer = NULL;
  uint64_t count = 0;
  bool outer_seen = false;
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    const kmbi_call *call = kmbi_call_at(trace, i);
    if (!is_graph_launch(trace, call) || !kmbi_gaps_call_window(gaps, call))
      continue;
    bool within =
        outer && outer->thread == call->thread && call->end <= outer->end;
    if (!within) {
      count += outer && !outer_seen;
      outer = call;
      outer_seen = false;
    }
    outer_seen = outer_seen || is_seen(seen, i);
  }
  return count + (outer && !outer_seen);
}

kmb_status kmbi_count_untraced_graphs(kmb_gaps *gaps) {
  const kmb_trace *trace = gaps->trace;
  calls_seen seen = {0};
  if (!trace->calls.count) return KMB_OK;
  kmb_status status = see_nothing(gaps, &seen);
  if (status) return status;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    uint32_t rank = kmbi_op_call(trace, kmbi_op_at(trace, i));
    if (rank != KMBI_NO_ROW) see(&seen, rank);
  }
  gaps->untraced_graphs = count_unseen(gaps, &seen);
  kmbi_free(&gaps->memory, seen.bits, seen.size, 1);
  return KMB_OK;
}

/* Launch latency. */

static bool latency_at(const void *user, uint32_t index, uint64_t *value) {
  *value = *(const uint64_t *)kmbi_rows_at(user, index);
  return true;
}

/* Of the operations of one device, the first of each call. */
static kmb_status device_latency(const kmb_gaps *gaps, kmbi_device_gaps *d,
                                 calls_seen *seen, kmbi_rows *rows) {
  const kmb_trace *trace = gaps->trace;
  kmbi_latency *l = &d->latency;
  for (uint32_t i = 0; i < d->all_ops; i++) {
    const kmbi_op *op = kmbi_gaps_op_of(gaps, d, i);
    if (!kmbi_gaps_window(gaps, op)) continue;
    uint32_t rank = kmbi_op_call(trace, op);
    if (rank == KMBI_NO_ROW || !see(seen, rank)) continue;
    uint64_t start = kmbi_call_at(trace, rank)->start;
    if (op->start < start) continue;
    uint64_t *row = kmbi_rows_add(rows);
    if (!row) return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
    *row = op->start - start;
    if (!l->count++ || *row < l->shortest) l->shortest = *row;
    if (*row > l->longest) l->longest = *row;
    if (!kmbi_add(l->total, *row, &l->total))
      return kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "launch latencies add up to more than 64 bits of "
                       "nanoseconds; the trace's times cannot be right");
  }
  const kmbi_values values = {latency_at, rows, rows->count};
  l->median = kmbi_median_of(&values);
  return KMB_OK;
}

/* What one device has seen is not seen by the next. */
static void forget_all(const kmb_gaps *gaps, const kmbi_device_gaps *d,
                       calls_seen *seen) {
  for (uint32_t i = 0; i < d->all_ops; i++) {
    uint32_t rank = kmbi_op_call(gaps->trace, kmbi_gaps_op_of(gaps, d, i));
    if (rank != KMBI_NO_ROW) forget(seen, rank);
  }
}

kmb_status kmbi_gaps_latencies(kmb_gaps *gaps) {
  calls_seen seen = {0};
  if (!gaps->trace->calls.count) return KMB_OK;
  kmb_status status = see_nothing(gaps, &seen);
  if (status) return status;
  for (uint32_t i = 0; i < gaps->devices.count && !status; i++) {
    kmbi_device_gaps *d = kmbi_rows_at(&gaps->devices, i);
    kmbi_rows rows;
    kmbi_rows_init(&rows, &gaps->memory, sizeof(uint64_t));
    status = device_latency(gaps, d, &seen, &rows);
    kmbi_rows_release(&rows);
    if (i + 1 < gaps->devices.count) forget_all(gaps, d, &seen);
  }
  kmbi_free(&gaps->memory, seen.bits, seen.size, 1);
  return status;
}
