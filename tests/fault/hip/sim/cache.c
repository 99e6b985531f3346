/* The caches: ranges in the order of their last use, in two levels. The second
 * holds what the first does, as well. */
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

enum { RANGES = 4096 };

typedef struct range {
  uint64_t at, bytes;
  bool dirty;
} range;

typedef struct level {
  range ranges[RANGES]; /* the latest first */
  size_t count;
} level;

static level l2, mall;

void sim_cache_reset(void) {
  l2.count = 0;
  mall.count = 0;
}

/* Cuts what the access covers out of range `i`; more than one piece of it may
 * stay. Returns the bytes that were there. */
static uint64_t cut(level *l, size_t i, uint64_t at, uint64_t end) {
  range r = l->ranges[i];
  uint64_t last = r.at + r.bytes;
  uint64_t from = r.at > at ? r.at : at;
  uint64_t to = last < end ? last : end;
  if (from >= to) return 0;
  l->ranges[i].bytes = from - r.at;
  if (to < last && l->count < RANGES) {
    memmove(&l->ranges[i + 2], &l->ranges[i + 1],
            (l->count - i - 1) * sizeof(range));
    l->ranges[i + 1] = (range){to, last - to, r.dirty};
    l->count++;
  }
  return to - from;
}

static uint64_t evict(level *l, uint64_t capacity) {
  uint64_t total = 0, dirty = 0;
  size_t kept = 0;
  for (size_t i = 0; i < l->count; i++) {
    range *r = &l->ranges[i];
    uint64_t room = total < capacity ? capacity - total : 0;
    uint64_t stays = r->bytes < room ? r->bytes : room;
    if (r->dirty) dirty += r->bytes - stays;
    total += stays;
    r->at += r->bytes - stays;
    r->bytes = stays;
    if (stays) l->ranges[kept++] = *r;
  }
  l->count = kept;
  return dirty;
}

/* Returns the bytes that were there. */
static uint64_t touch(level *l, uint64_t at, uint64_t bytes, bool writes,
                      uint64_t capacity, uint64_t *dirty) {
  uint64_t hot = 0;
  size_t kept = 0;
  for (size_t i = 0; i < l->count; i++)
    hot += cut(l, i, at, at + bytes);
  for (size_t i = 0; i < l->count; i++)
    if (l->ranges[i].bytes) l->ranges[kept++] = l->ranges[i];
  l->count = kept < RANGES ? kept : RANGES - 1;
  memmove(&l->ranges[1], &l->ranges[0], l->count++ * sizeof(range));
  l->ranges[0] = (range){at, bytes, writes};
  *dirty = evict(l, capacity);
  return hot;
}

sim_traffic sim_access(uint64_t at, uint64_t bytes, bool writes) {
  sim_traffic t = {0, 0, 0, 0};
  uint64_t to_mall = 0;
  t.l2 = touch(&l2, at, bytes, writes, sim_set()->l2_bytes, &to_mall);
  uint64_t near =
      touch(&mall, at, bytes, writes, sim_set()->mall_bytes, &t.dirty);
  t.mall = near > t.l2 ? near - t.l2 : 0;
  t.cold = bytes - t.l2 - t.mall;
  return t;
}

uint64_t sim_traffic_ns(sim_traffic t) {
  double mib = 1048576;
  double ns = SIM_READ + (double)t.l2 / mib * SIM_MIB_L2 +
              (double)t.mall / mib * SIM_MIB_MALL +
              (double)t.cold / mib * SIM_MIB_COLD +
              (double)t.dirty / mib * SIM_MIB_DIRTY;
  return (uint64_t)ns;
}
