/* The analysis: one sweep over the operations in the order of their starts. */
#include "gaps.h"

#include "error.h"
#include "structs.h"
#include "utf8.h"

#include <stdlib.h>

typedef struct sweep {
  kmb_gaps *gaps;
  const kmb_trace *trace;
  kmbi_map transitions, shares, streams;
  /* Programs loop: the row of a name that was used last is mostly right. */
  uint32_t *transition_hints, *share_hints;
  uint32_t stream_hint;
  kmbi_causes causes;
  bool overflow; /* a sum does not fit into 64 bits */
} sweep;

static void add(sweep *s, uint64_t *sum, uint64_t more) {
  if (!kmbi_add(*sum, more, sum)) s->overflow = true;
}

/* Unions. */

/* True if [start, end) begins a new part. */
static bool join(kmbi_union *u, uint64_t start, uint64_t end) {
  if (u->start && start <= u->end) {
    if (end > u->end) u->end = end;
    return false;
  }
  u->closed += u->end - u->start;
  u->start = start;
  u->end = end;
  return true;
}

/* Length up to `time`, which is not before the last part's start. */
static uint64_t length_to(const kmbi_union *u, uint64_t time) {
  return u->closed + (time < u->end ? time : u->end) - u->start;
}

/* Keys of the lists. */

static kmbi_map_key key_of_transition(const void *rows, uint32_t index) {
  const kmbi_transition *t = kmbi_rows_at(rows, index);
  return (kmbi_map_key){t->device, t->from, t->to};
}

static kmbi_map_key key_of_share(const void *rows, uint32_t index) {
  const kmbi_share *s = kmbi_rows_at(rows, index);
  return (kmbi_map_key){s->device, s->name, 0};
}

static kmbi_map_key key_of_stream(const void *rows, uint32_t index) {
  const kmbi_stream *s = kmbi_rows_at(rows, index);
  return (kmbi_map_key){s->lane, 0, 0};
}

static bool is_key(kmbi_map_key a, kmbi_map_key b) {
  return a.a == b.a && a.b == b.b && a.c == b.c;
}

/* The row of a key, a new one if there is none; NULL without memory. */
static void *row_of(kmbi_rows *rows, kmbi_map *map, kmbi_map_key key,
                    uint32_t *hint, bool *is_new) {
  *is_new = false;
  if (*hint < rows->count && is_key(map->key_of(rows, *hint), key))
    return kmbi_rows_at(rows, *hint);
  uint32_t index = kmbi_map_find(map, key);
  *is_new = index == KMBI_NO_ROW;
  void *row = *is_new ? kmbi_rows_add(rows) : kmbi_rows_at(rows, index);
  if (*is_new && row) {
    index = rows->count - 1;
    if (!kmbi_map_put(map, key, index)) row = NULL;
  }
  *hint = index;
  return row;
}

static kmbi_device_gaps *device_of(sweep *s, uint32_t device) {
  kmb_gaps *gaps = s->gaps;
  uint32_t row = gaps->device_rows[device];
  if (row != KMBI_NO_ROW) return kmbi_rows_at(&gaps->devices, row);
  kmbi_device_gaps *d = kmbi_rows_add(&gaps->devices);
  if (!d) return NULL;
  d->device = device;
  kmbi_rows_init(&d->intervals, &gaps->memory, sizeof(kmbi_interval));
  gaps->device_rows[device] = gaps->devices.count - 1;
  return d;
}

/* One operation. */

static bool put_gap(sweep *s, kmbi_device_gaps *d, const kmbi_op *op) {
  uint64_t start = d->busy.end, length = op->start - start;
  kmbi_idle idle = {.count = 1, .total = length, .longest = length};
  const kmbi_map_key key = {d->device, d->last_name, op->name};
  bool is_new = false;
  if (!kmbi_causes_split(&s->causes, d->device, start, op->start, op, &idle))
    return false;
  kmbi_transition *t = row_of(&s->gaps->transitions, &s->transitions, key,
                              &s->transition_hints[op->name], &is_new);
  if (!t) return false;
  t->device = d->device;
  t->from = d->last_name;
  t->to = op->name;
  kmbi_idle_add(&t->idle, &idle);
  kmbi_idle_add(&d->idle, &idle);
  return true;
}

