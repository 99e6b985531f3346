/* Work counts by stated conventions. Every product is checked. */
#include <kmb/work.h>

#include "error.h"
#include "memory.h"
#include "structs.h"

static kmb_status overflow(const char *what) {
  return kmbi_fail(KMB_ERR_INVALID,
                   "%s: a count does not fit into 64 bits; check the sizes",
                   what);
}

/* Bytes of `count` elements, rounded up to whole bytes. */
static bool bytes_of(uint64_t count, uint32_t bits, uint64_t *bytes) {
  uint64_t total = 0;
  if (!kmbi_mul(count, bits, &total) || !kmbi_add(total, 7, &total))
    return false;
  *bytes = total / 8;
  return true;
}

static kmb_status store(const kmb_work *work, kmb_work *out, const char *what) {
  return kmbi_copy_out(out, work, sizeof *work, KMBI_WORK_V1, what);
}

kmb_status kmb_work_gemm(uint64_t m, uint64_t n, uint64_t k, kmb_dtype dtype,
                         kmb_work *out) {
  uint32_t bits = 0;
  kmb_status status = kmb_dtype_bits(dtype, &bits);
  if (status) return status;
  if (!m || !n || !k)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_work_gemm: m, n and k must be at least 1");
  kmb_work work = kmb_work_init();
  uint64_t mn = 0, mk = 0, kn = 0, a = 0, b = 0;
  bool fits = kmbi_mul(m, n, &mn) && kmbi_mul(m, k, &mk) &&
              kmbi_mul(k, n, &kn) && kmbi_mul(mn, k, &work.flops) &&
              kmbi_mul(work.flops, 2, &work.flops) && bytes_of(mk, bits, &a) &&
              bytes_of(kn, bits, &b) && kmbi_add(a, b, &work.read_bytes) &&
              bytes_of(mn, bits, &work.write_bytes);
  if (!fits) return overflow("kmb_work_gemm");
  work.dtype = dtype;
  work.convention = "GEMM: 2mnk FLOP; A, B and D once each, no C";
  return store(&work, out, "kmb_work_gemm: work");
}

kmb_status kmb_work_elementwise(uint64_t n, uint32_t inputs, uint32_t outputs,
                                uint32_t flops_per_element, kmb_dtype dtype,
                                kmb_work *out) {
  uint32_t bits = 0;
  kmb_status status = kmb_dtype_bits(dtype, &bits);
  if (status) return status;
  if (!n)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_work_elementwise: n must be at least 1");
  if (!inputs && !outputs)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_work_elementwise: neither inputs nor outputs");
  kmb_work work = kmb_work_init();
  uint64_t one = 0;
  bool fits = bytes_of(n, bits, &one) &&
              kmbi_mul(one, inputs, &work.read_bytes) &&
              kmbi_mul(one, outputs, &work.write_bytes) &&
              kmbi_mul(n, flops_per_element, &work.flops);
  uint64_t total = 0;
  fits = fits && kmbi_add(work.read_bytes, work.write_bytes, &total);
  if (!fits) return overflow("kmb_work_elementwise");
  work.dtype = dtype;
  work.convention = "element-wise: each array once (as STREAM counts); the "
                    "read of a write-allocate is not counted";
  return store(&work, out, "kmb_work_elementwise: work");
}

kmb_status kmb_work_copy(uint64_t bytes, kmb_work *out) {
  if (!bytes)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_work_copy: bytes must be at least 1");
  uint64_t total = 0;
  if (!kmbi_add(bytes, bytes, &total)) return overflow("kmb_work_copy");
  kmb_work work = kmb_work_init();
  work.read_bytes = bytes;
  work.write_bytes = bytes;
  work.dtype = KMB_U8;
  work.convention = "copy: bytes read plus bytes written; the read of a "
                    "write-allocate is not counted";
  return store(&work, out, "kmb_work_copy: work");
}
