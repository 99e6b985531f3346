/* The part of NVML that is used, declared by us. Its interface has versioned
 * symbols that never change; the numbers are NVML's documented ones. */
#ifndef KMB_BACKENDS_CUDA_NVML_API_H
#define KMB_BACKENDS_CUDA_NVML_API_H

#include <stdint.h>

typedef unsigned kmbi_nvml_result;
struct nvmlDevice_st;
typedef struct nvmlDevice_st *kmbi_nvml_device;

enum {
  KMBI_NVML_SUCCESS = 0,
  KMBI_NVML_CLOCK_SM = 1,
  KMBI_NVML_CLOCK_MEMORY = 2,
  KMBI_NVML_TEMPERATURE_GPU = 0,
  KMBI_NVML_ECC_CORRECTED = 0,
  KMBI_NVML_ECC_UNCORRECTED = 1,
  KMBI_NVML_ECC_SINCE_BOOT = 0, /* since the driver was loaded */
  KMBI_NVML_TEXT = 96
};

/* Why clocks are lower than they could be: X(NVML's bit, KMB_THROTTLE_…). Idle
 * (1) and clocks that somebody set (2, 0x100) are no throttling. */
#define KMBI_NVML_REASON_MAP(X) \
  X(0x4, POWER_CAP)             \
  X(0x8, HW_SLOWDOWN)           \
  X(0x10, SYNC_BOOST)           \
  X(0x20, THERMAL)              \
  X(0x40, HW_THERMAL)           \
  X(0x80, HW_POWER_BRAKE)

/* X(field, symbol, need, arguments) */
#define KMBI_NVML_MAP(X)                                                \
  X(init, "nvmlInit_v2", REQUIRED, (void))                              \
  X(by_uuid, "nvmlDeviceGetHandleByUUID", REQUIRED,                     \
    (const char *uuid, kmbi_nvml_device *device))                       \
  X(by_pci, "nvmlDeviceGetHandleByPciBusId_v2", OPTIONAL,               \
    (const char *bus, kmbi_nvml_device *device))                        \
  X(driver_version, "nvmlSystemGetDriverVersion", OPTIONAL,             \
    (char *text, unsigned size))                                        \
  X(clock, "nvmlDeviceGetClockInfo", OPTIONAL,                          \
    (kmbi_nvml_device device, unsigned type, unsigned *mhz))            \
  X(reasons, "nvmlDeviceGetCurrentClocksEventReasons", OPTIONAL,        \
    (kmbi_nvml_device device, unsigned long long *reasons))             \
  X(reasons_old, "nvmlDeviceGetCurrentClocksThrottleReasons", OPTIONAL, \
    (kmbi_nvml_device device, unsigned long long *reasons))             \
  X(power, "nvmlDeviceGetPowerUsage", OPTIONAL,                         \
    (kmbi_nvml_device device, unsigned *milliwatts))                    \
  X(energy, "nvmlDeviceGetTotalEnergyConsumption", OPTIONAL,            \
    (kmbi_nvml_device device, unsigned long long *millijoules))         \
  X(temperature, "nvmlDeviceGetTemperature", OPTIONAL,                  \
    (kmbi_nvml_device device, unsigned sensor, unsigned *celsius))      \
  X(ecc, "nvmlDeviceGetEccMode", OPTIONAL,                              \
    (kmbi_nvml_device device, unsigned *current, unsigned *pending))    \
  X(ecc_errors, "nvmlDeviceGetTotalEccErrors", OPTIONAL,                \
    (kmbi_nvml_device device, unsigned type, unsigned counter,          \
     unsigned long long *count))                                        \
  X(mig, "nvmlDeviceGetMigMode", OPTIONAL,                              \
    (kmbi_nvml_device device, unsigned *current, unsigned *pending))    \
  X(persistence, "nvmlDeviceGetPersistenceMode", OPTIONAL,              \
    (kmbi_nvml_device device, unsigned *mode))

typedef struct kmbi_nvml_api {
#define KMBI_NVML_FIELD(field, symbol, need, arguments) \
  kmbi_nvml_result(*field) arguments;
  KMBI_NVML_MAP(KMBI_NVML_FIELD)
#undef KMBI_NVML_FIELD
} kmbi_nvml_api;

#endif
