/* What a multiprocessor of the device has, asked of the driver. */
#include "cuda_backend.h"
#include "unit.h"

static bool ask(kmbi_cuda *self, kmbi_cuda_unit *unit) {
  const struct {
    int *value;
    int attribute, least;
  } wanted[] = {
      {&unit->major, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR, 1},
      {&unit->warp, KMBI_CU_ATTR_WARP_SIZE, 1},
      {&unit->threads, KMBI_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR, 1},
      {&unit->blocks, KMBI_CU_ATTR_MAX_BLOCKS_PER_MULTIPROCESSOR, 1},
      {&unit->registers, KMBI_CU_ATTR_MAX_REGISTERS_PER_MULTIPROCESSOR, 1},
      {&unit->shared, KMBI_CU_ATTR_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 1},
      {&unit->reserved, KMBI_CU_ATTR_RESERVED_SHARED_MEMORY_PER_BLOCK, 0},
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
