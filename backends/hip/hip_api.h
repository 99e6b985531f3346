/* The part of HIP and hiprtc that is used, declared by us: the build needs no
 * ROCm. tests/hip/layout.c compares it with real headers. Numbers and
 * prototypes are those that ROCm 5, 6 and 7 have in common. */
#ifndef KMB_BACKENDS_HIP_API_H
#define KMB_BACKENDS_HIP_API_H

#include <stddef.h>
#include <stdint.h>

/* The tags are HIP's own, so that prototypes can be compared. */
typedef struct ihipStream_t *kmbi_hip_stream;
typedef struct ihipEvent_t *kmbi_hip_event;
typedef struct ihipModule_t *kmbi_hip_module;
typedef struct ihipModuleSymbol_t *kmbi_hip_function;
typedef struct ihipGraph *kmbi_hip_graph;
typedef struct hipGraphNode *kmbi_hip_node;
typedef struct hipGraphExec *kmbi_hip_exec;
typedef struct _hiprtcProgram *kmbi_hip_program;
struct hipUUID_t;                 /* 16 bytes */
typedef unsigned kmbi_hip_result; /* HIP's enums are unsigned too */
typedef unsigned kmbi_hip_enum;

/* Results that are told apart: X(name, value, status). Everything else is
 * KMB_ERR_VENDOR. After those that are LOST the device is of no use to the
 * process. */
#define KMBI_HIP_RESULT_MAP(X)                        \
  X(InvalidValue, 1, KMB_ERR_VENDOR)                  \
  X(OutOfMemory, 2, KMB_ERR_NOMEM)                    \
  X(NotInitialized, 3, KMB_ERR_UNAVAILABLE)           \
  X(Deinitialized, 4, KMB_ERR_UNAVAILABLE)            \
  X(InsufficientDriver, 35, KMB_ERR_UNAVAILABLE)      \
  X(NoDevice, 100, KMB_ERR_UNAVAILABLE)               \
  X(InvalidDevice, 101, KMB_ERR_UNAVAILABLE)          \
  X(NoBinaryForGpu, 209, KMB_ERR_UNSUPPORTED)         \
  X(ECCNotCorrectable, 214, KMB_ERR_LOST)             \
  X(SharedObjectInitFailed, 303, KMB_ERR_UNAVAILABLE) \
  X(IllegalAddress, 700, KMB_ERR_LOST)                \
  X(LaunchTimeOut, 702, KMB_ERR_LOST)                 \
  X(ContextIsDestroyed, 709, KMB_ERR_LOST)            \
  X(Assert, 710, KMB_ERR_LOST)                        \
  X(LaunchFailure, 719, KMB_ERR_LOST)                 \
  X(NotSupported, 801, KMB_ERR_UNSUPPORTED)           \
  X(StreamCaptureUnsupported, 900, KMB_ERR_CAPTURE)   \
  X(StreamCaptureInvalidated, 901, KMB_ERR_CAPTURE)   \
  X(StreamCaptureMerge, 902, KMB_ERR_CAPTURE)         \
  X(StreamCaptureUnmatched, 903, KMB_ERR_CAPTURE)     \
  X(StreamCaptureUnjoined, 904, KMB_ERR_CAPTURE)      \
  X(StreamCaptureIsolation, 905, KMB_ERR_CAPTURE)     \
  X(StreamCaptureImplicit, 906, KMB_ERR_CAPTURE)      \
  X(CapturedEvent, 907, KMB_ERR_CAPTURE)              \
  X(StreamCaptureWrongThread, 908, KMB_ERR_CAPTURE)   \
  X(RuntimeMemory, 1052, KMB_ERR_LOST)                \
  X(RuntimeOther, 1053, KMB_ERR_LOST)

enum {
  KMBI_HIP_Success = 0,
  KMBI_HIP_NotReady = 600,
#define KMBI_HIP_RESULT_ENUM(name, value, status) KMBI_HIP_##name = (value),
  KMBI_HIP_RESULT_MAP(KMBI_HIP_RESULT_ENUM)
#undef KMBI_HIP_RESULT_ENUM
};

