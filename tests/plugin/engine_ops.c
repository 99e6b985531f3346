/* A row for each device operation, over the simulated device. */
#include "engine.h"

#include "device.h"

#include <math.h>

/* Two kernels, a copy and a set of an iteration; another kernel every
 * `other`-th call. */
typedef struct mixture {
  uint64_t calls, other;
} mixture;

static kmb_status launch_mixture(void *user, const kmb_launch *l) {
  mixture *m = user;
  sim_kernel ops[] = {
      {.ns = 3200, .name = "_Z4gemmv", .stream = 3},
      {.ns = 640, .bytes = 4096, .kind = KMB_OP_MEMCPY, .stream = 4},
      {.ns = 320, .bytes = 64, .kind = KMB_OP_MEMSET, .stream = 3},
      {.ns = 1280, .name = "_Z4softv", .stream = 3},
  };
  kmb_status status = KMB_OK;
  if (m->other && ++m->calls % m->other == 0) ops[3].name = "_Z5otherv";
  for (int i = 0; i < 4 && !status; i++)
    status = sim_enqueue(l->stream, &ops[i]);
  return status;
}

static void begin_mixture(trial *t, const char *spec, mixture *m) {
  begin(t, spec);
  t->p.launch = launch_mixture;
  t->p.launch_user = m;
  t->p.timer = KMB_TIMER_TRACE;
  t->p.launch_mode = KMB_LAUNCH_PLAIN;
  t->p.cache = KMB_CACHE_WARM;
  t->p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH;
}

static kmb_op row(const trial *t, uint64_t index) {
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(t->r, index, &op));
  return op;
}

static void each_operation_has_a_row(void) {
  trial t;
  mixture m = {0, 0};
  begin_mixture(&t, "", &m);
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 4);
  static const struct {
    const char *name;
    kmb_op_kind kind;
    double ns;
    uint64_t bytes;
    uint32_t stream;
  } want[] = {{"_Z4gemmv", KMB_OP_KERNEL, 3200, 0, 3},
              {"", KMB_OP_MEMCPY, 640, 4096, 4},
              {"", KMB_OP_MEMSET, 320, 64, 3},
              {"_Z4softv", KMB_OP_KERNEL, 1280, 0, 3}};
  double span = f64(&t, KMB_VALUE_RAW_MEDIAN), sum = 0, before = -1;
  for (uint64_t i = 0; i < 4; i++) {
    kmb_op op = row(&t, i);
    REQUIRE_STR(op.name, want[i].name);
    REQUIRE_EQ(op.kind, want[i].kind);
    REQUIRE_NEAR(op.duration_ns, want[i].ns, 32);
    REQUIRE(op.min_ns <= op.duration_ns && op.duration_ns <= op.max_ns);
    REQUIRE_EQ(op.bytes, want[i].bytes);
    REQUIRE_EQ(op.stream, want[i].stream);
    REQUIRE_NEAR(op.share_pct, 100 * op.duration_ns / span, 1e-9);
    REQUIRE(op.start_ns > before);
    before = op.start_ns;
    sum += op.duration_ns;
  }
  REQUIRE_NEAR(row(&t, 0).start_ns, 0, 0);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_SUM), sum, 64);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_GAPS), span - f64(&t, KMB_VALUE_BUSY), 64);
  REQUIRE(f64(&t, KMB_VALUE_GAPS) > 1000);
  uint64_t samples = u64(&t, KMB_VALUE_SAMPLES);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES), samples < 512 ? samples : 512);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES_OTHER), 0);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OPS_OMITTED), 0);
  kmb_op op = kmb_op_init();
  REQUIRE_STATUS(kmb_result_op(t.r, 4, &op), KMB_ERR_INVALID);
  finish(&t);
}

/* The tracer holds up what follows in a graph; it explains nothing of plain
 * launches, of a single kernel, or of a second timer that reads more. */
