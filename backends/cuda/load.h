/* Vendor libraries: opened once a process, never closed. */
#ifndef KMB_BACKENDS_CUDA_LOAD_H
#define KMB_BACKENDS_CUDA_LOAD_H

#include <kmb/backend.h>

#include <stdbool.h>

#include "cupti_api.h"
#include "driver_api.h"
#include "lt_api.h"
#include "nccl_api.h"
#include "nvml_api.h"
#include "profiler_api.h"

enum { KMBI_CUDA_TEXT = 256 };

/* A failure that is remembered, so that each caller hears of it. */
typedef struct kmbi_cuda_failure {
  int64_t vendor;
  kmb_status status;
  char text[KMBI_CUDA_TEXT];
} kmbi_cuda_failure;

/* Each resolves its table on the first call and returns NULL with the failure,
 * on this call and all later ones, if that did not work. */
const kmbi_cu_driver *kmbi_cuda_driver(kmbi_cuda_failure *failure);
const kmbi_cupti_api *kmbi_cuda_cupti(kmbi_cuda_failure *failure);
const kmbi_profiler_api *kmbi_cuda_profiler(kmbi_cuda_failure *failure);
const kmbi_nvml_api *kmbi_cuda_nvml(kmbi_cuda_failure *failure);
const kmbi_lt_api *kmbi_cuda_lt(kmbi_cuda_failure *failure);
/* `ours`: for a communicator of our own, which is had only where NVLink
 * multicast is off. */
const kmbi_nccl_api *kmbi_cuda_nccl(bool ours, kmbi_cuda_failure *failure);
/* Where the library that a table came from lies; "" if it was not opened. */
const char *kmbi_cuda_cupti_path(void);

/* Inside of loading. */

/* In a list of names: whether nothing works without it. */
#define REQUIRED "!"
#define OPTIONAL "?"
/* Fills in the pointers to functions that lie one behind the other from `table`
 * on, by a list of their names, each behind REQUIRED or OPTIONAL, zeroes
 * between. Returns the first required one that is missing, or NULL. */
const char *kmbi_cuda_look_up(void *library, const char *names, void *table);
void *kmbi_cuda_attach(const char *const *names, const char *prefix);
/* Directory of the first loaded object whose file name starts with `prefix`. */
bool kmbi_cuda_loaded_in(const char *prefix, char *folder, size_t size);
void kmbi_cuda_failed(kmbi_cuda_failure *failure, kmb_status status,
                      int64_t vendor, const char *format, ...) KMB_PRINTF(4, 5);

#endif
