/* Pictures that an older report of the same name had, and this one has not: who
 * looks into the folder would take them for its own. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* "STEM.roofline.svg" or "STEM.samples-N.svg". */
static bool is_picture(const char *file, const char *stem, size_t size) {
  static const char samples[] = ".samples-";
  if (strncmp(file, stem, size) != 0) return false;
  file += size;
  if (strcmp(file, ".roofline.svg") == 0) return true;
  if (strncmp(file, samples, sizeof samples - 1) != 0) return false;
  file += sizeof samples - 1;
  size_t digits = strspn(file, "0123456789");
  return digits > 0 && strcmp(file + digits, ".svg") == 0;
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_kept(const char *file, const report_pictures *kept) {
  for (size_t i = 0; i < kept->count; i++)
    if (strcmp(name_of(kept->items[i].path), file) == 0) return true;
  return false;
}

void report_remove_stale(const char *path, const report_pictures *kept) {
  const char *stem = name_of(path);
  size_t length = (size_t)(stem - path), size = strlen(stem) - strlen(".md");
  char *folder = length ? strndup(path, length) : strdup(".");
  DIR *open = folder ? opendir(folder) : NULL;
  const struct dirent *entry = NULL;
  while (open && (entry = readdir(open)) != NULL)
    if (is_picture(entry->d_name, stem, size) &&
        !is_kept(entry->d_name, kept) &&
        unlinkat(dirfd(open), entry->d_name, 0) != 0)
      fprintf(stderr, "kmb: %s: of an older report, cannot be removed: %s\n",
              entry->d_name, strerror(errno));
  if (open) closedir(open);
  free(folder);
}
