/* One comparison. The interval of the ratio is the box of both intervals: two
 * runs apart share no clock, so nothing in them is paired. */
#include "compare.h"
#include "spread.h"

const char *const verdict_names[VERDICTS] = {
    [VERDICT_FASTER] = "faster",
    [VERDICT_SAME] = "same",
    [VERDICT_SLOWER] = "slower",
    [VERDICT_UNRESOLVED] = "unresolved",
    [VERDICT_REFUSED] = "not comparable"};

/* By their keys in the result, so that one that this library does not have yet
 * is unknown in both. */
typedef struct identity {
  const char *name, *key;
  const char *unsaid; /* what a result means that does not say */
} identity;

static const identity identities[] = {
    {"timer", "timer", NULL},
    {"launch mode", "launch_mode", NULL},
    {"cache state", "cache_state", NULL},
    {"zero reference", "zero_reference", NULL},
    {"work convention", "work_convention", NULL},
    {"work dtype", "work_dtype", NULL},
    {"FLOPs", "flops", NULL},
    {"least bytes", "least_bytes", NULL},
    {"touched bytes", "touched_bytes", NULL},
    {"threads", "threads", NULL},
    {"world size", "world_size", "1"},
};
enum { IDENTITIES = sizeof identities / sizeof identities[0] };

typedef struct value_row {
  const char *key;
  kmb_value value;
  bool count; /* a U64 */
} value_row;

static const value_row values[] = {
#define KIND_F64 0
#define KIND_U64 1
#define KIND_TEXT 2
#define ROW(name, number, kind, key, unit) {key, number, KIND_##kind == 1},
    KMB_VALUE_MAP(ROW)
#undef ROW
};

static const value_row *row_of(int id) {
  static const value_row *rows[IDENTITIES];
  static bool filled;
  if (!filled) {
    for (int k = 0; k < IDENTITIES; k++)
      for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcmp(values[i].key, identities[k].key) == 0) rows[k] = &values[i];
    filled = true;
  }
  return rows[id];
}

enum { SHOWN = 64 };

/* "unknown" is a value of its own: what one file knows and the other does not
 * cannot be called equal. */
static const char *show(const kmb_result *result, int id, char shown[SHOWN]) {
  const value_row *row = row_of(id);
  const char *text = NULL;
  uint64_t count = 0;
  if (row && row->count && !kmb_result_u64(result, row->value, &count)) {
    snprintf(shown, SHOWN, "%llu", (unsigned long long)count);
    return shown;
  }
  if (row && !row->count && !kmb_result_text(result, row->value, &text))
    return text;
  return identities[id].unsaid ? identities[id].unsaid : "unknown";
}

static const char *show_meta(const kmb_result *result, const char *key) {
  const char *text = NULL;
  return kmb_result_metadata_text(result, key, &text) ? "unknown" : text;
}

bool find_difference(const kmb_result *a, const kmb_result *b, char *text,
                     size_t size) {
  static const char *const keys[] = {"device.name", "device.mig"};
  static const char *const key_names[] = {"device", "MIG"};
  char p[SHOWN], q[SHOWN];
  for (int i = 0; i < 2; i++) {
    const char *x = show_meta(a, keys[i]), *y = show_meta(b, keys[i]);
    if (strcmp(x, y) == 0) continue;
    snprintf(text, size, "%s: %.64s and %.64s", key_names[i], x, y);
    return true;
  }
  for (int i = 0; i < IDENTITIES; i++) {
    const char *x = show(a, i, p), *y = show(b, i, q);
    if (strcmp(x, y) == 0) continue;
    snprintf(text, size, "%s: %.64s and %.64s", identities[i].name, x, y);
    return true;
  }
  return false;
}

/* What differs between any two runs, and says nothing. */
static bool says_nothing(const char *key) {
  static const char *const starts[] = {"time.",
                                       "note.",
                                       "device.memory_budget",
                                       "device.clock_tick_ns",
                                       "process.id",
                                       "config.",
                                       "processes."};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
    if (strncmp(key, starts[i], strlen(starts[i])) == 0) return true;
  if (strncmp(key, "telemetry.", 10) != 0) return false;
  /* Of readings, what clocks were held back by, and the clocks. */
  return !strstr(key, "throttle") && !strstr(key, "clock_mhz");
}

/* Clocks are read in steps and wander: from one percent on they differ. */
static bool same_value(const char *key, const char *a, const char *b) {
  double x = 0, y = 0;
  if (!a || !b) return a == b;
  if (strcmp(a, b) == 0) return true;
  if (!strstr(key, "mhz") || !read_real(a, &x) || !read_real(b, &y))
    return false;
  return x - y <= 0.01 * y && y - x <= 0.01 * x;
}

static bool same_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_difference(comparison_table *t, const char *key,
                           const char *old, const char *fresh) {
  if (says_nothing(key) || same_value(key, old, fresh)) return;
  int of_key = 0;
  for (int i = 0; i < t->difference_count; i++) {
    difference *d = &t->differences[i];
    if (strcmp(d->key, key) != 0) continue;
    of_key++;
    if (!same_text(d->old, old) || !same_text(d->fresh, fresh)) continue;
    d->pairs++;
    return;
  }
  if (t->difference_count == COMPARE_DIFFERENCES || of_key == 2) {
    t->differences_left++;
    return;
  }
  t->differences[t->difference_count++] = (difference){key, old, fresh, 1};
}

