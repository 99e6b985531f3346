/* Whatever call of the device fails, and whenever: a clean status that says
 * so, nothing kept, and the next measurement works. */
#include "engine.h"

#include <stdlib.h>

/* Short runs of everything: buffers that rotate, hooks, ceilings, confirming,
 * two rounds. */
static void small(trial *t) {
  static kmb_work work;
  with_buffers(t, 4096);
  work = kmb_work_init();
  work.read_bytes = 4096;
  work.flops = 4096;
  work.dtype = KMB_F32;
  t->p.work = &work;
  t->p.max_samples = 20;
  t->p.min_samples = 10;
  t->p.min_wall_ns = 1;
  t->p.warmup_ns = 1e5;
  t->p.rounds = 2;
}

#define SMALL "llc=8192,read=1e12,fma=1e13,"

typedef struct way {
  kmb_timer timer;
  kmb_cache_state cache;
} way;

static const way ways[] = {{KMB_TIMER_TRACE, KMB_CACHE_COLD},
                           {KMB_TIMER_GRAPH, KMB_CACHE_ROTATED},
                           {KMB_TIMER_HOST, KMB_CACHE_WARM}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void small_by(trial *t, const way *w) {
  small(t);
  t->p.timer = w->timer;
  t->p.cache = w->cache;
}

static uint64_t calls_of(const way *w) {
  trial t;
  const char *calls = NULL;
  begin(&t, SMALL);
  small_by(&t, w);
  run(&t);
  REQUIRE_OK(kmb_result_metadata_text(t.r, "sim.calls", &calls));
  uint64_t count = strtoull(calls, NULL, 10);
  finish(&t);
  return count;
}

/* One call fails; what then came, and that the next attempt works. */
static kmb_status fail_call(const way *w, uint64_t at, kmb_status with) {
  trial t;
  char spec[128];
  snprintf(spec, sizeof spec, SMALL "fail=any@%llu:%d", (unsigned long long)at,
           (int)with);
  memset(&t, 0, sizeof t);
  kmb_status status = harness_open(&t.h, SIM, spec);
  if (status) {
    REQUIRE_EQ(at, 1); /* open itself */
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "simulated fault in open");
    return status;
  }
  kmb_device_close(t.h.device);
  begin(&t, spec);
  small_by(&t, w);
  status = attempt(&t);
  if (status)
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "simulated fault");
  else
    REQUIRE(kmb_result_finding_count(t.r) < 20);
  if (with != KMB_ERR_LOST) run(&t);
  finish(&t);
  return status;
}

static void each_call_may_fail(void) {
  for (int w = 0; w < WAYS; w++) {
    uint64_t calls = calls_of(&ways[w]);
    uint64_t failed = 0;
    REQUIRE(calls > 50);
    for (uint64_t at = 1; at <= calls; at++) {
      kmb_status status = fail_call(&ways[w], at, KMB_ERR_VENDOR);
      REQUIRE(status == KMB_OK || status == KMB_ERR_VENDOR);
      failed += status != KMB_OK;
    }
    /* Few calls are ones that the engine can do without. */
    REQUIRE(failed > calls * 3 / 4);
  }
}

/* Reasons that another timer may not share: fallbacks are allowed, but no
 * other status. */
static void each_call_may_be_busy(void) {
  for (int w = 0; w < WAYS; w++) {
    uint64_t calls = calls_of(&ways[w]);
    for (uint64_t at = 1; at <= calls; at++) {
      kmb_status status = fail_call(&ways[w], at, KMB_ERR_BUSY);
      REQUIRE(status == KMB_OK || status == KMB_ERR_BUSY);
    }
  }
}

/* Host memory of the library and of the backend. */
static bool fail_allocation(const way *w, uint64_t at) {
  trial t;
  harness h;
  kmb_status status = harness_open_failing(&h, SIM, SMALL, at);
  if (status) {
    REQUIRE_STATUS(status, KMB_ERR_NOMEM);
    REQUIRE_EQ(h.blocks_out, 0);
    return true;
  }
  uint64_t open_allocs = h.allocs;
  kmb_device_close(h.device);
  begin(&t, SMALL);
  REQUIRE_EQ(t.h.allocs, open_allocs);
  t.h.fail_alloc = at;
  small_by(&t, w);
  status = attempt(&t);
  bool fired = t.h.allocs >= at;
  if (fired)
    REQUIRE(status == KMB_ERR_NOMEM || status == KMB_OK);
  else
    REQUIRE_OK(status);
  t.h.fail_alloc = 0;
  run(&t);
  finish(&t);
  return fired;
}

