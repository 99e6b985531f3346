/* The part of rocprofiler-sdk that is used, declared by us. Records are read
 * through a prefix, which versions 0.5 to 1.x have in common but where it is
 * said; what is told of code objects and dispatches is as version 1.0 has it in
 * its callback_tracing.h and fwd.h. */
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
  KMBI_PROF_KERNEL_DISPATCH = 11,
  /* Of callbacks. */
  KMBI_PROF_CODE_OBJECT = 10,
  KMBI_PROF_OBJECT = 1,
  KMBI_PROF_KERNEL_SYMBOL = 2,
  KMBI_PROF_DISPATCH = 12,
  KMBI_PROF_ENQUEUE = 1,
  KMBI_PROF_LOAD = 1, /* phases */
  KMBI_PROF_ENTER = 1,
  KMBI_PROF_STORED_IN_MEMORY = 2
};

typedef struct kmbi_prof_header {
  uint32_t category, kind;
  void *record;
} kmbi_prof_header;

/* Prefix of the records of kernels and copies. `size` says how much there is of
 * it: older ones have no bytes. */
typedef struct kmbi_prof_record {
  uint64_t size;
  uint32_t kind, operation;
  uint64_t internal_id, external_id;
  uint64_t thread;
  uint64_t start, end; /* ns of CLOCK_BOOTTIME */
  union {
    struct {
      uint64_t size, agent, queue, kernel;
    } dispatch;
    struct {
      uint64_t to, from, bytes;
    } copy;
  } of;
} kmbi_prof_record;

/* What a callback is given, by value. From version 1.0 on a word more stands
 * before what it is about; reading it as the larger one is good for both. */
typedef struct kmbi_prof_event {
  uint64_t context, thread, internal_id, external_id;
  uint64_t rest[4];
} kmbi_prof_event;

/* The last words of it, and prefixes of what `payload` is of a symbol, of a
 * code object, of a dispatch. */
typedef struct kmbi_prof_subject {
  uint32_t kind, operation, phase, unused;
  const void *payload;
} kmbi_prof_subject;

typedef struct kmbi_prof_symbol {
  uint64_t size, kernel, code_object;
  const char *name;
  uint64_t handle;
  uint32_t argument_bytes, argument_align;
  uint32_t group_bytes, private_bytes; /* fixed ones */
} kmbi_prof_symbol;

typedef struct kmbi_prof_object {
  uint64_t size, code_object, agent, hsa_agent;
  const char *uri;
  uint64_t loaded_at, loaded_bytes, loaded_delta;
  uint32_t storage, unused;
  uint64_t base, bytes; /* of the file in memory, if it is stored there */
} kmbi_prof_object;

typedef struct kmbi_prof_dispatch {
  uint64_t size, start, end;
  struct {
    uint64_t size, agent, queue, kernel, dispatch;
    uint32_t private_bytes, group_bytes; /* what is asked for at launch, too */
    uint32_t block[3], grid[3];          /* in threads */
  } info;
} kmbi_prof_dispatch;

typedef void (*kmbi_prof_event_fn)(kmbi_prof_event event, void *data,
                                   void *user);

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
  X(configure_callback, "rocprofiler_configure_callback_tracing_service",   \
    (kmbi_prof_id context, unsigned kind, const uint32_t *operations,       \
     size_t count, kmbi_prof_event_fn callback, void *user))                \
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
