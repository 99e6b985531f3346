/* What a report says. */
#include "report.h"

#include <stdlib.h>

enum { COLUMNS = 64, LISTED = 20 };

static void add(char *text, size_t size, const char *before, const char *part) {
  size_t used = strlen(text);
  if (used < size) snprintf(text + used, size - used, "%s%s", before, part);
}

/* Notes. */

static const struct {
  const char *label, *key;
} notes[] = {{"Question", "note.question"},
             {"Change", "note.change"},
             {"Correctness", "note.correctness"},
             {"Result", NULL},
             {"Observation", "note.observation"},
             {"Explanation", "note.explanation"},
             {"Next", "note.next"}};
enum { NOTES = sizeof notes / sizeof notes[0] };

static bool same_note(const kmb_result *a, const kmb_result *b) {
  static const char backing[] = "note.explanation_artifact";
  if (strcmp(result_meta(a, backing), result_meta(b, backing)) != 0)
    return false;
  for (int i = 0; i < NOTES; i++)
    if (notes[i].key &&
        strcmp(result_meta(a, notes[i].key), result_meta(b, notes[i].key)) != 0)
      return false;
  return true;
}

static bool has_note(const kmb_result *r) {
  for (int i = 0; i < NOTES; i++)
    if (notes[i].key && *result_meta(r, notes[i].key)) return true;
  return false;
}

/* The figures of the results of one note, in short. */
static void result_line(const report_data *data, const kmb_result *of,
                        char *text, size_t size) {
  char rate[96], time[48], point[200];
  size_t count = 0, shown = 0;
  text[0] = '\0';
  for (size_t i = 0; i < data->count; i++) {
    const kmb_result *r = data->items[i];
    if (!same_note(of, r)) continue;
    if (++count > 3) continue;
    point_text(r, point, sizeof point);
    rate_text(r, rate, sizeof rate);
    time_text(result_f64(r, KMB_VALUE_TIME), time, sizeof time);
    add(text, size, shown++ ? "; " : "", point);
    if (strcmp(rate, "-") != 0) add(text, size, ": ", rate);
    add(text, size, strcmp(rate, "-") != 0 ? ", " : ": ", time);
    add(text, size, "", " µs");
  }
  if (count > 3) {
    snprintf(point, sizeof point, "; and %zu more, below", count - 3);
    add(text, size, "", point);
  }
}

/* What the library's own checks said, where the note says nothing. */
static const char *correctness(const kmb_result *r) {
  const char *check = result_text(r, KMB_VALUE_CHECK);
  return *check ? check : "not stated";
}

static void write_note(document *d, const report_data *data,
                       const kmb_result *r) {
  char text[1024];
  for (int i = 0; i < NOTES; i++) {
    const char *said = notes[i].key ? result_meta(r, notes[i].key) : "";
    if (!notes[i].key) {
      result_line(data, r, text, sizeof text);
      said = text;
    } else if (strcmp(notes[i].key, "note.explanation") == 0) {
      const char *artifact = result_meta(r, "note.explanation_artifact");
      if (!*said) continue;
      snprintf(text, sizeof text, "%.700s (%s%.200s)", said,
               *artifact ? "artifact " : "a hypothesis: no artifact backs it",
               artifact);
      said = text;
    } else if (!*said) {
      said = i == 2 ? correctness(r) : "not stated";
    }
    document_item(d, notes[i].label, said);
  }
}

/* Each note once, with the results that carry it. */
void report_notes(document *d, const report_data *data) {
  for (size_t i = 0; i < data->count; i++) {
    bool seen = false;
    for (size_t k = 0; k < i && !seen; k++)
      seen = same_note(data->items[k], data->items[i]);
    if (seen) continue;
    document_heading(d, 2,
                     has_note(data->items[i]) || !i ? "Note"
                                                    : "Results without a note");
    write_note(d, data, data->items[i]);
    if (i >= LISTED) return;
  }
}

/* Figures. */

typedef struct columns {
  const char *names[COLUMNS + 16];
  int axes, count;
  bool named;    /* the first is the name */
  bool compared; /* some have a ratio and a verdict */
  bool tuned;    /* some have a configuration */
} columns;

static bool has_axis(const columns *c, const char *key) {
  for (int i = 0; i < c->axes; i++)
    if (strcmp(c->names[c->named + i], key) == 0) return true;
  return false;
}

