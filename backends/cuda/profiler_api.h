/* CUPTI's range profiler and its host side, declared by us: the vendor's header
 * of the latter is not C in every version. tests/cuda/layout.c compares each
 * struct with the real one.
 *
 * Each begins with its size, counted to the end of its last field, and a word
 * that stays NULL. */
#ifndef KMB_BACKENDS_CUDA_PROFILER_API_H
#define KMB_BACKENDS_CUDA_PROFILER_API_H

#include "cupti_api.h"

enum {
  KMBI_PROFILER_RANGE = 0, /* what is initialised and asked about */
  KMBI_PROFILER_UNSUPPORTED = 1,
  KMBI_PROFILER_DISABLED = 2,
  KMBI_PROFILER_SUPPORTED = 3,
  KMBI_RANGE_AUTO = 1, /* each kernel is a range */
  KMBI_RANGE_USER = 2,
  KMBI_REPLAY_KERNEL = 2, /* CUPTI saves memory and puts it back */
  KMBI_REPLAY_USER = 3    /* the caller launches again for each pass */
};

/* The size that a struct is to say it has. */
#define KMBI_PROFILER_SIZE(type, last) \
  (offsetof(type, last) + sizeof(((type *)0)->last))

typedef struct kmbi_profiler_initialize {
  size_t size;
  void *none;
} kmbi_profiler_initialize;

typedef struct kmbi_profiler_supported {
  size_t size;
  void *none;
  kmbi_cu_device device;
  kmbi_cupti_enum supported;
  kmbi_cupti_enum architecture;
  kmbi_cupti_enum sli;
  kmbi_cupti_enum vgpu;
  kmbi_cupti_enum confidential;
  kmbi_cupti_enum cmp;
  kmbi_cupti_enum wsl;
  kmbi_cupti_enum api;
} kmbi_profiler_supported;

typedef struct kmbi_profiler_chip {
  size_t size;
  void *none;
  size_t device;
  const char *name;
} kmbi_profiler_chip;

typedef struct kmbi_host_initialize {
  size_t size;
  void *none;
  kmbi_cupti_enum type;
  const char *chip;
  const uint8_t *available;
  void *host;
} kmbi_host_initialize;

typedef struct kmbi_host_deinitialize {
  size_t size;
  void *none;
  void *host;
} kmbi_host_deinitialize;

typedef struct kmbi_host_metrics {
  size_t size;
  void *none;
  void *host;
  const char **names;
  size_t count;
} kmbi_host_metrics;

typedef struct kmbi_host_config_size {
  size_t size;
  void *none;
  void *host;
  size_t bytes;
} kmbi_host_config_size;

typedef struct kmbi_host_config {
  size_t size;
  void *none;
  void *host;
  size_t bytes;
  uint8_t *image;
} kmbi_host_config;

typedef struct kmbi_host_passes {
  size_t size;
  void *none;
  size_t bytes;
  uint8_t *image;
  size_t passes;
} kmbi_host_passes;

typedef struct kmbi_host_evaluate {
  size_t size;
  void *none;
  void *host;
  const uint8_t *image;
  size_t bytes;
  size_t range;
  const char **names;
  size_t count;
  double *values;
} kmbi_host_evaluate;

typedef struct kmbi_range_enable {
  size_t size;
  void *none;
  kmbi_cu_context context;
  void *profiler;
} kmbi_range_enable;

typedef struct kmbi_range_disable {
  size_t size;
  void *none;
  void *profiler;
} kmbi_range_disable;

typedef struct kmbi_range_start {
  size_t size;
  void *none;
  void *profiler;
} kmbi_range_start;

typedef struct kmbi_range_pop {
  size_t size;
  void *none;
  void *profiler;
} kmbi_range_pop;

typedef struct kmbi_range_data_size {
  size_t size;
  void *none;
  void *profiler;
  const char **names;
  size_t count;
  size_t ranges;
  uint32_t nodes;
  uint32_t unused;
  size_t bytes;
} kmbi_range_data_size;

typedef struct kmbi_range_data {
  size_t size;
  void *none;
  void *profiler;
  size_t bytes;
  uint8_t *image;
} kmbi_range_data;

typedef struct kmbi_range_config {
  size_t size;
  void *none;
  void *profiler;
  size_t config_bytes;
  const uint8_t *config;
  size_t data_bytes;
  uint8_t *data;
  kmbi_cupti_enum range;
  kmbi_cupti_enum replay;
  size_t ranges;
  uint16_t levels;
  uint16_t first_level;
  uint16_t unused_0[2];
  size_t pass;
  uint16_t target_level;
} kmbi_range_config;

typedef struct kmbi_range_push {
  size_t size;
  void *none;
  void *profiler;
  const char *name;
} kmbi_range_push;

typedef struct kmbi_range_stop {
  size_t size;
  void *none;
  void *profiler;
  size_t pass;
  size_t level;
  uint8_t complete;
} kmbi_range_stop;

typedef struct kmbi_range_decode {
  size_t size;
  void *none;
  void *profiler;
  size_t dropped;
} kmbi_range_decode;

typedef struct kmbi_range_count {
  size_t size;
  void *none;
  const uint8_t *image;
  size_t bytes;
  size_t ranges;
} kmbi_range_count;

/* X(name, struct): each takes its struct and gives a kmbi_cupti_result. CUPTI
 * has had all of them since an update of CUDA 12.6. */
#define KMBI_PROFILER_MAP(X)                                       \
  X(cuptiProfilerInitialize, kmbi_profiler_initialize)             \
  X(cuptiProfilerDeviceSupported, kmbi_profiler_supported)         \
  X(cuptiDeviceGetChipName, kmbi_profiler_chip)                    \
  X(cuptiProfilerHostInitialize, kmbi_host_initialize)             \
  X(cuptiProfilerHostDeinitialize, kmbi_host_deinitialize)         \
  X(cuptiProfilerHostConfigAddMetrics, kmbi_host_metrics)          \
  X(cuptiProfilerHostGetConfigImageSize, kmbi_host_config_size)    \
  X(cuptiProfilerHostGetConfigImage, kmbi_host_config)             \
  X(cuptiProfilerHostGetNumOfPasses, kmbi_host_passes)             \
  X(cuptiProfilerHostEvaluateToGpuValues, kmbi_host_evaluate)      \
  X(cuptiRangeProfilerEnable, kmbi_range_enable)                   \
  X(cuptiRangeProfilerDisable, kmbi_range_disable)                 \
  X(cuptiRangeProfilerStart, kmbi_range_start)                     \
  X(cuptiRangeProfilerPopRange, kmbi_range_pop)                    \
  X(cuptiRangeProfilerGetCounterDataSize, kmbi_range_data_size)    \
  X(cuptiRangeProfilerCounterDataImageInitialize, kmbi_range_data) \
  X(cuptiRangeProfilerSetConfig, kmbi_range_config)                \
  X(cuptiRangeProfilerPushRange, kmbi_range_push)                  \
  X(cuptiRangeProfilerStop, kmbi_range_stop)                       \
  X(cuptiRangeProfilerDecodeData, kmbi_range_decode)               \
  X(cuptiRangeProfilerGetCounterDataInfo, kmbi_range_count)

typedef struct kmbi_profiler_api {
#define KMBI_PROFILER_FIELD(name, type) \
  kmbi_cupti_result (*name)(type * params);
  KMBI_PROFILER_MAP(KMBI_PROFILER_FIELD)
#undef KMBI_PROFILER_FIELD
} kmbi_profiler_api;

#endif
