/* ROCm's libraries: opened once a process, never closed. */
#ifndef KMB_BACKENDS_HIP_LOAD_H
#define KMB_BACKENDS_HIP_LOAD_H

#include <kmb/backend.h>

#include <stdbool.h>

#include "hip_api.h"
#include "rccl_api.h"
#include "smi_api.h"
#include "trace_api.h"

enum {
  KMBI_HIP_TEXT = 256,
  KMBI_HIP_OLDEST = 5, /* major versions of ROCm that this file was written */
  KMBI_HIP_NEWEST = 7  /* for */
};

/* A failure that is remembered, so that each caller hears of it. */
typedef struct kmbi_hip_failure {
  int64_t vendor;
  kmb_status status;
  char text[KMBI_HIP_TEXT];
} kmbi_hip_failure;

/* Each resolves its table on the first call and returns NULL with the failure,
 * on this call and all later ones, if that did not work. */
const kmbi_hip_api *kmbi_hip_runtime(kmbi_hip_failure *failure);
const kmbi_hiprtc_api *kmbi_hip_compiler(kmbi_hip_failure *failure);
const kmbi_hsa_api *kmbi_hip_hsa(kmbi_hip_failure *failure);
const kmbi_smi_api *kmbi_hip_smi(kmbi_hip_failure *failure);
/* With `ours` false only a library that the process has loaded already. */
const kmbi_rccl_api *kmbi_hip_rccl(bool ours, kmbi_hip_failure *failure);
/* Whether RCCL is here since we opened it; not linked where nothing can. */
bool kmbi_hip_brought_rccl(void) __attribute__((weak));
/* Where HIP's library lies; "" if it was not opened. */
const char *kmbi_hip_path(void);

/* Inside of loading. */

/* In a list of names: whether nothing works without it. */
#define REQUIRED "!"
#define OPTIONAL "?"
/* Fills in the pointers to functions that lie one behind the other from `table`
 * on, by a list of their names, each behind REQUIRED or OPTIONAL, zeroes
 * between. Returns the first required one that is missing, or NULL. */
const char *kmbi_hip_look_up(void *library, const char *names, void *table);

/* A library by its names, NULL-terminated, newest first: what the process has
 * loaded already, then beside HIP's own, then in the linker's path, then
 * below /opt. `stem` is the file's name without a version. */
void *kmbi_hip_open(const char *const *names, const char *stem);
/* Whether an object whose file name starts with `stem` is loaded. */
bool kmbi_hip_is_loaded(const char *stem);
void kmbi_hip_failed(kmbi_hip_failure *failure, kmb_status status,
                     int64_t vendor, const char *format, ...) KMB_PRINTF(4, 5);

#endif
