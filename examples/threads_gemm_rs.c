/* Measures a matrix product whose inner dimension is split over ranks, followed
 * by a reduce-scatter of the parts, on threads of one process: each rank adds
 * up its own rows of everybody's part. The ranks are cores here; on GPUs the
 * same program has a device and a stream a thread.
 *
 * usage: threads_gemm_rs [RANKS [RESULT.json]]      (2, threads_gemm_rs.json)
 */
#include <kmb/kmb.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16, ROWS = 192, COLUMNS = 192, INNER = 192 };
#define PATIENCE_S 20.0

struct team;

typedef struct member {
  struct team *team;
  kmb_comm *comm;
  kmb_device *device;
  kmb_result *whole, *part;
  pthread_t thread;
  int rank, inner; /* of the inner dimension, its share */
  kmb_status status;
} member;

typedef struct team {
  int size;
  atomic_uint there, turn;
  const float *parts[MOST]; /* of the product, by rank */
  member members[MOST];
} team;

/* Each rank has numbers of its own. */
static float value(int rank, int which, size_t i) {
  return (float)((i * 5 + (size_t)rank * 11 + (size_t)which * 3) % 17) - 8;
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The collective's own: nobody goes on before all are here. A rank that does
 * not come must not hang the others. */
static kmb_status meet(team *t) {
  unsigned turn = atomic_load(&t->turn);
  double until = now_s() + PATIENCE_S;
  if (atomic_fetch_add(&t->there, 1) + 1 == (unsigned)t->size) {
    atomic_store(&t->there, 0);
    atomic_fetch_add(&t->turn, 1);
    return KMB_OK;
  }
  for (unsigned i = 0; atomic_load(&t->turn) == turn; i++) {
    if (i % 64 == 63) sched_yield();
    if (i % 65536 == 65535 && now_s() > until) return KMB_ERR_TIMEOUT;
  }
  return KMB_OK;
}

/* part = a · b, both this rank's share. */
static void multiply(const member *m, const float *restrict a,
                     const float *restrict b, float *restrict part) {
  for (int i = 0; i < ROWS; i++) {
    float *row = part + (size_t)i * COLUMNS;
    for (int j = 0; j < COLUMNS; j++)
      row[j] = 0;
    for (int k = 0; k < m->inner; k++)
      for (int j = 0; j < COLUMNS; j++)
        row[j] += a[i * m->inner + k] * b[(size_t)k * COLUMNS + j];
  }
}

/* Rows of the rank: the first of them, and how many. */
static size_t first_row(const team *t, int rank) {
  return (size_t)ROWS / (size_t)t->size * (size_t)rank;
}

static size_t own_elements(const team *t) {
  return (size_t)ROWS / (size_t)t->size * COLUMNS;
}

static void reduce_rows(const member *m, float *restrict out) {
  const team *t = m->team;
  size_t from = first_row(t, m->rank) * COLUMNS, count = own_elements(t);
  for (size_t i = 0; i < count; i++)
    out[i] = 0;
  for (int r = 0; r < t->size; r++)
    for (size_t i = 0; i < count; i++)
      out[i] += t->parts[r][from + i];
}

/* args: a, b, part, out. */
static kmb_status launch(void *user, const kmb_launch *l) {
  member *m = user;
  multiply(m, l->args[0], l->args[1], l->args[2]);
  m->team->parts[m->rank] = l->args[2];
  kmb_status status = meet(m->team);
  if (!status) reduce_rows(m, l->args[3]);
  return status ? status : meet(m->team); /* the parts are read until here */
}

/* What the product alone takes, for comparison. */
static kmb_status launch_product(void *user, const kmb_launch *l) {
  multiply(user, l->args[0], l->args[1], l->args[2]);
  return KMB_OK;
}

/* The same semantics, another way: every rank's share, element by element. */
static kmb_status check(void *user, kmb_check *c) {
  const member *m = user;
  const team *t = m->team;
  const float *got = c->after[3];
  size_t from = first_row(t, m->rank);
  double worst = 0;
  for (size_t i = 0; i < own_elements(t); i++) {
    size_t row = from + i / COLUMNS, column = i % COLUMNS;
    double sum = 0;
    for (int r = 0; r < t->size; r++)
      for (size_t k = 0; k < (size_t)m->inner; k++)
        sum += (double)value(r, 0, row * (size_t)m->inner + k) *
               (double)value(r, 1, k * COLUMNS + column);
    if (fabs((double)got[i] - sum) > worst) worst = fabs((double)got[i] - sum);
  }
  c->error = worst;
  return worst > c->tolerance ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status fill(const member *m, int which, void *data, uint64_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(float); i++)
    ((float *)data)[i] = value(m->rank, which, i);
  return KMB_OK;
}

static kmb_status fill_a(void *user, void *data, uint64_t bytes,
                         uint32_t slot) {
  (void)slot;
  return fill(user, 0, data, bytes);
}

static kmb_status fill_b(void *user, void *data, uint64_t bytes,
                         uint32_t slot) {
  (void)slot;
  return fill(user, 1, data, bytes);
}

/* Without the collective there is no `out`. */
static kmb_status make_buffers(member *m, int whole, kmb_buffers **buffers) {
  const size_t elements[] = {(size_t)ROWS * (size_t)m->inner,
                             (size_t)m->inner * COLUMNS, (size_t)ROWS * COLUMNS,
                             own_elements(m->team)};
  static const char *const names[] = {"a", "b", "part", "out"};
  kmb_buffer_desc d[4];
  for (int i = 0; i < 4; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].bytes = elements[i] * sizeof(float);
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].dtype = KMB_F32;
    d[i].fill_user = m;
  }
  d[0].fill = d[1].fill = KMB_FILL_CALLBACK;
  d[0].fill_fn = fill_a;
  d[1].fill_fn = fill_b;
  return kmb_buffers_create(m->device, d, sizeof d[0], whole ? 4 : 3, NULL,
                            buffers);
}

