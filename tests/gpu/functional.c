/* What the CUDA backend must do, on a GPU. */
#include <math.h>

#include "../require.h"
#include "functional.h"

gpu g;

kmb_bench_params quick(kmb_timer timer, kmb_launch_mode mode,
                       kmb_cache_state cache) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = timer;
  p.launch_mode = mode;
  p.cache = cache;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH |
            KMB_BENCH_REQUIRE_CACHE | KMB_BENCH_NO_CONFIRM;
  return p;
}

void expect_busy(kmb_bench_params *p) {
  kmb_result *r = NULL;
  int64_t vendor = 0;
  if (!gpu_cupti_is_busy() || p->timer != KMB_TIMER_TRACE) return;
  REQUIRE_STATUS(kmb_bench(g.device, p, &r), KMB_ERR_BUSY);
  (void)kmb_last_error(NULL, &vendor);
  REQUIRE_EQ(vendor, 39); /* several subscribers */
  p->timer = KMB_TIMER_EVENT;
}

spin_work spin_of(double us) {
  return (spin_work){&g, gpu_kernel(&g, "test_spin"),
                     (uint64_t)(us * 1e3 * g.ghz), 0, 0};
}

/* The device and its memory. */

static void the_device_says_who_it_is(void) {
  const char *text = NULL;
  uint64_t number = 0;
  double tick = 0;
  REQUIRE_OK(kmb_device_attr_text(g.device, KMB_DEVICE_NAME, &text));
  printf("  %s", text);
  REQUIRE_OK(kmb_device_attr_text(g.device, KMB_DEVICE_ARCH, &text));
  REQUIRE(strncmp(text, "sm_", 3) == 0);
  REQUIRE_OK(kmb_device_attr_text(g.device, KMB_DEVICE_UUID, &text));
  REQUIRE(strlen(text) == 40);
  printf(" %s", text);
  REQUIRE_OK(kmb_device_attr_text(g.device, KMB_DEVICE_PCI_ID, &text));
  REQUIRE(strncmp(text, "10de:", 5) == 0);
  REQUIRE_OK(kmb_device_attr_u64(g.device, KMB_DEVICE_UNITS, &number));
  REQUIRE(number > 0);
  REQUIRE_OK(kmb_device_attr_u64(g.device, KMB_DEVICE_LLC_BYTES, &number));
  REQUIRE(number >= 1 << 20);
  REQUIRE_OK(kmb_device_attr_f64(g.device, KMB_DEVICE_CLOCK_TICK_NS, &tick));
  REQUIRE(tick >= 1 && tick <= 2000);
  printf(" %s tick %g ns\n", text, tick);
  REQUIRE_STATUS(kmb_device_attr_text(g.device, KMB_DEVICE_BINDING, &text),
                 KMB_ERR_UNAVAILABLE);
}

static void an_absent_device_is_unavailable(void) {
  kmb_device *none = NULL;
  REQUIRE_STATUS(kmb_device_open("cuda:999", NULL, &none), KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_device_open("cuda:-1", NULL, &none), KMB_ERR_INVALID);
}

static void auto_takes_the_gpu(void) {
  kmb_device *device = NULL;
  const char *spec = NULL;
  REQUIRE_OK(kmb_device_open("auto", NULL, &device));
  REQUIRE_OK(kmb_device_attr_text(device, KMB_DEVICE_SPEC, &spec));
  REQUIRE_STR(spec, "cuda");
  kmb_device_close(device);
}

static kmb_buffers *one_buffer(kmb_device *device, kmb_dtype dtype,
                               uint64_t bytes, double low, double high) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  kmb_buffers *set = NULL;
  d.name = "x";
  d.bytes = bytes;
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
  enum { BYTES = 4096 };
  unsigned char there[BYTES];
  void *a = NULL, *b = NULL;
  kmb_buffers *ours = one_buffer(g.device, dtype, BYTES, low, high);
  kmb_buffers *hosts = one_buffer(host, dtype, BYTES, low, high);
  REQUIRE_OK(kmb_buffers_pointer(ours, 0, 0, &a));
  REQUIRE_OK(kmb_buffers_pointer(hosts, 0, 0, &b));
  CU(&g, cuMemcpyDtoHAsync, there, (kmbi_cu_pointer)(uintptr_t)a, BYTES,
     g.stream);
  while (g.cu.cuStreamQuery(g.stream) == KMBI_CU_NOT_READY) {
  }
  for (int i = 0; i < BYTES; i++)
    if (there[i] != ((unsigned char *)b)[i]) {
      fprintf(stderr, "%s in [%g, %g]: byte %d is %02x, on the host %02x\n",
              kmb_dtype_name(dtype), low, high, i, there[i],
              ((unsigned char *)b)[i]);
      exit(1);
    }
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

