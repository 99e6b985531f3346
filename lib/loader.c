/* Loading plugins.
 *
 * There is no registry of our own: the dynamic linker keeps one, guards it and
 * survives fork. A plugin is opened again for each device, which costs a
 * look-up, and is never closed, since its threads and tables may still be in
 * use. Failures are not remembered: a file or a driver may appear later. */
#define _GNU_SOURCE /* dladdr1 */
#include "loader.h"

#include "backends.h"
#include "device.h"
#include "error.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

#define ENTRY "kmb_backend_entry_1"

bool kmbi_backend_name_ok(const char *name, size_t length) {
  if (length == 0 || length >= KMBI_NAME_SIZE) return false;
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!ok) return false;
  }
  return true;
}

/* The slots that every table has; the others are optional. */
/* clang-format off */
#define REQUIRED_SLOTS(X) \
  X(open) X(close) X(attr_u64) X(attr_f64) X(attr_text) X(memory_available) \
  X(alloc) X(free) X(write) X(read) X(set) X(fill_random) X(stream_open) \
  X(stream_close) X(stream_wait) X(propose) X(plan_create) X(plan_run) \
  X(plan_destroy) X(describe)
/* clang-format on */

static const char *missing_slot(const kmb_backend_ops *ops) {
#define ASK(slot) \
  if (!KMBI_HAS(ops, slot)) return #slot;
  REQUIRED_SLOTS(ASK)
#undef ASK
  return NULL;
}

/* What serves only together is all there, or nothing of it. */
static kmb_status check_groups(const kmb_backend_ops *ops, const char *path) {
#define SLOT(group, name) \
  { #name, group, KMBI_HAS(ops, name) }
  const struct {
    const char *name;
    int group;
    bool has;
  } slots[] = {
      SLOT(0, now),
      SLOT(0, sleep),
      SLOT(1, session_open),
      SLOT(1, session_mark),
      SLOT(1, session_read),
      SLOT(1, session_close),
      SLOT(2, record_begin),
      SLOT(2, record_point),
      SLOT(2, record_end),
      SLOT(3, code_begin),
      SLOT(3, code_end),
      SLOT(4, counters_open),
      SLOT(4, counters_collect),
      SLOT(4, counters_close),
      SLOT(5, barrier_open),
      SLOT(5, barrier_enqueue),
      SLOT(5, barrier_close),
  };
#undef SLOT
  for (size_t i = 1; i < sizeof slots / sizeof slots[0]; i++) {
    if (slots[i].group != slots[i - 1].group ||
        slots[i].has == slots[i - 1].has)
      continue;
    bool second = slots[i].has;
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend has \"%s\" and not \"%s\"; give both or "
                     "neither: %s",
                     slots[second ? i : i - 1].name,
                     slots[second ? i - 1 : i].name, path);
  }
  return KMB_OK;
}

kmb_status kmbi_backend_table_check(const kmb_backend_ops *ops,
                                    const char *path) {
  const size_t head = offsetof(kmb_backend_ops, name) + sizeof ops->name;
  if (ops->struct_size < head)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend's table says %zu bytes, at least %zu are needed; "
                     "set struct_size to sizeof(kmb_backend_ops): %s",
                     ops->struct_size, head, path);
  if (ops->abi != KMB_BACKEND_ABI)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend was built for backend ABI %u, this libkmb has "
                     "%u; rebuild it with this libkmb's headers: %s",
                     (unsigned)ops->abi, (unsigned)KMB_BACKEND_ABI, path);
  if (!ops->name || !kmbi_backend_name_ok(ops->name, strlen(ops->name)))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend's name is not [a-z0-9_]+ of at most %d "
                     "characters: %s",
                     KMBI_NAME_SIZE - 1, path);
  const char *slot = missing_slot(ops);
  if (slot)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend's table of %zu bytes lacks the required "
                     "function \"%s\": %s",
                     ops->struct_size, slot, path);
  return check_groups(ops, path);
}

/* dlerror() begins with the path, which our own message ends with. */
static const char *loader_error(const char *path) {
  const char *text = dlerror();
  if (!text) return "unknown cause";
  size_t length = strlen(path);
  if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
    return text + length + 2;
  return text;
}

/* dlsym() looks into the plugin's dependencies too; what they export is not
 * this plugin's entry. */
