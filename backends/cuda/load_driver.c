/* The CUDA driver's table. */
#include "load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cu_driver driver;
static kmbi_cuda_failure failed;
static bool tried;

typedef struct source {
  void *library;
  kmbi_cu_get_proc_v2 get_v2;
  kmbi_cu_get_proc_v1 get_v1;
  int version;
} source;

/* Where CUDA's name of a function ends in its symbol: at "_v2". */
static int name_length(const char *symbol) {
  return (int)strcspn(symbol, "_");
}

/* The name alone would give the oldest interface of it. */
static void *look_up(const source *from, const char *symbol, int version) {
  void *function = NULL;
  char name[64];
  snprintf(name, sizeof name, "%.*s", name_length(symbol), symbol);
  kmbi_cu_enum status = 0;
  if (version > from->version) return NULL;
  if (from->get_v2) {
    if (from->get_v2(name, &function, version, KMBI_CU_PROC_DEFAULT, &status))
      function = NULL;
  } else if (from->get_v1) {
    if (from->get_v1(name, &function, version, KMBI_CU_PROC_DEFAULT))
      function = NULL;
  } else {
    function = dlsym(from->library, symbol);
  }
  return function;
}

static bool find_version(source *from) {
  kmbi_cu_result (*version)(int *) = NULL;
  *(void **)(&version) = dlsym(from->library, "cuDriverGetVersion");
  kmbi_cu_result result = version ? version(&from->version) : 1;
  if (!result) return true;
  kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, (int64_t)result,
                   "libcuda.so.1 does not tell its version (%u); is it a stub "
                   "of the SDK instead of the driver's?",
                   result);
  return false;
}

static void resolve(source *from) {
#define NAME(name, since, symbol, need, arguments) need symbol "\0"
#define SINCE(name, since, symbol, need, arguments) since,
  static const char names[] = KMBI_CU_MAP(NAME);
  static const int versions[] = {KMBI_CU_MAP(SINCE)};
#undef NAME
#undef SINCE
  const char *missing = NULL;
  if (!find_version(from)) return;
  *(void **)(&from->get_v2) = dlsym(from->library, "cuGetProcAddress_v2");
  *(void **)(&from->get_v1) = dlsym(from->library, "cuGetProcAddress");
  driver.version = from->version;
  char *at = (char *)&driver.cuInit;
  const int *version = versions;
  for (const char *n = names; *n; n += strlen(n) + 1) {
    void *function = look_up(from, n + 1, *version++);
    if (!function && *n == *REQUIRED && !missing) missing = n + 1;
    memcpy(at, (const void *)&function, sizeof function);
    at += sizeof function;
  }
  if (missing)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "the CUDA driver (%d.%d) is too old: it has no %.*s; "
                     "update it",
                     from->version / 1000, from->version % 1000 / 10,
                     name_length(missing), missing);
}

static void load(void) {
  static const char *const names[] = {"libcuda.so.1", NULL};
  source from = {.library = kmbi_cuda_attach(names, "libcuda.so")};
  if (!from.library) from.library = dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
  if (!from.library) {
    const char *why = dlerror();
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                     "no CUDA driver: %.150s; install NVIDIA's driver",
                     why ? why : names[0]);
    return;
  }
  resolve(&from);
}

const kmbi_cu_driver *kmbi_cuda_driver(kmbi_cuda_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!tried) load();
  tried = true;
  *failure = failed;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &driver;
}
