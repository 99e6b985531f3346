/**
 * @file trace.hpp
 * Traces, gaps and recordings in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_TRACE_HPP
#define KMB_CPP_TRACE_HPP

#include <kmb/cpp/device.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** An analysis of a trace, which it keeps alive. Strings in what it gives are
 *  valid as long as it is. */
class gaps {
public:
  gaps() = default;
  kmb_gaps *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  std::vector<kmb_gaps_device> devices() const {
    return detail::listed(
        kmb_gaps_device_count(get()), kmb_gaps_device_init(),
        [&](auto i, auto *out) { return kmb_gaps_get_device(get(), i, out); });
  }
  returned<double> utilization(std::uint64_t device) const {
    double share = 0;
    return detail::attempt(
        [&] { return kmb_gaps_utilization(get(), device, &share); },
        [&] { return share; });
  }
  std::vector<kmb_gaps_transition> transitions(std::uint64_t device) const {
    return detail::listed(of(device).transitions, kmb_gaps_transition_init(),
                          [&](auto i, auto *out) {
                            return kmb_gaps_get_transition(get(), device, i,
                                                           out);
                          });
  }
  std::vector<kmb_gaps_name> names(std::uint64_t device) const {
    return detail::listed(of(device).names, kmb_gaps_name_init(),
                          [&](auto i, auto *out) {
                            return kmb_gaps_get_name(get(), device, i, out);
                          });
  }
  std::vector<kmb_gaps_stream> streams(std::uint64_t device) const {
    return detail::listed(of(device).streams, kmb_gaps_stream_init(),
                          [&](auto i, auto *out) {
                            return kmb_gaps_get_stream(get(), device, i, out);
                          });
  }
  returned<kmb_gaps_target> target(std::uint64_t device) const {
    return detail::filled(kmb_gaps_target_init(), [&](auto *out) {
      return kmb_gaps_get_target(get(), device, out);
    });
  }
  /** Between launches of the target; empty where there is none. */
  std::vector<kmb_gaps_interval> intervals(std::uint64_t device) const {
    kmb_gaps_target found = kmb_gaps_target_init();
    if (kmb_gaps_get_target(get(), device, &found) != KMB_OK) return {};
    return detail::listed(found.intervals, kmb_gaps_interval{},
                          [&](auto i, auto *out) {
                            return kmb_gaps_get_interval(get(), device, i, out);
                          });
  }
  returned<kmb_gaps_latency> latency(std::uint64_t device) const {
    return detail::filled(kmb_gaps_latency_init(), [&](auto *out) {
      return kmb_gaps_get_latency(get(), device, out);
    });
  }
  std::vector<kmb_finding> findings() const {
    return detail::listed(
        kmb_gaps_finding_count(get()), kmb_finding_init(),
        [&](auto i, auto *out) { return kmb_gaps_get_finding(get(), i, out); });
  }
  returned<std::string> text() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_gaps_write_text(get(), write, user);
    });
  }
  returned<std::string> json() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_gaps_write_json(get(), write, user);
    });
  }

private:
  friend class trace;
  kmb_gaps_device of(std::uint64_t device) const noexcept {
    kmb_gaps_device found = kmb_gaps_device_init();
    static_cast<void>(kmb_gaps_get_device(get(), device, &found));
    return found;
  }
  detail::handle<kmb_gaps, kmb_gaps_destroy> raw_;
};

/** What devices did and when; copies share it. */
class trace {
public:
  trace() = default;
  /** From a profiler's file. */
  static returned<trace>
  load(const char *path,
       const kmb_trace_params &params = kmb_trace_params_init()) {
    return made(
        [&](kmb_trace **raw) { return kmb_trace_load(path, &params, raw); });
  }
  /** From what a profiler's file holds. */
  static returned<trace>
  read(std::string_view content,
       const kmb_trace_params &params = kmb_trace_params_init()) {
    return made([&](kmb_trace **raw) {
      return kmb_trace_read(detail::take, &content, &params, raw);
    });
  }
  kmb_trace *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  returned<kmb_trace_info> info() const {
    return detail::filled(kmb_trace_info_init(), [&](auto *out) {
      return kmb_trace_get_info(get(), out);
    });
  }
  returned<kmb_trace_op> op(std::uint64_t index) const {
    return detail::filled(kmb_trace_op_init(), [&](auto *out) {
      return kmb_trace_get_op(get(), index, out);
    });
  }
  returned<kmb_trace_call> call(std::uint64_t index) const {
    return detail::filled(kmb_trace_call_init(), [&](auto *out) {
      return kmb_trace_get_call(get(), index, out);
    });
  }
  returned<kmb_trace_range> range(std::uint64_t index) const {
    return detail::filled(kmb_trace_range_init(), [&](auto *out) {
      return kmb_trace_get_range(get(), index, out);
    });
  }
  returned<kmb::gaps>
  gaps(const kmb_gaps_params &params = kmb_gaps_params_init()) const {
    kmb::gaps out;
    out.raw_.get_deleter().kept = raw_;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_gaps **raw) {
            return kmb_gaps_analyse(get(), &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  /** libkmb's own JSON, with nothing lost. */
  returned<std::string> json() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_trace_write_json(get(), write, user);
    });
  }
  /** For Perfetto and chrome://tracing. */
  returned<std::string> chrome() const {
    return detail::written([&](kmb_write_fn write, void *user) {
      return kmb_trace_write_chrome(get(), write, user);
    });
  }

private:
  friend class recording;
  template <class Call> static returned<trace> made(Call &&call) {
    detail::handle<kmb_trace, kmb_trace_destroy> owned;
    return detail::attempt([&] { return detail::open(owned, call); },
                           [&] {
                             trace out;
                             out.raw_ = std::move(owned);
                             return out;
                           });
  }
  std::shared_ptr<kmb_trace> raw_;
};

/** A recording of what this process does on its devices. Destroyed before end()
 *  it drops what it holds. */
class recording {
public:
  recording() = default;
  static returned<recording>
  begin(device &where,
        const kmb_record_params &params = kmb_record_params_init()) {
    recording out;
    out.raw_.get_deleter().kept = where.kept();
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_recording **raw) {
            return kmb_trace_begin(where.get(), &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_recording *get() const noexcept {
    return raw_.get();
  }
  /** Runs `body` within a named range of the calling thread. */
  template <class F> returned<void> range(const char *name, F &&body) {
    struct ending {
      ~ending() {
        static_cast<void>(kmb_trace_range_end(recording));
      }
      kmb_recording *recording;
    };
    return detail::attempt([&] { return kmb_trace_range_begin(get(), name); },
                           [&] {
                             const ending when_done{get()};
                             static_cast<void>(std::forward<F>(body)());
                           });
  }
  /** Ends the recording, whatever comes of it. */
  returned<trace> end() {
    return trace::made(
        [&](kmb_trace **raw) { return kmb_trace_end(raw_.release(), raw); });
  }

private:
  detail::handle<kmb_recording, kmb_trace_abandon> raw_;
};

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
