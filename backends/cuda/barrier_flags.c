/* Words in device memory that peers write: through peer access between threads
 * of a process, through CUDA IPC between processes. No multicast is used. */
#include "barrier.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* What a rank tells of its words. */
typedef struct hello {
  uint64_t process, context, words;
  uint32_t number;
  kmbi_cu_device device;
  kmb_status status; /* that keeps it from taking part */
  uint32_t has_handle;
  struct CUipcMemHandle_st handle;
} hello;

/* Tells processes apart, whatever their numbers. A child differs from its
 * parent by its number. */
static uint64_t process_id(void) {
  static uint64_t random_part;
  uint64_t mine = __atomic_load_n(&random_part, __ATOMIC_SEQ_CST);
  if (!mine) {
    uint64_t fresh = 0;
    if (getrandom(&fresh, sizeof fresh, 0) != sizeof fresh) fresh = 1;
    fresh |= 1;
    if (__atomic_compare_exchange_n(&random_part, &mine, fresh, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      mine = fresh;
  }
  return mine ^ (uint64_t)getpid() << 32;
}

/* Words of our own, for as many ranks. */
static kmb_status take_words(kmbi_cuda_barrier *b) {
  kmbi_cuda *self = b->self;
  kmbi_cuda_space *space = self->space;
  kmb_status status = kmbi_cuda_space_module(self);
  if (!status) status = kmbi_cuda_space_gate(self);
  if (status || space->word_count >= b->desc.size) return status;
  if (space->words) {
    status = KMBI_CU(self, cuMemFree, space->words);
    space->words = 0;
    space->word_count = 0;
  }
  if (!status)
    status = KMBI_CU(self, cuMemAlloc, &space->words,
                     (size_t)b->desc.size * KMBI_CUDA_WORD);
  if (!status) space->word_count = b->desc.size;
  return status;
}

static kmb_status introduce(kmbi_cuda_barrier *b, hello *mine) {
  kmbi_cuda *self = b->self;
  memset(mine, 0, sizeof *mine);
  kmb_status status = KMB_OK;
  if (b->desc.hosts > 1)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                            "the ranks are on %u hosts: their memory is not "
                            "within reach",
                            (unsigned)b->desc.hosts);
  if (!status && b->desc.size > KMBI_CUDA_RANKS)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                            "%u ranks are more than the %d that a barrier of "
                            "words is for",
                            (unsigned)b->desc.size, KMBI_CUDA_RANKS);
  if (!status && b->desc.kind == KMB_BARRIER_STREAM &&
      !self->driver->cuStreamWriteValue32)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                            "the driver has no cuStreamWriteValue32 (CUDA "
                            "11.7)");
  if (!status) status = take_words(b);
  mine->status = status;
  if (status) return status;
  mine->process = process_id();
  mine->context = (uint64_t)(uintptr_t)self->space->context;
  mine->words = self->space->words;
  mine->number = self->space->word_number;
  mine->device = self->device;
  mine->has_handle =
      !self->driver->cuIpcGetMemHandle(&mine->handle, self->space->words);
  return KMB_OK;
}

static kmb_status no_way(kmbi_cuda_barrier *b, uint32_t rank, const char *why,
                         kmbi_cu_result result) {
  kmbi_cuda *self = b->self;
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, (int64_t)result,
                        "cuda:%d cannot reach the memory of rank %u: %s (%u)",
                        self->ordinal, (unsigned)rank, why, result);
}

static kmb_status reach_thread(kmbi_cuda_barrier *b, uint32_t rank,
                               const hello *peer) {
  const kmbi_cu_driver *driver = b->self->driver;
  int can = 0;
  if (peer->context == (uint64_t)(uintptr_t)b->self->space->context) {
    b->peers[rank].words = peer->words;
    return KMB_OK;
  }
  kmbi_cu_result result =
      driver->cuDeviceCanAccessPeer(&can, b->self->device, peer->device);
  if (result || !can) return no_way(b, rank, "no peer access", result);
  result = driver->cuCtxEnablePeerAccess(
      (kmbi_cu_context)(uintptr_t)peer->context, 0);
  if (result && result != KMBI_CU_PEER_ALREADY_ENABLED)
    return no_way(b, rank, "cuCtxEnablePeerAccess", result);
  b->peers[rank].words = peer->words;
  return KMB_OK;
}

static kmb_status reach(kmbi_cuda_barrier *b, uint32_t rank,
                        const hello *peer) {
  kmbi_cuda_peer *to = &b->peers[rank];
  if (peer->process == process_id()) return reach_thread(b, rank, peer);
  if (!peer->has_handle)
    return no_way(b, rank, "it cannot be shared between processes", 0);
  kmbi_cu_result result = b->self->driver->cuIpcOpenMemHandle(
      &to->words, peer->handle, KMBI_CU_IPC_LAZY_PEER_ACCESS);
  if (result)
    return no_way(b, rank, "cuIpcOpenMemHandle; is it on another host?",
                  result);
  to->mapped = true;
  return KMB_OK;
}

/* Numbers go on from the largest that any rank has in its words. */
static kmb_status begin_at(kmbi_cuda_barrier *b, uint32_t number) {
  kmbi_cuda *self = b->self;
  kmbi_cu_stream stream = NULL;
  size_t bytes = b->desc.size * sizeof(kmbi_cu_pointer);
  kmbi_cu_pointer *list =
      self->host->alloc(self->host->ctx, bytes, _Alignof(kmbi_cu_pointer));
  if (!list)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for a list of ranks");
  for (uint32_t r = 0; r < b->desc.size; r++)
    list[r] = b->peers[r].words;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = KMBI_CU(self, cuMemAlloc, &b->table, bytes);
  if (!status)
    status = KMBI_CU(self, cuMemcpyHtoDAsync, b->table, list, bytes, stream);
  if (!status)
    status = KMBI_CU(self, cuMemsetD32Async, self->space->words, number,
                     (size_t)b->desc.size * (KMBI_CUDA_WORD / 4), stream);
  /* The list goes with the copy's end, or with a device that is lost. */
  kmb_status ended = kmbi_cuda_finish(self, stream);
  self->host->free(self->host->ctx, list, bytes);
  b->number = self->space->word_number = number;
  return status ? status : ended;
}

