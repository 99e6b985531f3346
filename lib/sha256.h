/* SHA-256 (FIPS 180-4). */
#ifndef KMB_LIB_SHA256_H
#define KMB_LIB_SHA256_H

#include <stdint.h>

enum { KMBI_SHA256_BYTES = 32 };

void kmbi_sha256(const void *data, uint64_t size,
                 uint8_t digest[KMBI_SHA256_BYTES]);

#endif
