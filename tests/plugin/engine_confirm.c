/* The second measurement and the proof of coldness: which way, how many
 * samples, how far apart is too far. */
#include "engine.h"

#include "device.h"

/* No clock step, and nothing but the kernel takes time. */
#define EXACT "tick=0,launch=0,call=0,sync=0,now=0"

static kmb_choice ways[2];

static kmb_status propose_two(void *self, const kmb_request *request,
                              kmb_choice *choices, uint32_t capacity,
                              uint32_t *count) {
  (void)self;
  (void)request;
  (void)capacity;
  memcpy(choices, ways, sizeof ways);
  *count = 2;
  return KMB_OK;
}

/* How the second of these confirms the first. */
static const char *method(trial *t, kmb_choice first, kmb_choice second,
                          uint32_t slots) {
  static kmb_backend_ops odd;
  static char words[64];
  begin(t, "");
  odd = *t->h.device->ops;
  odd.propose = propose_two;
  t->h.device->ops = &odd;
  ways[0] = first;
  ways[1] = second;
  if (slots) with_buffers(t, MIB);
  t->rotation.slots = slots;
  run(t);
  snprintf(words, sizeof words, "%s", text(t, KMB_VALUE_CONFIRM_METHOD));
  finish(t);
  return words;
}

#define WAY(timer, mode, cache) \
  ((kmb_choice){KMB_TIMER_##timer, KMB_LAUNCH_##mode, KMB_CACHE_##cache, 0})

/* A replay visits every slot, the host's clock takes the batch that it
 * confirms, others one iteration. */
static void the_second_batch_suits_its_timer(void) {
  trial t;
  REQUIRE_STR(
      method(&t, WAY(GRAPH, GRAPH, ROTATED), WAY(TRACE, GRAPH, ROTATED), 17),
      "TRACE, 1 iteration a sample");
  REQUIRE_STR(
      method(&t, WAY(TRACE, GRAPH, ROTATED), WAY(GRAPH, GRAPH, ROTATED), 17),
      "GRAPH, 17 iterations a sample");
  REQUIRE_STR(method(&t, WAY(TRACE, PLAIN, WARM), WAY(HOST, PLAIN, WARM), 0),
              "HOST, 1 iteration a sample");
  REQUIRE_STR(method(&t, WAY(HOST, PLAIN, WARM), WAY(EVENT, PLAIN, WARM), 0),
              "EVENT, 1 iteration a sample");
}

static void host_confirms_a_batch_with_its_like(void) {
  trial t;
  char want[64];
  static kmb_backend_ops odd;
  begin(&t, "");
  odd = *t.h.device->ops;
  odd.propose = propose_two;
  t.h.device->ops = &odd;
  ways[0] = WAY(GRAPH, GRAPH, WARM);
  ways[1] = WAY(HOST, GRAPH, WARM);
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_BATCH) > 1);
  snprintf(want, sizeof want, "HOST, %llu iterations a sample",
           (unsigned long long)u64(&t, KMB_VALUE_BATCH));
  REQUIRE_STR(text(&t, KMB_VALUE_CONFIRM_METHOD), want);
  finish(&t);
}

/* Twice the host's batch only where a batch can be. */
static void a_single_call_has_no_second_batch(void) {
  trial t;
  begin(&t, "timers=host");
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "COLD");
  REQUIRE_STR(message(&t, KMB_FINDING_UNCONFIRMED),
              "no second measurement: there is no second timer for this cache "
              "state and launch mode");
  finish(&t);
}

static uint64_t launches(uint32_t flags) {
  trial t;
  begin(&t, "");
  t.p.flags = flags;
  run(&t);
  uint64_t calls = t.op.calls;
  finish(&t);
  return calls;
}

static void fifty_samples_confirm(void) {
  REQUIRE_EQ(launches(0) - launches(KMB_BENCH_NO_CONFIRM), 50);
}

/* Kernels of 20 ms: a tenth of the ceiling must hold eight. */
static void a_tenth_of_the_ceiling_is_left_for_it(void) {
  trial t;
  begin(&t, "kernel=20e6");
  t.p.max_wall_ns = 1.35e9;
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_UNCONFIRMED), "fewer than 8 samples");
  t.p.max_wall_ns = 1.45e9;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_UNCONFIRMED));
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_TIME), 20e6, 40);
  finish(&t);
}

/* --- apart ---------------------------------------------------------------- */

