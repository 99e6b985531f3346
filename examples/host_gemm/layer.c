#include "layer.h"

#include "reference.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

const projection layer_projections[PROJECTIONS] = {
    {"q", 4096, 4096},     {"k", 1024, 4096},     {"v", 1024, 4096},
    {"o", 4096, 4096},     {"gate", 14336, 4096}, {"up", 14336, 4096},
    {"down", 4096, 14336},
};

const projection *layer_find(const char *name) {
  for (unsigned i = 0; i < PROJECTIONS; i++)
    if (strcmp(layer_projections[i].name, name) == 0)
      return &layer_projections[i];
  return NULL;
}

/* One projection at one batch size. */
typedef struct point {
  int rows, inner, tokens;
} point;

/* sgemm with one column is about half as fast as sgemv, so one token takes
 * sgemv, as an engine would. */
static kmb_status launch(void *user, const kmb_launch *l) {
  const point *p = user;
  const float *w = l->args[0], *x = l->args[1];
  float *y = l->args[2];
  if (p->tokens == 1)
    cblas_sgemv(CblasRowMajor, CblasNoTrans, p->rows, p->inner, 1, w, p->inner,
                x, 1, 0, y, 1);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->tokens, p->rows,
                p->inner, 1, x, p->inner, w, p->inner, 0, y, p->rows);
  return KMB_OK;
}

static kmb_status check(void *user, kmb_check *c) {
  const point *p = user;
  c->error =
      reference_gemm(c->before[0], c->before[1], c->after[2], (size_t)p->rows,
                     (size_t)p->inner, (size_t)p->tokens);
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

/* In decoding the weights come from memory each time, while the activations
 * were just written and the outputs are read next. */
static kmb_status make_buffers(kmb_device *device, const point *p,
                               kmb_buffers **buffers) {
  kmb_buffer_desc d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].dtype = KMB_F32;
    d[i].role = KMB_INPUT;
  }
  d[0].name = "weights";
  d[0].bytes = sizeof(float) * (uint64_t)p->rows * (uint64_t)p->inner;
  d[1].name = "activations";
  d[1].bytes = sizeof(float) * (uint64_t)p->tokens * (uint64_t)p->inner;
  d[1].residency = KMB_RESIDENT_WARM;
  d[2].name = "outputs";
  d[2].bytes = sizeof(float) * (uint64_t)p->tokens * (uint64_t)p->rows;
  d[2].role = KMB_OUTPUT;
  return kmb_buffers_create(device, d, sizeof d[0], 3, NULL, buffers);
}

static kmb_status bench(kmb_device *device, point *p, const projection *proj,
                        unsigned threads, kmb_buffers *buffers,
                        const kmb_metadata_params *metadata,
                        kmb_result **result) {
  kmb_work work = kmb_work_init();
  kmb_status status = kmb_work_gemm(proj->rows, (uint64_t)p->tokens,
                                    proj->inner, KMB_F32, &work);
  if (status) return status;
  char tokens[16], shape[32];
  snprintf(tokens, sizeof tokens, "%d", p->tokens);
  snprintf(shape, sizeof shape, "%ux%u", proj->rows, proj->inner);
  const kmb_pair axes[] = {{"tokens", tokens},
                           {"shape", shape},
                           {"routine", p->tokens == 1 ? "sgemv" : "sgemm"}};
  kmb_bench_params params = kmb_bench_params_init();
  params.name = proj->name;
  params.axes = axes;
  params.axis_count = sizeof axes / sizeof *axes;
  params.launch = launch;
  params.launch_user = p;
  params.check = check;
  params.check_user = p;
  params.tolerance = reference_gemm_tolerance(proj->inner);
  params.buffers = buffers;
  params.work = &work;
  params.metadata = metadata;
  params.threads = threads;
  params.cache = KMB_CACHE_ROTATED;
  params.flags = KMB_BENCH_REQUIRE_CHECK;
  return kmb_bench(device, &params, result);
}

kmb_status layer_measure(kmb_device *device, const projection *proj,
                         unsigned tokens, unsigned threads,
                         const kmb_metadata_params *metadata,
                         kmb_result **result) {
  point p = {(int)proj->rows, (int)proj->inner, (int)tokens};
  kmb_buffers *buffers = NULL;
  kmb_status status = make_buffers(device, &p, &buffers);
  if (!status)
    status = bench(device, &p, proj, threads, buffers, metadata, result);
  kmb_buffers_destroy(buffers);
  return status;
}
