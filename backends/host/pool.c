/* Helper threads, one bound to each core, started when first needed and
 * asleep while anything is timed. */
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

typedef enum helper_state {
  HELPER_NONE,
  HELPER_STARTING,
  HELPER_IDLE,
  HELPER_UNBOUND /* could not be bound and has ended */
} helper_state;

typedef struct helper {
  kmbi_host_pool *pool;
  pthread_t thread;
  pthread_cond_t go;
  hwloc_bitmap_t set;
  helper_state state;
  uint32_t core;
  int error; /* why it could not be bound */
  bool work;
} helper;

struct kmbi_host_pool {
  pthread_mutex_t lock;
  pthread_cond_t done;
  hwloc_topology_t topology;
  hwloc_bitmap_t saved; /* the caller's binding during a run */
  kmbi_host_task task;
  void *arg;
  uint32_t parts;
  uint32_t running;
  bool stop;
  uint32_t count;
  helper helpers[];
};

static void *helper_main(void *argument) {
  helper *me = argument;
  kmbi_host_pool *pool = me->pool;
  int failed = hwloc_set_cpubind(pool->topology, me->set, HWLOC_CPUBIND_THREAD);
  int error = errno;
  pthread_mutex_lock(&pool->lock);
  me->error = error;
  me->state = failed ? HELPER_UNBOUND : HELPER_IDLE;
  pthread_cond_signal(&pool->done);
  while (!failed) {
    while (!me->work && !pool->stop)
      pthread_cond_wait(&me->go, &pool->lock);
    if (pool->stop) break;
    me->work = false;
    kmbi_host_task task = pool->task;
    void *arg = pool->arg;
    uint32_t parts = pool->parts;
    pthread_mutex_unlock(&pool->lock);
    task(arg, me->core, parts);
    pthread_mutex_lock(&pool->lock);
    if (--pool->running == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static size_t pool_size(uint32_t count) {
  return sizeof(kmbi_host_pool) + count * sizeof(helper);
}

/* NULL if there is no memory. */
static kmbi_host_pool *pool_open(kmbi_host *self) {
  const kmb_host *host = self->host;
  size_t size = pool_size(self->core_count);
  kmbi_host_pool *pool = host->alloc(host->ctx, size, _Alignof(kmbi_host_pool));
  hwloc_bitmap_t saved = pool ? hwloc_bitmap_alloc() : NULL;
  if (!saved) {
    if (pool) host->free(host->ctx, pool, size);
    return NULL;
  }
  memset(pool, 0, size);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->topology = self->topology;
  pool->saved = saved;
  pool->count = self->core_count;
  self->pool = pool;
  return pool;
}

/* Signals of the program are for its own threads. */
static int start_thread(helper *h) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = pthread_create(&h->thread, NULL, helper_main, h);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static kmb_status helper_start(kmbi_host *self, kmbi_host_pool *pool,
                               uint32_t core) {
  helper *h = &pool->helpers[core];
  uint32_t pu = self->cores[core].pu;
  h->pool = pool;
  h->core = core;
  h->set = hwloc_bitmap_alloc();
  if (!h->set)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory for a processor set");
  hwloc_bitmap_only(h->set, pu);
  pthread_cond_init(&h->go, NULL);
  h->state = HELPER_STARTING;
  int error = start_thread(h);
  bool started = !error;
  pthread_mutex_lock(&pool->lock);
  while (started && h->state == HELPER_STARTING)
    pthread_cond_wait(&pool->done, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  if (started && h->state == HELPER_IDLE) return KMB_OK;
  if (started) {
    pthread_join(h->thread, NULL);
    error = h->error;
  }
  pthread_cond_destroy(&h->go);
  hwloc_bitmap_free(h->set);
  h->state = HELPER_NONE;
  return KMBI_HOST_FAIL(
      self, started ? KMB_ERR_PERM : KMB_ERR_UNAVAILABLE, error,
      "host: %s a helper thread for PU %u failed (errno %d); %s",
      started ? "binding" : "starting", (unsigned)pu, error,
      started ? "its affinity changed since the device was opened"
              : "raise the limit of threads or set kmb_device_params.threads");
}

/* The core of the first `count` that the calling thread is on, else the
 * first. */
static uint32_t callers_core(const kmbi_host *self, uint32_t count) {
  int pu = sched_getcpu();
  for (uint32_t i = 0; pu >= 0 && i < count; i++)
    if (hwloc_bitmap_isset(self->cores[i].object->cpuset, (unsigned)pu))
      return i;
  return 0;
}

/* Holds the caller on its core for the run, so that no core is left out. */
static kmb_status hold(kmbi_host *self, kmbi_host_pool *pool, uint32_t core,
                       bool *held) {
  *held = false;
  if (self->bound_thread == gettid()) return KMB_OK;
  uint32_t pu = self->cores[core].pu;
  hwloc_bitmap_only(self->scratch, pu);
  if (hwloc_get_cpubind(self->topology, pool->saved, HWLOC_CPUBIND_THREAD) ||
      hwloc_set_cpubind(self->topology, self->scratch, HWLOC_CPUBIND_THREAD))
    return KMBI_HOST_FAIL(self, KMB_ERR_PERM, errno,
                          "host: holding the calling thread on PU %u failed "
                          "(errno %d); its affinity changed since the device "
                          "was opened",
                          (unsigned)pu, errno);
  *held = true;
  return KMB_OK;
}

static kmb_status prepare(kmbi_host *self, kmbi_host_pool *pool, uint32_t parts,
                          uint32_t mine) {
  for (uint32_t i = 0; i < parts; i++) {
    if (i == mine || pool->helpers[i].state == HELPER_IDLE) continue;
    kmb_status status = helper_start(self, pool, i);
    if (status) return status;
  }
  return KMB_OK;
}

kmb_status kmbi_host_pool_run(kmbi_host *self, uint32_t parts,
                              kmbi_host_task task, void *arg) {
  kmbi_host_pool *pool = self->pool ? self->pool : pool_open(self);
  if (!pool)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory for a pool of %u threads",
                          (unsigned)self->core_count);
  /* Alone, the caller stays where it is. */
  uint32_t core = callers_core(self, parts > 1 ? parts : self->core_count);
  uint32_t mine = parts > 1 ? core : 0;
  kmb_status status = prepare(self, pool, parts, mine);
  bool held = false;
  if (!status) status = hold(self, pool, core, &held);
  if (status) return status;
  pthread_mutex_lock(&pool->lock);
  pool->task = task;
  pool->arg = arg;
  pool->parts = parts;
  pool->running = parts - 1;
  for (uint32_t i = 0; i < parts; i++) {
    if (i == mine) continue;
    pool->helpers[i].work = true;
    pthread_cond_signal(&pool->helpers[i].go);
  }
  pthread_mutex_unlock(&pool->lock);
  task(arg, mine, parts);
  pthread_mutex_lock(&pool->lock);
  while (pool->running)
    pthread_cond_wait(&pool->done, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  if (held)
    hwloc_set_cpubind(self->topology, pool->saved, HWLOC_CPUBIND_THREAD);
  return KMB_OK;
}

void kmbi_host_pool_close(kmbi_host *self, bool in_child) {
  kmbi_host_pool *pool = self->pool;
  const kmb_host *host = self->host;
  if (!pool) return;
  /* In a forked child the threads do not exist, and what they left in the
   * mutex and conditions is of no use: only memory is given back. */
  if (!in_child) {
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    for (uint32_t i = 0; i < pool->count; i++)
      if (pool->helpers[i].state == HELPER_IDLE)
        pthread_cond_signal(&pool->helpers[i].go);
    pthread_mutex_unlock(&pool->lock);
  }
  for (uint32_t i = 0; i < pool->count; i++) {
    helper *h = &pool->helpers[i];
    if (h->state != HELPER_IDLE) continue;
    if (!in_child) pthread_join(h->thread, NULL);
    if (!in_child) pthread_cond_destroy(&h->go);
    hwloc_bitmap_free(h->set);
  }
  if (!in_child) pthread_mutex_destroy(&pool->lock);
  if (!in_child) pthread_cond_destroy(&pool->done);
  hwloc_bitmap_free(pool->saved);
  host->free(host->ctx, pool, pool_size(pool->count));
  self->pool = NULL;
}
