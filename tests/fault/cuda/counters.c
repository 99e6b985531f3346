/* Hardware counters on the virtual GPU, whose profiler is strict about the
 * order of calls, about work that has not ended and about tracing beside it. */
#include "alone.h"
#include "bed.h"

#include <math.h>

enum { COUNT = 8192, BYTES = 4 * COUNT }; /* in an L2 of 256 KiB */

typedef struct job {
  bed b;
  add a;
  kmb_buffers *buffers;
  kmb_bench_params bench;
  kmb_counters_params params;
  kmb_counters *counters;
} job;

static void start(job *j, kmb_cache_state cache) {
  memset(j, 0, sizeof *j);
  bed_start(&j->b);
  j->a = (add){&j->b, bed_kernel(&j->b, "test_add"), COUNT};
  j->buffers = bed_add_buffers(&j->b, COUNT);
  REQUIRE(j->buffers);
  j->bench = bed_params(0, 0, cache);
  j->bench.launch = bed_launch_add;
  j->bench.launch_user = &j->a;
  j->bench.buffers = j->buffers;
  j->params = kmb_counters_params_init();
}

static void end(job *j) {
  kmb_counters_destroy(j->counters);
  kmb_buffers_destroy(j->buffers);
  bed_end(&j->b);
}

static kmb_status read_counters(job *j) {
  kmb_counters_destroy(j->counters);
  return kmb_counters_read(j->b.device, &j->bench, &j->params, &j->counters);
}

static double value(const job *j, uint64_t row, uint64_t metric) {
  double number = 0;
  REQUIRE_OK(kmb_counters_value(j->counters, row, metric, &number));
  return number;
}

static kmb_counters_info info(const job *j) {
  kmb_counters_info i = kmb_counters_info_init();
  REQUIRE_OK(kmb_counters_get_info(j->counters, &i));
  return i;
}

static const char *name(const job *j, uint64_t row) {
  const char *text = NULL;
  REQUIRE_OK(kmb_counters_name(j->counters, row, &text));
  return text;
}

static void refused(job *j, kmb_status status, const char *why) {
  kmb_status got = read_counters(j);
  if (got != status || !strstr(kmb_last_error(NULL, NULL), why))
    fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  REQUIRE_EQ(got, status);
  REQUIRE(!j->counters);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
}

/* What goes through callbacks: several kernels a launch. */
typedef struct several {
  bed *b;
  kmbi_cu_function add, spin;
  unsigned adds;
  kmbi_cu_stream side; /* the spin's; NULL: the launch's */
  unsigned launches, resets;
} several;

static kmb_status launch_several(void *user, const kmb_launch *launch) {
  several *s = user;
  add a = {s->b, s->add, COUNT};
  uint64_t cycles = 1000, out = 0;
  void *arguments[] = {&cycles, &out};
  s->launches++;
  if (s->b->cu.cuLaunchKernel(s->spin, 1, 1, 1, 1, 1, 1, 0,
                              s->side ? s->side : launch->stream, arguments,
                              NULL))
    return KMB_ERR_VENDOR;
  for (unsigned i = 0; i < s->adds; i++)
    if (bed_launch_add(&a, launch)) return KMB_ERR_VENDOR;
  return KMB_OK;
}

static void start_several(job *j, several *s, unsigned adds) {
  start(j, KMB_CACHE_COLD);
  *s = (several){&j->b,
                 bed_kernel(&j->b, "test_add"),
                 bed_kernel(&j->b, "test_spin"),
                 adds,
                 NULL,
                 0,
                 0};
  j->bench.launch = launch_several;
  j->bench.launch_user = s;
}

static void counters_belong_to_the_cold_state(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_counters(&j));
  kmb_counters_info i = info(&j);
  REQUIRE_EQ(i.passes, 9);
  REQUIRE_EQ(i.taken, 9);
  REQUIRE_EQ(i.kernels, 1);
  REQUIRE_EQ(i.matched, 1);
  REQUIRE_EQ(i.replay, KMB_REPLAY_LAUNCH);
  REQUIRE_EQ(i.cache, KMB_CACHE_COLD);
  REQUIRE_STR(i.mode, "auto range, user replay");
  REQUIRE_EQ(kmb_counters_row_count(j.counters), 1);
  REQUIRE_STR(name(&j, 0), "test_add");
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  /* A read sweep leaves nothing to be written back. */
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_WRITE), 0, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_L2_HIT), 0, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_COMPUTE), 12, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_MEMORY), 36, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_MEM_ISSUE), 9, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_OCCUPANCY), 66, 0);
  end(&j);
}

