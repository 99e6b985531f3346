/* The CUDA backend's inside: what its files share. */
#ifndef KMB_BACKENDS_CUDA_BACKEND_H
#define KMB_BACKENDS_CUDA_BACKEND_H

#include <kmb/backend.h>

#include <stdbool.h>
#include <sys/types.h>

#include "load.h"

/* What a static program can be without, and then does not link: the backend
 * refers to it weakly, and lib/ asks for the file that has it, by name, where
 * it is needed. */
#define KMBI_CUDA_WEAK __attribute__((weak))

/* Our kernels: X(name). */
#define KMBI_CUDA_KERNEL_MAP(X) \
  X(empty)                      \
  X(barrier)                    \
  X(spin)                       \
  X(tick)                       \
  X(sweep)                      \
  X(touch)                      \
  X(set) X(random_small) X(random_f64) X(random_int)

typedef enum kmbi_cuda_kernel {
#define KMBI_CUDA_KERNEL_ENUM(name) KMBI_CUDA_##name,
  KMBI_CUDA_KERNEL_MAP(KMBI_CUDA_KERNEL_ENUM)
#undef KMBI_CUDA_KERNEL_ENUM
      KMBI_CUDA_KERNELS
} kmbi_cuda_kernel;

/* What we keep in one context. */
typedef struct kmbi_cuda_space {
  kmbi_cu_context context;
  kmbi_cu_stream stream; /* our own, non-blocking; NULL until needed */
  kmbi_cu_module module; /* NULL until needed */
  kmbi_cu_function kernels[KMBI_CUDA_KERNELS];
  kmbi_cu_pointer scratch; /* small results of kernels */
  kmbi_cu_pointer sweep;
  uint64_t sweep_bytes;
  volatile uint32_t *gate; /* pinned host memory, and its device address */
  kmbi_cu_pointer gate_device;
  /* Words that peers write in a barrier; the last one's number. They stay, so
   * that no peer has memory mapped that is given back. */
  kmbi_cu_pointer words;
  uint32_t word_count, word_number;
} kmbi_cuda_space;

/* Bytes of `scratch`: the sink of sweeps, then what kernels write. */
enum { KMBI_CUDA_SCRATCH = 1 << 18, KMBI_CUDA_OUT = 64, KMBI_CUDA_STEPS = 64 };

/* Our allocations: where each is and what it was asked from. */
typedef struct kmbi_cuda_block {
  struct kmbi_cuda_block *next;
  void *pointer;
  kmbi_cu_pointer base;
  kmbi_cu_context context;
  uint64_t bytes; /* of the caller's hook; 0: ours */
} kmbi_cuda_block;

/* A bias and how far off it may be, of one timer, launch mode and batch, after
 * sweeps or not. */
typedef struct kmbi_cuda_bias {
  double ns; /* of an iteration */
  double uncertainty_ns;
  uint64_t batch; /* 0: nothing is here */
  uint64_t used;  /* the one used longest ago gives way */
  kmb_timer timer;
  kmb_launch_mode mode;
  bool cold;
  kmb_status status; /* of measuring it */
  char why[KMBI_CUDA_TEXT];
} kmbi_cuda_bias;

enum { KMBI_CUDA_BIASES = 16, KMBI_CUDA_REASONS = 16 };

/* A session of counters that is enabled and counts nothing (kept.c). */
typedef struct kmbi_cuda_kept {
  kmbi_cu_context context;
  void *profiler;                          /* NULL: there is none */
  const struct kmbi_cuda_metrics *metrics; /* it is set for these, and so on */
  uint8_t *data;
  size_t data_bytes, ranges;
  kmb_replay replay;
  int32_t unused;
} kmbi_cuda_kept;

