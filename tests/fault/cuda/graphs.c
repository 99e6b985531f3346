/* Graphs that the caller has built, on the virtual GPU. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

/* One graph: what `launch` enqueues while it is captured. */
static kmbi_cu_exec capture(bed *b, kmb_launch_fn launch, void *user,
                            void *const *args) {
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  kmb_launch l = {.struct_size = sizeof l, .stream = b->stream, .args = args};
  CU(b, cuStreamBeginCapture, b->stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  REQUIRE_OK(launch(user, &l));
  CU(b, cuStreamEndCapture, b->stream, &graph);
  CU(b, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(b, cuGraphDestroy, graph);
  return exec;
}

static kmb_bench_params params_of(kmb_timer timer, kmb_cache_state cache) {
  kmb_bench_params p = bed_params(timer, 0, cache);
  p.graph_count = 1;
  return p;
}

static void spins_are_timed_as_they_are(void) {
  static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT};
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 10, 1);
  void *graph = capture(&b, bed_launch_spin, &s, NULL);
  for (int i = 0; i < 2; i++) {
    kmb_result *r = NULL;
    kmb_bench_params p = params_of(timers[i], KMB_CACHE_WARM);
    p.graphs = &graph;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_STR(bed_text(r, KMB_VALUE_LAUNCH_MODE), "GRAPH");
    /* One executable, which lies where it lies. */
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 10e3 + SIM_KERNEL,
                 (3 + i * SIM_PLACES / 2.0) * SIM_TICK);
    kmb_result_destroy(r);
  }
  CU(&b, cuGraphExecDestroy, graph);
  bed_end(&b);
}

static void the_graph_stays_the_callers(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 10, 1);
  void *graph = capture(&b, bed_launch_spin, &s, NULL);
  kmb_bench_params p = params_of(KMB_TIMER_HOST, KMB_CACHE_COLD);
  p.graphs = &graph;
  p.stream = b.stream;
  uint64_t made = sim_calls(SIM_cuGraphInstantiateWithFlags);
  uint64_t destroyed = sim_calls(SIM_cuGraphExecDestroy);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(sim_calls(SIM_cuGraphInstantiateWithFlags), made);
  REQUIRE_EQ(sim_calls(SIM_cuGraphExecDestroy), destroyed);
  kmb_result_destroy(r);
  CU(&b, cuGraphLaunch, graph, b.stream);
  CU(&b, cuGraphExecDestroy, graph);
  bed_end(&b);
}

/* A graph that CUPTI did not see being made shows its copies as kernels. */
typedef struct with_copy {
  spin s;
  kmbi_cu_pointer memory;
} with_copy;

static char host_copy[64];

static kmb_status launch_with_copy(void *user, const kmb_launch *l) {
  with_copy *w = user;
  kmb_status status = bed_launch_spin(&w->s, l);
  if (!status && w->s.b->cu.cuMemcpyDtoHAsync(host_copy, w->memory,
                                              sizeof host_copy, l->stream))
    status = KMB_ERR_VENDOR;
  return status;
}

static double figure_of(const kmb_result *r, const char *name) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &f));
    for (uint64_t k = 0;
         f.code == KMB_FINDING_GRAPH_UNSEEN && k < f.figure_count; k++)
      if (strcmp(f.figures[k].name, name) == 0) return f.figures[k].value;
  }
  return -1;
}

static void rows_of_an_unseen_graph_are_doubted(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  with_copy w = {.s = bed_spin(&b, 5, 1)};
  CU(&b, cuMemAlloc, &w.memory, 4096);
  void *graph = capture(&b, launch_with_copy, &w, NULL);
  kmb_bench_params p = params_of(KMB_TIMER_TRACE, KMB_CACHE_WARM);
  p.graphs = &graph;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(kmb_result_op_count(r), 2);
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, 1, &op));
  REQUIRE_EQ(op.kind, KMB_OP_KERNEL);
  REQUIRE(bed_finding(r, KMB_FINDING_GRAPH_UNSEEN));
  double records = figure_of(r, "records");
  REQUIRE(records > 0);
  REQUIRE_NEAR(figure_of(r, "kernel_records"), records, 0);
  REQUIRE_NEAR(figure_of(r, "unnamed_records"), 0, 0);
  kmb_result_destroy(r);
  /* Captured by us the same launch raises none. */
  r = NULL;
  p.graphs = NULL;
  p.graph_count = 0;
  p.launch = launch_with_copy;
  p.launch_user = &w;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(!bed_finding(r, KMB_FINDING_GRAPH_UNSEEN));
  kmb_result_destroy(r);
  CU(&b, cuGraphExecDestroy, graph);
  CU(&b, cuMemFree, w.memory);
  bed_end(&b);
}

enum { SLOTS = 12, COUNT = 16 << 10 };

/* ROTATED: each slot's graph works on its slot. */
static void each_slot_has_its_graph(void) {
  bed b;
  kmb_result *r = NULL;
  void *graphs[SLOTS];
  bed_start(&b);
  kmb_buffers *buffers = bed_add_buffers(&b, COUNT);
  REQUIRE(buffers);
  REQUIRE_OK(kmb_buffers_prepare(buffers, SLOTS));
  add a = {&b, bed_kernel(&b, "test_add"), COUNT};
  for (uint32_t s = 0; s < SLOTS; s++) {
    void *args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 2; i++)
      REQUIRE_OK(kmb_buffers_pointer(buffers, s, i, &args[i]));
    graphs[s] = capture(&b, bed_launch_add, &a, args);
  }
  kmb_bench_params p = params_of(KMB_TIMER_EVENT, KMB_CACHE_ROTATED);
  p.buffers = buffers;
  p.graphs = graphs;
  p.graph_count = SLOTS;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_u64(r, KMB_VALUE_SLOTS) > 1);
  REQUIRE_HAS(bed_text(r, KMB_VALUE_CHECK), "no check callback");
  kmb_result_destroy(r);
  r = NULL;
  /* A graph of another slot leaves its own output unwritten. */
  void *first = graphs[0];
  graphs[0] = graphs[1];
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_INCORRECT);
  graphs[0] = first;
  for (uint32_t s = 0; s < SLOTS; s++)
    CU(&b, cuGraphExecDestroy, graphs[s]);
  kmb_buffers_destroy(buffers);
  bed_end(&b);
}

static void a_launch_that_fails_is_said(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 10, 1);
  void *graph = capture(&b, bed_launch_spin, &s, NULL);
  kmb_bench_params p = params_of(KMB_TIMER_TRACE, KMB_CACHE_WARM);
  p.graphs = &graph;
  sim_fail(SIM_cuGraphLaunch, 1, 1);
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_VENDOR);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "cuGraphLaunch");
  REQUIRE_EQ(vendor, 1);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  CU(&b, cuGraphExecDestroy, graph);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(spins_are_timed_as_they_are);
  failed += ALONE(the_graph_stays_the_callers);
  failed += ALONE(rows_of_an_unseen_graph_are_doubted);
  failed += ALONE(each_slot_has_its_graph);
  failed += ALONE(a_launch_that_fails_is_said);
  return failed != 0;
}
