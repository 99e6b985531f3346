/* How kernels were launched, and how many of their blocks a multiprocessor can
 * hold, on the virtual GPU: each kernel needs 38 registers a thread and is
 * given 40, which leaves room for 48 of the 64 warps. */
#include "alone.h"
#include "bed.h"

enum { COUNT = 8192, BLOCKS = 6, UNITS = 132 };
static const char agreed[] =
    "the driver counts as many blocks; a thread is given 40 registers (the "
    "trace), its code needs 38 (the driver's attributes)";

/* Two kernels: one thread, and `threads` of them with `shared` bytes. */
typedef struct job {
  bed b;
  kmbi_cu_function spin;
  kmbi_cu_pointer out;
  unsigned grid, threads, shared, launches;
  unsigned fails; /* at this launch; 0: never */
  bool twins;     /* the first kernel as the second, without shared memory */
  kmb_bench_params bench;
  kmb_counters *counters;
} job;

static kmb_status launch(void *user, const kmb_launch *l) {
  job *j = user;
  const kmbi_cu_driver *cu = &j->b.cu;
  uint64_t cycles = 1000, longer = 20000;
  void *first[] = {&cycles, &j->out}, *second[] = {&longer, &j->out};
  if (++j->launches == j->fails) return 42;
  if (j->twins && cu->cuLaunchKernel(j->spin, j->grid, 2, 3, j->threads, 2, 1,
                                     0, l->stream, first, NULL))
    return KMB_ERR_VENDOR;
  if (!j->twins &&
      cu->cuLaunchKernel(j->spin, 1, 1, 1, 1, 1, 1, 0, l->stream, first, NULL))
    return KMB_ERR_VENDOR;
  if (cu->cuLaunchKernel(j->spin, j->grid, 2, 3, j->threads, 2, 1, j->shared,
                         l->stream, second, NULL))
    return KMB_ERR_VENDOR;
  return KMB_OK;
}

static void start(job *j) {
  memset(j, 0, sizeof *j);
  bed_start(&j->b);
  j->spin = bed_kernel(&j->b, "test_spin");
  CU(&j->b, cuMemAlloc, &j->out, 4096);
  j->grid = 22, j->threads = 128;
  j->bench = bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  j->bench.launch = launch;
  j->bench.launch_user = j;
}

static void end(job *j) {
  kmb_counters_destroy(j->counters);
  CU(&j->b, cuMemFree, j->out);
  bed_end(&j->b);
}

static void read_counters(job *j, kmb_replay replay) {
  static const char *const one[] = {"dram__bytes_read.sum"};
  kmb_counters_params params = kmb_counters_params_init();
  params.metrics = one;
  params.metric_count = 1;
  params.replay = replay;
  kmb_counters_destroy(j->counters);
  REQUIRE_OK(kmb_counters_read(j->b.device, &j->bench, &params, &j->counters));
}

/* Of the second kernel. */
static kmb_occupancy occupancy(const job *j) {
  kmb_occupancy o = kmb_occupancy_init();
  REQUIRE_OK(kmb_counters_occupancy(j->counters, 1, &o));
  return o;
}

static void a_launch_is_told(void) {
  job j;
  kmb_op op = kmb_op_init();
  start(&j);
  j.shared = 4096;
  read_counters(&j, 0);
  REQUIRE_OK(kmb_counters_launch(j.counters, 1, &op));
  REQUIRE_STR(op.name, "test_spin");
  REQUIRE_EQ(op.flags, KMB_OP_HAS_LAUNCH);
  REQUIRE_EQ(op.grid_x * 100 + op.grid_y * 10 + op.grid_z, 2223);
  REQUIRE_EQ(op.block_x * 100 + op.block_y * 10 + op.block_z, 12821);
  REQUIRE_EQ(op.registers, 40);
  REQUIRE_EQ(op.static_shared, 128);
  REQUIRE_EQ(op.dynamic_shared, 4096);
  REQUIRE_EQ(op.local, 16);
  /* A time is no counter's. */
  REQUIRE(op.duration_ns + op.start_ns + op.share_pct == 0);
  REQUIRE_OK(kmb_counters_launch(j.counters, 0, &op));
  REQUIRE_EQ(op.grid_x * op.block_x, 1);
  REQUIRE_STATUS(kmb_counters_launch(j.counters, 2, &op), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_counters_launch(NULL, 0, &op), KMB_ERR_INVALID);
  end(&j);
}

