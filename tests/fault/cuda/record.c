/* Recordings on the virtual GPU: what is in them, what is said of what is not,
 * who is kept out, and that nothing stays held. */
#include "alone.h"
#include "bed.h"

#include <dlfcn.h>
#include <pthread.h>

/* Two kernels and a copy between them, with a wait before the second. */
static void work(bed *b, const spin *s) {
  kmb_launch l = {.struct_size = sizeof l, .stream = b->stream};
  static char from[4096];
  kmbi_cu_pointer to = 0;
  CU(b, cuMemAlloc, &to, sizeof from);
  spin one = *s;
  REQUIRE_OK(bed_launch_spin(&one, &l));
  CU(b, cuMemcpyHtoDAsync, to, from, sizeof from, b->stream);
  REQUIRE_EQ(b->synchronize(), 0);
  REQUIRE_OK(bed_launch_spin(&one, &l));
  REQUIRE_EQ(b->synchronize(), 0);
  CU(b, cuMemFree, to);
}

static kmb_trace *record(bed *b, const spin *s) {
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  REQUIRE_OK(kmb_trace_begin(b->device, NULL, &recording));
  work(b, s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  return trace;
}

static kmb_trace_info info_of(const kmb_trace *trace) {
  kmb_trace_info info = kmb_trace_info_init();
  REQUIRE_OK(kmb_trace_get_info(trace, &info));
  return info;
}

static void operations_and_calls_are_recorded(void) {
  bed b;
  kmb_trace_op op = kmb_trace_op_init();
  kmb_trace_call call = kmb_trace_call_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_trace *trace = record(&b, &s);
  kmb_trace_info info = info_of(trace);
  REQUIRE_EQ(info.format, KMB_TRACE_KMB);
  REQUIRE_EQ(info.ops, 3);
  REQUIRE_EQ(info.calls, 5);
  REQUIRE_EQ(info.invalid + info.dropped + info.ranges, 0);
  REQUIRE_OK(kmb_trace_get_op(trace, 0, &op));
  REQUIRE_STR(op.name, "test_spin");
  REQUIRE_EQ(op.kind, KMB_OP_KERNEL);
  REQUIRE_EQ(op.process, (uint64_t)getpid());
  REQUIRE(op.device_name[0]);
  REQUIRE_EQ(op.flags, KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM |
                           KMB_OP_HAS_CORRELATION | KMB_OP_HAS_CALL |
                           KMB_OP_HAS_SHAPE);
  REQUIRE_EQ(op.bytes, 0);
  REQUIRE_EQ(op.grid_x * op.grid_y * op.grid_z, 1);
  REQUIRE_EQ(op.block_x * op.block_y * op.block_z, 1);
  REQUIRE_OK(kmb_trace_get_call(trace, op.call, &call));
  REQUIRE_STR(call.name, "cuLaunchKernel");
  REQUIRE_EQ(call.kind, KMB_CALL_LAUNCH);
  REQUIRE_EQ(call.thread, (uint32_t)(uintptr_t)pthread_self());
  REQUIRE(call.start_ns <= op.start_ns);
  REQUIRE_OK(kmb_trace_get_op(trace, 1, &op));
  REQUIRE_STR(op.name, "[CUDA memcpy Host-to-Device]");
  REQUIRE_EQ(op.bytes, 4096);
  REQUIRE_EQ(op.flags & KMB_OP_HAS_SHAPE, 0);
  REQUIRE_EQ(op.grid_x, 0);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void launches_keep_their_grid_and_block(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_trace_op op = kmb_trace_op_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  uint64_t out = 0;
  void *arguments[] = {&s.cycles, &out};
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  CU(&b, cuLaunchKernel, s.kernel, 70000, 2, 3, 128, 4, 1, 0, b.stream,
     arguments, NULL);
  REQUIRE_EQ(b.synchronize(), 0);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_OK(kmb_trace_get_op(trace, 0, &op));
  REQUIRE_EQ(op.flags & KMB_OP_HAS_SHAPE, KMB_OP_HAS_SHAPE);
  REQUIRE_EQ(op.grid_x, 70000);
  REQUIRE_EQ(op.grid_y, 2);
  REQUIRE_EQ(op.grid_z, 3);
  REQUIRE_EQ(op.block_x, 128);
  REQUIRE_EQ(op.block_y, 4);
  REQUIRE_EQ(op.block_z, 1);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void causes_and_latency_follow(void) {
  bed b;
  kmb_gaps *gaps = NULL;
  kmb_gaps_device d = kmb_gaps_device_init();
  kmb_gaps_latency latency = kmb_gaps_latency_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_trace *trace = record(&b, &s);
  REQUIRE_OK(kmb_gaps_analyse(trace, NULL, &gaps));
  REQUIRE_EQ(kmb_gaps_device_count(gaps), 1);
  REQUIRE_OK(kmb_gaps_get_device(gaps, 0, &d));
  REQUIRE(d.flags & KMB_GAPS_HAS_CAUSES);
  REQUIRE_EQ(d.unknown_ns, 0);
  REQUIRE(d.sync_ns > 0 || d.host_ns > 0);
  REQUIRE_OK(kmb_gaps_get_latency(gaps, 0, &latency));
  REQUIRE_EQ(latency.count, 3);
  REQUIRE_EQ(kmb_gaps_finding_count(gaps), 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void without_calls_causes_are_unknown(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_record_params p = kmb_record_params_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  p.flags = KMB_RECORD_NO_CALLS;
  REQUIRE_OK(kmb_trace_begin(b.device, &p, &recording));
  work(&b, &s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_EQ(info_of(trace).ops, 3);
  REQUIRE_EQ(info_of(trace).calls, 0);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

/* By calls that are no part of the recording. */
static void what_recording_adds_is_measured(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_record_params p = kmb_record_params_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  sim_set()->recording_adds = 300;
  trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).driver_added_ns, 300);
  REQUIRE_EQ(info_of(trace).runtime_added_ns, 300); /* none is loaded */
  REQUIRE_EQ(info_of(trace).calls, 5);
  REQUIRE_EQ(info_of(trace).ops, 3);
  kmb_trace_destroy(trace);
  p.flags = KMB_RECORD_NO_CALLS;
  REQUIRE_OK(kmb_trace_begin(b.device, &p, &recording));
  work(&b, &s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_EQ(info_of(trace).driver_added_ns, 0);
  REQUIRE_EQ(info_of(trace).runtime_added_ns, 0);
  kmb_trace_destroy(trace);
  void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
  REQUIRE(runtime);
  trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).driver_added_ns, 300);
  REQUIRE_EQ(info_of(trace).runtime_added_ns, 600);
  REQUIRE_EQ(info_of(trace).calls, 5);
  kmb_trace_destroy(trace);
  REQUIRE_EQ(dlclose(runtime), 0);
  REQUIRE(!dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD));
  sim_set()->recording_adds = 0;
  trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).driver_added_ns, 0);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void nodes_of_graphs_are_recorded(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  kmb_trace_op op = kmb_trace_op_init();
  kmb_trace_call call = kmb_trace_call_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 24);
  kmb_launch l = {.struct_size = sizeof l, .stream = b.stream};
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  CU(&b, cuStreamBeginCapture, b.stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  REQUIRE_OK(bed_launch_spin(&s, &l));
  CU(&b, cuStreamEndCapture, b.stream, &graph);
  CU(&b, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(&b, cuGraphLaunch, exec, b.stream);
  REQUIRE_EQ(b.synchronize(), 0);
  CU(&b, cuGraphExecDestroy, exec);
  CU(&b, cuGraphDestroy, graph);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_EQ(info_of(trace).ops, 24);
  REQUIRE_OK(kmb_trace_get_op(trace, 23, &op));
  REQUIRE_OK(kmb_trace_get_call(trace, op.call, &call));
  REQUIRE_EQ(call.kind, KMB_CALL_GRAPH_LAUNCH);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void ranges_nest_and_end_with_the_recording(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_trace_range outer = kmb_trace_range_init(), inner = outer, open = outer;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  REQUIRE_STATUS(kmb_trace_range_end(recording), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no open range");
  REQUIRE_OK(kmb_trace_range_begin(recording, "outer"));
  REQUIRE_OK(kmb_trace_range_begin(recording, "inner"));
  work(&b, &s);
  REQUIRE_OK(kmb_trace_range_end(recording));
  REQUIRE_OK(kmb_trace_range_end(recording));
  REQUIRE_OK(kmb_trace_range_begin(recording, "open"));
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_EQ(info_of(trace).ranges, 3);
  REQUIRE_OK(kmb_trace_get_range(trace, 0, &outer));
  REQUIRE_OK(kmb_trace_get_range(trace, 1, &inner));
  REQUIRE_OK(kmb_trace_get_range(trace, 2, &open));
  REQUIRE_STR(outer.name, "outer");
  REQUIRE_STR(inner.name, "inner");
  REQUIRE_STR(open.name, "open");
  REQUIRE(outer.start_ns < inner.start_ns && inner.end_ns < outer.end_ns);
  REQUIRE(open.end_ns > open.start_ns);
  kmb_gaps_params p = kmb_gaps_params_init();
  kmb_gaps *gaps = NULL;
  kmb_gaps_device d = kmb_gaps_device_init();
  p.range = "inner";
  REQUIRE_OK(kmb_gaps_analyse(trace, &p, &gaps));
  REQUIRE_OK(kmb_gaps_get_device(gaps, 0, &d));
  REQUIRE_EQ(d.ops, 3);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static bool finds(const kmb_trace *trace, kmb_finding_code code) {
  kmb_gaps *gaps = NULL;
  kmb_finding f = kmb_finding_init();
  bool found = false;
  REQUIRE_OK(kmb_gaps_analyse(trace, NULL, &gaps));
  for (uint64_t i = 0; i < kmb_gaps_finding_count(gaps); i++) {
    REQUIRE_OK(kmb_gaps_get_finding(gaps, i, &f));
    found = found || f.code == code;
  }
  kmb_gaps_destroy(gaps);
  return found;
}

static void dropped_records_are_counted_and_said(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 10);
  sim_set()->drop_every = 4;
  kmb_trace *trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).dropped, 5);
  REQUIRE_EQ(info_of(trace).ops, 21 - 5);
  REQUIRE(finds(trace, KMB_FINDING_RECORDS_DROPPED));
  kmb_trace_destroy(trace);
  /* What was lost then is none of the next one's. */
  sim_set()->drop_every = 0;
  trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).dropped, 0);
  REQUIRE(!finds(trace, KMB_FINDING_RECORDS_DROPPED));
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void rows_beyond_the_limit_are_counted(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_record_params p = kmb_record_params_init();
  bed_start(&b);
  spin s = bed_spin(&b, 20, 10);
  p.row_limit = 7;
  REQUIRE_OK(kmb_trace_begin(b.device, &p, &recording));
  work(&b, &s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  kmb_trace_info info = info_of(trace);
  REQUIRE_EQ(info.ops + info.calls, 7);
  REQUIRE_EQ(info.ops + info.calls + info.dropped, 21 + 21 + 2);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void F9_records_without_times_are_invalid(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 6);
  sim_set()->zero_every = 4;
  sim_set()->backwards_every = 5;
  kmb_trace *trace = record(&b, &s);
  kmb_trace_info info = info_of(trace);
  REQUIRE_EQ(info.rows, 13);
  REQUIRE_EQ(info.invalid, 3 + 2);
  REQUIRE(finds(trace, KMB_FINDING_INVALID_TIMESTAMPS));
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void late_and_reversed_records_are_all_there(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 3000);
  for (int i = 0; i < 3; i++) {
    sim_set()->late = i == 0;
    sim_set()->reversed = i == 1;
    sim_set()->halves = i == 2;
    kmb_trace *trace = record(&b, &s);
    REQUIRE_EQ(info_of(trace).ops, 6001);
    REQUIRE_EQ(info_of(trace).dropped, 0);
    kmb_trace_destroy(trace);
  }
  bed_end(&b);
}

/* Nobody else may trace meanwhile, and afterwards everybody may. */
static void a_recording_keeps_measurements_out(void) {
  bed b;
  kmb_device *second = NULL;
  kmb_recording *recording = NULL, *other = NULL;
  kmb_trace *trace = NULL;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_device_open("cuda:0", NULL, &second));
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_bench(second, &p, &r), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_trace_begin(second, NULL, &other), KMB_ERR_BUSY);
  REQUIRE(!other);
  p.timer = KMB_TIMER_EVENT;
  REQUIRE_STATUS(kmb_bench(second, &p, &r), KMB_ERR_BUSY);
  work(&b, &s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  /* What those that were kept out had launched before is there too. */
  REQUIRE(info_of(trace).ops > 3);
  kmb_trace_destroy(trace);
  REQUIRE_OK(kmb_bench(second, &p, &r));
  kmb_result_destroy(r);
  p.timer = KMB_TIMER_TRACE;
  REQUIRE_OK(kmb_bench(second, &p, &r));
  kmb_result_destroy(r);
  trace = record(&b, &s);
  REQUIRE_EQ(info_of(trace).ops, 3);
  kmb_trace_destroy(trace);
  kmb_device_close(second);
  bed_end(&b);
}

typedef struct tried {
  kmb_device *device;
  kmb_status status;
  spin *s;
} tried;

static kmb_status launch_and_try(void *user, const kmb_launch *l) {
  tried *t = user;
  kmb_recording *recording = NULL;
  if (!t->status) t->status = kmb_trace_begin(t->device, NULL, &recording);
  REQUIRE(!recording);
  return bed_launch_spin(t->s, l);
}

static void a_measurement_keeps_a_recording_out(void) {
  static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT};
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  for (size_t i = 0; i < 2; i++) {
    tried t = {NULL, KMB_OK, &s};
    kmb_result *r = NULL;
    kmb_bench_params p =
        bed_params(timers[i], KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    p.launch = launch_and_try;
    p.launch_user = &t;
    p.max_samples = 8;
    REQUIRE_OK(kmb_device_open("cuda:0", NULL, &t.device));
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_STATUS(t.status, KMB_ERR_BUSY);
    kmb_result_destroy(r);
    kmb_device_close(t.device);
  }
  bed_end(&b);
}

static void another_tool_is_left_alone(void) {
  bed b;
  kmb_recording *recording = NULL;
  bed_start(&b);
  sim_set()->other_subscriber = true;
  REQUIRE_STATUS(kmb_trace_begin(b.device, NULL, &recording), KMB_ERR_BUSY);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "another tool");
  REQUIRE(!recording);
  sim_set()->other_subscriber = false;
  sim_set()->forbidden = 35;
  REQUIRE_STATUS(kmb_trace_begin(b.device, NULL, &recording), KMB_ERR_PERM);
  sim_set()->forbidden = 0;
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  kmb_trace_abandon(recording);
  kmb_trace_abandon(NULL);
  bed_end(&b);
}

static void *second_thread(void *user) {
  bed *b = user;
  CU(b, cuCtxSetCurrent, b->context);
  spin s = {b, bed_kernel(b, "test_spin"), 1000, 50};
  kmb_launch l = {.struct_size = sizeof l, .stream = b->stream};
  for (int i = 0; i < 20; i++)
    REQUIRE_OK(bed_launch_spin(&s, &l));
  return NULL;
}

typedef struct ranger {
  bed *b;
  kmb_recording *recording;
} ranger;

static void *range_thread(void *user) {
  ranger *r = user;
  for (int i = 0; i < 100; i++) {
    REQUIRE_OK(kmb_trace_range_begin(r->recording, "theirs"));
    REQUIRE_OK(kmb_trace_range_end(r->recording));
  }
  return second_thread(r->b);
}

static void all_threads_are_recorded(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  pthread_t thread;
  uint64_t threads[2] = {0};
  bed_start(&b);
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  ranger r = {&b, recording};
  REQUIRE_EQ(pthread_create(&thread, NULL, range_thread, &r), 0);
  for (int i = 0; i < 100; i++) {
    REQUIRE_OK(kmb_trace_range_begin(recording, "ours"));
    REQUIRE_OK(kmb_trace_range_end(recording));
  }
  second_thread(&b);
  REQUIRE_EQ(pthread_join(thread, NULL), 0);
  REQUIRE_EQ(b.synchronize(), 0);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  kmb_trace_info info = info_of(trace);
  REQUIRE_EQ(info.ops, 2000);
  REQUIRE_EQ(info.ranges, 200);
  for (uint64_t i = 0; i < info.ranges; i++) {
    kmb_trace_range range = kmb_trace_range_init();
    REQUIRE_OK(kmb_trace_get_range(trace, i, &range));
    threads[strcmp(range.name, "ours") == 0] += range.thread;
  }
  REQUIRE(threads[0] != threads[1]);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

static void a_child_gives_back_memory_alone(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  int status = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) {
    REQUIRE_STATUS(kmb_trace_range_begin(recording, "x"), KMB_ERR_FORKED);
    REQUIRE_STATUS(kmb_trace_end(recording, &trace), KMB_ERR_FORKED);
    REQUIRE(!trace);
    kmb_device_close(b.device);
    REQUIRE_EQ(b.memory.bytes_out, 0);
    REQUIRE_EQ(sim_child_calls(), 0);
    _exit(0);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE_EQ(status, 0);
  work(&b, &s);
  REQUIRE_OK(kmb_trace_end(recording, &trace));
  REQUIRE_EQ(info_of(trace).ops, 3);
  kmb_trace_destroy(trace);
  bed_end(&b);
}

/* The whole, as often as an allocation or a call can fail in it. */
static kmb_status whole(bed *b, const spin *s) {
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  kmb_status status = kmb_trace_begin(b->device, NULL, &recording);
  REQUIRE(!status == !!recording);
  if (status) return status;
  status = kmb_trace_range_begin(recording, "range");
  work(b, s);
  if (!status) status = kmb_trace_range_end(recording);
  if (status) {
    kmb_trace_abandon(recording);
    return status;
  }
  status = kmb_trace_end(recording, &trace);
  REQUIRE(!status == !!trace);
  if (!status) {
    REQUIRE_EQ(info_of(trace).ops, 3);
    REQUIRE_EQ(info_of(trace).calls, 5);
    REQUIRE_EQ(info_of(trace).ranges, 1);
  }
  kmb_trace_destroy(trace);
  return status;
}

static void each_allocation_that_fails_is_said(void) {
  bed b;
  uint64_t failed = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  for (uint64_t k = 1;; k++) {
    int64_t before = b.memory.bytes_out;
    b.memory.failed = false;
    b.memory.fail_at = b.memory.calls + k;
    kmb_status status = whole(&b, &s);
    b.memory.fail_at = 0;
    REQUIRE_EQ(b.memory.bytes_out, before);
    if (!b.memory.failed) break;
    REQUIRE_STATUS(status, KMB_ERR_NOMEM);
    REQUIRE(kmb_last_error(NULL, NULL)[0]);
    failed++;
    REQUIRE_OK(whole(&b, &s));
  }
  REQUIRE(failed > 10);
  bed_end(&b);
}

static void each_call_that_fails_is_said(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  REQUIRE_OK(whole(&b, &s)); /* what a process does but once */
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++) {
    if (!sim_is_cupti(f) || f == SIM_cuptiGetResultString) continue;
    uint64_t before = sim_calls(f);
    REQUIRE_OK(whole(&b, &s));
    uint64_t calls = sim_calls(f) - before;
    for (uint64_t k = 1; k <= calls; k++) {
      sim_fail(f, k, 999);
      kmb_status status = whole(&b, &s);
      REQUIRE(sim_failed());
      REQUIRE(status <= 0 && status != KMB_ERR_INTERNAL);
      if (status) REQUIRE(kmb_last_error(NULL, NULL)[0]);
      REQUIRE_OK(whole(&b, &s));
    }
  }
  bed_end(&b);
}

static void a_lost_device_ends_it(void) {
  bed b;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  bed_start(&b);
  REQUIRE_OK(kmb_trace_begin(b.device, NULL, &recording));
  REQUIRE_STATUS(kmb_trace_end(recording, NULL), KMB_ERR_INVALID);
  recording = NULL;
  REQUIRE_STATUS(kmb_trace_end(NULL, &trace), KMB_ERR_INVALID);
  bed_end(&b);
}

static void other_backends_say_that_they_cannot(void) {
  kmb_device *device = NULL;
  kmb_recording *recording = NULL;
  REQUIRE_OK(kmb_device_open("host", NULL, &device));
  REQUIRE_STATUS(kmb_trace_begin(device, NULL, &recording),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "backend host records nothing");
  REQUIRE(!recording);
  kmb_record_params p = kmb_record_params_init();
  p.flags = 2;
  REQUIRE_STATUS(kmb_trace_begin(device, &p, &recording), KMB_ERR_UNSUPPORTED);
  REQUIRE_STATUS(kmb_trace_begin(device, NULL, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_trace_begin(NULL, NULL, &recording), KMB_ERR_INVALID);
  kmb_device_close(device);
}

int main(void) {
  int failed = 0;
  failed += ALONE(operations_and_calls_are_recorded);
  failed += ALONE(launches_keep_their_grid_and_block);
  failed += ALONE(causes_and_latency_follow);
  failed += ALONE(without_calls_causes_are_unknown);
  failed += ALONE(what_recording_adds_is_measured);
  failed += ALONE(nodes_of_graphs_are_recorded);
  failed += ALONE(ranges_nest_and_end_with_the_recording);
  failed += ALONE(dropped_records_are_counted_and_said);
  failed += ALONE(rows_beyond_the_limit_are_counted);
  failed += ALONE(F9_records_without_times_are_invalid);
  failed += ALONE(late_and_reversed_records_are_all_there);
  failed += ALONE(a_recording_keeps_measurements_out);
  failed += ALONE(a_measurement_keeps_a_recording_out);
  failed += ALONE(another_tool_is_left_alone);
  failed += ALONE(all_threads_are_recorded);
  failed += ALONE(a_child_gives_back_memory_alone);
  failed += ALONE(each_allocation_that_fails_is_said);
  failed += ALONE(each_call_that_fails_is_said);
  failed += ALONE(a_lost_device_ends_it);
  failed += ALONE(other_backends_say_that_they_cannot);
  return failed != 0;
}
