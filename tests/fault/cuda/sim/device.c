/* The machine: time, calls and their failures, contexts and what is in them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sim_settings settings;
static uint64_t now;
static uint64_t calls[SIM_FUNCTIONS];
static struct {
  sim_function function;
  uint64_t at;
  unsigned code;
  bool armed, done;
} fault;
static struct CUctx_st primaries[8];
static sim_object *objects;
static int held; /* things that are no objects */
static unsigned lost_with_context;
static bool initialised, forked;
static unsigned child_calls;
static _Thread_local struct CUctx_st *current;

static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void in_child(void) {
  forked = initialised;
}

static void set_up(void) {
  settings = (sim_settings){.l2_bytes = 60u << 20, /* the attribute: 60 MiB */
                            .memory_bytes = UINT64_C(1) << 32,
                            .devices = 4,
                            .visible = 3,
                            .driver_version = 13000,
                            .compute_pct = 12,
                            .memory_pct = 36,
                            .occupancy_pct = 66};
  now = 1000000;
}

static void first_set_up(void) {
  make_lock();
  pthread_atfork(NULL, NULL, in_child);
  set_up();
}

void sim_reset(void) {
  pthread_once(&once, first_set_up);
  set_up();
  memset(calls, 0, sizeof calls);
  memset(&fault, 0, sizeof fault);
  memset(primaries, 0, sizeof primaries);
  lost_with_context = 0;
  held = 0;
  current = NULL;
  sim_cache_reset();
  sim_trace_reset();
  sim_profiler_reset();
}

sim_settings *sim_set(void) {
  pthread_once(&once, first_set_up);
  return &settings;
}

/* Calls. */

static const char *const names[] = {
#define NAME(name, version, symbol, need, arguments) #name,
    KMBI_CU_MAP(NAME)
#undef NAME
#define NAME(name, version, need, arguments) #name,
        KMBI_CUPTI_MAP(NAME)
#undef NAME
#define NAME(field, symbol, need, arguments) symbol,
            KMBI_NVML_MAP(NAME)
#undef NAME
#define NAME(name, arguments) #name,
                KMBI_LT_MAP(NAME)
#undef NAME
#define NAME(name, type) #name,
                    KMBI_PROFILER_MAP(NAME)
#undef NAME
                        "cuGetProcAddress",
    "cuCtxSynchronize",
    "cuStreamWaitEvent",
    "cuStreamSynchronize",
};

const char *sim_name(sim_function function) {
  return names[function];
}

bool sim_is_cupti(sim_function function) {
  return strncmp(names[function], "cupti", 5) == 0;
}

bool sim_is_nvml(sim_function function) {
  return strncmp(names[function], "nvml", 4) == 0;
}

bool sim_lacks(const char *name) {
  return settings.missing && strcmp(settings.missing, name) == 0;
}

uint64_t sim_calls(sim_function function) {
  return calls[function];
}

void sim_fail(sim_function function, uint64_t k, unsigned code) {
  pthread_once(&once, first_set_up);
  fault.function = function;
  fault.at = calls[function] + k;
  fault.code = code;
  fault.armed = k > 0;
  fault.done = false;
}

bool sim_failed(void) {
  return fault.done;
}

static bool is_driver(sim_function function) {
  return !sim_is_cupti(function) && !sim_is_nvml(function);
}

/* After these errors a context is of no use. */
static bool is_sticky(unsigned code) {
  return (code >= 700 && code < 720 && code != 708) || code == 214;
}

sim_guard sim_enter(sim_function function, uint64_t cost) {
  sim_guard guard = {0};
  pthread_once(&once, first_set_up);
  pthread_mutex_lock(&lock);
  now += cost;
  calls[function]++;
  if (fault.armed && fault.function == function &&
      calls[function] == fault.at) {
    fault.done = true;
    guard.result = fault.code;
    if (is_driver(function) && is_sticky(fault.code) && current)
      sim_sticky(current, fault.code);
    return guard;
  }
  if (!is_driver(function)) return guard;
  if (function == SIM_cuInit && !forked) initialised = true;
  bool about_process =
      function == SIM_cuGetErrorName || function == SIM_cuGetErrorString ||
      function == SIM_cuDriverGetVersion || function == SIM_cuGetProcAddress;
  if (about_process) return guard;
  if (forked) child_calls++;
  if (forked || !initialised) guard.result = 3; /* not initialised */
  return guard;
}

