/* An all-reduce of one element: portable, also between hosts. The communicator
 * is the caller's, or one of our own with NVLink multicast off. */
#include "barrier.h"

#include <stdio.h>
#include <time.h>

#define NAP_NS 50000
/* Of the deadline, for a communicator to be made and for its first use: a rank
 * that failed meanwhile waits for what we say. */
#define FIRST_PART 0.4

static kmb_status failed(kmbi_cuda_barrier *b, const char *call,
                         kmbi_nccl_result result) {
  return KMBI_CUDA_FAIL(
      b->self, KMB_ERR_VENDOR, (int64_t)result,
      "%s failed (ncclResult_t %u); NCCL_DEBUG=INFO says more", call, result);
}

/* What is in progress has ended. */
static kmb_status settle(kmbi_cuda_barrier *b, const char *call,
                         kmbi_nccl_result result, double limit_ns) {
  double until = kmbi_cuda_now() + limit_ns;
  while (result == KMBI_NCCL_IN_PROGRESS) {
    kmbi_nccl_result asked = b->nccl->ncclCommGetAsyncError(b->comm, &result);
    if (asked) return failed(b, "ncclCommGetAsyncError", asked);
    if (result != KMBI_NCCL_IN_PROGRESS) break;
    if (kmbi_cuda_now() > until)
      return KMBI_CUDA_FAIL(b->self, KMB_ERR_TIMEOUT, 0,
                            "%s did not end within %.3g s", call,
                            limit_ns / 1e9);
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
  return result ? failed(b, call, result) : KMB_OK;
}

/* What rank 0 tells: a name for the communicator, or why there is none. */
typedef struct hello {
  kmb_status status;
  kmbi_nccl_id id;
} hello;

static kmb_status exchange(kmbi_cuda_barrier *b, hello *h, kmb_status status) {
  const kmb_host *host = b->self->host;
  size_t bytes = b->desc.size * sizeof *h;
  hello *all = host->alloc(host->ctx, bytes, _Alignof(hello));
  if (!all && !status) status = kmbi_cuda_no_list(b);
  h->status = status;
  if (!all) {
    (void)b->desc.exchange(b->desc.ctx, h, NULL, sizeof *h);
    return status;
  }
  kmb_status met = b->desc.exchange(b->desc.ctx, h, all, sizeof *h);
  if (!status) status = met;
  for (uint32_t r = 0; !status && r < b->desc.size; r++)
    if (all[r].status)
      status = KMBI_CUDA_FAIL(b->self, all[r].status, 0,
                              "rank %u cannot use NCCL", (unsigned)r);
  if (!status) *h = all[0];
  host->free(host->ctx, all, bytes);
  return status;
}

static kmb_status make_comm(kmbi_cuda_barrier *b, kmbi_nccl_id id) {
  kmbi_nccl_config config = {
      .size = sizeof config,
      .magic = KMBI_NCCL_MAGIC,
      .version = KMBI_NCCL_OLDEST,
      .blocking = 0,
      .cga_cluster_size = KMBI_NCCL_UNDEFINED,
      .min_ctas = KMBI_NCCL_UNDEFINED,
      .max_ctas = KMBI_NCCL_UNDEFINED,
      .split_share = KMBI_NCCL_UNDEFINED,
      .traffic_class = KMBI_NCCL_UNDEFINED,
  };
  kmbi_nccl_result result = b->nccl->ncclCommInitRankConfig(
      &b->comm, (int)b->desc.size, id, (int)b->desc.rank, &config);
  return settle(b, "ncclCommInitRankConfig", result,
                FIRST_PART * b->desc.deadline_ns);
}

static kmb_status check_callers(kmbi_cuda_barrier *b) {
  int count = 0;
  b->comm = b->desc.nccl;
  kmbi_nccl_result result = b->nccl->ncclCommCount(b->comm, &count);
  if (result) return failed(b, "ncclCommCount", result);
  if (count == (int)b->desc.size) return KMB_OK;
  return KMBI_CUDA_FAIL(b->self, KMB_ERR_INVALID, 0,
                        "the caller's NCCL communicator has %d ranks, this "
                        "measurement %u",
                        count, (unsigned)b->desc.size);
}

static kmb_status load(kmbi_cuda_barrier *b, hello *mine) {
  kmbi_cuda_failure failure;
  memset(mine, 0, sizeof *mine);
  b->nccl = kmbi_cuda_nccl(!b->desc.nccl, &failure);
  if (!b->nccl)
    return KMBI_CUDA_FAIL(b->self, failure.status, failure.vendor, "%s",
                          failure.text);
  if (b->desc.nccl) return check_callers(b);
  if (b->desc.rank) return KMB_OK;
  kmbi_nccl_result result = b->nccl->ncclGetUniqueId(&mine->id);
  return result ? failed(b, "ncclGetUniqueId", result) : KMB_OK;
}

/* Connections are made by the first one. */
static kmb_status first_use(kmbi_cuda_barrier *b) {
  kmbi_cuda *self = b->self;
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = KMBI_CU(self, cuMemAlloc, &b->one, sizeof(float));
  if (!status) status = KMBI_CU(self, cuMemsetD32Async, b->one, 0, 1, stream);
  if (!status) status = kmbi_cuda_nccl_enqueue(b, stream);
  kmb_status ended = KMB_OK;
  if (!kmbi_cuda_ends_within(self, stream, FIRST_PART * b->desc.deadline_ns,
                             &ended)) {
    kmbi_cuda_nccl_rescue(b);
    ended = kmbi_cuda_finish(self, stream);
    if (!ended)
      ended = KMBI_CUDA_FAIL(self, KMB_ERR_TIMEOUT, 0,
                             "the first all-reduce did not end in time");
  }
  return status ? status : ended;
}

/* Words in each other's memory, by which the barrier is judged if all ranks
 * have them. Those that are out of reach keep nobody from using it. */
static kmb_status find_judge(kmbi_cuda_barrier *b, kmb_status status) {
  const kmb_host *host = b->self->host;
  size_t bytes = b->desc.size * sizeof status;
  kmb_error said;
  host->error_save(host->ctx, &said);
  kmb_status mine = status ? kmbi_cuda_flags_refuse(&b->desc, status)
                           : kmbi_cuda_flags_open(b);
  kmb_status *all = host->alloc(host->ctx, bytes, _Alignof(kmb_status));
  if (!all) mine = kmbi_cuda_no_list(b);
  kmb_status met = b->desc.exchange(b->desc.ctx, &mine, all, sizeof mine);
  b->judged = all && !met;
  for (uint32_t r = 0; b->judged && r < b->desc.size; r++)
    b->judged = !all[r];
  if (all) host->free(host->ctx, all, bytes);
  if (status || mine == KMB_ERR_UNSUPPORTED) {
    host->error_restore(host->ctx, &said);
    return status;
  }
  return mine ? mine : met;
}

kmb_status kmbi_cuda_nccl_refuse(const kmb_barrier_desc *desc,
                                 kmb_status status) {
  hello mine;
  memset(&mine, 0, sizeof mine);
  mine.status = status;
  (void)desc->exchange(desc->ctx, &mine, NULL, sizeof mine);
  (void)kmbi_cuda_flags_refuse(desc, status);
  (void)desc->exchange(desc->ctx, &status, NULL, sizeof status);
  return status;
}

void kmbi_cuda_nccl_rescue(kmbi_cuda_barrier *b) {
  if (b->comm && !b->desc.nccl) (void)b->nccl->ncclCommAbort(b->comm);
  if (!b->desc.nccl) b->comm = NULL;
}

kmb_status kmbi_cuda_nccl_open(kmbi_cuda_barrier *b) {
  hello mine;
  kmb_status status = exchange(b, &mine, load(b, &mine));
  if (!status && !b->desc.nccl) status = make_comm(b, mine.id);
  if (!status) status = first_use(b);
  status = find_judge(b, status);
  if (status) return status;
  int v = b->nccl->version;
  snprintf(b->text, sizeof b->text, "NCCL %d.%d.%d, %s", v / 10000,
           v % 10000 / 100, v % 100,
           b->desc.nccl   ? "the caller's communicator"
           : b->nccl->set ? "multicast off, set by libkmb for this process"
                          : "multicast off by NCCL_NVLS_ENABLE=0 as found");
  return KMB_OK;
}

void kmbi_cuda_nccl_close(kmbi_cuda_barrier *b) {
  const kmbi_cu_driver *driver = b->self->driver;
  if (b->one) (void)driver->cuMemFree(b->one);
  /* Ends without the other ranks, unlike ncclCommDestroy(). */
  kmbi_cuda_nccl_rescue(b);
}

kmb_status kmbi_cuda_nccl_enqueue(kmbi_cuda_barrier *b, kmbi_cu_stream stream) {
  void *one = (void *)(uintptr_t)b->one;
  if (!b->comm)
    return KMBI_CUDA_FAIL(b->self, KMB_ERR_INTERNAL, 0,
                          "NCCL's communicator was ended by a failure");
  kmbi_nccl_result result = b->nccl->ncclAllReduce(
      one, one, 1, KMBI_NCCL_FLOAT, KMBI_NCCL_SUM, b->comm, stream);
  return settle(b, "ncclAllReduce", result, b->desc.deadline_ns);
}
