/* What a recording added to the calls of the host is taken off: against the
 * simulator's truth, and in steps of a few calls. */
#include "sim.h"

#include "../trace/load.h"

#include <kmb/payoff.h>
#include <math.h>
#include <stdbool.h>

enum { TEXT = 1 << 21, LAYERS = 60 };

static char text[TEXT];
static sim step;

static kmb_payoff_change changed(const char *kernel, double ratio) {
  kmb_payoff_change change = kmb_payoff_change_init();
  change.kernel = kernel;
  change.ratio = ratio;
  return change;
}

static kmb_payoff *evaluate(const kmb_trace *trace,
                            const kmb_payoff_change *change,
                            const kmb_payoff_params *params) {
  kmb_payoff *payoff = NULL;
  REQUIRE_OK(kmb_payoff_evaluate(trace, change, params, &payoff));
  return payoff;
}

static kmb_payoff_summary summary_of(const kmb_payoff *payoff) {
  kmb_payoff_summary summary = kmb_payoff_summary_init();
  REQUIRE_OK(kmb_payoff_get_summary(payoff, &summary));
  return summary;
}

/* `text` as a recording that knows what it added. */
static kmb_trace *recorded(uint64_t added) {
  written json = {NULL, 0};
  kmb_trace *trace = NULL, *again = NULL;
  REQUIRE_OK(load_as(text, strlen(text), 0, KMB_TRACE_AUTO, &trace));
  REQUIRE_OK(kmb_trace_write_json(trace, take_bytes, &json));
  kmb_trace_destroy(trace);
  const char *rest = strchr(json.data, ',');
  char *whole = malloc(strlen(json.data) + 64);
  REQUIRE(whole && rest);
  int size = sprintf(whole, "{\"kmb_trace\": 1, \"runtime_added_ns\": %llu%s",
                     (unsigned long long)added, rest);
  REQUIRE_OK(load_as(whole, (size_t)size, 0, KMB_TRACE_KMB, &again));
  free(whole);
  free(json.data);
  return again;
}

static void is_relieved(uint64_t added) {
  static const double ratios[] = {0.1, 0.6, 1, 2};
  step.added = added;
  double slow = sim_run(&step, "k", 1, text, sizeof text, 0);
  step.added = 0;
  double now = sim_run(&step, "k", 1, NULL, 0, 0);
  kmb_trace *trace = recorded(added);
  for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
    double truth = sim_run(&step, "k", ratios[i], NULL, 0, 0);
    kmb_payoff_change change = changed("k", ratios[i]);
    kmb_payoff *payoff = evaluate(trace, &change, NULL);
    kmb_payoff_summary s = summary_of(payoff);
    REQUIRE_NEAR(s.recorded_ns, slow, 2);
    REQUIRE_NEAR(s.step_ns, now, 1e-3 * now);
    REQUIRE_NEAR(s.predicted_ns, truth, 1e-3 * truth);
    REQUIRE_NEAR(s.saving_ns, s.step_ns - s.predicted_ns, 1e-3);
    bool said = false;
    for (uint64_t k = 0; k < kmb_payoff_note_count(payoff); k++)
      said = said || strstr(kmb_payoff_note(payoff, k), "which is taken off");
    REQUIRE_EQ(said, slow > now + 2);
    kmb_payoff_destroy(payoff);
  }
  kmb_trace_destroy(trace);
}

static void what_recording_adds_is_taken_off(void) {
  sim_init(&step); /* host-bound */
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 4000);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 200 * (uint64_t)(i % 5));
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 300);
  }
  is_relieved(900);
  sim_init(&step); /* it waits in each layer, and the device for it */
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "gemm", 30000);
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 80000);
    sim_add(&step, SIM_COPY, 0, 0, "DtoH", 3000);
    sim_add(&step, SIM_SYNC, 0, 0, NULL, 0);
    sim_add(&step, SIM_HOST, 0, 0, NULL, 12000);
  }
  is_relieved(1700);
  sim_init(&step); /* device-bound: there is nothing to take off */
  for (int i = 0; i < LAYERS; i++) {
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 90000);
    sim_add(&step, SIM_LAUNCH, 0, 0, "norm", 60000);
  }
  is_relieved(1700);
}

/* A step of kernels of 100 ns and calls of one thread, without what recording
 * added. Names: 1 a launch of the runtime, 2 one of the driver, 3 a wait. */
