/* libnvidia-ml.so.1: all devices of the machine; the one that CUDA shows first
 * is not the first here. */
#include <stdio.h>
#include <string.h>

#include "costs.h"
#include "exports.h"

struct nvmlDevice_st {
  unsigned index;
};
static struct nvmlDevice_st devices[8];

/* Figures of a busy and of an idle device. */
enum { BUSY_MHZ = 1980, IDLE_MHZ = 345, MEMORY_MHZ = 3201 };

static bool is_visible(kmbi_nvml_device device) {
  return device->index == sim_set()->visible;
}

kmbi_nvml_result sim_nvml_init(void) {
  SIM_ENTER(nvml_init, SIM_CALL);
  return 0;
}

static kmbi_nvml_result find(const char *format, const char *wanted,
                             kmbi_nvml_device *device) {
  char text[96];
  for (unsigned i = 0; i < sim_set()->devices; i++) {
    unsigned b = 0x10 + i;
    if (strncmp(format, "0000", 4) == 0)
      snprintf(text, sizeof text, "0000:%02x:00.0", 0x40 + i);
    else
      snprintf(text, sizeof text,
               "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
               "%02x%02x%02x%02x%02x%02x",
               format, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b);
    if (strcmp(text, wanted) != 0) continue;
    devices[i].index = i;
    *device = &devices[i];
    return 0;
  }
  return SIM_NVML_NOT_FOUND;
}

kmbi_nvml_result sim_nvml_by_uuid(const char *uuid, kmbi_nvml_device *device) {
  SIM_ENTER(nvml_by_uuid, SIM_CALL);
  return find(sim_set()->mig ? "MIG" : "GPU", uuid, device);
}

kmbi_nvml_result sim_nvml_by_pci(const char *bus, kmbi_nvml_device *device) {
  SIM_ENTER(nvml_by_pci, SIM_CALL);
  return find("0000", bus, device);
}

kmbi_nvml_result sim_nvml_driver_version(char *text, unsigned size) {
  SIM_ENTER(nvml_driver_version, SIM_CALL);
  snprintf(text, size, "580.159.04");
  return 0;
}

static kmbi_nvml_result measure(unsigned *to, unsigned busy, unsigned idle,
                                kmbi_nvml_device device) {
  if (sim_set()->no_measures || sim_set()->mig) return SIM_NVML_NOT_SUPPORTED;
  *to = is_visible(device) ? busy : idle;
  return 0;
}

kmbi_nvml_result sim_nvml_clock(kmbi_nvml_device device, unsigned type,
                                unsigned *mhz) {
  SIM_ENTER(nvml_clock, SIM_CALL);
  bool memory = type == KMBI_NVML_CLOCK_MEMORY;
  return measure(mhz, memory ? MEMORY_MHZ : BUSY_MHZ, IDLE_MHZ, device);
}

static kmbi_nvml_result why(kmbi_nvml_device device,
                            unsigned long long *reasons) {
  if (sim_set()->no_measures || sim_set()->mig) return SIM_NVML_NOT_SUPPORTED;
  *reasons = is_visible(device) ? sim_set()->throttle : 1; /* idle */
  return 0;
}

kmbi_nvml_result sim_nvml_reasons(kmbi_nvml_device device,
                                  unsigned long long *reasons) {
  SIM_ENTER(nvml_reasons, SIM_CALL);
  return why(device, reasons);
}

kmbi_nvml_result sim_nvml_reasons_old(kmbi_nvml_device device,
                                      unsigned long long *reasons) {
  SIM_ENTER(nvml_reasons_old, SIM_CALL);
  return why(device, reasons);
}

kmbi_nvml_result sim_nvml_power(kmbi_nvml_device device, unsigned *milliwatts) {
  SIM_ENTER(nvml_power, SIM_CALL);
  return measure(milliwatts, 250500, 75000, device);
}

kmbi_nvml_result sim_nvml_energy(kmbi_nvml_device device,
                                 unsigned long long *millijoules) {
  SIM_ENTER(nvml_energy, SIM_CALL);
  unsigned value = 0;
  kmbi_nvml_result result = measure(&value, 1000000, 1000, device);
  *millijoules = value;
  return result;
}

kmbi_nvml_result sim_nvml_temperature(kmbi_nvml_device device, unsigned sensor,
                                      unsigned *celsius) {
  SIM_ENTER(nvml_temperature, SIM_CALL);
  (void)sensor;
  return measure(celsius, 41, 28, device);
}

kmbi_nvml_result sim_nvml_ecc(kmbi_nvml_device device, unsigned *current,
                              unsigned *pending) {
  SIM_ENTER(nvml_ecc, SIM_CALL);
  *pending = 1;
  return measure(current, 1, 1, device);
}

kmbi_nvml_result sim_nvml_ecc_errors(kmbi_nvml_device device, unsigned type,
                                     unsigned counter,
                                     unsigned long long *count) {
  SIM_ENTER(nvml_ecc_errors, SIM_CALL);
  unsigned value = 0;
  if (type > 1 || counter) return SIM_NVML_NOT_SUPPORTED;
  kmbi_nvml_result result = measure(&value, type ? 0 : 3, 0, device);
  *count = value;
  return result;
}

kmbi_nvml_result sim_nvml_mig(kmbi_nvml_device device, unsigned *current,
                              unsigned *pending) {
  SIM_ENTER(nvml_mig, SIM_CALL);
  (void)device;
  *current = *pending = sim_set()->mig;
  return sim_set()->no_measures ? SIM_NVML_NOT_SUPPORTED : 0;
}

kmbi_nvml_result sim_nvml_persistence(kmbi_nvml_device device, unsigned *mode) {
  SIM_ENTER(nvml_persistence, SIM_CALL);
  return measure(mode, 1, 1, device);
}
