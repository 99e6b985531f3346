/* The tables of HIP and hiprtc. */
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#include "load.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_hip_api hip;
static kmbi_hip_failure failed;
static void *library;
static char path[PATH_MAX];
static bool tried;

/* The unversioned function fills in the old layout even in ROCm 6, whose
 * headers give that name the new one. */
static void find_properties(void) {
  static const struct {
    const char *symbol;
    kmbi_hip_layout layout;
  } known[] = {{"hipGetDevicePropertiesR0600", KMBI_HIP_R0600},
               {"hipGetDevicePropertiesR0000", KMBI_HIP_R0000},
               {"hipGetDeviceProperties", KMBI_HIP_R0000}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    *(void **)(&hip.properties) = dlsym(library, known[i].symbol);
    hip.layout = known[i].layout;
    if (hip.properties) return;
  }
  hip.layout = KMBI_HIP_NO_LAYOUT;
}

static void resolve(void) {
  Dl_info info;
#define NAME(type, name, need, arguments) need #name "\0"
  const char *missing =
      kmbi_hip_look_up(library, KMBI_HIP_MAP(NAME), &hip.hipInit);
#undef NAME
  void *address = NULL;
  memcpy((void *)&address, (const void *)&hip.hipInit, sizeof address);
  if (address && dladdr(address, &info) && info.dli_fname)
    snprintf(path, sizeof path, "%s", info.dli_fname);
  find_properties();
  if (missing)
    kmbi_hip_failed(&failed, KMB_ERR_UNSUPPORTED, 0,
                    "%.150s lacks %s; ROCm %d to %d are known", path, missing,
                    KMBI_HIP_OLDEST, KMBI_HIP_NEWEST);
}

static void load(void) {
  static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                      "libamdhip64.so.5", NULL};
  library = kmbi_hip_open(names, "libamdhip64.so");
  if (library)
    resolve();
  else
    kmbi_hip_failed(&failed, KMB_ERR_UNAVAILABLE, 0,
                    "no HIP: libamdhip64.so.7, .6 or .5 is neither loaded, nor "
                    "in the linker's path, nor in /opt/rocm/lib; install ROCm");
}

const kmbi_hip_api *kmbi_hip_runtime(kmbi_hip_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!tried) load();
  tried = true;
  *failure = failed;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &hip;
}

const char *kmbi_hip_path(void) {
  return path;
}

/* hiprtc: a library of its own, or in older versions a part of HIP's. */

static pthread_mutex_t rtc_lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_hiprtc_api rtc;
static kmbi_hip_failure rtc_failure;
static bool rtc_tried;

static const char *resolve_rtc(void *from) {
#define NAME(type, name, arguments) REQUIRED #name "\0"
  return kmbi_hip_look_up(from, KMBI_HIPRTC_MAP(NAME),
                          &rtc.hiprtcGetErrorString);
#undef NAME
}

static void load_rtc(void) {
  static const char *const names[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                      "libhiprtc.so.5", NULL};
  void *from = kmbi_hip_open(names, "libhiprtc.so");
  const char *missing = from ? resolve_rtc(from) : "libhiprtc.so";
  if (missing && library && !resolve_rtc(library)) missing = NULL;
  if (missing)
    kmbi_hip_failed(&rtc_failure, KMB_ERR_UNAVAILABLE, 0,
                    "hiprtc is absent (%s), which compiles libkmb's own "
                    "kernels; it comes with ROCm",
                    missing);
}

const kmbi_hiprtc_api *kmbi_hip_compiler(kmbi_hip_failure *failure) {
  pthread_mutex_lock(&rtc_lock);
  if (!rtc_tried) load_rtc();
  rtc_tried = true;
  *failure = rtc_failure;
  pthread_mutex_unlock(&rtc_lock);
  return failure->status ? NULL : &rtc;
}
