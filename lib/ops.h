/* Rows of device operations: of many samples, for each operation of an
 * iteration, one. Memory is bounded: ROWS rows, the latest SAMPLES samples. */
#ifndef KMB_LIB_OPS_H
#define KMB_LIB_OPS_H

#include "memory.h"

#include <kmb/backend.h>

enum {
  KMBI_OP_ROWS = 256,    /* the first ones of an iteration */
  KMBI_OP_SAMPLES = 512, /* the latest */
  KMBI_OP_SEQUENCES = 16 /* that are counted apart */
};

/* What makes operations of two samples the same, and the stream and the shape
 * in the first of them. The name belongs to the arena. */
typedef struct kmbi_op_key {
  const char *name; /* never NULL */
  uint64_t bytes;
  kmb_op_kind kind;
  uint32_t stream;
  kmb_shape shape;
} kmbi_op_key;

typedef struct kmbi_op_sequence {
  uint64_t hash, samples;
} kmbi_op_sequence;

typedef struct kmbi_ops {
  kmbi_memory memory;
  kmbi_arena names; /* each once, for as long as the measurement */
  const char **known;
  size_t known_count, known_capacity;
  /* The sequence that most samples have; a sample of it is a column: for each
   * row the duration, after all those the start. */
  kmbi_op_key *keys;
  double *columns; /* 2 × rows × KMBI_OP_SAMPLES */
  size_t *places;  /* of a column's sample in the measurement */
  size_t rows;
  uint64_t hash, total; /* of the sequence; operations with and without row */
  uint64_t followed;    /* columns that were written, in all */
  uint64_t seen;        /* samples */
  kmbi_op_sequence sequences[KMBI_OP_SEQUENCES];
  size_t sequence_count;
  /* The sample that is being taken in. */
  kmb_device_op *pending; /* KMBI_OP_ROWS */
  uint64_t pending_total, pending_hash;
} kmbi_ops;

/* What came of them. */
typedef struct kmbi_op_rows {
  kmb_op *rows; /* in order of start; names belong to the kmbi_ops */
  size_t count;
  uint64_t samples, other, omitted;
} kmbi_op_rows;

/* All of it may fail without memory: false. */
bool kmbi_ops_init(kmbi_ops *ops, const kmbi_memory *memory);
void kmbi_ops_release(kmbi_ops *ops);
/* A new round: forgets all but the names. */
void kmbi_ops_restart(kmbi_ops *ops);
/* One operation of the sample that is being taken in, then the whole of it;
 * `place` counts the samples of the measurement. */
void kmbi_ops_add(kmbi_ops *ops, const kmb_device_op *op);
bool kmbi_ops_end_sample(kmbi_ops *ops, size_t place);
/* Rows of the samples from `first` on; `span_ns` is their median span. */
bool kmbi_ops_close(kmbi_ops *ops, size_t first, double span_ns,
                    kmbi_op_rows *rows);
/* A shape of a backend's in a row, if it is known; and the other way. */
void kmbi_op_set_shape(kmb_op *op, const kmb_shape *shape);
kmb_shape kmbi_op_shape(const kmb_op *op);
void kmbi_op_rows_release(const kmbi_memory *memory, kmbi_op_rows *rows);

#endif
