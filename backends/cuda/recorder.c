/* A recording: what CUPTI's records say is kept as they come, and handed over
 * at the end. Records come on CUPTI's threads, so that rows are from the C
 * library, not from a caller's hook. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "load.h"
#include "records.h"

enum { CHUNK_BYTES = 64 << 10, NAMES = 1 << 20 };
#define ROW_LIMIT (UINT64_C(1) << 26)

/* The rows stand behind it. */
typedef struct kmbi_cupti_chunk {
  struct kmbi_cupti_chunk *next;
  size_t count;
  uint64_t rows[];
} chunk;

static size_t chunk_rows(const kmbi_cupti_rows *rows) {
  return CHUNK_BYTES / rows->size;
}

/* NULL without memory. */
static void *add_row(kmbi_cupti_rows *rows) {
  chunk *c = rows->last;
  if (!c || c->count == chunk_rows(rows)) {
    c = malloc(sizeof *c + CHUNK_BYTES);
    if (!c) return NULL;
    *c = (chunk){.next = NULL};
    if (rows->last)
      rows->last->next = c;
    else
      rows->first = c;
    rows->last = c;
  }
  rows->count++;
  return (char *)c->rows + c->count++ * rows->size;
}

static void release_rows(kmbi_cupti_rows *rows) {
  while (rows->first) {
    chunk *next = rows->first->next;
    free(rows->first);
    rows->first = next;
  }
}

/* NULL: it is not kept, and that is counted. */
static void *keep(kmbi_cupti_recorder *r, kmbi_cupti_rows *rows) {
  if (r->ops.count + r->calls.count >= r->limit) {
    r->dropped++;
    return NULL;
  }
  void *row = add_row(rows);
  if (!row) r->no_memory = true;
  return row;
}

static void take_op(kmbi_cupti_recorder *r, kmbi_cupti_recorded_op op) {
  kmbi_cupti_recorded_op *row = keep(r, &r->ops);
  if (row) *row = op;
}

static bool fits(int32_t size) {
  return size > 0 && size <= UINT16_MAX;
}

static void set_shape(kmbi_cupti_recorded_op *op, const kmbi_cupti_kernel *k) {
  if (k->grid_x <= 0 || !fits(k->grid_y) || !fits(k->grid_z) ||
      !fits(k->block_x) || !fits(k->block_y) || !fits(k->block_z))
    return;
  op->grid_x = (uint32_t)k->grid_x;
  op->grid_y = (uint16_t)k->grid_y;
  op->grid_z = (uint16_t)k->grid_z;
  op->block_x = (uint16_t)k->block_x;
  op->block_y = (uint16_t)k->block_y;
  op->block_z = (uint16_t)k->block_z;
}

static void take_kernel(kmbi_cupti_recorder *r, const kmbi_cupti_kernel *k) {
  kmbi_cupti_recorded_op op = {.start = k->start,
                               .end = k->end,
                               .of.name = kmbi_cupti_name(&r->names, k->name),
                               .correlation = k->correlation,
                               .device = k->device,
                               .context = k->context,
                               .stream = k->stream,
                               .kind = KMB_OP_KERNEL};
  if (k->name && !op.of.name) {
    r->no_memory = true;
    return;
  }
  set_shape(&op, k);
  take_op(r, op);
}

