/* Barriers between the devices of several ranks: what their files share. */
#ifndef KMB_BACKENDS_CUDA_BARRIER_H
#define KMB_BACKENDS_CUDA_BARRIER_H

#include "cuda_backend.h"

/* Bytes between two ranks' words: no two share a line. The ranks of a barrier
 * are threads of one block. */
enum { KMBI_CUDA_WORD = 128, KMBI_CUDA_RANKS = 256 };

/* Behind the gate's word in its page: how long before the last rank this one
 * came to a barrier that is timed, which peer did not come, a copy of a word.
 */
enum { KMBI_CUDA_EARLY = 64, KMBI_CUDA_BAD = 128, KMBI_CUDA_COPY = 192 };

typedef struct kmbi_cuda_peer {
  kmbi_cu_pointer words; /* in its memory, as mapped here */
  bool mapped;           /* by a handle, to be closed */
} kmbi_cuda_peer;

typedef struct kmbi_cuda_barrier {
  kmbi_cuda *self;
  kmb_barrier_desc desc;
  size_t size; /* of this struct with its peers */
  /* FLAG and STREAM; for NCCL, to judge it by */
  kmbi_cu_pointer table; /* of the peers' words, in device memory */
  uint32_t number;       /* of the latest barrier */
  /* NCCL */
  const kmbi_nccl_api *nccl;
  kmbi_nccl_comm comm;
  kmbi_cu_pointer one; /* element */
  bool judged;         /* every rank has words beside it */
  bool gated;          /* a gate holds up what is timed */
  char text[96];
  kmbi_cuda_peer peers[]; /* by rank */
} kmbi_cuda_barrier;

/* barrier_flags.c */
kmb_status kmbi_cuda_flags_open(kmbi_cuda_barrier *b);
void kmbi_cuda_flags_close(kmbi_cuda_barrier *b);
/* There is no memory for what the ranks tell each other. */
kmb_status kmbi_cuda_no_list(kmbi_cuda_barrier *b);
/* Tells the others the failure of a rank that cannot even begin to open. */
kmb_status kmbi_cuda_flags_refuse(const kmb_barrier_desc *desc,
                                  kmb_status status);
/* The number that `rank` wrote to us last; true if it cannot be read. */
bool kmbi_cuda_flags_word(const kmbi_cuda_barrier *b, uint32_t rank,
                          uint32_t *word);
/* `timed`: it stores how long before the last rank this one came. */
kmb_status kmbi_cuda_flags_launch(kmbi_cuda_barrier *b, kmbi_cu_stream stream,
                                  bool timed);
kmb_status kmbi_cuda_flags_stream(kmbi_cuda_barrier *b, kmbi_cu_stream stream);

/* barrier_nccl.c */
kmb_status kmbi_cuda_nccl_open(kmbi_cuda_barrier *b);
void kmbi_cuda_nccl_close(kmbi_cuda_barrier *b);
kmb_status kmbi_cuda_nccl_refuse(const kmb_barrier_desc *desc,
                                 kmb_status status);
/* Ends what runs in a communicator of ours, and the communicator. */
void kmbi_cuda_nccl_rescue(kmbi_cuda_barrier *b);
kmb_status kmbi_cuda_nccl_enqueue(kmbi_cuda_barrier *b, kmbi_cu_stream stream);

#endif
