/* Optional libraries. */
#include "library.h"

#include "error.h"

#include <dlfcn.h>

kmb_status kmbi_library_open(const char *soname, const char *package,
                             const kmbi_symbol *symbols, size_t count,
                             void **library) {
  /* By its soname, so that a copy that the process has is taken. */
  *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (!*library)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "%s is needed to read this file and cannot be opened; "
                     "install it (Debian package %s)",
                     soname, package);
  for (size_t i = 0; i < count; i++) {
    void *symbol = dlsym(*library, symbols[i].name);
    if (!symbol) {
      dlclose(*library);
      *library = NULL;
      return kmbi_fail(KMB_ERR_UNAVAILABLE,
                       "%s lacks %s; a newer one is needed", soname,
                       symbols[i].name);
    }
    memcpy(symbols[i].to, &symbol, sizeof symbol);
  }
  return KMB_OK;
}

void kmbi_library_close(void *library) {
  if (library) dlclose(library);
}
