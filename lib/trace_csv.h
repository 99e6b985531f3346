/* Tables in CSV: what the importers of nsys and rocprof share. */
#ifndef KMB_LIB_TRACE_CSV_H
#define KMB_LIB_TRACE_CSV_H

#include "decimal.h"
#include "trace.h"

enum {
  KMBI_CSV_COLUMNS = 255, /* most of a header */
  KMBI_CSV_SLOTS = 16,    /* most that an importer wants */
  KMBI_CSV_NO_SLOT = KMBI_CSV_SLOTS
};

/* A cell of the current row. With `doubled`, quotes in it stand twice. */
typedef struct kmbi_field {
  const char *text;
  size_t size;
  bool doubled;
  bool present; /* the table has the column */
} kmbi_field;

/* A column of the header: its name in lower case, letters and digits alone, and
 * the unit that stands in parentheses after it. */
typedef struct kmbi_column {
  char key[32], unit[16];
} kmbi_column;

typedef struct kmbi_csv {
  kmbi_source *source;
  uint64_t line;   /* where the row begins */
  uint64_t height; /* lines of the row */
  uint32_t columns;
  uint32_t size;                       /* of the row, 0 before the first */
  uint8_t slots[KMBI_CSV_COLUMNS + 1]; /* of each column */
  uint8_t skips[KMBI_CSV_COLUMNS + 1]; /* from each on: columns nobody wants */
  kmbi_field fields[KMBI_CSV_SLOTS + 1]; /* the last: what nobody wants */
  kmbi_column header[KMBI_CSV_COLUMNS];
} kmbi_csv;

/* Index of a column, -1 if the header has none. */
int kmbi_csv_column(const kmbi_csv *csv, const char *key);
/* Wants a column in a slot; false if the header has none. */
bool kmbi_csv_want(kmbi_csv *csv, const char *key, int slot);

/* The next row, blank lines left out; `*more` is false at the end. The fields
 * are valid until the next call. */
kmb_status kmbi_csv_row(kmbi_csv *csv, bool *more);
/* FORMAT at a cell of the current row. */
kmb_status kmbi_csv_fail(const kmbi_csv *csv, const kmbi_field *field,
                         const char *format, ...) KMB_PRINTF(3, 4);
/* Makes doubled quotes single, in place. */
void kmbi_csv_undouble(kmbi_field *field);

/* A number of a cell; `what` names it, `places` shifts the decimal point. */
kmb_status kmbi_csv_any_number(const kmbi_csv *csv, const kmbi_field *field,
                               const char *what, int places,
                               kmbi_decimal *number);
/* The same for whole numbers that are not negative. */
kmb_status kmbi_csv_any_whole(const kmbi_csv *csv, const kmbi_field *field,
                              const char *what, uint64_t *value);

/* Most cells are but digits. What is behind a cell can be read, as a scan does.
 */
static inline kmb_status kmbi_csv_number(const kmbi_csv *csv,
                                         const kmbi_field *field,
                                         const char *what, int places,
                                         kmbi_decimal *number) {
  *number = (kmbi_decimal){.value = 0};
  if (places == 0 && kmbi_digits_read(field->text, field->size, &number->value))
    return KMB_OK;
  return kmbi_csv_any_number(csv, field, what, places, number);
}

static inline kmb_status kmbi_csv_whole(const kmbi_csv *csv,
                                        const kmbi_field *field,
                                        const char *what, uint64_t *value) {
  if (kmbi_digits_read(field->text, field->size, value)) return KMB_OK;
  return kmbi_csv_any_whole(csv, field, what, value);
}

/* Six columns that say how a kernel was launched. Launches repeat: what the
 * cells meant is remembered by their text, as it stands in the file. */
typedef struct kmbi_csv_shape_row {
  uint32_t first, size; /* of the first cell and of the text; 0: none */
  uint32_t shape;
  char text[52]; /* no longer than a scan may look ahead */
} kmbi_csv_shape_row;
typedef struct kmbi_csv_shapes {
  kmb_trace *trace;
  /* First the block, and then the grid in threads; else the grid in blocks
   * comes first. */
  bool items;
  kmbi_csv_shape_row kept[64];
} kmbi_csv_shapes;

/* Wants the first in `slot` if the six stand one behind the other, in this
 * order; false, and `slot` stays empty, if they do not. */
bool kmbi_csv_want_shape(kmbi_csv *csv, const char *const keys[6], int slot);
/* As in kmbi_op_row; 0 if the cells are not six whole numbers. */
uint32_t kmbi_csv_shape(kmbi_csv_shapes *shapes, const kmbi_field *first);

/* Decimal places from a unit of time to ns; -1 if unknown. */
int kmbi_csv_time_places(const char *unit);

/* Whether the header is the importer's; if it nearly is, `*lacks` names what is
 * missing or wrong. */
typedef bool (*kmbi_csv_match)(kmbi_csv *csv, const char **lacks);
bool kmbi_nsys_csv_match(kmbi_csv *csv, const char **lacks);
bool kmbi_rocprof_csv_match(kmbi_csv *csv, const char **lacks);
kmb_status kmbi_nsys_csv_rows(kmb_trace *trace, kmbi_csv *csv);
kmb_status kmbi_rocprof_csv_rows(kmb_trace *trace, kmbi_csv *csv);

#endif