/* Device attributes: X(name, value). */
#define KMBI_HIP_ATTRIBUTE_MAP(X) \
  X(EccEnabled, 0)                \
  X(ClockRate, 5)                 \
  X(L2CacheSize, 19)              \
  X(MultiprocessorCount, 63)      \
  X(PciBusId, 67)                 \
  X(PciDeviceId, 68)              \
  X(PciDomainID, 69)              \
  X(WarpSize, 87)

enum {
#define KMBI_HIP_ATTRIBUTE_ENUM(name, value) KMBI_HIP_ATTR_##name = (value),
  KMBI_HIP_ATTRIBUTE_MAP(KMBI_HIP_ATTRIBUTE_ENUM)
#undef KMBI_HIP_ATTRIBUTE_ENUM
      KMBI_HIP_ATTR_WallClockRate = 10017 /* kHz; ROCm 6 has it */
};

enum {
  /* Of a function. */
  KMBI_HIP_FUNC_MAX_THREADS = 0,
  KMBI_HIP_FUNC_SHARED = 1,
  KMBI_HIP_FUNC_LOCAL = 3,
  KMBI_HIP_FUNC_REGISTERS = 4,
  KMBI_HIP_STREAM_NON_BLOCKING = 1,
  KMBI_HIP_STREAM_PER_THREAD = 2, /* as a handle */
  KMBI_HIP_EVENT_DEFAULT = 0,
  KMBI_HIP_EVENT_NO_SYSTEM_FENCE = 0x20000000, /* ROCm 6 has it */
  KMBI_HIP_HOST_PORTABLE = 1,
  KMBI_HIP_HOST_MAPPED = 2,
  KMBI_HIP_COPY_TO_DEVICE = 1,
  KMBI_HIP_COPY_TO_HOST = 2,
  KMBI_HIP_CAPTURE_THREAD_LOCAL = 1,
  KMBI_HIP_CAPTURING_NONE = 0
};

