/* Decimal numbers of files, exact and whatever the locale is. */
#ifndef KMB_LIB_DECIMAL_H
#define KMB_LIB_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kmbi_decimal_fault {
  KMBI_DECIMAL_OK,
  KMBI_DECIMAL_NONE,  /* not a number */
  KMBI_DECIMAL_LARGE, /* does not fit into 64 bits */
} kmbi_decimal_fault;

typedef struct kmbi_decimal {
  uint64_t value; /* the size of the number × 10^places, rounded half up */
  int decimals;   /* digits behind the point, as written */
  bool negative;
} kmbi_decimal;

/* All of `text` must be one number: digits, perhaps with a sign, a point and an
 * exponent. */
kmbi_decimal_fault kmbi_decimal_read(const char *text, size_t size, int places,
                                     kmbi_decimal *number);

#endif
