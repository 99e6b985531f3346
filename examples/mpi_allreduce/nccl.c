#include "nccl.h"

#include <kmb/cuda.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Values of NCCL's interface. */
enum { FLOAT = 7, SUM = 0, MOST_RANKS = 64 };
typedef struct unique_id {
  char internal[128];
} unique_id;

struct nccl {
  int (*version)(int *version);
  int (*unique_id)(unique_id *id);
  int (*init)(void **comm, int ranks, unique_id id, int rank);
  int (*destroy)(void *comm);
  int (*all_reduce)(const void *from, void *to, size_t count, int type, int op,
                    void *comm, void *stream);
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
};

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
      resolve(library, "ncclCommInitRank", &n->init) &&
      resolve(library, "ncclCommDestroy", &n->destroy) &&
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

kmb_status nccl_join(nccl *n, kmb_comm *comm, int device) {
  static unique_id ids[MOST_RANKS];
  unique_id id;
  void *context = NULL;
  int ranks = kmb_comm_size(comm), rank = kmb_comm_rank(comm);
  memset(&id, 0, sizeof id);
  if (ranks > MOST_RANKS) return KMB_ERR_INVALID;
  if (n->retain(&context, device)) return KMB_ERR_UNAVAILABLE;
  n->device = device;
  n->retained = 1;
  if (n->make_current(context)) return KMB_ERR_UNAVAILABLE;
  int result = rank ? 0 : n->unique_id(&id);
  /* Every rank comes here, whatever failed: an id of zeros says so. */
  kmb_status status = kmb_comm_allgather(comm, &id, ids, sizeof id);
  if (result) return nccl_failed("ncclGetUniqueId", result);
  if (status) return status;
  result = n->init(&n->comm, ranks, ids[0], rank);
  return result ? nccl_failed("ncclCommInitRank", result) : KMB_OK;
}

void nccl_close(nccl *n) {
  if (n->comm) (void)n->destroy(n->comm);
  if (n->retained) (void)n->give_back(n->device);
  free(n);
}

kmb_status nccl_all_reduce(nccl *n, void *stream, const void *from, void *to,
                           size_t count) {
  int result = n->all_reduce(from, to, count, FLOAT, SUM, n->comm, stream);
  return result ? nccl_failed("ncclAllReduce", result) : KMB_OK;
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
