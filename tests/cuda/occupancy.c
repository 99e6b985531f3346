/* How many blocks a multiprocessor holds: worked examples, and, where the
 * toolkit's own calculator is there, the same numbers for many kernels. */
#include "unit.h"

#include "../require.h"

#if defined(__has_include) && __has_include(<cuda_occupancy.h>)
#define HAVE_CALCULATOR 1
#include <limits.h>

#include <cuda_occupancy.h>
#endif

/* Multiprocessors as their drivers describe them. */
static const kmbi_cuda_unit units[] = {
    {7, 32, 1024, 16, 65536, 64 << 10, 0},     /* 7.5 */
    {8, 32, 2048, 32, 65536, 164 << 10, 1024}, /* 8.0 */
    {8, 32, 1536, 24, 65536, 100 << 10, 1024}, /* 8.9 */
    {9, 32, 2048, 32, 65536, 228 << 10, 1024}, /* 9.0 */
    {12, 32, 1536, 24, 65536, 100 << 10, 1024},
};
static const int minors[] = {5, 0, 9, 0, 0};
enum { UNITS = sizeof units / sizeof units[0], H200 = 3 };

static kmb_occupancy limits(size_t unit, uint32_t threads, uint32_t registers,
                            uint32_t fixed, uint32_t dynamic) {
  const kmb_shape shape = {1, 1,         1, threads, 1,
                           1, registers, 0, fixed,   dynamic};
  kmb_occupancy o = kmb_occupancy_init();
  REQUIRE(kmbi_cuda_limits(&units[unit], &shape, &o));
  return o;
}

static void worked_examples(void) {
  /* 256 threads of 40 registers: 1280 for a warp, 12 of them in each quarter.
   */
  kmb_occupancy o = limits(H200, 256, 40, 128, 0);
  REQUIRE_EQ(o.block_warps, 8);
  REQUIRE_EQ(o.unit_warps, 64);
  REQUIRE_EQ(o.limit_registers, 6);
  REQUIRE_EQ(o.limit_shared, 202); /* 233472 ÷ 1152 */
  REQUIRE_EQ(o.limit_warps, 8);
  REQUIRE_EQ(o.limit_blocks, 32);
  REQUIRE_EQ(o.register_step, 8);
  /* Without registers and, before 8.0, without shared memory, those limit
   * nothing. */
  o = limits(0, 33, 0, 0, 0);
  REQUIRE_EQ(o.block_warps, 2);
  REQUIRE(o.limit_registers > 1000000);
  REQUIRE(o.limit_shared > 1000000);
  REQUIRE_EQ(o.limit_warps, 16);
  REQUIRE_EQ(o.limit_blocks, 16);
  /* 255 registers a thread: two warps in each quarter. */
  REQUIRE_EQ(limits(H200, 128, 255, 0, 0).limit_registers, 2);
  REQUIRE_EQ(limits(H200, 1024, 32, 0, 227 << 10).limit_shared, 1);
}

static void an_unknown_architecture_is_not_guessed(void) {
  const kmb_shape shape = {1, 1, 1, 64, 1, 1, 32, 0, 0, 0};
  kmb_occupancy o = kmb_occupancy_init();
  kmbi_cuda_unit unit = units[H200];
  unit.major = 6;
  REQUIRE(!kmbi_cuda_limits(&unit, &shape, &o));
  unit.major = 13;
  REQUIRE(!kmbi_cuda_limits(&unit, &shape, &o));
  REQUIRE_EQ(o.unit_warps, 0);
}

#ifdef HAVE_CALCULATOR
/* What it gives for no limit is its own. */
static void same(uint64_t ours, int theirs) {
  if (theirs == INT_MAX)
    REQUIRE(ours > 1000000);
  else
    REQUIRE_EQ(ours, theirs);
}

static uint64_t compare(size_t u, uint32_t threads, uint32_t registers,
                        uint32_t fixed, uint32_t dynamic) {
  const kmbi_cuda_unit *unit = &units[u];
  const cudaOccDeviceProp device = {
      .computeMajor = unit->major,
      .computeMinor = minors[u],
      .maxThreadsPerBlock = 1024,
      .maxThreadsPerMultiprocessor = unit->threads,
      .regsPerBlock = 65536,
      .regsPerMultiprocessor = unit->registers,
      .warpSize = unit->warp,
      .sharedMemPerBlock = 48 << 10,
      .sharedMemPerMultiprocessor = (size_t)unit->shared,
      .numSms = 100,
      .sharedMemPerBlockOptin = (size_t)unit->shared - (size_t)unit->reserved,
      .reservedSharedMemPerBlock = (size_t)unit->reserved,
  };
  const cudaOccFuncAttributes kernel = {
      .maxThreadsPerBlock = 1024,
      .numRegs = (int)registers,
      .sharedSizeBytes = fixed,
      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
      .maxDynamicSharedSizeBytes = (size_t)unit->shared,
  };
  const cudaOccDeviceState state = {.carveoutConfig =
                                        SHAREDMEM_CARVEOUT_DEFAULT};
  cudaOccResult theirs;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &device, &kernel, &state,
                                              (int)threads, dynamic))
    return 0;
  /* What cannot be launched has no kernel to compare. */
  if (theirs.activeBlocksPerMultiprocessor == 0) return 0;
  kmb_occupancy o = limits(u, threads, registers, fixed, dynamic);
  same(o.limit_registers, theirs.blockLimitRegs);
  same(o.limit_shared, theirs.blockLimitSharedMem);
  same(o.limit_warps, theirs.blockLimitWarps);
  same(o.limit_blocks, theirs.blockLimitBlocks);
  return 1;
}

static void the_toolkits_calculator_agrees(void) {
  static const uint32_t threads[] = {1,   32,  33,  64,  96,   128, 160,
                                     256, 384, 512, 768, 1000, 1024};
  static const uint32_t registers[] = {0,  1,  8,  16, 24, 32,  33,  40, 48,
                                       63, 64, 65, 80, 96, 128, 168, 255};
  static const uint32_t shared[] = {0,     1,        128,       1000,
                                    4096,  16384,    33000,     49152,
                                    65536, 99 << 10, 163 << 10, 227 << 10};
  uint64_t compared = 0;
  for (size_t u = 0; u < UNITS; u++)
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
      for (size_t r = 0; r < sizeof registers / sizeof registers[0]; r++)
        for (size_t s = 0; s < sizeof shared / sizeof shared[0]; s++) {
          uint32_t fixed = shared[s] < 8192 ? shared[s] : 0;
          compared +=
              compare(u, threads[t], registers[r], fixed, shared[s] - fixed);
        }
  REQUIRE(compared > 5000);
}
#endif

int main(void) {
  RUN(worked_examples);
  RUN(an_unknown_architecture_is_not_guessed);
#ifdef HAVE_CALCULATOR
  RUN(the_toolkits_calculator_agrees);
#endif
  return 0;
}
