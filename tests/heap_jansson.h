/* jansson's memory, counted and failed as a heap's. Its allocator is the
 * process's: tests may set it, the library never. */
#ifndef KMB_TESTS_HEAP_JANSSON_H
#define KMB_TESTS_HEAP_JANSSON_H

#include "heap.h"

#include <jansson.h>

static heap json_heap;

static void *json_alloc(size_t size) {
  if (heap_fails(&json_heap)) return NULL;
  json_heap.blocks_out++;
  return malloc(size);
}

static void json_release(void *pointer) {
  if (pointer) json_heap.blocks_out--;
  free(pointer);
}

#endif
