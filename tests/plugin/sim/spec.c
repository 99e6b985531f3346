/* Parsing the specification. */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

/* One KEY=VALUE, cut out; `value` ends at `end`. */
typedef struct piece {
  const char *key;
  size_t key_length;
  const char *value;
  const char *end;
} piece;

static bool key_is(const piece *p, const char *key) {
  return strlen(key) == p->key_length &&
         memcmp(p->key, key, p->key_length) == 0;
}

/* Numbers separated by colons: between `least` and `most` of them. */
static bool numbers(const char *at, const char *end, size_t least, size_t most,
                    double *out) {
  size_t n = 0;
  while (n < most) {
    char *stop = NULL;
    if (at >= end) return false;
    double value = strtod(at, &stop);
    if (stop == at || stop > end || !isfinite(value)) return false;
    out[n++] = value;
    if (stop == end) return n >= least;
    if (*stop != ':') return false;
    at = stop + 1;
  }
  return false;
}

static bool integer(const char *at, const char *end, uint64_t *out) {
  char *stop = NULL;
  if (at >= end || *at < '0' || *at > '9') return false;
  *out = strtoull(at, &stop, 10);
  return stop == end;
}

/* Keys with one number, and those with one integer. */
typedef struct number_key {
  const char *key;
  size_t offset;
  double least, most;
} number_key;

