/* Rows of one size in chunks, so that growth copies nothing and wastes little;
 * and a map from three words to a row's index. */
#ifndef KMB_LIB_ROWS_H
#define KMB_LIB_ROWS_H

#include "memory.h"

enum {
  KMBI_ROWS_SHIFT = 14,
  KMBI_ROWS_CHUNK = 1 << KMBI_ROWS_SHIFT,
  KMBI_ROWS_MASK = KMBI_ROWS_CHUNK - 1
};
/* Indices have 32 bits. */
#define KMBI_ROWS_MOST UINT32_MAX
#define KMBI_NO_ROW UINT32_MAX

typedef struct kmbi_rows {
  const kmbi_memory *memory;
  char **chunks;
  size_t size; /* of a row */
  uint32_t count;
  uint32_t chunk_count;
  size_t capacity; /* of `chunks` */
  size_t first;    /* rows that the first chunk holds: it grows */
} kmbi_rows;

void kmbi_rows_init(kmbi_rows *rows, const kmbi_memory *memory, size_t size);
void kmbi_rows_release(kmbi_rows *rows);
/* A zeroed row at the end, which may move those of the first chunk. NULL if
 * there is no memory or there are KMBI_ROWS_MOST already. */
void *kmbi_rows_add(kmbi_rows *rows);

static inline void *kmbi_rows_at(const kmbi_rows *rows, uint32_t index) {
  return rows->chunks[index >> KMBI_ROWS_SHIFT] +
         (index & KMBI_ROWS_MASK) * rows->size;
}

/* NOMEM, or UNSUPPORTED where there are too many rows. */
kmb_status kmbi_rows_failed(const kmbi_rows *rows, const char *what);

typedef struct kmbi_map_key {
  uint64_t a, b, c;
} kmbi_map_key;

/* Open addressing. The rows hold the keys; `key_of` reads one. */
typedef struct kmbi_map {
  const kmbi_memory *memory;
  kmbi_map_key (*key_of)(const void *rows, uint32_t index);
  const void *rows;
  uint32_t *slots; /* index + 1; 0: free */
  size_t size;     /* a power of two, 0 at first */
  size_t used;
} kmbi_map;

void kmbi_map_init(kmbi_map *map, const kmbi_memory *memory,
                   kmbi_map_key (*key_of)(const void *rows, uint32_t index),
                   const void *rows);
void kmbi_map_release(kmbi_map *map);
/* KMBI_NO_ROW if there is none. */
uint32_t kmbi_map_find(const kmbi_map *map, kmbi_map_key key);
/* The key must be new. False without memory. */
bool kmbi_map_put(kmbi_map *map, kmbi_map_key key, uint32_t index);

/* Room for `count` keys. */
bool kmbi_map_reserve(kmbi_map *map, size_t count);

/* For keys of text: what is equal has the same hash, not the other way round.
 */
uint64_t kmbi_text_hash(const char *text, size_t size);

#endif