static bool put_share(sweep *s, const kmbi_device_gaps *d, const kmbi_op *op) {
  const kmbi_map_key key = {d->device, op->name, 0};
  uint64_t length = op->end - op->start;
  bool is_new = false;
  kmbi_share *share = row_of(&s->gaps->shares, &s->shares, key,
                             &s->share_hints[op->name], &is_new);
  if (!share) return false;
  share->device = d->device;
  share->name = op->name;
  share->count++;
  add(s, &share->total, length);
  if (is_new || length < share->shortest) share->shortest = length;
  if (length > share->longest) share->longest = length;
  return true;
}

static bool put_stream(sweep *s, const kmbi_device_gaps *d, const kmbi_op *op) {
  const kmbi_map_key key = {op->lane, 0, 0};
  bool is_new = false;
  kmbi_stream *stream =
      row_of(&s->gaps->streams, &s->streams, key, &s->stream_hint, &is_new);
  if (!stream) return false;
  stream->device = d->device;
  stream->lane = op->lane;
  stream->ops++;
  if (is_new) stream->first = op->start;
  join(&stream->busy, op->start, op->end);
  return true;
}

/* A launch of the target, before it is part of the unions: what lies between it
 * and the launch before. That launch and this one do not reach into the
 * interval, so that the union of all is the union of everything else. */
static bool put_interval(sweep *s, kmbi_device_gaps *d, const kmbi_op *op) {
  kmbi_interval *row = kmbi_rows_add(&d->intervals);
  if (!row) return false;
  if (op->start <= d->target_end) return true;
  row->interval = op->start - d->target_end;
  row->work = length_to(&d->busy, op->start) - d->target_busy;
  row->kernel_work = length_to(&d->kernels, op->start) - d->target_kernels;
  add(s, &d->target.total_interval, row->interval);
  return true;
}

/* The same launch, once it is part of the unions. */
static void put_target(sweep *s, kmbi_device_gaps *d, const kmbi_op *op,
                       uint32_t window) {
  d->target.count++;
  add(s, &d->target.total_duration, op->end - op->start);
  d->target_window = window;
  d->target_end = op->end;
  d->target_busy = length_to(&d->busy, op->end);
  d->target_kernels = length_to(&d->kernels, op->end);
}

static bool covers_kernels(kmb_op_kind kind) {
  return kind == KMB_OP_KERNEL || kind == KMB_OP_GRAPH;
}

static bool put_op(sweep *s, const kmbi_op *op, uint32_t window) {
  kmbi_device_gaps *d = device_of(s, kmbi_lane_at(s->trace, op->lane)->device);
  if (!d) return false;
  bool target = s->gaps->is_target && s->gaps->is_target[op->name];
  if (target && d->target_window == window && !put_interval(s, d, op))
    return false;
  if (!d->ops++) {
    d->first = d->window_first = op->start;
  } else if (op->start > d->busy.end) {
    if (d->window == window) {
      if (!put_gap(s, d, op)) return false;
    } else {
      d->span += d->busy.end - d->window_first;
      d->window_first = op->start;
    }
  }
  join(&d->busy, op->start, op->end);
  if (covers_kernels(kmbi_name_at(s->trace, op->name)->kind))
    join(&d->kernels, op->start, op->end);
  d->window = window;
  d->last = d->busy.end;
  if (op->end >= d->last_end) {
    d->last_end = op->end;
    d->last_name = op->name;
  }
  if (target) put_target(s, d, op, window);
  return put_share(s, d, op) && put_stream(s, d, op);
}

static kmb_status run_sweep(sweep *s) {
  const kmb_trace *trace = s->trace;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    uint32_t window = kmbi_gaps_window(s->gaps, op);
    if (window && !put_op(s, op, window))
      return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  }
  if (s->overflow)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "lengths of operations add up to more than 64 bits of "
                     "nanoseconds; the trace's times cannot be right");
  return KMB_OK;
}

