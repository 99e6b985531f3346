/* Tables in CSV: rows, numbers, and the search for the header. */
#include "trace_csv.h"

#include "error.h"
#include "scan.h"

#include <ctype.h>
#include <stdio.h>

/* What ends a cell that is not quoted. */
static const bool stops[256] = {
    ['\0'] = true, [','] = true, ['\n'] = true, ['\r'] = true};

/* Place of a byte of the current row. */
static void place_of(const kmbi_csv *csv, const char *at, uint64_t *line,
                     uint64_t *column) {
  const char *start = csv->source->buffer + csv->source->begin;
  *line = csv->line;
  for (const char *p = start; p < at; p++) {
    if (*p != '\n') continue;
    ++*line;
    start = p + 1;
  }
  *column = (uint64_t)(at - start) + 1;
}

static kmb_status fail_at(const kmbi_csv *csv, const char *at,
                          const char *cause) {
  uint64_t line = 0, column = 0;
  place_of(csv, at, &line, &column);
  return kmbi_source_fail(csv->source, line, column, "%s", cause);
}

kmb_status kmbi_csv_fail(const kmbi_csv *csv, const kmbi_field *field,
                         const char *format, ...) {
  char cause[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  return fail_at(csv, field->text, cause);
}

/* What came of looking at a row that may not be whole yet. */
typedef enum outcome { ROW, CUT, BAD } outcome;

/* At a zero byte that nothing follows. */
static bool at_end(const kmbi_csv *csv, const char *at) {
  return at == csv->source->buffer + csv->source->end;
}

/* At the opening quote; leaves `*at` behind the closing one. */
static outcome quoted(kmbi_csv *csv, const char **at, kmbi_field *field,
                      kmb_status *status) {
  const char *p = *at + 1, *zero = NULL;
  kmbi_scan scan = kmbi_scan_from(p, '"');
  *field = (kmbi_field){.text = p, .present = true};
  for (;; kmbi_scan_pass(&scan)) {
    p = kmbi_scan_at(&scan, '"');
    if (*p == '"') {
      if (at_end(csv, p + 1) && !csv->source->ended) return CUT;
      if (p[1] != '"') break;
      field->doubled = true;
      scan = kmbi_scan_from(p + 1, '"');
    } else if (*p == '\n') {
      csv->height++;
    } else if (!*p) {
      if (at_end(csv, p)) {
        if (!csv->source->ended) return CUT;
        *status = fail_at(csv, *at, "the text ends within this quoted cell");
        return BAD;
      }
      if (!zero) zero = p;
    }
  }
  field->size = (size_t)(p - field->text);
  if (zero || !stops[(unsigned char)p[1]]) {
    *status = fail_at(csv, zero ? zero : p + 1,
                      zero ? "a zero byte" : "text after a closing quote");
    return BAD;
  }
  *at = p + 1;
  return ROW;
}

/* At what ended the last cell of a row; leaves `*at` behind the row. */
static outcome row_end(kmbi_csv *csv, const char **at, kmb_status *status) {
  const kmbi_source *source = csv->source;
  const char *end = source->buffer + source->end, *p = *at;
  if (*p == '\r') {
    if (p + 1 == end && !source->ended) return CUT;
    if (p + 1 == end || p[1] == '\n') p++;
  }
  if (p == end) {
    *at = p;
    return source->ended ? ROW : CUT;
  }
  if (*p == '\n') {
    csv->height++;
    *at = p + 1;
    return ROW;
  }
  *status =
      fail_at(csv, p, *p ? "a carriage return within a row" : "a zero byte");
  return BAD;
}

static outcome wrong_width(const kmbi_csv *csv, const char *at, uint32_t cells,
                           kmb_status *status) {
  char cause[80];
  snprintf(cause, sizeof cause, "the row has %s %u cells, the header has %u",
           cells > csv->columns ? "more than" : "only",
           (unsigned)(cells > csv->columns ? csv->columns : cells),
           (unsigned)csv->columns);
  *status = fail_at(csv, at, cause);
  return BAD;
}

/* Passes cells from `column` on that nobody wants, as far as they are plain;
 * never the last of the row. */
static inline const char *skip(const kmbi_csv *csv, kmbi_scan *scan,
                               const char *start, uint32_t *column) {
  for (uint32_t left = csv->skips[*column]; left && *start != '"'; left--) {
    const char *at = kmbi_scan_at(scan, ',');
    if (*at != ',') break;
    kmbi_scan_pass(scan);
    start = at + 1;
    ++*column;
  }
  return start;
}

static outcome parse_row(kmbi_csv *csv, const char **next, uint32_t *cells,
                         kmb_status *status) {
  const char *at = csv->source->buffer + csv->source->begin, *start = at;
  kmbi_scan scan = kmbi_scan_from(at, ',');
  uint32_t column = 0, columns = csv->columns;
  csv->height = 0;
  for (;;) {
    start = skip(csv, &scan, start, &column);
    kmbi_field *field = &csv->fields[csv->slots[column]];
    if (*start == '"') {
      at = start;
      outcome found = quoted(csv, &at, field, status);
      if (found != ROW) return found;
      if (*at == ',') scan = kmbi_scan_from(at, ',');
    } else {
      at = kmbi_scan_at(&scan, ',');
      /* A tab and its like are part of a cell. */
      for (; !stops[(unsigned char)*at]; at = kmbi_scan_at(&scan, ','))
        kmbi_scan_pass(&scan);
      *field = (kmbi_field){start, (size_t)(at - start), false, true};
    }
    column++;
    if (*at != ',') break;
    if (column == columns) return wrong_width(csv, at, column + 1, status);
    kmbi_scan_pass(&scan);
    start = at + 1;
  }
  *next = at;
  *cells = column;
  return row_end(csv, next, status);
}

kmb_status kmbi_csv_row(kmbi_csv *csv, bool *more) {
  kmbi_source *source = csv->source;
  kmb_status status = KMB_OK;
  *more = false;
  /* The last row's place in the buffer is kept until here, for messages. */
  source->begin += csv->size;
  csv->line += csv->height;
  csv->size = 0;
  csv->height = 0;
  for (;;) {
    const char *next = NULL;
    uint32_t cells = 0;
    if (source->begin == source->end && source->ended) return KMB_OK;
    outcome found = source->begin == source->end
                        ? CUT
                        : parse_row(csv, &next, &cells, &status);
    if (found == CUT) status = kmbi_source_fill(source);
    if (status) return status;
    if (found == CUT) continue;
    const char *start = source->buffer + source->begin;
    size_t size = (size_t)(next - start);
    if (cells == csv->columns) {
      csv->size = (uint32_t)size;
      *more = true;
      return KMB_OK;
    }
    if (cells != 1 || size > 2 || !strchr("\r\n", *start)) {
      wrong_width(csv, start, cells, &status);
      return status;
    }
    source->begin += size; /* a blank line */
    csv->line += csv->height;
    csv->height = 0;
  }
}

void kmbi_csv_undouble(kmbi_field *field) {
  if (!field->doubled) return;
  /* The cell lies in the source's buffer, which is ours. */
  char *to = (char *)(uintptr_t)field->text;
  const char *from = field->text, *end = from + field->size;
  while (from < end) {
    if (*from == '"') from++;
    *to++ = *from++;
  }
  field->size = (size_t)(to - field->text);
  field->doubled = false;
}

/* Numbers. */

kmb_status kmbi_csv_any_number(const kmbi_csv *csv, const kmbi_field *field,
                               const char *what, int places,
                               kmbi_decimal *number) {
  if (!field->size) return kmbi_csv_fail(csv, field, "%s is empty", what);
  switch (kmbi_decimal_read(field->text, field->size, places, number)) {
  case KMBI_DECIMAL_OK:
    return KMB_OK;
  case KMBI_DECIMAL_LARGE:
    return kmbi_csv_fail(csv, field, "%s does not fit into 64 bits", what);
  default:
    return kmbi_csv_fail(csv, field, "%s is no number: \"%.*s\"", what,
                         (int)(field->size < 40 ? field->size : 40),
                         field->text);
  }
}

kmb_status kmbi_csv_any_whole(const kmbi_csv *csv, const kmbi_field *field,
                              const char *what, uint64_t *value) {
  kmbi_decimal number = {0};
  kmb_status status = kmbi_csv_any_number(csv, field, what, 0, &number);
  if (status) return status;
  if (number.negative || number.decimals)
    return kmbi_csv_fail(csv, field, "%s is no whole number: \"%.*s\"", what,
                         (int)(field->size < 40 ? field->size : 40),
                         field->text);
  *value = number.value;
  return KMB_OK;
}

int kmbi_csv_time_places(const char *unit) {
  static const struct {
    const char *name;
    int places;
  } units[] = {{"ns", 0},   {"nsec", 0}, {"us", 3}, {"usec", 3}, {"µs", 3},
               {"msec", 6}, {"ms", 6},   {"s", 9},  {"sec", 9}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(unit, units[i].name) == 0) return units[i].places;
  }
  return -1;
}

