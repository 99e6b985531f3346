/* Rows of device operations. Which operation of one sample is which of another
 * is told by kind, name, size and the how-many-eth of those it is, not by its
 * place alone: two streams finish in one order now and in the other then. */
#include "ops.h"

#include "hash.h"
#include "stats.h"

#include <stdlib.h>

bool kmbi_ops_init(kmbi_ops *ops, const kmbi_memory *memory) {
  *ops = (kmbi_ops){.memory = *memory};
  kmbi_arena_init(&ops->names, memory);
  ops->pending = kmbi_alloc(memory, KMBI_OP_ROWS, sizeof *ops->pending);
  ops->places = kmbi_alloc(memory, KMBI_OP_SAMPLES, sizeof *ops->places);
  return ops->pending && ops->places;
}

static void drop_sequence(kmbi_ops *ops) {
  kmbi_free(&ops->memory, ops->keys, ops->rows, sizeof *ops->keys);
  kmbi_free(&ops->memory, ops->columns, 2 * ops->rows * KMBI_OP_SAMPLES,
            sizeof *ops->columns);
  ops->keys = NULL;
  ops->columns = NULL;
  ops->rows = 0;
  ops->followed = 0;
}

void kmbi_ops_release(kmbi_ops *ops) {
  const kmbi_memory *memory = &ops->memory;
  if (!memory->free) return; /* never begun */
  drop_sequence(ops);
  kmbi_free(memory, ops->known, ops->known_capacity, sizeof *ops->known);
  kmbi_free(memory, ops->pending, KMBI_OP_ROWS, sizeof *ops->pending);
  kmbi_free(memory, ops->places, KMBI_OP_SAMPLES, sizeof *ops->places);
  kmbi_arena_release(&ops->names);
  *ops = (kmbi_ops){.memory = {NULL, NULL, NULL}};
}

void kmbi_ops_restart(kmbi_ops *ops) {
  drop_sequence(ops);
  ops->sequence_count = 0;
  ops->seen = 0;
  ops->pending_total = 0;
}

/* One sample. */

static uint64_t hash_of(const kmb_device_op *op) {
  uint64_t hash = KMBI_HASH_BEGIN;
  if (op->name) hash = kmbi_hash(hash, op->name, strlen(op->name));
  hash = kmbi_hash(hash, &op->kind, sizeof op->kind);
  return kmbi_hash(hash, &op->bytes, sizeof op->bytes);
}

/* All operations count in the hash, whether or not there is a row for them, in
 * whatever order they started. */
void kmbi_ops_add(kmbi_ops *ops, const kmb_device_op *op) {
  if (!ops->pending_total) ops->pending_hash = 0;
  if (ops->pending_total < KMBI_OP_ROWS) ops->pending[ops->pending_total] = *op;
  ops->pending_total++;
  ops->pending_hash += hash_of(op);
}

