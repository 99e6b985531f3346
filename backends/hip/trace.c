/* The process's one tracing context. */
#include "trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define WAIT_NS 2e9
#define NAP_NS 200000
enum { BUFFER_BYTES = 1 << 20, TRIES = 50 };

/* Guarded by `lock`, which is never held while rocprofiler may call back. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guards configuring, which calls back. */
static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
static kmbi_prof_api prof;
static kmbi_hip_failure failed = {0, KMB_ERR_UNAVAILABLE,
                                  "tracing was not asked for when HIP started: "
                                  "open the device as \"hip:0:trace\" before "
                                  "anything in the process uses HIP"};
static bool tried;
static kmbi_prof_id context, buffer;
static kmbi_prof_id symbols;  /* context of the kernels' names, always on */
static kmbi_prof_id launches; /* of what is enqueued */
static kmbi_prof_status launches_refused;
static unsigned tracing; /* runs that are traced now: at most one */
static unsigned quiet;   /* runs that must not be */
static kmbi_hip_op *ops;
static size_t op_count, op_capacity;
static uint64_t dropped;
static bool no_memory;

static void add(kmbi_hip_op op) {
  if (op_count == op_capacity) {
    size_t larger = op_capacity ? 2 * op_capacity : 1024;
    kmbi_hip_op *fresh = larger > SIZE_MAX / sizeof *ops
                             ? NULL
                             : realloc(ops, larger * sizeof *ops);
    if (!fresh) {
      no_memory = true;
      return;
    }
    ops = fresh;
    op_capacity = larger;
  }
  ops[op_count++] = op;
}

static bool reaches(const kmbi_prof_record *r, size_t end) {
  return r->size >= end;
}

static kmbi_hip_op read_record(uint32_t kind, const kmbi_prof_record *r) {
  kmbi_hip_op op = {.start = r->start,
                    .end = r->end,
                    .iteration = (uint32_t)(r->external_id - 1)};
  if (kind == KMBI_PROF_MEMORY_COPY) {
    if (reaches(r, offsetof(kmbi_prof_record, of.copy.bytes) + 8))
      op.bytes = r->of.copy.bytes;
  } else if (reaches(r, offsetof(kmbi_prof_record, of.dispatch.kernel) + 8)) {
    op.queue = (uint32_t)r->of.dispatch.queue;
    op.kernel = r->of.dispatch.kernel;
  }
  op.is_copy = kind == KMBI_PROF_MEMORY_COPY;
  return op;
}

/* On a thread of rocprofiler's. Ids are iterations counted from 1. */
static void take_records(kmbi_prof_id of, kmbi_prof_id from,
                         kmbi_prof_header **headers, size_t count, void *user,
                         uint64_t lost) {
  (void)of;
  (void)from;
  (void)user;
  pthread_mutex_lock(&lock);
  dropped += lost;
  for (size_t i = 0; i < count; i++) {
    const kmbi_prof_record *r = headers[i]->record;
    if (headers[i]->category != KMBI_PROF_CATEGORY_TRACING ||
        (headers[i]->kind != KMBI_PROF_KERNEL_DISPATCH &&
         headers[i]->kind != KMBI_PROF_MEMORY_COPY) ||
        r->external_id == 0 || r->external_id > UINT32_MAX)
      continue;
    add(read_record(headers[i]->kind, r));
  }
  pthread_mutex_unlock(&lock);
}

/* Without them kernels have no names, and are traced all the same. */
static kmbi_prof_status ask_for_names(void) {
  static const uint32_t operations[] = {KMBI_PROF_OBJECT,
                                        KMBI_PROF_KERNEL_SYMBOL};
  kmbi_prof_status status = prof.create_context(&symbols);
  if (!status)
    status = prof.configure_callback(symbols, KMBI_PROF_CODE_OBJECT, operations,
                                     2, kmbi_hip_names_take, NULL);
  return status ? status : prof.start(symbols);
}

/* A launch whose code has no name is of no use. */
static void ask_for_launches(kmbi_prof_status status) {
  static const uint32_t operations[] = {KMBI_PROF_ENQUEUE};
  if (!status) status = prof.create_context(&launches);
  if (!status)
    status = prof.configure_callback(launches, KMBI_PROF_DISPATCH, operations,
                                     1, kmbi_hip_code_launched, NULL);
  launches_refused = status;
}

