/* libamdhip64: the process, devices, memory, modules, launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

enum { INVALID_HANDLE = 400, NOT_FOUND = 500, SIM_LDS = 65536 };

kmbi_hip_result sim_hipInit(unsigned flags) {
  SIM_ENTER(hipInit, SIM_CALL);
  if (!sim_set()->devices) return sim_done(KMBI_HIP_InvalidDevice);
  return sim_done(flags ? KMBI_HIP_InvalidValue : 0);
}

kmbi_hip_result sim_hipDriverGetVersion(int *version) {
  SIM_ENTER(hipDriverGetVersion, SIM_CALL);
  *version = sim_set()->version;
  return sim_done(0);
}

kmbi_hip_result sim_hipRuntimeGetVersion(int *version) {
  SIM_ENTER(hipRuntimeGetVersion, SIM_CALL);
  *version = sim_set()->version;
  return sim_done(0);
}

/* Errors. */

static const char *error_name(kmbi_hip_result result) {
  switch (result) {
  case KMBI_HIP_Success:
    return "hipSuccess";
  case KMBI_HIP_NotReady:
    return "hipErrorNotReady";
#define CASE(name, value, status) \
  case value:                     \
    return "hipError" #name;
    KMBI_HIP_RESULT_MAP(CASE)
#undef CASE
  default:
    return "hipErrorUnknown";
  }
}

const char *sim_hipGetErrorName(kmbi_hip_result result) {
  SIM_GUARD(hipGetErrorName, SIM_CALL);
  return guard.result ? NULL : error_name(result);
}

const char *sim_hipGetErrorString(kmbi_hip_result result) {
  SIM_GUARD(hipGetErrorString, SIM_CALL);
  (void)result;
  return guard.result ? NULL : "the simulated HIP's words";
}

kmbi_hip_result sim_hipGetLastError(void) {
  SIM_GUARD(hipGetLastError, SIM_CALL);
  kmbi_hip_result last = sim_take_last_error();
  return guard.result ? guard.result : last;
}

unsigned hipPeekAtLastError(void) {
  return sim_last_error();
}

/* Devices. */

static bool is_device(int device) {
  return device >= 0 && device < sim_set()->devices;
}

kmbi_hip_result sim_hipGetDeviceCount(int *count) {
  SIM_ENTER(hipGetDeviceCount, SIM_CALL);
  *count = sim_set()->devices;
  return sim_done(*count ? 0 : KMBI_HIP_NoDevice);
}

kmbi_hip_result sim_hipGetDevice(int *device) {
  SIM_ENTER(hipGetDevice, SIM_CALL);
  *device = sim_current();
  return sim_done(0);
}

kmbi_hip_result sim_hipSetDevice(int device) {
  SIM_ENTER(hipSetDevice, SIM_CALL);
  if (!is_device(device)) return sim_done(KMBI_HIP_InvalidDevice);
  sim_make_current(device);
  return sim_done(0);
}

kmbi_hip_result sim_hipDeviceGetName(char *name, int size, int device) {
  SIM_ENTER(hipDeviceGetName, SIM_CALL);
  snprintf(name, (size_t)size, "Simulated MI300X");
  return sim_done(is_device(device) ? 0 : KMBI_HIP_InvalidDevice);
}

kmbi_hip_result sim_hipDeviceGetUuid(struct hipUUID_t *uuid, int device) {
  SIM_ENTER(hipDeviceGetUuid, SIM_CALL);
  char text[17];
  snprintf(text, sizeof text, "%016x", 0xabc0 + (unsigned)device);
  memcpy((void *)uuid, text, 16);
  return sim_done(is_device(device) ? 0 : KMBI_HIP_InvalidDevice);
}

kmbi_hip_result sim_hipDeviceGetPCIBusId(char *text, int size, int device) {
  SIM_ENTER(hipDeviceGetPCIBusId, SIM_CALL);
  snprintf(text, (size_t)size, "0001:%02X:00.0", 0xC0 + (unsigned)device);
  return sim_done(is_device(device) ? 0 : KMBI_HIP_InvalidDevice);
}

kmbi_hip_result sim_hipDeviceTotalMem(size_t *bytes, int device) {
  SIM_ENTER(hipDeviceTotalMem, SIM_CALL);
  *bytes = sim_set()->memory_bytes;
  return sim_done(is_device(device) ? 0 : KMBI_HIP_InvalidDevice);
}

