/* Measured ceilings: several ways to do the same, each timed as the engine
 * times a kernel, on memory far beyond the L2. */
#include "ceilings.h"

#include "unpack.h"

enum {
  BLOCK = 512, /* of ceilings.cu */
  FMA_BLOCK = 256,
  WORDS = 8, /* most of a tile, of each thread */
  TRIES = 3, /* samples of each entrant before the choice */
  FINALISTS = 2,
  LEAST = 10, /* samples of a final, */
  MOST = 100, /* more while time is left */
  ENTRANTS = 4
};
#define MIB ((uint64_t)1 << 20)
#define LARGEST (4096 * MIB) /* of one array */
#define BEYOND 8             /* arrays at least so many times the cache */
#define FINAL_NS 100e6
#define FMA_NS 1e6 /* about so long is a launch of arithmetic */
/* Of a round of a thread: 2 · CHAINS · STEPS of ceilings.cu. */
#define ROUND_FLOPS 512.0

/* The race. */

static bool is_no_tracer(kmb_status status) {
  return status == KMB_ERR_BUSY || status == KMB_ERR_UNAVAILABLE ||
         status == KMB_ERR_UNSUPPORTED || status == KMB_ERR_PERM;
}

/* A plan of the entrant: TRACE, or where nothing can trace, EVENT, which reads
 * some microseconds too much of a launch of a millisecond. */
static kmb_status open_plan(kmbi_cuda *self, const kmbi_cuda_entrant *e,
                            kmbi_cu_stream stream, void **plan) {
  kmb_plan_desc desc = {
      .struct_size = sizeof desc,
      .launch = e->launch,
      .launch_user = e->user,
      .stream = stream,
      .batch = 1,
      .slots = 1,
      .choice = {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM, 0},
  };
  kmb_status status = kmbi_cuda_plan_create(self, &desc, plan);
  if (!is_no_tracer(status)) return status;
  desc.choice.timer = KMB_TIMER_EVENT;
  return kmbi_cuda_plan_create(self, &desc, plan);
}

typedef struct times {
  double least, most;
} times;

/* Takes samples into `t`; at least `least`, more until `until`. */
static kmb_status take(kmbi_cuda *self, void *plan, uint64_t least,
                       uint64_t most, double until, times *t) {
  kmb_sample samples[LEAST];
  uint64_t taken = 0;
  while (taken < most && (taken < least || kmbi_cuda_now() < until)) {
    uint64_t got = 0;
    uint64_t wanted = least < LEAST ? least : LEAST;
    if (self->host->cancelled(self->host->ctx))
      return KMBI_CUDA_FAIL(self, KMB_ERR_CANCELLED, 0,
                            "cuda: cancelled while measuring a ceiling");
    kmb_status status = kmbi_cuda_plan_run(
        self, plan, wanted, kmbi_cuda_now() + 1e18, samples, &got);
    if (status) return status;
    taken += wanted;
    for (uint64_t i = 0; i < got; i++) {
      double ns = samples[i].span_ns;
      if (samples[i].flags || !(ns > 0)) continue;
      if (!(t->least > 0) || ns < t->least) t->least = ns;
      if (ns > t->most) t->most = ns;
    }
  }
  return KMB_OK;
}

static kmb_status run(kmbi_cuda *self, const kmbi_cuda_entrant *e, bool last,
                      times *t) {
  kmbi_cu_stream stream = NULL;
  void *plan = NULL;
  times warm = {0, 0};
  *t = warm;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = open_plan(self, e, stream, &plan);
  if (status) return status;
  status = take(self, plan, 1, 1, 0, &warm);
  if (!status && last)
    status = take(self, plan, LEAST, MOST, kmbi_cuda_now() + FINAL_NS, t);
  else if (!status)
    status = take(self, plan, TRIES, TRIES, 0, t);
  kmbi_cuda_plan_destroy(self, plan);
  return status;
}

/* Puts the fastest first. What says that it cannot run this is no candidate. */
static kmb_status choose(kmbi_cuda *self, kmbi_cuda_entrant *entrants,
                         size_t count) {
  for (size_t i = 0; i < count; i++) {
    times t;
    kmb_status status = run(self, &entrants[i], false, &t);
    if (status && status != KMB_ERR_UNSUPPORTED) return status;
    entrants[i].best = status ? 0 : t.least;
  }
  for (size_t i = 0; i < FINALISTS && i < count; i++)
    for (size_t k = i + 1; k < count; k++) {
      double a = entrants[i].best, b = entrants[k].best;
      if (!(b > 0) || (a > 0 && a <= b)) continue;
      kmbi_cuda_entrant faster = entrants[k];
      entrants[k] = entrants[i];
      entrants[i] = faster;
    }
  return KMB_OK;
}

