/* What the two halves of the table writer share: the grid, and the words below
 * it. */
#ifndef KMB_LIB_TABLE_H
#define KMB_LIB_TABLE_H

#include "format.h"

/* In the order in which they are written. */
typedef enum kmbi_note_kind {
  KMBI_NOTE_READING,
  KMBI_NOTE_DOUBT,
  KMBI_NOTE_WARNING,
  KMBI_NOTE_NOTE,
  KMBI_NOTE_UNKNOWN,
  KMBI_NOTE_KINDS
} kmbi_note_kind;

/* Something to be said of one row. */
typedef struct kmbi_note {
  const char *topic; /* a finding's name, a column's head; "" for a reading */
  const char *text;
  struct kmbi_note *next;
  size_t row;
  kmbi_note_kind kind;
  bool told;
} kmbi_note;

typedef struct kmbi_table {
  kmbi_text *to;
  kmbi_arena arena; /* what lives until the table is written */
  const kmb_result *const *results;
  size_t rows;
  const char *const *labels;
  kmbi_note *notes, *last_note;
} kmbi_table;

/* The value of an axis, NULL if the result has none of that key. */
const char *kmbi_table_axis(const kmb_result *result, const char *key);
/* Takes a text over: a copy in the arena, never NULL. */
const char *kmbi_table_keep(kmbi_table *table, kmbi_text *text);
void kmbi_table_note(kmbi_table *table, kmbi_note_kind kind, const char *topic,
                     const char *text, size_t row);
/* Readings and findings of all rows. */
void kmbi_table_collect(kmbi_table *table);
/* Everything below the grid. */
void kmbi_table_put_notes(kmbi_table *table);

#endif
