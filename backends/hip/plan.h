/* Plans: what their files share. */
#ifndef KMB_BACKENDS_HIP_PLAN_H
#define KMB_BACKENDS_HIP_PLAN_H

#include "hip_backend.h"

/* Event pairs of a plan, and commands that the front end surely has when the
 * gate opens. */
enum { KMBI_HIP_PAIRS = 4, KMBI_HIP_FETCHED = 20 };

typedef struct kmbi_hip_plan {
  kmb_plan_desc desc; /* args and warm point behind this struct */
  size_t size;
  kmbi_hip *self;
  kmbi_hip_stream stream;
  uint64_t iteration; /* of the next launch */
  uint32_t slot;      /* of the next launch */
  bool cold, graph, gated;
  kmbi_hip_exec *execs; /* one a slot; GRAPH: one */
  size_t exec_count;
  uint64_t nodes;          /* of one iteration; 0: not known */
  uint64_t dropped_before; /* records, by the plan's creation */
  kmb_device_op *ops;      /* of the latest run's samples, under TRACE */
  size_t op_count, op_capacity;
  kmbi_hip_event events[2 * KMBI_HIP_PAIRS];
  uint32_t event_count;
  double each_ns; /* wall time of an iteration, 0: not known */
  uint64_t last_portion;
  kmb_error before; /* last error as it was before a callback could set one */
  uint64_t spoiled; /* samples that were enqueued while the gate gave up */
  char ungated[KMBI_HIP_TEXT]; /* why there is no gate; "": there is one */
} kmbi_hip_plan;

/* One run: how many samples are wanted, and until when. */
typedef struct kmbi_hip_run {
  kmbi_hip_plan *plan;
  kmb_sample *samples;
  uint64_t count, got;
  double until_ns;
} kmbi_hip_run;

/* plan.c */
/* Reset, sweep and touches for the next slot. */
kmb_status kmbi_hip_before(kmbi_hip_plan *plan);
/* One iteration's work: the callback, or its slot's graph. */
kmb_status kmbi_hip_iterate(kmbi_hip_plan *plan);
kmb_status kmbi_hip_call(kmbi_hip_plan *plan, uint32_t slot,
                         uint64_t iteration);
void kmbi_hip_advance(kmbi_hip_plan *plan);
/* How many samples to enqueue before looking; 0: time is up or cancelled. */
uint64_t kmbi_hip_portion(const kmbi_hip_run *run, uint64_t most);
void kmbi_hip_took(kmbi_hip_plan *plan, uint64_t count, double started);
/* After a failure: what is enqueued still uses the caller's memory. */
kmb_status kmbi_hip_drain(kmbi_hip_plan *plan, kmb_status status);

/* capture.c */
kmb_status kmbi_hip_capture(kmbi_hip_plan *plan, uint32_t slot, uint64_t count,
                            kmbi_hip_exec *exec, uint64_t *nodes);

/* gate.c */
kmb_status kmbi_hip_gate_decide(kmbi_hip_plan *plan);
kmb_status kmbi_hip_gate_close(kmbi_hip_plan *plan);
void kmbi_hip_gate_open(kmbi_hip_plan *plan);
/* False if it gave up on `count` samples; the plan has none from then on. */
bool kmbi_hip_gate_held(kmbi_hip_plan *plan, uint64_t count);

/* ops.c */
struct kmbi_hip_op;
void kmbi_hip_ops_forget(kmbi_hip_plan *plan);
/* Makes room for `more`, as far as there may be any. */
kmb_status kmbi_hip_ops_reserve(kmbi_hip_plan *plan, size_t more);
void kmbi_hip_ops_keep(kmbi_hip_plan *plan, uint64_t sample,
                       const struct kmbi_hip_op *ops, size_t count);
void kmbi_hip_ops_release(kmbi_hip_plan *plan);

/* time_*.c: taking samples with each timer. */
kmb_status kmbi_hip_take_events(kmbi_hip_run *run);
kmb_status kmbi_hip_take_replays(kmbi_hip_run *run);
kmb_status kmbi_hip_take_host(kmbi_hip_run *run);
kmb_status kmbi_hip_take_traces(kmbi_hip_run *run);
/* Whether records come of what is traced. */
kmb_status kmbi_hip_trace_probe(kmbi_hip *self);

#endif
