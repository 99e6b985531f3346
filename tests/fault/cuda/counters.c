/* Hardware counters on the virtual GPU, whose profiler is strict about the
 * order of calls, about work that has not ended and about tracing beside it. */
#include "counters_job.h"

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
static char said[256], told[2048];
static void hear(void *user, kmb_log_level level, const char *message) {
  (void)user;
  if (level == KMB_LOG_INFO && strstr(message, "counters:"))
    snprintf(said, sizeof said, "%s", message);
  size_t used = strlen(told);
  if (level == KMB_LOG_DEBUG)
    snprintf(told + used, sizeof told - used, "%s\n", message);
}

/* A kernel without buffers, which `s` launches, and the log. */
static void start_heard(job *j, spin *s) {
  start(j, KMB_CACHE_COLD);
  kmb_buffers_destroy(j->buffers);
  bed_close(&j->b); /* again, with the log */
  kmb_hooks hooks = heap_hooks(&j->b.memory);
  kmb_device_params device = kmb_device_params_init();
  hooks.log = hear;
  device.hooks = &hooks;
  j->buffers = NULL;
  j->bench.buffers = NULL;
  *s = bed_spin(&j->b, 5, 1);
  j->bench.launch = bed_launch_spin;
  j->bench.launch_user = s;
  said[0] = told[0] = '\0';
  REQUIRE_OK(kmb_device_open("cuda:0", &device, &j->b.device));
}

static kmb_status launch_slowly(void *user, const kmb_launch *launch) {
  sim_pass(5000000);
  return bed_launch_spin(user, launch);
}

/* The host takes 5 ms for each launch: one for the list, one for the driver's
 * count, one a pass. */
static void where_the_time_went_is_logged(void) {
  job j;
  spin s;
  start_heard(&j, &s);
  j.bench.launch = launch_slowly;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_HAS(told, "counters: cache and buffers were prepared in ");
  REQUIRE_HAS(told, "a setting of 9 metrics was made in ");
  REQUIRE_HAS(told, "counters opened in 0.0 ms: look for other tools 0.0, "
                    "metrics 0.0, plan 0.0\n");
  REQUIRE_HAS(told, "counters read in 45.");
  REQUIRE_HAS(told, "start 0.0, launch 45.");
  REQUIRE_HAS(told, "evaluate 0.0, disable 0.0\n");
  REQUIRE_HAS(told, "counters took 55.");
  REQUIRE_HAS(told, "trace 5.0, close the trace 0.0, ask the driver 5.0, open "
                    "counters 0.0, count 45.");
  told[0] = '\0';
  REQUIRE_OK(read_counters(&j));
  REQUIRE(!strstr(told, "a setting of"));
  REQUIRE_HAS(told, "counters took 55.");
  end(&j);
}

static void passes_are_said_before_any_is_run(void) {
  job j;
  spin s;
  start_heard(&j, &s);
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

/* Calls by which a setting is made. */
static uint64_t setting_calls(void) {
  static const sim_function calls[] = {SIM_cuptiProfilerInitialize,
                                       SIM_cuptiProfilerDeviceSupported,
                                       SIM_cuptiDeviceGetChipName,
                                       SIM_cuptiProfilerHostInitialize,
                                       SIM_cuptiProfilerHostConfigAddMetrics,
                                       SIM_cuptiProfilerHostGetConfigImageSize,
                                       SIM_cuptiProfilerHostGetConfigImage,
                                       SIM_cuptiProfilerHostGetNumOfPasses};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    sum += sim_calls(calls[i]);
  return sum;
}

/* One metric: another list for each `which`. */
static kmb_status read_one(job *j, size_t which) {
  static const char *const lists[][1] = {
      {"dram__bytes_read.sum"},
      {"lts__t_sector_hit_rate.pct"},
      {"dram__bytes_write.sum"},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}};
  j->params.metrics = lists[which];
  j->params.metric_count = 1;
  kmb_status status = read_counters(j);
  j->params.metrics = NULL;
  j->params.metric_count = 0;
  return status;
}

/* What needs no device is kept for the same metrics. */
static void a_second_call_makes_no_new_setting(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_counters(&j));
  uint64_t made = setting_calls();
  REQUIRE_EQ(made, 8);
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(setting_calls(), made);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
  REQUIRE_OK(read_one(&j, 0));
  REQUIRE_EQ(info(&j).passes, 1);
  REQUIRE_EQ(setting_calls(), made + 8);
  /* As many metrics, but another. */
  REQUIRE_OK(read_one(&j, 1));
  REQUIRE_EQ(info(&j).passes, 2);
  REQUIRE_NEAR(value(&j, 0, 0), 0, 0);
  REQUIRE_EQ(setting_calls(), made + 16);
  /* Those before are still there. */
  REQUIRE_OK(read_counters(&j));
  REQUIRE_EQ(info(&j).passes, 9);
  REQUIRE_OK(read_one(&j, 0));
  REQUIRE_NEAR(value(&j, 0, 0), BYTES, 0);
  REQUIRE_EQ(setting_calls(), made + 16);
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostDeinitialize), 0);
  end(&j);
}

/* Four are kept: the one used longest ago gives way. */
static void settings_give_way_in_turn(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_counters(&j));
  for (size_t i = 0; i < 3; i++)
    REQUIRE_OK(read_one(&j, i));
  REQUIRE_OK(read_counters(&j));
  REQUIRE_OK(read_one(&j, 3));
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostDeinitialize), 1);
  uint64_t made = setting_calls();
  REQUIRE_OK(read_counters(&j));
  REQUIRE_OK(read_one(&j, 1));
  REQUIRE_OK(read_one(&j, 2));
  REQUIRE_EQ(setting_calls(), made);
  REQUIRE_OK(read_one(&j, 0));
  REQUIRE_EQ(setting_calls(), made + 8);
  REQUIRE_EQ(sim_calls(SIM_cuptiProfilerHostDeinitialize), 2);
  /* A list that cannot be made throws none out. */
  static const char *const wrong[] = {"sm__nonsense.sum"};
  j.params.metrics = wrong;
  j.params.metric_count = 1;
  refused(&j, KMB_ERR_INVALID, "sm__nonsense.sum");
  made = setting_calls();
  j.params.metrics = NULL;
  j.params.metric_count = 0;
  REQUIRE_OK(read_counters(&j));
  REQUIRE_OK(read_one(&j, 2));
  REQUIRE_EQ(setting_calls(), made);
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
  job j;
  start(&j, KMB_CACHE_COLD);
  kmb_status status = KMB_ERR_NOMEM;
  uint64_t failures = 0;
  for (uint64_t k = 1; status; k += heap_step()) {
    for (size_t i = 0; i < 4; i++)
      REQUIRE_OK(read_one(&j, i));
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

int main(void) {
  RUN(counters_belong_to_the_cold_state);
  RUN(counters_belong_to_the_warm_state);
  RUN(counters_belong_to_the_rotated_state);
  RUN(fewest_metrics_need_fewest_passes);
  RUN(an_unknown_metric_is_named);
  RUN(passes_are_said_before_any_is_run);
  RUN(where_the_time_went_is_logged);
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
  RUN(settings_give_way_in_turn);
  RUN(parameters_are_checked);
  RUN(a_host_has_no_counters);
  RUN(each_allocation_may_fail);
  return 0;
}