static void choose_columns(columns *c, const report_data *data) {
  static const char *const figures[] = {"throughput", "of speed of light",
                                        "time µs", "99% interval µs",
                                        "samples"};
  char text[16];
  for (size_t i = 1; i < data->count && !c->named; i++)
    c->named =
        strcmp(result_name(data->items[0]), result_name(data->items[i])) != 0;
  if (c->named) c->names[0] = "name";
  for (size_t i = 0; i < data->count; i++) {
    for (uint64_t k = 0; k < kmb_result_axis_count(data->items[i]); k++) {
      kmb_pair axis = {"", ""};
      kmb_result_axis(data->items[i], k, &axis);
      if (c->axes < COLUMNS && !has_axis(c, axis.key))
        c->names[c->named + c->axes++] = axis.key;
    }
  }
  for (size_t i = 0; i < data->count; i++) {
    c->compared = c->compared || data->rows[i];
    c->tuned = c->tuned || config_text(data->items[i], text, sizeof text) ||
               json_object_get(data->rows[i], "tuning");
  }
  c->count = c->named + c->axes;
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
    c->names[c->count++] = figures[i];
  if (c->compared) c->names[c->count++] = "ratio (interval)";
  if (c->compared) c->names[c->count++] = "verdict";
  if (c->tuned) c->names[c->count++] = "configuration";
  c->names[c->count++] = "bound";
  c->names[c->count++] = "findings";
}

static const char *axis_of(const kmb_result *r, const char *key) {
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (strcmp(axis.key, key) == 0) return axis.value;
  }
  return "";
}

/* Codes, the gravest first. */
static void finding_codes(const kmb_result *r, char *text, size_t size) {
  text[0] = '\0';
  for (kmb_severity weight = KMB_DOUBT; weight >= KMB_NOTE; weight--) {
    for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
      kmb_finding f = kmb_finding_init();
      if (kmb_result_finding(r, i, &f) || f.severity != weight) continue;
      add(text, size, *text ? ", " : "", kmb_finding_name(f.code));
    }
  }
}

static const char *member(json_t *row, const char *key) {
  const char *text = json_string_value(json_object_get(row, key));
  return text ? text : "";
}

static double number_in(json_t *row, const char *key) {
  return json_number_value(json_object_get(row, key));
}

/* Of a candidate: how it compares with its baseline. */
static void verdict_cells(document *d, json_t *row) {
  char text[320];
  double ratio = number_in(row, "ratio"), high = number_in(row, "high");
  const char *verdict = member(row, "verdict");
  if (ratio > 0 && high > 0)
    snprintf(text, sizeof text, "%.4f (%.4f to %.4f)", ratio,
             number_in(row, "low"), high);
  else if (ratio > 0)
    snprintf(text, sizeof text, "%.4f (no interval)", ratio);
  else
    snprintf(text, sizeof text, "-");
  document_cell(d, text);
  bool open = strcmp(verdict, "unresolved") == 0;
  snprintf(text, sizeof text, "%.40s%s%.200s", verdict, open ? ": " : "",
           open ? member(row, "reason") : "");
  document_cell(d, text);
}

/* What tuning kept, and whether its budget was enough for all. */
static void config_cell(document *d, const kmb_result *r, json_t *row) {
  char text[512], rest[96];
  json_t *tuning = json_object_get(row, "tuning");
  if (!config_text(r, text, sizeof text - sizeof rest))
    snprintf(text, sizeof text, "%.300s", member(tuning, "text"));
  if (json_is_false(json_object_get(tuning, "complete"))) {
    snprintf(rest, sizeof rest, " (UNTUNED: %.0f of %.0f tried)",
             number_in(tuning, "measured") + number_in(tuning, "failed"),
             number_in(tuning, "configs"));
    add(text, sizeof text, "", rest);
  }
  document_cell(d, text);
}

