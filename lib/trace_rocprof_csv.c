/* Kernel and copy tables of rocprof v1, v2 and v3 as CSV. */
#include "trace_csv.h"

#include "error.h"

enum {
  NAME,
  START,
  END,
  DEVICE,
  SOURCE,
  QUEUE,
  STREAM,
  PROCESS,
  CORRELATION,
  DIRECTION,
  SHAPE
};

/* Of v3. Tables of v1 and v2 have but the products of x, y and z. */
static const char *const shape_keys[] = {"workgroupsizex", "workgroupsizey",
                                         "workgroupsizez", "gridsizex",
                                         "gridsizey",      "gridsizez"};

static bool want_any(kmbi_csv *csv, const char *a, const char *b, int slot) {
  return kmbi_csv_want(csv, a, slot) || kmbi_csv_want(csv, b, slot);
}

bool kmbi_rocprof_csv_match(kmbi_csv *csv, const char **lacks) {
  bool kernels = kmbi_csv_want(csv, "kernelname", NAME);
  bool copies = !kernels && kmbi_csv_want(csv, "direction", DIRECTION);
  if (!kernels && !copies) return false;
  if (!want_any(csv, "starttimestamp", "beginns", START))
    *lacks = "no column Start_Timestamp or BeginNs; was rocprof run with "
             "--timestamp on?";
  else if (!want_any(csv, "endtimestamp", "endns", END))
    *lacks = "no column End_Timestamp or EndNs";
  if (*lacks) return false;
  if (copies) {
    kmbi_csv_want(csv, "destinationagentid", DEVICE);
    kmbi_csv_want(csv, "sourceagentid", SOURCE);
  } else {
    want_any(csv, "agentid", "gpuid", DEVICE);
  }
  kmbi_csv_want(csv, "queueid", QUEUE);
  kmbi_csv_want(csv, "streamid", STREAM);
  kmbi_csv_want(csv, "pid", PROCESS);
  kmbi_csv_want(csv, "correlationid", CORRELATION);
  if (kernels) kmbi_csv_want_shape(csv, shape_keys, SHAPE);
  return true;
}

/* A word, perhaps, before the number: of "0x17" or "1.5" the end is no number.
 */
static bool is_word(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    bool letter = (text[i] | 32) >= 'a' && (text[i] | 32) <= 'z';
    if (!letter && (i == 0 || (text[i] != ' ' && text[i] != '_'))) return false;
  }
  return true;
}

/* Text in which only the number at the end counts: "7", "Agent 7". */
static kmb_status trailing_number(const kmbi_csv *csv, const kmbi_field *field,
                                  const char *what, uint64_t *value) {
  kmbi_field digits = *field;
  size_t count = 0;
  while (count < field->size && field->text[field->size - 1 - count] >= '0' &&
         field->text[field->size - 1 - count] <= '9')
    count++;
  digits.text += field->size - count;
  digits.size = count;
  if (!count || !is_word(field->text, field->size - count))
    return kmbi_csv_fail(csv, field, "%s has no number: \"%.*s\"", what,
                         (int)(field->size < 40 ? field->size : 40),
                         field->text);
  return kmbi_csv_whole(csv, &digits, what, value);
}

static bool has(const kmbi_field *field, const char *part) {
  size_t size = strlen(part);
  for (size_t i = 0; i + size <= field->size; i++) {
    if (memcmp(field->text + i, part, size) == 0) return true;
  }
  return false;
}

/* The side of a copy that is a device: what it comes from, if it goes to the
 * host. */
static const kmbi_field *device_field(const kmbi_csv *csv) {
  const kmbi_field *direction = &csv->fields[DIRECTION];
  if (!direction->present) return &csv->fields[DEVICE];
  bool to_host = has(direction, "TO_HOST") || has(direction, "DtoH") ||
                 has(direction, "D2H") || has(direction, "DeviceToHost");
  return &csv->fields[to_host ? SOURCE : DEVICE];
}

static kmb_status read_device(const kmbi_csv *csv, kmbi_op_row *row) {
  const kmbi_field *field = device_field(csv);
  row->device = KMBI_UNKNOWN;
  return field->size ? trailing_number(csv, field, "the agent", &row->device)
                     : KMB_OK;
}

static kmb_status optional(const kmbi_csv *csv, int slot, const char *what,
                           uint64_t *value) {
  const kmbi_field *field = &csv->fields[slot];
  *value = 0;
  return field->size ? trailing_number(csv, field, what, value) : KMB_OK;
}

static kmb_status read_times(const kmbi_csv *csv, kmbi_op_row *row) {
  kmbi_decimal start, end;
  kmb_status status =
      kmbi_csv_number(csv, &csv->fields[START], "the start", 0, &start);
  if (!status)
    status = kmbi_csv_number(csv, &csv->fields[END], "the end", 0, &end);
  if (status) return status;
  row->start = start.value;
  row->end = end.value;
  row->invalid = start.negative || end.negative;
  return KMB_OK;
}

static kmb_status read_row(kmb_trace *trace, kmbi_csv *csv,
                           kmbi_csv_shapes *shapes) {
  kmbi_op_row row = {.bytes = KMBI_UNKNOWN, .kind = KMB_OP_KERNEL};
  bool copy = csv->fields[DIRECTION].present;
  bool streams = csv->fields[STREAM].present;
  kmbi_field *name = &csv->fields[copy ? DIRECTION : NAME];
  char text[96] = "[memcpy ";
  kmb_status status = read_times(csv, &row);
  if (!status) status = read_device(csv, &row);
  if (!status)
    status = optional(csv, streams ? STREAM : QUEUE, "the queue or stream",
                      &row.stream);
  if (!status) status = optional(csv, PROCESS, "the process", &row.process);
  if (!status)
    status = optional(csv, CORRELATION, "the correlation", &row.correlation);
  if (status) return status;
  row.has_stream = csv->fields[streams ? STREAM : QUEUE].size > 0;
  row.shape = kmbi_csv_shape(shapes, &csv->fields[SHAPE]);
  kmbi_csv_undouble(name);
  row.name = name->text;
  row.name_size = name->size;
  if (copy) {
    size_t size = name->size < 64 ? name->size : 64;
    row.kind = KMB_OP_MEMCPY;
    memcpy(text + 8, name->text, size);
    text[8 + size] = ']';
    row.name = text;
    row.name_size = size + 9;
  }
  return kmbi_trace_put_op(trace, &row);
}

kmb_status kmbi_rocprof_csv_rows(kmb_trace *trace, kmbi_csv *csv) {
  kmbi_csv_shapes shapes = {.trace = trace, .items = true};
  bool more = false;
  kmb_status status = kmbi_csv_row(csv, &more);
  while (!status && more) {
    status = read_row(trace, csv, &shapes);
    if (!status) status = kmbi_csv_row(csv, &more);
  }
  return status;
}
