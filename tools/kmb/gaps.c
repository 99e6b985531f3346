/* kmb gaps: where a device waits. */
#include "kmb.h"

static const char name[] = "gaps";

void gaps_help(FILE *to) {
  fputs(
      "usage: kmb gaps FILE [--kernel REGEX] [--range NAME] [--device N]\n"
      "                [--from TIME] [--to TIME] [--top N] [--format F]\n"
      "                [--json]\n"
      "\n"
      "Shows how busy each device was, where it waited, and why if the trace "
      "holds\n"
      "calls of the host.\n"
      "\n"
      "  --kernel REGEX  the kernel to look at: how far its launches are apart "
      "and\n"
      "                  what it could reach (POSIX extended)\n"
      "  --range NAME    only what was launched within ranges of this name\n"
      "  --device N      only this device\n"
      "  --from TIME     only what starts then or later, in the trace's own "
      "time:\n"
      "                  92.982s, 17ms, 138us, 40ns\n"
      "  --to TIME       only what starts before this\n"
      "  --top N         rows of each list (10)\n"
      "  --format F      what the file is, if its content does not tell: "
      "nsys-csv\n"
      "                  nsys-sqlite nvprof nsys-rep rocprof-csv chrome-json "
      "kmb\n"
      "  --json          JSON instead of text\n",
      to);
}

typedef struct options {
  trace_options of;
  bool json;
} options;

/* Options of this command alone. */
static int take_option(int argc, char **argv, int *at, options *o) {
  const char *word = argv[*at];
  if (strcmp(word, "--json") == 0) {
    o->json = true;
    return OPTION_TAKEN;
  }
  bool kernel = strcmp(word, "--kernel") == 0;
  bool range = strcmp(word, "--range") == 0;
  bool top = strcmp(word, "--top") == 0;
  if (!kernel && !range && !top)
    return take_trace_option(name, argc, argv, at, &o->of);
  const char *value = option_value(name, argc, argv, at);
  if (!value) return OPTION_WRONG;
  if (kernel) o->of.gaps.kernel = value;
  if (range) o->of.gaps.range = value;
  if (top && (!read_number(value, &o->of.gaps.top) || !o->of.gaps.top)) {
    usage(name, "--top cannot be \"%s\"", value);
    return OPTION_WRONG;
  }
  return OPTION_TAKEN;
}

static int read_options(int argc, char **argv, options *o) {
  o->of.trace = kmb_trace_params_init();
  o->of.trace.flags = KMB_TRACE_NO_SHAPES;
  o->of.gaps = kmb_gaps_params_init();
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int taken = take_option(argc, argv, &i, o);
    if (taken == OPTION_WRONG) return EXIT_USAGE;
    if (taken == OPTION_OTHER)
      return usage(name, "there is no option \"%s\"", word);
  }
  if (!o->of.path) return usage(name, "a file is needed");
  return EXIT_DONE;
}

int gaps_main(int argc, char **argv) {
  options o = {.json = false};
  kmb_trace *trace = NULL;
  kmb_gaps *gaps = NULL;
  int wrong = read_options(argc, argv, &o);
  if (wrong) return wrong;
  int code = load_trace(&o.of, &trace);
  if (!code) code = report(kmb_gaps_analyse(trace, &o.of.gaps, &gaps));
  if (!code)
    code = report(o.json ? kmb_gaps_write_json(gaps, write_file, stdout)
                         : kmb_gaps_write_text(gaps, write_file, stdout));
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  if (fflush(stdout) && !code) {
    fputs("kmb: cannot write the output\n", stderr);
    code = EXIT_FAILED;
  }
  return code;
}
