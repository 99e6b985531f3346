/* Communicators: the handle, and exchanges with a deadline. */
#include "comm.h"

#include "error.h"
#include "ranks.h"
#include "steady.h"
#include "structs.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* "KMBR" and the version of kmbi_record. */
#define MAGIC UINT64_C(0x4b4d425200000001)
#define DEADLINE_NS 10e9
#define FIRST_DEADLINE_NS 120e9
enum { SKEW_SAMPLES = 100, SKEW_SAMPLES_MOST = 100000 };

static const char *const stages[] = {
    "outside", "prepare", "check",   "warm up",   "calibrate",
    "measure", "recheck", "confirm", "summarise", "leave",
};
enum { STAGES = sizeof stages / sizeof stages[0] };

const char *kmbi_comm_stage(uint32_t stage) {
  return stage < STAGES ? stages[stage] : "unknown";
}

/* Making one. */

static kmb_status check_params(const kmb_comm_params *p) {
  if (!(p->deadline_ns >= 0) || !isfinite(p->deadline_ns) ||
      !(p->first_deadline_ns >= 0) || !isfinite(p->first_deadline_ns))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_params: a deadline is negative "
                                      "or not finite");
  if (p->skew_samples > SKEW_SAMPLES_MOST)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_comm_params: skew_samples is over %d",
                     SKEW_SAMPLES_MOST);
  if (p->barrier < KMB_BARRIER_AUTO || p->barrier > KMB_BARRIER_HOST)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_params: no barrier %d",
                     (int)p->barrier);
  if (p->multicast < KMB_MULTICAST_UNDECLARED ||
      p->multicast > KMB_MULTICAST_OFF)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_params: no multicast state %d",
                     (int)p->multicast);
  return KMB_OK;
}

kmb_status kmbi_comm_params(const kmb_comm_params *caller, kmb_comm_params *p,
                            kmbi_memory *memory) {
  *p = kmb_comm_params_init();
  if (caller) {
    kmb_status status = kmbi_copy_in(p, sizeof *p, KMBI_COMM_PARAMS_V1, caller,
                                     "kmb_comm_params");
    if (status) return status;
  }
  kmb_status status = check_params(p);
  if (!status) status = kmbi_memory_open(p->hooks, "kmb_comm_params", memory);
  if (p->deadline_ns == 0) p->deadline_ns = DEADLINE_NS;
  if (p->first_deadline_ns == 0) p->first_deadline_ns = FIRST_DEADLINE_NS;
  if (!p->skew_samples) p->skew_samples = SKEW_SAMPLES;
  p->hooks = NULL;
  return status;
}

static kmb_status check_ops(const kmb_comm_ops *ops) {
  if (!ops->start || !ops->test || !ops->release)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_comm_ops: start, test or release is NULL");
  if (ops->size < 1 || ops->size > KMBI_COMM_MOST)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_ops: %d ranks, not 1 to %d",
                     (int)ops->size, KMBI_COMM_MOST);
  if (ops->rank < 0 || ops->rank >= ops->size)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_ops: rank %d of %d",
                     (int)ops->rank, (int)ops->size);
  return KMB_OK;
}

static void release(kmb_comm *comm) {
  kmbi_memory memory = comm->memory;
  size_t size = (size_t)comm->ops.size;
  kmbi_free(&memory, comm->heard, size, sizeof *comm->heard);
  kmbi_free(&memory, comm->stages, size, sizeof *comm->stages);
  kmbi_arena_release(&comm->arena);
  kmbi_free(&memory, comm, 1, sizeof *comm);
}

