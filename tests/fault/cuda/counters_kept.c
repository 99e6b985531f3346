/* Counters whose session stays enabled between calls: what the next call saves,
 * who ends it, and what is left of it. */
#include <pthread.h>

#include "alone.h"
#include "counters_job.h"

static const char *const dram_read[] = {"dram__bytes_read.sum"};
enum { KEEP = KMB_COUNTERS_KEEP };

/* Vendor calls of one call of ours. */
typedef struct calls {
  uint64_t enabled, disabled, sized, emptied, configured, started;
} calls;

static calls calls_now(void) {
  return (calls){sim_calls(SIM_cuptiRangeProfilerEnable),
                 sim_calls(SIM_cuptiRangeProfilerDisable),
                 sim_calls(SIM_cuptiRangeProfilerGetCounterDataSize),
                 sim_calls(SIM_cuptiRangeProfilerCounterDataImageInitialize),
                 sim_calls(SIM_cuptiRangeProfilerSetConfig),
                 sim_calls(SIM_cuptiRangeProfilerStart)};
}

static void require_calls(calls before, calls want) {
  calls now = calls_now();
  REQUIRE_EQ(now.enabled - before.enabled, want.enabled);
  REQUIRE_EQ(now.disabled - before.disabled, want.disabled);
  REQUIRE_EQ(now.sized - before.sized, want.sized);
  REQUIRE_EQ(now.emptied - before.emptied, want.emptied);
  REQUIRE_EQ(now.configured - before.configured, want.configured);
  REQUIRE_EQ(now.started - before.started, want.started);
}

static kmb_status read_with(job *j, uint32_t flags) {
  j->params.flags = flags;
  return read_counters(j);
}

/* One metric; then the preset is asked for again. */
static kmb_status read_one(job *j, uint32_t flags) {
  j->params.metrics = dram_read;
  j->params.metric_count = 1;
  kmb_status status = read_with(j, flags);
  j->params.metrics = NULL;
  j->params.metric_count = 0;
  return status;
}

static void good(const job *j) {
  REQUIRE_NEAR(value(j, 0, KMB_COUNTERS_SOL_DRAM_READ), BYTES, 0);
}

static void without_the_flag_nothing_is_kept(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  for (int i = 0; i < 2; i++) {
    calls before = calls_now();
    REQUIRE_OK(read_with(&j, 0));
    require_calls(before, (calls){1, 1, 1, 1, 1, 9});
  }
  end(&j);
}

/* Neither enabled nor set anew: the data are emptied, and that is all. */
static void a_second_call_takes_the_session_up(void) {
  job j;
  several s;
  start_several(&j, &s, 1);
  j.params.kernel = "test_add";
  calls before = calls_now();
  REQUIRE_OK(read_with(&j, KEEP));
  require_calls(before, (calls){1, 0, 1, 1, 1, 9});
  good(&j);
  before = calls_now();
  /* Warm: what it counts is its own. */
  j.bench.cache = KMB_CACHE_WARM;
  REQUIRE_OK(read_with(&j, KEEP));
  require_calls(before, (calls){0, 0, 0, 1, 0, 9});
  REQUIRE_EQ(info(&j).taken, 9);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_DRAM_READ), 0, 0);
  REQUIRE_NEAR(value(&j, 0, KMB_COUNTERS_SOL_L2_HIT), 100, 0);
  j.bench.cache = KMB_CACHE_COLD;
  before = calls_now();
  REQUIRE_OK(read_with(&j, 0));
  require_calls(before, (calls){0, 1, 0, 1, 0, 9});
  good(&j);
  before = calls_now();
  REQUIRE_OK(read_with(&j, 0));
  require_calls(before, (calls){1, 1, 1, 1, 1, 9});
  end(&j);
}

