/**
 * @file mpi.h
 * A communicator of an MPI communicator. Everything is inline: libkmb links no
 * MPI, and one build of it serves Open MPI and MPICH, whose binary interfaces
 * differ. The program includes its MPI's own header before this one, which
 * kmb.h does not include.
 */
#ifndef KMB_MPI_H
#define KMB_MPI_H

#ifndef MPI_VERSION
#error "include <mpi.h>, of the MPI that the program links, before <kmb/mpi.h>"
#endif

#include <kmb/comm.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup mpi MPI
 *  An exchange is a message from each rank to each other one, so that a rank
 *  that does not come can be named; a collective of MPI's cannot tell. Records
 *  that are under way when the communicator is poisoned are left to MPI: end
 *  with MPI_Abort() then, since MPI_Finalize() would wait for the rank that is
 *  missed.
 *
 *  MPI is called on the thread that calls kmb_bench(); if several threads of a
 *  process are ranks, MPI_THREAD_MULTIPLE is needed.
 *  @{ */

#define KMB_MPI_TAG 1
#define KMB_MPI_TAG_ABORT 2

/* One rank; what messages use lives here. */
struct kmb_mpi_rank {
  unsigned char *send;    /* a record */
  unsigned char *receive; /* a record of each rank */
  MPI_Request *requests;  /* sends, then receives, by rank */
  int *pending;           /* of those, whether they are under way */
  unsigned char *target;  /* where the caller wants it */
  int abort_note;
  int rank;
  int size;
  int lost; /* messages are under way that will not end */
  char name[96];
  MPI_Comm comm;
};

static inline void kmb_mpi_free(struct kmb_mpi_rank *m) {
  free(m->send);
  free(m->receive);
  free(m->requests);
  free(m->pending);
  free(m);
}

static inline kmb_status kmb_mpi_status(int error) {
  return error == MPI_SUCCESS ? KMB_OK : KMB_ERR_IO;
}

static inline kmb_status kmb_mpi_start(void *ctx, const void *send,
                                       void *receive, size_t bytes,
                                       void **request) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)ctx;
  int error = MPI_SUCCESS;
  int r;
  *request = m;
  if (bytes != KMB_COMM_RECORD || m->lost) return KMB_ERR_INTERNAL;
  m->target = (unsigned char *)receive;
  memcpy(m->send, send, bytes);
  memcpy(m->receive + (size_t)m->rank * bytes, send, bytes);
  for (r = 0; r < m->size && error == MPI_SUCCESS; r++) {
    if (r == m->rank) continue;
    error = MPI_Irecv(m->receive + (size_t)r * bytes, (int)bytes, MPI_BYTE, r,
                      KMB_MPI_TAG, m->comm, &m->requests[m->size + r]);
    if (error == MPI_SUCCESS) m->pending[m->size + r] = 1;
  }
  for (r = 0; r < m->size && error == MPI_SUCCESS; r++) {
    if (r == m->rank) continue;
    error = MPI_Isend(m->send, (int)bytes, MPI_BYTE, r, KMB_MPI_TAG, m->comm,
                      &m->requests[r]);
    if (error == MPI_SUCCESS) m->pending[r] = 1;
  }
  if (error != MPI_SUCCESS) m->lost = 1;
  return kmb_mpi_status(error);
}

/* Whether some rank has said that it gives up. */
static inline kmb_status kmb_mpi_look(struct kmb_mpi_rank *m) {
  int there = 0;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, KMB_MPI_TAG_ABORT, m->comm, &there,
                         MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS) return KMB_ERR_IO;
  return there ? KMB_ERR_LOST : KMB_OK;
}

static inline kmb_status kmb_mpi_test(void *ctx, void *request, int32_t *done) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)ctx;
  int left = 0;
  int i;
  (void)request;
  for (i = 0; i < 2 * m->size; i++) {
    int over = 0;
    if (!m->pending[i]) continue;
    if (MPI_Test(&m->requests[i], &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return KMB_ERR_IO;
    if (over) m->pending[i] = 0;
    left += !over;
  }
  *done = !left;
  if (left) return kmb_mpi_look(m);
  memcpy(m->target, m->receive, (size_t)m->size * KMB_COMM_RECORD);
  return KMB_OK;
}

static inline void kmb_mpi_release(void *ctx, void *request) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)ctx;
  int i;
  (void)request;
  for (i = 0; i < 2 * m->size; i++) {
    if (!m->pending[i]) continue;
    m->lost = 1;
    if (i >= m->size) (void)MPI_Cancel(&m->requests[i]);
  }
}

static inline kmb_status kmb_mpi_arrived(void *ctx, void *request, int32_t rank,
                                         int32_t *yes) {
  const struct kmb_mpi_rank *m = (const struct kmb_mpi_rank *)ctx;
  (void)request;
  *yes = !m->pending[m->size + rank];
  return KMB_OK;
}

