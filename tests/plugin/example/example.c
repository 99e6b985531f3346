/* A complete backend: the calling thread is the device, its memory the
 * device's memory, CLOCK_MONOTONIC its only timer. */
#define _GNU_SOURCE
#include <kmb/backend.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

typedef struct device {
  const kmb_host *host; /* what the library offers; outlives the device */
  uint64_t llc_bytes;   /* 0: not known */
} device;

typedef struct plan {
  kmb_plan_desc desc;
  uint64_t next; /* iteration, over all runs: decides the slot */
} plan;

/* Every failure goes through here: the exact cause, and what to do. */
#define FAIL(d, ...) ((d)->host->fail((d)->host->ctx, __VA_ARGS__))

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static kmb_status ex_open(const kmb_host *host, const char *spec,
                          const kmb_device_params *params, void **self) {
  if (*spec)
    return host->fail(host->ctx, KMB_ERR_INVALID, 0,
                      "example: there is one device, not \"%s\"", spec);
  device *d = host->alloc(host->ctx, sizeof *d, _Alignof(device));
  if (!d) return host->fail(host->ctx, KMB_ERR_NOMEM, 0, "example: no memory");
  *d = (device){host, params->llc_bytes};
  *self = d;
  return KMB_OK;
}
static void ex_close(void *self) {
  device *d = self;
  d->host->free(d->host->ctx, d, sizeof *d);
}

/* What is not known is said to be unknown, never guessed. */
static kmb_status unknown(device *d) {
  return FAIL(d, KMB_ERR_UNAVAILABLE, 0, "example: not known here");
}
static kmb_status ex_attr_u64(void *self, kmb_device_attr attr, uint64_t *v) {
  device *d = self;
  *v = d->llc_bytes;
  return attr == KMB_DEVICE_LLC_BYTES && *v ? KMB_OK : unknown(d);
}
static kmb_status ex_attr_f64(void *self, kmb_device_attr attr, double *v) {
  double start = now_ns();
  if (attr != KMB_DEVICE_CLOCK_TICK_NS) return unknown(self);
  for (*v = 0; *v <= 0;)
    *v = now_ns() - start; /* the clock's step, or what it takes to read it */
  return KMB_OK;
}
static kmb_status ex_attr_text(void *self, kmb_device_attr a, const char **v) {
  *v = "the calling thread";
  return a == KMB_DEVICE_NAME ? KMB_OK : unknown(self);
}

static kmb_status ex_memory_available(void *self, uint64_t *bytes) {
  *bytes = (uint64_t)(sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE));
  return KMB_OK;
}

static kmb_status ex_alloc(void *self, uint64_t bytes, uint64_t align,
                           void **pointer) {
  device *d = self;
  if (d->host->device_alloc) /* the caller's own, if it gave one */
    return d->host->device_alloc(d->host->ctx, bytes, align, pointer);
  if (align < sizeof(void *)) align = sizeof(void *);
  if (posix_memalign(pointer, align, bytes) == 0) return KMB_OK;
  return FAIL(d, KMB_ERR_NOMEM, 0, "example: no memory for a buffer");
}
static void ex_free(void *self, void *pointer, uint64_t bytes) {
  device *d = self;
  if (d->host->device_alloc)
    d->host->device_free(d->host->ctx, pointer, bytes);
  else
    free(pointer);
}

static kmb_status ex_copy(void *self, void *to, const void *from, uint64_t n) {
  memcpy(to, from, n);
  return KMB_OK;
}
static kmb_status ex_set(void *self, void *to, uint64_t pattern, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    ((unsigned char *)to)[i] = (unsigned char)(pattern >> 8 * (i % 8));
  return KMB_OK;
}

static kmb_status ex_fill_random(void *self, const kmb_fill *fill) {
  unsigned short state[3] = {(unsigned short)fill->seed, 2, 3};
  if (fill->dtype != KMB_F32)
    return FAIL((device *)self, KMB_ERR_UNSUPPORTED, 0,
                "example: fills f32 only; use KMB_FILL_COPY");
  for (uint64_t i = 0; i < fill->bytes / sizeof(float); i++)
    ((float *)fill->pointer)[i] =
        (float)(fill->low + (fill->high - fill->low) * erand48(state));
  return KMB_OK;
}

