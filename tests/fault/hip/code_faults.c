/* Captures of code on the virtual AMD GPU: what is not there, what fails, who
 * is kept out, and that nothing stays held.
 *
 * usage: code_faults FOLDER    (tests/data/code) */
#include "code_work.h"

/* The library's memory that is the C library's: the linker turns its calls to
 * ours. */
static uint64_t taken, taken_fails; /* the call that fails, from 1; 0: none */

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) {
  return ++taken == taken_fails ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size) {
  return ++taken == taken_fails ? NULL : __real_realloc(old, size);
}

static sim_function failing;
static uint64_t failing_at;

static kmb_status trace_spins(bed *b) {
  kmb_result *r = NULL;
  spin s = bed_spin(b, 5, 1);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  kmb_status status = kmb_bench(b->device, &p, &r);
  kmb_result_destroy(r);
  return status;
}

/* TRACE does without what a capture needs. */
static void one_that_captures_need_fails(void) {
  work w;
  reset();
  sim_fail(failing, failing_at, 99);
  open_as(&w, "hip:0:trace");
  REQUIRE(sim_failed());
  refused(&w, KMB_ERR_UNSUPPORTED, "(99)");
  REQUIRE_OK(trace_spins(&w.b));
  finish(&w);
}

static void what_cannot_be_configured_is_said(void) {
  static const struct {
    sim_function function;
    uint64_t at;
  } cases[] = {{SIM_prof_create_context, 2},
               {SIM_prof_create_context, 3},
               {SIM_prof_configure_callback, 1},
               {SIM_prof_configure_callback, 2},
               {SIM_prof_start, 1}};
  int failed = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    failing = cases[i].function;
    failing_at = cases[i].at;
    failed += alone(one_that_captures_need_fails, sim_name(failing));
  }
  REQUIRE_EQ(failed, 0);
}

/* Launches that nobody tells would make a capture that is empty. */
static void launches_that_are_not_told_are_noticed(void) {
  work *w = start();
  sim_set()->untold = true;
  refused(w, KMB_ERR_UNSUPPORTED, "none would be seen");
  sim_set()->untold = false;
  forget_module(w);
  kmb_code_destroy(capture(w));
  REQUIRE_OK(trace_spins(&w->b));
  finish(w);
}

static kmb_status measure_within(void *user) {
  work *w = user;
  kmb_device *other = NULL;
  kmb_code *code = NULL;
  kmb_result *r = NULL;
  spin s = bed_spin(&w->b, 5, 1);
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &other));
  for (kmb_timer t = KMB_TIMER_TRACE; t <= KMB_TIMER_GRAPH; t++) {
    kmb_bench_params p = bed_params(
        t, t == KMB_TIMER_GRAPH ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN,
        KMB_CACHE_WARM);
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    REQUIRE_STATUS(kmb_bench(other, &p, &r), KMB_ERR_BUSY);
  }
  REQUIRE_STATUS(kmb_code_capture(other, run, w, &code), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), KMB_ERR_BUSY);
  kmb_device_close(other);
  return run(w);
}

static void nothing_is_measured_meanwhile(void) {
  work *w = start();
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, measure_within, w, &code));
  bool found = false;
  for (uint64_t i = 0; i < info_of(code).kernels; i++)
    found = found || kernel_of(code, i).code_bytes == 120;
  REQUIRE(found);
  kmb_code_destroy(code);
  REQUIRE_OK(trace_spins(&w->b));
  finish(w);
}

/* Whatever call fails: a clean status or a kernel that says what is unknown,
 * nothing held, and the next capture works. */
