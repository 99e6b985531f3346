/* SQLite, opened at run time: what the importers of its files share. */
#ifndef KMB_LIB_TRACE_SQLITE_H
#define KMB_LIB_TRACE_SQLITE_H

#include "trace.h"

/* The part of SQLite's interface that is used. */
typedef struct kmbi_sqlite_api {
  int (*open)(const char *name, void **db, int flags, const char *vfs);
  int (*close)(void *db);
  int (*prepare)(void *db, const char *sql, int size, void **statement,
                 const char **tail);
  int (*step)(void *statement);
  int (*reset)(void *statement);
  int (*finalize)(void *statement);
  int (*bind)(void *statement, int index, int64_t value);
  const unsigned char *(*text)(void *statement, int column);
  void *(*value)(void *statement, int column);
  int (*type)(void *value);
  int64_t (*integer)(void *value);
  const char *(*message)(void *db);
} kmbi_sqlite_api;

/* A string of the file's own table. */
typedef struct kmbi_sqlite_name {
  int64_t id;
  const char *text;
  size_t size;
} kmbi_sqlite_name;

enum { KMBI_SQLITE_RECENT = 64 };

typedef struct kmbi_sqlite {
  kmbi_sqlite_api api;
  void *library, *db;
  const kmbi_source *source; /* for messages */
  kmb_trace *trace;
  uint64_t bytes; /* of the file */
  uint64_t done;  /* rows */
  void *name_query;
  kmbi_arena texts;
  kmbi_rows names; /* kmbi_sqlite_name */
  kmbi_map name_map;
  uint32_t recent[KMBI_SQLITE_RECENT]; /* of `names`, by the end of their ids */
} kmbi_sqlite;

/* A column that a query wants. */
typedef struct kmbi_sqlite_column {
  const char *name;
  bool needed;
} kmbi_sqlite_column;

/* Whether a table exists. */
kmb_status kmbi_sqlite_has(kmbi_sqlite *s, const char *table, bool *has);
/* Whether a table has a column. */
kmb_status kmbi_sqlite_has_column(kmbi_sqlite *s, const char *table,
                                  const char *column, bool *has);
/* Calls `row` for each row of a table, with the columns in this order; those
 * that the table lacks are NULL. A table that is absent has no rows. */
typedef kmb_status (*kmbi_sqlite_row)(kmbi_sqlite *s, void *row);
kmb_status kmbi_sqlite_each(kmbi_sqlite *s, const char *table,
                            const kmbi_sqlite_column *columns, int count,
                            kmbi_sqlite_row row);
/* The string of an id, from `table` with the columns `id` and `value`. */
kmb_status kmbi_sqlite_name_of(kmbi_sqlite *s, int64_t id,
                               const kmbi_sqlite_name **name);
kmb_status kmbi_sqlite_names_from(kmbi_sqlite *s, const char *table,
                                  const char *id, const char *value);

/* Columns of the current row. False if the value is no integer, as NULL. */
bool kmbi_sqlite_get(kmbi_sqlite *s, void *row, int column, int64_t *value);
/* The same where a value below zero is none. */
bool kmbi_sqlite_get_u64(kmbi_sqlite *s, void *row, int column,
                         uint64_t *value);
kmb_status kmbi_sqlite_failed(kmbi_sqlite *s, int code);
/* FORMAT, naming the table. */
kmb_status kmbi_sqlite_malformed(const kmbi_sqlite *s, const char *table,
                                 const char *cause);

/* Columns that tables of operations begin with. */
enum {
  KMBI_SQLITE_START,
  KMBI_SQLITE_END,
  KMBI_SQLITE_DEVICE,
  KMBI_SQLITE_CONTEXT,
  KMBI_SQLITE_STREAM,
  KMBI_SQLITE_CORRELATION,
  KMBI_SQLITE_PID,
  KMBI_SQLITE_COMMON
};
void kmbi_sqlite_common(kmbi_sqlite *s, void *row, kmbi_op_row *op);
/* How a kernel was launched, from `column` on. */
enum { KMBI_SQLITE_SHAPE = 6 };
#define KMBI_SQLITE_SHAPE_COLUMNS                                          \
  {"gridX", false}, {"gridY", false}, {"gridZ", false}, {"blockX", false}, \
      {"blockY", false}, {                                                 \
    "blockZ", false                                                        \
  }
/* How many of them are to be asked for: all or none. */
int kmbi_sqlite_shape_columns(const kmbi_sqlite *s);
uint32_t kmbi_sqlite_shape(kmbi_sqlite *s, void *row, int column);
/* "[CUDA memcpy Host-to-Device]" for CUPTI's number. */
const char *kmbi_copy_name(int64_t kind);

kmb_status kmbi_load_nsys_tables(kmbi_sqlite *s);
kmb_status kmbi_load_nvprof_tables(kmbi_sqlite *s);

#endif
