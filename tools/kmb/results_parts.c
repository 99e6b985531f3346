/* Where documents end, and the results of one, by brackets and strings alone.
 */
#include "results_parts.h"

enum { BLOCK = 16, AROUND = 1 << 16 };
typedef unsigned char bytes __attribute__((vector_size(BLOCK)));

/* A bracket, a quote, or what is looked for besides. */
static bool is_mark(char c, char other) {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == '"' || c == other;
}

/* Most of a file is digits: they are passed over a block at a time. */
static const char *next_mark(const char *at, const char *end, char other) {
  for (; end - at >= BLOCK; at += BLOCK) {
    bytes x;
    uint64_t found[2];
    memcpy(&x, at, sizeof x);
    bytes low = x | 0x20; /* both kinds of brackets */
    bytes hits = (bytes)((low == '{') | (low == '}') | (x == '"') |
                         (x == (unsigned char)other));
    memcpy(found, &hits, sizeof found);
    if (found[0] | found[1]) break;
  }
  while (at < end && !is_mark(*at, other))
    at++;
  return at;
}

/* Behind the string that starts at `at`. */
static const char *end_of_string(const char *at, const char *end) {
  for (at++; at < end; at++) {
    if (*at == '"') return at + 1;
    if (*at == '\\') at++;
  }
  return NULL;
}

const char *end_of_container(const char *at, const char *end, uint64_t *line) {
  size_t depth = 0;
  char other = line ? '\n' : '"';
  while ((at = next_mark(at, end, other)) < end) {
    if (*at == '"') {
      at = end_of_string(at, end);
      if (!at) return NULL;
      continue;
    }
    if (line && *at == '\n') {
      ++*line;
    } else if (*at == '{' || *at == '[') {
      depth++;
    } else if (--depth == 0) {
      return at + 1;
    }
    at++;
  }
  return NULL;
}

const char *skip_space(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at) && *at)
    at++;
  return at;
}

/* Behind a value within an object. */
static const char *end_of_value(const char *at, const char *end) {
  if (at == end) return NULL;
  if (*at == '{' || *at == '[') return end_of_container(at, end, NULL);
  if (*at == '"') return end_of_string(at, end);
  while (at < end && *at != ',' && *at != '}')
    at++;
  return at;
}

const char *next_element(const char **at, const char *end, bool first) {
  *at = skip_space(*at, end);
  if (*at < end && **at == ']') return NULL;
  if (!first) {
    if (*at < end && **at == ',')
      *at = skip_space(*at + 1, end);
    else
      *at = end;
  }
  const char *stop =
      *at < end && **at == '{' ? end_of_container(*at, end, NULL) : NULL;
  if (!stop) *at = NULL;
  return stop;
}

const char *find_elements(const char *data, const char *end) {
  static const char key[] = "\"results\"";
  if (end - data > AROUND) end = data + AROUND;
  const char *at = skip_space(data, end);
  if (at == end || *at != '{') return NULL;
  do {
    const char *name = skip_space(at + 1, end);
    at = name < end && *name == '"' ? end_of_string(name, end) : NULL;
    if (!at) return NULL;
    bool here = (size_t)(at - name) == sizeof key - 1 &&
                memcmp(name, key, sizeof key - 1) == 0;
    at = skip_space(at, end);
    if (at == end || *at != ':') return NULL;
    at = skip_space(at + 1, end);
    if (here) return at < end && *at == '[' ? at + 1 : NULL;
    at = end_of_value(at, end);
    at = at ? skip_space(at, end) : end;
  } while (at < end && *at == ',');
  return NULL;
}
