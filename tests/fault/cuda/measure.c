/* Whole measurements on the virtual GPU: every timer, launch mode and cache
 * state, whose times are known. */
#include <math.h>

#include "bed.h"
#include "sim/costs.h"

static const struct {
  kmb_timer timer;
  kmb_launch_mode mode;
} ways[] = {
    {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}, {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}, {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
    {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}, {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
    {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void timers_agree_after_correction(void) {
  static const double lengths[] = {0, 0.5, 1, 5, 50};
  bed b;
  bed_start(&b);
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
    for (int w = 0; w < 5; w++) {
      spin s = bed_spin(&b, lengths[l], 1);
      kmb_result *r = NULL;
      kmb_bench_params p =
          bed_params(ways[w].timer, ways[w].mode, KMB_CACHE_WARM);
      p.launch = bed_launch_spin;
      p.launch_user = &s;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), lengths[l] * 1e3 + SIM_KERNEL,
                   2 * SIM_TICK);
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

/* What a launch fetches after a sweep is in EVENT and not in TRACE: the bias is
 * that of COLD, and as wrong as kernels differ. */
static void events_have_another_bias_after_a_sweep(void) {
  static const kmb_cache_state states[] = {KMB_CACHE_WARM, KMB_CACHE_COLD};
  bed b;
  bed_start(&b);
  for (kmb_launch_mode m = KMB_LAUNCH_PLAIN; m <= KMB_LAUNCH_GRAPH; m++) {
    double bias[2], wrong[2];
    for (int c = 0; c < 2; c++) {
      spin s = bed_spin(&b, 5, 1);
      kmb_result *r = NULL;
      kmb_bench_params p = bed_params(KMB_TIMER_EVENT, m, states[c]);
      p.launch = bed_launch_spin;
      p.launch_user = &s;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      bias[c] = bed_f64(r, KMB_VALUE_BIAS);
      wrong[c] = bed_f64(r, KMB_VALUE_BIAS_UNCERTAINTY);
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 5e3 + SIM_KERNEL,
                   wrong[c] + SIM_TICK);
      kmb_result_destroy(r);
    }
    /* The mean over kernels of 0, 2, 2, 2, 7 and 3 parameters. */
    bool plain = m == KMB_LAUNCH_PLAIN;
    REQUIRE_NEAR(bias[1] - bias[0], 16 / 6.0 * SIM_FETCH, SIM_TICK);
    /* Between the nodes of a traced graph is what tracing costs. */
    REQUIRE(wrong[0] < 4 * SIM_TICK + (plain ? 0 : SIM_NODE_TRACED));
    REQUIRE(wrong[1] > 4.2 * SIM_FETCH);
  }
  bed_end(&b);
}

/* Where a graph's executable lies costs up to 352 ns: several take turns. */
static void events_on_graphs_do_not_depend_on_where_they_lie(void) {
  bed b;
  bed_start(&b);
  for (int i = 0; i < 12; i++) {
    spin s = bed_spin(&b, 5, 1);
    kmb_result *r = NULL;
    kmb_bench_params p =
        bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 5e3 + SIM_KERNEL, 80);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

static kmb_status add_check(void *user, kmb_check *check) {
  const add *a = user;
  const float *before = check->after[0], *after = check->after[1];
  check->error = 0;
  for (uint32_t i = 0; i < a->count; i++)
    check->error = fmax(check->error, fabs(after[i] - before[i] - 1.0));
  return check->error > 1e-6 ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_result *run_add(bed *b, int way, kmb_cache_state cache) {
  kmb_result *r = NULL;
  kmb_buffers *buffers = bed_add_buffers(b, 16 << 10);
  REQUIRE(buffers);
  add a = {b, bed_kernel(b, "test_add"), 16 << 10};
  kmb_bench_params p = bed_params(ways[way].timer, ways[way].mode, cache);
  p.launch = bed_launch_add;
  p.launch_user = &a;
  p.buffers = buffers;
  p.check = add_check;
  p.check_user = &a;
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  kmb_buffers_destroy(buffers);
  return r;
}

static void every_timer_and_cache_state_measures_and_checks(void) {
  bed b;
  bed_start(&b);
  for (int w = 0; w < WAYS; w++)
    for (kmb_cache_state c = KMB_CACHE_COLD; c <= KMB_CACHE_WARM; c++) {
      if (ways[w].timer == KMB_TIMER_GRAPH && c == KMB_CACHE_COLD) continue;
      kmb_result *r = run_add(&b, w, c);
      REQUIRE_STR(bed_text(r, KMB_VALUE_CHECK),
                  "passed before and after timing");
      REQUIRE(bed_f64(r, KMB_VALUE_TIME) > SIM_KERNEL + SIM_READ);
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

typedef struct late_check {
  add op;
  int calls;
} late_check;

static kmb_status fail_at_the_last(void *user, kmb_check *check) {
  late_check *c = user;
  return c->calls++ ? 42 : add_check(&c->op, check);
}

/* A gate that cannot be closed is no failure, and leaves none behind that the
 * caller's would be taken for. */
static void a_check_that_fails_later_is_what_is_said(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->blocking = true;
  kmb_buffers *buffers = bed_add_buffers(&b, 16 << 10);
  late_check c = {{&b, bed_kernel(&b, "test_add"), 16 << 10}, 0};
  kmb_bench_params p =
      bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = bed_launch_add;
  p.launch_user = &c.op;
  p.buffers = buffers;
  p.check = fail_at_the_last;
  p.check_user = &c;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), 42);
  REQUIRE_EQ(c.calls, 2);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "a callback returned 42");
  kmb_buffers_destroy(buffers);
  bed_end(&b);
}

/* 64 KiB in and out of a 256 KiB cache. */
static void cold_takes_longer_than_warm(void) {
  bed b;
  bed_start(&b);
  kmb_result *cold = run_add(&b, 0, KMB_CACHE_COLD);
  kmb_result *warm = run_add(&b, 0, KMB_CACHE_WARM);
  double more = (SIM_MIB_COLD - SIM_MIB_HOT) / 16.0 * 2;
  REQUIRE_NEAR(bed_f64(cold, KMB_VALUE_TIME) - bed_f64(warm, KMB_VALUE_TIME),
               more, SIM_TICK);
  kmb_result_destroy(cold);
  kmb_result_destroy(warm);
  bed_end(&b);
}

static void random_fill_is_the_hosts(void) {
  static const kmb_dtype types[] = {KMB_F16,     KMB_BF16,   KMB_F32,
                                    KMB_F64,     KMB_TF32,   KMB_F8_E4M3,
                                    KMB_F8_E5M2, KMB_F4_E2M1};
  bed b;
  kmb_device *host = NULL;
  bed_start(&b);
  REQUIRE_OK(kmb_device_open("host", NULL, &host));
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    void *at[2] = {NULL, NULL};
    kmb_buffers *sets[2] = {NULL, NULL};
    for (int d = 0; d < 2; d++) {
      kmb_buffer_desc desc = kmb_buffer_desc_init();
      desc.name = "x";
      desc.bytes = 4096;
      desc.dtype = types[i];
      desc.role = KMB_INPUT;
      REQUIRE_OK(kmb_buffers_create(d ? host : b.device, &desc, sizeof desc, 1,
                                    NULL, &sets[d]));
      REQUIRE_OK(kmb_buffers_prepare(sets[d], 1));
      REQUIRE_OK(kmb_buffers_pointer(sets[d], 0, 0, &at[d]));
    }
    /* Device memory of the virtual GPU is the host's. */
    REQUIRE(memcmp(at[0], at[1], 4096) == 0);
    kmb_buffers_destroy(sets[0]);
    kmb_buffers_destroy(sets[1]);
  }
  kmb_device_close(host);
  bed_end(&b);
}

static void the_device_is_described(void) {
  bed b;
  const char *text = NULL;
  double tick = 0;
  bed_start(&b);
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_NAME, &text));
  REQUIRE_STR(text, "Simulated H200");
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_PCI_ID, &text));
  REQUIRE_STR(text, "10de:2335");
  REQUIRE_OK(kmb_device_attr_f64(b.device, KMB_DEVICE_CLOCK_TICK_NS, &tick));
  REQUIRE_NEAR(tick, SIM_TICK, 0);
  bed_end(&b);
}

