/* Matrix units, copies in bulk and arithmetic by type: make.sh compiles it. */
#include <cuda_fp16.h>

typedef unsigned int u32;
typedef unsigned long long u64;

/* One tile of each warp-wide kind. */
extern "C" __global__ void mma_kinds(const u32 *a, const u32 *b, float *c,
                                     int *d, double *e) {
  u32 x = a[threadIdx.x], y = b[threadIdx.x];
  float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
  int i0 = 0, i1 = 0, i2 = 0, i3 = 0;
  double d0 = 0, d1 = 0, p = x, q = y;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3},{%4,%4,%5,%5},{%4,%5},{%0,%1,%2,%3};"
               : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)
               : "r"(x), "r"(y));
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0,%1,%2,%3},{%4,%4,%5,%5},{%4,%5},{%0,%1,%2,%3};"
               : "+r"(i0), "+r"(i1), "+r"(i2), "+r"(i3)
               : "r"(x), "r"(y));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0,%1},{%2},{%3},{%0,%1};"
               : "+d"(d0), "+d"(d1)
               : "d"(p), "d"(q));
  c[threadIdx.x] = f0 + f1 + f2 + f3;
  d[threadIdx.x] = i0 + i1 + i2 + i3;
  e[threadIdx.x] = d0 + d1;
}

/* The warp group's, in bf16 and in fp8. */
extern "C" __global__ void __launch_bounds__(128)
    wgmma_kinds(float *out, u64 left, u64 right) {
  float s[4] = {0, 0, 0, 0}, t[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
  for (int k = 0; k < 8; k++) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3},%4,%5,1,1,1,0,0;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "l"(left + k), "l"(right + k));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 "
                 "{%0,%1,%2,%3},%4,%5,1,1,1;"
                 : "+f"(t[0]), "+f"(t[1]), "+f"(t[2]), "+f"(t[3])
                 : "l"(left + k), "l"(right + k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(t[0]),
                   "+f"(t[1]), "+f"(t[2]), "+f"(t[3])::"memory");
  }
  out[threadIdx.x] = s[0] + s[1] + s[2] + s[3] + t[0] + t[1] + t[2] + t[3];
}

/* Into shared memory without registers, in each of three ways. */
extern "C" __global__ void bulk(const char *from, float *to,
                                const __grid_constant__ u64 map[16]) {
  __shared__ alignas(128) char room[3072];
  __shared__ u64 barrier;
  u32 at = (u32)__cvta_generic_to_shared(room);
  u32 bar = (u32)__cvta_generic_to_shared(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
               "l"(from + 16 * threadIdx.x));
  asm volatile("cp.async.wait_all;" ::: "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], 1024, [%2];" ::"r"(at + 1024),
               "l"(from), "r"(bar));
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(at + 2048),
               "l"(map), "r"(0), "r"(bar)
               : "memory");
  __syncthreads();
  to[threadIdx.x] = ((float *)room)[threadIdx.x];
}

/* Plain arithmetic of every type. */
extern "C" __global__ void arithmetic(float *f, double *d, __half2 *h, int *i) {
  u32 t = threadIdx.x;
  f[t] = f[t] * f[t + 32] + 3.0f;
  d[t] = d[t] * d[t + 32] + 3.0;
  h[t] = __hfma2(h[t], h[t + 32], h[t + 64]);
  i[t] = i[t] * i[t + 32] + 3;
}
