/* Predictions against a simulator that knows the truth, and what is refused. */
#include "evaluate.h"
#include "sim.h"

#include <math.h>
#include <stdbool.h>

enum { TEXT = 1 << 21, LAYERS = 60 };

static char text[TEXT];
static sim step;

static kmb_payoff_summary predict(double ratio, const char *range) {
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed("k", ratio);
  kmb_trace *trace = NULL;
  p.range = range;
  REQUIRE_OK(load_as(text, strlen(text), 0, KMB_TRACE_AUTO, &trace));
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  kmb_payoff_summary s = summary_of(payoff);
  s.verdict = NULL;
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
  return s;
}

/* Within a thousandth of the truth, for kernels that get faster and slower; and
 * unchanged it is what it was, to the nanosecond that JSON rounds to. */
static void is_predicted(const char *range) {
  static const double ratios[] = {0.05, 0.3, 0.7, 0.95, 1.05, 1.5, 4};
  double now = sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(1, range);
  REQUIRE(s.flags & KMB_PAYOFF_PREDICTED);
  REQUIRE_NEAR(s.step_ns, now, 2);
  REQUIRE_NEAR(s.predicted_ns, s.step_ns, 1e-3);
  REQUIRE_NEAR(s.saving_ns, 0, 1e-3);
  for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
    double truth = sim_run(&step, "k", ratios[i], NULL, 0, 0);
    s = predict(ratios[i], range);
    if (fabs(s.predicted_ns - truth) > 1e-3 * truth)
      fprintf(stderr, "ratio %g: %.0f, not %.0f\n", ratios[i], s.predicted_ns,
              truth);
    REQUIRE(fabs(s.predicted_ns - truth) <= 1e-3 * truth);
    REQUIRE_NEAR(s.saving_ns, s.step_ns - s.predicted_ns, 1e-3);
    REQUIRE_NEAR(s.gain_ns, s.hidden_ns + s.host_ns + s.saving_ns, 1e-3);
  }
}

/* Kernels are long, the host runs ahead. */
static void device_bound_step(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 90000 + 1000 * (uint64_t)(i % 7));
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 60000);
    sim_add(&step, SIM_LAUNCH, 0, 0, "norm", 12000);
  }
  is_predicted(NULL);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, NULL);
  REQUIRE(s.saving_ns > 0.95 * s.gain_ns);
  REQUIRE(fabs(s.host_ns) < 0.05 * s.gain_ns);
}

/* Kernels are short, the host takes longer to launch them. */
static void host_bound_step(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 4000);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 20000 + 500 * (uint64_t)(i % 5));
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 7000);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 15000);
  }
  is_predicted(NULL);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, NULL);
  REQUIRE(s.saving_ns < 0.001 * s.step_ns);
  REQUIRE(s.host_ns > 0.9 * s.gain_ns);
  /* As a graph: kernels and the gaps between them alone. */
  REQUIRE_NEAR(s.graph_ns, LAYERS * 11000 + (2 * LAYERS - 1) * 1000, 1);
  REQUIRE_NEAR(s.graph_after_ns, LAYERS * 9000 + (2 * LAYERS - 1) * 1000, 1);
}

/* The host reads a result back each time: it goes on once the device is done.
 */
static void step_with_synchronisations(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 30000);
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 80000);
    sim_add(&step, SIM_COPY, 0, 0, "DtoH", 3000);
    sim_add(&step, SIM_SYNC, 0, 0, NULL, 0);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 12000 + 300 * (uint64_t)(i % 3));
  }
  is_predicted(NULL);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, NULL);
  REQUIRE_NEAR(s.saving_ns, s.gain_ns, 1e-3 * s.gain_ns);
}

/* A second stream works beside the first and they wait for each other. */
static void two_streams_with_overlap(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "split", 10000);
    sim_add(&step, SIM_RECORD, 0, 0, NULL, 0);
    sim_add(&step, SIM_WAIT, 1, 0, NULL, 0);
    sim_add(&step, SIM_LAUNCH, 1, 0, "k", 70000);
    sim_add(&step, SIM_RECORD, 1, 1, NULL, 0);
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 50000);
    sim_add(&step, SIM_WAIT, 0, 1, NULL, 0);
    sim_add(&step, SIM_LAUNCH, 0, 0, "join", 8000);
  }
  is_predicted(NULL);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, NULL);
  REQUIRE_EQ(s.waits, 2 * LAYERS);
  /* Half of what is saved lies behind "gemm". */
  REQUIRE(s.hidden_ns > 0.3 * s.gain_ns && s.hidden_ns < 0.6 * s.gain_ns);
}

