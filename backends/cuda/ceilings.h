/* Ceilings: what their files share. */
#ifndef KMB_BACKENDS_CUDA_CEILINGS_H
#define KMB_BACKENDS_CUDA_CEILINGS_H

#include "cuda_backend.h"

/* One way to reach a ceiling. */
typedef struct kmbi_cuda_entrant {
  const char *name; /* a static string */
  kmb_launch_fn launch;
  void *user;
  double amount; /* bytes or FLOPs of a launch */
  double best;   /* least time of the choice, ns; 0: it cannot run */
} kmbi_cuda_entrant;

/* The best of them, into value, low, high and variant. */
kmb_status kmbi_cuda_race(kmbi_cuda *self, kmbi_cuda_entrant *entrants,
                          size_t count, kmb_ceiling *ceiling);

/* ceilings_lt.c */
kmb_status kmbi_cuda_ceiling_matrix(kmbi_cuda *self, kmb_dtype dtype,
                                    kmb_ceiling *ceiling);

#endif
