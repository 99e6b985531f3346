/* From a file to the code that it leads to: results name the images that were
 * saved beside them, each by its hash. */
#include "code_set.h"

#include <stdlib.h>

/* Which kernels are meant. An exit status, reported. */
static int compile(const char *text, regex_t *regex) {
  char why[128];
  int wrong = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
  if (!wrong) return EXIT_DONE;
  regerror(wrong, regex, why, sizeof why);
  return usage("code", "the kernel \"%s\": %s", text, why);
}

/* Rows. */

/* Of what image a row is, is not always known. */
static bool is_in(const kmb_code_kernel *row, const char *hash) {
  return row->hash && strcmp(row->hash, hash) == 0;
}

static bool is_of(const kmb_code_kernel *row, const char *hash,
                  const char *name) {
  return is_in(row, hash) && strcmp(row->name, name) == 0;
}

bool code_set_lists(const code_set *set, const char *hash, const char *name) {
  for (size_t i = 0; i < set->row_count; i++)
    if (is_of(&set->rows[i], hash, name)) return true;
  return false;
}

static bool same_launch(const kmb_code_kernel *a, const kmb_code_kernel *b) {
  return a->grid_x == b->grid_x && a->grid_y == b->grid_y &&
         a->grid_z == b->grid_z && a->block_x == b->block_x &&
         a->block_y == b->block_y && a->block_z == b->block_z &&
         a->dynamic_shared_bytes == b->dynamic_shared_bytes;
}

const kmb_code_kernel *code_set_launch(const code_set *set, const char *hash,
                                       const char *name, size_t *at) {
  while (*at < set->row_count) {
    const kmb_code_kernel *row = &set->rows[(*at)++];
    bool seen = !is_of(row, hash, name);
    for (const kmb_code_kernel *other = set->rows; other < row && !seen;
         other++)
      seen = is_of(other, hash, name) && same_launch(other, row);
    if (!seen) return row;
  }
  return NULL;
}

static int gather_rows(code_set *set) {
  size_t count = 0;
  const results_file *f = &set->results;
  for (size_t i = 0; i < f->count; i++)
    count += (size_t)kmb_result_code_count(f->items[i]);
  if (!count) {
    fprintf(stderr,
            "kmb: %s: its results list no code: it was not captured "
            "(kmb_bench_params::code)\n",
            set->path);
    return EXIT_FORMAT;
  }
  set->rows = calloc(count, sizeof *set->rows);
  if (!set->rows) return no_memory();
  for (size_t i = 0; i < f->count; i++)
    for (uint64_t k = 0; k < kmb_result_code_count(f->items[i]); k++) {
      kmb_code_kernel *row = &set->rows[set->row_count];
      *row = kmb_code_kernel_init();
      if (!kmb_result_code(f->items[i], k, row) && row->name) set->row_count++;
    }
  return EXIT_DONE;
}

/* By either name; where it was captured there may have been no demangler. */
static bool matches(const regex_t *wanted, const kmb_code_kernel *row) {
  if (!row->name) return false;
  if (!wanted || regexec(wanted, row->name, 0, NULL, 0) == 0) return true;
  char *name = code_demangle(row->name);
  bool good = name && regexec(wanted, name, 0, NULL, 0) == 0;
  free(name);
  return good;
}

/* What is absent. */

/* Adds a kernel's name, once. */
static bool add_name(char **names, const char *name) {
  size_t used = *names ? strlen(*names) : 0;
  const char *found = *names ? strstr(*names, name) : NULL;
  size_t size = strlen(name);
  while (found && !((found == *names || found[-1] == ' ') &&
                    (!found[size] || found[size] == ',')))
    found = strstr(found + 1, name);
  if (found) return true;
  char *more = realloc(*names, used + size + 3);
  if (!more) return false;
  snprintf(more + used, size + 3, "%s%s", used ? ", " : "", name);
  *names = more;
  return true;
}

static code_absent *add_absent(code_set *set) {
  code_absent *more =
      realloc(set->absent, (set->absent_count + 1) * sizeof *more);
  if (!more) return NULL;
  set->absent = more;
  more[set->absent_count] = (code_absent){.path = NULL};
  return &more[set->absent_count++];
}

