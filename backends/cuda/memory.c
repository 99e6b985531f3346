/* Memory: allocation, copies, patterns. Each ends when it has happened. */
#include "cuda_backend.h"

/* What cuMemAlloc() aligns to at least. */
enum { NATURAL = 256 };

kmb_status kmbi_cuda_memory_available(void *opened, uint64_t *bytes) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  size_t available = 0;
  size_t total = 0;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = KMBI_CU(self, cuMemGetInfo, &available, &total);
  kmbi_cuda_leave(self, before);
  *bytes = available;
  return status;
}

static kmb_status take(kmbi_cuda *self, uint64_t bytes, uint64_t align,
                       kmbi_cuda_block *block) {
  const kmb_host *host = self->host;
  if (host->device_alloc) {
    kmb_status status =
        host->device_alloc(host->ctx, bytes, align, &block->pointer);
    if (!status) block->bytes = bytes;
    return status;
  }
  uint64_t more = align > NATURAL ? align : 0;
  if (bytes > SIZE_MAX - more)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0, "no block has %llu bytes",
                          (unsigned long long)bytes);
  kmb_status status =
      KMBI_CU(self, cuMemAlloc, &block->base, (size_t)(bytes + more));
  if (status == KMB_ERR_NOMEM)
    return KMBI_CUDA_FAIL(self, status, KMBI_CU_OUT_OF_MEMORY,
                          "cuda:%d has no block of %llu bytes left; use less, "
                          "lower memory_budget or free some",
                          self->ordinal, (unsigned long long)bytes);
  if (status) return status;
  uint64_t rest = more ? block->base & (align - 1) : 0;
  block->pointer = (void *)(uintptr_t)(block->base + (rest ? align - rest : 0));
  return KMB_OK;
}

kmb_status kmbi_cuda_alloc(void *opened, uint64_t bytes, uint64_t align,
                           void **pointer) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  *pointer = NULL;
  if (bytes == 0 || align & (align - 1))
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0,
                          "a block of %llu bytes aligned to %llu: no bytes, or "
                          "no power of two",
                          (unsigned long long)bytes, (unsigned long long)align);
  if (align < NATURAL) align = NATURAL;
  kmbi_cuda_block *block =
      host->alloc(host->ctx, sizeof *block, _Alignof(kmbi_cuda_block));
  if (!block)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no host memory for a block's record");
  memset(block, 0, sizeof *block);
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = take(self, bytes, align, block);
  kmbi_cuda_leave(self, before);
  if (status) {
    host->free(host->ctx, block, sizeof *block);
    return status;
  }
  block->context = self->space->context;
  block->next = self->blocks;
  self->blocks = block;
  *pointer = block->pointer;
  return KMB_OK;
}

/* A block of a context that is gone went with it, and its address may be
 * somebody else's by now. */
static bool still_there(const kmbi_cuda *self, const kmbi_cuda_block *block) {
  if (block->context == self->primary.context) return true;
  kmbi_cu_context context = NULL;
  return !self->driver->cuPointerGetAttribute(
             (void *)&context, KMBI_CU_POINTER_CONTEXT, block->base) &&
         context == block->context;
}

static void give_back(kmbi_cuda *self, kmbi_cuda_block *block) {
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  if (block->bytes) {
    if (!self->lost) host->device_free(host->ctx, block->pointer, block->bytes);
  } else if (!self->lost) {
    if (kmbi_cuda_reenter(self, &before) && still_there(self, block))
      (void)self->driver->cuMemFree(block->base);
    kmbi_cuda_leave(self, before);
  }
  host->free(host->ctx, block, sizeof *block);
}

void kmbi_cuda_free(void *opened, void *pointer, uint64_t bytes) {
  kmbi_cuda *self = opened;
  (void)bytes;
  for (kmbi_cuda_block **at = &self->blocks; *at; at = &(*at)->next) {
    kmbi_cuda_block *block = *at;
    if (block->pointer != pointer) continue;
    *at = block->next;
    give_back(self, block);
    return;
  }
}

void kmbi_cuda_memory_close(kmbi_cuda *self) {
  const kmb_host *host = self->host;
  while (self->blocks) {
    kmbi_cuda_block *block = self->blocks;
    self->blocks = block->next;
    host->free(host->ctx, block, sizeof *block);
  }
}

/* Copies and patterns run on a stream of our own and are waited for. */

typedef enum way { WRITE, READ, SET } way;

typedef struct job {
  void *host;
  kmbi_cu_pointer at;
  uint64_t pattern, bytes;
  way way;
} job;

static kmb_status start(kmbi_cuda *self, kmbi_cu_stream stream, job *j) {
  switch (j->way) {
  case WRITE:
    return KMBI_CU(self, cuMemcpyHtoDAsync, j->at, j->host, (size_t)j->bytes,
                   stream);
  case READ:
    return KMBI_CU(self, cuMemcpyDtoHAsync, j->host, j->at, (size_t)j->bytes,
                   stream);
  default:
    break;
  }
  uint32_t low = (uint32_t)j->pattern;
  if (low == (uint32_t)(j->pattern >> 32) && !(j->at & 3) && !(j->bytes & 3))
    return KMBI_CU(self, cuMemsetD32Async, j->at, low, (size_t)(j->bytes / 4),
                   stream);
  void *arguments[] = {&j->at, &j->pattern, &j->bytes};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_set, j->bytes / 8 + 1,
                          arguments);
}

static kmb_status run(kmbi_cuda *self, job *j) {
  kmbi_cu_context before = NULL;
  kmbi_cu_stream stream = NULL;
  if (j->bytes == 0) return KMB_OK;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = start(self, stream, j);
  if (!status) status = kmbi_cuda_finish(self, stream);
  kmbi_cuda_leave(self, before);
  return status;
}

kmb_status kmbi_cuda_write(void *self, void *to, const void *from,
                           uint64_t bytes) {
  job j = {.host = (void *)(uintptr_t)from,
           .at = (uintptr_t)to,
           .bytes = bytes,
           .way = WRITE};
  return run(self, &j);
}

kmb_status kmbi_cuda_read(void *self, void *to, const void *from,
                          uint64_t bytes) {
  job j = {.host = to, .at = (uintptr_t)from, .bytes = bytes, .way = READ};
  return run(self, &j);
}

kmb_status kmbi_cuda_set(void *self, void *pointer, uint64_t pattern,
                         uint64_t bytes) {
  job j = {
      .at = (uintptr_t)pointer, .pattern = pattern, .bytes = bytes, .way = SET};
  return run(self, &j);
}
