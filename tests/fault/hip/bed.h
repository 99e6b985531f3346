/* What the tests on the virtual AMD GPU share. Clocks and sleeps of the process
 * are virtual, files below /sys too, and symbols can be absent: bed.c defines
 * what the C library does otherwise. */
#ifndef KMB_TESTS_HIP_BED_H
#define KMB_TESTS_HIP_BED_H

#include <kmb/kmb.h>

#include "../../heap.h"
#include "sim/sim.h"

typedef struct bed {
  kmbi_hip_api hip;
  kmb_device *device;
  kmbi_hip_module module;
  kmbi_hip_stream stream; /* the test's own, non-blocking */
  heap memory;            /* of the library */
  uint64_t llc_given;
  char log[1024]; /* of level WARNING and above */
} bed;

/* HIP's functions alone. */
void bed_look_up(bed *b);
/* The test's own part: module, stream. Then the library's device. */
void bed_set_up(bed *b);
kmb_status bed_open(bed *b, const char *name);
/* Everything is given back, or the test fails. */
void bed_close(bed *b);
void bed_tear_down(bed *b);
/* Both at once, with small caches: 64 KiB before 1 MiB. */
void bed_start(bed *b);
void bed_end(bed *b);

/* HIP's functions that only tests call. */
unsigned bed_synchronize(void);
unsigned bed_query(kmbi_hip_event event);
unsigned bed_last_error(void); /* which stays */

kmbi_hip_function bed_kernel(bed *b, const char *name);
#define HIP(b, name, ...) REQUIRE_EQ((b)->hip.name(__VA_ARGS__), 0)

/* A launch callback: `count` spins of `cycles`. */
typedef struct spin {
  bed *b;
  kmbi_hip_function kernel;
  uint64_t cycles;
  unsigned count;
} spin;
spin bed_spin(bed *b, double us, unsigned count);
kmb_status bed_launch_spin(void *user, const kmb_launch *launch);

/* A launch callback that adds one to each float of args[0] into args[1]. */
typedef struct add {
  bed *b;
  kmbi_hip_function kernel;
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
/* Of metadata; NULL if absent. */
const char *bed_metadata(const kmb_result *result, const char *key);
/* The finding's message, or NULL. */
const char *bed_finding(const kmb_result *result, kmb_finding_code code);

#endif