static kmb_status sweep_ops(kmb_gaps *gaps) {
  sweep s = {.gaps = gaps, .trace = gaps->trace};
  const kmbi_memory *memory = &gaps->memory;
  uint32_t names = gaps->trace->names.count;
  kmbi_map_init(&s.transitions, memory, key_of_transition, &gaps->transitions);
  kmbi_map_init(&s.shares, memory, key_of_share, &gaps->shares);
  kmbi_map_init(&s.streams, memory, key_of_stream, &gaps->streams);
  kmbi_causes_init(&s.causes, gaps->trace, memory);
  s.transition_hints = kmbi_alloc(memory, names, sizeof(uint32_t));
  s.share_hints = kmbi_alloc(memory, names, sizeof(uint32_t));
  kmb_status status =
      s.transition_hints && s.share_hints
          ? run_sweep(&s)
          : kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  kmbi_free(memory, s.transition_hints, names, sizeof(uint32_t));
  kmbi_free(memory, s.share_hints, names, sizeof(uint32_t));
  kmbi_map_release(&s.transitions);
  kmbi_map_release(&s.shares);
  kmbi_map_release(&s.streams);
  kmbi_causes_release(&s.causes);
  return status;
}

/* Medians of the target, from the operations and intervals as they lie. */

typedef struct launches {
  const kmb_gaps *gaps;
  const kmbi_device_gaps *device;
} launches;

static bool duration_at(const void *user, uint32_t index, uint64_t *value) {
  const launches *l = user;
  const kmbi_op *op = kmbi_gaps_op_of(l->gaps, l->device, index);
  if (!l->gaps->is_target[op->name]) return false;
  *value = op->end - op->start;
  return kmbi_gaps_window(l->gaps, op);
}

static bool work_at(const void *user, uint32_t index, uint64_t *value) {
  const kmbi_interval *row = kmbi_rows_at(user, index);
  *value = row->work;
  return true;
}

static bool kernel_work_at(const void *user, uint32_t index, uint64_t *value) {
  const kmbi_interval *row = kmbi_rows_at(user, index);
  *value = row->kernel_work;
  return true;
}

static void target_medians(kmb_gaps *gaps, kmbi_device_gaps *d) {
  if (!d->target.count) return;
  const launches of = {gaps, d};
  const kmbi_values durations = {duration_at, &of, d->all_ops};
  kmbi_values work = {work_at, &d->intervals, d->intervals.count};
  d->target.median_duration = kmbi_median_of(&durations);
  d->target.median_work = kmbi_median_of(&work);
  work.get = kernel_work_at;
  d->target.median_kernel_work = kmbi_median_of(&work);
}

/* Operations by device, so that a pass over one looks at no other's. */

const kmbi_op *kmbi_gaps_op_of(const kmb_gaps *gaps, const kmbi_device_gaps *d,
                               uint32_t index) {
  uint32_t rank = d->first_op + index;
  return kmbi_op_at(gaps->trace,
                    gaps->by_device ? gaps->by_device[rank] : rank);
}

static uint32_t device_row_of(const kmb_gaps *gaps, uint32_t rank) {
  const kmbi_op *op = kmbi_op_at(gaps->trace, rank);
  return gaps->device_rows[kmbi_lane_at(gaps->trace, op->lane)->device];
}

/* A device without wanted operations has no row. */
static kmb_status group_ops(kmb_gaps *gaps) {
  uint32_t count = gaps->trace->ops.count, first = 0;
  if (gaps->trace->devices.count < 2) {
    for (uint32_t i = 0; i < gaps->devices.count; i++)
      ((kmbi_device_gaps *)kmbi_rows_at(&gaps->devices, i))->all_ops = count;
    return KMB_OK;
  }
  gaps->by_device = kmbi_alloc(&gaps->memory, count, sizeof(uint32_t));
  if (!gaps->by_device)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = device_row_of(gaps, i);
    if (row == KMBI_NO_ROW) continue;
    ((kmbi_device_gaps *)kmbi_rows_at(&gaps->devices, row))->all_ops++;
  }
  for (uint32_t i = 0; i < gaps->devices.count; i++) {
    kmbi_device_gaps *d = kmbi_rows_at(&gaps->devices, i);
    d->first_op = first;
    first += d->all_ops;
    d->all_ops = 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = device_row_of(gaps, i);
    if (row == KMBI_NO_ROW) continue;
    kmbi_device_gaps *d = kmbi_rows_at(&gaps->devices, row);
    gaps->by_device[d->first_op + d->all_ops++] = i;
  }
  return KMB_OK;
}

/* Lists by device. */

static uint64_t id_of(const kmb_gaps *gaps, const kmbi_device_gaps *d) {
  const kmbi_trace_device *device =
      kmbi_rows_at(&gaps->trace->devices, d->device);
  return device->id;
}

