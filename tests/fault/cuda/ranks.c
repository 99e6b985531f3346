/* Two ranks of one process on two devices of the virtual GPU machine. */
#include "bed.h"

#include <dlfcn.h>
#include <pthread.h>

#include "alone.h"

enum { RANKS = 2 };

typedef struct rank {
  bed b;
  kmb_comm *comm;
  kmb_result *result;
  pthread_t thread;
  kmb_status status;
  double us; /* that its operation spins */
  uint64_t calls, vanish_at;
  char words[256];
} rank;

static rank ranks[RANKS];
static kmb_comm_params params;
static kmb_launch_mode mode;

static kmb_status launch(void *user, const kmb_launch *l) {
  rank *r = user;
  spin s = bed_spin(&r->b, r->us, 1);
  return bed_launch_spin(&s, l);
}

static void *measure(void *user) {
  rank *r = user;
  char name[16];
  int index = (int)(r - ranks);
  bed *b = &r->b;
  kmbi_cu_device device = index;
  CU(b, cuDevicePrimaryCtxRetain, &b->context, device);
  CU(b, cuCtxSetCurrent, b->context);
  CU(b, cuModuleLoadData, &b->module, ".version 6.0");
  snprintf(name, sizeof name, "cuda:%d", index);
  REQUIRE_OK(bed_open(b, name));
  kmb_bench_params p = bed_params(KMB_TIMER_AUTO, mode, KMB_CACHE_WARM);
  p.launch = launch;
  p.launch_user = r;
  p.comm = r->comm;
  p.max_samples = 20;
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
    finish();
  }
}

static void without_peer_access_nccl_aligns(void) {
  set_up();
  sim_set()->no_peers = true;
  good();
  check_time();
  const char *barrier = bed_text(ranks[0].result, KMB_VALUE_BARRIER);
  REQUIRE_HAS(barrier, "NCCL, NCCL 2.28.9, multicast off (");
  REQUIRE_HAS(barrier, "no peer access");
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

/* A rank's callback fails while the other waits in the barrier behind its gate:
 * the barrier lets it go, and both devices are of use. */
static kmb_status fails_late(void *user, const kmb_launch *l) {
  rank *r = user;
  if (r->vanish_at && ++r->calls == r->vanish_at) return 42;
  return launch(user, l);
}

static void *measure_failing(void *user) {
  rank *r = user;
  bed *b = &r->b;
  char name[16];
  int index = (int)(r - ranks);
  CU(b, cuDevicePrimaryCtxRetain, &b->context, index);
  CU(b, cuCtxSetCurrent, b->context);
  CU(b, cuModuleLoadData, &b->module, ".version 6.0");
  snprintf(name, sizeof name, "cuda:%d", index);
  REQUIRE_OK(bed_open(b, name));
  kmb_bench_params p =
      bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = fails_late;
  p.launch_user = r;
  p.comm = r->comm;
  p.max_samples = 20;
  for (int i = 0; i < 2; i++) {
    r->status = kmb_bench(b->device, &p, &r->result);
    REQUIRE_EQ(r->status, i ? KMB_OK : 42);
    r->vanish_at = 0;
  }
  return NULL;
}

static void a_rank_that_waits_in_a_barrier_is_let_go(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_STREAM};
  for (int k = 0; k < 2; k++) {
    kmb_comm *comms[RANKS];
    set_up();
    params.barrier = kinds[k];
    ranks[1].vanish_at = 12;
    REQUIRE_OK(kmb_comm_threads_create(RANKS, &params, comms));
    for (int i = 0; i < RANKS; i++) {
      ranks[i].comm = comms[i];
      REQUIRE_EQ(
          pthread_create(&ranks[i].thread, NULL, measure_failing, &ranks[i]),
          0);
    }
    for (int i = 0; i < RANKS; i++)
      REQUIRE_EQ(pthread_join(ranks[i].thread, NULL), 0);
    check_time();
    finish();
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

int main(void) {
  int bad = ALONE(ranks_are_aligned_by_a_barrier_that_is_chosen);
  bad += ALONE(each_barrier_is_had_by_name);
  bad += ALONE(without_peer_access_nccl_aligns);
  bad += ALONE(nccl_that_may_use_multicast_is_passed_over);
  bad += ALONE(without_peer_access_the_hosts_align);
  bad += ALONE(an_old_driver_has_no_stream_operations);
  bad += ALONE(a_rank_that_waits_in_a_barrier_is_let_go);
  bad += ALONE(any_call_of_a_barrier_may_fail);
  return bad != 0;
}
