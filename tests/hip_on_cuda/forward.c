/* libamdhip64: process, devices, errors. */
#include "forward.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 16, WALL_KHZ = 31250 /* a step of 32 ns */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cu_driver driver;
static bool tried, found;
static kmbi_cu_context primaries[DEVICES];
static _Thread_local int current;
static _Thread_local kmbi_hip_result last;

const kmbi_cu_driver *forward_driver(void) {
  pthread_mutex_lock(&lock);
  if (!tried) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    tried = true;
    if (library) {
#define LOOK_UP(name, version, symbol, need, arguments) \
  *(void **)(&driver.name) = dlsym(library, symbol);
      KMBI_CU_MAP(LOOK_UP)
#undef LOOK_UP
      found = driver.cuInit && driver.cuInit(0) == 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return found ? &driver : NULL;
}

/* Most numbers are the same. */
kmbi_hip_result forward_result(kmbi_cu_result result) {
  kmbi_hip_result mine = result;
  if (result >= 714 && result <= 718) mine = KMBI_HIP_LaunchFailure;
  if (result == 201) mine = KMBI_HIP_InvalidDevice; /* no context */
  last = mine;
  return mine;
}

static kmbi_cu_result primary(int device, kmbi_cu_context *context) {
  kmbi_cu_result result = 0;
  if (device < 0 || device >= DEVICES) return KMBI_CU_INVALID_DEVICE;
  pthread_mutex_lock(&lock);
  if (!primaries[device])
    result = driver.cuDevicePrimaryCtxRetain(&primaries[device], device);
  *context = primaries[device];
  pthread_mutex_unlock(&lock);
  return result;
}

kmbi_cu_result forward_enter(void) {
  const kmbi_cu_driver *d = forward_driver();
  kmbi_cu_context context = NULL;
  if (!d) return KMBI_CU_NO_DEVICE;
  kmbi_cu_result result = d->cuCtxGetCurrent(&context);
  if (result || context) return result;
  result = primary(current, &context);
  return result ? result : d->cuCtxSetCurrent(context);
}

kmbi_hip_result forward_hipInit(unsigned flags) {
  (void)flags;
  return forward_result(forward_driver() ? 0 : KMBI_CU_NO_DEVICE);
}

kmbi_hip_result forward_hipDriverGetVersion(int *version) {
  *version = 60200000;
  return forward_result(0);
}

kmbi_hip_result forward_hipRuntimeGetVersion(int *version) {
  *version = 60200000;
  return forward_result(0);
}

const char *forward_hipGetErrorName(kmbi_hip_result result) {
  switch (result) {
#define CASE(name, value, status) \
  case value:                     \
    return "hipError" #name;
    KMBI_HIP_RESULT_MAP(CASE)
#undef CASE
  default:
    return "hipErrorUnknown";
  }
}

const char *forward_hipGetErrorString(kmbi_hip_result result) {
  const char *text = NULL;
  if (!forward_driver() || driver.cuGetErrorString(result, &text)) return "";
  return text ? text : "";
}

kmbi_hip_result forward_hipGetLastError(void) {
  kmbi_hip_result result = last;
  last = 0;
  return result;
}

/* Devices. */

kmbi_hip_result forward_hipGetDeviceCount(int *count) {
  *count = 0;
  if (!forward_driver()) return forward_result(KMBI_CU_NO_DEVICE);
  return forward_result(driver.cuDeviceGetCount(count));
}

kmbi_hip_result forward_hipGetDevice(int *device) {
  *device = current;
  return forward_result(0);
}

kmbi_hip_result forward_hipSetDevice(int device) {
  kmbi_cu_context context = NULL;
  if (!forward_driver()) return forward_result(KMBI_CU_NO_DEVICE);
  kmbi_cu_result result = primary(device, &context);
  if (!result) result = driver.cuCtxSetCurrent(context);
  if (!result) current = device;
  return forward_result(result);
}

kmbi_hip_result forward_hipDeviceGetName(char *name, int size, int device) {
  FORWARD(cuDeviceGetName, name, size, device);
}

kmbi_hip_result forward_hipDeviceGetUuid(struct hipUUID_t *uuid, int device) {
  FORWARD(cuDeviceGetUuid, (struct CUuuid_st *)(void *)uuid, device);
}

kmbi_hip_result forward_hipDeviceGetPCIBusId(char *text, int size, int device) {
  FORWARD(cuDeviceGetPCIBusId, text, size, device);
}

kmbi_hip_result forward_hipDeviceTotalMem(size_t *bytes, int device) {
  FORWARD(cuDeviceTotalMem, bytes, device);
}

kmbi_hip_result
forward_hipDeviceGetAttribute(int *value, kmbi_hip_enum attribute, int device) {
  static const struct {
    kmbi_hip_enum mine, theirs;
  } known[] = {
      {KMBI_HIP_ATTR_EccEnabled, KMBI_CU_ATTR_ECC_ENABLED},
      {KMBI_HIP_ATTR_ClockRate, KMBI_CU_ATTR_CLOCK_RATE},
      {KMBI_HIP_ATTR_L2CacheSize, KMBI_CU_ATTR_L2_CACHE_SIZE},
      {KMBI_HIP_ATTR_MultiprocessorCount, KMBI_CU_ATTR_MULTIPROCESSOR_COUNT},
  };
  if (attribute == KMBI_HIP_ATTR_WallClockRate) {
    *value = WALL_KHZ;
    return forward_result(0);
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].mine == attribute)
      FORWARD(cuDeviceGetAttribute, value, known[i].theirs, device);
  return forward_result(1);
}

/* As ROCm 6 lays them out; only what the backend reads. */
kmbi_hip_result hipGetDevicePropertiesR0600(void *properties, int device);

kmbi_hip_result hipGetDevicePropertiesR0600(void *properties, int device) {
  unsigned char *p = properties;
  int units = 0;
  int major = 0;
  int minor = 0;
  kmbi_cu_result result = forward_enter();
  if (!result)
    result = driver.cuDeviceGetAttribute(
        &units, KMBI_CU_ATTR_MULTIPROCESSOR_COUNT, device);
  if (!result)
    result = driver.cuDeviceGetAttribute(
        &major, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR, device);
  if (!result)
    result = driver.cuDeviceGetAttribute(
        &minor, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MINOR, device);
  if (result) return forward_result(result);
  memset(p, 0, KMBI_HIP_R0600_BYTES);
  memcpy(p + KMBI_HIP_R0600_UNITS, &units, sizeof units);
  snprintf((char *)p + KMBI_HIP_R0600_ARCH, KMBI_HIP_ARCH_BYTES, "sm_%d%d",
           major, minor);
  return forward_result(0);
}
