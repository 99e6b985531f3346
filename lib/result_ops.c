/* A result's rows of device operations. */
#include "error.h"
#include "result.h"
#include "structs.h"
#include "utf8.h"

const char *kmb_op_kind_name(kmb_op_kind kind) {
  switch (kind) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_OP_MAP(CASE)
#undef CASE
  default:
    return "unknown";
  }
}

kmb_op_kind kmbi_op_kind_of(const char *name) {
#define COMPARE(unused, value, text) \
  if (strcmp(name, text) == 0) return value;
  KMB_OP_MAP(COMPARE)
#undef COMPARE
  return 0;
}

void kmbi_result_set_ops(kmb_result *result, const kmb_op *ops,
                         uint64_t count) {
  result->op_count = 0;
  result->ops =
      kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *result->ops);
  if (!result->ops) return;
  for (uint64_t i = 0; i < count; i++) {
    kmb_op *op = &result->ops[i].op;
    *op = ops[i];
    op->struct_size = sizeof *op;
    op->name = kmbi_utf8_copy(&result->arena, ops[i].name ? ops[i].name : "");
  }
  result->op_count = count;
}

uint64_t kmb_result_op_count(const kmb_result *result) {
  return result ? result->op_count : 0;
}

kmb_status kmb_result_op(const kmb_result *result, uint64_t index, kmb_op *op) {
  if (!result || !op)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_op: %s is NULL",
                     !result ? "result" : "op");
  if (index >= result->op_count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_op: index %llu of %llu",
                     (unsigned long long)index,
                     (unsigned long long)result->op_count);
  return kmbi_copy_out(op, &result->ops[index].op, sizeof *op, KMBI_OP_V1,
                       "kmb_result_op: op");
}
