/* libcuda.so.1: the process, devices, contexts, memory, modules, launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "exports.h"

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_HANDLE = 400 };

/* A call that needs a context in order. */
#define ENTER_CONTEXT(name, cost) \
  SIM_ENTER(name, cost);          \
  sim_pump();                     \
  if (sim_usable()) return sim_usable()

/* The process. */

kmbi_cu_result sim_get_proc(const char *symbol, void **function, int version,
                            uint64_t flags, kmbi_cu_enum *status) {
  static const struct {
    const char *name;
    int since;
    void (*function)(void);
  } known[] = {
#define ENTRY(name, version, symbol, need, arguments) \
  {#name, version, (void (*)(void))sim_##name},
      KMBI_CU_MAP(ENTRY)
#undef ENTRY
  };
  SIM_ENTER(cuGetProcAddress, SIM_CALL);
  (void)flags;
  *function = NULL;
  if (status) *status = 1; /* not found */
  if (version > sim_set()->driver_version) return INVALID_VALUE;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].name, symbol) != 0 || sim_lacks(symbol)) continue;
    if (known[i].since <= version) memcpy(function, &known[i].function, 8);
    if (status) *status = known[i].since <= version ? 0 : 2;
  }
  return 0;
}

kmbi_cu_result sim_cuInit(unsigned flags) {
  SIM_ENTER(cuInit, SIM_CALL);
  if (!sim_set()->devices) return KMBI_CU_NO_DEVICE;
  return flags ? INVALID_VALUE : 0;
}

kmbi_cu_result sim_cuDriverGetVersion(int *version) {
  SIM_ENTER(cuDriverGetVersion, SIM_CALL);
  *version = sim_set()->driver_version;
  return 0;
}

static const char *error_name(kmbi_cu_result result) {
  switch (result) {
  case KMBI_CU_SUCCESS:
    return "CUDA_SUCCESS";
  case KMBI_CU_NOT_READY:
    return "CUDA_ERROR_NOT_READY";
#define CASE(name, value, status) \
  case value:                     \
    return "CUDA_ERROR_" #name;
    KMBI_CU_RESULT_MAP(CASE)
#undef CASE
  case 999:
    return "CUDA_ERROR_UNKNOWN";
  default:
    return NULL;
  }
}

kmbi_cu_result sim_cuGetErrorName(kmbi_cu_result result, const char **text) {
  SIM_ENTER(cuGetErrorName, SIM_CALL);
  *text = error_name(result);
  return *text ? 0 : INVALID_VALUE;
}

kmbi_cu_result sim_cuGetErrorString(kmbi_cu_result result, const char **text) {
  SIM_ENTER(cuGetErrorString, SIM_CALL);
  *text = error_name(result) ? "the simulated driver's words" : NULL;
  return *text ? 0 : INVALID_VALUE;
}

/* Devices. */

static bool is_shown(kmbi_cu_device device) {
  unsigned shown = sim_set()->shown ? sim_set()->shown : 1;
  return device >= 0 && (unsigned)device < shown;
}

kmbi_cu_result sim_cuDeviceGetCount(int *count) {
  SIM_ENTER(cuDeviceGetCount, SIM_CALL);
  *count = sim_set()->shown ? (int)sim_set()->shown : 1;
  return 0;
}

