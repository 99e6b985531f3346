/* The store of a trace: rows, interned names, order. */
#define _GNU_SOURCE /* memmem */
#include "trace.h"

#include "error.h"
#include "structs.h"
#include "utf8.h"

static kmbi_map_key key_of_name(const void *rows, uint32_t index) {
  const kmbi_name *name = kmbi_rows_at(rows, index);
  return (kmbi_map_key){name->hash, name->size, (uint64_t)name->kind};
}

static kmbi_map_key key_of_thread(const void *rows, uint32_t index) {
  const kmbi_thread *thread = kmbi_rows_at(rows, index);
  return (kmbi_map_key){thread->process, thread->thread, 0};
}

static uint64_t lane_word(uint32_t device, uint32_t flags, uint64_t context) {
  return (uint64_t)device << 40 ^ (uint64_t)flags << 32 ^ context;
}

static kmbi_map_key key_of_lane(const void *rows, uint32_t index) {
  const kmbi_lane *lane = kmbi_rows_at(rows, index);
  return (kmbi_map_key){lane->process, lane->stream,
                        lane_word(lane->device, lane->flags, lane->context)};
}

static kmbi_map_key device_key(uint64_t id, uint32_t name) {
  return (kmbi_map_key){id, id == KMBI_UNKNOWN ? name : 0, 0};
}

static kmbi_map_key key_of_device(const void *rows, uint32_t index) {
  const kmbi_trace_device *device = kmbi_rows_at(rows, index);
  return device_key(device->id, device->name);
}

static kmbi_map_key shape_key(const kmbi_shape *s) {
  return (kmbi_map_key){(uint64_t)s->grid[0] << 32 | s->grid[1],
                        (uint64_t)s->grid[2] << 32 | s->block[0],
                        (uint64_t)s->block[1] << 32 | s->block[2]};
}

static kmbi_map_key key_of_shape(const void *rows, uint32_t index) {
  return shape_key(kmbi_rows_at(rows, index));
}

static kmbi_map_key call_key(const kmb_trace *trace, uint32_t rank) {
  const kmbi_call *call = kmbi_call_at(trace, rank);
  const kmbi_thread *thread = kmbi_rows_at(&trace->threads, call->thread);
  return (kmbi_map_key){trace->one_process ? 0 : thread->process,
                        call->correlation, 0};
}

static kmbi_map_key key_of_call(const void *rows, uint32_t rank) {
  return call_key(rows, rank);
}

kmb_status kmbi_trace_create(const kmbi_memory *memory, kmb_trace **out) {
  kmb_trace *trace = kmbi_alloc(memory, 1, sizeof *trace);
  if (!trace) return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold a trace");
  trace->memory = *memory;
  const kmbi_memory *m = &trace->memory;
  kmbi_arena_init(&trace->texts, m);
  kmbi_rows_init(&trace->ops, m, sizeof(kmbi_op));
  kmbi_rows_init(&trace->calls, m, sizeof(kmbi_call));
  kmbi_rows_init(&trace->ranges, m, sizeof(kmbi_range));
  kmbi_rows_init(&trace->names, m, sizeof(kmbi_name));
  kmbi_rows_init(&trace->threads, m, sizeof(kmbi_thread));
  kmbi_rows_init(&trace->lanes, m, sizeof(kmbi_lane));
  kmbi_rows_init(&trace->devices, m, sizeof(kmbi_trace_device));
  kmbi_rows_init(&trace->shapes, m, sizeof(kmbi_shape));
  kmbi_map_init(&trace->name_map, m, key_of_name, &trace->names);
  kmbi_map_init(&trace->thread_map, m, key_of_thread, &trace->threads);
  kmbi_map_init(&trace->lane_map, m, key_of_lane, &trace->lanes);
  kmbi_map_init(&trace->device_map, m, key_of_device, &trace->devices);
  kmbi_map_init(&trace->shape_map, m, key_of_shape, &trace->shapes);
  kmbi_map_init(&trace->launch_map, m, key_of_call, trace);
  trace->tick = 1;
  trace->last_lane = trace->last_name = KMBI_NO_ROW;
  *out = trace;
  return KMB_OK;
}

