/* Telemetry: one reading, what many readings come to, and their metadata. */
#include "telemetry.h"

#include "error.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>

#define LEAST_PAUSE_NS 10e6
#define SHARE 50.0 /* a reading takes at most 1 / SHARE of the time */

const kmbi_telemetry_info kmbi_telemetry_table[KMBI_TELEMETRY] = {
#define ROW(name, value, kind, key, unit) {value, KMBI_##kind, key},
    KMB_TELEMETRY_MAP(ROW)
#undef ROW
};

size_t kmbi_telemetry_index(kmb_telemetry id) {
  size_t i = 0;
  while (i < KMBI_TELEMETRY && kmbi_telemetry_table[i].id != id)
    i++;
  return i;
}

/* Metadata of a later version of the interface has no key here. */
static void take_in(void *user, kmb_telemetry id, double value,
                    const char *reason) {
  kmbi_reading *reading = user;
  size_t i = kmbi_telemetry_index(id);
  if (i == KMBI_TELEMETRY) return;
  kmbi_told *told = &reading->of[i];
  told->told = true;
  told->known = !reason && isfinite(value) && value >= 0;
  if (told->known)
    told->value = value;
  else
    snprintf(told->reason, sizeof told->reason, "%s",
             reason ? reason : "the backend gave no number");
}

void kmbi_telemetry_read(kmb_device *device, kmbi_reading *reading) {
  kmbi_error_state before;
  memset(reading, 0, sizeof *reading);
  reading->none = !KMBI_HAS(device->ops, telemetry);
  if (reading->none) return;
  kmbi_error_save(&before);
  device->ops->telemetry(device->self, take_in, reading);
  kmbi_error_restore(&before);
}

bool kmbi_telemetry_get(const kmbi_reading *reading, kmb_telemetry id,
                        double *value) {
  const kmbi_told *told = &reading->of[kmbi_telemetry_index(id)];
  if (told->known) *value = told->value;
  return told->known;
}

const char *kmbi_throttle_text(char text[KMBI_THROTTLE_SIZE],
                               uint32_t reasons) {
  size_t used = 0;
#define NAME(name, bit, word)                                        \
  if (reasons & (bit))                                               \
    used += (size_t)snprintf(text + used, KMBI_THROTTLE_SIZE - used, \
                             "%s" word, used ? "+" : "");            \
  reasons &= ~(uint32_t)(bit);
  KMB_THROTTLE_MAP(NAME)
#undef NAME
  if (reasons)
    used += (size_t)snprintf(text + used, KMBI_THROTTLE_SIZE - used, "%s0x%x",
                             used ? "+" : "", (unsigned)reasons);
  if (!used) snprintf(text, KMBI_THROTTLE_SIZE, "none");
  return text;
}

/* Metadata. */

uint32_t kmbi_throttle_reasons(double value) {
  if (!(value > 0)) return 0;
  return value < 4294967296.0 ? (uint32_t)value : UINT32_MAX;
}

static void store(kmb_result *result, const char *when, const char *key,
                  const char *suffix, const char *value, const char *reason) {
  char name[96];
  snprintf(name, sizeof name, "telemetry.%s.%s%s", when, key, suffix);
  kmbi_result_meta(result, name, value, reason);
}

static void store_number(kmb_result *result, const char *when, const char *key,
                         const char *suffix, double value) {
  char text[40];
  snprintf(text, sizeof text, "%.12g", value);
  for (char *at = text; *at; at++)
    if (*at == ',') *at = '.'; /* the caller's locale */
  store(result, when, key, suffix, text, NULL);
}

static void store_throttle(kmb_result *result, const char *when,
                           uint32_t reasons) {
  char text[KMBI_THROTTLE_SIZE];
  store(result, when, "throttle", "", kmbi_throttle_text(text, reasons), NULL);
}