kmbi_cu_result sim_cuDeviceGet(kmbi_cu_device *device, int ordinal) {
  SIM_ENTER(cuDeviceGet, SIM_CALL);
  *device = ordinal;
  return is_shown(ordinal) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuDeviceGetName(char *name, int size,
                                   kmbi_cu_device device) {
  SIM_ENTER(cuDeviceGetName, SIM_CALL);
  snprintf(name, (size_t)size, "Simulated H200%s",
           sim_set()->mig && !sim_set()->mig_unnamed ? " MIG 1g.18gb" : "");
  return is_shown(device) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuDeviceGetUuid(struct CUuuid_st *uuid,
                                   kmbi_cu_device device) {
  SIM_ENTER(cuDeviceGetUuid, SIM_CALL);
  memset(uuid, 0x10 + (int)sim_set()->visible + device, 16);
  return is_shown(device) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuDeviceGetPCIBusId(char *text, int size,
                                       kmbi_cu_device device) {
  SIM_ENTER(cuDeviceGetPCIBusId, SIM_CALL);
  snprintf(text, (size_t)size, "0000:%02x:00.0",
           0x40 + sim_set()->visible + (unsigned)device);
  return is_shown(device) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuDeviceTotalMem(size_t *bytes, kmbi_cu_device device) {
  SIM_ENTER(cuDeviceTotalMem, SIM_CALL);
  *bytes = sim_set()->memory_bytes;
  return is_shown(device) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuDeviceGetAttribute(int *value, kmbi_cu_enum attribute,
                                        kmbi_cu_device device) {
  SIM_ENTER(cuDeviceGetAttribute, SIM_CALL);
  if (!is_shown(device)) return INVALID_DEVICE;
  switch (attribute) {
  case KMBI_CU_ATTR_CLOCK_RATE:
    *value = SIM_CLOCK_KHZ;
    return 0;
  case KMBI_CU_ATTR_MULTIPROCESSOR_COUNT:
    *value = 132;
    return 0;
  case KMBI_CU_ATTR_L2_CACHE_SIZE:
    *value = (int)sim_set()->l2_bytes;
    return 0;
  case KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    return 0;
  case KMBI_CU_ATTR_WARP_SIZE:
    *value = 32;
    return 0;
  case KMBI_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR:
    *value = 2048;
    return 0;
  case KMBI_CU_ATTR_MAX_BLOCKS_PER_MULTIPROCESSOR:
    *value = 32;
    return 0;
  case KMBI_CU_ATTR_MAX_REGISTERS_PER_MULTIPROCESSOR:
    *value = sim_set()->no_unit ? 0 : 65536;
    return 0;
  case KMBI_CU_ATTR_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = 228 << 10;
    return 0;
  case KMBI_CU_ATTR_RESERVED_SHARED_MEMORY_PER_BLOCK:
    *value = 1 << 10;
    return 0;
  case KMBI_CU_ATTR_MPS_ENABLED:
    *value = sim_set()->mps;
    return 0;
  case KMBI_CU_ATTR_GPU_PCI_DEVICE_ID:
    *value = 0x233510de;
    return 0;
  default:
    *value = 0;
    return attribute < 145 ? 0 : INVALID_VALUE;
  }
}

/* Contexts. */

kmbi_cu_result sim_cuDevicePrimaryCtxRetain(kmbi_cu_context *context,
                                            kmbi_cu_device device) {
  SIM_ENTER(cuDevicePrimaryCtxRetain, SIM_CALL);
  if (!is_shown(device)) return INVALID_DEVICE;
  *context = sim_primary((unsigned)device);
  (*context)->references++;
  return 0;
}

kmbi_cu_result sim_cuDevicePrimaryCtxRelease(kmbi_cu_device device) {
  SIM_GUARD(cuDevicePrimaryCtxRelease, SIM_CALL);
  struct CUctx_st *context = sim_primary((unsigned)device);
  if (!is_shown(device) || !context->references) return 201;
  if (--context->references == 0) sim_drop_context(context);
  return guard.result;
}

enum { CURRENT_CALL = 304 };

kmbi_cu_result sim_cuCtxGetCurrent(kmbi_cu_context *context) {
  bool seen = sim_set()->recording_adds && sim_trace_calls();
  SIM_ENTER(cuCtxGetCurrent, SIM_CALL + (seen ? sim_set()->recording_adds : 0));
  if (seen) (void)sim_trace_call(CURRENT_CALL);
  *context = sim_current();
  return 0;
}

kmbi_cu_result sim_cuCtxSetCurrent(kmbi_cu_context context) {
  SIM_ENTER(cuCtxSetCurrent, SIM_CALL);
  sim_make_current(context);
  return 0;
}

kmbi_cu_result sim_cuCtxGetDevice(kmbi_cu_device *device) {
  ENTER_CONTEXT(cuCtxGetDevice, SIM_CALL);
  *device = (kmbi_cu_device)sim_current()->device;
  return 0;
}

kmbi_cu_result sim_cuCtxResetPersistingL2Cache(void) {
  ENTER_CONTEXT(cuCtxResetPersistingL2Cache, SIM_CALL);
  return 0;
}

/* Waits for everything, and no capture outlives that. */
unsigned cuCtxSynchronize(void) {
  ENTER_CONTEXT(cuCtxSynchronize, SIM_CALL);
  if (!sim_capturing(sim_current())) {
    uint64_t start = sim_now();
    sim_drain("cuCtxSynchronize");
    sim_trace_waited(17, start);
    return sim_usable();
  }
  sim_invalidate_all(sim_current());
  return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
}

/* All work of the context is waited for. */
unsigned cuStreamSynchronize(kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuStreamSynchronize, SIM_CALL);
  if (!sim_stream_of(stream)) return INVALID_HANDLE;
  sim_drain("cuStreamSynchronize");
  return sim_usable();
}

/* Memory. */

static uint64_t used(void) {
  uint64_t bytes = 0;
  for (const sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == SIM_BLOCK)
      bytes += ((const struct sim_block *)(const void *)o)->bytes;
  return bytes;
}

/* Memory that nobody wrote holds anything. */
static void *take(sim_type type, size_t bytes, size_t align) {
  void *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!memory) return NULL;
  memset(memory, 0xa5, bytes < 4096 ? bytes : 4096);
  struct sim_block *block = sim_make(type, sizeof *block);
  block->memory = memory;
  block->bytes = bytes;
  return memory;
}

/* A test may take memory away that is in use. */
static size_t unused(void) {
  size_t all = sim_set()->memory_bytes, taken = used();
  return all > taken ? all - taken : 0;
}

kmbi_cu_result sim_cuMemAlloc(kmbi_cu_pointer *pointer, size_t bytes) {
  ENTER_CONTEXT(cuMemAlloc, SIM_LAUNCH);
  if (sim_unsafe()) return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  if (!bytes) return INVALID_VALUE;
  if (bytes > unused()) return KMBI_CU_OUT_OF_MEMORY;
  *pointer = (uintptr_t)take(SIM_BLOCK, bytes, 512);
  return *pointer ? 0 : KMBI_CU_OUT_OF_MEMORY;
}

static struct sim_block *block_at(uint64_t pointer, sim_type type) {
  for (sim_object *o = sim_objects(); o; o = o->next)
    if (o->type == type &&
        (uintptr_t)((struct sim_block *)(void *)o)->memory == pointer)
      return (struct sim_block *)(void *)o;
  return NULL;
}

static kmbi_cu_result give(uint64_t pointer, sim_type type) {
  struct sim_block *block = block_at(pointer, type);
  if (sim_unsafe()) return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  if (!block) return INVALID_VALUE;
  sim_destroy(block);
  return 0;
}

kmbi_cu_result sim_cuMemFree(kmbi_cu_pointer pointer) {
  SIM_GUARD(cuMemFree, SIM_LAUNCH);
  sim_pump();
  if (sim_usable()) return sim_usable();
  sim_drain("cuMemFree");
  kmbi_cu_result result = give(pointer, SIM_BLOCK);
  return guard.result ? guard.result : result;
}

kmbi_cu_result sim_cuMemGetInfo(size_t *available, size_t *total) {
  ENTER_CONTEXT(cuMemGetInfo, SIM_CALL);
  *total = sim_set()->memory_bytes;
  *available = unused();
  return 0;
}

kmbi_cu_result sim_cuMemHostAlloc(void **pointer, size_t bytes,
                                  unsigned flags) {
  ENTER_CONTEXT(cuMemHostAlloc, SIM_LAUNCH);
  if (sim_unsafe()) return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  (void)flags;
  *pointer = take(SIM_PINNED, bytes, 4096);
  return *pointer ? 0 : KMBI_CU_OUT_OF_MEMORY;
}

kmbi_cu_result sim_cuMemFreeHost(void *pointer) {
  SIM_GUARD(cuMemFreeHost, SIM_LAUNCH);
  sim_pump();
  if (sim_usable()) return sim_usable();
  sim_drain("cuMemFreeHost");
  kmbi_cu_result result = give((uintptr_t)pointer, SIM_PINNED);
  return guard.result ? guard.result : result;
}

kmbi_cu_result sim_cuMemHostGetDevicePointer(kmbi_cu_pointer *pointer,
                                             void *host, unsigned flags) {
  ENTER_CONTEXT(cuMemHostGetDevicePointer, SIM_CALL);
  (void)flags;
  *pointer = (uintptr_t)host;
  return block_at(*pointer, SIM_PINNED) ? 0 : INVALID_VALUE;
}

kmbi_cu_result sim_cuPointerGetAttribute(void *value, kmbi_cu_enum attribute,
                                         kmbi_cu_pointer pointer) {
  SIM_ENTER(cuPointerGetAttribute, SIM_CALL);
  const struct sim_block *block = block_at(pointer, SIM_BLOCK);
  if (!block || attribute != KMBI_CU_POINTER_CONTEXT) return INVALID_VALUE;
  memcpy(value, (const void *)&block->object.context, sizeof(void *));
  return 0;
}

/* Memory of other devices, which is all in one place here. */

kmbi_cu_result sim_cuDeviceCanAccessPeer(int *can, kmbi_cu_device device,
                                         kmbi_cu_device peer) {
  SIM_ENTER(cuDeviceCanAccessPeer, SIM_CALL);
  *can = device != peer && !sim_set()->no_peers;
  return is_shown(device) && is_shown(peer) ? 0 : INVALID_DEVICE;
}

kmbi_cu_result sim_cuCtxEnablePeerAccess(kmbi_cu_context peer, unsigned flags) {
  ENTER_CONTEXT(cuCtxEnablePeerAccess, SIM_CALL);
  unsigned bit = 1u << peer->device;
  if (flags || peer == sim_current() || sim_set()->no_peers)
    return INVALID_VALUE;
  if (sim_current()->reaches & bit) return KMBI_CU_PEER_ALREADY_ENABLED;
  sim_current()->reaches |= bit;
  return 0;
}

kmbi_cu_result sim_cuIpcGetMemHandle(struct CUipcMemHandle_st *handle,
                                     kmbi_cu_pointer pointer) {
  ENTER_CONTEXT(cuIpcGetMemHandle, SIM_CALL);
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &pointer, sizeof pointer);
  return block_at(pointer, SIM_BLOCK) ? 0 : INVALID_VALUE;
}

kmbi_cu_result sim_cuIpcOpenMemHandle(kmbi_cu_pointer *pointer,
                                      struct CUipcMemHandle_st handle,
                                      unsigned flags) {
  ENTER_CONTEXT(cuIpcOpenMemHandle, SIM_CALL);
  memcpy(pointer, &handle, sizeof *pointer);
  if (flags != KMBI_CU_IPC_LAZY_PEER_ACCESS || !block_at(*pointer, SIM_BLOCK))
    return INVALID_VALUE;
  sim_hold(1);
  return 0;
}

kmbi_cu_result sim_cuIpcCloseMemHandle(kmbi_cu_pointer pointer) {
  SIM_GUARD(cuIpcCloseMemHandle, SIM_CALL);
  if (!block_at(pointer, SIM_BLOCK)) return INVALID_VALUE;
  sim_hold(-1);
  return guard.result;
}

/* Work, which a capture takes up instead of the stream. */

kmbi_cu_result sim_submit(kmbi_cu_stream handle, sim_op *op, unsigned id) {
  struct CUstream_st *stream = sim_stream_of(handle);
  if (!stream) return INVALID_HANDLE;
  if (stream->capture.active) {
    if (stream->capture.invalid) return KMBI_CU_STREAM_CAPTURE_INVALIDATED;
    sim_append(&stream->capture.graph->end, op);
    stream->capture.graph->count++;
    return 0;
  }
  op->correlation = sim_trace_call(id);
  sim_make_room("a launch");
  sim_enqueue(stream, op);
  sim_pump();
  if (op->kind == KERNEL && sim_set()->blocking) sim_drain("cuLaunchKernel");
  return 0;
}

kmbi_cu_result sim_cuMemcpyHtoDAsync(kmbi_cu_pointer to, const void *from,
                                     size_t bytes, kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuMemcpyHtoDAsync, SIM_LAUNCH);
  sim_op op = {.kind = COPY,
               .to = to,
               .from = (uintptr_t)from,
               .bytes = bytes,
               .value = 1};
  return sim_submit(stream, &op, 277);
}

kmbi_cu_result sim_cuMemcpyDtoHAsync(void *to, kmbi_cu_pointer from,
                                     size_t bytes, kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuMemcpyDtoHAsync, SIM_LAUNCH);
  sim_op op = {.kind = COPY, .to = (uintptr_t)to, .from = from, .bytes = bytes};
  return sim_submit(stream, &op, 279);
}

