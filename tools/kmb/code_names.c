/* Names of C++: the compiler's own library knows how to read them. */
#include "code.h"

#include <dlfcn.h>
#include <string.h>

typedef char *(*demangle_fn)(const char *name, char *room, size_t *size,
                             int *status);

/* Once; the library stays. */
static demangle_fn find_demangler(void) {
  static bool looked;
  static demangle_fn found;
  if (looked) return found;
  looked = true;
  void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
  memcpy(&found, &symbol, sizeof found);
  return found;
}

/* Longer ones are nobody's, and might take the demangler for ever. */
enum { NAME_MOST = 8192 };

char *code_demangle(const char *name) {
  int status = 0;
  if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MOST) return NULL;
  demangle_fn demangle = find_demangler();
  return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}
