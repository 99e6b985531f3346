/* Preloaded into kmb: the process's clocks are the virtual device's, so that
 * nothing waits. */
#ifdef KMB_CLOCKS_HIP
#include "../fault/hip/sim/sim.h"

#include "../fault/hip/sim/costs.h"
#else
#include "../fault/cuda/sim/sim.h"

#include "../fault/cuda/sim/costs.h"
#endif

#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *t) {
  uint64_t base = clock == CLOCK_REALTIME ? UINT64_C(1700000000) : 0;
  sim_pass(SIM_LOOK);
  uint64_t now = sim_now();
  t->tv_sec = (time_t)(base + now / 1000000000u);
  t->tv_nsec = (long)(now % 1000000000u);
  return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)left;
  sim_pass((uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec);
  return 0;
}

#ifndef KMB_CLOCKS_HIP
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
  return sim_timed_wait(condition, mutex,
                        (uint64_t)until->tv_sec * 1000000000u +
                            (uint64_t)until->tv_nsec);
}
#endif
