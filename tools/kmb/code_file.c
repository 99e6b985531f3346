/* Files that kmb code was given: reading, choosing kernels, disassembling. */
#include "code_file.h"
#include "code_child.h"
#include "kmb.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 30 };

/* The whole file, to be freed. An exit status, reported. */
static int read_bytes(const char *path, uint8_t **data, size_t *size) {
  FILE *file = fopen(path, "rb");
  int code = EXIT_USAGE;
  *data = NULL;
  if (!file || fseek(file, 0, SEEK_END)) {
    fprintf(stderr, "kmb: %s: %s\n", path, strerror(errno));
    if (file) fclose(file);
    return code;
  }
  long length = ftell(file);
  rewind(file);
  if (length < 0 || length > FILE_MOST) {
    fprintf(stderr, "kmb: %s: no file of at most 1 GiB\n", path);
  } else if (!(*data = malloc((size_t)length + 1))) {
    fputs("kmb: out of memory\n", stderr);
    code = EXIT_FAILED;
  } else {
    *size = fread(*data, 1, (size_t)length, file);
    code = ferror(file) ? EXIT_FAILED : EXIT_DONE;
    if (code) fprintf(stderr, "kmb: %s: cannot be read\n", path);
  }
  fclose(file);
  if (code) free(*data);
  if (code) *data = NULL;
  return code;
}

static bool matches(const regex_t *wanted, const code_kernel *k) {
  return regexec(wanted, k->name, 0, NULL, 0) == 0 ||
         (k->demangled && regexec(wanted, k->demangled, 0, NULL, 0) == 0);
}

/* Leaves those kernels that match. */
static int select_kernels(code_file *file, const char *regex) {
  code_image *image = &file->image;
  regex_t wanted;
  size_t left = 0, count = image->kernel_count;
  if (!regex) return EXIT_DONE;
  int wrong = regcomp(&wanted, regex, REG_EXTENDED | REG_NOSUB);
  if (wrong) {
    char why[128];
    regerror(wrong, &wanted, why, sizeof why);
    return usage("code", "the kernel \"%s\": %s", regex, why);
  }
  for (size_t i = 0; i < count; i++) {
    code_kernel k = image->kernels[i];
    if (!matches(&wanted, &k)) continue;
    memmove(image->kernels + left + 1, image->kernels + left,
            (i - left) * sizeof k);
    image->kernels[left++] = k;
  }
  regfree(&wanted);
  if (!left) {
    fprintf(stderr,
            "kmb: %s: none of its %zu kernels matches \"%s\"; the first is "
            "%s\n",
            file->path, count, regex, image->kernels[0].name);
    return EXIT_USAGE;
  }
  for (size_t i = left; i < count; i++)
    code_kernel_free(&image->kernels[i]);
  image->kernel_count = left;
  return EXIT_DONE;
}

static bool is_cuobjdump(const char *program) {
  const char *slash = strrchr(program, '/');
  return strncmp(slash ? slash + 1 : program, "cuobjdump", 9) == 0;
}

/* CHILD_…; what it printed is in file->text. */
static int run_one(code_file *file, const char *program, double seconds,
                   size_t *size) {
  char *argv[4] = {NULL};
  const char *option = is_cuobjdump(program) ? "-sass" : "-c";
  argv[0] = strdup(program);
  argv[1] = strdup(option);
  argv[2] = strdup(file->path);
  int code = CHILD_FAILED;
  if (argv[0] && argv[1] && argv[2])
    code = child_run(argv, seconds, &file->text, size, file->why);
  else
    snprintf(file->why, sizeof file->why, "out of memory");
  for (int i = 0; i < 3; i++)
    free(argv[i]);
  return code;
}

