/**
 * @file code.hpp
 * Captured code in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_CODE_HPP
#define KMB_CPP_CODE_HPP

#include <kmb/cpp/device.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** Kernels that were launched while something ran, with their images. What it
 *  gives is valid as long as it is. */
class code {
public:
  code() = default;
  /** Runs `work()`, which launches what is wanted and need not wait for it, and
   *  keeps what is launched meanwhile. */
  template <class F> static returned<code> capture(device &where, F work) {
    code out;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_code **raw) {
            return kmb_code_capture(where.get(), call<F>, &work, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_code *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  returned<kmb_code_info> info() const {
    return detail::filled(kmb_code_info_init(), [&](auto *out) {
      return kmb_code_get_info(get(), out);
    });
  }
  /** A row for each kernel with one launch configuration. */
  std::vector<kmb_code_kernel> kernels() const {
    kmb_code_info seen = kmb_code_info_init();
    static_cast<void>(kmb_code_get_info(get(), &seen));
    return detail::listed(
        seen.kernels, kmb_code_kernel_init(),
        [&](auto i, auto *out) { return kmb_code_get_kernel(get(), i, out); });
  }
  /** The image of a kernel's; empty: there is none, and its `reason` says
   *  why. */
  span<const unsigned char> image(std::uint64_t index) const noexcept {
    const void *data = nullptr;
    std::uint64_t bytes = 0;
    if (kmb_code_get_image(get(), index, &data, &bytes) != KMB_OK) return {};
    return {static_cast<const unsigned char *>(data),
            static_cast<std::size_t>(bytes)};
  }
  /** Writes each image into a folder, such as "result.d". */
  returned<void> save(const std::string &folder) const {
    return detail::attempt(
        [&] { return kmb_code_save(get(), folder.c_str()); });
  }

private:
  template <class F> static kmb_status call(void *user) noexcept {
    return detail::guard([&] { return (*static_cast<F *>(user))(); });
  }
  detail::handle<kmb_code, kmb_code_destroy> raw_;
};

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
