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
static kmbi_value *slot_of(const kmb_result *result, kmb_value value,
                           kmbi_kind kind) {
  const kmbi_value_info *info = kmbi_value_find(value);
  if (!info || (kind && info->kind != kind)) return NULL;
  return &result->values[info - kmbi_value_table];
}

void kmbi_result_set_f64(kmb_result *result, kmb_value value, double number) {
  kmbi_value *slot = slot_of(result, value, KMBI_F64);
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
  kmbi_value *slot = slot_of(result, value, KMBI_U64);
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
  kmbi_value *slot = slot_of(result, value, KMBI_TEXT);
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
  kmbi_value *slot = slot_of(result, value, KMBI_TEXT);
  if (!slot) return;
  va_list arguments;
  va_start(arguments, format);
  keep_text(slot, format_valid(result, format, arguments));
  va_end(arguments);
}

void kmbi_result_absent(kmb_result *result, kmb_value value, const char *format,
                        ...) {
  kmbi_value *slot = slot_of(result, value, 0);
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

static kmbi_finding *add_finding(kmb_result *result, kmb_severity severity,
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
  kmbi_finding *finding = add_finding(result, severity, figures, figure_count);
  if (!finding) return;
  finding->code = code;
  va_list arguments;
  va_start(arguments, format);
  finding->message = format_valid(result, format, arguments);
  va_end(arguments);
}

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
  kmbi_finding *finding = add_finding(result, severity, figures, figure_count);
  if (!finding) return;
  finding->code = code_of(name);
  if (!finding->code) finding->name = kmbi_utf8_copy(&result->arena, name);
  finding->message = kmbi_utf8_copy(&result->arena, message);
}

static void fill_entry(kmb_result *result, kmbi_entry *entry, const char *value,
                       const char *reason) {
  if (!value && !reason) reason = "not known";
  entry->value = kmbi_utf8_copy(&result->arena, value);
  entry->reason = value ? NULL : kmbi_utf8_copy(&result->arena, reason);
}

static kmbi_entry *find_entry(const kmb_result *result, const char *key) {
  for (kmbi_entry *entry = result->metadata; entry; entry = entry->next) {
    if (strcmp(entry->key, key) == 0) return entry;
  }
  return NULL;
}

static void append_entry(kmb_result *result, const char *key, const char *value,
                         const char *reason) {
  kmbi_entry *entry = kmbi_arena_alloc(&result->arena, 1, sizeof *entry);
  if (!entry) return;
  entry->key = key;
  fill_entry(result, entry, value, reason);
  *result->metadata_end = entry;
  result->metadata_end = &entry->next;
  result->metadata_count++;
}

void kmbi_result_meta_new(kmb_result *result, const char *key,
                          const char *value, const char *reason) {
  const char *copy = kmbi_utf8_copy(&result->arena, key);
  if (copy) append_entry(result, copy, value, reason);
}

void kmbi_result_meta(kmb_result *result, const char *key, const char *value,
                      const char *reason) {
  const char *copy = kmbi_utf8_copy(&result->arena, key);
  if (!copy) return;
  kmbi_entry *entry = find_entry(result, copy);
  if (entry)
    fill_entry(result, entry, value, reason);
  else
    append_entry(result, copy, value, reason);
}

/* Getters. */

bool kmbi_result_get_f64(const kmb_result *result, kmb_value value,
                         double *number) {
  const kmbi_value *slot = slot_of(result, value, KMBI_F64);
  if (!slot || !slot->known) return false;
  *number = slot->f64;
  return true;
}

bool kmbi_result_get_u64(const kmb_result *result, kmb_value value,
                         uint64_t *number) {
  const kmbi_value *slot = slot_of(result, value, KMBI_U64);
  if (!slot || !slot->known) return false;
  *number = slot->u64;
  return true;
}

const char *kmbi_result_get_text(const kmb_result *result, kmb_value value) {
  const kmbi_value *slot = slot_of(result, value, KMBI_TEXT);
  return slot && slot->known ? slot->text : NULL;
}

/* NULL, with the failure recorded, unless the value is known. */
static const kmbi_value *find_value(const kmb_result *result, kmb_value value,
                                    kmbi_kind kind, const void *out,
                                    const char *what, kmb_status *status) {
  *status = KMB_ERR_INVALID;
  const kmbi_value *slot = result ? slot_of(result, value, kind) : NULL;
  if (!result) {
    kmbi_fail(*status, "%s: result is NULL", what);
  } else if (!out) {
    kmbi_fail(*status, "%s: nowhere to store it", what);
  } else if (!slot) {
    kmbi_fail(*status, "%s: value %d is not of this kind; see KMB_VALUE_MAP",
              what, (int)value);
  } else if (!slot->known) {
    *status = KMB_ERR_UNAVAILABLE;
    kmbi_fail(*status, "%s is not known: %s", kmbi_value_find(value)->key,
              slot->reason ? slot->reason
                           : "it was not recorded for this result");
  } else {
    *status = KMB_OK;
    return slot;
  }
  return NULL;
}