static void the_limit_that_binds_is_named(void) {
  static const struct {
    unsigned threads, shared, blocks;
    const char *limit;
  } cases[] = {{128, 0, 6, "registers"},
               {16, 0, 32, "blocks"},
               {16, 6016, 32, "shared memory, blocks"},
               {128, 100 << 10, 2, "shared memory"},
               {512, 0, 1, "registers"}};
  job j;
  start(&j);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    j.threads = cases[i].threads;
    j.shared = cases[i].shared;
    read_counters(&j, 0);
    kmb_occupancy o = occupancy(&j);
    unsigned warps = (cases[i].threads * 2 + 31) / 32;
    REQUIRE_STR(o.limit, cases[i].limit);
    REQUIRE_EQ(o.blocks, cases[i].blocks);
    REQUIRE_EQ(o.block_warps, warps);
    REQUIRE_EQ(o.unit_warps, 64);
    REQUIRE_NEAR(o.pct, 100.0 * cases[i].blocks * warps / 64, 1e-9);
    REQUIRE_NEAR(o.waves, 22.0 * 6 / (cases[i].blocks * (double)UNITS), 1e-9);
    REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS | KMB_OCCUPANCY_CHECKED);
    REQUIRE_STR(o.check, agreed);
    REQUIRE_EQ(o.register_step, 8);
  }
  REQUIRE_STATUS(kmb_counters_occupancy(j.counters, 0, NULL), KMB_ERR_INVALID);
  end(&j);
}

/* The driver knows of clusters, barriers and carve-outs. */
static void where_the_driver_disagrees_its_count_stands(void) {
  job j;
  start(&j);
  sim_set()->blocks_less = 1;
  read_counters(&j, 0);
  kmb_occupancy o = occupancy(&j);
  REQUIRE_EQ(o.blocks, BLOCKS - 1);
  REQUIRE_NEAR(o.pct, 62.5, 1e-9);
  REQUIRE(!o.limit);
  REQUIRE_EQ(o.limit_registers, BLOCKS);
  REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS);
  REQUIRE_HAS(o.check, "the driver counts 5 blocks a unit");
  REQUIRE_HAS(o.check, "suffice for 6");
  REQUIRE_HAS(o.check, "its code needs 38");
  end(&j);
}

/* 40 are given to a thread that needs 33 to 40. */
static void registers_agree_up_to_their_step(void) {
  static const unsigned needed[] = {33, 38, 40};
  job j;
  start(&j);
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    sim_set()->registers = needed[i];
    read_counters(&j, 0);
    kmb_occupancy o = occupancy(&j);
    REQUIRE_EQ(o.blocks, BLOCKS);
    REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS | KMB_OCCUPANCY_CHECKED);
    REQUIRE((strstr(o.check, "its code needs") != NULL) == (needed[i] != 40));
  }
  REQUIRE_STR(occupancy(&j).check, "the driver counts as many blocks");
  end(&j);
}

static void another_kernels_attributes_are_not_compared(void) {
  static const struct {
    unsigned needed, given;
    const char *said, *traced;
  } cases[] = {{32, 40, "32 registers and 128 B", "the trace 40 and 128 B"},
               {41, 40, "41 registers and 128 B", "the trace 40 and 128 B"},
               {48, 40, "48 registers and 128 B", "the trace 40 and 128 B"},
               {33, 39, "33 registers and 128 B", "the trace 39 and 128 B"}};
  job j;
  start(&j);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    sim_set()->registers = cases[i].needed;
    sim_set()->given = cases[i].given;
    read_counters(&j, 0);
    kmb_occupancy o = occupancy(&j);
    REQUIRE_EQ(o.blocks, BLOCKS);
    REQUIRE_STR(o.limit, "registers");
    REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS);
    REQUIRE_HAS(o.check, "not compared");
    REQUIRE_HAS(o.check, cases[i].said);
    REQUIRE_HAS(o.check, cases[i].traced);
  }
  end(&j);
}

/* What a failing vendor's call, or a missing one, leaves unknown. */
static void a_driver_that_does_not_answer_is_no_failure(void) {
  static const sim_function calls[] = {
      SIM_cuFuncGetAttribute, SIM_cuOccupancyMaxActiveBlocksPerMultiprocessor,
      SIM_cuptiEnableCallback};
  job j;
  start(&j);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    /* The first kernel's question; the callbacks are switched on once. */
    sim_fail(calls[i], 1, 999);
    read_counters(&j, 0);
    REQUIRE(sim_failed());
    kmb_occupancy o = kmb_occupancy_init();
    REQUIRE_OK(kmb_counters_occupancy(j.counters, 0, &o));
    REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS);
    REQUIRE_HAS(o.check, "not compared: ");
    REQUIRE_STR(o.limit, "blocks");
  }
  sim_fail(SIM_cuptiEnableCallback, 1, 999);
  read_counters(&j, 0);
  REQUIRE_HAS(occupancy(&j).check, "cuptiEnableCallback");
  end(&j);
}

