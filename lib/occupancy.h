/* How a kernel was launched, and how many of its blocks a unit can hold. */
#ifndef KMB_LIB_OCCUPANCY_H
#define KMB_LIB_OCCUPANCY_H

#include "run.h"

#include <kmb/counters.h>

/* What the driver itself says of a kernel. */
typedef struct kmbi_driver_count {
  uint64_t blocks; /* that a unit can hold; if `known` */
  const char *why; /* it was not asked, or does not say; NULL: it was */
  uint64_t registers, static_shared;
  bool known;
} kmbi_driver_count;

/* Completes an occupancy: limits from the backend, what follows from them, and
 * what the driver says. UNAVAILABLE or UNSUPPORTED with a reason if it is not
 * known. Strings are of `arena`. */
kmb_status kmbi_occupancy(kmb_device *device, const kmb_op *op,
                          const kmbi_driver_count *driver, kmbi_arena *arena,
                          kmb_occupancy *occupancy);
/* Launches an iteration once more, plainly, and asks the driver about each
 * kernel of `ops`: `counts`, one each. What it cannot tell is a reason, but the
 * callback's own failures are the call's. Reasons are of `arena`. */
kmb_status kmbi_ask_driver(kmbi_run *run, const kmb_op *ops, uint64_t count,
                           kmbi_arena *arena, kmbi_driver_count *counts);
/* Values of the result for a kernel; `occupancy` NULL: not known, and why. */
void kmbi_set_launch(kmb_result *result, const kmb_op *op,
                     const kmb_occupancy *occupancy, const char *why);
/* None of them, and why. */
void kmbi_no_launch(kmb_result *result, const char *why);

#endif
