/* What the stand-ins share. All of it is guarded by one recursive lock, which
 * sim_enter() takes. */
#ifndef KMB_TESTS_CUDA_INSIDE_H
#define KMB_TESTS_CUDA_INSIDE_H

#include <pthread.h>
#include <time.h>

#include "sim.h"

typedef enum sim_type {
  SIM_STREAM,
  SIM_MODULE,
  SIM_FUNCTION,
  SIM_EVENT_OBJECT,
  SIM_GRAPH,
  SIM_EXEC,
  SIM_BLOCK,
  SIM_PINNED,
  SIM_TYPES
} sim_type;

/* Heads of all that is made in a context. */
typedef struct sim_object {
  struct sim_object *next;
  struct CUctx_st *context;
  sim_type type;
} sim_object;

struct CUctx_st {
  unsigned references;
  unsigned device;
  unsigned id;
  unsigned error;   /* sticky */
  unsigned reaches; /* bits of devices whose memory it may use */
  struct CUstream_st *legacy;
};

enum { SIM_ARGUMENTS = 9, SIM_GRID = 8 }; /* the last: blocks of the grid */
/* What each kernel needs, and what a thread is given of it: a record of CUPTI
 * has that one, 16 where the attributes of the functions had 12 and 14, on an
 * H200 with driver 580.159.04 and CUDA 13.0. */
enum {
  SIM_REGISTERS = 38,
  SIM_REGISTER_STEP = 8,
  SIM_REGISTERS_GIVEN = (SIM_REGISTERS + SIM_REGISTER_STEP - 1) /
                        SIM_REGISTER_STEP * SIM_REGISTER_STEP,
  SIM_STATIC_SHARED = 128,
  SIM_LOCAL = 16
};

typedef union sim_argument {
  uint64_t u64;
  uint32_t u32;
  double f64;
} sim_argument;

typedef struct sim_kernel {
  const char *name;
  const char *sizes; /* of its arguments, a digit each */
  /* Does its work and says how long it takes beyond a launch. */
  uint64_t (*run)(struct CUctx_st *context, const sim_argument *a);
} sim_kernel;

typedef enum sim_kind { KERNEL, COPY, SET, RECORD, WAIT, WRITE, JOIN } sim_kind;

typedef struct sim_op {
  struct sim_op *next;
  sim_kind kind;
  const sim_kernel *kernel;
  sim_argument a[SIM_ARGUMENTS];
  kmbi_cupti_launch_plain launch; /* a kernel's */
  uint64_t to, from, bytes;       /* also: where to wait, for what */
  struct CUevent_st *event;
  uint64_t submitted;
  uint64_t tried; /* a barrier: when first; 0: not yet */
  uint32_t correlation;
  uint32_t value;
  uint32_t place;       /* of the graph, in steps of the clock */
  bool in_graph, first; /* of a graph */
  bool seen_traced;     /* the graph was made under the tracer's eyes */
} sim_op;

typedef struct sim_capture {
  struct CUgraph_st *graph;
  pthread_t owner;
  unsigned mode;
  bool active, invalid;
} sim_capture;

struct CUstream_st {
  sim_object object;
  sim_op *first, **end;
  uint64_t free_at;
  uint64_t next_at; /* when a programmatic kernel may start; 0: free_at */
  sim_capture capture;
  unsigned id;
  bool legacy, waited, after_event, swept;
};

struct CUmod_st {
  sim_object object;
};
struct CUfunc_st {
  sim_object object;
  struct CUmod_st *module;
  const sim_kernel *kernel;
  bool found; /* from a kernel of a library */
};
struct CUevent_st {
  sim_object object;
  uint64_t at;
  unsigned pending;
  uint64_t asked, done; /* records of it, in all */
  bool recorded;
};
struct CUgraph_st {
  sim_object object;
  sim_op *first, **end;
  size_t count;
};
struct CUgraphExec_st {
  sim_object object;
  sim_op *first;
  uint32_t place;
  bool seen;
};
struct sim_block {
  sim_object object;
  void *memory;
  size_t bytes;
};

