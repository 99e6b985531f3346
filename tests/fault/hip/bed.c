#define _GNU_SOURCE /* syscall */
#include "bed.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/costs.h"

/* The process's clocks: these definitions come before the C library's. */

int clock_gettime(clockid_t clock, struct timespec *t) {
  uint64_t base = clock == CLOCK_REALTIME ? UINT64_C(1700000000) : 0;
  sim_pass(SIM_LOOK);
  uint64_t now = sim_now();
  t->tv_sec = (time_t)(base + now / 1000000000u);
  t->tv_nsec = (long)(now % 1000000000u);
  return 0;
}

/* Ranks wait for what other threads do, which takes its time: such a nap is
 * long by the virtual clock, and short by the real one. */
enum { RANK_NAP = 500000 };

int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)left;
  uint64_t ns =
      (uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec;
  bool alone = sim_set()->threads < 2;
  sim_pass(alone || ns > RANK_NAP ? ns : RANK_NAP);
  if (!alone) select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 50});
  return 0;
}

int sched_yield(void) {
  sim_pass(5000);
  return (int)syscall(SYS_sched_yield);
}

/* The library's look-ups of symbols and its files below /sys: the linker turns
 * its calls to ours. Others' calls are their own, a sanitizer's among them. */

void *__real_dlsym(void *library, const char *name);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_fopen64(const char *path, const char *mode);
void *__wrap_dlsym(void *library, const char *name);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

/* sim_settings::missing. */
void *__wrap_dlsym(void *library, const char *name) {
  const char *const *missing = sim_set()->missing;
  for (int i = 0; i < 8 && missing[i]; i++)
    if (strcmp(missing[i], name) == 0) return NULL;
  return __real_dlsym(library, name);
}

static bool is_simulated(const char *path) {
  return strncmp(path, "/sys/class/kfd/", 15) == 0 ||
         strncmp(path, "/sys/bus/pci/", 13) == 0;
}

static FILE *open_text(const char *path) {
  const char *text = sim_file(path);
  return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

/* Under both names: with large files fopen() is another one. */
FILE *__wrap_fopen(const char *path, const char *mode) {
  return is_simulated(path) ? open_text(path) : __real_fopen(path, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode) {
  return is_simulated(path) ? open_text(path) : __real_fopen64(path, mode);
}

static void keep_log(void *user, kmb_log_level level, const char *message) {
  bed *b = user;
  size_t used = strlen(b->log);
  if (level <= KMB_LOG_WARNING)
    snprintf(b->log + used, sizeof b->log - used, "%s\n", message);
}

static unsigned (*synchronize)(void);
static unsigned (*query)(kmbi_hip_event event);
static unsigned (*peek)(void);

unsigned bed_synchronize(void) {
  return synchronize();
}

unsigned bed_query(kmbi_hip_event event) {
  return query(event);
}

unsigned bed_last_error(void) {
  return peek();
}

void bed_look_up(bed *b) {
  memset(b, 0, sizeof *b);
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(library);
#define LOOK_UP(type, name, need, arguments) \
  *(void **)(&b->hip.name) = __real_dlsym(library, #name);
  KMBI_HIP_MAP(LOOK_UP)
#undef LOOK_UP
  *(void **)(&synchronize) = __real_dlsym(library, "hipDeviceSynchronize");
  *(void **)(&query) = __real_dlsym(library, "hipEventQuery");
  *(void **)(&peek) = __real_dlsym(library, "hipPeekAtLastError");
  HIP(b, hipInit, 0);
}

void bed_set_up(bed *b) {
  bed_look_up(b);
  HIP(b, hipModuleLoadData, &b->module, SIM_CODE);
  HIP(b, hipStreamCreateWithFlags, &b->stream, KMBI_HIP_STREAM_NON_BLOCKING);
}

kmb_status bed_open(bed *b, const char *name) {
  kmb_hooks hooks = heap_hooks(&b->memory);
  kmb_device_params params = kmb_device_params_init();
  hooks.log = keep_log;
  hooks.log_user = b;
  params.hooks = &hooks;
  params.llc_bytes = b->llc_given;
  return kmb_device_open(name, &params, &b->device);
}

void bed_close(bed *b) {
  kmb_device_close(b->device);
  b->device = NULL;
  REQUIRE_EQ(b->memory.bytes_out, 0);
}

void bed_tear_down(bed *b) {
  HIP(b, hipStreamDestroy, b->stream);
  HIP(b, hipModuleUnload, b->module);
  if (sim_held()) sim_print_held();
  REQUIRE_EQ(sim_held(), 0);
}

void bed_start(bed *b) {
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, "hip:0"));
}

void bed_end(bed *b) {
  bed_close(b);
  bed_tear_down(b);
}

kmbi_hip_function bed_kernel(bed *b, const char *name) {
  kmbi_hip_function function = NULL;
  HIP(b, hipModuleGetFunction, &function, b->module, name);
  return function;
}

spin bed_spin(bed *b, double us, unsigned count) {
  return (spin){b, bed_kernel(b, "test_spin"),
                (uint64_t)(us * SIM_CLOCK_KHZ / 1e3), count};
}

static kmb_status launched(kmbi_hip_result result) {
  return result ? KMB_ERR_VENDOR : KMB_OK;
}

kmb_status bed_launch_spin(void *user, const kmb_launch *launch) {
  spin *s = user;
  void *arguments[] = {&s->cycles};
  kmbi_hip_result result = 0;
  for (unsigned i = 0; !result && i < s->count; i++)
    result = s->b->hip.hipModuleLaunchKernel(s->kernel, 1, 1, 1, 1, 1, 1, 0,
                                             launch->stream, arguments, NULL);
  return launched(result);
}

kmb_status bed_launch_add(void *user, const kmb_launch *launch) {
  add *a = user;
  void *from = launch->args[0];
  void *to = launch->args[1];
  void *arguments[] = {&from, &to, &a->count};
  return launched(a->b->hip.hipModuleLaunchKernel(
      a->kernel, (a->count + 255) / 256, 1, 1, 256, 1, 1, 0, launch->stream,
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

const char *bed_metadata(const kmb_result *result, const char *key) {
  const char *text = NULL;
  return kmb_result_metadata_text(result, key, &text) ? NULL : text;
}
