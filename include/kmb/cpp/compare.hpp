/**
 * @file compare.hpp
 * Comparing in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_COMPARE_HPP
#define KMB_CPP_COMPARE_HPP

#include <kmb/cpp/bench.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** A tuning parameter and the values that it may have. */
struct knob {
  std::string name;
  std::vector<std::string> values;
};

/** The knobs of a candidate. A callback that keeps a copy knows which values a
 *  configuration has: `knobs.value(l.config(), 0)`. */
class knobs {
public:
  knobs() = default;
  knobs(std::initializer_list<knob> all) : all_(all) {}
  knobs &add(std::string name, std::vector<std::string> values) {
    all_.push_back({std::move(name), std::move(values)});
    return *this;
  }
  std::size_t size() const noexcept {
    return all_.size();
  }
  const knob &operator[](std::size_t index) const {
    return all_[index];
  }
  /** Which value of knob `index` a configuration has, as kmb_knob_value(); only
   *  for a knob that there is and that has values. */
  std::size_t position(std::uint32_t config, std::size_t index) const {
    std::uint64_t rest = config;
    for (std::size_t i = all_.size() - 1; i > index; i--)
      rest /= all_[i].values.size();
    return static_cast<std::size_t>(rest % all_[index].values.size());
  }
  const std::string &value(std::uint32_t config, std::size_t index) const {
    return all_[index].values[position(config, index)];
  }

private:
  std::vector<knob> all_;
};

/** One of the things that are compared: what to measure, and the launch, as
 *  benchmark::run() takes it. The candidate keeps the launch; copies share
 *  it. */
class candidate {
public:
  template <class F>
  candidate(benchmark what, F launch)
      : what_(std::move(what), std::move(launch)) {}
  /** Tuned before it is compared: each configuration is tried. */
  candidate &tune(kmb::knobs which) {
    knobs_ = std::move(which);
    return *this;
  }
  /** A point at which to tune, in place of the one that is compared; the
   *  fastest over all of them is kept. */
  template <class F> candidate &tune_at(benchmark what, F launch) {
    points_.emplace_back(std::move(what), std::move(launch));
    return *this;
  }

private:
  friend class comparison;
  /* A benchmark and its launch. */
  class point {
  public:
    template <class F>
    point(benchmark what, F f)
        : what_(std::move(what)), call_(benchmark::call<F>),
          launch_(std::make_shared<F>(std::move(f))) {}
    const kmb_bench_params *settled() {
      params_ = what_.settled();
      params_.launch = call_;
      params_.launch_user = launch_.get();
      return &params_;
    }

  private:
    benchmark what_;
    kmb_launch_fn call_;
    std::shared_ptr<void> launch_;
    kmb_bench_params params_ = kmb_bench_params_init();
  };
  /* Pointers into this object, so it may not move until they were used. */
  kmb_candidate settled() {
    kmb_candidate c = kmb_candidate_init();
    c.bench = what_.settled();
    bare_points_.clear();
    for (point &one : points_)
      bare_points_.push_back(one.settled());
    if (!points_.empty()) c.tune_at = bare_points_.data();
    c.tune_at_count = points_.size();
    bare_values_.clear();
    bare_knobs_.clear();
    for (std::size_t i = 0; i < knobs_.size(); i++) {
      std::vector<const char *> values;
      for (const std::string &value : knobs_[i].values)
        values.push_back(value.c_str());
      bare_values_.push_back(std::move(values));
      const std::vector<const char *> &kept = bare_values_.back();
      bare_knobs_.push_back({knobs_[i].name.c_str(), kept.data(), kept.size()});
    }
    if (!bare_knobs_.empty()) c.knobs = bare_knobs_.data();
    c.knob_count = bare_knobs_.size();
    return c;
  }
  point what_;
  std::vector<point> points_;
  kmb::knobs knobs_;
  std::vector<const kmb_bench_params *> bare_points_;
  std::vector<std::vector<const char *>> bare_values_;
  std::vector<kmb_knob> bare_knobs_;
};

/** A finished comparison. What it gives is valid as long as it is. */
class comparison {
public:
  comparison() = default;
  /** Measures the candidates in turns. */
  static returned<comparison>
  of(device &where, std::vector<candidate> candidates,
     const kmb_compare_params &params = kmb_compare_params_init()) {
    std::vector<kmb_candidate> bare;
    for (candidate &one : candidates)
      bare.push_back(one.settled());
    comparison out;
    return detail::attempt(
        [&] {
#ifndef KMB_NO_EXCEPTIONS
          if (where) detail::scope::top()->ends = &where.kept()->cancel;
#endif
          return detail::open(out.raw_, [&](kmb_comparison **raw) {
            return kmb_compare(where.get(), bare.data(), sizeof(kmb_candidate),
                               bare.size(), &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_comparison *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  /** In the order of the candidates. */
  std::vector<kmb_compare_row> rows() const {
    return detail::listed(
        kmb_comparison_count(get()), kmb_compare_row_init(),
        [&](auto i, auto *out) { return kmb_comparison_row(get(), i, out); });
  }
  returned<kmb_compare_row> row(std::uint64_t index) const {
    return detail::filled(kmb_compare_row_init(), [&](auto *out) {
      return kmb_comparison_row(get(), index, out);
    });
  }
  /** A candidate's result. */
  returned<result_view> at(std::uint64_t index) const {
    kmb_compare_row row = kmb_compare_row_init();
    return detail::attempt(
        [&] { return kmb_comparison_row(get(), index, &row); },
        [&] { return result_view(row.result); });
  }
  /** The configurations that were tried; empty without knobs. */
  std::vector<kmb_compare_arm> arms(std::uint64_t index) const {
    kmb_compare_row row = kmb_compare_row_init();
    if (kmb_comparison_row(get(), index, &row) != KMB_OK) return {};
    return detail::listed(row.configs_measured + row.configs_failed,
                          kmb_compare_arm_init(), [&](auto i, auto *out) {
                            return kmb_comparison_arm(get(), index, i, out);
                          });
  }
  /** A ratio a cycle; empty for the baseline. */
  span<const double> ratios(std::uint64_t index) const noexcept {
    const double *all = nullptr;
    std::uint64_t count = 0;
    if (kmb_comparison_ratios(get(), index, &all, &count) != KMB_OK) return {};
    return {all, static_cast<std::size_t>(count)};
  }
  returned<std::string> text() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_comparison_write_text(get(), write, user);
    });
  }
  returned<std::string> json() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_comparison_write_json(get(), write, user);
    });
  }

private:
  detail::handle<kmb_comparison, kmb_comparison_destroy> raw_;
};

/** The shortest way: `compare(device, {{benchmark("a"), f}, …})`. */
inline returned<comparison>
compare(device &where, std::vector<candidate> candidates,
        const kmb_compare_params &params = kmb_compare_params_init()) {
  return comparison::of(where, std::move(candidates), params);
}

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
