/* Ceilings: the best that several kernels reach, memory beyond the caches. */
#include "host.h"

#include <sched.h>
#include <stdatomic.h>

#include "kernels.h"

enum {
  MOST_KERNELS = 32,
  FINALISTS = 2,
  TRIES = 3,       /* windows of each kernel before the choice */
  REPETITIONS = 8, /* windows of each finalist, more while time is left */
  MOST_REPETITIONS = 64
};
#define MIB ((uint64_t)1 << 20)
#define CHOICE_NS 3e8 /* limits in which the choice and a final are made */
#define FINAL_NS 1e8

/* What one thread works on, on cache lines of its own. */
typedef struct lane {
  uint64_t from, to, at; /* bytes of each array */
  double start, end;     /* of the last window, by the clock */
  double sum;            /* results, so that the work is done */
  uint64_t bits;
  char apart[72];
} lane;

typedef struct race {
  kmbi_host *self;
  lane *lanes;
  unsigned char *block;
  uint64_t block_bytes;
  uint64_t array_bytes;
  uint64_t stride;             /* from one array to the next */
  const kmbi_host_kernel *now; /* the kernel that runs */
  uint64_t amount;             /* bytes of each array, or rounds */
  atomic_uint arrived;
  kmb_ceiling_kind kind;
  kmb_dtype dtype;
  uint32_t threads;
  uint32_t arrays;
} race;

/* All start together: waking up is no part of the time. */
static void line_up(race *r, uint32_t parts) {
  atomic_fetch_add(&r->arrived, 1);
  for (uint32_t spins = 0; atomic_load(&r->arrived) < parts; spins++)
    if (spins > 1000) sched_yield();
}

static void stream_window(race *r, lane *l) {
  unsigned char *base = r->block;
  uint64_t left = r->amount;
  while (left) {
    uint64_t bytes = l->to - l->at < left ? l->to - l->at : left;
    l->bits |= r->now->stream(
        base + l->at, base + r->stride * (r->arrays > 1) + l->at,
        base + r->stride * (r->arrays - 1) + l->at, (size_t)bytes);
    l->at = l->at + bytes == l->to ? l->from : l->at + bytes;
    left -= bytes;
  }
}

static void window_part(void *arg, uint32_t part, uint32_t parts) {
  race *r = arg;
  lane *l = &r->lanes[part];
  line_up(r, parts);
  l->start = kmbi_host_now(NULL);
  if (r->now->fma)
    l->sum = r->now->fma(r->amount);
  else
    stream_window(r, l);
  l->end = kmbi_host_now(NULL);
}

/* Bytes or operations of one window of all threads. */
static double work_of(const race *r) {
  double each = r->now->fma ? r->now->flops : (double)r->arrays;
  return each * (double)r->amount * r->threads;
}

/* One window; `rate` is per second. */
static kmb_status window(race *r, const kmbi_host_kernel *kernel,
                         double *rate) {
  const kmb_host *host = r->self->host;
  r->now = kernel;
  atomic_store(&r->arrived, 0);
  if (host->cancelled(host->ctx))
    return KMBI_HOST_FAIL(r->self, KMB_ERR_CANCELLED, 0,
                          "host: cancelled while measuring a ceiling");
  kmb_status status = kmbi_host_pool_run(r->self, r->threads, window_part, r);
  if (status) return status;
  double start = r->lanes[0].start;
  double end = r->lanes[0].end;
  for (uint32_t i = 1; i < r->threads; i++) {
    if (r->lanes[i].start < start) start = r->lanes[i].start;
    if (r->lanes[i].end > end) end = r->lanes[i].end;
  }
  *rate = end > start ? work_of(r) / (end - start) * 1e9 : 0;
  return KMB_OK;
}

/* The kernels that this processor can run. */
static uint32_t field(const race *r, const kmbi_host_kernel **kernels) {
  kmbi_host_isa best = kmbi_host_isa_best();
  uint32_t count = 0;
  for (int table = 0; table < 2; table++) {
    size_t size = 0;
    const kmbi_host_kernel *k = table ? kmbi_host_kernels_x86(&size)
                                      : kmbi_host_kernels_portable(&size);
    for (size_t i = 0; i < size; i++)
      if (k[i].kind == r->kind && k[i].dtype == r->dtype && k[i].isa <= best &&
          count < MOST_KERNELS)
        kernels[count++] = &k[i];
  }
  return count;
}

