/* Recordings: the backend traces, the library keeps what it gives as a trace.
 */
#include "device.h"
#include "error.h"
#include "structs.h"
#include "trace.h"

#include <kmb/record.h>

#include <pthread.h>
#include <unistd.h>

/* A range that has not ended. */
typedef struct open_range {
  uint64_t start, process, thread;
  uint32_t name;
  uint32_t ended; /* its place may be used again */
} open_range;

struct kmb_recording {
  kmb_device *device;
  void *record; /* the backend's */
  kmb_trace *trace;
  kmbi_rows open;       /* open_range, in the order of their starts */
  pthread_mutex_t lock; /* of `open` and of the trace */
};

/* Nothing else brings the backend's recorder into a program. */
void kmbi_backend_cuda_record(void);

/* The three or none. */
static bool can_record(const kmb_device *device) {
  return KMBI_HAS(device->ops, record_begin) &&
         KMBI_HAS(device->ops, record_point) &&
         KMBI_HAS(device->ops, record_end);
}

static kmb_status read_params(const kmb_record_params *caller,
                              kmb_record_params *params) {
  *params = kmb_record_params_init();
  if (caller) {
    kmb_status status =
        kmbi_copy_in(params, sizeof *params, KMBI_RECORD_PARAMS_V1, caller,
                     "kmb_record_params");
    if (status) return status;
  }
  if (params->flags & ~(uint32_t)KMB_RECORD_NO_CALLS || params->reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_record_params: a flag or word is set that libkmb %s "
                     "does not know",
                     KMB_VERSION);
  return KMB_OK;
}

/* Gives back all but the device. */
static void destroy(kmb_recording *recording) {
  const kmbi_memory *memory = &recording->device->memory;
  kmb_trace_destroy(recording->trace);
  kmbi_rows_release(&recording->open);
  pthread_mutex_destroy(&recording->lock);
  kmbi_free(memory, recording, 1, sizeof *recording);
}

/* NULL, and said, without memory. */
static kmb_recording *create(kmb_device *device) {
  const kmbi_memory *memory = &device->memory;
  kmb_recording *recording = kmbi_alloc(memory, 1, sizeof *recording);
  if (!recording) {
    kmbi_fail(KMB_ERR_NOMEM, "no memory for a recording");
    return NULL;
  }
  recording->device = device;
  kmbi_rows_init(&recording->open, memory, sizeof(open_range));
  pthread_mutex_init(&recording->lock, NULL);
  if (kmbi_trace_create(memory, &recording->trace)) {
    destroy(recording);
    return NULL;
  }
  recording->trace->format = KMB_TRACE_KMB;
  return recording;
}

static kmb_status begin(kmb_device *device, const kmb_record_params *caller,
                        kmb_recording **out) {
  kmb_record_params params;
  kmb_status status = read_params(caller, &params);
  if (!status && !can_record(device))
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "kmb_trace_begin: backend %s records nothing; load a "
                       "profiler's trace instead (kmb_trace_load)",
                       device->ops->name);
  if (status) return status;
  kmb_recording *recording = create(device);
  if (!recording) return KMB_ERR_NOMEM;
  kmbi_backend_cuda_record();
  status =
      kmbi_device_note(device, device->ops->record_begin(device->self, &params,
                                                         &recording->record));
  if (status)
    destroy(recording);
  else
    *out = recording;
  return status;
}

kmb_status kmb_trace_begin(kmb_device *device, const kmb_record_params *params,
                           kmb_recording **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_begin: recording is NULL");
  *out = NULL;
  kmb_status status = kmbi_device_enter(device, "kmb_trace_begin");
  if (status) return status;
  status = begin(device, params, out);
  if (status) kmbi_device_leave(device);
  return status;
}

/* Ranges. */

static kmb_status point(const kmb_recording *recording, open_range *at) {
  const kmb_device *device = recording->device;
  return device->ops->record_point(device->self, recording->record, &at->start,
                                   &at->process, &at->thread);
}

