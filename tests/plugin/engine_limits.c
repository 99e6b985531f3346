/* The engine at its limits: memory that does not suffice, sizes that overflow,
 * times of zero, and being stopped at any moment. */
#include "engine.h"

/* --- memory ------------------------------------------------------------- */

/* As begin(), with a memory budget of the caller's. */
static void begin_with_budget(trial *t, const char *spec, uint64_t budget) {
  kmb_device_params params = kmb_device_params_init();
  char name[2048];
  begin(t, spec);
  kmb_device_close(t->h.device);
  params.memory_budget = budget;
  snprintf(name, sizeof name, "%s:%s", SIM, spec);
  REQUIRE_OK(kmb_device_open(name, &params, &t->h.device));
}

static void a_budget_limits_the_slots(void) {
  trial t;
  begin_with_budget(&t, "cold=26000", 14ULL * MIB + 65536);
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 7);
  REQUIRE(u64(&t, KMB_VALUE_ALLOCATED_BYTES) <= 14ULL * MIB + 65536);
  REQUIRE(raised(&t, KMB_FINDING_NOT_COLD));
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_COLD, "wanted_slots"), 17, 0);
  /* What the set holds already counts: the second run finds no more. */
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 7);
  finish(&t);
}

static void a_budget_is_shared_by_sweep_and_slots(void) {
  trial t;
  begin_with_budget(&t, "", 16 * MIB);
  with_buffers(&t, MIB);
  fails(&t, KMB_ERR_NOMEM, "memory_budget");
  finish(&t);
  begin_with_budget(&t, "", 19 * MIB);
  with_buffers(&t, MIB);
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SWEEP_BYTES), 16 * MIB);
  finish(&t);
}

static void a_sweep_beyond_the_budget_is_refused(void) {
  trial t;
  begin_with_budget(&t, "", 16 * MIB - 1);
  fails(&t, KMB_ERR_NOMEM, "the sweep reads 16777216 bytes");
  finish(&t);
  begin_with_budget(&t, "", 16 * MIB);
  run(&t);
  finish(&t);
}

/* The backend keeps the sweep's memory: what comes later finds less. */
static void a_sweep_that_is_kept_counts_against_the_budget(void) {
  trial t;
  begin_with_budget(&t, "", 19 * MIB);
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SWEEP_BYTES), 16 * MIB);
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 1);
  REQUIRE(u64(&t, KMB_VALUE_ALLOCATED_BYTES) <= 3 * MIB);
  finish(&t);
  /* And the other way round. */
  begin_with_budget(&t, "", 19 * MIB);
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 9);
  t.p.cache = KMB_CACHE_COLD;
  fails(&t, KMB_ERR_NOMEM, "destroy buffers");
  finish(&t);
}

/* Memory for one slot only, and for none. */
static void slots_shrink_to_one_and_no_further(void) {
  trial t;
  begin(&t, "memory=4300000");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 1);
  REQUIRE_EQ(u64(&t, KMB_VALUE_REUSE_BYTES), 0);
  finish(&t);
  begin(&t, "memory=2000000");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_NOMEM, "1 slot needs");
  finish(&t);
}

static char callers[4][4096];

/* The caller's slots cost nothing; what all share may still not fit. */
static void shared_memory_that_does_not_fit(void) {
  void *pointers[4] = {callers[0], callers[1], callers[2], callers[3]};
  trial t;
  memset(callers, 1, sizeof callers);
  begin(&t, "memory=1000000,llc=4096");
  with_buffers(&t, 4096);
  t.descs[0].fill = KMB_FILL_CALLER;
  t.descs[0].pointers = pointers;
  t.descs[0].pointer_count = 4;
  t.descs[1].role = KMB_SCRATCH;
  t.descs[1].bytes = MIB;
  t.p.check = NULL;
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_NOMEM, "");
  finish(&t);
}

/* 65536 slots of 2^49 bytes exceed 64 bits. */
static void a_product_beyond_64_bits_is_no_memory(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, UINT64_C(1) << 49);
  t.rotation.slots = 65536;
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_NOMEM, "");
  finish(&t);
}

static void a_cache_beyond_64_bits_is_invalid(void) {
  trial t;
  begin(&t, "llc=9000000000000000000");
  fails(&t, KMB_ERR_INVALID, "last-level cache");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_INVALID, "reuse_factor");
  finish(&t);
}

/* --- rotation ----------------------------------------------------------- */

static void rotation_needs_something_cold(void) {
  trial t;
  begin(&t, "");
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_UNAVAILABLE, "needs buffers with cold");
  with_buffers(&t, MIB);
  t.descs[0].residency = t.descs[1].residency = KMB_RESIDENT_WARM;
  fails(&t, KMB_ERR_UNAVAILABLE, "needs buffers with cold");
  finish(&t);
}