static void what_the_device_does_not_tell_is_unknown(void) {
  job j;
  kmb_occupancy o = kmb_occupancy_init();
  kmb_op op = kmb_op_init();
  kmb_result *r = NULL;
  double number = 0;
  start(&j);
  sim_set()->no_unit = true;
  read_counters(&j, 0);
  REQUIRE_OK(kmb_counters_launch(j.counters, 1, &op));
  REQUIRE_STATUS(kmb_counters_occupancy(j.counters, 1, &o),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "what a multiprocessor has");
  REQUIRE_OK(kmb_bench(j.b.device, &j.bench, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_REGISTERS), 40);
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_THEORETICAL, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "what a multiprocessor has");
  kmb_result_destroy(r);
  end(&j);
}

/* Once to list, once to ask the driver, once a pass. */
static void how_often_it_is_launched(void) {
  job j;
  start(&j);
  read_counters(&j, 0);
  REQUIRE_EQ(j.launches, 3);
  j.launches = 0;
  read_counters(&j, KMB_REPLAY_KERNEL);
  REQUIRE_EQ(j.launches, 2);
  kmb_occupancy o = occupancy(&j);
  REQUIRE_EQ(o.blocks, BLOCKS);
  REQUIRE_EQ(o.flags, KMB_OCCUPANCY_HAS_LIMITS);
  REQUIRE_HAS(o.check, "KMB_REPLAY_KERNEL");
  j.launches = 0;
  read_counters(&j, KMB_REPLAY_GRAPH);
  REQUIRE_EQ(j.launches, 2);
  REQUIRE_STATUS(kmb_counters_occupancy(j.counters, 0, &o),
                 KMB_ERR_UNAVAILABLE);
  kmb_op op = kmb_op_init();
  REQUIRE_STATUS(kmb_counters_launch(j.counters, 0, &op), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "whole iteration");
  end(&j);
}

static void shared_memory_tells_launches_apart(void) {
  job j;
  kmb_occupancy o = kmb_occupancy_init();
  start(&j);
  j.twins = true;
  j.shared = 100 << 10;
  read_counters(&j, 0);
  REQUIRE_OK(kmb_counters_occupancy(j.counters, 0, &o));
  REQUIRE_EQ(o.blocks, BLOCKS);
  REQUIRE(o.flags & KMB_OCCUPANCY_CHECKED);
  o = occupancy(&j);
  REQUIRE_EQ(o.blocks, 2);
  REQUIRE(o.flags & KMB_OCCUPANCY_CHECKED);
  end(&j);
}

/* The launch that the driver is asked about is a launch like others. */
static void a_callback_that_fails_then_ends_it(void) {
  job j;
  start(&j);
  j.fails = 2;
  REQUIRE_EQ(kmb_counters_read(j.b.device, &j.bench, NULL, &j.counters), 42);
  REQUIRE(!j.counters);
  j.fails = 0;
  read_counters(&j, 0);
  REQUIRE(occupancy(&j).flags & KMB_OCCUPANCY_CHECKED);
  end(&j);
}

static kmb_result *bench(job *j, uint32_t flags) {
  kmb_result *r = NULL;
  j->bench.flags |= flags;
  REQUIRE_OK(kmb_bench(j->b.device, &j->bench, &r));
  return r;
}

static void check_values(const kmb_result *r) {
  REQUIRE_STR(bed_text(r, KMB_VALUE_LAUNCH_KERNEL), "test_spin");
  REQUIRE_STR(bed_text(r, KMB_VALUE_LAUNCH_GRID), "22 × 2 × 3");
  REQUIRE_STR(bed_text(r, KMB_VALUE_LAUNCH_BLOCK), "128 × 2 × 1");
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_REGISTERS), 40);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_LOCAL_BYTES), 16);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_STATIC_SHARED), 128);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DYNAMIC_SHARED), 0);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_BLOCKS_PER_UNIT), BLOCKS);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_THEORETICAL), 75, 1e-9);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_WAVES), 1 / 6.0, 1e-9);
  REQUIRE_STR(bed_text(r, KMB_VALUE_OCCUPANCY_LIMIT),
              "registers (blocks a unit by registers 6, shared memory 202, "
              "warps 8, blocks 32)");
}