void kmbi_cupti_recorder_take(kmbi_cupti_recorder *r, const void *record) {
  const kmbi_cupti_copy *m = record;
  const kmbi_cupti_peer *p = record;
  const kmbi_cupti_set *s = record;
  const kmbi_cupti_call *made = record;
  kmbi_cupti_call *call = NULL;
  switch (*(const uint32_t *)record) {
  case KMBI_CUPTI_KIND_KERNEL:
  case KMBI_CUPTI_KIND_CONCURRENT_KERNEL:
    take_kernel(r, record);
    break;
  case KMBI_CUPTI_KIND_MEMCPY:
    take_op(r, (kmbi_cupti_recorded_op){.start = m->start,
                                        .end = m->end,
                                        .of.bytes = m->bytes,
                                        .correlation = m->correlation,
                                        .device = m->device,
                                        .context = m->context,
                                        .stream = m->stream,
                                        .kind = KMB_OP_MEMCPY,
                                        .copy_kind = m->copy_kind});
    break;
  case KMBI_CUPTI_KIND_MEMCPY2:
    take_op(r, (kmbi_cupti_recorded_op){.start = p->start,
                                        .end = p->end,
                                        .of.bytes = p->bytes,
                                        .correlation = p->correlation,
                                        .device = p->device,
                                        .context = p->context,
                                        .stream = p->stream,
                                        .kind = KMB_OP_MEMCPY,
                                        .copy_kind = KMBI_CUPTI_COPY_PTOP});
    break;
  case KMBI_CUPTI_KIND_MEMSET:
    take_op(r, (kmbi_cupti_recorded_op){.start = s->start,
                                        .end = s->end,
                                        .of.bytes = s->bytes,
                                        .correlation = s->correlation,
                                        .device = s->device,
                                        .context = s->context,
                                        .stream = s->stream,
                                        .kind = KMB_OP_MEMSET});
    break;
  case KMBI_CUPTI_KIND_DRIVER:
  case KMBI_CUPTI_KIND_RUNTIME:
    if (made->start < r->since) break;
    call = keep(r, &r->calls);
    if (call) *call = *made;
    break;
  default:
    break;
  }
}

/* Beginning and end. */

static void destroy(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  const kmb_host *host = self->host;
  release_rows(&r->ops);
  release_rows(&r->calls);
  kmbi_cupti_names_release(&r->names);
  host->free(host->ctx, r, sizeof *r);
}

/* What recording adds to a call: how long calls that do next to nothing take
 * before it begins and once it has. The driver's stand for those of a runtime
 * that is linked into the program, whose own cannot be called. */

enum { BLOCKS = 4, CALLS = 16 };
typedef int runtime_call(int *device);

static double block_ns(const kmbi_cuda *self, runtime_call *runtime) {
  kmbi_cu_context context = NULL;
  int device = 0;
  double start = kmbi_cuda_now();
  for (int i = 0; i < CALLS; i++)
    if (runtime)
      (void)runtime(&device);
    else
      (void)self->driver->cuCtxGetCurrent(&context);
  return (kmbi_cuda_now() - start) / CALLS;
}

static double call_ns(const kmbi_cuda *self, runtime_call *runtime) {
  double least = block_ns(self, runtime);
  for (int i = 1; i < BLOCKS; i++) {
    double ns = block_ns(self, runtime);
    if (ns < least) least = ns;
  }
  return least;
}

typedef struct call_cost {
  void *library; /* the runtime, if it is one */
  runtime_call *runtime;
  double driver_ns, runtime_ns;
} call_cost;

static void measure_calls(const kmbi_cuda *self, call_cost *cost) {
  cost->driver_ns = call_ns(self, NULL);
  cost->runtime_ns = cost->runtime ? call_ns(self, cost->runtime) : 0;
}

/* Only one that the program has loaded is of interest. */
static void find_runtime(call_cost *cost) {
  static const char *const none[] = {NULL};
  *cost = (call_cost){.library = kmbi_cuda_attach(none, "libcudart.so")};
  if (cost->library)
    *(void **)&cost->runtime = dlsym(cost->library, "cudaGetDevice");
}

static uint64_t added(double before, double now) {
  return now > before ? (uint64_t)(now - before + 0.5) : 0;
}

/* The calls that measured it are no part of the recording. */
static kmb_status leave_out(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  uint64_t now = 0;
  kmbi_cupti_result result = r->api->cuptiGetTimestamp(&now);
  if (result)
    return KMBI_CUDA_FAIL(self, KMB_ERR_VENDOR, (int64_t)result,
                          "cuptiGetTimestamp failed with %u", result);
  r->since = now;
  return KMB_OK;
}