kmbi_hip_result sim_hipDeviceGetAttribute(int *value, kmbi_hip_enum attribute,
                                          int device) {
  SIM_ENTER(hipDeviceGetAttribute, SIM_CALL);
  if (!is_device(device)) return sim_done(KMBI_HIP_InvalidDevice);
  switch (attribute) {
  case KMBI_HIP_ATTR_ClockRate:
    *value = SIM_CLOCK_KHZ;
    return sim_done(0);
  case KMBI_HIP_ATTR_MultiprocessorCount:
    *value = 304;
    return sim_done(0);
  case KMBI_HIP_ATTR_L2CacheSize:
    *value = (int)sim_set()->l2_bytes;
    return sim_done(0);
  case KMBI_HIP_ATTR_EccEnabled:
    *value = 1;
    return sim_done(0);
  case KMBI_HIP_ATTR_WallClockRate:
    *value = SIM_WALL_KHZ;
    return sim_done(sim_set()->no_wall_clock ? KMBI_HIP_InvalidValue : 0);
  default:
    *value = 0;
    return sim_done(KMBI_HIP_InvalidValue);
  }
}

/* The three functions that fill in properties: two layouts. */

static unsigned fill_in(unsigned char *p, int device, size_t size, size_t units,
                        size_t arch) {
  SIM_ENTER(hipGetDeviceProperties, SIM_CALL);
  int count = sim_set()->odd_properties ? 7 : 304;
  memset(p, 0x5a, size);
  memcpy(p + units, &count, sizeof count);
  memset(p + arch, 0, KMBI_HIP_ARCH_BYTES);
  snprintf((char *)p + arch, KMBI_HIP_ARCH_BYTES, "%s", sim_set()->isa);
  return sim_done(is_device(device) ? 0 : KMBI_HIP_InvalidDevice);
}

unsigned hipGetDevicePropertiesR0600(void *properties, int device);
unsigned hipGetDevicePropertiesR0000(void *properties, int device);
unsigned hipGetDeviceProperties(void *properties, int device);

unsigned hipGetDevicePropertiesR0600(void *properties, int device) {
  return fill_in(properties, device, KMBI_HIP_R0600_BYTES, KMBI_HIP_R0600_UNITS,
                 KMBI_HIP_R0600_ARCH);
}

unsigned hipGetDevicePropertiesR0000(void *properties, int device) {
  return fill_in(properties, device, KMBI_HIP_R0000_BYTES, KMBI_HIP_R0000_UNITS,
                 KMBI_HIP_R0000_ARCH);
}

unsigned hipGetDeviceProperties(void *properties, int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}

/* Waits for everything, and no capture outlives that. */
unsigned hipDeviceSynchronize(void) {
  SIM_ENTER_DEVICE(hipDeviceSynchronize, SIM_CALL);
  if (!sim_capturing()) {
    sim_drain("hipDeviceSynchronize");
    return sim_done(0);
  }
  sim_invalidate_all();
  return sim_done(KMBI_HIP_StreamCaptureUnsupported);
}

/* Memory. */

static uint64_t used(void) {
  uint64_t bytes = 0;
  for (const sim_object *o = sim_objects(SIM_BLOCK); o; o = o->next)
    bytes += ((const struct sim_block *)(const void *)o)->bytes;
  return bytes;
}

/* Memory that nobody wrote holds anything. */
static void *take(sim_type type, size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory) return NULL;
  memset(memory, 0xa5, bytes < 4096 ? bytes : 4096);
  struct sim_block *block = sim_make(type, sizeof *block);
  block->memory = memory;
  block->bytes = bytes;
  return memory;
}

kmbi_hip_result sim_hipMalloc(void **pointer, size_t bytes) {
  SIM_ENTER_DEVICE(hipMalloc, SIM_LAUNCH);
  if (sim_unsafe()) return sim_done(KMBI_HIP_StreamCaptureUnsupported);
  if (!bytes) return sim_done(KMBI_HIP_InvalidValue);
  if (bytes > sim_set()->memory_bytes - used())
    return sim_done(KMBI_HIP_OutOfMemory);
  *pointer = take(SIM_BLOCK, bytes);
  return sim_done(*pointer ? 0 : KMBI_HIP_OutOfMemory);
}

