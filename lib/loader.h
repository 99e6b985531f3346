/* Backends that are not built in: shared objects that the user chose. */
#ifndef KMB_LIB_LOADER_H
#define KMB_LIB_LOADER_H

#include <kmb/backend.h>

#include <stdbool.h>

enum {
  KMBI_NAME_SIZE = 32,  /* longest name of a backend, its NUL included */
  KMBI_PATH_SIZE = 4096 /* longest path of a plugin, its NUL included */
};

/* True for [a-z0-9_]+ that is short enough. */
bool kmbi_backend_name_ok(const char *name, size_t length);

/* Loads DIRECTORY/kmb-backend-NAME.so. UNSUPPORTED if there is no such file:
 * this installation has no backend of that name. */
kmb_status kmbi_plugin_named(const char *directory, const char *name,
                             size_t length, const kmb_backend_ops **ops);

/* Loads the plugin at an absolute path of `length` characters. */
kmb_status kmbi_plugin_at(const char *path, size_t length,
                          const kmb_backend_ops **ops);

/* UNSUPPORTED, saying what is wrong, unless the table can be used. */
kmb_status kmbi_backend_table_check(const kmb_backend_ops *ops,
                                    const char *path);

#endif
