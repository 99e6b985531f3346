/* What a multiprocessor of the device has, asked of the driver. */
#include "cuda_backend.h"
#include "unit.h"

static bool ask(kmbi_cuda *self, kmbi_cuda_unit *unit) {
  const struct {
    int attribute;
    int *value;
    int least;
  } wanted[] = {
      {KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR, &unit->major, 1},
      {KMBI_CU_ATTR_WARP_SIZE, &unit->warp, 1},
      {KMBI_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR, &unit->threads, 1},
      {KMBI_CU_ATTR_MAX_BLOCKS_PER_MULTIPROCESSOR, &unit->blocks, 1},
      {KMBI_CU_ATTR_MAX_REGISTERS_PER_MULTIPROCESSOR, &unit->registers, 1},
      {KMBI_CU_ATTR_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &unit->shared, 1},
      {KMBI_CU_ATTR_RESERVED_SHARED_MEMORY_PER_BLOCK, &unit->reserved, 0},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    if (!kmbi_cuda_attribute(self, wanted[i].attribute, wanted[i].value) ||
        *wanted[i].value < wanted[i].least)
      return false;
  return true;
}

kmb_status kmbi_cuda_occupancy(void *opened, const kmb_shape *shape,
                               kmb_occupancy *occupancy) {
  kmbi_cuda *self = opened;
  kmbi_cuda_unit unit = {.major = 0};
  if (!ask(self, &unit))
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "this driver does not tell what a multiprocessor "
                          "has: blocks, registers, shared memory");
  if (kmbi_cuda_limits(&unit, shape, occupancy)) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                        "in which steps %s gives registers and shared memory "
                        "to blocks is not known here",
                        self->arch);
}
