/* The simulated device: see README.md for what it does. */
#ifndef KMB_TESTS_SIM_SIM_H
#define KMB_TESTS_SIM_SIM_H

#include "stream.h"

#include <stdbool.h>

/* Functions of the table that can be made to fail. */
/* clang-format off */
#define SIM_SLOTS(X) \
  X(open) X(attr_u64) X(attr_f64) X(attr_text) X(memory_available) \
  X(alloc) X(write) X(read) X(set) X(fill_random) X(stream_open) \
  X(stream_wait) X(propose) X(sweep_prepare) X(plan_create) X(plan_run) \
  X(plan_ops) X(graph_launch) X(session_open) X(session_mark) X(session_read) X(code_begin) X(code_end) X(bias) X(ceiling) \
  X(barrier_open) X(barrier_enqueue) X(barrier_time) X(kernel) X(any)
/* clang-format on */

typedef enum sim_slot {
#define SIM_SLOT_ENUM(name) SIM_SLOT_##name,
  SIM_SLOTS(SIM_SLOT_ENUM)
#undef SIM_SLOT_ENUM
      SIM_SLOT_COUNT
} sim_slot;

enum { SIM_FAULTS = 8, SIM_TIMERS = 5 /* KMB_TIMER_… as index */ };

typedef struct sim_fault {
  sim_slot slot;
  kmb_status status;
  uint64_t at;
  bool onward;
} sim_fault;

/* The specification, parsed. */
typedef struct sim_config {
  double kernel, cold, noise, tail_p, tail_f, drift_a, drift_tau, ar_rho, ar_s;
  double mode_p, mode_shift, mode_dwell;
  double throttle_at, throttle_f, throttle_for;
  double idle_ns, idle_f, idle_ramp;
  double overlap, compile;
  double tick, now, launch, call, sync, trace_cost, node, replay, event;
  double lie[SIM_TIMERS];
  double bias_error, bias_unc;
  double bandwidth, ceiling[KMB_CEILING_MEMORY + 1], clock, preempt, steal,
      deadline;
  double record_drop, record_invalid, telemetry_cost;
  double skew, stream_skew;
  uint64_t seed, llc, l2, memory, compile_at, hang, units;
  char name[96], pci[16], uuid[48]; /* "": as always, none, as always */
  uint32_t timers, busy;            /* bits 1 << KMB_TIMER_… */
  uint32_t nocapture, calibrated, llc_known, graph_empty, telemetry;
  uint32_t nopeer, unused;
  uint32_t fault_count;
  sim_fault faults[SIM_FAULTS];
} sim_config;

/* False, and `*at` the piece at fault, if it does not parse. */
bool sim_config_parse(sim_config *config, const char *spec, const char **at,
                      size_t *length);

typedef struct sim_range {
  uint64_t begin, end;
} sim_range;

/* Byte ranges by last use, oldest first. */
typedef struct sim_cache {
  sim_range *ranges;
  size_t count, capacity; /* of `ranges` */
  uint64_t used, bytes;   /* held and room */
} sim_cache;

typedef struct sim_random {
  uint64_t state;
  double spare;
  bool has_spare;
} sim_random;

/* What varies from kernel to kernel. */
typedef struct sim_model {
  sim_random random;
  double ar;        /* AR(1) state, deviation 1 */
  double first;     /* when the first kernel started; negative before */
  double slow_left; /* work to do until the clock is up again */
  bool slow_mode;
} sim_model;

typedef struct sim_block {
  struct sim_block *next;
  void *pointer;
  uint64_t bytes;
} sim_block;

/* A kernel that ran, by the device's true time. */
typedef struct sim_run {
  double start, end;
  kmb_device_op op; /* what is known of it beside its times */
} sim_run;

struct sim_plan;

typedef struct sim_device {
  kmb_host host;
  sim_config config;
  sim_model model;
  sim_cache cache;
  sim_block *blocks;
  uint64_t allocated, sweep_bytes;
  uint64_t calls[SIM_SLOT_COUNT];
  double clock;    /* the host's time */
  double idle_at;  /* when the device has done all that was enqueued */
  double slowness; /* of the last kernel, for telemetry */
  uint64_t kernels;
  uint64_t streams, plans, barriers;
  struct sim_plan *recording; /* capture goes there */
  sim_run *runs;              /* of the iteration being timed */
  size_t run_count, run_capacity;
  bool tracing;  /* enqueueing costs more */
  bool in_graph; /* kernels follow each other without the host */
  bool throttled, hung;
  bool aligned;      /* the barrier has everything behind it already */
  unsigned captures; /* of code, that came to an end */
  char attr_text[64];
} sim_device;