static void other_requests_set_it_anew(void) {
  job j;
  several s;
  start_several(&j, &s, 1);
  REQUIRE_OK(read_with(&j, KEEP));
  calls before = calls_now();
  j.params.kernel = "test_add";
  REQUIRE_OK(read_one(&j, KEEP));
  require_calls(before, (calls){0, 0, 1, 1, 1, 1});
  REQUIRE_NEAR(value(&j, 0, 0), BYTES, 0);
  before = calls_now();
  s.adds = 2; /* more ranges */
  REQUIRE_OK(read_one(&j, KEEP));
  require_calls(before, (calls){0, 0, 1, 1, 1, 1});
  REQUIRE_NEAR(value(&j, 1, 0), 0, 0);
  before = calls_now();
  j.params.kernel = NULL;
  j.params.replay = KMB_REPLAY_GRAPH;
  REQUIRE_OK(read_one(&j, KEEP));
  require_calls(before, (calls){0, 0, 1, 1, 1, 1});
  REQUIRE_NEAR(value(&j, 0, 0), BYTES, 0);
  s.adds = 1;
  j.params.replay = KMB_REPLAY_KERNEL;
  j.params.kernel = "test_add";
  before = calls_now();
  REQUIRE_OK(read_with(&j, KEEP));
  require_calls(before, (calls){0, 0, 1, 1, 1, 1});
  j.params.replay = KMB_REPLAY_LAUNCH; /* as many ranges, another way */
  before = calls_now();
  REQUIRE_OK(read_with(&j, KEEP));
  require_calls(before, (calls){0, 0, 1, 1, 1, 9});
  end(&j);
}

static void it_is_given_back_on_request(void) {
  job j;
  kmb_device *host = NULL;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_STATUS(kmb_counters_release(NULL), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_counters_release(j.b.device)); /* there is none */
  REQUIRE_OK(kmb_device_open("host", NULL, &host));
  REQUIRE_OK(kmb_counters_release(host));
  kmb_device_close(host);
  REQUIRE_OK(read_with(&j, KEEP));
  /* To list asks nothing of it. */
  calls before = calls_now();
  REQUIRE_OK(read_with(&j, KMB_COUNTERS_LIST));
  require_calls(before, (calls){0});
  CU(&j.b, cuCtxSetCurrent, NULL);
  REQUIRE_OK(kmb_counters_release(j.b.device));
  kmbi_cu_context current = NULL;
  CU(&j.b, cuCtxGetCurrent, &current);
  REQUIRE(!current);
  CU(&j.b, cuCtxSetCurrent, j.b.context);
  REQUIRE_OK(kmb_counters_release(j.b.device));
  require_calls(before, (calls){.disabled = 1});
  REQUIRE_OK(read_with(&j, KEEP));
  sim_fail(SIM_cuptiRangeProfilerDisable, 1, 999);
  REQUIRE_STATUS(kmb_counters_release(j.b.device), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "cuptiRangeProfilerDisable");
  REQUIRE_OK(kmb_counters_release(j.b.device));
  REQUIRE_OK(read_with(&j, KEEP));
  end(&j);
}

/* bed_end() sees that nothing is held. */
static void a_device_that_is_closed_ends_it(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_with(&j, KEEP));
  kmb_counters_destroy(j.counters);
  kmb_buffers_destroy(j.buffers);
  j.counters = NULL;
  j.buffers = NULL;
  uint64_t before = sim_calls(SIM_cuptiRangeProfilerDisable);
  CU(&j.b, cuCtxSetCurrent, NULL);
  bed_close(&j.b);
  REQUIRE_EQ(sim_calls(SIM_cuptiRangeProfilerDisable) - before, 1);
  end(&j);
}

