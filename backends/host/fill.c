/* Random contents: element k depends on the seed and k alone, so that any
 * number of threads writes the same. */
#include "host.h"

#include <math.h>

#include "convert.h"

__extension__ typedef unsigned __int128 wide;

typedef struct fill_job {
  unsigned char *to;
  uint64_t bytes;
  uint64_t key;
  double low, high;
  kmbi_host_format format;
  int64_t least;   /* integers: lowest value */
  uint64_t extent; /* and how far the highest is above it */
  kmb_dtype dtype;
  uint32_t bits;
} fill_job;

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static uint64_t word_at(uint64_t key, uint64_t index) {
  return mix(key + (index + 1) * GOLDEN);
}

/* Between the ends without their difference, which may overflow. */
static double between(const fill_job *job, double u) {
  double value = job->low * (1 - u) + job->high * u;
  if (value < job->low) return job->low;
  return value > job->high ? job->high : value;
}

/* Two elements of at most 32 bits share a word: the even one has the low half.
 */
static double small_float(const fill_job *job, uint32_t random) {
  return between(job, (random + 0.5) * 0x1p-32);
}

static void fill_f32(const fill_job *job, uint64_t from, uint64_t to) {
  for (uint64_t k = from; k < to; k += 2) {
    uint64_t word = word_at(job->key, k / 2);
    float pair[2] = {(float)small_float(job, (uint32_t)word),
                     (float)small_float(job, (uint32_t)(word >> 32))};
    memcpy(job->to + k * 4, pair, k + 1 < to ? 8 : 4);
  }
}

static void fill_f64(const fill_job *job, uint64_t from, uint64_t to) {
  for (uint64_t k = from; k < to; k++) {
    double u = ((double)(word_at(job->key, k) >> 11) + 0.5) * 0x1p-53;
    double value = between(job, u);
    memcpy(job->to + k * 8, &value, 8);
  }
}

static uint64_t integer_at(const fill_job *job, uint64_t k) {
  uint64_t word = word_at(job->key, k);
  if (job->extent != UINT64_MAX)
    word = (uint64_t)((wide)word * (job->extent + 1) >> 64);
  return (uint64_t)job->least + word;
}

static void store(const fill_job *job, uint64_t k, uint64_t bits) {
  uint16_t two = (uint16_t)bits;
  uint32_t four = (uint32_t)bits;
  switch (job->bits) {
  case 8:
    job->to[k] = (unsigned char)bits;
    break;
  case 16:
    memcpy(job->to + k * 2, &two, 2);
    break;
  case 32:
    memcpy(job->to + k * 4, &four, 4);
    break;
  default:
    memcpy(job->to + k * 8, &bits, 8);
    break;
  }
}

static void fill_integers(const fill_job *job, uint64_t from, uint64_t to) {
  for (uint64_t k = from; k < to; k++)
    store(job, k, integer_at(job, k));
}

static uint32_t encoded(const fill_job *job, uint64_t random) {
  return kmbi_host_encode(&job->format, small_float(job, (uint32_t)random));
}

static void fill_floats(const fill_job *job, uint64_t from, uint64_t to) {
  for (uint64_t k = from; k < to; k += 2) {
    uint64_t word = word_at(job->key, k / 2);
    store(job, k, encoded(job, word));
    if (k + 1 < to) store(job, k + 1, encoded(job, word >> 32));
  }
}

/* Packed: the even element is in the low half of the byte. */
static void fill_nibbles(const fill_job *job, uint64_t from, uint64_t to) {
  for (uint64_t at = from; at < to; at++) {
    uint64_t pair[2] = {0, 0};
    if (job->format.mantissa) {
      uint64_t word = word_at(job->key, at);
      pair[0] = encoded(job, word);
      pair[1] = encoded(job, word >> 32);
    } else {
      pair[0] = integer_at(job, at * 2);
      pair[1] = integer_at(job, at * 2 + 1);
    }
    job->to[at] = (unsigned char)((pair[0] & 15u) | (pair[1] & 15u) << 4);
  }
}

