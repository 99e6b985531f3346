/* Whatever call of the device fails, and whenever: a clean status that says
 * so, nothing kept, and the next measurement works. */
#include "engine.h"

#include "device.h"

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

/* y += 1, kept right for the check by the copy that the library takes before.
 */
static void add_one(const sim_kernel *kernel) {
  unsigned char *y = kernel->writes[0].pointer;
  for (uint64_t i = 0; i < kernel->writes[0].bytes; i++)
    y[i]++;
}

static kmb_status in_place_launch(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {
      .run = add_one, .write_count = 1, .writes = {{l->args[1], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

static kmb_status in_place_check(void *user, kmb_check *check) {
  const unsigned char *before = check->before[1];
  const unsigned char *after = check->after[1];
  (void)user;
  for (uint64_t i = 0; i < check->bytes[1]; i++)
    if (after[i] != (unsigned char)(before[i] + 1)) return KMB_ERR_INCORRECT;
  return KMB_OK;
}

static void in_place(trial *t) {
  t->descs[1].role = KMB_INOUT;
  t->descs[0].residency = KMB_RESIDENT_WARM;
  t->p.launch = in_place_launch;
  t->p.check = in_place_check;
}

static void few(trial *t) {
  t->p.max_samples = 5;
}

typedef struct way {
  const char *spec;
  kmb_timer timer;
  kmb_cache_state cache;
  void (*change)(trial *t); /* or NULL */
} way;

static const way ways[] = {
    {SMALL, KMB_TIMER_TRACE, KMB_CACHE_COLD, NULL},
    {SMALL, KMB_TIMER_GRAPH, KMB_CACHE_ROTATED, NULL},
    {SMALL, KMB_TIMER_HOST, KMB_CACHE_WARM, NULL},
    {SMALL, KMB_TIMER_EVENT, KMB_CACHE_COLD, in_place},
    {SMALL "timers=host,", KMB_TIMER_HOST, KMB_CACHE_ROTATED, few},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void small_by(trial *t, const way *w) {
  small(t);
  t->p.timer = w->timer;
  t->p.cache = w->cache;
  if (w->change) w->change(t);
}

static uint64_t calls_of(const way *w) {
  trial t;
  const char *calls = NULL;
  begin(&t, w->spec);
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
  snprintf(spec, sizeof spec, "%sfail=any@%llu:%d", w->spec,
           (unsigned long long)at, (int)with);
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
    uint64_t failed = 0, tried = 0;
    REQUIRE(calls > 50);
    for (uint64_t at = 1; at <= calls; at += heap_step()) {
      kmb_status status = fail_call(&ways[w], at, KMB_ERR_VENDOR);
      REQUIRE(status == KMB_OK || status == KMB_ERR_VENDOR);
      failed += status != KMB_OK;
      tried++;
    }
    /* Few calls are ones that the engine can do without. */
    REQUIRE(failed > tried * 3 / 4);
  }
}

/* Reasons that another timer may not share: fallbacks are allowed, but no
 * other status. */
static void each_call_may_be_busy(void) {
  for (int w = 0; w < WAYS; w++) {
    uint64_t calls = calls_of(&ways[w]);
    for (uint64_t at = 1; at <= calls; at += heap_step()) {
      kmb_status status = fail_call(&ways[w], at, KMB_ERR_BUSY);
      REQUIRE(status == KMB_OK || status == KMB_ERR_BUSY);
    }
  }
}

/* Host memory of the library and of the backend. */
static bool fail_allocation(const way *w, uint64_t at) {
  trial t;
  harness h;
  kmb_status status = harness_open_failing(&h, SIM, w->spec, at);
  if (status) {
    REQUIRE_STATUS(status, KMB_ERR_NOMEM);
    REQUIRE_EQ(h.memory.blocks_out, 0);
    return true;
  }
  uint64_t open_allocs = h.memory.calls;
  kmb_device_close(h.device);
  begin(&t, w->spec);
  REQUIRE_EQ(t.h.memory.calls, open_allocs);
  t.h.memory.fail_at = at;
  small_by(&t, w);
  status = attempt(&t);
  bool fired = t.h.memory.calls >= at;
  if (fired)
    REQUIRE(status == KMB_ERR_NOMEM || status == KMB_OK);
  else
    REQUIRE_OK(status);
  t.h.memory.fail_at = 0;
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
    if (ways[w].change == in_place) continue; /* its callback counts nothing */
    begin(&t, ways[w].spec);
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

static kmb_status setup_fails(void *user, uint32_t slot, uint32_t config) {
  operation *o = user;
  (void)slot;
  (void)config;
  return ++o->calls == o->fail_at ? 44 : KMB_OK;
}

static void each_setup_may_fail(void) {
  operation setups = {0};
  trial t;
  begin(&t, SMALL);
  small_by(&t, &ways[1]);
  t.p.setup = setup_fails;
  t.p.setup_user = &setups;
  run(&t);
  uint64_t calls = setups.calls;
  REQUIRE(calls >= 10); /* slots of two rounds */
  for (uint64_t at = 1; at <= calls; at++) {
    setups = (operation){.fail_at = at};
    REQUIRE_EQ(attempt(&t), 44);
  }
  setups.fail_at = 0;
  run(&t);
  finish(&t);
}

/* --- the cancel flag ---------------------------------------------------- */

/* What raises the flag, by call number. */
typedef struct stopper {
  volatile int32_t *flag;
  uint64_t calls, at;
} stopper;

static void count_call(stopper *s) {
  if (++s->calls == s->at) *s->flag = 1;
}

static kmb_status stopping_reset(void *user, uint32_t slot, void *stream) {
  (void)slot;
  (void)stream;
  count_call(user);
  return KMB_OK;
}

static kmb_status stopping_launch(void *user, const kmb_launch *l) {
  trial *t = user;
  count_call(t->stop);
  return operation_launch(&t->op, l);
}

/* However it is stopped: an error before samples are taken, afterwards a
 * result that says so; everything given back, and the next attempt works. */
static void stop_at_each(trial *t, stopper *s) {
  bool errors = false;
  uint64_t calls = 0;
  s->flag = &t->h.cancel;
  run(t);
  calls = s->calls;
  for (uint64_t at = 1; at <= calls; at += 1 + at / 30) {
    *s = (stopper){&t->h.cancel, 0, at};
    kmb_status status = attempt(t);
    REQUIRE(t->h.cancel || at > s->calls);
    t->h.cancel = 0;
    if (status) {
      REQUIRE_STATUS(status, KMB_ERR_CANCELLED);
      errors = true;
    } else {
      REQUIRE(u64(t, KMB_VALUE_SAMPLES) > 0);
    }
  }
  s->at = 0;
  run(t);
  REQUIRE(errors);
}

static void cancelling_from_a_launch(void) {
  for (int w = 0; w < WAYS; w++) {
    trial t;
    stopper s = {0};
    if (ways[w].change == in_place) continue;
    begin(&t, ways[w].spec);
    small_by(&t, &ways[w]);
    t.stop = &s;
    t.p.launch = stopping_launch;
    t.p.launch_user = &t;
    stop_at_each(&t, &s);
    finish(&t);
  }
}

static void cancelling_from_a_reset(void) {
  trial t;
  stopper s = {0};
  begin(&t, SMALL);
  small(&t);
  t.p.reset = stopping_reset;
  t.p.reset_user = &s;
  stop_at_each(&t, &s);
  finish(&t);
}

/* Short kernels need a batch, which is found by trying: that can be stopped
 * too, and the first of 300 slots as well as the last. */
static void cancelling_while_a_batch_is_sought(void) {
  trial t;
  stopper s = {0};
  begin(&t, "kernel=300,launch=100,llc=8192");
  with_buffers(&t, 4096);
  t.rotation.slots = 20;
  t.stop = &s;
  t.p.launch = stopping_launch;
  t.p.launch_user = &t;
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.max_samples = 20;
  stop_at_each(&t, &s);
  finish(&t);
}

/* --- the progress hook -------------------------------------------------- */

typedef struct seen {
  char stages[256];
  const char *last;
  uint64_t samples;
  uint32_t round;
  double elapsed;
} seen;

static void watch(void *user, const kmb_progress *p) {
  seen *s = user;
  REQUIRE_STR(p->name, "copy");
  REQUIRE_EQ(p->rounds, 2);
  REQUIRE(p->elapsed_ns >= s->elapsed && p->round >= s->round);
  REQUIRE_NEAR(p->limit_ns, 2e9, 0);
  s->elapsed = p->elapsed_ns;
  s->round = p->round;
  if (strcmp(p->stage, "measure") == 0 && p->samples) {
    REQUIRE(p->samples <= 20);
    REQUIRE_NEAR(p->median_ns, 20000, 100);
    s->samples = p->samples;
  }
  if (s->last && strcmp(s->last, p->stage) == 0) return;
  s->last = p->stage;
  strncat(s->stages, p->stage, sizeof s->stages - strlen(s->stages) - 2);
  strcat(s->stages, ";");
}

static void progress_names_each_stage_in_order(void) {
  seen s = {0};
  trial t;
  begin(&t, SMALL);
  t.h.device->hooks.progress = watch;
  t.h.device->hooks.progress_user = &s;
  small(&t);
  run(&t);
  REQUIRE_STR(s.stages, "prepare;check;warm up;calibrate;measure;check;"
                        "prepare;check;warm up;calibrate;measure;check;"
                        "confirm;summarise;");
  REQUIRE(s.samples >= 10);
  REQUIRE_EQ(s.round, 1);
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
  RUN(each_setup_may_fail);
  RUN(cancelling_from_a_launch);
  RUN(cancelling_from_a_reset);
  RUN(cancelling_while_a_batch_is_sought);
  RUN(progress_names_each_stage_in_order);
  RUN(a_launch_of_nothing_is_an_error);
  RUN(timestamps_that_are_all_impossible_end_it);
  RUN(a_wrong_operation_is_incorrect);
  RUN(a_kernel_that_never_ends_loses_the_device);
  return 0;
}
