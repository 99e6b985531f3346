/* Finding a backend by name: built in, or a plugin. */
#ifndef KMB_LIB_BACKENDS_H
#define KMB_LIB_BACKENDS_H

#include <kmb/backend.h>

/* What "NAME[:SPEC]" or "/PATH.so[:SPEC]" stands for; `*spec` is the part of
 * `name` after the colon, "" if there is none. Plugins by name are looked for
 * in `directory` alone. */
kmb_status kmbi_backend_find(const char *name, const char *directory,
                             const kmb_backend_ops **ops, const char **spec);
/* The compiled-in directory of plugins. */
const char *kmbi_plugin_directory(void);
/* The order in which "auto" tries the built-in ones; NULL past the end. */
const kmb_backend_ops *kmbi_backend_at(size_t index);
enum { KMBI_NAMES_SIZE = 64 };
/* Their names, joined, for a message; KMBI_NAMES_SIZE holds them. */
void kmbi_backend_names(char *text, size_t size);

#endif
