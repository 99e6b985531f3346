/* Why a device waited: what the launching thread did meanwhile. */
#include "error.h"
#include "gaps.h"

/* Where one device's gaps stand in one thread's calls. */
typedef struct place {
  uint32_t device, thread;
  uint32_t rank;
  uint32_t reserved;
} place;

static kmbi_map_key key_of_place(const void *rows, uint32_t index) {
  const place *p = kmbi_rows_at(rows, index);
  return (kmbi_map_key){p->device, p->thread, 0};
}

void kmbi_causes_init(kmbi_causes *causes, const kmb_trace *trace,
                      const kmbi_memory *memory) {
  causes->trace = trace;
  kmbi_rows_init(&causes->places, memory, sizeof(place));
  kmbi_map_init(&causes->map, memory, key_of_place, &causes->places);
}

void kmbi_causes_release(kmbi_causes *causes) {
  kmbi_map_release(&causes->map);
  kmbi_rows_release(&causes->places);
}

/* First rank of a thread's calls. */
static uint32_t first_call(const kmb_trace *trace, uint32_t thread) {
  uint32_t low = 0, high = trace->calls.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (kmbi_call_at(trace, middle)->thread < thread)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static place *place_of(kmbi_causes *causes, uint32_t device, uint32_t thread) {
  const kmbi_map_key key = {device, thread, 0};
  uint32_t index = kmbi_map_find(&causes->map, key);
  if (index != KMBI_NO_ROW) return kmbi_rows_at(&causes->places, index);
  place *p = kmbi_rows_add(&causes->places);
  if (!p) return NULL;
  *p = (place){device, thread, first_call(causes->trace, thread), 0};
  return kmbi_map_put(&causes->map, key, causes->places.count - 1) ? p : NULL;
}

static void charge(kmbi_idle *idle, kmb_call_kind kind, uint64_t length) {
  if (kind == KMB_CALL_SYNC)
    idle->sync += length;
  else if (kind == KMB_CALL_LAUNCH || kind == KMB_CALL_GRAPH_LAUNCH)
    idle->launch += length;
  else
    idle->host += length;
}

/* What a thread did from `at` to `end`. Calls within a call are part of it. */
static void walk(const kmb_trace *trace, place *p, uint64_t at, uint64_t end,
                 kmbi_idle *idle) {
  const kmbi_call *call = NULL;
  for (; p->rank < trace->calls.count; p->rank++) {
    call = kmbi_call_at(trace, p->rank);
    if (call->thread != p->thread || call->end > at) break;
  }
  for (uint32_t i = p->rank; i < trace->calls.count && at < end; i++) {
    call = kmbi_call_at(trace, i);
    if (call->thread != p->thread || call->start >= end) break;
    if (call->end <= at) continue;
    if (call->start > at) {
      idle->host += call->start - at;
      at = call->start;
    }
    uint64_t stop = call->end < end ? call->end : end;
    charge(idle, kmbi_name_at(trace, call->name)->kind, stop - at);
    at = stop;
  }
  if (at < end) idle->host += end - at;
}

bool kmbi_causes_split(kmbi_causes *causes, uint32_t device, uint64_t start,
                       uint64_t end, const kmbi_op *next, kmbi_idle *idle) {
  const kmb_trace *trace = causes->trace;
  uint32_t rank = kmbi_op_call(trace, next);
  if (rank == KMBI_NO_ROW) {
    idle->unknown += end - start;
    return true;
  }
  const kmbi_call *call = kmbi_call_at(trace, rank);
  if (call->end <= start) {
    idle->queued += end - start;
    return true;
  }
  uint64_t launch = call->start < start ? start : call->start;
  if (launch > end) launch = end;
  idle->launch += end - launch;
  if (launch == start) return true;
  place *p = place_of(causes, device, call->thread);
  if (!p) return false;
  walk(trace, p, start, launch, idle);
  return true;
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
