/* The part of NCCL's interface that is used, declared by us: the build needs no
 * NCCL. tests/cuda/nccl_layout.c compares it with the real header. */
#ifndef KMB_BACKENDS_CUDA_NCCL_API_H
#define KMB_BACKENDS_CUDA_NCCL_API_H

#include "driver_api.h"

#include <stdbool.h>

typedef struct ncclComm *kmbi_nccl_comm;
typedef unsigned kmbi_nccl_result; /* an enum */

enum {
  KMBI_NCCL_SUCCESS = 0,
  KMBI_NCCL_IN_PROGRESS = 7,
  KMBI_NCCL_FLOAT = 7,
  KMBI_NCCL_SUM = 0,
  /* The first version with this configuration. */
  KMBI_NCCL_OLDEST = 21800
};

typedef struct kmbi_nccl_id {
  char internal[128];
} kmbi_nccl_id;

/* As of KMBI_NCCL_OLDEST; later versions take it, by its size and version. */
typedef struct kmbi_nccl_config {
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
} kmbi_nccl_config;

#define KMBI_NCCL_MAGIC 0xcafebeefu
#define KMBI_NCCL_UNDEFINED (-2147483647 - 1)

/* X(name, arguments) */
#define KMBI_NCCL_MAP(X)                                                     \
  X(ncclGetVersion, (int *version))                                          \
  X(ncclGetUniqueId, (kmbi_nccl_id * id))                                    \
  X(ncclCommInitRankConfig,                                                  \
    (kmbi_nccl_comm * comm, int ranks, kmbi_nccl_id id, int rank,            \
     kmbi_nccl_config *config))                                              \
  X(ncclCommGetAsyncError, (kmbi_nccl_comm comm, kmbi_nccl_result * result)) \
  X(ncclCommCount, (kmbi_nccl_comm comm, int *count))                        \
  X(ncclCommAbort, (kmbi_nccl_comm comm))                                    \
  X(ncclAllReduce,                                                           \
    (const void *from, void *to, size_t count, unsigned type,                \
     unsigned operation, kmbi_nccl_comm comm, kmbi_cu_stream stream))

typedef struct kmbi_nccl_api {
#define KMBI_NCCL_FIELD(name, arguments) kmbi_nccl_result(*name) arguments;
  KMBI_NCCL_MAP(KMBI_NCCL_FIELD)
#undef KMBI_NCCL_FIELD
  bool set;    /* NCCL_NVLS_ENABLE, by us */
  int version; /* 10000 × major + 100 × minor + patch */
} kmbi_nccl_api;

#endif
