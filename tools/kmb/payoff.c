/* kmb payoff: what a faster kernel is worth in a step. */
#include "kmb.h"

#include <stdlib.h>

static const char name[] = "payoff";

void payoff_help(FILE *to) {
  fputs(
      "usage: kmb payoff STEP COMPARISON.json [--candidate NAME] [OPTION...]\n"
      "       kmb payoff STEP RESULTS.json [AFTER.json] [OPTION...]\n"
      "       kmb payoff STEP --ratio R[,LOW,HIGH] --kernel REGEX "
      "[OPTION...]\n\n"
      "Predicts how long a step takes with a changed kernel, by replaying its\n"
      "trace. STEP is any trace that kmb gaps reads; the change is a\n"
      "comparison, two results of one file or of two, or a ratio.\n\n"
      "  --kernel REGEX    launches to scale (POSIX extended); else the old\n"
      "                    result's kernel, if it traced a single one\n"
      "  --all-names       REGEX may match several kernels\n"
      "  --range NAME      a step is a range of this name\n"
      "  --candidate NAME  of a comparison of more than two\n"
      "  --ratio R         new time over old; with commas its interval\n"
      "  --any-device      the change was measured on another device\n"
      "  --format F        what STEP is, as for kmb gaps\n"
      "  --json            JSON instead of text\n"
      "  --markdown        a paragraph for a pull request\n",
      to);
}

typedef struct options {
  trace_options step;
  const char *files[2];
  int file_count;
  const char *candidate, *ratio;
  kmb_payoff_params params;
  bool json, markdown;
} options;

/* What was read: the change's strings belong to it. */
typedef struct measured {
  kmb_results *lists[2];
  json_t *document;
  kmb_payoff_change change;
} measured;

/* Options. */

static bool take_flag(const char *word, options *o) {
  if (strcmp(word, "--json") == 0) return o->json = true;
  if (strcmp(word, "--markdown") == 0) return o->markdown = true;
  uint32_t flag = strcmp(word, "--all-names") == 0    ? KMB_PAYOFF_ALL_NAMES
                  : strcmp(word, "--any-device") == 0 ? KMB_PAYOFF_ANY_DEVICE
                                                      : 0;
  o->params.flags |= flag;
  return flag != 0;
}

static int take_valued(int argc, char **argv, int *at, options *o) {
  const struct {
    const char *name;
    const char **value;
  } rows[] = {{"--kernel", &o->params.kernel},
              {"--range", &o->params.range},
              {"--candidate", &o->candidate},
              {"--ratio", &o->ratio}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(argv[*at], rows[i].name) != 0) continue;
    const char *value = option_value(name, argc, argv, at);
    if (!value) return OPTION_WRONG;
    *rows[i].value = value;
    return OPTION_TAKEN;
  }
  return OPTION_OTHER;
}

static int take_word(int argc, char **argv, int *at, options *o) {
  const char *word = argv[*at];
  if (take_flag(word, o)) return OPTION_TAKEN;
  int taken = take_valued(argc, argv, at, o);
  if (taken != OPTION_OTHER) return taken;
  if (strcmp(word, "--format") == 0 || (word[0] != '-' && !o->step.path))
    return take_trace_option(name, argc, argv, at, &o->step);
  if (word[0] == '-' && word[1]) return OPTION_OTHER;
  if (o->file_count == 2) {
    usage(name, "one file too many: \"%s\"", word);
    return OPTION_WRONG;
  }
  o->files[o->file_count++] = word;
  return OPTION_TAKEN;
}

static int read_options(int argc, char **argv, options *o) {
  o->step.trace = kmb_trace_params_init();
  o->step.gaps = kmb_gaps_params_init();
  o->params = kmb_payoff_params_init();
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int taken = take_word(argc, argv, &i, o);
    if (taken == OPTION_WRONG) return EXIT_USAGE;
    if (taken == OPTION_OTHER)
      return usage(name, "there is no option \"%s\"", word);
  }
  if (!o->step.path) return usage(name, "a trace of the step is needed");
  if (!o->file_count == !o->ratio)
    return usage(name, "either files or --ratio say what changed");
  if (o->json && o->markdown)
    return usage(name, "--json and --markdown exclude each other");
  return EXIT_DONE;
}

/* The change. */

static int read_ratio(const options *o, measured *m) {
  double numbers[3] = {0};
  char copy[128], *rest = copy;
  int count = 0;
  snprintf(copy, sizeof copy, "%s", o->ratio);
  for (char *part = NULL; (part = strsep(&rest, ",")) != NULL; count++) {
    if (count == 3 || !read_real(part, &numbers[count]))
      return usage(name, "--ratio cannot be \"%s\"", o->ratio);
  }
  if (count == 2) return usage(name, "--ratio takes one number or three");
  m->change.ratio = numbers[0];
  m->change.low = numbers[1];
  m->change.high = numbers[2];
  return EXIT_DONE;
}

typedef struct text {
  const char *at;
  size_t left;
} text;

static kmb_status read_text(void *user, void *data, size_t size, size_t *got) {
  text *t = user;
  *got = t->left < size ? t->left : size;
  memcpy(data, t->at, *got);
  t->at += *got;
  t->left -= *got;
  return KMB_OK;
}

