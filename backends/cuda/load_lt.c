/* cuBLASLt's table. The library is part of the toolkit, not of the driver. */
#include "load.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_lt_api lt;
static kmbi_cuda_failure failed;
static bool tried;

static void *open_library(void) {
  static const char *const names[] = {"libcublasLt.so.13",
                                      "libcublasLt.so.12",
                                      "libcublasLt.so.11",
                                      "/usr/local/cuda/lib64/libcublasLt.so.13",
                                      "/usr/local/cuda/lib64/libcublasLt.so.12",
                                      "/usr/local/cuda/lib64/libcublasLt.so.11",
                                      NULL};
  void *library = kmbi_cuda_attach(names, "libcublasLt.so");
  for (const char *const *name = names; !library && *name; name++)
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  return library;
}

static void load(void) {
  void *library = open_library();
  if (!library) {
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                     "cuBLASLt is absent: no libcublasLt.so.13, .12 or .11 is "
                     "in the linker's path or in /usr/local/cuda/lib64; "
                     "without it the matrix units are not measured");
    return;
  }
#define NAME(name, arguments) REQUIRED #name "\0"
  const char *missing =
      kmbi_cuda_look_up(library, KMBI_LT_MAP(NAME), &lt.cublasLtCreate);
#undef NAME
  if (missing)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "libcublasLt lacks %s; use CUDA 11.8 or newer", missing);
}

const kmbi_lt_api *kmbi_cuda_lt(kmbi_cuda_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!tried) load();
  tried = true;
  *failure = failed;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &lt;
}