static inline void kmb_mpi_abort(void *ctx, kmb_status why,
                                 const char *message) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)ctx;
  int r;
  (void)message;
  m->abort_note = (int)why;
  m->lost = 1;
  for (r = 0; r < m->size; r++) {
    MPI_Request note;
    if (r == m->rank) continue;
    if (MPI_Isend(&m->abort_note, 1, MPI_INT, r, KMB_MPI_TAG_ABORT, m->comm,
                  &note) == MPI_SUCCESS)
      (void)MPI_Request_free(&note);
  }
}

/* Memory that a message may still come to is left to it. */
static inline void kmb_mpi_close(void *ctx) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)ctx;
  int over = 0;
  if (m->lost) return;
  if (MPI_Finalized(&over) == MPI_SUCCESS && !over)
    (void)MPI_Comm_free(&m->comm);
  kmb_mpi_free(m);
}

/* Duplicates `mpi`, so that no message of the caller's is mixed in. */
static inline kmb_status kmb_mpi_duplicate(MPI_Comm mpi, double limit_ns,
                                           MPI_Comm *copy) {
  double until = MPI_Wtime() + limit_ns / 1e9;
  MPI_Request request;
  int over = 0;
  if (MPI_Comm_idup(mpi, copy, &request) != MPI_SUCCESS) return KMB_ERR_IO;
  while (!over) {
    if (MPI_Test(&request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return KMB_ERR_IO;
    if (!over && MPI_Wtime() > until) return KMB_ERR_TIMEOUT;
  }
  return kmb_mpi_status(MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN));
}

static inline void kmb_mpi_describe(struct kmb_mpi_rank *m) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(version, &length) != MPI_SUCCESS) length = 0;
  version[length < (int)sizeof version ? length : 0] = '\0';
  version[strcspn(version, ",\n")] = '\0';
  snprintf(m->name, sizeof m->name, "MPI (%.80s)", version);
  for (length = 0; m->name[length]; length++)
    if (m->name[length] == '\t') m->name[length] = ' ';
}

static inline struct kmb_mpi_rank *kmb_mpi_make(MPI_Comm mpi) {
  struct kmb_mpi_rank *m = (struct kmb_mpi_rank *)calloc(1, sizeof *m);
  if (!m) return NULL;
  if (MPI_Comm_rank(mpi, &m->rank) != MPI_SUCCESS ||
      MPI_Comm_size(mpi, &m->size) != MPI_SUCCESS) {
    m->size = 0;
    return m;
  }
  size_t size = (size_t)m->size;
  m->send = (unsigned char *)malloc(KMB_COMM_RECORD);
  m->receive = (unsigned char *)malloc(size * KMB_COMM_RECORD);
  m->requests = (MPI_Request *)calloc(2 * size, sizeof(MPI_Request));
  m->pending = (int *)calloc(2 * size, sizeof *m->pending);
  if (m->send && m->receive && m->requests && m->pending) return m;
  kmb_mpi_free(m);
  return NULL;
}

/** Makes a communicator of `mpi`, which is duplicated and stays the caller's.
 *  Every rank of `mpi` calls it. MPI must have been initialised.
 *  @return KMB_OK; KMB_ERR_INVALID before MPI_Init() or after MPI_Finalize();
 *  KMB_ERR_TIMEOUT if a rank does not call it within the longer deadline;
 *  KMB_ERR_IO if MPI fails; KMB_ERR_NOMEM; or what kmb_comm_create() returned.
 *  `*comm` is ended with kmb_comm_destroy(), before MPI_Finalize(). */
static inline kmb_status kmb_mpi_comm_create(MPI_Comm mpi,
                                             const kmb_comm_params *params,
                                             kmb_comm **comm) {
  kmb_comm_ops ops = kmb_comm_ops_init();
  double limit = params ? params->first_deadline_ns : 0;
  int begun = 0;
  int over = 0;
  if (!comm) return KMB_ERR_INVALID;
  *comm = NULL;
  if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun ||
      MPI_Finalized(&over) != MPI_SUCCESS || over)
    return KMB_ERR_INVALID;
  struct kmb_mpi_rank *m = kmb_mpi_make(mpi);
  if (!m) return KMB_ERR_NOMEM;
  kmb_status status = m->size ? KMB_OK : KMB_ERR_IO;
  if (!status)
    status = kmb_mpi_duplicate(mpi, limit > 0 ? limit : 120e9, &m->comm);
  if (status) {
    /* MPI may still write to what it was told. */
    if (status != KMB_ERR_TIMEOUT) kmb_mpi_free(m);
    return status;
  }
  kmb_mpi_describe(m);
  ops.ctx = m;
  ops.start = kmb_mpi_start;
  ops.test = kmb_mpi_test;
  ops.release = kmb_mpi_release;
  ops.arrived = kmb_mpi_arrived;
  ops.abort = kmb_mpi_abort;
  ops.close = kmb_mpi_close;
  ops.name = m->name;
  ops.rank = m->rank;
  ops.size = m->size;
  status = kmb_comm_create(&ops, params, comm);
  if (status) kmb_mpi_close(m);
  return status;
}

/** @} */

#ifdef __cplusplus
}
#endif

#endif