/* Nothing runs asynchronously: there is no stream and nothing to wait for. */
static kmb_status ex_stream_open(void *self, void *callers, void **stream) {
  *stream = callers;
  return KMB_OK;
}
static void ex_stream_close(void *self, void *stream) {}
static kmb_status ex_stream_wait(void *self, void *stream, double limit_ns) {
  return KMB_OK;
}

static kmb_status ex_propose(void *self, const kmb_request *r, kmb_choice *c,
                             uint32_t capacity, uint32_t *count) {
  kmb_cache_state cache = r->cache;
  if (!cache) cache = r->cold_bytes ? KMB_CACHE_ROTATED : KMB_CACHE_WARM;
  if ((r->timer && r->timer != KMB_TIMER_HOST) || cache == KMB_CACHE_COLD ||
      r->launch_mode == KMB_LAUNCH_GRAPH || capacity == 0)
    return FAIL((device *)self, KMB_ERR_UNSUPPORTED, 0,
                "example: HOST on plain launches, not COLD");
  c[0] = (kmb_choice){KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, cache, 0};
  *count = 1;
  return KMB_OK;
}

static kmb_status ex_plan_create(void *self, const kmb_plan_desc *desc,
                                 void **out) {
  device *d = self;
  plan *p = d->host->alloc(d->host->ctx, sizeof *p, _Alignof(plan));
  if (!p) return FAIL(d, KMB_ERR_NOMEM, 0, "example: no memory for a plan");
  *p = (plan){*desc, 0};
  *out = p;
  return KMB_OK;
}

static kmb_status take(plan *p, uint64_t *iteration, kmb_sample *s) {
  const kmb_plan_desc *d = &p->desc;
  kmb_launch l = {sizeof l, d->stream, NULL, d->arg_count, 0, 0, d->config};
  kmb_status status = KMB_OK;
  *s = (kmb_sample){.slot = (d->first_slot + p->next) % d->slots};
  if (d->reset) status = d->reset(d->reset_user, s->slot, d->stream);
  double start = now_ns();
  for (uint64_t i = 0; !status && i < d->batch; i++) {
    l.slot = (d->first_slot + p->next++) % d->slots;
    l.args = d->args ? d->args + l.slot * d->arg_count : NULL;
    l.iteration = (*iteration)++;
    status = d->launch(d->launch_user, &l);
  }
  s->end_ns = now_ns();
  s->span_ns = s->end_ns - start;
  return status; /* a callback's, unchanged */
}

static kmb_status ex_plan_run(void *self, void *p, uint64_t count, double until,
                              kmb_sample *samples, uint64_t *got) {
  device *d = self;
  uint64_t iteration = 0;
  kmb_status status = KMB_OK;
  for (*got = 0; *got < count && now_ns() < until; ++*got) {
    if (d->host->cancelled(d->host->ctx)) break;
    if ((status = take(p, &iteration, &samples[*got]))) break;
  }
  return status;
}
static void ex_plan_destroy(void *self, void *p) {
  device *d = self;
  d->host->free(d->host->ctx, p, sizeof(plan));
}

static void ex_describe(void *self, kmb_emit_fn emit, void *user) {
  emit(user, "device.driver", NULL, "the example needs none");
}

/* Left out, as is allowed: now and sleep, sweep_prepare (so no COLD), bias (so
 * UNCALIBRATED where a bias matters), ceiling, telemetry. */
#define OP(slot) .slot = ex_##slot
/* clang-format off */
static const kmb_backend_ops ops = {
    .struct_size = sizeof ops, .abi = KMB_BACKEND_ABI, .name = "example",
    .read = ex_copy, .write = ex_copy,
    OP(open), OP(close), OP(attr_u64), OP(attr_f64), OP(attr_text),
    OP(memory_available), OP(alloc), OP(free), OP(set), OP(fill_random),
    OP(stream_open), OP(stream_close), OP(stream_wait), OP(propose),
    OP(plan_create), OP(plan_run), OP(plan_destroy), OP(describe)};
/* clang-format on */

const kmb_backend_ops *kmb_backend_entry_1(void) {
  return &ops;
}
