/* A result's public getters. */
#include "error.h"
#include "result.h"
#include "structs.h"

/* NULL, with the failure recorded, unless the value is known. */
static const kmbi_value *find_value(const kmb_result *result, kmb_value value,
                                    kmbi_kind kind, const void *out,
                                    const char *what, kmb_status *status) {
  *status = KMB_ERR_INVALID;
  const kmbi_value *slot =
      result ? kmbi_result_slot(result, value, kind) : NULL;
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
  const kmbi_entry *entry = kmbi_result_entry(result, key);
  if (!entry)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "no metadata entry \"%.80s\"", key);
  if (!entry->value)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "%.80s is not known: %s", key,
                     entry->reason);
  *text = entry->value;
  return KMB_OK;
}
