/* The SQLite export of nsys. Tables are there only if something was recorded,
 * and columns differ from version to version: both are looked up by name. */
#include "error.h"
#include "trace_sqlite.h"

#include <stdio.h>

#define COMMON_COLUMNS                                                       \
  {"start", true}, {"end", true}, {"deviceId", false}, {"contextId", false}, \
      {"streamId", false}, {"correlationId", false}, {                       \
    "globalPid", false                                                       \
  }

static kmb_status put_kernel(kmbi_sqlite *s, void *row) {
  kmbi_op_row op = {.kind = KMB_OP_KERNEL};
  const kmbi_sqlite_name *name = NULL;
  int64_t id = 0;
  kmbi_sqlite_common(s, row, &op);
  bool named = kmbi_sqlite_get(s, row, KMBI_SQLITE_COMMON, &id) ||
               kmbi_sqlite_get(s, row, KMBI_SQLITE_COMMON + 1, &id);
  if (!named)
    return kmbi_sqlite_malformed(s, "CUPTI_ACTIVITY_KIND_KERNEL",
                                 "a row without a name");
  op.shape = kmbi_sqlite_shape(s, row, KMBI_SQLITE_COMMON + 2);
  kmb_status status = kmbi_sqlite_name_of(s, id, &name);
  if (status) return status;
  op.name = name->text;
  op.name_size = name->size;
  return kmbi_trace_put_op(s->trace, &op);
}

static kmb_status put_copy(kmbi_sqlite *s, void *row) {
  kmbi_op_row op = {.kind = KMB_OP_MEMCPY};
  int64_t kind = 0;
  kmbi_sqlite_common(s, row, &op);
  if (!kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_COMMON, &op.bytes))
    op.bytes = KMBI_UNKNOWN;
  kmbi_sqlite_get(s, row, KMBI_SQLITE_COMMON + 1, &kind);
  op.name = kmbi_copy_name(kind);
  op.name_size = strlen(op.name);
  return kmbi_trace_put_op(s->trace, &op);
}

static kmb_status put_set(kmbi_sqlite *s, void *row) {
  kmbi_op_row op = {.kind = KMB_OP_MEMSET};
  kmbi_sqlite_common(s, row, &op);
  if (!kmbi_sqlite_get_u64(s, row, KMBI_SQLITE_COMMON, &op.bytes))
    op.bytes = KMBI_UNKNOWN;
  op.name = "[CUDA memset]";
  op.name_size = strlen(op.name);
  return kmbi_trace_put_op(s->trace, &op);
}

static kmb_status put_graph(kmbi_sqlite *s, void *row) {
  kmbi_op_row op = {.kind = KMB_OP_GRAPH};
  char name[48];
  int64_t id = 0;
  kmbi_sqlite_common(s, row, &op);
  if (kmbi_sqlite_get(s, row, KMBI_SQLITE_COMMON, &id))
    snprintf(name, sizeof name, "[CUDA graph %lld]", (long long)id);
  else
    snprintf(name, sizeof name, "[CUDA graph]");
  op.name = name;
  op.name_size = strlen(name);
  return kmbi_trace_put_op(s->trace, &op);
}

/* Start, end and the thread, in this order; false if it has not ended. */
static bool host_row(kmbi_sqlite *s, void *row, kmbi_host_row *host) {
  uint64_t thread = 0;
  bool start = kmbi_sqlite_get_u64(s, row, 0, &host->start);
  bool end = kmbi_sqlite_get_u64(s, row, 1, &host->end);
  kmbi_sqlite_get_u64(s, row, 2, &thread);
  host->process = thread >> 24 & 0xFFFFFF;
  host->thread = thread & 0xFFFFFF;
  return start && end;
}

