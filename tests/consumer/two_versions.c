/* Two extensions, each with a libkmb of its own version inside, in one process:
 * each must keep to its own.
 *
 * usage: two_versions EXTENSION VERSION local|global EXTENSION VERSION
 *        local|global */
#include "require.h"

#include <dlfcn.h>

enum { EXTENSIONS = 2 };

typedef const char *(*version_fn)(void);

static version_fn load(const char *path, const char *scope) {
  int flag = strcmp(scope, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  void *handle = dlopen(path, RTLD_NOW | flag);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(handle);
  void *symbol = dlsym(handle, "extension_version");
  REQUIRE(symbol);
  version_fn version = NULL;
  memcpy(&version, &symbol, sizeof version);
  return version;
}

int main(int argc, char **argv) {
  version_fn versions[EXTENSIONS] = {NULL};
  REQUIRE_EQ(argc, 1 + 3 * EXTENSIONS);
  for (int i = 0; i < EXTENSIONS; i++)
    versions[i] = load(argv[1 + 3 * i], argv[3 + 3 * i]);
  REQUIRE(versions[0] != versions[1]);
  for (int i = 0; i < EXTENSIONS; i++)
    REQUIRE_STR(versions[i](), argv[2 + 3 * i]);
  /* What both have must not be in the way of the program either. */
  REQUIRE(!dlsym(RTLD_DEFAULT, "kmb_version"));
  return 0;
}
