/* Programs that kmb runs: for so long and no longer. */
#ifndef KMB_TOOLS_CODE_CHILD_H
#define KMB_TOOLS_CODE_CHILD_H

#include "code.h"

enum { CHILD_RAN = 0, CHILD_ABSENT = 1, CHILD_FAILED = 2 };

/* Runs argv[0], found in PATH unless it has a slash, until it ends, prints too
 * much, or the time is up; it and what it started are then ended. What it
 * printed is given, to be freed, if it ended with status 0; else `why` says in
 * a sentence what happened. */
int child_run(char *const *argv, double seconds, char **text, size_t *size,
              char why[CODE_WHY]);

#endif
