/* A barrier between the devices of several ranks: an all-reduce of one element
 * by RCCL, whose communicator is the caller's or one of our own. */
#ifndef KMB_BACKENDS_HIP_BARRIER_H
#define KMB_BACKENDS_HIP_BARRIER_H

#include "hip_backend.h"

typedef struct kmbi_hip_barrier {
  kmbi_hip *self;
  kmb_barrier_desc desc;
  const kmbi_rccl_api *rccl;
  kmbi_rccl_comm comm;
  void *one; /* element */
  char text[96];
} kmbi_hip_barrier;

/* barrier_rccl.c */
kmb_status kmbi_hip_rccl_open(kmbi_hip_barrier *b);
void kmbi_hip_rccl_close(kmbi_hip_barrier *b);
/* Tells the others the failure of a rank that cannot even begin to open. */
kmb_status kmbi_hip_rccl_refuse(const kmb_barrier_desc *desc,
                                kmb_status status);
/* Ends what runs in a communicator of ours, and the communicator. */
void kmbi_hip_rccl_rescue(kmbi_hip_barrier *b);
kmb_status kmbi_hip_rccl_enqueue(kmbi_hip_barrier *b, kmbi_hip_stream stream);

#endif
