/* The process's one CUPTI session. */
#include "cupti_session.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "records.h"

#define WAIT_NS 2e9
#define NAP_NS 200000

/* From a flush to the reading of what it gave: another thread's flush takes the
 * records' names back. */
static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by `lock`, which is never held while CUPTI may call back. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cupti_client *clients;
static uint32_t last_serial;
static unsigned tracing; /* runs that are traced now */
static unsigned quiet;   /* runs that must not be */
static bool registered;
static bool subscribed;
static bool enabled;
static bool used;       /* something was enabled once */
static bool every_call; /* all calls are recorded, not only some */
static bool probed;     /* whether single calls suffice is known */
static bool recording;  /* there is a recorder, and then no client; `change` */
static kmbi_cupti_subscriber subscriber;
/* Turns changes of what is enabled, and of who is a client, into one after the
 * other; taken before `lock`. */
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

static const kmbi_cupti_enum kinds[] = {
    KMBI_CUPTI_KIND_CONCURRENT_KERNEL, KMBI_CUPTI_KIND_MEMCPY,
    KMBI_CUPTI_KIND_MEMCPY2, KMBI_CUPTI_KIND_MEMSET,
    KMBI_CUPTI_KIND_EXTERNAL_CORRELATION};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

kmb_status kmbi_cupti_status_of(kmbi_cupti_result result) {
  switch (result) {
  case KMBI_CUPTI_SUCCESS:
    return KMB_OK;
#define CASE(name, value, status) \
  case value:                     \
    return status;
    KMBI_CUPTI_RESULT_MAP(CASE)
#undef CASE
  default:
    return KMB_ERR_VENDOR;
  }
}

static const char *cure_of(kmb_status status) {
  if (status == KMB_ERR_BUSY)
    return "; another tool in this process (a profiler, a sanitizer) holds "
           "CUPTI: end it, or use the timer EVENT or GRAPH";
  if (status == KMB_ERR_PERM)
    return "; the driver reserves tracing for administrators";
  return "";
}

static kmb_status check(kmbi_cuda *self, const kmbi_cupti_api *api,
                        kmbi_cupti_result result, const char *call) {
  if (result == KMBI_CUPTI_SUCCESS) return KMB_OK;
  const char *text = NULL;
  kmb_status status = kmbi_cupti_status_of(result);
  if (api->cuptiGetResultString(result, &text) || !text) text = "unknown";
  return KMBI_CUDA_FAIL(self, status, (int64_t)result, "%s failed: %s (%u)%s",
                        call, text, result, cure_of(status));
}

