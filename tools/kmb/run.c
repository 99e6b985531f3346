/* kmb run: a program in fresh processes, and what differs between them. */
#include "markup.h"
#include "out.h"
#include "process.h"
#include "spread.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char name[] = "run";

void run_help(FILE *to) {
  fputs(
      "usage: kmb run --processes N [--level P%] [-o OUT.json] [--json]\n"
      "               -- PROGRAM [ARGUMENT...]\n"
      "\n"
      "Runs PROGRAM N times, one process after another, and merges the results "
      "that\n"
      "it appends to the file that the environment variable KMB_RESULTS "
      "names:\n"
      "documents as kmb_result_write_json() writes them, one after another. "
      "The\n"
      "median of each process is one draw; the interval of their median is "
      "taken\n"
      "between two of them and assumes no distribution. Eight processes are "
      "the\n"
      "fewest for 99%, six for 95%.\n"
      "\n"
      "  --processes N  how many, from 2 to 1000\n"
      "  --level P%     of the interval between processes (99%)\n"
      "  -o OUT.json    writes a result a point, of the process in the middle, "
      "with\n"
      "                 the spread as metadata; kmb compare takes it into its\n"
      "                 interval\n"
      "  --json         JSON instead of text\n"
      "\n"
      "What PROGRAM prints goes to stderr. A signal that ends kmb run is "
      "passed on to\n"
      "PROGRAM, which is waited for.\n",
      to);
}

typedef struct options {
  const char *out;
  char **program;
  uint64_t processes;
  double level;
  bool json;
} options;

static bool read_level(const char *text, double *level) {
  char number[32];
  size_t size = strlen(text);
  if (size && text[size - 1] == '%') size--;
  if (!size || size >= sizeof number) return false;
  memcpy(number, text, size);
  number[size] = '\0';
  if (!read_real(number, level)) return false;
  *level /= 100;
  return *level > 0 && *level < 1;
}

static int take_option(int argc, char **argv, int *at, options *o) {
  const char *word = argv[*at];
  if (strcmp(word, "--json") == 0) {
    o->json = true;
    return EXIT_DONE;
  }
  if (strcmp(word, "--processes") != 0 && strcmp(word, "--level") != 0 &&
      strcmp(word, "-o") != 0)
    return usage(name, "there is no option \"%s\"; the program follows --",
                 word);
  const char *value = option_value(name, argc, argv, at);
  if (!value) return EXIT_USAGE;
  if (strcmp(word, "-o") == 0) {
    o->out = value;
    return EXIT_DONE;
  }
  bool level = strcmp(word, "--level") == 0;
  bool good = level ? read_level(value, &o->level)
                    : read_number(value, &o->processes) && o->processes >= 2 &&
                          o->processes <= PROCESSES_MOST;
  return good ? EXIT_DONE : usage(name, "%s cannot be \"%s\"", word, value);
}

static int read_options(int argc, char **argv, options *o) {
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      o->program = argv + i + 1;
      break;
    }
    int code = take_option(argc, argv, &i, o);
    if (code) return code;
  }
  if (o->processes && o->program && *o->program) return EXIT_DONE;
  return usage(name, "--processes N and -- PROGRAM are needed");
}