/* Each clock's bias is known to 20 ns; samples without spread add nothing. */
static void apart_by_more_than_all_that_is_not_known(void) {
  trial t;
  begin(&t, EXACT ",lie=event:1.2");
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "time_ns"), 20000, 1e-6);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "confirm_time_ns"),
               23900 * 1.2 - 3900, 1e-6);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "allowed_difference_ns"),
               40, 1e-6);
  REQUIRE_HAS(message(&t, KMB_FINDING_TIMERS_DISAGREE),
              "it took 24.78 µs instead of 20.00 µs");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_LOW), 24780, 1e-6);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_HIGH), 24780, 1e-6);
  finish(&t);
}

/* The bias is wrong by 39 and by 41 ns. */
static void what_is_not_known_is_allowed(void) {
  trial t;
  begin(&t, EXACT ",bias_error=-0.01");
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  finish(&t);
  begin(&t, EXACT ",bias_error=-0.0105128");
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  finish(&t);
  begin(&t, EXACT ",bias_error=0.0105128");
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  finish(&t);
}

/* The clock's step is spread over the batch. */
static void a_second_batch_divides_the_step(void) {
  trial t;
  begin(&t, "timers=host,launch=0,call=0,sync=0,now=0");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  double width =
      f64(&t, KMB_VALUE_CONFIRM_HIGH) - f64(&t, KMB_VALUE_CONFIRM_LOW);
  REQUIRE(width >= 4 && width < 8);
  finish(&t);
}

/* Half a step of the clock is not known either, on both sides. */
static void the_clocks_step_is_allowed(void) {
  trial t;
  begin(&t, "lie=event:1.2,tick=100");
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "allowed_difference_ns"),
               140, 40);
  REQUIRE(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "allowed_difference_ns") >
          100);
  finish(&t);
}

/* The loop's own cost is known as a bound only. */
static void the_overhead_is_allowed(void) {
  trial t;
  begin(&t, "tick=0,launch=0,now=0,sync=0,call=10,timers=trace+host,"
            "lie=host:0.8");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  REQUIRE(f64(&t, KMB_VALUE_OVERHEAD) > 5);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_TIMERS_DISAGREE, "allowed_difference_ns"),
               20 + f64(&t, KMB_VALUE_OVERHEAD), 1e-6);
  finish(&t);
}

static void without_an_interval_nothing_is_apart(void) {
  trial t;
  begin(&t, "lie=event:1.2");
  t.p.max_samples = 7;
  run(&t);
  REQUIRE(!raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(f64(&t, KMB_VALUE_CONFIRM_TIME) > 24000);
  t.p.max_samples = 8;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  finish(&t);
}

/* --- cold ----------------------------------------------------------------- */

static void prove(trial *t, const char *spec, kmb_cache_state cache,
                  const char *want) {
  begin(t, spec);
  with_buffers(t, MIB);
  t->p.cache = cache;
  run(t);
  REQUIRE_STR(text(t, KMB_VALUE_CACHE_PROOF), want);
}

static void a_warm_time_below_the_interval_proves_it(void) {
  trial t;
  prove(&t, "cold=26000", KMB_CACHE_COLD, "time: 1.30 times the warm time");
  finish(&t);
  /* One slot for the proof alone: the result tells of all. */
  prove(&t, "cold=26000", KMB_CACHE_ROTATED, "time: 1.30 times the warm time");
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 17);
  finish(&t);
  prove(&t, "", KMB_CACHE_COLD,
        "unproved: 1.00 times the warm time, within the warm calls' spread");
  finish(&t);
  prove(&t, "cold=21000,noise=gauss:0.1", KMB_CACHE_COLD,
        "unproved: 1.10 times the warm time, within the warm calls' spread");
  finish(&t);
}

static void a_proof_needs_an_interval(void) {
  trial t;
  begin(&t, "cold=26000");
  with_buffers(&t, MIB);
  t.p.max_samples = 7;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_CACHE_PROOF), "unproved: 1.30 times");
  finish(&t);
}

int main(void) {
  RUN(the_second_batch_suits_its_timer);
  RUN(host_confirms_a_batch_with_its_like);
  RUN(a_single_call_has_no_second_batch);
  RUN(fifty_samples_confirm);
  RUN(a_tenth_of_the_ceiling_is_left_for_it);
  RUN(apart_by_more_than_all_that_is_not_known);
  RUN(what_is_not_known_is_allowed);
  RUN(a_second_batch_divides_the_step);
  RUN(the_clocks_step_is_allowed);
  RUN(the_overhead_is_allowed);
  RUN(without_an_interval_nothing_is_apart);
  RUN(a_warm_time_below_the_interval_proves_it);
  RUN(a_proof_needs_an_interval);
  return 0;
}
