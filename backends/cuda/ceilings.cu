/* What the measured ceilings run. scripts/cuda_ptx.sh makes ceilings.ptx.h of
 * it. Only what every architecture since sm_70 has is used. */
typedef unsigned int u32;
typedef unsigned long long u64;

enum { BLOCK = 512, CHAINS = 16, STEPS = 16 };

/* A tile of `WORDS` words a thread, all loads before their use; `count` is a
 * multiple of a tile. `sink` is written only if the sum is what no sum of these
 * words is expected to be. */
template <int WORDS>
static __device__ __forceinline__ void read(const uint4 *from, u64 count,
                                            u32 *sink) {
  const u64 tile = (u64)BLOCK * WORDS;
  u32 sum = 0;
  for (u64 at = blockIdx.x * tile; at < count; at += gridDim.x * tile) {
    uint4 v[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      v[k] = __ldcs(&from[at + k * BLOCK + threadIdx.x]);
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      sum ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (sum == 0x6b6d6271u) *sink = sum;
}

template <int WORDS>
static __device__ __forceinline__ void copy(const uint4 *from, uint4 *to,
                                            u64 count) {
  const u64 tile = (u64)BLOCK * WORDS;
  for (u64 at = blockIdx.x * tile; at < count; at += gridDim.x * tile) {
    uint4 v[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      v[k] = __ldcs(&from[at + k * BLOCK + threadIdx.x]);
#pragma unroll
    for (int k = 0; k < WORDS; k++)
      __stcs(&to[at + k * BLOCK + threadIdx.x], v[k]);
  }
}

extern "C" __global__ void kmb_read_4(const uint4 *from, u64 count, u32 *sink) {
  read<4>(from, count, sink);
}

extern "C" __global__ void kmb_read_8(const uint4 *from, u64 count, u32 *sink) {
  read<8>(from, count, sink);
}

extern "C" __global__ void kmb_copy_2(const uint4 *from, uint4 *to, u64 count) {
  copy<2>(from, to, count);
}

extern "C" __global__ void kmb_copy_4(const uint4 *from, uint4 *to, u64 count) {
  copy<4>(from, to, count);
}

/* Chains that do not depend on each other: 2 · CHAINS · STEPS operations a
 * round and lane. */
#define FMA(name, type, step)                                               \
  extern "C" __global__ void name(u64 rounds, type a, type b, type *sink) { \
    type x[CHAINS];                                                         \
    for (int c = 0; c < CHAINS; c++)                                        \
      x[c] = (type)(threadIdx.x + c);                                       \
    for (u64 r = 0; r < rounds; r++) {                                      \
      _Pragma("unroll") for (int s = 0; s < STEPS; s++)                     \
          _Pragma("unroll") for (int c = 0; c < CHAINS; c++) step;          \
    }                                                                       \
    type sum = x[0];                                                        \
    for (int c = 1; c < CHAINS; c++)                                        \
      sum += x[c];                                                          \
    if (sum == (type)0x6b6d6271u) *sink = sum;                              \
  }

#define STEP(instruction, constraint)         \
  asm volatile(instruction " %0, %0, %1, %2;" \
               : "+" constraint(x[c])         \
               : constraint(a), constraint(b))

/* Two 16-bit numbers travel in a word. */
FMA(kmb_fma_f32, float, STEP("fma.rn.f32", "f"))
FMA(kmb_fma_f64, double, STEP("fma.rn.f64", "d"))
FMA(kmb_fma_f16, u32, STEP("fma.rn.f16x2", "r"))
