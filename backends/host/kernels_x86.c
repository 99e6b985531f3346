/* Kernels for x86: SSE2 non-temporal stores, AVX2 with FMA, AVX-512. */
#include "kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET_BASE
#define TARGET_AVX2 __attribute__((target("avx2,fma")))
#define TARGET_AVX512 __attribute__((target("avx512f")))

/* Vector types and operations by instruction set. */
#define D_BASE __m128d
#define D_AVX2 __m256d
#define D_AVX512 __m512d
#define D_LOAD_BASE(p) _mm_load_pd((const double *)(const void *)(p))
#define D_LOAD_AVX2(p) _mm256_load_pd((const double *)(const void *)(p))
#define D_LOAD_AVX512(p) _mm512_load_pd((const void *)(p))
#define PLAIN_BASE(p, v) _mm_store_pd((double *)(void *)(p), v)
#define PLAIN_AVX2(p, v) _mm256_store_pd((double *)(void *)(p), v)
#define PLAIN_AVX512(p, v) _mm512_store_pd((void *)(p), v)
#define NT_BASE(p, v) _mm_stream_pd((double *)(void *)(p), v)
#define NT_AVX2(p, v) _mm256_stream_pd((double *)(void *)(p), v)
#define NT_AVX512(p, v) _mm512_stream_pd((double *)(void *)(p), v)
#define D_SET_BASE(s) _mm_set1_pd(s)
#define D_SET_AVX2(s) _mm256_set1_pd(s)
#define D_SET_AVX512(s) _mm512_set1_pd(s)
#define D_FMA_BASE(x, y, z) _mm_add_pd(_mm_mul_pd(x, y), z)
#define D_FMA_AVX2(x, y, z) _mm256_fmadd_pd(x, y, z)
#define D_FMA_AVX512(x, y, z) _mm512_fmadd_pd(x, y, z)
#define S_AVX2 __m256
#define S_AVX512 __m512
#define S_SET_AVX2(s) _mm256_set1_ps((float)(s))
#define S_SET_AVX512(s) _mm512_set1_ps((float)(s))
#define S_FMA_AVX2(x, y, z) _mm256_fmadd_ps(x, y, z)
#define S_FMA_AVX512(x, y, z) _mm512_fmadd_ps(x, y, z)
#define I_AVX2 __m256i
#define I_AVX512 __m512i
#define I_LOAD_AVX2(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define I_LOAD_AVX512(p) _mm512_load_si512((const void *)(p))
#define I_OR_AVX2(x, y) _mm256_or_si256(x, y)
#define I_OR_AVX512(x, y) _mm512_or_si512(x, y)
#define I_ZERO_AVX2 _mm256_setzero_si256()
#define I_ZERO_AVX512 _mm512_setzero_si512()

/* Reads: one stream or four, with the next lines asked for ahead or not. */
#define AHEAD_0(p)
#define AHEAD_1024(p) _mm_prefetch((const char *)(p) + 1024, _MM_HINT_T0)
#define AHEAD_512(p) _mm_prefetch((const char *)(p) + 512, _MM_HINT_T0)

/* 128 bytes of one stream into two accumulators. */
#define TAKE_AVX2(p, s, t)                 \
  s = I_OR_AVX2(s, I_LOAD_AVX2(p));        \
  t = I_OR_AVX2(t, I_LOAD_AVX2((p) + 32)); \
  s = I_OR_AVX2(s, I_LOAD_AVX2((p) + 64)); \
  t = I_OR_AVX2(t, I_LOAD_AVX2((p) + 96))
#define TAKE_AVX512(p, s, t)            \
  s = I_OR_AVX512(s, I_LOAD_AVX512(p)); \
  t = I_OR_AVX512(t, I_LOAD_AVX512((p) + 64))

