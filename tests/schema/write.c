/* Writes a document to standard output: "values" with every value known,
 * "absent" with none, "sample" with something of each kind, "keys" lists the
 * keys of values. */
#include "samples.h"

#include <math.h>

static kmb_status put(void *user, const void *data, size_t size) {
  return fwrite(data, 1, size, user) == size ? KMB_OK : KMB_ERR_IO;
}

static void fill_values(kmb_result *result) {
  for (size_t i = 0; i < kmbi_value_count; i++) {
    kmb_value value = kmbi_value_table[i].value;
    kmbi_result_set_f64(result, value, 1.5 + (double)i);
    kmbi_result_set_u64(result, value, i % 2 ? i : UINT64_MAX);
    kmbi_result_set_text(result, value, "text");
  }
#define FIND(name, code) \
  kmbi_result_find(result, KMB_FINDING_##name, 1 + (code) % 3, NULL, 0, "m");
  KMB_FINDING_MAP(FIND)
#undef FIND
}

static void fill_absent(kmb_result *result) {
  for (size_t i = 0; i < kmbi_value_count; i++)
    kmbi_result_absent(result, kmbi_value_table[i].value, "reason %zu", i);
  kmbi_result_set_f64(result, KMB_VALUE_TIME, NAN);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "keys") == 0) {
    for (size_t i = 0; i < kmbi_value_count; i++)
      printf("%s\n", kmbi_value_table[i].key);
    return 0;
  }
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  if (strcmp(what, "values") == 0) fill_values(result);
  if (strcmp(what, "absent") == 0) fill_absent(result);
  if (strcmp(what, "sample") == 0) fill_sample(result, "a\xFF");
  REQUIRE_OK(kmbi_result_finish(&result));
  REQUIRE_OK(kmb_result_write_json(result, put, stdout));
  kmb_result_destroy(result);
  return 0;
}