/* In PATH, then where the toolkit is. CHILD_… */
static int run_found(code_file *file, double seconds, size_t *size) {
  static const char *const programs[] = {"nvdisasm", "cuobjdump"};
  const char *home = getenv("CUDA_HOME");
  char path[4096];
  int code = CHILD_ABSENT;
  for (int i = 0; i < 2 && code == CHILD_ABSENT; i++)
    code = run_one(file, programs[i], seconds, size);
  for (int i = 0; i < 2 && code == CHILD_ABSENT; i++) {
    int length =
        snprintf(path, sizeof path, "%s/bin/%s",
                 home && *home ? home : "/usr/local/cuda", programs[i]);
    if (length > 0 && (size_t)length < sizeof path)
      code = run_one(file, path, seconds, size);
  }
  return code;
}

/* The disassembler that was named, or the first that is there. */
static int run_any(code_file *file, const code_options *o, size_t *size) {
  int code = o->disassembler
                 ? run_one(file, o->disassembler, o->deadline_s, size)
                 : run_found(file, o->deadline_s, size);
  if (code != CHILD_ABSENT) return code ? EXIT_FAILED : EXIT_DONE;
  if (o->disassembler) return EXIT_USAGE;
  snprintf(file->why, sizeof file->why,
           "neither nvdisasm nor cuobjdump (of the CUDA toolkit) is in PATH "
           "or in bin of CUDA_HOME (/usr/local/cuda); name one with "
           "--disassembler, or give its output with --listing");
  return EXIT_DONE;
}

static int read_listing(code_file *file, const char *path, size_t *size) {
  uint8_t *data = NULL;
  int code = read_bytes(path, &data, size);
  file->text = (char *)data;
  return code;
}

/* An exit status, reported; a disassembler that is absent or fails is said in
 * file->why instead. */
static int disassemble(code_file *file, const code_options *o,
                       const char *listing) {
  size_t size = 0;
  if (listing) {
    int code = read_listing(file, listing, &size);
    if (code) return code;
  } else {
    file->code = run_any(file, o, &size);
  }
  if (!file->text) return EXIT_DONE;
  file->why[0] = '\0';
  if (!code_listing_read(file->text, size, &file->listing)) {
    fputs("kmb: out of memory\n", stderr);
    return EXIT_FAILED;
  }
  if (file->listing.function_count) return EXIT_DONE;
  snprintf(file->why, sizeof file->why,
           "what %s holds is no listing of nvdisasm -c or cuobjdump -sass",
           listing ? listing : "the disassembler's output");
  file->code = EXIT_FORMAT;
  return EXIT_DONE;
}

int code_file_open(code_file *file, const code_options *o, bool other) {
  size_t size = 0;
  *file = (code_file){.path = other ? o->other : o->path};
  int code = read_bytes(file->path, &file->data, &size);
  if (code) return code;
  code = code_image_read(file->data, size, &file->image, file->why);
  if (code) {
    fprintf(stderr, "kmb: %s: %s\n", file->path, file->why);
  } else if (!file->image.kernel_count) {
    fprintf(stderr, "kmb: %s: it holds no kernels\n", file->path);
    code = EXIT_FORMAT;
  }
  const char *regex = other && o->other_kernel ? o->other_kernel : o->kernel;
  if (!code) code = select_kernels(file, regex);
  if (!code) code = disassemble(file, o, other ? o->other_listing : o->listing);
  if (code) code_file_close(file);
  return code;
}

void code_file_close(code_file *file) {
  code_listing_free(&file->listing);
  code_image_free(&file->image);
  free(file->text);
  free(file->data);
  *file = (code_file){.path = NULL};
}

const code_summary *code_file_summary(const code_file *file,
                                      const code_kernel *kernel,
                                      const char **why) {
  *why = file->why;
  if (file->why[0]) return NULL;
  const code_summary *s = code_listing_find(&file->listing, kernel->name);
  *why = "the listing lacks this kernel";
  if (!s) return NULL;
  /* From sm_70 on every instruction takes 16 bytes. */
  *why = "the listing is of other code: it has another number of instructions";
  bool wide = strncmp(file->image.arch, "sm_5", 4) != 0 &&
              strncmp(file->image.arch, "sm_6", 4) != 0;
  return wide && s->instructions != kernel->code_bytes / 16 ? NULL : s;
}
