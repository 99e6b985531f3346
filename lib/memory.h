/* The library's own host memory: the caller's hooks or the C library, and an
 * arena for what lives and dies together. */
#ifndef KMB_LIB_MEMORY_H
#define KMB_LIB_MEMORY_H

#include <kmb/device.h>

#include <stdarg.h>
#include <stdbool.h>

typedef struct kmbi_memory {
  void *(*alloc)(void *user, size_t size, size_t align);
  void (*free)(void *user, void *pointer, size_t size);
  void *user;
} kmbi_memory;

/* NULL hooks, or hooks without an allocator, mean the C library's. */
kmbi_memory kmbi_memory_from(const kmb_hooks *hooks);
/* The same from a caller's struct of any size, checked; `what` names the call.
 */
kmb_status kmbi_memory_open(const kmb_hooks *caller, const char *what,
                            kmbi_memory *memory);

/* Zeroed; NULL on failure or if count * size overflows. A size of 0 gives a
 * pointer that may be freed. */
void *kmbi_alloc(const kmbi_memory *memory, size_t count, size_t size);
void kmbi_free(const kmbi_memory *memory, void *pointer, size_t count,
               size_t size);

/* Everything taken from an arena is given back at once. A failure is sticky:
 * allocate freely, then ask kmbi_arena_failed() once. */
struct kmbi_chunk;
typedef struct kmbi_arena {
  kmbi_memory memory;
  struct kmbi_chunk *chunks; /* newest first */
  bool failed;
} kmbi_arena;

void kmbi_arena_init(kmbi_arena *arena, const kmbi_memory *memory);
void kmbi_arena_release(kmbi_arena *arena);
bool kmbi_arena_failed(const kmbi_arena *arena);
/* Zeroed, aligned for any type; NULL on failure. */
void *kmbi_arena_alloc(kmbi_arena *arena, size_t count, size_t size);
/* NULL for NULL, and on failure. */
char *kmbi_arena_copy(kmbi_arena *arena, const char *text);
char *kmbi_arena_format(kmbi_arena *arena, const char *format, ...)
    KMB_PRINTF(2, 3);
char *kmbi_arena_vformat(kmbi_arena *arena, const char *format,
                         va_list arguments) KMB_PRINTF(2, 0);

/* Products and sums of sizes; false if the true value does not fit. */
bool kmbi_mul(uint64_t a, uint64_t b, uint64_t *product);
bool kmbi_add(uint64_t a, uint64_t b, uint64_t *sum);

#endif
