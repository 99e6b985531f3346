/* What the stand-ins share. All of it is guarded by one recursive lock, which
 * sim_enter() takes. */
#ifndef KMB_TESTS_HIP_INSIDE_H
#define KMB_TESTS_HIP_INSIDE_H

#include <pthread.h>

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
  SIM_PROGRAM,
  SIM_TYPES
} sim_type;

/* Heads of all that is made. */
typedef struct sim_object {
  struct sim_object *next;
  sim_type type;
} sim_object;

enum { SIM_ARGUMENTS = 8 };

typedef union sim_argument {
  uint64_t u64;
  uint32_t u32;
  double f64;
} sim_argument;

typedef struct sim_kernel {
  const char *name;
  const char *sizes; /* of its arguments, a digit each */
  /* Does its work and says how long it takes beyond a launch. */
  uint64_t (*run)(const sim_argument *a);
  bool silent; /* stores nothing */
  unsigned group_bytes;
} sim_kernel;

typedef enum sim_kind { KERNEL, COPY, SET, RECORD } sim_kind;

typedef struct sim_op {
  struct sim_op *next;
  sim_kind kind;
  const sim_kernel *kernel;
  sim_argument a[SIM_ARGUMENTS];
  uint64_t to, from, bytes;
  struct ihipEvent_t *event;
  uint64_t submitted;
  uint32_t value;
  uint64_t kernel_id;
  unsigned grid[3], block[3], shared;
  uint64_t id;          /* of the thread that submitted it, by rocprofiler */
  bool in_graph, first; /* of a graph */
} sim_op;

typedef struct sim_capture {
  struct ihipGraph *graph;
  pthread_t owner;
  unsigned mode;
  bool active, invalid, ended;
} sim_capture;

struct ihipStream_t {
  sim_object object;
  sim_op *first, **end;
  uint64_t free_at, waits_since;
  sim_capture capture;
  int device;
  bool null, after_event;
};

struct ihipModule_t {
  sim_object object;
  const void *image; /* NULL: what stands for one */
  uint64_t code_object;
};
struct ihipModuleSymbol_t {
  sim_object object;
  struct ihipModule_t *module;
  const sim_kernel *kernel;
};
struct ihipEvent_t {
  sim_object object;
  uint64_t at;
  unsigned pending;
  bool recorded, captured;
};
struct ihipGraph {
  sim_object object;
  sim_op *first, **end;
  size_t count;
};
struct hipGraphExec {
  sim_object object;
  sim_op *first;
};
struct sim_block {
  sim_object object;
  void *memory;
  size_t bytes;
};
struct _hiprtcProgram {
  sim_object object;
  bool compiled, complete;
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
/* HIP keeps the result of a call for hipGetLastError(). */
unsigned sim_done(unsigned result);
#define SIM_ENTER(function, cost) \
  SIM_GUARD(function, cost);      \
  if (guard.result) return sim_done(guard.result)
/* A call that needs a device in order. */
#define SIM_ENTER_DEVICE(function, cost) \
  SIM_ENTER(function, cost);             \
  sim_pump();                            \
  if (sim_error()) return sim_done(sim_error())

/* device.c */
unsigned sim_error(void); /* sticky */
void sim_break(unsigned error);
unsigned sim_take_last_error(void);
unsigned sim_last_error(void);
void *sim_make(sim_type type, size_t size);
bool sim_is(const void *object, sim_type type);
void sim_destroy(void *object);
sim_object *sim_objects(sim_type type); /* the newest first */
void sim_note_sweep(uint64_t bytes);
void sim_note_event(void);
int sim_current(void); /* the thread's device */
void sim_make_current(int device);
/* For libraries that take their time apart from HIP. */
void sim_lock(void);
void sim_unlock(void);

/* queue.c */
struct ihipStream_t *sim_stream_of(struct ihipStream_t *handle);
void sim_enqueue(struct ihipStream_t *stream, const sim_op *op);
void sim_append(sim_op ***end, const sim_op *op);
void sim_free_ops(sim_op *first);
void sim_clear(struct ihipStream_t *stream);
void sim_pump(void);
void sim_drain(const char *call);
bool sim_idle(const struct ihipStream_t *stream);
/* Breaks captures that the calling thread's doing would break. */
unsigned sim_unsafe(void);
void sim_invalidate_all(void);
bool sim_capturing(void);

/* kernels.c */
enum { SIM_IDS = 1000 }; /* of a code object */
uint64_t sim_kernel_id(const sim_kernel *kernel, uint64_t code_object);
const sim_kernel *sim_kernel_by_id(uint64_t id);
size_t sim_kernel_count(void);
const sim_kernel *sim_kernel_named(const char *name);
/* Of a code object its bytes, and whether a kernel is one of it. */
size_t sim_code_size(const void *image);
bool sim_code_has(const void *image, size_t size, const sim_kernel *kernel);
bool sim_knows_all_of(const char *source);
/* Whether memory is there; a fault of the device if not. */
bool sim_reaches(uint64_t at, uint64_t bytes);
/* Whether every rank's device has come to the all-reduce, or it was ended. */
bool sim_all_reduce_over(const sim_op *op);

/* cache.c: bytes of an access by where they were, and dirty ones that it pushed
 * out to memory. */
typedef struct sim_traffic {
  uint64_t l2, mall, cold, dirty;
} sim_traffic;
sim_traffic sim_access(uint64_t at, uint64_t bytes, bool writes);
void sim_cache_reset(void);
uint64_t sim_traffic_ns(sim_traffic t);

/* trace.c */
void sim_trace_op(const sim_op *op, uint64_t start, uint64_t end);
uint64_t sim_trace_id(void); /* of the calling thread; 0: none */
void sim_trace_reset(void);
/* What librocprofiler-sdk changes. */
typedef struct sim_tracer {
  kmbi_prof_callback callback;
  kmbi_prof_event_fn names, launches;
  uint64_t contexts, code_objects;
  bool configured, deaf, started; /* deaf: HIP was there first */
  bool naming, telling;
  uint64_t lost;
} sim_tracer;
sim_tracer *sim_trace(void);
void sim_trace_names(void);
/* A code object that is loaded, and a kernel that is enqueued. */
uint64_t sim_trace_code(const void *image, size_t size);
void sim_trace_launch(const sim_op *op, int device);
void sim_trace_flush(void);
uint64_t *sim_trace_ids(unsigned **depth); /* the thread's stack, of eight */
bool sim_hip_started(void);

/* Each function under the name that the real library exports. */
#define SIM_EXPORT(type, name, need, arguments) \
  type sim_##name arguments __asm__(#name);
KMBI_HIP_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(type, name, arguments) \
  type sim_##name arguments __asm__(#name);
KMBI_HIPRTC_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(name, arguments) \
  kmbi_hsa_status sim_##name arguments __asm__(#name);
KMBI_HSA_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(field, symbol, arguments) \
  kmbi_smi_status sim_smi_##field arguments __asm__(symbol);
KMBI_SMI_MAP(SIM_EXPORT)
#undef SIM_EXPORT
#define SIM_EXPORT(field, symbol, arguments) \
  kmbi_prof_status sim_prof_##field arguments __asm__(symbol);
KMBI_PROF_MAP(SIM_EXPORT)
#undef SIM_EXPORT

#endif
