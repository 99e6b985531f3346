/* Each finding is raised where there is reason, and only there. */
#include "engine.h"

/* Runs without buffers; says whether the finding came. */
static bool comes(const char *spec, kmb_finding_code code) {
  trial t;
  begin(&t, spec);
  run(&t);
  bool came = raised(&t, code);
  finish(&t);
  return came;
}

static bool comes_with(const char *spec, kmb_finding_code code,
                       void (*change)(trial *t)) {
  trial t;
  begin(&t, spec);
  change(&t);
  run(&t);
  bool came = raised(&t, code);
  finish(&t);
  return came;
}

static void a_quiet_run_raises_nothing(void) {
  trial t;
  begin(&t, "noise=gauss:0.01,cold=22000");
  with_buffers(&t, MIB);
  run(&t);
  REQUIRE_EQ(kmb_result_finding_count(t.r), 0);
  finish(&t);
}

static void fallback_timer(void) {
  REQUIRE(comes("busy=trace", KMB_FINDING_FALLBACK_TIMER));
  REQUIRE(!comes("", KMB_FINDING_FALLBACK_TIMER));
}

static void ask_for_event(trial *t) {
  t->p.timer = KMB_TIMER_EVENT;
}

static void ask_for_host(trial *t) {
  t->p.timer = KMB_TIMER_HOST;
  t->p.cache = KMB_CACHE_WARM;
}

static void uncalibrated(void) {
  REQUIRE(comes_with("calibrated=0", KMB_FINDING_UNCALIBRATED, ask_for_event));
  REQUIRE(!comes_with("", KMB_FINDING_UNCALIBRATED, ask_for_event));
  /* HOST has no bias to be calibrated. */
  REQUIRE(!comes_with("calibrated=0", KMB_FINDING_UNCALIBRATED, ask_for_host));
}

static void on_host(trial *t) {
  t->p.timer = KMB_TIMER_HOST;
}

