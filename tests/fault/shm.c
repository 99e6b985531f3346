/* Processes of one host that measure together over shared memory, and what
 * happens when one of them is killed. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "../plugin/engine.h"

#include "comm_board.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16 };

static char name[64];

/* A name of its own for each test and run. */
static void fresh_name(void) {
  static int count;
  snprintf(name, sizeof name, "/kmb-test-%d-%d", (int)getpid(), ++count);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef void (*body)(int rank, int size);

static pid_t start(body what, int rank, int size) {
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child) return child;
  alarm(60); /* whatever happens, nobody stays behind */
  what(rank, size);
  fflush(NULL);
  _exit(0);
}

/* Ends as 0, or was killed if it is `killed`. */
static void await(const pid_t *children, int size, int killed) {
  for (int r = 0; r < size; r++) {
    int status = 0;
    REQUIRE_EQ(waitpid(children[r], &status, 0), children[r]);
    if (r == killed)
      REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
      REQUIRE_EQ(status, 0);
  }
}

static void run_all(body what, int size, int killed) {
  pid_t children[MOST];
  for (int r = 0; r < size; r++)
    children[r] = start(what, r, size);
  await(children, size, killed);
  int fd = shm_open(name, O_RDWR, 0);
  REQUIRE(fd < 0); /* nothing stays behind */
}

static kmb_comm_params limits(double seconds) {
  kmb_comm_params p = kmb_comm_params_init();
  p.skew_samples = 5;
  p.deadline_ns = p.first_deadline_ns = seconds * 1e9;
  return p;
}

static kmb_comm *meet(int rank, int size, double seconds) {
  kmb_comm_params p = limits(seconds);
  kmb_comm *comm = NULL;
  REQUIRE_OK(kmb_comm_shm_create(name, rank, size, &p, &comm));
  return comm;
}

static void prepare(trial *t, int rank, kmb_comm *comm) {
  char spec[64];
  snprintf(spec, sizeof spec, "seed=%d,kernel=%d", rank + 1,
           20000 + 1000 * rank);
  begin(t, spec);
  with_buffers(t, MIB);
  t->p.comm = comm;
  t->p.max_samples = 20;
}

static void measures(int rank, int size) {
  static trial t;
  kmb_comm *comm = meet(rank, size, 30);
  prepare(&t, rank, comm);
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000 + 1000 * (size - 1), 40);
  REQUIRE_STR(text(&t, KMB_VALUE_COMM), "POSIX shared memory");
  REQUIRE_EQ(u64(&t, KMB_VALUE_NODES), 1);
  run(&t); /* and again on the same communicator */
  finish(&t);
  kmb_comm_destroy(comm);
}

static void processes_measure_together(void) {
  fresh_name();
  run_all(measures, 2, -1);
  fresh_name();
  run_all(measures, 6, -1);
  fresh_name();
  run_all(measures, 16, -1);
}

/* --- a rank is killed ---------------------------------------------------- */

static const char *killed_at;

static void kill_here(void *user, const kmb_progress *progress) {
  (void)user;
  if (strcmp(progress->stage, killed_at) == 0) raise(SIGKILL);
}

static kmb_status kill_in_launch(void *user, const kmb_launch *l) {
  operation *o = user;
  if (o->calls == 30) raise(SIGKILL);
  return operation_launch(user, l);
}

/* Opens the device again, with a hook that ends this process. */
static void open_to_be_killed(trial *t) {
  char device[2048];
  kmb_hooks hooks = heap_hooks(&t->h.memory);
  kmb_device_params params = kmb_device_params_init();
  kmb_device_close(t->h.device);
  hooks.progress = kill_here;
  params.hooks = &hooks;
  snprintf(device, sizeof device, "%s:seed=2", SIM);
  REQUIRE_OK(kmb_device_open(device, &params, &t->h.device));
}

