/* Whether the kernels of two results are the same code: by hashes alone, and
 * only where what is missing cannot change the answer. */
#include "error.h"
#include "result.h"
#include "structs.h"

const char *kmb_code_match_name(kmb_code_match match) {
  switch (match) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_CODE_MATCH_MAP(CASE)
#undef CASE
  default:
    return "unknown code";
  }
}

/* A kernel has a row for each of its launch configurations. */
static bool is_first(const kmb_result *r, uint64_t index) {
  for (uint64_t i = 0; i < index; i++)
    if (strcmp(r->code[i].name, r->code[index].name) == 0) return false;
  return true;
}

static uint64_t count_names(const kmb_result *r) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < r->code_count; i++)
    count += is_first(r, i);
  return count;
}

static const kmb_code_kernel *find(const kmb_result *r, const char *name) {
  for (uint64_t i = 0; i < r->code_count; i++)
    if (strcmp(r->code[i].name, name) == 0) return &r->code[i];
  return NULL;
}

static bool lists_all(const kmb_result *r) {
  uint64_t omitted = 0, unseen = 0;
  return kmbi_result_get_u64(r, KMB_VALUE_CODE_OMITTED, &omitted) &&
         kmbi_result_get_u64(r, KMB_VALUE_CODE_UNSEEN, &unseen) && !omitted &&
         !unseen;
}

static bool same_text(const char *a, const char *b) {
  return a && b && strcmp(a, b) == 0;
}

/* A name that stands for several codes has no one partner. */
static bool is_one(const kmb_result *r, const kmb_code_kernel *kernel) {
  for (uint64_t i = 0; i < r->code_count; i++) {
    const kmb_code_kernel *other = &r->code[i];
    if (strcmp(other->name, kernel->name) != 0 ||
        same_text(other->code_hash, kernel->code_hash) ||
        same_text(other->hash, kernel->hash))
      continue;
    if (other->hash || kernel->hash) return false;
  }
  return true;
}

kmb_code_match kmbi_code_match_two(const kmb_code_kernel *a,
                                   const kmb_code_kernel *b,
                                   const char **reason) {
  *reason = NULL;
  if (a->code_hash && b->code_hash)
    return same_text(a->code_hash, b->code_hash) ? KMB_CODE_SAME
                                                 : KMB_CODE_DIFFERENT;
  /* An image may hold several kernels. */
  if (same_text(a->hash, b->hash) && strcmp(a->name, b->name) == 0)
    return KMB_CODE_SAME;
  *reason = "the images differ, and where the kernel's instructions stand in "
            "them is not known";
  if (!a->hash || !b->hash) *reason = "there is no image of one of them";
  return KMB_CODE_UNKNOWN;
}

static void fill(const kmb_result *a, const kmb_code_kernel *ka,
                 const kmb_result *b, const kmb_code_kernel *kb,
                 kmb_code_pair *pair) {
  *pair = kmb_code_pair_init();
  pair->a = ka ? ka->name : NULL;
  pair->b = kb ? kb->name : NULL;
  if (ka && kb) {
    pair->match = kmbi_code_match_two(ka, kb, &pair->reason);
    if (is_one(a, ka) && is_one(b, kb)) return;
    pair->match = KMB_CODE_UNKNOWN;
    pair->reason = "several images hold a kernel of this name, or it is not "
                   "known of each launch which one does";
    return;
  }
  pair->match = KMB_CODE_DIFFERENT;
  if (lists_all(ka ? b : a) && (ka ? b : a)->code_count) return;
  pair->match = KMB_CODE_UNKNOWN;
  pair->reason = "the other result does not list all that was launched";
}

/* The pair with this index; false: there are `*count`. */
static bool find_pair(const kmb_result *a, const kmb_result *b, uint64_t index,
                      uint64_t *count, kmb_code_pair *pair) {
  bool single = count_names(a) == 1 && count_names(b) == 1;
  *count = 0;
  for (uint64_t i = 0; i < a->code_count; i++) {
    if (!is_first(a, i) || (*count)++ != index) continue;
    const kmb_code_kernel *k = &a->code[i];
    fill(a, k, b, single ? b->code : find(b, k->name), pair);
    return true;
  }
  for (uint64_t i = 0; i < b->code_count && !single; i++) {
    if (!is_first(b, i) || find(a, b->code[i].name) || (*count)++ != index)
      continue;
    fill(a, NULL, b, &b->code[i], pair);
    return true;
  }
  return false;
}

uint64_t kmb_result_code_pair_count(const kmb_result *a, const kmb_result *b) {
  kmb_code_pair pair;
  uint64_t count = 0;
  if (a && b) find_pair(a, b, UINT64_MAX, &count, &pair);
  return count;
}

kmb_status kmb_result_code_pair(const kmb_result *a, const kmb_result *b,
                                uint64_t index, kmb_code_pair *out) {
  kmb_code_pair pair;
  uint64_t count = 0;
  if (!a || !b || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_code_pair: %s is NULL",
                     !a   ? "a"
                     : !b ? "b"
                          : "pair");
  if (!find_pair(a, b, index, &count, &pair))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_result_code_pair: index %llu of %llu",
                     (unsigned long long)index, (unsigned long long)count);
  return kmbi_copy_out(out, &pair, sizeof pair, KMBI_CODE_PAIR_V1,
                       "kmb_code_pair");
}

kmb_code_match kmb_result_code_match(const kmb_result *a, const kmb_result *b) {
  uint64_t count = kmb_result_code_pair_count(a, b), unused = 0;
  kmb_code_match all = KMB_CODE_SAME;
  kmb_code_pair pair;
  if (!count || !a->code_count || !b->code_count) return KMB_CODE_UNKNOWN;
  for (uint64_t i = 0; i < count; i++) {
    find_pair(a, b, i, &unused, &pair);
    if (pair.match == KMB_CODE_DIFFERENT) return KMB_CODE_DIFFERENT;
    if (pair.match == KMB_CODE_UNKNOWN) all = KMB_CODE_UNKNOWN;
  }
  return lists_all(a) && lists_all(b) ? all : KMB_CODE_UNKNOWN;
}
