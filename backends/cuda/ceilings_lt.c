/* The matrix units' ceiling: the fastest of the candidates that cuBLASLt
 * itself proposes for one large product. What they reach is no limit. */
#include "ceilings.h"

enum {
  LARGEST = 8192, /* rows and columns */
  SMALLEST = 512,
  CANDIDATES = 16, /* of each way to lie in memory */
  WAYS = 2         /* A transposed or not */
};
#define WORKSPACE ((size_t)32 << 20) /* NVIDIA's advice for sm_90 */

typedef struct types {
  kmb_dtype dtype;
  kmbi_lt_enum in, out, compute, scale;
  unsigned in_bytes, out_bytes;
} types;

static const types known[] = {
    {KMB_F64, KMBI_LT_F64, KMBI_LT_F64, KMBI_LT_COMPUTE_F64, KMBI_LT_F64, 8, 8},
    {KMB_F32, KMBI_LT_F32, KMBI_LT_F32, KMBI_LT_COMPUTE_F32, KMBI_LT_F32, 4, 4},
    {KMB_TF32, KMBI_LT_F32, KMBI_LT_F32, KMBI_LT_COMPUTE_TF32, KMBI_LT_F32, 4,
     4},
    {KMB_F16, KMBI_LT_F16, KMBI_LT_F16, KMBI_LT_COMPUTE_F32, KMBI_LT_F32, 2, 2},
    {KMB_BF16, KMBI_LT_BF16, KMBI_LT_BF16, KMBI_LT_COMPUTE_F32, KMBI_LT_F32, 2,
     2},
    {KMB_F8_E4M3, KMBI_LT_E4M3, KMBI_LT_BF16, KMBI_LT_COMPUTE_F32, KMBI_LT_F32,
     1, 2},
    {KMB_I8, KMBI_LT_I8, KMBI_LT_I32, KMBI_LT_COMPUTE_I32, KMBI_LT_I32, 1, 4},
};

typedef struct lt lt;
/* One candidate. */
typedef struct way {
  lt *l;
  kmbi_lt_matmul matmul;
  kmbi_lt_candidate candidate;
} way;

struct lt {
  kmbi_cuda *self;
  const kmbi_lt_api *api;
  const types *t;
  kmbi_lt_handle handle;
  kmbi_lt_matmul matmuls[WAYS];
  kmbi_lt_layout in, out;
  kmbi_lt_wish wish;
  void *memory; /* A, B, D, then the workspace */
  uint64_t bytes, n;
  size_t count;
  way ways[WAYS * CANDIDATES];
  kmbi_cuda_entrant entrants[WAYS * CANDIDATES];
};

static kmb_status check(kmbi_cuda *self, kmbi_lt_result result,
                        const char *call) {
  kmb_status status = KMB_ERR_VENDOR;
  if (result == KMBI_LT_SUCCESS) return KMB_OK;
  if (result == KMBI_LT_ALLOC_FAILED) status = KMB_ERR_NOMEM;
  if (result == KMBI_LT_NOT_SUPPORTED || result == KMBI_LT_ARCH_MISMATCH)
    status = KMB_ERR_UNSUPPORTED;
  return KMBI_CUDA_FAIL(self, status, (int64_t)result,
                        "%s failed with cuBLAS's status %u", call, result);
}
#define LT(l, name, ...) check((l)->self, (l)->api->name(__VA_ARGS__), #name)

static unsigned char *part(const lt *l, int which) {
  uint64_t in = l->n * l->n * l->t->in_bytes;
  uint64_t out = l->n * l->n * l->t->out_bytes;
  uint64_t offsets[] = {0, in, 2 * in, 2 * in + out};
  return (unsigned char *)l->memory + offsets[which];
}

static kmb_status launch(void *user, const kmb_launch *launch) {
  const way *w = user;
  lt *l = w->l;
  union {
    double f64;
    float f32;
    int32_t i32;
  } one, zero;
  memset(&zero, 0, sizeof zero);
  one = zero;
  if (l->t->scale == KMBI_LT_F64)
    one.f64 = 1;
  else if (l->t->scale == KMBI_LT_F32)
    one.f32 = 1;
  else
    one.i32 = 1;
  return LT(l, cublasLtMatmul, l->handle, w->matmul, &one, part(l, 0), l->in,
            part(l, 1), l->in, &zero, part(l, 2), l->out, part(l, 2), l->out,
            &w->candidate.algorithm, part(l, 3), WORKSPACE, launch->stream);
}

/* The largest square that leaves three quarters of the memory free. */
static kmb_status take_memory(lt *l) {
  kmbi_cuda *self = l->self;
  uint64_t room = 0;
  kmb_status status = kmbi_cuda_memory_available(self, &room);
  if (status) return status;
  uint64_t each = 2 * l->t->in_bytes + l->t->out_bytes;
  l->n = LARGEST;
  while (l->n > SMALLEST && l->n * l->n * each + WORKSPACE > room / 4)
    l->n /= 2;
  l->bytes = l->n * l->n * each + WORKSPACE;
  if (l->bytes > room / 2)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "cuda:%d: a product of %d x %d needs more than half "
                          "of the %llu bytes available; free memory",
                          self->ordinal, SMALLEST, SMALLEST,
                          (unsigned long long)room);
  status = kmbi_cuda_alloc(self, l->bytes, 4096, &l->memory);
  /* Random contents: products of zeros draw less power and clock higher. */
  kmb_fill fill = {.struct_size = sizeof fill,
                   .pointer = l->memory,
                   .bytes = 2 * l->n * l->n * l->t->in_bytes,
                   .seed = 1,
                   .low = l->t->dtype == KMB_I8 ? -127 : -1,
                   .high = l->t->dtype == KMB_I8 ? 127 : 1,
                   .dtype = l->t->dtype == KMB_TF32 ? KMB_F32 : l->t->dtype};
  return status ? status : kmbi_cuda_fill_random(self, &fill);
}

