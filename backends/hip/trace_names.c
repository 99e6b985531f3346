/* Kernels, as rocprofiler-sdk tells of them when their code is loaded. */
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>

enum { WITH_ANCESTOR = 10000 /* version 1.0: a word more */ };

typedef struct entry {
  uint64_t kernel, object;
  char *name;
  uint32_t group_bytes, unused;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry
    *entries; /* in ascending order of ids, which are never used twice */
static size_t count, capacity;
static bool has_ancestor;

void kmbi_hip_names_version(uint32_t version) {
  pthread_mutex_lock(&lock);
  has_ancestor = version >= WITH_ANCESTOR;
  pthread_mutex_unlock(&lock);
}

static bool has_room(void) {
  if (count < capacity) return true;
  size_t larger = capacity ? 2 * capacity : 64;
  entry *fresh = larger > SIZE_MAX / sizeof *entries
                     ? NULL
                     : realloc(entries, larger * sizeof *entries);
  if (!fresh) return false;
  entries = fresh;
  capacity = larger;
  return true;
}

/* Where the id is or belongs. */
static size_t place_of(uint64_t kernel) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (entries[middle].kernel < kernel)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The descriptor's name is the kernel's with an ending. */
static char *kernel_name(const char *symbol) {
  size_t length = strlen(symbol);
  if (length > 3 && strcmp(symbol + length - 3, ".kd") == 0) length -= 3;
  return strndup(symbol, length);
}

/* What finds no memory has no name. */
static void keep(const kmbi_prof_symbol *s) {
  size_t at = place_of(s->kernel);
  bool known = at < count && entries[at].kernel == s->kernel;
  char *name = known || !has_room() ? NULL : kernel_name(s->name);
  if (!name) return;
  memmove(entries + at + 1, entries + at, (count - at) * sizeof *entries);
  entries[at] = (entry){s->kernel, s->code_object, name, s->group_bytes, 0};
  count++;
}

kmbi_prof_subject kmbi_hip_subject_of(const kmbi_prof_event *event) {
  kmbi_prof_subject subject;
  pthread_mutex_lock(&lock);
  memcpy(&subject, event->rest + (has_ancestor ? 1 : 0), sizeof subject);
  pthread_mutex_unlock(&lock);
  return subject;
}

void kmbi_hip_names_take(kmbi_prof_event event, void *data, void *user) {
  const kmbi_prof_subject subject = kmbi_hip_subject_of(&event);
  const kmbi_prof_symbol *s = subject.payload;
  (void)data;
  (void)user;
  if (subject.kind != KMBI_PROF_CODE_OBJECT ||
      subject.phase != KMBI_PROF_LOAD || !s)
    return;
  if (subject.operation == KMBI_PROF_OBJECT)
    kmbi_hip_code_loaded(subject.payload);
  if (subject.operation != KMBI_PROF_KERNEL_SYMBOL || !s->name) return;
  pthread_mutex_lock(&lock);
  keep(s);
  pthread_mutex_unlock(&lock);
}

bool kmbi_hip_symbol_of(uint64_t kernel, kmbi_hip_symbol *symbol) {
  pthread_mutex_lock(&lock);
  size_t at = place_of(kernel);
  bool known = at < count && entries[at].kernel == kernel;
  if (known)
    *symbol = (kmbi_hip_symbol){entries[at].name, entries[at].object,
                                entries[at].group_bytes};
  pthread_mutex_unlock(&lock);
  return known;
}

const char *kmbi_hip_name_of(uint64_t kernel) {
  kmbi_hip_symbol symbol;
  return kmbi_hip_symbol_of(kernel, &symbol) ? symbol.name : NULL;
}
