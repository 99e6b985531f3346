/* The ranks are cores of the host. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "team.h"

enum { MOST = 16 };

/* The collective's own. */
static atomic_uint there, turn;
static const float *parts[MOST]; /* of the product, by rank */

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Nobody goes on before all are here. A rank that does not come must not hang
 * the others. */
static kmb_status meet(const team *t) {
  unsigned now = atomic_load(&turn);
  double until = now_s() + PATIENCE_S;
  if (atomic_fetch_add(&there, 1) + 1 == (unsigned)t->ranks) {
    atomic_store(&there, 0);
    atomic_fetch_add(&turn, 1);
    return KMB_OK;
  }
  for (unsigned i = 0; atomic_load(&turn) == now; i++) {
    if (i % 64 == 63) sched_yield();
    if (i % 65536 == 65535 && now_s() > until) return KMB_ERR_TIMEOUT;
  }
  return KMB_OK;
}

static kmb_status multiply(member *m, void *stream, const void *left,
                           const void *right, void *part) {
  const float *restrict a = left, *restrict b = right;
  size_t size = m->team->size, inner = m->team->share;
  (void)stream;
  for (size_t i = 0; i < size; i++) {
    float *restrict row = (float *)part + i * size;
    for (size_t j = 0; j < size; j++)
      row[j] = 0;
    for (size_t k = 0; k < inner; k++)
      for (size_t j = 0; j < size; j++)
        row[j] += a[i * inner + k] * b[k * size + j];
  }
  return KMB_OK;
}

static void reduce_rows(const member *m, float *restrict out) {
  const team *t = m->team;
  size_t count = t->share * t->size, from = count * (size_t)m->rank;
  for (size_t i = 0; i < count; i++)
    out[i] = 0;
  for (int r = 0; r < t->ranks; r++)
    for (size_t i = 0; i < count; i++)
      out[i] += parts[r][from + i];
}

static kmb_status scatter(member *m, void *stream, const void *part,
                          void *out) {
  (void)stream;
  parts[m->rank] = part;
  kmb_status status = meet(m->team);
  if (!status) reduce_rows(m, out);
  return status ? status : meet(m->team); /* the parts are read until here */
}

static const char *prepare(team *t, kmb_comm_params *p) {
  (void)t;
  (void)p;
  return NULL;
}

static kmb_status open_host(member *m) {
  kmb_device_params params = kmb_device_params_init();
  params.threads = 1;
  return kmb_device_open("host", &params, &m->device);
}

const variant on_host = {.name = "host",
                         .most_ranks = MOST,
                         .size = 192,
                         .most_checked = SIZE_MAX,
                         .dtype = KMB_F32,
                         .cache = KMB_CACHE_WARM,
                         .max_wall_ns = 300e6,
                         .prepare = prepare,
                         .open = open_host,
                         .multiply = multiply,
                         .scatter = scatter};
