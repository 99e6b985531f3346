/* The host's steady clock, where a device's own is not meant: waits for other
 * ranks, and devices whose backend has no clock. */
#ifndef KMB_LIB_STEADY_H
#define KMB_LIB_STEADY_H

#include <time.h>

static inline double kmbi_steady_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#endif
