/* Small floating formats. */
#include "formats.h"

#include <math.h>

bool kmbi_hip_format_of(kmb_dtype dtype, kmbi_hip_format *format) {
  static const struct {
    kmb_dtype dtype;
    kmbi_hip_format format;
  } known[] = {
      {KMB_F32, {23, 127, 31, 0, 0x1.fffffep+127}},
      {KMB_TF32, {10, 127, 31, 13, 0x1.ffcp+127}},
      {KMB_BF16, {7, 127, 15, 0, 0x1.fep+127}},
      {KMB_F16, {10, 15, 15, 0, 65504.0}},
      {KMB_F8_E4M3, {3, 7, 7, 0, 448.0}},
      {KMB_F8_E5M2, {2, 15, 7, 0, 57344.0}},
      {KMB_F4_E2M1, {1, 1, 3, 0, 6.0}},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].dtype == dtype) {
      *format = known[i].format;
      return true;
    }
  return false;
}

uint32_t kmbi_hip_format_word(const kmbi_hip_format *format) {
  return (uint32_t)format->mantissa | (uint32_t)format->bias << 8 |
         (uint32_t)format->sign << 16 | (uint32_t)format->shift << 24;
}

/* Distance of the values next to `value`; it is a power of two, and so is the
 * arithmetic with it exact. */
static double unit_at(const kmbi_hip_format *format, double value) {
  int exponent = 0;
  int least = 1 - format->bias;
  (void)frexp(value, &exponent);
  exponent--; /* frexp's fraction lies in [0.5, 1) */
  if (value == 0 || exponent < least) exponent = least;
  return ldexp(1, exponent - format->mantissa);
}

double kmbi_hip_round_in(const kmbi_hip_format *format, double value, bool up) {
  double unit = unit_at(format, value);
  return (up ? ceil(value / unit) : floor(value / unit)) * unit;
}
