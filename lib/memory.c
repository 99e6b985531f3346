/* The library's own host memory. */
#include "memory.h"

#include "error.h"
#include "structs.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static void *libc_alloc(void *user, size_t size, size_t align) {
  (void)user;
  void *pointer = NULL;
  if (align < sizeof(void *)) align = sizeof(void *);
  return posix_memalign(&pointer, align, size) == 0 ? pointer : NULL;
}

static void libc_free(void *user, void *pointer, size_t size) {
  (void)user;
  (void)size;
  free(pointer);
}

kmbi_memory kmbi_memory_from(const kmb_hooks *hooks) {
  if (hooks && hooks->alloc)
    return (kmbi_memory){hooks->alloc, hooks->free, hooks->alloc_user};
  return (kmbi_memory){libc_alloc, libc_free, NULL};
}

kmb_status kmbi_memory_open(const kmb_hooks *caller, const char *what,
                            kmbi_memory *memory) {
  kmb_hooks hooks = kmb_hooks_init();
  if (caller) {
    kmb_status status =
        kmbi_copy_in(&hooks, sizeof hooks, KMBI_HOOKS_V1, caller, "kmb_hooks");
    if (status) return status;
  }
  if (!hooks.alloc != !hooks.free)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: kmb_hooks: give both alloc and free, or neither",
                     what);
  *memory = kmbi_memory_from(&hooks);
  return KMB_OK;
}

static bool size_product(size_t count, size_t size, size_t *bytes) {
  return !__builtin_mul_overflow(count, size, bytes);
}

void *kmbi_alloc(const kmbi_memory *memory, size_t count, size_t size) {
  size_t bytes = 0;
  if (!size_product(count, size, &bytes)) return NULL;
  if (bytes == 0) bytes = 1;
  void *pointer = memory->alloc(memory->user, bytes, _Alignof(max_align_t));
  if (pointer) memset(pointer, 0, bytes);
  return pointer;
}

void kmbi_free(const kmbi_memory *memory, void *pointer, size_t count,
               size_t size) {
  if (!pointer) return;
  size_t bytes = count * size;
  memory->free(memory->user, pointer, bytes ? bytes : 1);
}

struct kmbi_chunk {
  struct kmbi_chunk *next;
  size_t size; /* of the chunk, this header included */
  size_t used;
};

enum { CHUNK_SIZE = 4096, ALIGN = _Alignof(max_align_t) };

static size_t align_up(size_t size) {
  return (size + ALIGN - 1) / ALIGN * ALIGN;
}

void kmbi_arena_init(kmbi_arena *arena, const kmbi_memory *memory) {
  *arena = (kmbi_arena){.memory = *memory};
}

void kmbi_arena_release(kmbi_arena *arena) {
  struct kmbi_chunk *chunk = arena->chunks;
  while (chunk) {
    struct kmbi_chunk *next = chunk->next;
    kmbi_free(&arena->memory, chunk, chunk->size, 1);
    chunk = next;
  }
  arena->chunks = NULL;
}

bool kmbi_arena_failed(const kmbi_arena *arena) {
  return arena->failed;
}

static struct kmbi_chunk *add_chunk(kmbi_arena *arena, size_t needed) {
  size_t head = align_up(sizeof(struct kmbi_chunk));
  if (needed > SIZE_MAX - head) return NULL;
  size_t size = head + needed;
  if (size < CHUNK_SIZE) size = CHUNK_SIZE;
  struct kmbi_chunk *chunk = kmbi_alloc(&arena->memory, size, 1);
  if (!chunk) return NULL;
  chunk->size = size;
  chunk->used = head;
  /* A chunk that one large allocation fills goes behind the current one. */
  if (arena->chunks && size > CHUNK_SIZE) {
    chunk->next = arena->chunks->next;
    arena->chunks->next = chunk;
  } else {
    chunk->next = arena->chunks;
    arena->chunks = chunk;
  }
  return chunk;
}

void *kmbi_arena_alloc(kmbi_arena *arena, size_t count, size_t size) {
  size_t bytes = 0;
  if (!size_product(count, size, &bytes) || bytes > SIZE_MAX - ALIGN) {
    arena->failed = true;
    return NULL;
  }
  bytes = align_up(bytes ? bytes : 1);
  struct kmbi_chunk *chunk = arena->chunks;
  if (!chunk || chunk->size - chunk->used < bytes)
    chunk = add_chunk(arena, bytes);
  if (!chunk) {
    arena->failed = true;
    return NULL;
  }
  void *pointer = (char *)chunk + chunk->used;
  chunk->used += bytes;
  return pointer;
}

char *kmbi_arena_copy(kmbi_arena *arena, const char *text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char *copy = kmbi_arena_alloc(arena, size, 1);
  if (copy) memcpy(copy, text, size);
  return copy;
}

KMB_PRINTF(2, 0)
static char *format_here(kmbi_arena *arena, const char *format,
                         va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = NULL;
  if (length >= 0) text = kmbi_arena_alloc(arena, (size_t)length + 1, 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

/* What results hold reads the same whatever the caller's locale is: the point
 * stays a point. */
char *kmbi_arena_vformat(kmbi_arena *arena, const char *format,
                         va_list arguments) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!plain) {
    arena->failed = true;
    return NULL;
  }
  locale_t callers = uselocale(plain);
  char *text = format_here(arena, format, arguments);
  uselocale(callers);
  freelocale(plain);
  return text;
}

char *kmbi_arena_format(kmbi_arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = kmbi_arena_vformat(arena, format, arguments);
  va_end(arguments);
  return text;
}

bool kmbi_mul(uint64_t a, uint64_t b, uint64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

bool kmbi_add(uint64_t a, uint64_t b, uint64_t *sum) {
  return !__builtin_add_overflow(a, b, sum);
}
