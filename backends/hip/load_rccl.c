/* RCCL's table. A communicator of the caller's is of a library that is there
 * already; one of our own may be of one that we open. */
#include "load.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_rccl_api rccl;
static kmbi_hip_failure failed;
static bool tried, brought;

static const char stem[] = "librccl.so";

static void look_up(void *library) {
#define NAME(name, arguments) REQUIRED #name "\0"
  const char *missing =
      kmbi_hip_look_up(library, KMBI_RCCL_MAP(NAME), &rccl.ncclGetVersion);
#undef NAME
  if (missing) {
    kmbi_hip_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                    "librccl lacks %s; use RCCL 2.18 (ROCm 6.0) or newer",
                    missing);
    return;
  }
  if (rccl.ncclGetVersion(&rccl.version)) rccl.version = 0;
  if (rccl.version < KMBI_RCCL_OLDEST)
    kmbi_hip_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                    "RCCL %d is too old; use 2.18 (ROCm 6.0) or newer",
                    rccl.version);
}

/* Only what the process may still load is not known for good. */
static void load(bool ours, kmbi_hip_failure *absent) {
  static const char *const names[] = {"librccl.so.1", NULL};
  bool there = kmbi_hip_is_loaded(stem);
  if (!there && !ours) {
    kmbi_hip_failed(absent, KMB_ERR_UNAVAILABLE, 0,
                    "the caller's RCCL communicator is of no librccl.so that "
                    "this process has loaded; use "
                    "kmb_comm_ops::device_barrier");
    return;
  }
  void *library = kmbi_hip_open(names, stem);
  tried = true;
  brought = library && !there;
  if (library)
    look_up(library);
  else
    kmbi_hip_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                    "RCCL is absent: librccl.so.1 is neither loaded, nor "
                    "beside HIP, nor in the linker's path");
}

const kmbi_rccl_api *kmbi_hip_rccl(bool ours, kmbi_hip_failure *failure) {
  kmbi_hip_failure absent = {.status = KMB_OK};
  pthread_mutex_lock(&lock);
  if (!tried) load(ours, &absent);
  *failure = failed.status ? failed : absent;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &rccl;
}

bool kmbi_hip_brought_rccl(void) {
  pthread_mutex_lock(&lock);
  bool result = brought;
  pthread_mutex_unlock(&lock);
  return result;
}
