/* The part of RCCL's interface that is used, declared by us: the build needs no
 * RCCL, which calls itself NCCL. tests/hip/rccl_layout.c compares it with the
 * real header. */
#ifndef KMB_BACKENDS_HIP_RCCL_API_H
#define KMB_BACKENDS_HIP_RCCL_API_H

#include "hip_api.h"

#include <stdbool.h>

typedef struct ncclComm *kmbi_rccl_comm;
typedef unsigned kmbi_rccl_result; /* an enum */

enum {
  KMBI_RCCL_SUCCESS = 0,
  KMBI_RCCL_IN_PROGRESS = 7,
  KMBI_RCCL_FLOAT = 7,
  KMBI_RCCL_SUM = 0,
  /* The first version with this configuration: ROCm 6.0's. */
  KMBI_RCCL_OLDEST = 21800
};

typedef struct kmbi_rccl_id {
  char internal[128];
} kmbi_rccl_id;

/* As of KMBI_RCCL_OLDEST; later versions take it, by its size and version. */
typedef struct kmbi_rccl_config {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
  int cga_cluster_size;
  int min_ctas;
  int max_ctas;
  const char *net_name;
  int split_share;
  int traffic_class; /* later versions have it here */
} kmbi_rccl_config;

#define KMBI_RCCL_MAGIC 0xcafebeefu
#define KMBI_RCCL_UNDEFINED (-2147483647 - 1)

/* X(name, arguments) */
#define KMBI_RCCL_MAP(X)                                                     \
  X(ncclGetVersion, (int *version))                                          \
  X(ncclGetUniqueId, (kmbi_rccl_id * id))                                    \
  X(ncclCommInitRankConfig,                                                  \
    (kmbi_rccl_comm * comm, int ranks, kmbi_rccl_id id, int rank,            \
     kmbi_rccl_config *config))                                              \
  X(ncclCommGetAsyncError, (kmbi_rccl_comm comm, kmbi_rccl_result * result)) \
  X(ncclCommCount, (kmbi_rccl_comm comm, int *count))                        \
  X(ncclCommAbort, (kmbi_rccl_comm comm))                                    \
  X(ncclAllReduce,                                                           \
    (const void *from, void *to, size_t count, unsigned type,                \
     unsigned operation, kmbi_rccl_comm comm, kmbi_hip_stream stream))

typedef struct kmbi_rccl_api {
#define KMBI_RCCL_FIELD(name, arguments) kmbi_rccl_result(*name) arguments;
  KMBI_RCCL_MAP(KMBI_RCCL_FIELD)
#undef KMBI_RCCL_FIELD
  int version; /* 10000 × major + 100 × minor + patch */
} kmbi_rccl_api;

#endif
