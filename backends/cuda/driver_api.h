/* The part of the CUDA driver's interface that is used, declared by us: the
 * build needs no SDK. tests/cuda/layout.c compares it with the real headers. */
#ifndef KMB_BACKENDS_CUDA_DRIVER_API_H
#define KMB_BACKENDS_CUDA_DRIVER_API_H

#include <stddef.h>
#include <stdint.h>

/* The tags are the driver's own, so that prototypes can be compared. */
struct CUkern_st;
typedef struct CUctx_st *kmbi_cu_context;
typedef struct CUmod_st *kmbi_cu_module;
typedef struct CUfunc_st *kmbi_cu_function;
typedef struct CUstream_st *kmbi_cu_stream;
typedef struct CUevent_st *kmbi_cu_event;
typedef struct CUgraph_st *kmbi_cu_graph;
typedef struct CUgraphNode_st *kmbi_cu_node;
typedef struct CUgraphExec_st *kmbi_cu_exec;
struct CUuuid_st;          /* 16 bytes */
struct CUgraphEdgeData_st; /* kmbi_cu_edge */
#ifndef CUDA_VERSION       /* the vendor's own header is not there */
struct CUipcMemHandle_st {
  char reserved[64];
};
#endif
typedef unsigned kmbi_cu_result; /* the driver's enums are unsigned too */
typedef unsigned kmbi_cu_enum;
typedef int kmbi_cu_device;
typedef unsigned long long kmbi_cu_pointer;

/* Results that are told apart: X(name, value, status). Everything else is
 * KMB_ERR_VENDOR. LOST are those after which the context is of no use. */
#define KMBI_CU_RESULT_MAP(X)                                 \
  X(OUT_OF_MEMORY, 2, KMB_ERR_NOMEM)                          \
  X(DEINITIALIZED, 4, KMB_ERR_UNAVAILABLE)                    \
  X(STUB_LIBRARY, 34, KMB_ERR_UNAVAILABLE)                    \
  X(DEVICE_UNAVAILABLE, 46, KMB_ERR_BUSY)                     \
  X(NO_DEVICE, 100, KMB_ERR_UNAVAILABLE)                      \
  X(INVALID_DEVICE, 101, KMB_ERR_UNAVAILABLE)                 \
  X(ECC_UNCORRECTABLE, 214, KMB_ERR_LOST)                     \
  X(NVLINK_UNCORRECTABLE, 220, KMB_ERR_LOST)                  \
  X(CONTAINED, 226, KMB_ERR_LOST)                             \
  X(JIT_COMPILER_NOT_FOUND, 221, KMB_ERR_UNAVAILABLE)         \
  X(UNSUPPORTED_PTX_VERSION, 222, KMB_ERR_UNSUPPORTED)        \
  X(ILLEGAL_ADDRESS, 700, KMB_ERR_LOST)                       \
  X(LAUNCH_TIMEOUT, 702, KMB_ERR_LOST)                        \
  X(CONTEXT_IS_DESTROYED, 709, KMB_ERR_LOST)                  \
  X(ASSERT, 710, KMB_ERR_LOST)                                \
  X(HARDWARE_STACK_ERROR, 714, KMB_ERR_LOST)                  \
  X(ILLEGAL_INSTRUCTION, 715, KMB_ERR_LOST)                   \
  X(MISALIGNED_ADDRESS, 716, KMB_ERR_LOST)                    \
  X(INVALID_ADDRESS_SPACE, 717, KMB_ERR_LOST)                 \
  X(INVALID_PC, 718, KMB_ERR_LOST)                            \
  X(LAUNCH_FAILED, 719, KMB_ERR_LOST)                         \
  X(TENSOR_MEMORY_LEAK, 721, KMB_ERR_LOST)                    \
  X(NOT_PERMITTED, 800, KMB_ERR_PERM)                         \
  X(NOT_SUPPORTED, 801, KMB_ERR_UNSUPPORTED)                  \
  X(SYSTEM_NOT_READY, 802, KMB_ERR_UNAVAILABLE)               \
  X(SYSTEM_DRIVER_MISMATCH, 803, KMB_ERR_UNSUPPORTED)         \
  X(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, KMB_ERR_UNSUPPORTED) \
  X(STREAM_CAPTURE_UNSUPPORTED, 900, KMB_ERR_CAPTURE)         \
  X(STREAM_CAPTURE_INVALIDATED, 901, KMB_ERR_CAPTURE)         \
  X(STREAM_CAPTURE_MERGE, 902, KMB_ERR_CAPTURE)               \
  X(STREAM_CAPTURE_UNMATCHED, 903, KMB_ERR_CAPTURE)           \
  X(STREAM_CAPTURE_UNJOINED, 904, KMB_ERR_CAPTURE)            \
  X(STREAM_CAPTURE_ISOLATION, 905, KMB_ERR_CAPTURE)           \
  X(STREAM_CAPTURE_IMPLICIT, 906, KMB_ERR_CAPTURE)            \
  X(CAPTURED_EVENT, 907, KMB_ERR_CAPTURE)                     \
  X(STREAM_CAPTURE_WRONG_THREAD, 908, KMB_ERR_CAPTURE)