static void auto_traces_cold_and_confirms(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = bed_params(0, 0, 0);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  p.flags = 0;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_STR(bed_text(r, KMB_VALUE_CACHE_STATE), "COLD");
  REQUIRE_HAS(bed_text(r, KMB_VALUE_CONFIRM_METHOD), "EVENT");
  REQUIRE_STR(bed_text(r, KMB_VALUE_ZERO_REFERENCE), "TRACE on plain launches");
  REQUIRE(!bed_finding(r, KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(!bed_finding(r, KMB_FINDING_FALLBACK_TIMER));
  kmb_result_destroy(r);
  bed_end(&b);
}

typedef struct stopping {
  spin s;
  unsigned launches, stop_at;
  volatile int32_t cancel;
} stopping;

static kmb_status launch_until_stopped(void *user, const kmb_launch *launch) {
  stopping *s = user;
  if (++s->launches == s->stop_at) s->cancel = 1;
  return bed_launch_spin(&s->s, launch);
}

/* Cancelled while samples are taken, so that the calibration that follows
 * takes none: that is no property of the timer. */
static void a_cancelled_calibration_is_made_up_for(void) {
  bed b;
  kmb_result *r = NULL;
  kmb_device *device = NULL;
  kmb_hooks hooks = kmb_hooks_init();
  kmb_device_params d = kmb_device_params_init();
  sim_reset();
  bed_set_up(&b);
  stopping s = {.s = bed_spin(&b, 5, 1)};
  hooks.cancel = &s.cancel;
  d.hooks = &hooks;
  REQUIRE_OK(kmb_device_open("cuda:0", &d, &device));
  kmb_bench_params p =
      bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_until_stopped;
  p.launch_user = &s;
  s.stop_at = 150;
  p.min_samples = 500;
  p.max_samples = 500;
  REQUIRE_OK(kmb_bench(device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_STOP_REASON), "CANCELLED");
  REQUIRE(bed_finding(r, KMB_FINDING_UNCALIBRATED));
  kmb_result_destroy(r);
  s.cancel = 0;
  REQUIRE_OK(kmb_bench(device, &p, &r));
  REQUIRE(!bed_finding(r, KMB_FINDING_UNCALIBRATED));
  REQUIRE(bed_f64(r, KMB_VALUE_BIAS) > 0);
  kmb_result_destroy(r);
  kmb_device_close(device);
  bed_tear_down(&b);
}

/* Kernels that let the next one start before they end. */
static void programmatic_launches_do_not_overlap(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 10, 1);
  sim_set()->programmatic = true;
  for (kmb_timer timer = KMB_TIMER_TRACE; timer <= KMB_TIMER_HOST; timer++)
    for (kmb_launch_mode mode = 1; mode <= 2; mode++) {
      kmb_result *r = NULL;
      kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
      p.launch = bed_launch_spin;
      p.launch_user = &s;
      p.flags = KMB_BENCH_NO_CONFIRM;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      REQUIRE(bed_f64(r, KMB_VALUE_TIME) > 10e3);
      REQUIRE(!bed_finding(r, KMB_FINDING_ITERATIONS_OVERLAP));
      if (timer == KMB_TIMER_GRAPH) {
        REQUIRE(strcmp(bed_text(r, KMB_VALUE_TIMER), "GRAPH") != 0);
        REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
                    mode == KMB_LAUNCH_GRAPH ? "programmatically dependent"
                                             : "GRAPH");
      }
      kmb_result_destroy(r);
    }
  sim_set()->programmatic = false;
  bed_end(&b);
}

