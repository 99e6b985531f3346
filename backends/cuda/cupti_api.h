/* The part of CUPTI's activity interface that is used, declared by us.
 * tests/cuda/layout.c compares it with the real headers.
 *
 * Records are read through prefixes: every field here lies at the same offset
 * in all versions of a record since CUDA 11. They are walked by CUPTI itself,
 * never by their size. */
#ifndef KMB_BACKENDS_CUDA_CUPTI_API_H
#define KMB_BACKENDS_CUDA_CUPTI_API_H

#include "driver_api.h"

typedef unsigned kmbi_cupti_result;
typedef unsigned kmbi_cupti_enum;
struct CUpti_Subscriber_st;
typedef struct CUpti_Subscriber_st *kmbi_cupti_subscriber;

/* X(name, value, status): results that are told apart. */
#define KMBI_CUPTI_RESULT_MAP(X)                                   \
  X(NOT_INITIALIZED, 15, KMB_ERR_UNAVAILABLE)                      \
  X(INVALID_METRIC_NAME, 17, KMB_ERR_INVALID)                      \
  X(HARDWARE_BUSY, 26, KMB_ERR_BUSY)                               \
  X(NOT_SUPPORTED, 27, KMB_ERR_UNSUPPORTED)                        \
  X(VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33, KMB_ERR_UNSUPPORTED)     \
  X(INSUFFICIENT_PRIVILEGES, 35, KMB_ERR_PERM)                     \
  X(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39, KMB_ERR_BUSY)          \
  X(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40, KMB_ERR_PERM)  \
  X(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41, KMB_ERR_UNSUPPORTED) \
  X(CMP_DEVICE_NOT_SUPPORTED, 42, KMB_ERR_UNSUPPORTED)             \
  X(MIG_DEVICE_NOT_SUPPORTED, 43, KMB_ERR_UNSUPPORTED)             \
  X(SLI_DEVICE_NOT_SUPPORTED, 44, KMB_ERR_UNSUPPORTED)             \
  X(WSL_DEVICE_NOT_SUPPORTED, 45, KMB_ERR_UNSUPPORTED)             \
  X(INVALID_CHIP_NAME, 46, KMB_ERR_UNSUPPORTED)                    \
  X(UNKNOWN, 999, KMB_ERR_UNAVAILABLE)

enum {
  KMBI_CUPTI_SUCCESS = 0,
  KMBI_CUPTI_MAX_LIMIT_REACHED = 12,
#define KMBI_CUPTI_RESULT_ENUM(name, value, status) KMBI_CUPTI_##name = (value),
  KMBI_CUPTI_RESULT_MAP(KMBI_CUPTI_RESULT_ENUM)
#undef KMBI_CUPTI_RESULT_ENUM
};

/* Kinds of records: X(name, value). */
#define KMBI_CUPTI_KIND_MAP(X) \
  X(MEMCPY, 1)                 \
  X(MEMSET, 2)                 \
  X(KERNEL, 3)                 \
  X(DRIVER, 4)                 \
  X(RUNTIME, 5)                \
  X(CONCURRENT_KERNEL, 10)     \
  X(MEMCPY2, 22)               \
  X(EXTERNAL_CORRELATION, 39)

enum {
#define KMBI_CUPTI_KIND_ENUM(name, value) KMBI_CUPTI_KIND_##name = (value),
  KMBI_CUPTI_KIND_MAP(KMBI_CUPTI_KIND_ENUM)
#undef KMBI_CUPTI_KIND_ENUM
};

enum {
  KMBI_CUPTI_EXTERNAL_CUSTOM2 = 5, /* others use the first two */
  KMBI_CUPTI_FLUSH_FORCED = 1,
  KMBI_CUPTI_DOMAIN_DRIVER = 1,
  KMBI_CUPTI_DOMAIN_RUNTIME = 2,
  KMBI_CUPTI_DOMAIN_RESOURCE = 3,
  KMBI_CUPTI_MODULE_LOADED = 6,
  KMBI_CUPTI_MODULE_UNLOAD = 7,
  KMBI_CUPTI_CALL_ENTER = 0
};