/* Which no replay of kernels can show. */
static void counters_belong_to_the_warm_state(void) {
  job j;
  start(&j, KMB_CACHE_WARM);
  REQUIRE_OK(read_counters(&j));
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), 0, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_L2_HIT), 100, 0);
  REQUIRE_EQ(info(&j).cache, KMB_CACHE_WARM);
  /* The first pass as the last: of both states. */
  j.params.replay = KMB_REPLAY_KERNEL;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_STR(info(&j).mode, "auto range, kernel replay");
  REQUIRE_EQ(info(&j).taken, 1);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  end(&j);
}

static void counters_belong_to_the_rotated_state(void) {
  job j;
  start(&j, KMB_CACHE_ROTATED);
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).cache, KMB_CACHE_ROTATED);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  /* Outputs of the iterations before are written back. */
  REQUIRE(value(&j, 0, KMB_COUNTERS_SOL_DRAM_WRITE) > 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_L2_HIT), 0, 0);
  end(&j);
}

static void fewest_metrics_need_fewest_passes(void) {
  static const char *const one[] = {"dram__bytes_read.sum"};
  job j;
  start(&j, KMB_CACHE_COLD);
  j.params.metrics = one;
  j.params.metric_count = 1;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).passes, 1);
  REQUIRE_EQ(info(&j).taken, 1);
  REQUIRE_NEAR(value(&j, 0, 0), BYTES, 0);
  double number = 0;
  REQUIRE_STATUS(kmb_counters_value(j.counters, 0, 1, &number),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_counters_value(j.counters, 1, 0, &number),
                 KMB_ERR_INVALID);
  end(&j);
}

static void an_unknown_metric_is_named(void) {
  static const char *const some[] = {"dram__bytes_read.sum", "sm__nonsense.sum",
                                     "lts__t_sector_hit_rate.pct"};
  static const char *const launch[] = {"launch__registers_per_thread"};
  job j;
  start(&j, KMB_CACHE_COLD);
  j.params.metrics = some;
  j.params.metric_count = 3;
  refused(&j, KMB_ERR_INVALID, "GH100 has no metric \"sm__nonsense.sum\"");
  j.params.metrics = launch;
  j.params.metric_count = 1;
  refused(&j, KMB_ERR_INVALID, "what a launch is like is no counter");
  /* Nothing of it stays. */
  j.params.metrics = NULL;
  j.params.metric_count = 0;
  REQUIRE_OK(read_counters(&j));
  end(&j);
}

/* A log hook of its own. */
static char said[256];
static void hear(void *user, kmb_log_level level, const char *message) {
  (void)user;
  if (level == KMB_LOG_INFO && strstr(message, "counters:"))
    snprintf(said, sizeof said, "%s", message);
}

static void passes_are_said_before_any_is_run(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  kmb_buffers_destroy(j.buffers);
  bed_close(&j.b); /* again, with the log */
  kmb_hooks hooks = heap_hooks(&j.b.memory);
  kmb_device_params device = kmb_device_params_init();
  hooks.log = hear;
  device.hooks = &hooks;
  j.buffers = NULL;
  j.bench.buffers = NULL;
  spin s = bed_spin(&j.b, 5, 1);
  j.bench.launch = bed_launch_spin;
  j.bench.launch_user = &s;
  REQUIRE_OK(kmb_device_open("cuda:0", &device, &j.b.device));
  j.params.flags = KMB_COUNTERS_LIST;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_HAS(said, "9 metrics need 9 passes of 1 kernels");
  REQUIRE_EQ(info(&j).passes, 9);
  REQUIRE_EQ(info(&j).taken, 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiRangeProfilerEnable), 0);
  REQUIRE_STR(name(&j, 0), "test_spin");
  double number = 0;
  REQUIRE_STATUS(kmb_counters_value(j.counters, 0, 0, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "KMB_COUNTERS_LIST");
  end(&j);
}

