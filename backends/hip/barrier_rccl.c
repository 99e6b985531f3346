/* RCCL's part of a barrier: a communicator, and an all-reduce of one element in
 * it. Neither is waited for in RCCL: what never ends would never return. */
#include "barrier.h"

#include <stdio.h>
#include <time.h>

#define NAP_NS 50000
/* Of the deadline, for a communicator to be made and for its first use: a rank
 * that failed meanwhile waits for what we say. */
#define FIRST_PART 0.4

static kmb_status failed(kmbi_hip_barrier *b, const char *call,
                         kmbi_rccl_result result) {
  return KMBI_HIP_FAIL(b->self, KMB_ERR_VENDOR, (int64_t)result,
                       "%s failed (ncclResult_t %u); NCCL_DEBUG=INFO says more",
                       call, result);
}

/* What is in progress has ended. */
static kmb_status settle(kmbi_hip_barrier *b, const char *call,
                         kmbi_rccl_result result, double limit_ns) {
  double until = kmbi_hip_now() + limit_ns;
  while (result == KMBI_RCCL_IN_PROGRESS) {
    kmbi_rccl_result asked = b->rccl->ncclCommGetAsyncError(b->comm, &result);
    if (asked) return failed(b, "ncclCommGetAsyncError", asked);
    if (result != KMBI_RCCL_IN_PROGRESS) break;
    if (kmbi_hip_now() > until)
      return KMBI_HIP_FAIL(b->self, KMB_ERR_TIMEOUT, 0,
                           "%s did not end within %.3g s", call,
                           limit_ns / 1e9);
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
  return result ? failed(b, call, result) : KMB_OK;
}

/* What rank 0 tells: a name for the communicator, or why there is none. */
typedef struct hello {
  kmb_status status;
  kmbi_rccl_id id;
} hello;

kmb_status kmbi_hip_rccl_refuse(const kmb_barrier_desc *desc,
                                kmb_status status) {
  hello mine;
  memset(&mine, 0, sizeof mine);
  mine.status = status;
  (void)desc->exchange(desc->ctx, &mine, NULL, sizeof mine);
  return status;
}

static kmb_status exchange(kmbi_hip_barrier *b, hello *h, kmb_status status) {
  const kmb_host *host = b->self->host;
  size_t bytes = b->desc.size * sizeof *h;
  hello *all = host->alloc(host->ctx, bytes, _Alignof(hello));
  if (!all && !status)
    status = KMBI_HIP_FAIL(b->self, KMB_ERR_NOMEM, 0,
                           "no memory for what %u ranks say",
                           (unsigned)b->desc.size);
  h->status = status;
  if (!all) return kmbi_hip_rccl_refuse(&b->desc, status);
  kmb_status met = b->desc.exchange(b->desc.ctx, h, all, sizeof *h);
  if (!status) status = met;
  for (uint32_t r = 0; !status && r < b->desc.size; r++)
    if (all[r].status)
      status = KMBI_HIP_FAIL(b->self, all[r].status, 0,
                             "rank %u cannot use RCCL", (unsigned)r);
  if (!status) *h = all[0];
  host->free(host->ctx, all, bytes);
  return status;
}

static kmb_status make_comm(kmbi_hip_barrier *b, kmbi_rccl_id id) {
  kmbi_rccl_config config = {
      .size = sizeof config,
      .magic = KMBI_RCCL_MAGIC,
      .version = KMBI_RCCL_OLDEST,
      .blocking = 0,
      .cga_cluster_size = KMBI_RCCL_UNDEFINED,
      .min_ctas = KMBI_RCCL_UNDEFINED,
      .max_ctas = KMBI_RCCL_UNDEFINED,
      .split_share = KMBI_RCCL_UNDEFINED,
      .traffic_class = KMBI_RCCL_UNDEFINED,
  };
  kmbi_rccl_result result = b->rccl->ncclCommInitRankConfig(
      &b->comm, (int)b->desc.size, id, (int)b->desc.rank, &config);
  return settle(b, "ncclCommInitRankConfig", result,
                FIRST_PART * b->desc.deadline_ns);
}

static kmb_status check_callers(kmbi_hip_barrier *b) {
  int count = 0;
  b->comm = b->desc.nccl;
  kmbi_rccl_result result = b->rccl->ncclCommCount(b->comm, &count);
  if (result) return failed(b, "ncclCommCount", result);
  if (count == (int)b->desc.size) return KMB_OK;
  return KMBI_HIP_FAIL(b->self, KMB_ERR_INVALID, 0,
                       "the caller's RCCL communicator has %d ranks, this "
                       "measurement %u",
                       count, (unsigned)b->desc.size);
}

static kmb_status load(kmbi_hip_barrier *b, hello *mine) {
  kmbi_hip_failure failure;
  memset(mine, 0, sizeof *mine);
  b->rccl = kmbi_hip_rccl(!b->desc.nccl, &failure);
  if (!b->rccl)
    return KMBI_HIP_FAIL(b->self, failure.status, failure.vendor, "%s",
                         failure.text);
  if (b->desc.nccl) return check_callers(b);
  if (b->desc.rank) return KMB_OK;
  kmbi_rccl_result result = b->rccl->ncclGetUniqueId(&mine->id);
  return result ? failed(b, "ncclGetUniqueId", result) : KMB_OK;
}

/* Connections are made by the first one. */
static kmb_status first_use(kmbi_hip_barrier *b) {
  kmbi_hip *self = b->self;
  kmbi_hip_stream stream = NULL;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  if (!status) status = KMBI_HIP(self, hipMalloc, &b->one, sizeof(float));
  if (!status) status = KMBI_HIP(self, hipMemsetD32Async, b->one, 0, 1, stream);
  if (!status) status = kmbi_hip_rccl_enqueue(b, stream);
  kmb_status ended = KMB_OK;
  if (!stream) return status;
  if (!kmbi_hip_ends_within(self, stream, FIRST_PART * b->desc.deadline_ns,
                            &ended)) {
    kmbi_hip_rccl_rescue(b);
    ended = kmbi_hip_finish(self, stream);
    if (!ended)
      ended = KMBI_HIP_FAIL(self, KMB_ERR_TIMEOUT, 0,
                            "the first all-reduce did not end in time");
  }
  return status ? status : ended;
}

void kmbi_hip_rccl_rescue(kmbi_hip_barrier *b) {
  if (b->desc.nccl) return;
  if (b->comm) (void)b->rccl->ncclCommAbort(b->comm);
  b->comm = NULL;
}

kmb_status kmbi_hip_rccl_open(kmbi_hip_barrier *b) {
  hello mine;
  kmb_status status = exchange(b, &mine, load(b, &mine));
  if (!status && !b->desc.nccl) status = make_comm(b, mine.id);
  if (!status) status = first_use(b);
  if (status) return status;
  int v = b->rccl->version;
  snprintf(b->text, sizeof b->text, "RCCL %d.%d.%d, %s", v / 10000,
           v % 10000 / 100, v % 100,
           b->desc.nccl ? "the caller's communicator"
                        : "a communicator of libkmb's own");
  return KMB_OK;
}

void kmbi_hip_rccl_close(kmbi_hip_barrier *b) {
  const kmbi_hip_api *api = b->self->api;
  if (b->one) (void)api->hipFree(b->one);
  /* Ends without the other ranks, unlike ncclCommDestroy(). */
  kmbi_hip_rccl_rescue(b);
}

kmb_status kmbi_hip_rccl_enqueue(kmbi_hip_barrier *b, kmbi_hip_stream stream) {
  if (!b->comm)
    return KMBI_HIP_FAIL(b->self, KMB_ERR_INTERNAL, 0,
                         "RCCL's communicator was ended by a failure");
  kmbi_rccl_result result = b->rccl->ncclAllReduce(
      b->one, b->one, 1, KMBI_RCCL_FLOAT, KMBI_RCCL_SUM, b->comm, stream);
  return settle(b, "ncclAllReduce", result, b->desc.deadline_ns);
}