static void timers_disagree(void) {
  REQUIRE(comes("lie=event:1.2,noise=gauss:0.01", KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(!comes("noise=gauss:0.01", KMB_FINDING_TIMERS_DISAGREE));
  /* The host's clock may read more, since the launch is in it, but not less. */
  REQUIRE(!comes("timers=trace+host", KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(comes("timers=trace+host,lie=host:0.8", KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(
      !comes_with("timers=trace+host", KMB_FINDING_TIMERS_DISAGREE, on_host));
  REQUIRE(comes_with("timers=trace+host,lie=host:0.8",
                     KMB_FINDING_TIMERS_DISAGREE, on_host));
  REQUIRE(
      comes("bias_error=0.5,noise=gauss:0.01", KMB_FINDING_TIMERS_DISAGREE));
}

static void rotate(trial *t) {
  with_buffers(t, MIB);
  t->p.cache = KMB_CACHE_ROTATED;
}

static void not_cold(void) {
  /* 17 slots of two buffers and their guards are needed. */
  REQUIRE(comes_with("memory=20000000", KMB_FINDING_NOT_COLD, rotate));
  REQUIRE(!comes_with("memory=90000000", KMB_FINDING_NOT_COLD, rotate));
}

static void big_and_warm(trial *t) {
  with_buffers(t, 5 * MIB);
  t->p.cache = KMB_CACHE_WARM;
}

static void not_warm(void) {
  REQUIRE(comes_with("", KMB_FINDING_NOT_WARM, big_and_warm));
  REQUIRE(!comes_with("llc=11000000", KMB_FINDING_NOT_WARM, big_and_warm));
}

static kmb_work work;

static void move_bytes(trial *t) {
  work = kmb_work_init();
  work.read_bytes = 20000000; /* in 20 us: 1e12 bytes/s */
  t->p.work = &work;
}

static void above_peak(void) {
  REQUIRE(comes_with("read=0.9e12", KMB_FINDING_ABOVE_PEAK, move_bytes));
  REQUIRE(!comes_with("read=1.1e12", KMB_FINDING_ABOVE_PEAK, move_bytes));
}

static void unknown_peak(void) {
  REQUIRE(comes_with("", KMB_FINDING_UNKNOWN_PEAK, move_bytes));
  REQUIRE(!comes_with("read=1.1e12", KMB_FINDING_UNKNOWN_PEAK, move_bytes));
}

static void throttled(void) {
  REQUIRE(comes("throttle=0:1.5", KMB_FINDING_THROTTLED));
  REQUIRE(!comes("throttle=1e15:1.5", KMB_FINDING_THROTTLED));
  REQUIRE(!comes("throttle=0:1.5,telemetry=0", KMB_FINDING_THROTTLED));
}

/* Measuring starts soon after 1e9, where the clock starts. */
static void clock_drift(void) {
  REQUIRE(comes("throttle=1.02e9:1.5", KMB_FINDING_CLOCK_DRIFT));
  REQUIRE(!comes("throttle=0:1.5", KMB_FINDING_CLOCK_DRIFT));
}

static void unstable(void) {
  REQUIRE(comes("noise=gauss:0.2", KMB_FINDING_UNSTABLE));
  REQUIRE(!comes("noise=gauss:0.05", KMB_FINDING_UNSTABLE));
}

static void bimodal(void) {
  REQUIRE(comes("modes=0.3:0.1,noise=gauss:0.01", KMB_FINDING_BIMODAL));
  REQUIRE(!comes("noise=gauss:0.05", KMB_FINDING_BIMODAL));
  REQUIRE(!comes("tail=0.02:3,noise=gauss:0.05", KMB_FINDING_BIMODAL));
}

static void drift(void) {
  REQUIRE(comes("drift=-0.3:2e8,noise=gauss:0.02", KMB_FINDING_DRIFT));
  REQUIRE(!comes("noise=gauss:0.02", KMB_FINDING_DRIFT));
  trial t;
  begin(&t, "drift=-0.3:2e8,noise=gauss:0.02");
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_SAMPLES_DROPPED) > 0);
  finish(&t);
  /* A drift that outlasts the run stays in the kept samples. */
  begin(&t, "drift=-0.9:2e9,noise=gauss:0.02");
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_DRIFT));
  REQUIRE(f64(&t, KMB_VALUE_DRIFT_PCT) > 1);
  finish(&t);
}

static void invalid_timestamps(void) {
  trial t;
  begin(&t, "record_invalid=0.1,noise=gauss:0.02");
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_INVALID_TIMESTAMPS));
  double n = (double)u64(&t, KMB_VALUE_SAMPLES);
  double bad = (double)u64(&t, KMB_VALUE_SAMPLES_INVALID);
  REQUIRE(bad > 0.05 * n && bad < 0.2 * n);
  REQUIRE(f64(&t, KMB_VALUE_MIN) > 0);
  finish(&t);
  REQUIRE(!comes("noise=gauss:0.02", KMB_FINDING_INVALID_TIMESTAMPS));
}

static void three_kernels(trial *t) {
  t->op.kernels = 3;
  t->p.launch_mode = KMB_LAUNCH_PLAIN;
}

static void records_missing(void) {
  trial t;
  begin(&t, "record_drop=0.1,noise=gauss:0.02,kernel=20000");
  t.op.kernels = 3;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_RECORDS_MISSING));
  /* No span of two kernels is left. */
  REQUIRE(f64(&t, KMB_VALUE_MIN) > 55000);
  REQUIRE(u64(&t, KMB_VALUE_SAMPLES_INVALID) > 20);
  finish(&t);
  REQUIRE(!comes_with("noise=gauss:0.02", KMB_FINDING_RECORDS_MISSING,
                      three_kernels));
}

static void three_in_a_graph(trial *t) {
  t->op.kernels = 3;
  t->p.launch_mode = KMB_LAUNCH_GRAPH;
}