static kmb_status read_stream(void *user, void *data, size_t size,
                              size_t *got) {
  *got = fread(data, 1, size, user);
  return ferror(user) ? KMB_ERR_IO : KMB_OK;
}

static int read_results(const char *path, kmb_results **list) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "kmb: cannot open %s\n", path);
    return EXIT_USAGE;
  }
  kmb_status status = kmb_results_read_json(read_stream, file, NULL, list);
  fclose(file);
  if (status == KMB_ERR_FORMAT) fprintf(stderr, "kmb: in %s:\n", path);
  return report(status);
}

/* Two results: of one file, or the first of each. */
static int read_two(const options *o, measured *m) {
  const kmb_result *pair[2] = {NULL, NULL};
  for (int i = 0; i < o->file_count; i++) {
    int code = read_results(o->files[i], &m->lists[i]);
    if (code) return code;
  }
  bool one = o->file_count == 1;
  uint64_t wanted = one ? 2 : 1;
  for (int i = 0; i < o->file_count; i++) {
    if (kmb_results_count(m->lists[i]) != wanted)
      return usage(name, "%s holds %llu results, not %llu", o->files[i],
                   (unsigned long long)kmb_results_count(m->lists[i]),
                   (unsigned long long)wanted);
  }
  kmb_status status = kmb_results_get(m->lists[0], 0, &pair[0]);
  if (!status)
    status = kmb_results_get(m->lists[one ? 0 : 1], one ? 1 : 0, &pair[1]);
  if (!status) status = kmb_payoff_change_between(pair[0], pair[1], &m->change);
  return report(status);
}

/* The row of a comparison that is no baseline; NULL, reported, if that is not
 * one. */
static json_t *choose_row(const options *o, json_t *rows, size_t baseline,
                          size_t *index) {
  json_t *found = NULL;
  size_t matches = 0;
  for (size_t i = 0; i < json_array_size(rows); i++) {
    json_t *row = json_array_get(rows, i);
    const char *of = json_string_value(json_object_get(row, "name"));
    if (i == baseline ||
        (o->candidate && (!of || strcmp(of, o->candidate) != 0)))
      continue;
    found = row;
    *index = i;
    matches++;
  }
  if (matches == 1) return found;
  usage(name,
        o->candidate ? "the comparison has no candidate \"%s\""
                     : "name one of the candidates with --candidate%s",
        o->candidate ? o->candidate : "");
  return NULL;
}

/* What the results beside the rows add: the old kernel, device, cache state. */
static void take_results(measured *m, size_t baseline, size_t index) {
  char *dump = json_dumps(json_object_get(m->document, "document"), 0);
  if (!dump) return;
  text t = {dump, strlen(dump)};
  const kmb_result *pair[2] = {NULL, NULL};
  if (!kmb_results_read_json(read_text, &t, NULL, &m->lists[0]) &&
      !kmb_results_get(m->lists[0], baseline, &pair[0]) &&
      !kmb_results_get(m->lists[0], index, &pair[1]))
    (void)kmb_payoff_change_between(pair[0], pair[1], &m->change);
  free(dump);
}

static int take_comparison(const options *o, measured *m) {
  json_t *rows = json_object_get(m->document, "rows");
  size_t index = 0, baseline = (size_t)json_integer_value(
                        json_object_get(m->document, "baseline"));
  json_t *row = choose_row(o, rows, baseline, &index);
  if (!row) return EXIT_USAGE;
  json_t *ratio = json_object_get(row, "ratio");
  if (!json_is_number(ratio))
    return usage(name, "the comparison has no ratio of that candidate");
  take_results(m, baseline, index);
  m->change.name = json_string_value(json_object_get(row, "name"));
  m->change.ratio = json_number_value(ratio);
  m->change.low = json_number_value(json_object_get(row, "low"));
  m->change.high = json_number_value(json_object_get(row, "high"));
  return EXIT_DONE;
}

static int read_change(const options *o, measured *m) {
  m->change = kmb_payoff_change_init();
  if (o->ratio) return read_ratio(o, m);
  json_error_t error;
  if (o->file_count == 1)
    m->document = json_load_file(o->files[0], JSON_REJECT_DUPLICATES, &error);
  const char *schema =
      json_string_value(json_object_get(m->document, "schema"));
  return schema && strcmp(schema, "kmb-comparison") == 0 ? take_comparison(o, m)
                                                         : read_two(o, m);
}

int payoff_main(int argc, char **argv) {
  options o = {.json = false};
  measured m = {.document = NULL};
  kmb_trace *trace = NULL;
  kmb_payoff *payoff = NULL;
  int code = read_options(argc, argv, &o);
  if (!code) code = read_change(&o, &m);
  if (!code) code = report(load_trace(&o.step, &trace));
  if (!code)
    code = report(kmb_payoff_evaluate(trace, &m.change, &o.params, &payoff));
  if (!code)
    code = report(o.json ? kmb_payoff_write_json(payoff, write_file, stdout)
                  : o.markdown
                      ? kmb_payoff_write_markdown(payoff, write_file, stdout)
                      : kmb_payoff_write_text(payoff, write_file, stdout));
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
  for (int i = 0; i < 2; i++)
    kmb_results_destroy(m.lists[i]);
  json_decref(m.document);
  if (fflush(stdout) && !code) {
    fputs("kmb: cannot write the output\n", stderr);
    code = EXIT_FAILED;
  }
  return code;
}
