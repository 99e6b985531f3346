/* The engine where two of its steps meet: it chooses again, is given too much
 * at any moment, runs out of memory before its first look. */
#include "engine.h"

#include "device.h"

static const kmb_backend_ops *real;
static kmb_backend_ops odd;

static void replace(trial *t) {
  real = t->h.device->ops;
  odd = *real;
  t->h.device->ops = &odd;
}

/* --- choosing again ------------------------------------------------------- */

static const kmb_choice trace_cold = {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
                                      KMB_CACHE_COLD, 0};
static kmb_choice then;
static kmb_status then_status;
static int asked;
static uint64_t ops_told;

/* Proposes `then` once it is told how many operations there are. */
static kmb_status propose_twice(void *self, const kmb_request *request,
                                kmb_choice *choices, uint32_t capacity,
                                uint32_t *count) {
  (void)self;
  (void)capacity;
  asked++;
  ops_told = request->device_ops;
  choices[0] = ops_told ? then : trace_cold;
  *count = 1;
  return ops_told ? then_status : KMB_OK;
}

static void count_prepares(void *user, const kmb_progress *p) {
  int *prepares = user;
  *prepares += strcmp(p->stage, "prepare") == 0;
}

/* How often it prepared. */
static int choose_again(trial *t, uint32_t kernels, kmb_timer timer,
                        kmb_launch_mode mode, kmb_cache_state cache) {
  static int prepares;
  prepares = asked = 0;
  begin(t, "");
  replace(t);
  odd.propose = propose_twice;
  then = (kmb_choice){timer, mode, cache, 0};
  then_status = KMB_OK;
  t->op.kernels = kernels;
  t->h.device->hooks.progress = count_prepares;
  t->h.device->hooks.progress_user = &prepares;
  run(t);
  return prepares;
}

static void another_timer_mode_or_state_is_prepared_anew(void) {
  trial t;
  REQUIRE_EQ(
      choose_again(&t, 3, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD),
      2);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_EQ(ops_told, 3);
  REQUIRE_EQ(asked, 2);
  finish(&t);
  REQUIRE_EQ(
      choose_again(&t, 2, KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_COLD),
      2);
  REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  finish(&t);
  REQUIRE_EQ(
      choose_again(&t, 3, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM),
      2);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "WARM");
  finish(&t);
}

static void the_same_way_is_not(void) {
  trial t;
  REQUIRE_EQ(
      choose_again(&t, 3, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD),
      1);
  REQUIRE_EQ(asked, 2);
  finish(&t);
  /* One operation gives no reason to ask. */
  REQUIRE_EQ(
      choose_again(&t, 1, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD),
      1);
  REQUIRE_EQ(asked, 1);
  finish(&t);
}

static void a_backend_that_fails_when_asked_again_ends_it(void) {
  trial t;
  choose_again(&t, 3, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  then_status = KMB_ERR_VENDOR;
  fails(&t, KMB_ERR_VENDOR, "");
  finish(&t);
}

/* --- too many samples ----------------------------------------------------- */

static uint64_t runs, bad_run;

static kmb_status run_too_many_at(void *self, void *plan, uint64_t count,
                                  double until_ns, kmb_sample *samples,
                                  uint64_t *got) {
  kmb_status status = real->plan_run(self, plan, count, until_ns, samples, got);
  if (++runs == bad_run) *got = count + 1;
  return status;
}

/* While warming up, calibrating, measuring, checking or confirming. */
static void too_many_samples_at_any_moment_end_it(void) {
  trial t;
  begin(&t, "kernel=500,launch=100,llc=8192");
  with_buffers(&t, 4096);
  replace(&t);
  odd.plan_run = run_too_many_at;
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.warmup_ns = 1e5;
  t.p.max_samples = 20;
  runs = bad_run = 0;
  run(&t);
  uint64_t calls = runs;
  REQUIRE(calls > 6);
  for (bad_run = 1; bad_run <= calls; bad_run++) {
    runs = 0;
    fails(&t, KMB_ERR_INTERNAL, "more samples than asked");
    REQUIRE_EQ(runs, bad_run);
  }
  finish(&t);
}

/* --- memory --------------------------------------------------------------- */

/* The first look at the samples comes after the last of them. */
static void memory_may_lack_before_the_first_look(void) {
  bool fired = true;
  int failed = 0;
  for (uint64_t at = 1; fired; at++) {
    trial t;
    begin(&t, "kernel=1e9");
    t.p.max_wall_ns = 2.5e9;
    t.h.memory.fail_at = t.h.memory.calls + at;
    kmb_status status = attempt(&t);
    fired = t.h.memory.calls >= t.h.memory.fail_at;
    REQUIRE(status == KMB_OK || status == KMB_ERR_NOMEM);
    failed += status != KMB_OK;
    if (!fired) {
      REQUIRE_OK(status);
      REQUIRE_EQ(u64(&t, KMB_VALUE_SAMPLES), 3);
      REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 1e9, 40);
    }
    finish(&t);
  }
  REQUIRE(failed > 5);
}

/* --- in place ------------------------------------------------------------- */

static void add_one(const sim_kernel *kernel) {
  for (uint32_t w = 0; w < kernel->write_count; w++)
    for (uint64_t i = 0; i < kernel->writes[w].bytes; i++)
      ((unsigned char *)kernel->writes[w].pointer)[i]++;
}

