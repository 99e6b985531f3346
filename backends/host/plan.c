/* Taking samples with the steady clock. */
#include "host.h"

#include <time.h>

typedef struct plan {
  kmb_plan_desc desc; /* args and warm point behind this struct */
  size_t size;
  uint64_t iteration; /* of the next launch */
  uint32_t slot;      /* of the next launch */
  bool cold;
} plan;

static kmb_status refuse(kmbi_host *self, kmb_status status, const char *why) {
  return KMBI_HOST_FAIL(self, status, 0, "host: %s", why);
}

kmb_status kmbi_host_propose(void *opened, const kmb_request *request,
                             kmb_choice *choices, uint32_t capacity,
                             uint32_t *count) {
  kmbi_host *self = opened;
  kmb_cache_state cache = request->cache;
  *count = 0;
  /* Whatever was asked for, this is what there is; the library says so, or
   * refuses if the caller requires the other. */
  if (cache == KMB_CACHE_DEFAULT)
    cache = request->cold_bytes ? KMB_CACHE_ROTATED : KMB_CACHE_WARM;
  if (cache < KMB_CACHE_COLD || cache > KMB_CACHE_WARM)
    return refuse(self, KMB_ERR_INVALID, "unknown cache state");
  if (cache == KMB_CACHE_ROTATED && !request->cold_bytes)
    return refuse(self, KMB_ERR_UNAVAILABLE,
                  "ROTATED needs buffers to rotate; give buffers, or ask for "
                  "COLD or WARM");
  if (capacity == 0) return KMB_OK;
  choices[0] = (kmb_choice){.timer = KMB_TIMER_HOST,
                            .launch_mode = KMB_LAUNCH_PLAIN,
                            .cache = cache,
                            .preference = 0};
  *count = 1;
  return KMB_OK;
}

static kmb_status check_desc(kmbi_host *self, const kmb_plan_desc *desc) {
  if (desc->choice.timer != KMB_TIMER_HOST ||
      desc->choice.launch_mode != KMB_LAUNCH_PLAIN)
    return refuse(self, KMB_ERR_UNSUPPORTED,
                  "a plan takes the timer HOST and plain launches alone");
  if (!desc->launch || desc->first_slot >= desc->slots || desc->batch == 0)
    return refuse(self, KMB_ERR_INVALID,
                  "a plan needs a launch callback, slots, a first slot below "
                  "their number and a batch of at least one");
  if (desc->batch > 1 && (desc->reset || desc->choice.cache == KMB_CACHE_COLD))
    return refuse(self, KMB_ERR_INVALID,
                  "with a reset hook or COLD a sample is a single iteration: "
                  "the batch must be 1");
  if ((desc->arg_count && !desc->args) || (desc->warm_count && !desc->warm))
    return refuse(self, KMB_ERR_INVALID,
                  "a plan counts arguments or spans that are not there");
  return KMB_OK;
}

static bool plan_size(const kmb_plan_desc *desc, size_t *args, size_t *warm,
                      size_t *size) {
  uint64_t a = 0;
  uint64_t w = 0;
  return !__builtin_mul_overflow(desc->arg_count,
                                 (uint64_t)desc->slots * sizeof(void *), &a) &&
         !__builtin_mul_overflow(
             desc->warm_count, (uint64_t)desc->slots * sizeof(kmb_span), &w) &&
         !__builtin_add_overflow(a, 0, args) &&
         !__builtin_add_overflow(w, 0, warm) &&
         !__builtin_add_overflow(*args, *warm, size) &&
         !__builtin_add_overflow(*size, sizeof(plan), size);
}

kmb_status kmbi_host_plan_create(void *opened, const kmb_plan_desc *desc,
                                 void **created) {
  kmbi_host *self = opened;
  const kmb_host *host = self->host;
  size_t args = 0;
  size_t warm = 0;
  size_t size = 0;
  *created = NULL;
  kmb_status status = check_desc(self, desc);
  if (status) return status;
  plan *p = plan_size(desc, &args, &warm, &size)
                ? host->alloc(host->ctx, size, _Alignof(plan))
                : NULL;
  if (!p)
    return refuse(self, KMB_ERR_NOMEM,
                  "no memory for a plan; use fewer slots or buffers");
  memset(p, 0, sizeof *p);
  unsigned char *behind = (unsigned char *)(p + 1);
  p->desc = *desc;
  p->size = size;
  p->slot = desc->first_slot;
  p->cold = desc->choice.cache == KMB_CACHE_COLD;
  if (args) memcpy(behind, desc->args, args);
  p->desc.args = args ? (void *const *)(void *)behind : NULL;
  behind += args;
  if (warm) memcpy(behind, desc->warm, warm);
  p->desc.warm = warm ? (const kmb_span *)(void *)behind : NULL;
  *created = p;
  return KMB_OK;
}

void kmbi_host_plan_destroy(void *opened, void *created) {
  const kmb_host *host = ((kmbi_host *)opened)->host;
  plan *p = created;
  if (p) host->free(host->ctx, p, p->size);
}

/* The timed loops. Nothing is in them that need not be: the launch struct lies
 * outside, and what does not change is not stored again. */

