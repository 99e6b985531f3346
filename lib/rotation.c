/* How many slots make inputs cold. */
#include "rotation.h"

uint64_t kmbi_rotation_sets(uint64_t footprint, uint64_t cold_bytes) {
  uint64_t sets = footprint / cold_bytes + (footprint % cold_bytes != 0);
  return sets ? sets : 1;
}

uint64_t kmbi_rotation_slots(uint64_t distance, uint64_t cold_bytes) {
  return kmbi_rotation_sets(distance, cold_bytes) + 1;
}

bool kmbi_scale_bytes(uint64_t bytes, double factor, uint64_t *scaled) {
  double product = (double)bytes * factor;
  if (!(product >= 0) || product >= 9.2e18) return false;
  *scaled = (uint64_t)product;
  return true;
}