static kmb_status put_call(kmbi_sqlite *s, void *row) {
  kmbi_host_row call = {0};
  const kmbi_sqlite_name *name = NULL;
  int64_t id = 0;
  if (!host_row(s, row, &call)) return KMB_OK;
  kmbi_sqlite_get_u64(s, row, 3, &call.correlation);
  if (!kmbi_sqlite_get(s, row, 4, &id))
    return kmbi_sqlite_malformed(s, "CUPTI_ACTIVITY_KIND_RUNTIME",
                                 "a row without a name");
  kmb_status status = kmbi_sqlite_name_of(s, id, &name);
  if (status) return status;
  call.name = name->text;
  call.name_size = name->size;
  call.kind = kmbi_call_kind_of(name->text, name->size);
  return kmbi_trace_put_call(s->trace, &call);
}

/* Push/pop and start/end ranges; what else is in the table is no range. */
enum { PUSH_POP = 59, START_END = 60, TEXT_COLUMN = 4 };

static kmb_status put_range(kmbi_sqlite *s, void *row) {
  kmbi_host_row range = {0};
  const kmbi_sqlite_name *name = NULL;
  int64_t type = 0, id = 0;
  kmb_status status = KMB_OK;
  kmbi_sqlite_get(s, row, 3, &type);
  if ((type != PUSH_POP && type != START_END) || !host_row(s, row, &range))
    return KMB_OK;
  range.name = (const char *)s->api.text(row, TEXT_COLUMN);
  if (range.name) {
    range.name_size = strlen(range.name);
  } else if (kmbi_sqlite_get(s, row, 5, &id)) {
    status = kmbi_sqlite_name_of(s, id, &name);
    if (status) return status;
    range.name = name->text;
    range.name_size = name->size;
  } else {
    return KMB_OK;
  }
  return kmbi_trace_put_range(s->trace, &range);
}

typedef struct table {
  const char *name;
  kmbi_sqlite_column columns[KMBI_SQLITE_COMMON + 2 + KMBI_SQLITE_SHAPE];
  int count;
  kmbi_sqlite_row row;
} table;

/* Of kernels, which come first, how they were launched is asked for too. */
static const table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {COMMON_COLUMNS,
      {"demangledName", false},
      {"shortName", false},
      KMBI_SQLITE_SHAPE_COLUMNS},
     KMBI_SQLITE_COMMON + 2,
     put_kernel},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {COMMON_COLUMNS, {"bytes", false}, {"copyKind", false}},
     KMBI_SQLITE_COMMON + 2,
     put_copy},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     {COMMON_COLUMNS, {"bytes", false}},
     KMBI_SQLITE_COMMON + 1,
     put_set},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     {COMMON_COLUMNS, {"graphId", false}},
     KMBI_SQLITE_COMMON + 1,
     put_graph},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     {{"start", true},
      {"end", true},
      {"globalTid", false},
      {"correlationId", false},
      {"nameId", true}},
     5,
     put_call},
    {"NVTX_EVENTS",
     {{"start", true},
      {"end", true},
      {"globalTid", false},
      {"eventType", true},
      {"text", false},
      {"textId", false}},
     6,
     put_range},
};

kmb_status kmbi_load_nsys_tables(kmbi_sqlite *s) {
  bool kernels = false, export = false;
  kmb_status status =
      kmbi_sqlite_has(s, "CUPTI_ACTIVITY_KIND_KERNEL", &kernels);
  if (!status) status = kmbi_sqlite_has(s, "META_DATA_EXPORT", &export);
  for (size_t i = 1; i < 4 && !status && !kernels; i++)
    status = kmbi_sqlite_has(s, tables[i].name, &kernels);
  if (status) return status;
  /* A report without work of a GPU has no such table, but it is a report. */
  if (!kernels && !export)
    return kmbi_source_fail(s->source, 0, 0,
                            "a SQLite file without the tables of a trace, such "
                            "as CUPTI_ACTIVITY_KIND_KERNEL");
  status = kmbi_sqlite_names_from(s, "StringIds", "id", "value");
  for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !status; i++) {
    int shape = i == 0 ? kmbi_sqlite_shape_columns(s) : 0;
    status = kmbi_sqlite_each(s, tables[i].name, tables[i].columns,
                              tables[i].count + shape, tables[i].row);
  }
  return status;
}
