/* Waits for a virtual time. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "inside.h"

enum { PATIENCE = 10 /* s of the real world */ };

typedef struct timer {
  struct timer *next;
  pthread_cond_t *condition;
  pthread_mutex_t *mutex;
  uint64_t at;
  bool over;
} timer;

static timer *timers; /* guarded by the one lock */

int sim_timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   uint64_t until) {
  timer t = {NULL, condition, mutex, until, false};
  sim_relock();
  t.next = timers;
  timers = &t;
  sim_unlock();
  pthread_cond_wait(condition, mutex);
  sim_relock();
  for (timer **at = &timers; *at; at = &(*at)->next)
    if (*at == &t) {
      *at = t.next;
      break;
    }
  sim_unlock();
  return t.over ? ETIMEDOUT : 0;
}

static timer *earliest(void) {
  timer *first = NULL;
  for (timer *t = timers; t; t = t->next)
    if (!t->over && (!first || t->at < first->at)) first = t;
  return first;
}

/* Whose turn it is needs some moments of the real world to come. */
bool sim_rescue(void) {
  static time_t since;
  timer *t = earliest();
  if (!t) {
    if (!since) since = time(NULL);
    if (time(NULL) - since > PATIENCE) return false;
    sim_unlock();
    sched_yield();
    sim_relock();
    return true;
  }
  since = 0;
  if (t->at > sim_now()) sim_pass(t->at - sim_now());
  t->over = true;
  pthread_cond_t *condition = t->condition;
  pthread_mutex_t *mutex = t->mutex;
  sim_unlock(); /* whoever waits holds the mutex when it takes the lock */
  pthread_mutex_lock(mutex);
  pthread_cond_broadcast(condition);
  pthread_mutex_unlock(mutex);
  sim_relock();
  return true;
}
