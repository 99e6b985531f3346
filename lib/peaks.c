/* The table of parts: finding a row, and what it says. */
#include "peaks.h"

#include "device.h"
#include "error.h"

#include <ctype.h>
#include <strings.h>

const kmbi_part_info kmbi_part_table[] = {
#define KMBI_TEXT true
#define KMBI_F64 false
#define ROW(name, number, kind, key, unit) {number, KMBI_##kind, key},
    KMB_PART_MAP(ROW)
#undef ROW
#undef KMBI_F64
#undef KMBI_TEXT
};
const size_t kmbi_part_table_count =
    sizeof kmbi_part_table / sizeof kmbi_part_table[0];

bool kmbi_list_next(const char **list, const char **item, size_t *size) {
  if (!*list || !**list) return false;
  *item = *list;
  *size = strcspn(*list, "|");
  *list += *size + ((*list)[*size] == '|');
  return true;
}

bool kmbi_list_is(const char *item, size_t size, const char *text) {
  return strlen(text) == size && !memcmp(item, text, size);
}

bool kmbi_list_has(const char *list, const char *wanted) {
  const char *item = NULL;
  size_t size = 0;
  while (kmbi_list_next(&list, &item, &size))
    if (kmbi_list_is(item, size, wanted)) return true;
  return false;
}

bool kmbi_pci_valid(const char *text, size_t size, bool with_rev) {
  if (size != 9 && !(with_rev && size == 12)) return false;
  for (size_t i = 0; i < size; i++) {
    bool colon = i == 4 || i == 9;
    if (colon ? text[i] != ':' : !isxdigit((unsigned char)text[i]))
      return false;
  }
  return true;
}

/* The revision is compared only by rows that have one. */
static bool has_pci(const kmb_part *row, const char *pci_id) {
  const char *list = row->text[KMB_PART_PCI_IDS], *item = NULL;
  const char *rev = row->text[KMB_PART_PCI_REV];
  size_t size = 0;
  while (kmbi_list_next(&list, &item, &size)) {
    if (strncasecmp(item, pci_id, 9) != 0) continue;
    if (!rev) return true;
    if (pci_id[9] == ':' && !strcasecmp(pci_id + 10, rev)) return true;
  }
  return false;
}

/* The newest table that knows the name or the id decides, the compiled-in one
 * last: a caller's row overrides it by either. */
const kmb_part *kmbi_peaks_search(const kmb_part *first, const char *name,
                                  const char *pci_id) {
  const kmb_part *by_pci = NULL;
  for (const kmb_part *row = first; row; row = row->next) {
    if (name && kmbi_list_has(row->text[KMB_PART_DRIVER_NAMES], name))
      return row;
    if (pci_id && !by_pci && has_pci(row, pci_id)) by_pci = row;
  }
  return by_pci;
}

static kmb_status no_slice(const char *name) {
  if (!name || !strstr(name, " MIG")) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "%.100s is a slice of a GPU: the figures of the whole do "
                   "not hold, and none are published for it",
                   name);
}

kmb_status kmb_peaks_find(const kmb_peaks *peaks, const char *name,
                          const char *pci_id, const kmb_part **part) {
  if (!part || (!name && !pci_id))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_find: %s",
                     part ? "neither a name nor a PCI id" : "part is NULL");
  *part = NULL;
  if (pci_id && !kmbi_pci_valid(pci_id, strlen(pci_id), true))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_peaks_find: \"%.40s\" is no PCI id such as "
                     "10de:2335",
                     pci_id);
  kmb_status status = no_slice(name);
  if (status) return status;
  const kmbi_peaks_file *file = peaks ? peaks->files : NULL;
  for (; file && !*part; file = file->older)
    *part = kmbi_peaks_search(file->parts, name, pci_id);
  if (!*part)
    *part = kmbi_peaks_search(kmbi_peaks_tables()->parts, name, pci_id);
  if (*part) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "the table of peaks has no part with the name \"%.80s\"%s"
                   "%.20s; add it in a file of your own",
                   name ? name : "(not known)", pci_id ? " or the PCI id " : "",
                   pci_id ? pci_id : "");
}

