/* The words below a table: readings, findings, reasons, and what was measured
 * on. What holds for several rows is said once. */
#include "table.h"

#include "redact.h"

const char *kmbi_table_keep(kmbi_table *table, kmbi_text *text) {
  const char *copy = NULL;
  if (text->failed)
    table->arena.failed = true;
  else
    copy = kmbi_arena_copy(&table->arena, kmbi_text_get(text));
  kmbi_text_release(text);
  return copy ? copy : "";
}

void kmbi_table_note(kmbi_table *table, kmbi_note_kind kind, const char *topic,
                     const char *text, size_t row) {
  kmbi_note *note = kmbi_arena_alloc(&table->arena, 1, sizeof *note);
  if (!note) return;
  *note = (kmbi_note){.topic = topic, .text = text, .row = row, .kind = kind};
  if (table->last_note)
    table->last_note->next = note;
  else
    table->notes = note;
  table->last_note = note;
}

static kmbi_note_kind kind_of(kmb_severity severity) {
  return severity == KMB_NOTE      ? KMBI_NOTE_NOTE
         : severity == KMB_WARNING ? KMBI_NOTE_WARNING
                                   : KMBI_NOTE_DOUBT;
}

void kmbi_table_collect(kmbi_table *table) {
  for (size_t row = 0; row < table->rows; row++) {
    const kmb_result *result = table->results[row];
    const char *reading = kmbi_result_get_text(result, KMB_VALUE_READING);
    if (reading && *reading)
      kmbi_table_note(table, KMBI_NOTE_READING, "", reading, row);
    for (const kmbi_finding *at = result->findings; at; at = at->next)
      kmbi_table_note(table, kind_of(at->severity),
                      at->name ? at->name : kmb_finding_name(at->code),
                      at->message, row);
  }
}

/* Whether two texts say the same of different figures. */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Past a number and the unit behind it, if there is one. */
static const char *skip_figure(const char *at) {
  static const char *const units[] = {
      "ns",      "µs",      "ms",      "s",    "%",      "KiB",
      "MiB",     "GiB",     "TiB",     "B",    "kB",     "MB",
      "GB",      "GB/s",    "MB/s",    "TB/s", "FLOP/s", "kFLOP/s",
      "MFLOP/s", "GFLOP/s", "TFLOP/s", "MHz",  "GHz"};
  while (is_digit(*at) || (*at == '.' && is_digit(at[1])))
    at++;
  const char *after = *at == ' ' ? at + 1 : at;
  size_t length = strcspn(after, " ,;:()[]");
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strlen(units[i]) == length && strncmp(after, units[i], length) == 0)
      return after + length;
  }
  return at;
}

static bool same_kind(const char *a, const char *b) {
  for (;;) {
    bool figure = is_digit(*a);
    if (figure != is_digit(*b)) return false;
    if (figure) {
      a = skip_figure(a);
      b = skip_figure(b);
    } else if (*a != *b) {
      return false;
    } else if (!*a) {
      return true;
    } else {
      a++;
      b++;
    }
  }
}

/* The notes that `first` speaks for, itself among them, told or not. */
static bool speaks_for(const kmbi_note *first, const kmbi_note *other) {
  return other->kind == first->kind &&
         strcmp(other->topic, first->topic) == 0 &&
         same_kind(other->text, first->text);
}

/* The next of the group that is of another row: notes go by rows. */
static const kmbi_note *next_row(const kmbi_note *first, const kmbi_note *at) {
  size_t row = at->row;
  while (at && (at->row == row || !speaks_for(first, at)))
    at = at->next;
  return at;
}

static bool same_words(const kmbi_note *first) {
  for (const kmbi_note *at = first->next; at; at = at->next) {
    if (speaks_for(first, at) && strcmp(at->text, first->text) != 0)
      return false;
  }
  return true;
}

/* Whether the group's rows are those that have this axis, and no others. */
static bool is_axis(const kmbi_table *table, const kmbi_note *first,
                    const kmb_pair *axis, size_t group) {
  size_t have = 0, both = 0;
  for (size_t row = 0; row < table->rows; row++) {
    const char *value = kmbi_table_axis(table->results[row], axis->key);
    have += value && strcmp(value, axis->value) == 0;
  }
  for (const kmbi_note *at = first; at; at = next_row(first, at)) {
    const char *value = kmbi_table_axis(table->results[at->row], axis->key);
    both += value && strcmp(value, axis->value) == 0;
  }
  return have == group && both == group;
}

