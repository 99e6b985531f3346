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
  tracer.started = tracer.telling = false;
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
    r->of.dispatch.kernel = op->kernel_id;
  } else {
    r->of.copy.bytes = op->bytes;
  }
  if (each(sim_set()->timeless_every)) r->start = r->end = 0;
}

static void tell(kmbi_prof_event_fn whom, uint32_t kind, uint32_t operation,
                 uint32_t phase, const void *payload) {
  kmbi_prof_event event = {.context = 2};
  const kmbi_prof_subject subject = {kind, operation, phase, 0, payload};
  memcpy(event.rest + (sim_set()->prof_version >= 10000), &subject,
         sizeof subject);
  whom(event, NULL, NULL);
}

static void tell_name(uint64_t id, uint64_t code_object) {
  const sim_kernel *kernel = sim_kernel_by_id(id);
  char name[64];
  kmbi_prof_symbol symbol = {.size = 96,
                             .kernel = id,
                             .code_object = code_object,
                             .name = name,
                             .group_bytes = kernel->group_bytes};
  snprintf(name, sizeof name, "%s.kd", kernel->name);
  tell(tracer.names, KMBI_PROF_CODE_OBJECT, KMBI_PROF_KERNEL_SYMBOL,
       KMBI_PROF_LOAD, &symbol);
  symbol.kernel += 1000000;
  tell(tracer.names, KMBI_PROF_CODE_OBJECT, KMBI_PROF_KERNEL_SYMBOL, 2,
       &symbol);
}

/* Every kernel that there is, the last one first, twice, and what is no load
 * of a symbol. */
void sim_trace_names(void) {
  tracer.naming = true;
  for (size_t i = 2 * sim_kernel_count(); i-- > 0;)
    tell_name(i % sim_kernel_count() + 1, 0);
}

/* Its number, from 1. An object is told before its kernels. */
uint64_t sim_trace_code(const void *image, size_t size) {
  uint64_t number = ++tracer.code_objects;
  uint64_t told = sim_set()->record_bytes;
  kmbi_prof_object object = {.size = told ? told : sizeof object,
                             .code_object = number,
                             .uri = "memory://1#offset=0x1000&size=9",
                             .storage = sim_set()->in_file ? 1 : 2,
                             .base = (uintptr_t)image,
                             .bytes = size - sim_set()->cut};
  if (!tracer.naming || tracer.deaf) return number;
  tell(tracer.names, KMBI_PROF_CODE_OBJECT, KMBI_PROF_OBJECT, KMBI_PROF_LOAD,
       &object);
  object.code_object += 1000000;
  tell(tracer.names, KMBI_PROF_CODE_OBJECT, KMBI_PROF_OBJECT, 2, &object);
  for (size_t i = 1; i <= sim_kernel_count() && !sim_set()->nameless; i++)
    if (sim_code_has(image, size, sim_kernel_by_id(i)))
      tell_name(SIM_IDS * number + i, number);
  return number;
}

/* Before and after; and what rocprofiler tells of nothing else. */
void sim_trace_launch(const sim_op *op, int device) {
  uint64_t told = sim_set()->record_bytes;
  kmbi_prof_dispatch d = {
      .size = told ? told : 152,
      .info = {.size = 72,
               .agent = 900 + (uint64_t)device,
               .kernel = op->kernel_id,
               .group_bytes = op->kernel->group_bytes + op->shared}};
  if (!tracer.telling || tracer.deaf || sim_set()->untold) return;
  for (int i = 0; i < 3; i++) {
    d.info.block[i] = op->block[i];
    d.info.grid[i] = op->grid[i] * op->block[i] - (!i && sim_set()->ragged);
  }
  tell(tracer.launches, KMBI_PROF_DISPATCH, KMBI_PROF_ENQUEUE, KMBI_PROF_ENTER,
       &d);
  tell(tracer.launches, KMBI_PROF_DISPATCH, KMBI_PROF_ENQUEUE, 2, &d);
  tell(tracer.launches, KMBI_PROF_DISPATCH, 2, 0, &d);
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
