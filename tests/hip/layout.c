/* Our declarations against ROCm's headers: sizes, offsets, numbers,
 * prototypes. Where there are no headers the test is skipped. */
#include <stdio.h>

#ifndef KMB_HAVE_HIP

int main(void) {
  puts("SKIPPED: no HIP headers on this machine (Debian: libamdhip64-dev), so "
       "that libkmb's own declarations are NOT compared with AMD's");
  return 77;
}

#else

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hip_api.h"
#include "smi_api.h"

#define EQUAL(ours, theirs) \
  _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME(ours, theirs, name) \
  _Static_assert(__builtin_types_compatible_p(ours, theirs), name)

/* Handles and numbers. */
SAME(kmbi_hip_stream, hipStream_t, "hipStream_t");
SAME(kmbi_hip_event, hipEvent_t, "hipEvent_t");
SAME(kmbi_hip_module, hipModule_t, "hipModule_t");
SAME(kmbi_hip_function, hipFunction_t, "hipFunction_t");
SAME(kmbi_hip_graph, hipGraph_t, "hipGraph_t");
SAME(kmbi_hip_node, hipGraphNode_t, "hipGraphNode_t");
SAME(kmbi_hip_exec, hipGraphExec_t, "hipGraphExec_t");
SAME(kmbi_hip_program, hiprtcProgram, "hiprtcProgram");
SAME(void *, hipDeviceptr_t, "hipDeviceptr_t");
SAME(int, hipDevice_t, "hipDevice_t");
EQUAL(sizeof(hipUUID), 16);
EQUAL(sizeof(kmbi_hip_result), sizeof(hipError_t));
EQUAL(sizeof(kmbi_hiprtc_result), sizeof(hiprtcResult));
EQUAL(sizeof(kmbi_hip_enum), sizeof(hipDeviceAttribute_t));
EQUAL(sizeof(kmbi_hip_enum), sizeof(hipMemcpyKind));
EQUAL(sizeof(kmbi_hip_enum), sizeof(hipStreamCaptureMode));
EQUAL(sizeof(kmbi_hip_enum), sizeof(hipStreamCaptureStatus));

