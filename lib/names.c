/* Names of enumerated values, as results and messages use them. */
#include "run.h"

const char *kmbi_timer_name(kmb_timer timer) {
  switch (timer) {
  case KMB_TIMER_AUTO:
    return "AUTO";
  case KMB_TIMER_TRACE:
    return "TRACE";
  case KMB_TIMER_GRAPH:
    return "GRAPH";
  case KMB_TIMER_EVENT:
    return "EVENT";
  case KMB_TIMER_HOST:
    return "HOST";
  default:
    return "unknown";
  }
}

const char *kmbi_launch_mode_name(kmb_launch_mode mode) {
  switch (mode) {
  case KMB_LAUNCH_AUTO:
    return "AUTO";
  case KMB_LAUNCH_PLAIN:
    return "PLAIN";
  case KMB_LAUNCH_GRAPH:
    return "GRAPH";
  default:
    return "unknown";
  }
}

const char *kmbi_cache_name(kmb_cache_state cache) {
  switch (cache) {
  case KMB_CACHE_DEFAULT:
    return "DEFAULT";
  case KMB_CACHE_COLD:
    return "COLD";
  case KMB_CACHE_ROTATED:
    return "ROTATED";
  case KMB_CACHE_WARM:
    return "WARM";
  default:
    return "unknown";
  }
}

const char *kmbi_stop_name(kmbi_stop stop) {
  switch (stop) {
  case KMBI_STOP_CONVERGED:
    return "CONVERGED";
  case KMBI_STOP_RESOLUTION:
    return "RESOLUTION";
  case KMBI_STOP_WALL:
    return "WALL";
  case KMBI_STOP_MAX_SAMPLES:
    return "MAX_SAMPLES";
  case KMBI_STOP_CANCELLED:
    return "CANCELLED";
  case KMBI_STOP_NONE:
    break;
  }
  return "GIVEN";
}

const char *kmbi_bound_name(kmb_bound bound) {
  switch (bound) {
  case KMB_BOUND_MEMORY:
    return "memory";
  case KMB_BOUND_COMPUTE:
    return "compute";
  case KMB_BOUND_NEITHER:
    return "neither";
  default:
    return "unknown";
  }
}

const char *kmbi_ceiling_name(kmb_ceiling_kind kind) {
  switch (kind) {
  case KMB_CEILING_READ:
    return "read";
  case KMB_CEILING_COPY:
    return "copy";
  case KMB_CEILING_TRIAD:
    return "triad";
  case KMB_CEILING_FMA:
    return "FMA";
  case KMB_CEILING_MATRIX:
    return "matrix";
  case KMB_CEILING_MEMORY:
    return "memory";
  default:
    return "unknown";
  }
}

const char *kmbi_source_name(kmb_ceiling_source source) {
  switch (source) {
  case KMB_SOURCE_MEASURED:
    return "measured";
  case KMB_SOURCE_CALLER:
    return "caller's";
  case KMB_SOURCE_DATASHEET:
    return "datasheet";
  case KMB_SOURCE_RATE:
    return "rate";
  case KMB_SOURCE_REFERENCE:
    return "reference";
  default:
    return "unnamed";
  }
}

const char *kmbi_fill_name(kmb_buffer_fill fill, kmb_buffer_role role) {
  switch (fill) {
  case KMB_FILL_DEFAULT:
    return role == KMB_INPUT || role == KMB_INOUT ? "random" : "poison";
  case KMB_FILL_RANDOM:
    return "random";
  case KMB_FILL_COPY:
    return "copy";
  case KMB_FILL_CALLBACK:
    return "callback";
  case KMB_FILL_CALLER:
    return "caller";
  case KMB_FILL_ZERO:
    return "zero";
  default:
    return "unknown";
  }
}
