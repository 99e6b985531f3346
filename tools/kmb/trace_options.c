/* Options of the subcommands that read a trace. */
#include "kmb.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *option_value(const char *command, int argc, char **argv, int *at) {
  const char *word = argv[*at];
  bool kernel =
      strcmp(word, "--kernel") == 0 || strcmp(word, "--other-kernel") == 0;
  if (*at + 1 == argc)
    usage(command, "%s needs a value", word);
  else if (kernel && !*argv[*at + 1])
    usage(command,
          "%s is empty and would match every kernel; a dot matches all of them",
          word);
  else
    return argv[++*at];
  return NULL;
}

bool read_number(const char *text, uint64_t *number) {
  *number = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' ||
        __builtin_mul_overflow(*number, 10, number) ||
        __builtin_add_overflow(*number, (uint64_t)(*text - '0'), number))
      return false;
  }
  return true;
}

static int places_of(const char *unit) {
  static const struct {
    const char *name;
    int places;
  } units[] = {{"s", 9}, {"ms", 6}, {"us", 3}, {"µs", 3}, {"ns", 0}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(unit, units[i].name) == 0) return units[i].places;
  }
  return -1;
}

/* Digit by digit, since a double would lose nanoseconds. */
bool read_time(const char *text, uint64_t *ns) {
  size_t length = strspn(text, "0123456789.");
  int places = places_of(text + length), behind = -1;
  *ns = 0;
  if (!length || places < 0) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '.') {
      if (behind >= 0) return false;
      behind = 0;
      continue;
    }
    if (behind >= places) {
      if (text[i] != '0') return false; /* finer than a nanosecond */
      continue;
    }
    if (behind >= 0) behind++;
    if (__builtin_mul_overflow(*ns, 10, ns) ||
        __builtin_add_overflow(*ns, (uint64_t)(text[i] - '0'), ns))
      return false;
  }
  for (int i = behind < 0 ? 0 : behind; i < places; i++) {
    if (__builtin_mul_overflow(*ns, 10, ns)) return false;
  }
  return length > 1 || text[0] != '.';
}

static bool read_format(const char *text, kmb_trace_format *format) {
#define COMPARE(name, value, string) \
  if (strcmp(text, string) == 0) {   \
    *format = (value);               \
    return true;                     \
  }
  KMB_TRACE_FORMAT_MAP(COMPARE)
#undef COMPARE
  return false;
}

/* The value of one option; false if it cannot be. */
static bool set_option(trace_options *options, const char *name,
                       const char *value) {
  kmb_gaps_params *gaps = &options->gaps;
  if (strcmp(name, "--format") == 0)
    return read_format(value, &options->trace.format);
  if (strcmp(name, "--device") == 0) {
    gaps->flags |= KMB_GAPS_DEVICE;
    return read_number(value, &gaps->device);
  }
  if (strcmp(name, "--from") == 0) {
    gaps->flags |= KMB_GAPS_FROM;
    return read_time(value, &gaps->from_ns);
  }
  gaps->flags |= KMB_GAPS_TO;
  return read_time(value, &gaps->to_ns);
}

int take_trace_option(const char *command, int argc, char **argv, int *at,
                      trace_options *options) {
  static const char *const names[] = {"--format", "--device", "--from", "--to"};
  const char *name = argv[*at];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    const char *value = option_value(command, argc, argv, at);
    if (!value) return OPTION_WRONG;
    if (set_option(options, name, value)) return OPTION_TAKEN;
    usage(command, "%s cannot be \"%s\"", name, value);
    return OPTION_WRONG;
  }
  if (name[0] == '-' && name[1]) return OPTION_OTHER;
  if (options->path) {
    usage(command, "more than one file: \"%s\"", name);
    return OPTION_WRONG;
  }
  options->path = name;
  return OPTION_TAKEN;
}

/* Progress, on a terminal, from half a second on. */

typedef struct bar {
  struct timespec start;
  uint64_t shown; /* tenths of a second */
} bar;

static void show(void *user, uint64_t done, uint64_t total) {
  enum { WIDTH = 40 };
  bar *b = user;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double elapsed = (double)(now.tv_sec - b->start.tv_sec) +
                   (double)(now.tv_nsec - b->start.tv_nsec) / 1e9;
  uint64_t tenths = (uint64_t)(elapsed * 10);
  if (tenths < 5 || tenths == b->shown) return;
  b->shown = tenths;
  if (!total) {
    fprintf(stderr, "\r%llu MB read", (unsigned long long)(done / 1000000));
    return;
  }
  int filled = (int)((double)WIDTH * (double)done / (double)total);
  if (filled > WIDTH) filled = WIDTH;
  fprintf(stderr, "\r[%.*s%*s] %3.0f%%", filled,
          "########################################", WIDTH - filled, "",
          100.0 * (double)done / (double)total);
}

static bool is_readable(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && !S_ISDIR(about.st_mode) &&
         access(path, R_OK) == 0;
}

int load_trace(const trace_options *options, kmb_trace **trace) {
  kmb_trace_params params = options->trace;
  bar b = {.shown = 0};
  clock_gettime(CLOCK_MONOTONIC, &b.start);
  if (isatty(STDERR_FILENO)) {
    params.progress = show;
    params.progress_user = &b;
  }
  kmb_status status = kmb_trace_load(options->path, &params, trace);
  if (b.shown) fprintf(stderr, "\r%60s\r", "");
  int code = report(status);
  bool absent = status == KMB_ERR_IO && !is_readable(options->path);
  return absent ? EXIT_USAGE : code;
}
