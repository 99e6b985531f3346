/* Several ranks measure together: what the engine asks of the others, and what
 * it learns. Every rank runs the same steps on the same figures: samples are
 * the longest of all ranks, the time is rank 0's, and whatever can differ is
 * agreed on where it arises. So every decision falls the same everywhere.
 *
 * A measurement by one rank has no communicator; every function of one_rank.c
 * then gives back what it was given. */
#ifndef KMB_LIB_RANKS_H
#define KMB_LIB_RANKS_H

#include "comm.h"

#include <kmb/backend.h>

struct kmbi_run;
struct kmbi_round;

/* Parameters that are compared, by group. */
typedef enum kmbi_group {
  KMBI_GROUP_POINT,   /* name and axes */
  KMBI_GROUP_WAY,     /* timer, launch mode, cache state, flags */
  KMBI_GROUP_LIMITS,  /* counts and times */
  KMBI_GROUP_HOOKS,   /* which callbacks there are */
  KMBI_GROUP_BUFFERS, /* order and shapes */
  KMBI_GROUP_COMM,    /* barrier and what was declared */
  KMBI_GROUPS
} kmbi_group;

/* What a rank says when it enters. */
typedef struct kmbi_entrance {
  uint64_t host;                /* tells hosts apart */
  uint64_t hashes[KMBI_GROUPS]; /* of parameters */
  uint64_t flops, bytes;        /* of its work */
  char name[80], id[80];        /* of its device */
} kmbi_entrance;

_Static_assert(sizeof(kmbi_entrance) <= KMBI_COMM_PAYLOAD, "it fits a record");

typedef struct kmbi_rank_stats {
  double median_ns, min_ns, max_ns;
  uint64_t slowest;
} kmbi_rank_stats;

/* Samples that stand out by a millisecond. */
typedef struct kmbi_outliers {
  uint64_t count;
  size_t worst; /* sample, among those that are kept */
  double worst_ns;
  uint32_t rank; /* that was slowest in it */
} kmbi_outliers;

enum { KMBI_BARRIER_WHY = 256 };

typedef struct kmbi_ranks {
  kmb_comm *comm; /* NULL: one rank */
  uint32_t size, rank;
  uint32_t barriers; /* bits of those that all may have */
  uint64_t batch;    /* of the sample that is being taken */
  uint32_t stage;    /* of the engine, + 1 */
  bool holds;        /* the communicator, in use by us */
  bool entered;      /* so that the others wait for us at the end */
  /* The others know of a failure in this step: nothing more is exchanged. */
  kmb_status settled;
  char settled_text[200];
  bool failed;        /* within this sample, and everybody knows */
  bool cancelled;     /* some caller asked to stop */
  double clock_ns;    /* rank 0's time */
  double deadline_ns; /* of an exchange, if the usual one does not count */
  kmbi_entrance *entrances;
  uint32_t *nodes; /* by rank: number of its host, in order of first rank */
  uint32_t node_count;
  /* Spans of the samples of the latest block, sample by sample by rank; then
   * those of the round that is being taken, by place. */
  double *block;
  double *spans;
  size_t span_capacity; /* samples */
  double agreement_ns;  /* of samples, in all */
  uint64_t agreed;      /* samples */
  kmb_align align;
  kmb_barrier barrier;        /* in use; AUTO: not chosen yet */
  void *opened;               /* the backend's */
  char why[KMBI_BARRIER_WHY]; /* what is to be said of it */
  char unmeasured[192];       /* why its skew is not known */
  double skew_p50, skew_p99;
  bool has_skew;
} kmbi_ranks;

/* bench.c: at the beginning, with what the parameters came to; before that, if
 * the device cannot even be entered; at the end. */
kmb_status kmbi_ranks_enter(struct kmbi_run *run, kmb_status status);
void kmbi_ranks_refuse(const kmb_bench_params *caller, kmb_status status);
kmb_status kmbi_ranks_leave(struct kmbi_run *run, kmb_status status);
void kmbi_ranks_release(struct kmbi_run *run);
/* A step begins, and is over: the failure of any rank is everybody's. */
void kmbi_ranks_begin(struct kmbi_run *run, uint32_t stage);
kmb_status kmbi_ranks_step(struct kmbi_run *run, kmb_status status);

/* What all ranks came to: KMB_OK if all did. */
kmb_status kmbi_ranks_agree(struct kmbi_run *run, kmbi_say say,
                            kmb_status status);
/* Decisions are made on these. */
double kmbi_clock(struct kmbi_run *run);
bool kmbi_stopped(const struct kmbi_run *run);

/* Whether a way can be taken by aligned ranks. */
bool kmbi_ranks_serves(const struct kmbi_run *run, const kmb_choice *choice);
/* The ways, tick and last-level cache that all ranks have. */
kmb_status kmbi_ranks_choose(struct kmbi_run *run, kmb_status status);
/* The slots that all can have. */
kmb_status kmbi_ranks_cache(struct kmbi_run *run, kmb_status status);
/* The bias of all ranks. */
kmb_status kmbi_ranks_bias(struct kmbi_run *run, kmb_status status, double *ns,
                           double *uncertainty);

/* Chosen once, before anything is aligned. */
kmb_status kmbi_ranks_barrier(struct kmbi_run *run);
void kmbi_ranks_barrier_close(struct kmbi_run *run);

kmb_status kmbi_ranks_take(struct kmbi_run *run, void *plan, uint64_t batch,
                           uint64_t count, double until_ns, uint64_t *got);