kmb_status kmbi_cuda_race(kmbi_cuda *self, kmbi_cuda_entrant *entrants,
                          size_t count, kmb_ceiling *ceiling) {
  kmb_status status = choose(self, entrants, count);
  for (size_t i = 0; !status && i < FINALISTS && i < count; i++) {
    const kmbi_cuda_entrant *e = &entrants[i];
    times t;
    if (!(e->best > 0)) break;
    status = run(self, e, true, &t);
    if (status || !(t.least > 0)) continue;
    double high = e->amount / t.least * 1e9;
    if (high <= ceiling->value) continue;
    ceiling->value = ceiling->high = high;
    ceiling->low = e->amount / t.most * 1e9;
    ceiling->variant = e->name;
  }
  if (!status && !(ceiling->value > 0))
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "cuda: no sample of a ceiling is valid");
  return status;
}

/* Our kernels. */

typedef struct bench {
  kmbi_cuda *self;
  kmbi_cu_module module;
  kmbi_cu_pointer from, to; /* of memory */
  uint64_t bytes;           /* of one array */
  uint64_t rounds;          /* of arithmetic */
  unsigned units;
  kmb_dtype dtype;
} bench;

typedef struct way { /* what an entrant does */
  bench *b;
  kmbi_cu_function kernel; /* NULL: the driver's copy */
  unsigned blocks;         /* of each unit */
} way;

static kmb_status launch_grid(const way *w, void *stream, unsigned threads,
                              void **arguments) {
  kmbi_cuda *self = w->b->self;
  return KMBI_CU(self, cuLaunchKernel, w->kernel, w->blocks * w->b->units, 1, 1,
                 threads, 1, 1, 0, stream, arguments, NULL);
}

static kmb_status launch_read(void *user, const kmb_launch *l) {
  const way *w = user;
  uint64_t count = w->b->bytes / 16;
  void *arguments[] = {&w->b->from, &count, &w->b->self->space->scratch};
  return launch_grid(w, l->stream, BLOCK, arguments);
}

static kmb_status launch_copy(void *user, const kmb_launch *l) {
  const way *w = user;
  kmbi_cuda *self = w->b->self;
  uint64_t count = w->b->bytes / 16;
  if (!w->kernel)
    return KMBI_CU(self, cuMemcpyDtoDAsync, w->b->to, w->b->from,
                   (size_t)w->b->bytes, l->stream);
  void *arguments[] = {&w->b->from, &w->b->to, &count};
  return launch_grid(w, l->stream, BLOCK, arguments);
}

static kmb_status launch_fma(void *user, const kmb_launch *l) {
  const way *w = user;
  /* 1 and 0 of each type: no sum overflows. */
  uint32_t f16[] = {0x3c003c00u, 0};
  float f32[] = {1, 0};
  double f64[] = {1, 0};
  void *a = f16, *b = f16 + 1;
  if (w->b->dtype == KMB_F32) a = f32, b = f32 + 1;
  if (w->b->dtype == KMB_F64) a = f64, b = f64 + 1;
  void *arguments[] = {&w->b->rounds, a, b, &w->b->self->space->scratch};
  return launch_grid(w, l->stream, FMA_BLOCK, arguments);
}

static kmb_status find(const bench *b, const char *name, way *w) {
  kmbi_cuda *self = b->self;
  return KMBI_CU(self, cuModuleGetFunction, &w->kernel, b->module, name);
}

/* Reading and copying. */

static const struct {
  const char *kernel, *name;
  unsigned blocks;
} reads[] = {{"kmb_read_4", "4 words a thread, 8 blocks a unit", 8},
             {"kmb_read_4", "4 words a thread, 32 blocks a unit", 32},
             {"kmb_read_8", "8 words a thread, 8 blocks a unit", 8},
             {"kmb_read_8", "8 words a thread, 32 blocks a unit", 32}},
  copies[] = {{NULL, "the driver's copy", 1},
              {"kmb_copy_2", "2 words a thread, 32 blocks a unit", 32},
              {"kmb_copy_4", "4 words a thread, 8 blocks a unit", 8},
              {"kmb_copy_4", "4 words a thread, 32 blocks a unit", 32}};

static kmb_status race_memory(bench *b, bool copy, kmb_ceiling *ceiling) {
  way ways[ENTRANTS];
  kmbi_cuda_entrant entrants[ENTRANTS];
  kmb_status status = KMB_OK;
  for (int i = 0; !status && i < ENTRANTS; i++) {
    const char *kernel = copy ? copies[i].kernel : reads[i].kernel;
    ways[i] = (way){b, NULL, copy ? copies[i].blocks : reads[i].blocks};
    entrants[i] = (kmbi_cuda_entrant){
        copy ? copies[i].name : reads[i].name, copy ? launch_copy : launch_read,
        &ways[i], (double)b->bytes * (copy ? 2 : 1), 0};
    if (kernel) status = find(b, kernel, &ways[i]);
  }
  return status ? status : kmbi_cuda_race(b->self, entrants, ENTRANTS, ceiling);
}

