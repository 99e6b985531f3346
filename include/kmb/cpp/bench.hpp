/**
 * @file bench.hpp
 * Measuring in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_BENCH_HPP
#define KMB_CPP_BENCH_HPP

#include <kmb/cpp/code.hpp>
#include <kmb/cpp/comm.hpp>
#include <kmb/cpp/result.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** What a launch callback works with: it must use these, since what it captured
 *  elsewhere does not rotate. */
class launch {
public:
  explicit launch(const kmb_launch &raw) noexcept : raw_(&raw) {}
  /** The stream, as the vendor's type: `stream<cudaStream_t>()`. */
  template <class S = void *> S stream() const noexcept {
    return static_cast<S>(raw_->stream);
  }
  /** This slot's pointer of buffer `index`. */
  template <class T = void> T *arg(std::size_t index) const noexcept {
    return static_cast<T *>(raw_->args[index]);
  }
  span<void *const> args() const noexcept {
    return {raw_->args, static_cast<std::size_t>(raw_->arg_count)};
  }
  std::uint64_t iteration() const noexcept {
    return raw_->iteration;
  }
  std::uint32_t slot() const noexcept {
    return raw_->slot;
  }
  std::uint32_t config() const noexcept {
    return raw_->config;
  }

private:
  const kmb_launch *raw_;
};

/** Host copies of the buffers, before and after one launch. */
class check {
public:
  explicit check(kmb_check &raw) noexcept : raw_(&raw) {}
  /** Empty for outputs and scratch. */
  template <class T> span<const T> before(std::size_t index) const noexcept {
    return copy<T>(raw_->before, index);
  }
  /** Empty for scratch. */
  template <class T> span<const T> after(std::size_t index) const noexcept {
    return copy<T>(raw_->after, index);
  }
  double tolerance() const noexcept {
    return raw_->tolerance;
  }
  /** The largest error found; kept in the result. */
  void error(double largest) noexcept {
    raw_->error = largest;
  }
  std::uint32_t slot() const noexcept {
    return raw_->slot;
  }
  std::uint32_t config() const noexcept {
    return raw_->config;
  }

private:
  template <class T>
  span<const T> copy(const void *const *all, std::size_t index) const noexcept {
    const void *data = index < raw_->count && all ? all[index] : nullptr;
    if (!data) return {};
    return {static_cast<const T *>(data),
            static_cast<std::size_t>(raw_->bytes[index]) / sizeof(T)};
  }
  kmb_check *raw_;
};

/** One operation to measure and how. What is not offered here stands in
 *  params(), the struct of the C interface; what its pointers point to must
 *  live until the measurement has ended. */
