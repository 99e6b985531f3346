/* How a kernel was launched, as six cells of a row of CSV say it. */
#include "trace_csv.h"

enum { SIZES = 6 };

bool kmbi_csv_want_shape(kmbi_csv *csv, const char *const keys[6], int slot) {
  int first =
      kmbi_source_no_shapes(csv->source) ? -1 : kmbi_csv_column(csv, keys[0]);
  for (int i = 0; i < SIZES; i++) {
    if (first < 0 || kmbi_csv_column(csv, keys[i]) != first + i) return false;
  }
  csv->slots[first] = (uint8_t)slot;
  return true;
}

/* From within the first cell to behind the last; what ends the text is no
 * digit. NULL if they are not six whole numbers. */
static const char *read_sizes(const kmbi_field *first, uint32_t sizes[SIZES]) {
  const char *at = first->text;
  bool quoted = at[first->size] == '"';
  for (int i = 0; i < SIZES; i++) {
    uint64_t value = 0;
    if (i > 0) {
      if (*at++ != ',') return NULL;
      quoted = *at == '"';
      at += quoted;
    }
    const char *start = at;
    for (; *at >= '0' && *at <= '9' && at - start < 10; at++)
      value = 10 * value + (uint64_t)(*at - '0');
    if (at == start || value > UINT32_MAX || (quoted && *at != '"'))
      return NULL;
    sizes[i] = (uint32_t)value;
    at += quoted;
  }
  return *at == ',' || *at == '\r' || *at == '\n' || !*at ? at : NULL;
}

/* A grid of work items that is no multiple of the block has smaller blocks at
 * its end, so that blocks alone would not tell it from another. */
static kmbi_shape shape_of(const uint32_t sizes[SIZES], bool items) {
  kmbi_shape shape = {{sizes[0], sizes[1], sizes[2]},
                      {sizes[3], sizes[4], sizes[5]}};
  for (int i = 0; i < 3 && items; i++) {
    uint32_t block = sizes[i], grid = sizes[i + 3];
    shape.block[i] = block;
    shape.grid[i] = block && grid % block == 0 ? grid / block : 0;
  }
  return shape;
}

static size_t place_of(const char *text) {
  uint64_t x = kmbi_digits_load(text), y = kmbi_digits_load(text + 8);
  x = x * UINT64_C(0x9E3779B97F4A7C15) + y;
  return x * UINT64_C(0xD6E8FEB86659FD93) >> 58;
}

uint32_t kmbi_csv_shape(kmbi_csv_shapes *shapes, const kmbi_field *first) {
  uint32_t sizes[SIZES];
  if (!first->size) return 0;
  kmbi_csv_shape_row *row = &shapes->kept[place_of(first->text)];
  if (row->first == first->size &&
      memcmp(row->text, first->text, row->size) == 0)
    return row->shape;
  const char *end = read_sizes(first, sizes);
  if (!end) return 0;
  const kmbi_shape shape = shape_of(sizes, shapes->items);
  uint32_t index = kmbi_trace_shape(shapes->trace, &shape);
  /* With what follows it: a longer number is another. */
  size_t size = (size_t)(end - first->text) + 1;
  if (!*end || size > sizeof row->text || index == KMBI_NO_ROW) return index;
  row->first = (uint32_t)first->size;
  row->size = (uint32_t)size;
  row->shape = index;
  memcpy(row->text, first->text, size);
  return index;
}
