/* Feeds the files of a corpus to the property: files named ok-* must be
 * accepted, those named bad-* refused.
 *
 * usage: corpus FILE... */
#include "json.h"

#include "require.h"

static void feed(const char *path) {
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
  int accepted = fuzz_json(data, size);
  if ((accepted && strncmp(name, "bad-", 4) == 0) ||
      (!accepted && strncmp(name, "ok-", 3) == 0)) {
    fprintf(stderr, "%s was %s\n", path, accepted ? "accepted" : "refused");
    exit(1);
  }
}

int main(int argc, char **argv) {
  REQUIRE(argc > 1);
  for (int i = 1; i < argc; i++)
    feed(argv[i]);
  printf("%d files\n", argc - 1);
  return 0;
}
