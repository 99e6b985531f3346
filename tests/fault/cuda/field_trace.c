/* Field cases of tracing, by their names in the collection of public
 * failures. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static kmb_bench_params traced(spin *s, kmb_launch_mode mode) {
  kmb_bench_params p = bed_params(KMB_TIMER_TRACE, mode, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = s;
  return p;
}

/* Some leading records of each session but the first were older than the
 * session: callbacks had been registered again. */
static void f8_three_sessions_have_all_their_records(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 2, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  p.min_samples = 50;
  p.max_samples = 50;
  for (int session = 0; session < 3; session++) {
    kmb_result *r = NULL;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES), 50);
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID), 0);
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_MIN), 2536, 3 * SIM_TICK);
    kmb_result_destroy(r);
  }
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityRegisterCallbacks), 1);
  bed_end(&b);
}

static void f9_records_without_times_are_counted_as_invalid(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->zero_every = 5;
  sim_set()->backwards_every = 7;
  spin s = bed_spin(&b, 10, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_u64(r, KMB_VALUE_SAMPLES_INVALID) > 0);
  REQUIRE(bed_finding(r, KMB_FINDING_INVALID_TIMESTAMPS));
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_MEAN), 10536, 2 * SIM_TICK);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_MIN), 10536, 3 * SIM_TICK);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f10_a_drop_count_that_cannot_be_had_is_not_none(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  sim_fail(SIM_cuptiActivityGetNumDroppedRecords, 1, 14);
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_VENDOR);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "NumDroppedRecords");
  REQUIRE_EQ(vendor, 14);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Late records: of the warm-up within the timed part, of one session within
 * the next. */
static void f12_warm_up_records_stay_out(void) {
  bed b;
  bed_start(&b);
  sim_set()->late = true;
  spin s = bed_spin(&b, 3, 2);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_GRAPH);
  p.min_samples = 20;
  p.max_samples = 20;
  for (int session = 0; session < 2; session++) {
    kmb_result *r = NULL;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES), 20);
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 2);
    REQUIRE(bed_f64(r, KMB_VALUE_MAX) < 9000);
    REQUIRE(bed_f64(r, KMB_VALUE_MIN) > 7000);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* Some of a launch's records, and the rest with the next ones. */
static void f12_records_in_parts_are_of_their_own_launch(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->halves = true;
  spin s = bed_spin(&b, 3, 3);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  p.flags |= KMB_BENCH_NO_WARMUP;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 3);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID), 0);
  REQUIRE(bed_f64(r, KMB_VALUE_MIN) > 10000);
  REQUIRE(bed_f64(r, KMB_VALUE_MAX) < 12000);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void records_in_any_order_serve(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->reversed = true;
  spin s = bed_spin(&b, 3, 2);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_GRAPH);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 2);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID), 0);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* CUPTI loses each eleventh kernel's record and does not say so. */
static void a_span_without_all_its_records_is_left_out(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->lose_every = 11;
  spin s = bed_spin(&b, 3, 2);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_GRAPH);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_finding(r, KMB_FINDING_RECORDS_MISSING));
  REQUIRE(bed_f64(r, KMB_VALUE_MIN) > 7000);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* The same of a launch of one kernel: nothing is left of it then. */
static void a_lost_only_kernel_is_missing_not_invalid(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 3, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  for (int lost = 0; lost < 2; lost++) {
    sim_set()->lose_every = lost ? 11 : 0;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(bed_finding(r, KMB_FINDING_RECORDS_MISSING) != NULL, lost);
    REQUIRE(!bed_finding(r, KMB_FINDING_INVALID_TIMESTAMPS));
    REQUIRE(!bed_finding(r, KMB_FINDING_RECORDS_DROPPED));
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID) > 0, lost);
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_MIN), 3536, 3 * SIM_TICK);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* As kmb_finding, of which there is one at most. */
static double dropped(const kmb_result *r) {
  double number = 0;
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &f));
    if (f.code != KMB_FINDING_RECORDS_DROPPED) continue;
    REQUIRE_EQ(f.severity, KMB_WARNING);
    REQUIRE_STR(f.figures[0].name, "dropped_records");
    REQUIRE(number == 0);
    number = f.figures[0].value;
  }
  return number;
}

