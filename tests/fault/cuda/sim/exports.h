/* Each function under the name that the real library exports. */
#ifndef KMB_TESTS_CUDA_EXPORTS_H
#define KMB_TESTS_CUDA_EXPORTS_H

#include "inside.h"

#define SIM_EXPORT(name, version, symbol, need, arguments) \
  kmbi_cu_result sim_##name arguments __asm__(symbol);
KMBI_CU_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(name, version, need, arguments) \
  kmbi_cupti_result sim_##name arguments __asm__(#name);
KMBI_CUPTI_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(field, symbol, need, arguments) \
  kmbi_nvml_result sim_nvml_##field arguments __asm__(symbol);
KMBI_NVML_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(name, arguments) \
  kmbi_lt_result sim_##name arguments __asm__(#name);
KMBI_LT_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(name, type) \
  kmbi_cupti_result sim_##name(type *p) __asm__(#name);
KMBI_PROFILER_MAP(SIM_EXPORT)
#undef SIM_EXPORT
kmbi_cu_result
sim_get_proc(const char *symbol, void **function, int version, uint64_t flags,
             kmbi_cu_enum *status) __asm__("cuGetProcAddress_v2");

#endif
