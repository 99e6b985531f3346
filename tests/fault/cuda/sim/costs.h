/* How long things take, in ns. Every rule of the device cites a figure that was
 * recorded on an H200 (driver 580.159.04): A is bench/results/
 * accuracy-other-h200.json, from a host on which events cost more than where
 * docs/cuda.md's figures are from, C cold-h200.json, T timers-h200.json, what
 * follows the place in it. tests/fault/cuda/costs.c compares each with what it
 * cites. The host's rules only make time pass. */
#ifndef KMB_TESTS_CUDA_COSTS_H
#define KMB_TESTS_CUDA_COSTS_H

enum {
  /* SM clock as counted by a spinning kernel: A ghz, T clock_mhz. */
  SIM_CLOCK_KHZ = 1980000,
  /* Step of %globaltimer and of CUPTI's stamps: A tick_ns. */
  SIM_TICK = 32,
  /* TRACE minus what a spinning kernel counts itself: T spin.2.cupti_us less
   * spin.2.self_us, and alike at the other lengths. */
  SIM_KERNEL = 536,
  /* The way from p25 to p75 of TRACE, of one to two steps: A spin. */
  SIM_NOISE = 32,
  /* Two events with nothing between, behind a gate:
   * T events_with_nothing_between_gated_us. */
  SIM_EVENT = 1280,
  /* EVENT minus TRACE beyond that, plain launches: A spin.0 to spin.7,
   * event.raw_us less trace_plain.raw_us; 1.5 us less on H200s of another
   * host. */
  SIM_EVENT_TO_KERNEL = 2560,
  /* EVENT minus TRACE beyond that, one-kernel graphs: A spin.0 to spin.7,
   * event_graph.raw_us less trace_plain.raw_us; by where the executable lies,
   * the same for all launches of one. */
  SIM_EVENT_TO_GRAPH = 2384,
  SIM_PLACES = 12, /* steps of the clock */
  /* EVENT after a sweep, beyond warm, for each parameter. Of a copy, which has
   * three, between plain launches and graphs: A cold.5 and kinds.5. */
  SIM_FETCH = 96,
  /* TRACE minus GRAPH, each node of a long replay:
   * T spin.0. */
  SIM_NODE_SAVES = 30,
  /* More for each node with CUPTI on: T graph_of_empty_kernels. */
  SIM_NODE_TRACED = 560,
  /* A wait on a host word polls; half the period on average:
   * T wait_on_host_word.polling_period_us. */
  SIM_GATE = 4500,

  /* A read of n MiB beyond SIM_KERNEL takes SIM_READ and, for each MiB, so long
   * if it is cached; if it is not, after a read sweep; and so much more if
   * dirty lines have to go: C moves.0 and moves.1, T flush.3 and flush.5. */
  SIM_READ = 767,
  SIM_MIB_HOT = 133,
  SIM_MIB_COLD = 252,
  SIM_MIB_DIRTY = 95,

  /* The host's, any would do: a call, a launch, a look at the clock. */
  SIM_CALL = 200,
  SIM_LAUNCH = 2000,
  SIM_LOOK = 25
};

#endif
