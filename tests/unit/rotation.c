/* How many slots make inputs cold. */
#include "require.h"

#include "rotation.h"

#define MIB 1048576.0

/* Field case F4: a limit of 1.230469 GiB and inputs of 7.791016 MiB are 162
 * sets; scratch is no part of the set's size. */
static void f4_sets_for_a_footprint(void) {
  uint64_t limit = (uint64_t)(1.230469 * 1024 * MIB);
  uint64_t inputs = (uint64_t)(7.791016 * MIB);
  REQUIRE_EQ(kmbi_rotation_sets(limit, inputs), 162);
}

/* Field case F2: 126 MiB of cache and 8 MiB of inputs need 17 slots, one more
 * than lie between two uses. */
static void f2_slots_for_a_reuse_distance(void) {
  REQUIRE_EQ(kmbi_rotation_slots(126ULL << 20, 8ULL << 20), 17);
}

static void exact_multiples_need_no_extra_set(void) {
  REQUIRE_EQ(kmbi_rotation_sets(64, 16), 4);
  REQUIRE_EQ(kmbi_rotation_sets(65, 16), 5);
  REQUIRE_EQ(kmbi_rotation_sets(0, 16), 1);
  REQUIRE_EQ(kmbi_rotation_sets(1, 16), 1);
  REQUIRE_EQ(kmbi_rotation_sets(UINT64_MAX, 1), UINT64_MAX);
}

static void scaling_refuses_what_does_not_fit(void) {
  uint64_t scaled = 7;
  REQUIRE(kmbi_scale_bytes(1000, 2.5, &scaled));
  REQUIRE_EQ(scaled, 2500);
  REQUIRE(!kmbi_scale_bytes(UINT64_MAX, 2, &scaled));
  REQUIRE(!kmbi_scale_bytes(1, -1, &scaled));
  REQUIRE_EQ(scaled, 2500);
}

int main(void) {
  RUN(f4_sets_for_a_footprint);
  RUN(f2_slots_for_a_reuse_distance);
  RUN(exact_multiples_need_no_extra_set);
  RUN(scaling_refuses_what_does_not_fit);
  return 0;
}