/* A long copy runs beside the kernel and what follows waits for both. */
static void kernel_under_a_copy(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_COPY, 1, 0, "HtoD", 200000);
    sim_add(&step, SIM_RECORD, 1, 0, NULL, 0);
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 90000);
    sim_add(&step, SIM_WAIT, 0, 0, NULL, 0);
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 40000);
    sim_add(&step, SIM_RECORD, 0, 1, NULL, 0);
    sim_add(&step, SIM_WAIT, 1, 1, NULL, 0);
  }
  is_predicted(NULL);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, NULL);
  REQUIRE(s.saving_ns < 0.001 * s.step_ns);
  REQUIRE(s.hidden_ns > 0.9 * s.gain_ns);
  REQUIRE_NEAR(s.overlapped_ns, s.in_step_total_ns, 0.02 * s.in_step_total_ns);
}

/* Of a trace of several steps, those alone. */
static void steps_by_range(void) {
  sim_init(&step);
  for (int i = 0; i < 12; i++) {
    sim_add(&step, SIM_BEGIN, 0, 0, NULL, 0);
    for (int k = 0; k < 5; k++) {
      sim_add(&step, SIM_LAUNCH, 0, 0, "k", 50000);
      sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 30000);
    }
    sim_add(&step, SIM_SYNC, 0, 0, NULL, 0);
    sim_add(&step, SIM_END, 0, 0, NULL, 0);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 400000);
  }
  is_predicted("step");
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_payoff_summary s = predict(0.5, "step");
  REQUIRE_EQ(s.steps, 12);
  REQUIRE_EQ(s.launches, 60);
}

/* Without calls of the host the truth lies within what is said. */
static void device_rows_alone_give_bounds(void) {
  for (int bound = 0; bound < 2; bound++) {
    sim_init(&step);
    for (int i = 0; i < LAYERS; i++) {
      sim_add(&step, SIM_LAUNCH, 0, 0, "k", bound ? 4000 : 60000);
      sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", bound ? 5000 : 40000);
      sim_add(&step, SIM_HOST, 0, 0, NULL, 9000);
    }
    sim_run(&step, "k", 1, text, sizeof text, 1);
    double truth = sim_run(&step, "k", 0.5, NULL, 0, 0);
    kmb_payoff_summary s = predict(0.5, NULL);
    REQUIRE(!(s.flags & KMB_PAYOFF_PREDICTED));
    REQUIRE(s.predicted_low_ns <= truth * 1.001);
    REQUIRE(s.predicted_high_ns >= truth * 0.999);
    REQUIRE(s.predicted_ns == 0 && s.saving_ns == 0 && s.host_ns == 0);
    REQUIRE_NEAR(s.saving_low_ns, s.step_ns - s.predicted_high_ns, 1e-3);
  }
}

