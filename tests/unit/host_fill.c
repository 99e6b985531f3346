/* Random contents: known answers (from an independent program in exact
 * arithmetic), ranges, and independence of the thread count. */
#include "convert.h"
#include "host_fixture.h"

#include <math.h>

static fixture f;

static kmb_fill fill_of(void *pointer, uint64_t bytes, kmb_dtype dtype,
                        double low, double high) {
  return (kmb_fill){.struct_size = sizeof(kmb_fill),
                    .pointer = pointer,
                    .bytes = bytes,
                    .seed = 42,
                    .low = low,
                    .high = high,
                    .dtype = dtype};
}

static void fill(void *pointer, uint64_t bytes, kmb_dtype dtype, double low,
                 double high) {
  kmb_fill request = fill_of(pointer, bytes, dtype, low, high);
  REQUIRE_EQ(f.ops->fill_random(f.self, &request), KMB_OK);
}

static const kmb_dtype small_floats[] = {KMB_F32,    KMB_TF32,    KMB_BF16,
                                         KMB_F16,    KMB_F8_E4M3, KMB_F8_E5M2,
                                         KMB_F4_E2M1};
enum { SMALL_FLOATS = sizeof small_floats / sizeof small_floats[0] };

/* Bit patterns of the finite positive values, or a stride through them. */
static uint32_t top_bits(const kmbi_host_format *format) {
  return kmbi_host_encode(format, format->max) >> format->shift;
}

static void every_value_survives_a_round_trip(void) {
  for (int i = 0; i < SMALL_FLOATS; i++) {
    kmbi_host_format format;
    REQUIRE(kmbi_host_format_of(small_floats[i], &format));
    uint32_t top = top_bits(&format);
    uint32_t stride = top > 1u << 20 ? 99991 : 1;
    for (uint32_t b = 0; b <= top; b += stride) {
      uint32_t bits = b << format.shift;
      double value = kmbi_host_decode(&format, bits);
      REQUIRE_EQ(kmbi_host_encode(&format, value), bits);
      bits |= 1u << format.sign;
      REQUIRE(kmbi_host_decode(&format, bits) == -value);
      REQUIRE_EQ(kmbi_host_encode(&format, -value), bits);
    }
  }
}

static void ties_go_to_even_and_the_rest_to_the_nearest(void) {
  for (int i = 0; i < SMALL_FLOATS; i++) {
    kmbi_host_format format;
    REQUIRE(kmbi_host_format_of(small_floats[i], &format));
    uint32_t top = top_bits(&format);
    uint32_t stride = top > 1u << 20 ? 99991 : 1;
    for (uint32_t b = 0; b < top; b += stride) {
      double below = kmbi_host_decode(&format, b << format.shift);
      double above = kmbi_host_decode(&format, (b + 1) << format.shift);
      double middle = below + (above - below) / 2;
      uint32_t even = b % 2 ? b + 1 : b;
      REQUIRE(above > below);
      REQUIRE_EQ(kmbi_host_encode(&format, middle) >> format.shift, even);
      REQUIRE_EQ(kmbi_host_encode(&format, nextafter(middle, 0)),
                 b << format.shift);
      REQUIRE_EQ(kmbi_host_encode(&format, nextafter(middle, INFINITY)),
                 (b + 1) << format.shift);
    }
  }
}

static void formats_have_their_known_values(void) {
  kmbi_host_format format;
  REQUIRE(kmbi_host_format_of(KMB_F16, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, 65504.0), 0x7BFF);
  REQUIRE_EQ(kmbi_host_encode(&format, 0x1p-24), 0x0001);
  REQUIRE_EQ(kmbi_host_encode(&format, -2.0), 0xC000);
  REQUIRE(kmbi_host_format_of(KMB_BF16, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, 3.140625), 0x4049);
  REQUIRE(kmbi_host_format_of(KMB_F8_E4M3, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, 448.0), 0x7E);
  REQUIRE_EQ(kmbi_host_encode(&format, 0x1p-9), 0x01);
  REQUIRE(kmbi_host_format_of(KMB_F8_E5M2, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, 57344.0), 0x7B);
  REQUIRE(kmbi_host_format_of(KMB_F4_E2M1, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, -6.0), 0xF);
  REQUIRE_EQ(kmbi_host_encode(&format, 0.5), 0x1);
  REQUIRE(kmbi_host_format_of(KMB_TF32, &format));
  REQUIRE_EQ(kmbi_host_encode(&format, 1.0), 0x3F800000);
  REQUIRE_EQ(kmbi_host_encode(&format, 1.0 + 0x1p-12), 0x3F800000);
  REQUIRE(!kmbi_host_format_of(KMB_F64, &format));
  REQUIRE(!kmbi_host_format_of(KMB_I8, &format));
}

