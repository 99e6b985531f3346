/* Growing structs: the one place that knows how sizes are reconciled. */
#ifndef KMB_LIB_STRUCTS_H
#define KMB_LIB_STRUCTS_H

#include <kmb/base.h>

/* Copy a caller's struct over zeroes. `size` is this library's sizeof,
 * `first_size` that of the struct's first version. Too small a struct_size is
 * INVALID; bytes that this library does not know and that are not zero are
 * UNSUPPORTED. `to`'s struct_size becomes `size`. */
kmb_status kmbi_copy_in(void *to, size_t size, size_t first_size,
                        const void *from, const char *what);

/* Write at most the caller's struct_size, which stays as it was. */
kmb_status kmbi_copy_out(void *to, const void *from, size_t size,
                         size_t first_size, const char *what);

#endif