/* The error status of a fault that is due, or KMB_OK. */
kmb_status sim_fault_due(sim_device *device, sim_slot slot, const char *name);
#define SIM_FAULT(device, slot)                                        \
  do {                                                                 \
    kmb_status fault_ = sim_fault_due(device, SIM_SLOT_##slot, #slot); \
    if (fault_) return fault_;                                         \
  } while (0)

/* Says that the caller broke the interface's contract. */
void sim_misuse(sim_device *device, const char *format, ...) KMB_PRINTF(2, 3);

/* random.c and model.c */
void sim_random_seed(sim_random *random, uint64_t seed);
double sim_uniform(sim_random *random);
double sim_normal(sim_random *random);
/* The device starts working at `start`, and works so long: lowers the clock
 * after a rest and brings it up again. */
void sim_model_wake(sim_device *device, double start);
void sim_model_work(sim_device *device, double ns);
/* Duration of a kernel that takes `ns` without any disturbance. */
double sim_model_duration(sim_device *device, double start, double ns);

/* cache.c */
void sim_cache_free(sim_device *device);
/* Marks a range as used last; returns how many of its bytes were there. False
 * in `*ok` if memory for the bookkeeping ran out. */
uint64_t sim_cache_touch(sim_device *device, uint64_t address, uint64_t bytes,
                         bool *ok);

/* memory.c */
kmb_status sim_memory_available(void *self, uint64_t *bytes);
kmb_status sim_alloc(void *self, uint64_t bytes, uint64_t align,
                     void **pointer);
void sim_free(void *self, void *pointer, uint64_t bytes);
kmb_status sim_write(void *self, void *to, const void *from, uint64_t bytes);
kmb_status sim_read(void *self, void *to, const void *from, uint64_t bytes);
kmb_status sim_set(void *self, void *pointer, uint64_t pattern, uint64_t bytes);
kmb_status sim_fill_random(void *self, const kmb_fill *fill);

/* exec.c: what the device does */
kmb_status sim_stream_open(void *self, void *callers, void **stream);
void sim_stream_close(void *self, void *stream);
kmb_status sim_stream_wait(void *self, void *stream, double limit_ns);
/* Runs one kernel that was enqueued at the device's present host time. */
kmb_status sim_execute(sim_device *device, const sim_kernel *kernel);
/* Makes ranges used, at the device's bandwidth. */
kmb_status sim_touch(sim_device *device, uint64_t address, uint64_t bytes);
kmb_status sim_sweep(sim_device *device);
/* Advances the host to the device's end. */
kmb_status sim_wait(sim_device *device);

/* plan.c, sample.c */
kmb_status sim_sweep_prepare(void *self, uint64_t bytes);
kmb_status sim_plan_create(void *self, const kmb_plan_desc *desc, void **plan);
kmb_status sim_plan_run(void *self, void *plan, uint64_t count, double until_ns,
                        kmb_sample *samples, uint64_t *got);
kmb_status sim_plan_ops(void *self, void *plan, kmb_device_op_fn emit,
                        void *user);
kmb_status sim_graph_launch(void *self, void *graph, void *stream);
/* Enqueues nodes that follow each other without the host. */
kmb_status sim_replay(sim_device *device, const sim_kernel *nodes,
                      uint64_t count);
void sim_plan_destroy(void *self, void *plan);
kmb_status sim_plan_record(struct sim_plan *plan, const sim_kernel *kernel);

/* marks.c */
kmb_status sim_code_begin(void *self, void **capture);
kmb_status sim_code_end(void *self, void *capture, const kmb_code_sink *sink);
kmb_status sim_session_open(void *self, void *stream, uint32_t marks,
                            void **session);
kmb_status sim_session_mark(void *self, void *session, uint32_t mark);
kmb_status sim_session_read(void *self, void *session, uint32_t from,
                            uint32_t to, double *ns);
void sim_session_close(void *self, void *session);

/* propose.c */
kmb_status sim_propose(void *self, const kmb_request *request,
                       kmb_choice *choices, uint32_t capacity, uint32_t *count);
/* NULL if it can be done, else why not. */
const char *sim_choice_problem(const kmb_choice *choice);
kmb_status sim_bias(void *self, const kmb_choice *choice, uint64_t batch,
                    double *ns, double *uncertainty_ns);
kmb_status sim_ceiling(void *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                       uint32_t threads, kmb_ceiling *ceiling);

/* barrier.c */
kmb_status sim_barrier_open(void *self, const kmb_barrier_desc *desc,
                            void **barrier);
kmb_status sim_barrier_enqueue(void *self, void *barrier, void *stream);
kmb_status sim_barrier_time(void *self, void *barrier, void *stream,
                            const kmb_align *align, double *ns);
void sim_barrier_close(void *self, void *barrier);
const char *sim_barrier_text(void *self, void *barrier);
/* What kmb_plan_desc::align asks before a sample. */
kmb_status sim_align(sim_device *device, const kmb_plan_desc *desc);

/* device.c */
double sim_now(void *self);
void sim_sleep(void *self, double ns);

#endif
