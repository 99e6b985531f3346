/* The host's part of counters: is the chip served, what are its metrics, how
 * many passes do they take. */
#include "metrics.h"

#include <stdio.h>

#include "cupti_session.h"

/* A preset, what confirms a cache state, and two of the caller's. */
enum { KEPT = 4 };

static const char *cure_of(kmb_status status) {
  if (status == KMB_ERR_PERM)
    return "; counters need root, CAP_SYS_ADMIN, or the driver's module option "
           "NVreg_RestrictProfilingToAdminUsers=0";
  if (status == KMB_ERR_BUSY)
    return "; another tool (DCGM, ncu, a profiler) holds the GPU's counters: "
           "end it or pause it";
  return "";
}

kmb_status kmbi_cuda_profiler_check(kmbi_cuda *self, kmbi_cupti_result result,
                                    const char *call) {
  kmbi_cuda_failure failure;
  const char *text = NULL;
  if (result == KMBI_CUPTI_SUCCESS) return KMB_OK;
  const kmbi_cupti_api *cupti = kmbi_cuda_cupti(&failure);
  if (!cupti || cupti->cuptiGetResultString(result, &text) || !text)
    text = "unknown";
  kmb_status status = kmbi_cupti_status_of(result);
  return KMBI_CUDA_FAIL(self, status, (int64_t)result, "%s failed: %s (%u)%s",
                        call, text, result, cure_of(status));
}

/* Why a device has no counters. */
static const char *refusal(const kmbi_profiler_supported *p) {
  if (p->architecture != KMBI_PROFILER_SUPPORTED)
    return "its architecture is not served; compute capability 7.5 is needed";
  if (p->vgpu == KMBI_PROFILER_DISABLED)
    return "the hypervisor keeps counters from this virtual GPU";
  if (p->vgpu != KMBI_PROFILER_SUPPORTED) return "it is a virtual GPU";
  if (p->confidential != KMBI_PROFILER_SUPPORTED)
    return "confidential computing is on";
  if (p->sli != KMBI_PROFILER_SUPPORTED) return "SLI is on";
  if (p->cmp != KMBI_PROFILER_SUPPORTED) return "it is a mining processor";
  if (p->wsl != KMBI_PROFILER_SUPPORTED) return "it runs below WSL";
  return "CUPTI says so without a reason";
}

static kmb_status find_chip(kmbi_cuda *self, const kmbi_profiler_api *api,
                            const char **chip) {
  kmbi_profiler_initialize init =
      KMBI_PROFILER_PARAMS(kmbi_profiler_initialize, none, 0);
  kmbi_profiler_supported p =
      KMBI_PROFILER_PARAMS(kmbi_profiler_supported, api, .device = self->device,
                           .api = KMBI_PROFILER_RANGE);
  kmbi_profiler_chip name = KMBI_PROFILER_PARAMS(
      kmbi_profiler_chip, name, .device = (size_t)self->ordinal);
  kmb_status status = KMBI_PROFILER(self, api, cuptiProfilerInitialize, &init);
  if (!status)
    status = KMBI_PROFILER(self, api, cuptiProfilerDeviceSupported, &p);
  if (!status && p.supported != KMBI_PROFILER_SUPPORTED)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "cuda:%d has no counters for this process: %s",
                          self->ordinal, refusal(&p));
  if (!status) status = KMBI_PROFILER(self, api, cuptiDeviceGetChipName, &name);
  *chip = name.name;
  return status;
}

static kmbi_cupti_result add(const kmbi_profiler_api *api, void *host,
                             const char **names, size_t count) {
  kmbi_host_metrics p = KMBI_PROFILER_PARAMS(
      kmbi_host_metrics, count, .host = host, .names = names, .count = count);
  return api->cuptiProfilerHostConfigAddMetrics(&p);
}