class benchmark {
public:
  explicit benchmark(std::string name = {})
      : name_(std::move(name)), params_(kmb_bench_params_init()) {}
  benchmark &axis(std::string key, std::string value) {
    axes_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  benchmark &axis(std::string key, N number) {
    return axis(std::move(key), std::to_string(number));
  }
  /** Kept in the result as "caller.KEY". */
  benchmark &metadata(std::string key, std::string value) {
    pairs_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  benchmark &work(const kmb_work &counts) {
    work_ = counts;
    return *this;
  }
  benchmark &on(const kmb::buffers &set) {
    params_.buffers = set.get();
    return *this;
  }
  /** `setup(uint32_t slot, uint32_t config)`, once for each slot. */
  template <class F> benchmark &setup(F f) {
    setup_ = [f = std::move(f)](std::uint32_t slot,
                                std::uint32_t config) mutable {
      return detail::status_of(f, slot, config);
    };
    return *this;
  }
  /** `reset(uint32_t slot, void *stream)`, before each iteration. */
  template <class F> benchmark &reset(F f) {
    reset_ = [f = std::move(f)](std::uint32_t slot, void *stream) mutable {
      return detail::status_of(f, slot, stream);
    };
    return *this;
  }
  /** `check(kmb::check &)` gives true if the outputs are right (or nothing,
   *  or a status). */
  template <class F> benchmark &check(F f) {
    check_ = [f = std::move(f)](kmb::check &given) mutable -> kmb_status {
      if constexpr (std::is_same_v<decltype(f(given)), bool>)
        return f(given) ? KMB_OK : KMB_ERR_INCORRECT;
      else
        return detail::status_of(f, given);
    };
    return *this;
  }
  benchmark &tolerance(double tolerance) {
    params_.tolerance = tolerance;
    params_.flags |= KMB_BENCH_TOLERANCE;
    return *this;
  }
  /** The ranks that measure together: every one makes the same call. */
  benchmark &ranks(const communicator &all) {
    params_.comm = all.get();
    return *this;
  }
  /** Reads by a hardware counter, after timing, how much came from DRAM, which
   *  proves the cache state. */
  benchmark &confirm_cold() {
    params_.flags |= KMB_BENCH_CONFIRM_COLD;
    return *this;
  }
  /** Reads the preset `sol` of hardware counters, after timing. */
  benchmark &with_counters() {
    params_.flags |= KMB_BENCH_COUNTERS;
    return *this;
  }
  /** Lists captured code in the result; it must live until then. */
  benchmark &with_code(const kmb::code &captured) {
    params_.code = captured.get();
    return *this;
  }
  kmb_bench_params &params() noexcept {
    return params_;
  }

  /** Measures `launch(const kmb::launch &)`, or `launch()`, which enqueues one
   *  iteration and does not wait (a host function runs it). */
  template <class F> returned<result> run(device &where, F &&launch) {
    using G = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<G>) {
      G *function = launch; // an object, which a pointer to void can point to
      return run(where, function);
    } else {
      kmb_bench_params p = settled();
      p.launch = call<G>;
      p.launch_user =
          const_cast<void *>(static_cast<const void *>(std::addressof(launch)));
      return bench(where, p);
    }
  }
  /** Measures prebuilt executable graphs, one a slot. */
  returned<result> run_graphs(device &where, span<void *const> graphs) {
    kmb_bench_params p = settled();
    p.graphs = graphs.data();
    p.graph_count = graphs.size();
    return bench(where, p);
  }
  /** Makes a result of samples that were taken elsewhere. */
  returned<result> from_samples(device &where, span<const double> ns,
                                double tick_ns = 0) {
    const kmb_bench_params p = settled();
    return made([&](kmb_result **out) {
      return kmb_result_from_samples(where.get(), &p, ns.data(), ns.size(),
                                     tick_ns, out);
    });
  }

private:
  friend class candidate;
  friend class counters;
  friend class session;
  template <class Call> static returned<result> made(Call &&call) {
    result out;
    return detail::attempt(
        [&] {
          kmb_result *raw = nullptr;
          const kmb_status status = call(&raw);
          out = result(raw);
          return status;
        },
        [&] { return std::move(out); });
  }
  static returned<result> bench(device &where, const kmb_bench_params &p) {
    return made(
        [&](kmb_result **out) { return kmb_bench(where.get(), &p, out); });
  }
  template <class F>
  static kmb_status call(void *user, const kmb_launch *raw) noexcept {
    F &f = *static_cast<F *>(user);
    return detail::guard([&] {
      if constexpr (std::is_invocable_v<F &, const kmb::launch &>)
        return f(kmb::launch(*raw));
      else
        return f();
    });
  }
  static kmb_status set_up(void *user, std::uint32_t slot,
                           std::uint32_t config) noexcept {
    return detail::guard(
        [&] { return static_cast<benchmark *>(user)->setup_(slot, config); });
  }
  static kmb_status set_back(void *user, std::uint32_t slot,
                             void *stream) noexcept {
    return detail::guard(
        [&] { return static_cast<benchmark *>(user)->reset_(slot, stream); });
  }
  static kmb_status look(void *user, kmb_check *raw) noexcept {
    return detail::guard([&] {
      kmb::check given(*raw);
      return static_cast<benchmark *>(user)->check_(given);
    });
  }
  using pairs = std::vector<std::pair<std::string, std::string>>;
  static const kmb_pair *bare(const pairs &from, std::vector<kmb_pair> &to) {
    to.clear();
    for (const auto &[key, value] : from)
      to.push_back({key.c_str(), value.c_str()});
    return to.data();
  }
  /* Pointers into this object, so neither may move until they were used. */
  kmb_bench_params settled() {
    kmb_bench_params p = params_;
    if (!name_.empty()) p.name = name_.c_str();
    if (!axes_.empty()) {
      p.axes = bare(axes_, bare_axes_);
      p.axis_count = axes_.size();
    }
    if (!pairs_.empty()) {
      metadata_ = p.metadata ? *p.metadata : kmb_metadata_params_init();
      metadata_.pairs = bare(pairs_, bare_pairs_);
      metadata_.pair_count = pairs_.size();
      p.metadata = &metadata_;
    }
    if (work_) p.work = &*work_;
    if (setup_) p.setup = set_up;
    if (reset_) p.reset = set_back;
    if (check_) p.check = look;
    if (setup_) p.setup_user = this;
    if (reset_) p.reset_user = this;
    if (check_) p.check_user = this;
    return p;
  }
  std::string name_;
  kmb_bench_params params_;
  pairs axes_, pairs_;
  std::vector<kmb_pair> bare_axes_, bare_pairs_;
  kmb_metadata_params metadata_ = kmb_metadata_params_init();
  std::optional<kmb_work> work_;
  std::function<kmb_status(std::uint32_t, std::uint32_t)> setup_;
  std::function<kmb_status(std::uint32_t, void *)> reset_;
  std::function<kmb_status(kmb::check &)> check_;
};

/** A measurement that the caller drives. Destroyed before end() it gives no
 *  result. */
class session {
public:
  session() = default;
  static returned<session> begin(device &where, const benchmark &what) {
    struct state {
      std::shared_ptr<detail::hooks> hooks;
      benchmark what;
    };
    auto kept = std::make_shared<state>(state{where.kept(), what});
    const kmb_bench_params p = kept->what.settled();
    session out;
    out.raw_.get_deleter().kept = kept;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_session **raw) {
            return kmb_session_begin(where.get(), &p, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_session *get() const noexcept {
    return raw_.get();
  }
  returned<void> sample_begin() {
    return detail::attempt([&] { return kmb_session_sample_begin(get()); });
  }
  returned<void> sample_end(std::uint64_t iterations = 1) {
    return detail::attempt(
        [&] { return kmb_session_sample_end(get(), iterations); });
  }
  /** Ends the session, whatever comes of it. */
  returned<result> end() {
    return benchmark::made(
        [&](kmb_result **out) { return kmb_session_end(raw_.release(), out); });
  }

private:
  detail::handle<kmb_session, kmb_session_abandon> raw_;
};

/** The shortest way: measures `launch` with all defaults. */
template <class F>
returned<result> bench(device &where, std::string name, F &&launch) {
  return benchmark(std::move(name)).run(where, std::forward<F>(launch));
}

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