static void a_traced_graph_that_takes_longer_is_explained(void) {
  static const struct {
    const char *spec;
    kmb_launch_mode mode;
    bool single, spread;
  } cases[] = {
      {"lie=event:0.5,timers=trace+event", KMB_LAUNCH_GRAPH, false, true},
      {"lie=event:0.5,timers=trace+event", KMB_LAUNCH_GRAPH, true, false},
      {"lie=event:0.5,timers=trace+event", KMB_LAUNCH_PLAIN, false, false},
      {"lie=event:1.5,timers=trace+event", KMB_LAUNCH_GRAPH, false, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trial t;
    mixture m = {0, 0};
    begin_mixture(&t, cases[i].spec, &m);
    t.p.timer = KMB_TIMER_AUTO;
    t.p.launch_mode = cases[i].mode;
    t.p.flags = KMB_BENCH_REQUIRE_LAUNCH;
    if (cases[i].single) {
      t.p.launch = operation_launch;
      t.p.launch_user = &t.op;
    }
    run(&t);
    const char *said = message(&t, KMB_FINDING_TIMERS_DISAGREE);
    REQUIRE_HAS(said, "something changed between the two");
    REQUIRE_EQ(strstr(said, "traced a graph") != NULL, cases[i].spread);
    finish(&t);
  }
}

static void samples_of_other_operations_are_counted(void) {
  trial t;
  mixture m = {0, 10};
  begin_mixture(&t, "", &m);
  t.p.min_samples = t.p.max_samples = 200;
  t.p.flags |= KMB_BENCH_NO_CONFIRM;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES), 180);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES_OTHER), 20);
  REQUIRE_STR(row(&t, 3).name, "_Z4softv");
  finish(&t);
}

/* Samples without all their records do not count, and have no part in rows. */
static void what_is_left_out_has_no_part_in_rows(void) {
  trial t;
  mixture m = {0, 0};
  begin_mixture(&t, "record_drop=0.2,record_invalid=0.1", &m);
  t.p.max_samples = 200;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_RECORDS_MISSING));
  REQUIRE(raised(&t, KMB_FINDING_INVALID_TIMESTAMPS));
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES_OTHER), 0);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES), u64(&t, KMB_VALUE_SAMPLES));
  finish(&t);
}

static void rows_are_of_the_round_that_is_reported(void) {
  trial t;
  mixture m = {0, 0};
  begin_mixture(&t, "noise=gauss:0.01", &m);
  t.p.rounds = 3;
  t.p.max_samples = 60;
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 4);
  REQUIRE_EQ(u64(&t, KMB_VALUE_OP_SAMPLES), u64(&t, KMB_VALUE_SAMPLES));
  finish(&t);
}

static void other_timers_have_no_rows(void) {
  trial t;
  mixture m = {0, 0};
  uint64_t samples = 0;
  begin_mixture(&t, "", &m);
  t.p.timer = KMB_TIMER_EVENT;
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 0);
  REQUIRE_STATUS(kmb_result_u64(t.r, KMB_VALUE_OP_SAMPLES, &samples),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

/* --- backends that do otherwise ----------------------------------------- */

static kmb_backend_ops odd;
static kmb_device_op given;
static uint64_t given_count;

static kmb_status give(void *self, void *plan, kmb_device_op_fn emit,
                       void *user) {
  (void)self;
  (void)plan;
  for (uint64_t i = 0; i < given_count; i++)
    emit(user, &given);
  return KMB_OK;
}

static void begin_odd(trial *t, mixture *m) {
  begin_mixture(t, "", m);
  odd = *t->h.device->ops;
  odd.plan_ops = give;
  t->h.device->ops = &odd;
  given_count = 1;
  given = (kmb_device_op){.kind = KMB_OP_KERNEL, .duration_ns = 1};
}

static void a_backend_without_the_function_says_so(void) {
  trial t;
  mixture m = {0, 0};
  uint64_t samples = 0;
  begin_odd(&t, &m);
  odd.plan_ops = NULL;
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 0);
  REQUIRE_STATUS(kmb_result_u64(t.r, KMB_VALUE_OP_SAMPLES, &samples),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "tells no single operations");
  odd.plan_ops = give;
  given_count = 0;
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 0);
  REQUIRE_STATUS(kmb_result_u64(t.r, KMB_VALUE_OP_SAMPLES, &samples),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no sample that counts");
  finish(&t);
}

