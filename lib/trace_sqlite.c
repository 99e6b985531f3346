/* SQLite, opened at run time. */
#include "trace_sqlite.h"

#include "error.h"
#include "library.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

KMBI_DLOPEN_NOTE("sqlite", "Reads exports of Nsight Systems",
                 "libsqlite3.so.0");

enum {
  OPEN_READONLY = 1,
  OPEN_URI = 0x40,
  OPEN_NOMUTEX = 0x8000,
  CODE_OK = 0,
  CODE_NOMEM = 7,
  CODE_CORRUPT = 11,
  CODE_NOTADB = 26,
  CODE_ROW = 100,
  CODE_DONE = 101,
  TYPE_INTEGER = 1,
  ROWS_A_LOOK = 1 << 16 /* at the cancel flag */
};

kmb_status kmbi_sqlite_malformed(const kmbi_sqlite *s, const char *table,
                                 const char *cause) {
  return kmbi_source_fail(s->source, 0, 0, "table %s: %s", table, cause);
}

kmb_status kmbi_sqlite_failed(kmbi_sqlite *s, int code) {
  if (code == CODE_NOMEM)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for SQLite");
  return kmbi_source_fail(s->source, 0, 0, "SQLite: %.120s (%d)",
                          s->db ? s->api.message(s->db) : "cannot open", code);
}

static kmb_status prepare(kmbi_sqlite *s, const char *sql, void **statement) {
  int code = s->api.prepare(s->db, sql, -1, statement, NULL);
  return code == CODE_OK ? KMB_OK : kmbi_sqlite_failed(s, code);
}

/* Whether a query has a row. */
static kmb_status any(kmbi_sqlite *s, const char *sql, bool *has) {
  void *statement = NULL;
  kmb_status status = prepare(s, sql, &statement);
  if (status) return status;
  int code = s->api.step(statement);
  *has = code == CODE_ROW;
  if (code != CODE_ROW && code != CODE_DONE)
    status = kmbi_sqlite_failed(s, code);
  s->api.finalize(statement);
  return status;
}

kmb_status kmbi_sqlite_has(kmbi_sqlite *s, const char *table, bool *has) {
  char sql[160];
  snprintf(sql, sizeof sql,
           "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '%s'",
           table);
  return any(s, sql, has);
}

kmb_status kmbi_sqlite_has_column(kmbi_sqlite *s, const char *table,
                                  const char *column, bool *has) {
  char sql[200];
  snprintf(sql, sizeof sql,
           "SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s'", table,
           column);
  return any(s, sql, has);
}

static kmb_status build_query(kmbi_sqlite *s, const char *table,
                              const kmbi_sqlite_column *columns, int count,
                              kmbi_text *sql) {
  kmbi_text_put(sql, "SELECT ");
  for (int i = 0; i < count; i++) {
    bool has = false;
    kmb_status status = kmbi_sqlite_has_column(s, table, columns[i].name, &has);
    if (status) return status;
    if (!has && columns[i].needed) {
      char cause[96];
      snprintf(cause, sizeof cause, "the column %s is missing",
               columns[i].name);
      return kmbi_sqlite_malformed(s, table, cause);
    }
    kmbi_text_format(sql, "%s%s%s%s", i ? ", " : "", has ? "\"" : "",
                     has ? columns[i].name : "NULL", has ? "\"" : "");
  }
  kmbi_text_format(sql, " FROM \"%s\"", table);
  if (sql->failed) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a query");
  return KMB_OK;
}

/* A corrupt file may lead around in circles. */
static kmb_status check_row(kmbi_sqlite *s) {
  const kmbi_source *source = s->source;
  if (++s->done > s->bytes)
    return kmbi_source_fail(source, 0, 0,
                            "SQLite: more rows than the file has bytes");
  if (s->done % ROWS_A_LOOK) return KMB_OK;
  if (source->cancel && *source->cancel)
    return kmbi_fail(KMB_ERR_CANCELLED, "loading %s was cancelled",
                     source->name);
  return KMB_OK;
}

kmb_status kmbi_sqlite_each(kmbi_sqlite *s, const char *table,
                            const kmbi_sqlite_column *columns, int count,
                            kmbi_sqlite_row row) {
  void *statement = NULL;
  bool has = false;
  kmbi_text sql;
  int code = CODE_ROW;
  kmb_status status = kmbi_sqlite_has(s, table, &has);
  if (status || !has) return status;
  kmbi_text_init(&sql, &s->trace->memory);
  status = build_query(s, table, columns, count, &sql);
  if (!status) status = prepare(s, kmbi_text_get(&sql), &statement);
  kmbi_text_release(&sql);
  while (!status && (code = s->api.step(statement)) == CODE_ROW) {
    status = check_row(s);
    if (!status) status = row(s, statement);
  }
  if (!status && code != CODE_DONE) status = kmbi_sqlite_failed(s, code);
  if (statement) s->api.finalize(statement);
  return status;
}

