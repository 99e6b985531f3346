/* Names of C++: the compiler's own library knows how to read them. It is not
 * loaded for that: a program in C++ has it, and another loads no more than it
 * did. */
#include "demangle.h"

#include "utf8.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef char *(*demangle_fn)(const char *name, char *room, size_t *size,
                             int *status);

enum { NO_MEMORY = -1 }; /* of the function's status */

const char *kmbi_demangle(kmbi_arena *arena, const char *name) {
  demangle_fn demangle = NULL;
  int status = 0;
  if (strncmp(name, "_Z", 2) != 0) return NULL;
  void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return NULL;
  void *symbol = dlsym(library, "__cxa_demangle");
  memcpy(&demangle, &symbol, sizeof demangle);
  char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
  const char *copy = text ? kmbi_utf8_copy(arena, text) : NULL;
  if (!text && status == NO_MEMORY) arena->failed = true;
  free(text);
  dlclose(library);
  return copy;
}