/* Without a counter and without its privilege. */
static void a_trace_says_it_of_the_longest_kernel(void) {
  job j;
  start(&j);
  kmb_result *r = bench(&j, 0);
  check_values(r);
  REQUIRE_HAS(bed_text(r, KMB_VALUE_OCCUPANCY_CHECK), "not compared");
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, 0, &op));
  REQUIRE_EQ(op.block_x, 1);
  REQUIRE_OK(kmb_result_op(r, 1, &op));
  REQUIRE_EQ(op.block_x, 128);
  REQUIRE_EQ(op.flags, KMB_OP_HAS_LAUNCH);
  kmb_result_destroy(r);
  sim_set()->counters_refused = KMBI_CUPTI_INSUFFICIENT_PRIVILEGES;
  r = bench(&j, KMB_BENCH_COUNTERS);
  check_values(r);
  kmb_result_destroy(r);
  end(&j);
}

static void counters_have_it_compared(void) {
  job j;
  start(&j);
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  check_values(r);
  REQUIRE_STR(bed_text(r, KMB_VALUE_OCCUPANCY_CHECK), agreed);
  kmb_result_destroy(r);
  /* One metric is one pass, and nothing else. */
  j.bench.flags &= ~(uint32_t)KMB_BENCH_COUNTERS;
  uint64_t asked = sim_calls(SIM_cuFuncGetAttribute);
  r = bench(&j, KMB_BENCH_CONFIRM_COLD);
  REQUIRE_EQ(sim_calls(SIM_cuFuncGetAttribute), asked);
  kmb_result_destroy(r);
  sim_set()->blocks_less = 2;
  r = bench(&j, KMB_BENCH_COUNTERS);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_BLOCKS_PER_UNIT), BLOCKS - 2);
  const char *text = NULL;
  REQUIRE_STATUS(kmb_result_text(r, KMB_VALUE_OCCUPANCY_LIMIT, &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "the driver counts 4 blocks");
  kmb_result_destroy(r);
  end(&j);
}

