/* Files of peaks: comma-separated values, each mistake with its line and
 * column. */
#include "error.h"
#include "peaks.h"
#include "rows.h"
#include "text.h"

#include <stdio.h>

enum { LARGEST = 4 << 20, COLUMNS = 64, ROWS = 2000, BLOCK = 4096 };
enum { ITEMS = 64 }; /* of a list */

typedef struct cell {
  const char *text; /* "" if empty */
  uint64_t line, column;
} cell;

/* A name or id that must not come again in another row. */
typedef struct seen {
  const char *text; /* of `size` bytes */
  uint64_t hash, size;
  const kmb_part *row;
  kmb_part_value column;
} seen;

typedef struct reader {
  kmbi_peaks_file *file;
  const char *origin;
  const char *at, *end;
  const char *line_start;
  uint64_t line;
  cell cells[COLUMNS];
  size_t cell_count;
  const kmbi_part_info *columns[COLUMNS]; /* as the first line names them */
  size_t column_count, rows;
  kmb_part *last;
  kmbi_rows items; /* seen, of this file */
  kmbi_map item_map;
} reader;

static kmb_status bad(const reader *r, const cell *where, const char *format,
                      ...) KMB_PRINTF(3, 4);
static kmb_status bad(const reader *r, const cell *where, const char *format,
                      ...) {
  char why[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return kmbi_fail(KMB_ERR_FORMAT, "%.60s: line %llu, column %llu: %s",
                   r->origin, (unsigned long long)where->line,
                   (unsigned long long)where->column, why);
}

static cell here(const reader *r) {
  return (cell){"", r->line, (uint64_t)(r->at - r->line_start) + 1};
}

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory for a file of peaks");
}

/* Bytes between the quote at `at` and the one that closes it; false if none
 * does. */
static bool quoted_size(const reader *r, size_t *size) {
  for (const char *at = r->at + 1; at < r->end; at++) {
    if (*at != '"') continue;
    if (at + 1 < r->end && at[1] == '"') {
      at++;
      continue;
    }
    *size = (size_t)(at - r->at - 1);
    return true;
  }
  return false;
}

/* What stands between quotes; two of them inside are one. */
static kmb_status quoted(reader *r, cell *out) {
  size_t size = 0;
  if (!quoted_size(r, &size)) return bad(r, out, "a quote is never closed");
  char *to = kmbi_arena_alloc(&r->file->arena, size + 1, 1);
  if (!to) return no_memory();
  out->text = to;
  const char *close = r->at + 1 + size;
  while (++r->at < close) {
    *to++ = *r->at;
    if (*r->at == '"') r->at++;
    if (*r->at != '\n') continue;
    r->line++;
    r->line_start = r->at + 1;
  }
  r->at++;
  return KMB_OK;
}

static kmb_status plain(reader *r, cell *out) {
  const char *from = r->at;
  while (r->at < r->end && !strchr(",\n\r\"", *r->at))
    r->at++;
  size_t size = (size_t)(r->at - from);
  char *to = kmbi_arena_alloc(&r->file->arena, size + 1, 1);
  if (!to) return no_memory();
  memcpy(to, from, size);
  out->text = to;
  return KMB_OK;
}

/* One line into cells; none of them if it is empty or a comment. */
static kmb_status read_line(reader *r) {
  r->cell_count = 0;
  bool comment = *r->at == '#';
  while (comment && r->at < r->end && *r->at != '\n')
    r->at++;
  while (r->at < r->end && *r->at != '\n') {
    cell where = here(r);
    if (*r->at == '\r') {
      r->at++;
      if (r->at < r->end && *r->at != '\n')
        return bad(r, &where, "a carriage return without a line feed");
      break;
    }
    if (r->cell_count == COLUMNS) return bad(r, &where, "too many cells");
    cell *c = &r->cells[r->cell_count++];
    *c = where;
    kmb_status status = *r->at == '"' ? quoted(r, c) : plain(r, c);
    if (status) return status;
    if (r->at == r->end || strchr("\n\r", *r->at)) continue;
    where = here(r);
    if (*r->at != ',') return bad(r, &where, "a comma is missing");
    r->at++;
    if (r->at < r->end && !strchr("\n\r", *r->at)) continue;
    /* A comma at the end: one more cell, which is empty. */
    where = here(r);
    if (r->cell_count == COLUMNS) return bad(r, &where, "too many cells");
    r->cells[r->cell_count++] = where;
  }
  if (r->at < r->end) {
    r->line_start = ++r->at;
    r->line++;
  }
  return KMB_OK;
}

