/* Files that kmb code was given: reading, choosing kernels, disassembling. */
#include "code_file.h"
#include "code_child.h"
#include "code_set.h"
#include "kmb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 30 };

static int refuse(char why[CODE_WHY], int code, const char *format, ...)
    KMB_PRINTF(3, 4);
static int refuse(char why[CODE_WHY], int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, CODE_WHY, format, arguments);
  va_end(arguments);
  return code;
}

/* The whole file, to be freed. An exit status. */
static int read_bytes(const char *path, uint8_t **data, size_t *size,
                      char why[CODE_WHY]) {
  FILE *file = fopen(path, "rb");
  int code = EXIT_DONE;
  *data = NULL;
  if (!file || fseek(file, 0, SEEK_END)) {
    code = refuse(why, EXIT_USAGE, "%s", strerror(errno));
    if (file) fclose(file);
    return code;
  }
  long length = ftell(file);
  rewind(file);
  if (length < 0 || length > FILE_MOST) {
    code = refuse(why, EXIT_USAGE, "no file of at most 1 GiB");
  } else if (!(*data = malloc((size_t)length + 1))) {
    code = refuse(why, EXIT_FAILED, "out of memory");
  } else {
    *size = fread(*data, 1, (size_t)length, file);
    if (ferror(file)) code = refuse(why, EXIT_FAILED, "cannot be read");
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

/* Leaves those kernels that are wanted. */
static void select_kernels(code_file *file, const code_want *want) {
  code_image *image = &file->image;
  size_t left = 0, count = image->kernel_count;
  for (size_t i = 0; i < count; i++) {
    code_kernel k = image->kernels[i];
    if ((want->kernel && !matches(want->kernel, &k)) ||
        (want->set && !code_set_lists(want->set, image->hash, k.name)))
      continue;
    memmove(image->kernels + left + 1, image->kernels + left,
            (i - left) * sizeof k);
    image->kernels[left++] = k;
  }
  for (size_t i = left; i < count; i++)
    code_kernel_free(&image->kernels[i]);
  image->kernel_count = left;
}

/* Who disassembles what, where it is, and how it is told to. */
typedef struct tools {
  const char *programs[2];
  const char *home, *usual, *below; /* a variable, its usual value, a folder */
  const char *absent;
} tools;

static const tools makers[] = {
    [CODE_NVIDIA] = {{"nvdisasm", "cuobjdump"},
                     "CUDA_HOME",
                     "/usr/local/cuda",
                     "bin",
                     "neither nvdisasm nor cuobjdump (of the CUDA toolkit) is "
                     "in PATH or in bin of CUDA_HOME (/usr/local/cuda); name "
                     "one with --disassembler, or give its output with "
                     "--listing"},
    [CODE_AMD] = {{"llvm-objdump", NULL},
                  "ROCM_PATH",
                  "/opt/rocm",
                  "llvm/bin",
                  "llvm-objdump (of LLVM or ROCm) is neither in PATH nor in "
                  "llvm/bin of ROCM_PATH (/opt/rocm); name one with "
                  "--disassembler, or give its output with --listing"}};

static bool is_cuobjdump(const char *program) {
  const char *slash = strrchr(program, '/');
  return strncmp(slash ? slash + 1 : program, "cuobjdump", 9) == 0;
}

/* CHILD_…; what it printed is in file->text. */
static int run_one(code_file *file, const char *program, double seconds,
                   size_t *size) {
  char *argv[4] = {NULL};
  const char *option = is_cuobjdump(program) ? "-sass" : "-c";
  if (file->image.maker == CODE_AMD) option = "-d";
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
  const tools *t = &makers[file->image.maker];
  const char *home = getenv(t->home);
  char path[4096];
  int code = CHILD_ABSENT;
  for (int i = 0; i < 2 && code == CHILD_ABSENT && t->programs[i]; i++)
    code = run_one(file, t->programs[i], seconds, size);
  for (int i = 0; i < 2 && code == CHILD_ABSENT && t->programs[i]; i++) {
    int length =
        snprintf(path, sizeof path, "%s/%s/%s", home && *home ? home : t->usual,
                 t->below, t->programs[i]);
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
  snprintf(file->why, sizeof file->why, "%s", makers[file->image.maker].absent);
  return EXIT_DONE;
}

static int read_listing(code_file *file, const char *path, size_t *size) {
  uint8_t *data = NULL;
  char why[CODE_WHY] = "";
  int code = read_bytes(path, &data, size, why);
  if (code) fprintf(stderr, "kmb: %s: %s\n", path, why);
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
  if (!code_listing_read(file->text, size, &file->listing)) return no_memory();
  if (file->listing.function_count) return EXIT_DONE;
  snprintf(file->why, sizeof file->why,
           "what %s holds is no listing of nvdisasm -c, cuobjdump -sass or "
           "llvm-objdump -d",
           listing ? listing : "the disassembler's output");
  file->code = EXIT_FORMAT;
  return EXIT_DONE;
}

int code_file_open(code_file *file, const code_want *want, char why[CODE_WHY]) {
  size_t size = 0;
  *file = (code_file){.path = strdup(want->path)};
  if (!file->path) return refuse(why, EXIT_FAILED, "out of memory");
  int code = read_bytes(file->path, &file->data, &size, why);
  if (!code) code = code_image_read(file->data, size, &file->image, why);
  if (!code && want->hash && strcmp(want->hash, file->image.hash) != 0)
    code = refuse(why, EXIT_FORMAT,
                  "it is another image than the result lists: sha256 %.12s…, "
                  "not %.12s…",
                  file->image.hash, want->hash);
  if (!code && !file->image.kernel_count)
    code = refuse(why, EXIT_FORMAT, "it holds no kernels");
  file->kernels_in_all = file->image.kernel_count;
  if (!code && file->image.kernel_count)
    snprintf(file->first, sizeof file->first, "%s",
             file->image.kernels[0].name);
  if (!code) select_kernels(file, want);
  if (code) code_file_close(file);
  return code;
}

int code_file_disassemble(code_file *file, const code_options *o,
                          const char *listing) {
  return file->image.kernel_count ? disassemble(file, o, listing) : EXIT_DONE;
}

void code_file_close(code_file *file) {
  code_listing_free(&file->listing);
  code_image_free(&file->image);
  free(file->text);
  free(file->data);
  free(file->path);
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
  *why = "the listing is of other code: its instructions take another number "
         "of bytes";
  if (file->image.maker == CODE_AMD)
    return s->bytes <= kernel->code_bytes &&
                   kernel->code_bytes <= s->bytes + s->pad_bytes
               ? s
               : NULL;
  /* From sm_70 on every instruction takes 16 bytes. */
  *why = "the listing is of other code: it has another number of instructions";
  bool wide = strncmp(file->image.arch, "sm_5", 4) != 0 &&
              strncmp(file->image.arch, "sm_6", 4) != 0;
  return wide && s->instructions != kernel->code_bytes / 16 ? NULL : s;
}