/* Checks. */

typedef struct add_work {
  kmbi_cu_function kernel;
  uint32_t count;
  bool nothing; /* enqueue none */
} add_work;

static kmb_status add_launch(void *user, const kmb_launch *l) {
  add_work *w = user;
  void *a = l->args[0], *b = l->args[1];
  void *arguments[] = {&a, &b, &w->count};
  if (w->nothing) return KMB_OK;
  return g.cu.cuLaunchKernel(w->kernel, (w->count + 255) / 256, 1, 1, 256, 1, 1,
                             0, l->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status add_check(void *user, kmb_check *check) {
  const add_work *w = user;
  const float *a = check->after[0], *b = check->after[1];
  check->error = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    double wrong = fabs((double)b[i] - (double)(a[i] + 1.0f));
    if (wrong > check->error) check->error = wrong;
  }
  return check->error > check->tolerance ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status run_add(kmb_bench_params p, uint32_t count, uint32_t does,
                          bool nothing, kmb_result **r) {
  kmb_buffers *buffers = move_buffers(&g, (uint64_t)count * 4, true, 0);
  add_work w = {gpu_kernel(&g, "test_add"), does, nothing};
  p.launch = add_launch;
  p.launch_user = &w;
  p.buffers = buffers;
  p.check = add_check;
  p.check_user = &w;
  p.max_wall_ns = 2e8;
  if (!nothing) expect_busy(&p);
  kmb_status status = kmb_bench(g.device, &p, r);
  kmb_buffers_destroy(buffers);
  return status;
}

static void each_timer_checks_and_times(void) {
  static const kmb_timer timers[] = {
      KMB_TIMER_TRACE, KMB_TIMER_TRACE, KMB_TIMER_EVENT, KMB_TIMER_EVENT,
      KMB_TIMER_GRAPH, KMB_TIMER_HOST,  KMB_TIMER_HOST};
  static const kmb_launch_mode launches[] = {
      KMB_LAUNCH_PLAIN, KMB_LAUNCH_GRAPH, KMB_LAUNCH_PLAIN, KMB_LAUNCH_GRAPH,
      KMB_LAUNCH_GRAPH, KMB_LAUNCH_PLAIN, KMB_LAUNCH_GRAPH};
  for (int t = 0; t < 7; t++)
    for (kmb_cache_state c = KMB_CACHE_COLD; c <= KMB_CACHE_WARM; c++) {
      if (timers[t] == KMB_TIMER_GRAPH && c == KMB_CACHE_COLD) continue;
      kmb_result *r = NULL;
      REQUIRE_OK(run_add(quick(timers[t], launches[t], c), 1 << 20, 1 << 20,
                         false, &r));
      printf("  %s %s %s: %.3f us, raw %.3f, %llu samples, %s\n",
             result_text(r, KMB_VALUE_TIMER),
             result_text(r, KMB_VALUE_LAUNCH_MODE),
             result_text(r, KMB_VALUE_CACHE_STATE),
             result_f64(r, KMB_VALUE_TIME, 0) / 1e3,
             result_f64(r, KMB_VALUE_RAW_MEDIAN, 0) / 1e3,
             (unsigned long long)result_u64(r, KMB_VALUE_SAMPLES),
             result_text(r, KMB_VALUE_CHECK));
      REQUIRE_STR(result_text(r, KMB_VALUE_CHECK),
                  "passed before and after timing");
      kmb_result_destroy(r);
    }
}

static void an_untouched_output_is_incorrect(void) {
  kmb_result *r = NULL;
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  if (gpu_cupti_is_busy()) p.timer = KMB_TIMER_EVENT;
  REQUIRE_STATUS(run_add(p, 4096, 4096, true, &r), KMB_ERR_INCORRECT);
  REQUIRE(!r);
  REQUIRE_OK(run_add(p, 4096, 4096, false, &r));
  kmb_result_destroy(r);
}

/* A launch that enqueues nothing and has no outputs. */
static kmb_status launch_nothing(void *user, const kmb_launch *l) {
  (void)user;
  (void)l;
  return KMB_OK;
}

static void a_launch_of_nothing_is_incorrect(void) {
  kmb_result *r = NULL;
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_nothing;
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r),
                 gpu_cupti_is_busy() ? KMB_ERR_BUSY : KMB_ERR_INCORRECT);
  p.timer = KMB_TIMER_GRAPH;
  p.launch_mode = KMB_LAUNCH_GRAPH;
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_CAPTURE);
}

/* Capture. */

static int sync_calls;

