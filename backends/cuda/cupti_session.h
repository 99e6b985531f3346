/* The process's one CUPTI session. It is global by nature: CUPTI serves one
 * subscriber, and its records come for all contexts. Clients are counted and
 * told apart by context. */
#ifndef KMB_BACKENDS_CUDA_CUPTI_SESSION_H
#define KMB_BACKENDS_CUDA_CUPTI_SESSION_H

#include "cuda_backend.h"

typedef struct kmbi_cupti_link { /* which iteration a call belongs to */
  uint32_t correlation;
  uint32_t iteration;
} kmbi_cupti_link;

typedef struct kmbi_cupti_op { /* a device operation */
  uint64_t start, end, bytes;
  const char *name; /* as long as the client; NULL: none */
  uint32_t correlation;
  uint32_t iteration; /* UINT32_MAX: of none */
  uint32_t stream;
  kmb_op_kind kind;
  kmb_shape shape; /* of a kernel */
} kmbi_cupti_op;

enum { KMBI_CUPTI_RECENT = 64 };

/* Names of kernels, each once. */
typedef struct kmbi_cupti_names {
  char **table; /* by hash; a power of two of them */
  size_t count, capacity;
  size_t most; /* 0: as many as a measurement may need */
  /* By the record's pointer, which is mostly the same for the same kernel. */
  const char *recent[KMBI_CUPTI_RECENT];
} kmbi_cupti_names;

/* Rows of one size in chunks, from the C library. */
typedef struct kmbi_cupti_rows {
  struct kmbi_cupti_chunk *first, *last;
  size_t size;  /* of a row */
  size_t count; /* in all */
} kmbi_cupti_rows;

/* Millions of them may be kept, so they are packed. CUDA's own limits fit:
 * 65535 blocks in y and z, 1024 threads. */
typedef struct kmbi_cupti_recorded_op {
  uint64_t start, end;
  union {
    const char *name; /* of a kernel: as long as the recorder; NULL: none */
    uint64_t bytes;   /* of anything else */
  } of;
  uint32_t correlation, device, context, stream;
  uint32_t grid_x; /* of a kernel; 0: how it was launched is not known */
  uint16_t grid_y, grid_z, block_x, block_y, block_z;
  uint8_t kind;      /* kmb_op_kind */
  uint8_t copy_kind; /* of a copy */
} kmbi_cupti_recorded_op;
_Static_assert(sizeof(kmbi_cupti_recorded_op) <= 56, "as record.h says");

/* A recording: the session's only client while there is one. What CUPTI brings
 * is read at once, on the thread that brings it. */
typedef struct kmbi_cupti_recorder {
  const kmbi_cupti_api *api;
  kmbi_cupti_rows ops, calls; /* of …_recorded_op, kmbi_cupti_call */
  kmbi_cupti_names names;
  uint64_t limit;           /* of rows */
  uint64_t dropped;         /* beyond the limit, and what CUPTI says it lost */
  kmbi_cupti_result broken; /* why a buffer could not be read to its end */
  /* What recording adds to a call, in ns; calls before `since` measured it. */
  uint64_t driver_added, runtime_added;
  _Atomic uint64_t since;
  bool with_calls;
  bool no_memory; /* a record could not be kept */
} kmbi_cupti_recorder;

typedef struct kmbi_cupti_client {
  struct kmbi_cupti_client *next;
  kmbi_cupti_link *links;
  kmbi_cupti_op *ops;
  size_t link_count, link_capacity, op_count, op_capacity;
  kmbi_cupti_names names;
  uint64_t dropped; /* records that CUPTI says it lost, in all */
  uint32_t serial;  /* upper half of its external ids */
  /* Their lower half: of the first iteration that counts now, and the next one
   * that nothing has had yet. */
  uint32_t first, next_id;
  uint32_t context; /* CUPTI's number of it */
  bool no_memory;   /* a record could not be kept */
} kmbi_cupti_client;

/* A capture of code: the session's only client while there is one, as a
 * recording is. */
typedef struct kmbi_cupti_coder kmbi_cupti_coder;
/* code.c: what CUPTI calls while a capture is on. */
void kmbi_cupti_called_back(void *user, kmbi_cupti_enum domain, uint32_t id,
                            const void *data);
void kmbi_cupti_code_set(kmbi_cupti_coder *coder);

/* names.c: a copy that stays until it is released; NULL for NULL, beyond the
 * most there may be (4096), and without memory. From the C library, since
 * records may be read on another thread. */
const char *kmbi_cupti_name(kmbi_cupti_names *names, const char *name);
void kmbi_cupti_names_release(kmbi_cupti_names *names);

kmb_status kmbi_cupti_status_of(kmbi_cupti_result result);

/* Subscribes for the first client. */
kmb_status kmbi_cupti_open(kmbi_cuda *self, kmbi_cupti_client **client);
void kmbi_cupti_close(kmbi_cuda *self, kmbi_cupti_client *client);

/* Around work that is traced, and around work that must not be. Each excludes
 * the other in the whole process; KMB_ERR_BUSY if another thread does the
 * other for longer than two seconds. */
kmb_status kmbi_cupti_trace_begin(kmbi_cuda *self);
void kmbi_cupti_trace_end(void);
kmb_status kmbi_cupti_quiet_begin(kmbi_cuda *self);
void kmbi_cupti_quiet_end(void);

/* Between the two calls, the calling thread's launches are of `iteration`. */
kmb_status kmbi_cupti_push(kmbi_cuda *self, const kmbi_cupti_client *client,
                           uint32_t iteration);
kmb_status kmbi_cupti_pop(kmbi_cuda *self);
void kmbi_cupti_clear(kmbi_cupti_client *client);
/* While a client's records are looked at: another thread may bring more. */
void kmbi_cupti_hold(void);
void kmbi_cupti_release(void);
/* Takes the records of what has ended; `forced`: of all. */
kmb_status kmbi_cupti_collect(kmbi_cuda *self, kmbi_cupti_client *client,
                              bool forced);
/* Once a process, while traced: tries whether records of the calls that start
 * work carry external ids; else every call is recorded. */
kmb_status kmbi_cupti_probe(kmbi_cuda *self, kmbi_cupti_client *client);
/* Whether this process has been traced; CUPTI stays attached after that. */
bool kmbi_cupti_was_used(void);
/* KMB_ERR_BUSY if another tool holds CUPTI, which asking attaches. */
kmb_status kmbi_cupti_look(kmbi_cuda *self);
/* Which calls are recorded; NULL before the probe. */
const char *kmbi_cupti_correlation(void);
/* Turns on what a recording needs; KMB_ERR_BUSY while anything in this process
 * measures with TRACE or records. */
kmb_status kmbi_cupti_record_begin(kmbi_cuda *self,
                                   kmbi_cupti_recorder *recorder);
/* Turns it off, once all that has ended is read. Nothing is added to the
 * recorder any more, whatever is returned. */
kmb_status kmbi_cupti_record_end(kmbi_cuda *self,
                                 kmbi_cupti_recorder *recorder);
/* Turns on, and off, what a capture of code needs; nothing comes to the coder
 * any more once it is off, whatever is returned. */
kmb_status kmbi_cupti_code_begin(kmbi_cuda *self, kmbi_cupti_coder *coder);
kmb_status kmbi_cupti_code_end(kmbi_cuda *self);
/* Where the instructions of a kernel stand in an image; false: not known. */
bool kmbi_cuda_image_find(const void *bytes, size_t size, const char *name,
                          uint64_t *offset, uint64_t *length);
/* CUPTI's time now. */
kmb_status kmbi_cupti_now(kmbi_cuda *self, double *ns);

#endif