static kmb_status reach_all(kmbi_cuda_barrier *b, const hello *all) {
  uint32_t number = 0;
  kmb_status status = KMB_OK;
  for (uint32_t r = 0; !status && r < b->desc.size; r++) {
    if (all[r].status)
      return KMBI_CUDA_FAIL(b->self, all[r].status, 0,
                            "rank %u has no words for a barrier", (unsigned)r);
    if ((int32_t)(all[r].number - number) > 0) number = all[r].number;
    if (r == b->desc.rank)
      b->peers[r].words = b->self->space->words;
    else
      status = reach(b, r, &all[r]);
  }
  return status ? status : begin_at(b, number);
}

kmb_status kmbi_cuda_no_list(kmbi_cuda_barrier *b) {
  return KMBI_CUDA_FAIL(b->self, KMB_ERR_NOMEM, 0,
                        "no memory for what %u ranks say",
                        (unsigned)b->desc.size);
}

kmb_status kmbi_cuda_flags_refuse(const kmb_barrier_desc *desc,
                                  kmb_status status) {
  hello mine;
  memset(&mine, 0, sizeof mine);
  mine.status = status;
  (void)desc->exchange(desc->ctx, &mine, NULL, sizeof mine);
  return status;
}

kmb_status kmbi_cuda_flags_open(kmbi_cuda_barrier *b) {
  const kmb_host *host = b->self->host;
  hello mine;
  size_t bytes = b->desc.size * sizeof mine;
  kmb_status status = introduce(b, &mine);
  hello *all = host->alloc(host->ctx, bytes, _Alignof(hello));
  if (!all) {
    /* The others wait for what we say. */
    if (!status) status = kmbi_cuda_no_list(b);
    return kmbi_cuda_flags_refuse(&b->desc, status);
  }
  kmb_status met = b->desc.exchange(b->desc.ctx, &mine, all, sizeof mine);
  if (!status) status = met;
  if (!status) status = reach_all(b, all);
  host->free(host->ctx, all, bytes);
  if (!status) snprintf(b->text, sizeof b->text, "words in the peers' memory");
  return status;
}

void kmbi_cuda_flags_close(kmbi_cuda_barrier *b) {
  const kmbi_cu_driver *driver = b->self->driver;
  for (uint32_t r = 0; r < b->desc.size; r++)
    if (b->peers[r].mapped)
      (void)driver->cuIpcCloseMemHandle(b->peers[r].words);
  if (b->table) (void)driver->cuMemFree(b->table);
}

bool kmbi_cuda_flags_word(const kmbi_cuda_barrier *b, uint32_t rank,
                          uint32_t *word) {
  kmbi_cuda *self = b->self;
  const kmbi_cu_driver *driver = self->driver;
  kmbi_cu_pointer from =
      self->space->words + (kmbi_cu_pointer)rank * KMBI_CUDA_WORD;
  volatile uint32_t *copy =
      self->space->gate + KMBI_CUDA_COPY / sizeof(uint32_t);
  kmbi_cu_stream side = NULL;
  if (self->lost || driver->cuStreamCreate(&side, KMBI_CU_STREAM_NON_BLOCKING))
    return true;
  bool failed = driver->cuMemcpyDtoHAsync((void *)(uintptr_t)copy, from,
                                          sizeof *word, side) ||
                kmbi_cuda_finish(self, side);
  *word = *copy;
  if (!self->lost) (void)driver->cuStreamDestroy(side);
  return failed;
}

static uint32_t next(kmbi_cuda_barrier *b) {
  b->self->space->word_number = ++b->number;
  return b->number;
}

kmb_status kmbi_cuda_flags_launch(kmbi_cuda_barrier *b, kmbi_cu_stream stream,
                                  bool timed) {
  kmbi_cuda *self = b->self;
  const kmbi_cuda_space *space = self->space;
  uint64_t limit = (uint64_t)b->desc.deadline_ns;
  kmbi_cu_pointer out = timed ? space->gate_device + KMBI_CUDA_EARLY : 0;
  kmbi_cu_pointer bad = space->gate_device + KMBI_CUDA_BAD;
  kmbi_cu_pointer words = space->words;
  uint32_t number = next(b);
  void *arguments[] = {&b->table, &words,        &limit,        &out,
                       &bad,      &b->desc.rank, &b->desc.size, &number};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_barrier, b->desc.size,
                          arguments);
}

kmb_status kmbi_cuda_flags_stream(kmbi_cuda_barrier *b, kmbi_cu_stream stream) {
  kmbi_cuda *self = b->self;
  uint32_t number = next(b);
  kmb_status status = KMB_OK;
  for (uint32_t r = 0; !status && r < b->desc.size; r++)
    if (r != b->desc.rank)
      status = KMBI_CU(self, cuStreamWriteValue32, stream,
                       b->peers[r].words +
                           (kmbi_cu_pointer)b->desc.rank * KMBI_CUDA_WORD,
                       number, 0);
  for (uint32_t r = 0; !status && r < b->desc.size; r++)
    if (r != b->desc.rank)
      status = KMBI_CU(self, cuStreamWaitValue32, stream,
                       self->space->words + (kmbi_cu_pointer)r * KMBI_CUDA_WORD,
                       number, KMBI_CU_WAIT_GEQ);
  return status;
}
