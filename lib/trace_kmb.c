/* libkmb's own JSON of a trace, see trace_kmb_write.c. Tables come before the
 * rows that point into them; keys that are not known are skipped. */
#include "error.h"
#include "trace_json.h"

enum { CELLS = 8 };

typedef struct device_row {
  uint64_t id;   /* KMBI_UNKNOWN */
  uint32_t name; /* in kmb_trace::names */
  uint32_t reserved;
} device_row;

typedef struct stream_row {
  uint64_t process, context, stream;
  uint32_t device; /* in reader::devices */
  uint32_t has_stream;
} stream_row;

/* Keys of the top: X(name, key, function). */
#define KEYS(X)                                \
  X(TICK, "tick_ns", read_tick)                \
  X(DRIVER, "driver_added_ns", read_driver)    \
  X(RUNTIME, "runtime_added_ns", read_runtime) \
  X(INVALID, "invalid", read_invalid)          \
  X(DROPPED, "dropped", read_dropped)          \
  X(ONE_PROCESS, "one_process", read_single)   \
  X(BASE, "base_ns", read_base)                \
  X(NAMES, "names", read_names)                \
  X(DEVICES, "devices", read_devices)          \
  X(STREAMS, "streams", read_streams)          \
  X(SHAPES, "shapes", read_shapes)             \
  X(THREADS, "threads", read_threads)          \
  X(OPS, "ops", read_ops)                      \
  X(CALLS, "calls", read_calls)                \
  X(RANGES, "ranges", read_ranges)

typedef enum top_key {
#define KEY_ENUM(name, key, function) NAME_##name,
  KEYS(KEY_ENUM)
#undef KEY_ENUM
      KEY_COUNT
} top_key;

typedef struct reader {
  kmbi_jsonr json;
  kmb_trace *trace;
  kmbi_rows names;                     /* uint32_t, in kmb_trace::names */
  kmbi_rows devices, streams, threads; /* kmbi_thread */
  kmbi_rows shapes;                    /* uint32_t, in kmb_trace::shapes */
  uint64_t base, invalid;
  kmbi_slice cells[CELLS]; /* of a row, while it is pinned */
  int cell_count;
} reader;

/* Cells. */

static kmb_status fail_cell(const reader *r, const kmbi_slice *cell,
                            const char *what) {
  return kmbi_jsonr_fail_at(&r->json, cell, "%s expected", what);
}

static kmb_status number(const reader *r, const kmbi_slice *cell,
                         uint64_t *value) {
  return kmbi_slice_u64(&r->json, cell, value);
}

static bool is_null(const reader *r, const kmbi_slice *cell) {
  return cell->type == KMBI_SLICE_OTHER && cell->size == 4 &&
         kmbi_slice_is(&r->json, cell, "null");
}

/* `*value` stays as it is for null. */
static kmb_status number_or_null(const reader *r, const kmbi_slice *cell,
                                 uint64_t *value, bool *known) {
  *known = !is_null(r, cell);
  return *known ? number(r, cell, value) : KMB_OK;
}

/* A row of a table that has been read. */
static kmb_status pointer(const reader *r, const kmbi_slice *cell,
                          const kmbi_rows *rows, const char *what,
                          uint32_t *index) {
  uint64_t value = 0;
  kmb_status status = number(r, cell, &value);
  if (!status && value >= rows->count)
    return kmbi_jsonr_fail_at(&r->json, cell, "there are %u %s before this row",
                              (unsigned)rows->count, what);
  *index = (uint32_t)value;
  return status;
}

/* `*index` is that in the trace. */
static kmb_status name_index(const reader *r, const kmbi_slice *cell,
                             uint32_t *index) {
  kmb_status status = pointer(r, cell, &r->names, "names", index);
  if (!status) *index = *(const uint32_t *)kmbi_rows_at(&r->names, *index);
  return status;
}

static kmb_status name_at(const reader *r, const kmbi_slice *cell,
                          const kmbi_name **name) {
  uint32_t index = 0;
  kmb_status status = name_index(r, cell, &index);
  if (!status) *name = kmbi_name_at(r->trace, index);
  return status;
}