/* They come in the order of their first operations; they are few. */
static void order_devices(kmb_gaps *gaps) {
  uint32_t count = gaps->devices.count;
  for (uint32_t i = 1; i < count; i++) {
    for (uint32_t k = i; k > 0; k--) {
      kmbi_device_gaps *a = kmbi_rows_at(&gaps->devices, k - 1);
      kmbi_device_gaps *b = kmbi_rows_at(&gaps->devices, k), swap = *a;
      if (id_of(gaps, a) <= id_of(gaps, b)) break;
      *a = *b;
      *b = swap;
    }
  }
  for (uint32_t i = 0; i < count; i++)
    gaps->device_rows[kmbi_gaps_device_at(gaps, i)->device] = i;
}

typedef struct entry {
  uint32_t device, index;
  uint64_t weight;
} entry;

/* By device, the heaviest first, then as they came. */
static int by_device(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* Each kind of row begins with its device. */
static kmb_status order_list(kmb_gaps *gaps, const kmbi_rows *rows,
                             uint64_t (*weight)(const void *row),
                             size_t first_offset, uint32_t **order) {
  uint32_t count = rows->count;
  entry *entries = kmbi_alloc(&gaps->memory, count, sizeof *entries);
  *order = entries ? kmbi_alloc(&gaps->memory, count, sizeof **order) : NULL;
  if (!*order) {
    kmbi_free(&gaps->memory, entries, count, sizeof *entries);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t *row = kmbi_rows_at(rows, i);
    entries[i] = (entry){gaps->device_rows[*row], i, weight(row)};
  }
  qsort(entries, count, sizeof *entries, by_device);
  for (uint32_t i = 0; i < count; i++) {
    char *device = kmbi_rows_at(&gaps->devices, entries[i].device);
    uint32_t *range = (uint32_t *)(void *)(device + first_offset);
    if (!range[1]++) range[0] = i;
    (*order)[i] = entries[i].index;
  }
  kmbi_free(&gaps->memory, entries, count, sizeof *entries);
  return KMB_OK;
}

static uint64_t transition_weight(const void *row) {
  return ((const kmbi_transition *)row)->idle.total;
}

static uint64_t share_weight(const void *row) {
  return ((const kmbi_share *)row)->total;
}

static uint64_t stream_weight(const void *row) {
  (void)row;
  return 0;
}

static kmb_status order_lists(kmb_gaps *gaps) {
  kmb_status status = order_list(gaps, &gaps->transitions, transition_weight,
                                 offsetof(kmbi_device_gaps, first_transition),
                                 &gaps->transition_order);
  if (!status)
    status =
        order_list(gaps, &gaps->shares, share_weight,
                   offsetof(kmbi_device_gaps, first_share), &gaps->share_order);
  if (!status)
    status = order_list(gaps, &gaps->streams, stream_weight,
                        offsetof(kmbi_device_gaps, first_stream),
                        &gaps->stream_order);
  return status;
}

/* The whole. */

static kmb_status analyse(kmb_gaps *gaps) {
  uint32_t devices = gaps->trace->devices.count;
  gaps->device_rows = kmbi_alloc(&gaps->memory, devices, sizeof(uint32_t));
  if (!gaps->device_rows)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  for (uint32_t i = 0; i < devices; i++)
    gaps->device_rows[i] = KMBI_NO_ROW;
  kmb_status status = kmbi_gaps_match_target(gaps);
  if (!status) status = kmbi_gaps_find_windows(gaps);
  if (!status) status = sweep_ops(gaps);
  if (status) return status;
  order_devices(gaps);
  status = group_ops(gaps);
  if (status) return status;
  for (uint32_t i = 0; i < gaps->devices.count; i++)
    target_medians(gaps, kmbi_rows_at(&gaps->devices, i));
  status = order_lists(gaps);
  if (!status) status = kmbi_gaps_latencies(gaps);
  if (!status) status = kmbi_count_untraced_graphs(gaps);
  if (!status) status = kmbi_gaps_findings(gaps);
  return status;
}

static kmb_status read_params(const kmb_gaps_params *params,
                              kmb_gaps_params *copy, kmb_hooks *hooks) {
  *copy = kmb_gaps_params_init();
  *hooks = kmb_hooks_init();
  kmb_status status = KMB_OK;
  if (params)
    status = kmbi_copy_in(copy, sizeof *copy, KMBI_GAPS_PARAMS_V1, params,
                          "kmb_gaps_params");
  if (!status && copy->hooks)
    status = kmbi_copy_in(hooks, sizeof *hooks, KMBI_HOOKS_V1, copy->hooks,
                          "kmb_hooks");
  if (status) return status;
  if (!hooks->alloc != !hooks->free)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_hooks: give both alloc and free, or neither");
  const uint32_t known = KMB_GAPS_DEVICE | KMB_GAPS_FROM | KMB_GAPS_TO;
  if (copy->flags & ~known || copy->reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_gaps_params: a flag or word is set that libkmb %s "
                     "does not know",
                     KMB_VERSION);
  copy->hooks = NULL;
  if (!copy->top) copy->top = 10;
  return KMB_OK;
}

/* NULL without memory; what it needs besides may have failed. */
static kmb_gaps *create(const kmb_trace *trace, const kmb_gaps_params *params,
                        const kmb_hooks *hooks) {
  kmbi_memory memory = kmbi_memory_from(hooks);
  kmb_gaps *gaps = kmbi_alloc(&memory, 1, sizeof *gaps);
  if (!gaps) return NULL;
  gaps->memory = memory;
  gaps->trace = trace;
  gaps->params = *params;
  kmbi_arena_init(&gaps->arena, &gaps->memory);
  kmbi_rows_init(&gaps->devices, &gaps->memory, sizeof(kmbi_device_gaps));
  kmbi_rows_init(&gaps->transitions, &gaps->memory, sizeof(kmbi_transition));
  kmbi_rows_init(&gaps->shares, &gaps->memory, sizeof(kmbi_share));
  kmbi_rows_init(&gaps->streams, &gaps->memory, sizeof(kmbi_stream));
  gaps->params.kernel = kmbi_utf8_copy(&gaps->arena, params->kernel);
  gaps->params.range = kmbi_utf8_copy(&gaps->arena, params->range);
  return gaps;
}

kmb_status kmb_gaps_analyse(const kmb_trace *trace,
                            const kmb_gaps_params *params, kmb_gaps **out) {
  kmb_gaps_params copy;
  kmb_hooks hooks;
  if (out) *out = NULL;
  if (!trace || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_gaps_analyse: %s is NULL",
                     !trace ? "trace" : "gaps");
  kmb_status status = read_params(params, &copy, &hooks);
  if (status) return status;
  kmb_gaps *gaps = create(trace, &copy, &hooks);
  if (!gaps || kmbi_arena_failed(&gaps->arena))
    status = kmbi_fail(KMB_ERR_NOMEM, "no memory to analyse a trace");
  else
    status = analyse(gaps);
  if (status) {
    kmb_gaps_destroy(gaps);
    return status;
  }
  *out = gaps;
  return KMB_OK;
}

void kmb_gaps_destroy(kmb_gaps *gaps) {
  if (!gaps) return;
  const kmbi_memory memory = gaps->memory;
  const kmb_trace *trace = gaps->trace;
  for (uint32_t i = 0; i < gaps->devices.count; i++) {
    kmbi_device_gaps *d = kmbi_rows_at(&gaps->devices, i);
    kmbi_rows_release(&d->intervals);
  }
  kmbi_free(&memory, gaps->transition_order, gaps->transitions.count,
            sizeof(uint32_t));
  kmbi_free(&memory, gaps->share_order, gaps->shares.count, sizeof(uint32_t));
  kmbi_free(&memory, gaps->stream_order, gaps->streams.count, sizeof(uint32_t));
  kmbi_free(&memory, gaps->device_rows, trace->devices.count, sizeof(uint32_t));
  kmbi_free(&memory, gaps->by_device, trace->ops.count, sizeof(uint32_t));
  kmbi_free(&memory, gaps->is_target, trace->names.count, 1);
  kmbi_free(&memory, gaps->windows, gaps->window_count, sizeof(kmbi_window));
  kmbi_rows_release(&gaps->devices);
  kmbi_rows_release(&gaps->transitions);
  kmbi_rows_release(&gaps->shares);
  kmbi_rows_release(&gaps->streams);
  kmbi_arena_release(&gaps->arena);
  kmbi_free(&memory, gaps, 1, sizeof *gaps);
}
