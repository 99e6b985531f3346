/* Communicators by themselves: what they refuse, and what they carry. */
#include "heap.h"

#include "comm.h"

#include <kmb/comm.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static kmb_status no_start(void *ctx, const void *send, void *receive,
                           size_t bytes, void **request) {
  (void)ctx;
  (void)send;
  (void)receive;
  (void)bytes;
  *request = NULL;
  return KMB_OK;
}

static kmb_status no_test(void *ctx, void *request, int32_t *done) {
  (void)ctx;
  (void)request;
  *done = 0;
  return KMB_OK;
}

static void no_release(void *ctx, void *request) {
  (void)ctx;
  (void)request;
}

static kmb_comm_ops some_ops(void) {
  kmb_comm_ops ops = kmb_comm_ops_init();
  ops.start = no_start;
  ops.test = no_test;
  ops.release = no_release;
  ops.size = 2;
  return ops;
}

static void refused_ops(const kmb_comm_ops *ops, const char *words) {
  kmb_comm *comm = (kmb_comm *)&comm;
  REQUIRE_STATUS(kmb_comm_create(ops, NULL, &comm), KMB_ERR_INVALID);
  REQUIRE(comm == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
}

static void functions_and_ranks_are_checked(void) {
  kmb_comm_ops ops = some_ops();
  refused_ops(NULL, "kmb_comm_ops is NULL");
  ops.start = NULL;
  refused_ops(&ops, "start, test or release");
  ops = some_ops();
  ops.test = NULL;
  refused_ops(&ops, "start, test or release");
  ops = some_ops();
  ops.release = NULL;
  refused_ops(&ops, "start, test or release");
  ops = some_ops();
  ops.size = 0;
  refused_ops(&ops, "0 ranks");
  ops.size = 4097;
  refused_ops(&ops, "4097 ranks");
  ops = some_ops();
  ops.rank = 2;
  refused_ops(&ops, "rank 2 of 2");
  ops.rank = -1;
  refused_ops(&ops, "rank -1 of 2");
  ops = some_ops();
  REQUIRE_STATUS(kmb_comm_create(&ops, NULL, NULL), KMB_ERR_INVALID);
}

static void refused_params(const kmb_comm_params *params, const char *words) {
  kmb_comm *comms[2] = {(kmb_comm *)comms, (kmb_comm *)comms};
  REQUIRE_STATUS(kmb_comm_threads_create(2, params, comms), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
  REQUIRE(!comms[0] && !comms[1]);
}

static void parameters_are_checked(void) {
  kmb_comm_params p = kmb_comm_params_init();
  p.deadline_ns = -1;
  refused_params(&p, "a deadline");
  p = kmb_comm_params_init();
  p.first_deadline_ns = 1e308 * 10;
  refused_params(&p, "a deadline");
  p = kmb_comm_params_init();
  p.skew_samples = 100001;
  refused_params(&p, "skew_samples");
  p = kmb_comm_params_init();
  p.barrier = 6;
  refused_params(&p, "no barrier 6");
  p = kmb_comm_params_init();
  p.multicast = 3;
  refused_params(&p, "no multicast state 3");
  kmb_comm *comm = NULL;
  REQUIRE_STATUS(kmb_comm_threads_create(0, NULL, &comm), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_threads_create(4097, NULL, &comm), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_threads_create(1, NULL, NULL), KMB_ERR_INVALID);
}

static void a_communicator_knows_its_place(void) {
  kmb_comm *comms[3];
  REQUIRE_OK(kmb_comm_threads_create(3, NULL, comms));
  for (int r = 0; r < 3; r++) {
    REQUIRE_EQ(kmb_comm_rank(comms[r]), r);
    REQUIRE_EQ(kmb_comm_size(comms[r]), 3);
    kmb_comm_destroy(comms[r]);
  }
  REQUIRE_EQ(kmb_comm_rank(NULL), -1);
  REQUIRE_EQ(kmb_comm_size(NULL), 0);
  kmb_comm_destroy(NULL);
}

static int closed;

static void count_close(void *ctx) {
  REQUIRE(ctx == &closed);
  closed++;
}

static void what_the_caller_closes_is_closed_once(void) {
  kmb_comm_ops ops = some_ops();
  kmb_comm *comm = NULL;
  ops.ctx = &closed;
  ops.close = count_close;
  REQUIRE_OK(kmb_comm_create(&ops, NULL, &comm));
  REQUIRE_EQ(closed, 0);
  kmb_comm_destroy(comm);
  REQUIRE_EQ(closed, 1);
}

/* Ranks that give each other bytes of every size. */
enum { RANKS = 5, LONGEST = 1000 };

typedef struct member {
  kmb_comm *comm;
  pthread_t thread;
  int rank;
} member;

static unsigned char byte_of(int rank, size_t size, size_t i) {
  return (unsigned char)((size_t)rank * 31 + size * 7 + i);
}

static void *give_and_take(void *user) {
  static const size_t sizes[] = {0, 1, 255, 256, 257, 512, LONGEST};
  member *m = user;
  unsigned char mine[LONGEST], all[RANKS * LONGEST];
  for (int turn = 0; turn < 20; turn++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      size_t size = sizes[s];
      for (size_t i = 0; i < size; i++)
        mine[i] = byte_of(m->rank, size, i);
      REQUIRE_OK(kmb_comm_allgather(m->comm, mine, all, size));
      for (int r = 0; r < RANKS; r++)
        for (size_t i = 0; i < size; i++)
          REQUIRE_EQ(all[(size_t)r * size + i], byte_of(r, size, i));
    }
  return NULL;
}

static void everybody_gets_what_each_one_gives(void) {
  member members[RANKS];
  kmb_comm *comms[RANKS];
  REQUIRE_OK(kmb_comm_threads_create(RANKS, NULL, comms));
  for (int r = 0; r < RANKS; r++) {
    members[r] = (member){.comm = comms[r], .rank = r};
    REQUIRE_EQ(
        pthread_create(&members[r].thread, NULL, give_and_take, &members[r]),
        0);
  }
  for (int r = 0; r < RANKS; r++) {
    REQUIRE_EQ(pthread_join(members[r].thread, NULL), 0);
    kmb_comm_destroy(comms[r]);
  }
}

static void *give_two_bytes(void *user) {
  char mine[2] = {1, 2}, all[4];
  REQUIRE_STATUS(kmb_comm_allgather(user, mine, all, 2), KMB_ERR_INVALID);
  return NULL;
}

static void different_sizes_are_refused(void) {
  kmb_comm *comms[2];
  pthread_t thread;
  char mine[3] = {1, 2, 3}, all[6];
  REQUIRE_OK(kmb_comm_threads_create(2, NULL, comms));
  REQUIRE_EQ(pthread_create(&thread, NULL, give_two_bytes, comms[1]), 0);
  REQUIRE_STATUS(kmb_comm_allgather(comms[0], mine, all, 3), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1 gives 2 bytes");
  REQUIRE_EQ(pthread_join(thread, NULL), 0);
  kmb_comm_destroy(comms[0]);
  kmb_comm_destroy(comms[1]);
}

static void an_allgather_checks_what_it_is_given(void) {
  kmb_comm *comm = NULL;
  char byte = 0;
  REQUIRE_OK(kmb_comm_threads_create(1, NULL, &comm));
  REQUIRE_STATUS(kmb_comm_allgather(NULL, &byte, &byte, 1), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_allgather(comm, NULL, &byte, 1), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_allgather(comm, &byte, NULL, 1), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_comm_allgather(comm, NULL, NULL, 0));
  REQUIRE_OK(kmbi_comm_enter(comm, "somebody"));
  REQUIRE_STATUS(kmb_comm_allgather(comm, &byte, &byte, 1), KMB_ERR_BUSY);
  kmbi_comm_leave(comm);
  REQUIRE_OK(kmb_comm_allgather(comm, &byte, &byte, 1));
  kmb_comm_destroy(comm);
}

static void a_wait_that_is_too_long_names_nobody_who_cannot_be_told(void) {
  kmb_comm_ops ops = some_ops();
  kmb_comm_params p = kmb_comm_params_init();
  kmb_comm *comm = NULL;
  char mine = 1, all[2];
  p.deadline_ns = p.first_deadline_ns = 1e6;
  REQUIRE_OK(kmb_comm_create(&ops, &p, &comm));
  REQUIRE_STATUS(kmb_comm_allgather(comm, &mine, all, 1), KMB_ERR_TIMEOUT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "cannot tell which");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "exchange 1, within 0.001 s");
  kmb_comm_destroy(comm);
}

static uint32_t here; /* bits of the ranks that arrived */

static kmb_status arrived_here(void *ctx, void *request, int32_t rank,
                               int32_t *yes) {
  (void)ctx;
  (void)request;
  *yes = here >> rank & 1;
  return KMB_OK;
}

static kmb_status broken_test(void *ctx, void *request, int32_t *done) {
  (void)ctx;
  (void)request;
  *done = 0;
  return KMB_ERR_IO;
}

static void misses(uint32_t arrived, bool broken, const char *words) {
  kmb_comm_ops ops = some_ops();
  kmb_comm_params p = kmb_comm_params_init();
  kmb_comm *comm = NULL;
  char mine = 0, all[8];
  ops.size = 8;
  ops.arrived = arrived_here;
  if (broken) ops.test = broken_test;
  p.first_deadline_ns = 1;
  here = arrived;
  REQUIRE_OK(kmb_comm_create(&ops, &p, &comm));
  REQUIRE_STATUS(kmb_comm_allgather(comm, &mine, all, 1),
                 broken ? KMB_ERR_IO : KMB_ERR_TIMEOUT);
  REQUIRE_STR(kmb_last_error(NULL, NULL), words);
  kmb_comm_destroy(comm);
}

/* Of eight ranks we are the first. */
static void who_is_missed_is_named(void) {
  misses(0xfb, false,
         "rank 2 did not come to step \"outside\", exchange 1, within 1e-09 s");
  misses(0xdb, false,
         "ranks 2, 5 did not come to step \"outside\", exchange 1, within "
         "1e-09 s");
  misses(
      0xe1, false,
      "ranks 1, 2, 3, 4 did not come to step \"outside\", exchange 1, within "
      "1e-09 s");
  misses(1, false,
         "ranks 1, 2, 3, 4 and others did not come to step \"outside\", "
         "exchange 1, within 1e-09 s");
  misses(0, true,
         "ranks 1, 2, 3, 4 and others did not come to step \"outside\", "
         "exchange 1, (the communicator's test returned ERR_IO)");
}

static void what_is_not_given_has_defaults(void) {
  kmb_comm_params p = kmb_comm_params_init();
  kmb_comm *comm = NULL;
  REQUIRE_OK(kmb_comm_threads_create(1, &p, &comm));
  REQUIRE_NEAR(comm->params.deadline_ns, 10e9, 0);
  REQUIRE_NEAR(comm->params.first_deadline_ns, 120e9, 0);
  REQUIRE_EQ(comm->params.skew_samples, 100);
  kmb_comm_destroy(comm);
  p.barrier = KMB_BARRIER_HOST;
  p.multicast = KMB_MULTICAST_OFF;
  p.skew_samples = 100000;
  REQUIRE_OK(kmb_comm_threads_create(1, &p, &comm));
  kmb_comm_destroy(comm);
}

/* As long as another's turn on a core: `slow` of the tests to come. */
static int slow;

static kmb_status slow_test(void *ctx, void *request, int32_t *done) {
  const struct timespec turn = {0, 1000000};
  (void)request;
  *done = slow <= 0;
  if (slow-- > 0) nanosleep(&turn, NULL);
  return *done ? KMB_ERR_IO : *(const kmb_status *)ctx;
}

/* Each exchange ends by a failure of its test, and poisons. */
static uint32_t crowded_after(uint32_t before, int tests) {
  kmb_status fine = KMB_OK;
  kmb_comm_ops ops = some_ops();
  kmb_comm *comm = NULL;
  char mine = 0, all[2];
  ops.ctx = &fine;
  ops.test = slow_test;
  REQUIRE_OK(kmb_comm_create(&ops, NULL, &comm));
  comm->crowded = before;
  slow = tests;
  REQUIRE_STATUS(kmb_comm_allgather(comm, &mine, all, 1), KMB_ERR_IO);
  uint32_t after = comm->crowded;
  kmb_comm_destroy(comm);
  return after;
}

static void who_waits_among_others_sleeps_for_a_while(void) {
  REQUIRE_EQ(crowded_after(0, 2), 256);
  REQUIRE_EQ(crowded_after(7, 2), 256);
  REQUIRE_EQ(crowded_after(7, 0), 6);
  REQUIRE_EQ(crowded_after(0, 0), 0);
}

static void a_forked_child_gets_forked(void) {
  kmb_comm *comm = NULL;
  REQUIRE_OK(kmb_comm_threads_create(1, NULL, &comm));
  pid_t child = fork();
  if (!child) {
    bool forked = kmb_comm_allgather(comm, NULL, NULL, 0) == KMB_ERR_FORKED;
    kmb_comm_destroy(comm);
    _exit(forked ? 0 : 1);
  }
  int status = 0;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE_EQ(status, 0);
  kmb_comm_destroy(comm);
}

static void without_memory_nothing_is_made_or_left(void) {
  heap h = {0};
  kmb_hooks hooks = heap_hooks(&h);
  kmb_comm_params p = kmb_comm_params_init();
  p.hooks = &hooks;
  p.collective = "NCCL";
  for (h.fail_at = 1;; h.fail_at++) {
    kmb_comm *comms[3] = {NULL, NULL, NULL};
    h.calls = 0;
    h.failed = false;
    kmb_status status = kmb_comm_threads_create(3, &p, comms);
    if (!h.failed) REQUIRE_EQ(status, KMB_OK);
    if (h.failed) REQUIRE_EQ(status, KMB_ERR_NOMEM);
    for (int r = 0; r < 3; r++) {
      REQUIRE(!h.failed == (comms[r] != NULL));
      kmb_comm_destroy(comms[r]);
    }
    REQUIRE_EQ(h.blocks_out, 0);
    if (!h.failed) break;
  }
  REQUIRE(h.fail_at > 10);
}

int main(void) {
  RUN(functions_and_ranks_are_checked);
  RUN(parameters_are_checked);
  RUN(a_communicator_knows_its_place);
  RUN(what_the_caller_closes_is_closed_once);
  RUN(everybody_gets_what_each_one_gives);
  RUN(different_sizes_are_refused);
  RUN(an_allgather_checks_what_it_is_given);
  RUN(a_wait_that_is_too_long_names_nobody_who_cannot_be_told);
  RUN(who_is_missed_is_named);
  RUN(what_is_not_given_has_defaults);
  RUN(who_waits_among_others_sleeps_for_a_while);
  RUN(a_forked_child_gets_forked);
  RUN(without_memory_nothing_is_made_or_left);
  return 0;
}
