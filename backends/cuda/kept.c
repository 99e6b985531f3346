/* Sessions of counters that stay enabled between calls, at most one a device
 * handle. Enabled, they hold the GPU's counters, so whoever needs those may end
 * another handle's. */
#include "cuda_backend.h"

#include <pthread.h>

/* Guards the list, and the profiler of each that is in it. What else a device
 * keeps is its user's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cuda *keeping;

kmbi_cupti_result kmbi_cuda_session_disable(const kmbi_cuda *self,
                                            kmbi_cu_context context,
                                            void *profiler) {
  const kmbi_cu_driver *driver = self->driver;
  kmbi_cuda_failure failure;
  const kmbi_profiler_api *api = kmbi_cuda_profiler(&failure);
  kmbi_cu_context before = NULL;
  kmbi_range_disable off = {
      .size = KMBI_PROFILER_SIZE(kmbi_range_disable, profiler),
      .profiler = profiler};
  if (!api) return KMBI_CUPTI_SUCCESS; /* it cannot have been enabled */
  bool known = !driver->cuCtxGetCurrent(&before);
  bool moved = !known || before != context;
  if (moved) (void)driver->cuCtxSetCurrent(context);
  kmbi_cupti_result result = api->cuptiRangeProfilerDisable(&off);
  if (moved && known) (void)driver->cuCtxSetCurrent(before);
  return result;
}

/* Under `lock`. */
static void unlink_kept(const kmbi_cuda *self) {
  for (kmbi_cuda **at = &keeping; *at; at = &(*at)->next_kept)
    if (*at == self) {
      *at = self->next_kept;
      return;
    }
}

void kmbi_cuda_kept_put(kmbi_cuda *self, const kmbi_cuda_kept *session) {
  pthread_mutex_lock(&lock);
  self->kept = *session;
  self->next_kept = keeping;
  keeping = self;
  pthread_mutex_unlock(&lock);
}

static void free_data(kmbi_cuda *self, const kmbi_cuda_kept *session) {
  const kmb_host *host = self->host;
  if (session->data) host->free(host->ctx, session->data, session->data_bytes);
}

bool kmbi_cuda_kept_take(kmbi_cuda *self, kmbi_cuda_kept *session) {
  pthread_mutex_lock(&lock);
  unlink_kept(self);
  *session = self->kept;
  self->kept = (kmbi_cuda_kept){0};
  pthread_mutex_unlock(&lock);
  if (session->profiler) return true;
  free_data(self, session); /* another handle ended it */
  return false;
}

kmb_status kmbi_cuda_kept_end(kmbi_cuda *self, bool ours) {
  kmbi_cuda_kept session;
  kmbi_cupti_result result = KMBI_CUPTI_SUCCESS;
  if (!ours) { /* whoever held the lock is not in this process */
    free_data(self, &self->kept);
    self->kept = (kmbi_cuda_kept){0};
    return KMB_OK;
  }
  if (!kmbi_cuda_kept_take(self, &session)) return KMB_OK;
  if (!self->lost)
    result = kmbi_cuda_session_disable(self, session.context, session.profiler);
  free_data(self, &session);
  return kmbi_cuda_profiler_check(self, result, "cuptiRangeProfilerDisable");
}

void kmbi_cuda_lose(kmbi_cuda *self) {
  self->lost = true;
  pthread_mutex_lock(&lock);
  self->kept.profiler = NULL; /* it may never answer */
  pthread_mutex_unlock(&lock);
}

void kmbi_cuda_kept_end_others(kmbi_cuda *self, bool all) {
  pthread_mutex_lock(&lock);
  for (kmbi_cuda *k = keeping; k; k = k->next_kept) {
    if (k == self || (!all && k->device != self->device)) continue;
    if (k->kept.profiler)
      (void)kmbi_cuda_session_disable(self, k->kept.context, k->kept.profiler);
    k->kept.profiler = NULL; /* the rest goes with its own user */
  }
  pthread_mutex_unlock(&lock);
}
