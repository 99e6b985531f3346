/* A plan, shared by plan.c and sample.c. */
#ifndef KMB_TESTS_SIM_PLAN_H
#define KMB_TESTS_SIM_PLAN_H

#include "sim.h"

typedef struct sim_plan {
  sim_device *device;
  kmb_plan_desc desc;
  sim_kernel *nodes;
  size_t node_count, node_capacity;
  size_t *graphs; /* first node of each graph, and the end */
  size_t graph_count;
  uint64_t next;      /* iteration, over all runs: decides the slot */
  kmb_device_op *ops; /* of the latest run's samples */
  size_t op_count, op_capacity;
  uint32_t sample; /* of the run, that is being taken */
} sim_plan;

/* Takes one sample. `iteration` counts within the run. */
kmb_status sim_sample_take(sim_plan *plan, uint64_t *iteration,
                           kmb_sample *sample);
/* Keeps what was seen of the sample's first `count` operations. */
kmb_status sim_plan_keep(sim_plan *plan, size_t count);
/* Slot of an iteration that counts over all runs. */
uint32_t sim_plan_slot(const sim_plan *plan, uint64_t iteration);
/* A clock's reading. */
double sim_step(const sim_device *device, double t);
/* Calls the launch callback. */
kmb_status sim_plan_call(sim_plan *plan, uint32_t slot, uint64_t iteration);

#endif
