/* kmb code --diff: two kernels side by side. */
#include "code_file.h"
#include "kmb.h"

#include <inttypes.h>
#include <stdlib.h>

/* One figure of both. */
typedef struct row {
  const char *text;
  code_number a, b;
} row;

enum { RESOURCES = 6, ROWS_MOST = CODE_CLASSES + RESOURCES };

typedef struct pair {
  const code_kernel *a, *b;
  const code_summary *sa, *sb; /* both or none */
  const char *why;             /* none: why */
  row rows[ROWS_MOST];
  int count;
} pair;

static code_number number(uint64_t value) {
  return (code_number){value, true};
}

static void add_row(pair *p, const char *text, code_number a, code_number b) {
  if ((a.known && a.value) || (b.known && b.value))
    p->rows[p->count++] = (row){text, a, b};
}

static void make_rows(pair *p) {
  const code_kernel *a = p->a, *b = p->b;
  p->count = 0;
  add_row(p, "registers", a->registers, b->registers);
  add_row(p, "shared bytes", a->shared_bytes, b->shared_bytes);
  add_row(p, "local bytes", a->local_bytes, b->local_bytes);
  add_row(p, "stack bytes", a->stack_bytes, b->stack_bytes);
  add_row(p, "max threads", a->max_threads, b->max_threads);
  if (!p->sa) return;
  add_row(p, "instructions", number(p->sa->instructions),
          number(p->sb->instructions));
  for (int id = 0; id < CODE_CLASSES; id++)
    add_row(p, code_class_text(id), number(p->sa->counts[id]),
            number(p->sb->counts[id]));
}

static void make_pair(pair *p, const code_file *a, const code_kernel *ka,
                      const code_file *b, const code_kernel *kb) {
  const char *why_b = NULL;
  p->a = ka;
  p->b = kb;
  p->sa = code_file_summary(a, ka, &p->why);
  p->sb = code_file_summary(b, kb, &why_b);
  if (p->sa && !p->sb) p->why = why_b;
  if (!p->sa || !p->sb) p->sa = p->sb = NULL;
  make_rows(p);
}

static bool is_same(const pair *p) {
  return strcmp(p->a->hash, p->b->hash) == 0;
}

static const char *shown(const code_kernel *k) {
  return k->demangled ? k->demangled : k->name;
}

static void print_value(code_number n) {
  if (n.known) printf("  %10" PRIu64, n.value);
  if (!n.known) printf("  %10s", "not stated");
}

static void print_pair(const pair *p) {
  printf("\n  %s\n", shown(p->a));
  if (strcmp(p->a->name, p->b->name) != 0) printf("  %s\n", shown(p->b));
  printf("    %s\n", is_same(p) ? "same code" : "different code");
  for (int i = 0; i < p->count; i++) {
    const row *r = &p->rows[i];
    printf("    %-26s", r->text);
    print_value(r->a);
    print_value(r->b);
    if (r->a.known && r->b.known && r->a.value != r->b.value)
      printf("  %+10" PRId64, (int64_t)(r->b.value - r->a.value));
    putchar('\n');
  }
  if (!p->sa) printf("    %-26s  unknown: %s\n", "classes", p->why);
}

static json_t *pair_json(const pair *p) {
  json_t *to = json_object(), *rows = json_array();
  json_object_set_new(to, "a", json_string(p->a->name));
  json_object_set_new(to, "b", json_string(p->b->name));
  json_object_set_new(to, "same_code", json_boolean(is_same(p)));
  for (int i = 0; i < p->count; i++) {
    json_t *line = json_object();
    const row *r = &p->rows[i];
    json_object_set_new(line, "what", json_string(r->text));
    if (r->a.known)
      json_object_set_new(line, "a", json_integer((json_int_t)r->a.value));
    if (r->b.known)
      json_object_set_new(line, "b", json_integer((json_int_t)r->b.value));
    json_array_append_new(rows, line);
  }
  json_object_set_new(to, "rows", rows);
  if (!p->sa) json_object_set_new(to, "classes_absent", json_string(p->why));
  return to;
}

static const code_kernel *named(const code_file *file, const char *name) {
  for (size_t i = 0; i < file->image.kernel_count; i++)
    if (strcmp(file->image.kernels[i].name, name) == 0)
      return &file->image.kernels[i];
  return NULL;
}

/* One of each, whatever their names; of several, those of the same name. */
static const code_kernel *partner(const code_file *of, const code_kernel *k,
                                  const code_file *in) {
  if (of->image.kernel_count == 1 && in->image.kernel_count == 1)
    return in->image.kernels;
  return named(in, k->name);
}

/* Kernels without a partner. */
static void print_alone(const code_file *a, const code_file *b, json_t *to) {
  for (size_t i = 0; i < a->image.kernel_count; i++) {
    const code_kernel *k = &a->image.kernels[i];
    if (partner(a, k, b)) continue;
    if (to)
      json_array_append_new(to, json_string(k->name));
    else
      printf("\n  %s\n    only in %s\n", shown(k), a->path);
  }
}

static void print_head(const code_file *a, const code_file *b) {
  bool same = strcmp(a->image.hash, b->image.hash) == 0;
  printf("%s: %s, sha256 %s\n", a->path, a->image.arch, a->image.hash);
  printf("%s: %s, sha256 %s\n", b->path, b->image.arch, b->image.hash);
  puts(same ? "the same image" : "different images");
}

static json_t *head_json(const code_file *file) {
  json_t *to = json_object();
  json_object_set_new(to, "file", json_string(file->path));
  json_object_set_new(to, "architecture", json_string(file->image.arch));
  json_object_set_new(to, "sha256", json_string(file->image.hash));
  return to;
}

static int all_json(const code_file *a, const code_file *b, pair *p) {
  json_t *to = json_object(), *pairs = json_array();
  json_t *only_a = json_array(), *only_b = json_array();
  json_object_set_new(to, "a", head_json(a));
  json_object_set_new(to, "b", head_json(b));
  json_object_set_new(to, "same_image",
                      json_boolean(!strcmp(a->image.hash, b->image.hash)));
  for (size_t i = 0; i < a->image.kernel_count; i++) {
    const code_kernel *k = &a->image.kernels[i], *other = partner(a, k, b);
    if (!other) continue;
    make_pair(p, a, k, b, other);
    json_array_append_new(pairs, pair_json(p));
  }
  json_object_set_new(to, "kernels", pairs);
  print_alone(a, b, only_a);
  print_alone(b, a, only_b);
  json_object_set_new(to, "only_a", only_a);
  json_object_set_new(to, "only_b", only_b);
  return print_json(to);
}

int code_diff(const code_file *a, const code_file *b, const code_options *o) {
  pair *p = malloc(sizeof *p);
  int code = EXIT_DONE;
  if (!p) {
    fputs("kmb: out of memory\n", stderr);
    return EXIT_FAILED;
  }
  if (o->json) {
    code = all_json(a, b, p);
  } else {
    print_head(a, b);
    for (size_t i = 0; i < a->image.kernel_count; i++) {
      const code_kernel *k = &a->image.kernels[i], *other = partner(a, k, b);
      if (!other) continue;
      make_pair(p, a, k, b, other);
      print_pair(p);
    }
    print_alone(a, b, NULL);
    print_alone(b, a, NULL);
  }
  free(p);
  return code;
}