#define CUPTI(self, api, name, ...) \
  check((self), (api), (api)->name(__VA_ARGS__), #name)

static const kmbi_cupti_api *get_api(kmbi_cuda *self, kmb_status *status) {
  kmbi_cuda_failure failure;
  const kmbi_cupti_api *api = kmbi_cuda_cupti(&failure);
  *status = KMB_OK;
  if (!api)
    *status = KMBI_CUDA_FAIL(self, failure.status, failure.vendor, "%s",
                             failure.text);
  return api;
}

/* Calls whose records carry the external ids. Without the choice of single
 * calls all of them are recorded. */

static kmb_status choose_calls(kmbi_cuda *self, const kmbi_cupti_api *api,
                               bool on) {
  static const uint32_t driver[] = {
#define ID(name, id) id,
      KMBI_CUPTI_DRIVER_CALLS(ID)};
  static const uint32_t runtime[] = {KMBI_CUPTI_RUNTIME_CALLS(ID)
#undef ID
  };
  kmb_status status = KMB_OK;
  if (every_call || !api->cuptiActivityEnableDriverApi ||
      !api->cuptiActivityEnableRuntimeApi) {
    kmbi_cupti_enum both[] = {KMBI_CUPTI_KIND_DRIVER, KMBI_CUPTI_KIND_RUNTIME};
    for (int i = 0; !status && on && i < 2; i++)
      status = CUPTI(self, api, cuptiActivityEnable, both[i]);
    for (int i = 0; !on && i < 2; i++)
      (void)api->cuptiActivityDisable(both[i]);
    return status;
  }
  /* Off is off: one that fails does not keep the others on. */
  for (size_t i = 0; !on && i < sizeof driver / sizeof driver[0]; i++)
    (void)api->cuptiActivityEnableDriverApi(driver[i], 0);
  for (size_t i = 0; !on && i < sizeof runtime / sizeof runtime[0]; i++)
    (void)api->cuptiActivityEnableRuntimeApi(runtime[i], 0);
  if (!on) return KMB_OK;
  for (size_t i = 0; !status && i < sizeof driver / sizeof driver[0]; i++)
    status = CUPTI(self, api, cuptiActivityEnableDriverApi, driver[i], 1);
  for (size_t i = 0; !status && i < sizeof runtime / sizeof runtime[0]; i++)
    status = CUPTI(self, api, cuptiActivityEnableRuntimeApi, runtime[i], 1);
  return status;
}

static kmb_status enable_all(kmbi_cuda *self, const kmbi_cupti_api *api) {
  kmb_status status = KMB_OK;
  int done = 0;
  for (; !status && done < KINDS; done++)
    status = CUPTI(self, api, cuptiActivityEnable, kinds[done]);
  if (!status) status = choose_calls(self, api, true);
  if (!status) return status;
  (void)choose_calls(self, api, false);
  while (done-- > 0)
    (void)api->cuptiActivityDisable(kinds[done]);
  return status;
}

static void disable_all(kmbi_cuda *self, const kmbi_cupti_api *api) {
  (void)choose_calls(self, api, false);
  for (int i = KINDS; i-- > 0;)
    (void)api->cuptiActivityDisable(kinds[i]);
}

/* Subscribing tells whether somebody else holds CUPTI. Under `change`. */
static kmb_status subscribe(kmbi_cuda *self, const kmbi_cupti_api *api) {
  if (subscribed) return KMB_OK;
  kmb_status status = CUPTI(self, api, cuptiSubscribe, &subscriber,
                            kmbi_cupti_called_back, NULL);
  if (status) return status;
  if (!registered)
    status = CUPTI(self, api, cuptiActivityRegisterCallbacks,
                   kmbi_cupti_buffer_request, kmbi_cupti_buffer_complete);
  if (status) {
    (void)api->cuptiUnsubscribe(subscriber);
    return status;
  }
  registered = true;
  subscribed = true;
  return KMB_OK;
}

/* Under `change`. */
static kmb_status enable(kmbi_cuda *self, const kmbi_cupti_api *api) {
  if (!subscribed)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INTERNAL, 0,
                          "CUPTI is enabled without a subscription");
  kmb_status status = enabled ? KMB_OK : enable_all(self, api);
  if (!status) enabled = used = true;
  return status;
}

static kmb_status set_enabled(kmbi_cuda *self, const kmbi_cupti_api *api,
                              bool on) {
  kmb_status status = KMB_OK;
  pthread_mutex_lock(&change);
  if (on) status = enable(self, api);
  if (!on && enabled) disable_all(self, api);
  if (!on) enabled = false;
  pthread_mutex_unlock(&change);
  return status;
}

bool kmbi_cupti_was_used(void) {
  pthread_mutex_lock(&change);
  bool before = used;
  pthread_mutex_unlock(&change);
  return before;
}

kmb_status kmbi_cupti_look(kmbi_cuda *self) {
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  pthread_mutex_lock(&change);
  bool ours = subscribed;
  if (!ours) status = subscribe(self, api);
  if (!ours && !status) {
    (void)api->cuptiUnsubscribe(subscriber);
    subscribed = false;
  }
  pthread_mutex_unlock(&change);
  return status;
}

