/* Device code of the tests, other than the backend's. */
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ __forceinline__ u64 global_ns() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/* Says how many cycles it counted and, if it takes long beside the step of the
 * global timer, how many nanoseconds: a change of the clock is in these. */
extern "C" __global__ void test_spin(u64 cycles, u64 *out) {
  bool slow = out && cycles > 50000;
  u64 before = slow ? global_ns() : 0;
  long long start = clock64();
  long long passed = 0;
  while ((u64)passed < cycles) passed = clock64() - start;
  if (!out) return;
  out[1] = slow ? global_ns() - before : 0;
  out[0] = (u64)(clock64() - start);
}

/* Every thread of a whole grid spins and stores. */
extern "C" __global__ void test_wide(u64 cycles, u64 *out) {
  long long start = clock64();
  long long passed = 0;
  while ((u64)passed < cycles) passed = clock64() - start;
  out[blockIdx.x * (u64)blockDim.x + threadIdx.x] = (u64)passed;
}

extern "C" __global__ void test_copy(const uint4 *from, uint4 *to, u64 count) {
  u64 step = gridDim.x * (u64)blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

extern "C" __global__ void test_read(const uint4 *from, u32 *sink, u64 count) {
  u64 step = gridDim.x * (u64)blockDim.x;
  u32 sum = 0;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count;
       i += step) {
    uint4 v = from[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 0x12345678u) *sink = sum;
}

/* Never ends while `*go` is 0. */
extern "C" __global__ void test_hang(const volatile u32 *go) {
  while (*go == 0) {
  }
}

extern "C" __global__ void test_fault(u32 *nowhere) {
  *nowhere = 1;
}

extern "C" __global__ void test_add(const float *a, float *b, u32 count) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) b[i] = a[i] + 1.0f;
}

/* A block a row: the row of the weights times the row of the activations. */
extern "C" __global__ void test_dot(const float4 *weights,
                                    const float4 *activations, float *out,
                                    u32 row) {
  __shared__ float parts[32];
  u64 first = blockIdx.x * (u64)row;
  float sum = 0;
  for (u32 i = threadIdx.x; i < row; i += blockDim.x) {
    float4 w = weights[first + i];
    float4 a = activations[first + i];
    sum += w.x * a.x + w.y * a.y + w.z * a.z + w.w * a.w;
  }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (u32 i = 1; i < blockDim.x / 32; i++) sum += parts[i];
  out[blockIdx.x] = sum;
}
