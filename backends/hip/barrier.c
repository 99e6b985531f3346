/* Barriers between the devices of several ranks: opening, timing, and the end
 * of what was enqueued behind one. */
#include "barrier.h"

#include "plan.h"

#include <stdio.h>

kmb_status kmbi_hip_barrier_open(void *opened, const kmb_barrier_desc *desc,
                                 void **created) {
  kmbi_hip *self = opened;
  const kmb_host *host = self->host;
  int before = 0;
  *created = NULL;
  kmbi_hip_barrier *b =
      host->alloc(host->ctx, sizeof *b, _Alignof(kmbi_hip_barrier));
  /* The others wait for what a rank says, whatever keeps it from saying more.
   */
  if (!b)
    return kmbi_hip_rccl_refuse(
        desc, KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0, "no memory for a barrier"));
  memset(b, 0, sizeof *b);
  b->self = self;
  b->desc = *desc;
  kmb_status status = kmbi_hip_enter(self, &before);
  status = status ? kmbi_hip_rccl_refuse(desc, status) : kmbi_hip_rccl_open(b);
  kmbi_hip_leave(self, before);
  if (status) {
    kmbi_hip_barrier_close(self, b);
    return status;
  }
  self->barrier = b;
  *created = b;
  return KMB_OK;
}

void kmbi_hip_barrier_close(void *opened, void *created) {
  kmbi_hip *self = opened;
  kmbi_hip_barrier *b = created;
  const kmb_host *host = self->host;
  int before = 0;
  if (self->barrier == b) self->barrier = NULL;
  /* What is lost is abandoned. */
  if (kmbi_hip_reenter(self, &before)) {
    kmbi_hip_rccl_close(b);
    kmbi_hip_leave(self, before);
  }
  host->free(host->ctx, b, sizeof *b);
}

kmb_status kmbi_hip_barrier_enqueue(void *opened, void *created, void *stream) {
  kmbi_hip *self = opened;
  int before = 0;
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status) status = kmbi_hip_rccl_enqueue(created, stream);
  kmbi_hip_leave(self, before);
  return status;
}

const char *kmbi_hip_barrier_text(void *opened, void *created) {
  (void)opened;
  return ((const kmbi_hip_barrier *)created)->text;
}

/* Lets through what waits for a rank that will not come. */
static void rescue(kmbi_hip *self) {
  if (self->barrier && !self->lost) kmbi_hip_rccl_rescue(self->barrier);
}

/* A rank that failed, or was let go, waits for nobody long. */
#define END_NS 0.5e9

/* RCCL does not say which rank is missed. */
static kmb_status late(kmbi_hip *self, kmbi_hip_stream stream,
                       const kmb_align *align) {
  kmb_status ended = KMB_OK;
  const kmb_host *host = self->host;
  kmb_error said;
  kmb_status status = align->overdue(align->ctx, -1);
  host->error_save(host->ctx, &said);
  rescue(self);
  if (!self->lost && kmbi_hip_ends_within(self, stream, END_NS, &ended)) {
    host->error_restore(host->ctx, &said);
    return status;
  }
  self->lost = true;
  return KMBI_HIP_FAIL(self, KMB_ERR_LOST, 0,
                       "hip:%d is lost to this process: %.200s", self->device,
                       said.message);
}

kmb_status kmbi_hip_barrier_finish(kmbi_hip *self, kmbi_hip_stream stream,
                                   const kmb_align *align, kmb_status status) {
  double limit = status ? align->deadline_ns / 2 : align->deadline_ns;
  kmb_status ended = KMB_OK;
  const kmb_host *host = self->host;
  kmb_error said;
  if (self->lost) return status;
  host->error_save(host->ctx, &said);
  if (status) rescue(self);
  if (!kmbi_hip_ends_within(self, stream, limit, &ended))
    ended = late(self, stream, align);
  if (ended == KMB_ERR_LOST || !status) return ended;
  if (ended) host->error_restore(host->ctx, &said);
  return status;
}

/* An all-reduce that times itself shows how much earlier it lets a rank go than
 * it let it in, not how far apart the ranks are let go. */
kmb_status kmbi_hip_barrier_time(void *opened, void *created, void *stream,
                                 const kmb_align *align, double *ns) {
  kmbi_hip *self = opened;
  (void)created;
  (void)stream;
  (void)align;
  *ns = 0;
  return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                       "how far apart RCCL releases the ranks is not told by "
                       "RCCL");
}

/* Brings this file into the program. */
void kmbi_backend_hip_ranks(void) {}
