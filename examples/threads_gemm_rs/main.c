/* Measures a matrix product whose inner dimension is split over ranks, followed
 * by a reduce-scatter of the parts, on threads of one process: each rank ends
 * with its own rows of the sum of everybody's part. Both together are measured,
 * and each alone. The ranks are cores of the host (fp32), or GPUs with a thread
 * and a stream each: cuBLAS and NCCL in bf16, NVLink multicast off.
 *
 * usage: threads_gemm_rs [host|cuda] [RANKS [RESULT.json [SIZE]]]
 *
 * Where there are too few GPUs, or no cuBLAS or NCCL, it says so and ends with
 * 77. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../usage.h"
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

static const char usage[] =
    "usage: threads_gemm_rs [host|cuda] [RANKS [RESULT.json [SIZE]]]\n"
    "RANKS is 2 unless given, at most 16 on the host and 64 with cuda;\n"
    "RESULT.json is threads_gemm_rs.json. RANKS divides SIZE, the rows and\n"
    "columns of the matrices: 192 unless given, or with cuda 8192, rounded up\n"
    "to a multiple of 64 times RANKS; at most 65536.\n";

/* Shares it out; `text` is NULL where no size was given. */
static int size_up(team *t, const char *text) {
  size_t step = t->v->multiple * (size_t)t->ranks;
  long size = (long)t->v->size;
  if (text && !usage_number(text, LARGEST, &size))
    return usage_error(usage, "SIZE is \"%s\", not a whole number from 1 to %d",
                       text, LARGEST);
  t->size = (size_t)size;
  if (!text && step) t->size = (t->size + step - 1) / step * step;
  t->share = t->size / (size_t)t->ranks;
  if (!t->share || t->size % (size_t)t->ranks)
    return usage_error(usage, "SIZE is %zu%s, which RANKS, %d, does not divide",
                       t->size, text ? "" : " unless given", t->ranks);
  return 0;
}

int main(int argc, char **argv) {
  static team t;
  int next = 1, asked = usage_asked(argc, argv, 4, usage);
  long ranks = 2;
  if (asked >= 0) return asked;
  t.v = &on_host;
  if (argc > 1 && strcmp(argv[1], on_cuda.name) == 0) t.v = &on_cuda;
  if (argc > 1 && strcmp(argv[1], t.v->name) == 0) next++;
  if (argc > next && !usage_number(argv[next], t.v->most_ranks, &ranks))
    return usage_error(
        usage, "RANKS is \"%s\", not a whole number from 1 to %d%s", argv[next],
        t.v->most_ranks, next == 1 ? ", nor is it host or cuda" : "");
  if (argc > next + 3)
    return usage_error(usage, "\"%s\" is one argument too many",
                       argv[next + 3]);
  t.ranks = (int)ranks;
  int wrong = size_up(&t, argc > next + 2 ? argv[next + 2] : NULL);
  if (wrong) return wrong;
  return measure(&t, argc > next + 1 ? argv[next + 1] : "threads_gemm_rs.json");
}