/* What a copy goes from and to: X(name, value, text); an A is an array. */
#define KMBI_CUPTI_COPY_MAP(X)   \
  X(HTOD, 1, "Host-to-Device")   \
  X(DTOH, 2, "Device-to-Host")   \
  X(HTOA, 3, "Host-to-Array")    \
  X(ATOH, 4, "Array-to-Host")    \
  X(ATOA, 5, "Array-to-Array")   \
  X(ATOD, 6, "Array-to-Device")  \
  X(DTOA, 7, "Device-to-Array")  \
  X(DTOD, 8, "Device-to-Device") \
  X(HTOH, 9, "Host-to-Host")     \
  X(PTOP, 10, "Peer-to-Peer")

/* Calls that start device work; without their record an operation cannot be
 * told from others'. X(name, callback id). */
#define KMBI_CUPTI_DRIVER_CALLS(X)       \
  X(cuMemcpy2DAsync_v2, 289)             \
  X(cuMemcpy3DAsync_v2, 291)             \
  X(cuMemcpyHtoDAsync_v2, 277)           \
  X(cuMemcpyDtoHAsync_v2, 279)           \
  X(cuMemcpyDtoDAsync_v2, 281)           \
  X(cuMemcpyAsync, 306)                  \
  X(cuMemcpyPeerAsync, 319)              \
  X(cuMemcpy3DPeerAsync, 321)            \
  X(cuMemsetD8Async, 216)                \
  X(cuMemsetD16Async, 218)               \
  X(cuMemsetD32Async, 220)               \
  X(cuMemsetD2D8Async, 222)              \
  X(cuMemsetD2D16Async, 224)             \
  X(cuMemsetD2D32Async, 226)             \
  X(cuMemcpyAsync_ptsz, 418)             \
  X(cuMemcpyHtoDAsync_v2_ptsz, 421)      \
  X(cuMemcpyDtoHAsync_v2_ptsz, 422)      \
  X(cuMemcpyDtoDAsync_v2_ptsz, 423)      \
  X(cuMemcpy2DAsync_v2_ptsz, 424)        \
  X(cuMemcpy3DAsync_v2_ptsz, 425)        \
  X(cuMemcpyPeerAsync_ptsz, 426)         \
  X(cuMemcpy3DPeerAsync_ptsz, 427)       \
  X(cuMemsetD8Async_ptsz, 428)           \
  X(cuMemsetD16Async_ptsz, 429)          \
  X(cuMemsetD32Async_ptsz, 430)          \
  X(cuMemsetD2D8Async_ptsz, 431)         \
  X(cuMemsetD2D16Async_ptsz, 432)        \
  X(cuMemsetD2D32Async_ptsz, 433)        \
  X(cuLaunchKernel, 307)                 \
  X(cuLaunchKernel_ptsz, 442)            \
  X(cuLaunchCooperativeKernel, 477)      \
  X(cuLaunchCooperativeKernel_ptsz, 478) \
  X(cuGraphLaunch, 514)                  \
  X(cuGraphLaunch_ptsz, 515)             \
  X(cuLaunchKernelEx, 652)               \
  X(cuLaunchKernelEx_ptsz, 653)

