/* Registers are given to a warp in steps of 256, in one of the four parts of a
 * multiprocessor; shared memory to a block, in steps of the architecture's. */
#include "unit.h"

enum { PARTS = 4, REGISTER_STEP = 256, OLDEST = 7, NEWEST = 12 };

static uint64_t steps(uint64_t size, uint64_t step) {
  return (size + step - 1) / step * step;
}

static uint64_t by_registers(const kmbi_cuda_unit *unit, const kmb_shape *shape,
                             uint64_t warps) {
  uint64_t warp = (uint64_t)unit->warp;
  uint64_t each = steps(shape->registers * warp, REGISTER_STEP);
  /* A kernel without registers is limited by the rest alone. */
  if (!each) return UINT32_MAX;
  return (uint64_t)unit->registers / PARTS / each * PARTS / warps;
}

static uint64_t by_shared(const kmbi_cuda_unit *unit, const kmb_shape *shape) {
  uint64_t used = (uint64_t)shape->static_shared + shape->dynamic_shared +
                  (uint64_t)unit->reserved;
  uint64_t each = steps(used, unit->major < 8 ? 256 : 128);
  if (!each) return UINT32_MAX;
  return (uint64_t)unit->shared / each;
}

bool kmbi_cuda_limits(const kmbi_cuda_unit *unit, const kmb_shape *shape,
                      kmb_occupancy *o) {
  if (unit->major < OLDEST || unit->major > NEWEST) return false;
  uint64_t warp = (uint64_t)unit->warp;
  uint64_t threads = (uint64_t)shape->block_x * shape->block_y * shape->block_z;
  o->block_warps = steps(threads, warp) / warp;
  o->unit_warps = (uint64_t)unit->threads / warp;
  o->limit_registers = by_registers(unit, shape, o->block_warps);
  o->limit_shared = by_shared(unit, shape);
  o->limit_warps = o->unit_warps / o->block_warps;
  o->limit_blocks = (uint64_t)unit->blocks;
  o->register_step = (uint32_t)(REGISTER_STEP / warp);
  return true;
}
