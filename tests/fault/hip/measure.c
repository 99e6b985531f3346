/* Whole measurements on the virtual AMD GPU: every timer, launch mode and cache
 * state, whose times are known. */
#include <math.h>

#include "bed.h"
#include "sim/costs.h"

static const struct {
  kmb_timer timer;
  kmb_launch_mode mode;
} ways[] = {{KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
            {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
            {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH}};
enum { WAYS = sizeof ways / sizeof ways[0], CORRECTED = 3 };

/* What a further kernel that stores nothing adds to a replay: zero is there. */
enum { SIM_ZERO = SIM_KERNEL - SIM_NODE_SAVES };

static void timers_agree_after_correction(void) {
  static const double lengths[] = {0, 0.5, 1, 5, 50};
  bed b;
  bed_start(&b);
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
    for (int w = 0; w < CORRECTED; w++) {
      spin s = bed_spin(&b, lengths[l], 1);
      kmb_result *r = NULL;
      kmb_bench_params p =
          bed_params(ways[w].timer, ways[w].mode, KMB_CACHE_WARM);
      p.launch = bed_launch_spin;
      p.launch_user = &s;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), lengths[l] * 1e3 + SIM_ZERO,
                   2 * SIM_TICK);
      REQUIRE(bed_f64(r, KMB_VALUE_BIAS) > 0);
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

/* Of a kernel that leaves nothing behind too much is taken off, and no more
 * than the uncertainty says. */
static void a_kernel_that_stores_nothing_is_within_the_uncertainty(void) {
  bed b;
  bed_start(&b);
  for (int w = 0; w < CORRECTED; w++) {
    spin s = bed_spin(&b, 5, 1);
    kmb_result *r = NULL;
    kmb_bench_params p =
        bed_params(ways[w].timer, ways[w].mode, KMB_CACHE_WARM);
    s.kernel = bed_kernel(&b, "test_silent");
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 5e3 + SIM_ZERO - SIM_WRITE_BACK,
                 3 * SIM_TICK);
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_BIAS_UNCERTAINTY), SIM_WRITE_BACK,
                 3 * SIM_TICK);
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

/* Graphs and plain launches give the same outputs. */
static void every_timer_and_cache_state_measures_and_checks(void) {
  bed b;
  bed_start(&b);
  for (int w = 0; w < WAYS; w++)
    for (kmb_cache_state c = KMB_CACHE_COLD; c <= KMB_CACHE_WARM; c++) {
      if (ways[w].timer == KMB_TIMER_GRAPH && c == KMB_CACHE_COLD) continue;
      kmb_result *r = run_add(&b, w, c);
      REQUIRE_STR(bed_text(r, KMB_VALUE_CHECK),
                  "passed before and after timing");
      REQUIRE(bed_f64(r, KMB_VALUE_TIME) > SIM_ZERO + SIM_READ);
      kmb_result_destroy(r);
    }
  REQUIRE_EQ(sim_events_in_captures(), 0);
  bed_end(&b);
}

/* 64 KiB in and out, which the Infinity Cache holds and the L2 does not. */
static void cold_is_past_the_infinity_cache(void) {
  bed b;
  bed_start(&b);
  kmb_result *cold = run_add(&b, 1, KMB_CACHE_COLD);
  kmb_result *warm = run_add(&b, 1, KMB_CACHE_WARM);
  double more = (SIM_MIB_COLD - SIM_MIB_MALL) / 16.0 * 2;
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
  uint64_t number = 0;
  double tick = 0;
  bed_start(&b);
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_NAME, &text));
  REQUIRE_STR(text, "Simulated MI300X");
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_ARCH, &text));
  REQUIRE_STR(text, "gfx942");
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_ISA, &text));
  REQUIRE_STR(text, "gfx942:sramecc+:xnack-");
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_PCI_ID, &text));
  REQUIRE_STR(text, "1002:74a1");
  REQUIRE_OK(kmb_device_attr_text(b.device, KMB_DEVICE_UUID, &text));
  REQUIRE_STR(text, "GPU-000000000000abc0");
  REQUIRE_OK(kmb_device_attr_u64(b.device, KMB_DEVICE_NUMA_NODE, &number));
  REQUIRE_EQ(number, 1);
  REQUIRE_OK(kmb_device_attr_f64(b.device, KMB_DEVICE_CLOCK_TICK_NS, &tick));
  REQUIRE_NEAR(tick, SIM_TICK, 0);
  bed_end(&b);
}

/* With buffers AUTO replays graphs over slots in turn. */
static void auto_replays_graphs_over_rotating_buffers(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  kmb_buffers *buffers = bed_add_buffers(&b, 16 << 10);
  add a = {&b, bed_kernel(&b, "test_add"), 16 << 10};
  kmb_bench_params p = bed_params(0, 0, 0);
  p.launch = bed_launch_add;
  p.launch_user = &a;
  p.buffers = buffers;
  p.flags = 0;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "GRAPH");
  REQUIRE_STR(bed_text(r, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  REQUIRE_STR(bed_text(r, KMB_VALUE_CACHE_STATE), "ROTATED");
  REQUIRE_HAS(bed_text(r, KMB_VALUE_CONFIRM_METHOD), "EVENT");
  REQUIRE(!bed_finding(r, KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(!bed_finding(r, KMB_FINDING_FALLBACK_TIMER));
  REQUIRE(!bed_finding(r, KMB_FINDING_NOT_COLD));
  REQUIRE(!bed_finding(r, KMB_FINDING_UNCALIBRATED));
  REQUIRE_HAS(bed_text(r, KMB_VALUE_ZERO_REFERENCE), "GRAPH");
  kmb_result_destroy(r);
  kmb_buffers_destroy(buffers);
  bed_end(&b);
}

static void telemetry_comes_from_amd_smi(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_metadata(r, "telemetry.before.clock_mhz"), "2100");
  REQUIRE_STR(bed_metadata(r, "telemetry.after.temperature_c"), "47");
  REQUIRE(bed_metadata(r, "telemetry.after.energy_j"));
  REQUIRE_STR(bed_metadata(r, "device.ecc"), "on");
  kmb_result_destroy(r);
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
  } turns[] = {{KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM},
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
  RUN(a_kernel_that_stores_nothing_is_within_the_uncertainty);
  RUN(every_timer_and_cache_state_measures_and_checks);
  RUN(cold_is_past_the_infinity_cache);
  RUN(random_fill_is_the_hosts);
  RUN(auto_replays_graphs_over_rotating_buffers);
  RUN(telemetry_comes_from_amd_smi);
  RUN(candidates_take_turns_on_one_device);
  return 0;
}