/* Called by rocprofiler while it is configured; no call of HIP is allowed. */
static int initialize(void (*finalize)(uint32_t), void *user) {
  int valid = 0;
  (void)finalize;
  (void)user;
  kmbi_prof_status status = prof.create_context(&context);
  if (!status)
    status =
        prof.create_buffer(context, BUFFER_BYTES, BUFFER_BYTES / 2,
                           KMBI_PROF_LOSSLESS, take_records, NULL, &buffer);
  if (!status)
    status =
        prof.configure(context, KMBI_PROF_KERNEL_DISPATCH, NULL, 0, buffer);
  if (!status)
    status = prof.configure(context, KMBI_PROF_MEMORY_COPY, NULL, 0, buffer);
  if (!status) status = prof.is_valid(context, &valid);
  if (status || !valid)
    kmbi_hip_failed(&failed, KMB_ERR_UNAVAILABLE, (int64_t)status,
                    "rocprofiler-sdk refuses to trace kernels (%u)", status);
  else
    failed.status = KMB_OK;
  ask_for_launches(ask_for_names());
  return status || !valid ? -1 : 0;
}

static kmbi_prof_tool *configure(uint32_t version, const char *runtime,
                                 uint32_t priority, void *client) {
  static kmbi_prof_tool tool = {sizeof tool, initialize, NULL, NULL};
  kmbi_hip_names_version(version);
  (void)runtime;
  (void)priority;
  (void)client;
  return &tool;
}

static void load(void) {
  static const char *const names[] = {"librocprofiler-sdk.so.1",
                                      "librocprofiler-sdk.so.0", NULL};
  void *library = kmbi_hip_open(names, "librocprofiler-sdk.so");
  if (!library) {
    kmbi_hip_failed(
        &failed, KMB_ERR_UNAVAILABLE, 0,
        "rocprofiler-sdk is absent (librocprofiler-sdk.so.1 or .0)");
    return;
  }
#define NAME(field, symbol, arguments) REQUIRED symbol "\0"
  const char *missing =
      kmbi_hip_look_up(library, KMBI_PROF_MAP(NAME), &prof.force_configure);
#undef NAME
  if (missing) {
    kmbi_hip_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                    "librocprofiler-sdk.so lacks %s", missing);
    return;
  }
  kmbi_hip_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                  "rocprofiler-sdk did not let itself be configured");
  kmbi_prof_status status = prof.force_configure(configure);
  if (status)
    kmbi_hip_failed(&failed, KMB_ERR_BUSY, (int64_t)status,
                    "rocprofiler-sdk is configured already (%u): a profiler is "
                    "attached, or HIP was started before \"hip:0:trace\" was "
                    "opened; use GRAPH or EVENT",
                    status);
}

void kmbi_hip_trace_configure(void) {
  pthread_mutex_lock(&once);
  if (!tried) load();
  tried = true;
  pthread_mutex_unlock(&once);
}

/* Whoever traces and whoever must not be traced wait for each other. */

static bool enter(unsigned *ours, const unsigned *theirs, bool alone) {
  double start = kmbi_hip_now();
  for (;;) {
    pthread_mutex_lock(&lock);
    bool in = *theirs == 0 && !(alone && *ours);
    if (in) ++*ours;
    pthread_mutex_unlock(&lock);
    if (in) return true;
    if (kmbi_hip_now() - start > WAIT_NS) return false;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
}

static void leave(unsigned *ours) {
  pthread_mutex_lock(&lock);
  --*ours;
  pthread_mutex_unlock(&lock);
}

/* Whether rocprofiler was configured. */
static kmb_status check(kmbi_hip *self) {
  pthread_mutex_lock(&once);
  kmbi_hip_failure failure = failed;
  pthread_mutex_unlock(&once);
  if (!failure.status) return KMB_OK;
  return KMBI_HIP_FAIL(self, failure.status, failure.vendor, "%s",
                       failure.text);
}

static kmb_status begin(kmbi_hip *self, kmbi_prof_id which) {
  if (!enter(&tracing, &quiet, true))
    return KMBI_HIP_FAIL(self, KMB_ERR_BUSY, 0,
                         "another thread measures, which tracing would "
                         "disturb");
  kmbi_prof_status status = prof.start(which);
  if (!status) return KMB_OK;
  leave(&tracing);
  return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, (int64_t)status,
                       "rocprofiler_start_context failed with %u", status);
}

