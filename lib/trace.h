/* A trace while it is loaded and read.
 *
 * An importer is one file with one function, declared below: it takes a source
 * whose beginning is already in the buffer, reads it to its end, and hands over
 * rows with kmbi_trace_put_op(), …_call() and …_range(). It stores nothing of
 * its own that grows with the file. What it cannot read ends the load with
 * kmbi_source_fail(): FORMAT with file, line, column and cause. Nothing of a
 * trace is seen by the caller before all of it is loaded. */
#ifndef KMB_LIB_TRACE_H
#define KMB_LIB_TRACE_H

#include "rows.h"

#include <kmb/trace.h>

/* 48 bytes an operation. */
typedef struct kmbi_op {
  uint64_t start, end;
  uint64_t bytes;       /* KMBI_UNKNOWN */
  uint64_t correlation; /* 0: none */
  uint32_t name;        /* in kmb_trace::names */
  uint32_t lane;        /* in kmb_trace::lanes */
  uint32_t shape;       /* in kmb_trace::shapes, from 1 on; 0: not known */
  uint32_t reserved;
} kmbi_op;

/* How a kernel was launched: x, y and z in blocks and in threads. It is known
 * if none of the six is 0. */
typedef struct kmbi_shape {
  uint32_t grid[3], block[3];
} kmbi_shape;

typedef struct kmbi_call {
  uint64_t start, end;
  uint64_t correlation; /* 0: none */
  uint32_t name;
  uint32_t thread; /* in kmb_trace::threads */
} kmbi_call;

typedef struct kmbi_range {
  uint64_t start, end;
  uint32_t name;
  uint32_t thread;
} kmbi_range;

/* Names are interned with their kind: kmb_op_kind, kmb_call_kind, 0 for ranges
 * and devices. */
typedef struct kmbi_name {
  const char *text;
  uint64_t hash;
  uint32_t size;
  int32_t kind;
  uint32_t next; /* what an operation's name was followed by the last time */
  uint32_t reserved;
} kmbi_name;

typedef struct kmbi_thread {
  uint64_t process, thread;
} kmbi_thread;

/* A stream of a device. */
typedef struct kmbi_lane {
  uint64_t process, context, stream;
  uint32_t device; /* in kmb_trace::devices */
  uint32_t flags;  /* KMB_OP_HAS_DEVICE, KMB_OP_HAS_STREAM */
} kmbi_lane;

typedef struct kmbi_trace_device {
  uint64_t id; /* KMBI_UNKNOWN */
  uint32_t name;
  uint32_t reserved;
} kmbi_trace_device;

#define KMBI_UNKNOWN UINT64_MAX
/* No clock reaches 292 years: a row that ends later is invalid. */
#define KMBI_TIME_MOST ((uint64_t)INT64_MAX)

/* Of libkmb's own JSON. */
enum { KMBI_TRACE_VERSION = 1 };

struct kmb_trace {
  kmbi_memory memory;
  kmbi_arena texts; /* of names */
  kmbi_rows ops, calls, ranges, names, threads, lanes, devices, shapes;
  kmbi_map name_map, thread_map, lane_map, device_map, shape_map, launch_map;
  uint32_t *op_order;    /* by start; NULL: as they are */
  uint32_t *call_order;  /* by thread, start; NULL: as they are */
  uint32_t *range_order; /* by thread, start; NULL: as they are */
  uint64_t rows, invalid, dropped;
  uint64_t tick;                        /* ns */
  uint64_t driver_added, runtime_added; /* to a call, by recording, in ns */
  uint32_t last_lane, last_name;
  kmb_trace_format format;
  bool one_process; /* operations do not say to which process they belong */
};

/* What an importer knows of an operation. */
typedef struct kmbi_op_row {
  const char *name; /* any bytes; made valid UTF-8 */
  size_t name_size;
  const char *device_name; /* may be NULL */
  size_t device_name_size;
  uint64_t device;  /* KMBI_UNKNOWN */
  uint64_t process; /* 0 where there is none */
  uint64_t context, stream;
  uint64_t start, end;
  uint64_t bytes;       /* KMBI_UNKNOWN */
  uint64_t correlation; /* 0: none */
  uint32_t shape;       /* kmbi_trace_shape(); kept of kernels alone */
  kmb_op_kind kind;
  bool has_stream;
  bool invalid; /* already known: a negative time */
} kmbi_op_row;

typedef struct kmbi_host_row {
  const char *name;
  size_t name_size;
  uint64_t process, thread;
  uint64_t start, end;
  uint64_t correlation; /* calls only; 0: none */
  kmb_call_kind kind;   /* calls only */
} kmbi_host_row;

kmb_status kmbi_trace_create(const kmbi_memory *memory, kmb_trace **trace);
/* Counts the row; keeps it unless it is invalid. */
kmb_status kmbi_trace_put_op(kmb_trace *trace, const kmbi_op_row *row);
/* A row that ends before its start, or after KMBI_TIME_MOST, is left out
 * without a word. */
