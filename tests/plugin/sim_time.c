/* The simulated device keeps its word on time: durations, timers, noise. */
#include "drive.h"

#include <math.h>

#define EXACT "tick=0,"

static double once(const char *spec, kmb_timer timer, kmb_launch_mode mode,
                   uint64_t batch) {
  drive d;
  drive_open(&d, spec, timer, mode, KMB_CACHE_WARM);
  d.desc.batch = batch;
  double span = drive_span(&d);
  drive_close(&d);
  return span;
}

static void each_timer_has_its_own_bias(void) {
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, 1), 20000, 1e-3);
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, 1), 20200, 1e-3);
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, 1), 23900, 1e-3);
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH, 1), 23900, 1e-3);
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 10), 205000,
               1e-3);
  /* One launch, ten kernels behind each other, one wait. */
  REQUIRE_NEAR(once(EXACT, KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, 10),
               10 + 2000 + 200000 + 1000, 1e-3);
  REQUIRE_NEAR(once(EXACT "kernel=100", KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, 10),
               10 * 2010 + 100 + 1000, 1e-3);
}

static void a_timer_can_lie(void) {
  REQUIRE_NEAR(
      once(EXACT "lie=event:1.1", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, 1), 26290,
      1e-3);
  REQUIRE_NEAR(
      once(EXACT "lie=event:1.1", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, 1), 20000,
      1e-3);
}

