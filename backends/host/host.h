/* The host backend's inside: what its files share. */
#ifndef KMB_BACKENDS_HOST_H
#define KMB_BACKENDS_HOST_H

#include <kmb/backend.h>

#include <hwloc.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum { KMBI_HOST_LINE = 64, KMBI_HOST_TEXT = 256 };
#define KMBI_HOST_HUGE ((uint64_t)2 << 20)
#define KMBI_HOST_NO_LLC UINT32_MAX

/* One core that this process may run on, used through one of its PUs. */
typedef struct kmbi_host_core {
  hwloc_obj_t object; /* the core, or the PU where no cores are reported */
  uint64_t l1_bytes;  /* 0: not reported */
  uint64_t l2_bytes;
  uint64_t llc_bytes; /* of its last-level cache; 0: not reported */
  uint32_t llc;       /* logical index of that cache, or KMBI_HOST_NO_LLC */
  uint32_t pu;        /* OS index */
} kmbi_host_core;

typedef struct kmbi_host_pool kmbi_host_pool;

/* What `open` returns as the backend's self. */
typedef struct kmbi_host {
  const kmb_host *host;
  hwloc_topology_t topology;
  kmbi_host_core *cores; /* available ones; the first `threads` are used */
  kmbi_host_pool *pool;  /* NULL until helpers are needed */
  hwloc_bitmap_t before; /* binding of the caller before we changed it */
  hwloc_bitmap_t scratch;
  unsigned char *sweep; /* flush buffer, NULL until prepared */
  uint64_t sweep_bytes; /* what was asked for */
  uint64_t sweep_size;  /* what the buffer takes */
  uint64_t *sweep_ends; /* end of each core's share */
  uint64_t llc_given;   /* by the caller; 0: as detected */
  double tick_ns;       /* 0: not measured yet */
  pid_t pid;
  pid_t bound_thread; /* 0: the caller is not bound */
  uint32_t core_count;
  uint32_t threads;
  char name[KMBI_HOST_TEXT]; /* "" until asked for */
  char arch[KMBI_HOST_TEXT];
  char binding[KMBI_HOST_TEXT];
} kmbi_host;

/* Failure through the library, in one expression. */
#define KMBI_HOST_FAIL(self, status, vendor, ...) \
  ((self)->host->fail((self)->host->ctx, (status), (vendor), __VA_ARGS__))

/* topology.c */
kmb_status kmbi_host_topology_open(kmbi_host *self, uint32_t threads);
void kmbi_host_topology_close(kmbi_host *self);
kmb_status kmbi_host_bind(kmbi_host *self);
/* Sum over the distinct last-level caches of the first `threads` cores, or
 * what the caller gave; KMB_ERR_UNAVAILABLE if neither is known. */
kmb_status kmbi_host_llc(kmbi_host *self, uint32_t threads, uint64_t *bytes);
/* The same without a failure: -1 if known, else the index of the first core
 * without a reported cache. */
int64_t kmbi_host_llc_known(const kmbi_host *self, uint32_t threads,
                            uint64_t *bytes);

/* attrs.c */
kmb_status kmbi_host_attr_u64(void *self, kmb_device_attr attr,
                              uint64_t *value);
kmb_status kmbi_host_attr_f64(void *self, kmb_device_attr attr, double *value);
kmb_status kmbi_host_attr_text(void *self, kmb_device_attr attr,
                               const char **text);
/* Smallest step of `now` seen, 0 if it does not step within `limit_ns`. */
double kmbi_host_tick(double (*now)(void *), void *self, double limit_ns);
double kmbi_host_now(void *self);

/* pool.c: runs `task` once for each part, part i bound to core i. The caller
 * does the part of the core it is on, helpers the others. */
typedef void (*kmbi_host_task)(void *arg, uint32_t part, uint32_t parts);
kmb_status kmbi_host_pool_run(kmbi_host *self, uint32_t parts,
                              kmbi_host_task task, void *arg);
void kmbi_host_pool_close(kmbi_host *self, bool in_child);

/* memory.c */
kmb_status kmbi_host_memory_available(void *self, uint64_t *bytes);
kmb_status kmbi_host_alloc(void *self, uint64_t bytes, uint64_t align,
                           void **pointer);
void kmbi_host_free(void *self, void *pointer, uint64_t bytes);
kmb_status kmbi_host_write(void *self, void *to, const void *from,
                           uint64_t bytes);
kmb_status kmbi_host_read(void *self, void *to, const void *from,
                          uint64_t bytes);
kmb_status kmbi_host_set(void *self, void *pointer, uint64_t pattern,
                         uint64_t bytes);
/* Runs `task` in as many parts as are worth a thread each for so many bytes; in
 * one part on the calling thread, wherever it is. */
kmb_status kmbi_host_spread(kmbi_host *self, uint64_t bytes,
                            kmbi_host_task task, void *arg);
/* Start of part `part` when `count` things are cut into `parts`; a multiple of
 * `grain` but for the end. */
uint64_t kmbi_host_cut(uint64_t count, uint64_t grain, uint32_t part,
                       uint32_t parts);
bool kmbi_host_round_up(uint64_t value, uint64_t to, uint64_t *rounded);

/* fill.c */
kmb_status kmbi_host_fill_random(void *self, const kmb_fill *fill);

/* sweep.c */
kmb_status kmbi_host_sweep_prepare(void *self, uint64_t bytes);
kmb_status kmbi_host_sweep(kmbi_host *self);
void kmbi_host_sweep_close(kmbi_host *self);
/* Reads one word of each cache line. */
void kmbi_host_touch(const void *pointer, uint64_t bytes);

/* plan.c */
kmb_status kmbi_host_propose(void *self, const kmb_request *request,
                             kmb_choice *choices, uint32_t capacity,
                             uint32_t *count);
kmb_status kmbi_host_plan_create(void *self, const kmb_plan_desc *desc,
                                 void **plan);
kmb_status kmbi_host_plan_run(void *self, void *plan, uint64_t count,
                              double until_ns, kmb_sample *samples,
                              uint64_t *got);
void kmbi_host_plan_destroy(void *self, void *plan);

/* ceilings.c */
kmb_status kmbi_host_ceiling(void *self, kmb_ceiling_kind kind, kmb_dtype dtype,
                             uint32_t threads, kmb_ceiling *ceiling);

/* describe.c */
void kmbi_host_describe(void *self, kmb_emit_fn emit, void *user);
void kmbi_host_telemetry(void *self, kmb_telemetry_fn emit, void *user);
const char *kmbi_host_cpu_name(kmbi_host *self);

const kmb_backend_ops *kmbi_backend_host(void);

#endif