static void records_that_cupti_drops_are_told(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 3, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  for (int drops = 0; drops < 3; drops++) {
    kmb_result *r = NULL;
    sim_set()->drop_every = drops == 1 ? 11 : 0;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(dropped(r) > 0, drops == 1);
    REQUIRE_EQ(dropped(r), (double)bed_u64(r, KMB_VALUE_SAMPLES_INVALID));
    bool missing = bed_finding(r, KMB_FINDING_RECORDS_MISSING) != NULL;
    REQUIRE_EQ(missing, drops == 1);
    REQUIRE(!bed_finding(r, KMB_FINDING_INVALID_TIMESTAMPS));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* No runtime call is there at all; and ids may come only with all calls. */
static void traced_through_the_driver(int no_single_calls) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->no_single_calls = no_single_calls;
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 1);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 1536, 2 * SIM_TICK);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f13_a_launch_through_the_driver_is_one_kernel(void) {
  traced_through_the_driver(0);
}

/* What CUPTI records is tried once a process, so this is one of its own. */
static void f13_the_same_where_single_calls_are_not_recorded(void) {
  traced_through_the_driver(1);
}

typedef struct many {
  add a;
  kmbi_cu_pointer from;
  int kernels, copies;
} many;
static char host_copy[256];

static kmb_status launch_many(void *user, const kmb_launch *l) {
  many *m = user;
  add *a = &m->a;
  kmb_status status = KMB_OK;
  for (int i = 0; !status && i < m->kernels; i++)
    status = bed_launch_add(a, l);
  for (int i = 0; !status && i < m->copies; i++)
    if (a->b->cu.cuMemcpyDtoHAsync(host_copy, m->from, sizeof host_copy,
                                   l->stream))
      status = KMB_ERR_VENDOR;
  return status;
}

static int count_ops(const kmb_result *r, kmb_op_kind kind) {
  int count = 0;
  for (uint64_t i = 0; i < kmb_result_op_count(r); i++) {
    kmb_op op = kmb_op_init();
    REQUIRE_OK(kmb_result_op(r, i, &op));
    if (op.kind == kind) count++;
    REQUIRE_EQ(op.bytes, op.kind == KMB_OP_MEMCPY ? sizeof host_copy : 0);
  }
  return count;
}

/* Kernels alone, copies alone, and both in one graph. */
static void f14_a_graph_launch_shows_24_kernels_and_7_copies(void) {
  static const int parts[][2] = {{24, 0}, {0, 7}, {24, 7}};
  bed b;
  bed_start(&b);
  kmb_buffers *buffers = bed_add_buffers(&b, 256);
  for (int i = 0; i < 3; i++) {
    kmb_result *r = NULL;
    many m = {
        {&b, bed_kernel(&b, "test_add"), 256}, 0, parts[i][0], parts[i][1]};
    CU(&b, cuMemAlloc, &m.from, sizeof host_copy);
    kmb_bench_params p =
        bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    p.launch = launch_many;
    p.launch_user = &m;
    p.buffers = m.kernels ? buffers : NULL;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS),
               (uint64_t)(m.kernels + m.copies));
    REQUIRE_EQ(count_ops(r, KMB_OP_KERNEL), m.kernels);
    REQUIRE_EQ(count_ops(r, KMB_OP_MEMCPY), m.copies);
    CU(&b, cuMemFree, m.from);
    kmb_result_destroy(r);
  }
  kmb_buffers_destroy(buffers);
  bed_end(&b);
}

