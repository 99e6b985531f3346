/**
 * @file result.hpp
 * Results, lists of them, the roofline and tables of peaks in C++; part of
 * kmb.hpp.
 */
#ifndef KMB_CPP_RESULT_HPP
#define KMB_CPP_RESULT_HPP

#include <kmb/cpp/device.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** A result that belongs to somebody else. What it gives is valid as long as
 *  the result is. */
class result_view {
public:
  result_view() = default;
  explicit result_view(const kmb_result *raw) noexcept : seen_(raw) {}
  const kmb_result *get() const noexcept {
    return seen_;
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  /** A value of KMB_VALUE_MAP(), by the getter of its kind:
   *  `get<KMB_VALUE_SOL_PCT>()` is an optional double. Empty: not known, and
   *  why<V>() says why. */
  template <kmb_value V> auto get() const {
    return detail::got<detail::kind_of_value(V)>(
        [&](double *x) { return kmb_result_f64(get(), V, x); },
        [&](std::uint64_t *x) { return kmb_result_u64(get(), V, x); },
        [&](const char **x) { return kmb_result_text(get(), V, x); });
  }
  /** Why a value is not there; empty if it is. */
  template <kmb_value V> std::string why() const {
    return get<V>() ? std::string() : kmb_last_error(nullptr, nullptr);
  }
  /** The headline: the median of an iteration. */
  returned<double> time_ns() const {
    double number = 0;
    return detail::attempt(
        [&] { return kmb_result_f64(get(), KMB_VALUE_TIME, &number); },
        [&] { return number; });
  }
  span<const double> samples() const noexcept {
    const double *ns = nullptr;
    std::uint64_t count = 0;
    if (kmb_result_samples(get(), &ns, &count) != KMB_OK) return {};
    return {ns, static_cast<std::size_t>(count)};
  }
  std::vector<kmb_finding> findings() const {
    return detail::listed(
        kmb_result_finding_count(get()), kmb_finding_init(),
        [&](auto i, auto *out) { return kmb_result_finding(get(), i, out); });
  }
  bool has(kmb_finding_code code) const {
    for (const kmb_finding &one : findings())
      if (one.code == code) return true;
    return false;
  }
  std::vector<kmb_op> ops() const {
    return detail::listed(
        kmb_result_op_count(get()), kmb_op_init(),
        [&](auto i, auto *out) { return kmb_result_op(get(), i, out); });
  }
  /** A row for each kernel whose code was captured, as benchmark::with_code()
   *  was given it. */
  std::vector<kmb_code_kernel> code() const {
    return detail::listed(
        kmb_result_code_count(get()), kmb_code_kernel_init(),
        [&](auto i, auto *out) { return kmb_result_code(get(), i, out); });
  }
  /** A row for each rank, where several measured together. */
  std::vector<kmb_rank> ranks() const {
    return detail::listed(
        kmb_result_rank_count(get()), kmb_rank_init(),
        [&](auto i, auto *out) { return kmb_result_rank(get(), i, out); });
  }
  std::vector<kmb_pair> axes() const {
    return detail::listed(
        kmb_result_axis_count(get()), kmb_pair{},
        [&](auto i, auto *out) { return kmb_result_axis(get(), i, out); });
  }
  std::vector<kmb_metadata_entry> metadata() const {
    return detail::listed(
        kmb_result_metadata_count(get()), kmb_metadata_entry_init(),
        [&](auto i, auto *out) { return kmb_result_metadata(get(), i, out); });
  }
  returned<std::string> text() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_result_write_text(get(), write, user);
    });
  }
  returned<std::string> json() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_result_write_json(get(), write, user);
    });
  }

protected:
  const kmb_result *seen_ = nullptr;
};

/** A result of one's own. */
class result : public result_view {
public:
  result() = default;
  explicit result(kmb_result *raw) noexcept : result_view(raw), raw_(raw) {}
  result(result &&other) noexcept : result(other.release()) {}
  result &operator=(result &&other) noexcept {
    raw_.reset(other.release());
    seen_ = raw_.get();
    return *this;
  }
  ~result() = default;
  /** Gives it away; free it with kmb_result_destroy(). */
  kmb_result *release() noexcept {
    seen_ = nullptr;
    return raw_.release();
  }

private:
  detail::handle<kmb_result, kmb_result_destroy> raw_;
};

