/* How long things take on the virtual device, in ns. No AMD GPU has been
 * measured for this: the figures only have the right order, and tests rest on
 * nothing but their being known. */
#ifndef KMB_TESTS_HIP_COSTS_H
#define KMB_TESTS_HIP_COSTS_H

enum {
  SIM_CLOCK_KHZ = 2100000,
  SIM_WALL_KHZ = 100000,
  SIM_TICK = 10, /* step of events: the constant clock of 100 MHz */
  SIM_KERNEL = 1200,
  SIM_NOISE = 20,
  SIM_EVENT = 900,
  SIM_EVENT_TO_KERNEL = 2300,
  SIM_EVENT_TO_GRAPH = 3100, /* the fixed cost of a replay */
  SIM_NODE_SAVES = 300,
  SIM_WRITE_BACK = 250, /* what follows a kernel that stored waits so long */
  SIM_GATE = 700,

  /* For 1 MiB each: in the L2, in the Infinity Cache, in memory, and dirty
   * lines that an access pushes out. */
  SIM_READ = 500,
  SIM_MIB_L2 = 120,
  SIM_MIB_MALL = 180,
  SIM_MIB_COLD = 300,
  SIM_MIB_DIRTY = 90,

  /* The host's, any would do: a call, a launch, a look at the clock. */
  SIM_CALL = 1000,
  SIM_LAUNCH = 2000,
  SIM_LOOK = 100
};

#endif
