/* How many blocks of a kernel a multiprocessor can hold, by what it has. */
#ifndef KMB_BACKENDS_CUDA_UNIT_H
#define KMB_BACKENDS_CUDA_UNIT_H

#include <stdbool.h>

#include <kmb/backend.h>

/* A multiprocessor, as the driver's attributes have it. */
typedef struct kmbi_cuda_unit {
  int major; /* of its compute capability */
  int warp, threads, blocks, registers;
  int shared, reserved; /* bytes; the latter of each block */
} kmbi_cuda_unit;

/* Fills in warps and limits; false for an architecture whose steps of
 * allocation are not known here. */
bool kmbi_cuda_limits(const kmbi_cuda_unit *unit, const kmb_shape *shape,
                      kmb_occupancy *occupancy);

#endif
