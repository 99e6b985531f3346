/* kmb report: results as a page that a person reads. */
#include "report.h"

#include <stdlib.h>

static const char name[] = "report";

void report_help(FILE *to) {
  fputs("usage: kmb report RESULT.json... [--title TEXT] [--plots N]\n"
        "                  [--step TRACE [--kernel REGEX] [--range NAME] "
        "[--format F]\n"
        "                  [--code FILE] [--all-names] [--all-shapes | --shape "
        "SHAPE]\n"
        "                  [--added NS] [--candidate NAME] [--baseline NAME]\n"
        "                  [--axis KEY=VALUE]...\n"
        "                  [--any-device]]\n"
        "                  -o FILE.md|FILE.html\n"
        "\n"
        "Writes a report: the note that goes with the results, tables with "
        "throughput\n"
        "first and latency beside, of comparisons the ratio, verdict and "
        "configuration,\n"
        "readings and findings in words, metadata, and plots. HTML holds its "
        "plots;\n"
        "those of Markdown are written beside it as FILE.roofline.svg and\n"
        "FILE.samples-N.svg.\n"
        "\n"
        "  --title TEXT    instead of the results' names\n"
        "  --plots N       samples of so many results are drawn (12); 0: no "
        "plots at\n"
        "                  all\n"
        "  --step TRACE    adds what each candidate of the comparisons, or the "
        "second\n"
        "                  of two results, is worth in this step (kmb payoff)\n"
        "  --kernel REGEX  launches to scale, if the result does not name its "
        "kernel\n"
        "  --range NAME    a step is a range of this name\n"
        "  --code FILE     results that list the code that the step ran\n"
        "  --format F      what TRACE is, as for kmb gaps\n"
        "  --all-names     REGEX may match several kernels\n"
        "  --shape SHAPE   only launches of this grid and block: "
        "GXxGYxGZ,BXxBYxBZ\n"
        "  --all-shapes    launches of any grid and block\n"
        "  --candidate NAME\n"
        "                  only this one, where files hold several\n"
        "  --baseline NAME\n"
        "                  the old one\n"
        "  --axis KEY=VALUE\n"
        "                  only what was measured at this point; repeatable\n"
        "  --added NS      what recording added to each call of the host, at "
        "most a\n"
        "                  millisecond\n"
        "  --any-device    the change was measured on another device\n"
        "  -o FILE         the report; its name says which kind\n",
        to);
}

typedef struct options {
  const char *paths[REPORT_FILES];
  int path_count;
  const char *out, *title;
  uint64_t plots;
  report_step step;
} options;

static int take_option(int argc, char **argv, int *at, options *o) {
  const char *word = argv[*at], *plots = NULL;
  const struct {
    const char *name;
    const char **value;
  } rows[] = {{"-o", &o->out},
              {"--title", &o->title},
              {"--plots", &plots},
              {"--step", &o->step.trace.path}};
  size_t i = 0, count = sizeof rows / sizeof rows[0];
  int taken = strcmp(word, "--format") == 0
                  ? take_trace_option(name, argc, argv, at, &o->step.trace)
                  : take_payoff_option(name, argc, argv, at, &o->step.choice,
                                       &o->step.params);
  if (taken != OPTION_OTHER)
    return taken == OPTION_TAKEN ? EXIT_DONE : EXIT_USAGE;
  while (i < count && strcmp(word, rows[i].name) != 0)
    i++;
  if (i == count) return usage(name, "there is no option \"%s\"", word);
  const char *value = option_value(name, argc, argv, at);
  if (!value) return EXIT_USAGE;
  *rows[i].value = value;
  if (plots && !read_number(plots, &o->plots))
    return usage(name, "--plots cannot be \"%s\"", plots);
  return EXIT_DONE;
}

/* Options of a step that is not there would be silently of no use. */
static bool steps_without(const options *o) {
  const kmb_payoff_params *p = &o->step.params;
  return !o->step.trace.path &&
         (p->kernel || p->range || p->flags || p->added_ns > 0 ||
          o->step.choice.code || is_any_chosen(&o->step.choice) ||
          o->step.trace.trace.format != KMB_TRACE_AUTO);
}