static void timestamps_are_on_the_tick(void) {
  drive d;
  kmb_sample s[64];
  int odd = 0;
  drive_open(&d, "tick=32,kernel=20010", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_EQ(drive_run(&d, 64, s), 64);
  for (int i = 0; i < 64; i++) {
    REQUIRE(fmod(s[i].span_ns, 32) == 0);
    REQUIRE_NEAR(s[i].span_ns, 20010, 32);
    odd += s[i].span_ns != s[0].span_ns;
  }
  REQUIRE(odd > 0);
  drive_close(&d);
}

static void several_kernels_show_the_hosts_gaps(void) {
  drive d;
  kmb_sample s;
  drive_open(&d, EXACT "kernel=500", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  d.op.kernels = 3;
  REQUIRE_EQ(drive_run(&d, 1, &s), 1);
  /* Launches come 3000 apart while the tracer is on. */
  REQUIRE_NEAR(s.span_ns, 2 * 3000 + 500, 1e-3);
  REQUIRE_NEAR(s.busy_ns, 1500, 1e-3);
  REQUIRE_NEAR(s.sum_ns, 1500, 1e-3);
  REQUIRE_EQ(s.ops, 3);
  drive_close(&d);
}

static void a_gate_and_a_graph_hide_them(void) {
  drive d;
  drive_open(&d, EXACT "kernel=500", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  d.op.kernels = 3;
  REQUIRE_NEAR(drive_span(&d), 1500 + 3900, 1e-3);
  drive_stop(&d);
  d.desc.choice.timer = KMB_TIMER_TRACE;
  d.desc.choice.launch_mode = KMB_LAUNCH_GRAPH;
  REQUIRE_NEAR(drive_span(&d), 1500 + 200, 1e-3);
  drive_close(&d);
}

static void kernels_of_a_graph_can_overlap(void) {
  REQUIRE_NEAR(once(EXACT "overlap=0.25", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 5),
               20000 + 4 * 15000 + 5000, 1e-3);
}

/* Moments of many samples. */
typedef struct moments {
  double mean, sd, lag1, slow;
} moments;

enum { MANY = 20000 };
static kmb_sample many[MANY];

static moments measure(const char *spec) {
  drive d;
  moments m = {0, 0, 0, 0};
  drive_open(&d, spec, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_EQ(drive_run(&d, MANY, many), MANY);
  drive_close(&d);
  for (int i = 0; i < MANY; i++)
    m.mean += many[i].span_ns / MANY;
  for (int i = 0; i < MANY; i++) {
    double a = many[i].span_ns - m.mean;
    m.sd += a * a / MANY;
    if (i) m.lag1 += a * (many[i - 1].span_ns - m.mean) / MANY;
    m.slow += many[i].span_ns > 22000 ? 1.0 / MANY : 0;
  }
  m.lag1 = m.sd > 0 ? m.lag1 / m.sd : 0;
  m.sd = sqrt(m.sd);
  return m;
}

static void gaussian_noise_has_its_moments(void) {
  moments m = measure(EXACT "noise=gauss:0.05");
  REQUIRE_NEAR(m.mean, 20000, 30);
  REQUIRE_NEAR(m.sd, 1000, 30);
  REQUIRE_NEAR(m.lag1, 0, 0.03);
}

static void tails_come_as_often_as_asked(void) {
  moments m = measure(EXACT "tail=0.02:3");
  REQUIRE_NEAR(m.slow, 0.02, 0.004);
  REQUIRE_NEAR(m.mean, 20000 * 1.04, 20000 * 0.008);
}

static void autocorrelation_keeps_the_deviation(void) {
  moments m = measure(EXACT "ar=0.9:0.05");
  REQUIRE_NEAR(m.mean, 20000, 120);
  REQUIRE_NEAR(m.sd, 1000, 100);
  REQUIRE_NEAR(m.lag1, 0.9, 0.03);
}

static int mode_changes(void) {
  int changes = 0;
  for (int i = 1; i < MANY; i++)
    changes += (many[i].span_ns > 22000) != (many[i - 1].span_ns > 22000);
  return changes;
}

static void modes_have_their_share_and_their_dwell(void) {
  moments m = measure(EXACT "modes=0.3:0.25");
  REQUIRE_NEAR(m.slow, 0.3, 0.015);
  REQUIRE_NEAR(mode_changes(), 2 * 0.3 * 0.7 * MANY, 300);
  m = measure(EXACT "modes=0.3:0.25:50");
  REQUIRE_NEAR(m.slow, 0.3, 0.06);
  REQUIRE_NEAR(mode_changes(), 2 * 0.3 * MANY / 50, 50);
}

static void drift_decays(void) {
  measure(EXACT "drift=0.2:20e6");
  REQUIRE_NEAR(many[0].span_ns, 24000, 1);
  double t = 0;
  for (int i = 0; i < MANY; i++) {
    REQUIRE_NEAR(many[i].span_ns, 20000 * (1 + 0.2 * exp(-t / 20e6)), 1);
    if (i + 1 < MANY)
      t += many[i + 1].end_ns - many[i].end_ns -
           (many[i + 1].span_ns - many[i].span_ns);
  }
  REQUIRE_NEAR(many[MANY - 1].span_ns, 20000, 1);
}

static void throttling_has_a_window_and_a_reason(void) {
  moments m = measure(EXACT "throttle=1.1e9:1.5:0.1e9");
  REQUIRE_NEAR(many[0].span_ns, 20000, 1e-3);
  REQUIRE_NEAR(many[MANY - 1].span_ns, 20000, 1e-3);
  double slow_ns = 0;
  for (int i = 0; i < MANY; i++)
    if (many[i].span_ns > 22000) slow_ns += many[i].span_ns + 4010;
  REQUIRE(m.slow > 0);
  REQUIRE_NEAR(slow_ns, 0.1e9, 1e5);
}

static void rest_lowers_the_clock_for_a_while(void) {
  drive d;
  drive_open(&d, EXACT "idle=1e6:2:1e5", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_NEAR(drive_span(&d), 20000, 1e-3);
  d.ops->sleep(d.self, 2e6);
  REQUIRE_NEAR(drive_span(&d), 40000, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 40000, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 40000, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 20000, 1e-3);
  drive_close(&d);
}

static void compiling_costs_the_host(void) {
  drive d;
  drive_open(&d, EXACT "compile=5e6:2", KMB_TIMER_HOST, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_NEAR(drive_span(&d), 23010, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 23010 + 5e6, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 23010, 1e-3);
  drive_close(&d);
}

static void spans(double *ns) {
  for (int i = 0; i < MANY; i++)
    ns[i] = many[i].span_ns;
}

static int differences(const double *ns) {
  int count = 0;
  for (int i = 0; i < MANY; i++)
    count += ns[i] != many[i].span_ns;
  return count;
}

static void only_the_seed_decides(void) {
  static double first[MANY];
  const char *spec = "noise=gauss:0.05,tail=0.02:3,ar=0.9:0.05,seed=7";
  measure(spec);
  spans(first);
  measure(spec);
  REQUIRE_EQ(differences(first), 0);
  measure("noise=gauss:0.05,tail=0.02:3,ar=0.9:0.05,seed=8");
  REQUIRE(differences(first) > MANY / 2);
}

static void the_clock_is_virtual(void) {
  drive d;
  drive_open(&d, "now=20", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  double t = d.ops->now(d.self);
  d.ops->sleep(d.self, 3600e9);
  REQUIRE_NEAR(d.ops->now(d.self) - t, 3600e9 + 20, 1e-3);
  drive_close(&d);
}

int main(void) {
  RUN(each_timer_has_its_own_bias);
  RUN(a_timer_can_lie);
  RUN(timestamps_are_on_the_tick);
  RUN(several_kernels_show_the_hosts_gaps);
  RUN(a_gate_and_a_graph_hide_them);
  RUN(kernels_of_a_graph_can_overlap);
  RUN(gaussian_noise_has_its_moments);
  RUN(tails_come_as_often_as_asked);
  RUN(autocorrelation_keeps_the_deviation);
  RUN(modes_have_their_share_and_their_dwell);
  RUN(drift_decays);
  RUN(throttling_has_a_window_and_a_reason);
  RUN(rest_lowers_the_clock_for_a_while);
  RUN(compiling_costs_the_host);
  RUN(only_the_seed_decides);
  RUN(the_clock_is_virtual);
  return 0;
}
