/* Telemetry, by NVML: a reading takes well below a millisecond. What cannot be
 * told comes with the reason. */
#include "cupti_session.h"

#include <stdio.h>

typedef struct teller {
  kmb_telemetry_fn emit;
  void *user;
  const kmbi_nvml_api *nvml;
  kmbi_nvml_device device;
} teller;

static void tell(const teller *t, kmb_telemetry id, bool known,
                 kmbi_nvml_result result, double value) {
  char text[64];
  if (known && !result) {
    t->emit(t->user, id, value, NULL);
    return;
  }
  snprintf(text, sizeof text, "NVML answered %u", result);
  t->emit(t->user, id, 0, known ? text : "this NVML has no such function");
}

static void tell_clocks(const teller *t) {
  static const struct {
    kmb_telemetry id;
    unsigned type;
  } clocks[] = {{KMB_TELEMETRY_CLOCK, KMBI_NVML_CLOCK_SM},
                {KMB_TELEMETRY_MEMORY_CLOCK, KMBI_NVML_CLOCK_MEMORY}};
  for (size_t i = 0; i < 2; i++) {
    unsigned mhz = 0;
    kmbi_nvml_result result = 1;
    if (t->nvml->clock)
      result = t->nvml->clock(t->device, clocks[i].type, &mhz);
    tell(t, clocks[i].id, t->nvml->clock != NULL, result, mhz);
  }
}

static void tell_heat(const teller *t) {
  const kmbi_nvml_api *nvml = t->nvml;
  unsigned value = 0;
  unsigned long long energy = 0;
  kmbi_nvml_result result = 1;
  if (nvml->power) result = nvml->power(t->device, &value);
  tell(t, KMB_TELEMETRY_POWER, nvml->power != NULL, result, value / 1000.0);
  if (nvml->energy) result = nvml->energy(t->device, &energy);
  tell(t, KMB_TELEMETRY_ENERGY, nvml->energy != NULL, result,
       (double)energy / 1000.0);
  if (nvml->temperature)
    result = nvml->temperature(t->device, KMBI_NVML_TEMPERATURE_GPU, &value);
  tell(t, KMB_TELEMETRY_TEMPERATURE, nvml->temperature != NULL, result, value);
}

static void tell_ecc(const teller *t) {
  static const struct {
    kmb_telemetry id;
    unsigned type;
  } kinds[] = {{KMB_TELEMETRY_ECC_CORRECTED, KMBI_NVML_ECC_CORRECTED},
               {KMB_TELEMETRY_ECC_UNCORRECTED, KMBI_NVML_ECC_UNCORRECTED}};
  for (size_t i = 0; i < 2; i++) {
    unsigned long long count = 0;
    kmbi_nvml_result result = 1;
    if (t->nvml->ecc_errors)
      result = t->nvml->ecc_errors(t->device, kinds[i].type,
                                   KMBI_NVML_ECC_SINCE_BOOT, &count);
    tell(t, kinds[i].id, t->nvml->ecc_errors != NULL, result, (double)count);
  }
}

static void tell_throttle(const teller *t) {
  const kmbi_nvml_api *nvml = t->nvml;
  unsigned long long reasons = 0;
  unsigned ours = 0;
  kmbi_nvml_result result = 1;
  if (nvml->reasons) result = nvml->reasons(t->device, &reasons);
  if (result && nvml->reasons_old)
    result = nvml->reasons_old(t->device, &reasons);
#define TRANSLATE(bit, name) \
  if (reasons & (bit)) ours |= KMB_THROTTLE_##name;
  KMBI_NVML_REASON_MAP(TRANSLATE)
#undef TRANSLATE
  tell(t, KMB_TELEMETRY_THROTTLE, nvml->reasons || nvml->reasons_old, result,
       ours);
}

static void tell_none(kmb_telemetry_fn emit, void *user, const char *reason) {
  static const kmb_telemetry ids[] = {
      KMB_TELEMETRY_CLOCK,         KMB_TELEMETRY_MEMORY_CLOCK,
      KMB_TELEMETRY_THROTTLE,      KMB_TELEMETRY_POWER,
      KMB_TELEMETRY_ENERGY,        KMB_TELEMETRY_TEMPERATURE,
      KMB_TELEMETRY_ECC_CORRECTED, KMB_TELEMETRY_ECC_UNCORRECTED};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    emit(user, ids[i], 0, reason);
}

void kmbi_cuda_telemetry(void *opened, kmb_telemetry_fn emit, void *user) {
  kmbi_cuda *self = opened;
  if (self->lost) {
    tell_none(emit, user, "the device is lost");
    return;
  }
  const kmbi_nvml_api *nvml = kmbi_cuda_find_nvml(self);
  if (!nvml) {
    tell_none(emit, user, self->nvml_failure.text);
    return;
  }
  const teller t = {emit, user, nvml, self->nvml_device};
  tell_clocks(&t);
  tell_heat(&t);
  tell_ecc(&t);
  tell_throttle(&t);
}