/* CUPTI does not say which name it is that it does not know. */
static kmb_status add_all(kmbi_cuda *self, const kmbi_profiler_api *api,
                          const kmbi_cuda_metrics *m, const char *chip) {
  kmbi_cupti_result result = add(api, m->host, m->names, m->count);
  if (result != KMBI_CUPTI_INVALID_METRIC_NAME)
    return kmbi_cuda_profiler_check(self, result,
                                    "cuptiProfilerHostConfigAddMetrics");
  size_t i = 0;
  while (i < m->count && !add(api, m->host, &m->names[i], 1))
    i++;
  return KMBI_CUDA_FAIL(
      self, KMB_ERR_INVALID, (int64_t)result,
      "the chip %.16s has no metric \"%.120s\"%s", chip,
      i < m->count ? m->names[i] : "(one of those asked for)",
      i < m->count && strncmp(m->names[i], "launch__", 8) == 0
          ? "; what a launch is like is no counter"
          : "; ncu --query-metrics lists names, which need a suffix such as "
            ".sum");
}

static kmb_status make_image(kmbi_cuda *self, const kmbi_profiler_api *api,
                             kmbi_cuda_metrics *m) {
  const kmb_host *host = self->host;
  kmbi_host_config_size size =
      KMBI_PROFILER_PARAMS(kmbi_host_config_size, bytes, .host = m->host);
  kmb_status status =
      KMBI_PROFILER(self, api, cuptiProfilerHostGetConfigImageSize, &size);
  if (status) return status;
  m->image = host->alloc(host->ctx, size.bytes, _Alignof(max_align_t));
  if (!m->image)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the counters' setting (%zu bytes)",
                          size.bytes);
  m->image_bytes = size.bytes;
  kmbi_host_config image =
      KMBI_PROFILER_PARAMS(kmbi_host_config, image, .host = m->host,
                           .bytes = size.bytes, .image = m->image);
  kmbi_host_passes passes = KMBI_PROFILER_PARAMS(
      kmbi_host_passes, passes, .bytes = size.bytes, .image = m->image);
  status = KMBI_PROFILER(self, api, cuptiProfilerHostGetConfigImage, &image);
  if (!status)
    status = KMBI_PROFILER(self, api, cuptiProfilerHostGetNumOfPasses, &passes);
  m->passes = passes.passes;
  return status;
}

static void say_made(kmbi_cuda *self, size_t count, const double at[5]) {
  const kmb_host *host = self->host;
  char line[KMBI_CUDA_TEXT];
  snprintf(line, sizeof line,
           "counters: a setting of %zu metrics was made in %.1f ms: chip %.1f, "
           "host object %.1f, metrics %.1f, image %.1f",
           count, (at[4] - at[0]) / 1e6, (at[1] - at[0]) / 1e6,
           (at[2] - at[1]) / 1e6, (at[3] - at[2]) / 1e6, (at[4] - at[3]) / 1e6);
  host->log(host->ctx, KMB_LOG_DEBUG, line);
}

static kmb_status fill(kmbi_cuda *self, kmbi_cuda_metrics *m) {
  kmbi_cuda_failure failure;
  const char *chip = NULL;
  const kmbi_profiler_api *api = kmbi_cuda_profiler(&failure);
  if (!api)
    return KMBI_CUDA_FAIL(self, failure.status, failure.vendor, "%s",
                          failure.text);
  double at[5] = {kmbi_cuda_now()};
  kmb_status status = find_chip(self, api, &chip);
  at[1] = kmbi_cuda_now();
  if (status) return status;
  kmbi_host_initialize init = KMBI_PROFILER_PARAMS(
      kmbi_host_initialize, host, .type = KMBI_PROFILER_RANGE, .chip = chip);
  status = KMBI_PROFILER(self, api, cuptiProfilerHostInitialize, &init);
  if (status) return status;
  m->host = init.host;
  at[2] = kmbi_cuda_now();
  status = add_all(self, api, m, chip);
  at[3] = kmbi_cuda_now();
  if (!status) status = make_image(self, api, m);
  at[4] = kmbi_cuda_now();
  if (!status) say_made(self, m->count, at);
  return status;
}

