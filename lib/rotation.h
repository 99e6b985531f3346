/* How many slots make inputs cold: arithmetic only. */
#ifndef KMB_LIB_ROTATION_H
#define KMB_LIB_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

/* Sets of `cold_bytes` that together have at least `footprint` bytes. At least
 * 1; cold_bytes must not be 0. */
uint64_t kmbi_rotation_sets(uint64_t footprint, uint64_t cold_bytes);

/* Slots such that at least `distance` bytes are touched between two uses of
 * one: the sets that others touch, and the slot itself. */
uint64_t kmbi_rotation_slots(uint64_t distance, uint64_t cold_bytes);

/* `factor` times `bytes`; false if that does not fit. */
bool kmbi_scale_bytes(uint64_t bytes, double factor, uint64_t *scaled);

#endif