static void operations_that_cannot_be_are_an_internal_error(void) {
  static const kmb_device_op bad[] = {
      {.kind = KMB_OP_KERNEL, .sample = 1u << 20},
      {.kind = 0},
      {.kind = 4},
      {.kind = KMB_OP_MEMCPY, .start_ns = -1},
      {.kind = KMB_OP_MEMCPY, .duration_ns = -1},
      {.kind = KMB_OP_MEMSET, .start_ns = INFINITY},
      {.kind = KMB_OP_MEMSET, .start_ns = NAN},
      {.kind = KMB_OP_KERNEL, .duration_ns = INFINITY},
  };
  trial t;
  mixture m = {0, 0};
  begin_odd(&t, &m);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    given = bad[i];
    given_count = 1 + i % 2; /* the first says it all */
    fails(&t, KMB_ERR_INTERNAL, "a device operation that cannot be");
  }
  finish(&t);
}

static uint32_t orders[3];

static kmb_status give_in_order(void *self, void *plan, kmb_device_op_fn emit,
                                void *user) {
  (void)self;
  (void)plan;
  for (int i = 0; i < 3; i++) {
    given.sample = orders[i];
    emit(user, &given);
  }
  return KMB_OK;
}

/* Sample after sample; some may be left out. */
static void samples_do_not_go_back(void) {
  trial t;
  mixture m = {0, 0};
  begin_odd(&t, &m);
  odd.plan_ops = give_in_order;
  memcpy(orders, (uint32_t[]){0, 2, 3}, sizeof orders);
  run(&t);
  REQUIRE_EQ(kmb_result_op_count(t.r), 1);
  memcpy(orders, (uint32_t[]){1, 0, 2}, sizeof orders);
  fails(&t, KMB_ERR_INTERNAL, "a device operation that cannot be");
  finish(&t);
}

static void an_older_table_tells_no_operations(void) {
  trial t;
  mixture m = {0, 0};
  uint64_t samples = 0;
  begin_odd(&t, &m);
  odd.struct_size = offsetof(kmb_backend_ops, plan_ops);
  run(&t);
  REQUIRE_STATUS(kmb_result_u64(t.r, KMB_VALUE_OP_SAMPLES, &samples),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

/* The pause between two runs of samples outlasts the measurement. */
static void a_run_without_samples_has_no_operations(void) {
  trial t;
  mixture m = {0, 0};
  begin_mixture(&t, "noise=gauss:0.3", &m);
  t.p.idle_ns = 1e9;
  t.p.max_wall_ns = 5e8;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_STOP_REASON), "WALL");
  REQUIRE_EQ(kmb_result_op_count(t.r), 4);
  finish(&t);
}

static void a_failure_to_tell_them_ends_the_measurement(void) {
  trial t;
  mixture m = {0, 0};
  begin_mixture(&t, "fail=plan_ops@2:-16", &m);
  fails(&t, KMB_ERR_VENDOR, "plan_ops, call 2");
  run(&t);
  finish(&t);
}

int main(void) {
  RUN(each_operation_has_a_row);
  RUN(a_traced_graph_that_takes_longer_is_explained);
  RUN(samples_of_other_operations_are_counted);
  RUN(what_is_left_out_has_no_part_in_rows);
  RUN(rows_are_of_the_round_that_is_reported);
  RUN(other_timers_have_no_rows);
  RUN(a_backend_without_the_function_says_so);
  RUN(operations_that_cannot_be_are_an_internal_error);
  RUN(samples_do_not_go_back);
  RUN(an_older_table_tells_no_operations);
  RUN(a_run_without_samples_has_no_operations);
  RUN(a_failure_to_tell_them_ends_the_measurement);
  return 0;
}
