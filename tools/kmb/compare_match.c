/* Partners: results of the same name and axes, whatever the axes' order. */
#include "compare.h"

#include <stdlib.h>

static uint64_t hash_text(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static bool is_ignored(const compare_options *o, const char *axis) {
  for (int i = 0; i < o->ignored_count; i++)
    if (strcmp(o->ignored[i], axis) == 0) return true;
  return false;
}

/* Axes are added up, so that their order does not count. */
static uint64_t hash_point(const kmb_result *r, const compare_options *o) {
  static const uint64_t basis = UINT64_C(0xcbf29ce484222325);
  uint64_t hash = hash_text(basis, result_name(r));
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (!is_ignored(o, axis.key))
      hash += hash_text(hash_text(basis, axis.key), axis.value);
  }
  return hash ^ (hash >> 29);
}

static bool has_axis(const kmb_result *r, const kmb_pair *wanted,
                     uint64_t near_to) {
  kmb_pair axis = {"", ""};
  uint64_t count = kmb_result_axis_count(r);
  for (uint64_t i = 0; i < count; i++) {
    kmb_result_axis(r, (near_to + i) % count, &axis);
    if (strcmp(axis.key, wanted->key) == 0)
      return strcmp(axis.value, wanted->value) == 0;
  }
  return false;
}

static uint64_t counted_axes(const kmb_result *r, const compare_options *o) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    count += !is_ignored(o, axis.key);
  }
  return count;
}

static bool same_point(const kmb_result *a, const kmb_result *b,
                       const compare_options *o) {
  if (strcmp(result_name(a), result_name(b)) != 0 ||
      counted_axes(a, o) != counted_axes(b, o))
    return false;
  for (uint64_t i = 0; i < kmb_result_axis_count(a); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(a, i, &axis);
    if (!is_ignored(o, axis.key) && !has_axis(b, &axis, i)) return false;
  }
  return true;
}

/* Open addressing over the items of one file. */
typedef struct point_index {
  const results_file *file;
  const compare_options *o;
  uint64_t *hashes; /* by item */
  size_t *slots;    /* an item's place plus 1; 0: empty */
  size_t mask;
} point_index;

static void index_free(point_index *x) {
  free(x->hashes);
  free(x->slots);
}

/* The slot of the point, or the empty one where it would stand. */
static size_t *index_find(const point_index *x, const kmb_result *r,
                          uint64_t hash) {
  for (size_t at = (size_t)hash & x->mask;; at = (at + 1) & x->mask) {
    size_t item = x->slots[at];
    if (!item || (x->hashes[item - 1] == hash &&
                  same_point(x->file->items[item - 1], r, x->o)))
      return &x->slots[at];
  }
}

/* A point that stands twice has no one partner. */
static bool index_fill(point_index *x) {
  const results_file *f = x->file;
  size_t size = 16;
  while (size < 2 * f->count)
    size *= 2;
  x->mask = size - 1;
  x->hashes = calloc(f->count, sizeof *x->hashes);
  x->slots = calloc(size, sizeof *x->slots);
  if (!x->hashes || !x->slots) {
    fputs("kmb: out of memory\n", stderr);
    return false;
  }
  for (size_t i = 0; i < f->count; i++) {
    x->hashes[i] = hash_point(f->items[i], x->o);
    size_t *slot = index_find(x, f->items[i], x->hashes[i]);
    if (*slot) {
      fprintf(stderr,
              "kmb: %s: results %zu and %zu, \"%s\", have the same name and "
              "axes: they have no one partner\n",
              f->path, *slot, i + 1, result_name(f->items[i]));
      return false;
    }
    *slot = i + 1;
  }
  return true;
}

static bool match(const point_index *old, const point_index *fresh,
                  comparison_table *t) {
  const results_file *f = old->file, *g = fresh->file;
  t->rows = calloc(f->count, sizeof *t->rows);
  t->only_old = calloc(f->count, sizeof(const kmb_result *));
  t->only_fresh = calloc(g->count, sizeof(const kmb_result *));
  if (!t->rows || !t->only_old || !t->only_fresh) {
    fputs("kmb: out of memory\n", stderr);
    return false;
  }
  for (size_t i = 0; i < f->count; i++) {
    size_t partner = *index_find(fresh, f->items[i], old->hashes[i]);
    if (!partner) {
      t->only_old[t->only_old_count++] = f->items[i];
      continue;
    }
    comparison *c = &t->rows[t->count++];
    compare_pair(f->items[i], g->items[partner - 1], old->o, c);
    add_differences(c->old, c->fresh, t);
    t->of[c->verdict]++;
  }
  for (size_t i = 0; i < g->count; i++)
    if (!*index_find(old, g->items[i], fresh->hashes[i]))
      t->only_fresh[t->only_fresh_count++] = g->items[i];
  return true;
}

static bool any_has(const results_file *f, const char *key) {
  for (size_t i = 0; i < f->count; i++)
    for (uint64_t k = 0; k < kmb_result_axis_count(f->items[i]); k++) {
      kmb_pair axis = {"", ""};
      kmb_result_axis(f->items[i], k, &axis);
      if (strcmp(axis.key, key) == 0) return true;
    }
  return false;
}

/* A slip of the pen would otherwise look like points without partners. */
static bool axes_exist(const results_file *old, const results_file *fresh,
                       const compare_options *o) {
  for (int i = 0; i < o->ignored_count; i++) {
    const char *key = o->ignored[i];
    if (any_has(old, key) || any_has(fresh, key)) continue;
    fprintf(stderr,
            "kmb: --ignore-axis: no result of %s or %s has an axis \"%s\"\n",
            old->path, fresh->path, key);
    return false;
  }
  return true;
}

bool compare_files(const results_file *old, const results_file *fresh,
                   const compare_options *o, comparison_table *t) {
  point_index x = {.file = old, .o = o}, y = {.file = fresh, .o = o};
  *t = (comparison_table){.cut = old->cut_line || fresh->cut_line};
  bool good = axes_exist(old, fresh, o) && index_fill(&x) && index_fill(&y) &&
              match(&x, &y, t);
  index_free(&x);
  index_free(&y);
  return good;
}

void comparison_table_free(comparison_table *t) {
  free(t->rows);
  free(t->only_old);
  free(t->only_fresh);
}
