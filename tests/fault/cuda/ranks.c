/* Two ranks of one process on two devices of the virtual GPU machine. */
#include "bed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "alone.h"

enum { RANKS = 2 };

typedef struct rank {
  bed b;
  kmb_comm *comm;
  kmb_result *result;
  pthread_t thread;
  kmb_status status;
  double us; /* that its operation spins */
  spin work;
  uint64_t calls, vanish_at;
  uint64_t fail_at; /* allocation, from kmb_bench() on */
  char words[256];
} rank;

static rank ranks[RANKS];
static kmb_comm_params params;
static kmb_launch_mode mode;
static kmb_timer timer;
static uint64_t most; /* samples */

static kmb_status launch(void *user, const kmb_launch *l) {
  rank *r = user;
  return bed_launch_spin(&r->work, l);
}

static void open_rank(rank *r) {
  bed *b = &r->b;
  char name[16];
  int index = (int)(r - ranks);
  CU(b, cuDevicePrimaryCtxRetain, &b->context, index);
  CU(b, cuCtxSetCurrent, b->context);
  CU(b, cuModuleLoadData, &b->module, ".version 6.0");
  r->work = bed_spin(b, r->us, 1);
  snprintf(name, sizeof name, "cuda:%d", index);
  REQUIRE_OK(bed_open(b, name));
}

static void *measure(void *user) {
  rank *r = user;
  bed *b = &r->b;
  open_rank(r);
  kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
  p.launch = launch;
  p.launch_user = r;
  p.comm = r->comm;
  p.max_samples = most;
  if (r->fail_at) b->memory.fail_at = b->memory.calls + r->fail_at;
  r->status = kmb_bench(b->device, &p, &r->result);
  snprintf(r->words, sizeof r->words, "%s",
           r->status ? kmb_last_error(NULL, NULL) : "");
  return NULL;
}

/* Called in one thread once both ranks are done. */
static void end(rank *r) {
  bed *b = &r->b;
  kmb_result_destroy(r->result);
  kmb_comm_destroy(r->comm);
  CU(b, cuCtxSetCurrent, b->context);
  bed_close(b);
  CU(b, cuModuleUnload, b->module);
  CU(b, cuDevicePrimaryCtxRelease, (int)(r - ranks));
  CU(b, cuCtxSetCurrent, NULL);
}

static void set_up(void) {
  sim_reset();
  sim_set()->visible = 2;
  sim_set()->shown = RANKS;
  memset(ranks, 0, sizeof ranks);
  params = kmb_comm_params_init();
  params.skew_samples = 10;
  params.deadline_ns = params.first_deadline_ns = 1e13;
  mode = KMB_LAUNCH_AUTO;
  timer = KMB_TIMER_AUTO;
  most = 20;
  for (int i = 0; i < RANKS; i++) {
    bed_look_up(&ranks[i].b);
    ranks[i].us = 20 + 10 * i;
  }
}

static void run(void) {
  kmb_comm *comms[RANKS];
  REQUIRE_OK(kmb_comm_threads_create(RANKS, &params, comms));
  for (int i = 0; i < RANKS; i++) {
    ranks[i].comm = comms[i];
    REQUIRE_EQ(pthread_create(&ranks[i].thread, NULL, measure, &ranks[i]), 0);
  }
  for (int i = 0; i < RANKS; i++)
    REQUIRE_EQ(pthread_join(ranks[i].thread, NULL), 0);
}

static void good(void) {
  run();
  for (int i = 0; i < RANKS; i++)
    if (ranks[i].status) fprintf(stderr, "rank %d: %s\n", i, ranks[i].words);
  for (int i = 0; i < RANKS; i++)
    REQUIRE_EQ(ranks[i].status, KMB_OK);
}

static void finish(void) {
  for (int i = 0; i < RANKS; i++)
    end(&ranks[i]);
  if (sim_held()) sim_print_held();
  REQUIRE_EQ(sim_held(), 0);
}

