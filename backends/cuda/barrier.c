/* Barriers between the devices of several ranks. */
#include "barrier.h"

#include "plan.h"

#include <stdio.h>

/* The others wait for what a rank says, whatever keeps it from saying more. */
static kmb_status refuse(const kmb_barrier_desc *desc, kmb_status status) {
  return desc->kind == KMB_BARRIER_NCCL ? kmbi_cuda_nccl_refuse(desc, status)
                                        : kmbi_cuda_flags_refuse(desc, status);
}

kmb_status kmbi_cuda_barrier_open(void *opened, const kmb_barrier_desc *desc,
                                  void **created) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  size_t size = sizeof(kmbi_cuda_barrier) + desc->size * sizeof(kmbi_cuda_peer);
  *created = NULL;
  kmbi_cuda_barrier *b =
      host->alloc(host->ctx, size, _Alignof(kmbi_cuda_barrier));
  if (!b)
    return refuse(desc, KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                                       "no memory for a barrier of %u ranks",
                                       (unsigned)desc->size));
  memset(b, 0, size);
  b->self = self;
  b->desc = *desc;
  b->size = size;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) {
    status = desc->kind == KMB_BARRIER_NCCL ? kmbi_cuda_nccl_open(b)
                                            : kmbi_cuda_flags_open(b);
  } else {
    status = refuse(desc, status);
  }
  kmbi_cuda_leave(self, before);
  if (status) {
    kmbi_cuda_barrier_close(self, b);
    return status;
  }
  self->barrier = b;
  *created = b;
  return KMB_OK;
}

void kmbi_cuda_barrier_close(void *opened, void *created) {
  kmbi_cuda *self = opened;
  kmbi_cuda_barrier *b = created;
  const kmb_host *host = self->host;
  kmbi_cu_context before = NULL;
  if (self->barrier == b) self->barrier = NULL;
  /* What is lost is abandoned. */
  if (kmbi_cuda_reenter(self, &before)) {
    if (b->desc.kind == KMB_BARRIER_NCCL) kmbi_cuda_nccl_close(b);
    kmbi_cuda_flags_close(b);
    kmbi_cuda_leave(self, before);
  }
  host->free(host->ctx, b, b->size);
}

static kmb_status enqueue(kmbi_cuda_barrier *b, kmbi_cu_stream stream) {
  switch (b->desc.kind) {
  case KMB_BARRIER_NCCL:
    return kmbi_cuda_nccl_enqueue(b, stream);
  case KMB_BARRIER_STREAM:
    return kmbi_cuda_flags_stream(b, stream);
  default:
    return kmbi_cuda_flags_launch(b, stream, false);
  }
}

kmb_status kmbi_cuda_barrier_enqueue(void *opened, void *created,
                                     void *stream) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = enqueue(created, stream);
  kmbi_cuda_leave(self, before);
  return status;
}

const char *kmbi_cuda_barrier_text(void *opened, void *created) {
  (void)opened;
  return ((const kmbi_cuda_barrier *)created)->text;
}

/* Lets through what waits for a rank that will not come. Words of ours get the
 * number that is awaited, by a stream of its own; a communicator of ours ends
 * what runs in it. */
static void rescue(kmbi_cuda *self) {
  kmbi_cuda_barrier *b = self->barrier;
  const kmbi_cu_driver *driver = self->driver;
  kmbi_cu_stream side = NULL;
  if (!b || self->lost) return;
  if (b->desc.kind == KMB_BARRIER_NCCL) kmbi_cuda_nccl_rescue(b);
  if (!b->table || driver->cuStreamCreate(&side, KMBI_CU_STREAM_NON_BLOCKING))
    return;
  (void)driver->cuMemsetD32Async(self->space->words, b->number,
                                 (size_t)b->desc.size * (KMBI_CUDA_WORD / 4),
                                 side);
  (void)kmbi_cuda_finish(self, side);
  if (!self->lost) (void)driver->cuStreamDestroy(side);
}

/* The rank whose word is furthest behind; -1 if all came, or nobody can say. */
static int32_t absent(kmbi_cuda *self) {
  const kmbi_cuda_barrier *b = self->barrier;
  int32_t worst = -1, behind = 0;
  if (!b || !b->table) return -1;
  for (uint32_t r = 0; r < b->desc.size; r++) {
    uint32_t word = 0;
    if (r == b->desc.rank || kmbi_cuda_flags_word(b, r, &word)) continue;
    int32_t its = (int32_t)(b->number - word);
    if (its <= behind) continue;
    behind = its;
    worst = (int32_t)r;
  }
  return worst;
}

