/* What kmb code shows, as text and as JSON. */
#include "code_set.h"
#include "kmb.h"

#include <ctype.h>
#include <inttypes.h>

static const char *const groups[] = {"matrix", "memory",   "local",
                                     "bulk",   "barriers", "arithmetic"};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static void print_number(const char *label, code_number n, const char *unit) {
  if (n.known) printf("    %-12s  %" PRIu64 "%s\n", label, n.value, unit);
  if (!n.known) printf("    %-12s  not stated\n", label);
}

/* A line for each group that has something in it. */
static void print_classes(const code_summary *s) {
  for (int g = 0; g < GROUPS; g++) {
    const char *between = "";
    for (int id = 0; id < CODE_CLASSES; id++) {
      if (!s->counts[id] || strcmp(code_class_group(id), groups[g]) != 0)
        continue;
      if (!*between) printf("    %-12s  ", groups[g]);
      printf("%s%s: %" PRIu64, between, code_class_text(id), s->counts[id]);
      between = ", ";
    }
    if (*between) putchar('\n');
  }
}

static void print_loop(const code_loop *l) {
  const char *between = ": ";
  printf("    %-12s  0x%" PRIx64 "-0x%" PRIx64 ", %" PRIu64 " instructions%s",
         "loop", l->from, l->to, l->instructions,
         l->innermost ? "" : ", with other loops in it");
  for (int id = 0; id < CODE_CLASSES; id++) {
    if (!l->counts[id] || !*code_class_group(id)) continue;
    printf("%s%s: %" PRIu32, between, code_class_text(id), l->counts[id]);
    between = ", ";
  }
  putchar('\n');
}

static void print_summary(const code_file *file, const code_kernel *k,
                          int expect) {
  const char *why = NULL;
  const code_summary *s = code_file_summary(file, k, &why);
  code_flag flags[CODE_FLAGS_MOST];
  if (!s) {
    printf("    %-12s  unknown: %s\n", "classes", why);
    return;
  }
  print_classes(s);
  if (s->loops_unknown)
    printf("    %-12s  unknown: more than there is room for\n", "loops");
  for (size_t i = 0; i < s->loop_count; i++)
    print_loop(&s->loops[i]);
  int count = code_flags(file, k, s, expect, flags);
  for (int i = 0; i < count; i++)
    printf("    %s: %s\n", flags[i].name, flags[i].text);
}

/* How it was launched, as results list it, and what was known of it then. */
static void print_launches(const code_set *set, const code_file *file,
                           const code_kernel *k) {
  size_t at = 0;
  for (const kmb_code_kernel *row;
       (row = code_set_launch(set, file->image.hash, k->name, &at));) {
    printf("    %-12s  %" PRIu64 " times, grid %ux%ux%u, block %ux%ux%u, "
           "dynamic shared %" PRIu64 " B\n",
           "launched", row->launches, row->grid_x, row->grid_y, row->grid_z,
           row->block_x, row->block_y, row->block_z, row->dynamic_shared_bytes);
    if (row->flags & KMB_CODE_HAS_OCCUPANCY)
      printf("    %-12s  %" PRIu64 " blocks a multiprocessor\n", "occupancy",
             row->blocks_per_unit);
    if (row->flags & KMB_CODE_HAS_ATTRIBUTES)
      printf("    %-12s  registers %" PRIu64 ", static shared %" PRIu64
             " B, local %" PRIu64 " B, max threads %" PRIu64 "\n",
             "captured", row->registers, row->static_shared_bytes,
             row->local_bytes, row->max_threads);
  }
}

static void print_nvidia(const code_kernel *k) {
  print_number("registers", k->registers, "");
  print_number("shared", k->shared_bytes, " B");
  print_number("local", k->local_bytes, " B");
  print_number("stack", k->stack_bytes, " B");
}

static void print_amd(const code_kernel *k) {
  print_number("VGPRs", k->registers, "");
  if (k->accumulators.known) print_number("AGPRs", k->accumulators, "");
  print_number("SGPRs", k->scalars, "");
  print_number("VGPR spills", k->spilled, "");
  print_number("SGPR spills", k->spilled_scalars, "");
  print_number("LDS", k->shared_bytes, " B");
  print_number("scratch", k->stack_bytes, " B");
  print_number("wavefront", k->wavefront, "");
}

static void print_kernel(const code_set *set, const code_file *file,
                         const code_kernel *k, int expect) {
  printf("\n  %s\n", k->demangled ? k->demangled : k->name);
  if (k->demangled) printf("    %-12s  %s\n", "symbol", k->name);
  print_launches(set, file, k);
  if (file->image.maker == CODE_AMD)
    print_amd(k);
  else
    print_nvidia(k);
  print_number("max threads", k->max_threads, "");
  printf("    %-12s  %" PRIu64 " B, sha256 %s\n", "instructions", k->code_bytes,
         k->hash);
  print_summary(file, k, expect);
}

