/* Our kernels, compiled by hiprtc for the device that is opened. */
#include "hip_backend.h"

#include <stdio.h>

#include "kernels.h"

static kmb_status failed(kmbi_hip *self, const kmbi_hiprtc_api *rtc,
                         kmbi_hiprtc_result result, const char *call) {
  const char *text = rtc->hiprtcGetErrorString(result);
  return KMBI_HIP_FAIL(self, KMB_ERR_VENDOR, (int64_t)result,
                       "%s failed: %s (%u)", call, text ? text : "unknown",
                       result);
}

/* The compiler's own words, as far as they fit into a message. */
static kmb_status not_compiled(kmbi_hip *self, const kmbi_hiprtc_api *rtc,
                               kmbi_hip_program program,
                               kmbi_hiprtc_result result) {
  const kmb_host *host = self->host;
  size_t size = 0;
  kmb_status status = failed(self, rtc, result, "hiprtcCompileProgram");
  if (result != KMBI_HIPRTC_COMPILATION ||
      rtc->hiprtcGetProgramLogSize(program, &size) || size < 2)
    return status;
  char *log = host->alloc(host->ctx, size, 1);
  if (!log) return status;
  if (!rtc->hiprtcGetProgramLog(program, log)) {
    log[size - 1] = '\0';
    host->log(host->ctx, KMB_LOG_ERROR, log);
    status = KMBI_HIP_FAIL(self, KMB_ERR_VENDOR, (int64_t)result,
                           "hiprtc does not compile libkmb's kernels for %s: "
                           "%.150s",
                           self->isa, log);
  }
  host->free(host->ctx, log, size);
  return status;
}

static kmb_status take_code(kmbi_hip *self, const kmbi_hiprtc_api *rtc,
                            kmbi_hip_program program, char **code,
                            size_t *size) {
  const kmb_host *host = self->host;
  kmbi_hiprtc_result result = rtc->hiprtcGetCodeSize(program, size);
  if (result) return failed(self, rtc, result, "hiprtcGetCodeSize");
  /* What comes is an ELF image, read as its header says. */
  char *memory = host->alloc(host->ctx, *size, 64);
  if (!memory)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0,
                         "no memory for the compiled kernels (%zu bytes)",
                         *size);
  result = rtc->hiprtcGetCode(program, memory);
  if (result) {
    host->free(host->ctx, memory, *size);
    return failed(self, rtc, result, "hiprtcGetCode");
  }
  *code = memory;
  return KMB_OK;
}

kmb_status kmbi_hip_compile(kmbi_hip *self, char **code, size_t *size) {
  char target[KMBI_HIP_TEXT + 32];
  const char *options[] = {target};
  kmbi_hip_failure failure;
  kmbi_hip_program program = NULL;
  const kmbi_hiprtc_api *rtc = kmbi_hip_compiler(&failure);
  if (!rtc)
    return KMBI_HIP_FAIL(self, failure.status, failure.vendor, "%s",
                         failure.text);
  kmbi_hip_read_arch(self);
  if (!self->isa[0])
    return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                         "libkmb's kernels cannot be compiled: %s",
                         self->arch_absent);
  snprintf(target, sizeof target, "--offload-arch=%s", self->isa);
  kmbi_hiprtc_result result = rtc->hiprtcCreateProgram(
      &program, kmbi_hip_source, "libkmb.hip", 0, NULL, NULL);
  if (result) return failed(self, rtc, result, "hiprtcCreateProgram");
  result = rtc->hiprtcCompileProgram(program, 1, options);
  kmb_status status = result ? not_compiled(self, rtc, program, result)
                             : take_code(self, rtc, program, code, size);
  (void)rtc->hiprtcDestroyProgram(&program);
  return status;
}