void kmb_trace_destroy(kmb_trace *trace) {
  if (!trace) return;
  const kmbi_memory memory = trace->memory;
  kmbi_free(&memory, trace->op_order, trace->ops.count, sizeof(uint32_t));
  kmbi_free(&memory, trace->call_order, trace->calls.count, sizeof(uint32_t));
  kmbi_free(&memory, trace->range_order, trace->ranges.count, sizeof(uint32_t));
  kmbi_map *maps[] = {&trace->name_map,  &trace->thread_map,
                      &trace->lane_map,  &trace->device_map,
                      &trace->shape_map, &trace->launch_map};
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    kmbi_map_release(maps[i]);
  kmbi_rows *rows[] = {&trace->ops,     &trace->calls, &trace->ranges,
                       &trace->names,   &trace->lanes, &trace->threads,
                       &trace->devices, &trace->shapes};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    kmbi_rows_release(rows[i]);
  kmbi_arena_release(&trace->texts);
  kmbi_free(&memory, trace, 1, sizeof *trace);
}

/* Names. */

/* KMBI_NO_ROW if there is none; `*hash` is then free. */
static uint32_t find_name(const kmb_trace *trace, int32_t kind,
                          const char *text, size_t size, uint64_t *hash) {
  *hash = kmbi_text_hash(text, size);
  for (;; ++*hash) {
    const kmbi_map_key key = {*hash, size, (uint64_t)kind};
    uint32_t index = kmbi_map_find(&trace->name_map, key);
    if (index == KMBI_NO_ROW) return index;
    if (memcmp(kmbi_name_at(trace, index)->text, text, size) == 0) return index;
  }
}

static uint32_t add_name(kmb_trace *trace, int32_t kind, const char *text,
                         size_t size, uint64_t hash) {
  const kmbi_map_key key = {hash, size, (uint64_t)kind};
  char *copy = kmbi_arena_alloc(&trace->texts, size + 1, 1);
  kmbi_name *name = copy ? kmbi_rows_add(&trace->names) : NULL;
  if (!name) return KMBI_NO_ROW;
  memcpy(copy, text, size);
  *name = (kmbi_name){copy, hash, (uint32_t)size, kind, KMBI_NO_ROW, 0};
  uint32_t index = trace->names.count - 1;
  return kmbi_map_put(&trace->name_map, key, index) ? index : KMBI_NO_ROW;
}

static bool is_valid(const char *text, size_t size) {
  const char *end = text + size;
  while (text < end) {
    size_t length = (unsigned char)*text < 0x80 ? *text != '\0'
                                                : kmbi_utf8_char(text, NULL);
    if (!length || length > (size_t)(end - text)) return false;
    text += length;
  }
  return true;
}

/* A name that is no valid UTF-8 is looked for again once it is, so that it too
 * is kept once. */
static uint32_t intern_invalid(kmb_trace *trace, int32_t kind, const char *text,
                               size_t size) {
  kmbi_arena work;
  kmbi_arena_init(&work, &trace->memory);
  char *raw = kmbi_arena_alloc(&work, size + 1, 1);
  if (raw) memcpy(raw, text, size);
  char *valid = raw ? kmbi_utf8_copy(&work, raw) : NULL;
  uint32_t index = KMBI_NO_ROW;
  if (valid) {
    uint64_t hash = 0;
    size_t length = strlen(valid);
    index = find_name(trace, kind, valid, length, &hash);
    if (index == KMBI_NO_ROW)
      index = add_name(trace, kind, valid, length, hash);
  }
  kmbi_arena_release(&work);
  return index;
}

uint32_t kmbi_trace_intern(kmb_trace *trace, int32_t kind, const char *text,
                           size_t size) {
  uint64_t hash = 0;
  uint32_t index = find_name(trace, kind, text, size, &hash);
  if (index != KMBI_NO_ROW) return index;
  if (!is_valid(text, size)) return intern_invalid(trace, kind, text, size);
  return add_name(trace, kind, text, size, hash);
}

/* Devices, lanes, threads. */

