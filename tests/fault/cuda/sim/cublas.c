/* libcublas.so.13: one product, transposed as a program needs it that counts by
 * rows. */
#include <stdlib.h>

#include "costs.h"
#include "inside.h"

enum { NOT_INITIALIZED = 1, INVALID = 7, FAILED = 13, TYPE_BF16 = 14 };

typedef struct handle {
  kmbi_cu_stream stream;
  void *workspace;
} handle;

int cublasCreate_v2(handle **h);
int cublasDestroy_v2(handle *h);
int cublasGetVersion_v2(const handle *h, int *version);
int cublasSetStream_v2(handle *h, kmbi_cu_stream stream);
int cublasSetWorkspace_v2(handle *h, void *workspace, size_t bytes);
int cublasGemmEx(handle *h, int op_a, int op_b, int m, int n, int k,
                 const float *alpha, const void *a, int type_a, int lda,
                 const void *b, int type_b, int ldb, const float *beta, void *c,
                 int type_c, int ldc, int compute, int algorithm);

/* Handles are counted, so that what is not given back shows. */
int cublasCreate_v2(handle **h) {
  sim_relock();
  unsigned unusable = sim_usable();
  if (!unusable) sim_hold(1);
  sim_unlock();
  if (unusable) return NOT_INITIALIZED;
  *h = calloc(1, sizeof **h);
  if (!*h) abort();
  return 0;
}

int cublasDestroy_v2(handle *h) {
  sim_relock();
  sim_hold(-1);
  sim_unlock();
  free(h);
  return 0;
}

int cublasGetVersion_v2(const handle *h, int *version) {
  *version = 130002;
  return h ? 0 : NOT_INITIALIZED;
}

/* Which takes the workspace away. */
int cublasSetStream_v2(handle *h, kmbi_cu_stream stream) {
  *h = (handle){stream, NULL};
  return 0;
}

int cublasSetWorkspace_v2(handle *h, void *workspace, size_t bytes) {
  h->workspace = bytes ? workspace : NULL;
  return 0;
}

int cublasGemmEx(handle *h, int op_a, int op_b, int m, int n, int k,
                 const float *alpha, const void *a, int type_a, int lda,
                 const void *b, int type_b, int ldb, const float *beta, void *c,
                 int type_c, int ldc, int compute, int algorithm) {
  (void)compute;
  (void)algorithm;
  if (op_a != 1 || op_b != 0 || *alpha != 1 || *beta != 0 || lda != k ||
      ldb != k || ldc != m || type_a != TYPE_BF16 || type_b != TYPE_BF16 ||
      type_c != TYPE_BF16 || !h->workspace)
    return INVALID;
  sim_relock();
  sim_pass(SIM_LAUNCH);
  unsigned *left = &sim_set()->product_fails;
  bool fails = *left && !--*left;
  sim_op op = {.kind = KERNEL, .kernel = sim_kernel_named("sim_product")};
  op.a[0].u64 = (uintptr_t)a;
  op.a[1].u64 = (uintptr_t)b;
  op.a[2].u64 = (uintptr_t)c;
  op.a[3].u64 = (uint64_t)m;
  op.a[4].u64 = (uint64_t)k;
  op.a[5].u64 = (uint64_t)n;
  unsigned result = fails || sim_submit(h->stream, &op, 307) ? FAILED : 0;
  sim_unlock();
  return (int)result;
}