static void rounding_inwards_never_leaves(void) {
  kmbi_host_format format;
  REQUIRE(kmbi_host_format_of(KMB_F4_E2M1, &format));
  REQUIRE_NEAR(kmbi_host_round_in(&format, 0.3, true), 0.5, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 0.3, false), 0.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 0.1, true), 0.5, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, -0.1, false), -0.5, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, -0.1, true), 0.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 5.5, true), 6.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 5.5, false), 4.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, -5.5, true), -4.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, -5.5, false), -6.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 4.0, true), 4.0, 0);
  REQUIRE_NEAR(kmbi_host_round_in(&format, 4.0, false), 4.0, 0);
}

static void known_answers_of_each_type(void) {
  static const int32_t i32[] = {-314, 912, -27, -866, 354, -865};
  static const double f64[] = {-0x1.40f02a2cd77c7p-2, 0x1.d2af450ffac90p-1,
                               -0x1.bf4c639f6b7f0p-6, -0x1.bb06884e41c08p-1};
  static const uint32_t f32[] = {0xbe577c70, 0xbea07815, 0x3f7d6481,
                                 0x3f6957a3};
  static const uint32_t tf32[] = {0xbe578000, 0xbea08000, 0x3f7d6000,
                                  0x3f696000};
  static const uint16_t bf16[] = {0xbe57, 0xbea0, 0x3f7d, 0x3f69};
  static const uint16_t f16[] = {0xb2bc, 0xb504, 0x3beb, 0x3b4b,
                                 0x3813, 0xa6fd, 0xb01c, 0xbaec};
  static const uint8_t e4m3[] = {0xa5, 0xaa, 0x38, 0x37,
                                 0x30, 0x8e, 0xa0, 0xb6};
  static const uint8_t e5m2[] = {0xb3, 0xb5, 0x3c, 0x3b,
                                 0x38, 0xa7, 0xb0, 0xbb};
  static const uint8_t e2m1[] = {0x98, 0x22, 0x81, 0xa8};
  static const uint8_t i4[] = {0x7d, 0x9f, 0x92}; /* -3 7, -1 -7, 2 -7 */
  unsigned char got[64];
#define KNOWN(dtype, low, high, want)           \
  do {                                          \
    const void *bytes = (want);                 \
    fill(got, sizeof(want), dtype, low, high);  \
    REQUIRE(!memcmp(got, bytes, sizeof(want))); \
  } while (0)
  KNOWN(KMB_I32, -1000, 1000, i32);
  KNOWN(KMB_F64, -1, 1, f64);
  KNOWN(KMB_F32, -1, 1, f32);
  KNOWN(KMB_TF32, -1, 1, tf32);
  KNOWN(KMB_BF16, -1, 1, bf16);
  KNOWN(KMB_F16, -1, 1, f16);
  KNOWN(KMB_F8_E4M3, -1, 1, e4m3);
  KNOWN(KMB_F8_E5M2, -1, 1, e5m2);
  KNOWN(KMB_F4_E2M1, -1, 1, e2m1);
  KNOWN(KMB_I4, -8, 7, i4);
}

static double value_at(const unsigned char *data, kmb_dtype dtype, uint64_t k) {
  kmbi_host_format format;
  uint32_t bits = 0;
  uint32_t size = 0;
  int8_t i8 = 0;
  int32_t i32 = 0;
  int64_t i64 = 0;
  double f64 = 0;
  REQUIRE_OK(kmb_dtype_bits(dtype, &size));
  if (size == 4)
    bits = data[k / 2] >> (k % 2 * 4) & 15u;
  else if (size < 64)
    memcpy(&bits, data + k * (size / 8), size / 8);
  if (kmbi_host_format_of(dtype, &format))
    return kmbi_host_decode(&format, bits);
  switch (dtype) {
  case KMB_U8:
    return data[k];
  case KMB_I8:
    memcpy(&i8, data + k, 1);
    return i8;
  case KMB_I4:
    return bits < 8 ? bits : (double)bits - 16;
  case KMB_I32:
    memcpy(&i32, data + k * 4, 4);
    return i32;
  case KMB_I64:
    memcpy(&i64, data + k * 8, 8);
    return (double)i64;
  default:
    memcpy(&f64, data + k * 8, 8);
    return f64;
  }
}

