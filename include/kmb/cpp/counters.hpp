/**
 * @file counters.hpp
 * Hardware counters in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_COUNTERS_HPP
#define KMB_CPP_COUNTERS_HPP

#include <kmb/cpp/bench.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** What was read. What it gives is valid as long as it is. */
class counters {
public:
  counters() = default;
  /** Reads counters of `launch`, as benchmark::run() takes it; by default the
   *  preset, of all kernels. */
  template <class F>
  static returned<counters>
  of(device &where, benchmark what, F launch,
     const kmb_counters_params &params = kmb_counters_params_init()) {
    kmb_bench_params p = what.settled();
    p.launch = benchmark::call<F>;
    p.launch_user = &launch;
    return read(where, p, params);
  }
  /** Of prebuilt executable graphs, one a slot. */
  static returned<counters>
  of_graphs(device &where, benchmark what, span<void *const> graphs,
            const kmb_counters_params &params = kmb_counters_params_init()) {
    kmb_bench_params p = what.settled();
    p.graphs = graphs.data();
    p.graph_count = graphs.size();
    return read(where, p, params);
  }
  kmb_counters *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  returned<kmb_counters_info> info() const {
    return detail::filled(kmb_counters_info_init(), [&](auto *out) {
      return kmb_counters_get_info(get(), out);
    });
  }
  /** Rows: kernels that were kept. */
  std::uint64_t size() const noexcept {
    return kmb_counters_row_count(get());
  }
  /** The row's kernel; empty if there is no such row. */
  std::string_view name(std::uint64_t row) const noexcept {
    const char *words = nullptr;
    return kmb_counters_name(get(), row, &words) == KMB_OK
               ? std::string_view(words)
               : std::string_view();
  }
  /** A value by the metric's place in what was asked for, such as
   *  KMB_COUNTERS_SOL_DRAM_READ; empty: not known, and why() says why. */
  std::optional<double> value(std::uint64_t row,
                              std::uint64_t metric) const noexcept {
    double number = 0;
    if (kmb_counters_value(get(), row, metric, &number) != KMB_OK)
      return std::nullopt;
    return number;
  }
  /** Why a value is not there; empty if it is. */
  std::string why(std::uint64_t row, std::uint64_t metric) const {
    return value(row, metric) ? std::string()
                              : kmb_last_error(nullptr, nullptr);
  }

private:
  static returned<counters> read(device &where, const kmb_bench_params &p,
                                 const kmb_counters_params &params) {
    counters out;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_counters **raw) {
            return kmb_counters_read(where.get(), &p, &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  detail::handle<kmb_counters, kmb_counters_destroy> raw_;
};

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