static void matching_launches_are_counted_not_iterations(void) {
  job j;
  several s;
  start_several(&j, &s, 3);
  j.params.kernel = "^test_(add|sub)$";
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).kernels, 4);
  REQUIRE_EQ(info(&j).matched, 3);
  REQUIRE_EQ(kmb_counters_row_count(j.counters), 3);
  /* The first of them finds its input cold, the others do not. */
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  REQUIRE_NEAR(value(&j, 1, KMB_COUNTERS_SOL_DRAM_READ), 0, 0);
  j.params.skip = 1;
  j.params.count = 1;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(kmb_counters_row_count(j.counters), 1);
  REQUIRE_STR(name(&j, 0), "test_add");
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), 0, 0);
  j.params.skip = 0;
  j.params.kernel = NULL;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_STR(name(&j, 0), "test_spin");
  /* A kernel that reads nothing has no rate of hits. */
  double number = 0;
  REQUIRE_STATUS(
      kmb_counters_value(j.counters, 0, KMB_COUNTERS_SOL_L2_HIT, &number),
      KMB_ERR_UNAVAILABLE);
  end(&j);
}

static void a_filter_that_matches_nothing_names_what_was_seen(void) {
  job j;
  several s;
  start_several(&j, &s, 2);
  j.params.kernel = "gemm";
  refused(&j, KMB_ERR_INVALID,
          "\"gemm\" matches none of the 3 kernels seen: test_spin, test_add");
  REQUIRE(!strstr(kmb_last_error(NULL, NULL), "test_add, "));
  j.params.kernel = "test";
  j.params.skip = 3;
  refused(&j, KMB_ERR_INVALID, "3 launches match, and skip passes over 3");
  j.params.kernel = "(test";
  refused(&j, KMB_ERR_INVALID, "no POSIX extended regular expression");
  end(&j);
}

static void a_graph_is_read_as_a_whole(void) {
  job j;
  several s;
  start_several(&j, &s, 2);
  j.bench.launch_mode = KMB_LAUNCH_GRAPH;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).replay, KMB_REPLAY_GRAPH);
  REQUIRE_STR(info(&j).mode, "user range over a graph, user replay");
  REQUIRE_EQ(kmb_counters_row_count(j.counters), 1);
  REQUIRE_EQ(info(&j).kernels, 3);
  REQUIRE_STR(name(&j, 0), "(iteration)");
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  j.params.kernel = "test_add";
  refused(&j, KMB_ERR_UNSUPPORTED, "one range");
  j.params.kernel = NULL;
  j.params.replay = KMB_REPLAY_LAUNCH;
  refused(&j, KMB_ERR_UNSUPPORTED, "KMB_REPLAY_GRAPH");
  /* Plain launches can be read so too. */
  j.bench.launch_mode = 0;
  j.params.replay = KMB_REPLAY_GRAPH;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_STR(info(&j).mode, "user range, user replay");
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  end(&j);
}

static kmb_status count_reset(void *user, uint32_t slot, void *stream) {
  several *s = user;
  (void)slot;
  (void)stream;
  s->resets++;
  return KMB_OK;
}

/* One launch to list, one to ask the driver, one a pass; warm, another one
 * before it. */
static void each_pass_resets_and_launches_once(void) {
  job j;
  several s;
  start_several(&j, &s, 1);
  j.bench.reset = count_reset;
  j.bench.reset_user = &s;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(s.launches, 2 + 9);
  REQUIRE_EQ(s.resets, 2 + 9);
  s.launches = 0;
  j.params.replay = KMB_REPLAY_KERNEL;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(s.launches, 2);
  end(&j);
}

static kmb_status refuse(void *user, const kmb_launch *launch) {
  several *s = user;
  if (s->launches == s->adds) return 42;
  s->launches++;
  add a = {s->b, s->add, COUNT};
  return bed_launch_add(&a, launch);
}

static void a_callbacks_failure_comes_back(void) {
  job j;
  several s;
  start_several(&j, &s, 3);
  j.bench.launch = refuse;
  REQUIRE_EQ(read_counters(&j), 42);
  REQUIRE_EQ(sim_calls(SIM_cuptiRangeProfilerStop),
             sim_calls(SIM_cuptiRangeProfilerStart));
  s.launches = 0;
  s.adds = 1000;
  REQUIRE_OK(read_counters(&j));
  end(&j);
}

