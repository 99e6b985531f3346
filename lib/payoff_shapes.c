/* Which launches of the matched names are meant: those that were launched as
 * the old kernel was when it was measured. */
#include "payoff.h"

#include "error.h"

#include <stdio.h>
#include <stdlib.h>

typedef kmbi_payoff_pair pair;

static kmbi_map_key key_of_pair(const void *rows, uint32_t index) {
  const pair *p = kmbi_rows_at(rows, index);
  return (kmbi_map_key){p->name, p->shape, 0};
}

static pair *add_pair(kmbi_rows *pairs, kmbi_map *map, const kmbi_op *op) {
  pair *p = kmbi_rows_add(pairs);
  if (!p) return NULL;
  *p = (pair){.name = op->name, .shape = op->shape};
  const kmbi_map_key key = {op->name, op->shape, 0};
  return kmbi_map_put(map, key, pairs->count - 1) ? p : NULL;
}

/* False without memory. */
static bool collect(const kmb_gaps *select, kmbi_rows *pairs, kmbi_map *map) {
  const kmb_trace *trace = select->trace;
  pair *last = NULL;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    if (!kmbi_gaps_is_target(select, op) || !kmbi_gaps_window(select, op))
      continue;
    if (!last || last->name != op->name || last->shape != op->shape) {
      const kmbi_map_key key = {op->name, op->shape, 0};
      uint32_t index = kmbi_map_find(map, key);
      last = index == KMBI_NO_ROW ? add_pair(pairs, map, op)
                                  : kmbi_rows_at(pairs, index);
      if (!last) return false;
    }
    last->launches++;
    last->total += op->end - op->start;
  }
  return true;
}

static int by_size(const kmb_payoff_shape *a, const kmb_payoff_shape *b) {
  const uint32_t x[] = {a->grid_x,  a->grid_y,  a->grid_z,
                        a->block_x, a->block_y, a->block_z};
  const uint32_t y[] = {b->grid_x,  b->grid_y,  b->grid_z,
                        b->block_x, b->block_y, b->block_z};
  for (int i = 0; i < 6; i++) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

static int by_total(const void *a, const void *b) {
  const kmb_payoff_shape *x = a, *y = b;
  if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
  int names = strcmp(x->name, y->name);
  return names ? names : by_size(x, y);
}

static int by_candidate(const void *a, const void *b) {
  const kmb_payoff_candidate *x = a, *y = b;
  if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
  return strcmp(x->name, y->name);
}

static kmb_payoff_shape shape_of(const kmb_trace *trace, const pair *p,
                                 const char *name) {
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  shape.name = name;
  shape.launches = p->launches;
  shape.total_ns = p->total;
  if (!p->shape) return shape;
  const kmbi_shape *s = kmbi_shape_at(trace, p->shape);
  shape.grid_x = s->grid[0];
  shape.grid_y = s->grid[1];
  shape.grid_z = s->grid[2];
  shape.block_x = s->block[0];
  shape.block_y = s->block[1];
  shape.block_z = s->block[2];
  return shape;
}

/* Names and shapes out of the pairs. `index` is of each name, from 1 on. */
static void list(kmb_payoff *payoff, const kmbi_rows *pairs, uint32_t *index) {
  const kmb_trace *trace = payoff->select.trace;
  kmb_payoff_summary *s = &payoff->summary;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const pair *p = kmbi_rows_at(pairs, i);
    if (!index[p->name]) {
      const char *name = kmbi_name_at(trace, p->name)->text;
      index[p->name] = (uint32_t)++s->candidates;
      kmb_payoff_candidate *c = &payoff->candidates[s->candidates - 1];
      c->name = kmbi_arena_copy(&payoff->arena, name);
      if (!c->name) return;
    }
    kmb_payoff_candidate *c = &payoff->candidates[index[p->name] - 1];
    c->launches += p->launches;
    c->total_ns += p->total;
    s->launches += p->launches;
    if (p->shape) s->flags |= KMB_PAYOFF_SHAPES_KNOWN;
    payoff->shapes[i] = shape_of(trace, p, c->name);
  }
  s->shapes = pairs->count;
}

static void sort(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  qsort(payoff->shapes, s->shapes, sizeof *payoff->shapes, by_total);
  qsort(payoff->candidates, s->candidates, sizeof *payoff->candidates,
        by_candidate);
}

