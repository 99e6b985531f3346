/* Feeds the files of a corpus to the property of their kind: files named ok-*
 * must be accepted, those named bad-* refused.
 *
 * usage: corpus KIND FILE... */
#include "fuzz.h"

#include "require.h"

static const struct {
  const char *name;
  int (*fuzz)(const uint8_t *, size_t);
} kinds[] = {
    {"json", fuzz_json},
    {"peaks", fuzz_peaks},
    {"listing", fuzz_listing},
#ifdef KMB_HAS_LIBELF
    {"cubin", fuzz_cubin},
#endif
};

static void feed(int (*fuzz)(const uint8_t *, size_t), const char *path) {
  static uint8_t data[1 << 20];
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "cannot open %s\n", path);
    exit(1);
  }
  size_t size = fread(data, 1, sizeof data, file);
  REQUIRE(size < sizeof data && !ferror(file));
  fclose(file);
  int accepted = fuzz(data, size);
  if ((accepted && strncmp(name, "bad-", 4) == 0) ||
      (!accepted && strncmp(name, "ok-", 3) == 0)) {
    fprintf(stderr, "%s was %s\n", path, accepted ? "accepted" : "refused");
    exit(1);
  }
}

int main(int argc, char **argv) {
  REQUIRE(argc > 2);
  int (*fuzz)(const uint8_t *, size_t) = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(argv[1], kinds[i].name) == 0) fuzz = kinds[i].fuzz;
  REQUIRE(fuzz);
  for (int i = 2; i < argc; i++)
    feed(fuzz, argv[i]);
  printf("%d files\n", argc - 2);
  return 0;
}