static void figure_row(document *d, const columns *c, const kmb_result *r,
                       json_t *row) {
  char text[512];
  double low = 0, high = 0, share = 0;
  char from[48], to[48];
  if (c->named) document_cell(d, result_name(r));
  for (int i = 0; i < c->axes; i++)
    document_cell(d, axis_of(r, c->names[c->named + i]));
  rate_text(r, text, sizeof text);
  document_cell(d, text);
  if (!kmb_result_f64(r, KMB_VALUE_SOL_PCT, &share))
    snprintf(text, sizeof text, "%.1f%%", share);
  else
    snprintf(text, sizeof text, "-");
  document_cell(d, text);
  time_text(result_f64(r, KMB_VALUE_TIME), text, sizeof text);
  document_cell(d, text);
  if (!kmb_result_f64(r, KMB_VALUE_INTERVAL_LOW, &low) &&
      !kmb_result_f64(r, KMB_VALUE_INTERVAL_HIGH, &high)) {
    time_text(low, from, sizeof from);
    time_text(high, to, sizeof to);
    snprintf(text, sizeof text, "%s to %s", from, to);
  } else {
    snprintf(text, sizeof text, "-");
  }
  document_cell(d, text);
  uint64_t samples = 0;
  if (!kmb_result_u64(r, KMB_VALUE_SAMPLES, &samples))
    snprintf(text, sizeof text, "%llu", (unsigned long long)samples);
  else
    snprintf(text, sizeof text, "-");
  document_cell(d, text);
  if (c->compared) verdict_cells(d, row);
  if (c->tuned) config_cell(d, r, row);
  const char *bound = result_text(r, KMB_VALUE_OBSERVED_BOUND);
  document_cell(d, *bound ? bound : "unknown");
  finding_codes(r, text, sizeof text);
  document_cell(d, text);
  document_row_end(d);
}

static void write_readings(document *d, const report_data *data) {
  char point[300];
  size_t shown = 0, left = 0;
  for (size_t i = 0; i < data->count; i++) {
    const char *reading = result_text(data->items[i], KMB_VALUE_READING);
    if (!*reading) continue;
    if (shown == LISTED) {
      left++;
      continue;
    }
    if (!shown++) document_heading(d, 2, "Readings");
    point_text(data->items[i], point, sizeof point);
    document_item(d, point, reading);
  }
  if (!left) return;
  snprintf(point, sizeof point, "%zu results have readings as well", left);
  document_item(d, "And more", point);
}

static void write_severity(document *d, const report_data *data,
                           kmb_severity weight, const char *word,
                           bool *headed) {
  char point[300], label[400];
  size_t shown = 0, left = 0;
  for (size_t i = 0; i < data->count; i++) {
    const kmb_result *r = data->items[i];
    for (uint64_t k = 0; k < kmb_result_finding_count(r); k++) {
      kmb_finding f = kmb_finding_init();
      if (kmb_result_finding(r, k, &f) || f.severity != weight) continue;
      if (shown == (size_t)2 * LISTED) {
        left++;
        continue;
      }
      if (!*headed) document_heading(d, 2, "Findings");
      *headed = true;
      shown++;
      point_text(r, point, sizeof point);
      snprintf(label, sizeof label, "%s %s, %s", word, kmb_finding_name(f.code),
               point);
      document_item(d, label, f.message);
    }
  }
  if (!left) return;
  snprintf(point, sizeof point, "%zu more of this weight", left);
  document_item(d, word, point);
}

static void code_row(document *d, const kmb_result *r,
                     const kmb_code_kernel *k) {
  char text[320];
  bool asked = k->flags & KMB_CODE_HAS_ATTRIBUTES;
  point_text(r, text, sizeof text);
  document_cell(d, text);
  document_cell(d, k->demangled ? k->demangled : k->name);
  document_cell(d, *k->arch ? k->arch : "unknown");
  const struct {
    uint64_t count;
    bool known;
  } counts[] = {{k->registers, asked},
                {k->static_shared_bytes, asked},
                {k->dynamic_shared_bytes, true},
                {k->local_bytes, asked},
                {k->blocks_per_unit, k->flags & KMB_CODE_HAS_OCCUPANCY}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    snprintf(text, sizeof text, "%llu", (unsigned long long)counts[i].count);
    document_cell(d, counts[i].known ? text : "unknown");
  }
  snprintf(text, sizeof text, "%.12s%s%s", k->hash ? k->hash : "none",
           k->file ? " in " : "", k->file ? k->file : "");
  document_cell(d, text);
  document_row_end(d);
}