static kmb_status begin(kmbi_cuda *self, kmbi_cupti_recorder *r) {
  call_cost before, now;
  if (!r->with_calls) return kmbi_cupti_record_begin(self, r);
  find_runtime(&before);
  measure_calls(self, &before);
  r->since = UINT64_MAX;
  kmb_status status = kmbi_cupti_record_begin(self, r);
  if (!status) {
    now = before;
    measure_calls(self, &now);
    r->driver_added = added(before.driver_ns, now.driver_ns);
    r->runtime_added = before.runtime ? added(before.runtime_ns, now.runtime_ns)
                                      : r->driver_added;
    status = leave_out(self, r);
    if (status) (void)kmbi_cupti_record_end(self, r);
  }
  if (before.library) dlclose(before.library);
  return status;
}

kmb_status kmbi_cuda_record_begin(void *opened, const kmb_record_params *params,
                                  void **record) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  *record = NULL;
  kmbi_cupti_recorder *r =
      host->alloc(host->ctx, sizeof *r, _Alignof(kmbi_cupti_recorder));
  if (!r)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0, "no memory for a recording");
  memset(r, 0, sizeof *r);
  r->ops.size = sizeof(kmbi_cupti_recorded_op);
  r->calls.size = sizeof(kmbi_cupti_call);
  r->names.most = NAMES;
  r->limit = params->row_limit ? params->row_limit : ROW_LIMIT;
  r->with_calls = !(params->flags & KMB_RECORD_NO_CALLS);
  /* What a recording would see of an enabled session is not known. */
  (void)kmbi_cuda_kept_end(self, true);
  kmbi_cuda_kept_end_others(self, true);
  kmb_status status = begin(self, r);
  if (status)
    destroy(self, r);
  else
    *record = r;
  return status;
}

/* CUPTI numbers threads so, unless somebody told it not to. */
kmb_status kmbi_cuda_record_point(void *opened, void *record, uint64_t *now_ns,
                                  uint64_t *process, uint64_t *thread) {
  kmbi_cuda *self = opened;
  const kmbi_cupti_recorder *r = record;
  *process = (uint64_t)getpid();
  *thread = (uint32_t)(uintptr_t)pthread_self();
  kmbi_cupti_result result = r->api->cuptiGetTimestamp(now_ns);
  if (result == KMBI_CUPTI_SUCCESS) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_VENDOR, (int64_t)result,
                        "cuptiGetTimestamp failed with %u", result);
}

/* Handing over. */

static const char *copy_name(uint32_t kind) {
  switch (kind) {
#define CASE(name, value, text) \
  case value:                   \
    return "[CUDA memcpy " text "]";
    KMBI_CUPTI_COPY_MAP(CASE)
#undef CASE
  default:
    return "[CUDA memcpy]";
  }
}

static const char *op_name(const kmbi_cupti_recorded_op *op) {
  if (op->kind == KMB_OP_MEMCPY) return copy_name(op->copy_kind);
  if (op->kind == KMB_OP_MEMSET) return "[CUDA memset]";
  return op->of.name ? op->of.name : "[CUDA kernel without a name]";
}

/* Another device than ours is named only if the driver says its name. */
static void device_name(kmbi_cuda *self, uint32_t ordinal, char *name,
                        size_t size) {
  kmbi_cu_device device = 0;
  name[0] = '\0';
  if (ordinal == (uint32_t)self->ordinal)
    snprintf(name, size, "%s", self->name);
  else if (self->driver->cuDeviceGet(&device, (int)ordinal) ||
           self->driver->cuDeviceGetName(name, (int)size, device))
    name[0] = '\0';
}

static void fill_op(kmb_trace_op *op, const kmbi_cupti_recorded_op *row) {
  bool kernel = row->kind == KMB_OP_KERNEL;
  op->name = op_name(row);
  op->kind = row->kind;
  op->start_ns = row->start;
  op->end_ns = row->end;
  op->bytes = kernel ? 0 : row->of.bytes;
  op->correlation = row->correlation;
  op->device = row->device;
  op->context = row->context;
  op->stream = row->stream;
  op->grid_x = row->grid_x;
  op->grid_y = row->grid_y;
  op->grid_z = row->grid_z;
  op->block_x = row->block_x;
  op->block_y = row->block_y;
  op->block_z = row->block_z;
  op->flags = KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM;
  if (row->correlation) op->flags |= KMB_OP_HAS_CORRELATION;
  if (!kernel) op->flags |= KMB_OP_HAS_BYTES;
  if (row->grid_x) op->flags |= KMB_OP_HAS_SHAPE;
}