/* Puts the fastest kernels first. */
static kmb_status choose(race *r, const kmbi_host_kernel **kernels,
                         uint32_t count) {
  double best[MOST_KERNELS] = {0};
  double until = kmbi_host_now(NULL) + CHOICE_NS;
  for (int i = 0; i < TRIES; i++)
    for (uint32_t k = 0; k < count; k++) {
      double rate = 0;
      if (i > 0 && kmbi_host_now(NULL) > until) break;
      kmb_status status = window(r, kernels[k], &rate);
      if (status) return status;
      if (rate > best[k]) best[k] = rate;
    }
  for (uint32_t i = 0; i < FINALISTS && i < count; i++)
    for (uint32_t k = i + 1; k < count; k++)
      if (best[k] > best[i]) {
        const kmbi_host_kernel *kernel = kernels[k];
        double rate = best[k];
        kernels[k] = kernels[i];
        best[k] = best[i];
        kernels[i] = kernel;
        best[i] = rate;
      }
  return KMB_OK;
}

/* Once through everything, so that what the caches hold, and owe to memory, is
 * this kernel's own; then windows that count. */
static kmb_status final(race *r, const kmbi_host_kernel *kernel,
                        kmb_ceiling *ceiling) {
  double low = 0;
  double high = 0;
  double rate = 0;
  uint64_t amount = r->amount;
  if (!kernel->fma) r->amount = r->array_bytes / r->threads;
  kmb_status status = window(r, kernel, &rate);
  r->amount = amount;
  double until = kmbi_host_now(NULL) + FINAL_NS;
  for (int i = 0; i < MOST_REPETITIONS && !status; i++) {
    if (i >= REPETITIONS && kmbi_host_now(NULL) > until) break;
    status = window(r, kernel, &rate);
    if (i == 0 || rate < low) low = rate;
    if (i == 0 || rate > high) high = rate;
  }
  if (status || high <= ceiling->value) return status;
  ceiling->value = ceiling->high = high;
  ceiling->low = low;
  ceiling->variant = kernel->name;
  return KMB_OK;
}

/* Rounds for which a window is long against the clock and a wake-up. */
static kmb_status size_rounds(race *r, const kmbi_host_kernel *kernel) {
  double rate = 0;
  for (r->amount = 1024; r->amount < UINT64_MAX / 4; r->amount *= 2) {
    kmb_status status = window(r, kernel, &rate);
    if (status) return status;
    if (rate > 0 && work_of(r) / rate >= 2e-3) break;
  }
  return KMB_OK;
}

static kmb_status run_race(race *r, kmb_ceiling *ceiling) {
  const kmbi_host_kernel *kernels[MOST_KERNELS];
  uint32_t count = field(r, kernels);
  kmb_status status = KMB_OK;
  if (count == 0)
    return KMBI_HOST_FAIL(r->self, KMB_ERR_UNSUPPORTED, 0,
                          "host: has no kernel for this ceiling");
  if (r->kind == KMB_CEILING_FMA) status = size_rounds(r, kernels[count - 1]);
  if (!status) status = choose(r, kernels, count);
  ceiling->value = 0;
  for (uint32_t i = 0; i < FINALISTS && i < count && !status; i++)
    status = final(r, kernels[i], ceiling);
  if (!status && ceiling->value <= 0)
    return KMBI_HOST_FAIL(r->self, KMB_ERR_UNAVAILABLE, 0,
                          "host: the clock did not advance while a ceiling was "
                          "measured");
  return status;
}

/* The memory of a thread is first touched by it. */
static void touch_part(void *arg, uint32_t part, uint32_t parts) {
  race *r = arg;
  lane *l = &r->lanes[part];
  (void)parts;
  for (uint32_t i = 0; i < r->arrays; i++)
    memset(r->block + r->stride * i + l->from, 1, (size_t)(l->to - l->from));
}