/* Of results: what they list, and what of it is not there. */
static void print_head(const code_set *set) {
  if (!set->of_results) return;
  printf("%s: %zu image%s of what its results list\n", set->path, set->count,
         set->count == 1 ? "" : "s");
  for (size_t i = 0; i < set->absent_count; i++) {
    const code_absent *a = &set->absent[i];
    if (a->path)
      printf("  missing: %s of %s: %s\n", a->path, a->kernels, a->why);
    else
      printf("  no image of %s: %s\n", a->kernels, a->why);
  }
}

void code_print(const code_set *set, const code_options *o) {
  print_head(set);
  for (size_t f = 0; f < set->count; f++) {
    const code_file *file = &set->files[f];
    const code_image *image = &file->image;
    if (set->of_results) putchar('\n');
    printf("%s: %s for %s, %" PRIu64 " B\nsha256 %s\n", file->path,
           image->maker == CODE_AMD ? "code object" : "cubin", image->arch,
           image->bytes, image->hash);
    for (size_t i = 0; i < image->kernel_count; i++)
      print_kernel(set, file, &image->kernels[i], o->expect);
  }
}

static bool list_file(const code_file *file) {
  for (size_t i = 0; i < file->image.kernel_count; i++) {
    const char *why = NULL;
    const code_summary *s =
        code_file_summary(file, &file->image.kernels[i], &why);
    if (!s) {
      fprintf(stderr, "kmb: %s: no listing of %s: %s\n", file->path,
              file->image.kernels[i].name, why);
      return false;
    }
    fwrite(s->text, 1, s->text_size, stdout);
  }
  return true;
}

bool code_list(const code_set *set) {
  for (size_t i = 0; i < set->count; i++)
    if (!list_file(&set->files[i])) return false;
  return true;
}

static void put_number(json_t *to, const char *key, code_number n) {
  if (n.known) json_object_set_new(to, key, json_integer((json_int_t)n.value));
}

static void put_class(json_t *to, int id, uint64_t count) {
  char key[64];
  const char *name = code_class_key(id);
  size_t i = 0;
  if (!count) return;
  for (; name[i] && i + 1 < sizeof key; i++)
    key[i] = (char)tolower((unsigned char)name[i]);
  key[i] = '\0';
  json_object_set_new(to, key, json_integer((json_int_t)count));
}

static json_t *loops_json(const code_summary *s) {
  json_t *to = json_array();
  for (size_t i = 0; i < s->loop_count; i++) {
    const code_loop *l = &s->loops[i];
    json_t *loop = json_object(), *classes = json_object();
    json_object_set_new(loop, "from", json_integer((json_int_t)l->from));
    json_object_set_new(loop, "to", json_integer((json_int_t)l->to));
    json_object_set_new(loop, "instructions",
                        json_integer((json_int_t)l->instructions));
    json_object_set_new(loop, "innermost", json_boolean(l->innermost));
    for (int id = 0; id < CODE_CLASSES; id++)
      put_class(classes, id, l->counts[id]);
    json_object_set_new(loop, "classes", classes);
    json_array_append_new(to, loop);
  }
  return to;
}

static json_t *flags_json(const code_file *file, const code_kernel *k,
                          const code_summary *s, int expect) {
  code_flag flags[CODE_FLAGS_MOST];
  int count = code_flags(file, k, s, expect, flags);
  json_t *to = json_array();
  for (int i = 0; i < count; i++) {
    json_t *flag = json_object();
    json_object_set_new(flag, "flag", json_string(flags[i].name));
    json_object_set_new(flag, "text", json_string(flags[i].text));
    json_array_append_new(to, flag);
  }
  return to;
}

static void put_summary(json_t *to, const code_file *file, const code_kernel *k,
                        int expect) {
  const char *why = NULL;
  const code_summary *s = code_file_summary(file, k, &why);
  json_t *classes = NULL;
  if (!s) {
    json_object_set_new(to, "classes_absent", json_string(why));
    return;
  }
  classes = json_object();
  for (int id = 0; id < CODE_CLASSES; id++)
    put_class(classes, id, s->counts[id]);
  json_object_set_new(to, "instructions",
                      json_integer((json_int_t)s->instructions));
  json_object_set_new(to, "classes", classes);
  if (s->loops_unknown)
    json_object_set_new(to, "loops_absent",
                        json_string("more than there is "
                                    "room for"));
  else
    json_object_set_new(to, "loops", loops_json(s));
  json_object_set_new(to, "flags", flags_json(file, k, s, expect));
}

