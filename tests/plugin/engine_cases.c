/* Field cases: public failures of other tools, run on the simulated device. */
#include "engine.h"

#include <math.h>
#include <sys/mman.h>

/* Input slots in address space that is never touched: only their addresses
 * matter. The first page holds something that is not zero. */
typedef struct field {
  char *memory;
  uint64_t bytes;
  void *slots[64];
} field;

static void field_map(field *f, uint64_t slot_bytes, uint32_t slots) {
  REQUIRE(slots <= 64);
  f->bytes = slot_bytes * slots;
  f->memory = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(f->memory != MAP_FAILED);
  f->memory[0] = 1;
  for (uint32_t i = 0; i < slots; i++)
    f->slots[i] = f->memory + i * slot_bytes;
}

static kmb_status read_launch(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {.read_count = 1, .reads = {{l->args[0], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

/* One input of `bytes` a slot in the caller's memory, only read. */
static void reads_field(trial *t, field *f, uint64_t bytes, uint32_t slots) {
  field_map(f, bytes, slots);
  with_buffers(t, bytes);
  t->descs[0].fill = KMB_FILL_CALLER;
  t->descs[0].pointers = f->slots;
  t->descs[0].pointer_count = slots;
  t->descs[1].role = KMB_SCRATCH;
  t->descs[1].bytes = 64;
  t->p.launch = read_launch;
  t->p.check = NULL;
}

static void done(trial *t, field *f) {
  finish(t);
  REQUIRE(munmap(f->memory, f->bytes) == 0);
}

/* F2: a graph that unrolls fewer copies than were allocated runs warm. L2 126
 * MiB, 8 MiB inputs, unroll 10: at least 17 = ceil(126 / 8) + 1 are needed. */
static void f2_a_graph_unrolls_every_slot(void) {
  trial t;
  field f;
  begin(&t, "llc=132120576,cold=26000");
  reads_field(&t, &f, 8 * MIB, 40);
  t.rotation.reuse_factor = 1;
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_CACHE;
  t.p.batch = 10;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 17);
  REQUIRE_EQ(u64(&t, KMB_VALUE_BATCH), 17);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "ROTATED");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 30);
  REQUIRE(!raised(&t, KMB_FINDING_NOT_COLD));
  done(&t, &f);
}

/* ... and with the ten copies that the caller brings it is refused. */
static void f2_ten_copies_are_refused_or_said_to_be_warm(void) {
  trial t;
  field f;
  begin(&t, "llc=132120576,cold=26000");
  reads_field(&t, &f, 8 * MIB, 10);
  t.rotation.reuse_factor = 1;
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  fails(&t, KMB_ERR_UNAVAILABLE, "17 slots, 10 can be had");
  t.p.flags = 0;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_NOT_COLD));
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "NOT_COLD");
  /* It was indeed warm. */
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 30);
  REQUIRE_HAS(text(&t, KMB_VALUE_CACHE_PROOF), "unproved");
  done(&t, &f);
}

/* F3: the size comes from the last-level cache, not from the L2 attribute. */
#define MI300X "l2=4194304,llc=268435456,cold=26000"

static void f3_the_sweep_is_sized_by_the_last_level_cache(void) {
  trial t;
  field f;
  begin(&t, MI300X);
  reads_field(&t, &f, 8 * MIB, 1);
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_LLC_BYTES), 268435456);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SWEEP_BYTES), 2 * 268435456ULL);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 30);
  done(&t, &f);
}

/* 256e6 bytes are fewer than 256 MiB. */
static void f3_decimal_megabytes_are_too_few(void) {
  trial t;
  field f;
  begin(&t, MI300X);
  reads_field(&t, &f, 8 * MIB, 64);
  t.rotation.rotation_bytes = 256000000;
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 31);
  REQUIRE(raised(&t, KMB_FINDING_NOT_COLD));
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 30);
  done(&t, &f);
}