static kmb_status describe(lt *l) {
  const size_t most = WORKSPACE;
  const types *t = l->t;
  int64_t leading = (int64_t)l->n;
  kmb_status status = LT(l, cublasLtCreate, &l->handle);
  if (!status)
    status =
        LT(l, cublasLtMatrixLayoutCreate, &l->in, t->in, l->n, l->n, leading);
  if (!status)
    status =
        LT(l, cublasLtMatrixLayoutCreate, &l->out, t->out, l->n, l->n, leading);
  if (!status) status = LT(l, cublasLtMatmulPreferenceCreate, &l->wish);
  if (!status)
    status = LT(l, cublasLtMatmulPreferenceSetAttribute, l->wish,
                KMBI_LT_MOST_WORKSPACE, &most, sizeof most);
  for (int i = 0; !status && i < WAYS; i++) {
    int32_t how = i ? KMBI_LT_PLAIN : KMBI_LT_TRANSPOSED;
    status =
        LT(l, cublasLtMatmulDescCreate, &l->matmuls[i], t->compute, t->scale);
    if (!status)
      status = LT(l, cublasLtMatmulDescSetAttribute, l->matmuls[i],
                  KMBI_LT_TRANSPOSE_A, &how, sizeof how);
  }
  return status;
}

/* 8-bit types go in one of the two ways only. */
static kmb_status ask(lt *l, kmbi_lt_matmul matmul) {
  kmbi_lt_candidate found[CANDIDATES];
  int count = 0;
  kmb_status status =
      LT(l, cublasLtMatmulAlgoGetHeuristic, l->handle, matmul, l->in, l->in,
         l->out, l->out, l->wish, CANDIDATES, found, &count);
  if (status == KMB_ERR_UNSUPPORTED) return KMB_OK;
  double n = (double)l->n;
  for (int i = 0; !status && i < count && i < CANDIDATES; i++) {
    if (found[i].state || found[i].workspace > WORKSPACE) continue;
    way *w = &l->ways[l->count];
    *w = (way){l, matmul, found[i]};
    l->entrants[l->count++] = (kmbi_cuda_entrant){
        l->n == LARGEST ? "best of cuBLASLt's own candidates, 8192 "
                          "cubed, not a limit"
                        : "best of cuBLASLt's own candidates, below "
                          "8192 cubed, not a limit",
        launch, w, 2 * n * n * n, 0};
  }
  return status;
}

static kmb_status measure(lt *l, kmb_ceiling *ceiling) {
  kmb_status status = take_memory(l);
  if (!status) status = describe(l);
  for (int i = 0; !status && i < WAYS; i++)
    status = ask(l, l->matmuls[i]);
  if (status) return status;
  if (!l->count)
    return KMBI_CUDA_FAIL(l->self, KMB_ERR_UNSUPPORTED, 0,
                          "cuBLASLt has no candidate for a product of %s on "
                          "this device",
                          kmb_dtype_name(l->t->dtype));
  status = kmbi_cuda_race(l->self, l->entrants, l->count, ceiling);
  ceiling->bytes = l->bytes - WORKSPACE;
  return status;
}

static void give_back(lt *l) {
  const kmbi_lt_api *api = l->api;
  /* What is lost is abandoned: destroying it may wait for ever. */
  if (!l->self->lost) {
    for (int i = 0; i < WAYS; i++)
      if (l->matmuls[i]) (void)api->cublasLtMatmulDescDestroy(l->matmuls[i]);
    if (l->wish) (void)api->cublasLtMatmulPreferenceDestroy(l->wish);
    if (l->out) (void)api->cublasLtMatrixLayoutDestroy(l->out);
    if (l->in) (void)api->cublasLtMatrixLayoutDestroy(l->in);
    if (l->handle) (void)api->cublasLtDestroy(l->handle);
  }
  if (l->memory) kmbi_cuda_free(l->self, l->memory, l->bytes);
}

kmb_status kmbi_cuda_ceiling_matrix(kmbi_cuda *self, kmb_dtype dtype,
                                    kmb_ceiling *ceiling) {
  const kmb_host *host = self->host;
  const types *t = NULL;
  kmbi_cuda_failure failure;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].dtype == dtype) t = &known[i];
  if (!t)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "cuda: the matrix units' ceiling is measured in f64, "
                          "f32, tf32, f16, bf16, f8_e4m3 and i8, not in %s",
                          kmb_dtype_name(dtype));
  const kmbi_lt_api *api = kmbi_cuda_lt(&failure);
  if (!api)
    return KMBI_CUDA_FAIL(self, failure.status, failure.vendor, "%s",
                          failure.text);
  lt *l = host->alloc(host->ctx, sizeof *l, _Alignof(lt));
  if (!l)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "cuda: no memory for cuBLASLt's candidates");
  memset(l, 0, sizeof *l);
  l->self = self;
  l->api = api;
  l->t = t;
  kmb_status status = measure(l, ceiling);
  give_back(l);
  host->free(host->ctx, l, sizeof *l);
  return status;
}
