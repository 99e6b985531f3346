/* kmb code: what a cubin holds. */
#include "code.h"
#include "kmb.h"

static const char name[] = "code";

void code_help(FILE *to) {
  fputs("usage: kmb code CUBIN [--kernel REGEX] [--json]\n\n"
        "Shows the kernels of a cubin: registers, memory, limits, and hashes "
        "by which\ncode is told apart.\n\n"
        "  --kernel REGEX  only kernels whose name, mangled or as C++ has it,\n"
        "                  matches (POSIX extended)\n"
        "  --json          JSON instead of text\n",
        to);
}

#ifdef KMB_HAS_LIBELF

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>

enum { FILE_MOST = 1 << 30 };

typedef struct options {
  const char *path;
  const char *kernel;
  bool json;
} options;

static int read_options(int argc, char **argv, options *o) {
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--json") == 0) {
      o->json = true;
    } else if (strcmp(word, "--kernel") == 0) {
      o->kernel = option_value(name, argc, argv, &i);
      if (!o->kernel) return EXIT_USAGE;
    } else if (word[0] == '-' && word[1]) {
      return usage(name, "there is no option \"%s\"", word);
    } else if (o->path) {
      return usage(name, "one file at a time");
    } else {
      o->path = word;
    }
  }
  return o->path ? EXIT_DONE : usage(name, "a file is needed");
}

/* The whole file, to be freed. */
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
  return code;
}

/* Leaves those kernels that match. */
static int select_kernels(code_image *image, const options *o) {
  regex_t wanted;
  size_t left = 0;
  if (!o->kernel) return EXIT_DONE;
  int wrong = regcomp(&wanted, o->kernel, REG_EXTENDED | REG_NOSUB);
  if (wrong) {
    char why[128];
    regerror(wrong, &wanted, why, sizeof why);
    return usage(name, "--kernel \"%s\": %s", o->kernel, why);
  }
  for (size_t i = 0; i < image->kernel_count; i++) {
    code_kernel k = image->kernels[i];
    bool match =
        regexec(&wanted, k.name, 0, NULL, 0) == 0 ||
        (k.demangled && regexec(&wanted, k.demangled, 0, NULL, 0) == 0);
    if (!match) continue;
    image->kernels[i] = image->kernels[left];
    image->kernels[left++] = k;
  }
  regfree(&wanted);
  if (left) {
    for (size_t i = left; i < image->kernel_count; i++)
      code_kernel_free(&image->kernels[i]);
    image->kernel_count = left;
    return EXIT_DONE;
  }
  fprintf(stderr,
          "kmb: %s: none of its %zu kernels matches \"%s\"; the first "
          "is %s\n",
          o->path, image->kernel_count, o->kernel, image->kernels[0].name);
  return EXIT_USAGE;
}

static void print_number(const char *label, code_number n, const char *unit) {
  if (n.known) printf("    %-12s  %" PRIu64 "%s\n", label, n.value, unit);
  if (!n.known) printf("    %-12s  not stated\n", label);
}

static void print_kernel(const code_kernel *k) {
  printf("\n  %s\n", k->demangled ? k->demangled : k->name);
  if (k->demangled) printf("    %-12s  %s\n", "symbol", k->name);
  print_number("registers", k->registers, "");
  print_number("shared", k->shared_bytes, " B");
  print_number("local", k->local_bytes, " B");
  print_number("stack", k->stack_bytes, " B");
  print_number("max threads", k->max_threads, "");
  printf("    %-12s  %" PRIu64 " B, sha256 %s\n", "instructions", k->code_bytes,
         k->hash);
}

static int print_text(const char *path, const code_image *image) {
  printf("%s: cubin for %s, %" PRIu64 " B\nsha256 %s\n", path, image->arch,
         image->bytes, image->hash);
  for (size_t i = 0; i < image->kernel_count; i++)
    print_kernel(&image->kernels[i]);
  if (!fflush(stdout)) return EXIT_DONE;
  fputs("kmb: the output could not be written\n", stderr);
  return EXIT_FAILED;
}

static void put_number(json_t *to, const char *key, code_number n) {
  if (n.known) json_object_set_new(to, key, json_integer((json_int_t)n.value));
}

static json_t *kernel_json(const code_kernel *k) {
  json_t *to = json_object();
  json_object_set_new(to, "name", json_string(k->name));
  if (k->demangled)
    json_object_set_new(to, "demangled", json_string(k->demangled));
  put_number(to, "registers", k->registers);
  put_number(to, "shared_bytes", k->shared_bytes);
  put_number(to, "local_bytes", k->local_bytes);
  put_number(to, "stack_bytes", k->stack_bytes);
  put_number(to, "max_threads", k->max_threads);
  json_object_set_new(to, "code_bytes",
                      json_integer((json_int_t)k->code_bytes));
  json_object_set_new(to, "code_sha256", json_string(k->hash));
  return to;
}

static json_t *image_json(const char *path, const code_image *image) {
  json_t *to = json_object(), *kernels = json_array();
  json_object_set_new(to, "file", json_string(path));
  json_object_set_new(to, "architecture", json_string(image->arch));
  json_object_set_new(to, "bytes", json_integer((json_int_t)image->bytes));
  json_object_set_new(to, "sha256", json_string(image->hash));
  for (size_t i = 0; i < image->kernel_count; i++)
    json_array_append_new(kernels, kernel_json(&image->kernels[i]));
  json_object_set_new(to, "kernels", kernels);
  return to;
}

static int show(const options *o, code_image *image) {
  if (!image->kernel_count) {
    fprintf(stderr, "kmb: %s: it holds no kernels\n", o->path);
    return EXIT_FORMAT;
  }
  int code = select_kernels(image, o);
  if (code) return code;
  return o->json ? print_json(image_json(o->path, image))
                 : print_text(o->path, image);
}

int code_main(int argc, char **argv) {
  options o = {.path = NULL};
  code_image image;
  uint8_t *data = NULL;
  size_t size = 0;
  char why[CODE_WHY] = "";
  int code = read_options(argc, argv, &o);
  if (!code) code = read_bytes(o.path, &data, &size);
  if (code) return code;
  code = code_image_read(data, size, &image, why);
  if (code) fprintf(stderr, "kmb: %s: %s\n", o.path, why);
  if (!code) {
    code = show(&o, &image);
    code_image_free(&image);
  }
  free(data);
  return code;
}

#else

int code_main(int argc, char **argv) {
  (void)argc, (void)argv;
  fprintf(stderr,
          "kmb: this build has no kmb %s: libelf was absent when it "
          "was built (Debian package libelf-dev)\n",
          name);
  return EXIT_USAGE;
}

#endif
