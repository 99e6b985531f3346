/* Metadata and telemetry: amd-smi, or sysfs where it is missing. What neither
 * tells is absent with the reason. */
#include "hip_backend.h"

#include <stdio.h>

static void emit_version(kmb_emit_fn emit, void *user, const char *key,
                         int version) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", version / 10000000,
           version / 100000 % 100, version % 100000);
  emit(user, key, text, NULL);
}

const kmbi_smi_api *kmbi_hip_find_smi(kmbi_hip *self) {
  kmbi_hip_failure *failure = &self->smi_failure;
  const kmbi_hip_place *p = &self->place;
  if (self->smi_tried) return self->smi_device ? kmbi_hip_smi(failure) : NULL;
  const kmbi_smi_api *smi = kmbi_hip_smi(failure);
  self->smi_tried = true;
  if (!smi) return NULL;
  uint64_t bdf =
      (uint64_t)p->domain << 16 | p->bus << 8 | p->device << 3 | p->function;
  kmbi_smi_status status = p->known ? smi->by_bdf(bdf, &self->smi_device) : 1;
  if (!status) return smi;
  self->smi_device = NULL;
  kmbi_hip_failed(failure, KMB_ERR_UNAVAILABLE, (int64_t)status,
                  "amd-smi knows no device at %s (%u)", self->pci_bus, status);
  return NULL;
}

void kmbi_hip_describe(void *opened, kmb_emit_fn emit, void *user) {
  kmbi_hip *self = opened;
  int driver = 0;
  int on = 0;
  emit_version(emit, user, "device.hip_version", self->runtime_version);
  emit(user, "device.hip_path", kmbi_hip_path(), NULL);
  emit(user, "device.pci_bus", self->pci_bus, NULL);
  emit(user, "device.properties",
       self->api->layout == KMBI_HIP_R0600   ? "R0600"
       : self->api->layout == KMBI_HIP_R0000 ? "R0000"
                                             : "none",
       NULL);
  if (self->lost) {
    emit(user, "device.state", "lost", NULL);
    return;
  }
  if (self->api->hipDriverGetVersion(&driver)) {
    (void)self->api->hipGetLastError();
    emit(user, "device.driver_version", NULL, "HIP does not tell it");
  } else {
    emit_version(emit, user, "device.driver_version", driver);
  }
  if (kmbi_hip_attribute(self, KMBI_HIP_ATTR_EccEnabled, &on))
    emit(user, "device.ecc", on ? "on" : "off", NULL);
  else
    emit(user, "device.ecc", NULL, "HIP does not tell it");
}

/* Telemetry: each a value, or why there is none. */

static void give(kmb_telemetry_fn emit, void *user, kmb_telemetry id,
                 bool known, double value) {
  emit(user, id, value, known ? NULL : "neither amd-smi nor sysfs tells it");
}

static bool read_clock(kmbi_hip *self, const kmbi_smi_api *smi, unsigned type,
                       const char *file, double *mhz) {
  kmbi_smi_clock clock;
  uint64_t hz = 0;
  memset(&clock, 0, sizeof clock);
  if (smi && smi->clock && !smi->clock(self->smi_device, type, &clock)) {
    *mhz = clock.mhz;
    return clock.mhz && clock.mhz != UINT32_MAX;
  }
  bool known = kmbi_hip_hwmon(self, file, &hz);
  *mhz = (double)hz / 1e6;
  return known;
}

static bool read_temperature(kmbi_hip *self, const kmbi_smi_api *smi,
                             double *celsius) {
  int64_t whole = 0;
  uint64_t milli = 0;
  if (smi && smi->temperature &&
      !smi->temperature(self->smi_device, KMBI_SMI_SENSOR_JUNCTION,
                        KMBI_SMI_METRIC_CURRENT, &whole)) {
    *celsius = (double)whole;
    return whole >= 0;
  }
  bool known = kmbi_hip_hwmon(self, "temp2_input", &milli);
  *celsius = (double)milli / 1e3;
  return known;
}

static bool read_energy(kmbi_hip *self, const kmbi_smi_api *smi,
                        double *joules) {
  uint64_t count = 0;
  uint64_t when = 0;
  float unit = 0;
  if (!smi || !smi->energy ||
      smi->energy(self->smi_device, &count, &unit, &when))
    return false;
  *joules = (double)count * (double)unit / 1e6;
  return unit > 0;
}

void kmbi_hip_telemetry(void *opened, kmb_telemetry_fn emit, void *user) {
  kmbi_hip *self = opened;
  double value = 0;
  if (self->lost) {
    emit(user, KMB_TELEMETRY_CLOCK, 0, "the device is lost");
    return;
  }
  const kmbi_smi_api *smi = kmbi_hip_find_smi(self);
  bool known = read_clock(self, smi, KMBI_SMI_CLOCK_GFX, "freq1_input", &value);
  give(emit, user, KMB_TELEMETRY_CLOCK, known, value);
  known = read_clock(self, smi, KMBI_SMI_CLOCK_MEMORY, "freq2_input", &value);
  give(emit, user, KMB_TELEMETRY_MEMORY_CLOCK, known, value);
  known = read_energy(self, smi, &value);
  give(emit, user, KMB_TELEMETRY_ENERGY, known, value);
  known = read_temperature(self, smi, &value);
  give(emit, user, KMB_TELEMETRY_TEMPERATURE, known, value);
  emit(user, KMB_TELEMETRY_POWER, 0,
       "AMD averages power over a time that it does not state; see energy_j");
  emit(user, KMB_TELEMETRY_THROTTLE, 0,
       "the reasons are told in another way by each version of amd-smi");
}
