/* A result's rows of ranks. */
#include "error.h"
#include "result.h"
#include "structs.h"
#include "utf8.h"

static const char *copy(kmb_result *result, const char *text) {
  return kmbi_utf8_copy(&result->arena, text ? text : "");
}

void kmbi_result_set_ranks(kmb_result *result, const kmb_rank *ranks,
                           uint64_t count) {
  result->rank_count = 0;
  result->ranks =
      kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *result->ranks);
  if (!result->ranks) return;
  for (uint64_t i = 0; i < count; i++) {
    kmb_rank *rank = &result->ranks[i];
    *rank = ranks[i];
    rank->struct_size = sizeof *rank;
    rank->device = copy(result, ranks[i].device);
    rank->id = copy(result, ranks[i].id);
  }
  result->rank_count = count;
}

uint64_t kmb_result_rank_count(const kmb_result *result) {
  return result ? result->rank_count : 0;
}

kmb_status kmb_result_rank(const kmb_result *result, uint64_t index,
                           kmb_rank *rank) {
  if (!result || !rank)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_rank: %s is NULL",
                     !result ? "result" : "rank");
  if (index >= result->rank_count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_rank: rank %llu of %llu",
                     (unsigned long long)index,
                     (unsigned long long)result->rank_count);
  return kmbi_copy_out(rank, &result->ranks[index], sizeof *rank, KMBI_RANK_V1,
                       "kmb_result_rank: rank");
}
