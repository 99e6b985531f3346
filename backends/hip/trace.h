/* The process's one tracing context of rocprofiler-sdk. It is global by nature:
 * it has to be configured before HIP starts, and once. */
#ifndef KMB_BACKENDS_HIP_TRACE_H
#define KMB_BACKENDS_HIP_TRACE_H

#include "hip_backend.h"
#include "trace_api.h"

typedef struct kmbi_hip_op { /* a device operation */
  uint64_t start, end;
  uint64_t bytes;  /* of a copy */
  uint64_t kernel; /* its id; 0: not known */
  uint32_t iteration;
  uint32_t queue;
  bool is_copy;
} kmbi_hip_op;

/* Before HIP starts: configures, once a process. What fails is kept, and said
 * by `trace_begin`. */
void kmbi_hip_trace_configure(void);
/* Around work that is traced, and around work that must not be; each excludes
 * the other in the whole process, and one traces at a time: KMB_ERR_BUSY after
 * two seconds. */
kmb_status kmbi_hip_trace_begin(kmbi_hip *self);
void kmbi_hip_trace_end(void);
kmb_status kmbi_hip_quiet_begin(kmbi_hip *self);
void kmbi_hip_quiet_end(void);
/* Around work whose launches are told to kmbi_hip_code_launched(); excludes the
 * same as `trace_begin`. */
kmb_status kmbi_hip_launches_begin(kmbi_hip *self);
void kmbi_hip_launches_end(void);

/* While tracing. */
void kmbi_hip_trace_clear(void);
/* Between the two calls, the calling thread's launches are of `iteration`. */
kmb_status kmbi_hip_trace_push(kmbi_hip *self, uint32_t iteration);
void kmbi_hip_trace_pop(void);
/* Waits until there are `count` operations or none come any more; then the
 * operations in order of iteration and start, which stay until `clear`. */
kmb_status kmbi_hip_trace_collect(kmbi_hip *self, uint64_t count,
                                  const kmbi_hip_op **ops, size_t *got);
uint64_t kmbi_hip_trace_dropped(void);

/* trace_names.c: kernels by id, which stay until the process ends. */
typedef struct kmbi_hip_symbol {
  const char *name;
  uint64_t object;      /* that it is of */
  uint32_t group_bytes; /* fixed ones */
} kmbi_hip_symbol;
void kmbi_hip_names_take(kmbi_prof_event event, void *data, void *user);
/* How what callbacks are given is laid out. */
void kmbi_hip_names_version(uint32_t version);
kmbi_prof_subject kmbi_hip_subject_of(const kmbi_prof_event *event);
bool kmbi_hip_symbol_of(uint64_t kernel, kmbi_hip_symbol *symbol);
const char *kmbi_hip_name_of(uint64_t kernel); /* NULL: not known */

/* code.c: a code object that is loaded, a kernel that is enqueued. On any
 * thread. */
void kmbi_hip_code_loaded(const kmbi_prof_object *object);
void kmbi_hip_code_launched(kmbi_prof_event event, void *data, void *user);

#endif
