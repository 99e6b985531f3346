/* What the command lines of the examples have in common. */
#ifndef KMB_EXAMPLES_USAGE_H
#define KMB_EXAMPLES_USAGE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exit status where an argument is wrong; says what, and the usage. */
__attribute__((format(printf, 2, 3))) static inline int
usage_error(const char *usage, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n%s", usage);
  return 2;
}

/* -1: go on. Else the exit status: --help was asked for, there is another
 * option, of which there is none, or there are more than `most` arguments. */
static inline int usage_asked(int argc, char **argv, int most,
                              const char *usage) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
      return fputs(usage, stdout) < 0;
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '-')
      return usage_error(usage, "there is no option \"%s\"", argv[i]);
  if (argc - 1 > most)
    return usage_error(usage, "\"%s\" is one argument too many",
                       argv[most + 1]);
  return -1;
}

/* Whether it is a whole number from 1 to `most`, and nothing else. */
static inline int usage_number(const char *text, long most, long *number) {
  char *end = NULL;
  errno = 0;
  *number = strtol(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *number >= 1 &&
         *number <= most;
}

#endif
