/* Rows of operations, streams that fork and join, graphs that the caller has
 * built, sessions that it drives: on a GPU. */
#include <dlfcn.h>

#include "../require.h"
#include "gpu.h"

static gpu g;
static kmbi_cu_result (*wait_event)(kmbi_cu_stream stream, kmbi_cu_event event,
                                    unsigned flags);

enum { BRANCHES = 3 };

typedef struct work {
  spin_work spin;
  kmbi_cu_pointer memory;
  kmbi_cu_stream streams[BRANCHES];
  kmbi_cu_event fork, joins[BRANCHES];
} work;
static work w;

static kmb_bench_params quick(kmb_launch_mode mode) {
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = KMB_TIMER_TRACE;
  p.launch_mode = mode;
  p.cache = KMB_CACHE_WARM;
  p.launch_user = &w;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_NO_CONFIRM;
  if (mode) p.flags |= KMB_BENCH_REQUIRE_LAUNCH;
  return p;
}

static void print_rows(const kmb_result *r) {
  printf("  span %.0f busy %.0f sum %.0f gaps %.0f ns, %llu samples, %llu "
         "others\n",
         result_f64(r, KMB_VALUE_RAW_MEDIAN, -1),
         result_f64(r, KMB_VALUE_BUSY, -1), result_f64(r, KMB_VALUE_SUM, -1),
         result_f64(r, KMB_VALUE_GAPS, -1),
         (unsigned long long)result_u64(r, KMB_VALUE_OP_SAMPLES),
         (unsigned long long)result_u64(r, KMB_VALUE_OP_SAMPLES_OTHER));
  for (uint64_t i = 0; i < kmb_result_op_count(r); i++) {
    kmb_op op = kmb_op_init();
    REQUIRE_OK(kmb_result_op(r, i, &op));
    printf("  from %.0f: %.0f [%.0f, %.0f] ns, %.1f%%, stream %u, %s %s, %llu "
           "bytes\n",
           op.start_ns, op.duration_ns, op.min_ns, op.max_ns, op.share_pct,
           op.stream, kmb_op_kind_name(op.kind), op.name,
           (unsigned long long)op.bytes);
  }
  print_findings(r);
}

static kmb_op row(const kmb_result *r, uint64_t index) {
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, index, &op));
  return op;
}

static kmb_status launch_three(void *user, const kmb_launch *l) {
  static char *host;
  work *at = user;
  if (!host) {
    void *memory = NULL;
    CU(&g, cuMemHostAlloc, &memory, 4096, KMBI_CU_HOST_PORTABLE);
    host = memory;
  }
  kmb_status status = spin_launch(&at->spin, l);
  if (!status && g.cu.cuMemcpyDtoHAsync(host, at->memory, 4096, l->stream))
    status = KMB_ERR_VENDOR;
  if (!status && g.cu.cuMemsetD32Async(at->memory, 0, 256, l->stream))
    status = KMB_ERR_VENDOR;
  return status;
}

