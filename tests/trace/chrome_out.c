/* Writes traces as Chrome JSON.
 *
 * usage: chrome_out FILE... (each to FILE.chrome) */
#include "require.h"

#include <kmb/trace.h>

static kmb_status put(void *user, const void *data, size_t size) {
  return fwrite(data, 1, size, user) == size ? KMB_OK : KMB_ERR_IO;
}

int main(int argc, char **argv) {
  char path[4096];
  REQUIRE(argc > 1);
  for (int i = 1; i < argc; i++) {
    kmb_trace *trace = NULL;
    REQUIRE_OK(kmb_trace_load(argv[i], NULL, &trace));
    snprintf(path, sizeof path, "%s.chrome", argv[i]);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    REQUIRE_OK(kmb_trace_write_chrome(trace, put, file));
    REQUIRE_EQ(fclose(file), 0);
    kmb_trace_destroy(trace);
  }
  return 0;
}
