/* Telemetry: one reading, what many readings come to, and their metadata. */
#ifndef KMB_LIB_TELEMETRY_H
#define KMB_LIB_TELEMETRY_H

#include "device.h"
#include "result.h"

typedef enum kmbi_telemetry_kind {
  KMBI_GAUGE,
  KMBI_COUNT,
  KMBI_SET
} kmbi_telemetry_kind;

typedef struct kmbi_telemetry_info {
  kmb_telemetry id;
  kmbi_telemetry_kind kind;
  const char *key;
} kmbi_telemetry_info;

#define KMBI_TELEMETRY_ONE(name, value, kind, key, unit) +1
enum {
  KMBI_TELEMETRY = 0 KMB_TELEMETRY_MAP(KMBI_TELEMETRY_ONE),
  KMBI_REASON_SIZE = 128,
  KMBI_THROTTLE_SIZE = 160,
  KMBI_GAUGE_VALUES = 64
};
#undef KMBI_TELEMETRY_ONE

/* KMB_TELEMETRY_MAP as a table. */
extern const kmbi_telemetry_info kmbi_telemetry_table[KMBI_TELEMETRY];
/* Position in the table; KMBI_TELEMETRY for an id that is not in it. */
size_t kmbi_telemetry_index(kmb_telemetry id);

typedef struct kmbi_told {
  double value; /* if known */
  bool told, known;
  char reason[KMBI_REASON_SIZE];
} kmbi_told;

/* One reading; `none` if the backend has no telemetry. */
typedef struct kmbi_reading {
  kmbi_told of[KMBI_TELEMETRY];
  bool none;
} kmbi_reading;

void kmbi_telemetry_read(kmb_device *device, kmbi_reading *reading);
/* False if it is not known. */
bool kmbi_telemetry_get(const kmbi_reading *reading, kmb_telemetry id,
                        double *value);
/* Under "telemetry.WHEN.KEY". */
void kmbi_telemetry_store(const kmbi_reading *reading, const char *when,
                          kmb_result *result);
/* What a number told as reasons says: all of them if it is too large. */
uint32_t kmbi_throttle_reasons(double value);
/* "none", or the reasons with "+" between. Returns `text`. */
const char *kmbi_throttle_text(char text[KMBI_THROTTLE_SIZE], uint32_t reasons);

/* What a gauge was: extremes of all readings, and evenly spread ones of them.
 */
typedef struct kmbi_gauge {
  uint64_t count;
  double min, max;
  double values[KMBI_GAUGE_VALUES];
  uint64_t stride; /* each stride-th reading is kept */
  uint32_t kept;
  char reason[KMBI_REASON_SIZE]; /* why the last unknown one was */
  bool told;
} kmbi_gauge;

void kmbi_gauge_add(kmbi_gauge *gauge, double value);
/* scratch: KMBI_GAUGE_VALUES */
double kmbi_gauge_median(const kmbi_gauge *gauge, double *scratch);

/* Many readings. */
typedef struct kmbi_track {
  kmbi_gauge gauges[KMBI_TELEMETRY]; /* kind GAUGE alone */
  uint64_t readings, throttle_readings, throttled;
  double last_ns, cost_ns; /* of the latest reading: when it ended */
  uint32_t throttle;       /* union */
} kmbi_track;

/* A reading is due so long after the one before: it then takes at most a
 * fiftieth of the time. */
double kmbi_track_pause(const kmbi_track *track);
void kmbi_track_add(kmbi_track *track, const kmbi_reading *reading);
/* Under "telemetry.during.KEY". */
void kmbi_track_store(const kmbi_track *track, kmb_result *result);

#endif