static uint32_t device_of(kmb_trace *trace, const kmbi_op_row *row) {
  kmbi_map_key key = device_key(row->device, 0);
  uint32_t name = 0;
  if (row->device != KMBI_UNKNOWN) {
    uint32_t index = kmbi_map_find(&trace->device_map, key);
    if (index != KMBI_NO_ROW) return index;
  }
  name = kmbi_trace_intern(trace, 0, row->device_name ? row->device_name : "",
                           row->device_name ? row->device_name_size : 0);
  if (name == KMBI_NO_ROW) return name;
  key = device_key(row->device, name);
  uint32_t index = kmbi_map_find(&trace->device_map, key);
  if (index != KMBI_NO_ROW) return index;
  kmbi_trace_device *device = kmbi_rows_add(&trace->devices);
  if (!device) return KMBI_NO_ROW;
  *device = (kmbi_trace_device){row->device, name, 0};
  index = trace->devices.count - 1;
  return kmbi_map_put(&trace->device_map, key, index) ? index : KMBI_NO_ROW;
}

/* Rows mostly follow one of the same stream. */
static bool in_last_lane(const kmb_trace *trace, const kmbi_op_row *row) {
  if (trace->last_lane == KMBI_NO_ROW || row->device == KMBI_UNKNOWN)
    return false;
  const kmbi_lane *lane = kmbi_lane_at(trace, trace->last_lane);
  const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, lane->device);
  return device->id == row->device && lane->process == row->process &&
         !(lane->flags & KMB_OP_HAS_STREAM) == !row->has_stream &&
         lane->context == row->context && lane->stream == row->stream;
}

static uint32_t lane_of(kmb_trace *trace, const kmbi_op_row *row) {
  if (in_last_lane(trace, row)) return trace->last_lane;
  uint32_t device = device_of(trace, row);
  if (device == KMBI_NO_ROW) return device;
  uint32_t flags = (row->device != KMBI_UNKNOWN ? KMB_OP_HAS_DEVICE : 0u) |
                   (row->has_stream ? KMB_OP_HAS_STREAM : 0u);
  const kmbi_map_key key = {row->process, row->stream,
                            lane_word(device, flags, row->context)};
  uint32_t index = kmbi_map_find(&trace->lane_map, key);
  if (index == KMBI_NO_ROW) {
    kmbi_lane *lane = kmbi_rows_add(&trace->lanes);
    if (!lane) return KMBI_NO_ROW;
    *lane = (kmbi_lane){row->process, row->context, row->stream, device, flags};
    index = trace->lanes.count - 1;
    if (!kmbi_map_put(&trace->lane_map, key, index)) return KMBI_NO_ROW;
  }
  trace->last_lane = index;
  return index;
}

static uint32_t thread_of(kmb_trace *trace, const kmbi_host_row *row) {
  const kmbi_map_key key = {row->process, row->thread, 0};
  uint32_t index = kmbi_map_find(&trace->thread_map, key);
  if (index != KMBI_NO_ROW) return index;
  kmbi_thread *thread = kmbi_rows_add(&trace->threads);
  if (!thread) return KMBI_NO_ROW;
  *thread = (kmbi_thread){row->process, row->thread};
  index = trace->threads.count - 1;
  return kmbi_map_put(&trace->thread_map, key, index) ? index : KMBI_NO_ROW;
}

/* Rows. */

static bool is_name(const kmb_trace *trace, uint32_t index,
                    const kmbi_op_row *row) {
  if (index == KMBI_NO_ROW) return false;
  const kmbi_name *name = kmbi_name_at(trace, index);
  return name->kind == row->kind && name->size == row->name_size &&
         memcmp(name->text, row->name, row->name_size) == 0;
}

/* Programs loop: what followed a name the last time mostly follows it again. */
static uint32_t name_of(kmb_trace *trace, const kmbi_op_row *row) {
  uint32_t last = trace->last_name, guess = KMBI_NO_ROW;
  if (last != KMBI_NO_ROW) guess = kmbi_name_at(trace, last)->next;
  if (!is_name(trace, guess, row))
    guess = kmbi_trace_intern(trace, row->kind, row->name, row->name_size);
  if (last != KMBI_NO_ROW && guess != KMBI_NO_ROW) {
    kmbi_name *name = kmbi_rows_at(&trace->names, last);
    name->next = guess;
  }
  trace->last_name = guess;
  return guess;
}

static bool is_known(const kmbi_shape *shape) {
  return shape->grid[0] && shape->grid[1] && shape->grid[2] &&
         shape->block[0] && shape->block[1] && shape->block[2];
}