/* The latest of a thread that is open, NULL if there is none. */
static open_range *latest(const kmb_recording *recording,
                          const open_range *of) {
  for (uint32_t i = recording->open.count; i-- > 0;) {
    open_range *range = kmbi_rows_at(&recording->open, i);
    if (!range->ended && range->thread == of->thread) return range;
  }
  return NULL;
}

/* A place for one more range: what ended last is taken off the end. */
static open_range *place(kmb_recording *recording) {
  kmbi_rows *open = &recording->open;
  while (open->count) {
    const open_range *last = kmbi_rows_at(open, open->count - 1);
    if (!last->ended) break;
    open->count--;
  }
  return kmbi_rows_add(open);
}

static kmb_status put_range(kmb_recording *recording, const open_range *range,
                            uint64_t end) {
  kmb_trace *trace = recording->trace;
  const kmbi_name *name = kmbi_name_at(trace, range->name);
  const kmbi_host_row row = {.name = name->text,
                             .name_size = name->size,
                             .process = range->process,
                             .thread = range->thread,
                             .start = range->start,
                             .end = end};
  return kmbi_trace_put_range(trace, &row);
}

kmb_status kmb_trace_range_begin(kmb_recording *recording, const char *name) {
  open_range range = {0};
  if (!recording || !name)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_range_begin: %s is NULL",
                     !recording ? "recording" : "name");
  kmb_status status =
      kmbi_device_check(recording->device, "kmb_trace_range_begin");
  if (!status) status = point(recording, &range);
  if (status) return status;
  pthread_mutex_lock(&recording->lock);
  range.name = kmbi_trace_intern(recording->trace, 0, name, strlen(name));
  open_range *row = range.name == KMBI_NO_ROW ? NULL : place(recording);
  if (row) *row = range;
  pthread_mutex_unlock(&recording->lock);
  return row ? KMB_OK : kmbi_fail(KMB_ERR_NOMEM, "no memory for a range");
}

kmb_status kmb_trace_range_end(kmb_recording *recording) {
  open_range now = {0};
  if (!recording)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_range_end: recording is NULL");
  kmb_status status =
      kmbi_device_check(recording->device, "kmb_trace_range_end");
  if (!status) status = point(recording, &now);
  if (status) return status;
  pthread_mutex_lock(&recording->lock);
  open_range *range = latest(recording, &now);
  if (range) {
    status = put_range(recording, range, now.start);
    range->ended = !status;
  } else {
    status = kmbi_fail(KMB_ERR_INVALID,
                       "kmb_trace_range_end: this thread has no open range; "
                       "begin one first");
  }
  pthread_mutex_unlock(&recording->lock);
  return status;
}

/* Those that nobody ended. */
static kmb_status end_ranges(kmb_recording *recording) {
  open_range now = {0};
  kmb_status status = KMB_OK;
  if (!recording->open.count) return KMB_OK;
  status = point(recording, &now);
  for (uint32_t i = 0; i < recording->open.count && !status; i++) {
    const open_range *range = kmbi_rows_at(&recording->open, i);
    if (!range->ended) status = put_range(recording, range, now.start);
  }
  return status;
}

/* What the backend hands over. */

static size_t size_of(const char *text) {
  return text ? strlen(text) : 0;
}

/* A backend that was built before there were shapes gives none. */
static uint32_t shape_of(kmb_trace *trace, const kmb_trace_op *op) {
  if (op->struct_size < sizeof *op || !(op->flags & KMB_OP_HAS_SHAPE)) return 0;
  const kmbi_shape shape = {{op->grid_x, op->grid_y, op->grid_z},
                            {op->block_x, op->block_y, op->block_z}};
  return kmbi_trace_shape(trace, &shape);
}

