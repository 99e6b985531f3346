/* Which of the matched launches ran the code that was measured: by what was
 * captured of the step, and what the old result lists. */
#include "payoff.h"

#include "demangle.h"
#include "result.h"

#include <stdio.h>

/* Rows of code, whoever lists them. */
typedef struct listing {
  kmb_code_kernel *rows;
  uint64_t count;
} listing;

/* Gathering. */

static kmbi_map_key key_of_left(const void *rows, uint32_t index) {
  const kmbi_payoff_pair *p = kmbi_rows_at(rows, index);
  return (kmbi_map_key){p->name, p->shape, 0};
}

void kmbi_payoff_code_init(kmb_payoff *payoff) {
  kmbi_rows_init(&payoff->left, &payoff->memory, sizeof(kmbi_payoff_pair));
  kmbi_map_init(&payoff->left_map, &payoff->memory, key_of_left, &payoff->left);
}

void kmbi_payoff_code_release(kmb_payoff *payoff) {
  kmbi_map_release(&payoff->left_map);
  kmbi_rows_release(&payoff->left);
}

static void add_row(kmb_payoff *payoff, listing *to,
                    const kmb_code_kernel *row) {
  kmb_code_kernel *copy = &to->rows[to->count++];
  *copy = *row;
  if (!copy->demangled)
    copy->demangled = kmbi_demangle(&payoff->arena, copy->name);
}

static void add_result(kmb_payoff *payoff, listing *to, const kmb_result *r) {
  for (uint64_t i = 0; i < r->code_count; i++)
    add_row(payoff, to, &r->code[i]);
}

static uint64_t unseen_of(const kmb_result *r) {
  uint64_t omitted = 0, unseen = 0;
  kmbi_result_get_u64(r, KMB_VALUE_CODE_OMITTED, &omitted);
  kmbi_result_get_u64(r, KMB_VALUE_CODE_UNSEEN, &unseen);
  return omitted > UINT64_MAX - unseen ? UINT64_MAX : omitted + unseen;
}

static void add_unseen(kmb_payoff *payoff, uint64_t more) {
  uint64_t room = UINT64_MAX - payoff->unseen;
  payoff->unseen += more < room ? more : room;
}

/* What the step ran; without memory nothing, of which the arena tells. */
static listing list_step(kmb_payoff *payoff) {
  const kmb_payoff_params *p = &payoff->params;
  kmb_code_info info = kmb_code_info_init();
  listing step = {NULL, 0};
  uint64_t count = 0;
  if (p->code && !kmb_code_get_info(p->code, &info)) {
    count = info.kernels;
    add_unseen(payoff, info.graph_launches);
    add_unseen(payoff, info.elsewhere);
  }
  for (uint64_t i = 0; i < p->listed_count; i++) {
    count += p->listed[i]->code_count;
    add_unseen(payoff, unseen_of(p->listed[i]));
  }
  step.rows =
      kmbi_arena_alloc(&payoff->arena, (size_t)count + 1, sizeof *step.rows);
  if (!step.rows) return step;
  for (uint64_t i = 0; i < info.kernels; i++) {
    kmb_code_kernel row = kmb_code_kernel_init();
    if (!kmb_code_get_kernel(p->code, i, &row)) add_row(payoff, &step, &row);
  }
  for (uint64_t i = 0; i < p->listed_count; i++)
    add_result(payoff, &step, p->listed[i]);
  return step;
}

static listing list_old(kmb_payoff *payoff) {
  const kmb_result *before = payoff->change.before;
  listing old = {NULL, 0};
  if (!before) return old;
  old.rows = kmbi_arena_alloc(&payoff->arena, (size_t)before->code_count + 1,
                              sizeof *old.rows);
  if (old.rows) add_result(payoff, &old, before);
  return old;
}

/* Matching. */

static bool is_named(const kmb_code_kernel *row, const char *name) {
  return strcmp(row->name, name) == 0 ||
         (row->demangled && strcmp(row->demangled, name) == 0);
}

/* Which rows are of a kernel: `name` NULL for those of all. */
typedef struct want {
  const char *name;
  bool shaped; /* of this grid and block alone */
  uint32_t sizes[6];
} want;

static bool is_wanted(const kmb_code_kernel *row, const want *w) {
  const uint32_t sizes[6] = {row->grid_x,  row->grid_y,  row->grid_z,
                             row->block_x, row->block_y, row->block_z};
  return (!w->name || is_named(row, w->name)) &&
         (!w->shaped || memcmp(sizes, w->sizes, sizeof sizes) == 0);
}