static void check_time(void) {
  for (int i = 0; i < RANKS; i++) {
    const kmb_result *r = ranks[i].result;
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 30536, 200);
    REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "EVENT");
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_WORLD_SIZE), 2);
    REQUIRE_EQ(kmb_result_rank_count(r), 2);
  }
}

static void ranks_are_aligned_by_a_barrier_that_is_chosen(void) {
  set_up();
  good();
  check_time();
  REQUIRE_STR(bed_text(ranks[0].result, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  const char *barrier = bed_text(ranks[0].result, KMB_VALUE_BARRIER);
  REQUIRE_HAS(barrier, "words in the peers' memory");
  REQUIRE_HAS(barrier, "FLAG: released within");
  REQUIRE_HAS(barrier, "STREAM: released within");
  REQUIRE(bed_f64(ranks[0].result, KMB_VALUE_RELEASE_SKEW) >= 0);
  finish();
}

static void each_barrier_is_had_by_name(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_STREAM,
                                      KMB_BARRIER_NCCL};
  static const char *const names[] = {"FLAG, ", "STREAM, ", "NCCL, "};
  for (int i = 0; i < 3; i++) {
    set_up();
    params.barrier = kinds[i];
    mode = KMB_LAUNCH_PLAIN;
    good();
    check_time();
    REQUIRE_HAS(bed_text(ranks[1].result, KMB_VALUE_BARRIER), names[i]);
    REQUIRE(bed_f64(ranks[1].result, KMB_VALUE_RELEASE_SKEW) >= 0);
    finish();
  }
}

static void without_peer_access_nccl_aligns(void) {
  set_up();
  sim_set()->no_peers = true;
  good();
  check_time();
  const char *barrier = bed_text(ranks[0].result, KMB_VALUE_BARRIER);
  REQUIRE_HAS(barrier, "NCCL, NCCL 2.28.9, multicast off, set by libkmb for "
                       "this process (");
  REQUIRE_HAS(bed_finding(ranks[0].result, KMB_FINDING_MULTICAST_OFF),
              "NCCL_NVLS_ENABLE is 0");
  REQUIRE_HAS(barrier, "no peer access");
  /* An all-reduce cannot judge itself. */
  REQUIRE_HAS(bed_finding(ranks[0].result, KMB_FINDING_RANK_SKEW),
              "not known: how far apart NCCL released the ranks");
  REQUIRE_STR(getenv("NCCL_NVLS_ENABLE"), "0");
  finish();
}

/* Somebody used NCCL before: multicast may be on in it. */
static void nccl_that_may_use_multicast_is_passed_over(void) {
  set_up();
  void *library = dlopen("libnccl.so.2", RTLD_NOW);
  REQUIRE(library);
  unsetenv("NCCL_NVLS_ENABLE");
  params.barrier = KMB_BARRIER_NCCL;
  run();
  REQUIRE_EQ(ranks[0].status, KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(ranks[0].words, "NCCL_NVLS_ENABLE is not 0");
  REQUIRE(!getenv("NCCL_NVLS_ENABLE"));
  finish();
  set_up();
  sim_set()->no_peers = true;
  good();
  REQUIRE_HAS(bed_text(ranks[0].result, KMB_VALUE_BARRIER), "HOST (");
  REQUIRE_HAS(bed_text(ranks[0].result, KMB_VALUE_BARRIER), "no peer access");
  finish();
  dlclose(library);
}

static void without_peer_access_the_hosts_align(void) {
  set_up();
  sim_set()->no_peers = true;
  setenv("NCCL_NVLS_ENABLE", "1", 1);
  REQUIRE(dlopen("libnccl.so.2", RTLD_NOW));
  good();
  check_time();
  const char *barrier = bed_text(ranks[0].result, KMB_VALUE_BARRIER);
  REQUIRE_HAS(barrier, "HOST (");
  REQUIRE_HAS(barrier, "no peer access");
  REQUIRE_HAS(bed_finding(ranks[0].result, KMB_FINDING_RANK_SKEW), "not known");
  finish();
}

static void an_old_driver_has_no_stream_operations(void) {
  set_up();
  sim_set()->missing = "cuStreamWriteValue32";
  good();
  REQUIRE_HAS(bed_text(ranks[0].result, KMB_VALUE_BARRIER), "FLAG, ");
  REQUIRE_HAS(bed_text(ranks[0].result, KMB_VALUE_BARRIER),
              "no cuStreamWriteValue32");
  finish();
}

/* The caller's communicator is of an NCCL that is in the process. */
static void a_communicator_of_no_nccl_that_is_there_is_refused(void) {
  set_up();
  params.barrier = KMB_BARRIER_NCCL;
  params.nccl = &params;
  run();
  REQUIRE_EQ(ranks[0].status, KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(ranks[0].words, "has loaded");
  REQUIRE(!getenv("NCCL_NVLS_ENABLE"));
  finish();
  set_up();
  params.barrier = KMB_BARRIER_NCCL;
  good(); /* one of our own can be had even so */
  REQUIRE_HAS(bed_text(ranks[0].result, KMB_VALUE_BARRIER), "set by libkmb");
  finish();
}

/* A rank that stumbles: its callback or its reset hook returns `code` at one
 * call, after it has enqueued the barrier or before. */
static struct {
  kmb_status code;
  bool in_reset;
} how;

static kmb_status stumbles(rank *r) {
  return r->vanish_at && ++r->calls == r->vanish_at ? how.code : KMB_OK;
}

static kmb_status launch_or_stumble(void *user, const kmb_launch *l) {
  kmb_status status = how.in_reset ? KMB_OK : stumbles(user);
  return status ? status : launch(user, l);
}

static kmb_status reset_or_stumble(void *user, uint32_t slot, void *stream) {
  (void)slot;
  (void)stream;
  return stumbles(user);
}

static void *measure_stumbling(void *user) {
  rank *r = user;
  open_rank(r);
  kmb_bench_params p =
      bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_or_stumble;
  p.launch_user = r;
  p.reset = how.in_reset ? reset_or_stumble : NULL;
  p.reset_user = r;
  p.comm = r->comm;
  p.max_samples = 20;
  r->status = kmb_bench(r->b.device, &p, &r->result);
  REQUIRE_EQ(r->status, how.code);
  r->vanish_at = 0;
  REQUIRE_OK(kmb_bench(r->b.device, &p, &r->result));
  return NULL;
}

static void start_all(void *(*body)(void *)) {
  kmb_comm *comms[RANKS];
  REQUIRE_OK(kmb_comm_threads_create(RANKS, &params, comms));
  for (int i = 0; i < RANKS; i++) {
    ranks[i].comm = comms[i];
    REQUIRE_EQ(pthread_create(&ranks[i].thread, NULL, body, &ranks[i]), 0);
  }
}

/* The other rank waits in the barrier behind its gate: it is let go, and both
 * devices are of use. */
static void a_rank_that_waits_in_a_barrier_is_let_go(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_STREAM,
                                      KMB_BARRIER_NCCL};
  for (int k = 0; k < 6; k++) {
    set_up();
    how.code = 42;
    how.in_reset = k >= 3;
    params.barrier = kinds[k % 3];
    ranks[1].vanish_at = 12;
    start_all(measure_stumbling);
    for (int i = 0; i < RANKS; i++)
      REQUIRE_EQ(pthread_join(ranks[i].thread, NULL), 0);
    check_time();
    finish();
  }
}

/* A rank whose device or whose host stops for good. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  bool in_reset, on_host, let_go;
  volatile uint32_t *word; /* that the hung kernel waits for */
} stop = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static kmb_status stops(rank *r, void *stream) {
  uint64_t word = (uintptr_t)stop.word;
  void *arguments[] = {&word};
  if (!r->vanish_at || ++r->calls != r->vanish_at) return KMB_OK;
  if (!stop.on_host)
    return r->b.cu.cuLaunchKernel(bed_kernel(&r->b, "test_hang"), 1, 1, 1, 1, 1,
                                  1, 0, stream, arguments, NULL)
               ? KMB_ERR_VENDOR
               : KMB_OK;
  pthread_mutex_lock(&stop.lock);
  while (!stop.let_go)
    pthread_cond_wait(&stop.moved, &stop.lock);
  pthread_mutex_unlock(&stop.lock);
  return KMB_OK;
}

static kmb_status launch_or_stop(void *user, const kmb_launch *l) {
  kmb_status status = stop.in_reset ? KMB_OK : stops(user, l->stream);
  return status ? status : launch(user, l);
}

static kmb_status reset_or_stop(void *user, uint32_t slot, void *stream) {
  (void)slot;
  return stop.in_reset ? stops(user, stream) : KMB_OK;
}

static void *measure_stopping(void *user) {
  rank *r = user;
  open_rank(r);
  kmb_bench_params p =
      bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_or_stop;
  p.launch_user = r;
  p.reset = reset_or_stop;
  p.reset_user = r;
  p.comm = r->comm;
  p.max_samples = 20;
  r->status = kmb_bench(r->b.device, &p, &r->result);
  snprintf(r->words, sizeof r->words, "%s", kmb_last_error(NULL, NULL));
  return NULL;
}

/* Virtual seconds: long enough for a thread that the machine lets wait. */
#define PATIENCE_NS 1e9

static void stop_rank_1(kmb_barrier barrier, bool in_reset, bool on_host) {
  set_up();
  params.barrier = barrier;
  params.deadline_ns = PATIENCE_NS;
  stop.in_reset = in_reset;
  stop.on_host = on_host;
  stop.let_go = false;
  stop.word = calloc(1, 4);
  ranks[1].vanish_at = 12;
  start_all(measure_stopping);
  REQUIRE_EQ(pthread_join(ranks[0].thread, NULL), 0);
  pthread_mutex_lock(&stop.lock);
  stop.let_go = true;
  pthread_cond_broadcast(&stop.moved);
  pthread_mutex_unlock(&stop.lock);
  REQUIRE_EQ(pthread_join(ranks[1].thread, NULL), 0);
  if (on_host) return;
  REQUIRE_EQ(ranks[1].status, KMB_ERR_LOST);
  *stop.word = 1; /* so that what is lost can be given back */
}

/* Rank 1 is held up behind its closed gate for good. */
static void a_gate_that_nobody_opens_holds_nobody_for_ever(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_NCCL};
  for (int k = 0; k < 2; k++) {
    stop_rank_1(kinds[k], false, true);
    REQUIRE_EQ(ranks[0].status, KMB_ERR_TIMEOUT);
    REQUIRE_HAS(ranks[0].words, "rank 1 did not come to step \"measure\"");
    REQUIRE_EQ(ranks[1].status, KMB_ERR_TIMEOUT);
    finish();
    free((void *)(uintptr_t)stop.word);
  }
}

