/* Chrome JSON, as the torch profiler (Kineto) writes it: of the complete events
 * those of the device, of the runtime and driver, and the user's ranges. */
#include "decimal.h"
#include "error.h"
#include "trace_json.h"

#include <strings.h>

/* Members of an event, and of its "args", that are looked at. */
typedef enum member {
  PH,
  CAT,
  NAME,
  PID,
  TID,
  TS,
  DUR,
  DEVICE,
  CONTEXT,
  STREAM,
  CORRELATION,
  BYTES,
  PROCESS,
  GRID,
  BLOCK,
  HOST_PROCESS,
  HOST_THREAD,
  MEMBERS
} member;

enum { FIRST_ARG = DEVICE };

#define KEY(text) \
  { text, sizeof(text) - 1 }
static const struct {
  const char *text;
  size_t size;
} keys[MEMBERS] = {KEY("ph"),          KEY("cat"),         KEY("name"),
                   KEY("pid"),         KEY("tid"),         KEY("ts"),
                   KEY("dur"),         KEY("device"),      KEY("context"),
                   KEY("stream"),      KEY("correlation"), KEY("bytes"),
                   KEY("process"),     KEY("grid"),        KEY("block"),
                   KEY("kmb_process"), KEY("kmb_thread")};

typedef struct event {
  size_t at; /* of its brace, from source->begin */
  kmbi_slice members[MEMBERS];
} event;

/* A device as "deviceProperties" has it. */
typedef struct property {
  uint64_t id;
  uint32_t name; /* in kmb_trace::names */
  uint32_t reserved;
} property;

typedef struct reader {
  kmbi_jsonr json;
  kmb_trace *trace;
  kmbi_rows properties;
  int decimals;   /* most that a time of an operation had */
  bool processes; /* operations say to which they belong */
  uint64_t base;  /* ns, added to each time: of our own files */
} reader;

typedef enum role { NOTHING, OPERATION, CALL, RANGE } role;

typedef struct category {
  const char *name;
  size_t size;
  role role;
  kmb_op_kind kind;
} category;

#define NAMED(text) text, sizeof(text) - 1
/* Older traces have capital letters. gpu_user_annotation is none of them: it
 * spans kernels. */
static const category categories[] = {
    {NAMED("kernel"), OPERATION, KMB_OP_KERNEL},
    {NAMED("gpu_memcpy"), OPERATION, KMB_OP_MEMCPY},
    {NAMED("memcpy"), OPERATION, KMB_OP_MEMCPY},
    {NAMED("gpu_memset"), OPERATION, KMB_OP_MEMSET},
    {NAMED("memset"), OPERATION, KMB_OP_MEMSET},
    {NAMED("gpu_graph"), OPERATION, KMB_OP_GRAPH},
    {NAMED("cuda_runtime"), CALL, 0},
    {NAMED("cuda_driver"), CALL, 0},
    {NAMED("runtime"), CALL, 0},
    {NAMED("user_annotation"), RANGE, 0}};

static const category *category_of(const reader *r, const event *e) {
  const kmbi_slice *cat = &e->members[CAT];
  const char *text = kmbi_slice_text(&r->json, cat);
  if (cat->type != KMBI_SLICE_STRING) return NULL;
  for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
    if (categories[i].size == cat->size &&
        strncasecmp(text, categories[i].name, cat->size) == 0)
      return &categories[i];
  }
  return NULL;
}

/* Reading. */

/* Most keys of "args" are none of ours, and their sizes already tell. */
#define SIZE(text) (UINT64_C(1) << (sizeof(text) - 1))
static const uint64_t arg_sizes =
    SIZE("device") | SIZE("context") | SIZE("stream") | SIZE("correlation") |
    SIZE("bytes") | SIZE("process") | SIZE("grid") | SIZE("block") |
    SIZE("kmb_process") | SIZE("kmb_thread");

static bool may_be_arg(const kmbi_slice *key) {
  return key->size < 64 && arg_sizes >> key->size & 1;
}

