/* A caller's table of peaks, its rows in order, and rows by what people call
 * them. */
#include "error.h"
#include "peaks.h"

static const kmb_part *first_of(const kmbi_peaks_file *file) {
  return file ? file->parts : kmbi_peaks_tables()->parts;
}

/* Rows in the order in which they are searched: those of each file, then what
 * is compiled in. */
typedef struct cursor {
  const kmbi_peaks_file *file; /* NULL: what is compiled in */
  const kmb_part *part;
} cursor;

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

/* True if the item is `vendor`, a space and `name`. */
static bool after_vendor(const char *item, size_t size, const char *vendor,
                         const char *name) {
  size_t skip = vendor ? strlen(vendor) + 1 : 0;
  return skip && size > skip && !memcmp(item, vendor, skip - 1) &&
         item[skip - 1] == ' ' && kmbi_list_is(item + skip, size - skip, name);
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
    const kmb_part *row = kmbi_peaks_search(file->parts, name, pci_id);
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
