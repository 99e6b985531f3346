/* Words and figures as people read them. */
#include "markup.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_word(char c) {
  unsigned char u = (unsigned char)c;
  return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') ||
         (u >= 'a' && u <= 'z') || u >= 0x80;
}

static const char *entity(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  default:
    return NULL;
  }
}

/* An underscore within a word marks nothing. */
static bool marks_md(const char *text, size_t i) {
  if (text[i] == '_')
    return i == 0 || !is_word(text[i - 1]) || !is_word(text[i + 1]);
  return strchr("\\|`*[]#~$", text[i]) != NULL;
}

void put_marked(FILE *to, markup how, const char *text) {
  for (size_t i = 0; text[i]; i++) {
    unsigned char c = (unsigned char)text[i];
    const char *name = how == MARKUP_TEXT ? NULL : entity(text[i]);
    /* U+0080 to U+009F are control characters too. */
    bool high = c == 0xc2 && (unsigned char)text[i + 1] >= 0x80 &&
                (unsigned char)text[i + 1] < 0xa0;
    if (high) i++;
    if (c < 0x20 || c == 0x7f || high) {
      fputc(' ', to);
    } else if (name &&
               (how == MARKUP_HTML || c == '<' || c == '>' || c == '&')) {
      fputs(name, to);
    } else {
      if (how == MARKUP_MD && marks_md(text, i)) fputc('\\', to);
      fputc(c, to);
    }
  }
}

bool takes_colours(FILE *to) {
  const char *none = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return isatty(fileno(to)) && !(none && *none) && term && *term &&
         strcmp(term, "dumb") != 0;
}

/* Four digits, no exponent. */
static void digits(double value, char *text, size_t size) {
  int behind = value >= 1000   ? 0
               : value >= 100  ? 1
               : value >= 10   ? 2
               : value >= 1    ? 3
               : value >= 1e-3 ? 6
                               : 9;
  snprintf(text, size, "%.*f", behind, value);
}

void time_text(double ns, char *text, size_t size) {
  if (ns > 0)
    digits(ns / 1e3, text, size);
  else
    snprintf(text, size, "-");
}

static void with_unit(double value, const char *const units[3], char *text,
                      size_t size) {
  char number[32];
  int i = value >= 1e12 ? 0 : value >= 1e9 ? 1 : 2;
  digits(value / (i == 0 ? 1e12 : i == 1 ? 1e9 : 1e6), number, sizeof number);
  snprintf(text, size, "%s %s", number, units[i]);
}

void rate_text(const kmb_result *result, char *text, size_t size) {
  static const char *const flop_units[] = {"TFLOP/s", "GFLOP/s", "MFLOP/s"};
  static const char *const byte_units[] = {"TB/s", "GB/s", "MB/s"};
  char flops[64] = "", bytes[64] = "";
  double rate = result_f64(result, KMB_VALUE_ACHIEVED_FLOPS);
  double moved = result_f64(result, KMB_VALUE_ACHIEVED_BYTES);
  const char *bound = result_text(result, KMB_VALUE_OBSERVED_BOUND);
  if (strcmp(bound, "memory") != 0 && strcmp(bound, "compute") != 0)
    bound = result_text(result, KMB_VALUE_PREDICTED_BOUND);
  if (rate > 0 && strcmp(bound, "memory") != 0)
    with_unit(rate, flop_units, flops, sizeof flops);
  if (moved > 0 && strcmp(bound, "compute") != 0) {
    /* GB/s from one to a hundred thousand: what people compare. */
    if (moved >= 1e9 && moved < 1e14) {
      digits(moved / 1e9, bytes, sizeof bytes - 8);
      memcpy(bytes + strlen(bytes), " GB/s", sizeof " GB/s");
    } else {
      with_unit(moved, byte_units, bytes, sizeof bytes);
    }
  }
  snprintf(text, size, "%s%s%s", flops, *flops && *bytes ? ", " : "", bytes);
  if (!*text) snprintf(text, size, "-");
}

/* Facts. */

enum { SHOWN = 3 };

/* Values that differ, in the order in which they come. */
typedef struct distinct {
  const char *values[SHOWN];
  size_t count, more;
} distinct;