static uint64_t count_wanted(const listing *of, const want *w) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < of->count; i++)
    count += is_wanted(&of->rows[i], w);
  return count;
}

static bool is_one_kernel(const listing *of) {
  for (uint64_t i = 1; i < of->count; i++)
    if (strcmp(of->rows[i].name, of->rows[0].name) != 0) return false;
  return of->count;
}

/* What was measured, in the place of this kernel: one of its name; else that
 * which the result has alone, as the two are partners whatever their names;
 * else the one that it traced. False: it is not known. */
static bool find_old(const kmb_payoff_change *c, const listing *old,
                     const char *name, want *w) {
  const uint32_t sizes[6] = {c->grid_x,  c->grid_y,  c->grid_z,
                             c->block_x, c->block_y, c->block_z};
  *w = (want){.name = name};
  if (!count_wanted(old, w)) w->name = is_one_kernel(old) ? NULL : c->kernel;
  if (!w->name && !is_one_kernel(old)) return false;
  /* The capture may hold launches of other shapes beside that. */
  want shaped = {.name = w->name, .shaped = true};
  memcpy(shaped.sizes, sizes, sizeof sizes);
  if (c->flags & KMB_PAYOFF_HAS_SHAPE && count_wanted(old, &shaped))
    *w = shaped;
  return count_wanted(old, w) > 0;
}

/* A row of the step against all that was measured. */
static kmb_code_match match_row(const kmb_code_kernel *row, const listing *old,
                                const want *w) {
  const char *reason = NULL;
  uint64_t found[3] = {0, 0, 0}, count = 0;
  for (uint64_t i = 0; i < old->count; i++) {
    if (!is_wanted(&old->rows[i], w)) continue;
    count++;
    found[kmbi_code_match_two(row, &old->rows[i], &reason)]++;
  }
  if (found[KMB_CODE_SAME] == count) return KMB_CODE_SAME;
  return found[KMB_CODE_DIFFERENT] == count ? KMB_CODE_DIFFERENT
                                            : KMB_CODE_UNKNOWN;
}

/* Flags of a shape by what the step's rows say together. */
static uint32_t match_rows(const listing *step, const want *here,
                           const listing *old, const want *there) {
  uint64_t found[3] = {0, 0, 0};
  for (uint64_t i = 0; i < step->count; i++)
    if (is_wanted(&step->rows[i], here))
      found[match_row(&step->rows[i], old, there)]++;
  if (found[KMB_CODE_UNKNOWN]) return 0;
  if (found[KMB_CODE_SAME] && found[KMB_CODE_DIFFERENT])
    return KMB_PAYOFF_CODE_SEVERAL;
  if (found[KMB_CODE_SAME]) return KMB_PAYOFF_CODE_SAME;
  return found[KMB_CODE_DIFFERENT] ? KMB_PAYOFF_CODE_OTHER : 0;
}

/* Hashes. */

enum { HASHES = 8, SHOWN = 2, DIGITS = 12 };

static const char *hash_of(const kmb_code_kernel *row) {
  return row->code_hash ? row->code_hash : row->hash;
}

/* Those of the wanted rows, each once, the first few. */
static const char *hashes(kmb_payoff *payoff, const listing *step,
                          const want *here) {
  char text[HASHES * KMB_CODE_HASH_SIZE];
  size_t size = 0;
  for (uint64_t i = 0; i < step->count; i++) {
    const kmb_code_kernel *row = &step->rows[i];
    const char *hash = is_wanted(row, here) ? hash_of(row) : NULL;
    text[size] = '\0';
    if (!hash || strstr(text, hash) || size + KMB_CODE_HASH_SIZE >= sizeof text)
      continue;
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%.64s",
                             size ? " " : "", hash);
  }
  return size ? kmbi_arena_copy(&payoff->arena, text) : NULL;
}

const char *kmbi_payoff_code_text(char text[KMBI_PAYOFF_CODE_SIZE],
                                  const char *code) {
  size_t size = 0;
  for (int i = 0; *code && i < SHOWN; i++) {
    size_t digits = strcspn(code, " ");
    size += (size_t)snprintf(text + size, KMBI_PAYOFF_CODE_SIZE - size,
                             "%s%.*s", i ? ", " : "",
                             digits < DIGITS ? (int)digits : (int)DIGITS, code);
    code += digits + (code[digits] == ' ');
  }
  if (*code) snprintf(text + size, KMBI_PAYOFF_CODE_SIZE - size, ", …");
  return text;
}

