/* What rocprofiler-sdk would record: kernels and copies, once they have ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  if (op->kind == KERNEL) {
    r->of.dispatch.queue = 7;
    r->of.dispatch.kernel = sim_kernel_id(op->kernel);
  } else {
    r->of.copy.bytes = op->bytes;
  }
  if (each(sim_set()->timeless_every)) r->start = r->end = 0;
}

/* Every kernel that there is, the last one first, twice, and what is no load
 * of a symbol. */
void sim_trace_names(uint32_t version) {
  char name[64];
  for (size_t i = 2 * sim_kernel_count(); i-- > 0;) {
    uint64_t id = i % sim_kernel_count() + 1;
    kmbi_prof_event event = {.context = 2};
    kmbi_prof_symbol symbol = {sizeof symbol, id, 1, name};
    kmbi_prof_subject subject = {KMBI_PROF_CODE_OBJECT, KMBI_PROF_KERNEL_SYMBOL,
                                 KMBI_PROF_LOAD, 0, &symbol};
    snprintf(name, sizeof name, "%s.kd", sim_kernel_by_id(id)->name);
    memcpy(event.rest + (version >= 10000), &subject, sizeof subject);
    tracer.names(event, NULL, NULL);
    subject.phase = 2;
    symbol.kernel += 1000;
    memcpy(event.rest + (version >= 10000), &subject, sizeof subject);
    tracer.names(event, NULL, NULL);
  }
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
