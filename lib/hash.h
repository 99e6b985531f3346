/* FNV-1a of 64 bits: tells inputs apart, against nobody's intent. */
#ifndef KMB_LIB_HASH_H
#define KMB_LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define KMBI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t kmbi_hash(uint64_t hash, const void *data, size_t size) {
  const unsigned char *at = data;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