void sim_leave(sim_guard *guard) {
  (void)guard;
  pthread_mutex_unlock(&lock);
}

void sim_unlock(void) {
  pthread_mutex_unlock(&lock);
}

void sim_relock(void) {
  pthread_mutex_lock(&lock);
}

void sim_wait(pthread_cond_t *condition) {
  pthread_cond_wait(condition, &lock);
}

unsigned sim_child_calls(void) {
  return child_calls;
}

uint64_t sim_now(void) {
  pthread_once(&once, first_set_up);
  pthread_mutex_lock(&lock);
  uint64_t ns = now;
  pthread_mutex_unlock(&lock);
  return ns;
}

void sim_pass(uint64_t ns) {
  pthread_once(&once, first_set_up);
  pthread_mutex_lock(&lock);
  now += ns;
  pthread_mutex_unlock(&lock);
}

/* Contexts. */

struct CUctx_st *sim_current(void) {
  return current;
}

void sim_make_current(struct CUctx_st *context) {
  current = context;
}

unsigned sim_usable(void) {
  if (!current) return 201;             /* no context */
  if (!current->references) return 709; /* destroyed */
  return current->error;
}

struct CUctx_st *sim_primary(unsigned device) {
  struct CUctx_st *context = &primaries[device];
  context->device = device;
  context->id = device + 1;
  return context;
}

/* Objects. */

void *sim_make(sim_type type, size_t size) {
  sim_object *object = calloc(1, size);
  if (!object) abort();
  object->type = type;
  object->context = current;
  object->next = objects;
  objects = object;
  return object;
}

bool sim_is(const void *wanted, sim_type type) {
  for (const sim_object *o = objects; o; o = o->next)
    if (o == wanted) return o->type == type;
  return false;
}

static void release(sim_object *object) {
  switch (object->type) {
  case SIM_STREAM:
    sim_clear((struct CUstream_st *)(void *)object);
    break;
  case SIM_GRAPH:
    sim_free_ops(((struct CUgraph_st *)(void *)object)->first);
    break;
  case SIM_EXEC:
    sim_free_ops(((struct CUgraphExec_st *)(void *)object)->first);
    break;
  case SIM_BLOCK:
  case SIM_PINNED:
    free(((struct sim_block *)(void *)object)->memory);
    break;
  default:
    break;
  }
  free(object);
}

void sim_destroy(void *wanted) {
  for (sim_object **at = &objects; *at; at = &(*at)->next) {
    sim_object *object = *at;
    if (object != wanted) continue;
    *at = object->next;
    release(object);
    return;
  }
}

sim_object *sim_objects(void) {
  return objects;
}

void sim_hold(int change) {
  held += change;
}

/* A function dies with its module, the legacy stream with its context. */
static bool counts(const sim_object *o) {
  return o->type != SIM_FUNCTION &&
         !(o->type == SIM_STREAM &&
           ((const struct CUstream_st *)(const void *)o)->legacy);
}

void sim_drop_context(struct CUctx_st *context) {
  sim_object **at = &objects;
  while (*at) {
    sim_object *o = *at;
    if (o->context != context) {
      at = &o->next;
      continue;
    }
    lost_with_context += counts(o);
    *at = o->next;
    release(o);
  }
  context->error = 0;
  context->legacy = NULL;
}

unsigned sim_held(void) {
  unsigned count = lost_with_context;
  for (const sim_object *o = objects; o; o = o->next)
    count += counts(o);
  for (size_t i = 0; i < sizeof primaries / sizeof primaries[0]; i++)
    count += primaries[i].references;
  return count + (unsigned)held;
}

void sim_print_held(void) {
  static const char *const kinds[SIM_TYPES] = {
      "stream", "module", "function", "event",
      "graph",  "exec",   "block",    "pinned block"};
  fprintf(stderr, "  %u went with their context, %d of CUPTI\n",
          lost_with_context, held);
  for (const sim_object *o = objects; o; o = o->next)
    if (counts(o)) fprintf(stderr, "  held: %s\n", kinds[o->type]);
  for (size_t i = 0; i < sizeof primaries / sizeof primaries[0]; i++)
    if (primaries[i].references)
      fprintf(stderr, "  held: context of device %zu, %u times\n", i,
              primaries[i].references);
}
