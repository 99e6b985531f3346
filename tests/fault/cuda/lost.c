/* What ends a device's use: kernels that never end or write nowhere, no memory;
 * and what is not there at all. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static void start(bed *b, const char *name) {
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, name));
}

static uint64_t driver_calls(void) {
  uint64_t calls = 0;
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++)
    calls += sim_calls(f);
  return calls;
}

typedef struct bad {
  spin s;
  kmbi_cu_function kernel;
  kmbi_cu_pointer word;
  int calls, bad_at;
} bad;

static kmb_status launch_bad(void *user, const kmb_launch *l) {
  bad *w = user;
  void *arguments[] = {&w->word};
  if (++w->calls < w->bad_at) return bed_launch_spin(&w->s, l);
  return w->s.b->cu.cuLaunchKernel(w->kernel, 1, 1, 1, 1, 1, 1, 0, l->stream,
                                   arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

/* Lost once, nothing waits again and nothing more is asked of the driver. */
static void lose(const char *kernel, kmb_timer timer, int bad_at,
                 int64_t code) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  start(&b, "cuda:0:deadline=0.01");
  bad w = {bed_spin(&b, 5, 1), bed_kernel(&b, kernel), 16, 0, bad_at};
  if (!code) {
    CU(&b, cuMemAlloc, &w.word, 4);
    memset((void *)(uintptr_t)w.word, 0, 4);
  }
  kmb_bench_params p = bed_params(timer, 0, KMB_CACHE_WARM);
  p.launch = launch_bad;
  p.launch_user = &w;
  uint64_t before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  REQUIRE(sim_now() - before < 1000000000);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "lost");
  REQUIRE_EQ(vendor, code);
  uint64_t calls = driver_calls();
  before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  bed_close(&b);
  REQUIRE_EQ(driver_calls(), calls);
  REQUIRE(sim_now() - before < 1000000);
}

/* What is lost stays so: a process each. */
static struct {
  const char *kernel;
  int64_t code;
  kmb_timer timer;
  int bad_at;
} now;

static void lose_now(void) {
  lose(now.kernel, now.timer, now.bad_at, now.code);
}

static void lose_with_each_timer(const char *kernel, int64_t code) {
  int failed = 0;
  for (kmb_timer t = KMB_TIMER_TRACE; t <= KMB_TIMER_HOST; t++) {
    char name[64];
    now.kernel = kernel;
    now.code = code;
    now.timer = t;
    for (now.bad_at = 1; now.bad_at <= 40; now.bad_at += 39) {
      /* A replay has captured its launches by then. */
      if (t == KMB_TIMER_GRAPH && now.bad_at > 1) continue;
      snprintf(name, sizeof name, "  %s, timer %d, launch %d", kernel, (int)t,
               now.bad_at);
      failed += alone(lose_now, name);
    }
  }
  REQUIRE_EQ(failed, 0);
}

static void a_kernel_that_never_ends_is_lost(void) {
  lose_with_each_timer("test_hang", 0);
}

static void a_kernel_that_writes_nowhere_is_lost(void) {
  lose_with_each_timer("test_fault", KMBI_CU_ILLEGAL_ADDRESS);
}

/* Whoever worked in the context before has broken it: it is said as such, the
 * caller's own status too. */
static void a_context_that_is_broken_already_is_lost(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  uint64_t nowhere = 16;
  void *arguments[] = {&nowhere};
  start(&b, "cuda:0");
  spin s = bed_spin(&b, 5, 1);
  kmbi_cu_function fault = bed_kernel(&b, "test_fault");
  CU(&b, cuLaunchKernel, fault, 1, 1, 1, 1, 1, 1, 0, b.stream, arguments, NULL);
  sim_pass(1000000);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "ILLEGAL_ADDRESS");
  REQUIRE_EQ(vendor, KMBI_CU_ILLEGAL_ADDRESS);
  uint64_t calls = driver_calls();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  bed_close(&b);
  REQUIRE_EQ(driver_calls(), calls);
}

