#include "fuzz.h"

#include "require.h"

#include <kmb/kmb.h>

typedef struct bytes {
  char *data;
  size_t size, at;
} bytes;

static kmb_status put(void *user, const void *data, size_t size) {
  bytes *b = user;
  b->data = realloc(b->data, b->size + size + 1);
  REQUIRE(b->data != NULL);
  memcpy(b->data + b->size, data, size);
  b->size += size;
  return KMB_OK;
}

/* In pieces that end anywhere. */
static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  bytes *b = user;
  size_t left = b->size - b->at;
  if (size > 61) size = 61;
  *got = left < size ? left : size;
  if (*got) memcpy(data, b->data + b->at, *got);
  b->at += *got;
  return KMB_OK;
}

static kmb_status discard(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return KMB_OK;
}

/* What a reader would do with it. */
static void use(const kmb_results *list) {
  for (uint64_t i = 0; i < kmb_results_count(list); i++) {
    const kmb_result *result = NULL;
    REQUIRE_OK(kmb_results_get(list, i, &result));
    REQUIRE_OK(kmb_result_write_text(result, discard, NULL));
    kmb_code_match match = kmb_result_code_match(result, result);
    REQUIRE(match == KMB_CODE_UNKNOWN || kmb_result_code_count(result));
  }
  REQUIRE_OK(kmb_results_write_table(list, discard, NULL));
}

int fuzz_json(const uint8_t *data, size_t size) {
  bytes input = {.size = size};
  bytes first = {0};
  bytes second = {0};
  kmb_results *list = NULL;
  input.data = malloc(size + 1);
  REQUIRE(input.data != NULL);
  if (size) memcpy(input.data, data, size);
  kmb_status status = kmb_results_read_json(give, &input, NULL, &list);
  free(input.data);
  if (status) {
    REQUIRE(status == KMB_ERR_FORMAT || status == KMB_ERR_UNSUPPORTED);
    REQUIRE(!list && *kmb_last_error(NULL, NULL));
    return 0;
  }
  use(list);
  REQUIRE_OK(kmb_results_write_json(list, put, &first));
  kmb_results_destroy(list);
  REQUIRE_OK(kmb_results_read_json(give, &first, NULL, &list));
  REQUIRE_OK(kmb_results_write_json(list, put, &second));
  kmb_results_destroy(list);
  REQUIRE_EQ(second.size, first.size);
  REQUIRE(memcmp(first.data, second.data, first.size) == 0);
  free(first.data);
  free(second.data);
  return 1;
}