static void host_bound(void) {
  REQUIRE(comes_with("kernel=1000,launch=8000", KMB_FINDING_HOST_BOUND,
                     three_kernels));
  REQUIRE(!comes_with("kernel=10000", KMB_FINDING_HOST_BOUND, three_kernels));
  REQUIRE(!comes_with("kernel=1000,launch=8000", KMB_FINDING_HOST_BOUND,
                      three_in_a_graph));
  REQUIRE(!comes("kernel=1000,launch=8000", KMB_FINDING_HOST_BOUND));
}

static void warm(trial *t) {
  t->p.cache = KMB_CACHE_WARM;
}

static void iterations_overlap(void) {
  trial t;
  begin(&t, "overlap=0.2,noise=gauss:0.02");
  warm(&t);
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_ITERATIONS_OVERLAP));
  kmb_finding f = kmb_finding_init();
  for (uint64_t i = 0; f.code != KMB_FINDING_ITERATIONS_OVERLAP; i++)
    REQUIRE_EQ(kmb_result_finding(t.r, i, &f), KMB_OK);
  REQUIRE_EQ(f.figure_count, 2);
  double n = (double)u64(&t, KMB_VALUE_SAMPLES);
  /* The first of each run of samples has none before it. */
  REQUIRE(f.figures[0].value > 0.8 * n && f.figures[0].value < n);
  REQUIRE_NEAR(f.figures[1].value, 100 * f.figures[0].value / n, 1e-6);
  finish(&t);
  /* The sweep keeps them apart; another timer cannot see it. */
  REQUIRE(!comes("overlap=0.2", KMB_FINDING_ITERATIONS_OVERLAP));
  REQUIRE(
      !comes_with("overlap=0.2", KMB_FINDING_ITERATIONS_OVERLAP, ask_for_host));
  REQUIRE(
      !comes_with("noise=gauss:0.02", KMB_FINDING_ITERATIONS_OVERLAP, warm));
}

static kmb_status half_launch(void *user, const kmb_launch *l) {
  operation *o = user;
  sim_kernel k = {.run = operation_run, .user = o};
  k.reads[0] = (kmb_span){l->args[0], o->bytes};
  k.writes[0] = (kmb_span){l->args[1], o->bytes};
  k.read_count = k.write_count = 1;
  o->bytes /= 2;
  kmb_status status = sim_enqueue(l->stream, &k);
  o->bytes *= 2;
  return status;
}

static void write_half(trial *t) {
  with_buffers(t, MIB);
  t->p.check = NULL;
  t->p.cache = KMB_CACHE_COLD;
  t->p.launch = half_launch;
}

static void write_all(trial *t) {
  with_buffers(t, MIB);
  t->p.check = NULL;
}

static void declare_half(trial *t) {
  write_half(t);
  t->descs[1].touched_bytes = MIB / 2;
}

static void stale_output(void) {
  REQUIRE(comes_with("", KMB_FINDING_STALE_OUTPUT, write_half));
  REQUIRE(!comes_with("", KMB_FINDING_STALE_OUTPUT, write_all));
  REQUIRE(!comes_with("", KMB_FINDING_STALE_OUTPUT, declare_half));
}

static void in_place(trial *t) {
  write_all(t);
  t->descs[1].role = KMB_INOUT;
}

static kmb_status no_reset(void *user, uint32_t slot, void *stream) {
  (void)user;
  (void)slot;
  (void)stream;
  return KMB_OK;
}

static void in_place_with_reset(trial *t) {
  in_place(t);
  t->p.reset = no_reset;
}

static void state_carried(void) {
  REQUIRE(comes_with("", KMB_FINDING_STATE_CARRIED, in_place));
  REQUIRE(!comes_with("", KMB_FINDING_STATE_CARRIED, in_place_with_reset));
}