/* In a CSV a wait is known by its time. */
static void waits_are_found_by_time(void) {
  kmb_trace *trace = load("Start (ns),Duration (ns),Device,Ctx,Strm,Name\n"
                          "1000,10000,G (0),1,7,a\n12000,50000,G (0),1,7,a\n"
                          "13000,80000,G (0),1,8,k\n94500,20000,G (0),1,7,b\n");
  kmb_payoff_change change = changed("k", 0.75);
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_EQ(s.waits, 2);
  REQUIRE_NEAR(s.predicted_low_ns, 93500, 1);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* An interval of the ratio becomes one of the step. */
static void intervals_are_carried_over(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++)
    sim_add(&step, SIM_LAUNCH, 0, 0, i % 2 ? "k" : "gemm", 60000);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_trace *trace = load(text);
  kmb_payoff_change change = changed("k", 0.9);
  change.low = 0.8;
  change.high = 1.1;
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE(s.flags & KMB_PAYOFF_HAS_RATIO_INTERVAL);
  REQUIRE_NEAR(s.predicted_low_ns, sim_run(&step, "k", 0.8, NULL, 0, 0), 100);
  REQUIRE_NEAR(s.predicted_high_ns, sim_run(&step, "k", 1.1, NULL, 0, 0), 100);
  REQUIRE(s.saving_low_ns < 0 && s.saving_high_ns > 0);
  REQUIRE_HAS(s.verdict, "leaves open whether it does");
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

#define CSV "Start (ns),Duration (ns),Device,Ctx,Strm,Name\n"
static const char two[] =
    CSV "1000,500,G (0),1,7,\"void k<1>(int)\"\n2000,900,G (0),1,7,"
        "\"void k<2>(int)\"\n3000,900,G (0),1,7,\"void k<2>(int)\"\n"
        "4000,100,G (0),1,7,other\n";

/* Several kernels: listed, never guessed. */
static void ambiguity_is_listed(void) {
  kmb_trace *trace = load(two);
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed(NULL, 0.5);
  kmb_payoff_candidate c;
  written words = {NULL, 0};
  p.kernel = "k<";
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_EQ(s.candidates, 2);
  REQUIRE_EQ(s.flags, 0);
  REQUIRE(s.predicted_low_ns == 0 && s.predicted_high_ns == 0);
  REQUIRE_HAS(s.verdict, "2 kernels match");
  REQUIRE_OK(kmb_payoff_get_candidate(payoff, 0, &c));
  REQUIRE_STR(c.name, "void k<2>(int)");
  REQUIRE_EQ(c.launches, 2);
  REQUIRE_EQ(c.total_ns, 1800);
  REQUIRE_OK(kmb_payoff_get_candidate(payoff, 1, &c));
  REQUIRE_STR(c.name, "void k<1>(int)");
  REQUIRE_STATUS(kmb_payoff_get_candidate(payoff, 2, &c), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "void k<1>(int)");
  kmb_payoff_destroy(payoff);
  p.flags = KMB_PAYOFF_ALL_NAMES;
  payoff = evaluate(trace, &change, &p);
  s = summary_of(payoff);
  REQUIRE(s.flags & KMB_PAYOFF_MATCHED);
  REQUIRE_EQ(s.launches, 3);
  REQUIRE_NEAR(s.gain_ns, 1150, 1e-9);
  kmb_payoff_destroy(payoff);
  free(words.data);
  kmb_trace_destroy(trace);
}

static void no_launch_is_refused(void) {
  kmb_trace *trace = load(two), *empty = load(CSV);
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed("k<1>", 0.5);
  refuses(trace, &change, NULL, KMB_ERR_UNAVAILABLE, "no launch in the step");
  refuses(empty, &change, NULL, KMB_ERR_UNAVAILABLE, "no operations");
  change.kernel = NULL;
  refuses(trace, &change, NULL, KMB_ERR_INVALID, "neither the change nor");
  p.kernel = "nothing";
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE, "\"nothing\"");
  p.kernel = "(";
  refuses(trace, &change, &p, KMB_ERR_INVALID, "no regular expression");
  p.kernel = "other";
  p.range = "step";
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE, "no range \"step\"");
  kmb_trace_destroy(empty);
  kmb_trace_destroy(trace);
}

/* A graph of which nothing was traced. */
static void untraced_graphs_are_refused(void) {
  kmb_trace *trace = load(
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
      "\"cudaGraphLaunch\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1, "
      "\"args\": {\"correlation\": 5}}, {\"ph\": \"X\", \"cat\": \"kernel\", "
      "\"name\": \"k\", \"pid\": 1, \"tid\": 7, \"ts\": 9, \"dur\": 1, "
      "\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 6}}]}");
  kmb_payoff_change change = changed("k", 0.5);
  refuses(trace, &change, NULL, KMB_ERR_UNAVAILABLE, "--cuda-graph-trace=node");
  kmb_trace_destroy(trace);
}

static void a_payoff_outlives_its_trace(void) {
  kmb_trace *trace = load(CSV "1000,500,NVIDIA H200 (0),1,7,k1\n"
                              "2000,700,NVIDIA H200 (0),1,7,k2\n");
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_candidate c;
  kmb_payoff_change change = changed("k", 0.5);
  p.kernel = "k";
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  kmb_trace_destroy(trace);
  REQUIRE_OK(kmb_payoff_get_candidate(payoff, 0, &c));
  REQUIRE_STR(c.name, "k2");
  REQUIRE_OK(kmb_payoff_get_candidate(payoff, 1, &c));
  REQUIRE_STR(c.name, "k1");
  kmb_payoff_destroy(payoff);
}

/* Without calls of the host there are bounds alone; a slower kernel's are of a
 * loss. */
