/* Finding ROCm's libraries. What the process has loaded already comes first,
 * for a framework brings its own, and two copies do not share their state; then
 * what lies beside HIP's, so that no two versions are mixed. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "load.h"

#include <dlfcn.h>
#include <glob.h>
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

DLOPEN_NOTE(NOTE_ENTRY("hip", "Measures on AMD GPUs",
                       "\\\"libamdhip64.so.7\\\",\\\"libamdhip64.so.6\\\","
                       "\\\"libamdhip64.so.5\\\""));
DLOPEN_NOTE(NOTE_ENTRY("hiprtc", "Compiles libkmb's kernels for AMD GPUs",
                       "\\\"libhiprtc.so.7\\\",\\\"libhiprtc.so.6\\\","
                       "\\\"libhiprtc.so.5\\\""));
DLOPEN_NOTE(NOTE_ENTRY("rccl", "Aligns several AMD GPUs",
                       "\\\"librccl.so.1\\\""));
DLOPEN_NOTE(NOTE_ENTRY("rocprofiler", "Traces kernels on AMD GPUs",
                       "\\\"librocprofiler-sdk.so.1\\\","
                       "\\\"librocprofiler-sdk.so.0\\\""));
DLOPEN_NOTE(NOTE_ENTRY("hsa", "Cache sizes of AMD GPUs",
                       "\\\"libhsa-runtime64.so.1\\\""));
DLOPEN_NOTE(NOTE_ENTRY("amd-smi", "Clocks and temperature of AMD GPUs",
                       "\\\"libamd_smi.so.26\\\",\\\"libamd_smi.so.25\\\","
                       "\\\"libamd_smi.so.24\\\""));

void kmbi_hip_failed(kmbi_hip_failure *failure, kmb_status status,
                     int64_t vendor, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
  failure->status = status;
  failure->vendor = vendor;
}

typedef struct search {
  const char *stem;
  char path[PATH_MAX];
} search;

static int match(struct dl_phdr_info *info, size_t size, void *user) {
  search *s = user;
  (void)size;
  if (!info->dlpi_name || info->dlpi_name[0] != '/') return 0;
  const char *base = strrchr(info->dlpi_name, '/') + 1;
  if (strncmp(base, s->stem, strlen(s->stem)) != 0) return 0;
  int length = snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
  if (length < 0 || (size_t)length >= sizeof s->path) s->path[0] = '\0';
  return s->path[0] != '\0';
}

bool kmbi_hip_is_loaded(const char *stem) {
  search s = {.stem = stem};
  return dl_iterate_phdr(match, &s) != 0;
}

static void *attach(const char *const *names, const char *stem) {
  search s = {.stem = stem};
  for (; *names; names++) {
    void *handle = dlopen(*names, RTLD_NOLOAD | RTLD_NOW);
    if (handle) return handle;
  }
  if (!dl_iterate_phdr(match, &s)) return NULL;
  return dlopen(s.path, RTLD_NOLOAD | RTLD_NOW);
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

static void *beside_hip(const char *const *names, const char *stem) {
  const char *path = kmbi_hip_path();
  const char *slash = strrchr(path, '/');
  char folder[PATH_MAX];
  if (!slash) return NULL;
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  /* A framework's own copies carry no version in their names. */
  const char *const plain[] = {stem, NULL};
  void *handle = open_in(folder, names);
  return handle ? handle : open_in(folder, plain);
}

static void *below_opt(const char *const *names) {
  static const char *const patterns[] = {"/opt/rocm/lib", "/opt/rocm-*/lib",
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

void *kmbi_hip_open(const char *const *names, const char *stem) {
  void *handle = attach(names, stem);
  if (!handle) handle = beside_hip(names, stem);
  for (int i = 0; !handle && names[i]; i++)
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return handle ? handle : below_opt(names);
}

const char *kmbi_hip_look_up(void *library, const char *names, void *table) {
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

/* HSA. HIP has it loaded. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_hsa_api hsa;
static kmbi_hip_failure hsa_failure;
static bool hsa_tried;

static void load_hsa(void) {
  static const char *const names[] = {"libhsa-runtime64.so.1", NULL};
  void *library = kmbi_hip_open(names, "libhsa-runtime64.so");
  if (!library) {
    kmbi_hip_failed(&hsa_failure, KMB_ERR_UNAVAILABLE, 0, "HSA is absent");
    return;
  }
#define NAME(name, arguments) REQUIRED #name "\0"
  const char *missing =
      kmbi_hip_look_up(library, KMBI_HSA_MAP(NAME), &hsa.hsa_init);
#undef NAME
  if (missing)
    kmbi_hip_failed(&hsa_failure, KMB_ERR_UNSUPPORTED, 0,
                    "libhsa-runtime64.so.1 lacks %s", missing);
}

const kmbi_hsa_api *kmbi_hip_hsa(kmbi_hip_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!hsa_tried) load_hsa();
  hsa_tried = true;
  *failure = hsa_failure;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &hsa;
}

/* amd-smi. It is initialised once and stays so. */

static kmbi_smi_api smi;
static kmbi_hip_failure smi_failure;
static bool smi_tried;

static void load_smi(void) {
  static const char *const names[] = {"libamd_smi.so.26", "libamd_smi.so.25",
                                      "libamd_smi.so.24", "libamd_smi.so",
                                      NULL};
  void *library = kmbi_hip_open(names, "libamd_smi.so");
  if (!library) {
    kmbi_hip_failed(&smi_failure, KMB_ERR_UNAVAILABLE, 0,
                    "amd-smi is absent (libamd_smi.so)");
    return;
  }
#define NAME(field, symbol, arguments) OPTIONAL symbol "\0"
  (void)kmbi_hip_look_up(library, KMBI_SMI_MAP(NAME), &smi.init);
#undef NAME
  if (!smi.init || !smi.by_bdf) {
    kmbi_hip_failed(&smi_failure, KMB_ERR_UNSUPPORTED, 0,
                    "libamd_smi.so cannot find a device by its PCI address");
    return;
  }
  kmbi_smi_status status = smi.init(KMBI_SMI_INIT_GPUS);
  if (status)
    kmbi_hip_failed(&smi_failure, KMB_ERR_UNAVAILABLE, (int64_t)status,
                    "amdsmi_init failed with %u", status);
}

const kmbi_smi_api *kmbi_hip_smi(kmbi_hip_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!smi_tried) load_smi();
  smi_tried = true;
  *failure = smi_failure;
  pthread_mutex_unlock(&lock);
  return failure->status ? NULL : &smi;
}
