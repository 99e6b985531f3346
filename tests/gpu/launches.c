/* Launches of other kinds: graphs that the caller built, another context, a
 * callback that waits behind the gate; telemetry meanwhile. */
#include <dlfcn.h>

#include "../require.h"
#include "functional.h"

/* The driver's functions that only these tests call. */
static struct {
  kmbi_cu_result (*cuCtxCreate)(kmbi_cu_context *context, unsigned flags,
                                kmbi_cu_device device);
  kmbi_cu_result (*cuCtxDestroy)(kmbi_cu_context context);
  kmbi_cu_result (*cuCtxSynchronize)(void);
} more;

static void look_up_more(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library);
  *(void **)(&more.cuCtxCreate) = dlsym(library, "cuCtxCreate_v2");
  *(void **)(&more.cuCtxDestroy) = dlsym(library, "cuCtxDestroy_v2");
  *(void **)(&more.cuCtxSynchronize) = dlsym(library, "cuCtxSynchronize");
  REQUIRE(more.cuCtxCreate && more.cuCtxDestroy && more.cuCtxSynchronize);
  dlclose(library);
}

/* What was read between runs of samples. */

static const char *meta(const kmb_result *r, const char *key) {
  const char *text = NULL;
  if (!kmb_result_metadata_text(r, key, &text)) return text;
  printf("  %s: %s\n", key, kmb_last_error(NULL, NULL));
  return "";
}

void telemetry_is_read_while_measuring(void) {
  static const char *const keys[] = {
      "telemetry.during.clock_mhz",     "telemetry.during.clock_mhz_min",
      "telemetry.during.clock_mhz_max", "telemetry.during.throttle",
      "telemetry.before.clock_mhz",     "telemetry.after.clock_mhz",
      "telemetry.before.energy_j",      "telemetry.after.energy_j"};
  kmb_result *r = NULL;
  spin_work w = spin_of(50);
  kmb_bench_params p = quick(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = &w;
  p.min_wall_ns = 1.6e9; /* a reading is due some 0.2 s after the last */
  p.max_samples = 1000000;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    printf("  %s: %s\n", keys[i], meta(r, keys[i]));
    REQUIRE(*meta(r, keys[i]));
  }
  REQUIRE(strtod(meta(r, "telemetry.during.readings"), NULL) >= 1);
  REQUIRE(strtod(meta(r, "telemetry.during.clock_mhz_min"), NULL) <=
          strtod(meta(r, "telemetry.during.clock_mhz_max"), NULL));
  REQUIRE(strtod(meta(r, "telemetry.before.energy_j"), NULL) <
          strtod(meta(r, "telemetry.after.energy_j"), NULL));
  kmb_result_destroy(r);
}

/* Prebuilt graphs. */

enum { SLOTS = 16, BYTES = 16 << 20 };

static kmbi_cu_exec capture(kmb_launch_fn launch, void *user,
                            void *const *args) {
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  kmb_launch l = {.struct_size = sizeof l, .stream = g.stream, .args = args};
  CU(&g, cuStreamBeginCapture, g.stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  REQUIRE_OK(launch(user, &l));
  CU(&g, cuStreamEndCapture, g.stream, &graph);
  CU(&g, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(&g, cuGraphDestroy, graph);
  return exec;
}

/* In each timer, rotated; a graph of another slot leaves its own output
 * unwritten. */
static void run_graphs(kmb_buffers *buffers, void **graphs) {
  kmb_result *r = NULL;
  kmb_bench_params p =
      quick(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_ROTATED);
  p.buffers = buffers;
  p.graphs = graphs;
  p.graph_count = SLOTS;
  expect_busy(&p);
  for (bool last = false; !last; p.timer = KMB_TIMER_EVENT) {
    last = p.timer == KMB_TIMER_EVENT;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    printf("  %s: %.3f us, %llu slots\n", result_text(r, KMB_VALUE_TIMER),
           result_f64(r, KMB_VALUE_TIME, 0) / 1e3,
           (unsigned long long)result_u64(r, KMB_VALUE_SLOTS));
    print_findings(r);
    REQUIRE_STR(result_text(r, KMB_VALUE_LAUNCH_MODE), "GRAPH");
    REQUIRE(result_u64(r, KMB_VALUE_SLOTS) > 1);
    REQUIRE(result_u64(r, KMB_VALUE_SLOTS) <= SLOTS);
    kmb_result_destroy(r);
  }
  void *first = graphs[0];
  graphs[0] = graphs[1];
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_INCORRECT);
  graphs[0] = first;
}

void each_slot_has_its_prebuilt_graph(void) {
  void *graphs[SLOTS];
  kmb_buffers *buffers = move_buffers(&g, BYTES, true, 0);
  move_work w = {.g = &g,
                 .kernel = gpu_kernel(&g, "test_copy"),
                 .bytes = BYTES,
                 .copies = true};
  REQUIRE_OK(kmb_buffers_prepare(buffers, SLOTS));
  for (uint32_t s = 0; s < SLOTS; s++) {
    void *args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 2; i++)
      REQUIRE_OK(kmb_buffers_pointer(buffers, s, i, &args[i]));
    graphs[s] = capture(move_launch, &w, args);
  }
  run_graphs(buffers, graphs);
  for (uint32_t s = 0; s < SLOTS; s++)
    CU(&g, cuGraphExecDestroy, graphs[s]);
  kmb_buffers_destroy(buffers);
}

