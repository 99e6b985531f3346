// Measures an operation on tensors: kmb::torch::bench(op, tensors...).
#pragma once

#include <kmb/kmb.hpp>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#ifdef KMB_TORCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <kmb/cuda.h>
#endif

namespace kmb::torch {

struct options {
  std::string name = "op";
  std::vector<std::size_t> outputs; // arguments that are wholly written
  std::vector<std::size_t> mutates; // those that are changed in place
  std::optional<kmb_work> work;
  std::vector<std::pair<std::string, std::string>> axes;
  // Whether outputs are right; given the arguments after one launch.
  std::function<bool(const std::vector<at::Tensor> &)> check;
  // Bytes that copies of the arguments may take.
  std::uint64_t memory = std::uint64_t(1) << 30;
  // A last-level cache to claim for the host; 0: as it is detected.
  std::uint64_t host_cache = 0;
};

namespace detail {

inline kmb_dtype dtype_of(const at::Tensor &t) {
  switch (t.scalar_type()) {
  case at::kFloat:
    return KMB_F32;
  case at::kDouble:
    return KMB_F64;
  case at::kHalf:
    return KMB_F16;
  case at::kBFloat16:
    return KMB_BF16;
  case at::kInt:
    return KMB_I32;
  case at::kLong:
    return KMB_I64;
  case at::kChar:
    return KMB_I8;
  default:
    return KMB_U8; // only its bytes are looked at
  }
}

inline bool in(const std::vector<std::size_t> &list, std::size_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

inline kmb::device open_for(const options &o,
                            const std::vector<at::Tensor> &tensors) {
  TORCH_CHECK(!tensors.empty(), "kmb: there are no tensors");
  const at::Device where = tensors[0].device();
  for (const at::Tensor &t : tensors)
    TORCH_CHECK(t.device() == where && t.is_contiguous() && t.numel() > 0,
                "kmb: tensors are contiguous, not empty, on one device");
  if (where.is_cpu()) {
    kmb::device_options options;
    options.threads = std::uint32_t(at::get_num_threads());
    options.llc_bytes = o.host_cache;
    return kmb::device::open("host", std::move(options));
  }
#ifdef KMB_TORCH_CUDA
  if (where.is_cuda())
    return kmb::device::open(("cuda:" + std::to_string(where.index())).c_str());
#endif
  TORCH_CHECK(false, "kmb: built without support for ", where);
}

// Inputs are cold when an iteration starts: on a GPU the cache is swept, on the
// host slots take turns.
inline std::size_t slots_for(const kmb::device &device, const options &o,
                             const std::vector<at::Tensor> &tensors) {
  const auto cache = device.get<KMB_DEVICE_LLC_BYTES>();
  std::uint64_t cold = 0, all = 0;
  for (std::size_t i = 0; i < tensors.size(); i++) {
    all += tensors[i].nbytes();
    if (!in(o.outputs, i)) cold += tensors[i].nbytes();
  }
  if (!tensors[0].is_cpu() || !cache || !cold) return 1;
  const std::uint64_t wanted = 2 * *cache / cold + 2;
  return std::size_t(std::max<std::uint64_t>(
      1, std::min({wanted, o.memory / all, std::uint64_t(4096)})));
}

// What the operation may change is a copy; else the first slot is the caller's.
inline std::vector<std::vector<at::Tensor>>
slots_of(const options &o, const std::vector<at::Tensor> &tensors,
         std::size_t count) {
  std::vector<std::vector<at::Tensor>> slots(count, tensors);
  for (std::size_t s = 0; s < count; s++)
    for (std::size_t i = 0; i < tensors.size(); i++)
      if (s || in(o.outputs, i) || in(o.mutates, i))
        slots[s][i] = tensors[i].clone();
  return slots;
}

inline std::vector<kmb::buffer>
buffers_of(const options &o,
           const std::vector<std::vector<at::Tensor>> &slots) {
  std::vector<kmb::buffer> all;
  for (std::size_t i = 0; i < slots[0].size(); i++) {
    const at::Tensor &t = slots[0][i];
    const kmb_buffer_role role = in(o.mutates, i)   ? KMB_INOUT
                                 : in(o.outputs, i) ? KMB_OUTPUT
                                                    : KMB_INPUT;
    std::vector<void *> pointers;
    for (const auto &slot : slots)
      pointers.push_back(slot[i].data_ptr());
    all.emplace_back("arg" + std::to_string(i), role, dtype_of(t), t.nbytes());
    all.back().at(std::move(pointers));
  }
  return all;
}

template <class Op, std::size_t... I>
void call(Op &op, std::vector<at::Tensor> &tensors, std::index_sequence<I...>) {
  static_cast<void>(op(tensors[I]...));
}

} // namespace detail

// Measures op(tensors...), which enqueues on torch's current stream. That is
// the library's while it is called, and what it was afterwards. Launches are
// plain: torch's allocator is not prepared for a capture by somebody else.
template <class Op, class... Tensors>
kmb::result bench(const options &o, Op op, const Tensors &...tensors) {
  const std::vector<at::Tensor> given{tensors...};
  kmb::device device = detail::open_for(o, given);
  auto slots = detail::slots_of(o, given, detail::slots_for(device, o, given));
#ifdef KMB_TORCH_CUDA
  const at::Device where = given[0].device();
  if (where.is_cuda()) // what made the copies has ended
    at::cuda::getCurrentCUDAStream(where.index()).synchronize();
#endif
  kmb::buffers buffers =
      kmb::buffers::create(device, detail::buffers_of(o, slots));
  kmb::benchmark benchmark(o.name);
  benchmark.on(buffers);
  benchmark.params().launch_mode = KMB_LAUNCH_PLAIN;
  benchmark.params().flags |= KMB_BENCH_REQUIRE_LAUNCH;
  for (const auto &[key, value] : o.axes)
    benchmark.axis(key, value);
  if (o.work) benchmark.work(*o.work);
  if (o.check)
    benchmark.check(
        [&](kmb::check &seen) { return o.check(slots[seen.slot()]); });
  const auto indices = std::index_sequence_for<Tensors...>();
  return benchmark.run(device, [&](const kmb::launch &l) -> kmb_status {
#ifdef KMB_TORCH_CUDA
    if (where.is_cuda()) {
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(
          l.stream<cudaStream_t>(), where.index()));
      detail::call(op, slots[l.slot()], indices);
      return kmb_cuda_launch_status();
    }
#endif
    detail::call(op, slots[l.slot()], indices);
    return KMB_OK;
  });
}

template <class Op, class... Tensors>
kmb::result bench(Op op, const at::Tensor &first, const Tensors &...others) {
  return bench(options(), std::move(op), first, others...);
}

} // namespace kmb::torch