static kmb_status take_op(void *ctx, const kmb_trace_op *op) {
  bool has_stream = op->flags & KMB_OP_HAS_STREAM;
  const kmbi_op_row row = {
      .name = op->name ? op->name : "",
      .name_size = size_of(op->name),
      .device_name = op->device_name,
      .device_name_size = size_of(op->device_name),
      .device = op->flags & KMB_OP_HAS_DEVICE ? op->device : KMBI_UNKNOWN,
      .process = op->process,
      .context = has_stream ? op->context : 0,
      .stream = has_stream ? op->stream : 0,
      .start = op->start_ns,
      .end = op->end_ns,
      .bytes = op->flags & KMB_OP_HAS_BYTES ? op->bytes : KMBI_UNKNOWN,
      .correlation = op->flags & KMB_OP_HAS_CORRELATION ? op->correlation : 0,
      .shape = shape_of(ctx, op),
      .kind = op->kind,
      .has_stream = has_stream};
  return kmbi_trace_put_op(ctx, &row);
}

static kmb_status take_call(void *ctx, const kmb_trace_call *call) {
  kmbi_host_row row = {.name = call->name ? call->name : "",
                       .name_size = size_of(call->name),
                       .process = call->process,
                       .thread = call->thread,
                       .start = call->start_ns,
                       .end = call->end_ns,
                       .correlation = call->correlation,
                       .kind = call->kind};
  if (!row.kind) row.kind = kmbi_call_kind_of(row.name, row.name_size);
  return kmbi_trace_put_call(ctx, &row);
}

static void take_dropped(void *ctx, uint64_t count) {
  kmb_trace *trace = ctx;
  trace->dropped = count;
}

static void take_added(void *ctx, uint64_t driver_ns, uint64_t runtime_ns) {
  kmb_trace *trace = ctx;
  trace->driver_added = driver_ns;
  trace->runtime_added = runtime_ns;
}

/* The backend's part is gone afterwards. */
static kmb_status finish(kmb_recording *recording) {
  kmb_device *device = recording->device;
  const kmb_record_sink sink = {.struct_size = sizeof sink,
                                .ctx = recording->trace,
                                .op = take_op,
                                .call = take_call,
                                .dropped = take_dropped,
                                .added = take_added};
  kmb_status ranges = end_ranges(recording);
  kmb_status status = device->ops->record_end(device->self, recording->record,
                                              ranges ? NULL : &sink);
  status = kmbi_device_note(device, ranges ? ranges : status);
  return status ? status : kmbi_trace_finish(recording->trace);
}

static void release(kmb_recording *recording) {
  kmb_device *device = recording->device;
  destroy(recording);
  if (device->pid == getpid())
    kmbi_device_leave(device);
  else
    kmbi_device_drop(device);
}

/* It is dropped, and why is what is said. */
static kmb_status refuse(kmb_recording *recording, kmb_status status) {
  kmbi_error_state why;
  kmbi_error_save(&why);
  kmb_trace_abandon(recording);
  kmbi_error_restore(&why);
  return status;
}

kmb_status kmb_trace_end(kmb_recording *recording, kmb_trace **out) {
  if (out) *out = NULL;
  if (!recording)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_end: recording is NULL");
  kmb_status status = kmbi_device_check(recording->device, "kmb_trace_end");
  if (status) return refuse(recording, status);
  if (!out)
    return refuse(recording,
                  kmbi_fail(KMB_ERR_INVALID, "kmb_trace_end: trace is NULL"));
  status = finish(recording);
  if (!status) {
    *out = recording->trace;
    recording->trace = NULL;
  }
  release(recording);
  return status;
}

void kmb_trace_abandon(kmb_recording *recording) {
  if (!recording) return;
  kmb_device *device = recording->device;
  kmbi_error_state before;
  kmbi_error_save(&before);
  (void)kmbi_device_note(
      device, device->ops->record_end(device->self, recording->record, NULL));
  kmbi_error_restore(&before);
  release(recording);
}
