/* The HIP backend on an NVIDIA GPU, through HIP that is forwarded to CUDA: what
 * it captures, replays, rotates and fills is real. Nothing here says anything
 * of an AMD GPU. usage: gpu_hip_functional [--list | TEST] */
#include <math.h>
#include <stdio.h>

#include "../gpu/gpu.h"
#include "../require.h"

enum { COUNT = 1 << 20 };

static gpu g;
static kmb_device *hip;

static const struct {
  kmb_timer timer;
  kmb_launch_mode mode;
} ways[] = {{KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN},
            {KMB_TIMER_EVENT, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
            {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static kmb_bench_params quick(int way, kmb_cache_state cache) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = ways[way].timer;
  p.launch_mode = ways[way].mode;
  p.cache = cache;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  return p;
}

static void the_device_is_described(void) {
  const char *text = NULL;
  uint64_t number = 0;
  double tick = 0;
  REQUIRE_OK(kmb_device_attr_text(hip, KMB_DEVICE_BACKEND, &text));
  REQUIRE_STR(text, "hip");
  REQUIRE_OK(kmb_device_attr_text(hip, KMB_DEVICE_ARCH, &text));
  REQUIRE(strncmp(text, "sm_", 3) == 0);
  REQUIRE_OK(kmb_device_attr_u64(hip, KMB_DEVICE_UNITS, &number));
  REQUIRE(number > 0);
  REQUIRE_OK(kmb_device_attr_text(hip, KMB_DEVICE_LLC_SOURCE, &text));
  REQUIRE_STR(text, "caller");
  REQUIRE_OK(kmb_device_attr_f64(hip, KMB_DEVICE_CLOCK_TICK_NS, &tick));
  REQUIRE_NEAR(tick, 32, 0);
}

static kmb_buffers *one_buffer(kmb_device *device, kmb_dtype dtype, double low,
                               double high) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  kmb_buffers *set = NULL;
  d.name = "x";
  d.bytes = 4096;
  d.role = KMB_INPUT;
  d.dtype = dtype;
  d.low = low;
  d.high = high;
  d.seed = 7;
  d.flags = KMB_BUFFER_RANGE | KMB_BUFFER_SEED;
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 1));
  return set;
}

static void compare_fill(kmb_device *host, kmb_dtype dtype, double low,
                         double high) {
  unsigned char there[4096];
  void *a = NULL, *b = NULL;
  kmb_buffers *ours = one_buffer(hip, dtype, low, high);
  kmb_buffers *hosts = one_buffer(host, dtype, low, high);
  REQUIRE_OK(kmb_buffers_pointer(ours, 0, 0, &a));
  REQUIRE_OK(kmb_buffers_pointer(hosts, 0, 0, &b));
  CU(&g, cuMemcpyDtoHAsync, there, (kmbi_cu_pointer)(uintptr_t)a, sizeof there,
     g.stream);
  while (g.cu.cuStreamQuery(g.stream) == KMBI_CU_NOT_READY) {
  }
  if (memcmp(there, b, sizeof there) != 0)
    fprintf(stderr, "%s in [%g, %g]\n", kmb_dtype_name(dtype), low, high);
  REQUIRE(memcmp(there, b, sizeof there) == 0);
  kmb_buffers_destroy(ours);
  kmb_buffers_destroy(hosts);
}

static void random_values_are_the_hosts(void) {
  static const kmb_dtype floats[] = {KMB_F16,     KMB_BF16,   KMB_F32,
                                     KMB_F64,     KMB_TF32,   KMB_F8_E4M3,
                                     KMB_F8_E5M2, KMB_F4_E2M1};
  kmb_device *host = NULL;
  REQUIRE_OK(kmb_device_open("host", NULL, &host));
  for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
    compare_fill(host, floats[i], -1, 1);
    compare_fill(host, floats[i], -0.3, 5.9);
    compare_fill(host, floats[i], 0.001, 0.7);
  }
  compare_fill(host, KMB_U8, 0, 255);
  compare_fill(host, KMB_I8, -128, 127);
  compare_fill(host, KMB_I32, -5, 1000);
  compare_fill(host, KMB_I64, -9e15, 9e15);
  compare_fill(host, KMB_I4, -8, 7);
  kmb_device_close(host);
}

