/* librocprofiler-sdk: a context with a buffer, one that tells names and code
 * objects, one that tells launches. */
#include "costs.h"
#include "inside.h"

enum { LOCKED = 16, INVALID = 9, NAMES = 2, LAUNCHES = 3 };

#define ENTER(field)                 \
  SIM_GUARD(prof_##field, SIM_CALL); \
  if (guard.result) return guard.result

kmbi_prof_status sim_prof_force_configure(kmbi_prof_configure configure) {
  ENTER(force_configure);
  if (sim_set()->locked || sim_trace()->configured) return LOCKED;
  sim_trace()->configured = true;
  sim_trace()->deaf = sim_hip_started();
  kmbi_prof_tool *tool =
      configure(sim_set()->prof_version, "simulated", 0, NULL);
  if (!tool || tool->size < sizeof *tool) return INVALID;
  (void)tool->initialize(NULL, tool->user);
  return 0;
}

kmbi_prof_status sim_prof_create_context(kmbi_prof_id *context) {
  ENTER(create_context);
  *context = (kmbi_prof_id){++sim_trace()->contexts};
  return 0;
}

kmbi_prof_status sim_prof_create_buffer(kmbi_prof_id context, size_t size,
                                        size_t watermark, unsigned policy,
                                        kmbi_prof_callback callback, void *user,
                                        kmbi_prof_id *buffer) {
  ENTER(create_buffer);
  if (context.value != 1 || watermark > size || user ||
      policy != KMBI_PROF_LOSSLESS)
    return INVALID;
  sim_trace()->callback = callback;
  *buffer = (kmbi_prof_id){1};
  return 0;
}

kmbi_prof_status sim_prof_configure(kmbi_prof_id context, unsigned kind,
                                    const uint32_t *operations, size_t count,
                                    kmbi_prof_id buffer) {
  ENTER(configure);
  (void)kind;
  return context.value == 1 && buffer.value == 1 && !operations && !count
             ? 0
             : INVALID;
}

kmbi_prof_status
sim_prof_configure_callback(kmbi_prof_id context, unsigned kind,
                            const uint32_t *operations, size_t count,
                            kmbi_prof_event_fn callback, void *user) {
  ENTER(configure_callback);
  bool names = context.value == NAMES && kind == KMBI_PROF_CODE_OBJECT &&
               count == 2 && operations[0] == KMBI_PROF_OBJECT &&
               operations[1] == KMBI_PROF_KERNEL_SYMBOL;
  bool launches = context.value == LAUNCHES && kind == KMBI_PROF_DISPATCH &&
                  count == 1 && operations[0] == KMBI_PROF_ENQUEUE;
  if ((!names && !launches) || user) return INVALID;
  if (names) sim_trace()->names = callback;
  if (launches) sim_trace()->launches = callback;
  return 0;
}

kmbi_prof_status sim_prof_is_valid(kmbi_prof_id context, int *valid) {
  ENTER(is_valid);
  *valid = context.value == 1 && sim_trace()->callback;
  return 0;
}

kmbi_prof_status sim_prof_start(kmbi_prof_id context) {
  ENTER(start);
  if (context.value == NAMES && sim_trace()->names) {
    sim_trace_names();
    return 0;
  }
  if (context.value == LAUNCHES && sim_trace()->launches) {
    sim_trace()->telling = true;
    return 0;
  }
  sim_trace()->started = true;
  return context.value == 1 ? 0 : INVALID;
}

kmbi_prof_status sim_prof_stop(kmbi_prof_id context) {
  SIM_GUARD(prof_stop, SIM_CALL);
  if (context.value == LAUNCHES) {
    sim_trace()->telling = false;
    return guard.result;
  }
  sim_trace()->started = false;
  return context.value == 1 ? guard.result : INVALID;
}

kmbi_prof_status sim_prof_flush(kmbi_prof_id buffer) {
  ENTER(flush);
  if (buffer.value != 1) return INVALID;
  sim_trace_flush();
  return 0;
}

kmbi_prof_status sim_prof_thread_id(uint64_t *thread) {
  ENTER(thread_id);
  *thread = 77;
  return 0;
}

kmbi_prof_status sim_prof_push(kmbi_prof_id context, uint64_t thread,
                               kmbi_prof_id id) {
  ENTER(push);
  unsigned *depth = NULL;
  uint64_t *ids = sim_trace_ids(&depth);
  if (context.value != 1 || thread != 77 || *depth == 8) return INVALID;
  ids[(*depth)++] = id.value;
  return 0;
}

kmbi_prof_status sim_prof_pop(kmbi_prof_id context, uint64_t thread,
                              kmbi_prof_id *id) {
  SIM_GUARD(prof_pop, SIM_CALL);
  unsigned *depth = NULL;
  uint64_t *ids = sim_trace_ids(&depth);
  if (context.value != 1 || thread != 77 || !*depth) return INVALID;
  id->value = ids[--*depth];
  return guard.result;
}
