/* What kmb_bench() refuses before anything runs, field by field, and the
 * defaults that it fills in. */
#include "require.h"

#include "run.h"

#include <math.h>

static kmb_device *device, *other;
static uint64_t launches;

static kmb_status launch(void *user, const kmb_launch *l) {
  (void)user;
  (void)l;
  launches++;
  return KMB_OK;
}

static kmb_status reset(void *user, uint32_t slot, void *stream) {
  (void)user;
  (void)slot;
  (void)stream;
  return KMB_OK;
}

static kmb_status check(void *user, kmb_check *c) {
  (void)user;
  (void)c;
  return KMB_OK;
}

/* Parameters with which a measurement takes no time. */
static kmb_bench_params good(void) {
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = launch;
  p.batch = 1;
  p.min_wall_ns = 1;
  p.warmup_ns = 1;
  p.min_samples = p.max_samples = 8;
  p.flags = KMB_BENCH_NO_CONFIRM;
  return p;
}

static void refused(const kmb_bench_params *p, kmb_status status,
                    const char *words) {
  kmb_result *r = (kmb_result *)&status;
  launches = 0;
  REQUIRE_STATUS(kmb_bench(device, p, &r), status);
  REQUIRE(r == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
  REQUIRE_EQ(launches, 0);
}

static void accepted(const kmb_bench_params *p) {
  kmb_result *r = NULL;
  REQUIRE_OK(kmb_bench(device, p, &r));
  kmb_result_destroy(r);
}

static kmb_buffers *buffers_on(kmb_device *on, kmb_buffer_role role) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  kmb_buffers *set = NULL;
  d.name = "x";
  d.role = role;
  d.dtype = KMB_F32;
  d.bytes = 4096;
  REQUIRE_OK(kmb_buffers_create(on, &d, sizeof d, 1, NULL, &set));
  return set;
}

