/* Small floating formats. */
#include "convert.h"

#include <math.h>

bool kmbi_host_format_of(kmb_dtype dtype, kmbi_host_format *format) {
  switch (dtype) {
  case KMB_F32:
    *format = (kmbi_host_format){23, 127, 31, 0, 0x1.fffffep+127};
    return true;
  case KMB_TF32:
    *format = (kmbi_host_format){10, 127, 31, 13, 0x1.ffcp+127};
    return true;
  case KMB_BF16:
    *format = (kmbi_host_format){7, 127, 15, 0, 0x1.fep+127};
    return true;
  case KMB_F16:
    *format = (kmbi_host_format){10, 15, 15, 0, 65504.0};
    return true;
  case KMB_F8_E4M3:
    *format = (kmbi_host_format){3, 7, 7, 0, 448.0};
    return true;
  case KMB_F8_E5M2:
    *format = (kmbi_host_format){2, 15, 7, 0, 57344.0};
    return true;
  case KMB_F4_E2M1:
    *format = (kmbi_host_format){1, 1, 3, 0, 6.0};
    return true;
  default:
    return false;
  }
}

/* 2^exponent, for exponents of normal doubles. */
static double power_of_two(int exponent) {
  union {
    uint64_t bits;
    double value;
  } word = {.bits = (uint64_t)(exponent + 1023) << 52};
  return word.value;
}

/* Exponent of a positive value, at least `least`. */
static int exponent_of(double value, int least) {
  union {
    double value;
    uint64_t bits;
  } word = {.value = value};
  int exponent = (int)(word.bits >> 52) - 1023;
  return exponent < least ? least : exponent;
}

uint32_t kmbi_host_encode(const kmbi_host_format *format, double value) {
  int least = 1 - format->bias;
  double size = fabs(value);
  int exponent = exponent_of(size, least);
  /* In units of the last place: exact, as only the exponent changes. */
  double units = size * power_of_two(format->mantissa - exponent);
  uint32_t whole = (uint32_t)(int64_t)units;
  double rest = units - whole;
  /* Without a branch: no processor can guess what random bits do. */
  whole += (unsigned)(rest > 0.5) | ((unsigned)(rest == 0.5) & whole & 1u);
  /* A carry runs into the exponent by itself, also out of the subnormals. */
  uint32_t bits = (uint32_t)(exponent - least) << format->mantissa;
  bits += whole;
  bits <<= format->shift;
  return bits | (uint32_t)(signbit(value) != 0) << format->sign;
}

double kmbi_host_decode(const kmbi_host_format *format, uint32_t bits) {
  uint32_t mask = (1u << format->mantissa) - 1;
  uint32_t size = (bits & ((1u << format->sign) - 1)) >> format->shift;
  int stored = (int)(size >> format->mantissa);
  uint32_t units = (size & mask) + (stored ? mask + 1 : 0);
  int exponent = (stored ? stored : 1) - format->bias - format->mantissa;
  double value = units * power_of_two(exponent);
  return bits >> format->sign & 1u ? -value : value;
}

double kmbi_host_round_in(const kmbi_host_format *format, double value,
                          bool up) {
  double near = kmbi_host_decode(format, kmbi_host_encode(format, value));
  if (up ? near >= value : near <= value) return near;
  /* One step: away from zero adds a unit to the bits, towards it takes one. */
  double size = fabs(near);
  uint32_t unit = 1u << format->shift;
  uint32_t bits = kmbi_host_encode(format, size);
  if (near == 0)
    return up ? kmbi_host_decode(format, unit)
              : -kmbi_host_decode(format, unit);
  bool away = up == (near > 0);
  size = kmbi_host_decode(format, away ? bits + unit : bits - unit);
  return near > 0 ? size : -size;
}
