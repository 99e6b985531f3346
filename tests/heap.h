/* The tests' one allocator: it counts what is out, fails at a call, and knows
 * the size of each block. Fresh memory holds garbage, and so does what was
 * given back. */
#ifndef KMB_TESTS_HEAP_H
#define KMB_TESTS_HEAP_H

#include "require.h"

#include <kmb/device.h>

#include <stdbool.h>

typedef struct heap {
  uint64_t calls, fail_at; /* the call that fails, from 1; 0: none */
  int64_t blocks_out, bytes_out;
  uint64_t last_size;
  bool failed;
} heap;

enum { HEAP_GARBAGE = 1 << 16 }; /* bytes, at most */

/* From one call that fails to the next. Valgrind takes minutes for all of them,
 * which the address sanitizer sees too, and what the thread sanitizer looks for
 * depends on few of them: some are enough there. */
static inline uint64_t heap_step(void) {
#ifdef __SANITIZE_THREAD__
  return 7;
#endif
  return getenv("KMB_VALGRIND") ? 19 : 1; // NOLINT(concurrency-mt-unsafe)
}

static inline bool heap_fails(heap *h) {
  if (++h->calls != h->fail_at) return false;
  h->failed = true;
  return true;
}

/* Lies before each block. */
typedef struct heap_head {
  void *base;
  size_t size;
} heap_head;

/* The hooks of kmb_hooks and kmb_host, with a heap as `user`. */

static inline void *heap_alloc(void *user, size_t size, size_t align) {
  heap *h = user;
  void *base = NULL;
  if (heap_fails(h)) return NULL;
  if (align < sizeof(heap_head)) align = sizeof(heap_head);
  if (posix_memalign(&base, align, align + size)) return NULL;
  char *p = (char *)base + align;
  ((heap_head *)(void *)p)[-1] = (heap_head){base, size};
  memset(p, 0xa5, size < HEAP_GARBAGE ? size : HEAP_GARBAGE);
  h->blocks_out++;
  h->bytes_out += (int64_t)size;
  h->last_size = size;
  return p;
}

static inline void heap_free(void *user, void *p, size_t size) {
  heap *h = user;
  if (!p) return;
  heap_head head = ((heap_head *)p)[-1];
  REQUIRE_EQ(size, head.size);
  memset(p, 0x5a, size < HEAP_GARBAGE ? size : HEAP_GARBAGE);
  h->blocks_out--;
  h->bytes_out -= (int64_t)size;
  free(head.base);
}

static inline kmb_status heap_device_alloc(void *user, uint64_t size,
                                           uint64_t align, void **p) {
  *p = heap_alloc(user, (size_t)size, (size_t)align);
  return *p ? KMB_OK : KMB_ERR_NOMEM;
}

static inline void heap_device_free(void *user, void *p, uint64_t size) {
  heap_free(user, p, (size_t)size);
}

static inline kmb_hooks heap_hooks(heap *h) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.alloc = heap_alloc;
  hooks.free = heap_free;
  hooks.alloc_user = h;
  return hooks;
}

#endif