static double relieved(const char *added, const char *ops, const char *calls,
                       double recorded_ns) {
  char json[1024];
  kmb_trace *trace = NULL;
  int size =
      snprintf(json, sizeof json,
               "{\"kmb_trace\": 1, %s, \"base_ns\": 9000, \"names\": [\"k\", "
               "\"cudaLaunchKernel\", \"cuLaunchKernel\", "
               "\"cudaEventSynchronize\", \"X\"], \"devices\": [[0, 4]], "
               "\"streams\": [[0, 5, 1, 7]], \"threads\": [[5, 6]], "
               "\"ops\": [%s], \"calls\": [%s]}",
               added, ops, calls);
  REQUIRE_OK(load_as(json, (size_t)size, 0, KMB_TRACE_AUTO, &trace));
  kmb_payoff_change change = changed("k", 1);
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
  REQUIRE_NEAR(s.recorded_ns, recorded_ns, 1e-6);
  return s.step_ns;
}

#define KERNEL(start, call) "[\"kernel\", 0, 0, " start ", 100, " call ", null]"
#define CALL(name, start, length, id) \
  "[\"launch\", 0, " name ", " start ", " length ", " id "]"
#define WAIT(start, length) \
  "[\"synchronisation\", 0, 3, " start ", " length ", 9]"
#define FIFTY "\"runtime_added_ns\": 50"

/* Told by the caller, it counts instead of what the trace says. */
static void what_recording_adds_can_be_told(void) {
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed("k", 0.5);
  sim_init(&step);
  for (int i = 0; i < LAYERS; i++)
    sim_add(&step, SIM_LAUNCH, 0, 0, "k", 2500);
  step.added = 800;
  sim_run(&step, "k", 1, text, sizeof text, 0);
  step.added = 0;
  double truth = sim_run(&step, "k", 0.5, NULL, 0, 0);
  for (uint64_t said = 0; said <= 300; said += 300) {
    kmb_trace *trace = recorded(said);
    p.added_ns = 800;
    kmb_payoff *payoff = evaluate(trace, &change, &p);
    REQUIRE_NEAR(summary_of(payoff).predicted_ns, truth, 1e-3 * truth);
    REQUIRE_HAS(kmb_payoff_note(payoff, 0),
                "adds 800 ns to each call of the host, which is taken off");
    kmb_payoff_destroy(payoff);
    static const double wrong[] = {-1, 2e6, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
      p.added_ns = wrong[i];
      REQUIRE_STATUS(kmb_payoff_evaluate(trace, &change, &p, &payoff),
                     KMB_ERR_INVALID);
      REQUIRE_HAS(kmb_last_error(NULL, NULL),
                  "to a call (--added): 0 to 1000000, a millisecond");
    }
    kmb_trace_destroy(trace);
  }
}

static bool says(const kmb_payoff *payoff, const char *part) {
  for (uint64_t i = 0; i < kmb_payoff_note_count(payoff); i++)
    if (strstr(kmb_payoff_note(payoff, i), part)) return true;
  return false;
}

/* Two threads; of one a call of the driver is part of another. What is more
 * than the calls is said, and lengths stay what they can be. */
static void calls_shorter_than_what_was_added_are_counted(void) {
  static const char json[] =
      "{\"kmb_trace\": 1, \"base_ns\": 9000, \"names\": [\"k\", "
      "\"cudaLaunchKernel\", \"cuLaunchKernel\", \"X\"], \"devices\": "
      "[[0, 3]], \"streams\": [[0, 5, 1, 7]], \"threads\": [[5, 6], [5, 7]], "
      "\"ops\": [[\"kernel\", 0, 0, 1000, 100, 1, null], [\"kernel\", 0, 0, "
      "3000, 100, 3, null]], \"calls\": [[\"launch\", 0, 1, 0, 300, 1], "
      "[\"launch\", 0, 2, 100, 100, 2], [\"launch\", 0, 1, 2000, 800, 3], "
      "[\"launch\", 1, 1, 0, 150, 0]]}";
  static const struct {
    double added;
    const char *note;
    double step_ns;
  } cases[] = {{100, NULL, 1900},
               {150, NULL, 1800},
               {150.5, "2 of 3 calls of the host took less", 1799},
               {400, "2 of 3 calls of the host took less", 1300},
               {801, "3 of 3 calls of the host took less", 1200},
               {1e6, "3 of 3 calls of the host took less", 1200}};
  kmb_payoff_change change = changed("k", 1);
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_trace *trace = NULL;
  REQUIRE_OK(load_as(json, sizeof json - 1, 0, KMB_TRACE_KMB, &trace));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    p.added_ns = cases[i].added;
    kmb_payoff *payoff = evaluate(trace, &change, &p);
    REQUIRE_NEAR(summary_of(payoff).step_ns, cases[i].step_ns, 1e-6);
    REQUIRE(says(payoff, cases[i].note ? cases[i].note : "taken off"));
    REQUIRE_EQ(says(payoff, "took less"), cases[i].note != NULL);
    kmb_payoff_destroy(payoff);
  }
  p.added_ns = 0.5;
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  REQUIRE(says(payoff, "recording adds 0.5 ns to each call of the host"));
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

