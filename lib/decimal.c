/* Decimal numbers of files. */
#include "decimal.h"

enum { EXPONENT_MOST = 400 };

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool append(uint64_t *value, unsigned digit) {
  return !__builtin_mul_overflow(*value, 10, value) &&
         !__builtin_add_overflow(*value, digit, value);
}

/* At what follows the digits; false if it is no exponent. */
static bool read_exponent(const char *at, const char *end, int *exponent) {
  bool negative = false;
  *exponent = 0;
  if (at == end) return true;
  if (*at != 'e' && *at != 'E') return false;
  at++;
  if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
  if (at == end) return false;
  for (; at < end; at++) {
    if (!is_digit(*at)) return false;
    if (*exponent < EXPONENT_MOST) *exponent = 10 * *exponent + (*at - '0');
  }
  if (negative) *exponent = -*exponent;
  return true;
}

/* The digits from `at` to `end`, a point among them, of which `weight` more
 * than the first count. */
static bool shift(const char *at, const char *end, long weight,
                  uint64_t *value) {
  bool good = true, up = false;
  *value = 0;
  for (; at < end; at++) {
    if (*at == '.') continue;
    if (weight >= 0)
      good = good && append(value, (unsigned)(*at - '0'));
    else if (weight == -1)
      up = *at >= '5';
    weight--;
  }
  for (; weight >= 0 && *value && good; weight--)
    good = append(value, 0);
  return good && !__builtin_add_overflow(*value, up, value);
}

/* Mostly there is a point, and behind it no more digits than places: up to 12
 * and 6 digits do not overflow. */
static bool short_fraction(const char *at, const char *end, int places,
                           uint64_t value, kmbi_decimal *number) {
  if (value >= 1000000000000 || places < 0 || places > 6 || *at != '.' ||
      end - at < 2 || end - at > 1 + places)
    return false;
  number->decimals = (int)(end - at) - 1;
  for (at++; at < end; at++) {
    if (!is_digit(*at)) return false;
    value = 10 * value + (unsigned)(*at - '0');
  }
  for (int i = number->decimals; i < places; i++)
    value *= 10;
  number->value = value;
  return true;
}

kmbi_decimal_fault kmbi_decimal_read(const char *text, size_t size, int places,
                                     kmbi_decimal *number) {
  const char *at = text, *end = text + size;
  int exponent = 0;
  number->negative = size > 0 && *at == '-';
  number->decimals = 0;
  at += number->negative;
  const char *digits = at;
  uint64_t value = 0;
  /* No 19 digits overflow. */
  const char *most = end - at > 19 ? at + 19 : end;
  for (unsigned digit; at < most && (digit = (unsigned)(*at - '0')) < 10; at++)
    value = 10 * value + digit;
  if (at == end && at > digits && places == 0) {
    number->value = value;
    return KMBI_DECIMAL_OK;
  }
  if (at > digits && short_fraction(at, end, places, value, number))
    return KMBI_DECIMAL_OK;
  while (at < end && is_digit(*at))
    at++;
  long whole = at - digits;
  if (!whole) return KMBI_DECIMAL_NONE;
  if (at < end && *at == '.') {
    at++;
    while (at < end && is_digit(*at))
      at++;
    number->decimals = at - digits - whole - 1 > EXPONENT_MOST
                           ? EXPONENT_MOST
                           : (int)(at - digits - whole - 1);
  }
  if (!read_exponent(at, end, &exponent)) return KMBI_DECIMAL_NONE;
  if (exponent < 0) number->decimals -= exponent;
  return shift(digits, at, whole - 1 + places + exponent, &number->value)
             ? KMBI_DECIMAL_OK
             : KMBI_DECIMAL_LARGE;
}
