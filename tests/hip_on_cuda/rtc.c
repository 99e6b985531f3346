/* libhiprtc for tests, on an NVIDIA GPU: forwarded to NVRTC. */
#include "../../backends/hip/hip_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define EXPORT(type, name, arguments) \
  type forward_##name arguments __asm__(#name);
KMBI_HIPRTC_MAP(EXPORT)
#undef EXPORT

/* X(name, arguments) */
#define NVRTC_MAP(X)                                                    \
  X(nvrtcCreateProgram,                                                 \
    (void **program, const char *source, const char *name, int headers, \
     const char *const *texts, const char *const *names))               \
  X(nvrtcCompileProgram,                                                \
    (void *program, int count, const char *const *options))             \
  X(nvrtcGetProgramLogSize, (void *program, size_t *size))              \
  X(nvrtcGetProgramLog, (void *program, char *log))                     \
  X(nvrtcGetCUBINSize, (void *program, size_t *size))                   \
  X(nvrtcGetCUBIN, (void *program, char *code))                         \
  X(nvrtcDestroyProgram, (void **program))

static struct {
#define FIELD(name, arguments) unsigned(*name) arguments;
  NVRTC_MAP(FIELD)
#undef FIELD
} nvrtc;

enum { INTERNAL_ERROR = 11, INVALID_OPTION = 5 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int complete;

static void load(void) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                      "libnvrtc.so"};
  void *library = NULL;
  for (int i = 0; !library && i < 3; i++)
    library = dlopen(names[i], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "NVRTC is absent: %s\n", dlerror());
    return;
  }
  complete = 1;
#define LOOK_UP(name, arguments)                   \
  *(void **)(&nvrtc.name) = dlsym(library, #name); \
  complete = complete && nvrtc.name;
  NVRTC_MAP(LOOK_UP)
#undef LOOK_UP
}

static int is_loaded(void) {
  pthread_once(&once, load);
  return complete;
}

const char *forward_hiprtcGetErrorString(kmbi_hiprtc_result result) {
  return result == KMBI_HIPRTC_COMPILATION ? "NVRTC does not compile it"
                                           : "NVRTC failed or is absent";
}

kmbi_hiprtc_result forward_hiprtcCreateProgram(kmbi_hip_program *program,
                                               const char *source,
                                               const char *name, int headers,
                                               const char **texts,
                                               const char **names) {
  if (!is_loaded()) return INTERNAL_ERROR;
  return nvrtc.nvrtcCreateProgram((void **)(void *)program, source, name,
                                  headers, texts, names);
}

/* The architecture in NVIDIA's words, and no products fused with sums, which
 * the source asks clang for by a pragma. */
kmbi_hiprtc_result forward_hiprtcCompileProgram(kmbi_hip_program program,
                                                int count,
                                                const char **options) {
  static const char wanted[] = "--offload-arch=";
  char arch[64];
  const char *theirs[] = {arch, "--fmad=false"};
  if (count != 1 || strncmp(options[0], wanted, sizeof wanted - 1) != 0)
    return INVALID_OPTION;
  snprintf(arch, sizeof arch, "--gpu-architecture=%s",
           options[0] + sizeof wanted - 1);
  return nvrtc.nvrtcCompileProgram((void *)program, 2, theirs);
}

kmbi_hiprtc_result forward_hiprtcGetProgramLogSize(kmbi_hip_program program,
                                                   size_t *size) {
  return nvrtc.nvrtcGetProgramLogSize((void *)program, size);
}

kmbi_hiprtc_result forward_hiprtcGetProgramLog(kmbi_hip_program program,
                                               char *log) {
  return nvrtc.nvrtcGetProgramLog((void *)program, log);
}

kmbi_hiprtc_result forward_hiprtcGetCodeSize(kmbi_hip_program program,
                                             size_t *size) {
  return nvrtc.nvrtcGetCUBINSize((void *)program, size);
}

kmbi_hiprtc_result forward_hiprtcGetCode(kmbi_hip_program program, char *code) {
  return nvrtc.nvrtcGetCUBIN((void *)program, code);
}

kmbi_hiprtc_result forward_hiprtcDestroyProgram(kmbi_hip_program *program) {
  return nvrtc.nvrtcDestroyProgram((void **)(void *)program);
}
