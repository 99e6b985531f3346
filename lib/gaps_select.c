/* What an analysis is about: the target's name, time, device, ranges; and
 * medians. */
#include "error.h"
#include "gaps.h"

#include <stdlib.h>

static kmb_status compile(const char *pattern, regex_t *regex) {
  char words[128];
  int error = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
  if (!error) return KMB_OK;
  regerror(error, regex, words, sizeof words);
  return kmbi_fail(error == REG_ESPACE ? KMB_ERR_NOMEM : KMB_ERR_INVALID,
                   "kernel \"%.80s\" is no regular expression: %s", pattern,
                   words);
}

kmb_status kmbi_gaps_match_target(kmb_gaps *gaps) {
  const kmb_trace *trace = gaps->trace;
  regex_t regex;
  if (!gaps->params.kernel) return KMB_OK;
  kmb_status status = compile(gaps->params.kernel, &regex);
  if (status) return status;
  gaps->is_target = kmbi_alloc(&gaps->memory, trace->names.count, 1);
  for (uint32_t i = 0; i < trace->names.count && gaps->is_target; i++) {
    const kmbi_name *name = kmbi_name_at(trace, i);
    if (name->kind != KMB_OP_KERNEL && name->kind != KMB_OP_GRAPH) continue;
    gaps->is_target[i] = regexec(&regex, name->text, 0, NULL, 0) == 0;
    gaps->has_target = gaps->has_target || gaps->is_target[i];
  }
  regfree(&regex);
  if (!gaps->is_target)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  return KMB_OK;
}

/* By thread and start; one that encloses another comes first. */
static int by_start(const void *a, const void *b) {
  const kmbi_window *x = a, *y = b;
  if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->end > y->end ? -1 : x->end < y->end;
}

/* Ranges of that name within another of it are part of it. */
static uint32_t merge(kmbi_window *windows, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    kmbi_window *last = kept ? &windows[kept - 1] : NULL;
    if (last && last->thread == windows[i].thread &&
        windows[i].start < last->end) {
      if (windows[i].end > last->end) last->end = windows[i].end;
    } else {
      windows[kept++] = windows[i];
    }
  }
  return kept;
}

static bool is_named(const kmb_trace *trace, const kmbi_range *range,
                     const char *name) {
  return strcmp(kmbi_name_at(trace, range->name)->text, name) == 0;
}

kmb_status kmbi_gaps_find_windows(kmb_gaps *gaps) {
  const kmb_trace *trace = gaps->trace;
  const char *name = gaps->params.range;
  uint32_t count = 0, filled = 0;
  if (!name) return KMB_OK;
  for (uint32_t i = 0; i < trace->ranges.count; i++)
    count += is_named(trace, kmbi_range_at(trace, i), name);
  if (!count)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the trace has no range \"%.100s\"; it has %u in all",
                     name, (unsigned)trace->ranges.count);
  kmbi_window *windows = kmbi_alloc(&gaps->memory, count, sizeof *windows);
  if (!windows) return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  for (uint32_t i = 0; i < trace->ranges.count; i++) {
    const kmbi_range *range = kmbi_range_at(trace, i);
    if (!is_named(trace, range, name)) continue;
    /* Where calls are known, a range is about its own thread's. */
    windows[filled++] = (kmbi_window){
        range->start, range->end, trace->calls.count ? range->thread : 0, 0};
  }
  gaps->windows = windows;
  gaps->window_count = count;
  qsort(windows, count, sizeof *windows, by_start);
  filled = merge(windows, count);
  /* What is behind the last takes no part in the search. */
  for (uint32_t i = filled; i < count; i++)
    windows[i] = (kmbi_window){UINT64_MAX, UINT64_MAX, UINT32_MAX, 0};
  return KMB_OK;
}

static uint32_t window_at(const kmb_gaps *gaps, uint32_t thread,
                          uint64_t time) {
  uint32_t low = 0, high = gaps->window_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const kmbi_window *w = &gaps->windows[middle];
    if (w->thread < thread || (w->thread == thread && w->start <= time))
      low = middle + 1;
    else
      high = middle;
  }
  if (!low) return 0;
  const kmbi_window *w = &gaps->windows[low - 1];
  return w->thread == thread && time < w->end ? low : 0;
}

static bool in_time(const kmb_gaps_params *params, uint64_t time) {
  return !((params->flags & KMB_GAPS_FROM) && time < params->from_ns) &&
         !((params->flags & KMB_GAPS_TO) && time >= params->to_ns);
}

uint32_t kmbi_gaps_call_window(const kmb_gaps *gaps, const kmbi_call *call) {
  if (!in_time(&gaps->params, call->start)) return 0;
  return gaps->windows ? window_at(gaps, call->thread, call->start) : 1;
}

uint32_t kmbi_gaps_window(const kmb_gaps *gaps, const kmbi_op *op) {
  const kmb_trace *trace = gaps->trace;
  const kmb_gaps_params *params = &gaps->params;
  if (!in_time(params, op->start)) return 0;
  if (params->flags & KMB_GAPS_DEVICE) {
    const kmbi_lane *lane = kmbi_lane_at(trace, op->lane);
    const kmbi_trace_device *device =
        kmbi_rows_at(&trace->devices, lane->device);
    if (device->id != params->device) return 0;
  }
  if (!gaps->windows) return 1;
  if (!trace->calls.count) return window_at(gaps, 0, op->start);
  uint32_t rank = kmbi_op_call(trace, op);
  if (rank == KMBI_NO_ROW) return 0;
  const kmbi_call *call = kmbi_call_at(trace, rank);
  return window_at(gaps, call->thread, call->start);
}

/* Medians. */

static uint64_t largest(const kmbi_values *values, uint64_t *count) {
  uint64_t most = 0, value = 0;
  *count = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    if (!values->get(values->user, i, &value)) continue;
    ++*count;
    if (value > most) most = value;
  }
  return most;
}

/* The k-th smallest, counted from 0, byte by byte from the top. */
static uint64_t nth(const kmbi_values *values, uint64_t most, uint64_t k) {
  uint64_t prefix = 0, value = 0;
  int shift = 56;
  while (shift > 0 && !(most >> shift))
    shift -= 8;
  for (; shift >= 0; shift -= 8) {
    uint64_t buckets[256] = {0};
    unsigned bucket = 0;
    for (uint32_t i = 0; i < values->count; i++) {
      if (values->get(values->user, i, &value) && value >> shift >> 8 == prefix)
        buckets[value >> shift & 0xFF]++;
    }
    while (k >= buckets[bucket])
      k -= buckets[bucket++];
    prefix = prefix << 8 | bucket;
  }
  return prefix;
}

/* The value that follows the k-th, which is `low`, in order. */
static uint64_t after(const kmbi_values *values, uint64_t low, uint64_t k) {
  uint64_t up_to = 0, next = UINT64_MAX, value = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    if (!values->get(values->user, i, &value)) continue;
    if (value <= low)
      up_to++;
    else if (value < next)
      next = value;
  }
  return up_to > k + 1 ? low : next;
}

double kmbi_median_of(const kmbi_values *values) {
  uint64_t count = 0, most = largest(values, &count);
  if (!count) return 0;
  uint64_t k = (count - 1) / 2, low = nth(values, most, k);
  if (count % 2) return (double)low;
  return ((double)low + (double)after(values, low, k)) / 2;
}
