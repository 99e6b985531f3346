/* libcublasLt.so.13: candidates of which the first is not the fastest, one says
 * that it is none, and one only when it is launched. */
#include <string.h>

#include "costs.h"
#include "exports.h"

enum { INVALID = 7, CALL_NS = 2000 };
/* Shares of the datasheet's bf16 rate in thousandths: 0 cannot be launched. */
static const unsigned rates[] = {700, 0, 800, 900, 750};
enum { PROPOSED = 5, NO_CANDIDATE = 3 };

struct thing {
  uint64_t a, b; /* a layout's type and rows; whether A is transposed */
};
static struct thing things[64];

/* Things are counted, so that what is not given back shows. */
static kmbi_lt_result make(void **out, uint64_t a, uint64_t b) {
  for (unsigned i = 0; i < 64; i++)
    if (!things[i].b) {
      things[i] = (struct thing){a, b};
      sim_hold(1);
      *out = &things[i];
      return 0;
    }
  return KMBI_LT_ALLOC_FAILED;
}

static kmbi_lt_result drop(void *thing) {
  struct thing *t = thing;
  if (t < things || t >= things + 64 || !t->b) return INVALID;
  t->b = 0;
  sim_hold(-1);
  return 0;
}

kmbi_lt_result sim_cublasLtCreate(kmbi_lt_handle *handle) {
  SIM_ENTER(cublasLtCreate, CALL_NS);
  if (sim_usable()) return 1;
  return make((void **)(void *)handle, 0, 1);
}

kmbi_lt_result sim_cublasLtDestroy(kmbi_lt_handle handle) {
  SIM_GUARD(cublasLtDestroy, CALL_NS);
  return drop(handle) ? INVALID : guard.result;
}

kmbi_lt_result sim_cublasLtMatmulDescCreate(kmbi_lt_matmul *matmul,
                                            kmbi_lt_enum compute,
                                            kmbi_lt_enum scale) {
  SIM_ENTER(cublasLtMatmulDescCreate, CALL_NS);
  (void)scale;
  return compute ? make(matmul, 0, 1) : INVALID;
}

kmbi_lt_result sim_cublasLtMatmulDescDestroy(kmbi_lt_matmul matmul) {
  SIM_GUARD(cublasLtMatmulDescDestroy, CALL_NS);
  return drop(matmul) ? INVALID : guard.result;
}

kmbi_lt_result sim_cublasLtMatmulDescSetAttribute(kmbi_lt_matmul matmul,
                                                  kmbi_lt_enum attribute,
                                                  const void *value,
                                                  size_t bytes) {
  SIM_ENTER(cublasLtMatmulDescSetAttribute, CALL_NS);
  int32_t how = 0;
  if (attribute != KMBI_LT_TRANSPOSE_A || bytes != sizeof how) return INVALID;
  memcpy(&how, value, sizeof how);
  ((struct thing *)matmul)->a = (uint64_t)how;
  return 0;
}

kmbi_lt_result sim_cublasLtMatrixLayoutCreate(kmbi_lt_layout *layout,
                                              kmbi_lt_enum type, uint64_t rows,
                                              uint64_t columns,
                                              int64_t leading) {
  SIM_ENTER(cublasLtMatrixLayoutCreate, CALL_NS);
  if (!rows || rows != columns || leading < (int64_t)rows) return INVALID;
  return make(layout, type, rows);
}

kmbi_lt_result sim_cublasLtMatrixLayoutDestroy(kmbi_lt_layout layout) {
  SIM_GUARD(cublasLtMatrixLayoutDestroy, CALL_NS);
  return drop(layout) ? INVALID : guard.result;
}

kmbi_lt_result sim_cublasLtMatmulPreferenceCreate(kmbi_lt_wish *wish) {
  SIM_ENTER(cublasLtMatmulPreferenceCreate, CALL_NS);
  return make(wish, 0, 1);
}

kmbi_lt_result sim_cublasLtMatmulPreferenceDestroy(kmbi_lt_wish wish) {
  SIM_GUARD(cublasLtMatmulPreferenceDestroy, CALL_NS);
  return drop(wish) ? INVALID : guard.result;
}

kmbi_lt_result sim_cublasLtMatmulPreferenceSetAttribute(kmbi_lt_wish wish,
                                                        kmbi_lt_enum attribute,
                                                        const void *value,
                                                        size_t bytes) {
  SIM_ENTER(cublasLtMatmulPreferenceSetAttribute, CALL_NS);
  (void)value;
  return !wish || attribute != KMBI_LT_MOST_WORKSPACE ||
                 bytes != sizeof(uint64_t)
             ? INVALID
             : 0;
}

kmbi_lt_result sim_cublasLtMatmulAlgoGetHeuristic(
    kmbi_lt_handle handle, kmbi_lt_matmul matmul, kmbi_lt_layout a,
    kmbi_lt_layout b, kmbi_lt_layout c, kmbi_lt_layout d, kmbi_lt_wish wish,
    int wanted, kmbi_lt_candidate *candidates, int *count) {
  SIM_ENTER(cublasLtMatmulAlgoGetHeuristic, CALL_NS);
  const struct thing *layout = a, *how = matmul;
  bool small = layout->a == KMBI_LT_E4M3 || layout->a == KMBI_LT_I8;
  *count = 0;
  if (!handle || a != b || c != d || !wish) return INVALID;
  if (small && !how->a) return KMBI_LT_NOT_SUPPORTED;
  if (sim_set()->no_candidates) return KMBI_LT_NOT_SUPPORTED;
  for (int i = 0; i < PROPOSED && i < wanted; i++) {
    candidates[i] = (kmbi_lt_candidate){.algorithm = {{(uint64_t)i}}};
    if (i == NO_CANDIDATE) candidates[i].state = KMBI_LT_NOT_SUPPORTED;
    (*count)++;
  }
  return 0;
}

kmbi_lt_result
sim_cublasLtMatmul(kmbi_lt_handle handle, kmbi_lt_matmul matmul,
                   const void *alpha, const void *a, kmbi_lt_layout a_layout,
                   const void *b, kmbi_lt_layout b_layout, const void *beta,
                   const void *c, kmbi_lt_layout c_layout, void *d,
                   kmbi_lt_layout d_layout, const kmbi_lt_algorithm *algorithm,
                   void *workspace, size_t bytes, kmbi_cu_stream stream) {
  SIM_ENTER(cublasLtMatmul, SIM_LAUNCH);
  const struct thing *layout = a_layout;
  (void)matmul;
  (void)b_layout;
  (void)c_layout;
  (void)d_layout;
  if (!handle || !alpha || !beta || !a || !b || c != d || !workspace || !bytes)
    return INVALID;
  unsigned rate = rates[algorithm->data[0]];
  if (!rate) return KMBI_LT_NOT_SUPPORTED;
  double n = (double)layout->b;
  double ns = 2 * n * n * n / (989.4e3 * rate / 1000);
  sim_op op = {.kind = KERNEL, .kernel = sim_kernel_named("sim_gemm")};
  op.a[0].u64 = (uint64_t)ns;
  op.a[1].u64 = (uintptr_t)d;
  return sim_submit(stream, &op, 307) ? 14 : 0;
}
