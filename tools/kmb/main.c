/* The kmb command. */
#include "kmb.h"

#include <stdarg.h>

/* Of all commands but those that have their own. */
static const char exits[] =
    "Exit status: 0 done; 1 wrong arguments, or something absent: a file that "
    "cannot\nbe read, what an option names; 2 malformed input; 3 anything "
    "else.\n";

static const subcommand commands[] = {
    {"calibrate", "bias and floor of each timer on a device", calibrate_main,
     calibrate_help, exits},
    {"code", "what a kernel was compiled to", code_main, code_help, exits},
    {"compare", "old results and new ones: faster, same or slower",
     compare_main, compare_help,
     "Exit status: 0 same or faster; 1 something is slower; 2 bad input, or "
     "results\nthat are not comparable or have no partner; 3 something is "
     "unresolved.\n"},
    {"gaps", "where a GPU waits, and what it costs", gaps_main, gaps_help,
     exits},
    {"info", "what is here: devices, timers, caches, ceilings", info_main,
     info_help, exits},
    {"payoff", "what a faster kernel is worth in a step", payoff_main,
     payoff_help, exits},
    {"peaks", "what is known of a part, and from where", peaks_main, peaks_help,
     exits},
    {"plot roofline", "draws results below their ceilings", plot_roofline_main,
     plot_roofline_help, exits},
    {"plot samples", "draws samples in order, their histogram and drift",
     plot_samples_main, plot_samples_help, exits},
    {"plot timeline", "draws a trace as SVG, PNG or PDF", plot_timeline_main,
     plot_timeline_help, exits},
    {"report", "results as a page of Markdown or HTML", report_main,
     report_help, exits},
    {"run", "a program in fresh processes, and the spread between them",
     run_main, run_help,
     "Exit status: 0 done; 1 wrong arguments, or PROGRAM cannot be run; 3 it "
     "failed,\nwas killed or left no results, or anything else. A signal that "
     "ends the run is\nits end.\n"},
    {"sol", "how far a time is from the speed of light", sol_main, sol_help,
     exits},
    {"work", "FLOPs and least bytes of an operation", work_main, work_help,
     exits},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Those that begin with the word, or all for NULL. */
static void list_commands(FILE *to, const char *group) {
  size_t size = group ? strlen(group) : 0;
  for (int i = 0; i < COMMANDS; i++)
    if (!group || (strncmp(commands[i].name, group, size) == 0 &&
                   commands[i].name[size] == ' '))
      fprintf(to, "  %-16s %s\n", commands[i].name, commands[i].summary);
}

static void help(FILE *to) {
  fputs("usage: kmb COMMAND [ARGUMENT...]\n"
        "       kmb COMMAND --help\n"
        "       kmb --version\n\n",
        to);
  list_commands(to, NULL);
  fprintf(to, "\n%s", exits);
}

static bool is_group(const char *word) {
  size_t size = strlen(word);
  for (int i = 0; i < COMMANDS; i++)
    if (strncmp(commands[i].name, word, size) == 0 &&
        commands[i].name[size] == ' ')
      return true;
  return false;
}

static void group_help(FILE *to, const char *group) {
  fprintf(to, "usage: kmb %s KIND [ARGUMENT...]\n       kmb %s KIND --help\n\n",
          group, group);
  list_commands(to, group);
  fprintf(to, "\n%s", exits);
}

int usage(const char *name, const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "kmb%s%s: ", *name ? " " : "", name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "; see kmb%s%s --help\n", *name ? " " : "", name);
  return EXIT_USAGE;
}

int no_memory(void) {
  fputs("kmb: out of memory\n", stderr);
  return EXIT_FAILED;
}

int report(kmb_status status) {
  if (!status) return EXIT_DONE;
  fputs("kmb: ", stderr);
  return report_reason(status);
}

int report_reason(kmb_status status) {
  fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  switch (status) {
  case KMB_ERR_FORMAT:
    return EXIT_FORMAT;
  case KMB_ERR_INVALID:
  case KMB_ERR_UNAVAILABLE:
    return EXIT_USAGE;
  default:
    return EXIT_FAILED;
  }
}

kmb_status write_file(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

/* How many words of argv name the command: 0 if they do not. */
static int words_of(const subcommand *c, int argc, char **argv) {
  const char *at = c->name;
  int words = 0;
  while (*at) {
    const char *space = strchr(at, ' ');
    size_t size = space ? (size_t)(space - at) : strlen(at);
    if (words == argc || strlen(argv[words]) != size ||
        memcmp(argv[words], at, size) != 0)
      return 0;
    words++;
    at += size + (space != NULL);
  }
  return words;
}

static bool is_help(const char *word) {
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(const subcommand *c, int argc, char **argv) {
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (!is_help(argv[i])) continue;
    c->help(stdout);
    printf("\n%s", c->exits);
    return EXIT_DONE;
  }
  return c->run(argc, argv);
}

static int run_group(int argc, char **argv) {
  if (argc == 1) {
    group_help(stderr, argv[0]);
    return EXIT_USAGE;
  }
  if (!is_help(argv[1]))
    return usage(argv[0], "there is no kind \"%s\"", argv[1]);
  group_help(stdout, argv[0]);
  return EXIT_DONE;
}

int main(int argc, char **argv) {
  argc--;
  argv++;
  if (argc && is_help(argv[0])) {
    help(stdout);
    return EXIT_DONE;
  }
  if (argc && strcmp(argv[0], "--version") == 0) {
    printf("kmb %s\n", kmb_version());
    return EXIT_DONE;
  }
  for (int i = 0; i < COMMANDS; i++) {
    int words = words_of(&commands[i], argc, argv);
    if (words) return run(&commands[i], argc - words, argv + words);
  }
  if (!argc) {
    help(stderr);
    return EXIT_USAGE;
  }
  if (is_group(argv[0])) return run_group(argc, argv);
  return usage("", "there is no command \"%s\"", argv[0]);
}