typedef struct kmbi_cuda {
  const kmb_host *host;
  const kmbi_cu_driver *driver;
  kmbi_cuda_space primary;
  kmbi_cuda_space foreign; /* of a caller's stream in another context */
  kmbi_cuda_space *space;  /* the one in use */
  kmbi_cu_context before;  /* the caller's, while a stream is open */
  kmbi_cuda_block *blocks;
  uint64_t llc_given;
  double deadline_ns;
  double tick_ns; /* 0: not measured yet */
  kmbi_cuda_bias biases[KMBI_CUDA_BIASES];
  uint64_t bias_uses;
  kmbi_nvml_device nvml_device;
  kmbi_cuda_failure nvml_failure;
  pid_t pid;
  kmbi_cu_device device;
  int ordinal;
  uint32_t streams_open;
  bool marked; /* it is a session's */
  bool retained;
  bool lost; /* nothing is asked of the driver any more */
  bool nvml_tried;
  struct kmbi_cuda_metrics *metrics; /* of counters, the latest first */
  kmbi_cuda_kept kept;
  struct kmbi_cuda *next_kept;   /* of the process's devices that keep one */
  bool blocking, blocking_known; /* launches wait for their kernels */
  uint64_t ungated_said[KMBI_CUDA_REASONS]; /* hashes of what was logged */
  /* A launch that was held up behind a closed gate, while the stream is open.
   */
  kmb_launch_fn held_up;
  void *held_up_user;
  struct kmbi_cuda_barrier *barrier; /* that is open; NULL: none */
  char name[KMBI_CUDA_TEXT];
  char arch[32];
  char uuid[64];
  char pci_id[32];
  char pci_bus[32];
} kmbi_cuda;

#define KMBI_CUDA_FAIL(self, status, vendor, ...) \
  ((self)->host->fail((self)->host->ctx, (status), (vendor), __VA_ARGS__))

/* FNV-1a of a text. */
static inline uint64_t kmbi_cuda_hash(const char *text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return hash;
}

/* cuda.c: errors and the current context. */

/* KMB_OK, or a failure that names the call and the driver's code and words. */
kmb_status kmbi_cuda_check(kmbi_cuda *self, kmbi_cu_result result,
                           const char *call);