/* F27: every sample is throttled: they are kept, and the result says so. */
static void f27_throttled_samples_are_kept(void) {
  trial t;
  begin(&t, "throttle=0:1.7,noise=gauss:0.02");
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_THROTTLED));
  REQUIRE(u64(&t, KMB_VALUE_SAMPLES) >= 50);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 34000, 200);
  for (kmb_value v = 1; v <= KMB_VALUE_DRIFT_PCT; v++) {
    double number = 0;
    if (!kmb_result_f64(t.r, v, &number)) REQUIRE(isfinite(number));
  }
  finish(&t);
}

/* F39: the kernel runs during capture and is not recorded, so that what the
 * capture wrote would pass for the replay's output. */
static void f39_a_replay_that_writes_nothing_is_incorrect(void) {
  const kmb_timer timers[] = {KMB_TIMER_GRAPH, KMB_TIMER_EVENT, KMB_TIMER_HOST};
  for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++) {
    trial t;
    begin(&t, "graph_empty=1");
    with_buffers(&t, MIB);
    t.p.timer = timers[i];
    t.p.launch_mode = KMB_LAUNCH_GRAPH;
    t.p.cache = KMB_CACHE_WARM;
    t.p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH;
    fails(&t, KMB_ERR_INCORRECT, "not written at all by the timed plan");
    finish(&t);
  }
}

static void f39_the_tracer_sees_that_a_replay_is_empty(void) {
  trial t;
  begin(&t, "graph_empty=1");
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.flags = KMB_BENCH_REQUIRE_LAUNCH;
  fails(&t, KMB_ERR_INCORRECT, "no device operation");
  finish(&t);
}

/* Writes its output from the host and enqueues nothing. */
static kmb_status host_launch(void *user, const kmb_launch *l) {
  operation *o = user;
  o->calls++;
  memcpy(l->args[1], l->args[0], (size_t)o->bytes);
  return KMB_OK;
}

static void f39_a_graph_without_nodes_is_an_error(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.p.launch = host_launch;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  t.p.flags = KMB_BENCH_REQUIRE_LAUNCH;
  fails(&t, KMB_ERR_CAPTURE, "enqueued nothing");
  t.p.launch = operation_launch;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CHECK), "passed before and after timing");
  finish(&t);
}

/* F40: buffers move between two measurements, and between rounds: each graph
 * is captured with the pointers of its time. */
static void f40_moved_buffers_are_captured_anew(void) {
  trial t;
  void *first = NULL;
  void *second = NULL;
  begin(&t, "cold=26000");
  with_buffers(&t, MIB);
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  t.p.rounds = 2;
  run(&t);
  REQUIRE_EQ(t.checks, 4);
  REQUIRE_STR(text(&t, KMB_VALUE_CHECK), "passed before and after timing");
  REQUIRE_OK(kmb_buffers_pointer(t.set, 0, 0, &first));
  /* More slots: the list of pointers moves. */
  REQUIRE_OK(kmb_buffers_prepare(t.set, 40));
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 26000, 30);
  /* Another set: the buffers move. */
  kmb_buffers_destroy(t.set);
  t.set = NULL;
  run(&t);
  REQUIRE_OK(kmb_buffers_pointer(t.set, 16, 1, &second));
  REQUIRE_STR(text(&t, KMB_VALUE_CHECK), "passed before and after timing");
  /* What the last replay wrote is where the set says it is. */
  REQUIRE_OK(kmb_buffers_pointer(t.set, 16, 0, &first));
  REQUIRE(memcmp(first, second, MIB) == 0);
  finish(&t);
}

int main(void) {
  RUN(f2_a_graph_unrolls_every_slot);
  RUN(f2_ten_copies_are_refused_or_said_to_be_warm);
  RUN(f3_the_sweep_is_sized_by_the_last_level_cache);
  RUN(f3_decimal_megabytes_are_too_few);
  RUN(f27_throttled_samples_are_kept);
  RUN(f39_a_replay_that_writes_nothing_is_incorrect);
  RUN(f39_the_tracer_sees_that_a_replay_is_empty);
  RUN(f39_a_graph_without_nodes_is_an_error);
  RUN(f40_moved_buffers_are_captured_anew);
  return 0;
}