typedef struct range {
  kmb_dtype dtype;
  double low, high;   /* as asked */
  double least, most; /* that must come up */
} range;

/* Every value in range, and the ends reached where there are few values. */
static void values_stay_in_range_and_reach_its_ends(void) {
  static const range ranges[] = {
      {KMB_U8, 0, 255, 0, 255},
      {KMB_U8, 1.5, 3.5, 2, 3},
      {KMB_I8, -128, 127, -128, 127},
      {KMB_I8, -2, 2, -2, 2},
      {KMB_I4, -8, 7, -8, 7},
      {KMB_I32, -2, 2, -2, 2},
      {KMB_I64, -1, 1, -1, 1},
      {KMB_I32, 5, 5, 5, 5},
      {KMB_F4_E2M1, -6, 6, -6, 6},
      {KMB_F4_E2M1, 0.3, 2.2, 0.5, 2},
      {KMB_F8_E4M3, -0.3, 0.3, -0.28125, 0.28125},
      {KMB_F8_E5M2, -1, 1, -1, 1},
      {KMB_BF16, 1, 1.03, 1, 1.0234375},
      {KMB_F16, 0.5, 0.5, 0.5, 0.5},
  };
  static unsigned char data[1 << 16];
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    const range *r = &ranges[i];
    uint32_t bits = 0;
    REQUIRE_OK(kmb_dtype_bits(r->dtype, &bits));
    fill(data, sizeof data, r->dtype, r->low, r->high);
    double least = INFINITY;
    double most = -INFINITY;
    for (uint64_t k = 0; k < sizeof data * 8 / bits; k++) {
      double value = value_at(data, r->dtype, k);
      least = fmin(least, value);
      most = fmax(most, value);
    }
    REQUIRE_NEAR(least, r->least, 0);
    REQUIRE_NEAR(most, r->most, 0);
  }
}

static void wide_ranges_are_uniform_and_finite(void) {
  static const range ranges[] = {
      {KMB_F64, -1.7e308, 1.7e308, 0, 0},
      {KMB_F32, -3.4e38, 3.4e38, 0, 0},
      {KMB_F32, -1, 1, 0, 0},
      {KMB_F64, -1, 1, 0, 0},
      {KMB_TF32, -1, 1, 0, 0},
      {KMB_BF16, -3.3e38, 3.3e38, 0, 0},
      {KMB_BF16, -1, 1, 0, 0},
      {KMB_F16, -65504, 65504, 0, 0},
      {KMB_F8_E4M3, -448, 448, 0, 0},
      {KMB_F8_E5M2, -57344, 57344, 0, 0},
      {KMB_I64, -9223372036854775808.0, 9223372036854774784.0, 0, 0},
      {KMB_I32, -2147483648.0, 2147483647.0, 0, 0}};
  static unsigned char data[1 << 16];
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    const range *r = &ranges[i];
    uint32_t bits = 0;
    double mean = 0;
    double square = 0;
    REQUIRE_OK(kmb_dtype_bits(r->dtype, &bits));
    fill(data, sizeof data, r->dtype, r->low, r->high);
    uint64_t count = sizeof data * 8 / bits;
    for (uint64_t k = 0; k < count; k++) {
      double value = value_at(data, r->dtype, k);
      REQUIRE(isfinite(value) && value >= r->low && value <= r->high);
      mean += value / r->high / (double)count;
      square += value / r->high * (value / r->high) / (double)count;
    }
    REQUIRE_NEAR(mean, 0, 0.03);
    REQUIRE_NEAR(square, 1.0 / 3, 0.03);
  }
}