/* Outputs are the same by graph and by plain launch. */

static kmbi_cu_function add_kernel;

static kmb_status add_launch(void *user, const kmb_launch *l) {
  uint32_t count = COUNT;
  void *a = l->args[0], *b = l->args[1];
  void *arguments[] = {&a, &b, &count};
  (void)user;
  return g.cu.cuLaunchKernel(add_kernel, COUNT / 256, 1, 1, 256, 1, 1, 0,
                             l->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status add_check(void *user, kmb_check *c) {
  const float *a = c->after[0], *b = c->after[1];
  (void)user;
  c->error = 0;
  for (size_t i = 0; i < COUNT; i++)
    c->error = fmax(c->error, fabs((double)b[i] - a[i] - 1));
  return c->error > 1e-6 ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_buffers *add_buffers(void) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers *buffers = NULL;
  for (int i = 0; i < 2; i++) {
    d[i].name = i ? "to" : "from";
    d[i].bytes = (uint64_t)COUNT * 4;
    d[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
  }
  REQUIRE_OK(kmb_buffers_create(hip, d, sizeof d[0], 2, NULL, &buffers));
  return buffers;
}

static double run_add(int way, kmb_cache_state cache) {
  kmb_result *r = NULL;
  kmb_buffers *buffers = add_buffers();
  kmb_bench_params p = quick(way, cache);
  p.launch = add_launch;
  p.buffers = buffers;
  p.check = add_check;
  REQUIRE_OK(kmb_bench(hip, &p, &r));
  REQUIRE_STR(result_text(r, KMB_VALUE_CHECK),
              "passed before and after timing");
  double ns = result_f64(r, KMB_VALUE_TIME, -1);
  kmb_result_destroy(r);
  kmb_buffers_destroy(buffers);
  return ns;
}

static void graph_and_plain_launches_give_the_same_outputs(void) {
  add_kernel = gpu_kernel(&g, "test_add");
  for (int w = 0; w < WAYS; w++)
    for (kmb_cache_state c = KMB_CACHE_COLD; c <= KMB_CACHE_WARM; c++) {
      if (ways[w].timer == KMB_TIMER_GRAPH && c == KMB_CACHE_COLD) continue;
      printf("  timer %d, mode %d, cache %d: %.3f us\n", (int)ways[w].timer,
             (int)ways[w].mode, (int)c, run_add(w, c) / 1e3);
    }
}

/* How much longer a read takes from memory than from the cache, by the CUDA
 * backend's tracer and by the HIP backend's timers. */

typedef struct apart {
  double cold, rotated, warm;
} apart;

static double run_read(kmb_device *device, kmb_bench_params p, uint64_t bytes) {
  kmb_result *r = NULL;
  gpu on = g;
  on.device = device;
  kmb_buffers *buffers = move_buffers(&on, bytes, false, 0);
  move_work w = {
      .g = &g, .kernel = gpu_kernel(&g, "test_read"), .bytes = bytes};
  CU(&g, cuMemAlloc, &w.sink, 256);
  p.launch = move_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  REQUIRE_OK(kmb_bench(device, &p, &r));
  double ns = result_f64(r, KMB_VALUE_TIME, -1);
  kmb_result_destroy(r);
  kmb_buffers_destroy(buffers);
  CU(&g, cuMemFree, w.sink);
  return ns;
}

static apart read_by(kmb_device *device, kmb_timer timer, kmb_launch_mode mode,
                     uint64_t bytes) {
  kmb_bench_params p = quick(0, KMB_CACHE_WARM);
  apart a = {0, 0, 0};
  p.timer = timer;
  p.launch_mode = mode;
  a.warm = run_read(device, p, bytes);
  p.cache = KMB_CACHE_ROTATED;
  a.rotated = run_read(device, p, bytes);
  p.cache = KMB_CACHE_COLD;
  if (timer != KMB_TIMER_GRAPH) a.cold = run_read(device, p, bytes);
  printf("  %2llu MiB, timer %d: %.3f cold, %.3f rotated, %.3f warm\n",
         (unsigned long long)(bytes >> 20), (int)timer, a.cold / 1e3,
         a.rotated / 1e3, a.warm / 1e3);
  return a;
}

static void cold_and_rotated_are_as_far_from_warm_as_by_tracing(void) {
  for (uint64_t mib = 4; mib <= 16; mib *= 2) {
    apart traced =
        read_by(g.device, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, mib << 20);
    apart replayed = read_by(hip, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, mib << 20);
    apart event = read_by(hip, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, mib << 20);
    if (mib < 16) continue;
    REQUIRE(replayed.rotated - replayed.warm >
            0.7 * (traced.rotated - traced.warm));
    REQUIRE(event.cold - event.warm > 0.7 * (traced.cold - traced.warm));
  }
}

/* Captures. */

static kmb_status allocating_launch(void *user, const kmb_launch *l) {
  kmbi_cu_pointer memory = 0;
  kmb_status status = spin_launch(user, l);
  if (g.cu.cuMemAlloc(&memory, 4096)) return KMB_ERR_VENDOR;
  (void)g.cu.cuMemFree(memory);
  return status;
}

static void f41_a_failed_capture_leaves_the_next_clean(void) {
  spin_work w = {&g, gpu_kernel(&g, "test_spin"), (uint64_t)(5e3 * g.ghz), 0,
                 0};
  for (int way = 0; way < WAYS; way++) {
    kmb_result *r = NULL;
    kmbi_cu_enum state = 9;
    if (ways[way].mode != KMB_LAUNCH_GRAPH) continue;
    kmb_bench_params p = quick(way, KMB_CACHE_WARM);
    p.stream = g.stream;
    p.launch = allocating_launch;
    p.launch_user = &w;
    REQUIRE_STATUS(kmb_bench(hip, &p, &r), KMB_ERR_CAPTURE);
    CU(&g, cuStreamIsCapturing, g.stream, &state);
    REQUIRE_EQ(state, 0);
    p.launch = spin_launch;
    REQUIRE_OK(kmb_bench(hip, &p, &r));
    kmb_result_destroy(r);
  }
}

static void auto_is_graph_over_rotating_buffers(void) {
  kmb_result *r = NULL;
  kmb_buffers *buffers = add_buffers();
  add_kernel = gpu_kernel(&g, "test_add");
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = add_launch;
  p.buffers = buffers;
  p.check = add_check;
  REQUIRE_OK(kmb_bench(hip, &p, &r));
  print_findings(r);
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "GRAPH");
  REQUIRE_STR(result_text(r, KMB_VALUE_CACHE_STATE), "ROTATED");
  kmb_result_destroy(r);
  kmb_buffers_destroy(buffers);
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
#define TEST(name) \
  { #name, name }
    TEST(the_device_is_described),
    TEST(random_values_are_the_hosts),
    TEST(graph_and_plain_launches_give_the_same_outputs),
    TEST(cold_and_rotated_are_as_far_from_warm_as_by_tracing),
    TEST(f41_a_failed_capture_leaves_the_next_clean),
    TEST(auto_is_graph_over_rotating_buffers),
#undef TEST
};

static void open_hip(void) {
  kmb_device_params params = kmb_device_params_init();
  params.llc_bytes = g.llc;
  kmb_status status = kmb_device_open("hip:0", &params, &hip);
  if (status) fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  REQUIRE_OK(status);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : NULL;
  bool list = only && strcmp(only, "--list") == 0;
  size_t count = sizeof tests / sizeof tests[0];
  if (list) {
    for (size_t i = 0; i < count; i++)
      puts(tests[i].name);
    return 0;
  }
  gpu_open(&g, "cuda:0", NULL);
  open_hip();
  for (size_t i = 0; i < count; i++) {
    if (only && strcmp(tests[i].name, only) != 0) continue;
    tests[i].run();
    printf("ok %s\n", tests[i].name);
  }
  kmb_device_close(hip);
  gpu_close(&g);
  return 0;
}
