/* Small floating formats: rounding a double to the nearest, ties to even. */
#ifndef KMB_BACKENDS_HIP_FORMATS_H
#define KMB_BACKENDS_HIP_FORMATS_H

#include <kmb/base.h>

#include <stdbool.h>

/* A binary format without NaN and infinity in what we make of it. */
typedef struct kmbi_hip_format {
  int mantissa; /* stored bits */
  int bias;
  int sign;   /* position of the sign bit */
  int shift;  /* bits below the mantissa: TF32 sits high in its 32 */
  double max; /* largest finite value */
} kmbi_hip_format;

/* False for a type that is no float of at most 32 bits. */
bool kmbi_hip_format_of(kmb_dtype dtype, kmbi_hip_format *format);
/* The least representable value that is not below `value`, or the greatest
 * that is not above it. |value| <= max. */
double kmbi_hip_round_in(const kmbi_hip_format *format, double value, bool up);
/* As the kernels take it: a byte each. */
uint32_t kmbi_hip_format_word(const kmbi_hip_format *format);

#endif