static volatile uint32_t *bad_word(const kmbi_cuda *self) {
  return self->space->gate + KMBI_CUDA_BAD / sizeof(uint32_t);
}

static kmb_status check(kmbi_cuda *self) {
  const kmbi_cuda_barrier *b = self->barrier;
  if (!b || !self->space->gate) return KMB_OK;
  uint32_t bad = __atomic_exchange_n(bad_word(self), 0, __ATOMIC_SEQ_CST);
  if (!bad) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_TIMEOUT, 0,
                        "the device of rank %u did not come to the barrier "
                        "within %.3g s",
                        (unsigned)bad - 1, b->desc.deadline_ns / 1e9);
}

/* A rank that failed, or was let go, waits for nobody long. */
#define END_NS 0.5e9

static kmb_status late(kmbi_cuda *self, kmbi_cu_stream stream,
                       const kmb_align *align) {
  kmb_status ended = KMB_OK;
  const kmb_host *host = self->host;
  kmb_error said;
  kmb_status status = align->overdue(align->ctx, absent(self));
  host->error_save(host->ctx, &said);
  rescue(self);
  if (!self->lost && kmbi_cuda_ends_within(self, stream, END_NS, &ended)) {
    host->error_restore(host->ctx, &said);
    return status;
  }
  kmbi_cuda_lose(self);
  return KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                        "cuda:%d is lost to this process: %.200s",
                        self->ordinal, said.message);
}

kmb_status kmbi_cuda_barrier_finish(kmbi_cuda *self, kmbi_cu_stream stream,
                                    const kmb_align *align, kmb_status status) {
  double limit = status ? align->deadline_ns / 2 : align->deadline_ns;
  kmb_status ended = KMB_OK;
  const kmb_host *host = self->host;
  kmb_error said;
  if (self->lost) return status;
  host->error_save(host->ctx, &said);
  if (status) rescue(self);
  if (!self->lost && !kmbi_cuda_ends_within(self, stream, limit, &ended))
    ended = late(self, stream, align);
  else if (!ended)
    ended = check(self);
  if (ended == KMB_ERR_LOST || !status) return ended;
  if (ended) host->error_restore(host->ctx, &said);
  return status;
}

/* Timing one. */

static void close_gate(kmbi_cuda_barrier *b, kmbi_cu_stream stream) {
  kmbi_cuda *self = b->self;
  b->gated = false;
  if (kmbi_cuda_space_gate(self) || kmbi_cuda_find_blocking(self, stream) ||
      self->blocking)
    return;
  __atomic_store_n(self->space->gate, 0, __ATOMIC_SEQ_CST);
  b->gated = !self->driver->cuStreamWaitValue32(
      stream, self->space->gate_device, 1, KMBI_CU_WAIT_GEQ);
}

static void open_gate(kmbi_cuda_barrier *b) {
  if (b->gated) __atomic_store_n(b->self->space->gate, 1, __ATOMIC_SEQ_CST);
}

/* Words tell, whichever barrier it is: one that is judged by itself shows the
 * difference between how it is entered and how it is left. */
static kmb_status time_one(kmbi_cuda_barrier *b, kmbi_cu_stream stream,
                           const kmb_align *align, double *ns) {
  kmbi_cuda *self = b->self;
  close_gate(b, stream);
  kmb_status status = enqueue(b, stream);
  if (!status) status = enqueue(b, stream);
  if (!status) status = kmbi_cuda_flags_launch(b, stream, true);
  if (!status) status = align->all_enqueued(align->ctx);
  open_gate(b);
  status = kmbi_cuda_barrier_finish(self, stream, align, status);
  if (status) return status;
  const volatile char *page = (const volatile char *)self->space->gate;
  *ns = (double)*(const volatile uint64_t *)(page + KMBI_CUDA_EARLY);
  return KMB_OK;
}

kmb_status kmbi_cuda_barrier_time(void *opened, void *created, void *stream,
                                  const kmb_align *align, double *ns) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  const kmbi_cuda_barrier *b = created;
  if (b->desc.kind == KMB_BARRIER_NCCL && !b->judged)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "how far apart NCCL released the ranks is judged by "
                          "words in the peers' memory, which is not within "
                          "every rank's reach");
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status) status = time_one(created, stream, align, ns);
  kmbi_cuda_leave(self, before);
  return status;
}

/* Brings this file into the program. */
void kmbi_backend_cuda_ranks(void) {}