static void missing_privileges_say_what_to_do(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  sim_set()->counters_refused = KMBI_CUPTI_INSUFFICIENT_PRIVILEGES;
  refused(&j, KMB_ERR_PERM, "NVreg_RestrictProfilingToAdminUsers=0");
  sim_set()->counters_refused = 0;
  REQUIRE_OK(read_counters(&j));
  end(&j);
}

static void busy_counters_are_busy(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  sim_set()->counters_refused = KMBI_CUPTI_HARDWARE_BUSY;
  refused(&j, KMB_ERR_BUSY, "DCGM");
  sim_set()->counters_refused = 0;
  sim_set()->other_subscriber = true;
  refused(&j, KMB_ERR_BUSY, "another tool");
  sim_set()->other_subscriber = false;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  REQUIRE_OK(kmb_trace_begin(j.b.device, NULL, &recording));
  refused(&j, KMB_ERR_BUSY, "in use");
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  kmb_trace_destroy(trace);
  end(&j);
}

static void an_unsupported_chip_says_why(void) {
  static const char *const why[] = {"architecture", "SLI",    "virtual GPU",
                                    "confidential", "mining", "WSL"};
  job j;
  start(&j, KMB_CACHE_COLD);
  for (unsigned i = 0; i < 6; i++) {
    sim_set()->unsupported = i + 1;
    refused(&j, KMB_ERR_UNSUPPORTED, why[i]);
  }
  sim_set()->unsupported = 0;
  sim_set()->vgpu_disabled = true;
  refused(&j, KMB_ERR_UNSUPPORTED, "hypervisor");
  sim_set()->vgpu_disabled = false;
  REQUIRE_OK(read_counters(&j));
  end(&j);
}

static void kernels_on_several_streams_are_not_told_apart(void) {
  job j;
  several s;
  start_several(&j, &s, 1);
  s.side = j.b.stream;
  refused(&j, KMB_ERR_UNSUPPORTED, "several streams");
  end(&j);
}

static void what_the_trace_did_not_show_is_an_error(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  sim_set()->one_range_more = true;
  refused(&j, KMB_ERR_VENDOR, "dropped 1");
  sim_set()->one_range_more = false;
  sim_set()->endless = true;
  refused(&j, KMB_ERR_VENDOR, "asks for more");
  sim_set()->endless = false;
  REQUIRE_OK(read_counters(&j));
  end(&j);
}

/* What needs no device is kept for the same metrics. */
static void a_second_call_makes_no_new_setting(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_counters(&j));
  uint64_t made = sim_calls(SIM_cuptiProfilerHostInitialize);
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostInitialize), made);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  static const char *const one[] = {"dram__bytes_read.sum"};
  j.params.metrics = one;
  j.params.metric_count = 1;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).passes, 1);
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostInitialize), made + 1);
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostDeinitialize), made);
  /* As many metrics, but another. */
  static const char *const hits[] = {"lts__t_sector_hit_rate.pct"};
  j.params.metrics = hits;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).passes, 2);
  REQUIRE_NEAR(value(&j, 0, 0), 0, 0);
  end(&j);
}

static void parameters_are_checked(void) {
  static const char *const empty[] = {""};
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_STATUS(kmb_counters_read(j.b.device, &j.bench, NULL, NULL),
                 KMB_ERR_INVALID);
  j.params.metrics = empty;
  refused(&j, KMB_ERR_INVALID, "go together");
  j.params.metric_count = 1;
  refused(&j, KMB_ERR_INVALID, "metric 0 has no name");
  j.params = kmb_counters_params_init();
  j.params.flags = 8;
  refused(&j, KMB_ERR_UNSUPPORTED, "flag");
  j.params.flags = 0;
  j.params.replay = 9;
  refused(&j, KMB_ERR_UNSUPPORTED, "replay");
  j.params.replay = 0;
  j.params.struct_size = 8;
  refused(&j, KMB_ERR_INVALID, "struct_size");
  REQUIRE_EQ(kmb_counters_row_count(NULL), 0);
  REQUIRE_STATUS(kmb_counters_get_info(NULL, NULL), KMB_ERR_INVALID);
  kmb_counters_destroy(NULL);
  end(&j);
}