/* "all rows", "all rows with tokens=1", or their labels. */
static void put_rows(const kmbi_table *table, kmbi_text *line,
                     const kmbi_note *first) {
  const kmb_result *result = table->results[first->row];
  size_t count = 0;
  for (const kmbi_note *at = first; at; at = next_row(first, at))
    count++;
  if (count > 1 && count == table->rows) {
    kmbi_text_put(line, "all rows");
    return;
  }
  for (uint64_t i = 0; count > 2 && i < result->axis_count; i++) {
    const kmb_pair *axis = &result->axes[i];
    if (!is_axis(table, first, axis, count)) continue;
    kmbi_text_format(line, "all rows with %s=%s", axis->key, axis->value);
    return;
  }
  for (const kmbi_note *at = first; at; at = next_row(first, at))
    kmbi_text_format(line, "%s%s", at == first ? "" : ", ",
                     table->labels[at->row]);
}

static void put_paragraph(const kmbi_table *table, kmbi_text *line) {
  kmbi_text_put(table->to, "  ");
  kmbi_put_wrapped(table->to, kmbi_text_get(line), 2, 4);
  kmbi_text_put(table->to, "\n");
  table->to->failed = table->to->failed || line->failed;
  kmbi_text_release(line);
}

static void put_note(const kmbi_table *table, kmbi_note *first) {
  static const char *const words[KMBI_NOTE_KINDS] = {
      [KMBI_NOTE_DOUBT] = "doubt ",
      [KMBI_NOTE_WARNING] = "warning ",
      [KMBI_NOTE_NOTE] = "note "};
  kmbi_text line;
  kmbi_text_init(&line, table->to->memory);
  if (words[first->kind]) kmbi_text_put(&line, words[first->kind]);
  kmbi_text_format(&line, "%s%s", first->topic, *first->topic ? " (" : "");
  put_rows(table, &line, first);
  kmbi_text_format(&line, "%s: %s", *first->topic ? ")" : "", first->text);
  if (!same_words(first))
    kmbi_text_format(&line,
                     " (figures of %s; the others differ only in "
                     "theirs)",
                     table->labels[first->row]);
  for (kmbi_note *at = first; at; at = at->next)
    at->told = at->told || speaks_for(first, at);
  put_paragraph(table, &line);
}

static void put_kind(const kmbi_table *table, kmbi_note_kind kind) {
  for (kmbi_note *at = table->notes; at; at = at->next) {
    if (at->kind == kind && !at->told) put_note(table, at);
  }
}

static bool has_kind(const kmbi_table *table, kmbi_note_kind from,
                     kmbi_note_kind to) {
  for (const kmbi_note *at = table->notes; at; at = at->next) {
    if (at->kind >= from && at->kind <= to) return true;
  }
  return false;
}

static void put_section(const kmbi_table *table, const char *title,
                        kmbi_note_kind from, kmbi_note_kind to) {
  if (!has_kind(table, from, to)) return;
  kmbi_text_format(table->to, "\n%s\n", title);
  for (int kind = (int)from; kind <= (int)to; kind++)
    put_kind(table, (kmbi_note_kind)kind);
}

/* Ceilings: each that occurs, once. */

typedef struct ceiling_kind {
  const char *word, *unit;
  kmb_value value, name;
} ceiling_kind;

static bool same_ceiling(const kmb_result *a, const kmb_result *b,
                         const ceiling_kind *kind) {
  double x = 0, y = 0;
  const char *p = kmbi_result_get_text(a, kind->name);
  const char *q = kmbi_result_get_text(b, kind->name);
  return kmbi_result_get_f64(a, kind->value, &x) &&
         kmbi_result_get_f64(b, kind->value, &y) && x == y &&
         strcmp(p ? p : "", q ? q : "") == 0;
}

static bool seen_ceiling(const kmbi_table *table, size_t row,
                         const ceiling_kind *kind) {
  for (size_t i = 0; i < row; i++) {
    if (same_ceiling(table->results[i], table->results[row], kind)) return true;
  }
  return false;
}

static void put_ceilings(const kmbi_table *table) {
  static const ceiling_kind kinds[] = {
      {"memory", "B/s", KMB_VALUE_MEMORY_CEILING,
       KMB_VALUE_MEMORY_CEILING_NAME},
      {"compute", "FLOP/s", KMB_VALUE_COMPUTE_CEILING,
       KMB_VALUE_COMPUTE_CEILING_NAME}};
  kmbi_text line;
  bool some = false;
  kmbi_text_init(&line, table->to->memory);
  kmbi_text_put(&line, "%ceil is the share of the ceiling that binds:");
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    for (size_t row = 0; row < table->rows; row++) {
      const kmb_result *result = table->results[row];
      double value = 0;
      if (!kmbi_result_get_f64(result, kinds[i].value, &value) ||
          seen_ceiling(table, row, &kinds[i]))
        continue;
      kmbi_text_format(&line, "%s %s ", some ? ";" : "", kinds[i].word);
      kmbi_put_si(&line, value, kinds[i].unit);
      const char *name = kmbi_result_get_text(result, kinds[i].name);
      if (name) kmbi_text_format(&line, " (%s)", name);
      some = true;
    }
  }
  if (some || line.failed)
    put_paragraph(table, &line);
  else
    kmbi_text_release(&line);
}