static struct sim_block *block_at(const void *pointer, sim_type type) {
  for (sim_object *o = sim_objects(type); o; o = o->next)
    if (((struct sim_block *)(void *)o)->memory == pointer)
      return (struct sim_block *)(void *)o;
  return NULL;
}

static kmbi_hip_result give(const void *pointer, sim_type type) {
  struct sim_block *block = block_at(pointer, type);
  if (sim_unsafe()) return KMBI_HIP_StreamCaptureUnsupported;
  if (!block) return KMBI_HIP_InvalidValue;
  sim_destroy(block);
  return 0;
}

kmbi_hip_result sim_hipFree(void *pointer) {
  SIM_GUARD(hipFree, SIM_LAUNCH);
  sim_pump();
  if (sim_error()) return sim_done(sim_error());
  sim_drain("hipFree");
  kmbi_hip_result result = give(pointer, SIM_BLOCK);
  return sim_done(guard.result ? guard.result : result);
}

kmbi_hip_result sim_hipMemGetInfo(size_t *available, size_t *total) {
  SIM_ENTER_DEVICE(hipMemGetInfo, SIM_CALL);
  *total = sim_set()->memory_bytes;
  *available = *total - used();
  return sim_done(0);
}

kmbi_hip_result sim_hipHostMalloc(void **pointer, size_t bytes,
                                  unsigned flags) {
  SIM_ENTER_DEVICE(hipHostMalloc, SIM_LAUNCH);
  if (sim_unsafe()) return sim_done(KMBI_HIP_StreamCaptureUnsupported);
  (void)flags;
  *pointer = take(SIM_PINNED, bytes);
  return sim_done(*pointer ? 0 : KMBI_HIP_OutOfMemory);
}

kmbi_hip_result sim_hipHostFree(void *pointer) {
  SIM_GUARD(hipHostFree, SIM_LAUNCH);
  sim_pump();
  if (sim_error()) return sim_done(sim_error());
  sim_drain("hipHostFree");
  kmbi_hip_result result = give(pointer, SIM_PINNED);
  return sim_done(guard.result ? guard.result : result);
}

kmbi_hip_result sim_hipHostGetDevicePointer(void **pointer, void *host,
                                            unsigned flags) {
  SIM_ENTER_DEVICE(hipHostGetDevicePointer, SIM_CALL);
  (void)flags;
  *pointer = host;
  return sim_done(block_at(host, SIM_PINNED) ? 0 : KMBI_HIP_InvalidValue);
}

/* Work, which a capture takes up instead of the stream. */

static kmbi_hip_result submit(kmbi_hip_stream handle, sim_op *op) {
  struct ihipStream_t *stream = sim_stream_of(handle);
  if (!stream) return sim_done(INVALID_HANDLE);
  if (stream->capture.active) {
    if (stream->capture.invalid)
      return sim_done(KMBI_HIP_StreamCaptureInvalidated);
    sim_append(&stream->capture.graph->end, op);
    stream->capture.graph->count++;
    return sim_done(0);
  }
  sim_enqueue(stream, op);
  sim_pump();
  return sim_done(0);
}

kmbi_hip_result sim_hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                   kmbi_hip_enum kind, kmbi_hip_stream stream) {
  SIM_ENTER_DEVICE(hipMemcpyAsync, SIM_LAUNCH);
  sim_op op = {.kind = COPY,
               .to = (uintptr_t)to,
               .from = (uintptr_t)from,
               .bytes = bytes,
               .value = kind == KMBI_HIP_COPY_TO_DEVICE};
  return submit(stream, &op);
}

kmbi_hip_result sim_hipMemsetD32Async(void *to, int value, size_t words,
                                      kmbi_hip_stream stream) {
  SIM_ENTER_DEVICE(hipMemsetD32Async, SIM_LAUNCH);
  sim_op op = {.kind = SET,
               .to = (uintptr_t)to,
               .value = (uint32_t)value,
               .bytes = words * 4};
  return submit(stream, &op);
}