/* Rank 1's device never comes to the barrier: rank 0's is let go, and stays of
 * use. */
static void miss_the_barrier(kmb_barrier barrier) {
  stop_rank_1(barrier, true, false);
  REQUIRE_HAS(ranks[0].words, "rank 1");
  REQUIRE_HAS(ranks[0].words, "step \"measure\"");
  REQUIRE_EQ(ranks[0].status, KMB_ERR_TIMEOUT);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = launch;
  p.launch_user = &ranks[0];
  CU(&ranks[0].b, cuCtxSetCurrent, ranks[0].b.context);
  REQUIRE_OK(kmb_bench(ranks[0].b.device, &p, &ranks[0].result));
}

static void a_device_that_misses_the_barrier_is_named(void) {
  miss_the_barrier(KMB_BARRIER_FLAG);
}

static void a_device_that_misses_the_stream_barrier_is_named(void) {
  miss_the_barrier(KMB_BARRIER_STREAM);
}

static void a_device_that_does_not_end_the_operation_is_told_of(void) {
  stop_rank_1(KMB_BARRIER_FLAG, false, false);
  REQUIRE(ranks[0].status == KMB_ERR_TIMEOUT ||
          ranks[0].status == KMB_ERR_LOST);
  REQUIRE_HAS(ranks[0].words, "rank 1 failed at step \"measure\"");
}