bool kmbi_payoff_list(kmb_payoff *payoff) {
  const kmbi_memory *memory = &payoff->memory;
  kmbi_rows pairs;
  kmbi_map map;
  kmbi_rows_init(&pairs, memory, sizeof(pair));
  kmbi_map_init(&map, memory, key_of_pair, &pairs);
  uint32_t *index = kmbi_alloc(memory, payoff->names, sizeof *index);
  bool good = index && collect(&payoff->select, &pairs, &map);
  if (good) {
    payoff->candidates = kmbi_arena_alloc(
        &payoff->arena, (size_t)pairs.count + 1, sizeof *payoff->candidates);
    payoff->shapes = kmbi_arena_alloc(&payoff->arena, (size_t)pairs.count + 1,
                                      sizeof *payoff->shapes);
    good = payoff->candidates && payoff->shapes;
  }
  if (good) list(payoff, &pairs, index);
  if (good) good = kmbi_payoff_match_code(payoff, &pairs);
  if (good) sort(payoff);
  kmbi_free(memory, index, payoff->names, sizeof *index);
  kmbi_map_release(&map);
  kmbi_rows_release(&pairs);
  return good && !kmbi_arena_failed(&payoff->arena);
}

/* The trace's number of the wanted shape; 0: nothing was launched so. */
static uint32_t find_shape(const kmb_trace *trace, const kmbi_shape *wanted) {
  for (uint32_t i = 1; i <= trace->shapes.count; i++) {
    if (memcmp(kmbi_shape_at(trace, i), wanted, sizeof *wanted) == 0) return i;
  }
  return 0;
}

static bool is_shape(const kmb_payoff_shape *s, const kmbi_shape *wanted) {
  const kmbi_shape shape = {{s->grid_x, s->grid_y, s->grid_z},
                            {s->block_x, s->block_y, s->block_z}};
  return memcmp(&shape, wanted, sizeof shape) == 0;
}

/* Whether these launches are meant; `wanted` NULL: all are. */
static bool is_meant(const kmb_payoff_shape *shape, const kmbi_shape *wanted) {
  return !wanted || is_shape(shape, wanted);
}

/* What becomes of a choice by what its launches ran. */
static kmbi_payoff_choice check_code(kmb_payoff *payoff,
                                     const kmbi_shape *wanted) {
  uint64_t live = 0, others = 0, mixed = 0;
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    const kmb_payoff_shape *shape = &payoff->shapes[i];
    if (!is_meant(shape, wanted)) continue;
    uint64_t *to = shape->flags & KMB_PAYOFF_CODE_SEVERAL ? &mixed
                   : kmbi_payoff_is_live(shape)           ? &live
                                                          : &others;
    *to += shape->launches;
  }
  payoff->meant = mixed ? mixed : others;
  if (mixed) return KMBI_PAYOFF_MIXED;
  if (live) return wanted ? KMBI_PAYOFF_ONE : KMBI_PAYOFF_ALL;
  return others ? KMBI_PAYOFF_OTHER_CODE : KMBI_PAYOFF_NONE;
}

static void count_code(kmb_payoff_summary *s, const kmb_payoff_shape *shape) {
  if (shape->flags & KMB_PAYOFF_CODE_SAME)
    s->code_launches += shape->launches;
  else
    s->unknown_launches += shape->launches;
}

static void take(kmb_payoff *payoff, const kmbi_shape *wanted) {
  kmb_payoff_summary *s = &payoff->summary;
  payoff->choice = check_code(payoff, wanted);
  if (payoff->choice != KMBI_PAYOFF_ONE && payoff->choice != KMBI_PAYOFF_ALL)
    return;
  s->launches = 0;
  for (uint64_t i = 0; i < s->shapes; i++) {
    kmb_payoff_shape *shape = &payoff->shapes[i];
    if (!kmbi_payoff_is_live(shape)) continue;
    if (!is_meant(shape, wanted)) {
      s->other_launches += shape->launches;
      continue;
    }
    shape->flags |= KMB_PAYOFF_SCALED;
    s->launches += shape->launches;
    if (payoff->has_code) count_code(s, shape);
  }
  if (payoff->has_code && !s->unknown_launches) s->flags |= KMB_PAYOFF_BY_CODE;
  if (!wanted) return;
  s->flags |= KMB_PAYOFF_BY_SHAPE;
  payoff->select.shape = find_shape(payoff->select.trace, wanted);
}

