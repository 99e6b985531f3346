/* kmb code --diff: two kernels side by side. */
#include "code_set.h"
#include "kmb.h"

#include <inttypes.h>
#include <stdlib.h>

/* One figure of both. */
typedef struct row {
  const char *text;
  code_number a, b;
} row;

enum { RESOURCES = 12, ROWS_MOST = CODE_CLASSES + RESOURCES };

typedef struct pair {
  const code_kernel *a, *b;
  const code_file *in_a, *in_b;
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

/* In the words that kmb code has for each of them. */
static void make_rows(pair *p) {
  const code_kernel *a = p->a, *b = p->b;
  bool amd =
      p->in_a->image.maker == CODE_AMD && p->in_b->image.maker == CODE_AMD;
  p->count = 0;
  add_row(p, "code bytes", number(a->code_bytes), number(b->code_bytes));
  add_row(p, amd ? "VGPRs" : "registers", a->registers, b->registers);
  add_row(p, "AGPRs", a->accumulators, b->accumulators);
  add_row(p, "SGPRs", a->scalars, b->scalars);
  add_row(p, "VGPR spills", a->spilled, b->spilled);
  add_row(p, "SGPR spills", a->spilled_scalars, b->spilled_scalars);
  add_row(p, amd ? "LDS bytes" : "shared bytes", a->shared_bytes,
          b->shared_bytes);
  add_row(p, "local bytes", a->local_bytes, b->local_bytes);
  add_row(p, amd ? "scratch bytes" : "stack bytes", a->stack_bytes,
          b->stack_bytes);
  add_row(p, "wavefront", a->wavefront, b->wavefront);
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
  p->in_a = a;
  p->in_b = b;
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

/* `paths`: there are several files. */
static void print_pair(const pair *p, bool paths) {
  printf("\n  %s\n", shown(p->a));
  if (strcmp(p->a->name, p->b->name) != 0) printf("  %s\n", shown(p->b));
  if (paths) printf("    %s\n    %s\n", p->in_a->path, p->in_b->path);
  printf("    %s\n", is_same(p) ? "same code" : "different code");
  printf("    %-26s  %10.10s  %10.10s\n", "code sha256", p->a->hash,
         p->b->hash);
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

static json_t *pair_json(const pair *p, bool paths) {
  json_t *to = json_object(), *rows = json_array();
  json_object_set_new(to, "a", json_string(p->a->name));
  json_object_set_new(to, "b", json_string(p->b->name));
  if (paths) json_object_set_new(to, "file_a", json_string(p->in_a->path));
  if (paths) json_object_set_new(to, "file_b", json_string(p->in_b->path));
  json_object_set_new(to, "same_code", json_boolean(is_same(p)));
  json_object_set_new(to, "code_sha256_a", json_string(p->a->hash));
  json_object_set_new(to, "code_sha256_b", json_string(p->b->hash));
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

/* A kernel and where it is. */
typedef struct place {
  const code_set *set;
  size_t file, kernel;
} place;

static const code_kernel *kernel_at(const place *p) {
  return p->file < p->set->count
             ? &p->set->files[p->file].image.kernels[p->kernel]
             : NULL;
}

/* The next one, past files without kernels. */
static const code_kernel *settle(place *p) {
  while (p->file < p->set->count &&
         p->kernel >= p->set->files[p->file].image.kernel_count) {
    p->file++;
    p->kernel = 0;
  }
  return kernel_at(p);
}

static size_t kernel_count(const code_set *set) {
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++)
    count += set->files[i].image.kernel_count;
  return count;
}

/* One of each, whatever their names; of several, those of the same name. */
static bool are_partners(const code_set *a, const code_kernel *ka,
                         const code_set *b, const code_kernel *kb) {
  return (kernel_count(a) == 1 && kernel_count(b) == 1) ||
         strcmp(ka->name, kb->name) == 0;
}

static bool has_partner(const code_set *a, const code_kernel *ka,
                        const code_set *b) {
  place y = {.set = b};
  for (const code_kernel *kb; (kb = settle(&y)); y.kernel++)
    if (are_partners(a, ka, b, kb)) return true;
  return false;
}

/* Kernels without a partner. `regex`: the other file may hold them too, since
 * only what that matches was looked at there. */
static void print_alone(const code_set *a, const code_set *b, const char *regex,
                        json_t *to) {
  place x = {.set = a};
  for (const code_kernel *k; (k = settle(&x)); x.kernel++) {
    if (has_partner(a, k, b)) continue;
    if (to)
      json_array_append_new(to, json_string(k->name));
    else if (regex)
      printf(
          "\n  %s\n    not compared: none of its name among those of %s that "
          "match \"%s\"\n",
          shown(k), b->path, regex);
    else
      printf("\n  %s\n    only in %s\n", shown(k), a->path);
  }
}

/* What is absent is in neither list. */
static void print_absent(const code_set *set) {
  for (size_t i = 0; i < set->absent_count; i++)
    printf("%s: %s is not there: %s\n", set->path, set->absent[i].kernels,
           set->absent[i].why);
}

static bool is_single(const code_set *a, const code_set *b) {
  return a->count == 1 && b->count == 1;
}

static bool same_image(const code_set *a, const code_set *b) {
  return strcmp(a->files->image.hash, b->files->image.hash) == 0;
}

static void print_files(const code_set *set) {
  for (size_t i = 0; i < set->count; i++)
    printf("%s: %s, sha256 %s\n", set->files[i].path, set->files[i].image.arch,
           set->files[i].image.hash);
  print_absent(set);
}

static json_t *file_json(const code_file *file) {
  json_t *to = json_object();
  json_object_set_new(to, "file", json_string(file->path));
  json_object_set_new(to, "architecture", json_string(file->image.arch));
  json_object_set_new(to, "sha256", json_string(file->image.hash));
  return to;
}

static json_t *head_json(const code_set *set) {
  if (!set->of_results) return file_json(set->files);
  json_t *to = json_object(), *images = json_array(), *absent = json_array();
  json_object_set_new(to, "file", json_string(set->path));
  for (size_t i = 0; i < set->count; i++)
    json_array_append_new(images, file_json(&set->files[i]));
  for (size_t i = 0; i < set->absent_count; i++)
    json_array_append_new(absent, json_pack("{s:s, s:s}", "kernels",
                                            set->absent[i].kernels, "reason",
                                            set->absent[i].why));
  json_object_set_new(to, "images", images);
  json_object_set_new(to, "absent", absent);
  return to;
}

/* Each kernel with each partner; printed if there is no list to add it to. */
static void go_through(const code_set *a, const code_set *b, pair *p,
                       json_t *to) {
  bool paths = !is_single(a, b);
  place x = {.set = a};
  for (const code_kernel *ka; (ka = settle(&x)); x.kernel++) {
    place y = {.set = b};
    for (const code_kernel *kb; (kb = settle(&y)); y.kernel++) {
      if (!are_partners(a, ka, b, kb)) continue;
      make_pair(p, &a->files[x.file], ka, &b->files[y.file], kb);
      if (to)
        json_array_append_new(to, pair_json(p, paths));
      else
        print_pair(p, paths);
    }
  }
}

/* With --other-kernel each side has an expression of its own: of the other
 * side, which may hide partners. */
static void print_both_alone(const code_set *a, const code_set *b,
                             const code_options *o, json_t *to) {
  const char *of_b = o->other_kernel;
  const char *of_a = o->other_kernel ? o->kernel : NULL;
  json_t *lists[4] = {NULL};
  static const char *const names[] = {"only_a", "only_b", "unpaired_a",
                                      "unpaired_b"};
  for (int i = 0; i < 4 && to; i++)
    json_object_set_new(to, names[i], lists[i] = json_array());
  print_alone(a, b, of_b, lists[of_b ? 2 : 0]);
  print_alone(b, a, of_a, lists[of_a ? 3 : 1]);
}

static int all_json(const code_set *a, const code_set *b, pair *p,
                    const code_options *o) {
  json_t *to = json_object(), *pairs = json_array();
  json_object_set_new(to, "a", head_json(a));
  json_object_set_new(to, "b", head_json(b));
  if (is_single(a, b))
    json_object_set_new(to, "same_image", json_boolean(same_image(a, b)));
  go_through(a, b, p, pairs);
  json_object_set_new(to, "kernels", pairs);
  print_both_alone(a, b, o, to);
  return print_json(to);
}

int code_diff(const code_set *a, const code_set *b, const code_options *o) {
  pair *p = malloc(sizeof *p);
  int code = EXIT_DONE;
  if (!p) return no_memory();
  if (o->json) {
    code = all_json(a, b, p, o);
  } else {
    print_files(a);
    print_files(b);
    if (is_single(a, b))
      puts(same_image(a, b) ? "the same image" : "different images");
    go_through(a, b, p, NULL);
    print_both_alone(a, b, o, NULL);
  }
  free(p);
  return code;
}