/* Whatever it is that failed, and whatever the flag was. */
static void a_failure_ends_it(void) {
  static const struct {
    sim_function call;
    kmb_status status;
  } cases[] = {
      {SIM_cuptiRangeProfilerStart, KMB_ERR_UNAVAILABLE},
      {SIM_cuptiRangeProfilerStop, KMB_ERR_UNAVAILABLE},
      {SIM_cuptiRangeProfilerDecodeData, KMB_ERR_UNAVAILABLE},
      {SIM_cuptiProfilerHostEvaluateToGpuValues, KMB_ERR_UNAVAILABLE},
      {SIM_cuptiSubscribe, KMB_ERR_UNAVAILABLE}, /* the list of kernels */
  };
  job j;
  start(&j, KMB_CACHE_COLD);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    REQUIRE_OK(read_with(&j, KEEP));
    calls before = calls_now();
    sim_fail(cases[i].call, 1, 999);
    REQUIRE_STATUS(read_with(&j, KEEP), cases[i].status);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), sim_name(cases[i].call));
    REQUIRE_EQ(calls_now().disabled - before.disabled, 1);
    REQUIRE_EQ(calls_now().enabled, before.enabled);
  }
  REQUIRE_OK(read_with(&j, KEEP));
  several s = {&j.b, bed_kernel(&j.b, "test_add"), NULL, 3, NULL, 0, 0};
  j.bench.launch = refuse;
  j.bench.launch_user = &s;
  calls before = calls_now();
  REQUIRE_EQ(read_with(&j, KEEP), 42);
  require_calls(before, (calls){0, 1, 0, 1, 0, 2});
  end(&j);
}

/* Another tool may have taken the counters, or CUPTI wants none of it. */
static void what_serves_no_more_is_made_anew(void) {
  static const sim_function again[] = {
      SIM_cuptiRangeProfilerCounterDataImageInitialize,
      SIM_cuptiRangeProfilerSetConfig};
  job j;
  start(&j, KMB_CACHE_COLD);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(read_with(&j, KEEP));
    calls before = calls_now();
    sim_fail(again[i], 1, 999);
    REQUIRE_OK(i ? read_one(&j, KEEP) : read_with(&j, KEEP));
    REQUIRE_NEAR(value(&j, 0, 0), BYTES, 0);
    REQUIRE_EQ(calls_now().enabled - before.enabled, 1);
    REQUIRE_EQ(calls_now().disabled - before.disabled, 1);
  }
  sim_fail(SIM_cuptiRangeProfilerStart, 1, KMBI_CUPTI_HARDWARE_BUSY);
  REQUIRE_STATUS(read_with(&j, KEEP), KMB_ERR_BUSY);
  sim_set()->counters_refused = KMBI_CUPTI_HARDWARE_BUSY;
  refused(&j, KMB_ERR_BUSY, "DCGM");
  sim_set()->counters_refused = 0;
  REQUIRE_OK(read_with(&j, KEEP));
  good(&j);
  end(&j);
}

/* Two handles of one GPU, whose counters there are once. */
static void another_handle_takes_the_counters(void) {
  job j;
  bed other = {0};
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(bed_open(&other, "cuda:0"));
  kmb_device *first = j.b.device;
  j.bench.buffers = NULL;
  spin s = bed_spin(&j.b, 5, 1);
  j.bench.launch = bed_launch_spin;
  j.bench.launch_user = &s;
  for (int i = 0; i < 4; i++) {
    j.b.device = i % 2 ? other.device : first;
    calls before = calls_now();
    REQUIRE_OK(read_with(&j, KEEP));
    require_calls(before, (calls){1, i > 0, 1, 1, 1, 9});
  }
  /* What was ended is not ended again. */
  calls before = calls_now();
  REQUIRE_OK(kmb_counters_release(first));
  require_calls(before, (calls){0});
  kmb_counters_destroy(j.counters); /* the other handle's */
  j.counters = NULL;
  bed_close(&other);
  require_calls(before, (calls){.disabled = 1});
  j.b.device = first;
  end(&j);
}

