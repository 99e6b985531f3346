/* Recordings on one GPU: what is in them, whether they agree with kernels that
 * time themselves, and what they cost. JSON to the file that is named, a table
 * to stdout. */
#include <stdlib.h>

#include "../require.h"
#include "report.h"

enum {
  SELF_TIMED = 1000,
  NODES = 24,
  PART = 500, /* launches between two waits: fewer than a queue holds */
  PARTS = 100,
  ROUNDS = 7,
  MILLION = 1000000
};

static gpu g;

static void wait(void) {
  while (g.cu.cuStreamQuery(g.stream) == KMBI_CU_NOT_READY) {
  }
}

static void launch(spin_work *w, uint64_t iteration) {
  const kmb_launch l = {
      .struct_size = sizeof l, .stream = g.stream, .iteration = iteration};
  REQUIRE_OK(spin_launch(w, &l));
}

static kmb_trace *end(kmb_recording *recording, kmb_trace_info *info) {
  kmb_trace *trace = NULL;
  wait();
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  *info = kmb_trace_info_init();
  REQUIRE_OK(kmb_trace_get_info(trace, info));
  return trace;
}

static kmbi_cu_exec capture(spin_work *w) {
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  CU(&g, cuStreamBeginCapture, g.stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  for (int i = 0; i < NODES; i++)
    launch(w, 0);
  CU(&g, cuStreamEndCapture, g.stream, &graph);
  CU(&g, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(&g, cuGraphDestroy, graph);
  return exec;
}

static uint64_t count_kind(const kmb_trace *trace, uint64_t ops,
                           kmb_op_kind kind) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < ops; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    REQUIRE_OK(kmb_trace_get_op(trace, i, &op));
    count += op.kind == kind;
  }
  return count;
}

/* Each operation is tied to a call of this thread, which is that of the
 * range. */
static void check_ties(const kmb_trace *trace, const kmb_trace_info *info) {
  kmb_trace_range range = kmb_trace_range_init();
  REQUIRE_EQ(info->ranges, 1);
  REQUIRE_OK(kmb_trace_get_range(trace, 0, &range));
  for (uint64_t i = 0; i < info->ops; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    kmb_trace_call call = kmb_trace_call_init();
    REQUIRE_OK(kmb_trace_get_op(trace, i, &op));
    REQUIRE(op.flags & KMB_OP_HAS_CALL);
    REQUIRE_OK(kmb_trace_get_call(trace, op.call, &call));
    REQUIRE(call.start_ns <= op.start_ns);
    REQUIRE_EQ(call.thread, range.thread);
    REQUIRE(range.start_ns <= call.start_ns && call.end_ns <= range.end_ns);
    if (i % 20) continue;
    printf("  %s %s, stream %llu, %llu ns, %s took %llu ns\n",
           kmb_op_kind_name(op.kind), op.name, (unsigned long long)op.stream,
           (unsigned long long)(op.end_ns - op.start_ns), call.name,
           (unsigned long long)(call.end_ns - call.start_ns));
  }
}

static kmb_status print(void *user, const void *data, size_t size) {
  return fwrite(data, 1, size, user) == size ? KMB_OK : KMB_ERR_IO;
}

static void write_files(const kmb_trace *trace, const char *folder) {
  char path[4096];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/record%s.json", folder, i ? "-chrome" : "");
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    REQUIRE_OK(i ? kmb_trace_write_chrome(trace, print, file)
                 : kmb_trace_write_json(trace, print, file));
    REQUIRE_EQ(fclose(file), 0);
  }
}

/* Kernels, a graph's kernels, a copy and a memset, in a range. */
static void all_operations_are_recorded(const char *folder) {
  spin_work w = {.g = &g,
                 .kernel = gpu_kernel(&g, "test_spin"),
                 .cycles = (uint64_t)(5e3 * g.ghz)};
  kmb_recording *recording = NULL;
  kmb_gaps *gaps = NULL;
  kmb_trace_info info;
  kmbi_cu_pointer memory = 0;
  void *host = NULL;
  CU(&g, cuMemAlloc, &memory, 4096);
  CU(&g, cuMemHostAlloc, &host, 4096, KMBI_CU_HOST_PORTABLE);
  REQUIRE_OK(kmb_trace_begin(g.device, NULL, &recording));
  REQUIRE_OK(kmb_trace_range_begin(recording, "step"));
  for (int i = 0; i < 10; i++)
    launch(&w, 0);
  CU(&g, cuMemcpyDtoHAsync, host, memory, 4096, g.stream);
  CU(&g, cuMemsetD32Async, memory, 0, 256, g.stream);
  kmbi_cu_exec exec = capture(&w);
  for (int i = 0; i < 5; i++)
    CU(&g, cuGraphLaunch, exec, g.stream);
  wait();
  REQUIRE_OK(kmb_trace_range_end(recording));
  kmb_trace *trace = end(recording, &info);
  printf("%llu operations, %llu calls, %llu invalid, %llu dropped\n",
         (unsigned long long)info.ops, (unsigned long long)info.calls,
         (unsigned long long)info.invalid, (unsigned long long)info.dropped);
  check_ties(trace, &info);
  REQUIRE_EQ(count_kind(trace, info.ops, KMB_OP_KERNEL), 10 + 5 * NODES);
  REQUIRE_EQ(count_kind(trace, info.ops, KMB_OP_MEMCPY), 1);
  REQUIRE_EQ(count_kind(trace, info.ops, KMB_OP_MEMSET), 1);
  REQUIRE_EQ(info.invalid + info.dropped, 0);
  REQUIRE_OK(kmb_gaps_analyse(trace, NULL, &gaps));
  REQUIRE_OK(kmb_gaps_write_text(gaps, print, stdout));
  REQUIRE_EQ(kmb_gaps_finding_count(gaps), 0);
  if (folder) write_files(trace, folder);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  CU(&g, cuGraphExecDestroy, exec);
  CU(&g, cuMemFreeHost, host);
  CU(&g, cuMemFree, memory);
}

