/* libcupti.so.13. */
#include "costs.h"
#include "exports.h"

enum { INVALID_PARAMETER = 1, INVALID_KIND = 21, EMPTY = 12, QUEUE_EMPTY = 22 };

kmbi_cupti_result sim_cuptiGetVersion(uint32_t *version) {
  SIM_ENTER(cuptiGetVersion, SIM_CALL);
  *version = 130001;
  return 0;
}

kmbi_cupti_result sim_cuptiGetResultString(kmbi_cupti_result result,
                                           const char **text) {
  SIM_ENTER(cuptiGetResultString, SIM_CALL);
  switch (result) {
#define CASE(name, value, status) \
  case value:                     \
    *text = "CUPTI_ERROR_" #name; \
    return 0;
    KMBI_CUPTI_RESULT_MAP(CASE)
#undef CASE
  default:
    *text = "CUPTI_ERROR";
    return 0;
  }
}

kmbi_cupti_result sim_cuptiSubscribe(kmbi_cupti_subscriber *subscriber,
                                     kmbi_cupti_callback callback, void *user) {
  SIM_ENTER(cuptiSubscribe, SIM_CALL);
  (void)user;
  if (!callback) return INVALID_PARAMETER;
  if (sim_set()->forbidden) return sim_set()->forbidden;
  if (sim_set()->other_subscriber || sim_trace()->subscribed)
    return KMBI_CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  sim_trace()->subscribed = true;
  sim_hold(1);
  *subscriber = (kmbi_cupti_subscriber)(void *)sim_trace();
  return 0;
}

kmbi_cupti_result sim_cuptiUnsubscribe(kmbi_cupti_subscriber subscriber) {
  SIM_GUARD(cuptiUnsubscribe, SIM_CALL);
  if ((void *)subscriber != (void *)sim_trace() || !sim_trace()->subscribed)
    return INVALID_PARAMETER;
  sim_trace()->subscribed = false;
  sim_hold(-1);
  return guard.result;
}

kmbi_cupti_result
sim_cuptiActivityRegisterCallbacks(kmbi_cupti_request request,
                                   kmbi_cupti_complete complete) {
  SIM_ENTER(cuptiActivityRegisterCallbacks, SIM_CALL);
  sim_trace()->request = request;
  sim_trace()->complete = complete;
  return request && complete ? 0 : INVALID_PARAMETER;
}

kmbi_cupti_result sim_cuptiActivityEnable(kmbi_cupti_enum kind) {
  SIM_ENTER(cuptiActivityEnable, SIM_CALL);
  if (kind >= 64) return INVALID_KIND;
  if (!sim_trace()->enabled[kind]) sim_hold(1);
  sim_trace()->enabled[kind] = true;
  return 0;
}

kmbi_cupti_result sim_cuptiActivityDisable(kmbi_cupti_enum kind) {
  SIM_GUARD(cuptiActivityDisable, SIM_CALL);
  if (kind >= 64) return INVALID_KIND;
  if (sim_trace()->enabled[kind]) sim_hold(-1);
  sim_trace()->enabled[kind] = false;
  return guard.result;
}

static kmbi_cupti_result choose(uint32_t id, uint8_t enable, bool *calls) {
  if (id >= 1024) return INVALID_PARAMETER;
  if (calls[id] != (enable != 0)) sim_hold(enable ? 1 : -1);
  calls[id] = enable != 0;
  return 0;
}

/* What is switched off is off, even if the call then fails. */
kmbi_cupti_result sim_cuptiActivityEnableDriverApi(uint32_t id,
                                                   uint8_t enable) {
  SIM_GUARD(cuptiActivityEnableDriverApi, SIM_CALL);
  if (guard.result && enable) return guard.result;
  kmbi_cupti_result result = choose(id, enable, sim_trace()->driver_calls);
  return guard.result ? guard.result : result;
}

kmbi_cupti_result sim_cuptiActivityEnableRuntimeApi(uint32_t id,
                                                    uint8_t enable) {
  static bool calls[1024];
  SIM_GUARD(cuptiActivityEnableRuntimeApi, SIM_CALL);
  if (guard.result && enable) return guard.result;
  kmbi_cupti_result result = choose(id, enable, calls);
  return guard.result ? guard.result : result;
}

kmbi_cupti_result sim_cuptiActivityFlushAll(uint32_t flags) {
  SIM_ENTER(cuptiActivityFlushAll, SIM_LAUNCH);
  sim_pump();
  sim_trace_flush(flags == KMBI_CUPTI_FLUSH_FORCED);
  return 0;
}

kmbi_cupti_result sim_cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                                 void **next) {
  SIM_ENTER(cuptiActivityGetNextRecord, 0);
  uint8_t *at = *next;
  if (at) at += sim_record_size(*(uint32_t *)(void *)at);
  if (!at) at = buffer;
  if (at >= buffer + valid) return EMPTY;
  *next = at;
  return 0;
}

/* Since the last time it was asked. */
kmbi_cupti_result sim_cuptiActivityGetNumDroppedRecords(kmbi_cu_context context,
                                                        uint32_t stream,
                                                        size_t *dropped) {
  SIM_ENTER(cuptiActivityGetNumDroppedRecords, SIM_CALL);
  (void)context;
  (void)stream;
  *dropped = sim_trace()->dropped;
  sim_trace()->dropped = 0;
  return 0;
}

kmbi_cupti_result
sim_cuptiActivityPushExternalCorrelationId(kmbi_cupti_enum kind, uint64_t id) {
  SIM_ENTER(cuptiActivityPushExternalCorrelationId, SIM_CALL);
  sim_ids *ids = sim_trace_ids();
  if (ids->depth == sizeof ids->at / sizeof ids->at[0])
    return INVALID_PARAMETER;
  ids->at[ids->depth].kind = kind;
  ids->at[ids->depth++].id = id;
  return 0;
}

kmbi_cupti_result
sim_cuptiActivityPopExternalCorrelationId(kmbi_cupti_enum kind, uint64_t *id) {
  SIM_GUARD(cuptiActivityPopExternalCorrelationId, SIM_CALL);
  sim_ids *ids = sim_trace_ids();
  if (!ids->depth || ids->at[ids->depth - 1].kind != kind) return QUEUE_EMPTY;
  *id = ids->at[--ids->depth].id;
  return guard.result;
}

kmbi_cupti_result sim_cuptiGetContextId(kmbi_cu_context context, uint32_t *id) {
  SIM_ENTER(cuptiGetContextId, SIM_CALL);
  *id = context->id;
  return 0;
}

kmbi_cupti_result sim_cuptiGetTimestamp(uint64_t *ns) {
  SIM_ENTER(cuptiGetTimestamp, SIM_CALL);
  *ns = sim_trace_clock();
  return 0;
}

kmbi_cupti_result sim_cuptiGetCallbackName(kmbi_cupti_enum domain, uint32_t id,
                                           const char **name) {
  SIM_ENTER(cuptiGetCallbackName, SIM_CALL);
  *name = NULL;
  if (domain != KMBI_CUPTI_DOMAIN_DRIVER) return INVALID_PARAMETER;
  switch (id) {
#define CASE(text, number) \
  case number:             \
    *name = #text;         \
    return 0;
    KMBI_CUPTI_DRIVER_CALLS(CASE)
    CASE(cuCtxSynchronize, 17)
#undef CASE
  default:
    return INVALID_PARAMETER;
  }
}
