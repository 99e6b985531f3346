/* Driving the simulated device through its table, without the engine. */
#ifndef KMB_TESTS_PLUGIN_DRIVE_H
#define KMB_TESTS_PLUGIN_DRIVE_H

#include "harness.h"

#include "device.h"

enum { DRIVE_SLOTS = 32 };

/* A plan with `slots` slots of one input of `op.bytes` each. */
typedef struct drive {
  harness h;
  const kmb_backend_ops *ops;
  void *self;
  operation op;
  void *stream;
  void *memory;
  void *args[DRIVE_SLOTS];
  kmb_plan_desc desc;
  void *plan;
} drive;

static inline void drive_open(drive *d, const char *spec, kmb_timer timer,
                              kmb_launch_mode mode, kmb_cache_state cache) {
  memset(d, 0, sizeof *d);
  open_sim(&d->h, spec);
  d->ops = d->h.device->ops;
  d->self = d->h.device->self;
  REQUIRE_OK(d->ops->stream_open(d->self, NULL, &d->stream));
  d->desc = (kmb_plan_desc){
      .struct_size = sizeof d->desc,
      .launch = operation_launch,
      .launch_user = &d->op,
      .stream = d->stream,
      .batch = 1,
      .slots = 1,
      .choice = {timer, mode, cache, 0},
  };
}

/* Gives the operation inputs, so that the cache matters. */
static inline void drive_slots(drive *d, uint32_t slots, uint64_t bytes) {
  REQUIRE(slots <= DRIVE_SLOTS);
  REQUIRE_OK(d->ops->alloc(d->self, slots * bytes, 256, &d->memory));
  for (uint32_t i = 0; i < slots; i++)
    d->args[i] = (char *)d->memory + i * bytes;
  d->op.bytes = bytes;
  d->desc.args = d->args;
  d->desc.arg_count = 1;
  d->desc.slots = slots;
}

static inline kmb_status drive_start(drive *d) {
  if (d->desc.choice.cache == KMB_CACHE_COLD)
    REQUIRE_OK(d->ops->sweep_prepare(d->self, 16u << 20));
  return d->ops->plan_create(d->self, &d->desc, &d->plan);
}

static inline uint64_t drive_run(drive *d, uint64_t count,
                                 kmb_sample *samples) {
  uint64_t got = 0;
  if (!d->plan) REQUIRE_OK(drive_start(d));
  REQUIRE_OK(d->ops->plan_run(d->self, d->plan, count, 1e18, samples, &got));
  return got;
}

/* One sample's span. */
static inline double drive_span(drive *d) {
  kmb_sample sample;
  REQUIRE_EQ(drive_run(d, 1, &sample), 1);
  return sample.span_ns;
}

static inline void drive_stop(drive *d) {
  if (d->plan) d->ops->plan_destroy(d->self, d->plan);
  d->plan = NULL;
}

static inline void drive_close(drive *d) {
  drive_stop(d);
  if (d->memory) d->ops->free(d->self, d->memory, d->desc.slots * d->op.bytes);
  d->ops->stream_close(d->self, d->stream);
  close_sim(&d->h);
}

#endif
