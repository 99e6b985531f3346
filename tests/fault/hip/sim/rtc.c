/* libhiprtc: takes a source that has the backend's kernels, for this device. */
#include <stdio.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

enum { INVALID_INPUT = 3 };
static const char log_text[] = "libkmb.hip:1: error: simulated\n";

#define ENTER(function)          \
  SIM_GUARD(function, SIM_CALL); \
  if (guard.result) return guard.result

const char *sim_hiprtcGetErrorString(kmbi_hiprtc_result result) {
  SIM_GUARD(hiprtcGetErrorString, SIM_CALL);
  if (guard.result) return NULL;
  return result == KMBI_HIPRTC_COMPILATION ? "HIPRTC_ERROR_COMPILATION"
                                           : "HIPRTC_ERROR";
}

kmbi_hiprtc_result sim_hiprtcCreateProgram(kmbi_hip_program *program,
                                           const char *source, const char *name,
                                           int headers, const char **texts,
                                           const char **names) {
  ENTER(hiprtcCreateProgram);
  if (!source || !name || headers || texts || names) return INVALID_INPUT;
  *program = sim_make(SIM_PROGRAM, sizeof **program);
  (*program)->complete = sim_knows_all_of(source);
  return 0;
}

kmbi_hiprtc_result sim_hiprtcCompileProgram(kmbi_hip_program program, int count,
                                            const char **options) {
  char wanted[256];
  ENTER(hiprtcCompileProgram);
  if (!sim_is(program, SIM_PROGRAM)) return INVALID_INPUT;
  snprintf(wanted, sizeof wanted, "--offload-arch=%s", sim_set()->isa);
  bool ours = count == 1 && strcmp(options[0], wanted) == 0;
  if (!ours || !program->complete || sim_set()->compiler_fails)
    return KMBI_HIPRTC_COMPILATION;
  program->compiled = true;
  return 0;
}

kmbi_hiprtc_result sim_hiprtcGetProgramLogSize(kmbi_hip_program program,
                                               size_t *size) {
  ENTER(hiprtcGetProgramLogSize);
  *size = sizeof log_text;
  return sim_is(program, SIM_PROGRAM) ? 0 : INVALID_INPUT;
}

kmbi_hiprtc_result sim_hiprtcGetProgramLog(kmbi_hip_program program,
                                           char *log) {
  ENTER(hiprtcGetProgramLog);
  memcpy(log, log_text, sizeof log_text);
  return sim_is(program, SIM_PROGRAM) ? 0 : INVALID_INPUT;
}

kmbi_hiprtc_result sim_hiprtcGetCodeSize(kmbi_hip_program program,
                                         size_t *size) {
  ENTER(hiprtcGetCodeSize);
  *size = sizeof SIM_CODE;
  return sim_is(program, SIM_PROGRAM) && program->compiled ? 0 : INVALID_INPUT;
}

kmbi_hiprtc_result sim_hiprtcGetCode(kmbi_hip_program program, char *code) {
  ENTER(hiprtcGetCode);
  memcpy(code, SIM_CODE, sizeof SIM_CODE);
  return sim_is(program, SIM_PROGRAM) && program->compiled ? 0 : INVALID_INPUT;
}

kmbi_hiprtc_result sim_hiprtcDestroyProgram(kmbi_hip_program *program) {
  SIM_GUARD(hiprtcDestroyProgram, SIM_CALL);
  if (!program || !sim_is(*program, SIM_PROGRAM)) return INVALID_INPUT;
  sim_destroy(*program);
  *program = NULL;
  return guard.result;
}
