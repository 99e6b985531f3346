#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "../cuda_gemm/sampled.h"
#include "expected.h"
#include "team.h"

typedef struct task {
  member *m;
  stage what;
} task;

enum { A, B, P, OUT, BUFFERS };
static const char *const names[] = {"a", "b", "part", "out"};

/* Those of them that a stage has, in this order. */
static int has(stage what, int buffer) {
  if (what == PRODUCT) return buffer != OUT;
  return what == WHOLE || buffer >= P;
}

static void *argument(stage what, void *const *args, int buffer) {
  int at = 0;
  for (int i = 0; i < buffer; i++)
    at += has(what, i);
  return args[at];
}

static kmb_status setup(void *user, uint32_t slot, uint32_t config) {
  const task *t = user;
  (void)slot;
  (void)config;
  return t->m->team->v->setup ? t->m->team->v->setup(t->m) : KMB_OK;
}

/* The others wait for this rank's collective even where its product failed. */
static kmb_status launch(void *user, const kmb_launch *l) {
  const task *t = user;
  const variant *v = t->m->team->v;
  void *parts = argument(t->what, l->args, P);
  kmb_status status = KMB_OK, scattered = KMB_OK;
  if (t->what != SCATTER)
    status = v->multiply(t->m, l->stream, argument(t->what, l->args, A),
                         argument(t->what, l->args, B), parts);
  if (t->what != PRODUCT)
    scattered =
        v->scatter(t->m, l->stream, parts, argument(t->what, l->args, OUT));
  return status ? status : scattered;
}

/* Elements, in fp32 or bf16. */

static void store(kmb_dtype dtype, void *data, size_t i, double value) {
  float narrow = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof bits);
  if (dtype == KMB_F32)
    ((float *)data)[i] = narrow;
  else
    ((uint16_t *)data)[i] = (uint16_t)(bits >> 16); /* they are exact */
}

static double load(kmb_dtype dtype, const void *data, size_t i) {
  if (dtype == KMB_F32) return (double)((const float *)data)[i];
  return sampled_bf16(((const uint16_t *)data)[i]);
}

static size_t element_bytes(const team *t) {
  return t->v->dtype == KMB_F32 ? sizeof(float) : sizeof(uint16_t);
}

static void fill(const member *m, operand which, void *data, size_t rows,
                 size_t columns, int by_columns) {
  kmb_dtype dtype = m->team->v->dtype;
  for (size_t i = 0; i < (by_columns ? columns : rows); i++)
    for (size_t k = 0; k < (by_columns ? rows : columns); k++)
      store(dtype, data, i * (by_columns ? rows : columns) + k,
            by_columns ? expected_input(m->rank, which, k, i)
                       : expected_input(m->rank, which, i, k));
}

static kmb_status fill_a(void *user, void *data, uint64_t bytes,
                         uint32_t slot) {
  const member *m = user;
  (void)bytes;
  (void)slot;
  fill(m, OPERAND_A, data, m->team->size, m->team->share, 0);
  return KMB_OK;
}

static kmb_status fill_b(void *user, void *data, uint64_t bytes,
                         uint32_t slot) {
  const member *m = user;
  (void)bytes;
  (void)slot;
  fill(m, OPERAND_B, data, m->team->share, m->team->size,
       m->team->v->b_by_columns);
  return KMB_OK;
}

static kmb_status fill_part(void *user, void *data, uint64_t bytes,
                            uint32_t slot) {
  const member *m = user;
  (void)bytes;
  (void)slot;
  fill(m, OPERAND_PART, data, m->team->size, m->team->size, 0);
  return KMB_OK;
}

/* The check: the same semantics another way, element by element. */