/* X(type, name, need, arguments). The properties are looked up apart. */
#define KMBI_HIP_MAP(X)                                                        \
  X(kmbi_hip_result, hipInit, REQUIRED, (unsigned flags))                      \
  X(kmbi_hip_result, hipDriverGetVersion, REQUIRED, (int *version))            \
  X(kmbi_hip_result, hipRuntimeGetVersion, REQUIRED, (int *version))           \
  X(const char *, hipGetErrorName, REQUIRED, (kmbi_hip_result result))         \
  X(const char *, hipGetErrorString, REQUIRED, (kmbi_hip_result result))       \
  X(kmbi_hip_result, hipGetLastError, REQUIRED, (void))                        \
  X(kmbi_hip_result, hipGetDeviceCount, REQUIRED, (int *count))                \
  X(kmbi_hip_result, hipGetDevice, REQUIRED, (int *device))                    \
  X(kmbi_hip_result, hipSetDevice, REQUIRED, (int device))                     \
  X(kmbi_hip_result, hipDeviceGetName, REQUIRED,                               \
    (char *name, int size, int device))                                        \
  X(kmbi_hip_result, hipDeviceGetUuid, OPTIONAL,                               \
    (struct hipUUID_t * uuid, int device))                                     \
  X(kmbi_hip_result, hipDeviceGetPCIBusId, REQUIRED,                           \
    (char *text, int size, int device))                                        \
  X(kmbi_hip_result, hipDeviceTotalMem, REQUIRED,                              \
    (size_t * bytes, int device))                                              \
  X(kmbi_hip_result, hipDeviceGetAttribute, REQUIRED,                          \
    (int *value, kmbi_hip_enum attribute, int device))                         \
  X(kmbi_hip_result, hipMalloc, REQUIRED, (void **pointer, size_t bytes))      \
  X(kmbi_hip_result, hipFree, REQUIRED, (void *pointer))                       \
  X(kmbi_hip_result, hipMemGetInfo, REQUIRED,                                  \
    (size_t * available, size_t * total))                                      \
  X(kmbi_hip_result, hipHostMalloc, REQUIRED,                                  \
    (void **pointer, size_t bytes, unsigned flags))                            \
  X(kmbi_hip_result, hipHostFree, REQUIRED, (void *pointer))                   \
  X(kmbi_hip_result, hipHostGetDevicePointer, REQUIRED,                        \
    (void **pointer, void *host, unsigned flags))                              \
  X(kmbi_hip_result, hipMemcpyAsync, REQUIRED,                                 \
    (void *to, const void *from, size_t bytes, kmbi_hip_enum kind,             \
     kmbi_hip_stream stream))                                                  \
  X(kmbi_hip_result, hipMemsetD32Async, REQUIRED,                              \
    (void *to, int value, size_t words, kmbi_hip_stream stream))               \
  X(kmbi_hip_result, hipModuleLoadData, REQUIRED,                              \
    (kmbi_hip_module * module, const void *image))                             \
  X(kmbi_hip_result, hipModuleUnload, REQUIRED, (kmbi_hip_module module))      \
  X(kmbi_hip_result, hipModuleGetFunction, REQUIRED,                           \
    (kmbi_hip_function * function, kmbi_hip_module module, const char *name))  \
  X(kmbi_hip_result, hipModuleLaunchKernel, REQUIRED,                          \
    (kmbi_hip_function function, unsigned grid_x, unsigned grid_y,             \
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
     unsigned shared, kmbi_hip_stream stream, void **arguments, void **extra)) \
  X(kmbi_hip_result, hipFuncGetAttribute, OPTIONAL,                            \
    (int *value, kmbi_hip_enum attribute, kmbi_hip_function function))         \
  X(kmbi_hip_result, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,       \
    OPTIONAL,                                                                  \
    (int *blocks, kmbi_hip_function function, int threads, size_t shared))     \
  X(kmbi_hip_result, hipStreamCreateWithFlags, REQUIRED,                       \
    (kmbi_hip_stream * stream, unsigned flags))                                \
  X(kmbi_hip_result, hipStreamDestroy, REQUIRED, (kmbi_hip_stream stream))     \
  X(kmbi_hip_result, hipStreamQuery, REQUIRED, (kmbi_hip_stream stream))       \
  X(kmbi_hip_result, hipStreamGetDevice, OPTIONAL,                             \
    (kmbi_hip_stream stream, int *device))                                     \
  X(kmbi_hip_result, hipStreamBeginCapture, OPTIONAL,                          \
    (kmbi_hip_stream stream, kmbi_hip_enum mode))                              \
  X(kmbi_hip_result, hipStreamEndCapture, OPTIONAL,                            \
    (kmbi_hip_stream stream, kmbi_hip_graph * graph))                          \
  X(kmbi_hip_result, hipStreamIsCapturing, OPTIONAL,                           \
    (kmbi_hip_stream stream, kmbi_hip_enum * status))                          \
  X(kmbi_hip_result, hipGraphGetNodes, OPTIONAL,                               \
    (kmbi_hip_graph graph, kmbi_hip_node * nodes, size_t * count))             \
  X(kmbi_hip_result, hipGraphInstantiate, OPTIONAL,                            \
    (kmbi_hip_exec * exec, kmbi_hip_graph graph, kmbi_hip_node * node,         \
     char *log, size_t size))                                                  \
  X(kmbi_hip_result, hipGraphUpload, OPTIONAL,                                 \
    (kmbi_hip_exec exec, kmbi_hip_stream stream))                              \
  X(kmbi_hip_result, hipGraphLaunch, OPTIONAL,                                 \
    (kmbi_hip_exec exec, kmbi_hip_stream stream))                              \
  X(kmbi_hip_result, hipGraphExecDestroy, OPTIONAL, (kmbi_hip_exec exec))      \
  X(kmbi_hip_result, hipGraphDestroy, OPTIONAL, (kmbi_hip_graph graph))        \
  X(kmbi_hip_result, hipEventCreateWithFlags, REQUIRED,                        \
    (kmbi_hip_event * event, unsigned flags))                                  \
  X(kmbi_hip_result, hipEventDestroy, REQUIRED, (kmbi_hip_event event))        \
  X(kmbi_hip_result, hipEventRecord, REQUIRED,                                 \
    (kmbi_hip_event event, kmbi_hip_stream stream))                            \
  X(kmbi_hip_result, hipEventElapsedTime, REQUIRED,                            \
    (float *ms, kmbi_hip_event start, kmbi_hip_event end))