enum {
  KMBI_CU_SUCCESS = 0,
  KMBI_CU_NOT_INITIALIZED = 3,
  KMBI_CU_NOT_READY = 600,
#define KMBI_CU_RESULT_ENUM(name, value, status) KMBI_CU_##name = (value),
  KMBI_CU_RESULT_MAP(KMBI_CU_RESULT_ENUM)
#undef KMBI_CU_RESULT_ENUM
};

/* Device attributes: X(name, value). */
#define KMBI_CU_ATTRIBUTE_MAP(X)              \
  X(WARP_SIZE, 10)                            \
  X(CLOCK_RATE, 13)                           \
  X(MULTIPROCESSOR_COUNT, 16)                 \
  X(ECC_ENABLED, 32)                          \
  X(L2_CACHE_SIZE, 38)                        \
  X(MAX_THREADS_PER_MULTIPROCESSOR, 39)       \
  X(COMPUTE_CAPABILITY_MAJOR, 75)             \
  X(COMPUTE_CAPABILITY_MINOR, 76)             \
  X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81) \
  X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82)     \
  X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106)       \
  X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111)    \
  X(MPS_ENABLED, 133)                         \
  X(HOST_NUMA_ID, 134)                        \
  X(GPU_PCI_DEVICE_ID, 139)

enum {
#define KMBI_CU_ATTRIBUTE_ENUM(name, value) KMBI_CU_ATTR_##name = (value),
  KMBI_CU_ATTRIBUTE_MAP(KMBI_CU_ATTRIBUTE_ENUM)
#undef KMBI_CU_ATTRIBUTE_ENUM
};

enum {
  KMBI_CU_STREAM_NON_BLOCKING = 1,
  KMBI_CU_STREAM_LEGACY = 1,     /* as a handle */
  KMBI_CU_STREAM_PER_THREAD = 2, /* as a handle */
  KMBI_CU_EVENT_DEFAULT = 0,
  KMBI_CU_EVENT_DISABLE_TIMING = 2,
  KMBI_CU_HOST_PORTABLE = 1,
  KMBI_CU_HOST_DEVICEMAP = 2,
  KMBI_CU_WAIT_GEQ = 0,
  KMBI_CU_PEER_ALREADY_ENABLED = 704,
  KMBI_CU_IPC_LAZY_PEER_ACCESS = 1,
  KMBI_CU_CAPTURE_THREAD_LOCAL = 1,
  KMBI_CU_CAPTURING_NONE = 0,
  KMBI_CU_POINTER_CONTEXT = 1,
  KMBI_CU_PROC_DEFAULT = 0
};

/* What an edge of a graph is, of 8 bytes. */
typedef struct kmbi_cu_edge {
  unsigned char from_port, to_port;
  unsigned char type; /* KMBI_CU_EDGE_PROGRAMMATIC: the second may start before
                         the first ends */
  unsigned char reserved[5];
} kmbi_cu_edge;
enum { KMBI_CU_EDGE_PROGRAMMATIC = 1 };

