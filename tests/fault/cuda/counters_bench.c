/* Hardware counters with a measurement: what they prove of it, and how it
 * reads. */
#include "counters_job.h"

static kmb_result *bench(job *j, uint32_t flags) {
  kmb_result *r = NULL;
  j->bench.flags |= flags;
  REQUIRE_OK(kmb_bench(j->b.device, &j->bench, &r));
  return r;
}

static void absent(const kmb_result *r, kmb_value value, const char *why) {
  double f64 = 0;
  uint64_t u64 = 0;
  const char *text = NULL;
  bool words =
      value == KMB_VALUE_COUNTER_MODE || value == KMB_VALUE_COUNTER_KERNEL;
  kmb_status status = words ? kmb_result_text(r, value, &text)
                      : value == KMB_VALUE_COUNTER_PASSES
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
  static const kmb_value preset[] = {
      KMB_VALUE_COUNTER_MODE, KMB_VALUE_DRAM_READ, KMB_VALUE_DRAM_WRITE,
      KMB_VALUE_DRAM_RATE, KMB_VALUE_COUNTER_KERNEL};
  for (int i = 0; i < 5; i++)
    absent(r, preset[i], "root");
  REQUIRE(strncmp(bed_text(r, KMB_VALUE_CACHE_PROOF), "counters", 8) != 0);
  kmb_result_destroy(r);
  j.bench.flags &= ~(uint32_t)KMB_BENCH_COUNTERS;
  r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  absent(r, KMB_VALUE_COLD_RATIO, "root");
  absent(r, KMB_VALUE_DRAM_READ, "root");
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