static void survives_or_is_killed(int rank, int size) {
  static trial t;
  kmb_comm *comm = meet(rank, size, 30);
  prepare(&t, rank, comm);
  if (rank == 1 && strcmp(killed_at, "a launch") == 0) {
    t.p.launch = kill_in_launch;
    t.p.launch_mode = KMB_LAUNCH_PLAIN;
  } else if (rank == 1) {
    open_to_be_killed(&t);
  }
  if (strcmp(killed_at, "a launch") == 0) t.p.launch_mode = KMB_LAUNCH_PLAIN;
  double started = now_s();
  REQUIRE_STATUS(attempt(&t), KMB_ERR_LOST);
  /* Not by the deadline of 30 s. */
  REQUIRE(now_s() - started < 20);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "exchange");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "has ended");
  finish(&t);
  kmb_comm_destroy(comm);
}

static void a_rank_that_is_killed_does_not_hang_the_others(void) {
  static const char *const all[] = {"prepare",   "check",   "warm up",
                                    "calibrate", "measure", "confirm",
                                    "summarise", "a launch"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    killed_at = all[i];
    fresh_name();
    run_all(survives_or_is_killed, 3, 1);
  }
}

/* Rank 1 is killed at one exchange: as it begins it, or once it has given its
 * part. */
static uint64_t killed_in;
static bool killed_after;
static kmb_comm_ops under;
static uint64_t exchanges;

static kmb_status start_and_be_killed(void *ctx, const void *send,
                                      void *receive, size_t bytes,
                                      void **request) {
  bool last = ++exchanges == killed_in;
  if (last && !killed_after) raise(SIGKILL);
  kmb_status status = under.start(ctx, send, receive, bytes, request);
  if (last) raise(SIGKILL);
  return status;
}

/* As others see it: all of them end at once, by the last exchange with a result
 * if it had given its part. */
static void survives_the_exchange(int rank, int size) {
  static trial t;
  kmb_comm *comm = meet(rank, size, 30);
  prepare(&t, rank, comm);
  t.p.max_samples = 8;
  if (rank == 1) {
    under = comm->ops;
    comm->ops.start = start_and_be_killed;
  }
  double started = now_s();
  kmb_status status = attempt(&t);
  REQUIRE(now_s() - started < 20);
  if (rank == 1) _exit(7); /* there are no more exchanges */
  if (status) REQUIRE_EQ(status, KMB_ERR_LOST);
  if (status) REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1");
  if (status) REQUIRE_HAS(kmb_last_error(NULL, NULL), "has ended");
  finish(&t);
  kmb_comm_destroy(comm);
  _exit(status ? 0 : 8);
}

/* Whether rank 1 came to be killed. */
static bool kill_in(uint64_t exchange) {
  enum { SIZE = 3 };
  pid_t children[SIZE];
  int ends[SIZE];
  killed_in = exchange;
  fresh_name();
  for (int r = 0; r < SIZE; r++)
    children[r] = start(survives_the_exchange, r, SIZE);
  for (int r = 0; r < SIZE; r++)
    REQUIRE_EQ(waitpid(children[r], &ends[r], 0), children[r]);
  bool killed = WIFSIGNALED(ends[1]) && WTERMSIG(ends[1]) == SIGKILL;
  REQUIRE(killed || (WIFEXITED(ends[1]) && WEXITSTATUS(ends[1]) == 7));
  for (int r = 0; r < SIZE; r += 2) {
    REQUIRE(WIFEXITED(ends[r]));
    REQUIRE(WEXITSTATUS(ends[r]) == 8 || (killed && !WEXITSTATUS(ends[r])));
  }
  REQUIRE_EQ(WEXITSTATUS(ends[0]), WEXITSTATUS(ends[2]));
  return killed;
}

static void a_rank_that_is_killed_in_any_exchange_hangs_nobody(void) {
  uint64_t last = 0;
  for (int after = 0; after < 2; after++) {
    killed_after = after;
    for (uint64_t k = 1; kill_in(k); k += k < 8 ? 1 : 11)
      last = k;
  }
  REQUIRE(last > 60);
}

