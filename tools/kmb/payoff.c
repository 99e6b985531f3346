/* kmb payoff: what a faster kernel is worth in a step. */
#include "payoff.h"

static const char name[] = "payoff";

void payoff_help(FILE *to) {
  fputs(
      "usage: kmb payoff STEP COMPARISON.json [OPTION...]\n"
      "       kmb payoff STEP RESULTS.json [AFTER.json] [OPTION...]\n"
      "       kmb payoff STEP --ratio R[,LOW,HIGH] --kernel REGEX [OPTION...]\n"
      "\n"
      "Predicts how long a step takes with a changed kernel, by replaying its "
      "trace.\n"
      "STEP is any trace that kmb gaps reads; the change is a comparison, two "
      "results\n"
      "of one file or of two, or a ratio. A file may hold JSON lines, a sweep "
      "or\n"
      "several comparisons.\n"
      "\n"
      "  --kernel REGEX    launches to scale (POSIX extended); else the old "
      "result's\n"
      "                    kernel, if it traced a single one\n"
      "  --all-names       REGEX may match several kernels\n"
      "  --shape SHAPE     only launches of this grid (in blocks) and block:\n"
      "                    GXxGYxGZ,BXxBYxBZ; else those of the old result\n"
      "  --all-shapes      launches of any grid and block\n"
      "  --code FILE       results that list the code that the step ran: what "
      "ran\n"
      "                    other code than the old result's is left as it was\n"
      "  --range NAME      a step is a range of this name\n"
      "  --candidate NAME  the new one, where files hold several\n"
      "  --baseline NAME   the old one\n"
      "  --axis KEY=VALUE  only what was measured at this point; repeatable\n"
      "  --ratio R         new time over old; with commas its interval\n"
      "  --any-device      the change was measured on another device\n"
      "  --added NS        what recording added to each call of the host, "
      "measured\n"
      "                    otherwise than by the recording itself; at most a\n"
      "                    millisecond\n"
      "  --format F        what STEP is, as for kmb gaps\n"
      "  --json            JSON instead of text\n"
      "  --markdown        a paragraph for a pull request\n",
      to);
}

typedef struct options {
  trace_options step;
  payoff_choice choice;
  const char *ratio;
  kmb_payoff_params params;
  bool json, markdown;
} options;

/* Options. */

static bool take_flag(const char *word, options *o) {
  if (strcmp(word, "--json") == 0) return o->json = true;
  if (strcmp(word, "--markdown") == 0) return o->markdown = true;
  return false;
}

static int take_word(int argc, char **argv, int *at, options *o) {
  const char *word = argv[*at];
  payoff_choice *choice = &o->choice;
  if (take_flag(word, o)) return OPTION_TAKEN;
  if (strcmp(word, "--ratio") == 0) {
    o->ratio = option_value(name, argc, argv, at);
    return o->ratio ? OPTION_TAKEN : OPTION_WRONG;
  }
  int taken = take_payoff_option(name, argc, argv, at, choice, &o->params);
  if (taken != OPTION_OTHER) return taken;
  if (strcmp(word, "--format") == 0 || (word[0] != '-' && !o->step.path))
    return take_trace_option(name, argc, argv, at, &o->step);
  if (word[0] == '-' && word[1]) return OPTION_OTHER;
  if (choice->file_count == 2) {
    usage(name, "one file too many: \"%s\"", word);
    return OPTION_WRONG;
  }
  choice->files[choice->file_count++] = word;
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
  if (!o->choice.file_count == !o->ratio)
    return usage(name, "either files or --ratio say what changed");
  if (o->json && o->markdown)
    return usage(name, "--json and --markdown exclude each other");
  return EXIT_DONE;
}

/* The change. */

static int read_ratio(const options *o, kmb_payoff_change *change) {
  double numbers[3] = {0};
  char copy[128], *rest = copy;
  int count = 0;
  snprintf(copy, sizeof copy, "%s", o->ratio);
  for (char *part = NULL; (part = strsep(&rest, ",")) != NULL; count++) {
    if (count == 3 || !read_real(part, &numbers[count]))
      return usage(name, "--ratio cannot be \"%s\"", o->ratio);
  }
  if (count == 2) return usage(name, "--ratio takes one number or three");
  change->ratio = numbers[0];
  change->low = numbers[1];
  change->high = numbers[2];
  return EXIT_DONE;
}

int payoff_main(int argc, char **argv) {
  options o = {.json = false};
  results_file files[3] = {{.count = 0}, {.count = 0}, {.count = 0}};
  kmb_payoff_change change = kmb_payoff_change_init();
  kmb_trace *trace = NULL;
  kmb_payoff *payoff = NULL;
  int code = read_options(argc, argv, &o);
  if (!code)
    code = o.ratio ? read_ratio(&o, &change)
                   : read_change(&o.choice, files, &change);
  if (!code && o.choice.code)
    code = read_step_code(o.choice.code, &files[2], &o.params);
  if (!code) code = load_trace(&o.step, &trace);
  if (!code)
    code = report(kmb_payoff_evaluate(trace, &change, &o.params, &payoff));
  if (!code)
    code = report(o.json ? kmb_payoff_write_json(payoff, write_file, stdout)
                  : o.markdown
                      ? kmb_payoff_write_markdown(payoff, write_file, stdout)
                      : kmb_payoff_write_text(payoff, write_file, stdout));
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
  for (int i = 0; i < 3; i++)
    results_free(&files[i]);
  if (fflush(stdout) && !code) {
    fputs("kmb: cannot write the output\n", stderr);
    code = EXIT_FAILED;
  }
  return code;
}
