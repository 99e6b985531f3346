/* One virtual GPU machine behind stand-ins for libcuda, libcupti,
 * libnvidia-ml, libcublas, libcublasLt and libnccl. This part is for tests:
 * what is simulated, what fails, what is held. Time is virtual: it passes with
 * every call and every look at the clock. */
#ifndef KMB_TESTS_CUDA_SIM_H
#define KMB_TESTS_CUDA_SIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../backends/cuda/cupti_api.h"
#include "../../../../backends/cuda/driver_api.h"
#include "../../../../backends/cuda/lt_api.h"
#include "../../../../backends/cuda/nvml_api.h"
#include "../../../../backends/cuda/profiler_api.h"

/* Every function of the libraries that the backend uses. */
typedef enum sim_function {
#define SIM_ENUM(name, version, symbol, need, arguments) SIM_##name,
  KMBI_CU_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(name, version, need, arguments) SIM_##name,
      KMBI_CUPTI_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(field, symbol, need, arguments) SIM_nvml_##field,
          KMBI_NVML_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(name, arguments) SIM_##name,
              KMBI_LT_MAP(SIM_ENUM)
#undef SIM_ENUM
#define SIM_ENUM(name, type) SIM_##name,
                  KMBI_PROFILER_MAP(SIM_ENUM)
#undef SIM_ENUM
                      SIM_cuGetProcAddress,
  SIM_cuCtxSynchronize,
  SIM_cuStreamWaitEvent,
  SIM_cuStreamSynchronize,
  SIM_FUNCTIONS
} sim_function;

enum { SIM_NVML_NOT_SUPPORTED = 3, SIM_NVML_NOT_FOUND = 6 };

/* What is simulated; zeroed fields of `sim_reset` mean "as on an H200". */
typedef struct sim_settings {
  uint64_t l2_bytes;
  uint64_t memory_bytes;
  unsigned devices; /* in the machine, in NVML's order */
  unsigned visible; /* the one that CUDA shows as its first */
  unsigned shown;   /* so many from there on; 0: one */
  bool no_peers;    /* they do not reach each other's memory */
  int driver_version;
  bool no_threads;      /* the process can have no more */
  unsigned queue_depth; /* operations, then whoever enqueues waits; 0: none */
  bool empty_copies;    /* the copy kernel takes its time and copies nothing */
  bool few_polls; /* whoever asks for a stream's end finds it the next time */
  const char *missing; /* a function that the libraries lack */
  bool blocking;       /* launches wait for their kernels */
  bool programmatic;   /* kernels let the next one start */
  /* CUPTI */
  bool other_subscriber;
  unsigned forbidden;       /* what subscribing answers, 0: it is allowed */
  unsigned drop_every;      /* each n-th kernel record is lost and counted */
  unsigned lose_every;      /* each n-th kernel record is lost, unsaid */
  unsigned zero_every;      /* each n-th has no times */
  unsigned backwards_every; /* each n-th ends before it starts */
  bool reversed;            /* records come last first */
  bool late;                /* records come a flush later, if not forced */
  bool halves;              /* half of them, if not forced */
  bool no_single_calls;     /* ids come only if every call is recorded */
  unsigned recording_adds;  /* ns to a call that does nothing, which then has a
                               record, too */
  bool distinct_images;     /* each module's image is another */
  bool distinct_code;       /* and so are its instructions */
  bool no_sections;         /* an image is no ELF file that can be read */
  bool library_kernels;     /* launches name kernels, not functions */
  bool no_candidates;       /* cuBLASLt has none */
  unsigned product_fails;   /* cuBLAS cannot launch the n-th product from now */
  unsigned join_lost;       /* the n-th rank to join NCCL is not seen */
  unsigned scatter_lost;    /* NCCL never runs the n-th reduce-scatter */
  /* What a multiprocessor holds */
  bool no_unit;         /* the driver does not say what it has */
  unsigned blocks_less; /* so many fewer blocks than its parts allow */
  unsigned registers;   /* of a function, whatever its launches say */
  unsigned given;       /* registers, as its launches say; 0: rounded up */
  /* Counters */
  unsigned counters_refused; /* what enabling answers, 0: it may */
  unsigned unsupported;      /* which reason is false: 1 architecture, 2 sli,
                                3 vgpu, 4 confidential, 5 cmp, 6 wsl */
  bool vgpu_disabled;        /* the third of them by the hypervisor */
  bool endless;              /* it always wants another pass */
  bool one_range_more;       /* of a kernel that no trace shows */
  double compute_pct, memory_pct, occupancy_pct; /* of every kernel */
  /* NVML */
  unsigned long long throttle; /* of the visible device */
  bool mig;
  bool mig_unnamed; /* a slice whose CUDA name does not say so */
  bool mps;
  bool no_measures; /* NOT_SUPPORTED for all that is measured */
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
bool sim_is_cupti(sim_function function);
bool sim_is_nvml(sim_function function);

/* Virtual time in ns. */
uint64_t sim_now(void);
void sim_pass(uint64_t ns);
/* As pthread_cond_timedwait(), until a virtual time. It comes once somebody
 * waits for what no work on the device will bring: then time passes until the
 * next of these. */
int sim_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   uint64_t until);

/* What was taken and not given back, and what a context took with it. */
unsigned sim_held(void);
void sim_print_held(void);
/* Driver calls of processes that were forked after cuInit(). */
unsigned sim_child_calls(void);

/* Driver functions that only tests call. */
unsigned cuCtxSynchronize(void);
unsigned cuStreamWaitEvent(kmbi_cu_stream stream, kmbi_cu_event event,
                           unsigned flags);
unsigned cuStreamSynchronize(kmbi_cu_stream stream);

#endif
