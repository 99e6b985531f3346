/* Plans: what their files share. */
#ifndef KMB_BACKENDS_CUDA_PLAN_H
#define KMB_BACKENDS_CUDA_PLAN_H

#include "cuda_backend.h"
#include "cupti_session.h"
#include "watch.h"

/* Event pairs of a plan; commands that the front end surely has when the gate
 * opens; and the most device operations that may wait behind a
 * closed gate: a queue that is full blocks the host, which then never opens
 * it. */
enum { KMBI_CUDA_PAIRS = 4, KMBI_CUDA_FETCHED = 20, KMBI_CUDA_QUEUE = 400 };

/* What a graph's launch costs depends on where its executable lies, by some
 * tenths of a us: EVENT and GRAPH launch several in turn, as far as all of them
 * together have no more nodes than these. */
enum {
  KMBI_CUDA_EVENT_COPIES = 8,
  KMBI_CUDA_REPLAY_COPIES = 4,
  KMBI_CUDA_COPIED_NODES = 4096
};

typedef struct kmbi_cuda_plan {
  kmb_plan_desc desc; /* args and warm point behind this struct */
  size_t size;
  kmbi_cuda *self;
  kmbi_cu_stream stream;
  uint64_t iteration; /* of the next launch */
  uint32_t slot;      /* of the next launch */
  bool cold, graph, gated;
  bool parted;         /* an empty kernel stands between iterations */
  bool asked;          /* HOST: whether it has to */
  kmbi_cu_exec *execs; /* `copies` a slot; GRAPH: of the whole batch */
  size_t exec_count;
  uint32_t copies;
  bool borrowed;  /* they are the caller's */
  uint64_t nodes; /* of one iteration; 0: not known */
  kmbi_cu_event events[2 * KMBI_CUDA_PAIRS];
  uint32_t event_count;
  kmbi_cuda_watch watch; /* of the gate */
  uint64_t spoiled;      /* samples that a gate opened too early spoiled */
  char ungated[KMBI_CUDA_TEXT]; /* why there is no gate, "" if there is one */
  double each_ns;               /* wall time of an iteration, 0: not known */
  uint64_t last_portion;
  kmbi_cupti_client *client; /* TRACE */
  kmb_device_op *ops;        /* of the latest run's samples */
  size_t op_count, op_capacity;
  bool traced_before; /* this process, when the plan was made */
  kmb_error before;   /* last error as it was before a callback could set one */
} kmbi_cuda_plan;

/* One run: how many samples are wanted, and until when. */
typedef struct kmbi_cuda_run {
  kmbi_cuda_plan *plan;
  kmb_sample *samples;
  uint64_t count, got;
  double until_ns;
} kmbi_cuda_run;

/* plan.c */
/* Reset, sweep and touches for the next slot. */
kmb_status kmbi_cuda_before(kmbi_cuda_plan *plan);
/* What the last error is before a callback may set one of its own. */
void kmbi_cuda_remember_error(kmbi_cuda_plan *plan);
/* The last error is again what it was before the plan, or its run, began. */
void kmbi_cuda_forget_error(kmbi_cuda_plan *plan);
/* Keeps the next iteration from starting before the last one ends, where
 * nothing else does. */
kmb_status kmbi_cuda_part(kmbi_cuda_plan *plan);
/* One iteration's work: the callback, or its slot's graph. */
kmb_status kmbi_cuda_iterate(kmbi_cuda_plan *plan);
/* The executable graph whose turn it is. */
kmbi_cu_exec kmbi_cuda_exec(const kmbi_cuda_plan *plan);
kmb_status kmbi_cuda_call(kmbi_cuda_plan *plan, uint32_t slot,
                          uint64_t iteration);
void kmbi_cuda_advance(kmbi_cuda_plan *plan);
/* How many samples to enqueue before looking; 0: time is up or cancelled. */
uint64_t kmbi_cuda_portion(const kmbi_cuda_run *run, uint64_t most);
void kmbi_cuda_took(kmbi_cuda_plan *plan, uint64_t count, double started);
/* After a failure: what is enqueued still uses the caller's memory. */
kmb_status kmbi_cuda_drain(kmbi_cuda_plan *plan, kmb_status status);

/* capture.c */
/* `count` iterations from `slot` on, instantiated `copies` times; fewer if the
 * plan's first graph has many nodes. */
kmb_status kmbi_cuda_capture(kmbi_cuda_plan *plan, uint32_t slot,
                             uint64_t count, kmbi_cu_exec *execs,
                             uint64_t *nodes);
/* Whether an iteration may start before the one before it ends; what cannot be
 * captured is not known to. */
bool kmbi_cuda_is_linked(kmbi_cuda_plan *plan);
/* Captures one iteration, only to count what it enqueues. */
kmb_status kmbi_cuda_count_nodes(kmbi_cuda_plan *plan, uint64_t *nodes);

/* gate.c */
void kmbi_cuda_gate_decide(kmbi_cuda_plan *plan);
/* Whether a launch waits for its kernel. */
kmb_status kmbi_cuda_find_blocking(kmbi_cuda *self, kmbi_cu_stream stream);
kmb_status kmbi_cuda_gate_close(kmbi_cuda_plan *plan);
/* True if it was open already, since it stayed closed for too long: the samples
 * behind it are spoiled, and there is no gate from now on. */
bool kmbi_cuda_gate_open(kmbi_cuda_plan *plan);

/* ops.c: the operations of the latest run's samples. Room is made before the
 * records are held; what has none then is left out, sample by sample. */
void kmbi_cuda_ops_forget(kmbi_cuda_plan *plan);
kmb_status kmbi_cuda_ops_reserve(kmbi_cuda_plan *plan);
void kmbi_cuda_ops_keep(kmbi_cuda_plan *plan, uint64_t sample,
                        const kmbi_cupti_op *ops, size_t count);
void kmbi_cuda_ops_release(kmbi_cuda_plan *plan);

/* time_*.c: taking samples with each timer. */
kmb_status kmbi_cuda_take_events(kmbi_cuda_run *run);
kmb_status kmbi_cuda_take_replays(kmbi_cuda_run *run);
kmb_status kmbi_cuda_take_traces(kmbi_cuda_run *run);
kmb_status kmbi_cuda_take_host(kmbi_cuda_run *run);

#endif