/* An end that 64 bits do not hold is as far away as one can be. */
static kmb_status times(const reader *r, const kmbi_slice *cells,
                        uint64_t *start, uint64_t *end) {
  uint64_t length = 0;
  kmb_status status = number(r, &cells[0], start);
  if (!status) status = number(r, &cells[1], &length);
  if (!kmbi_add(r->base, *start, start) || !kmbi_add(*start, length, end))
    *end = UINT64_MAX;
  return status;
}

/* Rows: arrays of a fixed length, but for a last cell that may be left out. */

static kmb_status read_cells(reader *r, int least, int most) {
  bool first = true, more = true;
  kmb_status status = kmbi_jsonr_take(&r->json, '[', "a row");
  for (r->cell_count = 0; !status; r->cell_count++) {
    status = kmbi_jsonr_next(&r->json, ']', &first, &more);
    if (status || !more || r->cell_count == most) break;
    status = kmbi_jsonr_value(&r->json, 3, &r->cells[r->cell_count]);
  }
  if (!status && (more || r->cell_count < least))
    status = kmbi_jsonr_fail(&r->json, "a row of %d cells expected",
                             more ? most : least);
  return status;
}

static kmb_status read_some(reader *r, int least, int most,
                            kmb_status (*put)(reader *r)) {
  bool first = true, more = true;
  kmb_status status = kmbi_jsonr_take(&r->json, '[', "a list");
  while (!status) {
    char c = 0;
    status = kmbi_jsonr_next(&r->json, ']', &first, &more);
    if (status || !more) return status;
    status = kmbi_jsonr_peek(&r->json, &c);
    if (status) return status;
    kmbi_jsonr_pin(&r->json);
    status = most ? read_cells(r, least, most)
                  : kmbi_jsonr_value(&r->json, 2, &r->cells[0]);
    if (!status) status = put(r);
    kmbi_jsonr_unpin(&r->json);
  }
  return status;
}

static kmb_status read_rows(reader *r, int count,
                            kmb_status (*put)(reader *r)) {
  return read_some(r, count, count, put);
}

/* Tables. */

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold a trace");
}

static kmb_status put_name(reader *r) {
  kmbi_slice *cell = &r->cells[0];
  if (cell->type != KMBI_SLICE_STRING) return fail_cell(r, cell, "a string");
  kmb_status status = kmbi_slice_decode(&r->json, cell);
  if (status) return status;
  uint32_t index = kmbi_trace_intern(
      r->trace, 0, kmbi_slice_text(&r->json, cell), cell->size);
  uint32_t *row = index == KMBI_NO_ROW ? NULL : kmbi_rows_add(&r->names);
  if (!row) return no_memory();
  *row = index;
  return KMB_OK;
}

static kmb_status read_names(reader *r) {
  return read_rows(r, 0, put_name);
}

static kmb_status put_device(reader *r) {
  device_row device = {.id = KMBI_UNKNOWN};
  bool known = false;
  kmb_status status = number_or_null(r, &r->cells[0], &device.id, &known);
  if (!status) status = name_index(r, &r->cells[1], &device.name);
  if (status) return status;
  device_row *row = kmbi_rows_add(&r->devices);
  if (!row) return no_memory();
  *row = device;
  return KMB_OK;
}

static kmb_status read_devices(reader *r) {
  return read_rows(r, 2, put_device);
}

static kmb_status put_stream(reader *r) {
  stream_row stream = {0};
  bool has_context = false, has_stream = false;
  kmb_status status =
      pointer(r, &r->cells[0], &r->devices, "devices", &stream.device);
  if (!status) status = number(r, &r->cells[1], &stream.process);
  if (!status)
    status = number_or_null(r, &r->cells[2], &stream.context, &has_context);
  if (!status)
    status = number_or_null(r, &r->cells[3], &stream.stream, &has_stream);
  if (!status && has_context != has_stream)
    status = fail_cell(r, &r->cells[2], "a context with each stream");
  if (status) return status;
  stream.has_stream = has_stream;
  stream_row *row = kmbi_rows_add(&r->streams);
  if (!row) return no_memory();
  *row = stream;
  return KMB_OK;
}