/* --- meeting ------------------------------------------------------------- */

static void killed_before_the_others_come(int rank, int size) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(30);
  kmb_comm_shm_create(name, rank, size, &p, &comm);
  REQUIRE(!"it comes back");
}

static void wait_for_name(void) {
  int fd = -1;
  while ((fd = shm_open(name, O_RDWR, 0)) < 0) {
    const struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
  }
  close(fd);
}

static void what_a_killed_run_left_is_cleared_away(void) {
  fresh_name();
  pid_t first = start(killed_before_the_others_come, 0, 2);
  wait_for_name();
  REQUIRE_EQ(kill(first, SIGKILL), 0);
  int status = 0;
  REQUIRE_EQ(waitpid(first, &status, 0), first);
  REQUIRE(WIFSIGNALED(status));
  /* Rank 1 comes first, and must not sit down with the dead. */
  pid_t children[2];
  children[1] = start(measures, 1, 2);
  children[0] = start(measures, 0, 2);
  await(children, 2, -1);
}

static void misses_the_others(int rank, int size) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(0.2);
  const bool had_stdin = fcntl(0, F_GETFD) >= 0;
  REQUIRE_STATUS(kmb_comm_shm_create(name, rank, size, &p, &comm),
                 KMB_ERR_TIMEOUT);
  REQUIRE(!comm);
  REQUIRE_EQ(fcntl(0, F_GETFD) >= 0, had_stdin);
  REQUIRE_HAS(kmb_last_error(NULL, NULL),
              rank ? "rank 0 did not make" : "rank 1, 2 did not come");
}

static void ranks_that_do_not_come_are_named(void) {
  fresh_name();
  pid_t child = start(misses_the_others, 0, 3);
  await(&child, 1, -1);
  fresh_name();
  child = start(misses_the_others, 1, 3);
  await(&child, 1, -1);
}

/* Memory of that name that no rank 0 made, or has not made yet. */
static void nobody_sits_down_at_what_is_no_board(void) {
  const off_t sizes[] = {0, 8, 1 << 20};
  for (int i = 0; i < 3; i++) {
    fresh_name();
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    REQUIRE(fd >= 0);
    REQUIRE_EQ(ftruncate(fd, sizes[i]), 0);
    close(fd);
    pid_t child = start(misses_the_others, 1, 3);
    await(&child, 1, -1);
    REQUIRE_EQ(shm_unlink(name), 0);
  }
}

static void finds_the_name_in_use(int rank, int size) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(5);
  REQUIRE_STATUS(kmb_comm_shm_create(name, rank, size, &p, &comm),
                 KMB_ERR_BUSY);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "in use");
}

static void expects_other_ranks(int rank, int size) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(5);
  REQUIRE_STATUS(kmb_comm_shm_create(name, rank, size + 1, &p, &comm),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "for 2 ranks, rank 1 expects 3");
}

static void a_name_and_a_rank_are_taken_once(void) {
  fresh_name();
  pid_t waits = start(killed_before_the_others_come, 0, 2);
  wait_for_name();
  pid_t child = start(finds_the_name_in_use, 0, 2);
  await(&child, 1, -1);
  child = start(expects_other_ranks, 1, 2);
  await(&child, 1, -1);
  REQUIRE_EQ(kill(waits, SIGKILL), 0);
  await(&waits, 1, 0);
  REQUIRE_EQ(shm_unlink(name), 0);
}

/* Until so many ranks but for rank 0 have sat down. */
static void wait_for_ranks(uint32_t count) {
  wait_for_name();
  int fd = shm_open(name, O_RDWR, 0);
  struct stat s;
  do
    REQUIRE_EQ(fstat(fd, &s), 0);
  while (!s.st_size);
  kmbi_board *board = mmap(NULL, sizeof *board, PROT_READ, MAP_SHARED, fd, 0);
  REQUIRE(board != MAP_FAILED);
  while (!atomic_load(&board->magic) || atomic_load(&board->joined) < count) {
    const struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
  }
  munmap(board, sizeof *board);
  close(fd);
}

