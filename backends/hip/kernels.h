/* The backend's own device code, which hiprtc compiles for the device that is
 * opened. The text is written as code and made a string by the preprocessor. */
#ifndef KMB_BACKENDS_HIP_KERNELS_H
#define KMB_BACKENDS_HIP_KERNELS_H

#define KMBI_HIP_CODE(...) #__VA_ARGS__ "\n"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* clang-format off */
static const char kmbi_hip_source[] =
  /* Every rounding of the random contents is the host's. */
  "#pragma clang fp contract(off)\n"
  KMBI_HIP_CODE(
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ inline u64 thread_index() {
  return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

static __device__ inline u64 thread_count() {
  return gridDim.x * (u64)blockDim.x;
}

extern "C" __global__ void kmb_empty() {}
  )

  /* Counts clock cycles, and stores how many passed if there is a place. A
   * counter of few bits that turns over ends it early, never late. */
  KMBI_HIP_CODE(
extern "C" __global__ void kmb_spin(u64 cycles, u64 *out) {
  u64 start = (u64)clock64();
  u64 passed = 0;
  while (passed < cycles) passed = (u64)clock64() - start;
  if (out) *out = passed;
}
  )

  /* Waits for the host, but not for ever: then it says so in the second
   * word. */
  KMBI_HIP_CODE(
extern "C" __global__ void kmb_gate(volatile u32 *gate, u32 turn, u64 tries) {
  for (u64 i = 0; i < tries; i++)
    if ((int)(gate[0] - turn) >= 0) return;
  gate[1] = turn;
}
  )

  /* Reads without writing: `sink` is written only if the sum is what no sum of
   * these words is expected to be. */
  KMBI_HIP_CODE(
extern "C" __global__ void kmb_sweep(const uint4 *from, u64 count, u32 *sink) {
  u32 sum = 0;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    uint4 v = from[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x6b6d6271u) *sink = sum;
}
  )

  /* One byte of each 32-byte sector, whatever the alignment. */
  KMBI_HIP_CODE(
extern "C" __global__ void kmb_touch(const u8 *from, u64 bytes, u32 *sink) {
  u32 sum = 0;
  u64 skew = (u64)from & 31;
  u64 sectors = (bytes + skew + 31) / 32;
  for (u64 i = thread_index(); i < sectors; i += thread_count()) {
    u64 at = i ? i * 32 - skew : 0;
    sum += *(const volatile u8 *)(from + at);
  }
  if (sum == 0xffffffffu) *sink = sum;
}
  )

  /* Repeats a 64-bit pattern, little-endian, from the first byte on. */
  KMBI_HIP_CODE(
extern "C" __global__ void kmb_set(u8 *to, u64 pattern, u64 bytes) {
  u64 skew = (u64)to & 7;
  u64 head = skew ? 8 - skew : 0;
  if (head > bytes) head = bytes;
  u64 words = (bytes - head) / 8;
  u64 turn = 8 * (head & 7);
  u64 turned = turn ? pattern >> turn | pattern << (64 - turn) : pattern;
  u64 *body = (u64 *)(to + head);
  for (u64 i = thread_index(); i < words; i += thread_count())
    body[i] = turned;
  if (thread_index() == 0) {
    for (u64 i = 0; i < head; i++)
      to[i] = (u8)(pattern >> (8 * (i & 7)));
    for (u64 i = head + words * 8; i < bytes; i++)
      to[i] = (u8)(pattern >> (8 * (i & 7)));
  }
}
  )

  /* Random contents: element k depends on the key and k alone, in the same way
   * as on the host. */
  KMBI_HIP_CODE(
static __device__ inline u64 mix(u64 x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

static __device__ inline u64 word_at(u64 key, u64 index) {
  return mix(key + (index + 1) * 0x9E3779B97F4A7C15ull);
}

static __device__ inline double between(double low, double high, double u) {
  double a = low * (1.0 - u);
  double b = high * u;
  double value = a + b;
  if (value < low) return low;
  return value > high ? high : value;
}
  )

  /* `format` holds mantissa, bias, sign and shift, a byte each. */
  KMBI_HIP_CODE(
static __device__ u32 encode(u32 format, double value) {
  int mantissa = (int)(format & 255);
  int bias = (int)(format >> 8 & 255);
  u32 sign = format >> 16 & 255;
  u32 shift = format >> 24;
  u64 bits = (u64)__double_as_longlong(value);
  double size = __longlong_as_double((long long)(bits & ~(1ull << 63)));
  int least = 1 - bias;
  int exponent = (int)(bits >> 52 & 2047) - 1023;
  if (exponent < least) exponent = least;
  u64 scale = (u64)(mantissa - exponent + 1023) << 52;
  double units = size * __longlong_as_double((long long)scale);
  u32 whole = (u32)(long long)units;
  double rest = units - (double)whole;
  whole += rest > 0.5 || (rest == 0.5 && (whole & 1u));
  u32 code = ((u32)(exponent - least) << mantissa) + whole;
  return code << shift | (u32)(bits >> 63) << sign;
}

static __device__ inline void store(u8 *to, u64 k, u32 bits, u64 v) {
  if (bits == 8)
    to[k] = (u8)v;
  else if (bits == 16)
    ((u16 *)to)[k] = (u16)v;
  else if (bits == 32)
    ((u32 *)to)[k] = (u32)v;
  else
    ((u64 *)to)[k] = v;
}
  )

  /* Floats of at most 32 bits: two elements share a word. */
  KMBI_HIP_CODE(
static __device__ inline double from_half(double low, double high, u32 random) {
  double middle = (double)random + 0.5;
  return between(low, high, middle * 2.3283064365386962890625e-10);
}

extern "C" __global__ void kmb_random_small(u8 *to, u64 bytes, u64 key,
                                            double low, double high, u32 bits,
                                            u32 format) {
  u64 count = bits == 4 ? bytes * 2 : bytes / (bits / 8);
  for (u64 i = thread_index(); i * 2 < count; i += thread_count()) {
    u64 word = word_at(key, i);
    u32 a = encode(format, from_half(low, high, (u32)word));
    u32 b = encode(format, from_half(low, high, (u32)(word >> 32)));
    if (bits == 4) {
      to[i] = (u8)((a & 15u) | (b & 15u) << 4);
      continue;
    }
    store(to, i * 2, bits, a);
    if (i * 2 + 1 < count) store(to, i * 2 + 1, bits, b);
  }
}

extern "C" __global__ void kmb_random_f64(double *to, u64 bytes, u64 key,
                                          double low, double high) {
  for (u64 k = thread_index(); k < bytes / 8; k += thread_count()) {
    double u = (double)(word_at(key, k) >> 11) + 0.5;
    to[k] = between(low, high, u * 1.1102230246251565404e-16);
  }
}

static __device__ inline u64 integer_at(u64 key, u64 k, u64 least, u64 extent) {
  u64 word = word_at(key, k);
  if (extent != ~0ull) word = __umul64hi(word, extent + 1);
  return least + word;
}

extern "C" __global__ void kmb_random_int(u8 *to, u64 bytes, u64 key, u64 least,
                                          u64 extent, u32 bits) {
  u64 count = bits == 4 ? bytes : bytes / (bits / 8);
  for (u64 k = thread_index(); k < count; k += thread_count()) {
    if (bits == 4) {
      u64 a = integer_at(key, k * 2, least, extent);
      u64 b = integer_at(key, k * 2 + 1, least, extent);
      to[k] = (u8)((a & 15u) | (b & 15u) << 4);
    } else {
      store(to, k, bits, integer_at(key, k, least, extent));
    }
  }
}
  );
/* clang-format on */

#pragma GCC diagnostic pop

#endif
