/* The ranks are GPUs, each with a thread and a stream: cuBLAS and NCCL. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cuda_gemm/blas.h"
#include "../mpi_allreduce/nccl.h"
#include "team.h"

typedef struct tools {
  blas *blas;
  nccl *nccl;
} tools;

static tools all[MOST_RANKS];
static char collective[32];
/* Whoever a thread is: libkmb calls abort_rank() on the rank's own. */
static _Thread_local member *self;

/* What waits in a collective on this rank's device is let go. */
static void abort_rank(void *user, kmb_status why, const char *message) {
  (void)user;
  (void)why;
  (void)message;
  if (self) nccl_abort(all[self->rank].nccl);
}

/* NCCL reads the variable once a process: NVLink multicast stays off. */
static const char *prepare(team *t, kmb_comm_params *p) {
  const char *why = NULL;
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  for (int r = 0; !why && r < t->ranks; r++) {
    all[r].blas = blas_open(&why);
    if (all[r].blas) all[r].nccl = nccl_open(&why);
    if (all[r].nccl) why = NULL;
  }
  for (int r = 0; why && r < t->ranks; r++) {
    blas_close(all[r].blas);
    if (all[r].nccl) nccl_close(all[r].nccl);
    all[r] = (tools){NULL, NULL};
  }
  if (why) return why;
  int version = nccl_version(all[0].nccl);
  snprintf(collective, sizeof collective, "NCCL %d.%d.%d", version / 10000,
           version / 100 % 100, version % 100);
  p->collective = collective;
  p->multicast = KMB_MULTICAST_OFF;
  p->abort = abort_rank;
  /* Longer than NCCL's, so that who waits in NCCL can tell. */
  p->deadline_ns = p->first_deadline_ns = 1.5e9 * PATIENCE_S;
  return NULL;
}

static kmb_status open_gpu(member *m) {
  char name[16];
  self = m;
  snprintf(name, sizeof name, "cuda:%d", m->rank);
  return kmb_device_open(name, NULL, &m->device);
}

static kmb_status join(member *m) {
  return nccl_join_within(all[m->rank].nccl, m->comm, m->rank, PATIENCE_S);
}

static kmb_status setup(member *m) {
  return blas_prepare(all[m->rank].blas);
}

static kmb_status multiply(member *m, void *stream, const void *a,
                           const void *b, void *part) {
  const team *t = m->team;
  int size = (int)t->size;
  return blas_project(all[m->rank].blas, stream, b, a, part, size,
                      (int)t->share, size);
}

static kmb_status scatter(member *m, void *stream, const void *part,
                          void *out) {
  const team *t = m->team;
  return nccl_reduce_scatter_bf16(all[m->rank].nccl, stream, part, out,
                                  t->share * t->size);
}

static void close_gpu(member *m) {
  blas_close(all[m->rank].blas);
  nccl_close(all[m->rank].nccl);
  self = NULL;
}

const variant on_cuda = {.name = "cuda",
                         .most_ranks = MOST_RANKS,
                         .size = 8192,
                         .multiple = 64,
                         .most_checked = 4096,
                         .dtype = KMB_BF16,
                         .cache = KMB_CACHE_COLD,
                         .tolerance = 1,
                         .max_wall_ns = 1e9,
                         .b_by_columns = 1,
                         .prepare = prepare,
                         .open = open_gpu,
                         .join = join,
                         .setup = setup,
                         .multiply = multiply,
                         .scatter = scatter,
                         .close = close_gpu};
