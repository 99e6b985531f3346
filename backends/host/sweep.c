/* The read sweep that leaves nothing of ours in any used core's caches. */
#include "host.h"

typedef struct sweep_job {
  unsigned char *buffer;
  const uint64_t *ends;
} sweep_job;

static uint64_t share_start(const sweep_job *job, uint32_t part) {
  return part ? job->ends[part - 1] : 0;
}

/* Each page gets contents of its own: a page that was never written is the
 * kernel's one page of zeroes and would sit in L1. */
static void write_part(void *arg, uint32_t part, uint32_t parts) {
  const sweep_job *job = arg;
  (void)parts;
  for (uint64_t at = share_start(job, part); at < job->ends[part]; at += 8) {
    uint64_t word = at * UINT64_C(0x9E3779B97F4A7C15) + 1;
    memcpy(job->buffer + at, &word, sizeof word);
  }
}

void kmbi_host_touch(const void *pointer, uint64_t bytes) {
  const unsigned char *data = pointer;
  for (uint64_t at = 0; at < bytes; at += KMBI_HOST_LINE)
    (void)*(const volatile unsigned char *)(data + at);
  /* A span need not start on a line: its last byte may lie on one more. */
  if (bytes) (void)*(const volatile unsigned char *)(data + bytes - 1);
}

static void read_part(void *arg, uint32_t part, uint32_t parts) {
  const sweep_job *job = arg;
  uint64_t start = share_start(job, part);
  (void)parts;
  kmbi_host_touch(job->buffer + start, job->ends[part] - start);
}

/* A core's share: of `bytes` what falls to its last-level cache, divided among
 * the used cores behind it. */
static bool share_of(const kmbi_host *self, uint32_t index, uint64_t bytes,
                     uint64_t *share) {
  const kmbi_host_core *me = &self->cores[index];
  uint64_t total = 0;
  uint64_t sharing = 0;
  for (uint32_t i = 0; i < self->threads; i++) {
    const kmbi_host_core *core = &self->cores[i];
    bool first = true;
    for (uint32_t j = 0; j < i && first; j++)
      first = self->cores[j].llc != core->llc;
    if (first) total += core->llc_bytes;
    sharing += core->llc == me->llc;
  }
  double part = total && me->llc_bytes
                    ? (double)me->llc_bytes / (double)total / (double)sharing
                    : 1.0 / self->threads;
  uint64_t own = 2 * (me->l1_bytes + me->l2_bytes);
  double wanted = (double)bytes * part;
  if (wanted > 0x1p62) return false;
  *share = (uint64_t)wanted;
  if (*share < own) *share = own;
  return kmbi_host_round_up(*share + 1, 4096, share);
}

void kmbi_host_sweep_close(kmbi_host *self) {
  const kmb_host *host = self->host;
  kmbi_host_free(self, self->sweep, self->sweep_size);
  if (self->sweep_ends)
    host->free(host->ctx, self->sweep_ends,
               self->threads * sizeof *self->sweep_ends);
  self->sweep = NULL;
  self->sweep_ends = NULL;
  self->sweep_bytes = self->sweep_size = 0;
}

static kmb_status lay_out(kmbi_host *self, uint64_t bytes) {
  const kmb_host *host = self->host;
  self->sweep_ends = host->alloc(
      host->ctx, self->threads * sizeof *self->sweep_ends, _Alignof(uint64_t));
  if (!self->sweep_ends)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory to lay out a sweep");
  uint64_t end = 0;
  for (uint32_t i = 0; i < self->threads; i++) {
    uint64_t share = 0;
    if (!share_of(self, i, bytes, &share) || share > UINT64_MAX - end)
      return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                            "host: a sweep of %llu bytes is beyond any memory",
                            (unsigned long long)bytes);
    end += share;
    self->sweep_ends[i] = end;
  }
  self->sweep_size = end;
  return KMB_OK;
}

kmb_status kmbi_host_sweep_prepare(void *opened, uint64_t bytes) {
  kmbi_host *self = opened;
  void *buffer = NULL;
  if (bytes == 0)
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: a sweep of no bytes was asked for");
  if (self->sweep && bytes <= self->sweep_bytes) return KMB_OK;
  kmbi_host_sweep_close(self);
  kmb_status status = lay_out(self, bytes);
  if (!status) status = kmbi_host_alloc(self, self->sweep_size, 4096, &buffer);
  self->sweep = buffer;
  sweep_job job = {buffer, self->sweep_ends};
  if (!status)
    status = kmbi_host_pool_run(self, self->threads, write_part, &job);
  if (status) {
    kmbi_host_sweep_close(self);
    return status;
  }
  self->sweep_bytes = bytes;
  return KMB_OK;
}

kmb_status kmbi_host_sweep(kmbi_host *self) {
  sweep_job job = {self->sweep, self->sweep_ends};
  return kmbi_host_pool_run(self, self->threads, read_part, &job);
}
