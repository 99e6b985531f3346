/* Measures a matrix product whose inner dimension is split over ranks, followed
 * by a reduce-scatter of the parts, on threads of one process: each rank ends
 * with its own rows of the sum of everybody's part. Both together are measured,
 * and each alone. The ranks are cores of the host (fp32), or GPUs with a thread
 * and a stream each: cuBLAS and NCCL in bf16, NVLink multicast off.
 *
 * usage: threads_gemm_rs [host|cuda] [RANKS [RESULT.json [SIZE]]]
 *        (host, 2, threads_gemm_rs.json, 192 or with cuda about 8192)
 *
 * Where there are too few GPUs, or no cuBLAS or NCCL, it says so and ends with
 * 77. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "team.h"

enum { SKIPPED = 77, LARGEST = 65536 };

static void complain(const member *m, const char *what) {
  fprintf(stderr, "rank %d: %s: %s\n", m->rank, what,
          kmb_last_error(NULL, NULL));
}

/* All ranks measure, or none. */
static int all_able(member *m) {
  kmb_status own = m->status, others[MOST_RANKS];
  kmb_status met = kmb_comm_allgather(m->comm, &own, others, sizeof own);
  if (met) m->status = own ? own : met;
  for (int r = 0; !m->status && r < m->team->ranks; r++)
    m->status = others[r];
  return !m->status;
}

/* The product alone comes first, so that its kernels are loaded before a
 * collective of another rank can wait for them. */
static void measure_all(member *m) {
  const variant *v = m->team->v;
  m->status = v->join ? v->join(m) : KMB_OK;
  if (m->status) return;
  for (int what = 0; what < STAGES && !m->status; what++) {
    m->status = measure_stage(m, (stage)what);
    if (m->status) complain(m, "measuring");
  }
  /* A rank's communicator may go once nobody uses what it shares with it. */
  if (!m->status) m->status = kmb_comm_allgather(m->comm, NULL, NULL, 0);
}

static void *run(void *user) {
  member *m = user;
  const variant *v = m->team->v;
  m->status = v->open(m);
  if (m->status == KMB_ERR_UNAVAILABLE)
    printf("Rank %d has nothing to measure with: %s.\n", m->rank,
           kmb_last_error(NULL, NULL));
  else if (m->status)
    complain(m, "opening");
  if (all_able(m)) measure_all(m);
  if (v->close) v->close(m);
  kmb_device_close(m->device);
  kmb_comm_destroy(m->comm);
  return NULL;
}

/* Ranks wait for each other: without one of them there is nothing to do. */
static void start(team *t, kmb_comm *const *comms) {
  for (int r = 0; r < t->ranks; r++) {
    member *m = &t->members[r];
    m->team = t;
    m->rank = r;
    m->comm = comms[r];
    if (pthread_create(&m->thread, NULL, run, m)) {
      perror("pthread_create");
      exit(1);
    }
  }
  for (int r = 0; r < t->ranks; r++)
    pthread_join(t->members[r].thread, NULL);
}

static int code_of(const team *t) {
  int code = 0;
  for (int r = 0; r < t->ranks; r++) {
    kmb_status status = t->members[r].status;
    if (status && (!code || status != KMB_ERR_UNAVAILABLE))
      code = status == KMB_ERR_UNAVAILABLE ? SKIPPED : 1;
  }
  return code;
}

/* Every rank has the same figures; rank 0's are shown. */

