/* What the tests of kmb.hpp share: a device, and both ways to report errors
 * seen as one. */
#ifndef KMB_TESTS_CPP_FRONT_HPP
#define KMB_TESTS_CPP_FRONT_HPP

#include "../require.h"

#include <kmb/kmb.hpp>

#ifdef KMB_NO_EXCEPTIONS
template <class T> T must(kmb::outcome<T> got) {
  if (!got) fprintf(stderr, "%s\n", got.why().what());
  REQUIRE_STATUS(got.status(), KMB_OK);
  if constexpr (!std::is_void_v<T>) return std::move(*got);
}
template <class F> kmb_status status_of(F &&call) {
  return call().status();
}
#else
template <class T> T must(T &&got) {
  return std::forward<T>(got);
}
template <class F> kmb_status status_of(F &&call) {
  try {
    static_cast<void>(call());
    return KMB_OK;
  } catch (const kmb::error &why) {
    return why.status();
  }
}
#endif

/* A text that lives while it is looked at. */
#define HAS(text, part)              \
  do {                               \
    const std::string held = (text); \
    REQUIRE_HAS(held.c_str(), part); \
  } while (0)

/* A call that gives nothing. */
#ifdef KMB_NO_EXCEPTIONS
#define MUST(call) must(call)
#else
#define MUST(call) static_cast<void>(call)
#endif

inline kmb::device host(kmb::device_options options = {}) {
  options.llc_bytes = 1u << 16;
  options.threads = 1;
  return must(kmb::device::open("host", std::move(options)));
}

/* Twenty samples of one call each. */
inline kmb::benchmark quick(const char *name) {
  kmb::benchmark one(name);
  one.params().flags = KMB_BENCH_NO_WARMUP | KMB_BENCH_NO_CONFIRM;
  one.params().max_samples = one.params().min_samples = 20;
  one.params().min_wall_ns = 1;
  one.params().max_wall_ns = 600e9; /* however busy the machine is */
  one.params().batch = 1;
  return one;
}

#endif
