/* CUPTI's table. The library is part of the toolkit, not of the driver, so it
 * is looked for wherever programs that trace keep it. */
#define _GNU_SOURCE /* dlinfo */
#include "load.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cupti_api cupti;
static kmbi_cuda_failure failed;
static char path[PATH_MAX];
static bool tried;
static void *opened;
static kmbi_profiler_api profiler;
static kmbi_cuda_failure profiler_failed;
static bool profiler_tried;

enum { NEWEST_MAJOR = 13 };

/* Newest names first, but none that is newer than the driver before those that
 * it knows. */
static const char *const names_13[] = {"libcupti.so.13", "libcupti.so.12",
                                       "libcupti.so.11.8", NULL};
static const char *const names_12[] = {"libcupti.so.12", "libcupti.so.11.8",
                                       "libcupti.so.13", NULL};

static const char *const *names_for(int driver) {
  return driver >= 1000 * NEWEST_MAJOR ? names_13 : names_12;
}

static void *open_in(const char *folder, const char *const *names) {
  char full[PATH_MAX];
  for (; *names; names++) {
    int length = snprintf(full, sizeof full, "%s/%s", folder, *names);
    if (length < 0 || (size_t)length >= sizeof full) continue;
    void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (handle) return handle;
  }
  return NULL;
}

/* The packages nvidia-cuda-cupti lie beside a loaded torch. */
static void *beside_torch(const char *const *names) {
  static const char *const below[] = {"../../nvidia/cu13/lib",
                                      "../../nvidia/cuda_cupti/lib", NULL};
  char folder[PATH_MAX], full[PATH_MAX];
  if (!kmbi_cuda_loaded_in("libtorch_cuda.so", folder, sizeof folder) &&
      !kmbi_cuda_loaded_in("libc10_cuda.so", folder, sizeof folder))
    return NULL;
  for (int i = 0; below[i]; i++) {
    int length = snprintf(full, sizeof full, "%s/%s", folder, below[i]);
    if (length < 0 || (size_t)length >= sizeof full) continue;
    void *handle = open_in(full, names);
    if (handle) return handle;
  }
  return NULL;
}

static void *in_toolkits(const char *const *names) {
  static const char *const patterns[] = {"/usr/local/cuda/extras/CUPTI/lib64",
                                         "/usr/local/cuda/lib64",
                                         "/usr/local/cuda-*/extras/CUPTI/lib64",
                                         "/usr/local/cuda-*/lib64",
                                         "/usr/local/cuda-*/targets/*/lib",
                                         "/opt/cuda/extras/CUPTI/lib64",
                                         NULL};
  void *handle = NULL;
  for (int i = 0; patterns[i] && !handle; i++) {
    glob_t found;
    if (glob(patterns[i], 0, NULL, &found) != 0) continue;
    for (size_t k = found.gl_pathc; k-- > 0 && !handle;)
      handle = open_in(found.gl_pathv[k], names);
    globfree(&found);
  }
  return handle;
}

static void *open_library(int driver) {
  const char *const *names = names_for(driver);
  void *handle = kmbi_cuda_attach(names, "libcupti.so");
  for (int i = 0; !handle && names[i]; i++)
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!handle) handle = beside_torch(names);
  if (!handle) handle = in_toolkits(names);
  return handle;
}

static void resolve(void *library) {
  struct link_map *map = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name)
    snprintf(path, sizeof path, "%s", map->l_name);
#define NAME(name, since, need, arguments) need #name "\0"
  const char *missing =
      kmbi_cuda_look_up(library, KMBI_CUPTI_MAP(NAME), &cupti.cuptiGetVersion);
#undef NAME
  kmbi_cupti_result result =
      missing ? 0 : cupti.cuptiGetVersion(&cupti.version);
  if (missing)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0, "%.150s lacks %s", path,
                     missing);
  else if (result)
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, (int64_t)result,
                     "cuptiGetVersion failed with %u", result);
  else if (cupti.version < KMBI_CUPTI_OLDEST)
    kmbi_cuda_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                     "CUPTI's interface %u is too old, CUDA 11.8's (%d) is "
                     "needed: %.120s",
                     cupti.version, KMBI_CUPTI_OLDEST, path);
}

static void load(void) {
  kmbi_cuda_failure none;
  const kmbi_cu_driver *driver = kmbi_cuda_driver(&none);
  void *library = open_library(driver ? driver->version : 0);
  opened = library;
  if (library)
    resolve(library);
  else
    kmbi_cuda_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                     "CUPTI (libcupti.so.13 or .12) is neither loaded, nor in "
                     "the linker's path, nor in /usr/local/cuda*; it comes "
                     "with the CUDA toolkit");
}

const kmbi_cupti_api *kmbi_cuda_cupti(kmbi_cuda_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!tried) load();
  tried = true;
  *failure = failed;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &cupti;
}

/* The range profiler is a part that older versions lack. CUPTI opens the
 * library that it needs by a bare name: it finds the one beside it if that is
 * loaded. */

static void open_sibling(void) {
  static const char sibling[] = "libnvperf_host.so";
  char full[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (!slash) return;
  int length = snprintf(full, sizeof full, "%.*s/%s", (int)(slash - path), path,
                        sibling);
  if (length > 0 && (size_t)length < sizeof full)
    (void)dlopen(full, RTLD_NOW | RTLD_LOCAL);
}

static void load_profiler(void) {
#define NAME(name, type) REQUIRED #name "\0"
  const char *missing = kmbi_cuda_look_up(opened, KMBI_PROFILER_MAP(NAME),
                                          &profiler.cuptiProfilerInitialize);
#undef NAME
  if (missing)
    kmbi_cuda_failed(&profiler_failed, KMB_ERR_UNSUPPORTED, 0,
                     "no counters: %.120s lacks %s, which came with an update "
                     "of CUDA 12.6",
                     path, missing);
  else
    open_sibling();
}

const kmbi_profiler_api *kmbi_cuda_profiler(kmbi_cuda_failure *failure) {
  if (!kmbi_cuda_cupti(failure)) return NULL;
  pthread_mutex_lock(&lock);
  if (!profiler_tried) load_profiler();
  profiler_tried = true;
  *failure = profiler_failed;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &profiler;
}

const char *kmbi_cuda_cupti_path(void) {
  return path;
}
