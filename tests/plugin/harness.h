/* Opening the simulated device in a test, and an operation to run on it. A
 * device that complained, or that was not given everything back, fails the
 * test. */
#ifndef KMB_TESTS_PLUGIN_HARNESS_H
#define KMB_TESTS_PLUGIN_HARNESS_H

#include "heap.h"

#include "sim/stream.h"

#include <kmb/kmb.h>

#define SIM SIM_DIR "/kmb-backend-sim.so"
#define SIMBARE SIM_DIR "/kmb-backend-simbare.so"

typedef struct harness {
  kmb_device *device;
  heap memory; /* of the library */
  volatile int32_t cancel;
  int complaints;
  char complaint[256]; /* the last one */
} harness;

static void harness_log(void *user, kmb_log_level level, const char *message) {
  harness *h = user;
  if (level != KMB_LOG_ERROR) return;
  h->complaints++;
  snprintf(h->complaint, sizeof h->complaint, "%s", message);
}

/* `fail_alloc`: the allocation that fails while opening, 0: none. */
static inline kmb_status harness_open_failing(harness *h, const char *plugin,
                                              const char *spec,
                                              uint64_t fail_alloc) {
  char name[2048];
  kmb_hooks hooks = heap_hooks(&h->memory);
  kmb_device_params params = kmb_device_params_init();
  *h = (harness){.memory.fail_at = fail_alloc};
  hooks.log = harness_log;
  hooks.log_user = h;
  hooks.cancel = &h->cancel;
  params.hooks = &hooks;
  snprintf(name, sizeof name, "%s:%s", plugin, spec);
  return kmb_device_open(name, &params, &h->device);
}

static inline kmb_status harness_open(harness *h, const char *plugin,
                                      const char *spec) {
  return harness_open_failing(h, plugin, spec, 0);
}

static inline void open_sim(harness *h, const char *spec) {
  REQUIRE_OK(harness_open(h, SIM, spec));
}

static inline void close_sim(harness *h) {
  kmb_device_close(h->device);
  REQUIRE_EQ(h->memory.blocks_out, 0);
  REQUIRE_EQ(h->memory.bytes_out, 0);
  REQUIRE_STR(h->complaint, "");
  REQUIRE_EQ(h->complaints, 0);
}

/* Reads args[0] and writes args[1] of `bytes` each; without arguments it
 * touches nothing. */
typedef struct operation {
  uint64_t bytes;
  uint32_t kernels; /* a launch; 0: one */
  uint32_t idle;    /* launches nothing from the idle-th call on; 0: never */
  uint64_t calls, runs;
  double ns;        /* 0: the device's */
  uint64_t fail_at; /* the call that returns `status`; 0: none */
  kmb_status status;
  uint64_t cancel_at; /* the run that raises `cancel`; 0: none */
  volatile int32_t *cancel;
} operation;

/* Copies, unless both ends are there from the last time: whole copies in each
 * of thousands of launches were nearly all of a test's time. */
static void operation_copy(char *to, const char *from, size_t bytes) {
  size_t part = bytes < 64 ? bytes : 64;
  if (memcmp(to, from, part) == 0 &&
      memcmp(to + bytes - part, from + bytes - part, part) == 0)
    return;
  memcpy(to, from, bytes);
}

static void operation_run(const sim_kernel *kernel) {
  operation *o = kernel->user;
  if (++o->runs == o->cancel_at) *o->cancel = 1;
  if (kernel->write_count)
    operation_copy(kernel->writes[0].pointer, kernel->reads[0].pointer,
                   (size_t)o->bytes);
}

static inline kmb_status operation_launch(void *user, const kmb_launch *l) {
  operation *o = user;
  kmb_status status = KMB_OK;
  sim_kernel kernel = {.run = operation_run, .user = o, .ns = o->ns};
  if (++o->calls == o->fail_at) return o->status;
  if (o->idle && o->calls >= o->idle) return KMB_OK;
  if (l->arg_count > 0)
    kernel.reads[kernel.read_count++] = (kmb_span){l->args[0], o->bytes};
  if (l->arg_count > 1)
    kernel.writes[kernel.write_count++] = (kmb_span){l->args[1], o->bytes};
  for (uint32_t i = 0; !status && i < (o->kernels ? o->kernels : 1); i++)
    status = sim_enqueue(l->stream, &kernel);
  return status;
}

#endif
