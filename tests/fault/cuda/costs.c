/* The virtual GPU's timing rules against the figures that they cite, recorded
 * on an H200. usage: costs FOLDER, where the recorded figures are */
#include "sim/costs.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../require.h"

static json_t *accuracy, *cold, *timers;

/* "spin.0.event.bias_us": keys and positions. */
static double figure(const json_t *from, const char *place) {
  char part[64];
  while (*place) {
    size_t length = strcspn(place, ".");
    snprintf(part, sizeof part, "%.*s", (int)length, place);
    from = json_is_array(from) ? json_array_get(from, strtoul(part, NULL, 10))
                               : json_object_get(from, part);
    if (!from) fprintf(stderr, "no %s\n", place);
    REQUIRE(from);
    place += length + (place[length] == '.');
  }
  REQUIRE(json_is_number(from));
  return json_number_value(from);
}

static double a(const char *place) {
  return figure(accuracy, place);
}

static double c(const char *place) {
  return figure(cold, place);
}

static double t(const char *place) {
  return figure(timers, place);
}

/* Figures in us are of stamps that step by 32 ns. */
#define CITES(ns, us) REQUIRE_NEAR((double)(ns), 1e3 * (us), SIM_TICK)

/* Of the spin of the i-th length. */
static double spin(int length, const char *name) {
  char place[64];
  snprintf(place, sizeof place, "spin.%d.%s", length, name);
  return a(place);
}

static void the_clocks_are_as_recorded(void) {
  REQUIRE_NEAR(SIM_CLOCK_KHZ / 1e6, a("ghz"), 0.001);
  REQUIRE_NEAR(SIM_CLOCK_KHZ / 1e3, t("clock_mhz"), 0);
  REQUIRE_NEAR(SIM_TICK, a("tick_ns"), 0);
  REQUIRE_NEAR(SIM_TICK, t("tick_ns"), 0);
}

static void a_kernel_costs_what_was_recorded(void) {
  char place[64];
  for (int i = 0; i < 8; i++) {
    snprintf(place, sizeof place, "spin.%d.cupti_us", i);
    double traced = t(place);
    snprintf(place, sizeof place, "spin.%d.self_us", i);
    CITES(SIM_KERNEL, traced - t(place));
  }
  for (int i = 0; i < 6; i++)
    REQUIRE(spin(i, "trace_plain.p75_us") - spin(i, "trace_plain.p25_us") <=
            (2 * SIM_NOISE + 0.5 * SIM_TICK) / 1e3);
}

/* What a timer read beyond TRACE, of one length. */
static double beyond(int length, const char *raw) {
  return spin(length, raw) - spin(length, "trace_plain.raw_us");
}

static void events_cost_what_was_recorded(void) {
  CITES(SIM_EVENT, t("events_with_nothing_between_gated_us"));
  for (int i = 0; i < 8; i++)
    REQUIRE_NEAR(SIM_EVENT + SIM_EVENT_TO_KERNEL,
                 1e3 * beyond(i, "event.raw_us"), 3 * SIM_TICK);
  double least = SIM_EVENT + SIM_EVENT_TO_GRAPH;
  double range = (SIM_PLACES - 1) * SIM_TICK;
  for (int i = 0; i < 8; i++)
    REQUIRE_NEAR(least + range / 2, 1e3 * beyond(i, "event_graph.raw_us"),
                 range / 2 + 4 * SIM_TICK);
  CITES(SIM_GATE, t("wait_on_host_word.polling_period_us") / 2);
}

/* After a sweep, beyond warm, of a copy. */
static double fetch(const char *mode) {
  char place[64];
  double us = 0;
  for (int cold_too = 0; cold_too < 2; cold_too++) {
    const char *part = cold_too ? "cold" : "kinds";
    snprintf(place, sizeof place, "%s.5.%s_rounds.1.raw_us", part, mode);
    double raw = a(place);
    snprintf(place, sizeof place, "%s.5.trace_plain_rounds.1.raw_us", part);
    us += (cold_too ? 1 : -1) * (raw - a(place));
  }
  return us;
}

static void fetches_cost_what_was_recorded(void) {
  REQUIRE(1e3 * fetch("event") < 3 * SIM_FETCH);
  REQUIRE(1e3 * fetch("event_graph") > 3 * SIM_FETCH);
}

static void nodes_cost_what_was_recorded(void) {
  CITES(-SIM_NODE_SAVES, t("spin.0.graph_us") - t("spin.0.cupti_us"));
  CITES(SIM_NODE_TRACED, t("graph_of_empty_kernels.node_traced_us") -
                             t("graph_of_empty_kernels.node_us"));
}

/* The slope between two sizes; what is left is the read's own, and two runs
 * differ there by two steps of the clock. */
static void reads(double small, double large, double each, double own) {
  REQUIRE_NEAR(each, 1e3 * (large - small) / 24, each / 10);
  REQUIRE_NEAR(SIM_KERNEL + own + 8 * each, 1e3 * small, 2 * SIM_TICK);
}

static void reads_take_what_was_recorded(void) {
  double dirty = SIM_MIB_COLD + SIM_MIB_DIRTY;
  reads(c("moves.0.warm.us"), c("moves.1.warm.us"), SIM_MIB_HOT, SIM_READ);
  reads(t("flush.3.hot_us"), t("flush.5.hot_us"), SIM_MIB_HOT, SIM_READ);
  REQUIRE_NEAR(SIM_MIB_COLD,
               1e3 * (c("moves.1.cold.us") - c("moves.0.cold.us")) / 24, 25);
  REQUIRE_NEAR(
      SIM_MIB_COLD,
      1e3 *
          (t("flush.5.read_1_2_4_l2_us.1") - t("flush.3.read_1_2_4_l2_us.1")) /
          24,
      25);
  REQUIRE_NEAR(
      dirty,
      1e3 * (c("moves.1.memset_flush.us") - c("moves.0.memset_flush.us")) / 24,
      25);
  REQUIRE_NEAR(dirty,
               1e3 *
                   (t("flush.5.memset_1_2_4_l2_us.1") -
                    t("flush.3.memset_1_2_4_l2_us.1")) /
                   24,
               25);
}

static json_t *load(const char *folder, const char *name) {
  char path[1024];
  json_error_t error;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  json_t *root = json_load_file(path, 0, &error);
  if (!root) fprintf(stderr, "%s: %s\n", path, error.text);
  REQUIRE(root);
  const char *device = json_string_value(json_object_get(root, "device"));
  REQUIRE_STR(device, "NVIDIA H200");
  return root;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  accuracy = load(argv[1], "accuracy-other-h200.json");
  cold = load(argv[1], "cold-h200.json");
  timers = load(argv[1], "timers-h200.json");
  RUN(the_clocks_are_as_recorded);
  RUN(a_kernel_costs_what_was_recorded);
  RUN(events_cost_what_was_recorded);
  RUN(fetches_cost_what_was_recorded);
  RUN(nodes_cost_what_was_recorded);
  RUN(reads_take_what_was_recorded);
  json_decref(accuracy);
  json_decref(cold);
  json_decref(timers);
  return 0;
}