/* Every code after which CUDA gives up the context, from any call. */
static unsigned sticky_code;

static void lose_to_code(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  start(&b, "cuda:0");
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(KMB_TIMER_EVENT, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  sim_fail(SIM_cuStreamQuery, 60, sticky_code);
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "new");
  REQUIRE_EQ(vendor, sticky_code);
  bed_close(&b);
}

static void every_sticky_error_is_lost_with_its_code(void) {
  static const unsigned codes[] = {214, 220, 226, 700, 702, 709, 710,
                                   714, 715, 716, 717, 718, 719, 721};
  int failed = 0;
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    char name[32];
    sticky_code = codes[i];
    snprintf(name, sizeof name, "  code %u", codes[i]);
    failed += alone(lose_to_code, name);
  }
  REQUIRE_EQ(failed, 0);
}

/* Slots that do not fit, and slots that fit until one asks for them. */
static void no_memory_for_slots_is_nomem(void) {
  bed b;
  start(&b, "cuda:0");
  add a = {&b, bed_kernel(&b, "test_add"), 16 << 10};
  kmb_buffers *buffers = bed_add_buffers(&b, a.count);
  for (int at_once = 0; at_once < 2; at_once++) {
    kmb_result *r = NULL;
    int64_t vendor = 0;
    kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
    p.launch = bed_launch_add;
    p.launch_user = &a;
    p.buffers = buffers;
    if (at_once) sim_set()->memory_bytes = 96 << 10; /* 128 KiB are wanted */
    if (!at_once) sim_fail(SIM_cuMemAlloc, 2, KMBI_CU_OUT_OF_MEMORY);
    REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_NOMEM);
    REQUIRE_HAS(kmb_last_error(NULL, &vendor), "bytes");
    REQUIRE_EQ(vendor, at_once ? 0 : KMBI_CU_OUT_OF_MEMORY);
    sim_set()->memory_bytes = UINT64_C(1) << 32;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    kmb_result_destroy(r);
    kmb_buffers_destroy(buffers);
    buffers = bed_add_buffers(&b, a.count);
  }
  kmb_buffers_destroy(buffers);
  bed_end(&b);
}

static void no_memory_for_the_sweep_is_nomem(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  start(&b, "cuda:0");
  sim_set()->memory_bytes = 256 << 10; /* the sweep wants 512 KiB */
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_COLD);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_NOMEM);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "524288 bytes");
  REQUIRE_EQ(vendor, KMBI_CU_OUT_OF_MEMORY);
  p.cache = KMB_CACHE_WARM;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_a_device_it_is_unavailable(void) {
  bed b;
  int64_t vendor = 0;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->devices = 0;
  REQUIRE_STATUS(bed_open(&b, "cuda:0"), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "NO_DEVICE");
  REQUIRE_EQ(vendor, KMBI_CU_NO_DEVICE);
  REQUIRE_EQ(b.memory.bytes_out, 0);
  REQUIRE_EQ(sim_held(), 0);
  /* There is one later, but no second one. */
  sim_set()->devices = 4;
  REQUIRE_STATUS(bed_open(&b, "cuda:1"), KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  bed_close(&b);
  REQUIRE_EQ(sim_held(), 0);
}

static void an_old_driver_is_said_to_be_old(void) {
  bed b;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->driver_version = 10020;
  REQUIRE_STATUS(bed_open(&b, "cuda:0"), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "10.2");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "too old");
  REQUIRE_EQ(b.memory.bytes_out, 0);
}

/* The result says which timer it has instead of TRACE, and why. */
static void do_without_cupti(sim_function function, unsigned code,
                             const char *words) {
  bed b;
  start(&b, "cuda:0");
  spin s = bed_spin(&b, 5, 1);
  for (int warm = 0; warm < 2; warm++) {
    kmb_result *r = NULL;
    kmb_bench_params p =
        bed_params(0, 0, warm ? KMB_CACHE_WARM : KMB_CACHE_COLD);
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    /* Found once, that there is none is remembered. */
    if (function != SIM_cuptiGetVersion || !warm) sim_fail(function, 1, code);
    sim_set()->forbidden = function == SIM_cuptiSubscribe ? code : 0;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), warm ? "GRAPH" : "EVENT");
    REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER), words);
    REQUIRE(bed_finding(r, KMB_FINDING_UNCALIBRATED));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

