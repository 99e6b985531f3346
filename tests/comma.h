/* A locale whose numbers have a comma, made for one program. */
#ifndef KMB_TESTS_COMMA_H
#define KMB_TESTS_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* False where none can be had. */
static inline bool use_a_comma(void) {
  char folder[] = "/tmp/kmb-locale-XXXXXX", command[128];
  if (!mkdtemp(folder)) return false;
  setenv("LOCPATH", folder, 1);
  snprintf(command, sizeof command,
           "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
           folder);
  /* NOLINTNEXTLINE(cert-env33-c): a locale for the test */
  bool can = system(command) != -1 && setlocale(LC_ALL, "de_DE.UTF-8") &&
             localeconv()->decimal_point[0] == ',';
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  /* NOLINTNEXTLINE(cert-env33-c): a folder of our own */
  return system(command) != -1 && can;
}

#endif
