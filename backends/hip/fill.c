/* Random contents, made on the device: element k depends on the seed and k
 * alone, and is what the host backend makes of them. */
#include "hip_backend.h"

#include <math.h>

#include "formats.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* What a kernel is launched with. */
typedef struct job {
  void *to;
  uint64_t bytes, key, work;
  double low, high;
  uint64_t least, extent; /* integers: lowest value, highest above it */
  uint32_t bits, format;
  kmbi_hip_kernel kernel;
} job;

static kmb_status bad_range(kmbi_hip *self, const kmb_fill *fill,
                            const char *why) {
  return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                       "hip: random %s in [%g, %g]: %s",
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

static kmb_status set_integers(kmbi_hip *self, const kmb_fill *fill,
                               double lowest, double end, job *j) {
  double low = ceil(fill->low);
  double high = floor(fill->high);
  if (low < lowest || high >= end)
    return bad_range(self, fill, "the type does not reach so far");
  if (low > high) return bad_range(self, fill, "no integer lies between");
  j->least = (uint64_t)(int64_t)low;
  j->extent = (uint64_t)(int64_t)high - j->least;
  j->kernel = KMBI_HIP_random_int;
  return KMB_OK;
}

static kmb_status set_floats(kmbi_hip *self, const kmb_fill *fill, job *j) {
  kmbi_hip_format format;
  j->low = fill->low;
  j->high = fill->high;
  j->kernel = KMBI_HIP_random_f64;
  if (fill->dtype == KMB_F64) return KMB_OK;
  if (!kmbi_hip_format_of(fill->dtype, &format))
    return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                         "hip: no random fill for %s",
                         kmb_dtype_name(fill->dtype));
  if (fill->low < -format.max || fill->high > format.max)
    return bad_range(self, fill, "the type does not reach so far");
  /* Between representable ends rounding cannot leave the range. */
  j->low = kmbi_hip_round_in(&format, fill->low, true);
  j->high = kmbi_hip_round_in(&format, fill->high, false);
  j->format = kmbi_hip_format_word(&format);
  j->kernel = KMBI_HIP_random_small;
  if (j->low > j->high)
    return bad_range(self, fill, "no value of the type lies between");
  return KMB_OK;
}

static kmb_status prepare(kmbi_hip *self, const kmb_fill *fill, job *j) {
  double lowest = 0;
  double end = 0;
  kmb_status status = kmb_dtype_bits(fill->dtype, &j->bits);
  if (status)
    return KMBI_HIP_FAIL(self, status, 0,
                         "hip: random fill of unknown element type %d",
                         (int)fill->dtype);
  if (!isfinite(fill->low) || !isfinite(fill->high) || fill->low > fill->high)
    return bad_range(self, fill, "give finite ends, the lower one first");
  unsigned size = j->bits < 8 ? 1 : j->bits / 8;
  if (fill->bytes % size || (uintptr_t)j->to % size)
    return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                         "hip: %llu bytes at %p are no whole and aligned "
                         "%s",
                         (unsigned long long)fill->bytes, j->to,
                         kmb_dtype_name(fill->dtype));
  j->work = fill->bytes / size;
  if (integer_limits(fill->dtype, &lowest, &end))
    return set_integers(self, fill, lowest, end, j);
  return set_floats(self, fill, j);
}

static kmb_status start(kmbi_hip *self, kmbi_hip_stream stream, job *j) {
  void *small[] = {&j->to,   &j->bytes, &j->key,   &j->low,
                   &j->high, &j->bits,  &j->format};
  void *wide[] = {&j->to, &j->bytes, &j->key, &j->low, &j->high};
  void *integer[] = {&j->to,    &j->bytes,  &j->key,
                     &j->least, &j->extent, &j->bits};
  void **arguments = j->kernel == KMBI_HIP_random_small ? small
                     : j->kernel == KMBI_HIP_random_f64 ? wide
                                                        : integer;
  return kmbi_hip_launch(self, stream, j->kernel, j->work, arguments);
}

kmb_status kmbi_hip_fill_random(void *opened, const kmb_fill *fill) {
  kmbi_hip *self = opened;
  int before = 0;
  kmbi_hip_stream stream = NULL;
  job j = {.to = fill->pointer,
           .bytes = fill->bytes,
           .key = mix(fill->seed + GOLDEN)};
  kmb_status status = prepare(self, fill, &j);
  if (status || !fill->bytes) return status;
  status = kmbi_hip_enter(self, &before);
  if (!status) status = kmbi_hip_space_stream(self, &stream);
  if (!status) status = start(self, stream, &j);
  if (!status) status = kmbi_hip_finish(self, stream);
  kmbi_hip_leave(self, before);
  return status;
}
