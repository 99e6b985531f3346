/* A list of results as a table for a terminal: what all rows share stands above
 * the grid, findings below a row where they do not fit beside it. */
#include "table.h"

#include "error.h"
#include "utf8.h"

typedef enum cell_style {
  TEXT,
  TIME,
  COUNT,
  GIGA,
  PERCENT_1,
  PERCENT_2
} cell_style;

/* Columns besides the axes, which follow the first. */
static const struct {
  const char *head;
  kmb_value value;
  cell_style style;
} specs[] = {
    {"name", KMB_VALUE_NAME, TEXT},
    {"time", KMB_VALUE_TIME, TIME},
    {"±99%", KMB_VALUE_INTERVAL_PCT, PERCENT_2},
    {"samples", KMB_VALUE_SAMPLES, COUNT},
    {"GFLOP/s", KMB_VALUE_ACHIEVED_FLOPS, GIGA},
    {"GB/s", KMB_VALUE_ACHIEVED_BYTES, GIGA},
    {"%ceil", KMB_VALUE_SOL_PCT, PERCENT_1},
    {"predict", KMB_VALUE_PREDICTED_BOUND, TEXT},
    {"observed", KMB_VALUE_OBSERVED_BOUND, TEXT},
    {"occ.", KMB_VALUE_THEORETICAL, PERCENT_1},
    {"cache", KMB_VALUE_CACHE_STATE, TEXT},
    {"timer", KMB_VALUE_TIMER, TEXT},
};
enum { SPECS = sizeof specs / sizeof specs[0], WIDEST = 64 };

typedef struct column {
  const char *head;
  const char *const *cells; /* one a row; "" is empty */
  size_t width;
  bool right;
  bool used;
  bool words; /* not a figure: said once if all rows agree */
} column;

typedef struct grid {
  kmbi_table *t;
  column *columns;
  size_t count;
} grid;

/* Cells. */

static void put_f64(kmbi_text *to, double value, cell_style style) {
  if (style == TIME)
    kmbi_put_time(to, value);
  else if (style == GIGA)
    kmbi_put_sig(to, value / 1e9);
  else
    kmbi_put_percent(to, value, style == PERCENT_1 ? 1 : 2);
}

/* "?" where a reason says why there is no value; the reason stands below. */
static void put_cell(kmbi_text *to, const kmb_result *result, size_t spec) {
  const kmbi_value_info *info = kmbi_value_find(specs[spec].value);
  const kmbi_value *value = &result->values[info - kmbi_value_table];
  if (!value->known)
    kmbi_text_put(to, value->reason ? "?" : "");
  else if (info->kind == KMBI_F64)
    put_f64(to, value->f64, specs[spec].style);
  else if (info->kind == KMBI_U64)
    kmbi_text_format(to, "%llu", (unsigned long long)value->u64);
  else
    kmbi_put_clean(to, value->text);
}

static const char *code_name(const kmbi_finding *finding) {
  return finding->name ? finding->name : kmb_finding_name(finding->code);
}

/* Whether a graver finding, or an earlier one as grave, has the same code. */
static bool said_before(const kmb_result *result, const kmbi_finding *finding) {
  bool earlier = true;
  for (const kmbi_finding *at = result->findings; at; at = at->next) {
    earlier = earlier && at != finding;
    if (strcmp(code_name(at), code_name(finding)) != 0) continue;
    if (at->severity > finding->severity) return true;
    if (at->severity == finding->severity && earlier) return true;
  }
  return false;
}

/* The gravest first, each code once; of the same severity in the order in
 * which they were raised. */
static void put_codes(kmbi_text *to, const kmb_result *result) {
  for (kmb_severity severity = KMB_DOUBT; severity >= KMB_NOTE; severity--) {
    for (const kmbi_finding *at = result->findings; at; at = at->next) {
      if (at->severity != severity || said_before(result, at)) continue;
      if (to->size) kmbi_text_put(to, " ");
      kmbi_put_clean(to, code_name(at));
    }
  }
}

const char *kmbi_table_axis(const kmb_result *result, const char *key) {
  for (uint64_t i = 0; i < result->axis_count; i++) {
    if (strcmp(result->axes[i].key, key) == 0) return result->axes[i].value;
  }
  return NULL;
}

static void put_axis(kmbi_text *to, const kmb_result *result, const char *key) {
  const char *value = kmbi_table_axis(result, key);
  if (value) kmbi_put_clean(to, value);
}

/* Columns. */

typedef void (*cell_fn)(kmbi_text *to, const kmb_result *result,
                        const void *what);

static void spec_cell(kmbi_text *to, const kmb_result *result,
                      const void *what) {
  put_cell(to, result, *(const size_t *)what);
}

static void axis_cell(kmbi_text *to, const kmb_result *result,
                      const void *what) {
  put_axis(to, result, what);
}

static void code_cell(kmbi_text *to, const kmb_result *result,
                      const void *what) {
  (void)what;
  put_codes(to, result);
}

/* A name in full would push the figures off the screen; below the table and in
 * JSON it is whole. */