/* What a kernel counted against what was recorded of it. A kernel's own launch
 * and drain are in the record, and not in what it counts. */
static void agree_with_self_timed(FILE *json) {
  static uint64_t ring[2 * SELF_TIMED];
  static double beyond[SELF_TIMED];
  spin_work w = {.g = &g,
                 .kernel = gpu_kernel(&g, "test_spin"),
                 .cycles = (uint64_t)(20e3 * g.ghz),
                 .ring = SELF_TIMED};
  kmb_recording *recording = NULL;
  kmb_trace_info info;
  CU(&g, cuMemAlloc, &w.out, sizeof ring);
  REQUIRE_OK(kmb_trace_begin(g.device, NULL, &recording));
  for (uint64_t i = 0; i < SELF_TIMED; i++) {
    launch(&w, i);
    if (i % PART == PART - 1) wait();
  }
  kmb_trace *trace = end(recording, &info);
  CU(&g, cuMemcpyDtoHAsync, ring, w.out, sizeof ring, g.stream);
  wait();
  REQUIRE_EQ(info.ops, SELF_TIMED);
  for (uint64_t i = 0; i < SELF_TIMED; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    REQUIRE_OK(kmb_trace_get_op(trace, i, &op));
    beyond[i] = (double)(op.end_ns - op.start_ns) - (double)ring[2 * i] / g.ghz;
  }
  double middle = median(beyond, SELF_TIMED);
  fprintf(json,
          "\"beyond_self_ns\": {\"median\": %.1f, \"p10\": %.1f, "
          "\"p90\": %.1f},\n",
          middle, beyond[SELF_TIMED / 10], beyond[9 * SELF_TIMED / 10]);
  printf("recorded - counted by the kernel: %.0f ns [%.0f, %.0f]\n", middle,
         beyond[SELF_TIMED / 10], beyond[9 * SELF_TIMED / 10]);
  REQUIRE(middle > 0 && middle < 2000);
  kmb_trace_destroy(trace);
  CU(&g, cuMemFree, w.out);
}

/* Host time of a launch while the queue has room. */
static double launch_ns(void) {
  static double parts[PARTS];
  spin_work w = {.g = &g, .kernel = gpu_kernel(&g, "test_spin")};
  for (int i = 0; i < PARTS; i++) {
    double start = gpu_now();
    for (int k = 0; k < PART; k++)
      launch(&w, 0);
    parts[i] = (gpu_now() - start) / PART;
    wait();
  }
  return median(parts, PARTS);
}

/* 0: not recorded; 1: operations alone; 2: calls too. */
static double launch_ns_while(int what) {
  kmb_recording *recording = NULL;
  kmb_record_params p = kmb_record_params_init();
  kmb_trace_info info = kmb_trace_info_init();
  if (what == 1) p.flags = KMB_RECORD_NO_CALLS;
  if (what) REQUIRE_OK(kmb_trace_begin(g.device, &p, &recording));
  double ns = launch_ns();
  if (!what) return ns;
  kmb_trace_destroy(end(recording, &info));
  REQUIRE_EQ(info.ops, PART * PARTS);
  REQUIRE_EQ(info.dropped, 0);
  return ns;
}

/* `fresh` was read before anything was traced: the driver's launches stay
 * slower once CUPTI has been attached. */
