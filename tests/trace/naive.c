/* The definitions, followed literally and slowly. */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

static bool covers(const naive_op *op, uint64_t time) {
  return op->start <= time && time < op->end;
}

static bool is_busy(const naive_op *ops, int count, int device, uint64_t time) {
  for (int i = 0; i < count; i++) {
    if (ops[i].device == device && covers(&ops[i], time)) return true;
  }
  return false;
}

/* Nanoseconds of [from, to) in which something else than a and b runs. */
static uint64_t work_between(const naive_op *ops, int count, int device, int a,
                             int b, bool kernels) {
  uint64_t work = 0;
  for (uint64_t t = ops[a].end; t < ops[b].start; t++) {
    bool found = false;
    for (int i = 0; i < count && !found; i++)
      found = i != a && i != b && ops[i].device == device &&
              (!kernels || ops[i].name < 3) && covers(&ops[i], t);
    work += found;
  }
  return work;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static double median(const uint64_t *values, uint64_t count) {
  uint64_t sorted[NAIVE_OPS];
  if (!count) return 0;
  memcpy(sorted, values, count * sizeof *values);
  qsort(sorted, count, sizeof *sorted, by_size);
  uint64_t middle = count / 2;
  if (count % 2) return (double)sorted[middle];
  return (double)(sorted[middle - 1] + sorted[middle]) / 2;
}

static void find_gaps(const naive_op *ops, int count, int device,
                      uint64_t first, uint64_t last, naive_result *r) {
  for (uint64_t t = first; t < last; t++) {
    if (is_busy(ops, count, device, t)) continue;
    uint64_t start = t;
    int before = -1, after = -1;
    while (!is_busy(ops, count, device, t))
      t++;
    for (int i = 0; i < count; i++) {
      if (ops[i].device != device) continue;
      if (ops[i].end == start) before = i;
      if (ops[i].start == t && after < 0) after = i;
    }
    r->gaps++;
    r->count[ops[before].name][ops[after].name]++;
    r->idle[ops[before].name][ops[after].name] += t - start;
  }
}

static void find_targets(const naive_op *ops, int count, int device,
                         naive_result *r) {
  uint64_t durations[NAIVE_OPS];
  int last = -1;
  for (int i = 0; i < count; i++) {
    if (ops[i].device != device || ops[i].name) continue;
    durations[r->targets++] = ops[i].end - ops[i].start;
    r->durations += ops[i].end - ops[i].start;
    if (last >= 0) {
      uint64_t n = r->intervals++;
      r->interval[n] =
          ops[i].start > ops[last].end ? ops[i].start - ops[last].end : 0;
      r->work[n] = work_between(ops, count, device, last, i, false);
      r->kernel_work[n] = work_between(ops, count, device, last, i, true);
    }
    last = i;
  }
  r->median_duration = median(durations, r->targets);
  r->median_work = median(r->work, r->intervals);
  r->median_kernel_work = median(r->kernel_work, r->intervals);
}

void naive_analyse(const naive_op *ops, int count, int device,
                   naive_result *r) {
  uint64_t first = UINT64_MAX, last = 0;
  memset(r, 0, sizeof *r);
  for (int i = 0; i < count; i++) {
    if (ops[i].device != device) continue;
    r->ops++;
    if (ops[i].start < first) first = ops[i].start;
    if (ops[i].end > last) last = ops[i].end;
  }
  if (!r->ops) return;
  r->span = last - first;
  for (uint64_t t = first; t < last; t++)
    r->busy += is_busy(ops, count, device, t);
  find_gaps(ops, count, device, first, last, r);
  find_targets(ops, count, device, r);
}
