/* What rocprofiler-sdk would record: kernels and copies, once they have ended.
 */
#include <stdlib.h>

#include "inside.h"

enum { RECORDS = 4096 };

static sim_tracer tracer;
static kmbi_prof_record records[RECORDS];
static size_t count;
static unsigned seen;
static _Thread_local uint64_t ids[8];
static _Thread_local unsigned depth;

sim_tracer *sim_trace(void) {
  return &tracer;
}

void sim_trace_reset(void) {
  tracer.started = false;
  count = 0;
  seen = 0;
}

uint64_t *sim_trace_ids(unsigned **at) {
  *at = &depth;
  return ids;
}

uint64_t sim_trace_id(void) {
  return depth ? ids[depth - 1] : 0;
}

static bool each(unsigned n) {
  return n && seen % n == 0;
}

void sim_trace_op(const sim_op *op, uint64_t start, uint64_t end) {
  if (!tracer.started || tracer.deaf || count == RECORDS) return;
  seen++;
  if (each(sim_set()->lose_every)) {
    tracer.lost++;
    return;
  }
  kmbi_prof_record *r = &records[count++];
  *r = (kmbi_prof_record){.size = 160,
                          .kind = op->kind == COPY ? KMBI_PROF_MEMORY_COPY
                                                   : KMBI_PROF_KERNEL_DISPATCH,
                          .external_id = op->id,
                          .start = start,
                          .end = end};
  if (each(sim_set()->timeless_every)) r->start = r->end = 0;
}

/* Those that have ended, the last one first. */
void sim_trace_flush(void) {
  kmbi_prof_header headers[RECORDS];
  kmbi_prof_header *list[RECORDS];
  size_t n = 0;
  sim_pump();
  for (size_t i = count; i-- > 0;) {
    headers[n] = (kmbi_prof_header){KMBI_PROF_CATEGORY_TRACING, records[i].kind,
                                    &records[i]};
    list[n] = &headers[n];
    n++;
  }
  if (n || tracer.lost)
    tracer.callback((kmbi_prof_id){1}, (kmbi_prof_id){1}, list, n, NULL,
                    tracer.lost);
  tracer.lost = 0;
  count = 0;
}