/* Another thread may have done it meanwhile. */
static kmb_status widen(kmbi_cuda *self, const kmbi_cupti_api *api) {
  kmb_status status = KMB_OK;
  pthread_mutex_lock(&change);
  bool first = !every_call;
  if (first) {
    if (enabled) disable_all(self, api);
    enabled = false;
    every_call = true;
    status = enable(self, api);
  }
  pthread_mutex_unlock(&change);
  if (first)
    self->host->log(self->host->ctx, KMB_LOG_INFO,
                    "CUPTI gives no external ids for single calls: all calls "
                    "are recorded in this process");
  return status;
}

const char *kmbi_cupti_correlation(void) {
  pthread_mutex_lock(&change);
  const char *text = every_call ? "every call" : "single calls";
  if (!probed) text = NULL;
  pthread_mutex_unlock(&change);
  return text;
}

/* Whoever traces and whoever must not be traced wait for each other. */

static bool enter(unsigned *ours, const unsigned *theirs) {
  double start = kmbi_cuda_now();
  for (;;) {
    pthread_mutex_lock(&lock);
    bool in = *theirs == 0;
    if (in) ++*ours;
    pthread_mutex_unlock(&lock);
    if (in) return true;
    if (kmbi_cuda_now() - start > WAIT_NS) return false;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
}

static void leave(unsigned *ours) {
  pthread_mutex_lock(&lock);
  --*ours;
  pthread_mutex_unlock(&lock);
}

kmb_status kmbi_cupti_trace_begin(kmbi_cuda *self) {
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  if (!enter(&tracing, &quiet))
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "another thread measures with EVENT or GRAPH, which "
                          "tracing would disturb");
  status = set_enabled(self, api, true);
  if (status) leave(&tracing);
  return status;
}

void kmbi_cupti_trace_end(void) {
  leave(&tracing);
}

kmb_status kmbi_cupti_quiet_begin(kmbi_cuda *self) {
  if (!enter(&quiet, &tracing))
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "another thread traces through CUPTI, which would "
                          "disturb EVENT and GRAPH");
  pthread_mutex_lock(&change);
  bool on = enabled;
  pthread_mutex_unlock(&change);
  if (!on) return KMB_OK;
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (api) status = set_enabled(self, api, false);
  if (status) leave(&quiet);
  return status;
}

void kmbi_cupti_quiet_end(void) {
  leave(&quiet);
}

/* Clients. */

static kmb_status busy_recording(kmbi_cuda *self) {
  return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                        "this process is being recorded: end the recording "
                        "(kmb_trace_end) first");
}

static kmb_status join(kmbi_cuda *self, const kmbi_cupti_api *api,
                       kmbi_cupti_client *client) {
  pthread_mutex_lock(&change);
  kmb_status status = recording ? busy_recording(self) : subscribe(self, api);
  if (!status) {
    pthread_mutex_lock(&lock);
    client->serial = ++last_serial;
    client->next = clients;
    clients = client;
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&change);
  if (status) return status;
  status = kmbi_cupti_trace_begin(self);
  if (!status) kmbi_cupti_trace_end();
  if (!status)
    status = CUPTI(self, api, cuptiGetContextId, self->space->context,
                   &client->context);
  return status;
}

kmb_status kmbi_cupti_open(kmbi_cuda *self, kmbi_cupti_client **out) {
  const kmb_host *host = self->host;
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  kmbi_cupti_client *client =
      host->alloc(host->ctx, sizeof *client, _Alignof(kmbi_cupti_client));
  if (!client)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0, "no memory for a tracer");
  memset(client, 0, sizeof *client);
  status = join(self, api, client);
  if (status) {
    kmbi_cupti_close(self, client);
    return status;
  }
  *out = client;
  return KMB_OK;
}

/* True if none is left. */
static bool remove_client(const kmbi_cupti_client *client) {
  pthread_mutex_lock(&lock);
  for (kmbi_cupti_client **at = &clients; *at; at = &(*at)->next)
    if (*at == client) {
      *at = client->next;
      break;
    }
  bool last = !clients;
  pthread_mutex_unlock(&lock);
  return last;
}

