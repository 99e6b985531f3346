/* Decimal numbers of files. */
#include "require.h"

#include "decimal.h"

#include <stdlib.h>

static uint64_t state = 1;

static uint64_t draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 11 ^ state << 21;
}

/* Of each length that cannot overflow, whatever stands behind it. */
static void digits_are_read(void) {
  for (int size = 1; size <= 19; size++) {
    for (int i = 0; i < 1000; i++) {
      char text[40];
      uint64_t value = 0;
      for (int k = 0; k < size; k++)
        text[k] = (char)('0' + draw() % 10);
      text[size] = '\0';
      uint64_t want = strtoull(text, NULL, 10);
      memset(text + size, (int)(draw() & 0xFF), 8);
      REQUIRE(kmbi_digits_read(text, (size_t)size, &value));
      REQUIRE_EQ(value, want);
    }
  }
}

/* Each other byte, at each place. */
static void digits_are_nothing_else(void) {
  for (int size = 1; size <= 19; size++) {
    for (int at = 0; at < size; at++) {
      for (int byte = 0; byte < 256; byte++) {
        char text[40];
        uint64_t value = 0;
        memset(text, '9', sizeof text);
        text[at] = (char)byte;
        REQUIRE_EQ(kmbi_digits_read(text, (size_t)size, &value),
                   byte >= '0' && byte <= '9');
      }
    }
  }
}

static void no_digits_and_too_many_are_left_to_others(void) {
  static const char text[] = "123456789012345678901234567890";
  uint64_t value = 0;
  REQUIRE(!kmbi_digits_read(text, 0, &value));
  REQUIRE(!kmbi_digits_read(text, 20, &value));
  REQUIRE(!kmbi_digits_read(text, 24, &value));
}

static void read(const char *text, int places, kmbi_decimal_fault fault,
                 uint64_t value) {
  kmbi_decimal number = {0};
  REQUIRE_EQ(kmbi_decimal_read(text, strlen(text), places, &number), fault);
  if (!fault) REQUIRE_EQ(number.value, value);
}

static void numbers_are_shifted_and_rounded(void) {
  read("18446744073709551615", 0, KMBI_DECIMAL_OK, UINT64_MAX);
  read("18446744073709551616", 0, KMBI_DECIMAL_LARGE, 0);
  read("00000000000000000000012", 0, KMBI_DECIMAL_OK, 12);
  read("92.984680", 9, KMBI_DECIMAL_OK, 92984680000);
  read("1.0005", 3, KMBI_DECIMAL_OK, 1001);
  read("1.5e3", 0, KMBI_DECIMAL_OK, 1500);
  read("-7", 0, KMBI_DECIMAL_OK, 7);
  read("1,5", 0, KMBI_DECIMAL_NONE, 0);
  read("", 0, KMBI_DECIMAL_NONE, 0);
  read("1e", 0, KMBI_DECIMAL_NONE, 0);
}

/* What asks for whole numbers looks at it. */
static void an_exponent_moves_the_point(void) {
  static const struct {
    const char *text;
    int decimals;
  } cases[] = {{"15", 0},   {"1.50", 2},  {"15e-1", 1},
               {"15e1", 0}, {"1.5e1", 1}, {"1.5E-9", 10}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmbi_decimal number = {0};
    REQUIRE_EQ(
        kmbi_decimal_read(cases[i].text, strlen(cases[i].text), 0, &number),
        KMBI_DECIMAL_OK);
    REQUIRE_EQ(number.decimals, cases[i].decimals);
  }
}

int main(void) {
  RUN(digits_are_read);
  RUN(digits_are_nothing_else);
  RUN(no_digits_and_too_many_are_left_to_others);
  RUN(numbers_are_shifted_and_rounded);
  RUN(an_exponent_moves_the_point);
  return 0;
}
