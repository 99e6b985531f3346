// A custom operation and its measurement as operators of torch:
// torch.ops.kmb_example.axpy and torch.ops.kmb_example.measure.
#include "kmb_torch.hpp"
#include "op.hpp"

#include <torch/library.h>

namespace example {

void axpy(const at::Tensor &x, const at::Tensor &y, at::Tensor &out, double a) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && x.sizes() == y.sizes() &&
                  x.sizes() == out.sizes(),
              "axpy: floats of one shape");
#ifdef KMB_TORCH_CUDA
  if (x.is_cuda()) return axpy_cuda(x, y, out, a);
#endif
  TORCH_CHECK(x.is_cpu(), "axpy: built for the CPU alone");
  const float *px = x.data_ptr<float>(), *py = y.data_ptr<float>();
  float *po = out.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); i++)
    po[i] = float(a) * px[i] + py[i];
}

// JSON by libkmb's schema.
std::string measure(const at::Tensor &x, const at::Tensor &y, double a,
                    std::int64_t host_cache) {
  kmb::torch::options o;
  o.host_cache = std::uint64_t(host_cache);
  o.name = "axpy";
  o.outputs = {2};
  o.axes = {{"n", std::to_string(x.numel())}};
  o.work = kmb::work::elementwise(std::uint64_t(x.numel()), 2, 1, 2, KMB_F32);
  o.check = [a](const std::vector<at::Tensor> &t) {
    return t[2].allclose(t[0].mul(a).add(t[1]));
  };
  return kmb::torch::bench(
             o,
             [a](const at::Tensor &x, const at::Tensor &y, at::Tensor &out) {
               axpy(x, y, out, a);
             },
             x, y, x.new_empty(x.sizes()))
      .json();
}

} // namespace example

TORCH_LIBRARY(kmb_example, m) {
  m.def("axpy(Tensor x, Tensor y, Tensor(a!) out, float a) -> ()",
        [](const at::Tensor &x, const at::Tensor &y, at::Tensor out, double a) {
          example::axpy(x, y, out, a);
        });
  m.def("measure(Tensor x, Tensor y, float a, int host_cache=0) -> str",
        &example::measure);
}
