/* The table cuda_gpu_trace of nsys as CSV. Versions differ in columns and
 * units: three columns are needed, the others are taken where they are. */
#include "trace_csv.h"

#include "error.h"

enum {
  START,
  DURATION,
  NAME,
  DEVICE,
  CONTEXT,
  STREAM,
  CORRELATION,
  BYTES,
  SHAPE
};

typedef struct reader {
  kmbi_csv *csv;
  kmb_trace *trace;
  int start_places, duration_places, byte_places;
  int decimals;     /* most that a start had */
  char device[128]; /* the last text of a device, and what it means */
  size_t device_size;
  uint64_t device_id;
  size_t device_name_size;
  kmbi_csv_shapes shapes;
} reader;

/* Tables of nsys that have a start and a duration too, but of the host. */
static bool is_host_table(const kmbi_csv *csv) {
  static const char *const keys[] = {"result", "tid", "rangeid", "origtid"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (kmbi_csv_column(csv, keys[i]) >= 0) return true;
  }
  return false;
}

static int places_of(const kmbi_csv *csv, const char *key) {
  return kmbi_csv_time_places(csv->header[kmbi_csv_column(csv, key)].unit);
}

static const char *const shape_keys[] = {"grdx", "grdy", "grdz",
                                         "blkx", "blky", "blkz"};

bool kmbi_nsys_csv_match(kmbi_csv *csv, const char **lacks) {
  bool start = kmbi_csv_want(csv, "start", START);
  bool duration = kmbi_csv_want(csv, "duration", DURATION);
  bool name = kmbi_csv_want(csv, "name", NAME);
  if (start + duration + name < 2) return false;
  if (!start || !duration || !name)
    *lacks = !start      ? "the column Start is missing"
             : !duration ? "the column Duration is missing"
                         : "the column Name is missing";
  else if (is_host_table(csv))
    *lacks = "this is a table of the host; export cuda_gpu_trace";
  else if (places_of(csv, "start") < 0)
    *lacks = "Start has no unit of time, such as (ns)";
  else if (places_of(csv, "duration") < 0)
    *lacks = "Duration has no unit of time, such as (ns)";
  if (*lacks) return false;
  kmbi_csv_want(csv, "device", DEVICE);
  kmbi_csv_want(csv, "ctx", CONTEXT);
  kmbi_csv_want(csv, "strm", STREAM);
  kmbi_csv_want(csv, "corrid", CORRELATION);
  kmbi_csv_want(csv, "bytes", BYTES);
  kmbi_csv_want_shape(csv, shape_keys, SHAPE);
  return true;
}

static int byte_places(const kmbi_csv *csv) {
  static const char *const units[] = {"B", "",   "", "KB", "",
                                      "",  "MB", "", "",   "GB"};
  int column = kmbi_csv_column(csv, "bytes");
  if (column < 0) return -1;
  const char *unit = csv->header[column].unit;
  if (!*unit) return 0;
  for (int i = 0; i < 10; i++) {
    if (*units[i] && strcmp(unit, units[i]) == 0) return i;
  }
  return -1;
}

static kmb_op_kind kind_of(const kmbi_field *name) {
  static const char copy[] = "[CUDA memcpy", set[] = "[CUDA memset",
                    graph[] = "[CUDA Graph";
  if (name->size < sizeof copy || name->text[0] != '[') return KMB_OP_KERNEL;
  if (memcmp(name->text, copy, sizeof copy - 1) == 0) return KMB_OP_MEMCPY;
  if (memcmp(name->text, set, sizeof set - 1) == 0) return KMB_OP_MEMSET;
  if (memcmp(name->text, graph, sizeof graph - 1) == 0) return KMB_OP_GRAPH;
  return KMB_OP_KERNEL;
}

/* "NVIDIA A100-SXM4-80GB (0)": the number in the last parentheses. */
static void read_device(reader *r, const kmbi_field *field) {
  const char *text = field->text;
  size_t size = field->size;
  r->device_id = KMBI_UNKNOWN;
  r->device_name_size = size;
  if (size < 3 || text[size - 1] != ')') return;
  uint64_t id = 0, unit = 1;
  size_t at = size - 1;
  for (; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9'; at--) {
    if (size - at > 10) return;
    id += unit * (uint64_t)(text[at - 1] - '0');
    unit *= 10;
  }
  if (at == size - 1 || at == 0 || text[at - 1] != '(') return;
  r->device_id = id;
  at--;
  while (at > 0 && text[at - 1] == ' ')
    at--;
  r->device_name_size = at;
}