/* Properties are read at the offsets that the layout's version has; only what
 * no attribute tells. R0000 is ROCm 5's and what the unversioned function fills
 * in to this day. */
typedef enum kmbi_hip_layout {
  KMBI_HIP_NO_LAYOUT,
  KMBI_HIP_R0600,
  KMBI_HIP_R0000
} kmbi_hip_layout;

enum {
  KMBI_HIP_R0600_BYTES = 1472,
  KMBI_HIP_R0600_UNITS = 388,
  KMBI_HIP_R0600_ARCH = 1160,
  KMBI_HIP_R0000_BYTES = 792,
  KMBI_HIP_R0000_UNITS = 336,
  KMBI_HIP_R0000_ARCH = 396,
  KMBI_HIP_ARCH_BYTES = 256,
  KMBI_HIP_PROPERTIES_ROOM = 8192 /* a later layout may be longer */
};

typedef kmbi_hip_result (*kmbi_hip_get_properties)(void *properties,
                                                   int device);

typedef struct kmbi_hip_api {
#define KMBI_HIP_FIELD(type, name, need, arguments) type(*name) arguments;
  KMBI_HIP_MAP(KMBI_HIP_FIELD)
#undef KMBI_HIP_FIELD
  kmbi_hip_get_properties properties; /* NULL: none */
  kmbi_hip_layout layout;             /* that it fills in */
} kmbi_hip_api;

/* hiprtc. */

typedef unsigned kmbi_hiprtc_result;

enum { KMBI_HIPRTC_SUCCESS = 0, KMBI_HIPRTC_COMPILATION = 6 };

#define KMBI_HIPRTC_MAP(X)                                                     \
  X(const char *, hiprtcGetErrorString, (kmbi_hiprtc_result result))           \
  X(kmbi_hiprtc_result, hiprtcCreateProgram,                                   \
    (kmbi_hip_program * program, const char *source, const char *name,         \
     int headers, const char **texts, const char **names))                     \
  X(kmbi_hiprtc_result, hiprtcCompileProgram,                                  \
    (kmbi_hip_program program, int count, const char **options))               \
  X(kmbi_hiprtc_result, hiprtcGetProgramLogSize,                               \
    (kmbi_hip_program program, size_t * size))                                 \
  X(kmbi_hiprtc_result, hiprtcGetProgramLog,                                   \
    (kmbi_hip_program program, char *log))                                     \
  X(kmbi_hiprtc_result, hiprtcGetCodeSize,                                     \
    (kmbi_hip_program program, size_t * size))                                 \
  X(kmbi_hiprtc_result, hiprtcGetCode, (kmbi_hip_program program, char *code)) \
  X(kmbi_hiprtc_result, hiprtcDestroyProgram, (kmbi_hip_program * program))

typedef struct kmbi_hiprtc_api {
#define KMBI_HIPRTC_FIELD(type, name, arguments) type(*name) arguments;
  KMBI_HIPRTC_MAP(KMBI_HIPRTC_FIELD)
#undef KMBI_HIPRTC_FIELD
} kmbi_hiprtc_api;

#endif
