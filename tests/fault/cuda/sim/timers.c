/* Waits for a virtual time. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

enum { PATIENCE = 10 /* s of the real world */, POLL = 5000 /* ns */ };

typedef struct timer {
  struct timer *next;
  pthread_cond_t *condition;
  pthread_mutex_t *mutex;
  uint64_t at;
  bool over;
} timer;

/* Guarded by the one lock. */
static timer *timers;
static bool waking; /* somebody is, and time stands still */
static bool woken;  /* who was has not run yet */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* one of these */

static void leave(const timer *t) {
  for (timer **at = &timers; *at; at = &(*at)->next)
    if (*at == t) {
      *at = t->next;
      break;
    }
  if (!t->over) return;
  woken = false;
  pthread_cond_broadcast(&changed);
}

int sim_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   uint64_t until) {
  timer t = {NULL, condition, mutex, until, false};
  sim_relock();
  t.next = timers;
  timers = &t;
  sim_unlock();
  pthread_cond_wait(condition, mutex);
  sim_relock();
  leave(&t);
  sim_unlock();
  return t.over ? ETIMEDOUT : 0;
}

static timer *earliest(void) {
  timer *first = NULL;
  for (timer *t = timers; t; t = t->next)
    if (!t->over && (!first || t->at < first->at)) first = t;
  return first;
}

/* Who waits holds the mutex when it takes the lock, and who has been woken
 * holds it until it waits again: whoever gets the mutex then knows that it has
 * done what it was woken for. Only then may time pass. */
static void wake(timer *t) {
  pthread_cond_t *condition = t->condition;
  pthread_mutex_t *mutex = t->mutex;
  if (t->at > sim_now()) sim_pass(t->at - sim_now());
  t->over = true;
  waking = true;
  woken = true;
  sim_unlock();
  pthread_mutex_lock(mutex);
  pthread_cond_broadcast(condition);
  pthread_mutex_unlock(mutex);
  sim_relock();
  while (woken)
    sim_wait(&changed);
  sim_unlock();
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  sim_relock();
  waking = false;
  pthread_cond_broadcast(&changed);
}

/* Whose turn it is needs some moments of the real world to come. A device that
 * polls takes its time; for what the host is to do, time does not pass, or it
 * would be over before a thread that is about to sleep has said until when. */
static bool give_way(bool polls, time_t *since) {
  if (!*since) *since = time(NULL);
  if (time(NULL) - *since > PATIENCE) return false;
  if (polls) sim_pass(POLL);
  sim_unlock();
  syscall(SYS_sched_yield); /* a test's own lets time pass */
  sim_relock();
  return true;
}

bool sim_rescue(bool polls, time_t *since) {
  timer *t = earliest();
  if (!waking && !t) return give_way(polls, since);
  *since = 0;
  if (!waking) {
    wake(t);
    return true;
  }
  while (waking)
    sim_wait(&changed);
  return true;
}
