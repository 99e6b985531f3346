/* Feeds the files of the corpora of traces to the property: files named ok-*
 * must be accepted, those named bad-* refused. A file's folder names its
 * format.
 *
 * usage: trace_corpus FILE... */
#include "trace.h"

#include "require.h"

static kmb_trace_format format_of(const char *path) {
#define COMPARE(name, value, text) \
  if (strstr(path, "/corpus/" text "/")) return (value);
  KMB_TRACE_FORMAT_MAP(COMPARE)
#undef COMPARE
  REQUIRE(strstr(path, "/corpus/gzip/"));
  return KMB_TRACE_AUTO;
}

static void feed(const char *path) {
  static uint8_t data[1 << 20];
  const char *name = strrchr(path, '/') + 1;
  FILE *file = fopen(path, "rb");
  REQUIRE(file);
  size_t size = fread(data, 1, sizeof data, file);
  REQUIRE(size < sizeof data && !ferror(file));
  fclose(file);
  int accepted = fuzz_trace(format_of(path), data, size);
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
