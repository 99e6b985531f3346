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

static bool is(const char *item, size_t size, const char *text) {
  return strlen(text) == size && !memcmp(item, text, size);
}

bool kmbi_list_has(const char *list, const char *wanted) {
  const char *item = NULL;
  size_t size = 0;
  while (kmbi_list_next(&list, &item, &size))
    if (is(item, size, wanted)) return true;
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

/* Rows in the order in which they are searched: those of each file, then what
 * is compiled in. */
typedef struct cursor {
  const kmbi_peaks_file *file; /* NULL: what is compiled in */
  const kmb_part *part;
} cursor;

static const kmb_part *first_of(const kmbi_peaks_file *file) {
  return file ? file->parts : kmbi_peaks_tables()->parts;
}

static cursor start(const kmb_peaks *peaks) {
  cursor c = {.file = peaks ? peaks->files : NULL};
  c.part = first_of(c.file);
  return c;
}

static const kmb_part *next_row(cursor *c) {
  while (c->file && !c->part) {
    c->file = c->file->older;
    c->part = first_of(c->file);
  }
  const kmb_part *row = c->part;
  if (row) c->part = row->next;
  return row;
}

kmb_status kmb_peaks_create(const kmb_hooks *caller, kmb_peaks **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_create: peaks is NULL");
  *out = NULL;
  kmbi_memory memory;
  kmb_status status = kmbi_memory_open(caller, "kmb_peaks_create", &memory);
  if (status) return status;
  kmb_peaks *peaks = kmbi_alloc(&memory, 1, sizeof *peaks);
  if (!peaks) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a table of peaks");
  peaks->memory = memory;
  *out = peaks;
  return KMB_OK;
}

void kmb_peaks_destroy(kmb_peaks *peaks) {
  if (!peaks) return;
  while (peaks->files) {
    kmbi_peaks_file *file = peaks->files;
    peaks->files = file->older;
    kmbi_arena_release(&file->arena);
    kmbi_free(&peaks->memory, file, 1, sizeof *file);
  }
  kmbi_memory memory = peaks->memory;
  kmbi_free(&memory, peaks, 1, sizeof *peaks);
}

uint64_t kmb_peaks_count(const kmb_peaks *peaks) {
  uint64_t count = 0;
  cursor c = start(peaks);
  while (next_row(&c))
    count++;
  return count;
}

kmb_status kmb_peaks_get(const kmb_peaks *peaks, uint64_t index,
                         const kmb_part **part) {
  if (!part) return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_get: part is NULL");
  *part = NULL;
  cursor c = start(peaks);
  const kmb_part *row = next_row(&c);
  while (row && index--)
    row = next_row(&c);
  if (!row) return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_get: no such row");
  *part = row;
  return KMB_OK;
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
static const kmb_part *search(const kmb_part *first, const char *name,
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
    *part = search(file->parts, name, pci_id);
  if (!*part) *part = search(first_of(NULL), name, pci_id);
  if (*part) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "the table of peaks has no part with the name \"%.80s\"%s"
                   "%.20s; add it in a file of your own",
                   name ? name : "(not known)", pci_id ? " or the PCI id " : "",
                   pci_id ? pci_id : "");
}

/* True if the item is `vendor`, a space and `name`. */
static bool after_vendor(const char *item, size_t size, const char *vendor,
                         const char *name) {
  size_t skip = vendor ? strlen(vendor) + 1 : 0;
  return skip && size > skip && !memcmp(item, vendor, skip - 1) &&
         item[skip - 1] == ' ' && is(item + skip, size - skip, name);
}

/* How well a person's name fits; 0: not. */
static int rank(const kmb_part *row, const char *name) {
  const char *list = row->text[KMB_PART_DRIVER_NAMES], *item = NULL;
  size_t size = 0;
  if (kmbi_list_has(list, name)) return 4;
  while (kmbi_list_next(&list, &item, &size))
    if (after_vendor(item, size, row->text[KMB_PART_VENDOR], name) ||
        after_vendor(item, size, "NVIDIA", name) ||
        after_vendor(item, size, "AMD", name))
      return 3;
  if (!strcmp(row->text[KMB_PART_NAME], name)) return 2;
  return kmbi_list_has(row->text[KMB_PART_LABELS], name) ? 1 : 0;
}

/* The caller's row for a part that the compiled-in table knows by another
 * name. */
static const kmb_part *overriding(const kmb_peaks *peaks,
                                  const kmb_part *part) {
  const char *list = part->text[KMB_PART_PCI_IDS], *item = NULL;
  size_t size = 0;
  char pci_id[16] = "", name[128] = "";
  if (kmbi_list_next(&list, &item, &size)) memcpy(pci_id, item, size);
  list = part->text[KMB_PART_DRIVER_NAMES];
  if (kmbi_list_next(&list, &item, &size) && size < sizeof name)
    memcpy(name, item, size);
  for (const kmbi_peaks_file *file = peaks->files; file; file = file->older) {
    const kmb_part *row = search(file->parts, name, pci_id);
    if (row) return row;
  }
  return part;
}

/* Names of the rows of a rank, for messages; what does not fit is left out. */
static void name_rows(const kmb_peaks *peaks, const char *name, int best,
                      char *text, size_t size) {
  size_t used = 0;
  cursor c = start(peaks);
  for (const kmb_part *row = next_row(&c); row; row = next_row(&c)) {
    if (rank(row, name) != best) continue;
    const char *found = row->text[KMB_PART_NAME];
    size_t length = strlen(found);
    if (used + length + 3 > size) break;
    if (used) {
      memcpy(text + used, ", ", 2);
      used += 2;
    }
    memcpy(text + used, found, length);
    used += length;
  }
  text[used] = '\0';
}

kmb_status kmb_peaks_lookup(const kmb_peaks *peaks, const char *name,
                            const kmb_part **part) {
  if (!name || !part)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_peaks_lookup: %s is NULL",
                     name ? "part" : "name");
  *part = NULL;
  int best = 0, count = 0;
  bool users = false;
  cursor c = start(peaks);
  for (const kmb_part *row = next_row(&c); row; row = next_row(&c)) {
    int fits = rank(row, name);
    /* A caller's row comes first and hides the compiled-in ones. */
    if (fits > best) {
      best = fits;
      count = 0;
      users = row->users;
      *part = row;
    }
    if (fits && fits == best && row->users == users) count++;
  }
  if (count == 1 || (count && best > 1)) {
    if (peaks && !users) *part = overriding(peaks, *part);
    return KMB_OK;
  }
  *part = NULL;
  if (!count)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the table of peaks has no part called \"%.80s\"; `kmb "
                     "peaks` lists them",
                     name);
  char names[160];
  name_rows(peaks, name, best, names, sizeof names);
  return kmbi_fail(KMB_ERR_UNAVAILABLE, "\"%.40s\" is several parts: %s", name,
                   names);
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
