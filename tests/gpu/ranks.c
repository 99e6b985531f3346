/* Several GPUs, a process or a thread each: how far apart the barriers release
 * them, and what a rank that is late does to the time. Figures as JSON; a bar
 * that is missed makes it fail.
 *
 * usage: gpu_ranks [RANKS [FILE.json [SAMPLES]]]     (2, stdout, 400) */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../examples/mpi_allreduce/nccl.h"
#include "../require.h"
#include "report.h"

enum { MOST = 8, SKIPPED = 77, COUNT = 256 /* floats of an all-reduce */ };
#define SPIN_US 20.0

/* What all ranks' processes see. */
static int size = 2;
static uint64_t skew_samples = 400;
static FILE *json;
static const char *comma = "";

typedef struct rank {
  gpu g;
  kmb_comm *comm;
  nccl *nccl;
  spin_work spin;
  double before_us; /* host time lost before each sample */
  double inside_us; /* device time lost in each */
  int index;
  bool reduces;
  bool failed;
} rank;

static kmb_comm *meet(int index, const char *what, kmb_barrier barrier) {
  static char name[64];
  kmb_comm_params p = kmb_comm_params_init();
  kmb_comm *comm = NULL;
  snprintf(name, sizeof name, "/kmb-gpu-ranks-%ld-%s", (long)getppid(), what);
  p.barrier = barrier;
  p.skew_samples = skew_samples;
  p.multicast = KMB_MULTICAST_OFF;
  p.collective = "NCCL";
  REQUIRE_OK(kmb_comm_shm_create(name, index, size, &p, &comm));
  return comm;
}

static kmb_status late(void *user, uint32_t slot, void *stream) {
  const rank *r = user;
  double until = gpu_now() + r->before_us * 1e3;
  (void)slot;
  (void)stream;
  while (gpu_now() < until) {
  }
  return KMB_OK;
}

static kmb_status launch(void *user, const kmb_launch *l) {
  rank *r = user;
  kmb_status status = KMB_OK;
  r->spin.cycles = (uint64_t)(r->inside_us * 1e3 * r->g.ghz);
  if (r->inside_us > 0) status = spin_launch(&r->spin, l);
  if (!status && r->reduces)
    status = nccl_all_reduce(r->nccl, l->stream, l->args[0], l->args[1], COUNT);
  return status;
}

static kmb_buffers *reduce_buffers(rank *r) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers *buffers = NULL;
  for (int i = 0; i < 2; i++) {
    d[i].name = i ? "to" : "from";
    d[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = COUNT * sizeof(float);
  }
  REQUIRE_OK(
      kmb_buffers_create(r->g.device, d, sizeof d[0], 2, NULL, &buffers));
  return buffers;
}

static kmb_result *measure(rank *r, bool resets) {
  kmb_result *result = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "ranks";
  p.launch = launch;
  p.launch_user = r;
  p.reset = resets ? late : NULL;
  p.reset_user = r;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_NO_CONFIRM;
  p.max_wall_ns = 1e9;
  p.comm = r->comm;
  p.buffers = r->reduces ? reduce_buffers(r) : NULL;
  kmb_status status = kmb_bench(r->g.device, &p, &result);
  if (status)
    fprintf(stderr, "  rank %d: %s: %s\n", r->index, kmb_status_name(status),
            kmb_last_error(NULL, NULL));
  kmb_buffers_destroy(p.buffers);
  return result;
}

static void put(const rank *r, const kmb_result *result, const char *key,
                double value) {
  kmb_rank row = kmb_rank_init();
  if (r->index || !result) return;
  fprintf(json,
          "%s\n {\"case\": \"%s\", \"value\": %g, \"time_us\": %.4f, "
          "\"interval_pct\": %.3f, \"samples\": %llu, \"skew_p50_us\": %.4f, "
          "\"skew_p99_us\": %.4f, \"agreement_us\": %.2f, \"barrier\": "
          "\"%s\", \"ranks\": [",
          comma, key, value, result_f64(result, KMB_VALUE_TIME, 0) / 1e3,
          result_f64(result, KMB_VALUE_INTERVAL_PCT, 0),
          (unsigned long long)result_u64(result, KMB_VALUE_SAMPLES),
          result_f64(result, KMB_VALUE_RELEASE_SKEW, -1e3) / 1e3,
          result_f64(result, KMB_VALUE_RELEASE_SKEW_P99, -1e3) / 1e3,
          result_f64(result, KMB_VALUE_AGREEMENT, 0) / 1e3,
          result_text(result, KMB_VALUE_BARRIER));
  for (uint64_t i = 0; i < kmb_result_rank_count(result); i++) {
    REQUIRE_OK(kmb_result_rank(result, i, &row));
    fprintf(json,
            "%s{\"median_us\": %.3f, \"max_us\": %.3f, \"slowest\": %llu}",
            i ? ", " : "", row.median_ns / 1e3, row.max_ns / 1e3,
            (unsigned long long)row.slowest);
  }
  fprintf(json, "]}");
  fflush(json);
  comma = ",";
  print_findings(result);
}

