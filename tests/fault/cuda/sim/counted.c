/* The counters inside the device: what each range of each pass read, hit and
 * wrote back. */
#include <string.h>

#include "inside.h"

static sim_counted counted;

sim_counted *sim_counters(void) {
  return &counted;
}

void sim_profiler_reset(void) {
  memset(&counted, 0, sizeof counted);
}

void sim_count(const sim_op *op, sim_traffic before) {
  sim_traffic now = sim_traffic_sum();
  if (!counted.on || (counted.user_range && !counted.in_range)) return;
  if (!counted.user_range && op->kind != KERNEL) return;
  if (op->in_graph && !counted.user_range) counted.spoiled = true;
  unsigned range = counted.user_range ? 0 : counted.ranges++;
  if (range >= SIM_RANGES || counted.pass >= SIM_PASSES) return;
  sim_traffic *t = &counted.traffic[counted.pass][range];
  t->hot += now.hot - before.hot;
  t->cold += now.cold - before.cold;
  t->dirty += now.dirty - before.dirty;
}