#define NUMBER(name, least, most) \
  { #name, offsetof(sim_config, name), least, most }
static const number_key number_keys[] = {
    NUMBER(kernel, 0, 1e12),
    NUMBER(cold, 0, 1e12),
    NUMBER(overlap, 0, 0.99),
    NUMBER(tick, 0, 1e9),
    NUMBER(now, 0, 1e9),
    NUMBER(launch, 0, 1e12),
    NUMBER(call, 0, 1e12),
    NUMBER(sync, 0, 1e12),
    NUMBER(trace_cost, 0, 1e12),
    NUMBER(node, 0, 1e9),
    NUMBER(replay, 0, 1e12),
    NUMBER(event, 0, 1e12),
    NUMBER(bias_error, -10, 10),
    NUMBER(bias_unc, 0, 1e12),
    NUMBER(bandwidth, 1e-6, 1e9),
    NUMBER(clock, 1, 1e6),
    NUMBER(preempt, 0, 1e12),
    NUMBER(steal, 0, 1000),
    NUMBER(deadline, 0, 1e15),
    NUMBER(record_drop, 0, 1),
    NUMBER(record_invalid, 0, 1),
    NUMBER(telemetry_cost, 0, 1e12),
    NUMBER(skew, 0, 1e12),
    NUMBER(stream_skew, 0, 1e12),
    {"read", offsetof(sim_config, ceiling[KMB_CEILING_READ]), 0, 1e30},
    {"copy", offsetof(sim_config, ceiling[KMB_CEILING_COPY]), 0, 1e30},
    {"triad", offsetof(sim_config, ceiling[KMB_CEILING_TRIAD]), 0, 1e30},
    {"fma", offsetof(sim_config, ceiling[KMB_CEILING_FMA]), 0, 1e30},
    {"matrix", offsetof(sim_config, ceiling[KMB_CEILING_MATRIX]), 0, 1e30},
};
#undef NUMBER

typedef struct integer_key {
  const char *key;
  size_t offset;
  bool is_switch; /* 0 or 1, 32 bits */
  char unused[7];
} integer_key;

static const integer_key integer_keys[] = {
    {"seed", offsetof(sim_config, seed), false, ""},
    {"llc", offsetof(sim_config, llc), false, ""},
    {"l2", offsetof(sim_config, l2), false, ""},
    {"memory", offsetof(sim_config, memory), false, ""},
    {"hang", offsetof(sim_config, hang), false, ""},
    {"units", offsetof(sim_config, units), false, ""},
    {"nocapture", offsetof(sim_config, nocapture), true, ""},
    {"calibrated", offsetof(sim_config, calibrated), true, ""},
    {"llc_known", offsetof(sim_config, llc_known), true, ""},
    {"telemetry", offsetof(sim_config, telemetry), true, ""},
    {"nopeer", offsetof(sim_config, nopeer), true, ""},
    {"graph_empty", offsetof(sim_config, graph_empty), true, ""},
};

/* 1 parsed, 0 wrong, -1 not such a key. */
static int simple_key(sim_config *config, const piece *p) {
  for (size_t i = 0; i < sizeof number_keys / sizeof number_keys[0]; i++) {
    const number_key *k = &number_keys[i];
    double value = 0;
    if (!key_is(p, k->key)) continue;
    if (!numbers(p->value, p->end, 1, 1, &value)) return 0;
    if (value < k->least || value > k->most) return 0;
    memcpy((char *)config + k->offset, &value, sizeof value);
    return 1;
  }
  for (size_t i = 0; i < sizeof integer_keys / sizeof integer_keys[0]; i++) {
    const integer_key *k = &integer_keys[i];
    uint64_t value = 0;
    if (!key_is(p, k->key)) continue;
    if (!integer(p->value, p->end, &value)) return 0;
    if (k->is_switch && value > 1) return 0;
    uint32_t flag = (uint32_t)value;
    if (k->is_switch)
      memcpy((char *)config + k->offset, &flag, sizeof flag);
    else
      memcpy((char *)config + k->offset, &value, sizeof value);
    return 1;
  }
  return -1;
}

static bool timer_named(const char *at, size_t length, uint32_t *timer) {
  static const char *const names[SIM_TIMERS] = {"", "trace", "graph", "event",
                                                "host"};
  for (uint32_t t = 1; t < SIM_TIMERS; t++) {
    if (strlen(names[t]) != length || memcmp(at, names[t], length) != 0)
      continue;
    *timer = t;
    return true;
  }
  return false;
}

static bool timer_set(const piece *p, uint32_t *bits) {
  *bits = 0;
  for (const char *at = p->value; at <= p->end;) {
    const char *stop = memchr(at, '+', (size_t)(p->end - at));
    uint32_t timer = 0;
    if (!stop) stop = p->end;
    if (!timer_named(at, (size_t)(stop - at), &timer)) return false;
    *bits |= 1u << timer;
    at = stop + 1;
  }
  return true;
}

static bool parse_lie(sim_config *config, const piece *p) {
  const char *colon = memchr(p->value, ':', (size_t)(p->end - p->value));
  uint32_t timer = 0;
  return colon && timer_named(p->value, (size_t)(colon - p->value), &timer) &&
         numbers(colon + 1, p->end, 1, 1, &config->lie[timer]);
}

/* SLOT@K[+][:STATUS] */
static bool parse_fault(sim_config *config, const piece *p) {
  static const char *const names[] = {
#define NAME(name) #name,
      SIM_SLOTS(NAME)
#undef NAME
  };
  if (config->fault_count == SIM_FAULTS) return false;
  sim_fault *fault = &config->faults[config->fault_count];
  const char *at = memchr(p->value, '@', (size_t)(p->end - p->value));
  if (!at) return false;
  size_t length = (size_t)(at - p->value);
  size_t slot = 0;
  while (slot < SIM_SLOT_COUNT && (strlen(names[slot]) != length ||
                                   memcmp(names[slot], p->value, length) != 0))
    slot++;
  if (slot == SIM_SLOT_COUNT) return false;
  const char *colon = memchr(at, ':', (size_t)(p->end - at));
  const char *stop = colon ? colon : p->end;
  double status = KMB_ERR_VENDOR;
  if (colon && !numbers(colon + 1, p->end, 1, 1, &status)) return false;
  fault->onward = stop[-1] == '+';
  if (fault->onward) stop--;
  if (!integer(at + 1, stop, &fault->at) || fault->at == 0) return false;
  fault->slot = (sim_slot)slot;
  fault->status = (kmb_status)status;
  config->fault_count++;
  return true;
}

/* Text that fits. */
static bool text(const piece *p, char *to, size_t size) {
  size_t length = (size_t)(p->end - p->value);
  if (length == 0 || length >= size) return false;
  memcpy(to, p->value, length);
  to[length] = '\0';
  return true;
}

/* Keys with text or with several numbers. */
static bool other_key(sim_config *c, const piece *p) {
  double v[3] = {0, 0, 0};
  if (key_is(p, "noise")) {
    const char gauss[] = "gauss:";
    size_t skip = sizeof gauss - 1;
    if ((size_t)(p->end - p->value) <= skip ||
        memcmp(p->value, gauss, skip) != 0)
      return false;
    return numbers(p->value + skip, p->end, 1, 1, &c->noise) && c->noise >= 0;
  }
  if (key_is(p, "name")) return text(p, c->name, sizeof c->name);
  if (key_is(p, "pci")) return text(p, c->pci, sizeof c->pci);
  if (key_is(p, "uuid")) return text(p, c->uuid, sizeof c->uuid);
  if (key_is(p, "timers")) return timer_set(p, &c->timers);
  if (key_is(p, "busy")) return timer_set(p, &c->busy);
  if (key_is(p, "lie")) return parse_lie(c, p);
  if (key_is(p, "fail")) return parse_fault(c, p);
  if (key_is(p, "tail")) {
    if (!numbers(p->value, p->end, 2, 2, v)) return false;
    c->tail_p = v[0];
    c->tail_f = v[1];
    return v[0] >= 0 && v[0] <= 1 && v[1] > 0;
  }
  if (key_is(p, "drift")) {
    if (!numbers(p->value, p->end, 2, 2, v)) return false;
    c->drift_a = v[0];
    c->drift_tau = v[1];
    return v[0] > -1 && v[1] > 0;
  }
  if (key_is(p, "ar")) {
    if (!numbers(p->value, p->end, 2, 2, v)) return false;
    c->ar_rho = v[0];
    c->ar_s = v[1];
    return v[0] > -1 && v[0] < 1 && v[1] >= 0;
  }
  if (key_is(p, "modes")) {
    v[2] = 1;
    if (!numbers(p->value, p->end, 2, 3, v)) return false;
    c->mode_p = v[0];
    c->mode_shift = v[1];
    c->mode_dwell = v[2];
    return v[0] >= 0 && v[0] < 1 && v[1] > -1 && v[2] >= 1;
  }
  if (key_is(p, "throttle")) {
    v[2] = INFINITY;
    if (!numbers(p->value, p->end, 2, 3, v)) return false;
    c->throttle_at = v[0];
    c->throttle_f = v[1];
    c->throttle_for = v[2];
    return v[1] > 0;
  }
  if (key_is(p, "idle")) {
    if (!numbers(p->value, p->end, 3, 3, v)) return false;
    c->idle_ns = v[0];
    c->idle_f = v[1];
    c->idle_ramp = v[2];
    return v[0] > 0 && v[1] > 0 && v[2] > 0;
  }
  if (key_is(p, "compile")) {
    v[1] = 1;
    if (!numbers(p->value, p->end, 1, 2, v)) return false;
    c->compile = v[0];
    c->compile_at = (uint64_t)v[1];
    return v[0] >= 0 && v[1] >= 1;
  }
  return false;
}

static void set_defaults(sim_config *c) {
  *c = (sim_config){
      .kernel = 20000,
      .cold = -1,
      .throttle_at = INFINITY,
      .tick = 32,
      .now = 20,
      .launch = 2000,
      .call = 10,
      .sync = 1000,
      .trace_cost = 1000,
      .node = 200,
      .replay = 5000,
      .event = 3900,
      .bias_unc = 20,
      .bandwidth = 2000,
      .clock = 1980,
      .deadline = 5e9,
      .seed = 1,
      .llc = 8u << 20,
      .memory = 2ULL << 30,
      .units = 132,
      .timers = 1u << KMB_TIMER_TRACE | 1u << KMB_TIMER_GRAPH |
                1u << KMB_TIMER_EVENT | 1u << KMB_TIMER_HOST,
      .calibrated = 1,
      .llc_known = 1,
      .telemetry = 1,
  };
  for (int t = 0; t < SIM_TIMERS; t++)
    c->lie[t] = 1;
}

bool sim_config_parse(sim_config *config, const char *spec, const char **at,
                      size_t *length) {
  set_defaults(config);
  while (*spec) {
    piece p = {.key = spec, .end = spec + strcspn(spec, ",")};
    const char *equals = memchr(spec, '=', (size_t)(p.end - spec));
    *at = spec;
    *length = (size_t)(p.end - spec);
    if (!equals) return false;
    p.key_length = (size_t)(equals - spec);
    p.value = equals + 1;
    int simple = simple_key(config, &p);
    if (simple == 0 || (simple < 0 && !other_key(config, &p))) return false;
    spec = *p.end ? p.end + 1 : p.end;
  }
  if (config->cold < 0) config->cold = config->kernel;
  if (config->l2 == 0) config->l2 = config->llc;
  return true;
}