static void print_figures(const team *t) {
  const member *m = &t->members[0];
  double ns[STAGES];
  uint64_t flops = 0;
  kmb_collective_work work = kmb_collective_work_init();
  uint64_t bytes =
      (uint64_t)t->size * t->size * (t->v->dtype == KMB_F32 ? 4 : 2);
  for (int what = 0; what < STAGES; what++)
    if (kmb_result_f64(m->results[what], KMB_VALUE_TIME, &ns[what])) return;
  if (kmb_result_u64(m->results[PRODUCT], KMB_VALUE_FLOPS, &flops)) return;
  printf("%d ranks, %zu x %zu x %zu, %zu of the inner dimension each\n",
         t->ranks, t->size, t->size, t->size, t->share);
  printf("  whole                %12.2f us, %.1f%% of the two alone\n",
         ns[WHOLE] / 1e3, 100 * ns[WHOLE] / (ns[PRODUCT] + ns[SCATTER]));
  printf("  gemm alone           %12.2f us, %.4g TFLOP/s a rank\n",
         ns[PRODUCT] / 1e3, (double)flops / ns[PRODUCT] / 1e3);
  printf("  reduce-scatter alone %12.2f us", ns[SCATTER] / 1e3);
  double algbw = (double)bytes / ns[SCATTER];
  if (!kmb_work_collective(KMB_REDUCE_SCATTER, bytes, (uint32_t)t->ranks,
                           &work))
    printf(", algbw %.4g GB/s, busbw %.4g GB/s", algbw,
           algbw * work.bus_factor);
  printf("\n");
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int report(team *t, const char *path) {
  static const stage order[] = {WHOLE, PRODUCT, SCATTER};
  kmb_results *results = NULL;
  kmb_result **own = t->members[0].results;
  FILE *file = kmb_results_create(NULL, &results) ? NULL : fopen(path, "w");
  if (!file) {
    perror(path);
    kmb_results_destroy(results);
    return 1;
  }
  kmb_status status = KMB_OK;
  for (int i = 0; i < STAGES && !status; i++)
    status = kmb_result_write_text(own[order[i]], write_to, stdout);
  print_figures(t);
  for (int i = 0; i < STAGES && !status; i++) {
    status = kmb_results_add(results, own[order[i]]);
    if (!status) own[order[i]] = NULL; /* the list has it now */
  }
  if (!status) status = kmb_results_write_json(results, write_to, file);
  kmb_results_destroy(results);
  if (fclose(file) || status) {
    fprintf(stderr, "%s could not be written\n", path);
    return 1;
  }
  printf("%s holds all of it\n", path);
  return 0;
}

static int measure(team *t, const char *path) {
  kmb_comm *comms[MOST_RANKS];
  kmb_comm_params p = kmb_comm_params_init();
  const char *why = t->v->prepare(t, &p);
  if (why) {
    printf("There is nothing to measure with: %s.\n", why);
    return SKIPPED;
  }
  if (kmb_comm_threads_create(t->ranks, &p, comms)) {
    fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
    return 1;
  }
  start(t, comms);
  int code = code_of(t);
  if (!code) code = report(t, path);
  for (int r = 0; r < t->ranks; r++)
    for (int what = 0; what < STAGES; what++)
      kmb_result_destroy(t->members[r].results[what]);
  return code;
}

/* A positive number, and nothing behind it; else 0. */
static long number(const char *text) {
  char *end = NULL;
  long n = strtol(text, &end, 10);
  return n > 0 && n <= LARGEST && !*end ? n : 0;
}

/* Whether it can be shared out. */
static int size_up(team *t, long ranks, long size) {
  if (ranks < 1 || ranks > t->v->most_ranks) return 0;
  size_t step = t->v->multiple * (size_t)ranks;
  t->ranks = (int)ranks;
  t->size = size > 0 ? (size_t)size : t->v->size;
  if (size < 0 && step) t->size = (t->size + step - 1) / step * step;
  t->share = t->size / (size_t)ranks;
  return t->share && t->size % (size_t)ranks == 0;
}

int main(int argc, char **argv) {
  static team t;
  int next = 1;
  t.v = &on_host;
  if (argc > 1 && strcmp(argv[1], on_cuda.name) == 0) t.v = &on_cuda;
  if (argc > 1 && strcmp(argv[1], t.v->name) == 0) next++;
  long ranks = argc > next ? number(argv[next]) : 2;
  const char *path = argc > next + 1 ? argv[next + 1] : "threads_gemm_rs.json";
  long size = argc > next + 2 ? number(argv[next + 2]) : -1;
  if (argc > next + 3 || !size || !size_up(&t, ranks, size)) {
    fprintf(stderr,
            "usage: threads_gemm_rs [host|cuda] [RANKS [RESULT.json [SIZE]]]\n"
            "RANKS up to %d divides SIZE (%zu)\n",
            t.v->most_ranks, t.v->size);
    return 2;
  }
  return measure(&t, path);
}