uint32_t kmbi_trace_shape(kmb_trace *trace, const kmbi_shape *shape) {
  if (!is_known(shape)) return 0;
  const kmbi_map_key key = shape_key(shape);
  uint32_t index = kmbi_map_find(&trace->shape_map, key);
  if (index != KMBI_NO_ROW) return index + 1;
  kmbi_shape *row = kmbi_rows_add(&trace->shapes);
  if (!row) return KMBI_NO_ROW;
  *row = *shape;
  index = trace->shapes.count - 1;
  return kmbi_map_put(&trace->shape_map, key, index) ? index + 1 : KMBI_NO_ROW;
}

kmb_status kmbi_trace_put_op(kmb_trace *trace, const kmbi_op_row *row) {
  trace->rows++;
  if (row->invalid || row->start == 0 || row->end <= row->start ||
      row->end > KMBI_TIME_MOST) {
    trace->invalid++;
    return KMB_OK;
  }
  uint32_t shape = row->kind == KMB_OP_KERNEL ? row->shape : 0;
  uint32_t lane = shape == KMBI_NO_ROW ? shape : lane_of(trace, row);
  uint32_t name = lane == KMBI_NO_ROW ? lane : name_of(trace, row);
  kmbi_op *op = name == KMBI_NO_ROW ? NULL : kmbi_rows_add(&trace->ops);
  if (!op) return kmbi_rows_failed(&trace->ops, "device operations");
  *op = (kmbi_op){row->start, row->end, row->bytes, row->correlation,
                  name,       lane,     shape,      0};
  return KMB_OK;
}

kmb_status kmbi_trace_put_call(kmb_trace *trace, const kmbi_host_row *row) {
  if (row->end < row->start || row->end > KMBI_TIME_MOST) return KMB_OK;
  uint32_t thread = thread_of(trace, row);
  uint32_t name =
      thread == KMBI_NO_ROW
          ? thread
          : kmbi_trace_intern(trace, row->kind, row->name, row->name_size);
  kmbi_call *call = name == KMBI_NO_ROW ? NULL : kmbi_rows_add(&trace->calls);
  if (!call) return kmbi_rows_failed(&trace->calls, "calls of the host");
  *call = (kmbi_call){row->start, row->end, row->correlation, name, thread};
  return KMB_OK;
}

kmb_status kmbi_trace_put_range(kmb_trace *trace, const kmbi_host_row *row) {
  if (row->end < row->start || row->end > KMBI_TIME_MOST) return KMB_OK;
  uint32_t thread = thread_of(trace, row);
  uint32_t name = thread == KMBI_NO_ROW
                      ? thread
                      : kmbi_trace_intern(trace, 0, row->name, row->name_size);
  kmbi_range *range =
      name == KMBI_NO_ROW ? NULL : kmbi_rows_add(&trace->ranges);
  if (!range) return kmbi_rows_failed(&trace->ranges, "ranges");
  *range = (kmbi_range){row->start, row->end, name, thread};
  return KMB_OK;
}

static bool contains(const char *text, size_t size, const char *part) {
  return memmem(text, size, part, strlen(part)) != NULL;
}

/* A copy that is not asynchronous waits for the device. */
kmb_call_kind kmbi_call_kind_of(const char *name, size_t size) {
  if (contains(name, size, "GraphLaunch")) return KMB_CALL_GRAPH_LAUNCH;
  if (contains(name, size, "Synchronize") ||
      contains(name, size, "StreamQuery") || contains(name, size, "EventQuery"))
    return KMB_CALL_SYNC;
  if (contains(name, size, "Memcpy"))
    return contains(name, size, "Async") ? KMB_CALL_LAUNCH : KMB_CALL_SYNC;
  if (contains(name, size, "Launch") || contains(name, size, "Memset"))
    return KMB_CALL_LAUNCH;
  return KMB_CALL_OTHER;
}

/* Order. */

typedef bool (*before_fn)(const kmb_trace *trace, uint32_t a, uint32_t b);

static bool op_before(const kmb_trace *trace, uint32_t a, uint32_t b) {
  const kmbi_op *x = kmbi_rows_at(&trace->ops, a);
  const kmbi_op *y = kmbi_rows_at(&trace->ops, b);
  return x->start < y->start;
}

/* A call that encloses another comes first. */
static bool call_before(const kmb_trace *trace, uint32_t a, uint32_t b) {
  const kmbi_call *x = kmbi_rows_at(&trace->calls, a);
  const kmbi_call *y = kmbi_rows_at(&trace->calls, b);
  if (x->thread != y->thread) return x->thread < y->thread;
  if (x->start != y->start) return x->start < y->start;
  return x->end > y->end;
}