#define KMBI_CUPTI_RUNTIME_CALLS(X)              \
  X(cudaMemcpyAsync_v3020, 41)                   \
  X(cudaMemcpy2DAsync_v3020, 44)                 \
  X(cudaMemsetAsync_v3020, 51)                   \
  X(cudaMemset2DAsync_v3020, 52)                 \
  X(cudaMemset3DAsync_v3020, 143)                \
  X(cudaMemcpy3DAsync_v3020, 145)                \
  X(cudaMemcpyPeerAsync_v4000, 161)              \
  X(cudaMemcpy3DPeerAsync_v4000, 163)            \
  X(cudaLaunchKernel_v7000, 211)                 \
  X(cudaLaunchKernel_ptsz_v7000, 214)            \
  X(cudaMemcpyAsync_ptsz_v7000, 225)             \
  X(cudaMemcpy2DAsync_ptsz_v7000, 228)           \
  X(cudaMemsetAsync_ptsz_v7000, 235)             \
  X(cudaMemset2DAsync_ptsz_v7000, 236)           \
  X(cudaMemset3DAsync_ptsz_v7000, 244)           \
  X(cudaMemcpy3DAsync_ptsz_v7000, 246)           \
  X(cudaMemcpy3DPeerAsync_ptsz_v7000, 250)       \
  X(cudaLaunchCooperativeKernel_v9000, 269)      \
  X(cudaLaunchCooperativeKernel_ptsz_v9000, 270) \
  X(cudaGraphLaunch_v10000, 311)                 \
  X(cudaGraphLaunch_ptsz_v10000, 312)            \
  X(cudaLaunchKernelExC_v11060, 430)             \
  X(cudaLaunchKernelExC_ptsz_v11060, 431)

enum {
#define KMBI_CUPTI_COPY_ENUM(name, value, text) \
  KMBI_CUPTI_COPY_##name = (value),
  KMBI_CUPTI_COPY_MAP(KMBI_CUPTI_COPY_ENUM)
#undef KMBI_CUPTI_COPY_ENUM
};

/* Calls that launch kernels, by how their parameters are read; and graphs. */
#define KMBI_CUPTI_LAUNCH_CALLS(X)              \
  X(cuLaunchKernel, 307, PLAIN)                 \
  X(cuLaunchKernel_ptsz, 442, PLAIN)            \
  X(cuLaunchCooperativeKernel, 477, PLAIN)      \
  X(cuLaunchCooperativeKernel_ptsz, 478, PLAIN) \
  X(cuLaunchKernelEx, 652, CONFIG)              \
  X(cuLaunchKernelEx_ptsz, 653, CONFIG)         \
  X(cuGraphLaunch, 514, GRAPH)                  \
  X(cuGraphLaunch_ptsz, 515, GRAPH)

/* What callbacks are given. */
typedef struct kmbi_cupti_called { /* of a call */
  kmbi_cupti_enum site;
  const char *function;
  const void *parameters;
  void *returned;
  const char *symbol; /* of a launch: the kernel's name */
  kmbi_cu_context context;
} kmbi_cupti_called;

typedef struct kmbi_cupti_resource {
  kmbi_cu_context context;
  void *handle;
  void *described;
} kmbi_cupti_resource;

typedef struct kmbi_cupti_module {
  uint32_t id;
  size_t size;
  const char *image;
} kmbi_cupti_module;

/* Beginnings of launches' parameters. */
typedef struct kmbi_cupti_launch_plain {
  kmbi_cu_function function;
  unsigned grid[3], block[3];
  unsigned shared;
} kmbi_cupti_launch_plain;

typedef struct kmbi_cupti_launch_config {
  const struct kmbi_cupti_config {
    unsigned grid[3], block[3];
    unsigned shared;
  } * config;
  kmbi_cu_function function;
} kmbi_cupti_launch_config;

/* Prefixes of records. */
typedef struct kmbi_cupti_kernel {
  uint32_t kind;
  uint8_t unused_0[2];
  uint16_t registers;
  uint8_t unused_1[8];
  uint64_t start, end;
  uint64_t unused_2;
  uint32_t device, context, stream;
  int32_t grid_x, grid_y, grid_z;
  int32_t block_x, block_y, block_z;
  int32_t static_shared, dynamic_shared;
  uint32_t local;
  uint32_t unused_3;
  uint32_t correlation;
  uint8_t unused_4[8];
  const char *name;
} kmbi_cupti_kernel;

typedef struct kmbi_cupti_copy { /* memcpy, also from device to device */
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t unused_0[3];
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t correlation; /* of kind MEMCPY alone */
} kmbi_cupti_copy;

typedef struct kmbi_cupti_peer {
  uint32_t kind;
  uint32_t unused_0;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint8_t unused_1[16];
  uint32_t correlation;
} kmbi_cupti_peer;

typedef struct kmbi_cupti_set {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
} kmbi_cupti_set;