static bool fill(kmb_comm *comm) {
  const kmbi_memory *memory = &comm->memory;
  kmbi_arena *arena = &comm->arena;
  kmb_comm_params *p = &comm->params;
  size_t size = (size_t)comm->ops.size;
  comm->heard = kmbi_alloc(memory, size, sizeof *comm->heard);
  comm->stages = kmbi_alloc(memory, size, sizeof *comm->stages);
  p->collective = kmbi_arena_copy(arena, p->collective);
  p->topology = kmbi_arena_copy(arena, p->topology);
  p->fabric = kmbi_arena_copy(arena, p->fabric);
  comm->ops.name =
      kmbi_arena_copy(arena, comm->ops.name ? comm->ops.name : "the caller's");
  return comm->heard && comm->stages && !kmbi_arena_failed(arena);
}

/* Each built-in backend's barriers: nothing else brings them into a program. */
void kmbi_backend_cuda_ranks(void);
void kmbi_backend_hip_ranks(void);

kmb_status kmbi_comm_make(const kmb_comm_ops *ops,
                          const kmb_comm_params *params,
                          const kmbi_memory *memory, kmb_comm **out) {
  kmb_status status = check_ops(ops);
  if (status) return status;
  kmb_comm *comm = kmbi_alloc(memory, 1, sizeof *comm);
  if (!comm) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a communicator");
  comm->memory = *memory;
  comm->ops = *ops;
  comm->params = *params;
  comm->ranks = &kmbi_all_ranks;
  kmbi_backend_cuda_ranks();
  kmbi_backend_hip_ranks();
  comm->pid = getpid();
  kmbi_arena_init(&comm->arena, memory);
  if (!fill(comm)) {
    release(comm);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a communicator of %d ranks",
                     (int)ops->size);
  }
  *out = comm;
  return KMB_OK;
}

kmb_status kmb_comm_create(const kmb_comm_ops *caller,
                           const kmb_comm_params *params, kmb_comm **out) {
  if (!out) return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_create: comm is NULL");
  *out = NULL;
  kmb_comm_ops ops;
  kmb_comm_params complete;
  kmbi_memory memory;
  kmb_status status =
      kmbi_copy_in(&ops, sizeof ops, KMBI_COMM_OPS_V1, caller, "kmb_comm_ops");
  if (!status) status = kmbi_comm_params(params, &complete, &memory);
  return status ? status : kmbi_comm_make(&ops, &complete, &memory, out);
}

void kmb_comm_destroy(kmb_comm *comm) {
  if (!comm) return;
  /* What a forked child inherited is still its parent's. */
  if (comm->ops.close && comm->pid == getpid()) comm->ops.close(comm->ops.ctx);
  release(comm);
}

int32_t kmb_comm_rank(const kmb_comm *comm) {
  return comm ? comm->ops.rank : -1;
}

int32_t kmb_comm_size(const kmb_comm *comm) {
  return comm ? comm->ops.size : 0;
}

/* Using it. */

static kmb_status poisoned(const kmb_comm *comm) {
  return kmbi_fail(comm->poison, "%s", comm->poisoned);
}

kmb_status kmbi_comm_enter(kmb_comm *comm, const char *what) {
  if (comm->pid != getpid())
    return kmbi_fail(KMB_ERR_FORKED,
                     "%s: the communicator belongs to the parent process",
                     what);
  if (atomic_exchange(&comm->busy, 1))
    return kmbi_fail(KMB_ERR_BUSY,
                     "%s: the communicator is in use; each rank has its own",
                     what);
  return KMB_OK;
}

void kmbi_comm_leave(kmb_comm *comm) {
  atomic_store(&comm->busy, 0);
}

kmb_status kmbi_comm_poison(kmb_comm *comm, kmb_status status,
                            const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(comm->poisoned, sizeof comm->poisoned, format, arguments);
  va_end(arguments);
  comm->poison = status;
  const kmb_comm_params *p = &comm->params;
  if (comm->ops.abort) comm->ops.abort(comm->ops.ctx, status, comm->poisoned);
  if (p->abort) p->abort(p->abort_user, status, comm->poisoned);
  return poisoned(comm);
}

/* Short waits stay short, long ones leave the core to others. Who yields on a
 * core that others want gets it back after milliseconds, who sleeps much
 * sooner: so nobody yields for a while once that was seen. */
