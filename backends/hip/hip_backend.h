/* The HIP backend's inside: what its files share. */
#ifndef KMB_BACKENDS_HIP_BACKEND_H
#define KMB_BACKENDS_HIP_BACKEND_H

#include <kmb/backend.h>

#include <stdbool.h>
#include <sys/types.h>

#include "load.h"

/* What a static program can be without, and then does not link: the backend
 * refers to it weakly, and lib/ asks for the file that has it, by name, where
 * it is needed. */
#define KMBI_HIP_WEAK __attribute__((weak))

/* Our kernels: X(name). */
#define KMBI_HIP_KERNEL_MAP(X) \
  X(empty)                     \
  X(spin)                      \
  X(gate)                      \
  X(sweep)                     \
  X(touch)                     \
  X(set) X(random_small) X(random_f64) X(random_int)

typedef enum kmbi_hip_kernel {
#define KMBI_HIP_KERNEL_ENUM(name) KMBI_HIP_##name,
  KMBI_HIP_KERNEL_MAP(KMBI_HIP_KERNEL_ENUM)
#undef KMBI_HIP_KERNEL_ENUM
      KMBI_HIP_KERNELS
} kmbi_hip_kernel;

/* What we keep on the device; each is made when first needed. */
typedef struct kmbi_hip_space {
  kmbi_hip_stream stream; /* our own, non-blocking */
  kmbi_hip_module module;
  kmbi_hip_function kernels[KMBI_HIP_KERNELS];
  void *sink; /* that sweeps never write; spins that store do */
  void *sweep;
  uint64_t sweep_bytes;
  volatile uint32_t *gate; /* pinned host memory, and its device address */
  void *gate_device;
  uint32_t gate_turn; /* of the gate that was closed last */
} kmbi_hip_space;

/* Our allocations: where each is and what it was asked from. */
typedef struct kmbi_hip_block {
  struct kmbi_hip_block *next;
  void *pointer;
  void *base;
  uint64_t bytes; /* of the caller's hook; 0: ours */
} kmbi_hip_block;

/* A bias and how far off it may be, of one timer, launch mode and batch. */
typedef struct kmbi_hip_bias {
  double ns; /* of an iteration */
  double uncertainty_ns;
  uint64_t batch; /* 0: nothing is here */
  uint64_t used;  /* the one used longest ago gives way */
  kmb_timer timer;
  kmb_launch_mode mode;
  kmb_status status; /* of measuring it */
  char why[KMBI_HIP_TEXT];
} kmbi_hip_bias;

enum { KMBI_HIP_BIASES = 16, KMBI_HIP_REASONS = 16 };

/* The last-level cache: bytes (0: not known) and who says so, or why not. */
typedef struct kmbi_hip_llc {
  uint64_t bytes;
  char source[KMBI_HIP_TEXT];
} kmbi_hip_llc;

/* Where the device is on the PCI bus. */
typedef struct kmbi_hip_place {
  unsigned domain, bus, device, function;
  bool known;
} kmbi_hip_place;

typedef struct kmbi_hip {
  const kmb_host *host;
  const kmbi_hip_api *api;
  kmbi_hip_space space;
  kmbi_hip_block *blocks;
  kmbi_hip_llc llc;
  kmbi_hip_place place;
  double deadline_ns;
  kmbi_hip_bias biases[KMBI_HIP_BIASES];
  uint64_t bias_uses;
  kmbi_smi_handle smi_device;
  kmbi_hip_failure smi_failure;
  pid_t pid;
  struct kmbi_hip_barrier *barrier; /* that is open; NULL: none */
  int device;
  int before; /* the caller's current device, while a stream is open */
  int runtime_version;
  uint32_t streams_open;
  bool traced; /* tracing was asked for */
  bool usable; /* HIP shows the device */
  bool lost;   /* nothing is asked of HIP any more */
  bool smi_tried;
  bool warned;                             /* of a capture beside NCCL */
  uint64_t ungated_said[KMBI_HIP_REASONS]; /* hashes of what was logged */
  /* A launch that outlasted a closed gate, while the stream is open. */
  kmb_launch_fn held_up;
  void *held_up_user;
  char name[KMBI_HIP_TEXT];
  char isa[KMBI_HIP_TEXT]; /* as "gfx942:sramecc+:xnack-" */
  char arch[32];           /* as "gfx942" */
  char arch_absent[KMBI_HIP_TEXT];
  char uuid[64];
  char pci_id[32];
  char pci_bus[32];
} kmbi_hip;

