/* Warming up and finding a batch, to the iteration: on a device where nothing
 * but the kernel takes time, each number follows from the rules. */
#include "engine.h"

#include "device.h"

#define EXACT "tick=0,launch=0,call=0,sync=0,now=0,replay=0,trace_cost=0,"

/* --- warming up ----------------------------------------------------------- */

/* Kernels that get faster by a factor, so many times, and stay so. */
typedef struct falling {
  double ns, factor;
  uint64_t calls, falls;
} falling;

static kmb_status fall(void *user, const kmb_launch *l) {
  falling *f = user;
  sim_kernel kernel = {.ns = f->ns};
  if (f->calls++ < f->falls) f->ns *= f->factor;
  return sim_enqueue(l->stream, &kernel);
}

static uint64_t warm_up_of(double factor, uint64_t falls, double limit_ns) {
  trial t;
  falling f = {20000, factor, 0, falls};
  begin(&t, EXACT);
  t.p.launch = fall;
  t.p.launch_user = &f;
  t.p.warmup_ns = limit_ns;
  t.p.max_samples = 20;
  run(&t);
  uint64_t count = u64(&t, KMB_VALUE_WARMUP_ITERATIONS);
  finish(&t);
  return count;
}

/* The first launch, and ten that bring nothing. */
static void ten_that_are_no_faster_end_it(void) {
  REQUIRE_EQ(warm_up_of(1, 0, 0), 11);
  /* Faster by less than 1% is not faster, however often. */
  REQUIRE_EQ(warm_up_of(0.995, 40, 0), 11);
  /* After the 25th it falls no more: at the 36th ten have not, and samples are
   * taken by ten. */
  REQUIRE_EQ(warm_up_of(0.98, 25, 0), 41);
  REQUIRE_EQ(warm_up_of(0.98, 20, 0), 31);
  REQUIRE_EQ(warm_up_of(0.98, 21, 0), 41);
}

/* Sweeps count: 8 us each at the device's rate. */
static void or_the_limit_does(void) {
  uint64_t count = warm_up_of(0.9, 1000, 400e3);
  REQUIRE(count > 20 && count < 35);
}

/* --- a batch -------------------------------------------------------------- */

static uint64_t batch_of(const char *spec, kmb_timer timer) {
  trial t;
  begin(&t, spec);
  t.p.timer = timer;
  t.p.cache = KMB_CACHE_WARM;
  t.p.max_samples = 20;
  run(&t);
  uint64_t batch = u64(&t, KMB_VALUE_BATCH);
  finish(&t);
  return batch;
}

/* A tenth more than 50 us take, and one. */
static void a_sample_takes_fifty_microseconds(void) {
  REQUIRE_EQ(batch_of(EXACT "kernel=1000", KMB_TIMER_HOST), 56);
  REQUIRE_EQ(batch_of(EXACT "kernel=50000", KMB_TIMER_HOST), 1);
  REQUIRE_EQ(batch_of(EXACT "kernel=49999", KMB_TIMER_HOST), 2);
  /* At most a hundred times as many in one step: 101, then 54 times that. */
  REQUIRE_EQ(batch_of(EXACT "kernel=10", KMB_TIMER_HOST), 5501);
}

static void or_a_thousand_ticks(void) {
  REQUIRE_EQ(batch_of("launch=0,call=0,sync=0,now=0,kernel=1000,tick=40",
                      KMB_TIMER_HOST),
             56);
  REQUIRE_EQ(batch_of("launch=0,call=0,sync=0,now=0,kernel=1000,tick=50",
                      KMB_TIMER_HOST),
             56);
  REQUIRE_EQ(batch_of("launch=0,call=0,sync=0,now=0,kernel=1000,tick=80",
                      KMB_TIMER_HOST),
             89);
}

static uint64_t ring_of(const char *spec, uint32_t slots, uint64_t asked) {
  trial t;
  begin(&t, spec);
  with_buffers(&t, 64);
  t.rotation.slots = slots;
  t.p.check = NULL;
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.batch = asked;
  t.p.max_samples = 8;
  t.p.flags = KMB_BENCH_NO_CONFIRM | KMB_BENCH_NO_WARMUP;
  run(&t);
  uint64_t batch = u64(&t, KMB_VALUE_BATCH);
  finish(&t);
  return batch;
}

/* 17 take 17 us; 56 would do, 68 are whole rings. The longest replay is 4096,
 * or the slots, if there are more. */
static void a_replay_is_of_whole_rings(void) {
  REQUIRE_EQ(ring_of(EXACT "kernel=1000", 17, 0), 68);
  REQUIRE_EQ(ring_of(EXACT "kernel=1", 17, 0), 4097);
  REQUIRE_EQ(ring_of(EXACT "kernel=1,llc=1024", 4096, 0), 4096);
  REQUIRE_EQ(ring_of(EXACT "kernel=1,llc=1024", 4100, 0), 4100);
  REQUIRE_EQ(ring_of(EXACT "kernel=1", 17, 16), 17);
  REQUIRE_EQ(ring_of(EXACT "kernel=1", 17, 34), 34);
}

/* --- what is single ------------------------------------------------------- */

static kmb_status no_reset(void *user, uint32_t slot, void *stream) {
  (void)user;
  (void)slot;
  (void)stream;
  return KMB_OK;
}

