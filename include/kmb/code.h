/**
 * @file code.h
 * The code that a device runs: its identity.
 */
#ifndef KMB_CODE_H
#define KMB_CODE_H

#include <kmb/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup code Code
 *  docs/code.md shows what to do with it.
 *  @{ */

enum {
  KMB_CODE_HASH_SIZE = 65 /**< bytes of a hash as text, its 0 included */
};

/** The identity of a code object, or of any other bytes: SHA-256, as
 *  `sha256sum` prints it.
 *  @param image  the bytes; NULL if there are none
 *  @param bytes  how many
 *  @param[out] text  room for ::KMB_CODE_HASH_SIZE bytes: 64 hexadecimal digits
 *                   and a 0
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_code_hash(const void *image, uint64_t bytes, char *text);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