static void check_three(const kmb_result *r) {
  print_rows(r);
  REQUIRE_EQ(kmb_result_op_count(r), 3);
  REQUIRE_STR(row(r, 0).name, "test_spin");
  REQUIRE_EQ(row(r, 0).kind, KMB_OP_KERNEL);
  REQUIRE_EQ(row(r, 1).kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(row(r, 1).bytes, 4096);
  REQUIRE_EQ(row(r, 2).kind, KMB_OP_MEMSET);
  REQUIRE_EQ(row(r, 2).bytes, 1024);
  REQUIRE_EQ(result_u64(r, KMB_VALUE_OP_SAMPLES_OTHER), 0);
}

static void each_operation_has_a_row(void) {
  for (kmb_launch_mode m = KMB_LAUNCH_PLAIN; m <= KMB_LAUNCH_GRAPH; m++) {
    kmb_result *r = NULL;
    kmb_bench_params p = quick(m);
    p.launch = launch_three;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    check_three(r);
    kmb_result_destroy(r);
  }
}

static kmb_status launch_fork(void *user, const kmb_launch *l) {
  work *at = user;
  kmb_status status = spin_launch(&at->spin, l);
  unsigned failed = g.cu.cuEventRecord(at->fork, l->stream);
  for (int i = 0; i < BRANCHES && !failed && !status; i++) {
    kmb_launch branch = *l;
    branch.stream = at->streams[i];
    failed = wait_event(at->streams[i], at->fork, 0);
    if (!failed) status = spin_launch(&at->spin, &branch);
    if (!failed) failed = g.cu.cuEventRecord(at->joins[i], at->streams[i]);
    if (!failed) failed = wait_event(l->stream, at->joins[i], 0);
  }
  if (!failed && !status) status = spin_launch(&at->spin, l);
  return failed ? KMB_ERR_VENDOR : status;
}

static void streams_that_fork_and_join_overlap(void) {
  for (kmb_launch_mode m = KMB_LAUNCH_PLAIN; m <= KMB_LAUNCH_GRAPH; m++) {
    kmb_result *r = NULL;
    kmb_bench_params p = quick(m);
    p.launch = launch_fork;
    p.stream = g.stream;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    print_rows(r);
    REQUIRE_EQ(kmb_result_op_count(r), BRANCHES + 2);
    REQUIRE(result_f64(r, KMB_VALUE_BUSY, 0) <
            0.8 * result_f64(r, KMB_VALUE_SUM, 0));
    REQUIRE(row(r, 1).stream != row(r, 0).stream || m == KMB_LAUNCH_GRAPH);
    kmb_result_destroy(r);
  }
}

static kmbi_cu_exec capture(kmb_launch_fn launch) {
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  kmb_launch l = {.struct_size = sizeof l, .stream = g.stream};
  CU(&g, cuStreamBeginCapture, g.stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  REQUIRE_OK(launch(&w, &l));
  CU(&g, cuStreamEndCapture, g.stream, &graph);
  CU(&g, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(&g, cuGraphDestroy, graph);
  return exec;
}

static void a_prebuilt_graph_is_timed(void *graph) {
  for (kmb_timer timer = KMB_TIMER_TRACE; timer <= KMB_TIMER_HOST; timer++) {
    kmb_result *r = NULL;
    kmb_bench_params p = quick(0);
    p.timer = timer;
    if (timer == KMB_TIMER_GRAPH) continue;
    p.graphs = &graph;
    p.graph_count = 1;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    printf("  %s: %.0f ns\n", result_text(r, KMB_VALUE_TIMER),
           result_f64(r, KMB_VALUE_TIME, -1));
    if (timer == KMB_TIMER_TRACE) print_rows(r);
    kmb_result_destroy(r);
  }
}

static void a_session_reads_the_devices_clock(void) {
  kmb_session *session = NULL;
  kmb_result *r = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  kmb_launch l = {.struct_size = sizeof l, .stream = g.stream};
  p.stream = g.stream;
  REQUIRE_OK(kmb_session_begin(g.device, &p, &session));
  double before = gpu_now();
  for (int i = 0; i < 1000; i++) {
    REQUIRE_OK(kmb_session_sample_begin(session));
    REQUIRE_OK(spin_launch(&w.spin, &l));
    REQUIRE_OK(kmb_session_sample_end(session, 1));
  }
  double each = (gpu_now() - before) / 1000;
  REQUIRE_OK(kmb_session_end(session, &r));
  double time = result_f64(r, KMB_VALUE_TIME, -1);
  printf("  %s: %.0f ns, the host took %.0f ns a sample\n",
         result_text(r, KMB_VALUE_TIMER), time, each);
  print_findings(r);
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "EVENT");
  REQUIRE(time > 20e3 && time < 40e3);
  kmb_result_destroy(r);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  gpu_open(&g, "cuda:0", NULL);
  *(void **)(&wait_event) =
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamWaitEvent");
  REQUIRE(wait_event);
  w.spin = (spin_work){&g, gpu_kernel(&g, "test_spin"),
                       (uint64_t)(20e3 * g.ghz), 0, 0};
  CU(&g, cuMemAlloc, &w.memory, 4096);
  CU(&g, cuEventCreate, &w.fork, KMBI_CU_EVENT_DEFAULT);
  for (int i = 0; i < BRANCHES; i++) {
    CU(&g, cuStreamCreate, &w.streams[i], KMBI_CU_STREAM_NON_BLOCKING);
    CU(&g, cuEventCreate, &w.joins[i], KMBI_CU_EVENT_DEFAULT);
  }
  kmb_launch l = {.struct_size = sizeof l, .stream = g.stream};
  REQUIRE_OK(launch_three(&w, &l)); /* nothing is allocated while capturing */
  void *graph = capture(launch_three);
  puts("a graph that was made before any tracer");
  a_prebuilt_graph_is_timed(graph);
  CU(&g, cuGraphExecDestroy, graph);
  each_operation_has_a_row();
  puts("ok each_operation_has_a_row");
  streams_that_fork_and_join_overlap();
  puts("ok streams_that_fork_and_join_overlap");
  a_session_reads_the_devices_clock();
  puts("ok a_session_reads_the_devices_clock");
  gpu_close(&g);
  return 0;
}
