/* What the tests of kmb code read: make.sh compiles it. */
typedef unsigned int u32;
typedef unsigned long long u64;

/* 16 bytes a load and a store. */
extern "C" __global__ void copy_wide(const uint4 *from, uint4 *to, u64 count) {
  u64 step = gridDim.x * (u64)blockDim.x;
#pragma unroll 1
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

/* The same in pieces of four. */
extern "C" __global__ void copy_narrow(const float *from, float *to,
                                       u64 count) {
  u64 step = gridDim.x * (u64)blockDim.x;
#pragma unroll 1
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

/* More values at once than the registers of so many threads. */
template <int N>
__global__ void __launch_bounds__(1024, 2) spills(const float *from,
                                                  float *to) {
  float v[N];
#pragma unroll
  for (int i = 0; i < N; i++) v[i] = from[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i * 1024 + threadIdx.x] = v[i] * v[N - 1 - i] + v[i * 7 % N];
}
template __global__ void spills<36>(const float *, float *);

/* A table that a variable indexes lies in local memory, but is no spill. */
extern "C" __global__ void __launch_bounds__(64) table(const int *from, int *to,
                                                       int count) {
  int counts[32];
#pragma unroll 1
  for (int i = 0; i < count; i++) counts[from[i] & 31] = i;
  to[threadIdx.x] = counts[threadIdx.x & 31];
}

/* A block a row, through shared memory. */
extern "C" __global__ void dot(const float4 *weights, const float4 *vector,
                               float *out, u32 row) {
  __shared__ float parts[32];
  float sum = 0;
#pragma unroll 1
  for (u32 i = threadIdx.x; i < row; i += blockDim.x) {
    float4 w = weights[blockIdx.x * (u64)row + i], v = vector[i];
    sum += w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w;
  }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll 1
  for (u32 i = 1; i < blockDim.x / 32; i++) sum += parts[i];
  out[blockIdx.x] = sum;
}
