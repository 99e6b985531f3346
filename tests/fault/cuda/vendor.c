/* Each call of a vendor's library fails once, in turn, in a process of its
 * own: a clean status, nothing held afterwards, and the next measurement works
 * where CUDA allows it. usage: vendor SCENARIO [full] */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bed.h"

enum {
  COUNT = 256,
  UNKNOWN = 999,
  SCENARIOS = 7,
  CEILINGS = 4,
  COUNTERS,
  KEPT
};

static const struct {
  const char *name;
  kmb_timer timer;
  kmb_launch_mode mode;
  kmb_cache_state cache;
  bool own_stream;
  uint64_t batch;
} scenarios[SCENARIOS] = {
    {"default, confirmed", 0, 0, 0, false, 0},
    {"GRAPH", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_ROTATED, false, 4},
    {"HOST on a graph, caller's stream", KMB_TIMER_HOST, KMB_LAUNCH_GRAPH,
     KMB_CACHE_WARM, true, 4},
    {"TRACE on a graph", KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_COLD,
     false, 0},
    {"ceilings", 0, 0, 0, false, 0},
    {"counters", 0, 0, KMB_CACHE_COLD, false, 0},
    {"counters, kept", 0, 0, KMB_CACHE_COLD, false, 0},
};

/* What a child tells its parent. */
static struct shared { uint64_t calls[SIM_FUNCTIONS]; } * shared;

/* One of each way to measure. */
static kmb_status measure_ceilings(bed *b) {
  static const struct {
    kmb_ceiling_kind kind;
    kmb_dtype dtype;
  } all[] = {{KMB_CEILING_COPY, 0},
             {KMB_CEILING_FMA, KMB_F32},
             {KMB_CEILING_MATRIX, KMB_BF16}};
  kmb_status status = KMB_OK;
  for (int i = 0; !status && i < 3; i++) {
    kmb_ceiling c = kmb_ceiling_init();
    status = kmb_device_ceiling(b->device, all[i].kind, all[i].dtype, 0, &c);
  }
  return status;
}

/* What the first call keeps the second takes up as it is, the third sets it
 * anew, and it is given back. */
static kmb_status read_kept(bed *b, const kmb_bench_params *p) {
  static const char *const one[] = {"dram__bytes_read.sum"};
  kmb_counters_params params = kmb_counters_params_init();
  kmb_status status = KMB_OK;
  params.flags = KMB_COUNTERS_KEEP;
  for (int i = 0; !status && i < 3; i++) {
    kmb_counters *counters = NULL;
    params.metrics = i < 2 ? one : NULL;
    params.metric_count = i < 2;
    status = kmb_counters_read(b->device, p, &params, &counters);
    kmb_counters_destroy(counters);
  }
  return status ? status : kmb_counters_release(b->device);
}

static kmb_status measure(bed *b, kmbi_cu_function kernel, int which) {
  kmb_result *r = NULL;
  kmb_counters *counters = NULL;
  add a = {b, kernel, COUNT};
  kmb_status status = b->device ? KMB_OK : bed_open(b, "cuda:0:deadline=0.1");
  if (status) return status;
  if (which == CEILINGS) return measure_ceilings(b);
  kmb_buffers *buffers = bed_add_buffers(b, COUNT);
  if (!buffers) return KMB_ERR_INTERNAL;
  kmb_bench_params p = bed_params(scenarios[which].timer, scenarios[which].mode,
                                  scenarios[which].cache);
  p.launch = bed_launch_add;
  p.launch_user = &a;
  p.buffers = buffers;
  p.stream = scenarios[which].own_stream ? b->stream : NULL;
  p.batch = scenarios[which].batch;
  p.min_samples = 8;
  p.max_samples = 16;
  p.warmup_ns = 1;
  p.flags = p.batch ? KMB_BENCH_REQUIRE_TIMER : 0;
  if (which == KEPT)
    status = read_kept(b, &p);
  else if (which == COUNTERS)
    status = kmb_counters_read(b->device, &p, NULL, &counters);
  else
    status = kmb_bench(b->device, &p, &r);
  kmb_counters_destroy(counters);
  kmb_buffers_destroy(buffers);
  kmb_result_destroy(r);
  return status;
}

