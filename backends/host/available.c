/* Memory that is left: /proc/meminfo and control groups v1 and v2. */
#include "available.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kmbi_host_lines_open(kmbi_host_lines *lines, const char *path) {
  memset(lines, 0, sizeof *lines);
  lines->fd = open(path, O_RDONLY | O_CLOEXEC);
  return lines->fd >= 0;
}

void kmbi_host_lines_close(kmbi_host_lines *lines) {
  if (lines->fd >= 0) close(lines->fd);
  lines->fd = -1;
}

/* Moves what is left to the front and reads on; false if nothing came. */
static bool refill(kmbi_host_lines *lines) {
  memmove(lines->buffer, lines->buffer + lines->start,
          lines->end - lines->start);
  lines->end -= lines->start;
  lines->start = 0;
  ssize_t got = 0;
  do {
    got = read(lines->fd, lines->buffer + lines->end,
               sizeof lines->buffer - 1 - lines->end);
  } while (got < 0 && errno == EINTR);
  if (got > 0) lines->end += (size_t)got;
  return got > 0;
}

/* A line larger than the buffer: gives its head, once. */
static const char *cut(kmbi_host_lines *lines) {
  bool again = lines->skipping;
  lines->buffer[lines->end] = '\0';
  lines->start = lines->end = 0;
  lines->skipping = true;
  return again ? NULL : lines->buffer;
}

const char *kmbi_host_lines_next(kmbi_host_lines *lines) {
  for (;;) {
    char *line = lines->buffer + lines->start;
    char *newline = memchr(line, '\n', lines->end - lines->start);
    if (newline) {
      bool rest = lines->skipping;
      *newline = '\0';
      lines->start = (size_t)(newline - lines->buffer) + 1;
      lines->skipping = false;
      if (!rest) return line;
    } else if (lines->start == 0 && lines->end == sizeof lines->buffer - 1) {
      const char *head = cut(lines);
      if (head) return head;
    } else if (!refill(lines)) {
      if (lines->start == lines->end || lines->skipping) return NULL;
      line = lines->buffer + lines->start;
      lines->buffer[lines->end] = '\0';
      lines->start = lines->end;
      return line;
    }
  }
}

bool kmbi_host_first_line(const char *path, char *line, size_t size) {
  kmbi_host_lines lines;
  if (!kmbi_host_lines_open(&lines, path)) return false;
  const char *text = kmbi_host_lines_next(&lines);
  if (text) snprintf(line, size, "%s", text);
  kmbi_host_lines_close(&lines);
  return text && *line;
}

/* A decimal number that fits; `end` is where it stops. */
static bool parse_number(const char *text, uint64_t *value, const char **end) {
  if (!isdigit((unsigned char)*text)) return false;
  char *stop = NULL;
  errno = 0;
  unsigned long long number = strtoull(text, &stop, 10);
  if (errno) return false;
  *value = number;
  *end = stop;
  return true;
}

bool kmbi_host_parse_meminfo(const char *line, const char *key,
                             uint64_t *bytes) {
  size_t length = strlen(key);
  if (strncmp(line, key, length) != 0 || line[length] != ':') return false;
  const char *text = line + length + 1;
  text += strspn(text, " \t");
  uint64_t value = 0;
  if (!parse_number(text, &value, &text)) return false;
  if (strcmp(text, " kB") != 0 || value > UINT64_MAX / 1024) return false;
  *bytes = value * 1024;
  return true;
}

/* Whether `word` is one of a comma-separated list that ends at `end`. */
static bool in_list(const char *list, const char *end, const char *word) {
  size_t length = strlen(word);
  while (list < end) {
    const char *comma = memchr(list, ',', (size_t)(end - list));
    const char *stop = comma ? comma : end;
    if ((size_t)(stop - list) == length && memcmp(list, word, length) == 0)
      return true;
    list = stop + 1;
  }
  return false;
}

const char *kmbi_host_parse_cgroup(const char *line, bool v2) {
  const char *first = strchr(line, ':');
  const char *second = first ? strchr(first + 1, ':') : NULL;
  if (!second || second[1] != '/') return NULL;
  bool unified = second == first + 1 && strncmp(line, "0:", 2) == 0;
  if (v2) return unified ? second + 1 : NULL;
  return in_list(first + 1, second, "memory") ? second + 1 : NULL;
}

/* Copies a field of mountinfo, in which \040 and the like stand for blanks. */
static bool copy_field(const char *from, size_t length, char *to, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    char c = from[i];
    if (c == '\\' && length - i > 3 && from[i + 1] >= '0' &&
        from[i + 1] <= '3') {
      c = (char)((from[i + 1] - '0') * 64 + (from[i + 2] - '0') * 8 +
                 (from[i + 3] - '0'));
      i += 3;
    }
    if (used + 1 >= size) return false;
    to[used++] = c;
  }
  to[used] = '\0';
  return true;
}

bool kmbi_host_parse_mount(const char *line, bool v2, char *root, char *point,
                           size_t size) {
  /* id parent major:minor root point options [tags] - type source super */
  const char *dash = strstr(line, " - ");
  if (!dash) return false;
  const char *type = dash + 3;
  size_t type_length = strcspn(type, " ");
  const char *want = v2 ? "cgroup2" : "cgroup";
  if (type_length != strlen(want) || memcmp(type, want, type_length) != 0)
    return false;
  const char *super = strrchr(type, ' ');
  if (!v2 && (!super || !in_list(super + 1, super + strlen(super), "memory")))
    return false;
  const char *field = line;
  for (int i = 0; i < 3; i++) {
    field = strchr(field, ' ');
    if (!field || field >= dash) return false;
    field++;
  }
  size_t length = strcspn(field, " ");
  if (!copy_field(field, length, root, size)) return false;
  field += length + (field[length] == ' ');
  return copy_field(field, strcspn(field, " "), point, size);
}

