/* A finished comparison: access. */
#include "compare.h"
#include "error.h"
#include "structs.h"

kmb_status kmbi_comparison_create(const kmbi_memory *memory, uint64_t count,
                                  kmb_comparison **comparison) {
  kmb_comparison *out = kmbi_alloc(memory, 1, sizeof *out);
  if (!out) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a comparison");
  out->memory = *memory;
  out->count = count;
  kmbi_arena_init(&out->arena, memory);
  size_t n = (size_t)count;
  out->rows = kmbi_arena_alloc(&out->arena, n, sizeof *out->rows);
  out->results = kmbi_arena_alloc(&out->arena, n, sizeof(kmb_result *));
  out->arms = kmbi_arena_alloc(&out->arena, n, sizeof(kmb_compare_arm *));
  out->ratios = kmbi_arena_alloc(&out->arena, n, sizeof(double *));
  if (kmbi_arena_failed(&out->arena)) {
    out->count = 0;
    kmb_comparison_destroy(out);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a comparison");
  }
  for (uint64_t i = 0; i < count; i++)
    out->rows[i] = kmb_compare_row_init();
  *comparison = out;
  return KMB_OK;
}

void kmb_comparison_destroy(kmb_comparison *comparison) {
  if (!comparison) return;
  for (uint64_t i = 0; i < comparison->count; i++)
    kmb_result_destroy(comparison->results[i]);
  kmbi_memory memory = comparison->memory;
  kmbi_arena_release(&comparison->arena);
  kmbi_free(&memory, comparison, 1, sizeof *comparison);
}

const char *kmb_verdict_name(kmb_verdict verdict) {
  switch (verdict) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_VERDICT_MAP(CASE)
#undef CASE
  default:
    return "unknown";
  }
}

uint64_t kmb_comparison_count(const kmb_comparison *comparison) {
  return comparison ? comparison->count : 0;
}

static kmb_status check(const kmb_comparison *comparison, const void *out,
                        uint64_t index, const char *what) {
  if (!comparison || !out)
    return kmbi_fail(KMB_ERR_INVALID, "%s: %s is NULL", what,
                     comparison ? "out" : "comparison");
  if (index >= comparison->count)
    return kmbi_fail(KMB_ERR_INVALID, "%s: index %llu of %llu", what,
                     (unsigned long long)index,
                     (unsigned long long)comparison->count);
  return KMB_OK;
}

kmb_status kmb_comparison_row(const kmb_comparison *comparison, uint64_t index,
                              kmb_compare_row *row) {
  kmb_status status = check(comparison, row, index, "kmb_comparison_row");
  if (status) return status;
  return kmbi_copy_out(row, &comparison->rows[index], sizeof *row,
                       KMBI_COMPARE_ROW_V1, "kmb_compare_row");
}

kmb_status kmb_comparison_arm(const kmb_comparison *comparison, uint64_t index,
                              uint64_t arm, kmb_compare_arm *out) {
  kmb_status status = check(comparison, out, index, "kmb_comparison_arm");
  if (status) return status;
  const kmb_compare_row *row = &comparison->rows[index];
  uint64_t tried = row->configs_measured + row->configs_failed;
  if (arm >= tried)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comparison_arm: arm %llu of %llu",
                     (unsigned long long)arm, (unsigned long long)tried);
  return kmbi_copy_out(out, &comparison->arms[index][arm], sizeof *out,
                       KMBI_COMPARE_ARM_V1, "kmb_compare_arm");
}

kmb_status kmb_comparison_ratios(const kmb_comparison *comparison,
                                 uint64_t index, const double **ratios,
                                 uint64_t *count) {
  kmb_status status = check(comparison, ratios, index, "kmb_comparison_ratios");
  if (status) return status;
  if (!count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comparison_ratios: count is NULL");
  *ratios = comparison->ratios[index];
  *count = *ratios ? comparison->rows[index].cycles : 0;
  return KMB_OK;
}
