/* kmb compare: yesterday's results and today's. */
#include "compare.h"

#include <errno.h>
#include <stdlib.h>

static const char name[] = "compare";

/* Exit statuses of this command alone. */
enum { EXIT_SLOWER = 1, EXIT_BAD = 2, EXIT_UNRESOLVED = 3 };

void compare_help(FILE *to) {
  fputs("usage: kmb compare OLD.json NEW.json [--threshold P%] [--json]\n"
        "                   [--format text|md] [--allow-different]\n\n"
        "Compares results by name and axes. The ratio is new over old; its\n"
        "interval is what the intervals of both leave open, so that a mode\n"
        "that lasts longer than a run is not in it.\n\n"
        "  --threshold P%     slower or faster begins beyond it (1%)\n"
        "  --format md        a table for a pull request\n"
        "  --json             JSON instead of text\n"
        "  --allow-different  compare also what was taken in another way: "
        "timer,\n"
        "                     launch mode, cache state, work or device\n\n"
        "Exit status: 0 same or faster; 1 something is slower; 2 bad input, "
        "or\nresults that are not comparable or have no partner; 3 something "
        "is unresolved.\n",
        to);
}

typedef struct options {
  const char *paths[2];
  double threshold;
  bool json, markdown, different;
} options;

typedef struct side {
  kmb_results *list;
  const kmb_result **items; /* by point */
  size_t count;
} side;

typedef struct table {
  comparison *rows;
  size_t count;
  size_t of[VERDICTS];
  size_t only_old, only_new;
} table;

static bool read_threshold(const char *text, double *threshold) {
  char number[32];
  size_t size = strlen(text);
  if (size && text[size - 1] == '%') size--;
  if (!size || size >= sizeof number) return false;
  memcpy(number, text, size);
  number[size] = '\0';
  if (!read_real(number, threshold)) return false;
  *threshold /= 100;
  return *threshold >= 0 && *threshold < 1;
}

static int wrong_value(const char *option, const char *value) {
  usage(name, "%s cannot be \"%s\"", option, value);
  return EXIT_BAD;
}

static int take_value(int argc, char **argv, int *at, options *o) {
  const char *option = argv[*at];
  const char *value = option_value(name, argc, argv, at);
  if (!value) return EXIT_BAD;
  if (strcmp(option, "--threshold") == 0)
    return read_threshold(value, &o->threshold) ? 0
                                                : wrong_value(option, value);
  o->markdown = strcmp(value, "md") == 0;
  return o->markdown || strcmp(value, "text") == 0 ? 0
                                                   : wrong_value(option, value);
}

static int read_options(int argc, char **argv, options *o) {
  int paths = 0;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int wrong = 0;
    if (strcmp(word, "--json") == 0)
      o->json = true;
    else if (strcmp(word, "--allow-different") == 0)
      o->different = true;
    else if (strcmp(word, "--threshold") == 0 || strcmp(word, "--format") == 0)
      wrong = take_value(argc, argv, &i, o);
    else if (*word == '-' || paths == 2) {
      usage(name, "\"%s\" is no option, or a file too many", word);
      wrong = EXIT_BAD;
    } else
      o->paths[paths++] = word;
    if (wrong) return wrong;
  }
  if (paths == 2) return EXIT_DONE;
  usage(name, "two files are needed");
  return EXIT_BAD;
}

static kmb_status read_file(void *file, void *data, size_t size, size_t *got) {
  *got = fread(data, 1, size, file);
  return *got || !ferror((FILE *)file) ? KMB_OK : KMB_ERR_IO;
}

static int by_point(const void *a, const void *b) {
  return compare_points(*(const kmb_result *const *)a,
                        *(const kmb_result *const *)b);
}

static const char *name_of(const kmb_result *result) {
  const char *text = NULL;
  return kmb_result_text(result, KMB_VALUE_NAME, &text) ? "?" : text;
}

/* A point that stands twice has no one partner. */
static int sort_side(const char *path, side *s) {
  s->count = (size_t)kmb_results_count(s->list);
  s->items = calloc(s->count + 1, sizeof(const kmb_result *));
  if (!s->items || !s->count) {
    fprintf(stderr, "kmb: %s: %s\n", path,
            s->items ? "no results" : "out of memory");
    return EXIT_BAD;
  }
  for (size_t i = 0; i < s->count; i++)
    kmb_results_get(s->list, i, &s->items[i]);
  qsort(s->items, s->count, sizeof(const kmb_result *), by_point);
  for (size_t i = 1; i < s->count; i++) {
    if (compare_points(s->items[i - 1], s->items[i]) != 0) continue;
    fprintf(stderr, "kmb: %s: two results \"%s\" have the same axes\n", path,
            name_of(s->items[i]));
    return EXIT_BAD;
  }
  return EXIT_DONE;
}