static void bounds_of_a_loss_are_said_to_be_lost(void) {
  static const struct {
    double ratio;
    const char *says;
  } cases[] = {{0.5, "between 500.0 ns and 500.0 ns of 1.500 µs are saved"},
               {2, "between 1.000 µs and 1.000 µs of 1.500 µs are lost"},
               {1, "between 0 ns and 0 ns of 1.500 µs are saved"}};
  kmb_trace *trace = load(CSV "1000,500,NVIDIA H200 (0),1,7,k\n"
                              "2000,500,NVIDIA H200 (0),1,7,k\n");
  for (size_t i = 0; i < 3; i++) {
    kmb_payoff_change change = changed("k", cases[i].ratio);
    kmb_payoff *payoff = evaluate(trace, &change, NULL);
    REQUIRE_HAS(summary_of(payoff).verdict, cases[i].says);
    kmb_payoff_destroy(payoff);
  }
  kmb_trace_destroy(trace);
}

static void another_device_is_refused_unless_told(void) {
  kmb_trace *trace = load(CSV "1000,500,NVIDIA H200 (0),1,7,k\n"
                              "2000,500,NVIDIA H200 (0),1,7,k\n");
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed("k", 0.5);
  change.device = "NVIDIA A100";
  refuses(trace, &change, NULL, KMB_ERR_INVALID, "--any-device");
  p.flags = KMB_PAYOFF_ANY_DEVICE;
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_OTHER_DEVICE);
  REQUIRE_HAS(kmb_payoff_note(payoff, 0), "NVIDIA A100");
  kmb_payoff_destroy(payoff);
  change.device = "NVIDIA H200";
  payoff = evaluate(trace, &change, NULL);
  REQUIRE(!(summary_of(payoff).flags & KMB_PAYOFF_OTHER_DEVICE));
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