static const char *keep_short(kmbi_table *t, kmbi_text *text) {
  const char *whole = kmbi_table_keep(t, text);
  if (kmbi_utf8_width(whole) <= WIDEST) return whole;
  kmbi_text cut;
  kmbi_text_init(&cut, t->to->memory);
  kmbi_text_put_n(&cut, whole, kmbi_utf8_fit(whole, WIDEST - 1));
  kmbi_text_put(&cut, "…");
  return kmbi_table_keep(t, &cut);
}

static column *add_column(grid *g, const char *head, bool right, cell_fn cell,
                          const void *what) {
  kmbi_arena *arena = &g->t->arena;
  const char **cells = kmbi_arena_alloc(arena, g->t->rows, sizeof(char *));
  if (!cells) return NULL;
  column *c = &g->columns[g->count++];
  *c = (column){.cells = cells, .right = right};
  kmbi_text text;
  kmbi_text_init(&text, g->t->to->memory);
  kmbi_put_clean(&text, head);
  c->head = keep_short(g->t, &text);
  c->width = kmbi_utf8_width(c->head);
  for (size_t row = 0; row < g->t->rows; row++) {
    kmbi_text_init(&text, g->t->to->memory);
    cell(&text, g->t->results[row], what);
    cells[row] = cell == code_cell ? kmbi_table_keep(g->t, &text)
                                   : keep_short(g->t, &text);
    size_t width = kmbi_utf8_width(cells[row]);
    if (width > c->width) c->width = width;
    c->used = c->used || width > 0;
  }
  return c;
}

static bool is_number(const char *text) {
  size_t digits = strspn(text, "0123456789.");
  return digits > 0 && text[digits] == '\0';
}

/* Axes line up right if all their values are plain numbers. */
static void add_axis(grid *g, const char *key) {
  bool right = true;
  for (size_t row = 0; row < g->t->rows; row++) {
    const char *value = kmbi_table_axis(g->t->results[row], key);
    if (value && !is_number(value)) right = false;
  }
  column *c = add_column(g, key, right, axis_cell, key);
  if (c) c->words = g->t->rows > 1;
}

static void add_spec(grid *g, size_t spec) {
  bool text = specs[spec].style == TEXT;
  column *c = add_column(g, specs[spec].head, !text, spec_cell, &spec);
  if (c) c->words = text && spec > 0;
}

/* Distinct axis keys, in the order in which they occur. */
static const char **axis_keys(kmbi_table *t, size_t *count) {
  uint64_t total = 0;
  *count = 0;
  for (size_t row = 0; row < t->rows; row++)
    total += t->results[row]->axis_count;
  const char **keys =
      kmbi_arena_alloc(&t->arena, (size_t)total, sizeof(char *));
  for (size_t row = 0; keys && row < t->rows; row++) {
    const kmb_result *result = t->results[row];
    for (uint64_t i = 0; i < result->axis_count; i++) {
      size_t k = 0;
      while (k < *count && strcmp(keys[k], result->axes[i].key) != 0)
        k++;
      if (k == *count) keys[(*count)++] = result->axes[i].key;
    }
  }
  return keys;
}

/* What is the same in all rows, in a line above them. */
static void put_shared(grid *g) {
  kmbi_text line;
  kmbi_text_init(&line, g->t->to->memory);
  for (size_t i = 0; i < g->count; i++) {
    column *c = &g->columns[i];
    bool same = c->words && c->used;
    for (size_t row = 1; same && row < g->t->rows; row++)
      same = strcmp(c->cells[row], c->cells[0]) == 0;
    if (!same) continue;
    kmbi_text_format(&line, "%s%s %s",
                     line.size ? ", " : "In every row: ", c->head, c->cells[0]);
    c->used = false;
  }
  kmbi_put_wrapped(g->t->to, kmbi_text_get(&line), 0, 2);
  if (line.size) kmbi_text_put(g->t->to, "\n\n");
  g->t->to->failed = g->t->to->failed || line.failed;
  kmbi_text_release(&line);
}

static void put_line(const grid *g, size_t row, bool head) {
  kmbi_text *to = g->t->to;
  size_t owed = 0; /* spaces that nothing may follow */
  bool first = true;
  for (size_t i = 0; i < g->count; i++) {
    const column *c = &g->columns[i];
    if (!c->used) continue;
    const char *cell = head ? c->head : c->cells[row];
    size_t width = kmbi_utf8_width(cell);
    owed += first ? 0 : 2;
    if (c->right) owed += c->width - width;
    if (width) {
      kmbi_text_repeat(to, ' ', owed);
      kmbi_text_put(to, cell);
      owed = 0;
    }
    if (!c->right) owed += c->width - width;
    first = false;
  }
  kmbi_text_put(to, "\n");
}

static size_t width_of(const grid *g) {
  size_t width = 0;
  for (size_t i = 0; i < g->count; i++) {
    if (g->columns[i].used) width += g->columns[i].width + (width ? 2 : 0);
  }
  return width;
}

