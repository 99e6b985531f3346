/* Our declarations of the vendor's interfaces beside the vendor's own headers.
 * Everything is checked when this file is compiled; where there are no headers,
 * it says so. */
#ifndef KMB_HAVE_CUDA

#include <stdio.h>

int main(void) {
  puts("SKIPPED: the CUDA toolkit's headers were not found, so that our "
       "declarations are not compared with them");
  return 77;
}

#else

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <kmb/base.h>

#include <cupti_api.h>
#include <driver_api.h>
#include <profiler_api.h>

#define SAME(a, b, what) \
  _Static_assert(__builtin_types_compatible_p(a, b), what " differs")
#define EQUAL(a, b) _Static_assert((long long)(a) == (long long)(b), #b)

/* Prototypes of exactly the version that is asked for. */
#define PROTOTYPE(name, version, symbol, need, arguments) \
  SAME(__typeof__(((kmbi_cu_driver *)0)->name), PFN_##name##_v##version, #name);
KMBI_CU_MAP(PROTOTYPE)
SAME(kmbi_cu_get_proc_v2, PFN_cuGetProcAddress_v12000, "cuGetProcAddress_v2");
SAME(kmbi_cu_get_proc_v1, PFN_cuGetProcAddress_v11030, "cuGetProcAddress");

/* Handles, numbers, constants of the driver. */
SAME(kmbi_cu_context, CUcontext, "CUcontext");
SAME(kmbi_cu_stream, CUstream, "CUstream");
SAME(kmbi_cu_pointer, CUdeviceptr, "CUdeviceptr");
EQUAL(sizeof(CUuuid), 16);
EQUAL(sizeof(kmbi_cu_edge), sizeof(CUgraphEdgeData));
EQUAL(offsetof(kmbi_cu_edge, type), offsetof(CUgraphEdgeData, type));
EQUAL(KMBI_CU_EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
#define RESULT(name, value, status) EQUAL(KMBI_CU_##name, CUDA_ERROR_##name);
KMBI_CU_RESULT_MAP(RESULT)
EQUAL(KMBI_CU_SUCCESS, CUDA_SUCCESS);
EQUAL(KMBI_CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
EQUAL(KMBI_CU_NOT_READY, CUDA_ERROR_NOT_READY);
#define ATTRIBUTE(name, value) \
  EQUAL(KMBI_CU_ATTR_##name, CU_DEVICE_ATTRIBUTE_##name);
KMBI_CU_ATTRIBUTE_MAP(ATTRIBUTE)
EQUAL(KMBI_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
EQUAL(KMBI_CU_EVENT_DEFAULT, CU_EVENT_DEFAULT);
EQUAL(KMBI_CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
EQUAL(KMBI_CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
EQUAL(KMBI_CU_HOST_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP);
EQUAL(KMBI_CU_WAIT_GEQ, CU_STREAM_WAIT_VALUE_GEQ);
EQUAL(KMBI_CU_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
EQUAL(KMBI_CU_CAPTURING_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
EQUAL(KMBI_CU_POINTER_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT);
EQUAL(KMBI_CU_PROC_DEFAULT, CU_GET_PROC_ADDRESS_DEFAULT);

/* CUPTI: constants. */
#define CUPTI_RESULT(name, value, status) \
  EQUAL(KMBI_CUPTI_##name, CUPTI_ERROR_##name);
KMBI_CUPTI_RESULT_MAP(CUPTI_RESULT)
EQUAL(KMBI_CUPTI_SUCCESS, CUPTI_SUCCESS);
EQUAL(KMBI_CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
#define KIND(name, value) \
  EQUAL(KMBI_CUPTI_KIND_##name, CUPTI_ACTIVITY_KIND_##name);
KMBI_CUPTI_KIND_MAP(KIND)
EQUAL(KMBI_CUPTI_EXTERNAL_CUSTOM2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
EQUAL(KMBI_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
#define DRIVER_CALL(name, id) EQUAL(id, CUPTI_DRIVER_TRACE_CBID_##name);
KMBI_CUPTI_DRIVER_CALLS(DRIVER_CALL)
#define RUNTIME_CALL(name, id) EQUAL(id, CUPTI_RUNTIME_TRACE_CBID_##name);
KMBI_CUPTI_RUNTIME_CALLS(RUNTIME_CALL)

/* CUPTI: prefixes of records. The newest struct of the header stands for all
 * that came before; fields were only appended. */
#define FIELD(ours, own, theirs, field)                \
  EQUAL(offsetof(ours, own), offsetof(theirs, field)); \
  EQUAL(sizeof(((ours *)0)->own), sizeof(((theirs *)0)->field))
#define KERNEL(type)                                                   \
  FIELD(kmbi_cupti_kernel, kind, type, kind);                          \
  FIELD(kmbi_cupti_kernel, start, type, start);                        \
  FIELD(kmbi_cupti_kernel, end, type, end);                            \
  FIELD(kmbi_cupti_kernel, device, type, deviceId);                    \
  FIELD(kmbi_cupti_kernel, context, type, contextId);                  \
  FIELD(kmbi_cupti_kernel, stream, type, streamId);                    \
  FIELD(kmbi_cupti_kernel, correlation, type, correlationId);          \
  FIELD(kmbi_cupti_kernel, name, type, name);                          \
  FIELD(kmbi_cupti_kernel, registers, type, registersPerThread);       \
  FIELD(kmbi_cupti_kernel, grid_x, type, gridX);                       \
  FIELD(kmbi_cupti_kernel, grid_y, type, gridY);                       \
  FIELD(kmbi_cupti_kernel, grid_z, type, gridZ);                       \
  FIELD(kmbi_cupti_kernel, block_x, type, blockX);                     \
  FIELD(kmbi_cupti_kernel, block_y, type, blockY);                     \
  FIELD(kmbi_cupti_kernel, block_z, type, blockZ);                     \
  FIELD(kmbi_cupti_kernel, static_shared, type, staticSharedMemory);   \
  FIELD(kmbi_cupti_kernel, dynamic_shared, type, dynamicSharedMemory); \
  FIELD(kmbi_cupti_kernel, local, type, localMemoryPerThread);         \
  _Static_assert(sizeof(kmbi_cupti_kernel) <= sizeof(type), #type)
KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel10);
#define COPY(ours, type)                         \
  FIELD(ours, kind, type, kind);                 \
  FIELD(ours, bytes, type, bytes);               \
  FIELD(ours, start, type, start);               \
  FIELD(ours, end, type, end);                   \
  FIELD(ours, device, type, deviceId);           \
  FIELD(ours, context, type, contextId);         \
  FIELD(ours, stream, type, streamId);           \
  FIELD(ours, correlation, type, correlationId); \
  _Static_assert(sizeof(ours) <= sizeof(type), #type)
COPY(kmbi_cupti_copy, CUpti_ActivityMemcpy5);
COPY(kmbi_cupti_copy, CUpti_ActivityMemcpy6);
COPY(kmbi_cupti_peer, CUpti_ActivityMemcpyPtoP4);
COPY(kmbi_cupti_set, CUpti_ActivityMemset4);
FIELD(kmbi_cupti_copy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
FIELD(kmbi_cupti_copy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
FIELD(kmbi_cupti_call, kind, CUpti_ActivityAPI, kind);
FIELD(kmbi_cupti_call, id, CUpti_ActivityAPI, cbid);
FIELD(kmbi_cupti_call, start, CUpti_ActivityAPI, start);
FIELD(kmbi_cupti_call, end, CUpti_ActivityAPI, end);
FIELD(kmbi_cupti_call, process, CUpti_ActivityAPI, processId);
FIELD(kmbi_cupti_call, thread, CUpti_ActivityAPI, threadId);
FIELD(kmbi_cupti_call, correlation, CUpti_ActivityAPI, correlationId);
FIELD(kmbi_cupti_call, result, CUpti_ActivityAPI, returnValue);
EQUAL(sizeof(kmbi_cupti_call), sizeof(CUpti_ActivityAPI));
#define COPY_KIND(name, value, text) \
  EQUAL(value, CUPTI_ACTIVITY_MEMCPY_KIND_##name);
KMBI_CUPTI_COPY_MAP(COPY_KIND)
EQUAL(KMBI_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(KMBI_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
EQUAL(KMBI_CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
EQUAL(KMBI_CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
EQUAL(KMBI_CUPTI_MODULE_UNLOAD, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
EQUAL(KMBI_CUPTI_CALL_ENTER, CUPTI_API_ENTER);
#define LAUNCH_CALL(name, id, how) EQUAL(id, CUPTI_DRIVER_TRACE_CBID_##name);
KMBI_CUPTI_LAUNCH_CALLS(LAUNCH_CALL)
FIELD(kmbi_cupti_called, site, CUpti_CallbackData, callbackSite);
FIELD(kmbi_cupti_called, function, CUpti_CallbackData, functionName);
FIELD(kmbi_cupti_called, parameters, CUpti_CallbackData, functionParams);
FIELD(kmbi_cupti_called, returned, CUpti_CallbackData, functionReturnValue);
FIELD(kmbi_cupti_called, symbol, CUpti_CallbackData, symbolName);
FIELD(kmbi_cupti_called, context, CUpti_CallbackData, context);
FIELD(kmbi_cupti_resource, context, CUpti_ResourceData, context);
FIELD(kmbi_cupti_resource, described, CUpti_ResourceData, resourceDescriptor);
FIELD(kmbi_cupti_module, id, CUpti_ModuleResourceData, moduleId);
FIELD(kmbi_cupti_module, size, CUpti_ModuleResourceData, cubinSize);
FIELD(kmbi_cupti_module, image, CUpti_ModuleResourceData, pCubin);
#define LAUNCH_PLAIN(type)                                                    \
  FIELD(kmbi_cupti_launch_plain, function, type, f);                          \
  EQUAL(offsetof(kmbi_cupti_launch_plain, grid), offsetof(type, gridDimX));   \
  EQUAL(offsetof(kmbi_cupti_launch_plain, block), offsetof(type, blockDimX)); \
  FIELD(kmbi_cupti_launch_plain, shared, type, sharedMemBytes)
LAUNCH_PLAIN(cuLaunchKernel_params);
LAUNCH_PLAIN(cuLaunchKernel_ptsz_params);
LAUNCH_PLAIN(cuLaunchCooperativeKernel_params);
LAUNCH_PLAIN(cuLaunchCooperativeKernel_ptsz_params);
#define LAUNCH_CONFIG(type)                              \
  FIELD(kmbi_cupti_launch_config, config, type, config); \
  FIELD(kmbi_cupti_launch_config, function, type, f)
LAUNCH_CONFIG(cuLaunchKernelEx_params);
LAUNCH_CONFIG(cuLaunchKernelEx_ptsz_params);
EQUAL(offsetof(struct kmbi_cupti_config, grid),
      offsetof(CUlaunchConfig, gridDimX));
EQUAL(offsetof(struct kmbi_cupti_config, block),
      offsetof(CUlaunchConfig, blockDimX));
FIELD(struct kmbi_cupti_config, shared, CUlaunchConfig, sharedMemBytes);
EQUAL(0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
EQUAL(1, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
EQUAL(3, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
EQUAL(4, CU_FUNC_ATTRIBUTE_NUM_REGS);
EQUAL(6, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
FIELD(kmbi_cupti_external, kind, CUpti_ActivityExternalCorrelation, kind);
FIELD(kmbi_cupti_external, external_kind, CUpti_ActivityExternalCorrelation,
      externalKind);
FIELD(kmbi_cupti_external, id, CUpti_ActivityExternalCorrelation, externalId);
FIELD(kmbi_cupti_external, correlation, CUpti_ActivityExternalCorrelation,
      correlationId);
EQUAL(sizeof(kmbi_cupti_external), sizeof(CUpti_ActivityExternalCorrelation));

/* CUPTI: its functions take what ours do. Enums and pointers to records are
 * other types by name alone. */
#define OURS(name) __typeof__(*((kmbi_cupti_api *)0)->name)
SAME(OURS(cuptiGetVersion), __typeof__(cuptiGetVersion), "cuptiGetVersion");
SAME(OURS(cuptiGetResultString), __typeof__(cuptiGetResultString),
     "cuptiGetResultString");
SAME(OURS(cuptiUnsubscribe), __typeof__(cuptiUnsubscribe), "cuptiUnsubscribe");
SAME(OURS(cuptiActivityRegisterCallbacks),
     __typeof__(cuptiActivityRegisterCallbacks),
     "cuptiActivityRegisterCallbacks");
SAME(OURS(cuptiActivityEnable), __typeof__(cuptiActivityEnable),
     "cuptiActivityEnable");
SAME(OURS(cuptiActivityDisable), __typeof__(cuptiActivityDisable),
     "cuptiActivityDisable");
SAME(OURS(cuptiActivityFlushAll), __typeof__(cuptiActivityFlushAll),
     "cuptiActivityFlushAll");
SAME(OURS(cuptiActivityGetNumDroppedRecords),
     __typeof__(cuptiActivityGetNumDroppedRecords),
     "cuptiActivityGetNumDroppedRecords");
SAME(OURS(cuptiActivityPushExternalCorrelationId),
     __typeof__(cuptiActivityPushExternalCorrelationId),
     "cuptiActivityPushExternalCorrelationId");
SAME(OURS(cuptiActivityPopExternalCorrelationId),
     __typeof__(cuptiActivityPopExternalCorrelationId),
     "cuptiActivityPopExternalCorrelationId");
SAME(OURS(cuptiActivityEnableDriverApi),
     __typeof__(cuptiActivityEnableDriverApi), "cuptiActivityEnableDriverApi");
SAME(OURS(cuptiActivityEnableRuntimeApi),
     __typeof__(cuptiActivityEnableRuntimeApi),
     "cuptiActivityEnableRuntimeApi");
SAME(OURS(cuptiGetContextId), __typeof__(cuptiGetContextId),
     "cuptiGetContextId");
SAME(OURS(cuptiGetTimestamp), __typeof__(cuptiGetTimestamp),
     "cuptiGetTimestamp");
SAME(CUptiResult(CUpti_CallbackDomain, uint32_t, const char **),
     __typeof__(cuptiGetCallbackName), "cuptiGetCallbackName");
SAME(CUptiResult(uint8_t *, size_t, CUpti_Activity **),
     __typeof__(cuptiActivityGetNextRecord), "cuptiActivityGetNextRecord");
SAME(CUptiResult(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                 CUpti_CallbackId),
     __typeof__(cuptiEnableCallback), "cuptiEnableCallback");
SAME(CUptiResult(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *),
     __typeof__(cuptiSubscribe), "cuptiSubscribe");
SAME(__typeof__(CUpti_CallbackFunc),
     void (*)(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *),
     "CUpti_CallbackFunc");
EQUAL(sizeof(CUpti_CallbackDomain), sizeof(kmbi_cupti_enum));
EQUAL(sizeof(CUpti_SubscriberHandle), sizeof(kmbi_cupti_subscriber));

/* CUPTI: the range profiler. */
EQUAL(KMBI_PROFILER_RANGE, CUPTI_PROFILER_RANGE_PROFILING);
EQUAL(KMBI_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
EQUAL(KMBI_PROFILER_UNSUPPORTED, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
EQUAL(KMBI_PROFILER_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED);
EQUAL(KMBI_PROFILER_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
EQUAL(KMBI_RANGE_AUTO, CUPTI_AutoRange);
EQUAL(KMBI_RANGE_USER, CUPTI_UserRange);
EQUAL(KMBI_REPLAY_KERNEL, CUPTI_KernelReplay);
EQUAL(KMBI_REPLAY_USER, CUPTI_UserReplay);
#define SIZE(ours, last, theirs) \
  EQUAL(KMBI_PROFILER_SIZE(ours, last), theirs##_STRUCT_SIZE)
#define TAKES(symbol, theirs) \
  SAME(CUptiResult(theirs *), __typeof__(symbol), #symbol)
SIZE(kmbi_profiler_initialize, none, CUpti_Profiler_Initialize_Params);
TAKES(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params);
FIELD(kmbi_profiler_supported, device, CUpti_Profiler_DeviceSupported_Params,
      cuDevice);
FIELD(kmbi_profiler_supported, supported, CUpti_Profiler_DeviceSupported_Params,
      isSupported);
FIELD(kmbi_profiler_supported, architecture,
      CUpti_Profiler_DeviceSupported_Params, architecture);
FIELD(kmbi_profiler_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli);
FIELD(kmbi_profiler_supported, vgpu, CUpti_Profiler_DeviceSupported_Params,
      vGpu);
FIELD(kmbi_profiler_supported, confidential,
      CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
FIELD(kmbi_profiler_supported, cmp, CUpti_Profiler_DeviceSupported_Params, cmp);
FIELD(kmbi_profiler_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
FIELD(kmbi_profiler_supported, api, CUpti_Profiler_DeviceSupported_Params, api);
SIZE(kmbi_profiler_supported, api, CUpti_Profiler_DeviceSupported_Params);
TAKES(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params);
FIELD(kmbi_profiler_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
FIELD(kmbi_profiler_chip, name, CUpti_Device_GetChipName_Params, pChipName);
SIZE(kmbi_profiler_chip, name, CUpti_Device_GetChipName_Params);
TAKES(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params);
FIELD(kmbi_host_initialize, type, CUpti_Profiler_Host_Initialize_Params,
      profilerType);
FIELD(kmbi_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params,
      pChipName);
FIELD(kmbi_host_initialize, available, CUpti_Profiler_Host_Initialize_Params,
      pCounterAvailabilityImage);
FIELD(kmbi_host_initialize, host, CUpti_Profiler_Host_Initialize_Params,
      pHostObject);
SIZE(kmbi_host_initialize, host, CUpti_Profiler_Host_Initialize_Params);
TAKES(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params);
FIELD(kmbi_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params,
      pHostObject);
SIZE(kmbi_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params);
TAKES(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
FIELD(kmbi_host_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params,
      pHostObject);
FIELD(kmbi_host_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params,
      ppMetricNames);
FIELD(kmbi_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params,
      numMetrics);
SIZE(kmbi_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
TAKES(cuptiProfilerHostConfigAddMetrics,
      CUpti_Profiler_Host_ConfigAddMetrics_Params);
FIELD(kmbi_host_config_size, host,
      CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
FIELD(kmbi_host_config_size, bytes,
      CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SIZE(kmbi_host_config_size, bytes,
     CUpti_Profiler_Host_GetConfigImageSize_Params);
TAKES(cuptiProfilerHostGetConfigImageSize,
      CUpti_Profiler_Host_GetConfigImageSize_Params);
FIELD(kmbi_host_config, host, CUpti_Profiler_Host_GetConfigImage_Params,
      pHostObject);
FIELD(kmbi_host_config, bytes, CUpti_Profiler_Host_GetConfigImage_Params,
      configImageSize);
FIELD(kmbi_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params,
      pConfigImage);
SIZE(kmbi_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params);
TAKES(cuptiProfilerHostGetConfigImage,
      CUpti_Profiler_Host_GetConfigImage_Params);
FIELD(kmbi_host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params,
      configImageSize);
FIELD(kmbi_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params,
      pConfigImage);
FIELD(kmbi_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params,
      numOfPasses);
SIZE(kmbi_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
TAKES(cuptiProfilerHostGetNumOfPasses,
      CUpti_Profiler_Host_GetNumOfPasses_Params);
FIELD(kmbi_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      pHostObject);
FIELD(kmbi_host_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      pCounterDataImage);
FIELD(kmbi_host_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      counterDataImageSize);
FIELD(kmbi_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      rangeIndex);
FIELD(kmbi_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      ppMetricNames);
FIELD(kmbi_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      numMetrics);
FIELD(kmbi_host_evaluate, values,
      CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SIZE(kmbi_host_evaluate, values,
     CUpti_Profiler_Host_EvaluateToGpuValues_Params);
TAKES(cuptiProfilerHostEvaluateToGpuValues,
      CUpti_Profiler_Host_EvaluateToGpuValues_Params);
FIELD(kmbi_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
FIELD(kmbi_range_enable, profiler, CUpti_RangeProfiler_Enable_Params,
      pRangeProfilerObject);
SIZE(kmbi_range_enable, profiler, CUpti_RangeProfiler_Enable_Params);
TAKES(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params);
FIELD(kmbi_range_disable, profiler, CUpti_RangeProfiler_Disable_Params,
      pRangeProfilerObject);
SIZE(kmbi_range_disable, profiler, CUpti_RangeProfiler_Disable_Params);
TAKES(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params);
FIELD(kmbi_range_start, profiler, CUpti_RangeProfiler_Start_Params,
      pRangeProfilerObject);
SIZE(kmbi_range_start, profiler, CUpti_RangeProfiler_Start_Params);
TAKES(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params);
FIELD(kmbi_range_pop, profiler, CUpti_RangeProfiler_PopRange_Params,
      pRangeProfilerObject);
SIZE(kmbi_range_pop, profiler, CUpti_RangeProfiler_PopRange_Params);
TAKES(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params);
FIELD(kmbi_range_data_size, profiler,
      CUpti_RangeProfiler_GetCounterDataSize_Params, pRangeProfilerObject);
FIELD(kmbi_range_data_size, names,
      CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
FIELD(kmbi_range_data_size, count,
      CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
FIELD(kmbi_range_data_size, ranges,
      CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
FIELD(kmbi_range_data_size, nodes,
      CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
FIELD(kmbi_range_data_size, bytes,
      CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SIZE(kmbi_range_data_size, bytes,
     CUpti_RangeProfiler_GetCounterDataSize_Params);
TAKES(cuptiRangeProfilerGetCounterDataSize,
      CUpti_RangeProfiler_GetCounterDataSize_Params);
FIELD(kmbi_range_data, profiler,
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
      pRangeProfilerObject);
FIELD(kmbi_range_data, bytes,
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize);
FIELD(kmbi_range_data, image,
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SIZE(kmbi_range_data, image,
     CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
TAKES(cuptiRangeProfilerCounterDataImageInitialize,
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
FIELD(kmbi_range_config, profiler, CUpti_RangeProfiler_SetConfig_Params,
      pRangeProfilerObject);
FIELD(kmbi_range_config, config_bytes, CUpti_RangeProfiler_SetConfig_Params,
      configSize);
FIELD(kmbi_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
FIELD(kmbi_range_config, data_bytes, CUpti_RangeProfiler_SetConfig_Params,
      counterDataImageSize);
FIELD(kmbi_range_config, data, CUpti_RangeProfiler_SetConfig_Params,
      pCounterDataImage);
FIELD(kmbi_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
FIELD(kmbi_range_config, replay, CUpti_RangeProfiler_SetConfig_Params,
      replayMode);
FIELD(kmbi_range_config, ranges, CUpti_RangeProfiler_SetConfig_Params,
      maxRangesPerPass);
FIELD(kmbi_range_config, levels, CUpti_RangeProfiler_SetConfig_Params,
      numNestingLevels);
FIELD(kmbi_range_config, first_level, CUpti_RangeProfiler_SetConfig_Params,
      minNestingLevel);
FIELD(kmbi_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
FIELD(kmbi_range_config, target_level, CUpti_RangeProfiler_SetConfig_Params,
      targetNestingLevel);
SIZE(kmbi_range_config, target_level, CUpti_RangeProfiler_SetConfig_Params);
TAKES(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params);
FIELD(kmbi_range_push, profiler, CUpti_RangeProfiler_PushRange_Params,
      pRangeProfilerObject);
FIELD(kmbi_range_push, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SIZE(kmbi_range_push, name, CUpti_RangeProfiler_PushRange_Params);
TAKES(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params);
FIELD(kmbi_range_stop, profiler, CUpti_RangeProfiler_Stop_Params,
      pRangeProfilerObject);
FIELD(kmbi_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
FIELD(kmbi_range_stop, level, CUpti_RangeProfiler_Stop_Params,
      targetNestingLevel);
FIELD(kmbi_range_stop, complete, CUpti_RangeProfiler_Stop_Params,
      isAllPassSubmitted);
SIZE(kmbi_range_stop, complete, CUpti_RangeProfiler_Stop_Params);
TAKES(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params);
FIELD(kmbi_range_decode, profiler, CUpti_RangeProfiler_DecodeData_Params,
      pRangeProfilerObject);
FIELD(kmbi_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params,
      numOfRangeDropped);
SIZE(kmbi_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
TAKES(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params);
FIELD(kmbi_range_count, image, CUpti_RangeProfiler_GetCounterDataInfo_Params,
      pCounterDataImage);
FIELD(kmbi_range_count, bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params,
      counterDataImageSize);
FIELD(kmbi_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params,
      numTotalRanges);
SIZE(kmbi_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);
TAKES(cuptiRangeProfilerGetCounterDataInfo,
      CUpti_RangeProfiler_GetCounterDataInfo_Params);

/* cuBLASLt, which is another package of the toolkit. */
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <lt_api.h>
EQUAL(sizeof(kmbi_lt_algorithm), sizeof(cublasLtMatmulAlgo_t));
EQUAL(sizeof(kmbi_lt_candidate), sizeof(cublasLtMatmulHeuristicResult_t));
FIELD(kmbi_lt_candidate, workspace, cublasLtMatmulHeuristicResult_t,
      workspaceSize);
FIELD(kmbi_lt_candidate, state, cublasLtMatmulHeuristicResult_t, state);
FIELD(kmbi_lt_candidate, waves, cublasLtMatmulHeuristicResult_t, wavesCount);
SAME(kmbi_lt_handle, cublasLtHandle_t, "cublasLtHandle_t");
EQUAL(sizeof(cublasComputeType_t), sizeof(kmbi_lt_enum));
EQUAL(sizeof(cudaDataType_t), sizeof(kmbi_lt_enum));
EQUAL(KMBI_LT_SUCCESS, CUBLAS_STATUS_SUCCESS);
EQUAL(KMBI_LT_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED);
EQUAL(KMBI_LT_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH);
EQUAL(KMBI_LT_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
EQUAL(KMBI_LT_TRANSPOSE_A, CUBLASLT_MATMUL_DESC_TRANSA);
EQUAL(KMBI_LT_MOST_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
EQUAL(KMBI_LT_PLAIN, CUBLAS_OP_N);
EQUAL(KMBI_LT_TRANSPOSED, CUBLAS_OP_T);
EQUAL(KMBI_LT_F32, CUDA_R_32F);
EQUAL(KMBI_LT_F64, CUDA_R_64F);
EQUAL(KMBI_LT_F16, CUDA_R_16F);
EQUAL(KMBI_LT_I8, CUDA_R_8I);
EQUAL(KMBI_LT_I32, CUDA_R_32I);
EQUAL(KMBI_LT_BF16, CUDA_R_16BF);
EQUAL(KMBI_LT_E4M3, CUDA_R_8F_E4M3);
EQUAL(KMBI_LT_COMPUTE_F32, CUBLAS_COMPUTE_32F);
EQUAL(KMBI_LT_COMPUTE_F64, CUBLAS_COMPUTE_64F);
EQUAL(KMBI_LT_COMPUTE_I32, CUBLAS_COMPUTE_32I);
EQUAL(KMBI_LT_COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
#endif

int main(void) {
  return 0;
}

#endif
