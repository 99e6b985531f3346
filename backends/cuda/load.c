/* Finding vendor libraries. What the process has loaded already comes first:
 * two copies of a driver's library do not share their state. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "load.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Says to packagers what may be opened at run time. */
#define DLOPEN_NOTE(json)                                             \
  __asm__(".pushsection .note.dlopen, \"a\", %note\n"                 \
          ".p2align 2\n.long 4\n.long 2f - 1f\n.long 0x407c0c0a\n"    \
          ".asciz \"FDO\"\n1:\n.asciz \"" json "\"\n2:\n.p2align 2\n" \
          ".popsection\n")
#define NOTE_ENTRY(feature, what, soname)                               \
  "[{\\\"feature\\\":\\\"" feature "\\\",\\\"description\\\":\\\"" what \
  "\\\",\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[" soname "]}]"

DLOPEN_NOTE(NOTE_ENTRY("cuda", "Measures on NVIDIA GPUs",
                       "\\\"libcuda.so.1\\\""));
DLOPEN_NOTE(NOTE_ENTRY("cupti", "Traces kernels on NVIDIA GPUs",
                       "\\\"libcupti.so.13\\\",\\\"libcupti.so.12\\\","
                       "\\\"libcupti.so.11.8\\\""));
DLOPEN_NOTE(NOTE_ENTRY("cublaslt", "Measures matrix units of NVIDIA GPUs",
                       "\\\"libcublasLt.so.13\\\","
                       "\\\"libcublasLt.so.12\\\","
                       "\\\"libcublasLt.so.11\\\""));
DLOPEN_NOTE(NOTE_ENTRY("nccl", "Aligns several NVIDIA GPUs",
                       "\\\"libnccl.so.2\\\""));
DLOPEN_NOTE(NOTE_ENTRY("nvml", "Clocks and power of NVIDIA GPUs",
                       "\\\"libnvidia-ml.so.1\\\""));

void kmbi_cuda_failed(kmbi_cuda_failure *failure, kmb_status status,
                      int64_t vendor, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
  failure->status = status;
  failure->vendor = vendor;
}

const char *kmbi_cuda_look_up(void *library, const char *names, void *table) {
  const char *missing = NULL;
  char *at = table;
  for (; *names; names += strlen(names) + 1) {
    void *function = dlsym(library, names + 1);
    if (!function && *names == *REQUIRED && !missing) missing = names + 1;
    memcpy(at, (const void *)&function, sizeof function);
    at += sizeof function;
  }
  return missing;
}

typedef struct search {
  const char *prefix;
  char path[PATH_MAX];
} search;

static int match(struct dl_phdr_info *info, size_t size, void *user) {
  search *s = user;
  (void)size;
  if (!info->dlpi_name || info->dlpi_name[0] != '/') return 0;
  const char *base = strrchr(info->dlpi_name, '/') + 1;
  if (strncmp(base, s->prefix, strlen(s->prefix)) != 0) return 0;
  int length = snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
  if (length < 0 || (size_t)length >= sizeof s->path) s->path[0] = '\0';
  return s->path[0] != '\0';
}

bool kmbi_cuda_loaded_in(const char *prefix, char *folder, size_t size) {
  search s = {.prefix = prefix};
  if (!dl_iterate_phdr(match, &s)) return false;
  *strrchr(s.path, '/') = '\0';
  int length = snprintf(folder, size, "%s", s.path);
  return length >= 0 && (size_t)length < size;
}

void *kmbi_cuda_attach(const char *const *names, const char *prefix) {
  for (const char *const *name = names; *name; name++) {
    void *handle = dlopen(*name, RTLD_NOLOAD | RTLD_NOW);
    if (handle) return handle;
  }
  search s = {.prefix = prefix};
  if (!dl_iterate_phdr(match, &s)) return NULL;
  return dlopen(s.path, RTLD_NOLOAD | RTLD_NOW);
}

/* NVML: few symbols, all by their versioned names. */

static pthread_mutex_t nvml_lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_nvml_api nvml;
static kmbi_cuda_failure nvml_failure;
static bool nvml_tried;

static void load_nvml(void) {
  static const char *const names[] = {"libnvidia-ml.so.1", NULL};
  void *library = kmbi_cuda_attach(names, "libnvidia-ml.so");
  if (!library) library = dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    kmbi_cuda_failed(&nvml_failure, KMB_ERR_UNAVAILABLE, 0,
                     "NVML, which comes with the driver, is absent: %.160s",
                     why ? why : names[0]);
    return;
  }
#define NAME(field, symbol, need, arguments) need symbol "\0"
  const char *missing =
      kmbi_cuda_look_up(library, KMBI_NVML_MAP(NAME), &nvml.init);
#undef NAME
  if (missing) {
    kmbi_cuda_failed(&nvml_failure, KMB_ERR_UNSUPPORTED, 0,
                     "libnvidia-ml.so.1 lacks %s; update the driver", missing);
    return;
  }
  kmbi_nvml_result result = nvml.init();
  if (result)
    kmbi_cuda_failed(&nvml_failure, KMB_ERR_UNAVAILABLE, (int64_t)result,
                     "nvmlInit_v2 failed with %u; nvidia-smi says why", result);
}

const kmbi_nvml_api *kmbi_cuda_nvml(kmbi_cuda_failure *failure) {
  pthread_mutex_lock(&nvml_lock);
  if (!nvml_tried) load_nvml();
  nvml_tried = true;
  *failure = nvml_failure;
  pthread_mutex_unlock(&nvml_lock);
  return failure->status ? NULL : &nvml;
}