static void a_recording_ends_them_all(void) {
  job j;
  bed other = {0};
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(bed_open(&other, "cuda:0"));
  for (int i = 0; i < 2; i++) {
    calls before = calls_now();
    REQUIRE_OK(read_with(&j, KEEP));
    REQUIRE_OK(
        kmb_trace_begin(i ? other.device : j.b.device, NULL, &recording));
    REQUIRE_OK(kmb_trace_end(recording, &trace));
    kmb_trace_destroy(trace);
    require_calls(before, (calls){1, 1, 1, 1, 1, 9});
  }
  bed_close(&other);
  end(&j);
}

static void a_setting_that_gives_way_ends_it(void) {
  static const char *const lists[][1] = {
      {"dram__bytes_read.sum"},
      {"lts__t_sector_hit_rate.pct"},
      {"dram__bytes_write.sum"},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}};
  job j;
  start(&j, KMB_CACHE_COLD);
  REQUIRE_OK(read_with(&j, KEEP));
  calls before = calls_now();
  for (int i = 0; i < 4; i++) {
    require_calls(before, (calls){0});
    j.params.metrics = lists[i];
    j.params.metric_count = 1;
    REQUIRE_OK(read_with(&j, KMB_COUNTERS_LIST));
  }
  require_calls(before, (calls){.disabled = 1});
  end(&j);
}

static kmb_result *bench(job *j, uint32_t flags) {
  kmb_result *r = NULL;
  j->bench.flags = flags;
  REQUIRE_OK(kmb_bench(j->b.device, &j->bench, &r));
  return r;
}

/* And the timers run beside a session that is enabled. */
static void measurements_keep_it_if_they_are_told_to(void) {
  static const uint32_t ways[] = {KMB_BENCH_CONFIRM_COLD, KMB_BENCH_COUNTERS};
  static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT,
                                     KMB_TIMER_GRAPH};
  job j;
  start(&j, KMB_CACHE_COLD);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) {
      calls before = calls_now();
      kmb_result_destroy(bench(&j, ways[i]));
      require_calls(before, (calls){1, 1, 1, 1, 1, i ? 9 : 1});
    }
    for (int k = 0; k < 3; k++) {
      calls before = calls_now();
      j.bench.timer = timers[k];
      j.bench.cache = k == 2 ? KMB_CACHE_ROTATED : KMB_CACHE_COLD;
      kmb_result *r = bench(&j, ways[i] | KMB_BENCH_KEEP_COUNTERS);
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_DRAM_READ), BYTES, 0);
      kmb_result_destroy(r);
      REQUIRE_EQ(calls_now().enabled - before.enabled, k == 0);
      REQUIRE_EQ(calls_now().disabled - before.disabled, 0);
    }
    j.bench.timer = 0;
    j.bench.cache = KMB_CACHE_COLD;
    /* The flag alone asks for nothing. */
    calls before = calls_now();
    kmb_result_destroy(bench(&j, KMB_BENCH_KEEP_COUNTERS));
    require_calls(before, (calls){0});
    REQUIRE_OK(kmb_counters_release(j.b.device));
  }
  end(&j);
}