static void arguments_are_checked(void) {
  static const double ratios[][3] = {
      {0, 0, 0},          {-1, 0, 0},  {NAN, 0, 0},  {INFINITY, 0, 0},
      {1, 0, 2},          {1, -1, 2},  {1, 1.1, 2},  {1, 0.5, 0.9},
      {1, 0.5, INFINITY}, {1, NAN, 2}, {1e15, 0, 0}, {1e308, 0, 0},
      {1, 0.5, 1e15},     {1e-7, 0, 0}};
  kmb_trace *trace = load(two);
  kmb_payoff_change change = changed("other", 1);
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff *payoff = NULL;
  for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
    change.ratio = ratios[i][0];
    change.low = ratios[i][1];
    change.high = ratios[i][2];
    bool outside = i == 6 || i == 7; /* the interval, which could be one */
    refuses(trace, &change, NULL, KMB_ERR_INVALID,
            outside ? "is not within its interval ["
                    : "lie between 1e-06 and "
                      "1e+06; this one is ");
  }
  change = changed("other", 1);
  change.flags = KMB_PAYOFF_HAS_ISOLATED;
  refuses(trace, &change, NULL, KMB_ERR_INVALID, "the time alone");
  change.flags = 1u << 9;
  refuses(trace, &change, NULL, KMB_ERR_UNSUPPORTED, "a flag or word");
  change.flags = 0;
  p.flags = 1u << 9;
  refuses(trace, &change, &p, KMB_ERR_UNSUPPORTED, "a flag or word");
  p.flags = 0;
  p.struct_size = 8;
  refuses(trace, &change, &p, KMB_ERR_INVALID, "kmb_payoff_params");
  REQUIRE_STATUS(kmb_payoff_evaluate(NULL, &change, NULL, &payoff),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_evaluate(trace, NULL, NULL, &payoff),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_evaluate(trace, &change, NULL, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_get_summary(NULL, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_write_text(NULL, take_bytes, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_payoff_note_count(NULL), 0);
  REQUIRE(!kmb_payoff_note(NULL, 0));
  kmb_payoff_destroy(NULL);
  kmb_trace_destroy(trace);
}

/* Isolated against in the step: only beyond both intervals. */
static void a_step_that_differs_is_told(void) {
  char csv[4096], *to = csv;
  to += sprintf(to, CSV);
  for (int i = 0; i < 40; i++)
    to += sprintf(to, "%d,%d,G (0),1,7,k\n", 1000 + 1000 * i, 500 + i % 5);
  kmb_trace *trace = load(csv);
  kmb_payoff_change change = changed("k", 0.5);
  change.flags = KMB_PAYOFF_HAS_ISOLATED | KMB_PAYOFF_HAS_ISOLATED_INTERVAL |
                 KMB_PAYOFF_IS_WARM;
  change.isolated_ns = 502;
  change.isolated_low_ns = 500;
  change.isolated_high_ns = 504;
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  REQUIRE(!(summary_of(payoff).flags & KMB_PAYOFF_STEP_DIFFERS));
  kmb_payoff_destroy(payoff);
  change.isolated_ns = 402;
  change.isolated_low_ns = 400;
  change.isolated_high_ns = 404;
  payoff = evaluate(trace, &change, NULL);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_STEP_DIFFERS);
  REQUIRE_HAS(kmb_payoff_note(payoff, 0), "1.25 times");
  REQUIRE_HAS(kmb_payoff_note(payoff, 0), "measure it COLD");
  kmb_payoff_destroy(payoff);
  change.flags = KMB_PAYOFF_HAS_ISOLATED | KMB_PAYOFF_IS_COLD;
  change.isolated_ns = 800;
  payoff = evaluate(trace, &change, NULL);
  REQUIRE_HAS(kmb_payoff_note(payoff, 0), "measure it WARM");
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* A time has no bounds of a ratio. */
static void the_time_alone_may_be_of_any_length(void) {
  static const double good[] = {1e-9, 999e3, 1e6, 5e9, 1e17};
  static const double bad[][3] = {
      {-1, 0, 0},  {NAN, 0, 0},     {INFINITY, 0, 0}, {1e18, 0, 0},
      {5, 6, 7},   {5, 3, 4},       {5, 0, 7},        {5, -1, 7},
      {5, NAN, 7}, {5, 4, INFINITY}};
  kmb_trace *trace = load(two);
  kmb_payoff_change change = changed("other", 1);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    change.isolated_low_ns = change.isolated_ns = change.isolated_high_ns =
        good[i];
    change.flags = KMB_PAYOFF_HAS_ISOLATED | KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
    kmb_payoff_destroy(evaluate(trace, &change, NULL));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    change.isolated_ns = bad[i][0];
    change.isolated_low_ns = bad[i][1];
    change.isolated_high_ns = bad[i][2];
    change.flags = KMB_PAYOFF_HAS_ISOLATED;
    if (i > 3) change.flags |= KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
    refuses(trace, &change, NULL, KMB_ERR_INVALID, "the time alone");
  }
  change.flags = KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
  change.isolated_low_ns = change.isolated_ns = change.isolated_high_ns = 5;
  refuses(trace, &change, NULL, KMB_ERR_INVALID, "the time alone");
  kmb_trace_destroy(trace);
}

static volatile uint64_t sink;

static kmb_status count_to(void *user, const kmb_launch *l) {
  (void)l;
  for (uint64_t i = 0; i < *(const uint64_t *)user; i++)
    sink = i;
  return KMB_OK;
}

/* A comparison gives its own ratio, not that of the two times. */
static void a_comparison_is_a_change(void) {
  static uint64_t counts[] = {20000, 10000};
  kmb_device *device = NULL;
  kmb_comparison *comparison = NULL;
  kmb_bench_params b[2] = {kmb_bench_params_init(), kmb_bench_params_init()};
  kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
  kmb_payoff_change change = kmb_payoff_change_init();
  kmb_compare_row row = kmb_compare_row_init();
  REQUIRE_OK(kmb_device_open("host", NULL, &device));
  for (int i = 0; i < 2; i++) {
    b[i].name = i ? "half" : "whole";
    b[i].launch = count_to;
    b[i].launch_user = &counts[i];
    c[i].bench = &b[i];
  }
  kmb_compare_params p = kmb_compare_params_init();
  p.max_wall_ns = 60e9; /* it may be slow here, under valgrind */
  REQUIRE_OK(kmb_compare(device, c, sizeof c[0], 2, &p, &comparison));
  REQUIRE_OK(kmb_comparison_row(comparison, 1, &row));
  REQUIRE_OK(kmb_payoff_change_compared(comparison, 1, &change));
  REQUIRE_STR(change.name, "half");
  REQUIRE(change.ratio == row.ratio);
  REQUIRE(change.after == row.result);
  REQUIRE_OK(kmb_comparison_row(comparison, 0, &row));
  REQUIRE(change.before == row.result);
  REQUIRE_OK(kmb_comparison_row(comparison, 1, &row));
  REQUIRE(!(row.flags & KMB_ROW_INTERVAL) ||
          (change.low == row.low && change.high == row.high));
  REQUIRE(change.flags & KMB_PAYOFF_HAS_ISOLATED && change.isolated_ns > 0);
  REQUIRE(!change.kernel && change.device);
  REQUIRE_STATUS(kmb_payoff_change_compared(comparison, 0, &change),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_change_compared(comparison, 2, &change),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_change_compared(comparison, 1, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_change_compared(NULL, 1, &change), KMB_ERR_INVALID);
  kmb_comparison_destroy(comparison);
  kmb_device_close(device);
}

static void all_three_are_written(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++)
    sim_add(&step, SIM_LAUNCH, 0, 0, i % 2 ? "k" : "gemm", 60000);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_trace *trace = load(text);
  kmb_payoff_change change = changed("k", 0.5);
  written words = {NULL, 0};
  change.name = "k v2";
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "the step gets ");
  REQUIRE_HAS(words.data, "without the host's gaps");
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "**Payoff of k v2:** the step gets ");
  REQUIRE_OK(kmb_payoff_write_json(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "\"schema\": \"kmb-payoff\"");
  REQUIRE_HAS(words.data, "\"predicted_ns\": ");
  free(words.data);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* A paragraph holds what a reviewer asks for. */
static void markdown_says_what_becomes_of_the_gain(void) {
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++)
    sim_add(&step, SIM_LAUNCH, 0, 0, i % 2 ? "k" : "gemm", 60000);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_trace *trace = load(text);
  kmb_payoff_change change = changed("k", 0.5);
  written words = {NULL, 0};
  change.low = 0.4;
  change.high = 0.6;
  change.isolated_ns = 60000;
  change.flags = KMB_PAYOFF_HAS_ISOLATED;
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, ". Kernel `k`, ");
  REQUIRE_HAS(words.data, " launches of 60.00 µs (alone 60.00 µs), new over "
                          "old 0.5000 [0.4000, 0.6000]. Its launches save ");
  REQUIRE(s.gain_ns == 30000.0 * (double)s.launches);
  REQUIRE_HAS(words.data, ": 0 ns behind other work, 0 ns taken back by the "
                          "host, ");
  REQUIRE_HAS(words.data, " left for the step. Predicted step: ");
  free(words.data);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