/* The header. */

static void read_column(kmbi_column *column, const char *text, size_t size) {
  size_t key = 0, unit = 0, i = 0;
  memset(column, 0, sizeof *column);
  for (; i < size && text[i] != '('; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x80 && isalnum(c) && key + 1 < sizeof column->key)
      column->key[key++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  for (i++; i < size && text[i] != ')'; i++) {
    if (unit + 1 < sizeof column->unit) column->unit[unit++] = text[i];
  }
}

/* Splits a line that may be the header; false if it cannot be one. */
static bool split(kmbi_csv *csv, const char *at, const char *end) {
  csv->columns = 0;
  for (;; at++) {
    const char *text = at, *stop = NULL;
    if (at < end && *at == '"') {
      text++;
      stop = memchr(text, '"', (size_t)(end - text));
      if (!stop) return false;
      at = stop + 1;
      if (at < end && *at != ',') return false;
    } else {
      at = memchr(at, ',', (size_t)(end - at));
      if (!at) at = end;
      stop = at;
    }
    if (csv->columns == KMBI_CSV_COLUMNS) return false;
    read_column(&csv->header[csv->columns++], text, (size_t)(stop - text));
    if (at >= end) return true;
  }
}

int kmbi_csv_column(const kmbi_csv *csv, const char *key) {
  for (uint32_t i = 0; i < csv->columns; i++) {
    if (strcmp(csv->header[i].key, key) == 0) return (int)i;
  }
  return -1;
}

bool kmbi_csv_want(kmbi_csv *csv, const char *key, int slot) {
  int column = kmbi_csv_column(csv, key);
  if (column >= 0) csv->slots[column] = (uint8_t)slot;
  return column >= 0;
}

typedef struct importer {
  kmb_trace_format format;
  kmbi_csv_match match;
  kmb_status (*rows)(kmb_trace *trace, kmbi_csv *csv);
} importer;

static const importer importers[] = {
    {KMB_TRACE_NSYS_CSV, kmbi_nsys_csv_match, kmbi_nsys_csv_rows},
    {KMB_TRACE_ROCPROF_CSV, kmbi_rocprof_csv_match, kmbi_rocprof_csv_rows}};

/* The importer whose header the line is. */
static const importer *match(kmbi_csv *csv, kmb_trace_format format,
                             const char **lacks) {
  for (size_t i = 0; i < sizeof importers / sizeof importers[0]; i++) {
    if (format != KMB_TRACE_AUTO && format != importers[i].format) continue;
    memset(csv->slots, KMBI_CSV_NO_SLOT, sizeof csv->slots);
    memset(csv->fields, 0, sizeof csv->fields);
    if (importers[i].match(csv, lacks)) return &importers[i];
  }
  return NULL;
}

static kmb_status no_header(const kmbi_csv *csv, uint64_t near_line,
                            const char *lacks) {
  const kmbi_source *source = csv->source;
  if (source->begin == source->end && source->ended && csv->line == 1)
    return kmbi_source_fail(source, 1, 1,
                            "the file is empty: not a trace, "
                            "which has a header at least");
  if (lacks)
    return kmbi_source_fail(source, near_line, 1,
                            "not the header of a known trace: %s", lacks);
  return kmbi_source_fail(
      source, csv->line, 1,
      "no header of a known trace up to here; expected are nsys "
      "cuda_gpu_trace, rocprof, SQLite or JSON");
}

static kmb_status check_encoding(kmbi_source *source) {
  const char *at = source->buffer + source->begin;
  size_t size = source->end - source->begin;
  if (size >= 2 &&
      (memcmp(at, "\xFF\xFE", 2) == 0 || memcmp(at, "\xFE\xFF", 2) == 0))
    return kmbi_source_fail(source, 1, 1,
                            "the text is UTF-16; save it as "
                            "UTF-8");
  if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) source->begin += 3;
  return KMB_OK;
}