static void automatic_timers_do_without_a_cupti_that_is_forbidden(void) {
  do_without_cupti(SIM_cuptiSubscribe, 35, "ERR_PERM");
}

static void automatic_timers_do_without_a_cupti_that_is_no_use(void) {
  do_without_cupti(SIM_cuptiGetVersion, 999, "cuptiGetVersion failed");
}

/* Each optional function of the driver can be absent. */
static void lacking(const char *name, kmb_timer timer, kmb_launch_mode mode,
                    kmb_status want) {
  bed b;
  kmb_result *r = NULL;
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  sim_set()->missing = name;
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), want);
  if (r && timer == KMB_TIMER_EVENT)
    REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER), "without a gate");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_wait_values_events_have_no_gate(void) {
  lacking("cuStreamWaitValue32", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_OK);
}

static const char *lacked;

static void lack_it(void) {
  lacking(lacked, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_OK);
}

/* The driver's table is the process's: a process each. */
static void without_a_part_of_graphs_events_have_no_gate(void) {
  static const char *const parts[] = {
      "cuStreamBeginCapture", "cuStreamEndCapture",
      "cuStreamIsCapturing",  "cuGraphGetNodes",
      "cuGraphDestroy",       "cuGraphInstantiateWithFlags",
      "cuGraphLaunch",        "cuGraphExecDestroy"};
  int failed = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    char name[64];
    lacked = parts[i];
    snprintf(name, sizeof name, "  without %s", lacked);
    failed += alone(lack_it, name);
  }
  REQUIRE_EQ(failed, 0);
}

static void without_graphs_launches_are_plain(void) {
  lacking("cuGraphLaunch", 0, 0, KMB_OK);
}

static void without_graphs_a_graph_cannot_be_required(void) {
  lacking("cuGraphLaunch", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH,
          KMB_ERR_UNAVAILABLE);
}

/* TRACE takes single iterations: the batch for GRAPH does not stand against
 * that. */
static void without_graphs_a_callers_batch_is_dropped(void) {
  bed b;
  kmb_result *r = NULL;
  sim_reset();
  sim_set()->missing = "cuGraphLaunch";
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  p.timer = KMB_TIMER_GRAPH;
  p.batch = 4;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_BATCH), 1);
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
              "the batch of 4 is dropped");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_an_upload_graphs_serve(void) {
  lacking("cuGraphUpload", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_OK);
}

int main(void) {
  int failed = ALONE(a_kernel_that_never_ends_is_lost);
  failed += ALONE(a_kernel_that_writes_nowhere_is_lost);
  failed += ALONE(a_context_that_is_broken_already_is_lost);
  failed += ALONE(every_sticky_error_is_lost_with_its_code);
  failed += ALONE(no_memory_for_slots_is_nomem);
  failed += ALONE(no_memory_for_the_sweep_is_nomem);
  failed += ALONE(without_a_device_it_is_unavailable);
  failed += ALONE(an_old_driver_is_said_to_be_old);
  failed += ALONE(automatic_timers_do_without_a_cupti_that_is_forbidden);
  failed += ALONE(automatic_timers_do_without_a_cupti_that_is_no_use);
  failed += ALONE(without_wait_values_events_have_no_gate);
  failed += ALONE(without_a_part_of_graphs_events_have_no_gate);
  failed += ALONE(without_graphs_launches_are_plain);
  failed += ALONE(without_graphs_a_graph_cannot_be_required);
  failed += ALONE(without_graphs_a_callers_batch_is_dropped);
  failed += ALONE(without_an_upload_graphs_serve);
  return failed != 0;
}
