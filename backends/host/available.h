/* How much memory this process can still take: the kernel's estimate and the
 * limits of its control groups. Nothing here allocates. */
#ifndef KMB_BACKENDS_HOST_AVAILABLE_H
#define KMB_BACKENDS_HOST_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KMBI_HOST_PATH = 1024 };

/* Reads a text file line by line; longer lines are cut. */
typedef struct kmbi_host_lines {
  int fd;
  size_t start, end;
  bool skipping;
  char buffer[4096];
} kmbi_host_lines;

bool kmbi_host_lines_open(kmbi_host_lines *lines, const char *path);
/* NULL at the end. The line is valid until the next call. */
const char *kmbi_host_lines_next(kmbi_host_lines *lines);
void kmbi_host_lines_close(kmbi_host_lines *lines);
/* The first line of a file without its newline; false if there is none. */
bool kmbi_host_first_line(const char *path, char *line, size_t size);

/* "Key:   123 kB" of /proc/meminfo. */
bool kmbi_host_parse_meminfo(const char *line, const char *key,
                             uint64_t *bytes);
/* A line of /proc/self/cgroup: the group's path if the line is that of the
 * memory controller (v1) or of the unified hierarchy (v2). */
const char *kmbi_host_parse_cgroup(const char *line, bool v2);
/* A line of /proc/self/mountinfo: true if it mounts that hierarchy. */
bool kmbi_host_parse_mount(const char *line, bool v2, char *root, char *point,
                           size_t size);
/* "max" or a number; false if it is neither. */
bool kmbi_host_parse_limit(const char *text, uint64_t *bytes, bool *unlimited);

/* A value of /proc/meminfo. `root` comes before each absolute path ("" in
 * earnest). */
bool kmbi_host_meminfo(const char *root, const char *key, uint64_t *bytes);
/* The least of MemAvailable and, for each group from the process's own to the
 * top, limit − usage + inactive page cache. False if there is no MemAvailable.
 */
bool kmbi_host_available(const char *root, uint64_t *bytes);

#endif