/* A device did not end what needs every rank; `rank` is the one whose device
 * did not come, -1 if that is not known. Tells the others, and poisons: the
 * caller can then end its own collective. Returns the failure. */
kmb_status kmbi_ranks_overdue(void *run, int32_t rank);
/* How long work may take that needs every rank, and so long as what was reset
 * before it: until then, since a rank may signal another's memory. */
double kmbi_ranks_patience(const struct kmbi_run *run);
kmb_status kmbi_ranks_settle_stream(struct kmbi_run *run, kmb_status status);
/* Each slot once on plain launches, before anything is captured or gated. */
kmb_status kmbi_ranks_first_use(struct kmbi_run *run);
/* Keeps each rank's span of the block's sample `i` at `place`. */
kmb_status kmbi_ranks_keep(struct kmbi_run *run, uint64_t i, size_t place);
/* What the kept samples say of each rank. */
kmb_status kmbi_ranks_close(struct kmbi_run *run, struct kmbi_round *round);

void kmbi_ranks_set(struct kmbi_run *run, const struct kmbi_round *round);
void kmbi_ranks_find(struct kmbi_run *run, const struct kmbi_round *round,
                     double time_ns);

/* Several ranks: ranks*.c. */

/* kmbi_ranks_agree(), where each rank also gives `bytes` bytes. Those of rank r
 * are then at kmbi_ranks_given(run, r). `same` is what all must give alike; 0:
 * nothing.
 */
kmb_status kmbi_ranks_give(struct kmbi_run *run, kmbi_say say,
                           kmb_status status, const void *payload, size_t bytes,
                           uint64_t same);
const void *kmbi_ranks_given(const struct kmbi_run *run, uint32_t rank);
kmb_status kmbi_ranks_enqueued(void *run);
const char *kmbi_barrier_name(kmb_barrier barrier);

/* The same of several ranks, whose communicator brings it; kmbi_ranks_…() call
 * it, which say what each is for. */
typedef struct kmbi_ranks_ops {
  void (*refuse)(kmb_comm *comm, kmb_status status);
  kmb_status (*enter)(struct kmbi_run *run, kmb_status status);
  kmb_status (*step)(struct kmbi_run *run, kmb_status status);
  kmb_status (*leave)(struct kmbi_run *run, kmb_status status);
  void (*release)(struct kmbi_run *run);
  kmb_status (*barrier)(struct kmbi_run *run);
  void (*barrier_close)(struct kmbi_run *run);
  kmb_status (*agree)(struct kmbi_run *run, kmbi_say say, kmb_status status);
  kmb_status (*choose)(struct kmbi_run *run, kmb_status status);
  kmb_status (*cache)(struct kmbi_run *run, kmb_status status);
  kmb_status (*bias)(struct kmbi_run *run, kmb_status status, double *ns,
                     double *uncertainty);
  kmb_status (*first_use)(struct kmbi_run *run);
  double (*patience)(const struct kmbi_run *run);
  kmb_status (*settle_stream)(struct kmbi_run *run, kmb_status status);
  kmb_status (*take)(struct kmbi_run *run, void *plan, uint64_t batch,
                     uint64_t count, double until_ns, uint64_t *got);
  kmb_status (*overdue)(void *run, int32_t rank);
  kmb_status (*keep)(struct kmbi_run *run, uint64_t i, size_t place);
  kmb_status (*close)(struct kmbi_run *run, struct kmbi_round *round);
  void (*set)(struct kmbi_run *run, const struct kmbi_round *round);
  void (*find)(struct kmbi_run *run, const struct kmbi_round *round,
               double time_ns);
} kmbi_ranks_ops;

extern const kmbi_ranks_ops kmbi_all_ranks;
void kmbi_all_refuse(kmb_comm *comm, kmb_status status);
kmb_status kmbi_all_enter(struct kmbi_run *run, kmb_status status);
kmb_status kmbi_all_step(struct kmbi_run *run, kmb_status status);
kmb_status kmbi_all_leave(struct kmbi_run *run, kmb_status status);
void kmbi_all_release(struct kmbi_run *run);
kmb_status kmbi_all_barrier(struct kmbi_run *run);
void kmbi_all_barrier_close(struct kmbi_run *run);
kmb_status kmbi_all_agree(struct kmbi_run *run, kmbi_say say,
                          kmb_status status);
kmb_status kmbi_all_choose(struct kmbi_run *run, kmb_status status);
kmb_status kmbi_all_cache(struct kmbi_run *run, kmb_status status);
kmb_status kmbi_all_bias(struct kmbi_run *run, kmb_status status, double *ns,
                         double *uncertainty);
kmb_status kmbi_all_first_use(struct kmbi_run *run);
double kmbi_all_patience(const struct kmbi_run *run);
kmb_status kmbi_all_settle_stream(struct kmbi_run *run, kmb_status status);
kmb_status kmbi_all_take(struct kmbi_run *run, void *plan, uint64_t batch,
                         uint64_t count, double until_ns, uint64_t *got);
kmb_status kmbi_all_overdue(void *run, int32_t rank);
kmb_status kmbi_all_keep(struct kmbi_run *run, uint64_t i, size_t place);
kmb_status kmbi_all_close(struct kmbi_run *run, struct kmbi_round *round);
void kmbi_all_set(struct kmbi_run *run, const struct kmbi_round *round);
void kmbi_all_find(struct kmbi_run *run, const struct kmbi_round *round,
                   double time_ns);

#endif
