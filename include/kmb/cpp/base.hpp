/**
 * @file base.hpp
 * Spans, errors and what carries exceptions around the library's C frames;
 * part of kmb.hpp.
 */
#ifndef KMB_CPP_BASE_HPP
#define KMB_CPP_BASE_HPP

#include <kmb/kmb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(KMB_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define KMB_NO_EXCEPTIONS 1
#endif

/* Versions, and the two ways to report errors, are different types for the
 * linker. */
#define KMB_HPP_PASTE(major, minor, patch, way) \
  v##major##_##minor##_##patch##way
#define KMB_HPP_NAME(major, minor, patch, way) \
  KMB_HPP_PASTE(major, minor, patch, way)
#ifdef KMB_NO_EXCEPTIONS
#define KMB_HPP_NAMESPACE                                               \
  KMB_HPP_NAME(KMB_VERSION_MAJOR, KMB_VERSION_MINOR, KMB_VERSION_PATCH, \
               _returning)
#else
#define KMB_HPP_NAMESPACE                                               \
  KMB_HPP_NAME(KMB_VERSION_MAJOR, KMB_VERSION_MINOR, KMB_VERSION_PATCH, \
               _throwing)
#endif

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** Elements that lie side by side and belong to somebody else. */
template <class T> class span {
public:
  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept
      : data_(data), size_(size) {}
  template <class C,
            class = decltype(static_cast<T *>(std::declval<C &>().data()))>
  constexpr span(C &&all) noexcept : data_(all.data()), size_(all.size()) {}
  constexpr T *data() const noexcept {
    return data_;
  }
  constexpr std::size_t size() const noexcept {
    return size_;
  }
  constexpr bool empty() const noexcept {
    return size_ == 0;
  }
  constexpr T *begin() const noexcept {
    return data_;
  }
  constexpr T *end() const noexcept {
    return data_ + size_;
  }
  constexpr T &operator[](std::size_t i) const {
    return data_[i];
  }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

/** Why a call failed: the status, and the library's message for it. */
class error : public std::exception {
public:
  explicit error(kmb_status status) noexcept : status_(status) {
    kmb_status last = KMB_OK;
    const char *words = kmb_last_error(&last, &vendor_);
    if (last != status || words[0] == '\0') {
      words =
          status > 0 ? "a callback ended the call" : kmb_status_text(status);
      vendor_ = 0;
    }
    const std::size_t length = std::strlen(words);
    const std::size_t room = sizeof message_ - 1;
    std::memcpy(message_, words, length < room ? length : room);
  }
  /** Below zero the library's, above zero a callback's own. */
  kmb_status status() const noexcept {
    return status_;
  }
  /** The vendor library's code, 0 if none. */
  std::int64_t vendor() const noexcept {
    return vendor_;
  }
  const char *what() const noexcept override {
    return message_;
  }

private:
  char message_[256] = {};
  std::int64_t vendor_ = 0;
  kmb_status status_;
};

/** A value, or the error that is there instead. */
template <class T> class [[nodiscard]] outcome {
public:
  outcome(T value) : value_(std::move(value)), error_(KMB_OK) {}
  outcome(const error &why) : error_(why) {}
  explicit operator bool() const noexcept {
    return value_.has_value();
  }
  /** The value; only if there is one. */
  T &operator*() & {
    return *value_;
  }
  T &&operator*() && {
    return std::move(*value_);
  }
  T *operator->() {
    return &*value_;
  }
  kmb_status status() const noexcept {
    return error_.status();
  }
  const kmb::error &why() const noexcept {
    return error_;
  }

private:
  std::optional<T> value_;
  error error_;
};

template <> class [[nodiscard]] outcome<void> {
public:
  outcome() : error_(KMB_OK) {}
  outcome(const error &why) : error_(why) {}
  explicit operator bool() const noexcept {
    return status() == KMB_OK;
  }
  kmb_status status() const noexcept {
    return error_.status();
  }
  const kmb::error &why() const noexcept {
    return error_;
  }

private:
  error error_;
};

#ifdef KMB_NO_EXCEPTIONS
template <class T> using returned = outcome<T>;
#else
template <class T> using returned = T;
#endif

namespace detail {

#ifndef KMB_NO_EXCEPTIONS
/* What a callback of the call in progress threw. Callbacks run on the thread
 * that made the call, and calls nest. */
struct scope {
  scope() noexcept : outer(top()) {
    top() = this;
  }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
  ~scope() {
    top() = outer;
    if (cancelled) *cancelled = 0;
  }
  static scope *&top() noexcept {
    static thread_local scope *current = nullptr;
    return current;
  }
  /* Takes the exception that is being handled. A hook returns nothing through
   * which it could end the call: its exception cancels it. */
  static void keep(volatile std::int32_t *cancel = nullptr) noexcept {
    scope *here = top();
    if (!here || here->thrown) return;
    here->thrown = std::current_exception();
    if (!cancel) cancel = here->ends;
    if (cancel && !*cancel) {
      *cancel = 1;
      here->cancelled = cancel;
    }
  }
  scope *outer;
  std::exception_ptr thrown;
  /* The cancel flag of a call that a callback's failure does not end. */
  volatile std::int32_t *ends = nullptr;
  volatile std::int32_t *cancelled = nullptr;
};
#endif

/* What a callback returns to the library when it threw. */
constexpr kmb_status threw = 0x7fff0000;

template <class F, class... A>
kmb_status status_of(F &&call, A &&...arguments) {
  using R = std::invoke_result_t<F, A...>;
  static_assert(std::is_void_v<R> || std::is_same_v<R, kmb_status>,
                "a callback returns nothing or a kmb_status");
  if constexpr (std::is_void_v<R>) {
    std::forward<F>(call)(std::forward<A>(arguments)...);
    return KMB_OK;
  } else {
    return std::forward<F>(call)(std::forward<A>(arguments)...);
  }
}

/* Runs a callback between two C frames. */
template <class F> kmb_status guard(F &&call) noexcept {
#ifdef KMB_NO_EXCEPTIONS
  return status_of(call);
#else
  try {
    return status_of(call);
  } catch (...) {
    scope::keep();
    return threw;
  }
#endif
}

/* Makes a call of the library, then what the wrapper gives. */
template <class Call, class Make>
auto attempt(Call &&call, Make &&make) -> returned<decltype(make())> {
#ifdef KMB_NO_EXCEPTIONS
  const kmb_status status = call();
  if (status != KMB_OK) return error(status);
  if constexpr (std::is_void_v<decltype(make())>)
    return outcome<void>();
  else
    return outcome<decltype(make())>(make());
#else
  scope inside;
  const kmb_status status = call();
  if (inside.thrown) std::rethrow_exception(inside.thrown);
  if (status != KMB_OK) throw error(status);
  return make();
#endif
}

template <class Call> returned<void> attempt(Call &&call) {
  return attempt(std::forward<Call>(call), [] {});
}

/* Fills a struct that was initialised. */
template <class T, class Call> returned<T> filled(T value, Call &&call) {
  return attempt([&] { return call(&value); }, [&] { return value; });
}

/* A list that the library gives one by one; `get` cannot fail for them. */
template <class T, class Get>
std::vector<T> listed(std::uint64_t count, T initial, Get &&get) {
  std::vector<T> all(static_cast<std::size_t>(count), initial);
  for (std::uint64_t i = 0; i < count; i++)
    static_cast<void>(get(i, &all[static_cast<std::size_t>(i)]));
  return all;
}

inline kmb_status append(void *text, const void *data, std::size_t size) {
  return guard([&] {
    static_cast<std::string *>(text)->append(static_cast<const char *>(data),
                                             size);
  });
}

template <class Write> returned<std::string> written(Write &&write) {
  std::string text;
  return attempt([&] { return write(append, &text); },
                 [&] { return std::move(text); });
}

inline kmb_status take(void *rest, void *data, std::size_t size,
                       std::size_t *got) {
  auto &left = *static_cast<std::string_view *>(rest);
  *got = left.copy(static_cast<char *>(data), size);
  left.remove_prefix(*got);
  return KMB_OK;
}

/* Frees a handle, then what it needs to live. */
template <class T, void (*Free)(T *)> struct closer {
  void operator()(T *raw) const noexcept {
    Free(raw);
  }
  std::shared_ptr<void> kept;
};
template <class T, void (*Free)(T *)>
using handle = std::unique_ptr<T, closer<T, Free>>;

/* Opens a handle. It is owned even if a hook threw. */
template <class H, class Call> kmb_status open(H &owner, Call &&call) {
  typename H::pointer raw = nullptr;
  const kmb_status status = call(&raw);
  owner.reset(raw);
  return status;
}

enum class kind { F64, U64, TEXT };
#define KMB_HPP_KIND(name, number, is, ...) \
  case number:                              \
    return kind::is;
constexpr kind kind_of_value(kmb_value value) {
  switch (value) { KMB_VALUE_MAP(KMB_HPP_KIND) }
  return kind::TEXT;
}
constexpr kind kind_of_attr(kmb_device_attr attr) {
  switch (attr) { KMB_DEVICE_ATTR_MAP(KMB_HPP_KIND) }
  return kind::TEXT;
}
constexpr kind kind_of_part(kmb_part_value value) {
  switch (value) { KMB_PART_MAP(KMB_HPP_KIND) }
  return kind::TEXT;
}
#undef KMB_HPP_KIND

template <kind K>
using value_of = std::conditional_t<
    K == kind::F64, double,
    std::conditional_t<K == kind::U64, std::uint64_t, std::string_view>>;

/* A value by the getter of its kind, or nothing. */
template <kind K, class F64, class U64, class Text>
std::optional<value_of<K>> got(F64 &&f64, U64 &&u64, Text &&text) {
  if constexpr (K == kind::F64) {
    double number = 0;
    if (f64(&number) == KMB_OK) return number;
  } else if constexpr (K == kind::U64) {
    std::uint64_t number = 0;
    if (u64(&number) == KMB_OK) return number;
  } else {
    const char *words = nullptr;
    if (text(&words) == KMB_OK) return std::string_view(words);
  }
  return std::nullopt;
}

} // namespace detail

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