bool kmbi_sqlite_get(kmbi_sqlite *s, void *row, int column, int64_t *value) {
  /* SQLite makes a number of anything: 1 of 1.5, 4 of '4x', 0 of NULL. */
  void *cell = s->api.value(row, column);
  bool has = s->api.type(cell) == TYPE_INTEGER;
  *value = has ? s->api.integer(cell) : 0;
  return has;
}

bool kmbi_sqlite_get_u64(kmbi_sqlite *s, void *row, int column,
                         uint64_t *value) {
  int64_t number = 0;
  bool has = kmbi_sqlite_get(s, row, column, &number) && number >= 0;
  *value = has ? (uint64_t)number : 0;
  return has;
}

void kmbi_sqlite_common(kmbi_sqlite *s, void *row, kmbi_op_row *op) {
  uint64_t pid = 0;
  bool start = kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_START, &op->start);
  bool end = kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_END, &op->end);
  op->invalid = !start || !end;
  if (!kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_DEVICE, &op->device))
    op->device = KMBI_UNKNOWN;
  kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_CONTEXT, &op->context);
  op->has_stream = kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_STREAM, &op->stream);
  kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_CORRELATION, &op->correlation);
  kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_PID, &pid);
  op->process = pid >> 24 & 0xFFFFFF;
  op->bytes = KMBI_UNKNOWN;
}

int kmbi_sqlite_shape_columns(const kmbi_sqlite *s) {
  return kmbi_source_no_shapes(s->source) ? 0 : KMBI_SQLITE_SHAPE;
}

uint32_t kmbi_sqlite_shape(kmbi_sqlite *s, void *row, int column) {
  kmbi_shape shape;
  if (!kmbi_sqlite_shape_columns(s)) return 0;
  for (int i = 0; i < KMBI_SQLITE_SHAPE; i++) {
    int64_t size = 0;
    bool has = kmbi_sqlite_get(s, row, column + i, &size);
    if (!has || size <= 0 || size > UINT32_MAX) return 0;
    *(i < 3 ? &shape.grid[i] : &shape.block[i - 3]) = (uint32_t)size;
  }
  return kmbi_trace_shape(s->trace, &shape);
}

const char *kmbi_copy_name(int64_t kind) {
  static const char *const names[] = {"[CUDA memcpy]",
                                      "[CUDA memcpy Host-to-Device]",
                                      "[CUDA memcpy Device-to-Host]",
                                      "[CUDA memcpy Host-to-Array]",
                                      "[CUDA memcpy Array-to-Host]",
                                      "[CUDA memcpy Array-to-Array]",
                                      "[CUDA memcpy Array-to-Device]",
                                      "[CUDA memcpy Device-to-Array]",
                                      "[CUDA memcpy Device-to-Device]",
                                      "[CUDA memcpy Host-to-Host]",
                                      "[CUDA memcpy Peer-to-Peer]"};
  bool known = kind > 0 && kind < (int64_t)(sizeof names / sizeof names[0]);
  return names[known ? kind : 0];
}

/* Strings. */

static kmbi_map_key key_of_name(const void *rows, uint32_t index) {
  const kmbi_sqlite_name *name = kmbi_rows_at(rows, index);
  return (kmbi_map_key){(uint64_t)name->id, 0, 0};
}

kmb_status kmbi_sqlite_names_from(kmbi_sqlite *s, const char *table,
                                  const char *id, const char *value) {
  char sql[160];
  bool has = false;
  kmb_status status = kmbi_sqlite_has(s, table, &has);
  if (status) return status;
  if (!has) return kmbi_sqlite_malformed(s, table, "it is missing");
  snprintf(sql, sizeof sql, "SELECT \"%s\" FROM \"%s\" WHERE \"%s\" = ?1",
           value, table, id);
  return prepare(s, sql, &s->name_query);
}

static kmb_status keep_name(kmbi_sqlite *s, int64_t id,
                            const unsigned char *text, size_t size,
                            const kmbi_sqlite_name **name) {
  char *copy = kmbi_arena_alloc(&s->texts, size + 1, 1);
  kmbi_sqlite_name *row = copy ? kmbi_rows_add(&s->names) : NULL;
  if (!row) return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold names");
  memcpy(copy, text, size);
  *row = (kmbi_sqlite_name){id, copy, size};
  *name = row;
  const kmbi_map_key key = {(uint64_t)id, 0, 0};
  if (!kmbi_map_put(&s->name_map, key, s->names.count - 1))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold names");
  return KMB_OK;
}

