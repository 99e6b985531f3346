/* A shared library whose kernels lie in it as nvcc embeds them: what is
 * captured of them is compared with what cuobjdump takes out of this file. */
#include "../data/code/kernels.cu"

extern "C" int run_spills(const float *from, float *to, void *stream) {
  spills<36><<<1, 1024, 0, (cudaStream_t)stream>>>(from, to);
  return (int)cudaGetLastError();
}

extern "C" int run_narrow(const float *from, float *to, u64 count,
                          void *stream) {
  copy_narrow<<<264, 256, 0, (cudaStream_t)stream>>>(from, to, count);
  return (int)cudaGetLastError();
}

extern "C" int run_wide(const float *from, float *to, u64 count, void *stream) {
  copy_wide<<<264, 256, 0, (cudaStream_t)stream>>>(
      (const uint4 *)from, (uint4 *)to, count / 4);
  return (int)cudaGetLastError();
}