kmb_status kmbi_hip_trace_begin(kmbi_hip *self) {
  kmb_status status = check(self);
  return status ? status : begin(self, context);
}

void kmbi_hip_trace_end(void) {
  (void)prof.stop(context);
  leave(&tracing);
}

kmb_status kmbi_hip_launches_begin(kmbi_hip *self) {
  kmb_status status = check(self);
  if (status) return status;
  if (launches_refused)
    return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, (int64_t)launches_refused,
                         "this rocprofiler-sdk does not tell of code objects "
                         "and of launches as they are enqueued (%u)",
                         launches_refused);
  return begin(self, launches);
}

void kmbi_hip_launches_end(void) {
  (void)prof.stop(launches);
  leave(&tracing);
}

kmb_status kmbi_hip_quiet_begin(kmbi_hip *self) {
  if (enter(&quiet, &tracing, false)) return KMB_OK;
  return KMBI_HIP_FAIL(self, KMB_ERR_BUSY, 0,
                       "another thread traces, which would disturb EVENT and "
                       "GRAPH");
}

void kmbi_hip_quiet_end(void) {
  leave(&quiet);
}

/* Records. */

void kmbi_hip_trace_clear(void) {
  pthread_mutex_lock(&lock);
  op_count = 0;
  no_memory = false;
  pthread_mutex_unlock(&lock);
}

static kmbi_prof_status change_id(uint32_t iteration, bool push) {
  uint64_t thread = 0;
  kmbi_prof_id id = {(uint64_t)iteration + 1};
  kmbi_prof_status status = prof.thread_id(&thread);
  if (status) return status;
  return push ? prof.push(context, thread, id) : prof.pop(context, thread, &id);
}

kmb_status kmbi_hip_trace_push(kmbi_hip *self, uint32_t iteration) {
  kmbi_prof_status status = change_id(iteration, true);
  if (!status) return KMB_OK;
  return KMBI_HIP_FAIL(self, KMB_ERR_VENDOR, (int64_t)status,
                       "rocprofiler_push_external_correlation_id failed with "
                       "%u",
                       status);
}

void kmbi_hip_trace_pop(void) {
  (void)change_id(0, false);
}

static int by_iteration(const void *a, const void *b) {
  const kmbi_hip_op *x = a;
  const kmbi_hip_op *y = b;
  if (x->iteration != y->iteration) return x->iteration < y->iteration ? -1 : 1;
  return (x->start > y->start) - (x->start < y->start);
}

/* A kernel's record comes a little after its end. */
kmb_status kmbi_hip_trace_collect(kmbi_hip *self, uint64_t count,
                                  const kmbi_hip_op **out, size_t *got) {
  bool lacks_memory = false;
  *got = 0;
  for (int i = 0; i < TRIES && *got < count; i++) {
    if (i) nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    kmbi_prof_status status = prof.flush(buffer);
    if (status)
      return KMBI_HIP_FAIL(self, KMB_ERR_VENDOR, (int64_t)status,
                           "rocprofiler_flush_buffer failed with %u", status);
    pthread_mutex_lock(&lock);
    *got = op_count;
    lacks_memory = no_memory;
    pthread_mutex_unlock(&lock);
  }
  if (lacks_memory)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0,
                         "no memory for the tracer's records");
  /* Nothing else is traced now, so that no record comes to it meanwhile. */
  pthread_mutex_lock(&lock);
  *got = op_count;
  if (op_count) qsort(ops, op_count, sizeof *ops, by_iteration);
  *out = ops;
  pthread_mutex_unlock(&lock);
  return KMB_OK;
}

uint64_t kmbi_hip_trace_dropped(void) {
  pthread_mutex_lock(&lock);
  uint64_t count = dropped;
  pthread_mutex_unlock(&lock);
  return count;
}