/* Which of three comes back how. */
static kmb_status meets_as;
static const char *meets_words;
static double meets_s;

static void meets_in_vain(int rank, int size) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(meets_s);
  REQUIRE_STATUS(kmb_comm_shm_create(name, rank, size, &p, &comm), meets_as);
  REQUIRE(!comm);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), meets_words);
}

static pid_t start_in_vain(int rank, double seconds, kmb_status status,
                           const char *words) {
  meets_s = seconds;
  meets_as = status;
  meets_words = words;
  return start(meets_in_vain, rank, 3);
}

static void what_happens_before_all_have_met_is_told(void) {
  fresh_name();
  pid_t zero = start_in_vain(0, 30, KMB_OK, "it is killed");
  pid_t one =
      start_in_vain(1, 30, KMB_ERR_LOST, "ended before all ranks had met");
  wait_for_ranks(1);
  pid_t again = start_in_vain(1, 30, KMB_ERR_BUSY, "is there already");
  await(&again, 1, -1);
  REQUIRE_EQ(kill(zero, SIGKILL), 0);
  await(&zero, 1, 0);
  await(&one, 1, -1);
  REQUIRE_EQ(shm_unlink(name), 0);
}

static void only_the_ranks_that_miss_are_named(void) {
  fresh_name();
  pid_t one = start_in_vain(1, 2.5, KMB_ERR_TIMEOUT, "did not make");
  pid_t zero = start_in_vain(0, 1.5, KMB_ERR_TIMEOUT, "rank 2 did not come");
  await(&zero, 1, -1);
  await(&one, 1, -1);
  fresh_name();
  zero = start_in_vain(0, 30, KMB_OK, "it is killed");
  wait_for_ranks(0);
  one = start_in_vain(1, 0.2, KMB_ERR_TIMEOUT, "did not see all 3 ranks");
  await(&one, 1, -1);
  REQUIRE_EQ(kill(zero, SIGKILL), 0);
  await(&zero, 1, 0);
  REQUIRE_EQ(shm_unlink(name), 0);
}

/* --- what the system refuses --------------------------------------------- */

static void may_not_open(int rank, int size) {
  if (!getuid()) REQUIRE_EQ(setuid(65534), 0); /* root may do anything */
  meets_as = KMB_ERR_PERM;
  meets_words = "shm_open of the shared memory";
  meets_s = 5;
  meets_in_vain(rank, size);
}

static void may_not_write(int rank, int size) {
  const struct rlimit least = {16, 16};
  REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  REQUIRE_EQ(setrlimit(RLIMIT_FSIZE, &least), 0);
  meets_as = KMB_ERR_UNAVAILABLE;
  meets_words = "posix_fallocate of the shared memory";
  meets_s = 5;
  meets_in_vain(rank, size);
}

static void what_the_system_refuses_is_told(void) {
  fresh_name();
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0);
  REQUIRE(fd >= 0);
  close(fd);
  pid_t child = start(may_not_open, 0, 3);
  await(&child, 1, -1);
  REQUIRE_EQ(shm_unlink(name), 0);
  fresh_name();
  run_all(may_not_write, 1, -1); /* and nothing stays behind */
}

/* These definitions come before the C library's: a call fails with what is
 * written for it, if not 0. */
enum { WRITTEN = 16 };
static int open_errors[WRITTEN], opens, unlink_error;

int shm_open(const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, mode_t);
  *(void **)(&real) = dlsym(RTLD_NEXT, "shm_open");
  int error = opens < WRITTEN ? open_errors[opens] : 0;
  opens++;
  if (!error) return real(path, flags, mode);
  errno = error;
  return -1;
}

int shm_unlink(const char *path) {
  int (*real)(const char *);
  *(void **)(&real) = dlsym(RTLD_NEXT, "shm_unlink");
  int result = real(path);
  if (!unlink_error) return result;
  errno = unlink_error;
  return -1;
}