#define KMBI_HIP_FAIL(self, status, vendor, ...) \
  ((self)->host->fail((self)->host->ctx, (status), (vendor), __VA_ARGS__))

/* hip.c: errors and the current device. */

/* KMB_OK, or a failure that names the call and HIP's code and words. The error
 * that HIP keeps for hipGetLastError() is then taken back. */
kmb_status kmbi_hip_check(kmbi_hip *self, kmbi_hip_result result,
                          const char *call);
kmb_status kmbi_hip_status_of(kmbi_hip_result result);
#define KMBI_HIP(self, name, ...) \
  kmbi_hip_check((self), (self)->api->name(__VA_ARGS__), #name)
/* Makes our device current; `leave` puts the caller's back. */
kmb_status kmbi_hip_enter(kmbi_hip *self, int *before);
void kmbi_hip_leave(kmbi_hip *self, int before);
/* Enters in order to give back, in spite of an error; false if lost. */
bool kmbi_hip_reenter(kmbi_hip *self, int *before);
double kmbi_hip_now(void);

/* space.c */
kmb_status kmbi_hip_space_stream(kmbi_hip *self, kmbi_hip_stream *stream);
kmb_status kmbi_hip_space_module(kmbi_hip *self);
kmb_status kmbi_hip_space_gate(kmbi_hip *self);
void kmbi_hip_space_close(kmbi_hip *self);
/* Launches one of ours over `work` items. */
kmb_status kmbi_hip_launch(kmbi_hip *self, kmbi_hip_stream stream,
                           kmbi_hip_kernel kernel, uint64_t work,
                           void **arguments);
kmb_status kmbi_hip_sweep_prepare(void *self, uint64_t bytes);
kmb_status kmbi_hip_sweep(kmbi_hip *self, kmbi_hip_stream stream);
kmb_status kmbi_hip_touch(kmbi_hip *self, kmbi_hip_stream stream,
                          const kmb_span *span);
kmb_status kmbi_hip_spin(kmbi_hip *self, kmbi_hip_stream stream,
                         uint64_t cycles, bool stores);

/* compile.c: our kernels for this device; free the code with the host's
 * `free`. */
kmb_status kmbi_hip_compile(kmbi_hip *self, char **code, size_t *size);

/* stream.c */
kmb_status kmbi_hip_stream_open(void *self, void *callers, void **stream);
void kmbi_hip_stream_close(void *self, void *stream);
kmb_status kmbi_hip_stream_wait(void *self, void *stream, double limit_ns);
/* Waits inside the backend: LOST, and the device with it, after the limit. */
kmb_status kmbi_hip_finish(kmbi_hip *self, kmbi_hip_stream stream);
/* False if it did not: nothing is lost then. */
bool kmbi_hip_ends_within(kmbi_hip *self, kmbi_hip_stream stream,
                          double limit_ns, kmb_status *status);

/* attrs.c */
kmb_status kmbi_hip_attr_u64(void *self, kmb_device_attr attr, uint64_t *value);
kmb_status kmbi_hip_attr_f64(void *self, kmb_device_attr attr, double *value);
kmb_status kmbi_hip_attr_text(void *self, kmb_device_attr attr,
                              const char **text);
kmb_status kmbi_hip_identify(kmbi_hip *self);
/* Fills in `isa` and `arch`, or `arch_absent`; tries again if it failed. */
void kmbi_hip_read_arch(kmbi_hip *self);
bool kmbi_hip_attribute(kmbi_hip *self, int attribute, int *value);

/* llc.c: asks KFD, HSA, amd-smi, the table, in that order. */
void kmbi_hip_find_llc(kmbi_hip *self);

/* sysfs.c */
/* The number that follows `key` in a file of "key value" lines, or that a file
 * holds if there is no key. */
bool kmbi_hip_read_number(const char *path, const char *key, uint64_t *value);
/* Level-3 bytes that the kernel driver states for the device. */
bool kmbi_hip_kfd_llc(const kmbi_hip_place *place, uint64_t *bytes);
/* A file of the device's folder, or of its hwmon's. */
bool kmbi_hip_sysfs(const kmbi_hip *self, const char *file, uint64_t *value);
bool kmbi_hip_hwmon(const kmbi_hip *self, const char *file, uint64_t *value);

/* memory.c */
kmb_status kmbi_hip_memory_available(void *self, uint64_t *bytes);
kmb_status kmbi_hip_alloc(void *self, uint64_t bytes, uint64_t align,
                          void **pointer);
void kmbi_hip_free(void *self, void *pointer, uint64_t bytes);
kmb_status kmbi_hip_write(void *self, void *to, const void *from,
                          uint64_t bytes);
kmb_status kmbi_hip_read(void *self, void *to, const void *from,
                         uint64_t bytes);
kmb_status kmbi_hip_set(void *self, void *pointer, uint64_t pattern,
                        uint64_t bytes);
void kmbi_hip_memory_close(kmbi_hip *self);

/* fill.c */
kmb_status kmbi_hip_fill_random(void *self, const kmb_fill *fill);

/* propose.c */
const char *kmbi_hip_choice_problem(const kmbi_hip *self,
                                    const kmb_choice *choice);
kmb_status kmbi_hip_propose(void *self, const kmb_request *request,
                            kmb_choice *choices, uint32_t capacity,
                            uint32_t *count);

/* plan.c */
kmb_status kmbi_hip_plan_create(void *self, const kmb_plan_desc *desc,
                                void **plan);
kmb_status kmbi_hip_plan_run(void *self, void *plan, uint64_t count,
                             double until_ns, kmb_sample *samples,
                             uint64_t *got);
void kmbi_hip_plan_destroy(void *self, void *plan);

/* ops.c */
kmb_status kmbi_hip_plan_ops(void *self, void *plan, kmb_device_op_fn emit,
                             void *user);

/* doubts.c */
void kmbi_hip_plan_findings(void *self, void *plan, kmb_find_fn find,
                            void *user);

/* bias.c */
kmb_status kmbi_hip_bias_of(void *self, const kmb_choice *choice,
                            uint64_t batch, double *ns, double *uncertainty_ns);

/* code.c */
kmb_status kmbi_hip_code_begin(void *self, void **capture);
kmb_status kmbi_hip_code_end(void *self, void *capture,
                             const kmb_code_sink *sink);

/* barrier.c: only with a communicator, which is when they are called */
kmb_status kmbi_hip_barrier_open(void *self, const kmb_barrier_desc *desc,
                                 void **barrier) KMBI_HIP_WEAK;
kmb_status kmbi_hip_barrier_enqueue(void *self, void *barrier,
                                    void *stream) KMBI_HIP_WEAK;
kmb_status kmbi_hip_barrier_time(void *self, void *barrier, void *stream,
                                 const kmb_align *align,
                                 double *ns) KMBI_HIP_WEAK;
void kmbi_hip_barrier_close(void *self, void *barrier) KMBI_HIP_WEAK;
const char *kmbi_hip_barrier_text(void *self, void *barrier) KMBI_HIP_WEAK;
/* The end of what was enqueued behind a barrier. With a failure `status` other
 * ranks need not come: what waits for them is let go, and so it is when the
 * deadline passes. Only what does not end even so loses the device. */
kmb_status kmbi_hip_barrier_finish(kmbi_hip *self, kmbi_hip_stream stream,
                                   const kmb_align *align,
                                   kmb_status status) KMBI_HIP_WEAK;

/* describe.c */
void kmbi_hip_describe(void *self, kmb_emit_fn emit, void *user);
void kmbi_hip_telemetry(void *self, kmb_telemetry_fn emit, void *user);
/* amd-smi's handle of the device; NULL with the reason in smi_failure. */
const kmbi_smi_api *kmbi_hip_find_smi(kmbi_hip *self);

const kmb_backend_ops *kmbi_backend_hip(void);
void kmbi_backend_hip_ranks(void);

#endif