static kmb_status measure(member *m, int whole, kmb_result **result) {
  kmb_work work = kmb_work_init();
  kmb_buffers *buffers = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = whole ? "gemm and reduce-scatter" : "gemm alone";
  p.boundary = whole ? "whole wrapper" : "the product, without the collective";
  p.launch = whole ? launch : launch_product;
  p.launch_user = m;
  p.check = whole ? check : NULL;
  p.check_user = m;
  p.flags = KMB_BENCH_TOLERANCE | KMB_BENCH_NO_CEILINGS; /* sums are exact */
  p.work = &work;
  p.comm = m->comm;
  p.cache = KMB_CACHE_WARM;
  p.max_wall_ns = 300e6;
  kmb_status status = make_buffers(m, whole, &buffers);
  if (!status)
    status = kmb_work_gemm(ROWS, COLUMNS, (uint64_t)m->inner, KMB_F32, &work);
  p.buffers = buffers;
  /* A rank that cannot measure takes part even so, to tell the others. */
  if (status) p.launch = NULL;
  kmb_status measured = kmb_bench(m->device, &p, result);
  kmb_buffers_destroy(buffers);
  return status ? status : measured;
}

static void *run(void *user) {
  member *m = user;
  kmb_device_params params = kmb_device_params_init();
  params.threads = 1;
  m->status = kmb_device_open("host", &params, &m->device);
  if (!m->status) m->status = measure(m, 1, &m->whole);
  if (!m->status) m->status = measure(m, 0, &m->part);
  if (m->status)
    fprintf(stderr, "rank %d: %s\n", m->rank, kmb_last_error(NULL, NULL));
  kmb_device_close(m->device);
  kmb_comm_destroy(m->comm);
  return NULL;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

/* Every rank has the same; rank 0's are written. */
static int report(team *t, const char *path) {
  kmb_results *results = NULL;
  member *m = &t->members[0];
  int bad = 0;
  for (int r = 0; r < t->size; r++)
    bad |= t->members[r].status != KMB_OK;
  FILE *file =
      bad || kmb_results_create(NULL, &results) ? NULL : fopen(path, "w");
  if (!file) {
    if (!bad) perror(path);
    kmb_results_destroy(results);
    return 1;
  }
  kmb_status status = kmb_result_write_text(m->whole, write_to, stdout);
  if (!status) status = kmb_result_write_text(m->part, write_to, stdout);
  if (!status) status = kmb_results_add(results, m->whole);
  if (!status) m->whole = NULL; /* the list has it now */
  if (!status) status = kmb_results_add(results, m->part);
  if (!status) m->part = NULL;
  if (!status) status = kmb_results_write_json(results, write_to, file);
  kmb_results_destroy(results);
  if (fclose(file) || status) return 1;
  printf("%s holds all of it\n", path);
  return 0;
}

static int start(team *t) {
  kmb_comm *comms[MOST];
  if (kmb_comm_threads_create(t->size, NULL, comms)) {
    fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
    return 1;
  }
  for (int r = 0; r < t->size; r++) {
    member *m = &t->members[r];
    m->team = t;
    m->rank = r;
    m->inner = INNER / t->size;
    m->comm = comms[r];
    if (pthread_create(&m->thread, NULL, run, m)) {
      perror("pthread_create");
      exit(1);
    }
  }
  for (int r = 0; r < t->size; r++)
    pthread_join(t->members[r].thread, NULL);
  return 0;
}

int main(int argc, char **argv) {
  static team t;
  t.size = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2;
  if (t.size < 1 || t.size > MOST || INNER % t.size || ROWS % t.size) {
    fprintf(stderr,
            "usage: threads_gemm_rs [RANKS [RESULT.json]], where %d can be "
            "divided by RANKS, up to %d\n",
            INNER, MOST);
    return 2;
  }
  int code = start(&t);
  if (!code) code = report(&t, argc > 2 ? argv[2] : "threads_gemm_rs.json");
  for (int r = 0; r < t.size; r++) {
    kmb_result_destroy(t.members[r].whole);
    kmb_result_destroy(t.members[r].part);
  }
  return code;
}