kmbi_hip_result sim_hipModuleLaunchKernel(
    kmbi_hip_function function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared, kmbi_hip_stream stream, void **arguments, void **extra) {
  SIM_ENTER_DEVICE(hipModuleLaunchKernel, SIM_LAUNCH);
  if (!sim_is(function, SIM_FUNCTION)) return sim_done(INVALID_HANDLE);
  if (!grid_x || !grid_y || !grid_z || extra || !block_x ||
      block_x * block_y * block_z > 1024)
    return sim_done(KMBI_HIP_InvalidValue);
  sim_op op = {.kind = KERNEL,
               .kernel = function->kernel,
               .kernel_id = sim_kernel_id(function->kernel,
                                          function->module->code_object),
               .grid = {grid_x, grid_y, grid_z},
               .block = {block_x, block_y, block_z},
               .shared = shared};
  const char *sizes = function->kernel->sizes;
  for (int i = 0; sizes[i]; i++)
    memcpy(&op.a[i], arguments[i], (size_t)(sizes[i] - '0'));
  return submit(stream, &op);
}

/* Modules. */

/* What stands for a code object, or one. */
kmbi_hip_result sim_hipModuleLoadData(kmbi_hip_module *module,
                                      const void *image) {
  SIM_ENTER_DEVICE(hipModuleLoadData, SIM_LAUNCH);
  bool real = image && memcmp(image,
                              "\x7f"
                              "ELF",
                              4) == 0;
  if (!image || (!real && strcmp(image, SIM_CODE) != 0))
    return sim_done(KMBI_HIP_NoBinaryForGpu);
  if (sim_unsafe()) return sim_done(KMBI_HIP_StreamCaptureUnsupported);
  sim_drain("hipModuleLoadData");
  *module = sim_make(SIM_MODULE, sizeof **module);
  (*module)->image = real ? image : NULL;
  if (real)
    (*module)->code_object = sim_trace_code(image, sim_code_size(image));
  return sim_done(0);
}

kmbi_hip_result sim_hipModuleUnload(kmbi_hip_module module) {
  SIM_GUARD(hipModuleUnload, SIM_CALL);
  if (!sim_is(module, SIM_MODULE)) return sim_done(INVALID_HANDLE);
  sim_object *next = NULL;
  for (sim_object *o = sim_objects(SIM_FUNCTION); o; o = next) {
    next = o->next;
    if (((struct ihipModuleSymbol_t *)(void *)o)->module == module)
      sim_destroy(o);
  }
  sim_destroy(module);
  return sim_done(guard.result);
}

kmbi_hip_result sim_hipModuleGetFunction(kmbi_hip_function *function,
                                         kmbi_hip_module module,
                                         const char *name) {
  SIM_ENTER_DEVICE(hipModuleGetFunction, SIM_CALL);
  const sim_kernel *kernel = sim_kernel_named(name);
  if (!sim_is(module, SIM_MODULE)) return sim_done(INVALID_HANDLE);
  /* An image has to be there as long as its module is. */
  if (!kernel ||
      (module->image &&
       !sim_code_has(module->image, sim_code_size(module->image), kernel)))
    return sim_done(NOT_FOUND);
  *function = sim_make(SIM_FUNCTION, sizeof **function);
  (*function)->module = module;
  (*function)->kernel = kernel;
  return sim_done(0);
}

kmbi_hip_result sim_hipFuncGetAttribute(int *value, kmbi_hip_enum attribute,
                                        kmbi_hip_function function) {
  SIM_ENTER_DEVICE(hipFuncGetAttribute, SIM_CALL);
  static const int values[] = {[KMBI_HIP_FUNC_MAX_THREADS] = 512,
                               [KMBI_HIP_FUNC_SHARED] = 640,
                               [KMBI_HIP_FUNC_LOCAL] = 24,
                               [KMBI_HIP_FUNC_REGISTERS] = 77};
  if (!sim_is(function, SIM_FUNCTION)) return sim_done(INVALID_HANDLE);
  if (attribute > KMBI_HIP_FUNC_REGISTERS)
    return sim_done(KMBI_HIP_InvalidValue);
  *value = values[attribute];
  return sim_done(0);
}

kmbi_hip_result sim_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, kmbi_hip_function function, int threads, size_t shared) {
  SIM_ENTER_DEVICE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
                   SIM_CALL);
  if (!sim_is(function, SIM_FUNCTION)) return sim_done(INVALID_HANDLE);
  size_t bytes = shared + function->kernel->group_bytes;
  size_t held = bytes ? SIM_LDS / bytes : 32;
  *blocks = (int)(held < 2048u / (unsigned)threads ? held
                                                   : 2048u / (unsigned)threads);
  return sim_done(0);
}
