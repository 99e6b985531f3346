/* The verdict by its interval, at its borders. */
#include "require.h"

#include <compare.h>

#include <math.h>

static void beyond_the_threshold_is_a_difference(void) {
  REQUIRE_EQ(kmbi_verdict_of(0.5, 0.7, 0.25), KMB_VERDICT_FASTER);
  REQUIRE_EQ(kmbi_verdict_of(1.3, 9, 0.25), KMB_VERDICT_SLOWER);
  REQUIRE_EQ(kmbi_verdict_of(0.9, 1.1, 0.25), KMB_VERDICT_SAME);
}

static void the_border_is_within(void) {
  REQUIRE_EQ(kmbi_verdict_of(0.75, 1.25, 0.25), KMB_VERDICT_SAME);
  REQUIRE_EQ(kmbi_verdict_of(0.75, 0.75, 0.25), KMB_VERDICT_SAME);
  REQUIRE_EQ(kmbi_verdict_of(1.25, 1.25, 0.25), KMB_VERDICT_SAME);
  REQUIRE_EQ(kmbi_verdict_of(0.5, nextafter(0.75, 0), 0.25),
             KMB_VERDICT_FASTER);
  REQUIRE_EQ(kmbi_verdict_of(nextafter(1.25, 2), 2, 0.25), KMB_VERDICT_SLOWER);
}

static void what_crosses_it_is_unresolved(void) {
  REQUIRE_EQ(kmbi_verdict_of(0.5, 0.75, 0.25), KMB_VERDICT_UNRESOLVED);
  REQUIRE_EQ(kmbi_verdict_of(nextafter(0.75, 0), 1, 0.25),
             KMB_VERDICT_UNRESOLVED);
  REQUIRE_EQ(kmbi_verdict_of(1, nextafter(1.25, 2), 0.25),
             KMB_VERDICT_UNRESOLVED);
  REQUIRE_EQ(kmbi_verdict_of(1.25, 2, 0.25), KMB_VERDICT_UNRESOLVED);
  REQUIRE_EQ(kmbi_verdict_of(0.1, 10, 0.25), KMB_VERDICT_UNRESOLVED);
}

int main(void) {
  RUN(beyond_the_threshold_is_a_difference);
  RUN(the_border_is_within);
  RUN(what_crosses_it_is_unresolved);
  return 0;
}