void kmbi_telemetry_store(const kmbi_reading *reading, const char *when,
                          kmb_result *result) {
  char name[64];
  snprintf(name, sizeof name, "telemetry.%s", when);
  if (reading->none)
    kmbi_result_meta(result, name, NULL, "this backend reads no telemetry");
  for (size_t i = 0; i < KMBI_TELEMETRY; i++) {
    const kmbi_telemetry_info *info = &kmbi_telemetry_table[i];
    const kmbi_told *told = &reading->of[i];
    if (!told->told) continue;
    if (!told->known)
      store(result, when, info->key, "", NULL, told->reason);
    else if (info->kind == KMBI_SET)
      store_throttle(result, when, kmbi_throttle_reasons(told->value));
    else
      store_number(result, when, info->key, "", told->value);
  }
}

/* Many readings. */

void kmbi_gauge_add(kmbi_gauge *g, double value) {
  if (!g->count || value < g->min) g->min = value;
  if (!g->count || value > g->max) g->max = value;
  if (!g->stride) g->stride = 1;
  if (g->kept == KMBI_GAUGE_VALUES) {
    for (uint32_t i = 0; i < KMBI_GAUGE_VALUES / 2; i++)
      g->values[i] = g->values[(size_t)2 * i];
    g->kept = KMBI_GAUGE_VALUES / 2;
    g->stride *= 2;
  }
  if (g->count++ % g->stride == 0) g->values[g->kept++] = value;
}

double kmbi_gauge_median(const kmbi_gauge *g, double *scratch) {
  return kmbi_median(g->values, g->kept, scratch);
}

double kmbi_track_pause(const kmbi_track *track) {
  double pause = SHARE * track->cost_ns;
  return pause > LEAST_PAUSE_NS ? pause : LEAST_PAUSE_NS;
}

void kmbi_track_add(kmbi_track *track, const kmbi_reading *reading) {
  track->readings++;
  for (size_t i = 0; i < KMBI_TELEMETRY; i++) {
    const kmbi_told *told = &reading->of[i];
    kmbi_gauge *gauge = &track->gauges[i];
    gauge->told = gauge->told || told->told;
    if (!told->known) {
      if (told->told) memcpy(gauge->reason, told->reason, sizeof told->reason);
      continue;
    }
    if (kmbi_telemetry_table[i].kind == KMBI_GAUGE)
      kmbi_gauge_add(gauge, told->value);
    if (kmbi_telemetry_table[i].kind != KMBI_SET) continue;
    uint32_t reasons = kmbi_throttle_reasons(told->value);
    track->throttle |= reasons;
    track->throttle_readings++;
    track->throttled += reasons != 0;
  }
}

static void store_gauge(const kmbi_track *track, size_t i, kmb_result *result) {
  double scratch[KMBI_GAUGE_VALUES];
  const kmbi_gauge *gauge = &track->gauges[i];
  const char *key = kmbi_telemetry_table[i].key;
  if (!gauge->count) {
    store(result, "during", key, "", NULL, gauge->reason);
    return;
  }
  store_number(result, "during", key, "", kmbi_gauge_median(gauge, scratch));
  store_number(result, "during", key, "_min", gauge->min);
  store_number(result, "during", key, "_max", gauge->max);
}

void kmbi_track_store(const kmbi_track *track, kmb_result *result) {
  char reason[KMBI_REASON_SIZE];
  if (!track->readings) {
    snprintf(reason, sizeof reason,
             "measuring was over before a reading was due, %.0f ms after the "
             "one before",
             kmbi_track_pause(track) / 1e6);
    kmbi_result_meta(result, "telemetry.during", NULL,
                     track->last_ns > 0 ? reason
                                        : "this backend reads no telemetry");
    return;
  }
  store_number(result, "during", "readings", "", (double)track->readings);
  for (size_t i = 0; i < KMBI_TELEMETRY; i++) {
    const kmbi_gauge *gauge = &track->gauges[i];
    switch (kmbi_telemetry_table[i].kind) {
    case KMBI_GAUGE:
      if (gauge->told) store_gauge(track, i, result);
      break;
    case KMBI_SET:
      if (track->throttle_readings)
        store_throttle(result, "during", track->throttle);
      else if (gauge->told)
        store(result, "during", "throttle", "", NULL, gauge->reason);
      break;
    default: /* a count tells by what it was before and after */
      break;
    }
  }
}