static void opened_as(const int *errors, int count, kmb_status want,
                      const char *words) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(5);
  fresh_name();
  memset(open_errors, 0, sizeof open_errors);
  memcpy(open_errors, errors, (size_t)count * sizeof *errors);
  opens = 0;
  REQUIRE_STATUS(kmb_comm_shm_create(name, 0, 1, &p, &comm), want);
  memset(open_errors, 0, sizeof open_errors);
  REQUIRE_EQ(opens, want ? count : count + 1);
  if (want) REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
  kmb_comm_destroy(comm);
}

/* It is there, and gone when one looks at it: so two more times. */
static void a_name_that_comes_and_goes_is_tried_again(void) {
  const int twice[] = {EEXIST, ENOENT, EEXIST, ENOENT};
  opened_as(twice, 4, KMB_OK, "");
  const int thrice[] = {EEXIST, ENOENT, EEXIST, ENOENT, EEXIST, ENOENT};
  opened_as(thrice, 6, KMB_ERR_BUSY, "somebody else keeps making");
  const int denied[] = {EEXIST, EACCES};
  opened_as(denied, 2, KMB_ERR_PERM, "shm_open of the shared memory");
  const int full[] = {ENOSPC};
  opened_as(full, 1, KMB_ERR_NOMEM, "No space left");
  const int none[] = {ENOSYS};
  opened_as(none, 1, KMB_ERR_UNAVAILABLE, "shm_open of the shared memory");
}

/* What a killed run left is somebody else's to clear away, or already is. */
static void stale_memory_that_cannot_be_cleared_is_told(void) {
  const int errors[] = {ENOENT, EACCES};
  for (int i = 0; i < 2; i++) {
    kmb_comm *comm = NULL;
    kmb_comm_params p = limits(5);
    fresh_name();
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    REQUIRE(fd >= 0);
    close(fd);
    unlink_error = errors[i];
    kmb_status status = kmb_comm_shm_create(name, 0, 1, &p, &comm);
    unlink_error = 0;
    REQUIRE_EQ(status, i ? KMB_ERR_PERM : KMB_OK);
    if (i) REQUIRE_HAS(kmb_last_error(NULL, NULL), "shm_unlink of the shared");
    kmb_comm_destroy(comm);
  }
}

/* The first number of a file is a number as any other. */
static void measures_without_stdin(int rank, int size) {
  close(0);
  measures(rank, size);
  REQUIRE(fcntl(0, F_GETFD) < 0); /* given back */
}

static void misses_without_stdin(int rank, int size) {
  close(0);
  misses_the_others(rank, size);
  REQUIRE(fcntl(0, F_GETFD) < 0);
  REQUIRE(fcntl(1, F_GETFD) >= 0); /* and no other is */
  REQUIRE(fcntl(2, F_GETFD) >= 0);
}

static void any_number_of_a_file_serves(void) {
  fresh_name();
  run_all(measures_without_stdin, 2, -1);
  fresh_name();
  pid_t children[1] = {start(misses_without_stdin, 0, 3)};
  await(children, 1, -1);
  fresh_name();
  children[0] = start(misses_without_stdin, 1, 3);
  await(children, 1, -1);
}

static void is_alone_and_asks_twice(int rank, int size) {
  kmb_comm_params p = limits(0.3);
  kmb_comm *comm = NULL;
  kmb_comm *again = NULL;
  (void)size;
  REQUIRE_OK(kmb_comm_shm_create(name, rank, 1, &p, &comm));
  REQUIRE_EQ(kmb_comm_size(comm), 1);
  kmb_comm_destroy(comm);
  REQUIRE_OK(kmb_comm_shm_create(name, rank, 1, &p, &again));
  kmb_comm_destroy(again);
}

static void one_rank_needs_nobody(void) {
  fresh_name();
  run_all(is_alone_and_asks_twice, 1, -1);
}