/* Around a call. */
typedef struct sim_guard {
  unsigned result;
} sim_guard;
sim_guard sim_enter(sim_function function, uint64_t cost);
void sim_leave(sim_guard *guard);
#define SIM_GUARD(function, cost)                       \
  sim_guard guard __attribute__((cleanup(sim_leave))) = \
      sim_enter(SIM_##function, (cost));                \
  (void)guard
#define SIM_ENTER(function, cost) \
  SIM_GUARD(function, cost);      \
  if (guard.result) return guard.result
bool sim_lacks(const char *name);

/* device.c */
struct CUctx_st *sim_current(void);
void sim_make_current(struct CUctx_st *context);
unsigned sim_usable(void); /* 0, or why nothing can be done in the context */
struct CUctx_st *sim_primary(unsigned device);
void *sim_make(sim_type type, size_t size);
bool sim_is(const void *object, sim_type type);
void sim_destroy(void *object);
void sim_drop_context(struct CUctx_st *context);
sim_object *sim_objects(void);
void sim_hold(int change); /* things that are no objects */

/* The lock, for a call that holds it. */
void sim_unlock(void);
void sim_relock(void);
void sim_wait(pthread_cond_t *condition);

/* timers.c: somebody waits for ever, in a call that holds the lock, for a
 * device that polls or for the host alone; false if nobody will help. `since`:
 * when it began to wait in vain, 0 at first. */
bool sim_rescue(bool polls, time_t *since);

/* queue.c */
struct CUstream_st *sim_stream_of(struct CUstream_st *handle);
void sim_enqueue(struct CUstream_st *stream, const sim_op *op);
void sim_append(sim_op ***end, const sim_op *op);
void sim_free_ops(sim_op *first);
void sim_clear(struct CUstream_st *stream);
void sim_pump(void);
void sim_drain(const char *call);
void sim_make_room(const char *call);
bool sim_idle(const struct CUstream_st *stream);
/* Lets the time pass until the stream is idle, if it ever will be. */
void sim_advance(const struct CUstream_st *stream);
void sim_sticky(struct CUctx_st *context, unsigned error);
/* Breaks captures that the calling thread's doing would break. */
unsigned sim_unsafe(void);
void sim_invalidate_all(struct CUctx_st *context);
bool sim_capturing(const struct CUctx_st *context);

/* cuda.c: takes an operation up, into the stream or its capture. `id` is the
 * call's number in traces. */
unsigned sim_submit(struct CUstream_st *handle, sim_op *op, unsigned id);

/* kernels.c */
const sim_kernel *sim_kernel_named(const char *name);
/* Whether memory is there; a fault of the context if not. */
bool sim_reaches(struct CUctx_st *context, uint64_t at, uint64_t bytes);

/* kernels.c: a barrier between devices gives its word and looks for others';
 * true once they are there or it has waited for too long. */
bool sim_barrier_over(struct CUctx_st *context, sim_op *op);
/* The same of NCCL's, which wait for ever. */
bool sim_all_reduce_over(const sim_op *op);
bool sim_reduce_scatter_over(struct CUctx_st *context, sim_op *op);
/* What the ranks of a communicator have come to in it. */
enum { SIM_RANKS = 8 };
typedef struct sim_scatter {
  uint64_t came[SIM_RANKS], left[SIM_RANKS]; /* how often, by rank */
  uint64_t from[SIM_RANKS];
  uint32_t size;
} sim_scatter;

/* cache.c: bytes of an access that were not in the L2, and dirty ones that it
 * pushed out. */
typedef struct sim_traffic {
  uint64_t hot, cold, dirty;
} sim_traffic;
sim_traffic sim_access(uint64_t at, uint64_t bytes, bool writes);
/* All there was, of reads alone. */
sim_traffic sim_traffic_sum(void);
void sim_cache_reset(void);
/* Somebody else's data take the place of all. */
void sim_cache_drop(void);
uint64_t sim_traffic_ns(sim_traffic t);

/* trace.c */
uint32_t sim_trace_call(uint32_t callback_id);
bool sim_trace_calls(void); /* every call is recorded */
/* A call that waited from `start` until now and started nothing. */
void sim_trace_waited(uint32_t callback_id, uint64_t start);
void sim_trace_op(const struct CUstream_st *stream, const sim_op *op,
                  uint64_t start, uint64_t end);
bool sim_tracing(void);
void sim_trace_reset(void);
uint64_t sim_trace_clock(void);
/* What libcupti.so changes. */
typedef struct sim_tracer {
  kmbi_cupti_request request;
  kmbi_cupti_complete complete;
  bool subscribed, enabled[64], driver_calls[1024];
  size_t dropped;
  kmbi_cupti_callback callback;
  void *user;
  bool called[4][1024]; /* by domain and id */
} sim_tracer;
sim_tracer *sim_trace(void);
/* Calls back, if that was asked for. */
void sim_trace_notify(kmbi_cupti_enum domain, uint32_t id, const void *data);
/* A launch, as it begins and as it ends. */
void sim_trace_launch(uint32_t id, const char *function, const void *parameters,
                      const char *kernel, struct CUctx_st *context);
/* A module is there, or will soon no longer be. */
void sim_trace_module(uint32_t id, struct CUctx_st *context);
void sim_trace_flush(bool forced);
size_t sim_record_size(uint32_t kind);
typedef struct sim_ids {
  unsigned depth;
  struct {
    unsigned kind;
    uint64_t id;
  } at[8];
} sim_ids;
sim_ids *sim_trace_ids(void);

/* counted.c: what the counters hold. The profiler's own state is libcupti's. */
enum { SIM_PASSES = 16, SIM_RANGES = 64 };
typedef struct sim_counted {
  bool on, user_range, in_range, spoiled; /* spoiled: a graph, in auto range */
  unsigned pass, ranges;
  sim_traffic traffic[SIM_PASSES][SIM_RANGES];
} sim_counted;
sim_counted *sim_counters(void);
void sim_profiler_reset(void);
void sim_count(const sim_op *op, sim_traffic before);
/* Whether all streams are idle. */
bool sim_all_idle(void);

#endif