/* X(name, version, symbol, need, arguments): the version of the interface that
 * is asked for (its prototype is `name`_vVERSION's), the same thing's name for
 * dlsym(), and whether nothing works without it. */
#define KMBI_CU_MAP(X)                                                         \
  X(cuInit, 2000, "cuInit", REQUIRED, (unsigned flags))                        \
  X(cuDriverGetVersion, 2020, "cuDriverGetVersion", REQUIRED, (int *version))  \
  X(cuGetErrorName, 6000, "cuGetErrorName", REQUIRED,                          \
    (kmbi_cu_result result, const char **text))                                \
  X(cuGetErrorString, 6000, "cuGetErrorString", REQUIRED,                      \
    (kmbi_cu_result result, const char **text))                                \
  X(cuDeviceGetCount, 2000, "cuDeviceGetCount", REQUIRED, (int *count))        \
  X(cuDeviceGet, 2000, "cuDeviceGet", REQUIRED,                                \
    (kmbi_cu_device * device, int ordinal))                                    \
  X(cuDeviceGetName, 2000, "cuDeviceGetName", REQUIRED,                        \
    (char *name, int size, kmbi_cu_device device))                             \
  X(cuDeviceGetUuid, 11040, "cuDeviceGetUuid_v2", OPTIONAL,                    \
    (struct CUuuid_st * uuid, kmbi_cu_device device))                          \
  X(cuDeviceGetPCIBusId, 4010, "cuDeviceGetPCIBusId", REQUIRED,                \
    (char *text, int size, kmbi_cu_device device))                             \
  X(cuDeviceTotalMem, 3020, "cuDeviceTotalMem_v2", REQUIRED,                   \
    (size_t * bytes, kmbi_cu_device device))                                   \
  X(cuDeviceGetAttribute, 2000, "cuDeviceGetAttribute", REQUIRED,              \
    (int *value, kmbi_cu_enum attribute, kmbi_cu_device device))               \
  X(cuDevicePrimaryCtxRetain, 7000, "cuDevicePrimaryCtxRetain", REQUIRED,      \
    (kmbi_cu_context * context, kmbi_cu_device device))                        \
  X(cuDevicePrimaryCtxRelease, 11000, "cuDevicePrimaryCtxRelease_v2",          \
    REQUIRED, (kmbi_cu_device device))                                         \
  X(cuCtxGetCurrent, 4000, "cuCtxGetCurrent", REQUIRED,                        \
    (kmbi_cu_context * context))                                               \
  X(cuCtxSetCurrent, 4000, "cuCtxSetCurrent", REQUIRED,                        \
    (kmbi_cu_context context))                                                 \
  X(cuCtxGetDevice, 2000, "cuCtxGetDevice", REQUIRED,                          \
    (kmbi_cu_device * device))                                                 \
  X(cuCtxResetPersistingL2Cache, 11000, "cuCtxResetPersistingL2Cache",         \
    OPTIONAL, (void))                                                          \
  X(cuMemAlloc, 3020, "cuMemAlloc_v2", REQUIRED,                               \
    (kmbi_cu_pointer * pointer, size_t bytes))                                 \
  X(cuMemFree, 3020, "cuMemFree_v2", REQUIRED, (kmbi_cu_pointer pointer))      \
  X(cuMemGetInfo, 3020, "cuMemGetInfo_v2", REQUIRED,                           \
    (size_t * available, size_t * total))                                      \
  X(cuMemHostAlloc, 2020, "cuMemHostAlloc", REQUIRED,                          \
    (void **pointer, size_t bytes, unsigned flags))                            \
  X(cuMemFreeHost, 2000, "cuMemFreeHost", REQUIRED, (void *pointer))           \
  X(cuMemHostGetDevicePointer, 3020, "cuMemHostGetDevicePointer_v2", REQUIRED, \
    (kmbi_cu_pointer * pointer, void *host, unsigned flags))                   \
  X(cuMemcpyHtoDAsync, 3020, "cuMemcpyHtoDAsync_v2", REQUIRED,                 \
    (kmbi_cu_pointer to, const void *from, size_t bytes,                       \
     kmbi_cu_stream stream))                                                   \
  X(cuMemcpyDtoHAsync, 3020, "cuMemcpyDtoHAsync_v2", REQUIRED,                 \
    (void *to, kmbi_cu_pointer from, size_t bytes, kmbi_cu_stream stream))     \
  X(cuMemcpyDtoDAsync, 3020, "cuMemcpyDtoDAsync_v2", REQUIRED,                 \
    (kmbi_cu_pointer to, kmbi_cu_pointer from, size_t bytes,                   \
     kmbi_cu_stream stream))                                                   \
  X(cuMemsetD32Async, 3020, "cuMemsetD32Async", REQUIRED,                      \
    (kmbi_cu_pointer to, unsigned value, size_t words, kmbi_cu_stream stream)) \
  X(cuModuleLoadData, 2000, "cuModuleLoadData", REQUIRED,                      \
    (kmbi_cu_module * module, const void *image))                              \
  X(cuModuleUnload, 2000, "cuModuleUnload", REQUIRED, (kmbi_cu_module module)) \
  X(cuModuleGetFunction, 2000, "cuModuleGetFunction", REQUIRED,                \
    (kmbi_cu_function * function, kmbi_cu_module module, const char *name))    \
  X(cuFuncGetAttribute, 2020, "cuFuncGetAttribute", OPTIONAL,                  \
    (int *value, kmbi_cu_enum attribute, kmbi_cu_function function))           \
  X(cuKernelGetFunction, 12000, "cuKernelGetFunction", OPTIONAL,               \
    (kmbi_cu_function * function, struct CUkern_st * kernel))                  \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                         \
    "cuOccupancyMaxActiveBlocksPerMultiprocessor", OPTIONAL,                   \
    (int *blocks, kmbi_cu_function function, int threads, size_t shared))      \
  X(cuLaunchKernel, 4000, "cuLaunchKernel", REQUIRED,                          \
    (kmbi_cu_function function, unsigned grid_x, unsigned grid_y,              \
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
     unsigned shared, kmbi_cu_stream stream, void **arguments, void **extra))  \
  X(cuStreamCreate, 2000, "cuStreamCreate", REQUIRED,                          \
    (kmbi_cu_stream * stream, unsigned flags))                                 \
  X(cuStreamDestroy, 4000, "cuStreamDestroy_v2", REQUIRED,                     \
    (kmbi_cu_stream stream))                                                   \
  X(cuStreamQuery, 2000, "cuStreamQuery", REQUIRED, (kmbi_cu_stream stream))   \
  X(cuStreamGetCtx, 9020, "cuStreamGetCtx", REQUIRED,                          \
    (kmbi_cu_stream stream, kmbi_cu_context * context))                        \
  X(cuStreamWaitValue32, 11070, "cuStreamWaitValue32_v2", OPTIONAL,            \
    (kmbi_cu_stream stream, kmbi_cu_pointer at, uint32_t value,                \
     unsigned flags))                                                          \
  X(cuStreamWriteValue32, 11070, "cuStreamWriteValue32_v2", OPTIONAL,          \
    (kmbi_cu_stream stream, kmbi_cu_pointer at, uint32_t value,                \
     unsigned flags))                                                          \
  X(cuDeviceCanAccessPeer, 4000, "cuDeviceCanAccessPeer", REQUIRED,            \
    (int *can, kmbi_cu_device device, kmbi_cu_device peer))                    \
  X(cuCtxEnablePeerAccess, 4000, "cuCtxEnablePeerAccess", REQUIRED,            \
    (kmbi_cu_context peer, unsigned flags))                                    \
  X(cuIpcGetMemHandle, 4010, "cuIpcGetMemHandle", REQUIRED,                    \
    (struct CUipcMemHandle_st * handle, kmbi_cu_pointer pointer))              \
  X(cuIpcOpenMemHandle, 11000, "cuIpcOpenMemHandle_v2", REQUIRED,              \
    (kmbi_cu_pointer * pointer, struct CUipcMemHandle_st handle,               \
     unsigned flags))                                                          \
  X(cuIpcCloseMemHandle, 4010, "cuIpcCloseMemHandle", REQUIRED,                \
    (kmbi_cu_pointer pointer))                                                 \
  X(cuStreamBeginCapture, 10010, "cuStreamBeginCapture_v2", OPTIONAL,          \
    (kmbi_cu_stream stream, kmbi_cu_enum mode))                                \
  X(cuStreamEndCapture, 10000, "cuStreamEndCapture", OPTIONAL,                 \
    (kmbi_cu_stream stream, kmbi_cu_graph * graph))                            \
  X(cuStreamIsCapturing, 10000, "cuStreamIsCapturing", OPTIONAL,               \
    (kmbi_cu_stream stream, kmbi_cu_enum * status))                            \
  X(cuGraphGetNodes, 10000, "cuGraphGetNodes", OPTIONAL,                       \
    (kmbi_cu_graph graph, kmbi_cu_node * nodes, size_t * count))               \
  X(cuGraphGetEdges, 12030, "cuGraphGetEdges_v2", OPTIONAL,                    \
    (kmbi_cu_graph graph, kmbi_cu_node * from, kmbi_cu_node * to,              \
     struct CUgraphEdgeData_st * edges, size_t * count))                       \
  X(cuGraphInstantiateWithFlags, 11040, "cuGraphInstantiateWithFlags",         \
    OPTIONAL,                                                                  \
    (kmbi_cu_exec * exec, kmbi_cu_graph graph, unsigned long long flags))      \
  X(cuGraphUpload, 11010, "cuGraphUpload", OPTIONAL,                           \
    (kmbi_cu_exec exec, kmbi_cu_stream stream))                                \
  X(cuGraphLaunch, 10000, "cuGraphLaunch", OPTIONAL,                           \
    (kmbi_cu_exec exec, kmbi_cu_stream stream))                                \
  X(cuGraphExecDestroy, 10000, "cuGraphExecDestroy", OPTIONAL,                 \
    (kmbi_cu_exec exec))                                                       \
  X(cuGraphDestroy, 10000, "cuGraphDestroy", OPTIONAL, (kmbi_cu_graph graph))  \
  X(cuEventCreate, 2000, "cuEventCreate", REQUIRED,                            \
    (kmbi_cu_event * event, unsigned flags))                                   \
  X(cuEventDestroy, 4000, "cuEventDestroy_v2", REQUIRED,                       \
    (kmbi_cu_event event))                                                     \
  X(cuEventRecord, 2000, "cuEventRecord", REQUIRED,                            \
    (kmbi_cu_event event, kmbi_cu_stream stream))                              \
  X(cuEventQuery, 2000, "cuEventQuery", REQUIRED, (kmbi_cu_event event))       \
  X(cuEventElapsedTime, 2000, "cuEventElapsedTime", REQUIRED,                  \
    (float *ms, kmbi_cu_event start, kmbi_cu_event end))                       \
  X(cuPointerGetAttribute, 4000, "cuPointerGetAttribute", REQUIRED,            \
    (void *value, kmbi_cu_enum attribute, kmbi_cu_pointer pointer))

/* cuGetProcAddress: since 12.0 with a status, before without one. */
typedef kmbi_cu_result (*kmbi_cu_get_proc_v2)(const char *symbol,
                                              void **function, int version,
                                              uint64_t flags,
                                              kmbi_cu_enum *status);
typedef kmbi_cu_result (*kmbi_cu_get_proc_v1)(const char *symbol,
                                              void **function, int version,
                                              uint64_t flags);

typedef struct kmbi_cu_driver {
#define KMBI_CU_FIELD(name, version, symbol, need, arguments) \
  kmbi_cu_result(*name) arguments;
  KMBI_CU_MAP(KMBI_CU_FIELD)
#undef KMBI_CU_FIELD
  int version; /* of the driver: 1000 × major + 10 × minor */
} kmbi_cu_driver;

#endif