static kmb_status hang(void *user, const kmb_launch *l) {
  const job *j = user;
  static kmbi_cu_pointer word;
  if (!word) CU(&j->b, cuMemAlloc, &word, 4);
  void *arguments[] = {&word};
  memset((void *)(uintptr_t)word, 0, 4);
  return j->b.cu.cuLaunchKernel(
             bed_kernel((bed *)(uintptr_t)&j->b, "test_hang"), 1, 1, 1, 1, 1, 1,
             0, l->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

/* In a process of its own: what is lost stays so. Nobody asks CUPTI about it,
 * another handle neither. */
static void of_a_lost_device_it_is_abandoned(void) {
  job j;
  bed other = {0};
  kmb_result *r = NULL;
  kmb_recording *recording = NULL;
  start(&j, KMB_CACHE_COLD);
  kmb_buffers_destroy(j.buffers);
  bed_close(&j.b);
  REQUIRE_OK(bed_open(&j.b, "cuda:0:deadline=0.01"));
  REQUIRE_OK(bed_open(&other, "cuda:0"));
  spin s = bed_spin(&j.b, 5, 1);
  j.bench.buffers = NULL;
  j.bench.launch = bed_launch_spin;
  j.bench.launch_user = &s;
  REQUIRE_OK(read_with(&j, KEEP));
  j.bench.launch = hang;
  j.bench.launch_user = &j;
  uint64_t before = sim_calls(SIM_cuptiRangeProfilerDisable);
  REQUIRE_STATUS(kmb_bench(j.b.device, &j.bench, &r), KMB_ERR_LOST);
  REQUIRE_STATUS(kmb_counters_release(j.b.device), KMB_ERR_LOST);
  (void)kmb_trace_begin(other.device, NULL, &recording);
  kmb_counters_destroy(j.counters);
  bed_close(&j.b);
  REQUIRE_EQ(sim_calls(SIM_cuptiRangeProfilerDisable), before);
  exit(0);
}

static void each_allocation_may_fail(void) {
  job j;
  start(&j, KMB_CACHE_COLD);
  kmb_status status = KMB_ERR_NOMEM;
  for (uint64_t k = 1; status; k += heap_step()) {
    REQUIRE_OK(read_with(&j, KEEP));
    kmb_counters_destroy(j.counters);
    j.counters = NULL;
    j.b.memory.fail_at = j.b.memory.calls + k;
    status = read_one(&j, KEEP);
    j.b.memory.fail_at = 0;
    if (status) REQUIRE_EQ(status, KMB_ERR_NOMEM);
  }
  end(&j);
}

typedef struct reader {
  job j;
  spin s;
  kmb_device *device;
  unsigned good;
} reader;

static void *reads(void *user) {
  reader *r = user;
  CU(&r->j.b, cuCtxSetCurrent, r->j.b.context);
  for (unsigned i = 0; i < 8; i++) {
    r->j.params.flags = i % 3 == 2 ? 0 : KEEP;
    r->good += !read_counters(&r->j);
    if (i % 4 == 3) (void)kmb_counters_release(r->j.b.device);
  }
  return NULL;
}

/* A handle for each thread: who comes while the other one counts may fail, but
 * nobody takes what is in use or ends it twice. */
static void threads_take_it_from_each_other(void) {
  job j;
  reader all[2] = {0};
  pthread_t threads[2];
  start(&j, KMB_CACHE_COLD);
  j.bench.buffers = NULL;
  for (int i = 0; i < 2; i++) {
    all[i].j = j;
    all[i].j.b.memory = (heap){0};
    REQUIRE_OK(bed_open(&all[i].j.b, "cuda:0"));
    all[i].s = bed_spin(&all[i].j.b, 5, 1);
    all[i].j.bench.launch = bed_launch_spin;
    all[i].j.bench.launch_user = &all[i].s;
  }
  for (int i = 0; i < 2; i++)
    REQUIRE_EQ(pthread_create(&threads[i], NULL, reads, &all[i]), 0);
  for (int i = 0; i < 2; i++)
    REQUIRE_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(read_counters(&all[i].j));
    kmb_counters_destroy(all[i].j.counters);
    bed_close(&all[i].j.b);
  }
  end(&j);
}

int main(void) {
  int failed = ALONE(of_a_lost_device_it_is_abandoned);
  RUN(without_the_flag_nothing_is_kept);
  RUN(a_second_call_takes_the_session_up);
  RUN(other_requests_set_it_anew);
  RUN(it_is_given_back_on_request);
  RUN(a_device_that_is_closed_ends_it);
  RUN(a_failure_ends_it);
  RUN(what_serves_no_more_is_made_anew);
  RUN(another_handle_takes_the_counters);
  RUN(a_recording_ends_them_all);
  RUN(a_setting_that_gives_way_ends_it);
  RUN(measurements_keep_it_if_they_are_told_to);
  RUN(each_allocation_may_fail);
  RUN(threads_take_it_from_each_other);
  return failed;
}
