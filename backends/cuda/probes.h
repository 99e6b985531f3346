/* Calibration: its kernels, and timing them. */
#ifndef KMB_BACKENDS_CUDA_PROBES_H
#define KMB_BACKENDS_CUDA_PROBES_H

#include "plan.h"

typedef enum kmbi_cuda_probe_kind {
  KMBI_CUDA_PROBE_EMPTY, /* no parameters, no store */
  KMBI_CUDA_PROBE_SPIN,  /* one thread spins and stores what it counted */
  KMBI_CUDA_PROBE_WIDE,  /* many blocks do */
  KMBI_CUDA_PROBE_BODY,  /* more code and parameters */
  KMBI_CUDA_PROBE_READ,  /* reads memory that a sweep left in no cache */
  KMBI_CUDA_PROBE_PAIR   /* two operations */
} kmbi_cuda_probe_kind;

/* What fits gives the bias, the others only say how wrong it may be. */
typedef struct kmbi_cuda_probe {
  kmbi_cuda_probe_kind kind;
  bool fits;
  double ns; /* of spins */
} kmbi_cuda_probe;

enum { KMBI_CUDA_PROBES = 7 };

typedef struct kmbi_cuda_reading {
  double ns, scatter;
} kmbi_cuda_reading;

/* The kernels for a way of timing; their number. */
int kmbi_cuda_probes_choose(const kmb_choice *choice, uint64_t batch,
                            kmbi_cuda_probe *probes);
const char *kmbi_cuda_probe_name(const kmbi_cuda_probe *probe);
/* The median time of an iteration, and how far it scatters. */
kmb_status kmbi_cuda_probe_time(kmbi_cuda *self, const kmb_choice *choice,
                                const kmbi_cuda_probe *probe, uint64_t batch,
                                kmbi_cuda_reading *reading);
double kmbi_cuda_median(double *values, size_t count);

#endif