static kmb_status read_streams(reader *r) {
  return read_rows(r, 4, put_stream);
}

static kmb_status put_thread(reader *r) {
  kmbi_thread thread = {0};
  kmb_status status = number(r, &r->cells[0], &thread.process);
  if (!status) status = number(r, &r->cells[1], &thread.thread);
  if (status) return status;
  kmbi_thread *row = kmbi_rows_add(&r->threads);
  if (!row) return no_memory();
  *row = thread;
  return KMB_OK;
}

static kmb_status read_threads(reader *r) {
  return read_rows(r, 2, put_thread);
}

static kmb_status put_shape(reader *r) {
  kmbi_shape shape;
  for (int i = 0; i < 6; i++) {
    uint64_t size = 0;
    kmb_status status = number(r, &r->cells[i], &size);
    if (!status && (!size || size > UINT32_MAX))
      status = fail_cell(r, &r->cells[i], "a size above 0 of 32 bits");
    if (status) return status;
    *(i < 3 ? &shape.grid[i] : &shape.block[i - 3]) = (uint32_t)size;
  }
  uint32_t index = kmbi_trace_shape(r->trace, &shape);
  uint32_t *row = index == KMBI_NO_ROW ? NULL : kmbi_rows_add(&r->shapes);
  if (!row) return no_memory();
  *row = index;
  return KMB_OK;
}

static kmb_status read_shapes(reader *r) {
  return read_rows(r, 6, put_shape);
}

/* Rows of the trace. */

static kmb_status op_kind(const reader *r, const kmbi_slice *cell,
                          kmb_op_kind *kind) {
  for (int i = KMB_OP_KERNEL; i <= KMB_OP_GRAPH; i++) {
    *kind = i;
    if (cell->type == KMBI_SLICE_STRING &&
        kmbi_slice_is(&r->json, cell, kmb_op_kind_name(i)))
      return KMB_OK;
  }
  return fail_cell(r, cell, "a kind of operations");
}

static kmb_status call_kind(const reader *r, const kmbi_slice *cell,
                            kmb_call_kind *kind) {
#define COMPARE(name, value, text)                                            \
  *kind = (value);                                                            \
  if (cell->type == KMBI_SLICE_STRING && kmbi_slice_is(&r->json, cell, text)) \
    return KMB_OK;
  KMB_CALL_KIND_MAP(COMPARE)
#undef COMPARE
  return fail_cell(r, cell, "a kind of calls");
}

static void add_lane(const reader *r, uint32_t index, kmbi_op_row *row) {
  const stream_row *stream = kmbi_rows_at(&r->streams, index);
  const device_row *device = kmbi_rows_at(&r->devices, stream->device);
  const kmbi_name *name = kmbi_name_at(r->trace, device->name);
  row->device = device->id;
  row->device_name = name->text;
  row->device_name_size = name->size;
  row->process = stream->process;
  row->context = stream->context;
  row->stream = stream->stream;
  row->has_stream = stream->has_stream;
}

/* The cell that says how a kernel was launched may be left out. */
static kmb_status add_shape(const reader *r, kmbi_op_row *row) {
  uint32_t index = 0;
  if (r->cell_count < 8) return KMB_OK;
  bool wanted = !kmbi_source_no_shapes(r->json.source);
  kmb_status status = pointer(r, &r->cells[7], &r->shapes, "shapes", &index);
  if (!status && row->kind != KMB_OP_KERNEL)
    status = fail_cell(r, &r->cells[7], "a shape of kernels alone");
  if (!status && wanted)
    row->shape = *(const uint32_t *)kmbi_rows_at(&r->shapes, index);
  return status;
}

