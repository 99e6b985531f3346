/* STREAM's triad, a = b + s·c over doubles, with a team of threads. */
#ifndef HOST_GEMM_TRIAD_H
#define HOST_GEMM_TRIAD_H

#include <kmb/kmb.h>

/* Each array is as large as the last-level cache of `llc_bytes`. */
kmb_status triad_measure(kmb_device *device, uint64_t llc_bytes,
                         unsigned threads, const kmb_metadata_params *metadata,
                         kmb_result **result);

#endif
