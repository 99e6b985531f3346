/* Telemetry: gauges over many readings, and their metadata. */
#include "require.h"

#include "telemetry.h"

static void a_gauge_keeps_extremes_and_a_spread_of_readings(void) {
  double scratch[KMBI_GAUGE_VALUES];
  kmbi_gauge g = {.count = 0};
  for (int i = 1; i <= 3; i++)
    kmbi_gauge_add(&g, 10.0 * i);
  REQUIRE_NEAR(kmbi_gauge_median(&g, scratch), 20, 0);
  g = (kmbi_gauge){.count = 0};
  for (int i = 0; i < 10000; i++)
    kmbi_gauge_add(&g, i == 7777 ? 1e6 : i == 3333 ? -5 : i);
  REQUIRE_EQ(g.count, 10000);
  REQUIRE(g.kept > KMBI_GAUGE_VALUES / 2 && g.kept <= KMBI_GAUGE_VALUES);
  REQUIRE_NEAR(g.min, -5, 0);
  REQUIRE_NEAR(g.max, 1e6, 0);
  REQUIRE_NEAR(kmbi_gauge_median(&g, scratch), 5000, 200);
}

static void a_pause_follows_the_cost(void) {
  kmbi_track track = {.cost_ns = 0};
  REQUIRE_NEAR(kmbi_track_pause(&track), 10e6, 0);
  track.cost_ns = 0.2e6;
  REQUIRE_NEAR(kmbi_track_pause(&track), 10e6, 0);
  track.cost_ns = 1e6;
  REQUIRE_NEAR(kmbi_track_pause(&track), 50e6, 0);
}

static void reasons_have_names_or_bits(void) {
  char text[KMBI_THROTTLE_SIZE];
  REQUIRE_STR(kmbi_throttle_text(text, 0), "none");
  REQUIRE_STR(kmbi_throttle_text(text, 1), "sw_power_cap");
  REQUIRE_STR(kmbi_throttle_text(text, 63),
              "sw_power_cap+hw_slowdown+sync_boost+sw_thermal_slowdown+"
              "hw_thermal_slowdown+hw_power_brake");
  REQUIRE_STR(kmbi_throttle_text(text, UINT32_MAX),
              "sw_power_cap+hw_slowdown+sync_boost+sw_thermal_slowdown+"
              "hw_thermal_slowdown+hw_power_brake+0xffffffc0");
}

static kmb_result *empty(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  return result;
}

static const char *meta(const kmb_result *result, const char *key) {
  const char *value = NULL;
  return kmb_result_metadata_text(result, key, &value) ? NULL : value;
}

static kmbi_reading reading_of(kmb_telemetry id, double value,
                               const char *reason) {
  kmbi_reading r = {.none = false};
  kmbi_told *told = &r.of[kmbi_telemetry_index(id)];
  told->told = true;
  told->known = !reason;
  told->value = value;
  if (reason) snprintf(told->reason, sizeof told->reason, "%s", reason);
  return r;
}

static void each_kind_has_its_metadata(void) {
  kmb_result *result = empty();
  kmbi_track track = {.last_ns = 1};
  const kmbi_reading readings[] = {
      reading_of(KMB_TELEMETRY_CLOCK, 1980, NULL),
      reading_of(KMB_TELEMETRY_CLOCK, 1500, NULL),
      reading_of(KMB_TELEMETRY_CLOCK, 0, "for once unknown"),
      reading_of(KMB_TELEMETRY_CLOCK, 1980.5, NULL),
      reading_of(KMB_TELEMETRY_THROTTLE, 1, NULL),
      reading_of(KMB_TELEMETRY_THROTTLE, 8, NULL),
      reading_of(KMB_TELEMETRY_THROTTLE, 0, NULL),
      reading_of(KMB_TELEMETRY_ENERGY, 12, NULL),
      reading_of(KMB_TELEMETRY_POWER, 0, "no meter")};
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
    kmbi_track_add(&track, &readings[i]);
  kmbi_track_store(&track, result);
  REQUIRE_STR(meta(result, "telemetry.during.readings"), "9");
  REQUIRE_STR(meta(result, "telemetry.during.clock_mhz"), "1980");
  REQUIRE_STR(meta(result, "telemetry.during.clock_mhz_min"), "1500");
  REQUIRE_STR(meta(result, "telemetry.during.clock_mhz_max"), "1980.5");
  REQUIRE_STR(meta(result, "telemetry.during.throttle"),
              "sw_power_cap+sw_thermal_slowdown");
  REQUIRE_EQ(track.throttled, 2);
  REQUIRE_EQ(track.throttle_readings, 3);
  REQUIRE(!meta(result, "telemetry.during.power_w_1s_average"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no meter");
  /* A count is what it was before and after. */
  REQUIRE(!meta(result, "telemetry.during.energy_j"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no metadata entry");
  REQUIRE(!meta(result, "telemetry.during.temperature_c"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no metadata entry");
  kmbi_telemetry_store(&readings[7], "after", result);
  REQUIRE_STR(meta(result, "telemetry.after.energy_j"), "12");
  kmbi_telemetry_store(&readings[5], "after", result);
  REQUIRE_STR(meta(result, "telemetry.after.throttle"), "sw_thermal_slowdown");
  kmb_result_destroy(result);
}

static void reasons_that_were_never_told_are_unknown(void) {
  kmb_result *result = empty();
  kmbi_track track = {.last_ns = 1};
  kmbi_reading r = reading_of(KMB_TELEMETRY_THROTTLE, 0, "not told");
  kmbi_track_add(&track, &r);
  kmbi_track_store(&track, result);
  REQUIRE(!meta(result, "telemetry.during.throttle"));
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not told");
  kmb_result_destroy(result);
}

static void ids_lead_to_their_rows(void) {
#define CHECK(name, number, type, word, si)                                 \
  REQUIRE_STR(                                                              \
      kmbi_telemetry_table[kmbi_telemetry_index(KMB_TELEMETRY_##name)].key, \
      word);
  KMB_TELEMETRY_MAP(CHECK)
#undef CHECK
  REQUIRE_EQ(kmbi_telemetry_index(0), KMBI_TELEMETRY);
  REQUIRE_EQ(kmbi_telemetry_index(-1), KMBI_TELEMETRY);
  REQUIRE_EQ(kmbi_telemetry_index(KMBI_TELEMETRY + 1), KMBI_TELEMETRY);
}

int main(void) {
  RUN(a_gauge_keeps_extremes_and_a_spread_of_readings);
  RUN(a_pause_follows_the_cost);
  RUN(reasons_have_names_or_bits);
  RUN(each_kind_has_its_metadata);
  RUN(reasons_that_were_never_told_are_unknown);
  RUN(ids_lead_to_their_rows);
  return 0;
}