#define YIELDING_NS 200e3
enum { CROWDED = 256 };

static void rest(const kmb_comm *comm, double waited_ns) {
  struct timespec t = {0, waited_ns < 10e6 ? 20000 : 500000};
  if (waited_ns < YIELDING_NS && !comm->crowded)
    sched_yield();
  else
    nanosleep(&t, NULL);
}

static bool has_arrived(kmb_comm *comm, void *request, int32_t rank) {
  int32_t yes = 0;
  return !comm->ops.arrived(comm->ops.ctx, request, rank, &yes) && yes;
}

/* Who is missing, as "rank 2" or "ranks 2, 5"; the first one in `*first`. */
static void name_absent(kmb_comm *comm, void *request, char *text, size_t size,
                        int32_t *first) {
  size_t used = 0;
  int count = 0;
  char list[64] = "";
  *first = -1;
  for (int32_t r = 0; comm->ops.arrived && r < comm->ops.size; r++) {
    if (r == comm->ops.rank || has_arrived(comm, request, r)) continue;
    if (*first < 0) *first = r;
    if (count++ < 4)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%d",
                               count > 1 ? ", " : "", (int)r);
  }
  if (!count)
    snprintf(text, size, "a rank (this communicator cannot tell which)");
  else
    snprintf(text, size, "rank%s %s%s", count > 1 ? "s" : "", list,
             count > 4 ? " and others" : "");
}

/* Every rank says the same of the one that is missed. */
static kmb_status missed(kmb_comm *comm, void *request, kmb_status status,
                         double deadline_ns) {
  char who[112], why[112] = "", last[48] = "";
  int32_t first = -1;
  name_absent(comm, request, who, sizeof who, &first);
  if (status == KMB_ERR_TIMEOUT && deadline_ns > 0)
    snprintf(why, sizeof why, "within %.3g s", deadline_ns / 1e9);
  else
    snprintf(why, sizeof why, "(%.90s)", kmb_last_error(NULL, NULL));
  if (first >= 0 && comm->sequence > 1)
    snprintf(last, sizeof last, ", last heard of at \"%s\"",
             kmbi_comm_stage(comm->stages[first]));
  return kmbi_comm_poison(comm, status,
                          "%s did not come to step \"%s\", exchange %llu, %s%s",
                          who, kmbi_comm_stage(comm->mine.stage),
                          (unsigned long long)comm->sequence, why, last);
}

static kmb_status await(kmb_comm *comm, void *request, double deadline_ns) {
  const kmb_comm_ops *ops = &comm->ops;
  double started = kmbi_steady_ns(), waited = 0;
  if (comm->crowded) comm->crowded--;
  for (;;) {
    int32_t done = 0;
    kmbi_error_state before;
    kmbi_error_save(&before);
    kmb_status status = ops->test(ops->ctx, request, &done);
    if (status && !kmbi_failed_since(&before))
      kmbi_fail(status, "the communicator's test returned %s",
                kmb_status_name(status));
    if (status) return missed(comm, request, status, 0);
    if (done) return KMB_OK;
    double then = waited;
    waited = kmbi_steady_ns() - started;
    if (waited - then > YIELDING_NS && then < YIELDING_NS)
      comm->crowded = CROWDED;
    if (waited > deadline_ns)
      return missed(comm, request, KMB_ERR_TIMEOUT, deadline_ns);
    rest(comm, waited);
  }
}