bool kmbi_host_parse_limit(const char *text, uint64_t *bytes, bool *unlimited) {
  *unlimited = strcmp(text, "max") == 0;
  if (*unlimited) return true;
  const char *end = NULL;
  return parse_number(text, bytes, &end) && *end == '\0';
}

static bool read_number(const char *directory, const char *file,
                        uint64_t *value, bool *unlimited) {
  char path[2 * KMBI_HOST_PATH + 64];
  char line[64];
  snprintf(path, sizeof path, "%s/%s", directory, file);
  return kmbi_host_first_line(path, line, sizeof line) &&
         kmbi_host_parse_limit(line, value, unlimited);
}

/* Page cache that the kernel drops first counts as free, as it does in
 * MemAvailable. 0 if not reported. */
static uint64_t read_inactive(const char *directory, bool v2) {
  char path[2 * KMBI_HOST_PATH + 64];
  const char *key = v2 ? "inactive_file " : "total_inactive_file ";
  uint64_t value = 0;
  kmbi_host_lines lines;
  snprintf(path, sizeof path, "%s/memory.stat", directory);
  if (!kmbi_host_lines_open(&lines, path)) return 0;
  for (const char *line; (line = kmbi_host_lines_next(&lines));) {
    const char *end = NULL;
    if (strncmp(line, key, strlen(key)) != 0) continue;
    if (!parse_number(line + strlen(key), &value, &end)) value = 0;
    break;
  }
  kmbi_host_lines_close(&lines);
  return value;
}

static void apply_group(const char *directory, bool v2, uint64_t *least) {
  uint64_t limit = 0;
  uint64_t usage = 0;
  bool unlimited = false;
  bool odd = false;
  const char *limit_file = v2 ? "memory.max" : "memory.limit_in_bytes";
  const char *usage_file = v2 ? "memory.current" : "memory.usage_in_bytes";
  if (!read_number(directory, limit_file, &limit, &unlimited) || unlimited)
    return;
  if (!read_number(directory, usage_file, &usage, &odd) || odd) return;
  uint64_t inactive = read_inactive(directory, v2);
  usage -= inactive < usage ? inactive : usage;
  uint64_t left = limit > usage ? limit - usage : 0;
  if (left < *least) *least = left;
}

static bool find_group(const char *root, bool v2, char *group) {
  char path[KMBI_HOST_PATH];
  kmbi_host_lines lines;
  bool found = false;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (!kmbi_host_lines_open(&lines, path)) return false;
  for (const char *line; !found && (line = kmbi_host_lines_next(&lines));) {
    const char *text = kmbi_host_parse_cgroup(line, v2);
    if (!text) continue;
    snprintf(group, KMBI_HOST_PATH, "%s", text);
    found = true;
  }
  kmbi_host_lines_close(&lines);
  return found;
}

static bool find_mount(const char *root, bool v2, char *top, char *point) {
  char path[KMBI_HOST_PATH];
  kmbi_host_lines lines;
  bool found = false;
  snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
  if (!kmbi_host_lines_open(&lines, path)) return false;
  for (const char *line; !found && (line = kmbi_host_lines_next(&lines));)
    found = kmbi_host_parse_mount(line, v2, top, point, KMBI_HOST_PATH);
  kmbi_host_lines_close(&lines);
  return found;
}

static void apply_hierarchy(const char *root, bool v2, uint64_t *least) {
  char group[KMBI_HOST_PATH];
  char top[KMBI_HOST_PATH];
  char point[KMBI_HOST_PATH];
  char directory[2 * KMBI_HOST_PATH];
  if (!find_group(root, v2, group) || !find_mount(root, v2, top, point)) return;
  /* A container sees its own group mounted as the top. */
  size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
  const char *below = "";
  if (strncmp(group, top, length) == 0 &&
      (group[length] == '/' || group[length] == '\0'))
    below = group + length;
  if (strstr(below, "/..")) below = "";
  int base = snprintf(directory, sizeof directory, "%s%s", root, point);
  int size = snprintf(directory, sizeof directory, "%s%s%s", root, point,
                      strcmp(below, "/") == 0 ? "" : below);
  if (size >= (int)sizeof directory) return;
  for (;;) {
    apply_group(directory, v2, least);
    char *slash = strrchr(directory, '/');
    if (!slash || slash < directory + base) return;
    *slash = '\0';
  }
}

bool kmbi_host_meminfo(const char *root, const char *key, uint64_t *bytes) {
  char path[KMBI_HOST_PATH];
  kmbi_host_lines lines;
  bool known = false;
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (!kmbi_host_lines_open(&lines, path)) return false;
  for (const char *line; !known && (line = kmbi_host_lines_next(&lines));)
    known = kmbi_host_parse_meminfo(line, key, bytes);
  kmbi_host_lines_close(&lines);
  return known;
}

bool kmbi_host_available(const char *root, uint64_t *bytes) {
  if (!kmbi_host_meminfo(root, "MemAvailable", bytes)) return false;
  apply_hierarchy(root, true, bytes);
  apply_hierarchy(root, false, bytes);
  return true;
}
