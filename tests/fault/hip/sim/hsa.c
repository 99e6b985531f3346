/* libhsa-runtime64: a CPU and two GPUs. */
#include <string.h>

#include "costs.h"
#include "inside.h"

enum { AGENTS = 3 };

#define ENTER(function)          \
  SIM_GUARD(function, SIM_CALL); \
  if (guard.result) return guard.result

kmbi_hsa_status sim_hsa_init(void) {
  ENTER(hsa_init);
  return 0;
}

kmbi_hsa_status sim_hsa_shut_down(void) {
  ENTER(hsa_shut_down);
  return 0;
}

kmbi_hsa_status sim_hsa_iterate_agents(kmbi_hsa_visit visit, void *user) {
  ENTER(hsa_iterate_agents);
  for (uint64_t i = 0; i < AGENTS; i++) {
    kmbi_hsa_status status = visit((kmbi_hsa_agent){i}, user);
    if (status) return status;
  }
  return 0;
}

kmbi_hsa_status sim_hsa_agent_get_info(kmbi_hsa_agent agent, unsigned attribute,
                                       void *value) {
  ENTER(hsa_agent_get_info);
  uint32_t caches[4] = {32 << 10, (uint32_t)sim_set()->l2_bytes, 0, 0};
  uint32_t number = 0;
  if (sim_set()->hsa && agent.handle == 1)
    caches[2] = (uint32_t)sim_set()->mall_bytes;
  switch (attribute) {
  case KMBI_HSA_INFO_DEVICE:
    number = agent.handle > 0;
    break;
  case KMBI_HSA_INFO_BDF:
    number = (0xBFu + (unsigned)agent.handle) << 8;
    break;
  case KMBI_HSA_INFO_DOMAIN:
    number = 1;
    break;
  case KMBI_HSA_INFO_CACHES:
    memcpy(value, caches, sizeof caches);
    return 0;
  default:
    return 1;
  }
  memcpy(value, &number, sizeof number);
  return 0;
}