static void markdown_of_others_is_no_markup(void) {
  static const char *const names[] = {"a``b", "<b>`x`"};
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++)
    sim_add(&step, SIM_LAUNCH, 0, 0, names[i % 2], 60000);
  sim_run(&step, "k", 1, text, sizeof text, 0);
  kmb_trace *trace = load(text);
  kmb_payoff_change change = changed(NULL, 0.5);
  kmb_payoff_params params = kmb_payoff_params_init();
  written words = {NULL, 0};
  change.name = "<i>_x_ a_b\n*|$";
  params.kernel = "a|b";
  kmb_payoff *payoff = evaluate(trace, &change, &params);
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "**Payoff of &lt;i&gt;\\_x\\_ a_b \\*\\|\\$:** "
                          "unknown: 2 kernels match; name one of them. "
                          "Kernels ");
  REQUIRE_HAS(words.data, "``` a``b ```");
  REQUIRE_HAS(words.data, "`` <b>`x` ``");
  free(words.data);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

int main(void) {
  RUN(device_bound_step);
  RUN(host_bound_step);
  RUN(step_with_synchronisations);
  RUN(two_streams_with_overlap);
  RUN(kernel_under_a_copy);
  RUN(steps_by_range);
  RUN(device_rows_alone_give_bounds);
  RUN(waits_are_found_by_time);
  RUN(intervals_are_carried_over);
  RUN(ambiguity_is_listed);
  RUN(no_launch_is_refused);
  RUN(untraced_graphs_are_refused);
  RUN(a_payoff_outlives_its_trace);
  RUN(bounds_of_a_loss_are_said_to_be_lost);
  RUN(another_device_is_refused_unless_told);
  RUN(arguments_are_checked);
  RUN(a_step_that_differs_is_told);
  RUN(the_time_alone_may_be_of_any_length);
  RUN(a_comparison_is_a_change);
  RUN(all_three_are_written);
  RUN(markdown_says_what_becomes_of_the_gain);
  RUN(markdown_of_others_is_no_markup);
  return 0;
}