static kmb_status give_ops(kmbi_cuda *self, const kmbi_cupti_recorder *r,
                           const kmb_record_sink *sink) {
  kmb_trace_op op = kmb_trace_op_init();
  char name[KMBI_CUDA_TEXT] = "";
  uint32_t named = UINT32_MAX;
  op.device_name = name;
  op.process = (uint64_t)getpid();
  kmb_status status = KMB_OK;
  for (const chunk *c = r->ops.first; c && !status; c = c->next) {
    const kmbi_cupti_recorded_op *rows = (const void *)c->rows;
    for (size_t i = 0; i < c->count && !status; i++) {
      const kmbi_cupti_recorded_op *row = &rows[i];
      if (row->device != named)
        device_name(self, named = row->device, name, sizeof name);
      fill_op(&op, row);
      status = sink->op(sink->ctx, &op);
    }
  }
  return status;
}

/* Names of calls by domain and id, as far as they were asked for. */
enum { IDS = 2048 };
typedef struct call_names {
  const char *at[2][IDS];
} call_names;

static const char *call_name(const kmbi_cupti_recorder *r, call_names *names,
                             const kmbi_cupti_call *call) {
  bool runtime = call->kind == KMBI_CUPTI_KIND_RUNTIME;
  const char *name = call->id < IDS ? names->at[runtime][call->id] : NULL;
  if (name) return name;
  if (r->api->cuptiGetCallbackName(runtime ? KMBI_CUPTI_DOMAIN_RUNTIME
                                           : KMBI_CUPTI_DOMAIN_DRIVER,
                                   call->id, &name) ||
      !name)
    name = runtime ? "[runtime call without a name]"
                   : "[driver call without a name]";
  if (call->id < IDS) names->at[runtime][call->id] = name;
  return name;
}

static kmb_status give_calls(const kmbi_cupti_recorder *r,
                             const kmb_record_sink *sink, call_names *names) {
  kmb_trace_call call = kmb_trace_call_init();
  call.process = (uint64_t)getpid();
  kmb_status status = KMB_OK;
  for (const chunk *c = r->calls.first; c && !status; c = c->next) {
    const kmbi_cupti_call *rows = (const void *)c->rows;
    for (size_t i = 0; i < c->count && !status; i++) {
      call.name = call_name(r, names, &rows[i]);
      call.start_ns = rows[i].start;
      call.end_ns = rows[i].end;
      call.correlation = rows[i].correlation;
      call.thread = rows[i].thread;
      status = sink->call(sink->ctx, &call);
    }
  }
  return status;
}

static kmb_status give(kmbi_cuda *self, const kmbi_cupti_recorder *r,
                       const kmb_record_sink *sink) {
  const kmb_host *host = self->host;
  call_names *names =
      host->alloc(host->ctx, sizeof *names, _Alignof(call_names));
  if (!names)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the names of recorded calls");
  memset(names, 0, sizeof *names);
  sink->dropped(sink->ctx, r->dropped);
  sink->added(sink->ctx, r->driver_added, r->runtime_added);
  kmb_status status = give_ops(self, r, sink);
  if (!status) status = give_calls(r, sink, names);
  host->free(host->ctx, names, sizeof *names);
  return status;
}

kmb_status kmbi_cuda_record_end(void *opened, void *record,
                                const kmb_record_sink *sink) {
  kmbi_cuda *self = opened;
  kmbi_cupti_recorder *r = record;
  kmb_status status = KMB_OK;
  /* In a child the session is the parent's. */
  if (self->pid == getpid()) {
    status = kmbi_cupti_record_end(self, r);
    if (!status && sink) status = give(self, r, sink);
  }
  destroy(self, r);
  return status;
}

/* Brings this file into the program. */
void kmbi_backend_cuda_record(void) {}