/* Entries mostly stand in the same places. */
void add_differences(const kmb_result *old, const kmb_result *fresh,
                     comparison_table *t) {
  kmb_metadata_entry a = kmb_metadata_entry_init(), b = a;
  const char *text = NULL;
  uint64_t old_count = kmb_result_metadata_count(old);
  uint64_t fresh_count = kmb_result_metadata_count(fresh);
  for (uint64_t i = 0; i < old_count; i++) {
    if (kmb_result_metadata(old, i, &a)) continue;
    bool beside = i < fresh_count && !kmb_result_metadata(fresh, i, &b) &&
                  strcmp(a.key, b.key) == 0;
    if (beside)
      text = b.value;
    else if (says_nothing(a.key) ||
             kmb_result_metadata_text(fresh, a.key, &text))
      text = NULL;
    add_difference(t, a.key, a.value, text);
  }
  for (uint64_t i = 0; i < fresh_count; i++) {
    if (kmb_result_metadata(fresh, i, &b)) continue;
    if (i < old_count && !kmb_result_metadata(old, i, &a) &&
        strcmp(a.key, b.key) == 0)
      continue;
    if (b.value && !says_nothing(b.key) &&
        kmb_result_metadata_text(old, b.key, &text))
      add_difference(t, b.key, NULL, b.value);
  }
}

static void widen(double *low, double *high, double from, double to) {
  if (from < *low) *low = from;
  if (to > *high) *high = to;
}

/* The widest of the intervals within a run, between rounds and between
 * processes, and what the timer's bias leaves open. `few` if there were
 * processes, but too few for an interval. */
static bool bounds(const kmb_result *result, double *low, double *high,
                   bool *few) {
  double from = 0, to = 0, bias = 0;
  if (kmb_result_f64(result, KMB_VALUE_INTERVAL_LOW, low) ||
      kmb_result_f64(result, KMB_VALUE_INTERVAL_HIGH, high))
    return false;
  if (!kmb_result_f64(result, KMB_VALUE_ROUND_LOW, &from) &&
      !kmb_result_f64(result, KMB_VALUE_ROUND_HIGH, &to)) {
    widen(low, high, from, to);
  }
  if (spread_bounds(result, &from, &to, few)) widen(low, high, from, to);
  if (*few) return false;
  if (!kmb_result_f64(result, KMB_VALUE_BIAS_UNCERTAINTY, &bias)) {
    *low -= bias;
    *high += bias;
  }
  return *low > 0;
}

static bool doubted(const kmb_result *result) {
  kmb_finding finding = kmb_finding_init();
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++)
    if (!kmb_result_finding(result, i, &finding) &&
        finding.severity == KMB_DOUBT)
      return true;
  return spread_doubted(result);
}

static void leave_open(comparison *c, const char *reason) {
  c->verdict = VERDICT_UNRESOLVED;
  snprintf(c->reason, sizeof c->reason, "%s", reason);
}

static void decide(comparison *c, double threshold) {
  c->reason[0] = '\0';
  if (c->low > 1 + threshold)
    c->verdict = VERDICT_SLOWER;
  else if (c->high < 1 - threshold)
    c->verdict = VERDICT_FASTER;
  else if (c->low >= 1 - threshold && c->high <= 1 + threshold)
    c->verdict = VERDICT_SAME;
  else
    leave_open(c, "the interval of the ratio crosses the threshold");
}

void compare_pair(const kmb_result *old, const kmb_result *fresh,
                  const compare_options *o, comparison *c) {
  double old_low = 0, old_high = 0, low = 0, high = 0;
  *c = (comparison){.old = old, .fresh = fresh};
  bool timed = !kmb_result_f64(old, KMB_VALUE_TIME, &c->old_ns) &&
               !kmb_result_f64(fresh, KMB_VALUE_TIME, &c->fresh_ns) &&
               c->old_ns > 0 && c->fresh_ns > 0;
  if (timed) c->ratio = c->fresh_ns / c->old_ns;
  bool few = false;
  c->has_interval = timed && bounds(old, &old_low, &old_high, &few) &&
                    bounds(fresh, &low, &high, &few);
  if (c->has_interval) {
    c->low = low / old_high;
    c->high = high / old_low;
  }
  if (!o->different && find_difference(old, fresh, c->reason, sizeof c->reason))
    c->verdict = VERDICT_REFUSED;
  else if (!timed)
    leave_open(c, "a time is not known, or not above 0");
  else if (few)
    leave_open(c, "too few processes for an interval between them");
  else if (!c->has_interval)
    leave_open(c, "an interval is not known");
  else if (doubted(old) || doubted(fresh))
    leave_open(c, "a result has findings that doubt it");
  else
    decide(c, o->threshold);
}