static int by_what(const kmb_device_op *a, const kmb_device_op *b) {
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  int names = strcmp(a->name ? a->name : "", b->name ? b->name : "");
  if (names) return names;
  return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Equal ones stay in order of start. */
static int in_order(const void *a, const void *b) {
  const kmb_device_op *x = a, *y = b;
  int what = by_what(x, y);
  if (what) return what;
  return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static const char *keep_name(kmbi_ops *ops, const char *name) {
  if (!name) name = "";
  for (size_t i = 0; i < ops->known_count; i++)
    if (strcmp(ops->known[i], name) == 0) return ops->known[i];
  if (ops->known_count == ops->known_capacity) {
    size_t capacity = 2 * ops->known_capacity + 16;
    const char **fresh = kmbi_alloc(&ops->memory, capacity, sizeof *fresh);
    if (!fresh) return NULL;
    if (ops->known_count)
      memcpy(fresh, ops->known, ops->known_count * sizeof *fresh);
    kmbi_free(&ops->memory, ops->known, ops->known_capacity, sizeof *fresh);
    ops->known = fresh;
    ops->known_capacity = capacity;
  }
  const char *copy = kmbi_arena_copy(&ops->names, name);
  if (copy) ops->known[ops->known_count++] = copy;
  return copy;
}

/* From now on rows are of the pending sample's sequence. */
static bool follow_pending(kmbi_ops *ops, size_t rows) {
  drop_sequence(ops);
  ops->keys = kmbi_alloc(&ops->memory, rows, sizeof *ops->keys);
  ops->columns =
      kmbi_alloc(&ops->memory, 2 * rows * KMBI_OP_SAMPLES, sizeof(double));
  ops->rows = rows;
  if (!ops->keys || !ops->columns) return false;
  for (size_t i = 0; i < rows; i++) {
    const kmb_device_op *op = &ops->pending[i];
    const char *name = keep_name(ops, op->name);
    if (!name) return false;
    ops->keys[i] =
        (kmbi_op_key){name, op->bytes, op->kind, op->stream, op->shape};
  }
  ops->hash = ops->pending_hash;
  ops->total = ops->pending_total;
  return true;
}

/* How many samples have had this sequence, this one included; 1 for one of too
 * many. */
static uint64_t count_sequence(kmbi_ops *ops, uint64_t hash) {
  for (size_t i = 0; i < ops->sequence_count; i++)
    if (ops->sequences[i].hash == hash) return ++ops->sequences[i].samples;
  if (ops->sequence_count < KMBI_OP_SEQUENCES)
    ops->sequences[ops->sequence_count++] = (kmbi_op_sequence){hash, 1};
  return 1;
}

static uint64_t samples_like(const kmbi_ops *ops, uint64_t hash) {
  for (size_t i = 0; i < ops->sequence_count; i++)
    if (ops->sequences[i].hash == hash) return ops->sequences[i].samples;
  return 0;
}

/* Beyond the last row, which operations have one may differ. */
static bool follows(const kmbi_ops *ops, size_t rows) {
  if (!ops->keys || ops->hash != ops->pending_hash ||
      ops->total != ops->pending_total)
    return false;
  for (size_t i = 0; i < rows; i++) {
    const kmbi_op_key *key = &ops->keys[i];
    kmb_device_op kept = {
        .name = key->name, .bytes = key->bytes, .kind = key->kind};
    if (by_what(&kept, &ops->pending[i])) return false;
  }
  return true;
}

bool kmbi_ops_end_sample(kmbi_ops *ops, size_t place) {
  uint64_t total = ops->pending_total;
  size_t rows = total < KMBI_OP_ROWS ? (size_t)total : KMBI_OP_ROWS;
  if (!rows) return true;
  qsort(ops->pending, rows, sizeof *ops->pending, in_order);
  ops->seen++;
  uint64_t alike = count_sequence(ops, ops->pending_hash);
  /* Rows are of what is most frequent, not of what came first. */
  if (!ops->keys || (ops->hash != ops->pending_hash &&
                     alike > samples_like(ops, ops->hash))) {
    if (!follow_pending(ops, rows)) return false;
  }
  if (follows(ops, rows)) {
    size_t at = (size_t)(ops->followed++ % KMBI_OP_SAMPLES);
    ops->places[at] = place;
    for (size_t i = 0; i < rows; i++) {
      double *durations = ops->columns + i * KMBI_OP_SAMPLES;
      durations[at] = ops->pending[i].duration_ns;
      durations[rows * KMBI_OP_SAMPLES + at] = ops->pending[i].start_ns;
    }
  }
  ops->pending_total = 0;
  return true;
}

/* All of them. */

static int by_start(const void *a, const void *b) {
  const kmb_op *x = a, *y = b;
  if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
  return (x->stream > y->stream) - (x->stream < y->stream);
}

/* Moves the columns of samples from `first` on to the front. */
static size_t keep_columns(kmbi_ops *ops, size_t first) {
  size_t count =
      ops->followed < KMBI_OP_SAMPLES ? (size_t)ops->followed : KMBI_OP_SAMPLES;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (ops->places[i] < first) continue;
    for (size_t row = 0; row < 2 * ops->rows; row++) {
      double *column = ops->columns + row * KMBI_OP_SAMPLES;
      column[kept] = column[i];
    }
    kept++;
  }
  return kept;
}

static kmb_op make_row(const kmbi_ops *ops, size_t row, size_t samples,
                       double span_ns) {
  double scratch[KMBI_OP_SAMPLES];
  const kmbi_op_key *key = &ops->keys[row];
  const double *durations = ops->columns + row * KMBI_OP_SAMPLES;
  const double *starts = durations + ops->rows * KMBI_OP_SAMPLES;
  kmb_op op = kmb_op_init();
  op.name = key->name;
  op.bytes = key->bytes;
  op.kind = key->kind;
  op.stream = key->stream;
  kmbi_op_set_shape(&op, &key->shape);
  op.start_ns = kmbi_median(starts, samples, scratch);
  op.duration_ns = kmbi_median(durations, samples, scratch);
  op.min_ns = op.max_ns = durations[0];
  for (size_t i = 1; i < samples; i++) {
    if (durations[i] < op.min_ns) op.min_ns = durations[i];
    if (durations[i] > op.max_ns) op.max_ns = durations[i];
  }
  if (span_ns > 0) op.share_pct = 100 * op.duration_ns / span_ns;
  return op;
}

bool kmbi_ops_close(kmbi_ops *ops, size_t first, double span_ns,
                    kmbi_op_rows *out) {
  size_t samples = keep_columns(ops, first);
  *out = (kmbi_op_rows){.samples = samples};
  if (ops->keys) out->other = ops->seen - samples_like(ops, ops->hash);
  if (!samples) return true;
  out->rows = kmbi_alloc(&ops->memory, ops->rows, sizeof *out->rows);
  if (!out->rows) return false;
  out->count = ops->rows;
  out->omitted = ops->total - ops->rows;
  for (size_t i = 0; i < ops->rows; i++)
    out->rows[i] = make_row(ops, i, samples, span_ns);
  qsort(out->rows, out->count, sizeof *out->rows, by_start);
  return true;
}

void kmbi_op_rows_release(const kmbi_memory *memory, kmbi_op_rows *rows) {
  kmbi_free(memory, rows->rows, rows->count, sizeof *rows->rows);
  *rows = (kmbi_op_rows){.rows = NULL};
}