static kmb_status read_header(reader *r) {
  bool name = false, recognised = false;
  for (size_t i = 0; i < r->cell_count; i++) {
    const cell *c = &r->cells[i];
    size_t k = 0;
    while (k < kmbi_part_table_count &&
           (kmbi_part_table[k].value == KMB_PART_ORIGIN ||
            strcmp(kmbi_part_table[k].key, c->text) != 0))
      k++;
    if (k == kmbi_part_table_count)
      return bad(r, c, "\"%.40s\" is no column of a table of peaks", c->text);
    for (size_t j = 0; j < i; j++)
      if (r->columns[j] == &kmbi_part_table[k])
        return bad(r, c, "the column %s is there twice", c->text);
    r->columns[i] = &kmbi_part_table[k];
    name = name || kmbi_part_table[k].value == KMB_PART_NAME;
    recognised = recognised ||
                 kmbi_part_table[k].value == KMB_PART_DRIVER_NAMES ||
                 kmbi_part_table[k].value == KMB_PART_PCI_IDS;
  }
  r->column_count = r->cell_count;
  if (!name || !recognised)
    return bad(r, &r->cells[0],
               "the columns name and driver_names or pci_ids are needed");
  return KMB_OK;
}

/* Digits with a point: at most 15 digits, so that the value is exact. */
static bool read_number(const char *text, double *value) {
  double whole = 0, scale = 1;
  int digits = 0;
  bool point = false;
  for (; *text; text++) {
    if (*text == '.' && !point && digits) {
      point = true;
      continue;
    }
    if (*text < '0' || *text > '9' || ++digits > 15) return false;
    whole = whole * 10 + (*text - '0');
    if (point) scale *= 10;
  }
  *value = whole / scale;
  return *value > 0 && (!point || scale > 1);
}

/* Names of figures, such as "fp64|bf16". */
static bool are_figures(const char *list, bool all) {
  const char *item = NULL;
  size_t size = 0;
  while (kmbi_list_next(&list, &item, &size)) {
    bool known = all && size == 3 && !memcmp(item, "all", 3);
    for (size_t i = 0; !known && i < kmbi_part_table_count; i++) {
      const kmbi_part_info *info = &kmbi_part_table[i];
      known = info->value >= KMB_PART_FP64 && info->value <= KMB_PART_INT8 &&
              strlen(info->key) == size && !memcmp(info->key, item, size);
    }
    if (!known) return false;
  }
  return true;
}

static kmb_status check_text(const reader *r, const cell *c,
                             kmb_part_value value) {
  const char *list = c->text, *item = NULL;
  size_t size = 0, count = 0;
  while (value != KMB_PART_SOURCE && kmbi_list_next(&list, &item, &size))
    if (++count > ITEMS)
      return bad(r, c, "a list of more than %d items", ITEMS);
  list = c->text;
  if (value == KMB_PART_PCI_IDS)
    while (kmbi_list_next(&list, &item, &size))
      if (!kmbi_pci_valid(item, size, false))
        return bad(r, c, "\"%.*s\" is no PCI id such as 10de:2335",
                   (int)(size < 40 ? size : 40), item);
  if (value == KMB_PART_PCI_REV && (strlen(c->text) != 2))
    return bad(r, c, "\"%.40s\" is no revision of two digits", c->text);
  if (value == KMB_PART_SPARSE && !are_figures(c->text, false))
    return bad(r, c, "\"%.40s\" names no figures", c->text);
  if (value == KMB_PART_NEVER_FROM_RATES && !are_figures(c->text, true))
    return bad(r, c, "\"%.40s\" names no figures", c->text);
  return KMB_OK;
}

static kmbi_map_key key_of_seen(const void *rows, uint32_t index) {
  const seen *s = kmbi_rows_at(rows, index);
  return (kmbi_map_key){s->hash, s->size, (uint64_t)s->column};
}

/* The item that was seen before, or this one from now on; NULL without memory.
 */
static const seen *see(reader *r, seen item) {
  for (item.hash = kmbi_text_hash(item.text, item.size);; item.hash++) {
    const kmbi_map_key key = {item.hash, item.size, (uint64_t)item.column};
    uint32_t index = kmbi_map_find(&r->item_map, key);
    if (index == KMBI_NO_ROW) {
      seen *fresh = kmbi_rows_add(&r->items);
      if (!fresh) return NULL;
      *fresh = item;
      return kmbi_map_put(&r->item_map, key, r->items.count - 1) ? fresh : NULL;
    }
    const seen *s = kmbi_rows_at(&r->items, index);
    if (!memcmp(s->text, item.text, item.size)) return s;
  }
}

/* Puts the items of the list `column` into the table of those seen; `taken` if
 * an earlier row of the file has one. */
static kmb_status note_items(reader *r, const kmb_part *row,
                             kmb_part_value column, bool *taken) {
  const char *list = row->text[column], *text = NULL;
  size_t size = 0;
  while (kmbi_list_next(&list, &text, &size)) {
    const seen *first = see(r, (seen){text, 0, size, row, column});
    if (!first) return no_memory();
    if (first->row != row) *taken = true;
  }
  return KMB_OK;
}