/* Under `change`. */
static void end_session(kmbi_cuda *self, const kmbi_cupti_api *api) {
  if (enabled) disable_all(self, api);
  enabled = false;
  if (subscribed) {
    (void)api->cuptiActivityFlushAll(KMBI_CUPTI_FLUSH_FORCED);
    kmbi_cupti_buffers_drop();
    (void)api->cuptiUnsubscribe(subscriber);
  }
  subscribed = false;
}

void kmbi_cupti_close(kmbi_cuda *self, kmbi_cupti_client *client) {
  const kmb_host *host = self->host;
  kmbi_cuda_failure failure;
  const kmbi_cupti_api *api = kmbi_cuda_cupti(&failure);
  if (self->lost) {
    /* It may block whoever asks CUPTI about it, who then holds `change`. */
    (void)remove_client(client);
  } else {
    pthread_mutex_lock(&change);
    if (remove_client(client) && api) end_session(self, api);
    pthread_mutex_unlock(&change);
  }
  /* Grown on CUPTI's threads, see records.c. */
  free(client->links);
  free(client->ops);
  kmbi_cupti_names_release(&client->names);
  host->free(host->ctx, client, sizeof *client);
}

/* Records. */

kmb_status kmbi_cupti_push(kmbi_cuda *self, const kmbi_cupti_client *client,
                           uint32_t iteration) {
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  uint64_t id = (uint64_t)client->serial << 32 | iteration;
  return CUPTI(self, api, cuptiActivityPushExternalCorrelationId,
               KMBI_CUPTI_EXTERNAL_CUSTOM2, id);
}

kmb_status kmbi_cupti_pop(kmbi_cuda *self) {
  kmb_status status = KMB_OK;
  uint64_t id = 0;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  return CUPTI(self, api, cuptiActivityPopExternalCorrelationId,
               KMBI_CUPTI_EXTERNAL_CUSTOM2, &id);
}

void kmbi_cupti_clear(kmbi_cupti_client *client) {
  pthread_mutex_lock(&lock);
  client->link_count = 0;
  client->op_count = 0;
  client->no_memory = false;
  pthread_mutex_unlock(&lock);
}

void kmbi_cupti_hold(void) {
  pthread_mutex_lock(&lock);
}

void kmbi_cupti_release(void) {
  pthread_mutex_unlock(&lock);
}

kmb_status kmbi_cupti_now(kmbi_cuda *self, double *ns) {
  uint64_t now = 0;
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (api) status = CUPTI(self, api, cuptiGetTimestamp, &now);
  *ns = (double)now;
  return status;
}

kmb_status kmbi_cupti_collect(kmbi_cuda *self, kmbi_cupti_client *client,
                              bool forced) {
  kmb_status status = KMB_OK;
  size_t dropped = 0;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  pthread_mutex_lock(&collecting);
  status = CUPTI(self, api, cuptiActivityFlushAll,
                 forced ? KMBI_CUPTI_FLUSH_FORCED : 0);
  /* A count that cannot be had is not a count of none. */
  if (!status)
    status =
        CUPTI(self, api, cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped);
  /* What was flushed is read even so: later its names would be gone. */
  pthread_mutex_lock(&lock);
  for (kmbi_cupti_client *c = clients; c; c = c->next)
    c->dropped += dropped;
  kmbi_cupti_buffers_read(api, clients);
  bool no_memory = client->no_memory;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&collecting);
  if (status) return status;
  if (no_memory)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the tracer's records");
  return KMB_OK;
}

/* Recording. */

enum { DEVICE_KINDS = 4 }; /* of `kinds`: operations */

static void stop_recording(const kmbi_cupti_api *api) {
  static const kmbi_cupti_enum calls[] = {KMBI_CUPTI_KIND_DRIVER,
                                          KMBI_CUPTI_KIND_RUNTIME};
  for (int i = 0; i < 2; i++)
    (void)api->cuptiActivityDisable(calls[i]);
  for (int i = DEVICE_KINDS; i-- > 0;)
    (void)api->cuptiActivityDisable(kinds[i]);
}