/* Each holds its stream and its plan while the other one has its turn. */
static kmb_status compare(bed *b, kmb_bench_params p, void *streams[2],
                          kmb_compare_row *row) {
  spin s[2] = {bed_spin(b, 5, 1), bed_spin(b, 6, 1)};
  kmb_bench_params own[2] = {p, p};
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  kmb_compare_params params = kmb_compare_params_init();
  kmb_comparison *comparison = NULL;
  for (int i = 0; i < 2; i++) {
    own[i].name = i ? "six" : "five";
    own[i].launch = bed_launch_spin;
    own[i].launch_user = &s[i];
    own[i].stream = streams[i];
    c[i].bench = &own[i];
  }
  params.min_cycles = 8;
  params.max_cycles = 8;
  kmb_status status =
      kmb_compare(b->device, c, sizeof c[0], 2, &params, &comparison);
  if (!status) REQUIRE_OK(kmb_comparison_row(comparison, 1, row));
  kmb_comparison_destroy(comparison);
  return status;
}

static void candidates_take_turns_on_one_device(void) {
  static const struct {
    kmb_timer timer;
    kmb_launch_mode mode;
    kmb_cache_state cache;
  } turns[] = {{KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD},
               {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM},
               {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM},
               {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD}};
  bed b;
  bed_start(&b);
  for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
    kmb_bench_params p =
        bed_params(turns[i].timer, turns[i].mode, turns[i].cache);
    for (int own = 0; own < 4; own++) { /* whose stream is the caller's */
      void *streams[2] = {own & 1 ? b.stream : NULL, own & 2 ? b.stream : NULL};
      kmb_compare_row row = kmb_compare_row_init();
      REQUIRE_OK(compare(&b, p, streams, &row));
      REQUIRE(row.ratio > 1.1 && row.ratio < 1.2);
      REQUIRE_EQ(row.verdict, KMB_VERDICT_SLOWER);
    }
  }
  bed_end(&b);
}

int main(void) {
  RUN(the_device_is_described);
  RUN(timers_agree_after_correction);
  RUN(events_have_another_bias_after_a_sweep);
  RUN(events_on_graphs_do_not_depend_on_where_they_lie);
  RUN(every_timer_and_cache_state_measures_and_checks);
  RUN(a_check_that_fails_later_is_what_is_said);
  RUN(programmatic_launches_do_not_overlap);
  RUN(cold_takes_longer_than_warm);
  RUN(random_fill_is_the_hosts);
  RUN(auto_traces_cold_and_confirms);
  RUN(a_cancelled_calibration_is_made_up_for);
  RUN(candidates_take_turns_on_one_device);
  return 0;
}
