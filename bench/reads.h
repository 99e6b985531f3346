/* Two ways to read a whole buffer on one core. */
#ifndef KMB_BENCH_READS_H
#define KMB_BENCH_READS_H

#include <kmb/bench.h>

typedef struct reading {
  uint64_t bytes;         /* of argument 0, a multiple of READ_LINE */
  uint64_t stride;        /* scattered: in lines, by read_stride() */
  volatile uint64_t sink; /* where sums go, so that reads are not left out */
} reading;

enum { READ_LINE = 64 };

/* From the first byte to the last: prefetching works, bandwidth counts. */
kmb_status read_in_order(void *user, const kmb_launch *launch);
/* One word of each line, neighbours far apart in time: nothing can be
 * prefetched, latency counts, as far as a core cannot overlap it. */
kmb_status read_scattered(void *user, const kmb_launch *launch);
/* A stride that visits each of `lines` once and jumps by their golden
 * section. */
uint64_t read_stride(uint64_t lines);

#endif