#define READ_1(name, isa, ahead)                                              \
  TARGET_##isa static uint64_t name(unsigned char *a, const unsigned char *b, \
                                    const unsigned char *c, size_t bytes) {   \
    I_##isa s0 = I_ZERO_##isa, s1 = s0, s2 = s0, s3 = s0;                     \
    (void)a;                                                                  \
    (void)c;                                                                  \
    for (const unsigned char *end = b + bytes; b < end; b += 256) {           \
      ahead(b);                                                               \
      ahead(b + 64);                                                          \
      TAKE_##isa(b, s0, s1);                                                  \
      ahead(b + 128);                                                         \
      ahead(b + 192);                                                         \
      TAKE_##isa(b + 128, s2, s3);                                            \
    }                                                                         \
    s0 = I_OR_##isa(I_OR_##isa(s0, s1), I_OR_##isa(s2, s3));                  \
    return (uint64_t)s0[0] | (uint64_t)s0[1];                                 \
  }

#define READ_4(name, isa, ahead)                                              \
  TARGET_##isa static uint64_t name(unsigned char *a, const unsigned char *b, \
                                    const unsigned char *c, size_t bytes) {   \
    I_##isa s0 = I_ZERO_##isa, s1 = s0, s2 = s0, s3 = s0;                     \
    size_t far = bytes / 4;                                                   \
    (void)a;                                                                  \
    (void)c;                                                                  \
    for (const unsigned char *end = b + far; b < end; b += 128) {             \
      ahead(b);                                                               \
      ahead(b + far);                                                         \
      ahead(b + 2 * far);                                                     \
      ahead(b + 3 * far);                                                     \
      TAKE_##isa(b, s0, s1);                                                  \
      TAKE_##isa(b + far, s2, s3);                                            \
      TAKE_##isa(b + 2 * far, s0, s1);                                        \
      TAKE_##isa(b + 3 * far, s2, s3);                                        \
    }                                                                         \
    s0 = I_OR_##isa(I_OR_##isa(s0, s1), I_OR_##isa(s2, s3));                  \
    return (uint64_t)s0[0] | (uint64_t)s0[1];                                 \
  }

/* One type for all kernels. NOLINTBEGIN(readability-non-const-parameter) */
READ_1(read_1_avx2, AVX2, AHEAD_0)
READ_1(read_1_avx2_1k, AVX2, AHEAD_1024)
READ_4(read_4_avx2, AVX2, AHEAD_0)
READ_1(read_1_avx512, AVX512, AHEAD_0)
READ_1(read_1_avx512_1k, AVX512, AHEAD_1024)
READ_1(read_1_avx512_512, AVX512, AHEAD_512)
READ_4(read_4_avx512, AVX512, AHEAD_0)
READ_4(read_4_avx512_512, AVX512, AHEAD_512)
/* NOLINTEND(readability-non-const-parameter) */

/* Non-temporal stores are only done when a fence has passed. */
#define FENCE_PLAIN
#define FENCE_NT _mm_sfence()

#define COPY(name, isa, store)                                                \
  TARGET_##isa static uint64_t name(unsigned char *a, const unsigned char *b, \
                                    const unsigned char *c, size_t bytes) {   \
    (void)c;                                                                  \
    for (size_t at = 0; at < bytes; at += 2 * sizeof(D_##isa)) {              \
      D_##isa x = D_LOAD_##isa(b + at);                                       \
      D_##isa y = D_LOAD_##isa(b + at + sizeof x);                            \
      store##_##isa(a + at, x);                                               \
      store##_##isa(a + at + sizeof x, y);                                    \
    }                                                                         \
    FENCE_##store;                                                            \
    return 0;                                                                 \
  }

#define TRIAD(name, isa, store)                                               \
  TARGET_##isa static uint64_t name(unsigned char *a, const unsigned char *b, \
                                    const unsigned char *c, size_t bytes) {   \
    D_##isa s = D_SET_##isa(kmbi_host_factor);                                \
    for (size_t at = 0; at < bytes; at += 2 * sizeof s) {                     \
      size_t next = at + sizeof s;                                            \
      D_##isa x = D_FMA_##isa(s, D_LOAD_##isa(c + at), D_LOAD_##isa(b + at)); \
      D_##isa y =                                                             \
          D_FMA_##isa(s, D_LOAD_##isa(c + next), D_LOAD_##isa(b + next));     \
      store##_##isa(a + at, x);                                               \
      store##_##isa(a + next, y);                                             \
    }                                                                         \
    FENCE_##store;                                                            \
    return 0;                                                                 \
  }