/* As --shape takes it. */
static int put_sizes(char *text, size_t size, const kmb_payoff_shape *s) {
  return snprintf(text, size, "%ux%ux%u,%ux%ux%u", (unsigned)s->grid_x,
                  (unsigned)s->grid_y, (unsigned)s->grid_z,
                  (unsigned)s->block_x, (unsigned)s->block_y,
                  (unsigned)s->block_z);
}

/* Of several names the first. */
static bool is_first(const kmb_payoff *payoff, uint64_t index) {
  for (uint64_t i = 0; i < index; i++) {
    if (by_size(&payoff->shapes[i], &payoff->shapes[index]) == 0) return false;
  }
  return payoff->shapes[index].grid_x != 0;
}

/* As many of the known shapes as there is room for. */
static void list_sizes(const kmb_payoff *payoff, char *text, size_t room) {
  enum { SIZES = 80, MORE = 40 };
  uint64_t more = 0;
  size_t used = 0;
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    char sizes[SIZES];
    if (!is_first(payoff, i)) continue;
    size_t size = (size_t)put_sizes(sizes, SIZES, &payoff->shapes[i]);
    if (more || used + 2 + size + MORE > room)
      more++;
    else
      used += (size_t)snprintf(text + used, room - used, "%s%s",
                               used ? ", " : "", sizes);
  }
  if (more)
    snprintf(text + used, room - used, " and %llu more",
             (unsigned long long)more);
}

static kmb_status no_such_shape(const kmb_payoff *payoff) {
  char wanted[80], there[200] = "";
  const kmb_payoff_params *p = &payoff->params;
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  shape.grid_x = p->grid_x;
  shape.grid_y = p->grid_y;
  shape.grid_z = p->grid_z;
  shape.block_x = p->block_x;
  shape.block_y = p->block_y;
  shape.block_z = p->block_z;
  /* All of it is to fit into a message. */
  int size = put_sizes(wanted, sizeof wanted, &shape);
  list_sizes(payoff, there, sizeof there - (size_t)size);
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "no launch matches the shape %s; there are %s", wanted,
                   there);
}

kmb_status kmbi_payoff_choose_shape(kmb_payoff *payoff) {
  const kmb_payoff_params *p = &payoff->params;
  const kmb_payoff_change *c = &payoff->change;
  bool known = payoff->summary.flags & KMB_PAYOFF_SHAPES_KNOWN;
  bool asked = p->flags & KMB_PAYOFF_ONE_SHAPE;
  if (asked && !known)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the trace does not say how these kernels were launched: "
                     "no shape can be chosen");
  if (asked)
    payoff->wanted = (kmbi_shape){{p->grid_x, p->grid_y, p->grid_z},
                                  {p->block_x, p->block_y, p->block_z}};
  else
    payoff->wanted = (kmbi_shape){{c->grid_x, c->grid_y, c->grid_z},
                                  {c->block_x, c->block_y, c->block_z}};
  bool measured = c->flags & KMB_PAYOFF_HAS_SHAPE;
  if (!payoff->live_shapes || !known || p->flags & KMB_PAYOFF_ALL_SHAPES)
    take(payoff, NULL);
  else if (asked || measured)
    take(payoff, &payoff->wanted);
  else if (!payoff->several)
    take(payoff, NULL);
  else
    payoff->choice = KMBI_PAYOFF_AMBIGUOUS;
  return asked && payoff->choice == KMBI_PAYOFF_NONE ? no_such_shape(payoff)
                                                     : KMB_OK;
}

bool kmbi_payoff_shape(const kmb_payoff *payoff, kmb_payoff_shape *shape) {
  uint64_t scaled = 0;
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    if (!(payoff->shapes[i].flags & KMB_PAYOFF_SCALED)) continue;
    if (scaled++ && by_size(shape, &payoff->shapes[i]) != 0) return false;
    *shape = payoff->shapes[i];
  }
  return scaled && shape->grid_x;
}

const char *kmbi_payoff_shape_text(char text[KMBI_PAYOFF_SHAPE_SIZE],
                                   const kmb_payoff_shape *s) {
  if (!s->grid_x) return "grid and block unknown";
  snprintf(text, KMBI_PAYOFF_SHAPE_SIZE,
           "grid %u × %u × %u, block %u × %u × %u", (unsigned)s->grid_x,
           (unsigned)s->grid_y, (unsigned)s->grid_z, (unsigned)s->block_x,
           (unsigned)s->block_y, (unsigned)s->block_z);
  return text;
}