static int find_key(const reader *r, const kmbi_slice *key, int from, int to) {
  const char *text = kmbi_slice_text(&r->json, key);
  for (int i = from; i < to; i++) {
    if (keys[i].size == key->size && memcmp(text, keys[i].text, key->size) == 0)
      return i;
  }
  return MEMBERS;
}

static kmb_status read_member(reader *r, event *e, int index, int depth) {
  kmbi_slice ignored;
  bool again = index < MEMBERS && e->members[index].type != KMBI_SLICE_NONE;
  kmbi_slice *value = index < MEMBERS && !again ? &e->members[index] : &ignored;
  kmb_status status = kmbi_jsonr_value(&r->json, depth, value);
  if (status || !again) return status;
  if (index == GRID || index == BLOCK) { /* which of the two is not known */
    e->members[index].size = 0;
    return KMB_OK;
  }
  return kmbi_jsonr_fail_at(&r->json, value, "\"%s\" stands twice",
                            keys[index].text);
}

static kmb_status read_args(reader *r, event *e) {
  bool first = true, more = true;
  kmbi_slice key;
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  if (c != '{') return kmbi_jsonr_value(&r->json, 3, &key);
  r->json.at++;
  while (!(status = kmbi_jsonr_member(&r->json, &first, &more, &key)) && more) {
    int index =
        may_be_arg(&key) ? find_key(r, &key, FIRST_ARG, MEMBERS) : MEMBERS;
    status = read_member(r, e, index, 4);
    if (status) return status;
  }
  return status;
}

static kmb_status read_event(reader *r, event *e) {
  bool first = true, more = true;
  kmbi_slice key;
  kmb_status status = kmbi_jsonr_take(&r->json, '{', "an event");
  if (status) return status;
  while (!(status = kmbi_jsonr_member(&r->json, &first, &more, &key)) && more) {
    if (kmbi_slice_is(&r->json, &key, "args"))
      status = read_args(r, e);
    else
      status = read_member(r, e, find_key(r, &key, 0, FIRST_ARG), 3);
    if (status) return status;
  }
  return status;
}

/* Meaning. */

/* `*bad`: it is negative, or beyond what can be counted. */
static kmb_status read_time(reader *r, const event *e, member index,
                            uint64_t *ns, bool *bad) {
  const kmbi_slice *slice = &e->members[index];
  kmbi_decimal number;
  if (slice->type != KMBI_SLICE_NUMBER)
    return kmbi_jsonr_fail_at(
        &r->json, slice->type ? slice : &(kmbi_slice){.at = e->at},
        slice->type ? "\"%s\" is no number" : "the event has no \"%s\"",
        keys[index].text);
  if (kmbi_decimal_read(kmbi_slice_text(&r->json, slice), slice->size, 3,
                        &number) != KMBI_DECIMAL_OK)
    return kmbi_jsonr_fail_at(&r->json, slice,
                              "\"%s\" does not fit into 64 bits of ns",
                              keys[index].text);
  *ns = number.value;
  *bad = number.negative && number.value;
  if (index == TS && !*bad) *bad = !kmbi_add(number.value, r->base, ns);
  if (index == TS && number.decimals > r->decimals)
    r->decimals = number.decimals;
  return KMB_OK;
}

/* A whole number, given as one or as a string; false if it is none. */
static bool whole(const reader *r, const event *e, member index,
                  uint64_t *value) {
  const kmbi_slice *slice = &e->members[index];
  kmbi_decimal number;
  if (slice->type == KMBI_SLICE_NONE || slice->type == KMBI_SLICE_OTHER)
    return false;
  if (kmbi_decimal_read(kmbi_slice_text(&r->json, slice), slice->size, 0,
                        &number) != KMBI_DECIMAL_OK ||
      number.negative || number.decimals)
    return false;
  *value = number.value;
  return true;
}