static void add_distinct(distinct *d, const char *value) {
  if (!*value) value = "unknown";
  for (size_t i = 0; i < d->count; i++)
    if (strcmp(d->values[i], value) == 0) return;
  if (d->count < SHOWN)
    d->values[d->count++] = value;
  else
    d->more++;
}

static void show_distinct(const distinct *d, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < d->count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%.120s",
                             i ? ", " : "", d->values[i]);
  if (d->more && used < size) snprintf(text + used, size - used, " and others");
}

static void collect(const kmb_result *const *items, size_t count,
                    const char *key, kmb_value value, char *text, size_t size) {
  distinct d = {.count = 0};
  const char *last = NULL;
  for (size_t i = 0; i < count; i++) {
    const char *is =
        key ? result_meta(items[i], key) : result_text(items[i], value);
    if (last && strcmp(last, is) == 0) continue;
    last = is;
    add_distinct(&d, is);
  }
  show_distinct(&d, text, size);
}

static void append(char *text, size_t size, const char *before,
                   const char *part) {
  size_t used = strlen(text);
  if (used < size) snprintf(text + used, size - used, "%s%s", before, part);
}

/* The clocks seen before, while and after measuring, of all results. */
static void collect_clocks(const kmb_result *const *items, size_t count,
                           char *text, size_t size) {
  static const char *const keys[] = {
      "telemetry.before.clock_mhz",     "telemetry.after.clock_mhz",
      "telemetry.during.clock_mhz_min", "telemetry.during.clock_mhz_max",
      "telemetry.before.core0_mhz",     "telemetry.after.core0_mhz"};
  double low = INFINITY, high = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      double mhz = 0;
      if (!read_real(result_meta(items[i], keys[k]), &mhz) || mhz <= 0)
        continue;
      low = fmin(low, mhz);
      high = fmax(high, mhz);
    }
  }
  if (high == 0)
    snprintf(text, size, "unknown");
  else if (low == high)
    snprintf(text, size, "%.6g MHz", low);
  else
    snprintf(text, size, "%.6g to %.6g MHz", low, high);
}

static void collect_versions(const kmb_result *const *items, size_t count,
                             char *text, size_t size) {
  static const struct {
    const char *label, *key;
  } keys[] = {{"libkmb ", "kmb.version"},
              {"driver ", "device.driver_version"},
              {"CUDA ", "device.cuda_driver_api"},
              {"CUPTI ", "device.cupti_api"},
              {"HIP ", "device.hip_version"}};
  char one[256];
  text[0] = '\0';
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    collect(items, count, keys[i].key, 0, one, sizeof one);
    if (i && strcmp(one, "unknown") == 0) continue;
    append(text, size, i ? ", " : "", keys[i].label);
    append(text, size, "", one);
  }
}

void collect_facts(const kmb_result *const *items, size_t count,
                   fact facts[FACTS]) {
  static const char *const labels[FACTS] = {"device", "clocks", "timer",
                                            "launch", "cache",  "versions",
                                            "host",   "commit"};
  char other[256];
  for (size_t i = 0; i < FACTS; i++)
    facts[i] = (fact){.label = labels[i]};
  size_t size = sizeof facts[0].value;
  collect(items, count, "device.name", 0, facts[0].value, size);
  collect_clocks(items, count, facts[1].value, size);
  collect(items, count, NULL, KMB_VALUE_TIMER, facts[2].value, size);
  collect(items, count, NULL, KMB_VALUE_LAUNCH_MODE, facts[3].value, size);
  collect(items, count, NULL, KMB_VALUE_CACHE_STATE, facts[4].value, size);
  collect_versions(items, count, facts[5].value, size);
  collect(items, count, "host.cpu", 0, facts[6].value, size);
  collect(items, count, "host.kernel", 0, other, sizeof other);
  append(facts[6].value, size, ", ", other);
  collect(items, count, "revision.commit", 0, facts[7].value, size);
  collect(items, count, "revision.tree", 0, other, sizeof other);
  if (strcmp(other, "unknown") != 0) {
    append(facts[7].value, size, " (", other);
    append(facts[7].value, size, "", ")");
  }
}
