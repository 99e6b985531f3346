/* libamd_smi. */
#include "costs.h"
#include "inside.h"

enum { NOT_SUPPORTED = 2, NOT_FOUND = 31 };

#define ENTER(field)                \
  SIM_GUARD(smi_##field, SIM_CALL); \
  if (guard.result) return guard.result

kmbi_smi_status sim_smi_init(uint64_t flags) {
  ENTER(init);
  return flags == KMBI_SMI_INIT_GPUS ? 0 : NOT_SUPPORTED;
}

kmbi_smi_status sim_smi_by_bdf(uint64_t bdf, kmbi_smi_handle *handle) {
  ENTER(by_bdf);
  static int device;
  *handle = bdf == 0x1c000 ? &device : NULL;
  return *handle ? 0 : NOT_FOUND;
}

kmbi_smi_status sim_smi_caches(kmbi_smi_handle handle,
                               kmbi_smi_caches *caches) {
  ENTER(caches);
  (void)handle;
  caches->count = 2;
  caches->cache[0] = (kmbi_smi_cache){.kib = 4096, .level = 2, .instances = 8};
  caches->cache[1] =
      (kmbi_smi_cache){.kib = (uint32_t)(sim_set()->mall_bytes >> 10),
                       .level = 3,
                       .instances = sim_set()->uncounted ? 0 : 1};
  return sim_set()->smi ? 0 : NOT_SUPPORTED;
}

kmbi_smi_status sim_smi_clock(kmbi_smi_handle handle, unsigned type,
                              kmbi_smi_clock *clock) {
  ENTER(clock);
  (void)handle;
  clock->mhz = type == KMBI_SMI_CLOCK_GFX ? 2100 : 1300;
  return sim_set()->no_measures ? NOT_SUPPORTED : 0;
}

kmbi_smi_status sim_smi_temperature(kmbi_smi_handle handle, unsigned sensor,
                                    unsigned metric, int64_t *celsius) {
  ENTER(temperature);
  (void)handle;
  *celsius = sensor == KMBI_SMI_SENSOR_JUNCTION && !metric ? 47 : 0;
  return sim_set()->no_measures ? NOT_SUPPORTED : 0;
}

kmbi_smi_status sim_smi_energy(kmbi_smi_handle handle, uint64_t *count,
                               float *microjoules, uint64_t *when) {
  ENTER(energy);
  (void)handle;
  *count = sim_now();
  *microjoules = 15.3F;
  *when = sim_now();
  return sim_set()->no_measures ? NOT_SUPPORTED : 0;
}
