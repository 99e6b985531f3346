/* Two ranks of one process on two devices of the virtual AMD machine, aligned
 * by a stand-in for RCCL. */
#include "bed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "../../../backends/hip/rccl_api.h"
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
  uint64_t calls, odd_at; /* the call that does something else */
  uint64_t fail_at;       /* allocation, from kmb_bench() on */
  char words[256];
} rank;

static rank ranks[RANKS];
static kmb_comm_params params;
static kmb_bench_params asked;

/* Virtual seconds: long enough for a thread that the machine lets wait. */
#define PATIENCE_NS 1e9

/* What the odd call does. */
static struct {
  kmb_status code; /* it returns this */
  bool in_reset;   /* it is the reset hook */
  kmb_status (*also)(rank *r, void *stream);
} odd;

static kmb_status oddity(rank *r, void *stream) {
  if (!r->odd_at ||
      __atomic_add_fetch(&r->calls, 1, __ATOMIC_SEQ_CST) != r->odd_at)
    return KMB_OK;
  kmb_status status = odd.also ? odd.also(r, stream) : KMB_OK;
  return status ? status : odd.code;
}

static kmb_status launch(void *user, const kmb_launch *l) {
  rank *r = user;
  kmb_status status = odd.in_reset ? KMB_OK : oddity(r, l->stream);
  return status ? status : bed_launch_spin(&r->work, l);
}

static kmb_status reset(void *user, uint32_t slot, void *stream) {
  (void)slot;
  return oddity(user, stream);
}

static kmb_status bench(rank *r) {
  kmb_bench_params p = asked;
  p.launch = launch;
  p.launch_user = r;
  p.reset = odd.in_reset ? reset : NULL;
  p.reset_user = r;
  p.comm = r->comm;
  kmb_result_destroy(r->result);
  r->result = NULL;
  r->status = kmb_bench(r->b.device, &p, &r->result);
  snprintf(r->words, sizeof r->words, "%s",
           r->status ? kmb_last_error(NULL, NULL) : "");
  return r->status;
}

static void open_rank(rank *r) {
  char name[16];
  int index = (int)(r - ranks);
  HIP(&r->b, hipSetDevice, index);
  HIP(&r->b, hipModuleLoadData, &r->b.module, SIM_CODE);
  r->work = bed_spin(&r->b, r->us, 1);
  snprintf(name, sizeof name, "hip:%d", index);
  REQUIRE_OK(bed_open(&r->b, name));
  if (r->fail_at) r->b.memory.fail_at = r->b.memory.calls + r->fail_at;
}

static void *measure(void *user) {
  open_rank(user);
  (void)bench(user);
  return NULL;
}

static void set_up(void) {
  sim_reset();
  sim_set()->threads = RANKS;
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
  memset(ranks, 0, sizeof ranks);
  memset(&odd, 0, sizeof odd);
  params = kmb_comm_params_init();
  params.skew_samples = 5;
  params.deadline_ns = params.first_deadline_ns = 1e13;
  asked = bed_params(KMB_TIMER_AUTO, KMB_LAUNCH_AUTO, KMB_CACHE_WARM);
  asked.max_samples = 20;
  for (int i = 0; i < RANKS; i++) {
    bed_look_up(&ranks[i].b);
    ranks[i].us = 20 + 10 * i;
  }
}

static void start_all(void *(*body)(void *)) {
  kmb_comm *comms[RANKS] = {NULL};
  if (!ranks[0].comm)
    REQUIRE_OK(kmb_comm_threads_create(RANKS, &params, comms));
  for (int i = 0; i < RANKS; i++) {
    if (comms[i]) ranks[i].comm = comms[i];
    REQUIRE_EQ(pthread_create(&ranks[i].thread, NULL, body, &ranks[i]), 0);
  }
}

static void run(void *(*body)(void *)) {
  start_all(body);
  for (int i = 0; i < RANKS; i++)
    REQUIRE_EQ(pthread_join(ranks[i].thread, NULL), 0);
}

static void good(void) {
  run(measure);
  for (int i = 0; i < RANKS; i++)
    if (ranks[i].status) fprintf(stderr, "rank %d: %s\n", i, ranks[i].words);
  for (int i = 0; i < RANKS; i++)
    REQUIRE_EQ(ranks[i].status, KMB_OK);
}

static void finish(void) {
  for (int i = 0; i < RANKS; i++) {
    bed *b = &ranks[i].b;
    kmb_result_destroy(ranks[i].result);
    kmb_comm_destroy(ranks[i].comm);
    HIP(b, hipSetDevice, i);
    bed_close(b);
    HIP(b, hipModuleUnload, b->module);
  }
  if (sim_held()) sim_print_held();
  REQUIRE_EQ(sim_held(), 0);
}

