/* Growing structs. */
#include "structs.h"

#include "error.h"

/* No struct of this library comes near it: a larger size is garbage, and what
 * would lie there must not be read. */
#define SIZE_LIMIT ((size_t)1 << 16)

static kmb_status read_size(const void *caller, size_t first_size,
                            const char *what, size_t *size) {
  if (!caller) return kmbi_fail(KMB_ERR_INVALID, "%s is NULL", what);
  memcpy(size, caller, sizeof *size);
  if (*size < first_size)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: struct_size is %zu, at least %zu is needed; start "
                     "from its _init() function",
                     what, *size, first_size);
  if (*size > SIZE_LIMIT)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: struct_size is %zu, more than any version has; start "
                     "from its _init() function",
                     what, *size);
  return KMB_OK;
}

kmb_status kmbi_copy_in(void *to, size_t size, size_t first_size,
                        const void *from, const char *what) {
  size_t given = 0;
  kmb_status status = read_size(from, first_size, what, &given);
  if (status) return status;
  const unsigned char *bytes = from;
  for (size_t i = size; i < given; i++) {
    if (bytes[i])
      return kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "%s: byte %zu is set, which libkmb %s does not know; "
                       "use a newer libkmb or leave it zero",
                       what, i, KMB_VERSION);
  }
  memset(to, 0, size);
  memcpy(to, from, given < size ? given : size);
  memcpy(to, &size, sizeof size);
  return KMB_OK;
}

kmb_status kmbi_copy_out(void *to, const void *from, size_t size,
                         size_t first_size, const char *what) {
  size_t given = 0;
  kmb_status status = read_size(to, first_size, what, &given);
  if (status) return status;
  size_t head = sizeof(size_t);
  memcpy((char *)to + head, (const char *)from + head,
         (given < size ? given : size) - head);
  return KMB_OK;
}