static bool fails_once(work *w, sim_function function, uint64_t k) {
  kmb_code *code = NULL;
  sim_fail(function, k, 999);
  kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
  bool hit = sim_failed();
  sim_fail(function, 0, 0);
  REQUIRE(!status == !!code);
  if (status && function != SIM_hipModuleLaunchKernel)
    REQUIRE(kmb_last_error(NULL, NULL)[0]);
  if (!status) {
    REQUIRE_EQ(info_of(code).kernels, KERNELS);
    REQUIRE_EQ(kernel_of(code, 0).registers, 6);
    bool fits = kernel_of(code, 0).flags & KMB_CODE_HAS_OCCUPANCY;
    REQUIRE(fits || hit);
    REQUIRE(fits || kernel_of(code, 0).reason);
  }
  kmb_code_destroy(code);
  forget_module(w);
  code = capture(w);
  all_is_known_of_the_first(code);
  kmb_code_destroy(code);
  forget_module(w);
  return hit;
}

static void each_vendor_call_fails_once(void) {
  work *w = start();
  unsigned failures = 0;
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++)
    for (uint64_t k = 1; fails_once(w, f, k); k++)
      failures++;
  REQUIRE(failures > 20);
  finish(w);
}

/* What HIP keeps for hipGetLastError() is the caller's. */
static void no_error_of_ours_is_left_behind(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  sim_set()->keeps_errors = true; /* as of ROCm 7 */
  (void)w->b.hip.hipGetLastError();
  for (uint64_t k = 1; k <= KERNELS; k++) {
    sim_fail(SIM_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, k, 999);
    kmb_code *code = capture(w);
    REQUIRE(sim_failed());
    REQUIRE_EQ(bed_last_error(), 0);
    REQUIRE(!(kernel_of(code, k - 1).flags & KMB_CODE_HAS_OCCUPANCY));
    kmb_code_destroy(code);
    forget_module(w);
  }
  finish(w);
}

/* The first capture of a process compiles, loads, makes a stream. */
static void one_of_the_first_fails(void) {
  work *w = start();
  kmb_code *code = NULL;
  sim_fail(failing, failing_at, 999);
  kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
  bool hit = sim_failed();
  sim_fail(failing, 0, 0);
  REQUIRE(!status == !!code);
  kmb_code_destroy(code);
  forget_module(w);
  code = capture(w);
  all_is_known_of_the_first(code);
  kmb_code_destroy(code);
  finish(w);
  if (!hit) exit(3);
}

static void each_of_the_first_calls_fails_once(void) {
  static const sim_function functions[] = {
      SIM_hiprtcCreateProgram,      SIM_hiprtcCompileProgram,
      SIM_hiprtcGetCodeSize,        SIM_hiprtcGetCode,
      SIM_hipModuleGetFunction,     SIM_hipModuleLoadData,
      SIM_hipStreamCreateWithFlags, SIM_hipMalloc,
      SIM_hipStreamQuery,           SIM_prof_start};
  int failed = 0;
  failing_at = 1;
  for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
    failing = functions[f];
    failed += alone(one_of_the_first_fails, sim_name(failing));
  }
  REQUIRE_EQ(failed, 0);
}

/* Afterwards no more is asked of it. */
static void a_lost_device_is_said(void) {
  static const sim_function functions[] = {
      SIM_hipModuleLoadData, SIM_hipModuleGetFunction,
      SIM_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
      SIM_hipModuleUnload};
  for (int i = 0; i < 4; i++) {
    pid_t child = fork();
    if (child) {
      int status = 0;
      REQUIRE_EQ(waitpid(child, &status, 0), child);
      REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      continue;
    }
    work *w = start();
    kmb_code *code = NULL;
    w->load = false;
    REQUIRE_OK(load_module(w));
    kmb_code_destroy(capture(w));
    forget_module(w);
    w->load = true;
    /* Each is called once for each of three kernels, or once, by `run`. */
    static const uint64_t after[] = {2, 4, 1, 1};
    sim_fail(functions[i], after[i], KMBI_HIP_LaunchFailure);
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    REQUIRE(sim_failed());
    REQUIRE_STATUS(status, i < 3 ? KMB_ERR_LOST : KMB_OK);
    kmb_code_destroy(code);
    code = NULL;
    REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), KMB_ERR_LOST);
    kmb_device_close(w->b.device);
    REQUIRE_EQ(w->b.memory.blocks_out, 0);
    exit(0);
  }
}

