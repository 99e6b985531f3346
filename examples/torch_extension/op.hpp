// The custom operation that is measured: out = a·x + y.
#pragma once

#include <ATen/core/Tensor.h>

namespace example {

void axpy(const at::Tensor &x, const at::Tensor &y, at::Tensor &out, double a);
#ifdef KMB_TORCH_CUDA
void axpy_cuda(const at::Tensor &x, const at::Tensor &y, at::Tensor &out,
               double a); // axpy.cu
#endif

} // namespace example