static void element_depends_on_seed_and_index_alone(void) {
  static const kmb_dtype types[] = {KMB_F32, KMB_F64, KMB_BF16, KMB_I8, KMB_I4};
  enum { BYTES = 5 << 20 };
  unsigned char *one = malloc(BYTES);
  unsigned char *all = malloc(BYTES);
  REQUIRE(one && all);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    fixture single;
    fixture_init(&single);
    REQUIRE_EQ(fixture_open(&single, 0, 1, 0), KMB_OK);
    kmb_fill request = fill_of(one, BYTES, types[i], -8, 7);
    REQUIRE_EQ(single.ops->fill_random(single.self, &request), KMB_OK);
    fixture_close(&single);
    fill(all, BYTES, types[i], -8, 7);
    REQUIRE(!memcmp(one, all, BYTES));
    memset(all, 0, BYTES);
    fill(all, 88, types[i], -8, 7);
    REQUIRE(!memcmp(one, all, 88));
    REQUIRE_EQ(all[88], 0);
    request = fill_of(all, 88, types[i], -8, 7);
    request.seed = 43;
    REQUIRE_EQ(f.ops->fill_random(f.self, &request), KMB_OK);
    REQUIRE(memcmp(one, all, 88));
  }
  free(one);
  free(all);
}

static void odd_ends_write_no_byte_too_many(void) {
  unsigned char data[16];
  memset(data, 0xEE, sizeof data);
  fill(data, 12, KMB_F32, -1, 1); /* an odd number of elements */
  REQUIRE_EQ(data[12], 0xEE);
  memset(data, 0xEE, sizeof data);
  fill(data, 6, KMB_BF16, -1, 1);
  REQUIRE_EQ(data[6], 0xEE);
  REQUIRE_EQ(data[7], 0xEE);
  fill(data, 3, KMB_I4, -8, 7);
  REQUIRE_EQ(data[6], 0xEE);
  fill(data, 0, KMB_I4, -8, 7);
  REQUIRE_EQ(data[12], 0xEE);
}

static void bad_fill(uint64_t bytes, kmb_dtype dtype, double low, double high,
                     const char *text) {
  unsigned char data[16];
  kmb_fill request = fill_of(data, bytes, dtype, low, high);
  REQUIRE_FAILS(&f, f.ops->fill_random(f.self, &request), KMB_ERR_INVALID,
                text);
}

static void bad_fills_are_named(void) {
  bad_fill(16, 99, -1, 1, "element type 99");
  bad_fill(15, KMB_F16, -1, 1, "whole number");
  bad_fill(16, KMB_F16, 1, -1, "lower one first");
  bad_fill(16, KMB_F16, NAN, 1, "finite");
  bad_fill(16, KMB_F64, -1, INFINITY, "finite");
  bad_fill(16, KMB_F16, -1, 65505, "reach");
  bad_fill(16, KMB_U8, -1, 5, "reach");
  bad_fill(16, KMB_I4, 0, 8, "reach");
  bad_fill(16, KMB_I64, 0, 0x1p63, "reach");
  bad_fill(16, KMB_I32, 0.2, 0.8, "no integer");
  bad_fill(16, KMB_F4_E2M1, 0.1, 0.2, "no value");
}

/* Rotating buffers of a few KiB have some hundred thousand pieces: for none of
 * them is the caller bound or a helper started. */
static void small_pieces_need_no_pool(void) {
  static unsigned char data[4096];
  fixture own;
  fixture_init(&own);
  REQUIRE_EQ(fixture_open(&own, 0, 0, 0), KMB_OK);
  const kmbi_host *self = own.self;
  kmb_fill request = fill_of(data, sizeof data, KMB_F32, -1, 1);
  REQUIRE_EQ(own.ops->fill_random(own.self, &request), KMB_OK);
  REQUIRE_EQ(own.ops->set(own.self, data, 0x55, sizeof data), KMB_OK);
  REQUIRE(!self->pool);
  fixture_close(&own);
}

int main(void) {
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, 0, 0, 0), KMB_OK);
  RUN(every_value_survives_a_round_trip);
  RUN(ties_go_to_even_and_the_rest_to_the_nearest);
  RUN(formats_have_their_known_values);
  RUN(rounding_inwards_never_leaves);
  RUN(known_answers_of_each_type);
  RUN(values_stay_in_range_and_reach_its_ends);
  RUN(wide_ranges_are_uniform_and_finite);
  RUN(element_depends_on_seed_and_index_alone);
  RUN(odd_ends_write_no_byte_too_many);
  RUN(bad_fills_are_named);
  RUN(small_pieces_need_no_pool);
  fixture_close(&f);
  return 0;
}