/* Rank 0 judges. */
static void bar(rank *r, bool met, const char *what, double value) {
  if (r->index) return;
  printf("  %s: %s (%.3f us)\n", met ? "met" : "MISSED", what, value);
  r->failed |= !met;
}

/* What AUTO chose on two GPUs of one host. */
static void judge_skew(rank *r, const kmb_result *result) {
  double p50 = result_f64(result, KMB_VALUE_RELEASE_SKEW, 1e9) / 1e3;
  double p99 = result_f64(result, KMB_VALUE_RELEASE_SKEW_P99, 1e9) / 1e3;
  bar(r, p50 <= 0.6, "release skew, median at most 0.6 us", p50);
  bar(r, p99 <= 1.2, "release skew, p99 at most 1.2 us", p99);
}

static uint64_t slowest(const kmb_result *result) {
  uint64_t worst = 0, most = 0;
  for (uint64_t i = 0; i < kmb_result_rank_count(result); i++) {
    kmb_rank row = kmb_rank_init();
    REQUIRE_OK(kmb_result_rank(result, i, &row));
    if (row.slowest > most) {
      most = row.slowest;
      worst = i;
    }
  }
  return worst;
}

/* `moved`: what the delay of the last rank did to the time. Before the gate it
 * must not show, inside of the operation it does, to its own precision. */
static void judge_delay(rank *r, const kmb_result *result, int inside,
                        double us, double moved) {
  if (us == 0) return;
  if (!inside) {
    bar(r, moved > -1 && moved < 1, "late before the gate, not in the time",
        moved);
    return;
  }
  double off = moved - us;
  bar(r, off > -1 - 0.03 * us && off < 1 + 0.03 * us,
      "late inside of the operation, in the time in full", moved);
  if (inside == 2)
    bar(r, slowest(result) == (uint64_t)size - 1, "the late rank is named", us);
}

static void each_barrier(rank *r) {
  static const struct {
    const char *name;
    kmb_barrier barrier;
  } kinds[] = {{"flag", KMB_BARRIER_FLAG},
               {"stream", KMB_BARRIER_STREAM},
               {"nccl", KMB_BARRIER_NCCL},
               {"auto", KMB_BARRIER_AUTO},
               {"host", KMB_BARRIER_HOST}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    r->comm = meet(r->index, kinds[i].name, kinds[i].barrier);
    r->inside_us = SPIN_US;
    r->reduces = false;
    kmb_result *result = measure(r, false);
    put(r, result, kinds[i].name, 0);
    /* A barrier that this machine has not is no failure. */
    r->failed |= !result && kinds[i].barrier != KMB_BARRIER_NCCL;
    if (result && kinds[i].barrier == KMB_BARRIER_AUTO) judge_skew(r, result);
    kmb_result_destroy(result);
    kmb_comm_destroy(r->comm);
  }
}

static void delays(rank *r) {
  static const double us[] = {0, 5, 50, 500};
  r->comm = meet(r->index, "delays", KMB_BARRIER_AUTO);
  kmb_status status = nccl_join(r->nccl, r->comm, r->index);
  if (status) {
    fprintf(stderr, "  rank %d: no NCCL: %s\n", r->index,
            kmb_status_name(status));
    r->failed = true;
    return;
  }
  for (int inside = 0; inside < 3; inside++) {
    double base = 0;
    for (size_t i = 0; i < sizeof us / sizeof us[0]; i++) {
      static const char *const names[] = {"all_reduce, late before the gate",
                                          "all_reduce, late inside",
                                          "spin, late inside"};
      double own = r->index == size - 1 ? us[i] : 0;
      r->reduces = inside < 2;
      r->before_us = inside ? 0 : own;
      r->inside_us = inside == 2 ? SPIN_US + own : inside ? own : 0;
      kmb_result *result = measure(r, !inside);
      put(r, result, names[inside], us[i]);
      r->failed |= !result;
      double time = result ? result_f64(result, KMB_VALUE_TIME, 0) / 1e3 : 0;
      if (i == 0) base = time;
      if (result) judge_delay(r, result, inside, us[i], time - base);
      kmb_result_destroy(result);
    }
  }
  kmb_comm_destroy(r->comm);
}

