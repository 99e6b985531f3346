/* The backends that are built in, and which one a device's name means. */
#include "backends.h"

#include "error.h"
#include "loader.h"

#include <stdio.h>

/* Each backend's folder defines one entry and shares no header with lib/. */
const kmb_backend_ops *kmbi_backend_cuda(void);
const kmb_backend_ops *kmbi_backend_hip(void);
const kmb_backend_ops *kmbi_backend_host(void);

static const kmb_backend_entry_fn built_in[] = {
    kmbi_backend_cuda, kmbi_backend_hip, kmbi_backend_host};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

const kmb_backend_ops *kmbi_backend_at(size_t index) {
  return index < BUILT_IN ? built_in[index]() : NULL;
}

void kmbi_backend_names(char *text, size_t size) {
  size_t length = 0;
  *text = '\0';
  for (size_t i = 0; i < BUILT_IN && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, "%s%s",
                               i ? ", " : "", built_in[i]()->name);
}

const char *kmbi_plugin_directory(void) {
  return KMBI_PLUGIN_DIR;
}

static const kmb_backend_ops *find_built_in(const char *name, size_t length) {
  for (size_t i = 0; i < BUILT_IN; i++) {
    const kmb_backend_ops *ops = built_in[i]();
    if (strlen(ops->name) == length && memcmp(ops->name, name, length) == 0)
      return ops;
  }
  return NULL;
}

/* A specification may hold colons and a directory may be called anything, so
 * the path ends with the first ".so" that a colon or the end follows. */
static size_t path_length(const char *name) {
  for (const char *at = strstr(name, ".so"); at; at = strstr(at + 1, ".so"))
    if (at[3] == ':' || at[3] == '\0') return (size_t)(at - name) + 3;
  return 0;
}

static kmb_status find_path(const char *name, const kmb_backend_ops **ops,
                            const char **spec) {
  size_t length = path_length(name);
  if (length == 0)
    return kmbi_fail(KMB_ERR_INVALID,
                     "a backend by path is \"/…/FILE.so\" or "
                     "\"/…/FILE.so:SPEC\", not \"%s\"",
                     name);
  kmb_status status = kmbi_plugin_at(name, length, ops);
  if (status) return status;
  if (find_built_in((*ops)->name, strlen((*ops)->name)))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend calls itself \"%s\", which is a built-in one: "
                     "%.*s",
                     (*ops)->name, (int)length, name);
  *spec = name + length + (name[length] == ':');
  return KMB_OK;
}

kmb_status kmbi_backend_find(const char *name, const char *directory,
                             const kmb_backend_ops **ops, const char **spec) {
  if (name[0] == '/') return find_path(name, ops, spec);
  size_t length = strcspn(name, ":");
  if (!kmbi_backend_name_ok(name, length)) {
    char names[KMBI_NAMES_SIZE];
    kmbi_backend_names(names, sizeof names);
    return kmbi_fail(KMB_ERR_INVALID,
                     "\"%.40s\" is no name of a backend: those built in are "
                     "%s; a plugin's is [a-z0-9_]+ of at most %d characters, "
                     "or its absolute path",
                     name, names, KMBI_NAME_SIZE - 1);
  }
  *spec = name + length + (name[length] == ':');
  *ops = find_built_in(name, length);
  return *ops ? KMB_OK : kmbi_plugin_named(directory, name, length, ops);
}
