/* Dispatch by instruction set. */
#include "kernels.h"

kmbi_host_isa kmbi_host_isa_best(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return KMBI_HOST_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return KMBI_HOST_ISA_AVX2;
#endif
  return KMBI_HOST_ISA_BASE;
}

const char *kmbi_host_isa_name(kmbi_host_isa isa) {
  switch (isa) {
  case KMBI_HOST_ISA_AVX512:
    return "avx512f";
  case KMBI_HOST_ISA_AVX2:
    return "avx2+fma";
  default:
    return "baseline";
  }
}