/* Which kernels ran, where it was captured. */
static void write_code(document *d, const report_data *data) {
  static const char *const heads[] = {
      "result",    "kernel",          "for",
      "registers", "static shared B", "dynamic shared B",
      "local B",   "blocks an SM",    "image"};
  enum { HEADS = sizeof heads / sizeof heads[0] };
  size_t shown = 0;
  for (size_t i = 0; i < data->count; i++) {
    const kmb_result *r = data->items[i];
    for (uint64_t k = 0; k < kmb_result_code_count(r); k++) {
      kmb_code_kernel kernel = kmb_code_kernel_init();
      if (kmb_result_code(r, k, &kernel) || shown++ >= (size_t)2 * LISTED)
        continue;
      if (shown == 1) {
        document_heading(d, 2, "Code");
        document_table(d, heads, HEADS, 3, HEADS - 1);
      }
      code_row(d, r, &kernel);
    }
  }
  if (shown) document_table_end(d);
  if (shown <= (size_t)2 * LISTED) return;
  char text[128];
  snprintf(text, sizeof text, "%zu more kernels stand in the files.",
           shown - (size_t)2 * LISTED);
  document_paragraph(d, text);
}

void report_tables(document *d, const report_data *data) {
  columns c = {.count = 0};
  bool headed = false;
  choose_columns(&c, data);
  document_heading(d, 2, "Figures");
  int first = c.named + c.axes;
  document_table(d, c.names, c.count, first, first + 5);
  for (size_t i = 0; i < data->count; i++)
    figure_row(d, &c, data->items[i], data->rows[i]);
  document_table_end(d);
  document_paragraph(
      d, "The time is the median; its interval is the 99% within-run interval, "
         "in which a mode that lasts longer than the run cannot be seen. "
         "Throughput counts the least work and bytes.");
  if (c.compared)
    document_paragraph(d, "A ratio is that of times measured in turns, a "
                          "candidate's over its baseline's.");
  write_readings(d, data);
  write_code(d, data);
  write_severity(d, data, KMB_DOUBT, "doubt", &headed);
  write_severity(d, data, KMB_WARNING, "warning", &headed);
  write_severity(d, data, KMB_NOTE, "note", &headed);
  if (headed) return;
  document_heading(d, 2, "Findings");
  document_paragraph(d, "None was raised, which is no proof that there is "
                        "nothing to find.");
}

/* Metadata. */

/* The value that all results have, or NULL. */
static const char *shared(const report_data *data, const char *key) {
  const char *value = result_meta(data->items[0], key);
  for (size_t i = 1; i < data->count; i++)
    if (strcmp(result_meta(data->items[i], key), value) != 0) return NULL;
  return *value ? value : NULL;
}

static void write_facts(document *d, const report_data *data) {
  static const char *const heads[] = {"taken with", ""};
  fact facts[FACTS];
  collect_facts(data->items, data->count, facts);
  document_table(d, heads, 2, 2, 2);
  for (int i = 0; i < FACTS; i++) {
    document_cell(d, facts[i].label);
    document_cell(d, facts[i].value);
    document_row_end(d);
  }
  document_table_end(d);
}

void report_metadata(document *d, const report_data *data) {
  static const char *const heads[] = {"key", "value"};
  char text[600];
  size_t varying = 0;
  document_heading(d, 2, "Metadata");
  write_facts(d, data);
  const kmb_result *first = data->items[0];
  document_table(d, heads, 2, 2, 2);
  for (uint64_t i = 0; i < kmb_result_metadata_count(first); i++) {
    kmb_metadata_entry e = kmb_metadata_entry_init();
    if (kmb_result_metadata(first, i, &e) || strncmp(e.key, "note.", 5) == 0)
      continue;
    const char *value = e.value ? shared(data, e.key) : NULL;
    if (e.value && !value) varying++;
    if (!value && e.value) continue;
    snprintf(text, sizeof text, "unknown: %.500s", e.reason ? e.reason : "");
    document_cell(d, e.key);
    document_cell(d, value ? value : text);
    document_row_end(d);
  }
  document_table_end(d);
  if (varying) {
    snprintf(text, sizeof text,
             "%zu keys differ between the results; the files hold them.",
             varying);
    document_paragraph(d, text);
  }
  snprintf(text, sizeof text, "Written by kmb %s.", kmb_version());
  document_paragraph(d, text);
}