/* Memory that one rank lacks, whatever for: both end in the same way, and the
 * other one names it. */
static void any_allocation_of_one_rank_may_fail(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_NCCL};
  for (int k = 0; k < 2; k++) {
    uint64_t failures = 0;
    bool failed = true;
    for (uint64_t at = 1; failed; at += heap_step()) {
      set_up();
      params.barrier = kinds[k];
      params.skew_samples = 1;
      timer = KMB_TIMER_HOST; /* no calibration */
      most = 8;
      ranks[1].fail_at = at;
      run();
      failed = ranks[1].b.memory.failed;
      failures += failed;
      for (int i = 0; i < RANKS; i++) {
        if (ranks[i].status != (failed ? KMB_ERR_NOMEM : KMB_OK))
          fprintf(stderr, "allocation %d, rank %d: %s\n", (int)at, i,
                  ranks[i].words);
        REQUIRE_EQ(ranks[i].status, failed ? KMB_ERR_NOMEM : KMB_OK);
      }
      if (failed) REQUIRE_HAS(ranks[0].words, "rank 1");
      ranks[1].b.memory.fail_at = 0;
      finish();
    }
    REQUIRE(failures > 20);
  }
}

/* Whichever rank meets the failure: both end in the same way, and nothing is
 * left. */
static void any_call_of_a_barrier_may_fail(void) {
  static const sim_function calls[] = {SIM_cuStreamWriteValue32,
                                       SIM_cuDeviceCanAccessPeer,
                                       SIM_cuCtxEnablePeerAccess,
                                       SIM_cuIpcGetMemHandle,
                                       SIM_cuMemAlloc,
                                       SIM_cuMemcpyHtoDAsync,
                                       SIM_cuMemsetD32Async,
                                       SIM_cuStreamCreate};
  for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
    for (uint64_t k = 1; k < 6; k++) {
      set_up();
      params.skew_samples = 1;
      timer = KMB_TIMER_HOST;
      most = 8;
      sim_fail(calls[c], k, 999);
      run();
      if (ranks[0].status != ranks[1].status)
        fprintf(stderr, "%s %d: %s; %s\n", sim_name(calls[c]), (int)k,
                ranks[0].words, ranks[1].words);
      REQUIRE_EQ(ranks[0].status, ranks[1].status);
      sim_fail(calls[c], 0, 0);
      finish();
    }
}