static bool size_of(const kmb_counter_request *r, size_t *size) {
  *size = sizeof(kmbi_cuda_metrics);
  for (uint64_t i = 0; i < r->metric_count; i++)
    if (__builtin_add_overflow(
            *size, strlen(r->metrics[i]) + 1 + sizeof(char *), size))
      return false;
  return true;
}

static kmbi_cuda_metrics *make(kmbi_cuda *self, const kmb_counter_request *r) {
  const kmb_host *host = self->host;
  size_t size = 0;
  if (!size_of(r, &size)) return NULL;
  kmbi_cuda_metrics *m =
      host->alloc(host->ctx, size, _Alignof(kmbi_cuda_metrics));
  if (!m) return NULL;
  memset(m, 0, size);
  m->size = size;
  m->count = r->metric_count;
  m->names = (const char **)(void *)(m + 1);
  char *text = (char *)(m->names + m->count);
  for (size_t i = 0; i < m->count; i++) {
    size_t length = strlen(r->metrics[i]) + 1;
    m->names[i] = memcpy(text, r->metrics[i], length);
    text += length;
  }
  return m;
}

static bool is_same(const kmbi_cuda_metrics *m, const kmb_counter_request *r) {
  if (m->count != r->metric_count) return false;
  for (size_t i = 0; i < m->count; i++)
    if (strcmp(m->names[i], r->metrics[i]) != 0) return false;
  return true;
}

/* In a forked child, and of a lost device, CUPTI's object is abandoned. */
static void drop(kmbi_cuda *self, kmbi_cuda_metrics *m, bool ours) {
  const kmb_host *host = self->host;
  kmbi_cuda_failure failure;
  if (self->kept.metrics == m) (void)kmbi_cuda_kept_end(self, ours);
  const kmbi_profiler_api *api = ours ? kmbi_cuda_profiler(&failure) : NULL;
  kmbi_host_deinitialize p =
      KMBI_PROFILER_PARAMS(kmbi_host_deinitialize, host, .host = m->host);
  if (api && m->host) (void)api->cuptiProfilerHostDeinitialize(&p);
  if (m->image) host->free(host->ctx, m->image, m->image_bytes);
  host->free(host->ctx, m, m->size);
}

/* Out of the list; NULL: it is not there. */
static kmbi_cuda_metrics *find(kmbi_cuda *self, const kmb_counter_request *r) {
  for (kmbi_cuda_metrics **at = &self->metrics; *at; at = &(*at)->next) {
    kmbi_cuda_metrics *m = *at;
    if (!is_same(m, r)) continue;
    *at = m->next;
    return m;
  }
  return NULL;
}

static kmb_status make_new(kmbi_cuda *self, const kmb_counter_request *r,
                           kmbi_cuda_metrics **out) {
  kmbi_cuda_metrics *m = make(self, r);
  if (!m)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the names of metrics");
  kmb_status status = fill(self, m);
  if (status)
    drop(self, m, true);
  else
    *out = m;
  return status;
}

/* Whichever was used longest ago gives way. */
static void keep(kmbi_cuda *self, kmbi_cuda_metrics *m) {
  m->next = self->metrics;
  self->metrics = m;
  for (int i = 1; i < KEPT && m; i++)
    m = m->next;
  if (!m || !m->next) return;
  drop(self, m->next, true);
  m->next = NULL;
}

kmb_status kmbi_cuda_metrics_take(kmbi_cuda *self,
                                  const kmb_counter_request *request,
                                  const kmbi_cuda_metrics **metrics) {
  kmbi_cuda_metrics *m = find(self, request);
  kmb_status status = m ? KMB_OK : make_new(self, request, &m);
  if (status) return status;
  keep(self, m);
  *metrics = m;
  return KMB_OK;
}

void kmbi_cuda_metrics_drop(kmbi_cuda *self, bool ours) {
  while (self->metrics) {
    kmbi_cuda_metrics *m = self->metrics;
    self->metrics = m->next;
    drop(self, m, ours);
  }
}