/* "[64, 1, 1]" and nothing else; zeroes if it is not that. */
static void three(const reader *r, const event *e, member index,
                  uint32_t sizes[3]) {
  const kmbi_slice *slice = &e->members[index];
  uint32_t got[3] = {0};
  if (slice->type != KMBI_SLICE_OTHER || !slice->size) return;
  const char *at = kmbi_slice_text(&r->json, slice), *end = at + slice->size;
  for (int i = 0; i < 3; i++) {
    if (*at++ != (i ? ',' : '[')) return;
    while (at < end && strchr(" \t\r\n", *at))
      at++;
    uint64_t value = 0;
    const char *start = at;
    for (; at < end && *at >= '0' && *at <= '9' && at - start < 10; at++)
      value = 10 * value + (uint64_t)(*at - '0');
    if (value > UINT32_MAX) return;
    while (at < end && strchr(" \t\r\n", *at))
      at++;
    got[i] = (uint32_t)value;
  }
  if (*at == ']') memcpy(sizes, got, sizeof got);
}

static uint32_t shape_of(const reader *r, const event *e) {
  kmbi_shape shape = {{0}, {0}};
  if (kmbi_source_no_shapes(r->json.source)) return 0;
  three(r, e, GRID, shape.grid);
  three(r, e, BLOCK, shape.block);
  return kmbi_trace_shape(r->trace, &shape);
}

static kmb_status read_name(const reader *r, event *e, const char **name,
                            size_t *size) {
  kmbi_slice *slice = &e->members[NAME];
  if (slice->type != KMBI_SLICE_STRING)
    return kmbi_jsonr_fail_at(&r->json,
                              slice->type ? slice : &(kmbi_slice){.at = e->at},
                              "the event has no \"name\" that is a string");
  kmb_status status = kmbi_slice_decode(&r->json, slice);
  *name = kmbi_slice_text(&r->json, slice);
  *size = slice->size;
  return status;
}

static kmb_status put_op(reader *r, event *e, kmb_op_kind kind) {
  kmbi_op_row row = {.kind = kind, .bytes = KMBI_UNKNOWN};
  uint64_t length = 0;
  bool before = false, negative = false;
  kmb_status status = read_name(r, e, &row.name, &row.name_size);
  if (!status) status = read_time(r, e, TS, &row.start, &before);
  if (!status) status = read_time(r, e, DUR, &length, &negative);
  if (status) return status;
  row.invalid = before || negative || !kmbi_add(row.start, length, &row.end);
  row.device = KMBI_UNKNOWN;
  whole(r, e, DEVICE, &row.device);
  row.has_stream = whole(r, e, STREAM, &row.stream);
  whole(r, e, CONTEXT, &row.context);
  whole(r, e, CORRELATION, &row.correlation);
  whole(r, e, BYTES, &row.bytes);
  row.shape = shape_of(r, e);
  if (whole(r, e, PROCESS, &row.process)) r->processes = true;
  return kmbi_trace_put_op(r->trace, &row);
}

static kmb_status put_host(reader *r, event *e, role what) {
  kmbi_host_row row = {0};
  uint64_t length = 0;
  bool before = false, negative = false;
  kmb_status status = read_name(r, e, &row.name, &row.name_size);
  if (!status) status = read_time(r, e, TS, &row.start, &before);
  if (!status) status = read_time(r, e, DUR, &length, &negative);
  if (status) return status;
  if (before || negative || !kmbi_add(row.start, length, &row.end))
    return KMB_OK;
  if (!whole(r, e, HOST_PROCESS, &row.process)) whole(r, e, PID, &row.process);
  if (!whole(r, e, HOST_THREAD, &row.thread)) whole(r, e, TID, &row.thread);
  if (what == RANGE) return kmbi_trace_put_range(r->trace, &row);
  whole(r, e, CORRELATION, &row.correlation);
  row.kind = kmbi_call_kind_of(row.name, row.name_size);
  return kmbi_trace_put_call(r->trace, &row);
}