static double error_at(const task *t, const void *got, size_t i) {
  const member *m = t->m;
  const team *all = m->team;
  size_t from = t->what == PRODUCT ? 0 : all->share * (size_t)m->rank;
  size_t row = from + i / all->size, column = i % all->size;
  int alone = t->what == PRODUCT;
  expected e = t->what == SCATTER ? expected_sum(all->ranks, row, column)
                                  : expected_product(alone ? m->rank : 0,
                                                     alone ? 1 : all->ranks,
                                                     all->share, row, column);
  double error = fabs(load(all->v->dtype, got, i) - e.value);
  if (isnan(error)) return INFINITY;
  if (all->v->tolerance == 0 || error == 0) return error;
  int roundings =
      (t->what != SCATTER) + (t->what != PRODUCT) * (all->ranks - 1);
  double allowed = expected_allowance(&e, roundings);
  return allowed > 0 ? error / allowed : INFINITY;
}

static kmb_status check(void *user, kmb_check *c) {
  const task *t = user;
  const team *all = t->m->team;
  const void *got = c->after[c->count - 1]; /* what comes out is the last */
  size_t count = (t->what == PRODUCT ? all->size : all->share) * all->size;
  size_t most = all->v->most_checked, samples = count < most ? count : most;
  c->error = 0;
  for (size_t i = 0; i < samples; i++) {
    /* One in each stretch, at a place that moves. */
    size_t start = count * i / samples, end = count * (i + 1) / samples;
    double error = error_at(t, got, start + i * 7919 % (end - start));
    if (error > c->error) c->error = error;
  }
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

static kmb_status make_buffers(member *m, stage what, kmb_buffers **buffers) {
  const team *t = m->team;
  const size_t elements[] = {t->size * t->share, t->share * t->size,
                             t->size * t->size, t->share * t->size};
  kmb_status (*const fills[])(void *, void *, uint64_t,
                              uint32_t) = {fill_a, fill_b, fill_part, NULL};
  kmb_buffer_desc d[BUFFERS];
  uint32_t count = 0;
  for (int i = 0; i < BUFFERS; i++) {
    if (!has(what, i)) continue;
    int input = i < P || (i == P && what == SCATTER);
    d[count] = kmb_buffer_desc_init();
    d[count].name = names[i];
    d[count].bytes = elements[i] * element_bytes(t);
    d[count].role = input ? KMB_INPUT : KMB_OUTPUT;
    d[count].dtype = t->v->dtype;
    d[count].fill = input ? KMB_FILL_CALLBACK : KMB_FILL_DEFAULT;
    d[count].fill_fn = input ? fills[i] : NULL;
    d[count].fill_user = m;
    count++;
  }
  return kmb_buffers_create(m->device, d, sizeof d[0], count, NULL, buffers);
}

kmb_status measure_stage(member *m, stage what) {
  static const char *const titles[] = {"gemm alone", "reduce-scatter alone",
                                       "gemm and reduce-scatter"};
  static const char *const boundaries[] = {
      "the product, without the collective",
      "the collective, without the product", "whole wrapper"};
  const team *t = m->team;
  task own = {m, what};
  char shape[80], ranks[16];
  const kmb_pair axes[] = {{"shape", shape}, {"ranks", ranks}};
  kmb_work work = kmb_work_init();
  kmb_buffers *buffers = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  snprintf(shape, sizeof shape, "%zux%zux%zu", t->size, t->size, t->size);
  snprintf(ranks, sizeof ranks, "%d", t->ranks);
  p.name = titles[what];
  p.boundary = boundaries[what];
  p.axes = axes;
  p.axis_count = 2;
  p.setup = setup;
  p.launch = launch;
  p.check = check;
  p.setup_user = p.launch_user = p.check_user = &own;
  p.tolerance = t->v->tolerance;
  p.flags = KMB_BENCH_TOLERANCE | KMB_BENCH_NO_CEILINGS;
  p.work = what == SCATTER ? NULL : &work;
  p.comm = m->comm;
  p.cache = t->v->cache;
  p.max_wall_ns = t->v->max_wall_ns;
  kmb_status status = make_buffers(m, what, &buffers);
  if (!status)
    status = kmb_work_gemm(t->size, t->size, t->share, t->v->dtype, &work);
  p.buffers = buffers;
  /* A rank that cannot measure takes part even so, to tell the others. */
  if (status) p.launch = NULL;
  kmb_status measured = kmb_bench(m->device, &p, &m->results[what]);
  kmb_buffers_destroy(buffers);
  return status ? status : measured;
}
