/* Checked sums of work. A count that overflows is sticky: write the formula,
 * then ask once. */
#ifndef KMB_LIB_WORK_COUNT_H
#define KMB_LIB_WORK_COUNT_H

#include "memory.h"

#include <kmb/work.h>

typedef struct kmbi_count {
  const char *what; /* the public function, for messages */
  bool over;
} kmbi_count;

uint64_t kmbi_times(kmbi_count *count, uint64_t a, uint64_t b);
uint64_t kmbi_plus(kmbi_count *count, uint64_t a, uint64_t b);
/* Bytes of so many elements, rounded up to whole bytes. The type is known. */
uint64_t kmbi_bytes(kmbi_count *count, uint64_t elements, kmb_dtype dtype);
/* The same with the scales of a matrix. */
uint64_t kmbi_rows_bytes(kmbi_count *count, uint64_t rows, uint64_t columns,
                         kmb_dtype dtype, kmb_scales scales, bool weights);

kmb_status kmbi_work_bad(const kmbi_count *count, const char *format, ...)
    KMB_PRINTF(2, 3);
/* Fills in `dtype` where it is 0, and refuses what is no dtype. */
kmb_status kmbi_work_dtype(const kmbi_count *count, kmb_dtype *dtype,
                           kmb_dtype otherwise);
kmb_status kmbi_work_scales(const kmbi_count *count, kmb_scales scales);
kmb_status kmbi_work_flags(const kmbi_count *count, uint32_t flags,
                           uint32_t known);
/* Stores the result, or says what did not fit. */
kmb_status kmbi_work_store(const kmbi_count *count, const kmb_work *work,
                           kmb_work *out);

#endif
