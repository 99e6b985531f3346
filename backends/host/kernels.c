/* Dispatch by instruction set, and kernels for every processor. */
#include "kernels.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <stdbool.h>

/* What the processor has and the system saves. __builtin_cpu_supports() says
 * the same, and knows of so many processors that it takes 5 KB. */
kmbi_host_isa kmbi_host_isa_best(void) {
  enum { XMM_YMM = 0x6, OPMASK_ZMM = 0xe0 };
  const unsigned first = bit_OSXSAVE | bit_AVX;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & first) != first)
    return KMBI_HOST_ISA_BASE;
  const bool fma = ecx & bit_FMA;
  unsigned saved = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & XMM_YMM) != XMM_YMM ||
      !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    return KMBI_HOST_ISA_BASE;
  if (ebx & bit_AVX512F && (saved & OPMASK_ZMM) == OPMASK_ZMM)
    return KMBI_HOST_ISA_AVX512;
  return ebx & bit_AVX2 && fma ? KMBI_HOST_ISA_AVX2 : KMBI_HOST_ISA_BASE;
}
#else
kmbi_host_isa kmbi_host_isa_best(void) {
  return KMBI_HOST_ISA_BASE;
}
#endif

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

volatile double kmbi_host_factor = 0.5;
volatile double kmbi_host_addend = 1.0;

/* Vectors of 16 bytes: every 64-bit processor has them. */
typedef uint64_t words __attribute__((vector_size(16), may_alias));
typedef double doubles __attribute__((vector_size(16), may_alias));
typedef float floats __attribute__((vector_size(16), may_alias));

/* One type for all kernels. NOLINTBEGIN(readability-non-const-parameter) */
static uint64_t read_plain(unsigned char *a, const unsigned char *b,
                           const unsigned char *c, size_t bytes) {
  words s0 = {0};
  words s1 = {0};
  words s2 = {0};
  words s3 = {0};
  (void)a;
  (void)c;
  for (const unsigned char *end = b + bytes; b < end; b += 64) {
    const words *from = (const words *)(const void *)b;
    s0 |= from[0];
    s1 |= from[1];
    s2 |= from[2];
    s3 |= from[3];
  }
  s0 |= s1 | s2 | s3;
  return s0[0] | s0[1];
}

/* One word of each line: where the caches and not the loads are the limit. */
static uint64_t read_lines(unsigned char *a, const unsigned char *b,
                           const unsigned char *c, size_t bytes) {
  const uint64_t *from = (const uint64_t *)(const void *)b;
  uint64_t s0 = 0;
  uint64_t s1 = 0;
  (void)a;
  (void)c;
  for (size_t i = 0; i < bytes / 8; i += 32) {
    s0 |= from[i] | from[i + 8];
    s1 |= from[i + 16] | from[i + 24];
  }
  return s0 | s1;
}
/* NOLINTEND(readability-non-const-parameter) */

static uint64_t copy_libc(unsigned char *a, const unsigned char *b,
                          const unsigned char *c, size_t bytes) {
  (void)c;
  memcpy(a, b, bytes);
  return 0;
}

static uint64_t copy_plain(unsigned char *a, const unsigned char *b,
                           const unsigned char *c, size_t bytes) {
  (void)c;
  for (size_t at = 0; at < bytes; at += 64) {
    const words *from = (const words *)(const void *)(b + at);
    words *to = (words *)(void *)(a + at);
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
  }
  return 0;
}

static uint64_t triad_plain(unsigned char *a, const unsigned char *b,
                            const unsigned char *c, size_t bytes) {
  double s = kmbi_host_factor;
  doubles scalar = {s, s};
  for (size_t at = 0; at < bytes; at += 64) {
    const doubles *x = (const doubles *)(const void *)(b + at);
    const doubles *y = (const doubles *)(const void *)(c + at);
    doubles *to = (doubles *)(void *)(a + at);
    to[0] = x[0] + scalar * y[0];
    to[1] = x[1] + scalar * y[1];
    to[2] = x[2] + scalar * y[2];
    to[3] = x[3] + scalar * y[3];
  }
  return 0;
}

#define START(i) sum##i = x + (i);
#define STEP(i) sum##i = sum##i * x + y;
#define GATHER(i) all += sum##i;
#define DOUBLES(i) doubles sum##i;
#define FLOATS(i) floats sum##i;

#define FMA(name, vector, number, declare, each)                            \
  static double name(uint64_t rounds) {                                     \
    vector x = (vector){0} + (number)kmbi_host_factor;                      \
    vector y = (vector){0} + (number)kmbi_host_addend;                      \
    vector all = {0};                                                       \
    each(declare) each(START) for (uint64_t i = 0; i < rounds; i++){each(   \
        STEP) each(STEP) each(STEP) each(STEP)} each(GATHER) return all[0]; \
  }

FMA(fma_f32_8, floats, float, FLOATS, KMBI_HOST_EACH_8)
FMA(fma_f32_12, floats, float, FLOATS, KMBI_HOST_EACH_12)
FMA(fma_f64_8, doubles, double, DOUBLES, KMBI_HOST_EACH_8)
FMA(fma_f64_12, doubles, double, DOUBLES, KMBI_HOST_EACH_12)

#define STREAM(kernel, title, what) \
  { .name = (title), .stream = (kernel), .kind = KMB_CEILING_##what }
/* Four steps a round, two operations a step and element. */
#define ARITHMETIC(kernel, title, type, count, lanes)                   \
  {                                                                     \
    .name = (title), .fma = (kernel), .flops = 8.0 * (count) * (lanes), \
    .kind = KMB_CEILING_FMA, .dtype = KMB_##type                        \
  }

static const kmbi_host_kernel kernels[] = {
    STREAM(read_plain, "vec128", READ),
    STREAM(read_lines, "word a line", READ),
    STREAM(copy_libc, "memcpy", COPY),
    STREAM(copy_plain, "vec128", COPY),
    STREAM(triad_plain, "vec128", TRIAD),
    ARITHMETIC(fma_f32_8, "vec128, 8 accumulators", F32, 8, 4),
    ARITHMETIC(fma_f32_12, "vec128, 12 accumulators", F32, 12, 4),
    ARITHMETIC(fma_f64_8, "vec128, 8 accumulators", F64, 8, 2),
    ARITHMETIC(fma_f64_12, "vec128, 12 accumulators", F64, 12, 2),
};

const kmbi_host_kernel *kmbi_host_kernels_portable(size_t *count) {
  *count = sizeof kernels / sizeof kernels[0];
  return kernels;
}
