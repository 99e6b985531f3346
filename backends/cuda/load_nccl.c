/* NCCL's table. It reads NCCL_NVLS_ENABLE once a process: NVLink multicast is
 * only surely off in it where we set that before anybody used it, or the caller
 * did. */
#include "load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
 * to read the variable. A communicator of the caller's is of one that is
 * there. */
static void *open_library(bool ours) {
  void *library = kmbi_cuda_attach(names, "libnccl.so");
  if (library) {
    if (!is_off())
      kmbi_cuda_failed(&unsure, KMB_ERR_UNAVAILABLE, 0,
                       "NCCL is in use in this process, and NCCL_NVLS_ENABLE "
                       "is not 0: NVLink multicast may be on in it, which it "
                       "decides once a process");
    return library;
  }
  if (!ours) return NULL;
  nccl.set = !is_off();
  if (nccl.set) setenv("NCCL_NVLS_ENABLE", "0", 1);
  return dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
}

static void look_up(void *library) {
#define NAME(name, arguments) REQUIRED #name "\0"
  const char *missing =
      kmbi_cuda_look_up(library, KMBI_NCCL_MAP(NAME), &nccl.ncclGetVersion);
#undef NAME
  if (missing) {
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "libnccl lacks %s; use NCCL 2.18 or newer", missing);
    return;
  }
  if (nccl.ncclGetVersion(&nccl.version)) nccl.version = 0;
  if (nccl.version < KMBI_NCCL_OLDEST)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "NCCL %d is too old; use 2.18 or newer", nccl.version);
}

/* Only what the process may still load is not known for good. */
static void load(bool ours, kmbi_cuda_failure *absent) {
  void *library = open_library(ours);
  tried = library || ours;
  if (library)
    look_up(library);
  else if (ours)
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                     "NCCL is absent: no libnccl.so.2 is in the linker's path");
  else
    kmbi_cuda_failed(absent, KMB_ERR_UNAVAILABLE, 0,
                     "the caller's NCCL communicator is of no libnccl.so that "
                     "this process has loaded; use "
                     "kmb_comm_ops::device_barrier");
}

const kmbi_nccl_api *kmbi_cuda_nccl(bool ours, kmbi_cuda_failure *failure) {
  kmbi_cuda_failure absent = {.status = KMB_OK};
  pthread_mutex_lock(&lock);
  if (!tried) load(ours, &absent);
  *failure = failed.status || !ours ? failed : unsure;
  if (!failure->status) *failure = absent;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &nccl;
}