static json_t *sizes_json(uint32_t x, uint32_t y, uint32_t z) {
  return json_pack("[I, I, I]", (json_int_t)x, (json_int_t)y, (json_int_t)z);
}

static void put_count(json_t *to, const char *key, uint64_t count) {
  json_object_set_new(to, key, json_integer((json_int_t)count));
}

static json_t *launch_json(const kmb_code_kernel *row) {
  json_t *to = json_object();
  put_count(to, "launches", row->launches);
  json_object_set_new(to, "grid",
                      sizes_json(row->grid_x, row->grid_y, row->grid_z));
  json_object_set_new(to, "block",
                      sizes_json(row->block_x, row->block_y, row->block_z));
  put_count(to, "dynamic_shared_bytes", row->dynamic_shared_bytes);
  if (row->flags & KMB_CODE_HAS_OCCUPANCY)
    put_count(to, "blocks_per_unit", row->blocks_per_unit);
  if (row->flags & KMB_CODE_HAS_SCALARS)
    put_count(to, "scalar_registers", row->scalar_registers);
  if (row->flags & KMB_CODE_HAS_ACCUMULATORS)
    put_count(to, "accumulator_registers", row->accumulator_registers);
  if (row->flags & KMB_CODE_HAS_SPILLS) {
    put_count(to, "spilled_registers", row->spilled_registers);
    put_count(to, "spilled_scalar_registers", row->spilled_scalar_registers);
  }
  if (!(row->flags & KMB_CODE_HAS_ATTRIBUTES)) return to;
  put_count(to, "registers", row->registers);
  put_count(to, "static_shared_bytes", row->static_shared_bytes);
  put_count(to, "local_bytes", row->local_bytes);
  put_count(to, "max_threads", row->max_threads);
  return to;
}

static json_t *kernel_json(const code_set *set, const code_file *file,
                           const code_kernel *k, int expect) {
  json_t *to = json_object(), *launches = json_array();
  size_t at = 0;
  json_object_set_new(to, "name", json_string(k->name));
  if (k->demangled)
    json_object_set_new(to, "demangled", json_string(k->demangled));
  put_number(to, "registers", k->registers);
  put_number(to, "shared_bytes", k->shared_bytes);
  put_number(to, "local_bytes", k->local_bytes);
  put_number(to, "stack_bytes", k->stack_bytes);
  put_number(to, "max_threads", k->max_threads);
  put_number(to, "agprs", k->accumulators);
  put_number(to, "sgprs", k->scalars);
  put_number(to, "spilled_vgprs", k->spilled);
  put_number(to, "spilled_sgprs", k->spilled_scalars);
  put_number(to, "wavefront", k->wavefront);
  put_count(to, "code_bytes", k->code_bytes);
  json_object_set_new(to, "code_sha256", json_string(k->hash));
  for (const kmb_code_kernel *row;
       (row = code_set_launch(set, file->image.hash, k->name, &at));)
    json_array_append_new(launches, launch_json(row));
  if (set->of_results)
    json_object_set_new(to, "launched", launches);
  else
    json_decref(launches);
  put_summary(to, file, k, expect);
  return to;
}

static json_t *file_json(const code_set *set, const code_file *file,
                         const code_options *o) {
  const code_image *image = &file->image;
  json_t *to = json_object(), *kernels = json_array();
  json_object_set_new(to, "file", json_string(file->path));
  json_object_set_new(to, "architecture", json_string(image->arch));
  put_count(to, "bytes", image->bytes);
  json_object_set_new(to, "sha256", json_string(image->hash));
  for (size_t i = 0; i < image->kernel_count; i++)
    json_array_append_new(
        kernels, kernel_json(set, file, &image->kernels[i], o->expect));
  json_object_set_new(to, "kernels", kernels);
  return to;
}

static json_t *absent_json(const code_set *set) {
  json_t *to = json_array();
  for (size_t i = 0; i < set->absent_count; i++) {
    const code_absent *a = &set->absent[i];
    json_t *one = json_object();
    if (a->path) json_object_set_new(one, "file", json_string(a->path));
    if (a->hash) json_object_set_new(one, "sha256", json_string(a->hash));
    json_object_set_new(one, "kernels", json_string(a->kernels));
    json_object_set_new(one, "reason", json_string(a->why));
    json_array_append_new(to, one);
  }
  return to;
}

json_t *code_json(const code_set *set, const code_options *o) {
  if (!set->of_results) return file_json(set, set->files, o);
  json_t *to = json_object(), *images = json_array();
  json_object_set_new(to, "file", json_string(set->path));
  for (size_t i = 0; i < set->count; i++)
    json_array_append_new(images, file_json(set, &set->files[i], o));
  json_object_set_new(to, "images", images);
  json_object_set_new(to, "absent", absent_json(set));
  return to;
}
