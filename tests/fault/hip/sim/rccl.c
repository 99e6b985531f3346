/* librccl.so.1: communicators whose ranks are threads of this process, and an
 * all-reduce of which only the meeting is simulated. */
#include <stdlib.h>
#include <string.h>

#include "../../../../backends/hip/rccl_api.h"
#include "inside.h"

enum { INTERNAL = 3, INVALID_ARGUMENT = 4, MOST = 8 };

typedef struct board {
  uint64_t arrived[MOST];
  int size, joined;
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

#define EXPORT(name, arguments) kmbi_rccl_result name arguments;
KMBI_RCCL_MAP(EXPORT)
#undef EXPORT

/* Under the lock: whether this call is the one that fails. */
static bool fails(void) {
  sim_settings *s = sim_set();
  return ++s->rccl_calls == s->rccl_fail_at;
}

kmbi_rccl_result ncclGetVersion(int *version) {
  *version = sim_set()->rccl_version;
  return 0;
}

kmbi_rccl_result ncclGetUniqueId(kmbi_rccl_id *id) {
  board *b = calloc(1, sizeof *b);
  if (!b) abort();
  sim_lock();
  bool failed = fails();
  b->next = boards;
  boards = b;
  sim_unlock();
  if (failed) return INTERNAL;
  memset(id, 0, sizeof *id);
  memcpy(id, &b, sizeof(void *));
  return 0;
}

kmbi_rccl_result ncclCommInitRankConfig(kmbi_rccl_comm *comm, int ranks,
                                        kmbi_rccl_id id, int rank,
                                        kmbi_rccl_config *config) {
  if (config->magic != KMBI_RCCL_MAGIC || config->blocking || ranks > MOST ||
      config->size != sizeof *config || sim_current() != rank)
    return INVALID_ARGUMENT;
  struct ncclComm *c = calloc(1, sizeof *c);
  if (!c) abort();
  memcpy(&c->on, &id, sizeof(void *));
  c->rank = rank;
  sim_lock();
  bool failed = fails();
  c->on->size = ranks;
  c->on->joined++;
  sim_unlock();
  *comm = c;
  return failed ? INTERNAL : KMBI_RCCL_IN_PROGRESS;
}

kmbi_rccl_result ncclCommGetAsyncError(kmbi_rccl_comm comm,
                                       kmbi_rccl_result *result) {
  sim_lock();
  bool failed = fails();
  *result = comm->on->joined < comm->on->size ? KMBI_RCCL_IN_PROGRESS : 0;
  sim_unlock();
  return failed ? INTERNAL : 0;
}

kmbi_rccl_result ncclCommCount(kmbi_rccl_comm comm, int *count) {
  sim_lock();
  bool failed = fails();
  *count = comm->on->size;
  sim_unlock();
  return failed ? INTERNAL : 0;
}

kmbi_rccl_result ncclCommAbort(kmbi_rccl_comm comm) {
  sim_lock();
  comm->ended = 1;
  comm->next = graves;
  graves = comm;
  sim_pump();
  sim_unlock();
  return 0;
}

kmbi_rccl_result ncclAllReduce(const void *from, void *to, size_t count,
                               unsigned type, unsigned operation,
                               kmbi_rccl_comm comm, kmbi_hip_stream stream) {
  if (from != to || count != 1 || type != KMBI_RCCL_FLOAT || operation)
    return INVALID_ARGUMENT;
  sim_lock();
  bool failed = fails() || !sim_reaches((uintptr_t)to, sizeof(float));
  if (!failed) {
    sim_op op = {.kind = KERNEL, .kernel = sim_kernel_named("sim_all_reduce")};
    op.a[0].u64 = (uintptr_t)comm->on->arrived;
    op.a[1].u64 = ++comm->number;
    op.a[2].u32 = (uint32_t)comm->rank;
    op.a[3].u32 = (uint32_t)comm->on->size;
    op.a[4].u64 = (uintptr_t)&comm->ended;
    sim_enqueue(sim_stream_of(stream), &op);
    sim_pump();
  }
  sim_unlock();
  return failed ? INTERNAL : 0;
}
