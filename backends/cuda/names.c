/* Names of kernels: a record's pointer need not outlive its buffer. */
#include "cupti_session.h"

#include <stdlib.h>

enum { FIRST = 64, MOST = 4096 };

static size_t place_of(char *const *table, size_t capacity, const char *name) {
  size_t i = (size_t)kmbi_cuda_hash(name) & (capacity - 1);
  while (table[i] && strcmp(table[i], name) != 0)
    i = (i + 1) & (capacity - 1);
  return i;
}

/* At most half of the places are taken. */
static bool make_room(kmbi_cupti_names *names) {
  if (2 * (names->count + 1) <= names->capacity) return true;
  size_t capacity = names->capacity ? 2 * names->capacity : FIRST;
  char **table = calloc(capacity, sizeof *table);
  if (!table) return false;
  for (size_t i = 0; i < names->capacity; i++)
    if (names->table[i])
      table[place_of(table, capacity, names->table[i])] = names->table[i];
  free(names->table);
  names->table = table;
  names->capacity = capacity;
  return true;
}

const char *kmbi_cupti_name(kmbi_cupti_names *names, const char *name) {
  if (!name) return NULL;
  uint64_t at = (uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15);
  const char **recent = &names->recent[(at >> 32) % KMBI_CUPTI_RECENT];
  if (*recent && strcmp(*recent, name) == 0) return *recent;
  if (!make_room(names)) return NULL;
  size_t i = place_of(names->table, names->capacity, name);
  size_t most = names->most ? names->most : MOST;
  if (!names->table[i] && names->count < most) {
    names->table[i] = strdup(name);
    names->count += names->table[i] != NULL;
  }
  return *recent = names->table[i];
}

void kmbi_cupti_names_release(kmbi_cupti_names *names) {
  for (size_t i = 0; i < names->capacity; i++)
    free(names->table[i]);
  free(names->table);
  *names = (kmbi_cupti_names){.table = NULL};
}
