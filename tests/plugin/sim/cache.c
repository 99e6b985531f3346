/* Which bytes the simulated cache holds: ranges by last use. A range that is
 * used again counts as held where it was, whatever its own use pushes out. */
#include "sim.h"

void sim_cache_free(sim_device *device) {
  sim_cache *cache = &device->cache;
  if (cache->ranges)
    device->host.free(device->host.ctx, cache->ranges,
                      cache->capacity * sizeof *cache->ranges);
  cache->ranges = NULL;
  cache->count = cache->capacity = 0;
}

static bool reserve(sim_device *device, size_t count) {
  sim_cache *cache = &device->cache;
  if (count <= cache->capacity) return true;
  size_t capacity = cache->capacity ? cache->capacity * 2 : 64;
  while (capacity < count)
    capacity *= 2;
  sim_range *ranges = device->host.alloc(
      device->host.ctx, capacity * sizeof *ranges, _Alignof(sim_range));
  if (!ranges) return false;
  size_t held = cache->count;
  if (held) memcpy(ranges, cache->ranges, held * sizeof *ranges);
  sim_cache_free(device);
  cache->ranges = ranges;
  cache->count = held;
  cache->capacity = capacity;
  return true;
}

/* Takes [begin, end) out; returns how much of it was held. A range is cut in
 * two at most once, so one more place is enough. */
static uint64_t take_out(sim_cache *cache, uint64_t begin, uint64_t end) {
  uint64_t held = 0;
  size_t kept = 0;
  bool split = false;
  sim_range tail = {0, 0};
  size_t tail_at = 0;
  for (size_t i = 0; i < cache->count; i++) {
    sim_range r = cache->ranges[i];
    uint64_t low = r.begin > begin ? r.begin : begin;
    uint64_t high = r.end < end ? r.end : end;
    if (low >= high) {
      cache->ranges[kept++] = r;
      continue;
    }
    held += high - low;
    if (r.begin < low && high < r.end) {
      split = true;
      tail = (sim_range){high, r.end};
      tail_at = kept + 1;
    }
    if (r.begin < low)
      cache->ranges[kept++] = (sim_range){r.begin, low};
    else if (high < r.end)
      cache->ranges[kept++] = (sim_range){high, r.end};
  }
  if (split) {
    memmove(cache->ranges + tail_at + 1, cache->ranges + tail_at,
            (kept - tail_at) * sizeof tail);
    cache->ranges[tail_at] = tail;
    kept++;
  }
  cache->count = kept;
  cache->used -= held;
  return held;
}

static void evict(sim_cache *cache) {
  size_t gone = 0;
  while (cache->used > cache->bytes) {
    sim_range *oldest = &cache->ranges[gone];
    uint64_t size = oldest->end - oldest->begin;
    uint64_t excess = cache->used - cache->bytes;
    if (size > excess) {
      oldest->begin += excess;
      cache->used -= excess;
      break;
    }
    cache->used -= size;
    gone++;
  }
  if (!gone) return;
  cache->count -= gone;
  memmove(cache->ranges, cache->ranges + gone,
          cache->count * sizeof *cache->ranges);
}

uint64_t sim_cache_touch(sim_device *device, uint64_t address, uint64_t bytes,
                         bool *ok) {
  sim_cache *cache = &device->cache;
  *ok = true;
  if (bytes == 0) return 0;
  if (!reserve(device, cache->count + 2)) {
    *ok = false;
    return 0;
  }
  uint64_t end = address + bytes;
  uint64_t held = take_out(cache, address, end);
  /* Of more than fits, the end stays. */
  if (bytes > cache->bytes) address = end - cache->bytes;
  if (address < end) {
    cache->ranges[cache->count++] = (sim_range){address, end};
    cache->used += end - address;
  }
  evict(cache);
  return held;
}