#define REFUSE(status, words, change)     \
  do {                                    \
    kmb_bench_params p = good();          \
    change;                               \
    refused(&p, KMB_ERR_##status, words); \
  } while (0)

#define ACCEPT(change)           \
  do {                           \
    kmb_bench_params p = good(); \
    change;                      \
    accepted(&p);                \
  } while (0)

static kmb_bench_params completed(const kmb_bench_params *given) {
  kmbi_run run = {.device = device};
  REQUIRE_OK(kmbi_bench_params(given, true, &run));
  return run.p;
}

static void numbers_must_be_finite_and_in_range(void) {
  REFUSE(INVALID, "tolerance", p.tolerance = -1);
  REFUSE(INVALID, "tolerance", p.tolerance = NAN);
  REFUSE(INVALID, "target_pct", p.target_pct = -1e-9);
  REFUSE(INVALID, "target_pct is over 100", p.target_pct = 100.5);
  REFUSE(INVALID, "min_wall_ns", p.min_wall_ns = INFINITY);
  REFUSE(INVALID, "max_wall_ns", p.max_wall_ns = -1);
  REFUSE(INVALID, "warmup_ns", p.warmup_ns = -1);
  REFUSE(INVALID, "idle_ns", p.idle_ns = NAN);
  ACCEPT(p.target_pct = 100);
}

static void counts_must_be_in_range(void) {
  const uint64_t more = (UINT64_C(1) << 32) + 1;
  REFUSE(INVALID, "out of range", p.batch = more);
  REFUSE(INVALID, "out of range", p.max_samples = more);
  REFUSE(INVALID, "out of range", p.min_samples = more);
  REFUSE(INVALID, "out of range", p.rounds = 1001);
  /* As many samples as are wanted at most are enough. */
  ACCEPT(p.min_samples = more - 1);
  ACCEPT(p.rounds = 2);
  ACCEPT(p.rounds = 1000);
  kmb_bench_params p = good();
  p.batch = p.max_samples = more - 1;
  REQUIRE_EQ(completed(&p).batch, more - 1);
}

static void choices_must_be_known(void) {
  REFUSE(INVALID, "no timer -1", p.timer = -1);
  REFUSE(INVALID, "no timer 5", p.timer = 5);
  REFUSE(INVALID, "no launch mode -1", p.launch_mode = -1);
  REFUSE(INVALID, "no launch mode 3", p.launch_mode = 3);
  REFUSE(INVALID, "no cache state -1", p.cache = -1);
  REFUSE(INVALID, "no cache state 4", p.cache = 4);
  REFUSE(UNSUPPORTED, "0x1000", p.flags |= 1u << 12);
  REFUSE(UNSUPPORTED, "reserved", p.reserved = 1);
  ACCEPT(p.timer = KMB_TIMER_HOST);
  ACCEPT(p.launch_mode = KMB_LAUNCH_PLAIN);
  ACCEPT(p.cache = KMB_CACHE_WARM);
}

static void axes_need_keys_and_values(void) {
  const kmb_pair no_key[] = {{"a", "1"}, {NULL, "2"}};
  const kmb_pair empty_key[] = {{"a", "1"}, {"", "2"}};
  const kmb_pair no_value[] = {{"a", "1"}, {"b", NULL}};
  static kmb_pair many[65];
  REFUSE(INVALID, "axis 1", (p.axes = no_key, p.axis_count = 2));
  REFUSE(INVALID, "axis 1", (p.axes = empty_key, p.axis_count = 2));
  REFUSE(INVALID, "axis 1", (p.axes = no_value, p.axis_count = 2));
  REFUSE(INVALID, "axis 0", (p.axes = no_key + 1, p.axis_count = 1));
  REFUSE(INVALID, "axes is NULL", p.axis_count = 1);
  static char keys[65][4];
  for (int i = 0; i < 65; i++) {
    snprintf(keys[i], sizeof keys[i], "k%d", i);
    many[i] = (kmb_pair){keys[i], "v"};
  }
  const kmb_pair twice[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  REFUSE(INVALID, "axes 0 and 2 have the same key",
         (p.axes = twice, p.axis_count = 3));
  const kmb_pair last[] = {{"a", "1"}, {"b", "2"}, {"b", "3"}};
  const kmb_pair two[] = {{"a", "1"}, {"a", "2"}};
  REFUSE(INVALID, "axes 1 and 2", (p.axes = last, p.axis_count = 3));
  REFUSE(INVALID, "axes 0 and 1", (p.axes = two, p.axis_count = 2));
  REFUSE(INVALID, "more than 64", (p.axes = many, p.axis_count = 65));
  ACCEPT((p.axes = many, p.axis_count = 64));
  ACCEPT((p.axes = no_key, p.axis_count = 1));
}

static void callbacks_must_fit_together(void) {
  kmb_buffers *ours = buffers_on(device, KMB_OUTPUT);
  kmb_buffers *theirs = buffers_on(other, KMB_OUTPUT);
  REFUSE(INVALID, "launch is NULL", p.launch = NULL);
  REFUSE(INVALID, "another device", p.buffers = theirs);
  REFUSE(INVALID, "needs buffers", p.check = check);
  REFUSE(UNAVAILABLE, "none is given",
         (p.buffers = ours, p.flags |= KMB_BENCH_REQUIRE_CHECK));
  REFUSE(INVALID, "one iteration", (p.reset = reset, p.batch = 2));
  ACCEPT((p.reset = reset, p.batch = 1));
  ACCEPT((p.reset = reset, p.batch = 0));
  kmb_buffers_destroy(ours);
  kmb_buffers_destroy(theirs);
}

/* A check that is given but has nothing to look at has not run. */
static void a_required_check_must_have_something_to_check(void) {
  kmb_buffers *inputs = buffers_on(device, KMB_INPUT);
  REFUSE(UNAVAILABLE, "no buffer is an output",
         (p.buffers = inputs, p.check = check,
          p.flags |= KMB_BENCH_REQUIRE_CHECK));
  ACCEPT((p.buffers = inputs, p.check = check));
  kmb_buffers_destroy(inputs);
}

/* A struct that ends before its first version does. */
static void structs_have_a_least_size(void) {
  kmb_work w = kmb_work_init();
  kmb_metadata_params m = kmb_metadata_params_init();
  REFUSE(INVALID, "kmb_bench_params: struct_size",
         p.struct_size = offsetof(kmb_bench_params, reserved));
  w.read_bytes = 4096;
  w.dtype = KMB_F32;
  w.struct_size = offsetof(kmb_work, flags);
  REFUSE(INVALID, "kmb_work: struct_size", p.work = &w);
  m.struct_size = offsetof(kmb_metadata_params, flags);
  REFUSE(INVALID, "kmb_metadata_params: struct_size", p.metadata = &m);
}

static void work_must_be_whole(void) {
  kmb_work w = kmb_work_init();
  w.read_bytes = 4096;
  w.dtype = KMB_F32;
  w.struct_size = 8;
  REFUSE(INVALID, "kmb_work", p.work = &w);
  w.struct_size = sizeof w;
  w.flags = 1;
  REFUSE(UNSUPPORTED, "kmb_work: flags", p.work = &w);
  w.flags = 0;
  w.read_bytes = 0;
  REFUSE(INVALID, "", p.work = &w);
  w.read_bytes = 4096;
  ACCEPT((p.work = &w, p.flags |= KMB_BENCH_NO_CEILINGS));
}

static void metadata_must_be_whole(void) {
  const kmb_pair bad[] = {{"a", "1"}, {NULL, "2"}};
  const kmb_pair empty[] = {{"", "1"}};
  static kmb_pair many[1025];
  kmb_metadata_params m = kmb_metadata_params_init();
  m.struct_size = 8;
  REFUSE(INVALID, "kmb_metadata_params", p.metadata = &m);
  m = kmb_metadata_params_init();
  m.flags = 1;
  REFUSE(UNSUPPORTED, "flags", p.metadata = &m);
  m.flags = 0;
  m.tree = -1;
  REFUSE(INVALID, "no tree state -1", p.metadata = &m);
  m.tree = KMB_TREE_DIRTY + 1;
  REFUSE(INVALID, "no tree state", p.metadata = &m);
  m.tree = KMB_TREE_UNKNOWN;
  ACCEPT(p.metadata = &m);
  m.tree = KMB_TREE_DIRTY;
  ACCEPT(p.metadata = &m);
  m.pair_count = 1;
  REFUSE(INVALID, "pairs is NULL", p.metadata = &m);
  m.pairs = bad;
  m.pair_count = 2;
  REFUSE(INVALID, "pair 1", p.metadata = &m);
  m.pairs = empty;
  m.pair_count = 1;
  REFUSE(INVALID, "pair 0", p.metadata = &m);
  for (int i = 0; i < 1025; i++)
    many[i] = (kmb_pair){"k", "v"};
  m.pairs = many;
  m.pair_count = 1025;
  REFUSE(INVALID, "more than 1024", p.metadata = &m);
  m.pair_count = 1024;
  ACCEPT(p.metadata = &m);
  m.pair_count = 0;
  ACCEPT(p.metadata = &m);
}

static void defaults_are_as_documented(void) {
  kmb_bench_params given = kmb_bench_params_init();
  given.launch = launch;
  kmb_bench_params p = completed(&given);
  REQUIRE_STR(p.name, "");
  REQUIRE_NEAR(p.target_pct, 0.5, 0);
  REQUIRE_NEAR(p.min_wall_ns, 25e6, 0);
  REQUIRE_NEAR(p.max_wall_ns, 2e9, 0);
  REQUIRE_NEAR(p.warmup_ns, 100e6, 0);
  REQUIRE_EQ(p.min_samples, 50);
  REQUIRE_EQ(p.max_samples, 1000000);
  REQUIRE_EQ(p.rounds, 1);
  REQUIRE(p.seed != 0);
  given.max_samples = 20;
  REQUIRE_EQ(completed(&given).min_samples, 20);
  REQUIRE_EQ(completed(&given).max_samples, 20);
}

static void what_is_given_is_kept(void) {
  kmb_bench_params given = kmb_bench_params_init();
  given.launch = launch;
  given.name = "n";
  given.target_pct = 3;
  given.min_wall_ns = 5;
  given.max_wall_ns = 6;
  given.warmup_ns = 7;
  given.min_samples = 8;
  given.max_samples = 9;
  given.rounds = 10;
  given.seed = 11;
  kmb_bench_params p = completed(&given);
  REQUIRE_STR(p.name, "n");
  REQUIRE_NEAR(p.target_pct, 3, 0);
  REQUIRE_NEAR(p.min_wall_ns, 5, 0);
  REQUIRE_NEAR(p.max_wall_ns, 6, 0);
  REQUIRE_NEAR(p.warmup_ns, 7, 0);
  REQUIRE_EQ(p.min_samples, 8);
  REQUIRE_EQ(p.max_samples, 9);
  REQUIRE_EQ(p.rounds, 10);
  REQUIRE_EQ(p.seed, 11);
  given.seed = 0;
  given.flags = KMB_BENCH_SEED;
  REQUIRE_EQ(completed(&given).seed, 0);
}

/* With these a measurement stands without counters, and says why. */
static void reasons_are_told_from_failures(void) {
  static const kmb_status reasons[] = {KMB_ERR_BUSY,        KMB_ERR_PERM,
                                       KMB_ERR_UNAVAILABLE, KMB_ERR_UNSUPPORTED,
                                       KMB_ERR_CAPTURE,     KMB_ERR_INVALID,
                                       KMB_ERR_VENDOR};
  static const kmb_status failures[] = {KMB_ERR_NOMEM, KMB_ERR_LOST,
                                        KMB_ERR_CANCELLED, 42};
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    REQUIRE(kmbi_is_reason(reasons[i]));
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
    REQUIRE(!kmbi_is_reason(failures[i]));
}

static void no_rate_is_of_a_time_of_zero(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_run run = {.choice = {.timer = KMB_TIMER_TRACE}};
  double rate = 0;
  REQUIRE_OK(kmbi_result_create(&memory, &run.result));
  kmbi_result_set_f64(run.result, KMB_VALUE_DRAM_READ, 100);
  kmbi_result_set_f64(run.result, KMB_VALUE_DRAM_WRITE, 20);
  kmbi_set_dram_rate(&run, 0);
  REQUIRE_STATUS(kmb_result_f64(run.result, KMB_VALUE_DRAM_RATE, &rate),
                 KMB_ERR_UNAVAILABLE);
  kmbi_set_dram_rate(&run, 2);
  REQUIRE_OK(kmb_result_f64(run.result, KMB_VALUE_DRAM_RATE, &rate));
  REQUIRE_NEAR(rate, 6e10, 1);
  kmb_result_destroy(run.result);
}

int main(void) {
  kmb_device_params small = kmb_device_params_init();
  small.llc_bytes = 8192;
  REQUIRE_OK(kmb_device_open("host", &small, &device));
  REQUIRE_OK(kmb_device_open("host", &small, &other));
  RUN(numbers_must_be_finite_and_in_range);
  RUN(counts_must_be_in_range);
  RUN(choices_must_be_known);
  RUN(axes_need_keys_and_values);
  RUN(callbacks_must_fit_together);
  RUN(a_required_check_must_have_something_to_check);
  RUN(structs_have_a_least_size);
  RUN(work_must_be_whole);
  RUN(metadata_must_be_whole);
  RUN(reasons_are_told_from_failures);
  RUN(no_rate_is_of_a_time_of_zero);
  RUN(defaults_are_as_documented);
  RUN(what_is_given_is_kept);
  kmb_device_close(device);
  kmb_device_close(other);
  return 0;
}
