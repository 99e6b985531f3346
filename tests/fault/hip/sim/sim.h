/* One virtual AMD GPU behind stand-ins for libamdhip64, libhiprtc, HSA and
 * amd-smi: 4 MB of L2 before 256 MB of Infinity Cache. This part is for tests:
 * what is simulated, what fails, what is held. Time is virtual: it passes with
 * every call and every look at the clock. */
#ifndef KMB_TESTS_HIP_SIM_H
#define KMB_TESTS_HIP_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../backends/hip/hip_api.h"
#include "../../../../backends/hip/smi_api.h"
#include "../../../../backends/hip/trace_api.h"

/* Every function of the libraries that the backend uses. */
typedef enum sim_function {
#define SIM_ENUM(type, name, need, arguments) SIM_##name,
  KMBI_HIP_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(type, name, arguments) SIM_##name,
      KMBI_HIPRTC_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(name, arguments) SIM_##name,
          KMBI_HSA_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(field, symbol, arguments) SIM_smi_##field,
              KMBI_SMI_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(field, symbol, arguments) SIM_prof_##field,
                  KMBI_PROF_MAP(SIM_ENUM)
#undef SIM_ENUM
                      SIM_hipGetDeviceProperties,
  SIM_hipDeviceSynchronize,
  SIM_hipEventQuery,
  SIM_FUNCTIONS
} sim_function;

/* What is simulated; `sim_reset` sets what an MI300X has. */
typedef struct sim_settings {
  uint64_t l2_bytes;
  uint64_t mall_bytes; /* the Infinity Cache */
  bool uncounted;      /* amd-smi does not say how many of a cache there are */
  uint64_t memory_bytes;
  int devices;
  int version; /* of HIP: 60200000 */
  const char *isa;
  /* Who tells of the Infinity Cache. */
  bool kfd, hsa, smi;
  const char *missing[8]; /* symbols that the libraries lack */
  bool odd_properties;    /* laid out in no known way */
  bool no_wall_clock;     /* as before ROCm 6 */
  bool no_fence_flag;     /* events know no hipEventDisableSystemFence */
  bool keeps_errors;      /* ROCm 7: a call that works leaves the last error */
  bool sticky_captures;   /* a broken capture has to be ended twice */
  bool compiler_fails;
  unsigned negative_every; /* each n-th time of two events is negative */
  unsigned zero_every;     /* each n-th is zero */
  /* rocprofiler-sdk */
  uint32_t prof_version;   /* 10000 * major + 100 * minor + patch */
  bool locked;             /* another tool has configured it */
  unsigned lose_every;     /* each n-th record is lost and counted */
  unsigned timeless_every; /* each n-th has no times */
  bool untold;             /* launches are, as they are enqueued */
  bool nameless;           /* kernels of code objects are not told */
  bool in_file;            /* code objects are, not in memory */
  bool ragged;             /* the last block of a grid is not full */
  uint64_t record_bytes;   /* of what is told; 0: as much as there is */
  size_t cut;              /* bytes that are missing at their end */
  bool no_measures;        /* amd-smi and sysfs tell nothing */
  unsigned threads;        /* that measure; several wait for each other */
  /* RCCL */
  int rccl_version;
  unsigned rccl_calls, rccl_fail_at; /* the call that fails, from 1 */
} sim_settings;

/* Sets the machine up anew; nothing may be held. */
void sim_reset(void);
sim_settings *sim_set(void);

/* The k-th call from now (1: the next) of a function fails with `code`. What
 * gives something back has given it back even so. */
void sim_fail(sim_function function, uint64_t k, unsigned code);
bool sim_failed(void); /* whether it did */
uint64_t sim_calls(sim_function function);
const char *sim_name(sim_function function);
bool sim_is_hip(sim_function function);
/* Functions without which a measurement comes out all the same. */
bool sim_is_asked_only(sim_function function);

/* Virtual time in ns. */
uint64_t sim_now(void);
void sim_pass(uint64_t ns);

/* What was taken and not given back. */
unsigned sim_held(void);
void sim_print_held(void);
/* Calls of processes that were forked after hipInit(). */
unsigned sim_child_calls(void);
/* Bytes that sweeps have read and events that captures have met, in all. */
uint64_t sim_swept(void);
unsigned sim_events_in_captures(void);
/* The text of a file below /sys, or NULL. */
const char *sim_file(const char *path);

/* HIP's functions that only tests call. */
unsigned hipDeviceSynchronize(void);
unsigned hipEventQuery(kmbi_hip_event event);
unsigned hipPeekAtLastError(void);

#define SIM_CODE "simulated code object"

#endif