static bool range_before(const kmb_trace *trace, uint32_t a, uint32_t b) {
  const kmbi_range *x = kmbi_rows_at(&trace->ranges, a);
  const kmbi_range *y = kmbi_rows_at(&trace->ranges, b);
  if (x->thread != y->thread) return x->thread < y->thread;
  if (x->start != y->start) return x->start < y->start;
  return x->end > y->end;
}

/* Merges [0, middle) and [middle, count), both in order; stable. */
static void merge(const kmb_trace *trace, before_fn before, uint32_t *order,
                  uint32_t middle, uint32_t count, uint32_t *work) {
  if (!before(trace, order[middle], order[middle - 1])) return;
  memcpy(work, order, middle * sizeof *work);
  uint32_t left = 0, right = middle, to = 0;
  while (left < middle && right < count)
    order[to++] =
        before(trace, order[right], work[left]) ? order[right++] : work[left++];
  memcpy(order + to, work + left, (middle - left) * sizeof *order);
}

static void sort(const kmb_trace *trace, before_fn before, uint32_t *order,
                 uint32_t count, uint32_t *work) {
  for (uint64_t width = 1; width < count; width *= 2) {
    for (uint64_t at = 0; at + width < count; at += 2 * width) {
      uint64_t size = count - at < 2 * width ? count - at : 2 * width;
      merge(trace, before, order + at, (uint32_t)width, (uint32_t)size, work);
    }
  }
}

static bool in_order(const kmb_trace *trace, before_fn before, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    if (before(trace, i, i - 1)) return false;
  }
  return true;
}

static kmb_status order_rows(kmb_trace *trace, before_fn before, uint32_t count,
                             uint32_t **order) {
  if (in_order(trace, before, count)) return KMB_OK;
  const kmbi_memory *memory = &trace->memory;
  uint32_t *work = kmbi_alloc(memory, count, sizeof *work);
  *order = work ? kmbi_alloc(memory, count, sizeof **order) : NULL;
  if (*order) {
    for (uint32_t i = 0; i < count; i++)
      (*order)[i] = i;
    sort(trace, before, *order, count, work);
  }
  kmbi_free(memory, work, count, sizeof *work);
  if (!*order) return kmbi_fail(KMB_ERR_NOMEM, "no memory to sort a trace");
  return KMB_OK;
}

/* The outermost call of a correlation id is the one that counts. */
static kmb_status tie_calls(kmb_trace *trace) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < trace->calls.count; i++)
    count += kmbi_call_at(trace, i)->correlation != 0;
  bool good = !count || kmbi_map_reserve(&trace->launch_map, count);
  for (uint32_t i = 0; i < trace->calls.count && good; i++) {
    if (!kmbi_call_at(trace, i)->correlation) continue;
    kmbi_map_key key = call_key(trace, i);
    if (kmbi_map_find(&trace->launch_map, key) == KMBI_NO_ROW)
      good = kmbi_map_put(&trace->launch_map, key, i);
  }
  if (!good)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to tie operations to calls");
  return KMB_OK;
}

kmb_status kmbi_trace_finish(kmb_trace *trace) {
  kmb_status status =
      order_rows(trace, op_before, trace->ops.count, &trace->op_order);
  if (!status)
    status =
        order_rows(trace, call_before, trace->calls.count, &trace->call_order);
  if (!status)
    status = order_rows(trace, range_before, trace->ranges.count,
                        &trace->range_order);
  if (!status) status = tie_calls(trace);
  if (status) return status;
  /* What only loading needs. */
  kmbi_map_release(&trace->name_map);
  kmbi_map_release(&trace->lane_map);
  kmbi_map_release(&trace->device_map);
  kmbi_map_release(&trace->shape_map);
  kmbi_map_release(&trace->thread_map);
  return KMB_OK;
}

uint32_t kmbi_op_call(const kmb_trace *trace, const kmbi_op *op) {
  if (!op->correlation) return KMBI_NO_ROW;
  uint64_t process =
      trace->one_process ? 0 : kmbi_lane_at(trace, op->lane)->process;
  const kmbi_map_key key = {process, op->correlation, 0};
  return kmbi_map_find(&trace->launch_map, key);
}