static const char *text_attr(kmb_device *device, kmb_device_attr attr) {
  const char *text = NULL;
  if (device->ops->attr_text(device->self, attr, &text)) return NULL;
  return text;
}

/* Nine in ten: the count of some parts in the table is not certain. */
static kmb_status whole(kmb_device *device, const kmb_part *part) {
  uint64_t units = 0;
  double all = part->number[KMB_PART_UNITS];
  if (device->ops->attr_u64(device->self, KMB_DEVICE_UNITS, &units))
    return KMB_OK;
  if (!units || (double)units >= 0.9 * all) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "the device reports %llu units, a whole %s has %.0f: it is "
                   "a slice or a partition, and the figures of the whole do "
                   "not hold",
                   (unsigned long long)units, part->text[KMB_PART_NAME], all);
}

kmb_status kmbi_peaks_of_device(const kmb_peaks *peaks, kmb_device *device,
                                const kmb_part **part) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  const char *uuid = text_attr(device, KMB_DEVICE_UUID);
  bool slice = uuid && !strncmp(uuid, "MIG", 3);
  const char *pci = text_attr(device, KMB_DEVICE_PCI_ID);
  char pci_id[16] = "";
  if (pci && kmbi_pci_valid(pci, strlen(pci), true))
    memcpy(pci_id, pci, strlen(pci) + 1);
  const char *name = text_attr(device, KMB_DEVICE_NAME);
  kmbi_error_restore(&before);
  if (slice)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "a MIG slice: the figures of the whole GPU do not hold, "
                     "and none are published for it");
  if (!name && !pci_id[0])
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the device has neither a name nor a PCI id");
  kmb_status status =
      kmb_peaks_find(peaks, name, pci_id[0] ? pci_id : NULL, part);
  if (status || !*part) return status;
  kmbi_error_save(&before);
  status = whole(device, *part);
  if (status)
    *part = NULL;
  else
    kmbi_error_restore(&before);
  return status;
}

kmb_status kmb_peaks_of_device(const kmb_peaks *peaks, kmb_device *device,
                               const kmb_part **part) {
  if (!part)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_of_device: part is NULL");
  *part = NULL;
  kmb_status status = kmbi_device_enter(device, "kmb_peaks_of_device");
  if (status) return status;
  status = kmbi_peaks_of_device(peaks, device, part);
  kmbi_device_leave(device);
  return status;
}

static kmb_status check_value(const kmb_part *part, kmb_part_value value,
                              bool text, const void *out, const char *what) {
  if (!part || !out)
    return kmbi_fail(KMB_ERR_INVALID, "%s: %s is NULL", what,
                     part ? "the result" : "part");
  for (size_t i = 0; i < kmbi_part_table_count; i++)
    if (kmbi_part_table[i].value == value && kmbi_part_table[i].is_text == text)
      return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID, "%s: no such value of a part: %d", what,
                   (int)value);
}

static const char *key_of(kmb_part_value value) {
  size_t i = 0;
  while (kmbi_part_table[i].value != value)
    i++;
  return kmbi_part_table[i].key;
}

kmb_status kmb_part_f64(const kmb_part *part, kmb_part_value value,
                        double *number) {
  kmb_status status = check_value(part, value, false, number, "kmb_part_f64");
  if (status) return status;
  if (!(part->number[value] > 0))
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "no %s is known of %s", key_of(value),
                     part->text[KMB_PART_NAME]);
  *number = part->number[value];
  return KMB_OK;
}

kmb_status kmb_part_text(const kmb_part *part, kmb_part_value value,
                         const char **text) {
  kmb_status status = check_value(part, value, true, text, "kmb_part_text");
  if (status) return status;
  *text = part->text[value];
  if (*text) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE, "no %s is known of %s", key_of(value),
                   part->text[KMB_PART_NAME]);
}
