/* Services for a host backend under test: they count, and fail on order. */
#ifndef KMB_TESTS_HOST_FIXTURE_H
#define KMB_TESTS_HOST_FIXTURE_H

#include "host.h"
#include "require.h"

#include <kmb/backend.h>

#include <stdarg.h>

typedef struct fixture {
  kmb_host host;
  const kmb_backend_ops *ops;
  void *self;
  long allocs, live, fail_at; /* fail_at: the k-th call, from 1; 0 never */
  long device_allocs, device_live, device_fail_at;
  long cancel_after; /* calls of `cancelled` that still say no; -1 for ever */
  uint64_t device_bytes;
  long failures;
  kmb_status last;
  char message[256];
} fixture;

static inline void *fixture_alloc(void *ctx, size_t size, size_t align) {
  fixture *f = ctx;
  void *pointer = NULL;
  if (++f->allocs == f->fail_at) return NULL;
  if (align < sizeof(void *)) align = sizeof(void *);
  if (posix_memalign(&pointer, align, size)) return NULL;
  memset(pointer, 0xA5, size);
  f->live++;
  return pointer;
}

static inline void fixture_free(void *ctx, void *pointer, size_t size) {
  fixture *f = ctx;
  if (!pointer) return;
  memset(pointer, 0x5A, size); /* the size must be right */
  f->live--;
  free(pointer);
}

static inline kmb_status fixture_device_alloc(void *ctx, uint64_t size,
                                              uint64_t align, void **pointer) {
  fixture *f = ctx;
  *pointer = NULL;
  if (++f->device_allocs == f->device_fail_at) return KMB_ERR_NOMEM;
  if (posix_memalign(pointer, align, size)) return KMB_ERR_NOMEM;
  f->device_live++;
  f->device_bytes = size;
  return KMB_OK;
}

static inline void fixture_device_free(void *ctx, void *pointer,
                                       uint64_t size) {
  fixture *f = ctx;
  memset(pointer, 0x5A, size < 4096 ? size : 4096);
  f->device_live--;
  free(pointer);
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

static inline void fixture_init(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = (kmb_host){.struct_size = sizeof f->host,
                       .ctx = f,
                       .alloc = fixture_alloc,
                       .free = fixture_free,
                       .log = fixture_log,
                       .fail = fixture_fail,
                       .cancelled = fixture_cancelled};
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
  REQUIRE_EQ(f->live, 0);
  REQUIRE_EQ(f->device_live, 0);
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
