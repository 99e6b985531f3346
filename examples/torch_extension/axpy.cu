// The operation on a GPU, on torch's current stream.
#include "op.hpp"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

namespace {

__global__ void axpy_kernel(const float *x, const float *y, float *out, float a,
                            long n) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n;
       i += long(gridDim.x) * blockDim.x)
    out[i] = a * x[i] + y[i];
}

} // namespace

void example::axpy_cuda(const at::Tensor &x, const at::Tensor &y,
                        at::Tensor &out, double a) {
  const long n = x.numel();
  const long blocks = std::min((n + 255) / 256, 8192L);
  axpy_kernel<<<unsigned(blocks), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), float(a),
      n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