kmbi_cu_result sim_cuMemcpyDtoDAsync(kmbi_cu_pointer to, kmbi_cu_pointer from,
                                     size_t bytes, kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuMemcpyDtoDAsync, SIM_LAUNCH);
  sim_op op = {
      .kind = COPY, .to = to, .from = from, .bytes = bytes, .value = 2};
  return sim_submit(stream, &op, 281);
}

kmbi_cu_result sim_cuMemsetD32Async(kmbi_cu_pointer to, unsigned value,
                                    size_t words, kmbi_cu_stream stream) {
  ENTER_CONTEXT(cuMemsetD32Async, SIM_LAUNCH);
  sim_op op = {.kind = SET, .to = to, .value = value, .bytes = words * 4};
  return sim_submit(stream, &op, 220);
}

kmbi_cu_result sim_cuLaunchKernel(kmbi_cu_function function, unsigned grid_x,
                                  unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared,
                                  kmbi_cu_stream stream, void **arguments,
                                  void **extra) {
  ENTER_CONTEXT(cuLaunchKernel, SIM_LAUNCH);
  if (!sim_is(function, SIM_FUNCTION)) return INVALID_HANDLE;
  const kmbi_cupti_launch_plain launch = {
      function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
  sim_trace_launch(307, "cuLaunchKernel", &launch, function->kernel->name,
                   sim_current());
  if (!grid_x || !grid_y || !grid_z || extra) return INVALID_VALUE;
  if (!block_x || block_x * block_y * block_z > 1024) return INVALID_VALUE;
  sim_op op = {.kind = KERNEL, .kernel = function->kernel};
  const char *sizes = function->kernel->sizes;
  for (int i = 0; sizes[i]; i++)
    memcpy(&op.a[i], arguments[i], (size_t)(sizes[i] - '0'));
  op.a[SIM_GRID].u32 = grid_x;
  op.launch = launch;
  return sim_submit(stream, &op, 307);
}

/* Modules. */

kmbi_cu_result sim_cuModuleLoadData(kmbi_cu_module *module, const void *image) {
  ENTER_CONTEXT(cuModuleLoadData, SIM_LAUNCH);
  if (!image || memcmp(image, ".version", 8) != 0)
    return KMBI_CU_UNSUPPORTED_PTX_VERSION;
  if (sim_unsafe()) return KMBI_CU_STREAM_CAPTURE_UNSUPPORTED;
  sim_drain("cuModuleLoadData");
  *module = sim_make(SIM_MODULE, sizeof **module);
  sim_trace_module(KMBI_CUPTI_MODULE_LOADED, sim_current());
  return 0;
}

kmbi_cu_result sim_cuModuleUnload(kmbi_cu_module module) {
  SIM_GUARD(cuModuleUnload, SIM_CALL);
  if (!sim_is(module, SIM_MODULE)) return INVALID_HANDLE;
  sim_trace_module(KMBI_CUPTI_MODULE_UNLOAD, sim_current());
  sim_object *next = NULL;
  for (sim_object *o = sim_objects(); o; o = next) {
    next = o->next;
    if (o->type == SIM_FUNCTION &&
        ((struct CUfunc_st *)(void *)o)->module == module)
      sim_destroy(o);
  }
  sim_destroy(module);
  return guard.result;
}

kmbi_cu_result sim_cuModuleGetFunction(kmbi_cu_function *function,
                                       kmbi_cu_module module,
                                       const char *name) {
  ENTER_CONTEXT(cuModuleGetFunction, SIM_CALL);
  const sim_kernel *kernel = sim_kernel_named(name);
  if (!sim_is(module, SIM_MODULE)) return INVALID_HANDLE;
  if (!kernel) return 500; /* not found */
  *function = sim_make(SIM_FUNCTION, sizeof **function);
  (*function)->module = module;
  (*function)->kernel = kernel;
  return 0;
}

/* Of a kernel of a library nothing is told. */
kmbi_cu_result sim_cuFuncGetAttribute(int *value, kmbi_cu_enum attribute,
                                      kmbi_cu_function function) {
  const int values[] = {1024,
                        SIM_STATIC_SHARED,
                        0,
                        SIM_LOCAL,
                        sim_set()->registers ? (int)sim_set()->registers
                                             : SIM_REGISTERS,
                        80,
                        90};
  SIM_ENTER(cuFuncGetAttribute, SIM_CALL);
  if (!sim_is(function, SIM_FUNCTION)) return INVALID_HANDLE;
  if (sim_set()->library_kernels && !function->found) return INVALID_HANDLE;
  if ((size_t)attribute >= sizeof values / sizeof values[0])
    return INVALID_VALUE;
  *value = values[attribute];
  return 0;
}

kmbi_cu_result sim_cuKernelGetFunction(kmbi_cu_function *function,
                                       struct CUkern_st *kernel) {
  ENTER_CONTEXT(cuKernelGetFunction, SIM_CALL);
  if (!sim_set()->library_kernels) return INVALID_HANDLE;
  *function = (kmbi_cu_function)(void *)kernel;
  (*function)->found = true;
  return 0;
}

kmbi_cu_result sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, kmbi_cu_function function, int threads, size_t shared) {
  ENTER_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor, SIM_CALL);
  if (!sim_is(function, SIM_FUNCTION)) return INVALID_HANDLE;
  if (threads <= 0) return INVALID_VALUE;
  /* Of 65536 registers a warp with 40 a thread takes 1280, and each quarter
   * holds twelve such. */
  int warps = (threads + 31) / 32;
  int least = 48 / warps < 32 ? 48 / warps : 32;
  size_t each = (SIM_STATIC_SHARED + shared + 1024 + 127) / 128 * 128;
  int room = (int)((228u << 10) / each);
  *blocks = (room < least ? room : least) - (int)sim_set()->blocks_less;
  return 0;
}
