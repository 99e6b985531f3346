#define _GNU_SOURCE /* RTLD_NEXT */
#include "bed.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/costs.h"

/* The process's clocks and threads: these definitions come before the C
 * library's. */

int clock_gettime(clockid_t clock, struct timespec *t) {
  uint64_t base = clock == CLOCK_REALTIME ? UINT64_C(1700000000) : 0;
  sim_pass(SIM_LOOK);
  uint64_t now = sim_now();
  t->tv_sec = (time_t)(base + now / 1000000000u);
  t->tv_nsec = (long)(now % 1000000000u);
  return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)left;
  sim_pass((uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec);
  /* Ranks wait for what other threads do, which takes its time. */
  if (sim_set()->shown > 1)
    select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 50});
  return 0;
}

/* Ranks that wait for each other look often: on a machine that is busy each of
 * these can take a while. */
int sched_yield(void) {
  sim_pass(5000);
  return (int)syscall(SYS_sched_yield);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
  return sim_timed_wait(condition, mutex,
                        (uint64_t)until->tv_sec * 1000000000u +
                            (uint64_t)until->tv_nsec);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *user) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (sim_set()->no_threads) return EAGAIN;
  *(void **)(&real) = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, run, user);
}

void bed_look_up(bed *b) {
  memset(b, 0, sizeof *b);
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(library);
#define LOOK_UP(name, version, symbol, need, arguments) \
  *(void **)(&b->cu.name) = dlsym(library, symbol);
  KMBI_CU_MAP(LOOK_UP)
#undef LOOK_UP
  *(void **)(&b->synchronize) = dlsym(library, "cuCtxSynchronize");
  *(void **)(&b->wait_event) = dlsym(library, "cuStreamWaitEvent");
  CU(b, cuInit, 0);
}

void bed_set_up(bed *b) {
  bed_look_up(b);
  CU(b, cuDevicePrimaryCtxRetain, &b->context, 0);
  CU(b, cuCtxSetCurrent, b->context);
  CU(b, cuModuleLoadData, &b->module, ".version 6.0");
  CU(b, cuStreamCreate, &b->stream, KMBI_CU_STREAM_NON_BLOCKING);
}

static void count_log(void *user, kmb_log_level level, const char *message) {
  bed *b = user;
  b->ungated += level == KMB_LOG_WARNING && strstr(message, "no gate") != NULL;
}

kmb_status bed_open(bed *b, const char *name) {
  kmb_hooks hooks = heap_hooks(&b->memory);
  kmb_device_params params = kmb_device_params_init();
  hooks.log = count_log;
  hooks.log_user = b;
  params.hooks = &hooks;
  return kmb_device_open(name, &params, &b->device);
}

void bed_close(bed *b) {
  kmb_device_close(b->device);
  b->device = NULL;
  REQUIRE_EQ(b->memory.bytes_out, 0);
}

void bed_tear_down(bed *b) {
  CU(b, cuCtxSetCurrent, b->context);
  CU(b, cuStreamDestroy, b->stream);
  CU(b, cuModuleUnload, b->module);
  CU(b, cuDevicePrimaryCtxRelease, 0);
  CU(b, cuCtxSetCurrent, NULL);
  if (sim_held()) sim_print_held();
  REQUIRE_EQ(sim_held(), 0);
}

void bed_start(bed *b) {
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, "cuda:0"));
}

void bed_end(bed *b) {
  bed_close(b);
  bed_tear_down(b);
}

kmbi_cu_function bed_kernel(bed *b, const char *name) {
  kmbi_cu_function function = NULL;
  CU(b, cuModuleGetFunction, &function, b->module, name);
  return function;
}

spin bed_spin(bed *b, double us, unsigned count) {
  return (spin){b, bed_kernel(b, "test_spin"),
                (uint64_t)(us * SIM_CLOCK_KHZ / 1e3), count};
}

static kmb_status launched(kmbi_cu_result result) {
  return result ? KMB_ERR_VENDOR : KMB_OK;
}

kmb_status bed_launch_spin(void *user, const kmb_launch *launch) {
  spin *s = user;
  uint64_t out = 0;
  void *arguments[] = {&s->cycles, &out};
  kmbi_cu_result result = 0;
  for (unsigned i = 0; !result && i < s->count; i++)
    result = s->b->cu.cuLaunchKernel(s->kernel, 1, 1, 1, 1, 1, 1, 0,
                                     launch->stream, arguments, NULL);
  return launched(result);
}

kmb_status bed_launch_add(void *user, const kmb_launch *launch) {
  add *a = user;
  void *from = launch->args[0];
  void *to = launch->args[1];
  void *arguments[] = {&from, &to, &a->count};
  return launched(a->b->cu.cuLaunchKernel(a->kernel, (a->count + 255) / 256, 1,
                                          1, 256, 1, 1, 0, launch->stream,
                                          arguments, NULL));
}

kmb_buffers *bed_add_buffers(bed *b, uint32_t count) {
  kmb_buffer_desc descs[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers *buffers = NULL;
  for (int i = 0; i < 2; i++) {
    descs[i].name = i ? "to" : "from";
    descs[i].bytes = (uint64_t)count * 4;
    descs[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    descs[i].dtype = KMB_F32;
  }
  if (kmb_buffers_create(b->device, descs, sizeof descs[0], 2, NULL, &buffers))
    return NULL;
  return buffers;
}

kmb_bench_params bed_params(kmb_timer timer, kmb_launch_mode mode,
                            kmb_cache_state cache) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = timer;
  p.launch_mode = mode;
  p.cache = cache;
  p.min_wall_ns = 1;
  p.warmup_ns = 1e5;
  p.max_samples = 60;
  p.flags = KMB_BENCH_NO_CONFIRM;
  if (timer) p.flags |= KMB_BENCH_REQUIRE_TIMER;
  if (mode) p.flags |= KMB_BENCH_REQUIRE_LAUNCH;
  if (cache) p.flags |= KMB_BENCH_REQUIRE_CACHE;
  return p;
}

double bed_f64(const kmb_result *result, kmb_value value) {
  double number = 0;
  REQUIRE_OK(kmb_result_f64(result, value, &number));
  return number;
}

uint64_t bed_u64(const kmb_result *result, kmb_value value) {
  uint64_t number = 0;
  REQUIRE_OK(kmb_result_u64(result, value, &number));
  return number;
}

const char *bed_text(const kmb_result *result, kmb_value value) {
  const char *text = NULL;
  REQUIRE_OK(kmb_result_text(result, value, &text));
  return text;
}

const char *bed_finding(const kmb_result *result, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(result, i, &f));
    if (f.code == code) return f.message;
  }
  return NULL;
}

void bed_print(const kmb_result *result) {
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++) {
    kmb_finding f = kmb_finding_init();
    if (kmb_result_finding(result, i, &f)) continue;
    fprintf(stderr, "    %s: %s\n", kmb_finding_name(f.code), f.message);
  }
}
