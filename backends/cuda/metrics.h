/* What the host makes of the names of metrics: it needs no device, and stays
 * for the next session with the same names. */
#ifndef KMB_BACKENDS_CUDA_METRICS_H
#define KMB_BACKENDS_CUDA_METRICS_H

#include "cuda_backend.h"

typedef struct kmbi_cuda_metrics {
  size_t size;    /* of this and of what points behind it */
  void *host;     /* CUPTI's object */
  uint8_t *image; /* how to set the counters */
  size_t image_bytes, passes, count;
  const char **names;
} kmbi_cuda_metrics;

/* self->metrics for these names, of the latest session or new. */
kmb_status kmbi_cuda_metrics_take(kmbi_cuda *self,
                                  const kmb_counter_request *request);

/* A call of CUPTI's profiler with a struct whose last field is `last`. */
#define KMBI_PROFILER_PARAMS(type, last, ...)           \
  (type) {                                              \
    .size = KMBI_PROFILER_SIZE(type, last), __VA_ARGS__ \
  }
#define KMBI_PROFILER(self, api, name, params) \
  kmbi_cuda_profiler_check((self), (api)->name(params), #name)

#endif
