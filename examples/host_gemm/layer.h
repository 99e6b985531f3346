/* The projections of one Llama-3.1-8B layer, measured through OpenBLAS. */
#ifndef HOST_GEMM_LAYER_H
#define HOST_GEMM_LAYER_H

#include <kmb/kmb.h>

enum { MAX_TOKENS = 1024 };

/* y = x·Wᵀ with W rows×inner (one row for each output, as models store it),
 * x tokens×inner, y tokens×rows. */
typedef struct projection {
  const char *name;
  unsigned rows;
  unsigned inner;
} projection;

enum { PROJECTIONS = 7 };
extern const projection layer_projections[PROJECTIONS];
/* NULL if there is none of that name. */
const projection *layer_find(const char *name);

/* Measures one projection. The caller has set OpenBLAS's thread count to
 * `threads`. */
kmb_status layer_measure(kmb_device *device, const projection *proj,
                         unsigned tokens, unsigned threads,
                         const kmb_metadata_params *metadata,
                         kmb_result **result);

#endif
