/* kmb/hip.h against the backend's own table of results. */
#include <kmb/hip.h>

#include "../require.h"
#include "hip_api.h"

static void results_mean_the_same_to_both(void) {
#define SAME(name, value, status) REQUIRE_EQ(kmb_hip_status(value), status);
  KMBI_HIP_RESULT_MAP(SAME)
#undef SAME
}

static void others_are_the_vendors(void) {
  REQUIRE_EQ(kmb_hip_status(0), KMB_OK);
  REQUIRE_EQ(kmb_hip_status(999), KMB_ERR_VENDOR);
  REQUIRE_EQ(kmb_hip_status(-1), KMB_ERR_VENDOR);
  REQUIRE_EQ(kmb_hip_status(909), KMB_ERR_VENDOR);
  REQUIRE_EQ(kmb_hip_status(713), KMB_ERR_VENDOR);
  REQUIRE_EQ(kmb_hip_status(720), KMB_ERR_VENDOR);
}

static void a_bad_launch_is_the_callers(void) {
  REQUIRE_EQ(kmb_hip_status(9), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_hip_status(98), KMB_ERR_UNSUPPORTED);
  REQUIRE_EQ(kmb_hip_status(701), KMB_ERR_INVALID);
}

static int last; /* as HIP keeps it */

static int hipGetLastError(void) {
  int result = last;
  last = 0;
  return result;
}

static void a_launch_reports_the_last_error(void) {
  last = 700;
  REQUIRE_EQ(kmb_hip_launch_status(), KMB_ERR_LOST);
  REQUIRE_EQ(kmb_hip_launch_status(), KMB_OK);
}

int main(void) {
  RUN(results_mean_the_same_to_both);
  RUN(others_are_the_vendors);
  RUN(a_bad_launch_is_the_callers);
  RUN(a_launch_reports_the_last_error);
  return 0;
}
