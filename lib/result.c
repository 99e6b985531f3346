/* A result: how it is built, and the getters. */
#include "result.h"

#include "error.h"
#include "redact.h"
#include "structs.h"
#include "utf8.h"

#include <math.h>

const kmbi_value_info kmbi_value_table[] = {
#define ROW(name, number, kind, key, unit) {number, KMBI_##kind, key, unit},
    KMB_VALUE_MAP(ROW)
#undef ROW
};
#define FITS(name, number, kind, text, of)                          \
  _Static_assert(sizeof(text) <= sizeof kmbi_value_table[0].key &&  \
                     sizeof(of) <= sizeof kmbi_value_table[0].unit, \
                 "too long: " text);
KMB_VALUE_MAP(FITS)
#undef FITS
enum { VALUES = sizeof kmbi_value_table / sizeof kmbi_value_table[0] };
const size_t kmbi_value_count = VALUES;

const kmbi_value_info *kmbi_value_find(kmb_value value) {
  /* Numbers are dense so far; a gap only costs the search. */
  if (value >= 1 && (size_t)value <= VALUES &&
      kmbi_value_table[value - 1].value == value)
    return &kmbi_value_table[value - 1];
  for (size_t i = 0; i < VALUES; i++) {
    if (kmbi_value_table[i].value == value) return &kmbi_value_table[i];
  }
  return NULL;
}

bool kmbi_value_signed(const kmbi_value_info *info) {
  if (strcmp(info->unit, "ns") != 0) return true;
  return info->value == KMB_VALUE_BIAS ||
         info->value == KMB_VALUE_INTERVAL_LOW ||
         info->value == KMB_VALUE_CONFIRM_LOW ||
         info->value == KMB_VALUE_ROUND_LOW;
}

const char *kmb_finding_name(kmb_finding_code code) {
  switch (code) {
#define CASE(name, value) \
  case value:             \
    return #name;
    KMB_FINDING_MAP(CASE)
#undef CASE
  default:
    return "UNKNOWN";
  }
}

/* Life. */

kmb_status kmbi_result_create(const kmbi_memory *memory, kmb_result **out) {
  *out = NULL;
  kmb_result *result = kmbi_alloc(memory, 1, sizeof *result);
  if (!result) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a result");
  result->memory = *memory;
  kmbi_arena_init(&result->arena, memory);
  result->findings_end = &result->findings;
  result->metadata_end = &result->metadata;
  result->values =
      kmbi_arena_alloc(&result->arena, VALUES, sizeof *result->values);
  if (!result->values) {
    kmb_result_destroy(result);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a result's values");
  }
  *out = result;
  return KMB_OK;
}

void kmb_result_destroy(kmb_result *result) {
  if (!result) return;
  kmbi_memory memory = result->memory;
  kmbi_arena_release(&result->arena);
  kmbi_free(&memory, result, 1, sizeof *result);
}

kmb_status kmbi_result_finish(kmb_result **result) {
  if (!kmbi_arena_failed(&(*result)->arena)) return KMB_OK;
  kmb_result_destroy(*result);
  *result = NULL;
  return kmbi_fail(KMB_ERR_NOMEM,
                   "no memory for a result's values, samples or metadata; "
                   "free some, or lower max_samples");
}

/* Setters. */

/* NULL for a value of another kind: it then stays unknown. */
kmbi_value *kmbi_result_slot(const kmb_result *result, kmb_value value,
                             kmbi_kind kind) {
  const kmbi_value_info *info = kmbi_value_find(value);
  if (!info || (kind && info->kind != kind)) return NULL;
  return &result->values[info - kmbi_value_table];
}

void kmbi_result_set_f64(kmb_result *result, kmb_value value, double number) {
  kmbi_value *slot = kmbi_result_slot(result, value, KMBI_F64);
  if (!slot) return;
  if (!isfinite(number)) {
    kmbi_result_absent(result, value, "what was computed is %s",
                       isnan(number) ? "not a number" : "infinite");
    return;
  }
  if (number < 0 && !kmbi_value_signed(kmbi_value_find(value))) {
    kmbi_result_absent(result, value,
                       "what was computed is below zero (%.6g ns): the "
                       "correction exceeds what the clock said",
                       number);
    return;
  }
  *slot = (kmbi_value){.f64 = number, .known = true};
}

void kmbi_result_set_u64(kmb_result *result, kmb_value value, uint64_t number) {
  kmbi_value *slot = kmbi_result_slot(result, value, KMBI_U64);
  if (slot) *slot = (kmbi_value){.u64 = number, .known = true};
}

/* Takes text that is in the arena. */
static void keep_text(kmbi_value *slot, const char *text) {
  *slot = (kmbi_value){.text = text, .known = text != NULL};
}

/* As kmbi_redact_value(); NULL if there is no memory. */
static char *copy_redacted(kmb_result *result, const char *name,
                           const char *value) {
  kmbi_text clean;
  kmbi_text_init(&clean, &result->memory);
  kmbi_redact_value(&clean, name, value);
  if (clean.failed) result->arena.failed = true;
  char *copy = kmbi_utf8_copy(&result->arena, kmbi_text_get(&clean));
  kmbi_text_release(&clean);
  return copy;
}

void kmbi_result_set_text(kmb_result *result, kmb_value value,
                          const char *text) {
  kmbi_value *slot = kmbi_result_slot(result, value, KMBI_TEXT);
  if (slot && text && value == KMB_VALUE_NAME)
    keep_text(slot, copy_redacted(result, NULL, text));
  else if (slot)
    keep_text(slot, kmbi_utf8_copy(&result->arena, text));
}

