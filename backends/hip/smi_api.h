/* The parts of HSA and of amd-smi that are used, declared by us. */
#ifndef KMB_BACKENDS_HIP_SMI_API_H
#define KMB_BACKENDS_HIP_SMI_API_H

#include <stdint.h>

/* HSA: the caches of an agent that is found by its place on the PCI bus. */
typedef struct kmbi_hsa_agent {
  uint64_t handle;
} kmbi_hsa_agent;
typedef unsigned kmbi_hsa_status;
typedef kmbi_hsa_status (*kmbi_hsa_visit)(kmbi_hsa_agent agent, void *user);

enum {
  KMBI_HSA_SUCCESS = 0,
  KMBI_HSA_BREAK = 1,        /* of a callback: ends the walk, and is no error */
  KMBI_HSA_INFO_DEVICE = 17, /* uint32: 0 CPU, 1 GPU */
  KMBI_HSA_INFO_CACHES = 18, /* uint32[4]: bytes of level 1 to 4 */
  KMBI_HSA_INFO_BDF = 0xA006,   /* uint32: bus, device, function */
  KMBI_HSA_INFO_DOMAIN = 0xA00F /* uint32 */
};

#define KMBI_HSA_MAP(X)                                     \
  X(hsa_init, (void))                                       \
  X(hsa_shut_down, (void))                                  \
  X(hsa_iterate_agents, (kmbi_hsa_visit visit, void *user)) \
  X(hsa_agent_get_info, (kmbi_hsa_agent agent, unsigned attribute, void *value))

typedef struct kmbi_hsa_api {
#define KMBI_HSA_FIELD(name, arguments) kmbi_hsa_status(*name) arguments;
  KMBI_HSA_MAP(KMBI_HSA_FIELD)
#undef KMBI_HSA_FIELD
} kmbi_hsa_api;

/* amd-smi: only what has kept its place in its interface since ROCm 6. */
typedef unsigned kmbi_smi_status;
typedef void *kmbi_smi_handle;

enum {
  KMBI_SMI_SUCCESS = 0,
  KMBI_SMI_INIT_GPUS = 2,
  KMBI_SMI_CLOCK_GFX = 0,
  KMBI_SMI_CLOCK_MEMORY = 4,
  KMBI_SMI_SENSOR_JUNCTION = 1,
  KMBI_SMI_METRIC_CURRENT = 0,
  KMBI_SMI_CACHES = 10
};

typedef struct kmbi_smi_cache {
  uint32_t properties, kib, level, units, instances, unused[3];
} kmbi_smi_cache;

typedef struct kmbi_smi_caches {
  uint32_t count;
  kmbi_smi_cache cache[KMBI_SMI_CACHES];
  uint32_t unused[64]; /* more than any version writes */
} kmbi_smi_caches;

typedef struct kmbi_smi_clock {
  uint32_t mhz;
  uint32_t unused[63];
} kmbi_smi_clock;

/* X(field, symbol, arguments) */
#define KMBI_SMI_MAP(X)                                             \
  X(init, "amdsmi_init", (uint64_t flags))                          \
  X(by_bdf, "amdsmi_get_processor_handle_from_bdf",                 \
    (uint64_t bdf, kmbi_smi_handle * handle))                       \
  X(caches, "amdsmi_get_gpu_cache_info",                            \
    (kmbi_smi_handle handle, kmbi_smi_caches * caches))             \
  X(clock, "amdsmi_get_clock_info",                                 \
    (kmbi_smi_handle handle, unsigned type, kmbi_smi_clock *clock)) \
  X(temperature, "amdsmi_get_temp_metric",                          \
    (kmbi_smi_handle handle, unsigned sensor, unsigned metric,      \
     int64_t *celsius))                                             \
  X(energy, "amdsmi_get_energy_count",                              \
    (kmbi_smi_handle handle, uint64_t * count, float *microjoules,  \
     uint64_t *when))

typedef struct kmbi_smi_api {
#define KMBI_SMI_FIELD(field, symbol, arguments) \
  kmbi_smi_status(*field) arguments;
  KMBI_SMI_MAP(KMBI_SMI_FIELD)
#undef KMBI_SMI_FIELD
} kmbi_smi_api;

#endif
