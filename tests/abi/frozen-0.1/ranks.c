/* A program of 0.1: ranks that measure together, over the threads of a process
 * and over functions of the program's own. Not edited once 0.1 is tagged. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { RANKS = 2 };

typedef struct rank {
  kmb_comm *comm;
  pthread_t thread;
  int closed;
} rank;

static kmb_status launch(void *user, const kmb_launch *l) {
  volatile double sum = 0;
  (void)user;
  for (int i = 0; i < 1000; i++)
    sum = sum + (double)(l->iteration + 1);
  return KMB_OK;
}

static void judge(const kmb_result *result, const rank *r) {
  uint64_t size = 0;
  kmb_rank row = kmb_rank_init();
  OK(kmb_result_u64(result, KMB_VALUE_WORLD_SIZE, &size));
  HOLDS(size == (uint64_t)kmb_comm_size(r->comm));
  HOLDS(kmb_result_rank_count(result) == (size > 1 ? size : 0));
  if (size < 2) return;
  OK(kmb_result_rank(result, 1, &row));
  HOLDS(row.median_ns > 0 && row.min_ns <= row.median_ns);
  HOLDS(row.max_ns >= row.median_ns && row.device && row.id);
  HOLDS(row.node == 0 && row.flops == 0 && row.bytes == 0);
}

static void *measure(void *user) {
  rank *r = user;
  kmb_device *device = NULL;
  kmb_result *result = NULL;
  int32_t mine = kmb_comm_rank(r->comm), all[RANKS] = {-1, -1};
  kmb_device_params open = kmb_device_params_init();
  kmb_bench_params p = kmb_bench_params_init();
  open.threads = 1;
  OK(kmb_comm_allgather(r->comm, &mine, all, sizeof mine));
  for (int32_t i = 0; i < kmb_comm_size(r->comm); i++)
    HOLDS(all[i] == i);
  OK(kmb_device_open("host", &open, &device));
  p.name = "sum";
  p.launch = launch;
  p.comm = r->comm;
  p.boundary = "all of it";
  p.max_samples = 10;
  p.warmup_ns = 1e6;
  OK(kmb_bench(device, &p, &result));
  judge(result, r);
  kmb_result_destroy(result);
  kmb_device_close(device);
  kmb_comm_destroy(r->comm);
  return NULL;
}

static void threads_measure_together(void) {
  rank ranks[RANKS];
  kmb_comm *comms[RANKS];
  kmb_comm_params params = kmb_comm_params_init();
  params.deadline_ns = params.first_deadline_ns = 60e9;
  params.barrier = KMB_BARRIER_AUTO;
  params.multicast = KMB_MULTICAST_UNDECLARED;
  OK(kmb_comm_threads_create(RANKS, &params, comms));
  for (int i = 0; i < RANKS; i++) {
    ranks[i].comm = comms[i];
    HOLDS(!pthread_create(&ranks[i].thread, NULL, measure, &ranks[i]));
  }
  for (int i = 0; i < RANKS; i++)
    HOLDS(!pthread_join(ranks[i].thread, NULL));
}

/* One rank alone: what it gives is what it gets. */
static kmb_status start(void *ctx, const void *send, void *receive,
                        size_t bytes, void **request) {
  memcpy(receive, send, bytes);
  *request = ctx;
  return KMB_OK;
}

static kmb_status test(void *ctx, void *request, int32_t *done) {
  HOLDS(request == ctx);
  *done = 1;
  return KMB_OK;
}

static void release(void *ctx, void *request) {
  HOLDS(request == ctx);
}

static void close_own(void *ctx) {
  ((rank *)ctx)->closed++;
}

static void functions_of_ones_own_serve(void) {
  rank own = {0};
  kmb_comm_ops ops = kmb_comm_ops_init();
  ops.ctx = &own;
  ops.start = start;
  ops.test = test;
  ops.release = release;
  ops.close = close_own;
  ops.name = "its own";
  ops.size = 1;
  OK(kmb_comm_create(&ops, NULL, &own.comm));
  measure(&own);
  HOLDS(own.closed == 1);
}

/* Names of shared memory are of one run: this process is the only rank. */
static void a_process_alone_meets_itself(void) {
  rank own = {0};
  char name[64];
  snprintf(name, sizeof name, "/kmb-frozen-%ld", (long)getpid());
  OK(kmb_comm_shm_create(name, 0, 1, NULL, &own.comm));
  measure(&own);
}

int main(void) {
  threads_measure_together();
  functions_of_ones_own_serve();
  a_process_alone_meets_itself();
  return 0;
}
