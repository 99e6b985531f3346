/* Which change a payoff is of. */
#include "payoff.h"

#include "markup.h"

#include <stdlib.h>

static const char name[] = "payoff";
enum { LISTED = 20 };

int read_shape(const char *command, const char *text,
               kmb_payoff_params *params) {
  uint32_t *const sizes[] = {&params->grid_x,  &params->grid_y,
                             &params->grid_z,  &params->block_x,
                             &params->block_y, &params->block_z};
  static const char ends[] = "xx,xx";
  char copy[80];
  bool good = strlen(text) < sizeof copy;
  char *at = copy;
  snprintf(copy, sizeof copy, "%s", text);
  for (int i = 0; i < 6 && good; i++) {
    uint64_t size = 0;
    size_t digits = strcspn(at, "x,");
    good = at[digits] == ends[i];
    at[digits] = '\0';
    good = good && read_number(at, &size) && size && size <= UINT32_MAX;
    *sizes[i] = (uint32_t)size;
    at += digits + 1;
  }
  params->flags |= KMB_PAYOFF_ONE_SHAPE;
  return good ? EXIT_DONE
              : usage(command, "--shape cannot be \"%s\": GXxGYxGZ,BXxBYxBZ",
                      text);
}

/* Choosing. */

static bool has_axis(const kmb_result *r, const char *wanted) {
  size_t size = strcspn(wanted, "=");
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (strlen(axis.key) == size && memcmp(axis.key, wanted, size) == 0)
      return strcmp(axis.value, wanted + size + 1) == 0;
  }
  return false;
}

static bool is_at(const kmb_result *r, const payoff_choice *o) {
  for (int i = 0; i < o->axis_count; i++)
    if (!has_axis(r, o->axes[i])) return false;
  return true;
}

static bool is_named(const char *is, const char *wanted) {
  return !wanted || strcmp(is, wanted) == 0;
}

static void list_point(const results_file *f, const kmb_result *r,
                       size_t listed) {
  char text[400];
  if (listed > LISTED) return;
  if (listed == LISTED) {
    fputs("  ... and more\n", stderr);
    return;
  }
  point_text(r, text, sizeof text);
  fprintf(stderr, "  %s: ", f->path);
  put_marked(stderr, MARKUP_TEXT, text);
  fputc('\n', stderr);
}

/* Comparisons. */

static const char *row_name(const results_comparison *c, size_t row) {
  json_t *object = json_array_get(c->rows, row);
  const char *is = json_string_value(json_object_get(object, "name"));
  return is ? is : "?";
}

static bool row_is_chosen(const results_file *f, const results_comparison *c,
                          size_t row, const payoff_choice *o) {
  return row != c->baseline && is_named(row_name(c, row), o->candidate) &&
         is_named(row_name(c, c->baseline), o->baseline) &&
         is_at(f->items[c->first + row], o);
}

static bool number_of(json_t *row, const char *key, double *number) {
  json_t *value = json_object_get(row, key);
  *number = json_number_value(value);
  return json_is_number(value);
}

int change_of_row(const char *command, const results_file *f,
                  const results_comparison *c, size_t row,
                  kmb_payoff_change *change) {
  const kmb_result *base = f->items[c->first + c->baseline];
  json_t *object = json_array_get(c->rows, row);
  double ratio = 0, low = 0, high = 0;
  if (!number_of(object, "ratio", &ratio))
    return usage(command, "%s: the comparison has no ratio of \"%s\"", f->path,
                 row_name(c, row));
  /* The old kernel, its time alone, device and cache state. */
  kmb_status status = kmb_payoff_change_between(base, base, change);
  if (status) {
    fprintf(stderr, "kmb: %s: \"%s\": ", f->path, row_name(c, c->baseline));
    return report_reason(status);
  }
  bool interval =
      number_of(object, "low", &low) && number_of(object, "high", &high);
  change->name = row_name(c, row);
  change->after = f->items[c->first + row];
  change->ratio = ratio;
  change->low = interval ? low : 0;
  change->high = interval ? high : 0;
  return EXIT_DONE;
}

