/* The backends that are built in, by name. */
#ifndef KMB_LIB_BACKENDS_H
#define KMB_LIB_BACKENDS_H

#include <kmb/backend.h>

/* NULL if there is none of that name; the last error then lists those that
 * there are. */
const kmb_backend_ops *kmbi_backend_find(const char *name, size_t length);
/* The order in which "auto" tries them; NULL past the end. */
const kmb_backend_ops *kmbi_backend_at(size_t index);

#endif
