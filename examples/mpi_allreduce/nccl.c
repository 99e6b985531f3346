#include "nccl.h"

#include <kmb/cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Values of NCCL's interface. */
enum {
  FLOAT = 7,
  BFLOAT16 = 9,
  SUM = 0,
  IN_PROGRESS = 7,
  UNDEFINED = INT32_MIN
};
enum { MOST_RANKS = 64 };
typedef struct unique_id {
  char internal[128];
} unique_id;
/* Of the configuration what version 2.18 has; later ones take it as well. */
typedef struct configuration {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char *net_name;
  int split_share, traffic_class;
} configuration;

struct nccl {
  int (*version)(int *version);
  int (*unique_id)(unique_id *id);
  int (*init)(void **comm, int ranks, unique_id id, int rank,
              configuration *config);
  int (*async_error)(void *comm, int *result);
  int (*destroy)(void *comm);
  int (*abort)(void *comm);
  int (*all_reduce)(const void *from, void *to, size_t count, int type, int op,
                    void *comm, void *stream);
  int (*reduce_scatter)(const void *from, void *to, size_t count, int type,
                        int op, void *comm, void *stream);
  unsigned (*retain)(void **context, int device);
  unsigned (*give_back)(int device);
  unsigned (*make_current)(void *context);
  unsigned (*allocate)(uintptr_t *memory, size_t bytes);
  unsigned (*free)(uintptr_t memory);
  unsigned (*make_stream)(void **stream, unsigned flags);
  unsigned (*end_stream)(void *stream);
  unsigned (*wait)(void *stream);
  unsigned (*make_event)(void **event, unsigned flags);
  unsigned (*end_event)(void *event);
  unsigned (*record)(void *event, void *stream);
  unsigned (*elapsed)(float *ms, void *start, void *end);
  void *comm;
  int device, retained, number;
  double patience_s; /* 0: NCCL's calls wait by themselves */
  pthread_t ending;
  void *ended; /* the communicator that the thread ends */
  atomic_int over;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void *open_library(const char *const *names) {
  for (int how = 0; how < 2; how++)
    for (const char *const *name = names; *name; name++) {
      void *library = dlopen(*name, RTLD_NOW | (how ? 0 : RTLD_NOLOAD));
      if (library) return library;
    }
  return NULL;
}

static int resolve(void *library, const char *name, void *into) {
  *(void **)into = dlsym(library, name);
  return *(void **)into != NULL;
}

static int resolve_driver(nccl *n, void *driver) {
  return resolve(driver, "cuDevicePrimaryCtxRetain", &n->retain) &&
         resolve(driver, "cuDevicePrimaryCtxRelease_v2", &n->give_back) &&
         resolve(driver, "cuCtxSetCurrent", &n->make_current) &&
         resolve(driver, "cuMemAlloc_v2", &n->allocate) &&
         resolve(driver, "cuMemFree_v2", &n->free) &&
         resolve(driver, "cuStreamCreate", &n->make_stream) &&
         resolve(driver, "cuStreamDestroy_v2", &n->end_stream) &&
         resolve(driver, "cuStreamSynchronize", &n->wait) &&
         resolve(driver, "cuEventCreate", &n->make_event) &&
         resolve(driver, "cuEventDestroy_v2", &n->end_event) &&
         resolve(driver, "cuEventRecord", &n->record) &&
         resolve(driver, "cuEventElapsedTime", &n->elapsed);
}

nccl *nccl_open(const char **why) {
  static const char *const drivers[] = {"libcuda.so.1", NULL};
  static const char *const names[] = {"libnccl.so.2", NULL};
  void *driver = open_library(drivers);
  void *library = open_library(names);
  *why = driver ? "NCCL (libnccl.so.2) is not in the linker's path"
                : "libcuda.so.1 is absent";
  if (!driver || !library) return NULL;
  nccl *n = calloc(1, sizeof *n);
  *why = "out of memory";
  if (!n) return NULL;
  *why = "NCCL or the driver lacks a function";
  if (resolve(library, "ncclGetVersion", &n->version) &&
      resolve(library, "ncclGetUniqueId", &n->unique_id) &&
      resolve(library, "ncclCommInitRankConfig", &n->init) &&
      resolve(library, "ncclCommGetAsyncError", &n->async_error) &&
      resolve(library, "ncclCommDestroy", &n->destroy) &&
      resolve(library, "ncclCommAbort", &n->abort) &&
      resolve(library, "ncclReduceScatter", &n->reduce_scatter) &&
      resolve(library, "ncclAllReduce", &n->all_reduce) &&
      resolve_driver(n, driver) && !n->version(&n->number))
    return n;
  free(n);
  return NULL;
}

static kmb_status nccl_failed(const char *what, int result) {
  fprintf(stderr, "%s failed: ncclResult_t %d; NCCL_DEBUG=INFO says more\n",
          what, result);
  return KMB_ERR_VENDOR;
}

/* Waits until what is in progress has ended, as long as there is patience. */
static kmb_status settle(nccl *n, const char *what, int result) {
  double until = now_s() + n->patience_s;
  while (result == IN_PROGRESS) {
    int asked = n->async_error(n->comm, &result);
    if (asked) return nccl_failed("ncclCommGetAsyncError", asked);
    if (result == IN_PROGRESS && now_s() > until) {
      fprintf(stderr, "%s did not end within %g s: a rank is missing\n", what,
              n->patience_s);
      nccl_abort(n);
      return KMB_ERR_TIMEOUT;
    }
    if (result == IN_PROGRESS) nap();
  }
  return result ? nccl_failed(what, result) : KMB_OK;
}

static kmb_status take_device(nccl *n, int device) {
  void *context = NULL;
  if (n->retain(&context, device)) return KMB_ERR_UNAVAILABLE;
  n->device = device;
  n->retained = 1;
  return n->make_current(context) ? KMB_ERR_UNAVAILABLE : KMB_OK;
}

/* What each rank tells the others: whether it can join, and rank 0 under which
 * name. */
typedef struct hello {
  unique_id id;
  kmb_status status;
} hello;

kmb_status nccl_join_within(nccl *n, kmb_comm *comm, int device,
                            double patience_s) {
  hello all[MOST_RANKS], mine;
  int ranks = kmb_comm_size(comm), rank = kmb_comm_rank(comm);
  configuration config = {.size = sizeof config,
                          .magic = 0xcafebeef,
                          .version = 21800,
                          .blocking = patience_s <= 0,
                          .cga_cluster_size = UNDEFINED,
                          .min_ctas = UNDEFINED,
                          .max_ctas = UNDEFINED,
                          .split_share = UNDEFINED,
                          .traffic_class = UNDEFINED};
  if (ranks > MOST_RANKS) return KMB_ERR_INVALID;
  memset(&mine, 0, sizeof mine);
  n->patience_s = patience_s;
  mine.status = take_device(n, device);
  if (!mine.status && !rank) {
    int result = n->unique_id(&mine.id);
    if (result) mine.status = nccl_failed("ncclGetUniqueId", result);
  }
  /* Every rank comes here, whatever failed; then all join, or none. */
  kmb_status status = kmb_comm_allgather(comm, &mine, all, sizeof mine);
  if (mine.status) return mine.status;
  for (int r = 0; !status && r < ranks; r++)
    status = all[r].status;
  if (status) return status;
  return settle(n, "ncclCommInitRankConfig",
                n->init(&n->comm, ranks, all[0].id, rank, &config));
}

kmb_status nccl_join(nccl *n, kmb_comm *comm, int device) {
  return nccl_join_within(n, comm, device, 0);
}

static void *end(void *user) {
  nccl *n = user;
  (void)n->abort(n->ended);
  atomic_store(&n->over, 1);
  return NULL;
}

void nccl_abort(nccl *n) {
  if (!n->comm || n->ended) return;
  n->ended = n->comm;
  n->comm = NULL;
  if (!pthread_create(&n->ending, NULL, end, n)) return;
  n->comm = n->ended; /* nccl_close() does it */
  n->ended = NULL;
}

/* Whether the thread that ends the communicator has done so. */
static int has_ended(nccl *n) {
  double until = now_s() + n->patience_s;
  while (!atomic_load(&n->over) && now_s() < until)
    nap();
  return atomic_load(&n->over) && !pthread_join(n->ending, NULL);
}

void nccl_close(nccl *n) {
  /* What hangs in NCCL even so keeps what it uses. */
  if (n->ended && !has_ended(n)) return;
  /* Where no call may wait for other ranks, this one may not. */
  if (n->comm) (void)(n->patience_s > 0 ? n->abort : n->destroy)(n->comm);
  if (n->retained) (void)n->give_back(n->device);
  free(n);
}

/* After a rank was missed there is none. */
static kmb_status is_there(const nccl *n) {
  if (n->comm) return KMB_OK;
  fprintf(stderr, "NCCL's communicator was ended\n");
  return KMB_ERR_LOST;
}

kmb_status nccl_all_reduce(nccl *n, void *stream, const void *from, void *to,
                           size_t count) {
  kmb_status status = is_there(n);
  if (status) return status;
  return settle(n, "ncclAllReduce",
                n->all_reduce(from, to, count, FLOAT, SUM, n->comm, stream));
}

kmb_status nccl_reduce_scatter_bf16(nccl *n, void *stream, const void *from,
                                    void *to, size_t count) {
  kmb_status status = is_there(n);
  if (status) return status;
  return settle(
      n, "ncclReduceScatter",
      n->reduce_scatter(from, to, count, BFLOAT16, SUM, n->comm, stream));
}

int nccl_version(const nccl *n) {
  return n->number;
}

/* The usual way. */

typedef struct usual {
  uintptr_t from, to;
  void *stream, *events[2];
} usual;

static int usual_open(nccl *n, usual *u, size_t bytes) {
  return n->allocate(&u->from, bytes) || n->allocate(&u->to, bytes) ||
         n->make_stream(&u->stream, 0) || n->make_event(&u->events[0], 0) ||
         n->make_event(&u->events[1], 0);
}

static void usual_close(nccl *n, const usual *u) {
  for (int i = 0; i < 2; i++)
    if (u->events[i]) (void)n->end_event(u->events[i]);
  if (u->stream) (void)n->end_stream(u->stream);
  if (u->from) (void)n->free(u->from);
  if (u->to) (void)n->free(u->to);
}

static kmb_status repeat(nccl *n, const usual *u, size_t count, int times) {
  kmb_status status = KMB_OK;
  for (int i = 0; i < times && !status; i++)
    status = nccl_all_reduce(n, u->stream, (const void *)u->from, (void *)u->to,
                             count);
  return status;
}

static kmb_status usual_measure(nccl *n, const usual *u, kmb_comm *comm,
                                size_t count, int iterations, double *us) {
  double all[MOST_RANKS], sum = 0;
  float ms = 0;
  kmb_status status = repeat(n, u, count, 5);
  if (!status && n->wait(u->stream)) status = KMB_ERR_VENDOR;
  kmb_status met = kmb_comm_allgather(comm, NULL, NULL, 0); /* a barrier */
  if (!status) status = met;
  if (!status && n->record(u->events[0], u->stream)) status = KMB_ERR_VENDOR;
  if (!status) status = repeat(n, u, count, iterations);
  if (!status && n->record(u->events[1], u->stream)) status = KMB_ERR_VENDOR;
  if (!status &&
      (n->wait(u->stream) || n->elapsed(&ms, u->events[0], u->events[1])))
    status = KMB_ERR_VENDOR;
  double mine = (double)ms * 1e3 / iterations;
  met = kmb_comm_allgather(comm, &mine, all, sizeof mine);
  for (int r = 0; r < kmb_comm_size(comm); r++)
    sum += all[r];
  *us = sum / kmb_comm_size(comm);
  return status ? status : met;
}

kmb_status nccl_usual_time(nccl *n, kmb_comm *comm, size_t count,
                           int iterations, double *us) {
  usual u = {0, 0, NULL, {NULL, NULL}};
  kmb_status status = usual_open(n, &u, count * sizeof(float))
                          ? KMB_ERR_NOMEM
                          : usual_measure(n, &u, comm, count, iterations, us);
  usual_close(n, &u);
  return status;
}