static void cost_of_a_launch(FILE *json, double fresh) {
  double rounds[3][ROUNDS], ns[3];
  /* In another order each round. */
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k < 3; k++)
      rounds[(i + k) % 3][i] = launch_ns_while((i + k) % 3);
  for (int what = 0; what < 3; what++)
    ns[what] = median(rounds[what], ROUNDS);
  fprintf(json,
          "\"launch_ns\": {\"never_traced\": %.1f, \"plain\": %.1f, "
          "\"operations\": %.1f, \"calls\": %.1f},\n"
          "\"added_ns\": {\"operations\": %.1f, \"calls\": %.1f},\n",
          fresh, ns[0], ns[1], ns[2], ns[1] - fresh, ns[2] - fresh);
  printf("a launch: never traced %.0f ns, not recorded %.0f, recorded without "
         "calls %.0f, with calls %.0f: %.0f ns more%s\n",
         fresh, ns[0], ns[1], ns[2], ns[2] - fresh,
         ns[2] - fresh <= 2000 ? "" : "*");
}

static void a_million_launches_drop_nothing(FILE *json) {
  spin_work w = {.g = &g, .kernel = gpu_kernel(&g, "test_spin")};
  kmb_recording *recording = NULL;
  kmb_trace_info info;
  double start = gpu_now();
  REQUIRE_OK(kmb_trace_begin(g.device, NULL, &recording));
  double begun = gpu_now();
  for (uint64_t i = 0; i < MILLION; i++)
    launch(&w, i);
  wait();
  double ended = gpu_now();
  kmb_trace *trace = end(recording, &info);
  double done = gpu_now();
  fprintf(json,
          "\"million\": {\"ops\": %llu, \"calls\": %llu, \"dropped\": %llu, "
          "\"invalid\": %llu, \"begin_ms\": %.2f, \"launches_ms\": %.1f, "
          "\"end_ms\": %.1f}}\n",
          (unsigned long long)info.ops, (unsigned long long)info.calls,
          (unsigned long long)info.dropped, (unsigned long long)info.invalid,
          (begun - start) / 1e6, (ended - begun) / 1e6, (done - ended) / 1e6);
  printf("a million launches: %llu operations, %llu calls, %llu dropped, %llu "
         "invalid; begin %.2f ms, launches %.1f ms, end %.1f ms\n",
         (unsigned long long)info.ops, (unsigned long long)info.calls,
         (unsigned long long)info.dropped, (unsigned long long)info.invalid,
         (begun - start) / 1e6, (ended - begun) / 1e6, (done - ended) / 1e6);
  REQUIRE_EQ(info.ops, MILLION);
  REQUIRE_EQ(info.dropped + info.invalid, 0);
  kmb_trace_destroy(trace);
}

/* One process's side of the cost: a million launches, recorded or in a process
 * that never traced. Their mean, and the median of parts of a thousand, which a
 * host that stumbles does not move. */
static void launch_a_million(bool recorded) {
  enum { PER_PART = 1000 };
  static double parts[MILLION / PER_PART];
  spin_work w = {.g = &g, .kernel = gpu_kernel(&g, "test_spin")};
  kmb_recording *recording = NULL;
  kmb_trace_info info = kmb_trace_info_init();
  (void)launch_ns();
  if (recorded) REQUIRE_OK(kmb_trace_begin(g.device, NULL, &recording));
  double start = gpu_now(), before = start;
  for (uint64_t i = 0; i < MILLION; i++) {
    launch(&w, i);
    if (i % PER_PART < PER_PART - 1) continue;
    double now = gpu_now();
    parts[i / PER_PART] = (now - before) / PER_PART;
    before = now;
  }
  double mean = (gpu_now() - start) / MILLION;
  wait();
  if (recorded) kmb_trace_destroy(end(recording, &info));
  printf("{\"recorded\": %s, \"mean_ns\": %.1f, \"median_ns\": %.1f, "
         "\"ops\": %llu, \"dropped\": %llu, \"invalid\": %llu}\n",
         recorded ? "true" : "false", mean, median(parts, MILLION / PER_PART),
         (unsigned long long)info.ops, (unsigned long long)info.dropped,
         (unsigned long long)info.invalid);
}

/* usage: gpu_record [JSON [FOLDER_FOR_TRACES]]
 *        gpu_record launches|recorded */
int main(int argc, char **argv) {
  bool recorded = argc > 1 && strcmp(argv[1], "recorded") == 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  gpu_open(&g, "cuda:0", NULL);
  if (recorded || (argc > 1 && strcmp(argv[1], "launches") == 0)) {
    launch_a_million(recorded);
    gpu_close(&g);
    return 0;
  }
  if (gpu_cupti_is_busy()) {
    kmb_recording *recording = NULL;
    REQUIRE_STATUS(kmb_trace_begin(g.device, NULL, &recording), KMB_ERR_BUSY);
    gpu_close(&g);
    return 0;
  }
  double fresh = launch_ns();
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  all_operations_are_recorded(argc > 2 ? argv[2] : NULL);
  agree_with_self_timed(json);
  cost_of_a_launch(json, fresh);
  a_million_launches_drop_nothing(json);
  gpu_close(&g);
  return report_close(json);
}
