/* A thread that opens a gate which stays closed for too long. */
#ifndef KMB_BACKENDS_CUDA_WATCH_H
#define KMB_BACKENDS_CUDA_WATCH_H

#include "cuda_backend.h"

#include <pthread.h>

/* The limit: many times what enqueueing a portion takes. */
#define KMBI_CUDA_GATE_NS 1e9

typedef struct kmbi_cuda_watch {
  pthread_mutex_t lock; /* guards what follows, but for `started` */
  pthread_cond_t turn;
  pthread_t thread;
  volatile uint32_t *gate;
  double until;     /* when to look next */
  double closed_at; /* 0: the gate is open */
  pid_t pid;
  bool running, leaving;
  bool opened; /* by the thread, since the gate was closed last */
  bool started;
} kmbi_cuda_watch;

/* For the space in use, whose gate is there. */
kmb_status kmbi_cuda_watch_open(kmbi_cuda *self, kmbi_cuda_watch *watch);
void kmbi_cuda_watch_close(kmbi_cuda_watch *watch);
/* Around a run: only then the thread looks. */
void kmbi_cuda_watch_run(kmbi_cuda_watch *watch, bool running);
/* The gate has been closed; it is about to be opened: whether the thread had to
 * do so. */
void kmbi_cuda_watch_closed(kmbi_cuda_watch *watch);
bool kmbi_cuda_watch_opened(kmbi_cuda_watch *watch);

#endif
