/* What the example uses of NCCL and of the driver, both opened at run time: the
 * program builds without NVIDIA's SDK and starts without their libraries. */
#ifndef MPI_ALLREDUCE_NCCL_H
#define MPI_ALLREDUCE_NCCL_H

#include <kmb/comm.h>

typedef struct nccl nccl;

/* NULL if NCCL or the driver is absent; `why` then says so. */
nccl *nccl_open(const char **why);
/* Makes the communicator of all ranks on a device, whose primary context is
 * current from then on. */
kmb_status nccl_join(nccl *n, kmb_comm *comm, int device);
/* The same, but no call of NCCL's waits longer for other ranks than that: the
 * communicator is then ended. */
kmb_status nccl_join_within(nccl *n, kmb_comm *comm, int device,
                            double patience_s);
/* Ends the communicator without the other ranks, so that a device that waits in
 * it goes on. Does not wait: NCCL does, until no captured graph needs it. */
void nccl_abort(nccl *n);
void nccl_close(nccl *n);

/* to = the sum over ranks of from, `count` floats. */
kmb_status nccl_all_reduce(nccl *n, void *stream, const void *from, void *to,
                           size_t count);
/* to = this rank's `count` elements of the sum over ranks of from, which holds
 * as many for each rank, in bf16. */
kmb_status nccl_reduce_scatter_bf16(nccl *n, void *stream, const void *from,
                                    void *to, size_t count);
/* As NCCL gives it, 22809 for 2.28.9. */
int nccl_version(const nccl *n);

/* As nccl-tests does it: `iterations` all-reduces between two events, begun
 * after a barrier of the hosts; the mean of one, averaged over ranks. Memory of
 * its own. */
kmb_status nccl_usual_time(nccl *n, kmb_comm *comm, size_t count,
                           int iterations, double *us);

#endif