static void each_allocation_fails_once(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  unsigned failed = 0;
  for (uint64_t k = 1; k < 200; k++) {
    kmb_code *code = NULL;
    w->b.memory.fail_at = w->b.memory.calls + k;
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    bool hit = w->b.memory.calls >= w->b.memory.fail_at;
    w->b.memory.fail_at = 0;
    REQUIRE_EQ(status, hit ? KMB_ERR_NOMEM : KMB_OK);
    kmb_code_destroy(code);
    forget_module(w);
    failed += hit;
    if (!hit) break;
  }
  REQUIRE(failed > 4);
  finish(w);
}

/* What callbacks keep: it is noticed at the end, or a name is missing. */
static void each_of_the_tracers_allocations_fails_once(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  unsigned failed = 0;
  for (uint64_t k = 1; k < 200; k++) {
    kmb_code *code = NULL;
    taken_fails = taken + k;
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    bool hit = taken >= taken_fails;
    taken_fails = 0;
    REQUIRE(status == KMB_OK || (hit && status == KMB_ERR_NOMEM));
    if (status) REQUIRE_HAS(kmb_last_error(NULL, NULL), "no memory");
    failed += status != 0;
    kmb_code_destroy(code);
    forget_module(w);
    if (!hit) break;
  }
  /* Two lists and an image. */
  REQUIRE(failed >= 3);
  finish(w);
}

static kmb_status fork_within(void *user) {
  int status = 0;
  pid_t child = fork();
  if (!child) return KMB_OK;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return run(user);
}

static void a_child_has_no_capture(void) {
  work *w = start();
  kmb_code *code = NULL;
  pid_t parent = getpid();
  kmb_status status = kmb_code_capture(w->b.device, fork_within, w, &code);
  if (getpid() != parent) {
    kmb_device_close(w->b.device);
    _exit(status == KMB_ERR_FORKED && !code && !sim_child_calls() &&
                  !w->b.memory.blocks_out
              ? 7
              : 8);
  }
  REQUIRE_OK(status);
  REQUIRE_EQ(info_of(code).kernels, KERNELS);
  kmb_code_destroy(code);
  finish(w);
}

static void without_tracing_there_is_no_capture(void) {
  work w;
  reset();
  open_as(&w, "hip:0");
  refused(&w, KMB_ERR_UNAVAILABLE, "hip:0:trace");
  finish(&w);
}

static void what_the_callback_returns_comes_back(void) {
  work *w = start();
  kmb_code *code = NULL;
  w->result = 42;
  REQUIRE_EQ(kmb_code_capture(w->b.device, run, w, &code), 42);
  REQUIRE(!code);
  forget_module(w);
  w->result = KMB_OK;
  kmb_code_destroy(capture(w));
  finish(w);
}

int main(int argc, char **argv) {
  int failed = 0;
  REQUIRE(argc == 2);
  load_object(argv[1]);
  failed += ALONE(without_tracing_there_is_no_capture);
  failed += ALONE(what_cannot_be_configured_is_said);
  failed += ALONE(launches_that_are_not_told_are_noticed);
  failed += ALONE(what_the_callback_returns_comes_back);
  failed += ALONE(nothing_is_measured_meanwhile);
  failed += ALONE(each_vendor_call_fails_once);
  failed += ALONE(no_error_of_ours_is_left_behind);
  failed += ALONE(each_of_the_first_calls_fails_once);
  failed += ALONE(a_lost_device_is_said);
  failed += ALONE(each_allocation_fails_once);
  failed += ALONE(each_of_the_tracers_allocations_fails_once);
  failed += ALONE(a_child_has_no_capture);
  return failed != 0;
}
