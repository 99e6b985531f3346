#include "blas.h"

#include <kmb/cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Values of cuBLAS's interface. */
enum {
  OP_NONE = 0,
  OP_TRANSPOSED = 1,
  TYPE_BF16 = 14,
  COMPUTE_F32 = 68,
  ALGORITHM_DEFAULT = -1
};
/* What NVIDIA advises for this architecture. A workspace of our own, since the
 * library would otherwise allocate while a launch is captured. */
#define WORKSPACE ((size_t)32 << 20)

struct blas {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*version)(void *handle, int *version);
  int (*set_stream)(void *handle, void *stream);
  int (*set_workspace)(void *handle, void *memory, size_t bytes);
  int (*gemm)(void *handle, int op_a, int op_b, int m, int n, int k,
              const void *alpha, const void *a, int type_a, int lda,
              const void *b, int type_b, int ldb, const void *beta, void *c,
              int type_c, int ldc, int compute, int algorithm);
  unsigned (*current)(void **context);
  unsigned (*make_current)(void *context);
  unsigned (*allocate)(uintptr_t *memory, size_t bytes);
  unsigned (*free)(uintptr_t memory);
  void *handle, *context;
  uintptr_t workspace;
  int number;
};

/* What the process has loaded already comes first. */
static void *open_library(const char *const *names) {
  for (int how = 0; how < 2; how++)
    for (const char *const *name = names; *name; name++) {
      void *library = dlopen(*name, RTLD_NOW | (how ? 0 : RTLD_NOLOAD));
      if (library) return library;
    }
  return NULL;
}

static int resolve(void *library, const char *name, void *into) {
  *(void **)into = dlsym(library, name);
  return *(void **)into != NULL;
}

blas *blas_open(const char **why) {
  static const char *const drivers[] = {"libcuda.so.1", NULL};
  static const char *const names[] = {"libcublas.so.13",
                                      "libcublas.so.12",
                                      "libcublas.so.11",
                                      "/usr/local/cuda/lib64/libcublas.so.13",
                                      "/usr/local/cuda/lib64/libcublas.so.12",
                                      NULL};
  void *driver = open_library(drivers);
  void *library = open_library(names);
  *why = driver ? "cuBLAS (libcublas.so.13, .12 or .11) is not in the linker's "
                  "path"
                : "libcuda.so.1 is absent";
  if (!driver || !library) return NULL;
  blas *b = calloc(1, sizeof *b);
  *why = "out of memory";
  if (!b) return NULL;
  *why = "cuBLAS or the driver lacks a function";
  if (resolve(library, "cublasCreate_v2", &b->create) &&
      resolve(library, "cublasDestroy_v2", &b->destroy) &&
      resolve(library, "cublasGetVersion_v2", &b->version) &&
      resolve(library, "cublasSetStream_v2", &b->set_stream) &&
      resolve(library, "cublasSetWorkspace_v2", &b->set_workspace) &&
      resolve(library, "cublasGemmEx", &b->gemm) &&
      resolve(driver, "cuCtxGetCurrent", &b->current) &&
      resolve(driver, "cuCtxSetCurrent", &b->make_current) &&
      resolve(driver, "cuMemAlloc_v2", &b->allocate) &&
      resolve(driver, "cuMemFree_v2", &b->free))
    return b;
  free(b);
  return NULL;
}

void blas_close(blas *b) {
  if (!b) return;
  if (b->context) {
    (void)b->make_current(b->context);
    if (b->handle) (void)b->destroy(b->handle);
    if (b->workspace) (void)b->free(b->workspace);
    (void)b->make_current(NULL);
  }
  free(b);
}

static kmb_status said(const char *what, int result) {
  if (result) fprintf(stderr, "%s failed with %d\n", what, result);
  return result ? KMB_ERR_VENDOR : KMB_OK;
}

kmb_status blas_prepare(blas *b) {
  kmb_status status = KMB_OK;
  if (b->handle) return KMB_OK;
  status = kmb_cuda_status((int)b->current(&b->context));
  if (!status && !b->workspace)
    status = kmb_cuda_status((int)b->allocate(&b->workspace, WORKSPACE));
  if (!status) status = said("cublasCreate", b->create(&b->handle));
  if (!status)
    status = said("cublasGetVersion", b->version(b->handle, &b->number));
  return status;
}

kmb_status blas_project(blas *b, void *stream, const void *weights,
                        const void *in, void *out, int rows, int inner,
                        int tokens) {
  const float one = 1;
  const float none = 0;
  int result = b->set_stream(b->handle, stream);
  /* A change of the stream has taken the workspace away. */
  if (!result)
    result =
        b->set_workspace(b->handle, (void *)b->workspace, WORKSPACE); // NOLINT
  /* Column by column, as cuBLAS counts, the same matrices are transposed. */
  if (!result)
    result =
        b->gemm(b->handle, OP_TRANSPOSED, OP_NONE, rows, tokens, inner, &one,
                weights, TYPE_BF16, inner, in, TYPE_BF16, inner, &none, out,
                TYPE_BF16, rows, COMPUTE_F32, ALGORITHM_DEFAULT);
  return said("cublasGemmEx", result);
}

int blas_version(const blas *b) {
  return b->number;
}
