/* What the tests on the virtual GPU share. Clocks and sleeps of the process
 * are virtual: bed.c defines them. */
#ifndef KMB_TESTS_CUDA_BED_H
#define KMB_TESTS_CUDA_BED_H

#include <kmb/kmb.h>

#include "../../heap.h"
#include "sim/sim.h"

typedef struct bed {
  kmbi_cu_driver cu;
  unsigned (*synchronize)(void);
  unsigned (*wait_event)(kmbi_cu_stream stream, kmbi_cu_event event,
                         unsigned flags);
  kmb_device *device;
  kmbi_cu_context context;
  kmbi_cu_module module;
  kmbi_cu_stream stream; /* the test's own, non-blocking */
  heap memory;           /* of the library */
  unsigned ungated;      /* warnings that there was no gate */
} bed;

/* The driver's functions alone. */
void bed_look_up(bed *b);
/* The test's own part: context, module, stream. Then the library's device. */
void bed_set_up(bed *b);
kmb_status bed_open(bed *b, const char *name);
/* Everything is given back, or the test fails. */
void bed_close(bed *b);
void bed_tear_down(bed *b);
/* Both at once. */
void bed_start(bed *b);
void bed_end(bed *b);

kmbi_cu_function bed_kernel(bed *b, const char *name);
#define CU(b, name, ...) REQUIRE_EQ((b)->cu.name(__VA_ARGS__), 0)

/* A launch callback: `count` spins of `cycles` and what else a test wants. */
typedef struct spin {
  bed *b;
  kmbi_cu_function kernel;
  uint64_t cycles;
  unsigned count;
} spin;
spin bed_spin(bed *b, double us, unsigned count);
kmb_status bed_launch_spin(void *user, const kmb_launch *launch);

/* A launch callback that adds one to each float of args[0] into args[1]. */
typedef struct add {
  bed *b;
  kmbi_cu_function kernel;
  uint32_t count;
} add;
kmb_status bed_launch_add(void *user, const kmb_launch *launch);
kmb_buffers *bed_add_buffers(bed *b, uint32_t count);

/* Few samples, no waiting. */
kmb_bench_params bed_params(kmb_timer timer, kmb_launch_mode mode,
                            kmb_cache_state cache);

double bed_f64(const kmb_result *result, kmb_value value);
uint64_t bed_u64(const kmb_result *result, kmb_value value);
const char *bed_text(const kmb_result *result, kmb_value value);
/* The finding's message, or NULL. */
const char *bed_finding(const kmb_result *result, kmb_finding_code code);
void bed_print(const kmb_result *result);

#endif