/* Whole tiles, at most an eighth of what is free. */
static kmb_status size_arrays(bench *b) {
  kmbi_cuda *self = b->self;
  const uint64_t tile = (uint64_t)BLOCK * WORDS * 16;
  uint64_t llc = 0, room = 0;
  kmb_status status = kmbi_cuda_attr_u64(self, KMB_DEVICE_LLC_BYTES, &llc);
  if (!status) status = kmbi_cuda_memory_available(self, &room);
  if (status) return status;
  b->bytes = room / 8 < LARGEST ? room / 8 : LARGEST;
  b->bytes -= b->bytes % tile;
  if (b->bytes && llc <= b->bytes / BEYOND) return KMB_OK;
  return KMBI_CUDA_FAIL(
      self, KMB_ERR_NOMEM, 0,
      "cuda:%d: a ceiling of memory needs arrays of %d times the last-level "
      "cache of %llu bytes; an eighth of the %llu bytes available is less: "
      "free memory",
      self->ordinal, BEYOND, (unsigned long long)llc, (unsigned long long)room);
}

static kmb_status measure_memory(bench *b, bool copy, kmb_ceiling *ceiling) {
  kmbi_cuda *self = b->self;
  void *block = NULL;
  kmb_status status = size_arrays(b);
  if (status) return status;
  uint64_t bytes = copy ? 2 * b->bytes : b->bytes;
  status = kmbi_cuda_alloc(self, bytes, 4096, &block);
  if (status) return status;
  b->from = (kmbi_cu_pointer)(uintptr_t)block;
  b->to = b->from + b->bytes;
  /* No zeros: memory may store them, and links send them, in less. */
  status = kmbi_cuda_set(self, block, UINT64_C(0x9e3779b97f4a7c15), bytes);
  if (!status) status = race_memory(b, copy, ceiling);
  kmbi_cuda_free(self, block, bytes);
  ceiling->bytes = bytes;
  return status;
}

/* Arithmetic. */

static kmb_status measure_fma(bench *b, kmb_ceiling *ceiling) {
  static const unsigned blocks[] = {4, 8};
  way ways[2];
  kmbi_cuda_entrant entrants[2];
  kmbi_cuda *self = b->self;
  const char *name = b->dtype == KMB_F64   ? "kmb_fma_f64"
                     : b->dtype == KMB_F32 ? "kmb_fma_f32"
                                           : "kmb_fma_f16";
  double flops = ROUND_FLOPS * (b->dtype == KMB_F16 ? 2 : 1);
  /* As if a unit did 256 operations a clock. */
  b->rounds =
      kmbi_cuda_cycles(self, FMA_NS) * 256 / (uint64_t)(flops * FMA_BLOCK * 4) +
      1;
  kmb_status status = KMB_OK;
  for (int i = 0; !status && i < 2; i++) {
    ways[i] = (way){b, NULL, blocks[i]};
    double threads = (double)FMA_BLOCK * blocks[i] * b->units;
    entrants[i] = (kmbi_cuda_entrant){i ? "16 chains a thread, 64 warps a unit"
                                        : "16 chains a thread, 32 warps a unit",
                                      launch_fma, &ways[i],
                                      flops * (double)b->rounds * threads, 0};
    status = find(b, name, &ways[i]);
  }
  return status ? status : kmbi_cuda_race(self, entrants, 2, ceiling);
}

static kmb_status measure_own(kmbi_cuda *self, kmb_ceiling_kind kind,
                              kmb_dtype dtype, kmb_ceiling *ceiling) {
  bench b = {.self = self, .dtype = dtype};
  uint64_t units = 0;
  kmb_status status = kmbi_cuda_attr_u64(self, KMB_DEVICE_UNITS, &units);
  if (!status) status = kmbi_cuda_space_module(self); /* for its scratch */
  if (!status)
    status =
        kmbi_cuda_load_packed(self, kmbi_cuda_ceilings_ptx_packed, &b.module);
  if (status) return status;
  b.units = (unsigned)units;
  status = kind == KMB_CEILING_FMA
               ? measure_fma(&b, ceiling)
               : measure_memory(&b, kind == KMB_CEILING_COPY, ceiling);
  if (!self->lost) (void)self->driver->cuModuleUnload(b.module);
  return status;
}

static kmb_status no_such(kmbi_cuda *self, kmb_ceiling_kind kind,
                          kmb_dtype dtype) {
  const char *name = kmb_dtype_name(dtype);
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                        "cuda: no ceiling of kind %d%s%s is measured: there "
                        "are READ, COPY, FMA of f32, f64 and f16, and MATRIX",
                        (int)kind, dtype ? " and type " : "",
                        dtype && name ? name : "");
}

kmb_status kmbi_cuda_ceiling(void *opened, kmb_ceiling_kind kind,
                             kmb_dtype dtype, uint32_t threads,
                             kmb_ceiling *ceiling) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  bool memory = kind == KMB_CEILING_READ || kind == KMB_CEILING_COPY;
  bool fma = kind == KMB_CEILING_FMA &&
             (dtype == KMB_F32 || dtype == KMB_F64 || dtype == KMB_F16);
  if (threads)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0,
                          "cuda: a GPU's ceilings are of all of it; ask for 0 "
                          "threads");
  if (!memory && !fma && kind != KMB_CEILING_MATRIX)
    return no_such(self, kind, dtype);
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status)
    status = kind == KMB_CEILING_MATRIX
                 ? kmbi_cuda_ceiling_matrix(self, dtype, ceiling)
                 : measure_own(self, kind, dtype, ceiling);
  kmbi_cuda_leave(self, before);
  return status;
}
