/* A comparison as text, as a table for a pull request, and as JSON. */
#include "compare.h"
#include "markup.h"

#include <stdlib.h>

enum { COLUMNS = 64, LISTED = 10 };

/* Axes of any row, each a column. */
typedef struct layout {
  const char *axes[COLUMNS];
  int axis_count;
  bool names;   /* there are several */
  bool configs; /* some were tuned */
  bool left;    /* axes that have no column */
} layout;

static bool has_column(const layout *l, const char *key) {
  for (int i = 0; i < l->axis_count; i++)
    if (strcmp(l->axes[i], key) == 0) return true;
  return false;
}

static void add_axes(layout *l, const kmb_result *r) {
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (has_column(l, axis.key)) continue;
    l->left = l->left || l->axis_count == COLUMNS;
    if (l->axis_count < COLUMNS) l->axes[l->axis_count++] = axis.key;
  }
}

static void lay_out(layout *l, const comparison_table *t) {
  char text[128];
  for (size_t i = 0; i < t->count; i++) {
    const comparison *c = &t->rows[i];
    add_axes(l, c->old);
    l->names = l->names ||
               strcmp(result_name(c->old), result_name(t->rows[0].old)) != 0;
    l->configs = l->configs || config_text(c->fresh, text, sizeof text) ||
                 config_text(c->old, text, sizeof text);
  }
}

static const char *axis_of(const kmb_result *r, const char *key) {
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (strcmp(axis.key, key) == 0) return axis.value;
  }
  return "";
}

static void put_point(FILE *to, const kmb_result *r, markup how) {
  put_marked(to, how, result_name(r));
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    fputc(' ', to);
    put_marked(to, how, axis.key);
    fputc('=', to);
    put_marked(to, how, axis.value);
  }
}

static void ratio_text(const comparison *c, char *text, size_t size) {
  if (c->ratio <= 0)
    snprintf(text, size, "-");
  else if (c->has_interval)
    snprintf(text, size, "%.4f (%.4f to %.4f)", c->ratio, c->low, c->high);
  else
    snprintf(text, size, "%.4f (no interval)", c->ratio);
}

/* What differs, before any number. */
static void print_differences(const comparison_table *t, markup how) {
  if (!t->difference_count) return;
  puts(how == MARKUP_MD ? "Metadata that differ:\n" : "Metadata that differ:");
  for (int i = 0; i < t->difference_count; i++) {
    const difference *d = &t->differences[i];
    fputs(how == MARKUP_MD ? "- " : "  ", stdout);
    put_marked(stdout, how, d->key);
    fputs(": ", stdout);
    put_marked(stdout, how, d->old ? d->old : "unknown");
    fputs(" -> ", stdout);
    put_marked(stdout, how, d->fresh ? d->fresh : "unknown");
    if (d->pairs < t->count) printf(" (%zu of %zu pairs)", d->pairs, t->count);
    putchar('\n');
  }
  if (t->differences_left)
    printf("%sand %zu more values of such keys\n",
           how == MARKUP_MD ? "- " : "  ", t->differences_left);
  putchar('\n');
}

static void print_counts(const comparison_table *t) {
  for (int v = 0; v < VERDICTS; v++)
    printf("%s%zu %s", v ? ", " : "", t->of[v], verdict_names[v]);
  printf("; only in the old file: %zu, only in the new: %zu\n",
         t->only_old_count, t->only_fresh_count);
}

static void print_only(const char *which, const kmb_result *const *items,
                       size_t count, markup how) {
  for (size_t i = 0; i < count && i < LISTED; i++) {
    printf("%sonly in the %s file: ", how == MARKUP_MD ? "- " : "", which);
    put_point(stdout, items[i], how);
    putchar('\n');
  }
  if (count > LISTED)
    printf("%sand %zu more\n", how == MARKUP_MD ? "- " : "", count - LISTED);
}

static void print_partnerless(const comparison_table *t, markup how) {
  print_only("old", t->only_old, t->only_old_count, how);
  print_only("new", t->only_fresh, t->only_fresh_count, how);
}

/* What the rows were taken with, the old and the new. */
static void print_footer(const comparison_table *t) {
  fact old[FACTS], fresh[FACTS];
  const kmb_result **items = calloc(t->count, sizeof(const kmb_result *));
  if (!items) return;
  for (size_t i = 0; i < t->count; i++)
    items[i] = t->rows[i].old;
  collect_facts(items, t->count, old);
  for (size_t i = 0; i < t->count; i++)
    items[i] = t->rows[i].fresh;
  collect_facts(items, t->count, fresh);
  free(items);
  for (int i = 0; i < FACTS; i++) {
    printf("%s%s ", i ? "; " : "\n", old[i].label);
    put_marked(stdout, MARKUP_MD, old[i].value);
    if (strcmp(old[i].value, fresh[i].value) == 0) continue;
    fputs(" -> ", stdout);
    put_marked(stdout, MARKUP_MD, fresh[i].value);
  }
  putchar('\n');
}