static void a_host_has_no_counters(void) {
  job j;
  kmb_device *host = NULL;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(kmb_device_open("host", NULL, &host));
  j.bench.buffers = NULL;
  j.bench.cache = KMB_CACHE_WARM;
  REQUIRE_STATUS(kmb_counters_read(host, &j.bench, NULL, &j.counters),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "host has no hardware counters");
  kmb_device_close(host);
  end(&j);
}

/* Each allocation fails once, in turn, those of a setting that is kept for the
 * next time too: a clean status, nothing leaked, and then it works. */
static void each_allocation_may_fail(void) {
  static const char *const other[] = {"dram__bytes_read.sum"};
  job j;
  start(&j, KMB_CACHE_COLD);
  kmb_status status = KMB_ERR_NOMEM;
  uint64_t failures = 0;
  for (uint64_t k = 1; status; k += heap_step()) {
    j.params.metrics = other;
    j.params.metric_count = 1;
    REQUIRE_OK(read_counters(&j));
    j.params.metrics = NULL;
    j.params.metric_count = 0;
    kmb_counters_destroy(j.counters);
    j.counters = NULL;
    j.b.memory.fail_at = j.b.memory.calls + k;
    status = read_counters(&j);
    j.b.memory.fail_at = 0;
    failures += status != KMB_OK;
    if (status) REQUIRE_EQ(status, KMB_ERR_NOMEM);
    if (status) REQUIRE(!j.counters);
  }
  REQUIRE(failures > 10 || heap_step() > 1);
  end(&j);
}

/* With a measurement. */

static kmb_result *bench(job *j, uint32_t flags) {
  kmb_result *r = NULL;
  j->bench.flags |= flags;
  REQUIRE_OK(kmb_bench(j->b.device, &j->bench, &r));
  return r;
}

static void absent(const kmb_result *r, kmb_value value, const char *why) {
  double f64 = 0;
  uint64_t u64 = 0;
  kmb_status status = value == KMB_VALUE_COUNTER_PASSES
                          ? kmb_result_u64(r, value, &u64)
                          : kmb_result_f64(r, value, &f64);
  REQUIRE_EQ(status, KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
}

static void confirm_cold_tells_cold_from_warm(void) {
  static const kmb_cache_state states[] = {KMB_CACHE_COLD, KMB_CACHE_ROTATED,
                                           KMB_CACHE_WARM};
  for (int i = 0; i < 3; i++) {
    job j;
    start(&j, states[i]);
    kmb_result *r = bench(&j, KMB_BENCH_CONFIRM_COLD);
    bool warm = states[i] == KMB_CACHE_WARM;
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_COLD_RATIO), warm ? 0 : 1, 0.001);
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_READ), warm ? 0 : BYTES, 0);
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_COUNTER_PASSES), 1);
    REQUIRE_STR(bed_text(r, KMB_VALUE_COUNTER_MODE), "auto range, user replay");
    REQUIRE_HAS(bed_text(r, KMB_VALUE_CACHE_PROOF),
                warm ? "counters: 0.000" : "counters: 1.000");
    REQUIRE(!bed_finding(r, KMB_FINDING_NOT_COLD));
    REQUIRE(!bed_finding(r, KMB_FINDING_NOT_WARM));
    kmb_result_destroy(r);
    end(&j);
  }
}

static kmb_status launch_copy(void *user, const kmb_launch *l) {
  const bed *b = user;
  unsigned result =
      b->cu.cuMemcpyDtoDAsync((kmbi_cu_pointer)l->args[1],
                              (kmbi_cu_pointer)l->args[0], BYTES, l->stream);
  return result ? KMB_ERR_VENDOR : KMB_OK;
}

/* They are no ranges of their own. */
static void copies_alone_are_read_as_a_whole(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  j.bench.launch = launch_copy;
  j.bench.launch_user = &j.b;
  kmb_result *r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_COLD_RATIO), 1, 0.001);
  REQUIRE_STR(bed_text(r, KMB_VALUE_COUNTER_MODE), "user range, user replay");
  kmb_result_destroy(r);
  r = bench(&j, KMB_BENCH_COUNTERS); /* of a copy's launch nothing is known */
  absent(r, KMB_VALUE_THEORETICAL, "");
  kmb_result_destroy(r);
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).kernels, 0);
  REQUIRE_STR(name(&j, 0), "(iteration)");
  j.params.kernel = "copy";
  refused(&j, KMB_ERR_UNAVAILABLE, "no kernel");
  j.params.kernel = NULL;
  j.params.replay = KMB_REPLAY_LAUNCH;
  refused(&j, KMB_ERR_UNAVAILABLE, "no kernel");
  end(&j);
}

