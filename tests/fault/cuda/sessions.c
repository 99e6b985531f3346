/* Sessions that the caller drives by events on its own stream, on the virtual
 * GPU. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static kmb_bench_params params_of(bed *b) {
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "region";
  p.stream = b->stream;
  return p;
}

static kmb_status sample(bed *b, kmb_session *session, spin *s) {
  kmb_launch l = {.struct_size = sizeof l, .stream = b->stream};
  kmb_status status = kmb_session_sample_begin(session);
  if (!status) status = bed_launch_spin(s, &l);
  return status ? status : kmb_session_sample_end(session, 1);
}

static void a_region_is_timed_on_its_stream(void) {
  bed b;
  kmb_session *session = NULL;
  kmb_result *r = NULL;
  kmbi_cu_context context = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = params_of(&b);
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  for (int i = 0; i < 600; i++)
    REQUIRE_OK(sample(&b, session, &s));
  REQUIRE_OK(kmb_session_end(session, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES), 600);
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "EVENT");
  REQUIRE(bed_finding(r, KMB_FINDING_UNCALIBRATED));
  /* What events cost is in it, for nobody calibrates a running program. */
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME),
               20e3 + SIM_KERNEL + SIM_EVENT + SIM_EVENT_TO_KERNEL, 300);
  CU(&b, cuCtxGetCurrent, &context);
  REQUIRE(context == b.context);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Nothing of the library's is current between the calls. */
static void the_callers_context_stays(void) {
  bed b;
  kmb_session *session = NULL;
  kmbi_cu_context now = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = params_of(&b);
  CU(&b, cuCtxSetCurrent, NULL);
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  CU(&b, cuCtxGetCurrent, &now);
  REQUIRE(!now);
  REQUIRE_OK(kmb_session_sample_begin(session));
  CU(&b, cuCtxGetCurrent, &now);
  REQUIRE(!now);
  CU(&b, cuCtxSetCurrent, b.context);
  kmb_launch l = {.struct_size = sizeof l, .stream = b.stream};
  REQUIRE_OK(bed_launch_spin(&s, &l));
  REQUIRE_OK(kmb_session_sample_end(session, 1));
  kmb_session_abandon(session);
  bed_end(&b);
}

static void after_a_session_the_device_measures(void) {
  bed b;
  kmb_session *session = NULL;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = params_of(&b);
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  REQUIRE_OK(sample(&b, session, &s));
  kmb_session_abandon(session);
  p = bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void each_call_that_fails_is_said(void) {
  static const struct {
    sim_function function;
    uint64_t k;
  } cases[] = {{SIM_cuStreamGetCtx, 1},    {SIM_cuEventCreate, 1},
               {SIM_cuEventCreate, 300},   {SIM_cuEventRecord, 1},
               {SIM_cuEventRecord, 2},     {SIM_cuEventQuery, 1},
               {SIM_cuEventElapsedTime, 2}};
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmb_session *session = NULL;
    kmb_result *r = NULL;
    kmb_bench_params p = params_of(&b);
    sim_fail(cases[i].function, cases[i].k, 999);
    kmb_status status = kmb_session_begin(b.device, &p, &session);
    for (int k = 0; k < 3 && !status; k++)
      status = sample(&b, session, &s);
    if (status && session) kmb_session_abandon(session);
    if (!status) status = kmb_session_end(session, &r);
    REQUIRE_STATUS(status, KMB_ERR_VENDOR);
    REQUIRE(sim_failed());
    session = NULL;
    REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
    REQUIRE_OK(sample(&b, session, &s));
    REQUIRE_OK(kmb_session_end(session, &r));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* A mark would become part of the graph. */
static void a_mark_in_a_capture_is_refused(void) {
  bed b;
  kmb_session *session = NULL;
  kmb_result *r = NULL;
  kmbi_cu_graph graph = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = params_of(&b);
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  REQUIRE_OK(sample(&b, session, &s));
  CU(&b, cuStreamBeginCapture, b.stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  REQUIRE_STATUS(kmb_session_sample_begin(session), KMB_ERR_CAPTURE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "is being captured");
  CU(&b, cuStreamEndCapture, b.stream, &graph);
  CU(&b, cuGraphDestroy, graph);
  REQUIRE_OK(sample(&b, session, &s));
  REQUIRE_OK(kmb_session_end(session, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES), 2);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* A kernel that waits for a word of memory. */
static void what_never_ends_is_lost_after_the_deadline(void) {
  static uint32_t never;
  bed b;
  kmb_session *session = NULL;
  kmb_result *r = NULL;
  sim_reset();
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0:deadline=0.5"));
  kmb_bench_params p = params_of(&b);
  uint64_t word = (uint64_t)(uintptr_t)&never;
  void *arguments[] = {&word};
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  REQUIRE_OK(kmb_session_sample_begin(session));
  CU(&b, cuLaunchKernel, bed_kernel(&b, "test_hang"), 1, 1, 1, 1, 1, 1, 0,
     b.stream, arguments, NULL);
  REQUIRE_OK(kmb_session_sample_end(session, 1));
  uint64_t before = sim_now();
  REQUIRE_STATUS(kmb_session_end(session, &r), KMB_ERR_LOST);
  REQUIRE(sim_now() - before >= 500000000);
  REQUIRE(sim_now() - before < 1000000000);
  REQUIRE_STATUS(kmb_session_begin(b.device, &p, &session), KMB_ERR_LOST);
  bed_close(&b);
}

static void a_forked_child_is_told(void) {
  bed b;
  kmb_session *session = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 20, 1);
  kmb_bench_params p = params_of(&b);
  REQUIRE_OK(kmb_session_begin(b.device, &p, &session));
  REQUIRE_OK(sample(&b, session, &s));
  int status = 0;
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) {
    kmb_result *r = NULL;
    REQUIRE_STATUS(kmb_session_sample_begin(session), KMB_ERR_FORKED);
    REQUIRE_STATUS(kmb_session_sample_end(session, 1), KMB_ERR_FORKED);
    REQUIRE_STATUS(kmb_session_end(session, &r), KMB_ERR_FORKED);
    REQUIRE_EQ(sim_child_calls(), 0);
    exit(0);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  REQUIRE_OK(sample(&b, session, &s));
  kmb_session_abandon(session);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(a_region_is_timed_on_its_stream);
  failed += ALONE(the_callers_context_stays);
  failed += ALONE(after_a_session_the_device_measures);
  failed += ALONE(each_call_that_fails_is_said);
  failed += ALONE(a_mark_in_a_capture_is_refused);
  failed += ALONE(what_never_ends_is_lost_after_the_deadline);
  failed += ALONE(a_forked_child_is_told);
  return failed != 0;
}
