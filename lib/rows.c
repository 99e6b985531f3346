/* Rows in chunks, and a map. */
#include "rows.h"

#include "error.h"

void kmbi_rows_init(kmbi_rows *rows, const kmbi_memory *memory, size_t size) {
  *rows = (kmbi_rows){.memory = memory, .size = size};
}

void kmbi_rows_release(kmbi_rows *rows) {
  for (uint32_t i = 0; i < rows->chunk_count; i++)
    kmbi_free(rows->memory, rows->chunks[i],
              i ? (size_t)KMBI_ROWS_CHUNK : rows->first, rows->size);
  kmbi_free(rows->memory, rows->chunks, rows->capacity, sizeof *rows->chunks);
  kmbi_rows_init(rows, rows->memory, rows->size);
}

static bool grow_list(kmbi_rows *rows) {
  if (rows->chunk_count < rows->capacity) return true;
  size_t capacity = rows->capacity ? 2 * rows->capacity : 16;
  char **chunks = kmbi_alloc(rows->memory, capacity, sizeof *chunks);
  if (!chunks) return false;
  if (rows->chunks)
    memcpy(chunks, rows->chunks, rows->chunk_count * sizeof *chunks);
  kmbi_free(rows->memory, rows->chunks, rows->capacity, sizeof *chunks);
  rows->chunks = chunks;
  rows->capacity = capacity;
  return true;
}

/* A list of a few rows takes little. */
static bool grow_first(kmbi_rows *rows) {
  size_t first = 2 * rows->first;
  char *chunk = kmbi_alloc(rows->memory, first, rows->size);
  if (!chunk) return false;
  memcpy(chunk, rows->chunks[0], rows->count * rows->size);
  kmbi_free(rows->memory, rows->chunks[0], rows->first, rows->size);
  rows->chunks[0] = chunk;
  rows->first = first;
  return true;
}

static bool add_chunk(kmbi_rows *rows) {
  if (!grow_list(rows)) return false;
  size_t count = rows->chunk_count ? (size_t)KMBI_ROWS_CHUNK : 32;
  char *chunk = kmbi_alloc(rows->memory, count, rows->size);
  if (!chunk) return false;
  if (!rows->chunk_count) rows->first = count;
  rows->chunks[rows->chunk_count++] = chunk;
  return true;
}

void *kmbi_rows_add(kmbi_rows *rows) {
  if (rows->count == KMBI_ROWS_MOST) return NULL;
  if (rows->count >> KMBI_ROWS_SHIFT == rows->chunk_count) {
    if (!add_chunk(rows)) return NULL;
  } else if (rows->count == rows->first && rows->chunk_count == 1) {
    if (!grow_first(rows)) return NULL;
  }
  return kmbi_rows_at(rows, rows->count++);
}

kmb_status kmbi_rows_failed(const kmbi_rows *rows, const char *what) {
  if (rows->count == KMBI_ROWS_MOST)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "more than %u %s; record a shorter time",
                     (unsigned)KMBI_ROWS_MOST, what);
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold %s", what);
}

void kmbi_map_init(kmbi_map *map, const kmbi_memory *memory,
                   kmbi_map_key (*key_of)(const void *rows, uint32_t index),
                   const void *rows) {
  *map = (kmbi_map){.memory = memory, .key_of = key_of, .rows = rows};
}

void kmbi_map_release(kmbi_map *map) {
  kmbi_free(map->memory, map->slots, map->size, sizeof *map->slots);
  map->slots = NULL;
  map->size = map->used = 0;
}

static uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ x >> 32;
}

static size_t slot_of(const kmbi_map *map, kmbi_map_key key) {
  uint64_t hash = mix(key.a + mix(key.b + mix(key.c + 1)));
  return (size_t)hash & (map->size - 1);
}

uint32_t kmbi_map_find(const kmbi_map *map, kmbi_map_key key) {
  if (!map->size) return KMBI_NO_ROW;
  size_t at = slot_of(map, key);
  while (map->slots[at]) {
    uint32_t index = map->slots[at] - 1;
    kmbi_map_key other = map->key_of(map->rows, index);
    if (other.a == key.a && other.b == key.b && other.c == key.c) return index;
    at = (at + 1) & (map->size - 1);
  }
  return KMBI_NO_ROW;
}

static void place(kmbi_map *map, kmbi_map_key key, uint32_t index) {
  size_t at = slot_of(map, key);
  while (map->slots[at])
    at = (at + 1) & (map->size - 1);
  map->slots[at] = index + 1;
}

static bool resize(kmbi_map *map, size_t size) {
  kmbi_map bigger = *map;
  bigger.slots = kmbi_alloc(map->memory, size, sizeof *map->slots);
  if (!bigger.slots) return false;
  bigger.size = size;
  for (size_t i = 0; i < map->size; i++) {
    if (!map->slots[i]) continue;
    uint32_t index = map->slots[i] - 1;
    place(&bigger, map->key_of(map->rows, index), index);
  }
  kmbi_free(map->memory, map->slots, map->size, sizeof *map->slots);
  *map = bigger;
  return true;
}

bool kmbi_map_reserve(kmbi_map *map, size_t count) {
  size_t size = 16;
  while (size / 4 * 3 < count) {
    if (size > SIZE_MAX / 2) return false;
    size *= 2;
  }
  return size <= map->size || resize(map, size);
}

bool kmbi_map_put(kmbi_map *map, kmbi_map_key key, uint32_t index) {
  if (!kmbi_map_reserve(map, map->used + 1)) return false;
  place(map, key, index);
  map->used++;
  return true;
}

uint64_t kmbi_text_hash(const char *text, size_t size) {
  uint64_t hash = size * 0x9E3779B97F4A7C15u, word = 0;
  for (; size >= sizeof word; size -= sizeof word, text += sizeof word) {
    memcpy(&word, text, sizeof word);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  word = 0;
  memcpy(&word, text, size);
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 32;
}