static void fill_part(void *arg, uint32_t part, uint32_t parts) {
  const fill_job *job = arg;
  uint64_t from = kmbi_host_cut(job->bytes, KMBI_HOST_LINE, part, parts);
  uint64_t to = kmbi_host_cut(job->bytes, KMBI_HOST_LINE, part + 1, parts);
  if (job->bits == 4) {
    fill_nibbles(job, from, to);
    return;
  }
  from /= job->bits / 8;
  to /= job->bits / 8;
  if (job->dtype == KMB_F32)
    fill_f32(job, from, to);
  else if (job->dtype == KMB_F64)
    fill_f64(job, from, to);
  else if (job->format.mantissa)
    fill_floats(job, from, to);
  else
    fill_integers(job, from, to);
}

static kmb_status bad_range(kmbi_host *self, const kmb_fill *fill,
                            const char *why) {
  return KMBI_HOST_FAIL(
      self, KMB_ERR_INVALID, 0, "host: random %s in [%g, %g]: %s",
      kmb_dtype_name(fill->dtype), fill->low, fill->high, why);
}

/* Lowest and highest + 1 of the integer types; false for the others. */
static bool integer_limits(kmb_dtype dtype, double *lowest, double *end) {
  switch (dtype) {
  case KMB_U8:
    *lowest = 0;
    *end = 256;
    return true;
  case KMB_I4:
    *end = 8;
    break;
  case KMB_I8:
    *end = 128;
    break;
  case KMB_I32:
    *end = 0x1p31;
    break;
  case KMB_I64:
    *end = 0x1p63;
    break;
  default:
    return false;
  }
  *lowest = -*end;
  return true;
}

static kmb_status set_integers(kmbi_host *self, const kmb_fill *fill,
                               fill_job *job, double lowest, double end) {
  double low = ceil(fill->low);
  double high = floor(fill->high);
  if (low < lowest || high >= end)
    return bad_range(self, fill, "the type does not reach so far");
  if (low > high) return bad_range(self, fill, "no integer lies between");
  job->least = (int64_t)low;
  job->extent = (uint64_t)(int64_t)high - (uint64_t)job->least;
  return KMB_OK;
}

static kmb_status set_floats(kmbi_host *self, const kmb_fill *fill,
                             fill_job *job) {
  job->low = fill->low;
  job->high = fill->high;
  if (fill->dtype == KMB_F64) return KMB_OK;
  double max = job->format.max;
  if (fill->low < -max || fill->high > max)
    return bad_range(self, fill, "the type does not reach so far");
  /* Between representable ends rounding cannot leave the range. */
  job->low = kmbi_host_round_in(&job->format, fill->low, true);
  job->high = kmbi_host_round_in(&job->format, fill->high, false);
  if (job->low > job->high)
    return bad_range(self, fill, "no value of the type lies between");
  return KMB_OK;
}

kmb_status kmbi_host_fill_random(void *opened, const kmb_fill *fill) {
  kmbi_host *self = opened;
  double lowest = 0;
  double end = 0;
  fill_job job = {.to = fill->pointer,
                  .bytes = fill->bytes,
                  .key = mix(fill->seed + GOLDEN),
                  .dtype = fill->dtype};
  kmb_status status = kmb_dtype_bits(fill->dtype, &job.bits);
  if (status)
    return KMBI_HOST_FAIL(self, status, 0,
                          "host: random fill of unknown element type %d",
                          (int)fill->dtype);
  if (!isfinite(fill->low) || !isfinite(fill->high) || fill->low > fill->high)
    return bad_range(self, fill, "give finite ends, the lower one first");
  if (job.bits >= 8 && fill->bytes % (job.bits / 8))
    return KMBI_HOST_FAIL(
        self, KMB_ERR_INVALID, 0, "host: %llu bytes are no whole number of %s",
        (unsigned long long)fill->bytes, kmb_dtype_name(fill->dtype));
  if (integer_limits(fill->dtype, &lowest, &end))
    status = set_integers(self, fill, &job, lowest, end);
  else if (kmbi_host_format_of(fill->dtype, &job.format) ||
           fill->dtype == KMB_F64)
    status = set_floats(self, fill, &job);
  else
    status = KMBI_HOST_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                            "host: no random fill for %s",
                            kmb_dtype_name(fill->dtype));
  if (status || fill->bytes == 0) return status;
  return kmbi_host_spread(self, fill->bytes, fill_part, &job);
}