static void put_legend(const kmbi_table *table) {
  double value = 0;
  bool interval = false, bytes = false;
  for (size_t row = 0; row < table->rows; row++) {
    const kmb_result *result = table->results[row];
    interval =
        interval || kmbi_result_get_f64(result, KMB_VALUE_INTERVAL_PCT, &value);
    bytes =
        bytes || kmbi_result_get_f64(result, KMB_VALUE_ACHIEVED_BYTES, &value);
  }
  kmbi_text_put(table->to, "\n");
  if (interval)
    kmbi_text_put(table->to, "  ±99% is the half-width of the 99% within-run "
                             "interval of the median\n");
  if (bytes)
    kmbi_text_put(table->to,
                  "  GB/s counts the least bytes that the work must move\n");
  put_ceilings(table);
}

/* What was measured on. */

static const char *value_of(const kmb_result *result, const char *key) {
  for (const kmbi_entry *at = result->metadata; at; at = at->next) {
    if (strcmp(at->key, key) == 0) return at->value;
  }
  return NULL;
}

static bool all_say(const kmbi_table *table, const char *key,
                    const char *value) {
  for (size_t row = 1; row < table->rows; row++) {
    const char *other = value_of(table->results[row], key);
    if (!other || strcmp(other, value) != 0) return false;
  }
  return true;
}

/* Part of the line, if the first row has it; marked where rows differ. */
static void put_entry(const kmbi_table *table, kmbi_text *line,
                      const char *before, const char *key, const char *after) {
  const char *value = value_of(table->results[0], key);
  if (!value || !*value) return;
  kmbi_text_format(line, "%s%s%s%s%s", line->size ? ", " : "", before, value,
                   after, all_say(table, key, value) ? "" : " (rows differ)");
}

static const char *if_counts_differ(const kmbi_table *table, kmb_value value,
                                    uint64_t count) {
  for (size_t row = 1; row < table->rows; row++) {
    uint64_t other = 0;
    if (!kmbi_result_get_u64(table->results[row], value, &other) ||
        other != count)
      return " (rows differ)";
  }
  return "";
}

static void put_machine(const kmbi_table *table, kmbi_text *line) {
  const kmb_result *first = table->results[0];
  uint64_t count = 0, llc = 0;
  put_entry(table, line, "", "device.name", "");
  if (kmbi_result_get_u64(first, KMB_VALUE_THREADS, &count))
    kmbi_text_format(line, "%s%llu thread%s%s", line->size ? ", " : "",
                     (unsigned long long)count, count == 1 ? "" : "s",
                     if_counts_differ(table, KMB_VALUE_THREADS, count));
  if (kmbi_result_get_u64(first, KMB_VALUE_LLC_BYTES, &llc)) {
    kmbi_text_format(line, "%slast-level cache ", line->size ? ", " : "");
    kmbi_put_bytes(line, llc);
    kmbi_text_put(line, if_counts_differ(table, KMB_VALUE_LLC_BYTES, llc));
  }
}

static void put_callers(const kmbi_table *table, kmbi_text *line) {
  static const char prefix[] = "caller.";
  enum { PREFIX = sizeof prefix - 1 };
  for (const kmbi_entry *at = table->results[0]->metadata; at; at = at->next) {
    if (strncmp(at->key, prefix, PREFIX) != 0 || !at->value) continue;
    if (strcmp(at->value, KMBI_REDACTED) == 0) continue;
    kmbi_text_format(
        line, "%s%s %s%s", line->size ? ", " : "", at->key + PREFIX, at->value,
        all_say(table, at->key, at->value) ? "" : " (rows differ)");
  }
}

static void put_context(const kmbi_table *table, kmbi_text *line) {
  put_entry(table, line, "libkmb ", "kmb.version", "");
  put_entry(table, line, "", "host.os", "");
  put_entry(table, line, "", "host.kernel", "");
  put_entry(table, line, "revision ", "revision.commit", "");
  put_entry(table, line, "tree ", "revision.tree", "");
}

static void put_footer(const kmbi_table *table) {
  static void (*const parts[])(const kmbi_table *, kmbi_text *) = {
      put_machine, put_callers, put_context};
  bool started = false;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    kmbi_text line;
    kmbi_text_init(&line, table->to->memory);
    parts[i](table, &line);
    if (!line.size && !line.failed) continue;
    if (!started) kmbi_text_put(table->to, "\nMeasured on\n");
    started = true;
    put_paragraph(table, &line);
  }
}

void kmbi_table_put_notes(kmbi_table *table) {
  put_legend(table);
  put_section(table, "Readings", KMBI_NOTE_READING, KMBI_NOTE_READING);
  put_section(table, "Findings", KMBI_NOTE_DOUBT, KMBI_NOTE_NOTE);
  put_section(table, "Not known", KMBI_NOTE_UNKNOWN, KMBI_NOTE_UNKNOWN);
  put_footer(table);
}
