/* Who watches the gate: a callback that waits for the device while the gate is
 * closed waits for ever, for nobody opens it. A thread does so after a limit.
 *
 * It sleeps from one look to the next. Closing and opening the gate wake
 * nobody, and still no gate is closed for longer than the limit: the next look
 * at a closed gate is set for when its limit is up. */
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* At `until` or later. */
static void look(kmbi_cuda_watch *w) {
  if (w->closed_at > 0 && w->closed_at + KMBI_CUDA_GATE_NS <= w->until) {
    w->opened = true;
    w->closed_at = 0;
    __atomic_store_n(w->gate, 1, __ATOMIC_SEQ_CST);
  }
  w->until = (w->closed_at > 0 ? w->closed_at : w->until) + KMBI_CUDA_GATE_NS;
}

static void sleep_until(kmbi_cuda_watch *w, double until) {
  struct timespec t = {.tv_sec = (time_t)(until / 1e9)};
  t.tv_nsec = (long)(until - (double)t.tv_sec * 1e9);
  int result = pthread_cond_timedwait(&w->turn, &w->lock, &t);
  /* A run that began meanwhile has set another time. */
  if (result == ETIMEDOUT && w->running && w->until == until) look(w);
}

static void *watch(void *user) {
  kmbi_cuda_watch *w = user;
  pthread_mutex_lock(&w->lock);
  while (!w->leaving)
    if (w->running)
      sleep_until(w, w->until);
    else
      pthread_cond_wait(&w->turn, &w->lock);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Signals are the caller's threads' affair. */
static int start_thread(kmbi_cuda_watch *w) {
  sigset_t all, before;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error) return error;
  error = pthread_create(&w->thread, NULL, watch, w);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static int start(kmbi_cuda_watch *w) {
  pthread_condattr_t attributes;
  int error = pthread_condattr_init(&attributes);
  if (error) return error;
  error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (!error) error = pthread_cond_init(&w->turn, &attributes);
  (void)pthread_condattr_destroy(&attributes);
  if (error) return error;
  error = pthread_mutex_init(&w->lock, NULL);
  if (!error) {
    error = start_thread(w);
    if (error) (void)pthread_mutex_destroy(&w->lock);
  }
  if (error) (void)pthread_cond_destroy(&w->turn);
  return error;
}

kmb_status kmbi_cuda_watch_open(kmbi_cuda *self, kmbi_cuda_watch *w) {
  w->gate = self->space->gate;
  w->pid = getpid();
  int error = start(w);
  w->started = !error;
  if (!error) return KMB_OK;
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, error,
                        "no thread to watch the gate (error %d)", error);
}

void kmbi_cuda_watch_close(kmbi_cuda_watch *w) {
  /* A forked child has no such thread. */
  if (!w->started || w->pid != getpid()) return;
  pthread_mutex_lock(&w->lock);
  w->leaving = true;
  pthread_cond_signal(&w->turn);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  (void)pthread_mutex_destroy(&w->lock);
  (void)pthread_cond_destroy(&w->turn);
  w->started = false;
}

void kmbi_cuda_watch_run(kmbi_cuda_watch *w, bool running) {
  if (!w->started) return;
  pthread_mutex_lock(&w->lock);
  w->running = running;
  w->until = kmbi_cuda_now() + KMBI_CUDA_GATE_NS;
  if (running) pthread_cond_signal(&w->turn);
  pthread_mutex_unlock(&w->lock);
}

void kmbi_cuda_watch_closed(kmbi_cuda_watch *w) {
  pthread_mutex_lock(&w->lock);
  w->closed_at = kmbi_cuda_now();
  w->opened = false;
  pthread_mutex_unlock(&w->lock);
}

bool kmbi_cuda_watch_opened(kmbi_cuda_watch *w) {
  pthread_mutex_lock(&w->lock);
  bool opened = w->opened;
  w->closed_at = 0;
  pthread_mutex_unlock(&w->lock);
  return opened;
}
