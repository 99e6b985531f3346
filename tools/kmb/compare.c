/* kmb compare: yesterday's results and today's. */
#include "compare.h"

static const char name[] = "compare";

/* Exit statuses of this command alone. */
enum { EXIT_SLOWER = 1, EXIT_BAD = 2, EXIT_UNRESOLVED = 3 };

void compare_help(FILE *to) {
  fputs("usage: kmb compare OLD.json NEW.json [--threshold P%] [--json]\n"
        "                   [--format text|md] [--ignore-axis KEY]...\n"
        "                   [--allow-different]\n"
        "\n"
        "Compares results by name and axes; metadata that differ stand first. "
        "The ratio\n"
        "is new over old; its interval is what the intervals of both leave "
        "open. A file\n"
        "may hold JSON lines.\n"
        "\n"
        "  --threshold P%     slower or faster begins beyond it (1%)\n"
        "  --format F         text, or md: a table for a pull request\n"
        "  --json             JSON instead of text\n"
        "  --ignore-axis KEY  this axis identifies no point: candidates that "
        "differ in\n"
        "                     it become partners; repeatable\n"
        "  --allow-different  compare also what was taken in another way: "
        "timer, launch\n"
        "                     mode, cache state, work, world size or device\n",
        to);
}

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

static int take_value(int argc, char **argv, int *at, compare_options *o) {
  const char *option = argv[*at];
  const char *value = option_value(name, argc, argv, at);
  if (!value) return EXIT_BAD;
  if (strcmp(option, "--ignore-axis") == 0) {
    if (o->ignored_count == COMPARE_IGNORED) return wrong_value(option, value);
    o->ignored[o->ignored_count++] = value;
    return 0;
  }
  if (strcmp(option, "--threshold") == 0)
    return read_threshold(value, &o->threshold) ? 0
                                                : wrong_value(option, value);
  o->markdown = strcmp(value, "md") == 0;
  return o->markdown || strcmp(value, "text") == 0 ? 0
                                                   : wrong_value(option, value);
}

static int read_options(int argc, char **argv, compare_options *o) {
  int paths = 0;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int wrong = 0;
    if (strcmp(word, "--json") == 0)
      o->json = true;
    else if (strcmp(word, "--allow-different") == 0)
      o->different = true;
    else if (strcmp(word, "--threshold") == 0 ||
             strcmp(word, "--format") == 0 ||
             strcmp(word, "--ignore-axis") == 0)
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

static int exit_of(const comparison_table *t) {
  if (t->of[VERDICT_SLOWER]) return EXIT_SLOWER;
  if (t->of[VERDICT_REFUSED] || t->only_old_count || t->only_fresh_count ||
      t->cut)
    return EXIT_BAD;
  return t->of[VERDICT_UNRESOLVED] ? EXIT_UNRESOLVED : EXIT_DONE;
}

/* A comparison that nobody could read has no verdict. */
static int print_result(const comparison_table *t, const compare_options *o) {
  bool failed = false;
  if (o->json)
    failed = print_comparison_json(t) != EXIT_DONE;
  else
    print_comparison(t, o);
  failed = fflush(stdout) || ferror(stdout) || failed;
  if (failed && !o->json)
    fputs("kmb: the output could not be written\n", stderr);
  return failed ? EXIT_BAD : exit_of(t);
}

int compare_main(int argc, char **argv) {
  compare_options o = {.threshold = 0.01};
  results_file old = {.count = 0}, fresh = {.count = 0};
  comparison_table t = {.count = 0};
  int code = read_options(argc, argv, &o);
  if (code) return code;
  bool good = results_read_both(o.paths[0], o.paths[1], &old, &fresh);
  results_say(&old);
  results_say(&fresh);
  code = EXIT_BAD;
  if (good && compare_files(&old, &fresh, &o, &t)) code = print_result(&t, &o);
  comparison_table_free(&t);
  results_free(&old);
  results_free(&fresh);
  return code;
}