static kmb_status put_op(reader *r) {
  kmbi_op_row row = {.bytes = KMBI_UNKNOWN};
  const kmbi_name *name = NULL;
  uint32_t stream = 0;
  bool known = false;
  kmb_status status = op_kind(r, &r->cells[0], &row.kind);
  if (!status)
    status = pointer(r, &r->cells[1], &r->streams, "streams", &stream);
  if (!status) status = name_at(r, &r->cells[2], &name);
  if (!status) status = times(r, &r->cells[3], &row.start, &row.end);
  if (!status) status = number(r, &r->cells[5], &row.correlation);
  if (!status) status = number_or_null(r, &r->cells[6], &row.bytes, &known);
  if (!status) status = add_shape(r, &row);
  if (status) return status;
  row.name = name->text;
  row.name_size = name->size;
  add_lane(r, stream, &row);
  return kmbi_trace_put_op(r->trace, &row);
}

static kmb_status read_ops(reader *r) {
  return read_some(r, 7, 8, put_op);
}

/* What calls and ranges share: thread, name, start, length. */
static kmb_status host_row(const reader *r, const kmbi_slice *cells,
                           kmbi_host_row *row) {
  const kmbi_name *name = NULL;
  uint32_t index = 0;
  kmb_status status = pointer(r, &cells[0], &r->threads, "threads", &index);
  if (!status) status = name_at(r, &cells[1], &name);
  if (!status) status = times(r, &cells[2], &row->start, &row->end);
  if (status) return status;
  const kmbi_thread *thread = kmbi_rows_at(&r->threads, index);
  row->process = thread->process;
  row->thread = thread->thread;
  row->name = name->text;
  row->name_size = name->size;
  return KMB_OK;
}

static kmb_status put_call(reader *r) {
  kmbi_host_row row = {0};
  kmb_status status = call_kind(r, &r->cells[0], &row.kind);
  if (!status) status = host_row(r, &r->cells[1], &row);
  if (!status) status = number(r, &r->cells[5], &row.correlation);
  return status ? status : kmbi_trace_put_call(r->trace, &row);
}

static kmb_status read_calls(reader *r) {
  return read_rows(r, 6, put_call);
}

static kmb_status put_range(reader *r) {
  kmbi_host_row row = {0};
  kmb_status status = host_row(r, &r->cells[0], &row);
  return status ? status : kmbi_trace_put_range(r->trace, &row);
}

static kmb_status read_ranges(reader *r) {
  return read_rows(r, 4, put_range);
}

/* Single values. */

static kmb_status read_value(reader *r) {
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  return kmbi_jsonr_value(&r->json, 1, &r->cells[0]);
}

static kmb_status read_number(reader *r, uint64_t least, uint64_t *value) {
  kmb_status status = read_value(r);
  if (!status) status = number(r, &r->cells[0], value);
  if (!status && *value < least)
    status = fail_cell(r, &r->cells[0], "a number above 0");
  kmbi_jsonr_unpin(&r->json);
  return status;
}

static kmb_status read_tick(reader *r) {
  return read_number(r, 1, &r->trace->tick);
}

static kmb_status read_driver(reader *r) {
  return read_number(r, 0, &r->trace->driver_added);
}

static kmb_status read_runtime(reader *r) {
  return read_number(r, 0, &r->trace->runtime_added);
}

static kmb_status read_invalid(reader *r) {
  return read_number(r, 0, &r->invalid);
}

static kmb_status read_dropped(reader *r) {
  return read_number(r, 0, &r->trace->dropped);
}

static kmb_status read_base(reader *r) {
  return read_number(r, 0, &r->base);
}

static kmb_status read_single(reader *r) {
  kmb_status status = read_value(r);
  const kmbi_slice *cell = &r->cells[0];
  bool word = !status && cell->type == KMBI_SLICE_OTHER;
  r->trace->one_process = word && kmbi_slice_is(&r->json, cell, "true");
  if (!status && !r->trace->one_process &&
      !(word && kmbi_slice_is(&r->json, cell, "false")))
    status = fail_cell(r, cell, "true or false");
  kmbi_jsonr_unpin(&r->json);
  return status;
}

/* The whole. */

