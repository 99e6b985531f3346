/* What readers of files put into a result. */
#include "result.h"
#include "utf8.h"

static kmb_finding_code code_of(const char *name) {
#define COMPARE(text, value) \
  if (strcmp(name, #text) == 0) return value;
  KMB_FINDING_MAP(COMPARE)
#undef COMPARE
  return 0;
}

void kmbi_result_find_named(kmb_result *result, const char *name,
                            kmb_severity severity, const kmb_figure *figures,
                            uint64_t figure_count, const char *message) {
  kmbi_finding *finding =
      kmbi_result_add(result, severity, figures, figure_count);
  if (!finding) return;
  finding->code = code_of(name);
  if (!finding->code) finding->name = kmbi_utf8_copy(&result->arena, name);
  finding->message = kmbi_utf8_copy(&result->arena, message);
}

void kmbi_result_meta_new(kmb_result *result, const char *key,
                          const char *value, const char *reason) {
  const char *copy = kmbi_utf8_copy(&result->arena, key);
  if (copy) kmbi_result_append(result, copy, value, reason);
}