static void *sits_beside(void *user) {
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(5);
  (void)user;
  REQUIRE_STATUS(kmb_comm_shm_create(name, 1, 2, &p, &comm), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "in one process");
  return NULL;
}

static void two_ranks_of_one_process_are_refused(void) {
  pthread_t thread;
  kmb_comm *comm = NULL;
  kmb_comm_params p = limits(0.3);
  fresh_name();
  REQUIRE_EQ(pthread_create(&thread, NULL, sits_beside, NULL), 0);
  REQUIRE_STATUS(kmb_comm_shm_create(name, 0, 2, &p, &comm), KMB_ERR_TIMEOUT);
  REQUIRE_EQ(pthread_join(thread, NULL), 0);
}

static void names_and_places_are_checked(void) {
  static const char *const bad[] = {NULL,   "",     "/",        "kmb",
                                    "/a/b", "/a b", "/\xc3\xa4"};
  kmb_comm *comm = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    REQUIRE_STATUS(kmb_comm_shm_create(bad[i], 0, 1, NULL, &comm),
                   KMB_ERR_INVALID);
  char longest[202];
  memset(longest, 'a', sizeof longest);
  longest[0] = '/';
  longest[201] = '\0';
  REQUIRE_STATUS(kmb_comm_shm_create(longest, 0, 1, NULL, &comm),
                 KMB_ERR_INVALID);
  longest[200] = '/';
  REQUIRE_STATUS(kmb_comm_shm_create(longest, 0, 1, NULL, &comm),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "up to 199 letters");
  longest[200] = '\0';
  REQUIRE_OK(kmb_comm_shm_create(longest, 0, 1, NULL, &comm));
  kmb_comm_destroy(comm);
  REQUIRE_STATUS(kmb_comm_shm_create("/a", 1, 1, NULL, &comm), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_shm_create("/a", -1, 1, NULL, &comm),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_shm_create("/a", 0, 4097, NULL, &comm),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comm_shm_create("/a", 0, 1, NULL, NULL), KMB_ERR_INVALID);
}

static void without_memory_nothing_is_left(void) {
  heap h = {0};
  kmb_hooks hooks = heap_hooks(&h);
  kmb_comm_params p = limits(1);
  p.hooks = &hooks;
  for (h.fail_at = 1;; h.fail_at++) {
    kmb_comm *comm = NULL;
    h.calls = 0;
    h.failed = false;
    fresh_name();
    kmb_status status = kmb_comm_shm_create(name, 0, 1, &p, &comm);
    REQUIRE_EQ(status, h.failed ? KMB_ERR_NOMEM : KMB_OK);
    kmb_comm_destroy(comm);
    REQUIRE_EQ(h.blocks_out, 0);
    REQUIRE(shm_open(name, O_RDWR, 0) < 0);
    if (!h.failed) break;
  }
  REQUIRE(h.fail_at > 3);
}

int main(void) {
  RUN(names_and_places_are_checked);
  RUN(one_rank_needs_nobody);
  RUN(processes_measure_together);
  RUN(a_rank_that_is_killed_does_not_hang_the_others);
  RUN(a_rank_that_is_killed_in_any_exchange_hangs_nobody);
  RUN(what_a_killed_run_left_is_cleared_away);
  RUN(ranks_that_do_not_come_are_named);
  RUN(nobody_sits_down_at_what_is_no_board);
  RUN(a_name_and_a_rank_are_taken_once);
  RUN(what_happens_before_all_have_met_is_told);
  RUN(only_the_ranks_that_miss_are_named);
  RUN(what_the_system_refuses_is_told);
  RUN(a_name_that_comes_and_goes_is_tried_again);
  RUN(stale_memory_that_cannot_be_cleared_is_told);
  RUN(any_number_of_a_file_serves);
  RUN(two_ranks_of_one_process_are_refused);
  RUN(without_memory_nothing_is_left);
  return 0;
}