/* A cache that is said to be `llc` bytes large. */
static void start_with(job *j, kmb_cache_state cache, uint64_t llc,
                       uint32_t count) {
  kmb_device_params params = kmb_device_params_init();
  kmb_hooks hooks = heap_hooks(&j->b.memory);
  start(j, cache);
  kmb_buffers_destroy(j->buffers);
  bed_close(&j->b);
  hooks.alloc_user = &j->b.memory;
  params.hooks = &hooks;
  params.llc_bytes = llc;
  REQUIRE_OK(kmb_device_open("cuda:0", &params, &j->b.device));
  j->a.count = count;
  j->buffers = bed_add_buffers(&j->b, count);
  j->bench.buffers = j->buffers;
}

static void what_is_not_cold_is_found_by_its_bytes(void) {
  job j;
  start_with(&j, KMB_CACHE_COLD, 4096, COUNT);
  kmb_result *r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_COLD_RATIO), 0, 0.001);
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_NOT_COLD), "hardware counters");
  kmb_result_destroy(r);
  end(&j);
  start_with(&j, KMB_CACHE_WARM, 64 << 20, 32 * COUNT);
  r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_COLD_RATIO), 1, 0.001);
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_NOT_WARM), "hardware counters");
  kmb_result_destroy(r);
  end(&j);
}

static void the_preset_goes_into_the_result(void) {
  job j;
  several s;
  start_several(&j, &s, 1);
  j.bench.launch_mode = KMB_LAUNCH_PLAIN;
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_COUNTER_PASSES), 9);
  /* The one that takes longest. */
  REQUIRE_STR(bed_text(r, KMB_VALUE_COUNTER_KERNEL), "test_add");
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_NCU_COMPUTE), 12, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_NCU_MEMORY), 36, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_NCU_MEM_BUSY), 36, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_NCU_BANDWIDTH), 36, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_NCU_MEM_PIPES), 9, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_OCCUPANCY), 66, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_L2_HIT), 0, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_WRITE), 0, 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_RATE),
               BYTES / (bed_f64(r, KMB_VALUE_TIME) * 1e-9), 1);
  kmb_result_destroy(r);
  /* Of a graph bytes alone mean something. */
  j.bench.launch_mode = KMB_LAUNCH_GRAPH;
  j.bench.timer = KMB_TIMER_HOST;
  r = bench(&j, KMB_BENCH_COUNTERS);
  REQUIRE_STR(bed_text(r, KMB_VALUE_COUNTER_MODE),
              "user range over a graph, user replay");
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_READ), BYTES, 0);
  absent(r, KMB_VALUE_NCU_COMPUTE, "whole iteration");
  absent(r, KMB_VALUE_DRAM_RATE, "TRACE alone");
  kmb_result_destroy(r);
  end(&j);
}

/* The longest is the first of those that are as long. */
static void the_longest_kernel_is_named(void) {
  job j;
  several s;
  start_several(&j, &s, 3);
  j.bench.launch_mode = KMB_LAUNCH_PLAIN;
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  REQUIRE_STR(bed_text(r, KMB_VALUE_COUNTER_KERNEL), "test_add");
  kmb_result_destroy(r);
  end(&j);
}

/* It is the callback's failure, not a reason that the machine has. */
static void a_callback_may_fail_while_counters_are_read(void) {
  job j;
  several s;
  kmb_result *r = NULL;
  start_several(&j, &s, 1u << 30);
  j.bench.launch = refuse;
  j.bench.launch_mode = KMB_LAUNCH_PLAIN;
  for (int i = 0; i < 2; i++) { /* the first calibrates */
    s.launches = 0;
    r = bench(&j, KMB_BENCH_COUNTERS);
    kmb_result_destroy(r);
  }
  unsigned all = s.launches;
  s.launches = 0;
  s.adds = all - 1; /* the last one */
  REQUIRE_STATUS(kmb_bench(j.b.device, &j.bench, &r), 42);
  REQUIRE_EQ(s.launches, all - 1);
  end(&j);
}

/* Inputs are what is read and not kept warm, each once; one that is written too
 * is among them. */
