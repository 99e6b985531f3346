/**
 * @file device.hpp
 * Devices, buffers and work in C++; part of kmb.hpp.
 */
#ifndef KMB_CPP_DEVICE_HPP
#define KMB_CPP_DEVICE_HPP

#include <kmb/cpp/base.hpp>

namespace kmb {
inline namespace KMB_HPP_NAMESPACE {

/** How to open a device. The functions are called on the thread that entered
 *  the library, never inside a timed region. */
struct device_options {
  std::uint64_t llc_bytes = 0;     /**< 0: as detected */
  std::uint64_t memory_budget = 0; /**< 0: half of what is available */
  std::uint32_t threads = 0;       /**< 0: all that the process may use */
  std::uint32_t flags = 0;         /**< KMB_DEVICE_… */
  std::function<void(kmb_log_level, std::string_view)> log;
  std::function<void(const kmb_progress &)> progress;
};

namespace detail {

/* Lives as long as anything of the device. */
struct hooks {
  explicit hooks(device_options from) : options(std::move(from)) {}
  static void log(void *user, kmb_log_level level, const char *text) noexcept {
    auto *self = static_cast<hooks *>(user);
    self->call([&] { self->options.log(level, text); });
  }
  static void progress(void *user, const kmb_progress *at) noexcept {
    auto *self = static_cast<hooks *>(user);
    self->call([&] { self->options.progress(*at); });
  }
  template <class F> void call(F &&hook) noexcept {
#ifdef KMB_NO_EXCEPTIONS
    hook();
#else
    try {
      hook();
    } catch (...) {
      scope::keep(&cancel);
    }
#endif
  }
  device_options options;
  volatile std::int32_t cancel = 0;
};

} // namespace detail

/** An open device. */
class device {
public:
  device() = default;
  static returned<device> open(const char *name = "auto",
                               device_options options = {}) {
    device out;
    out.hooks_ = std::make_shared<detail::hooks>(std::move(options));
    const device_options &given = out.hooks_->options;
    kmb_hooks hooks = kmb_hooks_init();
    if (given.log) hooks.log = detail::hooks::log;
    if (given.progress) hooks.progress = detail::hooks::progress;
    hooks.log_user = hooks.progress_user = out.hooks_.get();
    hooks.cancel = &out.hooks_->cancel;
    kmb_device_params params = kmb_device_params_init();
    params.hooks = &hooks;
    params.llc_bytes = given.llc_bytes;
    params.memory_budget = given.memory_budget;
    params.threads = given.threads;
    params.flags = given.flags;
    out.raw_.get_deleter().kept = out.hooks_;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_device **raw) {
            return kmb_device_open(name, &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_device *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  /** Ends what runs on the device, and all that follows until it is taken
   *  back. From any thread or signal handler. */
  void cancel(bool on = true) noexcept {
    if (hooks_) hooks_->cancel = on;
  }
  /** What the device says of itself: `get<KMB_DEVICE_NAME>()`. Text is valid
   *  until the device is closed. */
  template <kmb_device_attr A> auto get() const {
    return detail::got<detail::kind_of_attr(A)>(
        [&](double *x) { return kmb_device_attr_f64(get(), A, x); },
        [&](std::uint64_t *x) { return kmb_device_attr_u64(get(), A, x); },
        [&](const char **x) { return kmb_device_attr_text(get(), A, x); });
  }
  /** A ceiling, measured when it is first asked for. */
  returned<kmb_ceiling> ceiling(kmb_ceiling_kind kind, kmb_dtype dtype = 0,
                                std::uint32_t threads = 0) {
    return detail::filled(kmb_ceiling_init(), [&](kmb_ceiling *out) {
      return kmb_device_ceiling(get(), kind, dtype, threads, out);
    });
  }
  /** What must live as long as anything made from this device. */
  const std::shared_ptr<detail::hooks> &kept() const noexcept {
    return hooks_;
  }

private:
  std::shared_ptr<detail::hooks> hooks_;
  detail::handle<kmb_device, kmb_device_close> raw_;
};

/** One buffer of a set. What is not offered here stands in desc(). */
class buffer {
public:
  buffer(std::string name, kmb_buffer_role role, kmb_dtype dtype,
         std::uint64_t bytes)
      : name_(std::move(name)), desc_(kmb_buffer_desc_init()) {
    desc_.role = role;
    desc_.dtype = dtype;
    desc_.bytes = bytes;
  }
  static buffer input(std::string name, kmb_dtype dtype, std::uint64_t bytes) {
    return {std::move(name), KMB_INPUT, dtype, bytes};
  }
  static buffer output(std::string name, kmb_dtype dtype, std::uint64_t bytes) {
    return {std::move(name), KMB_OUTPUT, dtype, bytes};
  }
  static buffer inout(std::string name, kmb_dtype dtype, std::uint64_t bytes) {
    return {std::move(name), KMB_INOUT, dtype, bytes};
  }
  static buffer scratch(std::string name, kmb_dtype dtype,
                        std::uint64_t bytes) {
    return {std::move(name), KMB_SCRATCH, dtype, bytes};
  }
  /** Random values lie in [low, high]; integers need it. */
  buffer &range(double low, double high) {
    desc_.low = low;
    desc_.high = high;
    desc_.flags |= KMB_BUFFER_RANGE;
    return *this;
  }
  buffer &warm() {
    desc_.residency = KMB_RESIDENT_WARM;
    return *this;
  }
  /** Starts as a copy of host memory, which is read while slots are made. */
  buffer &copy_of(const void *source) {
    desc_.fill = KMB_FILL_COPY;
    desc_.source = source;
    return *this;
  }
  /** Filled by `fill(void *data, uint64_t bytes, uint32_t slot)`. */
  template <class F> buffer &filled_by(F fill) {
    desc_.fill = KMB_FILL_CALLBACK;
    fill_ = [fill = std::move(fill)](void *data, std::uint64_t bytes,
                                     std::uint32_t slot) mutable {
      return detail::status_of(fill, data, bytes, slot);
    };
    return *this;
  }
  /** The caller's own memory, one pointer a slot. */
  buffer &at(std::vector<void *> pointers) {
    desc_.fill = KMB_FILL_CALLER;
    pointers_ = std::move(pointers);
    return *this;
  }
  kmb_buffer_desc &desc() noexcept {
    return desc_;
  }

private:
  friend class buffers;
  static kmb_status fill(void *user, void *data, std::uint64_t bytes,
                         std::uint32_t slot) noexcept {
    return detail::guard(
        [&] { return static_cast<buffer *>(user)->fill_(data, bytes, slot); });
  }
  kmb_buffer_desc settled() {
    kmb_buffer_desc desc = desc_;
    desc.name = name_.c_str();
    if (fill_) {
      desc.fill_fn = fill;
      desc.fill_user = this;
    }
    if (!pointers_.empty()) {
      desc.pointers = pointers_.data();
      desc.pointer_count = pointers_.size();
    }
    return desc;
  }
  std::string name_;
  kmb_buffer_desc desc_;
  std::function<kmb_status(void *, std::uint64_t, std::uint32_t)> fill_;
  std::vector<void *> pointers_;
};

/** A set of buffers. */
class buffers {
public:
  buffers() = default;
  static returned<buffers>
  create(device &on, std::vector<buffer> all,
         const kmb_buffers_params &params = kmb_buffers_params_init()) {
    struct state {
      std::shared_ptr<detail::hooks> hooks;
      std::vector<buffer> all;
    };
    auto kept = std::make_shared<state>(state{on.kept(), std::move(all)});
    std::vector<kmb_buffer_desc> descs;
    for (buffer &one : kept->all)
      descs.push_back(one.settled());
    buffers out;
    out.raw_.get_deleter().kept = kept;
    return detail::attempt(
        [&] {
          return detail::open(out.raw_, [&](kmb_buffers **raw) {
            return kmb_buffers_create(on.get(), descs.data(), sizeof descs[0],
                                      descs.size(), &params, raw);
          });
        },
        [&] { return std::move(out); });
  }
  kmb_buffers *get() const noexcept {
    return raw_.get();
  }
  explicit operator bool() const noexcept {
    return get() != nullptr;
  }
  returned<void> prepare(std::uint32_t slots) {
    return detail::attempt([&] { return kmb_buffers_prepare(get(), slots); });
  }
  template <class T = void>
  returned<T *> pointer(std::uint32_t slot, std::uint64_t index) const {
    void *at = nullptr;
    return detail::attempt(
        [&] { return kmb_buffers_pointer(get(), slot, index, &at); },
        [&] { return static_cast<T *>(at); });
  }
  returned<kmb_buffers_info> info() const {
    return detail::filled(kmb_buffers_info_init(), [&](auto *out) {
      return kmb_buffers_get_info(get(), out);
    });
  }

private:
  detail::handle<kmb_buffers, kmb_buffers_destroy> raw_;
};

/** FLOPs and least bytes, as kmb/work.h counts them. */
namespace work {

inline returned<kmb_work> gemm(std::uint64_t m, std::uint64_t n,
                               std::uint64_t k, kmb_dtype dtype) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_gemm(m, n, k, dtype, out);
  });
}
inline returned<kmb_work> elementwise(std::uint64_t n, std::uint32_t inputs,
                                      std::uint32_t outputs,
                                      std::uint32_t flops_per_element,
                                      kmb_dtype dtype) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_elementwise(n, inputs, outputs, flops_per_element, dtype,
                                out);
  });
}
inline returned<kmb_work> copy(std::uint64_t bytes) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_copy(bytes, out);
  });
}
inline returned<kmb_work> matmul(const kmb_matmul_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_matmul(&shape, out);
  });
}
inline returned<kmb_work> grouped(const kmb_grouped_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_grouped(&shape, out);
  });
}
inline returned<kmb_work> attention(const kmb_attention_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_attention(&shape, out);
  });
}
inline returned<kmb_work> paged_decode(const kmb_attention_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_paged_decode(&shape, out);
  });
}
inline returned<kmb_work> mla(const kmb_mla_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_mla(&shape, out);
  });
}
inline returned<kmb_work> moe(const kmb_moe_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_moe(&shape, out);
  });
}
inline returned<kmb_work> norm(const kmb_norm_shape &shape) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_norm(&shape, out);
  });
}
inline returned<kmb_work> softmax(std::uint64_t rows, std::uint64_t columns,
                                  kmb_dtype dtype, kmb_dtype out_dtype = 0) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_softmax(rows, columns, dtype, out_dtype, out);
  });
}
inline returned<kmb_work> activation(std::uint64_t n, bool gated,
                                     kmb_dtype dtype, kmb_dtype out_dtype = 0) {
  return detail::filled(kmb_work_init(), [&](kmb_work *out) {
    return kmb_work_activation(n, gated, dtype, out_dtype, out);
  });
}
inline returned<kmb_collective_work>
collective(kmb_collective which, std::uint64_t bytes, std::uint32_t ranks) {
  return detail::filled(kmb_collective_work_init(),
                        [&](kmb_collective_work *out) {
                          return kmb_work_collective(which, bytes, ranks, out);
                        });
}

} // namespace work

} // namespace KMB_HPP_NAMESPACE
} // namespace kmb

#endif