/* What both launched, and whether it is the same code; nothing is said of
 * results whose code was not captured. */
static bool has_code(const comparison *c) {
  return kmb_result_code_count(c->old) || kmb_result_code_count(c->fresh);
}

static bool any_code(const comparison_table *t) {
  for (size_t i = 0; i < t->count; i++)
    if (has_code(&t->rows[i])) return true;
  return false;
}

static void print_codes(const comparison_table *t, markup how) {
  for (size_t i = 0; i < t->count; i++) {
    const comparison *c = &t->rows[i];
    if (!has_code(c)) continue;
    uint64_t pairs = kmb_result_code_pair_count(c->old, c->fresh);
    fputs(how == MARKUP_MD ? "- " : "", stdout);
    put_point(stdout, c->old, how);
    printf("  %s\n",
           kmb_code_match_name(kmb_result_code_match(c->old, c->fresh)));
    for (uint64_t k = 0; k < pairs && k < LISTED; k++) {
      kmb_code_pair pair = kmb_code_pair_init();
      if (kmb_result_code_pair(c->old, c->fresh, k, &pair)) continue;
      fputs(how == MARKUP_MD ? "  - " : "  ", stdout);
      put_marked(stdout, how, pair.a ? pair.a : pair.b);
      if (pair.a && pair.b && strcmp(pair.a, pair.b) != 0) {
        fputs(" -> ", stdout);
        put_marked(stdout, how, pair.b);
      }
      printf("  %s", !pair.b   ? "only in the old result"
                     : !pair.a ? "only in the new result"
                               : kmb_code_match_name(pair.match));
      if (pair.reason) printf(": %s", pair.reason);
      putchar('\n');
    }
    if (pairs > LISTED)
      printf("%sand %llu more kernels\n", how == MARKUP_MD ? "  - " : "  ",
             (unsigned long long)(pairs - LISTED));
  }
}

/* Markdown. */

static void cell(const char *text) {
  putchar(' ');
  put_marked(stdout, MARKUP_MD, text);
  fputs(" |", stdout);
}

static void md_head(const layout *l) {
  putchar('|');
  if (l->names) cell("name");
  for (int i = 0; i < l->axis_count; i++)
    cell(l->axes[i]);
  fputs(" old | new | old µs | new µs | new/old (interval) | verdict |",
        stdout);
  if (l->configs) fputs(" configuration |", stdout);
  fputs("\n|", stdout);
  for (int i = 0; i < l->axis_count + l->names; i++)
    fputs("---|", stdout);
  puts(l->configs ? "---:|---:|---:|---:|---|---|---|"
                  : "---:|---:|---:|---:|---|---|");
}

static void md_row(const layout *l, const comparison *c) {
  char text[320], other[128];
  putchar('|');
  if (l->names) cell(result_name(c->old));
  for (int i = 0; i < l->axis_count; i++)
    cell(axis_of(c->old, l->axes[i]));
  rate_text(c->old, text, sizeof text);
  cell(text);
  rate_text(c->fresh, text, sizeof text);
  cell(text);
  time_text(c->old_ns, text, sizeof text);
  cell(text);
  time_text(c->fresh_ns, text, sizeof text);
  cell(text);
  ratio_text(c, text, sizeof text);
  cell(text);
  snprintf(text, sizeof text, "%s%s%s", verdict_names[c->verdict],
           *c->reason ? ": " : "", c->reason);
  cell(text);
  if (l->configs) {
    bool before = config_text(c->old, other, sizeof other);
    bool after = config_text(c->fresh, text, sizeof text / 2);
    if (before && strcmp(other, text) != 0) {
      size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, "%s (was %s)",
               after ? "" : "none", other);
    }
    cell(text);
  }
  putchar('\n');
}

static void print_md(const comparison_table *t, const compare_options *o) {
  layout l = {.names = false};
  lay_out(&l, t);
  print_differences(t, MARKUP_MD);
  if (!l.names && t->count) {
    put_marked(stdout, MARKUP_MD, result_name(t->rows[0].old));
    fputs("\n\n", stdout);
  }
  if (t->count) md_head(&l);
  for (size_t i = 0; i < t->count; i++)
    md_row(&l, &t->rows[i]);
  if (t->count) putchar('\n');
  if (l.left) puts("Some axes have no column.");
  print_counts(t);
  printf("Threshold ±%.4g%%.\n", o->threshold * 100);
  if (t->only_old_count + t->only_fresh_count) putchar('\n');
  print_partnerless(t, MARKUP_MD);
  if (any_code(t)) puts("\nCode of the kernels:\n");
  print_codes(t, MARKUP_MD);
  if (t->count) print_footer(t);
}

/* Text. */

static const char *colour_of(verdict v) {
  switch (v) {
  case VERDICT_FASTER:
    return "\033[32m";
  case VERDICT_SLOWER:
    return "\033[31m";
  case VERDICT_UNRESOLVED:
  case VERDICT_REFUSED:
    return "\033[33m";
  default:
    return "";
  }
}

