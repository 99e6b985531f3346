/* Small floating formats: rounding a double to the nearest, ties to even. */
#ifndef KMB_BACKENDS_HOST_CONVERT_H
#define KMB_BACKENDS_HOST_CONVERT_H

#include <kmb/base.h>

#include <stdbool.h>
#include <stdint.h>

/* A binary format without NaN and infinity in what we make of it. */
typedef struct kmbi_host_format {
  int mantissa; /* stored bits */
  int bias;
  int sign;   /* position of the sign bit */
  int shift;  /* bits below the mantissa: TF32 sits high in its 32 */
  double max; /* largest finite value */
} kmbi_host_format;

/* False for a type that is no float of at most 32 bits. */
bool kmbi_host_format_of(kmb_dtype dtype, kmbi_host_format *format);
/* |value| <= max. */
uint32_t kmbi_host_encode(const kmbi_host_format *format, double value);
double kmbi_host_decode(const kmbi_host_format *format, uint32_t bits);
/* The least representable value that is not below `value`, or the greatest
 * that is not above it. |value| <= max. */
double kmbi_host_round_in(const kmbi_host_format *format, double value,
                          bool up);

#endif