/** An ordered list of results. */
class results {
public:
  results() = default;
  static returned<results> create() {
    results out;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [](kmb_results **raw) {
            return kmb_results_create(nullptr, raw);
          });
        },
        [&] { return std::move(out); });
  }
  /** Reads what json() wrote. */
  static returned<results> read_json(std::string_view json) {
    results out;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_results **raw) {
            return kmb_results_read_json(detail::take, &json, nullptr, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_results *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  /** Takes the result, unless it fails. */
  returned<void> add(result &&one) {
    return detail::attempt([&] {
      auto *raw = const_cast<kmb_result *>(one.result_view::get());
      const kmb_status status = kmb_results_add(get(), raw);
      if (status == KMB_OK) static_cast<void>(one.release());
      return status;
    });
  }
  std::size_t size() const noexcept {
    return static_cast<std::size_t>(kmb_results_count(get()));
  }
  returned<result_view> at(std::uint64_t index) const {
    const kmb_result *one = nullptr;
    return detail::attempt([&] { return kmb_results_get(get(), index, &one); },
                           [&] { return result_view(one); });
  }
  returned<std::string> json() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_results_write_json(get(), write, user);
    });
  }
  returned<std::string> table() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_results_write_table(get(), write, user);
    });
  }

private:
  detail::handle<kmb_results, kmb_results_destroy> raw_;
};

/** Where work stands below its ceilings. */
inline returned<kmb_roofline> evaluate(const kmb_roofline_params &params) {
  return detail::filled(kmb_roofline_init(), [&](kmb_roofline *out) {
    return kmb_roofline_evaluate(&params, out);
  });
}

/** A row of a table of peaks; valid as long as the table is. */
class part {
public:
  part() = default;
  explicit part(const kmb_part *raw) noexcept : raw_(raw) {}
  const kmb_part *get() const noexcept {
    return raw_;
  }
  /** A value of KMB_PART_MAP(); empty: not known. */
  template <kmb_part_value V> auto get() const {
    return detail::got<detail::kind_of_part(V)>(
        [&](double *x) { return kmb_part_f64(get(), V, x); },
        [](std::uint64_t *) { return KMB_ERR_INVALID; },
        [&](const char **x) { return kmb_part_text(get(), V, x); });
  }
  returned<kmb_ceiling> ceiling(kmb_ceiling_kind kind, kmb_dtype dtype = 0,
                                std::uint32_t flags = 0) const {
    return detail::filled(kmb_ceiling_init(), [&](kmb_ceiling *out) {
      return kmb_part_ceiling(get(), kind, dtype, flags, out);
    });
  }
  returned<kmb_ceiling> rate(kmb_ceiling_kind kind, kmb_dtype dtype,
                             double clock_mhz, std::uint64_t units = 0) const {
    return detail::filled(kmb_ceiling_init(), [&](kmb_ceiling *out) {
      return kmb_part_rate(get(), kind, dtype, units, clock_mhz, out);
    });
  }
  std::vector<kmb_reference> references() const {
    return detail::listed(
        kmb_part_reference_count(get()), kmb_reference_init(),
        [&](auto i, auto *out) { return kmb_part_reference(get(), i, out); });
  }
  returned<kmb_reference> reference_for(const kmb_work &work,
                                        kmb_bound bound) const {
    return detail::filled(kmb_reference_init(), [&](kmb_reference *out) {
      return kmb_part_reference_for(get(), &work, bound, out);
    });
  }

private:
  const kmb_part *raw_ = nullptr;
};

/** A table of parts; by default the one that is compiled in. */
class peaks {
public:
  peaks() = default;
  /** A table of one's own, which starts as the compiled-in one. */
  static returned<peaks> create() {
    peaks out;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [](kmb_peaks **raw) {
            return kmb_peaks_create(nullptr, raw);
          });
        },
        [&] { return std::move(out); });
  }
  /** Adds the rows of a CSV file; `origin` is what to call it. */
  returned<void> read_csv(const char *origin, std::string_view csv) {
    return detail::attempt(
        [&] { return kmb_peaks_read_csv(get(), origin, detail::take, &csv); });
  }
  kmb_peaks *get() const noexcept {
    return raw_.get();
  }
  std::uint64_t size() const noexcept {
    return kmb_peaks_count(get());
  }
  returned<part> at(std::uint64_t index) const {
    return row([&](auto **out) { return kmb_peaks_get(get(), index, out); });
  }
  /** By what the driver says; either may be nullptr. */
  returned<part> find(const char *name, const char *pci_id = nullptr) const {
    return row(
        [&](auto **out) { return kmb_peaks_find(get(), name, pci_id, out); });
  }
  /** By what a person calls it. */
  returned<part> lookup(const char *name) const {
    return row([&](auto **out) { return kmb_peaks_lookup(get(), name, out); });
  }
  returned<part> of(const device &which) const {
    return row([&](auto **out) {
      return kmb_peaks_of_device(get(), which.get(), out);
    });
  }

private:
  template <class Call> returned<part> row(Call &&call) const {
    const kmb_part *found = nullptr;
    return detail::attempt([&] { return call(&found); },
                           [&] { return part(found); });
  }
  detail::handle<kmb_peaks, kmb_peaks_destroy> raw_;
};

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