typedef struct kmbi_cupti_call { /* of the driver or the runtime */
  uint32_t kind;
  uint32_t id;
  uint64_t start, end;
  uint32_t process, thread, correlation;
  uint32_t result;
} kmbi_cupti_call;

typedef struct kmbi_cupti_external {
  uint32_t kind;
  kmbi_cupti_enum external_kind;
  uint64_t id;
  uint32_t correlation;
  uint32_t unused_0;
} kmbi_cupti_external;

typedef void (*kmbi_cupti_callback)(void *user, kmbi_cupti_enum domain,
                                    uint32_t id, const void *data);
typedef void (*kmbi_cupti_request)(uint8_t **buffer, size_t *size,
                                   size_t *records);
typedef void (*kmbi_cupti_complete)(kmbi_cu_context context, uint32_t stream,
                                    uint8_t *buffer, size_t size, size_t valid);

/* X(name, version, need, arguments): the version is cuptiGetVersion()'s in
 * which it came. */
#define KMBI_CUPTI_MAP(X)                                                      \
  X(cuptiGetVersion, 1, REQUIRED, (uint32_t * version))                        \
  X(cuptiGetResultString, 2, REQUIRED,                                         \
    (kmbi_cupti_result result, const char **text))                             \
  X(cuptiSubscribe, 1, REQUIRED,                                               \
    (kmbi_cupti_subscriber * subscriber, kmbi_cupti_callback callback,         \
     void *user))                                                              \
  X(cuptiUnsubscribe, 1, REQUIRED, (kmbi_cupti_subscriber subscriber))         \
  X(cuptiActivityRegisterCallbacks, 4, REQUIRED,                               \
    (kmbi_cupti_request request, kmbi_cupti_complete complete))                \
  X(cuptiActivityEnable, 2, REQUIRED, (kmbi_cupti_enum kind))                  \
  X(cuptiActivityDisable, 2, REQUIRED, (kmbi_cupti_enum kind))                 \
  X(cuptiActivityFlushAll, 4, REQUIRED, (uint32_t flags))                      \
  X(cuptiActivityGetNextRecord, 2, REQUIRED,                                   \
    (uint8_t * buffer, size_t valid, void **record))                           \
  X(cuptiActivityGetNumDroppedRecords, 2, REQUIRED,                            \
    (kmbi_cu_context context, uint32_t stream, size_t * dropped))              \
  X(cuptiActivityPushExternalCorrelationId, 8, REQUIRED,                       \
    (kmbi_cupti_enum kind, uint64_t id))                                       \
  X(cuptiActivityPopExternalCorrelationId, 8, REQUIRED,                        \
    (kmbi_cupti_enum kind, uint64_t * id))                                     \
  X(cuptiActivityEnableDriverApi, 23, OPTIONAL, (uint32_t id, uint8_t enable)) \
  X(cuptiActivityEnableRuntimeApi, 23, OPTIONAL,                               \
    (uint32_t id, uint8_t enable))                                             \
  X(cuptiGetContextId, 2, REQUIRED, (kmbi_cu_context context, uint32_t * id))  \
  X(cuptiGetTimestamp, 1, REQUIRED, (uint64_t * ns))                           \
  X(cuptiGetCallbackName, 2, REQUIRED,                                         \
    (kmbi_cupti_enum domain, uint32_t id, const char **name))                  \
  X(cuptiEnableCallback, 2, OPTIONAL,                                          \
    (uint32_t enable, kmbi_cupti_subscriber subscriber,                        \
     kmbi_cupti_enum domain, uint32_t id))

typedef struct kmbi_cupti_api {
#define KMBI_CUPTI_FIELD(name, version, need, arguments) \
  kmbi_cupti_result(*name) arguments;
  KMBI_CUPTI_MAP(KMBI_CUPTI_FIELD)
#undef KMBI_CUPTI_FIELD
  uint32_t version;
} kmbi_cupti_api;

/* Records have had these offsets since CUDA 11.8. */
enum { KMBI_CUPTI_OLDEST = 18 };

#endif