/* Under `change`. What was counted as lost before is not the recording's. */
static kmb_status start_recording(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  size_t before = 0;
  kmb_status status = KMB_OK;
  kmbi_cupti_buffers_record(r);
  for (int i = 0; !status && i < DEVICE_KINDS; i++)
    status = CUPTI(self, r->api, cuptiActivityEnable, kinds[i]);
  if (!status && r->with_calls)
    status = CUPTI(self, r->api, cuptiActivityEnable, KMBI_CUPTI_KIND_RUNTIME);
  if (!status && r->with_calls)
    status = CUPTI(self, r->api, cuptiActivityEnable, KMBI_CUPTI_KIND_DRIVER);
  if (!status)
    status = CUPTI(self, r->api, cuptiActivityGetNumDroppedRecords, NULL, 0,
                   &before);
  if (!status) return KMB_OK;
  stop_recording(r->api);
  kmbi_cupti_buffers_record(NULL);
  return status;
}

/* Under `change`. */
static kmb_status can_begin(kmbi_cuda *self) {
  if (recording) return busy_recording(self);
  pthread_mutex_lock(&lock);
  bool measured = clients != NULL;
  pthread_mutex_unlock(&lock);
  if (measured)
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "a measurement with TRACE runs in this process: "
                          "record before or after it");
  return KMB_OK;
}

/* Under `change`. */
static kmb_status record(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  kmb_status status = can_begin(self);
  if (!status) status = subscribe(self, r->api);
  if (status) return status;
  status = start_recording(self, r);
  if (status)
    end_session(self, r->api);
  else
    recording = used = true;
  return status;
}

kmb_status kmbi_cupti_record_begin(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  kmb_status status = KMB_OK;
  r->api = get_api(self, &status);
  if (status) return status;
  if (!enter(&tracing, &quiet))
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "another thread measures with EVENT or GRAPH, which "
                          "recording would disturb");
  pthread_mutex_lock(&change);
  status = record(self, r);
  pthread_mutex_unlock(&change);
  if (status) leave(&tracing);
  return status;
}

/* What is complete comes first: forced, records come that are not. */
static kmb_status fetch(kmbi_cuda *self, const kmbi_cupti_recorder *r,
                        size_t *dropped) {
  kmb_status status = CUPTI(self, r->api, cuptiActivityFlushAll, 0);
  stop_recording(r->api);
  if (!status)
    status =
        CUPTI(self, r->api, cuptiActivityFlushAll, KMBI_CUPTI_FLUSH_FORCED);
  if (!status)
    status = CUPTI(self, r->api, cuptiActivityGetNumDroppedRecords, NULL, 0,
                   dropped);
  return status;
}

kmb_status kmbi_cupti_record_end(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  kmb_status status = KMB_OK;
  size_t dropped = 0;
  pthread_mutex_lock(&change);
  if (self->lost) {
    status =
        KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                       "cuda:%d was lost while it was recorded", self->ordinal);
  } else {
    status = fetch(self, r, &dropped);
  }
  kmbi_cupti_buffers_record(NULL);
  if (!self->lost) end_session(self, r->api);
  recording = false;
  pthread_mutex_unlock(&change);
  leave(&tracing);
  r->dropped += dropped;
  if (!status && r->broken)
    status = check(self, r->api, r->broken, "cuptiActivityGetNextRecord");
  if (!status && r->no_memory)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                            "no memory for all that was recorded");
  return status;
}

/* Captures of code. */