kmb_status kmbi_sqlite_name_of(kmbi_sqlite *s, int64_t id,
                               const kmbi_sqlite_name **name) {
  const kmbi_map_key key = {(uint64_t)id, 0, 0};
  uint32_t *recent = &s->recent[(uint64_t)id % KMBI_SQLITE_RECENT];
  if (*recent < s->names.count) {
    *name = kmbi_rows_at(&s->names, *recent);
    if ((*name)->id == id) return KMB_OK;
  }
  uint32_t index = kmbi_map_find(&s->name_map, key);
  if (index != KMBI_NO_ROW) {
    *recent = index;
    *name = kmbi_rows_at(&s->names, index);
    return KMB_OK;
  }
  kmb_status status = KMB_OK;
  int code = s->api.bind(s->name_query, 1, id);
  if (code == CODE_OK) code = s->api.step(s->name_query);
  const unsigned char *text =
      code == CODE_ROW ? s->api.text(s->name_query, 0) : NULL;
  if (text)
    status = keep_name(s, id, text, strlen((const char *)text), name);
  else if (code == CODE_ROW || code == CODE_DONE)
    status = kmbi_source_fail(s->source, 0, 0,
                              "a row names the string %lld, which the file "
                              "lacks",
                              (long long)id);
  else
    status = kmbi_sqlite_failed(s, code);
  s->api.reset(s->name_query);
  return status;
}

/* Opening. */

static kmb_status open_library(kmbi_sqlite *s) {
  const kmbi_symbol symbols[] = {
      {"sqlite3_open_v2", (void *)&s->api.open},
      {"sqlite3_close", (void *)&s->api.close},
      {"sqlite3_prepare_v2", (void *)&s->api.prepare},
      {"sqlite3_step", (void *)&s->api.step},
      {"sqlite3_reset", (void *)&s->api.reset},
      {"sqlite3_finalize", (void *)&s->api.finalize},
      {"sqlite3_bind_int64", (void *)&s->api.bind},
      {"sqlite3_column_text", (void *)&s->api.text},
      {"sqlite3_column_value", (void *)&s->api.value},
      {"sqlite3_value_type", (void *)&s->api.type},
      {"sqlite3_value_int64", (void *)&s->api.integer},
      {"sqlite3_errmsg", (void *)&s->api.message}};
  return kmbi_library_open("libsqlite3.so.0", "libsqlite3-0", symbols,
                           sizeof symbols / sizeof symbols[0], &s->library);
}

/* A URI, so that the file is taken as it is: nothing is written beside it. */
static kmb_status open_file(kmbi_sqlite *s, const char *path) {
  kmbi_text uri;
  kmbi_text_init(&uri, &s->trace->memory);
  kmbi_text_put(&uri, *path == '/' ? "file:" : "file:./");
  for (; *path; path++) {
    if (strchr("?#%", *path))
      kmbi_text_format(&uri, "%%%02X", (unsigned)(unsigned char)*path);
    else
      kmbi_text_put_n(&uri, path, 1);
  }
  kmbi_text_put(&uri, "?immutable=1");
  int code = uri.failed
                 ? CODE_NOMEM
                 : s->api.open(kmbi_text_get(&uri), &s->db,
                               OPEN_READONLY | OPEN_URI | OPEN_NOMUTEX, NULL);
  kmbi_text_release(&uri);
  return code == CODE_OK ? KMB_OK : kmbi_sqlite_failed(s, code);
}

static kmb_status load_tables(kmbi_sqlite *s, kmb_trace_format format) {
  bool nvprof = format == KMB_TRACE_NVPROF;
  kmb_status status = KMB_OK;
  if (!nvprof) {
    bool strings = false, table = false;
    status = kmbi_sqlite_has(s, "StringIds", &strings);
    if (!status) status = kmbi_sqlite_has(s, "StringTable", &table);
    nvprof = !strings && table;
  }
  if (status) return status;
  s->trace->format = nvprof ? KMB_TRACE_NVPROF : KMB_TRACE_NSYS_SQLITE;
  return nvprof ? kmbi_load_nvprof_tables(s) : kmbi_load_nsys_tables(s);
}

kmb_status kmbi_load_sqlite(kmb_trace *trace, const kmbi_source *source,
                            const char *path, kmb_trace_format format) {
  kmbi_sqlite s = {.source = source, .trace = trace};
  kmbi_arena_init(&s.texts, &trace->memory);
  kmbi_rows_init(&s.names, &trace->memory, sizeof(kmbi_sqlite_name));
  kmbi_map_init(&s.name_map, &trace->memory, key_of_name, &s.names);
  struct stat info;
  if (stat(path, &info))
    return kmbi_fail(KMB_ERR_IO, "cannot look at %s: errno %d", path, errno);
  s.bytes = (uint64_t)info.st_size;
  kmb_status status = open_library(&s);
  if (status) return status;
  status = open_file(&s, path);
  if (!status) status = load_tables(&s, format);
  if (s.name_query) s.api.finalize(s.name_query);
  if (s.db) s.api.close(s.db);
  kmbi_library_close(s.library);
  kmbi_map_release(&s.name_map);
  kmbi_rows_release(&s.names);
  kmbi_arena_release(&s.texts);
  return status;
}
