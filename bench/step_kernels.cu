/* Kernels of a decode step in several versions, slower and faster ones: device
 * code of payoff_step.py. Each argument takes eight bytes. */
#include <cuda_bf16.h>
typedef unsigned long long u64;

static __device__ __forceinline__ float sum_of_warp(float v) {
  for (int step = 16; step > 0; step /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

static __device__ float sum_of_block(float v) {
  __shared__ float parts[32];
  v = sum_of_warp(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < blockDim.x / 32; i++) sum += parts[i];
  __syncthreads();
  return sum;
}

/* RMS norm, a block a row; done TIMES times over. */
template <int TIMES>
static __device__ void norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                            __nv_bfloat16 *out, u64 width) {
  const __nv_bfloat16 *row = x + blockIdx.x * width;
  for (int time = 0; time < TIMES; time++) {
    float sum = 0;
    for (u64 i = threadIdx.x; i < width; i += blockDim.x) {
      float v = __bfloat162float(row[i]);
      sum += v * v;
    }
    float scale = rsqrtf(sum_of_block(sum) / (float)width + 1e-6f);
    for (u64 i = threadIdx.x; i < width; i += blockDim.x)
      out[blockIdx.x * width + i] = __float2bfloat16(
          __bfloat162float(row[i]) * scale * __bfloat162float(weight[i]));
  }
}

#define NORM(name, times)                                                      \
  extern "C" __global__ void name(                                             \
      const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *out, \
      u64 width) {                                                             \
    norm<times>(x, weight, out, width);                                        \
  }
NORM(step_norm_fast, 1)    /* 1024 threads */
NORM(step_norm_mid, 1)     /* 128 */
NORM(step_norm_slow, 1)    /* 32 */
NORM(step_norm_slowest, 4) /* 32 */

/* out[b][n] = sum over k of weights[n][k] * x[b][k], eight rows b. A warp has
 * ROWS of the weights' rows and loads WIDE elements of each at once. */
template <int WIDE> struct alignas(2 * WIDE) piece {
  __nv_bfloat16 v[WIDE];
};

template <int WIDE, int ROWS>
static __device__ void product(const __nv_bfloat16 *weights,
                               const __nv_bfloat16 *x, __nv_bfloat16 *out,
                               u64 inner, u64 rows) {
  u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32;
  u64 first = warp * ROWS;
  float sums[ROWS][8] = {};
  if (first >= rows) return;
  for (u64 k = threadIdx.x % 32 * WIDE; k < inner; k += 32 * WIDE) {
    piece<WIDE> w[ROWS];
    for (int r = 0; r < ROWS; r++)
      w[r] = *(const piece<WIDE> *)(weights + (first + r) * inner + k);
    for (int b = 0; b < 8; b++) {
      piece<WIDE> a = *(const piece<WIDE> *)(x + b * inner + k);
      for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < WIDE; i++)
          sums[r][b] += __bfloat162float(w[r].v[i]) * __bfloat162float(a.v[i]);
    }
  }
  for (int r = 0; r < ROWS; r++)
    for (int b = 0; b < 8; b++) {
      float sum = sum_of_warp(sums[r][b]);
      if (threadIdx.x % 32 == 0)
        out[b * rows + first + r] = __float2bfloat16(sum);
    }
}

#define PRODUCT(name, wide, at_once)                                           \
  extern "C" __global__ void name(                                             \
      const __nv_bfloat16 *weights, const __nv_bfloat16 *x,                    \
      __nv_bfloat16 *out, u64 inner, u64 rows) {                               \
    product<wide, at_once>(weights, x, out, inner, rows);                      \
  }
PRODUCT(step_down_slow, 1, 1)
PRODUCT(step_down_mid, 2, 1)
PRODUCT(step_down_fast, 8, 1)
PRODUCT(step_down_faster, 8, 4)
