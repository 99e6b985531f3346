/* The part of rocprofiler-sdk that is used, declared by us. Records are read
 * through a prefix, which versions 0.5 to 1.x have in common. */
#ifndef KMB_BACKENDS_HIP_TRACE_API_H
#define KMB_BACKENDS_HIP_TRACE_API_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned kmbi_prof_status;

typedef struct kmbi_prof_id { /* of a context, a buffer; user data */
  uint64_t value;
} kmbi_prof_id;

enum {
  KMBI_PROF_SUCCESS = 0,
  KMBI_PROF_LOSSLESS = 2,
  KMBI_PROF_CATEGORY_TRACING = 1,
  KMBI_PROF_MEMORY_COPY = 10,
  KMBI_PROF_KERNEL_DISPATCH = 11
};

typedef struct kmbi_prof_header {
  uint32_t category, kind;
  void *record;
} kmbi_prof_header;

/* Prefix of the records of kernels and copies. */
typedef struct kmbi_prof_record {
  uint64_t size;
  uint32_t kind, operation;
  uint64_t internal_id, external_id;
  uint64_t thread;
  uint64_t start, end; /* ns of CLOCK_BOOTTIME */
} kmbi_prof_record;

typedef void (*kmbi_prof_callback)(kmbi_prof_id context, kmbi_prof_id buffer,
                                   kmbi_prof_header **headers, size_t count,
                                   void *user, uint64_t dropped);

/* What our configuring function returns. */
typedef struct kmbi_prof_tool {
  size_t size;
  int (*initialize)(void (*finalize)(uint32_t), void *user);
  void (*finalize)(void *user);
  void *user;
} kmbi_prof_tool;

typedef kmbi_prof_tool *(*kmbi_prof_configure)(uint32_t version,
                                               const char *runtime,
                                               uint32_t priority, void *client);

/* X(field, symbol, arguments) */
#define KMBI_PROF_MAP(X)                                                    \
  X(force_configure, "rocprofiler_force_configure",                         \
    (kmbi_prof_configure configure))                                        \
  X(create_context, "rocprofiler_create_context", (kmbi_prof_id * context)) \
  X(create_buffer, "rocprofiler_create_buffer",                             \
    (kmbi_prof_id context, size_t size, size_t watermark, unsigned policy,  \
     kmbi_prof_callback callback, void *user, kmbi_prof_id *buffer))        \
  X(configure, "rocprofiler_configure_buffer_tracing_service",              \
    (kmbi_prof_id context, unsigned kind, const uint32_t *operations,       \
     size_t count, kmbi_prof_id buffer))                                    \
  X(is_valid, "rocprofiler_context_is_valid",                               \
    (kmbi_prof_id context, int *valid))                                     \
  X(start, "rocprofiler_start_context", (kmbi_prof_id context))             \
  X(stop, "rocprofiler_stop_context", (kmbi_prof_id context))               \
  X(flush, "rocprofiler_flush_buffer", (kmbi_prof_id buffer))               \
  X(thread_id, "rocprofiler_get_thread_id", (uint64_t * thread))            \
  X(push, "rocprofiler_push_external_correlation_id",                       \
    (kmbi_prof_id context, uint64_t thread, kmbi_prof_id id))               \
  X(pop, "rocprofiler_pop_external_correlation_id",                         \
    (kmbi_prof_id context, uint64_t thread, kmbi_prof_id * id))

typedef struct kmbi_prof_api {
#define KMBI_PROF_FIELD(field, symbol, arguments) \
  kmbi_prof_status(*field) arguments;
  KMBI_PROF_MAP(KMBI_PROF_FIELD)
#undef KMBI_PROF_FIELD
} kmbi_prof_api;

#endif
