/* libnccl.so.2: communicators whose ranks are threads of this process, the
 * all-reduce of which only the meeting is simulated, and the reduce-scatter. */
#include <stdlib.h>
#include <string.h>

#include "../../../../backends/cuda/nccl_api.h"
#include "inside.h"

enum { INVALID_ARGUMENT = 4, MOST = SIM_RANKS, BFLOAT16 = 9 };

typedef struct board {
  uint64_t arrived[MOST];
  int size, joined;
  sim_scatter scatter;
  struct board *next;
} board;

struct ncclComm {
  board *on;
  uint64_t number;
  int rank;
  uint32_t ended;
  struct ncclComm *next;
};

/* Until the process ends: work that is let go may still look at them. */
static struct ncclComm *graves;
static board *boards;

/* Counts down to the one that something happens to. */
static bool is_the_one(unsigned *left) {
  return *left && !--*left;
}

static void bury(struct ncclComm *c) {
  c->ended = 1;
  c->next = graves;
  graves = c;
}

#define EXPORT(name, arguments) kmbi_nccl_result name arguments;
KMBI_NCCL_MAP(EXPORT)
#undef EXPORT
/* What only programs use. */
kmbi_nccl_result ncclCommDestroy(kmbi_nccl_comm comm);
kmbi_nccl_result ncclReduceScatter(const void *from, void *to, size_t count,
                                   unsigned type, unsigned operation,
                                   kmbi_nccl_comm comm, kmbi_cu_stream stream);

kmbi_nccl_result ncclGetVersion(int *version) {
  *version = 22809;
  return 0;
}

kmbi_nccl_result ncclGetUniqueId(kmbi_nccl_id *id) {
  board *b = calloc(1, sizeof *b);
  if (!b) abort();
  sim_relock();
  b->next = boards;
  boards = b;
  sim_unlock();
  memset(id, 0, sizeof *id);
  memcpy(id, &b, sizeof(void *));
  return 0;
}

kmbi_nccl_result ncclCommInitRankConfig(kmbi_nccl_comm *comm, int ranks,
                                        kmbi_nccl_id id, int rank,
                                        kmbi_nccl_config *config) {
  const char *multicast = getenv("NCCL_NVLS_ENABLE");
  if (config->magic != KMBI_NCCL_MAGIC || config->blocking || ranks > MOST ||
      !multicast || strcmp(multicast, "0") != 0)
    return INVALID_ARGUMENT;
  struct ncclComm *c = calloc(1, sizeof *c);
  if (!c) abort();
  memcpy(&c->on, &id, sizeof(void *));
  c->rank = rank;
  sim_relock();
  c->on->size = ranks;
  c->on->scatter.size = (uint32_t)ranks;
  c->on->joined += !is_the_one(&sim_set()->join_lost);
  sim_unlock();
  *comm = c;
  return KMBI_NCCL_IN_PROGRESS;
}

kmbi_nccl_result ncclCommGetAsyncError(kmbi_nccl_comm comm,
                                       kmbi_nccl_result *result) {
  sim_relock();
  *result = comm->on->joined < comm->on->size ? KMBI_NCCL_IN_PROGRESS : 0;
  sim_unlock();
  return 0;
}

kmbi_nccl_result ncclCommCount(kmbi_nccl_comm comm, int *count) {
  *count = comm->on->size;
  return 0;
}

kmbi_nccl_result ncclCommAbort(kmbi_nccl_comm comm) {
  sim_relock();
  bury(comm);
  sim_pump();
  sim_unlock();
  return 0;
}

kmbi_nccl_result ncclAllReduce(const void *from, void *to, size_t count,
                               unsigned type, unsigned operation,
                               kmbi_nccl_comm comm, kmbi_cu_stream stream) {
  if (from != to || count != 1 || type != KMBI_NCCL_FLOAT || operation)
    return INVALID_ARGUMENT;
  sim_relock();
  sim_op op = {.kind = KERNEL, .kernel = sim_kernel_named("sim_all_reduce")};
  op.a[0].u64 = (uintptr_t)comm->on->arrived;
  op.a[1].u64 = ++comm->number;
  op.a[2].u32 = (uint32_t)comm->rank;
  op.a[3].u32 = (uint32_t)comm->on->size;
  op.a[4].u64 = (uintptr_t)&comm->ended;
  sim_enqueue(sim_stream_of(stream), &op);
  sim_pump();
  sim_unlock();
  return 0;
}

kmbi_nccl_result ncclCommDestroy(kmbi_nccl_comm comm) {
  return ncclCommAbort(comm);
}

kmbi_nccl_result ncclReduceScatter(const void *from, void *to, size_t count,
                                   unsigned type, unsigned operation,
                                   kmbi_nccl_comm comm, kmbi_cu_stream stream) {
  if (type != BFLOAT16 || operation || !from || !to) return INVALID_ARGUMENT;
  sim_relock();
  sim_op op = {.kind = KERNEL,
               .kernel = sim_kernel_named("sim_reduce_scatter")};
  op.a[0].u64 = (uintptr_t)&comm->on->scatter;
  op.a[1].u32 = (uint32_t)comm->rank;
  op.a[2].u64 = (uintptr_t)from;
  op.a[3].u64 = (uintptr_t)to;
  op.a[4].u64 = count;
  op.a[5].u64 = (uintptr_t)&comm->ended;
  unsigned result =
      is_the_one(&sim_set()->scatter_lost) ? 0 : sim_submit(stream, &op, 307);
  sim_unlock();
  return result ? 1 : KMBI_NCCL_IN_PROGRESS;
}