const char *kmbi_payoff_code(const kmb_payoff *payoff) {
  const char *code = NULL;
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    const kmb_payoff_shape *s = &payoff->shapes[i];
    if (!(s->flags & KMB_PAYOFF_SCALED)) continue;
    if (!s->code || (code && strcmp(code, s->code) != 0)) return NULL;
    code = s->code;
  }
  return code;
}

const char *kmbi_payoff_code_word(const kmb_payoff_shape *shape) {
  if (shape->flags & KMB_PAYOFF_CODE_SAME) return "same";
  if (shape->flags & KMB_PAYOFF_CODE_OTHER) return "other";
  return shape->flags & KMB_PAYOFF_CODE_SEVERAL ? "several" : "unknown";
}

void kmbi_payoff_put_code(kmbi_text *to, const kmb_payoff_shape *shape) {
  char text[KMBI_PAYOFF_CODE_SIZE];
  const char *before = ", code ", *after = ", not known to be the measured one";
  if (shape->flags & KMB_PAYOFF_CODE_SAME) {
    after = " as measured";
  } else if (shape->flags & KMB_PAYOFF_CODE_OTHER) {
    before = ", other code ";
    after = "";
  } else if (shape->flags & KMB_PAYOFF_CODE_SEVERAL) {
    before = ", several codes ";
    after = ", one as measured";
  }
  kmbi_text_put(to, before);
  if (!shape->code) {
    kmbi_text_put(to, "unknown");
    return;
  }
  kmbi_text_put(to, kmbi_payoff_code_text(text, shape->code));
  kmbi_text_put(to, after);
}

/* The whole. */

static bool leave(kmb_payoff *payoff, const kmbi_payoff_pair *pair) {
  kmbi_payoff_pair *row = kmbi_rows_add(&payoff->left);
  if (!row) return false;
  *row = *pair;
  const kmbi_map_key key = {pair->name, pair->shape, 0};
  payoff->summary.other_code_launches += pair->launches;
  return kmbi_map_put(&payoff->left_map, key, payoff->left.count - 1);
}

/* False without memory. */
static bool match_shape(kmb_payoff *payoff, const kmbi_payoff_pair *pair,
                        const listing *step, const listing *old,
                        kmb_payoff_shape *s) {
  want there, here = {.name = s->name,
                      .shaped = s->grid_x > 0,
                      .sizes = {s->grid_x, s->grid_y, s->grid_z, s->block_x,
                                s->block_y, s->block_z}};
  s->code = hashes(payoff, step, &here);
  if (find_old(&payoff->change, old, s->name, &there))
    s->flags |= match_rows(step, &here, old, &there);
  return !(s->flags & KMB_PAYOFF_CODE_OTHER) || leave(payoff, pair);
}

/* Names and shapes that are left. False without memory. */
static bool count_live(kmb_payoff *payoff, const kmbi_rows *pairs) {
  unsigned char *seen = kmbi_alloc(&payoff->memory, payoff->names, 1);
  for (uint32_t i = 0; i < pairs->count && seen; i++) {
    const kmbi_payoff_pair *p = kmbi_rows_at(pairs, i);
    if (!kmbi_payoff_is_live(&payoff->shapes[i])) continue;
    payoff->live_shapes++;
    payoff->live_names += !seen[p->name];
    seen[p->name] = 1;
  }
  payoff->several = payoff->live_shapes > payoff->live_names;
  bool good = seen != NULL;
  kmbi_free(&payoff->memory, seen, payoff->names, 1);
  return good;
}

bool kmbi_payoff_match_code(kmb_payoff *payoff, const kmbi_rows *pairs) {
  const kmb_payoff_change *c = &payoff->change;
  payoff->has_code = payoff->params.code || payoff->params.listed_count;
  if (c->before && c->after &&
      kmb_result_code_match(c->before, c->after) == KMB_CODE_SAME)
    payoff->summary.flags |= KMB_PAYOFF_SAME_CODE;
  if (payoff->has_code) {
    listing step = list_step(payoff), old = list_old(payoff);
    if (kmbi_arena_failed(&payoff->arena)) return false;
    payoff->has_old_code = old.count > 0;
    for (uint32_t i = 0; i < pairs->count; i++)
      if (!match_shape(payoff, kmbi_rows_at(pairs, i), &step, &old,
                       &payoff->shapes[i]))
        return false;
    if (payoff->left.count) payoff->select.left = &payoff->left_map;
  }
  return count_live(payoff, pairs);
}