static kmb_status check_row(reader *r, const kmb_part *row) {
  const cell *first = &r->cells[0];
  if (!row->text[KMB_PART_NAME]) return bad(r, first, "the part has no name");
  if (!row->text[KMB_PART_DRIVER_NAMES] && !row->text[KMB_PART_PCI_IDS])
    return bad(r, first, "the part has neither driver_names nor pci_ids");
  const kmb_part_value unique[] = {KMB_PART_NAME, KMB_PART_DRIVER_NAMES,
                                   KMB_PART_PCI_IDS};
  for (size_t i = 0; i < sizeof unique / sizeof unique[0]; i++) {
    bool taken = false;
    kmb_status status = note_items(r, row, unique[i], &taken);
    if (status) return status;
    if (!taken) continue;
    size_t k = 0;
    while (r->columns[k]->value != unique[i])
      k++;
    return bad(r, &r->cells[k], "%s: \"%.60s\" is in two rows",
               r->columns[k]->key, r->cells[k].text);
  }
  return KMB_OK;
}

static kmb_status read_row(reader *r) {
  cell end = r->cells[r->cell_count - 1];
  if (r->cell_count != r->column_count)
    return bad(r, &end, "%zu cells instead of %zu", r->cell_count,
               r->column_count);
  if (++r->rows > ROWS) return bad(r, &r->cells[0], "more than %d parts", ROWS);
  kmb_part *row = kmbi_arena_alloc(&r->file->arena, 1, sizeof *row);
  if (!row) return no_memory();
  row->users = true;
  row->text[KMB_PART_ORIGIN] = r->origin;
  row->text[KMB_PART_SOURCE] = r->origin;
  for (size_t i = 0; i < r->cell_count; i++) {
    const cell *c = &r->cells[i];
    const kmbi_part_info *info = r->columns[i];
    if (!*c->text) continue;
    if (!info->is_text && !read_number(c->text, &row->number[info->value]))
      return bad(r, c, "%s is \"%.40s\"; a number above 0, or nothing",
                 info->key, c->text);
    kmb_status status = info->is_text ? check_text(r, c, info->value) : KMB_OK;
    if (status) return status;
    if (info->is_text) row->text[info->value] = c->text;
  }
  if (r->last)
    r->last->next = row;
  else
    r->file->parts = row;
  r->last = row;
  return check_row(r, row);
}

static kmb_status parse(reader *r) {
  while (r->at < r->end) {
    kmb_status status = read_line(r);
    if (status) return status;
    if (!r->cell_count) continue;
    status = r->column_count ? read_row(r) : read_header(r);
    if (status) return status;
  }
  cell where = here(r);
  if (!r->last) return bad(r, &where, "no part in it");
  return KMB_OK;
}

/* All of the input, which must be text. */
static kmb_status read_all(kmbi_text *text, const char *origin,
                           kmb_read_fn read, void *user) {
  char block[BLOCK];
  kmbi_error_state before;
  kmbi_error_save(&before);
  for (;;) {
    size_t got = 0;
    kmb_status status = read(user, block, sizeof block, &got);
    if (status) return kmbi_callback_failed(status, &before);
    if (text->failed) return no_memory();
    if (!got) return KMB_OK;
    if (got > sizeof block)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_peaks_read_csv: read gave more than it was asked "
                       "for");
    if (text->size + got > LARGEST)
      return kmbi_fail(KMB_ERR_FORMAT, "%.60s: more than 4 MiB", origin);
    if (memchr(block, 0, got))
      return kmbi_fail(KMB_ERR_FORMAT,
                       "%.60s: not a text file: it has a byte "
                       "0",
                       origin);
    kmbi_text_put_n(text, block, got);
  }
}

static kmb_status fill(kmbi_peaks_file *file, const kmbi_memory *memory,
                       const char *origin, const kmbi_text *text) {
  const char *data = kmbi_text_get(text);
  reader r = {.file = file, .at = data, .line_start = data, .line = 1};
  r.end = data + text->size;
  /* A byte order mark is no part of the first column's name. */
  if (text->size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) r.at += 3;
  r.origin = kmbi_arena_copy(&file->arena, origin);
  if (!r.origin) return no_memory();
  kmbi_rows_init(&r.items, memory, sizeof(seen));
  kmbi_map_init(&r.item_map, memory, key_of_seen, &r.items);
  kmb_status status = parse(&r);
  kmbi_map_release(&r.item_map);
  kmbi_rows_release(&r.items);
  return !status && kmbi_arena_failed(&file->arena) ? no_memory() : status;
}

kmb_status kmb_peaks_read_csv(kmb_peaks *peaks, const char *origin,
                              kmb_read_fn read, void *user) {
  if (!peaks || !origin || !read)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_read_csv: %s is NULL",
                     !peaks    ? "peaks"
                     : !origin ? "origin"
                               : "read");
  kmbi_text text;
  kmbi_text_init(&text, &peaks->memory);
  kmb_status status = read_all(&text, origin, read, user);
  kmbi_peaks_file *file =
      status ? NULL : kmbi_alloc(&peaks->memory, 1, sizeof *file);
  if (!status && !file) status = no_memory();
  if (file) {
    kmbi_arena_init(&file->arena, &peaks->memory);
    status = fill(file, &peaks->memory, origin, &text);
    if (status) {
      kmbi_arena_release(&file->arena);
      kmbi_free(&peaks->memory, file, 1, sizeof *file);
    } else {
      file->older = peaks->files;
      peaks->files = file;
    }
  }
  kmbi_text_release(&text);
  return status;
}