static kmb_status launch_and_alloc(void *user, const kmb_launch *l) {
  spin_work *w = user;
  kmb_status status = spin_launch(w, l);
  kmbi_cu_result result = g.cu.cuStreamQuery(l->stream); /* not in captures */
  sync_calls++;
  if (result && result != KMBI_CU_NOT_READY) return KMB_ERR_VENDOR;
  return status;
}

static void a_launch_that_synchronises_falls_back(void) {
  kmb_result *r = NULL;
  spin_work w = spin_of(5);
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = launch_and_alloc;
  p.launch_user = &w;
  p.timer = KMB_TIMER_GRAPH;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_CAPTURE);
  printf("  %s\n", kmb_last_error(NULL, NULL));
  p.flags = 0;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE(strcmp(result_text(r, KMB_VALUE_TIMER), "GRAPH") != 0);
  print_findings(r);
  kmb_result_destroy(r);
  /* The same stream can be captured again. */
  p.launch = spin_launch;
  p.flags = KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  kmb_result_destroy(r);
  p.launch = launch_and_alloc;
  p.timer = KMB_TIMER_EVENT;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  print_findings(r);
  kmb_result_destroy(r);
}

static void the_callers_status_passes_through(void) {
  kmb_result *r = NULL;
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  add_work w = {NULL, 0, false};
  (void)w;
  if (gpu_cupti_is_busy()) p.timer = KMB_TIMER_EVENT;
  p.launch = launch_nothing;
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_CAPTURE);
}

/* Streams and contexts. */

static void the_callers_stream_serves(void) {
  kmb_result *r = NULL;
  spin_work w = spin_of(5);
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  p.launch = spin_launch;
  p.launch_user = &w;
  p.stream = g.stream;
  expect_busy(&p);
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  if (!gpu_cupti_is_busy())
    REQUIRE_NEAR(result_f64(r, KMB_VALUE_TIME, 0), 5600, 600);
  kmb_result_destroy(r);
}

static void the_callers_context_is_put_back(void) {
  kmb_result *r = NULL;
  kmbi_cu_context now = NULL;
  spin_work w = spin_of(1);
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = &w;
  expect_busy(&p);
  CU(&g, cuCtxSetCurrent, NULL);
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  kmb_result_destroy(r);
  CU(&g, cuCtxGetCurrent, &now);
  REQUIRE(now == NULL);
  CU(&g, cuCtxSetCurrent, g.context);
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  kmb_result_destroy(r);
  CU(&g, cuCtxGetCurrent, &now);
  REQUIRE(now == g.context);
}

/* Defaults. */

static void one_kernel_is_traced_cold(void) {
  kmb_result *r = NULL;
  spin_work w = spin_of(20);
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = spin_launch;
  p.launch_user = &w;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER),
              gpu_cupti_is_busy() ? "EVENT" : "TRACE");
  REQUIRE_STR(result_text(r, KMB_VALUE_CACHE_STATE), "COLD");
  if (!gpu_cupti_is_busy()) REQUIRE_EQ(result_u64(r, KMB_VALUE_DEVICE_OPS), 1);
  printf("  %.3f us, confirmed %.3f by %s\n",
         result_f64(r, KMB_VALUE_TIME, 0) / 1e3,
         result_f64(r, KMB_VALUE_CONFIRM_TIME, 0) / 1e3,
         result_text(r, KMB_VALUE_CONFIRM_METHOD));
  print_findings(r);
  kmb_result_destroy(r);
}

static kmb_status launch_three(void *user, const kmb_launch *l) {
  kmb_status status = KMB_OK;
  for (int i = 0; i < 3 && !status; i++)
    status = spin_launch(user, l);
  return status;
}