/* What the process remembers for good: whether a library is any use. */
static bool is_remembered(sim_function f) {
  return f == SIM_cuGetProcAddress || f == SIM_cuDriverGetVersion ||
         f == SIM_cuptiGetVersion || f == SIM_nvml_init;
}

/* Ends the process. */
static void one(int which, sim_function f, uint64_t k, unsigned code) {
  bed b;
  sim_reset();
  sim_set()->l2_bytes = 8 << 10;
  sim_set()->few_polls = true;
  /* Small products and copies: their contents are made here. */
  if (which == CEILINGS) sim_set()->memory_bytes = UINT64_C(100) << 20;
  sim_set()->empty_copies = which == CEILINGS; /* gigabytes, for its time */
  bed_set_up(&b);
  kmbi_cu_function kernel = bed_kernel(&b, "test_add");
  uint64_t before[SIM_FUNCTIONS];
  for (int i = 0; i < SIM_FUNCTIONS; i++)
    before[i] = sim_calls(i);
  if (k) sim_fail(f, k, code);
  kmb_status first = measure(&b, kernel, which);
  char why[256];
  snprintf(why, sizeof why, "%s", kmb_last_error(NULL, NULL));
  if (!k) bed_close(&b);
  for (int i = 0; !k && i < SIM_FUNCTIONS; i++)
    shared->calls[i] = sim_calls(i) - before[i];
  if (k && !sim_failed() && b.device) bed_close(&b); /* the call is there */
  sim_fail(f, 0, 0);
  if (first == KMB_ERR_INTERNAL || first == KMB_ERR_INVALID)
    fprintf(stderr, "%s\n", why);
  REQUIRE(first <= 0);
  REQUIRE(first != KMB_ERR_INTERNAL && first != KMB_ERR_INVALID);
  /* The callback that was refused a launch says nothing of its own. */
  if (first && f != SIM_cuLaunchKernel) REQUIRE(why[0]);
  if (!k) REQUIRE_OK(first);
  if (sim_is_nvml(f)) REQUIRE_OK(first);
  kmb_status second = measure(&b, kernel, which);
  if (first == KMB_ERR_LOST)
    REQUIRE_EQ(second, KMB_ERR_LOST);
  else if (second != KMB_OK && !(is_remembered(f) && second == first)) {
    fprintf(stderr, "first: %s\n", why);
    REQUIRE_OK(second);
  }
  if (b.device) bed_close(&b);
  if (first != KMB_ERR_LOST) bed_tear_down(&b);
  exit(0);
}

static bool passes(int which, sim_function f, uint64_t k, unsigned code) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) one(which, f, k, code);
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  fprintf(stderr, "%s: call %llu of %s answered %u\n", scenarios[which].name,
          (unsigned long long)k, sim_name(f), code);
  return false;
}

/* The quick set takes the first calls, then ever larger steps, and the last
 * one. */
static uint64_t next(int which, uint64_t k, uint64_t count, bool full) {
  uint64_t step = full || k < 2 ? 1 : 3 * k;
  if (which == CEILINGS && !full) step = count; /* a case takes 0.3 s */
  if (k < count && k + step > count) return count;
  return k + step;
}

int main(int argc, char **argv) {
  bool full = argc > 2 && strcmp(argv[2], "full") == 0;
  int s = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
  unsigned cases = 0, failures = 0;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  REQUIRE(s >= 0 && s < SCENARIOS && passes(s, 0, 0, 0));
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++) {
    uint64_t count = shared->calls[f];
    for (uint64_t k = 1; k <= count; k = next(s, k, count, full)) {
      failures += !passes(s, f, k, UNKNOWN);
      cases++;
    }
  }
  printf("%s: %u cases, %u failures\n", scenarios[s].name, cases, failures);
  return failures != 0;
}
