/* The backends that are built in. */
#include "backends.h"

#include "error.h"

/* Each backend's folder defines one entry and shares no header with lib/. */
const kmb_backend_ops *kmbi_backend_host(void);

static const kmb_backend_entry_fn built_in[] = {kmbi_backend_host};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

const kmb_backend_ops *kmbi_backend_at(size_t index) {
  return index < BUILT_IN ? built_in[index]() : NULL;
}

const kmb_backend_ops *kmbi_backend_find(const char *name, size_t length) {
  char known[128] = "";
  size_t used = 0;
  for (size_t i = 0; i < BUILT_IN; i++) {
    const kmb_backend_ops *ops = built_in[i]();
    size_t size = strlen(ops->name);
    if (size == length && memcmp(ops->name, name, length) == 0) return ops;
    if (used + size + 3 < sizeof known) {
      memcpy(known + used, i ? ", " : "", i ? 2 : 0);
      used += i ? 2 : 0;
      memcpy(known + used, ops->name, size + 1);
      used += size;
    }
  }
  kmbi_fail(KMB_ERR_UNSUPPORTED,
            "no backend \"%.*s\" in this libkmb; it has: %s",
            length < 32 ? (int)length : 32, name, known);
  return NULL;
}