kmb_status kmb_result_f64(const kmb_result *result, kmb_value value,
                          double *number) {
  kmb_status status = KMB_OK;
  const kmbi_value *slot =
      find_value(result, value, KMBI_F64, number, "kmb_result_f64", &status);
  if (slot) *number = slot->f64;
  return status;
}

kmb_status kmb_result_u64(const kmb_result *result, kmb_value value,
                          uint64_t *number) {
  kmb_status status = KMB_OK;
  const kmbi_value *slot =
      find_value(result, value, KMBI_U64, number, "kmb_result_u64", &status);
  if (slot) *number = slot->u64;
  return status;
}

kmb_status kmb_result_text(const kmb_result *result, kmb_value value,
                           const char **text) {
  kmb_status status = KMB_OK;
  const kmbi_value *slot =
      find_value(result, value, KMBI_TEXT, text, "kmb_result_text", &status);
  if (slot) *text = slot->text;
  return status;
}

kmb_status kmb_result_samples(const kmb_result *result, const double **ns,
                              uint64_t *count) {
  if (!result || !ns || !count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_samples: %s is NULL",
                     !result ? "result"
                     : !ns   ? "ns"
                             : "count");
  *ns = result->samples;
  *count = result->sample_count;
  return KMB_OK;
}

static kmb_status check_index(const kmb_result *result, const void *out,
                              uint64_t index, uint64_t count,
                              const char *what) {
  if (!result) return kmbi_fail(KMB_ERR_INVALID, "%s: result is NULL", what);
  if (!out) return kmbi_fail(KMB_ERR_INVALID, "%s: nowhere to store it", what);
  if (index >= count)
    return kmbi_fail(KMB_ERR_INVALID, "%s: index %llu of %llu", what,
                     (unsigned long long)index, (unsigned long long)count);
  return KMB_OK;
}

uint64_t kmb_result_finding_count(const kmb_result *result) {
  return result ? result->finding_count : 0;
}

kmb_status kmb_result_finding(const kmb_result *result, uint64_t index,
                              kmb_finding *out) {
  kmb_status status =
      check_index(result, out, index, kmb_result_finding_count(result),
                  "kmb_result_finding");
  if (status) return status;
  const kmbi_finding *at = result->findings;
  for (uint64_t i = 0; i < index; i++)
    at = at->next;
  kmb_finding finding = kmb_finding_init();
  finding.message = at->message;
  finding.figures = at->figures;
  finding.figure_count = at->figure_count;
  finding.code = at->code;
  finding.severity = at->severity;
  return kmbi_copy_out(out, &finding, sizeof finding, KMBI_FINDING_V1,
                       "kmb_result_finding: finding");
}

uint64_t kmb_result_axis_count(const kmb_result *result) {
  return result ? result->axis_count : 0;
}

kmb_status kmb_result_axis(const kmb_result *result, uint64_t index,
                           kmb_pair *axis) {
  kmb_status status = check_index(
      result, axis, index, kmb_result_axis_count(result), "kmb_result_axis");
  if (!status) *axis = result->axes[index];
  return status;
}

uint64_t kmb_result_metadata_count(const kmb_result *result) {
  return result ? result->metadata_count : 0;
}

kmb_status kmb_result_metadata(const kmb_result *result, uint64_t index,
                               kmb_metadata_entry *out) {
  kmb_status status =
      check_index(result, out, index, kmb_result_metadata_count(result),
                  "kmb_result_metadata");
  if (status) return status;
  const kmbi_entry *at = result->metadata;
  for (uint64_t i = 0; i < index; i++)
    at = at->next;
  kmb_metadata_entry entry = kmb_metadata_entry_init();
  entry.key = at->key;
  entry.value = at->value;
  entry.reason = at->reason;
  return kmbi_copy_out(out, &entry, sizeof entry, KMBI_METADATA_ENTRY_V1,
                       "kmb_result_metadata: entry");
}

kmb_status kmb_result_metadata_text(const kmb_result *result, const char *key,
                                    const char **text) {
  if (!result || !key || !text)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_metadata_text: %s is NULL",
                     !result ? "result"
                     : !key  ? "key"
                             : "text");
  const kmbi_entry *entry = find_entry(result, key);
  if (!entry)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "no metadata entry \"%.80s\"", key);
  if (!entry->value)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "%.80s is not known: %s", key,
                     entry->reason);
  *text = entry->value;
  return KMB_OK;
}
