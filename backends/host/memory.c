/* Memory: allocation, copies, patterns. */
#include "host.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "available.h"

/* From here on a block is checked against what is left: the kernel promises
 * memory that it does not have, and kills who then touches it. */
#define CHECKED_FROM ((uint64_t)64 << 20)
/* Bytes for which one more thread is worth its wake-up. */
#define BYTES_PER_PART ((uint64_t)1 << 20)

bool kmbi_host_round_up(uint64_t value, uint64_t to, uint64_t *rounded) {
  uint64_t rest = value % to;
  if (rest && value > UINT64_MAX - (to - rest)) return false;
  *rounded = rest ? value + (to - rest) : value;
  return true;
}

kmb_status kmbi_host_memory_available(void *opened, uint64_t *bytes) {
  kmbi_host *self = opened;
  if (kmbi_host_available("", bytes)) return KMB_OK;
  return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                        "host: /proc/meminfo has no MemAvailable; set "
                        "kmb_device_params.memory_budget");
}

static kmb_status no_memory(kmbi_host *self, uint64_t bytes) {
  return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                        "host: no memory for a block of %llu bytes",
                        (unsigned long long)bytes);
}

static kmb_status check_room(kmbi_host *self, uint64_t bytes) {
  uint64_t room = 0;
  if (bytes < CHECKED_FROM || !kmbi_host_available("", &room) || bytes <= room)
    return KMB_OK;
  return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                        "host: a block of %llu bytes does not fit in the %llu "
                        "that are available; use less or free some",
                        (unsigned long long)bytes, (unsigned long long)room);
}

static kmb_status own_alloc(kmbi_host *self, uint64_t bytes, uint64_t align,
                            void **pointer) {
  bool large = bytes >= KMBI_HOST_HUGE;
  uint64_t size = bytes;
  if (align < KMBI_HOST_LINE) align = KMBI_HOST_LINE;
  if (large && align < KMBI_HOST_HUGE) align = KMBI_HOST_HUGE;
  if (!kmbi_host_round_up(bytes, large ? KMBI_HOST_HUGE : KMBI_HOST_LINE,
                          &size) ||
      size > PTRDIFF_MAX || align > PTRDIFF_MAX)
    return no_memory(self, bytes);
  kmb_status status = check_room(self, size);
  if (status) return status;
  if (posix_memalign(pointer, (size_t)align, (size_t)size)) {
    *pointer = NULL;
    return no_memory(self, bytes);
  }
  /* Advice only: without huge pages it is still memory. */
  if (large) (void)madvise(*pointer, (size_t)size, MADV_HUGEPAGE);
  return KMB_OK;
}

kmb_status kmbi_host_alloc(void *opened, uint64_t bytes, uint64_t align,
                           void **pointer) {
  kmbi_host *self = opened;
  const kmb_host *host = self->host;
  *pointer = NULL;
  if (bytes == 0)
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: a block of no bytes was asked for");
  if (align & (align - 1))
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: alignment %llu is not a power of two",
                          (unsigned long long)align);
  if (!host->device_alloc) return own_alloc(self, bytes, align, pointer);
  if (align < KMBI_HOST_LINE) align = KMBI_HOST_LINE;
  return host->device_alloc(host->ctx, bytes, align, pointer);
}

void kmbi_host_free(void *opened, void *pointer, uint64_t bytes) {
  kmbi_host *self = opened;
  const kmb_host *host = self->host;
  if (!pointer) return;
  if (host->device_free)
    host->device_free(host->ctx, pointer, bytes);
  else
    free(pointer);
}

kmb_status kmbi_host_write(void *self, void *to, const void *from,
                           uint64_t bytes) {
  (void)self;
  if (bytes) memcpy(to, from, (size_t)bytes);
  return KMB_OK;
}

kmb_status kmbi_host_read(void *self, void *to, const void *from,
                          uint64_t bytes) {
  return kmbi_host_write(self, to, from, bytes);
}

static uint32_t parts_for(const kmbi_host *self, uint64_t bytes) {
  uint64_t parts = bytes / BYTES_PER_PART;
  if (parts > self->threads) parts = self->threads;
  return parts ? (uint32_t)parts : 1;
}

kmb_status kmbi_host_spread(kmbi_host *self, uint64_t bytes,
                            kmbi_host_task task, void *arg) {
  uint32_t parts = parts_for(self, bytes);
  if (parts > 1) return kmbi_host_pool_run(self, parts, task, arg);
  /* Binding the caller takes longer than a small piece: rotating buffers of a
   * few KiB have some hundred thousand of them. */
  task(arg, 0, 1);
  return KMB_OK;
}

uint64_t kmbi_host_cut(uint64_t count, uint64_t grain, uint32_t part,
                       uint32_t parts) {
  if (part >= parts) return count;
  uint64_t grains = count / grain;
  /* No product of two large numbers: whole shares, then the remainder. */
  uint64_t start = grains / parts * part + grains % parts * part / parts;
  return start * grain;
}

typedef struct set_job {
  unsigned char *to;
  uint64_t bytes;
  unsigned char pattern[8];
} set_job;

static void set_part(void *arg, uint32_t part, uint32_t parts) {
  const set_job *job = arg;
  uint64_t at = kmbi_host_cut(job->bytes, KMBI_HOST_LINE, part, parts);
  uint64_t end = kmbi_host_cut(job->bytes, KMBI_HOST_LINE, part + 1, parts);
  for (; end - at >= sizeof job->pattern; at += sizeof job->pattern)
    memcpy(job->to + at, job->pattern, sizeof job->pattern);
  memcpy(job->to + at, job->pattern, (size_t)(end - at));
}

kmb_status kmbi_host_set(void *opened, void *pointer, uint64_t pattern,
                         uint64_t bytes) {
  kmbi_host *self = opened;
  set_job job = {.to = pointer, .bytes = bytes};
  for (unsigned i = 0; i < sizeof job.pattern; i++)
    job.pattern[i] = (unsigned char)(pattern >> (8 * i));
  if (bytes == 0) return KMB_OK;
  return kmbi_host_spread(self, bytes, set_part, &job);
}