/* Another context than the device's primary one. */

static void bench_there(spin_work *w, kmbi_cu_stream stream) {
  kmb_result *r = NULL;
  kmbi_cu_context now = NULL;
  kmb_bench_params p = quick(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = spin_launch;
  p.launch_user = w;
  p.stream = stream;
  CU(&g, cuCtxSetCurrent, g.context);
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  printf("  %.3f us\n", result_f64(r, KMB_VALUE_TIME, 0) / 1e3);
  print_findings(r);
  if (!gpu_cupti_is_busy())
    REQUIRE_NEAR(result_f64(r, KMB_VALUE_TIME, 0), 5700, 700);
  kmb_result_destroy(r);
  CU(&g, cuCtxGetCurrent, &now);
  REQUIRE(now == g.context);
}

/* The events are the library's, in the stream's context, whichever is
 * current. */
static void session_there(spin_work *w, kmbi_cu_stream stream,
                          kmbi_cu_context other) {
  kmb_result *r = NULL;
  kmb_session *session = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  kmb_launch l = {.struct_size = sizeof l, .stream = stream};
  p.stream = stream;
  REQUIRE_OK(kmb_session_begin(g.device, &p, &session));
  for (int i = 0; i < 200; i++) {
    CU(&g, cuCtxSetCurrent, i % 2 ? g.context : other);
    REQUIRE_OK(kmb_session_sample_begin(session));
    CU(&g, cuCtxSetCurrent, other);
    REQUIRE_OK(spin_launch(w, &l));
    REQUIRE_OK(kmb_session_sample_end(session, 1));
  }
  CU(&g, cuCtxSetCurrent, g.context);
  REQUIRE_OK(kmb_session_end(session, &r));
  printf("  session, %s: %.3f us\n", result_text(r, KMB_VALUE_TIMER),
         result_f64(r, KMB_VALUE_TIME, 0) / 1e3);
  print_findings(r);
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "EVENT");
  REQUIRE(result_f64(r, KMB_VALUE_TIME, 0) > 5000);
  kmb_result_destroy(r);
}

/* Candidates that take turns share a context; each is right by itself. */
static void compare_there(spin_work *here, spin_work *there,
                          kmbi_cu_stream stream) {
  for (int both = 0; both < 2; both++) {
    kmb_comparison *comparison = NULL;
    kmb_bench_params p[2] = {kmb_bench_params_init(), kmb_bench_params_init()};
    kmb_candidate c[2] = {kmb_candidate_init(), kmb_candidate_init()};
    for (int i = 0; i < 2; i++) {
      p[i].name = i ? "b" : "a";
      p[i].launch = spin_launch;
      p[i].launch_user = i || both ? there : here;
      p[i].stream = i || both ? stream : NULL;
      c[i].bench = &p[i];
    }
    kmb_status status =
        kmb_compare(g.device, c, sizeof c[0], 2, NULL, &comparison);
    REQUIRE_STATUS(status, both ? KMB_OK : KMB_ERR_BUSY);
    if (!both) REQUIRE_HAS(kmb_last_error(NULL, NULL), "another context");
    kmb_comparison_destroy(comparison);
  }
}

void a_stream_of_another_context_serves(void) {
  kmbi_cu_context other = NULL;
  kmbi_cu_module module = g.module;
  kmbi_cu_stream stream = NULL;
  look_up_more();
  spin_work here = spin_of(5);
  REQUIRE_EQ(more.cuCtxCreate(&other, 0, g.ordinal), 0);
  CU(&g, cuModuleLoadData, &g.module, gpu_ptx());
  CU(&g, cuStreamCreate, &stream, KMBI_CU_STREAM_NON_BLOCKING);
  spin_work w = spin_of(5);
  bench_there(&w, stream);
  session_there(&w, stream, other);
  compare_there(&here, &w, stream);
  CU(&g, cuCtxSetCurrent, other);
  CU(&g, cuStreamDestroy, stream);
  CU(&g, cuModuleUnload, g.module);
  g.module = module;
  CU(&g, cuCtxSetCurrent, g.context);
  REQUIRE_EQ(more.cuCtxDestroy(other), 0);
}

/* Harmless while it is captured and tried; later it waits for the device,
 * which waits for the gate. */
typedef struct waiting {
  spin_work w;
  int calls;
} waiting;

static kmb_status launch_waiting(void *user, const kmb_launch *l) {
  waiting *w = user;
  if (++w->calls >= 10 && more.cuCtxSynchronize()) return KMB_ERR_VENDOR;
  return spin_launch(&w->w, l);
}

void a_launch_that_waits_behind_the_gate_is_let_go(void) {
  kmb_result *r = NULL;
  waiting w = {.w = spin_of(5)};
  bool said = false;
  look_up_more();
  kmb_bench_params p = quick(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_waiting;
  p.launch_user = &w;
  double started = gpu_now();
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  printf("  after %.2f s and %d calls\n", (gpu_now() - started) / 1e9, w.calls);
  print_findings(r);
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &f));
    said = said || (f.code == KMB_FINDING_FALLBACK_TIMER &&
                    strstr(f.message, "gate") != NULL);
  }
  REQUIRE(said);
  REQUIRE(w.calls > 10);
  kmb_result_destroy(r);
}