kmb_status kmbi_cuda_status_of(kmbi_cu_result result);
#define KMBI_CU(self, name, ...) \
  kmbi_cuda_check((self), (self)->driver->name(__VA_ARGS__), #name)
/* Makes the space's context current; `leave` puts the caller's back. */
kmb_status kmbi_cuda_enter(kmbi_cuda *self, kmbi_cu_context *before);
void kmbi_cuda_leave(kmbi_cuda *self, kmbi_cu_context before);
/* Enters in order to give back, in spite of an error; false if lost. */
bool kmbi_cuda_reenter(kmbi_cuda *self, kmbi_cu_context *before);
double kmbi_cuda_now(void);

/* space.c */
kmb_status kmbi_cuda_space_stream(kmbi_cuda *self, kmbi_cu_stream *stream);
/* What unpack.h declares, as a module of the current context. */
kmb_status kmbi_cuda_load_packed(kmbi_cuda *self, const unsigned char *packed,
                                 kmbi_cu_module *module);
kmb_status kmbi_cuda_space_module(kmbi_cuda *self);
kmb_status kmbi_cuda_space_gate(kmbi_cuda *self);
void kmbi_cuda_space_close(kmbi_cuda *self, kmbi_cuda_space *space);
/* Launches one of ours over `work` items. */
kmb_status kmbi_cuda_launch(kmbi_cuda *self, kmbi_cu_stream stream,
                            kmbi_cuda_kernel kernel, uint64_t work,
                            void **arguments);
kmb_status kmbi_cuda_sweep_prepare(void *self, uint64_t bytes);
kmb_status kmbi_cuda_sweep(kmbi_cuda *self, kmbi_cu_stream stream);
kmb_status kmbi_cuda_touch(kmbi_cuda *self, kmbi_cu_stream stream,
                           const kmb_span *span);
/* Cycles of the SM clock, at its highest, in `ns`; of 1 GHz where it is not
 * known: what comes of them is how long a kernel of ours takes, which is
 * measured where it matters. */
uint64_t kmbi_cuda_cycles(kmbi_cuda *self, double ns);
kmb_status kmbi_cuda_spin(kmbi_cuda *self, kmbi_cu_stream stream,
                          uint64_t cycles, kmbi_cu_pointer out);

/* stream.c */
/* Works in the stream's context from now on, which becomes current. */
kmb_status kmbi_cuda_adopt(kmbi_cuda *self, kmbi_cu_stream stream);
kmb_status kmbi_cuda_stream_open(void *self, void *callers, void **stream);
void kmbi_cuda_stream_close(void *self, void *stream);
kmb_status kmbi_cuda_stream_wait(void *self, void *stream, double limit_ns);
/* Waits inside the backend: LOST, and the device with it, after the limit. */
kmb_status kmbi_cuda_finish(kmbi_cuda *self, kmbi_cu_stream stream);
/* False if it did not: nothing is lost then. */
bool kmbi_cuda_ends_within(kmbi_cuda *self, kmbi_cu_stream stream,
                           double limit_ns, kmb_status *status);
/* The same of an event. */
bool kmbi_cuda_passes_within(kmbi_cuda *self, kmbi_cu_event event,
                             double limit_ns, kmb_status *status);

/* attrs.c */
kmb_status kmbi_cuda_attr_u64(void *self, kmb_device_attr attr,
                              uint64_t *value);
kmb_status kmbi_cuda_attr_f64(void *self, kmb_device_attr attr, double *value);
kmb_status kmbi_cuda_attr_text(void *self, kmb_device_attr attr,
                               const char **text);
kmb_status kmbi_cuda_identify(kmbi_cuda *self);
bool kmbi_cuda_attribute(kmbi_cuda *self, int attribute, int *value);

/* memory.c */
kmb_status kmbi_cuda_memory_available(void *self, uint64_t *bytes);
kmb_status kmbi_cuda_alloc(void *self, uint64_t bytes, uint64_t align,
                           void **pointer);
void kmbi_cuda_free(void *self, void *pointer, uint64_t bytes);
kmb_status kmbi_cuda_write(void *self, void *to, const void *from,
                           uint64_t bytes);
kmb_status kmbi_cuda_read(void *self, void *to, const void *from,
                          uint64_t bytes);
kmb_status kmbi_cuda_set(void *self, void *pointer, uint64_t pattern,
                         uint64_t bytes);
void kmbi_cuda_memory_close(kmbi_cuda *self);

/* fill.c */
kmb_status kmbi_cuda_fill_random(void *self, const kmb_fill *fill);

/* propose.c */
bool kmbi_cuda_has_graphs(const kmbi_cuda *self);
const char *kmbi_cuda_choice_problem(const kmbi_cuda *self,
                                     const kmb_choice *choice);
kmb_status kmbi_cuda_propose(void *self, const kmb_request *request,
                             kmb_choice *choices, uint32_t capacity,
                             uint32_t *count);

/* plan.c */
kmb_status kmbi_cuda_plan_create(void *self, const kmb_plan_desc *desc,
                                 void **plan);
kmb_status kmbi_cuda_plan_run(void *self, void *plan, uint64_t count,
                              double until_ns, kmb_sample *samples,
                              uint64_t *got);
void kmbi_cuda_plan_destroy(void *self, void *plan);

/* Enqueues a caller's graph. */
kmb_status kmbi_cuda_graph_launch(void *self, void *graph, void *stream);

/* ops.c */
kmb_status kmbi_cuda_plan_ops(void *self, void *plan, kmb_device_op_fn emit,
                              void *user);

/* doubts.c */
void kmbi_cuda_plan_findings(void *self, void *plan, kmb_find_fn find,
                             void *user);

/* marks.c: only with sessions */
kmb_status kmbi_cuda_session_open(void *self, void *stream, uint32_t count,
                                  void **session) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_session_mark(void *self, void *session,
                                  uint32_t mark) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_session_read(void *self, void *session, uint32_t from,
                                  uint32_t to, double *ns) KMBI_CUDA_WEAK;
void kmbi_cuda_session_close(void *self, void *session) KMBI_CUDA_WEAK;

/* recorder.c: only with recordings */
kmb_status kmbi_cuda_record_begin(void *self, const kmb_record_params *params,
                                  void **record) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_record_point(void *self, void *record, uint64_t *now_ns,
                                  uint64_t *process,
                                  uint64_t *thread) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_record_end(void *self, void *record,
                                const kmb_record_sink *sink) KMBI_CUDA_WEAK;

/* code.c */
kmb_status kmbi_cuda_code_begin(void *self, void **capture);
kmb_status kmbi_cuda_code_end(void *self, void *capture,
                              const kmb_code_sink *sink);
/* metrics.c: what the host needs to know of counters, kept for the next time.
 * How a failed call is said. */
kmb_status kmbi_cuda_profiler_check(kmbi_cuda *self, kmbi_cupti_result result,
                                    const char *call);
void kmbi_cuda_metrics_drop(kmbi_cuda *self, bool ours);

/* counters.c */
kmb_status kmbi_cuda_counters_open(void *self, const kmb_plan_desc *desc,
                                   const kmb_counter_request *request,
                                   void **session, uint64_t *passes);
kmb_status kmbi_cuda_counters_collect(void *self, void *session,
                                      kmb_counter_fn emit, void *user,
                                      uint64_t *taken);
void kmbi_cuda_counters_close(void *self, void *session);
kmb_status kmbi_cuda_counters_release(void *self);

/* kept.c */
/* Disables a session in its context, and says how that went. */
kmbi_cupti_result kmbi_cuda_session_disable(const kmbi_cuda *self,
                                            kmbi_cu_context context,
                                            void *profiler);
/* Keeps a session; its data are the device's from now on. */
void kmbi_cuda_kept_put(kmbi_cuda *self, const kmbi_cuda_kept *session);
/* Takes it up again; its data are the caller's then. False: there is none. */
bool kmbi_cuda_kept_take(kmbi_cuda *self, kmbi_cuda_kept *session);
/* Ends this device's; in a forked child, and of a lost one, it is abandoned. */
kmb_status kmbi_cuda_kept_end(kmbi_cuda *self, bool ours);
/* Ends those of other handles: of the same GPU, or `all`. */
void kmbi_cuda_kept_end_others(kmbi_cuda *self, bool all);
/* Nothing more is asked of the device, by anybody. */
void kmbi_cuda_lose(kmbi_cuda *self);

kmb_status kmbi_cuda_occupancy(void *self, const kmb_shape *shape,
                               kmb_occupancy *occupancy);

/* bias.c */
kmb_status kmbi_cuda_bias_of(void *self, const kmb_choice *choice,
                             uint64_t batch, double *ns,
                             double *uncertainty_ns);

/* ceilings.c */
kmb_status kmbi_cuda_ceiling(void *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                             uint32_t threads, kmb_ceiling *ceiling);

/* barrier.c: only with a communicator, which is when they are called */
kmb_status kmbi_cuda_barrier_open(void *self, const kmb_barrier_desc *desc,
                                  void **barrier) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_barrier_enqueue(void *self, void *barrier,
                                     void *stream) KMBI_CUDA_WEAK;
kmb_status kmbi_cuda_barrier_time(void *self, void *barrier, void *stream,
                                  const kmb_align *align,
                                  double *ns) KMBI_CUDA_WEAK;
void kmbi_cuda_barrier_close(void *self, void *barrier) KMBI_CUDA_WEAK;
const char *kmbi_cuda_barrier_text(void *self, void *barrier) KMBI_CUDA_WEAK;
/* The end of what was enqueued behind a barrier. With a failure `status` other
 * ranks need not come: what waits for them is let go, and so it is when the
 * deadline passes. Only what does not end even so loses the device. */
kmb_status kmbi_cuda_barrier_finish(kmbi_cuda *self, kmbi_cu_stream stream,
                                    const kmb_align *align,
                                    kmb_status status) KMBI_CUDA_WEAK;

/* describe.c */
void kmbi_cuda_describe(void *self, kmb_emit_fn emit, void *user);
/* NVML's handle, found by UUID or PCI id: its order is not CUDA's. */
const kmbi_nvml_api *kmbi_cuda_find_nvml(kmbi_cuda *self);

/* telemetry.c */
void kmbi_cuda_telemetry(void *self, kmb_telemetry_fn emit, void *user);
/* Whether the device is a part (MIG) of a GPU. */
bool kmbi_cuda_is_slice(kmbi_cuda *self);

const kmb_backend_ops *kmbi_backend_cuda(void);
void kmbi_backend_cuda_ranks(void);
void kmbi_backend_cuda_record(void);
void kmbi_backend_cuda_sessions(void);

#endif
