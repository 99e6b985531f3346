/* The L2: ranges in the order of their last use. */
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

enum { RANGES = 1024 };

typedef struct range {
  uint64_t at, bytes;
  bool dirty;
} range;

static range ranges[RANGES]; /* the latest first */
static size_t count;

static sim_traffic sum;

void sim_cache_reset(void) {
  count = 0;
  sum = (sim_traffic){0, 0, 0};
}

void sim_cache_drop(void) {
  count = 0;
}

sim_traffic sim_traffic_sum(void) {
  return sum;
}

static void remove_at(size_t i) {
  memmove(&ranges[i], &ranges[i + 1], (--count - i) * sizeof *ranges);
}

/* Cuts what the access covers out of range `i`; more than one piece of it may
 * stay. Returns the bytes that were there. */
static uint64_t cut(size_t i, uint64_t at, uint64_t end) {
  range r = ranges[i];
  uint64_t last = r.at + r.bytes;
  uint64_t from = r.at > at ? r.at : at;
  uint64_t to = last < end ? last : end;
  if (from >= to) return 0;
  ranges[i].bytes = from - r.at;
  if (to < last && count < RANGES) {
    memmove(&ranges[i + 2], &ranges[i + 1], (count - i - 1) * sizeof *ranges);
    ranges[i + 1] = (range){to, last - to, r.dirty};
    count++;
  }
  return to - from;
}

static uint64_t evict(uint64_t capacity) {
  uint64_t total = 0, dirty = 0;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    range *r = &ranges[i];
    uint64_t room = total < capacity ? capacity - total : 0;
    uint64_t stays = r->bytes < room ? r->bytes : room;
    if (r->dirty) dirty += r->bytes - stays;
    total += stays;
    r->at += r->bytes - stays;
    r->bytes = stays;
    if (stays) ranges[kept++] = *r;
  }
  count = kept;
  return dirty;
}

sim_traffic sim_access(uint64_t at, uint64_t bytes, bool writes) {
  sim_traffic t = {0, 0, 0};
  for (size_t i = 0; i < count; i++)
    t.hot += cut(i, at, at + bytes);
  t.cold = bytes - t.hot;
  for (size_t i = count; i-- > 0;)
    if (!ranges[i].bytes) remove_at(i);
  if (count == RANGES) count--;
  memmove(&ranges[1], &ranges[0], count++ * sizeof *ranges);
  ranges[0] = (range){at, bytes, writes};
  t.dirty = evict(sim_set()->l2_bytes);
  sum.dirty += t.dirty;
  if (!writes) {
    sum.hot += t.hot;
    sum.cold += t.cold;
  }
  return t;
}

uint64_t sim_traffic_ns(sim_traffic t) {
  double mib = 1048576;
  double ns = SIM_READ + (double)t.hot / mib * SIM_MIB_HOT +
              (double)t.cold / mib * SIM_MIB_COLD +
              (double)t.dirty / mib * SIM_MIB_DIRTY;
  return (uint64_t)ns;
}
