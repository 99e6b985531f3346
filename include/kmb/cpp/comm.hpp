/**
 * @file comm.hpp
 * Several ranks in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_COMM_HPP
#define KMB_CPP_COMM_HPP

#include <kmb/cpp/base.hpp>

#include <algorithm>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** One rank's part of a communicator. It must outlive what is measured with
 *  it, and one thread at a time uses it. */
class communicator {
public:
  communicator() = default;
  /** Owns what C gave, such as kmb_mpi_comm_create(). */
  explicit communicator(kmb_comm *raw) noexcept : raw_(raw) {}
  /** Of functions of one's own, which must not throw. */
  static returned<communicator>
  of(const kmb_comm_ops &ops,
     const kmb_comm_params &params = kmb_comm_params_init()) {
    return made(
        [&](kmb_comm **raw) { return kmb_comm_create(&ops, &params, raw); });
  }
  /** Joins threads of this process: one for each. */
  static returned<std::vector<communicator>>
  threads(std::int32_t size,
          const kmb_comm_params &params = kmb_comm_params_init()) {
    /* What is too large the library refuses, and writes nothing. */
    std::vector<kmb_comm *> raw(
        static_cast<std::size_t>(std::clamp(size, 1, 4096)));
    std::vector<communicator> all;
    all.reserve(raw.size());
    return detail::attempt(
        [&] { return kmb_comm_threads_create(size, &params, raw.data()); },
        [&] {
          for (kmb_comm *one : raw)
            all.emplace_back(one);
          return std::move(all);
        });
  }
  /** Joins processes of one host; waits for all of them. */
  static returned<communicator>
  shm(const char *name, std::int32_t rank, std::int32_t size,
      const kmb_comm_params &params = kmb_comm_params_init()) {
    return made([&](kmb_comm **raw) {
      return kmb_comm_shm_create(name, rank, size, &params, raw);
    });
  }
  kmb_comm *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  /** From 0; -1 for none. */
  std::int32_t rank() const noexcept {
    return kmb_comm_rank(get());
  }
  std::int32_t size() const noexcept {
    return kmb_comm_size(get());
  }
  /** What every rank gives, by rank. */
  template <class T> returned<std::vector<T>> allgather(const T &mine) const {
    static_assert(std::is_trivially_copyable_v<T>, "bytes go to other ranks");
    std::vector<T> all(static_cast<std::size_t>(size()), mine);
    return detail::attempt(
        [&] { return kmb_comm_allgather(get(), &mine, all.data(), sizeof(T)); },
        [&] { return std::move(all); });
  }

private:
  template <class Call> static returned<communicator> made(Call &&call) {
    communicator out;
    return detail::attempt([&] { return detail::open(out.raw_, call); },
                           [&] { return std::move(out); });
  }
  detail::handle<kmb_comm, kmb_comm_destroy> raw_;
};

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
