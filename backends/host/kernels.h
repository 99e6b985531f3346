/* Kernels of the ceilings, by instruction set. */
#ifndef KMB_BACKENDS_HOST_KERNELS_H
#define KMB_BACKENDS_HOST_KERNELS_H

#include <kmb/roofline.h>

/* What the processor (as CPUID shows it) and the kernel both offer. */
typedef enum kmbi_host_isa {
  KMBI_HOST_ISA_BASE,
  KMBI_HOST_ISA_AVX2,  /* with FMA */
  KMBI_HOST_ISA_AVX512 /* F */
} kmbi_host_isa;

kmbi_host_isa kmbi_host_isa_best(void);
const char *kmbi_host_isa_name(kmbi_host_isa isa);

/* Every pointer is on a cache line and `bytes` is a multiple of
 * KMBI_HOST_GRAIN. READ reads `b`, COPY writes `a` from `b`, TRIAD of doubles
 * writes `a` from `b` and `c`. The result depends on all that was read for
 * READ, and is 0 for the others. */
enum { KMBI_HOST_GRAIN = 4096 };
typedef uint64_t (*kmbi_host_stream_fn)(unsigned char *a,
                                        const unsigned char *b,
                                        const unsigned char *c, size_t bytes);
/* Returns something that depends on every operation. */
typedef double (*kmbi_host_fma_fn)(uint64_t rounds);

typedef struct kmbi_host_kernel {
  const char *name;
  kmbi_host_stream_fn stream; /* or */
  kmbi_host_fma_fn fma;
  double flops; /* of one round of `fma` */
  kmb_ceiling_kind kind;
  kmb_dtype dtype; /* FMA */
  kmbi_host_isa isa;
} kmbi_host_kernel;

/* Numbers that the compiler must not know. */
extern volatile double kmbi_host_factor;
extern volatile double kmbi_host_addend;

/* Tables; the second is empty where the processor is of another kind. */
const kmbi_host_kernel *kmbi_host_kernels_portable(size_t *count);
const kmbi_host_kernel *kmbi_host_kernels_x86(size_t *count);

/* Kernels with n accumulators name them through M. */
#define KMBI_HOST_EACH_8(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define KMBI_HOST_EACH_10(M) KMBI_HOST_EACH_8(M) M(8) M(9)
#define KMBI_HOST_EACH_12(M) KMBI_HOST_EACH_10(M) M(10) M(11)
#define KMBI_HOST_EACH_16(M) KMBI_HOST_EACH_12(M) M(12) M(13) M(14) M(15)

#endif
