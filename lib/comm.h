/* Communicators: exchanges of fixed records in lockstep, each with a deadline.
 * What the records mean to a measurement is in ranks.h. */
#ifndef KMB_LIB_COMM_H
#define KMB_LIB_COMM_H

#include "memory.h"

#include <kmb/comm.h>

#include <stdatomic.h>
#include <sys/types.h>

/* What a rank has come to. Ranks whose kinds differ have parted. */
typedef enum kmbi_say {
  KMBI_SAY_DATA = 1, /* kmb_comm_allgather() */
  KMBI_SAY_ENTER,    /* kmb_bench() begins */
  KMBI_SAY_WAYS,     /* how could it be measured? */
  KMBI_SAY_CACHE,    /* can the cache state be had, with how many slots? */
  KMBI_SAY_PLAN,     /* was the plan made? */
  KMBI_SAY_READY,    /* may something run that needs every rank? */
  KMBI_SAY_ENQUEUED, /* a sample waits behind its gate */
  KMBI_SAY_SAMPLE,   /* it was taken */
  KMBI_SAY_BARRIER, /* of making a barrier, or of one that hosts take part in */
  KMBI_SAY_BIAS,    /* of a timer */
  KMBI_SAY_STEP,    /* a step is over */
  KMBI_SAY_LEAVE    /* kmb_bench() returns */
} kmbi_say;

enum { KMBI_COMM_PAYLOAD = 256, KMBI_COMM_TEXT = 184, KMBI_COMM_MOST = 4096 };

typedef struct kmbi_record {
  uint64_t magic;    /* also says which layout this is */
  uint64_t sequence; /* of the exchange */
  uint64_t same;     /* what every rank must have the same */
  double now_ns;     /* by the rank's device */
  uint32_t say;      /* kmbi_say */
  uint32_t stage;    /* of the engine, + 1; 0: outside */
  kmb_status status;
  uint32_t cancelled; /* the caller asked to stop */
  uint64_t reserved[3];
  unsigned char payload[KMBI_COMM_PAYLOAD];
  char message[KMBI_COMM_TEXT]; /* if status */
} kmbi_record;

_Static_assert(sizeof(kmbi_record) == KMB_COMM_RECORD,
               "a record has the size that communicators are told");

struct kmb_comm {
  kmbi_memory memory;
  kmbi_arena arena; /* strings */
  kmb_comm_ops ops;
  kmb_comm_params params; /* complete */
  /* What measures with several ranks: only who makes a communicator links it.
   */
  const struct kmbi_ranks_ops *ranks;
  kmbi_record *heard; /* of the latest exchange, by rank */
  kmbi_record mine;
  uint32_t *stages; /* where each rank was heard of last */
  uint64_t sequence;
  uint32_t crowded; /* exchanges for which cores count as taken by others */
  atomic_int busy;
  pid_t pid;
  kmb_status poison; /* KMB_OK: of use */
  char poisoned[256];
};

/* Takes the communicator for a call; `what` names it. */
kmb_status kmbi_comm_enter(kmb_comm *comm, const char *what);
void kmbi_comm_leave(kmb_comm *comm);
/* Gives comm->mine, whose magic and sequence are filled in, and fills
 * comm->heard. Fails if a rank is missed or out of step; that poisons. */
kmb_status kmbi_comm_exchange(kmb_comm *comm, double deadline_ns);
/* Makes it unusable, tells the other ranks, and returns the failure. */
kmb_status kmbi_comm_poison(kmb_comm *comm, kmb_status status,
                            const char *format, ...) KMB_PRINTF(3, 4);
/* Name of a stage in a record. */
const char *kmbi_comm_stage(uint32_t stage);

/* kmb_comm_create() for adapters of the library: `params` are complete. */
kmb_status kmbi_comm_params(const kmb_comm_params *caller,
                            kmb_comm_params *params, kmbi_memory *memory);
kmb_status kmbi_comm_make(const kmb_comm_ops *ops,
                          const kmb_comm_params *params,
                          const kmbi_memory *memory, kmb_comm **comm);

#endif
