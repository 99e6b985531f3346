/* Measure: telemetry before, while and after samples are taken, never within
 * one. */
#include "run.h"

static void note_time(kmbi_run *run, double started) {
  kmbi_track *track = &run->track;
  track->last_ns = kmbi_now(run->device);
  track->cost_ns = track->last_ns - started;
}

void kmbi_watch_read(kmbi_run *run, bool after, kmbi_watch *watch) {
  kmbi_reading reading;
  double started = kmbi_now(run->device), throttle = 0;
  *watch = (kmbi_watch){.clock_mhz = -1, .preemptions = -1, .steal_ms = -1};
  kmbi_telemetry_read(run->device, &reading);
  if (!reading.none) note_time(run, started);
  kmbi_telemetry_get(&reading, KMB_TELEMETRY_CLOCK, &watch->clock_mhz);
  kmbi_telemetry_get(&reading, KMB_TELEMETRY_PREEMPTIONS, &watch->preemptions);
  kmbi_telemetry_get(&reading, KMB_TELEMETRY_STEAL, &watch->steal_ms);
  watch->throttle_known =
      kmbi_telemetry_get(&reading, KMB_TELEMETRY_THROTTLE, &throttle);
  watch->throttle = kmbi_throttle_reasons(throttle);
  /* Of several rounds the metadata tell the first start and the last end. */
  uint32_t told = after ? run->p.rounds - 1 : 0;
  if (run->round == told)
    kmbi_telemetry_store(&reading, after ? "after" : "before", run->result);
}

void kmbi_track_take(kmbi_run *run) {
  kmbi_track *track = &run->track;
  kmbi_reading reading;
  if (!KMBI_HAS(run->device->ops, telemetry)) return;
  double started = kmbi_now(run->device);
  if (started - track->last_ns < kmbi_track_pause(track)) return;
  kmbi_telemetry_read(run->device, &reading);
  note_time(run, started);
  kmbi_track_add(track, &reading);
}