static int say_end(const options *o, size_t process, int status) {
  int number = signals_came();
  if (number) {
    fprintf(stderr, "kmb: process %zu of %llu: ended by signal %d (%s)\n",
            process + 1, (unsigned long long)o->processes, number,
            strsignal(number));
    return EXIT_FAILED;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return EXIT_DONE;
  fprintf(stderr, "kmb: process %zu of %llu: %s ", process + 1,
          (unsigned long long)o->processes, o->program[0]);
  if (WIFSIGNALED(status))
    fprintf(stderr, "was killed by signal %d (%s)\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
  else
    fprintf(stderr, "ended with status %d\n", WEXITSTATUS(status));
  return EXIT_FAILED;
}

static int run_process(const options *o, size_t process, const char *results) {
  process_end end;
  bool ran = process_run(o->program, results, &end);
  if (!ran && !signals_came()) {
    fprintf(stderr, "kmb: no process: %s\n", strerror(errno));
    return EXIT_FAILED;
  }
  if (end.failure) {
    fprintf(stderr, "kmb: %s cannot be run: %s\n", o->program[0],
            strerror(end.failure));
    return EXIT_USAGE;
  }
  return say_end(o, process, end.status);
}

/* Runs once and reads what it left. */
static int measure(const options *o, size_t process, const char *path,
                   results_file *f) {
  int code = run_process(o, process, path);
  if (code) return code;
  bool good = results_read(path, f);
  f->path = o->program[0]; /* the file goes */
  if (good && !f->cut_line) return EXIT_DONE;
  if (access(path, F_OK) != 0)
    fprintf(stderr,
            "kmb: process %zu: %s left no results; it must append them to the "
            "file that KMB_RESULTS names\n",
            process + 1, o->program[0]);
  else
    fprintf(stderr, "kmb: process %zu: the results of %s: %s\n", process + 1,
            o->program[0], good ? "the last document is cut short" : f->wrong);
  return EXIT_FAILED;
}

static void print_point(const options *o, const spread *s) {
  char middle[48], from[48], to[48];
  time_text(s->median_ns, middle, sizeof middle);
  time_text(s->min_ns, from, sizeof from);
  time_text(s->max_ns, to, sizeof to);
  put_marked(stdout, MARKUP_TEXT, result_name(s->result));
  for (uint64_t i = 0; i < kmb_result_axis_count(s->result); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(s->result, i, &axis);
    putchar(' ');
    put_marked(stdout, MARKUP_TEXT, axis.key);
    putchar('=');
    put_marked(stdout, MARKUP_TEXT, axis.value);
  }
  printf("  %s µs, between processes %s to %s (%.2f%%)", middle, from, to,
         100 * (s->max_ns / s->min_ns - 1));
  if (s->has_interval) {
    time_text(s->low_ns, from, sizeof from);
    time_text(s->high_ns, to, sizeof to);
    printf(", %.4g%% interval of their median %s to %s", 100 * s->confidence,
           from, to);
  } else {
    printf(", interval unresolved: %.6g%% need %zu processes", 100 * o->level,
           processes_needed(o->level));
  }
  if (s->doubted) printf(", %zu doubted", s->doubted);
  putchar('\n');
}

static json_t *point_json(const spread *s) {
  json_t *axes = json_array();
  for (uint64_t i = 0; i < kmb_result_axis_count(s->result); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(s->result, i, &axis);
    json_array_append_new(
        axes, json_pack("{s:s, s:s}", "key", axis.key, "value", axis.value));
  }
  json_t *row = json_pack("{s:s, s:o, s:f, s:f, s:f, s:I}", "name",
                          result_name(s->result), "axes", axes, "median_ns",
                          s->median_ns, "min_ns", s->min_ns, "max_ns",
                          s->max_ns, "doubted", (json_int_t)s->doubted);
  if (!row || !s->has_interval) return row;
  json_object_set_new(row, "interval_ns",
                      json_pack("[f, f]", s->low_ns, s->high_ns));
  json_object_set_new(row, "confidence_pct", json_real(100 * s->confidence));
  return row;
}

static int print_points(const options *o, const spread *points, size_t count) {
  if (!o->json) {
    for (size_t i = 0; i < count; i++)
      print_point(o, &points[i]);
    if (!fflush(stdout) && !ferror(stdout)) return EXIT_DONE;
    fputs("kmb: the output could not be written\n", stderr);
    return EXIT_FAILED;
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, point_json(&points[i]));
  return print_json(json_pack("{s:I, s:f, s:o}", "processes",
                              (json_int_t)o->processes, "level_pct",
                              100 * o->level, "points", list));
}

static int run_all(const options *o, const char *folder, results_file *files) {
  char path[4096];
  for (size_t i = 0; i < o->processes; i++) {
    int used =
        snprintf(path, sizeof path, "%s/process-%zu.json", folder, i + 1);
    if (used < 0 || (size_t)used >= sizeof path)
      return usage(name, "TMPDIR is too long");
    int code = measure(o, i, path, &files[i]);
    unlink(path);
    if (code) return code;
  }
  spread *points = NULL;
  size_t count = 0;
  int code = EXIT_FAILED;
  if (collect_spread(files, (size_t)o->processes, o->level, &points, &count))
    code = o->out ? write_spread(o->out, points, count, (size_t)o->processes,
                                 o->level)
                  : EXIT_DONE;
  if (!code) code = print_points(o, points, count);
  free(points);
  return code;
}

/* In a folder of its own, which goes whatever happens. */
static int run_in(const options *o, results_file *files) {
  char folder[2048];
  const char *place = getenv("TMPDIR");
  int used = snprintf(folder, sizeof folder, "%s/kmb-run-XXXXXX",
                      place && *place ? place : "/tmp");
  if (used < 0 || (size_t)used >= sizeof folder || !mkdtemp(folder)) {
    fprintf(stderr, "kmb: no folder for results in TMPDIR, %.200s: %s\n",
            place && *place ? place : "/tmp", strerror(errno));
    return EXIT_FAILED;
  }
  int code = run_all(o, folder, files);
  remove_folder(folder);
  return code;
}

int run_main(int argc, char **argv) {
  options o = {.level = 0.99};
  int code = read_options(argc, argv, &o);
  if (!code && o.out) code = out_check(o.out);
  if (code) return code;
  results_file *files = calloc((size_t)o.processes + 1, sizeof *files);
  if (!files) return usage(name, "out of memory");
  signals_take();
  code = run_in(&o, files);
  for (size_t i = 0; i < o.processes; i++)
    results_free(&files[i]);
  free(files);
  signals_give();
  return code;
}