kmb_status kmbi_trace_put_call(kmb_trace *trace, const kmbi_host_row *row);
kmb_status kmbi_trace_put_range(kmb_trace *trace, const kmbi_host_row *row);
/* Kind of a runtime or driver call by its name. */
kmb_call_kind kmbi_call_kind_of(const char *name, size_t size);
/* Sorts and ties operations to calls, once all rows are in. */
kmb_status kmbi_trace_finish(kmb_trace *trace);

/* The index of a shape, 0 if it is not known, KMBI_NO_ROW without memory: then
 * no operation of it is taken. */
uint32_t kmbi_trace_shape(kmb_trace *trace, const kmbi_shape *shape);

/* The index of a name, KMBI_NO_ROW without memory. */
uint32_t kmbi_trace_intern(kmb_trace *trace, int32_t kind, const char *text,
                           size_t size);

/* By rank in the order of starts. */
static inline uint32_t kmbi_op_index(const kmb_trace *trace, uint32_t rank) {
  return trace->op_order ? trace->op_order[rank] : rank;
}
static inline const kmbi_op *kmbi_op_at(const kmb_trace *trace, uint32_t rank) {
  return kmbi_rows_at(&trace->ops, kmbi_op_index(trace, rank));
}
static inline const kmbi_call *kmbi_call_at(const kmb_trace *trace,
                                            uint32_t rank) {
  return kmbi_rows_at(&trace->calls,
                      trace->call_order ? trace->call_order[rank] : rank);
}
static inline const kmbi_range *kmbi_range_at(const kmb_trace *trace,
                                              uint32_t rank) {
  return kmbi_rows_at(&trace->ranges,
                      trace->range_order ? trace->range_order[rank] : rank);
}
static inline const kmbi_name *kmbi_name_at(const kmb_trace *trace,
                                            uint32_t name) {
  return kmbi_rows_at(&trace->names, name);
}
static inline const kmbi_lane *kmbi_lane_at(const kmb_trace *trace,
                                            uint32_t lane) {
  return kmbi_rows_at(&trace->lanes, lane);
}
/* `shape` is not 0. */
static inline const kmbi_shape *kmbi_shape_at(const kmb_trace *trace,
                                              uint32_t shape) {
  return kmbi_rows_at(&trace->shapes, shape - 1);
}
/* Rank of the call that caused an operation, KMBI_NO_ROW if none is known. */
uint32_t kmbi_op_call(const kmb_trace *trace, const kmbi_op *op);

/* Where the bytes come from. */
typedef struct kmbi_source {
  kmbi_memory memory;
  kmb_read_fn read;
  void *user;
  const char *path; /* NULL: from a callback */
  const char *name; /* for messages */
  const kmb_trace_params *params;
  const volatile int32_t *cancel;
  char *buffer; /* what was read and not yet used: [begin, end), then a zero */
  size_t capacity, begin, end;
  uint64_t total; /* bytes of the file, 0: not known */
  uint64_t done;  /* bytes read */
  uint64_t limit; /* of `done`; 0: none */
  bool ended;
  bool packed; /* comes out of gzip */
} kmbi_source;

enum {
  KMBI_SOURCE_SIZE = 128 << 10,
  /* A record (a row, a string of JSON) that is longer is malformed. */
  KMBI_RECORD_MOST = 64 << 20
};

/* Reads on behind `end`; moves what begins at `begin` to the buffer's start,
 * and makes the buffer larger if it is full. Nothing more comes once `ended`.
 */
kmb_status kmbi_source_fill(kmbi_source *source);
void kmbi_source_release(kmbi_source *source);
/* FORMAT at a place; `column` counts bytes from 1; a 0 is left out. */
kmb_status kmbi_source_fail(const kmbi_source *source, uint64_t line,
                            uint64_t column, const char *format, ...)
    KMB_PRINTF(4, 5);
/* Copies the rest of a source into a file of its own under TMPDIR, which it
 * creates; the caller removes it. */
kmb_status kmbi_source_spool(kmbi_source *source, char *path, size_t size);

static inline bool kmbi_source_no_shapes(const kmbi_source *source) {
  return source->params->flags & KMB_TRACE_NO_SHAPES;
}

/* Importers. */
kmb_status kmbi_load_csv(kmb_trace *trace, kmbi_source *source,
                         kmb_trace_format format);
kmb_status kmbi_load_chrome(kmb_trace *trace, kmbi_source *source);
kmb_status kmbi_load_kmb(kmb_trace *trace, kmbi_source *source);
/* `path` is a SQLite file. */
kmb_status kmbi_load_sqlite(kmb_trace *trace, const kmbi_source *source,
                            const char *path, kmb_trace_format format);
kmb_status kmbi_load_nsys_rep(kmb_trace *trace, const kmbi_source *source,
                              const char *path);
/* The packed source's content as a source of its own, which must be given back
 * before `packed` with kmbi_gunzip_close(). */
kmb_status kmbi_gunzip_open(kmbi_source *packed, kmbi_source *plain);
void kmbi_gunzip_close(kmbi_source *plain);

#endif