static void each_allocation_may_fail(void) {
  for (int w = 0; w < WAYS; w++) {
    uint64_t at = 1;
    while (fail_allocation(&ways[w], at))
      at++;
    REQUIRE(at > 20);
  }
}

/* The callback's own status passes through, wherever it comes. */
static void each_launch_may_fail(void) {
  for (int w = 0; w < WAYS; w++) {
    trial t;
    begin(&t, SMALL);
    small_by(&t, &ways[w]);
    run(&t);
    uint64_t calls = t.op.calls;
    REQUIRE(calls > 5);
    for (uint64_t at = 1; at <= calls; at += 1 + at / 20) {
      t.op.calls = 0;
      t.op.fail_at = at;
      t.op.status = 42;
      REQUIRE_EQ(attempt(&t), 42);
      t.op.fail_at = 0;
      run(&t);
    }
    finish(&t);
  }
}

static kmb_status reset_fails(void *user, uint32_t slot, void *stream) {
  operation *o = user;
  (void)slot;
  (void)stream;
  return ++o->calls == o->fail_at ? 43 : KMB_OK;
}

static void each_reset_may_fail(void) {
  operation resets = {0};
  trial t;
  begin(&t, SMALL);
  small(&t);
  t.p.reset = reset_fails;
  t.p.reset_user = &resets;
  run(&t);
  uint64_t calls = resets.calls;
  for (uint64_t at = 1; at <= calls; at += 1 + at / 20) {
    resets = (operation){.fail_at = at};
    REQUIRE_EQ(attempt(&t), 43);
  }
  resets.fail_at = 0;
  run(&t);
  finish(&t);
}

/* A kernel that never ends costs its deadline once; then the device is lost,
 * and no further call waits. */
static void a_kernel_that_never_ends_loses_the_device(void) {
  const uint64_t hangs[] = {1, 2, 5, 12, 25, 40};
  for (size_t i = 0; i < sizeof hangs / sizeof hangs[0]; i++) {
    trial t;
    char spec[64];
    uint64_t bytes = 0;
    snprintf(spec, sizeof spec, SMALL "hang=%llu",
             (unsigned long long)hangs[i]);
    begin(&t, spec);
    small(&t);
    kmb_status status = attempt(&t);
    REQUIRE(status == KMB_ERR_LOST || status == KMB_ERR_TIMEOUT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "did not end within");
    uint64_t calls = t.op.calls;
    fails(&t, KMB_ERR_LOST, "did not end");
    REQUIRE_EQ(t.op.calls, calls);
    REQUIRE_STATUS(kmb_buffers_prepare(t.set, 100), KMB_ERR_LOST);
    /* What it says of itself is still to be had. */
    REQUIRE_OK(kmb_device_attr_u64(t.h.device, KMB_DEVICE_L2_BYTES, &bytes));
    finish(&t);
  }
}

static void a_launch_of_nothing_is_an_error(void) {
  trial t;
  begin(&t, "");
  t.op.idle = 1;
  fails(&t, KMB_ERR_INCORRECT, "enqueued nothing on launch->stream");
  t.op.idle = 0;
  run(&t);
  finish(&t);
}

static void timestamps_that_are_all_impossible_end_it(void) {
  trial t;
  begin(&t, "record_invalid=1");
  fails(&t, KMB_ERR_VENDOR, "impossible timestamps");
  finish(&t);
}

static void a_wrong_operation_is_incorrect(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.op.idle = 1;
  fails(&t, KMB_ERR_INCORRECT, "\"y\" was not written at all");
  finish(&t);
}

int main(void) {
  RUN(each_call_may_fail);
  RUN(each_call_may_be_busy);
  RUN(each_allocation_may_fail);
  RUN(each_launch_may_fail);
  RUN(each_reset_may_fail);
  RUN(a_launch_of_nothing_is_an_error);
  RUN(timestamps_that_are_all_impossible_end_it);
  RUN(a_wrong_operation_is_incorrect);
  RUN(a_kernel_that_never_ends_loses_the_device);
  return 0;
}