static void rotation_needs_a_size_or_a_count(void) {
  trial t;
  begin(&t, "llc_known=0");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  fails(&t, KMB_ERR_UNAVAILABLE, "ROTATED needs the last-level cache's size");
  kmb_buffers_destroy(t.set);
  t.set = NULL;
  t.rotation.slots = 5;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 5);
  REQUIRE_EQ(u64(&t, KMB_VALUE_REUSE_BYTES), 4 * MIB);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "ROTATED");
  finish(&t);
}

/* Exactly the last-level cache between two uses is enough; a slot less is not.
 */
static void the_distance_decides(void) {
  trial t;
  for (uint32_t slots = 8; slots <= 9; slots++) {
    begin(&t, "");
    with_buffers(&t, MIB);
    t.rotation.slots = slots;
    t.p.cache = KMB_CACHE_ROTATED;
    run(&t);
    REQUIRE_EQ(raised(&t, KMB_FINDING_NOT_COLD), slots == 8);
    finish(&t);
  }
}

/* More slots than one block of samples visits. */
static void many_slots_are_all_visited(void) {
  static uint64_t visits;
  trial t;
  begin(&t, "llc=65536");
  with_buffers(&t, 4096);
  t.rotation.slots = 300;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_NO_WARMUP;
  run(&t);
  visits = u64(&t, KMB_VALUE_WARMUP_ITERATIONS);
  REQUIRE_EQ(visits, 300);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 300);
  finish(&t);
}

/* --- aliases ------------------------------------------------------------ */

static kmb_status nothing_but_read(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {.read_count = 1, .reads = {{l->args[0], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

/* An alias is no buffer of its own: not scanned, not listed, not touched again.
 */
static void an_alias_is_no_buffer_of_its_own(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.descs[0].residency = KMB_RESIDENT_WARM;
  t.descs[1].role = KMB_INPUT;
  t.descs[1].residency = KMB_RESIDENT_WARM;
  t.descs[1].flags = KMB_BUFFER_ALIAS;
  t.descs[1].alias_of = 0;
  t.p.check = NULL;
  t.p.launch = nothing_but_read;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_FILL), "x: random");
  finish(&t);
}

static void fill_with_7(const sim_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->write_count; i++)
    memset(kernel->writes[i].pointer, 7, kernel->writes[i].bytes);
}

static kmb_status overwrite(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {.run = fill_with_7, .write_count = 2};
  for (int i = 0; i < 2; i++)
    kernel.writes[i] = (kmb_span){l->args[i], o->bytes};
  return sim_enqueue(l->stream, &kernel);
}

static kmb_status content(void *user, kmb_check *check) {
  (void)user;
  (void)check;
  return KMB_OK;
}

/* What is written through an alias may change; another input may not. */
static void an_input_changes_where_an_output_is_its_alias(void) {
  for (int aliased = 0; aliased < 2; aliased++) {
    trial t;
    begin(&t, "");
    with_buffers(&t, MIB);
    if (aliased) t.descs[1].role = KMB_INOUT;
    if (aliased) t.descs[1].flags = KMB_BUFFER_ALIAS;
    t.descs[1].alias_of = 0;
    t.p.check = content;
    t.p.launch = overwrite;
    kmb_status status = attempt(&t);
    REQUIRE_EQ(status, aliased ? KMB_OK : KMB_ERR_INCORRECT);
    finish(&t);
  }
}

/* --- times of zero ------------------------------------------------------ */

/* A clock that cannot see the kernel: the number is zero and says so. */
static void a_time_below_the_clocks_step_is_zero(void) {
  trial t;
  begin(&t, "kernel=0,replay=0,launch=0,call=0,sync=0");
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_WARM;
  t.p.max_samples = 100;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 4096);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 0, 0);
  REQUIRE(f64(&t, KMB_VALUE_INTERVAL_HIGH) > 0);
  REQUIRE(!raised(&t, KMB_FINDING_UNSTABLE));
  finish(&t);
}

static void zero_on_the_host_clock_has_no_overhead_share(void) {
  trial t;
  begin(&t, "kernel=0,launch=0,call=0,sync=0,now=5");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 1;
  t.p.max_samples = 100;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 0, 0);
  REQUIRE(!raised(&t, KMB_FINDING_OVERHEAD));
  finish(&t);
}

/* Nothing takes time, not even to read the clock. */
static void a_clock_that_stands_still_divides_by_nothing(void) {
  trial t;
  begin(&t, "kernel=0,launch=0,call=0,sync=0,now=0,trace_cost=0,node=0");
  t.p.cache = KMB_CACHE_WARM;
  t.p.max_samples = 20;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MEASURE_WALL), 0, 0);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_QUIET));
  finish(&t);
}

static void a_warm_time_of_zero_proves_nothing(void) {
  trial t;
  begin(&t, "kernel=0,cold=26000");
  with_buffers(&t, MIB);
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_PROOF), "unproved");
  finish(&t);
}

/* --- time that does not suffice ------------------------------------------ */

static void no_valid_sample_in_time_is_a_timeout(void) {
  trial t;
  begin(&t, "record_invalid=1");
  t.p.max_wall_ns = 1;
  fails(&t, KMB_ERR_TIMEOUT, "raise it");
  finish(&t);
}