static bool is_owned(void *handle, void *symbol) {
  struct link_map *map = NULL;
  Dl_info info;
  void *owner = NULL;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
         dladdr1(symbol, &info, &owner, RTLD_DL_LINKMAP) && owner == map;
}

static bool is_function(void *symbol) {
  Dl_info info;
  void *entry = NULL;
  if (!dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) || !entry) return false;
  const ElfW(Sym) *elf = entry;
  unsigned type = elf->st_info & 0xf; /* the same in 32 and 64 bits */
  return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static kmb_status load(const char *path, const kmb_backend_ops **ops) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "cannot load backend: %s: %s",
                     loader_error(path), path);
  void *symbol = dlsym(handle, ENTRY);
  if (!symbol)
    return kmbi_fail(KMB_ERR_FORMAT,
                     "not a backend: it exports no " ENTRY ": %s", path);
  if (!is_owned(handle, symbol))
    return kmbi_fail(KMB_ERR_FORMAT,
                     "not a backend: " ENTRY " belongs to a library that it "
                     "depends on, not to itself: %s",
                     path);
  if (!is_function(symbol))
    return kmbi_fail(KMB_ERR_FORMAT,
                     "not a backend: " ENTRY " is no function: %s", path);
  kmb_backend_entry_fn entry = NULL;
  memcpy(&entry, &symbol, sizeof entry);
  const kmb_backend_ops *table = entry();
  if (!table)
    return kmbi_fail(KMB_ERR_VENDOR, "backend's " ENTRY " returned NULL: %s",
                     path);
  kmb_status status = kmbi_backend_table_check(table, path);
  if (!status) *ops = table;
  return status;
}

/* 0, or why there is no file that could be loaded. Asked first since opening
 * a named pipe would block. */
static int look_at(const char *path, bool *regular) {
  struct stat info;
  if (stat(path, &info)) return errno;
  *regular = S_ISREG(info.st_mode);
  return 0;
}

/* `name` is NULL where the caller gave the path itself. */
static kmb_status no_file(const char *path, const char *name, size_t length) {
  char names[KMBI_NAMES_SIZE];
  if (!name)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "no backend: there is no file %s",
                     path);
  kmbi_backend_names(names, sizeof names);
  return kmbi_fail(KMB_ERR_UNSUPPORTED,
                   "there is no backend \"%.*s\": those built in are %s, and "
                   "there is no plugin %s",
                   (int)length, name, names, path);
}

static kmb_status load_file(const char *path, const char *name, size_t length,
                            const kmb_backend_ops **ops) {
  bool regular = false;
  int error = look_at(path, &regular);
  if (error == ENOENT || error == ENOTDIR) return no_file(path, name, length);
  if (error)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "cannot load backend: errno %d on looking at %s", error,
                     path);
  if (!regular)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "cannot load backend: not a regular file: %s", path);
  return load(path, ops);
}

kmb_status kmbi_plugin_named(const char *directory, const char *name,
                             size_t length, const kmb_backend_ops **ops) {
  char path[KMBI_PATH_SIZE];
  int written = snprintf(path, sizeof path, "%s/kmb-backend-%.*s.so", directory,
                         (int)length, name);
  if (written >= (int)sizeof path)
    return kmbi_fail(KMB_ERR_INVALID,
                     "path of the plugin directory is longer "
                     "than %d characters",
                     KMBI_PATH_SIZE - 1);
  const kmb_backend_ops *table = NULL;
  kmb_status status = load_file(path, name, length, &table);
  if (!table) return status;
  if (strlen(table->name) != length || memcmp(table->name, name, length) != 0)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend calls itself \"%s\", not \"%.*s\": %s",
                     table->name, (int)length, name, path);
  *ops = table;
  return KMB_OK;
}

kmb_status kmbi_plugin_at(const char *path, size_t length,
                          const kmb_backend_ops **ops) {
  char copy[KMBI_PATH_SIZE];
  if (length >= sizeof copy)
    return kmbi_fail(KMB_ERR_INVALID,
                     "path of the backend is longer than %d characters",
                     KMBI_PATH_SIZE - 1);
  memcpy(copy, path, length);
  copy[length] = '\0';
  return load_file(copy, NULL, 0, ops);
}
