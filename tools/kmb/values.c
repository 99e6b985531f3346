/* Values on the command line, files of peaks, and JSON. */
#include "kmb.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool read_real(const char *text, double *number) {
  char *end = NULL;
  /* No words and no hexadecimal digits. */
  if (!*text || strspn(text, "0123456789.+-eE") != strlen(text)) return false;
  *number = strtod(text, &end);
  return *end == '\0' && isfinite(*number);
}

bool read_count(const char *text, uint64_t *count) {
  double number = 0;
  if (read_number(text, count)) return true;
  /* Digits alone that did not fit are no number of this kind. */
  if (strspn(text, "0123456789") == strlen(text)) return false;
  if (!read_real(text, &number) || number < 0 || number > 0x1p53 ||
      number != floor(number))
    return false;
  *count = (uint64_t)number;
  return true;
}

bool read_dtype(const char *text, kmb_dtype *dtype) {
  static const struct {
    const char *name;
    kmb_dtype dtype;
  } others[] = {{"fp64", KMB_F64},    {"fp32", KMB_F32},   {"fp16", KMB_F16},
                {"fp8", KMB_F8_E4M3}, {"f8", KMB_F8_E4M3}, {"fp4", KMB_F4_E2M1},
                {"f4", KMB_F4_E2M1},  {"int8", KMB_I8},    {"int4", KMB_I4}};
#define COMPARE(name, value, bits, string) \
  if (strcmp(text, string) == 0) {         \
    *dtype = (value);                      \
    return true;                           \
  }
  KMB_DTYPE_MAP(COMPARE)
#undef COMPARE
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (strcmp(text, others[i].name) != 0) continue;
    *dtype = others[i].dtype;
    return true;
  }
  return false;
}

static kmb_status read_file(void *file, void *data, size_t size, size_t *got) {
  *got = fread(data, 1, size, file);
  return *got || !ferror((FILE *)file) ? KMB_OK : KMB_ERR_IO;
}

static int add_file(kmb_peaks *peaks, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "kmb: %s: %s\n", path, strerror(errno));
    return EXIT_USAGE;
  }
  kmb_status status = kmb_peaks_read_csv(peaks, path, read_file, file);
  bool unread = ferror(file);
  if (unread)
    fprintf(stderr, "kmb: %s: cannot be read: %s\n", path, strerror(errno));
  fclose(file);
  return unread ? EXIT_USAGE : report(status);
}

int open_peaks(char *const *paths, int count, kmb_peaks **peaks) {
  *peaks = NULL;
  if (!count) return EXIT_DONE;
  int exit_status = report(kmb_peaks_create(NULL, peaks));
  for (int i = 0; i < count && !exit_status; i++)
    exit_status = add_file(*peaks, paths[i]);
  if (!exit_status) return EXIT_DONE;
  kmb_peaks_destroy(*peaks);
  *peaks = NULL;
  return exit_status;
}

int print_json(json_t *document) {
  bool failed = !document || json_dumpf(document, stdout,
                                        JSON_INDENT(2) | JSON_PRESERVE_ORDER |
                                            JSON_REAL_PRECISION(15)) != 0;
  json_decref(document);
  failed = putchar('\n') == EOF || fflush(stdout) || failed;
  if (!failed) return EXIT_DONE;
  fputs("kmb: the output could not be written\n", stderr);
  return EXIT_FAILED;
}