static void two_samples_prove_nothing(void) {
  trial t;
  begin(&t, "kernel=20e6,cold=26e6");
  with_buffers(&t, MIB);
  t.p.max_wall_ns = 300e6;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_PROOF), "unproved");
  t.p.max_wall_ns = 900e6;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_CACHE_PROOF), "1.30 times");
  finish(&t);
}

/* A warm-up that is over at once must not pass for a kernel of no duration. */
static void a_short_warm_up_finds_the_same_batch(void) {
  trial t;
  begin(&t, "kernel=300,launch=200");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  t.p.warmup_ns = 1;
  t.p.max_samples = 20;
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_BATCH) >= 100);
  REQUIRE(u64(&t, KMB_VALUE_BATCH) <= 400);
  finish(&t);
}

/* --- confirming --------------------------------------------------------- */

static void a_graph_is_confirmed_by_a_replay(void) {
  trial t;
  begin(&t, "");
  t.p.cache = KMB_CACHE_WARM;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_STR(text(&t, KMB_VALUE_CONFIRM_METHOD),
              "GRAPH, 8 iterations a sample");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_TIME), 20000, 40);
  finish(&t);
}

static uint64_t replay_batch(const char *spec) {
  trial t;
  begin(&t, spec);
  t.p.cache = KMB_CACHE_WARM;
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.max_wall_ns = 1e9;
  run(&t);
  uint64_t batch = u64(&t, KMB_VALUE_BATCH);
  finish(&t);
  return batch;
}

/* Eight, as long as a hundred samples of them fit into the wall limit. */
static void a_replays_cost_is_shared_by_eight_iterations(void) {
  REQUIRE(replay_batch("kernel=200000") == 8);
  REQUIRE(replay_batch("kernel=3000000,replay=0") == 3);
  REQUIRE(replay_batch("kernel=40000000") == 1);
}

/* The second timer's impossible samples are left out too. */
static void impossible_samples_confirm_nothing(void) {
  trial t;
  begin(&t, "record_invalid=0.3");
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_CONFIRM_METHOD), "TRACE");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CONFIRM_TIME), 20000, 40);
  REQUIRE(f64(&t, KMB_VALUE_CONFIRM_LOW) > 19000);
  finish(&t);
}

/* The last way is to double the batch; then there is none. */
static void a_second_batch_that_cannot_be_had_confirms_nothing(void) {
  trial t;
  begin(&t, "timers=host");
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CONFIRM_METHOD),
              "HOST, 8 iterations a sample");
  finish(&t);
  /* Plans: warm up, overhead, measure, confirm. */
  begin(&t, "timers=host,fail=plan_create@4:-5");
  t.p.cache = KMB_CACHE_WARM;
  t.p.batch = 4;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_UNCONFIRMED));
  finish(&t);
}

/* --- tolerance ---------------------------------------------------------- */

static void a_tolerance_of_zero_is_kept_if_meant(void) {
  trial t;
  double tolerance = 0;
  begin(&t, "");
  with_buffers(&t, MIB);
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_TOLERANCE, &tolerance),
                 KMB_ERR_UNAVAILABLE);
  t.p.flags = KMB_BENCH_TOLERANCE;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TOLERANCE), 0, 0);
  t.p.flags = 0;
  t.p.tolerance = 1e-3;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TOLERANCE), 1e-3, 0);
  finish(&t);
}

int main(void) {
  RUN(a_budget_limits_the_slots);
  RUN(a_budget_is_shared_by_sweep_and_slots);
  RUN(a_sweep_beyond_the_budget_is_refused);
  RUN(a_sweep_that_is_kept_counts_against_the_budget);
  RUN(slots_shrink_to_one_and_no_further);
  RUN(shared_memory_that_does_not_fit);
  RUN(a_product_beyond_64_bits_is_no_memory);
  RUN(a_cache_beyond_64_bits_is_invalid);
  RUN(rotation_needs_something_cold);
  RUN(rotation_needs_a_size_or_a_count);
  RUN(the_distance_decides);
  RUN(many_slots_are_all_visited);
  RUN(an_alias_is_no_buffer_of_its_own);
  RUN(an_input_changes_where_an_output_is_its_alias);
  RUN(a_time_below_the_clocks_step_is_zero);
  RUN(zero_on_the_host_clock_has_no_overhead_share);
  RUN(a_clock_that_stands_still_divides_by_nothing);
  RUN(a_warm_time_of_zero_proves_nothing);
  RUN(no_valid_sample_in_time_is_a_timeout);
  RUN(two_samples_prove_nothing);
  RUN(a_short_warm_up_finds_the_same_batch);
  RUN(a_graph_is_confirmed_by_a_replay);
  RUN(a_replays_cost_is_shared_by_eight_iterations);
  RUN(impossible_samples_confirm_nothing);
  RUN(a_second_batch_that_cannot_be_had_confirms_nothing);
  RUN(a_tolerance_of_zero_is_kept_if_meant);
  return 0;
}
