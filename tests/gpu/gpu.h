/* What the GPU tests share: the driver's functions, kernels of their own, and
 * measuring with the library. */
#ifndef KMB_TESTS_GPU_H
#define KMB_TESTS_GPU_H

#include <kmb/kmb.h>

#include <stdbool.h>

#include "../../backends/cuda/driver_api.h"

/* Skips the program with a sentence where no GPU is. Opens the device, makes
 * its primary context current for the test's own calls and loads kernels. */
typedef struct gpu {
  kmbi_cu_driver cu;
  kmb_device *device;
  kmbi_cu_context context;
  kmbi_cu_module module;
  kmbi_cu_stream stream; /* of the test's own, non-blocking */
  kmbi_cu_device ordinal;
  double ghz; /* SM clock as counted against %globaltimer's host twin */
  uint64_t llc;
} gpu;

/* name: "cuda:N", N the driver's ordinal. */
void gpu_open(gpu *g, const char *name, const kmb_device_params *params);
/* Without the clock: nothing is launched. */
void gpu_open_quietly(gpu *g, const char *name,
                      const kmb_device_params *params);
void gpu_close(gpu *g);
/* Loads the driver alone; false where there is none. */
bool gpu_driver(kmbi_cu_driver *cu);
/* Its kernels, of the module that is loaded now; their text. */
kmbi_cu_function gpu_kernel(gpu *g, const char *name);
const char *gpu_ptx(void);
/* Ends the program if a driver call failed. */
void gpu_must(const gpu *g, kmbi_cu_result result, const char *what, int line);
#define CU(g, name, ...) \
  gpu_must((g), (g)->cu.name(__VA_ARGS__), #name, __LINE__)
double gpu_now(void);
/* Whether KMB_TEST_CUPTI=busy says that somebody else holds CUPTI, such as the
 * sanitizer that the program runs under: TRACE must then be BUSY. */
bool gpu_cupti_is_busy(void);

/* Callbacks and what they are given. */
typedef struct spin_work {
  gpu *g;
  kmbi_cu_function kernel;
  uint64_t cycles;
  kmbi_cu_pointer out; /* two words a launch; 0: none */
  uint64_t ring;       /* launches that `out` has room for; 0: one */
} spin_work;
kmb_status spin_launch(void *user, const kmb_launch *launch);

typedef struct move_work { /* copy: args[0] to args[1]; read: args[0] */
  gpu *g;
  kmbi_cu_function kernel;
  kmbi_cu_pointer sink;
  uint64_t bytes;
  bool copies;
} move_work;
kmb_status move_launch(void *user, const kmb_launch *launch);

/* A set of one input and, for copies, one output of `bytes`. */
kmb_buffers *move_buffers(gpu *g, uint64_t bytes, bool copies, uint32_t slots);

double result_f64(const kmb_result *result, kmb_value value, double absent);
uint64_t result_u64(const kmb_result *result, kmb_value value);
const char *result_text(const kmb_result *result, kmb_value value);
void print_findings(const kmb_result *result);

#endif
