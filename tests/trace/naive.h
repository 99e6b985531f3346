/* The definitions, followed literally and slowly: every nanosecond of a short
 * time is looked at. */
#ifndef KMB_TESTS_TRACE_NAIVE_H
#define KMB_TESTS_TRACE_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_OPS = 64, NAIVE_TIME = 512, NAIVE_NAMES = 5 };

typedef struct naive_op {
  uint64_t start, end;
  int name; /* below 3: a kernel, the first the target; 3: copy; 4: memset */
  int device, stream;
} naive_op;

typedef struct naive_result {
  uint64_t ops, span, busy, gaps;
  uint64_t idle[NAIVE_NAMES][NAIVE_NAMES]; /* by transition */
  uint64_t count[NAIVE_NAMES][NAIVE_NAMES];
  uint64_t targets, intervals;
  uint64_t interval[NAIVE_OPS], work[NAIVE_OPS], kernel_work[NAIVE_OPS];
  uint64_t durations; /* sum */
  double median_duration, median_work, median_kernel_work;
} naive_result;

/* Of one device; `ops` in the order of their starts. */
void naive_analyse(const naive_op *ops, int count, int device,
                   naive_result *result);

#endif
