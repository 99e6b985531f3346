/* Kernels of the ceilings, by instruction set. */
#ifndef KMB_BACKENDS_HOST_KERNELS_H
#define KMB_BACKENDS_HOST_KERNELS_H

/* What the processor (as CPUID shows it) and the kernel both offer. */
typedef enum kmbi_host_isa {
  KMBI_HOST_ISA_BASE,
  KMBI_HOST_ISA_AVX2,  /* with FMA */
  KMBI_HOST_ISA_AVX512 /* F */
} kmbi_host_isa;

kmbi_host_isa kmbi_host_isa_best(void);
const char *kmbi_host_isa_name(kmbi_host_isa isa);

#endif