/* Findings that did not fit beside their row. */
static void put_below(const grid *g, const char *codes) {
  enum { INDENT = 4 };
  if (!*codes) return;
  kmbi_text_repeat(g->t->to, ' ', INDENT);
  kmbi_put_wrapped(g->t->to, codes, INDENT, INDENT);
  kmbi_text_put(g->t->to, "\n");
}

static void put_grid(kmbi_table *t) {
  size_t axes = 0;
  const char **keys = axis_keys(t, &axes);
  grid g = {.t = t};
  g.columns = kmbi_arena_alloc(&t->arena, axes + SPECS + 1, sizeof *g.columns);
  if (!keys || !g.columns) return;
  add_spec(&g, 0);
  for (size_t i = 0; i < axes; i++)
    add_axis(&g, keys[i]);
  for (size_t i = 1; i < SPECS; i++)
    add_spec(&g, i);
  column *codes = add_column(&g, "findings", false, code_cell, NULL);
  if (kmbi_arena_failed(&t->arena)) return;
  put_shared(&g);
  bool beside = width_of(&g) <= KMBI_LINE_WIDTH;
  codes->used = codes->used && beside;
  put_line(&g, 0, true);
  kmbi_text_repeat(t->to, '-', width_of(&g));
  kmbi_text_put(t->to, "\n");
  for (size_t row = 0; row < t->rows; row++) {
    put_line(&g, row, false);
    if (!beside) put_below(&g, codes->cells[row]);
  }
}

/* What rows are called below the table: the name, and the axes that tell a row
 * from others of the same name. */

static const char *name_of(const kmb_result *result) {
  const char *name = kmbi_result_get_text(result, KMB_VALUE_NAME);
  return name && *name ? name : "(no name)";
}

static bool has_axis(const kmb_result *result, const kmb_pair *axis) {
  const char *value = kmbi_table_axis(result, axis->key);
  return value && strcmp(value, axis->value) == 0;
}

/* Leaves those that share the axis, and says whether any did not. */
static bool narrow(const kmbi_table *t, bool *same, const kmb_pair *axis) {
  bool some = false;
  for (size_t row = 0; row < t->rows; row++) {
    if (!same[row] || has_axis(t->results[row], axis)) continue;
    same[row] = false;
    some = true;
  }
  return some;
}

static void put_label(const kmbi_table *t, kmbi_text *to, size_t row,
                      bool *same) {
  const kmb_result *result = t->results[row];
  const char *name = name_of(result);
  for (size_t i = 0; i < t->rows; i++)
    same[i] = strcmp(name_of(t->results[i]), name) == 0;
  kmbi_put_clean(to, name);
  for (uint64_t i = 0; i < result->axis_count; i++) {
    if (!narrow(t, same, &result->axes[i])) continue;
    kmbi_text_put(to, " ");
    kmbi_put_clean(to, result->axes[i].key);
    kmbi_text_put(to, "=");
    kmbi_put_clean(to, result->axes[i].value);
  }
}

static void make_labels(kmbi_table *t) {
  const char **labels = kmbi_arena_alloc(&t->arena, t->rows, sizeof(char *));
  bool *same = kmbi_arena_alloc(&t->arena, t->rows, sizeof *same);
  for (size_t row = 0; labels && same && row < t->rows; row++) {
    kmbi_text text;
    kmbi_text_init(&text, t->to->memory);
    put_label(t, &text, row, same);
    labels[row] = kmbi_table_keep(t, &text);
  }
  t->labels = labels;
}

/* The reasons behind each "?". */
static void collect_unknown(kmbi_table *t) {
  for (size_t spec = 0; spec < SPECS; spec++) {
    const kmbi_value_info *info = kmbi_value_find(specs[spec].value);
    size_t position = (size_t)(info - kmbi_value_table);
    for (size_t row = 0; row < t->rows; row++) {
      const kmbi_value *value = &t->results[row]->values[position];
      if (!value->known && value->reason)
        kmbi_table_note(t, KMBI_NOTE_UNKNOWN, specs[spec].head, value->reason,
                        row);
    }
  }
}

static void build(kmbi_text *to, const void *subject) {
  const kmb_results *results = subject;
  if (!results->count) {
    kmbi_text_put(to, "no results\n");
    return;
  }
  kmbi_table t = {.to = to,
                  .results = (const kmb_result *const *)results->items,
                  .rows = (size_t)results->count};
  kmbi_arena_init(&t.arena, to->memory);
  put_grid(&t);
  make_labels(&t);
  kmbi_table_collect(&t);
  collect_unknown(&t);
  if (!kmbi_arena_failed(&t.arena)) kmbi_table_put_notes(&t);
  to->failed = to->failed || kmbi_arena_failed(&t.arena);
  kmbi_arena_release(&t.arena);
}

kmb_status kmb_results_write_table(const kmb_results *results,
                                   kmb_write_fn write, void *user) {
  if (!results || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_write_table: %s is NULL",
                     !results ? "results" : "write");
  return kmbi_write_plain(&results->memory, build, results, write, user);
}