/* What stops for good takes its time: a run of its own. */
int main(int argc, char **argv) {
  int bad = 0;
  if (argc > 1 && strcmp(argv[1], "stopped") == 0) {
    bad += ALONE(a_gate_that_nobody_opens_holds_nobody_for_ever);
    bad += ALONE(a_device_that_misses_the_barrier_is_named);
    bad += ALONE(a_device_that_misses_the_stream_barrier_is_named);
    bad += ALONE(a_device_that_does_not_end_the_operation_is_told_of);
    return bad != 0;
  }
  bad += ALONE(ranks_are_aligned_by_a_barrier_that_is_chosen);
  bad += ALONE(each_barrier_is_had_by_name);
  bad += ALONE(without_peer_access_nccl_aligns);
  bad += ALONE(nccl_that_may_use_multicast_is_passed_over);
  bad += ALONE(a_communicator_of_no_nccl_that_is_there_is_refused);
  bad += ALONE(without_peer_access_the_hosts_align);
  bad += ALONE(an_old_driver_has_no_stream_operations);
  bad += ALONE(a_rank_that_waits_in_a_barrier_is_let_go);
  bad += ALONE(any_allocation_of_one_rank_may_fail);
  bad += ALONE(any_call_of_a_barrier_may_fail);
  return bad != 0;
}