static kmb_status one_event(reader *r) {
  event e;
  char c = 0;
  e.at = 0;
  /* The types say that nothing else is there. */
  for (int i = 0; i < MEMBERS; i++)
    e.members[i].type = KMBI_SLICE_NONE;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  status = read_event(r, &e);
  const category *found = NULL;
  if (!status && e.members[PH].type == KMBI_SLICE_STRING &&
      kmbi_slice_is(&r->json, &e.members[PH], "X"))
    found = category_of(r, &e);
  if (found)
    status = found->role == OPERATION ? put_op(r, &e, found->kind)
                                      : put_host(r, &e, found->role);
  kmbi_jsonr_unpin(&r->json);
  return status;
}

static kmb_status read_events(reader *r) {
  bool first = true, more = true;
  kmb_status status = kmbi_jsonr_take(&r->json, '[', "a list of events");
  while (!status) {
    status = kmbi_jsonr_next(&r->json, ']', &first, &more);
    if (status || !more) return status;
    status = one_event(r);
  }
  return status;
}

/* Devices by name. What is none is left alone: operations do not need it. */

static kmb_status put_property(reader *r, const kmbi_slice *id,
                               kmbi_slice *name) {
  property p = {.id = KMBI_UNKNOWN};
  kmbi_decimal number;
  if (id->type != KMBI_SLICE_NUMBER || name->type != KMBI_SLICE_STRING ||
      kmbi_decimal_read(kmbi_slice_text(&r->json, id), id->size, 0, &number) !=
          KMBI_DECIMAL_OK ||
      number.negative || number.decimals)
    return KMB_OK;
  kmb_status status = kmbi_slice_decode(&r->json, name);
  if (status) return status;
  p.id = number.value;
  p.name = kmbi_trace_intern(r->trace, 0, kmbi_slice_text(&r->json, name),
                             name->size);
  property *row = p.name == KMBI_NO_ROW ? NULL : kmbi_rows_add(&r->properties);
  if (!row) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a trace's devices");
  *row = p;
  return KMB_OK;
}

static kmb_status read_property(reader *r) {
  kmbi_slice key, id = {0}, name = {0}, ignored;
  bool first = true, more = true;
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  if (c != '{') {
    status = kmbi_jsonr_value(&r->json, 2, &ignored);
    kmbi_jsonr_unpin(&r->json);
    return status;
  }
  r->json.at++;
  while (!(status = kmbi_jsonr_member(&r->json, &first, &more, &key)) && more) {
    kmbi_slice *value = &ignored;
    if (kmbi_slice_is(&r->json, &key, "id")) value = &id;
    if (kmbi_slice_is(&r->json, &key, "name")) value = &name;
    status = kmbi_jsonr_value(&r->json, 3, value);
    if (status) break;
  }
  if (!status) status = put_property(r, &id, &name);
  kmbi_jsonr_unpin(&r->json);
  return status;
}

static kmb_status read_properties(reader *r) {
  bool first = true, more = true;
  kmbi_slice ignored;
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (!status && c != '[') return kmbi_jsonr_value(&r->json, 1, &ignored);
  if (!status) status = kmbi_jsonr_take(&r->json, '[', "a list of devices");
  while (!status) {
    status = kmbi_jsonr_next(&r->json, ']', &first, &more);
    if (status || !more) return status;
    status = read_property(r);
  }
  return status;
}

/* Of two names for one device none is believed. */
static void name_devices(const reader *r) {
  for (uint32_t i = 0; i < r->trace->devices.count; i++) {
    kmbi_trace_device *device = kmbi_rows_at(&r->trace->devices, i);
    uint32_t name = KMBI_NO_ROW;
    bool several = false;
    for (uint32_t k = 0; k < r->properties.count; k++) {
      const property *p = kmbi_rows_at(&r->properties, k);
      if (p->id != device->id || device->id == KMBI_UNKNOWN) continue;
      several = several || (name != KMBI_NO_ROW && name != p->name);
      name = p->name;
    }
    if (name != KMBI_NO_ROW && !several) device->name = name;
  }
}