static void the_cold_ratio_is_of_cold_inputs(void) {
  job j;
  kmb_buffer_desc d[4];
  start(&j, KMB_CACHE_COLD);
  for (int i = 0; i < 4; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = (const char *[]){"from", "to", "warm", "again"}[i];
    d[i].role = i == 1 ? KMB_INOUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = BYTES;
  }
  d[2].residency = KMB_RESIDENT_WARM;
  d[3].flags = KMB_BUFFER_ALIAS;
  d[3].alias_of = 0;
  kmb_buffers_destroy(j.buffers);
  REQUIRE_OK(
      kmb_buffers_create(j.b.device, d, sizeof d[0], 4, NULL, &j.buffers));
  j.bench.buffers = j.buffers;
  kmb_result *r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  /* "from" is read, "to" is not, though it says so. */
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_COLD_RATIO), 0.5, 0.001);
  kmb_result_destroy(r);
  end(&j);
}

/* Both ways count: what was read, and the outputs of before that went. */
static void the_rate_of_dram_counts_both_ways(void) {
  job j;
  start(&j, KMB_CACHE_ROTATED);
  j.bench.launch_mode = KMB_LAUNCH_PLAIN;
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  double out = bed_f64(r, KMB_VALUE_DRAM_WRITE);
  REQUIRE(out > 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_RATE),
               (BYTES + out) / (bed_f64(r, KMB_VALUE_TIME) * 1e-9), 1);
  kmb_result_destroy(r);
  end(&j);
}

static void a_measurement_stands_without_counters(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  sim_set()->counters_refused = KMBI_CUPTI_INSUFFICIENT_PRIVILEGES;
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  REQUIRE(bed_f64(r, KMB_VALUE_TIME) > 0);
  absent(r, KMB_VALUE_COUNTER_PASSES, "NVreg_RestrictProfilingToAdminUsers");
  absent(r, KMB_VALUE_COLD_RATIO, "root");
  absent(r, KMB_VALUE_NCU_MEMORY, "root");
  REQUIRE(strncmp(bed_text(r, KMB_VALUE_CACHE_PROOF), "counters", 8) != 0);
  kmb_result_destroy(r);
  j.bench.flags &= ~(uint32_t)KMB_BENCH_COUNTERS;
  r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  absent(r, KMB_VALUE_COLD_RATIO, "root");
  kmb_result_destroy(r);
  sim_set()->counters_refused = 0;
  static const sim_function calls[] = {SIM_cuptiRangeProfilerEnable,
                                       SIM_cuptiRangeProfilerStart,
                                       SIM_cuptiRangeProfilerStop};
  for (int i = 0; i < 3; i++) {
    sim_fail(calls[i], 1, 999);
    r = bench(&j, KMB_BENCH_CONFIRM_COLD);
    absent(r, KMB_VALUE_COLD_RATIO, "999");
    kmb_result_destroy(r);
  }
  j.bench.flags &= ~(uint32_t)KMB_BENCH_CONFIRM_COLD;
  /* Nobody asked: nothing is read. */
  uint64_t enabled = sim_calls(SIM_cuptiRangeProfilerEnable);
  r = bench(&j, 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiRangeProfilerEnable), enabled);
  kmb_result_destroy(r);
  /* Without inputs there is no ratio, but there are bytes. */
  spin s = bed_spin(&j.b, 5, 1);
  j.bench.buffers = NULL;
  j.bench.launch = bed_launch_spin;
  j.bench.launch_user = &s;
  r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_READ), 0, 0);
  absent(r, KMB_VALUE_COLD_RATIO, "no buffers with inputs");
  kmb_result_destroy(r);
  end(&j);
}

/* The ceilings are far above what a small kernel reaches. */
static kmb_result *read_work(job *j, double sm, double memory,
                             uint64_t read_bytes) {
  kmb_work work = kmb_work_init();
  kmb_ceiling ceiling = kmb_ceiling_init();
  work.read_bytes = read_bytes;
  work.write_bytes = BYTES;
  work.dtype = KMB_F32;
  ceiling.kind = KMB_CEILING_COPY;
  ceiling.value = 4.8e12;
  ceiling.source = KMB_SOURCE_CALLER;
  j->bench.work = &work;
  j->bench.memory_ceiling = &ceiling;
  sim_set()->compute_pct = sm;
  sim_set()->memory_pct = memory;
  return bench(j, KMB_BENCH_COUNTERS);
}

