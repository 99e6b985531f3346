/* One comparison. The interval of the ratio is the box of both intervals: two
 * runs apart share no clock, so nothing in them is paired. */
#include "compare.h"

const char *const verdict_names[VERDICTS] = {
    [VERDICT_FASTER] = "faster",
    [VERDICT_SAME] = "same",
    [VERDICT_SLOWER] = "slower",
    [VERDICT_UNRESOLVED] = "unresolved",
    [VERDICT_REFUSED] = "not comparable"};

static const char *text_of(const kmb_result *result, kmb_value value) {
  const char *text = NULL;
  return kmb_result_text(result, value, &text) ? "" : text;
}

static int compare_axis(const kmb_result *a, const kmb_result *b, uint64_t i) {
  kmb_pair x = {"", ""}, y = {"", ""};
  kmb_result_axis(a, i, &x);
  kmb_result_axis(b, i, &y);
  int order = strcmp(x.key, y.key);
  return order ? order : strcmp(x.value, y.value);
}

int compare_points(const kmb_result *a, const kmb_result *b) {
  int order = strcmp(text_of(a, KMB_VALUE_NAME), text_of(b, KMB_VALUE_NAME));
  uint64_t m = kmb_result_axis_count(a), n = kmb_result_axis_count(b);
  if (!order) order = (m > n) - (m < n);
  for (uint64_t i = 0; !order && i < m; i++)
    order = compare_axis(a, b, i);
  return order;
}

typedef struct identity {
  const char *name;
  kmb_value value;
  bool count; /* a U64, not a text */
} identity;

static const identity identities[] = {
    {"timer", KMB_VALUE_TIMER, false},
    {"launch mode", KMB_VALUE_LAUNCH_MODE, false},
    {"cache state", KMB_VALUE_CACHE_STATE, false},
    {"zero reference", KMB_VALUE_ZERO_REFERENCE, false},
    {"work convention", KMB_VALUE_WORK_CONVENTION, false},
    {"work dtype", KMB_VALUE_WORK_DTYPE, false},
    {"FLOPs", KMB_VALUE_FLOPS, true},
    {"least bytes", KMB_VALUE_LEAST_BYTES, true},
    {"touched bytes", KMB_VALUE_TOUCHED_BYTES, true},
    {"threads", KMB_VALUE_THREADS, true},
};

enum { SHOWN = 64 };

/* "unknown" is a value of its own: what one file knows and the other does not
 * cannot be called equal. */
static void show(const kmb_result *result, const identity *id,
                 char shown[SHOWN]) {
  const char *text = NULL;
  uint64_t count = 0;
  if (id->count && !kmb_result_u64(result, id->value, &count))
    snprintf(shown, SHOWN, "%llu", (unsigned long long)count);
  else if (!id->count && !kmb_result_text(result, id->value, &text))
    snprintf(shown, SHOWN, "%s", text);
  else
    snprintf(shown, SHOWN, "unknown");
}

static void show_meta(const kmb_result *result, const char *key,
                      char shown[SHOWN]) {
  const char *text = NULL;
  bool known = !kmb_result_metadata_text(result, key, &text);
  snprintf(shown, SHOWN, "%s", known ? text : "unknown");
}

bool find_difference(const kmb_result *a, const kmb_result *b, char *text,
                     size_t size) {
  char x[SHOWN], y[SHOWN];
  const char *name = "device";
  show_meta(a, "device.name", x);
  show_meta(b, "device.name", y);
  bool differs = strcmp(x, y) != 0;
  for (size_t i = 0; !differs && i < sizeof identities / sizeof identities[0];
       i++) {
    name = identities[i].name;
    show(a, &identities[i], x);
    show(b, &identities[i], y);
    differs = strcmp(x, y) != 0;
  }
  if (differs) snprintf(text, size, "%s: %s and %s", name, x, y);
  return differs;
}

/* The wider of the within-run and the between-round interval, and what the
 * timer's bias leaves open. */
static bool bounds(const kmb_result *result, double *low, double *high) {
  double from = 0, to = 0, bias = 0;
  if (kmb_result_f64(result, KMB_VALUE_INTERVAL_LOW, low) ||
      kmb_result_f64(result, KMB_VALUE_INTERVAL_HIGH, high))
    return false;
  if (!kmb_result_f64(result, KMB_VALUE_ROUND_LOW, &from) &&
      !kmb_result_f64(result, KMB_VALUE_ROUND_HIGH, &to)) {
    if (from < *low) *low = from;
    if (to > *high) *high = to;
  }
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
  return false;
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
                  double threshold, bool different, comparison *c) {
  double old_low = 0, old_high = 0, low = 0, high = 0;
  *c = (comparison){.old = old, .fresh = fresh};
  bool timed = !kmb_result_f64(old, KMB_VALUE_TIME, &c->old_ns) &&
               !kmb_result_f64(fresh, KMB_VALUE_TIME, &c->fresh_ns) &&
               c->old_ns > 0 && c->fresh_ns > 0;
  if (timed) c->ratio = c->fresh_ns / c->old_ns;
  c->has_interval =
      timed && bounds(old, &old_low, &old_high) && bounds(fresh, &low, &high);
  if (c->has_interval) {
    c->low = low / old_high;
    c->high = high / old_low;
  }
  if (!different && find_difference(old, fresh, c->reason, sizeof c->reason))
    c->verdict = VERDICT_REFUSED;
  else if (!timed)
    leave_open(c, "a time is not known, or not above 0");
  else if (!c->has_interval)
    leave_open(c, "an interval is not known");
  else if (doubted(old) || doubted(fresh))
    leave_open(c, "a result has findings that doubt it");
  else
    decide(c, threshold);
}
