/* Services for a host backend under test: they count, and fail on order. */
#ifndef KMB_TESTS_HOST_FIXTURE_H
#define KMB_TESTS_HOST_FIXTURE_H

#include "error.h"
#include "heap.h"
#include "host.h"

#include <kmb/backend.h>

#include <stdarg.h>

typedef struct fixture {
  kmb_host host;
  const kmb_backend_ops *ops;
  void *self;
  heap memory, device;
  long cancel_after; /* calls of `cancelled` that still say no; -1 for ever */
  long failures;
  kmb_status last;
  char message[256];
} fixture;

static inline void *fixture_alloc(void *ctx, size_t size, size_t align) {
  return heap_alloc(&((fixture *)ctx)->memory, size, align);
}

static inline void fixture_free(void *ctx, void *pointer, size_t size) {
  heap_free(&((fixture *)ctx)->memory, pointer, size);
}

static inline kmb_status fixture_device_alloc(void *ctx, uint64_t size,
                                              uint64_t align, void **pointer) {
  return heap_device_alloc(&((fixture *)ctx)->device, size, align, pointer);
}

static inline void fixture_device_free(void *ctx, void *pointer,
                                       uint64_t size) {
  heap_device_free(&((fixture *)ctx)->device, pointer, size);
}

static inline void fixture_log(void *ctx, kmb_log_level level,
                               const char *message) {
  (void)ctx;
  (void)level;
  (void)message;
}

KMB_PRINTF(4, 5)
static inline kmb_status fixture_fail(void *ctx, kmb_status status,
                                      int64_t vendor, const char *format, ...) {
  fixture *f = ctx;
  va_list arguments;
  (void)vendor;
  va_start(arguments, format);
  vsnprintf(f->message, sizeof f->message, format, arguments);
  va_end(arguments);
  f->failures++;
  f->last = status;
  return status;
}

static inline int fixture_cancelled(void *ctx) {
  fixture *f = ctx;
  if (f->cancel_after < 0) return 0;
  return f->cancel_after-- <= 0;
}

static inline void fixture_error_save(void *ctx, kmb_error *error) {
  (void)ctx;
  kmbi_error_save(error);
}

static inline void fixture_error_restore(void *ctx, const kmb_error *error) {
  (void)ctx;
  kmbi_error_restore(error);
}

static inline kmb_status
fixture_callback_failed(void *ctx, const kmb_error *before, const char *which,
                        kmb_status status, uint64_t iteration) {
  kmb_error now;
  kmbi_error_save(&now);
  (void)kmbi_call_failed(before, which, status, iteration);
  if (kmbi_failed_since(&now))
    (void)fixture_fail(ctx, status, 0, "%s", kmb_last_error(NULL, NULL));
  return status;
}

static inline void fixture_init(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = (kmb_host){.struct_size = sizeof f->host,
                       .ctx = f,
                       .alloc = fixture_alloc,
                       .free = fixture_free,
                       .log = fixture_log,
                       .fail = fixture_fail,
                       .cancelled = fixture_cancelled,
                       .error_save = fixture_error_save,
                       .error_restore = fixture_error_restore,
                       .callback_failed = fixture_callback_failed};
  f->ops = kmbi_backend_host();
  f->cancel_after = -1;
}

static inline void fixture_hook_device_memory(fixture *f) {
  f->host.device_alloc = fixture_device_alloc;
  f->host.device_free = fixture_device_free;
}

static inline kmb_status fixture_open(fixture *f, uint64_t llc_bytes,
                                      uint32_t threads, uint32_t flags) {
  kmb_device_params params = kmb_device_params_init();
  params.llc_bytes = llc_bytes;
  params.threads = threads;
  params.flags = flags;
  return f->ops->open(&f->host, "", &params, &f->self);
}

static inline void fixture_close(fixture *f) {
  f->ops->close(f->self);
  REQUIRE_EQ(f->memory.blocks_out, 0);
  REQUIRE_EQ(f->memory.bytes_out, 0);
  REQUIRE_EQ(f->device.blocks_out, 0);
  REQUIRE_EQ(f->device.bytes_out, 0);
}

/* The status, and a message for it. */
#define REQUIRE_FAILS(f, call, want, text) \
  do {                                     \
    (f)->failures = 0;                     \
    REQUIRE_EQ(call, want);                \
    REQUIRE_EQ((f)->failures, 1);          \
    REQUIRE_EQ((f)->last, want);           \
    REQUIRE_HAS((f)->message, text);       \
  } while (0)

#endif