static kmb_status check_heard(kmb_comm *comm) {
  for (int32_t r = 0; r < comm->ops.size; r++) {
    kmbi_record *heard = &comm->heard[r];
    if (heard->magic != MAGIC)
      return kmbi_comm_poison(comm, KMB_ERR_UNSUPPORTED,
                              "rank %d speaks with another version of libkmb, "
                              "or is no rank of it",
                              (int)r);
    if (heard->sequence != comm->sequence)
      return kmbi_comm_poison(
          comm, KMB_ERR_INTERNAL,
          "rank %d is at exchange %llu, rank %d at %llu: the communicator "
          "mixes them up",
          (int)r, (unsigned long long)heard->sequence, (int)comm->ops.rank,
          (unsigned long long)comm->sequence);
    heard->message[KMBI_COMM_TEXT - 1] = '\0';
    comm->stages[r] = heard->stage;
  }
  return KMB_OK;
}

kmb_status kmbi_comm_exchange(kmb_comm *comm, double deadline_ns) {
  const kmb_comm_ops *ops = &comm->ops;
  void *request = NULL;
  if (comm->poison) return poisoned(comm);
  comm->mine.magic = MAGIC;
  comm->mine.sequence = ++comm->sequence;
  kmb_status status = ops->start(ops->ctx, &comm->mine, comm->heard,
                                 sizeof comm->mine, &request);
  if (status)
    return kmbi_comm_poison(comm, status,
                            "the communicator's start returned %s at step "
                            "\"%s\", exchange %llu",
                            kmb_status_name(status),
                            kmbi_comm_stage(comm->mine.stage),
                            (unsigned long long)comm->sequence);
  status = await(comm, request, deadline_ns);
  ops->release(ops->ctx, request);
  return status ? status : check_heard(comm);
}

/* For the caller. */

static kmb_status gather_piece(kmb_comm *comm, const char *send, size_t bytes,
                               uint64_t whole) {
  kmbi_record *mine = &comm->mine;
  memset(mine, 0, sizeof *mine);
  mine->say = KMBI_SAY_DATA;
  mine->same = whole;
  if (bytes) memcpy(mine->payload, send, bytes);
  kmb_status status = kmbi_comm_exchange(comm, comm->params.first_deadline_ns);
  for (int32_t r = 0; !status && r < comm->ops.size; r++) {
    const kmbi_record *heard = &comm->heard[r];
    if (heard->say != KMBI_SAY_DATA)
      return kmbi_comm_poison(
          comm, KMB_ERR_INTERNAL,
          "rank %d is in kmb_bench(), rank %d in kmb_comm_allgather()", (int)r,
          (int)comm->ops.rank);
    if (heard->same != whole)
      return kmbi_comm_poison(comm, KMB_ERR_INVALID,
                              "kmb_comm_allgather: rank %d gives %llu bytes, "
                              "rank %d gives %llu",
                              (int)r, (unsigned long long)heard->same,
                              (int)comm->ops.rank, (unsigned long long)whole);
  }
  return status;
}

static kmb_status gather(kmb_comm *comm, const char *send, char *receive,
                         size_t bytes) {
  size_t at = 0;
  do {
    size_t left = bytes - at;
    size_t part = left < KMBI_COMM_PAYLOAD ? left : KMBI_COMM_PAYLOAD;
    kmb_status status =
        gather_piece(comm, part ? send + at : NULL, part, bytes);
    if (status) return status;
    for (size_t r = 0; part && r < (size_t)comm->ops.size; r++)
      memcpy(receive + r * bytes + at, comm->heard[r].payload, part);
    at += part;
  } while (at < bytes);
  return KMB_OK;
}

kmb_status kmb_comm_allgather(kmb_comm *comm, const void *send, void *receive,
                              size_t bytes) {
  size_t all = 0;
  if (!comm || (bytes && (!send || !receive)))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_allgather: %s is NULL",
                     !comm ? "comm" : "send or receive");
  if (__builtin_mul_overflow(bytes, (size_t)comm->ops.size, &all))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_comm_allgather: %zu bytes of each "
                     "rank exceed memory",
                     bytes);
  kmb_status status = kmbi_comm_enter(comm, "kmb_comm_allgather");
  if (status) return status;
  status = gather(comm, send, receive, bytes);
  kmbi_comm_leave(comm);
  return status;
}