/* An image that cannot be shown, with all kernels that were of it. */
static int lose_image(code_set *set, const kmb_code_kernel *of,
                      const char *path, const char *why,
                      const regex_t *wanted) {
  code_absent *a = add_absent(set);
  if (!a) return no_memory();
  a->hash = of->hash;
  a->path = strdup(path);
  snprintf(a->why, sizeof a->why, "%s", why);
  bool good = a->path != NULL;
  for (size_t i = 0; i < set->row_count && good; i++) {
    const kmb_code_kernel *row = &set->rows[i];
    if (is_in(row, of->hash) && matches(wanted, row))
      good = add_name(&a->kernels, row->name);
  }
  return good ? EXIT_DONE : no_memory();
}

static int lose_kernel(code_set *set, const kmb_code_kernel *row,
                       const char *why) {
  for (size_t i = 0; i < set->absent_count; i++)
    if (!set->absent[i].path && strcmp(set->absent[i].kernels, row->name) == 0)
      return EXIT_DONE;
  code_absent *a = add_absent(set);
  if (!a || !add_name(&a->kernels, row->name)) {
    if (a) set->absent_count--;
    return no_memory();
  }
  snprintf(a->why, sizeof a->why, "%s", why);
  return EXIT_DONE;
}

/* Images. */

/* RESULT.d of RESULT.json; a name without an ending gets one more. */
static char *path_of(const char *result, const char *file) {
  const char *slash = strrchr(result, '/');
  const char *dot = strrchr(slash ? slash : result, '.');
  size_t size = dot && dot != result && dot != slash + 1
                    ? (size_t)(dot - result)
                    : strlen(result);
  size_t room = size + strlen(file) + 4;
  char *path = malloc(room);
  if (path) snprintf(path, room, "%.*s.d/%s", (int)size, result, file);
  return path;
}

/* Where the result says that a kernel's instructions stand, they do. */
static bool stands_there(const code_file *file, const kmb_code_kernel *row) {
  char hash[KMB_CODE_HASH_SIZE];
  uint64_t size = file->image.bytes;
  if (!row->code_hash) return true;
  return row->code_offset <= size &&
         row->code_bytes <= size - row->code_offset &&
         !kmb_code_hash(file->data + row->code_offset, row->code_bytes, hash) &&
         strcmp(hash, row->code_hash) == 0;
}

static int check_rows(code_set *set, const code_file *file,
                      const regex_t *wanted) {
  int code = EXIT_DONE;
  for (size_t i = 0; i < set->row_count && !code; i++) {
    const kmb_code_kernel *row = &set->rows[i];
    const char *why = NULL;
    if (!is_in(row, file->image.hash) || !matches(wanted, row)) continue;
    bool held = false;
    for (size_t k = 0; k < file->image.kernel_count && !held; k++)
      held = strcmp(file->image.kernels[k].name, row->name) == 0;
    if (!held) why = "its image does not hold it";
    if (held && !stands_there(file, row))
      why = "its instructions in the image are not those whose hash the result "
            "lists";
    if (why) set->code = EXIT_FORMAT;
    if (why) code = lose_kernel(set, row, why);
  }
  return code;
}

static int open_image(code_set *set, const kmb_code_kernel *row,
                      const regex_t *wanted) {
  char why[CODE_WHY] = "";
  char *path = path_of(set->path, row->file);
  if (!path) return no_memory();
  code_want want = {.path = path, .hash = row->hash, .kernel = wanted};
  want.set = set;
  code_file *file = &set->files[set->count];
  int code = code_file_open(file, &want, why);
  if (code == EXIT_DONE) {
    set->count++;
    code = check_rows(set, file, wanted);
  } else {
    if (code > set->code) set->code = code;
    code = lose_image(set, row, path, why, wanted);
  }
  free(path);
  return code;
}

static bool seen_before(const code_set *set, size_t index,
                        const regex_t *wanted) {
  const kmb_code_kernel *row = &set->rows[index];
  for (size_t i = 0; i < index; i++)
    if (is_in(&set->rows[i], row->hash) && matches(wanted, &set->rows[i]))
      return true;
  return false;
}

