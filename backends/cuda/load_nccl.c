/* NCCL's table. It reads NCCL_NVLS_ENABLE once a process: NVLink multicast is
 * only surely off in it where we set that before anybody used it, or the caller
 * did. */
#include "load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_nccl_api nccl;
static kmbi_cuda_failure failed, unsure;
static bool tried;

static const char *const names[] = {"libnccl.so.2", NULL};

static bool is_off(void) {
  const char *value = getenv("NCCL_NVLS_ENABLE");
  return value && strcmp(value, "0") == 0;
}

/* Ours is opened with multicast off; one that is there already had its chance
 * to read the variable. */
static void *open_library(void) {
  void *library = kmbi_cuda_attach(names, "libnccl.so");
  if (library) {
    if (!is_off())
      kmbi_cuda_failed(&unsure, KMB_ERR_UNAVAILABLE, 0,
                       "NCCL is in use in this process, and NCCL_NVLS_ENABLE "
                       "is not 0: NVLink multicast may be on in it, which it "
                       "decides once a process");
    return library;
  }
  if (!is_off()) setenv("NCCL_NVLS_ENABLE", "0", 1);
  return dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
  void *library = open_library();
  if (!library) {
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                     "NCCL is absent: no libnccl.so.2 is in the linker's path");
    return;
  }
#define LOOK_UP(name, arguments)                      \
  *(void **)(&nccl.name) = dlsym(library, #name);     \
  if (!nccl.name && !failed.status)                   \
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0, \
                     "libnccl lacks %s; use NCCL 2.18 or newer", #name);
  KMBI_NCCL_MAP(LOOK_UP)
#undef LOOK_UP
  if (failed.status) return;
  if (nccl.ncclGetVersion(&nccl.version)) nccl.version = 0;
  if (nccl.version < KMBI_NCCL_OLDEST)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "NCCL %d is too old; use 2.18 or newer", nccl.version);
}

const kmbi_nccl_api *kmbi_cuda_nccl(bool ours, kmbi_cuda_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!tried) load();
  tried = true;
  *failure = failed.status || !ours ? failed : unsure;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &nccl;
}
