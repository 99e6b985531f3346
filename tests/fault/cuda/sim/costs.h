/* How long things take, in ns. Every rule of the device is a figure measured
 * on an H200 with driver 580.159 (see docs/cuda.md); those of the host only
 * make time pass. */
#ifndef KMB_TESTS_CUDA_COSTS_H
#define KMB_TESTS_CUDA_COSTS_H

enum {
  /* SM clock 1980 MHz, as counted by a spinning kernel. */
  SIM_CLOCK_KHZ = 1980000,
  /* Step of %globaltimer and of CUPTI's stamps: 32. */
  SIM_TICK = 32,
  /* TRACE minus what a spinning kernel counts itself: 1.568 - 1.032 us. */
  SIM_KERNEL = 536,
  /* p25 to p75 of TRACE spread by two ticks around the median. */
  SIM_NOISE = 32,
  /* Two events with nothing between, behind a gate: 1.28 us. */
  SIM_EVENT = 1280,
  /* EVENT minus TRACE, plain launches: 2.688 us, of which 1.28 are the
   * event's. */
  SIM_EVENT_TO_KERNEL = 1408,
  /* EVENT minus TRACE, one-kernel graphs: 2.016 to 2.368 us, by where the
   * executable lies; the same for all launches of one. */
  SIM_EVENT_TO_GRAPH = 736,
  SIM_PLACES = 12, /* steps of the clock */
  /* EVENT minus TRACE after a sweep, of a copy of 64 KiB: 0.73 us more than
   * warm. It has three parameters. */
  SIM_FETCH = 240,
  /* GRAPH minus TRACE, each node: -0.03 us (between -0.044 and -0.017). */
  SIM_NODE_SAVES = 30,
  /* A graph of empty kernels with CUPTI on: 1.18 instead of 0.62 us a node. */
  SIM_NODE_TRACED = 560,
  /* A wait on a host word polls with a period near 9 us: half of it. */
  SIM_GATE = 4500,

  /* Reads of 8 and 32 MiB: hot 2.37 and 5.57 us; after a read sweep 3.60 and
   * 9.66; after a memset of twice the L2 4.58 and 12.9. Beyond SIM_KERNEL,
   * for 1 MiB each: */
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