static const struct {
  kmbi_cupti_enum domain;
  uint32_t id;
} code_calls[] = {{KMBI_CUPTI_DOMAIN_RESOURCE, KMBI_CUPTI_MODULE_LOADED},
                  {KMBI_CUPTI_DOMAIN_RESOURCE, KMBI_CUPTI_MODULE_UNLOAD},
#define ROW(name, id, how) {KMBI_CUPTI_DOMAIN_DRIVER, id},
                  KMBI_CUPTI_LAUNCH_CALLS(ROW)
#undef ROW
};
enum { CODE_CALLS = sizeof code_calls / sizeof code_calls[0] };

/* Off is off: one that fails does not keep the others on. */
static void stop_code(const kmbi_cupti_api *api) {
  for (int i = 0; i < CODE_CALLS; i++)
    (void)api->cuptiEnableCallback(0, subscriber, code_calls[i].domain,
                                   code_calls[i].id);
  kmbi_cupti_code_set(NULL);
}

/* Under `change`. */
static kmb_status start_code(kmbi_cuda *self, const kmbi_cupti_api *api,
                             kmbi_cupti_coder *coder) {
  kmb_status status = can_begin(self);
  if (!status) status = subscribe(self, api);
  if (status) return status;
  kmbi_cupti_code_set(coder);
  for (int i = 0; i < CODE_CALLS && !status; i++)
    status = CUPTI(self, api, cuptiEnableCallback, 1, subscriber,
                   code_calls[i].domain, code_calls[i].id);
  if (status) {
    stop_code(api);
    end_session(self, api);
    return status;
  }
  recording = used = true;
  return KMB_OK;
}

kmb_status kmbi_cupti_code_begin(kmbi_cuda *self, kmbi_cupti_coder *coder) {
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  if (!api->cuptiEnableCallback)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "this CUPTI has no cuptiEnableCallback");
  if (!enter(&tracing, &quiet))
    return KMBI_CUDA_FAIL(self, KMB_ERR_BUSY, 0,
                          "another thread measures with EVENT or GRAPH, which "
                          "a capture of code would disturb");
  pthread_mutex_lock(&change);
  status = start_code(self, api, coder);
  pthread_mutex_unlock(&change);
  if (status) leave(&tracing);
  return status;
}

kmb_status kmbi_cupti_code_end(kmbi_cuda *self) {
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  pthread_mutex_lock(&change);
  kmbi_cupti_code_set(NULL);
  if (self->lost)
    status = KMBI_CUDA_FAIL(self, KMB_ERR_LOST, 0,
                            "cuda:%d was lost while its code was captured",
                            self->ordinal);
  if (!self->lost && api) stop_code(api);
  if (!self->lost && api) end_session(self, api);
  recording = false;
  pthread_mutex_unlock(&change);
  leave(&tracing);
  return status;
}

/* One traced launch of ours: false if its records lack the external id. */
static kmb_status try_once(kmbi_cuda *self, kmbi_cupti_client *client,
                           bool *linked) {
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = kmbi_cupti_push(self, client, client->next_id++);
  if (status) return status;
  status = kmbi_cuda_launch(self, stream, KMBI_CUDA_empty, 1, NULL);
  kmb_status popped = kmbi_cupti_pop(self);
  if (!status) status = popped;
  if (!status) status = kmbi_cuda_finish(self, stream);
  if (!status) status = kmbi_cupti_collect(self, client, true);
  pthread_mutex_lock(&lock);
  *linked = client->link_count || !client->op_count;
  pthread_mutex_unlock(&lock);
  kmbi_cupti_clear(client);
  return status;
}

kmb_status kmbi_cupti_probe(kmbi_cuda *self, kmbi_cupti_client *client) {
  bool linked = true;
  kmb_status status = KMB_OK;
  const kmbi_cupti_api *api = get_api(self, &status);
  if (!api) return status;
  pthread_mutex_lock(&change);
  bool known = probed;
  pthread_mutex_unlock(&change);
  if (known) return KMB_OK;
  status = try_once(self, client, &linked);
  if (!status && !linked) status = widen(self, api);
  if (status) return status;
  pthread_mutex_lock(&change);
  probed = true;
  pthread_mutex_unlock(&change);
  return KMB_OK;
}