static int open_side(const char *path, side *s) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "kmb: %s: %s\n", path, strerror(errno));
    return EXIT_BAD;
  }
  kmb_status status = kmb_results_read_json(read_file, file, NULL, &s->list);
  fclose(file);
  if (!status) return sort_side(path, s);
  fprintf(stderr, "kmb: %s: %s\n", path,
          status == KMB_ERR_IO ? "cannot be read" : kmb_last_error(NULL, NULL));
  return EXIT_BAD;
}

/* Both sides are in order, so one walk finds the partners. */
static int match(const side *old, const side *fresh, const options *o,
                 table *t) {
  size_t i = 0, j = 0;
  t->rows = calloc(old->count, sizeof *t->rows);
  if (!t->rows) {
    fputs("kmb: out of memory\n", stderr);
    return EXIT_BAD;
  }
  while (i < old->count || j < fresh->count) {
    int order = i == old->count ? 1
                : j == fresh->count
                    ? -1
                    : compare_points(old->items[i], fresh->items[j]);
    if (order) {
      size_t *only = order < 0 ? &t->only_old : &t->only_new;
      ++*only;
      order < 0 ? i++ : j++;
      continue;
    }
    comparison *c = &t->rows[t->count++];
    compare_pair(old->items[i++], fresh->items[j++], o->threshold, o->different,
                 c);
    t->of[c->verdict]++;
  }
  return EXIT_DONE;
}

static void point_text(const kmb_result *result, char *text, size_t size) {
  int used = snprintf(text, size, "%s", name_of(result));
  for (uint64_t i = 0; i < kmb_result_axis_count(result); i++) {
    kmb_pair axis = {"", ""};
    if (used < 0 || (size_t)used >= size) return;
    kmb_result_axis(result, i, &axis);
    used += snprintf(text + used, size - (size_t)used, " %s=%s", axis.key,
                     axis.value);
  }
}

static void print_row(const comparison *c, bool markdown) {
  char point[256], interval[64] = "-";
  point_text(c->old, point, sizeof point);
  if (c->has_interval)
    snprintf(interval, sizeof interval, "%.4f to %.4f", c->low, c->high);
  printf(markdown ? "| %s | %.3f | %.3f | %.4f | %s | %s%s%s |\n"
                  : "%s  %.3f -> %.3f us  ratio %.4f (%s)  %s%s%s\n",
         point, c->old_ns / 1e3, c->fresh_ns / 1e3, c->ratio, interval,
         verdict_names[c->verdict], *c->reason ? ": " : "", c->reason);
}

static void print_table(const table *t, bool markdown) {
  if (markdown)
    puts("| point | old µs | new µs | new/old | interval | verdict |\n"
         "|---|---|---|---|---|---|");
  for (size_t i = 0; i < t->count; i++)
    print_row(&t->rows[i], markdown);
  if (markdown) putchar('\n');
  for (int v = 0; v < VERDICTS; v++)
    printf("%s%zu %s", v ? ", " : "", t->of[v], verdict_names[v]);
  printf("; only in the old file: %zu, only in the new: %zu\n", t->only_old,
         t->only_new);
}

static json_t *row_json(const comparison *c) {
  char point[256];
  point_text(c->old, point, sizeof point);
  json_t *row = json_pack("{s:s, s:s}", "point", point, "verdict",
                          verdict_names[c->verdict]);
  if (row && c->ratio > 0)
    json_object_set_new(row, "ratio", json_real(c->ratio));
  if (row && c->has_interval)
    json_object_set_new(row, "interval", json_pack("[f, f]", c->low, c->high));
  if (row && *c->reason)
    json_object_set_new(row, "reason", json_string(c->reason));
  return row;
}

static int print_comparisons(const table *t) {
  json_t *rows = json_array();
  for (size_t i = 0; i < t->count; i++)
    json_array_append_new(rows, row_json(&t->rows[i]));
  return print_json(json_pack("{s:o, s:I, s:I}", "comparisons", rows,
                              "only_old", (json_int_t)t->only_old, "only_new",
                              (json_int_t)t->only_new));
}

static int exit_of(const table *t) {
  if (t->of[VERDICT_SLOWER]) return EXIT_SLOWER;
  if (t->of[VERDICT_REFUSED] || t->only_old || t->only_new) return EXIT_BAD;
  return t->of[VERDICT_UNRESOLVED] ? EXIT_UNRESOLVED : EXIT_DONE;
}

int compare_main(int argc, char **argv) {
  options o = {.threshold = 0.01};
  side old = {.count = 0}, fresh = {.count = 0};
  table t = {.count = 0};
  int code = read_options(argc, argv, &o);
  if (!code) code = open_side(o.paths[0], &old);
  if (!code) code = open_side(o.paths[1], &fresh);
  if (!code) code = match(&old, &fresh, &o, &t);
  if (!code) {
    if (o.json)
      code = print_comparisons(&t) ? EXIT_BAD : EXIT_DONE;
    else
      print_table(&t, o.markdown);
    if (!code) code = fflush(stdout) ? EXIT_BAD : exit_of(&t);
  }
  free(t.rows);
  free(old.items);
  free(fresh.items);
  kmb_results_destroy(old.list);
  kmb_results_destroy(fresh.list);
  return code;
}
