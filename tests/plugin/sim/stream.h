/* The simulated device's stream, as a launch callback sees it: what CUDA's
 * runtime is to a CUDA program. A callback enqueues kernels; one that enqueues
 * none has launched nothing. */
#ifndef KMB_TESTS_SIM_STREAM_H
#define KMB_TESTS_SIM_STREAM_H

#include <kmb/backend.h>

enum { SIM_SPANS = 4 };

/* One device operation. It is copied when it is enqueued. */
typedef struct sim_kernel {
  /* Its work, done at once on host memory; NULL: none. */
  void (*run)(const struct sim_kernel *kernel);
  void *user;
  /* What it reads and writes: decides how warm it runs. */
  kmb_span reads[SIM_SPANS];
  kmb_span writes[SIM_SPANS];
  uint32_t read_count, write_count;
  double ns; /* duration when warm; 0: the device's `kernel` */
  /* As the tracer's records have it. */
  const char *name; /* outlives the plan */
  uint64_t bytes;
  kmb_op_kind kind; /* 0: KMB_OP_KERNEL */
  uint32_t stream;
  /* For what waits for other devices: given when this one is ready, returns
   * when all are; its duration counts from there. NULL: it waits for none. */
  double (*meet)(const struct sim_kernel *kernel, double ready);
} sim_kernel;

/* A stream of the backend, or a caller's own: then initialise it with
 * sim_stream_init() and hand its address in. */
typedef struct sim_stream {
  kmb_status (*enqueue)(struct sim_stream *stream, const sim_kernel *kernel);
  void *device;
  uint64_t magic;
} sim_stream;

/* A caller's graph: one iteration's operations. */
typedef struct sim_graph {
  const sim_kernel *nodes;
  uint64_t count;
} sim_graph;

#define SIM_STREAM_MAGIC 0x73696d73747265ULL

static inline sim_stream sim_stream_init(void) {
  sim_stream stream = {NULL, NULL, SIM_STREAM_MAGIC};
  return stream;
}

static inline kmb_status sim_enqueue(void *stream, const sim_kernel *kernel) {
  sim_stream *s = (sim_stream *)stream;
  return s->enqueue(s, kernel);
}

#endif