static void the_reading_uses_counters(void) {
  static const struct {
    double sm, memory;
    const char *said;
  } cases[] = {{60, 30, "High Compute Throughput"},
               {30, 60, "High Memory Throughput"},
               {65, 74, "Balanced Throughput"},
               {65, 75, "High Memory Throughput"},
               {79, 80, "a unit is near its own peak"},
               {80, 10, "a unit is near its own peak"}};
  job j;
  start(&j, KMB_CACHE_COLD);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmb_result *r = read_work(&j, cases[i].sm, cases[i].memory, BYTES);
    const char *reading = bed_text(r, KMB_VALUE_READING);
    REQUIRE_EQ(strncmp(reading, "does not match the prediction: memory", 37),
               0);
    REQUIRE_HAS(reading, cases[i].said);
    REQUIRE(!strstr(reading, "only counters could tell"));
    REQUIRE(!strstr(reading, "more traffic"));
    kmb_result_destroy(r);
  }
  end(&j);
}

static void the_reading_has_memory_and_occupancy(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  kmb_result *r = read_work(&j, 12, 36, BYTES / 4);
  const char *memory = bed_text(r, KMB_VALUE_READING_MEMORY);
  REQUIRE_HAS(memory, "DRAM 0.03277 MB read (4 times the least), 0 MB written");
  REQUIRE_HAS(memory, "L2 hit rate 0");
  REQUIRE_HAS(memory, "ncu's Mem Busy 36");
  REQUIRE_HAS(memory, "Mem Pipes Busy 9");
  REQUIRE_HAS(memory, "percentages of test_add");
  REQUIRE_HAS(bed_text(r, KMB_VALUE_READING_OCCUPANCY), "66");
  REQUIRE_HAS(bed_text(r, KMB_VALUE_READING), "more traffic than the least: 4");
  kmb_result_destroy(r);
  end(&j);
}

/* One pass tells bytes alone. */
static void the_reading_says_what_was_not_counted(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  sim_set()->counters_refused = KMBI_CUPTI_HARDWARE_BUSY;
  kmb_result *r = read_work(&j, 12, 36, BYTES);
  const char *text = NULL;
  REQUIRE_STATUS(kmb_result_text(r, KMB_VALUE_READING_MEMORY, &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no hardware counters");
  REQUIRE_HAS(bed_text(r, KMB_VALUE_READING), "only counters could tell");
  kmb_result_destroy(r);
  end(&j);
}

int main(void) {
  RUN(counters_belong_to_the_cold_state);
  RUN(counters_belong_to_the_warm_state);
  RUN(counters_belong_to_the_rotated_state);
  RUN(fewest_metrics_need_fewest_passes);
  RUN(an_unknown_metric_is_named);
  RUN(passes_are_said_before_any_is_run);
  RUN(matching_launches_are_counted_not_iterations);
  RUN(a_filter_that_matches_nothing_names_what_was_seen);
  RUN(a_graph_is_read_as_a_whole);
  RUN(each_pass_resets_and_launches_once);
  RUN(a_callbacks_failure_comes_back);
  RUN(missing_privileges_say_what_to_do);
  RUN(busy_counters_are_busy);
  RUN(an_unsupported_chip_says_why);
  RUN(kernels_on_several_streams_are_not_told_apart);
  RUN(what_the_trace_did_not_show_is_an_error);
  RUN(a_second_call_makes_no_new_setting);
  RUN(parameters_are_checked);
  RUN(a_host_has_no_counters);
  RUN(each_allocation_may_fail);
  RUN(confirm_cold_tells_cold_from_warm);
  RUN(copies_alone_are_read_as_a_whole);
  RUN(what_is_not_cold_is_found_by_its_bytes);
  RUN(the_preset_goes_into_the_result);
  RUN(the_longest_kernel_is_named);
  RUN(a_callback_may_fail_while_counters_are_read);
  RUN(the_cold_ratio_is_of_cold_inputs);
  RUN(the_rate_of_dram_counts_both_ways);
  RUN(a_measurement_stands_without_counters);
  RUN(the_reading_uses_counters);
  RUN(the_reading_has_memory_and_occupancy);
  RUN(the_reading_says_what_was_not_counted);
  return 0;
}