static void text_row(const comparison *c, bool coloured) {
  char old[64], fresh[64], ratio[96];
  const char *colour = coloured ? colour_of(c->verdict) : "";
  time_text(c->old_ns, old, sizeof old);
  time_text(c->fresh_ns, fresh, sizeof fresh);
  ratio_text(c, ratio, sizeof ratio);
  put_point(stdout, c->old, MARKUP_TEXT);
  printf("  %s -> %s µs  ratio %s  %s%s%s", old, fresh, ratio, colour,
         verdict_names[c->verdict], *colour ? "\033[0m" : "");
  if (*c->reason) {
    fputs(": ", stdout);
    put_marked(stdout, MARKUP_TEXT, c->reason);
  }
  putchar('\n');
}

static void print_text(const comparison_table *t) {
  bool coloured = takes_colours(stdout);
  print_differences(t, MARKUP_TEXT);
  for (size_t i = 0; i < t->count; i++)
    text_row(&t->rows[i], coloured);
  print_partnerless(t, MARKUP_TEXT);
  print_counts(t);
  if (any_code(t)) puts("Code of the kernels:");
  print_codes(t, MARKUP_TEXT);
}

void print_comparison(const comparison_table *t, const compare_options *o) {
  if (o->markdown)
    print_md(t, o);
  else
    print_text(t);
}

/* JSON. */

static json_t *text_or_null(const char *text) {
  return text ? json_string(text) : json_null();
}

static json_t *point_json(const kmb_result *r) {
  json_t *axes = json_array();
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    json_array_append_new(
        axes, json_pack("{s:s, s:s}", "key", axis.key, "value", axis.value));
  }
  return json_pack("{s:s, s:o}", "name", result_name(r), "axes", axes);
}

static void set_text(json_t *row, const char *key, const char *text) {
  if (*text) json_object_set_new(row, key, json_string(text));
}

static json_t *codes_json(const comparison *c) {
  json_t *kernels = json_array();
  uint64_t pairs = kmb_result_code_pair_count(c->old, c->fresh);
  for (uint64_t i = 0; i < pairs; i++) {
    kmb_code_pair pair = kmb_code_pair_init();
    if (kmb_result_code_pair(c->old, c->fresh, i, &pair)) continue;
    json_t *kernel = json_object();
    json_object_set_new(kernel, "code",
                        json_string(kmb_code_match_name(pair.match)));
    if (pair.a) json_object_set_new(kernel, "old", json_string(pair.a));
    if (pair.b) json_object_set_new(kernel, "new", json_string(pair.b));
    if (pair.reason)
      json_object_set_new(kernel, "reason", json_string(pair.reason));
    json_array_append_new(kernels, kernel);
  }
  return kernels;
}

static json_t *row_json(const comparison *c) {
  char text[128];
  json_t *row = point_json(c->old);
  json_object_set_new(row, "verdict", json_string(verdict_names[c->verdict]));
  if (c->old_ns > 0) json_object_set_new(row, "old_ns", json_real(c->old_ns));
  if (c->fresh_ns > 0)
    json_object_set_new(row, "new_ns", json_real(c->fresh_ns));
  if (c->ratio > 0) json_object_set_new(row, "ratio", json_real(c->ratio));
  if (c->has_interval)
    json_object_set_new(row, "interval", json_pack("[f, f]", c->low, c->high));
  set_text(row, "reason", c->reason);
  config_text(c->old, text, sizeof text);
  set_text(row, "old_config", text);
  config_text(c->fresh, text, sizeof text);
  set_text(row, "new_config", text);
  if (!has_code(c)) return row;
  set_text(row, "code",
           kmb_code_match_name(kmb_result_code_match(c->old, c->fresh)));
  json_object_set_new(row, "kernels", codes_json(c));
  return row;
}

static json_t *list_json(const kmb_result *const *items, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, point_json(items[i]));
  return list;
}

static json_t *differences_json(const comparison_table *t) {
  json_t *list = json_array();
  for (int i = 0; i < t->difference_count; i++) {
    const difference *d = &t->differences[i];
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:I}", "key", d->key,
                                          "old", text_or_null(d->old), "new",
                                          text_or_null(d->fresh), "pairs",
                                          (json_int_t)d->pairs));
  }
  return list;
}

int print_comparison_json(const comparison_table *t) {
  json_t *rows = json_array();
  for (size_t i = 0; i < t->count; i++)
    json_array_append_new(rows, row_json(&t->rows[i]));
  return print_json(json_pack(
      "{s:o, s:I, s:o, s:o, s:o, s:b}", "differences", differences_json(t),
      "differences_left", (json_int_t)t->differences_left, "comparisons", rows,
      "only_old", list_json(t->only_old, t->only_old_count), "only_new",
      list_json(t->only_fresh, t->only_fresh_count), "cut_short", (int)t->cut));
}
