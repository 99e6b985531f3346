/* Decimal numbers of files, exact and whatever the locale is. */
#ifndef KMB_LIB_DECIMAL_H
#define KMB_LIB_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum kmbi_decimal_fault {
  KMBI_DECIMAL_OK,
  KMBI_DECIMAL_NONE,  /* not a number */
  KMBI_DECIMAL_LARGE, /* does not fit into 64 bits */
} kmbi_decimal_fault;

typedef struct kmbi_decimal {
  uint64_t value; /* the size of the number × 10^places, rounded half up */
  int decimals;   /* digits behind the point, as written: 2 of 15e-2 too */
  bool negative;
} kmbi_decimal;

/* Eight digits, the first of them in the lowest byte; false if one is none.
 * The sums of pairs, then of pairs of pairs, stay within their lanes. */
static inline bool kmbi_digits_eight(uint64_t x, uint64_t *value) {
  /* A digit's upper half is 3, and stays so when 6 is added. */
  if (((x & 0xF0F0F0F0F0F0F0F0u) |
       ((x + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) !=
      0x3333333333333333u)
    return false;
  x = (x & 0x0F0F0F0F0F0F0F0Fu) * ((10 << 8) + 1) >> 8;
  x = (x & 0x00FF00FF00FF00FFu) * ((100 << 16) + 1) >> 16;
  *value = (x & 0x0000FFFF0000FFFFu) * ((UINT64_C(10000) << 32) + 1) >> 32;
  return true;
}

static inline uint64_t kmbi_digits_load(const char *text) {
  uint64_t x = 0;
  memcpy(&x, text, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}

/* The plain case of what follows: up to 19 digits and nothing else. Eight bytes
 * from `text` on must be readable. False: it is not that. */
static inline bool kmbi_digits_read(const char *text, size_t size,
                                    uint64_t *value) {
  const uint64_t zeros = 0x3030303030303030u;
  unsigned head = size & 7u;
  uint64_t sum = 0, eight = 0;
  if (!size || size > 19) return false;
  if (head) {
    uint64_t x = kmbi_digits_load(text);
    x = x << (64 - 8 * head) | zeros >> (8 * head);
    if (!kmbi_digits_eight(x, &sum)) return false;
    text += head;
  }
  for (size -= head; size; size -= 8, text += 8) {
    if (!kmbi_digits_eight(kmbi_digits_load(text), &eight)) return false;
    sum = 100000000 * sum + eight;
  }
  *value = sum;
  return true;
}

/* All of `text` must be one number: digits, perhaps with a sign, a point and an
 * exponent. */
kmbi_decimal_fault kmbi_decimal_read(const char *text, size_t size, int places,
                                     kmbi_decimal *number);

#endif