/* Skips what tools print before the header. The beginning of the source is in
 * the buffer; the header must be too. */
static kmb_status find_header(kmbi_csv *csv, kmb_trace_format format,
                              const importer **found) {
  kmbi_source *source = csv->source;
  const char *lacks = NULL;
  uint64_t lacks_line = 0;
  while (source->begin < source->end) {
    const char *at = source->buffer + source->begin;
    size_t left = source->end - source->begin;
    const char *newline = memchr(at, '\n', left);
    if (!newline && !source->ended) break;
    const char *end = newline ? newline : at + left, *cause = NULL;
    if (memchr(at, '\0', (size_t)(end - at)))
      return kmbi_source_fail(source, csv->line, strlen(at) + 1,
                              "a zero byte: no text");
    if (end > at && end[-1] == '\r') end--;
    if (split(csv, at, end)) *found = match(csv, format, &cause);
    if (cause && !lacks) {
      lacks = cause;
      lacks_line = csv->line;
    }
    source->begin += newline ? (size_t)(newline + 1 - at) : left;
    csv->line++;
    if (*found) return KMB_OK;
  }
  return no_header(csv, lacks_line, lacks);
}

static void count_skips(kmbi_csv *csv) {
  uint8_t count = 0;
  for (uint32_t i = csv->columns - 1; i-- > 0;) {
    count = csv->slots[i] == KMBI_CSV_NO_SLOT ? (uint8_t)(count + 1) : 0;
    csv->skips[i] = count;
  }
}

kmb_status kmbi_load_csv(kmb_trace *trace, kmbi_source *source,
                         kmb_trace_format format) {
  kmbi_csv *csv = kmbi_alloc(&source->memory, 1, sizeof *csv);
  const importer *found = NULL;
  if (!csv) return kmbi_fail(KMB_ERR_NOMEM, "no memory to read a trace");
  csv->source = source;
  csv->line = 1;
  kmb_status status = check_encoding(source);
  if (!status) status = find_header(csv, format, &found);
  if (found) {
    trace->format = found->format;
    count_skips(csv);
    status = found->rows(trace, csv);
  }
  kmbi_free(&source->memory, csv, 1, sizeof *csv);
  return status;
}