static int from_comparisons(const payoff_choice *o, const results_file *f,
                            kmb_payoff_change *change) {
  const results_comparison *found = NULL;
  size_t row = 0, matches = 0, listed = 0;
  for (size_t i = 0; i < f->comparison_count; i++) {
    const results_comparison *c = &f->comparisons[i];
    for (size_t k = 0; k < c->count; k++) {
      if (!row_is_chosen(f, c, k, o)) continue;
      found = c;
      row = k;
      matches++;
    }
  }
  if (matches == 1) return change_of_row(name, f, found, row, change);
  usage(name,
        "%s: %zu candidates of its comparisons are meant, not 1; --candidate "
        "and --axis choose of these",
        f->path, matches);
  for (size_t i = 0; i < f->comparison_count; i++) {
    const results_comparison *c = &f->comparisons[i];
    for (size_t k = 0; k < c->count; k++)
      if (k != c->baseline && (!matches || row_is_chosen(f, c, k, o)))
        list_point(f, f->items[c->first + k], listed++);
  }
  return EXIT_USAGE;
}

/* Results. */

typedef struct choice {
  const kmb_result *first, *second;
  size_t count;
} choice;

/* Of the file's results those that have this name and lack that one. */
static choice choose(const results_file *f, const payoff_choice *o,
                     const char *wanted, const char *unwanted) {
  choice c = {.count = 0};
  for (size_t i = 0; i < f->count; i++) {
    const char *is = result_name(f->items[i]);
    if (!is_at(f->items[i], o) || !is_named(is, wanted) ||
        (unwanted && strcmp(is, unwanted) == 0))
      continue;
    if (c.count == 0) c.first = f->items[i];
    if (c.count == 1) c.second = f->items[i];
    c.count++;
  }
  return c;
}

static int not_one(const payoff_choice *o, const results_file *files,
                   const char *what, size_t count, size_t wanted) {
  size_t listed = 0;
  usage(name,
        "%zu results may be %s, not %zu; --baseline, --candidate and --axis "
        "choose of these",
        count, what, wanted);
  for (int i = 0; i < o->file_count; i++)
    for (size_t k = 0; k < files[i].count; k++)
      if (!count || is_at(files[i].items[k], o))
        list_point(&files[i], files[i].items[k], listed++);
  return EXIT_USAGE;
}

static int from_results(const payoff_choice *o, const results_file *files,
                        kmb_payoff_change *change) {
  bool one = o->file_count == 1;
  const results_file *new_file = &files[one ? 0 : 1];
  choice old = choose(&files[0], o, o->baseline,
                      one && !o->baseline ? o->candidate : NULL);
  choice fresh = choose(new_file, o, o->candidate,
                        one && !o->candidate ? o->baseline : NULL);
  if (one && !o->baseline && !o->candidate) {
    /* The first is the old one. */
    if (old.count != 2) return not_one(o, files, "both", old.count, 2);
    old.count = fresh.count = 1;
    fresh.first = old.second;
  }
  if (old.count != 1) return not_one(o, files, "the old one", old.count, 1);
  if (fresh.count != 1) return not_one(o, files, "the new one", fresh.count, 1);
  return report(kmb_payoff_change_between(old.first, fresh.first, change));
}

int read_change(const payoff_choice *o, results_file files[2],
                kmb_payoff_change *change) {
  for (int i = 0; i < o->file_count; i++) {
    bool good = results_read_compared(o->files[i], &files[i]);
    results_say(&files[i]);
    if (!good) return files[i].unreadable ? EXIT_USAGE : EXIT_FORMAT;
    /* What is meant may be what was cut off. */
    if (files[i].cut_line) return EXIT_FORMAT;
  }
  return o->file_count == 1 && files[0].comparison_count
             ? from_comparisons(o, &files[0], change)
             : from_results(o, files, change);
}
