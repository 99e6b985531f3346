/* What the frozen programs state; a failure names it, the line and the
 * library's own words. */
#ifndef KMB_FROZEN_CHECK_H
#define KMB_FROZEN_CHECK_H

#include <kmb/kmb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLDS(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, \
              #condition, kmb_last_error(NULL, NULL));                    \
      exit(1);                                                            \
    }                                                                     \
  } while (0)
#define OK(call) HOLDS((call) == KMB_OK)

#endif