static void set_device(reader *r, kmbi_op_row *row) {
  kmbi_field *field = &r->csv->fields[DEVICE];
  row->device = KMBI_UNKNOWN;
  if (!field->size) return;
  kmbi_csv_undouble(field);
  bool same = field->size == r->device_size &&
              memcmp(field->text, r->device, field->size) == 0;
  if (!same) {
    read_device(r, field);
    r->device_size = field->size <= sizeof r->device ? field->size : 0;
    memcpy(r->device, field->text, r->device_size);
  }
  row->device = r->device_id;
  row->device_name = field->text;
  row->device_name_size = r->device_name_size;
}

static kmb_status read_times(reader *r, kmbi_op_row *row) {
  kmbi_decimal start, duration;
  const kmbi_field *fields = r->csv->fields;
  kmb_status status =
      kmbi_csv_number(r->csv, &fields[START], "Start", r->start_places, &start);
  if (!status)
    status = kmbi_csv_number(r->csv, &fields[DURATION], "Duration",
                             r->duration_places, &duration);
  if (status) return status;
  row->start = start.value;
  row->invalid = start.negative || duration.negative ||
                 !kmbi_add(start.value, duration.value, &row->end);
  if (start.decimals > r->decimals) r->decimals = start.decimals;
  return KMB_OK;
}

static kmb_status read_bytes(const reader *r, kmbi_op_row *row) {
  const kmbi_field *field = &r->csv->fields[BYTES];
  kmbi_decimal bytes;
  row->bytes = KMBI_UNKNOWN;
  if (r->byte_places < 0 || !field->size) return KMB_OK;
  kmb_status status =
      kmbi_csv_number(r->csv, field, "Bytes", r->byte_places, &bytes);
  if (!status && bytes.negative)
    status = kmbi_csv_fail(r->csv, field, "Bytes is negative");
  if (!status) row->bytes = bytes.value;
  return status;
}

static kmb_status optional(const kmbi_csv *csv, int slot, const char *what,
                           uint64_t *value) {
  const kmbi_field *field = &csv->fields[slot];
  *value = 0;
  return field->size ? kmbi_csv_whole(csv, field, what, value) : KMB_OK;
}

static kmb_status read_row(reader *r) {
  kmbi_csv *csv = r->csv;
  kmbi_field *name = &csv->fields[NAME];
  kmbi_op_row row = {0};
  kmb_status status = read_times(r, &row);
  if (!status) status = optional(csv, CONTEXT, "Ctx", &row.context);
  if (!status) status = optional(csv, STREAM, "Strm", &row.stream);
  if (!status) status = optional(csv, CORRELATION, "CorrId", &row.correlation);
  if (!status) status = read_bytes(r, &row);
  if (status) return status;
  set_device(r, &row);
  kmbi_csv_undouble(name);
  row.name = name->text;
  row.name_size = name->size;
  row.kind = kind_of(name);
  row.has_stream = csv->fields[STREAM].size > 0;
  row.shape = kmbi_csv_shape(&r->shapes, &csv->fields[SHAPE]);
  return kmbi_trace_put_op(r->trace, &row);
}

kmb_status kmbi_nsys_csv_rows(kmb_trace *trace, kmbi_csv *csv) {
  reader r = {.csv = csv,
              .trace = trace,
              .shapes = {.trace = trace},
              .start_places = places_of(csv, "start"),
              .duration_places = places_of(csv, "duration"),
              .byte_places = byte_places(csv)};
  bool more = false;
  kmb_status status = kmbi_csv_row(csv, &more);
  while (!status && more) {
    status = read_row(&r);
    if (!status) status = kmbi_csv_row(csv, &more);
  }
  for (int i = r.decimals; i < r.start_places && trace->rows; i++)
    trace->tick *= 10;
  return status;
}