static void several_kernels_have_span_busy_and_sum(void) {
  kmb_result *r = NULL;
  spin_work w = spin_of(5);
  kmb_bench_params p = quick(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = launch_three;
  p.launch_user = &w;
  expect_busy(&p);
  if (p.timer != KMB_TIMER_TRACE) return; /* these are the tracer's */
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE_EQ(result_u64(r, KMB_VALUE_DEVICE_OPS), 3);
  double raw = result_f64(r, KMB_VALUE_RAW_MEDIAN, 0);
  double busy = result_f64(r, KMB_VALUE_BUSY, 0);
  double sum = result_f64(r, KMB_VALUE_SUM, 0);
  printf("  span %.3f busy %.3f sum %.3f us\n", raw / 1e3, busy / 1e3,
         sum / 1e3);
  REQUIRE(busy <= raw && busy <= sum + 1 && sum > 15000);
  kmb_result_destroy(r);
}

/* A memset, a kernel and a copy to the host. */
enum { SET_BYTES = 16384, COPIED = 8192 };
typedef struct mixed {
  spin_work w;
  void *host;
} mixed;

static kmb_status launch_mixed(void *user, const kmb_launch *l) {
  mixed *m = user;
  if (g.cu.cuMemsetD32Async(m->w.out, 7, SET_BYTES / 4, l->stream))
    return KMB_ERR_VENDOR;
  kmb_status status = spin_launch(&m->w, l);
  if (status) return status;
  return g.cu.cuMemcpyDtoHAsync(m->host, m->w.out, COPIED, l->stream)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static void each_operation_has_a_row(void) {
  static const struct {
    kmb_op_kind kind;
    const char *name;
    uint64_t bytes;
  } want[] = {{KMB_OP_MEMSET, "", SET_BYTES},
              {KMB_OP_KERNEL, "test_spin", 0},
              {KMB_OP_MEMCPY, "", COPIED}};
  if (gpu_cupti_is_busy()) return; /* rows are the tracer's */
  mixed m = {.w = spin_of(5)};
  CU(&g, cuMemAlloc, &m.w.out, SET_BYTES);
  CU(&g, cuMemHostAlloc, &m.host, COPIED, 0);
  for (kmb_launch_mode mode = KMB_LAUNCH_PLAIN; mode <= KMB_LAUNCH_GRAPH;
       mode++) {
    kmb_result *r = NULL;
    kmb_bench_params p = quick(KMB_TIMER_TRACE, mode, KMB_CACHE_COLD);
    double end = 0;
    p.launch = launch_mixed;
    p.launch_user = &m;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    REQUIRE_EQ(kmb_result_op_count(r), 3);
    for (uint64_t i = 0; i < 3; i++) {
      kmb_op op = kmb_op_init();
      REQUIRE_OK(kmb_result_op(r, i, &op));
      printf("  %s %s: %.3f us from %.3f, %llu bytes\n",
             kmb_op_kind_name(op.kind), op.name, op.duration_ns / 1e3,
             op.start_ns / 1e3, (unsigned long long)op.bytes);
      REQUIRE_EQ(op.kind, want[i].kind);
      REQUIRE_STR(op.name, want[i].name);
      REQUIRE_EQ(op.bytes, want[i].bytes);
      REQUIRE(op.start_ns >= end && op.duration_ns > 0);
      end = op.start_ns + 0.9 * op.duration_ns;
    }
    REQUIRE_EQ(result_u64(r, KMB_VALUE_OP_SAMPLES_OTHER), 0);
    kmb_result_destroy(r);
  }
  CU(&g, cuMemFreeHost, m.host);
  CU(&g, cuMemFree, m.w.out);
}

static void memory_returns_after_a_set_is_destroyed(void) {
  size_t before = 0, after = 0, total = 0;
  kmb_result *r = NULL;
  REQUIRE_OK(run_add(quick(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD),
                     1 << 16, 1 << 16, false, &r));
  kmb_result_destroy(r);
  CU(&g, cuMemGetInfo, &before, &total);
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(
        run_add(quick(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_ROTATED),
                1 << 20, 1 << 20, false, &r));
    kmb_result_destroy(r);
  }
  CU(&g, cuMemGetInfo, &after, &total);
  REQUIRE(after + (32u << 20) >= before);
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
#define TEST(name) \
  { #name, name }
    TEST(the_device_says_who_it_is),
    TEST(an_absent_device_is_unavailable),
    TEST(auto_takes_the_gpu),
    TEST(random_values_are_the_hosts),
    TEST(each_timer_checks_and_times),
    TEST(an_untouched_output_is_incorrect),
    TEST(a_launch_of_nothing_is_incorrect),
    TEST(a_launch_that_synchronises_falls_back),
    TEST(the_callers_status_passes_through),
    TEST(the_callers_stream_serves),
    TEST(the_callers_context_is_put_back),
    TEST(one_kernel_is_traced_cold),
    TEST(several_kernels_have_span_busy_and_sum),
    TEST(each_operation_has_a_row),
    TEST(memory_returns_after_a_set_is_destroyed),
    TEST(telemetry_is_read_while_measuring),
    TEST(each_slot_has_its_prebuilt_graph),
    TEST(a_stream_of_another_context_serves),
    TEST(a_launch_that_waits_behind_the_gate_is_let_go)
#undef TEST
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* All, those that are named, or with --list their names. */
int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int t = 0; t < TESTS; t++)
      puts(tests[t].name);
    return 0;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  gpu_open(&g, "cuda:0", NULL);
  for (int t = 0; t < TESTS; t++) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++)
      wanted = wanted || strcmp(argv[i], tests[t].name) == 0;
    if (!wanted) continue;
    tests[t].run();
    printf("ok %s\n", tests[t].name);
  }
  gpu_close(&g);
  return 0;
}
