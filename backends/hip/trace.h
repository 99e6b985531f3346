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

/* trace_names.c: names of kernels by id, which stay until the process ends. */
void kmbi_hip_names_take(kmbi_prof_event event, void *data, void *user);
/* How what callbacks are given is laid out. */
void kmbi_hip_names_version(uint32_t version);
const char *kmbi_hip_name_of(uint64_t kernel); /* NULL: not known */

#endif