/* The value of a key of ours; the reader is at it. */
static kmb_status read_ours(reader *r, uint64_t *value) {
  kmbi_slice slice;
  char c = 0;
  kmb_status status = kmbi_jsonr_peek(&r->json, &c);
  if (status) return status;
  kmbi_jsonr_pin(&r->json);
  status = kmbi_jsonr_value(&r->json, 1, &slice);
  if (!status) status = kmbi_slice_u64(&r->json, &slice, value);
  kmbi_jsonr_unpin(&r->json);
  return status;
}

/* A key and its value, but for the events. */
static kmb_status read_other(reader *r, const kmbi_slice *key, bool seen) {
  kmbi_slice ignored;
  bool base = kmbi_slice_is(&r->json, key, "kmb_base_ns");
  bool dropped = kmbi_slice_is(&r->json, key, "kmb_dropped");
  bool driver = kmbi_slice_is(&r->json, key, "kmb_driver_added_ns");
  bool runtime = kmbi_slice_is(&r->json, key, "kmb_runtime_added_ns");
  bool devices = kmbi_slice_is(&r->json, key, "deviceProperties");
  kmbi_jsonr_unpin(&r->json);
  if (base && seen)
    return kmbi_jsonr_fail(&r->json,
                           "\"kmb_base_ns\" stands behind the events");
  if (devices) return read_properties(r);
  if (base) return read_ours(r, &r->base);
  if (dropped) return read_ours(r, &r->trace->dropped);
  if (driver) return read_ours(r, &r->trace->driver_added);
  if (runtime) return read_ours(r, &r->trace->runtime_added);
  return kmbi_jsonr_value(&r->json, 1, &ignored);
}

static kmb_status read_top(reader *r) {
  bool first = true, more = true, seen = false;
  kmbi_slice key;
  kmb_status status = kmbi_jsonr_take(&r->json, '{', "an object");
  while (!status) {
    status = kmbi_jsonr_next(&r->json, '}', &first, &more);
    if (status || !more) break;
    char c = 0;
    status = kmbi_jsonr_peek(&r->json, &c);
    if (status) break;
    kmbi_jsonr_pin(&r->json);
    status = kmbi_jsonr_key(&r->json, &key);
    bool events = !status && kmbi_slice_is(&r->json, &key, "traceEvents");
    if (!status && !events) status = read_other(r, &key, seen);
    kmbi_jsonr_unpin(&r->json);
    if (status) break;
    if (!events) continue;
    status = seen ? kmbi_jsonr_fail(&r->json, "\"traceEvents\" stands twice")
                  : read_events(r);
    seen = true;
  }
  if (!status && !seen)
    return kmbi_jsonr_fail(&r->json,
                           "there is no \"traceEvents\": JSON, but no "
                           "trace");
  return status;
}

kmb_status kmbi_load_chrome(kmb_trace *trace, kmbi_source *source) {
  reader r = {.trace = trace};
  char c = 0;
  trace->format = KMB_TRACE_CHROME_JSON;
  kmbi_jsonr_init(&r.json, source);
  kmbi_rows_init(&r.properties, &trace->memory, sizeof(property));
  kmb_status status = kmbi_jsonr_peek(&r.json, &c);
  if (!status) status = c == '[' ? read_events(&r) : read_top(&r);
  if (!status) status = kmbi_jsonr_peek(&r.json, &c);
  if (!status && c)
    status = kmbi_jsonr_fail(&r.json, "text after the end of the trace");
  if (!status) name_devices(&r);
  kmbi_rows_release(&r.properties);
  /* Kineto names no process where there is but one. */
  trace->one_process = !r.processes;
  for (int i = r.decimals; i < 3 && trace->rows; i++)
    trace->tick *= 10;
  return status;
}