/* KEY_COUNT: not known. */
static kmb_status read_key(reader *r, top_key *found) {
  static const char *const keys[] = {
#define KEY_TEXT(name, key, function) key,
      KEYS(KEY_TEXT)
#undef KEY_TEXT
  };
  kmbi_slice key;
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  status = kmbi_jsonr_key(&r->json, &key);
  *found = KEY_COUNT;
  for (int i = 0; i < KEY_COUNT && !status; i++)
    if (kmbi_slice_is(&r->json, &key, keys[i])) *found = (top_key)i;
  kmbi_jsonr_unpin(&r->json);
  return status;
}

static kmb_status read_member(reader *r, uint32_t *seen) {
  static kmb_status (*const functions[])(reader *) = {
#define KEY_FUNCTION(name, key, function) function,
      KEYS(KEY_FUNCTION)
#undef KEY_FUNCTION
  };
  kmbi_slice ignored;
  top_key key = KEY_COUNT;
  kmb_status status = read_key(r, &key);
  if (status) return status;
  if (key == KEY_COUNT) return kmbi_jsonr_value(&r->json, 1, &ignored);
  if (*seen >> key & 1u)
    return kmbi_jsonr_fail(&r->json, "a key that stands twice");
  *seen |= 1u << key;
  return functions[key](r);
}

/* The first key, so that a later version is told before anything of it is
 * misread. */
static kmb_status read_version(reader *r) {
  kmbi_slice key;
  char c = 0;
  uint64_t version = 0;
  kmb_status status = kmbi_jsonr_take(&r->json, '{', "an object");
  if (!status) status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  status = kmbi_jsonr_key(&r->json, &key);
  bool ours = !status && kmbi_slice_is(&r->json, &key, "kmb_trace");
  if (!status && !ours)
    status = kmbi_jsonr_fail_at(&r->json, &key,
                                "\"kmb_trace\" is not the first key");
  kmbi_jsonr_unpin(&r->json);
  if (!status) status = read_number(r, 0, &version);
  if (!status && version != KMBI_TRACE_VERSION)
    status = kmbi_jsonr_fail(&r->json,
                             "version %llu of this format is not known to "
                             "libkmb %s, which reads %d",
                             (unsigned long long)version, KMB_VERSION,
                             KMBI_TRACE_VERSION);
  return status;
}

static kmb_status read_all(reader *r) {
  bool first = false, more = true; /* after the version comes a comma */
  uint32_t seen = 0;
  char c = 0;
  kmb_status status = read_version(r);
  while (!status) {
    status = kmbi_jsonr_next(&r->json, '}', &first, &more);
    if (status || !more) break;
    status = read_member(r, &seen);
  }
  if (!status) status = kmbi_jsonr_peek(&r->json, &c);
  if (!status && c)
    status = kmbi_jsonr_fail(&r->json, "text after the end of the trace");
  /* Without rows it may be anything that was cut. */
  if (!status && !(seen >> NAME_OPS & 1u))
    status = kmbi_jsonr_fail(&r->json, "there is no \"ops\"");
  if (!status && (!kmbi_add(r->trace->rows, r->invalid, &r->trace->rows) ||
                  !kmbi_add(r->trace->invalid, r->invalid, &r->trace->invalid)))
    status = kmbi_jsonr_fail(&r->json, "more rows than 64 bits can count");
  return status;
}

kmb_status kmbi_load_kmb(kmb_trace *trace, kmbi_source *source) {
  reader r = {.trace = trace};
  const kmbi_memory *memory = &trace->memory;
  trace->format = KMB_TRACE_KMB;
  kmbi_jsonr_init(&r.json, source);
  kmbi_rows_init(&r.names, memory, sizeof(uint32_t));
  kmbi_rows_init(&r.devices, memory, sizeof(device_row));
  kmbi_rows_init(&r.streams, memory, sizeof(stream_row));
  kmbi_rows_init(&r.threads, memory, sizeof(kmbi_thread));
  kmbi_rows_init(&r.shapes, memory, sizeof(uint32_t));
  kmb_status status = read_all(&r);
  kmbi_rows_release(&r.names);
  kmbi_rows_release(&r.devices);
  kmbi_rows_release(&r.streams);
  kmbi_rows_release(&r.threads);
  kmbi_rows_release(&r.shapes);
  return status;
}