static inline __attribute__((always_inline)) kmb_status
batch_of_one_slot(kmb_launch_fn launch, void *user, kmb_launch *l,
                  uint64_t batch) {
  uint64_t end = l->iteration + batch;
  uint64_t i = l->iteration;
  do {
    l->iteration = i;
    kmb_status status = launch(user, l);
    if (__builtin_expect(status != KMB_OK, 0)) return status;
  } while (++i != end);
  l->iteration = end;
  return KMB_OK;
}

static inline __attribute__((always_inline)) kmb_status
batch_of_slots(const kmb_plan_desc *desc, kmb_launch *l) {
  kmb_launch_fn launch = desc->launch;
  void *user = desc->launch_user;
  uint32_t slots = desc->slots;
  uint32_t slot = l->slot;
  /* As numbers: without buffers they are NULL and stay it. */
  uintptr_t first = (uintptr_t)desc->args;
  uintptr_t args = (uintptr_t)l->args;
  uintptr_t step = (uintptr_t)desc->arg_count * sizeof *desc->args;
  uint64_t i = l->iteration;
  uint64_t end = i + desc->batch;
  do {
    l->iteration = i;
    l->slot = slot;
    l->args = (void *const *)args;
    kmb_status status = launch(user, l);
    if (__builtin_expect(status != KMB_OK, 0)) return status;
    args += step;
    if (++slot == slots) {
      slot = 0;
      args = first;
    }
  } while (++i != end);
  l->iteration = end;
  l->slot = slot;
  l->args = (void *const *)args;
  return KMB_OK;
}

/* Out of line, so that the loops look the same whoever calls. */
static __attribute__((noinline)) kmb_status
timed(const kmb_plan_desc *desc, kmb_launch *l, struct timespec t[2]) {
  kmb_status status = KMB_OK;
  if (desc->slots == 1) {
    kmb_launch_fn launch = desc->launch;
    void *user = desc->launch_user;
    uint64_t batch = desc->batch;
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    status = batch_of_one_slot(launch, user, l, batch);
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
  } else {
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    status = batch_of_slots(desc, l);
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
  }
  return status;
}

static kmb_status callback_failed(const kmbi_host *self, const char *which,
                                  kmb_status status, uint64_t iteration,
                                  const kmb_error *before) {
  const kmb_host *host = self->host;
  return host->callback_failed(host->ctx, before, which, status, iteration);
}

/* What comes before a launch and is not timed. */
static kmb_status before_launch(kmbi_host *self, plan *p,
                                const kmb_error *before) {
  const kmb_plan_desc *desc = &p->desc;
  if (desc->reset) {
    kmb_status status = desc->reset(desc->reset_user, p->slot, desc->stream);
    if (status)
      return callback_failed(self, "reset", status, p->iteration, before);
  }
  if (!p->cold) return KMB_OK;
  kmb_status status = kmbi_host_sweep(self);
  if (status) return status;
  const kmb_span *warm = desc->warm + (uint64_t)p->slot * desc->warm_count;
  for (uint64_t i = 0; i < desc->warm_count; i++)
    kmbi_host_touch(warm[i].pointer, warm[i].bytes);
  return KMB_OK;
}

static void store_sample(kmb_sample *sample, const struct timespec t[2],
                         uint32_t slot) {
  int64_t seconds = (int64_t)t[1].tv_sec - t[0].tv_sec;
  int64_t ns = (int64_t)t[1].tv_nsec - t[0].tv_nsec;
  double end = (double)t[1].tv_sec * 1e9 + (double)t[1].tv_nsec;
  *sample = (kmb_sample){.span_ns = (double)(seconds * 1000000000 + ns),
                         .end_ns = end,
                         .slot = slot};
}

static kmb_status take_sample(kmbi_host *self, plan *p, kmb_launch *l,
                              const kmb_error *before, kmb_sample *sample) {
  struct timespec t[2];
  uint32_t slot = p->slot;
  if (p->desc.reset || p->cold) {
    kmb_status status = before_launch(self, p, before);
    if (status) return status;
  }
  const kmb_align *align = p->desc.align;
  if (align) {
    kmb_status status = align->all_enqueued(align->ctx);
    if (status) return status;
  }
  kmb_status status = timed(&p->desc, l, t);
  if (status)
    return callback_failed(self, "launch", status, l->iteration, before);
  p->iteration = l->iteration;
  p->slot = l->slot;
  store_sample(sample, t, slot);
  return KMB_OK;
}

kmb_status kmbi_host_plan_run(void *opened, void *created, uint64_t count,
                              double until_ns, kmb_sample *samples,
                              uint64_t *got) {
  kmbi_host *self = opened;
  const kmb_host *host = self->host;
  plan *p = created;
  const kmb_plan_desc *desc = &p->desc;
  kmb_error before;
  kmb_launch l = {.struct_size = sizeof l,
                  .stream = desc->stream,
                  .arg_count = desc->arg_count,
                  .iteration = p->iteration,
                  .slot = p->slot,
                  .config = desc->config};
  *got = 0;
  if (p->cold && !self->sweep)
    return refuse(self, KMB_ERR_INVALID,
                  "COLD needs sweep_prepare() before samples are taken");
  l.args = desc->args ? desc->args + (uint64_t)p->slot * desc->arg_count : NULL;
  host->error_save(host->ctx, &before);
  while (*got < count) {
    if (host->cancelled(host->ctx)) break;
    if (kmbi_host_now(self) > until_ns) break;
    kmb_status status = take_sample(self, p, &l, &before, &samples[*got]);
    if (status) return status;
    ++*got;
  }
  return KMB_OK;
}
