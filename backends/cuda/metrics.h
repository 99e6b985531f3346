/* What the host makes of the names of metrics: it needs no device, and stays
 * for the next sessions with the same names, until others were used more
 * lately or the device is closed. */
#ifndef KMB_BACKENDS_CUDA_METRICS_H
#define KMB_BACKENDS_CUDA_METRICS_H

#include "cuda_backend.h"

typedef struct kmbi_cuda_metrics {
  struct kmbi_cuda_metrics *next;
  size_t size;    /* of this and of what points behind it */
  void *host;     /* CUPTI's object */
  uint8_t *image; /* how to set the counters */
  size_t image_bytes, passes, count;
  const char **names;
} kmbi_cuda_metrics;

/* That for these names, kept or new; it is the device's. */
kmb_status kmbi_cuda_metrics_take(kmbi_cuda *self,
                                  const kmb_counter_request *request,
                                  const kmbi_cuda_metrics **metrics);

/* A call of CUPTI's profiler with a struct whose last field is `last`. */
#define KMBI_PROFILER_PARAMS(type, last, ...)           \
  (type) {                                              \
    .size = KMBI_PROFILER_SIZE(type, last), __VA_ARGS__ \
  }
#define KMBI_PROFILER(self, api, name, params) \
  kmbi_cuda_profiler_check((self), (api)->name(params), #name)

#endif
