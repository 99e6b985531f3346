/* Two results of the same point, and what may be said of them. */
#ifndef KMB_TOOLS_COMPARE_H
#define KMB_TOOLS_COMPARE_H

#include "kmb.h"

typedef enum verdict {
  VERDICT_FASTER,
  VERDICT_SAME,
  VERDICT_SLOWER,
  VERDICT_UNRESOLVED,
  VERDICT_REFUSED, /* measured in different ways */
  VERDICTS
} verdict;

extern const char *const verdict_names[VERDICTS];

typedef struct comparison {
  const kmb_result *old, *fresh;
  double old_ns, fresh_ns;
  double ratio;     /* fresh over old */
  double low, high; /* of the ratio, if `has_interval` */
  bool has_interval;
  verdict verdict;
  char reason[200]; /* of UNRESOLVED and REFUSED */
} comparison;

/* By name, then by axes in their order. */
int compare_points(const kmb_result *a, const kmb_result *b);
/* What differs of how two results were taken; false if nothing does. */
bool find_difference(const kmb_result *a, const kmb_result *b, char *text,
                     size_t size);
/* `threshold` is a share, such as 0.01. Results that were taken in different
 * ways are refused unless `different` allows them. */
void compare_pair(const kmb_result *old, const kmb_result *fresh,
                  double threshold, bool different, comparison *c);

#endif
