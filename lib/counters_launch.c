/* How the kernels of rows were launched, and what their launches allow. */
#include "counters.h"
#include "error.h"
#include "occupancy.h"

static void describe(kmb_counters *c, uint64_t row) {
  const kmbi_kernel *kernel = &c->kernels[c->rows[row]];
  kmb_op *op = &c->launches[row].op;
  *op = kmb_op_init();
  op->name = kernel->name;
  op->kind = KMB_OP_KERNEL;
  op->stream = kernel->stream;
  kmbi_op_set_shape(op, &kernel->shape);
}

static kmb_status ask(kmbi_run *run, kmb_counters *c,
                      kmbi_driver_count *counts) {
  kmb_op *ops = kmbi_arena_alloc(&c->arena, c->row_count, sizeof *ops);
  if (!ops) return KMB_OK; /* the arena knows */
  for (uint64_t i = 0; i < c->row_count; i++)
    ops[i] = c->launches[i].op;
  return kmbi_ask_driver(run, ops, c->row_count, &c->arena, counts);
}

static void complete(kmbi_run *run, kmb_counters *c,
                     const kmbi_driver_count *counts) {
  for (uint64_t i = 0; i < c->row_count; i++) {
    kmbi_counter_launch *l = &c->launches[i];
    if (!(l->op.flags & KMB_OP_HAS_LAUNCH))
      l->why = "the tracer does not tell how it was launched";
    else if (kmbi_occupancy(run->device, &l->op, &counts[i], &c->arena,
                            &l->occupancy))
      l->why = kmbi_arena_copy(&c->arena, kmb_last_error(NULL, NULL));
  }
}

kmb_status kmbi_counters_launches(kmbi_run *run, kmb_counters *c) {
  kmb_status status = KMB_OK;
  kmbi_error_state before;
  if (c->info.replay == KMB_REPLAY_GRAPH) return KMB_OK;
  kmbi_driver_count *counts =
      kmbi_arena_alloc(&c->arena, c->row_count, sizeof *counts);
  c->launches = kmbi_arena_alloc(&c->arena, c->row_count, sizeof *c->launches);
  if (counts && c->launches) {
    for (uint64_t i = 0; i < c->row_count; i++)
      describe(c, i);
    for (uint64_t i = 0;
         c->info.replay == KMB_REPLAY_KERNEL && i < c->row_count; i++)
      counts[i].why = "not compared: with KMB_REPLAY_KERNEL it is launched no "
                      "more often than it must be";
    if (c->info.replay != KMB_REPLAY_KERNEL) status = ask(run, c, counts);
    kmbi_error_save(&before);
    if (!status) complete(run, c, counts);
    kmbi_error_restore(&before);
  }
  if (!status && kmbi_arena_failed(&c->arena))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for launches of kernels");
  return status;
}