static void check_time(void) {
  for (int i = 0; i < RANKS; i++) {
    const kmb_result *r = ranks[i].result;
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 30895, 200);
    REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "EVENT");
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_WORLD_SIZE), RANKS);
    REQUIRE_EQ(kmb_result_rank_count(r), RANKS);
  }
}

static const char *barrier_of(int which) {
  return bed_text(ranks[which].result, KMB_VALUE_BARRIER);
}

static void ranks_are_aligned_by_rccl(void) {
  set_up();
  good();
  check_time();
  REQUIRE_STR(bed_text(ranks[0].result, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  REQUIRE_STR(barrier_of(0),
              "NCCL, RCCL 2.21.5, a communicator of libkmb's own");
  double unused = 0;
  REQUIRE_STATUS(
      kmb_result_f64(ranks[1].result, KMB_VALUE_RELEASE_SKEW, &unused),
      KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(bed_finding(ranks[1].result, KMB_FINDING_RANK_SKEW),
              "not told by RCCL");
  /* NVLink multicast is none of RCCL's, nor is the watchdog of one that libkmb
   * itself brought. */
  REQUIRE(!bed_finding(ranks[0].result, KMB_FINDING_MULTICAST_OFF));
  REQUIRE(!getenv("NCCL_NVLS_ENABLE"));
  REQUIRE_STR(ranks[0].b.log, "");
  finish();
}

static void plain_launches_and_cold_caches_are_aligned_too(void) {
  set_up();
  params.barrier = KMB_BARRIER_NCCL;
  asked = bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  asked.max_samples = 20;
  odd.in_reset = true;
  good();
  check_time();
  REQUIRE_HAS(barrier_of(1), "NCCL, RCCL 2.21.5");
  finish();
}

static void the_host_s_clock_is_aligned_too(void) {
  set_up();
  asked = bed_params(KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  asked.max_samples = 20;
  good();
  for (int i = 0; i < RANKS; i++)
    REQUIRE(bed_f64(ranks[i].result, KMB_VALUE_TIME) > 31000);
  finish();
}

static void without_rccl_the_hosts_align(void) {
  set_up();
  sim_set()->missing[0] = "ncclAllReduce";
  good();
  check_time();
  REQUIRE_HAS(barrier_of(0), "HOST (NCCL: librccl lacks ncclAllReduce");
  REQUIRE_HAS(bed_finding(ranks[0].result, KMB_FINDING_RANK_SKEW), "not known");
  finish();
}

/* Without a barrier, what is reset on the device ends before the hosts meet. */
static void the_hosts_align_after_a_reset(void) {
  set_up();
  params.barrier = KMB_BARRIER_HOST;
  odd.in_reset = true;
  asked.launch_mode = KMB_LAUNCH_PLAIN;
  good();
  check_time();
  REQUIRE_STR(barrier_of(0), "HOST");
  finish();
}

static void an_old_rccl_is_refused(void) {
  set_up();
  sim_set()->rccl_version = 21703;
  params.barrier = KMB_BARRIER_NCCL;
  run(measure);
  for (int i = 0; i < RANKS; i++) {
    REQUIRE_EQ(ranks[i].status, KMB_ERR_UNSUPPORTED);
    REQUIRE_HAS(ranks[i].words, "RCCL 21703 is too old");
  }
  finish();
}

static void barriers_that_hip_lacks_are_refused(void) {
  static const kmb_barrier kinds[] = {KMB_BARRIER_FLAG, KMB_BARRIER_STREAM};
  for (int k = 0; k < 2; k++) {
    set_up();
    params.barrier = kinds[k];
    run(measure);
    REQUIRE_EQ(ranks[0].status, KMB_ERR_UNSUPPORTED);
    REQUIRE_HAS(ranks[0].words, "cannot be had on every rank");
    finish();
  }
}

/* Several ranks, one device. */
static void *measure_on_one(void *user) {
  rank *r = user;
  HIP(&r->b, hipModuleLoadData, &r->b.module, SIM_CODE);
  REQUIRE_OK(bed_open(&r->b, "hip:0"));
  (void)bench(r);
  return NULL;
}

static void two_ranks_on_one_device_are_refused(void) {
  set_up();
  run(measure_on_one);
  for (int i = 0; i < RANKS; i++) {
    REQUIRE_EQ(ranks[i].status, KMB_ERR_INVALID);
    REQUIRE_HAS(ranks[i].words, "ranks 0 and 1 have the same device");
  }
  finish();
}

/* --- a communicator of the caller's --------------------------------------- */

/* The caller's own exchange: two threads and a board. */
static struct {
  pthread_mutex_t lock;
  char given[2][RANKS][KMB_COMM_RECORD]; /* of the latest two exchanges */
  uint64_t turns[RANKS];
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *places[RANKS]; /* where each collects */

static kmb_status meet_start(void *ctx, const void *send, void *receive,
                             size_t bytes, void **request) {
  int r = (int)((rank *)ctx - ranks);
  pthread_mutex_lock(&meeting.lock);
  memcpy(meeting.given[meeting.turns[r]++ % 2][r], send, bytes);
  pthread_mutex_unlock(&meeting.lock);
  places[r] = receive;
  *request = &places[r];
  return KMB_OK;
}

static kmb_status meet_test(void *ctx, void *request, int32_t *done) {
  int r = (int)((rank *)ctx - ranks);
  (void)request;
  pthread_mutex_lock(&meeting.lock);
  uint64_t turn = meeting.turns[r];
  *done = meeting.turns[1 - r] >= turn;
  if (*done)
    memcpy(places[r], meeting.given[(turn - 1) % 2],
           sizeof meeting.given[(turn - 1) % 2]);
  pthread_mutex_unlock(&meeting.lock);
  return KMB_OK;
}

static void meet_release(void *ctx, void *request) {
  (void)ctx;
  (void)request;
}

static kmbi_rccl_api rccl;

static void look_up_rccl(void) {
  void *library = dlopen("librccl.so.1", RTLD_NOW);
  REQUIRE(library);
#define LOOK_UP(name, arguments)                  \
  *(void **)(&rccl.name) = dlsym(library, #name); \
  REQUIRE(rccl.name);
  KMBI_RCCL_MAP(LOOK_UP)
#undef LOOK_UP
}

/* Of `size` ranks, of which ours are the first. */
static void bring_communicators(int size, kmbi_rccl_comm *made) {
  kmbi_rccl_id id;
  kmbi_rccl_config config = {
      .size = sizeof config, .magic = KMBI_RCCL_MAGIC, .blocking = 0};
  look_up_rccl();
  REQUIRE_EQ(rccl.ncclGetUniqueId(&id), 0);
  for (int i = 0; i < RANKS; i++) {
    kmb_comm_ops ops = kmb_comm_ops_init();
    HIP(&ranks[0].b, hipSetDevice, i);
    REQUIRE_EQ(rccl.ncclCommInitRankConfig(&made[i], size, id, i, &config),
               KMBI_RCCL_IN_PROGRESS);
    ops.ctx = &ranks[i];
    ops.start = meet_start;
    ops.test = meet_test;
    ops.release = meet_release;
    ops.rank = i;
    ops.size = RANKS;
    params.nccl = made[i];
    REQUIRE_OK(kmb_comm_create(&ops, &params, &ranks[i].comm));
  }
  memset(meeting.turns, 0, sizeof meeting.turns);
}

static void a_communicator_of_the_caller_s_is_used_and_left(void) {
  kmbi_rccl_comm made[RANKS];
  set_up();
  bring_communicators(RANKS, made);
  good();
  check_time();
  REQUIRE_STR(barrier_of(0), "NCCL, RCCL 2.21.5, the caller's communicator");
  for (int i = 0; i < RANKS; i++) {
    int count = 0;
    REQUIRE_EQ(rccl.ncclCommCount(made[i], &count), 0);
    REQUIRE_EQ(count, RANKS);
    REQUIRE_EQ(rccl.ncclCommAbort(made[i]), 0);
  }
  finish();
}

static void a_communicator_of_other_ranks_is_refused(void) {
  kmbi_rccl_comm made[RANKS];
  set_up();
  params.barrier = KMB_BARRIER_NCCL;
  bring_communicators(RANKS + 1, made);
  run(measure);
  for (int i = 0; i < RANKS; i++) {
    REQUIRE_EQ(ranks[i].status, KMB_ERR_INVALID);
    REQUIRE_HAS(ranks[i].words, "has 3 ranks, this measurement 2");
    REQUIRE_EQ(rccl.ncclCommAbort(made[i]), 0);
  }
  finish();
}

static void a_communicator_of_no_rccl_that_is_there_is_refused(void) {
  set_up();
  params.barrier = KMB_BARRIER_NCCL;
  params.nccl = &params;
  run(measure);
  REQUIRE_EQ(ranks[0].status, KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(ranks[0].words, "has loaded");
  finish();
  set_up();
  good(); /* one of our own can be had even so */
  REQUIRE_HAS(barrier_of(0), "libkmb's own");
  finish();
}

/* --- one rank fails ------------------------------------------------------ */

static void *measure_twice(void *user) {
  rank *r = user;
  open_rank(r);
  REQUIRE_EQ(bench(r), odd.code);
  REQUIRE_HAS(r->words, r == ranks ? "rank 1 failed at step \"measure\"" : "");
  r->odd_at = 0;
  REQUIRE_OK(bench(r));
  return NULL;
}

/* The other rank waits in the all-reduce behind its gate: it is let go, and
 * both devices are of use. */
static void a_rank_that_waits_in_a_barrier_is_let_go(void) {
  for (int in_reset = 0; in_reset < 2; in_reset++) {
    set_up();
    asked = bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    asked.flags |= KMB_BENCH_NO_WARMUP;
    asked.max_samples = 20;
    odd.code = 42;
    odd.in_reset = in_reset;
    ranks[1].odd_at = 12;
    run(measure_twice);
    check_time();
    finish();
  }
}

/* Rank 0 has closed its gate by then. */
static kmb_status takes_three_seconds(rank *r, void *stream) {
  (void)stream;
  while (__atomic_load_n(&ranks[0].calls, __ATOMIC_SEQ_CST) < r->calls)
    sched_yield();
  sim_pass(3000000000u);
  return KMB_OK;
}

static void a_gate_that_gave_up_spoils_the_sample_of_all(void) {
  set_up();
  asked = bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  asked.flags |= KMB_BENCH_NO_WARMUP;
  asked.max_samples = 20;
  odd.also = takes_three_seconds;
  ranks[0].odd_at = UINT64_MAX; /* only counts */
  ranks[1].odd_at = 12;
  good();
  check_time();
  for (int i = 0; i < RANKS; i++)
    REQUIRE(bed_u64(ranks[i].result, KMB_VALUE_SAMPLES_INVALID) >= 1);
  finish();
}

/* --- a device or a host that stops for good ------------------------------- */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  bool let_go;
  volatile uint32_t word; /* that the hung kernel waits for */
} stop = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static kmb_status hangs_the_device(rank *r, void *stream) {
  uint64_t word = (uintptr_t)&stop.word;
  void *arguments[] = {&word};
  return r->b.hip.hipModuleLaunchKernel(bed_kernel(&r->b, "test_hang"), 1, 1, 1,
                                        1, 1, 1, 0, stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status stops_the_host(rank *r, void *stream) {
  (void)r;
  (void)stream;
  pthread_mutex_lock(&stop.lock);
  while (!stop.let_go)
    pthread_cond_wait(&stop.moved, &stop.lock);
  pthread_mutex_unlock(&stop.lock);
  return KMB_OK;
}

static void stop_rank_1(kmb_status (*how)(rank *r, void *stream),
                        bool in_reset) {
  set_up();
  params.deadline_ns = PATIENCE_NS;
  asked = bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  asked.flags |= KMB_BENCH_NO_WARMUP;
  asked.max_samples = 20;
  odd.also = how;
  odd.in_reset = in_reset;
  stop.let_go = false;
  stop.word = 0;
  ranks[1].odd_at = 12;
  start_all(measure);
  REQUIRE_EQ(pthread_join(ranks[0].thread, NULL), 0);
  pthread_mutex_lock(&stop.lock);
  stop.let_go = true;
  pthread_cond_broadcast(&stop.moved);
  pthread_mutex_unlock(&stop.lock);
  REQUIRE_EQ(pthread_join(ranks[1].thread, NULL), 0);
  stop.word = 1; /* so that what is lost can be given back */
}

static void a_gate_that_nobody_opens_holds_nobody_for_ever(void) {
  stop_rank_1(stops_the_host, false);
  REQUIRE_EQ(ranks[0].status, KMB_ERR_TIMEOUT);
  REQUIRE_HAS(ranks[0].words, "rank 1 did not come to step \"measure\"");
  REQUIRE_EQ(ranks[1].status, KMB_ERR_TIMEOUT);
  finish();
}

/* Rank 1's device never comes to the barrier: rank 0's is let go, and stays of
 * use. RCCL names nobody. */
static void a_device_that_misses_the_barrier_is_told_of(void) {
  stop_rank_1(hangs_the_device, true);
  REQUIRE_EQ(ranks[1].status, KMB_ERR_LOST);
  REQUIRE_EQ(ranks[0].status, KMB_ERR_TIMEOUT);
  REQUIRE_HAS(ranks[0].words, "still at work that needs every rank");
  REQUIRE_HAS(ranks[0].words, "step \"measure\"");
  kmb_comm *poisoned = ranks[0].comm;
  HIP(&ranks[0].b, hipSetDevice, 0);
  ranks[0].comm = NULL;
  REQUIRE_OK(bench(&ranks[0]));
  ranks[0].comm = poisoned;
}

static void a_device_that_does_not_end_the_operation_is_told_of(void) {
  stop_rank_1(hangs_the_device, false);
  REQUIRE_EQ(ranks[1].status, KMB_ERR_LOST);
  REQUIRE(ranks[0].status == KMB_ERR_TIMEOUT ||
          ranks[0].status == KMB_ERR_LOST);
  REQUIRE_HAS(ranks[0].words, "rank 1 failed at step \"measure\"");
}

/* --- whatever fails ------------------------------------------------------ */

static void both_end_alike(const char *what, uint64_t at) {
  if (ranks[0].status != ranks[1].status)
    fprintf(stderr, "%s %d: %s; %s\n", what, (int)at, ranks[0].words,
            ranks[1].words);
  REQUIRE_EQ(ranks[0].status, ranks[1].status);
}

/* Whichever rank meets the failure: both end in the same way, and nothing is
 * left. */
static void any_call_of_rccl_may_fail(void) {
  unsigned last = 0;
  bool failed = true;
  for (unsigned k = 1; failed; k += k < 12 ? 1 : 19) {
    set_up();
    params.barrier = KMB_BARRIER_NCCL;
    params.skew_samples = 1;
    /* What only one rank began, the other one waits for. */
    params.deadline_ns = params.first_deadline_ns = PATIENCE_NS;
    asked.max_samples = 8;
    sim_set()->rccl_fail_at = k;
    run(measure);
    failed = ranks[0].status;
    if (failed) last = k;
    both_end_alike("call", k);
    if (ranks[0].status) REQUIRE_EQ(ranks[0].status, KMB_ERR_VENDOR);
    if (k < 4) REQUIRE(ranks[0].status);
    finish();
  }
  REQUIRE(last > 30);
}

/* Memory that one rank lacks, whatever for: the other one names it. */
static void any_allocation_of_one_rank_may_fail(void) {
  bool failed = true;
  for (uint64_t at = 1; failed; at += 2 * heap_step()) {
    set_up();
    params.barrier = KMB_BARRIER_NCCL;
    params.skew_samples = 1;
    asked.timer = KMB_TIMER_HOST; /* no calibration */
    asked.max_samples = 8;
    ranks[1].fail_at = at;
    run(measure);
    failed = ranks[1].b.memory.failed;
    both_end_alike("allocation", at);
    if (ranks[0].status) {
      REQUIRE_EQ(ranks[0].status, KMB_ERR_NOMEM);
      REQUIRE_HAS(ranks[0].words, "rank 1");
    }
    ranks[1].b.memory.fail_at = 0;
    finish();
  }
}

int main(void) {
  int bad = 0;
  bad += ALONE(ranks_are_aligned_by_rccl);
  bad += ALONE(plain_launches_and_cold_caches_are_aligned_too);
  bad += ALONE(the_host_s_clock_is_aligned_too);
  bad += ALONE(without_rccl_the_hosts_align);
  bad += ALONE(the_hosts_align_after_a_reset);
  bad += ALONE(an_old_rccl_is_refused);
  bad += ALONE(barriers_that_hip_lacks_are_refused);
  bad += ALONE(two_ranks_on_one_device_are_refused);
  bad += ALONE(a_communicator_of_the_caller_s_is_used_and_left);
  bad += ALONE(a_communicator_of_other_ranks_is_refused);
  bad += ALONE(a_communicator_of_no_rccl_that_is_there_is_refused);
  bad += ALONE(a_rank_that_waits_in_a_barrier_is_let_go);
  bad += ALONE(a_gate_that_gave_up_spoils_the_sample_of_all);
  bad += ALONE(a_gate_that_nobody_opens_holds_nobody_for_ever);
  bad += ALONE(a_device_that_misses_the_barrier_is_told_of);
  bad += ALONE(a_device_that_does_not_end_the_operation_is_told_of);
  bad += ALONE(any_call_of_rccl_may_fail);
  bad += ALONE(any_allocation_of_one_rank_may_fail);
  return bad != 0;
}