#define RESULT(name, value, status) EQUAL(KMBI_HIP_##name, hipError##name);
KMBI_HIP_RESULT_MAP(RESULT)
EQUAL(KMBI_HIP_Success, hipSuccess);
EQUAL(KMBI_HIP_NotReady, hipErrorNotReady);
#define ATTRIBUTE(name, value) \
  EQUAL(KMBI_HIP_ATTR_##name, hipDeviceAttribute##name);
KMBI_HIP_ATTRIBUTE_MAP(ATTRIBUTE)
#if HIP_VERSION_MAJOR >= 6
EQUAL(KMBI_HIP_ATTR_WallClockRate, hipDeviceAttributeWallClockRate);
EQUAL(KMBI_HIP_EVENT_NO_SYSTEM_FENCE, hipEventDisableSystemFence);
#endif
EQUAL(KMBI_HIP_FUNC_MAX_THREADS, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
EQUAL(KMBI_HIP_FUNC_SHARED, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
EQUAL(KMBI_HIP_FUNC_LOCAL, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
EQUAL(KMBI_HIP_FUNC_REGISTERS, HIP_FUNC_ATTRIBUTE_NUM_REGS);
EQUAL(KMBI_HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking);
EQUAL(KMBI_HIP_EVENT_DEFAULT, hipEventDefault);
EQUAL(KMBI_HIP_HOST_PORTABLE, hipHostMallocPortable);
EQUAL(KMBI_HIP_HOST_MAPPED, hipHostMallocMapped);
EQUAL(KMBI_HIP_COPY_TO_DEVICE, hipMemcpyHostToDevice);
EQUAL(KMBI_HIP_COPY_TO_HOST, hipMemcpyDeviceToHost);
EQUAL(KMBI_HIP_CAPTURE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal);
EQUAL(KMBI_HIP_CAPTURING_NONE, hipStreamCaptureStatusNone);
EQUAL(KMBI_HIPRTC_SUCCESS, HIPRTC_SUCCESS);
EQUAL(KMBI_HIPRTC_COMPILATION, HIPRTC_ERROR_COMPILATION);

/* Properties. */
#if HIP_VERSION_MAJOR >= 6
#define OLD hipDeviceProp_tR0000
#define NEW hipDeviceProp_tR0600
EQUAL(KMBI_HIP_R0600_BYTES, sizeof(NEW));
EQUAL(KMBI_HIP_R0600_UNITS, offsetof(NEW, multiProcessorCount));
EQUAL(KMBI_HIP_R0600_ARCH, offsetof(NEW, gcnArchName));
#else
#define OLD hipDeviceProp_t
#endif
EQUAL(KMBI_HIP_R0000_BYTES, sizeof(OLD));
EQUAL(KMBI_HIP_R0000_UNITS, offsetof(OLD, multiProcessorCount));
EQUAL(KMBI_HIP_R0000_ARCH, offsetof(OLD, gcnArchName));
EQUAL(KMBI_HIP_ARCH_BYTES, sizeof(((OLD *)0)->gcnArchName));
_Static_assert(KMBI_HIP_R0600_ARCH + KMBI_HIP_ARCH_BYTES <=
                   KMBI_HIP_R0600_BYTES,
               "R0600");

/* Functions: what they take. Their enums differ from ours by name alone, which
 * C calls compatible where GCC made both unsigned. */
#define OURS(name) __typeof__(*((kmbi_hip_api *)0)->name)
#define TAKES(name) SAME(OURS(name), __typeof__(name), #name)
TAKES(hipInit);
TAKES(hipDriverGetVersion);
TAKES(hipRuntimeGetVersion);
TAKES(hipGetErrorName);
TAKES(hipGetErrorString);
TAKES(hipGetLastError);
TAKES(hipGetDeviceCount);
TAKES(hipGetDevice);
TAKES(hipSetDevice);
TAKES(hipDeviceGetName);
TAKES(hipDeviceGetUuid);
TAKES(hipDeviceGetPCIBusId);
TAKES(hipDeviceTotalMem);
TAKES(hipDeviceGetAttribute);
TAKES(hipMalloc);
TAKES(hipFree);
TAKES(hipMemGetInfo);
TAKES(hipHostMalloc);
TAKES(hipHostFree);
TAKES(hipHostGetDevicePointer);
TAKES(hipMemcpyAsync);
TAKES(hipMemsetD32Async);
TAKES(hipModuleLoadData);
TAKES(hipModuleUnload);
TAKES(hipModuleGetFunction);
TAKES(hipModuleLaunchKernel);
TAKES(hipFuncGetAttribute);
TAKES(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
TAKES(hipStreamCreateWithFlags);
TAKES(hipStreamDestroy);
TAKES(hipStreamQuery);
TAKES(hipStreamBeginCapture);
TAKES(hipStreamEndCapture);
TAKES(hipStreamIsCapturing);
TAKES(hipGraphGetNodes);
TAKES(hipGraphInstantiate);
TAKES(hipGraphLaunch);
TAKES(hipGraphExecDestroy);
TAKES(hipGraphDestroy);
TAKES(hipEventCreateWithFlags);
TAKES(hipEventDestroy);
TAKES(hipEventRecord);
TAKES(hipEventElapsedTime);
#if HIP_VERSION_MAJOR >= 6
TAKES(hipStreamGetDevice);
TAKES(hipGraphUpload);
#endif
EQUAL(sizeof(kmbi_hip_get_properties), sizeof(&hipGetDeviceProperties));

#undef OURS
#define OURS(name) __typeof__(*((kmbi_hiprtc_api *)0)->name)
TAKES(hiprtcGetErrorString);
TAKES(hiprtcCreateProgram);
TAKES(hiprtcCompileProgram);
TAKES(hiprtcGetProgramLogSize);
TAKES(hiprtcGetProgramLog);
TAKES(hiprtcGetCodeSize);
TAKES(hiprtcGetCode);
TAKES(hiprtcDestroyProgram);

/* HSA. */
EQUAL(sizeof(kmbi_hsa_agent), sizeof(hsa_agent_t));
EQUAL(KMBI_HSA_SUCCESS, HSA_STATUS_SUCCESS);
EQUAL(KMBI_HSA_INFO_DEVICE, HSA_AGENT_INFO_DEVICE);
EQUAL(KMBI_HSA_INFO_CACHES, HSA_AGENT_INFO_CACHE_SIZE);
EQUAL(KMBI_HSA_INFO_BDF, HSA_AMD_AGENT_INFO_BDFID);
EQUAL(KMBI_HSA_INFO_DOMAIN, HSA_AMD_AGENT_INFO_DOMAIN);
EQUAL(HSA_DEVICE_TYPE_GPU, 1);
#undef OURS
#define OURS(name) __typeof__(*((kmbi_hsa_api *)0)->name)
TAKES(hsa_init);
TAKES(hsa_shut_down);
EQUAL(sizeof(hsa_status_t), sizeof(kmbi_hsa_status));

int main(void) {
  printf("ok our declarations are those of HIP %d.%d\n", HIP_VERSION_MAJOR,
         HIP_VERSION_MINOR);
  return 0;
}

#endif
