/* What all work counts share. */
#include "work_count.h"

#include "error.h"
#include "structs.h"

#include <stdio.h>

uint64_t kmbi_times(kmbi_count *count, uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (!kmbi_mul(a, b, &product)) count->over = true;
  return product;
}

uint64_t kmbi_plus(kmbi_count *count, uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (!kmbi_add(a, b, &sum)) count->over = true;
  return sum;
}

uint64_t kmbi_bytes(kmbi_count *count, uint64_t elements, kmb_dtype dtype) {
  uint32_t bits = 0;
  if (kmb_dtype_bits(dtype, &bits)) count->over = true;
  /* Eights first: the bits may not fit where the bytes do. */
  uint64_t whole = kmbi_times(count, elements / 8, bits);
  return kmbi_plus(count, whole, (elements % 8 * bits + 7) / 8);
}

static uint64_t blocks_of(uint64_t elements, uint64_t size) {
  return elements / size + (elements % size != 0);
}

uint64_t kmbi_rows_bytes(kmbi_count *count, uint64_t rows, uint64_t columns,
                         kmb_dtype dtype, kmb_scales scales, bool weights) {
  uint64_t data = kmbi_bytes(count, kmbi_times(count, rows, columns), dtype);
  uint64_t more = 0;
  switch (scales) {
  case KMB_SCALES_NVFP4:
    more = kmbi_times(count, rows, blocks_of(columns, 16));
    break;
  case KMB_SCALES_MX:
    more = kmbi_times(count, rows, blocks_of(columns, 32));
    break;
  case KMB_SCALES_BLOCK_128:
    more = kmbi_times(count, weights ? blocks_of(rows, 128) : rows,
                      blocks_of(columns, 128));
    more = kmbi_times(count, more, 4);
    break;
  default:
    break;
  }
  return kmbi_plus(count, data, more);
}

kmb_status kmbi_work_bad(const kmbi_count *count, const char *format, ...) {
  char why[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return kmbi_fail(KMB_ERR_INVALID, "%s: %s", count->what, why);
}

kmb_status kmbi_work_dtype(const kmbi_count *count, kmb_dtype *dtype,
                           kmb_dtype otherwise) {
  uint32_t bits = 0;
  if (!*dtype) *dtype = otherwise;
  if (!kmb_dtype_bits(*dtype, &bits)) return KMB_OK;
  return kmbi_work_bad(count, "%d is no dtype; use KMB_BF16 …", (int)*dtype);
}

kmb_status kmbi_work_scales(const kmbi_count *count, kmb_scales scales) {
  if (scales >= KMB_SCALES_NONE && scales <= KMB_SCALES_BLOCK_128)
    return KMB_OK;
  return kmbi_work_bad(count, "%d is no kind of scales; use KMB_SCALES_…",
                       (int)scales);
}

kmb_status kmbi_work_flags(const kmbi_count *count, uint32_t flags,
                           uint32_t known) {
  if (!(flags & ~known)) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNSUPPORTED,
                   "%s: flags 0x%x are not known to libkmb %s", count->what,
                   (unsigned)(flags & ~known), KMB_VERSION);
}

kmb_status kmbi_work_store(const kmbi_count *count, const kmb_work *work,
                           kmb_work *out) {
  uint64_t sum = 0;
  if (count->over || !kmbi_add(work->read_bytes, work->write_bytes, &sum))
    return kmbi_work_bad(count, "a count does not fit into 64 bits; check the "
                                "sizes");
  char what[64];
  snprintf(what, sizeof what, "%s: work", count->what);
  return kmbi_copy_out(out, work, sizeof *work, KMBI_WORK_V1, what);
}