static int open_images(code_set *set, const regex_t *wanted,
                       const char *regex) {
  int code = EXIT_DONE;
  size_t wanted_count = 0;
  set->files = calloc(set->row_count, sizeof *set->files);
  if (!set->files) return no_memory();
  for (size_t i = 0; i < set->row_count && !code; i++) {
    const kmb_code_kernel *row = &set->rows[i];
    if (!matches(wanted, row)) continue;
    wanted_count++;
    if (!row->hash || !row->file)
      code = lose_kernel(set, row,
                         row->reason ? row->reason : "its image was not kept");
    else if (!seen_before(set, i, wanted))
      code = open_image(set, row, wanted);
  }
  if (code || wanted_count) return code;
  fprintf(stderr,
          "kmb: %s: none of the kernels that its results list matches \"%s\"; "
          "the first is %s\n",
          set->path, regex, set->rows[0].name);
  return EXIT_USAGE;
}

static int open_results(code_set *set, const regex_t *wanted,
                        const char *regex) {
  set->of_results = true;
  bool good = results_read(set->path, &set->results);
  results_say(&set->results);
  if (!good) return set->results.unreadable ? EXIT_USAGE : EXIT_FORMAT;
  int code = gather_rows(set);
  return code ? code : open_images(set, wanted, regex);
}

static int open_one(code_set *set, const regex_t *wanted, const char *regex) {
  char why[CODE_WHY] = "";
  const code_want want = {.path = set->path, .kernel = wanted};
  set->files = calloc(1, sizeof *set->files);
  if (!set->files) return no_memory();
  int code = code_file_open(set->files, &want, why);
  if (code) {
    fprintf(stderr, "kmb: %s: %s\n", set->path, why);
    return code;
  }
  set->count = 1;
  if (set->files->image.kernel_count) return EXIT_DONE;
  fprintf(stderr,
          "kmb: %s: none of its %zu kernels matches \"%s\"; the first is "
          "%s\n",
          set->path, set->files->kernels_in_all, regex, set->files->first);
  return EXIT_USAGE;
}

/* Results are JSON, images are not. */
static bool is_json(const char *path) {
  FILE *file = fopen(path, "rb");
  int c = ' ';
  while (file && (c == ' ' || c == '\n' || c == '\r' || c == '\t'))
    c = getc(file);
  if (file) fclose(file);
  return c == '{';
}

int code_set_open(code_set *set, const code_options *o, bool other) {
  regex_t regex;
  const char *text = other && o->other_kernel ? o->other_kernel : o->kernel;
  const char *listing = other ? o->other_listing : o->listing;
  *set = (code_set){.path = other ? o->other : o->path};
  int code = text ? compile(text, &regex) : EXIT_DONE;
  if (code) return code;
  const regex_t *wanted = text ? &regex : NULL;
  code = is_json(set->path) ? open_results(set, wanted, text)
                            : open_one(set, wanted, text);
  if (text) regfree(&regex);
  for (size_t i = 0; i < set->count && !code; i++)
    code = code_file_disassemble(&set->files[i], o, listing);
  if (code) code_set_close(set);
  return code;
}

int code_set_say(const code_set *set) {
  int code = set->code;
  if (code)
    fprintf(stderr,
            "kmb: %s: not all of the code that its results list is there; what "
            "is absent stands above\n",
            set->path);
  for (size_t i = 0; i < set->count; i++) {
    const code_file *file = &set->files[i];
    if (!file->code) continue;
    fprintf(stderr, "kmb: %s: %s\n", file->path, file->why);
    if (file->code > code) code = file->code;
  }
  return code;
}

void code_set_close(code_set *set) {
  for (size_t i = 0; i < set->count; i++)
    code_file_close(&set->files[i]);
  for (size_t i = 0; i < set->absent_count; i++) {
    free(set->absent[i].path);
    free(set->absent[i].kernels);
  }
  free(set->absent);
  free(set->files);
  free(set->rows);
  if (set->of_results) results_free(&set->results);
  *set = (code_set){.path = NULL};
}