static int read_options(int argc, char **argv, options *o) {
  o->step.trace.trace = kmb_trace_params_init();
  o->step.params = kmb_payoff_params_init();
  for (int i = 0; i < argc; i++) {
    int code = EXIT_DONE;
    if (*argv[i] == '-' && argv[i][1])
      code = take_option(argc, argv, &i, o);
    else if (o->path_count == REPORT_FILES)
      code = usage(name, "too many files");
    else
      o->paths[o->path_count++] = argv[i];
    if (code) return code;
  }
  if (steps_without(o))
    return usage(name, "--kernel, --range, --code, --format, --all-names, "
                       "--shape, --all-shapes, --baseline, --candidate, "
                       "--axis, --added and --any-device need --step");
  if (o->out && o->path_count) return EXIT_DONE;
  return usage(name, "results and -o FILE.md or FILE.html are needed");
}

/* All results of all files, in their order. */
static int gather(const options *o, results_file *files, report_data *data) {
  size_t at = 0;
  for (int i = 0; i < o->path_count; i++) {
    bool good = results_read_compared(o->paths[i], &files[i]);
    results_say(&files[i]);
    if (!good) return files[i].unreadable ? EXIT_USAGE : EXIT_FORMAT;
    data->count += files[i].count;
  }
  data->items = calloc(data->count + 1, sizeof(const kmb_result *));
  data->rows = calloc(data->count + 1, sizeof(json_t *));
  data->files = files;
  data->file_count = o->path_count;
  if (!data->items || !data->rows) return no_memory();
  for (int i = 0; i < o->path_count; i++) {
    memcpy(data->items + at, files[i].items,
           files[i].count * sizeof(const kmb_result *));
    for (size_t k = 0; k < files[i].comparison_count; k++) {
      const results_comparison *c = &files[i].comparisons[k];
      for (size_t row = 0; row < c->count; row++)
        data->rows[at + c->first + row] = json_array_get(c->rows, row);
    }
    at += files[i].count;
  }
  return EXIT_DONE;
}

static void say_cut(document *d, const results_file *files, int count) {
  char text[1024];
  for (int i = 0; i < count; i++) {
    if (!files[i].cut_line) continue;
    snprintf(text, sizeof text,
             "%.600s is cut short: its last document, from line %llu on, has "
             "no end and is left out.",
             files[i].path, (unsigned long long)files[i].cut_line);
    document_item(d, "Incomplete", text);
  }
}

static void default_title(const report_data *data, char *title, size_t size) {
  const char *first = result_name(data->items[0]);
  bool several = false;
  for (size_t i = 1; i < data->count && !several; i++)
    several = strcmp(result_name(data->items[i]), first) != 0;
  snprintf(title, size, "%.200s%s", first, several ? " and others" : "");
}

static int write_parts(const options *o, const results_file *files,
                       const report_data *data, document *d,
                       report_pictures *pictures) {
  say_cut(d, files, o->path_count);
  report_notes(d, data);
  report_tables(d, data);
  int code = report_payoff(d, data, &o->step);
  if (!code) code = report_plots(d, data, o->out, o->plots, pictures);
  report_metadata(d, data);
  return code;
}

/* Nothing is replaced before all is whole; pictures first, so that no report
 * names one that is not there. */
static int replace_all(const options *o, document *d,
                       report_pictures *pictures) {
  int code = EXIT_DONE;
  for (size_t i = 0; i < pictures->count && !code; i++)
    code = out_replace(&pictures->items[i].out);
  if (!code) code = out_replace(&d->out);
  if (!code && d->how == MARKUP_MD) report_remove_stale(o->out, pictures);
  return code;
}

static void free_pictures(report_pictures *pictures) {
  for (size_t i = 0; i < pictures->count; i++) {
    out_abandon(&pictures->items[i].out);
    free(pictures->items[i].path);
  }
  free(pictures->items);
}

static int write_report(const options *o, const results_file *files,
                        const report_data *data) {
  char title[256];
  report_pictures pictures = {.count = 0};
  document *d = calloc(1, sizeof *d);
  if (!d) return no_memory();
  default_title(data, title, sizeof title);
  int code = document_open(d, o->out, o->title ? o->title : title);
  if (!code) {
    code = write_parts(o, files, data, d, &pictures);
    if (!code) code = document_finish(d);
    if (!code) code = replace_all(o, d, &pictures);
    if (code) out_abandon(&d->out);
  }
  free_pictures(&pictures);
  free(d);
  return code;
}

int report_main(int argc, char **argv) {
  options o = {.plots = 12};
  report_data data = {.count = 0};
  int code = read_options(argc, argv, &o);
  if (code) return code;
  results_file *files = calloc((size_t)o.path_count + 1, sizeof *files);
  if (!files) return no_memory();
  code = gather(&o, files, &data);
  if (!code) code = write_report(&o, files, &data);
  for (int i = 0; i < o.path_count; i++)
    results_free(&files[i]);
  free(files);
  free(data.items);
  free(data.rows);
  return code;
}