COPY(copy_nt_base, BASE, NT)
COPY(copy_avx2, AVX2, PLAIN)
COPY(copy_nt_avx2, AVX2, NT)
COPY(copy_avx512, AVX512, PLAIN)
COPY(copy_nt_avx512, AVX512, NT)
TRIAD(triad_nt_base, BASE, NT)
TRIAD(triad_avx2, AVX2, PLAIN)
TRIAD(triad_nt_avx2, AVX2, NT)
TRIAD(triad_avx512, AVX512, PLAIN)
TRIAD(triad_nt_avx512, AVX512, NT)

#define START_D_AVX2(i) __m256d sum##i = D_SET_AVX2(i);
#define START_S_AVX2(i) __m256 sum##i = S_SET_AVX2(i);
#define START_D_AVX512(i) __m512d sum##i = D_SET_AVX512(i);
#define START_S_AVX512(i) __m512 sum##i = S_SET_AVX512(i);
#define STEP_D_AVX2(i) sum##i = D_FMA_AVX2(sum##i, x, y);
#define STEP_S_AVX2(i) sum##i = S_FMA_AVX2(sum##i, x, y);
#define STEP_D_AVX512(i) sum##i = D_FMA_AVX512(sum##i, x, y);
#define STEP_S_AVX512(i) sum##i = S_FMA_AVX512(sum##i, x, y);
#define GATHER(i) all += sum##i[0];

