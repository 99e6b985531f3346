/* The SQLite file of nvprof. Its calls of the host are numbers without a
 * table of names, so only operations are taken. */
#include "error.h"
#include "trace_sqlite.h"

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
  if (!kmbi_sqlite_get(s, row, KMBI_SQLITE_COMMON, &id))
    return kmbi_source_fail(s->source, 0, 0, "a kernel without a name");
  op.shape = kmbi_sqlite_shape(s, row, KMBI_SQLITE_COMMON + 1);
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

kmb_status kmbi_load_nvprof_tables(kmbi_sqlite *s) {
  static const kmbi_sqlite_column kernel[] = {
      COMMON_COLUMNS, {"name", true}, KMBI_SQLITE_SHAPE_COLUMNS};
  static const kmbi_sqlite_column copy[] = {
      COMMON_COLUMNS, {"bytes", false}, {"copyKind", false}};
  static const char *const names[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                      "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"};
  bool has[2] = {false, false};
  kmb_status status = kmbi_sqlite_has(s, names[0], &has[0]);
  if (!status) status = kmbi_sqlite_has(s, names[1], &has[1]);
  if (status) return status;
  if (!has[0] && !has[1])
    return kmbi_source_fail(s->source, 0, 0,
                            "a SQLite file of nvprof without a table of "
                            "kernels");
  status = kmbi_sqlite_names_from(s, "StringTable", "_id_", "value");
  for (int i = 0; i < 2 && !status; i++)
    status = kmbi_sqlite_each(
        s, names[i], kernel,
        KMBI_SQLITE_COMMON + 1 + kmbi_sqlite_shape_columns(s), put_kernel);
  if (!status)
    status = kmbi_sqlite_each(s, "CUPTI_ACTIVITY_KIND_MEMCPY", copy,
                              KMBI_SQLITE_COMMON + 2, put_copy);
  if (!status)
    status = kmbi_sqlite_each(s, "CUPTI_ACTIVITY_KIND_MEMSET", copy,
                              KMBI_SQLITE_COMMON + 1, put_set);
  return status;
}
