/* Chains of dependent steps. Each call starts from what the last one left in
 * memory, so that calls cannot overlap, whoever makes them. */
#include "chains.h"

/* A multiplication and an addition, which the compiler cannot see through. */
static inline uint64_t integer_step(uint64_t x) {
  x = x * UINT64_C(6364136223846793005) + 1;
  __asm__ volatile("" : "+r"(x));
  return x;
}

/* In a register, as an integer would be. */
#if defined(__x86_64__)
#define FLOAT_REGISTER "+x"
#elif defined(__aarch64__)
#define FLOAT_REGISTER "+w"
#else
#define FLOAT_REGISTER "+m"
#endif

/* Tends to 1: never infinite, never denormal. */
static inline double float_step(double x) {
  x = x * 0.5 + 0.5;
  __asm__ volatile("" : FLOAT_REGISTER(x));
  return x;
}

static kmb_status empty(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

/* Calls in blocks that are unrolled: the branches between them are few and the
 * same each time, so that no misprediction depends on the caller. */
enum { BLOCK = 4 };

#define CHAIN(name, type, step, blocks)                                    \
  static kmb_status name(void *user, const kmb_launch *launch) {           \
    type *state = (type *)user;                                            \
    type x = *state;                                                       \
    (void)launch;                                                          \
    for (int block = 0; block < (blocks); block++) {                       \
      _Pragma("GCC unroll 4") for (int i = 0; i < BLOCK; i++) x = step(x); \
    }                                                                      \
    *state = x;                                                            \
    return KMB_OK;                                                         \
  }

/* At 3 GHz a step takes 1.3 ns (integers) and 2.7 ns (floats). */
CHAIN(integers_10ns, uint64_t, integer_step, 3)
CHAIN(floats_100ns, double, float_step, 16)
CHAIN(integers_1us, uint64_t, integer_step, 320)
CHAIN(floats_100us, double, float_step, 16000)

static uint64_t short_integers = 1, long_integers = 2;
static double short_floats = 0.5, long_floats = 0.25;

const chain chains[CHAINS] = {
    {"empty", empty, NULL},
    {"integers_10ns", integers_10ns, &short_integers},
    {"floats_100ns", floats_100ns, &short_floats},
    {"integers_1us", integers_1us, &long_integers},
    {"floats_100us", floats_100us, &long_floats},
};