#define FMA(name, isa, width, each)                                    \
  TARGET_##isa static double name(uint64_t rounds) {                   \
    width##_##isa x = width##_SET_##isa(kmbi_host_factor);             \
    width##_##isa y = width##_SET_##isa(kmbi_host_addend);             \
    double all = 0;                                                    \
    each(START_##width##_##isa) for (uint64_t i = 0; i < rounds; i++){ \
        each(STEP_##width##_##isa) each(STEP_##width##_##isa)          \
            each(STEP_##width##_##isa)                                 \
                each(STEP_##width##_##isa)} each(GATHER) return all;   \
  }

FMA(fma_f32_8_avx2, AVX2, S, KMBI_HOST_EACH_8)
FMA(fma_f32_10_avx2, AVX2, S, KMBI_HOST_EACH_10)
FMA(fma_f32_12_avx2, AVX2, S, KMBI_HOST_EACH_12)
FMA(fma_f64_8_avx2, AVX2, D, KMBI_HOST_EACH_8)
FMA(fma_f64_10_avx2, AVX2, D, KMBI_HOST_EACH_10)
FMA(fma_f64_12_avx2, AVX2, D, KMBI_HOST_EACH_12)
FMA(fma_f32_8_avx512, AVX512, S, KMBI_HOST_EACH_8)
FMA(fma_f32_12_avx512, AVX512, S, KMBI_HOST_EACH_12)
FMA(fma_f32_16_avx512, AVX512, S, KMBI_HOST_EACH_16)
FMA(fma_f64_8_avx512, AVX512, D, KMBI_HOST_EACH_8)
FMA(fma_f64_12_avx512, AVX512, D, KMBI_HOST_EACH_12)
FMA(fma_f64_16_avx512, AVX512, D, KMBI_HOST_EACH_16)

#define STREAM(kernel, title, what, set)                             \
  {                                                                  \
    .name = (title), .stream = (kernel), .kind = KMB_CEILING_##what, \
    .isa = KMBI_HOST_ISA_##set                                       \
  }
/* Four steps a round, two operations a step and element. */
#define ARITHMETIC(kernel, title, type, count, lanes, set)                   \
  {                                                                          \
    .name = (title), .fma = (kernel), .flops = 8.0 * (count) * (lanes),      \
    .kind = KMB_CEILING_FMA, .dtype = KMB_##type, .isa = KMBI_HOST_ISA_##set \
  }

static const kmbi_host_kernel kernels[] = {
    STREAM(read_1_avx2, "avx2", READ, AVX2),
    STREAM(read_1_avx2_1k, "avx2, prefetch 1 KiB", READ, AVX2),
    STREAM(read_4_avx2, "avx2, 4 streams", READ, AVX2),
    STREAM(read_1_avx512, "avx512", READ, AVX512),
    STREAM(read_1_avx512_1k, "avx512, prefetch 1 KiB", READ, AVX512),
    STREAM(read_1_avx512_512, "avx512, prefetch 512 B", READ, AVX512),
    STREAM(read_4_avx512, "avx512, 4 streams", READ, AVX512),
    STREAM(read_4_avx512_512, "avx512, 4 streams, prefetch 512 B", READ,
           AVX512),
    STREAM(copy_nt_base, "sse2, non-temporal", COPY, BASE),
    STREAM(copy_avx2, "avx2", COPY, AVX2),
    STREAM(copy_nt_avx2, "avx2, non-temporal", COPY, AVX2),
    STREAM(copy_avx512, "avx512", COPY, AVX512),
    STREAM(copy_nt_avx512, "avx512, non-temporal", COPY, AVX512),
    STREAM(triad_nt_base, "sse2, non-temporal", TRIAD, BASE),
    STREAM(triad_avx2, "avx2", TRIAD, AVX2),
    STREAM(triad_nt_avx2, "avx2, non-temporal", TRIAD, AVX2),
    STREAM(triad_avx512, "avx512", TRIAD, AVX512),
    STREAM(triad_nt_avx512, "avx512, non-temporal", TRIAD, AVX512),
    ARITHMETIC(fma_f32_8_avx2, "avx2, 8 accumulators", F32, 8, 8, AVX2),
    ARITHMETIC(fma_f32_10_avx2, "avx2, 10 accumulators", F32, 10, 8, AVX2),
    ARITHMETIC(fma_f32_12_avx2, "avx2, 12 accumulators", F32, 12, 8, AVX2),
    ARITHMETIC(fma_f64_8_avx2, "avx2, 8 accumulators", F64, 8, 4, AVX2),
    ARITHMETIC(fma_f64_10_avx2, "avx2, 10 accumulators", F64, 10, 4, AVX2),
    ARITHMETIC(fma_f64_12_avx2, "avx2, 12 accumulators", F64, 12, 4, AVX2),
    ARITHMETIC(fma_f32_8_avx512, "avx512, 8 accumulators", F32, 8, 16, AVX512),
    ARITHMETIC(fma_f32_12_avx512, "avx512, 12 accumulators", F32, 12, 16,
               AVX512),
    ARITHMETIC(fma_f32_16_avx512, "avx512, 16 accumulators", F32, 16, 16,
               AVX512),
    ARITHMETIC(fma_f64_8_avx512, "avx512, 8 accumulators", F64, 8, 8, AVX512),
    ARITHMETIC(fma_f64_12_avx512, "avx512, 12 accumulators", F64, 12, 8,
               AVX512),
    ARITHMETIC(fma_f64_16_avx512, "avx512, 16 accumulators", F64, 16, 8,
               AVX512),
};

const kmbi_host_kernel *kmbi_host_kernels_x86(size_t *count) {
  *count = sizeof kernels / sizeof kernels[0];
  return kernels;
}

#else

const kmbi_host_kernel *kmbi_host_kernels_x86(size_t *count) {
  *count = 0;
  return NULL;
}

#endif
