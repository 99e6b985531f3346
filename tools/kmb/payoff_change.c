/* Which change a payoff is of. */
#include "payoff.h"

#include "markup.h"

static const char name[] = "payoff";
enum { LISTED = 20 };

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

bool is_row_chosen(const results_file *f, const results_comparison *c,
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

static void list_rows(const results_file *f, const payoff_choice *o,
                      size_t *listed) {
  for (size_t i = 0; i < f->comparison_count; i++) {
    const results_comparison *c = &f->comparisons[i];
    for (size_t k = 0; k < c->count; k++)
      if (k != c->baseline && (!o || is_row_chosen(f, c, k, o)))
        list_point(f, f->items[c->first + k], (*listed)++);
  }
}

void list_candidates(const results_file *files, int count) {
  size_t listed = 0;
  for (int i = 0; i < count; i++)
    list_rows(&files[i], NULL, &listed);
}

static int from_comparisons(const payoff_choice *o, const results_file *f,
                            kmb_payoff_change *change) {
  const results_comparison *found = NULL;
  size_t row = 0, matches = 0, listed = 0;
  for (size_t i = 0; i < f->comparison_count; i++) {
    const results_comparison *c = &f->comparisons[i];
    for (size_t k = 0; k < c->count; k++) {
      if (!is_row_chosen(f, c, k, o)) continue;
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
  list_rows(f, matches ? o : NULL, &listed);
  return EXIT_USAGE;
}

/* Results. */

typedef struct choice {
  const kmb_result *first, *second;
  size_t count;
} choice;

/* Of the results those that have this name and lack that one. */
static choice choose(const results_file *files, int count,
                     const payoff_choice *o, const char *wanted,
                     const char *unwanted) {
  choice c = {.count = 0};
  for (int f = 0; f < count; f++) {
    for (size_t i = 0; i < files[f].count; i++) {
      const kmb_result *r = files[f].items[i];
      const char *is = result_name(r);
      if (!is_at(r, o) || !is_named(is, wanted) ||
          (unwanted && strcmp(is, unwanted) == 0))
        continue;
      if (c.count == 0) c.first = r;
      if (c.count == 1) c.second = r;
      c.count++;
    }
  }
  return c;
}

/* What may be meant, where not as many are as `wanted`. */
typedef struct doubt {
  const char *command;
  const payoff_choice *o;
  const results_file *files;
  int file_count;
} doubt;

static int not_one(const doubt *d, const char *what, size_t count,
                   size_t wanted) {
  size_t listed = 0;
  usage(d->command,
        "%zu results may be %s, not %zu; --baseline, --candidate and --axis "
        "choose of these",
        count, what, wanted);
  for (int i = 0; i < d->file_count; i++)
    for (size_t k = 0; k < d->files[i].count; k++)
      if (!count || is_at(d->files[i].items[k], d->o))
        list_point(&d->files[i], d->files[i].items[k], listed++);
  return EXIT_USAGE;
}

int change_of_results(const char *command, const payoff_choice *o,
                      const results_file *files, int count, bool pool,
                      kmb_payoff_change *change) {
  const doubt d = {command, o, files, count};
  int old_count = pool ? count : 1;
  choice old = choose(files, old_count, o, o->baseline,
                      pool && !o->baseline ? o->candidate : NULL);
  choice fresh =
      choose(files + (pool ? 0 : 1), pool ? count : 1, o, o->candidate,
             pool && !o->candidate ? o->baseline : NULL);
  if (pool && !o->baseline && !o->candidate) {
    /* The first is the old one. */
    if (old.count != 2) return not_one(&d, "both", old.count, 2);
    old.count = fresh.count = 1;
    fresh.first = old.second;
  }
  if (old.count != 1) return not_one(&d, "the old one", old.count, 1);
  if (fresh.count != 1) return not_one(&d, "the new one", fresh.count, 1);
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
             : change_of_results(name, o, files, o->file_count,
                                 o->file_count == 1, change);
}