static kmb_status both_in_place(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {
      .run = add_one,
      .write_count = 2,
      .writes = {{l->args[0], o->bytes}, {l->args[1], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

/* Each is put back after the check, and a failure to is one. */
static void what_is_changed_in_place_is_put_back(void) {
  for (int at = 1; at <= 3; at++) {
    trial t;
    char spec[32];
    snprintf(spec, sizeof spec, "fail=write@%d", at);
    begin(&t, spec);
    with_buffers(&t, 4096);
    t.descs[0].role = t.descs[1].role = KMB_INOUT;
    t.p.launch = both_in_place;
    t.p.check = NULL;
    if (at < 3)
      fails(&t, KMB_ERR_VENDOR, "simulated fault in write");
    else
      run(&t);
    finish(&t);
  }
}

/* --- checking ------------------------------------------------------------- */

static uint64_t bad_check;

static kmb_status fail_silently(void *user, kmb_check *check) {
  trial *t = user;
  (void)check;
  return ++t->checks == bad_check ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status fail_by_two(void *user, kmb_check *check) {
  trial *t = user;
  check->error = 2;
  return ++t->checks == bad_check ? KMB_ERR_INCORRECT : KMB_OK;
}

static void fails_at(kmb_check_fn check, uint64_t at, const char *words) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.p.check = check;
  t.p.tolerance = 0.5;
  bad_check = at;
  fails(&t, KMB_ERR_INCORRECT, words);
  finish(&t);
}

static void a_failed_check_says_when_and_by_how_much(void) {
  fails_at(fail_silently, 1,
           "the check failed on what was written by a plain launch");
  fails_at(fail_silently, 2,
           "the check failed on what was written by the timed plan");
  fails_at(fail_by_two, 1, "by a plain launch: largest error 2, tolerance 0.5");
  fails_at(fail_by_two, 2, "by the timed plan: largest error 2, tolerance 0.5");
}

/* --- warm ----------------------------------------------------------------- */

static void warm_over(trial *t, const char *spec, uint64_t bytes) {
  static kmb_work work;
  begin(t, spec);
  with_buffers(t, bytes);
  work = kmb_work_init();
  work.read_bytes = bytes;
  t->p.work = &work;
  t->p.cache = KMB_CACHE_WARM;
}

/* The ceiling of memory bounds what no cache holds, or what the caller says. */
static void warm_data_have_no_ceiling_of_memory(void) {
  trial t;
  double number = 0;
  kmb_ceiling given = kmb_ceiling_init();
  given.kind = KMB_CEILING_READ;
  given.value = 2e12;
  warm_over(&t, "read=1e12,llc=8388608", 4 * MIB);
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_UNKNOWN_PEAK), "the data are warm");
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_MEMORY_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  t.p.memory_ceiling = &given;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_UNKNOWN_PEAK));
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MEMORY_CEILING), 2e12, 0);
  finish(&t);
  warm_over(&t, "read=1e12,llc=8388607", 4 * MIB);
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MEMORY_CEILING), 1e12, 0);
  finish(&t);
  warm_over(&t, "read=1e12,llc_known=0", 4 * MIB);
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MEMORY_CEILING), 1e12, 0);
  finish(&t);
}

static void warm_is_required_of_what_may_fit(void) {
  trial t;
  begin(&t, "llc=8388608");
  with_buffers(&t, 4 * MIB);
  t.p.cache = KMB_CACHE_WARM;
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "WARM");
  finish(&t);
  begin(&t, "llc=8388607");
  with_buffers(&t, 4 * MIB);
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "NOT_WARM");
  REQUIRE(raised(&t, KMB_FINDING_NOT_WARM));
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  fails(&t, KMB_ERR_UNAVAILABLE, "touches 8388608 bytes");
  finish(&t);
  /* Of an unknown size nothing can be said. */
  begin(&t, "llc_known=0");
  with_buffers(&t, 4 * MIB);
  t.p.cache = KMB_CACHE_WARM;
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "WARM");
  REQUIRE(!raised(&t, KMB_FINDING_NOT_WARM));
  finish(&t);
}

/* --- confirming ----------------------------------------------------------- */

/* The host's clock has no bias, in the second measurement either. */
static void the_host_confirms_what_its_clock_read(void) {
  trial t;
  begin(&t, "timers=host,tick=0,launch=0,call=0,sync=0,now=0");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CONFIRM_METHOD),
              "HOST, 8 iterations a sample");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_TIME), 20000, 1e-3);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_LOW), 20000, 1e-3);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_HIGH), 20000, 1e-3);
  finish(&t);
}

int main(void) {
  RUN(another_timer_mode_or_state_is_prepared_anew);
  RUN(the_same_way_is_not);
  RUN(a_backend_that_fails_when_asked_again_ends_it);
  RUN(too_many_samples_at_any_moment_end_it);
  RUN(memory_may_lack_before_the_first_look);
  RUN(what_is_changed_in_place_is_put_back);
  RUN(a_failed_check_says_when_and_by_how_much);
  RUN(warm_data_have_no_ceiling_of_memory);
  RUN(warm_is_required_of_what_may_fit);
  RUN(the_host_confirms_what_its_clock_read);
  return 0;
}
