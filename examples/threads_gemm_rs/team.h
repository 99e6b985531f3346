/* Ranks that are threads, and what they measure: on the host's cores (host.c)
 * or on GPUs (cuda.c). */
#ifndef THREADS_GEMM_RS_TEAM_H
#define THREADS_GEMM_RS_TEAM_H

#include <kmb/kmb.h>

#include <pthread.h>

enum { MOST_RANKS = 64 };
/* How long a rank waits in a collective for one that does not come. */
#ifndef PATIENCE_S
#define PATIENCE_S 20.0
#endif

/* What is measured: the product, the reduce-scatter, one after the other. */
typedef enum stage { PRODUCT, SCATTER, WHOLE, STAGES } stage;

struct team;

typedef struct member {
  struct team *team;
  kmb_comm *comm;
  kmb_device *device;
  kmb_result *results[STAGES];
  pthread_t thread;
  int rank;
  kmb_status status;
} member;

/* Where it runs. */
typedef struct variant {
  const char *name;
  int most_ranks;
  size_t size;         /* of the matrices, unless another is asked for */
  size_t multiple;     /* of it, and of the number of ranks */
  size_t most_checked; /* of a rank's elements */
  kmb_dtype dtype;
  kmb_cache_state cache;
  double tolerance; /* 0: exact; 1: errors are in units of what is allowed */
  double max_wall_ns;
  int b_by_columns; /* how b lies in memory */
  /* Before there are threads: NULL, or why nothing can be measured. */
  const char *(*prepare)(struct team *t, kmb_comm_params *p);
  kmb_status (*open)(member *m); /* the device */
  kmb_status (*join)(member *m); /* once all ranks have one; may be NULL */
  kmb_status (*setup)(member *m);
  /* part = a · b, this rank's share of the inner dimension. */
  kmb_status (*multiply)(member *m, void *stream, const void *a, const void *b,
                         void *part);
  /* out = this rank's rows of the sum of everybody's part. */
  kmb_status (*scatter)(member *m, void *stream, const void *part, void *out);
  void (*close)(member *m); /* may be NULL */
} variant;

typedef struct team {
  const variant *v;
  int ranks;
  size_t size;  /* rows, columns and inner dimension */
  size_t share; /* of the inner dimension, and rows of the sum, of a rank */
  member members[MOST_RANKS];
} team;

extern const variant on_host, on_cuda;

/* One rank's measurement of one of them. */
kmb_status measure_stage(member *m, stage what);

#endif
