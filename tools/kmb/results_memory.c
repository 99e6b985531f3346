/* Memory of one file's results: many pieces that end together. From large
 * blocks, and what was given back is taken again: most of the time went into
 * the kernel's clearing of pages. */
#include "results_parts.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCK = 32 << 20, LARGE = 1 << 20, STEP = 64, CLASSES = LARGE / STEP };

typedef struct block {
  struct block *next;
  size_t size;
} block;

typedef struct free_piece {
  struct free_piece *next;
} free_piece;

struct results_memory {
  block *blocks;
  char *at, *end;
  free_piece *free[CLASSES + 1]; /* given back, by size in steps */
};

static void *map_pages(size_t size) {
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return NULL;
  madvise(pages, size, MADV_HUGEPAGE); /* where there are some */
  return pages;
}

static bool add_block(struct results_memory *m) {
  block *b = map_pages(BLOCK);
  if (!b) return false;
  *b = (block){m->blocks, BLOCK};
  m->blocks = b;
  m->at = (char *)b + STEP;
  m->end = (char *)b + BLOCK;
  return true;
}

/* All pieces are whole steps, so that each is aligned to one. */
static void *take(void *user, size_t size, size_t align) {
  struct results_memory *m = user;
  if (size >= LARGE) return map_pages(size);
  if (align > STEP) return NULL;
  size_t steps = (size + STEP - 1) / STEP;
  free_piece *given = m->free[steps];
  if (given) {
    m->free[steps] = given->next;
    return given;
  }
  if ((size_t)(m->end - m->at) < steps * STEP && !add_block(m)) return NULL;
  m->at += steps * STEP;
  return m->at - steps * STEP;
}

static void give_back(void *user, void *pointer, size_t size) {
  struct results_memory *m = user;
  if (size >= LARGE) {
    munmap(pointer, size);
    return;
  }
  free_piece *piece = pointer;
  free_piece **list = &m->free[(size + STEP - 1) / STEP];
  piece->next = *list;
  *list = piece;
}

struct results_memory *results_memory_open(void) {
  return calloc(1, sizeof(struct results_memory));
}

void results_memory_close(struct results_memory *m) {
  while (m && m->blocks) {
    block *b = m->blocks;
    m->blocks = b->next;
    munmap(b, b->size);
  }
  free(m);
}

void results_memory_hooks(struct results_memory *m, kmb_hooks *hooks) {
  hooks->alloc = take;
  hooks->free = give_back;
  hooks->alloc_user = m;
}
