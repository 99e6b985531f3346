/* Work counts: known answers, and no product ever wraps. */
#include "require.h"

#include <kmb/work.h>

static void gemm_counts_flops_and_bytes_once(void) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_gemm(4096, 8, 4096, KMB_F32, &w));
  REQUIRE_EQ(w.flops, 268435456);
  REQUIRE_EQ(w.read_bytes, 4 * (4096LL * 4096 + 4096LL * 8));
  REQUIRE_EQ(w.write_bytes, 4LL * 4096 * 8);
  REQUIRE_EQ(w.dtype, KMB_F32);
  REQUIRE_HAS(w.convention, "2mnk");
}

static void sub_byte_elements_round_up(void) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_gemm(1, 1, 3, KMB_F4_E2M1, &w));
  REQUIRE_EQ(w.read_bytes, 4);
  REQUIRE_EQ(w.write_bytes, 1);
}

/* Field case F35, first product: 32 bits would give a negative rate. */
static void f35_stream_bytes_do_not_wrap(void) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_elementwise(89478486, 2, 1, 2, KMB_F64, &w));
  REQUIRE_EQ(w.read_bytes + w.write_bytes, 2147483664LL);
  REQUIRE_EQ(w.flops, 178956972);
}

static void overflow_is_an_error_and_writes_nothing(void) {
  kmb_work w = kmb_work_init();
  w.flops = 7;
  REQUIRE_STATUS(kmb_work_gemm(1ULL << 32, 1ULL << 32, 2, KMB_F32, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_gemm(1ULL << 31, 1ULL << 32, 1, KMB_F64, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_elementwise(1ULL << 62, 2, 0, 0, KMB_F64, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_elementwise(1ULL << 59, 3, 3, 0, KMB_F64, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_copy(1ULL << 63, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "64 bits");
  REQUIRE_EQ(w.flops, 7);
}

static void bad_arguments_are_named(void) {
  kmb_work w = kmb_work_init();
  REQUIRE_STATUS(kmb_work_gemm(0, 1, 1, KMB_F32, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_gemm(1, 1, 1, 99, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_gemm(1, 1, 1, KMB_F32, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_elementwise(0, 1, 1, 1, KMB_F32, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_elementwise(1, 0, 0, 1, KMB_F32, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_copy(0, &w), KMB_ERR_INVALID);
  kmb_work small = {.struct_size = 8};
  REQUIRE_STATUS(kmb_work_copy(1, &small), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "struct_size");
}

int main(void) {
  RUN(gemm_counts_flops_and_bytes_once);
  RUN(sub_byte_elements_round_up);
  RUN(f35_stream_bytes_do_not_wrap);
  RUN(overflow_is_an_error_and_writes_nothing);
  RUN(bad_arguments_are_named);
  return 0;
}