static void without_calls_nothing_can_be_taken_off(void) {
  static const char json[] =
      "{\"kmb_trace\": 1, \"base_ns\": 9000, \"names\": [\"k\", \"X\"], "
      "\"devices\": "
      "[[0, 1]], \"streams\": [[0, 5, 1, 7]], \"threads\": [], \"ops\": "
      "[[\"kernel\", 0, 0, 0, 100, 0, null]], \"calls\": []}";
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = changed("k", 0.5);
  kmb_trace *trace = NULL;
  bool said = false;
  p.added_ns = 500;
  REQUIRE_OK(load_as(json, sizeof json - 1, 0, KMB_TRACE_KMB, &trace));
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  for (uint64_t k = 0; k < kmb_payoff_note_count(payoff); k++)
    said =
        said || strstr(kmb_payoff_note(payoff, k), "has no calls of the host");
  REQUIRE(said);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* Two launches; a call of the driver is part of the first. */
static void each_call_is_relieved_once(void) {
  static const struct {
    const char *added;
    double step_ns;
  } cases[] = {
      {"\"dropped\": 0", 2100},
      {FIFTY, 2050},
      {"\"driver_added_ns\": 100", 2000},
      {"\"driver_added_ns\": 100, " FIFTY, 1950},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    REQUIRE_NEAR(
        relieved(cases[i].added, KERNEL("600", "1") ", " KERNEL("2600", "3"),
                 CALL("1", "0", "1000",
                      "1") ", " CALL("2", "200", "600",
                                     "2") ", " CALL("1", "2000", "1000", "3"),
                 2100),
        cases[i].step_ns, 1e-6);
}

/* Where more was added than there is, the next call comes at once, and what
 * follows is as far behind it as it was. */
static void time_goes_on_whatever_was_added(void) {
  double step_ns = relieved(
      "\"runtime_added_ns\": 5000",
      KERNEL("600", "1") ", " KERNEL("1200", "2") ", " KERNEL("20600", "3"),
      CALL("1", "0", "100", "1") ", " CALL("1", "200", "100", "2") ", " CALL(
          "1", "20000", "100", "3"),
      20100);
  REQUIRE_NEAR(step_ns, 20100 - 200 - 5000, 1e-6);
}

/* One before which nothing had ended; and, behind one that did wait, one that
 * found all done. */
static void waits_that_do_not_wait_are_relieved(void) {
  REQUIRE_NEAR(relieved(FIFTY, KERNEL("5000", "1") ", " KERNEL("10600", "2"),
                        CALL("1", "0", "100", "1") ", " WAIT(
                            "200", "1000") ", " CALL("1", "10000", "100", "2"),
                        5700),
               5600, 1e-6);
  REQUIRE_NEAR(
      relieved(FIFTY, KERNEL("600", "1") ", " KERNEL("3700", "2"),
               CALL("1", "0", "100", "1") ", " WAIT("150", "650") ", " WAIT(
                   "2000", "1000") ", " CALL("1", "3100", "100", "2"),
               3200),
      3150, 1e-6);
}

int main(void) {
  RUN(what_recording_adds_is_taken_off);
  RUN(what_recording_adds_can_be_told);
  RUN(calls_shorter_than_what_was_added_are_counted);
  RUN(without_calls_nothing_can_be_taken_off);
  RUN(each_call_is_relieved_once);
  RUN(time_goes_on_whatever_was_added);
  RUN(waits_that_do_not_wait_are_relieved);
  return 0;
}
