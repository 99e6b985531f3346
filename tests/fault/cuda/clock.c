/* The stand-in's own clock: what is to happen at a time happens then, however
 * late the threads that do it come in the real world. */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

enum { MS = 1000000 };

typedef struct sleeper {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  pthread_t thread;
  uint32_t *gate; /* NULL: it opens none */
  uint64_t until, woken_at;
  bool late; /* to sleep, too */
  bool asleep, leaving;
} sleeper;

static void dawdle(void) {
  for (int i = 0; i < 5000; i++)
    syscall(SYS_sched_yield);
}

static void *sleeps(void *user) {
  sleeper *s = user;
  if (s->late) dawdle();
  pthread_mutex_lock(&s->lock);
  s->asleep = true;
  int result = 0;
  while (!s->leaving && result != ETIMEDOUT)
    result = sim_timed_wait(&s->turn, &s->lock, s->until);
  if (result == ETIMEDOUT) {
    dawdle();
    s->woken_at = sim_now();
    if (s->gate) __atomic_store_n(s->gate, 1, __ATOMIC_SEQ_CST);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static void start(sleeper *s) {
  REQUIRE_EQ(pthread_mutex_init(&s->lock, NULL), 0);
  REQUIRE_EQ(pthread_cond_init(&s->turn, NULL), 0);
  REQUIRE_EQ(pthread_create(&s->thread, NULL, sleeps, s), 0);
}

static void see_asleep(sleeper *s) {
  for (bool asleep = false; !asleep;) {
    syscall(SYS_sched_yield);
    pthread_mutex_lock(&s->lock);
    asleep = s->asleep;
    pthread_mutex_unlock(&s->lock);
  }
}

static void end(sleeper *s) {
  pthread_mutex_lock(&s->lock);
  s->leaving = true;
  pthread_cond_signal(&s->turn);
  pthread_mutex_unlock(&s->lock);
  REQUIRE_EQ(pthread_join(s->thread, NULL), 0);
  pthread_cond_destroy(&s->turn);
  pthread_mutex_destroy(&s->lock);
}

static uint32_t *close_gate(bed *b) {
  void *gate = NULL;
  CU(b, cuMemHostAlloc, &gate, 4, 0);
  memset(gate, 0, 4);
  CU(b, cuStreamWaitValue32, b->stream, (uintptr_t)gate, 1, KMBI_CU_WAIT_GEQ);
  return gate;
}

static void time_waits_for_who_is_about_to_sleep(void) {
  bed b;
  bed_start(&b);
  sleeper s = {.gate = close_gate(&b), .late = true};
  s.until = sim_now() + MS;
  start(&s);
  REQUIRE_EQ(b.synchronize(), 0);
  REQUIRE_EQ(sim_now(), s.until + SIM_GATE);
  end(&s);
  REQUIRE_EQ(s.woken_at, s.until);
  CU(&b, cuMemFreeHost, s.gate);
  bed_end(&b);
}

/* Another's time, a little later, has not come meanwhile. */
static void time_waits_for_who_has_been_woken(void) {
  bed b;
  bed_start(&b);
  sleeper first = {.gate = close_gate(&b)}, second = {0};
  first.until = sim_now() + MS;
  second.until = first.until + SIM_GATE + MS;
  start(&first);
  see_asleep(&first);
  start(&second);
  see_asleep(&second);
  REQUIRE_EQ(b.synchronize(), 0);
  REQUIRE_EQ(sim_now(), first.until + SIM_GATE);
  end(&first);
  end(&second);
  REQUIRE_EQ(first.woken_at, first.until);
  REQUIRE_EQ(second.woken_at, 0);
  CU(&b, cuMemFreeHost, first.gate);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(time_waits_for_who_is_about_to_sleep);
  failed += ALONE(time_waits_for_who_has_been_woken);
  return failed != 0;
}