static void checked(trial *t) {
  with_buffers(t, MIB);
}

static void check_skipped(void) {
  REQUIRE(comes("", KMB_FINDING_CHECK_SKIPPED));
  REQUIRE(comes_with("", KMB_FINDING_CHECK_SKIPPED, write_all));
  REQUIRE(!comes_with("", KMB_FINDING_CHECK_SKIPPED, checked));
}

static void take_seven(trial *t) {
  t->p.max_samples = 7;
}

static void take_eight(trial *t) {
  t->p.max_samples = 8;
}

static void few_samples(void) {
  REQUIRE(comes_with("", KMB_FINDING_FEW_SAMPLES, take_seven));
  REQUIRE(!comes_with("", KMB_FINDING_FEW_SAMPLES, take_eight));
}

static void resolution(void) {
  REQUIRE(comes("tick=2000,kernel=20300,noise=gauss:0.001",
                KMB_FINDING_RESOLUTION));
  REQUIRE(!comes("tick=32,noise=gauss:0.001", KMB_FINDING_RESOLUTION));
}

static void overhead(void) {
  REQUIRE(comes_with("kernel=500,launch=100,call=50", KMB_FINDING_OVERHEAD,
                     ask_for_host));
  REQUIRE(!comes_with("sync=10", KMB_FINDING_OVERHEAD, ask_for_host));
}

static void five_rounds(trial *t) {
  t->p.rounds = 5;
}

static void not_quiet(void) {
  REQUIRE(comes("preempt=100000", KMB_FINDING_NOT_QUIET));
  REQUIRE(comes("steal=50", KMB_FINDING_NOT_QUIET));
  REQUIRE(!comes("preempt=10,steal=1", KMB_FINDING_NOT_QUIET));
  /* Each round is judged by its own window. */
  REQUIRE(!comes_with("steal=9", KMB_FINDING_NOT_QUIET, five_rounds));
}

static void zeros(trial *t) {
  with_buffers(t, MIB);
  t->descs[0].fill = KMB_FILL_ZERO;
}

static void zero_data(void) {
  REQUIRE(comes_with("", KMB_FINDING_ZERO_DATA, zeros));
  REQUIRE(!comes_with("", KMB_FINDING_ZERO_DATA, checked));
}

static void take_sixty(trial *t) {
  t->p.max_samples = 60;
}

static void not_converged(void) {
  REQUIRE(comes_with("noise=gauss:0.3", KMB_FINDING_NOT_CONVERGED, take_sixty));
  REQUIRE(
      !comes_with("noise=gauss:0.001", KMB_FINDING_NOT_CONVERGED, take_sixty));
}

static void no_confirm(trial *t) {
  t->p.flags |= KMB_BENCH_NO_CONFIRM;
}

static void unconfirmed(void) {
  REQUIRE(comes("timers=trace", KMB_FINDING_UNCONFIRMED));
  REQUIRE(comes_with("", KMB_FINDING_UNCONFIRMED, no_confirm));
  REQUIRE(!comes("", KMB_FINDING_UNCONFIRMED));
}

int main(void) {
  RUN(a_quiet_run_raises_nothing);
  RUN(fallback_timer);
  RUN(uncalibrated);
  RUN(timers_disagree);
  RUN(not_cold);
  RUN(not_warm);
  RUN(above_peak);
  RUN(unknown_peak);
  RUN(throttled);
  RUN(clock_drift);
  RUN(unstable);
  RUN(bimodal);
  RUN(drift);
  RUN(invalid_timestamps);
  RUN(records_missing);
  RUN(host_bound);
  RUN(iterations_overlap);
  RUN(stale_output);
  RUN(state_carried);
  RUN(check_skipped);
  RUN(few_samples);
  RUN(resolution);
  RUN(overhead);
  RUN(not_quiet);
  RUN(zero_data);
  RUN(not_converged);
  RUN(unconfirmed);
  return 0;
}