static uint64_t host_batch(kmb_cache_state cache, bool with_reset) {
  trial t;
  begin(&t, EXACT "kernel=1000");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = cache;
  if (with_reset) t.p.reset = no_reset;
  t.p.max_samples = 20;
  run(&t);
  uint64_t batch = u64(&t, KMB_VALUE_BATCH);
  finish(&t);
  return batch;
}

static void cold_and_reset_are_single(void) {
  REQUIRE_EQ(host_batch(KMB_CACHE_WARM, false), 56);
  REQUIRE_EQ(host_batch(KMB_CACHE_COLD, false), 1);
  REQUIRE_EQ(host_batch(KMB_CACHE_WARM, true), 1);
  REQUIRE_EQ(batch_of(EXACT "kernel=1000", KMB_TIMER_TRACE), 1);
  REQUIRE_EQ(batch_of(EXACT "kernel=1000", KMB_TIMER_EVENT), 1);
}

/* --- the loop's cost ------------------------------------------------------ */

static void the_loop_costs_what_null_callbacks_do(void) {
  trial t;
  double number = 0;
  begin(&t, "tick=0,launch=0,call=10,sync=0,now=0");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_OVERHEAD), 10, 1e-9);
  t.p.timer = KMB_TIMER_EVENT;
  t.p.batch = 1;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_OVERHEAD, &number),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

static const kmb_backend_ops *real;
static kmb_launch_fn timed;
static const void *null_plan;

static kmb_status find_null_plan(void *self, const kmb_plan_desc *desc,
                                 void **plan) {
  kmb_status status = real->plan_create(self, desc, plan);
  if (desc->launch != timed) null_plan = *plan;
  return status;
}

static kmb_status spoil_null_plan(void *self, void *plan, uint64_t count,
                                  double until_ns, kmb_sample *samples,
                                  uint64_t *got) {
  kmb_status status = real->plan_run(self, plan, count, until_ns, samples, got);
  for (uint64_t i = 0; plan == null_plan && i < *got; i++)
    samples[i].flags |= KMB_SAMPLE_INVALID;
  return status;
}

static void forget_null_plan(void *self, void *plan) {
  if (plan == null_plan) null_plan = NULL;
  real->plan_destroy(self, plan);
}

/* Null callbacks of which no sample can be used leave the cost unknown. */
static void useless_samples_tell_no_cost(void) {
  trial t;
  double number = 0;
  kmb_backend_ops odd;
  begin(&t, "");
  real = t.h.device->ops;
  odd = *real;
  odd.plan_create = find_null_plan;
  odd.plan_run = spoil_null_plan;
  odd.plan_destroy = forget_null_plan;
  t.h.device->ops = &odd;
  timed = t.p.launch;
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_OVERHEAD, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE(!raised(&t, KMB_FINDING_OVERHEAD));
  t.h.device->ops = real;
  run(&t);
  REQUIRE(f64(&t, KMB_VALUE_OVERHEAD) > 0);
  finish(&t);
}

/* --- the ring ------------------------------------------------------------- */

typedef struct ring {
  const char *stage;
  uint32_t slots, last;
  uint64_t calls, confirms;
} ring;

static ring seen;

static void note_stage(void *user, const kmb_progress *p) {
  (void)user;
  seen.stage = p->stage;
}

static kmb_status follow(void *user, const kmb_launch *l) {
  bool proof = strcmp(seen.stage, "confirm") == 0 && ++seen.confirms > 1;
  /* The check has a slot of its own, and the warm-up begins with the first. */
  if (seen.calls > 1 && !proof)
    REQUIRE_EQ(l->slot, (seen.last + 1) % seen.slots);
  if (seen.calls < 2) REQUIRE_EQ(l->slot, 0);
  seen.calls++;
  seen.last = l->slot;
  return operation_launch(user, l);
}

static void follow_by(kmb_timer timer) {
  trial t;
  begin(&t, EXACT "kernel=3000,llc=8192");
  with_buffers(&t, 4096);
  t.h.device->hooks.progress = note_stage;
  t.rotation.slots = 7;
  t.p.timer = timer;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.launch = follow;
  t.p.max_samples = 300;
  seen = (ring){.slots = 7};
  run(&t);
  REQUIRE(seen.calls > 300);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 7);
  finish(&t);
}

/* Whichever plan is next begins where the last one stopped; callbacks that
 * touch nothing do not move it. */
static void the_ring_goes_on_from_plan_to_plan(void) {
  follow_by(KMB_TIMER_HOST);
  follow_by(KMB_TIMER_TRACE);
  follow_by(KMB_TIMER_EVENT);
}

/* --- useless samples ------------------------------------------------------ */

static void ten_for_each_that_counts_are_too_many(void) {
  trial t;
  begin(&t, "record_invalid=1");
  t.p.min_samples = 3;
  fails(&t, KMB_ERR_VENDOR, "of 12 samples 12 have impossible timestamps");
  t.p.min_samples = 40;
  fails(&t, KMB_ERR_VENDOR, "of 40 samples 40 have impossible timestamps");
  finish(&t);
}

int main(void) {
  RUN(ten_that_are_no_faster_end_it);
  RUN(or_the_limit_does);
  RUN(a_sample_takes_fifty_microseconds);
  RUN(or_a_thousand_ticks);
  RUN(a_replay_is_of_whole_rings);
  RUN(cold_and_reset_are_single);
  RUN(the_loop_costs_what_null_callbacks_do);
  RUN(useless_samples_tell_no_cost);
  RUN(the_ring_goes_on_from_plan_to_plan);
  RUN(ten_for_each_that_counts_are_too_many);
  return 0;
}