static int one_rank(int index, const char *path) {
  static rank r;
  const char *why = NULL;
  char name[32];
  r.index = index;
  snprintf(name, sizeof name, "cuda:%d", index);
  r.nccl = nccl_open(&why);
  gpu_open(&r.g, name, NULL);
  r.spin = (spin_work){&r.g, gpu_kernel(&r.g, "test_spin"), 0, 0, 0};
  json = index ? NULL : report_open(&r.g, path);
  if (!index) fprintf(json, "\"ranks\": %d, \"cases\": [", size);
  each_barrier(&r);
  if (r.nccl) delays(&r);
  if (!r.nccl && !index) printf("  no NCCL: %s\n", why);
  if (!index) fprintf(json, "]}\n");
  if (!index && report_close(json)) return 1;
  if (r.nccl) nccl_close(r.nccl);
  gpu_close(&r.g);
  return r.failed;
}

/* Threads of one process reach each other's memory by peer access. */
static void *thread(void *user) {
  rank *r = user;
  char name[32];
  snprintf(name, sizeof name, "cuda:%d", r->index);
  gpu_open(&r->g, name, NULL);
  r->spin = (spin_work){&r->g, gpu_kernel(&r->g, "test_spin"), 0, 0, 0};
  r->inside_us = SPIN_US;
  kmb_result *result = measure(r, false);
  r->failed = !result;
  if (result && !r->index)
    printf("  threads: %.3f us, released within %.3f us (p99 %.3f), %s\n",
           result_f64(result, KMB_VALUE_TIME, 0) / 1e3,
           result_f64(result, KMB_VALUE_RELEASE_SKEW, 0) / 1e3,
           result_f64(result, KMB_VALUE_RELEASE_SKEW_P99, 0) / 1e3,
           result_text(result, KMB_VALUE_BARRIER));
  kmb_result_destroy(result);
  gpu_close(&r->g);
  return NULL;
}

static int all_threads(void) {
  static rank ranks[MOST];
  kmb_comm *comms[MOST];
  pthread_t threads[MOST];
  kmb_comm_params p = kmb_comm_params_init();
  int bad = 0;
  p.skew_samples = skew_samples;
  REQUIRE_OK(kmb_comm_threads_create(size, &p, comms));
  for (int i = 0; i < size; i++) {
    ranks[i].index = i;
    ranks[i].comm = comms[i];
    REQUIRE_EQ(pthread_create(&threads[i], NULL, thread, &ranks[i]), 0);
  }
  for (int i = 0; i < size; i++) {
    REQUIRE_EQ(pthread_join(threads[i], NULL), 0);
    bad += ranks[i].failed;
    kmb_comm_destroy(comms[i]);
  }
  return bad;
}

/* Nothing of CUDA is used in this process: its children could not then. */
static int run(int index, const char *path) {
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child) return child;
  alarm(75);
  exit(index < 0 ? all_threads() : one_rank(index, path));
}

static int result_of(pid_t child) {
  int status = 0;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int count_devices(void) {
  kmbi_cu_driver cu;
  int count = 0;
  if (!gpu_driver(&cu) || cu.cuInit(0) || cu.cuDeviceGetCount(&count)) return 0;
  return count;
}

static int devices_there(void) {
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) _exit(count_devices());
  return result_of(child);
}

int main(int argc, char **argv) {
  pid_t children[MOST];
  int worst = 0;
  if (argc > 1) size = (int)strtol(argv[1], NULL, 10);
  if (argc > 3) skew_samples = strtoull(argv[3], NULL, 10);
  if (size < 2 || size > MOST || devices_there() < size) {
    printf("SKIPPED: there are not %d GPUs on this machine\n", size);
    return SKIPPED;
  }
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  for (int i = 0; i < size; i++)
    children[i] = run(i, argc > 2 ? argv[2] : NULL);
  for (int i = 0; i < size; i++) {
    int its = result_of(children[i]);
    if (its > worst) worst = its;
  }
  int threads = result_of(run(-1, NULL));
  printf("processes: %d, threads: %d\n", worst, threads);
  return worst || threads;
}
