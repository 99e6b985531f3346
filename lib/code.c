/* The identity of code. */
#include "error.h"
#include "sha256.h"

#include <kmb/code.h>

kmb_status kmb_code_hash(const void *image, uint64_t bytes, char *text) {
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[KMBI_SHA256_BYTES];
  if (!text || (!image && bytes))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_code_hash: %s is NULL",
                     text ? "image" : "text");
  kmbi_sha256(image, bytes, digest);
  for (size_t i = 0; i < KMBI_SHA256_BYTES; i++) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  text[KMB_CODE_HASH_SIZE - 1] = '\0';
  return KMB_OK;
}