/* At least twice the last-level cache, all arrays together. */
static kmb_status size_arrays(race *r) {
  kmbi_host *self = r->self;
  uint64_t llc = 0;
  uint64_t room = 0;
  kmb_status status = kmbi_host_llc(self, r->threads, &llc);
  if (!status) status = kmbi_host_memory_available(self, &room);
  if (status) return status;
  uint64_t least = (uint64_t)r->threads * 16 * KMBI_HOST_GRAIN;
  uint64_t each = llc / r->arrays * 2 + 2;
  if (each < least) each = least;
  if (llc > UINT64_MAX / 8 || each * r->arrays > room / 2)
    return KMBI_HOST_FAIL(
        self, KMB_ERR_NOMEM, 0,
        "host: a ceiling needs twice the last-level cache of %llu bytes, more "
        "than half of the %llu bytes available; free memory",
        (unsigned long long)llc, (unsigned long long)room);
  /* Cannot overflow after the check. */
  (void)kmbi_host_round_up(each, KMBI_HOST_GRAIN, &r->array_bytes);
  r->stride = r->array_bytes + 33ULL * KMBI_HOST_LINE;
  r->block_bytes = r->stride * r->arrays;
  for (uint32_t i = 0; i < r->threads; i++) {
    lane *l = &r->lanes[i];
    l->from = l->at =
        kmbi_host_cut(r->array_bytes, KMBI_HOST_GRAIN, i, r->threads);
    l->to = kmbi_host_cut(r->array_bytes, KMBI_HOST_GRAIN, i + 1, r->threads);
  }
  /* Windows move on through the arrays: each finds its bytes as cold as the
   * one before did. */
  r->amount = r->lanes[0].to / 8;
  if (r->amount < 2 * MIB) r->amount = 2 * MIB;
  if (r->amount > 32 * MIB) r->amount = 32 * MIB;
  r->amount -= r->amount % KMBI_HOST_GRAIN;
  return KMB_OK;
}

static kmb_status race_memory(race *r, kmb_ceiling *ceiling) {
  void *block = NULL;
  kmb_status status = size_arrays(r);
  if (!status)
    status = kmbi_host_alloc(r->self, r->block_bytes, KMBI_HOST_GRAIN, &block);
  if (status) return status;
  r->block = block;
  status = kmbi_host_pool_run(r->self, r->threads, touch_part, r);
  if (!status) status = run_race(r, ceiling);
  if (!status) ceiling->bytes = r->array_bytes * r->arrays;
  kmbi_host_free(r->self, block, r->block_bytes);
  return status;
}

static kmb_status check(kmbi_host *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                        uint32_t threads) {
  if (kind == KMB_CEILING_MATRIX || kind == KMB_CEILING_MEMORY)
    return KMBI_HOST_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "host: measures read, copy, triad and FMA, nothing "
                          "of a host's %s",
                          kind == KMB_CEILING_MATRIX ? "matrix units"
                                                     : "memory interface");
  if (kind < KMB_CEILING_READ || kind > KMB_CEILING_FMA)
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: no ceiling has number %d", (int)kind);
  if (kind == KMB_CEILING_FMA && dtype != KMB_F32 && dtype != KMB_F64)
    return KMBI_HOST_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "host: measures the arithmetic of f32 and f64, not "
                          "of %s",
                          kmb_dtype_name(dtype));
  if (threads > self->core_count)
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: a ceiling of %u threads asked for, but this "
                          "process may run on %u cores",
                          (unsigned)threads, (unsigned)self->core_count);
  return KMB_OK;
}

kmb_status kmbi_host_ceiling(void *opened, kmb_ceiling_kind kind,
                             kmb_dtype dtype, uint32_t threads,
                             kmb_ceiling *ceiling) {
  kmbi_host *self = opened;
  const kmb_host *host = self->host;
  kmb_status status = check(self, kind, dtype, threads);
  if (status) return status;
  race r = {.self = self,
            .kind = kind,
            .dtype = kind == KMB_CEILING_FMA ? dtype : 0,
            .threads = threads ? threads : self->threads,
            .arrays = kind == KMB_CEILING_READ   ? 1
                      : kind == KMB_CEILING_COPY ? 2
                                                 : 3};
  size_t size = r.threads * sizeof *r.lanes;
  r.lanes = host->alloc(host->ctx, size, KMBI_HOST_LINE);
  if (!r.lanes)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory for a ceiling of %u threads",
                          (unsigned)r.threads);
  memset(r.lanes, 0, size);
  kmb_ceiling found = {.kind = kind,
                       .dtype = r.dtype,
                       .threads = r.threads,
                       .source = KMB_SOURCE_MEASURED};
  status =
      kind == KMB_CEILING_FMA ? run_race(&r, &found) : race_memory(&r, &found);
  host->free(host->ctx, r.lanes, size);
  if (status) return status;
  found.struct_size = ceiling->struct_size;
  *ceiling = found;
  return KMB_OK;
}