static void other_timers_say_why_they_do_not(void) {
  job j;
  const char *text = NULL;
  start(&j);
  j.bench.timer = KMB_TIMER_EVENT;
  kmb_result *r = bench(&j, 0);
  REQUIRE_STATUS(kmb_result_text(r, KMB_VALUE_LAUNCH_KERNEL, &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "told by TRACE");
  kmb_result_destroy(r);
  /* Counters list kernels whatever the timer is. */
  r = bench(&j, KMB_BENCH_COUNTERS);
  check_values(r);
  kmb_result_destroy(r);
  end(&j);
}

/* The reading of work that reaches neither ceiling. */
static kmb_result *read_work(job *j, double sm, double memory, uint32_t flags) {
  kmb_work work = kmb_work_init();
  kmb_ceiling ceiling = kmb_ceiling_init();
  work.read_bytes = 4096;
  work.dtype = KMB_F32;
  ceiling.kind = KMB_CEILING_COPY;
  ceiling.value = 4.8e12;
  ceiling.source = KMB_SOURCE_CALLER;
  j->bench.work = &work;
  j->bench.memory_ceiling = &ceiling;
  sim_set()->compute_pct = sm;
  sim_set()->memory_pct = memory;
  return bench(j, flags);
}

static void reads(const kmb_result *r, const char *first, const char *then,
                  const char *occupancy) {
  const char *reading = bed_text(r, KMB_VALUE_READING);
  if (strncmp(reading, first, strlen(first)) != 0) REQUIRE_STR(reading, first);
  REQUIRE_HAS(reading, then);
  REQUIRE_HAS(bed_text(r, KMB_VALUE_READING_OCCUPANCY), occupancy);
}

/* 132 blocks on 132 units that hold six each, and ten times as many. */
static void the_reading_tells_latency_from_too_small_a_grid(void) {
  job j;
  start(&j);
  kmb_result *r = read_work(&j, 59.9, 59.9, 0);
  reads(r, "does not match the prediction: memory",
        "too small a grid, it fills",
        "75% is what the launch allows, limited by registers; achieved is not "
        "known: no hardware counters");
  kmb_result_destroy(r);
  r = read_work(&j, 59.9, 59.9, KMB_BENCH_COUNTERS);
  reads(r, "too small a grid: memory-bound was predicted", "ncu: Small Grid",
        "66% achieved, 75% is what the launch allows, limited by registers; "
        "the grid does not fill the units once");
  kmb_result_destroy(r);
  j.grid *= 10;
  r = read_work(&j, 59.9, 59.9, KMB_BENCH_COUNTERS);
  reads(r, "latency-bound: memory-bound was predicted", "ncu: Latency Issue",
        "66% achieved");
  REQUIRE(!strstr(bed_text(r, KMB_VALUE_READING_OCCUPANCY), ";"));
  kmb_result_destroy(r);
  sim_set()->occupancy_pct = 55;
  r = read_work(&j, 59.9, 60, KMB_BENCH_COUNTERS);
  reads(r, "does not match the prediction: ", "Balanced",
        "so wide a gap means imbalance");
  kmb_result_destroy(r);
  /* Where the driver does not tell, neither is claimed. */
  sim_set()->no_unit = true;
  r = read_work(&j, 12, 36, KMB_BENCH_COUNTERS);
  reads(r, "does not match the prediction: ", "latency, or too small a grid",
        "what the launch would allow is not known");
  kmb_result_destroy(r);
  end(&j);
}

/* Text, table and JSON, and what is read back. */

typedef struct text {
  char at[65536];
  size_t used, read;
} text;

static kmb_status put(void *user, const void *bytes, size_t size) {
  text *t = user;
  REQUIRE(t->used + size < sizeof t->at);
  memcpy(t->at + t->used, bytes, size);
  t->at[t->used += size] = '\0';
  return KMB_OK;
}

static kmb_status get(void *user, void *bytes, size_t size, size_t *got) {
  text *t = user;
  *got = t->used - t->read < size ? t->used - t->read : size;
  memcpy(bytes, t->at + t->read, *got);
  t->read += *got;
  return KMB_OK;
}

static void it_is_written_and_read(void) {
  job j;
  static text t;
  kmb_results *list = NULL, *again = NULL;
  const kmb_result *back = NULL;
  start(&j);
  kmb_result *r = bench(&j, KMB_BENCH_COUNTERS);
  t.used = 0;
  REQUIRE_OK(kmb_result_write_text(r, put, &t));
  REQUIRE_HAS(t.at, "test_spin: 22 × 2 × 3 blocks of 128 × 2 × 1 threads, 40 "
                    "registers a thread");
  REQUIRE_HAS(t.at, "0.1667 waves");
  REQUIRE_HAS(t.at, "75.0% theoretical, limited by registers");
  REQUIRE_OK(kmb_results_create(NULL, &list));
  REQUIRE_OK(kmb_results_add(list, r));
  t.used = 0;
  REQUIRE_OK(kmb_results_write_table(list, put, &t));
  REQUIRE_HAS(t.at, "occ.");
  REQUIRE_HAS(t.at, "75.0%");
  t.used = 0;
  REQUIRE_OK(kmb_results_write_json(list, put, &t));
  REQUIRE_HAS(t.at, "\"grid\": [22, 2, 3], \"block\": [128, 2, 1], "
                    "\"registers_per_thread\": 40");
  REQUIRE_HAS(t.at, "\"theoretical_occupancy_pct\": 75");
  REQUIRE_OK(kmb_results_read_json(get, &t, NULL, &again));
  REQUIRE_OK(kmb_results_get(again, 0, &back));
  check_values(back);
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(back, 1, &op));
  REQUIRE_EQ(op.static_shared, 128);
  REQUIRE_EQ(op.block_y, 2);
  kmb_results_destroy(list);
  kmb_results_destroy(again);
  end(&j);
}

int main(void) {
  RUN(a_launch_is_told);
  RUN(the_limit_that_binds_is_named);
  RUN(where_the_driver_disagrees_its_count_stands);
  RUN(registers_agree_up_to_their_step);
  RUN(another_kernels_attributes_are_not_compared);
  RUN(a_driver_that_does_not_answer_is_no_failure);
  RUN(what_the_device_does_not_tell_is_unknown);
  RUN(how_often_it_is_launched);
  RUN(shared_memory_tells_launches_apart);
  RUN(a_callback_that_fails_then_ends_it);
  RUN(a_trace_says_it_of_the_longest_kernel);
  RUN(counters_have_it_compared);
  RUN(other_timers_say_why_they_do_not);
  RUN(the_reading_tells_latency_from_too_small_a_grid);
  RUN(it_is_written_and_read);
  return 0;
}
