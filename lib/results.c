/* An ordered list of results. */
#include "result.h"

#include "error.h"

kmb_status kmbi_results_open(const kmb_hooks *caller, const char *what,
                             kmb_results **out) {
  *out = NULL;
  kmbi_memory memory;
  kmb_status status = kmbi_memory_open(caller, what, &memory);
  if (status) return status;
  kmb_results *results = kmbi_alloc(&memory, 1, sizeof *results);
  if (!results)
    return kmbi_fail(KMB_ERR_NOMEM, "%s: no memory for a list", what);
  results->memory = memory;
  *out = results;
  return KMB_OK;
}

kmb_status kmb_results_create(const kmb_hooks *hooks, kmb_results **results) {
  if (!results)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_create: results is NULL");
  return kmbi_results_open(hooks, "kmb_results_create", results);
}

void kmb_results_destroy(kmb_results *results) {
  if (!results) return;
  for (uint64_t i = 0; i < results->count; i++)
    kmb_result_destroy(results->items[i]);
  kmbi_memory memory = results->memory;
  kmbi_free(&memory, results->items, (size_t)results->capacity,
            sizeof(kmb_result *));
  kmbi_free(&memory, results, 1, sizeof *results);
}

static kmb_status grow(kmb_results *results) {
  uint64_t capacity = 16;
  if (results->capacity && !kmbi_mul(results->capacity, 2, &capacity))
    capacity = 0;
  kmb_result **items = NULL;
  if (capacity)
    items =
        kmbi_alloc(&results->memory, (size_t)capacity, sizeof(kmb_result *));
  if (!items)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "kmb_results_add: no memory for more than %llu results; "
                     "the result still is the caller's",
                     (unsigned long long)results->count);
  if (results->items)
    memcpy(items, results->items,
           (size_t)results->count * sizeof(kmb_result *));
  kmbi_free(&results->memory, results->items, (size_t)results->capacity,
            sizeof(kmb_result *));
  results->items = items;
  results->capacity = capacity;
  return KMB_OK;
}

kmb_status kmb_results_add(kmb_results *results, kmb_result *result) {
  if (!results || !result)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_add: %s is NULL",
                     !results ? "results" : "result");
  if (result->listed)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_results_add: the result is in a list already, which "
                     "frees it; add each result once");
  if (results->count == results->capacity) {
    kmb_status status = grow(results);
    if (status) return status;
  }
  results->items[results->count++] = result;
  result->listed = true;
  return KMB_OK;
}

uint64_t kmb_results_count(const kmb_results *results) {
  return results ? results->count : 0;
}

kmb_status kmb_results_get(const kmb_results *results, uint64_t index,
                           const kmb_result **result) {
  if (!results || !result)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_get: %s is NULL",
                     !results ? "results" : "result");
  if (index >= results->count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_get: index %llu of %llu",
                     (unsigned long long)index,
                     (unsigned long long)results->count);
  *result = results->items[index];
  return KMB_OK;
}
