/* The machine: time, calls and their failures, what is made. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sim_settings settings;
static uint64_t now; /* atomic: clocks are read without the lock */
static uint64_t calls[SIM_FUNCTIONS];
static struct {
  sim_function function;
  uint64_t at;
  unsigned code;
  bool armed, done;
} fault;
static sim_object *objects[SIM_TYPES];
static unsigned error; /* sticky */
static bool initialised, forked;
static unsigned child_calls, events_in_captures;
static uint64_t swept;
static _Thread_local unsigned last_error;
static _Thread_local int current;

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
  settings = (sim_settings){.l2_bytes = 4u << 20,
                            .mall_bytes = 256u << 20,
                            .prof_version = 10000,
                            .threads = 1,
                            .rccl_version = 22105,
                            .memory_bytes = UINT64_C(192) << 30,
                            .devices = 2,
                            .version = 60200000,
                            .isa = "gfx942:sramecc+:xnack-",
                            .kfd = true,
                            .hsa = true,
                            .smi = true};
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
  error = 0;
  last_error = 0;
  swept = 0;
  events_in_captures = 0;
  sim_cache_reset();
  sim_trace_reset();
}

sim_settings *sim_set(void) {
  pthread_once(&once, first_set_up);
  return &settings;
}

/* Calls. */

static const char *const names[] = {
#define NAME(type, name, need, arguments) #name,
    KMBI_HIP_MAP(NAME)
#undef NAME
#define NAME(type, name, arguments) #name,
        KMBI_HIPRTC_MAP(NAME)
#undef NAME
#define NAME(name, arguments) #name,
            KMBI_HSA_MAP(NAME)
#undef NAME
#define NAME(field, symbol, arguments) symbol,
                KMBI_SMI_MAP(NAME)
#undef NAME
#define NAME(field, symbol, arguments) symbol,
                    KMBI_PROF_MAP(NAME)
#undef NAME
                        "hipGetDeviceProperties",
    "hipDeviceSynchronize", "hipEventQuery"};

const char *sim_name(sim_function function) {
  return names[function];
}

bool sim_is_hip(sim_function function) {
  return strncmp(names[function], "hip", 3) == 0 &&
         strncmp(names[function], "hiprtc", 6) != 0;
}

bool sim_is_asked_only(sim_function function) {
  return strncmp(names[function], "hsa", 3) == 0 ||
         strncmp(names[function], "amdsmi", 6) == 0 ||
         function == SIM_hipGetErrorName || function == SIM_hipGetErrorString ||
         function == SIM_hipGetLastError || function == SIM_hipDeviceGetUuid ||
         function == SIM_hipDriverGetVersion;
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

/* After these errors the device is of no use to the process. */
static bool is_sticky(unsigned code) {
  return (code >= 700 && code < 720 && code != 708 && code != 701) ||
         code == 214;
}

sim_guard sim_enter(sim_function function, uint64_t cost) {
  sim_guard guard = {0};
  pthread_once(&once, first_set_up);
  pthread_mutex_lock(&lock);
  __atomic_add_fetch(&now, cost, __ATOMIC_RELAXED);
  calls[function]++;
  if (fault.armed && fault.function == function &&
      calls[function] == fault.at) {
    fault.done = true;
    guard.result = fault.code;
    if (sim_is_hip(function) && is_sticky(fault.code)) sim_break(fault.code);
    return guard;
  }
  if (!sim_is_hip(function)) return guard;
  if (function == SIM_hipInit && !forked) initialised = true;
  bool about_errors = function == SIM_hipGetErrorName ||
                      function == SIM_hipGetErrorString ||
                      function == SIM_hipGetLastError;
  if (about_errors) return guard;
  if (forked) child_calls++;
  if (forked) guard.result = KMBI_HIP_NotInitialized;
  return guard;
}

void sim_leave(sim_guard *guard) {
  (void)guard;
  pthread_mutex_unlock(&lock);
}

unsigned sim_done(unsigned result) {
  if (result || !settings.keeps_errors) last_error = result;
  return result;
}

unsigned sim_last_error(void) {
  return last_error;
}

unsigned sim_take_last_error(void) {
  unsigned result = last_error;
  last_error = 0;
  return result;
}

void sim_lock(void) {
  pthread_once(&once, first_set_up);
  pthread_mutex_lock(&lock);
}

void sim_unlock(void) {
  pthread_mutex_unlock(&lock);
}

int sim_current(void) {
  return current;
}

void sim_make_current(int device) {
  current = device;
}

unsigned sim_child_calls(void) {
  return child_calls;
}

uint64_t sim_now(void) {
  return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

void sim_pass(uint64_t ns) {
  pthread_once(&once, first_set_up);
  __atomic_add_fetch(&now, ns, __ATOMIC_RELAXED);
}

unsigned sim_error(void) {
  return error;
}

void sim_break(unsigned code) {
  if (!error) error = code;
  for (sim_object *o = objects[SIM_STREAM]; o; o = o->next)
    sim_clear((struct ihipStream_t *)(void *)o);
}

bool sim_hip_started(void) {
  return initialised;
}

void sim_note_sweep(uint64_t bytes) {
  swept += bytes;
}

uint64_t sim_swept(void) {
  return swept;
}

void sim_note_event(void) {
  events_in_captures++;
}

unsigned sim_events_in_captures(void) {
  return events_in_captures;
}

/* Objects. */

void *sim_make(sim_type type, size_t size) {
  sim_object *object = calloc(1, size);
  if (!object) abort();
  object->type = type;
  object->next = objects[type];
  objects[type] = object;
  return object;
}

bool sim_is(const void *wanted, sim_type type) {
  for (const sim_object *o = objects[type]; o; o = o->next)
    if (o == wanted) return true;
  return false;
}

static void release(sim_object *object) {
  switch (object->type) {
  case SIM_STREAM:
    sim_clear((struct ihipStream_t *)(void *)object);
    break;
  case SIM_GRAPH:
    sim_free_ops(((struct ihipGraph *)(void *)object)->first);
    break;
  case SIM_EXEC:
    sim_free_ops(((struct hipGraphExec *)(void *)object)->first);
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
  sim_object *object = wanted;
  if (!object) return;
  sim_object **at = &objects[object->type];
  while (*at != object)
    at = &(*at)->next;
  *at = object->next;
  release(object);
}

sim_object *sim_objects(sim_type type) {
  return objects[type];
}

/* A function dies with its module, the null stream with the process. */
static bool counts(const sim_object *o) {
  return o->type != SIM_FUNCTION &&
         !(o->type == SIM_STREAM &&
           ((const struct ihipStream_t *)(const void *)o)->null);
}

unsigned sim_held(void) {
  unsigned count = 0;
  for (int type = 0; type < SIM_TYPES; type++)
    for (const sim_object *o = objects[type]; o; o = o->next)
      count += counts(o);
  return count;
}

void sim_print_held(void) {
  static const char *const kinds[SIM_TYPES] = {
      "stream", "module", "function",     "event",  "graph",
      "exec",   "block",  "pinned block", "program"};
  for (int type = 0; type < SIM_TYPES; type++)
    for (const sim_object *o = objects[type]; o; o = o->next)
      if (counts(o)) fprintf(stderr, "  held: %s\n", kinds[type]);
}