static void f15_a_second_subscriber_is_busy(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  bed_start(&b);
  sim_set()->other_subscriber = true;
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_BUSY);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "another tool");
  REQUIRE_EQ(vendor, 39);
  /* The other tool's session is left alone. */
  REQUIRE_EQ(sim_calls(SIM_cuptiUnsubscribe), 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityEnable), 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityDisable), 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityFlushAll), 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityRegisterCallbacks), 0);
  sim_set()->other_subscriber = false;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f16_without_privileges_is_perm(void) {
  static const struct {
    sim_function function;
    unsigned code;
    kmb_status status;
  } cases[] = {
      {SIM_cuptiSubscribe, 35, KMB_ERR_PERM},
      {SIM_cuptiActivityEnable, 35, KMB_ERR_PERM},
      {SIM_cuptiActivityEnable, 15, KMB_ERR_UNAVAILABLE},
      {SIM_cuptiSubscribe, 15, KMB_ERR_UNAVAILABLE},
  };
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 1, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmb_result *r = NULL;
    int64_t vendor = 0;
    kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
    sim_fail(cases[i].function, 1, cases[i].code);
    REQUIRE_STATUS(kmb_bench(b.device, &p, &r), cases[i].status);
    (void)kmb_last_error(NULL, &vendor);
    REQUIRE_EQ(vendor, cases[i].code);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* Programs have been slower after a profiler than before it. */
static void f18_events_after_cupti_say_so(void) {
  static const kmb_timer timers[] = {KMB_TIMER_EVENT, KMB_TIMER_GRAPH};
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 1, 1);
  for (int traced_before = 0; traced_before < 2; traced_before++)
    for (int t = 0; t < 2 - !traced_before; t++) {
      kmb_bench_params p = bed_params(timers[t], 0, KMB_CACHE_WARM);
      p.launch = bed_launch_spin;
      p.launch_user = &s;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      const char *said = bed_finding(r, KMB_FINDING_CUPTI_ATTACHED);
      REQUIRE_EQ(said != NULL, traced_before);
      if (said) REQUIRE_HAS(said, "was traced");
      kmb_result_destroy(r);
    }
  kmb_bench_params p = traced(&s, KMB_LAUNCH_PLAIN);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(!bed_finding(r, KMB_FINDING_CUPTI_ATTACHED));
  kmb_result_destroy(r);
  /* Asking leaves nothing behind. */
  p.timer = KMB_TIMER_EVENT;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_finding(r, KMB_FINDING_CUPTI_ATTACHED));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f18_another_tool_on_cupti_is_told(void) {
  static const kmb_timer timers[] = {KMB_TIMER_EVENT, KMB_TIMER_GRAPH};
  bed b;
  bed_start(&b);
  sim_set()->other_subscriber = true;
  spin s = bed_spin(&b, 1, 1);
  for (int t = 0; t < 2; t++) {
    kmb_result *r = NULL;
    kmb_bench_params p = bed_params(timers[t], 0, KMB_CACHE_WARM);
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_HAS(bed_finding(r, KMB_FINDING_CUPTI_ATTACHED), "another tool");
    kmb_result_destroy(r);
  }
  /* Its session is left alone. */
  REQUIRE_EQ(sim_calls(SIM_cuptiUnsubscribe), 0);
  REQUIRE_EQ(sim_calls(SIM_cuptiActivityEnable), 0);
  bed_end(&b);
}

static void f17_a_fallback_is_said_and_can_be_forbidden(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->other_subscriber = true;
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_COLD);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER), "ERR_BUSY");
  REQUIRE(bed_finding(r, KMB_FINDING_UNCALIBRATED));
  kmb_result_destroy(r);
  p.timer = KMB_TIMER_TRACE;
  p.flags |= KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_BUSY);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(f8_three_sessions_have_all_their_records);
  failed += ALONE(f9_records_without_times_are_counted_as_invalid);
  failed += ALONE(f10_a_drop_count_that_cannot_be_had_is_not_none);
  failed += ALONE(f12_warm_up_records_stay_out);
  failed += ALONE(f12_records_in_parts_are_of_their_own_launch);
  failed += ALONE(records_in_any_order_serve);
  failed += ALONE(a_span_without_all_its_records_is_left_out);
  failed += ALONE(a_lost_only_kernel_is_missing_not_invalid);
  failed += ALONE(records_that_cupti_drops_are_told);
  failed += ALONE(f13_a_launch_through_the_driver_is_one_kernel);
  failed += ALONE(f13_the_same_where_single_calls_are_not_recorded);
  failed += ALONE(f14_a_graph_launch_shows_24_kernels_and_7_copies);
  failed += ALONE(f15_a_second_subscriber_is_busy);
  failed += ALONE(f16_without_privileges_is_perm);
  failed += ALONE(f18_events_after_cupti_say_so);
  failed += ALONE(f18_another_tool_on_cupti_is_told);
  failed += ALONE(f17_a_fallback_is_said_and_can_be_forbidden);
  return failed != 0;
}
