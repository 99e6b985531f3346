/* Memory: allocation, copies, patterns. Each ends when it has happened. */
#include "hip_backend.h"

/* What hipMalloc() aligns to at least. */
enum { NATURAL = 256 };

kmb_status kmbi_hip_memory_available(void *opened, uint64_t *bytes) {
  kmbi_hip *self = opened;
  int before = 0;
  size_t available = 0;
  size_t total = 0;
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status) status = KMBI_HIP(self, hipMemGetInfo, &available, &total);
  kmbi_hip_leave(self, before);
  *bytes = available;
  return status;
}

static kmb_status take(kmbi_hip *self, uint64_t bytes, uint64_t align,
                       kmbi_hip_block *block) {
  const kmb_host *host = self->host;
  if (host->device_alloc) {
    kmb_status status =
        host->device_alloc(host->ctx, bytes, align, &block->pointer);
    if (!status) block->bytes = bytes;
    return status;
  }
  uint64_t more = align > NATURAL ? align : 0;
  if (bytes > SIZE_MAX - more)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0, "no block has %llu bytes",
                         (unsigned long long)bytes);
  kmb_status status =
      KMBI_HIP(self, hipMalloc, &block->base, (size_t)(bytes + more));
  if (status == KMB_ERR_NOMEM)
    return KMBI_HIP_FAIL(self, status, KMBI_HIP_OutOfMemory,
                         "hip:%d has no block of %llu bytes left; use less, "
                         "lower memory_budget or free some",
                         self->device, (unsigned long long)bytes);
  if (status) return status;
  uintptr_t rest = (uintptr_t)block->base & (align - 1);
  block->pointer = (char *)block->base + (rest ? align - rest : 0);
  return KMB_OK;
}

kmb_status kmbi_hip_alloc(void *opened, uint64_t bytes, uint64_t align,
                          void **pointer) {
  kmbi_hip *self = opened;
  const kmb_host *host = self->host;
  int before = 0;
  *pointer = NULL;
  if (bytes == 0 || align & (align - 1))
    return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                         "a block of %llu bytes aligned to %llu: no bytes, or "
                         "no power of two",
                         (unsigned long long)bytes, (unsigned long long)align);
  if (align < NATURAL) align = NATURAL;
  kmbi_hip_block *block =
      host->alloc(host->ctx, sizeof *block, _Alignof(kmbi_hip_block));
  if (!block)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0,
                         "no host memory for a block's record");
  memset(block, 0, sizeof *block);
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status) status = take(self, bytes, align, block);
  kmbi_hip_leave(self, before);
  if (status) {
    host->free(host->ctx, block, sizeof *block);
    return status;
  }
  block->next = self->blocks;
  self->blocks = block;
  *pointer = block->pointer;
  return KMB_OK;
}

static void give_back(kmbi_hip *self, kmbi_hip_block *block) {
  const kmb_host *host = self->host;
  int before = 0;
  if (block->bytes) {
    if (!self->lost) host->device_free(host->ctx, block->pointer, block->bytes);
  } else if (!self->lost) {
    if (kmbi_hip_reenter(self, &before)) (void)self->api->hipFree(block->base);
    kmbi_hip_leave(self, before);
  }
  host->free(host->ctx, block, sizeof *block);
}

void kmbi_hip_free(void *opened, void *pointer, uint64_t bytes) {
  kmbi_hip *self = opened;
  (void)bytes;
  for (kmbi_hip_block **at = &self->blocks; *at; at = &(*at)->next) {
    kmbi_hip_block *block = *at;
    if (block->pointer != pointer) continue;
    *at = block->next;
    give_back(self, block);
    return;
  }
}

void kmbi_hip_memory_close(kmbi_hip *self) {
  const kmb_host *host = self->host;
  while (self->blocks) {
    kmbi_hip_block *block = self->blocks;
    self->blocks = block->next;
    host->free(host->ctx, block, sizeof *block);
  }
}

/* Copies and patterns run on a stream of our own and are waited for. */

typedef enum way { WRITE, READ, SET } way;

typedef struct job {
  void *host;
  void *at;
  uint64_t pattern, bytes;
  way way;
} job;

static kmb_status start(kmbi_hip *self, kmbi_hip_stream stream, job *j) {
  switch (j->way) {
  case WRITE:
    return KMBI_HIP(self, hipMemcpyAsync, j->at, j->host, (size_t)j->bytes,
                    KMBI_HIP_COPY_TO_DEVICE, stream);
  case READ:
    return KMBI_HIP(self, hipMemcpyAsync, j->host, j->at, (size_t)j->bytes,
                    KMBI_HIP_COPY_TO_HOST, stream);
  default:
    break;
  }
  uint32_t low = (uint32_t)j->pattern;
  if (low == (uint32_t)(j->pattern >> 32) && !((uintptr_t)j->at & 3) &&
      !(j->bytes & 3))
    return KMBI_HIP(self, hipMemsetD32Async, j->at, (int)low,
                    (size_t)(j->bytes / 4), stream);
  void *arguments[] = {&j->at, &j->pattern, &j->bytes};
  return kmbi_hip_launch(self, stream, KMBI_HIP_set, j->bytes / 8 + 1,
                         arguments);
}

static kmb_status run(kmbi_hip *self, job *j) {
  int before = 0;
  kmbi_hip_stream stream = NULL;
  if (j->bytes == 0) return KMB_OK;
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status) status = kmbi_hip_space_stream(self, &stream);
  if (!status) status = start(self, stream, j);
  if (!status) status = kmbi_hip_finish(self, stream);
  kmbi_hip_leave(self, before);
  return status;
}

kmb_status kmbi_hip_write(void *self, void *to, const void *from,
                          uint64_t bytes) {
  job j = {
      .host = (void *)(uintptr_t)from, .at = to, .bytes = bytes, .way = WRITE};
  return run(self, &j);
}

kmb_status kmbi_hip_read(void *self, void *to, const void *from,
                         uint64_t bytes) {
  job j = {
      .host = to, .at = (void *)(uintptr_t)from, .bytes = bytes, .way = READ};
  return run(self, &j);
}

kmb_status kmbi_hip_set(void *self, void *pointer, uint64_t pattern,
                        uint64_t bytes) {
  job j = {.at = pointer, .pattern = pattern, .bytes = bytes, .way = SET};
  return run(self, &j);
}