KMB_PRINTF(2, 0)
static char *format_valid(kmb_result *result, const char *format,
                          va_list arguments) {
  char *text = kmbi_arena_vformat(&result->arena, format, arguments);
  return kmbi_utf8_copy(&result->arena, text);
}

void kmbi_result_format(kmb_result *result, kmb_value value, const char *format,
                        ...) {
  kmbi_value *slot = kmbi_result_slot(result, value, KMBI_TEXT);
  if (!slot) return;
  va_list arguments;
  va_start(arguments, format);
  keep_text(slot, format_valid(result, format, arguments));
  va_end(arguments);
}

void kmbi_result_absent(kmb_result *result, kmb_value value, const char *format,
                        ...) {
  kmbi_value *slot = kmbi_result_slot(result, value, 0);
  if (!slot) return;
  va_list arguments;
  va_start(arguments, format);
  *slot = (kmbi_value){.reason = format_valid(result, format, arguments)};
  va_end(arguments);
}

void kmbi_result_set_axes(kmb_result *result, const kmb_pair *axes,
                          uint64_t count) {
  result->axis_count = 0;
  result->axes =
      kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *result->axes);
  if (!result->axes) return;
  for (uint64_t i = 0; i < count; i++) {
    const char *key = axes[i].key ? axes[i].key : "";
    const char *value = axes[i].value ? axes[i].value : "";
    result->axes[i].key = kmbi_utf8_copy(&result->arena, key);
    result->axes[i].value = copy_redacted(result, key, value);
  }
  result->axis_count = count;
}

void kmbi_result_set_samples(kmb_result *result, const double *ns,
                             uint64_t count) {
  result->samples = NULL;
  result->sample_count = 0;
  if (!count) return;
  double *copy = kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *copy);
  if (!copy) return;
  memcpy(copy, ns, (size_t)count * sizeof *copy);
  result->samples = copy;
  result->sample_count = count;
}

/* What JSON cannot hold is left out: a figure that is no number, or a second
 * one of the same name. */
static bool may_keep(const kmb_figure *figure, const kmb_figure *kept,
                     uint64_t count) {
  if (!isfinite(figure->value)) return false;
  for (uint64_t i = 0; i < count; i++) {
    if (strcmp(kept[i].name, figure->name) == 0) return false;
  }
  return true;
}

kmbi_finding *kmbi_result_add(kmb_result *result, kmb_severity severity,
                              const kmb_figure *figures,
                              uint64_t figure_count) {
  kmbi_finding *finding = kmbi_arena_alloc(&result->arena, 1, sizeof *finding);
  if (!finding) return NULL;
  finding->severity = severity;
  finding->figures = kmbi_arena_alloc(&result->arena, (size_t)figure_count,
                                      sizeof *finding->figures);
  for (uint64_t i = 0; finding->figures && i < figure_count; i++) {
    if (may_keep(&figures[i], finding->figures, finding->figure_count))
      finding->figures[finding->figure_count++] = figures[i];
  }
  *result->findings_end = finding;
  result->findings_end = &finding->next;
  result->finding_count++;
  return finding;
}

void kmbi_result_find(kmb_result *result, kmb_finding_code code,
                      kmb_severity severity, const kmb_figure *figures,
                      uint64_t figure_count, const char *format, ...) {
  kmbi_finding *finding =
      kmbi_result_add(result, severity, figures, figure_count);
  if (!finding) return;
  finding->code = code;
  va_list arguments;
  va_start(arguments, format);
  finding->message = format_valid(result, format, arguments);
  va_end(arguments);
}

static void fill_entry(kmb_result *result, kmbi_entry *entry, const char *value,
                       const char *reason) {
  if (!value && !reason) reason = "not known";
  entry->value = kmbi_utf8_copy(&result->arena, value);
  entry->reason = value ? NULL : kmbi_utf8_copy(&result->arena, reason);
}

kmbi_entry *kmbi_result_entry(const kmb_result *result, const char *key) {
  for (kmbi_entry *entry = result->metadata; entry; entry = entry->next) {
    if (strcmp(entry->key, key) == 0) return entry;
  }
  return NULL;
}

void kmbi_result_append(kmb_result *result, const char *key, const char *value,
                        const char *reason) {
  kmbi_entry *entry = kmbi_arena_alloc(&result->arena, 1, sizeof *entry);
  if (!entry) return;
  entry->key = key;
  fill_entry(result, entry, value, reason);
  *result->metadata_end = entry;
  result->metadata_end = &entry->next;
  result->metadata_count++;
}

void kmbi_result_meta(kmb_result *result, const char *key, const char *value,
                      const char *reason) {
  const char *copy = kmbi_utf8_copy(&result->arena, key);
  if (!copy) return;
  kmbi_entry *entry = kmbi_result_entry(result, copy);
  if (entry)
    fill_entry(result, entry, value, reason);
  else
    kmbi_result_append(result, copy, value, reason);
}

/* Getters. */

bool kmbi_result_get_f64(const kmb_result *result, kmb_value value,
                         double *number) {
  const kmbi_value *slot = kmbi_result_slot(result, value, KMBI_F64);
  if (!slot || !slot->known) return false;
  *number = slot->f64;
  return true;
}

bool kmbi_result_get_u64(const kmb_result *result, kmb_value value,
                         uint64_t *number) {
  const kmbi_value *slot = kmbi_result_slot(result, value, KMBI_U64);
  if (!slot || !slot->known) return false;
  *number = slot->u64;
  return true;
}

const char *kmbi_result_get_text(const kmb_result *result, kmb_value value) {
  const kmbi_value *slot = kmbi_result_slot(result, value, KMBI_TEXT);
  return slot && slot->known ? slot->text : NULL;
}
